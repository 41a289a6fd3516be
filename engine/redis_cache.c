/// Results of nodes and contents of files on a Redis server.

#include "engine/redis_cache.h"

#include <stdio.h>

#include "engine/disk_entry.h"
#include "fracture/base/alloc.h"

enum { KEY_BYTES = 48 };

static void make_key(char key[KEY_BYTES], char kind, rbli_hash address)
{
    char digits[33];
    rbli_hash_to_text(address, digits);
    snprintf(key, KEY_BYTES, "rubble:%c:%s", kind, digits);
}

rbli_result *rbli_redis_cache_find(
    rbl_context *ctx, rbli_redis *redis, rbli_hash address, const rbl_port_desc *outputs)
{
    static const rbl_port_desc no_ports[] = {{0}};
    char key[KEY_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbli_result *result = NULL;
    make_key(key, 'c', address);
    if (rbli_redis_get(ctx, redis, key, &bytes, &count) != RBLI_REDIS_YES) return NULL;
    rbl_context quiet = *ctx;
    quiet.messages = rbli_messages_create(ctx->allocator);
    if (!quiet.messages) {
        rbli_free(ctx, bytes);
        return NULL;
    }
    rbl_status status =
        rbli_entry_decode(&quiet, address, bytes, count, outputs ? outputs : no_ports, &result);
    if (status == RBL_OK) {
        rbli_redis_accept(redis);
    } else if (status == RBL_ERR_PARSE) {
        bool told = rbli_messages_count(quiet.messages) > 0;
        rbli_redis_reject(
            ctx, redis, key, told ? rbli_messages_get(quiet.messages, 0)->text : rbl_status_text(status));
    }
    rbli_messages_destroy(quiet.messages);
    return result;
}

void rbli_redis_cache_put(rbl_context *ctx, rbli_redis *redis, rbli_hash address, const rbli_result *result)
{
    char key[KEY_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbl_context quiet = *ctx;
    quiet.messages = NULL;
    make_key(key, 'c', address);
    if (rbli_entry_encode(&quiet, address, result, &bytes, &count) == RBL_OK && !rbli_cancelled(ctx))
        rbli_redis_put(ctx, redis, key, bytes, count);
    rbli_free(ctx, bytes);
}

void rbli_redis_cache_reject(rbl_context *ctx, rbli_redis *redis, rbli_hash address, const char *why)
{
    char key[KEY_BYTES];
    make_key(key, 'c', address);
    rbli_redis_reject(ctx, redis, key, why);
}

rbl_status rbli_redis_cache_copy_content(
    rbl_context *ctx, rbli_redis *redis, rbli_hash content, rbli_file_writer *writer)
{
    char key[KEY_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    make_key(key, 'f', content);
    rbli_redis_answer answer = rbli_redis_get(ctx, redis, key, &bytes, &count);
    if (answer == RBLI_REDIS_CANCELLED) return RBL_ERR_CANCELLED;
    if (answer != RBLI_REDIS_YES) return RBL_ERR_NOT_FOUND;
    bool good = rbli_hash_equal(rbli_hash_bytes(bytes, count), content);
    if (good) {
        rbli_file_writer_write(writer, bytes, count);
        rbli_redis_accept(redis);
    } else {
        rbli_redis_reject(ctx, redis, key, "its content has another hash than its name");
    }
    rbli_free(ctx, bytes);
    return good ? RBL_OK : RBL_ERR_NOT_FOUND;
}

bool rbli_redis_cache_put_content(
    rbl_context *ctx, rbli_redis *redis, rbli_hash content, size_t bytes, const char *path)
{
    if (bytes > rbli_redis_most_bytes(redis)) return false;
    char key[KEY_BYTES];
    make_key(key, 'f', content);
    rbli_redis_answer answer = rbli_redis_has(ctx, redis, key);
    if (answer != RBLI_REDIS_NO) return answer == RBLI_REDIS_YES;
    rbl_context quiet = *ctx;
    quiet.messages = NULL;
    uint8_t *data = NULL;
    size_t count = 0;
    bool kept = rbli_file_read(&quiet, path, bytes, &data, &count) == RBL_OK && count == bytes &&
                rbli_hash_equal(rbli_hash_bytes(data, count), content) && /* or somebody changed it */
                rbli_redis_put(ctx, redis, key, data, count) == RBLI_REDIS_YES;
    rbli_free(ctx, data);
    return kept;
}
