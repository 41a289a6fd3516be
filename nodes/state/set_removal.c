/// SetRemoval: when loose pieces disappear.

#include "fracture/ops/state.h"
#include "nodes/state/state_node.h"

/// Least and most of a list of two numbers.
static rbl_status read_range(rbl_context *ctx, rbl_call *call, const char *name, double out[2])
{
    const rbl_param *list = rbl_call_param(call, name);
    if (rbl_param_count(list) != 2)
        return rbl_call_fail(ctx, call, list, RBL_ERR_ARGUMENT, "%s takes two numbers, least and most", name);
    for (size_t i = 0; i < 2; i++)
        out[i] = rbl_param_float(rbl_param_at(list, i));
    if (out[0] > out[1])
        return rbl_call_fail(ctx, call, list, RBL_ERR_ARGUMENT, "the least of %s, %g, is above the most, %g",
            name, out[0], out[1]);
    return RBL_OK;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbl_collection *out = NULL;
    rbli_removal_options options = rbli_removal_default_options();
    options.on_sleep = rbl_param_bool(rbl_call_param(call, "on_sleep"));
    options.on_break = rbl_param_bool(rbl_call_param(call, "on_break"));
    options.sleep_speed = rbl_param_float(rbl_call_param(call, "sleep_speed"));
    options.crumble_clusters = rbl_param_bool(rbl_call_param(call, "crumble_clusters"));
    RBL_TRY(read_range(ctx, call, "sleep_time", options.sleep_time));
    RBL_TRY(read_range(ctx, call, "sleep_removal_time", options.sleep_removal_time));
    RBL_TRY(read_range(ctx, call, "break_time", options.break_time));
    RBL_TRY(read_range(ctx, call, "break_removal_time", options.break_removal_time));
    RBL_TRY(rbli_set_removal(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), &options, &out));
    if (!options.on_sleep && !options.on_break)
        rbli_note(ctx, "nothing will be removed: on_sleep and on_break are both false");
    rbl_call_set_output_collection(call, "collection", out);
done:
    return status;
}

static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with the times of removal"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "on_sleep",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "remove pieces that have come to rest"},
    {.name = "sleep_time",
        .type = RBL_PARAM_FLOAT,
        .list = true,
        .default_json = "[5, 10]",
        .min = 0,
        .max = 1e9,
        .unit = "s",
        .text = "time at rest before removal begins, drawn between the two"},
    {.name = "sleep_removal_time",
        .type = RBL_PARAM_FLOAT,
        .list = true,
        .default_json = "[2.5, 5]",
        .min = 0,
        .max = 1e9,
        .unit = "s",
        .text = "how long the removal takes then"},
    {.name = "sleep_speed",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.01",
        .min = 0,
        .max = 1e9,
        .unit = "m/s",
        .text = "slower pieces count as at rest, so that trembling ones go, too; 0: only sleeping ones"},
    {.name = "on_break",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "remove pieces some time after they broke off"},
    {.name = "break_time",
        .type = RBL_PARAM_FLOAT,
        .list = true,
        .default_json = "[0, 0]",
        .min = 0,
        .max = 1e9,
        .unit = "s",
        .text = "time after the break before removal begins"},
    {.name = "break_removal_time",
        .type = RBL_PARAM_FLOAT,
        .list = true,
        .default_json = "[2, 3]",
        .min = 0,
        .max = 1e9,
        .unit = "s",
        .text = "how long the removal takes then"},
    {.name = "crumble_clusters",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "on_break: clusters fall into their children instead of disappearing whole"},
    {0},
};

const rbl_node_desc rbli_node_set_removal = {
    .size = sizeof(rbl_node_desc),
    .type = "SetRemoval",
    .version = 1,
    .revision = 1,
    .family = "state",
    .text = "Says when loose pieces disappear at run time.",
    .details =
        "Writes bone.remove_on_sleep, remove_on_break, crumble_on_break, sleep_time, sleep_removal_time, "
        "sleep_speed, break_time and\nbreak_removal_time. A runtime draws each time between the two numbers.",
    .inputs = rbli_state_inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
