/// The complex side of the cut: edges, triangles of the facets, their planes and boxes.

#include "fracture/geometry/cut_internal.h"
#include "fracture/geometry/cut_polygon.h"

/// A fan whose lowest triangle is lower than this, relative to its longest side, is compared with ear
/// clipping.
static const double POOR_FAN = 1e-3;

typedef struct builder {
    cut_state *state;
    cut_polygon polygon;
    RBLI_ARRAY(double) flat;     /* projected loop, twice, and its sides */
    RBLI_ARRAY(int32_t) corners; /* triangles of the facet, three loop positions each */
    size_t triangle_capacity, edge_capacity;
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

static rbl_status push_corners(rbl_context *ctx, builder *b, int32_t i, int32_t j, int32_t k)
{
    rbl_status status = rbli_array_reserve(ctx, &b->corners, 3);
    if (status != RBL_OK) return status;
    int32_t *out = b->corners.data + b->corners.count;
    out[0] = i;
    out[1] = j;
    out[2] = k;
    b->corners.count += 3;
    return RBL_OK;
}

/// Projects a loop, twice one after another, so that nothing that goes round need turn back; then the squared
/// lengths of its sides.
static rbl_status project_loop(
    rbl_context *ctx, builder *b, const int32_t *loop, int32_t count, const int32_t axes[2])
{
    size_t twice = 2 * (size_t)count;
    b->flat.count = 0;
    rbl_status status = rbli_array_reserve(ctx, &b->flat, 3 * twice);
    if (status != RBL_OK) return status;
    double(*flat)[2] = (double(*)[2])b->flat.data, *sides = b->flat.data + 2 * twice;
    for (int32_t i = 0; i < count; i++) {
        const double *p = b->state->points[b->state->complex.first_point + loop[i]];
        for (int axis = 0; axis < 2; axis++)
            flat[i][axis] = flat[i + count][axis] = p[axes[axis]];
    }
    for (int32_t i = 0; i < count; i++)
        sides[i] = sides[i + count] = squared_distance(flat[i], flat[i + 1]);
    return RBL_OK;
}

/// The corner from which the lowest triangle of the fan is highest.
static int32_t best_apex(const builder *b, int32_t count)
{
    const double(*flat)[2] = (const double(*)[2])b->flat.data, *sides = b->flat.data + 4 * (size_t)count;
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
static rbl_status triangulate_loop(
    rbl_context *ctx, builder *b, const int32_t *loop, int32_t count, const int32_t axes[2])
{
    rbl_status status = RBL_OK;
    b->corners.count = 0;
    if (count == 3) return push_corners(ctx, b, 0, 1, 2);
    RBL_TRY(project_loop(ctx, b, loop, count, axes));
    int32_t apex = best_apex(b, count);
    double worst_shape = INFINITY;
    for (int32_t i = apex + 1; i + 1 < apex + count; i++)
        worst_shape = fmin(worst_shape, triangle_shape(b->flat.data, apex, i, i + 1));
    if (worst_shape < POOR_FAN) {
        int32_t loop_start[2] = {0, count};
        RBL_TRY(cut_polygon_triangulate(ctx, &b->polygon, (const double(*)[2])b->flat.data, loop_start, 1));
        double ears_shape = INFINITY;
        for (size_t i = 0; i < b->polygon.corners.count; i += 3) {
            const int32_t *c = b->polygon.corners.data + i;
            ears_shape = fmin(ears_shape, triangle_shape(b->flat.data, c[0], c[1], c[2]));
        }
        if (ears_shape > worst_shape) {
            for (size_t i = 0; i < b->polygon.corners.count; i += 3) {
                const int32_t *c = b->polygon.corners.data + i;
                RBL_TRY(push_corners(ctx, b, c[0], c[1], c[2]));
            }
            return RBL_OK;
        }
    }
    for (int32_t i = apex + 1; i + 1 < apex + count; i++)
        RBL_TRY(push_corners(ctx, b, apex, i < count ? i : i - count, i + 1 < count ? i + 1 : i + 1 - count));
done:
    return status;
}

static rbl_status add_edge(rbl_context *ctx, builder *b, int32_t from, int32_t to, int32_t *edge)
{
    cut_complex *k = &b->state->complex;
    if (k->edge_count == b->edge_capacity) {
        size_t capacity = b->edge_capacity + b->edge_capacity / 2 + 64;
        void *moved = rbli_realloc(ctx, k->edges, capacity, sizeof *k->edges);
        if (!moved) return RBL_ERR_NO_MEMORY;
        k->edges = moved;
        b->edge_capacity = capacity;
    }
    *edge = (int32_t)k->edge_count++;
    k->edges[*edge][0] = from < to ? from : to;
    k->edges[*edge][1] = from < to ? to : from;
    return RBL_OK;
}

/// Gives each pair of neighbours in a loop an edge; buckets by the smaller vertex.
static rbl_status number_edges(rbl_context *ctx, builder *b)
{
    rbl_status status = RBL_OK;
    cut_complex *k = &b->state->complex;
    const rbli_cell_complex *source = k->source;
    int32_t *head = NULL, *next = NULL;
    size_t corner_count = (size_t)source->facet_start[source->facet_count];
    RBL_TRY_ALLOC(head = rbli_alloc(ctx, source->vertex_count, sizeof *head));
    RBL_TRY_ALLOC(next = rbli_alloc(ctx, corner_count, sizeof *next)); /* next edge of the same bucket */
    RBL_TRY_ALLOC(k->loop_edge = rbli_alloc(ctx, corner_count, sizeof *k->loop_edge));
    for (size_t v = 0; v < source->vertex_count; v++)
        head[v] = -1;
    for (size_t f = 0; f < source->facet_count; f++) {
        int32_t begin = source->facet_start[f], end = source->facet_start[f + 1];
        for (int32_t i = begin; i < end; i++) {
            int32_t u = source->facet_vertices[i], v = source->facet_vertices[i + 1 == end ? begin : i + 1];
            int32_t low = u < v ? u : v, high = u < v ? v : u;
            int32_t edge = head[low];
            while (edge >= 0 && k->edges[edge][1] != k->first_point + high)
                edge = next[edge];
            if (edge < 0) {
                RBL_TRY(add_edge(ctx, b, k->first_point + low, k->first_point + high, &edge));
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

/// Appends a facet's triangles; diagonals become flat edges.
static rbl_status add_facet(rbl_context *ctx, builder *b, int32_t facet)
{
    rbl_status status = RBL_OK;
    cut_complex *k = &b->state->complex;
    int32_t begin = k->source->facet_start[facet];
    int32_t count = k->source->facet_start[facet + 1] - begin;
    const int32_t *loop = k->source->facet_vertices + begin;
    double normal[3];
    loop_normal(b->state, loop, (size_t)count, normal);
    cut_projection_axes(normal, k->facet_axes[facet]);
    fill_box(b->state, facet, normal, &k->boxes[facet]);
    if (!k->boxes[facet].separates) return RBL_OK;
    RBL_TRY(triangulate_loop(ctx, b, loop, count, k->facet_axes[facet]));
    size_t first_diagonal = k->edge_count;
    for (size_t i = 0; i < b->corners.count; i += 3) {
        cut_k_triangle *triangle = &k->triangles[k->triangle_count];
        triangle->facet = facet;
        for (int j = 0; j < 3; j++) {
            int32_t from = b->corners.data[i + (size_t)j],
                    to = b->corners.data[i + (size_t)(j == 2 ? 0 : j + 1)];
            int32_t u = k->first_point + loop[from], v = k->first_point + loop[to];
            triangle->v[j] = u;
            if (to == (from + 1 == count ? 0 : from + 1)) {
                triangle->edge[j] = k->loop_edge[begin + from];
                continue;
            }
            int32_t low = u < v ? u : v, high = u < v ? v : u;
            int32_t edge = (int32_t)first_diagonal;
            while ((size_t)edge < k->edge_count && (k->edges[edge][0] != low || k->edges[edge][1] != high))
                edge++;
            if ((size_t)edge == k->edge_count) RBL_TRY(add_edge(ctx, b, u, v, &edge));
            triangle->edge[j] = edge;
        }
        const double(*p)[3] = (const double(*)[3])b->state->points;
        k->planes[k->triangle_count] =
            cut_plane_make(p[triangle->v[0]], p[triangle->v[1]], p[triangle->v[2]]);
        k->triangle_count++;
    }
done:
    return status;
}

rbl_status cut_prepare_complex(rbl_context *ctx, cut_state *state)
{
    rbl_status status = RBL_OK;
    cut_complex *k = &state->complex;
    const rbli_cell_complex *source = state->complex_view;
    k->source = source;
    k->first_point = (int32_t)state->mesh_view->vertex_count;
    builder b = {.state = state};
    size_t corner_count = (size_t)source->facet_start[source->facet_count];
    size_t triangle_count = corner_count - 2 * source->facet_count;
    for (size_t f = 0; f < source->facet_count; f++)
        if (source->facet_start[f + 1] - source->facet_start[f] < 3) {
            status = rbli_fail(ctx, RBL_ERR_ARGUMENT, "facet %zu has fewer than three vertices", f);
            goto done;
        }
    if (corner_count > INT32_MAX / 4) {
        status = rbli_fail(ctx, RBL_ERR_LIMIT, "the complex has too many facets (%zu)", source->facet_count);
        goto done;
    }
    RBL_TRY_ALLOC(k->triangles = rbli_alloc(ctx, triangle_count, sizeof *k->triangles));
    RBL_TRY_ALLOC(k->planes = rbli_alloc(ctx, triangle_count, sizeof *k->planes));
    RBL_TRY_ALLOC(k->boxes = rbli_alloc(ctx, source->facet_count, sizeof *k->boxes));
    RBL_TRY_ALLOC(k->facet_axes = rbli_alloc(ctx, source->facet_count, sizeof *k->facet_axes));
    RBL_TRY_ALLOC(k->facet_triangle_start = rbli_alloc(ctx, source->facet_count + 1, sizeof(int32_t)));
    RBL_TRY(number_edges(ctx, &b));
    for (size_t f = 0; f < source->facet_count; f++) {
        if ((f & 1023) == 0 && rbli_cancelled(ctx)) {
            status = RBL_ERR_CANCELLED;
            goto done;
        }
        k->facet_triangle_start[f] = (int32_t)k->triangle_count;
        RBL_TRY(add_facet(ctx, &b, (int32_t)f));
    }
    k->facet_triangle_start[source->facet_count] = (int32_t)k->triangle_count;
done:
    cut_polygon_free(ctx, &b.polygon);
    rbli_free(ctx, b.flat.data);
    rbli_free(ctx, b.corners.data);
    return status;
}
