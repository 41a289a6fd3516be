/// Contraction of cell complexes: what rounding and exact ties have made too small becomes exactly nothing
/// (CUT.md, K, step 7). All steps map the vertices of loops, so cells stay closed.

#include "fracture/geometry/complex_edit.h"

#include <math.h>
#include <string.h>

#include "fracture/base/threads.h"

enum {
    TOP = -24,        /* lengths below 2^TOP of the extent are looked at */
    UPPER = -33,      /* the threshold's window */
    WIDE_UPPER = -29, /* its end where the gap is a wide one: a cluster far below everything else */
    WIDE_GAP = 6,
    LOWER = -46,
    SMALLEST = -49,     /* threshold where there is no gap: rounding alone */
    BOTTOM = -60,       /* everything below is one bin of the histogram */
    GAP = 3,            /* empty bins that make a gap */
    CLEAR_GAP = 8,      /* and one that is beyond doubt */
    CAUTION_SHIFT = 60, /* bits of a histogram that hold the component's caution */
    MOST_ROUNDS = 200,
};

typedef struct contraction {
    rbl_context *ctx;
    rbli_cell_complex *k;
    const uint8_t *wall_count, *caution;
    bool at_walls_only;
    size_t first_facet; /* that is looked at */
    double extent;
    int32_t *parent; /* [vertex_count] union-find, of the vertices of facets in question */
    uint8_t *level;  /* [vertex_count] exponent of its component's threshold − BOTTOM; 0: none */
    uint8_t *small;  /* [facet_count] has a short edge or is thin */
    int32_t *place;  /* [vertex_count] position on the stack of the loop being rewritten */
    rbli_facet_list out;
    RBLI_ARRAY(int32_t) loop, stack;
    RBLI_ARRAY(int32_t) touched; /* facets with a vertex that has a threshold, ascending */
    bool touched_is_known;
} contraction;

static int32_t root_of(int32_t *parent, int32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/// Makes each vertex of the touched facets a root.
static void reset_roots(contraction *c)
{
    const rbli_cell_complex *k = c->k;
    for (size_t t = 0; t < c->touched.count; t++) {
        int32_t f = c->touched.data[t];
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++)
            c->parent[k->facet_vertices[i]] = k->facet_vertices[i];
    }
}

static double edge_length(const rbli_cell_complex *k, int32_t a, int32_t b)
{
    double x = k->vertices[a][0] - k->vertices[b][0], y = k->vertices[a][1] - k->vertices[b][1],
           z = k->vertices[a][2] - k->vertices[b][2];
    return sqrt(x * x + y * y + z * z);
}

static int32_t farthest(const rbli_cell_complex *k, const int32_t *loop, int32_t count, int32_t from)
{
    int32_t best = loop[0];
    double most = -1;
    for (int32_t i = 0; i < count; i++) {
        double d = edge_length(k, from, loop[i]);
        if (d > most) {
            most = d;
            best = loop[i];
        }
    }
    return best;
}

/// Distance of a vertex from the line through two others.
static double line_distance(const rbli_cell_complex *k, int32_t p, int32_t q, int32_t v)
{
    double axis[3], d[3];
    for (int i = 0; i < 3; i++) {
        axis[i] = k->vertices[q][i] - k->vertices[p][i];
        d[i] = k->vertices[v][i] - k->vertices[p][i];
    }
    double x = axis[1] * d[2] - axis[2] * d[1], y = axis[2] * d[0] - axis[0] * d[2],
           z = axis[0] * d[1] - axis[1] * d[0];
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    return length > 0 ? sqrt(x * x + y * y + z * z) / length : edge_length(k, p, v);
}

/// Largest distance of a vertex from the facet's long axis.
static double facet_width(const rbli_cell_complex *k, size_t f)
{
    const int32_t *loop = k->facet_vertices + k->facet_start[f];
    int32_t count = k->facet_start[f + 1] - k->facet_start[f];
    int32_t p = farthest(k, loop, count, loop[0]), q = farthest(k, loop, count, p);
    double width = 0;
    for (int32_t i = 0; i < count; i++) {
        double d = line_distance(k, p, q, loop[i]);
        if (d > width) width = d;
    }
    return width;
}

/* Phase 1: what is small, in which component, and the thresholds */

static double perimeter(const rbli_cell_complex *k, const int32_t *loop, int32_t count)
{
    double around = 0;
    for (int32_t i = 0, last = count - 1; i < count; last = i++)
        around += edge_length(k, loop[i], loop[last]);
    return around;
}

static bool has_wall_vertex(const contraction *c, size_t f)
{
    for (int32_t i = c->k->facet_start[f]; i < c->k->facet_start[f + 1]; i++)
        if (c->wall_count[c->k->facet_vertices[i]]) return true;
    return false;
}

static rbl_status mark_small(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    contraction *c = user;
    const rbli_cell_complex *k = c->k;
    double limit = ldexp(c->extent, TOP), limit2 = limit * limit;
    for (size_t f = c->first_facet + begin; f < c->first_facet + end; f++) {
        const int32_t *loop = k->facet_vertices + k->facet_start[f];
        int32_t count = k->facet_start[f + 1] - k->facet_start[f];
        const double *o = k->vertices[loop[0]];
        if (c->at_walls_only && !has_wall_vertex(c, f)) {
            c->small[f] = 0;
            continue;
        }
        double u[3] = {0, 0, 0}, area[3] = {0, 0, 0}, least2 = INFINITY, most2 = 0;
        const double *last = k->vertices[loop[count - 1]];
        for (int32_t i = 0; i < count; i++) {
            const double *p = k->vertices[loop[i]];
            double e[3] = {p[0] - last[0], p[1] - last[1], p[2] - last[2]};
            double length2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
            least2 = length2 < least2 ? length2 : least2;
            most2 = length2 > most2 ? length2 : most2;
            double v[3] = {p[0] - o[0], p[1] - o[1], p[2] - o[2]};
            area[0] += u[1] * v[2] - u[2] * v[1];
            area[1] += u[2] * v[0] - u[0] * v[2];
            area[2] += u[0] * v[1] - u[1] * v[0];
            memcpy(u, v, sizeof u);
            last = p;
        }
        double twice_area2 = area[0] * area[0] + area[1] * area[1] + area[2] * area[2];
        bool is_small = least2 < limit2;
        /* A facet of width w has at most w times half its perimeter of area; most have far more. */
        if (!is_small && twice_area2 <= 8 * limit2 * count * count * most2)
            is_small =
                sqrt(twice_area2) <= 2 * limit * perimeter(k, loop, count) && facet_width(k, f) < limit;
        c->small[f] = is_small;
    }
    return RBL_OK;
}

static int bin_of(double length, double extent)
{
    int exponent = BOTTOM;
    if (length > 0) frexp(length / extent, &exponent);
    return exponent < BOTTOM ? BOTTOM : exponent;
}

/// The exponent of the threshold for the set of bins that are present: bit (exponent − BOTTOM).
static int threshold_exponent(uint64_t present, int least_gap)
{
    int best = SMALLEST, most = least_gap - 1, above = TOP + 1;
    for (int e = TOP; e >= BOTTOM; e--) {
        if (!(present >> (e - BOTTOM) & 1)) continue;
        int gap = above - e - 1, upper = gap >= WIDE_GAP ? WIDE_UPPER : UPPER;
        int low = e > LOWER ? e : LOWER, high = above - 1 < upper ? above - 1 : upper;
        if (gap > most && low <= high) {
            most = gap;
            best = low + (high - low) / 2;
        }
        above = e;
    }
    return best;
}

/// Marks the facets with something small, which most complexes have none of.
static rbl_status find_small(contraction *c, bool *any)
{
    size_t first = c->first_facet, count = c->k->facet_count - first;
    memset(c->small, 0, first);
    rbl_status status = rbli_parallel_for(c->ctx, count, 4096, mark_small, c);
    *any = status == RBL_OK && memchr(c->small + first, 1, count);
    return status;
}

/// Lists the facets that are marked in `small`.
static rbl_status list_marked(contraction *c)
{
    size_t count = c->k->facet_count;
    const uint8_t *end = c->small + count, *at = c->small;
    c->touched.count = 0;
    for (; (at = memchr(at, 1, (size_t)(end - at))); at++)
        if (rbli_array_push(c->ctx, &c->touched, (int32_t)(at - c->small)) != RBL_OK)
            return RBL_ERR_NO_MEMORY;
    return RBL_OK;
}

/// Adds what a small facet has to the union-find, or, `unite` false, to the histograms of its vertices' roots.
static void add_small(contraction *c, size_t f, bool unite, uint64_t *present)
{
    const rbli_cell_complex *k = c->k;
    const int32_t *loop = k->facet_vertices + k->facet_start[f];
    int32_t count = k->facet_start[f + 1] - k->facet_start[f];
    double width = facet_width(k, f), limit = ldexp(c->extent, TOP);
    for (int32_t i = 0; i < count; i++) {
        int32_t a = loop[i], b = loop[i + 1 < count ? i + 1 : 0];
        double length = edge_length(k, a, b);
        if (unite) {
            if (length < limit || width < limit) c->parent[root_of(c->parent, a)] = root_of(c->parent, b);
            continue;
        }
        uint64_t *set = &present[root_of(c->parent, a)], own = c->caution ? c->caution[a] : 0;
        if (length < limit) *set |= (uint64_t)1 << (bin_of(length, c->extent) - BOTTOM);
        if (width < limit) *set |= (uint64_t)1 << (bin_of(width, c->extent) - BOTTOM);
        if (own > *set >> CAUTION_SHIFT)
            *set = (*set & (((uint64_t)1 << CAUTION_SHIFT) - 1)) | own << CAUTION_SHIFT;
    }
}

static uint8_t level_of(uint64_t set)
{
    uint64_t careful = set >> CAUTION_SHIFT;
    set &= ((uint64_t)1 << CAUTION_SHIFT) - 1;
    if (!set || careful >= 3) return 0;
    int exponent = careful >= 2 ? SMALLEST : threshold_exponent(set, careful ? CLEAR_GAP : GAP);
    return (uint8_t)(exponent - BOTTOM);
}

/// Sets the thresholds of all vertices: only those of small facets have one.
static rbl_status set_thresholds(contraction *c)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *k = c->k;
    uint64_t *present = rbli_calloc(c->ctx, k->vertex_count, sizeof *present);
    RBL_TRY_ALLOC(present);
    RBL_TRY(list_marked(c));
    reset_roots(c);
    for (int pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < c->touched.count; t++)
            add_small(c, (size_t)c->touched.data[t], pass == 0, present);
    for (size_t t = 0; t < c->touched.count; t++) {
        int32_t f = c->touched.data[t];
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++) {
            int32_t v = k->facet_vertices[i];
            c->level[v] = level_of(present[root_of(c->parent, v)]);
        }
    }
done:
    rbli_free(c->ctx, present);
    return status;
}

/// The threshold of a level; 0 of none.
static double threshold_of(const contraction *c, uint8_t level)
{
    return level ? ldexp(c->extent, level + BOTTOM) : 0;
}

static uint8_t lower_level(const contraction *c, int32_t a, int32_t b)
{
    return c->level[a] < c->level[b] ? c->level[a] : c->level[b];
}

static bool is_touched(const contraction *c, size_t f)
{
    for (int32_t i = c->k->facet_start[f]; i < c->k->facet_start[f + 1]; i++)
        if (c->level[c->k->facet_vertices[i]]) return true;
    return false;
}

static rbl_status mark_touched(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    enum { TOGETHER = 32 };
    (void)ctx;
    (void)block;
    (void)worker;
    contraction *c = user;
    const rbli_cell_complex *k = c->k;
    /* Most often none of several facets is touched: their vertices are looked at in one loop. */
    for (size_t first = begin, past; first < end; first = past) {
        past = end - first < TOGETHER ? end : first + TOGETHER;
        uint8_t any = 0;
        for (int32_t i = k->facet_start[first]; i < k->facet_start[past]; i++)
            any |= c->level[k->facet_vertices[i]];
        for (size_t f = first; f < past; f++)
            c->small[f] = any && is_touched(c, f);
    }
    return RBL_OK;
}

/// Lists the facets that are touched; most often few are. Uses up `small`.
static rbl_status list_touched(contraction *c)
{
    rbl_status status = RBL_OK;
    size_t facet_count = c->k->facet_count;
    if (c->touched_is_known) return RBL_OK;
    uint8_t *marks = rbli_realloc(c->ctx, c->small, facet_count, 1); /* loops may have been split */
    RBL_TRY_ALLOC(marks);
    c->small = marks;
    RBL_TRY(rbli_parallel_for(c->ctx, facet_count, 8192, mark_touched, c));
    RBL_TRY(list_marked(c));
    c->touched_is_known = true;
done:
    return status;
}

/// Takes the rewritten facets.
static rbl_status move_facets(contraction *c)
{
    c->touched_is_known = false;
    return rbli_facet_list_move(c->ctx, &c->out, c->k);
}

/* Rewriting of loops */

/// Cuts the loop in `c->loop` into simple loops and appends those that enclose something: repeated vertices,
/// spikes and pinches go. A vertex that is on the stack already closes the part above it.
static rbl_status emit_loop(contraction *c, size_t f)
{
    const int32_t *cells = c->k->facet_cells[f];
    rbl_status status = RBL_OK;
    c->stack.count = 0;
    if (rbli_array_reserve(c->ctx, &c->stack, c->loop.count) != RBL_OK) return RBL_ERR_NO_MEMORY;
    int32_t *stack = c->stack.data;
    size_t count = 0;
    for (size_t i = 0; i < c->loop.count; i++) {
        int32_t v = c->loop.data[i];
        size_t at = (size_t)c->place[v];
        if (at < count && stack[at] == v) {
            if (count - at >= 3)
                RBL_TRY(rbli_facet_list_add(
                    c->ctx, &c->out, stack + at, count - at, cells[0], cells[1], c->k->facet_origin[f]));
            count = at + 1;
        } else {
            c->place[v] = (int32_t)count;
            stack[count++] = v;
        }
    }
    if (count >= 3)
        RBL_TRY(
            rbli_facet_list_add(c->ctx, &c->out, stack, count, cells[0], cells[1], c->k->facet_origin[f]));
done:
    return status;
}

static rbl_status keep_facet(contraction *c, size_t f)
{
    const rbli_cell_complex *k = c->k;
    return rbli_facet_list_add(c->ctx, &c->out, k->facet_vertices + k->facet_start[f],
        (size_t)(k->facet_start[f + 1] - k->facet_start[f]), k->facet_cells[f][0], k->facet_cells[f][1],
        k->facet_origin[f]);
}

/* Phase 2: contract short edges */

static rbl_status contract_edges(contraction *c, bool *changed)
{
    rbli_cell_complex *k = c->k;
    rbl_status status = RBL_OK;
    bool any = false;
    RBL_TRY(list_touched(c));
    reset_roots(c);
    for (size_t t = 0; t < c->touched.count; t++) {
        size_t f = (size_t)c->touched.data[t];
        const int32_t *loop = k->facet_vertices + k->facet_start[f];
        int32_t count = k->facet_start[f + 1] - k->facet_start[f];
        for (int32_t i = 0; i < count; i++) {
            int32_t a = loop[i], b = loop[i + 1 < count ? i + 1 : 0];
            uint8_t level = lower_level(c, a, b);
            if (!level || edge_length(k, a, b) >= threshold_of(c, level)) continue;
            a = root_of(c->parent, a);
            b = root_of(c->parent, b);
            if (a == b) continue;
            any = true;
            /* The root is the vertex that stays: on most walls, then the lowest. */
            int wall_a = c->wall_count ? c->wall_count[a] : 0, wall_b = c->wall_count ? c->wall_count[b] : 0;
            bool keep_a = wall_a != wall_b ? wall_a > wall_b : a < b;
            level = lower_level(c, a, b);
            c->parent[keep_a ? b : a] = keep_a ? a : b;
            c->level[keep_a ? a : b] = level;
        }
    }
    if (!any) return RBL_OK;
    *changed = true;
    for (size_t f = 0; f < k->facet_count; f++) {
        if (!is_touched(c, f)) {
            RBL_TRY(keep_facet(c, f));
            continue;
        }
        c->loop.count = 0;
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++)
            if (rbli_array_push(c->ctx, &c->loop, root_of(c->parent, k->facet_vertices[i])) != RBL_OK)
                return RBL_ERR_NO_MEMORY;
        RBL_TRY(emit_loop(c, f));
    }
    RBL_TRY(move_facets(c));
done:
    return status;
}

/* Phase 3: zip thin facets */

/// The vertices to put into an edge, from its lower to its higher vertex: entries begin … end − 1 of
/// `inserted`.
typedef struct zipped_edge {
    int32_t low, high;
    size_t begin, end;
} zipped_edge;

typedef struct zipper {
    zipped_edge *table; /* open addressing; low < 0: free */
    size_t mask, count;
    RBLI_ARRAY(int32_t) inserted;
} zipper;

typedef struct axis_vertex {
    double t;
    int32_t vertex;
} axis_vertex;

static zipped_edge *edge_slot(const zipper *z, int32_t a, int32_t b)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t slot = ((size_t)low * 0x9e3779b97f4a7c15u ^ (size_t)high * 0xc2b2ae3d27d4eb4fu) >> 20 & z->mask;
    while (z->table[slot].low >= 0 && (z->table[slot].low != low || z->table[slot].high != high))
        slot = (slot + 1) & z->mask;
    return &z->table[slot];
}

static rbl_status grow_zipper(rbl_context *ctx, zipper *z)
{
    zipped_edge *old = z->table;
    size_t old_size = old ? z->mask + 1 : 0, size = old ? 2 * old_size : 256;
    zipped_edge *table = rbli_alloc(ctx, size, sizeof *table);
    if (!table) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < size; i++)
        table[i].low = -1;
    z->table = table;
    z->mask = size - 1;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].low >= 0) *edge_slot(z, old[i].low, old[i].high) = old[i];
    rbli_free(ctx, old);
    return RBL_OK;
}

static bool axis_before(axis_vertex a, axis_vertex b)
{
    return a.t != b.t ? a.t < b.t : a.vertex < b.vertex;
}

/// Orders the facet's vertices along its long axis.
static void sort_along_axis(
    const rbli_cell_complex *k, const int32_t *loop, int32_t count, axis_vertex *sorted)
{
    int32_t p = farthest(k, loop, count, loop[0]), q = farthest(k, loop, count, p);
    for (int32_t i = 0; i < count; i++) {
        axis_vertex entry = {0, loop[i]};
        for (int j = 0; j < 3; j++)
            entry.t +=
                (k->vertices[loop[i]][j] - k->vertices[p][j]) * (k->vertices[q][j] - k->vertices[p][j]);
        int32_t at = i;
        for (; at > 0 && axis_before(entry, sorted[at - 1]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = entry;
    }
}

/// Enters the facet's edges with what goes into them, unless another zipped facet has one of them already.
static rbl_status zip_facet(contraction *c, zipper *z, size_t f, axis_vertex *sorted, bool *done_one)
{
    const rbli_cell_complex *k = c->k;
    const int32_t *loop = k->facet_vertices + k->facet_start[f];
    int32_t count = k->facet_start[f + 1] - k->facet_start[f];
    for (int32_t i = 0; i < count; i++)
        if (edge_slot(z, loop[i], loop[i + 1 < count ? i + 1 : 0])->low >= 0) return RBL_OK;
    *done_one = true;
    sort_along_axis(k, loop, count, sorted);
    for (int32_t i = 0; i < count; i++) {
        int32_t a = loop[i], b = loop[i + 1 < count ? i + 1 : 0], low = a < b ? a : b, high = a < b ? b : a;
        int32_t from = 0, to = 0;
        for (int32_t j = 0; j < count; j++) {
            if (sorted[j].vertex == low) from = j;
            if (sorted[j].vertex == high) to = j;
        }
        if (2 * (z->count + 1) > z->mask && grow_zipper(c->ctx, z) != RBL_OK) return RBL_ERR_NO_MEMORY;
        zipped_edge edge = {low, high, z->inserted.count, 0};
        int32_t step = from < to ? 1 : -1;
        for (int32_t j = from + step; j != to; j += step)
            if (rbli_array_push(c->ctx, &z->inserted, sorted[j].vertex) != RBL_OK) return RBL_ERR_NO_MEMORY;
        edge.end = z->inserted.count;
        *edge_slot(z, a, b) = edge;
        z->count++;
    }
    return RBL_OK;
}

static rbl_status rewrite_zipped(contraction *c, const zipper *z, size_t f)
{
    const rbli_cell_complex *k = c->k;
    const int32_t *loop = k->facet_vertices + k->facet_start[f];
    int32_t count = k->facet_start[f + 1] - k->facet_start[f];
    c->loop.count = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t a = loop[i], b = loop[i + 1 < count ? i + 1 : 0];
        if (rbli_array_push(c->ctx, &c->loop, a) != RBL_OK) return RBL_ERR_NO_MEMORY;
        if (!lower_level(c, a, b)) continue;
        const zipped_edge *edge = edge_slot(z, a, b);
        if (edge->low < 0) continue;
        size_t inside = edge->end - edge->begin;
        if (rbli_array_reserve(c->ctx, &c->loop, inside) != RBL_OK) return RBL_ERR_NO_MEMORY;
        for (size_t j = 0; j < inside; j++)
            c->loop.data[c->loop.count++] = z->inserted.data[a < b ? edge->begin + j : edge->end - 1 - j];
    }
    return emit_loop(c, f);
}

static rbl_status zip_facets(contraction *c, bool *changed)
{
    rbli_cell_complex *k = c->k;
    rbl_status status = RBL_OK;
    zipper z = {0};
    RBLI_ARRAY(axis_vertex) sorted = {0};
    bool any = false;
    RBL_TRY(list_touched(c));
    RBL_TRY(grow_zipper(c->ctx, &z));
    for (size_t t = 0; t < c->touched.count; t++) {
        size_t f = (size_t)c->touched.data[t];
        const int32_t *loop = k->facet_vertices + k->facet_start[f];
        int32_t count = k->facet_start[f + 1] - k->facet_start[f];
        uint8_t level = c->level[loop[0]];
        for (int32_t i = 1; i < count; i++)
            level = c->level[loop[i]] < level ? c->level[loop[i]] : level;
        if (!level || facet_width(k, f) >= threshold_of(c, level)) continue;
        RBL_TRY(rbli_array_reserve(c->ctx, &sorted, (size_t)count));
        RBL_TRY(zip_facet(c, &z, f, sorted.data, &any));
    }
    if (!any) goto done;
    *changed = true;
    for (size_t f = 0; f < k->facet_count; f++)
        RBL_TRY(is_touched(c, f) ? rewrite_zipped(c, &z, f) : keep_facet(c, f));
    RBL_TRY(move_facets(c));
done:
    rbli_free(c->ctx, z.table);
    rbli_free(c->ctx, z.inserted.data);
    rbli_free(c->ctx, sorted.data);
    return status;
}

/* Phase 4: facets with the same loop */

static size_t loop_hash(const int32_t *loop, int32_t count)
{
    uint64_t sum = (uint64_t)count;
    for (int32_t i = 0; i < count; i++) {
        uint64_t z = (uint64_t)loop[i] * 0xbf58476d1ce4e5b9u;
        sum += (z ^ z >> 31) * 0x94d049bb133111ebu;
    }
    return (size_t)(sum ^ sum >> 29);
}

/// 1 for the same loop, −1 for its reverse, else 0.
static int compare_loops(const int32_t *a, const int32_t *b, int32_t count)
{
    int32_t shift = 0;
    while (shift < count && b[shift] != a[0])
        shift++;
    if (shift == count) return 0;
    bool same = true, reverse = true;
    for (int32_t i = 0; i < count; i++) {
        same &= a[i] == b[(shift + i) % count];
        reverse &= a[i] == b[(shift - i + count) % count];
    }
    return same ? 1 : reverse ? -1 : 0;
}

/// Joins facet g into f where a cell lies between them. @return whether it was; `cells` of f may become
/// equal: none left.
static bool join_facets(int32_t f[2], const int32_t g[2], int direction)
{
    int32_t negative = g[direction < 0], positive = g[direction > 0];
    if (f[1] == negative && f[1] >= 0) {
        f[1] = positive;
        return true;
    }
    if (f[0] == positive && f[0] >= 0) {
        f[0] = negative;
        return true;
    }
    return false;
}

static rbl_status join_equal_facets(contraction *c, bool *changed)
{
    rbli_cell_complex *k = c->k;
    rbl_status status = RBL_OK;
    int32_t *table = NULL;
    uint8_t *gone = NULL;
    size_t size = 16;
    bool any = false;
    RBL_TRY(list_touched(c));
    while (size < 2 * c->touched.count)
        size *= 2;
    RBL_TRY_ALLOC(table = rbli_alloc(c->ctx, size, sizeof *table));
    RBL_TRY_ALLOC(gone = rbli_calloc(c->ctx, k->facet_count, 1));
    memset(table, 0xff, size * sizeof *table);
    for (size_t t = 0; t < c->touched.count; t++) {
        size_t f = (size_t)c->touched.data[t];
        const int32_t *loop = k->facet_vertices + k->facet_start[f];
        int32_t count = k->facet_start[f + 1] - k->facet_start[f];
        size_t slot = loop_hash(loop, count) & (size - 1);
        for (; table[slot] >= 0; slot = (slot + 1) & (size - 1)) {
            int32_t g = table[slot];
            if (gone[g] || k->facet_start[g + 1] - k->facet_start[g] != count) continue;
            int direction = compare_loops(k->facet_vertices + k->facet_start[g], loop, count);
            if (!direction || !join_facets(k->facet_cells[g], k->facet_cells[f], direction)) continue;
            any = true;
            gone[f] = 1;
            gone[g] = k->facet_cells[g][0] == k->facet_cells[g][1];
            break;
        }
        if (!gone[f] && table[slot] < 0) table[slot] = (int32_t)f;
    }
    if (!any) goto done;
    *changed = true;
    for (size_t f = 0; f < k->facet_count; f++)
        if (!gone[f]) RBL_TRY(keep_facet(c, f));
    RBL_TRY(move_facets(c));
done:
    rbli_free(c->ctx, table);
    rbli_free(c->ctx, gone);
    return status;
}

/* Phase 5: straight vertices */

static void add_neighbour(int32_t pair[2], int32_t v)
{
    if (pair[0] == v || pair[1] == v) return;
    if (pair[0] == -1) {
        pair[0] = v;
    } else if (pair[1] == -1) {
        pair[1] = v;
    } else {
        pair[0] = pair[1] = -2; /* more than two */
    }
}

/// Whether a vertex has two neighbours and lies on the line between them.
static bool is_straight(const contraction *c, const int32_t pair[2], int32_t v)
{
    return pair[0] >= 0 && pair[1] >= 0 &&
           line_distance(c->k, pair[0], pair[1], v) <= 8 * threshold_of(c, c->level[v]);
}

static rbl_status drop_straight_vertices(contraction *c, bool *changed)
{
    rbli_cell_complex *k = c->k;
    rbl_status status = RBL_OK;
    bool any = false;
    int32_t(*pair)[2] = NULL; /* neighbours of vertices that have a threshold; then −1 first: stays */
    RBL_TRY(list_touched(c));
    RBL_TRY_ALLOC(pair = rbli_alloc(c->ctx, k->vertex_count, sizeof *pair));
    for (size_t t = 0; t < c->touched.count; t++) {
        int32_t f = c->touched.data[t];
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++)
            pair[k->facet_vertices[i]][0] = pair[k->facet_vertices[i]][1] = -1;
    }
    for (size_t t = 0; t < c->touched.count; t++) {
        size_t f = (size_t)c->touched.data[t];
        const int32_t *loop = k->facet_vertices + k->facet_start[f];
        int32_t count = k->facet_start[f + 1] - k->facet_start[f];
        for (int32_t i = 0; i < count; i++) {
            int32_t v = loop[i];
            if (!c->level[v] || pair[v][0] == -2) continue;
            add_neighbour(pair[v], loop[i > 0 ? i - 1 : count - 1]);
            if (pair[v][0] != -2) add_neighbour(pair[v], loop[i + 1 < count ? i + 1 : 0]);
        }
    }
    for (size_t t = 0; t < c->touched.count; t++) {
        int32_t f = c->touched.data[t];
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++) {
            int32_t v = k->facet_vertices[i];
            bool straight = is_straight(c, pair[v], v);
            any |= straight;
            if (!straight) pair[v][0] = -1;
        }
    }
    if (!any) goto done;
    *changed = true;
    for (size_t v = 0; v < k->vertex_count; v++)
        if (!c->level[v]) pair[v][0] = -1;
    for (size_t t = 0; t < c->touched.count; t++) {
        int32_t f = c->touched.data[t];
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++) {
            const int32_t *own = pair[k->facet_vertices[i]];
            for (int j = 0; j < 2 && own[0] >= 0; j++)
                if (!c->level[own[j]]) c->level[own[j]] = SMALLEST - BOTTOM;
        }
    }
    for (size_t f = 0; f < k->facet_count; f++) {
        if (!is_touched(c, f)) {
            RBL_TRY(keep_facet(c, f));
            continue;
        }
        c->loop.count = 0;
        for (int32_t i = k->facet_start[f]; i < k->facet_start[f + 1]; i++) {
            int32_t v = k->facet_vertices[i];
            if (pair[v][0] < 0) RBL_TRY(rbli_array_push(c->ctx, &c->loop, v));
        }
        RBL_TRY(emit_loop(c, f));
    }
    RBL_TRY(move_facets(c));
done:
    rbli_free(c->ctx, pair);
    return status;
}

rbl_status rbli_complex_contract(
    rbl_context *ctx, rbli_cell_complex *complex, const rbli_contract_options *options, bool *changed)
{
    rbl_status status = RBL_OK;
    contraction c = {.ctx = ctx,
        .k = complex,
        .wall_count = options->wall_count,
        .caution = options->caution,
        .at_walls_only = options->at_walls_only && options->wall_count,
        .first_facet = options->at_walls_only && options->wall_count ? options->first_facet : 0,
        .extent = options->extent};
    bool again = false;
    if (changed) *changed = false;
    RBL_TRY_ALLOC(c.small = rbli_alloc(ctx, complex->facet_count, 1));
    RBL_TRY(find_small(&c, &again));
    if (!again) goto done;
    RBL_TRY_ALLOC(c.parent = rbli_alloc(ctx, complex->vertex_count, sizeof *c.parent));
    RBL_TRY_ALLOC(c.level = rbli_calloc(ctx, complex->vertex_count, sizeof *c.level));
    RBL_TRY_ALLOC(c.place = rbli_calloc(ctx, complex->vertex_count, sizeof *c.place));
    RBL_TRY(set_thresholds(&c));
    for (int round = 0; again && round < MOST_ROUNDS; round++) {
        again = false;
        RBL_TRY(contract_edges(&c, &again));
        RBL_TRY(join_equal_facets(&c, &again));
        RBL_TRY(drop_straight_vertices(&c, &again));
        RBL_TRY(zip_facets(&c, &again));
        if (changed && again) *changed = true;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
    }
done:
    rbli_free(ctx, c.parent);
    rbli_free(ctx, c.level);
    rbli_free(ctx, c.small);
    rbli_free(ctx, c.place);
    rbli_free(ctx, c.loop.data);
    rbli_free(ctx, c.stack.data);
    rbli_free(ctx, c.touched.data);
    rbli_facet_list_free(ctx, &c.out);
    return status;
}
