/// Exact predicates on integer points held in doubles. A static filter on exact differences decides almost
/// all; the rest is computed on fixed limbs. Bounds follow Shewchuk 1997, Adaptive precision floating-point
/// arithmetic and fast robust geometric predicates: with exact differences (7 + 56u)u times the permanent for
/// orient3d, (16 + 224u)u for insphere, the permanents bounded by the largest difference on each axis.

#include "fracture/geometry/predicates.h"

#include <math.h>
#include <stdbool.h>

#include "fracture/geometry/lanes.h"

static inline double max3(double a, double b, double c)
{
    double m = a > b ? a : b;
    return m > c ? m : c;
}

static inline double max4(double a, double b, double c, double d)
{
    double m = a > b ? a : b, n = c > d ? c : d;
    return m > n ? m : n;
}

static inline void subtract(const double a[3], const double b[3], double r[3])
{
    r[0] = a[0] - b[0];
    r[1] = a[1] - b[1];
    r[2] = a[2] - b[2];
}

static inline rbli_i128 minor2(const int64_t *a, const int64_t *b, int i, int j)
{
    return (rbli_i128)a[i] * b[j] - (rbli_i128)a[j] * b[i];
}

/// det of three integer rows below 2^53.
static rbli_i192 det3(const int64_t *a, const int64_t *b, const int64_t *c)
{
    rbli_i192 x = rbli_i192_product(minor2(b, c, 1, 2), a[0]);
    rbli_i192 y = rbli_i192_product(minor2(b, c, 0, 2), a[1]);
    rbli_i192 z = rbli_i192_product(minor2(b, c, 0, 1), a[2]);
    return rbli_i192_add(rbli_i192_sub(x, y), z);
}

static void to_integers(const double v[3], int64_t r[3])
{
    for (int k = 0; k < 3; k++)
        r[k] = (int64_t)v[k];
}

int rbli_orient3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double u[3], v[3], w[3];
    subtract(b, a, u);
    subtract(c, a, v);
    subtract(d, a, w);
    double det = u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
                 u[2] * (v[0] * w[1] - v[1] * w[0]);
    double mx = max3(fabs(u[0]), fabs(v[0]), fabs(w[0])), my = max3(fabs(u[1]), fabs(v[1]), fabs(w[1])),
           mz = max3(fabs(u[2]), fabs(v[2]), fabs(w[2]));
    double bound = 5.2e-15 * mx * my * mz;
    if (det > bound) return 1;
    if (det < -bound) return -1;
    if (bound == 0) return 0;
    int64_t iu[3], iv[3], iw[3];
    to_integers(u, iu);
    to_integers(v, iv);
    to_integers(w, iw);
    return rbli_i192_sign(det3(iu, iv, iw));
}

static rbli_i128 lift(const int64_t *a)
{
    return (rbli_i128)a[0] * a[0] + (rbli_i128)a[1] * a[1] + (rbli_i128)a[2] * a[2];
}

/// Of the other three to the first.
static void differences(
    const double a[3], const double b[3], const double c[3], const double d[3], int64_t r[3][3])
{
    for (int k = 0; k < 3; k++) {
        r[0][k] = (int64_t)(b[k] - a[k]);
        r[1][k] = (int64_t)(c[k] - a[k]);
        r[2][k] = (int64_t)(d[k] - a[k]);
    }
}

static rbli_i320 lifted(const int64_t *top, const int64_t *b, const int64_t *c, const int64_t *d)
{
    return rbli_i320_mul(RBLI_WIDEN(rbli_i320, det3(b, c, d)), rbli_i320_from_i128(lift(top)));
}

static bool dominates(const rbli_ranked_point *a, const rbli_ranked_point *b)
{
    if (a->rank != b->rank) return a->rank > b->rank;
    return a->x[1] != b->x[1] ? a->x[1] > b->x[1] : a->x[2] > b->x[2];
}

/// Sign of the first coefficient of the perturbation that does not vanish, ranks descending.
static int insphere_tie(const rbli_ranked_point *const p[5])
{
    int order[5] = {0, 1, 2, 3, 4};
    for (int i = 1; i < 5; i++)
        for (int j = i; j > 0 && dominates(p[order[j]], p[order[j - 1]]); j--) {
            int t = order[j];
            order[j] = order[j - 1];
            order[j - 1] = t;
        }
    for (int i = 0; i < 5; i++) {
        if (order[i] == 4) return -1;
        /* The barycentric coordinate of e at this corner. */
        const double *corner[4] = {p[0]->x, p[1]->x, p[2]->x, p[3]->x};
        corner[order[i]] = p[4]->x;
        int sign = rbli_orient3d(corner[0], corner[1], corner[2], corner[3]);
        if (sign) return sign;
    }
    return -1;
}

static int insphere_exact(const rbli_ranked_point *const p[5], double rows[4][3])
{
    int64_t r[4][3];
    for (int i = 0; i < 4; i++)
        to_integers(rows[i], r[i]);
    rbli_i320 sum = lifted(r[0], r[1], r[2], r[3]);
    sum = rbli_i320_sub(sum, lifted(r[1], r[0], r[2], r[3]));
    sum = rbli_i320_add(sum, lifted(r[2], r[0], r[1], r[3]));
    sum = rbli_i320_sub(sum, lifted(r[3], r[0], r[1], r[2]));
    int sign = rbli_i320_sign(sum);
    return sign ? sign : insphere_tie(p);
}

int rbli_insphere(const rbli_ranked_point *a, const rbli_ranked_point *b, const rbli_ranked_point *c,
    const rbli_ranked_point *d, const rbli_ranked_point *e)
{
    double r[4][3];
    subtract(a->x, e->x, r[0]);
    subtract(b->x, e->x, r[1]);
    subtract(c->x, e->x, r[2]);
    subtract(d->x, e->x, r[3]);
    double ab = r[0][0] * r[1][1] - r[1][0] * r[0][1], ac = r[0][0] * r[2][1] - r[2][0] * r[0][1],
           ad = r[0][0] * r[3][1] - r[3][0] * r[0][1], bc = r[1][0] * r[2][1] - r[2][0] * r[1][1],
           bd = r[1][0] * r[3][1] - r[3][0] * r[1][1], cd = r[2][0] * r[3][1] - r[3][0] * r[2][1];
    double az = r[0][2], bz = r[1][2], cz = r[2][2], dz = r[3][2];
    double la = r[0][0] * r[0][0] + r[0][1] * r[0][1] + az * az,
           lb = r[1][0] * r[1][0] + r[1][1] * r[1][1] + bz * bz,
           lc = r[2][0] * r[2][0] + r[2][1] * r[2][1] + cz * cz,
           ld = r[3][0] * r[3][0] + r[3][1] * r[3][1] + dz * dz;
    double bcd = bz * cd - cz * bd + dz * bc, acd = az * cd - cz * ad + dz * ac,
           abd = az * bd - bz * ad + dz * ab, abc = az * bc - bz * ac + cz * ab;
    double det = (la * bcd - lb * acd) + (lc * abd - ld * abc);
    double mx = max4(fabs(r[0][0]), fabs(r[1][0]), fabs(r[2][0]), fabs(r[3][0])),
           my = max4(fabs(r[0][1]), fabs(r[1][1]), fabs(r[2][1]), fabs(r[3][1])),
           mz = max4(fabs(az), fabs(bz), fabs(cz), fabs(dz));
    double bound = 4.4e-14 * mx * my * mz * max4(la, lb, lc, ld);
    if (det > bound) return 1;
    if (det < -bound) return -1;
    /* Second stage: the true permanent, much smaller when the points are of very different distances. */
    double pab = fabs(r[0][0] * r[1][1]) + fabs(r[1][0] * r[0][1]),
           pac = fabs(r[0][0] * r[2][1]) + fabs(r[2][0] * r[0][1]),
           pad = fabs(r[0][0] * r[3][1]) + fabs(r[3][0] * r[0][1]),
           pbc = fabs(r[1][0] * r[2][1]) + fabs(r[2][0] * r[1][1]),
           pbd = fabs(r[1][0] * r[3][1]) + fabs(r[3][0] * r[1][1]),
           pcd = fabs(r[2][0] * r[3][1]) + fabs(r[3][0] * r[2][1]);
    double permanent = la * (fabs(bz) * pcd + fabs(cz) * pbd + fabs(dz) * pbc) +
                       lb * (fabs(az) * pcd + fabs(cz) * pad + fabs(dz) * pac) +
                       lc * (fabs(az) * pbd + fabs(bz) * pad + fabs(dz) * pab) +
                       ld * (fabs(az) * pbc + fabs(bz) * pac + fabs(cz) * pab);
    bound = 1.8e-15 * permanent;
    if (det > bound) return 1;
    if (det < -bound) return -1;
    const rbli_ranked_point *const points[5] = {a, b, c, d, e};
    return insphere_exact(points, r);
}

static inline rbli_double2 absolute(rbli_double2 a)
{
    return rbli_max2(a, -a);
}

void rbli_insphere_twice(const rbli_ranked_point *const p[2][4], const rbli_ranked_point *e, int signs[2])
{
    rbli_double2 x[4], y[4], z[4], lift[4], mx = {0}, my = {0}, mz = {0}, most = {0};
    for (int i = 0; i < 4; i++) {
        x[i] = (rbli_double2){p[0][i]->x[0], p[1][i]->x[0]} - e->x[0];
        y[i] = (rbli_double2){p[0][i]->x[1], p[1][i]->x[1]} - e->x[1];
        z[i] = (rbli_double2){p[0][i]->x[2], p[1][i]->x[2]} - e->x[2];
        lift[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
        mx = rbli_max2(mx, absolute(x[i]));
        my = rbli_max2(my, absolute(y[i]));
        mz = rbli_max2(mz, absolute(z[i]));
        most = rbli_max2(most, lift[i]);
    }
    rbli_double2 ab = x[0] * y[1] - x[1] * y[0], ac = x[0] * y[2] - x[2] * y[0],
                 ad = x[0] * y[3] - x[3] * y[0], bc = x[1] * y[2] - x[2] * y[1],
                 bd = x[1] * y[3] - x[3] * y[1], cd = x[2] * y[3] - x[3] * y[2];
    rbli_double2 bcd = z[1] * cd - z[2] * bd + z[3] * bc, acd = z[0] * cd - z[2] * ad + z[3] * ac,
                 abd = z[0] * bd - z[1] * ad + z[3] * ab, abc = z[0] * bc - z[1] * ac + z[2] * ab;
    rbli_double2 det = (lift[0] * bcd - lift[1] * acd) + (lift[2] * abd - lift[3] * abc),
                 bound = 4.4e-14 * mx * my * mz * most;
    for (int i = 0; i < 2; i++)
        signs[i] = det[i] > bound[i]    ? 1
                   : det[i] < -bound[i] ? -1
                                        : rbli_insphere(p[i][0], p[i][1], p[i][2], p[i][3], e);
}

double rbli_round_to_quarters(rbli_i256 numerator, rbli_i256 denominator)
{
    double quotient = rbli_i256_to_double(numerator) / rbli_i256_to_double(denominator);
    if (!(fabs(quotient) < 0x1p50)) return quotient;
    double quarters = rint(quotient * 4);
    /* The estimate is within 2^-51 of the truth: clear of a half, it decides. */
    if (0.5 - fabs(quotient * 4 - quarters) > fabs(quotient) * 0x1p-48) return quarters * 0.25;
    rbli_i256 rest =
        rbli_i256_sub(rbli_i256_shift_left(numerator, 2), rbli_i256_mul_i64(denominator, (int64_t)quarters));
    /* The estimate is off by one at most; a tie goes down. */
    for (int i = 0; i < 2; i++) {
        rbli_i256 twice = rbli_i256_shift_left(rest, 1);
        if (rbli_i256_compare(twice, denominator) > 0) {
            quarters += 1;
            rest = rbli_i256_sub(rest, denominator);
        } else if (rbli_i256_sign(rbli_i256_add(twice, denominator)) <= 0) {
            quarters -= 1;
            rest = rbli_i256_add(rest, denominator);
        } else {
            break;
        }
    }
    return quarters * 0.25;
}

void rbli_circumcenter_exact(
    const double a[3], const double b[3], const double c[3], const double d[3], double center[3])
{
    int64_t r[3][3];
    differences(a, b, c, d, r);
    rbli_i128 l0 = lift(r[0]), l1 = lift(r[1]), l2 = lift(r[2]);
    rbli_i256 twice_det = rbli_i256_shift_left(RBLI_WIDEN(rbli_i256, det3(r[0], r[1], r[2])), 1);
    int negative = rbli_i256_sign(twice_det) < 0;
    rbli_i256 denominator = negative ? rbli_i256_neg(twice_det) : twice_det;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        rbli_i256 sum = rbli_i256_product(l0, minor2(r[1], r[2], i, j));
        sum = rbli_i256_add(sum, rbli_i256_product(l1, minor2(r[2], r[0], i, j)));
        sum = rbli_i256_add(sum, rbli_i256_product(l2, minor2(r[0], r[1], i, j)));
        if (negative) sum = rbli_i256_neg(sum);
        center[k] = a[k] + rbli_round_to_quarters(sum, denominator);
    }
}

/// How far numbers whose absolute values, below 2^126, are or-ed into `all` are to be shifted to lie below 2^62.
static int shift_to_62_bits(rbli_u128 all)
{
    uint64_t high = (uint64_t)(all >> 62);
    return high ? 64 - __builtin_clzll(high) : 0;
}

static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/// a · b − product, where that is their rounded product (Dekker 1971).
static double product_error(double a, double b, double product)
{
    const double splitter = 0x1p27 + 1;
    double a_big = splitter * a, b_big = splitter * b;
    double a_high = a_big - (a_big - a), b_high = b_big - (b_big - b), a_low = a - a_high, b_low = b - b_high;
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

/// The absolute value, or one less.
static rbli_u128 magnitude(rbli_i128 x)
{
    return (rbli_u128)(x ^ x >> 127);
}

/// x = high + low + an error below 2^-100 x, for |x| < 2^126.
static double split(rbli_i128 x, double *low)
{
    const int64_t mask = ((int64_t)1 << 42) - 1;
    double top = (double)(int64_t)(x >> 84) * 0x1p84, middle = (double)((int64_t)(x >> 42) & mask) * 0x1p42;
    double high = top + middle;
    *low = (middle - (high - top)) + (double)((int64_t)x & mask);
    return high;
}

/// The same with the leading 62 bits of lifts and minors, where that tells the nearest quarters for sure.
///
/// With lifts L = 2^s (l + e), minors M = 2^t (m + e'), 0 ≤ e, e' < 1, l and m below 2^62: numerators are
/// 2^(s + t) (n ± 2^65) for n the sum of three products l m, and the determinant is 2^t (det ± the sum of the first
/// difference's absolute values). Both sums are exact in 128 bits. Four times these errors are allowed for.
static bool estimate_circumcenter(
    const double a[3], const double b[3], const double c[3], const double d[3], double center[3])
{
    int64_t r[3][3];
    rbli_i128 lifts[3], minors[3][3]; /* [i]: of the two rows without i */
    rbli_u128 all_lifts = 0, all_minors = 0;
    differences(a, b, c, d, r);
    for (int i = 0; i < 3; i++) {
        lifts[i] = lift(r[i]);
        all_lifts |= magnitude(lifts[i]);
        for (int k = 0; k < 3; k++) {
            minors[i][k] = minor2(r[(i + 1) % 3], r[(i + 2) % 3], (k + 1) % 3, (k + 2) % 3);
            all_minors |= magnitude(minors[i][k]);
        }
    }
    int lift_shift = shift_to_62_bits(all_lifts), minor_shift = shift_to_62_bits(all_minors);
    rbli_i128 det = 0, numerators[3] = {0};
    double reach = 0;
    for (int i = 0; i < 3; i++) {
        int64_t l = (int64_t)(lifts[i] >> lift_shift);
        for (int k = 0; k < 3; k++)
            numerators[k] += (rbli_i128)l * (int64_t)(minors[i][k] >> minor_shift);
    }
    for (int k = 0; k < 3; k++) {
        det += (rbli_i128)r[0][k] * (int64_t)(minors[0][k] >> minor_shift);
        reach += fabs((double)r[0][k]);
    }
    double divisor_rest, divisor = split(2 * det, &divisor_rest), size = fabs(divisor);
    double scale = 4 * power_of_two(lift_shift); /* to quarters */
    double det_error = 8 * reach / size, numerator_error = scale * 0x1p67 / size;
    if (!(det_error < 0x1p-8)) return false; /* flat */
    for (int k = 0; k < 3; k++) {
        double numerator_rest, numerator = split(numerators[k], &numerator_rest);
        double quotient = numerator / divisor, product = quotient * divisor;
        double rest = (numerator - product) - product_error(quotient, divisor, product);
        rest += numerator_rest - quotient * divisor_rest;
        double offset = scale * quotient, quarters = rint(offset);
        rest = (offset - quarters) + scale * (rest / divisor);
        if (fabs(rest) > 0.5) {
            quarters += rest > 0 ? 1 : -1;
            rest -= rest > 0 ? 1 : -1;
        }
        double error = fabs(offset) * (det_error + 0x1p-90) + numerator_error;
        if (!(fabs(offset) < 0x1p50) || 0.5 - fabs(rest) <= error) return false;
        center[k] = a[k] + quarters * 0.25;
    }
    return true;
}

void rbli_circumcenter(
    const double a[3], const double b[3], const double c[3], const double d[3], double center[3])
{
    if (!estimate_circumcenter(a, b, c, d, center)) rbli_circumcenter_exact(a, b, c, d, center);
}
