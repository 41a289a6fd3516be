/// Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

#include "fracture/base/rng.h"

void rbli_philox4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

uint32_t rbli_rng_u32(rbli_rng *rng)
{
    const uint32_t counter[4] = {(uint32_t)rng->index, (uint32_t)(rng->index >> 32), rng->draw / 4, 0};
    const uint32_t key[2] = {rng->seed, rng->purpose};
    uint32_t out[4];
    rbli_philox4x32_10(counter, key, out);
    return out[rng->draw++ % 4];
}

double rbli_rng_double(rbli_rng *rng)
{
    uint64_t high = rbli_rng_u32(rng) >> 5;
    uint64_t low = rbli_rng_u32(rng) >> 6;
    return (double)(high << 26 | low) * 0x1p-53;
}

uint32_t rbli_rng_below(rbli_rng *rng, uint32_t bound)
{
    /* Lemire 2019: multiply and reject the short first interval. */
    uint64_t product = (uint64_t)rbli_rng_u32(rng) * bound;
    uint32_t reject = (0u - bound) % bound;
    while ((uint32_t)product < reject)
        product = (uint64_t)rbli_rng_u32(rng) * bound;
    return (uint32_t)(product >> 32);
}
