/// A hash table of short vectors of floats, open addressing.

#include "fracture/io/float_table.h"

#include <string.h>

#include "fracture/base/alloc.h"

uint32_t rbli_float_table_add(rbli_float_table *table, const float *key)
{
    uint64_t hash = 0;
    for (size_t k = 0; k < table->width; k++) {
        uint32_t bits;
        memcpy(&bits, key + k, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    size_t at = hash & (table->slot_count - 1);
    while (table->slots[at]) {
        if (memcmp(table->keys[table->slots[at] - 1], key, table->width * sizeof *key) == 0)
            return table->slots[at] - 1;
        at = (at + 1) & (table->slot_count - 1);
    }
    table->keys[table->count] = key;
    table->slots[at] = ++table->count;
    return table->count - 1;
}

rbl_status rbli_float_table_init(rbl_context *ctx, rbli_float_table *table, size_t width, size_t most_corners)
{
    table->width = width;
    table->slot_count = 64;
    while (table->slot_count < 2 * most_corners)
        table->slot_count *= 2;
    table->slots = rbli_alloc(ctx, table->slot_count, sizeof *table->slots);
    table->keys = rbli_alloc(ctx, most_corners, sizeof *table->keys);
    return table->slots && table->keys ? RBL_OK : RBL_ERR_NO_MEMORY;
}

void rbli_float_table_reset(rbli_float_table *table, size_t corners)
{
    table->slot_count = 64;
    while (table->slot_count < 2 * corners)
        table->slot_count *= 2;
    memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    table->count = 0;
}

void rbli_float_table_free(rbl_context *ctx, rbli_float_table *table)
{
    rbli_free(ctx, table->slots);
    rbli_free(ctx, table->keys);
    *table = (rbli_float_table){0};
}
