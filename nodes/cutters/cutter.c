/// What all cutter nodes do around their complex.

#include "nodes/cutters/cutter.h"

#include <math.h>

#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "fracture/ops/collision_samples.h"
#include "fracture/ops/proximity.h"

static const double USUAL_FREQUENCY = 2.5, LEAST_WAVES = 2.5, MOST_WAVES = 25;

const rbl_param_desc rbli_cutter_noise_fields[] = {
    {.name = "amplitude",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e9,
        .step = 0.01,
        .unit = "m",
        .text = "how far the first octave displaces, per axis; 0: smooth cuts"},
    {.name = "frequency",
        .type = RBL_PARAM_FLOAT,
        .optional = true,
        .min = 1e-9,
        .max = 1e9,
        .step = 0.1,
        .unit = "1/m",
        .text = "of the first octave; when left out 2.5, but at least 2.5 and at most 25 waves on the "
                "diagonal of "
                "what is cut"},
    {.name = "persistence",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.5",
        .min = 0,
        .max = 1,
        .step = 0.05,
        .text = "amplitude of an octave to the one before"},
    {.name = "lacunarity",
        .type = RBL_PARAM_FLOAT,
        .default_json = "2",
        .min = 1,
        .max = 16,
        .step = 0.1,
        .text = "frequency of an octave to the one before"},
    {.name = "octaves",
        .type = RBL_PARAM_INT,
        .default_json = "4",
        .min = 1,
        .max = 16,
        .step = 1,
        .text = "layers of noise, each finer"},
    {.name = "point_spacing",
        .type = RBL_PARAM_FLOAT,
        .optional = true,
        .min = 1e-9,
        .max = 1e9,
        .step = 0.01,
        .unit = "m",
        .text = "of the points that are displaced; when left out 1 / (4 frequency), which is smooth, and no "
                "more than "
                "suits the frequency that would be left out"},
    {0},
};

/// The frequency for things of any size and unit: 2.5 a metre from 1 to 10 m, beyond that by the diagonal.
static rbl_status usual_frequency(
    rbl_context *ctx, rbl_call *call, const rbli_selection *selection, double *out)
{
    double low[3], high[3], sum = 0;
    bool found = false;
    *out = USUAL_FREQUENCY;
    rbl_status status =
        rbli_world_bounds(ctx, rbl_call_input_collection(call, "collection"), selection, low, high, &found);
    if (status != RBL_OK || !found) return status;
    for (int k = 0; k < 3; k++)
        sum += (high[k] - low[k]) * (high[k] - low[k]);
    double diagonal = sqrt(sum);
    if (!(diagonal > 0)) return RBL_OK;
    if (*out * diagonal < LEAST_WAVES) *out = LEAST_WAVES / diagonal;
    if (*out * diagonal > MOST_WAVES) *out = MOST_WAVES / diagonal;
    return RBL_OK;
}

static rbl_status read_noise(
    rbl_context *ctx, rbl_call *call, const rbli_selection *selection, rbli_noise_options *out)
{
    rbli_noise_options o = rbli_noise_default_options();
    const rbl_param *noise = rbl_call_param(call, "noise");
    const rbl_param *frequency = rbl_param_field(noise, "frequency"),
                    *spacing = rbl_param_field(noise, "point_spacing");
    double usual = USUAL_FREQUENCY;
    o.noise.amplitude = rbl_param_float(rbl_param_field(noise, "amplitude"));
    if (o.noise.amplitude > 0 && (!frequency || !spacing)) {
        rbl_status status = usual_frequency(ctx, call, selection, &usual);
        if (status != RBL_OK) return status;
    }
    o.noise.frequency = frequency ? rbl_param_float(frequency) : usual;
    o.point_spacing = spacing ? rbl_param_float(spacing) : 0.25 / fmax(o.noise.frequency, usual);
    o.noise.persistence = rbl_param_float(rbl_param_field(noise, "persistence"));
    o.noise.lacunarity = rbl_param_float(rbl_param_field(noise, "lacunarity"));
    o.noise.octaves = (int)rbl_param_int(rbl_param_field(noise, "octaves"));
    if (!frequency && usual != USUAL_FREQUENCY)
        rbli_note(ctx, "noise: frequency %.4g and point_spacing %.4g are taken for an object of this size",
            o.noise.frequency, o.point_spacing);
    *out = o;
    return RBL_OK;
}

static void say_noise(rbl_context *ctx, const rbli_noise_options *o, const rbli_fracture_result *result)
{
    if (o->noise.amplitude <= 0) return;
    if (result->noise_spacing > o->point_spacing)
        rbli_warn(ctx, "noise.point_spacing %.4g would need more than %zu points: %.4g is taken",
            o->point_spacing, o->most_vertices, result->noise_spacing);
    if (o->point_spacing > 0.25 / o->noise.frequency * (1 + 1e-9))
        rbli_warn(ctx,
            "noise.point_spacing %.4g is too far for noise.frequency %.4g: up to %.4g follows the noise",
            o->point_spacing, o->noise.frequency, 0.25 / o->noise.frequency);
    static const char text[] = "noise: %zu of %zu point%s moved less, so that no cut crosses itself";
    const char *are = result->moved_count == 1 ? " is" : "s are";
    if (result->reduced_count * 100 > result->moved_count)
        rbli_warn(ctx, text, result->reduced_count, result->moved_count, are);
    else if (result->reduced_count)
        rbli_note(ctx, text, result->reduced_count, result->moved_count, are);
}

rbl_status rbli_cutter_read_common(rbl_context *ctx, rbl_call *call, rbli_fracture_options *out)
{
    rbli_fracture_options options = rbli_fracture_default_options();
    options.selection = rbli_call_input_selection(call, "selection");
    options.chance = rbl_param_float(rbl_call_param(call, "chance_to_fracture"));
    options.group = rbl_param_bool(rbl_call_param(call, "group_fracture"));
    options.split_islands = rbl_param_bool(rbl_call_param(call, "split_islands"));
    options.close_vertex_distance = rbl_param_float(rbl_call_param(call, "close_vertex_distance"));
    options.bridge_distance = rbl_param_float(rbl_call_param(call, "bridge_distance"));
    options.internal_material = rbl_param_string(rbl_call_param(call, "internal_material"));
    options.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    if (options.internal_material[0] == 0)
        return rbl_call_fail(ctx, call, rbl_call_param(call, "internal_material"), RBL_ERR_ARGUMENT,
            "the name of the internal material is empty");
    *out = options;
    return RBL_OK;
}

rbl_status rbli_cutter_add_samples(rbl_context *ctx, rbl_call *call, rbli_fracture_result *result)
{
    rbl_status status = RBL_OK;
    rbli_selection *pieces = NULL;
    rbl_collection *sampled = NULL;
    if (!rbl_param_bool(rbl_call_param(call, "collision_samples"))) return RBL_OK;
    RBL_TRY(rbli_selection_create(ctx, result->collection, result->new_bones, result->new_count, &pieces));
    RBL_TRY(rbli_set_collision_samples(ctx, result->collection, pieces,
        rbl_param_float(rbl_call_param(call, "collision_sample_spacing")), NULL, &sampled));
    rbli_collection_release(result->collection);
    result->collection = sampled;
done:
    rbli_selection_release(pieces);
    return status;
}

rbl_status rbli_cutter_finish(rbl_context *ctx, rbl_call *call, rbli_fracture_result *result)
{
    rbl_value *pieces = NULL;
    rbl_status status =
        rbl_value_create_selection(ctx, result->collection, result->new_bones, result->new_count, &pieces);
    if (status == RBL_OK) {
        rbl_call_set_output_collection(call, "collection", result->collection);
        result->collection = NULL;
        rbl_call_set_output(call, "new_pieces", pieces);
    }
    rbli_collection_release(result->collection);
    rbli_free(ctx, result->new_bones);
    *result = (rbli_fracture_result){0};
    return status;
}

void rbli_cutter_note_repeated(rbl_context *ctx, const rbli_complex_facts *facts, const char *what)
{
    size_t count = facts->repeated_count;
    if (count)
        rbli_note(ctx, "%zu %s%s another and cut%s nothing of its own", count, what,
            count == 1 ? " repeats" : "s repeat", count == 1 ? "s" : "");
}

rbl_status rbli_cutter_run(
    rbl_context *ctx, rbl_call *call, rbli_complex_fn make_complex, rbli_remark_fn remark, void *user)
{
    rbl_status status = RBL_OK;
    rbli_fracture_result result = {0};
    rbli_fracture_options options;
    RBL_TRY(rbli_cutter_read_common(ctx, call, &options));
    options.grout = rbl_param_float(rbl_call_param(call, "grout"));
    options.keep_outside = rbl_param_bool(rbl_call_param(call, "keep_mortar"));
    RBL_TRY(read_noise(ctx, call, options.selection, &options.noise));
    options.make_complex = make_complex;
    options.remark = remark;
    options.user = user;
    RBL_TRY(rbli_fracture(ctx, rbl_call_input_collection(call, "collection"), &options, &result));
    if (result.empty_cell_count)
        rbli_note(ctx, "%zu cell%s no part of the mesh and give%s no piece", result.empty_cell_count,
            result.empty_cell_count == 1 ? " holds" : "s hold", result.empty_cell_count == 1 ? "s" : "");
    say_noise(ctx, &options.noise, &result);
    if (result.vanished_count)
        rbli_warn(ctx, "%zu cell%s thinner than the grout of %g and gone", result.vanished_count,
            result.vanished_count == 1 ? " is" : "s are", options.grout);
    if (result.lost_count)
        rbli_warn(ctx, "%zu bone%s wholly in the grout and stay%s as %s", result.lost_count,
            result.lost_count == 1 ? " lies" : "s lie", result.lost_count == 1 ? "s" : "",
            result.lost_count == 1 ? "it is" : "they are");
    RBL_TRY(rbli_cutter_add_samples(ctx, call, &result));
    status = rbli_cutter_finish(ctx, call, &result);
done:
    rbli_collection_release(result.collection);
    rbli_free(ctx, result.new_bones);
    return status;
}
