/// CombineSelections: combines selections of one collection.

#include "nodes/selections/select_node.h"

static const char *const operation_words[] = {"and", "or", "xor", "minus", NULL};
_Static_assert(
    RBLI_COMBINE_AND == 0 && RBLI_COMBINE_OR == 1 && RBLI_COMBINE_XOR == 2 && RBLI_COMBINE_MINUS == 3,
    "words of operation are in the order of the enum");

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    rbli_combine how = (rbli_combine)rbl_param_int(rbl_call_param(call, "operation"));
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    for (size_t i = 0; i < rbl_call_input_count(call, "selections"); i++) {
        RBL_TRY(rbli_select_read(ctx, call, "selections", i, made.collection, i ? made.within : made.mask));
        if (i) rbli_select_combine(how, made.count, made.within, made.mask);
    }
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_port_desc inputs[] = {
    RBLI_SELECT_COLLECTION,
    {.name = "selections",
        .kind = RBL_VALUE_SELECTION,
        .several = true,
        .text = "what is combined, in this order"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "operation",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"or\"",
        .words = operation_words,
        .text = "how they are combined"},
    {0},
};

const rbl_node_desc rbli_node_combine_selections = {
    .size = sizeof(rbl_node_desc),
    .type = "CombineSelections",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Combines selections of one collection.",
    .details = "and: bones that are in all; or: in any; xor: in an odd number of them; minus: in the "
               "first and in none of the others.",
    .inputs = inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
