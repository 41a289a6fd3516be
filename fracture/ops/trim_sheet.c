/// Trimming sheets: the solid is the complex, and the sheet is cut by it.

#include "fracture/ops/trim_sheet.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/mesh_complex.h"
#include "fracture/geometry/winding.h"

/// Padding of the box around both, as a part of its longest edge.
static const double PADDING = 1.0 / 16;

static void grow(const rbli_mesh_view *mesh, double low[3], double high[3])
{
    for (size_t v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            double x = mesh->positions[v][k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
}

/// Whether a triangle of the sheet reaches into the solid's box.
static bool may_meet(const rbli_mesh_view *sheet, const double low[3], const double high[3])
{
    for (size_t t = 0; t < sheet->triangle_count; t++) {
        const int32_t *v = sheet->triangles[t];
        bool apart = false;
        for (int k = 0; k < 3; k++) {
            double a = sheet->positions[v[0]][k], b = sheet->positions[v[1]][k],
                   c = sheet->positions[v[2]][k];
            apart = apart || (a <= low[k] && b <= low[k] && c <= low[k]) ||
                    (a >= high[k] && b >= high[k] && c >= high[k]);
        }
        if (!apart) return true;
    }
    return false;
}

/// Whether the middles of all triangles of a fragment lie in the solid.
static bool is_inside(const rbli_winding *winding, const rbli_sheet_fragments *f, size_t fragment)
{
    for (int32_t t = f->triangle_start[fragment]; t < f->triangle_start[fragment + 1]; t++) {
        double middle[3] = {0, 0, 0};
        bool on_surface;
        for (int k = 0; k < 9; k++)
            middle[k % 3] += f->positions[f->triangles[t][k / 3]][k % 3] / 3;
        if (rbli_winding_number(winding, middle, &on_surface) < 1 || on_surface) return false;
    }
    return true;
}

/// Takes fragments out; the others close up.
static void remove_fragments(rbli_sheet_fragments *f, const bool *gone)
{
    size_t kept = 0, vertices = 0, triangles = 0;
    for (size_t i = 0; i < f->fragment_count; i++) {
        int32_t vertex_start = f->vertex_start[i], vertex_end = f->vertex_start[i + 1];
        int32_t triangle_start = f->triangle_start[i], triangle_end = f->triangle_start[i + 1];
        if (gone[i]) continue;
        int32_t shift = (int32_t)vertices - vertex_start;
        f->cell[kept] = f->cell[i];
        f->vertex_start[kept] = (int32_t)vertices;
        f->triangle_start[kept++] = (int32_t)triangles;
        for (int32_t v = vertex_start; v < vertex_end; v++, vertices++) {
            memmove(f->positions[vertices], f->positions[v], sizeof *f->positions);
            f->vertex_source[vertices] = f->vertex_source[v];
        }
        for (int32_t t = triangle_start; t < triangle_end; t++, triangles++) {
            for (int k = 0; k < 3; k++)
                f->triangles[triangles][k] = f->triangles[t][k] + shift;
            f->origins.source[triangles] = f->origins.source[t];
            f->origins.weights_index[triangles] = f->origins.weights_index[t];
        }
    }
    f->fragment_count = kept;
    f->vertex_start[kept] = (int32_t)vertices;
    f->triangle_start[kept] = (int32_t)triangles;
    f->vertex_count = vertices;
    f->triangle_count = triangles;
}

rbl_status rbli_trim_sheet(
    rbl_context *ctx, const rbli_mesh_view *sheet, const rbli_mesh_view *solid, rbli_sheet_fragments **out)
{
    rbl_status status = RBL_OK;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, padding = 0;
    const int32_t site = 1;
    bool crosses = false, any = false, *gone = NULL;
    rbli_cell_complex *complex = NULL;
    rbli_sheet_fragments *made = NULL;
    rbli_winding *winding = NULL;
    grow(solid, low, high);
    if (!may_meet(sheet, low, high)) {
        *out = NULL;
        return RBL_OK;
    }
    RBL_TRY(rbli_mesh_crosses_itself(ctx, solid, &crosses, NULL));
    if (crosses) {
        *out = NULL;
        return RBL_OK;
    }
    grow(sheet, low, high);
    for (int k = 0; k < 3; k++)
        padding = high[k] - low[k] > padding ? high[k] - low[k] : padding;
    for (int k = 0; k < 3; k++) {
        low[k] -= PADDING * padding;
        high[k] += PADDING * padding;
    }
    RBL_TRY(rbli_solids_complex(ctx, solid, &site, 1, low, high, &complex));
    RBL_TRY(rbli_cut_sheet(ctx, sheet, complex, &made));
    RBL_TRY(rbli_winding_create(ctx, solid, &winding));
    RBL_TRY_ALLOC(gone = rbli_alloc(ctx, made->fragment_count, sizeof *gone));
    for (size_t i = 0; i < made->fragment_count; i++) {
        gone[i] = made->cell[i] == 1 && is_inside(winding, made, i);
        any = any || gone[i];
    }
    if (any) remove_fragments(made, gone);
    *out = any ? made : NULL;
    if (any) made = NULL;
done:
    rbli_free(ctx, gone);
    rbli_winding_destroy(ctx, winding);
    rbli_cell_complex_destroy(ctx, complex);
    rbli_sheet_fragments_destroy(ctx, made);
    return status;
}

static void identity(double w[3][3])
{
    for (int i = 0; i < 9; i++)
        w[i / 3][i % 3] = i / 3 == i % 3;
}

rbl_status rbli_compose_fragments(
    rbl_context *ctx, const rbli_sheet_fragments *outer, rbli_sheet_fragments *inner)
{
    rbl_status status = RBL_OK;
    rbli_triangle_origins *o = &inner->origins;
    double(*weights)[3][3] = NULL;
    size_t rows = 0;
    RBL_TRY_ALLOC(weights = rbli_alloc(ctx, inner->triangle_count, sizeof *weights));
    for (size_t v = 0; v < inner->vertex_count; v++)
        if (inner->vertex_source[v] >= 0)
            inner->vertex_source[v] = outer->vertex_source[inner->vertex_source[v]];
    for (size_t t = 0; t < inner->triangle_count; t++) {
        int32_t middle = o->source[t], near = o->weights_index[t], far = outer->origins.weights_index[middle];
        double a[3][3], b[3][3];
        o->source[t] = outer->origins.source[middle];
        if (near < 0 && far < 0) continue;
        identity(a);
        identity(b);
        if (near >= 0) memcpy(a, o->weights[near], sizeof a);
        if (far >= 0) memcpy(b, outer->origins.weights[far], sizeof b);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                weights[rows][i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
        o->weights_index[t] = (int32_t)rows++;
    }
    rbli_free(ctx, o->weights);
    o->weights = weights;
    o->weights_count = rows;
done:
    return status;
}
