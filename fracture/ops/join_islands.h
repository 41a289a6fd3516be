#ifndef RUBBLE_OPS_JOIN_ISLANDS_H
#define RUBBLE_OPS_JOIN_ISLANDS_H

/// Which parts of one cell are near enough to be one piece.

#include "fracture/geometry/cut.h"

/// Joins pieces of the same cell that are near each other: two vertices within `vertex_distance`, or a vertex
/// of one within `bridge_distance` of the surface of the other. Surfaces stay as they are, side by side.
/// @param vertex_distance, bridge_distance  lengths; 0: not looked at
/// @return RBL_OK · RBL_ERR_NO_MEMORY
/// Threads: reentrant. Cost: O(n log n) for the cells with several pieces, more where much is near.
rbl_status rbli_join_near_islands(
    rbl_context *ctx, rbli_cut_result *result, double vertex_distance, double bridge_distance);

#endif
