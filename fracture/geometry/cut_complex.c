/// The complex side of the cut: edges, triangles of the facets, boxes of the facets.

#include "fracture/geometry/cut_internal.h"
#include "fracture/geometry/cut_polygon.h"

/// A fan whose lowest triangle is lower than this, relative to its longest side, is compared with ear
/// clipping.
static const double POOR_FAN = 1e-3;

enum {
    FACET_GRAIN = 512,
    LONG_LOOP = 16, /* corners; it pays to give a fan up early */
};

/// A projected loop, twice one after another, and the squared lengths of its sides.
typedef struct flat_loop {
    const double *x, *y, *sides; /* [2 × count] */
    int32_t count;
} flat_loop;

typedef struct facet_scratch {
    cut_polygon polygon;
    flat_loop loop;
    RBLI_ARRAY(double) flat;     /* of the loop */
    RBLI_ARRAY(double) points;   /* the loop's as pairs */
    RBLI_ARRAY(int32_t) corners; /* triangles of the facet, three loop positions each */
    char apart[CUT_APART_BYTES];
} facet_scratch;

typedef struct builder {
    cut_state *state;
    facet_scratch *workers;
    int32_t *diagonal_start; /* [blocks of facets] their first flat edge */
} builder;

/// Area normal of a loop (Newell).
static void loop_normal(const cut_state *state, const int32_t *loop, size_t count, double normal[3])
{
    const double *base = state->points[state->complex.first_point + loop[0]];
    normal[0] = normal[1] = normal[2] = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        const double *a = state->points[state->complex.first_point + loop[i]];
        const double *b = state->points[state->complex.first_point + loop[i + 1]];
        double u[3] = {a[0] - base[0], a[1] - base[1], a[2] - base[2]};
        double v[3] = {b[0] - base[0], b[1] - base[1], b[2] - base[2]};
        normal[0] += u[1] * v[2] - u[2] * v[1];
        normal[1] += u[2] * v[0] - u[0] * v[2];
        normal[2] += u[0] * v[1] - u[1] * v[0];
    }
}

typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_flags __attribute__((vector_size(16)));

static inline pair load_pair(const double *p)
{
    pair two;
    memcpy(&two, p, sizeof two);
    return two;
}

/// The larger ones, the smaller ones.
static inline pair max_pair(pair a, pair b)
{
#ifdef __SSE2__
    return (pair)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return (pair){cut_max(a[0], b[0]), cut_max(a[1], b[1])};
#endif
}
static inline pair min_pair(pair a, pair b)
{
#ifdef __SSE2__
    return (pair)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return (pair){cut_min(a[0], b[0]), cut_min(a[1], b[1])};
#endif
}

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

/// Smallest height, squared and signed, of the triangles of the fan from a corner of four or more; of a long loop
/// some height below `least` where there is one.
static double fan_height(const flat_loop *l, int32_t apex, double least)
{
    pair lowest = {INFINITY, INFINITY};
    int32_t last = apex + l->count - 3; /* first of the last two triangles */
    for (int32_t b = apex + 1;; b = b + 2 < last ? b + 2 : last) {
        pair ux = load_pair(l->x + b) - l->x[apex], uy = load_pair(l->y + b) - l->y[apex];
        pair wx = load_pair(l->x + b + 1) - l->x[apex], wy = load_pair(l->y + b + 1) - l->y[apex];
        pair area = ux * wy - uy * wx, spoke = ux * ux + uy * uy, next = wx * wx + wy * wy;
        pair longest = max_pair(max_pair(load_pair(l->sides + b), spoke), next);
        pair height = area * max_pair(area, -area) / longest;
        lowest = min_pair((pair)((pair_flags)height & (longest > 0)), lowest);
        if (b == last) break;
        if (l->count > LONG_LOOP && cut_min(lowest[0], lowest[1]) < least) break;
    }
    return cut_min(lowest[0], lowest[1]);
}

/// Projects a loop, twice one after another, so that nothing that goes round need turn back; then the squared
/// lengths of its sides.
static rbl_status project_loop(rbl_context *ctx, const cut_state *state, facet_scratch *w,
    const int32_t *loop, int32_t count, const int32_t axes[2])
{
    size_t twice = 2 * (size_t)count;
    w->flat.count = 0;
    rbl_status status = rbli_array_reserve(ctx, &w->flat, 3 * twice);
    if (status != RBL_OK) return status;
    double *x = w->flat.data, *y = x + twice, *sides = y + twice;
    for (int32_t i = 0; i < count; i++) {
        const double *p = state->points[state->complex.first_point + loop[i]];
        x[i] = x[i + count] = p[axes[0]];
        y[i] = y[i + count] = p[axes[1]];
    }
    w->loop = (flat_loop){x, y, sides, count};
    for (int32_t i = 0; i < count; i++)
        sides[i] = sides[i + count] = squared_distance(&w->loop, i, i + 1);
    return RBL_OK;
}

/// The corner from which the lowest triangle of the fan is highest. @param height  set to the square of that
static int32_t best_apex(const flat_loop *l, double *height)
{
    int32_t apex = 0, tries = l->count <= 64 ? l->count : 64;
    *height = -INFINITY;
    for (int32_t i = 0; i < tries; i++) {
        double found = fan_height(l, i, *height);
        apex = found > *height ? i : apex;
        *height = cut_max(*height, found);
    }
    return apex;
}

/// Ears instead of the fan where that is better: then `corners` are set.
static rbl_status try_ears(rbl_context *ctx, facet_scratch *w, double fan_shape)
{
    rbl_status status = RBL_OK;
    const flat_loop *l = &w->loop;
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
/// @param size  squared, of the projected loop or more
/// @param apex  set to the fan's corner; `corners` are set instead of it where there are any
static rbl_status triangulate_loop(rbl_context *ctx, const cut_state *state, facet_scratch *w,
    const int32_t *loop, int32_t count, const int32_t axes[2], double size, int32_t *apex)
{
    rbl_status status = RBL_OK;
    double height, worst_shape = INFINITY;
    *apex = 0;
    w->corners.count = 0;
    if (count == 3) return RBL_OK;
    RBL_TRY(project_loop(ctx, state, w, loop, count, axes));
    *apex = best_apex(&w->loop, &height);
    bool good = height > 2 * POOR_FAN * POOR_FAN * size; /* a shape, squared, is height over side */
    for (int32_t i = *apex + 1; i + 1 < *apex + count && !good; i++)
        worst_shape = cut_min(worst_shape, triangle_shape(&w->loop, *apex, i, i + 1));
    if (worst_shape < POOR_FAN) RBL_TRY(try_ears(ctx, w, worst_shape));
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

/// Gives each pair of neighbours in a loop an edge; buckets by the smaller vertex.
static rbl_status number_edges(rbl_context *ctx, cut_complex *k)
{
    rbl_status status = RBL_OK;
    const rbli_cell_complex *source = k->source;
    int32_t *head = NULL, *next = NULL;
    size_t corner_count = (size_t)source->facet_start[source->facet_count], capacity = 0;
    RBL_TRY_ALLOC(head = rbli_alloc(ctx, source->vertex_count, sizeof *head));
    RBL_TRY_ALLOC(next = rbli_alloc(ctx, corner_count, sizeof *next)); /* next edge of the same bucket */
    RBL_TRY_ALLOC(k->loop_edge = rbli_alloc(ctx, corner_count, sizeof *k->loop_edge));
    for (size_t v = 0; v < source->vertex_count; v++)
        head[v] = -1;
    for (size_t f = 0; f < source->facet_count; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        int32_t begin = source->facet_start[f], end = source->facet_start[f + 1];
        for (int32_t i = begin; i < end; i++) {
            int32_t u = source->facet_vertices[i], v = source->facet_vertices[i + 1 == end ? begin : i + 1];
            int32_t low = u < v ? u : v, high = u < v ? v : u;
            int32_t edge = head[low];
            while (edge >= 0 && k->edges[edge][1] != k->first_point + high)
                edge = next[edge];
            if (edge < 0) {
                if (k->edge_count == capacity) RBL_TRY(grow_edges(ctx, k, capacity += capacity / 2 + 4096));
                edge = (int32_t)k->edge_count++;
                k->edges[edge][0] = k->first_point + low;
                k->edges[edge][1] = k->first_point + high;
                next[edge] = head[low];
                head[low] = edge;
            }
            k->loop_edge[i] = edge;
        }
    }
    k->real_edge_count = k->edge_count;
done:
    rbli_free(ctx, head);
    rbli_free(ctx, next);
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

static void fill_box(const cut_state *state, int32_t facet, const double normal[3], cut_k_box *box)
{
    const rbli_cell_complex *source = state->complex_view;
    const int32_t *loop = source->facet_vertices + source->facet_start[facet];
    int32_t count = source->facet_start[facet + 1] - source->facet_start[facet];
    const double(*points)[3] = (const double(*)[3])state->points + state->complex.first_point;
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    double lowest = INFINITY, highest = -INFINITY;
    box->separates = source->facet_cells[facet][0] != source->facet_cells[facet][1];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = cut_min(low[axis], points[loop[i]][axis]);
            high[axis] = cut_max(high[axis], points[loop[i]][axis]);
        }
    box->low[3] = box->high[3] = 0;
    for (int axis = 0; axis < 3; axis++) {
        box->low[axis] = (float)(low[axis] - fabs(low[axis]) * 0x1p-23);
        box->high[axis] = (float)(high[axis] + fabs(high[axis]) * 0x1p-23);
        box->normal[axis] = length > 0 ? (float)(normal[axis] / length) : 0;
    }
    for (int32_t i = 0; i < count; i++) {
        double height = 0;
        for (int axis = 0; axis < 3; axis++)
            height += box->normal[axis] * points[loop[i]][axis];
        lowest = cut_min(lowest, height);
        highest = cut_max(highest, height);
    }
    box->offset = 0.5 * (lowest + highest);
    box->thickness = 0.5 * (highest - lowest) + 1; /* a grid step more than the rounding of this */
}

/// A facet whose triangles are being written.
typedef struct facet_writer {
    cut_complex *k;
    const int32_t *loop, *loop_edge;
    int32_t count, facet;
    int32_t first_diagonal, *edge_end;
    cut_k_triangle *next;
} facet_writer;

/// The flat edge between two corners of the loop that are no neighbours.
static inline int32_t diagonal_of(const facet_writer *f, int32_t from, int32_t to)
{
    int32_t(*edges)[2] = f->k->edges;
    int32_t u = f->k->first_point + f->loop[from], v = f->k->first_point + f->loop[to];
    int32_t low = u < v ? u : v, high = u < v ? v : u;
    int32_t edge = *f->edge_end - 1; /* the last one is the likeliest */
    while (edge >= f->first_diagonal && (edges[edge][0] != low || edges[edge][1] != high))
        edge--;
    if (edge >= f->first_diagonal) return edge;
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
        *f->next++ = (cut_k_triangle){{base + f->loop[apex], base + f->loop[b], base + f->loop[c]},
            {spoke, f->loop_edge[b], next}, f->facet};
        spoke = next;
        b = c;
    }
}

static void write_ears(facet_writer *f, const int32_t *corners, size_t corner_count)
{
    for (size_t i = 0; i < corner_count; i += 3, f->next++) {
        f->next->facet = f->facet;
        for (size_t j = 0; j < 3; j++) {
            int32_t from = corners[i + j], to = corners[i + (j == 2 ? 0 : j + 1)];
            f->next->v[j] = f->k->first_point + f->loop[from];
            f->next->edge[j] =
                to == (from + 1 == f->count ? 0 : from + 1) ? f->loop_edge[from] : diagonal_of(f, from, to);
        }
    }
}

/// Writes a facet's triangles. Diagonals become flat edges from *edge_end on.
static rbl_status add_facet(
    rbl_context *ctx, cut_state *state, facet_scratch *w, int32_t facet, int32_t *edge_end)
{
    rbl_status status = RBL_OK;
    cut_complex *k = &state->complex;
    int32_t begin = k->source->facet_start[facet];
    int32_t count = k->source->facet_start[facet + 1] - begin;
    const int32_t *loop = k->source->facet_vertices + begin, *axes = k->facet_axes[facet];
    const cut_k_box *box = &k->boxes[facet];
    double normal[3], size = 0;
    loop_normal(state, loop, (size_t)count, normal);
    cut_projection_axes(normal, k->facet_axes[facet]);
    fill_box(state, facet, normal, &k->boxes[facet]);
    if (!box->separates) return RBL_OK;
    for (int i = 0; i < 2; i++) {
        double extent = (double)box->high[axes[i]] - box->low[axes[i]];
        size += extent * extent;
    }
    int32_t apex;
    RBL_TRY(triangulate_loop(ctx, state, w, loop, count, axes, size, &apex));
    facet_writer writer = {k, loop, k->loop_edge + begin, count, facet, *edge_end, edge_end,
        k->triangles + k->facet_triangle_start[facet]};
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
        status = add_facet(ctx, b->state, &b->workers[worker], (int32_t)f, &edge);
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

rbl_status cut_prepare_complex(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    cut_complex *k = &state->complex;
    size_t facet_count = state->complex_view->facet_count, worker_count = (size_t)rbli_worker_count(ctx);
    builder b = {.state = state};
    RBL_TRY_ALLOC(k->boxes = rbli_alloc(ctx, facet_count, sizeof *k->boxes));
    RBL_TRY_ALLOC(k->facet_axes = rbli_alloc(ctx, facet_count, sizeof *k->facet_axes));
    RBL_TRY_ALLOC(k->facet_triangle_start = rbli_alloc(ctx, facet_count + 1, sizeof(int32_t)));
    RBL_TRY_ALLOC(b.workers = rbli_calloc(ctx, worker_count, sizeof *b.workers));
    RBL_TRY_ALLOC(b.diagonal_start = rbli_alloc(ctx, facet_count / FACET_GRAIN + 2, sizeof(int32_t)));
    place_facets(&b);
    RBL_TRY_ALLOC(k->triangles = rbli_alloc(ctx, k->triangle_count, sizeof *k->triangles));
    RBL_TRY(grow_edges(ctx, k, k->edge_count));
    RBL_TRY(rbli_parallel_for(ctx, facet_count, FACET_GRAIN, facet_block, &b));
done:
    for (size_t i = 0; b.workers && i < worker_count; i++) {
        cut_polygon_free(ctx, &b.workers[i].polygon);
        rbli_free(ctx, b.workers[i].flat.data);
        rbli_free(ctx, b.workers[i].points.data);
        rbli_free(ctx, b.workers[i].corners.data);
    }
    rbli_free(ctx, b.workers);
    rbli_free(ctx, b.diagonal_start);
    return status;
}
