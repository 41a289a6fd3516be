#include "tests/geometry/hull_check.h"

static void sections_halve_boxes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_hull box, part;
    bool empty;
    box_hull(ctx, (double[3]){0, 0, 0}, (double[3]){2, 3, 4}, &box);
    assert_ok(ctx, rbli_hull_clip(ctx, &box, (double[4]){0, 0, 1, 1}, &part, &empty));
    assert_false(empty);
    check_hull(&part);
    assert_close(part.volume, 6, 1e-9);
    rbli_hull_free(ctx, &part);
    assert_ok(ctx, rbli_hull_clip(ctx, &box, (double[4]){0, 0, 1, 9}, &part, &empty));
    assert_close(part.volume, 24, 1e-12);
    rbli_hull_free(ctx, &part);
    assert_ok(ctx, rbli_hull_clip(ctx, &box, (double[4]){0, 0, 1, 0}, &part, &empty));
    assert_true(empty);
    rbli_hull_free(ctx, &box);
    finish_context(ctx);
}

static void both_sides_make_the_whole(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(7, RBLI_RNG_TEST, 0);
    for (int round = 0; round < 60; round++) {
        rbli_hull hull, a, b;
        bool no_a, no_b;
        double plane[4], length = 0, range[2];
        random_hull(ctx, &rng, 6 + (size_t)round, (double[3]){5, -3, 2}, 2, &hull);
        for (int k = 0; k < 3; k++) {
            plane[k] = rbli_rng_double(&rng) - 0.5;
            length += plane[k] * plane[k];
        }
        for (int k = 0; k < 3; k++)
            plane[k] /= sqrt(length);
        rbli_hull_range(&hull, plane, range);
        plane[3] = range[0] + (0.2 + 0.6 * rbli_rng_double(&rng)) * (range[1] - range[0]);
        assert_ok(ctx, rbli_hull_clip(ctx, &hull, plane, &a, &no_a));
        double back[4] = {-plane[0], -plane[1], -plane[2], -plane[3]};
        assert_ok(ctx, rbli_hull_clip(ctx, &hull, back, &b, &no_b));
        assert_false(no_a || no_b);
        check_hull(&a);
        check_hull(&b);
        assert_close(a.volume + b.volume, hull.volume, 1e-6 * hull.volume);
        rbli_hull_range(&a, plane, range);
        assert_true(range[1] <= plane[3] + 1e-7);
        rbli_hull_free(ctx, &a);
        rbli_hull_free(ctx, &b);
        rbli_hull_free(ctx, &hull);
    }
    finish_context(ctx);
}

/// The least overlap along all normals of facets and of all pairs of edges.
static double brute_depth(const rbli_hull *a, const rbli_hull *b)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < a->triangle_count * 3 + a->triangle_count + b->triangle_count; i++) {
        size_t edges = b->triangle_count * 3;
        for (size_t j = 0; j < edges; j++) {
            double n[3], ra[2], rb[2], length = 0;
            if (i >= a->triangle_count * 3) {
                size_t f = i - a->triangle_count * 3;
                j = edges;
                rbli_hull_normal(
                    f < a->triangle_count ? a : b, f < a->triangle_count ? f : f - a->triangle_count, n);
            } else {
                const double *p = a->points[a->triangles[i / 3][i % 3]],
                             *q = a->points[a->triangles[i / 3][(i + 1) % 3]],
                             *r = b->points[b->triangles[j / 3][j % 3]],
                             *s = b->points[b->triangles[j / 3][(j + 1) % 3]];
                for (int k = 0; k < 3; k++) {
                    int l = (k + 1) % 3, m = (k + 2) % 3;
                    n[k] = (q[l] - p[l]) * (s[m] - r[m]) - (q[m] - p[m]) * (s[l] - r[l]);
                }
            }
            for (int k = 0; k < 3; k++)
                length += n[k] * n[k];
            if (length < 1e-12) continue;
            for (int k = 0; k < 3; k++)
                n[k] /= sqrt(length);
            rbli_hull_range(a, n, ra);
            rbli_hull_range(b, n, rb);
            least = fmin(least, fmin(ra[1] - rb[0], rb[1] - ra[0]));
        }
    }
    return least;
}

static void overlaps_are_those_of_all_axes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(11, RBLI_RNG_TEST, 0);
    int apart = 0;
    for (int round = 0; round < 60; round++) {
        rbli_hull a, b;
        rbli_hull_overlap found;
        random_hull(ctx, &rng, 4 + (size_t)(round % 9), (double[3]){0, 0, 0}, 1, &a);
        random_hull(ctx, &rng, 4 + (size_t)(round % 7),
            (double[3]){2 * rbli_rng_double(&rng), rbli_rng_double(&rng), rbli_rng_double(&rng)}, 1, &b);
        assert_ok(ctx, rbli_hull_find_overlap(ctx, &a, &b, HUGE_VAL, &found));
        double brute = brute_depth(&a, &b);
        if (brute > 0)
            assert_close(found.depth, brute, 1e-9);
        else
            assert_true(found.depth <= 1e-12);
        apart += brute <= 0;
        rbli_hull_free(ctx, &a);
        rbli_hull_free(ctx, &b);
    }
    assert_true(apart > 5 && apart < 55);
    finish_context(ctx);
}

static void copies_can_be_mirrored(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_hull box, copy;
    const double mirror[16] = {-2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1};
    box_hull(ctx, (double[3]){0, 0, 0}, (double[3]){2, 3, 4}, &box);
    assert_ok(ctx, rbli_hull_copy(ctx, &box, mirror, &copy));
    check_hull(&copy);
    assert_close(copy.volume, 48, 1e-12);
    rbli_hull_free(ctx, &box);
    rbli_hull_free(ctx, &copy);
    finish_context(ctx);
}

static void simpler_hulls_hold_the_hull(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(5, RBLI_RNG_TEST, 0);
    for (int round = 0; round < 6; round++) {
        rbli_hull hull, simple;
        random_hull(ctx, &rng, 60 + 20 * (size_t)round, (double[3]){1, 2, 3}, 1, &hull);
        assert_ok(ctx, rbli_hull_simplify_angle(ctx, &hull, 0.6, &simple));
        check_hull(&simple);
        check_holds(&simple, (const double(*)[3])hull.points, hull.point_count);
        assert_true(simple.point_count < hull.point_count);
        assert_true(simple.excess > 0);
        rbli_hull_free(ctx, &simple);
        assert_ok(ctx, rbli_hull_simplify_collapse(ctx, &hull, 0.2, 12, &simple));
        check_hull(&simple);
        check_holds(&simple, (const double(*)[3])hull.points, hull.point_count);
        assert_true(simple.point_count < hull.point_count);
        assert_true(simple.excess <= 0.2);
        assert_true(simple.triangle_count >= 12);
        rbli_hull_free(ctx, &simple);
        assert_ok(ctx, rbli_hull_simplify_collapse(ctx, &hull, 0, 12, &simple));
        assert_int_equal(simple.point_count, hull.point_count);
        rbli_hull_free(ctx, &simple);
        rbli_hull_free(ctx, &hull);
    }
    finish_context(ctx);
}

static void boxes_stay_boxes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_hull box, simple;
    box_hull(ctx, (double[3]){0, 0, 0}, (double[3]){2, 3, 4}, &box);
    assert_ok(ctx, rbli_hull_simplify_angle(ctx, &box, 0.5, &simple));
    assert_close(simple.volume, 24, 1e-9);
    rbli_hull_free(ctx, &simple);
    assert_ok(ctx, rbli_hull_simplify_collapse(ctx, &box, 10, 12, &simple));
    assert_close(simple.volume, 24, 1e-9);
    rbli_hull_free(ctx, &simple);
    rbli_hull_free(ctx, &box);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_halve_boxes),
        cmocka_unit_test(both_sides_make_the_whole),
        cmocka_unit_test(overlaps_are_those_of_all_axes),
        cmocka_unit_test(copies_can_be_mirrored),
        cmocka_unit_test(simpler_hulls_hold_the_hull),
        cmocka_unit_test(boxes_stay_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
