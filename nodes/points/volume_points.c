/// VolumePoints: places points evenly inside the pieces: sites for pieces of even size.

#include "fracture/base/alloc.h"
#include "fracture/geometry/volume_points.h"
#include "nodes/points/point_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_leaf_mesh mesh = {0};
    double(*points)[3] = NULL;
    size_t count, missing, wanted = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    RBL_TRY(rbli_points_mesh(ctx, call, &mesh));
    rbli_mesh_view view = rbli_leaf_mesh_view(&mesh);
    RBL_TRY(rbli_volume_points(ctx, &view, wanted, (int32_t)rbl_param_int(rbl_call_param(call, "relax")),
        (uint32_t)rbl_param_int(rbl_call_param(call, "seed")), &points, &count, &missing));
    RBL_TRY(rbli_points_tell_missing(ctx, missing, wanted, "inside"));
    RBL_TRY(rbli_points_finish(ctx, call, points, count));
done:
    rbli_leaf_mesh_free(ctx, &mesh);
    rbli_free(ctx, points);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "count",
        .type = RBL_PARAM_INT,
        .default_json = "20",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "how many"},
    {.name = "relax",
        .type = RBL_PARAM_INT,
        .default_json = "8",
        .min = 0,
        .max = 1000,
        .step = 1,
        .text = "steps of relaxation; 0: uniform random points"},
    {.name = "seed",
        .type = RBL_PARAM_SEED,
        .default_json = "0",
        .text = "of everything random in this node"},
    {0},
};

const rbl_node_desc rbli_node_volume_points = {
    .size = sizeof(rbl_node_desc),
    .type = "VolumePoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Places points evenly inside the pieces: sites for pieces of even size.",
    .details = "Points are uniform in the volume and then relaxed in the volume itself, not in its box, "
               "so that thin and hollow shapes get even pieces, too. All points lie inside.",
    .inputs = rbli_mesh_points_inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .evaluate = evaluate,
};
