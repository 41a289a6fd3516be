/// MeshVertexPoints: takes the vertices of pieces as points.

#include "fracture/base/alloc.h"
#include "fracture/geometry/point_patterns.h"
#include "fracture/geometry/surface_points.h"
#include "nodes/points/point_node.h"

static const char *const skip_words[] = {"random", "uniform_spacing", "keep_sharp", NULL};
_Static_assert(RBLI_THIN_RANDOM == 0 && RBLI_THIN_SPACED == 1 && RBLI_THIN_SHARP == 2,
    "words of skip_mode are in the order of the enum");

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_leaf_mesh mesh = {0};
    rbli_mesh_vertices vertices = {0};
    bool *keep = NULL;
    double offset = rbl_param_float(rbl_call_param(call, "normal_offset"));
    const rbl_param *skip = rbl_call_param(call, "skip_fraction");
    RBL_TRY(rbli_points_mesh(ctx, call, &mesh));
    rbli_mesh_view view = rbli_leaf_mesh_view(&mesh);
    RBL_TRY(rbli_mesh_vertices_collect(ctx, &view, &vertices));
    size_t count = vertices.count, wanted = count - (size_t)((double)count * rbl_param_float(skip) + 0.5),
           kept = 0;
    if (wanted == 0 || wanted > RBLI_MAX_POINTS) {
        status = rbl_call_fail(ctx, call, skip, wanted ? RBL_ERR_LIMIT : RBL_ERR_ARGUMENT,
            wanted ? "%zu points are more than the 1000000 that are allowed: skip more"
                   : "%zu points would be left: skip less",
            wanted);
        goto done;
    }
    RBL_TRY_ALLOC(keep = rbli_alloc(ctx, count, sizeof *keep));
    RBL_TRY(rbli_thin_points(ctx, (const double(*)[3])vertices.positions, vertices.sharpness, count, wanted,
        (rbli_thin)rbl_param_int(rbl_call_param(call, "skip_mode")),
        (uint32_t)rbl_param_int(rbl_call_param(call, "seed")), keep));
    for (size_t i = 0; i < count; i++) {
        if (!keep[i]) continue;
        for (int k = 0; k < 3; k++)
            vertices.positions[kept][k] = vertices.positions[i][k] + offset * vertices.normals[i][k];
        kept++;
    }
    RBL_TRY(rbli_points_finish(ctx, call, vertices.positions, kept));
done:
    rbli_leaf_mesh_free(ctx, &mesh);
    rbli_mesh_vertices_free(ctx, &vertices);
    rbli_free(ctx, keep);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "skip_fraction",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1,
        .step = 0.05,
        .text = "share of the vertices that is left out"},
    {.name = "skip_mode",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"random\"",
        .words = skip_words,
        .text = "which are left out"},
    {.name = "normal_offset",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = -1e12,
        .max = 1e12,
        .unit = "m",
        .text = "moves the points along their normals"},
    {.name = "seed",
        .type = RBL_PARAM_SEED,
        .default_json = "0",
        .text = "of everything random in this node"},
    {0},
};

const rbl_node_desc rbli_node_mesh_vertex_points = {
    .size = sizeof(rbl_node_desc),
    .type = "MeshVertexPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Takes the vertices of pieces as points.",
    .details = "Vertices at equal positions are one point. skip_fraction of them are left out: at "
               "random, so that the rest is evenly spaced (sharp corners first), or so that the sharpest "
               "are kept. normal_offset moves each along the mean normal of its faces, outwards for "
               "positive values. More than 1,000,000 points are an error: raise skip_fraction.",
    .inputs = rbli_mesh_points_inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .evaluate = evaluate,
};
