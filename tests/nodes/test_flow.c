#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/nodes/node_help.h"

/// ForEach, MergeCollections, Branch and SelectValue, through graphs.

#define ROW                                                                                                  \
    "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 4, \"growth\": 2}},\n"                      \
    "\"two\": {\"type\": \"SelectCustom\", \"in\": {\"collection\": \"row\"}, \"params\": {\"bones\": \"2, " \
    "4\"}},\n"
/* A graph that slices what comes in `index` + `more` times. */
#define SLICE                                                                                                \
    "}, \"graphs\": {\"slice\": {\"inputs\": {\"collection\": {\"type\": \"collection\"},\n"                 \
    "\"index\": {\"type\": \"int\"}, \"name\": {\"type\": \"string\"}, \"bone\": {\"type\": \"int\"},\n"     \
    "\"more\": {\"type\": \"int\", \"default\": 1, \"max\": 5}},\n\"nodes\": {\n"                            \
    "\"n\": {\"type\": \"SelectValue\", \"params\": {\"index\": {\"from\": \"inputs.index\"}, \"numbers\": " \
    "[0, 1, 2, 3]}},\n"                                                                                      \
    "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"inputs.collection\"},\n"                \
    "  \"params\": {\"slices\": [{\"from\": \"inputs.more\"}, 0, {\"from\": \"n.integer\"}]}},\n"            \
    "\"p\": {\"type\": \"MakePoints\", \"params\": {\"points\": [[1, 2, 3]]}}},\n"                           \
    "\"outputs\": {\"collection\": \"cut\", \"points\": \"p\", \"n\": \"n.integer\", \"bone\": "             \
    "\"inputs.bone\", "                                                                                      \
    "\"title\": \"inputs.name\"}}"

static size_t count_leaves(const graph_run *g, const char *port)
{
    const rbl_collection *c = collection_of(g, port);
    return rbli_collection_size(c, "geometry");
}

static void for_each_goes_through_bones(void **state)
{
    (void)state;
    graph_run g = run_nodes(ROW
        "\"e\": {\"type\": \"ForEach\", \"in\": {\"collection\": \"row\", \"selection\": \"two\"},\n"
        "\"params\": {\"graph\": \"slice\"}},\n"
        "\"all\": {\"type\": \"ForEach\", \"in\": {\"collection\": \"row\"}, \"params\": {\"graph\": "
        "\"slice\",\n"
        "\"set\": [{\"name\": \"more\", \"number\": 2}], \"root\": \"\"}}" SLICE,
        RBL_OK);
    /* Bones 2 and 4: (1 + 1)·(0 + 1) and (1 + 1)·(1 + 1) pieces. */
    assert_int_equal(count_leaves(&g, "e"), 2 + 4);
    rbl_context *ctx = make_context(1);
    assert_ok(ctx, rbli_collection_validate(ctx, collection_of(&g, "e"), RBLI_VALIDATE_CLOSED));
    finish_context(ctx);
    assert_string_equal(rbl_collection_string(collection_of(&g, "e"), "bone", "name", 0), "each");
    size_t count;
    points_of(&g, "e.points", &count);
    assert_int_equal(count, 2);
    assert_close(rbl_value_number(rbl_run_value(g.run, "e.count")), 2, 0);
    const rbl_collection *table = collection_of(&g, "e.table");
    assert_int_equal(rbl_collection_group_size(table, "element"), 2);
    const int64_t *bone = rbli_collection_read(table, "element", "bone", RBL_INT64);
    assert_int_equal(bone[0], 2);
    assert_int_equal(bone[1], 4);
    assert_string_equal(rbl_collection_string(table, "element", "title", 1),
        rbl_collection_string(collection_of(&g, "row"), "bone", "name", 4));
    /* All four pieces, sliced 3·1, 3·2, 3·3, 3·4 times. */
    assert_int_equal(count_leaves(&g, "all"), 3 * (1 + 2 + 3 + 4));
    end_run(&g);
}

static void elements_are_remembered(void **state)
{
    (void)state;
    graph_run g = run_nodes(ROW "\"e\": {\"type\": \"ForEach\", \"in\": {\"collection\": \"row\"}, "
                                "\"params\": {\"graph\": \"slice\"}}" SLICE,
        RBL_OK);
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(g.graph, NULL, &run), RBL_OK);
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        if (strcmp(rbl_run_node(run, i)->node, "e") == 0) {
            assert_string_equal(rbl_run_node(run, i)->reason, "0 of 4 elements ran");
            assert_int_equal(rbl_run_node(run, i)->outcome, RBL_OUTCOME_MEMORY_HIT);
        }
    rbl_run_destroy(run);
    /* Errors name the element. */
    assert_int_equal(rbl_graph_set_parameter(g.graph, "/nodes/row/params/count", "5", NULL), RBL_OK);
    assert_int_equal(rbl_evaluate(g.graph, NULL, &run), RBL_ERR_ARGUMENT); /* "numbers" has four */
    const rbl_messages *messages = rbl_run_messages(run);
    assert_string_equal(rbl_messages_get(messages, 0)->node, "e[4]/n");
    assert_string_equal(rbl_messages_get(messages, 0)->pointer, "/graphs/slice/nodes/n/params/index");
    rbl_run_destroy(run);
    assert_int_equal(rbl_graph_set_parameter(g.graph, "/nodes/row/params/count", "4", NULL), RBL_OK);
    assert_int_equal(rbl_evaluate(g.graph, NULL, &run), RBL_OK);
    rbl_run_destroy(run);
    end_run(&g);
}

static void for_each_counts(void **state)
{
    (void)state;
    graph_run g = run_nodes("\"e\": {\"type\": \"ForEach\", \"params\": {\"graph\": \"box\", \"over\": "
                            "\"count\", \"count\": 3}},\n"
                            "\"none\": {\"type\": \"ForEach\", \"params\": {\"graph\": \"box\", \"over\": "
                            "\"count\", \"count\": 0}}\n"
                            "}, \"graphs\": {\"box\": {\"inputs\": {\"index\": {\"type\": \"int\"}, "
                            "\"count\": {\"type\": \"int\"}},\n"
                            "\"nodes\": {\"b\": {\"type\": \"test.Boxes\", \"params\": {\"count\": "
                            "{\"from\": \"inputs.count\"}}}},\n"
                            "\"outputs\": {\"collection\": \"b\", \"i\": \"inputs.index\"}}",
        RBL_OK);
    assert_int_equal(count_leaves(&g, "e"), 9);
    assert_int_equal(rbl_collection_group_size(collection_of(&g, "none"), "bone"), 0);
    assert_int_equal(rbl_collection_group_size(collection_of(&g, "none.table"), "element"), 0);
    end_run(&g);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void for_each_reads_the_files_of_a_pattern(void **state)
{
    (void)state;
    char folder[] = "/tmp/rubble_flow_XXXXXX", path[200], nodes[2000];
    assert_non_null(mkdtemp(folder));
    const char *const names[] = {"b", "a", "c"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s.obj", folder, names[i]);
        write_file(path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    }
    snprintf(nodes, sizeof nodes,
        "\"e\": {\"type\": \"ForEach\", \"params\": {\"graph\": \"load\", \"over\": \"files\", \"files\": "
        "\"%s/*.obj\"}}\n}, \"graphs\": {\"load\": {\"inputs\": {\"file\": {\"type\": \"path\"}, \"name\": "
        "{\"type\": \"string\"}},\n\"nodes\": {\"m\": {\"type\": \"MeshToCollection\", \"params\": "
        "{\"file\": "
        "{\"from\": \"inputs.file\"}}}},\n\"outputs\": {\"collection\": \"m\", \"title\": \"inputs.name\"}}",
        folder);
    graph_run g = run_nodes(nodes, RBL_OK);
    assert_int_equal(count_leaves(&g, "e"), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(
            rbl_collection_string(collection_of(&g, "e.table"), "element", "title", i), i == 0   ? "a"
                                                                                        : i == 1 ? "b"
                                                                                                 : "c");
    /* A file more is seen in the next run. */
    snprintf(path, sizeof path, "%s/d.obj", folder);
    write_file(path, "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(g.graph, NULL, &run), RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "e.count")), 4, 0);
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        if (strcmp(rbl_run_node(run, i)->node, "e") == 0)
            assert_string_equal(rbl_run_node(run, i)->reason, "1 of 4 elements ran");
    rbl_run_destroy(run);
    end_run(&g);
    const char *const all[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s.obj", folder, all[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void branches_and_merges(void **state)
{
    (void)state;
    for (int yes = 0; yes < 2; yes++) {
        char nodes[2000];
        snprintf(nodes, sizeof nodes,
            "\"one\": {\"type\": \"test.Boxes\"}, \"three\": {\"type\": \"test.Boxes\", \"params\": "
            "{\"count\": 3}},\n"
            "\"b\": {\"type\": \"Branch\", \"in\": {\"yes\": \"one\", \"no\": \"three\"}, \"params\": "
            "{\"condition\": "
            "%s}},\n"
            "\"m\": {\"type\": \"MergeCollections\", \"in\": {\"collections\": [\"b\", \"one\"]}}",
            yes ? "true" : "false");
        graph_run g = run_nodes(nodes, RBL_OK);
        assert_int_equal(count_leaves(&g, "b"), yes ? 1 : 3);
        assert_int_equal(count_leaves(&g, "m"), yes ? 2 : 4);
        assert_string_equal(rbl_collection_string(collection_of(&g, "m"), "bone", "name", 0), "merged");
        end_run(&g);
    }
}

static void tables_show_attributes(void **state)
{
    (void)state;
    graph_run g = run_nodes(ROW
        "\"t\": {\"type\": \"Table\", \"in\": {\"collection\": \"row\"}, \"params\": {\"group\": "
        "\"geometry\",\n"
        "\"columns\": [\"bone\", \"bounds_max\", \"volume\"], \"sort\": \"-volume\", \"rows\": 2}},\n"
        "\"j\": {\"type\": \"Table\", \"in\": {\"collection\": \"row\"}, \"params\": {\n"
        "\"columns\": [\"anchored\", \"level\"], \"rows\": 1, \"file\": \"x.json\"}}",
        RBL_OK);
    assert_string_equal(rbl_value_string(rbl_run_value(g.run, "t")),
        "bone,bounds_max_x,bounds_max_y,bounds_max_z,volume\n4,15,1,1,8\n3,7,1,1,4\n");
    assert_string_equal(
        rbl_value_string(rbl_run_value(g.run, "j")), "[\n  {\"anchored\": false, \"level\": 0}\n]\n");
    end_run(&g);
    g = run_nodes(ROW "\"t\": {\"type\": \"Table\", \"in\": {\"collection\": \"row\"}, \"params\": "
                      "{\"columns\": [\"nmae\"]}}",
        RBL_ERR_NOT_FOUND);
    assert_true(said(&g, "did you mean \"name\"?"));
    assert_string_equal(error_pointer(&g), "/nodes/t/params/columns/0");
    end_run(&g);
}

static void an_old_version_goes_on_running(void **state)
{
    (void)state;
    graph_run g = run_nodes(
        "\"old\": {\"type\": \"SelectValue@1\", \"params\": {\"which\": 1, \"values\": [3, 4]}},\n"
        "\"new\": {\"type\": \"SelectValue\", \"params\": {\"numbers\": [1, {\"from\": \"old.value\"}], "
        "\"index\": 1, \"texts\": [\"a\", \"b\"]}}",
        RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(g.run, "new.number")), 4, 0);
    assert_close(rbl_value_number(rbl_run_value(g.run, "new.integer")), 4, 0);
    assert_string_equal(rbl_value_string(rbl_run_value(g.run, "new.text")), "b");
    end_run(&g);
}

static void faults_are_told(void **state)
{
    (void)state;
    graph_run g = run_nodes("\"i\": {\"type\": \"SelectValue\", \"params\": {\"numbers\": [2]}}, "
                            "\"s\": {\"type\": \"SelectValue\", \"params\": {\"index\": {\"from\": "
                            "\"i.integer\"}, \"texts\": [\"a\", \"b\"]}}",
        RBL_ERR_ARGUMENT);
    assert_true(said(&g, "index 2, but there are 2 values"));
    assert_string_equal(error_pointer(&g), "/nodes/s/params/index");
    end_run(&g);
    g = run_nodes(ROW "\"e\": {\"type\": \"ForEach\", \"in\": {\"collection\": \"row\"}, \"params\": "
                      "{\"graph\": \"slice\",\n"
                      "\"set\": [{\"name\": \"more\", \"number\": {\"from\": \"i\"}}]}}, "
                      "\"i\": {\"type\": \"SelectValue\", \"params\": {\"numbers\": [6]}}" SLICE,
        RBL_ERR_ARGUMENT);
    assert_true(said(&g, "input \"more\" is 6; the largest allowed value is"));
    assert_string_equal(error_pointer(&g), "/nodes/e/params/set/0/number");
    end_run(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(for_each_goes_through_bones),
        cmocka_unit_test(elements_are_remembered),
        cmocka_unit_test(for_each_counts),
        cmocka_unit_test(for_each_reads_the_files_of_a_pattern),
        cmocka_unit_test(branches_and_merges),
        cmocka_unit_test(tables_show_attributes),
        cmocka_unit_test(an_old_version_goes_on_running),
        cmocka_unit_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
