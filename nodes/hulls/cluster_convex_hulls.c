/// ClusterConvexHulls: hulls of clusters.

#include "fracture/ops/hull_ops.h"
#include "nodes/hulls/hull_node.h"

enum { BY_PROXIMITY, ANY };

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_negative_space_options protect;
    rbli_merge_hulls_options options = {.selection = rbli_call_input_selection(call, "selection"),
        .merge = rbli_hull_merge_default_options(),
        .protect = rbli_read_negative_space(rbl_call_param(call, "protect_negative_space"), &protect),
        .max_vertices = (int32_t)rbl_param_int(rbl_call_param(call, "max_vertices"))};
    options.merge.max_hulls = (size_t)rbl_param_int(rbl_call_param(call, "max_hulls"));
    options.merge.error_tolerance = rbl_param_float(rbl_call_param(call, "error_tolerance"));
    if (rbl_param_int(rbl_call_param(call, "merge")) == BY_PROXIMITY)
        options.merge.distance = rbl_param_float(rbl_call_param(call, "distance_threshold"));
    rbl_status status = rbli_cluster_hulls(ctx, rbl_call_input_collection(call, "collection"),
        (rbli_cluster_hull_source)rbl_param_int(rbl_call_param(call, "from")), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const char *const from_words[] = {"leaves", "children", NULL};
static const char *const merge_words[] = {"by_proximity", "any", NULL};
_Static_assert(
    RBLI_HULLS_OF_LEAVES == 0 && RBLI_HULLS_OF_CHILDREN == 1, "words are in the order of the enum");

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose clusters get hulls"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "clusters to work on; all clusters when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with hulls of clusters"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "from",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"leaves\"",
        .words = from_words,
        .text = "hulls of all pieces below a cluster, or of its children"},
    {.name = "max_hulls",
        .type = RBL_PARAM_INT,
        .default_json = "2",
        .min = 0,
        .max = 1000000,
        .step = 1,
        .text = "hulls of a cluster; 0: merge only what error_tolerance allows"},
    {.name = "error_tolerance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "edge of a cube: merging goes on below max_hulls while it adds less than its volume"},
    {.name = "merge",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"by_proximity\"",
        .words = merge_words,
        .text = "which hulls may be merged: near ones, or any"},
    {.name = "distance_threshold",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.001",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "by_proximity: hulls farther apart are not merged, so that more than max_hulls may stay"},
    {.name = "max_vertices",
        .type = RBL_PARAM_INT,
        .default_json = "64",
        .min = 8,
        .max = 1000000,
        .step = 1,
        .text = "budget of each hull"},
    {.name = "protect_negative_space",
        .type = RBL_PARAM_OBJECT,
        .default_json = "{}",
        .fields = rbli_negative_space_fields,
        .text = "keep gaps between pieces and holes free"},
    {0},
};

const rbl_node_desc rbli_node_cluster_convex_hulls = {
    .size = sizeof(rbl_node_desc),
    .type = "ClusterConvexHulls",
    .version = 1,
    .revision = 3,
    .family = "hulls",
    .text = "Gives clusters convex hulls made from those of their pieces.",
    .details = "The hulls of all pieces below a cluster, or of its children (deepest clusters first), are "
               "merged, the two that add the least volume\n"
               "first, until max_hulls are left. Together they hold the hulls that they are made of. Pieces "
               "need hulls: CreateLeafConvexHulls\n"
               "comes before. More than 32 hulls are first put together by halving space.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
