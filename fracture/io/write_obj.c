/// Wavefront OBJ and its material library.

#include <math.h>
#include <stdio.h>

#include "fracture/collection/material.h"
#include "fracture/io/body_view.h"
#include "fracture/io/float_table.h"
#include "fracture/io/number_text.h"
#include "fracture/io/text_out.h"
#include "fracture/io/write.h"

typedef struct obj_writer {
    rbl_context *ctx;
    const rbli_asset_view *view;
    rbli_text_out text;
    rbli_float_table uvs, normals;
    uint32_t *corner_uvs, *corner_normals; /* numbers of a piece's corners */
    size_t vertices_before, uvs_before, normals_before;
    bool materials;
    int32_t material; /* in use; −2: none yet */
} obj_writer;

static void put_position(obj_writer *writer, const double p[3])
{
    char line[8 + 3 * RBLI_NUMBER_TEXT_BYTES], *at = line;
    *at++ = 'v';
    for (int k = 0; k < 3; k++) {
        *at++ = ' ';
        at += rbli_double_text(p[k], at);
    }
    *at++ = '\n';
    rbli_put_bytes(&writer->text, line, (size_t)(at - line));
}

static void put_normal(obj_writer *writer, const float n[3])
{
    char line[8 + 3 * RBLI_NUMBER_TEXT_BYTES], *at = line;
    *at++ = 'v';
    *at++ = 'n';
    for (int k = 0; k < 3; k++) {
        *at++ = ' ';
        at += rbli_float_text(n[k], at);
    }
    *at++ = '\n';
    rbli_put_bytes(&writer->text, line, (size_t)(at - line));
}

static rbl_status put_positions(obj_writer *writer, const rbli_world_map *map, int32_t geometry)
{
    const rbli_asset_view *view = writer->view;
    for (int32_t i = 0; i < view->vertex_counts[geometry]; i++) {
        if (rbli_poll(writer->ctx, (size_t)i) != RBL_OK) return RBL_ERR_CANCELLED;
        double moved[3];
        rbli_world_point(map, view->positions[view->vertex_start[geometry] + i], moved);
        put_position(writer, moved);
    }
    return RBL_OK;
}

static rbl_status put_uvs(obj_writer *writer, size_t first_corner, size_t corner_count)
{
    rbli_float_table_reset(&writer->uvs, corner_count);
    for (size_t c = 0; c < corner_count; c++) {
        if (rbli_poll(writer->ctx, c) != RBL_OK) return RBL_ERR_CANCELLED;
        const float *uv = writer->view->uvs[0][first_corner + c];
        uint32_t before = writer->uvs.count;
        writer->corner_uvs[c] = rbli_float_table_add(&writer->uvs, uv);
        if (writer->uvs.count == before) continue;
        rbli_put(&writer->text, "vt ");
        rbli_put_float(&writer->text, uv[0]);
        rbli_put(&writer->text, " ");
        rbli_put_double(&writer->text, 1 - (double)uv[1]);
        rbli_put(&writer->text, "\n");
    }
    return RBL_OK;
}

static rbl_status put_normals(
    obj_writer *writer, const rbli_world_map *map, size_t first_corner, size_t corner_count)
{
    rbli_float_table_reset(&writer->normals, corner_count);
    for (size_t c = 0; c < corner_count; c++) {
        if (rbli_poll(writer->ctx, c) != RBL_OK) return RBL_ERR_CANCELLED;
        const float *n = writer->view->normals[first_corner + c];
        uint32_t before = writer->normals.count;
        float moved[3];
        writer->corner_normals[c] = rbli_float_table_add(&writer->normals, n);
        if (writer->normals.count == before) continue;
        rbli_world_normal(map, n, moved);
        put_normal(writer, moved);
    }
    return RBL_OK;
}

static void put_clean(obj_writer *writer, const char *name)
{
    for (const char *p = name; *p; p++)
        rbli_put_bytes(&writer->text, (unsigned char)*p < 32 ? "_" : p, 1);
}

/// A name on a line of its own: without line ends.
static void put_name(obj_writer *writer, const char *keyword, const char *name)
{
    rbli_put(&writer->text, keyword);
    rbli_put(&writer->text, " ");
    put_clean(writer, name);
    rbli_put(&writer->text, "\n");
}

static char *put_number(char *at, size_t number)
{
    char reversed[24];
    int count = 0;
    do {
        reversed[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count > 0)
        *at++ = reversed[--count];
    return at;
}

static rbl_status put_faces(obj_writer *writer, bool mirrored, int32_t geometry)
{
    const rbli_asset_view *view = writer->view;
    int32_t first_face = view->face_start[geometry], first_vertex = view->vertex_start[geometry];
    for (int32_t i = 0; i < view->face_counts[geometry]; i++) {
        if (rbli_poll(writer->ctx, (size_t)i) != RBL_OK) return RBL_ERR_CANCELLED;
        int32_t face = first_face + i;
        int32_t material = view->face_material ? view->face_material[face] : -1;
        if (writer->materials && material >= 0 && material != writer->material) {
            writer->material = material;
            put_name(writer, "usemtl",
                rbli_collection_string(view->collection, "material", "name", (size_t)material));
        }
        char line[200], *at = line;
        *at++ = 'f';
        for (int k = 0; k < 3; k++) {
            int corner = mirrored && k > 0 ? 3 - k : k;
            size_t c = 3 * (size_t)i + (size_t)corner;
            *at++ = ' ';
            at = put_number(
                at, writer->vertices_before + (size_t)(view->faces[face][corner] - first_vertex) + 1);
            if (view->uvs[0] || view->normals) *at++ = '/';
            if (view->uvs[0]) at = put_number(at, writer->uvs_before + writer->corner_uvs[c] + 1);
            if (!view->normals) continue;
            *at++ = '/';
            at = put_number(at, writer->normals_before + writer->corner_normals[c] + 1);
        }
        *at++ = '\n';
        rbli_put_bytes(&writer->text, line, (size_t)(at - line));
    }
    return RBL_OK;
}

static rbl_status put_piece(obj_writer *writer, size_t bone)
{
    rbl_status status = RBL_OK;
    const rbli_asset_view *view = writer->view;
    int32_t geometry = view->geometry[bone];
    size_t first_corner = 3 * (size_t)view->face_start[geometry];
    size_t corner_count = 3 * (size_t)view->face_counts[geometry];
    rbli_world_map map = rbli_world_map_of(view, bone);
    put_name(writer, "o", rbli_collection_string(view->collection, "bone", "name", bone));
    RBL_TRY(put_positions(writer, &map, geometry));
    if (view->uvs[0]) RBL_TRY(put_uvs(writer, first_corner, corner_count));
    if (view->normals) RBL_TRY(put_normals(writer, &map, first_corner, corner_count));
    RBL_TRY(put_faces(writer, map.mirrored, geometry));
    writer->vertices_before += (size_t)view->vertex_counts[geometry];
    writer->uvs_before += writer->uvs.count;
    writer->normals_before += writer->normals.count;
done:
    return status;
}

/* ---- colliders, as Unreal reads them ---- */

static void put_hull(
    obj_writer *writer, size_t bone, const char *prefix, size_t number, const rbli_hull_view *hull)
{
    rbli_world_map map = rbli_world_map_of(writer->view, bone);
    char digits[24];
    snprintf(digits, sizeof digits, "_%02zu", number);
    rbli_put(&writer->text, "o ");
    rbli_put(&writer->text, prefix);
    put_clean(writer, rbli_collection_string(writer->view->collection, "bone", "name", bone));
    rbli_put(&writer->text, digits);
    rbli_put(&writer->text, "\n");
    for (size_t i = 0; i < hull->point_count; i++) {
        double moved[3];
        rbli_world_point(&map, hull->points[i], moved);
        put_position(writer, moved);
    }
    for (size_t t = 0; t < hull->triangle_count; t++) {
        char line[80], *at = line;
        *at++ = 'f';
        for (int k = 0; k < 3; k++) {
            *at++ = ' ';
            at = put_number(at,
                writer->vertices_before + (size_t)hull->triangles[t][map.mirrored && k > 0 ? 3 - k : k] + 1);
        }
        *at++ = '\n';
        rbli_put_bytes(&writer->text, line, (size_t)(at - line));
    }
    writer->vertices_before += hull->point_count;
}

static void put_colliders(obj_writer *writer, const rbli_body_view *bodies, size_t bone)
{
    rbli_body body;
    rbli_shape_mesh shape;
    rbli_body_get(bodies, bone, &body);
    if (body.shape == RBLI_SHAPE_NONE) return;
    if (body.shape == RBLI_SHAPE_HULLS) {
        for (size_t i = 0; i < body.hull_count; i++) {
            rbli_hull_view hull = rbli_body_hull(bodies, body.hulls[i]);
            put_hull(writer, bone, rbli_ucx_prefix(body.shape), i, &hull);
        }
        return;
    }
    rbli_body_shape_mesh(&body, &shape);
    rbli_hull_view hull = {(const double(*)[3])shape.points, (const int32_t(*)[3])shape.triangles,
        shape.point_count, shape.triangle_count};
    put_hull(writer, bone, rbli_ucx_prefix(body.shape), 0, &hull);
}

rbl_status rbli_write_obj(rbl_context *ctx, const rbl_collection *collection, const char *mtl_name,
    rbli_collider_form colliders, rbli_file_writer *out)
{
    rbl_status status = RBL_OK;
    rbli_asset_view view = {0};
    rbli_body_view bodies = {0};
    obj_writer writer = {.ctx = ctx, .view = &view, .text = {.ctx = ctx, .out = out}, .material = -2};
    RBL_TRY(rbli_asset_view_init(ctx, collection, &view));
    size_t most_corners = 0;
    for (size_t g = 0; g < view.geometry_count; g++)
        if (3 * (size_t)view.face_counts[g] > most_corners) most_corners = 3 * (size_t)view.face_counts[g];
    writer.materials = mtl_name && view.material_count > 0;
    writer.corner_uvs = rbli_alloc(ctx, most_corners, sizeof *writer.corner_uvs);
    writer.corner_normals = rbli_alloc(ctx, most_corners, sizeof *writer.corner_normals);
    if (!writer.corner_uvs || !writer.corner_normals) {
        status = RBL_ERR_NO_MEMORY;
        goto done;
    }
    RBL_TRY(rbli_float_table_init(ctx, &writer.uvs, 2, most_corners));
    RBL_TRY(rbli_float_table_init(ctx, &writer.normals, 3, most_corners));
    if (colliders == RBLI_COLLIDERS_UCX) RBL_TRY(rbli_body_view_init(ctx, &view, &bodies));
    rbli_put(&writer.text, "# rubble\n");
    if (writer.materials) put_name(&writer, "mtllib", mtl_name);
    for (size_t b = 0; b < view.bone_count; b++) {
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (!rbli_asset_is_piece(&view, b)) continue;
        RBL_TRY(put_piece(&writer, b));
        if (colliders == RBLI_COLLIDERS_UCX) put_colliders(&writer, &bodies, b);
    }
    status = rbli_text_out_end(&writer.text);
done:
    rbli_text_out_free(&writer.text);
    rbli_float_table_free(ctx, &writer.uvs);
    rbli_float_table_free(ctx, &writer.normals);
    rbli_free(ctx, writer.corner_uvs);
    rbli_free(ctx, writer.corner_normals);
    rbli_body_view_free(ctx, &bodies);
    rbli_asset_view_free(ctx, &view);
    return status;
}

/* ---- materials ---- */

/// Roles of textures that a library can name.
static const struct {
    const char *word;
    int role;
} texture_words[] = {
    {"map_Kd", RBLI_TEXTURE_BASE_COLOR},
    {"map_Ke", RBLI_TEXTURE_EMISSIVE},
    {"norm", RBLI_TEXTURE_NORMAL},
    {"map_ao", RBLI_TEXTURE_OCCLUSION},
};
enum { TEXTURE_WORDS = sizeof texture_words / sizeof *texture_words };

char *rbli_image_file_name(
    rbl_context *ctx, const rbl_collection *collection, const char *stem, size_t image, rbl_status *status)
{
    rbli_image_view view = rbli_image_get(collection, image);
    *status = RBL_OK;
    if (view.byte_count == 0) return NULL;
    char *name = rbli_format(ctx, "%s_image_%zu%s", stem, image, rbli_image_extension(view.mime_type));
    if (!name) *status = RBL_ERR_NO_MEMORY;
    return name;
}

bool *rbli_mtl_images(rbl_context *ctx, const rbl_collection *collection)
{
    bool *used = rbli_calloc(ctx, rbli_collection_size(collection, "image"), sizeof *used);
    for (size_t m = 0; used && m < rbli_collection_size(collection, "material"); m++) {
        rbli_material look = rbli_material_get(collection, m);
        for (int i = 0; i < TEXTURE_WORDS; i++) {
            int32_t texture = look.textures[texture_words[i].role];
            int32_t image = texture < 0 ? -1 : rbli_texture_get(collection, (size_t)texture).image;
            if (image >= 0) used[image] = true;
        }
    }
    return used;
}

static void put_number_line(rbli_text_out *text, const char *word, const float *values, int count)
{
    rbli_put(text, word);
    for (int k = 0; k < count; k++) {
        rbli_put(text, " ");
        rbli_put_float(text, values[k]);
    }
    rbli_put(text, "\n");
}

/// Options of a texture statement, v upwards.
static void put_texture_options(rbli_text_out *text, const rbli_texture *texture, float bump)
{
    const float *scale = texture->scale, *offset = texture->offset;
    if (scale[0] != 1 || scale[1] != 1) {
        rbli_put(text, " -s ");
        rbli_put_float(text, scale[0]);
        rbli_put(text, " ");
        rbli_put_float(text, scale[1]);
        rbli_put(text, " 1");
    }
    double up = 1 - (double)scale[1] - (double)offset[1];
    if (offset[0] != 0 || up != 0) {
        rbli_put(text, " -o ");
        rbli_put_float(text, offset[0]);
        rbli_put(text, " ");
        rbli_put_double(text, up);
        rbli_put(text, " 0");
    }
    if (texture->wrap[0] == RBLI_WRAP_CLAMP && texture->wrap[1] == RBLI_WRAP_CLAMP)
        rbli_put(text, " -clamp on");
    if (bump != 1) {
        rbli_put(text, " -bm ");
        rbli_put_float(text, bump);
    }
}

/// Texture statements of a material. *any tells whether one is the base colour's.
static rbl_status put_textures(obj_writer *writer, const rbl_collection *collection,
    const rbli_material *look, const char *image_stem, bool *base)
{
    for (int i = 0; i < TEXTURE_WORDS && image_stem; i++) {
        int role = texture_words[i].role;
        if (look->textures[role] < 0) continue;
        rbli_texture texture = rbli_texture_get(collection, (size_t)look->textures[role]);
        if (texture.image < 0 || texture.uv_set != 0) continue;
        rbl_status status;
        char *name =
            rbli_image_file_name(writer->text.ctx, collection, image_stem, (size_t)texture.image, &status);
        if (status != RBL_OK) return status;
        if (!name) continue;
        rbli_put(&writer->text, texture_words[i].word);
        put_texture_options(&writer->text, &texture, role == RBLI_TEXTURE_NORMAL ? look->normal_scale : 1);
        put_name(writer, "", name);
        rbli_free(writer->text.ctx, name);
        *base |= role == RBLI_TEXTURE_BASE_COLOR;
    }
    return RBL_OK;
}

static void put_look(rbli_text_out *text, const rbli_material *look)
{
    if (look->emissive[0] > 0 || look->emissive[1] > 0 || look->emissive[2] > 0)
        put_number_line(text, "Ke", look->emissive, 3);
    if (look->metallic > 0) put_number_line(text, "Pm", &look->metallic, 1);
    if (look->roughness == rbli_material_default().roughness) return;
    put_number_line(text, "Pr", &look->roughness, 1);
    double square = (double)look->roughness * (double)look->roughness;
    double exponent = square * square > 0 ? 2 / (square * square) - 2 : 1000;
    rbli_put(text, "Ns ");
    rbli_put_double(text, exponent < 1000 ? exponent : 1000);
    rbli_put(text, "\n");
}

rbl_status rbli_write_mtl(
    rbl_context *ctx, const rbl_collection *collection, const char *image_stem, rbli_file_writer *out)
{
    const float(*colors)[4] = rbli_collection_read(collection, "material", "base_color", RBL_FLOAT_4);
    obj_writer writer = {.text = {.ctx = ctx, .out = out}};
    rbli_text_out *text = &writer.text;
    rbl_status status = RBL_OK;
    rbli_put(text, "# rubble\n");
    for (size_t m = 0; m < rbli_collection_size(collection, "material"); m++) {
        put_name(&writer, "newmtl", rbli_collection_string(collection, "material", "name", m));
        static const float white[4] = {1, 1, 1, 1};
        const float *color = colors ? colors[m] : white;
        const rbli_material look = rbli_material_get(collection, m);
        bool base = false;
        put_number_line(text, "Kd", color, 3);
        put_number_line(text, "d", color + 3, 1);
        put_look(text, &look);
        RBL_TRY(put_textures(&writer, collection, &look, image_stem, &base));
        const char *texture = rbli_collection_string(collection, "material", "texture", m);
        if (!base && *texture && strncmp(texture, "embedded:", 9) != 0) put_name(&writer, "map_Kd", texture);
    }
    status = rbli_text_out_end(text);
done:
    rbli_text_out_free(text);
    return status;
}
