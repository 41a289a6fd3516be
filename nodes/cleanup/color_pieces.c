/// ColorPieces: vertex colours that tell pieces apart.

#include "fracture/ops/color_pieces.h"
#include "rubble/node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_color_pieces(ctx, rbl_call_input_collection(call, "collection"),
        (rbli_color_by)rbl_param_int(rbl_call_param(call, "by")),
        (uint32_t)rbl_param_int(rbl_call_param(call, "seed")), &out);
    if (status == RBL_OK) rbl_call_set_output_collection(call, "collection", out);
    return status;
}

static const char *const by_words[] = {"level", "bone", "cluster", "volume", "material", NULL};
_Static_assert(RBLI_COLOR_LEVEL == 0 && RBLI_COLOR_BONE == 1 && RBLI_COLOR_CLUSTER == 2 &&
                   RBLI_COLOR_VOLUME == 3 && RBLI_COLOR_MATERIAL == 4,
    "words of by are in the order of the enum");

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "whose faces get colours"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the same with corner.color"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "by",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"bone\"",
        .words = by_words,
        .text = "what shares a colour; volume goes from blue (small) to red (the largest)"},
    {.name = "seed", .type = RBL_PARAM_SEED, .default_json = "0", .text = "of the hues"},
    {0},
};

const rbl_node_desc rbli_node_color_pieces = {
    .size = sizeof(rbl_node_desc),
    .type = "ColorPieces",
    .version = 1,
    .revision = 1,
    .family = "cleanup",
    .text = "Gives pieces colours that tell them apart, for looking.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
