#include "tests/nodes/node_help.h"

#include <math.h>

/* Cutter nodes: grout, mortar, bricks, and what they say. */

#define BOX "\"box\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [4, 2, 1]}},"

static double total_volume(const rbl_collection *c)
{
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    double sum = 0;
    for (size_t g = 0; g < rbli_collection_size(c, "geometry"); g++)
        sum += volume[g];
    return sum;
}

static size_t contact_count(const rbl_collection *c)
{
    return rbli_collection_size(c, "contact");
}

static void grout_parts_pieces_and_keeps_their_contacts(void **state)
{
    (void)state;
    graph_run g = run_nodes(BOX "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, "
                                "\"params\": {\"slices\": [3, 1, 0], \"grout\": 0.1}}",
        RBL_OK);
    const rbl_collection *c = collection_of(&g, "cut.collection");
    /* 4 columns: two lose 0.05, two lose 0.1 of their width 1; both rows lose 0.05 of their height 1 */
    assert_int_equal(rbli_collection_size(c, "geometry"), 8);
    assert_close(total_volume(c), (2 * 0.95 + 2 * 0.9) * (2 * 0.95) * 1, 1e-12);
    assert_int_equal(contact_count(c), 3 * 2 + 4);
    const double *area = rbli_collection_read(c, "contact", "area", RBL_DOUBLE);
    double sum = 0;
    for (size_t i = 0; i < contact_count(c); i++)
        sum += area[i];
    assert_close(sum, 3 * 2 * 1 + 4 * 1, 1e-12); /* as without gaps */
    end_run(&g);
}

static void mortar_is_kept_when_asked_for(void **state)
{
    (void)state;
    graph_run g = run_nodes(BOX "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, "
                                "\"params\": {\"slices\": [3, 0, 0], \"grout\": 0.1, \"keep_mortar\": true}}",
        RBL_OK);
    const rbl_collection *c = collection_of(&g, "cut.collection");
    assert_int_equal(rbli_collection_size(c, "geometry"), 4 + 3);
    assert_close(total_volume(c), 8, 1e-12);
    assert_int_equal(contact_count(c), 6); /* of slices and mortar */
    size_t mortar = 0, bones = rbli_collection_size(c, "bone");
    for (size_t b = 0; b < bones; b++)
        mortar += strstr(rbli_collection_string(c, "bone", "name", b), "_mortar") != NULL;
    assert_int_equal(mortar, 3);
    end_run(&g);
}

static void cells_thinner_than_the_grout_are_counted(void **state)
{
    (void)state;
    graph_run g = run_nodes(BOX "\"cut\": {\"type\": \"PlaneCutter\", \"in\": {\"collection\": \"box\"}, "
                                "\"params\": {\"planes\": [{\"point\": [0, 0, 0], \"normal\": [1, 0, 0]}, "
                                "{\"point\": [0.05, 0, 0], \"normal\": [1, 0, 0]}], \"grout\": 0.1}}",
        RBL_OK);
    assert_true(said(&g, "1 cell is thinner than the grout"));
    const rbl_collection *c = collection_of(&g, "cut.collection");
    assert_int_equal(rbli_collection_size(c, "geometry"), 2);
    assert_close(total_volume(c), 8 - 0.15 * 2, 1e-12);
    end_run(&g);
}

static void grout_of_voronoi_cells_is_the_parameter(void **state)
{
    (void)state;
    /* two sites: the bisector is the plane x = 0 */
    graph_run g = run_nodes(BOX
        "\"sites\": {\"type\": \"MakePoints\", \"params\": {\"points\": [[-1, 0, 0], [1, 0, 0]]}},"
        "\"cut\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"box\", \"points\": "
        "\"sites\"}, \"params\": {\"grout\": 0.3}}",
        RBL_OK);
    const rbl_collection *c = collection_of(&g, "cut.collection");
    const double(*low)[3] = rbli_collection_read(c, "geometry", "bounds_min", RBL_VEC3);
    const double(*high)[3] = rbli_collection_read(c, "geometry", "bounds_max", RBL_VEC3);
    assert_int_equal(rbli_collection_size(c, "geometry"), 2);
    assert_close(low[1][0] - high[0][0], 0.3, 1e-12);
    end_run(&g);
}

/// The gap between two pieces along a direction.
static double gap_along(const rbl_collection *c, const double n[3])
{
    const int32_t *start = rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32);
    const double(*p)[3] = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    assert_int_equal(rbli_collection_size(c, "geometry"), 2);
    for (int g = 0; g < 2; g++)
        for (int32_t v = start[g]; v < start[g] + count[g]; v++) {
            double x = (n[0] * p[v][0] + n[1] * p[v][1] + n[2] * p[v][2]) / length;
            low[g] = fmin(low[g], x);
            high[g] = fmax(high[g], x);
        }
    return fmax(low[0] - high[1], low[1] - high[0]);
}

static int compare_doubles(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return a < b ? -1 : a > b;
}

/// Measured on the pieces: oblique cuts of planes and Voronoi cells, and all joints of a stack of bricks.
static void measured_gaps_are_the_grout(void **state)
{
    (void)state;
    const double plane[3] = {3, 1, -2}, bisector[3] = {1.3, 0.7, 0.2};
    graph_run g =
        run_nodes(BOX "\"cut\": {\"type\": \"PlaneCutter\", \"in\": {\"collection\": \"box\"}, "
                      "\"params\": {\"planes\": [{\"point\": [0.1, 0.2, 0], \"normal\": [3, 1, -2]}], "
                      "\"grout\": 0.0371}}",
            RBL_OK);
    assert_close(gap_along(collection_of(&g, "cut.collection"), plane), 0.0371, 1e-12);
    end_run(&g);
    g = run_nodes(BOX
        "\"sites\": {\"type\": \"MakePoints\", \"params\": {\"points\": [[-0.6, -0.4, 0], [0.7, "
        "0.3, 0.2]]}}, \"cut\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"box\", "
        "\"points\": \"sites\"}, \"params\": {\"grout\": 0.0371}}",
        RBL_OK);
    assert_close(gap_along(collection_of(&g, "cut.collection"), bisector), 0.0371, 1e-12);
    end_run(&g);
    g = run_nodes(BOX
        "\"cut\": {\"type\": \"BrickCutter\", \"in\": {\"collection\": \"box\"}, \"params\": "
        "{\"bond\": \"stack\", \"length\": 0.9, \"height\": 0.4, \"depth\": 0.45, \"grout\": 0.0371, "
        "\"keep_mortar\": false}}",
        RBL_OK);
    const rbl_collection *c = collection_of(&g, "cut.collection");
    const double(*low)[3] = rbli_collection_read(c, "geometry", "bounds_min", RBL_VEC3);
    const double(*high)[3] = rbli_collection_read(c, "geometry", "bounds_max", RBL_VEC3);
    size_t count = rbli_collection_size(c, "geometry");
    double *starts = malloc(count * sizeof *starts), *ends = malloc(count * sizeof *ends);
    for (int axis = 0; axis < 3; axis++) {
        size_t joints = 0;
        for (size_t i = 0; i < count; i++) {
            starts[i] = low[i][axis];
            ends[i] = high[i][axis];
        }
        qsort(starts, count, sizeof *starts, compare_doubles);
        qsort(ends, count, sizeof *ends, compare_doubles);
        for (size_t i = 0; i + 1 < count; i++) { /* the bricks of a row end where none has begun */
            if (ends[i + 1] - ends[i] < 0.1) continue;
            size_t next = 0;
            while (starts[next] < ends[i])
                next++;
            assert_close(starts[next] - ends[i], 0.0371, 1e-12);
            joints++;
        }
        assert_true(joints >= 2);
    }
    free(starts);
    free(ends);
    end_run(&g);
}

static void bricks_with_mortar_fill_the_object(void **state)
{
    (void)state;
    static const char *const bonds[] = {"stretcher", "stack", "english", "header", "flemish"};
    for (int i = 0; i < 5; i++) {
        char text[600];
        snprintf(text, sizeof text,
            BOX
            "\"cut\": {\"type\": \"BrickCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {\"bond\": "
            "\"%s\", \"length\": 1, \"height\": 0.4, \"depth\": 0.45, \"grout\": 0.03}}",
            bonds[i]);
        graph_run g = run_nodes(text, RBL_OK);
        const rbl_collection *c = collection_of(&g, "cut.collection");
        assert_close(total_volume(c), 8, 1e-11);
        const int32_t *site = rbli_collection_read(c, "bone", "site", RBL_INT32);
        const int32_t *geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32);
        size_t mortar = 0;
        for (size_t b = 0; b < rbli_collection_size(c, "bone"); b++)
            mortar += geometry[b] >= 0 && site[b] < 0;
        assert_int_equal(mortar, 1); /* joints hang together */
        end_run(&g);
    }
}

static void bricks_without_grout_touch(void **state)
{
    (void)state;
    graph_run g =
        run_nodes(BOX "\"cut\": {\"type\": \"BrickCutter\", \"in\": {\"collection\": \"box\"}, \"params\": "
                      "{\"bond\": \"stack\", \"length\": 1, \"height\": 0.5, \"depth\": 0.5}}",
            RBL_OK);
    const rbl_collection *c = collection_of(&g, "cut.collection");
    assert_int_equal(rbli_collection_size(c, "geometry"), 4 * 4 * 2);
    assert_close(total_volume(c), 8, 1e-12);
    assert_int_equal(contact_count(c), 3 * 4 * 2 + 4 * 3 * 2 + 4 * 4);
    end_run(&g);
}

static void bricks_say_what_is_wrong(void **state)
{
    (void)state;
    expect_refused(BOX "\"cut\": {\"type\": \"BrickCutter\", \"in\": {\"collection\": \"box\"}, \"params\": "
                       "{\"bond\": \"flemish\", \"length\": 0.1}}",
        "length 0.1 must be at least twice the depth", "/nodes/cut/params/length");
    expect_refused(BOX "\"cut\": {\"type\": \"PlaneCutter\", \"in\": {\"collection\": \"box\"}}",
        "there is no plane to cut by", "/nodes/cut/params/planes");
    graph_run g =
        run_nodes(BOX "\"cut\": {\"type\": \"BrickCutter\", \"in\": {\"collection\": \"box\"}, \"params\": "
                      "{\"length\": 0.04, \"height\": 0.02, \"depth\": 0.02}}",
            RBL_OK);
    assert_true(said(&g, "their size is"));
    end_run(&g);
}

static void noise_makes_cuts_rough_and_loses_nothing(void **state)
{
    (void)state;
    static const char *const cutters[] = {"\"SliceCutter\"", "\"UniformFracture\"", "\"BrickCutter\""};
    static const char *const extra[] = {"\"slices\": [2, 1, 0]", "\"min_sites\": 12, \"max_sites\": 12",
        "\"length\": 1, \"height\": 0.5, \"depth\": 0.5"};
    for (int i = 0; i < 3; i++)
        for (int gap = 0; gap < 2; gap++) {
            char text[800];
            snprintf(text, sizeof text,
                BOX "\"cut\": {\"type\": %s, \"in\": {\"collection\": \"box\"}, \"params\": {%s, "
                    "\"keep_mortar\": true, \"grout\": %g, \"noise\": {\"amplitude\": 0.05}}}",
                cutters[i], extra[i], gap ? 0.04 : 0.0);
            graph_run g = run_nodes(text, RBL_OK), h = run_nodes_with(text, RBL_OK, 4);
            const rbl_collection *c = collection_of(&g, "cut.collection");
            assert_close(total_volume(c), 8, 1e-10);
            assert_true(rbli_hash_equal(
                rbli_collection_hash(c), rbli_collection_hash(collection_of(&h, "cut.collection"))));
            assert_true(rbli_collection_size(c, "face") > 2000);
            end_run(&g);
            end_run(&h);
        }
}

static void noise_warns_of_points_too_far_apart(void **state)
{
    (void)state;
    graph_run g =
        run_nodes(BOX "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": "
                      "{\"noise\": {\"amplitude\": 0.01, \"frequency\": 10, \"point_spacing\": 0.1}}}",
            RBL_OK);
    assert_true(said(&g, "noise.point_spacing 0.1 is too far for noise.frequency 10: up to 0.025"));
    end_run(&g);
    g = run_nodes(BOX "\"cut\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": "
                      "{\"slices\": [0, 1, 0], \"noise\": {\"amplitude\": 1e-4, \"point_spacing\": 0.001}}}",
        RBL_OK);
    assert_true(said(&g, "noise.point_spacing 0.001 would need more than 1000000 points: "));
    end_run(&g);
}

/// Hash of a box of that size cut with noise.
static rbli_hash hash_of_noise(double size, const char *noise, size_t *vertices, bool *noted)
{
    char text[600];
    snprintf(text, sizeof text,
        "\"box\": {\"type\": \"MakePrimitive\", \"params\": {\"size\": [%g, %g, %g]}}, \"cut\": {\"type\": "
        "\"SliceCutter\", \"in\": {\"collection\": \"box\"}, \"params\": {\"slices\": [1, 1, 1], \"noise\": "
        "{\"amplitude\": "
        "%g%s}}}",
        size, size, size, 0.01 * size, noise);
    graph_run g = run_nodes(text, RBL_OK);
    const rbl_collection *c = collection_of(&g, "cut.collection");
    rbli_hash hash = rbli_collection_hash(c);
    *vertices = rbli_collection_size(c, "vertex");
    *noted = said(&g, "are taken for an object of this size");
    assert_false(said(&g, "would need more than"));
    assert_close(total_volume(c), size * size * size, 1e-9 * size * size * size);
    end_run(&g);
    return hash;
}

static void noise_without_a_scale_suits_objects_of_any_size(void **state)
{
    (void)state;
    size_t given, left_out, large, small, spacing;
    bool noted;
    rbli_hash metre = hash_of_noise(2, ", \"frequency\": 2.5, \"point_spacing\": 0.1", &given, &noted);
    assert_true(rbli_hash_equal(metre, hash_of_noise(2, "", &left_out, &noted)));
    assert_true(!noted && given == left_out);
    hash_of_noise(495, "", &large, &noted);
    assert_true(noted && large > 1000 && large < 60000);
    hash_of_noise(0.02, "", &small, &noted);
    assert_true(noted && small > 100 && small < 60000);
    /* A frequency alone brings its spacing along. */
    rbli_hash fine = hash_of_noise(2, ", \"frequency\": 5", &spacing, &noted);
    assert_true(rbli_hash_equal(
        fine, hash_of_noise(2, ", \"frequency\": 5, \"point_spacing\": 0.05", &given, &noted)));
    assert_false(noted);
}

static void near_islands_stay_one_piece(void **state)
{
    (void)state;
    /* the cavity of a U: two boxes apart by 1 are cut from a slab by a box between them */
    static const char *const joined[] = {"", ", \"close_vertex_distance\": 1.001",
        ", \"bridge_distance\": 1.001", ", \"close_vertex_distance\": 0.999", ", \"bridge_distance\": 0.999"};
    static const size_t expected[] = {3, 2, 2, 3, 3};
    for (int i = 0; i < 5; i++) {
        char text[900];
        snprintf(text, sizeof text,
            "\"slab\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [4, 1, 1]}},"
            "\"knife\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [1, 3, 3]}},"
            "\"cut\": {\"type\": \"MeshCutter\", \"in\": {\"collection\": \"slab\", \"cutter\": \"knife\"}, "
            "\"params\": {\"seed\": 1%s}}",
            joined[i]);
        graph_run g = run_nodes(text, RBL_OK);
        const rbl_collection *c = collection_of(&g, "cut.collection");
        assert_int_equal(rbli_collection_size(c, "geometry"), expected[i]);
        assert_close(total_volume(c), 4, 1e-12);
        end_run(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grout_parts_pieces_and_keeps_their_contacts),
        cmocka_unit_test(mortar_is_kept_when_asked_for),
        cmocka_unit_test(cells_thinner_than_the_grout_are_counted),
        cmocka_unit_test(grout_of_voronoi_cells_is_the_parameter),
        cmocka_unit_test(measured_gaps_are_the_grout),
        cmocka_unit_test(bricks_with_mortar_fill_the_object),
        cmocka_unit_test(bricks_without_grout_touch),
        cmocka_unit_test(bricks_say_what_is_wrong),
        cmocka_unit_test(noise_makes_cuts_rough_and_loses_nothing),
        cmocka_unit_test(noise_warns_of_points_too_far_apart),
        cmocka_unit_test(noise_without_a_scale_suits_objects_of_any_size),
        cmocka_unit_test(near_islands_stay_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
