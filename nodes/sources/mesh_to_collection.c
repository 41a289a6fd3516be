/// MeshToCollection: a mesh file becomes closed solids, one bone a mesh node.

#include "fracture/base/alloc.h"
#include "fracture/base/trace.h"
#include "fracture/io/mesh_collection.h"
#include "fracture/ops/solidify.h"
#include "rubble/mesh.h"

/// Passes on what the reader said.
static void pass_messages(rbl_context *ctx, const rbli_mesh_file *file)
{
    for (size_t i = 0; i < file->message_count; i++) {
        if (file->messages[i].severity == RBLI_WARNING)
            rbli_warn(ctx, "%s", file->messages[i].text);
        else
            rbli_note(ctx, "%s", file->messages[i].text);
    }
}

/// The collection of a mesh that the host bound: its arrays in the form of a mesh file, not copied.
static rbl_status from_host(rbl_context *ctx, const rbl_mesh_desc *mesh,
    const rbli_mesh_collection_options *options, rbl_collection **out)
{
    rbli_mesh_file_node node = {.name = (char *)mesh->name, .parent = -1};
    node.transform[0] = node.transform[5] = node.transform[10] = node.transform[15] = 1;
    rbli_mesh_file file = {.positions = (void *)mesh->positions.data,
        .position_count = mesh->vertex_count,
        .triangles = (void *)mesh->indices,
        .triangle_materials = (void *)mesh->materials,
        .triangle_count = mesh->triangle_count,
        .normals = (void *)mesh->normals.data,
        .tangents = (void *)mesh->tangents.data,
        .colors = (void *)mesh->colors.data,
        .nodes = &node,
        .node_count = 1,
        .material_count = mesh->material_count};
    for (; file.uv_set_count < RBL_MESH_UV_SETS && mesh->uvs[file.uv_set_count].data; file.uv_set_count++)
        file.uvs[file.uv_set_count] = (void *)mesh->uvs[file.uv_set_count].data;
    rbl_status status = RBL_OK;
    file.triangle_nodes = rbli_calloc(ctx, mesh->triangle_count, sizeof *file.triangle_nodes);
    file.materials = rbli_calloc(ctx, mesh->material_count, sizeof *file.materials);
    RBL_TRY_ALLOC(file.triangle_nodes);
    RBL_TRY_ALLOC(file.materials);
    for (size_t i = 0; i < mesh->material_count; i++)
        file.materials[i] = (rbli_mesh_file_material){
            (char *)mesh->material_names[i], {1, 1, 1, 1}, "", rbli_material_default()};
    status = rbli_mesh_collection_create(ctx, &file, options, out);
done:
    rbli_free(ctx, file.triangle_nodes);
    rbli_free(ctx, file.materials);
    return status;
}

/// The collection of the file that the node names.
static rbl_status from_file(
    rbl_context *ctx, rbl_call *call, const rbli_mesh_collection_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbli_mesh_file file = {0};
    const rbl_param *path = rbl_call_param(call, "file");
    bool anywhere = rbl_param_int(rbl_call_param(call, "other_files")) == 1;
    if (!*rbl_param_string(path))
        return rbl_call_fail(
            ctx, call, path, RBL_ERR_ARGUMENT, "no file is named, and the host bound no mesh");
    RBLI_PHASE(ctx, "read file", rbli_mesh_file_read_with(ctx, rbl_param_string(path), anywhere, &file));
    for (size_t i = 0; i < file.file_count; i++)
        RBL_TRY(rbl_call_read_file(ctx, call, file.files[i]));
    pass_messages(ctx, &file);
    RBLI_PHASE(ctx, "make collection", rbli_mesh_collection_create(ctx, &file, options, out));
done:
    rbli_mesh_file_free(ctx, &file);
    return status;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbl_mesh_desc mesh;
    rbl_collection *raw = NULL, *solid = NULL;
    rbli_mesh_collection_options as_file = {.scale = rbl_param_float(rbl_call_param(call, "scale")),
        .up_axis_z = rbl_param_int(rbl_call_param(call, "up_axis")) == 1};
    rbli_solidify_options options = rbli_solidify_default_options();
    options.split_components = rbl_param_bool(rbl_call_param(call, "split_components"));
    options.sheets = (rbli_sheets)rbl_param_int(rbl_call_param(call, "sheets"));
    options.thickness = rbl_param_float(rbl_call_param(call, "thickness"));
    options.join = (rbli_join)rbl_param_int(rbl_call_param(call, "join"));
    options.details = rbl_param_bool(rbl_call_param(call, "details"));
    options.strict = rbl_param_bool(rbl_call_param(call, "strict"));
    options.repair.stitch = rbl_param_float(rbl_call_param(call, "stitch"));
    options.repair.fill = (rbli_fill)rbl_param_int(rbl_call_param(call, "fill"));
    options.repair.nested_cavity = rbl_param_int(rbl_call_param(call, "nested")) == 1;
    if (!(as_file.scale > 0))
        return rbl_call_fail(
            ctx, call, rbl_call_param(call, "scale"), RBL_ERR_ARGUMENT, "scale must be greater than 0");

    if (rbl_call_mesh(call, &mesh))
        RBL_TRY(from_host(ctx, &mesh, &as_file, &raw));
    else
        RBL_TRY(from_file(ctx, call, &as_file, &raw));
    RBL_TRY(rbli_solidify(ctx, raw, &options, &solid));
    rbl_call_set_output_collection(call, "collection", solid);
done:
    rbli_collection_release(raw);
    return status;
}

static const char *const fill_words[] = {"none", "planar", "auto", "all", NULL};
static const char *const nested_words[] = {"solid", "cavity", NULL};
static const char *const join_words[] = {"none", "node", "scene", NULL};
static const char *const sheet_words[] = {"attach", "separate", "drop", "thicken", NULL};
static const char *const place_words[] = {"below", "anywhere", NULL};
static const char *const up_words[] = {"y", "z", NULL};
_Static_assert(RBLI_FILL_NONE == 0 && RBLI_FILL_PLANAR == 1 && RBLI_FILL_AUTO == 2 && RBLI_FILL_ALL == 3,
    "words of fill are in the order of the enum");

static const rbl_port_desc outputs[] = {
    {.name = "collection",
        .kind = RBL_VALUE_COLLECTION,
        .text = "one root cluster with one rigid child a mesh node"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "file",
        .type = RBL_PARAM_PATH,
        .text =
            "an .obj, .stl, .ply, .off, .glb, .gltf, .fbx, .dae or .3mf file; \"\" when a host binds a mesh"},
    {.name = "other_files",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"below\"",
        .words = place_words,
        .text =
            "where files that the mesh names (.mtl, buffers, images) are read: in its folder and below, or "
            "wherever they are"},
    {.name = "split_components",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "one bone for each connected solid instead of one for each mesh node"},
    {.name = "scale",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1",
        .min = 0,
        .max = 1e12,
        .text = "positions are multiplied by it (0.01: centimetres to metres)"},
    {.name = "up_axis",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"y\"",
        .words = up_words,
        .text = "the axis that points up in the file; z is turned to y"},
    {.name = "stitch",
        .type = RBL_PARAM_FLOAT,
        .default_json = "1e-6",
        .min = 0,
        .max = 0.1,
        .text = "border vertices closer than this, times the diagonal, are joined; 0: only equal ones"},
    {.name = "fill",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"auto\"",
        .words = fill_words,
        .text = "which holes are closed"},
    {.name = "join",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"node\"",
        .words = join_words,
        .text = "which solids become one where they overlap or touch: none, those of a node, or all of the "
                "scene"},
    {.name = "nested",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"solid\"",
        .words = nested_words,
        .text = "an outward shell inside another: swallowed by the solid, or taken as its cavity"},
    {.name = "sheets",
        .type = RBL_PARAM_ENUM,
        .default_json = "\"attach\"",
        .words = sheet_words,
        .text =
            "shells that cannot be closed, and two-sided ones: children of the solid of their node, bones "
            "of their own, left out, or made solids of the thickness"},
    {.name = "thickness",
        .type = RBL_PARAM_FLOAT,
        .default_json = "0",
        .min = 0,
        .max = 1e12,
        .text = "of thickened sheets; 0: 1 % of the diagonal"},
    {.name = "details",
        .type = RBL_PARAM_BOOL,
        .default_json = "false",
        .text = "lists what was found as groups `shell` and `hole` of the collection"},
    {.name = "strict", .type = RBL_PARAM_BOOL, .default_json = "false", .text = "any repair is an error"},
    {0},
};

const rbl_node_desc rbli_node_mesh_to_collection = {
    .size = sizeof(rbl_node_desc),
    .type = "MeshToCollection",
    .version = 1,
    .revision = 5,
    .family = "sources",
    .text = "Reads a mesh file and makes closed solids of it, one bone a mesh node.",
    .details =
        "Equal vertices are welded, cracks stitched, duplicate and back-to-back faces dropped, shells "
        "oriented and holes\n"
        "filled; every repair is a warning that says what was done. Materials, UVs, normals, colours "
        "and node names are\n"
        "kept, and so are the textures of materials with the bytes of their images. Other files that the "
        "mesh "
        "names (.mtl, buffers\n"
        "of glTF, images) are read when they are in its folder or below; images, together 64 MiB at most. "
        "One "
        "that is missing\n"
        "or elsewhere is a warning, a buffer an error. FBX, DAE and 3MF are turned into metres with y up, as "
        "the file "
        "says, and\n"
        "read by the program `rubble-import`, which may be missing.\n"
        "Faces that fill holes get the material `filled`. A shell that cannot be closed is kept as a "
        "sheet, a bone\n"
        "that counts for no volume (`sheet` is true); what of it lies inside the solid goes when that is "
        "cut. Solids of a\n"
        "node that overlap become one. A mesh without any solid is an error, unless sheets are separate or "
        "thickened.\n"
        "`rubble inspect FILE` lists what was found, shell by shell, and the settings that would change it.",
    .outputs = outputs,
    .params = params,
    .evaluate = evaluate,
    .flags = RBL_NODE_TAKES_MESH,
};
