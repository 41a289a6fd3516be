/// Cracks, T-junctions and triangles without area.

#include "tests/geometry/repair_help.h"

/* Triangles without area, T-junctions, cracks */

static void a_bridge_without_area_stays(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t v = add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - TOP);
    int32_t m = add_vertex(s, 0.5, 0, 1);
    add_triangle(s, v + 4, m, v + 6);
    add_triangle(s, m, v + 5, v + 7);
    add_triangle(s, m, v + 7, v + 6);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL); /* as a T-junction */
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->split_edges, 1);
    assert_int_equal(r->triangle_count, 14);
    rbli_repair_result_destroy(ctx, r);

    add_triangle(s, v + 4, v + 5, m); /* and with the bridge */
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->split_edges, 0);
    assert_int_equal(r->dropped_zero_area, 0);
    assert_int_equal(r->shells[0].self_crossings, 0);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void harmless_triangles_without_area_go(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t v = add_box(s, 0, 0, 0, 1, 1, 1);
    add_triangle(s, v, v, v + 1);
    add_triangle(s, add_vertex(s, 3, 0, 0), add_vertex(s, 3, 1, 0), add_vertex(s, 3, 2, 0));
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_repeated, 1);
    assert_int_equal(r->dropped_zero_area, 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void cracks_below_the_tolerance_close(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        soup *s = make_soup();
        rbli_rng rng = rbli_rng_make(11, RBLI_RNG_TEST, seed);
        if (seed % 2) {
            add_torus(s, 12, 8);
        } else {
            add_box(s, 0, 0, 0, 1, 2, 1);
        }
        unshare(s);
        for (size_t v = 0; v < s->vertex_count; v++)
            for (int k = 0; k < 3; k++)
                s->positions[v][k] += 4e-7 * (rbli_rng_double(&rng) - 0.5);
        shuffle(s, &rng);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
        assert_int_equal(r->shell_count, 1);
        assert_int_equal(r->hole_count, 0);
        assert_int_equal(r->triangle_count, s->triangle_count);
        assert_true(r->largest_move > 0 && r->largest_move < 1e-6 * 4);
        rbli_repair_result_destroy(ctx, r);

        rbli_repair_options options = rbli_repair_default_options();
        options.stitch = 0;
        r = repair_and_check(ctx, s, &options);
        assert_int_equal(r->shell_count, s->triangle_count);
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

/// Random triangles of a torus are cut in two along one edge only, and some vertices are split: the closed
/// mesh and its volume come back.
static void t_junctions_close(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        soup *s = make_soup(), *original = make_soup();
        rbli_rng rng = rbli_rng_make(12, RBLI_RNG_TEST, seed);
        add_torus(original, 14, 9);
        add_torus(s, 14, 9);
        size_t count = s->triangle_count;
        for (size_t t = 0; t < count; t += 1 + rbli_rng_below(&rng, 4)) {
            int k = (int)rbli_rng_below(&rng, 3);
            int32_t a = s->triangles[t][k], b = s->triangles[t][(k + 1) % 3],
                    c = s->triangles[t][(k + 2) % 3];
            const double *p = s->positions[a], *q = s->positions[b];
            int parts = 2 + (int)rbli_rng_below(&rng, 3);
            int32_t last = a;
            for (int i = 1; i <= parts; i++) {
                double w = (i - 0.4 * rbli_rng_double(&rng)) / parts; /* both sides may have vertices here */
                int32_t next = i == parts ? b
                                          : add_vertex(s, p[0] + w * (q[0] - p[0]), p[1] + w * (q[1] - p[1]),
                                                p[2] + w * (q[2] - p[2]));
                if (i == 1) {
                    s->triangles[t][(k + 1) % 3] = next;
                } else {
                    add_triangle(s, last, next, c);
                }
                last = next;
            }
        }
        if (seed % 2) unshare(s);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL), *o = repair_and_check(ctx, original, NULL);
        expect(ctx, r, 1, 0, 0, 0, volume_of(o));
        assert_int_equal(r->hole_count, 0);
        assert_true(r->split_edges > 0);
        rbli_repair_result_destroy(ctx, r);
        rbli_repair_result_destroy(ctx, o);
        free(s);
        free(original);
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bridge_without_area_stays),
        cmocka_unit_test(harmless_triangles_without_area_go),
        cmocka_unit_test(cracks_below_the_tolerance_close),
        cmocka_unit_test(t_junctions_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
