#ifndef RUBBLE_COLLECTION_HIERARCHY_H
#define RUBBLE_COLLECTION_HIERARCHY_H

/// Questions about the bones of a collection, and selections of them.

#include "fracture/collection/schema.h"

/// Children in index order, in compressed rows: children of bone b are child[start[b]] … child[start[b+1] −
/// 1].
typedef struct rbli_children {
    int32_t *start; /* [bone_count + 1] */
    int32_t *child;
} rbli_children;
rbl_status rbli_children_build(rbl_context *ctx, const rbl_collection *collection, rbli_children *out);
void rbli_children_free(rbl_context *ctx, rbli_children *children);

/// Sets bone.level from bone.parent. @return RBL_OK · RBL_ERR_COLLECTION (a parent not before its child) ·
/// NO_MEMORY
rbl_status rbli_hierarchy_update_levels(rbl_context *ctx, rbl_collection *collection);
/// World transforms of all bones, [bone_count][16] column-major, freed by the caller with rbli_free.
rbl_status rbli_hierarchy_world_transforms(
    rbl_context *ctx, const rbl_collection *collection, double (**out)[16]);
/// Sorts bones so that parents come before children (stable otherwise) and renumbers every index of bones.
/// Levels are set. @return RBL_OK · RBL_ERR_COLLECTION (a cycle, an index out of range) · RBL_ERR_NO_MEMORY
rbl_status rbli_hierarchy_sort(rbl_context *ctx, rbl_collection *collection);
/// Appends `count` bones at once: identity transform, level from the parent, type, simulation dynamic, no
/// geometry, site −1. Names are made unique by "_2" … at the end, or before a final "_sheet" (NULL and ""
/// count as "bone"). `parents` are existing bones or −1; NULL: all roots. `first` may be NULL. @return RBL_OK
/// · RBL_ERR_ARGUMENT · RBL_ERR_NOT_FOUND (no group bone) · RBL_ERR_LIMIT
rbl_status rbli_hierarchy_add_bones(rbl_context *ctx, rbl_collection *collection, size_t count,
    const int32_t *parents, const char *const *names, rbli_bone_type type, int32_t *first);
/// Removes bones with everything that belongs to them (geometry, vertices, faces, corners, hulls, proximity
/// and connection pairs) and renumbers. Children of a removed bone go to its parent, keeping their world
/// transform. Cost: linear.
/// @return RBL_OK · RBL_ERR_COLLECTION (a parent not before its child, an index out of range) ·
/// RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_hierarchy_remove_bones(rbl_context *ctx, rbl_collection *collection, const bool *remove);

/// A set of bones of one topology. Immutable, reference counted.
typedef struct rbli_selection rbli_selection;
/// Hash of bone count, names and parents (DESIGN §10).
rbli_hash rbli_topology_hash(const rbl_collection *collection);
/// `bones`: any order, duplicates allowed; copied, sorted. @return RBL_ERR_ARGUMENT for an index out of range
rbl_status rbli_selection_create(rbl_context *ctx, const rbl_collection *collection, const int32_t *bones,
    size_t count, rbli_selection **out);
/// A selection as it was kept in a file: the hash of the topology that it was made on, and its bones.
/// @return RBL_OK · RBL_ERR_ARGUMENT unless the bones ascend from 0 or above · RBL_ERR_NO_MEMORY
rbl_status rbli_selection_restore(
    rbl_context *ctx, rbli_hash topology, const int32_t *bones, size_t count, rbli_selection **out);
rbli_hash rbli_selection_topology(const rbli_selection *selection);
rbli_selection *rbli_selection_retain(rbli_selection *selection);
void rbli_selection_release(rbli_selection *selection);
size_t rbli_selection_count(const rbli_selection *selection);
const int32_t *rbli_selection_bones(const rbli_selection *selection); /* ascending */
rbli_hash rbli_selection_hash(const rbli_selection *selection);
size_t rbli_selection_bytes(const rbli_selection *selection);
/// True when it was made on a collection of this topology.
bool rbli_selection_fits(const rbli_selection *selection, const rbl_collection *collection);

/// All rigid bones that have geometry, are not sheets and have no children but sheets (selection NULL), or
/// those of them that are in the selection or below one of its bones; ascending, freed by the caller with
/// rbli_free. A selection of another topology is RBL_ERR_COLLECTION.
rbl_status rbli_rigid_leaves(rbl_context *ctx, const rbl_collection *collection,
    const rbli_selection *selection, int32_t **out, size_t *count);

#endif
