/// ConnectionGraph: which children of a cluster hold on to each other.

#include "fracture/ops/connection_graph.h"
#include "rubble/node.h"

static const char *const method_words[] = {"proximity", "delaunay", "minimal_spanning_delaunay",
    "bounds_filtered_delaunay", "point_implicit", "point_implicit_augmented", "none", NULL};
_Static_assert(RBLI_CONNECT_PROXIMITY == 0 && RBLI_CONNECT_DELAUNAY == 1 &&
                   RBLI_CONNECT_MINIMAL_SPANNING == 2 && RBLI_CONNECT_BOUNDS_FILTERED == 3 &&
                   RBLI_CONNECT_POINT_IMPLICIT == 4 && RBLI_CONNECT_POINT_IMPLICIT_AUGMENTED == 5 &&
                   RBLI_CONNECT_NONE == 6,
    "words of method are in the order of the enum");

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_connection_options options = {
        .method = (rbli_connection_method)rbl_param_int(rbl_call_param(call, "method")),
        .near_distance = rbl_param_float(rbl_call_param(call, "near_distance")),
        .factor = rbl_param_float(rbl_call_param(call, "factor")),
    };
    bool spans = options.method == RBLI_CONNECT_MINIMAL_SPANNING ||
                 options.method == RBLI_CONNECT_POINT_IMPLICIT_AUGMENTED;
    if (!spans && (options.near_distance != 5 || options.factor != 1))
        rbli_warn(
            ctx, "near_distance and factor change nothing with method %s", method_words[options.method]);
    rbl_status status =
        rbli_connection_graph(ctx, rbl_call_input_collection(call, "collection"), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "with the final clusters"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with the group connection"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "method",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"proximity\"",
        .words = method_words,
        .text = "what connects two children of one cluster; see above"},
    {.name = "near_distance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "5",
        .min = 0,
        .max = 1e300,
        .unit = "m",
        .text =
            "neighbours with centres up to near_distance times the root of factor apart are all connected "
            "(minimal_spanning_delaunay, point_implicit_augmented)"},
    {.name = "factor",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0,
        .max = 1e300,
        .text = "the cluster connection factor of Chaos"},
    {0},
};

const rbl_node_desc rbli_node_connection_graph = {
    .size = sizeof(rbl_node_desc),
    .type = "ConnectionGraph",
    .version = 1,
    .revision = 2,
    .family = "proximity",
    .text = "Connects the children of each cluster: what a runtime cuts to see which parts come loose.",
    .details =
        "- proximity: what touches, lifted from the pieces to the children of each cluster (group proximity, "
        "else "
        "contacts\n"
        "  are computed).\n"
        "- delaunay: neighbours by centre of mass. Points on a lattice have no diagonals; equal, coplanar "
        "and\n"
        "  collinear centres are ordinary.\n"
        "- minimal_spanning_delaunay: of these the near ones, and then the shortest that join what is still "
        "apart: every\n"
        "  cluster holds together. What Chaos does unless told otherwise.\n"
        "- bounds_filtered_delaunay: of the neighbours those whose bounds meet.\n"
        "- point_implicit: one has a vertex in or on the other.\n"
        "- point_implicit_augmented: that, and then as minimal_spanning_delaunay.\n"
        "- none: no connections.\n"
        "\n"
        "Connections replace those that were there. Their areas are those of contacts, where the collection "
        "has\n"
        "these (Proximity with contact_area, or a cut), else unknown. Use it after the clusters are made: "
        "AutoCluster\n"
        "makes connections anew from what touches.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
