/// Proximity: which pieces touch.

#include "fracture/ops/proximity.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_proximity_options options = {
        .contact_area = rbl_param_int(rbl_call_param(call, "contact_area")) != 0,
        .contact_threshold = rbl_param_float(rbl_call_param(call, "contact_threshold")),
        .connection_graph = rbl_param_bool(rbl_call_param(call, "connection_graph")),
    };
    const rbl_param *tolerance = rbl_call_param(call, "tolerance");
    if (tolerance) options.tolerance = rbl_param_float(tolerance);
    rbl_status status = rbli_proximity(ctx, rbl_call_input_collection(call, "collection"), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const char *const method_words[] = {"precise", NULL};
static const char *const area_words[] = {"none", "geometry", NULL};

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
        .text = "precise: faces that lie on each other"},
    {.name = "contact_area",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"none\"",
        .words = area_words,
        .text = "geometry: store the area of each contact"},
    {.name = "contact_threshold",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e300,
        .unit = "m2",
        .text = "contacts of a smaller area are left out"},
    {.name = "connection_graph",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "write the group connection, too: contacts lifted to siblings of one parent"},
    {.name = "tolerance",
        .type = RBL_PARAM_FLOAT,
        .optional = true,
        .min = 0,
        .max = 1e300,
        .unit = "m",
        .text = "how far faces may lie apart; when left out, 1e-6 times the diagonal of all pieces"},
    {0},
};

const rbl_node_desc rbli_node_proximity = {
    .size = sizeof(rbl_node_desc),
    .type = "Proximity",
    .version = 1,
    .revision = 1,
    .family = "proximity",
    .text = "Finds which pieces touch, and on what area.",
    .details = "Pieces touch where their faces lie on each other in an area, cut here or imported, in world "
               "space; a "
               "common edge\n"
               "or corner alone is no contact. Facets that a cut made are equal in both pieces and found "
               "without any "
               "search.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
