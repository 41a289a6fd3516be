/// Least significant digit first, eight bits a pass; all histograms are taken in one look.

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

enum { CHUNK = 1 << 17 }; /* elements between looks at the request to cancel */

static void count_digits(const rbli_keyed *pairs, size_t count, uint32_t histogram[8][256])
{
    for (size_t i = 0; i < count; i++)
        for (int digit = 0; digit < 8; digit++)
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

/// @param ctx NULL: cannot be cancelled
static rbl_status sort(const rbl_context *ctx, rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    if (count < 48) {
        insertion_sort(pairs, count);
        return RBL_OK;
    }
    uint32_t histogram[8][256];
    memset(histogram, 0, sizeof histogram);
    for (size_t i = 0; i < count; i += CHUNK) {
        if (ctx && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        count_digits(pairs + i, chunk_at(i, count), histogram);
    }
    rbli_keyed *from = pairs, *to = scratch;
    for (int digit = 0; digit < 8; digit++) {
        uint32_t *counts = histogram[digit];
        if (counts[from[0].key >> (8 * digit) & 255] == count) continue;
        uint32_t place = 0;
        for (int value = 0; value < 256; value++) {
            uint32_t here = counts[value];
            counts[value] = place;
            place += here;
        }
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

void rbli_radix_sort(rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    sort(NULL, pairs, scratch, count);
}

rbl_status rbli_radix_sort_polled(
    const rbl_context *ctx, rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    return sort(ctx, pairs, scratch, count);
}
