/// Clipping of a cell complex to a box, wall by wall (Sutherland and Hodgman 1974, on facets that share their
/// new vertices). What closes a cell is the boundary of what is left of it, so cells close whatever rounding
/// does to signs.

#include "fracture/geometry/complex_edit.h"

#include <stdlib.h>

/// A new vertex on an edge that crosses the wall.
typedef struct crossing {
    int32_t low, high, vertex; /* low < 0: free */
} crossing;

/// An edge on the wall, of a cell's remaining boundary; `use` 1 from low to high, −1 back.
typedef struct wall_edge {
    int32_t cell, low, high, use;
} wall_edge;

typedef struct clipper {
    rbl_context *ctx;
    rbli_cell_complex *k;
    size_t vertex_capacity;
    int axis, side; /* the wall: side 0 at the minimum, 1 at the maximum */
    double wall, tolerance;
    RBLI_ARRAY(int8_t) sign; /* per vertex: −1 inside, 0 on the wall, 1 outside */
    crossing *table;
    size_t mask, crossing_count;
    uint8_t *border_cell; /* [cell_count] not wholly inside the box */
    rbli_facet_list kept, work, next;
    RBLI_ARRAY(int32_t) loop;
    RBLI_ARRAY(wall_edge) edges;
    RBLI_ARRAY(int32_t) successor; /* per vertex: where the trail of a cell's wall goes next */
    RBLI_ARRAY(int32_t) place;
} clipper;

static int8_t sign_of(const clipper *c, int32_t v)
{
    double distance = c->k->vertices[v][c->axis] - c->wall;
    if (!c->side) distance = -distance;
    return distance > c->tolerance ? 1 : distance < -c->tolerance ? -1 : 0;
}

static crossing *crossing_slot(const clipper *c, int32_t low, int32_t high)
{
    size_t slot = ((size_t)low * 0x9e3779b97f4a7c15u ^ (size_t)high * 0xc2b2ae3d27d4eb4fu) >> 20 & c->mask;
    while (c->table[slot].low >= 0 && (c->table[slot].low != low || c->table[slot].high != high))
        slot = (slot + 1) & c->mask;
    return &c->table[slot];
}

static rbl_status grow_crossings(clipper *c)
{
    crossing *old = c->table;
    size_t old_size = old ? c->mask + 1 : 0, size = old ? 2 * old_size : 1024;
    crossing *table = rbli_alloc(c->ctx, size, sizeof *table);
    if (!table) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < size; i++)
        table[i].low = -1;
    c->table = table;
    c->mask = size - 1;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].low >= 0) *crossing_slot(c, old[i].low, old[i].high) = old[i];
    rbli_free(c->ctx, old);
    return RBL_OK;
}

static rbl_status add_vertex(clipper *c, const double p[3], int32_t *out)
{
    if (c->k->vertex_count >= INT32_MAX)
        return rbli_fail(c->ctx, RBL_ERR_LIMIT, "the cell complex is too large");
    rbl_status status = rbli_array_reserve_(
        c->ctx, (void **)&c->k->vertices, &c->vertex_capacity, c->k->vertex_count, 1, sizeof *c->k->vertices);
    if (status == RBL_OK) status = rbli_array_push(c->ctx, &c->sign, 0);
    if (status != RBL_OK) return status;
    *out = (int32_t)c->k->vertex_count++;
    memcpy(c->k->vertices[*out], p, sizeof c->k->vertices[*out]);
    return RBL_OK;
}

/// The vertex where the edge meets the wall: computed once, from the lower to the higher end.
static rbl_status cross(clipper *c, int32_t a, int32_t b, int32_t *out)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    if (2 * (c->crossing_count + 1) > c->mask && grow_crossings(c) != RBL_OK) return RBL_ERR_NO_MEMORY;
    crossing *slot = crossing_slot(c, low, high);
    if (slot->low < 0) {
        const double *p = c->k->vertices[low], *q = c->k->vertices[high];
        double t = (c->wall - p[c->axis]) / (q[c->axis] - p[c->axis]), x[3];
        for (int k = 0; k < 3; k++)
            x[k] = p[k] + t * (q[k] - p[k]);
        x[c->axis] = c->wall;
        int32_t vertex = -1;
        rbl_status status = add_vertex(c, x, &vertex);
        if (status != RBL_OK) return status;
        *slot = (crossing){low, high, vertex};
        c->crossing_count++;
    }
    *out = slot->vertex;
    return RBL_OK;
}

static rbl_status note_wall_edges(clipper *c, const int32_t *loop, size_t count, const int32_t cells[2])
{
    for (size_t i = 0; i < count; i++) {
        int32_t a = loop[i], b = loop[i + 1 < count ? i + 1 : 0];
        if (c->sign.data[a] || c->sign.data[b]) continue;
        for (int side = 0; side < 2; side++) {
            if (cells[side] < 0) continue;
            int use = (a < b) == (side == 0) ? 1 : -1;
            wall_edge edge = {cells[side], a < b ? a : b, a < b ? b : a, use};
            if (rbli_array_push(c->ctx, &c->edges, edge) != RBL_OK) return RBL_ERR_NO_MEMORY;
        }
    }
    return RBL_OK;
}

/// Finds the signs of a facet's vertices, and moves those on the wall exactly there. @return whether all lie inside
static bool sign_facet(clipper *c, size_t f)
{
    int32_t most = -1;
    for (int32_t i = c->work.start.data[f]; i < c->work.start.data[f + 1]; i++) {
        int32_t v = c->work.vertices.data[i];
        int8_t sign = sign_of(c, v);
        c->sign.data[v] = sign;
        if (sign == 0) c->k->vertices[v][c->axis] = c->wall;
        if (sign > most) most = sign;
    }
    return most < 0;
}

/// Keeps what is left of a facet: nothing unless a vertex lies strictly inside.
static rbl_status clip_facet(clipper *c, size_t f)
{
    const int32_t *loop = c->work.vertices.data + c->work.start.data[f];
    size_t count = (size_t)(c->work.start.data[f + 1] - c->work.start.data[f]);
    const int32_t *cells = c->work.cells.data + 2 * f;
    bool inside = false, outside = false, on = false;
    for (size_t i = 0; i < count; i++) {
        int8_t sign = c->sign.data[loop[i]];
        inside |= sign < 0;
        outside |= sign > 0;
        on |= sign == 0;
    }
    if (!inside) return RBL_OK;
    rbl_status status = RBL_OK;
    if (outside) {
        c->loop.count = 0;
        RBL_TRY(rbli_array_reserve(c->ctx, &c->loop, 2 * count));
        for (size_t i = 0; i < count; i++) {
            int32_t a = loop[i], b = loop[i + 1 < count ? i + 1 : 0];
            if (c->sign.data[a] <= 0) c->loop.data[c->loop.count++] = a;
            if (c->sign.data[a] * c->sign.data[b] < 0) {
                int32_t vertex;
                RBL_TRY(cross(c, a, b, &vertex));
                c->loop.data[c->loop.count++] = vertex;
            }
        }
        loop = c->loop.data;
        count = c->loop.count;
    }
    if (on || outside) RBL_TRY(note_wall_edges(c, loop, count, cells));
    RBL_TRY(rbli_facet_list_add(c->ctx, &c->next, loop, count, cells[0], cells[1], c->work.origin.data[f]));
done:
    return status;
}

static int compare_wall_edges(const void *x, const void *y)
{
    const wall_edge *a = x, *b = y;
    if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->use - b->use;
}

/// Removes edges that meet their reverse; the rest of each cell is a set of closed trails.
static void cancel_wall_edges(clipper *c)
{
    if (c->edges.count) qsort(c->edges.data, c->edges.count, sizeof *c->edges.data, compare_wall_edges);
    size_t kept = 0;
    for (size_t i = 0; i < c->edges.count;) {
        size_t j = i;
        int sum = 0;
        wall_edge edge = c->edges.data[i];
        for (; j < c->edges.count && c->edges.data[j].cell == edge.cell && c->edges.data[j].low == edge.low &&
               c->edges.data[j].high == edge.high;
             j++)
            sum += c->edges.data[j].use;
        for (; sum > 0; sum--) {
            edge.use = 1;
            c->edges.data[kept++] = edge;
        }
        for (; sum < 0; sum++) {
            edge.use = -1;
            c->edges.data[kept++] = edge;
        }
        i = j;
    }
    c->edges.count = kept;
}

/// Closes one cell: follows its trails backwards, since the wall facet runs against them, and cuts them into
/// simple loops. Trails through one vertex twice are chained through `low` and `high` of the used-up edge
/// records.
static rbl_status close_cell(clipper *c, wall_edge *edges, size_t count)
{
    rbl_status status = RBL_OK;
    int32_t cell = edges[0].cell;
    /* The facet's directed edges (from, to) are stored in (low, high); a list of them per start vertex in
       successor, continued in use. */
    for (size_t i = 0; i < count; i++) {
        int32_t from = edges[i].use > 0 ? edges[i].high : edges[i].low;
        int32_t to = edges[i].use > 0 ? edges[i].low : edges[i].high;
        edges[i].low = from;
        edges[i].high = to;
        edges[i].use = c->successor.data[from];
        c->successor.data[from] = (int32_t)i;
    }
    RBL_TRY(rbli_array_reserve(c->ctx, &c->loop, count + 1));
    for (size_t i = 0; i < count; i++) {
        int32_t *stack = c->loop.data, v = edges[i].low;
        size_t depth = 0;
        while (c->successor.data[v] >= 0) {
            wall_edge *edge = &edges[c->successor.data[v]];
            c->successor.data[v] = edge->use;
            c->place.data[v] = (int32_t)depth;
            stack[depth++] = v;
            v = edge->high;
            size_t at = (size_t)c->place.data[v];
            if (at >= depth || stack[at] != v) continue;
            if (depth - at >= 3)
                RBL_TRY(rbli_facet_list_add(c->ctx, &c->next, stack + at, depth - at, cell, -1, -1));
            depth = at;
        }
    }
done:
    return status;
}

static rbl_status clip_wall(clipper *c)
{
    rbl_status status = RBL_OK;
    rbli_cell_complex *k = c->k;
    c->edges.count = 0;
    c->crossing_count = 0;
    if (!c->table) RBL_TRY(grow_crossings(c));
    for (size_t i = 0; i <= c->mask; i++)
        c->table[i].low = -1;
    size_t run = 0; /* of facets that stay as they are */
    for (size_t f = 0; f < c->work.origin.count; f++) {
        if (sign_facet(c, f)) continue;
        RBL_TRY(rbli_facet_list_append(c->ctx, &c->next, &c->work, run, f));
        RBL_TRY(clip_facet(c, f));
        run = f + 1;
    }
    RBL_TRY(rbli_facet_list_append(c->ctx, &c->next, &c->work, run, c->work.origin.count));
    cancel_wall_edges(c);
    size_t old = c->successor.count, extra = k->vertex_count - old;
    RBL_TRY(rbli_array_reserve(c->ctx, &c->successor, extra));
    RBL_TRY(rbli_array_reserve(c->ctx, &c->place, extra));
    memset(c->successor.data + old, 0xff, extra * sizeof *c->successor.data);
    memset(c->place.data + old, 0, extra * sizeof *c->place.data);
    c->successor.count = c->place.count = k->vertex_count;
    for (size_t i = 0, j; i < c->edges.count; i = j) {
        for (j = i; j < c->edges.count && c->edges.data[j].cell == c->edges.data[i].cell; j++)
            ;
        RBL_TRY(close_cell(c, c->edges.data + i, j - i));
    }
    rbli_facet_list swap = c->work;
    c->work = c->next;
    c->next = swap;
    c->next.start.count = c->next.vertices.count = c->next.cells.count = c->next.origin.count = 0;
done:
    return status;
}

/// Facets of cells wholly inside are kept as they are; the others are worked on.
static rbl_status sort_facets(clipper *c, const double box_min[3], const double box_max[3])
{
    const rbli_cell_complex *k = c->k;
    rbl_status status = RBL_OK;
    for (size_t v = 0; v < k->vertex_count; v++) {
        bool inside = true;
        for (int j = 0; j < 3; j++)
            inside &= k->vertices[v][j] - box_min[j] > c->tolerance &&
                      box_max[j] - k->vertices[v][j] > c->tolerance;
        c->sign.data[v] = inside ? -1 : 1;
    }
    for (size_t f = 0; f < k->facet_count; f++) {
        bool inside = true;
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++)
            inside &= c->sign.data[k->facet_vertices[i]] < 0;
        for (int side = 0; side < 2 && !inside; side++)
            if (k->facet_cells[f][side] >= 0) c->border_cell[k->facet_cells[f][side]] = 1;
    }
    /* About what is kept; what walls change is little. */
    RBL_TRY(rbli_array_reserve(c->ctx, &c->kept.start, k->facet_count + 1));
    RBL_TRY(rbli_array_reserve(c->ctx, &c->kept.cells, 2 * k->facet_count));
    RBL_TRY(rbli_array_reserve(c->ctx, &c->kept.origin, k->facet_count));
    if (k->facet_count > 0)
        RBL_TRY(rbli_array_reserve(c->ctx, &c->kept.vertices, (size_t)k->facet_start[k->facet_count]));
    for (size_t f = 0; f < k->facet_count; f++) {
        bool border = false;
        for (int side = 0; side < 2; side++)
            border |= k->facet_cells[f][side] < 0 || c->border_cell[k->facet_cells[f][side]];
        RBL_TRY(rbli_facet_list_add(c->ctx, border ? &c->work : &c->kept,
            k->facet_vertices + k->facet_start[f], (size_t)(k->facet_start[f + 1] - k->facet_start[f]),
            k->facet_cells[f][0], k->facet_cells[f][1], k->facet_origin[f]));
    }
done:
    return status;
}

rbl_status rbli_complex_clip(rbl_context *ctx, rbli_cell_complex *complex, const double box_min[3],
    const double box_max[3], double tolerance)
{
    rbl_status status = RBL_OK;
    clipper c = {.ctx = ctx, .k = complex, .vertex_capacity = complex->vertex_count, .tolerance = tolerance};
    RBL_TRY_ALLOC(c.border_cell = rbli_calloc(ctx, complex->cell_count, 1));
    RBL_TRY(rbli_array_reserve(ctx, &c.sign, complex->vertex_count));
    c.sign.count = complex->vertex_count;
    RBL_TRY(sort_facets(&c, box_min, box_max));
    for (int wall = 0; wall < 6; wall++) {
        c.axis = wall / 2;
        c.side = wall % 2;
        c.wall = c.side ? box_max[c.axis] : box_min[c.axis];
        RBL_TRY(clip_wall(&c));
    }
    RBL_TRY(rbli_facet_list_append(ctx, &c.kept, &c.work, 0, c.work.origin.count));
    RBL_TRY(rbli_facet_list_move(ctx, &c.kept, complex));
done:
    rbli_facet_list_free(ctx, &c.kept);
    rbli_facet_list_free(ctx, &c.work);
    rbli_facet_list_free(ctx, &c.next);
    rbli_free(ctx, c.sign.data);
    rbli_free(ctx, c.table);
    rbli_free(ctx, c.border_cell);
    rbli_free(ctx, c.loop.data);
    rbli_free(ctx, c.edges.data);
    rbli_free(ctx, c.successor.data);
    rbli_free(ctx, c.place.data);
    return status;
}
