/// Vertices made of corners. Each vertex of a piece has a chain of what was made of it so far; chains are short,
/// and all that is compared is near.

#include "fracture/io/vertex_split.h"

#include <math.h>

#include "fracture/base/alloc.h"

enum { MOST_LOOKS = 64, PLAIN_WIDTH = 5 };
#define LEAST_LENGTH 1e-6f

static double square_of(const float v[3])
{
    return (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2];
}

static bool has_direction(const float normal[3])
{
    float square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
    return square > LEAST_LENGTH * LEAST_LENGTH && square < INFINITY;
}

/// The face's own normal; up where it has none.
static void flat_normal(const rbli_asset_view *view, size_t face, float out[3])
{
    const int32_t *f = view->faces[face];
    const double *a = view->positions[f[0]], *b = view->positions[f[1]], *c = view->positions[f[2]];
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

static inline void corner_normal(const rbli_asset_view *view, size_t corner, float out[3])
{
    if (view->normals && has_direction(view->normals[corner]))
        memcpy(out, view->normals[corner], sizeof *view->normals);
    else
        flat_normal(view, corner / 3, out);
}

void rbli_corner_normal(const rbli_asset_view *view, size_t corner, float out[3])
{
    corner_normal(view, corner, out);
}

rbl_status rbli_vertex_split_init(rbl_context *ctx, const rbli_asset_view *view, rbli_vertex_split *out)
{
    rbl_status status = RBL_OK;
    rbli_vertex_split split = {.view = view, .colors = view->colors != NULL};
    size_t most_vertices = 0, most_faces = 0;
    for (size_t g = 0; g < view->geometry_count; g++) {
        if ((size_t)view->vertex_counts[g] > most_vertices) most_vertices = (size_t)view->vertex_counts[g];
        if ((size_t)view->face_counts[g] > most_faces) most_faces = (size_t)view->face_counts[g];
    }
    while (split.uv_sets < RBLI_PIECE_UV_SETS && view->uvs[split.uv_sets])
        split.uv_sets++;
    split.tangents = view->tangents && split.uv_sets > 0;
    split.tangent_at = 3 + 2 * split.uv_sets;
    split.color_at = split.tangent_at + (split.tangents ? 4 : 0);
    split.width = (size_t)split.color_at + (split.colors ? 4 : 0);
    RBL_TRY_ALLOC(split.heads = rbli_calloc(ctx, most_vertices, sizeof *split.heads));
    RBL_TRY_ALLOC(split.next = rbli_alloc(ctx, 3 * most_faces, sizeof *split.next));
    RBL_TRY_ALLOC(split.corners = rbli_alloc(ctx, 3 * most_faces, sizeof *split.corners));
    RBL_TRY_ALLOC(split.vertices = rbli_alloc(ctx, 3 * most_faces, sizeof *split.vertices));
    RBL_TRY_ALLOC(split.values = rbli_alloc(ctx, 3 * most_faces, split.width * sizeof *split.values));
    *out = split;
    split = (rbli_vertex_split){0};
done:
    rbli_vertex_split_free(ctx, &split);
    return status;
}

void rbli_vertex_split_free(rbl_context *ctx, rbli_vertex_split *split)
{
    rbli_free(ctx, split->corners);
    rbli_free(ctx, split->vertices);
    rbli_free(ctx, split->values);
    rbli_free(ctx, split->next);
    rbli_free(ctx, split->heads);
    *split = (rbli_vertex_split){0};
}

void rbli_vertex_split_start(rbli_vertex_split *split, size_t geometry)
{
    for (size_t i = 0; i < split->count; i++)
        split->heads[split->vertices[i]] = 0;
    split->count = 0;
    split->first_vertex = split->view->vertex_start[geometry];
}

static inline bool same_words(const float *a, const uint32_t *b, size_t count)
{
    uint32_t different = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, a + i, sizeof word);
        different |= word ^ b[i];
    }
    return different == 0;
}

/// The vertex of one kind of corner, made when it is new.
static inline uint32_t find_vertex(
    rbli_vertex_split *split, uint32_t vertex, size_t corner, const uint32_t *values, size_t width)
{
    uint32_t head = split->heads[vertex], looks = 0;
    for (uint32_t at = head; at && looks < MOST_LOOKS; at = split->next[at - 1], looks++)
        if (same_words(split->values + (at - 1) * width, values, width)) return at - 1;
    uint32_t made = (uint32_t)split->count++;
    memcpy(split->values + made * width, values, width * sizeof *values);
    split->corners[made] = (uint32_t)corner;
    split->vertices[made] = vertex;
    split->next[made] = head;
    split->heads[vertex] = made + 1;
    return made;
}

/// Normals and one UV set, what most meshes have: find_vertex for five words, kept in registers.
static inline uint32_t find_plain(rbli_vertex_split *split, uint32_t vertex, size_t corner)
{
    float normal[3], *values = split->values;
    uint64_t xy, uv;
    uint32_t z;
    corner_normal(split->view, corner, normal);
    memcpy(&xy, normal, sizeof xy);
    memcpy(&z, normal + 2, sizeof z);
    memcpy(&uv, split->view->uvs[0][corner], sizeof uv);
    uint32_t head = split->heads[vertex], looks = 0;
    for (uint32_t at = head; at && looks < MOST_LOOKS; at = split->next[at - 1], looks++) {
        const float *known = values + (size_t)(at - 1) * PLAIN_WIDTH;
        uint64_t known_xy, known_uv;
        uint32_t known_z;
        memcpy(&known_xy, known, sizeof known_xy);
        if (known_xy != xy) continue; /* most, where shading is flat */
        memcpy(&known_z, known + 2, sizeof known_z);
        memcpy(&known_uv, known + 3, sizeof known_uv);
        if (known_z == z && known_uv == uv) return at - 1;
    }
    uint32_t made = (uint32_t)split->count++;
    float *to = values + (size_t)made * PLAIN_WIDTH;
    memcpy(to, &xy, sizeof xy);
    memcpy(to + 2, &z, sizeof z);
    memcpy(to + 3, &uv, sizeof uv);
    split->corners[made] = (uint32_t)corner;
    split->vertices[made] = vertex;
    split->next[made] = head;
    split->heads[vertex] = made + 1;
    return made;
}

static uint32_t find_any(rbli_vertex_split *split, uint32_t vertex, size_t corner)
{
    const rbli_asset_view *view = split->view;
    float values[3 + 2 * RBLI_PIECE_UV_SETS + 4 + 4];
    uint32_t words[sizeof values / sizeof *values];
    corner_normal(view, corner, values);
    for (int set = 0; set < split->uv_sets; set++)
        memcpy(values + 3 + 2 * set, view->uvs[set][corner], sizeof *view->uvs[set]);
    if (split->tangents) memcpy(values + split->tangent_at, view->tangents[corner], sizeof *view->tangents);
    if (split->colors) memcpy(values + split->color_at, view->colors[corner], sizeof *view->colors);
    memcpy(words, values, split->width * sizeof *words);
    return find_vertex(split, vertex, corner, words, split->width);
}

void rbli_vertex_split_face(rbli_vertex_split *split, size_t face, uint32_t out[3])
{
    const int32_t *vertices = split->view->faces[face];
    bool plain = split->width == PLAIN_WIDTH && split->uv_sets == 1;
    for (size_t k = 0; k < 3; k++) {
        uint32_t vertex = (uint32_t)(vertices[k] - split->first_vertex);
        out[k] = plain ? find_plain(split, vertex, 3 * face + k) : find_any(split, vertex, 3 * face + k);
    }
}

void rbli_unit_tangent(const float tangent[4], const float normal[3], float out[4])
{
    if (has_direction(tangent)) {
        double length = sqrt(square_of(tangent));
        for (int k = 0; k < 3; k++)
            out[k] = (float)((double)tangent[k] / length);
        out[3] = tangent[3] < 0 ? -1 : 1;
        return;
    }
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
