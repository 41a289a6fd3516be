/// Ear clipping (Meisters, Polygons have ears, 1975) over a doubly linked ring, with the exact orientation
/// test of Shewchuk (Adaptive precision floating-point arithmetic and fast robust geometric predicates,
/// 1997).

#include "fracture/geometry/polygon.h"

#include <math.h>

#include "fracture/base/alloc.h"

/// a + b = sum + rest exactly (Knuth's two-sum).
static inline void two_sum(double a, double b, double *sum, double *rest)
{
    double s = a + b, bb = s - a;
    *rest = (a - (s - bb)) + (b - bb);
    *sum = s;
}

/// a · b = product + rest exactly (Dekker's product with Veltkamp's splitting).
static inline void two_product(double a, double b, double *product, double *rest)
{
    double p = a * b, t = 134217729.0 * a, a_high = t - (t - a), a_low = a - a_high;
    t = 134217729.0 * b;
    double b_high = t - (t - b), b_low = b - b_high;
    *rest = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low;
    *product = p;
}

/// Adds `value` to an expansion of non-overlapping components in ascending order.
static inline int grow(double *expansion, int count, double value)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        double rest;
        two_sum(value, expansion[i], &value, &rest);
        if (rest != 0) expansion[kept++] = rest;
    }
    if (value != 0) expansion[kept++] = value;
    return kept;
}

static int orient_exactly(const double a[2], const double b[2], const double c[2])
{
    /* a × b + b × c + c × a, each of its six products as two components */
    const double left[6] = {a[0], b[0], c[0], -a[1], -b[1], -c[1]};
    const double right[6] = {b[1], c[1], a[1], b[0], c[0], a[0]};
    double expansion[12];
    int count = 0;
    for (int i = 0; i < 6; i++) {
        double product, rest;
        two_product(left[i], right[i], &product, &rest);
        count = grow(expansion, count, rest);
        count = grow(expansion, count, product);
    }
    if (count == 0) return 0;
    return expansion[count - 1] > 0 ? 1 : -1;
}

int rbli_orient_2d(const double a[2], const double b[2], const double c[2])
{
    double left = (a[0] - c[0]) * (b[1] - c[1]), right = (a[1] - c[1]) * (b[0] - c[0]);
    double area = left - right, bound = 3.3306690738754716e-16 * (fabs(left) + fabs(right));
    if (area > bound) return 1;
    if (-area > bound) return -1;
    return orient_exactly(a, b, c);
}

typedef struct corner_ring {
    double (*points)[2]; /* projected, counter-clockwise as a whole */
    int32_t *next, *previous;
    bool *reflex; /* corners that may lie inside an ear: not strictly convex */
    size_t tests;
} corner_ring;

static int corner_turn(const corner_ring *ring, int32_t i)
{
    return rbli_orient_2d(ring->points[ring->previous[i]], ring->points[i], ring->points[ring->next[i]]);
}

static bool same_point(const double a[2], const double b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

/// Whether corner `i`, strictly convex, can be cut off: no other corner in the closed triangle. Corners at
/// the same place as one of the triangle's do not count.
static bool is_ear(corner_ring *ring, int32_t i)
{
    int32_t before = ring->previous[i], after = ring->next[i];
    const double *a = ring->points[before], *b = ring->points[i], *c = ring->points[after];
    double low_x = fmin(a[0], fmin(b[0], c[0])), high_x = fmax(a[0], fmax(b[0], c[0]));
    double low_y = fmin(a[1], fmin(b[1], c[1])), high_y = fmax(a[1], fmax(b[1], c[1]));
    for (int32_t j = ring->next[after]; j != before; j = ring->next[j]) {
        ring->tests++;
        const double *p = ring->points[j];
        if (!ring->reflex[j] || p[0] < low_x || p[0] > high_x || p[1] < low_y || p[1] > high_y) continue;
        if (same_point(p, a) || same_point(p, b) || same_point(p, c)) continue;
        if (rbli_orient_2d(a, b, p) >= 0 && rbli_orient_2d(b, c, p) >= 0 && rbli_orient_2d(c, a, p) >= 0)
            return false;
    }
    return true;
}

static void clip(corner_ring *ring, int32_t i, int32_t out[3])
{
    int32_t before = ring->previous[i], after = ring->next[i];
    out[0] = before;
    out[1] = i;
    out[2] = after;
    ring->next[before] = after;
    ring->previous[after] = before;
    ring->reflex[before] = corner_turn(ring, before) <= 0;
    ring->reflex[after] = corner_turn(ring, after) <= 0;
}

/// A corner to cut off where no ear is left (the rest is degenerate or crosses itself): one without area that
/// is no spike across the rest, else one that is convex, else any.
static int32_t worst_case_corner(const corner_ring *ring, int32_t start)
{
    int32_t convex = -1, i = start;
    do {
        int turn = corner_turn(ring, i);
        if (turn == 0) return i;
        if (turn > 0 && convex < 0) convex = i;
        i = ring->next[i];
    } while (i != start);
    return convex >= 0 ? convex : start;
}

static rbl_status clip_ears(rbl_context *ctx, corner_ring *ring, size_t count, int32_t (*out)[3])
{
    const size_t most_tests = 4000000000u;
    int32_t at = 0;
    size_t done = 0, since_last = 0, poll = 0;
    for (size_t left = count; left > 3;) {
        if (ring->tests - poll > 1000000) {
            poll = ring->tests;
            if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        }
        int32_t i = at;
        if (since_last >= left) {
            i = worst_case_corner(ring, at);
        } else if (ring->tests < most_tests && (ring->reflex[i] || !is_ear(ring, i))) {
            at = ring->next[at];
            since_last++;
            continue;
        }
        clip(ring, i, out[done++]);
        left--;
        since_last = 0;
        at = ring->next[ring->next[i]]; /* not the neighbour: narrow fans of ears are avoided */
    }
    out[done][0] = ring->previous[at];
    out[done][1] = at;
    out[done][2] = ring->next[at];
    return RBL_OK;
}

/// Newell's normal of the polygon; not unit. Only its direction matters.
static void newell_normal(
    const double (*positions)[3], const int32_t *corners, size_t stride, size_t count, double normal[3])
{
    const double *origin = positions[corners[0]];
    normal[0] = normal[1] = normal[2] = 0;
    double extent = 0;
    for (size_t i = 1; i < count; i++)
        for (int k = 0; k < 3; k++)
            extent = fmax(extent, fabs(positions[corners[i * stride]][k] - origin[k]));
    if (!(extent > 0 && extent < INFINITY)) return;
    double previous[3] = {0, 0, 0};
    for (size_t i = 1; i <= count; i++) {
        const double *p = positions[corners[(i < count ? i : 0) * stride]];
        double current[3];
        for (int k = 0; k < 3; k++)
            current[k] = (p[k] - origin[k]) / extent;
        normal[0] += (previous[1] - current[1]) * (previous[2] + current[2]);
        normal[1] += (previous[2] - current[2]) * (previous[0] + current[0]);
        normal[2] += (previous[0] - current[0]) * (previous[1] + current[1]);
        for (int k = 0; k < 3; k++)
            previous[k] = current[k];
    }
}

/// The two coordinates kept, so that the projected polygon is counter-clockwise.
static void projection_axes(const double normal[3], int *u, int *v)
{
    int drop = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) > fabs(normal[drop])) drop = k;
    *u = (drop + 1) % 3;
    *v = (drop + 2) % 3;
    if (normal[drop] < 0) {
        int t = *u;
        *u = *v;
        *v = t;
    }
}

static bool fan_agrees(
    const double (*positions)[3], const int32_t *corners, size_t stride, size_t count, int u, int v)
{
    const double *p = positions[corners[0]];
    double a[2] = {p[u], p[v]};
    p = positions[corners[stride]];
    double b[2] = {p[u], p[v]};
    for (size_t i = 2; i < count; i++) {
        p = positions[corners[i * stride]];
        double c[2] = {p[u], p[v]};
        if (rbli_orient_2d(a, b, c) <= 0) return false;
        b[0] = c[0];
        b[1] = c[1];
    }
    return true;
}

static rbl_status triangulate_by_ears(rbl_context *ctx, const double (*positions)[3], const int32_t *corners,
    size_t stride, size_t count, int u, int v, int32_t (*out)[3])
{
    enum { ON_STACK = 64 };
    double points[ON_STACK][2];
    int32_t links[2][ON_STACK] = {{0}};
    bool reflex[ON_STACK];
    rbl_status status = RBL_OK;
    bool small = count <= ON_STACK;
    corner_ring ring = {points, links[0], links[1], reflex, 0};
    if (!small) {
        ring.points = rbli_alloc(ctx, count, sizeof *ring.points);
        ring.next = rbli_alloc(ctx, count, sizeof *ring.next);
        ring.previous = rbli_alloc(ctx, count, sizeof *ring.previous);
        ring.reflex = rbli_alloc(ctx, count, sizeof *ring.reflex);
        if (!ring.points || !ring.next || !ring.previous || !ring.reflex) status = RBL_ERR_NO_MEMORY;
    }
    if (status == RBL_OK) {
        for (size_t i = 0; i < count; i++) {
            const double *p = positions[corners[i * stride]];
            ring.points[i][0] = p[u];
            ring.points[i][1] = p[v];
            ring.next[i] = (int32_t)(i + 1 < count ? i + 1 : 0);
            ring.previous[i] = (int32_t)(i > 0 ? i - 1 : count - 1);
        }
        for (size_t i = 0; i < count; i++)
            ring.reflex[i] = corner_turn(&ring, (int32_t)i) <= 0;
        status = clip_ears(ctx, &ring, count, out);
    }
    if (!small) {
        rbli_free(ctx, ring.points);
        rbli_free(ctx, ring.next);
        rbli_free(ctx, ring.previous);
        rbli_free(ctx, ring.reflex);
    }
    return status;
}

rbl_status rbli_polygon_triangulate(rbl_context *ctx, const double (*positions)[3], const int32_t *corners,
    size_t stride, size_t count, int32_t (*out)[3])
{
    if (count > 3) {
        double normal[3];
        newell_normal(positions, corners, stride, count, normal);
        bool degenerate = !(normal[0] != 0 || normal[1] != 0 || normal[2] != 0);
        int u, v;
        projection_axes(normal, &u, &v);
        if (!degenerate && !fan_agrees(positions, corners, stride, count, u, v))
            return triangulate_by_ears(ctx, positions, corners, stride, count, u, v, out);
    }
    for (size_t i = 2; i < count; i++) {
        out[i - 2][0] = 0;
        out[i - 2][1] = (int32_t)i - 1;
        out[i - 2][2] = (int32_t)i;
    }
    return RBL_OK;
}
