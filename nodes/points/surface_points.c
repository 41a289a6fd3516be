/// SurfacePoints: places points on the surface that keep a distance from each other (Poisson disk).

#include "fracture/base/alloc.h"
#include "fracture/geometry/surface_points.h"
#include "nodes/points/point_node.h"

static const char *const distribution_words[] = {"uniform", "smaller", "larger", NULL};
_Static_assert(RBLI_RADIUS_UNIFORM == 0 && RBLI_RADIUS_SMALLER == 1 && RBLI_RADIUS_LARGER == 2,
    "words of distribution are in the order of the enum");
static const char *const face_words[] = {"exterior", "all", NULL};

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_surface_points_options o = rbli_surface_points_default_options();
    rbli_leaf_mesh mesh = {0};
    double(*points)[3] = NULL;
    size_t count;
    const rbl_param *radius = rbl_call_param(call, "radius"), *most = rbl_call_param(call, "max_radius");
    o.radius = rbl_param_float(radius);
    o.max_radius = most ? rbl_param_float(most) : 0;
    o.distribution = (rbli_radius_distribution)rbl_param_int(rbl_call_param(call, "distribution"));
    o.max_count = (size_t)rbl_param_int(rbl_call_param(call, "max_count"));
    o.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    if (!(o.radius > 0))
        return rbl_call_fail(ctx, call, radius, RBL_ERR_ARGUMENT, "the radius must be greater than 0");
    if (most && o.max_radius < o.radius)
        return rbl_call_fail(ctx, call, most, RBL_ERR_ARGUMENT, "max_radius is smaller than radius");
    RBL_TRY(rbli_points_mesh(ctx, call, &mesh));
    if (rbl_param_int(rbl_call_param(call, "faces")) == 0)
        rbli_leaf_mesh_drop_internal(rbl_call_input_collection(call, "collection"), &mesh);
    rbli_mesh_view view = rbli_leaf_mesh_view(&mesh);
    RBL_TRY(rbli_surface_points(ctx, &view, &o, &count, &points, NULL));
    RBL_TRY(rbli_points_finish(ctx, call, points, count));
done:
    rbli_leaf_mesh_free(ctx, &mesh);
    rbli_free(ctx, points);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "radius",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.1",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "half of the least distance of two points"},
    {.name = "max_count",
        .type = RBL_PARAM_INT,
        .default_json = "0",
        .min = 0,
        .max = 1000000,
        .step = 1,
        .text = "a random part of the points when there are more; 0: all"},
    {.name = "max_radius",
        .type = RBL_PARAM_FLOAT,
        .optional = true,
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "with it radii vary from radius to this"},
    {.name = "distribution",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"uniform\"",
        .words = distribution_words,
        .text = "of the radii, with max_radius"},
    {.name = "faces",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"exterior\"",
        .words = face_words,
        .text = "exterior faces alone, or those of cuts, too"},
    {.name = "seed",
        .type = RBL_PARAM_SEED,
        .default_json = "0",
        .text = "of everything random in this node"},
    {0},
};

const rbl_node_desc rbli_node_surface_points = {
    .size = sizeof(rbl_node_desc),
    .type = "SurfacePoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Places points on the surface that keep a distance from each other (Poisson disk).",
    .details = "The distance of two points, in a straight line, is at least the sum of their radii: 2 * "
               "radius, or with max_radius each point has a radius of its own between the two. smaller "
               "and larger say which radii are tried more often. Only exterior faces get points unless "
               "faces is all. More than about 1,000,000 points are an error that names the least radius.",
    .inputs = rbli_mesh_points_inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .evaluate = evaluate,
};
