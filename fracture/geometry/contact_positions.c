/// Equal positions get equal numbers: vertices are dealt out by a hash into ranges that a cache holds, the first of
/// each position is found in each range, and these are numbered as they come.

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/contact.h"
#include "fracture/geometry/radix_sort.h"

enum {
    DEALT = 1 << 14,       /* vertices of a block */
    RANGE_VERTICES = 2048, /* about, of a range */
    MOST_RANGES = 512,
    AHEAD = 16,
};

/// A vertex, and the part of its hash that does not choose the range.
typedef struct hashed_vertex {
    uint32_t hash;
    int32_t vertex;
} hashed_vertex;

typedef struct position_job {
    const double (*positions)[3];
    size_t range_count;
    size_t *places, *begins; /* rbli_place_ranges */
    hashed_vertex *hashed;
    int32_t *ids;          /* [count] the first vertex there, then its number */
    int32_t *numbers;      /* [count] of first vertices */
    size_t *numbered_from; /* [block]: how many first ones, then the number of the next one */
} position_job;

static inline uint64_t hash_of(const double position[3])
{
    const double p[3] = {position[0] + 0.0, position[1] + 0.0, position[2] + 0.0}; /* no negative zeros */
    return rbli_hash64(p, sizeof p);
}

static inline size_t range_of(const position_job *job, uint64_t hash)
{
    return (size_t)((hash >> 32) * job->range_count >> 32);
}

static rbl_status count_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const position_job *job = user;
    size_t *counts = job->places + block * job->range_count;
    (void)ctx;
    (void)worker;
    memset(counts, 0, job->range_count * sizeof *counts);
    for (size_t i = begin; i < end; i++)
        counts[range_of(job, hash_of(job->positions[i]))]++;
    return RBL_OK;
}

static rbl_status deal_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const position_job *job = user;
    size_t *places = job->places + block * job->range_count;
    (void)ctx;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        uint64_t hash = hash_of(job->positions[i]);
        job->hashed[places[range_of(job, hash)]++] = (hashed_vertex){(uint32_t)hash, (int32_t)i};
    }
    return RBL_OK;
}

static inline bool are_equal(const double p[3], const double q[3])
{
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

/// Finds the first vertex of each position of a range.
static rbl_status find_firsts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const position_job *job = user;
    const hashed_vertex *hashed = job->hashed + job->begins[begin];
    size_t count = job->begins[begin + 1] - job->begins[begin], size = 16;
    rbl_status status = RBL_OK;
    (void)end;
    (void)block;
    (void)worker;
    while (size < 2 * count)
        size *= 2;
    uint32_t *first = rbli_calloc(ctx, size, sizeof *first); /* by hash: 1 + place */
    if (!first) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count && status == RBL_OK; i++) {
        const double *own = job->positions[hashed[i].vertex];
        size_t slot = hashed[i].hash & (size - 1);
        if (i + AHEAD < count) __builtin_prefetch(job->positions[hashed[i + AHEAD].vertex]);
        for (; first[slot]; slot = (slot + 1) & (size - 1)) {
            const hashed_vertex *other = &hashed[first[slot] - 1];
            if (other->hash == hashed[i].hash && are_equal(job->positions[other->vertex], own)) break;
        }
        if (!first[slot]) first[slot] = (uint32_t)i + 1;
        job->ids[hashed[i].vertex] = hashed[first[slot] - 1].vertex;
        status = rbli_poll(ctx, i);
    }
    rbli_free(ctx, first);
    return status;
}

static rbl_status count_firsts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const position_job *job = user;
    size_t count = 0;
    (void)ctx;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        count += job->ids[i] == (int32_t)i;
    job->numbered_from[block] = count;
    return RBL_OK;
}

static rbl_status number_firsts(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const position_job *job = user;
    int32_t number = (int32_t)job->numbered_from[block];
    (void)ctx;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (job->ids[i] == (int32_t)i) job->numbers[i] = number++;
    return RBL_OK;
}

static rbl_status number_all(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const position_job *job = user;
    (void)ctx;
    (void)block;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        job->ids[i] = job->numbers[job->ids[i]];
    return RBL_OK;
}

rbl_status rbli_position_ids(
    rbl_context *ctx, const double (*positions)[3], size_t count, int32_t *ids, size_t *unique_count)
{
    rbl_status status = RBL_OK;
    size_t block_count = (count + DEALT - 1) / DEALT, unique = 0;
    position_job job = {.positions = positions, .ids = ids, .range_count = count / RANGE_VERTICES + 1};
    if (job.range_count > MOST_RANGES) job.range_count = MOST_RANGES;
    RBL_TRY_ALLOC(job.places = rbli_alloc(ctx, block_count * job.range_count, sizeof *job.places));
    RBL_TRY_ALLOC(job.begins = rbli_alloc(ctx, job.range_count + 1, sizeof *job.begins));
    RBL_TRY_ALLOC(job.numbered_from = rbli_alloc(ctx, block_count, sizeof *job.numbered_from));
    RBL_TRY_ALLOC(job.hashed = rbli_alloc(ctx, count, sizeof *job.hashed));
    RBL_TRY(rbli_parallel_for(ctx, count, DEALT, count_block, &job));
    rbli_place_ranges(job.places, block_count, job.range_count, job.begins);
    RBL_TRY(rbli_parallel_for(ctx, count, DEALT, deal_block, &job));
    RBL_TRY(rbli_parallel_for(ctx, job.range_count, 1, find_firsts, &job));
    rbli_free(ctx, job.hashed);
    job.hashed = NULL;
    RBL_TRY_ALLOC(job.numbers = rbli_alloc(ctx, count, sizeof *job.numbers));
    RBL_TRY(rbli_parallel_for(ctx, count, DEALT, count_firsts, &job));
    for (size_t i = 0; i < block_count; i++) {
        size_t here = job.numbered_from[i];
        job.numbered_from[i] = unique;
        unique += here;
    }
    RBL_TRY(rbli_parallel_for(ctx, count, DEALT, number_firsts, &job));
    RBL_TRY(rbli_parallel_for(ctx, count, DEALT, number_all, &job));
    *unique_count = unique;
done:
    rbli_free(ctx, job.places);
    rbli_free(ctx, job.begins);
    rbli_free(ctx, job.numbered_from);
    rbli_free(ctx, job.hashed);
    rbli_free(ctx, job.numbers);
    return status;
}
