/// Parts of a mesh as soups of triangles, cut by planes. What a cut opens is closed by a fan of triangles
/// around a point of the plane: they may overlap with either sign, which is all that volumes need, and they
/// are left out of hulls. Vertices of a part's hull lie on the surface, or are corners of the convex cell that
/// its cuts leave, where that lies inside the solid: an extreme point inside the solid is one of the cell.

#include "fracture/geometry/hull_decompose.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/winding.h"

enum { MOST_PARTS = 64, MOST_EDGES = 6, AXIS_PLANES = 9, MOST_PLANES = 3 * MOST_EDGES + AXIS_PLANES };

typedef struct soup_triangle {
    double corner[3][3];
    bool fan; /* closes a cut; no part of the surface */
} soup_triangle;

typedef RBLI_ARRAY(soup_triangle) soup;

typedef RBLI_ARRAY(double) coordinates; /* three for each point */

/// A part under way.
typedef struct part {
    soup triangles;
    coordinates corners; /* of the cell, inside the solid */
    double (*planes)[4]; /* [plane_count] normal · x ≤ offset: the cell */
    size_t plane_count;
    rbli_hull hull;
    double error; /* how much volume its hull has too much; 0 when it cannot be cut */
} part;

rbli_decompose_options rbli_decompose_default_options(void)
{
    return (rbli_decompose_options){.max_hulls = 1, .max_ratio = 1, .additional_splits = 4};
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static bool normalize(double v[3])
{
    double length = sqrt(dot(v, v));
    for (int k = 0; k < 3; k++)
        v[k] = length > 0 ? v[k] / length : 0;
    return length > 0;
}

static void triangle_normal(double corner[3][3], double out[3])
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++)
        u[k] = corner[1][k] - corner[0][k], v[k] = corner[2][k] - corner[0][k];
    cross(u, v, out);
}

static double soup_volume(const soup *s)
{
    double sum = 0;
    for (size_t t = 0; t < s->count; t++) {
        double p[3][3], n[3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                p[c][k] = s->data[t].corner[c][k] - s->data[0].corner[0][k];
        cross(p[1], p[2], n);
        sum += dot(p[0], n);
    }
    return sum / 6;
}

static rbl_status soup_hull(rbl_context *ctx, const soup *s, const coordinates *corners,
    const rbli_hull_options *options, rbli_hull *out)
{
    size_t count = 0, corner_count = corners->count / 3;
    double(*points)[3] = rbli_alloc(ctx, 3 * s->count + corner_count, sizeof *points);
    if (!points) return RBL_ERR_NO_MEMORY;
    for (size_t t = 0; t < s->count; t++)
        for (int c = 0; !s->data[t].fan && c < 3; c++)
            memcpy(points[count++], s->data[t].corner[c], sizeof *points);
    for (size_t i = 0; i < corner_count; i++)
        memcpy(points[count++], corners->data + 3 * i, sizeof *points);
    rbl_status status = rbli_convex_hull(ctx, (const double(*)[3])points, count, options, out);
    rbli_free(ctx, points);
    return status;
}

/* ---- cutting ---- */

static rbl_status push(rbl_context *ctx, soup *s, const double *a, const double *b, const double *c, bool fan)
{
    soup_triangle t = {.fan = fan};
    memcpy(t.corner[0], a, sizeof t.corner[0]);
    memcpy(t.corner[1], b, sizeof t.corner[1]);
    memcpy(t.corner[2], c, sizeof t.corner[2]);
    return rbli_array_push(ctx, s, t);
}

/// Adds the polygon of a triangle on one side of the plane, and the fan triangles of its edges in the plane.
static rbl_status push_polygon(rbl_context *ctx, soup *s, double (*polygon)[3], const bool *in_plane,
    int count, bool fan, const double apex[3])
{
    rbl_status status = RBL_OK;
    for (int i = 1; i + 1 < count; i++)
        RBL_TRY(push(ctx, s, polygon[0], polygon[i], polygon[i + 1], fan));
    for (int i = 0; count > 2 && i < count; i++) {
        int j = (i + 1) % count;
        if (in_plane[i] && in_plane[j]) RBL_TRY(push(ctx, s, polygon[j], polygon[i], apex, true));
    }
done:
    return status;
}

/// One triangle to either or both sides.
static rbl_status split_triangle(rbl_context *ctx, const soup_triangle *t, const double plane[4],
    double nothing, const double apex[3], soup sides[2])
{
    rbl_status status = RBL_OK;
    double height[3];
    bool below = false, above = false;
    for (int c = 0; c < 3; c++) {
        height[c] = dot(plane, t->corner[c]) - plane[3];
        if (fabs(height[c]) <= nothing) height[c] = 0;
        below |= height[c] < 0;
        above |= height[c] > 0;
    }
    if (!below && !above) {
        double n[3];
        soup_triangle copy = *t;
        triangle_normal(copy.corner, n);
        below = dot(n, plane) > 0;
        above = !below;
    }
    for (int side = 0; side < 2; side++) {
        double polygon[4][3], sign = side == 0 ? -1 : 1;
        bool in_plane[4];
        int count = 0;
        if (side == 0 ? !below : !above) continue;
        for (int c = 0; c < 3; c++) {
            int d = (c + 1) % 3;
            if (sign * height[c] >= 0) {
                memcpy(polygon[count], t->corner[c], sizeof polygon[count]);
                in_plane[count++] = height[c] == 0;
            }
            if (height[c] * height[d] >= 0) continue;
            int low = height[c] < 0 ? c : d, high = height[c] < 0 ? d : c; /* the same for both neighbours */
            double where = height[low] / (height[low] - height[high]);
            for (int k = 0; k < 3; k++)
                polygon[count][k] = t->corner[low][k] + where * (t->corner[high][k] - t->corner[low][k]);
            in_plane[count++] = true;
        }
        RBL_TRY(push_polygon(ctx, &sides[side], polygon, in_plane, count, t->fan, apex));
    }
done:
    return status;
}

static rbl_status split(rbl_context *ctx, const part *from, const double plane[4], soup sides[2])
{
    rbl_status status = RBL_OK;
    double low[3], high[3], apex[3], size = 0;
    rbli_hull_bounds(&from->hull, low, high);
    for (int k = 0; k < 3; k++) {
        apex[k] = low[k] + (high[k] - low[k]) / 2;
        size = fmax(size, fmax(high[k] - low[k], fmax(fabs(low[k]), fabs(high[k])) * 1e-3));
    }
    double off = dot(plane, apex) - plane[3];
    for (int k = 0; k < 3; k++)
        apex[k] -= off * plane[k];
    for (size_t t = 0; t < from->triangles.count; t++)
        RBL_TRY(split_triangle(ctx, &from->triangles.data[t], plane, 1e-12 * size, apex, sides));
done:
    return status;
}

static bool has_points(const soup *s, const coordinates *corners)
{
    if (corners->count > 0) return true;
    for (size_t t = 0; t < s->count; t++)
        if (!s->data[t].fan) return true;
    return false;
}

/// Where three planes meet; false when they hardly do.
static bool meet(const double a[4], const double b[4], const double c[4], double out[3])
{
    double bc[3], ca[3], ab[3];
    cross(b, c, bc);
    cross(c, a, ca);
    cross(a, b, ab);
    double determinant = dot(a, bc);
    if (fabs(determinant) < 1e-6) return false;
    for (int k = 0; k < 3; k++)
        out[k] = (a[3] * bc[k] + b[3] * ca[k] + c[3] * ab[k]) / determinant;
    return true;
}

/// Corners that a plane makes of a part's cell, inside the solid; appended to both lists.
static rbl_status add_corners(rbl_context *ctx, const part *from, const double plane[4],
    const rbli_winding *solid, coordinates corners[2])
{
    rbl_status status = RBL_OK;
    double low[3], high[3], size = 0, x[3];
    rbli_hull_bounds(&from->hull, low, high);
    for (int k = 0; k < 3; k++)
        size = fmax(size, high[k] - low[k]);
    for (size_t i = 0; i < from->plane_count; i++)
        for (size_t j = i + 1; j < from->plane_count; j++) {
            if (!meet(plane, from->planes[i], from->planes[j], x)) continue;
            bool inside = true;
            for (size_t p = 0; p < from->plane_count && inside; p++)
                inside = p == i || p == j || dot(from->planes[p], x) - from->planes[p][3] <= 1e-9 * size;
            for (int k = 0; k < 3 && inside; k++)
                inside = x[k] >= low[k] - 1e-9 * size && x[k] <= high[k] + 1e-9 * size;
            if (!inside || rbli_winding_number(solid, x, NULL) <= 0) continue;
            for (int side = 0; side < 2; side++)
                for (int k = 0; k < 3; k++)
                    RBL_TRY(rbli_array_push(ctx, &corners[side], x[k]));
        }
done:
    return status;
}

/// The corners of the cells on both sides of a plane.
static rbl_status split_corners(rbl_context *ctx, const part *from, const double plane[4],
    const rbli_winding *solid, coordinates corners[2])
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < from->corners.count; i += 3) {
        int side = dot(plane, from->corners.data + i) > plane[3];
        for (size_t k = 0; k < 3; k++)
            RBL_TRY(rbli_array_push(ctx, &corners[side], from->corners.data[i + k]));
    }
    RBL_TRY(add_corners(ctx, from, plane, solid, corners));
done:
    return status;
}

/// The volume of the hulls on both sides of a plane; infinite when it does not cut or cuts too thin.
static rbl_status try_plane(rbl_context *ctx, const part *from, const double plane[4], double min_thickness,
    const rbli_winding *solid, const rbli_hull_options *options, double *volume)
{
    rbl_status status = RBL_OK;
    soup sides[2] = {0};
    coordinates corners[2] = {0};
    double range[2];
    *volume = HUGE_VAL;
    rbli_hull_range(&from->hull, plane, range);
    double least = fmax(min_thickness, 1e-3 * (range[1] - range[0]));
    if (!(plane[3] - range[0] > least && range[1] - plane[3] > least)) return RBL_OK;
    RBL_TRY(split(ctx, from, plane, sides));
    RBL_TRY(split_corners(ctx, from, plane, solid, corners));
    if (!has_points(&sides[0], &corners[0]) || !has_points(&sides[1], &corners[1])) goto done;
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        rbli_hull hull;
        RBL_TRY(soup_hull(ctx, &sides[i], &corners[i], options, &hull));
        sum += hull.volume;
        rbli_hull_free(ctx, &hull);
    }
    *volume = sum;
done:
    for (int i = 0; i < 2; i++) {
        rbli_free(ctx, sides[i].data);
        rbli_free(ctx, corners[i].data);
    }
    return status;
}

/* ---- planes to try ---- */

typedef struct mesh_edge {
    int32_t low, high, triangle;
    double weight;
    double planes[3][4];
} mesh_edge;

static int compare_mesh_edges(const void *a, const void *b)
{
    const mesh_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static int compare_weights(const void *a, const void *b)
{
    const mesh_edge *p = a, *q = b;
    if (p->weight != q->weight) return p->weight > q->weight ? -1 : 1;
    return compare_mesh_edges(a, b);
}

/// Fills in planes and weight of an edge between two triangles; false when it is not concave.
static bool measure_edge(const rbli_mesh_view *mesh, mesh_edge *edge, int32_t other)
{
    const double(*x)[3] = mesh->positions;
    const int32_t *a = mesh->triangles[edge->triangle], *b = mesh->triangles[other];
    double corners[2][3][3], n[2][3], along[3], across[3], sum[3], length;
    for (int c = 0; c < 3; c++) {
        memcpy(corners[0][c], x[a[c]], sizeof corners[0][c]);
        memcpy(corners[1][c], x[b[c]], sizeof corners[1][c]);
    }
    triangle_normal(corners[0], n[0]);
    triangle_normal(corners[1], n[1]);
    if (!normalize(n[0]) || !normalize(n[1])) return false;
    int32_t far = b[0];
    for (int c = 0; c < 3; c++)
        if (b[c] != edge->low && b[c] != edge->high) far = b[c];
    double rise = 0;
    for (int k = 0; k < 3; k++) {
        rise += n[0][k] * (x[far][k] - x[edge->low][k]);
        along[k] = x[edge->high][k] - x[edge->low][k];
        sum[k] = n[0][k] + n[1][k];
    }
    length = sqrt(dot(along, along));
    cross(n[0], n[1], across);
    edge->weight = length * sqrt(dot(across, across));
    if (!(rise > 1e-9 * length) || !(edge->weight > 1e-6 * length)) return false;
    memcpy(edge->planes[0], n[0], sizeof n[0]);
    memcpy(edge->planes[1], n[1], sizeof n[1]);
    cross(along, sum, edge->planes[2]);
    if (!normalize(edge->planes[2])) memcpy(edge->planes[2], n[0], sizeof n[0]);
    for (int i = 0; i < 3; i++)
        edge->planes[i][3] = dot(edge->planes[i], x[edge->low]);
    return true;
}

/// Whether two planes are nearly the same, in either direction.
static bool same_plane(const double a[4], const double b[4], double size)
{
    double along = dot(a, b);
    return fabs(along) > 0.995 && fabs(a[3] - (along > 0 ? b[3] : -b[3])) < 0.02 * size;
}

/// The planes of the concave edges that matter most.
static rbl_status concave_planes(
    rbl_context *ctx, const rbli_mesh_view *mesh, double size, double (*planes)[4], size_t *plane_count)
{
    rbl_status status = RBL_OK;
    size_t count = 0, concave = 0, used = 0;
    mesh_edge *edges = rbli_alloc(ctx, mesh->triangle_count, 3 * sizeof *edges);
    if (!edges) return RBL_ERR_NO_MEMORY;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int32_t a = mesh->triangles[t][c], b = mesh->triangles[t][(c + 1) % 3];
            edges[count++] = (mesh_edge){.low = a < b ? a : b, .high = a < b ? b : a, .triangle = (int32_t)t};
        }
    qsort(edges, count, sizeof *edges, compare_mesh_edges);
    for (size_t i = 0; i + 1 < count; i++) {
        if (edges[i].low != edges[i + 1].low || edges[i].high != edges[i + 1].high) continue;
        mesh_edge edge = edges[i];
        if (measure_edge(mesh, &edge, edges[i + 1].triangle)) edges[concave++] = edge;
        i++;
    }
    qsort(edges, concave, sizeof *edges, compare_weights);
    for (size_t i = 0; i < concave && used < MOST_EDGES; i++) {
        bool new_one = false;
        for (int p = 0; p < 3; p++) {
            bool known = false;
            for (size_t j = 0; j < *plane_count && !known; j++)
                known = same_plane(planes[j], edges[i].planes[p], size);
            if (known) continue;
            memcpy(planes[(*plane_count)++], edges[i].planes[p], sizeof *planes);
            new_one = true;
        }
        used += new_one;
    }
    rbli_free(ctx, edges);
    return status;
}

/// Planes across the axes at quarters of a part.
static size_t axis_planes(const rbli_hull *hull, double (*planes)[4])
{
    double low[3], high[3];
    size_t count = 0;
    rbli_hull_bounds(hull, low, high);
    for (int k = 0; k < 3; k++)
        for (int i = 1; i < 4; i++) {
            memset(planes[count], 0, sizeof *planes);
            planes[count][k] = 1;
            planes[count++][3] = low[k] + (high[k] - low[k]) * i / 4;
        }
    return count;
}

/* ---- parts ---- */

static void part_free(rbl_context *ctx, part *p)
{
    rbli_free(ctx, p->triangles.data);
    rbli_free(ctx, p->corners.data);
    rbli_free(ctx, p->planes);
    rbli_hull_free(ctx, &p->hull);
    *p = (part){0};
}

/// Hull and error of a part that has its triangles.
static rbl_status finish_part(rbl_context *ctx, part *p, const rbli_hull_options *options)
{
    rbl_status status = soup_hull(ctx, &p->triangles, &p->corners, options, &p->hull);
    if (status != RBL_OK) return status;
    p->error = p->hull.thickened ? 0 : fmax(0, p->hull.volume - soup_volume(&p->triangles));
    return RBL_OK;
}

/// The best plane to cut a part by; `*found` false: there is none.
static rbl_status choose_plane(rbl_context *ctx, const part *p, const double (*planes)[4], size_t plane_count,
    const rbli_decompose_options *options, const rbli_winding *solid, const rbli_hull_options *exact,
    double best[4], bool *found)
{
    rbl_status status = RBL_OK;
    double axis[AXIS_PLANES][4], low[3], high[3], least = p->hull.volume * (1 - 1e-6);
    size_t axis_count = axis_planes(&p->hull, axis);
    *found = false;
    for (size_t i = 0; i < plane_count + axis_count; i++) {
        const double *plane = i < plane_count ? planes[i] : axis[i - plane_count];
        double volume;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(try_plane(ctx, p, plane, options->min_thickness, solid, exact, &volume));
        if (volume >= least) continue;
        least = volume;
        memcpy(best, plane, 4 * sizeof *best);
        *found = true;
    }
    if (*found) goto done;
    /* Nothing improves at once, as around a cavity: halve it, and let the next cuts do so. */
    rbli_hull_bounds(&p->hull, low, high);
    int longest = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[longest] - low[longest]) longest = k;
    double volume;
    memcpy(best, axis[3 * longest + 1], 4 * sizeof *best);
    RBL_TRY(try_plane(ctx, p, best, options->min_thickness, solid, exact, &volume));
    *found = volume < HUGE_VAL;
done:
    return status;
}

/// The cell of a part and one plane more.
static rbl_status copy_planes(
    rbl_context *ctx, const part *from, const double plane[4], double sign, part *to)
{
    to->planes = rbli_alloc(ctx, from->plane_count + 1, sizeof *to->planes);
    if (!to->planes) return RBL_ERR_NO_MEMORY;
    if (from->plane_count > 0) memcpy(to->planes, from->planes, from->plane_count * sizeof *to->planes);
    for (int k = 0; k < 4; k++)
        to->planes[from->plane_count][k] = sign * plane[k];
    to->plane_count = from->plane_count + 1;
    return RBL_OK;
}

/// Cuts parts[which] in two, the second half at the end.
static rbl_status cut_part(rbl_context *ctx, part *parts, size_t count, size_t which, const double plane[4],
    const rbli_winding *solid, const rbli_hull_options *exact)
{
    rbl_status status = RBL_OK;
    part halves[2] = {0};
    soup sides[2] = {0};
    coordinates corners[2] = {0};
    status = split(ctx, &parts[which], plane, sides);
    if (status == RBL_OK) status = split_corners(ctx, &parts[which], plane, solid, corners);
    for (int i = 0; i < 2; i++) {
        halves[i].triangles = sides[i];
        halves[i].corners = corners[i];
        if (status == RBL_OK) status = copy_planes(ctx, &parts[which], plane, i == 0 ? 1 : -1, &halves[i]);
        if (status == RBL_OK) status = finish_part(ctx, &halves[i], exact);
    }
    if (status == RBL_OK) {
        part_free(ctx, &parts[which]);
        parts[which] = halves[0];
        parts[count] = halves[1];
        return RBL_OK;
    }
    part_free(ctx, &halves[0]);
    part_free(ctx, &halves[1]);
    return status;
}

/// Cuts until there are enough parts or they are good enough.
static rbl_status cut_all(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_decompose_options *options,
    const rbli_hull_options *exact, part *parts, size_t *count)
{
    rbl_status status = RBL_OK;
    double planes[MOST_PLANES][4], low[3], high[3], size = 0;
    rbli_winding *solid = NULL;
    size_t plane_count = 0, most = options->max_hulls + options->additional_splits;
    double good = options->error_tolerance * options->error_tolerance * options->error_tolerance;
    if (options->max_hulls == 0 || most > MOST_PARTS) most = MOST_PARTS;
    rbli_hull_bounds(&parts[0].hull, low, high);
    for (int k = 0; k < 3; k++)
        size = fmax(size, high[k] - low[k]);
    good = fmax(good, 1e-6 * parts[0].hull.volume);
    RBL_TRY(concave_planes(ctx, mesh, size, planes, &plane_count));
    RBL_TRY(rbli_winding_create(ctx, mesh, &solid));
    while (*count < most) {
        size_t worst = 0;
        double plane[4];
        bool found;
        for (size_t i = 1; i < *count; i++)
            if (parts[i].error > parts[worst].error) worst = i;
        if (parts[worst].error <= good) break;
        RBL_TRY(choose_plane(ctx, &parts[worst], (const double(*)[4])planes, plane_count, options, solid,
            exact, plane, &found));
        if (!found) {
            parts[worst].error = 0;
            continue;
        }
        RBL_TRY(cut_part(ctx, parts, *count, worst, plane, solid, exact));
        ++*count;
    }
done:
    rbli_winding_destroy(ctx, solid);
    return status;
}

/// Merges hulls of parts down to the number wanted.
static rbl_status merge_parts(
    rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_decompose_options *options, rbli_hull_set *set)
{
    rbl_status status = RBL_OK;
    rbli_spheres spheres = {0};
    rbli_hull_merge_options merge = rbli_hull_merge_default_options();
    merge.max_hulls = options->max_hulls;
    merge.error_tolerance = options->error_tolerance;
    if (options->protect) {
        RBL_TRY(rbli_negative_space(ctx, NULL, 0, mesh, options->protect, &spheres));
        merge.spheres = &spheres;
    }
    RBL_TRY(rbli_hull_merge(ctx, set, &merge));
done:
    rbli_spheres_free(ctx, &spheres);
    return status;
}

/// Brings hulls within their budget.
static rbl_status apply_budget(rbl_context *ctx, const rbli_hull_options *options, rbli_hull_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        rbli_hull hull;
        rbl_status status = rbli_convex_hull(
            ctx, (const double(*)[3])set->hulls[i].points, set->hulls[i].point_count, options, &hull);
        if (status != RBL_OK) return status;
        rbli_hull_free(ctx, &set->hulls[i]);
        set->hulls[i] = hull;
    }
    return RBL_OK;
}

static rbl_status make_soup(rbl_context *ctx, const rbli_mesh_view *mesh, soup *s)
{
    rbl_status status = rbli_array_reserve(ctx, s, mesh->triangle_count);
    for (size_t t = 0; status == RBL_OK && t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles[t];
        status = push(ctx, s, mesh->positions[v[0]], mesh->positions[v[1]], mesh->positions[v[2]], false);
    }
    return status;
}

rbl_status rbli_hull_decompose(rbl_context *ctx, const rbli_mesh_view *mesh,
    const rbli_decompose_options *options, const rbli_hull_options *hull, rbli_hull_set *out)
{
    rbl_status status = RBL_OK;
    part parts[MOST_PARTS] = {0};
    size_t count = 1;
    rbli_hull_set set = {0};
    rbli_hull_options exact = *hull;
    exact.max_vertices = INT32_MAX;
    exact.simplification_threshold = 0;
    RBL_TRY(make_soup(ctx, mesh, &parts[0].triangles));
    RBL_TRY(finish_part(ctx, &parts[0], &exact));
    exact.on_degenerate = RBLI_DEGENERATE_THICKEN; /* parts of a solid one may be flat */
    double volume = parts[0].hull.volume - parts[0].error;
    bool wanted = options->max_hulls != 1 && volume >= options->min_volume &&
                  volume < options->max_ratio * parts[0].hull.volume * (1 - 1e-9);
    if (wanted) RBL_TRY(cut_all(ctx, mesh, options, &exact, parts, &count));
    RBL_TRY_ALLOC(set.hulls = rbli_calloc(ctx, count, sizeof *set.hulls));
    for (; set.count < count; set.count++) {
        set.hulls[set.count] = parts[set.count].hull;
        parts[set.count].hull = (rbli_hull){0};
    }
    bool thickened = count == 1 && set.hulls[0].thickened;
    if (count > 1) RBL_TRY(merge_parts(ctx, mesh, options, &set));
    RBL_TRY(apply_budget(ctx, hull, &set));
    set.hulls[0].thickened = thickened;
    *out = set;
    set = (rbli_hull_set){0};
done:
    for (size_t i = 0; i < MOST_PARTS; i++)
        part_free(ctx, &parts[i]);
    rbli_hull_set_free(ctx, &set);
    return status;
}
