#ifndef RUBBLE_COLLECTION_H
#define RUBBLE_COLLECTION_H

/// Making and changing collections, and what else a host's node types need inside their functions. Reading is
/// in rubble/rubble.h.
///
///     rbl_collection *out = NULL;
///     double (*transform)[16];
///     rbl_status status = rbl_collection_copy(ctx, rbl_call_input_collection(call, "collection"), &out);
///     if (status == RBL_OK)
///         status = rbl_collection_write(ctx, out, "bone", "transform", RBL_MAT4, (void **)&transform);
///     if (status != RBL_OK) {
///         rbl_collection_release(out);
///         return status;
///     }
///     … change transform[bone] …
///     rbl_call_set_output_collection(call, "collection", out);
///
/// Rules
/// - A node changes only collections that it created or copied, before it hands them on.
/// - Names of groups and attributes are [a-z_][a-z0-9_]{0,63}; another one is RBL_ERR_ARGUMENT.
/// - Writing a shared array copies it first; arrays that are not written stay shared with the input.
/// - What groups and attributes mean stands in docs/collection.md; others may be added by anyone.

#include "rubble/rubble.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Collections ---- */

/// An empty collection without groups, or (create_asset) one with the groups bone, geometry, vertex, face,
/// corner and material, the attributes that every mesh has, and no element in them. One reference.
RBL_API rbl_status rbl_collection_create(rbl_context *ctx, rbl_collection **out);
RBL_API rbl_status rbl_collection_create_asset(rbl_context *ctx, rbl_collection **out);
/// A copy that may be changed; all arrays are shared until they are written. One reference.
RBL_API rbl_status rbl_collection_copy(
    rbl_context *ctx, const rbl_collection *collection, rbl_collection **out);
/// Shares a collection, which must not be changed any more; it may outlive its run, not its engine.
RBL_API rbl_collection *rbl_collection_retain(rbl_collection *collection);
RBL_API void rbl_collection_release(rbl_collection *collection); /* NULL is fine; from any thread */

/// Adds a group of `count` elements or sets its length: longer arrays get zeros (empty lists), shorter ones
/// lose their end.
RBL_API rbl_status rbl_collection_resize(
    rbl_context *ctx, rbl_collection *collection, const char *group, size_t count);
/// The elements of an attribute for writing, rbl_collection_group_size of them: made (zeroed) when missing,
/// replaced when of another type. Valid until the collection is changed otherwise.
/// @return RBL_OK · RBL_ERR_NOT_FOUND (no such group: resize first) · RBL_ERR_ARGUMENT (name, type) ·
/// RBL_ERR_NO_MEMORY
RBL_API rbl_status rbl_collection_write(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, rbl_type type, void **data);
/// Sets a string attribute: one string for each element of the group, UTF-8; NULL counts as "".
RBL_API rbl_status rbl_collection_write_strings(rbl_context *ctx, rbl_collection *collection,
    const char *group, const char *name, const char *const *strings);
/// Sets a list attribute: element i is values[offsets[i]] … values[offsets[i + 1] − 1]. `offsets` has one
/// more entry than the group has elements, begins with 0 and never falls.
/// @return as rbl_collection_write · RBL_ERR_ARGUMENT (offsets)
RBL_API rbl_status rbl_collection_write_list(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, rbl_type type, const uint64_t *offsets, const void *values);
/// Removes a group or an attribute; one that is not there is fine.
RBL_API void rbl_collection_remove_group(rbl_collection *collection, const char *group);
RBL_API void rbl_collection_remove_attribute(rbl_collection *collection, const char *group, const char *name);
/// Keeps the elements whose keep[i] is true, in every attribute of the group. Indices that point into the
/// group are not changed.
RBL_API rbl_status rbl_collection_filter(
    rbl_context *ctx, rbl_collection *collection, const char *group, const bool *keep);

/// Appends bones: identity transform, no geometry, dynamic. `parents`: existing bones or −1, NULL: all roots.
/// A name in use gets "_2" …. `rigid`: pieces, else clusters. *first gets the index of the first one and may
/// be NULL.
RBL_API rbl_status rbl_collection_add_bones(rbl_context *ctx, rbl_collection *collection, size_t count,
    const int32_t *parents, const char *const *names, bool rigid, int32_t *first);
/// Removes the bones whose remove[i] is true with all that belongs to them, and renumbers. Children go to the
/// removed bone's parent and keep their place in the world.
RBL_API rbl_status rbl_collection_remove_bones(
    rbl_context *ctx, rbl_collection *collection, const bool *remove);
/// World transforms of all bones into out[bone_count][16], column-major.
RBL_API rbl_status rbl_collection_world_transforms(
    rbl_context *ctx, const rbl_collection *collection, double (*out)[16]);

typedef enum rbl_validate_level {
    RBL_VALIDATE_RANGES = 1,   /* types, lengths, index ranges, hierarchy, finite numbers */
    RBL_VALIDATE_GEOMETRY = 2, /* and ranges cover, normals at most 1 long, volumes and bounds agree */
    RBL_VALIDATE_CLOSED = 3,   /* and every piece is closed, hulls are convex */
} rbl_validate_level;
/// @return RBL_OK · RBL_ERR_COLLECTION, told with group, attribute and element
RBL_API rbl_status rbl_collection_validate(
    rbl_context *ctx, const rbl_collection *collection, rbl_validate_level level);

/* ---- Inside a node's functions ---- */

/// A warning: something was done to the input beyond what was asked for, or asked for but not done. Shown
/// with the node's id, and again on each cache hit. One sentence, lower case, without a full stop.
RBL_API void rbl_call_warn(rbl_context *ctx, const char *format, ...) RBL_PRINTF(2, 3);
/// Anything else that a person may want to know.
RBL_API void rbl_call_note(rbl_context *ctx, const char *format, ...) RBL_PRINTF(2, 3);
/// True once the end was asked for: return RBL_ERR_CANCELLED then. Cheap; poll it in long loops.
RBL_API bool rbl_call_cancelled(const rbl_context *ctx);
/// Says how much of the node is done, 0 … 1.
RBL_API void rbl_call_progress(rbl_context *ctx, double fraction);
/// For `deliver`: adds bytes to a file of rbl_call_open_file. Errors are kept and come from rbl_call_add_file
/// or the end of the run.
RBL_API void rbl_call_write(void *writer, const void *bytes, size_t count);
/// For `deliver`: gives a file of rbl_call_open_file up.
RBL_API void rbl_call_discard_file(void *writer);

#ifdef __cplusplus
}
#endif
#endif
