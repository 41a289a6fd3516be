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
static size_t round_of(uint64_t index, size_t round_count)
{
    uint64_t z = index + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    size_t level = z ? (size_t)__builtin_ctzll(z) : 63;
    return level >= round_count ? 0 : round_count - level;
}

enum {
    MOST_PARTS = 256,     /* of the curve, sorted by themselves */
    POINTS_A_PART = 2048, /* at most, about */
    SAMPLES_A_PART = 16,
    MOST_ROUNDS = 64,
};

/// The curve is cut into parts of about as many points by the keys of a sample.
typedef struct order_job {
    const double (*points)[3];
    double half_extent;
    size_t round_count, part_count;
    uint64_t splitters[MOST_PARTS]; /* [part_count − 1] the first keys of the parts but the first */
    rbli_keyed *keys, *dealt;       /* [count] of points in their order; part by part */
    size_t *deal; /* [blocks][part_count] points, then where the next goes: rbli_place_ranges */
    size_t begins[MOST_PARTS + 1]; /* of parts */
    size_t *rounds;                /* [part_count][round_count + 1] the same for the points of rounds */
    uint8_t equal[MOST_PARTS];     /* whether a part has points that are equal */
    int32_t *curve, *order;
} order_job;

/// Keys of `count` points, at most LANES, that lie `step` apart.
static void make_keys(const order_job *job, size_t first, size_t count, size_t step, uint64_t keys[LANES])
{
    uint32_t x[3][LANES] = {{0}};
    for (size_t lane = 0; lane < count; lane++)
        for (int k = 0; k < 3; k++)
            x[k][lane] = (uint32_t)((job->points[first + lane * step][k] + job->half_extent) /
                                    (2 * job->half_extent) * ((1 << BITS) - 1));
    hilbert_keys(x, keys);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static rbl_status choose_splitters(rbl_context *ctx, order_job *job, size_t count)
{
    size_t samples = job->part_count * SAMPLES_A_PART, step = count / samples;
    if (job->part_count == 1) return RBL_OK;
    uint64_t *keys = rbli_alloc(ctx, samples, sizeof *keys);
    if (!keys) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < samples; i += LANES)
        make_keys(job, i * step, LANES, step, keys + i);
    qsort(keys, samples, sizeof *keys, compare_keys);
    for (size_t i = 1; i < job->part_count; i++)
        job->splitters[i - 1] = keys[i * SAMPLES_A_PART];
    rbli_free(ctx, keys);
    return RBL_OK;
}

/// The part of a key: how many splitters are not above it.
static size_t part_of(const order_job *job, uint64_t key)
{
    size_t part = 0;
    for (size_t step = job->part_count / 2; step > 0; step /= 2)
        part += job->splitters[part + step - 1] <= key ? step : 0;
    return part;
}

static rbl_status key_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const order_job *job = user;
    uint64_t keys[LANES];
    size_t counts[MOST_PARTS] = {0};
    for (size_t i = begin; i < end; i += LANES) {
        size_t count = end - i < LANES ? end - i : LANES;
        make_keys(job, i, count, 1, keys);
        for (size_t lane = 0; lane < count; lane++) {
            job->keys[i + lane] = (rbli_keyed){keys[lane], (int32_t)(i + lane)};
            counts[part_of(job, keys[lane])]++;
        }
    }
    memcpy(job->deal + block * job->part_count, counts, job->part_count * sizeof *counts);
    return RBL_OK;
}

static rbl_status deal_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const order_job *job = user;
    size_t next[MOST_PARTS];
    memcpy(next, job->deal + block * job->part_count, job->part_count * sizeof *next);
    for (size_t i = begin; i < end; i++)
        job->dealt[next[part_of(job, job->keys[i].key)]++] = job->keys[i];
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
    rbl_context *ctx, const double (*points)[3], const rbli_keyed *keys, size_t count, uint8_t *equal)
{
    rbl_status status = RBL_OK;
    struct {
        double (*data)[3];
        size_t count, capacity;
    } run = {0};
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

static size_t *rounds_of_part(const order_job *job, size_t part)
{
    return job->rounds + part * (job->round_count + 1);
}

/// Sorts parts, sets their places on the curve and counts the points of their rounds.
static rbl_status sort_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    rbl_status status = RBL_OK;
    order_job *job = user;
    for (size_t part = begin; part < end; part++) {
        size_t first = job->begins[part], count = job->begins[part + 1] - first;
        size_t counts[MOST_ROUNDS + 1] = {0};
        rbli_keyed *keys = job->dealt + first;
        RBL_TRY(rbli_radix_sort_polled(ctx, keys, job->keys + first, count));
        for (size_t i = 0; i < count; i++) {
            job->curve[first + i] = keys[i].index;
            counts[round_of((uint64_t)keys[i].index, job->round_count)]++;
        }
        memcpy(rounds_of_part(job, part), counts, (job->round_count + 1) * sizeof *counts);
        RBL_TRY(find_equal(ctx, job->points, keys, count, &job->equal[part]));
    }
done:
    return status;
}

static rbl_status order_range(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const order_job *job = user;
    for (size_t part = begin; part < end; part++) {
        size_t next[MOST_ROUNDS + 1];
        memcpy(next, rounds_of_part(job, part), (job->round_count + 1) * sizeof *next);
        for (size_t i = job->begins[part]; i < job->begins[part + 1]; i++)
            job->order[next[round_of((uint64_t)job->curve[i], job->round_count)]++] = (int32_t)i;
    }
    return RBL_OK;
}

rbl_status rbli_delaunay_order(rbl_context *ctx, const double (*points)[3], size_t count,
    double ghost_distance, int32_t *curve, int32_t *order, bool *equal)
{
    enum { POINTS_OF_FIRST = 64, LEAST_GRAIN = 1024, MOST_BLOCKS = 256 };
    rbl_status status = RBL_OK;
    size_t grain = count / MOST_BLOCKS > LEAST_GRAIN ? count / MOST_BLOCKS : LEAST_GRAIN,
           blocks = (count + grain - 1) / grain, rounds, ends[MOST_ROUNDS + 2];
    order_job job = {
        .points = points, .half_extent = ghost_distance / 5, .part_count = 1, .curve = curve, .order = order};
    while (count >> job.round_count > POINTS_OF_FIRST)
        job.round_count++;
    while (job.part_count < MOST_PARTS && job.part_count * POINTS_A_PART < count)
        job.part_count *= 2;
    rounds = job.round_count + 1;
    RBL_TRY_ALLOC(job.keys = rbli_alloc(ctx, count, sizeof *job.keys));
    RBL_TRY_ALLOC(job.dealt = rbli_alloc(ctx, count, sizeof *job.dealt));
    RBL_TRY_ALLOC(job.deal = rbli_alloc(ctx, blocks * job.part_count, sizeof *job.deal));
    RBL_TRY_ALLOC(job.rounds = rbli_alloc(ctx, job.part_count * rounds, sizeof *job.rounds));
    RBL_TRY(choose_splitters(ctx, &job, count));
    RBL_TRY(rbli_parallel_for(ctx, count, grain, key_range, &job));
    rbli_place_ranges(job.deal, blocks, job.part_count, job.begins);
    RBL_TRY(rbli_parallel_for(ctx, count, grain, deal_range, &job));
    RBL_TRY(rbli_parallel_for(ctx, job.part_count, 1, sort_range, &job));
    rbli_place_ranges(job.rounds, job.part_count, rounds, ends);
    RBL_TRY(rbli_parallel_for(ctx, job.part_count, 1, order_range, &job));
    if (equal) *equal = memchr(job.equal, 1, job.part_count);
done:
    rbli_free(ctx, job.keys);
    rbli_free(ctx, job.dealt);
    rbli_free(ctx, job.deal);
    rbli_free(ctx, job.rounds);
    return status;
}
