/// Sine and cosine: reduction by a quarter turn in three parts (Cody and Waite 1980), then Taylor
/// polynomials, whose rest on ±π/4 is below 1e-18.

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
