#ifndef RUBBLE_TESTS_RBL_CHECKSUMS_H
#define RUBBLE_TESTS_RBL_CHECKSUMS_H

/// Makes the checksums and the size of a damaged .rbl file right again, so that the damage reaches the checks
/// behind them. Offsets are those of the description at the top of fracture/collection/rbl_file.c.

#include <string.h>

#include "fracture/base/hash.h"

static inline uint64_t rbl_get(const uint8_t *bytes, size_t count)
{
    uint64_t value = 0;
    memcpy(&value, bytes, count);
    return value;
}

static inline void repair_rbl_block(uint8_t *file, size_t file_bytes, uint8_t *row)
{
    uint64_t place = rbl_get(row, 8), stored = rbl_get(row + 8, 8);
    if (place == 0 || place > file_bytes || stored > file_bytes - place) return;
    uint64_t checksum = rbli_hash64(file + place, stored);
    memcpy(row + 24, &checksum, sizeof checksum);
}

static inline void repair_rbl_checksums(uint8_t *file, size_t file_bytes)
{
    if (file_bytes < 64) return;
    uint64_t total = file_bytes;
    memcpy(file + 16, &total, sizeof total);
    size_t groups = rbl_get(file + 24, 4), attributes = rbl_get(file + 28, 4);
    size_t table_bytes = groups * 80 + attributes * 144;
    if (table_bytes <= file_bytes - 64) {
        for (size_t i = 0; i < attributes; i++) {
            uint8_t *row = file + 64 + groups * 80 + i * 144;
            repair_rbl_block(file, file_bytes, row + 72);
            repair_rbl_block(file, file_bytes, row + 108);
        }
        uint64_t checksum = rbli_hash64(file + 64, table_bytes);
        memcpy(file + 48, &checksum, sizeof checksum);
    }
    uint64_t checksum = rbli_hash64(file, 56);
    memcpy(file + 56, &checksum, sizeof checksum);
}

#endif
