#ifndef RUBBLE_ENGINE_REDIS_CLIENT_H
#define RUBBLE_ENGINE_REDIS_CLIENT_H

/// A Redis server as a store of bytes by key, for the cache (docs/cache.md). Nothing waits longer than the address
/// allows, and a server that fails is left alone for a while that doubles, from a second to a minute. The first failure
/// is a note in the context's messages, later ones are silent. All functions are thread-safe; threads have connections
/// of their own. Without hiredis the store cannot be created.

#include "fracture/base/context.h"

typedef struct rbli_redis rbli_redis;

/// What became of a request.
typedef enum rbli_redis_answer {
    RBLI_REDIS_YES,
    RBLI_REDIS_NO, /* no such key, or a value that is not kept because of its size */
    RBLI_REDIS_FAILED,
    RBLI_REDIS_CANCELLED,
} rbli_redis_answer;

/// Whether a place of a cache is a server's address and no folder.
bool rbli_redis_is_address(const char *place);
/// redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE][?OPTIONS] or unix://PATH[?OPTIONS] with timeout=MS (500), expire=SECONDS
/// (30 days; 0: never), value=BYTES (64 MiB), db=DATABASE. Nothing is asked of the server yet.
/// @return RBL_OK · RBL_ERR_ARGUMENT (no address, or built without hiredis) · RBL_ERR_NO_MEMORY
rbl_status rbli_redis_create(rbli_allocator *allocator, const char *address, rbli_redis **out);
void rbli_redis_destroy(rbli_redis *redis); /* NULL is fine */
/// The address without user and password, for messages; borrowed.
const char *rbli_redis_name(const rbli_redis *redis);
/// Most bytes of a value.
size_t rbli_redis_most_bytes(const rbli_redis *redis);

/// The value of a key, and its time begins anew. `*bytes` (of the context's allocator, rbli_free) is set on
/// RBLI_REDIS_YES.
rbli_redis_answer rbli_redis_get(
    rbl_context *ctx, rbli_redis *redis, const char *key, uint8_t **bytes, size_t *count);
/// Whether a key is there; its time begins anew.
rbli_redis_answer rbli_redis_has(rbl_context *ctx, rbli_redis *redis, const char *key);
rbli_redis_answer rbli_redis_put(
    rbl_context *ctx, rbli_redis *redis, const char *key, const uint8_t *bytes, size_t count);
/// Removes a value that is not what it should be. When several in a row were not, the server counts as failed.
void rbli_redis_reject(rbl_context *ctx, rbli_redis *redis, const char *key, const char *why);
/// A value was what it should be.
void rbli_redis_accept(rbli_redis *redis);

#endif
