/// The complex side of the cut: edges, triangles of the facets, boxes of the facets.

#include "fracture/geometry/cut_internal.h"
#include "fracture/geometry/cut_polygon.h"

/// A fan whose lowest triangle is lower than this, relative to its longest side, is compared with ear
/// clipping.
static const double POOR_FAN = 1e-3;

enum { FACET_GRAIN = 512 };

typedef struct facet_scratch {
    cut_polygon polygon;
    RBLI_ARRAY(double) flat;     /* projected loop, twice, and its sides */
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

static double squared_distance(const double p[2], const double q[2])
{
    return (q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]);
}

/// Twice the area of a projected triangle.
static double triangle_area(const double p[2], const double q[2], const double r[2])
{
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
}

static double triangle_shape(const double *flat, int32_t a, int32_t b, int32_t c)
{
    const double *p = flat + 2 * a, *q = flat + 2 * b, *r = flat + 2 * c;
    double longest = cut_max(cut_max(squared_distance(p, q), squared_distance(q, r)), squared_distance(r, p));
    return longest > 0 ? triangle_area(p, q, r) / longest : 0;
}

/// Smallest height, squared and signed, of the triangles of the fan from a corner, or −∞ once below `least`.
/// @param flat   the loop, twice one after another
/// @param sides  squared lengths of its sides, twice
static double fan_height(
    const double (*flat)[2], const double *sides, int32_t count, int32_t apex, double least)
{
    double lowest = INFINITY, spoke = sides[apex];
    for (int32_t b = apex + 1; b + 1 < apex + count; b++) {
        double area = triangle_area(flat[apex], flat[b], flat[b + 1]);
        double next = squared_distance(flat[apex], flat[b + 1]);
        double longest = cut_max(cut_max(spoke, sides[b]), next);
        double height = longest > 0 ? area * fabs(area) / longest : 0;
        if (height < lowest) lowest = height;
        if (lowest < least) return -INFINITY;
        spoke = next;
    }
    return lowest;
}

static rbl_status push_corners(rbl_context *ctx, facet_scratch *w, int32_t i, int32_t j, int32_t k)
{
    rbl_status status = rbli_array_reserve(ctx, &w->corners, 3);
    if (status != RBL_OK) return status;
    int32_t *out = w->corners.data + w->corners.count;
    out[0] = i;
    out[1] = j;
    out[2] = k;
    w->corners.count += 3;
    return RBL_OK;
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
    double(*flat)[2] = (double(*)[2])w->flat.data, *sides = w->flat.data + 2 * twice;
    for (int32_t i = 0; i < count; i++) {
        const double *p = state->points[state->complex.first_point + loop[i]];
        for (int axis = 0; axis < 2; axis++)
            flat[i][axis] = flat[i + count][axis] = p[axes[axis]];
    }
    for (int32_t i = 0; i < count; i++)
        sides[i] = sides[i + count] = squared_distance(flat[i], flat[i + 1]);
    return RBL_OK;
}

/// The corner from which the lowest triangle of the fan is highest.
static int32_t best_apex(const facet_scratch *w, int32_t count)
{
    const double(*flat)[2] = (const double(*)[2])w->flat.data, *sides = w->flat.data + 4 * (size_t)count;
    int32_t apex = 0, tries = count <= 64 ? count : 64;
    double best = -INFINITY;
    for (int32_t i = 0; i < tries; i++) {
        double height = fan_height(flat, sides, count, i, best);
        if (height > best) {
            best = height;
            apex = i;
        }
    }
    return apex;
}

/// Triangles of a facet: the fan whose lowest triangle is highest, or ears where no fan is good.
static rbl_status triangulate_loop(rbl_context *ctx, const cut_state *state, facet_scratch *w,
    const int32_t *loop, int32_t count, const int32_t axes[2])
{
    rbl_status status = RBL_OK;
    w->corners.count = 0;
    if (count == 3) return push_corners(ctx, w, 0, 1, 2);
    RBL_TRY(project_loop(ctx, state, w, loop, count, axes));
    int32_t apex = best_apex(w, count);
    double worst_shape = INFINITY;
    for (int32_t i = apex + 1; i + 1 < apex + count; i++)
        worst_shape = cut_min(worst_shape, triangle_shape(w->flat.data, apex, i, i + 1));
    if (worst_shape < POOR_FAN) {
        int32_t loop_start[2] = {0, count};
        RBL_TRY(cut_polygon_triangulate(ctx, &w->polygon, (const double(*)[2])w->flat.data, loop_start, 1));
        double ears_shape = INFINITY;
        for (size_t i = 0; i < w->polygon.corners.count; i += 3) {
            const int32_t *c = w->polygon.corners.data + i;
            ears_shape = cut_min(ears_shape, triangle_shape(w->flat.data, c[0], c[1], c[2]));
        }
        if (ears_shape > worst_shape) {
            for (size_t i = 0; i < w->polygon.corners.count; i += 3) {
                const int32_t *c = w->polygon.corners.data + i;
                RBL_TRY(push_corners(ctx, w, c[0], c[1], c[2]));
            }
            return RBL_OK;
        }
    }
    for (int32_t i = apex + 1; i + 1 < apex + count; i++)
        RBL_TRY(push_corners(ctx, w, apex, i < count ? i : i - count, i + 1 < count ? i + 1 : i + 1 - count));
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

/// Writes a facet's triangles. Diagonals become flat edges from *edge_end on.
static rbl_status add_facet(
    rbl_context *ctx, cut_state *state, facet_scratch *w, int32_t facet, int32_t *edge_end)
{
    rbl_status status = RBL_OK;
    cut_complex *k = &state->complex;
    int32_t begin = k->source->facet_start[facet];
    int32_t count = k->source->facet_start[facet + 1] - begin;
    const int32_t *loop = k->source->facet_vertices + begin;
    double normal[3];
    loop_normal(state, loop, (size_t)count, normal);
    cut_projection_axes(normal, k->facet_axes[facet]);
    fill_box(state, facet, normal, &k->boxes[facet]);
    if (!k->boxes[facet].separates) return RBL_OK;
    RBL_TRY(triangulate_loop(ctx, state, w, loop, count, k->facet_axes[facet]));
    int32_t first_diagonal = *edge_end;
    size_t at = (size_t)k->facet_triangle_start[facet];
    for (size_t i = 0; i < w->corners.count; i += 3, at++) {
        cut_k_triangle *triangle = &k->triangles[at];
        triangle->facet = facet;
        for (int j = 0; j < 3; j++) {
            int32_t from = w->corners.data[i + (size_t)j],
                    to = w->corners.data[i + (size_t)(j == 2 ? 0 : j + 1)];
            int32_t u = k->first_point + loop[from], v = k->first_point + loop[to];
            triangle->v[j] = u;
            if (to == (from + 1 == count ? 0 : from + 1)) {
                triangle->edge[j] = k->loop_edge[begin + from];
                continue;
            }
            int32_t low = u < v ? u : v, high = u < v ? v : u;
            int32_t edge = first_diagonal;
            while (edge < *edge_end && (k->edges[edge][0] != low || k->edges[edge][1] != high))
                edge++;
            if (edge == *edge_end) {
                k->edges[edge][0] = low;
                k->edges[edge][1] = high;
                ++*edge_end;
            }
            triangle->edge[j] = edge;
        }
    }
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
        rbli_free(ctx, b.workers[i].corners.data);
    }
    rbli_free(ctx, b.workers);
    rbli_free(ctx, b.diagonal_start);
    return status;
}
