#ifndef RUBBLE_BASE_RNG_H
#define RUBBLE_BASE_RNG_H

/// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011). A number depends only on
/// its coordinates, never on threads or on what was drawn before.
///
/// Key layout: key = {seed, purpose}; counter = {index low, index high, draw / 4, 0}; lane draw % 4 of the
/// output. `purpose` is a constant of the caller, so that two uses of one seed are independent; `index` is
/// the element (site, bone); `draw` counts within the element.

#include <stdint.h>

typedef struct rbli_rng {
    uint32_t seed, purpose;
    uint64_t index;
    uint32_t draw; /* the next draw */
} rbli_rng;

/// Purposes in use; one a user of random numbers, never renumbered.
enum {
    RBLI_RNG_SCATTER = 1,
    RBLI_RNG_CHANCE = 2,
    RBLI_RNG_CLUSTER = 3,
    RBLI_RNG_COLOR = 4,
    RBLI_RNG_PLANES = 5,
    RBLI_RNG_BONE_SEED = 6,
    RBLI_RNG_TEST = 7,
    RBLI_RNG_SELECT = 20,
    RBLI_RNG_RADIAL_POINTS = 21,
    RBLI_RNG_CLUSTER_POINTS = 22,
    RBLI_RNG_GRID_POINTS = 23,
    RBLI_RNG_SURFACE_POINTS = 24,
    RBLI_RNG_VOLUME_POINTS = 25,
    RBLI_RNG_IMPACT_POINTS = 26,
    RBLI_RNG_DENSITY_POINTS = 27,
    RBLI_RNG_THIN_POINTS = 28,
    RBLI_RNG_SLICES = 30,
    RBLI_RNG_MESH_COPIES = 31,
};

void rbli_philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
static inline rbli_rng rbli_rng_make(uint32_t seed, uint32_t purpose, uint64_t index)
{
    return (rbli_rng){seed, purpose, index, 0};
}
uint32_t rbli_rng_u32(rbli_rng *rng);
/// Uniform in [0, 1) with 53 bits; takes two draws.
double rbli_rng_double(rbli_rng *rng);
/// Uniform in [0, bound) without bias for bound ≥ 1.
uint32_t rbli_rng_below(rbli_rng *rng, uint32_t bound);

#endif
