/// Uncluster: chosen clusters dissolve.

#include "nodes/clusters/cluster_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    rbl_status status = rbli_uncluster(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), rbl_param_bool(rbl_call_param(call, "clusters_of_one")),
        &made);
    return rbli_cluster_node_finish(ctx, call, status, "moved", &made);
}

static const rbl_port_desc inputs[] = {
    RBLI_CLUSTER_COLLECTION,
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "clusters to dissolve; all but roots when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    RBLI_CLUSTER_COLLECTION_OUT,
    {.name = "moved", .kind = RBL_VALUE_SELECTION, .text = "bones that hang below another bone now"},
    {0},
};
static const rbl_param_desc params[] = {
    RBLI_CLUSTERS_OF_ONE,
    {0},
};

const rbl_node_desc rbli_node_uncluster = {
    .size = sizeof(rbl_node_desc),
    .type = "Uncluster",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Dissolves the chosen clusters: their children hang one level higher.",
    .details = "Roots and pieces stay as they are; without a selection all clusters but roots "
               "dissolve. Every chosen cluster counts, also one below another.\n"
               "Places in the world stay, and so do names, hulls of pieces and proximity. Hulls "
               "of clusters whose pieces changed are removed, masses of clusters summed anew, "
               "and the connection graph is lifted anew.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
