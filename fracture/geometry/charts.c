/// Charts grow from the largest triangle over neighbours that face their axis; overlaps are found among all
/// pairs of their triangles whose boxes meet.

#include "fracture/geometry/charts.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/face_graph.h"
#include "fracture/geometry/radix_sort.h"

static const double LEAST_COSINE = 0.70710678118654752; /* of 45° */
/// Triangles that enter each other by less than this part of their chart's extent do not overlap.
static const double SLACK = 1e-6;
enum { FEW_TRIANGLES = 24, MOST_DIRECTIONS = 64 };

typedef struct unfolding {
    rbl_context *ctx;
    const rbli_mesh_view *mesh;
    const int32_t *opposite, *plane;
    double (*normal)[3], *area;
    int32_t *chart;
    double (*place)[2];
    RBLI_ARRAY(int32_t) members; /* of the chart under way, in the order of growth */
    RBLI_ARRAY(struct { double at[2]; }) hull;
    int32_t *mark; /* by triangle: last round that reached it */
    int32_t round;
} unfolding;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool make_unit(double v[3])
{
    double length = sqrt(dot(v, v));
    if (!(length > 0) || !isfinite(length)) return false;
    for (int k = 0; k < 3; k++)
        v[k] /= length;
    return true;
}

/// Gathers the free triangles that hang together with the seed, have its plane number, and face the axis.
static rbl_status grow(unfolding *u, int32_t seed, const double axis[3], double least_cosine)
{
    rbl_status status = RBL_OK;
    u->members.count = 0;
    u->round++;
    u->mark[seed] = u->round;
    RBL_TRY(rbli_array_push(u->ctx, &u->members, seed));
    for (size_t i = 0; i < u->members.count; i++) {
        int32_t t = u->members.data[i];
        if (i % 16384 == 16383 && rbli_cancelled(u->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (int32_t c = 3 * t; c < 3 * t + 3; c++) {
            int32_t o = u->opposite[c] < 0 ? -1 : u->opposite[c] / 3;
            if (o < 0 || u->chart[o] != -1 || u->mark[o] == u->round) continue;
            if (u->plane && u->plane[o] != u->plane[seed]) continue;
            if (dot(u->normal[o], axis) < least_cosine) continue;
            u->mark[o] = u->round;
            RBL_TRY(rbli_array_push(u->ctx, &u->members, o));
        }
    }
done:
    return status;
}

/// The mean direction of the members; the seed's where they cancel out or it would be left out.
static void find_axis(const unfolding *u, int32_t seed, double axis[3])
{
    double sum[3] = {0, 0, 0};
    for (size_t i = 0; i < u->members.count; i++)
        for (int k = 0; k < 3; k++)
            sum[k] += u->area[u->members.data[i]] * u->normal[u->members.data[i]][k];
    bool usable = make_unit(sum) && dot(sum, u->normal[seed]) >= LEAST_COSINE;
    memcpy(axis, usable ? sum : u->normal[seed], 3 * sizeof *axis);
}

/// Projects the members: right-handed seen from where the axis points to.
static void project(const unfolding *u, const double axis[3])
{
    double right[3] = {0, 0, 0}, up[3];
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(axis[k]) < fabs(axis[least])) least = k;
    right[(least + 1) % 3] = -axis[(least + 2) % 3];
    right[(least + 2) % 3] = axis[(least + 1) % 3];
    make_unit(right);
    for (int k = 0; k < 3; k++)
        up[k] = axis[(k + 1) % 3] * right[(k + 2) % 3] - axis[(k + 2) % 3] * right[(k + 1) % 3];
    const double *origin = u->mesh->positions[u->mesh->triangles[u->members.data[0]][0]];
    for (size_t i = 0; i < u->members.count; i++)
        for (int c = 0; c < 3; c++) {
            int32_t t = u->members.data[i];
            const double *p = u->mesh->positions[u->mesh->triangles[t][c]];
            double q[3] = {p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]};
            u->place[3 * t + c][0] = dot(q, right);
            u->place[3 * t + c][1] = dot(q, up);
        }
}

/* ---- overlaps ---- */

typedef struct overlap_search {
    const unfolding *u;
    int32_t triangle; /* a member's place in the list */
    double slack;
    bool found;
} overlap_search;

/// Whether some line parts two triangles up to the slack: one along a side of `a`.
static bool side_parts(const double (*a)[2], const double (*b)[2], double slack)
{
    double turn = (a[1][0] - a[0][0]) * (a[2][1] - a[0][1]) - (a[2][0] - a[0][0]) * (a[1][1] - a[0][1]);
    for (int i = 0; i < 3; i++) {
        const double *p = a[i], *q = a[(i + 1) % 3];
        double d[2] = {q[0] - p[0], q[1] - p[1]}, length = sqrt(d[0] * d[0] + d[1] * d[1]), least = INFINITY;
        if (!(length > 0)) return true; /* a point or a line covers nothing */
        for (int k = 0; k < 3; k++) {   /* heights to the right: outside */
            double height = ((b[k][0] - p[0]) * d[1] - (b[k][1] - p[1]) * d[0]) / length;
            least = fmin(least, turn < 0 ? -height : height);
        }
        if (least >= -slack) return true;
    }
    return false;
}

static bool overlap(const unfolding *u, int32_t a, int32_t b, double slack)
{
    const double(*p)[2] = (const double(*)[2])u->place + 3 * a,
          (*q)[2] = (const double(*)[2])u->place + 3 * b;
    return !side_parts(p, q, slack) && !side_parts(q, p, slack);
}

static bool visit_member(void *user, int32_t item)
{
    overlap_search *s = user;
    if (item > s->triangle &&
        overlap(s->u, s->u->members.data[s->triangle], s->u->members.data[item], s->slack))
        s->found = true;
    return !s->found;
}

static void box_of(const unfolding *u, int32_t t, double box[2][3])
{
    const double(*p)[2] = (const double(*)[2])u->place + 3 * t;
    box[0][2] = box[1][2] = 0;
    for (int k = 0; k < 2; k++) {
        box[0][k] = fmin(p[0][k], fmin(p[1][k], p[2][k]));
        box[1][k] = fmax(p[0][k], fmax(p[1][k], p[2][k]));
    }
}

static double extent_of(const unfolding *u)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < u->members.count; i++) {
        double box[2][3];
        box_of(u, u->members.data[i], box);
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], box[0][k]);
            high[k] = fmax(high[k], box[1][k]);
        }
    }
    return fmax(high[0] - low[0], high[1] - low[1]);
}

/// Whether any two members overlap.
static rbl_status find_overlap(const unfolding *u, bool *found)
{
    rbl_status status = RBL_OK;
    overlap_search s = {.u = u, .slack = SLACK * extent_of(u)};
    double(*boxes)[2][3] = NULL;
    rbli_box_tree *tree = NULL;
    size_t count = u->members.count;
    *found = false;
    if (count <= FEW_TRIANGLES) {
        for (size_t i = 0; i < count && !*found; i++)
            for (size_t j = i + 1; j < count && !*found; j++)
                *found = overlap(u, u->members.data[i], u->members.data[j], s.slack);
        return RBL_OK;
    }
    RBL_TRY_ALLOC(boxes = rbli_alloc(u->ctx, count, sizeof *boxes));
    for (size_t i = 0; i < count; i++)
        box_of(u, u->members.data[i], boxes[i]);
    RBL_TRY(rbli_box_tree_create(u->ctx, (const double(*)[2][3])boxes, count, &tree));
    for (size_t i = 0; i < count && !s.found; i++) {
        if (i % 1024 == 0 && rbli_cancelled(u->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        s.triangle = (int32_t)i;
        rbli_box_tree_query(tree, boxes[i][0], boxes[i][1], visit_member, &s);
    }
    *found = s.found;
done:
    rbli_box_tree_destroy(u->ctx, tree);
    rbli_free(u->ctx, boxes);
    return status;
}

/* ---- turning ---- */

static int compare_points(const void *pa, const void *pb)
{
    const double *a = pa, *b = pb;
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? -1 : a[1] > b[1];
}

static double turn_of(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// Collects the corners at the border of the chart: nothing else can be on its hull.
static rbl_status find_border(unfolding *u)
{
    rbl_status status = RBL_OK;
    u->hull.count = 0;
    for (size_t i = 0; i < u->members.count; i++) {
        int32_t t = u->members.data[i];
        RBL_TRY(rbli_array_reserve(u->ctx, &u->hull, 6));
        for (int32_t k = 0; k < 3; k++) {
            int32_t o = u->opposite[3 * t + k];
            if (o >= 0 && u->chart[o / 3] == u->chart[t]) continue;
            memcpy(u->hull.data[u->hull.count++].at, u->place[3 * t + k], sizeof(double[2]));
            memcpy(u->hull.data[u->hull.count++].at, u->place[3 * t + (k + 1) % 3], sizeof(double[2]));
        }
    }
done:
    return status;
}

/// The convex hull of the border (Andrew 1979), counter-clockwise, behind the sorted corners.
static rbl_status find_hull(unfolding *u, size_t *first, size_t *count)
{
    rbl_status status = RBL_OK;
    RBL_TRY(find_border(u));
    size_t corners = u->hull.count, begin = corners, end = corners;
    RBL_TRY(rbli_array_reserve(u->ctx, &u->hull, 2 * corners + 2));
    if (corners) qsort(u->hull.data, corners, sizeof *u->hull.data, compare_points);
    for (int half = 0; half < 2 && corners > 0; half++) {
        size_t base = end;
        for (size_t i = 0; i < corners; i++) {
            const double *p = u->hull.data[half ? corners - 1 - i : i].at;
            while (end - base >= 2 && turn_of(u->hull.data[end - 2].at, u->hull.data[end - 1].at, p) <= 0)
                end--;
            memcpy(u->hull.data[end++].at, p, sizeof u->hull.data[0].at);
        }
        end--; /* the last one begins the other half */
    }
    *first = begin;
    *count = end - begin;
done:
    return status;
}

static void widen(double box[2][2], const double p[2], const double d[2])
{
    double q[2] = {p[0] * d[0] + p[1] * d[1], p[1] * d[0] - p[0] * d[1]};
    for (int k = 0; k < 2; k++) {
        box[0][k] = fmin(box[0][k], q[k]);
        box[1][k] = fmax(box[1][k], q[k]);
    }
}

/// The box of the hull along a direction.
static void box_of_hull(const unfolding *u, size_t first, size_t count, const double d[2], double box[2][2])
{
    box[0][0] = box[0][1] = INFINITY;
    box[1][0] = box[1][1] = -INFINITY;
    for (size_t i = first; i < first + count; i++)
        widen(box, u->hull.data[i].at, d);
}

/// The box of all members along a direction.
static void box_of_members(const unfolding *u, const double d[2], double box[2][2])
{
    box[0][0] = box[0][1] = INFINITY;
    box[1][0] = box[1][1] = -INFINITY;
    for (size_t i = 0; i < 3 * u->members.count; i++)
        widen(box, u->place[3 * u->members.data[i / 3] + (int32_t)(i % 3)], d);
}

/// Turns the chart to the smallest box along a side of its hull, its longer side along the first axis, scales
/// it to its triangles' area, and moves it to the origin.
static rbl_status settle(unfolding *u, double size[2])
{
    rbl_status status = RBL_OK;
    size_t first, count;
    double best[2] = {1, 0}, box[2][2], least = INFINITY, flat = 0, full = 0;
    RBL_TRY(find_hull(u, &first, &count));
    if (rbli_cancelled(u->ctx)) return RBL_ERR_CANCELLED;
    size_t step = (count + MOST_DIRECTIONS - 1) / MOST_DIRECTIONS;
    for (size_t i = 0; i < count; i += step) {
        const double *p = u->hull.data[first + i].at, *q = u->hull.data[first + (i + 1) % count].at;
        double d[2] = {q[0] - p[0], q[1] - p[1]}, length = sqrt(d[0] * d[0] + d[1] * d[1]);
        if (!(length > 0)) continue;
        d[0] /= length;
        d[1] /= length;
        box_of_hull(u, first, count, d, box);
        double area = (box[1][0] - box[0][0]) * (box[1][1] - box[0][1]);
        if (!(area < least)) continue;
        least = area;
        memcpy(best, d, sizeof best);
    }
    box_of_members(u, best, box);
    if (box[1][0] - box[0][0] < box[1][1] - box[0][1]) {
        double d[2] = {-best[1], best[0]};
        memcpy(best, d, sizeof best);
        box_of_members(u, best, box);
    }
    for (size_t i = 0; i < u->members.count; i++) {
        const double(*p)[2] = (const double(*)[2])u->place + 3 * u->members.data[i];
        flat += fabs(turn_of(p[0], p[1], p[2])) / 2;
        full += u->area[u->members.data[i]];
    }
    double scale = flat > 0 && full > flat ? sqrt(full / flat) : 1;
    if (scale > 1.2) scale = 1.2; /* slivers alone */
    for (int k = 0; k < 2; k++)
        size[k] = (box[1][k] - box[0][k]) * scale;
    for (size_t i = 0; i < 3 * u->members.count; i++) {
        double *p = u->place[3 * u->members.data[i / 3] + (int32_t)(i % 3)];
        double q[2] = {p[0] * best[0] + p[1] * best[1], p[1] * best[0] - p[0] * best[1]};
        for (int k = 0; k < 2; k++)
            p[k] = fmin(fmax((q[k] - box[0][k]) * scale, 0), size[k]);
    }
done:
    return status;
}

/* ---- all charts ---- */

/// Makes one chart around a seed.
static rbl_status make_chart(unfolding *u, int32_t seed, int32_t number, double size[2])
{
    rbl_status status = RBL_OK;
    double axis[3];
    bool planar = u->plane && u->plane[seed] >= 0, overlaps;
    RBL_TRY(grow(u, seed, u->normal[seed], planar ? -2 : LEAST_COSINE));
    find_axis(u, seed, axis);
    RBL_TRY(grow(u, seed, axis, LEAST_COSINE));
    project(u, axis);
    for (;;) {
        RBL_TRY(find_overlap(u, &overlaps));
        if (!overlaps) break;
        u->members.count = (u->members.count + 1) / 2; /* what grew first still hangs together */
    }
    for (size_t i = 0; i < u->members.count; i++)
        u->chart[u->members.data[i]] = number;
    status = settle(u, size);
done:
    return status;
}

static rbl_status prepare(unfolding *u, const bool *chosen, rbli_keyed *order)
{
    const rbli_mesh_view *mesh = u->mesh;
    size_t count = mesh->triangle_count;
    for (size_t t = 0; t < count; t++) {
        const double *p[3];
        double a[3], b[3], n[3];
        if (t % 65536 == 65535 && rbli_cancelled(u->ctx)) return RBL_ERR_CANCELLED;
        for (int c = 0; c < 3; c++)
            p[c] = mesh->positions[mesh->triangles[t][c]];
        for (int k = 0; k < 3; k++) {
            a[k] = p[1][k] - p[0][k];
            b[k] = p[2][k] - p[0][k];
        }
        for (int k = 0; k < 3; k++)
            n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        u->area[t] = sqrt(dot(n, n)) / 2;
        u->chart[t] = chosen && !chosen[t] ? -2 : -1;
        order[t] = (rbli_keyed){~rbli_double_key(u->area[t]), (int32_t)t};
    }
    memset(u->place, 0, 3 * count * sizeof *u->place);
    memset(u->mark, 0, count * sizeof *u->mark);
    return rbli_face_normals(u->ctx, mesh, u->opposite, u->normal, NULL);
}

void rbli_charts_free(rbl_context *ctx, rbli_charts *charts)
{
    rbli_free(ctx, charts->chart);
    rbli_free(ctx, charts->place);
    rbli_free(ctx, charts->size);
    *charts = (rbli_charts){0};
}

rbl_status rbli_make_charts(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *opposite,
    const int32_t *plane, const bool *chosen, rbli_charts *out)
{
    rbl_status status = RBL_OK;
    size_t count = mesh->triangle_count;
    unfolding u = {.ctx = ctx, .mesh = mesh, .opposite = opposite, .plane = plane};
    RBLI_ARRAY(struct { double at[2]; }) sizes = {0};
    rbli_keyed *order = NULL, *scratch = NULL;
    rbli_charts made = {0};
    RBL_TRY_ALLOC(made.chart = u.chart = rbli_alloc(ctx, count, sizeof *u.chart));
    RBL_TRY_ALLOC(made.place = u.place = rbli_alloc(ctx, 3 * count, sizeof *u.place));
    RBL_TRY_ALLOC(u.normal = rbli_alloc(ctx, count, sizeof *u.normal));
    RBL_TRY_ALLOC(u.area = rbli_alloc(ctx, count, sizeof *u.area));
    RBL_TRY_ALLOC(u.mark = rbli_alloc(ctx, count, sizeof *u.mark));
    RBL_TRY_ALLOC(order = rbli_alloc(ctx, count, sizeof *order));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    RBL_TRY(prepare(&u, chosen, order));
    rbli_radix_sort(order, scratch, count);
    for (size_t i = 0; i < count; i++) {
        int32_t seed = order[i].index;
        double size[2];
        if (u.chart[seed] != -1) continue;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(make_chart(&u, seed, (int32_t)sizes.count, size));
        RBL_TRY(rbli_array_reserve(ctx, &sizes, 1));
        memcpy(sizes.data[sizes.count++].at, size, sizeof size);
    }
    for (size_t t = 0; t < count; t++)
        if (u.chart[t] < 0) u.chart[t] = -1;
    RBL_TRY_ALLOC(made.size = rbli_alloc(ctx, sizes.count, sizeof *made.size));
    for (size_t i = 0; i < sizes.count; i++)
        memcpy(made.size[i], sizes.data[i].at, sizeof *made.size);
    made.count = sizes.count;
    *out = made;
    made = (rbli_charts){0};
done:
    rbli_charts_free(ctx, &made);
    rbli_free(ctx, u.normal);
    rbli_free(ctx, u.area);
    rbli_free(ctx, u.mark);
    rbli_free(ctx, u.members.data);
    rbli_free(ctx, u.hull.data);
    rbli_free(ctx, sizes.data);
    rbli_free(ctx, order);
    rbli_free(ctx, scratch);
    return status;
}
