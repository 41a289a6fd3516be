#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/convex_hull.h"

/* Every hull is checked from its triangles alone: closed, Euler's formula, convex, and all the input points
 * inside. */

static double signed_height(const rbli_hull *hull, size_t triangle, const double p[3])
{
    const int32_t *t = hull->triangles[triangle];
    long double u[3], v[3], n[3], d[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (long double)hull->points[t[1]][k] - hull->points[t[0]][k];
        v[k] = (long double)hull->points[t[2]][k] - hull->points[t[0]][k];
        d[k] = (long double)p[k] - hull->points[t[0]][k];
    }
    long double length = 0, dot = 0;
    for (int k = 0; k < 3; k++) {
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length += n[k] * n[k];
        dot += n[k] * d[k];
    }
    assert_true(length > 0);
    return (double)(dot / sqrtl(length));
}

static void check_hull(const rbli_hull *hull, const double (*points)[3], size_t count)
{
    assert_int_equal(hull->triangle_count, 2 * hull->point_count - 4);
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, size = 0;
    for (size_t i = 0; i < hull->point_count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], hull->points[i][k]);
            high[k] = fmax(high[k], hull->points[i][k]);
            size = fmax(size, high[k] - low[k]);
        }
    size_t edge_count = 3 * hull->triangle_count;
    for (size_t i = 0; i < edge_count && hull->triangle_count < 300; i++) {
        int32_t from = hull->triangles[i / 3][i % 3], to = hull->triangles[i / 3][(i + 1) % 3];
        int same = 0, reverse = 0;
        for (size_t j = 0; j < edge_count; j++) {
            int32_t a = hull->triangles[j / 3][j % 3], b = hull->triangles[j / 3][(j + 1) % 3];
            same += a == from && b == to;
            reverse += a == to && b == from;
        }
        assert_int_equal(same, 1);
        assert_int_equal(reverse, 1);
    }
    for (size_t t = 0; t < hull->triangle_count; t++) {
        for (size_t i = 0; i < count; i++)
            assert_true(signed_height(hull, t, points[i]) <= 1e-10 * size);
        for (size_t i = 0; i < hull->point_count; i++)
            assert_true(signed_height(hull, t, hull->points[i]) <= 1e-10 * size);
    }
    assert_true(hull->volume > 0);
}

static void make(rbl_context *ctx, const double (*points)[3], size_t count, int32_t most, rbli_hull *hull)
{
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = most;
    assert_ok(ctx, rbli_convex_hull(ctx, points, count, &options, hull));
    assert_true(hull->point_count <= (size_t)most);
    check_hull(hull, points, count);
}

static double noise(uint64_t i)
{
    rbli_rng rng = rbli_rng_make(5, RBLI_RNG_TEST, i);
    return 2 * rbli_rng_double(&rng) - 1;
}

/// Points of a grid on the surface of a cube, turned by a matrix.
static size_t cube_grid(double (*points)[3], const double m[3][3], double size)
{
    size_t count = 0;
    for (int i = 0; i <= 10; i++)
        for (int j = 0; j <= 10; j++)
            for (int k = 0; k <= 10; k++) {
                if (i % 10 && j % 10 && k % 10) continue;
                double p[3] = {i * 0.1, j * 0.1, k * 0.1};
                for (int r = 0; r < 3; r++)
                    points[count][r] = size * (m[r][0] * p[0] + m[r][1] * p[1] + m[r][2] * p[2]);
                count++;
            }
    return count;
}

static void rounded_points_on_facets_are_no_vertices(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double straight[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double turned[3][3] = {
        {0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}}; /* orthonormal up to rounding */
    const double sizes[] = {1, 1e-6, 1e12, 0x1p-300, 0x1p300};
    double points[700][3];
    for (size_t s = 0; s < 5; s++)
        for (int way = 0; way < 2; way++) {
            size_t count = cube_grid(points, way ? turned : straight, sizes[s]);
            assert_int_equal(count, 602);
            rbli_hull hull;
            make(ctx, (const double(*)[3])points, count, 64, &hull);
            assert_int_equal(hull.point_count, 8);
            assert_close(hull.volume / (sizes[s] * sizes[s] * sizes[s]), 1, 1e-9);
            assert_false(hull.thickened);
            rbli_hull_free(ctx, &hull);
        }
    finish_context(ctx);
}

static void thin_plate_keeps_its_volume(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double points[8][3];
    for (int i = 0; i < 8; i++) {
        points[i][0] = i & 1 ? 3 : 0;
        points[i][1] = i & 2 ? 2 : 0;
        points[i][2] = i & 4 ? 0x1p-36 : 0;
    }
    rbli_hull hull;
    make(ctx, (const double(*)[3])points, 8, 64, &hull);
    assert_int_equal(hull.point_count, 8);
    assert_close(hull.volume * 0x1p36, 6, 1e-9);
    assert_false(hull.thickened);
    rbli_hull_free(ctx, &hull);
    finish_context(ctx);
}

static void degenerate_points_are_thickened_or_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int rank = 0; rank < 3; rank++)
        for (int far = 0; far < 2; far++) {
            double points[30][3];
            for (int i = 0; i < 30; i++) {
                double u = rank > 0 ? noise((uint64_t)i) : 0, v = rank > 1 ? noise((uint64_t)i + 100) : 0;
                points[i][0] = 0.3 * u - 0.7 * v + far * 1000;
                points[i][1] = 0.9 * u + 0.2 * v;
                points[i][2] = 0.1 * u + 0.4 * v - far * 1000;
            }
            rbli_hull hull;
            make(ctx, (const double(*)[3])points, 30, 64, &hull);
            assert_true(hull.thickened);
            rbli_hull_free(ctx, &hull);
            rbli_hull_options options = rbli_hull_default_options();
            options.on_degenerate = RBLI_DEGENERATE_ERROR;
            assert_int_equal(
                rbli_convex_hull(ctx, (const double(*)[3])points, 30, &options, &hull), RBL_ERR_MESH);
        }
    double two[2][3] = {{0, 0, 0}, {1, 1, 1}};
    rbli_hull hull;
    make(ctx, (const double(*)[3])two, 2, 64, &hull);
    rbli_hull_free(ctx, &hull);
    finish_context(ctx);
}

/// Families: a ball's surface, its inside, a needle, a flat disc, points on a small lattice, a few points.
static size_t family(int which, uint64_t seed, double (*p)[3], size_t most)
{
    size_t count = which == 5 ? 4 + seed % 12 : most;
    for (size_t i = 0; i < count; i++) {
        double length = 0;
        for (int k = 0; k < 3; k++) {
            p[i][k] = noise(seed * 100000 + 3 * i + (uint64_t)k);
            length += p[i][k] * p[i][k];
        }
        length = sqrt(length);
        for (int k = 0; k < 3; k++) {
            if (which == 0) p[i][k] /= length;
            if (which == 2) p[i][k] *= k ? 1e-4 : 1;
            if (which == 3) p[i][k] *= k == 2 ? 1e-7 : 1;
            if (which == 4) p[i][k] = rint(p[i][k] * 2);
        }
        if (which == 3) {
            double x = p[i][0], z = p[i][2];
            p[i][0] = 0.6 * x - 0.8 * z;
            p[i][2] = 0.8 * x + 0.6 * z;
        }
    }
    return count;
}

static void random_points_are_held_with_any_budget(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double points[1000][3];
    for (int which = 0; which < 6; which++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            size_t count = family(which, seed, points, seed % 2 ? 1000 : 50);
            const int32_t budgets[] = {2000, 64, 20, 8};
            double volume = 0;
            for (int b = 0; b < 4; b++) {
                rbli_hull hull;
                make(ctx, (const double(*)[3])points, count, budgets[b], &hull);
                if (b == 0) volume = hull.volume;
                assert_true(hull.volume >= volume * (1 - 1e-9));
                if (b == 1) assert_true(hull.volume < volume * 1.3);
                if (b == 0) assert_true(hull.excess == 0);
                rbli_hull_free(ctx, &hull);
            }
        }
    finish_context(ctx);
}

static void order_of_points_does_not_matter(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double points[500][3], mixed[500][3];
    family(1, 3, points, 500);
    for (int i = 0; i < 500; i++)
        memcpy(mixed[i], points[(i * 177) % 500], sizeof mixed[i]);
    rbli_hull a, b;
    make(ctx, (const double(*)[3])points, 500, 64, &a);
    make(ctx, (const double(*)[3])mixed, 500, 64, &b);
    assert_int_equal(a.point_count, b.point_count);
    assert_memory_equal(a.points, b.points, a.point_count * sizeof *a.points);
    assert_memory_equal(a.triangles, b.triangles, a.triangle_count * sizeof *a.triangles);
    rbli_hull_free(ctx, &a);
    rbli_hull_free(ctx, &b);
    finish_context(ctx);
}

static void threshold_allows_a_simpler_hull(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double points[1000][3];
    family(0, 1, points, 1000);
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = 5000;
    options.simplification_threshold = 0.1;
    rbli_hull hull;
    assert_ok(ctx, rbli_convex_hull(ctx, (const double(*)[3])points, 1000, &options, &hull));
    check_hull(&hull, (const double(*)[3])points, 1000);
    assert_true(hull.point_count < 200);
    assert_true(hull.excess > 0 && hull.excess <= 0.1);
    rbli_hull_free(ctx, &hull);
    finish_context(ctx);
}

/// Nearly on a line: a vertex stays beyond the plane of its facet, however often that is added.
static void a_large_budget_ends_where_rounding_does_not_converge(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double points[5][3] = {{13046.769141278892, -322631.41443100263, -69413.458871697032},
        {0.86096471268966468, 0.31513368351325022, 0.57943402637827091},
        {0.62946469098038482, 0.74794621554146179, 0.90439243694701088},
        {-381814.52341774304, 159277.08261414265, 355634.93605597684},
        {0.30965001109601809, 0.61224032444166276, 0.72130319623543537}};
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = 1000000;
    options.simplification_threshold = 0.2;
    rbli_hull hull;
    assert_ok(ctx, rbli_convex_hull(ctx, points, 5, &options, &hull));
    assert_true(hull.point_count >= 4 && hull.point_count < 100);
    rbli_hull_free(ctx, &hull);
    finish_context(ctx);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_hull_options options = rbli_hull_default_options();
    rbli_hull hull;
    double bad[2][3] = {{0, 0, 0}, {NAN, 0, 0}};
    assert_int_equal(rbli_convex_hull(ctx, (const double(*)[3])bad, 0, &options, &hull), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_convex_hull(ctx, (const double(*)[3])bad, 2, &options, &hull), RBL_ERR_ARGUMENT);
    options.max_vertices = 4;
    assert_int_equal(rbli_convex_hull(ctx, (const double(*)[3])bad, 1, &options, &hull), RBL_ERR_ARGUMENT);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounded_points_on_facets_are_no_vertices),
        cmocka_unit_test(thin_plate_keeps_its_volume),
        cmocka_unit_test(degenerate_points_are_thickened_or_refused),
        cmocka_unit_test(random_points_are_held_with_any_budget),
        cmocka_unit_test(order_of_points_does_not_matter),
        cmocka_unit_test(threshold_allows_a_simpler_hull),
        cmocka_unit_test(a_large_budget_ends_where_rounding_does_not_converge),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
