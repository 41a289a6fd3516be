/// What the commands share.

#include "tools/cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <uv.h>

static bool stderr_has_colors(void)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (no_color && *no_color) return false;
    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

void cli_error(const char *format, ...)
{
    bool colors = stderr_has_colors();
    fputs(colors ? "\033[1;31merror:\033[0m " : "error: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

/// Prints a formatted message; its first "error: " (or warning, note) in colour.
static void print_message(const char *text, rbl_severity severity, bool colors)
{
    const char *word = severity == RBL_ERROR ? "error:" : severity == RBL_WARNING ? "warning:" : "note:";
    const char *color = severity == RBL_ERROR     ? "\033[1;31m"
                        : severity == RBL_WARNING ? "\033[1;33m"
                                                  : "\033[1;36m";
    const char *found = colors ? strstr(text, word) : NULL;
    if (!found) {
        fputs(text, stderr);
        return;
    }
    fprintf(stderr, "%.*s%s%s\033[0m%s", (int)(found - text), text, color, word, found + strlen(word));
}

void cli_print_messages(const rbl_messages *messages)
{
    cli_print_messages_down_to(messages, RBL_NOTE);
}

void cli_print_messages_down_to(const rbl_messages *messages, rbl_severity least)
{
    bool colors = stderr_has_colors();
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        char *text = NULL;
        const rbl_message *message = rbl_messages_get(messages, i);
        if (message->severity > least) continue;
        if (rbl_messages_format(messages, i, &text) != RBL_OK) {
            fprintf(stderr, "%s\n", message->text);
            continue;
        }
        print_message(text, message->severity, colors);
        rbl_messages_free_text(messages, text);
    }
}

void cli_print_file_messages(const char *file, const rbl_messages *messages, rbl_severity least)
{
    bool colors = stderr_has_colors();
    static const char *const words[] = {"", "error", "warning", "note"};
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        const rbl_message *message = rbl_messages_get(messages, i);
        if (message->severity > least) continue;
        bool named = strncmp(message->text, file, strlen(file)) == 0;
        char start[40];
        snprintf(start, sizeof start, "%s: ", words[message->severity]);
        print_message(start, message->severity, colors);
        fprintf(stderr, "%s%s%s\n", named ? "" : file, named ? "" : ": ", message->text);
    }
}

int cli_exit_code(rbl_status status)
{
    switch (status) {
    case RBL_OK:
        return EXIT_DONE;
    case RBL_ERR_CANCELLED:
        return EXIT_CANCELLED;
    case RBL_ERR_GRAPH:
    case RBL_ERR_NOT_FOUND:
        return EXIT_USAGE;
    case RBL_ERR_READ:
    case RBL_ERR_WRITE:
    case RBL_ERR_PARSE:
        return EXIT_FILE;
    case RBL_ERR_NO_MEMORY:
    case RBL_ERR_ARGUMENT:
    case RBL_ERR_LIMIT:
    case RBL_ERR_INTERNAL:
    case RBL_ERR_NODE:
    case RBL_ERR_TYPE:
    case RBL_ERR_OPEN_MESH:
    case RBL_ERR_MESH:
    case RBL_ERR_COLLECTION:
        break;
    }
    return EXIT_EVALUATION;
}

bool cli_find_program(const char *name, char path[CLI_PATH_BYTES])
{
    size_t bytes = CLI_PATH_BYTES;
    if (uv_exepath(path, &bytes) != 0) return false;
    char *slash = strrchr(path, '/');
    char *end = slash ? slash + 1 : path;
    size_t room = CLI_PATH_BYTES - (size_t)(end - path);
    return snprintf(end, room, "%s", name) < (int)room;
}

rbl_engine *cli_engine(long thread_count, const size_t *memory_bytes)
{
    return cli_engine_with_cache(thread_count, memory_bytes, NULL, NULL);
}

rbl_engine *cli_engine_with_cache(
    long thread_count, const size_t *memory_bytes, const char *cache_folder, const size_t *cache_bytes)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = (int)thread_count;
    if (memory_bytes) options.limit_bytes = *memory_bytes;
    options.cache_folder = cache_folder;
    if (cache_bytes) options.cache_bytes = *cache_bytes;
    rbl_engine *engine = NULL;
    rbl_status status = rbl_engine_create(&options, &engine);
    if (status == RBL_ERR_NO_MEMORY && options.limit_bytes)
        cli_tell_status(status, &options.limit_bytes);
    else if (status != RBL_OK)
        cli_engine_fault(status, cache_folder);
    return engine;
}

bool cli_is_server(const char *cache_folder)
{
    return cache_folder &&
           (strncmp(cache_folder, "redis://", 8) == 0 || strncmp(cache_folder, "rediss://", 9) == 0 ||
               strncmp(cache_folder, "unix://", 7) == 0);
}

int cli_engine_exit_code(const char *cache_folder)
{
    return cli_is_server(cache_folder) ? EXIT_USAGE : EXIT_EVALUATION;
}

void cli_engine_fault(rbl_status status, const char *cache_folder)
{
    if (status == RBL_ERR_ARGUMENT && cli_is_server(cache_folder))
        cli_error("--cache: an address is redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE][?OPTIONS] or "
                  "unix://PATH[?OPTIONS] with timeout=MS, expire=SECONDS, value=BYTES, db=DATABASE; rubble "
                  "must be built with "
                  "hiredis");
    else
        cli_error("the engine cannot be started: %s", rbl_status_text(status));
}

int cli_set_variables(rbl_graph *graph, const cli_list *pairs)
{
    rbl_messages *messages = NULL;
    int code = cli_set_variables_quietly(graph, pairs, &messages);
    cli_print_messages(messages);
    rbl_messages_destroy(messages);
    return code;
}

int cli_set_variables_quietly(rbl_graph *graph, const cli_list *pairs, rbl_messages **messages)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < pairs->count; i++) {
        const char *equals = strchr(pairs->items[i], '=');
        if (!equals || equals == pairs->items[i]) {
            cli_error("--set needs NAME=VALUE, not \"%s\"", pairs->items[i]);
            code = EXIT_USAGE;
            continue;
        }
        size_t length = (size_t)(equals - pairs->items[i]);
        char *name = malloc(length + 1);
        if (!name) return EXIT_EVALUATION;
        memcpy(name, pairs->items[i], length);
        name[length] = '\0';
        rbl_status status = rbl_graph_set_variable_text(graph, name, equals + 1, messages);
        free(name);
        if (status != RBL_OK && code == EXIT_DONE) code = cli_exit_code(status);
    }
    return code;
}

int cli_load_file_graph(rbl_engine *engine, const char *file, rbl_graph **graph)
{
    size_t length = strlen(file);
    const char *type =
        length >= 4 && strcasecmp(file + length - 4, ".rbl") == 0 ? "LoadCollection" : "MeshToCollection";
    char text[256];
    snprintf(text, sizeof text,
        "{\"rubble\": 1, \"vars\": {\"file\": {\"type\": \"path\"}}, \"nodes\": {\"file\": {\"type\": "
        "\"%s\", "
        "\"params\": {\"file\": {\"var\": \"file\"}%s}}}}",
        type, *type == 'M' ? ", \"details\": true" : "");
    rbl_messages *messages = NULL;
    rbl_graph *loaded = NULL;
    rbl_status status = rbl_graph_load_text(engine, "file", text, strlen(text), &messages, &loaded);
    if (status == RBL_OK) status = rbl_graph_set_variable_text(loaded, "file", file, &messages);
    cli_print_messages(messages);
    rbl_messages_destroy(messages);
    if (status == RBL_OK)
        *graph = loaded;
    else
        rbl_graph_destroy(loaded);
    return cli_exit_code(status);
}

int cli_print(const char *text)
{
    bool good = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    if (!good && errno != EPIPE)
        cli_error("standard output: %s", strerror(errno)); /* `| head` is no mistake */
    return good ? EXIT_DONE : EXIT_FILE;
}

void cli_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

const char *cli_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

void cli_tell_status(rbl_status status, const size_t *memory_bytes)
{
    char limit[32];
    if (status == RBL_ERR_NO_MEMORY && memory_bytes && *memory_bytes)
        cli_error("%s: the limit is %s (--memory)", rbl_status_text(status), cli_bytes(*memory_bytes, limit));
    else
        cli_error("%s", rbl_status_text(status));
}

const char *cli_bytes(size_t bytes, char buffer[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double amount = (double)bytes;
    size_t unit = 0;
    while (amount >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        amount /= 1000;
        unit++;
    }
    snprintf(buffer, 32, unit && amount < 100 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
    return buffer;
}
