#ifndef RUBBLE_BASE_HASH_H
#define RUBBLE_BASE_HASH_H

/// 128-bit content hashes (XXH3).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rubble/status.h"

typedef struct rbl_context rbl_context;

typedef struct rbli_hash {
    uint64_t low, high;
} rbli_hash;

static inline bool rbli_hash_equal(rbli_hash a, rbli_hash b)
{
    return a.low == b.low && a.high == b.high;
}
static inline bool rbli_hash_is_zero(rbli_hash a)
{
    return a.low == 0 && a.high == 0;
}

rbli_hash rbli_hash_bytes(const void *bytes, size_t count);
/// The same hash of many bytes, in parts. @return RBL_OK · RBL_ERR_CANCELLED
rbl_status rbli_hash_bytes_polled(const rbl_context *ctx, const void *bytes, size_t count, rbli_hash *out);
uint64_t rbli_hash64(const void *bytes, size_t count);
/// The hash of two hashes in order.
rbli_hash rbli_hash_combine(rbli_hash a, rbli_hash b);
rbli_hash rbli_hash_string(const char *text);
/// 32 lower-case hexadecimal digits and a zero byte.
void rbli_hash_to_text(rbli_hash hash, char text[33]);
/// Reads such digits; what follows them is not looked at. False, and nothing set, for other text.
bool rbli_hash_from_text(const char *text, rbli_hash *hash);

/// A hash fed piece by piece. A plain value: no memory to free.
typedef struct rbli_hasher {
    rbli_hash state;
} rbli_hasher;
void rbli_hasher_init(rbli_hasher *hasher);
void rbli_hasher_add(rbli_hasher *hasher, const void *bytes, size_t count);
void rbli_hasher_add_string(
    rbli_hasher *hasher, const char *text); /* with its length, so "ab","c" ≠ "a","bc" */
rbli_hash rbli_hasher_end(const rbli_hasher *hasher);

#endif
