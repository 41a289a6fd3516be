#ifndef RUBBLE_GEOMETRY_CLUSTER_CONVEX_H
#define RUBBLE_GEOMETRY_CLUSTER_CONVEX_H

/// Merging of neighbouring bodies into groups that fill their convex hulls.

#include "fracture/geometry/contraction.h"

/// Bodies are told by their outermost points along fixed directions: the axes, the diagonals of planes and of
/// space, and (2, 1, 1) with its kin.
enum { RBLI_EXTREME_COUNT = 50 };
typedef struct rbli_extremes {
    double points[RBLI_EXTREME_COUNT][3];
    bool any; /* false: no point yet */
} rbli_extremes;
/// Adds points: of equally far ones the greatest by coordinates counts, so their order does not matter.
void rbli_extremes_add(rbli_extremes *extremes, const double (*points)[3], size_t count);
void rbli_extremes_join(rbli_extremes *extremes, const rbli_extremes *other);
/// Volume of the convex hull of the outermost points: at most that of the body's hull.
/// @return RBL_OK · RBL_ERR_ARGUMENT (a number that is not finite) · RBL_ERR_NO_MEMORY
rbl_status rbli_extremes_volume(rbl_context *ctx, const rbli_extremes *extremes, double *out);

typedef struct rbli_convex_cluster_options {
    size_t count;               /* groups wanted */
    double concavity_tolerance; /* a length; merging goes on below `count` while a group is left with at most
                                   the cube of it empty inside its hull; default 0: not */
} rbli_convex_cluster_options;

/// Greedy merging: of all neighbours the two whose common hull has the least empty space, volume of the hull
/// minus volume of the bodies, until `count` are left. So that groups come out of like size, two may only
/// merge if together they have at most the mean volume of `count` groups, or one of them less than a fifth of
/// it (GEO §6.2); when no pair is left that may, all may.
/// @param extremes [count] of the bodies
/// @param volume   [count]
/// @param edges    who is beside whom, any number of each pair
/// @param label    [count] receives 0 … *label_count − 1, numbered by the first body; more than `count` where
///                 nothing joins them
/// @return RBL_OK · RBL_ERR_ARGUMENT · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant, uses the context's pool. Same bytes for any thread count. Cost: O(n log n) times a hull
/// of 50 points, for a bounded number of neighbours.
rbl_status rbli_cluster_convex(rbl_context *ctx, const rbli_extremes *extremes, const double *volume,
    size_t count, const rbli_cluster_edge *edges, size_t edge_count,
    const rbli_convex_cluster_options *options, int32_t *label, size_t *label_count);

#endif
