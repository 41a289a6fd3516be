#ifndef RUBBLE_IO_FLOAT_TABLE_H
#define RUBBLE_IO_FLOAT_TABLE_H

/// Vectors of floats numbered in order of first appearance within a piece; compared by their bits.

#include "fracture/base/context.h"

typedef struct rbli_float_table {
    uint32_t *slots;    /* number + 1 of the vector there, or 0 */
    size_t slot_count;  /* a power of two, at least twice the corners of a piece */
    const float **keys; /* [number] borrowed */
    uint32_t count;
    size_t width;
} rbli_float_table;

/// @param most_corners the most that a piece has
/// @return RBL_OK · RBL_ERR_NO_MEMORY; free it in any case
rbl_status rbli_float_table_init(
    rbl_context *ctx, rbli_float_table *table, size_t width, size_t most_corners);
void rbli_float_table_free(rbl_context *ctx, rbli_float_table *table);
/// Empties the table, with as many slots as `corners` need.
void rbli_float_table_reset(rbli_float_table *table, size_t corners);
/// The number of a vector, a new one if it was not there. The key must stay until the next reset.
uint32_t rbli_float_table_add(rbli_float_table *table, const float *key);

#endif
