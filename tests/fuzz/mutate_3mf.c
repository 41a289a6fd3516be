/// A ZIP archive whose last entry is stored: what is damaged is that entry, and sizes, checksum and offsets follow, so
/// that the reader of the archive lets it through to the reader of the model.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/fuzz/mutate.h"

enum { LOCAL_HEADER = 30, DIRECTORY_ENTRY = 46, END_RECORD = 22 };

static size_t get(const uint8_t *at, size_t bytes)
{
    size_t value = 0;
    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static void put_u32(uint8_t *at, size_t value)
{
    for (size_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/// Where the last entry of the directory begins. 0: there is none.
static size_t last_entry(const uint8_t *archive, size_t count)
{
    for (size_t at = count < DIRECTORY_ENTRY ? 0 : count - DIRECTORY_ENTRY; at > 0; at--)
        if (memcmp(archive + at, "PK\1\2", 4) == 0) return at;
    return 0;
}

/// Checksum and both sizes, which headers of both kinds have one behind the other.
static void put_facts(uint8_t *at, size_t crc, size_t size)
{
    put_u32(at, crc);
    put_u32(at + 4, size);
    put_u32(at + 8, size);
}

uint8_t *make_3mf_variant(
    const uint8_t *seed, size_t seed_count, size_t number, size_t variants, size_t *out_count)
{
    size_t entry = last_entry(seed, seed_count), size = entry ? get(seed + entry + 20, 4) : 0;
    size_t local = entry ? get(seed + entry + 42, 4) : 0, changed = 0;
    bool stored = entry > 0 && get(seed + entry + 10, 2) == 0;
    if (!stored) return make_variant(seed, seed_count, number, variants, out_count);
    size_t begin = local + LOCAL_HEADER + get(seed + local + 26, 2) + get(seed + local + 28, 2);
    size_t tail = seed_count - begin - size;
    uint8_t *part = make_variant(seed + begin, size, number, variants, &changed);
    uint8_t *out = part ? malloc(begin + changed + tail) : NULL;
    if (out) {
        size_t crc = crc32(0, part, (unsigned)changed), moved = entry - size + changed;
        memcpy(out, seed, begin);
        memcpy(out + begin, part, changed);
        memcpy(out + begin + changed, seed + begin + size, tail);
        put_facts(out + local + 14, crc, changed);
        put_facts(out + moved + 16, crc, changed);
        *out_count = begin + changed + tail;
        uint8_t *end = out + *out_count - END_RECORD;
        put_u32(end + 16, get(end + 16, 4) - size + changed);
    }
    free(part);
    return out;
}
