#include "fracture/ops/connection_graph.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/* Boxes under a root or under clusters, whose connections are known. */

static rbl_collection *make_solids(rbl_context *ctx, size_t count, const double (*boxes)[2][3])
{
    rbl_collection *c = make_boxes(ctx, count, boxes);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

/// side × side × layers cubes of the given size on a lattice of step 1; bone 1 + i is cube i.
static rbl_collection *make_lattice(rbl_context *ctx, int side, int layers, double size)
{
    double boxes[64][2][3];
    size_t count = 0;
    for (int z = 0; z < layers; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++, count++) {
                const int at[3] = {x, y, z};
                for (int k = 0; k < 3; k++) {
                    boxes[count][0][k] = at[k];
                    boxes[count][1][k] = at[k] + size;
                }
            }
    return make_solids(ctx, count, (const double(*)[2][3])boxes);
}

static rbl_collection *connect(
    rbl_context *ctx, const rbl_collection *c, rbli_connection_method method, double near, double factor)
{
    rbl_collection *out = NULL;
    rbli_connection_options options = {method, near, factor};
    assert_ok(ctx, rbli_connection_graph(ctx, c, &options, &out));
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_GEOMETRY));
    return out;
}

static size_t count_connections(
    rbl_context *ctx, const rbl_collection *c, rbli_connection_method method, double near, double factor)
{
    rbl_collection *out = connect(ctx, c, method, near, factor);
    size_t count = rbli_collection_size(out, "connection");
    assert_true(rbli_collection_has_group(out, "connection"));
    rbli_collection_release(out);
    return count;
}

static void each_method_on_a_lattice(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *touching = make_lattice(ctx, 3, 3, 1), *apart = make_lattice(ctx, 3, 3, 0.75);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_PROXIMITY, 5, 1), 54);
    assert_int_equal(count_connections(ctx, apart, RBLI_CONNECT_PROXIMITY, 5, 1), 0);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_DELAUNAY, 5, 1), 54);
    assert_int_equal(count_connections(ctx, apart, RBLI_CONNECT_DELAUNAY, 5, 1), 54);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_MINIMAL_SPANNING, 5, 1), 54);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_MINIMAL_SPANNING, 1.001, 1), 54);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_MINIMAL_SPANNING, 0.999, 1), 26);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_MINIMAL_SPANNING, 0.501, 4), 54);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_MINIMAL_SPANNING, 1.5, 0.25), 26);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_MINIMAL_SPANNING, 0, 0), 26);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_BOUNDS_FILTERED, 5, 1), 54);
    assert_int_equal(count_connections(ctx, apart, RBLI_CONNECT_BOUNDS_FILTERED, 5, 1), 0);
    /* Faces, edges and corners: all with a common vertex. */
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_POINT_IMPLICIT, 5, 1), 54 + 72 + 32);
    assert_int_equal(count_connections(ctx, apart, RBLI_CONNECT_POINT_IMPLICIT, 5, 1), 0);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_POINT_IMPLICIT_AUGMENTED, 0, 1), 158);
    assert_int_equal(count_connections(ctx, apart, RBLI_CONNECT_POINT_IMPLICIT_AUGMENTED, 0, 1), 26);
    assert_int_equal(count_connections(ctx, touching, RBLI_CONNECT_NONE, 5, 1), 0);
    rbli_collection_release(touching);
    rbli_collection_release(apart);
    finish_context(ctx);
}

/// In a plane, on a line, all in one place, one alone, none.
static void degenerate_centres_are_ordinary(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *plane = make_lattice(ctx, 5, 1, 1);
    assert_int_equal(count_connections(ctx, plane, RBLI_CONNECT_DELAUNAY, 5, 1), 40);
    assert_int_equal(count_connections(ctx, plane, RBLI_CONNECT_MINIMAL_SPANNING, 0, 1), 24);
    rbli_collection_release(plane);
    double boxes[8][2][3];
    for (size_t count = 0; count <= 8; count++)
        for (int place = 0; place < 2; place++) { /* in a row, or all in one place */
            for (size_t i = 0; i < count; i++)
                for (int k = 0; k < 3; k++) {
                    boxes[i][0][k] = k == 0 && !place ? (double)i : 0;
                    boxes[i][1][k] = boxes[i][0][k] + 1;
                }
            rbl_collection *row = make_solids(ctx, count, (const double(*)[2][3])boxes);
            size_t expected = count ? count - 1 : 0;
            assert_int_equal(count_connections(ctx, row, RBLI_CONNECT_DELAUNAY, 5, 1), expected);
            assert_int_equal(count_connections(ctx, row, RBLI_CONNECT_MINIMAL_SPANNING, 0, 1), expected);
            size_t inside = place ? count * expected / 2 : expected;
            assert_int_equal(count_connections(ctx, row, RBLI_CONNECT_POINT_IMPLICIT, 5, 1), inside);
            rbli_collection_release(row);
        }
    finish_context(ctx);
}

/// Two clusters of four cubes: each is connected for itself, and both below the root.
static void clusters_are_connected_one_by_one(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_lattice(ctx, 2, 2, 1), *near = NULL;
    int32_t parents[2] = {0, 0}, first, *parent;
    const char *names[2] = {"left", "right"};
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 2, parents, names, RBLI_BONE_CLUSTER, &first));
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "parent", RBL_INT32, (void **)(void *)&parent));
    for (int i = 0; i < 8; i++)
        parent[1 + i] = first + i % 2;
    assert_ok(ctx, rbli_hierarchy_sort(ctx, c));
    rbli_proximity_options options = {.contact_area = RBLI_AREA_GEOMETRY};
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &near));
    for (int method = RBLI_CONNECT_PROXIMITY; method <= RBLI_CONNECT_BOUNDS_FILTERED; method++) {
        rbl_collection *out = connect(ctx, near, (rbli_connection_method)method, 5, 1);
        const int32_t(*bones)[2] = rbli_collection_read(out, "connection", "bones", RBL_INT32_2);
        const double *area = rbli_collection_read(out, "connection", "area", RBL_DOUBLE);
        const int32_t *up = rbli_collection_read(out, "bone", "parent", RBL_INT32);
        assert_int_equal(rbli_collection_size(out, "connection"), 4 + 4 + 1);
        for (size_t i = 0; i < 9; i++) {
            assert_int_equal(up[bones[i][0]], up[bones[i][1]]);
            assert_close(area[i], up[bones[i][0]] == 0 ? 4 : 1, 1e-12);
        }
        rbli_collection_release(out);
    }
    /* Without areas in the collection they are unknown. */
    rbl_collection *out = connect(ctx, c, RBLI_CONNECT_DELAUNAY, 5, 1);
    assert_true(*(const double *)rbli_collection_read(out, "connection", "area", RBL_DOUBLE) == -1);
    rbli_collection_release(out);
    /* The method by contacts finds them itself. */
    out = connect(ctx, c, RBLI_CONNECT_PROXIMITY, 5, 1);
    assert_true(*(const double *)rbli_collection_read(out, "connection", "area", RBL_DOUBLE) == 4);
    rbli_collection_release(out);
    rbli_collection_release(near);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// Among neighbours there is always a tree of least length: compares with that over all pairs (Prim).
static void spanning_trees_are_shortest(void **state)
{
    (void)state;
    enum { SEED = 51, COUNT = 60 };
    print_message("seed %d\n", SEED);
    rbl_context *ctx = make_context(1);
    for (size_t round = 0; round < 12; round++) {
        double boxes[COUNT][2][3], center[COUNT][3];
        for (size_t i = 0; i < COUNT; i++) {
            rbli_rng rng = rbli_rng_make(SEED, RBLI_RNG_TEST, COUNT * round + i);
            for (int k = 0; k < 3; k++) { /* also on lattices, where many are as short */
                boxes[i][0][k] = round % 3 == 0 ? 3 * rbli_rng_below(&rng, 4) : 20 * rbli_rng_double(&rng);
                boxes[i][1][k] = boxes[i][0][k] + 1;
                center[i][k] = boxes[i][0][k] + 0.5;
            }
        }
        rbl_collection *c = make_solids(ctx, COUNT, (const double(*)[2][3])boxes);
        rbl_collection *out = connect(ctx, c, RBLI_CONNECT_MINIMAL_SPANNING, 0, 1);
        const int32_t(*bones)[2] = rbli_collection_read(out, "connection", "bones", RBL_INT32_2);
        double sum = 0, expected = 0, nearest[COUNT];
        bool in[COUNT] = {true};
        for (size_t i = 0; i < rbli_collection_size(out, "connection"); i++) {
            const double *p = center[bones[i][0] - 1], *q = center[bones[i][1] - 1];
            sum += sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                        (p[2] - q[2]) * (p[2] - q[2]));
        }
        for (size_t i = 0; i < COUNT; i++)
            nearest[i] = HUGE_VAL;
        for (size_t step = 1, last = 0; step < COUNT; step++) {
            size_t best = 0;
            for (size_t i = 0; i < COUNT; i++) {
                if (in[i]) continue;
                double square = 0;
                for (int k = 0; k < 3; k++)
                    square += (center[i][k] - center[last][k]) * (center[i][k] - center[last][k]);
                nearest[i] = fmin(nearest[i], sqrt(square));
                if (in[best] || nearest[i] < nearest[best]) best = i;
            }
            expected += nearest[best];
            in[best] = true;
            last = best;
        }
        assert_close(sum, expected, 1e-9 * expected);
        rbli_collection_release(out);
        rbli_collection_release(c);
    }
    finish_context(ctx);
}

static void pieces_inside_others_are_found(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    /* A crumb deep inside the first; a corner in it; a rod through it without a vertex in it; one beside. */
    double boxes[5][2][3] = {{{0, 0, 0}, {2, 2, 2}}, {{0.9, 0.9, 0.9}, {1, 1, 1}},
        {{1.5, 1.5, 1.5}, {3, 3, 3}}, {{-1, 0.2, 0.2}, {3, 0.3, 0.3}}, {{2.1, 0, 0}, {2.9, 1, 0.1}}};
    rbl_collection *c = make_solids(ctx, 5, (const double(*)[2][3])boxes);
    rbl_collection *out = connect(ctx, c, RBLI_CONNECT_POINT_IMPLICIT, 5, 1);
    const int32_t(*bones)[2] = rbli_collection_read(out, "connection", "bones", RBL_INT32_2);
    assert_int_equal(rbli_collection_size(out, "connection"), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bones[i][0], 1);
        assert_int_equal(bones[i][1], 2 + i);
    }
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_method_on_a_lattice),
        cmocka_unit_test(degenerate_centres_are_ordinary),
        cmocka_unit_test(clusters_are_connected_one_by_one),
        cmocka_unit_test(spanning_trees_are_shortest),
        cmocka_unit_test(pieces_inside_others_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
