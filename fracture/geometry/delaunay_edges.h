#ifndef RUBBLE_GEOMETRY_DELAUNAY_EDGES_H
#define RUBBLE_GEOMETRY_DELAUNAY_EDGES_H

/// Which points are neighbours.

#include "fracture/base/context.h"

/// The pairs of points whose Voronoi cells share a facet: the edges of every Delaunay triangulation of the points
/// but those that only some have (diagonals of lattices and other points on one sphere). Points may be coplanar,
/// collinear or equal, and few. The edges connect all points.
///
/// Method: the exact triangulation of delaunay.h of the points on a grid of 2^-34 of the extent. A facet counts
/// when it is wider than 1e-9 of the extent and 1e-6 of the distance of both points (or opens at an angle of
/// more than 1e-6), so that a lattice has no diagonals however it is turned. Points that fall together on the grid are joined to the first of them alone.
/// Pairs whose cells meet farther away than 100,000 extents are left out.
/// @param points [count][3] finite
/// @param out    pairs a < b, sorted, freed by the caller with rbli_free; set on success only, with `*out_count`
/// @return RBL_OK · RBL_ERR_ARGUMENT (not finite, or extents that overflow) · RBL_ERR_LIMIT (more than 30,000,000
/// points) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant, runs on the caller's. Deterministic. Cost: O(n log n) expected.
rbl_status rbli_delaunay_edges(
    rbl_context *ctx, const double (*points)[3], size_t count, int32_t (**out)[2], size_t *out_count);

#endif
