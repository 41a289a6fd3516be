/// SelectBySize: chooses bones by the diagonal of their bounds, relative to that of the largest piece.

#include "nodes/selections/select_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    return rbli_select_by_share(ctx, call, RBLI_MEASURE_SIZE);
}

const rbl_node_desc rbli_node_select_by_size = {
    .size = sizeof(rbl_node_desc),
    .type = "SelectBySize",
    .version = 1,
    .revision = 1,
    .family = "selections",
    .text = "Chooses bones by the diagonal of their bounds, relative to that of the largest piece.",
    .details = "A bone is chosen when min <= diagonal / (largest diagonal of a piece) <= max. The "
               "diagonal of a cluster is that of all pieces below it, seen as one, so it may be more "
               "than 1. Without a selection it chooses among the pieces (rigid leaves).",
    .inputs = rbli_select_inputs,
    .outputs = rbli_select_outputs,
    .params = rbli_select_share_params,
    .evaluate = evaluate,
};
