/// AutoCluster: groups the children of a cluster into fewer, connected clusters.

#include "fracture/ops/auto_cluster.h"
#include "nodes/clusters/cluster_node.h"
#include "rubble/collection.h"

static const char *const by_words[] = {"count", "fraction", "size", "grid", NULL};
_Static_assert(RBLI_CLUSTER_BY_COUNT == 0 && RBLI_CLUSTER_BY_FRACTION == 1 && RBLI_CLUSTER_BY_SIZE == 2 &&
                   RBLI_CLUSTER_BY_GRID == 3,
    "words are in the order of the enum");

/// Parameters that were set but do nothing here.
static void warn_of_idle(rbl_context *ctx, const rbli_auto_cluster_options *options)
{
    if (options->drift_iterations > 0 && options->by != RBLI_CLUSTER_BY_GRID)
        rbl_call_warn(ctx, "drift_iterations does nothing here: it belongs to by = grid");
    if (options->concavity_tolerance > 0 && !options->prefer_convexity)
        rbl_call_warn(ctx, "concavity_tolerance does nothing here: it belongs to prefer_convexity");
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    int64_t grid[3];
    rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
    options.selection = rbli_call_input_selection(call, "selection");
    options.by = (rbli_cluster_by)rbl_param_int(rbl_call_param(call, "by"));
    options.fraction = rbl_param_float(rbl_call_param(call, "fraction"));
    options.site_size = rbl_param_float(rbl_call_param(call, "site_size"));
    rbl_param_int3(rbl_call_param(call, "grid"), grid);
    for (int k = 0; k < 3; k++)
        options.grid[k] = (int32_t)grid[k];
    options.drift_iterations = (int32_t)rbl_param_int(rbl_call_param(call, "drift_iterations"));
    options.minimum_size = rbl_param_float(rbl_call_param(call, "minimum_size"));
    options.prefer_convexity = rbl_param_bool(rbl_call_param(call, "prefer_convexity"));
    options.concavity_tolerance = rbl_param_float(rbl_call_param(call, "concavity_tolerance"));
    options.cluster.count = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    options.cluster.iterations = (int32_t)rbl_param_int(rbl_call_param(call, "iterations"));
    options.cluster.enforce_connectivity = rbl_param_bool(rbl_call_param(call, "enforce_connectivity"));
    options.cluster.enforce_count = rbl_param_bool(rbl_call_param(call, "enforce_count"));
    options.cluster.avoid_isolated = rbl_param_bool(rbl_call_param(call, "avoid_isolated"));
    options.cluster.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    warn_of_idle(ctx, &options);
    rbl_status status =
        rbli_auto_cluster(ctx, rbl_call_input_collection(call, "collection"), &options, &made);
    return rbli_cluster_node_finish(ctx, call, status, "new_clusters", &made);
}

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
    {.name = "new_clusters", .kind = RBL_VALUE_SELECTION, .text = "the new clusters"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "by",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"count\"",
        .words = by_words,
        .text = "what says how many clusters: count, fraction of the children, size of a cluster, or a grid"},
    {.name = "count",
        .type = RBL_PARAM_INT,
        .default_json = "10",
        .min = 1,
        .max = 1e9,
        .step = 1,
        .text = "by = count: clusters below each chosen one"},
    {.name = "fraction",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.25",
        .min = 1e-9,
        .max = 1,
        .step = 0.05,
        .text = "by = fraction: clusters for each child, but at least two"},
    {.name = "site_size",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 1e-9,
        .max = 1e9,
        .step = 0.1,
        .unit = "m",
        .text = "by = size: as many clusters as there are cubes of this edge that hold centres of children"},
    {.name = "grid",
        .type = RBL_PARAM_INT3,
        .default_json = "[2, 2, 2]",
        .min = 1,
        .max = 200,
        .step = 1,
        .text =
            "by = grid: cells of the children's bounds along x, y, z; those that hold centres of children "
            "make a cluster each"},
    {.name = "iterations",
        .type = RBL_PARAM_INT,
        .default_json = "500",
        .min = 0,
        .max = 1000000,
        .step = 1,
        .text = "most steps of k-means; it stops by itself when no more than one child in 100 changes"},
    {.name = "drift_iterations",
        .type = RBL_PARAM_INT,
        .default_json = "0",
        .min = 0,
        .max = 1000000,
        .step = 1,
        .text = "by = grid: most steps of k-means from the cells' middles; 0: clusters are the cells"},
    {.name = "minimum_size",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e9,
        .step = 0.1,
        .unit = "m",
        .text =
            "clusters of less volume than a cube of this edge join a neighbour; the count is not kept then"},
    {.name = "prefer_convexity",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "clusters that fill their convex hulls rather than round ones"},
    {.name = "concavity_tolerance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e9,
        .step = 0.01,
        .unit = "m",
        .text =
            "prefer_convexity: clusters go on joining, also below the count, while at most a cube of this "
            "edge is empty in their hull"},
    {.name = "enforce_connectivity",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "parts of a cluster that do not touch become clusters of their own"},
    {.name = "enforce_count",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "then the smallest clusters join neighbours, or the largest are split, until the count is "
                "reached"},
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
    .revision = 3,
    .family = "clusters",
    .text = "Groups the children of clusters into fewer clusters of pieces that lie together and touch.",
    .details =
        "k-means on the centres of the children's bounding boxes, then connected parts by what touches what "
        "(the group\nproximity if there is one, else contacts are computed), then the smallest parts join "
        "neighbours and the largest are\nsplit until the count is reached: it is, whenever the children hang "
        "together in no more parts and are no fewer. A child\nthat has to stay alone counts as one of them "
        "and "
        "gets no cluster with avoid_isolated. With prefer_convexity k-means\nmakes up to four times as many "
        "parts, of which then those neighbours join first that leave the least space empty in\ntheir common "
        "convex hull. New clusters are called PARENT_cluster_0, PARENT_cluster_1, … and come between the "
        "parent "
        "and\nits children. The same groups for any order of the children.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
