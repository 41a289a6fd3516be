#ifndef RUBBLE_CLI_MODEL_H
#define RUBBLE_CLI_MODEL_H

/// What commands show: a mesh, a .rbl file, or the result of a graph.

#include "tools/cli/cli.h"

typedef struct cli_model_request {
    const char *file;
    const char *node;      /* of a graph: the node to show; NULL: the last one that gives a collection */
    const cli_list *pairs; /* of --set; NULL: none */
    const char *output;    /* a file to write afterwards, which must not be one that is read; NULL: none */
    rbl_severity least;    /* of what is said, the least that is told */
} cli_model_request;

typedef struct cli_model {
    rbl_graph *graph;
    rbl_run *run;
    const rbl_collection *collection; /* borrowed from the run */
} cli_model;

/// Loads and evaluates; what is wrong is told. @return exit code. The model is to be freed in any case.
int cli_load_model(rbl_engine *engine, const cli_model_request *request, cli_model *out);
void cli_free_model(cli_model *model);

/// True for names that end in .json or .jsonc.
bool cli_is_graph(const char *file);
/// The node to show: the one asked for, else the last one whose first output is a collection; NULL: none.
const char *cli_choose_node(const rbl_graph *graph, const char *asked);
/// The name of a file without its folders.
const char *cli_base_name(const char *file);
/// The name of `file` without folders, with another ending; freed by the caller, NULL when out of memory.
char *cli_name_with_ending(const char *file, const char *ending);
/// True, and told, when `output` (NULL: nothing) would take the place of the graph or of a file that it reads.
bool cli_would_replace_input(const char *output, const rbl_graph *graph);
/// Tells that a graph has no such node, and which one was meant.
void cli_tell_unknown_node(const rbl_graph *graph, const char *node);

#endif
