/// The disk cache: one file a result, addressed by the hash of the node's key, the format's and the library's
/// version. Files are written under a temporary name and renamed, so that readers see whole files only.

#include "engine/disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "engine/cache_folder.h"
#include "engine/disk_entry.h"
#include "engine/redis_cache.h"
#include "fracture/base/alloc.h"
#include "fracture/base/file.h"

enum {
    LIST_CHANCE = 64, /* a process looks at the whole folder after one of so many files, by chance, */
    LIST_PART = 16,   /* or when it wrote this part of the bound */
    KEPT_TENTHS = 9,  /* of the bound, after trimming */
};

struct rbli_disk_cache {
    rbli_allocator *allocator;
    rbli_redis *redis; /* instead of a folder, or NULL */
    char *folder;
    size_t bound;
    atomic_bool write_failed, told_read; /* in this run */
    uv_mutex_t mutex;                    /* trimming */
    size_t written;                      /* since the folder was last looked at */
};

rbl_status rbli_disk_cache_create(
    rbli_allocator *allocator, const char *folder, size_t bytes, rbli_disk_cache **out)
{
    rbl_context ctx = {.allocator = allocator};
    rbli_disk_cache *cache = rbli_allocator_calloc(allocator, 1, sizeof *cache);
    char *copy = cache ? rbli_strdup(&ctx, folder) : NULL;
    if (!copy || uv_mutex_init(&cache->mutex) != 0) {
        rbli_allocator_free(allocator, copy);
        rbli_allocator_free(allocator, cache);
        return RBL_ERR_NO_MEMORY;
    }
    if (rbli_redis_is_address(folder)) {
        rbl_status status = rbli_redis_create(allocator, folder, &cache->redis);
        if (status != RBL_OK) {
            uv_mutex_destroy(&cache->mutex);
            rbli_allocator_free(allocator, copy);
            rbli_allocator_free(allocator, cache);
            return status;
        }
    }
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    cache->allocator = rbli_allocator_retain(allocator);
    cache->folder = copy;
    cache->bound = bytes;
    *out = cache;
    return RBL_OK;
}

void rbli_disk_cache_destroy(rbli_disk_cache *cache)
{
    if (!cache) return;
    rbli_allocator *allocator = cache->allocator;
    rbli_redis_destroy(cache->redis);
    uv_mutex_destroy(&cache->mutex);
    rbli_allocator_free(allocator, cache->folder);
    rbli_allocator_free(allocator, cache);
    rbli_allocator_release(allocator);
}

void rbli_disk_cache_begin_run(rbli_disk_cache *cache)
{
    atomic_store(&cache->write_failed, false);
    atomic_store(&cache->told_read, false);
}

static rbli_hash address_of(rbli_hash key)
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    int32_t version = RBLI_ENTRY_VERSION;
    rbli_hasher_add(&hasher, &version, sizeof version);
    rbli_hasher_add_string(&hasher, rbl_version_text());
    rbli_hasher_add(&hasher, &key, sizeof key);
    return rbli_hasher_end(&hasher);
}

/// The first message that a call left, or its status.
static const char *first_text(const rbl_context *ctx, rbl_status status)
{
    bool told = ctx->messages && rbli_messages_count(ctx->messages);
    return told ? rbli_messages_get(ctx->messages, 0)->text : rbl_status_text(status);
}

/* ---- Reading ---- */

static void set_aside(rbl_context *ctx, rbli_disk_cache *cache, const char *path, const char *why)
{
    if (rbli_cache_set_aside(ctx, path))
        rbli_note(ctx, "the cache file %s is damaged: %s; it was set aside as .bad", path, why);
    else if (access(path, F_OK) == 0 && !atomic_exchange(&cache->told_read, true))
        rbli_note(ctx, "the cache file %s is damaged and cannot be set aside: %s", path, why);
}

static rbl_status read_whole(
    rbl_context *ctx, const char *path, rbli_hash address, const rbl_port_desc *outputs, rbli_result **out)
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbl_status status = rbli_file_read_unlinked(ctx, path, RBLI_ENTRY_MOST_BYTES, &bytes, &count);
    return status == RBL_OK ? rbli_entry_decode(ctx, address, bytes, count, outputs, out) : status;
}

static rbli_result *read_entry(rbl_context *ctx, rbli_disk_cache *cache, const char *path, rbli_hash address,
    const rbl_port_desc *outputs, bool in_file)
{
    static const rbl_port_desc no_ports[] = {{0}};
    rbl_context quiet = *ctx;
    rbli_result *result = NULL;
    quiet.messages = rbli_messages_create(ctx->allocator);
    if (!quiet.messages) return NULL;
    if (!outputs) outputs = no_ports;
    rbl_status status = in_file ? rbli_entry_read_head(&quiet, address, path, outputs, &result)
                                : read_whole(&quiet, path, address, outputs, &result);
    if (status == RBL_ERR_PARSE) {
        set_aside(ctx, cache, path, first_text(&quiet, status));
    } else if (status == RBL_ERR_READ && access(path, F_OK) == 0 &&
               !atomic_exchange(&cache->told_read, true)) {
        rbli_note(ctx, "the cache file cannot be read: %s", first_text(&quiet, status));
    }
    rbli_messages_destroy(quiet.messages);
    return result;
}

rbli_result *rbli_disk_cache_find(
    rbl_context *ctx, rbli_disk_cache *cache, rbli_hash key, const rbl_port_desc *outputs, bool in_file)
{
    rbli_hash address = address_of(key);
    if (cache->redis) return rbli_redis_cache_find(ctx, cache->redis, address, outputs);
    char *path = rbli_cache_path(ctx, cache->folder, address, RBLI_CACHED_ENTRY);
    if (!path) return NULL;
    rbli_result *result = NULL;
    struct stat about;
    if (lstat(path, &about) == 0) result = read_entry(ctx, cache, path, address, outputs, in_file);
    if (result) utimensat(AT_FDCWD, path, NULL, 0); /* the time of its last use; may be refused */
    rbli_free(ctx, path);
    return result;
}

void rbli_disk_cache_reject(rbl_context *ctx, rbli_disk_cache *cache, rbli_hash key, const char *why)
{
    if (cache->redis) {
        rbli_redis_cache_reject(ctx, cache->redis, address_of(key), why);
        return;
    }
    char *path = rbli_cache_path(ctx, cache->folder, address_of(key), RBLI_CACHED_ENTRY);
    if (path) set_aside(ctx, cache, path, why);
    rbli_free(ctx, path);
}

rbl_status rbli_disk_cache_copy_content(
    rbl_context *ctx, rbli_disk_cache *cache, rbli_hash content, rbli_file_writer *writer)
{
    if (cache->redis) return rbli_redis_cache_copy_content(ctx, cache->redis, content, writer);
    rbl_context quiet = *ctx;
    quiet.messages = NULL;
    char *path = rbli_cache_path(ctx, cache->folder, content, RBLI_CACHED_CONTENT);
    if (!path) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_file_writer_copy(&quiet, writer, path);
    if (status == RBL_OK) utimensat(AT_FDCWD, path, NULL, 0); /* the time of its last use; may be refused */
    rbli_free(ctx, path);
    return status == RBL_ERR_READ ? RBL_ERR_NOT_FOUND : status;
}

void rbli_disk_cache_reject_content(rbl_context *ctx, rbli_disk_cache *cache, rbli_hash content)
{
    if (cache->redis) return; /* its values are checked before they are written */
    char *path = rbli_cache_path(ctx, cache->folder, content, RBLI_CACHED_CONTENT);
    if (path) set_aside(ctx, cache, path, "its content has another hash than its name");
    rbli_free(ctx, path);
}

/* ---- Writing ---- */

/// Keeps the folder within its bound. Looking at all of a large folder takes a while, so it is not done after
/// each file: each process looks when it wrote a good part of the bound, and now and then by chance.
static void keep_bound(rbl_context *ctx, rbli_disk_cache *cache, rbli_hash address, size_t bytes)
{
    if (!cache->bound) return;
    uv_mutex_lock(&cache->mutex);
    cache->written += bytes;
    if (cache->written > cache->bound / LIST_PART || address.high % LIST_CHANCE == 0) {
        rbl_context quiet = {.allocator = ctx->allocator};
        rbli_cached_files files;
        if (rbli_cache_folder_list(&quiet, cache->folder, &files) == RBL_OK) {
            if (files.bytes > cache->bound)
                rbli_cache_folder_trim(&files, cache->bound / 10 * KEPT_TENTHS, NULL);
            rbli_cached_files_free(&quiet, &files);
        }
        cache->written = 0;
    }
    uv_mutex_unlock(&cache->mutex);
}

/// Begins a file of the folder.
static rbl_status open_file(rbl_context *ctx, const char *path, rbli_file_writer **writer)
{
    rbl_status status = RBL_OK;
    char *folder = rbli_strdup(ctx, path);
    RBL_TRY_ALLOC(folder);
    *strrchr(folder, '/') = '\0';
    RBL_TRY(rbli_make_folders(ctx, folder));
    if (!rbli_cache_is_shelf(folder))
        RBL_TRY(rbli_fail(ctx, RBL_ERR_WRITE, "%s: is a link, which may lead anywhere", folder));
    RBL_TRY(rbli_file_writer_open(ctx, path, writer));
done:
    rbli_free(ctx, folder);
    return status;
}

static rbl_status write_entry(rbl_context *ctx, const char *path, const uint8_t *bytes, size_t count)
{
    rbli_file_writer *writer = NULL;
    rbl_status status = open_file(ctx, path, &writer);
    if (status != RBL_OK) return status;
    rbli_file_writer_write(writer, bytes, count);
    return rbli_file_writer_commit(ctx, writer);
}

/// Copies a file that must have the hash it is said to have.
static rbl_status write_content(rbl_context *ctx, const char *path, rbli_hash content, const char *from)
{
    rbl_status status = RBL_OK;
    rbli_file_writer *writer = NULL;
    rbli_hash hash;
    RBL_TRY(open_file(ctx, path, &writer));
    RBL_TRY(rbli_file_writer_copy(ctx, writer, from));
    status = rbli_file_writer_finish(writer, &hash, NULL);
    if (status != RBL_OK) RBL_TRY(rbli_file_writer_fail(ctx, writer));
    if (!rbli_hash_equal(hash, content)) RBL_TRY(RBL_ERR_READ); /* somebody changed it */
    status = rbli_file_writer_commit(ctx, writer);
    writer = NULL; /* taken, also on failure */
done:
    rbli_file_writer_discard(writer);
    return status;
}

/// After a file was written, or was not.
static void end_writing(rbl_context *ctx, rbli_disk_cache *cache, rbli_hash address, size_t bytes,
    const rbl_context *quiet, rbl_status status)
{
    if (status == RBL_OK)
        keep_bound(ctx, cache, address, bytes);
    else if (status == RBL_ERR_WRITE && !atomic_exchange(&cache->write_failed, true))
        rbli_note(
            ctx, "the cache cannot be written, and this run goes on without: %s", first_text(quiet, status));
}

bool rbli_disk_cache_put_content(
    rbl_context *ctx, rbli_disk_cache *cache, rbli_hash content, size_t bytes, const char *path)
{
    if (cache->redis) return rbli_redis_cache_put_content(ctx, cache->redis, content, bytes, path);
    if (atomic_load(&cache->write_failed) || (cache->bound && bytes > cache->bound)) return false;
    rbl_context quiet = *ctx;
    rbl_status status = RBL_ERR_NO_MEMORY;
    struct stat about;
    char *kept = rbli_cache_path(ctx, cache->folder, content, RBLI_CACHED_CONTENT);
    quiet.messages = rbli_messages_create(ctx->allocator);
    if (kept && quiet.messages) {
        bool known = lstat(kept, &about) == 0 && S_ISREG(about.st_mode) && (uintmax_t)about.st_size == bytes;
        status = known ? RBL_OK : write_content(&quiet, kept, content, path);
        if (known)
            utimensat(AT_FDCWD, kept, NULL, 0);
        else
            end_writing(ctx, cache, content, bytes, &quiet, status);
    }
    rbli_messages_destroy(quiet.messages);
    rbli_free(ctx, kept);
    return status == RBL_OK;
}

void rbli_disk_cache_put(rbl_context *ctx, rbli_disk_cache *cache, rbli_hash key, const rbli_result *result)
{
    rbli_hash address = address_of(key);
    if (cache->redis) {
        rbli_redis_cache_put(ctx, cache->redis, address, result);
        return;
    }
    if (atomic_load(&cache->write_failed)) return;
    rbl_context quiet = {.allocator = ctx->allocator,
        .pool = ctx->pool,
        .cancel = ctx->cancel,
        .inside_block = ctx->inside_block};
    uint8_t *bytes = NULL;
    size_t count = 0;
    char *path = rbli_cache_path(ctx, cache->folder, address, RBLI_CACHED_ENTRY);
    quiet.messages = rbli_messages_create(ctx->allocator);
    rbl_status status = path && quiet.messages ? rbli_entry_encode(&quiet, address, result, &bytes, &count)
                                               : RBL_ERR_NO_MEMORY;
    bool fits = (!cache->bound || count <= cache->bound) && count <= RBLI_ENTRY_MOST_BYTES;
    if (status == RBL_OK && fits && !rbli_cancelled(ctx)) {
        status = write_entry(&quiet, path, bytes, count);
        end_writing(ctx, cache, address, count, &quiet, status);
    }
    rbli_messages_destroy(quiet.messages);
    rbli_free(ctx, bytes);
    rbli_free(ctx, path);
}
