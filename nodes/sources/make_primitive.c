/// MakePrimitive: a mesh without a file.

#include "fracture/geometry/primitive.h"
#include "fracture/base/alloc.h"
#include "fracture/io/mesh_collection.h"
#include "fracture/ops/surface.h"
#include "rubble/node.h"

static const char *const shape_words[] = {"box", "sphere", "cylinder", "plane_slab", NULL};
_Static_assert(RBLI_PRIMITIVE_BOX == 0 && RBLI_PRIMITIVE_SPHERE == 1 && RBLI_PRIMITIVE_CYLINDER == 2 &&
                   RBLI_PRIMITIVE_PLANE_SLAB == 3,
    "words of shape are in the order of the enum");

/// The primitive as a mesh file of one node, whose arrays are borrowed.
static rbl_status to_collection(
    rbl_context *ctx, const rbli_primitive *primitive, const char *name, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    int32_t *nodes = NULL, *materials = NULL;
    char node_name[16];
    rbl_collection *made = NULL;
    RBL_TRY_ALLOC(nodes = rbli_calloc(ctx, primitive->triangle_count, sizeof *nodes));
    RBL_TRY_ALLOC(materials = rbli_alloc(ctx, primitive->triangle_count, sizeof *materials));
    memset(materials, 0xff, primitive->triangle_count * sizeof *materials);
    strncpy(node_name, name, sizeof node_name - 1);
    node_name[sizeof node_name - 1] = 0;
    rbli_mesh_file_node node = {.name = node_name, .parent = -1};
    for (int k = 0; k < 4; k++)
        node.transform[5 * k] = 1;
    rbli_mesh_file file = {.positions = primitive->positions,
        .position_count = primitive->vertex_count,
        .triangles = primitive->triangles,
        .triangle_nodes = nodes,
        .triangle_materials = materials,
        .triangle_count = primitive->triangle_count,
        .normals = primitive->normals,
        .uvs = {primitive->uvs},
        .uv_set_count = 1,
        .nodes = &node,
        .node_count = 1};
    rbli_mesh_collection_options options = {.scale = 1};
    RBL_TRY(rbli_mesh_collection_create(ctx, &file, &options, &made));
    RBL_TRY(rbli_surface_measure(ctx, made, 0));
    *out = made;
    made = NULL;
done:
    rbli_collection_release(made);
    rbli_free(ctx, nodes);
    rbli_free(ctx, materials);
    return status;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    const rbl_param *shape = rbl_call_param(call, "shape"), *size_param = rbl_call_param(call, "size");
    rbli_primitive primitive = {0};
    rbl_collection *out = NULL;
    double size[3];
    rbl_param_vec3(size_param, size);
    for (int k = 0; k < 3; k++)
        if (!(size[k] > 0))
            return rbl_call_fail(
                ctx, call, size_param, RBL_ERR_ARGUMENT, "each of the three sizes is above 0");
    RBL_TRY(rbli_primitive_make(ctx, (rbli_primitive_shape)rbl_param_int(shape), size,
        (int32_t)rbl_param_int(rbl_call_param(call, "segments")), &primitive));
    RBL_TRY(to_collection(ctx, &primitive, rbl_param_string(shape), &out));
    rbl_call_set_output_collection(call, "collection", out);
done:
    rbli_primitive_free(ctx, &primitive);
    return status;
}

static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "one root cluster with one rigid child"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "shape",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"box\"",
        .words = shape_words,
        .text = "sphere and cylinder stand along y; a plane_slab is a box with grids on top and bottom"},
    {.name = "size",
        .type = RBL_PARAM_VEC3,
        .default_json = "[1, 1, 1]",
        .min = 0,
        .max = 1e100,
        .unit = "m",
        .text = "full extents along the axes, around the origin"},
    {.name = "segments",
        .type = RBL_PARAM_INT,
        .default_json = "32",
        .min = 3,
        .max = 2048,
        .step = 1,
        .text = "steps around, or along a side of a plane_slab; a box has none"},
    {0},
};

const rbl_node_desc rbli_node_make_primitive = {
    .size = sizeof(rbl_node_desc),
    .type = "MakePrimitive",
    .version = 1,
    .revision = 1,
    .family = "sources",
    .text = "Makes a box, sphere, cylinder or plate, so that a graph runs without any file.",
    .details = "The mesh is closed, with normals and UVs; the bone is called after the shape.",
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
};
