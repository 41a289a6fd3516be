/// Built without hiredis: there are no servers to keep results on.

#include "engine/redis_client.h"

rbl_status rbli_redis_create(rbli_allocator *allocator, const char *address, rbli_redis **out)
{
    (void)allocator, (void)address, (void)out;
    return RBL_ERR_ARGUMENT;
}

void rbli_redis_destroy(rbli_redis *redis)
{
    (void)redis;
}

const char *rbli_redis_name(const rbli_redis *redis)
{
    (void)redis;
    return "";
}

size_t rbli_redis_most_bytes(const rbli_redis *redis)
{
    (void)redis;
    return 0;
}

rbli_redis_answer rbli_redis_get(
    rbl_context *ctx, rbli_redis *redis, const char *key, uint8_t **bytes, size_t *count)
{
    (void)ctx, (void)redis, (void)key, (void)bytes, (void)count;
    return RBLI_REDIS_FAILED;
}

rbli_redis_answer rbli_redis_has(rbl_context *ctx, rbli_redis *redis, const char *key)
{
    (void)ctx, (void)redis, (void)key;
    return RBLI_REDIS_FAILED;
}

rbli_redis_answer rbli_redis_put(
    rbl_context *ctx, rbli_redis *redis, const char *key, const uint8_t *bytes, size_t count)
{
    (void)ctx, (void)redis, (void)key, (void)bytes, (void)count;
    return RBLI_REDIS_FAILED;
}

void rbli_redis_reject(rbl_context *ctx, rbli_redis *redis, const char *key, const char *why)
{
    (void)ctx, (void)redis, (void)key, (void)why;
}

void rbli_redis_accept(rbli_redis *redis)
{
    (void)redis;
}
