/// Terminal: the end of a graph. Finishes the asset, checks it and writes its files.

#include <string.h>

#include "engine/text.h"
#include "fracture/base/alloc.h"
#include "fracture/base/trace.h"
#include "fracture/base/file.h"
#include "fracture/collection/material.h"
#include "fracture/collection/rbl_file.h"
#include "fracture/io/write.h"
#include "fracture/ops/asset_stats.h"
#include "fracture/ops/finish.h"
#include "fracture/ops/hulls.h"
#include "rubble/node.h"

typedef enum file_kind {
    FILE_RBL,
    FILE_GLB,
    FILE_OBJ,
    FILE_PLY,
    FILE_STL,
    FILE_USDA,
    FILE_USDZ,
    FILE_JSON,
    FILE_UNKNOWN
} file_kind;
static const char *const extensions[] = {
    ".rbl", ".glb", ".obj", ".ply", ".stl", ".usda", ".usdz", ".json", NULL};

static const char *const collider_words[] = {"none", "khr_physics", "ucx", "godot", "usd", NULL};

static const char *const compression_words[] = {"none", "quantize", "meshopt", NULL};

static file_kind kind_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < FILE_UNKNOWN; i++)
        if (strcmp(dot, extensions[i]) == 0) return (file_kind)i;
    return FILE_UNKNOWN;
}

static rbl_status check_name(rbl_context *ctx, rbl_call *call, const rbl_param *param)
{
    const char *name = rbl_param_string(param);
    rbl_status status = rbl_call_check_file_name(ctx, call, param, name);
    if (status != RBL_OK) return status;
    if (kind_of(name) == FILE_UNKNOWN)
        return rbl_call_fail(ctx, call, param, RBL_ERR_ARGUMENT,
            "\"%s\" has no extension that can be written: .rbl, .glb, .obj, .ply, .stl, .usda, .usdz or "
            ".json",
            name);
    return RBL_OK;
}

static void write_count(rbli_text *text, const char *name, size_t count)
{
    rbli_text_printf(text, "\"%s\": %zu, ", name, count);
}

static void write_vector(rbli_text *text, const char *name, const double v[3])
{
    rbli_text_printf(text, ", \"%s\": [", name);
    for (size_t k = 0; k < 3; k++) {
        rbli_text_puts(text, k ? ", " : "");
        rbli_text_json_double(text, v[k]);
    }
    rbli_text_puts(text, "]");
}

static void write_piece(rbli_text *text, const char *name, const rbl_collection *collection,
    const rbli_asset_stats *stats, int32_t bone)
{
    const rbli_buffer *names = rbli_collection_buffer(collection, "bone", "name");
    rbli_text_printf(text, ", \"%s\": {\"name\": ", name);
    rbli_text_json_string(text, rbli_buffer_string(names, (size_t)bone));
    rbli_text_puts(text, ", \"volume\": ");
    rbli_text_json_double(text, stats->bones[bone].volume);
    rbli_text_puts(text, "}");
}

/// The asset's statistics as a JSON object.
static void write_stats(rbli_text *text, const rbl_collection *collection, const rbli_asset_stats *stats)
{
    rbli_text_puts(text, "{");
    write_count(text, "bones", stats->bone_count);
    write_count(text, "clusters", stats->cluster_count);
    write_count(text, "levels", stats->level_count);
    write_count(text, "pieces", stats->all.piece_count);
    write_count(text, "sheets", stats->sheet_count);
    write_count(text, "vertices", stats->all.vertex_count);
    write_count(text, "triangles", stats->all.triangle_count);
    write_count(text, "materials", stats->material_count);
    write_count(text, "hulls", stats->all.hull_count);
    write_count(text, "draw_calls", stats->draw_call_count);
    rbli_text_puts(text, "\"volume\": ");
    rbli_text_json_double(text, stats->all.volume);
    if (stats->smallest_piece >= 0) {
        write_piece(text, "smallest", collection, stats, stats->smallest_piece);
        write_piece(text, "largest", collection, stats, stats->largest_piece);
    }
    if (stats->all.has_bounds) {
        write_vector(text, "min", stats->all.bounds_min);
        write_vector(text, "max", stats->all.bounds_max);
    }
    rbli_text_puts(text, "}");
}

/// Sets the output "stats", so that nobody has to unpack an asset from a cache to know what is in it.
static rbl_status set_stats(
    rbl_context *ctx, rbl_call *call, const rbl_collection *collection, const rbli_asset_stats *stats)
{
    rbl_status status = RBL_OK;
    rbli_text text;
    char *taken = NULL;
    rbl_value *value = NULL;
    rbli_text_init(&text, ctx->allocator);
    write_stats(&text, collection, stats);
    RBL_TRY(rbli_text_take(&text, &taken));
    RBL_TRY(rbl_value_create_string(ctx, taken, &value));
    rbl_call_set_output(call, "stats", value);
done:
    rbli_text_free(&text);
    rbli_free(ctx, taken);
    return status;
}

static rbl_status check(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *files = rbl_call_param(call, "files");
    rbl_status first = RBL_OK;
    for (size_t i = 0; i < rbl_param_count(files); i++) {
        const rbl_param *file = rbl_param_at(files, i);
        rbl_status status = rbl_param_count(file) ? check_name(ctx, call, file) : RBL_OK;
        if (first == RBL_OK) first = status;
    }
    const rbl_param *compression = rbl_call_param(call, "compression");
    if (rbl_param_int(compression) == RBLI_GLB_MESHOPT && !rbli_glb_has_meshopt() && first == RBL_OK)
        first = rbl_call_fail(ctx, call, compression, RBL_ERR_ARGUMENT,
            "this rubble was built without meshoptimizer: \"quantize\" or \"none\"");
    return first;
}

static bool has_kind(const rbl_param *files, file_kind kind)
{
    for (size_t i = 0; i < rbl_param_count(files); i++)
        if (kind_of(rbl_param_string(rbl_param_at(files, i))) == kind) return true;
    return false;
}

/// Warns of colliders that no file of the node can hold.
static void check_colliders(rbl_context *ctx, rbl_call *call)
{
    const rbl_param *files = rbl_call_param(call, "files"), *param = rbl_call_param(call, "colliders");
    rbli_collider_form form = (rbli_collider_form)rbl_param_int(param);
    bool glb = has_kind(files, FILE_GLB), usda = has_kind(files, FILE_USDA) || has_kind(files, FILE_USDZ);
    if (rbl_param_count(files) == 0) return;
    if (form == RBLI_COLLIDERS_NONE) {
        if (usda) rbli_note(ctx, "the .usda holds no physics, since colliders is none");
        return;
    }
    bool held = form == RBLI_COLLIDERS_USD   ? usda
                : form == RBLI_COLLIDERS_UCX ? glb || has_kind(files, FILE_OBJ)
                                             : glb;
    if (!held)
        rbli_warn(ctx, "colliders %s: no file of this node can hold them (%s)", collider_words[form],
            form == RBLI_COLLIDERS_USD   ? ".usda"
            : form == RBLI_COLLIDERS_UCX ? ".glb or .obj"
                                         : ".glb");
}

static bool starts_with_one_of(const char *name, const char *const *starts)
{
    for (; *starts; starts++)
        if (strncmp(name, *starts, strlen(*starts)) == 0) return true;
    return false;
}

static bool ends_with_one_of(const char *name, const char *const *ends)
{
    size_t length = strlen(name);
    for (; *ends; ends++) {
        size_t end = strlen(*ends);
        if (length > end && strcmp(name + length - end, *ends) == 0) return true;
    }
    return false;
}

/// Warns of pieces that an engine's import takes for colliders, since it goes by names.
static void check_piece_names(rbl_context *ctx, rbl_call *call, const rbl_collection *collection)
{
    static const char *const unreal[] = {"UCX_", "UBX_", "USP_", "UCP_", NULL};
    static const char *const godot[] = {"-col", "-colonly", "-convcol", "-convcolonly", "-noimp", NULL};
    rbli_collider_form form = (rbli_collider_form)rbl_param_int(rbl_call_param(call, "colliders"));
    const int32_t *geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32);
    const rbli_buffer *names = rbli_collection_buffer(collection, "bone", "name");
    if (rbl_param_count(rbl_call_param(call, "files")) == 0 || !geometry || !names) return;
    if (form != RBLI_COLLIDERS_UCX && form != RBLI_COLLIDERS_GODOT) return;
    size_t count = 0, first = 0;
    for (size_t b = 0; b < rbli_collection_size(collection, "bone"); b++) {
        const char *name = rbli_buffer_string(names, b);
        bool taken =
            form == RBLI_COLLIDERS_UCX ? starts_with_one_of(name, unreal) : ends_with_one_of(name, godot);
        if (geometry[b] < 0 || !taken) continue;
        if (count++ == 0) first = b;
    }
    if (count)
        rbli_warn(ctx,
            "%zu piece%s by name what %s takes for a collider (first: \"%s\"): rename it in the mesh", count,
            count == 1 ? " is" : "s are", form == RBLI_COLLIDERS_UCX ? "Unreal" : "Godot",
            rbli_buffer_string(names, first));
}

/// Pieces without a hull get one.
static rbl_status add_hulls(rbl_context *ctx, rbl_collection **collection, rbli_asset_stats *stats)
{
    rbl_collection *with_hulls = NULL;
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    options.source = RBLI_HULL_KEEP;
    rbl_status status = rbli_create_leaf_hulls(ctx, *collection, &options, &with_hulls);
    if (status != RBL_OK) return status;
    rbli_collection_release(*collection);
    *collection = with_hulls;
    rbli_asset_stats_recount_hulls(with_hulls, stats);
    return RBL_OK;
}

static rbl_status evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_status status = RBL_OK;
    rbl_collection *finished = NULL;
    rbli_asset_stats stats = {0};
    const rbl_param *files = rbl_call_param(call, "files");
    for (size_t i = 0; i < rbl_param_count(files); i++)
        RBL_TRY(check_name(ctx, call, rbl_param_at(files, i)));
    check_colliders(ctx, call);
    RBLI_PHASE(ctx, "finish",
        rbli_finish_asset(ctx, rbl_call_input_collection(call, "collection"), &finished, &stats));
    if (rbl_param_bool(rbl_call_param(call, "hulls_if_missing")))
        RBLI_PHASE(ctx, "hulls", add_hulls(ctx, &finished, &stats));
    RBLI_PHASE(ctx, "validate", rbli_collection_validate(ctx, finished, RBLI_VALIDATE_CLOSED));
    check_piece_names(ctx, call, finished);
    RBL_TRY(set_stats(ctx, call, finished, &stats));
    rbl_call_set_output_collection(call, "collection", finished);
    finished = NULL;
done:
    rbli_asset_stats_free(ctx, &stats);
    rbli_collection_release(finished);
    return status;
}

static void note_collapsed(
    rbl_context *ctx, const char *name, const char *how, size_t written, size_t collapsed)
{
    if (collapsed)
        rbli_note(ctx, "%s: %zu of %zu triangles collapse in %s and are left out", name, collapsed,
            written + collapsed, how);
}

/// `beside` is what an .obj names as its library, and for the others what names of images begin with.
static rbl_status write_content(rbl_context *ctx, const char *name, const char *beside,
    const rbl_collection *collection, const rbli_glb_options *options, rbli_file_writer *writer)
{
    rbli_collider_form colliders = options->colliders;
    switch (kind_of(name)) {
    case FILE_RBL:
        return rbli_rbl_write(ctx, collection, writer);
    case FILE_OBJ:
        return rbli_write_obj(ctx, collection, beside, colliders, writer);
    case FILE_USDA:
        return rbli_write_usda(ctx, collection, beside, colliders, writer, NULL);
    case FILE_USDZ:
        return rbli_write_usdz(ctx, collection, beside, colliders, writer, NULL);
    case FILE_PLY:
        return rbli_write_ply(ctx, collection, writer);
    case FILE_STL: {
        rbli_stl_report report = {0};
        rbl_status status = rbli_write_stl(ctx, collection, writer, &report);
        if (status == RBL_OK)
            note_collapsed(ctx, name, "single precision", report.triangles, report.collapsed_triangles);
        return status;
    }
    case FILE_JSON:
        return rbli_write_json(ctx, collection, writer);
    case FILE_GLB: {
        rbli_glb_report report = {0};
        rbl_status status = rbli_write_glb(ctx, collection, options, writer, &report);
        if (status == RBL_OK)
            note_collapsed(ctx, name, options->compression ? "16-bit steps" : "single precision",
                report.triangles, report.collapsed_triangles);
        if (status == RBL_OK && report.left_out_images)
            rbli_note(
                ctx, "%s: %zu images are left out, a .glb holds PNG and JPEG", name, report.left_out_images);
        return status;
    }
    default: /* the material library of an .obj */
        return rbli_write_mtl(ctx, collection, beside, writer);
    }
}

static const char *phase_of(const char *name)
{
    static const char *const phases[] = {"write .rbl", "write .glb", "write .obj", "write .ply", "write .stl",
        "write .usda", "write .usdz", "write .json", "write .mtl"};
    _Static_assert(sizeof phases / sizeof *phases == FILE_UNKNOWN + 1, "each kind of file has a phase");
    return phases[kind_of(name)];
}

static rbl_status write_file(
    rbl_context *ctx, rbl_call *call, const char *name, const char *beside, const rbl_collection *collection)
{
    rbl_status status = RBL_OK;
    void *writer = NULL;
    RBL_TRY(rbl_call_open_file(ctx, call, name, &writer));
    rbli_glb_options options = {
        .colliders = (rbli_collider_form)rbl_param_int(rbl_call_param(call, "colliders")),
        .compression = (rbli_glb_compression)rbl_param_int(rbl_call_param(call, "compression")),
        .extras = rbl_param_bool(rbl_call_param(call, "extras"))};
    RBLI_PHASE(ctx, phase_of(name), write_content(ctx, name, beside, collection, &options, writer));
    status = rbl_call_add_file(ctx, call, name, writer);
    writer = NULL; /* taken, also on failure */
done:
    rbli_file_writer_discard(writer);
    return status;
}

static rbl_status write_image(
    rbl_context *ctx, rbl_call *call, const char *stem, const rbl_collection *collection, size_t image)
{
    rbl_status status = RBL_OK;
    void *writer = NULL;
    char *name = rbli_image_file_name(ctx, collection, stem, image, &status);
    if (!name) return status;
    rbli_image_view view = rbli_image_get(collection, image);
    RBL_TRY(rbl_call_open_file(ctx, call, name, &writer));
    rbli_file_writer_write(writer, view.bytes, view.byte_count);
    status = rbl_call_add_file(ctx, call, name, writer);
    writer = NULL; /* taken, also on failure */
done:
    rbli_file_writer_discard(writer);
    rbli_free(ctx, name);
    return status;
}

/// Images that a file shows which are files beside it; freed by the caller. NULL without memory.
static bool *images_beside(rbl_context *ctx, const char *name, const rbl_collection *collection)
{
    if (kind_of(name) == FILE_OBJ) return rbli_mtl_images(ctx, collection);
    if (kind_of(name) == FILE_USDA) return rbli_usda_images(ctx, collection);
    return rbli_calloc(ctx, rbli_collection_size(collection, "image"), sizeof(bool));
}

static char *stem_of(rbl_context *ctx, const char *name)
{
    return rbli_format(ctx, "%.*s", (int)(strrchr(name, '.') - name), name);
}

/// Writes the images beside file `at` of the node, but for those that a file before it with its stem has.
static rbl_status write_images(
    rbl_context *ctx, rbl_call *call, const rbl_param *files, size_t at, const rbl_collection *collection)
{
    rbl_status status = RBL_OK;
    const char *name = rbl_param_string(rbl_param_at(files, at));
    size_t count = rbli_collection_size(collection, "image"), length = (size_t)(strrchr(name, '.') - name);
    char *stem = stem_of(ctx, name);
    bool *used = images_beside(ctx, name, collection), *before = NULL;
    RBL_TRY_ALLOC(stem);
    RBL_TRY_ALLOC(used);
    for (size_t i = 0; i < at; i++) {
        const char *other = rbl_param_string(rbl_param_at(files, i));
        if ((size_t)(strrchr(other, '.') - other) != length || memcmp(name, other, length) != 0) continue;
        RBL_TRY_ALLOC(before = images_beside(ctx, other, collection));
        for (size_t image = 0; image < count; image++)
            used[image] = used[image] && !before[image];
        rbli_free(ctx, before);
        before = NULL;
    }
    for (size_t image = 0; image < count; image++)
        if (used[image]) RBL_TRY(write_image(ctx, call, stem, collection, image));
done:
    rbli_free(ctx, before);
    rbli_free(ctx, used);
    rbli_free(ctx, stem);
    return status;
}

/// Writes one of the node's files with what belongs beside it.
static rbl_status write_with_companions(
    rbl_context *ctx, rbl_call *call, const rbl_param *files, size_t at, const rbl_collection *collection)
{
    rbl_status status = RBL_OK;
    const char *name = rbl_param_string(rbl_param_at(files, at));
    bool library = kind_of(name) == FILE_OBJ;
    char *stem = stem_of(ctx, name), *mtl = NULL;
    RBL_TRY_ALLOC(stem);
    RBL_TRY_ALLOC(mtl = rbli_format(ctx, "%s.mtl", stem));
    if (library) RBL_TRY(write_file(ctx, call, mtl, stem, collection));
    RBL_TRY(write_images(ctx, call, files, at, collection));
    status = write_file(ctx, call, name, library ? mtl : stem, collection);
done:
    rbli_free(ctx, stem);
    rbli_free(ctx, mtl);
    return status;
}

static rbl_status deliver(rbl_context *ctx, rbl_call *call)
{
    const rbl_collection *collection = rbl_value_collection(rbl_call_output(call, "collection"));
    const rbl_param *files = rbl_call_param(call, "files");
    if (!rbl_call_output_folder(call)) return RBL_OK;
    for (size_t i = 0; i < rbl_param_count(files); i++) {
        rbl_status status = write_with_companions(ctx, call, files, i, collection);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

static const rbl_port_desc inputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "what is finished, checked and written"},
    {0},
};
static const rbl_port_desc outputs[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "the finished asset"},
    {.name = "stats",
        .kind = RBL_VALUE_STRING,
        .text =
            "a JSON object that counts and measures it: bones, clusters, levels, pieces, sheets, vertices, "
            "triangles, materials, hulls, draw_calls, volume, smallest, largest, min and max"},
    {0},
};
static const rbl_param_desc params[] = {
    {.name = "files",
        .type = RBL_PARAM_STRING,
        .list = true,
        .default_json = "[]",
        .words = extensions,
        .text =
            "names of files without folders; the extension says the format: .rbl, .glb, .obj, .ply, .stl, "
            ".usda, .usdz, .json"},
    {.name = "hulls_if_missing",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text = "pieces without a convex hull get one, with the defaults of CreateLeafConvexHulls"},
    {.name = "colliders",
        .type = RBL_PARAM_ENUM,
        .words = collider_words,
        .default_json = "\"none\"",
        .text = "how the files say what pieces collide with: khr_physics (.glb), ucx (.glb and .obj, for "
                "Unreal), "
                "godot (.glb), usd (.usda)"},
    {.name = "compression",
        .type = RBL_PARAM_ENUM,
        .words = compression_words,
        .default_json = "\"none\"",
        .text = "of a .glb: quantize (KHR_mesh_quantization, 16-bit positions), meshopt (and "
                "EXT_meshopt_compression)"},
    {.name = "extras",
        .type = RBL_PARAM_BOOL,
        .default_json = "true",
        .text =
            "nodes of a .glb tell level, volume, mass, anchored, threshold and contacts in extras.rubble"},
    {0},
};

const rbl_node_desc rbli_node_terminal = {
    .size = sizeof(rbl_node_desc),
    .type = "Terminal",
    .version = 1,
    .revision = 6, /* also of the writers: the files come from the cache */
    .family = "ends",
    .text = "Ends a graph: one root, levels, volumes and bounds, hulls if missing; checks the asset and "
            "writes its files.",
    .details =
        "A graph may have several. Files are written under temporary names and appear in the output "
        "folder together,\n"
        "when every node of the run has succeeded. A Terminal that cannot write one of its files writes "
        "none of them;\n"
        "the others write theirs. A file that is there already with its content is left alone. An .obj "
        "brings its .mtl\n"
        "and its images, `NAME_image_0.png` and so on, a .usda its images; a .glb and a .usdz hold them, "
        "each once, as they came. "
        "A manifest beside the files lists them with their hashes. [Formats](../formats.md) says what each "
        "format "
        "holds.\n"
        "A .ply (binary) holds all pieces in the world, each triangle with its number of the piece, whose "
        "names "
        "are comments;\n"
        "a .stl (binary) holds nothing but their triangles.\n\n"
        "The shape of a piece is its bone.collider (see SetColliders): its convex hulls, the box around "
        "them, the sphere\n"
        "around the middle of that box which holds them, or none.\n"
        "- `khr_physics`: the draft extensions KHR_physics_rigid_bodies and KHR_implicit_shapes. Each "
        "piece is a body\n"
        "  with mass, centre of mass and principal moments of inertia; one that is static or anchored "
        "does not move.\n"
        "- `ucx`: objects `UCX_NAME_00` beside the piece, `UBX_` for boxes and `USP_` for spheres, as "
        "Unreal reads them.\n"
        "- `godot`: nodes `NAME-convcolonly` below the piece, as Godot's import reads them.\n"
        "- `usd`: a .usda with UsdPhysics: rigid bodies, colliders, and the connection graph as fixed "
        "joints that break.\n"
        "  A .usda also has them with every other word but `none`.\n\n"
        "Pieces without mass (SetMass) are written with that of 2400 kg/m³. Every .glb tells level, volume,\n"
        "mass, anchored, threshold and contacts of a bone in `extras.rubble` of its node, and the connection "
        "graph\n"
        "in that of its scene.",
    .inputs = inputs,
    .outputs = outputs,
    .params = params,
    .check = check,
    .evaluate = evaluate,
    .deliver = deliver,
    .flags = RBL_NODE_ALWAYS_DELIVER | RBL_NODE_KEEPS_FILES,
};
