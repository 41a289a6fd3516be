/// USD as text: hierarchy, meshes and materials. The physics are in usda_physics.c.

#include <math.h>
#include <stdio.h>

#include "fracture/base/hash.h"
#include "fracture/io/number_text.h"
#include "fracture/io/usda_writer.h"

/* ---- text ---- */

void rbli_usda_indent(usda_writer *w, size_t depth)
{
    static const char spaces[] = "                                        ";
    size_t count = 4 * depth < sizeof spaces - 1 ? 4 * depth : sizeof spaces - 1;
    rbli_put_bytes(&w->text, spaces, count);
}

void rbli_usda_line(usda_writer *w, size_t depth, const char *text)
{
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, text);
    rbli_put(&w->text, "\n");
}

static void put_number(usda_writer *w, double value, bool wide)
{
    if (wide)
        rbli_put_double(&w->text, value);
    else
        rbli_put_float(&w->text, (float)value);
}

static void put_tuple(usda_writer *w, const double *values, int count, bool wide)
{
    for (int k = 0; k < count; k++) {
        char piece[RBLI_NUMBER_TEXT_BYTES + 4], *at = piece;
        *at++ = k ? ',' : '(';
        if (k) *at++ = ' ';
        at += wide ? rbli_double_text(values[k], at) : rbli_float_text((float)values[k], at);
        if (k + 1 == count) *at++ = ')';
        rbli_put_bytes(&w->text, piece, (size_t)(at - piece));
    }
}

void rbli_usda_put_vector(usda_writer *w, size_t depth, const char *name, const double v[3], bool wide)
{
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, name);
    rbli_put(&w->text, " = ");
    put_tuple(w, v, 3, wide);
    rbli_put(&w->text, "\n");
}

void rbli_usda_put_scalar(usda_writer *w, size_t depth, const char *name, double value)
{
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, name);
    rbli_put(&w->text, " = ");
    put_number(w, value, false);
    rbli_put(&w->text, "\n");
}

void rbli_usda_put_extent(usda_writer *w, size_t depth, const double low[3], const double high[3])
{
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, "float3[] extent = [");
    put_tuple(w, low, 3, false);
    rbli_put(&w->text, ", ");
    put_tuple(w, high, 3, false);
    rbli_put(&w->text, "]\n");
}

/// A string in quotes; control characters become underscores.
static void put_string(usda_writer *w, const char *string)
{
    rbli_put(&w->text, "\"");
    for (const char *p = string; *p; p++) {
        if (*p == '"' || *p == '\\') rbli_put_bytes(&w->text, "\\", 1);
        rbli_put_bytes(&w->text, (unsigned char)*p < 32 ? "_" : p, 1);
    }
    rbli_put(&w->text, "\"");
}

void rbli_usda_put_path(usda_writer *w, size_t bone)
{
    size_t count = 0;
    for (int32_t b = (int32_t)bone; b >= 0; b = w->view.parent[b])
        w->path[count++] = b;
    rbli_put(&w->text, "</Asset");
    while (count > 0) {
        rbli_put_bytes(&w->text, "/", 1);
        rbli_put(&w->text, w->bone_names[w->path[--count]]);
    }
    rbli_put(&w->text, ">");
}

/* ---- names ---- */

/// Names given so far; open addressing, names are borrowed.
typedef struct name_set {
    char **slots;
    size_t slot_count; /* a power of two */
} name_set;

static bool set_add(name_set *set, char *name)
{
    size_t at = rbli_hash64(name, strlen(name)) & (set->slot_count - 1);
    for (; set->slots[at]; at = (at + 1) & (set->slot_count - 1))
        if (strcmp(set->slots[at], name) == 0) return false;
    set->slots[at] = name;
    return true;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Prims of ours within those of bones.
static bool is_taken(const char *name)
{
    return strcmp(name, "mesh") == 0 || strncmp(name, "collider", 8) == 0 || strcmp(name, "Looks") == 0 ||
           strcmp(name, "Joints") == 0;
}

/// An identifier like a name, different from all in the set.
static rbl_status make_name(rbl_context *ctx, name_set *set, const char *name, char **out)
{
    const char *front = !is_plain(name[0]) || (name[0] >= '0' && name[0] <= '9') || is_taken(name) ? "_" : "";
    char *base = rbli_format(ctx, "%s%s", front, name);
    if (!base) return RBL_ERR_NO_MEMORY;
    for (char *p = base; *p; p++)
        if (!is_plain(*p)) *p = '_';
    char *made = base;
    for (size_t i = 1; !set_add(set, made); i++) {
        if (made != base) rbli_free(ctx, made);
        made = rbli_format(ctx, "%s_%zu", base, i);
        if (!made) break;
    }
    if (made != base) rbli_free(ctx, base);
    *out = made;
    return made ? RBL_OK : RBL_ERR_NO_MEMORY;
}

static rbl_status make_names(usda_writer *w, const char *group, size_t count, char ***out)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = w->ctx;
    name_set set = {.slot_count = 64};
    while (set.slot_count < 2 * count)
        set.slot_count *= 2;
    RBL_TRY_ALLOC(*out = rbli_calloc(ctx, count, sizeof **out));
    RBL_TRY_ALLOC(set.slots = rbli_calloc(ctx, set.slot_count, sizeof *set.slots));
    for (size_t i = 0; i < count; i++)
        RBL_TRY(
            make_name(ctx, &set, rbli_collection_string(w->view.collection, group, "name", i), &(*out)[i]));
done:
    rbli_free(ctx, set.slots);
    return status;
}

/* ---- meshes ---- */

static void put_integers(usda_writer *w, const char *name, const uint32_t *values, size_t count)
{
    rbli_put(&w->text, name);
    rbli_put(&w->text, " = [");
    char part[1024], *at = part;
    for (size_t i = 0; i < count; i++) {
        if (i) *at++ = ',', *at++ = ' ';
        char digits[10];
        size_t first = sizeof digits;
        uint32_t value = values[i];
        do {
            digits[--first] = (char)('0' + value % 10);
            value /= 10;
        } while (value);
        memcpy(at, digits + first, sizeof digits - first);
        at += sizeof digits - first;
        if (at - part < 1000) continue;
        rbli_put_bytes(&w->text, part, (size_t)(at - part));
        at = part;
    }
    rbli_put_bytes(&w->text, part, (size_t)(at - part));
    rbli_put(&w->text, "]\n");
}

/// An indexed face-varying attribute of `shown` numbers, the others of a vector are left out.
static void put_corners(usda_writer *w, size_t depth, const char *type, const char *name, const float *values,
    size_t width, int shown, size_t first, size_t count, bool flip)
{
    char line[80];
    w->table.width = width;
    rbli_float_table_reset(&w->table, count);
    for (size_t c = 0; c < count; c++)
        w->numbers[c] = rbli_float_table_add(&w->table, values + (first + c) * width);
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, type);
    rbli_put(&w->text, "[] primvars:");
    rbli_put(&w->text, name);
    rbli_put(&w->text, " = [");
    for (uint32_t i = 0; i < w->table.count; i++) {
        double v[3];
        for (int k = 0; k < shown; k++)
            v[k] = (double)w->table.keys[i][k];
        if (flip) v[1] = 1 - v[1];
        if (i) rbli_put_bytes(&w->text, ", ", 2);
        put_tuple(w, v, shown, false);
    }
    rbli_put(&w->text, "] (\n");
    rbli_usda_line(w, depth + 1, "interpolation = \"faceVarying\"");
    rbli_usda_line(w, depth, ")");
    rbli_usda_indent(w, depth);
    snprintf(line, sizeof line, "int[] primvars:%s:indices", name);
    put_integers(w, line, w->numbers, count);
}

static void put_points(usda_writer *w, size_t depth, size_t bone)
{
    const rbli_asset_view *view = &w->view;
    int32_t g = view->geometry[bone];
    const double(*positions)[3] = view->positions + view->vertex_start[g];
    double low[3] = {0}, high[3] = {0};
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, "point3f[] points = [");
    for (int32_t i = 0; i < view->vertex_counts[g]; i++) {
        double p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = positions[i][k] - w->centers[bone][k];
            if (i == 0 || p[k] < low[k]) low[k] = p[k];
            if (i == 0 || p[k] > high[k]) high[k] = p[k];
        }
        if (i) rbli_put_bytes(&w->text, ", ", 2);
        put_tuple(w, p, 3, false);
    }
    rbli_put(&w->text, "]\n");
    rbli_usda_put_extent(w, depth, low, high);
}

static void put_binding(usda_writer *w, size_t depth, int32_t material)
{
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, "rel material:binding = </Asset/Looks/");
    rbli_put(&w->text, w->material_names[material]);
    rbli_put(&w->text, ">\n");
}

/// Counts the faces of each material of a piece; returns the one of most faces, or −1 when a face has none.
static int32_t count_materials(usda_writer *w, int32_t g, int32_t *kinds)
{
    const rbli_asset_view *view = &w->view;
    int32_t most = -1;
    *kinds = 0;
    memset(w->face_count, 0, (view->material_count + 1) * sizeof *w->face_count);
    for (int32_t f = 0; view->face_material && f < view->face_counts[g]; f++)
        *kinds += w->face_count[view->face_material[view->face_start[g] + f] + 1]++ == 0;
    for (size_t m = 0; m < view->material_count && w->face_count[0] == 0; m++)
        if (w->face_count[m + 1] > (most < 0 ? 0 : w->face_count[most + 1])) most = (int32_t)m;
    return most;
}

static void put_subsets(usda_writer *w, size_t depth, int32_t g)
{
    const rbli_asset_view *view = &w->view;
    for (size_t m = 0; m < view->material_count; m++) {
        size_t count = 0;
        char line[64];
        if (w->face_count[m + 1] == 0) continue;
        snprintf(line, sizeof line, "def GeomSubset \"material_%zu\" (", m);
        rbli_usda_line(w, depth, line);
        rbli_usda_line(w, depth + 1, "prepend apiSchemas = [\"MaterialBindingAPI\"]");
        rbli_usda_line(w, depth, ")");
        rbli_usda_line(w, depth, "{");
        rbli_usda_line(w, depth + 1, "uniform token elementType = \"face\"");
        rbli_usda_line(w, depth + 1, "uniform token familyName = \"materialBind\"");
        for (int32_t f = 0; f < view->face_counts[g]; f++)
            if (view->face_material[view->face_start[g] + f] == (int32_t)m) w->numbers[count++] = (uint32_t)f;
        rbli_usda_indent(w, depth + 1);
        put_integers(w, "int[] indices", w->numbers, count);
        put_binding(w, depth + 1, (int32_t)m);
        rbli_usda_line(w, depth, "}");
    }
}

static void put_topology(usda_writer *w, size_t depth, int32_t g)
{
    const rbli_asset_view *view = &w->view;
    size_t count = (size_t)view->face_counts[g];
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, "int[] faceVertexCounts = [");
    for (size_t f = 0; f < count; f++)
        rbli_put(&w->text, f ? ", 3" : "3");
    rbli_put(&w->text, "]\n");
    for (size_t c = 0; c < 3 * count; c++)
        w->numbers[c] =
            (uint32_t)(view->faces[(size_t)view->face_start[g] + c / 3][c % 3] - view->vertex_start[g]);
    rbli_usda_indent(w, depth);
    put_integers(w, "int[] faceVertexIndices", w->numbers, 3 * count);
}

static void put_mesh(usda_writer *w, size_t depth, size_t bone)
{
    const rbli_asset_view *view = &w->view;
    int32_t g = view->geometry[bone], kinds;
    size_t first = 3 * (size_t)view->face_start[g], corners = 3 * (size_t)view->face_counts[g];
    int32_t material = count_materials(w, g, &kinds);
    rbli_usda_line(w, depth, "def Mesh \"mesh\" (");
    rbli_usda_line(w, depth + 1, "prepend apiSchemas = [\"MaterialBindingAPI\"]");
    rbli_usda_line(w, depth, ")");
    rbli_usda_line(w, depth, "{");
    put_topology(w, depth + 1, g);
    put_points(w, depth + 1, bone);
    if (view->normals)
        put_corners(w, depth + 1, "normal3f", "normals", view->normals[0], 3, 3, first, corners, false);
    for (int set = 0; set < RBLI_PIECE_UV_SETS && view->uvs[set]; set++) {
        char name[8] = "st";
        if (set > 0) snprintf(name, sizeof name, "st%d", set);
        put_corners(w, depth + 1, "texCoord2f", name, view->uvs[set][0], 2, 2, first, corners, true);
    }
    if (view->colors)
        put_corners(w, depth + 1, "color3f", "displayColor", view->colors[0], 4, 3, first, corners, false);
    rbli_usda_line(w, depth + 1, "uniform token subdivisionScheme = \"none\"");
    /* Where subsets bind materials of their own, this one is for programs that take one material a mesh. */
    if (material >= 0) put_binding(w, depth + 1, material);
    if (kinds > 1)
        rbli_usda_line(w, depth + 1, "uniform token subsetFamily:materialBind:familyType = \"partition\"");
    if (kinds > 1) put_subsets(w, depth + 1, g);
    rbli_usda_line(w, depth, "}");
}

/* ---- bones ---- */

static void put_transform(usda_writer *w, size_t depth, size_t bone)
{
    double m[16];
    bool plain = rbli_node_transform(&w->view, (const double(*)[3])w->centers, bone, m);
    if (plain && m[12] == 0 && m[13] == 0 && m[14] == 0) return;
    if (plain) {
        rbli_usda_put_vector(w, depth, "double3 xformOp:translate", m + 12, true);
        rbli_usda_line(w, depth, "uniform token[] xformOpOrder = [\"xformOp:translate\"]");
        return;
    }
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, "matrix4d xformOp:transform = ("); /* rows of USD's matrices are our columns */
    for (int c = 0; c < 4; c++) {
        if (c) rbli_put(&w->text, ", ");
        put_tuple(w, m + 4 * c, 4, true);
    }
    rbli_put(&w->text, ")\n");
    rbli_usda_line(w, depth, "uniform token[] xformOpOrder = [\"xformOp:transform\"]");
}

/// The name before it became an identifier: for people, and for programs.
static void put_old_name(usda_writer *w, size_t depth, const char *name)
{
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, "displayName = ");
    put_string(w, name);
    rbli_put(&w->text, "\n");
    rbli_usda_line(w, depth, "customData = {");
    rbli_usda_indent(w, depth + 1);
    rbli_put(&w->text, "string name = ");
    put_string(w, name);
    rbli_put(&w->text, "\n");
    rbli_usda_line(w, depth, "}");
}

/// Opens the prim of a bone and writes all but what is below it.
static void open_bone(usda_writer *w, size_t depth, size_t bone)
{
    const char *name = rbli_collection_string(w->view.collection, "bone", "name", bone);
    bool piece = rbli_asset_is_piece(&w->view, bone), renamed = strcmp(name, w->bone_names[bone]) != 0;
    rbli_body body = {.shape = RBLI_SHAPE_NONE, .simulation = RBLI_SIMULATION_NONE};
    if (piece && w->physics) rbli_body_get(&w->bodies, bone, &body);
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, "def Xform \"");
    rbli_put(&w->text, w->bone_names[bone]);
    if (renamed || rbli_usda_body_has_schemas(&body)) {
        rbli_put(&w->text, "\" (\n");
        if (renamed) put_old_name(w, depth + 1, name);
        rbli_usda_put_body_schemas(w, depth + 1, &body);
        rbli_usda_line(w, depth, ")");
    } else {
        rbli_put(&w->text, "\"\n");
    }
    rbli_usda_line(w, depth, "{");
    put_transform(w, depth + 1, bone);
    if (!piece) return;
    rbli_usda_put_body(w, depth + 1, bone, &body);
    put_mesh(w, depth + 1, bone);
}

/// Depth first; children in the order of bones.
static rbl_status put_bones(usda_writer *w)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = w->ctx;
    size_t count = w->view.bone_count, depth = 1, written = 0;
    int32_t *first = rbli_alloc(ctx, count + 1, sizeof *first), *next = rbli_alloc(ctx, count, sizeof *next);
    if (!first || !next) {
        status = RBL_ERR_NO_MEMORY;
        goto done;
    }
    for (size_t b = 0; b <= count; b++)
        first[b] = -1;
    for (size_t b = count; b-- > 0;) {
        next[b] = first[w->view.parent[b] + 1];
        first[w->view.parent[b] + 1] = (int32_t)b;
    }
    for (int32_t b = first[0]; b >= 0;) {
        if (written++ % 64 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        open_bone(w, depth, (size_t)b);
        if (first[b + 1] >= 0) {
            b = first[b + 1];
            depth++;
            continue;
        }
        rbli_usda_line(w, depth, "}");
        while (b >= 0 && next[b] < 0) {
            b = w->view.parent[b];
            if (b >= 0) rbli_usda_line(w, --depth, "}");
        }
        if (b >= 0) b = next[b];
    }
done:
    rbli_free(ctx, first);
    rbli_free(ctx, next);
    return status;
}

/* ---- the file ---- */

static rbl_status prepare(usda_writer *w)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = w->ctx;
    const rbli_asset_view *view = &w->view;
    size_t most_corners = 0;
    for (size_t g = 0; g < view->geometry_count; g++)
        if (3 * (size_t)view->face_counts[g] > most_corners) most_corners = 3 * (size_t)view->face_counts[g];
    RBL_TRY_ALLOC(w->centers = rbli_calloc(ctx, view->bone_count, sizeof *w->centers));
    RBL_TRY_ALLOC(w->path = rbli_alloc(ctx, view->bone_count, sizeof *w->path));
    RBL_TRY_ALLOC(w->numbers = rbli_alloc(ctx, most_corners, sizeof *w->numbers));
    RBL_TRY_ALLOC(w->face_count = rbli_alloc(ctx, view->material_count + 1, sizeof *w->face_count));
    RBL_TRY(rbli_float_table_init(ctx, &w->table, 4, most_corners));
    RBL_TRY(make_names(w, "bone", view->bone_count, &w->bone_names));
    RBL_TRY(make_names(w, "material", view->material_count, &w->material_names));
    for (size_t b = 0; b < view->bone_count; b++)
        if (rbli_asset_is_piece(view, b)) rbli_piece_center(view, b, w->centers[b]);
    if (w->physics) RBL_TRY(rbli_body_view_init(ctx, view, &w->bodies));
done:
    return status;
}

static void free_names(rbl_context *ctx, char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        rbli_free(ctx, names[i]);
    rbli_free(ctx, names);
}

static void free_writer(usda_writer *w)
{
    rbl_context *ctx = w->ctx;
    free_names(ctx, w->bone_names, w->view.bone_count);
    free_names(ctx, w->material_names, w->view.material_count);
    rbli_free(ctx, w->centers);
    rbli_free(ctx, w->path);
    rbli_free(ctx, w->numbers);
    rbli_free(ctx, w->face_count);
    rbli_float_table_free(ctx, &w->table);
    rbli_text_out_free(&w->text);
    rbli_body_view_free(ctx, &w->bodies);
    rbli_asset_view_free(ctx, &w->view);
}

rbl_status rbli_usda_make_text(rbl_context *ctx, const rbl_collection *collection, const char *image_stem,
    rbli_collider_form colliders, rbli_text_out *text, rbli_usda_report *report)
{
    rbl_status status = RBL_OK;
    usda_writer w = {
        .ctx = ctx, .text = *text, .image_stem = image_stem, .physics = colliders != RBLI_COLLIDERS_NONE};
    RBL_TRY(rbli_asset_view_init(ctx, collection, &w.view));
    RBL_TRY(prepare(&w));
    rbli_put(&w.text, "#usda 1.0\n(\n    defaultPrim = \"Asset\"\n    doc = \"Written by rubble\"\n"
                      "    kilogramsPerUnit = 1\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\n");
    rbli_put(&w.text, "def Xform \"Asset\" (\n    kind = \"component\"\n)\n{\n");
    RBL_TRY(put_bones(&w));
    if (w.view.material_count > 0) {
        rbli_put(&w.text, "    def Scope \"Looks\"\n    {\n");
        for (size_t m = 0; m < w.view.material_count; m++)
            RBL_TRY(rbli_usda_put_material(&w, m));
        rbli_put(&w.text, "    }\n");
    }
    if (w.physics) RBL_TRY(rbli_usda_put_joints(&w));
    rbli_put(&w.text, "}\n");
    if (w.physics) rbli_put(&w.text, "\ndef PhysicsScene \"PhysicsScene\"\n{\n}\n");
    status = rbli_text_out_end(&w.text);
    if (status != RBL_OK) goto done;
    if (report) *report = w.report;
    *text = w.text;
    w.text = (rbli_text_out){.ctx = ctx};
done:
    free_writer(&w);
    return status;
}

bool *rbli_usda_images(rbl_context *ctx, const rbl_collection *collection)
{
    bool *used = rbli_calloc(ctx, rbli_collection_size(collection, "image"), sizeof *used);
    for (size_t m = 0; used && m < rbli_collection_size(collection, "material"); m++) {
        rbli_material look = rbli_material_get(collection, m);
        for (int role = 0; role < RBLI_TEXTURE_ROLES; role++) {
            int32_t texture = look.textures[role];
            int32_t image = texture < 0 ? -1 : rbli_texture_get(collection, (size_t)texture).image;
            if (image >= 0) used[image] = true;
        }
    }
    return used;
}

rbl_status rbli_write_usda(rbl_context *ctx, const rbl_collection *collection, const char *image_stem,
    rbli_collider_form colliders, rbli_file_writer *out, rbli_usda_report *report)
{
    rbli_text_out text = {.ctx = ctx, .out = out};
    rbl_status status = rbli_usda_make_text(ctx, collection, image_stem, colliders, &text, report);
    if (status == RBL_OK) rbli_text_out_free(&text);
    return status;
}
