/// Quickhull over integers (Barber, Dobkin and Huhdanpaa 1996). A face keeps its normal as exact 128-bit
/// integers: a point is in front or not by a filtered dot product, so the visible part is always a disc and
/// the horizon a simple loop.

#include "fracture/geometry/exact_hull.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/wide.h"

typedef struct face {
    int32_t vertex[3], neighbor[3];
    rbli_i128 exact[3]; /* normal, not unit */
    double normal[3];   /* the same, unit */
    double offset_scale;
    int32_t outside; /* first of the points in front of it, linked by next_point; −1: none */
    int32_t farthest;
    double farthest_distance;
    bool alive, queued;
    uint32_t visit; /* stamp of the search that saw it */
} face;

typedef struct horizon_edge {
    int32_t from, to, beyond, beyond_edge;
} horizon_edge;

typedef struct builder {
    rbl_context *ctx;
    const double (*points)[3];
    size_t count;
    double tolerance;
    RBLI_ARRAY(face) faces;
    RBLI_ARRAY(int32_t) queue;
    RBLI_ARRAY(int32_t) stack; /* visible faces of the current point */
    RBLI_ARRAY(horizon_edge) horizon;
    int32_t *next_point;  /* [count] */
    int32_t *face_from;   /* [count] new face whose horizon edge starts at the point */
    uint32_t *from_stamp; /* [count] */
    uint32_t stamp;
} builder;

/// normal · (point − corner): the sign is exact, the magnitude right to the last bits; in units of distance.
static double signed_distance(const builder *b, const face *f, int32_t point)
{
    const double *p = b->points[point], *a = b->points[f->vertex[0]];
    double d[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    double t[3] = {f->normal[0] * d[0], f->normal[1] * d[1], f->normal[2] * d[2]};
    double distance = t[0] + t[1] + t[2];
    double bound = 1e-15 * (fabs(t[0]) + fabs(t[1]) + fabs(t[2]));
    if (distance > bound || distance < -bound) return distance;
    rbli_i192 sum = rbli_i192_product(f->exact[0], (int64_t)d[0]);
    sum = rbli_i192_add(sum, rbli_i192_product(f->exact[1], (int64_t)d[1]));
    sum = rbli_i192_add(sum, rbli_i192_product(f->exact[2], (int64_t)d[2]));
    return rbli_i192_to_double(sum) * f->offset_scale;
}

static void set_plane(const builder *b, face *f)
{
    int64_t u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (int64_t)(b->points[f->vertex[1]][k] - b->points[f->vertex[0]][k]);
        v[k] = (int64_t)(b->points[f->vertex[2]][k] - b->points[f->vertex[0]][k]);
    }
    double n[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        f->exact[k] = (rbli_i128)u[i] * v[j] - (rbli_i128)u[j] * v[i];
        n[k] = (double)f->exact[k];
    }
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    f->offset_scale = length > 0 ? 1 / length : 0;
    for (int k = 0; k < 3; k++)
        f->normal[k] = n[k] * f->offset_scale;
}

static rbl_status add_face(builder *b, int32_t v0, int32_t v1, int32_t v2, int32_t *index)
{
    face f = {.vertex = {v0, v1, v2}, .neighbor = {-1, -1, -1}, .outside = -1, .farthest = -1, .alive = true};
    set_plane(b, &f);
    *index = (int32_t)b->faces.count;
    return rbli_array_push(b->ctx, &b->faces, f);
}

/// Puts a point on the list of the first of the faces that it is in front of; a point in front of none is
/// inside.
static rbl_status assign_point(builder *b, int32_t point, const int32_t *faces, size_t face_count)
{
    for (size_t i = 0; i < face_count; i++) {
        face *f = &b->faces.data[faces[i]];
        double distance = signed_distance(b, f, point);
        if (distance <= b->tolerance || distance <= 0) continue;
        b->next_point[point] = f->outside;
        f->outside = point;
        if (f->farthest < 0 || distance > f->farthest_distance ||
            (distance == f->farthest_distance && point < f->farthest)) {
            f->farthest = point;
            f->farthest_distance = distance;
        }
        if (f->queued) return RBL_OK;
        f->queued = true;
        return rbli_array_push(b->ctx, &b->queue, faces[i]);
    }
    return RBL_OK;
}

static double distance_squared(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/// Points far apart: the first that is lexicographically least, the farthest from it, from their line, from
/// their plane.
static void find_simplex(const builder *b, int32_t simplex[4], int *rank)
{
    const double(*p)[3] = b->points;
    double limit = b->tolerance * b->tolerance, best = limit;
    int32_t least = 0;
    for (size_t i = 1; i < b->count; i++) {
        const double *x = p[i], *y = p[least];
        if (x[0] < y[0] || (x[0] == y[0] && (x[1] < y[1] || (x[1] == y[1] && x[2] < y[2]))))
            least = (int32_t)i;
    }
    *rank = 0;
    simplex[0] = least;
    simplex[1] = simplex[2] = simplex[3] = -1;
    for (size_t i = 0; i < b->count; i++) {
        double d = distance_squared(p[i], p[least]);
        if (d > best) best = d, simplex[1] = (int32_t)i;
    }
    if (simplex[1] < 0) return;
    *rank = 1;
    face f = {.vertex = {simplex[0], simplex[1], -1}};
    double base = best;
    best = limit;
    for (size_t i = 0; i < b->count; i++) {
        f.vertex[2] = (int32_t)i;
        set_plane(b, &f);
        if (f.offset_scale == 0) continue;
        double area = 1 / f.offset_scale, height_squared = area * area / base;
        if (height_squared > best) best = height_squared, simplex[2] = (int32_t)i;
    }
    if (simplex[2] < 0) return;
    *rank = 2;
    f.vertex[2] = simplex[2];
    set_plane(b, &f);
    best = b->tolerance;
    for (size_t i = 0; i < b->count; i++) {
        double d = fabs(signed_distance(b, &f, (int32_t)i));
        if (d > best) best = d, simplex[3] = (int32_t)i;
    }
    if (simplex[3] < 0) return;
    *rank = 3;
    if (signed_distance(b, &f, simplex[3]) > 0) {
        int32_t swap = simplex[1];
        simplex[1] = simplex[2];
        simplex[2] = swap;
    }
}

static int edge_from(const face *f, int32_t from)
{
    return f->vertex[0] == from ? 0 : f->vertex[1] == from ? 1 : 2;
}

static rbl_status make_simplex(builder *b, const int32_t s[4])
{
    /* s[3] lies behind (s0, s1, s2). */
    const int32_t corner[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    const int32_t neighbor[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    int32_t all[4];
    for (int i = 0; i < 4; i++) {
        rbl_status status = add_face(b, s[corner[i][0]], s[corner[i][1]], s[corner[i][2]], &all[i]);
        if (status != RBL_OK) return status;
        memcpy(b->faces.data[i].neighbor, neighbor[i], sizeof neighbor[i]);
    }
    for (size_t i = 0; i < b->count; i++) {
        int32_t point = (int32_t)i;
        if (point == s[0] || point == s[1] || point == s[2] || point == s[3]) continue;
        rbl_status status = assign_point(b, point, all, 4);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Fills `stack` with the faces that see the point and `horizon` with the edges around them.
static rbl_status find_horizon(builder *b, int32_t first, int32_t point)
{
    rbl_status status = RBL_OK;
    b->stamp++;
    b->stack.count = 0;
    b->horizon.count = 0;
    b->faces.data[first].visit = b->stamp;
    RBL_TRY(rbli_array_push(b->ctx, &b->stack, first));
    for (size_t i = 0; i < b->stack.count; i++) {
        int32_t here = b->stack.data[i];
        for (int k = 0; k < 3; k++) {
            const face *f = &b->faces.data[here];
            int32_t other = f->neighbor[k];
            face *g = &b->faces.data[other];
            if (g->visit == b->stamp) continue;
            if (signed_distance(b, g, point) > 0) {
                g->visit = b->stamp;
                RBL_TRY(rbli_array_push(b->ctx, &b->stack, other));
                continue;
            }
            horizon_edge edge = {
                f->vertex[k], f->vertex[(k + 1) % 3], other, edge_from(g, f->vertex[(k + 1) % 3])};
            RBL_TRY(rbli_array_push(b->ctx, &b->horizon, edge));
        }
    }
done:
    return status;
}

static rbl_status add_point(builder *b, int32_t first)
{
    rbl_status status = RBL_OK;
    int32_t point = b->faces.data[first].farthest;
    RBL_TRY(find_horizon(b, first, point));
    size_t new_start = b->faces.count, new_count = b->horizon.count;
    for (size_t i = 0; i < new_count; i++) {
        horizon_edge edge = b->horizon.data[i];
        int32_t index;
        RBL_TRY(add_face(b, edge.from, edge.to, point, &index));
        b->faces.data[index].neighbor[0] = edge.beyond;
        b->faces.data[edge.beyond].neighbor[edge.beyond_edge] = index;
        if (b->from_stamp[edge.from] == b->stamp) {
            status = RBL_ERR_INTERNAL;
            goto done;
        }
        b->from_stamp[edge.from] = b->stamp;
        b->face_from[edge.from] = index;
    }
    for (size_t i = 0; i < new_count; i++) {
        horizon_edge edge = b->horizon.data[i];
        if (b->from_stamp[edge.to] != b->stamp) {
            status = RBL_ERR_INTERNAL;
            goto done;
        }
        int32_t index = (int32_t)(new_start + i), after = b->face_from[edge.to];
        b->faces.data[index].neighbor[1] = after;
        b->faces.data[after].neighbor[2] = index;
    }
    RBL_TRY(rbli_array_reserve(b->ctx, &b->stack, new_count));
    size_t visible_count = b->stack.count;
    int32_t *fresh = b->stack.data + visible_count;
    for (size_t i = 0; i < new_count; i++)
        fresh[i] = (int32_t)(new_start + i);
    for (size_t i = 0; i < visible_count; i++) {
        face *f = &b->faces.data[b->stack.data[i]];
        f->alive = false;
        int32_t next, p = f->outside;
        f->outside = -1;
        for (; p >= 0; p = next) {
            next = b->next_point[p];
            if (p != point) RBL_TRY(assign_point(b, p, fresh, new_count));
        }
    }
done:
    return status;
}

static rbl_status collect(builder *b, rbli_exact_hull *out)
{
    size_t count = 0;
    int32_t *new_index = rbli_alloc(b->ctx, b->faces.count, sizeof *new_index);
    if (!new_index) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < b->faces.count; i++)
        new_index[i] = b->faces.data[i].alive ? (int32_t)count++ : -1;
    out->faces = rbli_alloc(b->ctx, count, sizeof *out->faces);
    out->face_count = out->faces ? count : 0;
    for (size_t i = 0; out->faces && i < b->faces.count; i++) {
        if (new_index[i] < 0) continue;
        const face *f = &b->faces.data[i];
        rbli_exact_face *to = &out->faces[new_index[i]];
        for (int k = 0; k < 3; k++) {
            to->vertex[k] = f->vertex[k];
            to->neighbor[k] = new_index[f->neighbor[k]];
            to->normal[k] = f->normal[k];
        }
    }
    rbli_free(b->ctx, new_index);
    return out->faces ? RBL_OK : RBL_ERR_NO_MEMORY;
}

rbl_status rbli_exact_hull_build(
    rbl_context *ctx, const double (*points)[3], size_t count, double tolerance, rbli_exact_hull *out)
{
    rbl_status status = RBL_OK;
    rbli_exact_hull hull = {0};
    builder b = {.ctx = ctx, .points = points, .count = count, .tolerance = tolerance};
    find_simplex(&b, hull.simplex, &hull.rank);
    if (hull.rank == 3) {
        RBL_TRY_ALLOC(b.next_point = rbli_alloc(ctx, count, sizeof *b.next_point));
        RBL_TRY_ALLOC(b.face_from = rbli_alloc(ctx, count, sizeof *b.face_from));
        RBL_TRY_ALLOC(b.from_stamp = rbli_calloc(ctx, count, sizeof *b.from_stamp));
        RBL_TRY(make_simplex(&b, hull.simplex));
        for (size_t i = 0; i < b.queue.count; i++) {
            const face *f = &b.faces.data[b.queue.data[i]];
            if (f->alive && f->outside >= 0) RBL_TRY(add_point(&b, b.queue.data[i]));
        }
        RBL_TRY(collect(&b, &hull));
    }
    *out = hull;
done:
    rbli_free(ctx, b.faces.data);
    rbli_free(ctx, b.queue.data);
    rbli_free(ctx, b.stack.data);
    rbli_free(ctx, b.horizon.data);
    rbli_free(ctx, b.next_point);
    rbli_free(ctx, b.face_from);
    rbli_free(ctx, b.from_stamp);
    return status;
}
