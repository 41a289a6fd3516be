#ifndef RUBBLE_ENGINE_TEXT_H
#define RUBBLE_ENGINE_TEXT_H

/// Growing text, JSON writing, and nearest names.

#include "fracture/base/context.h"

/// Text under construction. Running out of memory is sticky: further additions do nothing and the end reports
/// it.
typedef struct rbli_text {
    rbli_allocator *allocator;
    char *data; /* always zero-terminated when not NULL */
    size_t length, capacity;
    bool failed;
} rbli_text;

void rbli_text_init(rbli_text *text, rbli_allocator *allocator);
void rbli_text_add(rbli_text *text, const char *bytes, size_t count);
void rbli_text_puts(rbli_text *text, const char *string);
void rbli_text_printf(rbli_text *text, const char *format, ...) RBL_PRINTF(2, 3);
/// Hands the text over ("" when nothing was added); freed by the caller with rbli_allocator_free.
/// @return RBL_OK · RBL_ERR_NO_MEMORY (the text is freed)
rbl_status rbli_text_take(rbli_text *text, char **out);
void rbli_text_free(rbli_text *text);

/// A JSON string with quotes. Invalid UTF-8 is written as U+FFFD, so the result is always valid.
void rbli_text_json_string(rbli_text *text, const char *string);
/// The shortest decimal form that reads back to the same double; null for what JSON has no number for. Never
/// depends on the locale.
void rbli_text_json_double(rbli_text *text, double number);

/// Edit distance (insert, delete, replace, swap neighbours; Damerau 1964) without regard to case and
/// underscores' absence, at most `limit` + 1.
size_t rbli_edit_distance(const char *a, const char *b, size_t limit);
/// A search for the nearest of several names: feed all, then ask. Nearest by edit distance, else one that
/// begins alike, else one with the same words ("FractureVoronoi" for "VoronoiFracture").
typedef struct rbli_nearest {
    const char *wanted;
    const char *best; /* NULL: nothing near enough */
    size_t best_distance;
    size_t shared; /* letters of whole words that the best one shares, while none is near by distance */
} rbli_nearest;
void rbli_nearest_init(rbli_nearest *nearest, const char *wanted);
void rbli_nearest_feed(rbli_nearest *nearest, const char *candidate);

/// A table from strings to numbers. Keys are borrowed.
typedef struct rbli_name_table {
    rbli_allocator *allocator;
    struct rbli_name_slot *slots;
    size_t capacity, count;
} rbli_name_table;
void rbli_name_table_init(rbli_name_table *table, rbli_allocator *allocator);
void rbli_name_table_free(rbli_name_table *table);
/// Adds a name; `*existing` gets the number of an equal name that is there already, which is kept, or
/// SIZE_MAX.
rbl_status rbli_name_table_add(rbli_name_table *table, const char *name, size_t number, size_t *existing);
/// SIZE_MAX when the name is not there.
size_t rbli_name_table_find(const rbli_name_table *table, const char *name);

#endif
