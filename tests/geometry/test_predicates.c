#include "tests/check.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/delaunay.h"

/* The predicates against GMP on points that are random, coplanar, cospherical, or nearly so. */

static rbli_rng rng;

static double random_integer(double bound)
{
    return rint((2 * rbli_rng_double(&rng) - 1) * bound);
}

/// Five points of a kind; half of the kinds are exact degeneracies, or one unit away from them.
static void make_points(int kind, rbli_ranked_point p[5])
{
    double bound = kind % 2 ? 0x1p51 : kind % 3 ? 0x1p48 : 1000;
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            p[i].x[k] = random_integer(bound);
    if (kind >= 4 && kind < 8) { /* corners of a box, permuted: cospherical, often coplanar */
        double low[3], size[3];
        for (int k = 0; k < 3; k++) {
            low[k] = random_integer(bound / 2);
            size[k] = 1 + fabs(random_integer(bound / 2 - 1));
        }
        uint32_t used = 0;
        for (int i = 0; i < 5; i++) {
            uint32_t corner;
            do {
                corner = rbli_rng_below(&rng, 8);
            } while (used >> corner & 1);
            used |= 1u << corner;
            for (int k = 0; k < 3; k++)
                p[i].x[k] = low[k] + (corner >> k & 1 ? size[k] : 0);
        }
    } else if (kind >= 8 && kind < 12) { /* signed permutations of one vector about a centre */
        double centre[3], v[3];
        for (int k = 0; k < 3; k++) {
            centre[k] = random_integer(bound / 2);
            v[k] = random_integer(bound / 2 - 1);
        }
        for (int i = 0; i < 5; i++) {
            uint32_t shift = rbli_rng_below(&rng, 3), signs = rbli_rng_below(&rng, 8);
            for (int k = 0; k < 3; k++)
                p[i].x[k] = centre[k] + (signs >> k & 1 ? -1 : 1) * v[(k + (int)shift) % 3];
        }
    } else if (kind >= 12 && kind < 14) { /* close together */
        for (int i = 1; i < 5; i++)
            for (int k = 0; k < 3; k++)
                p[i].x[k] = p[0].x[k] * 0.5 - fmod(p[0].x[k], 2) / 2 + random_integer(4);
        for (int k = 0; k < 3; k++)
            p[0].x[k] = p[1].x[k] + random_integer(4);
    } else if (kind >= 14) { /* on a plane */
        for (int i = 2; i < 5; i++) {
            double a = random_integer(2), b = random_integer(2);
            for (int k = 0; k < 3; k++)
                p[i].x[k] = rint(p[0].x[k] / 8) + a * rint(p[1].x[k] / 32) + b * (double)(k + 1);
        }
        for (int k = 0; k < 3; k++) {
            p[0].x[k] = rint(p[0].x[k] / 8);
            p[1].x[k] = p[0].x[k] + rint(p[1].x[k] / 32);
        }
    }
    if (rbli_rng_below(&rng, 3) == 0)
        p[rbli_rng_below(&rng, 5)].x[rbli_rng_below(&rng, 3)] += random_integer(1);
    int64_t ranks[5] = {0, 1, 2, 3, 4};
    for (int i = 4; i >= 0; i--) {
        int j = (int)rbli_rng_below(&rng, (uint32_t)i + 1);
        int64_t r = ranks[i];
        ranks[i] = ranks[j];
        ranks[j] = r;
    }
    for (int i = 0; i < 5; i++)
        p[i].rank = ranks[i];
}

/// det of the rows q − p over GMP integers; `lift` adds the squared length as a fourth column.
static void difference_rows(
    mpz_t rows[4][4], const rbli_ranked_point *const q[4], const double base[3], int count)
{
    mpz_t square;
    mpz_init(square);
    for (int i = 0; i < count; i++) {
        mpz_set_ui(rows[i][3], 0);
        for (int k = 0; k < 3; k++) {
            mpz_set_d(rows[i][k], q[i]->x[k]);
            mpz_set_d(square, base[k]);
            mpz_sub(rows[i][k], rows[i][k], square);
            mpz_mul(square, rows[i][k], rows[i][k]);
            mpz_add(rows[i][3], rows[i][3], square);
        }
    }
    mpz_clear(square);
}

static void det3(mpz_t out, mpz_t a[4], mpz_t b[4], mpz_t c[4])
{
    mpz_t term;
    mpz_init(term);
    mpz_set_ui(out, 0);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        mpz_mul(term, b[i], c[j]);
        mpz_submul(term, b[j], c[i]);
        mpz_addmul(out, term, a[k]);
    }
    mpz_clear(term);
}

static int reference_orient(const rbli_ranked_point *a, const rbli_ranked_point *b,
    const rbli_ranked_point *c, const rbli_ranked_point *d)
{
    mpz_t rows[4][4], det;
    mpz_init(det);
    for (int i = 0; i < 16; i++)
        mpz_init(rows[i / 4][i % 4]);
    const rbli_ranked_point *const q[4] = {b, c, d, d};
    difference_rows(rows, q, a->x, 3);
    det3(det, rows[0], rows[1], rows[2]);
    int sign = mpz_sgn(det);
    for (int i = 0; i < 16; i++)
        mpz_clear(rows[i / 4][i % 4]);
    mpz_clear(det);
    return sign;
}

/// The lifted determinant with lifts + 2^(−2^k) for rank k made so small that it is lexicographic: here
/// simply the sign of the first of the unperturbed value and the cofactors in descending rank.
static int reference_insphere(const rbli_ranked_point p[5])
{
    mpz_t rows[4][4], minor[4], sum;
    mpz_init(sum);
    for (int i = 0; i < 16; i++)
        mpz_init(rows[i / 4][i % 4]);
    const rbli_ranked_point *const q[4] = {&p[0], &p[1], &p[2], &p[3]};
    difference_rows(rows, q, p[4].x, 4);
    for (int i = 0; i < 4; i++) {
        mpz_init(minor[i]);
        det3(minor[i], rows[i == 0], rows[i < 2 ? 2 : 1], rows[i < 3 ? 3 : 2]);
        if (i % 2) mpz_neg(minor[i], minor[i]);
        mpz_addmul(sum, minor[i], rows[i][3]);
    }
    int sign = mpz_sgn(sum);
    for (int64_t rank = 4; rank >= 0 && !sign; rank--)
        for (int i = 0; i < 5; i++)
            if (p[i].rank == rank) sign = i == 4 ? -1 : mpz_sgn(minor[i]);
    for (int i = 0; i < 16; i++)
        mpz_clear(rows[i / 4][i % 4]);
    for (int i = 0; i < 4; i++)
        mpz_clear(minor[i]);
    mpz_clear(sum);
    return sign;
}

static void predicates_agree_with_gmp(void **state)
{
    (void)state;
    rng = rbli_rng_make(1, RBLI_RNG_TEST, 7);
    size_t flat = 0;
    rbli_ranked_point last[5] = {
        {{0, 0, 0}, 0}, {{1, 0, 0}, 1}, {{0, 1, 0}, 2}, {{0, 0, 1}, 3}}; /* the tetrahedron before */
    for (int i = 0; i < 160000; i++) {
        rbli_ranked_point p[5];
        make_points(i % 16, p);
        int orient = rbli_orient3d(p[0].x, p[1].x, p[2].x, p[3].x);
        assert_int_equal(orient, reference_orient(&p[0], &p[1], &p[2], &p[3]));
        flat += orient == 0;
        if (orient == 0) continue;
        if (orient < 0) {
            rbli_ranked_point t = p[0];
            p[0] = p[1];
            p[1] = t;
        }
        int inside = rbli_insphere(&p[0], &p[1], &p[2], &p[3], &p[4]);
        assert_int_equal(inside, reference_insphere(p));
        /* Even permutations of the corners change nothing. */
        assert_int_equal(inside, rbli_insphere(&p[1], &p[2], &p[0], &p[3], &p[4]));
        assert_int_equal(inside, rbli_insphere(&p[3], &p[2], &p[1], &p[0], &p[4]));
        const rbli_ranked_point *const two[2][4] = {
            {&p[0], &p[1], &p[2], &p[3]}, {last, last + 1, last + 2, last + 3}};
        int signs[2];
        rbli_insphere_twice(two, &p[4], signs);
        assert_int_equal(signs[0], inside);
        assert_int_equal(signs[1], rbli_insphere(last, last + 1, last + 2, last + 3, &p[4]));
        memcpy(last, p, sizeof last);
    }
    assert_true(flat > 1000);
}

static int compare_coordinates(const void *a, const void *b)
{
    const rbli_ranked_point *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->x[k] != q->x[k]) return p->x[k] < q->x[k] ? -1 : 1;
    return 0;
}

/// Corners of boxes, all on one sphere: the first coordinate for a rank gives what ranks by all three do.
static void equal_ranks_are_decided_by_coordinates(void **state)
{
    (void)state;
    rng = rbli_rng_make(1, RBLI_RNG_TEST, 12);
    size_t inside_count = 0;
    for (int i = 0; i < 20000; i++) {
        rbli_ranked_point p[8], q[8];
        double low[3] = {random_integer(100), random_integer(100), random_integer(100)};
        for (int c = 0; c < 8; c++) {
            for (int k = 0; k < 3; k++)
                p[c].x[k] = low[k] + (c >> k & 1);
            p[c].rank = (int64_t)p[c].x[0];
        }
        memcpy(q, p, sizeof q);
        qsort(q, 8, sizeof *q, compare_coordinates);
        for (int c = 0; c < 8; c++)
            q[c].rank = c;
        int pick[5], count = 0;
        while (count < 5) {
            int c = (int)rbli_rng_below(&rng, 8), j = 0;
            while (j < count && pick[j] != c)
                j++;
            if (j == count) pick[count++] = c;
        }
        const rbli_ranked_point *a[5], *b[5];
        for (int j = 0; j < 5; j++) {
            a[j] = &p[pick[j]];
            for (int c = 0; c < 8; c++)
                if (compare_coordinates(&q[c], a[j]) == 0) b[j] = &q[c];
        }
        if (rbli_orient3d(a[0]->x, a[1]->x, a[2]->x, a[3]->x) <= 0) continue;
        int inside = rbli_insphere(a[0], a[1], a[2], a[3], a[4]);
        assert_int_equal(inside, rbli_insphere(b[0], b[1], b[2], b[3], b[4]));
        inside_count += inside > 0;
    }
    assert_true(inside_count > 1000);
}

/// Cospherical points have one centre to the bit, and it is where the exact one is.
static void circumcenters_are_the_nearest_quarters(void **state)
{
    (void)state;
    rng = rbli_rng_make(1, RBLI_RNG_TEST, 8);
    for (int i = 0; i < 20000; i++) {
        double low[3], size[3], corners[8][3], center[3];
        for (int k = 0; k < 3; k++) {
            low[k] = random_integer(0x1p48);
            size[k] = 1 + fabs(random_integer(i % 2 ? 0x1p47 : 100));
        }
        for (int c = 0; c < 8; c++)
            for (int k = 0; k < 3; k++)
                corners[c][k] = low[k] + (c >> k & 1 ? size[k] : 0);
        static const int picks[4][4] = {{0, 1, 2, 4}, {7, 6, 5, 3}, {1, 2, 4, 7}, {0, 3, 5, 6}};
        const int *q = picks[i % 4];
        rbli_circumcenter(corners[q[0]], corners[q[1]], corners[q[2]], corners[q[3]], center);
        for (int k = 0; k < 3; k++)
            assert_true(center[k] == low[k] + size[k] / 2);
    }
    for (int i = 0; i < 20000; i++) {
        double p[4][3], center[3], other[3];
        for (int j = 0; j < 12; j++)
            p[j / 3][j % 3] = random_integer(0x1p48);
        rbli_circumcenter(p[0], p[1], p[2], p[3], center);
        rbli_circumcenter(p[2], p[3], p[1], p[0], other);
        for (int k = 0; k < 3; k++) /* quarters, unless far away */
            assert_close(
                center[k], other[k], fabs(center[k]) < 0x1p49 ? 0 : 0x1p-51 * fabs(center[k]) + 0x1p-4);
        long double radius[4];
        for (int j = 0; j < 4; j++) {
            radius[j] = 0;
            for (int k = 0; k < 3; k++)
                radius[j] += ((long double)center[k] - p[j][k]) * ((long double)center[k] - p[j][k]);
            radius[j] = sqrtl(radius[j]);
            assert_true(fabsl(radius[j] - radius[0]) < 1 + 1e-15L * radius[0]);
        }
    }
}

/// Estimates decide nothing else than exact numbers do: near and far points, flat ones, halves of quarters.
static void circumcenters_are_the_exact_ones(void **state)
{
    (void)state;
    rng = rbli_rng_make(1, RBLI_RNG_TEST, 9);
    for (int i = 0; i < 400000; i++) {
        double p[4][3], center[3], exact[3], middle[3];
        double reach = ldexp(1, 2 + i % 47), thin = i % 3 ? reach : ldexp(1, 1 + i / 47 % 20);
        for (int k = 0; k < 3; k++)
            middle[k] = random_integer(0x1p50);
        for (int j = 0; j < 12; j++) /* within 2^51 */
            p[j / 3][j % 3] = middle[j % 3] + random_integer(j % 3 == 2 && thin < reach ? thin : reach);
        rbli_circumcenter(p[0], p[1], p[2], p[3], center);
        rbli_circumcenter_exact(p[0], p[1], p[2], p[3], exact);
        if (rbli_orient3d(p[0], p[1], p[2], p[3]) == 0) continue;
        assert_memory_equal(center, exact, sizeof center);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicates_agree_with_gmp),
        cmocka_unit_test(equal_ranks_are_decided_by_coordinates),
        cmocka_unit_test(circumcenters_are_the_nearest_quarters),
        cmocka_unit_test(circumcenters_are_the_exact_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
