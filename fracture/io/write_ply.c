/// Binary PLY: one list of vertices, in which corners with other attributes are vertices of their own, and one of
/// triangles, each with the piece that it belongs to.

#include <math.h>

#include "fracture/io/text_out.h"
#include "fracture/io/vertex_split.h"
#include "fracture/io/write.h"

typedef struct ply_writer {
    rbl_context *ctx;
    rbli_asset_view view;
    rbli_vertex_split split;
    const bool *internal;
    RBLI_ARRAY(uint32_t) corners;   /* [vertex of the file] the first corner of it */
    RBLI_ARRAY(size_t) ends;        /* [piece] vertices up to and with it */
    RBLI_ARRAY(uint32_t) of_corner; /* [corner of the file] its vertex, pieces in the order of bones */
    rbli_text_out text;
} ply_writer;

/// Finds all vertices of the file.
static rbl_status make_vertices(ply_writer *w)
{
    rbl_status status = RBL_OK;
    const rbli_asset_view *view = &w->view;
    for (size_t b = 0; b < view->bone_count; b++) {
        if (!rbli_asset_is_piece(view, b)) continue;
        int32_t g = view->geometry[b];
        size_t first = (size_t)view->face_start[g], count = (size_t)view->face_counts[g];
        uint32_t before = (uint32_t)w->corners.count;
        rbli_vertex_split_start(&w->split, (size_t)g);
        RBL_TRY(rbli_array_reserve(w->ctx, &w->of_corner, 3 * count));
        for (size_t f = first; f < first + count; f++) {
            uint32_t *out = w->of_corner.data + w->of_corner.count;
            RBL_TRY(rbli_poll(w->ctx, f));
            rbli_vertex_split_face(&w->split, f, out);
            for (int k = 0; k < 3; k++)
                out[k] += before;
            w->of_corner.count += 3;
        }
        RBL_TRY(rbli_array_reserve(w->ctx, &w->corners, w->split.count));
        memcpy(w->corners.data + before, w->split.corners, w->split.count * sizeof *w->corners.data);
        w->corners.count += w->split.count;
        RBL_TRY(rbli_array_push(w->ctx, &w->ends, w->corners.count));
    }
    if (w->corners.count > INT32_MAX) /* indices are signed */
        status =
            rbli_fail(w->ctx, RBL_ERR_LIMIT, "%zu vertices: a PLY file holds 2^31 − 1", w->corners.count);
done:
    return status;
}

/// A name on a line of its own.
static void put_comment(ply_writer *w, const char *what, size_t number, const char *name)
{
    rbli_put(&w->text, "comment ");
    rbli_put(&w->text, what);
    rbli_put(&w->text, " ");
    rbli_put_size(&w->text, number);
    rbli_put(&w->text, " ");
    for (const char *p = name; *p; p++)
        rbli_put_bytes(&w->text, (unsigned char)*p < 32 ? "_" : p, 1);
    rbli_put(&w->text, "\n");
}

static void put_header(ply_writer *w)
{
    const rbli_asset_view *view = &w->view;
    rbli_text_out *text = &w->text;
    rbli_put(text, "ply\nformat binary_little_endian 1.0\ncomment rubble\n");
    for (size_t b = 0; b < view->bone_count; b++)
        if (rbli_asset_is_piece(view, b))
            put_comment(w, "piece", b, rbli_collection_string(view->collection, "bone", "name", b));
    for (size_t m = 0; m < view->material_count; m++)
        put_comment(w, "material", m, rbli_collection_string(view->collection, "material", "name", m));
    rbli_put(text, "element vertex ");
    rbli_put_size(text, w->corners.count);
    rbli_put(text, "\nproperty double x\nproperty double y\nproperty double z\n"
                   "property float nx\nproperty float ny\nproperty float nz\n");
    if (w->split.uv_sets > 0) rbli_put(text, "property float s\nproperty float t\n");
    if (w->split.colors)
        rbli_put(
            text, "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n");
    rbli_put(text, "element face ");
    rbli_put_size(text, w->of_corner.count / 3);
    rbli_put(text, "\nproperty list uchar int vertex_indices\nproperty int piece\nproperty int material\n"
                   "property uchar internal\nend_header\n");
}

static void put_vertex(ply_writer *w, const rbli_world_map *map, uint32_t corner)
{
    const rbli_asset_view *view = &w->view;
    double position[3];
    float own[3], normal[3];
    rbli_world_point(map, view->positions[view->faces[corner / 3][corner % 3]], position);
    rbli_corner_normal(view, corner, own);
    rbli_world_normal(map, own, normal);
    rbli_put_bytes(&w->text, (const char *)position, sizeof position);
    rbli_put_bytes(&w->text, (const char *)normal, sizeof normal);
    if (w->split.uv_sets > 0) {
        const float st[2] = {view->uvs[0][corner][0], (float)(1 - (double)view->uvs[0][corner][1])};
        rbli_put_bytes(&w->text, (const char *)st, sizeof st);
    }
    if (w->split.colors) {
        uint8_t rgba[4];
        for (int k = 0; k < 4; k++) {
            float c = view->colors[corner][k];
            rgba[k] = (uint8_t)(c > 0 ? c < 1 ? c * 255 + 0.5f : 255 : 0);
        }
        rbli_put_bytes(&w->text, (const char *)rgba, sizeof rgba);
    }
}

static rbl_status put_vertices(ply_writer *w)
{
    const rbli_asset_view *view = &w->view;
    size_t at = 0, piece = 0;
    for (size_t b = 0; b < view->bone_count; b++) {
        if (!rbli_asset_is_piece(view, b)) continue;
        rbli_world_map map = rbli_world_map_of(view, b);
        for (size_t end = w->ends.data[piece++]; at < end; at++) {
            if (rbli_poll(w->ctx, at) != RBL_OK) return RBL_ERR_CANCELLED;
            put_vertex(w, &map, w->corners.data[at]);
        }
    }
    return RBL_OK;
}

static rbl_status put_faces(ply_writer *w)
{
    const rbli_asset_view *view = &w->view;
    const uint32_t *corners = w->of_corner.data;
    for (size_t b = 0; b < view->bone_count; b++) {
        if (!rbli_asset_is_piece(view, b)) continue;
        int32_t g = view->geometry[b];
        bool mirrored = rbli_transform_determinant(view->world[b]) < 0;
        for (int32_t f = view->face_start[g]; f < view->face_start[g] + view->face_counts[g];
             f++, corners += 3) {
            if (rbli_poll(w->ctx, (size_t)f) != RBL_OK) return RBL_ERR_CANCELLED;
            const uint32_t numbers[5] = {corners[0], corners[mirrored ? 2 : 1], corners[mirrored ? 1 : 2],
                (uint32_t)b, (uint32_t)(view->face_material ? view->face_material[f] : -1)};
            const char internal = w->internal && w->internal[f];
            rbli_put_bytes(&w->text, "\3", 1);
            rbli_put_bytes(&w->text, (const char *)numbers, sizeof numbers);
            rbli_put_bytes(&w->text, &internal, 1);
        }
    }
    return RBL_OK;
}

rbl_status rbli_write_ply(rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *out)
{
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they are");
    rbl_status status = RBL_OK;
    ply_writer w = {.ctx = ctx, .text = {.ctx = ctx, .out = out}};
    RBL_TRY(rbli_asset_view_init(ctx, collection, &w.view));
    RBL_TRY(rbli_vertex_split_init(ctx, &w.view, &w.split));
    w.internal = rbli_collection_read(collection, "face", "internal", RBL_BOOL);
    RBL_TRY(make_vertices(&w));
    put_header(&w);
    RBL_TRY(put_vertices(&w));
    RBL_TRY(put_faces(&w));
    status = rbli_text_out_end(&w.text);
done:
    rbli_text_out_free(&w.text);
    rbli_free(ctx, w.corners.data);
    rbli_free(ctx, w.ends.data);
    rbli_free(ctx, w.of_corner.data);
    rbli_vertex_split_free(ctx, &w.split);
    rbli_asset_view_free(ctx, &w.view);
    return status;
}
