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

/* fmin, fmax and floor are calls */
static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static int32_t clamp_index(const rbli_solid_grid *g, int axis, double x)
{
    double at = (x - g->origin[axis]) * g->inverse;
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

/// A triangle's plane, and the cells of its box grown by the reach.
typedef struct slab {
    double normal[3], offset, most; /* a cell is near when its centre is at most so far from the plane */
    double cell;
    int32_t from[3], to[3];
} slab;

/// What a cell's place along an axis adds to the height of its centre above the plane.
static double height_along(const rbli_solid_grid *g, const slab *s, int axis, int32_t i)
{
    return s->normal[axis] * (g->origin[axis] + (i + 0.5) * s->cell);
}

static void choose_slab(const rbli_solid_grid *g, const double *const p[3], double reach, slab *s)
{
    double length = 0;
    s->cell = 1 / g->inverse;
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        s->from[k] = clamp_index(g, k, lesser(p[0][k], lesser(p[1][k], p[2][k])) - reach);
        s->to[k] = clamp_index(g, k, greater(p[0][k], greater(p[1][k], p[2][k])) + reach);
        s->normal[k] = (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
        length += s->normal[k] * s->normal[k];
    }
    length = sqrt(length);
    s->offset = 0;
    for (int k = 0; k < 3; k++) {
        s->normal[k] = length > 0 ? s->normal[k] / length : 0;
        s->offset += s->normal[k] * p[0][k];
    }
    s->most =
        (reach + 0.5 * s->cell) * 1.7320508075688774; /* half the diagonal of a cell and the reach's box */
}

/// Marks the cells within reach of a triangle's plane and box: of a row those between its ends when both are. Heights
/// grow or fall along a row, rounding or not.
static void draw_triangle(rbli_solid_grid *g, const double *const p[3], double reach)
{
    slab s;
    double along_x[LONGEST + 2];
    choose_slab(g, p, reach, &s);
    int32_t first = s.from[0], last = s.to[0];
    for (int32_t x = first; x <= last; x++)
        along_x[x] = height_along(g, &s, 0, x);
    for (int32_t z = s.from[2]; z <= s.to[2]; z++)
        for (int32_t y = s.from[1]; y <= s.to[1]; y++) {
            uint8_t *row = g->near + index_of(g, 0, y, z);
            double along_y = height_along(g, &s, 1, y), along_z = height_along(g, &s, 2, z);
            if (fabs(along_x[first] + along_y + along_z - s.offset) <= s.most &&
                fabs(along_x[last] + along_y + along_z - s.offset) <= s.most) {
                memset(row + first, 1, (size_t)(last - first + 1));
                continue;
            }
            for (int32_t x = first; x <= last; x++)
                row[x] |= fabs(along_x[x] + along_y + along_z - s.offset) <= s.most;
        }
}

/* ---- what the outside reaches: 2 for a while ---- */

typedef struct cell {
    int32_t x, y, z;
} cell;

typedef RBLI_ARRAY(cell) cell_stack;

/// The first cell of begin … end − 1 of a row that is not free, or `end`.
static int32_t end_of_run(const uint8_t *row, int32_t begin, int32_t end)
{
    for (uint64_t eight; end - begin >= (int32_t)sizeof eight; begin += (int32_t)sizeof eight) {
        memcpy(&eight, row + begin, sizeof eight);
        if (eight) break;
    }
    while (begin < end && !row[begin])
        begin++;
    return begin;
}

/// The first cell of the free ones that end before `end`.
static int32_t begin_of_run(const uint8_t *row, int32_t end)
{
    for (uint64_t eight; end >= (int32_t)sizeof eight; end -= (int32_t)sizeof eight) {
        memcpy(&eight, row + end - sizeof eight, sizeof eight);
        if (eight) break;
    }
    while (end > 0 && !row[end - 1])
        end--;
    return end;
}

/// Pushes a cell of each run of free cells begin … end − 1 of a row.
static rbl_status push_runs(
    rbl_context *ctx, const rbli_solid_grid *g, cell_stack *stack, cell begin, int32_t end)
{
    rbl_status status = RBL_OK;
    const uint8_t *row = g->near + index_of(g, 0, begin.y, begin.z);
    for (int32_t x = begin.x; x < end;) {
        const uint8_t *found = memchr(row + x, 0, (size_t)(end - x));
        if (!found) break;
        x = (int32_t)(found - row);
        RBL_TRY(rbli_array_push(ctx, stack, ((cell){x, begin.y, begin.z})));
        x = end_of_run(row, x, end);
    }
done:
    return status;
}

/// Marks the run of free cells that a cell lies in and pushes those beside it.
static rbl_status fill_run(rbl_context *ctx, rbli_solid_grid *g, cell_stack *stack, cell at)
{
    rbl_status status = RBL_OK;
    uint8_t *row = g->near + index_of(g, 0, at.y, at.z);
    if (row[at.x]) return RBL_OK;
    int32_t begin = begin_of_run(row, at.x), end = end_of_run(row, at.x, g->size[0]);
    memset(row + begin, 2, (size_t)(end - begin));
    if (at.y > 0) RBL_TRY(push_runs(ctx, g, stack, (cell){begin, at.y - 1, at.z}, end));
    if (at.y + 1 < g->size[1]) RBL_TRY(push_runs(ctx, g, stack, (cell){begin, at.y + 1, at.z}, end));
    if (at.z > 0) RBL_TRY(push_runs(ctx, g, stack, (cell){begin, at.y, at.z - 1}, end));
    if (at.z + 1 < g->size[2]) RBL_TRY(push_runs(ctx, g, stack, (cell){begin, at.y, at.z + 1}, end));
done:
    return status;
}

/// Makes near what the outside does not reach, run by run.
static rbl_status flood(rbl_context *ctx, rbli_solid_grid *g)
{
    rbl_status status = RBL_OK;
    size_t count = (size_t)g->size[0] * (size_t)g->size[1] * (size_t)g->size[2];
    int32_t last = g->size[0] - 1;
    cell_stack stack = {0};
    for (int32_t z = 0; z < g->size[2]; z++)
        for (int32_t y = 0; y < g->size[1]; y++) {
            bool border = y == 0 || y == g->size[1] - 1 || z == 0 || z == g->size[2] - 1;
            RBL_TRY(push_runs(ctx, g, &stack, (cell){0, y, z}, border ? last + 1 : 1));
            RBL_TRY(push_runs(ctx, g, &stack, (cell){last, y, z}, last + 1));
            while (stack.count > 0)
                RBL_TRY(fill_run(ctx, g, &stack, stack.data[--stack.count]));
        }
    uint8_t *near = g->near;
    for (size_t i = 0; i < count; i++)
        near[i] = near[i] != 2;
done:
    rbli_free(ctx, stack.data);
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
