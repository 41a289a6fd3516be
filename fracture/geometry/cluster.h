#ifndef RUBBLE_GEOMETRY_CLUSTER_H
#define RUBBLE_GEOMETRY_CLUSTER_H

/// Grouping of points that are joined by edges into compact, connected clusters.

#include "fracture/geometry/contraction.h"

typedef struct rbli_cluster_options {
    size_t count;              /* groups wanted, ≥ 1; default 10 */
    uint32_t seed;             /* default 0 */
    int32_t iterations;        /* at most so many steps of Lloyd; default 500 */
    bool enforce_connectivity; /* default true: the unconnected parts of a group become groups */
    bool enforce_count;        /* default true: groups join or are split until there are `count` */
    bool avoid_isolated;       /* default true: a group of one joins a neighbour, or is none */
    const double (*seeds)[3];  /* NULL (default): spread; else [seed_count] first centres, `count` of them */
    const double *volumes;     /* [points] of each point; NULL (default): 0 */
    double minimum_volume;     /* groups of less join a neighbour; default 0 */
} rbli_cluster_options;
rbli_cluster_options rbli_cluster_default_options(void);

/// k-means (Lloyd 1982) from seeds spread along a Morton curve, one at random in each of `count` equal
/// stretches of it, until no more than one point in 100 changes; nearest centres by a k-d tree; with
/// many points for each centre a sample takes the first steps. Then rbli_cluster_settle.
/// @param points  [count][3], finite
/// @param edges   [edge_count], any order, each pair once
/// @param cluster [count] receives 0 … *cluster_count − 1, numbered along the curve; −1: alone
/// @return RBL_OK · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant, uses the context's pool. Same result for any thread count and, if no two points are
/// equal (with equal volumes), for any order of points and edges. Cost: O(iterations · n log count).
rbl_status rbli_cluster_points(rbl_context *ctx, const double (*points)[3], size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const rbli_cluster_options *options, int32_t *cluster,
    size_t *cluster_count);

/// Makes groups keep what the options ask. Unconnected parts of a group become groups (union-find). While
/// there are too many, the smallest joins the neighbour of the largest common weight; then so does each
/// single point, and each group of less than the minimum volume. While there are then too few, the largest is
/// split: at the edge of a spanning tree that leaves the most even halves; then two or three groups that touch
/// yield one more together, if they are small; points are split off alone only
/// where no group has two connected halves of two along such a tree. So with `enforce_count`, without a
/// minimum volume, and if the graph has at most `count` components and at least `count` points, there are
/// `count` groups, points alone counted as groups. Without any edge, or without enforce_connectivity, groups
/// are taken and split by place alone.
/// @param label [count] the groups to start from, numbers 0 … count − 1
/// Parameters, result, threads as rbli_cluster_points; `seeds`, `seed` and `iterations` are not read.
/// Cost: O(n log n + edges) unless groups are far from the count.
rbl_status rbli_cluster_settle(rbl_context *ctx, const double (*points)[3], size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const int32_t *label,
    const rbli_cluster_options *options, int32_t *cluster, size_t *cluster_count);

#endif
