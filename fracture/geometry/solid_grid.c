/// Voxels near or inside closed meshes: surfaces are drawn, the outside is flooded.

#include "fracture/geometry/solid_grid.h"

#include <math.h>

#include "fracture/base/alloc.h"

enum { LONGEST = 96 };

void rbli_solid_grid_free(rbl_context *ctx, rbli_solid_grid *grid)
{
    rbli_free(ctx, grid->near);
    *grid = (rbli_solid_grid){0};
}

static int32_t clamp_index(const rbli_solid_grid *g, int axis, double x)
{
    double at = floor((x - g->origin[axis]) * g->inverse);
    return at < 0 ? 0 : at >= g->size[axis] ? g->size[axis] - 1 : (int32_t)at;
}

static size_t index_of(const rbli_solid_grid *g, int32_t x, int32_t y, int32_t z)
{
    return ((size_t)z * (size_t)g->size[1] + (size_t)y) * (size_t)g->size[0] + (size_t)x;
}

bool rbli_solid_grid_at(const rbli_solid_grid *g, const double p[3])
{
    return g->near[index_of(g, clamp_index(g, 0, p[0]), clamp_index(g, 1, p[1]), clamp_index(g, 2, p[2]))];
}

bool rbli_solid_grid_any(const rbli_solid_grid *g, const double low[3], const double high[3])
{
    int32_t from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = clamp_index(g, k, low[k]);
        to[k] = clamp_index(g, k, high[k]);
    }
    for (int32_t z = from[2]; z <= to[2]; z++)
        for (int32_t y = from[1]; y <= to[1]; y++)
            if (memchr(g->near + index_of(g, from[0], y, z), 1, (size_t)(to[0] - from[0] + 1))) return true;
    return false;
}

/// Marks the cells within reach of a triangle's plane and box.
static void draw_triangle(rbli_solid_grid *g, const double *const p[3], double reach)
{
    int32_t from[3], to[3];
    double n[3], length = 0, offset = 0, cell = 1 / g->inverse;
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        from[k] = clamp_index(g, k, fmin(p[0][k], fmin(p[1][k], p[2][k])) - reach);
        to[k] = clamp_index(g, k, fmax(p[0][k], fmax(p[1][k], p[2][k])) + reach);
        n[k] = (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++) {
        n[k] = length > 0 ? n[k] / length : 0;
        offset += n[k] * p[0][k];
    }
    double most =
        (reach + 0.5 * cell) * 1.7320508075688774; /* half the diagonal of a cell and the reach's box */
    for (int32_t z = from[2]; z <= to[2]; z++)
        for (int32_t y = from[1]; y <= to[1]; y++)
            for (int32_t x = from[0]; x <= to[0]; x++) {
                double height = n[0] * (g->origin[0] + (x + 0.5) * cell) +
                                n[1] * (g->origin[1] + (y + 0.5) * cell) +
                                n[2] * (g->origin[2] + (z + 0.5) * cell) - offset;
                if (fabs(height) <= most) g->near[index_of(g, x, y, z)] = 1;
            }
}

/// What the outside reaches is 2 for a while; all else is near.
static rbl_status flood(rbl_context *ctx, rbli_solid_grid *g)
{
    rbl_status status = RBL_OK;
    size_t count = (size_t)g->size[0] * (size_t)g->size[1] * (size_t)g->size[2], depth = 0;
    size_t *stack = rbli_alloc(ctx, count, sizeof *stack);
    RBL_TRY_ALLOC(stack);
    for (size_t i = 0; i < count; i++) {
        int32_t at[3] = {(int32_t)(i % (size_t)g->size[0]),
            (int32_t)(i / (size_t)g->size[0] % (size_t)g->size[1]),
            (int32_t)(i / (size_t)g->size[0] / (size_t)g->size[1])};
        bool border = false;
        for (int k = 0; k < 3; k++)
            border |= at[k] == 0 || at[k] == g->size[k] - 1;
        if (!border || g->near[i]) continue;
        g->near[i] = 2;
        stack[depth++] = i;
    }
    const size_t step[3] = {1, (size_t)g->size[0], (size_t)g->size[0] * (size_t)g->size[1]};
    while (depth > 0) {
        size_t i = stack[--depth];
        int32_t at[3] = {(int32_t)(i % (size_t)g->size[0]),
            (int32_t)(i / (size_t)g->size[0] % (size_t)g->size[1]),
            (int32_t)(i / (size_t)g->size[0] / (size_t)g->size[1])};
        for (int k = 0; k < 3; k++)
            for (int up = 0; up < 2; up++) {
                if (up ? at[k] + 1 >= g->size[k] : at[k] == 0) continue;
                size_t next = up ? i + step[k] : i - step[k];
                if (g->near[next]) continue;
                g->near[next] = 2;
                stack[depth++] = next;
            }
    }
    for (size_t i = 0; i < count; i++)
        g->near[i] = g->near[i] != 2;
done:
    rbli_free(ctx, stack);
    return status;
}

rbl_status rbli_solid_grid_make(rbl_context *ctx, const rbli_mesh_view *meshes, size_t mesh_count,
    const double low[3], const double high[3], double reach, rbli_solid_grid *out)
{
    rbl_status status = RBL_OK;
    rbli_solid_grid g = {0};
    double longest = 0;
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, high[k] - low[k]);
    g.inverse = longest > 0 ? LONGEST / longest : 1;
    for (int k = 0; k < 3; k++) {
        g.origin[k] = low[k];
        g.size[k] = (int32_t)ceil((high[k] - low[k]) * g.inverse) + 1;
    }
    RBL_TRY_ALLOC(g.near = rbli_calloc(ctx, (size_t)g.size[0] * (size_t)g.size[1] * (size_t)g.size[2], 1));
    for (size_t m = 0; m < mesh_count; m++)
        for (size_t t = 0; t < meshes[m].triangle_count; t++) {
            const int32_t *v = meshes[m].triangles[t];
            const double *const p[3] = {
                meshes[m].positions[v[0]], meshes[m].positions[v[1]], meshes[m].positions[v[2]]};
            if ((t & 0x1fff) == 0 && rbli_cancelled(ctx)) {
                status = RBL_ERR_CANCELLED;
                goto done;
            }
            draw_triangle(&g, p, reach);
        }
    RBL_TRY(flood(ctx, &g));
    *out = g;
    g.near = NULL;
done:
    rbli_free(ctx, g.near);
    return status;
}
