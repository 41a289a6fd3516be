#include "tests/check.h"

#include <gmp.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/orient.h"

/// Points for the predicate with normals from a table.
typedef struct point_set {
    double positions[8][3];
    int64_t normals[8][3];
    rbli_orient_points points;
} point_set;

static void table_normal(void *user, int32_t point, int64_t normal[3])
{
    const point_set *set = user;
    memcpy(normal, set->normals[point], sizeof(int64_t[3]));
}

static void set_points(point_set *set, int mesh_count)
{
    set->points = (rbli_orient_points){(const double(*)[3])set->positions, mesh_count, table_normal, set};
}

/* ---- the reference: the moved points with explicit tiny numbers ---- */

enum {
    EPSILON_BITS = 200, /* ε = 2^-200 */
    DELTA_BITS = 1200,  /* δ = 2^-1200, far below ε³ */
    DEEPEST = 7         /* exponents 2^0 … 2^6: the expansion ends with rows 0 … 2 at δ^(64 + 16 + 4) */
};

/// Coordinates times 2^(shift): position − ε·normal + δ^(2^(3·rank + axis)).
static void moved_coordinate(
    mpz_t out, const point_set *set, int32_t point, int rank, int axis, unsigned long shift)
{
    mpz_t term;
    mpz_init(term);
    mpz_set_d(out, set->positions[point][axis]);
    mpz_mul_2exp(out, out, shift);
    if (point < set->points.mesh_count) {
        mpz_set_si(term, set->normals[point][axis]);
        mpz_mul_2exp(term, term, shift - EPSILON_BITS);
        mpz_sub(out, out, term);
    }
    int power = 3 * rank + axis;
    if (power < DEEPEST) {
        mpz_set_ui(term, 1);
        mpz_mul_2exp(term, term, shift - ((unsigned long)DELTA_BITS << power));
        mpz_add(out, out, term);
    }
    mpz_clear(term);
}

static int reference_orient(const point_set *set, const int32_t index[4])
{
    unsigned long shift = (unsigned long)DELTA_BITS << DEEPEST;
    mpz_t m[4][3], minor, sum, product;
    for (int i = 0; i < 4; i++) {
        int rank = 0;
        for (int j = 0; j < 4; j++)
            rank += index[j] < index[i];
        for (int axis = 0; axis < 3; axis++) {
            mpz_init(m[i][axis]);
            moved_coordinate(m[i][axis], set, index[i], rank, axis, shift);
        }
    }
    for (int i = 1; i < 4; i++)
        for (int axis = 0; axis < 3; axis++)
            mpz_sub(m[i][axis], m[i][axis], m[0][axis]);
    mpz_inits(minor, sum, product, NULL);
    for (int axis = 0; axis < 3; axis++) {
        int p = (axis + 1) % 3, q = (axis + 2) % 3;
        mpz_mul(minor, m[1][p], m[2][q]);
        mpz_submul(minor, m[1][q], m[2][p]);
        mpz_mul(product, minor, m[3][axis]);
        mpz_add(sum, sum, product);
    }
    int sign = mpz_sgn(sum);
    for (int i = 0; i < 4; i++)
        for (int axis = 0; axis < 3; axis++)
            mpz_clear(m[i][axis]);
    mpz_clears(minor, sum, product, NULL);
    return sign;
}

/// Small coordinates, so that coincident, collinear and coplanar points are common; normals likewise, zero
/// included.
static void make_degenerate(point_set *set, rbli_rng *rng)
{
    uint32_t range = 1 + rbli_rng_below(rng, 3);
    double scale = rbli_rng_below(rng, 2) ? 1 : 0x1p44;
    for (int i = 0; i < 8; i++)
        for (int axis = 0; axis < 3; axis++) {
            set->positions[i][axis] = scale * ((double)rbli_rng_below(rng, range + 1) - 1);
            set->normals[i][axis] = (int64_t)rbli_rng_below(rng, range + 1) - 1;
        }
    if (rbli_rng_below(rng, 3) == 0) memset(set->normals, 0, sizeof set->normals);
    set_points(set, (int)rbli_rng_below(rng, 9));
}

static void pick_four(rbli_rng *rng, int32_t index[4])
{
    for (int i = 0; i < 4; i++) {
        index[i] = (int32_t)rbli_rng_below(rng, 8);
        for (int j = 0; j < i; j++)
            if (index[j] == index[i]) {
                i--;
                break;
            }
    }
}

static void agrees_with_explicitly_moved_points(void **state)
{
    (void)state;
    point_set set;
    for (uint32_t seed = 1; seed <= tries(400, 1500); seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 1);
        make_degenerate(&set, &rng);
        int32_t index[4];
        pick_four(&rng, index);
        int expected = reference_orient(&set, index);
        int got = rbli_orient(&set.points, index[0], index[1], index[2], index[3]);
        if (expected != got) print_error("seed %u\n", seed);
        assert_int_equal(got, expected);
        assert_int_equal(rbli_orient_exact(&set.points, index[0], index[1], index[2], index[3]), expected);
        rbli_orient_value value = rbli_orient_leading(&set.points, index[0], index[1], index[2], index[3]);
        assert_int_equal(value.value > 0 ? 1 : -1, expected);
    }
}

/// Large random coordinates, nearly coplanar: what the filter must not get wrong.
static void nearly_coplanar_points_are_decided_exactly(void **state)
{
    (void)state;
    point_set set;
    memset(&set, 0, sizeof set);
    set_points(&set, 0);
    int flat = 0;
    for (uint32_t seed = 1; seed <= 100000; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 2);
        double a[3], b[3], c[3];
        for (int axis = 0; axis < 3; axis++) {
            a[axis] = nearbyint((rbli_rng_double(&rng) - 0.5) * 0x1p46);
            b[axis] = nearbyint((rbli_rng_double(&rng) - 0.5) * 0x1p46);
            c[axis] = nearbyint((rbli_rng_double(&rng) - 0.5) * 0x1p46);
        }
        double s = rbli_rng_double(&rng), t = rbli_rng_double(&rng);
        if (seed % 3 == 0) s = 0.5, t = 0.25;
        for (int axis = 0; axis < 3; axis++) {
            set.positions[0][axis] = 4 * a[axis];
            set.positions[1][axis] = 4 * (b[axis] - a[axis] > 0 ? b[axis] : 0);
            set.positions[2][axis] = 4 * c[axis];
            double p = set.positions[0][axis] + s * (set.positions[1][axis] - set.positions[0][axis]) +
                       t * (set.positions[2][axis] - set.positions[0][axis]);
            set.positions[3][axis] = nearbyint(p) + (double)rbli_rng_below(&rng, 3) - 1;
        }
        mpz_t m[3][3], minor, sum;
        mpz_inits(minor, sum, NULL);
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 3; axis++)
                mpz_init_set_d(m[i][axis], set.positions[i + 1][axis] - set.positions[0][axis]);
        for (int axis = 0; axis < 3; axis++) {
            mpz_mul(minor, m[0][(axis + 1) % 3], m[1][(axis + 2) % 3]);
            mpz_submul(minor, m[0][(axis + 2) % 3], m[1][(axis + 1) % 3]);
            mpz_addmul(sum, minor, m[2][axis]);
        }
        int expected = mpz_sgn(sum), got = rbli_orient(&set.points, 0, 1, 2, 3);
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 3; axis++)
                mpz_clear(m[i][axis]);
        mpz_clears(minor, sum, NULL);
        if (expected == 0) {
            flat++;
            assert_true(got == 1 || got == -1);
            continue;
        }
        if (expected != got) print_error("seed %u\n", seed);
        assert_int_equal(got, expected);
    }
    assert_true(flat < 100000);
}

static void swapping_two_points_turns_the_sign(void **state)
{
    (void)state;
    point_set set;
    for (uint32_t seed = 1; seed <= 100000; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 3);
        make_degenerate(&set, &rng);
        int32_t p[4];
        pick_four(&rng, p);
        int sign = rbli_orient(&set.points, p[0], p[1], p[2], p[3]);
        assert_true(sign == 1 || sign == -1);
        int i = (int)rbli_rng_below(&rng, 4), j = (i + 1 + (int)rbli_rng_below(&rng, 3)) % 4;
        int32_t swap = p[i];
        p[i] = p[j];
        p[j] = swap;
        if (rbli_orient(&set.points, p[0], p[1], p[2], p[3]) != -sign) print_error("seed %u\n", seed);
        assert_int_equal(rbli_orient(&set.points, p[0], p[1], p[2], p[3]), -sign);
    }
}

static void two_lines_are_judged_like_four_points(void **state)
{
    (void)state;
    point_set set;
    for (uint32_t seed = 1; seed <= 50000; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 5);
        make_degenerate(&set, &rng);
        if (seed % 3 == 0) /* far from degenerate */
            for (int i = 0; i < 8; i++)
                for (int axis = 0; axis < 3; axis++)
                    set.positions[i][axis] = nearbyint(0x1p40 * (rbli_rng_double(&rng) - 0.5));
        const int32_t p[6] = {4, 0, 7, 2, 5, 1}, to[2] = {p[1], p[2]};
        unsigned found = rbli_orient_two_lines(&set.points, p[0], to, p + 3);
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 2; i++) {
                int sign = rbli_orient(&set.points, p[0], to[i], p[3 + j], p[3 + (j + 1) % 3]);
                assert_int_equal(found >> (2 * j + i) & 1, sign > 0);
            }
    }
}

/// Five points in general position have an affine dependency whose signs are the orientations of fours: an
/// answer that belongs to no real configuration shows as five equal alternating signs.
static void five_points_give_consistent_answers(void **state)
{
    (void)state;
    point_set set;
    for (uint32_t seed = 1; seed <= 50000; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 4);
        make_degenerate(&set, &rng);
        int signs = 0;
        for (int left_out = 0; left_out < 5; left_out++) {
            int32_t p[4];
            for (int i = 0, k = 0; i < 5; i++)
                if (i != left_out) p[k++] = i;
            int sign = rbli_orient(&set.points, p[0], p[1], p[2], p[3]);
            signs += left_out % 2 ? -sign : sign;
        }
        if (signs == 5 || signs == -5) print_error("seed %u\n", seed);
        assert_true(signs != 5 && signs != -5);
    }
}

static void crossings_are_compared_exactly(void **state)
{
    (void)state;
    point_set set;
    memset(&set, 0, sizeof set);
    set_points(&set, 0);
    /* Planes x = 2^40 and x = 2^40 + 1 along a segment from −2^46 to 2^46, then one plane given by other
     * points. */
    double rows[8][3] = {{-0x1p46, 3, 5}, {0x1p46, 3, 5}, {0x1p40, 0, 0}, {0x1p40, 0x1p45, 1},
        {0x1p40, 7, 0x1p45}, {0x1p40 + 1, 0, 0}, {0x1p40 + 1, 0x1p45, 1}, {0x1p40 + 1, 7, 0x1p45}};
    memcpy(set.positions, rows, sizeof rows);
    const int32_t first[3] = {2, 3, 4}, second[3] = {5, 6, 7}, turned[3] = {4, 3, 2};
    assert_int_equal(rbli_compare_crossings(&set.points, 0, 1, first, second), -1);
    assert_int_equal(rbli_compare_crossings(&set.points, 0, 1, second, first), 1);
    assert_int_equal(rbli_compare_crossings(&set.points, 0, 1, first, turned), 0);
    assert_int_equal(rbli_compare_crossings(&set.points, 1, 0, first, second), 1);
    assert_close(rbli_crossing_parameter(&set.points, 2, 3, 4, 0, 1), 0.5 + 0x1p40 / 0x1p47, 1e-15);
}

static void the_grid_keeps_and_returns_coordinates(void **state)
{
    (void)state;
    const double centers[] = {0, 1e6, -3.7e-5, 1e12};
    for (int i = 0; i < 4; i++) {
        double low[3] = {centers[i] - 1, centers[i] - 2, centers[i]},
               high[3] = {centers[i] + 1, centers[i] + 3, centers[i] + 1};
        rbli_grid grid = rbli_grid_make(low, high);
        for (int j = 0; j < 100; j++) {
            rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, (uint64_t)j);
            double p[3], q[3], back[3];
            for (int axis = 0; axis < 3; axis++)
                p[axis] = low[axis] + (high[axis] - low[axis]) * rbli_rng_double(&rng);
            rbli_grid_snap(&grid, p, q);
            rbli_grid_unsnap(&grid, q, back);
            for (int axis = 0; axis < 3; axis++) {
                assert_true(q[axis] == nearbyint(q[axis]) && fabs(q[axis]) <= 0x1p48);
                assert_close(back[axis], p[axis], grid.step);
            }
        }
    }
    rbli_grid degenerate = rbli_grid_make((double[]){1, 1, 1}, (double[]){1, 1, 1});
    assert_true(degenerate.step > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_explicitly_moved_points),
        cmocka_unit_test(nearly_coplanar_points_are_decided_exactly),
        cmocka_unit_test(swapping_two_points_turns_the_sign),
        cmocka_unit_test(two_lines_are_judged_like_four_points),
        cmocka_unit_test(five_points_give_consistent_answers),
        cmocka_unit_test(crossings_are_compared_exactly),
        cmocka_unit_test(the_grid_keeps_and_returns_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
