/// CreateLeafConvexHulls: a convex hull for each piece.

#include "engine/value.h"
#include "fracture/ops/hulls.h"
#include "nodes/hulls/hull_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    rbli_negative_space_options protect;
    options.selection = rbli_call_input_selection(call, "selection");
    options.hull.max_vertices = (int32_t)rbl_param_int(rbl_call_param(call, "max_vertices"));
    options.hull.simplification_threshold = rbl_param_float(rbl_call_param(call, "simplification_threshold"));
    options.hull.on_degenerate = (rbli_degenerate)rbl_param_int(rbl_call_param(call, "on_degenerate"));
    options.source = (rbli_hull_source)rbl_param_int(rbl_call_param(call, "source"));
    options.decompose = rbli_read_decomposition(call, "decomposition", &protect);
    rbl_status status =
        rbli_create_leaf_hulls(ctx, rbl_call_input_collection(call, "collection"), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const char *const degenerate_words[] = {"thicken", "error", NULL};
static const char *const source_words[] = {"geometry", "keep_existing", NULL};
_Static_assert(RBLI_DEGENERATE_THICKEN == 0 && RBLI_DEGENERATE_ERROR == 1 && RBLI_HULL_GEOMETRY == 0 &&
                   RBLI_HULL_KEEP == 1,
    "words are in the order of the enums");

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose rigid leaves get hulls"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "the bones to work on; all rigid leaves when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with hulls in the group convex"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "max_vertices",
        .type = RBL_PARAM_INT,
        .default_json = "64",
        .min = 8,
        .max = 1000000,
        .step = 1,
        .text = "budget of a hull; PhysX takes 255 (64 on the GPU), Jolt 256"},
    {.name = "simplification_threshold",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e300,
        .unit = "m",
        .text = "how far a hull of fewer vertices may stand off from the exact one"},
    {.name = "on_degenerate",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"thicken\"",
        .words = degenerate_words,
        .text = "flat and collinear pieces: give them a thickness, or stop"},
    {.name = "source",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"geometry\"",
        .words = source_words,
        .text = "make all hulls anew, or keep those that are there"},
    {.name = "decomposition",
        .type = RBL_PARAM_OBJECT,
        .default_json = "{}",
        .fields = rbli_decomposition_fields,
        .text = "several hulls for concave pieces"},
    {0},
};

const rbl_node_desc rbli_node_create_leaf_convex_hulls = {
    .size = sizeof(rbl_node_desc),
    .type = "CreateLeafConvexHulls",
    .version = 1,
    .revision = 4,
    .family = "hulls",
    .text = "Gives each piece a convex hull for collision.",
    .details =
        "Hulls are closed and convex and hold the whole piece, also within a budget of vertices: then the "
        "planes of the\n"
        "facets that matter most bound it, and a note says how far it stands off. Points that lie on an edge "
        "or facet up\n"
        "to rounding are no vertices. Any size of piece is fine; flat ones are thickened with a warning.\n"
        "With decomposition.max_hulls above 1, concave pieces are cut by planes through their concave edges, "
        "and "
        "the parts'\n"
        "hulls hold the piece together.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
