#ifndef RUBBLE_OPS_REHANG_H
#define RUBBLE_OPS_REHANG_H

/// Changing who hangs below whom, with everything that depends on it.

#include "fracture/collection/hierarchy.h"

/// The hierarchy that is wanted, in terms of the bones of the input. Nodes are the old bones 0 … bone_count −
/// 1 and, after them, the new clusters.
typedef struct rbli_rehang_plan {
    size_t bone_count;
    int32_t *parent;  /* [bone_count] a node or −1; starts as it is */
    bool *dissolve;   /* [bone_count] the bone goes; what hangs below it hangs above it then; starts false */
    size_t new_count; /* new clusters */
    int32_t *new_parent; /* [new_count] a node or −1 */
    char **new_name;     /* [new_count] made unique */
    size_t new_capacity;
    bool clusters_of_one; /* clusters that are left with one child, or made with one, stay; default false */
} rbli_rehang_plan;

/// @return RBL_OK · RBL_ERR_COLLECTION (bone.parent is missing) · RBL_ERR_NO_MEMORY
rbl_status rbli_rehang_plan_create(rbl_context *ctx, const rbl_collection *in, rbli_rehang_plan *out);
void rbli_rehang_plan_free(rbl_context *ctx, rbli_rehang_plan *plan); /* what is in it */
/// Adds a new cluster whose name is `base` with `ending` behind it. @param node receives its number
rbl_status rbli_rehang_add(rbl_context *ctx, rbli_rehang_plan *plan, int32_t parent, const char *base,
    const char *ending, int32_t *node);

/// Hangs bones anew. Places in the world stay: local transforms change, to the bit only where the parent's
/// place in the world changes. Clusters that lose their last child go; so do, unless plan->clusters_of_one,
/// clusters that are left with one child (roots stay) and new ones that would have one child or be an only
/// child. New clusters have an identity transform; they move as all their children do, if these agree,
/// are anchored if all are, and take the largest damage threshold of their children. Masses are summed anew,
/// hulls of clusters whose pieces changed are removed with a note, the connection graph is lifted anew from
/// the proximity (from itself where it had other pairs and no connected bone was dissolved, else it is
/// removed with a warning). Other attributes of bones stay and are zero for new ones.
/// @param in     not changed
/// @param out    set on success only
/// @param source NULL, or receives for each bone of `out` its node, [bone count of out], freed by the caller
/// @return RBL_OK · RBL_ERR_COLLECTION (a cycle, a transform without inverse) · RBL_ERR_LIMIT ·
/// RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant. Deterministic. Cost: linear in bones and pairs, but for sorting.
rbl_status rbli_rehang(rbl_context *ctx, const rbl_collection *in, const rbli_rehang_plan *plan,
    rbl_collection **out, int32_t **source);

/// Writes the group connection of `to` anew, if `in` has one: from the proximity of `to` when that of `in` has
/// the same pairs as its connections; else the old pairs, lifted to siblings. Pairs of a bone that is gone
/// cannot be lifted: then the group is removed with a warning.
/// @param place [bone count of in] the bone of `to` that each became or went into, −1: gone
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_renew_connections(
    rbl_context *ctx, const rbl_collection *in, const int32_t *place, rbl_collection *to);

#endif
