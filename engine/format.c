/// The canonical form of a graph file's text: values, order and comments stay, spaces and line breaks are
/// made the same everywhere.

#include "engine/engine.h"

#include <string.h>

#include "engine/json.h"
#include "fracture/base/alloc.h"

enum { LINE_WIDTH = 120, ALWAYS_BROKEN = 2 /* levels of objects that never stand on one line */ };

typedef enum token_kind {
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
    TOKEN_COLON,
    TOKEN_VALUE,
    TOKEN_COMMENT
} token_kind;

typedef struct token {
    token_kind kind;
    uint32_t offset, length;
    uint32_t lines; /* line breaks before it */
    uint32_t match; /* of OPEN: its CLOSE */
    uint32_t flat;  /* of OPEN: characters on one line */
    bool commented; /* of OPEN: a comment is inside */
} token;

typedef struct formatter {
    rbl_context *ctx;
    const char *text;
    RBLI_ARRAY(token) tokens;
    rbli_text out;
    size_t column; /* characters */
} formatter;

/* ---- Tokens ---- */

static size_t string_length(const char *text)
{
    size_t i = 1;
    while (text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return i + 1;
}

static size_t comment_length(const char *text)
{
    if (text[1] == '*') return (size_t)(strstr(text + 2, "*/") - text) + 2;
    size_t length = strcspn(text, "\n");
    while (text[length - 1] == ' ' || text[length - 1] == '\t' || text[length - 1] == '\r')
        length--;
    return length;
}

static token next_token(const char *text, size_t offset)
{
    token t = {.offset = (uint32_t)offset, .length = 1};
    switch (text[offset]) {
    case '{':
    case '[':
        t.kind = TOKEN_OPEN;
        break;
    case '}':
    case ']':
        t.kind = TOKEN_CLOSE;
        break;
    case ',':
        t.kind = TOKEN_COMMA;
        break;
    case ':':
        t.kind = TOKEN_COLON;
        break;
    case '"':
        t.kind = TOKEN_VALUE;
        t.length = (uint32_t)string_length(text + offset);
        break;
    case '/':
        t.kind = TOKEN_COMMENT;
        t.length = (uint32_t)comment_length(text + offset);
        break;
    default:
        t.kind = TOKEN_VALUE;
        t.length = (uint32_t)strcspn(text + offset, " \t\r\n,:{}[]/\"");
    }
    return t;
}

/// Leaves out the comma before a closing bracket.
static void drop_comma(formatter *f)
{
    size_t k = f->tokens.count;
    while (k > 0 && f->tokens.data[k - 1].kind == TOKEN_COMMENT)
        k--;
    if (k == 0 || f->tokens.data[k - 1].kind != TOKEN_COMMA) return;
    memmove(&f->tokens.data[k - 1], &f->tokens.data[k], (f->tokens.count - k) * sizeof(token));
    f->tokens.count--;
}

/// Splits a text that was parsed without an error.
static rbl_status read_tokens(formatter *f)
{
    uint32_t lines = 0;
    size_t i = strncmp(f->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (f->text[i]) {
        if (strchr(" \t\r\n", f->text[i])) {
            lines += f->text[i++] == '\n';
            continue;
        }
        token t = next_token(f->text, i);
        t.lines = lines;
        lines = 0;
        if (t.kind == TOKEN_CLOSE) drop_comma(f);
        if (rbli_array_push(f->ctx, &f->tokens, t) != RBL_OK) return RBL_ERR_NO_MEMORY;
        i += t.length;
    }
    return RBL_OK;
}

static size_t count_characters(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/// Finds what belongs together and how long it is on one line.
static void measure(formatter *f)
{
    uint32_t open[RBLI_JSON_MOST_DEPTH + 1];
    size_t depth = 0;
    for (size_t i = 0; i < f->tokens.count; i++) {
        token *t = &f->tokens.data[i];
        uint32_t width = (uint32_t)count_characters(f->text + t->offset, t->length);
        if (t->kind == TOKEN_COMMA || t->kind == TOKEN_COLON) width = 2;
        if (t->kind == TOKEN_CLOSE && depth > 0) {
            uint32_t first = open[--depth];
            token *begin = &f->tokens.data[first];
            begin->match = (uint32_t)i;
            begin->flat += 2 + (f->text[t->offset] == '}' && i > first + 1 ? 2 : 0);
            width = begin->flat;
            if (depth > 0) f->tokens.data[open[depth - 1]].commented |= begin->commented;
        }
        if (depth > 0 && t->kind == TOKEN_COMMENT) f->tokens.data[open[depth - 1]].commented = true;
        if (depth > 0 && t->kind != TOKEN_OPEN) f->tokens.data[open[depth - 1]].flat += width;
        if (t->kind == TOKEN_OPEN && depth <= RBLI_JSON_MOST_DEPTH) open[depth++] = (uint32_t)i;
    }
}

/* ---- Writing ---- */

static void put(formatter *f, const char *text, size_t bytes)
{
    rbli_text_add(&f->out, text, bytes);
    f->column += count_characters(text, bytes);
}

static void put_token(formatter *f, size_t index)
{
    put(f, f->text + f->tokens.data[index].offset, f->tokens.data[index].length);
}

static void put_line(formatter *f, size_t depth)
{
    rbli_text_puts(&f->out, "\n");
    f->column = 0;
    for (size_t i = 0; i < depth; i++)
        put(f, "  ", 2);
}

static void put_flat(formatter *f, size_t first, size_t last)
{
    for (size_t i = first; i <= last; i++) {
        const token *t = &f->tokens.data[i];
        char c = f->text[t->offset];
        bool full = t->kind == TOKEN_OPEN && t->match > i + 1;
        if (t->kind == TOKEN_CLOSE && c == '}' && f->tokens.data[i - 1].kind != TOKEN_OPEN) put(f, " ", 1);
        put_token(f, i);
        if (t->kind == TOKEN_COMMA || t->kind == TOKEN_COLON || (full && c == '{')) put(f, " ", 1);
    }
}

/// Comments that stand on the line that ends; @return what follows them
static size_t put_trailing(formatter *f, size_t i)
{
    bool open = true;
    while (open && i < f->tokens.count && f->tokens.data[i].kind == TOKEN_COMMENT &&
           f->tokens.data[i].lines == 0) {
        put(f, " ", 1);
        put_token(f, i);
        open = f->text[f->tokens.data[i++].offset + 1] == '*';
    }
    return i;
}

static void put_value(formatter *f, size_t index, size_t depth);

/// One member: comments before it, its key, its value. @return the token behind it
static size_t put_member(formatter *f, size_t i, size_t depth, bool first)
{
    bool blank = !first && f->tokens.data[i].lines > 1;
    size_t value = i;
    while (f->tokens.data[value].kind == TOKEN_COMMENT)
        value++;
    size_t key = value, next = value + 1;
    while (f->tokens.data[next].kind == TOKEN_COMMENT)
        next++;
    bool has_key = f->tokens.data[key].kind == TOKEN_VALUE && f->tokens.data[next].kind == TOKEN_COLON;
    for (value = has_key ? next + 1 : key; f->tokens.data[value].kind == TOKEN_COMMENT;)
        value++;
    if (blank) rbli_text_puts(&f->out, "\n");
    for (size_t k = i; k < value; k++)
        if (f->tokens.data[k].kind == TOKEN_COMMENT) {
            if (k > i && k < key && f->tokens.data[k].lines > 1) rbli_text_puts(&f->out, "\n");
            put_line(f, depth);
            put_token(f, k);
        }
    if (key > i && f->tokens.data[key].lines > 1) rbli_text_puts(&f->out, "\n");
    put_line(f, depth);
    if (has_key) {
        put_token(f, key);
        put(f, ": ", 2);
    }
    put_value(f, value, depth);
    return f->tokens.data[value].kind == TOKEN_OPEN ? f->tokens.data[value].match + 1 : value + 1;
}

static void put_broken(formatter *f, size_t index, size_t depth)
{
    size_t end = f->tokens.data[index].match, i = put_trailing(f, (put_token(f, index), index + 1));
    bool first = true;
    while (i < end) {
        size_t k = i;
        while (k < end && f->tokens.data[k].kind == TOKEN_COMMENT)
            k++;
        if (k == end) break; /* only comments are left */
        i = put_member(f, i, depth + 1, first);
        first = false;
        /* Comments between a value and its comma come behind the comma. */
        for (k = i; k < end && f->tokens.data[k].kind == TOKEN_COMMENT;)
            k++;
        if (k < end && f->tokens.data[k].kind == TOKEN_COMMA) {
            put(f, ",", 1);
            token comma = f->tokens.data[k];
            memmove(&f->tokens.data[i + 1], &f->tokens.data[i], (k - i) * sizeof comma);
            f->tokens.data[i++] = comma;
        }
        i = put_trailing(f, i);
    }
    for (; i < end; i++) {
        if (f->tokens.data[i].lines > 1 && !first) rbli_text_puts(&f->out, "\n");
        put_line(f, depth + 1);
        put_token(f, i);
    }
    put_line(f, depth);
    put_token(f, end);
}

static void put_value(formatter *f, size_t index, size_t depth)
{
    const token *t = &f->tokens.data[index];
    if (t->kind != TOKEN_OPEN) {
        put_token(f, index);
        return;
    }
    bool object = f->text[t->offset] == '{';
    bool fits = f->column + t->flat + 1 <= LINE_WIDTH && !(object && depth < ALWAYS_BROKEN);
    if (t->match == index + 1 || (fits && !t->commented))
        put_flat(f, index, t->match);
    else
        put_broken(f, index, depth);
}

static void put_document(formatter *f)
{
    bool any = false;
    for (size_t i = 0; i < f->tokens.count; i++) {
        const token *t = &f->tokens.data[i];
        bool same_line = any && t->kind == TOKEN_COMMENT && t->lines == 0;
        if (same_line)
            put(f, " ", 1);
        else if (any)
            put_line(f, 0);
        if (any && t->lines > 1) rbli_text_puts(&f->out, "\n");
        put_value(f, i, 0);
        if (t->kind == TOKEN_OPEN) i = t->match;
        any = true;
    }
    rbli_text_puts(&f->out, "\n");
}

rbl_status rbl_engine_format(const rbl_engine *engine, const char *name, const char *text, size_t bytes,
    rbl_messages **messages, char **out)
{
    rbl_messages *own = NULL;
    rbl_messages **list = messages ? messages : &own;
    rbl_context ctx = engine->base;
    formatter f = {.ctx = &ctx};
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    rbl_status status = rbli_messages_open(engine->allocator, list);
    if (status != RBL_OK) return status;
    size_t before = rbli_messages_error_count(*list), length = strlen(name);
    unsigned flags = length >= 6 && strcmp(name + length - 6, ".jsonc") == 0 ? RBLI_JSON_COMMENTS : 0;
    rbli_text_init(&f.out, engine->allocator);
    char *copy = rbli_allocator_alloc(engine->allocator, bytes + 1, 1);
    RBL_TRY_ALLOC(copy);
    if (bytes) memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    RBL_TRY(rbli_source_create(engine->allocator, name, copy, bytes, &source));
    status = rbli_json_parse(engine->allocator, source, flags, *list, &json);
    if (status == RBL_ERR_PARSE) status = RBL_ERR_GRAPH;
    if (status == RBL_OK && rbli_messages_error_count(*list) != before) status = RBL_ERR_GRAPH;
    RBL_TRY(status);
    f.text = rbli_source_text(source);
    RBL_TRY(read_tokens(&f));
    measure(&f);
    put_document(&f);
    RBL_TRY(rbli_text_take(&f.out, out));
done:
    rbli_text_free(&f.out);
    rbli_free(&ctx, f.tokens.data);
    rbli_json_destroy(json);
    rbli_source_release(source);
    rbl_messages_destroy(own);
    return status;
}
