/// ClearConvexHulls: takes hulls away.

#include "fracture/ops/hull_ops.h"
#include "nodes/hulls/hull_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_clear_hulls(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose hulls go"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "bones to change; all bones when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same without them"},
    {0},
};

const rbl_node_desc rbli_node_clear_convex_hulls = {
    .size = sizeof(rbl_node_desc),
    .type = "ClearConvexHulls",
    .version = 1,
    .revision = 1,
    .family = "hulls",
    .text = "Removes convex hulls.",
    .details =
        "Terminal makes hulls of pieces anew where they are missing, unless hulls_if_missing is false.",
    .inputs = inputs,
    .outputs = outputs,
    .evaluate = evaluate,
};
