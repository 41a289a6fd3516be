/// Convex hulls as solids: copies, sections, separating axes. Every hull that is made goes through
/// rbli_convex_hull.

#include "fracture/geometry/hull_edit.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/geometry/mass_properties.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

void rbli_hull_set_free(rbl_context *ctx, rbli_hull_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        rbli_hull_free(ctx, &set->hulls[i]);
    rbli_free(ctx, set->hulls);
    *set = (rbli_hull_set){0};
}

rbl_status rbli_hull_copy(rbl_context *ctx, const rbli_hull *hull, const double matrix[16], rbli_hull *out)
{
    rbli_hull made = *hull;
    made.points = rbli_alloc(ctx, hull->point_count, sizeof *made.points);
    made.triangles = rbli_alloc(ctx, hull->triangle_count, sizeof *made.triangles);
    if (!made.points || !made.triangles) {
        rbli_hull_free(ctx, &made);
        return RBL_ERR_NO_MEMORY;
    }
    memcpy(made.points, hull->points, hull->point_count * sizeof *made.points);
    memcpy(made.triangles, hull->triangles, hull->triangle_count * sizeof *made.triangles);
    if (matrix && !rbli_affine_is_identity(matrix)) {
        for (size_t i = 0; i < made.point_count; i++)
            rbli_affine_point(matrix, made.points[i], made.points[i]);
        double ab[3];
        cross(matrix, matrix + 4, ab);
        bool mirror = dot(ab, matrix + 8) < 0;
        for (size_t t = 0; mirror && t < made.triangle_count; t++) {
            int32_t swap = made.triangles[t][1];
            made.triangles[t][1] = made.triangles[t][2];
            made.triangles[t][2] = swap;
        }
        made.volume = rbli_mass_of_mesh(
            (const double(*)[3])made.points, (const int32_t(*)[3])made.triangles, made.triangle_count)
                          .mass;
    }
    *out = made;
    return RBL_OK;
}

bool rbli_hull_normal(const rbli_hull *hull, size_t triangle, double out[3])
{
    const int32_t *t = hull->triangles[triangle];
    double u[3], v[3], most = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = hull->points[t[1]][k] - hull->points[t[0]][k];
        v[k] = hull->points[t[2]][k] - hull->points[t[0]][k];
        most = fmax(most, fmax(fabs(u[k]), fabs(v[k])));
    }
    for (int k = 0; k < 3; k++) {
        u[k] = most > 0 ? u[k] / most : 0;
        v[k] = most > 0 ? v[k] / most : 0;
    }
    cross(u, v, out);
    double length = sqrt(dot(out, out));
    bool good = length > 1e-9;
    for (int k = 0; k < 3; k++)
        out[k] = good ? out[k] / length : 0;
    return good;
}

void rbli_hull_center(const rbli_hull *hull, double out[3])
{
    rbli_mass body = rbli_mass_of_mesh(
        (const double(*)[3])hull->points, (const int32_t(*)[3])hull->triangles, hull->triangle_count);
    memcpy(out, body.center, sizeof body.center);
}

void rbli_hull_range(const rbli_hull *hull, const double normal[3], double range[2])
{
    range[0] = range[1] = dot(normal, hull->points[0]);
    for (size_t i = 1; i < hull->point_count; i++) {
        double d = dot(normal, hull->points[i]);
        range[0] = d < range[0] ? d : range[0];
        range[1] = d > range[1] ? d : range[1];
    }
}

double rbli_hull_height(const rbli_hull *hull, const double p[3])
{
    double height = -HUGE_VAL, n[3];
    for (size_t t = 0; t < hull->triangle_count; t++) {
        if (!rbli_hull_normal(hull, t, n)) continue;
        const double *a = hull->points[hull->triangles[t][0]];
        double d = n[0] * (p[0] - a[0]) + n[1] * (p[1] - a[1]) + n[2] * (p[2] - a[2]);
        height = d > height ? d : height;
    }
    return height;
}

void rbli_hull_bounds(const rbli_hull *hull, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) {
        double axis[3] = {k == 0, k == 1, k == 2}, range[2];
        rbli_hull_range(hull, axis, range);
        low[k] = range[0];
        high[k] = range[1];
    }
}

/* ---- sections ---- */

rbl_status rbli_hull_clip(
    rbl_context *ctx, const rbli_hull *hull, const double plane[4], rbli_hull *out, bool *empty)
{
    rbl_status status = RBL_OK;
    double *height = NULL, (*kept)[3] = NULL, range[2];
    size_t count = 0;
    rbli_hull_range(hull, plane, range);
    *empty = plane[3] - range[0] <= 1e-9 * (range[1] - range[0]);
    if (*empty) return RBL_OK;
    if (range[1] <= plane[3]) return rbli_hull_copy(ctx, hull, NULL, out);
    RBL_TRY_ALLOC(height = rbli_alloc(ctx, hull->point_count, sizeof *height));
    RBL_TRY_ALLOC(kept = rbli_alloc(ctx, hull->point_count + 3 * hull->triangle_count, sizeof *kept));
    for (size_t i = 0; i < hull->point_count; i++) {
        height[i] = dot(plane, hull->points[i]) - plane[3];
        if (height[i] <= 0) memcpy(kept[count++], hull->points[i], sizeof *kept);
    }
    for (size_t t = 0; t < hull->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            /* Each edge once: from its inner to its outer end. */
            int32_t a = hull->triangles[t][c], b = hull->triangles[t][(c + 1) % 3];
            if (!(height[a] < 0 && height[b] > 0)) continue;
            double part = height[a] / (height[a] - height[b]);
            for (int k = 0; k < 3; k++)
                kept[count][k] = hull->points[a][k] + part * (hull->points[b][k] - hull->points[a][k]);
            count++;
        }
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = INT32_MAX;
    rbli_hull made;
    RBL_TRY(rbli_convex_hull(ctx, (const double(*)[3])kept, count, &options, &made));
    *empty = made.thickened;
    if (*empty)
        rbli_hull_free(ctx, &made);
    else
        *out = made;
done:
    rbli_free(ctx, height);
    rbli_free(ctx, kept);
    return status;
}

/* ---- separating axes ---- */

/// An edge and the normals of the facets beside it.
typedef struct hull_edge {
    int32_t low, high;
    size_t triangle[2];
} hull_edge;

static int compare_edges(const void *a, const void *b)
{
    const hull_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle[0] > q->triangle[0]) - (p->triangle[0] < q->triangle[0]);
}

typedef struct hull_shape {
    const rbli_hull *hull;
    double (*normals)[3]; /* zeros for slivers */
    hull_edge *edges;
    size_t edge_count;
} hull_shape;

static rbl_status shape_build(rbl_context *ctx, const rbli_hull *hull, hull_shape *shape)
{
    *shape = (hull_shape){.hull = hull};
    shape->normals = rbli_alloc(ctx, hull->triangle_count, sizeof *shape->normals);
    if (!shape->normals) return RBL_ERR_NO_MEMORY;
    for (size_t t = 0; t < hull->triangle_count; t++)
        rbli_hull_normal(hull, t, shape->normals[t]);
    return RBL_OK;
}

/// Edges between facets of different normals.
static rbl_status shape_edges(rbl_context *ctx, hull_shape *shape)
{
    const rbli_hull *hull = shape->hull;
    size_t count = 0, kept = 0;
    shape->edges = rbli_alloc(ctx, hull->triangle_count, 3 * sizeof *shape->edges);
    if (!shape->edges) return RBL_ERR_NO_MEMORY;
    for (size_t t = 0; t < hull->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int32_t a = hull->triangles[t][c], b = hull->triangles[t][(c + 1) % 3];
            shape->edges[count++] = (hull_edge){a < b ? a : b, a < b ? b : a, {t, t}};
        }
    qsort(shape->edges, count, sizeof *shape->edges, compare_edges);
    for (size_t i = 0; i + 1 < count; i++) {
        hull_edge edge = shape->edges[i];
        if (edge.low != shape->edges[i + 1].low || edge.high != shape->edges[i + 1].high) continue;
        edge.triangle[1] = shape->edges[i + 1].triangle[0];
        if (dot(shape->normals[edge.triangle[0]], shape->normals[edge.triangle[1]]) < 1 - 1e-12)
            shape->edges[kept++] = edge;
        i++;
    }
    shape->edge_count = kept;
    return RBL_OK;
}

static void shape_free(rbl_context *ctx, hull_shape *shape)
{
    rbli_free(ctx, shape->normals);
    rbli_free(ctx, shape->edges);
}

/// Takes an axis if the hulls overlap less along it; returns true at a gap of more than `enough`.
static bool try_axis(
    const rbli_hull *a, const rbli_hull *b, const double normal[3], double enough, rbli_hull_overlap *best)
{
    double ra[2], rb[2];
    rbli_hull_range(a, normal, ra);
    rbli_hull_range(b, normal, rb);
    double ahead = ra[1] - rb[0], behind = rb[1] - ra[0], sign = ahead <= behind ? 1 : -1;
    double depth = sign > 0 ? ahead : behind;
    if (depth < best->depth) {
        best->depth = depth;
        for (int k = 0; k < 3; k++)
            best->normal[k] = sign * normal[k];
    }
    return depth < -enough;
}

static bool try_facets(
    const hull_shape *shape, const rbli_hull *a, const rbli_hull *b, double enough, rbli_hull_overlap *best)
{
    const double *last = NULL;
    for (size_t t = 0; t < shape->hull->triangle_count; t++) {
        const double *n = shape->normals[t];
        if (dot(n, n) == 0 || (last && dot(n, last) > 1 - 1e-14)) continue; /* a sliver, or a fan */
        last = n;
        if (try_axis(a, b, n, enough, best)) return true;
    }
    return false;
}

/// Whether the arc from a to b crosses the one from −c to −d: then the edges make a facet of the difference.
static bool arcs_cross(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double ba[3], dc[3];
    cross(b, a, ba);
    cross(d, c, dc);
    double cba = -dot(c, ba), dba = -dot(d, ba), adc = dot(a, dc), bdc = dot(b, dc);
    return cba * dba < 0 && adc * bdc < 0 && cba * bdc > 0;
}

static bool try_edges(const hull_shape *a, const hull_shape *b, double enough, rbli_hull_overlap *best)
{
    for (size_t i = 0; i < a->edge_count; i++) {
        const hull_edge *e = &a->edges[i];
        const double *na = a->normals[e->triangle[0]], *nb = a->normals[e->triangle[1]];
        double u[3];
        for (int k = 0; k < 3; k++)
            u[k] = a->hull->points[e->high][k] - a->hull->points[e->low][k];
        double u_length = sqrt(dot(u, u));
        for (size_t j = 0; j < b->edge_count; j++) {
            const hull_edge *f = &b->edges[j];
            if (!arcs_cross(na, nb, b->normals[f->triangle[0]], b->normals[f->triangle[1]])) continue;
            double v[3], n[3];
            for (int k = 0; k < 3; k++)
                v[k] = b->hull->points[f->high][k] - b->hull->points[f->low][k];
            cross(u, v, n);
            double length = sqrt(dot(n, n));
            if (length <= 1e-6 * u_length * sqrt(dot(v, v))) continue; /* parallel: a facet's normal */
            for (int k = 0; k < 3; k++)
                n[k] /= length;
            if (try_axis(a->hull, b->hull, n, enough, best)) return true;
        }
    }
    return false;
}

rbl_status rbli_hull_find_overlap(
    rbl_context *ctx, const rbli_hull *a, const rbli_hull *b, double enough, rbli_hull_overlap *out)
{
    rbl_status status = RBL_OK;
    hull_shape sa = {0}, sb = {0};
    rbli_hull_overlap best = {.depth = HUGE_VAL, .normal = {1, 0, 0}};
    RBL_TRY(shape_build(ctx, a, &sa));
    RBL_TRY(shape_build(ctx, b, &sb));
    if (!try_facets(&sa, a, b, enough, &best) && !try_facets(&sb, a, b, enough, &best)) {
        RBL_TRY(shape_edges(ctx, &sa));
        RBL_TRY(shape_edges(ctx, &sb));
        try_edges(&sa, &sb, enough, &best);
    }
    *out = best;
done:
    shape_free(ctx, &sa);
    shape_free(ctx, &sb);
    return status;
}

double rbli_hull_facet_gap(const rbli_hull *a, const rbli_hull *b, double enough)
{
    double widest = -HUGE_VAL;
    for (int side = 0; side < 2; side++) {
        const rbli_hull *from = side == 0 ? a : b, *to = side == 0 ? b : a;
        double last[3] = {0, 0, 0}, n[3], range[2];
        for (size_t t = 0; t < from->triangle_count; t++) {
            if (!rbli_hull_normal(from, t, n) || dot(n, last) > 1 - 1e-14) continue; /* a sliver, or a fan */
            memcpy(last, n, sizeof last);
            rbli_hull_range(to, n, range);
            widest = fmax(widest, range[0] - dot(n, from->points[from->triangles[t][0]]));
            if (widest > enough) return widest;
        }
    }
    return widest;
}
