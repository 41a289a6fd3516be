/// Binary glTF 2.0. Corners with equal attributes become one vertex of a primitive; all primitives share one
/// buffer view per attribute. Positions are floats around a centre of each piece that is itself a float, so
/// that a piece far from the origin keeps its shape and programs with float transforms lose nothing.

#include "fracture/io/glb_writer.h"

#include <math.h>
#include <stdlib.h>

/// Makes room for more vertices; it grows to what all faces will need when they go on as those before.
static rbl_status reserve_vertices(glb_writer *writer, float_array *array, size_t width, size_t vertices)
{
    size_t needed = vertices * width, expected = needed;
    if (array->capacity - array->count >= needed) return RBL_OK;
    if (writer->faces_done > 0 && writer->faces_done < writer->face_total) {
        double rate = (double)array->count / (double)writer->faces_done;
        double rest = 1.02 * rate * (double)(writer->face_total - writer->faces_done);
        if (rest > (double)needed) expected = (size_t)rest + needed;
    }
    return rbli_array_reserve(writer->ctx, array, expected);
}

static void put_floats_behind(float_array *array, const float *values, size_t count)
{
    memcpy(array->data + array->count, values, count * sizeof *values);
    array->count += count;
}

static float finite_or_zero(float value)
{
    return isfinite(value) ? value : 0;
}

/// Positions of a piece around its centre.
static void choose_center(glb_writer *writer, size_t bone)
{
    const rbli_asset_view *view = &writer->view;
    int32_t g = view->geometry[bone];
    const double(*positions)[3] = view->positions + view->vertex_start[g];
    rbli_piece_center(view, bone, writer->centers[bone]);
    for (int32_t v = 0; v < view->vertex_counts[g]; v++)
        for (int k = 0; k < 3; k++)
            writer->local[v][k] = finite_or_zero((float)(positions[v][k] - writer->centers[bone][k]));
}

static bool near_unit(const float *n)
{
    double square = (double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] + (double)n[2] * (double)n[2];
    return square > 0.9999 && square < 1.0001;
}

/// The face's own normal; up where it has none.
static void flat_normal(const glb_writer *writer, size_t face, float out[3])
{
    const int32_t *f = writer->view.faces[face];
    const double *a = writer->view.positions[f[0]], *b = writer->view.positions[f[1]],
                 *c = writer->view.positions[f[2]];
    double u[3], v[3], largest_u = 0, largest_v = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
        largest_u = fmax(largest_u, fabs(u[k]));
        largest_v = fmax(largest_v, fabs(v[k]));
    }
    for (int k = 0; k < 3 && largest_u > 0 && largest_v > 0; k++) {
        u[k] /= largest_u;
        v[k] /= largest_v;
    }
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++)
        out[k] = length > 0 && isfinite(length) ? (float)(n[k] / length) : (float)(k == 1);
}

static void corner_normal(const glb_writer *writer, size_t corner, float out[3])
{
    const float *n = writer->view.normals ? writer->view.normals[corner] : NULL;
    if (n && near_unit(n)) {
        memcpy(out, n, 3 * sizeof *n);
        return;
    }
    double length =
        n ? sqrt((double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] + (double)n[2] * (double)n[2]) : 0;
    if (length > 1e-6 && isfinite(length)) {
        for (int k = 0; k < 3; k++)
            out[k] = (float)((double)n[k] / length);
    } else {
        flat_normal(writer, corner / 3, out);
    }
}

static void corner_tangent(const glb_writer *writer, size_t corner, const float normal[3], float out[4])
{
    const float *t = writer->view.tangents[corner];
    double length =
        sqrt((double)t[0] * (double)t[0] + (double)t[1] * (double)t[1] + (double)t[2] * (double)t[2]);
    if (length > 1e-6 && isfinite(length)) {
        for (int k = 0; k < 3; k++)
            out[k] = (float)((double)t[k] / length);
        out[3] = t[3] < 0 ? -1 : 1;
        return;
    }
    /* any direction across the normal */
    int axis = fabsf(normal[0]) < 0.6f ? 0 : 1;
    double along[3] = {axis == 0, axis == 1, 0}, dot = (double)normal[axis], sum = 0;
    for (int k = 0; k < 3; k++) {
        along[k] -= dot * (double)normal[k];
        sum += along[k] * along[k];
    }
    for (int k = 0; k < 3; k++)
        out[k] = (float)(along[k] / sqrt(sum));
    out[3] = 1;
}

static uint32_t mix(uint32_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i += 4) {
        uint32_t word;
        memcpy(&word, (const char *)bytes + i, 4);
        hash = (hash ^ word) * 0x9E3779B1u;
        hash ^= hash >> 15;
    }
    return hash;
}

/// Whether a corner with that normal is the vertex of a primitive.
static bool is_vertex(
    const glb_writer *writer, const primitive *out, size_t vertex, size_t b, const float normal[3])
{
    const rbli_asset_view *view = &writer->view;
    size_t a = writer->vertex_corners[vertex];
    if (view->faces[a / 3][a % 3] != view->faces[b / 3][b % 3]) return false;
    const float *known = writer->normals.data + 3 * (out->first_vertex + vertex);
    if (memcmp(known, normal, 3 * sizeof *normal) != 0) return false;
    for (int set = 0; set < writer->uv_sets; set++)
        if (memcmp(view->uvs[set][a], view->uvs[set][b], sizeof view->uvs[set][a]) != 0) return false;
    if (writer->tangents && memcmp(view->tangents[a], view->tangents[b], sizeof view->tangents[a]) != 0)
        return false;
    return !view->colors || memcmp(view->colors[a], view->colors[b], sizeof view->colors[a]) == 0;
}

/// Appends a vertex; there is room for it.
static void put_vertex(glb_writer *writer, primitive *out, size_t corner, const float normal[3])
{
    const rbli_asset_view *view = &writer->view;
    int32_t vertex = view->faces[corner / 3][corner % 3];
    const float *p = writer->local[vertex - writer->piece_vertex];
    for (int k = 0; k < 3; k++) {
        if (out->vertex_count == 0 || p[k] < out->min[k]) out->min[k] = p[k];
        if (out->vertex_count == 0 || p[k] > out->max[k]) out->max[k] = p[k];
    }
    put_floats_behind(&writer->positions, p, 3);
    put_floats_behind(&writer->normals, normal, 3);
    if (writer->tangents) {
        float tangent[4];
        corner_tangent(writer, corner, normal, tangent);
        put_floats_behind(&writer->tangents_out, tangent, 4);
    }
    if (view->colors) {
        float color[4];
        for (int k = 0; k < 4; k++) {
            float value = view->colors[corner][k];
            color[k] = value >= 0 ? value <= 1 ? value : 1 : 0;
        }
        put_floats_behind(&writer->colors, color, 4);
    }
    for (int set = 0; set < writer->uv_sets; set++) {
        const float uv[2] = {
            finite_or_zero(view->uvs[set][corner][0]), finite_or_zero(view->uvs[set][corner][1])};
        put_floats_behind(&writer->uvs[set], uv, 2);
    }
    out->vertex_count++;
}

/// The vertex of a primitive that a corner becomes.
static uint32_t vertex_of_corner(glb_writer *writer, primitive *out, size_t corner)
{
    const rbli_asset_view *view = &writer->view;
    float normal[3];
    corner_normal(writer, corner, normal);
    uint32_t hash = mix(17, &view->faces[corner / 3][corner % 3], sizeof(int32_t));
    hash = mix(hash, normal, sizeof normal);
    for (int set = 0; set < writer->uv_sets; set++)
        hash = mix(hash, view->uvs[set][corner], sizeof view->uvs[set][corner]);
    size_t at = hash & (writer->slot_count - 1);
    while (writer->slots[at]) {
        uint32_t vertex = writer->slots[at] - 1;
        if (is_vertex(writer, out, vertex, corner, normal)) return vertex;
        at = (at + 1) & (writer->slot_count - 1);
    }
    uint32_t vertex = (uint32_t)out->vertex_count;
    writer->vertex_corners[vertex] = corner;
    writer->slots[at] = vertex + 1;
    put_vertex(writer, out, corner, normal);
    return vertex;
}

/// Makes room for the vertices and indices of a primitive.
static rbl_status reserve_primitive(glb_writer *writer, size_t face_count)
{
    rbl_status status = RBL_OK;
    size_t most = 3 * face_count;
    RBL_TRY(reserve_vertices(writer, &writer->positions, 3, most));
    RBL_TRY(reserve_vertices(writer, &writer->normals, 3, most));
    if (writer->tangents) RBL_TRY(reserve_vertices(writer, &writer->tangents_out, 4, most));
    if (writer->view.colors) RBL_TRY(reserve_vertices(writer, &writer->colors, 4, most));
    for (int set = 0; set < writer->uv_sets; set++)
        RBL_TRY(reserve_vertices(writer, &writer->uvs[set], 2, most));
    RBL_TRY(rbli_array_reserve(writer->ctx, &writer->indices32, most));
done:
    return status;
}

static bool collapses(const glb_writer *writer, const int32_t face[3])
{
    const float *p[3];
    for (int k = 0; k < 3; k++)
        p[k] = writer->local[face[k] - writer->piece_vertex];
    for (int k = 0; k < 3; k++) {
        const float *a = p[k], *b = p[(k + 1) % 3];
        if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2]) return true;
    }
    return false;
}

/// All faces of a piece that have one material, from `first` on along `next_face`.
static rbl_status add_primitive(glb_writer *writer, int32_t geometry, int32_t material, size_t face_count)
{
    rbl_context *ctx = writer->ctx;
    const rbli_asset_view *view = &writer->view;
    rbl_status status = RBL_OK;
    primitive out = {.material = material, .first_vertex = writer->positions.count / 3};
    writer->slot_count = 64;
    while (writer->slot_count < 6 * face_count)
        writer->slot_count *= 2;
    memset(writer->slots, 0, writer->slot_count * sizeof *writer->slots);
    size_t first_index = writer->indices32.count;
    RBL_TRY(reserve_primitive(writer, face_count));
    for (int32_t f = writer->first_face[material + 1]; f >= 0; f = writer->next_face[f]) {
        RBL_TRY(rbli_poll(ctx, (size_t)f * 16)); /* each face takes a microsecond */
        size_t face = (size_t)view->face_start[geometry] + (size_t)f;
        if (collapses(writer, view->faces[face])) {
            writer->report.collapsed_triangles++;
            continue;
        }
        writer->report.triangles++;
        for (size_t k = 0; k < 3; k++) {
            uint32_t vertex = vertex_of_corner(writer, &out, 3 * face + k);
            writer->indices32.data[writer->indices32.count++] = vertex;
        }
    }
    writer->faces_done += face_count;
    out.index_count = writer->indices32.count - first_index;
    out.first_index = first_index;
    out.wide = out.vertex_count > MOST_SHORT_VERTICES;
    if (!out.wide) { /* over to the short ones */
        out.first_index = writer->indices16.count;
        RBL_TRY(rbli_array_reserve(ctx, &writer->indices16, out.index_count));
        for (size_t i = 0; i < out.index_count; i++) {
            RBL_TRY(rbli_poll(ctx, i));
            writer->indices16.data[writer->indices16.count++] =
                (uint16_t)writer->indices32.data[first_index + i];
        }
        writer->indices32.count = first_index;
    }
    if (out.index_count > 0) RBL_TRY(rbli_array_push(ctx, &writer->primitives, out));
done:
    return status;
}

static int compare_int(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static rbl_status add_piece(glb_writer *writer, size_t bone)
{
    const rbli_asset_view *view = &writer->view;
    rbl_status status = RBL_OK;
    int32_t g = view->geometry[bone];
    writer->piece_vertex = view->vertex_start[g];
    choose_center(writer, bone);
    size_t used_count = 0;
    for (int32_t f = view->face_counts[g] - 1; f >= 0; f--) {
        RBL_TRY(rbli_poll(writer->ctx, (size_t)f));
        int32_t material = view->face_material ? view->face_material[view->face_start[g] + f] : -1;
        int32_t *first = &writer->first_face[material + 1];
        if (*first < 0) writer->used[used_count++] = material;
        writer->next_face[f] = *first;
        *first = f;
    }
    qsort(writer->used, used_count, sizeof *writer->used, compare_int);
    for (size_t i = 0; i < used_count; i++) {
        size_t face_count = 0;
        for (int32_t f = writer->first_face[writer->used[i] + 1]; f >= 0; f = writer->next_face[f])
            face_count++;
        RBL_TRY(add_primitive(writer, g, writer->used[i], face_count));
    }
    for (size_t i = 0; i < used_count; i++)
        writer->first_face[writer->used[i] + 1] = -1;
done:
    return status;
}

static rbl_status allocate(glb_writer *writer)
{
    rbl_context *ctx = writer->ctx;
    const rbli_asset_view *view = &writer->view;
    size_t most_vertices = 0, most_faces = 0, slot_count = 64;
    for (size_t g = 0; g < view->geometry_count; g++) {
        if ((size_t)view->vertex_counts[g] > most_vertices) most_vertices = (size_t)view->vertex_counts[g];
        if ((size_t)view->face_counts[g] > most_faces) most_faces = (size_t)view->face_counts[g];
        writer->face_total += (size_t)view->face_counts[g];
    }
    while (slot_count < 6 * most_faces)
        slot_count *= 2;
    writer->centers = rbli_calloc(ctx, view->bone_count, sizeof *writer->centers);
    writer->mesh_ends = rbli_calloc(ctx, view->bone_count, sizeof *writer->mesh_ends);
    writer->mesh_of_bone = rbli_alloc(ctx, view->bone_count, sizeof *writer->mesh_of_bone);
    writer->local = rbli_alloc(ctx, most_vertices, sizeof *writer->local);
    writer->first_face = rbli_alloc(ctx, view->material_count + 1, sizeof *writer->first_face);
    writer->used = rbli_alloc(ctx, view->material_count + 1, sizeof *writer->used);
    writer->next_face = rbli_alloc(ctx, most_faces, sizeof *writer->next_face);
    writer->slots = rbli_alloc(ctx, slot_count, sizeof *writer->slots);
    writer->vertex_corners = rbli_alloc(ctx, 3 * most_faces, sizeof *writer->vertex_corners);
    if (!writer->centers || !writer->mesh_ends || !writer->mesh_of_bone || !writer->local ||
        !writer->first_face || !writer->used || !writer->next_face || !writer->slots ||
        !writer->vertex_corners)
        return RBL_ERR_NO_MEMORY;
    for (size_t m = 0; m <= view->material_count; m++)
        writer->first_face[m] = -1;
    while (writer->uv_sets < RBLI_PIECE_UV_SETS && view->uvs[writer->uv_sets])
        writer->uv_sets++;
    writer->tangents = view->tangents && writer->uv_sets > 0;
    return RBL_OK;
}

void rbli_glb_put_numbers(rbli_text_out *json, const double *values, size_t count)
{
    rbli_put(json, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) rbli_put(json, ",");
        rbli_put_double(json, values[i]);
    }
    rbli_put(json, "]");
}

static void put_floats(rbli_text_out *json, const float *values, size_t count)
{
    double wide[4];
    for (size_t i = 0; i < count; i++)
        wide[i] = (double)values[i];
    rbli_glb_put_numbers(json, wide, count);
}

static void put_index(rbli_text_out *json, const char *key, int32_t index)
{
    rbli_put(json, key);
    rbli_put_size(json, (size_t)index);
}

static void put_transform(const glb_writer *writer, rbli_text_out *json, size_t bone)
{
    double m[16];
    if (!rbli_node_transform(&writer->view, (const double(*)[3])writer->centers, bone, m)) {
        rbli_put(json, ",\"matrix\":");
        rbli_glb_put_numbers(json, m, 16);
    } else if (m[12] != 0 || m[13] != 0 || m[14] != 0) {
        rbli_put(json, ",\"translation\":");
        rbli_glb_put_numbers(json, m + 12, 3);
    }
}

/// The node that a node hangs on: −1 for the scene, −2 for none.
static int32_t parent_node(const glb_writer *writer, size_t node)
{
    const rbli_asset_view *view = &writer->view;
    if (node < view->bone_count) return view->parent[node];
    const glb_extra *extra = &writer->extras.data[node - view->bone_count];
    return extra->place == GLB_BELOW_PIECE    ? extra->bone
           : extra->place == GLB_BESIDE_PIECE ? view->parent[extra->bone]
                                              : -2;
}

static void put_bone_node(const glb_writer *writer, rbli_text_out *json, size_t bone)
{
    rbli_put_json_string(json, rbli_collection_string(writer->view.collection, "bone", "name", bone));
    put_transform(writer, json, bone);
    if (writer->mesh_of_bone[bone] >= 0) put_index(json, ",\"mesh\":", writer->mesh_of_bone[bone]);
    rbli_glb_put_body(writer, json, bone);
    rbli_glb_put_bone_extras(writer, json, bone);
}

static rbl_status put_extra_node(const glb_writer *writer, rbli_text_out *json, const glb_extra *extra)
{
    const double *t = extra->translation;
    rbl_status status = rbli_glb_put_extra_name(writer, json, extra);
    if (extra->place == GLB_BESIDE_PIECE) {
        put_transform(writer, json, (size_t)extra->bone);
    } else if (t[0] != 0 || t[1] != 0 || t[2] != 0) {
        rbli_put(json, ",\"translation\":");
        rbli_glb_put_numbers(json, t, 3);
    }
    if (extra->mesh >= 0) put_index(json, ",\"mesh\":", writer->mesh_count + extra->mesh);
    rbli_glb_put_collider(writer, json, &extra->collider);
    return status;
}

static rbl_status put_nodes(const glb_writer *writer, rbli_text_out *json)
{
    rbl_context *ctx = writer->ctx;
    rbl_status status = RBL_OK;
    size_t bone_count = writer->view.bone_count, count = bone_count + writer->extras.count;
    /* first[parent] and next sibling, ascending; first[0] those outside of the scene, first[1] its own */
    int32_t *first = rbli_alloc(ctx, count + 2, sizeof *first), *next = rbli_alloc(ctx, count, sizeof *next);
    if (!first || !next) {
        status = RBL_ERR_NO_MEMORY;
        goto done;
    }
    for (size_t n = 0; n < count + 2; n++)
        first[n] = -1;
    for (size_t n = count; n-- > 0;) {
        int32_t parent = parent_node(writer, n);
        next[n] = first[parent + 2];
        first[parent + 2] = (int32_t)n;
    }
    rbli_put(json, ",\"scene\":0,\"scenes\":[{\"nodes\":[");
    for (int32_t n = first[1]; n >= 0; n = next[n])
        put_index(json, n == first[1] ? "" : ",", n);
    rbli_put(json, "]");
    RBL_TRY(rbli_glb_put_scene_extras(writer, json));
    rbli_put(json, "}],\"nodes\":[");
    for (size_t n = 0; n < count; n++) {
        rbli_put(json, n ? ",{\"name\":" : "{\"name\":");
        if (n < bone_count)
            put_bone_node(writer, json, n);
        else
            RBL_TRY(put_extra_node(writer, json, &writer->extras.data[n - bone_count]));
        if (first[n + 2] >= 0) rbli_put(json, ",\"children\":[");
        for (int32_t c = first[n + 2]; c >= 0; c = next[c])
            put_index(json, c == first[n + 2] ? "" : ",", c);
        rbli_put(json, first[n + 2] >= 0 ? "]}" : "}");
    }
    rbli_put(json, "]");
done:
    rbli_free(ctx, first);
    rbli_free(ctx, next);
    return status;
}

static void put_meshes(const glb_writer *writer, rbli_text_out *json)
{
    const rbli_asset_view *view = &writer->view;
    size_t accessors = 3 + (size_t)writer->tangents + (view->colors ? 1 : 0) + (size_t)writer->uv_sets, p = 0;
    bool any = false;
    for (size_t b = 0; b < view->bone_count; b++) {
        if (writer->mesh_of_bone[b] < 0) continue;
        rbli_put(json, any ? ",{\"name\":" : ",\"meshes\":[{\"name\":");
        any = true;
        rbli_put_json_string(json, rbli_collection_string(view->collection, "bone", "name", b));
        rbli_put(json, ",\"primitives\":[");
        for (size_t first = p; p < writer->mesh_ends[b]; p++) {
            size_t a = p * accessors;
            rbli_put_format(
                json, "%s{\"attributes\":{\"POSITION\":%zu,\"NORMAL\":%zu", p > first ? "," : "", a, a + 1);
            a += 2;
            if (writer->tangents) rbli_put_format(json, ",\"TANGENT\":%zu", a++);
            if (view->colors) rbli_put_format(json, ",\"COLOR_0\":%zu", a++);
            for (int set = 0; set < writer->uv_sets; set++)
                rbli_put_format(json, ",\"TEXCOORD_%d\":%zu", set, a++);
            rbli_put_format(json, "},\"indices\":%zu", a);
            if (writer->primitives.data[p].material >= 0)
                rbli_put_format(json, ",\"material\":%d", writer->primitives.data[p].material);
            rbli_put(json, "}");
        }
        rbli_put(json, "]}");
    }
    size_t a = writer->primitives.count * accessors;
    for (size_t h = 0; h < writer->hulls.count; h++, a += 2) {
        rbli_put(json, any ? "," : ",\"meshes\":[");
        any = true;
        rbli_put_format(
            json, "{\"primitives\":[{\"attributes\":{\"POSITION\":%zu},\"indices\":%zu}]}", a, a + 1);
    }
    if (any) rbli_put(json, "]");
}

/// A part of the binary chunk: one attribute of all vertices, or all indices of one width.
typedef struct section {
    const void *data;
    size_t bytes, stride; /* of a vertex; 0 for indices */
} section;

enum {
    MOST_SECTIONS = 7 + RBLI_PIECE_UV_SETS,
    LAST_SECTIONS = 3 /* of hulls, and indices of either width */
};

static size_t list_sections(const glb_writer *writer, section out[MOST_SECTIONS])
{
    size_t count = 0;
    const float_array *arrays[4 + RBLI_PIECE_UV_SETS] = {&writer->positions, &writer->normals};
    size_t widths[4 + RBLI_PIECE_UV_SETS] = {3, 3}, array_count = 2;
    if (writer->tangents) widths[array_count] = 4, arrays[array_count++] = &writer->tangents_out;
    if (writer->view.colors) widths[array_count] = 4, arrays[array_count++] = &writer->colors;
    for (int set = 0; set < writer->uv_sets; set++)
        widths[array_count] = 2, arrays[array_count++] = &writer->uvs[set];
    for (size_t i = 0; i < array_count; i++)
        out[count++] =
            (section){arrays[i]->data, arrays[i]->count * sizeof(float), widths[i] * sizeof(float)};
    out[count++] = (section){
        writer->hull_positions.data, writer->hull_positions.count * sizeof(float), 3 * sizeof(float)};
    out[count++] = (section){writer->indices32.data, writer->indices32.count * sizeof(uint32_t), 0};
    out[count++] = (section){writer->indices16.data, writer->indices16.count * sizeof(uint16_t), 0};
    return count;
}

static size_t view_count_of(const section *sections, size_t section_count)
{
    size_t count = 0;
    for (size_t s = 0; s < section_count; s++)
        count += sections[s].bytes > 0;
    return count;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

/// Sections one behind the other, then images, each at a multiple of four bytes.
static size_t binary_bytes(const glb_writer *writer, const section *sections, size_t section_count)
{
    size_t bytes = 0;
    for (size_t s = 0; s < section_count; s++)
        bytes += sections[s].bytes;
    for (size_t i = 0; i < writer->images.count; i++)
        bytes = aligned(bytes) + writer->images.data[i].byte_count;
    return bytes;
}

static void put_float_accessor(
    rbli_text_out *json, const char *separator, size_t view, const primitive *part, size_t stride)
{
    static const char *const types[] = {"", "", "VEC2", "VEC3", "VEC4"};
    rbli_put(json, separator);
    rbli_put(json, "{\"bufferView\":");
    rbli_put_size(json, view);
    rbli_put(json, ",\"byteOffset\":");
    rbli_put_size(json, part->first_vertex * stride);
    rbli_put(json, ",\"componentType\":5126,\"count\":");
    rbli_put_size(json, part->vertex_count);
    rbli_put(json, ",\"type\":\"");
    rbli_put(json, types[stride / sizeof(float)]);
    rbli_put(json, "\"");
}

static void put_bounds(rbli_text_out *json, const primitive *part)
{
    rbli_put(json, ",\"min\":");
    put_floats(json, part->min, 3);
    rbli_put(json, ",\"max\":");
    put_floats(json, part->max, 3);
}

static void put_index_accessor(rbli_text_out *json, size_t view, const primitive *part)
{
    rbli_put(json, ",{\"bufferView\":");
    rbli_put_size(json, view);
    rbli_put(json, ",\"byteOffset\":");
    rbli_put_size(json, part->first_index * (part->wide ? sizeof(uint32_t) : sizeof(uint16_t)));
    rbli_put(json, part->wide ? ",\"componentType\":5125,\"count\":" : ",\"componentType\":5123,\"count\":");
    rbli_put_size(json, part->index_count);
    rbli_put(json, ",\"type\":\"SCALAR\"}");
}

static void put_accessors(
    const glb_writer *writer, rbli_text_out *json, const section *sections, size_t section_count)
{
    _Static_assert((int)COMPONENT_U16 == 5123 && (int)COMPONENT_U32 == 5125 && (int)COMPONENT_FLOAT == 5126,
        "written out");
    size_t view_of[MOST_SECTIONS] = {0}, view_count = 0, offset = 0;
    const size_t hulls = section_count - LAST_SECTIONS, wide = section_count - 2, narrow = section_count - 1;
    rbli_put(json, ",\"bufferViews\":[");
    for (size_t s = 0; s < section_count; s++) {
        if (sections[s].bytes == 0) continue;
        view_of[s] = view_count;
        rbli_put_format(json, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", view_count ? "," : "",
            offset, sections[s].bytes);
        if (sections[s].stride) rbli_put_format(json, ",\"byteStride\":%zu", sections[s].stride);
        rbli_put_format(json, ",\"target\":%d}", sections[s].stride ? TARGET_VERTICES : TARGET_INDICES);
        view_count++;
        offset += sections[s].bytes;
    }
    for (size_t i = 0; i < writer->images.count; i++) {
        offset = aligned(offset);
        rbli_put_format(json, ",{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}", offset,
            writer->images.data[i].byte_count);
        offset += writer->images.data[i].byte_count;
    }
    rbli_put(json, "],\"accessors\":[");
    for (size_t p = 0; p < writer->primitives.count; p++) {
        const primitive *part = &writer->primitives.data[p];
        for (size_t s = 0; s < hulls; s++) {
            put_float_accessor(json, p + s ? "," : "", view_of[s], part, sections[s].stride);
            if (s == 0) put_bounds(json, part);
            rbli_put(json, "}");
        }
        put_index_accessor(json, view_of[part->wide ? wide : narrow], part);
    }
    for (size_t h = 0; h < writer->hulls.count; h++) {
        const primitive *part = &writer->hulls.data[h];
        put_float_accessor(
            json, writer->primitives.count + h ? "," : "", view_of[hulls], part, sections[hulls].stride);
        put_bounds(json, part);
        rbli_put(json, "}");
        put_index_accessor(json, view_of[part->wide ? wide : narrow], part);
    }
    rbli_put_format(
        json, "],\"buffers\":[{\"byteLength\":%zu}]", binary_bytes(writer, sections, section_count));
}

static void write_u32(rbli_file_writer *out, uint32_t value)
{
    uint8_t bytes[4] = {
        (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    rbli_file_writer_write(out, bytes, sizeof bytes);
}

enum { PART_BYTES = 1 << 20 }; /* written between two looks at the request to cancel */

static rbl_status write_part(rbl_context *ctx, const void *data, size_t bytes, rbli_file_writer *out)
{
    for (size_t at = 0, part; at < bytes; at += part) {
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        part = bytes - at < PART_BYTES ? bytes - at : PART_BYTES;
        rbli_file_writer_write(out, (const char *)data + at, part);
    }
    return RBL_OK;
}

/// Header, JSON chunk, binary chunk; both padded to four bytes.
static rbl_status write_chunks(glb_writer *writer, rbli_text_out *json, const section *sections,
    size_t section_count, rbli_file_writer *out)
{
    rbli_put_bytes(json, "   ", (4 - json->count % 4) % 4);
    rbl_status status = rbli_text_out_end(json);
    if (status != RBL_OK) return status;
    size_t binary = binary_bytes(writer, sections, section_count);
    size_t padded = aligned(binary), total = 12 + 8 + json->count + (binary ? 8 + padded : 0);
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
    size_t written = 0;
    for (size_t s = 0; s < section_count; s++) {
        RBL_TRY(write_part(writer->ctx, sections[s].data, sections[s].bytes, out));
        written += sections[s].bytes;
    }
    for (size_t i = 0; i < writer->images.count; i++) {
        const rbli_image_view *image = &writer->images.data[i];
        rbli_file_writer_write(out, "\0\0\0", aligned(written) - written);
        RBL_TRY(write_part(writer->ctx, image->bytes, image->byte_count, out));
        written = aligned(written) + image->byte_count;
    }
    rbli_file_writer_write(out, "\0\0\0", padded - binary);
done:
    return status;
}

static void free_writer(glb_writer *writer)
{
    rbl_context *ctx = writer->ctx;
    void *const owned[] = {writer->centers, writer->mesh_ends, writer->mesh_of_bone, writer->positions.data,
        writer->normals.data, writer->tangents_out.data, writer->colors.data, writer->indices16.data,
        writer->indices32.data, writer->primitives.data, writer->local, writer->first_face, writer->next_face,
        writer->used, writer->slots, writer->vertex_corners};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rbli_free(ctx, owned[i]);
    for (int set = 0; set < RBLI_PIECE_UV_SETS; set++)
        rbli_free(ctx, writer->uvs[set].data);
    rbli_glb_free_colliders(writer);
    rbli_glb_free_textures(writer);
    rbli_asset_view_free(ctx, &writer->view);
}

rbl_status rbli_write_glb(rbl_context *ctx, const rbl_collection *collection, rbli_collider_form colliders,
    rbli_file_writer *out, rbli_glb_report *report)
{
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they are");
    rbl_status status = RBL_OK;
    glb_writer writer = {.ctx = ctx, .form = colliders};
    rbli_text_out json = {.ctx = ctx};
    RBL_TRY(rbli_asset_view_init(ctx, collection, &writer.view));
    RBL_TRY(allocate(&writer));
    for (size_t b = 0; b < writer.view.bone_count; b++) {
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        size_t before = writer.primitives.count;
        if (rbli_asset_is_piece(&writer.view, b)) RBL_TRY(add_piece(&writer, b));
        writer.mesh_ends[b] = writer.primitives.count;
        writer.mesh_of_bone[b] = writer.primitives.count > before ? writer.mesh_count++ : -1;
    }
    RBL_TRY(rbli_glb_add_colliders(&writer));
    RBL_TRY(rbli_glb_collect_textures(&writer));
    rbli_put(&json, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"rubble\"}");
    rbli_glb_put_extensions(&writer, &json);
    if (writer.view.bone_count > 0) RBL_TRY(put_nodes(&writer, &json));
    put_meshes(&writer, &json);
    section sections[MOST_SECTIONS];
    size_t section_count = list_sections(&writer, sections);
    rbli_glb_put_materials(&writer, &json, view_count_of(sections, section_count));
    if (writer.primitives.count + writer.hulls.count > 0)
        put_accessors(&writer, &json, sections, section_count);
    rbli_put(&json, "}");
    RBL_TRY(write_chunks(&writer, &json, sections, section_count, out));
    if (report) *report = writer.report;
done:
    rbli_text_out_free(&json);
    free_writer(&writer);
    return status;
}
