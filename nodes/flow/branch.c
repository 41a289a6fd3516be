/// Branch: one of two collections.

#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    (void)ctx;
    bool yes = rbl_param_bool(rbl_call_param(call, "condition"));
    const rbl_value *value = rbl_call_input(call, yes ? "yes" : "no", 0);
    rbl_call_set_output(call, "collection", rbl_value_retain((rbl_value *)value));
    return RBL_OK;
}

static void choose(rbl_call *call)
{
    rbl_call_skip_input(call, rbl_param_bool(rbl_call_param(call, "condition")) ? "no" : "yes");
}

static const rbl_port_desc inputs[] = {
    {.name = "yes", .kind = RBL_VALUE_COLLECTION, .text = "what comes out when the condition is true"},
    {.name = "no", .kind = RBL_VALUE_COLLECTION, .text = "what comes out when it is false"},
    {0},
};

static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "one of the two, as it is"},
    {0},
};

static const rbl_param_desc params[] = {
    {.name = "condition", .type = RBL_PARAM_BOOL, .text = "which; mostly {\"var\": …} or {\"from\": …}"},
    {0},
};

const rbl_node_desc rbli_node_branch = {
    .size = sizeof(rbl_node_desc),
    .type = "Branch",
    .version = 1,
    .revision = 2,
    .family = "flow",
    .text = "Hands on one of two collections",
    .details =
        "Only the side that is handed on runs; nodes that only the other side needs are \"not needed\".",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
    .choose = choose,
    .choice = "condition",
};
