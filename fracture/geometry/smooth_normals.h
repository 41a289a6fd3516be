#ifndef RUBBLE_GEOMETRY_SMOOTH_NORMALS_H
#define RUBBLE_GEOMETRY_SMOOTH_NORMALS_H

/// Normals of corners, smooth within surfaces and split at sharp edges; and tangents that go with them.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

/// Writes a unit normal for each corner. Around a vertex, the triangles that are joined by smooth edges share
/// one: the mean of theirs, weighted by their angles there (Thürmer and Wüthrich 1998). Vertices are told
/// apart by index. Slivers (rbli_face_normals) weigh nothing and follow their neighbours.
/// @param first_vertex, vertex_count  the range that the mesh's triangles use
/// @param opposite  of rbli_face_graph
/// @param kind      [triangle_count] edges between triangles of different kinds are sharp; NULL: all alike
/// @param sharp_cosine  an edge is sharp when the cosine of the angle between its triangles' normals is less
/// @param normals   [3·triangle_count]
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Threads: reentrant. Deterministic. Cost: near linear.
rbl_status rbli_smooth_normals(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *opposite,
    const uint8_t *kind, double sharp_cosine, float (*normals)[3]);

/// Writes a unit tangent and the sign of the bitangent for each corner, as the MikkTSpace standard defines
/// them (Mikkelsen 2008): corners of one vertex with equal normals and UVs whose triangles are joined by
/// edges along which normals and UVs are equal, too, share one, if the UVs of their triangles have the same
/// orientation; it is the mean of the directions in which u grows, made perpendicular to the normal, weighted
/// by the triangles' angles in the plane across the normal. Triangles without area in UV space belong to any
/// orientation and take the tangent of their neighbours. w is that of glTF, whose v grows downwards: bitangent = w · normal ×
/// tangent points to smaller v.
/// @param normals, uvs [3·triangle_count], normals of any length @param tangents [3·triangle_count]
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Threads: reentrant. Deterministic. Cost: near linear.
rbl_status rbli_corner_tangents(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *opposite,
    const float (*normals)[3], const float (*uvs)[2], float (*tangents)[4]);

#endif
