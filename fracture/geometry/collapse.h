#ifndef RUBBLE_GEOMETRY_COLLAPSE_H
#define RUBBLE_GEOMETRY_COLLAPSE_H

/// Takes edges of length zero out of a closed mesh.

#include "fracture/base/alloc.h"
#include "fracture/geometry/mesh.h"

/// Joins vertices of equal position that an edge connects, and drops the two triangles that this flattens,
/// wherever the mesh stays closed and manifold (link condition: Dey, Edelsbrunner, Guha and Nekhayev 1999).
/// Nothing moves. Other vertices of equal position, which only touch, stay apart.
/// @param positions       [vertex_count]
/// @param prefer          [vertex_count] of two joined vertices the one with the larger value stays, then the
/// lower index;
///                        NULL: the lower index
/// @param triangles       [triangle_count], closed; corners are renamed in place, dropped triangles keep
/// theirs
/// @param dropped         [triangle_count] set to true for dropped triangles, other entries are left alone
/// @param kept            [vertex_count] set to the vertex that each was joined with, itself for one that
/// stays
/// @return RBL_OK · RBL_ERR_NO_MEMORY (triangles may be renamed in part)
/// Threads: reentrant, no parallel loop inside. Deterministic. Cost: one look at each edge when there is
/// nothing to do, else O(n log n) for bounded valence.
rbl_status rbli_collapse_zero_edges(rbli_arena *arena, const double (*positions)[3], size_t vertex_count,
    const uint8_t *prefer, int32_t (*triangles)[3], size_t triangle_count, bool *dropped, int32_t *kept);

#endif
