/// AutoUnwrapUV: charts packed into the unit square.

#include "fracture/ops/unwrap.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbli_unwrap_report report = {0};
    rbli_unwrap_target target = {(rbli_unwrap_faces)rbl_param_int(rbl_call_param(call, "faces")),
        (int)rbl_param_int(rbl_call_param(call, "channel"))};
    int missing = rbli_missing_uv_channel(rbl_call_input_collection(call, "collection"), target.channel);
    if (missing >= 0)
        return rbl_call_fail(ctx, call, rbl_call_param(call, "channel"), RBL_ERR_ARGUMENT,
            "channel %d would leave a gap: there is no UV set %d", target.channel, missing);
    double scale = rbl_param_float(rbl_call_param(call, "scale"));
    rbl_status status = rbli_auto_unwrap_uv(ctx, rbl_call_input_collection(call, "collection"), &target,
        scale, rbl_param_float(rbl_call_param(call, "gutter")),
        (double)rbl_param_int(rbl_call_param(call, "resolution")), &report, &out);
    if (status != RBL_OK) return status;
    if (report.chart_count == 0)
        rbli_note(ctx, "there is no face to unwrap%s",
            target.faces == RBLI_UNWRAP_INTERNAL ? ": no cut has made one" : "");
    else
        rbli_note(ctx, "%zu chart%s, %.4g pixels a length, %.0f %% of the square used", report.chart_count,
            report.chart_count == 1 ? "" : "s", report.density, 100 * report.used);
    rbl_call_set_output_collection(call, "collection", out);
    return RBL_OK;
}

static const char *const face_words[] = {"internal", "all", NULL};

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
        .min = 1e-6,
        .max = 1,
        .step = 0.05,
        .text = "side of the square that is filled, from the corner (0, 0)"},
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
    {.name = "gutter",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0,
        .max = 256,
        .step = 1,
        .unit = "px",
        .text = "between two charts; half of it to the border"},
    {.name = "resolution",
        .type = RBL_PARAM_INT,
        .default_json = "1024",
        .min = 16,
        .max = 65536,
        .step = 1,
        .unit = "px",
        .text = "side of the texture that the gutter is measured in"},
    {0},
};

const rbl_node_desc rbli_node_auto_unwrap_uv = {
    .size = sizeof(rbl_node_desc),
    .type = "AutoUnwrapUV",
    .version = 1,
    .revision = 1,
    .family = "cleanup",
    .text = "Unfolds faces into charts and packs them into one square without overlap.",
    .details = "For baked textures: each spot of the surface has a place of its own. A planar cut makes one "
               "chart for each piece\n"
               "that it touches; other faces are divided where they turn by more than 45°. All charts have "
               "the same texels a\n"
               "length; inside a curved chart they differ by at most a fifth. Tangents of these faces, where "
               "there are any, follow\n"
               "UV set 0.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
