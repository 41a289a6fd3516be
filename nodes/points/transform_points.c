/// TransformPoints: scales, turns and moves points.

#include "fracture/base/alloc.h"
#include "nodes/points/point_node.h"

/// Turns a point about an axis of the world.
static void turn(double p[3], int axis, double degrees)
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    double c = rbli_cos(degrees * RBLI_DEGREE), s = rbli_sin(degrees * RBLI_DEGREE), at = p[i];
    if (degrees == 0) return;
    p[i] = c * at - s * p[j];
    p[j] = s * at + c * p[j];
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    size_t count;
    const double(*in)[3] = rbl_value_points(rbl_call_input(call, "points", 0), &count);
    double scale[3], degrees[3], move[3], pivot[3], (*points)[3] = NULL;
    rbl_param_vec3(rbl_call_param(call, "scale"), scale);
    rbl_param_vec3(rbl_call_param(call, "rotate"), degrees);
    rbl_param_vec3(rbl_call_param(call, "translate"), move);
    rbl_param_vec3(rbl_call_param(call, "pivot"), pivot);
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, count, sizeof *points));
    for (size_t i = 0; i < count; i++) {
        double *p = points[i];
        for (int k = 0; k < 3; k++)
            p[k] = (in[i][k] - pivot[k]) * scale[k];
        for (int axis = 0; axis < 3; axis++)
            turn(p, axis, degrees[axis]);
        for (int k = 0; k < 3; k++)
            p[k] += pivot[k] + move[k];
    }
    RBL_TRY(rbli_points_finish(ctx, call, points, count));
done:
    rbli_free(ctx, points);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "points", .kind = RBL_VALUE_POINTS, .text = "what is moved"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "translate", .type = RBL_PARAM_VEC3, .default_json = "[0, 0, 0]", .unit = "m", .text = "moves"},
    {.name = "rotate",
        .type = RBL_PARAM_VEC3,
        .default_json = "[0, 0, 0]",
        .unit = "deg",
        .text = "turns about x, then y, then z"},
    {.name = "scale", .type = RBL_PARAM_VEC3, .default_json = "[1, 1, 1]", .text = "along x, y and z"},
    {.name = "pivot",
        .type = RBL_PARAM_VEC3,
        .default_json = "[0, 0, 0]",
        .unit = "m",
        .text = "stays in place under scale and rotate"},
    {0},
};

const rbl_node_desc rbli_node_transform_points = {
    .size = sizeof(rbl_node_desc),
    .type = "TransformPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Scales, turns and moves points.",
    .details = "First scale, then the turns about x, y and z, in this order, all about the pivot; then "
               "translate.",
    .inputs = inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .evaluate = evaluate,
};
