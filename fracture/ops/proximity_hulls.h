#ifndef RUBBLE_OPS_PROXIMITY_HULLS_H
#define RUBBLE_OPS_PROXIMITY_HULLS_H

/// Hulls of pieces in world space: which are near each other, and what pairs have in common.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/contact.h"
#include "fracture/geometry/hull_contact.h"
#include "fracture/ops/proximity.h"

/// Hulls of all rigid leaves. Those of leaf i are shape[start[i]] … shape[start[i + 1] − 1].
typedef struct rbli_leaf_hulls {
    int32_t *leaf;    /* [leaf_count] bones, ascending */
    int32_t *leaf_of; /* [bone count] index of a leaf, or −1 */
    size_t leaf_count;
    size_t *start;          /* [leaf_count + 1] */
    rbli_hull_shape *shape; /* [start[leaf_count]]; without facets unless they were asked for */
    double (*boxes)[2][3];  /* [the same] */
    size_t flat_count;      /* pieces that were thickened */
} rbli_leaf_hulls;

/// The hulls that the collection has for a leaf, else one of its vertices.
/// @param surface   kept alive by the caller
/// @param facets    also planes and edges; else some points whose hull it is are enough
/// @param out       set on success only; rbli_leaf_hulls_free
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_MESH (a piece whose hull cannot be made; the message names it) ·
///         RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Threads: uses the context's pool.
rbl_status rbli_leaf_hulls_build(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, bool facets, rbli_leaf_hulls *out);
void rbli_leaf_hulls_free(rbl_context *ctx, rbli_leaf_hulls *hulls);

/// Pairs of leaves with hulls at most `distance` apart, sorted; areas −1; rbli_free.
/// Threads: uses the context's pool, the same bytes for any thread count. Cost: near linear.
rbl_status rbli_near_hulls(
    rbl_context *ctx, const rbli_leaf_hulls *hulls, double distance, rbli_touch **out, size_t *count);

/// What the hulls of each pair have in common (hull_contact.h). Of pieces of several hulls, those nearest to each
/// other and those within `bridge` count: areas are added, widths are of the widest.
/// @param out [count] of the caller
rbl_status rbli_measure_hull_contacts(rbl_context *ctx, const rbli_leaf_hulls *hulls,
    const rbli_touch *touches, size_t count, double bridge, double depth, rbli_hull_contact *out);

#endif
