#ifndef RUBBLE_OPS_SPLIT_ISLANDS_H
#define RUBBLE_OPS_SPLIT_ISLANDS_H

/// Pieces that hang together by nothing, taken apart.

#include "fracture/ops/fracture.h"

/// Splits each chosen rigid leaf into the parts of its surface that share no vertex. A leaf with several
/// becomes a cluster with the parts as its rigid children BONE_0, BONE_1, … in the order of their lowest
/// vertex (x, then y, then z); bone.site is that number. Cavities stay with the part that contains them;
/// parts without volume are left out.
/// Sheets go with the part beside them. Vertices, faces and all that belongs to them stay as they are. Hulls
/// of split bones and the groups proximity and connection, which no longer hold, are removed.
/// @param selection        NULL: all rigid leaves
/// @param vertex_distance  parts with vertices this near stay together; 0: only those that share a vertex
/// @param bridge_distance  likewise, a vertex of one this near to the surface of the other; 0: none
/// @param out  set on success only; new_bones are the parts, and chosen leaves that have one part
/// @return as rbli_fracture
/// Threads: uses the context's pool. Same bytes for any thread count. Cost: O(triangles log triangles).
rbl_status rbli_split_islands(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    double vertex_distance, double bridge_distance, rbli_fracture_result *out);

#endif
