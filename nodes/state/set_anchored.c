/// SetAnchored: bones that hold on to their place.

#include "fracture/ops/state.h"
#include "nodes/state/state_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_set_anchored(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), rbl_param_bool(rbl_call_param(call, "anchored")), &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose bones change"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "bones to anchor, with all below them; all bones when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with bone.anchored"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "anchored",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "true: anchored; false: free again"},
    {0},
};

const rbl_node_desc rbli_node_set_anchored = {
    .size = sizeof(rbl_node_desc),
    .type = "SetAnchored",
    .version = 1,
    .revision = 1,
    .family = "state",
    .text = "Anchors bones: what hangs together with an anchored bone stays in place.",
    .details =
        "Sets bone.anchored of the chosen bones and of all below them. When connections break at run time, a "
        "group of pieces that\nstill holds an anchored one stays, and a group without one falls. Use this "
        "rather than a simulation type for foundations:\npieces that come loose move by themselves.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
