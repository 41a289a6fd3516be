/// ClusterMergeToNeighbors: clusters join clusters beside them.

#include "nodes/clusters/cluster_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_cluster_edit made = {0};
    rbli_merge_neighbors_options options = rbli_merge_neighbors_default_options();
    options.selection = rbli_call_input_selection(call, "selection");
    options.neighbor = (rbli_small_rule)rbl_param_int(rbl_call_param(call, "neighbor"));
    options.min_volume_cube_root = rbl_param_float(rbl_call_param(call, "min_volume_cube_root"));
    options.only_connected = rbl_param_bool(rbl_call_param(call, "only_connected"));
    options.only_same_parent = rbl_param_bool(rbl_call_param(call, "only_same_parent"));
    options.clusters_of_one = rbl_param_bool(rbl_call_param(call, "clusters_of_one"));
    rbl_status status =
        rbli_cluster_merge_to_neighbors(ctx, rbl_call_input_collection(call, "collection"), &options, &made);
    return rbli_cluster_node_finish(ctx, call, status, "merged", &made);
}

static const char *const neighbor_words[] = {"largest", "nearest_center", "largest_contact", NULL};
_Static_assert(
    RBLI_SMALL_TO_LARGEST == 0 && RBLI_SMALL_TO_NEAREST_CENTER == 1 && RBLI_SMALL_TO_LARGEST_CONTACT == 2,
    "words are in the order of the enum");

static const rbl_port_desc inputs[] = {
    RBLI_CLUSTER_COLLECTION,
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text =
            "clusters that join a neighbour in any case; when not connected, those that are too small do"},
    {0},
};
static const rbl_port_desc outputs[] = {
    RBLI_CLUSTER_COLLECTION_OUT,
    {.name = "merged", .kind = RBL_VALUE_SELECTION, .text = "the clusters that took others in"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "neighbor",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"largest\"",
        .words = neighbor_words,
        .text = "which neighbour a cluster joins"},
    {.name = "min_volume_cube_root",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "clusters whose cube root of the volume is below this go on joining"},
    {.name = "only_connected",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "only neighbours that touch; else the nearest when none does"},
    {.name = "only_same_parent",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "only siblings; else any cluster of the same level"},
    RBLI_CLUSTERS_OF_ONE,
    {0},
};

const rbl_node_desc rbli_node_cluster_merge_to_neighbors = {
    .size = sizeof(rbl_node_desc),
    .type = "ClusterMergeToNeighbors",
    .version = 1,
    .revision = 1,
    .family = "clusters",
    .text = "Merges the chosen or too small clusters into clusters beside them.",
    .details = "Always the smallest next joins a neighbour, whatever the order of the bones: the larger of "
               "both stays "
               "and takes the\nchildren of the other. Each chosen cluster joins once, and what came of it "
               "goes on while "
               "it is smaller than\nmin_volume_cube_root. Roots and pieces are no neighbours. What touches "
               "comes from "
               "Proximity; without it contacts are\ncomputed. Clusters that are left with one child go, "
               "roots excepted, "
               "unless clusters_of_one is set. Places in the world\nstay; masses and the connection graph "
               "follow, and "
               "hulls of clusters that changed are removed.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
