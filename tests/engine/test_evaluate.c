#include "tests/engine/test_nodes.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const small_graph =
    "{\"rubble\": 1, \"vars\": {\"n\": {\"type\": \"int\", \"default\": 2}}, \"nodes\": {\n"
    "\"one\": {\"type\": \"test.Number\", \"params\": {\"number\": {\"var\": \"n\"}}},\n"
    "\"two\": {\"type\": \"test.Number\", \"params\": {\"number\": 40}},\n"
    "\"sum\": {\"type\": \"test.Add\", \"in\": {\"a\": \"one\", \"b\": \"two.value\"}},\n"
    "\"twice\": {\"type\": \"test.Add\", \"in\": {\"a\": \"sum\", \"b\": \"sum\"}}}}";

static void values_flow_and_ints_become_floats(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, small_graph);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "twice")), 84, 0);
    assert_int_equal(rbl_value_get_kind(rbl_run_value(run, "sum.value")), RBL_VALUE_FLOAT);
    assert_int_equal(rbl_value_get_kind(rbl_run_value(run, "one")), RBL_VALUE_INT);
    assert_null(rbl_run_value(run, "nobody"));
    assert_null(rbl_run_value(run, "sum.nothing"));
    assert_int_equal(report_of(run, "sum")->outcome, RBL_OUTCOME_RAN);
    assert_string_equal(report_of(run, "sum")->reason, "first run");
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void a_changed_parameter_runs_only_what_it_reaches(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, small_graph);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        assert_int_equal(rbl_run_node(run, i)->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);

    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/two/params/number", "41", NULL), RBL_OK);
    memset(&calls, 0, sizeof calls);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(calls.number, 1);
    assert_int_equal(calls.add, 2);
    assert_string_equal(report_of(run, "two")->reason, "parameter number changed");
    assert_string_equal(report_of(run, "sum")->reason, "input b changed");
    assert_int_equal(report_of(run, "one")->outcome, RBL_OUTCOME_MEMORY_HIT);
    assert_close(rbl_value_number(rbl_run_value(run, "twice")), 86, 0);
    rbl_run_destroy(run);

    assert_int_equal(rbl_graph_set_variable_text(graph, "n", "3", NULL), RBL_OK);
    assert_string_equal(rbl_graph_variable_json(graph, 0), "3");
    run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "twice")), 88, 0);
    assert_string_equal(report_of(run, "one")->reason, "parameter number changed");
    rbl_run_destroy(run);

    /* Optional parameters inside an object that the file leaves out. */
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/twice/params/limits/clamp", "50", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "twice")), 50, 0);
    assert_string_equal(report_of(run, "twice")->reason, "parameter limits.clamp changed");
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void refused_changes_change_nothing(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, small_graph);
    rbl_messages *messages = NULL;
    assert_int_equal(rbl_graph_set_variable_text(graph, "n", "5000", &messages), RBL_ERR_GRAPH);
    assert_string_equal(rbl_messages_get(messages, 0)->text,
        "variable \"n\" for \"number\" is 5000; the largest allowed value is 1000");
    assert_string_equal(rbl_messages_get(messages, 0)->node, "one");
    assert_int_equal(rbl_messages_get(messages, 0)->line, 2);
    assert_int_equal(rbl_graph_set_variable_text(graph, "n", "1.5", &messages), RBL_ERR_GRAPH);
    assert_int_equal(rbl_graph_set_variable_text(graph, "n", "", &messages), RBL_ERR_GRAPH);
    assert_int_equal(rbl_graph_set_variable_text(graph, "m", "1", &messages), RBL_ERR_NOT_FOUND);
    assert_int_equal(
        rbl_graph_set_parameter(graph, "/nodes/two/params/numbr", "1", &messages), RBL_ERR_NOT_FOUND);
    assert_int_equal(
        rbl_graph_set_parameter(graph, "/nodes/tow/params/number", "1", &messages), RBL_ERR_NOT_FOUND);
    assert_int_equal(
        rbl_graph_set_parameter(graph, "/nodes/two/params/number", "\"x\"", &messages), RBL_ERR_GRAPH);
    assert_int_equal(
        rbl_graph_set_parameter(graph, "/nodes/two/params/number", "{", &messages), RBL_ERR_GRAPH);
    assert_int_equal(rbl_messages_count(messages), 8);
    rbl_messages_destroy(messages);
    assert_string_equal(rbl_graph_variable_json(graph, 0), "2");
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "twice")), 84, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void the_same_output_cuts_off_what_follows(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, small_graph);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    memset(&calls, 0, sizeof calls);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/sum/params/mode", "\"exact\"", NULL), RBL_OK);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(calls.add, 1);
    assert_int_equal(report_of(run, "sum")->outcome, RBL_OUTCOME_SAME_OUTPUT);
    assert_string_equal(report_of(run, "sum")->reason, "parameter mode changed");
    assert_int_equal(report_of(run, "twice")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void keys_do_not_depend_on_ids_order_or_spelling(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *first = load_graph(engine, small_graph);
    rbl_graph *second = load_graph(engine,
        "{\"nodes\": {\"z\": {\"in\": {\"b\": \"y\", \"a\": \"x\"}, \"type\": \"test.Add\", \"params\": "
        "{\"mode\": \"fast\", "
        "\"factor\": 1.0}}, \"y\": {\"type\": \"test.Number\", \"params\": {\"number\": 4e1}}, "
        "\"x\": {\"type\": \"test.Number\", \"params\": {\"number\": 2}}}, \"rubble\": 1}");
    rbl_run_destroy(evaluate_graph(first, RBL_OK));
    memset(&calls, 0, sizeof calls);
    rbl_run *run = evaluate_graph(second, RBL_OK);
    assert_int_equal(calls.number + calls.add, 0);
    assert_close(rbl_value_number(rbl_run_value(run, "z")), 42, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(first);
    rbl_graph_destroy(second);
    rbl_engine_destroy(engine);
}

static void failures_stay_in_their_branch(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"nodes\": {\n"
        "  \"bad\": {\"type\": \"test.Fail\", \"params\": {\"planes\": [{\"normal\": [0, 0, 1]},\n"
        "      {\"normal\": [0, 0, 0]}]}},\n"
        "  \"after\": {\"type\": \"test.Add\", \"in\": {\"a\": \"bad\"}},\n"
        "  \"later\": {\"type\": \"test.Add\", \"in\": {\"a\": \"after\"}},\n"
        "  \"good\": {\"type\": \"test.Number\"}}}");
    rbl_run *run = evaluate_graph(graph, RBL_ERR_ARGUMENT);
    assert_int_equal(report_of(run, "bad")->outcome, RBL_OUTCOME_FAILED);
    assert_int_equal(report_of(run, "later")->outcome, RBL_OUTCOME_SKIPPED);
    assert_string_equal(report_of(run, "later")->reason, "node \"bad\" failed");
    assert_int_equal(report_of(run, "good")->outcome, RBL_OUTCOME_RAN);
    const rbl_message *message = rbl_messages_get(rbl_run_messages(run), 0);
    assert_string_equal(message->text, "the normal of plane 1 is zero");
    assert_string_equal(message->pointer, "/nodes/bad/params/planes/1/normal");
    assert_string_equal(message->node, "bad");
    assert_int_equal(message->line, 3);
    assert_int_equal(message->column, 18);
    rbl_run_destroy(run);
    run = evaluate_graph(graph, RBL_ERR_ARGUMENT); /* failures are not remembered */
    assert_int_equal(calls.fail, 2);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void warnings_are_repeated_on_a_hit(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, "{\"rubble\": 1, \"nodes\": {\"w\": {\"type\": \"test.Warn\"}}}");
    for (int round = 0; round < 3; round++) {
        rbl_run *run = evaluate_graph(graph, RBL_OK);
        assert_int_equal(rbl_messages_count_of(rbl_run_messages(run), RBL_WARNING), 1);
        assert_int_equal(rbl_messages_count_of(rbl_run_messages(run), RBL_NOTE), 1);
        assert_string_equal(rbl_messages_get(rbl_run_messages(run), 0)->text, "merged 3 points");
        assert_string_equal(rbl_messages_get(rbl_run_messages(run), 0)->node, "w");
        rbl_run_destroy(run);
    }
    assert_int_equal(calls.warn, 1);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_flow_and_ints_become_floats),
        cmocka_unit_test(a_changed_parameter_runs_only_what_it_reaches),
        cmocka_unit_test(refused_changes_change_nothing),
        cmocka_unit_test(the_same_output_cuts_off_what_follows),
        cmocka_unit_test(keys_do_not_depend_on_ids_order_or_spelling),
        cmocka_unit_test(failures_stay_in_their_branch),
        cmocka_unit_test(warnings_are_repeated_on_a_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
