#ifndef RUBBLE_ENGINE_VALUE_H
#define RUBBLE_ENGINE_VALUE_H

/// What the engine needs of values beyond include/rubble/node.h. All functions are thread-safe.

#include "fracture/base/hash.h"
#include "fracture/collection/hierarchy.h"
#include "rubble/node.h"

/// Content hash: equal for equal kind and content, whatever made the value. NULL has one, too.
rbli_hash rbli_value_hash(const rbl_value *value);
/// Computes what it takes in advance, so that it can be cancelled. NULL is fine.
/// @return RBL_OK · RBL_ERR_CANCELLED · RBL_ERR_NO_MEMORY
rbl_status rbli_value_hash_polled(rbl_context *ctx, const rbl_value *value);
/// Memory that the value keeps alive, arrays of collections included.
size_t rbli_value_bytes(const rbl_value *value);
/// The selection of a SELECTION value, borrowed; NULL for NULL and another kind. For nodes that ask
/// rbli_selection_fits.
const rbli_selection *rbli_value_get_selection(const rbl_value *value);
/// The selection at an input, borrowed; NULL when it is not connected.
const rbli_selection *rbli_call_input_selection(const rbl_call *call, const char *port);
/// A SELECTION value that retains `selection`.
rbl_status rbli_value_create_from_selection(rbl_context *ctx, rbli_selection *selection, rbl_value **out);
/// Bytes that several values share, reference counted. All functions are thread-safe.
typedef struct rbli_blob rbli_blob;
/// Takes `bytes` (of the context's allocator) on success.
rbl_status rbli_blob_create(rbl_context *ctx, uint8_t *bytes, size_t count, rbli_blob **out);
/// Bytes that stay in a file until they are needed. They may be gone then. `path` is copied.
rbl_status rbli_blob_create_on_file(rbl_context *ctx, const char *path, rbli_blob **out);
rbli_blob *rbli_blob_retain(rbli_blob *blob);
void rbli_blob_release(rbli_blob *blob); /* NULL is fine */

/// Where the .rbl form of a collection is, and what is known of it without unpacking.
typedef struct rbli_packed {
    rbli_blob *blob;       /* retained by the value */
    size_t place, count;   /* in the blob */
    uint64_t checksum;     /* rbli_hash64 of these bytes; compared when they are read from a file */
    rbli_hash hash;        /* the value's content hash */
    size_t unpacked_bytes; /* memory that it takes when unpacked (rbli_value_bytes) */
} rbli_packed;
/// A COLLECTION value that is still in its .rbl form; whoever asks for the collection unpacks it.
rbl_status rbli_value_create_packed(rbl_context *ctx, const rbli_packed *from, rbl_value **out);
/// Unpacks a value that is still packed and compares its hash; nothing to do for any other.
/// @return RBL_OK · RBL_ERR_PARSE · RBL_ERR_READ (its file) · RBL_ERR_NO_MEMORY
rbl_status rbli_value_unpack(rbl_context *ctx, const rbl_value *value);
/// True for a value that was made packed; and while it still is; and while it still is in a file.
bool rbli_value_was_packed(const rbl_value *value);
bool rbli_value_is_packed(const rbl_value *value);
bool rbli_value_is_in_file(const rbl_value *value);

/// "collection", "int" …; "unknown" for no kind.
const char *rbli_value_kind_word(rbl_value_kind kind);
/// True when a value of kind `from` may go into a port of kind `to`.
bool rbli_value_kind_fits(rbl_value_kind from, rbl_value_kind to);

#endif
