/// AutoCluster: groups the children of a cluster into fewer, connected clusters.

#include "engine/value.h"
#include "fracture/ops/auto_cluster.h"

enum { BY_COUNT, BY_FRACTION };

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
    options.selection = rbli_call_input_selection(call, "selection");
    if (rbl_param_int(rbl_call_param(call, "by")) == BY_FRACTION)
        options.fraction = rbl_param_float(rbl_call_param(call, "fraction"));
    options.cluster.count = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    options.cluster.iterations = (int32_t)rbl_param_int(rbl_call_param(call, "iterations"));
    options.cluster.enforce_connectivity = rbl_param_bool(rbl_call_param(call, "enforce_connectivity"));
    options.cluster.enforce_count = rbl_param_bool(rbl_call_param(call, "enforce_count"));
    options.cluster.avoid_isolated = rbl_param_bool(rbl_call_param(call, "avoid_isolated"));
    options.cluster.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    rbl_status status = rbli_auto_cluster(ctx, rbl_call_input_collection(call, "collection"), &options, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const char *const by_words[] = {"count", "fraction", NULL};

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose clusters get a level more"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "clusters whose children are grouped; when not connected, from each root down the first ones "
                "with more children than clusters are wanted"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with new clusters"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "by",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"count\"",
        .words = by_words,
        .text = "what says how many clusters: count, or fraction of the children"},
    {.name = "count",
        .type = RBL_PARAM_INT,
        .default_json = "10",
        .min = 1,
        .max = 1e9,
        .step = 1,
        .text = "clusters below each chosen one"},
    {.name = "fraction",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.25",
        .min = 1e-9,
        .max = 1,
        .step = 0.05,
        .text = "clusters for each child, with by = fraction"},
    {.name = "iterations",
        .type = RBL_PARAM_INT,
        .default_json = "500",
        .min = 0,
        .max = 1000000,
        .step = 1,
        .text = "most steps of k-means; it stops by itself when nothing changes"},
    {.name = "enforce_connectivity",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "parts of a cluster that do not touch become clusters of their own"},
    {.name = "enforce_count",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "then the smallest clusters join neighbours until the count is reached"},
    {.name = "avoid_isolated",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "a cluster of one child joins a neighbour, or is not made"},
    {.name = "seed", .type = RBL_PARAM_SEED, .default_json = "0", .text = "of the first centres"},
    {0},
};

const rbl_node_desc rbli_node_auto_cluster = {
    .size = sizeof(rbl_node_desc),
    .type = "AutoCluster",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Groups the children of clusters into fewer clusters of pieces that lie together and touch.",
    .details =
        "k-means on the centres of the children's bounding boxes, then connected parts by what touches what "
        "(the group\n"
        "proximity if there is one, else contacts are computed), then the smallest parts join neighbours. "
        "New "
        "clusters are\n"
        "called PARENT_cluster_0, PARENT_cluster_1, … and come between the parent and its children. The same "
        "groups for\n"
        "any order of the children.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
