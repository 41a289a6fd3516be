/// ClusterMagnet: bones gather the siblings that touch them.

#include "nodes/clusters/cluster_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    const rbli_magnet_options options = {.selection = rbli_call_input_selection(call, "selection"),
        .iterations = (int32_t)rbl_param_int(rbl_call_param(call, "iterations")),
        .clusters_of_one = rbl_param_bool(rbl_call_param(call, "clusters_of_one"))};
    rbl_status status =
        rbli_cluster_magnet(ctx, rbl_call_input_collection(call, "collection"), &options, &made);
    return rbli_cluster_node_finish(ctx, call, status, "new_clusters", &made);
}

static const rbl_port_desc inputs[] = {
    RBLI_CLUSTER_COLLECTION,
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .text = "the magnets: bones of any level"},
    {0},
};
static const rbl_port_desc outputs[] = {
    RBLI_CLUSTER_COLLECTION_OUT,
    {.name = "new_clusters", .kind = RBL_VALUE_SELECTION, .text = "the new clusters"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "iterations",
        .type = RBL_PARAM_INT,
        .default_json = "1",
        .min = 1,
        .max = 500,
        .step = 1,
        .text = "rounds: 1 gathers what touches the magnet, 2 also what touches that, and so on"},
    RBLI_CLUSTERS_OF_ONE,
    {0},
};

const rbl_node_desc rbli_node_cluster_magnet = {
    .size = sizeof(rbl_node_desc),
    .type = "ClusterMagnet",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Makes each chosen bone a cluster of itself and the siblings that touch it.",
    .details = "In each round every sibling that is no magnet and still free goes to the magnet "
               "with whose pieces it shares the largest area of contact, then to the nearest: "
               "the order of the magnets does not matter. What touches comes from Proximity; "
               "without it contacts are computed. The new clusters are called MAGNET_cluster. "
               "Clusters that are left empty go, and so do those that are left with one child, "
               "roots excepted, unless clusters_of_one is set.\n"
               "Places in the world stay, and so do names, hulls of pieces and proximity. Hulls "
               "of clusters whose pieces changed are removed, masses of clusters summed anew, "
               "and the connection graph is lifted anew.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
