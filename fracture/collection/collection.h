#ifndef RUBBLE_COLLECTION_COLLECTION_H
#define RUBBLE_COLLECTION_COLLECTION_H

/// Groups of equally long attribute arrays, by name; copying shares every array until it is written.

#include "fracture/collection/buffer.h"

typedef struct rbl_collection rbl_collection;

/// An empty collection without groups. One reference; release it.
rbl_status rbli_collection_create(rbl_context *ctx, rbl_collection **out);
rbl_collection *rbli_collection_retain(rbl_collection *collection);
void rbli_collection_release(rbl_collection *collection); /* NULL is fine; from any thread */
/// A copy that may be changed: a small table, all arrays shared. A node never changes a collection it did not
/// copy or create; a collection with several references is immutable.
rbl_status rbli_collection_copy(rbl_context *ctx, const rbl_collection *collection, rbl_collection **out);

/// Exchanges the contents of two collections (a change made on a copy is put in place when all of it
/// succeeded).
void rbli_collection_swap(rbl_collection *a, rbl_collection *b);

/// 128-bit hash of all groups, names and contents; does not depend on the order of creation (groups and
/// attributes are kept sorted by name).
rbli_hash rbli_collection_hash(const rbl_collection *collection);
/// Computes all that it takes in advance, on the context's pool, so that it can be cancelled.
/// @return RBL_OK · RBL_ERR_CANCELLED · RBL_ERR_NO_MEMORY
rbl_status rbli_collection_hash_polled(rbl_context *ctx, const rbl_collection *collection);
/// Bytes of all arrays, shared ones included.
size_t rbli_collection_bytes(const rbl_collection *collection);

/// True for a name that a group or an attribute may have: [a-z_][a-z0-9_]{0,63}.
bool rbli_collection_name_is_valid(const char *name);

/// Groups, sorted by name. Names are borrowed until a group or attribute is added or removed; others than
/// [a-z_][a-z0-9_]{0,63} are RBL_ERR_ARGUMENT wherever one is given.
size_t rbli_collection_group_count(const rbl_collection *collection);
const char *rbli_collection_group_name(const rbl_collection *collection, size_t group);
/// Number of elements of a group; 0 when it does not exist.
size_t rbli_collection_size(const rbl_collection *collection, const char *group);
bool rbli_collection_has_group(const rbl_collection *collection, const char *group);
/// Adds a group of `count` elements or sets its length: longer arrays get zeros (empty lists), shorter ones
/// lose their end.
rbl_status rbli_collection_resize(
    rbl_context *ctx, rbl_collection *collection, const char *group, size_t count);
void rbli_collection_remove_group(rbl_collection *collection, const char *group);

/// Attributes of a group, sorted by name (NULL past the end).
size_t rbli_collection_attribute_count(const rbl_collection *collection, const char *group);
const char *rbli_collection_attribute_name(const rbl_collection *collection, const char *group, size_t index);
/// Borrowed; NULL when the group or attribute does not exist.
rbli_buffer *rbli_collection_buffer(const rbl_collection *collection, const char *group, const char *name);
/// The elements when the attribute exists with this type and is not a list, else NULL.
const void *rbli_collection_read(
    const rbl_collection *collection, const char *group, const char *name, rbl_type type);
/// The elements for writing: made (zeroed) when missing, replaced when of another type, cloned when shared.
/// The group must exist (resize). @return RBL_OK · RBL_ERR_NOT_FOUND · RBL_ERR_NO_MEMORY
rbl_status rbli_collection_write(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, rbl_type type, void **out);
/// Puts a buffer of the group's length in (retains it). @return RBL_OK · RBL_ERR_ARGUMENT (length) ·
/// RBL_ERR_NOT_FOUND
rbl_status rbli_collection_set(
    rbl_context *ctx, rbl_collection *collection, const char *group, const char *name, rbli_buffer *buffer);
void rbli_collection_remove(rbl_collection *collection, const char *group, const char *name);
/// String `index` of a string attribute, "" when missing.
const char *rbli_collection_string(
    const rbl_collection *collection, const char *group, const char *name, size_t index);

/// Keeps the elements whose keep[i] is true, in every attribute of the group; `*new_index` (may be NULL, else
/// freed by the caller with rbli_free) gets the new index of each old element or −1. Attributes that hold
/// indices are not changed. Nothing is copied when all are kept. @return RBL_OK · RBL_ERR_NOT_FOUND ·
/// RBL_ERR_LIMIT (over 2³¹ − 1) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_collection_filter(
    rbl_context *ctx, rbl_collection *collection, const char *group, const bool *keep, int32_t **new_index);
/// New group content: element i comes from old element source[i] (−1: zeros, empty lists). Nothing is
/// copied when each comes from itself. @return RBL_OK · RBL_ERR_NOT_FOUND · RBL_ERR_ARGUMENT (range) ·
/// RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_collection_gather(
    rbl_context *ctx, rbl_collection *collection, const char *group, const int32_t *source, size_t count);

#endif
