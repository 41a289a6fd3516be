#include "tests/engine/test_nodes.h"

/// ForEach on several threads: the same outputs and messages for any number of them.

#define BODY                                                                                                 \
    "\"graphs\": {\"break\": {\"inputs\": {\"collection\": {\"type\": \"collection\"}, \"index\": "          \
    "{\"type\": "                                                                                            \
    "\"int\"},\n"                                                                                            \
    "    \"name\": {\"type\": \"string\"}, \"shift\": {\"type\": \"vec3\", \"default\": [0, 0, 0]}},\n"      \
    "  \"nodes\": {\n"                                                                                       \
    "    \"sites\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"inputs.collection\"}, "         \
    "\"params\": "                                                                                           \
    "{\"count\": 6, \"seed\": {\"from\": \"inputs.index\"}}},\n"                                             \
    "    \"crack\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"inputs.collection\", "        \
    "\"points\": "                                                                                           \
    "\"sites\"}}},\n"                                                                                        \
    "  \"outputs\": {\"collection\": \"crack\", \"points\": \"sites\", \"i\": \"inputs.index\", \"title\": " \
    "\"inputs.name\", \"shift\": \"inputs.shift\"}}}"

static const char *const bones_text =
    "{\"rubble\": 1, " BODY ",\n"
    "\"nodes\": {\"box\": {\"type\": \"MakePrimitive\"},\n"
    "\"few\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"box\"}, \"params\": {\"min_sites\": "
    "24, "
    "\"max_sites\": 24}},\n"
    "\"each\": {\"type\": \"ForEach\", \"in\": {\"collection\": \"few\"}, \"params\": {\"graph\": \"break\", "
    "\"set\": "
    "[{\"name\": \"shift\", \"vector\": [1, 2, 3]}]}},\n"
    "\"near\": {\"type\": \"Proximity\", \"in\": {\"collection\": \"each\"}}}}";

static rbl_engine *engine_of(int threads, size_t limit)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = threads;
    options.limit_bytes = limit;
    rbl_engine *engine = NULL;
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_OK);
    return engine;
}

static void the_same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 8};
    static const char *const outputs[] = {"each", "each.points", "each.table", "each.count", "near"};
    rbli_hash first[5] = {{0, 0}};
    for (int t = 0; t < 3; t++) {
        rbl_engine *engine = engine_of(threads[t], 0);
        rbl_graph *graph = load_graph(engine, bones_text);
        rbl_run *run = evaluate_graph(graph, RBL_OK);
        assert_string_equal(report_of(run, "each")->reason, "24 of 24 elements ran");
        for (int i = 0; i < 5; i++) {
            rbli_hash hash = rbli_value_hash(rbl_run_value(run, outputs[i]));
            if (t == 0) first[i] = hash;
            assert_true(rbli_hash_equal(hash, first[i]));
        }
        rbl_run_destroy(run);
        run = evaluate_graph(graph, RBL_OK);
        assert_int_equal(report_of(run, "each")->outcome, RBL_OUTCOME_MEMORY_HIT);
        assert_string_equal(report_of(run, "each")->reason, "0 of 24 elements ran");
        rbl_run_destroy(run);
        /* What is remembered is foreseen, also below. */
        assert_int_equal(rbl_graph_explain(graph, NULL, &run), RBL_OK);
        assert_int_equal(report_of(run, "each")->outcome, RBL_OUTCOME_MEMORY_HIT);
        assert_int_equal(report_of(run, "near")->outcome, RBL_OUTCOME_MEMORY_HIT);
        rbl_run_destroy(run);
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
    }
}

/// What a run says, in one text; freed by the caller.
static char *all_messages(const rbl_run *run)
{
    const rbl_messages *messages = rbl_run_messages(run);
    size_t used = 0, capacity = 1 << 20;
    char *text = calloc(capacity, 1);
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        const rbl_message *m = rbl_messages_get(messages, i);
        used += (size_t)snprintf(text + used, capacity - used, "%s: %s\n", m->node, m->text);
    }
    return text;
}

static void the_first_failing_element_is_told(void **state)
{
    (void)state;
    char *first = NULL;
    for (int threads = 1; threads <= 8; threads *= 2) {
        rbl_engine *engine = engine_of(threads, 0);
        /* Scattering says how many points found no place; from element 5 on there are no numbers. */
        rbl_graph *graph =
            load_graph(engine, "{\"rubble\": 1, \"graphs\": {\"g\": {\"inputs\": {\"index\": {\"type\": "
                               "\"int\"}}, \"nodes\": {\n"
                               "\"box\": {\"type\": \"MakePrimitive\"},\n"
                               "\"s\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"box\"}, "
                               "\"params\": {\"count\": 200, "
                               "\"min_distance\": 0.4, \"seed\": {\"from\": \"inputs.index\"}}},\n"
                               "\"n\": {\"type\": \"SelectValue\", \"params\": {\"index\": {\"from\": "
                               "\"inputs.index\"}, \"numbers\": [0, "
                               "1, 2, 3, 4]}}},\n"
                               "\"outputs\": {\"points\": \"s\", \"n\": \"n\"}}},\n"
                               "\"nodes\": {\"each\": {\"type\": \"ForEach\", \"params\": {\"graph\": \"g\", "
                               "\"over\": \"count\", "
                               "\"count\": 40}}}}");
        rbl_run *run = evaluate_graph(graph, RBL_ERR_ARGUMENT);
        char *text = all_messages(run);
        assert_non_null(strstr(text, "each[5]/n: index 5"));
        assert_non_null(strstr(text, "each[0]/s: "));
        assert_null(strstr(text, "each[6]"));
        if (first) assert_string_equal(text, first);
        if (first) free(text);
        if (!first) first = text;
        rbl_run_destroy(run);
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
    }
    free(first);
}

static rbl_status spin_evaluate(rbl_context *ctx, rbl_call *call)
{
    (void)call;
    while (!rbli_cancelled(ctx)) {
    }
    return RBL_ERR_CANCELLED;
}
static const rbl_node_desc spin_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Spin",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "runs until it is cancelled",
    .outputs = float_out,
    .evaluate = spin_evaluate};

static void cancel_when_it_begins(void *user, const rbl_event *event)
{
    if (event->kind == RBL_EVENT_NODE_BEGINS) rbl_control_cancel(user);
}

static void elements_are_cancelled(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        rbl_engine *engine = engine_of(threads, 0);
        assert_int_equal(rbl_engine_register_node(engine, &spin_node, NULL), RBL_OK);
        rbl_graph *graph = load_graph(engine, "{\"rubble\": 1, \"graphs\": {\"g\": {\"nodes\": {\"spin\": "
                                              "{\"type\": \"test.Spin\"}}, \"outputs\": "
                                              "{\"n\": \"spin\"}}},\n"
                                              "\"nodes\": {\"each\": {\"type\": \"ForEach\", \"params\": "
                                              "{\"graph\": \"g\", \"over\": \"count\", "
                                              "\"count\": 20}}}}");
        rbl_control *control = NULL;
        assert_int_equal(rbl_control_create(engine, &control), RBL_OK);
        rbl_evaluate_options options;
        rbl_evaluate_options_init(&options);
        options.control = control;
        options.event = cancel_when_it_begins;
        options.user = control;
        rbl_run *run = NULL;
        assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_ERR_CANCELLED);
        rbl_run_destroy(run);
        rbl_control_destroy(control);
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
    }
}

static rbl_status evaluate_within(int threads, size_t limit, rbli_hash *hash)
{
    rbl_engine *engine = engine_of(threads, limit);
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_run *run = NULL;
    rbl_status status =
        rbl_graph_load_text(engine, "test.json", bones_text, strlen(bones_text), &messages, &graph);
    if (status == RBL_OK) status = rbl_evaluate(graph, NULL, &run);
    if (status == RBL_OK) *hash = rbli_value_hash(rbl_run_value(run, "each"));
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
    return status;
}

/// What one thread can do within a limit, eight can: who finds no memory beside others goes on alone.
static void elements_side_by_side_need_no_more_memory(void **state)
{
    (void)state;
    rbli_hash alone, together;
    size_t limit = (size_t)1 << 18;
    while (evaluate_within(1, limit, &alone) != RBL_OK) {
        limit += limit / 4;
        assert_true(limit < (size_t)1 << 30);
    }
    limit += limit / 4; /* threads have some memory of their own */
    assert_int_equal(evaluate_within(8, limit, &together), RBL_OK);
    assert_true(rbli_hash_equal(alone, together));
}

static void meshes_are_bound_inside(void **state)
{
    (void)state;
    static const double positions[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const uint32_t indices[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    rbl_engine *engine = engine_of(2, 0);
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"graphs\": {\"g\": {\"inputs\": {\"index\": {\"type\": \"int\"}}, \"nodes\": {\n"
        "\"mesh\": {\"type\": \"MeshToCollection\", \"params\": {\"file\": \"\"}}}, \"outputs\": "
        "{\"collection\": "
        "\"mesh\", \"index\": \"inputs.index\"}}},\n"
        "\"nodes\": {\"each\": {\"type\": \"ForEach\", \"params\": {\"graph\": \"g\", \"over\": \"count\", "
        "\"count\": "
        "3}}}}");
    rbl_mesh_desc mesh;
    rbl_mesh_desc_init(&mesh);
    mesh.name = "tetrahedron";
    mesh.vertex_count = 4;
    mesh.positions = (rbl_mesh_array){positions, RBL_VEC3, 0};
    mesh.triangle_count = 4;
    mesh.indices = indices;
    mesh.index_bits = 32;
    assert_int_equal(rbl_graph_bind_mesh(graph, "each/nothing", &mesh, NULL), RBL_ERR_NOT_FOUND);
    assert_int_equal(rbl_graph_bind_mesh(graph, "other/mesh", &mesh, NULL), RBL_ERR_NOT_FOUND);
    assert_int_equal(rbl_graph_bind_mesh(graph, "each/inputs", &mesh, NULL), RBL_ERR_ARGUMENT);
    assert_int_equal(rbl_graph_bind_mesh(graph, "each/mesh", &mesh, NULL), RBL_OK);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(
        rbl_collection_group_size(rbl_value_collection(rbl_run_value(run, "each")), "geometry"), 3);
    rbl_run_destroy(run);
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(report_of(run, "each")->reason, "0 of 3 elements ran");
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_bind_mesh(graph, "each/mesh", NULL, NULL), RBL_OK);
    run = NULL;
    assert_true(rbl_evaluate(graph, NULL, &run) != RBL_OK);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(the_first_failing_element_is_told),
        cmocka_unit_test(elements_are_cancelled),
        cmocka_unit_test(elements_side_by_side_need_no_more_memory),
        cmocka_unit_test(meshes_are_bound_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
