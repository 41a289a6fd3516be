#ifndef RUBBLE_TESTS_GEOMETRY_HULL_CHECK_H
#define RUBBLE_TESTS_GEOMETRY_HULL_CHECK_H

/// Checks of hulls from their triangles alone, and hulls to try things on.

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/hull_edit.h"
#include "tests/check.h"

static inline double hull_size(const rbli_hull *hull)
{
    double low[3], high[3];
    rbli_hull_bounds(hull, low, high);
    return fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
}

/// Closed (by Euler's formula and edges met once in each direction), convex, with volume.
static inline void check_hull(const rbli_hull *hull)
{
    double size = hull_size(hull);
    assert_int_equal(hull->triangle_count, 2 * hull->point_count - 4);
    for (size_t i = 0; i < 3 * hull->triangle_count; i++) {
        int32_t from = hull->triangles[i / 3][i % 3], to = hull->triangles[i / 3][(i + 1) % 3];
        int same = 0, back = 0;
        for (size_t j = 0; j < 3 * hull->triangle_count; j++) {
            int32_t a = hull->triangles[j / 3][j % 3], b = hull->triangles[j / 3][(j + 1) % 3];
            same += a == from && b == to;
            back += a == to && b == from;
        }
        assert_int_equal(same, 1);
        assert_int_equal(back, 1);
    }
    for (size_t i = 0; i < hull->point_count; i++)
        assert_true(rbli_hull_height(hull, hull->points[i]) <= 1e-9 * size);
    assert_true(hull->volume > 0);
}

static inline void check_holds(const rbli_hull *hull, const double (*points)[3], size_t count)
{
    double size = hull_size(hull);
    for (size_t i = 0; i < count; i++)
        assert_true(rbli_hull_height(hull, points[i]) <= 1e-9 * size);
}

static inline void random_hull(
    rbl_context *ctx, rbli_rng *rng, size_t count, const double center[3], double radius, rbli_hull *out)
{
    double points[512][3];
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = 512;
    assert_true(count <= 512);
    for (size_t i = 0; i < count; i++) {
        double d = 0;
        do {
            d = 0;
            for (int k = 0; k < 3; k++) {
                points[i][k] = 2 * rbli_rng_double(rng) - 1;
                d += points[i][k] * points[i][k];
            }
        } while (d > 1 || d < 0.01);
        for (int k = 0; k < 3; k++)
            points[i][k] = center[k] + radius * points[i][k] / sqrt(d);
    }
    assert_ok(ctx, rbli_convex_hull(ctx, (const double(*)[3])points, count, &options, out));
}

static inline void box_hull(rbl_context *ctx, const double low[3], const double high[3], rbli_hull *out)
{
    double points[8][3];
    rbli_hull_options options = rbli_hull_default_options();
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            points[i][k] = (i >> k & 1) ? high[k] : low[k];
    assert_ok(ctx, rbli_convex_hull(ctx, (const double(*)[3])points, 8, &options, out));
}

#endif
