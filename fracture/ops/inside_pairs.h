#ifndef RUBBLE_OPS_INSIDE_PAIRS_H
#define RUBBLE_OPS_INSIDE_PAIRS_H

/// Pieces that reach into each other.

#include "fracture/ops/proximity.h"

/// Pairs of rigid leaves of which one has a vertex inside the other's solid (winding number not 0), or on its
/// surface within the tolerance. Sorted; areas −1; rbli_free.
/// @param surface   of the collection
/// @param tolerance a length > 0
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool, the same bytes for any thread count. Cost: near linear for pieces that
/// overlap few others.
rbl_status rbli_inside_pairs(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, double tolerance, rbli_touch **out, size_t *count);

#endif
