/// SetSimulationType: how bones move.

#include "fracture/ops/state.h"
#include "nodes/state/state_node.h"

static const char *const type_words[] = {"static", "kinematic", "dynamic", "none", NULL};
static const rbli_simulation_type types[] = {
    RBLI_SIMULATION_STATIC, RBLI_SIMULATION_KINEMATIC, RBLI_SIMULATION_DYNAMIC, RBLI_SIMULATION_NONE};

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_set_simulation_type(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), types[rbl_param_int(rbl_call_param(call, "type"))],
        &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

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
    .inputs = rbli_state_inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
