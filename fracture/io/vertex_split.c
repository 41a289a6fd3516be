/// Vertices made of corners. Each vertex of a piece has a chain of what was made of it so far; chains are short,
/// and all that is compared is near.

#include "fracture/io/vertex_split.h"

#include <math.h>

#include "fracture/base/alloc.h"

enum { MOST_LOOKS = 64 };
#define LEAST_LENGTH 1e-6

static double square_of(const float v[3])
{
    return (double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2];
}

static bool has_direction(const float normal[3])
{
    double square = square_of(normal);
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

/// Copies the normals and fills in those that are missing.
static rbl_status make_normals(rbl_context *ctx, rbli_vertex_split *split)
{
    const rbli_asset_view *view = split->view;
    float flat[3];
    split->own_normals = rbli_alloc(ctx, 3 * view->face_count, sizeof *split->own_normals);
    if (!split->own_normals) return RBL_ERR_NO_MEMORY;
    for (size_t f = 0; f < view->face_count; f++) {
        if (rbli_poll(ctx, f) != RBL_OK) return RBL_ERR_CANCELLED;
        flat_normal(view, f, flat);
        for (size_t c = 3 * f; c < 3 * f + 3; c++) {
            bool there = view->normals && has_direction(view->normals[c]);
            memcpy(split->own_normals[c], there ? view->normals[c] : flat, sizeof flat);
        }
    }
    split->normals = (const float(*)[3])split->own_normals;
    return RBL_OK;
}

rbl_status rbli_vertex_split_init(rbl_context *ctx, const rbli_asset_view *view, rbli_vertex_split *out)
{
    rbl_status status = RBL_OK;
    rbli_vertex_split split = {.view = view, .normals = view->normals, .colors = view->colors != NULL};
    size_t most_vertices = 0, most_faces = 0, c = 0;
    for (size_t g = 0; g < view->geometry_count; g++) {
        if ((size_t)view->vertex_counts[g] > most_vertices) most_vertices = (size_t)view->vertex_counts[g];
        if ((size_t)view->face_counts[g] > most_faces) most_faces = (size_t)view->face_counts[g];
    }
    while (split.uv_sets < RBLI_PIECE_UV_SETS && view->uvs[split.uv_sets])
        split.uv_sets++;
    split.tangents = view->tangents && split.uv_sets > 0;
    RBL_TRY_ALLOC(split.heads = rbli_calloc(ctx, most_vertices, sizeof *split.heads));
    RBL_TRY_ALLOC(split.next = rbli_alloc(ctx, 3 * most_faces, sizeof *split.next));
    RBL_TRY_ALLOC(split.corners = rbli_alloc(ctx, 3 * most_faces, sizeof *split.corners));
    for (; split.normals && c < 3 * view->face_count && has_direction(split.normals[c]); c++)
        RBL_TRY(rbli_poll(ctx, c));
    if (!split.normals || c < 3 * view->face_count) RBL_TRY(make_normals(ctx, &split));
    *out = split;
    split = (rbli_vertex_split){0};
done:
    rbli_vertex_split_free(ctx, &split);
    return status;
}

void rbli_vertex_split_free(rbl_context *ctx, rbli_vertex_split *split)
{
    rbli_free(ctx, split->own_normals);
    rbli_free(ctx, split->corners);
    rbli_free(ctx, split->next);
    rbli_free(ctx, split->heads);
    *split = (rbli_vertex_split){0};
}

void rbli_vertex_split_start(rbli_vertex_split *split, size_t geometry)
{
    for (size_t i = 0; i < split->count; i++) {
        uint32_t corner = split->corners[i];
        split->heads[(uint32_t)split->view->faces[corner / 3][corner % 3] - split->first_vertex] = 0;
    }
    split->count = 0;
    split->first_vertex = (uint32_t)split->view->vertex_start[geometry];
}

static bool same(const rbli_vertex_split *split, uint32_t a, uint32_t b)
{
    const rbli_asset_view *view = split->view;
    if (memcmp(split->normals[a], split->normals[b], sizeof *split->normals) != 0) return false;
    for (int set = 0; set < split->uv_sets; set++)
        if (memcmp(view->uvs[set][a], view->uvs[set][b], sizeof *view->uvs[set]) != 0) return false;
    if (split->tangents && memcmp(view->tangents[a], view->tangents[b], sizeof *view->tangents) != 0)
        return false;
    return !split->colors || memcmp(view->colors[a], view->colors[b], sizeof *view->colors) == 0;
}

uint32_t rbli_vertex_split_add(rbli_vertex_split *split, uint32_t corner)
{
    uint32_t vertex = (uint32_t)split->view->faces[corner / 3][corner % 3] - split->first_vertex;
    uint32_t head = split->heads[vertex], looks = 0;
    for (uint32_t at = head; at && looks < MOST_LOOKS; at = split->next[at - 1], looks++)
        if (same(split, split->corners[at - 1], corner)) return at - 1;
    uint32_t made = (uint32_t)split->count++;
    split->corners[made] = corner;
    split->next[made] = head;
    split->heads[vertex] = made + 1;
    return made;
}

double rbli_unit_direction(const float normal[3], float out[3])
{
    double length = sqrt(square_of(normal));
    for (int k = 0; k < 3; k++)
        out[k] = (float)((double)normal[k] / length);
    return length;
}

void rbli_unit_tangent(const float tangent[4], const float normal[3], float out[4])
{
    if (has_direction(tangent)) {
        rbli_unit_direction(tangent, out);
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
