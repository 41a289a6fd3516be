/// Where a value of a JSON text stands.

#include "tools/cli/batch/place.h"

#include <string.h>

batch_place batch_place_of_offset(const char *text, size_t offset)
{
    batch_place place = {1, 1};
    for (size_t i = 0; i < offset && text[i]; i++) {
        place.column++;
        if (text[i] == '\n') place = (batch_place){place.line + 1, 1};
    }
    return place;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/// Behind the string that begins at `at`.
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/// Behind the value that begins at `at`; brackets are counted, so that depth needs no stack.
static const char *skip_value(const char *at)
{
    size_t depth = 0;
    do {
        at = skip_space(at);
        if (*at == '"') {
            at = skip_string(at);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            if (depth > 0) depth--;
            at++;
        } else if (*at == ',' || *at == ':') {
            at++;
        } else {
            size_t length = strcspn(at, ",:]} \t\r\n\"");
            if (length == 0) return at;
            at += length;
        }
    } while (depth > 0 && *at);
    return at;
}

/// Whether the string literal at `at` is the pointer token of `length` bytes. Keys with escapes are compared
/// as they are written: the place of such a key is that of what holds it.
static bool is_key(const char *at, const char *token, size_t length)
{
    const char *key = at + 1;
    for (size_t i = 0; i < length; i++, key++) {
        char wanted = token[i];
        if (wanted == '~' && i + 1 < length) wanted = token[++i] == '1' ? '/' : '~';
        if (*key != wanted) return false;
    }
    return *key == '"';
}

batch_place batch_place_of_pointer(const char *text, const char *pointer)
{
    const char *at = skip_space(text), *place = at;
    while (*pointer == '/') {
        const char *token = ++pointer;
        size_t length = strcspn(pointer, "/");
        pointer += length;
        bool object = *at == '{', found = false;
        if (!object && *at != '[') break;
        size_t index = 0;
        for (at = skip_space(at + 1); *at && *at != '}' && *at != ']'; index++) {
            const char *start = at;
            char number[24];
            if (object) {
                found = is_key(at, token, length);
                at = skip_space(skip_string(at));
                at = skip_space(*at == ':' ? at + 1 : at);
            } else {
                size_t digits = 0, rest = index;
                do {
                    number[sizeof number - ++digits] = (char)('0' + rest % 10);
                } while ((rest /= 10) > 0);
                found = digits == length && memcmp(number + sizeof number - digits, token, length) == 0;
            }
            if (found) {
                place = start;
                break;
            }
            at = skip_space(skip_value(at));
            if (*at == ',') at = skip_space(at + 1);
        }
        if (!found) break;
    }
    return batch_place_of_offset(text, (size_t)(place - text));
}
