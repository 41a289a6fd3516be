/// MergeConvexHulls: fewer hulls for each bone.

#include "fracture/ops/hull_ops.h"
#include "nodes/hulls/hull_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_negative_space_options protect;
    rbli_merge_hulls_options options = {.selection = rbli_call_input_selection(call, "selection"),
        .merge = rbli_hull_merge_default_options(),
        .protect = rbli_read_negative_space(rbl_call_param(call, "protect_negative_space"), &protect),
        .max_vertices = (int32_t)rbl_param_int(rbl_call_param(call, "max_vertices"))};
    options.merge.max_hulls = (size_t)rbl_param_int(rbl_call_param(call, "max_hulls"));
    options.merge.error_tolerance = rbl_param_float(rbl_call_param(call, "error_tolerance"));
    rbl_status status = rbli_merge_hulls(ctx, rbl_call_input_collection(call, "collection"), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose hulls are merged"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "bones to change; all bones when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with fewer hulls"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "max_hulls",
        .type = RBL_PARAM_INT,
        .default_json = "1",
        .min = 0,
        .max = 1000000,
        .step = 1,
        .text = "hulls of a bone; 0: merge only what error_tolerance allows"},
    {.name = "error_tolerance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "edge of a cube: merging goes on below max_hulls while it adds less than its volume"},
    {.name = "max_vertices",
        .type = RBL_PARAM_INT,
        .default_json = "64",
        .min = 8,
        .max = 1000000,
        .step = 1,
        .text = "budget of each hull"},
    {.name = "protect_negative_space",
        .type = RBL_PARAM_OBJECT,
        .default_json = "{}",
        .fields = rbli_negative_space_fields,
        .text = "keep gaps between pieces and holes free"},
    {0},
};

const rbl_node_desc rbli_node_merge_convex_hulls = {
    .size = sizeof(rbl_node_desc),
    .type = "MergeConvexHulls",
    .version = 1,
    .revision = 3,
    .family = "hulls",
    .text = "Merges the convex hulls of each bone into fewer.",
    .details = "The two whose common hull adds the least volume are merged first.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
