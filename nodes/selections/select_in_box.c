/// SelectInBox: chooses bones that lie in a box.

#include "engine/call.h"
#include "nodes/selections/select_node.h"

static const char *const inside_words[] = {"center", "whole", "any", NULL};
_Static_assert(RBLI_INSIDE_CENTER == 0 && RBLI_INSIDE_WHOLE == 1 && RBLI_INSIDE_ANY == 2,
    "words of inside are in the order of the enum");

/// The box of the parameters.
static rbl_status read_corners(rbl_context *ctx, rbl_call *call, double low[3], double high[3])
{
    const rbl_param *min = rbl_call_param(call, "min"), *max = rbl_call_param(call, "max");
    if (!min || !max)
        return rbl_call_fail(ctx, call, min ? min : max, RBL_ERR_ARGUMENT,
            "there is no box to choose in: connect the input \"box\" or give \"min\" and \"max\"");
    rbl_param_vec3(min, low);
    rbl_param_vec3(max, high);
    for (int k = 0; k < 3; k++)
        if (low[k] > high[k])
            return rbl_call_fail(
                ctx, call, max, RBL_ERR_ARGUMENT, "max is smaller than min along %c", "xyz"[k]);
    return RBL_OK;
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *root = rbli_params_root(call->params);
    double low[3], high[3];
    if (rbl_call_input_count(call, "box")) return RBL_OK;
    if (rbli_param_is_open(root, "min") || rbli_param_is_open(root, "max")) return RBL_OK;
    return read_corners(ctx, call, low, high);
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    double low[3], high[3];
    RBL_TRY(rbli_select_begin(ctx, call, true, &made));
    if (!rbl_value_box(rbl_call_input(call, "box", 0), low, high))
        RBL_TRY(read_corners(ctx, call, low, high));
    RBL_TRY(rbli_select_in_box(ctx, made.collection, low, high,
        (rbli_inside)rbl_param_int(rbl_call_param(call, "inside")), made.within, made.mask));
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_port_desc inputs[] = {
    RBLI_SELECT_COLLECTION,
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .optional = true, .text = "the bones to choose from"},
    {.name = "box", .kind = RBL_VALUE_BOX, .optional = true, .text = "instead of min and max"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "min", .type = RBL_PARAM_VEC3, .optional = true, .unit = "m", .text = "least corner of the box"},
    {.name = "max",
        .type = RBL_PARAM_VEC3,
        .optional = true,
        .unit = "m",
        .text = "greatest corner of the box"},
    {.name = "inside",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"center\"",
        .words = inside_words,
        .text = "what of a bone's bounds must lie inside: the centre, the whole, or any part"},
    {0},
};

const rbl_node_desc rbli_node_select_in_box = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectInBox",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses bones that lie in a box.",
    .details = "The box is the one connected to the input box, or else min ... max. Bounds are parallel "
               "to the axes of the world. Without a selection it chooses among the pieces (rigid "
               "leaves).",
    .inputs = inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
};
