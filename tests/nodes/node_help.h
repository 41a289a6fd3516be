#ifndef RUBBLE_TESTS_NODES_NODE_HELP_H
#define RUBBLE_TESTS_NODES_NODE_HELP_H

/// Runs graphs from text, with a node type `test.Boxes` that gives boxes made by hand.

#include "fracture/ops/surface.h"
#include "rubble/rubble.h"
#include "tests/ops/asset_builder.h"

/// Boxes side by side along x as rigid bones 1 … below a root 0, each `growth` times as long as the one
/// before, the first of `size` at the origin; then, if `group`, a cluster with two cubes of edge 1 at the
/// row's end.
static rbl_status boxes_evaluate(rbl_context *ctx, rbl_call *call)
{
    size_t count = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    double size[3], growth = rbl_param_float(rbl_call_param(call, "growth")), x = 0;
    double boxes[64][2][3] = {0};
    rbl_param_vec3(rbl_call_param(call, "size"), size);
    for (size_t i = 0; i < count; i++) {
        memcpy(boxes[i][1], size, sizeof size);
        boxes[i][0][0] = x;
        boxes[i][1][0] = x += size[0];
        size[0] *= growth;
    }
    rbl_collection *c = make_boxes(ctx, count, (const double(*)[2][3])boxes);
    if (rbl_param_bool(rbl_call_param(call, "group"))) {
        int32_t first, parents[2] = {0, 0};
        const char *cluster = "group", *names[2] = {"group_a", "group_b"};
        assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, parents, &cluster, RBLI_BONE_CLUSTER, &first));
        parents[0] = parents[1] = first;
        assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 2, parents, names, RBLI_BONE_RIGID, &first));
        for (int i = 0; i < 2; i++)
            add_box_geometry(ctx, c, first + i, (double[3]){x + i, 0, 0}, (double[3]){x + i + 1, 1, 1}, 0);
    }
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    rbl_call_set_output_collection(call, "collection", c);
    return RBL_OK;
}
static const rbl_port_desc boxes_outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "boxes"}, {0}};
static const rbl_param_desc boxes_params[] = {
    {.name = "count", .type = RBL_PARAM_INT, .default_json = "1", .min = 1, .max = 64, .text = "boxes"},
    {.name = "size", .type = RBL_PARAM_VEC3, .default_json = "[1, 1, 1]", .text = "of the first"},
    {.name = "growth",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0.1,
        .max = 10,
        .text = "of the length"},
    {.name = "group", .type = RBL_PARAM_BOOL, .default_json = "false", .text = "with a cluster of two"}, {0}};
static const rbl_node_desc boxes_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Boxes",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "gives boxes",
    .outputs = boxes_outputs,
    .params = boxes_params,
    .evaluate = boxes_evaluate};

/// A graph that was run.
typedef struct graph_run {
    rbl_engine *engine;
    rbl_graph *graph;
    rbl_run *run;
} graph_run;

/// Runs a graph whose nodes are the JSON text `nodes` (without braces); fails unless it ends with `expected`.
static inline graph_run run_nodes_with(const char *nodes, rbl_status expected, int thread_count)
{
    graph_run g = {0};
    rbl_engine_options options;
    rbl_messages *messages = NULL;
    size_t bytes = strlen(nodes) + 64;
    char *text = malloc(bytes);
    rbl_engine_options_init(&options);
    options.thread_count = thread_count;
    assert_int_equal(rbl_engine_create(&options, &g.engine), RBL_OK);
    assert_int_equal(rbl_engine_register_node(g.engine, &boxes_node, NULL), RBL_OK);
    snprintf(text, bytes, "{\"rubble\": 1, \"nodes\": {\n%s\n}}", nodes);
    rbl_status status = rbl_graph_load_text(g.engine, "test.json", text, strlen(text), &messages, &g.graph);
    for (size_t i = 0; status != RBL_OK && i < rbl_messages_count(messages); i++)
        print_error("%s: %s\n", rbl_messages_get(messages, i)->text, rbl_messages_get(messages, i)->hint);
    assert_int_equal(status, RBL_OK);
    rbl_messages_destroy(messages);
    free(text);
    status = rbl_evaluate(g.graph, NULL, &g.run);
    assert_non_null(g.run);
    const rbl_messages *said = rbl_run_messages(g.run);
    for (size_t i = 0; status != expected && i < rbl_messages_count(said); i++)
        print_error("%s: %s\n", rbl_messages_get(said, i)->node, rbl_messages_get(said, i)->text);
    assert_int_equal(status, expected);
    return g;
}
static inline graph_run run_nodes(const char *nodes, rbl_status expected)
{
    return run_nodes_with(nodes, expected, 1);
}
/// A graph that is refused when it is loaded, with a message that contains `part` at the pointer ("": any).
static inline void expect_refused(const char *nodes, const char *part, const char *pointer)
{
    rbl_engine *engine = NULL;
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    size_t bytes = strlen(nodes) + 64;
    char *text = malloc(bytes);
    assert_int_equal(rbl_engine_create(NULL, &engine), RBL_OK);
    assert_int_equal(rbl_engine_register_node(engine, &boxes_node, NULL), RBL_OK);
    snprintf(text, bytes, "{\"rubble\": 1, \"nodes\": {\n%s\n}}", nodes);
    assert_int_equal(
        rbl_graph_load_text(engine, "test.json", text, strlen(text), &messages, &graph), RBL_ERR_GRAPH);
    assert_int_equal(rbl_messages_count_of(messages, RBL_ERROR), 1);
    const rbl_message *message = rbl_messages_get(messages, 0);
    if (!strstr(message->text, part)) print_error("said: %s\n", message->text);
    assert_non_null(strstr(message->text, part));
    if (*pointer) assert_string_equal(message->pointer, pointer);
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
    free(text);
}
static inline void end_run(graph_run *g)
{
    rbl_run_destroy(g->run);
    rbl_graph_destroy(g->graph);
    rbl_engine_destroy(g->engine);
}
static inline const double (*points_of(const graph_run *g, const char *port, size_t *count))[3]
{
    return rbl_value_points(rbl_run_value(g->run, port), count);
}
static inline const rbl_collection *collection_of(const graph_run *g, const char *port)
{
    return rbl_value_collection(rbl_run_value(g->run, port));
}
/// The bones of a selection as text, "0 3 4".
static inline const char *bones_of(const graph_run *g, const char *port)
{
    static char text[2000];
    size_t count, used = 0;
    const int32_t *bones = rbl_value_selection(rbl_run_value(g->run, port), &count);
    text[0] = 0;
    for (size_t i = 0; i < count && used < sizeof text - 20; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", used ? " " : "", (int)bones[i]);
    return text;
}
/// True when a message of the run contains `part`.
static inline bool said(const graph_run *g, const char *part)
{
    const rbl_messages *messages = rbl_run_messages(g->run);
    for (size_t i = 0; i < rbl_messages_count(messages); i++)
        if (strstr(rbl_messages_get(messages, i)->text, part)) return true;
    for (size_t i = 0; i < rbl_messages_count(messages); i++)
        print_error("said: %s\n", rbl_messages_get(messages, i)->text);
    return false;
}
/// The JSON pointer of the first error.
static inline const char *error_pointer(const graph_run *g)
{
    const rbl_messages *messages = rbl_run_messages(g->run);
    for (size_t i = 0; i < rbl_messages_count(messages); i++)
        if (rbl_messages_get(messages, i)->severity == RBL_ERROR)
            return rbl_messages_get(messages, i)->pointer;
    return "";
}

#endif
