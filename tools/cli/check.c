/// rubble check: mistakes in a graph, without running it.

#include "tools/cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: rubble check GRAPH [--set NAME=VALUE]… [--json]\n"
    "\n"
    "Reads a graph and reports every mistake in it, with its place, and files that are missing. Nothing is\n"
    "evaluated.\n"
    "\n"
    "  --set NAME=VALUE     set a variable\n"
    "  --fail-on warning    exit 1 when there is a warning\n"
    "  --json               print the messages as JSON\n"
    "\n"
    "example: rubble check graphs/wall.json\n";

static int print_json(const char *file, int code, const rbl_messages *messages)
{
    char *text = NULL;
    if (rbl_messages_json(messages, &text) != RBL_OK) return EXIT_EVALUATION;
    printf("{\"graph\": ");
    cli_json_string(stdout, file);
    printf(", \"valid\": %s, \"messages\": %s}\n", code == EXIT_DONE ? "true" : "false", text);
    rbl_messages_free_text(messages, text);
    return fflush(stdout) == 0 ? code : EXIT_FILE;
}

static int check(rbl_engine *engine, const char *file, const cli_list *pairs, bool json, bool fail_on_warning)
{
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_file(engine, file, &messages, &graph);
    int code = cli_exit_code(status);
    if (code == EXIT_DONE) code = cli_set_variables_quietly(graph, pairs, &messages);
    if (code == EXIT_DONE) rbl_graph_look_for_files(graph, &messages);
    if (!json) cli_print_messages(messages);
    if (code == EXIT_DONE && fail_on_warning && rbl_messages_count_of(messages, RBL_WARNING))
        code = EXIT_EVALUATION;
    if (json)
        code = print_json(file, code, messages);
    else if (code == EXIT_DONE)
        printf("%s: %zu node%s, %zu variable%s, no mistake found\n", file, rbl_graph_node_count(graph),
            rbl_graph_node_count(graph) == 1 ? "" : "s", rbl_graph_variable_count(graph),
            rbl_graph_variable_count(graph) == 1 ? "" : "s");
    else if (status == RBL_ERR_GRAPH)
        fprintf(stderr, "%s: %zu error%s\n", file, rbl_messages_count_of(messages, RBL_ERROR),
            rbl_messages_count_of(messages, RBL_ERROR) == 1 ? "" : "s");
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    return code;
}

int cli_check(int argc, char **argv)
{
    bool json = false;
    const char *file = NULL, *fail_on = NULL;
    cli_list pairs = {0};
    const cli_option options[] = {
        {"json", CLI_FLAG, &json}, {"set", CLI_LIST, &pairs}, {"fail-on", CLI_TEXT, &fail_on}, {0}};
    int code = cli_parse(&(cli_command){"check", help, options, &file, 1, 1}, argc, argv);
    if (code < 0 && fail_on && strcmp(fail_on, "warning") != 0) {
        cli_error("--fail-on takes \"warning\", not \"%s\"", fail_on);
        code = EXIT_USAGE;
    }
    if (code < 0) {
        rbl_engine *engine = cli_engine(1, NULL);
        code = engine ? check(engine, file, &pairs, json, fail_on != NULL) : EXIT_EVALUATION;
        rbl_engine_destroy(engine);
    }
    free(pairs.items);
    return code;
}
