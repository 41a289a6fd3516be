#ifndef RUBBLE_COLLECTION_RBL_FILE_H
#define RUBBLE_COLLECTION_RBL_FILE_H

/// The .rbl form of a collection: header, table of attributes, aligned zstd blocks, an XXH3 checksum for
/// each; safe against hostile input; versioned (DESIGN §2). The layout is described at the top of rbl_file.c.

#include "fracture/base/file.h"
#include "fracture/collection/collection.h"

/// Encodes into memory (freed by the caller with rbli_free). The same bytes for the same content.
rbl_status rbli_rbl_encode(
    rbl_context *ctx, const rbl_collection *collection, uint8_t **out, size_t *out_bytes);
/// Writes the same bytes to a file, without having them all in memory at once. A failure to write is the writer's.
/// @return RBL_OK · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_rbl_write(rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *writer);
/// Decodes; refuses anything that does not check, with a message that names `name`, the byte offset and what
/// was expected.
/// @return RBL_OK · RBL_ERR_PARSE · RBL_ERR_NO_MEMORY
rbl_status rbli_rbl_decode(
    rbl_context *ctx, const char *name, const uint8_t *bytes, size_t byte_count, rbl_collection **out);

#endif
