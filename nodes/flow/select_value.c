/// SelectValue: one of several numbers or texts.

#include <math.h>

#include "fracture/base/context.h"
#include "rubble/node.h"

static rbl_status set_number(
    rbl_context *ctx, rbl_call *call, const char *port, rbl_value_kind kind, double number)
{
    rbl_value *value = NULL;
    rbl_status status = rbl_value_create_number(ctx, kind, number, &value);
    if (status == RBL_OK) rbl_call_set_output(call, port, value);
    return status;
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *index = rbl_call_param(call, "index");
    const rbl_param *numbers = rbl_call_param(call, "numbers"), *texts = rbl_call_param(call, "texts");
    size_t number_count = rbl_param_count(numbers), text_count = rbl_param_count(texts);
    size_t i = (size_t)rbl_param_int(index);
    if (number_count == 0 && text_count == 0)
        return rbl_call_fail(ctx, call, numbers, RBL_ERR_ARGUMENT, "there is neither a number nor a text");
    if (rbl_param_count(index) && ((number_count && i >= number_count) || (text_count && i >= text_count)))
        return rbl_call_fail(ctx, call, index, RBL_ERR_ARGUMENT, "index %zu, but there are %zu values", i,
            number_count && i >= number_count ? number_count : text_count);
    return RBL_OK;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = check(ctx, call);
    if (status != RBL_OK) return status;
    const rbl_param *numbers = rbl_call_param(call, "numbers"), *texts = rbl_call_param(call, "texts");
    size_t number_count = rbl_param_count(numbers), text_count = rbl_param_count(texts);
    size_t i = (size_t)rbl_param_int(rbl_call_param(call, "index"));
    rbl_value *text = NULL;
    double number = number_count ? rbl_param_float(rbl_param_at(numbers, i)) : 0;
    if (fabs(number) > 9007199254740992.0)
        return rbl_call_fail(ctx, call, rbl_param_at(numbers, i), RBL_ERR_ARGUMENT,
            "%.17g is too large for an integer", number);
    RBL_TRY(set_number(ctx, call, "number", RBL_VALUE_FLOAT, number));
    RBL_TRY(set_number(ctx, call, "integer", RBL_VALUE_INT, floor(number)));
    RBL_TRY(rbl_value_create_string(ctx, text_count ? rbl_param_string(rbl_param_at(texts, i)) : "", &text));
    rbl_call_set_output(call, "text", text);
done:
    return status;
}

/// Values that are not chosen, and come from connections, need not be computed.
static void choose(rbl_call *call)
{
    static const char *const lists[] = {"numbers", "texts"};
    const rbl_param *index = rbl_call_param(call, "index");
    for (size_t k = 0; k < 2; k++) {
        const rbl_param *list = rbl_call_param(call, lists[k]);
        for (size_t i = 0; i < rbl_param_count(list); i++)
            if (i != (size_t)rbl_param_int(index)) rbl_call_skip_param(call, rbl_param_at(list, i));
    }
}

static const rbl_port_desc outputs[] = {
    {.name = "number", .kind = RBL_VALUE_FLOAT, .text = "the number chosen, 0 without numbers"},
    {.name = "integer", .kind = RBL_VALUE_INT, .text = "the number chosen, rounded down"},
    {.name = "text", .kind = RBL_VALUE_STRING, .text = "the text chosen, \"\" without texts"},
    {0},
};

static const rbl_param_desc params[] = {
    {.name = "index",
        .type = RBL_PARAM_INT,
        .default_json = "0",
        .min = 0,
        .max = 1000000,
        .text = "which, from 0; mostly {\"var\": …} or {\"from\": …}"},
    {.name = "numbers", .type = RBL_PARAM_FLOAT, .list = true, .default_json = "[]", .text = "the numbers"},
    {.name = "texts", .type = RBL_PARAM_STRING, .list = true, .default_json = "[]", .text = "the texts"},
    {0},
};

const rbl_node_desc rbli_node_select_value = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectValue",
    .version = 2,
    .revision = 2,
    .family = "flow",
    .text = "Gives one of several numbers or texts",
    .details =
        "Parameters of other nodes take it with {\"from\": \"node.number\"}. With both lists given the "
        "index chooses from both. Nodes that only give values that are not chosen do not run.",
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
    .choose = choose,
    .choice = "index",
};
