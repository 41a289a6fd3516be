/// Located messages: each owns copies of its strings, so a list outlives the graph that it talks about.

#include "engine/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"

enum {
    MOST_MESSAGES = 2000, /* more help nobody; the last one says how many there were */
    HINT_WIDTH = 110,
    LONGEST_SOURCE_LINE = 160, /* of a longer line, this many bytes around the place are shown */
};

struct rbli_source {
    rbli_allocator *allocator;
    atomic_size_t references;
    char *name, *text;
    size_t bytes;
    size_t *line_starts; /* NULL until needed */
    size_t line_count;
};

rbl_status rbli_source_create(
    rbli_allocator *allocator, const char *name, char *text, size_t bytes, rbli_source **out)
{
    rbli_source *source = rbli_allocator_calloc(allocator, 1, sizeof *source);
    char *name_copy = rbli_allocator_alloc(allocator, strlen(name) + 1, 1);
    if (!source || !name_copy) {
        rbli_allocator_free(allocator, source);
        rbli_allocator_free(allocator, name_copy);
        rbli_allocator_free(allocator, text);
        return RBL_ERR_NO_MEMORY;
    }
    memcpy(name_copy, name, strlen(name) + 1);
    source->allocator = rbli_allocator_retain(allocator);
    atomic_init(&source->references, 1);
    source->name = name_copy;
    source->text = text;
    source->bytes = bytes;
    *out = source;
    return RBL_OK;
}

rbli_source *rbli_source_retain(rbli_source *source)
{
    atomic_fetch_add_explicit(&source->references, 1, memory_order_relaxed);
    return source;
}

void rbli_source_release(rbli_source *source)
{
    if (!source || atomic_fetch_sub_explicit(&source->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = source->allocator;
    rbli_allocator_free(allocator, source->name);
    rbli_allocator_free(allocator, source->text);
    rbli_allocator_free(allocator, source->line_starts);
    rbli_allocator_free(allocator, source);
    rbli_allocator_release(allocator);
}

const char *rbli_source_name(const rbli_source *source)
{
    return source->name;
}

const char *rbli_source_text(const rbli_source *source)
{
    return source->text;
}

size_t rbli_source_bytes(const rbli_source *source)
{
    return source->bytes;
}

/// Fills line_starts; without memory places are found by counting.
static void index_lines(rbli_source *source)
{
    size_t count = 1;
    for (size_t i = 0; i < source->bytes; i++)
        count += source->text[i] == '\n';
    size_t *starts = rbli_allocator_alloc(source->allocator, count, sizeof *starts);
    if (!starts) return;
    starts[0] = 0;
    for (size_t i = 0, line = 1; i < source->bytes; i++)
        if (source->text[i] == '\n') starts[line++] = i + 1;
    source->line_starts = starts;
    source->line_count = count;
}

/// A byte order mark is no part of the first line.
static size_t mark_bytes(const rbli_source *source, size_t offset)
{
    return offset >= 3 && source->bytes >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static size_t line_start(rbli_source *source, size_t offset, size_t *line)
{
    if (!source->line_starts) index_lines(source);
    if (!source->line_starts) {
        size_t start = 0;
        *line = 1;
        for (size_t i = 0; i < offset; i++)
            if (source->text[i] == '\n') {
                ++*line;
                start = i + 1;
            }
        return start ? start : mark_bytes(source, offset);
    }
    size_t low = 0, high = source->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (source->line_starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    *line = low + 1;
    return low ? source->line_starts[low] : mark_bytes(source, offset);
}

void rbli_source_place(rbli_source *source, size_t offset, size_t *line, size_t *column)
{
    if (offset > source->bytes) offset = source->bytes;
    size_t start = line_start(source, offset, line);
    *column = 1;
    for (size_t i = start; i < offset; i++)
        *column += ((unsigned char)source->text[i] & 0xC0) != 0x80;
}

struct rbl_messages {
    rbli_allocator *allocator;
    rbl_message *data;
    size_t count, capacity;
    size_t added, error_count;
};

rbl_status rbli_messages_open(rbli_allocator *allocator, rbl_messages **messages)
{
    if (*messages) return RBL_OK;
    rbl_messages *list = rbli_allocator_calloc(allocator, 1, sizeof *list);
    if (!list) return RBL_ERR_NO_MEMORY;
    list->allocator = rbli_allocator_retain(allocator);
    *messages = list;
    return RBL_OK;
}

void rbl_messages_destroy(rbl_messages *messages)
{
    if (!messages) return;
    rbli_allocator *allocator = messages->allocator;
    for (size_t i = 0; i < messages->count; i++)
        rbli_allocator_free(allocator, (void *)messages->data[i].file); /* one block holds all strings */
    rbli_allocator_free(allocator, messages->data);
    rbli_allocator_free(allocator, messages);
    rbli_allocator_release(allocator);
}

/// The bytes of the line around a place that are shown.
static void shown_line(rbli_source *source, size_t offset, size_t start, size_t *begin, size_t *end)
{
    const char *text = source->text;
    size_t stop = offset;
    while (stop < source->bytes && text[stop] != '\n' && text[stop] != '\r' &&
           stop - offset < LONGEST_SOURCE_LINE)
        stop++;
    *begin = start;
    *end = stop;
    if (stop - start <= LONGEST_SOURCE_LINE) return;
    *begin = offset - start > LONGEST_SOURCE_LINE / 2 ? offset - LONGEST_SOURCE_LINE / 2 : start;
    if (stop - *begin > LONGEST_SOURCE_LINE) *end = *begin + LONGEST_SOURCE_LINE;
    while (*begin < offset && ((unsigned char)text[*begin] & 0xC0) == 0x80)
        ++*begin;
    while (*end > offset && ((unsigned char)text[*end] & 0xC0) == 0x80)
        --*end;
}

/// Control characters, which a terminal would obey, become '?'; line feeds (of hints) and tabs stay.
static const char *put(char **cursor, const char *string, size_t length)
{
    char *at = *cursor;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)string[i];
        bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
        at[i] = control ? '?' : string[i];
    }
    at[length] = '\0';
    *cursor = at + length + 1;
    return at;
}

/// One block with all strings of a message.
static bool fill(
    rbl_messages *messages, rbl_message *message, const rbli_place *place, const char *hint, const char *text)
{
    const char *file = place && place->source ? place->source->name : "";
    const char *node = place && place->node ? place->node : "";
    const char *pointer = place && place->pointer ? place->pointer : "";
    if (!hint) hint = "";
    size_t begin = 0, end = 0;
    if (place && place->source && place->offset != SIZE_MAX) {
        size_t offset = place->offset > place->source->bytes ? place->source->bytes : place->offset;
        rbli_source_place(place->source, offset, &message->line, &message->column);
        size_t line;
        size_t start = line_start(place->source, offset, &line);
        shown_line(place->source, offset, start, &begin, &end);
        message->caret = offset - begin;
    }
    size_t bytes =
        strlen(file) + strlen(node) + strlen(pointer) + strlen(text) + strlen(hint) + (end - begin) + 6;
    char *cursor = rbli_allocator_alloc(messages->allocator, bytes, 1);
    if (!cursor) return false;
    message->file = put(&cursor, file, strlen(file));
    message->node = put(&cursor, node, strlen(node));
    message->pointer = put(&cursor, pointer, strlen(pointer));
    message->text = put(&cursor, text, strlen(text));
    message->hint = put(&cursor, hint, strlen(hint));
    message->source_line = put(&cursor, end > begin ? place->source->text + begin : "", end - begin);
    return true;
}

void rbli_message_add(rbl_messages *messages, rbl_severity severity, rbl_status status,
    const rbli_place *place, const char *hint, const char *text)
{
    if (!messages) return;
    messages->added++;
    messages->error_count += severity == RBL_ERROR;
    if (messages->count >= MOST_MESSAGES) {
        if (messages->count > MOST_MESSAGES) return;
        place = NULL;
        hint = NULL;
        severity = RBL_NOTE;
        status = RBL_OK;
        text = "there are more messages; these are the first 2000";
    }
    if (messages->count == messages->capacity) {
        size_t capacity = messages->capacity ? messages->capacity * 2 : 8;
        rbl_message *data =
            rbli_allocator_realloc(messages->allocator, messages->data, capacity, sizeof *data);
        if (!data) return;
        messages->data = data;
        messages->capacity = capacity;
    }
    rbl_message message = {.severity = severity, .status = status};
    if (fill(messages, &message, place, hint, text)) messages->data[messages->count++] = message;
}

void rbli_message_addf(rbl_messages *messages, rbl_severity severity, rbl_status status,
    const rbli_place *place, const char *hint, const char *format, ...)
{
    if (!messages) return;
    char text[4000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbli_message_add(messages, severity, status, place, hint, text);
}

size_t rbli_messages_error_count(const rbl_messages *messages)
{
    return messages ? messages->error_count : 0;
}

rbli_allocator *rbli_messages_allocator(const rbl_messages *messages)
{
    return messages->allocator;
}

void rbli_messages_copy(rbl_messages *to, const rbl_messages *from)
{
    if (!to || !from) return;
    for (size_t i = 0; i < from->count; i++) {
        const rbl_message *m = &from->data[i];
        rbli_place place = {.offset = SIZE_MAX, .node = m->node, .pointer = m->pointer};
        size_t before = to->count;
        rbli_message_add(to, m->severity, m->status, &place, m->hint, m->text);
        if (to->count > before) {
            rbl_message *copy = &to->data[before];
            size_t bytes = strlen(m->file) + strlen(m->node) + strlen(m->pointer) + strlen(m->text) +
                           strlen(m->hint) + strlen(m->source_line) + 6;
            char *cursor = rbli_allocator_alloc(to->allocator, bytes, 1);
            if (!cursor) continue;
            rbli_allocator_free(to->allocator, (void *)copy->file);
            *copy = *m;
            copy->file = put(&cursor, m->file, strlen(m->file));
            copy->node = put(&cursor, m->node, strlen(m->node));
            copy->pointer = put(&cursor, m->pointer, strlen(m->pointer));
            copy->text = put(&cursor, m->text, strlen(m->text));
            copy->hint = put(&cursor, m->hint, strlen(m->hint));
            copy->source_line = put(&cursor, m->source_line, strlen(m->source_line));
        }
    }
}

typedef struct sort_key {
    const char *file;
    size_t line, column, index;
} sort_key;

static int compare_keys(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    int files = strcmp(x->file, y->file);
    if (files) return files;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/// Whether an earlier message of the same place says the same.
static bool is_repeated(const rbl_message *data, size_t index)
{
    const rbl_message *m = &data[index];
    for (size_t i = index; m->line && m->severity != RBL_NOTE && i-- > 0;) {
        const rbl_message *before = &data[i];
        if (before->line != m->line || before->column != m->column || strcmp(before->file, m->file) != 0)
            break;
        if (before->severity == m->severity && strcmp(before->text, m->text) == 0) return true;
    }
    return false;
}

/// A graph that is used several times is told about once.
static void remove_repeated(rbl_messages *messages, size_t first)
{
    rbl_message *data = messages->data + first;
    size_t count = messages->count - first, kept = 0;
    bool dropped = false;
    for (size_t i = 0; i < count; i++) {
        rbl_message message = data[i];
        data[kept] = message;
        dropped = message.severity == RBL_NOTE ? dropped : is_repeated(data, kept);
        if (dropped)
            rbli_allocator_free(messages->allocator, (void *)message.file);
        else
            kept++;
    }
    messages->count = first + kept;
}

void rbli_messages_sort(rbl_messages *messages, size_t first)
{
    if (messages->count < first + 2) return;
    size_t count = messages->count - first;
    rbl_message *data = messages->data + first;
    sort_key *keys = rbli_allocator_alloc(messages->allocator, count, sizeof *keys);
    rbl_message *sorted = rbli_allocator_alloc(messages->allocator, count, sizeof *sorted);
    if (keys && sorted) {
        for (size_t i = 0; i < count; i++) {
            keys[i] = (sort_key){data[i].file, data[i].line, data[i].column, i};
            if (i > 0 && data[i].severity == RBL_NOTE) {
                keys[i] = keys[i - 1];
                keys[i].index = i;
            }
        }
        qsort(keys, count, sizeof *keys, compare_keys);
        for (size_t i = 0; i < count; i++)
            sorted[i] = data[keys[i].index];
        memcpy(data, sorted, count * sizeof *data);
        remove_repeated(messages, first);
    }
    rbli_allocator_free(messages->allocator, keys);
    rbli_allocator_free(messages->allocator, sorted);
}

size_t rbl_messages_count(const rbl_messages *messages)
{
    return messages ? messages->count : 0;
}

size_t rbl_messages_count_of(const rbl_messages *messages, rbl_severity severity)
{
    size_t count = 0;
    for (size_t i = 0; messages && i < messages->count; i++)
        count += messages->data[i].severity == severity;
    return count;
}

const rbl_message *rbl_messages_get(const rbl_messages *messages, size_t index)
{
    return messages && index < messages->count ? &messages->data[index] : NULL;
}

static const char *severity_word(rbl_severity severity)
{
    return severity == RBL_ERROR ? "error" : severity == RBL_WARNING ? "warning" : "note";
}

/// The offending line and under it a caret; tabs stay tabs, so that the caret stands where it belongs.
static void format_source_line(rbli_text *out, const rbl_message *message)
{
    char margin[32];
    int width = snprintf(margin, sizeof margin, "%zu", message->line);
    rbli_text_printf(out, "  %s | %s\n", margin, message->source_line);
    rbli_text_printf(out, "  %*s | ", width, "");
    for (size_t i = 0; i < message->caret && message->source_line[i]; i++) {
        unsigned char c = (unsigned char)message->source_line[i];
        if ((c & 0xC0) != 0x80) rbli_text_add(out, c == '\t' ? "\t" : " ", 1);
    }
    rbli_text_puts(out, "^\n");
}

/// The line is worth showing unless it only says where the node stands that had something to say.
static bool shows_source(const rbl_message *message)
{
    if (message->severity == RBL_ERROR || !message->node[0]) return true;
    const char *prefix = "/nodes/";
    return strncmp(message->pointer, prefix, strlen(prefix)) != 0 ||
           strcmp(message->pointer + strlen(prefix), message->node) != 0;
}

/// Long lists are broken behind a comma.
static void format_hint_line(rbli_text *out, const char *line, size_t length)
{
    const char *margin = "  ";
    while (length > HINT_WIDTH) {
        size_t width = HINT_WIDTH;
        while (width > 0 && !(line[width - 1] == ',' && line[width] == ' '))
            width--;
        if (width == 0) break;
        rbli_text_puts(out, margin);
        rbli_text_add(out, line, width);
        rbli_text_puts(out, "\n");
        line += width + 1;
        length -= width + 1;
        margin = "    ";
    }
    rbli_text_puts(out, margin);
    rbli_text_add(out, line, length);
    rbli_text_puts(out, "\n");
}

rbl_status rbl_messages_format(const rbl_messages *messages, size_t index, char **text)
{
    const rbl_message *message = rbl_messages_get(messages, index);
    if (!message) return RBL_ERR_NOT_FOUND;
    rbli_text out;
    rbli_text_init(&out, messages->allocator);
    if (message->file[0] && message->line)
        rbli_text_printf(&out, "%s:%zu:%zu: ", message->file, message->line, message->column);
    else if (message->file[0])
        rbli_text_printf(&out, "%s: ", message->file);
    rbli_text_puts(&out, severity_word(message->severity));
    rbli_text_puts(&out, ": ");
    rbli_text_puts(&out, message->text);
    if (message->node[0] && !shows_source(message))
        rbli_text_printf(&out, " (node \"%s\")", message->node);
    else if (message->node[0] && message->pointer[0])
        rbli_text_printf(&out, " (node \"%s\", %s)", message->node, message->pointer);
    else if (message->node[0])
        rbli_text_printf(&out, " (node \"%s\")", message->node);
    else if (message->pointer[0])
        rbli_text_printf(&out, " (%s)", message->pointer);
    rbli_text_puts(&out, "\n");
    if (message->line && shows_source(message)) format_source_line(&out, message);
    for (const char *line = message->hint; *line;) {
        size_t length = strcspn(line, "\n");
        format_hint_line(&out, line, length);
        line += length + (line[length] == '\n');
    }
    return rbli_text_take(&out, text);
}

void rbl_messages_free_text(const rbl_messages *messages, char *text)
{
    if (messages) rbli_allocator_free(messages->allocator, text);
}
