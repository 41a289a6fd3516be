#ifndef RUBBLE_GEOMETRY_CLUSTER_INTERNAL_H
#define RUBBLE_GEOMETRY_CLUSTER_INTERNAL_H

/// Clusters work on ranks: places along a Morton curve, so that nothing depends on the order given.

#include "fracture/geometry/cluster.h"

typedef struct rbli_ranked {
    uint64_t code;
    double point[3];
    double volume;
    int32_t index; /* the point that has this rank */
} rbli_ranked;

/// @param out [count], freed by the caller
rbl_status rbli_rank_points(
    rbl_context *ctx, const double (*points)[3], const double *volumes, size_t count, rbli_ranked **out);

/// rbli_cluster_settle for labels by rank; `cluster` is by point.
rbl_status rbli_settle_ranked(rbl_context *ctx, const rbli_ranked *items, size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const int32_t *label,
    const rbli_cluster_options *options, int32_t *cluster, size_t *cluster_count);

/// Splits groups until there are `wanted`, see rbli_cluster_settle.
/// @param edges  between ranks, sorted by (a, b), a < b; NULL: groups are split by place
/// @param group  [count] by rank, 0 … *group_count − 1, changed
rbl_status rbli_split_groups(rbl_context *ctx, size_t count, const rbli_cluster_edge *edges,
    size_t edge_count, size_t wanted, bool avoid_isolated, int32_t *group, size_t *group_count);

#endif
