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

void rbli_radix_sort(rbli_keyed *pairs, rbli_keyed *scratch, size_t count)
{
    if (count < 48) {
        insertion_sort(pairs, count);
        return;
    }
    uint32_t histogram[8][256];
    memset(histogram, 0, sizeof histogram);
    for (size_t i = 0; i < count; i++)
        for (int digit = 0; digit < 8; digit++)
            histogram[digit][pairs[i].key >> (8 * digit) & 255]++;
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
        for (size_t i = 0; i < count; i++)
            to[counts[from[i].key >> (8 * digit) & 255]++] = from[i];
        rbli_keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != pairs) memcpy(pairs, from, count * sizeof *pairs);
}
