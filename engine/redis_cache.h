#ifndef RUBBLE_ENGINE_REDIS_CACHE_H
#define RUBBLE_ENGINE_REDIS_CACHE_H

/// What the disk cache does when its place is a Redis server (docs/cache.md): the same addresses and the same bytes, under
/// the keys rubble:c:ADDRESS (results) and rubble:f:HASH (contents of files). Functions are as those of disk_cache.h.

#include "engine/cache.h"
#include "engine/redis_client.h"
#include "fracture/base/file.h"
#include "rubble/node.h"

rbli_result *rbli_redis_cache_find(
    rbl_context *ctx, rbli_redis *redis, rbli_hash address, const rbl_port_desc *outputs);
void rbli_redis_cache_put(rbl_context *ctx, rbli_redis *redis, rbli_hash address, const rbli_result *result);
void rbli_redis_cache_reject(rbl_context *ctx, rbli_redis *redis, rbli_hash address, const char *why);
rbl_status rbli_redis_cache_copy_content(
    rbl_context *ctx, rbli_redis *redis, rbli_hash content, rbli_file_writer *writer);
bool rbli_redis_cache_put_content(
    rbl_context *ctx, rbli_redis *redis, rbli_hash content, size_t bytes, const char *path);

#endif
