/// Holes: which are filled, and how.

#include "tests/geometry/repair_help.h"

/* Holes */

static void a_missing_lid_is_filled(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - TOP);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->hole_count, 1);
    assert_int_equal(r->holes[0].edge_count, 4);
    assert_close(r->holes[0].length, 4, 1e-12);
    assert_close(r->holes[0].center[2], 1, 1e-12);
    assert_int_equal(r->shells[0].filled_loop_count, 1);
    assert_close(r->shells[0].filled_area, 1, 1e-12);
    rbli_repair_result_destroy(ctx, r);

    rbli_repair_options options = rbli_repair_default_options();
    options.fill = RBLI_FILL_NONE;
    r = repair_and_check(ctx, s, &options);
    expect(ctx, r, 0, 0, 1, 0, 0);
    assert_int_equal(r->hole_count, 1);
    assert_false(r->holes[0].filled);
    assert_string_equal(r->shells[0].why, "it is open");
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void planar_fill_leaves_bent_holes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - TOP - RIGHT);
    rbli_repair_options options = rbli_repair_default_options();
    options.fill = RBLI_FILL_PLANAR;
    rbli_repair_result *r = repair_and_check(ctx, s, &options);
    expect(ctx, r, 0, 0, 1, 0, 0);
    rbli_repair_result_destroy(ctx, r);
    r = repair_and_check(ctx, s, NULL);
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/// A square pipe without its upper end: the hole is a ring.
static void a_ring_is_filled_as_a_ring(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t o = add_sides(s, (double[]){0, 0, 0}, (double[]){3, 3, 2}, LEFT | RIGHT | FRONT | BACK);
    size_t first = s->triangle_count;
    int32_t i = add_sides(s, (double[]){1, 1, 0}, (double[]){2, 2, 2}, LEFT | RIGHT | FRONT | BACK);
    turn_from(s, first);
    static const int around[4] = {0, 2, 3, 1};
    for (int k = 0; k < 4; k++) {
        int a = around[k], b = around[(k + 1) % 4];
        add_quad(s, o + a, o + b, i + b, i + a);
    }
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 16);
    assert_int_equal(r->hole_count, 2);
    assert_close(r->shells[0].filled_area, 8, 1e-9);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void flat_and_pocket_fills_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_quad(
        s, add_vertex(s, 0, 0, 0), add_vertex(s, 1, 0, 0), add_vertex(s, 1, 1, 0), add_vertex(s, 0, 1, 0));
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 0, 0, 1, 0, 0);
    assert_string_equal(r->shells[0].why, "filling refused: it would be flat");
    rbli_repair_result_destroy(ctx, r);

    /* A pocket beside a larger solid: its filled volume is negative. */
    memset(s, 0, sizeof *s);
    add_box(s, 0, 0, 0, 4, 4, 4);
    size_t first = s->triangle_count;
    add_sides(s, (double[]){10, 0, 0}, (double[]){11, 1, 1}, ALL - TOP);
    turn_from(s, first);
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 1, 0, 64);
    assert_string_equal(r->shells[1].why, "filling refused: it would be inside out");
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/// Two sides of a box are a bent sheet: a bent fill would be larger than they are. Four sides are a box.
static void a_bent_fill_is_not_most_of_what_is_there(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, BOTTOM | LEFT);
    rbli_repair_options options = rbli_repair_default_options();
    rbli_repair_result *r = repair_and_check(ctx, s, &options);
    expect(ctx, r, 0, 0, 1, 0, 0);
    assert_string_equal(r->shells[0].why, "filling refused: most of it would be new");
    rbli_repair_result_destroy(ctx, r);
    options.fill = RBLI_FILL_ALL;
    r = repair_and_check(ctx, s, &options);
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
    rbli_repair_result_destroy(ctx, r);
    memset(s, 0, sizeof *s);
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, BOTTOM | LEFT | FRONT | BACK);
    r = repair_and_check(ctx, s, NULL);
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void a_wide_rim_is_filled_with_a_fan(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    enum { N = 200 };
    int32_t apex = add_vertex(s, 0, 0, -1);
    for (int i = 0; i < N; i++) {
        double u = 2 * 3.14159265358979 * i / N;
        add_vertex(s, cos(u), sin(u), 0.2 * cos(3 * u)); /* not planar, more than 160 edges */
    }
    for (int i = 0; i < N; i++)
        add_triangle(s, apex, apex + 1 + (i + 1) % N, apex + 1 + i);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
    assert_int_equal(r->triangle_count, 2 * N);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_lid_is_filled),
        cmocka_unit_test(planar_fill_leaves_bent_holes),
        cmocka_unit_test(a_ring_is_filled_as_a_ring),
        cmocka_unit_test(flat_and_pocket_fills_are_refused),
        cmocka_unit_test(a_bent_fill_is_not_most_of_what_is_there),
        cmocka_unit_test(a_wide_rim_is_filled_with_a_fan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
