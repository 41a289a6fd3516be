/// SelectByName: chooses bones whose name matches a pattern.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    rbli_select_name(
        made.collection, rbl_param_string(rbl_call_param(call, "pattern")), made.within, made.mask);
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "pattern", .type = RBL_PARAM_STRING, .text = "matched against the whole name, case-sensitive"},
    {0},
};

const rbl_node_desc rbli_node_select_by_name = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectByName",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses bones whose name matches a pattern.",
    .details = "* stands for any run of characters, ? for one, [a-z] for one of a set and [!a-z] for one "
               "not of it; \\ takes the next character as it is. \"wall_*\" finds all pieces of the bone "
               "wall. Without a selection it chooses among all bones.",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
