/// rubble fmt and rubble migrate: graph files rewritten in place.

#include "tools/cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cli/files.h"

typedef rbl_status (*rewrite_function)(const rbl_engine *engine, const char *name, const char *text,
    size_t bytes, rbl_messages **messages, char **out);

static int rewrite_file(
    rbl_engine *engine, rewrite_function rewrite, const char *path, bool check, bool print)
{
    size_t bytes = 0;
    char *text = cli_read_file(path, &bytes), *formatted = NULL;
    if (!text) return EXIT_FILE;
    rbl_messages *messages = NULL;
    rbl_status status = rewrite(engine, path, text, bytes, &messages, &formatted);
    int code = cli_exit_code(status);
    cli_print_messages(messages);
    if (code == EXIT_DONE) {
        bool same = strlen(formatted) == bytes && memcmp(formatted, text, bytes) == 0;
        if (print)
            code = cli_print(formatted);
        else if (check && !same) {
            cli_error(rewrite == rbl_engine_format
                          ? "%s is not in the canonical form: rubble fmt writes it"
                          : "%s has nodes of old versions: rubble migrate rewrites them",
                path);
            code = EXIT_EVALUATION;
        } else if (!check && !same)
            code = cli_write_file(path, formatted, strlen(formatted)) ? EXIT_DONE : EXIT_FILE;
    }
    rbl_engine_free_text(engine, formatted);
    rbl_messages_destroy(messages);
    free(text);
    return code;
}

static int run(const char *name, rewrite_function rewrite, int argc, char **argv)
{
    bool check = false, print = false, format = rewrite == rbl_engine_format;
    const char *file = NULL;
    const cli_option options[] = {{"check", CLI_FLAG, &check, NULL,
                                      format ? "write nothing; exit 1 when the file is not in this form"
                                             : "write nothing; exit 1 when there is something to do"},
        {"print", CLI_FLAG, &print, NULL, "write to standard output instead of the file"}, {0}};
    const cli_command command = {.name = name,
        .usage = "GRAPH [--check | --print]",
        .text = format ? "Writes a graph file in its canonical form: two spaces a level, what fits into 120 "
                         "columns on one line. Values, their "
                         "order and comments stay."
                       : "Turns nodes of old versions (\"Type@1\") in a graph file into the newest. All else "
                         "stays byte for byte.",
        .examples = format ? "rubble fmt graphs/wall.json" : "rubble migrate graphs/wall.json",
        .takes = "GRAPH",
        .options = options,
        .arguments = &file,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code >= 0) return code;
    rbl_engine *engine = cli_engine(1, NULL);
    if (!engine) return EXIT_EVALUATION;
    code = rewrite_file(engine, rewrite, file, check, print);
    rbl_engine_destroy(engine);
    return code;
}

int cli_fmt(int argc, char **argv)
{
    return run("fmt", rbl_engine_format, argc, argv);
}

int cli_migrate(int argc, char **argv)
{
    return run("migrate", rbl_engine_migrate, argc, argv);
}
