#include "tests/engine/test_nodes.h"

/// Graphs within graphs: they are flattened, so that everything else works as for other nodes.

static const char *const two_levels =
    "{\"rubble\": 1, \"vars\": {\"n\": {\"type\": \"int\", \"default\": 3}},\n"
    "\"graphs\": {\n"
    "\"scale\": {\"inputs\": {\"by\": {\"type\": \"float\", \"default\": 2, \"max\": 50}, \"a\": {\"type\": "
    "\"int\"}},\n"
    "  \"nodes\": {\n"
    "    \"one\": {\"type\": \"test.Number\", \"params\": {\"number\": 1}},\n"
    "    \"s\": {\"type\": \"test.Add\", \"in\": {\"a\": \"inputs.a\", \"b\": \"one\"}, \"params\": "
    "{\"factor\": {\"from\": "
    "\"inputs.by\"}}}},\n"
    "  \"outputs\": {\"value\": \"s\", \"one\": \"one.value\", \"same\": \"inputs.a\"}},\n"
    "\"twice\": {\"inputs\": {\"a\": {\"type\": \"int\"}},\n"
    "  \"nodes\": {\n"
    "    \"x\": {\"type\": \"graph:scale\", \"params\": {\"a\": {\"from\": \"inputs.a\"}}},\n"
    "    \"y\": {\"type\": \"graph:scale\", \"params\": {\"a\": {\"from\": \"x.same\"}, \"by\": 10}},\n"
    "    \"sum\": {\"type\": \"test.Sum\", \"in\": {\"values\": [\"x\", \"y.value\"]}}},\n"
    "  \"outputs\": {\"value\": \"sum\", \"x\": \"x\"}}},\n"
    "\"nodes\": {\n"
    "\"t\": {\"type\": \"graph:twice\", \"params\": {\"a\": {\"var\": \"n\"}}},\n"
    "\"u\": {\"type\": \"graph:twice\", \"params\": {\"a\": 3}},\n"
    "\"all\": {\"type\": \"test.Sum\", \"in\": {\"values\": [\"t\", \"t.x\", \"u\"]}}}}";

static void graphs_in_graphs_are_evaluated(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, two_levels);
    memset(&calls, 0, sizeof calls);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    /* x: 3 + 2·1 = 5, y: 3 + 10·1 = 13 */
    assert_close(rbl_value_number(rbl_run_value(run, "t")), 18, 0);
    assert_close(rbl_value_number(rbl_run_value(run, "t.x")), 5, 0);
    assert_close(rbl_value_number(rbl_run_value(run, "t/y.value")), 13, 0);
    assert_close(rbl_value_number(rbl_run_value(run, "t/y/s")), 13, 0);
    assert_close(rbl_value_number(rbl_run_value(run, "all")), 41, 0);
    assert_null(rbl_run_value(run, "t.y"));
    /* Equal nodes of the four uses are computed once: keys know nothing of ids. */
    assert_int_equal(calls.number, 1);
    assert_int_equal(calls.add, 2);
    assert_int_equal(report_of(run, "u/x/s")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_graph_destroy(graph); /* the run goes on */
    assert_string_equal(report_of(run, "t/inputs")->type, "graph:twice");
    assert_close(rbl_value_number(rbl_run_value(run, "u")), 18, 0);
    rbl_run_destroy(run);
    rbl_engine_destroy(engine);
}

static void changes_reach_into_graphs(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, two_levels);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    assert_int_equal(rbl_graph_set_variable_text(graph, "n", "4", NULL), RBL_OK);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "t")), 20, 0);
    assert_close(rbl_value_number(rbl_run_value(run, "u")), 18, 0);
    assert_string_equal(report_of(run, "t/x/s")->reason, "input a changed");
    assert_int_equal(report_of(run, "t/x/one")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    /* A parameter of a node that is a graph, and one of a node inside, by its id with "/" written "~1". */
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/u/params/a", "5", NULL), RBL_OK);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/u~1y/params/by", "51", NULL), RBL_ERR_GRAPH);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/u~1y/params/by", "20", NULL), RBL_OK);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/u~1x~1one/params/number", "2", NULL), RBL_OK);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/u~1z/params/a", "5", NULL), RBL_ERR_NOT_FOUND);
    run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "u")), 5 + 2 * 2 + 5 + 20, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void one_node_that_is_a_graph_can_be_asked_for(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, two_levels);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.only_node = "t/x";
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "t/x")), 5, 0);
    assert_int_equal(report_of(run, "t/y/s")->outcome, RBL_OUTCOME_SKIPPED);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void errors_inside_name_the_chain_and_the_place(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"graphs\": {\n"
        "\"in\": {\"nodes\": {\"bad\": {\"type\": \"test.Fail\"}}, \"outputs\": {\"value\": \"bad\"}},\n"
        "\"out\": {\"nodes\": {\"b\": {\"type\": \"graph:in\"}}, \"outputs\": {\"value\": \"b\"}}},\n"
        "\"nodes\": {\"a\": {\"type\": \"graph:out\"}}}");
    rbl_run *run = evaluate_graph(graph, RBL_ERR_OPEN_MESH);
    const rbl_messages *messages = rbl_run_messages(run);
    assert_int_equal(rbl_messages_count(messages), 1);
    const rbl_message *message = rbl_messages_get(messages, 0);
    assert_string_equal(message->node, "a/b/bad");
    assert_string_equal(message->pointer, "/graphs/in/nodes/bad");
    assert_int_equal(message->line, 2);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

typedef struct scarce {
    size_t left; /* allocations until one fails */
    size_t live;
    bool failed;
} scarce;

static const char *const vectors =
    "{\"rubble\": 1, \"vars\": {\"size\": {\"type\": \"vec3\", \"default\": [2, 2, 2], \"min\": 0},\n"
    "  \"cuts\": {\"type\": \"int3\", \"default\": [1, 0, 0]}},\n"
    "\"graphs\": {\"sliced\": {\"inputs\": {\n"
    "    \"size\": {\"type\": \"vec3\", \"default\": [1, 2, 3], \"min\": 0, \"max\": 10},\n"
    "    \"cuts\": {\"type\": \"int3\"}},\n"
    "  \"nodes\": {\n"
    "    \"box\": {\"type\": \"MakePrimitive\", \"params\": {\"size\": {\"from\": \"inputs.size\"}}},\n"
    "    \"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {\"slices\": "
    "{\"from\": \"inputs.cuts\"}}}},\n"
    "  \"outputs\": {\"collection\": \"cut\", \"pieces\": \"cut.new_pieces\", \"size\": \"inputs.size\"}}},\n"
    "\"nodes\": {\n"
    "  \"a\": {\"type\": \"graph:sliced\", \"params\": {\"cuts\": [1, 1, 1]}},\n"
    "  \"b\": {\"type\": \"graph:sliced\", \"params\": {\"size\": {\"var\": \"size\"}, \"cuts\": {\"var\": "
    "\"cuts\"}}},\n"
    "  \"c\": {\"type\": \"graph:sliced\", \"params\": {\"size\": [1, 2, 3], \"cuts\": {\"from\": "
    "\"a.size\"}}}}}";

static void vectors_go_into_graphs(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, vectors);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    double size[3] = {0};
    size_t count;
    assert_true(rbl_value_vec3(rbl_run_value(run, "a.size"), size));
    assert_true(size[0] == 1 && size[1] == 2 && size[2] == 3);
    assert_true(rbl_value_vec3(rbl_run_value(run, "b.size"), size));
    assert_true(size[0] == 2 && size[1] == 2 && size[2] == 2);
    rbl_value_selection(rbl_run_value(run, "a.pieces"), &count);
    assert_int_equal(count, 8);
    rbl_value_selection(rbl_run_value(run, "b.pieces"), &count);
    assert_int_equal(count, 2);
    rbl_value_selection(rbl_run_value(run, "c.pieces"), &count);
    assert_int_equal(count, 2 * 3 * 4);
    assert_int_equal(report_of(run, "c/box")->outcome, RBL_OUTCOME_MEMORY_HIT); /* as in a */
    rbl_run_destroy(run);
    /* What only bounds of the graph refuse, and what is no vector of integers. */
    assert_int_equal(rbl_graph_set_variable_text(graph, "size", "2,11,2", NULL), RBL_ERR_GRAPH);
    assert_int_equal(rbl_graph_set_variable_text(graph, "cuts", "1.5,0,0", NULL), RBL_ERR_GRAPH);
    assert_int_equal(rbl_graph_set_variable_text(graph, "cuts", "0,3,0", NULL), RBL_OK);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/a/params/size", "[1.5, 2, 3]", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_ERR_ARGUMENT);
    rbl_value_selection(rbl_run_value(run, "b.pieces"), &count);
    assert_int_equal(count, 4);
    assert_int_equal(report_of(run, "c/inputs")->outcome, RBL_OUTCOME_FAILED);
    assert_int_equal(report_of(run, "b/box")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void *scarce_reallocate(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    scarce *s = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        s->live -= pointer != NULL;
        free(pointer);
        return NULL;
    }
    if (s->left-- == 0) {
        s->failed = true;
        s->left = SIZE_MAX;
        return NULL;
    }
    void *moved = realloc(pointer, new_bytes);
    s->live += moved && !pointer;
    return moved;
}

/// Fails the n-th allocation of loading and running, for every n.
static void failed_allocations_are_survived(void **state)
{
    (void)state;
    const char *text =
        "{\"rubble\": 1, \"graphs\": {\"g\": {\"inputs\": {\"v\": {\"type\": \"int\", \"default\": 1}, "
        "\"index\": {\"type\": \"int\", \"default\": 0}},\n\"nodes\": {\"m\": {\"type\": \"test.Number\", "
        "\"params\": {\"number\": {\"from\": \"inputs.v\"}}}}, \"outputs\": {\"value\": \"m\", \"index\": "
        "\"inputs.index\"}}},\n\"nodes\": {\"sub\": {\"type\": \"graph:g\", \"params\": {\"v\": 3}},\n"
        "\"each\": {\"type\": \"ForEach\", \"params\": {\"graph\": \"g\", \"over\": \"count\", \"count\": "
        "2}}}}";
    rbl_status status = RBL_ERR_NO_MEMORY;
    for (size_t n = 0; status != RBL_OK; n++) {
        scarce s = {.left = SIZE_MAX};
        rbl_engine_options options;
        rbl_engine_options_init(&options);
        options.thread_count = 1;
        options.reallocate = scarce_reallocate;
        options.user = &s;
        rbl_engine *engine = NULL;
        rbl_graph *graph = NULL;
        rbl_run *run = NULL;
        assert_int_equal(rbl_engine_create(&options, &engine), RBL_OK);
        assert_int_equal(register_test_nodes(engine), RBL_OK);
        s.left = n;
        status = rbl_graph_load_text(engine, "x.json", text, strlen(text), NULL, &graph);
        if (status == RBL_OK) status = rbl_evaluate(graph, NULL, &run);
        if (s.failed && status == RBL_OK)
            status = RBL_ERR_NO_MEMORY; /* what was lost could be done without */
        rbl_run_destroy(run);
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
        assert_int_equal(s.live, 0);
        assert_true(n < 5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_in_graphs_are_evaluated),
        cmocka_unit_test(changes_reach_into_graphs),
        cmocka_unit_test(one_node_that_is_a_graph_can_be_asked_for),
        cmocka_unit_test(vectors_go_into_graphs),
        cmocka_unit_test(failed_allocations_are_survived),
        cmocka_unit_test(errors_inside_name_the_chain_and_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
