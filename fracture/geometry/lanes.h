#ifndef RUBBLE_GEOMETRY_LANES_H
#define RUBBLE_GEOMETRY_LANES_H

/// Four numbers side by side, as processors work on them at once.

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef float rbli_float4 __attribute__((vector_size(16)));
typedef int32_t rbli_int4 __attribute__((vector_size(16)));

/// Bit i: whether lane i of a comparison is true (−1, else 0).
static inline unsigned rbli_lane_bits(rbli_int4 lanes)
{
#ifdef __SSE2__
    return (unsigned)_mm_movemask_ps((__m128)lanes);
#else
    return (unsigned)((lanes[0] & 1) | (lanes[1] & 2) | (lanes[2] & 4) | (lanes[3] & 8));
#endif
}

#endif
