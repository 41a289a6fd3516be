#include "tests/nodes/node_help.h"

/* The nodes between a cut and the end: CreateLeafConvexHulls, AutoCluster, Proximity, FixTinyGeo,
   ExplodedView and ColorPieces, on a cut ball. */

#define BALL                                                                                                 \
    "\"ball\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"segments\": 24}},\n"      \
    "\"sites\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"ball\"}, \"params\": {\"count\": "  \
    "60, \"seed\": 3}},\n"                                                                                   \
    "\"cut\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"ball\", \"points\": \"sites\"}}"
#define AFTER(id, type, in, params)                                                                          \
    ",\n\"" id "\": {\"type\": \"" type "\", \"in\": {\"collection\": \"" in "\"}, \"params\": {" params "}" \
    "}"

static double total_volume(const rbl_collection *c)
{
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    double sum = 0;
    for (size_t g = 0; g < rbli_collection_size(c, "geometry"); g++)
        sum += volume[g];
    return sum;
}

static void check_valid(const rbl_collection *c)
{
    rbl_context *ctx = make_context(1);
    assert_ok(ctx, rbli_collection_validate(ctx, c, RBLI_VALIDATE_CLOSED));
    finish_context(ctx);
}

static void a_chain_of_all_keeps_what_it_promises(void **state)
{
    (void)state;
    const char *nodes = BALL AFTER("tidy", "FixTinyGeo", "cut", "\"relative_volume\": 0.2")
        AFTER("near", "Proximity", "tidy", "\"contact_area\": \"geometry\", \"connection_graph\": true")
            AFTER("groups", "AutoCluster", "near", "\"count\": 5")
                AFTER("hulls", "CreateLeafConvexHulls", "groups", "\"max_vertices\": 24")
                    AFTER("apart", "ExplodedView", "hulls", "\"scale\": 0.5")
                        AFTER("end", "ColorPieces", "apart", "\"by\": \"cluster\"");
    char hashes[3][33];
    for (int threads = 1; threads <= 3; threads++) {
        graph_run g = run_nodes_with(nodes, RBL_OK, threads);
        const rbl_collection *ball = collection_of(&g, "ball"), *cut = collection_of(&g, "cut"),
                             *tidy = collection_of(&g, "tidy"), *end = collection_of(&g, "end");
        check_valid(tidy);
        check_valid(end);
        double volume = total_volume(ball);
        assert_close(total_volume(cut), volume, 1e-12);
        assert_close(total_volume(tidy), volume, 1e-12);
        assert_true(rbli_collection_size(tidy, "geometry") < rbli_collection_size(cut, "geometry"));
        const double *pieces = rbli_collection_read(tidy, "geometry", "volume", RBL_DOUBLE);
        for (size_t i = 0; i < rbli_collection_size(tidy, "geometry"); i++)
            assert_true(pieces[i] >= volume * 0.2 * 0.2 * 0.2);
        assert_int_equal(rbli_collection_size(end, "convex"), rbli_collection_size(end, "geometry"));
        assert_int_equal(rbli_collection_size(end, "bone"), rbli_collection_size(tidy, "bone") + 5);
        assert_non_null(rbli_collection_read(end, "corner", "color", RBL_FLOAT_4));
        assert_null(rbli_collection_read(cut, "corner", "color", RBL_FLOAT_4));
        /* ExplodedView shares what it does not change. */
        assert_ptr_equal(rbli_collection_buffer(collection_of(&g, "hulls"), "vertex", "position"),
            rbli_collection_buffer(collection_of(&g, "apart"), "vertex", "position"));
        rbl_collection_hash_text(end, hashes[threads - 1]);
        end_run(&g);
    }
    assert_string_equal(hashes[0], hashes[1]);
    assert_string_equal(hashes[0], hashes[2]);
}

static void contacts_agree_with_the_cut(void **state)
{
    (void)state;
    graph_run g = run_nodes(BALL AFTER("near", "Proximity", "cut", "\"contact_area\": \"geometry\""), RBL_OK);
    const rbl_collection *cut = collection_of(&g, "cut"), *near = collection_of(&g, "near");
    const int32_t(*known)[2] = rbli_collection_read(cut, "contact", "geometries", RBL_INT32_2);
    const int32_t(*found)[2] = rbli_collection_read(near, "proximity", "geometries", RBL_INT32_2);
    const double *known_area = rbli_collection_read(cut, "contact", "area", RBL_DOUBLE);
    const double *found_area = rbli_collection_read(near, "proximity", "area", RBL_DOUBLE);
    size_t count = rbli_collection_size(near, "proximity");
    double known_sum = 0, found_sum = 0;
    assert_true(count > 100);
    for (size_t i = 0; i < count; i++) {
        found_sum += found_area[i];
        for (size_t j = 0; j < rbli_collection_size(cut, "contact"); j++) {
            bool same = (known[j][0] == found[i][0] && known[j][1] == found[i][1]) ||
                        (known[j][1] == found[i][0] && known[j][0] == found[i][1]);
            if (same) assert_close(found_area[i], known_area[j], 1e-9);
        }
    }
    for (size_t j = 0; j < rbli_collection_size(cut, "contact"); j++)
        known_sum += known_area[j];
    assert_close(found_sum, known_sum, 1e-9);
    end_run(&g);
}

static void exploded_pieces_move_from_the_centre(void **state)
{
    (void)state;
    graph_run g = run_nodes("\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 3}}" AFTER(
                                "apart", "ExplodedView", "row", ""),
        RBL_OK);
    const double(*transform)[16] =
        rbli_collection_read(collection_of(&g, "apart"), "bone", "transform", RBL_MAT4);
    for (int i = 0; i < 3; i++) {
        assert_close(transform[1 + i][12], i - 1, 1e-12);
        assert_close(transform[1 + i][13], 0, 1e-12);
    }
    end_run(&g);
}

static void faults_are_told_at_their_place(void **state)
{
    (void)state;
    const struct {
        const char *nodes, *said, *pointer;
        rbl_status status;
    } cases[] = {
        {"\"flat\": {\"type\": \"test.Boxes\", \"params\": {\"size\": [1, 1, 0]}}" AFTER(
             "h", "CreateLeafConvexHulls", "flat", "\"on_degenerate\": \"error\""),
            "box_0", "", RBL_ERR_MESH},
        {"\"row\": {\"type\": \"test.Boxes\"}" AFTER(
             "t", "FixTinyGeo", "row", "\"use_selection\": \"include\""),
            "connect the input \"selection\"", "/nodes/t/params/use_selection", RBL_ERR_GRAPH},
        {"\"b\": {\"type\": \"MakePrimitive\", \"params\": {\"size\": [1, 0, 1]}}", "above 0",
            "/nodes/b/params/size", RBL_ERR_ARGUMENT},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_all_keeps_what_it_promises),
        cmocka_unit_test(contacts_agree_with_the_cut),
        cmocka_unit_test(exploded_pieces_move_from_the_centre),
        cmocka_unit_test(faults_are_told_at_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
