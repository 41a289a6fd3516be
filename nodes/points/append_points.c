/// AppendPoints: puts several lists of points into one.

#include "fracture/base/alloc.h"
#include "nodes/points/point_node.h"

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    size_t inputs_count = rbl_call_input_count(call, "points"), all = 0, count, done_count = 0;
    double(*points)[3] = NULL;
    for (size_t i = 0; i < inputs_count; i++) {
        rbl_value_points(rbl_call_input(call, "points", i), &count);
        all += count;
    }
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, all, sizeof *points));
    for (size_t i = 0; i < inputs_count; i++) {
        const double(*list)[3] = rbl_value_points(rbl_call_input(call, "points", i), &count);
        if (count) memcpy(points + done_count, list, count * sizeof *points);
        done_count += count;
    }
    RBL_TRY(rbli_points_finish(ctx, call, points, all));
done:
    rbli_free(ctx, points);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "points", .kind = RBL_VALUE_POINTS, .several = true, .text = "the lists, in this order"},
    {0},
};

const rbl_node_desc rbli_node_append_points = {
    .size = sizeof(rbl_node_desc),
    .type = "AppendPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Puts several lists of points into one.",
    .details = "In the order of the connections; equal points stay (cutters merge them).",
    .inputs = inputs,
    .outputs = rbli_points_outputs,
    .evaluate = evaluate,
};
