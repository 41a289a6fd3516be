#ifndef RUBBLE_BASE_FILE_H
#define RUBBLE_BASE_FILE_H

/// Whole files: read at once, written to a temporary name and renamed.

#include "fracture/base/context.h"
#include "fracture/base/hash.h"

/// Reads a file. `*out` has a zero byte behind its `*out_bytes`; freed by the caller with rbli_free.
/// @return RBL_OK · RBL_ERR_READ with a message "path: why" (also for a folder) · RBL_ERR_NO_MEMORY ·
/// RBL_ERR_LIMIT past `most_bytes` (0: no limit)
rbl_status rbli_file_read(
    rbl_context *ctx, const char *path, size_t most_bytes, uint8_t **out, size_t *out_bytes);

/// A file under way: bytes go to a temporary name beside `path`; nothing is seen at `path` before the commit.
typedef struct rbli_file_writer rbli_file_writer;
/// @return RBL_OK · RBL_ERR_WRITE with a message "path: why" · RBL_ERR_NO_MEMORY
rbl_status rbli_file_writer_open(rbl_context *ctx, const char *path, rbli_file_writer **out);
/// Buffered; errors are sticky and reported by the commit. printf writes numbers as in the C locale, whatever
/// the host set.
void rbli_file_writer_write(rbli_file_writer *writer, const void *bytes, size_t count);
void rbli_file_writer_printf(rbli_file_writer *writer, const char *format, ...) RBL_PRINTF(2, 3);
/// Flushes, fsyncs, closes, keeping the temporary name: the next call publishes or discards it. Gives the
/// content's hash (that of rbli_hash_bytes) and size; both may be NULL. @return RBL_OK · RBL_ERR_WRITE ·
/// RBL_ERR_NO_MEMORY; the message comes from the commit
rbl_status rbli_file_writer_finish(rbli_file_writer *writer, rbli_hash *hash, size_t *bytes);
/// Finishes if that was not done, renames to the final name and frees the writer (also on failure, which
/// leaves no file).
/// @return RBL_OK · RBL_ERR_WRITE with a message "path: why" · RBL_ERR_NO_MEMORY
rbl_status rbli_file_writer_commit(rbl_context *ctx, rbli_file_writer *writer);
/// Removes the temporary file and frees the writer; NULL is fine.
void rbli_file_writer_discard(rbli_file_writer *writer);

/// Makes a folder and its parents. @return RBL_OK · RBL_ERR_WRITE with a message
rbl_status rbli_make_folders(rbl_context *ctx, const char *path);

#endif
