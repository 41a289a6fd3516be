#ifndef RUBBLE_COLLECTION_BUFFER_H
#define RUBBLE_COLLECTION_BUFFER_H

/// Reference-counted attribute arrays with copy-on-write and a cached content hash.

#include <stdatomic.h>

#include "fracture/base/context.h"
#include "fracture/base/hash.h"
#include "rubble/types.h"

/// An array of `count` elements, or a list array: element i is the values offsets[i] … offsets[i+1] − 1
/// (strings are lists of CHAR). Immutable while more than one reference exists.
typedef struct rbli_buffer rbli_buffer;

/// A zeroed array. @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED (of a large one). *out set on success
/// only; release it.
rbl_status rbli_buffer_create(rbl_context *ctx, rbl_type type, size_t count, rbli_buffer **out);
/// One whose elements the caller sets all, through `*values`, before anything else.
rbl_status rbli_buffer_create_unset(
    rbl_context *ctx, rbl_type type, size_t count, void **values, rbli_buffer **out);
/// One of values that are there already: allocated by the context's rbli_alloc, `count` elements; the array owns them from
/// then on. @return RBL_OK · RBL_ERR_ARGUMENT · RBL_ERR_NO_MEMORY: the values stay the caller's
rbl_status rbli_buffer_adopt(rbl_context *ctx, rbl_type type, size_t count, void *values, rbli_buffer **out);
/// A list array from `count` + 1 ascending offsets (offsets[0] = 0) and offsets[count] values; both are
/// copied.
rbl_status rbli_buffer_create_list(rbl_context *ctx, rbl_type type, size_t count, const uint64_t *offsets,
    const void *values, rbli_buffer **out);
/// The same; the caller sets all values, through `*values`, before anything else. Not for strings.
rbl_status rbli_buffer_create_list_unset(
    rbl_context *ctx, rbl_type type, size_t count, const uint64_t *offsets, void **values, rbli_buffer **out);
/// A string array; NULL entries count as "".
rbl_status rbli_buffer_create_strings(
    rbl_context *ctx, size_t count, const char *const *strings, rbli_buffer **out);

rbli_buffer *rbli_buffer_retain(rbli_buffer *buffer);
void rbli_buffer_release(rbli_buffer *buffer); /* NULL is fine; from any thread */

rbl_type rbli_buffer_type(const rbli_buffer *buffer);
bool rbli_buffer_is_list(const rbli_buffer *buffer);
size_t rbli_buffer_count(const rbli_buffer *buffer);
size_t rbli_buffer_bytes(const rbli_buffer *buffer); /* memory held, offsets and string ends included */
/// The elements of an array, or the concatenated values of a list array.
const void *rbli_buffer_data(const rbli_buffer *buffer);
/// offsets[count + 1] of a list array, NULL otherwise.
const uint64_t *rbli_buffer_offsets(const rbli_buffer *buffer);
/// String i of a string array, zero-terminated, borrowed; "" for another type or an index out of range.
const char *rbli_buffer_string(const rbli_buffer *buffer, size_t index);

/// True for UTF-8 (RFC 3629) without zero bytes: what a string may be.
bool rbli_text_is_valid(const char *text, size_t count);

/// Makes `*buffer` safe to write: clones it when it is shared, and forgets its hash. Not for list arrays,
/// which are replaced whole (NULL). @return the elements, or NULL without memory (then *buffer is unchanged)
void *rbli_buffer_write(rbl_context *ctx, rbli_buffer **buffer);

/// New arrays of the same type from parts of others; *out set on success only.
/// Element i is element source[i] of `buffer`, or zeros or an empty list where source[i] is −1.
/// @return RBL_OK · RBL_ERR_ARGUMENT (an index out of range) · RBL_ERR_NO_MEMORY
rbl_status rbli_buffer_gather(
    rbl_context *ctx, const rbli_buffer *buffer, const int32_t *source, size_t count, rbli_buffer **out);
/// The same where all of source[i] are known to be in range.
rbl_status rbli_buffer_gather_checked(
    rbl_context *ctx, const rbli_buffer *buffer, const int32_t *source, size_t count, rbli_buffer **out);
/// The first `count` elements, with zeros or empty lists where there are fewer. @return RBL_OK ·
/// RBL_ERR_NO_MEMORY
rbl_status rbli_buffer_resize(rbl_context *ctx, const rbli_buffer *buffer, size_t count, rbli_buffer **out);
/// The elements of `a`, then those of `b`. @return RBL_OK · RBL_ERR_TYPE · RBL_ERR_NO_MEMORY
rbl_status rbli_buffer_concat(
    rbl_context *ctx, const rbli_buffer *a, const rbli_buffer *b, rbli_buffer **out);

/// XXH3-128 of type, count and content; computed once and cached, thread-safe.
rbli_hash rbli_buffer_hash(const rbli_buffer *buffer);
/// Computes it in advance, so that it can be cancelled. @return RBL_OK · RBL_ERR_CANCELLED
rbl_status rbli_buffer_hash_polled(const rbl_context *ctx, const rbli_buffer *buffer);
/// True while more than one reference exists (tests of sharing, byte accounting).
bool rbli_buffer_is_shared(const rbli_buffer *buffer);

#endif
