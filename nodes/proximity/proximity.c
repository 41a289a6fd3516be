/// Proximity: which pieces touch.

#include "fracture/ops/proximity.h"
#include "rubble/node.h"

static const char *const method_words[] = {"precise", "convex_hull", NULL};
static const char *const filter_words[] = {"projected_bounds", "sharp", "area", NULL};
static const char *const area_words[] = {"none", "geometry", "convex_hull", NULL};
_Static_assert(RBLI_PROXIMITY_PRECISE == 0 && RBLI_PROXIMITY_HULL == 1, "words of method");
_Static_assert(
    RBLI_FILTER_BOUNDS == 0 && RBLI_FILTER_SHARP == 1 && RBLI_FILTER_AREA == 2, "of contact_filter");
_Static_assert(RBLI_AREA_NONE == 0 && RBLI_AREA_GEOMETRY == 1 && RBLI_AREA_HULL == 2, "of contact_area");

static const double default_distance = 0.01;

/// Says what was set and changes nothing.
static void warn_of_idle(rbl_context *ctx, const rbli_proximity_options *o)
{
    bool by_hull = o->method == RBLI_PROXIMITY_HULL;
    if (!by_hull && o->distance_threshold != default_distance)
        rbli_warn(ctx, "distance_threshold changes nothing with method precise; tolerance is for faces");
    if (by_hull && o->shared_vertices)
        rbli_warn(ctx, "shared_vertices changes nothing with method convex_hull");
    if (o->contact_threshold == 0 && o->contact_filter != RBLI_FILTER_BOUNDS)
        rbli_warn(ctx, "contact_filter changes nothing while contact_threshold is 0");
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_proximity_options options = {
        .method = (rbli_proximity_method)rbl_param_int(rbl_call_param(call, "method")),
        .shared_vertices = rbl_param_bool(rbl_call_param(call, "shared_vertices")),
        .recorded = rbl_param_bool(rbl_call_param(call, "recorded")),
        .distance_threshold = rbl_param_float(rbl_call_param(call, "distance_threshold")),
        .contact_threshold = rbl_param_float(rbl_call_param(call, "contact_threshold")),
        .contact_filter = (rbli_contact_filter)rbl_param_int(rbl_call_param(call, "contact_filter")),
        .contact_area = (rbli_contact_area)rbl_param_int(rbl_call_param(call, "contact_area")),
        .connection_graph = rbl_param_bool(rbl_call_param(call, "connection_graph")),
    };
    const rbl_param *tolerance = rbl_call_param(call, "tolerance");
    if (tolerance) options.tolerance = rbl_param_float(tolerance);
    warn_of_idle(ctx, &options);
    rbl_status status = rbli_proximity(ctx, rbl_call_input_collection(call, "collection"), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose rigid leaves are compared"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with the group proximity"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "method",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"precise\"",
        .words = method_words,
        .text = "precise: faces that lie on each other; convex_hull: hulls no farther apart than "
                "distance_threshold"},
    {.name = "distance_threshold",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.01",
        .min = 0,
        .max = 1e300,
        .unit = "m",
        .text = "how far hulls may lie apart (convex_hull)"},
    {.name = "contact_threshold",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e300,
        .unit = "m",
        .text =
            "contacts narrower than this, and than half of what the two pieces could have, are left out; 0: "
            "none"},
    {.name = "contact_filter",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"projected_bounds\"",
        .words = filter_words,
        .text = "what is compared with contact_threshold: the overlap of the bounds along the best axis, the "
                "least width of what the hulls share, or its area (with the threshold squared)"},
    {.name = "contact_area",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"none\"",
        .words = area_words,
        .text =
            "the area stored with each contact: of faces that lie on each other, or of what the hulls share"},
    {.name = "connection_graph",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "write the group connection, too: contacts lifted to siblings of one parent"},
    {.name = "shared_vertices",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "pieces that have a vertex in common, and no face, touch as well (precise); their area is 0"},
    {.name = "recorded",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text =
            "pieces that were neighbours in one cut touch as well (precise): across grout, or moved since"},
    {.name = "tolerance",
        .type = RBL_PARAM_FLOAT,
        .optional = true,
        .min = 0,
        .max = 1e300,
        .unit = "m",
        .text = "how far faces may lie apart; when left out, 1e-6 times the diagonal of all pieces; at most "
                "a quarter of it"},
    {0},
};

const rbl_node_desc rbli_node_proximity = {
    .size = sizeof(rbl_node_desc),
    .type = "Proximity",
    .version = 1,
    .revision = 3,
    .family = "proximity",
    .text = "Finds which pieces touch, and on what area.",
    .details =
        "precise: pieces touch where their faces lie on each other in an area, cut here or imported, in "
        "world "
        "space,\n"
        "mirrored parts too. A common edge or corner alone is no contact, unless shared_vertices says so. "
        "Facets that a\n"
        "cut made are equal in both pieces; areas are exact. Neighbours in one cut that grout parts are "
        "known "
        "from that\n"
        "cut; where several levels were cut with grout, a tolerance a little larger than it finds the faces "
        "across it\n"
        "(those wider than twice the tolerance).\n"
        "\n"
        "convex_hull: pieces touch where their hulls are no farther apart than distance_threshold: for cuts "
        "with noise\n"
        "or grout, and for models whose parts do not quite fit. Hulls that the collection has are used, else "
        "those of\n"
        "the vertices.\n"
        "\n"
        "A contact_threshold leaves small contacts out, such as those of blocks that meet in a corner; a "
        "piece keeps\n"
        "a contact that is half as large as it could be. Clusters get connections with connection_graph, or "
        "with the\n"
        "node ConnectionGraph.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
