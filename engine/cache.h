#ifndef RUBBLE_ENGINE_CACHE_H
#define RUBBLE_ENGINE_CACHE_H

/// The memory cache: outputs of nodes by key, within a budget of bytes. All functions are thread-safe.

#include <stdatomic.h>

#include "fracture/base/context.h"
#include "fracture/base/hash.h"
#include "rubble/rubble.h"

typedef struct rbli_cache rbli_cache;

/// A file that a node read, with the hash of its content then.
typedef struct rbli_file_stamp {
    char *path;
    rbli_hash hash;
    size_t anchor; /* a file that a node read besides its PATH parameters: 0, or `path` is relative to the
                      folder of PATH parameter anchor − 1 */
} rbli_file_stamp;

/// A message of an evaluation, repeated on each hit.
typedef struct rbli_kept_message {
    rbl_severity severity;
    char *text;
} rbli_kept_message;

/// What one evaluation of a node gave. Reference counted and immutable once it is in the cache.
typedef struct rbli_result {
    rbli_allocator *allocator;
    atomic_size_t references;
    rbl_value **outputs; /* [output_count] */
    size_t output_count;
    rbli_kept_message *messages;
    size_t message_count;
    rbli_file_stamp *files; /* read beyond PATH parameters */
    size_t file_count;
} rbli_result;

rbl_status rbli_result_create(rbli_allocator *allocator, size_t output_count, rbli_result **out);
rbli_result *rbli_result_retain(rbli_result *result);
void rbli_result_release(rbli_result *result); /* NULL is fine */
rbl_status rbli_result_add_message(rbli_result *result, rbl_severity severity, const char *text);
rbl_status rbli_result_add_file(rbli_result *result, const char *path, rbli_hash hash);
size_t rbli_result_bytes(const rbli_result *result);

/// `budget` in bytes; 0: nothing is kept.
rbl_status rbli_cache_create(rbli_allocator *allocator, size_t budget, rbli_cache **out);
void rbli_cache_destroy(rbli_cache *cache); /* NULL is fine */
/// The result of a key, retained; NULL when there is none.
rbli_result *rbli_cache_find(rbli_cache *cache, rbli_hash key);
/// Puts a result in (retains it), in place of another of the same key, and lets old ones go until the budget
/// holds. A result that cannot be kept is simply not there later.
void rbli_cache_put(rbli_cache *cache, rbli_hash key, rbli_result *result);
void rbli_cache_remove(rbli_cache *cache, rbli_hash key);
void rbli_cache_clear(rbli_cache *cache);
/// Lets entries go until so many bytes are free again, as the allocator counts them, or none is left. False
/// when none was there. For rbli_allocator_set_limit: allocates nothing, and false inside of the cache.
bool rbli_cache_evict(void *cache, size_t bytes);
/// Bytes held, arrays that several results share counted once.
size_t rbli_cache_bytes(rbli_cache *cache);
size_t rbli_cache_count(rbli_cache *cache);

#endif
