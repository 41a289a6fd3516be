/// RecomputeNormals: smooth normals split at sharp edges, and tangents.

#include "fracture/ops/recompute_normals.h"
#include "engine/value.h"
#include "fracture/geometry/elementary.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    const rbl_collection *in = rbl_call_input_collection(call, "collection");
    const rbl_value *selection = rbl_call_input(call, "selection", 0);
    const rbl_param *only_tangents = rbl_call_param(call, "only_tangents");
    bool has_uvs = rbli_collection_buffer(in, "corner", "uv0") != NULL;
    rbli_normals_options options = rbli_normals_default_options();
    options.selection = selection ? rbli_value_get_selection(selection) : NULL;
    options.only_internal = rbl_param_bool(rbl_call_param(call, "only_internal"));
    options.sharp_edge_rad = rbl_param_float(rbl_call_param(call, "sharp_edge_angle")) * (RBLI_PI / 180);
    options.only_tangents = rbl_param_bool(only_tangents);
    if (options.only_tangents && !has_uvs)
        return rbl_call_fail(ctx, call, only_tangents, RBL_ERR_ARGUMENT,
            "the collection has no UVs (corner.uv0) that tangents could follow");
    rbl_status status = rbli_recompute_normals(ctx, in, &options, &out);
    if (status != RBL_OK) return status;
    if (!has_uvs) rbli_note(ctx, "there are no UVs, so no tangents are made");
    rbl_call_set_output_collection(call, "collection", out);
    return RBL_OK;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose normals are made anew"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "the bones whose pieces change; all when not connected"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection",
        .kind = RBL_VALUE_COLLECTION,
        .text = "the same with other corner.normal and corner.tangent"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "only_internal",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "change the faces that cuts made, and keep what the artist gave the others"},
    {.name = "sharp_edge_angle",
        .type = RBL_PARAM_FLOAT,
        .default_json = "60",
        .min = 0,
        .max = 180,
        .step = 5,
        .unit = "deg",
        .text = "edges whose faces turn by more than this stay sharp"},
    {.name = "only_tangents",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "keep the normals, make tangents for them"},
    {0},
};

const rbl_node_desc rbli_node_recompute_normals = {
    .size = sizeof(rbl_node_desc),
    .type = "RecomputeNormals",
    .version = 1,
    .revision = 2,
    .family = "cleanup",
    .text = "Makes normals and tangents anew: smooth, split at sharp edges.",
    .details = "Rough cuts (noise) look smooth with it: a cutter gives each of their faces a flat normal. "
               "Normals are means of the\n"
               "faces around a vertex, weighted by their angles; slivers follow their neighbours. The edge "
               "between a cut and the\n"
               "outside is always sharp. Tangents follow corner.uv0 as MikkTSpace defines them, with glTF's "
               "sign, and are written\n"
               "to .glb and .rbl. Pieces that have no tangents yet get them on all faces.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
