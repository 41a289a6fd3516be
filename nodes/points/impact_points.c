/// ImpactPoints: places points densely where something hits and sparsely elsewhere.

#include "fracture/base/alloc.h"
#include "fracture/geometry/volume_points.h"
#include "nodes/points/point_node.h"

static const char *const falloff_words[] = {"linear", "squared", "inverse", "logarithmic", NULL};
_Static_assert(RBLI_FALLOFF_LINEAR == 0 && RBLI_FALLOFF_SQUARED == 1 && RBLI_FALLOFF_INVERSE == 2 &&
                   RBLI_FALLOFF_LOGARITHMIC == 3,
    "words of falloff are in the order of the enum");

static rbl_status tell_missing(rbl_context *ctx, rbl_call *call, const rbl_param *list,
    const rbli_impact_options *o, const size_t *missing)
{
    size_t lost = missing[o->at_count];
    for (size_t i = 0; i < o->at_count; i++) {
        lost += missing[i];
        if (missing[i] == o->count)
            return rbl_call_fail(ctx, call, rbl_param_at(list, i), RBL_ERR_ARGUMENT,
                "the impact at (%g, %g, %g) with its radius of %g reaches no piece", o->at[i][0], o->at[i][1],
                o->at[i][2], o->radius);
    }
    return rbli_points_tell_missing(ctx, lost, o->at_count * o->count + o->far_count, "inside");
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_impact_options o = rbli_impact_default_options();
    rbli_leaf_mesh mesh = {0};
    double(*points)[3] = NULL, (*at)[3] = NULL;
    size_t count, *missing = NULL;
    const rbl_param *list = rbl_call_param(call, "at");
    o.at_count = rbl_param_count(list);
    o.radius = rbl_param_float(rbl_call_param(call, "radius"));
    o.count = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    o.far_count = (size_t)rbl_param_int(rbl_call_param(call, "far_count"));
    o.falloff = (rbli_falloff)rbl_param_int(rbl_call_param(call, "falloff"));
    o.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    if (o.at_count == 0)
        return rbl_call_fail(ctx, call, list, RBL_ERR_ARGUMENT, "there is no impact: the list is empty");
    if (!(o.radius > 0))
        return rbl_call_fail(
            ctx, call, rbl_call_param(call, "radius"), RBL_ERR_ARGUMENT, "the radius must be greater than 0");
    RBL_TRY_ALLOC(at = rbli_alloc(ctx, o.at_count, sizeof *at));
    RBL_TRY_ALLOC(missing = rbli_alloc(ctx, o.at_count + 1, sizeof *missing));
    for (size_t i = 0; i < o.at_count; i++)
        rbl_param_vec3(rbl_param_at(list, i), at[i]);
    o.at = (const double(*)[3])at;
    RBL_TRY(rbli_points_mesh(ctx, call, &mesh));
    rbli_mesh_view view = rbli_leaf_mesh_view(&mesh);
    RBL_TRY(rbli_impact_points(ctx, &view, &o, &points, &count, missing));
    RBL_TRY(tell_missing(ctx, call, list, &o, missing));
    RBL_TRY(rbli_points_finish(ctx, call, points, count));
done:
    rbli_leaf_mesh_free(ctx, &mesh);
    rbli_free(ctx, points);
    rbli_free(ctx, at);
    rbli_free(ctx, missing);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "at",
        .type = RBL_PARAM_VEC3,
        .list = true,
        .unit = "m",
        .text = "where it hits: [[x, y, z], …]"},
    {.name = "radius",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.5",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "how far an impact reaches"},
    {.name = "count",
        .type = RBL_PARAM_INT,
        .default_json = "60",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "points around each impact"},
    {.name = "far_count",
        .type = RBL_PARAM_INT,
        .default_json = "10",
        .min = 0,
        .max = 1000000,
        .step = 1,
        .text = "points elsewhere"},
    {.name = "falloff",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"linear\"",
        .words = falloff_words,
        .text = "how the density falls off with the distance"},
    {.name = "seed",
        .type = RBL_PARAM_SEED,
        .default_json = "0",
        .text = "of everything random in this node"},
    {0},
};

const rbl_node_desc rbli_node_impact_points = {
    .size = sizeof(rbl_node_desc),
    .type = "ImpactPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Places points densely where something hits and sparsely elsewhere.",
    .details = "count points lie around each impact, inside the pieces, with a density that falls from "
               "the impact to 0 at radius: with x = 1 - distance / radius it is x, x^2 (squared), 2x / "
               "(x + 1) (inverse) or log2(1 + x) (logarithmic). far_count points lie elsewhere, so that "
               "the rest breaks into large pieces. An impact whose radius does not reach into a piece is "
               "an error.",
    .inputs = rbli_mesh_points_inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .evaluate = evaluate,
};
