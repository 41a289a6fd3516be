/// Sine and cosine: reduction by a quarter turn in three parts (Cody and Waite 1980), then Taylor
/// polynomials, whose rest on ±π/4 is below 1e-18. Logarithm: 2 artanh((m − 1)/(m + 1)) of the mantissa, the
/// leading parts as sums of two doubles (Dekker 1971), so that powers keep their last bit.

#include "fracture/geometry/elementary.h"

#include <math.h>

/* π/2 as two parts of 33 bits and a rest: products with quarter turns below 2^20 are exact. */
static const double part_1 = 0x1.921fb544p+0, part_2 = 0x1.0b4611a6p-34, part_3 = 0x1.3198a2e037073p-69;

/// x = turns · π/2 + result, |result| ≤ π/4; the quadrant is turns mod 4.
static double reduce(double x, int *quadrant)
{
    if (fabs(x) > 1e6) x = fmod(x, 2 * RBLI_PI);
    double turns = rint(x * 0x1.45f306dc9c883p-1);
    *quadrant = (int)(turns - 4 * floor(turns / 4));
    double high = x - turns * part_1, low = turns * part_2, r = high - low;
    return r + ((high - r) - low - turns * part_3);
}

static double sine(double r)
{
    static const double c[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
        1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
    double z = r * r, sum = 0;
    for (int i = 7; i >= 0; i--)
        sum = sum * z + c[i];
    return r + r * (z * sum);
}

static double cosine(double r)
{
    static const double c[] = {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
        -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
    double z = r * r, sum = 0;
    for (int i = 7; i >= 0; i--)
        sum = sum * z + c[i];
    double half = 0.5 * z, w = 1 - half;
    return w + ((1 - w - half) + z * z * sum);
}

double rbli_sin(double x)
{
    int quadrant;
    double r = reduce(x, &quadrant), value = quadrant & 1 ? cosine(r) : sine(r);
    return quadrant & 2 ? -value : value;
}

double rbli_cos(double x)
{
    int quadrant;
    double r = reduce(x, &quadrant), value = quadrant & 1 ? sine(r) : cosine(r);
    return quadrant == 1 || quadrant == 2 ? -value : value;
}

/* ---- exponential, logarithm, power ---- */

/// An unevaluated sum high + low, |low| at most half a unit of high.
typedef struct pair {
    double high, low;
} pair;

static pair quick_sum(double a, double b)
{
    double sum = a + b;
    return (pair){sum, b - (sum - a)};
}

static pair two_sum(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (pair){sum, (a - (sum - part)) + (b - part)};
}

/// The exact product by Veltkamp's splitting; factors below 2^970.
static pair two_product(double a, double b)
{
    double p = a * b, s = 0x1.0000002p+27 * a, t = 0x1.0000002p+27 * b;
    double a1 = s - (s - a), a2 = a - a1, b1 = t - (t - b), b2 = b - b1;
    return (pair){p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

static pair times(pair a, double b)
{
    pair p = two_product(a.high, b);
    return quick_sum(p.high, p.low + a.low * b);
}

/* ln 2 in three parts, the first two of 32 bits: products with exponents are exact. */
static const double ln2_1 = 0x1.62e42feep-1, ln2_2 = 0x1.a39ef356p-33, ln2_3 = 0x1.93c7673007e5fp-65;

/// e^(x.high + x.low).
static double exp_pair(pair x)
{
    if (x.high > 710) return HUGE_VAL;
    if (x.high < -750) return 0;
    double turns = rint(x.high * 0x1.71547652b82fep+0);
    /* r = x − turns · ln 2, |r| ≤ 0.35, as a pair. */
    pair r = two_sum(x.high - turns * ln2_1, -turns * ln2_2);
    r = quick_sum(r.high, r.low + (x.low - turns * ln2_3));
    /* 1 + r + r²/2 + r³·(1/6 + …); the rest after r^15 is below 1e-20. */
    double sum = 1.0 / 1307674368000;
    static const double c[] = {1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800,
        1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6};
    for (int i = 0; i < 12; i++)
        sum = sum * r.high + c[i];
    pair square = two_product(r.high, r.high);
    pair value = two_sum(1, r.high);
    value = quick_sum(value.high, value.low + r.low + r.high * r.low);
    pair more = two_sum(value.high, 0.5 * square.high);
    more.low += value.low + 0.5 * square.low + square.high * r.high * sum;
    return ldexp(more.high + more.low, (int)turns);
}

double rbli_exp(double x)
{
    return exp_pair((pair){x, 0});
}

/// The logarithm of a finite x > 0.
static pair log_pair(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        exponent--;
    }
    /* s = (m − 1)/(m + 1) as a pair; m − 1 is exact. */
    double top = m - 1;
    pair bottom = two_sum(m, 1);
    double s = top / bottom.high;
    pair product = two_product(s, bottom.high);
    double rest = ((top - product.high) - product.low - s * bottom.low) / bottom.high;
    pair quotient = quick_sum(s, rest);
    /* 2·(s + s³/3 + s⁵/5 + …); |s| ≤ 0.1716. The cube is a pair, the rest small enough for doubles. */
    double z = quotient.high * quotient.high, sum = 1.0 / 25;
    for (int i = 23; i >= 5; i -= 2)
        sum = sum * z + 1.0 / i;
    pair square = two_product(quotient.high, quotient.high);
    square.low += 2 * quotient.high * quotient.low;
    pair cube = times(square, quotient.high);
    cube.low += square.high * quotient.low;
    pair third = times(cube, 1.0 / 3);
    third.low += cube.high * 0x1.5555555555555p-56;
    double fifth = cube.high * square.high * sum;
    /* exponent · ln 2 + 2·(…), from the largest to the smallest. */
    pair value = two_sum(exponent * ln2_1, exponent * ln2_2);
    pair a = two_sum(value.high, 2 * quotient.high);
    a.low += value.low + exponent * ln2_3 + 2 * quotient.low;
    pair b = two_sum(a.high, 2 * third.high);
    b.low += a.low + 2 * third.low + 2 * fifth;
    return quick_sum(b.high, b.low);
}

double rbli_log(double x)
{
    if (!(x > 0)) return -HUGE_VAL;
    if (x > 0x1.fffffffffffffp+1023) return x;
    return log_pair(x).high;
}

double rbli_pow(double base, double exponent)
{
    if (exponent == 0 || base == 1) return 1;
    if (!(base > 0)) return exponent > 0 ? 0 : HUGE_VAL;
    if (base > 0x1.fffffffffffffp+1023) return exponent > 0 ? base : 0;
    pair log = log_pair(base);
    if (fabs(exponent) > 0x1p+80) exponent = exponent > 0 ? 0x1p+80 : -0x1p+80;
    pair x = times(log, exponent);
    return exp_pair(x);
}

/// The arc tangent of 0 ≤ t ≤ 1: its angle is halved twice, then the Taylor series; the rest is below 1e-20.
static double arc(double t)
{
    for (int i = 0; i < 2; i++)
        t /= 1 + sqrt(1 + t * t);
    double z = t * t, sum = 0;
    for (int i = 25; i >= 3; i -= 2)
        sum = z * (sum + (i % 4 == 3 ? -1.0 : 1.0) / i);
    return 4 * (t + t * sum);
}

double rbli_atan2(double y, double x)
{
    double a = fabs(x), b = fabs(y);
    if (a == 0 && b == 0) return 0;
    double angle = b <= a ? arc(b / a) : RBLI_PI / 2 - arc(a / b);
    if (x < 0) angle = RBLI_PI - angle;
    return y < 0 ? -angle : angle;
}
