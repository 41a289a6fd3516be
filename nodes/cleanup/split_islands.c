/// SplitIslands: one bone for each part of a piece that hangs together.

#include "engine/value.h"
#include "fracture/ops/split_islands.h"
#include "nodes/cutters/cutter.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_fracture_result result = {0};
    const rbl_value *selection = rbl_call_input(call, "selection", 0);
    RBL_TRY(rbli_split_islands(ctx, rbl_call_input_collection(call, "collection"),
        selection ? rbli_value_get_selection(selection) : NULL,
        rbl_param_float(rbl_call_param(call, "close_vertex_distance")),
        rbl_param_float(rbl_call_param(call, "bridge_distance")), &result));
    if (result.cut_count)
        rbli_note(ctx, "%zu piece%s split into %zu", result.cut_count, result.cut_count == 1 ? "" : "s",
            result.split_count);
    status = rbli_cutter_finish(ctx, call, &result);
done:
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose rigid leaves are split"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "the bones to split; all rigid leaves when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "split bones are clusters of their parts"},
    {.name = "new_pieces",
        .kind = RBL_VALUE_SELECTION,
        .text = "the parts, and chosen bones that have one part only"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "close_vertex_distance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e9,
        .step = 0.001,
        .unit = "m",
        .text = "parts stay together when vertices of them are this near"},
    {.name = "bridge_distance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e9,
        .step = 0.001,
        .unit = "m",
        .text = "likewise when a vertex of one is this near to the surface of another"},
    {0},
};

const rbl_node_desc rbli_node_split_islands = {
    .size = sizeof(rbl_node_desc),
    .type = "SplitIslands",
    .version = 1,
    .revision = 2,
    .family = "cleanup",
    .text = "Splits pieces into the parts of them that hang together.",
    .details =
        "A piece whose surface has several parts that share no vertex becomes a cluster of them, named "
        "PIECE_0,\n"
        "PIECE_1, … in the order of their lowest vertex. Cavities stay with the part that contains "
        "them, parts without volume are left out.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
