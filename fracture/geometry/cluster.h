#ifndef RUBBLE_GEOMETRY_CLUSTER_H
#define RUBBLE_GEOMETRY_CLUSTER_H

/// Grouping of points that are joined by edges into compact, connected clusters.

#include "fracture/base/context.h"

/// Two points that touch. `weight` > 0: the area of the contact, or 1.
typedef struct rbli_cluster_edge {
    int32_t a, b;
    double weight;
} rbli_cluster_edge;

typedef struct rbli_cluster_options {
    size_t count;              /* clusters wanted, ≥ 1; default 10 */
    uint32_t seed;             /* default 0 */
    int32_t iterations;        /* at most so many steps of Lloyd; default 500 */
    bool enforce_connectivity; /* default true: the unconnected parts of a cluster become clusters */
    bool enforce_count;  /* default true: then the smallest clusters join neighbours until `count` are left */
    bool avoid_isolated; /* default true: a cluster of one joins a neighbour, or is none */
} rbli_cluster_options;
rbli_cluster_options rbli_cluster_default_options(void);

/// k-means (Lloyd 1982) from seeds spread along a Morton curve, one at random in each of `count` equal
/// stretches of it; nearest centres by a k-d tree; then parts by union-find and merging of the smallest into
/// the neighbour of the largest common weight. Without edges connectivity is not enforced. More clusters than
/// `count` remain only where nothing joins them, fewer only where `avoid_isolated` leaves fewer or there are
/// fewer points.
/// @param points  [count][3], finite
/// @param edges   [edge_count], any order, each pair once
/// @param cluster [count] receives 0 … *cluster_count − 1, numbered along the curve; −1: alone
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant, uses the context's pool. Same result for any thread count and, if no two points are
/// equal, for any order of points and edges. Cost: O(iterations · n log count).
rbl_status rbli_cluster_points(rbl_context *ctx, const double (*points)[3], size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const rbli_cluster_options *options, int32_t *cluster,
    size_t *cluster_count);

#endif
