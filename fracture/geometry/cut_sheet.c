/// Open surfaces through the cut: every triangle goes in with a back of its own, which closes it; the faces
/// on fronts come out.

#include "fracture/geometry/cut_sheet.h"

#include "fracture/base/hash.h"
#include "fracture/geometry/cut_internal.h"
#include "fracture/geometry/radix_sort.h"

typedef struct sheet_job {
    const rbli_mesh_view *mesh;
    double (*positions)[3]; /* three a triangle */
    int32_t (*triangles)[3];
    rbli_mesh_view closed; /* triangle t as 2·t and, turned, 2·t + 1 */
    cut_state state;
    RBLI_ARRAY(cut_face) faces; /* `source` is of the mesh; by cell */
    RBLI_ARRAY(int32_t) ids;    /* arrangement vertex of each vertex */
    int32_t *parts;             /* [vertices] union–find, then fragment */
} sheet_job;

static rbl_status close_triangles(rbl_context *ctx, sheet_job *job)
{
    rbl_status status = RBL_OK;
    size_t count = job->mesh->triangle_count;
    if (count > INT32_MAX / 12)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the sheet has too many triangles to cut (%zu)", count);
    RBL_TRY_ALLOC(job->positions = rbli_alloc(ctx, 3 * count, sizeof *job->positions));
    RBL_TRY_ALLOC(job->triangles = rbli_alloc(ctx, 2 * count, sizeof *job->triangles));
    for (size_t t = 0; t < count; t++) {
        int32_t v = (int32_t)(3 * t);
        for (int k = 0; k < 3; k++)
            memcpy(
                job->positions[v + k], job->mesh->positions[job->mesh->triangles[t][k]], sizeof(double[3]));
        memcpy(job->triangles[2 * t], (int32_t[3]){v, v + 1, v + 2}, sizeof(int32_t[3]));
        memcpy(job->triangles[2 * t + 1], (int32_t[3]){v, v + 2, v + 1}, sizeof(int32_t[3]));
    }
    job->closed = (rbli_mesh_view){
        (const double(*)[3])job->positions, 3 * count, (const int32_t(*)[3])job->triangles, 2 * count};
done:
    return status;
}

static rbl_status arrange(rbl_context *ctx, sheet_job *job, const rbli_cell_complex *complex)
{
    rbl_status status = RBL_OK;
    job->state = (cut_state){.mesh_view = &job->closed, .complex_view = complex};
    RBL_TRY(cut_prepare_mesh(ctx, &job->state));
    RBL_TRY(cut_prepare_complex(ctx, &job->state));
    RBL_TRY(cut_settle(ctx, &job->state));
    RBL_TRY(cut_flood(ctx, &job->state));
    RBL_TRY(cut_spread_labels(ctx, &job->state));
    RBL_TRY(cut_place_nodes(ctx, &job->state));
    RBL_TRY(cut_trace_mesh(ctx, &job->state));
done:
    return status;
}

/// Faces on fronts, sorted by cell.
static rbl_status collect(rbl_context *ctx, sheet_job *job)
{
    rbl_status status = RBL_OK;
    const cut_state *s = &job->state;
    size_t count = job->mesh->triangle_count;
    uint8_t *is_cut = NULL;
    rbli_keyed *keys = NULL;
    RBLI_ARRAY(cut_face) all = {0};
    RBL_TRY_ALLOC(is_cut = rbli_calloc(ctx, 2 * count, 1));
    for (size_t i = 0; i < s->cut_triangle_count; i++)
        is_cut[s->cut_triangles[i].triangle] = 1;
    for (size_t t = 0; t < count; t++) {
        const int32_t *v = job->triangles[2 * t];
        if (is_cut[2 * t]) continue;
        RBL_TRY(
            rbli_array_push(ctx, &all, ((cut_face){{v[0], v[1], v[2]}, s->vertex_label[v[0]], (int32_t)t})));
    }
    for (size_t i = 0; i < s->face_count; i++) {
        cut_face face = s->faces[i];
        if (face.source % 2) continue;
        face.source /= 2;
        RBL_TRY(rbli_array_push(ctx, &all, face));
    }
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, 2 * all.count, sizeof *keys));
    for (size_t i = 0; i < all.count; i++)
        keys[i] = (rbli_keyed){(uint64_t)all.data[i].label << 32 | (uint64_t)all.data[i].source, (int32_t)i};
    rbli_radix_sort(keys, keys + all.count, all.count);
    RBL_TRY(rbli_array_reserve(ctx, &job->faces, all.count));
    for (size_t i = 0; i < all.count; i++)
        job->faces.data[job->faces.count++] = all.data[keys[i].index];
done:
    rbli_free(ctx, is_cut);
    rbli_free(ctx, keys);
    rbli_free(ctx, all.data);
    return status;
}

/// Gives faces vertices of their cell, one for each grid point; drops what that makes a line.
static rbl_status weld(rbl_context *ctx, sheet_job *job)
{
    rbl_status status = RBL_OK;
    size_t capacity = 16, kept = 0;
    int32_t *slots = NULL;
    RBLI_ARRAY(int32_t) cells = {0}; /* of each vertex */
    while (capacity < 6 * job->faces.count)
        capacity *= 2;
    RBL_TRY_ALLOC(slots = rbli_alloc(ctx, capacity, sizeof *slots));
    memset(slots, 0xff, capacity * sizeof *slots);
    for (size_t f = 0; f < job->faces.count; f++) {
        cut_face face = job->faces.data[f];
        for (int k = 0; k < 3; k++) {
            const double *p = cut_position(&job->state, face.v[k]);
            double key[4] = {p[0] + 0.0, p[1] + 0.0, p[2] + 0.0, face.label};
            size_t at = (size_t)rbli_hash64(key, sizeof key) & (capacity - 1);
            for (; slots[at] >= 0; at = (at + 1) & (capacity - 1)) {
                const double *q = cut_position(&job->state, job->ids.data[slots[at]]);
                if (cells.data[slots[at]] == face.label && q[0] == p[0] && q[1] == p[1] && q[2] == p[2])
                    break;
            }
            if (slots[at] < 0) {
                slots[at] = (int32_t)job->ids.count;
                RBL_TRY(rbli_array_push(ctx, &job->ids, face.v[k]));
                RBL_TRY(rbli_array_push(ctx, &cells, face.label));
            }
            /* The arrangement's numbers are looked up by vertex from here on. */
            face.v[k] = slots[at];
        }
        if (face.v[0] == face.v[1] || face.v[1] == face.v[2] || face.v[2] == face.v[0]) continue;
        job->faces.data[kept++] = face;
    }
    job->faces.count = kept;
done:
    rbli_free(ctx, slots);
    rbli_free(ctx, cells.data);
    return status;
}

static int32_t find_part(int32_t *parts, int32_t i)
{
    while (parts[i] != i)
        i = parts[i] = parts[parts[i]];
    return i;
}

static rbl_status join_parts(rbl_context *ctx, sheet_job *job)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(job->parts = rbli_alloc(ctx, job->ids.count, sizeof *job->parts));
    for (size_t v = 0; v < job->ids.count; v++)
        job->parts[v] = (int32_t)v;
    for (size_t f = 0; f < job->faces.count; f++)
        for (int k = 1; k < 3; k++) {
            int32_t a = find_part(job->parts, job->faces.data[f].v[0]);
            int32_t b = find_part(job->parts, job->faces.data[f].v[k]);
            job->parts[a > b ? a : b] = a > b ? b : a;
        }
    for (size_t v = 0; v < job->ids.count; v++)
        job->parts[v] = find_part(job->parts, (int32_t)v);
done:
    return status;
}

static rbl_status allocate_fragments(rbl_context *ctx, const sheet_job *job, rbli_sheet_fragments *out)
{
    rbl_status status = RBL_OK;
    size_t vertices = job->ids.count, triangles = job->faces.count;
    RBL_TRY_ALLOC(out->cell = rbli_alloc(ctx, triangles, sizeof *out->cell));
    RBL_TRY_ALLOC(out->vertex_start = rbli_calloc(ctx, triangles + 1, sizeof *out->vertex_start));
    RBL_TRY_ALLOC(out->triangle_start = rbli_calloc(ctx, triangles + 1, sizeof *out->triangle_start));
    RBL_TRY_ALLOC(out->positions = rbli_alloc(ctx, vertices, sizeof *out->positions));
    RBL_TRY_ALLOC(out->vertex_source = rbli_alloc(ctx, vertices, sizeof *out->vertex_source));
    RBL_TRY_ALLOC(out->triangles = rbli_alloc(ctx, triangles, sizeof *out->triangles));
    RBL_TRY_ALLOC(out->origins.source = rbli_alloc(ctx, triangles, sizeof(int32_t)));
    RBL_TRY_ALLOC(out->origins.weights_index = rbli_alloc(ctx, triangles, sizeof(int32_t)));
    RBL_TRY_ALLOC(out->origins.weights = rbli_alloc(ctx, triangles, sizeof *out->origins.weights));
done:
    return status;
}

static void write_vertex(const sheet_job *job, int32_t id, rbli_sheet_fragments *out)
{
    const cut_state *s = &job->state;
    size_t v = out->vertex_count++;
    bool original = id < (int32_t)job->closed.vertex_count;
    out->vertex_source[v] = original ? job->mesh->triangles[id / 3][id % 3] : -1;
    memcpy(out->positions[v], original ? job->positions[id] : s->node_sources[id - s->point_count],
        sizeof *out->positions);
}

static void write_triangle(
    const sheet_job *job, const cut_face *face, const int32_t *place, rbli_sheet_fragments *out)
{
    size_t t = out->triangle_count++;
    const int32_t *corners = job->triangles[2 * face->source];
    bool whole = true;
    double weights[3][3];
    for (int k = 0; k < 3; k++) {
        int32_t id = job->ids.data[face->v[k]];
        out->triangles[t][k] = place[face->v[k]];
        whole = whole && memcmp(cut_position(&job->state, id), cut_position(&job->state, corners[k]),
                             sizeof(double[3])) == 0;
        cut_arrangement_weights(&job->state, id, corners, weights[k]);
    }
    out->origins.source[t] = face->source;
    out->origins.weights_index[t] = whole ? -1 : (int32_t)out->origins.weights_count;
    if (!whole) memcpy(out->origins.weights[out->origins.weights_count++], weights, sizeof weights);
}

static rbl_status write_fragments(rbl_context *ctx, sheet_job *job, rbli_sheet_fragments *out)
{
    rbl_status status = RBL_OK;
    size_t count = job->faces.count, fragments = 0;
    rbli_keyed *keys = NULL;
    int32_t *place = NULL, *number = NULL;
    RBL_TRY(allocate_fragments(ctx, job, out));
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, 2 * count, sizeof *keys));
    RBL_TRY_ALLOC(place = rbli_alloc(ctx, job->ids.count, sizeof *place));
    RBL_TRY_ALLOC(number = rbli_alloc(ctx, job->ids.count, sizeof *number));
    memset(place, 0xff, job->ids.count * sizeof *place);
    memset(number, 0xff, job->ids.count * sizeof *number);
    for (size_t f = 0; f < count; f++) {
        int32_t part = job->parts[job->faces.data[f].v[0]];
        if (number[part] < 0) {
            out->cell[fragments] = job->faces.data[f].label;
            number[part] = (int32_t)fragments++;
        }
        keys[f] = (rbli_keyed){(uint64_t)number[part], (int32_t)f};
    }
    rbli_radix_sort(keys, keys + count, count);
    for (size_t i = 0; i < count; i++) {
        const cut_face *face = &job->faces.data[keys[i].index];
        for (int k = 0; k < 3; k++) {
            if (place[face->v[k]] >= 0) continue;
            place[face->v[k]] = (int32_t)out->vertex_count;
            write_vertex(job, job->ids.data[face->v[k]], out);
        }
        write_triangle(job, face, place, out);
        out->vertex_start[keys[i].key + 1] = (int32_t)out->vertex_count;
        out->triangle_start[keys[i].key + 1] = (int32_t)out->triangle_count;
    }
    out->fragment_count = fragments;
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, place);
    rbli_free(ctx, number);
    return status;
}

void rbli_sheet_fragments_destroy(rbl_context *ctx, rbli_sheet_fragments *f)
{
    if (!f) return;
    void *arrays[] = {f->cell, f->vertex_start, f->triangle_start, f->positions, f->vertex_source,
        f->triangles, f->origins.source, f->origins.weights_index, f->origins.weights, f};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(ctx, arrays[i]);
}

rbl_status rbli_cut_sheet(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_cell_complex *complex,
    rbli_sheet_fragments **out)
{
    rbl_status status = RBL_OK;
    sheet_job job = {.mesh = mesh};
    rbli_sheet_fragments *made = NULL;
    RBL_TRY_ALLOC(made = rbli_calloc(ctx, 1, sizeof *made));
    RBL_TRY(close_triangles(ctx, &job));
    RBL_TRY(arrange(ctx, &job, complex));
    RBL_TRY(collect(ctx, &job));
    RBL_TRY(weld(ctx, &job));
    RBL_TRY(join_parts(ctx, &job));
    RBL_TRY(write_fragments(ctx, &job, made));
    *out = made;
    made = NULL;
done:
    rbli_sheet_fragments_destroy(ctx, made);
    cut_free_state(ctx, &job.state);
    rbli_free(ctx, job.positions);
    rbli_free(ctx, job.triangles);
    rbli_free(ctx, job.faces.data);
    rbli_free(ctx, job.ids.data);
    rbli_free(ctx, job.parts);
    return status;
}
