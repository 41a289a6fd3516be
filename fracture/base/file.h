#ifndef RUBBLE_BASE_FILE_H
#define RUBBLE_BASE_FILE_H

/// Whole files: read at once, written to a temporary name and renamed.

#include "fracture/base/context.h"
#include "fracture/base/hash.h"

/// Most bytes of a file whose readers say no lower number: 16 GiB.
#define RBLI_MOST_FILE_BYTES ((size_t)16 << 30)

/// Reads a regular file, or a pipe that somebody has open for writing (one without a writer is empty, nobody is waited
/// for). `*out` has a zero byte behind its `*out_bytes`; freed by the caller with rbli_free.
/// @return RBL_OK · RBL_ERR_READ with a message "path: why" (also for a folder or a device) · RBL_ERR_NO_MEMORY ·
/// RBL_ERR_LIMIT past `most_bytes` (0: no limit)
rbl_status rbli_file_read(
    rbl_context *ctx, const char *path, size_t most_bytes, uint8_t **out, size_t *out_bytes);
/// The same of a regular file that is no link: for folders that others can write to.
rbl_status rbli_file_read_unlinked(
    rbl_context *ctx, const char *path, size_t most_bytes, uint8_t **out, size_t *out_bytes);

/// Reads `most_bytes` from `place` on, or what there is of them, of a regular file that is no link. `*file_bytes`: size of the
/// whole file. @return as rbli_file_read, without RBL_ERR_LIMIT
rbl_status rbli_file_read_part(rbl_context *ctx, const char *path, size_t place, size_t most_bytes,
    uint8_t **out, size_t *out_bytes, size_t *file_bytes);

/// Hash (that of rbli_hash_bytes) and size of a regular file's content, read in parts. @return as rbli_file_read ·
/// RBL_ERR_CANCELLED
rbl_status rbli_file_hash(rbl_context *ctx, const char *path, rbli_hash *hash, size_t *bytes);
/// True when `path` is a regular file, no link, that can be read and has this size and content. No messages.
bool rbli_file_has_content(rbl_context *ctx, const char *path, size_t bytes, rbli_hash hash);

/// A file under way: bytes go to a temporary name beside `path`; nothing is seen at `path` before the commit.
typedef struct rbli_file_writer rbli_file_writer;
/// @return RBL_OK · RBL_ERR_WRITE with a message "path: why" · RBL_ERR_NO_MEMORY
rbl_status rbli_file_writer_open(rbl_context *ctx, const char *path, rbli_file_writer **out);
/// Buffered; errors are sticky and reported by the commit. printf writes numbers as in the C locale, whatever
/// the host set.
void rbli_file_writer_write(rbli_file_writer *writer, const void *bytes, size_t count);
void rbli_file_writer_printf(rbli_file_writer *writer, const char *format, ...) RBL_PRINTF(2, 3);
/// Lets the file get to the disk when the system likes: for what can be had again. A power failure may then
/// leave an empty file under the final name.
void rbli_file_writer_skip_sync(rbli_file_writer *writer);
/// Writes the content of a regular file that is no link. @return as rbli_file_read (nothing but what was written before is lost) ·
/// RBL_ERR_CANCELLED; errors of writing are sticky, as above
rbl_status rbli_file_writer_copy(rbl_context *ctx, rbli_file_writer *writer, const char *path);
/// The final name, and where the bytes are until the commit; borrowed.
const char *rbli_file_writer_path(const rbli_file_writer *writer);
const char *rbli_file_writer_temporary_path(const rbli_file_writer *writer);
/// Flushes, fsyncs (unless that is skipped), closes, keeping the temporary name: the next call publishes or discards it. Gives the
/// content's hash (that of rbli_hash_bytes) and size; both may be NULL. @return RBL_OK · RBL_ERR_WRITE ·
/// RBL_ERR_NO_MEMORY; the message comes from the commit
rbl_status rbli_file_writer_finish(rbli_file_writer *writer, rbli_hash *hash, size_t *bytes);
/// Says why the writing failed, as "path: why", and returns the status; RBL_OK when nothing did.
rbl_status rbli_file_writer_fail(rbl_context *ctx, const rbli_file_writer *writer);
/// Finishes if that was not done, renames to the final name and frees the writer (also on failure, which
/// leaves no file).
/// @return RBL_OK · RBL_ERR_WRITE with a message "path: why" · RBL_ERR_NO_MEMORY
rbl_status rbli_file_writer_commit(rbl_context *ctx, rbli_file_writer *writer);
/// Removes the temporary file and frees the writer; NULL is fine.
void rbli_file_writer_discard(rbli_file_writer *writer);

/// Removes temporary files that writers of processes that are no more left in a folder: those that nobody
/// wrote to for ten minutes (a folder may be shared with machines whose processes cannot be seen).
void rbli_remove_left_files(const char *folder);

/// Makes a folder and its parents. @return RBL_OK · RBL_ERR_WRITE with a message
rbl_status rbli_make_folders(rbl_context *ctx, const char *path);

#endif
