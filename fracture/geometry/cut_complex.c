/// The complex side of the cut: edges, triangles of the facets, boxes of the facets.

#include "fracture/geometry/cut_internal.h"
#include "fracture/geometry/cut_polygon.h"

/// A fan whose lowest triangle is lower than this, relative to its longest side, is compared with ear
/// clipping.
static const double POOR_FAN = 1e-3;

enum {
    FACET_GRAIN = 512,
    SURE_AREA = 1 << 13, /* so many grid steps high a triangle is no film */
    LONG_LOOP = 16,      /* corners; it pays to give a fan up early */
};

/// A projected loop, twice one after another, and the squared lengths of its sides.
typedef struct flat_loop {
    const double *x, *y, *sides; /* [2 × count] */
    int32_t count;
} flat_loop;

/// A facet's loop.
typedef struct facet_loop {
    double *at[3]; /* [2 × count] coordinates, twice one after another, so that nothing need turn back */
    double *sides; /* [2 × count] room for a flat loop's */
    double low[3], high[3];
    int32_t count;
} facet_loop;

typedef struct facet_scratch {
    cut_polygon polygon;
    RBLI_ARRAY(double) coordinates; /* of the loop */
    RBLI_ARRAY(double) points;      /* the flat loop's as pairs */
    RBLI_ARRAY(int32_t) corners;    /* triangles of the facet, three loop positions each */
    char apart[CUT_APART_BYTES];
} facet_scratch;

typedef struct builder {
    cut_state *state;
    facet_scratch *workers;
    int32_t *diagonal_start; /* [blocks of facets] their first flat edge */
    double least_side;       /* squared grid steps: points this far apart differ in source coordinates, too */
} builder;

typedef rbli_double2 pair;

static inline double squared_distance(const flat_loop *l, int32_t p, int32_t q)
{
    return (l->x[q] - l->x[p]) * (l->x[q] - l->x[p]) + (l->y[q] - l->y[p]) * (l->y[q] - l->y[p]);
}

/// Twice the area of a projected triangle against its longest side, squared.
static double triangle_shape(const flat_loop *l, int32_t p, int32_t q, int32_t r)
{
    double longest =
        cut_max(cut_max(squared_distance(l, p, q), squared_distance(l, q, r)), squared_distance(l, r, p));
    double area = (l->x[q] - l->x[p]) * (l->y[r] - l->y[p]) - (l->y[q] - l->y[p]) * (l->x[r] - l->x[p]);
    return longest > 0 ? area / longest : 0;
}

/// Copies a loop, and finds its box.
static rbl_status load_loop(rbl_context *ctx, const cut_state *state, facet_scratch *w, const int32_t *loop,
    int32_t count, facet_loop *out)
{
    size_t twice = 2 * (size_t)count;
    w->coordinates.count = 0;
    rbl_status status = rbli_array_reserve(ctx, &w->coordinates, 4 * twice);
    if (status != RBL_OK) return status;
    double *x = w->coordinates.data, *y = x + twice, *z = y + twice;
    const double(*points)[3] = (const double(*)[3])state->points + state->complex.first_point;
    pair low = {INFINITY, INFINITY}, high = -low;
    double lowest = INFINITY, highest = -INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const double *p = points[loop[i]];
        pair flat = rbli_load2(p);
        x[i] = x[i + count] = flat[0];
        y[i] = y[i + count] = flat[1];
        z[i] = z[i + count] = p[2];
        low = rbli_min2(low, flat);
        high = rbli_max2(high, flat);
        lowest = cut_min(lowest, p[2]);
        highest = cut_max(highest, p[2]);
    }
    *out = (facet_loop){{x, y, z}, z + twice, {low[0], low[1], lowest}, {high[0], high[1], highest}, count};
    return RBL_OK;
}

/// Area normal of a loop (Newell).
static void loop_normal(const facet_loop *l, double normal[3])
{
    const double *x = l->at[0], *y = l->at[1], *z = l->at[2];
    double u[3] = {x[1] - x[0], y[1] - y[0], z[1] - z[0]};
    normal[0] = normal[1] = normal[2] = 0;
    for (int32_t i = 2; i < l->count; i++) {
        double v[3] = {x[i] - x[0], y[i] - y[0], z[i] - z[0]};
        normal[0] += u[1] * v[2] - u[2] * v[1];
        normal[1] += u[2] * v[0] - u[0] * v[2];
        normal[2] += u[0] * v[1] - u[1] * v[0];
        memcpy(u, v, sizeof u);
    }
}

static flat_loop flatten_loop(const facet_loop *l, const int32_t axes[2])
{
    flat_loop flat = {l->at[axes[0]], l->at[axes[1]], l->sides, l->count};
    for (int32_t i = 0; i < l->count; i++)
        l->sides[i] = l->sides[i + l->count] = squared_distance(&flat, i, i + 1);
    return flat;
}

/// The corner, of four or more, from which the lowest triangle of the fan is highest. The fans of two corners are gone
/// through together. @param height  set to the square of that, signed
static int32_t best_apex(const flat_loop *l, double *height)
{
    int32_t apex = 0, tries = l->count <= 64 ? l->count : 64;
    double best = -INFINITY;
    for (int32_t i = 0; i < tries; i += 2) {
        const double *x = l->x + i, *y = l->y + i, *sides = l->sides + i;
        pair lowest = {INFINITY, INFINITY}, ax = rbli_load2(x), ay = rbli_load2(y);
        pair ux = rbli_load2(x + 1) - ax, uy = rbli_load2(y + 1) - ay, spoke = ux * ux + uy * uy;
        for (int32_t b = 1; b + 1 < l->count; b++) {
            pair wx = rbli_load2(x + b + 1) - ax, wy = rbli_load2(y + b + 1) - ay, next = wx * wx + wy * wy;
            pair area = ux * wy - uy * wx, longest = rbli_max2(rbli_max2(rbli_load2(sides + b), spoke), next);
            pair found = area * rbli_max2(area, -area) / longest;
            lowest = rbli_min2((pair)((rbli_long2)found & (longest > 0)), lowest);
            if (l->count > LONG_LOOP && cut_max(lowest[0], lowest[1]) < best) break;
            ux = wx;
            uy = wy;
            spoke = next;
        }
        apex = lowest[0] > best ? i : apex;
        best = cut_max(lowest[0], best);
        if (i + 1 == tries) break;
        apex = lowest[1] > best ? i + 1 : apex;
        best = cut_max(lowest[1], best);
    }
    *height = best;
    return apex;
}

/// Ears instead of the fan where that is better: then `corners` are set.
static rbl_status try_ears(rbl_context *ctx, facet_scratch *w, const flat_loop *l, double fan_shape)
{
    rbl_status status = RBL_OK;
    const cut_polygon *polygon = &w->polygon;
    int32_t loop_start[2] = {0, l->count};
    double ears_shape = INFINITY;
    size_t point_count = (size_t)l->count;
    w->points.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &w->points, 2 * point_count));
    for (size_t i = 0; i < point_count; i++) {
        w->points.data[2 * i] = l->x[i];
        w->points.data[2 * i + 1] = l->y[i];
    }
    RBL_TRY(cut_polygon_triangulate(ctx, &w->polygon, (const double(*)[2])w->points.data, loop_start, 1));
    const int32_t *c = polygon->corners.data;
    for (size_t i = 0; i < polygon->corners.count; i += 3)
        ears_shape = cut_min(ears_shape, triangle_shape(l, c[i], c[i + 1], c[i + 2]));
    if (!(ears_shape > fan_shape)) goto done;
    w->corners.count = 0;
    RBL_TRY(rbli_array_reserve(ctx, &w->corners, polygon->corners.count));
    if (polygon->corners.count) memcpy(w->corners.data, c, polygon->corners.count * sizeof *w->corners.data);
    w->corners.count = polygon->corners.count;
done:
    return status;
}

/// Chooses triangles for a facet: the fan whose lowest triangle is highest, or ears where no fan is good.
/// @param apex  set to the fan's corner; `corners` are set instead of it where there are any
/// @param height  set to the square of the height of the fan's lowest triangle, or less
static rbl_status triangulate_loop(rbl_context *ctx, facet_scratch *w, const facet_loop *loop,
    const int32_t axes[2], int32_t *apex, double *height)
{
    rbl_status status = RBL_OK;
    double size = 0, worst_shape = INFINITY;
    *apex = 0;
    *height = 0;
    w->corners.count = 0;
    if (loop->count == 3) return RBL_OK;
    for (int i = 0; i < 2; i++) {
        double extent = loop->high[axes[i]] - loop->low[axes[i]];
        size += extent * extent;
    }
    flat_loop flat = flatten_loop(loop, axes);
    *apex = best_apex(&flat, height);
    bool good = *height > 2 * POOR_FAN * POOR_FAN * size; /* a shape, squared, is height over side */
    for (int32_t i = *apex + 1; i + 1 < *apex + loop->count && !good; i++)
        worst_shape = cut_min(worst_shape, triangle_shape(&flat, *apex, i, i + 1));
    if (worst_shape < POOR_FAN) RBL_TRY(try_ears(ctx, w, &flat, worst_shape));
done:
    return status;
}

static rbl_status grow_edges(rbl_context *ctx, cut_complex *k, size_t capacity)
{
    void *moved = rbli_realloc(ctx, k->edges, capacity, sizeof *k->edges);
    if (!moved) return RBL_ERR_NO_MEMORY;
    k->edges = moved;
    return RBL_OK;
}

/// Edges of a vertex to larger ones: where they end, −1 for a free place, and their numbers. Most vertices have no more;
/// further edges are in a list.
typedef struct edge_bucket {
    cut_flags high, edge;
} edge_bucket;

typedef struct edge_table {
    edge_bucket *buckets; /* by the smaller vertex */
    int32_t *further;     /* by the smaller vertex, −1 for none … */
    int32_t *next;        /* … by edge */
} edge_table;

static inline cut_flags choose_places(cut_flags places, cut_flags a, cut_flags b)
{
    return (a & places) | (b & ~places);
}

/// The edge of two vertices whose bucket is full and does not hold it; `fresh` if it is new.
static int32_t find_further(edge_table *table, cut_complex *k, int32_t low, int32_t high, int32_t fresh)
{
    int32_t edge = table->further[low];
    while (edge >= 0 && k->edges[edge][1] != k->first_point + high)
        edge = table->next[edge];
    if (edge >= 0) return edge;
    table->next[fresh] = table->further[low];
    return table->further[low] = fresh;
}

/// The edge of two vertices, the next one if it is new. Which are cannot be foretold, so nothing depends on that by a
/// branch.
static inline int32_t edge_between(edge_table *table, cut_complex *k, int32_t u, int32_t v)
{
    int32_t low = u < v ? u : v, high = u < v ? v : u, fresh = (int32_t)k->edge_count;
    edge_bucket *bucket = &table->buckets[low];
    cut_flags wanted = {high, high, high, high}, added = {fresh, fresh, fresh, fresh};
    int known = cut_flag_bits(bucket->high == wanted), none = -(known == 0);
    int32_t place = __builtin_ctz((unsigned)(known | (cut_flag_bits(bucket->high) & none) | 16));
    cut_flags here = (cut_flags){0, 1, 2, 3} == (cut_flags){place, place, place, place};
    bucket->high = choose_places(here, wanted, bucket->high);
    bucket->edge = choose_places(here & (cut_flags){none, none, none, none}, added, bucket->edge);
    int32_t edge = place < 4 ? bucket->edge[place] : find_further(table, k, low, high, fresh);
    k->edges[fresh][0] = k->first_point + low;
    k->edges[fresh][1] = k->first_point + high;
    /* The count must not wait for what the bucket gives back. */
    k->edge_count += place < 4 ? known == 0 : edge == fresh;
    return edge;
}

static rbl_status make_edge_table(
    rbl_context *ctx, const cut_complex *k, edge_table *table, size_t edge_count)
{
    rbl_status status = RBL_OK;
    size_t vertex_count = k->source->vertex_count;
    RBL_TRY_ALLOC(table->buckets = rbli_alloc(ctx, vertex_count, sizeof *table->buckets));
    RBL_TRY_ALLOC(table->further = rbli_alloc(ctx, vertex_count, sizeof *table->further));
    RBL_TRY_ALLOC(table->next = rbli_alloc(ctx, edge_count, sizeof *table->next));
    memset(table->buckets, 0xff, vertex_count * sizeof *table->buckets);
    memset(table->further, 0xff, vertex_count * sizeof *table->further);
done:
    return status;
}

/// Gives each pair of neighbours in a loop an edge.
static rbl_status number_edges(rbl_context *ctx, cut_complex *k)
{
    enum { AHEAD = 16 };
    rbl_status status = RBL_OK;
    const rbli_cell_complex *source = k->source;
    edge_table table = {0};
    size_t corner_count = (size_t)source->facet_start[source->facet_count], capacity = corner_count / 2 + 1;
    RBL_TRY(make_edge_table(ctx, k, &table, corner_count));
    RBL_TRY_ALLOC(k->loop_edge = rbli_alloc(ctx, corner_count, sizeof *k->loop_edge));
    RBL_TRY(grow_edges(ctx, k, capacity)); /* closed cells have no more */
    int32_t last = (int32_t)corner_count;
    for (size_t f = 0; f < source->facet_count; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        int32_t begin = source->facet_start[f], end = source->facet_start[f + 1];
        if (capacity - k->edge_count < (size_t)(end - begin) + 1)
            RBL_TRY(grow_edges(ctx, k, capacity += capacity / 2 + (size_t)(end - begin) + 1));
        const int32_t *vertices = source->facet_vertices;
        for (int32_t i = begin; i < end; i++) {
            __builtin_prefetch(&table.buckets[vertices[i + AHEAD < last ? i + AHEAD : i]], 1);
            k->loop_edge[i] = edge_between(&table, k, vertices[i], vertices[i + 1 == end ? begin : i + 1]);
        }
    }
    k->real_edge_count = k->edge_count;
done:
    rbli_free(ctx, table.buckets);
    rbli_free(ctx, table.further);
    rbli_free(ctx, table.next);
    return status;
}

rbl_status cut_number_edges(rbl_context *ctx, cut_state *state)
{
    cut_complex *k = &state->complex;
    const rbli_cell_complex *source = state->complex_view;
    k->source = source;
    k->first_point = (int32_t)state->mesh_view->vertex_count;
    for (size_t f = 0; f < source->facet_count; f++)
        if (source->facet_start[f + 1] - source->facet_start[f] < 3)
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "facet %zu has fewer than three vertices", f);
    if (source->facet_start[source->facet_count] > INT32_MAX / 4)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the complex has too many facets (%zu)", source->facet_count);
    return number_edges(ctx, k);
}

rbl_status cut_list_sides(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *source = state->complex_view;
    size_t cells = source->cell_count;
    int32_t *start = rbli_calloc(ctx, cells + 2, sizeof *start);
    RBL_TRY_ALLOC(state->complex.side_start = start);
    for (int pass = 0; pass < 2; pass++) {
        int32_t *sides = state->complex.sides;
        for (size_t f = 0; f < source->facet_count; f++) {
            RBL_TRY(rbli_poll(ctx, f));
            const int32_t *of = source->facet_cells[f];
            if (of[0] == of[1]) continue;
            for (int side = 0; side < 2; side++) {
                if (of[side] < 0) continue;
                if (pass == 0)
                    start[of[side] + 2]++;
                else
                    sides[start[of[side] + 1]++] = 2 * (int32_t)f + side;
            }
        }
        if (pass == 1) break;
        for (size_t c = 0; c < cells; c++)
            start[c + 2] += start[c + 1];
        RBL_TRY_ALLOC(
            state->complex.sides = rbli_alloc(ctx, (size_t)start[cells + 1], sizeof *state->complex.sides));
    }
done:
    return status;
}

static void fill_box(
    const facet_loop *l, const double normal[3], double length, bool separates, cut_k_box *box)
{
    box->separates = separates;
    for (int axis = 0; axis < 3; axis++) {
        box->low[axis] = (float)(l->low[axis] - fabs(l->low[axis]) * 0x1p-23);
        box->high[axis] = (float)(l->high[axis] + fabs(l->high[axis]) * 0x1p-23);
        box->normal[axis] = length > 0 ? (float)(normal[axis] / length) : 0;
    }
    pair lowest = {INFINITY, INFINITY}, highest = -lowest;
    for (int32_t i = 0; i < l->count; i += 2) {
        pair height = box->normal[0] * rbli_load2(l->at[0] + i) + box->normal[1] * rbli_load2(l->at[1] + i) +
                      box->normal[2] * rbli_load2(l->at[2] + i);
        lowest = rbli_min2(lowest, height);
        highest = rbli_max2(highest, height);
    }
    double low = cut_min(lowest[0], lowest[1]), high = cut_max(highest[0], highest[1]);
    box->offset = 0.5 * (low + high);
    box->thickness = 0.5 * (high - low) + 1; /* a grid step more than the rounding of this */
    box->middle = (float)box->offset;
    box->reach = (float)box->thickness + CUT_FLOAT_MARGIN;
}

/// A facet whose triangles are being written.
typedef struct facet_writer {
    cut_complex *k;
    const int32_t *loop, *loop_edge;
    int32_t count, facet;
    int32_t first_diagonal, *edge_end;
    bool distinct; /* no diagonal is asked for twice */
    cut_facet_triangle *next;
    int32_t (*next_edges)[3]; /* of it */
} facet_writer;

/// The flat edge between two corners of the loop that are no neighbours.
static inline int32_t diagonal_of(const facet_writer *f, int32_t from, int32_t to)
{
    int32_t(*edges)[2] = f->k->edges;
    int32_t u = f->k->first_point + f->loop[from], v = f->k->first_point + f->loop[to];
    int32_t low = u < v ? u : v, high = u < v ? v : u;
    int32_t edge = *f->edge_end - 1; /* the last one is the likeliest */
    if (!f->distinct) {
        while (edge >= f->first_diagonal && (edges[edge][0] != low || edges[edge][1] != high))
            edge--;
        if (edge >= f->first_diagonal) return edge;
    }
    edge = (*f->edge_end)++;
    edges[edge][0] = low;
    edges[edge][1] = high;
    return edge;
}

static void write_fan(facet_writer *f, int32_t apex)
{
    int32_t base = f->k->first_point, last = apex == 0 ? f->count - 1 : apex - 1;
    int32_t b = apex + 1 == f->count ? 0 : apex + 1, spoke = f->loop_edge[apex];
    while (b != last) {
        int32_t c = b + 1 == f->count ? 0 : b + 1;
        int32_t next = c == last ? f->loop_edge[c] : diagonal_of(f, c, apex);
        *f->next++ =
            (cut_facet_triangle){{base + f->loop[apex], base + f->loop[b], base + f->loop[c]}, f->facet};
        int32_t *edges = *f->next_edges++;
        edges[0] = spoke;
        edges[1] = f->loop_edge[b];
        edges[2] = next;
        spoke = next;
        b = c;
    }
}

static void write_ears(facet_writer *f, const int32_t *corners, size_t corner_count)
{
    for (size_t i = 0; i < corner_count; i += 3, f->next++, f->next_edges++) {
        f->next->facet = f->facet;
        for (size_t j = 0; j < 3; j++) {
            int32_t from = corners[i + j], to = corners[i + (j == 2 ? 0 : j + 1)];
            f->next->v[j] = f->k->first_point + f->loop[from];
            (*f->next_edges)[j] =
                to == (from + 1 == f->count ? 0 : from + 1) ? f->loop_edge[from] : diagonal_of(f, from, to);
        }
    }
}

/// The squared length of the shortest side of a fan's triangles.
static double shortest_side(const facet_loop *l, int32_t apex)
{
    const double *x = l->at[0], *y = l->at[1], *z = l->at[2];
    double shortest = INFINITY;
    for (int32_t i = apex; i < apex + l->count; i++) {
        double side[3] = {x[i + 1] - x[i], y[i + 1] - y[i], z[i + 1] - z[i]};
        double spoke[3] = {x[i + 1] - x[apex], y[i + 1] - y[apex], z[i + 1] - z[apex]};
        shortest = cut_min(shortest, side[0] * side[0] + side[1] * side[1] + side[2] * side[2]);
        if (i + 1 == apex + l->count) break;
        shortest = cut_min(shortest, spoke[0] * spoke[0] + spoke[1] * spoke[1] + spoke[2] * spoke[2]);
    }
    return shortest;
}

/// @param length  of the normal. @param height  as of triangulate_loop
static void measure_facet(const builder *b, const facet_loop *l, const double normal[3], double length,
    int32_t apex, double height, cut_facet_measure *measure)
{
    double extent = 0;
    for (int axis = 0; axis < 3; axis++)
        extent = cut_max(extent, l->high[axis] - l->low[axis]);
    bool sure = length > SURE_AREA * extent * (l->count - 2) &&
                (height > b->least_side || shortest_side(l, apex) > b->least_side);
    memcpy(measure->normal, normal, sizeof measure->normal);
    if (sure) measure->area = 0.5 * length;
}

/// Writes a facet's triangles. Diagonals become flat edges from *edge_end on.
static rbl_status add_facet(
    rbl_context *ctx, const builder *b, facet_scratch *w, int32_t facet, int32_t *edge_end)
{
    rbl_status status = RBL_OK;
    cut_state *state = b->state;
    cut_complex *k = &state->complex;
    int32_t begin = k->source->facet_start[facet];
    int32_t count = k->source->facet_start[facet + 1] - begin;
    const int32_t *loop = k->source->facet_vertices + begin, *cells = k->source->facet_cells[facet];
    bool separates = cells[0] != cells[1];
    facet_loop points;
    double normal[3], length, height;
    int32_t apex;
    k->measures[facet].area = 0;
    RBL_TRY(load_loop(ctx, state, w, loop, count, &points));
    loop_normal(&points, normal);
    length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    cut_projection_axes(normal, k->facet_axes[facet]);
    fill_box(&points, normal, length, separates, &k->boxes[facet]);
    if (!separates) return RBL_OK;
    RBL_TRY(triangulate_loop(ctx, w, &points, k->facet_axes[facet], &apex, &height));
    if (w->corners.count == 0 && (count == 3 || k->source->convex)) /* otherwise facets may be bent */
        measure_facet(b, &points, normal, length, apex, height, &k->measures[facet]);
    bool distinct = w->corners.count == 0 &&
                    height > 0; /* around the apex of such a fan corners lie in different directions */
    facet_writer writer = {k, loop, k->loop_edge + begin, count, facet, *edge_end, edge_end, distinct,
        k->triangles + k->facet_triangle_start[facet], k->triangle_edges + k->facet_triangle_start[facet]};
    if (w->corners.count > 0)
        write_ears(&writer, w->corners.data, w->corners.count);
    else
        write_fan(&writer, apex);
done:
    return status;
}

static rbl_status facet_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    builder *b = user;
    rbl_status status = RBL_OK;
    cut_complex *k = &b->state->complex;
    int32_t edge = b->diagonal_start[block];
    for (size_t f = begin; f < end && status == RBL_OK; f++)
        status = add_facet(ctx, b, &b->workers[worker], (int32_t)f, &edge);
    /* A loop that comes by a vertex twice may use one diagonal twice. */
    for (; edge < b->diagonal_start[block + 1] && status == RBL_OK; edge++)
        k->edges[edge][0] = k->edges[edge][1] = k->first_point;
    return status;
}

/// A loop of n corners that separates cells gives n − 2 triangles and n − 3 diagonals at most.
static void place_facets(builder *b)
{
    cut_complex *k = &b->state->complex;
    const rbli_cell_complex *source = k->source;
    int32_t triangle = 0, edge = (int32_t)k->real_edge_count;
    for (size_t f = 0; f < source->facet_count; f++) {
        int32_t count = source->facet_start[f + 1] - source->facet_start[f];
        if (f % FACET_GRAIN == 0) b->diagonal_start[f / FACET_GRAIN] = edge;
        k->facet_triangle_start[f] = triangle;
        if (source->facet_cells[f][0] == source->facet_cells[f][1]) continue;
        triangle += count - 2;
        edge += count - 3;
    }
    k->facet_triangle_start[source->facet_count] = triangle;
    b->diagonal_start[(source->facet_count + FACET_GRAIN - 1) / FACET_GRAIN] = edge;
    k->triangle_count = (size_t)triangle;
    k->edge_count = (size_t)edge;
}

/// Eight grid steps or, where source coordinates are coarser than the grid, eight of their roundings; squared.
static double least_side(const rbli_grid *grid)
{
    double far = 0;
    for (int axis = 0; axis < 3; axis++)
        far = cut_max(far, fabs(grid->center[axis]) * grid->inverse_step);
    double steps = 8 * cut_max(1, (far + 0x1p47) * 0x1p-52);
    return steps * steps;
}

rbl_status cut_prepare_complex(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    cut_complex *k = &state->complex;
    size_t facet_count = state->complex_view->facet_count, worker_count = (size_t)rbli_worker_count(ctx);
    builder b = {.state = state, .least_side = least_side(&state->grid)};
    RBL_TRY_ALLOC(k->boxes = rbli_alloc(ctx, facet_count, sizeof *k->boxes));
    RBL_TRY_ALLOC(k->measures = rbli_alloc(ctx, facet_count, sizeof *k->measures));
    RBL_TRY_ALLOC(k->facet_axes = rbli_alloc(ctx, facet_count, sizeof *k->facet_axes));
    RBL_TRY_ALLOC(k->facet_triangle_start = rbli_alloc(ctx, facet_count + 1, sizeof(int32_t)));
    RBL_TRY_ALLOC(b.workers = rbli_calloc(ctx, worker_count, sizeof *b.workers));
    RBL_TRY_ALLOC(b.diagonal_start = rbli_alloc(ctx, facet_count / FACET_GRAIN + 2, sizeof(int32_t)));
    place_facets(&b);
    RBL_TRY_ALLOC(k->triangles = rbli_alloc(ctx, k->triangle_count, sizeof *k->triangles));
    RBL_TRY_ALLOC(k->triangle_edges = rbli_alloc(ctx, k->triangle_count, sizeof *k->triangle_edges));
    RBL_TRY(grow_edges(ctx, k, k->edge_count));
    RBL_TRY(rbli_parallel_for(ctx, facet_count, FACET_GRAIN, facet_block, &b));
done:
    for (size_t i = 0; b.workers && i < worker_count; i++) {
        cut_polygon_free(ctx, &b.workers[i].polygon);
        rbli_free(ctx, b.workers[i].coordinates.data);
        rbli_free(ctx, b.workers[i].points.data);
        rbli_free(ctx, b.workers[i].corners.data);
    }
    rbli_free(ctx, b.workers);
    rbli_free(ctx, b.diagonal_start);
    return status;
}
