#include "tests/nodes/node_help.h"

/* Proximity and ConnectionGraph in graphs. */

#define CUT(grout)                                                                                           \
    "\"ball\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"segments\": 24}},\n"      \
    "\"sites\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"ball\"}, \"params\": {\"count\": "  \
    "60, \"seed\": 3}},\n"                                                                                   \
    "\"cut\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"ball\", \"points\": \"sites\"}, "   \
    "\"params\": {\"grout\": " grout "}}"
#define AFTER(id, type, in, params)                                                                          \
    ",\n\"" id "\": {\"type\": \"" type "\", \"in\": {\"collection\": \"" in "\"}, \"params\": {" params "}" \
    "}"

static size_t pairs_of(const graph_run *g, const char *port)
{
    return rbli_collection_size(collection_of(g, port), "proximity");
}

static size_t connections_of(const graph_run *g, const char *port)
{
    return rbli_collection_size(collection_of(g, port), "connection");
}

static void grout_does_not_part_neighbours(void **state)
{
    (void)state;
    graph_run whole = run_nodes(CUT("0") AFTER("near", "Proximity", "cut", ""), RBL_OK);
    graph_run g = run_nodes(
        CUT("0.01") AFTER("near", "Proximity", "cut", "\"contact_area\": \"geometry\"")
            AFTER("faces", "Proximity", "cut", "\"recorded\": false") AFTER("across", "Proximity", "cut",
                "\"recorded\": false, \"tolerance\": 0.0101") AFTER("hulls", "Proximity", "cut",
                "\"method\": \"convex_hull\", \"distance_threshold\": 0.0101") AFTER("touching", "Proximity",
                "cut", "\"method\": \"convex_hull\", \"distance_threshold\": 0.0099"),
        RBL_OK);
    size_t neighbours = pairs_of(&whole, "near");
    assert_true(neighbours > 200);
    assert_int_equal(pairs_of(&g, "near"), neighbours);
    assert_int_equal(pairs_of(&g, "faces"), 0);
    assert_int_equal(pairs_of(&g, "touching"), 0);
    assert_true(pairs_of(&g, "across") >= neighbours * 7 / 10 && pairs_of(&g, "across") <= neighbours);
    /* Cells across an edge of the diagram are farther apart than the grout, but for some. */
    assert_true(pairs_of(&g, "hulls") >= neighbours * 9 / 10 && pairs_of(&g, "hulls") < neighbours * 11 / 10);
    const double *area = rbli_collection_read(collection_of(&g, "near"), "proximity", "area", RBL_DOUBLE);
    for (size_t i = 0; i < neighbours; i++)
        assert_true(area[i] > 0);
    end_run(&whole);
    end_run(&g);
}

static void every_method_gives_the_same_for_any_threads(void **state)
{
    (void)state;
    const char *nodes = CUT("0") AFTER("precise", "Proximity", "cut",
        "\"contact_area\": \"convex_hull\", \"shared_vertices\": true, \"contact_threshold\": 0.02, "
        "\"contact_filter\": \"sharp\"") AFTER("hulls", "Proximity", "cut",
        "\"method\": \"convex_hull\", \"contact_area\": \"geometry\", \"contact_threshold\": 0.02, "
        "\"contact_filter\": \"area\", \"connection_graph\": true") AFTER("spanning", "ConnectionGraph",
        "precise", "\"method\": \"minimal_spanning_delaunay\", \"near_distance\": 0.2, \"factor\": 2")
        AFTER("bounds", "ConnectionGraph", "precise", "\"method\": \"bounds_filtered_delaunay\"")
            AFTER("implicit", "ConnectionGraph", "cut", "\"method\": \"point_implicit_augmented\"")
                AFTER("contacts", "ConnectionGraph", "cut", "");
    static const char *const ports[] = {"precise", "hulls", "spanning", "bounds", "implicit", "contacts"};
    static const int threads[] = {1, 2, 8};
    char hashes[6][33], hash[33];
    for (int i = 0; i < 3; i++) {
        graph_run g = run_nodes_with(nodes, RBL_OK, threads[i]);
        for (int p = 0; p < 6; p++) {
            rbl_collection_hash_text(collection_of(&g, ports[p]), i == 0 ? hashes[p] : hash);
            if (i > 0) assert_string_equal(hash, hashes[p]);
        }
        assert_true(pairs_of(&g, "precise") > 150 && pairs_of(&g, "hulls") > 150);
        assert_true(connections_of(&g, "spanning") >= 59 && connections_of(&g, "bounds") > 150);
        assert_true(connections_of(&g, "contacts") > connections_of(&g, "hulls"));
        end_run(&g);
    }
}

static void idle_parameters_and_loose_parts_are_told(void **state)
{
    (void)state;
    static const char *const row = "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 3}}";
    static const struct {
        const char *type, *params, *said;
    } cases[] = {
        {"Proximity", "\"distance_threshold\": 0.2", "distance_threshold changes nothing"},
        {"Proximity", "\"method\": \"convex_hull\", \"shared_vertices\": true",
            "shared_vertices changes nothing"},
        {"Proximity", "\"contact_filter\": \"area\"", "contact_filter changes nothing"},
        {"ConnectionGraph", "\"near_distance\": 1",
            "near_distance and factor change nothing with method proximity"},
        {"ConnectionGraph", "\"method\": \"delaunay\", \"factor\": 2", "change nothing with method delaunay"},
    };
    char nodes[600];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(nodes, sizeof nodes,
            "%s,\n\"n\": {\"type\": \"%s\", \"in\": {\"collection\": \"row\"}, \"params\": {%s}}", row,
            cases[i].type, cases[i].params);
        graph_run g = run_nodes(nodes, RBL_OK);
        assert_true(said(&g, cases[i].said));
        end_run(&g);
    }
    graph_run g = run_nodes(
        "\"flat\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 2, \"size\": [1, 1, 0]}}" AFTER(
            "n", "Proximity", "flat", "\"method\": \"convex_hull\", \"contact_area\": \"convex_hull\""),
        RBL_OK);
    assert_true(said(&g, "2 pieces are flat and thickened for a hull"));
    end_run(&g);
    g = run_nodes("\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 3}}" AFTER(
                      "apart", "ExplodedView", "row", "") AFTER("n", "ConnectionGraph", "apart", "")
                      AFTER("m", "Proximity", "apart", ""),
        RBL_OK);
    assert_true(said(&g, "the connections of 1 cluster leave parts apart (first: \"root\", 3 parts)"));
    assert_true(said(&g, "3 pieces touch no other (first: \"box_0\")"));
    end_run(&g);
}

/// Connections of clusters are those of their pieces, summed.
static void clusters_get_connections(void **state)
{
    (void)state;
    graph_run g = run_nodes(CUT("0") AFTER("near", "Proximity", "cut", "\"contact_area\": \"geometry\"")
                                AFTER("groups", "AutoCluster", "near", "\"count\": 5")
                                    AFTER("graph", "ConnectionGraph", "groups", ""),
        RBL_OK);
    const rbl_collection *c = collection_of(&g, "graph");
    const int32_t(*bones)[2] = rbli_collection_read(c, "connection", "bones", RBL_INT32_2);
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const double *area = rbli_collection_read(c, "connection", "area", RBL_DOUBLE);
    const double *contact = rbli_collection_read(c, "proximity", "area", RBL_DOUBLE);
    double sum = 0, expected = 0;
    for (size_t i = 0; i < rbli_collection_size(c, "connection"); i++) {
        assert_int_equal(parent[bones[i][0]], parent[bones[i][1]]);
        sum += area[i];
    }
    for (size_t i = 0; i < rbli_collection_size(c, "proximity"); i++)
        expected += contact[i];
    assert_close(sum, expected, 1e-12);
    end_run(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grout_does_not_part_neighbours),
        cmocka_unit_test(every_method_gives_the_same_for_any_threads),
        cmocka_unit_test(idle_parameters_and_loose_parts_are_told),
        cmocka_unit_test(clusters_get_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
