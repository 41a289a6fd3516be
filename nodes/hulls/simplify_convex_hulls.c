/// SimplifyConvexHulls: hulls of fewer vertices.

#include "fracture/geometry/elementary.h"
#include "fracture/ops/hull_ops.h"
#include "nodes/hulls/hull_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_simplify_options options = rbli_simplify_default_options();
    options.selection = rbli_call_input_selection(call, "selection");
    options.method = (rbli_simplify_method)rbl_param_int(rbl_call_param(call, "method"));
    options.max_vertices = (int32_t)rbl_param_int(rbl_call_param(call, "max_vertices"));
    options.angle = rbl_param_float(rbl_call_param(call, "angle")) * (RBLI_PI / 180);
    options.distance = rbl_param_float(rbl_call_param(call, "distance"));
    options.min_triangles = (size_t)rbl_param_int(rbl_call_param(call, "min_triangles"));
    rbl_status status =
        rbli_simplify_hulls(ctx, rbl_call_input_collection(call, "collection"), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const char *const method_words[] = {"vertex_budget", "qslim", "angle", NULL};
_Static_assert(RBLI_SIMPLIFY_BUDGET == 0 && RBLI_SIMPLIFY_QSLIM == 1 && RBLI_SIMPLIFY_ANGLE == 2,
    "words are in the order of the enum");

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose hulls get simpler"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "bones whose hulls change; all bones when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with simpler hulls"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "method",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"vertex_budget\"",
        .words = method_words,
        .text = "how"},
    {.name = "max_vertices",
        .type = RBL_PARAM_INT,
        .default_json = "32",
        .min = 8,
        .max = 1000000,
        .step = 1,
        .text = "vertex_budget: most vertices of a hull"},
    {.name = "angle",
        .type = RBL_PARAM_FLOAT,
        .default_json = "10",
        .min = 0,
        .max = 90,
        .unit = "deg",
        .text = "angle: between the facets that stay"},
    {.name = "distance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.1",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "qslim: most that a hull may stand off"},
    {.name = "min_triangles",
        .type = RBL_PARAM_INT,
        .default_json = "12",
        .min = 4,
        .max = 1000000,
        .step = 1,
        .text = "qslim: no hull gets fewer"},
    {0},
};

const rbl_node_desc rbli_node_simplify_convex_hulls = {
    .size = sizeof(rbl_node_desc),
    .type = "SimplifyConvexHulls",
    .version = 1,
    .revision = 2,
    .family = "hulls",
    .text = "Makes convex hulls simpler.",
    .details = "Every method gives hulls that hold the old ones; a note says how far they stand off.\n"
               "vertex_budget: bounded by the facets that matter most. qslim: edges are collapsed where that "
               "costs least, until the hull would\n"
               "stand off more than distance or has min_triangles. angle: facets whose normal is nearer than "
               "angle to that of a larger one go.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
