/// Content hashes by XXH3 (Collet).

#include "fracture/base/hash.h"

#include <stdio.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "fracture/base/context.h"

enum { PART_BYTES = 1 << 22 }; /* hashed between looks at the request to cancel */

static rbli_hash from_xxh(XXH128_hash_t hash)
{
    return (rbli_hash){hash.low64, hash.high64};
}

rbli_hash rbli_hash_bytes(const void *bytes, size_t count)
{
    return from_xxh(XXH3_128bits(count ? bytes : "", count));
}

rbl_status rbli_hash_bytes_polled(const rbl_context *ctx, const void *bytes, size_t count, rbli_hash *out)
{
    if (count <= PART_BYTES) {
        *out = rbli_hash_bytes(bytes, count);
        return RBL_OK;
    }
    XXH3_state_t state; /* has the alignment that it needs */
    XXH3_128bits_reset(&state);
    for (size_t at = 0, part; at < count; at += part) {
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        part = count - at < PART_BYTES ? count - at : PART_BYTES;
        XXH3_128bits_update(&state, (const char *)bytes + at, part);
    }
    *out = from_xxh(XXH3_128bits_digest(&state));
    return RBL_OK;
}

uint64_t rbli_hash64(const void *bytes, size_t count)
{
    return XXH3_64bits(count ? bytes : "", count);
}

rbli_hash rbli_hash_combine(rbli_hash a, rbli_hash b)
{
    const uint64_t words[4] = {a.low, a.high, b.low, b.high};
    return rbli_hash_bytes(words, sizeof words);
}

rbli_hash rbli_hash_string(const char *text)
{
    return rbli_hash_bytes(text, strlen(text));
}

void rbli_hash_to_text(rbli_hash hash, char text[33])
{
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high, (unsigned long long)hash.low);
}

bool rbli_hash_from_text(const char *text, rbli_hash *hash)
{
    uint64_t halves[2] = {0, 0};
    for (size_t i = 0; i < 32; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9', letter = text[i] >= 'a' && text[i] <= 'f';
        if (!digit && !letter) return false;
        halves[i / 16] = halves[i / 16] << 4 | (uint64_t)(digit ? text[i] - '0' : text[i] - 'a' + 10);
    }
    *hash = (rbli_hash){.high = halves[0], .low = halves[1]};
    return true;
}

void rbli_hasher_init(rbli_hasher *hasher)
{
    hasher->state = (rbli_hash){0x7275626c65ULL, 1};
}

void rbli_hasher_add(rbli_hasher *hasher, const void *bytes, size_t count)
{
    hasher->state = rbli_hash_combine(hasher->state, rbli_hash_bytes(bytes, count));
}

void rbli_hasher_add_string(rbli_hasher *hasher, const char *text)
{
    rbli_hasher_add(hasher, text, strlen(text));
}

rbli_hash rbli_hasher_end(const rbli_hasher *hasher)
{
    return hasher->state;
}
