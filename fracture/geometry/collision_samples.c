/// Collision samples: longest sides are halved, middles are kept where nothing is near, by a hashed grid of
/// cells that each hold one point.

#include "fracture/geometry/collision_samples.h"

#include <math.h>

#include "fracture/base/alloc.h"

typedef struct grid_cell {
    int64_t at[3];
    const double *point; /* NULL: free slot */
    double copy[3];
} grid_cell;

typedef struct sampler {
    rbl_context *ctx;
    double low[3], inverse; /* cells an axis, per length */
    double near_square;     /* of half the spacing */
    double side_square;     /* longest side that is not halved */
    grid_cell *cells;
    size_t cell_count, capacity; /* a power of two */
    RBLI_ARRAY(struct { double at[3]; }) samples;
    RBLI_ARRAY(struct { double corners[3][3]; }) stack;
    size_t most, steps;
} sampler;

static void cell_of(const sampler *s, const double p[3], int64_t at[3])
{
    for (int k = 0; k < 3; k++)
        at[k] = (int64_t)floor((p[k] - s->low[k]) * s->inverse);
}

static size_t slot_of(const sampler *s, const int64_t at[3])
{
    uint64_t mixed = (uint64_t)at[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)at[1] * 0xc2b2ae3d27d4eb4fu ^
                     (uint64_t)at[2] * 0x165667b19e3779f9u;
    size_t slot = (size_t)(mixed ^ mixed >> 29 ^ mixed >> 47) & (s->capacity - 1);
    while (s->cells[slot].point && memcmp(s->cells[slot].at, at, sizeof s->cells[slot].at) != 0)
        slot = (slot + 1) & (s->capacity - 1);
    return slot;
}

static rbl_status make_room(sampler *s)
{
    if (s->cell_count < s->capacity / 2) return RBL_OK;
    sampler grown = *s;
    grown.capacity = s->capacity ? 2 * s->capacity : 64;
    grown.cells = rbli_calloc(s->ctx, grown.capacity, sizeof *grown.cells);
    if (!grown.cells) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < s->capacity; i++) {
        if (!s->cells[i].point) continue;
        grid_cell *cell = &grown.cells[slot_of(&grown, s->cells[i].at)];
        *cell = s->cells[i];
        cell->point = cell->copy;
    }
    rbli_free(s->ctx, s->cells);
    s->cells = grown.cells;
    s->capacity = grown.capacity;
    return RBL_OK;
}

/// Puts a point into its cell unless that has one.
static rbl_status put_point(sampler *s, const double p[3])
{
    rbl_status status = make_room(s);
    if (status != RBL_OK) return status;
    int64_t at[3];
    cell_of(s, p, at);
    grid_cell *cell = &s->cells[slot_of(s, at)];
    if (cell->point) return RBL_OK;
    memcpy(cell->at, at, sizeof at);
    memcpy(cell->copy, p, sizeof cell->copy);
    cell->point = cell->copy;
    s->cell_count++;
    return RBL_OK;
}

static bool has_near(const sampler *s, const double p[3])
{
    int64_t at[3], near[3];
    cell_of(s, p, at);
    if (s->cells[slot_of(s, at)].point) return true; /* a cell's diagonal is half the spacing */
    for (int i = 0; i < 125; i++) {
        near[0] = at[0] + i % 5 - 2;
        near[1] = at[1] + i / 5 % 5 - 2;
        near[2] = at[2] + i / 25 - 2;
        const double *q = s->cells[slot_of(s, near)].point;
        if (!q) continue;
        double square = 0;
        for (int k = 0; k < 3; k++)
            square += (q[k] - p[k]) * (q[k] - p[k]);
        if (square <= s->near_square) return true;
    }
    return false;
}

/// Halves a triangle until its parts are small.
static rbl_status sample_triangle(sampler *s, const double corners[3][3])
{
    rbl_status status = RBL_OK;
    s->stack.count = 0;
    RBL_TRY(rbli_array_reserve(s->ctx, &s->stack, 1));
    memcpy(s->stack.data[s->stack.count++].corners, corners, sizeof(double[3][3]));
    while (s->stack.count > 0) {
        double part[3][3], square[3] = {0, 0, 0}, middle[3];
        memcpy(part, s->stack.data[--s->stack.count].corners, sizeof part);
        int longest = 0; /* side i is opposite to corner i */
        for (int i = 0; i < 3; i++) {
            const double *a = part[(i + 1) % 3], *b = part[(i + 2) % 3];
            for (int k = 0; k < 3; k++)
                square[i] += (b[k] - a[k]) * (b[k] - a[k]);
            if (square[i] > square[longest]) longest = i;
        }
        if (square[longest] <= s->side_square) continue;
        if (++s->steps % 4096 == 0 && rbli_cancelled(s->ctx)) return RBL_ERR_CANCELLED;
        const double *a = part[(longest + 1) % 3], *b = part[(longest + 2) % 3];
        for (int k = 0; k < 3; k++)
            middle[k] = 0.5 * a[k] + 0.5 * b[k]; /* the same for both triangles of a side */
        if (!has_near(s, middle)) {
            if (s->samples.count == s->most) return RBL_ERR_LIMIT;
            RBL_TRY(put_point(s, middle));
            RBL_TRY(rbli_array_reserve(s->ctx, &s->samples, 1));
            memcpy(s->samples.data[s->samples.count++].at, middle, sizeof middle);
        } else if (s->steps > 64 * (s->most + 1024)) {
            return RBL_ERR_LIMIT;
        }
        RBL_TRY(rbli_array_reserve(s->ctx, &s->stack, 2));
        for (int half = 0; half < 2; half++) {
            double(*out)[3] = s->stack.data[s->stack.count++].corners;
            memcpy(out, part, sizeof part);
            memcpy(out[(longest + 1 + half) % 3], middle, sizeof middle);
        }
    }
done:
    return status;
}

static double surface_area(const rbli_mesh_view *mesh)
{
    double area = 0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double u[3], v[3], square = 0;
        for (int k = 0; k < 3; k++) {
            u[k] = mesh->positions[mesh->triangles[t][1]][k] - mesh->positions[mesh->triangles[t][0]][k];
            v[k] = mesh->positions[mesh->triangles[t][2]][k] - mesh->positions[mesh->triangles[t][0]][k];
        }
        for (int k = 0; k < 3; k++) {
            double n = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
            square += n * n;
        }
        area += 0.5 * sqrt(square);
    }
    return area;
}

rbl_status rbli_collision_samples(rbl_context *ctx, const rbli_mesh_view *mesh, double spacing, size_t most,
    double (**out)[3], size_t *count)
{
    rbl_status status = RBL_OK;
    sampler s = {.ctx = ctx,
        .low = {HUGE_VAL, HUGE_VAL, HUGE_VAL},
        .inverse = 2 * sqrt(3) / spacing,
        .near_square = spacing * spacing / 4,
        .side_square = 0.75 * spacing * spacing,
        .most = most};
    double high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, (*made)[3] = NULL;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                s.low[k] = fmin(s.low[k], mesh->positions[mesh->triangles[t][c]][k]);
                high[k] = fmax(high[k], mesh->positions[mesh->triangles[t][c]][k]);
            }
    /* No point covers more than a disk of each of a few sheets of surface. */
    if (surface_area(mesh) > 8 * spacing * spacing * (double)(most + 3 * mesh->triangle_count))
        return RBL_ERR_LIMIT;
    for (int k = 0; k < 3; k++)
        if (high[k] - s.low[k] > 0x1p40 * spacing) return RBL_ERR_LIMIT;
    RBL_TRY(make_room(&s));
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            RBL_TRY(put_point(&s, mesh->positions[mesh->triangles[t][c]]));
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double corners[3][3];
        if (t % 1024 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (int c = 0; c < 3; c++)
            memcpy(corners[c], mesh->positions[mesh->triangles[t][c]], sizeof corners[c]);
        RBL_TRY(sample_triangle(&s, (const double(*)[3])corners));
    }
    RBL_TRY_ALLOC(made = rbli_alloc(ctx, s.samples.count, sizeof *made));
    for (size_t i = 0; i < s.samples.count; i++)
        memcpy(made[i], s.samples.data[i].at, sizeof *made);
    *out = made;
    *count = s.samples.count;
done:
    rbli_free(ctx, s.cells);
    rbli_free(ctx, s.samples.data);
    rbli_free(ctx, s.stack.data);
    return status;
}
