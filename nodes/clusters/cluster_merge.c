/// ClusterMerge: chosen clusters become one.

#include "nodes/clusters/cluster_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    rbl_status status = rbli_cluster_merge(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), rbl_param_bool(rbl_call_param(call, "clusters_of_one")),
        &made);
    return rbli_cluster_node_finish(ctx, call, status, "merged", &made);
}

static const rbl_port_desc inputs[] = {
    RBLI_CLUSTER_COLLECTION,
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .text = "clusters to merge, and pieces to take in"},
    {0},
};
static const rbl_port_desc outputs[] = {
    RBLI_CLUSTER_COLLECTION_OUT,
    {.name = "merged", .kind = RBL_VALUE_SELECTION, .text = "the cluster that took the others in"},
    {0},
};
static const rbl_param_desc params[] = {
    RBLI_CLUSTERS_OF_ONE,
    {0},
};

const rbl_node_desc rbli_node_cluster_merge = {
    .size = sizeof(rbl_node_desc),
    .type = "ClusterMerge",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Merges the chosen clusters into one of them.",
    .details = "The one of the lowest level, then of the largest volume, then the first by name "
               "takes the children of the others, which go, and the chosen pieces. Of a bone and "
               "one above it, both chosen, only the upper counts. Clusters that are left empty "
               "go, and so do those that are left with one child, roots excepted, unless "
               "clusters_of_one is set.\n"
               "Places in the world stay, and so do names, hulls of pieces and proximity. Hulls "
               "of clusters whose pieces changed are removed, masses of clusters summed anew, "
               "and the connection graph is lifted anew.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
