#include "tests/nodes/node_help.h"

#include <math.h>

#define BOX "\"box\": {\"type\": \"test.Boxes\", \"params\": {\"size\": [4, 2, 1]}},\n"

static size_t piece_count(const graph_run *g, const char *port)
{
    size_t count;
    rbl_value_selection(rbl_run_value(g->run, port), &count);
    return count;
}

/// Sum of the volumes of all geometries, each of which must be closed and positive.
static double volume_of(const graph_run *g, const char *port)
{
    const rbl_collection *c = collection_of(g, port);
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    double sum = 0;
    for (size_t i = 0; i < rbli_collection_size(c, "geometry"); i++) {
        assert_true(volume[i] > 0);
        assert_closed(c, i);
        sum += volume[i];
    }
    return sum;
}

static void seven_planes_give_thirty_two_pieces(void **state)
{
    (void)state;
    graph_run g =
        run_nodes(BOX "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}}", RBL_OK);
    assert_int_equal(piece_count(&g, "cut.new_pieces"), 32);
    const rbl_collection *c = collection_of(&g, "cut");
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    for (size_t i = 0; i < rbli_collection_size(c, "geometry"); i++)
        assert_close(volume[i], 8.0 / 32, 1e-14);
    end_run(&g);

    g = run_nodes(BOX
        "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {\"slices\": "
        "[7, 0, 0]}}",
        RBL_OK);
    assert_int_equal(piece_count(&g, "cut.new_pieces"), 8);
    end_run(&g);
    g = run_nodes(BOX
        "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {\"slices\": "
        "[0, 0, 0]}}",
        RBL_ERR_ARGUMENT);
    assert_string_equal(error_pointer(&g), "/nodes/cut/params/slices");
    end_run(&g);
}

static void variation_moves_planes_and_keeps_the_volume(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 3; seed++) {
        char nodes[600];
        snprintf(nodes, sizeof nodes,
            BOX "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": "
                "{\"seed\": %d, "
                "\"angle_variation\": 20, \"offset_variation\": 0.1}}",
            seed);
        graph_run g = run_nodes(nodes, RBL_OK);
        assert_true(piece_count(&g, "cut.new_pieces") >= 20);
        assert_close(volume_of(&g, "cut"), 8, 1e-12);
        end_run(&g);
    }
    /* Offsets alone: 32 boxes whose planes lie within the variation. */
    graph_run g =
        run_nodes(BOX "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": "
                      "{\"slices\": [3, 0, 0], \"offset_variation\": 0.25}}",
            RBL_OK);
    const rbl_collection *c = collection_of(&g, "cut");
    const double(*low)[3] = rbli_collection_read(c, "geometry", "bounds_min", RBL_VEC3);
    assert_int_equal(rbli_collection_size(c, "geometry"), 4);
    for (size_t i = 1; i < 4; i++) {
        assert_true(fabs(low[i][0] - (double)i) <= 0.25);
        assert_true(low[i][0] != (double)i);
    }
    end_run(&g);
}

static void uniform_is_scatter_and_voronoi(void **state)
{
    (void)state;
    graph_run g = run_nodes(BOX
        "\"points\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"box\"}, \"params\": "
        "{\"min_count\": 15, "
        "\"max_count\": 40, \"seed\": 6}},\n"
        "\"a\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"box\", \"points\": \"points\"}},\n"
        "\"b\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"box\"}, \"params\": "
        "{\"min_sites\": 15, "
        "\"max_sites\": 40, \"seed\": 6}}",
        RBL_OK);
    size_t count;
    points_of(&g, "points", &count);
    assert_in_range(count, 15, 40);
    assert_int_equal(piece_count(&g, "b.new_pieces"), count);
    const rbl_collection *a = collection_of(&g, "a"), *b = collection_of(&g, "b");
    const double *va = rbli_collection_read(a, "geometry", "volume", RBL_DOUBLE);
    const double *vb = rbli_collection_read(b, "geometry", "volume", RBL_DOUBLE);
    for (size_t i = 0; i < count; i++)
        assert_close(va[i], vb[i], 1e-12);
    end_run(&g);
}

static void each_bone_has_a_pattern_of_its_own(void **state)
{
    (void)state;
    graph_run g = run_nodes("\"box\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 3}},\n"
                            "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"box\"}, "
                            "\"params\": {\"min_sites\": 6, "
                            "\"max_sites\": 6, \"group_fracture\": false}}",
        RBL_OK);
    assert_int_equal(piece_count(&g, "cut.new_pieces"), 18);
    const double *volume = rbli_collection_read(collection_of(&g, "cut"), "geometry", "volume", RBL_DOUBLE);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(volume[i] - volume[6 + i]) > 1e-6 || fabs(volume[i] - volume[12 + i]) > 1e-6);
    assert_close(volume_of(&g, "cut"), 3, 1e-12);
    end_run(&g);
    expect_refused("\"box\": {\"type\": \"test.Boxes\"},\n\"cut\": {\"type\": \"UniformFracture\", \"in\": "
                   "{\"collection\": \"box\"}, \"params\": {\"min_sites\": 30}}",
        "max_sites (20) is smaller than min_sites (30)", "/nodes/cut/params/max_sites");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seven_planes_give_thirty_two_pieces),
        cmocka_unit_test(variation_moves_planes_and_keeps_the_volume),
        cmocka_unit_test(uniform_is_scatter_and_voronoi),
        cmocka_unit_test(each_bone_has_a_pattern_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
