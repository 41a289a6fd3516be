/// BoundingBox: the box around pieces.

#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "fracture/ops/proximity.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbl_value *box = NULL;
    double low[3], high[3], padding = rbl_param_float(rbl_call_param(call, "padding"));
    bool found;
    RBL_TRY(rbli_world_bounds(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), low, high, &found));
    if (!found) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "there is no piece to put a box around");
    for (int k = 0; k < 3; k++) {
        low[k] -= padding;
        high[k] += padding;
        if (low[k] > high[k])
            return rbl_call_fail(ctx, call, rbl_call_param(call, "padding"), RBL_ERR_ARGUMENT,
                "a padding of %g leaves nothing of the box", padding);
    }
    RBL_TRY(rbl_value_create_box(ctx, low, high, &box));
    rbl_call_set_output(call, "box", box);
done:
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose pieces are measured in world space"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "the bones to measure; all rigid leaves when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "box", .kind = RBL_VALUE_BOX, .text = "the smallest box along the axes, with padding"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "padding",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .unit = "m",
        .text = "added on each side; negative makes the box smaller"},
    {0},
};

const rbl_node_desc rbli_node_bounding_box = {
    .size = sizeof(rbl_node_desc),
    .type = "BoundingBox",
    .version = 1,
    .revision = 1,
    .family = "sources",
    .text = "Gives the box around pieces.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
