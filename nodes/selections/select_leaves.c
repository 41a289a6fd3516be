/// SelectLeaves: chooses the pieces: rigid bones without children.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    RBL_TRY(rbli_select_leaves(ctx, made.collection, made.within, made.mask));
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

const rbl_node_desc rbli_node_select_leaves = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectLeaves",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses the pieces: rigid bones without children.",
    .details = "With a selection: those in it and those below a bone of it. Attached sheets are no "
               "pieces.",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .evaluate = evaluate,
};
