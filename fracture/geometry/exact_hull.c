/// Quickhull over integers (Barber, Dobkin and Huhdanpaa 1996). A face keeps its normal as exact 128-bit
/// integers: a point is in front or not by a filtered dot product, so the visible part is always a disc and
/// the horizon a simple loop.

#include "fracture/geometry/exact_hull.h"

#include <math.h>

#include "fracture/geometry/wide.h"

/* Distances in steps of the grid: what rounding makes of 0, at most; from which tolerance on that is little;
   and how many faces are looked at for one near point. */
static const double noise = 16, rough_from = 256;
enum { MOST_LOOKS = 256 };

typedef struct rbli_hull_face {
    int32_t vertex[3], neighbor[3];
    rbli_i128 exact[3]; /* normal, not unit */
    double normal[3];   /* the same, unit */
    double corner[3];   /* vertex[0] */
    double offset_scale;
    int32_t outside; /* first of the points in front of it, linked by next_point; −1: none */
    int32_t near;    /* the same of points in front of no face by more than the tolerance, but nearly */
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
    rbli_arena *arena; /* of all arrays but the faces */
    const double (*points)[3];
    size_t count;
    double tolerance;
    bool rough; /* the tolerance is beyond rounding: it is compared with rounded distances */
    RBLI_ARRAY(face) faces;
    RBLI_ARRAY(int32_t) queue;
    RBLI_ARRAY(int32_t) stack; /* visible faces of the current point */
    RBLI_ARRAY(horizon_edge) horizon;
    int32_t *next_point;  /* [count] */
    int32_t *face_from;   /* [count] new face whose horizon edge starts at the point */
    uint32_t *from_stamp; /* [count] */
    uint32_t stamp;
} builder;

void rbli_hull_scratch_init(rbli_hull_scratch *scratch, rbl_context *ctx)
{
    *scratch = (rbli_hull_scratch){0};
    rbli_arena_init(&scratch->results, ctx);
    rbli_arena_init(&scratch->work, ctx);
}

void rbli_hull_scratch_free(rbli_hull_scratch *scratch)
{
    rbli_arena_free(&scratch->results);
    rbli_arena_free(&scratch->work);
    if (scratch->faces.data) rbli_free(scratch->work.ctx, scratch->faces.data);
}

/// Makes room for `extra` more elements in one of the builder's arrays.
static rbl_status reserve_(
    builder *b, void **data, size_t *capacity, size_t count, size_t extra, size_t element_bytes)
{
    if (extra <= *capacity - count) return RBL_OK;
    size_t grown = extra > *capacity ? count + extra : 2 * *capacity;
    void *moved = rbli_arena_alloc(b->arena, grown, element_bytes);
    if (!moved) return RBL_ERR_NO_MEMORY;
    if (count) memcpy(moved, *data, count * element_bytes);
    *data = moved;
    *capacity = grown;
    return RBL_OK;
}

#define reserve(b, array, extra)                                                                             \
    reserve_((b), (void **)&(array)->data, &(array)->capacity, (array)->count, (extra), sizeof *(array)->data)
#define push(b, array, value)                                                                                \
    ((array)->count < (array)->capacity || reserve((b), (array), 1) == RBL_OK                                \
            ? ((array)->data[(array)->count++] = (value), RBL_OK)                                            \
            : RBL_ERR_NO_MEMORY)

/// The rare case of signed_distance, where rounding hides the sign.
static __attribute__((noinline)) double exact_distance(const face *f, double dx, double dy, double dz)
{
    rbli_i192 sum = rbli_i192_product(f->exact[0], (int64_t)dx);
    sum = rbli_i192_add(sum, rbli_i192_product(f->exact[1], (int64_t)dy));
    sum = rbli_i192_add(sum, rbli_i192_product(f->exact[2], (int64_t)dz));
    return rbli_i192_to_double(sum) * f->offset_scale;
}

/// normal · (point − corner): the sign is exact, the magnitude right to the last bits; in units of distance.
static inline double signed_distance(const builder *b, const face *f, int32_t point)
{
    const double *p = b->points[point], *a = f->corner;
    double d[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    double t[3] = {f->normal[0] * d[0], f->normal[1] * d[1], f->normal[2] * d[2]};
    double distance = t[0] + t[1] + t[2];
    double bound = 1e-15 * (fabs(t[0]) + fabs(t[1]) + fabs(t[2]));
    if (fabs(distance) > bound) return distance;
    return exact_distance(f, d[0], d[1], d[2]);
}

/// The same, rounded: off by less than `noise`.
static double rounded_distance(const builder *b, const face *f, int32_t point)
{
    const double *p = b->points[point], *a = f->corner;
    return f->normal[0] * (p[0] - a[0]) + f->normal[1] * (p[1] - a[1]) + f->normal[2] * (p[2] - a[2]);
}

/// To the last bits. Without a branch, since signs are anything; the compiler's own conversion is a slow call.
static double wide_to_double(rbli_i128 x)
{
    rbli_i128 sign = x >> 127; /* 0 or −1 */
    rbli_u128 size = (rbli_u128)(x ^ sign) - (rbli_u128)sign;
    uint64_t high = (uint64_t)(size >> 64), low = (uint64_t)size;
    double low_value = (double)(int64_t)(low >> 32) * 0x1p32 + (double)(int64_t)(low & UINT32_MAX);
    double value = (double)(int64_t)high * 0x1p64 + low_value; /* high is far below 2^63 */
    return value * (double)(1 + 2 * (int)sign);
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
        n[k] = wide_to_double(f->exact[k]);
    }
    memcpy(f->corner, b->points[f->vertex[0]], sizeof f->corner);
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    f->offset_scale = length > 0 ? 1 / length : 0;
    for (int k = 0; k < 3; k++)
        f->normal[k] = n[k] * f->offset_scale;
}

static rbl_status add_face(builder *b, int32_t v0, int32_t v1, int32_t v2, int32_t *index)
{
    bool is_full = b->faces.count == b->faces.capacity;
    if (is_full && rbli_array_reserve(b->ctx, &b->faces, 1) != RBL_OK) return RBL_ERR_NO_MEMORY;
    *index = (int32_t)b->faces.count;
    face *f = &b->faces.data[b->faces.count++];
    f->vertex[0] = v0, f->vertex[1] = v1, f->vertex[2] = v2;
    f->neighbor[0] = f->neighbor[1] = f->neighbor[2] = -1;
    set_plane(b, f);
    f->outside = f->near = f->farthest = -1;
    f->farthest_distance = 0;
    f->alive = true;
    f->queued = false;
    f->visit = 0;
    return RBL_OK;
}

static rbl_status put_outside(builder *b, int32_t point, int32_t index, double distance)
{
    face *f = &b->faces.data[index];
    b->next_point[point] = f->outside;
    f->outside = point;
    if (f->farthest < 0 || distance > f->farthest_distance ||
        (distance == f->farthest_distance && point < f->farthest)) {
        f->farthest = point;
        f->farthest_distance = distance;
    }
    if (f->queued) return RBL_OK;
    f->queued = true;
    return push(b, &b->queue, index);
}

/// Puts a point on the list of the first face from `begin` on that it is in front of. One in front of none is inside,
/// but that is certain only for exact signs: with a tolerance, one that nearly touches a face stays near it.
static rbl_status assign_point(builder *b, int32_t point, size_t begin)
{
    int32_t host = -1;
    double nearest = -noise;
    for (size_t i = begin; i < b->faces.count; i++) {
        const face *f = &b->faces.data[i];
        double distance = b->rough ? rounded_distance(b, f, point) : signed_distance(b, f, point);
        if (distance > b->tolerance && distance > 0) return put_outside(b, point, (int32_t)i, distance);
        if (distance > nearest) nearest = distance, host = (int32_t)i;
    }
    if (!b->rough || host < 0) return RBL_OK;
    b->next_point[point] = b->faces.data[host].near;
    b->faces.data[host].near = point;
    return RBL_OK;
}

static double distance_squared(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/// How far p lies from the line through a and b, squared; `base` is the square of their distance.
static double line_height_squared(const double a[3], const double b[3], const double p[3], double base)
{
    double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    return (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / base;
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
        double height = line_height_squared(p[least], p[simplex[1]], p[i], base);
        if (height < rough_from * rough_from) { /* rounding may decide */
            f.vertex[2] = (int32_t)i;
            set_plane(b, &f);
            height = f.offset_scale > 0 ? 1 / f.offset_scale * (1 / f.offset_scale) / base : 0;
        }
        if (height > best) best = height, simplex[2] = (int32_t)i;
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
    return (f->vertex[1] == from) + 2 * (f->vertex[2] == from); /* any of them: a branch would be a guess */
}

static rbl_status make_simplex(builder *b, const int32_t s[4])
{
    /* s[3] lies behind (s0, s1, s2). */
    const int32_t corner[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    const int32_t neighbor[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    for (int i = 0; i < 4; i++) {
        int32_t index;
        rbl_status status = add_face(b, s[corner[i][0]], s[corner[i][1]], s[corner[i][2]], &index);
        if (status != RBL_OK) return status;
        memcpy(b->faces.data[i].neighbor, neighbor[i], sizeof neighbor[i]);
    }
    for (size_t i = 0; i < b->count; i++) {
        int32_t point = (int32_t)i;
        if (point == s[0] || point == s[1] || point == s[2] || point == s[3]) continue;
        rbl_status status = assign_point(b, point, 0);
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
    RBL_TRY(push(b, &b->stack, first));
    for (size_t i = 0; i < b->stack.count; i++) {
        int32_t here = b->stack.data[i];
        for (int k = 0; k < 3; k++) {
            const face *f = &b->faces.data[here];
            int32_t other = f->neighbor[k];
            face *g = &b->faces.data[other];
            if (g->visit == b->stamp) continue;
            if (signed_distance(b, g, point) > 0) {
                g->visit = b->stamp;
                RBL_TRY(push(b, &b->stack, other));
                continue;
            }
            horizon_edge edge = {
                f->vertex[k], f->vertex[(k + 1) % 3], other, edge_from(g, f->vertex[(k + 1) % 3])};
            RBL_TRY(push(b, &b->horizon, edge));
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
    for (size_t i = 0; i < b->stack.count; i++) {
        face *f = &b->faces.data[b->stack.data[i]];
        int32_t lists[2] = {f->outside, f->near};
        f->alive = false;
        f->outside = f->near = -1;
        for (int list = 0; list < 2; list++)
            for (int32_t next, p = lists[list]; p >= 0; p = next) {
                next = b->next_point[p];
                if (p != point) RBL_TRY(assign_point(b, p, new_start));
            }
    }
done:
    return status;
}

/// The face that a near point is farthest in front of, among those in front of which it is that hang together
/// with its own.
static rbl_status look_around(builder *b, int32_t first, int32_t point, int32_t *best, double *distance)
{
    rbl_status status = RBL_OK;
    *best = first;
    *distance = rounded_distance(b, &b->faces.data[first], point);
    b->stamp++;
    b->stack.count = 0;
    b->faces.data[first].visit = b->stamp;
    RBL_TRY(push(b, &b->stack, first));
    for (size_t i = 0; i < b->stack.count && i < MOST_LOOKS; i++)
        for (int k = 0; k < 3; k++) {
            int32_t other = b->faces.data[b->stack.data[i]].neighbor[k];
            face *f = &b->faces.data[other];
            if (f->visit == b->stamp) continue;
            f->visit = b->stamp;
            double d = rounded_distance(b, f, point);
            if (d <= 0) continue;
            if (d > *distance) *distance = d, *best = other;
            RBL_TRY(push(b, &b->stack, other));
        }
done:
    return status;
}

/// Moves near points that are in front of some face after all onto its list; the queue grows by these.
static rbl_status settle(builder *b)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; b->rough && i < b->faces.count; i++) {
        int32_t p = b->faces.data[i].near; /* none where the face is not alive */
        if (p < 0) continue;
        b->faces.data[i].near = -1;
        for (int32_t next; p >= 0; p = next) {
            int32_t best;
            double distance;
            next = b->next_point[p];
            RBL_TRY(look_around(b, (int32_t)i, p, &best, &distance));
            if (distance > b->tolerance) {
                RBL_TRY(put_outside(b, p, best, distance));
                continue;
            }
            b->next_point[p] = b->faces.data[i].near;
            b->faces.data[i].near = p;
        }
    }
done:
    return status;
}

/// All points in front of a face, then those that turn out to be.
static rbl_status add_points(builder *b)
{
    rbl_status status = RBL_OK;
    size_t next = 0, before;
    do {
        for (; next < b->queue.count; next++) {
            const face *f = &b->faces.data[b->queue.data[next]];
            if (next % 1024 == 1023 && rbli_cancelled(b->ctx)) return RBL_ERR_CANCELLED;
            if (f->alive && f->outside >= 0) RBL_TRY(add_point(b, b->queue.data[next]));
        }
        before = b->queue.count;
        RBL_TRY(settle(b));
    } while (b->queue.count > before);
done:
    return status;
}

/// Memory for the hull of a few points at once.
static rbl_status prepare(builder *b)
{
    rbl_status status = RBL_OK;
    size_t expected = 8 + 2 * (b->count < 256 ? b->count : 256);
    RBL_TRY(rbli_array_reserve(b->ctx, &b->faces, expected));
    RBL_TRY_ALLOC(b->next_point = rbli_arena_alloc(b->arena, b->count, sizeof *b->next_point));
    RBL_TRY_ALLOC(b->face_from = rbli_arena_alloc(b->arena, b->count, sizeof *b->face_from));
    RBL_TRY_ALLOC(b->from_stamp = rbli_arena_alloc(b->arena, b->count, sizeof *b->from_stamp));
    memset(b->from_stamp, 0, b->count * sizeof *b->from_stamp);
    RBL_TRY(reserve(b, &b->queue, expected));
    RBL_TRY(reserve(b, &b->stack, 64));
    RBL_TRY(reserve(b, &b->horizon, 64));
done:
    return status;
}

/// The faces that are alive, in the order in which they were made.
static rbl_status collect(builder *b, rbli_arena *results, rbli_exact_hull *out)
{
    rbl_status status = RBL_OK;
    size_t count = 0;
    int32_t *new_index = NULL, *alive = NULL;
    RBL_TRY_ALLOC(new_index = rbli_arena_alloc(b->arena, b->faces.count, sizeof *new_index));
    RBL_TRY_ALLOC(alive = rbli_arena_alloc(b->arena, b->faces.count, sizeof *alive));
    for (size_t i = 0; i < b->faces.count; i++) { /* which are is anyone's guess: no branch on it */
        new_index[i] = (int32_t)count;
        alive[count] = (int32_t)i;
        count += b->faces.data[i].alive;
    }
    RBL_TRY_ALLOC(out->faces = rbli_arena_alloc(results, count, sizeof *out->faces));
    out->face_count = count;
    for (size_t i = 0; i < count; i++) {
        const face *f = &b->faces.data[alive[i]];
        rbli_exact_face *to = &out->faces[i];
        for (int k = 0; k < 3; k++) {
            to->vertex[k] = f->vertex[k];
            to->neighbor[k] = new_index[f->neighbor[k]];
            to->normal[k] = f->normal[k];
        }
    }
done:
    return status;
}

rbl_status rbli_exact_hull_build(rbl_context *ctx, rbli_hull_scratch *scratch, const double (*points)[3],
    size_t count, double tolerance, rbli_exact_hull *out)
{
    rbl_status status = RBL_OK;
    rbli_exact_hull hull = {0};
    builder b = {.ctx = ctx,
        .arena = &scratch->work,
        .faces = {scratch->faces.data, 0, scratch->faces.capacity},
        .points = points,
        .count = count,
        .tolerance = tolerance,
        .rough = tolerance >= rough_from};
    find_simplex(&b, hull.simplex, &hull.rank);
    if (hull.rank == 3) {
        RBL_TRY(prepare(&b));
        RBL_TRY(make_simplex(&b, hull.simplex));
        RBL_TRY(add_points(&b));
        RBL_TRY(collect(&b, &scratch->results, &hull));
    }
    *out = hull;
done:
    scratch->faces.data = b.faces.data; /* they may have been moved */
    scratch->faces.capacity = b.faces.capacity;
    rbli_arena_clear(&scratch->work);
    return status;
}
