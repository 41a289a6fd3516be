/// SetDamageThresholds: how much it takes to break bones off.

#include "fracture/base/alloc.h"
#include "fracture/ops/state.h"
#include "nodes/state/state_node.h"

/// The numbers of a list parameter; freed by the caller.
static rbl_status read_numbers(rbl_context *ctx, const rbl_param *list, double **out, size_t *count)
{
    *count = rbl_param_count(list);
    double *numbers = rbli_alloc(ctx, *count, sizeof *numbers);
    if (!numbers) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < *count; i++)
        numbers[i] = rbl_param_float(rbl_param_at(list, i));
    *out = numbers;
    return RBL_OK;
}

static rbl_status check(rbl_context *ctx, rbl_call *call, const rbli_damage_options *options)
{
    if (options->threshold_count == 0)
        return rbl_call_fail(ctx, call, rbl_call_param(call, "thresholds"), RBL_ERR_ARGUMENT,
            "there must be at least one threshold");
    for (size_t i = 1; options->by == RBLI_THRESHOLD_SIZE && i < options->size_count; i++)
        if (options->sizes[i] >= options->sizes[i - 1])
            return rbl_call_fail(ctx, call, rbl_call_param(call, "sizes"), RBL_ERR_ARGUMENT,
                "sizes must descend: %g does not come below %g", options->sizes[i], options->sizes[i - 1]);
    if (options->by == RBLI_THRESHOLD_MATERIAL && options->material_count == 0)
        return rbl_call_fail(ctx, call, rbl_call_param(call, "materials"), RBL_ERR_ARGUMENT,
            "by material needs a list of materials");
    return RBL_OK;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbl_collection *out = NULL;
    double *thresholds = NULL, *sizes = NULL;
    const char **materials = NULL;
    const rbl_param *names = rbl_call_param(call, "materials");
    rbli_damage_options options = {.by = (rbli_threshold_by)rbl_param_int(rbl_call_param(call, "by")),
        .selection = rbli_call_input_selection(call, "selection"),
        .material_count = rbl_param_count(names)};
    RBL_TRY(read_numbers(ctx, rbl_call_param(call, "thresholds"), &thresholds, &options.threshold_count));
    RBL_TRY(read_numbers(ctx, rbl_call_param(call, "sizes"), &sizes, &options.size_count));
    RBL_TRY_ALLOC(materials = rbli_alloc(ctx, options.material_count, sizeof *materials));
    for (size_t i = 0; i < options.material_count; i++)
        materials[i] = rbl_param_string(rbl_param_at(names, i));
    options.thresholds = thresholds;
    options.sizes = sizes;
    options.materials = materials;
    RBL_TRY(check(ctx, call, &options));
    RBL_TRY(rbli_set_damage_thresholds(ctx, rbl_call_input_collection(call, "collection"), &options, &out));
    rbl_call_set_output_collection(call, "collection", out);
done:
    rbli_free(ctx, thresholds);
    rbli_free(ctx, sizes);
    rbli_free(ctx, materials);
    return status;
}

static const char *const by_words[] = {"level", "size", "material", NULL};
_Static_assert(RBLI_THRESHOLD_LEVEL == 0 && RBLI_THRESHOLD_SIZE == 1 && RBLI_THRESHOLD_MATERIAL == 2,
    "words are in the order of the enum");

static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with bone.damage_threshold"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "by",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"level\"",
        .words = by_words,
        .text = "what says which of the thresholds a bone gets"},
    {.name = "thresholds",
        .type = RBL_PARAM_FLOAT,
        .list = true,
        .default_json = "[5000, 500, 50]",
        .min = 0,
        .max = 1e300,
        .unit = "N*s",
        .text = "impulses that break a bone off; the last one repeats"},
    {.name = "sizes",
        .type = RBL_PARAM_FLOAT,
        .list = true,
        .default_json = "[0.5, 0.2]",
        .min = 0,
        .max = 1,
        .text = "by size: least size of the bones of each threshold, as part of the whole; descending"},
    {.name = "materials",
        .type = RBL_PARAM_STRING,
        .list = true,
        .default_json = "[]",
        .text =
            "by material: patterns (* and ?), one for each threshold; all others take the last threshold"},
    {0},
};

const rbl_node_desc rbli_node_set_damage_thresholds = {
    .size = sizeof(rbl_node_desc),
    .type = "SetDamageThresholds",
    .version = 1,
    .revision = 1,
    .family = "state",
    .text = "Sets the impulse that it takes to break each bone off its parent.",
    .details = "Writes bone.damage_threshold. By level: children of the root take the first threshold, their "
               "children the next, so that large\npieces come off first and break further when hit again. By "
               "size: ∛ of the volume as part of that of the whole asset. By\nmaterial: the one with the "
               "largest area on the piece; of a cluster, on all its pieces. Unreal's 500000, 50000, 5000 "
               "kg·cm/s\nare the same numbers as the defaults.",
    .inputs = rbli_state_inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
