#ifndef RUBBLE_ENGINE_MESSAGES_H
#define RUBBLE_ENGINE_MESSAGES_H

/// Located messages and the texts that they point into.

#include "engine/text.h"
#include "rubble/rubble.h"

/// A text with a name, and where its lines begin (found when the first place is asked for). Reference
/// counted.
typedef struct rbli_source rbli_source;
/// Takes `text` (with a zero byte behind its `bytes`), also on failure. `name` is copied.
rbl_status rbli_source_create(
    rbli_allocator *allocator, const char *name, char *text, size_t bytes, rbli_source **out);
rbli_source *rbli_source_retain(rbli_source *source);
void rbli_source_release(rbli_source *source); /* NULL is fine */
const char *rbli_source_name(const rbli_source *source);
const char *rbli_source_text(const rbli_source *source);
size_t rbli_source_bytes(const rbli_source *source);
/// Line and column (in characters) of a byte, from 1.
void rbli_source_place(rbli_source *source, size_t offset, size_t *line, size_t *column);

/// Where a message belongs. Any part may be missing (NULL; offset SIZE_MAX).
typedef struct rbli_place {
    rbli_source *source;
    size_t offset;
    const char *node;
    const char *pointer;
} rbli_place;

rbl_status rbli_messages_open(rbli_allocator *allocator, rbl_messages **messages);
/// Appends a message; `hint` may be NULL. Without memory it is counted but lost. `messages` NULL: nothing.
/// Threads: one at a time.
void rbli_message_add(rbl_messages *messages, rbl_severity severity, rbl_status status,
    const rbli_place *place, const char *hint, const char *text);
void rbli_message_addf(rbl_messages *messages, rbl_severity severity, rbl_status status,
    const rbli_place *place, const char *hint, const char *format, ...) RBL_PRINTF(6, 7);
/// Errors added, the lost ones and those past the limit of the list included.
size_t rbli_messages_error_count(const rbl_messages *messages);
rbli_allocator *rbli_messages_allocator(const rbl_messages *messages);
/// Sorts the messages from `first` on by their places; a note stays behind what it belongs to. What is said
/// twice of one place stays once. Without memory they stay.
void rbli_messages_sort(rbl_messages *messages, size_t first);
/// Appends copies of all messages of `from`.
void rbli_messages_copy(rbl_messages *to, const rbl_messages *from);

#endif
