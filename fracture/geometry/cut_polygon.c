/// Ear clipping of polygons with holes. Holes are bridged from their rightmost vertex (Eberly, "Triangulation
/// by ear clipping", 2002). Small rings take the best-shaped ear each time, large ones go round with falling
/// demands on shape.

#include "fracture/geometry/cut_polygon.h"

#include <math.h>
#include <stdlib.h>

typedef struct cut_ring_vertex {
    double x, y;
    double side, shape; /* in small rings: squared length to the next vertex; of the ear here */
    int32_t point;
    int32_t previous, next;
    int32_t removed;
} cut_ring_vertex;
typedef cut_ring_vertex ring_vertex;

enum { SMALL_RING = 24 };

void cut_polygon_free(rbl_context *ctx, cut_polygon *polygon)
{
    rbli_free(ctx, polygon->ring);
    rbli_free(ctx, polygon->sorted);
    rbli_free(ctx, polygon->corners.data);
    *polygon = (cut_polygon){0};
}

double cut_loop_area2(const double (*points)[2], size_t count)
{
    double sum = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        double ax = points[i][0] - points[0][0], ay = points[i][1] - points[0][1];
        double bx = points[i + 1][0] - points[0][0], by = points[i + 1][1] - points[0][1];
        sum += ax * by - ay * bx;
    }
    return sum;
}

bool cut_loop_contains(const double (*points)[2], size_t count, const double point[2])
{
    bool inside = false;
    for (size_t i = 0, j = count - 1; i < count; j = i++) {
        const double *a = points[i], *b = points[j];
        if ((a[1] > point[1]) == (b[1] > point[1])) continue;
        double x = a[0] + (point[1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1]);
        if (point[0] < x) inside = !inside;
    }
    return inside;
}

static double area2(const ring_vertex *a, const ring_vertex *b, const ring_vertex *c)
{
    return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

/// Without the calls that fmin and fmax are.
static double least(double a, double b, double c)
{
    double ab = a < b ? a : b;
    return c < ab ? c : ab;
}

static double most(double a, double b, double c)
{
    double ab = a > b ? a : b;
    return c > ab ? c : ab;
}

static double squared_distance(const ring_vertex *a, const ring_vertex *b)
{
    return (a->x - b->x) * (a->x - b->x) + (a->y - b->y) * (a->y - b->y);
}

static bool same_place(const ring_vertex *a, const ring_vertex *b)
{
    return a->x == b->x && a->y == b->y;
}

/// Height over the longest side, relative to that side: 0.87 for an equilateral triangle, 0 for a flat one.
static double ear_shape(const ring_vertex *a, const ring_vertex *b, const ring_vertex *c)
{
    double ab = squared_distance(a, b), bc = squared_distance(b, c), ca = squared_distance(c, a);
    double longest = most(ab, bc, ca);
    return longest > 0 ? area2(a, b, c) / longest : 0;
}

static bool blocks(const ring_vertex *a, const ring_vertex *b, const ring_vertex *c, const ring_vertex *w)
{
    return area2(a, b, w) >= 0 && area2(b, c, w) >= 0 && area2(c, a, w) >= 0 && !same_place(w, a) &&
           !same_place(w, b) && !same_place(w, c);
}

/* ---- holes ---- */

static void link_ring(ring_vertex *ring, int32_t first, int32_t end)
{
    for (int32_t i = first; i < end; i++) {
        ring[i].previous = i == first ? end - 1 : i - 1;
        ring[i].next = i + 1 == end ? first : i + 1;
        ring[i].removed = 0;
    }
}

static int32_t rightmost(const ring_vertex *ring, int32_t first, int32_t end)
{
    int32_t best = first;
    for (int32_t i = first + 1; i < end; i++)
        if (ring[i].x > ring[best].x || (ring[i].x == ring[best].x && ring[i].y < ring[best].y)) best = i;
    return best;
}

/// The ring vertex that a hole's rightmost vertex can be joined to: first the nearest edge to the right, then
/// the reflex vertex in the way with the smallest angle.
static int32_t find_bridge(const ring_vertex *ring, int32_t start, const ring_vertex *m)
{
    double best_x = INFINITY;
    int32_t bridge = -1;
    int32_t i = start;
    do {
        const ring_vertex *a = &ring[i], *b = &ring[ring[i].next];
        /* Edges with the inside to their left go up on the right of the hole. */
        if (a->y <= m->y && m->y <= b->y && a->y != b->y) {
            double x = a->x + (m->y - a->y) * (b->x - a->x) / (b->y - a->y);
            if (x >= m->x && x < best_x) {
                best_x = x;
                bridge = m->y == a->y ? i : m->y == b->y ? a->next : a->x > b->x ? i : a->next;
            }
        }
        i = ring[i].next;
    } while (i != start);
    if (bridge < 0) {
        double nearest = INFINITY;
        i = start;
        do {
            double distance = squared_distance(&ring[i], m);
            if (distance < nearest) {
                nearest = distance;
                bridge = i;
            }
            i = ring[i].next;
        } while (i != start);
        return bridge;
    }
    if (ring[bridge].y == m->y) return bridge;
    const ring_vertex corner = ring[bridge];
    const ring_vertex hit = {.x = best_x, .y = m->y};
    double best_slope = INFINITY;
    i = start;
    do {
        const ring_vertex *w = &ring[i];
        bool inside =
            corner.y > m->y
                ? area2(m, &hit, w) >= 0 && area2(&hit, &corner, w) >= 0 && area2(&corner, m, w) >= 0
                : area2(&hit, m, w) >= 0 && area2(&corner, &hit, w) >= 0 && area2(m, &corner, w) >= 0;
        if (w->x > m->x && inside && !same_place(w, &corner) &&
            area2(&ring[w->previous], w, &ring[w->next]) < 0) {
            double slope = fabs(w->y - m->y) / (w->x - m->x);
            if (slope < best_slope || (slope == best_slope && w->x < ring[bridge].x)) {
                best_slope = slope;
                bridge = i;
            }
        }
        i = ring[i].next;
    } while (i != start);
    return bridge;
}

/// Joins a hole to the ring at `bridge`: two new ring vertices double both ends.
static void splice(ring_vertex *ring, int32_t bridge, int32_t hole, int32_t spare)
{
    ring[spare] = ring[bridge];
    ring[spare + 1] = ring[hole];
    int32_t after_bridge = ring[bridge].next, before_hole = ring[hole].previous;
    ring[bridge].next = hole;
    ring[hole].previous = bridge;
    ring[before_hole].next = spare + 1;
    ring[spare + 1].previous = before_hole;
    ring[spare + 1].next = spare;
    ring[spare].previous = spare + 1;
    ring[spare].next = after_bridge;
    ring[after_bridge].previous = spare;
}

typedef struct hole_entry {
    double x, y;
    int32_t vertex;
} hole_entry;

static int by_falling_x(const void *pa, const void *pb)
{
    const hole_entry *a = pa, *b = pb;
    if (a->x != b->x) return a->x > b->x ? -1 : 1;
    if (a->y != b->y) return a->y < b->y ? -1 : 1;
    return a->vertex < b->vertex ? -1 : a->vertex > b->vertex;
}

static rbl_status bridge_holes(
    rbl_context *ctx, ring_vertex *ring, const int32_t *loop_start, size_t loop_count)
{
    hole_entry *holes = rbli_alloc(ctx, loop_count, sizeof *holes);
    if (!holes) return RBL_ERR_NO_MEMORY;
    for (size_t i = 1; i < loop_count; i++) {
        link_ring(ring, loop_start[i], loop_start[i + 1]);
        int32_t v = rightmost(ring, loop_start[i], loop_start[i + 1]);
        holes[i - 1] = (hole_entry){ring[v].x, ring[v].y, v};
    }
    qsort(holes, loop_count - 1, sizeof *holes, by_falling_x);
    int32_t spare = loop_start[loop_count];
    for (size_t i = 0; i + 1 < loop_count; i++, spare += 2)
        splice(ring, find_bridge(ring, 0, &ring[holes[i].vertex]), holes[i].vertex, spare);
    rbli_free(ctx, holes);
    return RBL_OK;
}

/* ---- ears ---- */

typedef struct clipper {
    cut_polygon *polygon;
    ring_vertex *ring;
    int32_t *sorted; /* by x; large rings only */
    size_t sorted_count, alive;
} clipper;

static void clip(clipper *c, int32_t v)
{
    ring_vertex *ring = c->ring;
    int32_t *corner = c->polygon->corners.data + c->polygon->corners.count;
    corner[0] = ring[ring[v].previous].point;
    corner[1] = ring[v].point;
    corner[2] = ring[ring[v].next].point;
    c->polygon->corners.count += 3;
    ring[ring[v].previous].next = ring[v].next;
    ring[ring[v].next].previous = ring[v].previous;
    ring[v].removed = 1;
    c->alive--;
}

static bool ear_is_blocked(const ring_vertex *ring, int32_t v)
{
    const ring_vertex *a = &ring[ring[v].previous], *b = &ring[v], *c = &ring[ring[v].next];
    for (int32_t i = c->next; i != b->previous; i = ring[i].next)
        if (blocks(a, b, c, &ring[i])) return true;
    return false;
}

/// A corner at the place of a neighbour: clipping it covers nothing.
static bool is_doubled(const ring_vertex *ring, int32_t v)
{
    return same_place(&ring[ring[v].previous], &ring[v]) || same_place(&ring[v], &ring[ring[v].next]);
}

static void measure_side(ring_vertex *ring, int32_t v)
{
    ring[v].side = squared_distance(&ring[v], &ring[ring[v].next]);
}

/// As ear_shape does, of a corner between its neighbours, by the sides that are known.
static inline double measure_corner(const ring_vertex *before, ring_vertex *here, const ring_vertex *next)
{
    double longest = most(before->side, here->side, squared_distance(next, before));
    return here->shape = longest > 0 ? area2(before, here, next) / longest : 0;
}

static void measure_ear(ring_vertex *ring, int32_t v)
{
    measure_corner(&ring[ring[v].previous], &ring[v], &ring[ring[v].next]);
}

/// Corners of a ring that have less than this shape may lie on a line, up to rounding.
static const double CONVEX_SHAPE = 1e-6;

/// Measures all ears. @param best  set to the best-shaped corner
/// @return whether the ring is surely convex: it turns left everywhere and goes round once, so that x rises and falls
/// once. No ear of it is blocked, whatever is clipped first.
static bool measure_ring(ring_vertex *ring, int32_t start, int32_t *best)
{
    int32_t v = start;
    do {
        measure_side(ring, v);
        v = ring[v].next;
    } while (v != start);
    int turns = 0;
    double lowest = INFINITY, highest = -INFINITY;
    const ring_vertex *before = &ring[ring[start].previous];
    *best = start;
    do {
        ring_vertex *here = &ring[v], *next = &ring[here->next];
        double shape = measure_corner(before, here, next);
        lowest = shape < lowest ? shape : lowest;
        *best = shape > highest ? v : *best;
        highest = shape > highest ? shape : highest;
        turns += (before->x < here->x) != (here->x < next->x);
        before = here;
        v = here->next;
    } while (v != start);
    return lowest > CONVEX_SHAPE && turns == 2;
}

/// The best-shaped corner of a convex ring.
static int32_t best_corner(const ring_vertex *ring, int32_t start)
{
    int32_t best = start;
    for (int32_t i = ring[start].next; i != start; i = ring[i].next)
        best = ring[i].shape > ring[best].shape ? i : best;
    return best;
}

/// The best ear of a small ring; where none is free one that covers nothing, else the best-shaped corner.
static int32_t best_ear(const ring_vertex *ring, int32_t start)
{
    int32_t best = -1, flat = -1, best_any = start;
    double best_shape = 0, best_any_shape = -INFINITY;
    int32_t i = start;
    do {
        double shape = ring[i].shape;
        if (shape > best_any_shape) {
            best_any_shape = shape;
            best_any = i;
        }
        if (shape > best_shape && !ear_is_blocked(ring, i)) {
            best_shape = shape;
            best = i;
        }
        if (shape == 0 && flat < 0) flat = i;
        i = ring[i].next;
    } while (i != start);
    return best >= 0 ? best : flat >= 0 ? flat : best_any;
}

static void clip_small(clipper *c, int32_t start)
{
    ring_vertex *ring = c->ring;
    int32_t best = -1;
    bool convex = c->alive > 3 && measure_ring(ring, start, &best);
    while (c->alive > 3) {
        int32_t ear = !convex ? best_ear(ring, start) : best >= 0 ? best : best_corner(ring, start);
        int32_t before = ring[ear].previous;
        best = -1;
        start = ring[ear].next;
        clip(c, ear);
        if (c->alive == 3) break;
        measure_side(ring, before);
        measure_ear(ring, before);
        measure_ear(ring, start);
    }
    clip(c, start);
}

static void merge_sort_by_x(const ring_vertex *ring, int32_t *items, int32_t *spare, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = begin + width < count ? begin + width : count;
            size_t end = begin + 2 * width < count ? begin + 2 * width : count;
            size_t i = begin, j = middle, k = begin;
            while (i < middle && j < end)
                spare[k++] = ring[items[i]].x <= ring[items[j]].x ? items[i++] : items[j++];
            while (i < middle)
                spare[k++] = items[i++];
            while (j < end)
                spare[k++] = items[j++];
        }
        memcpy(items, spare, count * sizeof *items);
    }
}

static bool large_ear_is_blocked(const clipper *k, int32_t v)
{
    const ring_vertex *ring = k->ring;
    const ring_vertex *a = &ring[ring[v].previous], *b = &ring[v], *c = &ring[ring[v].next];
    double low = least(a->x, b->x, c->x), high = most(a->x, b->x, c->x);
    double low_y = least(a->y, b->y, c->y), high_y = most(a->y, b->y, c->y);
    size_t begin = 0, end = k->sorted_count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (ring[k->sorted[middle]].x < low)
            begin = middle + 1;
        else
            end = middle;
    }
    for (size_t i = begin; i < k->sorted_count; i++) {
        const ring_vertex *w = &ring[k->sorted[i]];
        if (w->x > high) break;
        if (w->removed || w->y < low_y || w->y > high_y || w == a || w == b || w == c) continue;
        if (blocks(a, b, c, w) && area2(&ring[w->previous], w, &ring[w->next]) <= 0) return true;
    }
    return false;
}

static void drop_removed(clipper *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->sorted_count; i++)
        if (!c->ring[c->sorted[i]].removed) c->sorted[kept++] = c->sorted[i];
    c->sorted_count = kept;
}

/// Goes round and clips free ears that are well-shaped enough, lowering the demand after a round without any.
static void clip_large(clipper *c, int32_t start)
{
    static const double demands[] = {0.3, 0.1, 0.02, 1e-3, 1e-6, 0};
    size_t demand = 0;
    int32_t v = start;
    size_t without = 0;
    while (c->alive > SMALL_RING && demand < sizeof demands / sizeof *demands) {
        const ring_vertex *ring = c->ring;
        double shape = ear_shape(&ring[ring[v].previous], &ring[v], &ring[ring[v].next]);
        if (is_doubled(ring, v) || (shape > demands[demand] && !large_ear_is_blocked(c, v))) {
            int32_t next = ring[v].next;
            clip(c, v);
            if (c->alive < c->sorted_count / 2) drop_removed(c);
            v = ring[next].next; /* skipping one keeps triangles from fanning */
            without = 0;
            continue;
        }
        v = ring[v].next;
        if (++without > c->alive) {
            demand++;
            without = 0;
        }
    }
    /* What is left crosses itself (or is small): the best-shaped corner of the next few, so that it ends. */
    while (c->alive > SMALL_RING) {
        int32_t best = v, i = v;
        double best_shape = -INFINITY;
        for (int steps = 0; steps < 16; steps++, i = c->ring[i].next) {
            double shape = ear_shape(&c->ring[c->ring[i].previous], &c->ring[i], &c->ring[c->ring[i].next]);
            if (shape > best_shape) {
                best_shape = shape;
                best = i;
            }
        }
        v = c->ring[best].next;
        clip(c, best);
    }
    clip_small(c, v);
}

static rbl_status reserve_bytes(rbl_context *ctx, void **data, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity) return RBL_OK;
    count += count / 2;
    void *moved = rbli_realloc(ctx, *data, count, size);
    if (!moved) return RBL_ERR_NO_MEMORY;
    *data = moved;
    *capacity = count;
    return RBL_OK;
}

rbl_status cut_polygon_triangulate(rbl_context *ctx, cut_polygon *polygon, const double (*points)[2],
    const int32_t *loop_start, size_t loop_count)
{
    rbl_status status = RBL_OK;
    size_t point_count = (size_t)loop_start[loop_count];
    size_t ring_count = point_count + 2 * (loop_count - 1);
    polygon->corners.count = 0;
    if (ring_count < 3) return RBL_OK;
    RBL_TRY(reserve_bytes(
        ctx, (void **)&polygon->ring, &polygon->ring_capacity, ring_count, sizeof(ring_vertex)));
    RBL_TRY(rbli_array_reserve(ctx, &polygon->corners, 3 * (ring_count - 2)));
    ring_vertex *ring = polygon->ring;
    for (size_t i = 0; i < point_count; i++)
        ring[i] = (ring_vertex){.x = points[i][0], .y = points[i][1], .point = (int32_t)i};
    link_ring(ring, 0, loop_start[1]);
    if (loop_count > 1) RBL_TRY(bridge_holes(ctx, ring, loop_start, loop_count));
    clipper c = {.polygon = polygon, .ring = ring, .alive = ring_count};
    if (ring_count <= SMALL_RING) {
        clip_small(&c, 0);
        return RBL_OK;
    }
    RBL_TRY(reserve_bytes(
        ctx, (void **)&polygon->sorted, &polygon->sorted_capacity, 2 * ring_count, sizeof *polygon->sorted));
    c.sorted = polygon->sorted;
    c.sorted_count = ring_count;
    for (size_t i = 0; i < ring_count; i++)
        c.sorted[i] = (int32_t)i;
    merge_sort_by_x(ring, c.sorted, c.sorted + ring_count, ring_count);
    clip_large(&c, 0);
done:
    return status;
}
