/// FixTinyGeo: joins pieces that are too small to neighbours.

#include "engine/call.h"
#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "fracture/ops/fix_tiny.h"

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *use = rbl_call_param(call, "use_selection");
    if (rbli_param_is_open(rbli_params_root(call->params), "use_selection") ||
        rbl_param_int(use) == RBLI_TINY_USE_NONE || rbl_call_input_count(call, "selection"))
        return RBL_OK;
    return rbl_call_fail(
        ctx, call, use, RBL_ERR_ARGUMENT, "there is no selection to use: connect the input \"selection\"");
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_fix_tiny_result made = {0};
    rbl_value *value = NULL;
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    options.selection = rbli_call_input_selection(call, "selection");
    options.merge = (rbli_tiny_merge)rbl_param_int(rbl_call_param(call, "merge"));
    options.select_by = (rbli_tiny_select)rbl_param_int(rbl_call_param(call, "select_by"));
    options.relative_volume = rbl_param_float(rbl_call_param(call, "relative_volume"));
    options.min_volume_cube_root = rbl_param_float(rbl_call_param(call, "min_volume_cube_root"));
    options.neighbor = (rbli_tiny_neighbor)rbl_param_int(rbl_call_param(call, "neighbor"));
    options.only_connected = rbl_param_bool(rbl_call_param(call, "only_connected"));
    options.only_same_parent = rbl_param_bool(rbl_call_param(call, "only_same_parent"));
    options.on_fracture_level = rbl_param_bool(rbl_call_param(call, "on_fracture_level"));
    options.use_selection = (rbli_tiny_use)rbl_param_int(rbl_call_param(call, "use_selection"));
    rbl_status status = check(ctx, call);
    if (status != RBL_OK) return status;
    status = rbli_fix_tiny(ctx, rbl_call_input_collection(call, "collection"), &options, &made);
    if (status == RBL_OK)
        status = rbl_value_create_selection(ctx, made.collection, made.bones, made.count, &value);
    if (status == RBL_OK) {
        rbl_call_set_output(call, "merged", value);
        rbl_call_set_output_collection(call, "collection", made.collection);
    } else {
        rbli_collection_release(made.collection);
    }
    rbli_free(ctx, made.bones);
    return status;
}

static const char *const merge_words[] = {"geometry", "clusters", NULL};
static const char *const select_words[] = {"relative_volume", "volume_cube_root", NULL};
static const char *const neighbor_words[] = {"largest", "nearest_center", "largest_contact", NULL};
static const char *const use_words[] = {"none", "include", "restrict", NULL};
_Static_assert(RBLI_TINY_GEOMETRY == 0 && RBLI_TINY_CLUSTERS == 1 && RBLI_TINY_RELATIVE_VOLUME == 0 &&
                   RBLI_TINY_VOLUME_CUBE_ROOT == 1 && RBLI_TINY_LARGEST == 0 &&
                   RBLI_TINY_NEAREST_CENTER == 1 && RBLI_TINY_LARGEST_CONTACT == 2 &&
                   RBLI_TINY_USE_NONE == 0 && RBLI_TINY_USE_INCLUDE == 1 && RBLI_TINY_USE_RESTRICT == 2,
    "words are in the order of the enums");

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose rigid leaves are judged"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "pieces, and clusters for all pieces below them: see use_selection"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "with fewer, larger pieces"},
    {.name = "merged",
        .kind = RBL_VALUE_SELECTION,
        .text = "the pieces that took others in; with merge = clusters the new clusters"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "merge",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"geometry\"",
        .words = merge_words,
        .text = "geometry: one closed piece; clusters: the pieces stay, under a common new cluster"},
    {.name = "select_by",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"relative_volume\"",
        .words = select_words,
        .text = "which of the two limits says what is tiny"},
    {.name = "relative_volume",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.01",
        .min = 0,
        .max = 1,
        .step = 0.01,
        .text = "tiny: the cube root of the volume is below this part of the cube root of all volume"},
    {.name = "min_volume_cube_root",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0.01",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "tiny: the cube root of the volume is below this"},
    {.name = "neighbor",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"largest\"",
        .words = neighbor_words,
        .text = "which neighbour a tiny piece joins"},
    {.name = "only_connected",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "only neighbours that touch; else the nearest when none does"},
    {.name = "only_same_parent", .type = RBL_PARAM_BOOL, .default_json = "true", .text = "only siblings"},
    {.name = "on_fracture_level",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "only neighbours on the same level of the hierarchy"},
    {.name = "use_selection",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"none\"",
        .words = use_words,
        .text = "include: selected pieces count as tiny, too; restrict: no others do"},
    {0},
};

const rbl_node_desc rbli_node_fix_tiny_geo = {
    .size = sizeof(rbl_node_desc),
    .type = "FixTinyGeo",
    .version = 1,
    .revision = 4,
    .family = "cleanup",
    .text = "Joins pieces that are too small to a neighbour.",
    .details =
        "Always the smallest piece next joins a neighbour, whatever the order of the pieces, until none is "
        "tiny "
        "or none that is has\na neighbour. A union is a real one: the facets between the pieces disappear, "
        "the "
        "result is closed and volumes add up; it\nkeeps the bone of its largest piece, and the masses and "
        "contacts of all. A piece that shares no whole facets with its\nneighbours, which pieces of one cut "
        "do, "
        "stays; how many stayed and why is told in warnings. Hulls of pieces that grew are\nremoved.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
};
