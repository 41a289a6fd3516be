/// The JSON of a GLB: nodes, meshes, views, accessors, buffers.

#include <math.h>

#include "fracture/io/glb_writer.h"

enum { TARGET_VERTICES = 34962, TARGET_INDICES = 34963 };

void rbli_glb_put_numbers(rbli_text_out *json, const double *values, size_t count)
{
    rbli_put(json, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) rbli_put(json, ",");
        rbli_put_double(json, values[i]);
    }
    rbli_put(json, "]");
}

static void put_index(rbli_text_out *json, const char *key, size_t index)
{
    rbli_put(json, key);
    rbli_put_size(json, index);
}

/* ---- nodes ---- */

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

static void put_bone_node(const glb_writer *writer, rbli_text_out *json, const glb_facts *facts, size_t bone)
{
    rbli_put_json_string(json, rbli_collection_string(writer->view.collection, "bone", "name", bone));
    put_transform(writer, json, bone);
    if (writer->mesh_of_bone[bone] >= 0 && writer->step == 0)
        put_index(json, ",\"mesh\":", (size_t)writer->mesh_of_bone[bone]);
    rbli_glb_put_body(writer, json, bone);
    if (facts->volumes) rbli_glb_put_facts(writer, facts, json, bone);
}

static rbl_status put_extra_node(const glb_writer *writer, rbli_text_out *json, const glb_extra *extra)
{
    const double *t = extra->translation;
    rbl_status status = rbli_glb_put_extra_name(writer, json, extra);
    if (extra->own_mesh) {
        const double scale[3] = {writer->step, writer->step, writer->step};
        rbli_put(json, ",\"scale\":");
        rbli_glb_put_numbers(json, scale, 3);
        put_index(json, ",\"mesh\":", (size_t)writer->mesh_of_bone[extra->bone]);
        return status;
    }
    if (extra->place == GLB_BESIDE_PIECE) {
        put_transform(writer, json, (size_t)extra->bone);
    } else if (t[0] != 0 || t[1] != 0 || t[2] != 0) {
        rbli_put(json, ",\"translation\":");
        rbli_glb_put_numbers(json, t, 3);
    }
    if (extra->mesh >= 0) put_index(json, ",\"mesh\":", writer->meshes.count + (size_t)extra->mesh);
    rbli_glb_put_collider(writer, json, &extra->collider);
    return status;
}

static rbl_status put_nodes(glb_writer *writer, rbli_text_out *json)
{
    rbl_context *ctx = writer->ctx;
    rbl_status status = RBL_OK;
    glb_facts facts = {0};
    size_t bone_count = writer->view.bone_count, count = bone_count + writer->extras.count;
    /* first[parent] and next sibling, ascending; first[0] those outside of the scene, first[1] its own */
    int32_t *first = rbli_alloc(ctx, count + 2, sizeof *first), *next = rbli_alloc(ctx, count, sizeof *next);
    if (!first || !next) {
        status = RBL_ERR_NO_MEMORY;
        goto done;
    }
    if (writer->options.extras) RBL_TRY(rbli_glb_facts_init(writer, &facts));
    for (size_t n = 0; n < count + 2; n++)
        first[n] = -1;
    for (size_t n = count; n-- > 0;) {
        int32_t parent = parent_node(writer, n);
        next[n] = first[parent + 2];
        first[parent + 2] = (int32_t)n;
    }
    rbli_put(json, ",\"scene\":0,\"scenes\":[{\"nodes\":[");
    for (int32_t n = first[1]; n >= 0; n = next[n])
        put_index(json, n == first[1] ? "" : ",", (size_t)n);
    rbli_put(json, "]");
    if (writer->options.extras) RBL_TRY(rbli_glb_put_scene_extras(writer, json));
    rbli_put(json, "}],\"nodes\":[");
    for (size_t n = 0; n < count; n++) {
        RBL_TRY(rbli_poll(ctx, n * 16));
        rbli_put(json, n ? ",{\"name\":" : "{\"name\":");
        if (n < bone_count)
            put_bone_node(writer, json, &facts, n);
        else
            RBL_TRY(put_extra_node(writer, json, &writer->extras.data[n - bone_count]));
        if (first[n + 2] >= 0) rbli_put(json, ",\"children\":[");
        for (int32_t c = first[n + 2]; c >= 0; c = next[c])
            put_index(json, c == first[n + 2] ? "" : ",", (size_t)c);
        rbli_put(json, first[n + 2] >= 0 ? "]}" : "}");
    }
    rbli_put(json, "]");
done:
    rbli_glb_facts_free(writer, &facts);
    rbli_free(ctx, first);
    rbli_free(ctx, next);
    return status;
}

/* ---- meshes ---- */

/// An attribute's key in a primitive, up to its number.
static void put_attribute(rbli_text_out *json, int stream, size_t accessor)
{
    static const char *const names[] = {[GLB_POSITION] = "\"POSITION\":",
        [GLB_NORMAL] = ",\"NORMAL\":",
        [GLB_NORMAL_LENGTH] = ",\"_NORMAL_LENGTH\":",
        [GLB_TANGENT] = ",\"TANGENT\":",
        [GLB_COLOR] = ",\"COLOR_0\":"};
    if (stream == GLB_HULL) {
        rbli_put(json, names[GLB_POSITION]);
    } else if (stream >= GLB_UV) {
        put_index(json, ",\"TEXCOORD_", (size_t)(stream - GLB_UV) % RBLI_PIECE_UV_SETS);
        rbli_put(json, "\":");
    } else {
        rbli_put(json, names[stream]);
    }
    rbli_put_size(json, accessor);
}

static void put_primitive(rbli_text_out *json, const primitive *part, size_t *accessor)
{
    rbli_put(json, "{\"attributes\":{");
    for (int s = 0; s < GLB_INDEX32; s++)
        if (part->streams >> s & 1) put_attribute(json, s, (*accessor)++);
    put_index(json, "},\"indices\":", (*accessor)++);
    if (part->material >= 0) put_index(json, ",\"material\":", (size_t)part->material);
    rbli_put(json, "}");
}

/// Accessors are numbered as they come: attributes in the order of streams, then indices.
static void put_meshes(const glb_writer *writer, rbli_text_out *json)
{
    size_t accessor = 0;
    const rbl_collection *collection = writer->view.collection;
    if (writer->meshes.count + writer->hulls.count == 0) return;
    rbli_put(json, ",\"meshes\":[");
    for (size_t m = 0; m < writer->meshes.count; m++) {
        const glb_mesh *mesh = &writer->meshes.data[m];
        rbli_put(json, m ? ",{\"name\":" : "{\"name\":");
        rbli_put_json_string(json, rbli_collection_string(collection, "bone", "name", mesh->bone));
        for (size_t p = 0; p < mesh->primitive_count; p++) {
            rbli_put(json, p ? "," : ",\"primitives\":[");
            put_primitive(json, &writer->primitives.data[mesh->first_primitive + p], &accessor);
        }
        rbli_put(json, "]}");
    }
    for (size_t h = 0; h < writer->hulls.count; h++) {
        rbli_put(json, h + writer->meshes.count ? ",{\"primitives\":[" : "{\"primitives\":[");
        put_primitive(json, &writer->hulls.data[h], &accessor);
        rbli_put(json, "]}");
    }
    rbli_put(json, "]");
}

/* ---- views and buffers ---- */

static size_t aligned(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

size_t rbli_glb_binary_bytes(const glb_writer *writer)
{
    size_t bytes = 0;
    for (int s = 0; s < GLB_STREAMS; s++)
        if (writer->streams[s].count > 0)
            bytes = aligned(bytes) +
                    (writer->streams[s].packed ? writer->streams[s].packed_count : writer->streams[s].count);
    for (size_t i = 0; i < writer->images.count; i++)
        bytes = aligned(bytes) + writer->images.data[i].byte_count;
    return bytes;
}

static void put_range(rbli_text_out *json, size_t buffer, size_t offset, size_t bytes)
{
    put_index(json, "{\"buffer\":", buffer);
    put_index(json, ",\"byteOffset\":", offset);
    put_index(json, ",\"byteLength\":", bytes);
}

static void put_packed(rbli_text_out *json, const glb_stream *stream, bool vertices, size_t offset)
{
    rbli_put(json, ",\"extensions\":{\"EXT_meshopt_compression\":");
    put_range(json, 0, offset, stream->packed_count);
    put_index(json, ",\"byteStride\":", stream->stride);
    put_index(json, ",\"count\":", stream->count / stream->stride);
    rbli_put(json, vertices ? ",\"mode\":\"ATTRIBUTES\"}}" : ",\"mode\":\"TRIANGLES\"}}");
}

/// Views of streams and images. Encoded streams are views of a buffer 1 that is not there.
static size_t put_views(const glb_writer *writer, rbli_text_out *json, size_t view_of[GLB_STREAMS])
{
    size_t count = 0, offset = 0, unpacked = 0;
    rbli_put(json, ",\"bufferViews\":[");
    for (int s = 0; s < GLB_STREAMS; s++) {
        const glb_stream *stream = &writer->streams[s];
        bool vertices = s < GLB_INDEX32;
        if (stream->count == 0) continue;
        view_of[s] = count++;
        offset = aligned(offset);
        rbli_put(json, count > 1 ? "," : "");
        put_range(json, stream->packed != NULL, stream->packed ? unpacked : offset, stream->count);
        if (vertices) put_index(json, ",\"byteStride\":", stream->stride);
        put_index(json, ",\"target\":", vertices ? TARGET_VERTICES : TARGET_INDICES);
        if (stream->packed) put_packed(json, stream, vertices, offset);
        rbli_put(json, "}");
        offset += stream->packed ? stream->packed_count : stream->count;
        unpacked = aligned(unpacked + stream->count);
    }
    for (size_t i = 0; i < writer->images.count; i++) {
        offset = aligned(offset);
        rbli_put(json, count + i ? "," : "");
        put_range(json, 0, offset, writer->images.data[i].byte_count);
        rbli_put(json, "}");
        offset += writer->images.data[i].byte_count;
    }
    rbli_put(json, "]");
    return unpacked;
}

static void put_accessor(
    rbli_text_out *json, const glb_stream *stream, size_t view, size_t first, size_t count)
{
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    put_index(json, "{\"bufferView\":", view);
    if (first) put_index(json, ",\"byteOffset\":", first * stream->stride);
    put_index(json, ",\"componentType\":", (size_t)stream->component);
    if (stream->normalized) rbli_put(json, ",\"normalized\":true");
    put_index(json, ",\"count\":", count);
    rbli_put(json, ",\"type\":\"");
    rbli_put(json, types[stream->width]);
    rbli_put(json, "\"");
}

static void put_bound(rbli_text_out *json, const char *key, const double values[3])
{
    rbli_put(json, key);
    for (int k = 0; k < 3; k++) {
        rbli_put(json, k ? "," : "[");
        rbli_put_double(json, values[k]);
    }
    rbli_put(json, "]");
}

static void put_accessors_of(
    const glb_writer *writer, rbli_text_out *json, const primitive *part, const size_t view_of[GLB_STREAMS])
{
    for (int s = 0; s < GLB_INDEX32; s++) {
        if (!(part->streams >> s & 1)) continue;
        put_accessor(json, &writer->streams[s], view_of[s], part->first[s], part->vertex_count);
        if (s == GLB_POSITION || s == GLB_HULL) {
            put_bound(json, ",\"min\":", part->min);
            put_bound(json, ",\"max\":", part->max);
        }
        rbli_put(json, "},");
    }
    int indices = part->wide ? GLB_INDEX32 : GLB_INDEX16;
    put_accessor(json, &writer->streams[indices], view_of[indices], part->first_index, part->index_count);
    rbli_put(json, "}");
}

static rbl_status put_arrays(const glb_writer *writer, rbli_text_out *json)
{
    size_t view_of[GLB_STREAMS] = {0}, unpacked = put_views(writer, json, view_of);
    size_t parts = writer->primitives.count, count = parts + writer->hulls.count;
    rbli_put(json, ",\"accessors\":[");
    for (size_t p = 0; p < count; p++) {
        if (rbli_poll(writer->ctx, p * 16) != RBL_OK) return RBL_ERR_CANCELLED;
        rbli_put(json, p ? "," : "");
        put_accessors_of(
            writer, json, p < parts ? &writer->primitives.data[p] : &writer->hulls.data[p - parts], view_of);
    }
    put_index(json, "],\"buffers\":[{\"byteLength\":", rbli_glb_binary_bytes(writer));
    if (writer->options.compression == RBLI_GLB_MESHOPT) {
        put_index(json, "},{\"byteLength\":", unpacked);
        rbli_put(json, ",\"extensions\":{\"EXT_meshopt_compression\":{\"fallback\":true}}");
    }
    rbli_put(json, "}]");
    return RBL_OK;
}

rbl_status rbli_glb_put_document(glb_writer *writer, rbli_text_out *json)
{
    rbl_status status = RBL_OK;
    size_t views = 0;
    for (int s = 0; s < GLB_STREAMS; s++)
        views += writer->streams[s].count > 0;
    rbli_put(json, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"rubble\"}");
    rbli_glb_put_extensions(writer, json);
    if (writer->view.bone_count > 0) RBL_TRY(put_nodes(writer, json));
    put_meshes(writer, json);
    rbli_glb_put_materials(writer, json, views);
    if (views > 0) RBL_TRY(put_arrays(writer, json));
    rbli_put(json, "}");
done:
    return status;
}
