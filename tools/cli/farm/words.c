/// Commands as lists of words, and words as sh, YAML and JSON read them.

#include <stdlib.h>
#include <string.h>

#include "tools/cli/farm/farm.h"

void farm_word(farm_words *words, const char *text)
{
    char **items = realloc(words->items, (words->count + 2) * sizeof *items), *copy = strdup(text);
    if (items) words->items = items;
    if (!items || !copy) {
        free(copy);
        words->failed = true;
        return;
    }
    items[words->count++] = copy;
    items[words->count] = NULL;
}

void farm_words_free(farm_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    *words = (farm_words){0};
}

static void add_option(farm_words *words, const char *option, const char *value)
{
    if (!value) return;
    farm_word(words, option);
    farm_word(words, value);
}

static void add_number(farm_words *words, const char *option, size_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    if (number) add_option(words, option, text);
}

void farm_batch_words(farm_words *words, const farm_options *o, const char *program, const char *chunk)
{
    farm_word(words, program);
    farm_word(words, "batch");
    for (size_t i = 0; i < o->sets.count; i++)
        add_option(words, "--set", o->sets.items[i]);
    for (size_t i = 0; i < o->overs.count; i++)
        add_option(words, "--over", o->overs.items[i]);
    add_option(words, "--name", o->name);
    add_option(words, "--out", o->out);
    add_option(words, "--chunk", chunk);
    farm_word(words, "--resume");
    add_number(words, "--threads", (size_t)o->threads);
    /* What the process itself and libraries take is not counted there. */
    add_number(words, "--memory", o->memory / 8 * 7);
    add_number(words, "--time-limit", (size_t)o->limit);
    add_option(words, "--fail-on", o->fail_on);
    if (o->thumbnails) farm_word(words, "--thumbnails");
    if (o->no_cache) farm_word(words, "--no-cache");
    add_option(words, "--cache", o->cache);
    add_option(words, "--cache-bytes", o->cache_bytes);
    farm_word(words, "--progress");
    farm_word(words, "plain");
    farm_word(words, "--");
    farm_word(words, o->file);
}

void farm_print_shell_word(FILE *file, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=@%+-";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, file);
        return;
    }
    fputc('\'', file);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", file);
        else
            fputc(*word, file);
    }
    fputc('\'', file);
}

/// Takes a character off UTF-8; −1 when it is none.
static long take_character(const unsigned char **at)
{
    const unsigned char *c = *at;
    static const long least[] = {0, 0x80, 0x800, 0x10000};
    int more = *c < 0x80                 ? 0
               : *c >= 0xc2 && *c < 0xe0 ? 1
               : (*c & 0xf0) == 0xe0     ? 2
               : *c >= 0xf0 && *c < 0xf5 ? 3
                                         : -1;
    if (more < 0) return -1;
    long code = more ? *c & (0x3f >> more) : *c;
    for (int i = 1; i <= more; i++) {
        if ((c[i] & 0xc0) != 0x80) return -1;
        code = code << 6 | (c[i] & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return -1;
    *at += more + 1;
    return code;
}

bool farm_print_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        long code = take_character(&at);
        if (code < 0) return false;
        if (code == '"' || code == '\\')
            fprintf(file, "\\%c", (int)code);
        else if (code >= 0x20 && code < 0x7f)
            fputc((int)code, file);
        else if (code < 0x10000)
            fprintf(file, "\\u%04lx", code);
        else
            fprintf(file, "\\U%08lx", code);
    }
    fputc('"', file);
    return true;
}

void farm_job_name(const char *file, char name[48])
{
    const char *slash = strrchr(file, '/'), *stem = slash ? slash + 1 : file, *dot = strrchr(stem, '.');
    size_t end = dot && dot > stem ? (size_t)(dot - stem) : strlen(stem);
    size_t length = (size_t)snprintf(name, 48, "rubble");
    char between = '-';
    for (size_t i = 0; i < end && length < 39; i++) {
        unsigned char c = (unsigned char)stem[i];
        if (c >= 'A' && c <= 'Z') c = (unsigned char)(c - 'A' + 'a');
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
            between = '-';
            continue;
        }
        if (between) name[length++] = between;
        between = '\0';
        name[length++] = (char)c;
    }
    name[length] = '\0';
}

char *farm_path(const char *out, const char *name)
{
    size_t bytes = strlen(out) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (path) snprintf(path, bytes, "%s/%s", out, name);
    return path;
}

bool farm_is_chunk_file(const char *name, unsigned long *chunk, unsigned long *count, const char **ending)
{
    int used = 0;
    /* Only digits: sscanf alone takes a sign and space, too. */
    if (strncmp(name, "batch-", 6) != 0 || name[6] < '1' || name[6] > '9') return false;
    if (sscanf(name, "batch-%lu-of-%lu%n", chunk, count, &used) != 2 || !used || name[used] != '.')
        return false;
    *ending = name + used + 1;
    return *chunk >= 1 && *chunk <= *count && *count <= 1000000;
}
