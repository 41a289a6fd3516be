/// InvertSelection: chooses the bones that are not selected.

#include <string.h>

#include "nodes/selections/select_node.h"

static const char *const among_words[] = {"pieces", "all", NULL};

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    if (rbl_param_int(rbl_call_param(call, "among")) == 0) {
        RBL_TRY(rbli_select_leaves(ctx, made.collection, made.within, made.within));
        RBL_TRY(rbli_select_leaves(ctx, made.collection, NULL, made.mask));
    } else {
        memset(made.mask, true, made.count * sizeof *made.mask);
    }
    rbli_select_combine(RBLI_COMBINE_MINUS, made.count, made.within, made.mask);
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_port_desc inputs[] = {
    RBLI_SELECT_COLLECTION,
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .text = "the bones to leave out"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "among",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"pieces\"",
        .words = among_words,
        .text = "pieces (rigid leaves), or all bones"},
    {0},
};

const rbl_node_desc rbli_node_invert_selection = {
    .size = sizeof(rbl_node_desc),
    .type = "InvertSelection",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses the bones that are not selected.",
    .details = "Among the pieces by default, so that a cutter or a clean-up never takes a cluster, and "
               "with it what was selected: a piece is chosen when neither it nor a bone above it is "
               "selected. With all: every bone that is not selected, clusters and roots, too.",
    .inputs = inputs,
    .outputs = rbli_select_outputs,
    .params = params,
    .evaluate = evaluate,
};
