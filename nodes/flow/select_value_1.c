/// SelectValue@1: the first form, of numbers alone. Graphs that pin it go on running; rubble migrate turns
/// them into the second.

#include "fracture/base/context.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *which = rbl_call_param(call, "which"), *values = rbl_call_param(call, "values");
    size_t i = (size_t)rbl_param_int(which);
    rbl_value *value = NULL;
    if (i >= rbl_param_count(values))
        return rbl_call_fail(ctx, call, which, RBL_ERR_ARGUMENT, "index %zu, but there are %zu values", i,
            rbl_param_count(values));
    rbl_status status =
        rbl_value_create_number(ctx, RBL_VALUE_FLOAT, rbl_param_float(rbl_param_at(values, i)), &value);
    if (status == RBL_OK) rbl_call_set_output(call, "value", value);
    return status;
}

static const rbl_port_desc outputs[] = {
    {.name = "value", .kind = RBL_VALUE_FLOAT, .text = "the number chosen"},
    {0},
};

static const rbl_param_desc params[] = {
    {.name = "which",
        .type = RBL_PARAM_INT,
        .default_json = "0",
        .min = 0,
        .max = 1000000,
        .text = "which, from 0"},
    {.name = "values", .type = RBL_PARAM_FLOAT, .list = true, .text = "the numbers"},
    {0},
};

static const rbl_rename renames[] = {
    {"which", "index"},
    {"values", "numbers"},
    {"value", "number"},
    {0},
};

const rbl_node_desc rbli_node_select_value_1 = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectValue",
    .version = 1,
    .revision = 1,
    .family = "flow",
    .text = "Gives one of several numbers (old: version 2 knows texts, too)",
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
    .renames = renames,
};
