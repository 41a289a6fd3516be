#ifndef RUBBLE_TESTS_ENTRY_CHECKSUMS_H
#define RUBBLE_TESTS_ENTRY_CHECKSUMS_H

/// Makes the checksums of a damaged entry of a disk cache right again, so that the damage reaches the checks
/// behind them. Offsets are those of docs/cache.md.

#include <string.h>

#include "fracture/base/hash.h"

enum { ENTRY_HEADER_BYTES = 64, ENTRY_ROW_BYTES = 56 };

static inline void seal_entry(uint8_t *bytes, size_t count)
{
    if (count < ENTRY_HEADER_BYTES) return;
    uint32_t outputs;
    size_t first = count;
    memcpy(&outputs, bytes + 12, sizeof outputs);
    for (size_t i = 0; i < outputs && i < (count - ENTRY_HEADER_BYTES) / ENTRY_ROW_BYTES; i++) {
        uint64_t row[7];
        memcpy(row, bytes + ENTRY_HEADER_BYTES + i * ENTRY_ROW_BYTES, sizeof row);
        if (row[4] < first) first = row[4] < ENTRY_HEADER_BYTES ? ENTRY_HEADER_BYTES : row[4];
        if (row[4] > count || row[5] > count - row[4]) continue;
        row[6] = rbli_hash64(bytes + row[4], row[5]);
        memcpy(bytes + ENTRY_HEADER_BYTES + i * ENTRY_ROW_BYTES, row, sizeof row);
    }
    uint64_t hash = rbli_hash64(bytes + ENTRY_HEADER_BYTES, first - ENTRY_HEADER_BYTES);
    memcpy(bytes + 48, &hash, sizeof hash);
    hash = rbli_hash64(bytes, 56);
    memcpy(bytes + 56, &hash, sizeof hash);
}

#endif
