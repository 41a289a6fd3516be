/// SelectAll: chooses all bones, clusters and pieces.

#include <string.h>

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    memcpy(made.mask, made.within, made.count * sizeof *made.mask);
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

const rbl_node_desc rbli_node_select_all = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectAll",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses all bones, clusters and pieces.",
    .details = "With a selection connected it gives that selection.",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .evaluate = evaluate,
};
