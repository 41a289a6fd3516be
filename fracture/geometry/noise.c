/// Gradient noise: K. Perlin, Improving noise, 2002, with hashed lattice points and three channels.

#include "fracture/geometry/noise.h"

#include <math.h>

/// Coordinates are taken modulo this many lattice cells, so that they fit an integer.
static const double LATTICE_LIMIT = 0x1p50;

rbli_noise rbli_noise_default(void)
{
    return (rbli_noise){.frequency = 2.5, .persistence = 0.5, .lacunarity = 2, .octaves = 4};
}

double rbli_noise_bound(const rbli_noise *noise)
{
    double sum = 0, part = noise->amplitude;
    for (int i = 0; i < noise->octaves; i++, part *= noise->persistence)
        sum += part;
    return sum;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

/// One of twelve gradients to the middles of a cube's edges (four twice), times a vector: the sum of two of its
/// coordinates or their negatives, which follow them. By tables: branches would be foreseen half of the time.
static double gradient(uint64_t hash, const double vector[6])
{
    enum { X, Y, Z, NX, NY, NZ };
    static const uint8_t first[16] = {X, NX, X, NX, X, NX, X, NX, Y, NY, Y, NY, Y, NY, Y, NY};
    static const uint8_t second[16] = {Y, Y, NY, NY, Z, Z, NZ, NZ, Z, Z, NZ, NZ, X, Z, NX, NZ};
    return vector[first[hash & 15]] + vector[second[hash & 15]];
}

static double fade(double t)
{
    return t * t * t * (t * (t * 6 - 15) + 10);
}

static double blend(double t, double a, double b)
{
    return a + t * (b - a);
}

/// Three channels of one octave, each in −1 … 1.
static void octave_at(uint64_t seed, const double p[3], double out[3])
{
    int64_t cell[3];
    uint64_t hash_x[2], hash_xy[4]; /* what corners have in common is hashed once */
    double from[3][2], t[3], corner[3][8];
    for (int k = 0; k < 3; k++) {
        double whole = floor(p[k]);
        from[k][0] = p[k] - whole;
        from[k][1] = from[k][0] - 1;
        t[k] = fade(from[k][0]);
        cell[k] = fabs(whole) < LATTICE_LIMIT ? (int64_t)whole : 0;
    }
    for (int i = 0; i < 2; i++)
        hash_x[i] = mix(seed ^ (uint64_t)(cell[0] + i) * 0x9e3779b97f4a7c15u);
    for (int i = 0; i < 4; i++)
        hash_xy[i] = mix(hash_x[i & 1] ^ (uint64_t)(cell[1] + (i >> 1)) * 0xc2b2ae3d27d4eb4fu);
    for (int i = 0; i < 8; i++) {
        uint64_t h = mix(hash_xy[i & 3] ^ (uint64_t)(cell[2] + (i >> 2)) * 0x165667b19e3779f9u);
        double x = from[0][i & 1], y = from[1][i >> 1 & 1], z = from[2][i >> 2];
        double vector[6] = {x, y, z, -x, -y, -z};
        for (int c = 0; c < 3; c++)
            corner[c][i] = gradient(h >> (20 * c + 3), vector);
    }
    for (int c = 0; c < 3; c++) {
        const double *v = corner[c];
        double low = blend(t[1], blend(t[0], v[0], v[1]), blend(t[0], v[2], v[3]));
        double high = blend(t[1], blend(t[0], v[4], v[5]), blend(t[0], v[6], v[7]));
        double sum = blend(t[2], low, high);
        sum = sum < 1 ? sum : 1; /* fmin and fmax are calls */
        out[c] = sum > -1 ? sum : -1;
    }
}

void rbli_noise_at(const rbli_noise *noise, const double point[3], double out[3])
{
    double amplitude = noise->amplitude, frequency = noise->frequency;
    out[0] = out[1] = out[2] = 0;
    for (int i = 0; i < noise->octaves; i++) {
        double p[3], part[3];
        for (int k = 0; k < 3; k++)
            p[k] = point[k] * frequency;
        octave_at(mix((uint64_t)noise->seed << 8 | (uint64_t)i), p, part);
        for (int k = 0; k < 3; k++)
            out[k] += amplitude * part[k];
        amplitude *= noise->persistence;
        frequency *= noise->lacunarity;
    }
}
