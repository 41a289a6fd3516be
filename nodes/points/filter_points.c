/// FilterPoints: keeps the points inside or outside of pieces or a box.

#include "fracture/base/alloc.h"
#include "fracture/geometry/winding.h"
#include "nodes/points/point_node.h"

static const char *const keep_words[] = {"inside", "outside", NULL};

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    size_t count, kept = 0;
    const double(*in)[3] = rbl_value_points(rbl_call_input(call, "points", 0), &count);
    bool has_mesh = rbl_call_input_collection(call, "collection") != NULL,
         outside = rbl_param_int(rbl_call_param(call, "keep")) == 1;
    double low[3], high[3], (*points)[3] = NULL;
    bool has_box = rbl_value_box(rbl_call_input(call, "box", 0), low, high);
    rbli_leaf_mesh mesh = {0};
    rbli_winding *winding = NULL;
    if (!has_mesh && !has_box)
        return rbli_fail(
            ctx, RBL_ERR_ARGUMENT, "there is nothing to filter by: connect \"collection\" or \"box\"");
    if (has_mesh) {
        RBL_TRY(rbli_points_mesh(ctx, call, &mesh));
        rbli_mesh_view view = rbli_leaf_mesh_view(&mesh);
        RBL_TRY(rbli_winding_create(ctx, &view, &winding));
    }
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, count, sizeof *points));
    for (size_t i = 0; i < count; i++) {
        bool inside = true, on_surface = false;
        for (int k = 0; k < 3 && has_box; k++)
            inside = inside && low[k] <= in[i][k] && in[i][k] <= high[k];
        if (inside && winding) inside = rbli_winding_number(winding, in[i], &on_surface) > 0 || on_surface;
        if (inside != outside) memcpy(points[kept++], in[i], sizeof *points);
    }
    if (kept == 0 && count > 0) rbli_warn(ctx, "none of %zu points is kept", count);
    RBL_TRY(rbli_points_finish(ctx, call, points, kept));
done:
    rbli_winding_destroy(ctx, winding);
    rbli_leaf_mesh_free(ctx, &mesh);
    rbli_free(ctx, points);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "points", .kind = RBL_VALUE_POINTS, .text = "what is chosen from"},
    {.name = "collection",
        .kind = RBL_VALUE_COLLECTION,
        .optional = true,
        .text = "its pieces are the inside"},
    {.name = "selection", .kind = RBL_VALUE_SELECTION, .optional = true, .text = "only these pieces"},
    {.name = "box", .kind = RBL_VALUE_BOX, .optional = true, .text = "the inside, or a further limit of it"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "keep",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"inside\"",
        .words = keep_words,
        .text = "which points stay"},
    {0},
};

const rbl_node_desc rbli_node_filter_points = {
    .size = sizeof(rbl_node_desc),
    .type = "FilterPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Keeps the points inside or outside of pieces or a box.",
    .details = "Inside pieces means a winding number of at least 1; points on the surface count as "
               "inside. With a box and a collection connected a point must lie inside both to be inside. "
               "Keeping none is a warning.",
    .inputs = inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .evaluate = evaluate,
};
