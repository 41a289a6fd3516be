#ifndef RUBBLE_GEOMETRY_DELAUNAY_H
#define RUBBLE_GEOMETRY_DELAUNAY_H

/// The exact Delaunay triangulation of integer points inside an octahedron of six ghost points, and its
/// predicates.

#include "fracture/base/context.h"
#include "fracture/geometry/wide.h"

/// A point for the predicates: integer coordinates, |x| ≤ 2^51, and its rank: ties in the insphere test are
/// broken by lifting each point by an infinitesimal, that of a larger rank dominating. Ranks are distinct.
typedef struct rbli_ranked_point {
    double x[3];
    int64_t rank;
} rbli_ranked_point;

/// Sign of det(b − a, c − a, d − a): 1 for a positive tetrahedron. Exact.
int rbli_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

/// 1 if e lies inside the sphere through the positive tetrahedron (a, b, c, d), else −1; never 0.
/// Symbolic perturbation of the lifted points: Devillers and Teillaud 2011, Perturbations for Delaunay and
/// weighted Delaunay 3D triangulations. Exact.
int rbli_insphere(const rbli_ranked_point *a, const rbli_ranked_point *b, const rbli_ranked_point *c,
    const rbli_ranked_point *d, const rbli_ranked_point *e);

/// The centre of the sphere through four integer points that are not coplanar, rounded to quarters (as far as
/// doubles hold them): the same for every four points of one sphere and every order of them, up to a common
/// rounding.
void rbli_circumcenter(
    const double a[3], const double b[3], const double c[3], const double d[3], double center[3]);

typedef struct rbli_tetrahedron {
    int32_t v[4]; /* positive orientation */
    int32_t n[4]; /* n[i]: the neighbour opposite v[i], −1 outside the octahedron */
} rbli_tetrahedron;

typedef struct rbli_delaunay {
    rbli_tetrahedron *tetrahedra; /* [tetrahedron_count] */
    size_t tetrahedron_count;
    size_t point_count; /* of the given points; the ghosts are point_count … point_count + 5: −x +x −y +y −z
                           +z */
    double ghosts[6][3];
} rbli_delaunay;

/// Triangulates.
///
/// Method: Bowyer–Watson in biased random rounds (Amenta, Choi and Rote 2003) with Hilbert order inside each,
/// visibility walk, exact predicates.
/// @param points       [point_count][3] distinct integers, |x| ≤ ghost_distance / 5; point_count ≥ 1
/// @param rank         [point_count] a permutation of 0 … point_count − 1: which point dominates ties
/// @param ghost_distance  an integer ≤ 2^51
/// @param order        [point_count] order of insertion for tests, or NULL: the triangulation does not depend
/// on it, only
///                     the numbering of tetrahedra
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED · RBL_ERR_LIMIT (more than 100,000,000 points)
/// Threads: reentrant, runs on the caller's. Deterministic. Cost: O(n log n) expected.
rbl_status rbli_delaunay_create(rbl_context *ctx, const double (*points)[3], size_t point_count,
    const int32_t *rank, double ghost_distance, const int32_t *order, rbli_delaunay **out);
void rbli_delaunay_destroy(rbl_context *ctx, rbli_delaunay *delaunay); /* NULL is fine */

#endif
