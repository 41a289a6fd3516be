/// Flatten: all pieces directly below a cluster.

#include "nodes/clusters/cluster_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    rbl_status status = rbli_flatten(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), &made);
    return rbli_cluster_node_finish(ctx, call, status, "moved", &made);
}

static const rbl_port_desc inputs[] = {
    RBLI_CLUSTER_COLLECTION,
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "clusters that keep no clusters below them; the roots when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    RBLI_CLUSTER_COLLECTION_OUT,
    {.name = "moved", .kind = RBL_VALUE_SELECTION, .text = "bones that hang below another bone now"},
    {0},
};

const rbl_node_desc rbli_node_flatten = {
    .size = sizeof(rbl_node_desc),
    .type = "Flatten",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Puts all pieces below a chosen cluster directly under it.",
    .details = "The clusters between dissolve. Without a selection everything becomes flat: "
               "roots and, below them, pieces.\n"
               "Places in the world stay, and so do names, hulls of pieces and proximity. Hulls "
               "of clusters whose pieces changed are removed, masses of clusters summed anew, "
               "and the connection graph is lifted anew.",
    .inputs = inputs,
    .outputs = outputs,

    .evaluate = evaluate,
};
