/// Scattered points: draws by counter, a hash of cells for distances, the winding number for inside.

#include "fracture/ops/scatter.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/relax.h"
#include "fracture/geometry/winding.h"
#include "fracture/ops/proximity.h"

enum { MOST_TRIES = 1000 };

rbli_scatter_options rbli_scatter_default_options(void)
{
    return (rbli_scatter_options){.min_count = 20, .max_count = 20};
}

typedef struct scatter {
    rbl_context *ctx;
    const rbli_scatter_options *options;
    double low[3], high[3];
    rbli_winding *winding; /* NULL: everything is inside */
    double (*points)[3];
    size_t count;
    /* Points by cells of side min_distance: open addressing by cell, then a list. */
    int32_t *cells, *next;
    int64_t (*cell_of)[3];
    size_t mask;
} scatter;

/// The closed surface of all rigid leaves together.
static rbl_status build_winding(scatter *s)
{
    rbl_status status = RBL_OK;
    const rbl_collection *c = s->options->inside;
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    size_t face_count = rbli_collection_size(c, "face"), kept = 0;
    rbli_world_surface surface = {0};
    int32_t(*triangles)[3] = NULL;
    RBL_TRY(rbli_world_surface_build(s->ctx, c, &surface));
    RBL_TRY_ALLOC(triangles = rbli_alloc(s->ctx, face_count, sizeof *triangles));
    for (size_t f = 0; f < face_count; f++)
        if (surface.piece[f] >= 0) memcpy(triangles[kept++], faces[f], sizeof *triangles);
    rbli_mesh_view mesh = {(const double(*)[3])surface.positions, rbli_collection_size(c, "vertex"),
        (const int32_t(*)[3])triangles, kept};
    RBL_TRY(rbli_winding_create(s->ctx, &mesh, &s->winding));
done:
    rbli_free(s->ctx, triangles);
    rbli_world_surface_free(s->ctx, &surface);
    return status;
}

static bool is_inside(const scatter *s, const double point[3])
{
    return !s->winding || rbli_winding_number(s->winding, point, NULL) > 0;
}

static void find_cell(const scatter *s, const double point[3], int64_t cell[3])
{
    for (int k = 0; k < 3; k++)
        cell[k] = (int64_t)floor((point[k] - s->low[k]) / s->options->min_distance);
}

static size_t cell_slot(const scatter *s, const int64_t cell[3])
{
    size_t slot = (size_t)rbli_hash64(cell, 3 * sizeof *cell) & s->mask;
    while (s->cells[slot] >= 0 && memcmp(s->cell_of[s->cells[slot]], cell, 3 * sizeof *cell) != 0)
        slot = (slot + 1) & s->mask;
    return slot;
}

static bool is_far(const scatter *s, const double point[3])
{
    double limit = s->options->min_distance * s->options->min_distance;
    int64_t cell[3], near[3];
    if (limit <= 0) return true;
    find_cell(s, point, cell);
    for (int n = 0; n < 27; n++) {
        near[0] = cell[0] + n % 3 - 1;
        near[1] = cell[1] + n / 3 % 3 - 1;
        near[2] = cell[2] + n / 9 - 1;
        for (int32_t i = s->cells[cell_slot(s, near)]; i >= 0; i = s->next[i]) {
            double x = s->points[i][0] - point[0], y = s->points[i][1] - point[1],
                   z = s->points[i][2] - point[2];
            if (x * x + y * y + z * z < limit) return false;
        }
    }
    return true;
}

static void insert(scatter *s, const double point[3])
{
    size_t i = s->count++;
    memcpy(s->points[i], point, sizeof *s->points);
    if (!(s->options->min_distance > 0)) return;
    find_cell(s, point, s->cell_of[i]);
    size_t slot = cell_slot(s, s->cell_of[i]);
    s->next[i] = s->cells[slot];
    s->cells[slot] = (int32_t)i;
}

static rbl_status place(scatter *s, size_t wanted)
{
    size_t failed = 0;
    for (size_t i = 0; i < wanted; i++) {
        rbli_rng rng = rbli_rng_make(s->options->seed, RBLI_RNG_SCATTER, i);
        bool placed = false;
        for (int t = 0; t < MOST_TRIES && !placed; t++) {
            double p[3];
            for (int k = 0; k < 3; k++)
                p[k] = s->low[k] + (s->high[k] - s->low[k]) * rbli_rng_double(&rng);
            placed = is_far(s, p) && is_inside(s, p);
            if (placed) insert(s, p);
        }
        failed += !placed;
        if (i % 256 == 0 && rbli_cancelled(s->ctx)) return RBL_ERR_CANCELLED;
        if (i % 256 == 0) rbli_progress(s->ctx, (double)i / (double)wanted);
    }
    if (failed)
        rbli_warn(s->ctx, "%zu of %zu points found no place %s and were left out", failed, wanted,
            s->options->min_distance > 0 ? "far enough from the others" : "inside");
    return RBL_OK;
}

static rbl_status relax_points(scatter *s)
{
    rbl_status status = RBL_OK;
    double(*before)[3] = NULL;
    size_t returned = 0;
    if (s->options->relax <= 0 || s->count == 0) return RBL_OK;
    for (int k = 0; k < 3; k++)
        if (!(s->high[k] > s->low[k]))
            return rbli_fail(s->ctx, RBL_ERR_ARGUMENT, "points in a flat box cannot be relaxed");
    RBL_TRY_ALLOC(before = rbli_alloc(s->ctx, s->count, sizeof *before));
    memcpy(before, s->points, s->count * sizeof *before);
    RBL_TRY(rbli_voro_relax(s->ctx, s->points, s->count, s->low, s->high, s->options->relax));
    for (size_t i = 0; i < s->count; i++) {
        if (is_inside(s, s->points[i])) continue;
        memcpy(s->points[i], before[i], sizeof *before);
        returned++;
    }
    if (returned)
        rbli_note(
            s->ctx, "%zu points would have left the pieces by relaxing and stayed where they were", returned);
done:
    rbli_free(s->ctx, before);
    return status;
}

rbl_status rbli_scatter_points(rbl_context *ctx, const double low[3], const double high[3],
    const rbli_scatter_options *options, double (**out)[3], size_t *count)
{
    rbl_status status = RBL_OK;
    scatter s = {.ctx = ctx, .options = options, .mask = 15};
    size_t wanted = options->min_count;
    for (int k = 0; k < 3; k++) {
        s.low[k] = low[k];
        s.high[k] = high[k];
        if (!isfinite(low[k]) || !isfinite(high[k]) || low[k] > high[k])
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the box to scatter in is empty");
    }
    if (options->max_count < options->min_count || options->max_count > INT32_MAX - 1)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "counts of points from %zu to %zu", options->min_count,
            options->max_count);
    rbli_rng rng = rbli_rng_make(options->seed, RBLI_RNG_SCATTER, UINT64_MAX);
    wanted += rbli_rng_below(&rng, (uint32_t)(options->max_count - options->min_count + 1));
    while (s.mask + 1 < 2 * wanted)
        s.mask = 2 * s.mask + 1;
    RBL_TRY_ALLOC(s.points = rbli_alloc(ctx, wanted, sizeof *s.points));
    if (options->min_distance > 0) {
        RBL_TRY_ALLOC(s.cells = rbli_alloc(ctx, s.mask + 1, sizeof *s.cells));
        RBL_TRY_ALLOC(s.next = rbli_alloc(ctx, wanted, sizeof *s.next));
        RBL_TRY_ALLOC(s.cell_of = rbli_alloc(ctx, wanted, sizeof *s.cell_of));
        memset(s.cells, 0xff, (s.mask + 1) * sizeof *s.cells);
    }
    if (options->inside) RBL_TRY(build_winding(&s));
    RBL_TRY(place(&s, wanted));
    RBL_TRY(relax_points(&s));
    *out = s.points;
    *count = s.count;
    s.points = NULL;
done:
    rbli_winding_destroy(ctx, s.winding);
    rbli_free(ctx, s.points);
    rbli_free(ctx, s.cells);
    rbli_free(ctx, s.next);
    rbli_free(ctx, s.cell_of);
    return status;
}
