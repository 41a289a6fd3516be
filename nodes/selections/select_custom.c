/// SelectCustom: chooses bones by their numbers.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    char why[200];
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    const rbl_param *bones = rbl_call_param(call, "bones");
    if (rbli_select_list(made.collection, rbl_param_string(bones), made.within, made.mask, why, sizeof why) !=
        RBL_OK) {
        status = rbl_call_fail(ctx, call, bones, RBL_ERR_ARGUMENT, "%s", why);
        goto done;
    }
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "bones", .type = RBL_PARAM_STRING, .text = "as in \"0, 2, 5-10\""},
    {0},
};

const rbl_node_desc rbli_node_select_custom = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectCustom",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses bones by their numbers.",
    .details = "Numbers and ranges, separated by commas: \"0, 2, 5-10\". Numbers change when the graph "
               "above changes; names and sites are steadier. Without a selection it chooses among all "
               "bones.",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
