/// rubble schema: what editors read.

#include "tools/cli/cli.h"

int cli_schema(int argc, char **argv)
{
    bool nodes = false;
    const cli_option options[] = {{"nodes", CLI_FLAG, &nodes, NULL,
                                      "print the list of node types with their ports and parameters instead"},
        {0}};
    const cli_command command = {.name = "schema",
        .usage = "[options]",
        .text = "Prints the JSON Schema (draft 2020-12) of graph files: editors complete node types, ports "
                "and parameters with it and show "
                "their documentation. Name it in a graph with \"$schema\": \"…/graph.schema.json\".",
        .examples = "rubble schema > graph.schema.json",
        .options = options};
    int code = cli_parse(&command, argc, argv);
    if (code >= 0) return code;
    rbl_engine *engine = cli_engine(1, NULL);
    if (!engine) return EXIT_EVALUATION;
    char *text = NULL;
    rbl_status status = nodes ? rbl_engine_nodes_json(engine, NULL, &text) : rbl_engine_schema(engine, &text);
    if (status == RBL_OK) {
        code = cli_print(text);
        rbl_engine_free_text(engine, text);
    } else {
        cli_error("%s", rbl_status_text(status));
        code = EXIT_EVALUATION;
    }
    rbl_engine_destroy(engine);
    return code;
}
