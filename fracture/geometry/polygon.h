#ifndef RUBBLE_GEOMETRY_POLYGON_H
#define RUBBLE_GEOMETRY_POLYGON_H

/// Polygons in space cut into triangles.

#include "fracture/base/context.h"

/// Triangulates a polygon without holes: a fan from corner 0 if every triangle agrees with the polygon's
/// normal, else ear clipping in the projection along the largest component of the normal, with exact
/// orientations (Meisters 1975; Shewchuk 1997 for the predicate). Corners may repeat, be collinear or not
/// quite planar; also a polygon that crosses itself gives count − 2 triangles, each directed edge of the
/// polygon in exactly one of them, all other edges in pairs.
///
/// @param positions  [..][3]
/// @param corners    indices into positions, corner i at corners[i · stride]
/// @param count      at least 3, at most 2^31 − 1
/// @param out        [count − 2] corner numbers 0 … count − 1, in the polygon's direction
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Threads: reentrant. Deterministic. Cost: O(count)
/// for a fan,
///         O(count · reflex corners) at worst for ears, cut short (by a fan of the rest) past 4·10^9 tests of
///         points.
rbl_status rbli_polygon_triangulate(rbl_context *ctx, const double (*positions)[3], const int32_t *corners,
    size_t stride, size_t count, int32_t (*out)[3]);

/// Sign of twice the signed area of a, b, c in the plane, exact unless products over- or underflow.
int rbli_orient_2d(const double a[2], const double b[2], const double c[2]);

#endif
