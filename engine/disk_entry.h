#ifndef RUBBLE_ENGINE_DISK_ENTRY_H
#define RUBBLE_ENGINE_DISK_ENTRY_H

/// One file of the disk cache: what an evaluation of a node gave. The layout is in docs/cache.md.

#include "engine/cache.h"
#include "engine/value.h"

enum { RBLI_ENTRY_VERSION = 2 };
#define RBLI_ENTRY_MOST_BYTES ((size_t)4 << 30) /* of a file; a larger one is not looked at */

/// Encodes into memory (freed by the caller with rbli_free). `address`: of the file, in its header.
/// @return RBL_OK · RBL_ERR_LIMIT (2³² − 1 outputs, messages or bytes of one text) · RBL_ERR_NO_MEMORY
rbl_status rbli_entry_encode(
    rbl_context *ctx, rbli_hash address, const rbli_result *result, uint8_t **out, size_t *out_bytes);
/// Decodes; collections stay packed (rbli_value_unpack). Takes `bytes` (of the context's allocator), also on
/// failure. Every checksum is compared; anything that does not check is refused with a message that tells
/// what.
/// @param outputs  the ports that the values must fit, ended by one without a name; NULL: not compared
/// @return RBL_OK · RBL_ERR_PARSE · RBL_ERR_NO_MEMORY
rbl_status rbli_entry_decode(rbl_context *ctx, rbli_hash address, uint8_t *bytes, size_t count,
    const rbl_port_desc *outputs, rbli_result **out);
/// Reads an entry up to its first collection. Those collections stay in the file until they are unpacked, which then
/// compares their checksums; everything before them is checked now.
/// @return as rbli_entry_decode · RBL_ERR_READ with a message
rbl_status rbli_entry_read_head(
    rbl_context *ctx, rbli_hash address, const char *path, const rbl_port_desc *outputs, rbli_result **out);

#endif
