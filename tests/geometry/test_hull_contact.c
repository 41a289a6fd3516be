#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/hull_contact.h"

/// The hull of a box turned by a matrix.
static rbli_hull make_box(rbl_context *ctx, const double low[3], const double high[3], const double m[3][3])
{
    double points[8][3];
    for (int i = 0; i < 8; i++)
        for (int r = 0; r < 3; r++) {
            points[i][r] = 0;
            for (int k = 0; k < 3; k++)
                points[i][r] += m[r][k] * (i >> k & 1 ? high : low)[k];
        }
    rbli_hull hull;
    rbli_hull_options options = rbli_hull_default_options();
    assert_ok(ctx, rbli_convex_hull(ctx, (const double(*)[3])points, 8, &options, &hull));
    return hull;
}

static rbli_hull_contact measure(
    rbl_context *ctx, const rbli_hull *a, const rbli_hull *b, double bridge, double depth)
{
    rbli_hull_shape s, t;
    rbli_hull_contact_scratch scratch = {0};
    rbli_hull_contact out;
    assert_ok(ctx, rbli_hull_shape_create(ctx, a, true, &s));
    assert_ok(ctx, rbli_hull_shape_create(ctx, b, true, &t));
    assert_ok(ctx, rbli_hull_contact_measure(ctx, &s, &t, bridge, depth, &scratch, &out));
    rbli_hull_shape_free(ctx, &s);
    rbli_hull_shape_free(ctx, &t);
    rbli_hull_contact_scratch_free(ctx, &scratch);
    return out;
}

static const double turned[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};

/// Boxes on whole coordinates that touch, overlap or lie apart along x.
static void boxes_share_their_overlap(void **state)
{
    (void)state;
    enum { SEED = 41 };
    print_message("seed %d\n", SEED);
    rbl_context *ctx = make_context(1);
    for (size_t i = 0; i < 300; i++) {
        rbli_rng rng = rbli_rng_make(SEED, RBLI_RNG_TEST, i);
        double low[2][3], high[2][3], area = 1, width = HUGE_VAL;
        for (int b = 0; b < 2; b++)
            for (int k = 0; k < 3; k++) {
                low[b][k] = rbli_rng_below(&rng, 5);
                high[b][k] = low[b][k] + 1 + rbli_rng_below(&rng, 4);
            }
        /* Along x: touching, 0.01 apart, or 0.01 into each other. */
        double gap = i % 3 == 0 ? 0 : i % 3 == 1 ? 0.01 : -0.01, depth = high[1][0] - low[1][0];
        low[1][0] = high[0][0] + gap;
        high[1][0] = low[1][0] + depth;
        for (int k = 1; k < 3; k++) {
            double overlap = fmin(high[0][k], high[1][k]) - fmax(low[0][k], low[1][k]);
            area *= fmax(overlap, 0);
            width = fmin(width, fmax(overlap, 0));
        }
        if (area == 0) continue;
        rbli_hull a = make_box(ctx, low[0], high[0], turned), b = make_box(ctx, low[1], high[1], turned);
        rbli_hull_contact c = measure(ctx, &a, &b, gap, 1e-4);
        assert_close(c.area, area, 1e-9 * area);
        assert_close(c.width, width, 1e-9);
        for (int k = 0; k < 3; k++)
            assert_close(c.normal[k], turned[k][0], 1e-9);
        double sizes[2][2];
        for (int n = 0; n < 2; n++) {
            double y = high[n][1] - low[n][1], z = high[n][2] - low[n][2];
            sizes[n][0] = y * z;
            sizes[n][1] = fmin(y, z);
        }
        assert_close(c.most_area, fmin(sizes[0][0], sizes[1][0]), 1e-9);
        assert_close(c.most_width, fmin(sizes[0][1], sizes[1][1]), 1e-9);
        rbli_hull_free(ctx, &a);
        rbli_hull_free(ctx, &b);
    }
    finish_context(ctx);
}

static void edges_and_corners_share_next_to_nothing(void **state)
{
    (void)state;
    static const double straight[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    rbl_context *ctx = make_context(1);
    rbli_hull a = make_box(ctx, (double[]){0, 0, 0}, (double[]){1, 1, 1}, straight);
    for (int corner = 0; corner < 2; corner++) {
        rbli_hull b = make_box(ctx, (double[]){1, 1, corner ? 1 : 0.25}, (double[]){2, 2, 2}, straight);
        rbli_hull_contact c = measure(ctx, &a, &b, 0, 1e-6);
        assert_true(c.area <= 3e-6 && c.width <= 3e-6);
        rbli_hull_free(ctx, &b);
    }
    /* A tetrahedron's tip on a face: no more than the tip that reaches in. */
    double tip[4][3] = {{0.5, 0.5, 1}, {0, 0, 2}, {1, 0, 2}, {0.5, 1, 2}};
    rbli_hull b;
    rbli_hull_options options = rbli_hull_default_options();
    assert_ok(ctx, rbli_convex_hull(ctx, (const double(*)[3])tip, 4, &options, &b));
    rbli_hull_contact c = measure(ctx, &a, &b, 0, 0.01);
    assert_close(c.area, 0.5 * 0.01 * 0.01, 1e-12);
    rbli_hull_free(ctx, &b);
    rbli_hull_free(ctx, &a);
    finish_context(ctx);
}

static void shapes_have_planes_and_edges(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_hull box = make_box(ctx, (double[]){0, 0, 0}, (double[]){1, 2, 3}, turned);
    rbli_hull_shape shape;
    assert_ok(ctx, rbli_hull_shape_create(ctx, &box, true, &shape));
    assert_int_equal(shape.plane_count, 6);
    assert_int_equal(shape.edge_count, 12);
    rbli_hull_shape_free(ctx, &shape);
    rbli_hull_free(ctx, &box);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_share_their_overlap),
        cmocka_unit_test(edges_and_corners_share_next_to_nothing),
        cmocka_unit_test(shapes_have_planes_and_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
