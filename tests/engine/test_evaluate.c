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
    assert_int_equal(rbl_messages_count_of(messages, RBL_ERROR), 8);
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

static const char *temporary_folder(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/rubble-test-%ld", (long)getpid());
    mkdir(path, 0777);
    return path;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool exists(const char *folder, const char *name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0;
}

static void remove_tree(const char *path)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static void files_count_by_their_content(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    char file[128], extra[128], text[512];
    snprintf(file, sizeof file, "%s/data.txt", folder);
    snprintf(extra, sizeof extra, "%s/data.txt.extra", folder);
    write_text(file, "+12");
    rbl_engine *engine = make_engine();
    snprintf(text, sizeof text,
        "{\"rubble\": 1, \"nodes\": {\"r\": {\"type\": \"test.Read\", \"params\": {\"file\": \"%s\"}},"
        "\"s\": {\"type\": \"test.Sum\", \"in\": {\"values\": \"r\"}}}}",
        file);
    rbl_graph *graph = load_graph(engine, text);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(report_of(run, "r")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    write_text(file, "+1");
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(report_of(run, "r")->reason, "file data.txt changed");
    assert_close(rbl_value_number(rbl_run_value(run, "s")), 2, 0);
    rbl_run_destroy(run);
    /* A further file that the node told of: its coming and its changes count. */
    write_text(extra, "a");
    run = evaluate_graph(graph, RBL_OK);
    assert_string_equal(report_of(run, "r")->reason, "file data.txt.extra changed");
    assert_int_equal(report_of(run, "r")->outcome, RBL_OUTCOME_SAME_OUTPUT);
    assert_int_equal(report_of(run, "s")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(report_of(run, "r")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    /* The same content under another folder is the same node. */
    unlink(file);
    run = evaluate_graph(graph, RBL_ERR_READ);
    const rbl_message *message = rbl_messages_get(rbl_run_messages(run), 0);
    assert_non_null(strstr(message->text, "data.txt"));
    assert_string_equal(message->pointer, "/nodes/r/params/file");
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    remove_tree(folder);
}

static rbl_status evaluate_into(rbl_graph *graph, const char *folder, rbl_run **run)
{
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.output_folder = folder;
    return rbl_evaluate(graph, &options, run);
}

static void files_are_published_only_when_all_is_well(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    char out[128];
    snprintf(out, sizeof out, "%s/out", folder);
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"vars\": {\"f\": {\"type\": \"string\", \"default\": \"two.txt\"}}, \"nodes\": {"
        "\"n\": {\"type\": \"test.Warn\"},"
        "\"w\": {\"type\": \"test.Write\", \"in\": {\"value\": \"n\"}, \"params\": {\"files\": [\"one.txt\", "
        "{\"var\": \"f\"}]}}}}");
    rbl_run *run = NULL;
    assert_int_equal(rbl_graph_set_variable_text(graph, "f", "bad.txt", NULL), RBL_OK);
    assert_int_equal(evaluate_into(graph, out, &run), RBL_ERR_WRITE);
    assert_int_equal(rbl_run_file_count(run), 0);
    assert_int_equal(report_of(run, "w")->outcome, RBL_OUTCOME_FAILED);
    rbl_run_destroy(run);
    assert_false(exists(folder, "out")); /* not even the folder */

    static const char *const refused[] = {
        "../x.txt", "/x.txt", "a/b.txt", "", "..", ".x", "a\\b", "C:x", "a\tb"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(rbl_graph_set_variable_text(graph, "f", refused[i], NULL), RBL_OK);
        assert_int_equal(evaluate_into(graph, out, &run), RBL_ERR_ARGUMENT);
        assert_string_equal(rbl_messages_get(rbl_run_messages(run), 2)->pointer, "/nodes/w/params/files/1");
        rbl_run_destroy(run);
        assert_false(exists(folder, "out"));
    }
    assert_int_equal(rbl_graph_set_variable_text(graph, "f", "one.txt", NULL), RBL_OK);
    assert_int_equal(evaluate_into(graph, out, &run), RBL_ERR_ARGUMENT); /* twice the same name */
    rbl_run_destroy(run);
    assert_false(exists(folder, "out"));

    assert_int_equal(rbl_graph_set_variable_text(graph, "f", "two.txt", NULL), RBL_OK);
    for (int round = 0; round < 2; round++) { /* also when `evaluate` is answered by the cache */
        assert_int_equal(evaluate_into(graph, out, &run), RBL_OK);
        assert_int_equal(rbl_run_file_count(run), 3);
        assert_string_equal(strrchr(rbl_run_file(run, 2)->path, '/'), "/w.manifest.json");
        assert_string_equal(rbl_run_file(run, 0)->node, "w");
        assert_int_equal(rbl_run_file(run, 0)->bytes, 2);
        assert_int_equal(strlen(rbl_run_file(run, 0)->hash), 32);
        rbl_run_destroy(run);
        assert_true(exists(out, "one.txt") && exists(out, "two.txt") && exists(out, "w.manifest.json"));
    }
    rbl_context *ctx = make_context(1);
    char path[200];
    snprintf(path, sizeof path, "%s/w.manifest.json", out);
    uint8_t *bytes = NULL;
    size_t count;
    assert_ok(ctx, rbli_file_read(ctx, path, 0, &bytes, &count));
    const char *const parts[] = {"\"graph\": \"test.json\"", "\"variables\": {\"f\": \"two.txt\"}",
        "\"name\": \"one.txt\"", "\"text\": \"merged 3 points\"", "\"type\": \"test.Write\", \"version\": 1"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr((char *)bytes, parts[i]));
    rbli_free(ctx, bytes);
    finish_context(ctx);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    remove_tree(folder);
}

static void a_failure_elsewhere_keeps_files_back(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, "{\"rubble\": 1, \"nodes\": {\"w\": {\"type\": \"test.Write\", "
                                          "\"params\": {\"files\": [\"one.txt\"]}},"
                                          "\"f\": {\"type\": \"test.Fail\"}}}");
    rbl_run *run = NULL;
    assert_int_equal(evaluate_into(graph, folder, &run), RBL_ERR_OPEN_MESH);
    assert_int_equal(calls.deliver, 0);
    assert_false(exists(folder, "one.txt"));
    rbl_run_destroy(run);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.output_folder = folder;
    options.only_node = "w";
    options.no_manifest = true;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    assert_string_equal(report_of(run, "f")->reason, "not asked for");
    assert_int_equal(rbl_run_file_count(run), 1);
    assert_true(exists(folder, "one.txt"));
    rbl_run_destroy(run);
    options.only_node = "x";
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_ERR_NOT_FOUND);
    assert_null(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    remove_tree(folder);
}

static void parameters_take_values_of_other_nodes(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"vars\": {\"x\": {\"type\": \"float\", \"default\": 2}}, \"nodes\": {"
        "\"p\": {\"type\": \"test.Points\", \"params\": {\"points\": [[1, 2, 3], [{\"var\": \"x\"}, 0, 0]]}},"
        "\"n\": {\"type\": \"test.Number\", \"params\": {\"number\": {\"from\": \"p.count\"}}},"
        "\"a\": {\"type\": \"test.Add\", \"in\": {\"a\": \"n\", \"b\": \"n\"}, \"params\": {\"factor\": "
        "{\"from\": \"p.count\"}, "
        "\"mode\": {\"from\": \"p.name\"}}}}}");
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "a")), 6, 0);
    size_t count;
    const double(*points)[3] = rbl_value_points(rbl_run_value(run, "p"), &count);
    assert_int_equal(count, 2);
    assert_close(points[1][0], 2, 0);
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_set_variable(graph, "x", "-0.0", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    points = rbl_value_points(rbl_run_value(run, "p"), &count);
    assert_close(points[1][0], 0, 0);
    assert_string_equal(report_of(run, "p")->reason, "parameter points changed");
    assert_int_equal(report_of(run, "n")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/p/params/points", "[[0, 0, 0]]", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "a")), 2, 0);
    assert_string_equal(report_of(run, "n")->reason, "parameter number changed");
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/p/params/points/0", "[7, 8, 9]", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    points = rbl_value_points(rbl_run_value(run, "p"), &count);
    assert_close(points[0][2], 9, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void a_variable_without_a_value_is_an_error(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"vars\": {\"n\": {\"type\": \"int\"}}, \"nodes\": {"
        "\"a\": {\"type\": \"test.Number\", \"params\": {\"number\": {\"var\": \"n\"}}}}}");
    rbl_run *run = evaluate_graph(graph, RBL_ERR_GRAPH);
    assert_string_equal(rbl_messages_get(rbl_run_messages(run), 0)->text, "variable \"n\" has no value");
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_set_variable(graph, "n", "4", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "a")), 4, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void paths_are_relative_to_the_graph(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    char file[128], name[128];
    snprintf(file, sizeof file, "%s/data.txt", folder);
    snprintf(name, sizeof name, "%s/graph.json", folder);
    write_text(file, "1234");
    const char *text =
        "{\"rubble\": 1, \"vars\": {\"f\": {\"type\": \"path\", \"default\": \"data.txt\"}}, \"nodes\": {"
        "\"a\": {\"type\": \"test.Read\", \"params\": {\"file\": {\"var\": \"f\"}}},"
        "\"b\": {\"type\": \"test.Read\", \"params\": {\"file\": \"data.txt\"}}}}";
    write_text(name, text);
    rbl_engine *engine = make_engine();
    rbl_graph *graph = NULL;
    assert_int_equal(rbl_graph_load_file(engine, name, NULL, &graph), RBL_OK);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "b")), 4, 0);
    assert_int_equal(calls.read, 1); /* the same file twice is one node's work */
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_set_variable_text(graph, "f", "data.txt", NULL), RBL_OK);
    rbl_run_destroy(evaluate_graph(graph, RBL_ERR_READ)); /* relative to the working folder now */
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    remove_tree(folder);
}

static void a_chain_of_10000_nodes_needs_no_stack(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    char *text = malloc(2 << 20);
    size_t length = (size_t)sprintf(text, "{\"rubble\": 1, \"nodes\": {");
    for (int i = 9999; i > 0; i--)
        length += (size_t)sprintf(text + length,
            "\"n%d\": {\"type\": \"test.Add\", \"in\": {\"a\": \"n%d\", \"b\": \"n0\"}},\n", i, i - 1);
    sprintf(text + length, "\"n0\": {\"type\": \"test.Number\"}}}");
    rbl_graph *graph = load_graph(engine, text);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "n9999")), 10000, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    /* And a cycle of that length is told. */
    char *begin = strstr(text, "\"n0\": {\"type\"");
    strcpy(begin, "\"n0\": {\"type\": \"test.Add\", \"in\": {\"a\": \"n9999\"}}}}");
    rbl_messages *messages = NULL;
    assert_int_equal(
        rbl_graph_load_text(engine, "x.json", text, strlen(text), &messages, &graph), RBL_ERR_GRAPH);
    assert_int_equal(rbl_messages_count(messages), 1);
    rbl_messages_destroy(messages);
    free(text);
    rbl_engine_destroy(engine);
}

static void cancel_when_slow_begins(void *user, const rbl_event *event)
{
    if (event->kind == RBL_EVENT_NODE_BEGINS && strcmp(event->node, "slow") == 0) rbl_control_cancel(user);
}

static void cancelled_runs_say_so_and_are_not_remembered(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, "{\"rubble\": 1, \"nodes\": {\"n\": {\"type\": \"test.Warn\"}, "
                                          "\"slow\": {\"type\": \"test.Slow\", \"in\": {\"value\": \"n\"}},"
                                          "\"after\": {\"type\": \"test.Add\", \"in\": {\"a\": \"slow\"}}}}");
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    assert_int_equal(rbl_control_create(engine, &options.control), RBL_OK);
    options.event = cancel_when_slow_begins;
    options.user = options.control;
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_ERR_CANCELLED);
    assert_int_equal(rbl_run_status(run), RBL_ERR_CANCELLED);
    assert_int_equal(report_of(run, "n")->outcome, RBL_OUTCOME_RAN);
    assert_int_equal(report_of(run, "after")->outcome, RBL_OUTCOME_SKIPPED);
    assert_string_equal(report_of(run, "after")->reason, "cancelled");
    rbl_run_destroy(run);
    assert_int_equal(rbl_engine_cache_entries(engine), 1);
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_ERR_CANCELLED); /* until it is reset */
    rbl_run_destroy(run);
    rbl_control_reset(options.control);
    options.only_node = "n";
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    assert_close(rbl_control_progress(options.control), 1, 0);
    rbl_run_destroy(run);
    rbl_control_destroy(options.control);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void change_while_running(void *user, const rbl_event *event)
{
    if (event->kind != RBL_EVENT_NODE_BEGINS || strcmp(event->node, "one") != 0) return;
    assert_int_equal(rbl_graph_set_parameter(user, "/nodes/two/params/number", "1", NULL), RBL_OK);
    assert_int_equal(rbl_graph_set_variable(user, "n", "100", NULL), RBL_OK);
}

static void a_run_goes_on_with_what_it_began_with(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, small_graph);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.event = change_while_running;
    options.user = graph;
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "twice")), 84, 0);
    rbl_run_destroy(run);
    run = evaluate_graph(graph, RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "twice")), 202, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static int wobble;
static rbl_status wobbling_evaluate(rbl_context *ctx, rbl_call *call)
{
    return set_number(ctx, call, RBL_VALUE_FLOAT, wobble++);
}

static void checked_runs_find_what_is_not_deterministic(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_node_desc wobbling = warn_node;
    wobbling.type = "test.Wobble";
    wobbling.evaluate = wobbling_evaluate;
    assert_int_equal(rbl_engine_register_node(engine, &wobbling, NULL), RBL_OK);
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"nodes\": {\"a\": {\"type\": \"test.Wobble\"}, \"b\": {\"type\": \"test.Warn\"}}}");
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.checked = true;
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_ERR_INTERNAL);
    assert_int_equal(report_of(run, "a")->outcome, RBL_OUTCOME_FAILED);
    assert_int_equal(report_of(run, "b")->outcome, RBL_OUTCOME_MEMORY_HIT);
    assert_int_equal(rbl_messages_count_of(rbl_run_messages(run), RBL_WARNING), 1);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static rbl_status forgetful_evaluate(rbl_context *ctx, rbl_call *call)
{
    (void)ctx;
    (void)call;
    return RBL_OK;
}

static rbl_status mistaken_evaluate(rbl_context *ctx, rbl_call *call)
{
    return set_number(ctx, call, RBL_VALUE_INT, 1);
}

static rbl_status silent_evaluate(rbl_context *ctx, rbl_call *call)
{
    (void)ctx;
    (void)call;
    return RBL_ERR_LIMIT;
}

static void faulty_nodes_are_told_about(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_node_desc descs[3] = {warn_node, warn_node, warn_node};
    rbl_status (*functions[3])(rbl_context *, rbl_call *) = {
        forgetful_evaluate, mistaken_evaluate, silent_evaluate};
    static const char *const types[3] = {"test.Forgetful", "test.Mistaken", "test.Silent"};
    static const char *const texts[3] = {
        "did not set its output \"value\"", "to a value of kind int", "a limit is exceeded"};
    for (size_t i = 0; i < 3; i++) {
        descs[i].type = types[i];
        descs[i].evaluate = functions[i];
        assert_int_equal(rbl_engine_register_node(engine, &descs[i], NULL), RBL_OK);
        char text[200];
        snprintf(text, sizeof text, "{\"rubble\": 1, \"nodes\": {\"a\": {\"type\": \"%s\"}}}", types[i]);
        rbl_graph *graph = load_graph(engine, text);
        rbl_run *run = evaluate_graph(graph, i == 2 ? RBL_ERR_LIMIT : RBL_ERR_INTERNAL);
        assert_non_null(strstr(rbl_messages_get(rbl_run_messages(run), 0)->text, texts[i]));
        rbl_run_destroy(run);
        rbl_graph_destroy(graph);
    }
    rbl_engine_destroy(engine);
}

/// What only the run keeps goes as soon as the last node that needs it has run; its hash stays.
static void a_run_for_its_files_lets_go_of_what_is_used_up(void **state)
{
    (void)state;
    const char *text =
        "{\"rubble\": 1, \"nodes\": {\"a\": {\"type\": \"test.Collection\"},"
        "\"b\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"a\"}, \"params\": {\"name\": "
        "\"x\"}},"
        "\"c\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"a\"}, \"params\": {\"name\": "
        "\"y\"}},"
        "\"d\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"b\"}, \"params\": {\"name\": "
        "\"z\"}}}}";
    static const char *const names[] = {"a", "b", "c", "d"};
    for (int threads = 1; threads <= 2; threads++) {
        rbl_engine_options engine_options;
        rbl_engine *engine = NULL;
        rbl_engine_options_init(&engine_options);
        engine_options.thread_count = threads;
        assert_int_equal(rbl_engine_create(&engine_options, &engine), RBL_OK);
        assert_int_equal(register_test_nodes(engine), RBL_OK);
        rbl_graph *graph = load_graph(engine, text);
        rbl_evaluate_options options;
        rbl_evaluate_options_init(&options);
        rbl_run *runs[3] = {NULL};
        for (int way = 0; way < 3; way++) {
            options.files_only = way > 0;
            options.no_cache = way < 2;
            assert_int_equal(rbl_evaluate(graph, &options, &runs[way]), RBL_OK);
            assert_int_equal(rbl_messages_count(rbl_run_messages(runs[way])), 0);
            for (size_t i = 0; i < 4; i++) {
                const rbl_value *value = rbl_run_value(runs[way], names[i]);
                bool used_up = way == 1 && i < 2;
                assert_true(rbli_hash_equal(
                    rbli_value_hash(value), rbli_value_hash(rbl_run_value(runs[0], names[i]))));
                assert_true((rbl_value_collection(value) == NULL) == used_up);
            }
        }
        for (int way = 0; way < 3; way++)
            rbl_run_destroy(runs[way]);
        options.only_node = "b";
        options.no_cache = options.files_only = true;
        assert_int_equal(rbl_evaluate(graph, &options, &runs[0]), RBL_OK);
        assert_non_null(rbl_value_collection(rbl_run_value(runs[0], "b")));
        rbl_run_destroy(runs[0]);
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
    }
}

static void shared_arrays_count_once_and_the_budget_holds(void **state)
{
    (void)state;
    const char *text =
        "{\"rubble\": 1, \"nodes\": {\"a\": {\"type\": \"test.Collection\", \"params\": {\"count\": 100000}},"
        "\"b\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"a\"}, \"params\": {\"count\": "
        "100000, \"name\": \"x\"}},"
        "\"c\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"b\"}, \"params\": {\"count\": "
        "100000, \"name\": \"y\"}}}}";
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, text);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(rbl_engine_cache_entries(engine), 3);
    assert_true(rbl_engine_cache_bytes(engine) > 1200000 && rbl_engine_cache_bytes(engine) < 1300000);
    rbl_attribute_view view;
    const rbl_collection *last = rbl_value_collection(rbl_run_value(run, "c"));
    const rbl_collection *first = rbl_value_collection(rbl_run_value(run, "a"));
    assert_int_equal(rbl_collection_attribute(last, "thing", "number", &view), RBL_OK);
    assert_int_equal(view.count, 100000);
    assert_int_equal(view.type, RBL_INT32);
    assert_int_equal(((const int32_t *)view.data)[99999], 99999);
    rbl_attribute_view other;
    assert_int_equal(rbl_collection_attribute(first, "thing", "number", &other), RBL_OK);
    assert_ptr_equal(view.data, other.data); /* shared, not copied */
    assert_int_equal(rbl_collection_attribute(first, "thing", "x", &other), RBL_ERR_NOT_FOUND);
    assert_int_equal(rbl_collection_attribute_count(last, "thing"), 3);
    assert_string_equal(rbl_collection_attribute_name(last, "thing", 1), "x");
    assert_null(rbl_collection_attribute_name(last, "nothing", 0));
    assert_int_equal(rbl_collection_group_size(last, "thing"), 100000);
    rbl_run_destroy(run);
    rbl_engine_clear_cache(engine);
    assert_int_equal(rbl_engine_cache_bytes(engine), 0);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);

    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    options.memory_bytes = 1000000;
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_OK);
    assert_int_equal(register_test_nodes(engine), RBL_OK);
    graph = load_graph(engine, text);
    for (int i = 0; i < 20; i++) {
        char count[16];
        snprintf(count, sizeof count, "%d", 1000 * (i + 1));
        assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/a/params/count", count, NULL), RBL_OK);
        rbl_run_destroy(evaluate_graph(graph, RBL_OK));
        assert_true(rbl_engine_cache_bytes(engine) <= 1000000);
    }
    run = evaluate_graph(graph, RBL_OK);
    bool gone = false;
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        gone |= strcmp(rbl_run_node(run, i)->reason, "no longer in the cache") == 0;
    assert_true(gone);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void a_run_without_cache_neither_asks_nor_fills_it(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, small_graph);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.no_cache = true;
    for (int round = 0; round < 2; round++) {
        rbl_run *run = NULL;
        assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
        assert_string_equal(report_of(run, "sum")->reason, round ? "the cache was not used" : "first run");
        rbl_run_destroy(run);
    }
    assert_int_equal(calls.add, 4);
    assert_int_equal(rbl_engine_cache_entries(engine), 0);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void runs_outlive_their_graph_and_report_as_json(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    rbl_graph *graph = load_graph(engine, small_graph);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    rbl_graph_destroy(graph);
    char *text = NULL;
    assert_int_equal(rbl_run_json(run, &text), RBL_OK);
    assert_non_null(strstr(text, "\"variables\": {\"n\": 2}"));
    assert_non_null(strstr(text, "\"reason\": \"first run\""));
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    rbl_messages *messages = NULL;
    assert_int_equal(rbli_messages_open(engine->allocator, &messages), RBL_OK);
    assert_int_equal(rbli_source_create(engine->allocator, "run", text, strlen(text), &source), RBL_OK);
    assert_int_equal(rbli_json_parse(engine->allocator, source, 0, messages, &json), RBL_OK);
    assert_int_equal(rbl_messages_count(messages), 0);
    rbli_json_destroy(json);
    rbli_source_release(source);
    rbl_messages_destroy(messages);
    rbl_run_destroy(run);
    rbl_engine_destroy(engine);
}

/* ---- Every allocation failed in turn ---- */

typedef struct scarce {
    size_t left; /* allocations until one fails */
    size_t live;
    bool failed;
} scarce;

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
        s->left = SIZE_MAX; /* one failure, and it goes on */
        return NULL;
    }
    void *moved = realloc(pointer, new_bytes);
    s->live += moved && !pointer;
    return moved;
}

static void work_with_little_memory(
    const rbl_engine_options *options, const char *text, const char *out, bool *done)
{
    rbl_engine *engine = NULL;
    rbl_graph *graph = NULL;
    rbl_messages *messages = NULL;
    rbl_status status = rbl_engine_create(options, &engine);
    if (status == RBL_OK) status = register_test_nodes(engine);
    if (status == RBL_OK)
        status = rbl_graph_load_text(engine, "x.json", text, strlen(text), &messages, &graph);
    if (status == RBL_OK) status = rbl_graph_set_variable_text(graph, "n", "3", &messages);
    if (status == RBL_OK) status = rbl_graph_set_parameter(graph, "/nodes/two/params/number", "7", &messages);
    for (int round = 0; round < 2 && status == RBL_OK; round++) {
        rbl_run *run = NULL;
        status = evaluate_into(graph, out, &run);
        char *json = NULL;
        if (status == RBL_OK) {
            status = rbl_run_json(run, &json);
            rbl_run_free_text(run, json);
        }
        rbl_run_destroy(run);
    }
    *done = status == RBL_OK;
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    const char *folder = temporary_folder();
    const char *text =
        "{\"rubble\": 1, \"vars\": {\"n\": {\"type\": \"int\", \"default\": 2}}, \"nodes\": {\n"
        "\"one\": {\"type\": \"test.Number\", \"params\": {\"number\": {\"var\": \"n\"}}},\n"
        "\"two\": {\"type\": \"test.Number\", \"params\": {\"number\": 40}},\n"
        "\"points\": {\"type\": \"test.Points\", \"params\": {\"points\": [[1, 2, 3]]}},\n"
        "\"thing\": {\"type\": \"test.Collection\"},\n"
        "\"warn\": {\"type\": \"test.Warn\"},\n"
        "\"sum\": {\"type\": \"test.Add\", \"in\": {\"a\": \"one\", \"b\": \"warn\"}, \"params\": "
        "{\"factor\": {\"from\": \"two\"}}},\n"
        "\"end\": {\"type\": \"test.Write\", \"in\": {\"value\": \"sum\"}, \"params\": {\"files\": "
        "[\"a.txt\"]}}}}";
    bool done = false;
    size_t survived = 0;
    for (size_t n = 0;; n++) {
        scarce s = {.left = n};
        rbl_engine_options options;
        rbl_engine_options_init(&options);
        options.thread_count = 1;
        options.reallocate = scarce_reallocate;
        options.user = &s;
        work_with_little_memory(&options, text, folder, &done);
        assert_int_equal(s.live, 0);
        if (!s.failed) break; /* there are no more allocations */
        survived = n + 1;
        assert_true(n < 100000);
    }
    assert_true(done && survived > 300);
    remove_tree(folder);
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
        cmocka_unit_test(files_count_by_their_content),
        cmocka_unit_test(files_are_published_only_when_all_is_well),
        cmocka_unit_test(a_failure_elsewhere_keeps_files_back),
        cmocka_unit_test(parameters_take_values_of_other_nodes),
        cmocka_unit_test(a_variable_without_a_value_is_an_error),
        cmocka_unit_test(paths_are_relative_to_the_graph),
        cmocka_unit_test(a_chain_of_10000_nodes_needs_no_stack),
        cmocka_unit_test(cancelled_runs_say_so_and_are_not_remembered),
        cmocka_unit_test(a_run_goes_on_with_what_it_began_with),
        cmocka_unit_test(checked_runs_find_what_is_not_deterministic),
        cmocka_unit_test(faulty_nodes_are_told_about),
        cmocka_unit_test(a_run_for_its_files_lets_go_of_what_is_used_up),
        cmocka_unit_test(shared_arrays_count_once_and_the_budget_holds),
        cmocka_unit_test(a_run_without_cache_neither_asks_nor_fills_it),
        cmocka_unit_test(runs_outlive_their_graph_and_report_as_json),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
