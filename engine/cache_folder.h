#ifndef RUBBLE_ENGINE_CACHE_FOLDER_H
#define RUBBLE_ENGINE_CACHE_FOLDER_H

/// The files of a disk cache's folder (docs/cache.md). Several processes may use a folder at once: a file
/// that another one removed in the meantime is no error.

#include "fracture/base/context.h"
#include "fracture/base/hash.h"
#include "rubble/rubble.h"

typedef enum rbli_cached_kind {
    RBLI_CACHED_ENTRY,
    RBLI_CACHED_CONTENT,   /* of a file that a node wrote; its address is the hash of it */
    RBLI_CACHED_BAD,       /* set aside */
    RBLI_CACHED_TEMPORARY, /* being written, or left by a process that was ended */
} rbli_cached_kind;

typedef struct rbli_cached_file {
    char *path;
    rbli_cached_kind kind;
    rbli_hash address; /* of an entry or a content */
    uint64_t bytes;
    int64_t used_s, used_ns; /* time of its last use */
} rbli_cached_file;

typedef struct rbli_cached_files {
    rbli_cached_file *data;
    size_t count, capacity;
    uint64_t bytes;
} rbli_cached_files;

/// Whether a folder of the cache's folder is one, and no link: nothing is written, listed or removed through a link.
bool rbli_cache_is_shelf(const char *path);
/// Path of the file of an address; NULL without memory. `kind`: an entry or a content.
char *rbli_cache_path(rbl_context *ctx, const char *folder, rbli_hash address, rbli_cached_kind kind);
/// Lists a folder; other files than a cache's are left out. A folder that is not there is empty.
/// @return RBL_OK · RBL_ERR_READ with a message · RBL_ERR_NO_MEMORY
rbl_status rbli_cache_folder_list(rbl_context *ctx, const char *folder, rbli_cached_files *out);
void rbli_cached_files_free(rbl_context *ctx, rbli_cached_files *files);
/// Removes temporary files older than an hour, then what was used longest ago until at most `bytes` are left.
/// `files` is sorted; `report` (counts what is left and what was removed) may be NULL.
void rbli_cache_folder_trim(rbli_cached_files *files, uint64_t bytes, rbl_cache_report *report);
/// Renames a bad file, so that it is not read again. False when that is not possible.
bool rbli_cache_set_aside(rbl_context *ctx, const char *path);

#endif
