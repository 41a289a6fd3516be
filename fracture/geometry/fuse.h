#ifndef RUBBLE_GEOMETRY_FUSE_H
#define RUBBLE_GEOMETRY_FUSE_H

/// Joins closed surfaces along the triangles that they share.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

typedef struct rbli_fuse_result {
    double (*positions)[3];
    int32_t *vertex_source; /* [vertex_count] the source vertex; of a middle point one end of the edge */
    size_t vertex_count;
    int32_t (*triangles)[3];
    size_t triangle_count;
    rbli_triangle_origins origins; /* source ≥ 0 always */
    size_t dropped_count;          /* triangles that are gone: both sides of what was shared */
    size_t split_edge_count;       /* edges that got a middle point, since they would have occurred twice */
} rbli_fuse_result;

void rbli_fuse_result_free(rbl_context *ctx, rbli_fuse_result *result); /* what is in it */

/// The union of pieces that share facets: pairs of opposite triangles with equal positions disappear (also
/// where one side has a middle point on a diagonal), vertices are joined across, and the wedges of the pieces
/// are followed around each edge, so that the result is closed by construction: each directed edge is met
/// exactly once by its reverse. Positions do not move and volumes add up.
/// @param mesh   pieces, each closed by index; no vertex belongs to two pieces
/// @param piece  [triangle_count] ≥ 0
/// @param out    set on success only; rbli_fuse_result_free
/// @return RBL_OK · RBL_ERR_OPEN_MESH (a piece is not closed) · RBL_ERR_NO_MEMORY
/// Threads: reentrant. Deterministic. Cost: O(triangles).
rbl_status rbli_fuse(
    rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece, rbli_fuse_result *out);

#endif
