/// Queries for the parts that nothing crosses: which cell holds a mesh vertex, how often the mesh winds
/// around a vertex of the complex. A nearly vertical segment leads out of the box; its crossings are added up
/// exactly, in any order.

#include "fracture/geometry/cut_internal.h"

/* ---- the segment ---- */

enum { FOR_CELL = 1, FOR_WINDING = 2 }; /* spare points, from the end */

/// Puts a spare point above the box, a little aside of `from` so that it is in general position.
static int32_t place_query_end(cut_state *state, int32_t from, int32_t which)
{
    int32_t spare = state->point_count - which;
    state->points[spare][0] = state->points[from][0] + 7919;
    state->points[spare][1] = state->points[from][1] + 3571;
    state->points[spare][2] = state->complex_top + 1009;
    return spare;
}

static void segment_box(const cut_state *state, int32_t a, int32_t b, float box[6])
{
    for (int axis = 0; axis < 3; axis++) {
        double low = fmin(state->points[a][axis], state->points[b][axis]);
        double high = fmax(state->points[a][axis], state->points[b][axis]);
        box[axis] = (float)(low - fabs(low) * 0x1p-22);
        box[axis + 3] = (float)(high + fabs(high) * 0x1p-22);
    }
}

/// ±1 where segment a → b crosses a triangle to its positive or negative side, else 0.
static int crosses(const cut_state *state, int32_t a, int32_t b, const int32_t v[3])
{
    int side_a = rbli_orient(&state->orient, v[0], v[1], v[2], a);
    int side_b = rbli_orient(&state->orient, v[0], v[1], v[2], b);
    if (side_a == side_b) return 0;
    int line = rbli_orient(&state->orient, a, b, v[0], v[1]);
    if (rbli_orient(&state->orient, a, b, v[1], v[2]) != line) return 0;
    if (rbli_orient(&state->orient, a, b, v[2], v[0]) != line) return 0;
    return side_b;
}

/* ---- cells ---- */

enum { MOST_COLUMNS = 1024 /* per axis */ };

static int32_t column_of(const cut_columns *columns, int axis, double x)
{
    double cell = (x - columns->low[axis]) * columns->scale[axis];
    return cell > 0 ? (cell < columns->count - 1 ? (int32_t)cell : columns->count - 1) : 0;
}

/// The columns that a box of floats reaches, in the order low x, high x, low y, high y.
static void column_range(
    const cut_columns *columns, const float low[2], const float high[2], int32_t range[4])
{
    for (int axis = 0; axis < 2; axis++) {
        range[2 * axis] = column_of(columns, axis, low[axis]);
        range[2 * axis + 1] = column_of(columns, axis, high[axis]);
    }
}

/// Sorts facets into columns over the x–y plane, about one for each facet.
static rbl_status build_columns(rbl_context *ctx, const cut_state *state, cut_columns *columns)
{
    rbl_status status = RBL_OK;
    size_t facet_count = state->complex_view->facet_count;
    const cut_k_box *boxes = state->complex.boxes;
    columns->count = 1;
    while (columns->count < MOST_COLUMNS && (size_t)columns->count * (size_t)columns->count < facet_count)
        columns->count++;
    for (int axis = 0; axis < 2; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t f = 0; f < facet_count; f++) {
            low = cut_min(low, boxes[f].low[axis]);
            high = cut_max(high, boxes[f].high[axis]);
        }
        columns->low[axis] = low;
        columns->scale[axis] = high > low ? columns->count / (high - low) : 0;
    }
    size_t bucket_count = (size_t)columns->count * (size_t)columns->count;
    RBL_TRY_ALLOC(columns->start = rbli_calloc(ctx, bucket_count + 2, sizeof *columns->start));
    RBL_TRY_ALLOC(columns->seen = rbli_alloc(ctx, facet_count, sizeof *columns->seen));
    memset(columns->seen, 0xff, facet_count * sizeof *columns->seen);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t f = 0; f < facet_count; f++) {
            if (!(boxes[f].separates > 0)) continue;
            int32_t range[4];
            column_range(columns, boxes[f].low, boxes[f].high, range);
            for (int32_t y = range[2]; y <= range[3]; y++)
                for (int32_t x = range[0]; x <= range[1]; x++) {
                    size_t bucket = (size_t)y * (size_t)columns->count + (size_t)x;
                    if (pass == 0)
                        columns->start[bucket + 2]++;
                    else
                        columns->facets[columns->start[bucket + 1]++] = (int32_t)f;
                }
        }
        if (pass == 1) break;
        for (size_t i = 0; i < bucket_count; i++)
            columns->start[i + 2] += columns->start[i + 1];
        RBL_TRY_ALLOC(columns->facets = rbli_alloc(ctx, columns->start[bucket_count + 1], sizeof(int32_t)));
    }
done:
    return status;
}

void cut_columns_free(rbl_context *ctx, cut_columns *columns)
{
    rbli_free(ctx, columns->start);
    rbli_free(ctx, columns->facets);
    rbli_free(ctx, columns->seen);
}

typedef struct cell_count {
    int32_t cell, net;
} cell_count;
typedef RBLI_ARRAY(cell_count) cell_counts;

static rbl_status count_cell(rbl_context *ctx, cell_counts *counts, int32_t cell, int32_t change)
{
    for (size_t i = 0; i < counts->count; i++)
        if (counts->data[i].cell == cell) {
            counts->data[i].net += change;
            return RBL_OK;
        }
    return rbli_array_push(ctx, counts, ((cell_count){cell, change}));
}

/// Adds the crossings of segment from → to with one facet.
static rbl_status cross_facet(
    rbl_context *ctx, const cut_state *state, int32_t from, int32_t to, int32_t facet, cell_counts *counts)
{
    rbl_status status = RBL_OK;
    int32_t direction = 0;
    for (int32_t t = state->complex.facet_triangle_start[facet];
         t < state->complex.facet_triangle_start[facet + 1]; t++)
        direction += crosses(state, from, to, state->complex.triangles[t].v);
    if (direction == 0) return RBL_OK;
    const int32_t *cells = cut_facet_cells(state, facet);
    RBL_TRY(count_cell(ctx, counts, cells[0], direction));
    RBL_TRY(count_cell(ctx, counts, cells[1], -direction));
done:
    return status;
}

/// Adds the crossings of segment from → to with all facets that it may meet, each once.
static rbl_status cross_columns(rbl_context *ctx, const cut_state *state, cut_columns *columns, int32_t from,
    int32_t to, cell_counts *counts)
{
    rbl_status status = RBL_OK;
    float box[6];
    int32_t range[4];
    segment_box(state, from, to, box);
    column_range(columns, box, box + 3, range);
    for (int32_t y = range[2]; y <= range[3]; y++)
        for (int32_t x = range[0]; x <= range[1]; x++) {
            size_t bucket = (size_t)y * (size_t)columns->count + (size_t)x;
            for (size_t i = columns->start[bucket]; i < columns->start[bucket + 1]; i++) {
                int32_t facet = columns->facets[i];
                const cut_k_box *k = &state->complex.boxes[facet];
                if (columns->seen[facet] == from || box[0] > k->high[0] || box[3] < k->low[0] ||
                    box[1] > k->high[1] || box[4] < k->low[1] || box[2] > k->high[2] || box[5] < k->low[2])
                    continue;
                columns->seen[facet] = from;
                RBL_TRY(cross_facet(ctx, state, from, to, facet, counts));
            }
        }
done:
    return status;
}

rbl_status cut_query_cell(
    rbl_context *ctx, cut_state *state, cut_columns *columns, int32_t vertex, int32_t *cell)
{
    rbl_status status = RBL_OK;
    cell_counts counts = {0};
    if (!columns->start) RBL_TRY(build_columns(ctx, state, columns));
    RBL_TRY(cross_columns(ctx, state, columns, vertex, place_query_end(state, vertex, FOR_CELL), &counts));
    *cell = CUT_NO_LABEL;
    for (size_t j = 0; j < counts.count; j++) {
        if (counts.data[j].cell < 0 || counts.data[j].net == 0) continue;
        if (counts.data[j].net != 1 || *cell != CUT_NO_LABEL) {
            status = rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: mesh vertex %d lies in several cells", vertex);
            goto done;
        }
        *cell = counts.data[j].cell;
    }
    if (*cell == CUT_NO_LABEL)
        status = rbli_fail(ctx, RBL_ERR_INTERNAL, "cut: mesh vertex %d lies in no cell", vertex);
done:
    rbli_free(ctx, counts.data);
    return status;
}

rbl_status cut_query_cell_winding(
    rbl_context *ctx, cut_state *state, cut_columns *columns, int32_t vertex, int32_t *winding)
{
    rbl_status status = RBL_OK;
    cell_counts counts = {0};
    if (!columns->start) RBL_TRY(build_columns(ctx, state, columns));
    RBL_TRY(cross_columns(ctx, state, columns, vertex, place_query_end(state, vertex, FOR_CELL), &counts));
    *winding = 0;
    for (size_t j = 0; j < counts.count; j++)
        if (counts.data[j].cell == 0) *winding = counts.data[j].net;
done:
    rbli_free(ctx, counts.data);
    return status;
}

/* ---- windings ---- */

typedef struct winding_query {
    const cut_state *state;
    int32_t from, to;
    int32_t sum;
} winding_query;

static rbl_status visit_for_winding(rbl_context *ctx, int32_t triangle, void *user)
{
    (void)ctx;
    winding_query *query = user;
    query->sum += crosses(query->state, query->from, query->to, query->state->mesh_view->triangles[triangle]);
    return RBL_OK;
}

rbl_status cut_query_winding(rbl_context *ctx, cut_state *state, int32_t point, int32_t *winding)
{
    winding_query query = {state, point, place_query_end(state, point, FOR_WINDING), 0};
    float box[6];
    segment_box(state, point, query.to, box);
    bool all_open = state->mesh.open.count == state->mesh_view->triangle_count;
    cut_tree *tree = all_open ? &state->mesh.open : &state->mesh.whole;
    rbl_status status = RBL_OK;
    if (!tree->boxes) RBL_TRY(cut_tree_build(ctx, state, NULL, state->mesh_view->triangle_count, tree));
    RBL_TRY(cut_tree_visit(ctx, state, tree, box, visit_for_winding, &query));
    *winding = query.sum; /* leaving to the positive side = outward ends one winding */
done:
    return status;
}
