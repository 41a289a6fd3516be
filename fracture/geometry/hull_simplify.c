/// Simpler hulls that hold a hull: by the angles between facets, and by collapsing edges.

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/elementary.h"
#include "fracture/geometry/hull_edit.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// How far a vertex of `simple` stands off from `hull`.
static double stand_off(const rbli_hull *simple, const rbli_hull *hull)
{
    double most = 0;
    for (size_t i = 0; i < simple->point_count; i++)
        most = fmax(most, rbli_hull_height(hull, simple->points[i]));
    return most;
}

/* ---- by angle ---- */

typedef struct facet {
    double normal[3], area;
    size_t triangle;
} facet;

static int larger_first(const void *a, const void *b)
{
    const facet *p = a, *q = b;
    if (p->area != q->area) return p->area > q->area ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

/// One entry for each facet: triangles of one plane count as one, under the first.
static size_t list_facets(const rbli_hull *hull, facet *out)
{
    size_t count = 0;
    for (size_t t = 0; t < hull->triangle_count; t++) {
        facet f = {.triangle = t};
        const int32_t *v = hull->triangles[t];
        double e[2][3], n[3];
        if (!rbli_hull_normal(hull, t, f.normal)) continue;
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 3; k++)
                e[i][k] = hull->points[v[i + 1]][k] - hull->points[v[0]][k];
        for (int k = 0; k < 3; k++)
            n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
        f.area = dot(n, f.normal);
        size_t same = 0;
        while (same < count && dot(out[same].normal, f.normal) < 1 - 1e-12)
            same++;
        if (same < count)
            out[same].area += f.area;
        else
            out[count++] = f;
    }
    qsort(out, count, sizeof *out, larger_first);
    return count;
}

static rbl_status make_box(rbl_context *ctx, const rbli_hull *hull, rbli_hull *out)
{
    double low[3], high[3], corners[8][3];
    rbli_hull_options options = rbli_hull_default_options();
    rbli_hull_bounds(hull, low, high);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            corners[i][k] = (i >> k & 1) ? high[k] : low[k];
    return rbli_convex_hull(ctx, (const double(*)[3])corners, 8, &options, out);
}

rbl_status rbli_hull_simplify_angle(rbl_context *ctx, const rbli_hull *hull, double angle, rbli_hull *out)
{
    rbl_status status = RBL_OK;
    facet *facets = NULL;
    rbli_hull made = {0}, next;
    double limit = rbli_cos(angle);
    size_t kept = 0;
    RBL_TRY_ALLOC(facets = rbli_alloc(ctx, hull->triangle_count, sizeof *facets));
    size_t count = list_facets(hull, facets);
    RBL_TRY(make_box(ctx, hull, &made));
    for (size_t i = 0; i < count; i++) {
        bool near = false;
        for (size_t j = 0; j < kept && !near; j++)
            near = dot(facets[j].normal, facets[i].normal) > limit;
        if (near) continue;
        facets[kept++] = facets[i];
        double plane[4], range[2];
        bool empty;
        memcpy(plane, facets[i].normal, sizeof facets[i].normal);
        rbli_hull_range(hull, plane, range);
        plane[3] = range[1];
        RBL_TRY(rbli_hull_clip(ctx, &made, plane, &next, &empty));
        if (empty) break; /* rounding of a hull as thin as that: keep it as it is */
        rbli_hull_free(ctx, &made);
        made = next;
    }
    if (made.point_count >= hull->point_count) {
        rbli_hull_free(ctx, &made);
        RBL_TRY(rbli_hull_copy(ctx, hull, NULL, &made));
        made.excess = 0;
    } else {
        made.excess = stand_off(&made, hull);
    }
    *out = made;
    made = (rbli_hull){0};
done:
    rbli_free(ctx, facets);
    rbli_hull_free(ctx, &made);
    return status;
}

/* ---- by collapsing edges ---- */

/// Grows `hull` about its centre until it holds all the points of `inner`.
static bool grow_over(rbli_hull *hull, const rbli_hull *inner)
{
    double center[3], factor = 1, n[3];
    rbli_hull_center(hull, center);
    for (size_t t = 0; t < hull->triangle_count; t++) {
        if (!rbli_hull_normal(hull, t, n)) continue;
        double range[2];
        rbli_hull_range(inner, n, range);
        double reach = dot(n, hull->points[hull->triangles[t][0]]) - dot(n, center);
        if (!(reach > 0)) return false;
        factor = fmax(factor, (range[1] - dot(n, center)) / reach);
    }
    if (factor > 1) factor *= 1 + 1e-15;
    for (size_t i = 0; i < hull->point_count; i++)
        for (int k = 0; k < 3; k++)
            hull->points[i][k] = center[k] + factor * (hull->points[i][k] - center[k]);
    hull->volume *= factor * factor * factor;
    return isfinite(factor);
}

/// The planes n · x = d around one or two points as a quadric: a = Σ n nᵀ, b = Σ d n, c = Σ d².
typedef struct quadric {
    double a[6], b[3], c;
} quadric;

static void add_plane(quadric *q, const double n[3], double d)
{
    static const int row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 1, 2, 0};
    for (int i = 0; i < 6; i++)
        q->a[i] += n[row[i]] * n[column[i]];
    for (int k = 0; k < 3; k++)
        q->b[k] += d * n[k];
    q->c += d * d;
}

static double quadric_at(const quadric *q, const double x[3])
{
    double ax[3] = {q->a[0] * x[0] + q->a[3] * x[1] + q->a[5] * x[2],
        q->a[3] * x[0] + q->a[1] * x[1] + q->a[4] * x[2], q->a[5] * x[0] + q->a[4] * x[1] + q->a[2] * x[2]};
    return fmax(0, dot(x, ax) - 2 * dot(q->b, x) + q->c);
}

/// The point of least cost: the quadric's own minimum if it has one near the edge, else the edge's middle.
static void best_point(const quadric *q, const double p[3], const double r[3], double out[3])
{
    const double *a = q->a;
    double c0 = a[1] * a[2] - a[4] * a[4], c1 = a[4] * a[5] - a[3] * a[2], c2 = a[3] * a[4] - a[1] * a[5];
    double determinant = a[0] * c0 + a[3] * c1 + a[5] * c2, trace = a[0] + a[1] + a[2], length = 0, far = 0;
    double middle[3], x[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = (p[k] + r[k]) / 2;
        length += (p[k] - r[k]) * (p[k] - r[k]);
    }
    memcpy(out, middle, sizeof middle);
    if (fabs(determinant) <= 1e-9 * trace * trace * trace) return;
    double c4 = a[0] * a[2] - a[5] * a[5], c5 = a[3] * a[5] - a[0] * a[4], c8 = a[0] * a[1] - a[3] * a[3];
    x[0] = (c0 * q->b[0] + c1 * q->b[1] + c2 * q->b[2]) / determinant;
    x[1] = (c1 * q->b[0] + c4 * q->b[1] + c5 * q->b[2]) / determinant;
    x[2] = (c2 * q->b[0] + c5 * q->b[1] + c8 * q->b[2]) / determinant;
    for (int k = 0; k < 3; k++)
        far += (x[k] - middle[k]) * (x[k] - middle[k]);
    if (far <= 4 * length) memcpy(out, x, sizeof x);
}

/// Planes relative to a center, so that squares keep their digits.
static void vertex_quadrics(const rbli_hull *hull, const double center[3], quadric *quadrics)
{
    memset(quadrics, 0, hull->point_count * sizeof *quadrics);
    for (size_t t = 0; t < hull->triangle_count; t++) {
        double n[3];
        if (!rbli_hull_normal(hull, t, n)) continue;
        const int32_t *v = hull->triangles[t];
        double d = dot(n, hull->points[v[0]]) - dot(n, center);
        for (int c = 0; c < 3; c++)
            add_plane(&quadrics[v[c]], n, d);
    }
}

/// Finds the cheapest edge and where its ends may meet.
static void cheapest_edge(
    const rbli_hull *hull, const double center[3], const quadric *quadrics, int32_t edge[2], double point[3])
{
    double least = HUGE_VAL;
    edge[0] = edge[1] = -1;
    for (size_t t = 0; t < hull->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int32_t i = hull->triangles[t][c], j = hull->triangles[t][(c + 1) % 3];
            if (i > j) continue; /* each edge is met in both directions */
            quadric q = quadrics[i];
            const quadric *other = &quadrics[j];
            double p[3], r[3], x[3];
            for (int k = 0; k < 6; k++)
                q.a[k] += other->a[k];
            for (int k = 0; k < 3; k++) {
                q.b[k] += other->b[k];
                p[k] = hull->points[i][k] - center[k];
                r[k] = hull->points[j][k] - center[k];
            }
            q.c += other->c;
            best_point(&q, p, r, x);
            double cost = quadric_at(&q, x);
            if (cost >= least) continue;
            least = cost;
            edge[0] = i;
            edge[1] = j;
            for (int k = 0; k < 3; k++)
                point[k] = center[k] + x[k];
        }
}

/// One collapse and the hull of what is left.
static rbl_status collapse(rbl_context *ctx, const rbli_hull *hull, rbli_hull *out)
{
    rbl_status status = RBL_OK;
    quadric *quadrics = NULL;
    double(*points)[3] = NULL, center[3], point[3];
    int32_t edge[2];
    RBL_TRY_ALLOC(quadrics = rbli_alloc(ctx, hull->point_count, sizeof *quadrics));
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, hull->point_count, sizeof *points));
    rbli_hull_center(hull, center);
    vertex_quadrics(hull, center, quadrics);
    cheapest_edge(hull, center, quadrics, edge, point);
    size_t count = 0;
    for (size_t i = 0; i < hull->point_count; i++)
        if ((int32_t)i != edge[0] && (int32_t)i != edge[1])
            memcpy(points[count++], hull->points[i], sizeof *points);
    if (edge[0] >= 0) memcpy(points[count++], point, sizeof *points);
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = INT32_MAX;
    RBL_TRY(rbli_convex_hull(ctx, (const double(*)[3])points, count, &options, out));
done:
    rbli_free(ctx, quadrics);
    rbli_free(ctx, points);
    return status;
}

rbl_status rbli_hull_simplify_collapse(
    rbl_context *ctx, const rbli_hull *hull, double distance, size_t min_triangles, rbli_hull *out)
{
    rbl_status status = RBL_OK;
    rbli_hull best = {0}, now = {0}, next = {0}, grown = {0};
    RBL_TRY(rbli_hull_copy(ctx, hull, NULL, &best));
    RBL_TRY(rbli_hull_copy(ctx, hull, NULL, &now));
    best.excess = 0;
    while (now.triangle_count > min_triangles && now.point_count > 5) {
        RBL_TRY(collapse(ctx, &now, &next));
        if (next.thickened || next.point_count >= now.point_count || next.triangle_count < min_triangles)
            break;
        RBL_TRY(rbli_hull_copy(ctx, &next, NULL, &grown));
        if (!grow_over(&grown, hull)) break;
        grown.excess = stand_off(&grown, hull);
        if (grown.excess > distance) break;
        rbli_hull_free(ctx, &best);
        rbli_hull_free(ctx, &now);
        best = grown;
        now = next;
        grown = next = (rbli_hull){0};
    }
    *out = best;
    best = (rbli_hull){0};
done:
    rbli_hull_free(ctx, &best);
    rbli_hull_free(ctx, &now);
    rbli_hull_free(ctx, &next);
    rbli_hull_free(ctx, &grown);
    return status;
}
