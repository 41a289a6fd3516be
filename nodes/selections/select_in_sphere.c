/// SelectInSphere: chooses bones that lie in a sphere.

#include "nodes/selections/select_node.h"

static const char *const inside_words[] = {"center", "whole", "any", NULL};
_Static_assert(RBLI_INSIDE_CENTER == 0 && RBLI_INSIDE_WHOLE == 1 && RBLI_INSIDE_ANY == 2,
    "words of inside are in the order of the enum");

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    double center[3];
    RBL_TRY(rbli_select_begin(ctx, call, true, &made));
    rbl_param_vec3(rbl_call_param(call, "center"), center);
    RBL_TRY(
        rbli_select_in_sphere(ctx, made.collection, center, rbl_param_float(rbl_call_param(call, "radius")),
            (rbli_inside)rbl_param_int(rbl_call_param(call, "inside")), made.within, made.mask));
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "center",
        .type = RBL_PARAM_VEC3,
        .default_json = "[0, 0, 0]",
        .unit = "m",
        .text = "in world space"},
    {.name = "radius",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "a bone that touches the sphere is inside"},
    {.name = "inside",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"center\"",
        .words = inside_words,
        .text = "what of a bone's bounds must lie inside: the centre, the whole, or any part"},
    {0},
};

const rbl_node_desc rbli_node_select_in_sphere = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectInSphere",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses bones that lie in a sphere.",
    .details = "Where something hit, for a second cut or a weaker threshold. Without a selection it "
               "chooses among the pieces (rigid leaves).",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
