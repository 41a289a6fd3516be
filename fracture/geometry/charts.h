#ifndef RUBBLE_GEOMETRY_CHARTS_H
#define RUBBLE_GEOMETRY_CHARTS_H

/// Unfolding a surface: parts that are nearly flat, laid side by side in a square.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

/// Parts of a surface, each projected to a plane without overlapping itself.
typedef struct rbli_charts {
    size_t count;
    int32_t *chart; /* [triangle_count] or −1: not chosen */
    double (
        *place)[2]; /* [3·triangle_count] of each corner within its chart, from (0, 0) to its size; lengths
                           of the mesh, area kept on the whole; counter-clockwise triangles stay that */
    double (*size)[2]; /* [count] of the box around each chart, width ≥ height */
} rbli_charts;
void rbli_charts_free(rbl_context *ctx, rbli_charts *charts);

/// Divides the chosen triangles into charts: connected triangles of one plane number whose normals are within
/// 45° of the chart's, so that areas are kept within a factor of √2. Charts are begun at the largest triangle
/// that is left; one that overlaps itself in its plane is cut in halves. Each is turned so that its box is
/// small. Slivers (rbli_face_normals) go with their neighbours.
/// @param opposite of rbli_face_graph
/// @param plane    [triangle_count] NULL: all alike. Numbers ≥ 0 are planar cuts: their chart faces the whole
/// @param chosen   [triangle_count] NULL: all
/// @param out      set on success only
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Threads: reentrant. Deterministic. Cost: O(n log n).
rbl_status rbli_make_charts(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *opposite,
    const int32_t *plane, const bool *chosen, rbli_charts *out);

/// Places rectangles in a square so that each two are `gutter` apart, and half of it from the border.
///
/// Method: rows of falling height (Coffman, Garey, Johnson and Tarjan 1980); the scale is found by halving.
/// @param sizes [count] width and height, lengths
/// @param side, gutter  of the square and between rectangles, in pixels
/// @param corners [count] receives the lower left corners, in pixels
/// @param scale   receives pixels per length; 0 when no rectangle has a size
/// @return RBL_OK · RBL_ERR_LIMIT (the gutters alone do not fit; no message) · RBL_ERR_NO_MEMORY ·
/// RBL_ERR_CANCELLED. Cost: O(n log n).
rbl_status rbli_pack_rectangles(rbl_context *ctx, const double (*sizes)[2], size_t count, double side,
    double gutter, double (*corners)[2], double *scale);

#endif
