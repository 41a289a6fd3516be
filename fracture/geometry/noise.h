#ifndef RUBBLE_GEOMETRY_NOISE_H
#define RUBBLE_GEOMETRY_NOISE_H

/// Gradient noise with three independent channels.

#include <stdint.h>

typedef struct rbli_noise {
    double amplitude;   /* unit of length; default 0 */
    double frequency;   /* of the first octave, per unit of length; default 2.5 */
    double persistence; /* amplitude of an octave to the one before; default 0.5 */
    double lacunarity;  /* frequency of an octave to the one before; default 2 */
    int octaves;        /* 1 … 16; default 4 */
    uint32_t seed;
} rbli_noise;

rbli_noise rbli_noise_default(void);

/// The largest absolute value that a channel can take: amplitude × Σ persistence^octave.
double rbli_noise_bound(const rbli_noise *noise);

/// Improved gradient noise (Perlin 2002) summed over octaves; lattice points are hashed, so it never repeats.
/// Only additions and multiplications: the same bits on every machine. Thread-safe.
void rbli_noise_at(const rbli_noise *noise, const double point[3], double out[3]);

#endif
