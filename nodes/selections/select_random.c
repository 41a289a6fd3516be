/// SelectRandom: chooses each bone with the same probability.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, true, &made));
    rbli_select_random(made.collection, rbl_param_float(rbl_call_param(call, "chance")),
        (uint32_t)rbl_param_int(rbl_call_param(call, "seed")), made.within, made.mask);
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "chance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.5",
        .min = 0,
        .max = 1,
        .step = 0.05,
        .text = "probability that a bone is chosen"},
    {.name = "seed", .type = RBL_PARAM_SEED, .default_json = "0", .text = "of the draw"},
    {0},
};

const rbl_node_desc rbli_node_select_random = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectRandom",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses each bone with the same probability.",
    .details = "What is drawn for a bone depends on the seed and its index alone. Without a selection it "
               "chooses among the pieces (rigid leaves).",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
