#include "fracture/geometry/brick_complex.h"

#include "fracture/geometry/complex_edit.h"
#include "tests/geometry/cut_help.h"

/* Bonds: exact layouts, limits; boxes to complexes; cuts with walls in the joints. */

/// Bricks of size 4 × 1 × 1.5 over 8 × 2 × 4 at the origin (Flemish leaves a gap of 1).
static size_t layout(rbl_context *ctx, rbli_brick_bond bond, rbli_brick **bricks)
{
    rbli_brick_options o = rbli_brick_default_options();
    const double low[3] = {0, 0, 0}, high[3] = {8, 2, 4};
    size_t count;
    o.bond = bond;
    o.length = 4;
    o.height = 1;
    o.depth = 1.5;
    assert_ok(ctx, rbli_brick_layout(ctx, &o, low, high, NULL, bricks, &count));
    return count;
}

/// Expected boxes, {min, max} each.
static void check_layout(rbli_brick_bond bond, const double (*expected)[2][3], size_t expected_count)
{
    rbl_context *ctx = make_context(1);
    rbli_brick *bricks = NULL;
    size_t count = layout(ctx, bond, &bricks);
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (size_t j = 0; j < count; j++)
            found += memcmp(expected[i][0], bricks[j].min, sizeof bricks[j].min) == 0 &&
                     memcmp(expected[i][1], bricks[j].max, sizeof bricks[j].max) == 0;
        assert_int_equal(found, 1);
    }
    rbli_free(ctx, bricks);
    finish_context(ctx);
}
#define BRICK(x0, x1, y, z0, z1)                                                                             \
    {                                                                                                        \
        {x0, y, z0},                                                                                         \
        {                                                                                                    \
            x1, (y) + 1, z1                                                                                  \
        }                                                                                                    \
    }
#define CHECK(bond, list) check_layout(bond, list, sizeof list / sizeof *list)

static void stretcher_bond_shifts_odd_courses_by_half_a_length(void **state)
{
    (void)state;
    const double expected[][2][3] = {
        BRICK(0, 4, 0, 0, 1.5),
        BRICK(4, 8, 0, 0, 1.5),
        BRICK(0, 4, 0, 1.5, 3),
        BRICK(4, 8, 0, 1.5, 3),
        BRICK(0, 4, 0, 3, 4.5),
        BRICK(4, 8, 0, 3, 4.5),
        BRICK(-2, 2, 1, 0, 1.5),
        BRICK(2, 6, 1, 0, 1.5),
        BRICK(6, 10, 1, 0, 1.5),
        BRICK(-2, 2, 1, 1.5, 3),
        BRICK(2, 6, 1, 1.5, 3),
        BRICK(6, 10, 1, 1.5, 3),
        BRICK(-2, 2, 1, 3, 4.5),
        BRICK(2, 6, 1, 3, 4.5),
        BRICK(6, 10, 1, 3, 4.5),
    };
    CHECK(RBLI_BOND_STRETCHER, expected);
}

static void stack_bond_has_all_joints_in_line(void **state)
{
    (void)state;
    const double expected[][2][3] = {
        BRICK(0, 4, 0, 0, 1.5),
        BRICK(4, 8, 0, 0, 1.5),
        BRICK(0, 4, 0, 1.5, 3),
        BRICK(4, 8, 0, 1.5, 3),
        BRICK(0, 4, 0, 3, 4.5),
        BRICK(4, 8, 0, 3, 4.5),
        BRICK(0, 4, 1, 0, 1.5),
        BRICK(4, 8, 1, 0, 1.5),
        BRICK(0, 4, 1, 1.5, 3),
        BRICK(4, 8, 1, 1.5, 3),
        BRICK(0, 4, 1, 3, 4.5),
        BRICK(4, 8, 1, 3, 4.5),
    };
    CHECK(RBLI_BOND_STACK, expected);
}

static void english_bond_lays_headers_in_odd_courses(void **state)
{
    (void)state;
    const double expected[][2][3] = {
        BRICK(0, 4, 0, 0, 1.5),
        BRICK(4, 8, 0, 0, 1.5),
        BRICK(0, 4, 0, 1.5, 3),
        BRICK(4, 8, 0, 1.5, 3),
        BRICK(0, 4, 0, 3, 4.5),
        BRICK(4, 8, 0, 3, 4.5),
        BRICK(-0.75, 0.75, 1, 0, 4),
        BRICK(0.75, 2.25, 1, 0, 4),
        BRICK(2.25, 3.75, 1, 0, 4),
        BRICK(3.75, 5.25, 1, 0, 4),
        BRICK(5.25, 6.75, 1, 0, 4),
        BRICK(6.75, 8.25, 1, 0, 4),
    };
    CHECK(RBLI_BOND_ENGLISH, expected);
}

static void header_bond_shifts_odd_courses_by_half_a_depth(void **state)
{
    (void)state;
    const double expected[][2][3] = {
        BRICK(0, 1.5, 0, 0, 4),
        BRICK(1.5, 3, 0, 0, 4),
        BRICK(3, 4.5, 0, 0, 4),
        BRICK(4.5, 6, 0, 0, 4),
        BRICK(6, 7.5, 0, 0, 4),
        BRICK(7.5, 9, 0, 0, 4),
        BRICK(-0.75, 0.75, 1, 0, 4),
        BRICK(0.75, 2.25, 1, 0, 4),
        BRICK(2.25, 3.75, 1, 0, 4),
        BRICK(3.75, 5.25, 1, 0, 4),
        BRICK(5.25, 6.75, 1, 0, 4),
        BRICK(6.75, 8.25, 1, 0, 4),
    };
    CHECK(RBLI_BOND_HEADER, expected);
}

static void flemish_bond_puts_headers_over_stretchers(void **state)
{
    (void)state;
    const double expected[][2][3] = {
        BRICK(0, 4, 0, 0, 1.5),
        BRICK(0, 4, 0, 2.5, 4),
        BRICK(4, 5.5, 0, 0, 4),
        BRICK(5.5, 9.5, 0, 0, 1.5),
        BRICK(5.5, 9.5, 0, 2.5, 4),
        BRICK(-2.75, 1.25, 1, 0, 1.5),
        BRICK(-2.75, 1.25, 1, 2.5, 4),
        BRICK(1.25, 2.75, 1, 0, 4),
        BRICK(2.75, 6.75, 1, 0, 1.5),
        BRICK(2.75, 6.75, 1, 2.5, 4),
        BRICK(6.75, 8.25, 1, 0, 4),
    };
    CHECK(RBLI_BOND_FLEMISH, expected);
}

static void walls_may_run_along_z(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_brick_options o = rbli_brick_default_options();
    const double low[3] = {0, 0, 0}, high[3] = {1, 1, 4};
    rbli_brick *bricks = NULL;
    size_t count;
    o.length = 2;
    o.height = o.depth = 1;
    o.along_z = true;
    assert_ok(ctx, rbli_brick_layout(ctx, &o, low, high, NULL, &bricks, &count));
    assert_int_equal(count, 2);
    assert_close(bricks[1].min[2], 2, 0);
    assert_close(bricks[1].max[0], 1, 0);
    rbli_free(ctx, bricks);
    finish_context(ctx);
}

static void too_many_bricks_are_enlarged(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int bond = 0; bond < RBLI_BOND_COUNT; bond++)
        for (double size = 1; size < 1e9; size *= 100) {
            rbli_brick_options o = rbli_brick_default_options();
            const double low[3] = {0, 0, 0}, high[3] = {8 * size, 3 * size, size};
            rbli_brick *bricks = NULL;
            size_t count;
            double factor;
            o.bond = (rbli_brick_bond)bond;
            assert_ok(ctx, rbli_brick_layout(ctx, &o, low, high, &factor, &bricks, &count));
            assert_true(count <= 8192);
            if (factor > 1) assert_true(count > 2000);
            rbli_free(ctx, bricks);
        }
    rbli_brick_options o = rbli_brick_default_options();
    const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
    rbli_brick *bricks = NULL;
    size_t count;
    o.bond = RBLI_BOND_FLEMISH;
    o.depth = 0.1;
    assert_int_equal(rbli_brick_layout(ctx, &o, low, high, NULL, &bricks, &count), RBL_ERR_ARGUMENT);
    o.depth = 0;
    assert_int_equal(rbli_brick_layout(ctx, &o, low, high, NULL, &bricks, &count), RBL_ERR_ARGUMENT);
    finish_context(ctx);
}

static void complexes_of_all_bonds_are_closed_and_fill_the_box(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double low[3] = {0, 0, 0}, high[3] = {8, 2, 4};
    const double outer_min[3] = {-1, -1, -1}, outer_max[3] = {9, 3, 5};
    for (int bond = 0; bond < RBLI_BOND_COUNT; bond++) {
        rbli_brick *bricks = NULL;
        rbli_cell_complex *k = NULL;
        size_t count = layout(ctx, (rbli_brick_bond)bond, &bricks);
        assert_ok(ctx, rbli_box_complex(ctx, bricks, count, low, high, outer_min, outer_max, &k));
        assert_ok(ctx, rbli_cell_complex_check(ctx, k));
        bool gap = bond == RBLI_BOND_FLEMISH;
        assert_int_equal(k->cell_count, count + gap);
        assert_int_equal(k->outside_cell_count, gap);
        assert_int_equal(k->convex, !gap);
        double *volumes = malloc(k->cell_count * sizeof *volumes), sum = 0;
        assert_ok(ctx, rbli_complex_moments(ctx, k, NULL, volumes));
        for (size_t c = 0; c < k->cell_count; c++) {
            assert_true(volumes[c] > 0);
            sum += volumes[c];
        }
        assert_close(sum, 10 * 4 * 6, 1e-12);
        free(volumes);
        rbli_cell_complex_destroy(ctx, k);
        rbli_free(ctx, bricks);
    }
    finish_context(ctx);
}

static void overlapping_boxes_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const rbli_brick boxes[2] = {{{0, 0, 0}, {1, 1, 1}}, {{0.5, 0.5, 0.5}, {2, 2, 2}}};
    const double low[3] = {0, 0, 0}, high[3] = {2, 2, 2}, outer_min[3] = {-1, -1, -1},
                 outer_max[3] = {3, 3, 3};
    rbli_cell_complex *k = NULL;
    assert_int_equal(rbli_box_complex(ctx, boxes, 2, low, high, outer_min, outer_max, &k), RBL_ERR_ARGUMENT);
    finish_context(ctx);
}

/// Walls whose faces lie in joints, whole and with a hole: volumes of the pieces add up, all are closed.
static void cuts_of_coplanar_walls_are_exact(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    const double low[3] = {0, 0, 0}, high[3] = {8, 2, 4};
    const double outer_min[3] = {-1, -1, -1}, outer_max[3] = {9, 3, 5};
    for (int bond = 0; bond < RBLI_BOND_COUNT; bond++)
        for (int shape = 0; shape < 3; shape++) {
            rbli_brick *bricks = NULL;
            rbli_cell_complex *k = NULL;
            size_t count = layout(ctx, (rbli_brick_bond)bond, &bricks);
            test_mesh mesh = make_box(0, 0, 0, 8, 2, 4);
            double expected = 64;
            if (shape > 0) { /* a cavity with faces in joints, then one inside a brick */
                test_mesh hole =
                    shape == 1 ? make_box(2, 1, 1.5, 6, 1.5, 3) : make_box(1, 0.25, 0.5, 3, 0.75, 1);
                mesh_append(&mesh, &hole, true);
                expected -= shape == 1 ? 4 * 0.5 * 1.5 : 2 * 0.5 * 0.5;
                free_mesh(&hole);
            }
            assert_ok(ctx, rbli_box_complex(ctx, bricks, count, low, high, outer_min, outer_max, &k));
            rbli_mesh_view view = view_of(&mesh);
            rbli_cut_options options = {.split_islands = true};
            rbli_cut_result *r = NULL;
            assert_ok(ctx, rbli_cut(ctx, &view, k, &options, &r));
            double sum = 0;
            for (size_t p = 0; p < r->piece_count; p++) {
                int32_t first = r->triangle_start[p];
                assert_null(closed_fault(
                    (const int32_t(*)[3])r->triangles + first, (size_t)(r->triangle_start[p + 1] - first)));
                sum += r->piece_volume[p];
            }
            assert_close(sum, expected, 1e-12);
            if (shape == 0) assert_true(r->piece_count >= count);
            rbli_cut_result_destroy(ctx, r);
            rbli_cell_complex_destroy(ctx, k);
            rbli_free(ctx, bricks);
            free_mesh(&mesh);
        }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stretcher_bond_shifts_odd_courses_by_half_a_length),
        cmocka_unit_test(stack_bond_has_all_joints_in_line),
        cmocka_unit_test(english_bond_lays_headers_in_odd_courses),
        cmocka_unit_test(header_bond_shifts_odd_courses_by_half_a_depth),
        cmocka_unit_test(flemish_bond_puts_headers_over_stretchers),
        cmocka_unit_test(walls_may_run_along_z),
        cmocka_unit_test(too_many_bricks_are_enlarged),
        cmocka_unit_test(complexes_of_all_bonds_are_closed_and_fill_the_box),
        cmocka_unit_test(overlapping_boxes_are_refused),
        cmocka_unit_test(cuts_of_coplanar_walls_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
