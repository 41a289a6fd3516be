#ifndef RUBBLE_GEOMETRY_LANES_H
#define RUBBLE_GEOMETRY_LANES_H

/// Two or four numbers side by side, as processors work on them at once.

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef float rbli_float4 __attribute__((vector_size(16)));
typedef int32_t rbli_int4 __attribute__((vector_size(16)));
typedef double rbli_double2 __attribute__((vector_size(16)));
typedef int64_t rbli_long2 __attribute__((vector_size(16)));

/// What the compiler may use in a function, and whether the processor has it. No results depend on it.
#ifdef __x86_64__
#define RBLI_AVX2 __attribute__((target("avx2")))
static inline bool rbli_has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#endif

/// Bit i: whether lane i is negative, as it is where a comparison is true.
static inline unsigned rbli_lane_bits(rbli_int4 lanes)
{
#ifdef __SSE2__
    return (unsigned)_mm_movemask_ps((__m128)lanes);
#else
    return (unsigned)((lanes[0] < 0) | (lanes[1] < 0) << 1 | (lanes[2] < 0) << 2 | (lanes[3] < 0) << 3);
#endif
}

/// The same for two.
static inline unsigned rbli_lane_bits2(rbli_long2 lanes)
{
#ifdef __SSE2__
    return (unsigned)_mm_movemask_pd((__m128d)lanes);
#else
    return (unsigned)((lanes[0] < 0) | (lanes[1] < 0) << 1);
#endif
}

static inline rbli_double2 rbli_load2(const double *p)
{
    rbli_double2 two;
    memcpy(&two, p, sizeof two);
    return two;
}

static inline rbli_double2 rbli_abs2(rbli_double2 a)
{
    return (rbli_double2)((rbli_long2)a & (rbli_long2){INT64_MAX, INT64_MAX});
}

/// a > b ? a : b, one instruction where there is one.
static inline rbli_double2 rbli_max2(rbli_double2 a, rbli_double2 b)
{
#ifdef __SSE2__
    return (rbli_double2)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return (rbli_double2){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

/// a < b ? a : b
static inline rbli_double2 rbli_min2(rbli_double2 a, rbli_double2 b)
{
#ifdef __SSE2__
    return (rbli_double2)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return (rbli_double2){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
#endif
}

#endif
