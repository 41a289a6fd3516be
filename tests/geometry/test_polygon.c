#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/polygon.h"

/// Triangulates points in order and checks what always holds: count − 2 triangles, each polygon edge once,
/// other edges in pairs. Returns the smallest area of a triangle (doubled, projected on z) and the sum of
/// areas.
static double triangulate(
    rbl_context *ctx, const double (*points)[3], size_t count, int32_t (*triangles)[3], double *smallest)
{
    int32_t *corners = calloc(count, sizeof *corners);
    int *edges = calloc(count * count, sizeof *edges);
    for (size_t i = 0; i < count; i++)
        corners[i] = (int32_t)i;
    assert_ok(ctx, rbli_polygon_triangulate(ctx, points, corners, 1, count, triangles));
    double sum = 0, least = INFINITY;
    for (size_t t = 0; t + 2 < count; t++) {
        const double *a = points[triangles[t][0]], *b = points[triangles[t][1]], *c = points[triangles[t][2]];
        double area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        sum += area;
        if (area < least) least = area;
        for (int k = 0; k < 3; k++)
            edges[(size_t)triangles[t][k] * count + (size_t)triangles[t][(k + 1) % 3]]++;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int forward = edges[i * count + j], back = edges[j * count + i];
            if (j == (i + 1) % count) {
                assert_int_equal(forward, 1 + back);
            } else if (i != (j + 1) % count) {
                assert_int_equal(forward, back);
            }
        }
    free(corners);
    free(edges);
    if (smallest) *smallest = least;
    return sum;
}

static void convex_polygons_are_fans(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double square[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    int32_t t[2][3];
    assert_close(triangulate(ctx, square, 4, t, NULL), 2, 0);
    assert_int_equal(t[0][0], 0);
    assert_int_equal(t[1][0], 0);
    finish_context(ctx);
}

static void concave_and_collinear_corners_give_no_flat_triangle(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    int32_t t[10][3];
    double least;
    const double arrow[4][3] = {{0, 0, 0}, {2, -1, 0}, {0.5, 0, 0}, {2, 1, 0}};
    assert_close(triangulate(ctx, arrow, 4, t, &least), 1, 1e-15); /* doubled */
    const double dart[4][3] = {{2, -1, 3}, {0.5, 0, 3}, {2, 1, 3}, {0, 0, 3}};
    triangulate(ctx, dart, 4, t, &least);
    assert_true(least > 0);
    const double middle[6][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {0, 1, 0}};
    assert_close(triangulate(ctx, middle, 6, t, &least), 4, 0);
    assert_true(least > 0);
    /* A wall with a doorway let in from below, collinear corners on both sides. */
    const double door[8][3] = {
        {0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {2, 2, 0}, {2, 0, 0}, {3, 0, 0}, {3, 3, 0}, {0, 3, 0}};
    assert_close(triangulate(ctx, door, 8, t, &least), 14, 0);
    assert_true(least > 0);
    finish_context(ctx);
}

static void a_hole_reached_by_a_bridge_stays_a_hole(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    int32_t t[8][3];
    double least;
    const double keyhole[10][3] = {{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {0, 0, 0}, {1, 1, 0},
        {1, 3, 0}, {3, 3, 0}, {3, 1, 0}, {1, 1, 0}};
    assert_close(triangulate(ctx, keyhole, 10, t, &least), 2 * (16 - 4), 0);
    assert_true(least > 0);
    finish_context(ctx);
}

static void degenerate_polygons_still_give_all_triangles(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    int32_t t[10][3];
    const double point[5][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    triangulate(ctx, point, 5, t, NULL);
    const double line[6][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {5, 0, 0}, {3, 0, 0}, {1, 0, 0}};
    triangulate(ctx, line, 6, t, NULL);
    const double bow[4][3] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}};
    triangulate(ctx, bow, 4, t, NULL);
    const double star[5][3] = {{0, 1, 0}, {-0.6, -0.8, 0}, {0.95, 0.3, 0}, {-0.95, 0.3, 0}, {0.6, -0.8, 0}};
    triangulate(ctx, star, 5, t, NULL);
    const double huge[4][3] = {{-1e308, 0, 0}, {1e308, -1e308, 0}, {0, 0, 0}, {1e308, 1e308, 1}};
    triangulate(ctx, huge, 4, t, NULL);
    const double spike[7][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {1, 2, 0}, {1, 5, 0}, {1, 2, 0}, {0, 2, 0}};
    triangulate(ctx, spike, 7, t, NULL);
    finish_context(ctx);
}

/// A polygon around the origin with random radii, on a small grid of radii so that corners are often
/// collinear.
static void random_star_polygons_are_covered_exactly(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    uint32_t seed = 11;
    print_message("seed %u\n", seed);
    static const double direction[16][2] = {{8, 0}, {8, 2}, {8, 8}, {2, 8}, {0, 8}, {-2, 8}, {-8, 8}, {-8, 2},
        {-8, 0}, {-8, -2}, {-8, -8}, {-2, -8}, {0, -8}, {2, -8}, {8, -8}, {8, -2}};
    for (uint64_t i = 0; i < 20000; i++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, i);
        double points[16][3], area = 0, least;
        int32_t t[14][3];
        uint32_t start = rbli_rng_below(&rng, 16);
        for (uint32_t k = 0; k < 16; k++) {
            double radius = 1 + rbli_rng_below(&rng, 4);
            points[k][0] = radius * direction[(k + start) % 16][0];
            points[k][1] = radius * direction[(k + start) % 16][1];
            points[k][2] = i % 2 ? points[k][0] / 4 : 7;
        }
        for (size_t k = 0; k < 16; k++) {
            const double *p = points[k], *q = points[(k + 1) % 16];
            area += p[0] * q[1] - p[1] * q[0];
        }
        assert_close(triangulate(ctx, (const double(*)[3])points, 16, t, &least), area, 0);
        assert_true(least > 0);
    }
    finish_context(ctx);
}

static void a_large_comb_is_quick_enough(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    enum { TEETH = 1000, COUNT = 2 * TEETH + 2 };
    double(*points)[3] = calloc(COUNT, sizeof *points);
    int32_t(*triangles)[3] = calloc(COUNT, sizeof *triangles);
    size_t n = 0;
    points[n][0] = 0, points[n++][1] = -1;
    points[n][0] = 2 * TEETH, points[n++][1] = -1;
    for (int k = TEETH; k > 0; k--) {
        points[n][0] = 2 * k, points[n++][1] = 5;
        points[n][0] = 2 * k - 1, points[n++][1] = 0;
    }
    double least;
    triangulate(ctx, (const double(*)[3])points, n, triangles, &least);
    assert_true(least > 0);
    free(points);
    free(triangles);
    finish_context(ctx);
}

static void orientation_is_exact(void **state)
{
    (void)state;
    /* Shewchuk's example: points a few ulps from the diagonal. */
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            double a[2] = {0.5 + i * 0x1p-53, 0.5 + j * 0x1p-53}, b[2] = {12, 12}, c[2] = {24, 24};
            double x = a[0] - a[1];
            /* b and c lie on the diagonal: the side is the sign of y − x */
            assert_int_equal(rbli_orient_2d(b, c, a), (x < 0) - (x > 0));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convex_polygons_are_fans),
        cmocka_unit_test(concave_and_collinear_corners_give_no_flat_triangle),
        cmocka_unit_test(a_hole_reached_by_a_bridge_stays_a_hole),
        cmocka_unit_test(degenerate_polygons_still_give_all_triangles),
        cmocka_unit_test(random_star_polygons_are_covered_exactly),
        cmocka_unit_test(a_large_comb_is_quick_enough),
        cmocka_unit_test(orientation_is_exact),
    };
    return cmocka_run_group_tests_name("geometry/polygon", tests, NULL, NULL);
}
