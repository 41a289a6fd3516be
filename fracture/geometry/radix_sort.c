/// Least significant digit first, eight bits a pass; the histograms are taken in one look. Many pairs are first dealt
/// out by their highest digit, so that the other passes stay within parts that a cache holds.

#include "fracture/geometry/radix_sort.h"

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
    CHUNK = 1 << 17, /* elements between looks at the request to cancel */
    INSERTED = 48,
    DEALT = 1 << 16, /* as many and more do not fit into a cache with their scratch memory */
};

static void count_digits(const rbli_keyed *pairs, size_t count, int digits, uint32_t histogram[8][256])
{
    for (size_t i = 0; i < count; i++)
        for (int digit = 0; digit < digits; digit++)
            histogram[digit][pairs[i].key >> (8 * digit) & 255]++;
}

static void count_digit(const rbli_keyed *pairs, size_t count, int digit, uint32_t counts[256])
{
    for (size_t i = 0; i < count; i++)
        counts[pairs[i].key >> (8 * digit) & 255]++;
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

/// Deals out by the highest digit that differs, then sorts each part by the digits below.
static rbl_status sort_parts(
    const rbl_context *ctx, rbli_keyed *pairs, rbli_keyed *scratch, size_t count, int highest)
{
    uint32_t ends[256] = {0}, part[8][256];
    for (size_t i = 0; i < count; i += CHUNK) {
        if (ctx && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        count_digit(pairs + i, chunk_at(i, count), highest, ends);
    }
    places_of(ends);
    for (size_t i = 0; i < count; i += CHUNK) {
        if (ctx && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        scatter(pairs + i, chunk_at(i, count), highest, ends, scratch);
    }
    for (size_t value = 0, begin = 0; value < 256; begin = ends[value++]) {
        size_t size = ends[value] - begin;
        if (size == 0) continue;
        if (size < INSERTED) {
            insertion_sort(scratch + begin, size);
            memcpy(pairs + begin, scratch + begin, size * sizeof *pairs);
            continue;
        }
        rbl_status status = count_all(ctx, scratch + begin, size, highest, part);
        if (status == RBL_OK)
            status = sort_digits(ctx, scratch + begin, pairs + begin, size, part, highest, pairs + begin);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// @param ctx NULL: cannot be cancelled
static rbl_status sort(const rbl_context *ctx, rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    uint32_t histogram[8][256];
    uint64_t differing = 0;
    if (count < INSERTED) {
        insertion_sort(pairs, count);
        return RBL_OK;
    }
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        if (ctx && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        for (size_t i = begin, end = begin + chunk_at(begin, count); i < end; i++)
            differing |= pairs[i].key ^ pairs[0].key;
    }
    if (differing == 0) return RBL_OK;
    int highest = (63 - __builtin_clzll(differing)) / 8;
    if (count >= DEALT && highest > 1) return sort_parts(ctx, pairs, scratch, count, highest);
    rbl_status status = count_all(ctx, pairs, count, highest + 1, histogram);
    return status == RBL_OK ? sort_digits(ctx, pairs, scratch, count, histogram, highest + 1, pairs) : status;
}

void rbli_radix_sort(rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    sort(NULL, pairs, scratch, count);
}

rbl_status rbli_radix_sort_polled(
    const rbl_context *ctx, rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    return sort(ctx, pairs, scratch, count);
}
