/// SelectClusters: chooses the clusters.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    rbli_select_clusters(made.collection, made.within, made.mask);
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

const rbl_node_desc rbli_node_select_clusters = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectClusters",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses the clusters.",
    .details = "Among the bones of the selection, or all.",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .evaluate = evaluate,
};
