/// CollisionSamples: points on the surface of pieces.

#include "engine/value.h"
#include "fracture/ops/collision_samples.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    size_t added = 0;
    const rbl_value *selection = rbl_call_input(call, "selection", 0);
    rbl_status status = rbli_set_collision_samples(ctx, rbl_call_input_collection(call, "collection"),
        selection ? rbli_value_get_selection(selection) : NULL,
        rbl_param_float(rbl_call_param(call, "spacing")), &added, &out);
    if (status != RBL_OK) return status;
    rbli_note(ctx, "%zu collision sample%s beside the vertices", added, added == 1 ? "" : "s");
    rbl_call_set_output_collection(call, "collection", out);
    return RBL_OK;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose pieces get samples"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "the bones that get them; all rigid leaves when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with geometry.collision_samples"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "spacing",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.5",
        .min = 1e-9,
        .max = 1e9,
        .step = 0.01,
        .unit = "m",
        .text = "no point of the surface is farther than this from a sample"},
    {0},
};

const rbl_node_desc rbli_node_collision_samples = {
    .size = sizeof(rbl_node_desc),
    .type = "CollisionSamples",
    .version = 1,
    .revision = 1,
    .family = "cleanup",
    .text = "Puts points on the surface of pieces, for collisions of points against volumes.",
    .details =
        "The attribute geometry.collision_samples is a list of points in the bone's frame: first the piece's "
        "vertices in\n"
        "their order, then samples, no two nearer than half the spacing. Engines that collide particles with "
        "level sets\n"
        "want them; hulls do not need them. Cutting a piece or joining it to another empties its list. .rbl "
        "files hold them,\n"
        ".json files tell how many there are.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
