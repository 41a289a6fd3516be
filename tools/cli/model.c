/// Loads what commands show: a mesh, a .rbl file, or the result of a graph.

#include "tools/cli/model.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/files.h"

static const char *ending_of(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}

bool cli_is_graph(const char *file)
{
    return strcasecmp(ending_of(file), ".json") == 0 || strcasecmp(ending_of(file), ".jsonc") == 0;
}

const char *cli_base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

char *cli_name_with_ending(const char *file, const char *ending)
{
    const char *name = cli_base_name(file);
    size_t length = strlen(name) - strlen(ending_of(name)), room = length + strlen(ending) + 1;
    char *out = malloc(room);
    if (out) snprintf(out, room, "%.*s%s", (int)length, name, ending);
    return out;
}

const char *cli_choose_node(const rbl_graph *graph, const char *asked)
{
    if (asked) return asked;
    for (size_t i = rbl_graph_node_count(graph); i-- > 0;) {
        const rbl_port_desc *outputs = rbl_graph_node_desc(graph, i)->outputs;
        if (outputs && outputs[0].name && outputs[0].kind == RBL_VALUE_COLLECTION)
            return rbl_graph_node_id(graph, i);
    }
    return NULL;
}

void cli_tell_unknown_node(const rbl_graph *graph, const char *node)
{
    size_t count = rbl_graph_node_count(graph);
    const char **ids = malloc((count + 1) * sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = rbl_graph_node_id(graph, i);
    const char *nearest = ids ? rbl_nearest_name(node, ids, count) : NULL;
    cli_error("the graph has no node \"%s\"", node);
    if (nearest) fprintf(stderr, "  did you mean \"%s\"?\n", nearest);
    free(ids);
}

typedef struct output_check {
    const char *output;
    bool replaces;
} output_check;

static void compare_file(void *user, const char *path, bool is_graph)
{
    output_check *check = user;
    (void)is_graph;
    if (!check->replaces) check->replaces = cli_would_replace(check->output, path);
}

bool cli_would_replace_input(const char *output, const rbl_graph *graph)
{
    output_check check = {.output = output};
    if (output) rbl_graph_each_file(graph, compare_file, &check);
    return check.replaces;
}

static int load_graph(rbl_engine *engine, const char *file, rbl_graph **graph)
{
    if (!cli_is_graph(file)) return cli_load_file_graph(engine, file, graph);
    rbl_messages *messages = NULL;
    rbl_status status = rbl_graph_load_file(engine, file, &messages, graph);
    cli_print_messages(messages);
    if (status != RBL_OK && !rbl_messages_count_of(messages, RBL_ERROR))
        cli_error("%s: %s", file, rbl_status_text(status));
    rbl_messages_destroy(messages);
    return cli_exit_code(status);
}

static int evaluate(const cli_model_request *request, const char *node, cli_model *m)
{
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.only_node = node;
    rbl_status status = rbl_evaluate(m->graph, &options, &m->run);
    if (!m->run && status == RBL_ERR_NOT_FOUND) {
        cli_tell_unknown_node(m->graph, node);
        return EXIT_USAGE;
    }
    if (!m->run)
        cli_error("node \"%s\": %s", node, rbl_status_text(status));
    else if (cli_is_graph(request->file))
        cli_print_messages_down_to(rbl_run_messages(m->run), request->least);
    else
        cli_print_file_messages(request->file, rbl_run_messages(m->run), request->least);
    return status == RBL_ERR_NOT_FOUND ? EXIT_EVALUATION : cli_exit_code(status);
}

int cli_load_model(rbl_engine *engine, const cli_model_request *request, cli_model *out)
{
    const char *node = NULL;
    *out = (cli_model){0};
    int code = load_graph(engine, request->file, &out->graph);
    if (code == EXIT_DONE && request->pairs) code = cli_set_variables(out->graph, request->pairs);
    if (code == EXIT_DONE && cli_would_replace_input(request->output, out->graph)) code = EXIT_USAGE;
    if (code == EXIT_DONE && request->output && !cli_can_write_file(request->output)) code = EXIT_FILE;
    if (code == EXIT_DONE && !(node = cli_choose_node(out->graph, request->node))) {
        cli_error("%s: no node gives a collection", request->file);
        code = EXIT_USAGE;
    }
    if (code == EXIT_DONE) code = evaluate(request, node, out);
    /* Only now are all files known: an .mtl, a buffer of a glTF file. */
    if (code == EXIT_DONE && cli_would_replace_input(request->output, out->graph)) code = EXIT_USAGE;
    if (code != EXIT_DONE) return code;
    const rbl_value *value = rbl_run_value(out->run, node);
    out->collection = value ? rbl_value_collection(value) : NULL;
    if (out->collection) return EXIT_DONE;
    cli_error("%s: node \"%s\" gives no collection", request->file, node);
    return EXIT_EVALUATION;
}

void cli_free_model(cli_model *model)
{
    rbl_run_destroy(model->run);
    rbl_graph_destroy(model->graph);
    *model = (cli_model){0};
}
