/// SetSimulationType: how bones move.

#include "engine/value.h"
#include "fracture/ops/state.h"

static const char *const type_words[] = {"static", "kinematic", "dynamic", "none", NULL};
static const rbli_simulation_type types[] = {
    RBLI_SIMULATION_STATIC, RBLI_SIMULATION_KINEMATIC, RBLI_SIMULATION_DYNAMIC, RBLI_SIMULATION_NONE};

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    const rbl_value *selection = rbl_call_input(call, "selection", 0);
    rbl_status status = rbli_set_simulation_type(ctx, rbl_call_input_collection(call, "collection"),
        selection ? rbli_value_get_selection(selection) : NULL,
        types[rbl_param_int(rbl_call_param(call, "type"))], &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose bones change"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "bones to change; all bones when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with bone.simulation_type"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "type",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"dynamic\"",
        .words = type_words,
        .text =
            "static: never moves; kinematic: moved by the game; dynamic: moved by physics; none: no body"},
    {0},
};

const rbl_node_desc rbli_node_set_simulation_type = {
    .size = sizeof(rbl_node_desc),
    .type = "SetSimulationType",
    .version = 1,
    .revision = 1,
    .family = "state",
    .text = "Sets how bones move in a simulation.",
    .details = "Sets bone.simulation_type of the chosen bones alone, not of those below them: a kinematic "
               "root with dynamic pieces is a wall\nthat stands until pieces break off.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
