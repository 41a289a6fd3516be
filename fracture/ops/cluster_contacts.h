#ifndef RUBBLE_OPS_CLUSTER_CONTACTS_H
#define RUBBLE_OPS_CLUSTER_CONTACTS_H

/// Contacts of pieces for nodes that weigh them by area.

#include "fracture/ops/proximity.h"

/// The pairs of the group proximity, or computed ones when there is no such group. Areas that the group does
/// not tell are computed; 0 for pairs that do not touch (a group by distance has such).
/// @param surface of the same collection
/// @param out     [count] pieces are bones; freed with rbli_free; set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_weighed_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, rbli_touch **out, size_t *count);

/// Neighbours of bones in compressed rows: those of b are entries start[b] … start[b + 1] − 1, ascending.
typedef struct rbli_neighbors {
    size_t *start; /* [bone count + 1] */
    int32_t *bone;
    double *area;
} rbli_neighbors;
/// Neighbours among siblings from lifted contacts (rbli_lift_contacts). @param out set on success only
rbl_status rbli_neighbors_build(
    rbl_context *ctx, size_t bone_count, const rbli_sibling_pair *pairs, size_t count, rbli_neighbors *out);
void rbli_neighbors_free(rbl_context *ctx, rbli_neighbors *neighbors); /* what is in it */

#endif
