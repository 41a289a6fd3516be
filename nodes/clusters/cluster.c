/// Cluster: chosen bones under a new cluster.

#include "nodes/clusters/cluster_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    rbl_status status = rbli_cluster_bones(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), rbl_param_string(rbl_call_param(call, "name")),
        rbl_param_bool(rbl_call_param(call, "clusters_of_one")), &made);
    return rbli_cluster_node_finish(ctx, call, status, "new_clusters", &made);
}

static const rbl_port_desc inputs[] = {
    RBLI_CLUSTER_COLLECTION,
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .text = "bones to put together, pieces or clusters"},
    {0},
};
static const rbl_port_desc outputs[] = {
    RBLI_CLUSTER_COLLECTION_OUT,
    {.name = "new_clusters", .kind = RBL_VALUE_SELECTION, .text = "the new cluster"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "name",
        .type = RBL_PARAM_STRING,
        .default_json = "\"\"",
        .text = "of the new cluster; empty: PARENT_cluster"},
    RBLI_CLUSTERS_OF_ONE,
    {0},
};

const rbl_node_desc rbli_node_cluster = {
    .size = sizeof(rbl_node_desc),
    .type = "Cluster",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Puts the chosen bones under a new cluster.",
    .details = "The new cluster hangs below the lowest bone that is above all chosen ones; where "
               "there is none it is a new root. Of a bone and one above it, both chosen, only "
               "the upper counts. Clusters that are left empty go, and so do those that are left "
               "with one child, roots excepted, unless clusters_of_one is set.\n"
               "Places in the world stay, and so do names, hulls of pieces and proximity. Hulls "
               "of clusters whose pieces changed are removed, masses of clusters summed anew, "
               "and the connection graph is lifted anew.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
