/// Cells inside the mesh: local numbers and volumes facet by facet, triangles straight into the result.

#include "fracture/geometry/cut_inner.h"

/// What the facets of a cell say of one of its vertices, a bit for each vertex.
typedef struct vertex_row {
    uint64_t half_edges[2]; /* where they lead to from here, and where they come from */
    uint64_t meets;         /* vertices of its facets, itself too */
    uint64_t bit;           /* of itself */
} vertex_row;

static inline size_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (x * 0x0101010101010101u) >> 56;
}

/// Notes a loop of local vertices. @param all  their bits. @param positive  they turn clockwise for this cell
static inline void note_loop(
    vertex_row *rows, const uint8_t *loop, int32_t count, uint64_t all, bool positive)
{
    vertex_row *last = &rows[loop[count - 1]], *row = &rows[loop[0]];
    uint64_t before = last->bit;
    for (int32_t i = 1; i < count; i++) {
        vertex_row *next = &rows[loop[i]];
        row->half_edges[positive] |= next->bit;
        row->half_edges[!positive] |= before;
        row->meets |= all;
        before = row->bit;
        row = next;
    }
    last->half_edges[positive] |= rows[loop[0]].bit;
    last->half_edges[!positive] |= before;
    last->meets |= all;
}

/// Whether each edge of the cell is in two facets, once in each direction, and two facets have nothing else in common:
/// then so it is with their fans. Of the pairs of vertices that are in one facet, edges are in two or more; no pair is
/// in more than that exactly when there are as many of them as this leaves over.
/// @param pairs  sum over the facets of n · (n − 2)
static bool is_simple(const vertex_row *rows, size_t vertex_count, size_t pairs)
{
    uint64_t open = 0;
    size_t met = 0;
    for (size_t v = 0; v < vertex_count; v++) {
        open |= rows[v].half_edges[0] ^ rows[v].half_edges[1];
        met += count_bits(rows[v].meets);
    }
    return open == 0 && met == vertex_count + pairs;
}

/// Volume of a cell from its facets' area normals: the triangles of a fan have one corner in common.
static double sum_volume(
    const cut_state *s, const cut_items *items, const cut_point *positions, const uint8_t *loops)
{
    double volume = 0;
    for (size_t i = 0; i < items->run_count; i++) {
        const cut_cap_run *run = &items->runs[i];
        const double *apex = positions[*loops].at, *normal = s->complex.measures[run->facet].normal;
        double height = (apex[0] - positions->at[0]) * normal[0] + (apex[1] - positions->at[1]) * normal[1] +
                        (apex[2] - positions->at[2]) * normal[2];
        volume += run->first % 2 ? -height : height;
        loops += run->count + 2;
    }
    return volume * s->grid.step * s->grid.step / 6;
}

/// Numbers the vertices of all facets and lists their loops. @return 0 for a cell that is none of these, or the sum of
/// n · (n − 2)
static size_t number_loops(const cut_state *s, const cut_items *items, cut_cell *c, uint8_t *loop)
{
    vertex_row rows[CUT_INNER_VERTICES];
    cut_local_numbers numbers = cut_cell_begin(c, 2 * CUT_INNER_VERTICES);
    size_t pairs = 0;
    for (size_t v = 0; v < CUT_INNER_VERTICES; v++)
        rows[v] = (vertex_row){{0, 0}, 0, (uint64_t)1 << v};
    for (size_t i = 0; i < items->run_count; i++) {
        const cut_cap_run *run = &items->runs[i];
        int32_t n = (int32_t)run->count + 2;
        if (!run->measured || n > CUT_INNER_VERTICES) return 0;
        const cut_facet_triangle *cap = s->complex.triangles + run->first / 2;
        bool positive = run->first % 2;
        int later = positive ? 1 : 2,
            sooner = 3 - later; /* in the order in which the side's triangles have them */
        loop[0] = (uint8_t)cut_local_of(&numbers, cap->v[0]);
        loop[sooner] = (uint8_t)cut_local_of(&numbers, cap->v[sooner]);
        loop[later] = (uint8_t)cut_local_of(&numbers, cap->v[later]);
        for (int32_t j = 3; j < n; j++)
            loop[j] = (uint8_t)cut_local_of(&numbers, (++cap)->v[2]);
        if (numbers.count > CUT_INNER_VERTICES) return 0;
        uint64_t all = 0;
        for (int32_t j = 0; j < n; j++) {
            all |= rows[loop[j]].bit;
            __builtin_prefetch(s->complex_sources[numbers.ids[loop[j]] - s->complex.first_point]);
        }
        note_loop(rows, loop, n, all, positive);
        pairs += (size_t)n * (size_t)(n - 2);
        loop += n;
    }
    c->ids.count = numbers.count;
    return is_simple(rows, numbers.count, pairs) ? pairs : 0;
}

rbl_status cut_inner_build(rbl_context *ctx, const cut_state *state, const cut_items *items, cut_cell *cell,
    cut_byte_list *loops, bool *inner)
{
    rbl_status status = RBL_OK;
    size_t corner_count = items->cap_count + 2 * items->run_count;
    *inner = false;
    if (!state->complex_view->convex || items->untouched_count + items->face_count > 0) return RBL_OK;
    cell->ids.count = cell->positions.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, loops, corner_count));
    RBL_TRY(rbli_array_reserve(ctx, &cell->ids, 2 * CUT_INNER_VERTICES + 1));
    RBL_TRY(rbli_array_reserve(ctx, &cell->positions, CUT_INNER_VERTICES));
    if (number_loops(state, items, cell, loops->data) == 0) return RBL_OK;
    cell->positions.count = cell->ids.count;
    for (size_t v = 0; v < cell->ids.count; v++)
        memcpy(cell->positions.data[v].at,
            state->complex_sources[cell->ids.data[v] - state->complex.first_point], sizeof(double[3]));
    cut_part part = {.volume = sum_volume(state, items, cell->positions.data, loops->data)};
    if (!cut_is_surely_piece(state, cell, part.volume, items->cap_count)) return RBL_OK;
    cell->parts.count = cell->pieces.count = cell->middles.count = 0;
    RBL_TRY(rbli_array_push(ctx, &cell->parts, part));
    RBL_TRY(rbli_array_push(ctx, &cell->pieces, 0));
    cell->has_zero_edge = false;
    cell->whole = *inner = true;
    loops->count = corner_count;
done:
    return status;
}

void cut_inner_write(const cut_cap_run *runs, size_t run_count, const uint8_t *loops, int32_t first_vertex,
    int32_t (*triangles)[3], int32_t *sources, int32_t *weights_index)
{
    for (size_t i = 0; i < run_count; i++) {
        int32_t positive = runs[i].first % 2, count = (int32_t)runs[i].count, apex = first_vertex + loops[0];
        for (int32_t t = 0; t < count; t++) {
            triangles[t][0] = apex;
            triangles[t][1] = first_vertex + loops[t + 1 + positive];
            triangles[t][2] = first_vertex + loops[t + 2 - positive];
            sources[t] = -1 - runs[i].facet;
            weights_index[t] = -1;
        }
        triangles += count;
        sources += count;
        weights_index += count;
        loops += count + 2;
    }
}
