#ifndef RUBBLE_OPS_AUTO_CLUSTER_H
#define RUBBLE_OPS_AUTO_CLUSTER_H

/// Grouping the children of clusters into fewer, connected clusters.

#include "fracture/geometry/cluster.h"
#include "fracture/ops/cluster_edit.h"

typedef enum rbli_cluster_by {
    RBLI_CLUSTER_BY_COUNT,    /* `cluster.count` */
    RBLI_CLUSTER_BY_FRACTION, /* this part of the children, rounded, but at least 2 */
    RBLI_CLUSTER_BY_SIZE, /* as many as there are cubes of edge `site_size` that hold centres of children */
    RBLI_CLUSTER_BY_GRID, /* as many as there are cells of a grid in the children's bounds that hold centres;
                                 first centres are the middles of these cells */
} rbli_cluster_by;

typedef struct rbli_auto_cluster_options {
    const rbli_selection *selection; /* clusters whose children are grouped; NULL: from each root down the
                                        first ones with more children than clusters are wanted */
    rbli_cluster_by by;              /* default count */
    double fraction;                 /* default 0.25 */
    double site_size;                /* default 1, a length */
    int32_t grid[3];                 /* default 2, 2, 2 */
    int32_t drift_iterations;        /* by grid: in place of cluster.iterations; default 0 */
    double minimum_size;             /* clusters of less volume than a cube of this edge join a neighbour;
                                        default 0 */
    bool prefer_convexity;           /* default false */
    double concavity_tolerance;      /* a length, see cluster_convex.h; default 0 */
    rbli_cluster_options cluster;    /* seeds, volumes and minimum_volume are not read */
} rbli_auto_cluster_options;
rbli_auto_cluster_options rbli_auto_cluster_default_options(void);

/// For each chosen cluster: its children are grouped by the centres of their bounding boxes in world space
/// and by what touches what (the group proximity; without it contacts are computed); see
/// rbli_cluster_settle for what is promised. With prefer_convexity k-means makes at most four times as many
/// groups, 6,000 more at most, which then merge by convexity (cluster_convex.h). Each group becomes a new
/// cluster PARENT_cluster_0, PARENT_cluster_1, … between the parent and the children, numbered by place;
/// groups of one stay as they are with avoid_isolated. Nothing is made where it would be one group of all.
/// What depends on the hierarchy follows (rehang.h). Source: GEO §6.2.
/// @param in  not changed
/// @param out set on success only: the collection and its new clusters
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology) · RBL_ERR_ARGUMENT (a coordinate that is
/// not finite) · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count; the same groups for any order of the
/// children.
rbl_status rbli_auto_cluster(rbl_context *ctx, const rbl_collection *in,
    const rbli_auto_cluster_options *options, rbli_cluster_edit *out);

#endif
