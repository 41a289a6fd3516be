/// Binary glTF 2.0. Corners with equal attributes become one vertex of a primitive; all primitives share one
/// buffer view per attribute. Positions are floats around a centre of each piece that is itself a float, so
/// that a piece far from the origin keeps its shape and programs with float transforms lose nothing; or whole
/// steps from a centre that is one, too.

#include "fracture/io/glb_writer.h"

#include <math.h>
#include <stdlib.h>

rbli_glb_options rbli_glb_default_options(void)
{
    return (rbli_glb_options){.extras = true};
}

/// Whether two corners of a face are at one place in the file.
static bool collapses(const glb_writer *writer, const int32_t face[3])
{
    int32_t first = writer->split.first_vertex;
    if (writer->step > 0) {
        uint64_t p[3];
        for (int k = 0; k < 3; k++)
            memcpy(&p[k], writer->local + 8 * (size_t)(face[k] - first), sizeof p[k]);
        return p[0] == p[1] || p[1] == p[2] || p[2] == p[0];
    }
    const float(*local)[3] = (const void *)writer->local;
    const float *a = local[face[0] - first], *b = local[face[1] - first], *c = local[face[2] - first];
    return (a[0] == b[0] && a[1] == b[1] && a[2] == b[2]) || (b[0] == c[0] && b[1] == c[1] && b[2] == c[2]) ||
           (c[0] == a[0] && c[1] == a[1] && c[2] == a[2]);
}

/// All faces of a piece that have one material: from `first` on along `next_face`, or all when that is −1.
static rbl_status add_primitive(glb_writer *writer, int32_t geometry, int32_t material, int32_t first)
{
    const rbli_asset_view *view = &writer->view;
    size_t count = 0, start = (size_t)view->face_start[geometry];
    int32_t end = view->face_counts[geometry];
    rbli_vertex_split_start(&writer->split, (size_t)geometry);
    for (int32_t f = first < 0 ? 0 : first; f >= 0 && f < end; f = first < 0 ? f + 1 : writer->next_face[f]) {
        if (rbli_poll(writer->ctx, (size_t)f) != RBL_OK) return RBL_ERR_CANCELLED;
        if (collapses(writer, view->faces[start + (size_t)f])) {
            writer->report.collapsed_triangles++;
            continue;
        }
        rbli_vertex_split_face(&writer->split, start + (size_t)f, writer->indices + count);
        count += 3;
    }
    writer->report.triangles += count / 3;
    return rbli_glb_add_primitive(writer, material, writer->indices, count);
}

static int compare_int(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/// The material of all faces of a piece; −2 when there are several.
static int32_t only_material(const rbli_asset_view *view, int32_t geometry)
{
    if (!view->face_material) return -1;
    const int32_t *of = view->face_material + view->face_start[geometry];
    for (int32_t f = 1; f < view->face_counts[geometry]; f++)
        if (of[f] != of[0]) return -2;
    return of[0];
}

/// A primitive for each material, in their order.
static rbl_status add_by_material(glb_writer *writer, int32_t g)
{
    const rbli_asset_view *view = &writer->view;
    rbl_status status = RBL_OK;
    size_t used_count = 0;
    for (int32_t f = view->face_counts[g] - 1; f >= 0; f--) {
        RBL_TRY(rbli_poll(writer->ctx, (size_t)f));
        int32_t material = view->face_material[view->face_start[g] + f];
        int32_t *first = &writer->first_face[material + 1];
        if (*first < 0) writer->used[used_count++] = material;
        writer->next_face[f] = *first;
        *first = f;
    }
    qsort(writer->used, used_count, sizeof *writer->used, compare_int);
    for (size_t i = 0; i < used_count; i++)
        RBL_TRY(add_primitive(writer, g, writer->used[i], writer->first_face[writer->used[i] + 1]));
    for (size_t i = 0; i < used_count; i++)
        writer->first_face[writer->used[i] + 1] = -1;
done:
    return status;
}

static rbl_status add_piece(glb_writer *writer, size_t bone)
{
    int32_t g = writer->view.geometry[bone], material = only_material(&writer->view, g);
    size_t first = writer->primitives.count;
    rbli_glb_place(writer, bone);
    rbl_status status = material == -2 ? add_by_material(writer, g) : add_primitive(writer, g, material, -1);
    return status == RBL_OK ? rbli_glb_end_mesh(writer, bone, first) : status;
}

static rbl_status add_pieces(glb_writer *writer)
{
    for (size_t b = 0; b < writer->view.bone_count; b++) {
        if (rbli_cancelled(writer->ctx)) return RBL_ERR_CANCELLED;
        writer->mesh_of_bone[b] = -1;
        if (!rbli_asset_is_piece(&writer->view, b)) continue;
        rbl_status status = add_piece(writer, b);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Nodes of quantized meshes, below those of their bones.
static rbl_status add_mesh_nodes(glb_writer *writer)
{
    rbl_status status = RBL_OK;
    if (writer->step == 0) return RBL_OK;
    RBL_TRY_ALLOC(
        writer->mesh_nodes = rbli_calloc(writer->ctx, writer->view.bone_count, sizeof *writer->mesh_nodes));
    for (size_t b = 0; b < writer->view.bone_count; b++) {
        if (writer->mesh_of_bone[b] < 0) continue;
        glb_extra extra = {.place = GLB_BELOW_PIECE,
            .bone = (int32_t)b,
            .mesh = -1,
            .own_mesh = true,
            .collider = {-1, -1},
            .prefix = "",
            .suffix = "_mesh",
            .number = -1};
        writer->mesh_nodes[b] = (int32_t)(writer->view.bone_count + writer->extras.count);
        RBL_TRY(rbli_array_push(writer->ctx, &writer->extras, extra));
    }
done:
    return status;
}

/// The least power of two in whose steps all pieces fit 16 bits.
static double choose_step(const rbli_asset_view *view)
{
    double most = 0;
    int exponent;
    for (size_t b = 0; b < view->bone_count; b++) {
        if (!rbli_asset_is_piece(view, b)) continue;
        int32_t g = view->geometry[b];
        const double(*p)[3] = view->positions + view->vertex_start[g];
        double center[3];
        rbli_piece_center(view, b, center);
        for (int32_t v = 0; v < view->vertex_counts[g]; v++)
            for (int k = 0; k < 3; k++)
                most = fmax(most, fabs(p[v][k] - center[k]));
    }
    if (!(most > 0 && most < INFINITY)) return 1;
    frexp(most / 32765, &exponent); /* two are left for rounding */
    return ldexp(1, exponent);
}

static rbl_status allocate(glb_writer *writer)
{
    rbl_context *ctx = writer->ctx;
    const rbli_asset_view *view = &writer->view;
    rbl_status status = RBL_OK;
    size_t most_vertices = 0, most_faces = 0;
    for (size_t g = 0; g < view->geometry_count; g++) {
        if ((size_t)view->vertex_counts[g] > most_vertices) most_vertices = (size_t)view->vertex_counts[g];
        if ((size_t)view->face_counts[g] > most_faces) most_faces = (size_t)view->face_counts[g];
    }
    writer->mesh_slot_count = 64;
    while (writer->mesh_slot_count < 2 * view->bone_count)
        writer->mesh_slot_count *= 2;
    RBL_TRY_ALLOC(writer->centers = rbli_calloc(ctx, view->bone_count, sizeof *writer->centers));
    RBL_TRY_ALLOC(writer->mesh_of_bone = rbli_alloc(ctx, view->bone_count, sizeof *writer->mesh_of_bone));
    RBL_TRY_ALLOC(writer->mesh_slots = rbli_alloc(ctx, writer->mesh_slot_count, sizeof *writer->mesh_slots));
    RBL_TRY_ALLOC(writer->local = rbli_alloc(ctx, most_vertices, 3 * sizeof(float)));
    RBL_TRY_ALLOC(writer->first_face = rbli_alloc(ctx, view->material_count + 1, sizeof *writer->first_face));
    RBL_TRY_ALLOC(writer->used = rbli_alloc(ctx, view->material_count + 1, sizeof *writer->used));
    RBL_TRY_ALLOC(writer->next_face = rbli_alloc(ctx, most_faces, sizeof *writer->next_face));
    RBL_TRY_ALLOC(writer->indices = rbli_alloc(ctx, 3 * most_faces, sizeof *writer->indices));
    for (size_t m = 0; m <= view->material_count; m++)
        writer->first_face[m] = -1;
    for (size_t i = 0; i < writer->mesh_slot_count; i++)
        writer->mesh_slots[i] = -1;
    RBL_TRY(rbli_vertex_split_init(ctx, view, &writer->split));
    if (writer->options.compression != RBLI_GLB_PLAIN) writer->step = choose_step(view);
    rbli_glb_init_streams(writer);
done:
    return status;
}

static void write_u32(rbli_file_writer *out, uint32_t value)
{
    uint8_t bytes[4] = {
        (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    rbli_file_writer_write(out, bytes, sizeof bytes);
}

enum { PART_BYTES = 1 << 20 }; /* written between two looks at the request to cancel */

/// Zeros up to the next multiple of four bytes.
static void write_gap(size_t *written, rbli_file_writer *out)
{
    size_t gap = (4 - *written % 4) % 4;
    rbli_file_writer_write(out, "\0\0\0", gap);
    *written += gap;
}

static rbl_status write_part(
    glb_writer *writer, const void *data, size_t bytes, size_t *written, rbli_file_writer *out)
{
    *written += bytes;
    for (size_t at = 0, part; at < bytes; at += part) {
        if (rbli_cancelled(writer->ctx)) return RBL_ERR_CANCELLED;
        part = bytes - at < PART_BYTES ? bytes - at : PART_BYTES;
        rbli_file_writer_write(out, (const char *)data + at, part);
    }
    return RBL_OK;
}

/// Header, JSON chunk, binary chunk; both padded to four bytes.
static rbl_status write_chunks(glb_writer *writer, rbli_text_out *json, rbli_file_writer *out)
{
    rbli_put_bytes(json, "   ", (4 - json->count % 4) % 4);
    rbl_status status = rbli_text_out_end(json);
    if (status != RBL_OK) return status;
    size_t binary = rbli_glb_binary_bytes(writer), padded = (binary + 3) / 4 * 4, written = 0;
    size_t total = 12 + 8 + json->count + (binary ? 8 + padded : 0);
    if (total > UINT32_MAX)
        return rbli_fail(
            writer->ctx, RBL_ERR_LIMIT, "a GLB file of %zu bytes: at most 2^32 − 1 are possible", total);
    rbli_file_writer_write(out, "glTF", 4);
    write_u32(out, 2);
    write_u32(out, (uint32_t)total);
    write_u32(out, (uint32_t)json->count);
    rbli_file_writer_write(out, "JSON", 4);
    rbli_file_writer_write(out, json->data, json->count);
    if (!binary) return RBL_OK;
    write_u32(out, (uint32_t)padded);
    rbli_file_writer_write(out, "BIN\0", 4);
    for (int s = 0; s < GLB_STREAMS; s++) {
        const glb_stream *stream = &writer->streams[s];
        if (stream->count == 0) continue;
        write_gap(&written, out);
        if (stream->packed) RBL_TRY(write_part(writer, stream->packed, stream->packed_count, &written, out));
        for (size_t i = 0; i < stream->blocks.count && !stream->packed; i++)
            RBL_TRY(
                write_part(writer, stream->blocks.data[i].data, stream->blocks.data[i].count, &written, out));
    }
    for (size_t i = 0; i < writer->images.count; i++) {
        write_gap(&written, out);
        RBL_TRY(write_part(
            writer, writer->images.data[i].bytes, writer->images.data[i].byte_count, &written, out));
    }
    rbli_file_writer_write(out, "\0\0\0", padded - binary);
done:
    return status;
}

static void free_writer(glb_writer *writer)
{
    rbl_context *ctx = writer->ctx;
    void *const owned[] = {writer->centers, writer->mesh_of_bone, writer->mesh_slots, writer->mesh_nodes,
        writer->primitives.data, writer->meshes.data, writer->local, writer->first_face, writer->next_face,
        writer->used, writer->indices};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rbli_free(ctx, owned[i]);
    rbli_glb_free_streams(writer);
    rbli_vertex_split_free(ctx, &writer->split);
    rbli_glb_free_colliders(writer);
    rbli_glb_free_textures(writer);
    rbli_asset_view_free(ctx, &writer->view);
}

rbl_status rbli_write_glb(rbl_context *ctx, const rbl_collection *collection, const rbli_glb_options *options,
    rbli_file_writer *out, rbli_glb_report *report)
{
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they are");
    rbl_status status = RBL_OK;
    glb_writer writer = {.ctx = ctx, .options = *options};
    rbli_text_out json = {.ctx = ctx};
    if (options->compression == RBLI_GLB_MESHOPT && !rbli_glb_has_meshopt())
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "this rubble was built without meshoptimizer");
    RBL_TRY(rbli_asset_view_init(ctx, collection, &writer.view));
    RBL_TRY(allocate(&writer));
    RBL_TRY(add_pieces(&writer));
    RBL_TRY(add_mesh_nodes(&writer));
    RBL_TRY(rbli_glb_add_colliders(&writer));
    RBL_TRY(rbli_glb_collect_textures(&writer));
    if (options->compression == RBLI_GLB_MESHOPT) RBL_TRY(rbli_glb_pack(&writer));
    RBL_TRY(rbli_glb_put_document(&writer, &json));
    RBL_TRY(write_chunks(&writer, &json, out));
    if (report) *report = writer.report;
done:
    rbli_text_out_free(&json);
    free_writer(&writer);
    return status;
}
