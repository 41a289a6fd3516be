/// MakePoints: points given by hand or in a file.

#include <math.h>

#include "engine/call.h"
#include "fracture/base/alloc.h"
#include "fracture/base/file.h"
#include "fracture/io/points_json.h"
#include "rubble/node.h"

static rbl_status read_file(rbl_context *ctx, const char *path, double (**points)[3], size_t *count)
{
    uint8_t *bytes = NULL;
    size_t byte_count;
    rbl_status status = rbli_file_read(ctx, path, RBLI_MOST_FILE_BYTES, &bytes, &byte_count);
    if (status == RBL_OK)
        status = rbli_read_points_json(ctx, path, (const char *)bytes, byte_count, points, count);
    rbli_free(ctx, bytes);
    return status;
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *list = rbl_call_param(call, "points"), *file = rbl_call_param(call, "file");
    bool has_file = file || rbli_param_is_open(rbli_params_root(call->params), "file");
    if (!list == !has_file)
        return rbl_call_fail(ctx, call, file, RBL_ERR_ARGUMENT,
            has_file ? "points are given twice: give points or file"
                     : "no points are given: give points or file");
    if (list && rbl_param_count(list) == 0)
        return rbl_call_fail(ctx, call, list, RBL_ERR_ARGUMENT, "the list of points is empty");
    return RBL_OK;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = check(ctx, call);
    if (status != RBL_OK) return status;
    const rbl_param *list = rbl_call_param(call, "points"), *file = rbl_call_param(call, "file");
    double(*points)[3] = NULL;
    size_t count = 0;
    rbl_value *value = NULL;
    if (file) {
        RBL_TRY(read_file(ctx, rbl_param_string(file), &points, &count));
    } else {
        count = rbl_param_count(list);
        RBL_TRY_ALLOC(points = rbli_alloc(ctx, count, sizeof *points));
        for (size_t i = 0; i < count; i++)
            rbl_param_vec3(rbl_param_at(list, i), points[i]);
    }
    if (count == 0) {
        status = rbl_call_fail(ctx, call, file, RBL_ERR_ARGUMENT, "the list of points is empty");
        goto done;
    }
    RBL_TRY(rbl_value_create_points(ctx, (const double(*)[3])points, count, &value));
    rbl_call_set_output(call, "points", value);
done:
    rbli_free(ctx, points);
    return status;
}

static const rbl_port_desc outputs[] = {
    {.name = "points", .kind = RBL_VALUE_POINTS, .text = "the points in the order given"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "points",
        .type = RBL_PARAM_VEC3,
        .list = true,
        .optional = true,
        .unit = "m",
        .text = "[[x, y, z], …]"},
    {.name = "file",
        .type = RBL_PARAM_PATH,
        .optional = true,
        .text = "a JSON file that holds such a list instead"},
    {0},
};

const rbl_node_desc rbli_node_make_points = {
    .size = sizeof(rbl_node_desc),
    .type = "MakePoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Gives points written by hand or in a file.",
    .details =
        "An empty list, a number that is not finite and anything that is not a list of points are errors.",
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
};
