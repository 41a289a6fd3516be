/// Strict JSON (RFC 8259) by recursive descent, at most 64 deep. Mistakes inside a token (a bad escape,
/// 1e999), commas and colons that are missing or too many, comments, other quotes than double ones and keys
/// without quotes are reported and parsing goes on; anything else ends it.

#include "engine/json.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fracture/base/alloc.h"

typedef struct rbli_json_block {
    struct rbli_json_block *next;
    size_t used, bytes;
} rbli_json_block;

enum { STRING_BLOCK_BYTES = 1 << 13 };

typedef struct parser {
    rbli_json *json;
    const char *text;
    size_t at, end;
    unsigned flags;
    rbl_messages *messages;
    bool comment_reported;
    uint32_t current;  /* value that is being parsed, RBLI_JSON_NONE outside of the root */
    size_t key_begin;  /* of the last key */
    size_t string_end; /* behind the last string, and */
    size_t string_begin;
    size_t suspect; /* bracket that seems not to be closed where it should be; SIZE_MAX: none */
    locale_t locale;
    rbl_status status; /* of what ended the parsing */
    rbli_text scratch; /* the string being decoded */
} parser;

/// The id of the node that a value belongs to, NULL when it is in none.
static const char *node_of(const rbli_json *json, uint32_t value)
{
    const char *id = NULL;
    for (; value != RBLI_JSON_NONE; value = json->values[value].parent) {
        const char *key = json->values[value].key;
        uint32_t parent = json->values[value].parent;
        if (parent == 0 && key && strcmp(key, "nodes") == 0) return id;
        id = key;
    }
    return NULL;
}

static void report_at(
    parser *p, rbl_severity severity, uint32_t value, size_t offset, const char *hint, const char *text)
{
    rbli_text pointer;
    rbli_text_init(&pointer, p->json->allocator);
    if (value != RBLI_JSON_NONE) rbli_json_pointer(p->json, value, &pointer);
    rbli_place place = {.source = p->json->source,
        .offset = offset,
        .pointer = pointer.data,
        .node = node_of(p->json, value)};
    rbli_message_add(
        p->messages, severity, severity == RBL_ERROR ? RBL_ERR_PARSE : RBL_OK, &place, hint, text);
    rbli_text_free(&pointer);
}

static void report(parser *p, size_t offset, const char *hint, const char *text)
{
    report_at(p, RBL_ERROR, p->current, offset, hint, text);
}

/// Reports what ends the parsing.
static bool stop(parser *p, size_t offset, const char *hint, const char *text)
{
    report(p, offset, hint, text);
    p->status = RBL_ERR_PARSE;
    return false;
}

static bool stop_without_memory(parser *p)
{
    p->status = RBL_ERR_NO_MEMORY;
    return false;
}

static uint32_t new_value(parser *p, uint32_t parent, size_t offset)
{
    rbli_json *json = p->json;
    if (json->count == json->capacity) {
        size_t capacity = json->capacity ? json->capacity + json->capacity / 2 : 64;
        rbli_json_value *values =
            rbli_allocator_realloc(json->allocator, json->values, capacity, sizeof *values);
        if (!values) {
            p->status = RBL_ERR_NO_MEMORY;
            return RBLI_JSON_NONE;
        }
        json->values = values;
        json->capacity = capacity;
    }
    json->values[json->count] = (rbli_json_value){.type = RBLI_JSON_BAD,
        .offset = (uint32_t)offset,
        .parent = parent,
        .next = RBLI_JSON_NONE,
        .first_child = RBLI_JSON_NONE};
    return (uint32_t)json->count++;
}

/// A copy of the decoded string in the document's memory.
static const char *keep_string(parser *p, const char *bytes, size_t count)
{
    rbli_json *json = p->json;
    rbli_json_block *block = json->strings;
    if (!block || block->bytes - block->used < count + 1) {
        size_t capacity = count + 1 > STRING_BLOCK_BYTES ? count + 1 : STRING_BLOCK_BYTES;
        block = rbli_allocator_alloc(json->allocator, sizeof *block + capacity, 1);
        if (!block) {
            p->status = RBL_ERR_NO_MEMORY;
            return NULL;
        }
        *block = (rbli_json_block){json->strings, 0, capacity};
        json->strings = block;
    }
    char *copy = (char *)(block + 1) + block->used;
    if (count) memcpy(copy, bytes, count);
    copy[count] = '\0';
    block->used += count + 1;
    return copy;
}

/// Skips white space and, with a word about it where they are not allowed, comments.
static bool skip_space(parser *p)
{
    while (p->at < p->end) {
        char c = p->text[p->at], next = p->at + 1 < p->end ? p->text[p->at + 1] : '\0';
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            p->at++;
            continue;
        }
        if (c != '#' && (c != '/' || (next != '/' && next != '*'))) break;
        size_t begin = p->at;
        bool block = c == '/' && next == '*';
        if (block) {
            p->at += 2;
            while (p->at + 1 < p->end && !(p->text[p->at] == '*' && p->text[p->at + 1] == '/'))
                p->at++;
            if (p->at + 1 >= p->end) return stop(p, begin, NULL, "this comment is not ended");
            p->at += 2;
        } else {
            while (p->at < p->end && p->text[p->at] != '\n')
                p->at++;
        }
        const char *zero = memchr(p->text + begin, '\0', p->at - begin);
        if (zero) return stop(p, (size_t)(zero - p->text), NULL, "a zero byte in a comment");
        bool allowed = (p->flags & RBLI_JSON_COMMENTS) && c != '#';
        if (allowed || p->comment_reported) continue;
        p->comment_reported = true;
        report(p, begin, "write a \"//\" key instead, or name the file .jsonc and write // or /* */",
            c == '#' ? "# begins no comment" : "JSON has no comments");
    }
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Four hexadecimal digits at `at`; −1 when they are not there.
static int32_t hex4(const parser *p, size_t at)
{
    int32_t code = 0;
    if (p->end - at < 4) return -1;
    for (size_t i = 0; i < 4; i++) {
        int digit = hex_digit(p->text[at + i]);
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

static void add_code_point(rbli_text *out, uint32_t code)
{
    char bytes[4];
    size_t count;
    if (code < 0x80) {
        bytes[0] = (char)code;
        count = 1;
    } else if (code < 0x800) {
        bytes[0] = (char)(0xC0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 0x3F));
        count = 2;
    } else if (code < 0x10000) {
        bytes[0] = (char)(0xE0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 0x3F));
        bytes[2] = (char)(0x80 | (code & 0x3F));
        count = 3;
    } else {
        bytes[0] = (char)(0xF0 | code >> 18);
        bytes[1] = (char)(0x80 | (code >> 12 & 0x3F));
        bytes[2] = (char)(0x80 | (code >> 6 & 0x3F));
        bytes[3] = (char)(0x80 | (code & 0x3F));
        count = 4;
    }
    rbli_text_add(out, bytes, count);
}

/// Decodes the escape at the backslash. False when it was reported as wrong; `at` is past it either way.
static bool parse_escape(parser *p)
{
    static const char names[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    size_t begin = p->at++;
    if (p->at >= p->end) return true; /* the caller finds the end */
    char c = p->text[p->at++];
    const char *found = c ? strchr(names, c) : NULL;
    if (found) {
        rbli_text_add(&p->scratch, &codes[found - names], 1);
        return true;
    }
    if (c != 'u') {
        report(p, begin,
            "known escapes: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX; a backslash is written \\\\",
            "unknown escape in a string");
        return false;
    }
    int32_t code = hex4(p, p->at);
    if (code < 0) {
        report(p, begin, NULL, "\\u needs four hexadecimal digits");
        return false;
    }
    p->at += 4;
    if (code == 0) {
        report(p, begin, NULL, "a string must not hold the character \\u0000");
        return false;
    }
    if (code >= 0xD800 && code <= 0xDFFF) {
        int32_t low = -1;
        if (code < 0xDC00 && p->end - p->at >= 6 && p->text[p->at] == '\\' && p->text[p->at + 1] == 'u')
            low = hex4(p, p->at + 2);
        if (low < 0xDC00 || low > 0xDFFF) {
            report(p, begin, NULL, "half of a surrogate pair");
            return false;
        }
        p->at += 6;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    add_code_point(&p->scratch, (uint32_t)code);
    return true;
}

static size_t utf8_sequence(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80) return 1;
    size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || left < length) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return length;
}

/// Decodes the string at the quote into p->scratch. `*good` is false when something in it was reported.
static bool parse_string(parser *p, bool *good)
{
    size_t begin = p->at++;
    *good = true;
    p->scratch.length = 0;
    bool utf8_reported = false;
    for (;;) {
        if (p->at >= p->end) return stop(p, begin, NULL, "this string is not ended");
        unsigned char c = (unsigned char)p->text[p->at];
        if (c == '"') break;
        if (c == '\n') return stop(p, begin, NULL, "this string is not ended on its line");
        if (c == '\\') {
            *good &= parse_escape(p);
            continue;
        }
        if (c < 0x20) {
            report(p, p->at++, c == '\t' ? "a tab is written \\t" : NULL, "a control character in a string");
            *good = false;
            continue;
        }
        size_t length = utf8_sequence((const unsigned char *)p->text + p->at, p->end - p->at);
        if (length == 0) {
            if (!utf8_reported) report(p, p->at, "save the file as UTF-8", "this string is not valid UTF-8");
            utf8_reported = true;
            *good = false;
            p->at++;
            continue;
        }
        rbli_text_add(&p->scratch, p->text + p->at, length);
        p->at += length;
    }
    p->at++;
    p->string_begin = begin;
    p->string_end = p->at;
    rbli_text_add(&p->scratch, "", 0);
    return p->scratch.failed ? stop_without_memory(p) : true;
}

/// Bytes of a quotation mark at `at` that is none in JSON: ' or a typographic one; 0 for anything else.
static size_t other_quote(const parser *p, size_t at)
{
    static const char *const quotes[] = {"'", "“", "”", "„", "‘", "’", "‚", "«", "»"};
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        size_t length = strlen(quotes[i]);
        if (p->end - at >= length && memcmp(p->text + at, quotes[i], length) == 0) return length;
    }
    return 0;
}

/// Reports the string in other quotes and decodes it into p->scratch all the same.
static bool parse_other_string(parser *p)
{
    size_t begin = p->at, quote = other_quote(p, begin);
    bool straight = p->text[begin] == '\'';
    p->at += quote;
    p->scratch.length = 0;
    for (;;) {
        if (p->at >= p->end || p->text[p->at] == '\n')
            return stop(p, begin, "texts stand in double quotes", "this string is not ended on its line");
        quote = straight ? p->text[p->at] == '\'' : other_quote(p, p->at);
        if (quote || (!straight && p->text[p->at] == '"')) break;
        if (p->text[p->at] == '\\' && p->at + 1 < p->end) p->at++;
        rbli_text_add(&p->scratch, p->text + p->at++, 1);
    }
    p->at += quote ? quote : 1;
    report(p, begin, NULL, "texts stand in double quotes: \"");
    rbli_text_add(&p->scratch, "", 0);
    return p->scratch.failed ? stop_without_memory(p) : true;
}

static bool is_word_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '+' || c == '-' || c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t digits(const char *text, size_t at)
{
    while (text[at] >= '0' && text[at] <= '9')
        at++;
    return at;
}

/// Why a word that begins like a number is none; NULL when it is one.
static const char *number_fault(const char *text, size_t begin, size_t end)
{
    size_t at = begin + (text[begin] == '-');
    if (text[at] == '0' && text[at + 1] >= '0' && text[at + 1] <= '9')
        return "a number must not begin with 0";
    size_t next = digits(text, at);
    if (next == at) return "malformed number";
    at = next;
    if (text[at] == '.') {
        next = digits(text, at + 1);
        if (next == at + 1) return "a number needs a digit after its point";
        at = next;
    }
    if (text[at] == 'e' || text[at] == 'E') {
        at++;
        if (text[at] == '+' || text[at] == '-') at++;
        next = digits(text, at);
        if (next == at) return "a number needs a digit in its exponent";
        at = next;
    }
    return at == end ? NULL : "malformed number";
}

static void set_number(parser *p, rbli_json_value *value, size_t begin, size_t end)
{
    locale_t before = uselocale(p->locale); /* strtod's decimal mark is the point here */
    double number = strtod(p->text + begin, NULL);
    uselocale(before);
    if (!isfinite(number)) {
        report(p, begin, NULL, "this number is too large for a double");
        return;
    }
    value->type = RBLI_JSON_NUMBER;
    value->number = number;
    if (memchr(p->text + begin, '.', end - begin) || memchr(p->text + begin, 'e', end - begin) ||
        memchr(p->text + begin, 'E', end - begin)) {
        /* 3.0 and 1e3 are integers, too, while doubles hold them exactly. */
        value->is_integer = number >= -9007199254740992.0 && number <= 9007199254740992.0 &&
                            number == (double)(int64_t)number;
        value->integer = value->is_integer ? (int64_t)number : 0;
        return;
    }
    uint64_t magnitude = 0;
    bool fits = true;
    bool negative = p->text[begin] == '-';
    for (size_t i = begin + negative; i < end && fits; i++)
        fits = !__builtin_mul_overflow(magnitude, 10, &magnitude) &&
               !__builtin_add_overflow(magnitude, (uint64_t)(p->text[i] - '0'), &magnitude);
    fits = fits && magnitude <= (uint64_t)INT64_MAX;
    value->is_integer = fits;
    value->integer = fits ? (negative ? -(int64_t)magnitude : (int64_t)magnitude) : 0;
}

static bool is_word(const char *word, size_t length, const char *other)
{
    return strlen(other) == length && strncasecmp(word, other, length) == 0;
}

static void tell_unknown_word(parser *p, size_t begin, size_t length)
{
    static const struct {
        const char *word, *hint;
    } known[] = {{"nan", "NaN"}, {"infinity", "Infinity"}, {"-infinity", "Infinity"}, {"inf", "Infinity"},
        {"-inf", "Infinity"}, {"-nan", "NaN"}, {"none", "did you mean null?"}, {"nil", "did you mean null?"},
        {"undefined", "did you mean null?"}, {"yes", "did you mean true?"}, {"on", "did you mean true?"},
        {"no", "did you mean false?"}, {"off", "did you mean false?"}};
    const char *word = p->text + begin;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!is_word(word, length, known[i].word)) continue;
        if (*known[i].hint == 'd')
            report(p, begin, known[i].hint, "unknown word");
        else
            report(p, begin, NULL,
                *known[i].hint == 'N' ? "a number is expected: NaN is none"
                                      : "a finite number is expected: Infinity is none");
        return;
    }
    char copy[32] = "";
    if (length < sizeof copy) memcpy(copy, word, length);
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, copy);
    rbli_nearest_feed(&nearest, "true");
    rbli_nearest_feed(&nearest, "false");
    rbli_nearest_feed(&nearest, "null");
    char hint[64] = "";
    if (nearest.best) strcat(strcat(strcpy(hint, "did you mean "), nearest.best), "?");
    report(p, begin, nearest.best ? hint : "texts stand in double quotes", "unknown word");
}

/// A number, true, false or null.
static bool parse_word(parser *p, rbli_json_value *value)
{
    size_t begin = p->at;
    while (p->at < p->end && is_word_byte(p->text[p->at]))
        p->at++;
    size_t length = p->at - begin;
    const char *word = p->text + begin;
    if (length == 0) return stop(p, begin, NULL, "a value is expected here");
    if (length == 4 && memcmp(word, "true", 4) == 0) {
        value->type = RBLI_JSON_BOOL;
        value->boolean = true;
    } else if (length == 5 && memcmp(word, "false", 5) == 0) {
        value->type = RBLI_JSON_BOOL;
    } else if (length == 4 && memcmp(word, "null", 4) == 0) {
        value->type = RBLI_JSON_NULL;
    } else if ((*word == '-' && (length == 1 || word[1] != 'I')) || (*word >= '0' && *word <= '9')) {
        const char *fault = number_fault(p->text, begin, p->at);
        if (fault)
            report(p, begin, NULL, fault);
        else
            set_number(p, value, begin, p->at);
    } else if (*word == '.' || *word == '+') {
        report(p, begin, NULL,
            *word == '.' ? "a number must not begin with a point" : "a number must not begin with +");
    } else {
        tell_unknown_word(p, begin, length);
    }
    return true;
}

/// The end of the list of children of an object or array that is being parsed.
typedef struct children {
    uint32_t parent, last; /* RBLI_JSON_NONE */
} children;

static bool parse_value(parser *p, children *siblings, const char *key, size_t key_offset, int depth);

static void link_child(rbli_json *json, children *siblings, uint32_t child)
{
    if (siblings->last == RBLI_JSON_NONE)
        json->values[siblings->parent].first_child = child;
    else
        json->values[siblings->last].next = child;
    json->values[siblings->parent].child_count++;
    siblings->last = child;
}

/// Skips and reports commas that nothing stands before.
static bool skip_commas(parser *p, bool *any)
{
    *any = false;
    if (!skip_space(p)) return false;
    while (p->at < p->end && p->text[p->at] == ',') {
        if (!*any) report(p, p->at, NULL, "a comma too many");
        *any = true;
        p->at++;
        if (!skip_space(p)) return false;
    }
    return true;
}

/// Spaces that the line of a byte begins with; `*first`: nothing else stands before the byte.
static size_t indentation(const parser *p, size_t at, bool *first)
{
    size_t line = at, count = 0;
    while (line > 0 && p->text[line - 1] != '\n')
        line--;
    while (line + count < at && (p->text[line + count] == ' ' || p->text[line + count] == '\t'))
        count++;
    *first = line + count == at;
    return count;
}

/// A bracket that is closed on a line of its own closes what began on a line that is indented as much; the
/// first one that does not is remembered: if brackets do not match, it is there.
static void note_indentation(parser *p, size_t open, size_t close)
{
    if (p->suspect != SIZE_MAX || !memchr(p->text + open, '\n', close - open)) return;
    bool open_first, close_first;
    size_t before = indentation(p, open, &open_first), behind = indentation(p, close, &close_first);
    if (before != behind || !close_first) p->suspect = open;
}

static bool tell_end_inside(parser *p, char close)
{
    size_t suspect = p->suspect != SIZE_MAX ? p->suspect : p->json->values[p->current].offset;
    p->suspect = SIZE_MAX;
    size_t end = p->at;
    stop(p, end, NULL,
        close == '}' ? "the text ends inside an object: } is missing"
                     : "the text ends inside a list: ] is missing");
    report_at(p, RBL_NOTE, RBLI_JSON_NONE, suspect, NULL,
        p->text[suspect] == '{' ? "this { seems not to be closed" : "this [ seems not to be closed");
    return false;
}

/// After a value: ',' or the closing bracket. `*more` tells which; a missing comma is reported and taken as
/// there.
static bool parse_separator(parser *p, char close, bool *more)
{
    if (!skip_space(p)) return false;
    if (p->at >= p->end) return tell_end_inside(p, close);
    char c = p->text[p->at];
    *more = true;
    if (c == close) {
        note_indentation(p, p->json->values[p->current].offset, p->at++);
        *more = false;
        return true;
    }
    if (c != ',') {
        if (p->at == p->string_end && is_word_byte(c))
            return stop(p, p->string_begin, NULL,
                "something follows this string: a quote is missing in front of it or in it (write \\\")");
        bool value_follows =
            c == '"' || other_quote(p, p->at) || (close == ']' && (c == '{' || c == '[' || is_word_byte(c)));
        if (!value_follows)
            return stop(p, p->at,
                close == ']' && c == ':' ? "a list has no keys; what has keys stands in { }" : NULL,
                close == '}' ? "',' or '}' is expected here" : "',' or ']' is expected here");
        report(p, p->at, NULL, "a comma is missing before this");
        return true;
    }
    size_t comma = p->at++;
    bool any;
    if (!skip_commas(p, &any)) return false;
    if (p->at < p->end && p->text[p->at] == close) {
        if (!(p->flags & RBLI_JSON_COMMENTS) && !any)
            report(p, comma, "trailing commas are taken in .jsonc files only", "a comma too many");
        note_indentation(p, p->json->values[p->current].offset, p->at++);
        *more = false;
    }
    return true;
}

static bool parse_array(parser *p, uint32_t array, int depth)
{
    p->at++;
    p->json->values[array].type = RBLI_JSON_ARRAY;
    bool more = true, any;
    if (!skip_commas(p, &any)) return false;
    if (p->at < p->end && p->text[p->at] == ']') {
        p->at++;
        more = false;
    }
    children items = {array, RBLI_JSON_NONE};
    while (more)
        if (!parse_value(p, &items, NULL, 0, depth + 1) || !parse_separator(p, ']', &more)) return false;
    return true;
}

/// ':' behind a key; one that is missing, and = in its place, is reported and taken as there.
static bool parse_colon(parser *p)
{
    if (!skip_space(p)) return false;
    char c = p->at < p->end ? p->text[p->at] : '\0';
    if (c == ':') {
        p->at++;
        return true;
    }
    bool quoted = p->text[p->key_begin] == '"';
    if (quoted && is_word_byte(c) && p->at == p->string_end)
        return stop(p, p->key_begin, NULL, "the quote that ends this key is missing");
    bool assigned = c == '=', value_follows = c == '"' || c == '{' || c == '[' || other_quote(p, p->at);
    if (!assigned && !value_follows && (!is_word_byte(c) || c == '\0'))
        return stop(p, p->at, NULL, "':' is expected here");
    report(p, p->at, NULL, "':' is expected here");
    p->at += assigned;
    return true;
}

/// A member's name and its colon. What is wrong in it is reported and left out. *comment: it is "//".
static bool parse_key(parser *p, const char **key, bool *comment)
{
    *comment = false;
    if (p->at >= p->end) return tell_end_inside(p, '}');
    size_t begin = p->key_begin = p->at;
    if (p->text[begin] == '"' || other_quote(p, begin)) {
        bool good;
        if (p->text[begin] == '"' ? !parse_string(p, &good) : !parse_other_string(p)) return false;
        *comment = p->scratch.length == 2 && memcmp(p->scratch.data, "//", 2) == 0;
        if (!(*key = keep_string(p, p->scratch.data, p->scratch.length))) return false;
    } else if (is_word_byte(p->text[begin])) {
        while (p->at < p->end && is_word_byte(p->text[p->at]))
            p->at++;
        report(p, begin, NULL, "a key needs double quotes");
        if (!(*key = keep_string(p, p->text + begin, p->at - begin))) return false;
    } else {
        return stop(p, begin, NULL, "a key in double quotes is expected here");
    }
    return parse_colon(p);
}

/// 0,5 in an object: a number with a comma for its point. Reported, and its end skipped.
static void skip_decimal_comma(parser *p, uint32_t object, uint32_t value)
{
    const rbli_json_value *v = &p->json->values[value];
    bool digit = p->end - p->at >= 2 && p->text[p->at] == ',' && p->text[p->at + 1] >= '0' &&
                 p->text[p->at + 1] <= '9';
    if (v->type != RBLI_JSON_NUMBER || v->end != p->at || !digit) return;
    p->current = value;
    report(p, v->offset, NULL, "a number is written with a point, not with a comma");
    p->current = object;
    p->json->values[value].type = RBLI_JSON_BAD;
    for (p->at++; p->at < p->end && is_word_byte(p->text[p->at]);)
        p->at++;
}

/// Reports a name that is there twice, at the second place and, with a note, at the first.
static void report_duplicate(parser *p, uint32_t first, uint32_t second)
{
    const rbli_json_value *values = p->json->values;
    size_t line, column;
    char text[256];
    rbli_source_place(p->json->source, values[first].key_offset, &line, &column);
    snprintf(text, sizeof text, "the key \"%.100s\" is given twice: first at %zu:%zu", values[first].key,
        line, column);
    report_at(p, RBL_ERROR, second, values[second].key_offset, NULL, text);
    snprintf(text, sizeof text, "the first \"%.100s\" is here", values[first].key);
    report_at(p, RBL_NOTE, RBLI_JSON_NONE, values[first].key_offset, NULL, text);
}

static bool check_duplicates(parser *p, uint32_t object)
{
    rbli_json *json = p->json;
    if (json->values[object].child_count < 2) return true;
    rbli_name_table table;
    rbli_name_table_init(&table, json->allocator);
    bool good = true;
    for (uint32_t child = json->values[object].first_child; child != RBLI_JSON_NONE && good;
         child = json->values[child].next) {
        size_t existing;
        if (rbli_name_table_add(&table, json->values[child].key, child, &existing) != RBL_OK)
            good = stop_without_memory(p);
        else if (existing != SIZE_MAX)
            report_duplicate(p, (uint32_t)existing, child);
    }
    rbli_name_table_free(&table);
    return good;
}

static bool parse_object(parser *p, uint32_t object, int depth)
{
    p->at++;
    p->json->values[object].type = RBLI_JSON_OBJECT;
    bool more = true, any;
    if (!skip_commas(p, &any)) return false;
    if (p->at < p->end && p->text[p->at] == '}') {
        p->at++;
        more = false;
    }
    children members = {object, RBLI_JSON_NONE};
    while (more) {
        if (!skip_space(p)) return false;
        size_t key_offset = p->at;
        const char *key = NULL;
        bool comment;
        children none = {object, RBLI_JSON_NONE};
        if (!parse_key(p, &key, &comment)) return false;
        if (!parse_value(p, comment ? &none : &members, key, key_offset, depth + 1)) return false;
        if (!comment) skip_decimal_comma(p, object, members.last);
        if (!parse_separator(p, '}', &more)) return false;
    }
    return check_duplicates(p, object);
}

/// The text of a value, whose kind its first byte tells.
static bool parse_content(parser *p, uint32_t value, int depth)
{
    char c = p->text[p->at];
    if (c == '{') return parse_object(p, value, depth);
    if (c == '[') return parse_array(p, value, depth);
    bool fine = true;
    if (c != '"' && !other_quote(p, p->at)) return parse_word(p, &p->json->values[value]);
    if (c == '"' ? !parse_string(p, &fine) : !parse_other_string(p)) return false;
    if (!fine) return true;
    const char *string = keep_string(p, p->scratch.data, p->scratch.length);
    if (!string) return false;
    p->json->values[value].type = RBLI_JSON_STRING;
    p->json->values[value].string = string;
    return true;
}

/// A value, linked to its siblings unless it is a comment's.
static bool parse_value(parser *p, children *siblings, const char *key, size_t key_offset, int depth)
{
    if (!skip_space(p)) return false;
    if (p->at >= p->end) return stop(p, p->at, NULL, "a value is expected here, but the text ends");
    if (depth > RBLI_JSON_MOST_DEPTH) return stop(p, p->at, NULL, "nested deeper than 64 levels");
    uint32_t value = new_value(p, siblings->parent, p->at);
    if (value == RBLI_JSON_NONE) return false;
    p->json->values[value].key = key;
    p->json->values[value].key_offset = (uint32_t)key_offset;
    bool comment = key && strcmp(key, "//") == 0;
    if (siblings->parent != RBLI_JSON_NONE && !comment) link_child(p->json, siblings, value);
    p->current = value;
    if (!parse_content(p, value, depth)) return false;
    p->json->values[value].end = (uint32_t)p->at;
    p->current = siblings->parent;
    return true;
}

/// What a text that is no JSON at all seems to be; NULL when it may be some.
static const char *foreign_text(const parser *p)
{
    const char *t = p->text + p->at;
    size_t left = p->end - p->at;
    bool wide = left >= 2 && ((t[0] == '\xFF' && t[1] == '\xFE') || (t[0] == '\xFE' && t[1] == '\xFF'));
    wide |= left >= 2 && ((t[0] && !t[1]) || (!t[0] && t[1]));
    if (wide) return "this file is UTF-16 or UTF-32: save it as UTF-8";
    size_t at = 0;
    while (at < left && (t[at] == ' ' || t[at] == '\t' || t[at] == '\n' || t[at] == '\r'))
        at++;
    if (at == left) return "the file is empty";
    if (t[at] == '#' || (at + 1 < left && t[at] == '/' && (t[at + 1] == '/' || t[at + 1] == '*')))
        return NULL;
    if (strchr("{[\"'-0123456789", t[at]) && t[at]) return NULL;
    for (const char *const *w = (const char *const[]){"true", "false", "null", NULL}; *w; w++)
        if (left - at >= strlen(*w) && memcmp(t + at, *w, strlen(*w)) == 0) return NULL;
    return "this is no JSON: a graph file begins with {";
}

static void parse_document(parser *p)
{
    if (p->end >= 3 && memcmp(p->text, "\xEF\xBB\xBF", 3) == 0) p->at = 3; /* a byte order mark */
    const char *fault = foreign_text(p);
    if (fault) {
        stop(p, p->at, NULL, fault);
        return;
    }
    children none = {RBLI_JSON_NONE, RBLI_JSON_NONE};
    if (!parse_value(p, &none, NULL, 0, 1) || !skip_space(p) || p->at >= p->end) return;
    stop(p, p->at, NULL, "the text must end after its value");
    bool bracket = p->text[p->at] == '}' || p->text[p->at] == ']';
    if (bracket && p->suspect != SIZE_MAX)
        report_at(p, RBL_NOTE, RBLI_JSON_NONE, p->suspect, NULL,
            "what begins here seems to be closed too early: a bracket too many");
}

rbl_status rbli_json_parse(
    rbli_allocator *allocator, rbli_source *source, unsigned flags, rbl_messages *messages, rbli_json **out)
{
    if (rbli_source_bytes(source) > RBLI_JSON_MOST_BYTES) {
        rbli_place place = {.source = source, .offset = SIZE_MAX};
        rbli_message_add(messages, RBL_ERROR, RBL_ERR_LIMIT, &place, NULL, "longer than 64 MiB");
        return RBL_ERR_LIMIT;
    }
    rbli_json *json = rbli_allocator_calloc(allocator, 1, sizeof *json);
    if (!json) return RBL_ERR_NO_MEMORY;
    json->allocator = rbli_allocator_retain(allocator);
    json->source = rbli_source_retain(source);
    parser p = {.json = json,
        .text = rbli_source_text(source),
        .end = rbli_source_bytes(source),
        .flags = flags,
        .messages = messages,
        .current = RBLI_JSON_NONE,
        .string_end = SIZE_MAX,
        .suspect = SIZE_MAX,
        .locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    rbli_text_init(&p.scratch, allocator);
    if (p.locale == (locale_t)0) {
        p.status = RBL_ERR_NO_MEMORY;
    } else {
        parse_document(&p);
        freelocale(p.locale);
    }
    rbli_text_free(&p.scratch);
    json->partial = p.status == RBL_ERR_PARSE && (flags & RBLI_JSON_PARTIAL) && json->count;
    if (p.status != RBL_OK && !json->partial) {
        rbli_json_destroy(json);
        return p.status;
    }
    *out = json;
    return RBL_OK;
}

void rbli_json_destroy(rbli_json *json)
{
    if (!json) return;
    rbli_allocator *allocator = json->allocator;
    while (json->strings) {
        rbli_json_block *next = json->strings->next;
        rbli_allocator_free(allocator, json->strings);
        json->strings = next;
    }
    rbli_source_release(json->source);
    rbli_allocator_free(allocator, json->values);
    rbli_allocator_free(allocator, json);
    rbli_allocator_release(allocator);
}

uint32_t rbli_json_member(const rbli_json *json, uint32_t object, const char *name)
{
    if (json->values[object].type != RBLI_JSON_OBJECT) return RBLI_JSON_NONE;
    uint32_t child = json->values[object].first_child;
    while (child != RBLI_JSON_NONE && strcmp(json->values[child].key, name) != 0)
        child = json->values[child].next;
    return child;
}

void rbli_json_pointer_step(rbli_text *out, const char *name)
{
    rbli_text_add(out, "/", 1);
    for (const char *c = name; *c; c++) {
        if (*c == '~')
            rbli_text_puts(out, "~0");
        else if (*c == '/')
            rbli_text_puts(out, "~1");
        else
            rbli_text_add(out, c, 1);
    }
}

void rbli_json_pointer(const rbli_json *json, uint32_t value, rbli_text *out)
{
    uint32_t path[RBLI_JSON_MOST_DEPTH + 1];
    size_t depth = 0;
    for (; json->values[value].parent != RBLI_JSON_NONE && depth <= RBLI_JSON_MOST_DEPTH;
         value = json->values[value].parent)
        path[depth++] = value;
    while (depth > 0) {
        const rbli_json_value *step = &json->values[path[--depth]];
        if (step->key) {
            rbli_json_pointer_step(out, step->key);
            continue;
        }
        size_t index = 0;
        for (uint32_t i = json->values[step->parent].first_child; i != path[depth] && i != RBLI_JSON_NONE;
             i = json->values[i].next)
            index++;
        rbli_text_printf(out, "/%zu", index);
    }
}

const char *rbli_json_type_words(rbli_json_type type)
{
    static const char *const words[] = {
        "a malformed value", "null", "true or false", "a number", "a string", "a list", "an object"};
    return words[type];
}
