#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/gjk.h"

/* The distance of hulls against all pairs of triangles, edges and corners of all points, in long double. */

enum { MOST = 7 };

typedef long double real;

static real rdot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void rcross(const real a[3], const real b[3], real out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static real clamp01(real x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static real point_segment(const real p[3], const real a[3], const real b[3])
{
    real e[3], d[3], to[3];
    for (int k = 0; k < 3; k++)
        e[k] = b[k] - a[k], to[k] = p[k] - a[k];
    real length = rdot(e, e), s = length > 0 ? clamp01(rdot(e, to) / length) : 0;
    for (int k = 0; k < 3; k++)
        d[k] = to[k] - s * e[k];
    return rdot(d, d);
}

/// Where both lines come nearest strictly inside both segments; otherwise an end is nearest, and other tests see
/// it.
static real segment_segment(const real a[3], const real b[3], const real c[3], const real d[3])
{
    real e[3], f[3], to[3], n[3];
    for (int k = 0; k < 3; k++)
        e[k] = b[k] - a[k], f[k] = d[k] - c[k], to[k] = c[k] - a[k];
    rcross(e, f, n);
    real square = rdot(n, n);
    if (square <= 1e-34L * rdot(e, e) * rdot(f, f)) return HUGE_VALL;
    real x[3], y[3];
    rcross(to, f, x);
    rcross(to, e, y);
    real s = rdot(x, n) / square, t = rdot(y, n) / square;
    if (s < 0 || s > 1 || t < 0 || t > 1) return HUGE_VALL;
    real height = rdot(to, n);
    return height * height / square;
}

static real point_triangle(const real p[3], const real t[3][3])
{
    real e[3], f[3], to[3], n[3], q[3], r[3];
    for (int k = 0; k < 3; k++)
        e[k] = t[1][k] - t[0][k], f[k] = t[2][k] - t[0][k], to[k] = p[k] - t[0][k];
    rcross(e, f, n);
    real square = rdot(n, n);
    if (square <= 1e-34L * rdot(e, e) * rdot(f, f)) return HUGE_VALL;
    rcross(to, f, q);
    rcross(e, to, r);
    real x = rdot(q, n) / square, y = rdot(r, n) / square;
    if (x < 0 || y < 0 || x + y > 1) return HUGE_VALL;
    real height = rdot(to, n);
    return height * height / square;
}

/// The signs of volumes say whether p lies in the tetrahedron, border included.
static bool in_tetrahedron(const real p[3], const real t[4][3])
{
    real volume = 0, size = 0, least = HUGE_VALL;
    for (int corner = 0; corner < 4; corner++) {
        real e[3], f[3], g[3], h[3], n[3];
        for (int k = 0; k < 3; k++) {
            e[k] = t[(corner + 2) % 4][k] - t[(corner + 1) % 4][k];
            f[k] = t[(corner + 3) % 4][k] - t[(corner + 1) % 4][k];
            g[k] = t[corner][k] - t[(corner + 1) % 4][k];
            h[k] = p[k] - t[(corner + 1) % 4][k];
        }
        rcross(e, f, n);
        volume = rdot(n, g);
        size = rdot(n, n) * rdot(g, g);
        real share = volume != 0 ? rdot(n, h) / volume : -1;
        least = share < least ? share : least;
    }
    return volume * volume > 1e-24L * size && least >= 0; /* a flat one is left to its faces */
}

typedef struct cloud {
    double points[MOST][3];
    size_t count;
} cloud;

static void to_real(const cloud *c, real (*out)[3])
{
    for (size_t i = 0; i < c->count; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = c->points[i][k];
}

/// Least distance of any feature of one set to any feature of the other of at most `dimension`s that add up to
/// 2, and containment.
static real oracle_one_way(real (*a)[3], size_t na, real (*b)[3], size_t nb)
{
    real best = HUGE_VALL;
    for (size_t i = 0; i < na; i++)
        for (size_t j = 0; j < nb; j++)
            for (size_t k = j; k < nb; k++) {
                real d = point_segment(a[i], b[j], b[k]);
                best = d < best ? d : best;
                for (size_t l = k + 1; k > j && l < nb; l++) {
                    real t[4][3];
                    memcpy(t[0], b[j], sizeof t[0]);
                    memcpy(t[1], b[k], sizeof t[1]);
                    memcpy(t[2], b[l], sizeof t[2]);
                    d = point_triangle(a[i], (const real(*)[3])t);
                    best = d < best ? d : best;
                    for (size_t m = l + 1; m < nb; m++) {
                        memcpy(t[3], b[m], sizeof t[3]);
                        if (in_tetrahedron(a[i], (const real(*)[3])t)) return 0;
                    }
                }
            }
    return best;
}

/// An edge of one through a triangle of the other: the hulls overlap.
static bool crosses(real (*a)[3], size_t na, real (*b)[3], size_t nb)
{
    for (size_t i = 0; i < na; i++)
        for (size_t j = i + 1; j < na; j++)
            for (size_t k = 0; k < nb; k++)
                for (size_t l = k + 1; l < nb; l++)
                    for (size_t m = l + 1; m < nb; m++) {
                        real e[3], f[3], n[3], g[3], h[3], x[3], t[3][3];
                        for (int c = 0; c < 3; c++) {
                            e[c] = b[l][c] - b[k][c];
                            f[c] = b[m][c] - b[k][c];
                            g[c] = a[i][c] - b[k][c];
                            h[c] = a[j][c] - b[k][c];
                            t[0][c] = b[k][c], t[1][c] = b[l][c], t[2][c] = b[m][c];
                        }
                        rcross(e, f, n);
                        real p = rdot(n, g), q = rdot(n, h);
                        if (!((p < 0 && q > 0) || (p > 0 && q < 0))) continue;
                        for (int c = 0; c < 3; c++)
                            x[c] = a[i][c] + p / (p - q) * (a[j][c] - a[i][c]);
                        if (point_triangle(x, (const real(*)[3])t) < HUGE_VALL) return true;
                    }
    return false;
}

static double oracle(const cloud *p, const cloud *q)
{
    real a[MOST][3], b[MOST][3];
    to_real(p, a);
    to_real(q, b);
    if (crosses(a, p->count, b, q->count) || crosses(b, q->count, a, p->count)) return 0;
    real best = oracle_one_way(a, p->count, b, q->count), other = oracle_one_way(b, q->count, a, p->count);
    best = other < best ? other : best;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = i + 1; j < p->count; j++)
            for (size_t k = 0; k < q->count; k++)
                for (size_t l = k + 1; l < q->count; l++) {
                    real d = segment_segment(a[i], a[j], b[k], b[l]);
                    best = d < best ? d : best;
                }
    return (double)sqrtl(best);
}

static double span(const cloud *p, const cloud *q)
{
    double most = 0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t j = 0; j < q->count; j++)
            for (int k = 0; k < 3; k++)
                most = fmax(most, fabs(p->points[i][k] - q->points[j][k]));
    return most;
}

static void check_pair(const cloud *p, const cloud *q, const char *kind, size_t number)
{
    double expected = oracle(p, q), size = span(p, q);
    for (int swap = 0; swap < 2; swap++) {
        const cloud *a = swap ? q : p, *b = swap ? p : q;
        rbli_hull_gap gap = rbli_hull_distance(
            (const double(*)[3])a->points, a->count, (const double(*)[3])b->points, b->count, 0, HUGE_VAL);
        /* Where a is behind the plane and b before it, the plane proves the bound. */
        double behind = -HUGE_VAL, before = HUGE_VAL;
        for (size_t i = 0; i < a->count; i++)
            behind = fmax(behind, a->points[i][0] * gap.normal[0] + a->points[i][1] * gap.normal[1] +
                                      a->points[i][2] * gap.normal[2]);
        for (size_t i = 0; i < b->count; i++)
            before = fmin(before, b->points[i][0] * gap.normal[0] + b->points[i][1] * gap.normal[1] +
                                      b->points[i][2] * gap.normal[2]);
        double most = 0;
        for (size_t i = 0; i < a->count; i++)
            for (int k = 0; k < 3; k++)
                most = fmax(most, fabs(a->points[i][k]));
        if (!(fabs(gap.distance - expected) <= 1e-12 * size + 4e-16 * most) ||
            (gap.bound > 0 && !(before - behind >= gap.bound - 1e-14 * size - 4e-16 * most)) ||
            (gap.distance > 0 && gap.bound < gap.distance - 1e-12 * size - 4e-16 * most -
                                                 1e-15 * size * size / gap.distance)) {
            print_error("%s %zu: distance %.17g (bound %.17g), not %.17g; size %g\n", kind, number,
                gap.distance, gap.bound, expected, size);
            fail();
        }
    }
}

static double number(rbli_rng *rng, int whole)
{
    return whole ? (double)rbli_rng_below(rng, (uint32_t)whole) : rbli_rng_double(rng);
}

/// Points in a unit box, or whole ones below `whole`; of rank 2 in a plane, of rank 1 on a line.
static void make_cloud(rbli_rng *rng, int whole, int rank, cloud *out)
{
    out->count = 1 + rbli_rng_below(rng, MOST);
    for (size_t i = 0; i < out->count; i++) {
        double *p = out->points[i];
        for (int k = 0; k < 3; k++)
            p[k] = number(rng, whole);
        if (rank < 3) p[2] = p[0] + p[1];
        if (rank < 2) p[1] = 2 * p[0], p[2] = -p[0];
    }
}

static void random_hulls(void **state)
{
    (void)state;
    enum { SEED = 11 };
    print_message("seed %d\n", SEED);
    size_t near = 0;
    for (size_t i = 0; i < tries(1500, 20000); i++) {
        rbli_rng rng = rbli_rng_make(SEED, RBLI_RNG_TEST, i);
        /* Small whole numbers give hulls that touch in corners, edges and faces, and are flat or collinear. */
        int whole = i % 3 == 0 ? 0 : i % 3 == 1 ? 4 : 9;
        cloud p, q;
        make_cloud(&rng, whole, i % 11 ? 3 : 1 + (int)(i / 11 % 2), &p);
        make_cloud(&rng, whole, i % 7 ? 3 : 1 + (int)(i / 7 % 2), &q);
        double shift[3], away = i % 5 == 0 ? 0 : number(&rng, whole);
        for (int k = 0; k < 3; k++) {
            shift[k] = k == (int)(i % 3) ? away : 0;
            for (size_t n = 0; n < q.count; n++)
                q.points[n][k] += shift[k];
        }
        check_pair(&p, &q, "random", i);
        near += oracle(&p, &q) == 0;
    }
    assert_true(near > 100);
}

static void flat_far_and_tiny_hulls(void **state)
{
    (void)state;
    enum { SEED = 12 };
    print_message("seed %d\n", SEED);
    static const double scales[] = {1, 1e-9, 1e6, 1e-3}, aways[] = {0, 1, 1e3, 1e8};
    for (size_t i = 0; i < tries(1500, 20000); i++) {
        rbli_rng rng = rbli_rng_make(SEED, RBLI_RNG_TEST, i);
        cloud p, q;
        make_cloud(&rng, 0, 3, &p);
        make_cloud(&rng, 0, 3, &q);
        double scale_p = scales[i % 4], scale_q = scales[i / 4 % 4], away = aways[i / 16 % 4],
               flat = i % 7 == 0   ? 0
                      : i % 7 == 1 ? 1e-12
                                   : 1;
        for (size_t n = 0; n < p.count; n++)
            for (int k = 0; k < 3; k++)
                p.points[n][k] *= k == 2 ? scale_p * flat : scale_p;
        for (size_t n = 0; n < q.count; n++)
            for (int k = 0; k < 3; k++)
                q.points[n][k] = q.points[n][k] * (k == (int)(i % 3) ? scale_q * flat : scale_q) +
                                 (k == (int)(i / 3 % 3) ? away : 0);
        check_pair(&p, &q, "scaled", i);
    }
}

static void known_distances(void **state)
{
    (void)state;
    double box[8][3], other[8][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            box[i][k] = i >> k & 1;
    const struct {
        double at[3], scale, distance;
    } cases[] = {{{1, 0, 0}, 1, 0}, {{1, 1, 0}, 1, 0}, {{1, 1, 1}, 1, 0}, {{0.25, 0.25, 0.25}, 0.5, 0},
        {{3, 0, 0}, 1, 2}, {{4, 5, 0}, 1, 5}, {{1 + 1e-9, 0, 0}, 1, 1e-9}, {{1e9, 0, 0}, 1, 1e9 - 1},
        {{2, 0.3, 0.3}, 1e-6, 1}, {{-1, -1, -1}, 3, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 3; k++)
                other[i][k] = cases[c].at[k] + cases[c].scale * box[i][k];
        rbli_hull_gap gap =
            rbli_hull_distance((const double(*)[3])box, 8, (const double(*)[3])other, 8, 0, HUGE_VAL);
        assert_close(gap.distance, cases[c].distance, 1e-15 * (1 + cases[c].distance));
        assert_close(gap.bound, cases[c].distance, 2e-15 * (1 + cases[c].distance));
        /* Ending early says the same about near and far. */
        gap = rbli_hull_distance((const double(*)[3])box, 8, (const double(*)[3])other, 8, 1.5, 1.5);
        assert_true((gap.distance <= 1.5) == (cases[c].distance <= 1.5));
        assert_true((gap.bound > 1.5) == (cases[c].distance > 1.5));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_hulls),
        cmocka_unit_test(flat_far_and_tiny_hulls),
        cmocka_unit_test(known_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
