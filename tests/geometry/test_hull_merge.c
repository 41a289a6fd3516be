#include "fracture/geometry/hull_decompose.h"
#include "fracture/geometry/primitive.h"
#include "fracture/geometry/winding.h"
#include "tests/geometry/hull_check.h"

static const int32_t box_faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};

static void merging_stops_at_the_number(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_hull_set set = {.hulls = rbli_calloc(ctx, 6, sizeof(rbli_hull)), .count = 6};
    for (int i = 0; i < 6; i++) {
        double x = i < 3 ? i : i + 10;
        box_hull(ctx, (double[3]){x, 0, 0}, (double[3]){x + 1, 1, 1}, &set.hulls[i]);
    }
    rbli_hull_merge_options options = rbli_hull_merge_default_options();
    options.max_hulls = 2;
    assert_ok(ctx, rbli_hull_merge(ctx, &set, &options));
    assert_int_equal(set.count, 2);
    for (int i = 0; i < 2; i++) {
        check_hull(&set.hulls[i]);
        assert_close(set.hulls[i].volume, 3, 1e-9);
    }
    options.max_hulls = 1;
    options.distance = 0.1; /* too far apart */
    assert_ok(ctx, rbli_hull_merge(ctx, &set, &options));
    assert_int_equal(set.count, 2);
    double center[1][3] = {{8, 0.5, 0.5}}, radius[1] = {0.2};
    rbli_spheres spheres = {center, radius, 1};
    options.distance = -1;
    options.spheres = &spheres; /* in the gap */
    assert_ok(ctx, rbli_hull_merge(ctx, &set, &options));
    assert_int_equal(set.count, 2);
    options.spheres = NULL;
    assert_ok(ctx, rbli_hull_merge(ctx, &set, &options));
    assert_int_equal(set.count, 1);
    assert_close(set.hulls[0].volume, 16, 1e-9);
    rbli_hull_set_free(ctx, &set);
    finish_context(ctx);
}

static void many_hulls_are_merged_by_halves(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_hull_set set = {.hulls = rbli_calloc(ctx, 512, sizeof(rbli_hull)), .count = 512};
    for (int i = 0; i < 512; i++) {
        double at[3] = {i % 8, i / 8 % 8, i / 64};
        box_hull(ctx, at, (double[3]){at[0] + 1, at[1] + 1, at[2] + 1}, &set.hulls[i]);
    }
    rbli_hull_merge_options options = rbli_hull_merge_default_options();
    options.distance = 0.001;
    options.max_hulls = 1;
    assert_ok(ctx, rbli_hull_merge(ctx, &set, &options));
    assert_int_equal(set.count, 1);
    assert_close(set.hulls[0].volume, 512, 1e-6);
    rbli_hull_set_free(ctx, &set);
    finish_context(ctx);
}

/// Prisms over a polygon of unit boxes: `cells` lists (x, y) of a connected set, as one closed mesh made of
/// their outer faces.
static size_t extrude(size_t count, const int (*cells)[2], double (*positions)[3], int32_t (*triangles)[3])
{
    enum { SIDE = 6 };
    bool full[SIDE + 2][SIDE + 2] = {{false}};
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        full[cells[i][0] + 1][cells[i][1] + 1] = true;
    for (int i = 0; i < 2 * (SIDE + 1) * (SIDE + 1); i++) {
        positions[i][0] = i % (SIDE + 1);
        positions[i][1] = i / (SIDE + 1) % (SIDE + 1);
        positions[i][2] = i / ((SIDE + 1) * (SIDE + 1));
    }
    for (size_t i = 0; i < count; i++)
        for (int f = 0; f < 12; f++) {
            static const int side[12][2] = {
                {0}, {0}, {0}, {0}, {0, -1}, {0, -1}, {0, 1}, {0, 1}, {-1, 0}, {-1, 0}, {1, 0}, {1, 0}};
            int x = cells[i][0], y = cells[i][1];
            if (f >= 4 && full[x + 1 + side[f][0]][y + 1 + side[f][1]]) continue;
            for (int c = 0; c < 3; c++) {
                int v = box_faces[f][c];
                triangles[used][c] =
                    (x + (v & 1)) + (SIDE + 1) * (y + (v >> 1 & 1)) + (SIDE + 1) * (SIDE + 1) * (v >> 2);
            }
            used++;
        }
    return used;
}

static bool inside_any(const rbli_hull_set *set, const double p[3])
{
    for (size_t h = 0; h < set->count; h++)
        if (rbli_hull_height(&set->hulls[h], p) <= 1e-9) return true;
    return false;
}

static void an_l_becomes_two_boxes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const int cells[5][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {0, 2}};
    double positions[98][3], volume = 0;
    int32_t triangles[100][3];
    size_t count = extrude(5, cells, positions, triangles);
    rbli_mesh_view mesh = {(const double(*)[3])positions, 98, (const int32_t(*)[3])triangles, count};
    rbli_decompose_options options = rbli_decompose_default_options();
    rbli_hull_options hull = rbli_hull_default_options();
    rbli_hull_set set;
    assert_ok(ctx, rbli_hull_decompose(ctx, &mesh, &options, &hull, &set));
    assert_int_equal(set.count, 1);
    assert_close(set.hulls[0].volume, 7, 1e-9);
    rbli_hull_set_free(ctx, &set);
    options.max_hulls = 2;
    assert_ok(ctx, rbli_hull_decompose(ctx, &mesh, &options, &hull, &set));
    assert_int_equal(set.count, 2);
    for (size_t i = 0; i < set.count; i++) {
        check_hull(&set.hulls[i]);
        volume += set.hulls[i].volume;
    }
    assert_close(volume, 5, 1e-6);
    rbli_hull_set_free(ctx, &set);
    options.max_ratio = 0.6; /* 5 of 7 is more */
    assert_ok(ctx, rbli_hull_decompose(ctx, &mesh, &options, &hull, &set));
    assert_int_equal(set.count, 1);
    rbli_hull_set_free(ctx, &set);
    options.max_ratio = 1;
    options.min_volume = 5.5;
    assert_ok(ctx, rbli_hull_decompose(ctx, &mesh, &options, &hull, &set));
    assert_int_equal(set.count, 1);
    rbli_hull_set_free(ctx, &set);
    options.min_volume = 0;
    options.min_thickness = 2.5; /* no cut leaves that much on both sides */
    assert_ok(ctx, rbli_hull_decompose(ctx, &mesh, &options, &hull, &set));
    assert_int_equal(set.count, 1);
    rbli_hull_set_free(ctx, &set);
    finish_context(ctx);
}

static void a_ring_is_held_and_its_hole_is_free(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    int cells[20][2];
    size_t used = 0;
    for (int x = 0; x < 6; x++)
        for (int y = 0; y < 6; y++)
            if (x == 0 || y == 0 || x == 5 || y == 5) cells[used][0] = x, cells[used++][1] = y;
    double positions[98][3];
    int32_t triangles[200][3];
    size_t count = extrude(20, (const int(*)[2])cells, positions, triangles);
    rbli_mesh_view mesh = {(const double(*)[3])positions, 98, (const int32_t(*)[3])triangles, count};
    rbli_decompose_options options = rbli_decompose_default_options();
    rbli_hull_options hull = rbli_hull_default_options();
    rbli_hull_set set;
    options.max_hulls = 0;
    options.error_tolerance = 0.1;
    assert_ok(ctx, rbli_hull_decompose(ctx, &mesh, &options, &hull, &set));
    assert_true(set.count >= 4 && set.count <= 8);
    double volume = 0;
    for (size_t i = 0; i < set.count; i++) {
        check_hull(&set.hulls[i]);
        volume += set.hulls[i].volume;
    }
    assert_close(volume, 20, 0.01);
    rbli_rng rng = rbli_rng_make(3, RBLI_RNG_TEST, 0);
    for (int i = 0; i < 2000; i++) {
        double p[3] = {6 * rbli_rng_double(&rng), 6 * rbli_rng_double(&rng), rbli_rng_double(&rng)};
        bool solid = p[0] < 1 || p[1] < 1 || p[0] > 5 || p[1] > 5;
        if (solid) assert_true(inside_any(&set, p));
        bool hole = p[0] > 1.01 && p[1] > 1.01 && p[0] < 4.99 && p[1] < 4.99;
        if (hole) assert_false(inside_any(&set, p));
    }
    rbli_hull_set_free(ctx, &set);
    /* Two hulls would cover the hole: protecting it leaves more. */
    rbli_negative_space_options protect = rbli_negative_space_default_options();
    options.max_hulls = 2;
    options.error_tolerance = 0;
    options.additional_splits = 6;
    options.protect = &protect;
    assert_ok(ctx, rbli_hull_decompose(ctx, &mesh, &options, &hull, &set));
    assert_true(set.count > 2);
    assert_false(inside_any(&set, (double[3]){3, 3, 0.5}));
    rbli_hull_set_free(ctx, &set);
    finish_context(ctx);
}

/// A ball with dents is cut so often that some parts have no surface: nothing of its inside may be lost.
static void the_inside_is_held_too(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_primitive ball;
    rbli_winding *winding;
    assert_ok(ctx, rbli_primitive_make(ctx, RBLI_PRIMITIVE_SPHERE, (double[3]){2, 2, 2}, 16, &ball));
    for (size_t i = 0; i < ball.vertex_count; i++)
        for (int k = 0; k < 3; k++)
            ball.positions[i][k] *= i % 5 == 0 ? 0.55 : i % 3 == 0 ? 0.8 : 1;
    rbli_mesh_view mesh = {(const double(*)[3])ball.positions, ball.vertex_count,
        (const int32_t(*)[3])ball.triangles, ball.triangle_count};
    assert_ok(ctx, rbli_winding_create(ctx, &mesh, &winding));
    rbli_decompose_options options = rbli_decompose_default_options();
    rbli_hull_options hull = rbli_hull_default_options();
    rbli_rng rng = rbli_rng_make(9, RBLI_RNG_TEST, 0);
    for (size_t most = 6; most < 60; most *= 3) {
        rbli_hull_set set;
        size_t inside = 0;
        options.max_hulls = most;
        assert_ok(ctx, rbli_hull_decompose(ctx, &mesh, &options, &hull, &set));
        assert_true(set.count > 3 && set.count <= most);
        for (size_t i = 0; i < set.count; i++)
            check_hull(&set.hulls[i]);
        for (int i = 0; i < 3000; i++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = 2 * rbli_rng_double(&rng) - 1;
            if (rbli_winding_number(winding, p, NULL) <= 0) continue;
            inside++;
            assert_true(inside_any(&set, p));
        }
        assert_true(inside > 500);
        rbli_hull_set_free(ctx, &set);
    }
    rbli_winding_destroy(ctx, winding);
    rbli_primitive_free(ctx, &ball);
    finish_context(ctx);
}

static void spheres_lie_in_the_empty_space(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_hull boxes[2];
    rbli_spheres spheres;
    rbli_negative_space_options options = rbli_negative_space_default_options();
    box_hull(ctx, (double[3]){0, 0, 0}, (double[3]){1, 4, 4}, &boxes[0]);
    box_hull(ctx, (double[3]){3, 0, 0}, (double[3]){4, 4, 4}, &boxes[1]);
    assert_ok(ctx, rbli_negative_space(ctx, boxes, 2, NULL, &options, &spheres));
    assert_true(spheres.count >= 4 && spheres.count <= 50);
    for (size_t i = 0; i < spheres.count; i++) {
        const double *c = spheres.centers[i];
        assert_true(spheres.radii[i] >= 0.1);
        assert_true(c[0] - spheres.radii[i] >= 1.019 && c[0] + spheres.radii[i] <= 2.981);
        for (size_t j = 0; j < i; j++)
            assert_true(spheres.radii[j] >= spheres.radii[i]);
    }
    rbli_spheres_free(ctx, &spheres);
    rbli_hull_free(ctx, &boxes[0]);
    rbli_hull_free(ctx, &boxes[1]);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_stops_at_the_number),
        cmocka_unit_test(many_hulls_are_merged_by_halves),
        cmocka_unit_test(an_l_becomes_two_boxes),
        cmocka_unit_test(a_ring_is_held_and_its_hole_is_free),
        cmocka_unit_test(the_inside_is_held_too),
        cmocka_unit_test(spheres_lie_in_the_empty_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
