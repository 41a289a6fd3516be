/// SelectSiblings: chooses the selected bones and all other children of their parents.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    RBL_TRY(rbli_select_kin(ctx, made.collection, RBLI_KIN_SIBLINGS, made.within, made.mask));
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

const rbl_node_desc rbli_node_select_siblings = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectSiblings",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses the selected bones and all other children of their parents.",
    .details = "Roots are siblings of each other. Without a selection: all bones.",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .evaluate = evaluate,
};
