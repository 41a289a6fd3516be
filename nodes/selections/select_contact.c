/// SelectContact: chooses the bones that touch the selected ones.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_select_call made = {0};
    RBL_TRY(rbli_select_begin(ctx, call, false, &made));
    RBL_TRY(rbli_select_contact(ctx, made.collection, made.within, made.mask));
    RBL_TRY(rbli_select_finish(ctx, call, &made));
done:
    rbli_select_end(ctx, &made);
    return status;
}

static const rbl_port_desc inputs[] = {
    RBLI_SELECT_COLLECTION,
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .text = "the bones to start from"},
    {0},
};

const rbl_node_desc rbli_node_select_contact = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectContact",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses the bones that touch the selected ones.",
    .details = "Needs the contacts that Proximity finds. The neighbours of a piece are pieces, those of "
               "a cluster are clusters of its level. The selected bones and what is below them are not "
               "chosen: add them with CombineSelections.",
    .inputs = inputs,
    .outputs = rbli_select_outputs,
    .evaluate = evaluate,
};
