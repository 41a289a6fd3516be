/// MoveUp: bones one level higher.

#include "nodes/clusters/cluster_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    rbl_status status = rbli_move_up(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), rbl_param_bool(rbl_call_param(call, "clusters_of_one")),
        &made);
    return rbli_cluster_node_finish(ctx, call, status, "moved", &made);
}

static const rbl_port_desc inputs[] = {
    RBLI_CLUSTER_COLLECTION,
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .text = "bones to move"},
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

const rbl_node_desc rbli_node_move_up = {
    .size = sizeof(rbl_node_desc),
    .type = "MoveUp",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Moves the chosen bones one level up, beside their parents.",
    .details = "Each hangs below the parent of its parent then; roots and children of roots have "
               "no place to go and stay, with a warning. Every chosen bone counts: one moves by "
               "what was above it before. Clusters that are left empty go, and so do those that "
               "are left with one child, roots excepted, unless clusters_of_one is set.\n"
               "Places in the world stay, and so do names, hulls of pieces and proximity. Hulls "
               "of clusters whose pieces changed are removed, masses of clusters summed anew, "
               "and the connection graph is lifted anew.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
