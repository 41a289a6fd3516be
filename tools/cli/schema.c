/// rubble schema: what editors read.

#include "tools/cli/cli.h"

static const char help[] =
    "usage: rubble schema [--nodes]\n"
    "\n"
    "Prints the JSON Schema (draft 2020-12) of graph files: editors complete node types, ports and "
    "parameters with it and\n"
    "show their documentation. Name it in a graph with \"$schema\": \"…/graph.schema.json\".\n"
    "\n"
    "  --nodes   print the list of node types with their ports and parameters instead\n"
    "\n"
    "example: rubble schema > graph.schema.json\n";

int cli_schema(int argc, char **argv)
{
    bool nodes = false;
    const cli_option options[] = {{"nodes", CLI_FLAG, &nodes}, {0}};
    int code = cli_parse(&(cli_command){"schema", help, options, NULL, 0, 0}, argc, argv);
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
