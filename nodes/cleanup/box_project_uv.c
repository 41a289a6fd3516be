/// BoxProjectUV: UVs projected along the axes.

#include "fracture/ops/unwrap.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_unwrap_target target = {(rbli_unwrap_faces)rbl_param_int(rbl_call_param(call, "faces")),
        (int)rbl_param_int(rbl_call_param(call, "channel"))};
    int missing = rbli_missing_uv_channel(rbl_call_input_collection(call, "collection"), target.channel);
    if (missing >= 0)
        return rbl_call_fail(ctx, call, rbl_call_param(call, "channel"), RBL_ERR_ARGUMENT,
            "channel %d would leave a gap: there is no UV set %d", target.channel, missing);
    rbl_status status = rbli_box_project_uv(ctx, rbl_call_input_collection(call, "collection"), &target,
        rbl_param_float(rbl_call_param(call, "scale")), &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const char *const face_words[] = {"internal", "all", NULL};
_Static_assert(
    RBLI_UNWRAP_INTERNAL == 0 && RBLI_UNWRAP_ALL == 1, "words of faces are in the order of the enum");

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose faces get UVs"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with other UVs"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "scale",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 1e-9,
        .max = 1e9,
        .step = 0.1,
        .unit = "1/m",
        .text = "UV units a length: at 1 the texture covers a metre"},
    {.name = "faces",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"internal\"",
        .words = face_words,
        .text = "the faces that cuts made, or all"},
    {.name = "channel",
        .type = RBL_PARAM_INT,
        .default_json = "0",
        .min = 0,
        .max = 7,
        .step = 1,
        .text = "which UV set; a new one only behind those that exist"},
    {0},
};

const rbl_node_desc rbli_node_box_project_uv = {
    .size = sizeof(rbl_node_desc),
    .type = "BoxProjectUV",
    .version = 1,
    .revision = 1,
    .family = "cleanup",
    .text = "Gives faces UVs by projection along the axis that they face most.",
    .details =
        "For textures that repeat: neighbours of one direction fit together across pieces. Upright and "
        "not mirrored, seen\n"
        "from outside. Tangents of these faces, where there are any, follow UV set 0.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
