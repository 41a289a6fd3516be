#include "tests/nodes/node_help.h"

#define ROW                                                                                                  \
    "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 4, \"growth\": 2, \"group\": true}},\n"
#define GROUP                                                                                                \
    "\"group\": {\"type\": \"SelectByName\", \"in\": {\"collection\": \"row\"}, \"params\": {\"pattern\": "  \
    "\"group\"}},\n"
#define SELECT(type, params)                                                                                 \
    ROW "\"s\": {\"type\": \"" type "\", \"in\": {\"collection\": \"row\"}, \"params\": {" params "}}"
#define SELECT_FROM(type, params)                                                                            \
    ROW GROUP "\"s\": {\"type\": \"" type                                                                    \
              "\", \"in\": {\"collection\": \"row\", \"selection\": \"group\"}, "                            \
              "\"params\": {" params "}}"

/* Bones: 0 root; 1, 2, 3, 4 boxes of length 1, 2, 4, 8; 5 group; 6, 7 its cubes. */
static void each_node_answers_its_question(void **state)
{
    (void)state;
    const struct {
        const char *nodes, *bones;
    } cases[] = {
        {SELECT("SelectAll", ""), "0 1 2 3 4 5 6 7"},
        {SELECT_FROM("SelectAll", ""), "5"},
        {SELECT("SelectNone", ""), ""},
        {SELECT("SelectLeaves", ""), "1 2 3 4 6 7"},
        {SELECT_FROM("SelectLeaves", ""), "6 7"},
        {SELECT("SelectClusters", ""), "0 5"},
        {SELECT("SelectLevel", ""), "1 2 3 4 5"},
        {SELECT("SelectLevel", "\"level\": -1"), "6 7"},
        {SELECT("SelectChildren", ""), "1 2 3 4 5 6 7"},
        {SELECT_FROM("SelectChildren", ""), "6 7"},
        {SELECT("SelectParents", ""), "0 5"},
        {SELECT_FROM("SelectParents", ""), "0"},
        {SELECT("SelectSiblings", ""), "0 1 2 3 4 5 6 7"},
        {SELECT_FROM("SelectSiblings", ""), "1 2 3 4 5"},
        {SELECT("SelectByVolume", "\"max\": 0.25"), "1 2 6 7"},
        {SELECT_FROM("SelectByVolume", "\"min\": 0.25"), "5"},
        {SELECT("SelectBySize", "\"min\": 0.5"), "3 4"},
        {SELECT("SelectRandom", "\"chance\": 1"), "1 2 3 4 6 7"},
        {SELECT("SelectRandom", "\"chance\": 0"), ""},
        {SELECT("SelectInBox", "\"min\": [0, 0, 0], \"max\": [3, 1, 1]"), "1 2"},
        {SELECT("SelectInBox", "\"min\": [0, 0, 0], \"max\": [2, 1, 1], \"inside\": \"whole\""), "1"},
        {SELECT("SelectInSphere", "\"radius\": 2.2"), "1 2"},
        {SELECT("SelectInSphere", "\"radius\": 3, \"inside\": \"any\""), "1 2 3"},
        {SELECT("SelectByName", "\"pattern\": \"box_*\""), "1 2 3 4"},
        {SELECT("SelectCustom", "\"bones\": \"0, 2, 5-7\""), "0 2 5 6 7"},
        {SELECT_FROM("SelectCustom", "\"bones\": \"0, 2, 5-7\""), "5"},
        {SELECT("SelectByAttribute", "\"attribute\": \"volume\", \"min\": 4"), "3 4"},
        {SELECT("SelectByAttribute", "\"attribute\": \"level\""), "1 2 3 4 5 6 7"},
        {SELECT("SelectByAttribute", "\"attribute\": \"name\", \"text\": \"root\""), "0"},
        {SELECT_FROM("InvertSelection", ""), "1 2 3 4"},
        {SELECT_FROM("InvertSelection", "\"among\": \"all\""), "0 1 2 3 4 6 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graph_run g = run_nodes(cases[i].nodes, RBL_OK);
        if (strcmp(bones_of(&g, "s"), cases[i].bones))
            fail_msg("%s gives %s, not %s", cases[i].nodes, bones_of(&g, "s"), cases[i].bones);
        end_run(&g);
    }
}

static void selections_combine(void **state)
{
    (void)state;
    const char *const words[4] = {"and", "or", "xor", "minus"};
    const char *const expected[4] = {"2", "1 2 3 4", "2 4", ""};
    for (int i = 0; i < 4; i++) {
        char nodes[2000];
        snprintf(nodes, sizeof nodes,
            ROW
            "\"a\": {\"type\": \"SelectCustom\", \"in\": {\"collection\": \"row\"}, \"params\": {\"bones\": "
            "\"1, 2\"}},\n\"b\": {\"type\": \"SelectCustom\", \"in\": {\"collection\": \"row\"}, \"params\": "
            "{\"bones\": \"2, 3\"}},\n\"c\": {\"type\": \"SelectCustom\", \"in\": {\"collection\": \"row\"}, "
            "\"params\": {\"bones\": \"1-4\"}},\n\"s\": {\"type\": \"CombineSelections\", \"in\": "
            "{\"collection\": \"row\", \"selections\": [\"a\", \"b\", \"%s\"]}, \"params\": {\"operation\": "
            "\"%s\"}}",
            i == 2   ? "c"
            : i == 0 ? "b"
                     : "c",
            words[i]);
        graph_run g = run_nodes(nodes, RBL_OK);
        assert_string_equal(bones_of(&g, "s"), expected[i]);
        end_run(&g);
    }
}

static void faults_are_told_at_their_place(void **state)
{
    (void)state;
    const struct {
        const char *nodes;
        rbl_status status;
        const char *said, *pointer;
    } cases[] = {
        {SELECT("SelectCustom", "\"bones\": \"0, 9\""), RBL_ERR_ARGUMENT,
            "at character 4: there is no bone 9", "/nodes/s/params/bones"},
        {SELECT("SelectByVolume", "\"min\": 0.5, \"max\": 0.25"), RBL_ERR_ARGUMENT, "max is smaller than min",
            "/nodes/s/params/max"},
        {SELECT("SelectInBox", ""), RBL_ERR_GRAPH, "there is no box", "/nodes/s"},
        {SELECT("SelectInBox", "\"min\": [0, 0, 0]"), RBL_ERR_GRAPH, "there is no box",
            "/nodes/s/params/min"},
        {SELECT("SelectInBox", "\"min\": [0, 2, 0], \"max\": [1, 1, 1]"), RBL_ERR_GRAPH,
            "max is smaller than min along y", "/nodes/s/params/max"},
        {SELECT("SelectByAttribute", "\"attribute\": \"heat\""), RBL_ERR_NOT_FOUND, "no attribute \"heat\"",
            ""},
        {SELECT_FROM("SelectContact", ""), RBL_ERR_NOT_FOUND, "run Proximity first", ""},
        {ROW GROUP
            "\"other\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 2}},\n"
            "\"s\": {\"type\": \"SelectAll\", \"in\": {\"collection\": \"other\", \"selection\": \"group\"}}",
            RBL_ERR_COLLECTION, "made on a collection with other bones", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].status == RBL_ERR_GRAPH) { /* seen when the graph is loaded */
            expect_refused(cases[i].nodes, cases[i].said, cases[i].pointer);
            continue;
        }
        graph_run g = run_nodes(cases[i].nodes, cases[i].status);
        assert_true(said(&g, cases[i].said));
        if (cases[i].pointer[0]) assert_string_equal(error_pointer(&g), cases[i].pointer);
        end_run(&g);
    }
}

/* A level of debris: cut, choose the small pieces' complement, cut those again. */
static void selections_drive_cutters(void **state)
{
    (void)state;
    graph_run g = run_nodes(
        "\"box\": {\"type\": \"test.Boxes\"},\n"
        "\"cut\": {\"type\": \"PlaneCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {\"planes\": "
        "[{\"point\": [0.25, 0, 0], \"normal\": [1, 0, 0]}]}},\n"
        "\"small\": {\"type\": \"SelectByVolume\", \"in\": {\"collection\": \"cut\", \"selection\": "
        "\"cut.new_pieces\"}, \"params\": {\"max\": 0.5}},\n"
        "\"large\": {\"type\": \"InvertSelection\", \"in\": {\"collection\": \"cut\", \"selection\": "
        "\"small\"}},\n"
        "\"again\": {\"type\": \"PlaneCutter\", \"in\": {\"collection\": \"cut\", \"selection\": \"large\"}, "
        "\"params\": {\"planes\": [{\"point\": [0, 0.5, 0], \"normal\": [0, 1, 0]}]}}",
        RBL_OK);
    size_t count;
    rbl_value_selection(rbl_run_value(g.run, "small"), &count);
    assert_int_equal(count, 1);
    rbl_value_selection(rbl_run_value(g.run, "large"), &count);
    assert_int_equal(count, 1);
    rbl_value_selection(rbl_run_value(g.run, "again.new_pieces"), &count);
    assert_int_equal(count, 2);
    end_run(&g);
}

static void contact_reads_what_proximity_found(void **state)
{
    (void)state;
    graph_run g = run_nodes(ROW GROUP
        "\"near\": {\"type\": \"Proximity\", \"in\": {\"collection\": \"row\"}},\n"
        "\"touching\": {\"type\": \"SelectContact\", \"in\": {\"collection\": \"near\", \"selection\": "
        "\"group\"}},\n"
        "\"next\": {\"type\": \"SelectContact\", \"in\": {\"collection\": \"near\", \"selection\": "
        "\"touching\"}}",
        RBL_OK);
    assert_string_equal(bones_of(&g, "touching"), "4");
    assert_string_equal(bones_of(&g, "next"), "3 5");
    end_run(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_answers_its_question),
        cmocka_unit_test(selections_combine),
        cmocka_unit_test(faults_are_told_at_their_place),
        cmocka_unit_test(selections_drive_cutters),
        cmocka_unit_test(contact_reads_what_proximity_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
