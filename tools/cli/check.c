/// rubble check: mistakes in a graph, without running it.

#include "tools/cli/cli.h"

#include <stdlib.h>
#include <string.h>

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
    const cli_option options[] = {CLI_OPTION_SET(&pairs), CLI_OPTION_FAIL_ON(&fail_on),
        {"json", CLI_FLAG, &json, NULL, "print the messages as JSON"}, {0}};
    const cli_command command = {.name = "check",
        .usage = "GRAPH [options]",
        .text = "Reads a graph and reports every mistake in it, with its place, and files that are missing. "
                "Nothing is evaluated.",
        .examples = "rubble check graphs/wall.json",
        .takes = "GRAPH",
        .options = options,
        .arguments = &file,
        .least_arguments = 1,
        .most_arguments = 1};
    int code = cli_parse(&command, argc, argv);
    if (code < 0) {
        rbl_engine *engine = cli_engine(1, NULL);
        code = engine ? check(engine, file, &pairs, json, fail_on != NULL) : EXIT_EVALUATION;
        rbl_engine_destroy(engine);
    }
    free(pairs.items);
    return code;
}
