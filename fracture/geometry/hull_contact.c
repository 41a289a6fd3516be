/// The common part of two convex polyhedra is the hull of what each one's edges have inside the other (Cyrus
/// and Beck 1978); its shadow is the planar hull of their ends (Andrew 1979).

#include "fracture/geometry/hull_contact.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/gjk.h"
#include "fracture/geometry/hull_edit.h"
#include "fracture/geometry/radix_sort.h"

void rbli_hull_contact_scratch_free(rbl_context *ctx, rbli_hull_contact_scratch *scratch)
{
    rbli_free(ctx, scratch->points);
    *scratch = (rbli_hull_contact_scratch){0};
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Two axes across the normal.
static void frame_across(const double normal[3], double u[3], double v[3])
{
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) < fabs(normal[least])) least = k;
    double square = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = (k == least) - normal[least] * normal[k];
        square += u[k] * u[k];
    }
    for (int k = 0; k < 3; k++)
        u[k] /= sqrt(square);
    for (int k = 0; k < 3; k++)
        v[k] = normal[(k + 1) % 3] * u[(k + 2) % 3] - normal[(k + 2) % 3] * u[(k + 1) % 3];
}

/* ---- shadows ---- */

static int compare_points(const void *a, const void *b)
{
    const double *p = a, *q = b;
    if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

/// Twice the area of (a, b, c), positive counter-clockwise.
static double turn(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Appends the lower hull of sorted points to `hull`; with `backwards` the upper one.
static size_t half_hull(
    const double (*points)[2], size_t count, bool backwards, double (*hull)[2], size_t used)
{
    size_t base = used;
    for (size_t i = 0; i < count; i++) {
        const double *p = points[backwards ? count - 1 - i : i];
        while (used >= base + 2 && turn(hull[used - 2], hull[used - 1], p) <= 0)
            used--;
        memcpy(hull[used++], p, sizeof *hull);
    }
    return used - 1; /* the last point begins the other half */
}

/// Area and least width of the hull of points; sorts them. `hull` has room for twice as many.
static void measure_shadow(double (*points)[2], size_t count, double (*hull)[2], double *area, double *width)
{
    *area = *width = 0;
    if (count < 3) return;
    qsort(points, count, sizeof *points, compare_points);
    size_t used = half_hull((const double(*)[2])points, count, false, hull, 0);
    used = half_hull((const double(*)[2])points, count, true, hull, used);
    if (used < 3) return;
    double size = 0;
    for (size_t i = 0; i < used; i++)
        size = fmax(size, fmax(fabs(hull[i][0] - hull[0][0]), fabs(hull[i][1] - hull[0][1])));
    *width = HUGE_VAL;
    for (size_t i = 0; i < used; i++) {
        const double *p = hull[i], *q = hull[i + 1 < used ? i + 1 : 0];
        double x = q[0] - p[0], y = q[1] - p[1], length = sqrt(x * x + y * y), most = 0;
        *area += turn(hull[0], p, q) / 2;
        if (length <= 1e-7 * size) continue; /* corners that rounding parts: no direction */
        for (size_t j = 0; j < used; j++)
            most = fmax(most, turn(p, q, hull[j]) / length);
        *width = fmin(*width, most);
    }
    if (*width == HUGE_VAL) *width = 0;
}

static size_t project(const rbli_hull_shape *hull, const double u[3], const double v[3], double (*out)[2])
{
    for (size_t i = 0; i < hull->point_count; i++) {
        out[i][0] = dot(hull->points[i], u);
        out[i][1] = dot(hull->points[i], v);
    }
    return hull->point_count;
}

/* ---- planes and edges of a hull ---- */

/* Facets whose corners are less than this part of the hull's size off a plane are one. */
static const double flat = 1e-10;

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/// Work on one hull: triangles of one plane have one root.
typedef struct shaping {
    const rbli_hull *hull;
    double size;
    int32_t *parent;
    double (*normals)[3];        /* [triangles] zero for slivers */
    rbli_keyed *sides, *scratch; /* [3 · triangles] sides of triangles by their ends, twins side by side */
} shaping;

/// Whether the corners of both triangles lie on both planes; a sliver has none.
static bool is_flat(const shaping *w, size_t s, size_t t)
{
    const rbli_hull *h = w->hull;
    const double *n[2] = {w->normals[s], w->normals[t]};
    for (int i = 0; i < 2; i++) {
        if (dot(n[i], n[i]) == 0) return true;
        double offset = dot(n[i], h->points[h->triangles[i ? t : s][0]]);
        for (int k = 0; k < 3; k++)
            if (dot(n[i], h->points[h->triangles[i ? s : t][k]]) < offset - flat * w->size) return false;
    }
    return true;
}

/// Puts triangles of one plane together; a sliver goes with one neighbour, so that it joins no two planes.
static rbl_status join_flat(rbl_context *ctx, shaping *w)
{
    const rbli_hull *h = w->hull;
    size_t count = 3 * h->triangle_count;
    for (size_t t = 0; t < h->triangle_count; t++) {
        w->parent[t] = (int32_t)t;
        rbli_hull_normal(h, t, w->normals[t]);
        for (int k = 0; k < 3; k++) {
            uint32_t i = (uint32_t)h->triangles[t][k], j = (uint32_t)h->triangles[t][(k + 1) % 3];
            w->sides[3 * t + (size_t)k] =
                (rbli_keyed){i < j ? (uint64_t)i << 32 | j : (uint64_t)j << 32 | i, (int32_t)t};
        }
    }
    rbl_status status = rbli_radix_sort_polled(ctx, w->sides, w->scratch, count);
    for (size_t i = 0; status == RBL_OK && i + 1 < count; i++) {
        if (w->sides[i].key != w->sides[i + 1].key) continue;
        int32_t s = w->sides[i].index, t = w->sides[i + 1].index;
        bool sliver_s = dot(w->normals[s], w->normals[s]) == 0,
             sliver_t = dot(w->normals[t], w->normals[t]) == 0;
        if ((sliver_s && w->parent[s] != s) || (sliver_t && w->parent[t] != t)) continue;
        if (!is_flat(w, (size_t)s, (size_t)t)) continue;
        int32_t x = find_root(w->parent, s), y = find_root(w->parent, t);
        if (sliver_s)
            w->parent[x] = y;
        else
            w->parent[y] = x;
    }
    return status;
}

/// A plane for each root, behind which all the points lie.
static void collect_planes(const shaping *w, rbli_hull_shape *out)
{
    for (size_t t = 0; t < w->hull->triangle_count; t++) {
        if (w->parent[t] != (int32_t)t || dot(w->normals[t], w->normals[t]) == 0) continue;
        double *plane = out->planes[out->plane_count++];
        memcpy(plane, w->normals[t], 3 * sizeof *plane);
        plane[3] = -HUGE_VAL;
        for (size_t i = 0; i < out->point_count; i++)
            plane[3] = fmax(plane[3], dot(plane, out->points[i]));
    }
}

static void collect_edges(const shaping *w, rbli_hull_shape *out)
{
    size_t count = 3 * w->hull->triangle_count;
    for (size_t i = 0; i < count; i++) {
        bool twin = i + 1 < count && w->sides[i].key == w->sides[i + 1].key;
        bool inner =
            twin && find_root(w->parent, w->sides[i].index) == find_root(w->parent, w->sides[i + 1].index);
        if (!inner) {
            out->edges[out->edge_count][0] = (int32_t)(w->sides[i].key >> 32);
            out->edges[out->edge_count++][1] = (int32_t)(uint32_t)w->sides[i].key;
        }
        i += twin;
    }
}

void rbli_hull_shape_free(rbl_context *ctx, rbli_hull_shape *shape)
{
    rbli_free(ctx, shape->memory);
    *shape = (rbli_hull_shape){0};
}

/// Copies all into one block.
static rbl_status pack_shape(rbl_context *ctx, const rbli_hull_shape *from, rbli_hull_shape *out)
{
    rbli_hull_shape made = *from;
    size_t points = made.point_count * sizeof *made.points, planes = made.plane_count * sizeof *made.planes,
           edges = made.edge_count * sizeof *made.edges;
    char *memory = rbli_alloc(ctx, 1, points + planes + edges);
    if (!memory) return RBL_ERR_NO_MEMORY;
    if (points) memcpy(memory, from->points, points);
    if (planes) memcpy(memory + points, from->planes, planes);
    if (edges) memcpy(memory + points + planes, from->edges, edges);
    made.memory = memory;
    made.points = (const double(*)[3])(void *)memory;
    made.planes = (double(*)[4])(void *)(memory + points);
    made.edges = (int32_t(*)[2])(void *)(memory + points + planes);
    *out = made;
    return RBL_OK;
}

rbl_status rbli_hull_shape_create(rbl_context *ctx, const rbli_hull *hull, bool facets, rbli_hull_shape *out)
{
    rbl_status status = RBL_OK;
    size_t count = hull->triangle_count;
    double low[3], high[3];
    shaping w = {.hull = hull};
    rbli_hull_shape made = {.points = (const double(*)[3])hull->points, .point_count = hull->point_count};
    if (!facets) return pack_shape(ctx, &made, out);
    rbli_hull_bounds(hull, low, high);
    for (int k = 0; k < 3; k++)
        w.size = fmax(w.size, high[k] - low[k]);
    RBL_TRY_ALLOC(w.parent = rbli_alloc(ctx, count, sizeof *w.parent));
    RBL_TRY_ALLOC(w.normals = rbli_alloc(ctx, count, sizeof *w.normals));
    RBL_TRY_ALLOC(w.sides = rbli_alloc(ctx, 3 * count, sizeof *w.sides));
    RBL_TRY_ALLOC(w.scratch = rbli_alloc(ctx, 3 * count, sizeof *w.scratch));
    RBL_TRY_ALLOC(made.planes = rbli_alloc(ctx, count, sizeof *made.planes));
    RBL_TRY_ALLOC(made.edges = rbli_alloc(ctx, 3 * count, sizeof *made.edges));
    RBL_TRY(join_flat(ctx, &w));
    collect_planes(&w, &made);
    collect_edges(&w, &made);
    RBL_TRY(pack_shape(ctx, &made, out));
done:
    rbli_free(ctx, w.parent);
    rbli_free(ctx, w.normals);
    rbli_free(ctx, w.sides);
    rbli_free(ctx, w.scratch);
    rbli_free(ctx, made.planes);
    rbli_free(ctx, made.edges);
    return status;
}

/* ---- the common part ---- */

/// The part of p … q inside all planes of a hull that is `shift` away, as two points of the shadow. @return 0
/// when there is none
static size_t clip_edge(const double p[3], const double q[3], const double shift[3],
    const rbli_hull_shape *hull, const double u[3], const double v[3], double (*out)[2])
{
    double begin = 0, end = 1, from[3], along[3];
    for (int k = 0; k < 3; k++) {
        from[k] = p[k] - shift[k];
        along[k] = q[k] - p[k];
    }
    for (size_t i = 0; i < hull->plane_count; i++) {
        const double *plane = hull->planes[i];
        double height = dot(plane, from) - plane[3], slope = dot(plane, along);
        if (height > 0 && height + slope > 0) return 0;
        if (height > 0) begin = fmax(begin, -height / slope);
        if (height + slope > 0) end = fmin(end, -height / slope);
    }
    if (begin > end) return 0;
    for (int i = 0; i < 2; i++) {
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = p[k] + (i ? end : begin) * along[k];
        out[i][0] = dot(at, u);
        out[i][1] = dot(at, v);
    }
    return 2;
}

/// What the edges of `hull` have inside the other.
static size_t clip_edges(const rbli_hull_shape *hull, const rbli_hull_shape *other, const double shift[3],
    const double u[3], const double v[3], double (*out)[2])
{
    size_t count = 0;
    for (size_t e = 0; e < hull->edge_count; e++)
        count += clip_edge(hull->points[hull->edges[e][0]], hull->points[hull->edges[e][1]], shift, other, u,
            v, out + count);
    return count;
}

/// The widest gap along the normals of a's facets, if it is wider than `gap`. `sign` turns normals from a to b.
static void try_facets(
    const rbli_hull_shape *a, const rbli_hull_shape *b, double sign, double normal[3], double *gap)
{
    for (size_t i = 0; i < a->plane_count; i++) {
        double least = HUGE_VAL;
        for (size_t j = 0; j < b->point_count && least - a->planes[i][3] > *gap; j++)
            least = fmin(least, dot(a->planes[i], b->points[j]));
        if (!(least - a->planes[i][3] > *gap)) continue;
        *gap = least - a->planes[i][3];
        for (int k = 0; k < 3; k++)
            normal[k] = sign * a->planes[i][k];
    }
}

/// The axis from a to b, and the gap along it (negative: how deep they are in each other).
static void find_axis(const rbli_hull_shape *a, const rbli_hull_shape *b, double normal[3], double *gap)
{
    *gap = -HUGE_VAL;
    normal[0] = 1; /* for hulls without facets */
    normal[1] = normal[2] = 0;
    try_facets(a, b, 1, normal, gap);
    try_facets(b, a, -1, normal, gap);
    if (*gap <= 0 && *gap > -HUGE_VAL) return;
    /* Corners that face each other have a wider gap than any facet: take that, but leave facets the axis where
       only rounding makes the difference. */
    rbli_hull_gap apart =
        rbli_hull_distance(a->points, a->point_count, b->points, b->point_count, 0, HUGE_VAL);
    if (apart.bound <= fmax(*gap, 0) * (1 + 1e-6)) return;
    *gap = apart.bound;
    memcpy(normal, apart.normal, sizeof apart.normal);
}

rbl_status rbli_hull_contact_measure(rbl_context *ctx, const rbli_hull_shape *a, const rbli_hull_shape *b,
    double bridge, double depth, rbli_hull_contact_scratch *scratch, rbli_hull_contact *out)
{
    rbli_hull_contact made = {0};
    double u[3], v[3], gap, most[2][2], shift[3], unshift[3];
    const rbli_hull_shape *hulls[2] = {a, b};
    size_t points = 2 * (a->edge_count + b->edge_count) + a->point_count + b->point_count;
    rbl_status status = rbli_array_reserve_(ctx, (void **)(void *)&scratch->points, &scratch->capacity, 0,
        3 * points + 4, sizeof *scratch->points); /* and room for planar hulls */
    if (status != RBL_OK) return status;
    find_axis(a, b, made.normal, &gap);
    frame_across(made.normal, u, v);
    double by = gap > -depth ? fmax(gap, bridge) + depth : 0;
    for (int k = 0; k < 3; k++) {
        shift[k] = -by * made.normal[k]; /* of b */
        unshift[k] = -shift[k];
    }
    double(*shadow)[2] = scratch->points;
    size_t count = clip_edges(a, b, shift, u, v, shadow);
    count += clip_edges(b, a, unshift, u, v, shadow + count);
    measure_shadow(shadow, count, shadow + points, &made.area, &made.width);
    for (int i = 0; i < 2; i++) {
        count = project(hulls[i], u, v, shadow);
        measure_shadow(shadow, count, shadow + points, &most[i][0], &most[i][1]);
    }
    made.most_area = fmin(most[0][0], most[1][0]);
    made.most_width = fmin(most[0][1], most[1][1]);
    *out = made;
    return RBL_OK;
}
