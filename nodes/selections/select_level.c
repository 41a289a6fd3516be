/// SelectLevel: chooses the bones of one level.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    RBL_TRY(rbli_select_level(
        ctx, made.collection, rbl_param_int(rbl_call_param(call, "level")), made.within, made.mask));
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "level",
        .type = RBL_PARAM_INT,
        .default_json = "1",
        .min = -1000,
        .max = 1000,
        .step = 1,
        .text = "0: roots; negative numbers count from the deepest"},
    {0},
};

const rbl_node_desc rbli_node_select_level = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectLevel",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses the bones of one level.",
    .details = "Level 0 are the roots, level 1 their children; -1 is the deepest level there is, -2 the "
               "one above it. Without a selection it chooses among all bones.",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
