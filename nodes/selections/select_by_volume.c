/// SelectByVolume: chooses bones by their volume, relative to that of the largest piece.

#include "nodes/selections/select_node.h"

static rbl_status read_range(rbl_context *ctx, rbl_call *call, double *low, double *high)
{
    *low = rbl_param_float(rbl_call_param(call, "min"));
    *high = rbl_param_float(rbl_call_param(call, "max"));
    if (*low > *high)
        return rbl_call_fail(
            ctx, call, rbl_call_param(call, "max"), RBL_ERR_ARGUMENT, "max is smaller than min");
    return RBL_OK;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    double low, high;
    RBL_TRY(rbli_select_begin(ctx, call, true, &made));
    RBL_TRY(read_range(ctx, call, &low, &high));
    RBL_TRY(
        rbli_select_measure(ctx, made.collection, RBLI_MEASURE_VOLUME, low, high, made.within, made.mask));
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "min",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e9,
        .step = 0.01,
        .text = "least share of the largest piece"},
    {.name = "max",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0,
        .max = 1e9,
        .step = 0.01,
        .text = "greatest share of the largest piece"},
    {0},
};

const rbl_node_desc rbli_node_select_by_volume = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectByVolume",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses bones by their volume, relative to that of the largest piece.",
    .details = "A bone is chosen when min <= volume / (largest volume of a piece) <= max. The volume of "
               "a cluster is that of all pieces below it together, so it may be more than 1. Without a "
               "selection it chooses among the pieces (rigid leaves).",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
