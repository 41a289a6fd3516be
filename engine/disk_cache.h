#ifndef RUBBLE_ENGINE_DISK_CACHE_H
#define RUBBLE_ENGINE_DISK_CACHE_H

/// The disk cache: results of nodes by key in a folder that many processes may share (docs/cache.md). It
/// never fails an evaluation: what cannot be read is a miss, what cannot be written is not there later; a
/// note says so once. All functions are thread-safe.

#include "engine/cache.h"
#include "fracture/base/file.h"
#include "rubble/node.h"

typedef struct rbli_disk_cache rbli_disk_cache;

/// `folder` may be the address of a Redis server (redis_client.h). `bytes`: what the folder may hold, 0: no bound. Nothing is
/// read or made yet. @return RBL_OK · RBL_ERR_ARGUMENT (a wrong address, or no Redis here) · RBL_ERR_NO_MEMORY
rbl_status rbli_disk_cache_create(
    rbli_allocator *allocator, const char *folder, size_t bytes, rbli_disk_cache **out);
void rbli_disk_cache_destroy(rbli_disk_cache *cache); /* NULL is fine */
/// At the beginning of a run: a folder that could not be written is tried again, and notes are given again.
void rbli_disk_cache_begin_run(rbli_disk_cache *cache);
/// The result of a key, its collections packed, or NULL. A bad file is set aside, with a note in the
/// context's messages. `outputs`: the ports of the node. `in_file`: large collections may stay in the file until they
/// are unpacked, which may then find it damaged or gone.
rbli_result *rbli_disk_cache_find(
    rbl_context *ctx, rbli_disk_cache *cache, rbli_hash key, const rbl_port_desc *outputs, bool in_file);
/// Writes a result. What is wrong is a note in the context's messages.
void rbli_disk_cache_put(rbl_context *ctx, rbli_disk_cache *cache, rbli_hash key, const rbli_result *result);
/// Copies the content that has a hash into a writer. Whoever calls compares what was written.
/// @return RBL_OK · RBL_ERR_NOT_FOUND (nothing was written, or a part that is to be thrown away) ·
/// RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_disk_cache_copy_content(
    rbl_context *ctx, rbli_disk_cache *cache, rbli_hash content, rbli_file_writer *writer);
/// Keeps the content of a file, of which hash and size are known. False when it is not kept; what is wrong is
/// a note in the context's messages.
bool rbli_disk_cache_put_content(
    rbl_context *ctx, rbli_disk_cache *cache, rbli_hash content, size_t bytes, const char *path);
/// Sets a content aside that is not what its name says.
void rbli_disk_cache_reject_content(rbl_context *ctx, rbli_disk_cache *cache, rbli_hash content);
/// Sets the file of a key aside, because of what was found later.
void rbli_disk_cache_reject(rbl_context *ctx, rbli_disk_cache *cache, rbli_hash key, const char *why);

#endif
