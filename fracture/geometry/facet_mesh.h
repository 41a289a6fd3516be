#ifndef RUBBLE_GEOMETRY_FACET_MESH_H
#define RUBBLE_GEOMETRY_FACET_MESH_H

/// Triangulating a convex polygon with points inside.

#include "fracture/base/alloc.h"

/// A triangle and its neighbours across the sides that start at each corner, −1 at the border.
typedef struct rbli_facet_triangle {
    int32_t v[3], neighbor[3];
} rbli_facet_triangle;

typedef struct rbli_facet_mesh {
    RBLI_ARRAY(rbli_facet_triangle) triangles;
    RBLI_ARRAY(int32_t) stack;
} rbli_facet_mesh;

void rbli_facet_mesh_free(rbl_context *ctx, rbli_facet_mesh *mesh);

/// Delaunay triangles of a convex polygon and points inside it: the first inner point is joined with the
/// border, the others are inserted with edge flips (Lawson 1977). Border vertices may lie on a line.
/// @param points       [count][2]; first the border, counter-clockwise, then the inner points
/// @param border_count ≥ 3
/// @param count        > border_count
/// @return RBL_OK · RBL_ERR_NO_MEMORY; mesh->triangles holds the result, counter-clockwise
rbl_status rbli_facet_mesh_make(
    rbl_context *ctx, rbli_facet_mesh *mesh, const double (*points)[2], size_t border_count, size_t count);

#endif
