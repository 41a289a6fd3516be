/// The order in which points are best inserted into a Delaunay triangulation.

#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/delaunay.h"
#include "fracture/geometry/radix_sort.h"

enum {
    BITS = 19, /* of a coordinate */
    LANES = 8, /* points whose keys are made together, so that compilers use vectors */
};

/// Positions along a Hilbert curve (Skilling 2004, Programming the Hilbert curve; without branches).
/// @param x coordinates, overwritten
static void hilbert_keys(uint32_t x[3][LANES], uint64_t keys[LANES])
{
    for (int bit = BITS - 1; bit > 0; bit--)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < LANES; i++) {
                uint32_t low = (1u << bit) - 1, set = 0u - (x[k][i] >> bit & 1);
                uint32_t swap = (x[0][i] ^ x[k][i]) & low & ~set;
                x[0][i] ^= swap | (low & set);
                x[k][i] ^= swap;
            }
    for (int i = 0; i < LANES; i++) {
        x[1][i] ^= x[0][i];
        x[2][i] ^= x[1][i];
        uint32_t fix = x[2][i] >> 1; /* each bit: whether the number of bits above it is odd */
        for (int shift = 1; shift < BITS; shift *= 2)
            fix ^= fix >> shift;
        keys[i] = rbli_every_third(x[0][i] ^ fix) << 2 | rbli_every_third(x[1][i] ^ fix) << 1 |
                  rbli_every_third(x[2][i] ^ fix);
    }
}

/// The round of a point: half of all in the last, a quarter in the one before, …
static int round_of(uint64_t index, int round_count)
{
    uint64_t z = index + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    int level = z ? __builtin_ctzll(z) : 63;
    return level >= round_count ? 0 : round_count - level;
}

typedef struct key_job {
    const double (*points)[3];
    double half_extent;
    rbli_keyed *keys;
} key_job;

static rbl_status key_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const key_job *job = user;
    uint32_t x[3][LANES] = {{0}};
    uint64_t keys[LANES];
    for (size_t i = begin; i < end; i += LANES) {
        size_t count = end - i < LANES ? end - i : LANES;
        for (size_t lane = 0; lane < count; lane++)
            for (int k = 0; k < 3; k++)
                x[k][lane] = (uint32_t)((job->points[i + lane][k] + job->half_extent) /
                                        (2 * job->half_extent) * ((1 << BITS) - 1));
        hilbert_keys(x, keys);
        for (size_t lane = 0; lane < count; lane++)
            job->keys[i + lane] = (rbli_keyed){keys[lane], (int32_t)(i + lane)};
    }
    return RBL_OK;
}

static int compare_points(const void *a, const void *b)
{
    const double *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
    return 0;
}

/// Whether two points are equal: such ones have the same key.
static rbl_status find_equal(
    rbl_context *ctx, const double (*points)[3], const rbli_keyed *keys, size_t count, bool *equal)
{
    rbl_status status = RBL_OK;
    struct {
        double (*data)[3];
        size_t count, capacity;
    } run = {0};
    *equal = false;
    for (size_t i = 0, end; i < count && !*equal; i = end) {
        for (end = i + 1; end < count && keys[end].key == keys[i].key; end++) {
        }
        if (end - i < 2) continue;
        RBL_TRY(rbli_array_reserve(ctx, &run, end - i));
        for (size_t j = i; j < end; j++)
            memcpy(run.data[j - i], points[keys[j].index], sizeof *run.data);
        qsort(run.data, end - i, sizeof *run.data, compare_points);
        for (size_t j = 1; j < end - i; j++)
            *equal |= compare_points(run.data[j - 1], run.data[j]) == 0;
    }
done:
    rbli_free(ctx, run.data);
    return status;
}

rbl_status rbli_delaunay_order(rbl_context *ctx, const double (*points)[3], size_t count,
    double ghost_distance, int32_t *curve, int32_t *order, bool *equal)
{
    enum { POINTS_OF_FIRST = 64, MOST_ROUNDS = 64 };
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    int round_count = 0;
    size_t next[MOST_ROUNDS + 1] = {0};
    while (count >> round_count > POINTS_OF_FIRST)
        round_count++;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    key_job job = {points, ghost_distance / 5, keys};
    RBL_TRY(rbli_parallel_for(ctx, count, 1024, key_range, &job));
    RBL_TRY(rbli_radix_sort_polled(ctx, keys, scratch, count));
    for (size_t i = 0; i < count; i++)
        next[round_of(i, round_count) + 1]++;
    for (int i = 0; i < round_count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < count; i++) {
        curve[i] = keys[i].index;
        order[next[round_of((uint64_t)keys[i].index, round_count)]++] = (int32_t)i;
    }
    if (equal) RBL_TRY(find_equal(ctx, points, keys, count, equal));
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    return status;
}
