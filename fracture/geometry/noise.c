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

/// One of twelve gradients to the middles of a cube's edges (four twice), times a vector.
static double gradient(uint32_t hash, double x, double y, double z)
{
    uint32_t h = hash & 15;
    double u = h < 8 ? x : y, v = h < 4 ? y : h == 12 || h == 14 ? x : z;
    return (h & 1 ? -u : u) + (h & 2 ? -v : v);
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
    double f[3], t[3], corner[3][8];
    for (int k = 0; k < 3; k++) {
        double whole = floor(p[k]);
        f[k] = p[k] - whole;
        t[k] = fade(f[k]);
        cell[k] = fabs(whole) < LATTICE_LIMIT ? (int64_t)whole : 0;
    }
    for (int i = 0; i < 8; i++) {
        int dx = i & 1, dy = i >> 1 & 1, dz = i >> 2;
        uint64_t h = mix(seed ^ (uint64_t)(cell[0] + dx) * 0x9e3779b97f4a7c15u);
        h = mix(h ^ (uint64_t)(cell[1] + dy) * 0xc2b2ae3d27d4eb4fu);
        h = mix(h ^ (uint64_t)(cell[2] + dz) * 0x165667b19e3779f9u);
        for (int c = 0; c < 3; c++)
            corner[c][i] = gradient((uint32_t)(h >> (20 * c + 3)), f[0] - dx, f[1] - dy, f[2] - dz);
    }
    for (int c = 0; c < 3; c++) {
        const double *v = corner[c];
        double low = blend(t[1], blend(t[0], v[0], v[1]), blend(t[0], v[2], v[3]));
        double high = blend(t[1], blend(t[0], v[4], v[5]), blend(t[0], v[6], v[7]));
        out[c] = fmax(-1, fmin(1, blend(t[2], low, high)));
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
