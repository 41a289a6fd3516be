/// ExplodedView: pieces moved apart.

#include "fracture/ops/exploded_view.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_exploded_view(ctx, rbl_call_input_collection(call, "collection"),
        rbl_param_float(rbl_call_param(call, "scale")), &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose bones move"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with other transforms"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "scale",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = -1,
        .max = 1000,
        .step = 0.1,
        .text = "how far: 1 doubles the way from each parent's centre, 0 moves nothing"},
    {0},
};

const rbl_node_desc rbli_node_exploded_view = {
    .size = sizeof(rbl_node_desc),
    .type = "ExplodedView",
    .version = 1,
    .revision = 1,
    .family = "cleanup",
    .text = "Moves pieces apart, for looking.",
    .details = "Each bone moves away from its parent's centre and carries its children along; transforms "
               "alone change.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
