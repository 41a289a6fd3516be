/// What point nodes share: domains, surfaces, the output.

#include "nodes/points/point_node.h"

#include "engine/value.h"
#include "fracture/base/alloc.h"
#include "fracture/ops/proximity.h"

const rbl_port_desc rbli_pattern_inputs[] = {
    {.name = "collection",
        .kind = RBL_VALUE_COLLECTION,
        .optional = true,
        .text = "the pattern goes by the box of its pieces"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "only these pieces count for the box"},
    {.name = "box", .kind = RBL_VALUE_BOX, .optional = true, .text = "a box instead of the collection's"},
    {0},
};
const rbl_port_desc rbli_mesh_points_inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "its pieces get the points"},
    {.name = "selection",
        .kind = RBL_VALUE_SELECTION,
        .optional = true,
        .text = "only these pieces; all when not connected"},
    {0},
};
const rbl_port_desc rbli_points_outputs[] = {
    {.name = "points", .kind = RBL_VALUE_POINTS, .text = "in world space"},
    {0},
};

rbl_status rbli_points_check_box(rbl_context *ctx, rbl_call *call)
{
    if (rbl_call_input_count(call, "collection") || rbl_call_input_count(call, "box")) return RBL_OK;
    return rbl_call_fail(ctx, call, NULL, RBL_ERR_ARGUMENT,
        "there is nothing to fill: connect the input \"collection\" or \"box\"");
}

rbl_status rbli_points_box(rbl_context *ctx, rbl_call *call, double low[3], double high[3], bool *found)
{
    const rbl_collection *collection = rbl_call_input_collection(call, "collection");
    bool exists = rbl_value_box(rbl_call_input(call, "box", 0), low, high);
    if (!exists && collection) {
        rbl_status status = rbli_world_bounds(
            ctx, collection, rbli_call_input_selection(call, "selection"), low, high, &exists);
        if (status != RBL_OK) return status;
        if (!exists)
            return rbli_fail(
                ctx, RBL_ERR_ARGUMENT, "there is no piece at the input \"collection\" to take the box of");
    }
    if (!exists && !found) return rbli_points_check_box(ctx, call);
    if (found) *found = exists;
    return RBL_OK;
}

rbl_status rbli_points_mesh(rbl_context *ctx, rbl_call *call, rbli_leaf_mesh *out)
{
    rbli_leaf_mesh mesh = {0};
    rbl_status status = rbli_leaf_mesh_build(ctx, rbl_call_input_collection(call, "collection"),
        rbli_call_input_selection(call, "selection"), &mesh);
    if (status != RBL_OK) return status;
    if (mesh.triangle_count == 0) {
        rbli_leaf_mesh_free(ctx, &mesh);
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "there is no piece to place points in");
    }
    *out = mesh;
    return RBL_OK;
}

rbl_status rbli_points_finish(rbl_context *ctx, rbl_call *call, double (*points)[3], size_t count)
{
    rbl_value *value = NULL;
    rbl_status status = rbl_value_create_points(ctx, (const double(*)[3])points, count, &value);
    if (status == RBL_OK) rbl_call_set_output(call, "points", value);
    return status;
}

rbl_status rbli_points_tell_missing(rbl_context *ctx, size_t missing, size_t wanted, const char *where)
{
    if (missing == 0) return RBL_OK;
    if (missing == wanted)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "none of %zu points found a place %s", wanted, where);
    rbli_warn(ctx, "%zu of %zu points found no place %s and were left out", missing, wanted, where);
    return RBL_OK;
}

rbl_status rbli_points_range(
    rbl_context *ctx, rbl_call *call, const char *low_name, const char *high_name, double *low, double *high)
{
    const rbl_param *high_param = rbl_call_param(call, high_name);
    *low = rbl_param_float(rbl_call_param(call, low_name));
    *high = rbl_param_float(high_param);
    if (*low > *high)
        return rbl_call_fail(
            ctx, call, high_param, RBL_ERR_ARGUMENT, "%s is smaller than %s", high_name, low_name);
    return RBL_OK;
}
