/// Most of the mesh lies well inside of a cell. A point on the inner side of every slab that holds a facet of
/// a closed cell lies in it: all facets are seen from inside, so the cell winds around the point. Such points
/// of one cell form a convex set, so nothing crosses a triangle whose three corners are among them. They are
/// found by a walk from cell to cell through the facet that lies farthest on the wrong side. What is left
/// over is decided exactly by the other phases.

#include "fracture/geometry/cut_internal.h"

enum {
    ROWS = 8,        /* facets that are tested together */
    MOST_HINTS = 64, /* along an axis */
    HINTS_A_CELL = 8,
    VERTICES_A_HINT = 4, /* at least */
    HINT_SAMPLE = 8,     /* of so many vertices one says where hints are wanted */
    EXTRA_STEPS = 16,    /* of a walk, beyond those across all the hints' cells */
    VERTEX_GRAIN = 8192,
};

/// Facets of a cell: a point is inside where all normal·p − offset are below −CUT_FLOAT_MARGIN.
typedef struct facet_rows {
    float normal[3][ROWS], offset[ROWS];
    int32_t other[ROWS]; /* the cell behind it */
} facet_rows;

enum row_state { ROWS_NONE, ROWS_BEGUN, ROWS_READY };

typedef struct settling {
    cut_state *state;
    int32_t *start;      /* [cell_count + 1] rows of a cell */
    facet_rows *rows;    /* of cells that were asked for: those inside the mesh never are */
    atomic_uchar *ready; /* [cell_count] row_state of a cell */
    int32_t *hints;      /* [hint_count³] a cell that is near, −1: hardly a vertex is */
    int32_t hint_count;
    double hint_size; /* grid steps a hint */
} settling;

/* ---- cells ---- */

/// The facets of a cell, and rows that stay free, which hold everything.
static void fill_cell(const settling *s, size_t cell)
{
    const cut_state *state = s->state;
    facet_rows *rows = s->rows + s->start[cell];
    const int32_t *sides = state->complex.sides + state->complex.side_start[cell];
    size_t count = (size_t)(state->complex.side_start[cell + 1] - state->complex.side_start[cell]),
           room = ROWS * (size_t)(s->start[cell + 1] - s->start[cell]);
    for (size_t i = 0; i < count; i++) {
        int32_t facet = sides[i] / 2;
        __builtin_prefetch(&state->complex.boxes[facet]);
        __builtin_prefetch(state->complex_view->facet_cells[facet]);
    }
    for (size_t i = 0; i < count; i++) {
        int32_t facet = sides[i] / 2, side = sides[i] % 2;
        const cut_k_box *box = &state->complex.boxes[facet];
        facet_rows *r = &rows[i / ROWS];
        float sign = side == 0 ? 1.0f : -1.0f; /* the normal leads out of the negative cell */
        for (int axis = 0; axis < 3; axis++)
            r->normal[axis][i % ROWS] = sign * box->normal[axis];
        r->offset[i % ROWS] = (float)((double)sign * box->offset - box->thickness);
        r->other[i % ROWS] = state->complex_view->facet_cells[facet][1 - side];
    }
    for (size_t i = count; i < room; i++) {
        for (int axis = 0; axis < 3; axis++)
            rows[i / ROWS].normal[axis][i % ROWS] = 0;
        rows[i / ROWS].offset[i % ROWS] = 0x1p100f;
        rows[i / ROWS].other[i % ROWS] = -1;
    }
}

static void make_rows(const settling *s, int32_t cell)
{
    atomic_uchar *ready = &s->ready[cell];
    unsigned char state = ROWS_NONE;
    if (atomic_compare_exchange_strong(ready, &state, ROWS_BEGUN)) {
        fill_cell(s, (size_t)cell);
        atomic_store_explicit(ready, state = ROWS_READY, memory_order_release);
    }
    while (state != ROWS_READY) { /* another one is at it: some hundred instructions */
        rbli_relax();
        state = atomic_load_explicit(ready, memory_order_acquire);
    }
}

/// The rows of a cell, made by the first thread that asks.
static inline const facet_rows *rows_of(const settling *s, int32_t cell)
{
    if (atomic_load_explicit(&s->ready[cell], memory_order_acquire) != ROWS_READY) make_rows(s, cell);
    return s->rows + s->start[cell];
}

static rbl_status prepare_rows(rbl_context *ctx, settling *s)
{
    rbl_status status = RBL_OK;
    size_t cell_count = s->state->complex_view->cell_count;
    const int32_t *side_start = s->state->complex.side_start;
    RBL_TRY_ALLOC(s->start = rbli_alloc(ctx, cell_count + 1, sizeof *s->start));
    s->start[0] = 0;
    for (size_t c = 0; c < cell_count; c++)
        s->start[c + 1] = s->start[c] + (side_start[c + 1] - side_start[c] + ROWS - 1) / ROWS;
    RBL_TRY_ALLOC(s->rows = rbli_alloc(ctx, (size_t)s->start[cell_count], sizeof *s->rows));
    RBL_TRY_ALLOC(s->ready = rbli_calloc(ctx, cell_count, sizeof *s->ready));
done:
    return status;
}

/* ---- points ---- */

/// Whether a point surely lies in a cell.
static inline bool holds(const settling *s, int32_t cell, const float p[3])
{
    cut_flags outside = {0};
    cut_floats x = cut_four(p[0]), y = cut_four(p[1]), z = cut_four(p[2]);
    const facet_rows *rows = rows_of(s, cell), *end = s->rows + s->start[cell + 1];
    for (const facet_rows *r = rows; r < end; r++)
        for (int row = 0; row < ROWS; row += 4)
            outside |= cut_load(r->normal[0] + row) * x + cut_load(r->normal[1] + row) * y +
                           cut_load(r->normal[2] + row) * z - cut_load(r->offset + row) >=
                       -CUT_FLOAT_MARGIN;
    return !cut_any(outside) && rows < end;
}

/// The cell behind the facet that a point lies farthest behind; the same cell where the point lies in it or
/// too near to a facet to tell; −1 outside of the box.
static int32_t step_to(const settling *s, int32_t cell, const float p[3])
{
    float farthest = CUT_FLOAT_MARGIN;
    int32_t next = cell;
    const facet_rows *end = s->rows + s->start[cell + 1];
    for (const facet_rows *r = rows_of(s, cell); r < end; r++)
        for (int row = 0; row < ROWS; row++) {
            float height = r->normal[0][row] * p[0] + r->normal[1][row] * p[1] + r->normal[2][row] * p[2] -
                           r->offset[row];
            if (height <= farthest) continue;
            farthest = height;
            next = r->other[row];
        }
    return next;
}

/// Walks towards a point. @return the last cell on the way
static int32_t walk(const settling *s, int32_t cell, const float p[3])
{
    for (int steps = 2 * s->hint_count + EXTRA_STEPS; steps > 0; steps--) {
        int32_t next = step_to(s, cell, p);
        if (next < 0 || next == cell) break;
        cell = next;
    }
    return cell;
}

static int32_t hint_along(const settling *s, int axis, double x)
{
    double at = (x - s->state->mesh.low[axis]) / s->hint_size;
    return at > 0 ? at < s->hint_count ? (int32_t)at : s->hint_count - 1 : 0;
}

static int32_t hint_at(const settling *s, const double p[3])
{
    return (hint_along(s, 2, p[2]) * s->hint_count + hint_along(s, 1, p[1])) * s->hint_count +
           hint_along(s, 0, p[0]);
}

/// A hint beside a point of the grid that is there already, −1 for none: of the row, or of the row before.
static int32_t hint_beside(const settling *s, int32_t index)
{
    int32_t n = s->hint_count, x = index % n, row = index / n % n, above = row > 0 ? index - n : -1;
    const int32_t beside[4] = {x > 0 ? index - 1 : -1, above, above >= 0 && x + 1 < n ? above + 1 : -1,
        above >= 0 && x > 0 ? above - 1 : -1};
    for (int i = 0; i < 4; i++)
        if (beside[i] >= 0 && s->hints[beside[i]] >= 0) return s->hints[beside[i]];
    return -1;
}

/// Layers of the grid of hints: from each point to the next, by short walks.
static rbl_status hint_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const settling *s = user;
    int32_t n = s->hint_count, last = 0;
    for (int32_t index = (int32_t)begin; index < (int32_t)end; index++) {
        if (s->hints[index] < 0) continue;
        int32_t at[3] = {index % n, index / n % n, index / n / n};
        float p[3];
        for (int axis = 0; axis < 3; axis++)
            p[axis] = (float)(s->state->mesh.low[axis] + s->hint_size * (at[axis] + 0.5));
        int32_t near = hint_beside(s, index);
        last = s->hints[index] = walk(s, near < 0 ? last : near, p);
    }
    return RBL_OK;
}

/// A cell near those points of a grid over the mesh where vertices are; of a coarse mesh few ask.
static rbl_status make_hints(rbl_context *ctx, settling *s)
{
    rbl_status status = RBL_OK;
    const cut_mesh *mesh = &s->state->mesh;
    double size = 0;
    size_t wanted = HINTS_A_CELL * s->state->complex_view->cell_count,
           most = s->state->mesh_view->vertex_count / VERTICES_A_HINT;
    if (wanted > most) wanted = most;
    int32_t n = 1;
    while (n < MOST_HINTS && (size_t)n * (size_t)n * (size_t)n < wanted)
        n++;
    for (int axis = 0; axis < 3; axis++)
        size = cut_max(size, mesh->high[axis] - mesh->low[axis]);
    s->hint_count = n;
    s->hint_size = size > 0 ? size / n : 1;
    size_t layer = (size_t)n * (size_t)n;
    RBL_TRY_ALLOC(s->hints = rbli_alloc(ctx, layer * (size_t)n, sizeof *s->hints));
    memset(s->hints, 0xff, layer * (size_t)n * sizeof *s->hints);
    for (size_t v = 0; v < s->state->mesh_view->vertex_count; v += HINT_SAMPLE)
        s->hints[hint_at(s, s->state->points[v])] = 0;
    RBL_TRY(rbli_parallel_for(ctx, layer * (size_t)n, layer, hint_block, s));
done:
    return status;
}

static rbl_status vertex_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const settling *s = user;
    cut_state *state = s->state;
    int32_t last = 0;
    for (size_t v = begin; v < end; v++) {
        const double *point = state->points[v];
        const float p[3] = {(float)point[0], (float)point[1], (float)point[2]};
        if (!holds(s, last, p)) {
            int32_t near = s->hints[hint_at(s, point)];
            last = walk(s, near < 0 ? last : near, p);
            if (!holds(s, last, p) || state->mesh.vertex_half[v] < 0) continue;
        }
        state->vertex_label[v] = last;
    }
    return RBL_OK;
}

/* ---- triangles ---- */

static rbl_status triangle_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    cut_state *state = user;
    const int32_t *label = state->vertex_label;
    for (size_t t = begin; t < end; t++) {
        const int32_t *v = state->mesh_view->triangles[t];
        int32_t a = label[v[0]], b = label[v[1]], c = label[v[2]];
        state->mesh.settled[t] = a == b && b == c && a != CUT_NO_LABEL;
    }
    return RBL_OK;
}

static rbl_status settle_vertices(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    settling s = {.state = state};
    RBL_TRY(prepare_rows(ctx, &s));
    RBL_TRY(make_hints(ctx, &s));
    RBL_TRY(rbli_parallel_for(ctx, state->mesh_view->vertex_count, VERTEX_GRAIN, vertex_block, &s));
    RBL_TRY(rbli_parallel_for(ctx, state->mesh_view->triangle_count, VERTEX_GRAIN, triangle_block, state));
done:
    rbli_free(ctx, s.start);
    rbli_free(ctx, s.rows);
    rbli_free(ctx, s.ready);
    rbli_free(ctx, s.hints);
    return status;
}

rbl_status cut_settle(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    size_t vertex_count = state->mesh_view->vertex_count, count = state->mesh_view->triangle_count;
    int32_t *open = NULL;
    RBL_TRY_ALLOC(state->vertex_label = rbli_alloc(ctx, vertex_count, sizeof *state->vertex_label));
    RBL_TRY_ALLOC(state->mesh.settled = rbli_calloc(ctx, count, 1));
    for (size_t v = 0; v < vertex_count; v++)
        state->vertex_label[v] = CUT_NO_LABEL;
    bool pays =
        state->complex_view->convex && state->complex_view->cell_count > 0; /* else cells are too few */
    if (pays && count > 0) RBL_TRY(settle_vertices(ctx, state));
    size_t open_count = 0;
    RBL_TRY_ALLOC(open = rbli_alloc(ctx, count, sizeof *open));
    for (size_t t = 0; t < count; t++) {
        open[open_count] = (int32_t)t;
        open_count += !state->mesh.settled[t];
    }
    RBL_TRY(cut_tree_build(ctx, state, open, open_count, &state->mesh.open));
done:
    rbli_free(ctx, open);
    return status;
}
