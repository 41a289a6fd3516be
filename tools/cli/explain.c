/// rubble explain: what an evaluation would do now, and why.

#include "tools/cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    const char *graph, *only, *cache;
    cli_list pairs;
    bool no_cache, json;
} settings;

static const char *outcome_word(rbl_outcome outcome)
{
    return outcome == RBL_OUTCOME_MEMORY_HIT || outcome == RBL_OUTCOME_DISK_HIT ? "from the cache"
                                                                                : rbl_outcome_text(outcome);
}

static bool is_asked_for(const rbl_node_report *report)
{
    return strcmp(report->reason, "not asked for") != 0;
}

static int print_forecast(const rbl_run *run)
{
    size_t counts[16] = {0}, nodes = 0;
    int width = 4;
    for (size_t i = 0; i < rbl_run_node_count(run); i++) {
        int length = (int)strlen(rbl_run_node(run, i)->node);
        if (length > width) width = length;
    }
    for (size_t i = 0; i < rbl_run_node_count(run); i++) {
        const rbl_node_report *report = rbl_run_node(run, i);
        if (!is_asked_for(report)) continue;
        nodes++;
        counts[report->outcome & 15]++;
        if (*report->reason)
            printf("%-*s  %-14s  %s\n", width, report->node, outcome_word(report->outcome), report->reason);
        else
            printf("%-*s  %s\n", width, report->node, outcome_word(report->outcome));
    }
    printf("%zu node%s: %zu would run, %zu may run, %zu from the cache", nodes, cli_plural(nodes),
        counts[RBL_OUTCOME_WOULD_RUN], counts[RBL_OUTCOME_MAY_RUN],
        counts[RBL_OUTCOME_MEMORY_HIT] + counts[RBL_OUTCOME_DISK_HIT]);
    if (counts[RBL_OUTCOME_NOT_NEEDED]) printf(", %zu not needed", counts[RBL_OUTCOME_NOT_NEEDED]);
    printf("\n");
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FILE;
}

static int print_json(const rbl_run *run)
{
    char *text = NULL;
    if (rbl_run_json(run, &text) != RBL_OK) return EXIT_EVALUATION;
    int code = cli_print(text);
    rbl_run_free_text(run, text);
    return code;
}

static int forecast(rbl_graph *graph, const settings *s)
{
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.only_node = s->only;
    options.no_cache = s->no_cache;
    rbl_run *run = NULL;
    rbl_status status = rbl_graph_explain(graph, &options, &run);
    if (!run) {
        if (status == RBL_ERR_NOT_FOUND)
            cli_error("the graph has no node \"%s\"", s->only);
        else
            cli_error("%s", rbl_status_text(status));
        return cli_exit_code(status);
    }
    cli_print_messages(rbl_run_messages(run));
    int code = s->json ? print_json(run) : print_forecast(run);
    if (code == EXIT_DONE) code = cli_exit_code(status);
    rbl_run_destroy(run);
    return code;
}

static int explain(rbl_engine *engine, const settings *s)
{
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_file(engine, s->graph, &messages, &graph);
    cli_print_messages(messages);
    int code = cli_exit_code(status);
    if (code == EXIT_DONE) code = cli_set_variables(graph, &s->pairs);
    if (code == EXIT_DONE) code = forecast(graph, s);
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    return code;
}

int cli_explain(int argc, char **argv)
{
    settings s = {0};
    const cli_option options[] = {CLI_OPTION_SET(&s.pairs),
        {"only", CLI_TEXT, &s.only, "NODE", "this node and what it needs"},
        {"cache", CLI_TEXT, &s.cache, "DIR",
            "the folder that `rubble eval --cache` keeps results in (default: $RUBBLE_CACHE)"},
        {"no-cache", CLI_FLAG, &s.no_cache, NULL, "as if nothing were remembered"},
        {"json", CLI_FLAG, &s.json, NULL, "print the forecast as JSON"}, {0}};
    const cli_command command = {.name = "explain",
        .usage = "GRAPH [options]",
        .text = "Says for each node whether it would run now, and why, without running it. Files are read, "
                "to see whether they changed. "
                "What is remembered lies in a cache folder: without one, every node would run.",
        .examples = "rubble explain graphs/wall.json --cache cache --set stones=200",
        .takes = "GRAPH",
        .options = options,
        .arguments = &s.graph,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code < 0) {
        if (!s.cache) s.cache = getenv("RUBBLE_CACHE");
        if (s.no_cache) s.cache = NULL;
        rbl_engine *engine = cli_engine_with_cache(1, NULL, s.cache, NULL);
        code = engine ? explain(engine, &s) : cli_engine_exit_code(s.cache);
        rbl_engine_destroy(engine);
    }
    free(s.pairs.items);
    return code;
}
