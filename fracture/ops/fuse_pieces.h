#ifndef RUBBLE_OPS_FUSE_PIECES_H
#define RUBBLE_OPS_FUSE_PIECES_H

/// Groups of pieces become one piece each.

#include "fracture/ops/proximity.h"

typedef struct rbli_piece_groups {
    size_t count;
    int32_t *member;      /* rigid leaves, group after group */
    size_t *start;        /* [count + 1] */
    int32_t *keeper;      /* [count] the member whose bone stays */
    double *contact_area; /* [count] of all contacts between members */
} rbli_piece_groups;
void rbli_piece_groups_free(rbl_context *ctx, rbli_piece_groups *groups); /* what is in it */

/// Replaces each group by the union of its members (fuse.h): shared facets disappear, volumes add up, the
/// surface is closed. A group whose union would not be clean stays as it is: its surface does not shrink by
/// both sides of the whole contact, or its volume is not the sum. The keeper's bone takes the union, in its
/// own frame, and the masses; attached sheets of the others hang below it; the others' bones go, and so do
/// clusters that they leave empty. Pairs of the groups proximity and contact become pairs of the unions, areas
/// added; the connection graph follows (rehang.h). Hulls of unions go, and hulls of clusters between which
/// pieces moved.
/// @param in      not changed
/// @param surface of `in`
/// @param fused   [groups->count] receives whether it became one
/// @param out     set on success only
/// @param place   receives for each bone of `in` the bone of `out` that it became or went into, −1 for
///                clusters that are gone; freed by the caller
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count.
rbl_status rbli_fuse_pieces(rbl_context *ctx, const rbl_collection *in, const rbli_world_surface *surface,
    const rbli_piece_groups *groups, bool *fused, rbl_collection **out, int32_t **place);

#endif
