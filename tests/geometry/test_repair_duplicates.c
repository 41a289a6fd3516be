/// Triangles that lie on one another: copies, sheets of two sides, fins and inner walls.

#include "tests/geometry/repair_help.h"

/* Duplicates, fins, walls */

static void sheets_of_two_sides_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_quad(
        s, add_vertex(s, 0, 0, 0), add_vertex(s, 1, 0, 0), add_vertex(s, 1, 1, 0), add_vertex(s, 0, 1, 0));
    add_triangle(s, 0, 2, 1);
    add_triangle(s, 0, 3, 2);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 0, 0, 0, 1, 0);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void copies_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 1, 1, 1);
    add_triangle(s, s->triangles[4][1], s->triangles[4][2], s->triangles[4][0]);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_duplicates, 1);
    rbli_repair_result_destroy(ctx, r);

    memset(s, 0, sizeof *s);
    add_box(s, 0, 0, 0, 1, 1, 1);
    add_box(s, 0, 0, 0, 1, 1, 1);
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_duplicates, 12);
    rbli_repair_result_destroy(ctx, r);

    turn_from(s, 12);
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_opposite, 12);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/// A double-sided lid on an open box: one side closes it.
static void a_lid_of_two_sides_keeps_one(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 1, 1, 1);
    size_t first = s->triangle_count;
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, TOP);
    turn_from(s, first);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_opposite, 2);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void fins_come_off(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t v = add_box(s, 0, 0, 0, 1, 1, 1);
    int32_t tip = add_vertex(s, 0.5, 1.5, 1);
    add_triangle(s, v + 6, v + 7, tip);
    add_triangle(s, v + 7, v + 6, tip);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 1, 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void inner_walls_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int turned = 0; turned < 2; turned++) {
        soup *s = make_soup();
        add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - RIGHT);
        add_sides(s, (double[]){1, 0, 0}, (double[]){2, 1, 1}, ALL - LEFT);
        size_t first = s->triangle_count;
        add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, RIGHT);
        if (turned) turn_from(s, first);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        expect(ctx, r, 1, 0, 0, 0, 2);
        assert_int_equal(r->membrane_triangles, 2);
        assert_int_equal(r->nonmanifold_edges, 4);
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

static void several_inner_walls_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    for (int i = 0; i < 5; i++) {
        int sides = FRONT | BACK | BOTTOM | TOP | RIGHT | (i == 0 ? LEFT : 0);
        add_sides(s, (double[]){i, 0, 0}, (double[]){i + 1, 1, 1}, sides);
    }
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 5);
    assert_int_equal(r->membrane_triangles, 8);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_of_two_sides_are_dropped),
        cmocka_unit_test(copies_are_dropped),
        cmocka_unit_test(a_lid_of_two_sides_keeps_one),
        cmocka_unit_test(fins_come_off),
        cmocka_unit_test(inner_walls_are_dropped),
        cmocka_unit_test(several_inner_walls_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
