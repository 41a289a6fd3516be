/// Names of assets: folders below the output folder, made from a template.

#include "tools/cli/batch/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PART = 200 }; /* bytes of a file name that every file system takes, with room for endings */

typedef struct name_text {
    char data[1024];
    size_t length;
} name_text;

static bool is_plain(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80 ||
           strchr("._+=-", c) != NULL;
}

/// A dot at the beginning of a part would hide the folder, or lead out of it.
static void add(name_text *name, char c)
{
    if (c == '.' && (name->length == 0 || name->data[name->length - 1] == '/')) c = '_';
    if (name->length + 1 < sizeof name->data) name->data[name->length++] = c;
}

static void add_plain(name_text *name, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        add(name, is_plain((unsigned char)text[i]) ? text[i] : '_');
}

/// The part of a path that `form` asks for: "" the stem, ".file", ".path".
static void add_path(name_text *name, const char *path, size_t bytes, const char *form)
{
    size_t start = bytes;
    while (start > 0 && path[start - 1] != '/')
        start--;
    size_t end = bytes;
    if (strcmp(form, ".path") == 0) {
        start = 0;
        while (start + 1 < bytes && (strncmp(path + start, "./", 2) == 0 || path[start] == '/'))
            start += path[start] == '/' ? 1 : 2;
    } else if (!*form) {
        while (end > start + 1 && path[end - 1] != '.')
            end--;
        end = end > start + 1 ? end - 1 : bytes;
    }
    add_plain(name, path + start, end - start);
}

static void add_value(name_text *name, const char *json, const char *form)
{
    size_t bytes = strlen(json);
    if (bytes >= 2 && *json == '"')
        add_path(name, json + 1, bytes - 2, form);
    else
        add_plain(name, json, bytes);
}

/// One {…}. False when there is no such variable.
static bool add_token(name_text *name, const char *token, const batch_asset *asset)
{
    if (strcmp(token, "graph") == 0) {
        add_path(name, asset->graph, strlen(asset->graph), "");
        return true;
    }
    const char *dot = strrchr(token, '.');
    if (dot && strcmp(dot, ".file") != 0 && strcmp(dot, ".path") != 0) dot = NULL;
    size_t length = dot ? (size_t)(dot - token) : strlen(token);
    for (size_t i = 0; i < asset->value_count; i++) {
        const char *variable = asset->values[i].name;
        if (strlen(variable) != length || strncmp(variable, token, length) != 0) continue;
        add_value(name, asset->values[i].json, dot ? dot : "");
        return true;
    }
    return false;
}

/// Whether every part is a file name that stays below the folder.
static const char *find_fault(const name_text *name)
{
    if (name->length + 1 >= sizeof name->data) return "it is longer than 1,000 bytes";
    if (strncmp(name->data, "batch.", 6) == 0 || strncmp(name->data, "batch-", 6) == 0)
        return "it begins like the names of summaries, \"batch.\"";
    for (const char *part = name->data;; part++) {
        size_t length = strcspn(part, "/");
        if (length == 0) return "a part of it is empty";
        if (length > MOST_PART) return "a part of it is longer than 200 bytes";
        part += length;
        if (!*part) return NULL;
    }
}

char *batch_make_name(const char *template, const batch_asset *asset, char *why, size_t why_bytes)
{
    name_text name = {.length = 0};
    for (const char *at = template; *at; at++) {
        if (*at != '{') {
            add(&name, *at == '/' || is_plain((unsigned char)*at) ? *at : '_');
            continue;
        }
        const char *close = strchr(at, '}');
        char token[128];
        size_t length = close ? (size_t)(close - at - 1) : 0;
        if (!close || length >= sizeof token) {
            snprintf(why, why_bytes, "a { of the name \"%.100s\" has no }", template);
            return NULL;
        }
        memcpy(token, at + 1, length);
        token[length] = '\0';
        if (!add_token(&name, token, asset)) {
            snprintf(why, why_bytes, "the name's {%s} is neither {graph} nor a variable that this job sets",
                token);
            return NULL;
        }
        at = close;
    }
    name.data[name.length] = '\0';
    const char *fault = find_fault(&name);
    if (fault) {
        snprintf(why, why_bytes, "the name \"%.100s\" cannot be that of a folder: %s", name.data, fault);
        return NULL;
    }
    return strdup(name.data);
}
