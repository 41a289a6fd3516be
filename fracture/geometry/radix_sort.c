/// Least significant digit first, eight bits a pass; the histograms are taken in one look. Many pairs are first dealt
/// out by their highest digit, so that the other passes stay within parts that a cache holds, and parts are sorted in
/// parallel.

#include "fracture/geometry/radix_sort.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"

static void insertion_sort(rbli_keyed *pairs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        rbli_keyed pair = pairs[i];
        size_t j = i;
        for (; j > 0 && pairs[j - 1].key > pair.key; j--)
            pairs[j] = pairs[j - 1];
        pairs[j] = pair;
    }
}

enum {
    CHUNK = 1 << 16, /* elements of a block, and between looks at the request to cancel */
    INSERTED = 48,
    DEALT = 1 << 16, /* as many and more do not fit into a cache with their scratch memory */
};

static void count_digits(const rbli_keyed *pairs, size_t count, int digits, uint32_t histogram[8][256])
{
    for (size_t i = 0; i < count; i++)
        for (int digit = 0; digit < digits; digit++)
            histogram[digit][pairs[i].key >> (8 * digit) & 255]++;
}

static void scatter(const rbli_keyed *from, size_t count, int digit, uint32_t place[256], rbli_keyed *to)
{
    for (size_t i = 0; i < count; i++)
        to[place[from[i].key >> (8 * digit) & 255]++] = from[i];
}

static size_t chunk_at(size_t begin, size_t count)
{
    return count - begin < CHUNK ? count - begin : CHUNK;
}

/// Where each digit's first pair goes, in place of how many there are.
static void places_of(uint32_t counts[256])
{
    uint32_t place = 0;
    for (int value = 0; value < 256; value++) {
        uint32_t here = counts[value];
        counts[value] = place;
        place += here;
    }
}

/// The lowest digits. @param ctx NULL: cannot be cancelled
static rbl_status count_all(
    const rbl_context *ctx, const rbli_keyed *pairs, size_t count, int digits, uint32_t histogram[8][256])
{
    memset(histogram, 0, (size_t)digits * sizeof *histogram);
    for (size_t i = 0; i < count; i += CHUNK) {
        if (ctx && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        count_digits(pairs + i, chunk_at(i, count), digits, histogram);
    }
    return RBL_OK;
}

/// Sorts `from` by its digits 0 … digits − 1 whose counts are given. The result is in `pairs`, one of `from` and `to`.
static rbl_status sort_digits(const rbl_context *ctx, rbli_keyed *from, rbli_keyed *to, size_t count,
    uint32_t histogram[8][256], int digits, rbli_keyed *pairs)
{
    for (int digit = 0; digit < digits; digit++) {
        uint32_t *counts = histogram[digit];
        if (counts[from[0].key >> (8 * digit) & 255] == count) continue;
        places_of(counts);
        for (size_t i = 0; i < count; i += CHUNK) {
            if (ctx && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
            scatter(from + i, chunk_at(i, count), digit, counts, to);
        }
        rbli_keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != pairs) memcpy(pairs, from, count * sizeof *pairs);
    return RBL_OK;
}

/// Pairs of a block: the bits in which they differ from the first of all; how many there are of each digit, then
/// where the next one goes.
typedef struct deal_block {
    uint64_t differing;
    uint32_t places[256];
} deal_block;

typedef struct sort_job {
    rbli_keyed *pairs, *scratch;
    int highest; /* digit that differs */
    deal_block *blocks;
    uint32_t begins[257]; /* of parts */
} sort_job;

static rbl_status compare_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const sort_job *job = user;
    uint64_t differing = 0;
    (void)ctx;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        differing |= job->pairs[i].key ^ job->pairs[0].key;
    job->blocks[block].differing = differing;
    return RBL_OK;
}

static rbl_status count_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const sort_job *job = user;
    uint32_t *counts = job->blocks[block].places;
    (void)ctx;
    (void)worker;
    memset(counts, 0, sizeof job->blocks[block].places);
    for (size_t i = begin; i < end; i++)
        counts[job->pairs[i].key >> (8 * job->highest) & 255]++;
    return RBL_OK;
}

static rbl_status deal_out_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const sort_job *job = user;
    (void)ctx;
    (void)worker;
    scatter(job->pairs + begin, end - begin, job->highest, job->blocks[block].places, job->scratch);
    return RBL_OK;
}

/// Sorts parts begin … end − 1, which lie in the scratch memory, by the digits below the highest. @param ctx may be NULL
static rbl_status sort_parts(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const sort_job *job = user;
    uint32_t histogram[8][256];
    (void)block;
    (void)worker;
    for (size_t value = begin; value < end; value++) {
        size_t size = job->begins[value + 1] - job->begins[value];
        rbli_keyed *from = job->scratch + job->begins[value], *to = job->pairs + job->begins[value];
        if (size == 0) continue;
        if (size < INSERTED) {
            insertion_sort(from, size);
            memcpy(to, from, size * sizeof *to);
            continue;
        }
        rbl_status status = count_all(ctx, from, size, job->highest, histogram);
        if (status == RBL_OK) status = sort_digits(ctx, from, to, size, histogram, job->highest, to);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Calls `fn` for the blocks of 0 … count − 1; without a context for all at once.
static rbl_status run(rbl_context *ctx, size_t count, size_t grain, rbli_block_fn fn, sort_job *job)
{
    return ctx ? rbli_parallel_for(ctx, count, grain, fn, job) : fn(NULL, 0, count, 0, 0, job);
}

/// Deals out by the highest digit that differs, then sorts each part by the digits below.
static rbl_status deal_and_sort(rbl_context *ctx, sort_job *job, size_t count, size_t block_count)
{
    uint32_t place = 0;
    rbl_status status = run(ctx, count, CHUNK, count_block, job);
    if (status != RBL_OK) return status;
    for (int value = 0; value < 256; value++) {
        job->begins[value] = place;
        for (size_t i = 0; i < block_count; i++) {
            uint32_t here = job->blocks[i].places[value];
            job->blocks[i].places[value] = place;
            place += here;
        }
    }
    job->begins[256] = place;
    status = run(ctx, count, CHUNK, deal_out_block, job);
    return status == RBL_OK ? run(ctx, 256, 1, sort_parts, job) : status;
}

/// @param ctx NULL: cannot be cancelled, on the caller's thread, cannot fail
static rbl_status sort(rbl_context *ctx, rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    rbl_status status = RBL_OK;
    deal_block own, *several = NULL;
    sort_job job = {.pairs = pairs, .scratch = scratch, .blocks = &own};
    size_t block_count = ctx ? (count + CHUNK - 1) / CHUNK : 1;
    uint32_t histogram[8][256];
    uint64_t differing = 0;
    if (count < INSERTED) {
        insertion_sort(pairs, count);
        return RBL_OK;
    }
    if (block_count > 1) RBL_TRY_ALLOC(job.blocks = several = rbli_alloc(ctx, block_count, sizeof *several));
    RBL_TRY(run(ctx, count, CHUNK, compare_block, &job));
    for (size_t i = 0; i < block_count; i++)
        differing |= job.blocks[i].differing;
    if (differing == 0) goto done;
    job.highest = (63 - __builtin_clzll(differing)) / 8;
    if (count >= DEALT && job.highest > 1) {
        RBL_TRY(deal_and_sort(ctx, &job, count, block_count));
    } else {
        RBL_TRY(count_all(ctx, pairs, count, job.highest + 1, histogram));
        RBL_TRY(sort_digits(ctx, pairs, scratch, count, histogram, job.highest + 1, pairs));
    }
done:
    if (several) rbli_free(ctx, several);
    return status;
}

void rbli_radix_sort(rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    sort(NULL, pairs, scratch, count);
}

rbl_status rbli_radix_sort_polled(rbl_context *ctx, rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    return sort(ctx, pairs, scratch, count);
}
