/// Clipping of a cell complex to a box, wall by wall (Sutherland and Hodgman 1974, on facets that share their
/// new vertices). What closes a cell is the boundary of what is left of it, so cells close whatever rounding
/// does to signs.

#include "fracture/geometry/complex_edit.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/radix_sort.h"

/// A new vertex on an edge that crosses the wall.
typedef struct crossing {
    int32_t low, high, vertex; /* low < 0: free */
} crossing;

/// An edge on the wall, of a cell's remaining boundary; `use` 1 from low to high, −1 back.
typedef struct wall_edge {
    int32_t cell, low, high, use;
} wall_edge;

/// A facet of a cell that may reach a wall.
typedef struct work_facet {
    int32_t start, count; /* its loop in the pool; 0: gone */
    int32_t cells[2], origin;
    uint8_t walls; /* of its vertices, together */
} work_facet;

enum { BORDER = 1 << 6 };

typedef struct clipper {
    rbl_context *ctx;
    rbli_cell_complex *k;
    size_t vertex_capacity;
    const double *box_min, *box_max;
    int axis, side; /* the wall: side 0 at the minimum, 1 at the maximum */
    double wall, tolerance;
    RBLI_ARRAY(uint8_t) walls; /* per vertex, a bit for each wall: not strictly inside of it */
    RBLI_ARRAY(int8_t) sign; /* per vertex of the facets at the wall: −1 inside, 0 on the wall, 1 outside */
    uint8_t *facet_walls;    /* [facet_count]; BORDER: of a cell that is not wholly inside */
    atomic_uchar *
        border_cell; /* [1 + cell_count] whether a cell is not wholly inside the box; of −1 first: so it is */
    crossing *table;
    size_t mask, crossing_count;
    RBLI_ARRAY(work_facet) work;
    RBLI_ARRAY(int32_t) pool;
    RBLI_ARRAY(int32_t) loop;
    RBLI_ARRAY(wall_edge) edges, sorted;
    RBLI_ARRAY(rbli_keyed) by_cell;
    RBLI_ARRAY(int32_t) successor; /* per vertex: where the trail of a cell's wall goes next */
    RBLI_ARRAY(int32_t) place;
} clipper;

static int8_t sign_of(const clipper *c, int32_t v)
{
    double distance = c->k->vertices[v][c->axis] - c->wall;
    if (!c->side) distance = -distance;
    return distance > c->tolerance ? 1 : distance < -c->tolerance ? -1 : 0;
}

/// The walls that a point is not strictly inside of, by more than the tolerance.
static uint8_t walls_of(const clipper *c, const double p[3])
{
    unsigned walls = 0;
    for (int k = 0; k < 3; k++) {
        walls |= (unsigned)!(p[k] - c->box_min[k] > c->tolerance) << 2 * k;
        walls |= (unsigned)!(c->box_max[k] - p[k] > c->tolerance) << (2 * k + 1);
    }
    return (uint8_t)walls;
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
    if (status == RBL_OK) status = rbli_array_push(c->ctx, &c->walls, walls_of(c, p));
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

/// Appends a facet to be worked on.
static rbl_status add_work(
    clipper *c, const int32_t *loop, size_t count, const int32_t cells[2], int32_t origin, uint8_t walls)
{
    if (c->pool.count + count > INT32_MAX)
        return rbli_fail(c->ctx, RBL_ERR_LIMIT, "the cell complex is too large");
    work_facet facet = {(int32_t)c->pool.count, (int32_t)count, {cells[0], cells[1]}, origin, walls};
    if (rbli_array_reserve(c->ctx, &c->pool, count) != RBL_OK) return RBL_ERR_NO_MEMORY;
    memcpy(c->pool.data + c->pool.count, loop, count * sizeof *loop);
    c->pool.count += count;
    return rbli_array_push(c->ctx, &c->work, facet);
}

static uint8_t walls_of_loop(const clipper *c, const int32_t *loop, size_t count)
{
    uint8_t walls = 0;
    for (size_t i = 0; i < count; i++)
        walls |= c->walls.data[loop[i]];
    return walls;
}

/// Finds the signs of a facet's vertices, and moves those on the wall exactly there.
static void sign_facet(clipper *c, const int32_t *loop, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int32_t v = loop[i];
        c->sign.data[v] = sign_of(c, v);
        if (c->sign.data[v] != 0) continue;
        c->k->vertices[v][c->axis] = c->wall;
        c->walls.data[v] = walls_of(c, c->k->vertices[v]);
    }
}

/// Keeps what is left of a facet: nothing unless a vertex lies strictly inside.
static rbl_status clip_facet(clipper *c, size_t f)
{
    work_facet *facet = &c->work.data[f];
    const int32_t *loop = c->pool.data + facet->start;
    size_t count = (size_t)facet->count;
    bool inside = false, outside = false, on = false;
    sign_facet(c, loop, count);
    for (size_t i = 0; i < count; i++) {
        int8_t sign = c->sign.data[loop[i]];
        inside |= sign < 0;
        outside |= sign > 0;
        on |= sign == 0;
    }
    if (!inside) {
        facet->count = 0;
        return RBL_OK;
    }
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
        count = c->loop.count;
        if (c->pool.count + count > INT32_MAX)
            RBL_TRY(rbli_fail(c->ctx, RBL_ERR_LIMIT, "the cell complex is too large"));
        RBL_TRY(rbli_array_reserve(c->ctx, &c->pool, count));
        facet->start = (int32_t)c->pool.count;
        facet->count = (int32_t)count;
        loop = memcpy(c->pool.data + c->pool.count, c->loop.data, count * sizeof *loop);
        c->pool.count += count;
    }
    facet->walls = walls_of_loop(c, loop, count);
    if (on || outside) RBL_TRY(note_wall_edges(c, loop, count, facet->cells));
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

/// Sorts wall edges by cell, then by vertices: few have the same cell.
static rbl_status sort_wall_edges(clipper *c)
{
    enum { FEW = 32 };
    rbl_status status = RBL_OK;
    size_t count = c->edges.count;
    wall_edge *edges = c->edges.data;
    RBL_TRY(rbli_array_reserve(c->ctx, &c->by_cell, 2 * count));
    RBL_TRY(rbli_array_reserve(c->ctx, &c->sorted, count));
    for (size_t i = 0; i < count; i++)
        c->by_cell.data[i] = (rbli_keyed){(uint64_t)edges[i].cell, (int32_t)i};
    RBL_TRY(rbli_radix_sort_polled(c->ctx, c->by_cell.data, c->by_cell.data + count, count));
    for (size_t i = 0; i < count; i++)
        c->sorted.data[i] = edges[c->by_cell.data[i].index];
    for (size_t i = 0, end; i < count; i = end) {
        wall_edge *of_cell = c->sorted.data + i;
        for (end = i + 1; end < count && c->sorted.data[end].cell == of_cell->cell; end++) {
        }
        if (end - i > FEW) qsort(of_cell, end - i, sizeof *of_cell, compare_wall_edges);
        for (size_t j = 1; j < end - i && end - i <= FEW; j++) {
            wall_edge edge = of_cell[j];
            size_t at = j;
            for (; at > 0 && compare_wall_edges(&edge, &of_cell[at - 1]) < 0; at--)
                of_cell[at] = of_cell[at - 1];
            of_cell[at] = edge;
        }
    }
    memcpy(edges, c->sorted.data, count * sizeof *edges);
done:
    return status;
}

/// Removes edges that meet their reverse; the rest of each cell is a set of closed trails.
static rbl_status cancel_wall_edges(clipper *c)
{
    rbl_status status = c->edges.count ? sort_wall_edges(c) : RBL_OK;
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
    return status;
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
            if (depth - at >= 3) /* all of it lies on this wall, done with */
                RBL_TRY(add_work(c, stack + at, depth - at, (int32_t[2]){cell, -1}, -1,
                    walls_of_loop(c, stack + at, depth - at)));
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
    unsigned bit = 1u << (2 * c->axis + c->side);
    for (size_t f = 0; f < c->work.count; f++)
        if (c->work.data[f].walls & bit && c->work.data[f].count) RBL_TRY(clip_facet(c, f));
    RBL_TRY(cancel_wall_edges(c));
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
done:
    return status;
}

static rbl_status vertex_walls(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    clipper *c = user;
    for (size_t v = begin; v < end; v++)
        c->walls.data[v] = walls_of(c, c->k->vertices[v]);
    return RBL_OK;
}

/// Finds the walls of facets and marks the cells that are not wholly inside the box.
static rbl_status facet_walls(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    enum { TOGETHER = 8 };
    (void)ctx;
    (void)block;
    (void)worker;
    clipper *c = user;
    /* Most often several facets are inside: their vertices are looked at in one loop. */
    const rbli_cell_complex *k = c->k;
    for (size_t first = begin, past; first < end; first = past) {
        past = end - first < TOGETHER ? end : first + TOGETHER;
        const int32_t *start = k->facet_start;
        bool any =
            walls_of_loop(c, k->facet_vertices + start[first], (size_t)(start[past] - start[first])) != 0;
        for (size_t f = first; f < past; f++) {
            c->facet_walls[f] =
                any ? walls_of_loop(c, k->facet_vertices + start[f], (size_t)(start[f + 1] - start[f])) : 0;
            for (int side = 0; side < 2 && c->facet_walls[f]; side++)
                atomic_store_explicit(&c->border_cell[1 + k->facet_cells[f][side]], 1, memory_order_relaxed);
        }
    }
    return RBL_OK;
}

static rbl_status find_border(clipper *c)
{
    enum { VERTICES = 4096, FACETS = 4096 };
    rbl_status status = RBL_OK;
    atomic_store_explicit(&c->border_cell[0], 1, memory_order_relaxed);
    RBL_TRY(rbli_parallel_for(c->ctx, c->k->vertex_count, VERTICES, vertex_walls, c));
    RBL_TRY(rbli_parallel_for(c->ctx, c->k->facet_count, FACETS, facet_walls, c));
done:
    return status;
}

/// How many facets, with how many vertices.
typedef struct facet_count {
    size_t facets, entries;
} facet_count;

/// What each block of facets has, and then what those before it have.
static facet_count add_counts(facet_count *blocks, size_t block_count)
{
    facet_count sum = {0, 0};
    for (size_t b = 0; b < block_count; b++) {
        facet_count own = blocks[b];
        blocks[b] = sum;
        sum.facets += own.facets;
        sum.entries += own.entries;
    }
    return sum;
}

/// Facets of cells at the walls are to be worked on, the others stay; both keep their order.
typedef struct split_job {
    clipper *c;
    facet_count *inner, *border; /* [blocks of SPLIT_GRAIN facets] */
    rbli_facet_list *list;       /* what stays */
} split_job;

enum { SPLIT_GRAIN = 4096 };

static rbl_status count_split(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const split_job *job = user;
    const clipper *c = job->c;
    const rbli_cell_complex *k = c->k;
    facet_count border = {0, 0};
    for (size_t f = begin; f < end; f++) { /* no branches to foresee */
        const atomic_uchar *cell = c->border_cell + 1;
        size_t at_wall = atomic_load_explicit(&cell[k->facet_cells[f][0]], memory_order_relaxed) |
                         atomic_load_explicit(&cell[k->facet_cells[f][1]], memory_order_relaxed);
        c->facet_walls[f] |= (uint8_t)(at_wall * BORDER);
        border.facets += at_wall;
        border.entries += (size_t)(k->facet_start[f + 1] - k->facet_start[f]) & -at_wall;
    }
    size_t entries = (size_t)(k->facet_start[end] - k->facet_start[begin]);
    job->inner[block] = (facet_count){end - begin - border.facets, entries - border.entries};
    job->border[block] = border;
    return RBL_OK;
}

static rbl_status write_border(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const split_job *job = user;
    clipper *c = job->c;
    const rbli_cell_complex *k = c->k;
    facet_count before = job->border[block];
    for (size_t f = begin; f < end; f++) {
        if (!(c->facet_walls[f] & BORDER)) continue;
        const int32_t *loop = k->facet_vertices + k->facet_start[f];
        int32_t count = k->facet_start[f + 1] - k->facet_start[f];
        for (int32_t i = 0; i < count; i++)
            c->pool.data[before.entries + (size_t)i] = loop[i];
        c->work.data[before.facets++] =
            (work_facet){(int32_t)before.entries, count, {k->facet_cells[f][0], k->facet_cells[f][1]},
                k->facet_origin[f], (uint8_t)(c->facet_walls[f] & ~BORDER)};
        before.entries += (size_t)count;
    }
    return RBL_OK;
}

/// Writes the inner facets of a block of SPLIT_GRAIN. Another thread writes to the clipper meanwhile: pointers are taken
/// from there once.
static void write_inner(const split_job *job, size_t block)
{
    const rbli_cell_complex *k = job->c->k;
    const uint8_t *walls = job->c->facet_walls;
    const int32_t *start = k->facet_start, *vertices = k->facet_vertices, *origin = k->facet_origin;
    const int32_t(*cells)[2] = (const int32_t(*)[2])k->facet_cells;
    size_t begin = block * SPLIT_GRAIN, rest = k->facet_count - begin, at = job->inner[block].facets,
           entry = job->inner[block].entries;
    rbli_facet_list to = *job->list;
    for (size_t f = begin; f < begin + (rest < SPLIT_GRAIN ? rest : SPLIT_GRAIN); f++) {
        if (walls[f] & BORDER) continue;
        to.start.data[at] = (int32_t)entry;
        for (int32_t i = start[f]; i < start[f + 1]; i++)
            to.vertices.data[entry++] = vertices[i];
        memcpy(to.cells.data + 2 * at, cells[f], sizeof cells[f]);
        to.origin.data[at++] = origin[f];
    }
}

/// Clips what is to be worked on at one wall after the other.
static rbl_status clip_walls(clipper *c)
{
    rbl_status status = RBL_OK;
    for (int wall = 0; wall < 6 && status == RBL_OK; wall++) {
        c->axis = wall / 2;
        c->side = wall % 2;
        c->wall = c->side ? c->box_max[c->axis] : c->box_min[c->axis];
        status = clip_wall(c);
    }
    return status;
}

/// The first block: clips, on one thread. Another one: writes the inner facets of the block of SPLIT_GRAIN before it.
static rbl_status clip_or_write(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)end;
    (void)worker;
    const split_job *job = user;
    if (begin > 0) {
        write_inner(job, block - 1);
        return RBL_OK;
    }
    clipper *c = job->c;
    rbl_context *outer = c->ctx;
    c->ctx = ctx;
    rbl_status status = clip_walls(c);
    c->ctx = outer;
    return status;
}

/// Clips the facets of cells that are not wholly inside; puts the others into an empty list with room for all.
static rbl_status clip_border(clipper *c, rbli_facet_list *list)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = c->k;
    size_t count = k->facet_count, block_count = (count + SPLIT_GRAIN - 1) / SPLIT_GRAIN;
    split_job job = {.c = c, .list = list};
    RBL_TRY_ALLOC(job.inner = rbli_alloc(c->ctx, block_count, sizeof *job.inner));
    RBL_TRY_ALLOC(job.border = rbli_alloc(c->ctx, block_count, sizeof *job.border));
    RBL_TRY(rbli_parallel_for(c->ctx, count, SPLIT_GRAIN, count_split, &job));
    facet_count inner = add_counts(job.inner, block_count), border = add_counts(job.border, block_count);
    RBL_TRY(rbli_array_reserve(c->ctx, &c->pool, border.entries + border.entries / 2));
    RBL_TRY(rbli_array_reserve(c->ctx, &c->work, border.facets + border.facets / 2));
    RBL_TRY(rbli_array_reserve(c->ctx, &list->start, count + 1));
    RBL_TRY(rbli_array_reserve(c->ctx, &list->vertices, inner.entries + border.entries));
    RBL_TRY(rbli_array_reserve(c->ctx, &list->cells, 2 * count));
    RBL_TRY(rbli_array_reserve(c->ctx, &list->origin, count));
    RBL_TRY(rbli_parallel_for(c->ctx, count, SPLIT_GRAIN, write_border, &job));
    c->pool.count = border.entries;
    c->work.count = border.facets;
    RBL_TRY(rbli_parallel_for(c->ctx, 1 + block_count, 1, clip_or_write, &job));
    list->start.data[inner.facets] = (int32_t)inner.entries;
    list->start.count = inner.facets + 1;
    list->vertices.count = inner.entries;
    list->cells.count = 2 * inner.facets;
    list->origin.count = inner.facets;
done:
    rbli_free(c->ctx, job.inner);
    rbli_free(c->ctx, job.border);
    return status;
}

/// Appends what is left of the work to the list.
typedef struct return_job {
    const clipper *c;
    facet_count *left; /* [blocks of SPLIT_GRAIN facets] */
    rbli_facet_list *list;
} return_job;

static rbl_status count_left(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const return_job *job = user;
    facet_count left = {0, 0};
    for (size_t f = begin; f < end; f++) {
        int32_t count = job->c->work.data[f].count;
        left.facets += count > 0;
        left.entries += (size_t)count;
    }
    job->left[block] = left;
    return RBL_OK;
}

static rbl_status write_left(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const return_job *job = user;
    rbli_facet_list *list = job->list;
    size_t at = list->origin.count + job->left[block].facets,
           entries = list->vertices.count + job->left[block].entries;
    for (size_t f = begin; f < end; f++) {
        const work_facet *facet = &job->c->work.data[f];
        if (!facet->count) continue;
        const int32_t *loop = job->c->pool.data + facet->start;
        for (int32_t i = 0; i < facet->count; i++)
            list->vertices.data[entries + (size_t)i] = loop[i];
        entries += (size_t)facet->count;
        list->start.data[at + 1] = (int32_t)entries;
        memcpy(list->cells.data + 2 * at, facet->cells, sizeof facet->cells);
        list->origin.data[at++] = facet->origin;
    }
    return RBL_OK;
}

static rbl_status return_work(clipper *c, rbli_facet_list *list)
{
    rbl_status status = RBL_OK;
    size_t block_count = (c->work.count + SPLIT_GRAIN - 1) / SPLIT_GRAIN;
    return_job job = {.c = c, .list = list};
    RBL_TRY_ALLOC(job.left = rbli_alloc(c->ctx, block_count, sizeof *job.left));
    RBL_TRY(rbli_parallel_for(c->ctx, c->work.count, SPLIT_GRAIN, count_left, &job));
    facet_count left = add_counts(job.left, block_count);
    if (list->vertices.count + left.entries > INT32_MAX)
        RBL_TRY(rbli_fail(c->ctx, RBL_ERR_LIMIT, "the cell complex is too large"));
    RBL_TRY(rbli_array_reserve(c->ctx, &list->start, left.facets));
    RBL_TRY(rbli_array_reserve(c->ctx, &list->vertices, left.entries));
    RBL_TRY(rbli_array_reserve(c->ctx, &list->cells, 2 * left.facets));
    RBL_TRY(rbli_array_reserve(c->ctx, &list->origin, left.facets));
    RBL_TRY(rbli_parallel_for(c->ctx, c->work.count, SPLIT_GRAIN, write_left, &job));
    list->start.count += left.facets;
    list->vertices.count += left.entries;
    list->cells.count += 2 * left.facets;
    list->origin.count += left.facets;
done:
    rbli_free(c->ctx, job.left);
    return status;
}

rbl_status rbli_complex_clip(rbl_context *ctx, rbli_cell_complex *complex, const double box_min[3],
    const double box_max[3], double tolerance, size_t *inner_count)
{
    rbl_status status = RBL_OK;
    rbli_facet_list list = {0};
    clipper c = {.ctx = ctx,
        .k = complex,
        .vertex_capacity = complex->vertex_count,
        .box_min = box_min,
        .box_max = box_max,
        .tolerance = tolerance};
    RBL_TRY_ALLOC(c.border_cell = rbli_calloc(ctx, complex->cell_count + 1, 1));
    RBL_TRY_ALLOC(c.facet_walls = rbli_alloc(ctx, complex->facet_count, 1));
    RBL_TRY(rbli_array_reserve(ctx, &c.sign, complex->vertex_count));
    RBL_TRY(rbli_array_reserve(ctx, &c.walls, complex->vertex_count));
    c.sign.count = c.walls.count = complex->vertex_count;
    RBL_TRY(find_border(&c));
    RBL_TRY(clip_border(&c, &list));
    if (inner_count) *inner_count = list.origin.count;
    RBL_TRY(return_work(&c, &list));
    RBL_TRY(rbli_facet_list_move(ctx, &list, complex));
done:
    rbli_facet_list_free(ctx, &list);
    rbli_free(ctx, c.work.data);
    rbli_free(ctx, c.pool.data);
    rbli_free(ctx, c.walls.data);
    rbli_free(ctx, c.sign.data);
    rbli_free(ctx, c.facet_walls);
    rbli_free(ctx, c.table);
    rbli_free(ctx, c.border_cell);
    rbli_free(ctx, c.loop.data);
    rbli_free(ctx, c.edges.data);
    rbli_free(ctx, c.sorted.data);
    rbli_free(ctx, c.by_cell.data);
    rbli_free(ctx, c.successor.data);
    rbli_free(ctx, c.place.data);
    return status;
}
