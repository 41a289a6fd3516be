/// Strict JSON (RFC 8259) by recursive descent, at most 64 deep. Mistakes inside a token (a bad escape,
/// 1e999), a missing or trailing comma, a comment or a key without quotes are reported and parsing goes on;
/// anything else ends it.

#include "engine/json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    locale_t locale;
    rbl_status status; /* of what ended the parsing */
    rbli_text scratch; /* the string being decoded */
} parser;

static void report(parser *p, size_t offset, const char *hint, const char *text)
{
    rbli_place place = {.source = p->json->source, .offset = offset};
    rbli_message_add(p->messages, RBL_ERROR, RBL_ERR_PARSE, &place, hint, text);
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
        char c = p->text[p->at];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            p->at++;
            continue;
        }
        if (c != '/' || p->at + 1 >= p->end || (p->text[p->at + 1] != '/' && p->text[p->at + 1] != '*'))
            break;
        if (!(p->flags & RBLI_JSON_COMMENTS) && !p->comment_reported) {
            p->comment_reported = true;
            report(p, p->at, "write a \"//\" key instead, or name the file .jsonc", "JSON has no comments");
        }
        size_t begin = p->at;
        if (p->text[p->at + 1] == '/') {
            while (p->at < p->end && p->text[p->at] != '\n')
                p->at++;
            continue;
        }
        p->at += 2;
        while (p->at + 1 < p->end && !(p->text[p->at] == '*' && p->text[p->at + 1] == '/'))
            p->at++;
        if (p->at + 1 >= p->end) return stop(p, begin, NULL, "this comment is not ended");
        p->at += 2;
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
    } else if (*word == '-' || (*word >= '0' && *word <= '9')) {
        const char *fault = number_fault(p->text, begin, p->at);
        if (fault)
            report(p, begin, NULL, fault);
        else
            set_number(p, value, begin, p->at);
    } else if (*word == '.' || *word == '+') {
        report(p, begin, NULL,
            *word == '.' ? "a number must not begin with a point" : "a number must not begin with +");
    } else {
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
    return true;
}

static bool parse_value(parser *p, uint32_t parent, int depth, uint32_t *out);

static void link_child(rbli_json *json, uint32_t parent, uint32_t *last, uint32_t child)
{
    if (*last == RBLI_JSON_NONE)
        json->values[parent].first_child = child;
    else
        json->values[*last].next = child;
    json->values[parent].child_count++;
    *last = child;
}

/// After a value: ',' or the closing bracket. `*more` tells which; a missing comma is reported and taken as
/// there.
static bool parse_separator(parser *p, char close, bool *more)
{
    if (!skip_space(p)) return false;
    if (p->at >= p->end)
        return stop(p, p->at, NULL,
            close == '}' ? "the text ends inside an object: } is missing"
                         : "the text ends inside a list: ] is missing");
    char c = p->text[p->at];
    *more = true;
    if (c == close) {
        p->at++;
        *more = false;
        return true;
    }
    if (c != ',') {
        bool value_follows = c == '"' || (close == ']' && (c == '{' || c == '[' || is_word_byte(c)));
        if (!value_follows)
            return stop(
                p, p->at, NULL, close == '}' ? "',' or '}' is expected here" : "',' or ']' is expected here");
        report(p, p->at, NULL, "a comma is missing before this");
        return true;
    }
    size_t comma = p->at++;
    if (!skip_space(p)) return false;
    if (p->at < p->end && p->text[p->at] == close) {
        if (!(p->flags & RBLI_JSON_COMMENTS))
            report(p, comma, "trailing commas are taken in .jsonc files only", "a comma too many");
        p->at++;
        *more = false;
    }
    return true;
}

static bool parse_array(parser *p, uint32_t array, int depth)
{
    p->at++;
    p->json->values[array].type = RBLI_JSON_ARRAY;
    if (!skip_space(p)) return false;
    bool more = true;
    if (p->at < p->end && p->text[p->at] == ']') {
        p->at++;
        more = false;
    }
    uint32_t last = RBLI_JSON_NONE;
    while (more) {
        uint32_t child;
        if (!parse_value(p, array, depth + 1, &child)) return false;
        link_child(p->json, array, &last, child);
        if (!parse_separator(p, ']', &more)) return false;
    }
    return true;
}

/// A member's name; NULL in *key when it is a comment or unusable.
static bool parse_key(parser *p, const char **key)
{
    *key = NULL;
    if (!skip_space(p)) return false;
    if (p->at >= p->end) return stop(p, p->at, NULL, "the text ends inside an object: } is missing");
    size_t begin = p->at;
    if (p->text[begin] == '"') {
        bool good;
        if (!parse_string(p, &good)) return false;
        bool comment = p->scratch.length == 2 && memcmp(p->scratch.data, "//", 2) == 0;
        if (good && !comment && !(*key = keep_string(p, p->scratch.data, p->scratch.length))) return false;
    } else if (is_word_byte(p->text[begin])) {
        while (p->at < p->end && is_word_byte(p->text[p->at]))
            p->at++;
        report(p, begin, NULL, "a key needs double quotes");
        if (!(*key = keep_string(p, p->text + begin, p->at - begin))) return false;
    } else {
        return stop(p, begin, p->text[begin] == '\'' ? "texts stand in double quotes" : NULL,
            "a key in double quotes is expected here");
    }
    if (!skip_space(p)) return false;
    if (p->at >= p->end || p->text[p->at] != ':') return stop(p, p->at, NULL, "':' is expected here");
    p->at++;
    return true;
}

/// Reports a name that is there twice, at the second place and, with a note, at the first.
static void report_duplicate(parser *p, const rbli_json_value *first, const rbli_json_value *second)
{
    size_t line, column;
    rbli_source_place(p->json->source, first->key_offset, &line, &column);
    rbli_place place = {.source = p->json->source, .offset = second->key_offset};
    rbli_message_addf(p->messages, RBL_ERROR, RBL_ERR_PARSE, &place, NULL,
        "the key \"%s\" is given twice: first at %zu:%zu", first->key, line, column);
    place.offset = first->key_offset;
    rbli_message_addf(p->messages, RBL_NOTE, RBL_OK, &place, NULL, "the first \"%s\" is here", first->key);
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
            report_duplicate(p, &json->values[existing], &json->values[child]);
    }
    rbli_name_table_free(&table);
    return good;
}

static bool parse_object(parser *p, uint32_t object, int depth)
{
    p->at++;
    p->json->values[object].type = RBLI_JSON_OBJECT;
    if (!skip_space(p)) return false;
    bool more = true;
    if (p->at < p->end && p->text[p->at] == '}') {
        p->at++;
        more = false;
    }
    uint32_t last = RBLI_JSON_NONE;
    while (more) {
        if (!skip_space(p)) return false;
        size_t key_offset = p->at;
        const char *key;
        uint32_t child;
        if (!parse_key(p, &key) || !parse_value(p, object, depth + 1, &child)) return false;
        if (key) {
            p->json->values[child].key = key;
            p->json->values[child].key_offset = (uint32_t)key_offset;
            link_child(p->json, object, &last, child);
        }
        if (!parse_separator(p, '}', &more)) return false;
    }
    return check_duplicates(p, object);
}

static bool parse_value(parser *p, uint32_t parent, int depth, uint32_t *out)
{
    if (!skip_space(p)) return false;
    if (p->at >= p->end) return stop(p, p->at, NULL, "a value is expected here, but the text ends");
    if (depth > RBLI_JSON_MOST_DEPTH) return stop(p, p->at, NULL, "nested deeper than 64 levels");
    uint32_t value = new_value(p, parent, p->at);
    if (value == RBLI_JSON_NONE) return false;
    *out = value;
    char c = p->text[p->at];
    bool good = true, fine = true;
    if (c == '{') {
        good = parse_object(p, value, depth);
    } else if (c == '[') {
        good = parse_array(p, value, depth);
    } else if (c == '"') {
        good = parse_string(p, &fine);
        if (good && fine) {
            const char *string = keep_string(p, p->scratch.data, p->scratch.length);
            if (!string) return false;
            p->json->values[value].type = RBLI_JSON_STRING;
            p->json->values[value].string = string;
        }
    } else if (c == '\'') {
        return stop(p, p->at, "texts stand in double quotes", "a value is expected here");
    } else {
        good = parse_word(p, &p->json->values[value]);
    }
    p->json->values[value].end = (uint32_t)p->at;
    return good;
}

static void parse_document(parser *p)
{
    if (p->end >= 3 && memcmp(p->text, "\xEF\xBB\xBF", 3) == 0) p->at = 3; /* a byte order mark */
    uint32_t root;
    if (!parse_value(p, RBLI_JSON_NONE, 1, &root) || !skip_space(p)) return;
    if (p->at < p->end) stop(p, p->at, NULL, "the text must end after its value");
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
        .locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    rbli_text_init(&p.scratch, allocator);
    if (p.locale == (locale_t)0) {
        p.status = RBL_ERR_NO_MEMORY;
    } else {
        parse_document(&p);
        freelocale(p.locale);
    }
    rbli_text_free(&p.scratch);
    if (p.status != RBL_OK) {
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
        for (uint32_t i = json->values[step->parent].first_child; i != path[depth]; i = json->values[i].next)
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
