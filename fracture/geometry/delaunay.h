#ifndef RUBBLE_GEOMETRY_DELAUNAY_H
#define RUBBLE_GEOMETRY_DELAUNAY_H

/// The exact Delaunay triangulation of integer points inside an octahedron of six ghost points, and its
/// predicates.

#include "fracture/base/context.h"
#include "fracture/geometry/predicates.h"

typedef struct rbli_tetrahedron {
    int32_t v[4]; /* positive orientation */
    int32_t n[4]; /* n[i]: the neighbour opposite v[i], −1 outside the octahedron */
} rbli_tetrahedron;

typedef struct rbli_delaunay {
    rbli_tetrahedron *tetrahedra; /* [tetrahedron_count] none in two cache lines */
    void *memory;                 /* of these */
    size_t tetrahedron_count;
    size_t point_count; /* of the given points; the ghosts are point_count … point_count + 5: −x +x −y +y −z
                           +z */
    double ghosts[6][3];
    double shortest; /* squared distance of two given points, neighbours; infinite without */
} rbli_delaunay;

/// The order in which points are best inserted: biased random rounds (Amenta, Choi and Rote 2003), along a Hilbert
/// curve in each.
/// @param points         [count][3] integers, |x| ≤ ghost_distance / 5
/// @param curve          [count] set to the indices of points along the curve
/// @param order          [count] set to places on it, in the order of insertion
/// @param equal          set to whether two points are equal, or NULL
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant, uses all of the context's. Deterministic. Cost: O(count), O(n log n) for n of them closer than
/// 2^-19 of the extent.
rbl_status rbli_delaunay_order(rbl_context *ctx, const double (*points)[3], size_t count,
    double ghost_distance, int32_t *curve, int32_t *order, bool *equal);

/// Triangulates.
///
/// Method: Bowyer–Watson with a visibility walk and exact predicates. On several threads each inserts into a region
/// of its own, after the points where regions meet.
/// @param points       [point_count][3] distinct integers, |x| ≤ ghost_distance / 5; point_count ≥ 1
/// @param rank         [point_count] a permutation of 0 … point_count − 1: which point dominates ties; NULL: the last by
///                     (x, y, z), so that ties depend on no order of points, and lattices are treated alike everywhere
/// @param ghost_distance  an integer ≤ 2^51
/// @param curve          [point_count] indices of points by their places, a permutation (rbli_delaunay_order):
///                       tetrahedra are numbered by the places of their corners, the last first; each one's corners
///                       stand in that order but for the last two in half of them
/// @param order          [point_count] places in the order of insertion, a permutation. Nothing depends on it.
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED · RBL_ERR_LIMIT (more than 100,000,000 points)
/// Threads: reentrant, uses all of the context's. Deterministic. Cost: O(n log n) expected.
rbl_status rbli_delaunay_create(rbl_context *ctx, const double (*points)[3], size_t point_count,
    const int32_t *rank, double ghost_distance, const int32_t *curve, const int32_t *order,
    rbli_delaunay **out);
void rbli_delaunay_destroy(rbl_context *ctx, rbli_delaunay *delaunay); /* NULL is fine */

#endif
