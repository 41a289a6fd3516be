/// CopyConvexHullsFromRoot: hulls of another asset.

#include "fracture/ops/hull_ops.h"
#include "nodes/hulls/hull_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_copy_root_hulls(ctx, rbl_call_input_collection(call, "collection"),
        rbl_call_input_collection(call, "from"), rbl_param_bool(rbl_call_param(call, "skip_if_empty")), &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose roots get hulls"},
    {.name = "from", .kind = RBL_VALUE_COLLECTION, .text = "whose roots have hulls"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection",
        .kind = RBL_VALUE_COLLECTION,
        .text = "the same with the other's hulls at its roots"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "skip_if_empty",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "keep the hulls of the roots when the other asset has none at its roots"},
    {0},
};

const rbl_node_desc rbli_node_copy_convex_hulls_from_root = {
    .size = sizeof(rbl_node_desc),
    .type = "CopyConvexHullsFromRoot",
    .version = 1,
    .revision = 1,
    .family = "hulls",
    .text = "Gives the root the convex hulls of another asset's root.",
    .details = "For hulls that were made by hand or elsewhere for the whole body: load them as a collection "
               "and copy them over.\n"
               "They keep their place in the world.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
