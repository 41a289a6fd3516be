/// RadialScatterPoints: makes rings of points about an axis, as a pane breaks where it is hit.

#include "fracture/base/alloc.h"
#include "fracture/geometry/point_patterns.h"
#include "nodes/points/point_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_radial_options o = rbli_radial_default_options();
    double low[3], high[3], (*points)[3] = NULL;
    size_t count;
    bool found;
    RBL_TRY(rbli_points_box(ctx, call, low, high, &found));
    rbl_param_vec3(rbl_call_param(call, "center"), o.center);
    for (int k = 0; k < 3 && found; k++)
        o.center[k] += 0.5 * (low[k] + high[k]);
    rbl_param_vec3(rbl_call_param(call, "normal"), o.normal);
    if (o.normal[0] == 0 && o.normal[1] == 0 && o.normal[2] == 0)
        return rbl_call_fail(
            ctx, call, rbl_call_param(call, "normal"), RBL_ERR_ARGUMENT, "the normal is zero");
    o.angular_steps = (int32_t)rbl_param_int(rbl_call_param(call, "angular_steps"));
    o.radial_steps = (int32_t)rbl_param_int(rbl_call_param(call, "radial_steps"));
    o.radius = rbl_param_float(rbl_call_param(call, "radius"));
    o.radial_step_exponent = rbl_param_float(rbl_call_param(call, "radial_step_exponent"));
    o.radial_min_step = rbl_param_float(rbl_call_param(call, "radial_min_step"));
    o.angle_offset = rbl_param_float(rbl_call_param(call, "angle_offset")) * RBLI_DEGREE;
    o.angular_noise = rbl_param_float(rbl_call_param(call, "angular_noise")) * RBLI_DEGREE;
    o.radial_noise = rbl_param_float(rbl_call_param(call, "radial_noise"));
    o.radial_variability = rbl_param_float(rbl_call_param(call, "radial_variability"));
    o.angular_variability = rbl_param_float(rbl_call_param(call, "angular_variability")) * RBLI_DEGREE;
    o.axial_variability = rbl_param_float(rbl_call_param(call, "axial_variability"));
    o.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    RBL_TRY(rbli_radial_points(ctx, &o, &count, &points));
    RBL_TRY(rbli_points_finish(ctx, call, points, count));
done:
    rbli_free(ctx, points);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "center",
        .type = RBL_PARAM_VEC3,
        .default_json = "[0, 0, 0]",
        .unit = "m",
        .text = "from the middle of the box, or from the origin"},
    {.name = "normal",
        .type = RBL_PARAM_VEC3,
        .default_json = "[0, 0, 1]",
        .text = "the axis, of any length"},
    {.name = "angular_steps",
        .type = RBL_PARAM_INT,
        .default_json = "5",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "spokes"},
    {.name = "radial_steps",
        .type = RBL_PARAM_INT,
        .default_json = "5",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "rings"},
    {.name = "radius",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.5",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "of the last ring"},
    {.name = "radial_step_exponent",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0,
        .max = 10,
        .step = 0.1,
        .text = "above 1: rings are closer in the middle"},
    {.name = "radial_min_step",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.01",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "least distance of two rings"},
    {.name = "angle_offset",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = -360,
        .max = 360,
        .unit = "deg",
        .text = "turns the whole pattern"},
    {.name = "angular_noise",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 360,
        .unit = "deg",
        .text = "each spoke is turned by up to so much"},
    {.name = "radial_noise",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "each ring is moved by up to so much"},
    {.name = "radial_variability",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "each point is moved outwards by up to so much"},
    {.name = "angular_variability",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 360,
        .unit = "deg",
        .text = "each point is turned by up to so much"},
    {.name = "axial_variability",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "each point is moved along the axis by up to so much"},
    {.name = "seed",
        .type = RBL_PARAM_SEED,
        .default_json = "0",
        .text = "of everything random in this node"},
    {0},
};

const rbl_node_desc rbli_node_radial_scatter_points = {
    .size = sizeof(rbl_node_desc),
    .type = "RadialScatterPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Makes rings of points about an axis, as a pane breaks where it is hit.",
    .details = "center counts from the middle of the box that is connected, or from the origin. Ring i "
               "of n lies at ((i + 1)^exponent - 1/2) of the scale that puts the last ring at radius, "
               "the first at half of the first step; so an exponent above 1 crowds the rings in the "
               "middle. All points of one ring lie on one circle unless noise or variability moves them, "
               "which the cut takes without any jitter. Noise moves rings and spokes as a whole, "
               "variability each point.",
    .inputs = rbli_pattern_inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .evaluate = evaluate,
};
