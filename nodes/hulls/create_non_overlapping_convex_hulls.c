/// CreateNonOverlappingConvexHulls: hulls of pieces and clusters, cut apart.

#include "engine/value.h"
#include "fracture/ops/hull_overlap.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_overlap_options options = rbli_overlap_default_options();
    options.overlaps = (rbli_overlaps)rbl_param_int(rbl_call_param(call, "overlaps"));
    options.can_remove_fraction = rbl_param_float(rbl_call_param(call, "can_remove_fraction"));
    options.can_exceed_fraction = rbl_param_float(rbl_call_param(call, "can_exceed_fraction"));
    options.simplification_threshold = rbl_param_float(rbl_call_param(call, "simplification_threshold"));
    options.shrink_percent = rbl_param_float(rbl_call_param(call, "shrink_percent"));
    options.max_vertices = (int32_t)rbl_param_int(rbl_call_param(call, "max_vertices"));
    rbl_status status =
        rbli_separate_hulls(ctx, rbl_call_input_collection(call, "collection"), &options, NULL, &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const char *const overlap_words[] = {
    "all", "none", "only_clusters", "only_clusters_vs_clusters", NULL};
_Static_assert(RBLI_OVERLAPS_ALL == 0 && RBLI_OVERLAPS_NONE == 1 && RBLI_OVERLAPS_CLUSTERS == 2 &&
                   RBLI_OVERLAPS_CLUSTERS_ALONE == 3,
    "words are in the order of the enum");

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose pieces and clusters get hulls"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with hulls that do not overlap"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "overlaps",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"all\"",
        .words = overlap_words,
        .text = "which overlaps are removed; only_clusters: of clusters with clusters and with pieces"},
    {.name = "can_remove_fraction",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.3",
        .min = 0.01,
        .max = 1,
        .step = 0.05,
        .text = "most of a hull's volume that cuts may take away"},
    {.name = "can_exceed_fraction",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.5",
        .min = 0,
        .max = 1e9,
        .step = 0.05,
        .text = "how much more volume than its pieces the hull of a cluster may have"},
    {.name = "simplification_threshold",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e300,
        .unit = "m",
        .text = "how far a hull of fewer vertices may stand off from the exact one"},
    {.name = "shrink_percent",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 99.9,
        .step = 1,
        .text = "hulls count as smaller by this while looking for overlaps: less is cut, some overlap stays"},
    {.name = "max_vertices",
        .type = RBL_PARAM_INT,
        .default_json = "64",
        .min = 8,
        .max = 1000000,
        .step = 1,
        .text = "budget of the hulls that are made; a cut may add some"},
    {0},
};

const rbl_node_desc rbli_node_create_non_overlapping_convex_hulls = {
    .size = sizeof(rbl_node_desc),
    .type = "CreateNonOverlappingConvexHulls",
    .version = 1,
    .revision = 3,
    .family = "hulls",
    .text = "Makes convex hulls of pieces and clusters and cuts them apart where they overlap.",
    .details = "Pieces keep the hulls that they have; the others get one. Two hulls that overlap are cut by "
               "one plane in the middle of the\n"
               "overlap, so that nothing starts with a push; where that would take too much of one, they "
               "stay as they are, and a warning\n"
               "counts them. Then each cluster gets the hull of all below it, unless that is much larger "
               "than its pieces, and these are cut\n"
               "where they reach into other clusters of the same level or into pieces beside them, which "
               "stay whole. A cluster that would\n"
               "lose too much has no hull: those of its children stand for it. The same result for any "
               "number of threads.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
