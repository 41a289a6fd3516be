/// SelectByAttribute: chooses bones by the value of an attribute.

#include <math.h>

#include "fracture/base/alloc.h"
#include "nodes/selections/select_node.h"

/// Takes the bones out whose value is 0.
static rbl_status drop_zeros(rbl_context *ctx, const char *attribute, rbli_select_call *made)
{
    bool *zero = rbli_alloc(ctx, made->count, sizeof *zero);
    if (!zero) return RBL_ERR_NO_MEMORY;
    rbl_status status =
        rbli_select_attribute(ctx, made->collection, attribute, 0, 0, NULL, made->within, zero);
    if (status == RBL_OK) rbli_select_combine(RBLI_COMBINE_MINUS, made->count, zero, made->mask);
    rbli_free(ctx, zero);
    return status;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    const rbl_param *attribute = rbl_call_param(call, "attribute"), *text = rbl_call_param(call, "text");
    const rbl_param *min = rbl_call_param(call, "min"), *max = rbl_call_param(call, "max");
    status = rbli_select_attribute(ctx, made.collection, rbl_param_string(attribute),
        min ? rbl_param_float(min) : -HUGE_VAL, max ? rbl_param_float(max) : HUGE_VAL,
        text ? rbl_param_string(text) : NULL, made.within, made.mask);
    if (status == RBL_OK && !min && !max && !text)
        status = drop_zeros(ctx, rbl_param_string(attribute), &made);
    if (status != RBL_OK && status != RBL_ERR_NO_MEMORY)
        rbl_call_fail(ctx, call, attribute, status, "no bones can be chosen by this attribute");
    if (status != RBL_OK) goto done;
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "attribute", .type = RBL_PARAM_STRING, .text = "name of an attribute of group bone or geometry"},
    {.name = "min", .type = RBL_PARAM_FLOAT, .optional = true, .text = "least value"},
    {.name = "max", .type = RBL_PARAM_FLOAT, .optional = true, .text = "greatest value"},
    {.name = "text",
        .type = RBL_PARAM_STRING,
        .optional = true,
        .text = "pattern for attributes that are text"},
    {0},
};

const rbl_node_desc rbli_node_select_by_attribute = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectByAttribute",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses bones by the value of an attribute.",
    .details = "Any attribute of bones, or of their geometry (volume), whether rubble made it or not. "
               "Numbers: min <= value <= max, where a bound that is left out does not count; with "
               "neither, every value but 0. Bools are 0 and 1. Text: the pattern \"text\", as in "
               "SelectByName. Without a selection it chooses among all bones.",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
