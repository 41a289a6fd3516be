#ifndef RUBBLE_GEOMETRY_FACE_GRAPH_H
#define RUBBLE_GEOMETRY_FACE_GRAPH_H

/// Which triangles share an edge, and unit normals that slivers borrow.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

/// For corner c = 3·t + k, the edge from vertex k to vertex k + 1 of triangle t: `opposite[c]` is the corner
/// of the triangle across, whose edge runs the other way, or −1. Where several triangles could be met, each is met once,
/// by the lowest.
/// @param triangles [count], indices in first_vertex … first_vertex + vertex_count − 1
/// @param opposite  [3·count], freed by the caller with rbli_free; set on success only
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Threads: reentrant. Cost: O(count log of the most edges at a vertex).
rbl_status rbli_face_graph(rbl_context *ctx, const int32_t (*triangles)[3], size_t count,
    int32_t first_vertex, size_t vertex_count, int32_t **opposite);

/// Unit normals of triangles. A sliver, whose height is below 1e-6 of the mesh's extent, has no direction of
/// its own: it takes that of the triangle across its longest side, or of another neighbour.
/// @param normals [mesh->triangle_count]
/// @param sliver  [mesh->triangle_count] or NULL: receives which triangles are slivers
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_face_normals(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *opposite,
    double (*normals)[3], bool *sliver);

#endif
