/// Arrays of a GLB: vertices and indices of pieces, as floats or quantized, all pieces one behind the other. The
/// mesh of a piece that came before with the same bytes is used again.

#include <math.h>

#include "fracture/base/hash.h"
#include "fracture/io/glb_writer.h"

static float finite_or_zero(float value)
{
    return isfinite(value) ? value : 0;
}

void rbli_glb_init_streams(glb_writer *writer)
{
    const glb_stream floats[] = {{.component = COMPONENT_FLOAT, .width = 1, .stride = 4},
        {.component = COMPONENT_FLOAT, .width = 2, .stride = 8},
        {.component = COMPONENT_FLOAT, .width = 3, .stride = 12},
        {.component = COMPONENT_FLOAT, .width = 4, .stride = 16}};
    glb_stream *s = writer->streams;
    s[GLB_POSITION] = s[GLB_NORMAL] = s[GLB_HULL] = floats[2];
    s[GLB_TANGENT] = s[GLB_COLOR] = floats[3];
    s[GLB_NORMAL_LENGTH] = floats[0];
    for (int set = 0; set < RBLI_PIECE_UV_SETS; set++) {
        s[GLB_UV + set] = floats[1];
        s[GLB_SHORT_UV + set] =
            (glb_stream){.component = COMPONENT_U16, .width = 2, .stride = 4, .normalized = true};
    }
    s[GLB_INDEX32] = (glb_stream){.component = COMPONENT_U32, .width = 1, .stride = 4};
    s[GLB_INDEX16] = (glb_stream){.component = COMPONENT_U16, .width = 1, .stride = 2};
    if (writer->options.compression == RBLI_GLB_PLAIN) return;
    s[GLB_POSITION] = (glb_stream){.component = COMPONENT_I16, .width = 3, .stride = 8};
    s[GLB_NORMAL] = (glb_stream){.component = COMPONENT_I8, .width = 3, .stride = 4, .normalized = true};
    s[GLB_TANGENT] = (glb_stream){.component = COMPONENT_I8, .width = 4, .stride = 4, .normalized = true};
    s[GLB_COLOR] = (glb_stream){.component = COMPONENT_U8, .width = 4, .stride = 4, .normalized = true};
}

enum { FIRST_BLOCK_BYTES = 1 << 14, LARGEST_BLOCK_BYTES = 1 << 22 };

/// A block for at least so many bytes, at the end of a stream.
static rbl_status add_block(rbl_context *ctx, glb_stream *stream, size_t bytes)
{
    size_t usual = stream->count < FIRST_BLOCK_BYTES     ? FIRST_BLOCK_BYTES
                   : stream->count > LARGEST_BLOCK_BYTES ? LARGEST_BLOCK_BYTES
                                                         : stream->count;
    glb_block block = {.start = stream->count, .capacity = bytes > usual ? bytes : usual};
    block.data = rbli_alloc(ctx, block.capacity, 1);
    if (!block.data) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_array_push(ctx, &stream->blocks, block);
    if (status != RBL_OK) rbli_free(ctx, block.data);
    return status;
}

rbl_status rbli_glb_room(glb_writer *writer, int stream, size_t count, void **out)
{
    glb_stream *s = &writer->streams[stream];
    size_t bytes = count * s->stride;
    glb_block *last = s->blocks.count ? &s->blocks.data[s->blocks.count - 1] : NULL;
    if (!last || bytes > last->capacity - last->count) {
        rbl_status status = add_block(writer->ctx, s, bytes);
        if (status != RBL_OK) return status;
        last = &s->blocks.data[s->blocks.count - 1];
    }
    *out = last->data + last->count;
    last->count += bytes;
    s->count += bytes;
    return RBL_OK;
}

/// Where a byte of a stream is.
static const uint8_t *byte_at(const glb_stream *stream, size_t offset)
{
    size_t low = 0, high = stream->blocks.count;
    while (high - low > 1) { /* the last block that does not start behind it */
        size_t middle = low + (high - low) / 2;
        if (stream->blocks.data[middle].start <= offset)
            low = middle;
        else
            high = middle;
    }
    return stream->blocks.data[low].data + (offset - stream->blocks.data[low].start);
}

/// Takes bytes off the end again; they are in the last block.
static void drop_bytes(rbl_context *ctx, glb_stream *stream, size_t bytes)
{
    if (bytes == 0) return;
    stream->count -= bytes;
    glb_block *last = &stream->blocks.data[stream->blocks.count - 1];
    last->count -= bytes;
    if (last->count > 0) return;
    rbli_free(ctx, last->data); /* so that the last block is never empty */
    stream->blocks.count--;
}

void rbli_glb_free_streams(glb_writer *writer)
{
    for (int s = 0; s < GLB_STREAMS; s++) {
        glb_stream *stream = &writer->streams[s];
        for (size_t i = 0; i < stream->blocks.count; i++)
            rbli_free(writer->ctx, stream->blocks.data[i].data);
        rbli_free(writer->ctx, stream->blocks.data);
        rbli_free(writer->ctx, stream->packed);
    }
}

/* ---- positions ---- */

static void place_floats(const double (*positions)[3], size_t count, const double center[3], float (*out)[3])
{
    for (size_t v = 0; v < count; v++)
        for (int k = 0; k < 3; k++)
            out[v][k] = finite_or_zero((float)(positions[v][k] - center[k])) + 0.0f; /* not −0 */
}

/// Whole steps; the same for one position in whichever piece.
static double steps(double x, double step)
{
    return floor(x / step + 0.5);
}

static void place_steps(
    const double (*positions)[3], size_t count, double center[3], double step, int16_t (*out)[4])
{
    double middle[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = steps(center[k], step);
        center[k] = middle[k] * step;
    }
    for (size_t v = 0; v < count; v++) {
        for (int k = 0; k < 3; k++) {
            double x = steps(positions[v][k], step) - middle[k];
            out[v][k] = (int16_t)(x > -32767 ? x < 32767 ? x : 32767 : -32767);
        }
        out[v][3] = 0;
    }
}

void rbli_glb_place(glb_writer *writer, size_t bone)
{
    const rbli_asset_view *view = &writer->view;
    int32_t g = view->geometry[bone];
    const double(*positions)[3] = view->positions + view->vertex_start[g];
    size_t count = (size_t)view->vertex_counts[g];
    rbli_piece_center(view, bone, writer->centers[bone]);
    if (writer->step > 0)
        place_steps(
            positions, count, writer->centers[bone], writer->step, (int16_t(*)[4])(void *)writer->local);
    else
        place_floats(positions, count, writer->centers[bone], (float(*)[3])(void *)writer->local);
}

static rbl_status add_positions(glb_writer *writer, primitive *out)
{
    const rbli_vertex_split *split = &writer->split;
    void *room;
    rbl_status status = rbli_glb_room(writer, GLB_POSITION, split->count, &room);
    if (status != RBL_OK) return status;
    if (writer->step > 0) {
        const int16_t(*from)[4] = (const void *)writer->local;
        int16_t(*to)[4] = room, low[3] = {INT16_MAX, INT16_MAX, INT16_MAX},
        high[3] = {INT16_MIN, INT16_MIN, INT16_MIN};
        for (size_t i = 0; i < split->count; i++) {
            memcpy(to[i], from[split->vertices[i]], sizeof *to);
            for (int k = 0; k < 3; k++) {
                low[k] = to[i][k] < low[k] ? to[i][k] : low[k];
                high[k] = to[i][k] > high[k] ? to[i][k] : high[k];
            }
        }
        for (int k = 0; k < 3; k++)
            out->min[k] = low[k], out->max[k] = high[k];
        return RBL_OK;
    }
    const float(*from)[3] = (const void *)writer->local;
    float(*to)[3] = room, low[3] = {INFINITY, INFINITY, INFINITY},
    high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const uint32_t *vertices = split->vertices;
    for (size_t i = 0, count = split->count; i < count; i++) {
        float p[3]; /* in registers: `to` could be anything */
        memcpy(p, from[vertices[i]], sizeof p);
        memcpy(to[i], p, sizeof p);
        for (int k = 0; k < 3; k++) {
            low[k] = p[k] < low[k] ? p[k] : low[k];
            high[k] = p[k] > high[k] ? p[k] : high[k];
        }
    }
    for (int k = 0; k < 3; k++)
        out->min[k] = (double)low[k], out->max[k] = (double)high[k];
    return RBL_OK;
}

/* ---- directions ---- */

/// A number from −1 to 1 in 8 bits.
static int8_t short_direction(double value)
{
    return (int8_t)floor(value * 127 + 0.5);
}

static double square_of(const float v[3])
{
    return (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2];
}

/// Lengths of normals that are not unit, for all vertices.
static rbl_status add_lengths(glb_writer *writer)
{
    const rbli_vertex_split *split = &writer->split;
    void *room;
    rbl_status status = rbli_glb_room(writer, GLB_NORMAL_LENGTH, split->count, &room);
    for (size_t i = 0; status == RBL_OK && i < split->count; i++)
        ((float *)room)[i] = (float)sqrt(square_of(split->values + i * split->width));
    return status;
}

/// Unit normals as they are, others made unit. @return whether there were others
static bool copy_normals(const float *values, size_t width, size_t count, float (*out)[3])
{
    bool lengths = false;
    for (size_t i = 0; i < count; i++) {
        const float *n = values + i * width;
        double square = square_of(n);
        if (!(square < 1 - 1e-6 || square > 1 + 1e-6)) {
            memcpy(out[i], n, sizeof *out);
            continue;
        }
        lengths = true;
        double length = sqrt(square);
        for (int k = 0; k < 3; k++)
            out[i][k] = (float)((double)n[k] / length);
    }
    return lengths;
}

/// Unit normals in whole steps.
static void round_normals(const float *values, size_t width, size_t count, int8_t (*out)[4])
{
    for (size_t i = 0; i < count; i++) {
        const float *n = values + i * width;
        double square = square_of(n);
        double length = square < 1 - 1e-6 || square > 1 + 1e-6 ? sqrt(square) : 1;
        for (int k = 0; k < 3; k++)
            out[i][k] = short_direction((double)n[k] / length);
        out[i][3] = 0;
    }
}

static rbl_status add_normals(glb_writer *writer, primitive *out)
{
    const rbli_vertex_split *split = &writer->split;
    void *room;
    rbl_status status = rbli_glb_room(writer, GLB_NORMAL, split->count, &room);
    if (status != RBL_OK) return status;
    if (writer->step > 0) {
        round_normals(split->values, split->width, split->count, room);
        return RBL_OK;
    }
    if (!copy_normals(split->values, split->width, split->count, room)) return RBL_OK;
    out->streams |= 1u << GLB_NORMAL_LENGTH;
    return add_lengths(writer);
}

static rbl_status add_tangents(glb_writer *writer)
{
    const rbli_vertex_split *split = &writer->split;
    void *room;
    rbl_status status = rbli_glb_room(writer, GLB_TANGENT, split->count, &room);
    for (size_t i = 0; status == RBL_OK && i < split->count; i++) {
        const float *n = split->values + i * split->width;
        float unit[3], tangent[4];
        double length = sqrt(square_of(n));
        for (int k = 0; k < 3; k++)
            unit[k] = (float)((double)n[k] / length);
        rbli_unit_tangent(n + split->tangent_at, unit, tangent);
        if (writer->step == 0) memcpy(((float(*)[4])room)[i], tangent, sizeof tangent);
        for (int k = 0; k < 4 && writer->step > 0; k++)
            ((int8_t(*)[4])room)[i][k] = short_direction((double)tangent[k]);
    }
    return status;
}

/* ---- colours and UVs ---- */

static rbl_status add_colors(glb_writer *writer)
{
    const rbli_vertex_split *split = &writer->split;
    void *room;
    rbl_status status = rbli_glb_room(writer, GLB_COLOR, split->count, &room);
    for (size_t i = 0; status == RBL_OK && i < split->count; i++)
        for (int k = 0; k < 4; k++) {
            float c = split->values[i * split->width + (size_t)split->color_at + (size_t)k];
            c = c >= 0 ? c <= 1 ? c : 1 : 0;
            if (writer->step > 0)
                ((uint8_t(*)[4])room)[i][k] = (uint8_t)(c * 255 + 0.5f);
            else
                ((float(*)[4])room)[i][k] = c;
        }
    return status;
}

static rbl_status add_uvs(glb_writer *writer, int set, primitive *out)
{
    const rbli_vertex_split *split = &writer->split;
    const float *uvs = split->values + 3 + 2 * set;
    bool within = writer->step > 0;
    for (size_t i = 0; within && i < split->count; i++) {
        const float *uv = uvs + i * split->width;
        within = uv[0] >= 0 && uv[0] <= 1 && uv[1] >= 0 && uv[1] <= 1;
    }
    int stream = (within ? GLB_SHORT_UV : GLB_UV) + set;
    void *room;
    out->streams |= 1u << stream;
    rbl_status status = rbli_glb_room(writer, stream, split->count, &room);
    for (size_t i = 0; status == RBL_OK && i < split->count && within; i++)
        for (size_t k = 0; k < 2; k++)
            ((uint16_t(*)[2])room)[i][k] = (uint16_t)(uvs[i * split->width + k] * 65535 + 0.5f);
    for (size_t i = 0; status == RBL_OK && i < split->count && !within; i++) {
        const float *uv = uvs + i * split->width;
        const float pair[2] = {finite_or_zero(uv[0]), finite_or_zero(uv[1])};
        memcpy(((float(*)[2])room)[i], pair, sizeof pair);
    }
    return status;
}

/* ---- primitives ---- */

static rbl_status add_indices(glb_writer *writer, primitive *out, const uint32_t *indices)
{
    int stream = out->wide ? GLB_INDEX32 : GLB_INDEX16;
    void *room;
    out->first_index = writer->streams[stream].count / writer->streams[stream].stride;
    rbl_status status = rbli_glb_room(writer, stream, out->index_count, &room);
    if (status != RBL_OK) return status;
    if (out->wide) memcpy(room, indices, out->index_count * sizeof *indices);
    for (size_t i = 0; i < out->index_count && !out->wide; i++)
        ((uint16_t *)room)[i] = (uint16_t)indices[i];
    return RBL_OK;
}

rbl_status rbli_glb_add_primitive(glb_writer *writer, int32_t material, uint32_t *indices, size_t count)
{
    rbl_status status = RBL_OK;
    const rbli_vertex_split *split = &writer->split;
    primitive out = {.material = material,
        .vertex_count = split->count,
        .index_count = count,
        .wide = split->count > MOST_SHORT_VERTICES,
        .streams = 1u << GLB_POSITION | 1u << GLB_NORMAL};
    if (count == 0) return RBL_OK;
    _Static_assert(GLB_INDEX32 <= 32, "a bit for each");
    for (int s = 0; s < GLB_INDEX32; s++)
        out.first[s] = (uint32_t)(writer->streams[s].count / writer->streams[s].stride);
    if (writer->options.compression == RBLI_GLB_MESHOPT) RBL_TRY(rbli_glb_reorder(writer, indices, count));
    RBL_TRY(add_positions(writer, &out));
    RBL_TRY(add_normals(writer, &out));
    if (split->tangents) {
        out.streams |= 1u << GLB_TANGENT;
        RBL_TRY(add_tangents(writer));
    }
    if (split->colors) {
        out.streams |= 1u << GLB_COLOR;
        RBL_TRY(add_colors(writer));
    }
    for (int set = 0; set < split->uv_sets; set++)
        RBL_TRY(add_uvs(writer, set, &out));
    RBL_TRY(add_indices(writer, &out, indices));
    RBL_TRY(rbli_array_push(writer->ctx, &writer->primitives, out));
done:
    return status;
}

/* ---- meshes that are equal ---- */

enum { SAMPLE_BYTES = 256 }; /* of a stream, enough to tell most meshes apart */

/// The bytes of a primitive in a stream. Streams past those of vertices: of its indices.
static const uint8_t *bytes_of(const glb_writer *writer, const primitive *part, int stream, size_t *count)
{
    const glb_stream *s = &writer->streams[stream];
    if (stream >= GLB_INDEX32) {
        *count = part->wide == (stream == GLB_INDEX32) ? part->index_count * s->stride : 0;
        return *count ? byte_at(s, part->first_index * s->stride) : NULL;
    }
    *count = part->streams >> stream & 1 ? part->vertex_count * s->stride : 0;
    return *count ? byte_at(s, part->first[stream] * s->stride) : NULL;
}

/// @param most bytes of a stream that are looked at, half at its beginning and half at its end
static rbli_hash hash_mesh(const glb_writer *writer, const glb_mesh *mesh, size_t most)
{
    rbli_hash hash = {mesh->primitive_count, 0};
    for (size_t p = mesh->first_primitive; p < mesh->first_primitive + mesh->primitive_count; p++) {
        const primitive *part = &writer->primitives.data[p];
        const uint64_t head[4] = {
            (uint64_t)part->material, part->streams, part->vertex_count, part->index_count};
        hash = rbli_hash_combine(hash, rbli_hash_bytes(head, sizeof head));
        for (int s = 0; s < GLB_STREAMS; s++) {
            size_t count;
            const uint8_t *bytes = bytes_of(writer, part, s, &count);
            if (count == 0) continue;
            if (count > most)
                hash = rbli_hash_combine(hash, rbli_hash_bytes(bytes + count - most / 2, most / 2));
            hash = rbli_hash_combine(hash, rbli_hash_bytes(bytes, count > most ? most / 2 : count));
        }
    }
    return hash;
}

/// Of all bytes; found when it is first asked for.
static rbli_hash whole_hash(const glb_writer *writer, glb_mesh *mesh)
{
    if (!mesh->is_hashed) mesh->whole = hash_mesh(writer, mesh, SIZE_MAX);
    mesh->is_hashed = true;
    return mesh->whole;
}

static bool same_mesh(const glb_writer *writer, glb_mesh *a, glb_mesh *b)
{
    if (!rbli_hash_equal(a->hash, b->hash) || a->primitive_count != b->primitive_count) return false;
    if (!rbli_hash_equal(whole_hash(writer, a), whole_hash(writer, b))) return false;
    for (size_t i = 0; i < a->primitive_count; i++) {
        const primitive *p = &writer->primitives.data[a->first_primitive + i],
                        *q = &writer->primitives.data[b->first_primitive + i];
        if (p->material != q->material || p->streams != q->streams || p->vertex_count != q->vertex_count ||
            p->index_count != q->index_count)
            return false;
        for (int s = 0; s < GLB_STREAMS; s++) {
            size_t count, other;
            const uint8_t *bytes = bytes_of(writer, p, s, &count), *others = bytes_of(writer, q, s, &other);
            if (count != other || (count && memcmp(bytes, others, count) != 0)) return false;
        }
    }
    return true;
}

/// Takes the primitives from `first` on out of the file again.
static void take_back(glb_writer *writer, size_t first)
{
    for (size_t p = writer->primitives.count; p-- > first;) {
        const primitive *part = &writer->primitives.data[p];
        for (int s = 0; s < GLB_STREAMS; s++) {
            size_t count;
            bytes_of(writer, part, s, &count);
            drop_bytes(writer->ctx, &writer->streams[s], count);
        }
    }
    writer->primitives.count = first;
}

rbl_status rbli_glb_end_mesh(glb_writer *writer, size_t bone, size_t first)
{
    glb_mesh made = {
        .first_primitive = first, .primitive_count = writer->primitives.count - first, .bone = bone};
    writer->mesh_of_bone[bone] = -1;
    if (made.primitive_count == 0) return RBL_OK;
    made.hash = hash_mesh(writer, &made, SAMPLE_BYTES);
    size_t mask = writer->mesh_slot_count - 1, at = (size_t)made.hash.low & mask;
    for (; writer->mesh_slots[at] >= 0; at = (at + 1) & mask) {
        int32_t other = writer->mesh_slots[at];
        if (!same_mesh(writer, &made, &writer->meshes.data[other])) continue;
        take_back(writer, first);
        writer->mesh_of_bone[bone] = other;
        writer->report.shared_meshes++;
        return RBL_OK;
    }
    writer->mesh_slots[at] = writer->mesh_of_bone[bone] = (int32_t)writer->meshes.count;
    return rbli_array_push(writer->ctx, &writer->meshes, made);
}
