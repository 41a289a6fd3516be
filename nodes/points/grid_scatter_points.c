/// GridScatterPoints: makes a grid of points, moved a little at random if asked for.

#include "fracture/base/alloc.h"
#include "fracture/geometry/point_patterns.h"
#include "nodes/points/point_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    double low[3], high[3], displacement[3], (*points)[3] = NULL;
    int64_t steps[3];
    size_t count;
    rbl_param_int3(rbl_call_param(call, "count"), steps);
    rbl_param_vec3(rbl_call_param(call, "displacement"), displacement);
    if (steps[0] * steps[1] * steps[2] > RBLI_MAX_POINTS)
        return rbl_call_fail(ctx, call, rbl_call_param(call, "count"), RBL_ERR_LIMIT,
            "a grid of %lld points is more than the %d that are allowed",
            (long long)(steps[0] * steps[1] * steps[2]), RBLI_MAX_POINTS);
    RBL_TRY(rbli_points_box(ctx, call, low, high, NULL));
    RBL_TRY(rbli_grid_points(ctx, low, high, steps, displacement,
        (uint32_t)rbl_param_int(rbl_call_param(call, "seed")), &count, &points));
    RBL_TRY(rbli_points_finish(ctx, call, points, count));
done:
    rbli_free(ctx, points);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "count",
        .type = RBL_PARAM_INT3,
        .default_json = "[5, 5, 5]",
        .min = 1,
        .max = 200,
        .step = 1,
        .text = "points along x, y and z"},
    {.name = "displacement",
        .type = RBL_PARAM_VEC3,
        .default_json = "[0, 0, 0]",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "each point is moved by up to so much along x, y and z"},
    {.name = "seed",
        .type = RBL_PARAM_SEED,
        .default_json = "0",
        .text = "of everything random in this node"},
    {0},
};

const rbl_node_desc rbli_node_grid_scatter_points = {
    .size = sizeof(rbl_node_desc),
    .type = "GridScatterPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Makes a grid of points, moved a little at random if asked for.",
    .details = "A point sits in the middle of each of count equal boxes, so that Voronoi pieces without "
               "displacement are those boxes. At most 200 along an axis and 1,000,000 in all.",
    .inputs = rbli_pattern_inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .check = rbli_points_check_box,
    .evaluate = evaluate,
};
