/// Edges in rows by their lesser vertex, sorted within a row; normals spread over slivers in rounds.

#include "fracture/geometry/face_graph.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"

/// An edge of a triangle in the row of its lesser vertex.
typedef struct row_edge {
    int32_t other;  /* greater vertex */
    int32_t corner; /* ~corner where the edge runs from the greater to the lesser vertex */
} row_edge;

static int32_t corner_of(const row_edge *e)
{
    return e->corner < 0 ? ~e->corner : e->corner;
}

static int compare_edges(const void *pa, const void *pb)
{
    const row_edge *a = pa, *b = pb;
    if (a->other != b->other) return a->other < b->other ? -1 : 1;
    if ((a->corner < 0) != (b->corner < 0)) return a->corner < 0 ? 1 : -1;
    int32_t x = corner_of(a), y = corner_of(b);
    return (x > y) - (x < y);
}

/// Pairs the forward and backward edges of a sorted row in their order.
static void pair_row(const row_edge *row, size_t count, int32_t *opposite)
{
    for (size_t i = 0, end; i < count; i = end) {
        size_t backward = i;
        for (end = i; end < count && row[end].other == row[i].other; end++)
            if (row[end].corner >= 0) backward = end + 1;
        for (size_t a = i, b = backward; a < backward && b < end; a++, b++) {
            int32_t x = corner_of(&row[a]), y = corner_of(&row[b]);
            opposite[x] = y;
            opposite[y] = x;
        }
    }
}

rbl_status rbli_face_graph(rbl_context *ctx, const int32_t (*triangles)[3], size_t count,
    int32_t first_vertex, size_t vertex_count, int32_t **out)
{
    rbl_status status = RBL_OK;
    row_edge *edges = NULL;
    int32_t *opposite = NULL;
    size_t *row = rbli_calloc(ctx, vertex_count + 2, sizeof *row);
    RBL_TRY_ALLOC(row);
    RBL_TRY_ALLOC(edges = rbli_alloc(ctx, 3 * count, sizeof *edges));
    RBL_TRY_ALLOC(opposite = rbli_alloc(ctx, 3 * count, sizeof *opposite));
    for (size_t c = 0; c < 3 * count; c++) {
        int32_t a = triangles[c / 3][c % 3], b = triangles[c / 3][(c + 1) % 3];
        row[(a < b ? a : b) - first_vertex + 2]++;
        opposite[c] = -1;
    }
    for (size_t v = 2; v < vertex_count + 2; v++)
        row[v] += row[v - 1];
    for (size_t c = 0; c < 3 * count; c++) { /* row v is filled from row[v + 1] on, which ends as its end */
        int32_t a = triangles[c / 3][c % 3], b = triangles[c / 3][(c + 1) % 3];
        row_edge *e = &edges[row[(a < b ? a : b) - first_vertex + 1]++];
        *e = a < b ? (row_edge){b, (int32_t)c} : (row_edge){a, ~(int32_t)c};
    }
    for (size_t v = 0; v < vertex_count; v++) {
        size_t length = row[v + 1] - row[v];
        if (v % 4096 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (length < 2) continue;
        qsort(edges + row[v], length, sizeof *edges, compare_edges);
        pair_row(edges + row[v], length, opposite);
    }
    *out = opposite;
    opposite = NULL;
done:
    rbli_free(ctx, row);
    rbli_free(ctx, edges);
    rbli_free(ctx, opposite);
    return status;
}

/// The normal of a triangle; false for a sliver. `longest` is the corner where its longest side begins.
static bool measure(const rbli_mesh_view *mesh, size_t t, double least_height, double normal[3], int *longest)
{
    double side[3][3], square[3] = {0, 0, 0}, length = 0;
    *longest = 0;
    for (int i = 0; i < 3; i++) {
        const double *a = mesh->positions[mesh->triangles[t][i]],
                     *b = mesh->positions[mesh->triangles[t][(i + 1) % 3]];
        for (int k = 0; k < 3; k++) {
            side[i][k] = b[k] - a[k];
            square[i] += side[i][k] * side[i][k];
        }
        if (square[i] > square[*longest]) *longest = i;
    }
    const double *u = side[*longest], *w = side[(*longest + 1) % 3];
    for (int k = 0; k < 3; k++) {
        normal[k] = u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3];
        length += normal[k] * normal[k];
    }
    length = sqrt(length);
    if (!(length > least_height * sqrt(square[*longest])) || !isfinite(length)) return false;
    for (int k = 0; k < 3; k++)
        normal[k] /= length;
    return true;
}

static double extent_of(const rbli_mesh_view *mesh)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, extent = 0;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                low[k] = fmin(low[k], mesh->positions[mesh->triangles[t][c]][k]);
                high[k] = fmax(high[k], mesh->positions[mesh->triangles[t][c]][k]);
            }
    for (int k = 0; k < 3; k++)
        extent = fmax(extent, high[k] - low[k]);
    return extent;
}

rbl_status rbli_face_normals(
    rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *opposite, double (*normals)[3], bool *sliver)
{
    rbl_status status = RBL_OK;
    size_t count = mesh->triangle_count;
    double least_height = 1e-6 * extent_of(mesh);
    RBLI_ARRAY(int32_t) waiting = {0}; /* slivers without a direction */
    uint8_t *longest = NULL;
    bool *known = NULL;
    RBL_TRY_ALLOC(longest = rbli_alloc(ctx, count, sizeof *longest));
    RBL_TRY_ALLOC(known = rbli_alloc(ctx, count, sizeof *known));
    for (size_t t = 0; t < count; t++) {
        int side;
        if (t % 65536 == 65535 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        known[t] = measure(mesh, t, least_height, normals[t], &side);
        longest[t] = (uint8_t)side;
        if (sliver) sliver[t] = !known[t];
        if (!known[t]) RBL_TRY(rbli_array_push(ctx, &waiting, (int32_t)t));
    }
    /* First across longest sides, as far as that goes; then across any side, and on as before. */
    for (bool any = false; waiting.count > 0;) {
        size_t left = 0;
        for (size_t i = 0; i < waiting.count; i++) {
            size_t t = (size_t)waiting.data[i], from = count;
            for (size_t k = 0; k < (any ? 3u : 1u) && from == count; k++) {
                int32_t o = opposite[3 * t + (longest[t] + k) % 3];
                if (o >= 0 && known[o / 3]) from = (size_t)o / 3;
            }
            if (from == count) {
                waiting.data[left++] = (int32_t)t;
                continue;
            }
            memcpy(normals[t], normals[from], sizeof normals[t]);
            known[t] = true;
        }
        if (left == waiting.count && any) break;
        any = left == waiting.count;
        waiting.count = left;
    }
    for (size_t i = 0; i < waiting.count; i++) { /* nothing but slivers */
        double *n = normals[waiting.data[i]];
        n[0] = n[1] = 0;
        n[2] = 1;
    }
done:
    rbli_free(ctx, longest);
    rbli_free(ctx, known);
    rbli_free(ctx, waiting.data);
    return status;
}
