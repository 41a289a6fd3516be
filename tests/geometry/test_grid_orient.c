/// Signs on the grid against wide integers, with many zeros.

#include "tests/check.h"

#include "fracture/base/rng.h"
#include "fracture/geometry/grid_orient.h"
#include "fracture/geometry/wide.h"

/// The determinant of d[i] + e · m[i] for a whole number e, without any filter.
static int sign_at(double p[4][3], int64_t m[4][3], int64_t e)
{
    rbli_i384 rows[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            /* p is scaled up, so that e = 1 is as good as infinitesimal */
            rbli_i128 d = (rbli_i128)((int64_t)p[i + 1][k] - (int64_t)p[0][k]) * ((rbli_i128)1 << 60) +
                          (rbli_i128)(m[i + 1][k] - m[0][k]) * e;
            rows[i][k] = rbli_i384_from_i128(d);
        }
    rbli_i384 sum = rbli_i384_from_i64(0);
    for (int k = 0; k < 3; k++) {
        int u = (k + 1) % 3, v = (k + 2) % 3;
        rbli_i384 minor =
            rbli_i384_sub(rbli_i384_mul(rows[1][u], rows[2][v]), rbli_i384_mul(rows[1][v], rows[2][u]));
        sum = rbli_i384_add(sum, rbli_i384_mul(rows[0][k], minor));
    }
    return rbli_i384_sign(sum);
}

static void signs_are_exact(void **state)
{
    (void)state;
    static const double sizes[] = {2, 3, 50, 0x1p20, 0x1p47};
    int zeros = 0;
    for (uint64_t n = 0; n < 50000; n++) {
        rbli_rng rng = rbli_rng_make(41, RBLI_RNG_TEST, n);
        double p[4][3], size = sizes[n % 5];
        int64_t m[4][3], none[4][3] = {{0}};
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++) {
                p[i][k] = (double)(int64_t)((2 * rbli_rng_double(&rng) - 1) * size);
                m[i][k] = (int64_t)rbli_rng_below(&rng, n % 3 == 0 ? 2 : 1000) - 1;
            }
        if (n % 7 == 0) /* on a plane through three others */
            for (int k = 0; k < 3; k++) {
                p[0][k] = (double)((int64_t)p[0][k] / 4);
                p[1][k] = (double)((int64_t)p[1][k] / 4);
                p[2][k] = (double)((int64_t)p[2][k] / 4);
                p[3][k] = p[0][k] + (p[1][k] - p[0][k]) + (p[2][k] - p[0][k]);
            }
        int expected = sign_at(p, none, 0);
        zeros += expected == 0;
        assert_int_equal(rbli_grid_orient3d(p[0], p[1], p[2], p[3]), expected);
        const double *points[4] = {p[0], p[1], p[2], p[3]};
        const int64_t *moves[4] = {m[0], m[1], m[2], m[3]};
        assert_int_equal(rbli_grid_orient3d_moved(points, moves), sign_at(p, m, 1));
        rbli_i128 flat = (rbli_i128)(int64_t)(p[1][0] - p[0][0]) * (int64_t)(p[2][1] - p[0][1]) -
                         (rbli_i128)(int64_t)(p[1][1] - p[0][1]) * (int64_t)(p[2][0] - p[0][0]);
        assert_int_equal(rbli_grid_orient2d(p[0], p[1], p[2], 0, 1), rbli_i128_sign(flat));
    }
    assert_true(zeros > 5000);
}

static void grids_hold_their_box(void **state)
{
    (void)state;
    static const double boxes[][2] = {{0, 1}, {-1e300, 1.7e308}, {1e-310, 2e-310}, {5, 5}, {1e6, 1e6 + 1}};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        double min[3] = {boxes[i][0], boxes[i][0], 0}, max[3] = {boxes[i][1], boxes[i][0], 0}, out[3];
        rbli_grid grid = rbli_grid_fit(min, max);
        rbli_grid_snap(&grid, min, out);
        assert_true(out[0] >= -0x1p47 && out[0] <= 0x1p47);
        rbli_grid_snap(&grid, max, out);
        assert_true(out[0] >= -0x1p47 && out[0] <= 0x1p47);
        assert_true(out[0] == (double)(int64_t)out[0]);
    }
}

static void lines_and_triangles(void **state)
{
    (void)state;
    const double a[3] = {0, 0, 0}, b[3] = {4, 2, 6}, c[3] = {2, 1, 3}, d[3] = {0, 4, 1};
    assert_true(rbli_grid_collinear(a, b, c));
    assert_true(rbli_grid_collinear(a, a, d));
    assert_false(rbli_grid_collinear(a, b, d));
    assert_true(rbli_grid_in_triangle(a, b, d, c));
    assert_true(rbli_grid_in_triangle(a, b, d, b));
    assert_true(rbli_grid_in_triangle(a, b, b, c));
    assert_false(rbli_grid_in_triangle(a, c, c, b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_are_exact),
        cmocka_unit_test(grids_hold_their_box),
        cmocka_unit_test(lines_and_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
