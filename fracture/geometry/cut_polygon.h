#ifndef RUBBLE_GEOMETRY_CUT_POLYGON_H
#define RUBBLE_GEOMETRY_CUT_POLYGON_H

/// Triangulates a plane polygon with holes by ear clipping. No vertex is deleted or added.

#include "fracture/base/alloc.h"

/// Memory that is reused from polygon to polygon; zero it, then free it with cut_polygon_free. One per
/// thread.
typedef struct cut_polygon {
    struct cut_ring_vertex *ring;
    size_t ring_capacity;
    int32_t *sorted;
    size_t sorted_capacity;
    RBLI_ARRAY(int32_t) corners; /* output: three indices a triangle */
} cut_polygon;

void cut_polygon_free(rbl_context *ctx, cut_polygon *polygon);

/// Triangulates one outer loop (counter-clockwise) and the holes in it (clockwise).
///
/// Method: holes are bridged into one ring (Eberly 2002), then ears are clipped, well-shaped ones first;
/// vertices are looked up by x. Always gives point_count + 2 × hole_count − 2 triangles, whatever the input:
/// a ring that crosses itself gets overlapping or flat triangles whose signed areas still sum to the ring's.
/// @param points      [loop_start[loop_count]][2]
/// @param loop_start  [loop_count + 1] first point of each loop, the outer loop first
/// @return RBL_OK with polygon->corners set (indices of points) · RBL_ERR_NO_MEMORY
/// Threads: reentrant. Deterministic. Cost: O(n log n) for ordinary outlines.
rbl_status cut_polygon_triangulate(rbl_context *ctx, cut_polygon *polygon, const double (*points)[2],
    const int32_t *loop_start, size_t loop_count);

/// Twice the signed area of a loop.
double cut_loop_area2(const double (*points)[2], size_t count);

/// Whether a point lies inside a loop (even–odd rule).
bool cut_loop_contains(const double (*points)[2], size_t count, const double point[2]);

#endif
