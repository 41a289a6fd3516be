/// ScatterPoints: random points in a box or in the box of pieces.

#include "engine/value.h"
#include "engine/call.h"
#include "fracture/base/alloc.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/scatter.h"

/// The box given, or that of the pieces.
static rbl_status find_box(rbl_context *ctx, rbl_call *call, double low[3], double high[3])
{
    const rbl_value *box = rbl_call_input(call, "box", 0);
    const rbl_collection *collection = rbl_call_input_collection(call, "collection");
    bool found;
    if (box) {
        rbl_value_box(box, low, high);
        return RBL_OK;
    }
    if (!collection)
        return rbli_fail(
            ctx, RBL_ERR_ARGUMENT, "nothing to scatter in: connect the input \"collection\" or \"box\"");
    rbl_status status = rbli_world_bounds(ctx, collection, NULL, low, high, &found);
    if (status == RBL_OK && !found)
        status = rbli_fail(ctx, RBL_ERR_ARGUMENT, "the collection has no piece to scatter points in");
    return status;
}

static rbl_status read_counts(rbl_context *ctx, rbl_call *call, rbli_scatter_options *options)
{
    const rbl_param *low = rbl_call_param(call, "min_count"), *high = rbl_call_param(call, "max_count");
    options->min_count = options->max_count = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    if (!low && !high) return RBL_OK;
    if (!low || !high)
        return rbl_call_fail(ctx, call, low ? low : high, RBL_ERR_ARGUMENT,
            "min_count and max_count are given together, or neither");
    options->min_count = (size_t)rbl_param_int(low);
    options->max_count = (size_t)rbl_param_int(high);
    if (options->min_count > options->max_count)
        return rbl_call_fail(ctx, call, low, RBL_ERR_ARGUMENT, "min_count %zu is above max_count %zu",
            options->min_count, options->max_count);
    return RBL_OK;
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *root = rbli_params_root(call->params), *inside = rbl_call_param(call, "inside_only");
    rbli_scatter_options options;
    bool collection = rbl_call_input_count(call, "collection"), box = rbl_call_input_count(call, "box");
    if (!collection && !box)
        return rbl_call_fail(ctx, call, NULL, RBL_ERR_ARGUMENT,
            "nothing to scatter in: connect the input \"collection\" or \"box\"");
    if (!collection && rbl_param_bool(inside))
        return rbl_call_fail(
            ctx, call, inside, RBL_ERR_ARGUMENT, "inside_only needs the input \"collection\"");
    if (rbli_param_is_open(root, "min_count") || rbli_param_is_open(root, "max_count")) return RBL_OK;
    return read_counts(ctx, call, &options);
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbli_scatter_options options = rbli_scatter_default_options();
    double low[3], high[3], (*points)[3] = NULL;
    size_t count;
    rbl_value *value = NULL;
    RBL_TRY(read_counts(ctx, call, &options));
    RBL_TRY(find_box(ctx, call, low, high));
    options.seed = (uint32_t)rbl_param_int(rbl_call_param(call, "seed"));
    options.min_distance = rbl_param_float(rbl_call_param(call, "min_distance"));
    options.relax = (int32_t)rbl_param_int(rbl_call_param(call, "relax"));
    if (rbl_param_bool(rbl_call_param(call, "inside_only"))) {
        options.inside = rbl_call_input_collection(call, "collection");
        if (!options.inside)
            return rbl_call_fail(ctx, call, rbl_call_param(call, "inside_only"), RBL_ERR_ARGUMENT,
                "inside_only needs the input \"collection\"");
    }
    RBL_TRY(rbli_scatter_points(ctx, low, high, &options, &points, &count));
    RBL_TRY(rbl_value_create_points(ctx, (const double(*)[3])points, count, &value));
    rbl_call_set_output(call, "points", value);
done:
    rbli_free(ctx, points);
    return status;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection",
        .kind = RBL_VALUE_COLLECTION,
        .optional = true,
        .text = "points fill the box of its pieces, or with inside_only the pieces"},
    {.name = "box", .kind = RBL_VALUE_BOX, .optional = true, .text = "the box to fill instead"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "points", .kind = RBL_VALUE_POINTS, .text = "in world space"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "count",
        .type = RBL_PARAM_INT,
        .default_json = "20",
        .min = 1,
        .max = 100000000,
        .step = 1,
        .text = "how many; the first ones stay when it grows"},
    {.name = "min_count",
        .type = RBL_PARAM_INT,
        .optional = true,
        .min = 1,
        .max = 100000000,
        .text = "with max_count: a number between them, drawn by the seed, instead of count"},
    {.name = "max_count",
        .type = RBL_PARAM_INT,
        .optional = true,
        .min = 1,
        .max = 100000000,
        .text = "see min_count"},
    {.name = "seed", .type = RBL_PARAM_SEED, .default_json = "0", .text = "of the places"},
    {.name = "min_distance",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e300,
        .unit = "m",
        .text = "no two points are nearer to each other"},
    {.name = "relax",
        .type = RBL_PARAM_INT,
        .default_json = "0",
        .min = 0,
        .max = 1000,
        .step = 1,
        .text = "steps of Lloyd: pieces of even size, which random points alone do not give"},
    {.name = "inside_only",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "only points inside the pieces (winding number)"},
    {0},
};

const rbl_node_desc rbli_node_scatter_points = {
    .size = sizeof(rbl_node_desc),
    .type = "ScatterPoints",
    .version = 1,
    .revision = 2,
    .family = "points",
    .text = "Scatters random points in a box or in the box of pieces.",
    .details = "Points are uniform and independent; each depends on the seed and its number alone. A point "
               "that is too "
               "near to\n"
               "another or outside is drawn again; those that find no place are left out with a warning.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
};
