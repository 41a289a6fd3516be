/// ClusterScatterPoints: makes clusters of points: groups of fine debris between large pieces.

#include "fracture/base/alloc.h"
#include "fracture/geometry/point_patterns.h"
#include "nodes/points/point_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_cluster_points_options o = rbli_cluster_points_default_options();
    double low[3], high[3], least, most, (*points)[3] = NULL;
    size_t count;
    RBL_TRY(rbli_points_box(ctx, call, low, high, NULL));
    RBL_TRY(rbli_points_range(ctx, call, "clusters_min", "clusters_max", &least, &most));
    o.clusters_min = (size_t)least;
    o.clusters_max = (size_t)most;
    RBL_TRY(rbli_points_range(ctx, call, "points_per_cluster_min", "points_per_cluster_max", &least, &most));
    o.points_min = (size_t)least;
    o.points_max = (size_t)most;
    RBL_TRY(rbli_points_range(ctx, call, "radius_fraction_min", "radius_fraction_max", &o.radius_fraction_min,
        &o.radius_fraction_max));
    o.radius_offset = rbl_param_float(rbl_call_param(call, "radius_offset"));
    o.include_base = rbl_param_bool(rbl_call_param(call, "include_base"));
    o.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    RBL_TRY(rbli_cluster_points_make(ctx, low, high, &o, &count, &points));
    RBL_TRY(rbli_points_finish(ctx, call, points, count));
done:
    rbli_free(ctx, points);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "clusters_min",
        .type = RBL_PARAM_INT,
        .default_json = "8",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "least number of clusters"},
    {.name = "clusters_max",
        .type = RBL_PARAM_INT,
        .default_json = "8",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "greatest number of clusters"},
    {.name = "points_per_cluster_min",
        .type = RBL_PARAM_INT,
        .default_json = "2",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "least number of points of a cluster"},
    {.name = "points_per_cluster_max",
        .type = RBL_PARAM_INT,
        .default_json = "30",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "greatest number of points of a cluster"},
    {.name = "radius_fraction_min",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.1",
        .min = 0,
        .max = 1000,
        .step = 0.01,
        .text = "least radius, in half extents of the box"},
    {.name = "radius_fraction_max",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.2",
        .min = 0,
        .max = 1000,
        .step = 0.01,
        .text = "greatest radius, in half extents of the box"},
    {.name = "radius_offset",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e12,
        .unit = "m",
        .text = "added to every radius"},
    {.name = "include_base",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "the centres are points, too"},
    {.name = "seed",
        .type = RBL_PARAM_SEED,
        .default_json = "0",
        .text = "of everything random in this node"},
    {0},
};

const rbl_node_desc rbli_node_cluster_scatter_points = {
    .size = sizeof(rbl_node_desc),
    .type = "ClusterScatterPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Makes clusters of points: groups of fine debris between large pieces.",
    .details = "Centres are uniform in the box; the points of a cluster lie on a shell around its centre "
               "at radius_offset + f times the largest half extent of the box, f drawn between the two "
               "fractions. The centres themselves are points only with include_base.",
    .inputs = rbli_pattern_inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .check = rbli_points_check_box,
    .evaluate = evaluate,
};
