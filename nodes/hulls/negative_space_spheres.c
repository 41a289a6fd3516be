/// NegativeSpaceSpheres: spheres in the gaps.

#include "fracture/ops/hull_ops.h"
#include "nodes/hulls/hull_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    size_t count = 0;
    rbl_value *points = NULL;
    const rbl_param *samples = rbl_call_param(call, "samples");
    rbli_negative_space_options options = {.samples = (size_t)rbl_param_int(samples),
        .tolerance = rbl_param_float(rbl_call_param(call, "tolerance")),
        .min_radius = rbl_param_float(rbl_call_param(call, "min_radius"))};
    rbl_status status = rbli_write_negative_space(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), &options, &out);
    if (status == RBL_OK) {
        count = rbli_collection_size(out, "negative_space");
        status = rbl_value_create_points(
            ctx, rbli_collection_read(out, "negative_space", "center", RBL_VEC3), count, &points);
        if (status == RBL_OK) rbl_call_set_output(call, "points", points);
        if (status != RBL_OK) rbli_collection_release(out);
    }
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose hulls bound the space"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "bones whose hulls count; all when not connected: then those of clusters count, too"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with the group negative_space"},
    {.name = "points", .kind = RBL_VALUE_POINTS, .text = "centres of the spheres, the largest first"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "samples",
        .type = RBL_PARAM_INT,
        .default_json = "50",
        .min = 1,
        .max = 10000,
        .step = 1,
        .text = "most spheres"},
    {.name = "tolerance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.02",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "space left between spheres and hulls"},
    {.name = "min_radius",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.1",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "no smaller spheres"},
    {0},
};

const rbl_node_desc rbli_node_negative_space_spheres = {
    .size = sizeof(rbl_node_desc),
    .type = "NegativeSpaceSpheres",
    .version = 1,
    .revision = 1,
    .family = "hulls",
    .text = "Fills the empty space between hulls with spheres.",
    .details = "Where a merged hull must not reach. Spheres lie within the bounds of the hulls, the one with "
               "the most room first; they go to the\n"
               "group negative_space (center, radius), and their centres to the output points. "
               "MergeConvexHulls, ClusterConvexHulls and\n"
               "CreateLeafConvexHulls find their own with protect_negative_space.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
