/// DensityPoints: places points inside the pieces, more of them where the surface is painted.

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/volume_points.h"
#include "fracture/io/image_read.h"
#include "nodes/points/point_node.h"

static const char *const channel_words[] = {"mean", "red", "green", "blue", "alpha", NULL};

/// What is painted: numbers of corners, or an image and the texture coordinates.
typedef struct paint {
    double (*numbers)[3]; /* [triangle] */
    rbli_image image;
    const float (*uv)[2]; /* [corner of the collection] */
    const int32_t *faces; /* [triangle] */
    int channel;
    double largest;
} paint;

static double density_at(void *user, size_t triangle, const double weights[3])
{
    const paint *p = user;
    if (p->numbers)
        return p->numbers[triangle][0] * weights[0] + p->numbers[triangle][1] * weights[1] +
               p->numbers[triangle][2] * weights[2];
    const float(*uv)[2] = p->uv + 3 * (size_t)p->faces[triangle];
    double at[2];
    for (int k = 0; k < 2; k++)
        at[k] = (double)uv[0][k] * weights[0] + (double)uv[1][k] * weights[1] + (double)uv[2][k] * weights[2];
    return rbli_image_sample(&p->image, at[0], at[1], p->channel);
}

static rbl_status read_image(rbl_context *ctx, rbl_call *call, const rbl_param *param,
    const rbl_collection *collection, const rbli_leaf_mesh *mesh, paint *out)
{
    out->uv = rbli_collection_read(collection, "corner", "uv0", RBL_FLOAT_2);
    out->faces = mesh->faces;
    out->largest = 1;
    if (!out->uv)
        return rbl_call_fail(ctx, call, param, RBL_ERR_ARGUMENT,
            "the mesh has no texture coordinates (corner.uv0) to place an image by");
    rbl_status status = rbli_image_read(ctx, rbl_param_string(param), &out->image);
    if (status != RBL_OK && status != RBL_ERR_NO_MEMORY)
        rbl_call_fail(ctx, call, param, status, "the image cannot be used");
    return status;
}

static rbl_status read_attribute(rbl_context *ctx, rbl_call *call, const rbl_param *param,
    const rbl_collection *collection, const rbli_leaf_mesh *mesh, paint *out)
{
    rbl_status status =
        rbli_leaf_mesh_numbers(ctx, collection, mesh, rbl_param_string(param), out->channel, &out->numbers);
    if (status == RBL_ERR_NOT_FOUND || status == RBL_ERR_TYPE)
        return rbl_call_fail(ctx, call, param, status, "nothing is painted by this attribute");
    if (status != RBL_OK) return status;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            if (isfinite(out->numbers[t][c]))
                out->largest = fmax(out->largest, out->numbers[t][c]);
            else
                out->numbers[t][c] = 0;
    if (out->largest > 0) return RBL_OK;
    return rbl_call_fail(ctx, call, param, RBL_ERR_ARGUMENT,
        "attribute \"%s\" is nowhere above 0: nothing is painted", rbl_param_string(param));
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    const rbl_collection *collection = rbl_call_input_collection(call, "collection");
    rbli_leaf_mesh mesh = {0}, surface = {0};
    double(*points)[3] = NULL;
    size_t count, missing, wanted = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    paint painted = {.channel = (int)rbl_param_int(rbl_call_param(call, "channel")) - 1};
    const rbl_param *image = rbl_call_param(call, "image"), *attribute = rbl_call_param(call, "attribute");
    RBL_TRY(rbli_points_mesh(ctx, call, &mesh));
    RBL_TRY(rbli_points_mesh(ctx, call, &surface));
    rbli_leaf_mesh_drop_internal(collection, &surface);
    if (image)
        RBL_TRY(read_image(ctx, call, image, collection, &surface, &painted));
    else
        RBL_TRY(read_attribute(ctx, call, attribute, collection, &surface, &painted));
    rbli_mesh_view view = rbli_leaf_mesh_view(&mesh), painted_view = rbli_leaf_mesh_view(&surface);
    RBL_TRY(rbli_density_points(ctx, &view, &painted_view, density_at, &painted, painted.largest, wanted,
        (uint32_t)rbl_param_int(rbl_call_param(call, "seed")), &points, &count, &missing));
    RBL_TRY(rbli_points_tell_missing(ctx, missing, wanted, "in the painted part"));
    RBL_TRY(rbli_points_finish(ctx, call, points, count));
done:
    rbli_leaf_mesh_free(ctx, &mesh);
    rbli_leaf_mesh_free(ctx, &surface);
    rbli_image_free(ctx, &painted.image);
    rbli_free(ctx, painted.numbers);
    rbli_free(ctx, points);
    return status;
}

static const rbl_param_desc params[] = {
    {.name = "attribute",
        .type = RBL_PARAM_STRING,
        .default_json = "\"color\"",
        .text = "of corners, vertices, faces or bones; a colour or a number"},
    {.name = "image",
        .type = RBL_PARAM_PATH,
        .optional = true,
        .text = "a PNG file instead of the attribute, by uv0"},
    {.name = "channel",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"mean\"",
        .words = channel_words,
        .text = "of colours: the mean of red, green and blue, or one of them"},
    {.name = "count",
        .type = RBL_PARAM_INT,
        .default_json = "60",
        .min = 1,
        .max = 1000000,
        .step = 1,
        .text = "how many"},
    {.name = "seed",
        .type = RBL_PARAM_SEED,
        .default_json = "0",
        .text = "of everything random in this node"},
    {0},
};

const rbl_node_desc rbli_node_density_points = {
    .size = sizeof(rbl_node_desc),
    .type = "DensityPoints",
    .version = 1,
    .revision = 1,
    .family = "points",
    .text = "Places points inside the pieces, more of them where the surface is painted.",
    .details = "The density at a point is the value painted at the nearest spot of the exterior surface: an "
               "attribute of corners, vertices, faces or bones (the first that has the name), or the "
               "value of a PNG image at its texture coordinates uv0. Nothing painted at all is an error; "
               "unpainted parts get no points: add some with AppendPoints. Values below 0 count as 0.",
    .inputs = rbli_mesh_points_inputs,
    .outputs = rbli_points_outputs,
    .params = params,
    .evaluate = evaluate,
};
