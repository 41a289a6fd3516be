#ifndef RUBBLE_OPS_AUTO_CLUSTER_H
#define RUBBLE_OPS_AUTO_CLUSTER_H

/// Grouping the children of clusters into fewer, connected clusters.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/cluster.h"

typedef struct rbli_auto_cluster_options {
    const rbli_selection *selection; /* clusters whose children are grouped; NULL: from each root down the
                                        first ones with more children than clusters are wanted */
    double fraction; /* > 0: as many clusters as this part of the children; 0 (default): `cluster.count` */
    rbli_cluster_options cluster;
} rbli_auto_cluster_options;
rbli_auto_cluster_options rbli_auto_cluster_default_options(void);

/// For each chosen cluster: its children are grouped by the centres of their bounding boxes in world space
/// and by what touches what (the group proximity; without it contacts are computed). Each group becomes a new
/// cluster bone named PARENT_cluster_0, PARENT_cluster_1, … between the parent and the children, numbered by
/// place; transforms in the world stay. Nothing is made where it would be one group of all. A group
/// connection is lifted anew. Source: GEO §6.2.
/// @param in  not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology) · RBL_ERR_NO_MEMORY ·
/// RBL_ERR_CANCELLED Threads: uses the context's pool. Same bytes for any thread count; the same groups for
/// any order of the children.
rbl_status rbli_auto_cluster(rbl_context *ctx, const rbl_collection *in,
    const rbli_auto_cluster_options *options, rbl_collection **out);

#endif
