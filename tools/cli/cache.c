/// rubble cache: what is in the folder of --cache, and keeping it in order.

#include "tools/cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum action { STAT, VERIFY, GC, CLEAR, ACTION_COUNT } action;
static const char *const action_words[] = {"stat", "verify", "gc", "clear"};

static void print_report(action what, const char *folder, const rbl_cache_report *report)
{
    char bytes[32];
    if (what == GC || what == CLEAR)
        printf("%s: removed %zu file%s (%s)\n", folder, report->removed, cli_plural(report->removed),
            cli_bytes((size_t)report->removed_bytes, bytes));
    printf("%s: %zu result%s and files, %zu damaged file%s set aside, %zu temporary file%s; %s\n", folder,
        report->entries, cli_plural(report->entries), report->set_aside, cli_plural(report->set_aside),
        report->temporary, cli_plural(report->temporary), cli_bytes((size_t)report->bytes, bytes));
    if (what == VERIFY) printf("%s: %zu damaged\n", folder, report->damaged);
}

static void print_json(action what, const char *folder, const rbl_cache_report *report)
{
    printf("{\"action\": \"%s\", \"folder\": ", action_words[what]);
    cli_json_string(stdout, folder);
    printf(", \"entries\": %zu, \"set_aside\": %zu, \"temporary\": %zu, \"bytes\": %" PRIu64
           ", \"damaged\": %zu, \"removed\": %zu, \"removed_bytes\": %" PRIu64 "}\n",
        report->entries, report->set_aside, report->temporary, report->bytes, report->damaged,
        report->removed, report->removed_bytes);
}

static int work(action what, const char *folder, size_t bytes, bool json)
{
    rbl_engine *engine = cli_engine(0, NULL);
    if (!engine) return EXIT_EVALUATION;
    rbl_messages *messages = NULL;
    rbl_cache_report report = {0};
    rbl_status status = RBL_OK;
    switch (what) {
    case VERIFY:
        status = rbl_cache_verify(engine, folder, &report, &messages);
        break;
    case GC:
        status = rbl_cache_gc(engine, folder, bytes, &report, &messages);
        break;
    case CLEAR:
        status = rbl_cache_clear(engine, folder, &report, &messages);
        break;
    case STAT:
    case ACTION_COUNT:
        status = rbl_cache_stat(engine, folder, &report, &messages);
        break;
    }
    cli_print_messages(messages);
    int code = cli_exit_code(status);
    if (status != RBL_OK && !rbl_messages_count_of(messages, RBL_ERROR))
        cli_error("%s", rbl_status_text(status));
    if (status == RBL_OK && json) print_json(what, folder, &report);
    if (status == RBL_OK && !json) print_report(what, folder, &report);
    if (fflush(stdout) != 0) {
        cli_error("standard output: %s", strerror(errno));
        code = EXIT_FILE;
    }
    if (code == EXIT_DONE && report.damaged) code = EXIT_EVALUATION;
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
    return code;
}

int cli_cache(int argc, char **argv)
{
    bool json = false;
    size_t bytes = (size_t)10 << 30;
    const char *arguments[2] = {NULL, NULL};
    const cli_option options[] = {
        {"bytes", CLI_BYTES, &bytes, "BYTES", "gc: most bytes that stay, like 500M or 4G (default 10G)"},
        {"json", CLI_FLAG, &json, NULL, "print the result as JSON"}, {0}};
    const cli_command command = {.name = "cache",
        .usage = "stat|verify|gc|clear [DIR] [options]",
        .text = "Looks after a folder that `rubble eval --cache DIR` keeps results in (default: "
                "$RUBBLE_CACHE). Safe while others use the folder.\n"
                "- stat: count what is in it\n"
                "- verify: read all of it and compare every checksum; what is damaged is set aside as .bad "
                "(exit 1)\n"
                "- gc: remove what was used longest ago, until --bytes are left\n"
                "- clear: remove every file of the cache, and no other",
        .examples = "rubble cache gc ~/.cache/rubble --bytes 2G",
        .takes = "stat|verify|gc|clear DIR",
        .options = options,
        .arguments = arguments,
        .least_arguments = 1,
        .most_arguments = 2};
    int code = cli_parse(&command, argc, argv);
    if (code >= 0) return code;
    size_t what = 0;
    while (what < ACTION_COUNT && strcmp(arguments[0], action_words[what]) != 0)
        what++;
    if (what == ACTION_COUNT) {
        cli_error("rubble cache takes stat, verify, gc or clear, not \"%s\"", arguments[0]);
        return EXIT_USAGE;
    }
    const char *folder = arguments[1] ? arguments[1] : getenv("RUBBLE_CACHE");
    if (!folder || !*folder) {
        cli_error("rubble cache %s needs a folder, or RUBBLE_CACHE in the environment", arguments[0]);
        return EXIT_USAGE;
    }
    if (cli_is_server(folder)) {
        cli_error("rubble cache looks after folders; a Redis server keeps itself in order (docs/cache.md)");
        return EXIT_USAGE;
    }
    return work((action)what, folder, bytes, json);
}
