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

/* ---- edges ---- */

/// An edge, and the arc between the normals of the facets beside it.
typedef struct hull_edge {
    int32_t low, high;
    size_t triangle[2];
    double arc[3]; /* the second normal × the first */
} hull_edge;

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

/// Edges between facets of different normals, in the order in which triangles first have them.
static rbl_status shape_edges(rbl_context *ctx, hull_shape *shape)
{
    rbl_status status = RBL_OK;
    const rbli_hull *hull = shape->hull;
    size_t count = 0, kept = 0;
    int32_t *first = NULL, *next = NULL; /* edges by their lower vertex */
    RBL_TRY_ALLOC(shape->edges = rbli_alloc(ctx, hull->triangle_count, 3 * sizeof *shape->edges));
    RBL_TRY_ALLOC(first = rbli_alloc(ctx, hull->point_count, sizeof *first));
    RBL_TRY_ALLOC(next = rbli_alloc(ctx, hull->triangle_count, 3 * sizeof *next));
    for (size_t i = 0; i < hull->point_count; i++)
        first[i] = -1;
    for (size_t i = 0; i < 3 * hull->triangle_count; i++) {
        size_t t = i / 3;
        int32_t a = hull->triangles[t][i % 3], b = hull->triangles[t][(i + 1) % 3], e;
        int32_t low = a < b ? a : b, high = a < b ? b : a;
        for (e = first[low]; e >= 0 && shape->edges[e].high != high;)
            e = next[e];
        if (e >= 0) {
            shape->edges[e].triangle[1] = t;
            continue;
        }
        shape->edges[count] = (hull_edge){.low = low, .high = high, .triangle = {t, t}};
        next[count] = first[low];
        first[low] = (int32_t)count++;
    }
    for (size_t i = 0; i < count; i++) {
        hull_edge edge = shape->edges[i];
        const double *a = shape->normals[edge.triangle[0]], *b = shape->normals[edge.triangle[1]];
        cross(b, a, edge.arc);
        bool flat = dot(edge.arc, edge.arc) <= 1e-18 && dot(a, b) > 0; /* not beside a sliver */
        if (flat) continue;
        shape->edges[kept++] = edge;
    }
    shape->edge_count = kept;
done:
    rbli_free(ctx, first);
    rbli_free(ctx, next);
    return status;
}

static void shape_free(rbl_context *ctx, hull_shape *shape)
{
    rbli_free(ctx, shape->normals);
    rbli_free(ctx, shape->edges);
}

/* ---- sections ---- */

rbl_status rbli_hull_clip(
    rbl_context *ctx, const rbli_hull *hull, const double plane[4], rbli_hull *out, bool *empty)
{
    rbl_status status = RBL_OK;
    double *height = NULL, (*kept)[3] = NULL, range[2];
    hull_shape shape = {0};
    size_t count = 0;
    rbli_hull_range(hull, plane, range);
    *empty = plane[3] - range[0] <= 1e-9 * (range[1] - range[0]);
    if (*empty) return RBL_OK;
    if (range[1] <= plane[3]) return rbli_hull_copy(ctx, hull, NULL, out);
    RBL_TRY(shape_build(ctx, hull, &shape));
    RBL_TRY(shape_edges(ctx, &shape));
    RBL_TRY_ALLOC(height = rbli_alloc(ctx, hull->point_count, sizeof *height));
    RBL_TRY_ALLOC(kept = rbli_alloc(ctx, hull->point_count + shape.edge_count, sizeof *kept));
    for (size_t i = 0; i < hull->point_count; i++) {
        height[i] = dot(plane, hull->points[i]) - plane[3];
        if (height[i] <= 0) memcpy(kept[count++], hull->points[i], sizeof *kept);
    }
    for (size_t i = 0; i < shape.edge_count; i++) { /* edges within a flat facet would add points on a line */
        int32_t a = shape.edges[i].low, b = shape.edges[i].high;
        if (!(height[a] < 0 && height[b] > 0) && !(height[b] < 0 && height[a] > 0)) continue;
        if (height[a] > 0)
            a = shape.edges[i].high, b = shape.edges[i].low; /* from the inner to the outer end */
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
    shape_free(ctx, &shape);
    rbli_free(ctx, height);
    rbli_free(ctx, kept);
    return status;
}

/* ---- separating axes ---- */

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

/// Whether the arc of one edge, from a to b, crosses the negative of the other's, from −c to −d: then the
/// edges make a facet of the difference. `ba` and `dc` are b × a and d × c.
static bool arcs_cross(const double a[3], const double b[3], const double ba[3], const double c[3],
    const double d[3], const double dc[3])
{
    double cba = -dot(c, ba), dba = -dot(d, ba);
    if (!(cba * dba < 0)) return false;
    double adc = dot(a, dc), bdc = dot(b, dc);
    return adc * bdc < 0 && cba * bdc > 0;
}

static bool try_edges(const hull_shape *a, const hull_shape *b, double enough, rbli_hull_overlap *best)
{
    for (size_t i = 0; i < a->edge_count; i++) {
        const hull_edge *e = &a->edges[i];
        const double *na = a->normals[e->triangle[0]], *nb = a->normals[e->triangle[1]];
        const double *p = a->hull->points[e->low], *q = a->hull->points[e->high];
        double u[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, u_length = sqrt(dot(u, u));
        for (size_t j = 0; j < b->edge_count; j++) {
            const hull_edge *f = &b->edges[j];
            if (!arcs_cross(na, nb, e->arc, b->normals[f->triangle[0]], b->normals[f->triangle[1]], f->arc))
                continue;
            const double *r = b->hull->points[f->low], *s = b->hull->points[f->high];
            double v[3] = {s[0] - r[0], s[1] - r[1], s[2] - r[2]}, n[3];
            cross(u, v, n);
            double length = sqrt(dot(n, n));
            if (length <= 1e-6 * u_length * sqrt(dot(v, v))) continue; /* parallel: a facet's normal */
            /* Along its normal, out of a, the edges themselves lie outermost. */
            double sign = dot(n, na) + dot(n, nb) < 0 ? -1 : 1, depth = 0;
            for (int k = 0; k < 3; k++) {
                n[k] *= sign / length;
                depth += n[k] * (p[k] - r[k]);
            }
            if (depth > best->depth + 1e-9 * fabs(best->depth)) continue;
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
