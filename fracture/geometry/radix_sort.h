#ifndef RUBBLE_GEOMETRY_RADIX_SORT_H
#define RUBBLE_GEOMETRY_RADIX_SORT_H

/// A stable sort of (64-bit key, index) pairs.

#include <string.h>

#include "fracture/base/context.h"

typedef struct rbli_keyed {
    uint64_t key;
    int32_t index;
} rbli_keyed;

/// Sorts by key, ascending, stable; bytes that are equal in all keys cost nothing but a look.
/// @param scratch [count], used as a second buffer; the result is in `pairs`. Threads: reentrant. O(count).
void rbli_radix_sort(rbli_keyed *pairs, rbli_keyed *scratch, size_t count);
/// The same for many pairs, with the context's pool. @return RBL_OK · RBL_ERR_CANCELLED · RBL_ERR_NO_MEMORY: the pairs
/// are lost then
rbl_status rbli_radix_sort_polled(rbl_context *ctx, rbli_keyed *pairs, rbli_keyed *scratch, size_t count);

/// For dealing elements out into ranges in parallel, stable: makes of the numbers of elements that each block has for
/// each range the places where they go, ranges one after the other, in each the blocks one after the other.
/// @param places [block_count][range_count]
/// @param begins [range_count + 1] of ranges; the last is the number of all elements
static inline void rbli_place_ranges(size_t *places, size_t block_count, size_t range_count, size_t *begins)
{
    size_t place = 0;
    for (size_t range = 0; range < range_count; range++) {
        begins[range] = place;
        for (size_t block = 0; block < block_count; block++) {
            size_t *own = &places[block * range_count + range], here = *own;
            *own = place;
            place += here;
        }
    }
    begins[range_count] = place;
}

/// Spreads the lowest 21 bits out to every third one: three coordinates, shifted by 0, 1 and 2, make a key along a curve.
static inline uint64_t rbli_every_third(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

/// A key that orders like the number: −0 equals +0. Not for NaN.
static inline uint64_t rbli_double_key(double value)
{
    uint64_t bits;
    value += 0.0;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

#endif
