/// SetColliders: collision shapes by size.

#include "fracture/ops/hull_ops.h"
#include "nodes/state/state_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_collider_options options = {.selection = rbli_call_input_selection(call, "selection"),
        .convex_above = rbl_param_float(rbl_call_param(call, "convex_above")),
        .box_below = rbl_param_float(rbl_call_param(call, "box_below")),
        .sphere_below = rbl_param_float(rbl_call_param(call, "sphere_below")),
        .none_below = rbl_param_float(rbl_call_param(call, "none_below"))};
    rbl_status status =
        rbli_set_colliders(ctx, rbl_call_input_collection(call, "collection"), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with bone.collider"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "convex_above",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "from this size on convex hulls; smaller bones that no other limit catches get boxes"},
    {.name = "box_below",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "boxes below this size"},
    {.name = "sphere_below",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "spheres below this size"},
    {.name = "none_below",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "no shape below this size"},
    {0},
};

const rbl_node_desc rbli_node_set_colliders = {
    .size = sizeof(rbl_node_desc),
    .type = "SetColliders",
    .version = 1,
    .revision = 1,
    .family = "hulls",
    .text = "Chooses collision shapes by size: hulls, boxes, spheres or none.",
    .details = "Writes bone.collider, which a runtime and exporters read: a convex hull for large pieces, "
               "the box around the hull or the sphere\n"
               "around the middle of that box which holds the hull for small ones, none for crumbs. The size "
               "of a bone is the cube root of its volume. "
               "Of the limits that a bone is below, the\n"
               "least one counts.",
    .inputs = rbli_state_inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
