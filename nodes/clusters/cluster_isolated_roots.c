/// ClusterIsolatedRoots: pieces without a cluster get one.

#include "nodes/clusters/cluster_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    rbl_status status = rbli_cluster_isolated_roots(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), rbl_param_bool(rbl_call_param(call, "clusters_of_one")),
        &made);
    return rbli_cluster_node_finish(ctx, call, status, "new_clusters", &made);
}

static const rbl_port_desc inputs[] = {
    RBLI_CLUSTER_COLLECTION,
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "roots that count; all when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    RBLI_CLUSTER_COLLECTION_OUT,
    {.name = "new_clusters", .kind = RBL_VALUE_SELECTION, .text = "the new root"},
    {0},
};
static const rbl_param_desc params[] = {
    RBLI_CLUSTERS_OF_ONE,
    {0},
};

const rbl_node_desc rbli_node_cluster_isolated_roots = {
    .size = sizeof(rbl_node_desc),
    .type = "ClusterIsolatedRoots",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Puts pieces that are roots under a new root.",
    .details = "Pieces that hang below nothing become children of one new cluster called root; "
               "roots that are clusters stay. A piece that is alone gets a root of its own with "
               "clusters_of_one only.\n"
               "Places in the world stay, and so do names, hulls of pieces and proximity. Hulls "
               "of clusters whose pieces changed are removed, masses of clusters summed anew, "
               "and the connection graph is lifted anew.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
