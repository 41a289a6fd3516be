/// Triangulations of holes: ear clipping with bridges to inner loops (Meisters 1975; Eberly, "Triangulation
/// by ear clipping") with exact turns, and minimal area by dynamic programming (Barequet and Sharir 1995).

#include <math.h>
#include <stdlib.h>

#include "fracture/geometry/repair_internal.h"

/* Ear clipping */

typedef struct polygon {
    repair *r;
    int u, v;      /* axes in which the border turns counter-clockwise */
    int32_t *ring; /* [capacity] vertices of the polygon, bridges walked both ways */
    size_t count;
    int32_t *previous, *next; /* [capacity] while ears are cut */
} polygon;

static const double *point_of(const polygon *p, int32_t vertex)
{
    return p->r->grid[vertex];
}

static int turn(const polygon *p, int32_t a, int32_t b, int32_t c)
{
    return rbli_grid_orient2d(point_of(p, a), point_of(p, b), point_of(p, c), p->u, p->v);
}

static bool same_place(const polygon *p, int32_t a, int32_t b)
{
    const double *x = point_of(p, a), *y = point_of(p, b);
    return x[p->u] == y[p->u] && x[p->v] == y[p->v];
}

/// True when segments a b and c d share a point, not counting ends that coincide.
static bool segments_meet(const polygon *p, int32_t a, int32_t b, int32_t c, int32_t d)
{
    if (same_place(p, a, c) || same_place(p, a, d) || same_place(p, b, c) || same_place(p, b, d))
        return false;
    int abc = turn(p, a, b, c), abd = turn(p, a, b, d);
    if (abc * abd > 0) return false;
    int cda = turn(p, c, d, a), cdb = turn(p, c, d, b);
    if (cda * cdb > 0) return false;
    if (abc || abd || cda || cdb) return true;
    for (int k = 0; k < 2; k++) { /* on one line: do they overlap? */
        int axis = k ? p->v : p->u;
        double a0 = point_of(p, a)[axis], a1 = point_of(p, b)[axis];
        double c0 = point_of(p, c)[axis], c1 = point_of(p, d)[axis];
        if ((a0 < a1 ? a1 : a0) < (c0 < c1 ? c0 : c1) || (c0 < c1 ? c1 : c0) < (a0 < a1 ? a0 : a1))
            return false;
    }
    return true;
}

/// True when the direction to `target` lies inside the polygon's angle at place `i`.
static bool in_cone(const polygon *p, size_t i, int32_t target)
{
    int32_t before = p->ring[(i + p->count - 1) % p->count], here = p->ring[i],
            after = p->ring[(i + 1) % p->count];
    if (turn(p, before, here, after) > 0)
        return turn(p, here, target, before) > 0 && turn(p, target, here, after) > 0;
    return !(turn(p, here, target, after) >= 0 && turn(p, target, here, before) >= 0);
}

typedef struct reach {
    double distance;
    size_t place;
} reach;

static int compare_reach(const void *left, const void *right)
{
    const reach *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static bool sees(const polygon *p, size_t place, int32_t target)
{
    if (!in_cone(p, place, target)) return false;
    for (size_t i = 0; i < p->count; i++)
        if (segments_meet(p, p->ring[place], target, p->ring[i], p->ring[(i + 1) % p->count])) return false;
    return true;
}

/// Walks from the nearest visible place of the ring to the hole's vertex `start`, around the hole, and back.
static rbl_status bridge(polygon *p, const int32_t *hole, size_t hole_count, size_t start, bool *done)
{
    rbl_status status = RBL_OK;
    reach *reaches = NULL;
    int32_t *joined = NULL;
    size_t place = SIZE_MAX;
    *done = false;
    RBL_TRY_ALLOC(reaches = rbli_alloc(p->r->ctx, p->count, sizeof *reaches));
    const double *from = point_of(p, hole[start]);
    for (size_t i = 0; i < p->count; i++) {
        const double *to = point_of(p, p->ring[i]);
        double du = to[p->u] - from[p->u], dv = to[p->v] - from[p->v];
        reaches[i] = (reach){du * du + dv * dv, i};
    }
    qsort(reaches, p->count, sizeof *reaches, compare_reach);
    for (size_t i = 0; i < p->count && place == SIZE_MAX; i++)
        if (sees(p, reaches[i].place, hole[start])) place = reaches[i].place;
    if (place == SIZE_MAX) goto done;
    RBL_TRY_ALLOC(joined = rbli_alloc(p->r->ctx, p->count + hole_count + 2, sizeof *joined));
    size_t count = 0;
    for (size_t i = 0; i <= place; i++)
        joined[count++] = p->ring[i];
    for (size_t i = 0; i <= hole_count; i++)
        joined[count++] = hole[(start + i) % hole_count];
    for (size_t i = place; i < p->count; i++)
        joined[count++] = p->ring[i];
    memcpy(p->ring, joined, count * sizeof *joined);
    p->count = count;
    *done = true;
done:
    rbli_free(p->r->ctx, reaches);
    rbli_free(p->r->ctx, joined);
    return status;
}

static size_t foremost(const polygon *p, const int32_t *loop, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        const double *a = point_of(p, loop[i]), *b = point_of(p, loop[best]);
        if (a[p->u] > b[p->u] || (a[p->u] == b[p->u] && a[p->v] > b[p->v])) best = i;
    }
    return best;
}

/// Joins the holes to the border, the one that reaches farthest along u first, so that each sees the ring.
static rbl_status join_holes(
    polygon *p, const int32_t *const *loops, const size_t *counts, size_t count, bool *done)
{
    rbl_status status = RBL_OK;
    uint8_t *joined = rbli_calloc(p->r->ctx, count, 1);
    RBL_TRY_ALLOC(joined);
    *done = true;
    for (size_t round = 1; round < count && *done; round++) {
        size_t best = 0, best_start = 0;
        for (size_t i = 1; i < count; i++) {
            if (joined[i]) continue;
            size_t start = foremost(p, loops[i], counts[i]);
            if (best && point_of(p, loops[i][start])[p->u] <= point_of(p, loops[best][best_start])[p->u])
                continue;
            best = i;
            best_start = start;
        }
        joined[best] = 1;
        RBL_TRY(bridge(p, loops[best], counts[best], best_start, done));
    }
done:
    rbli_free(p->r->ctx, joined);
    return status;
}

static bool is_ear(const polygon *p, int32_t i, int least_turn, bool new_edges_only)
{
    int32_t a = p->ring[p->previous[i]], b = p->ring[i], c = p->ring[p->next[i]];
    if (turn(p, a, b, c) < least_turn) return false;
    if (least_turn == 0 && same_place(p, a, c)) return false;
    if (new_edges_only && repair_find_edge(p->r, a, c) >= 0) return false;
    for (int32_t j = p->next[p->next[i]]; j != p->previous[i]; j = p->next[j]) {
        int32_t d = p->ring[j];
        if (same_place(p, d, a) || same_place(p, d, b) || same_place(p, d, c)) continue;
        if (turn(p, a, b, d) >= 0 && turn(p, b, c, d) >= 0 && turn(p, c, a, d) >= 0) {
            if (least_turn > 0) return false;
            /* A flat ear: only what lies between its ends is in the way. */
            if (turn(p, a, b, c) > 0) return false;
        }
    }
    return true;
}

static rbl_status clip_ears(polygon *p, repair_indices *out, bool *done)
{
    size_t left = p->count;
    for (size_t i = 0; i < p->count; i++) {
        p->previous[i] = (int32_t)((i + p->count - 1) % p->count);
        p->next[i] = (int32_t)((i + 1) % p->count);
    }
    int32_t at = 0;
    /* Strict first: true corners and no edge that the mesh has already; relaxed when nothing else is left. */
    static const int rules[4][2] = {{1, 1}, {1, 0}, {0, 1}, {0, 0}};
    *done = true;
    while (left > 2) {
        bool cut = false;
        for (int rule = 0; rule < 4 && !cut; rule++)
            for (size_t tries = 0; tries < left && !cut; tries++, at = p->next[at]) {
                if (!is_ear(p, at, rules[rule][0], rules[rule][1] && left > 3)) continue;
                const int32_t ear[3] = {p->ring[p->previous[at]], p->ring[at], p->ring[p->next[at]]};
                for (int k = 0; k < 3; k++)
                    if (rbli_array_push(p->r->ctx, &out->list, ear[k]) != RBL_OK) return RBL_ERR_NO_MEMORY;
                p->next[p->previous[at]] = p->next[at];
                p->previous[p->next[at]] = p->previous[at];
                left--;
                cut = true;
            }
        if (!cut) {
            *done = false;
            return RBL_OK;
        }
    }
    return RBL_OK;
}

static void choose_axes(const double normal[3], polygon *p)
{
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(normal[i]) > fabs(normal[k])) k = i;
    p->u = (k + 1) % 3;
    p->v = (k + 2) % 3;
    if (normal[k] < 0) {
        int swap = p->u;
        p->u = p->v;
        p->v = swap;
    }
}

/// No two edges of the loops may cross: ears would overlap.
static bool is_simple(const polygon *p, const int32_t *const *loops, const size_t *counts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < counts[i]; a++)
            for (size_t j = i; j < count; j++)
                for (size_t b = i == j ? a + 1 : 0; b < counts[j]; b++)
                    if (segments_meet(p, loops[i][a], loops[i][(a + 1) % counts[i]], loops[j][b],
                            loops[j][(b + 1) % counts[j]]))
                        return false;
    return true;
}

rbl_status repair_triangulate_planar(repair *r, const int32_t *const *loops, const size_t *counts,
    size_t count, const double normal[3], repair_indices *out, bool *done)
{
    rbl_status status = RBL_OK;
    polygon p = {.r = r};
    size_t capacity = 0, before = out->list.count;
    *done = false;
    for (size_t i = 0; i < count; i++)
        capacity += counts[i] + 2;
    choose_axes(normal, &p);
    if (capacity < 4000 && !is_simple(&p, loops, counts, count)) return RBL_OK;
    RBL_TRY_ALLOC(p.ring = rbli_alloc(r->ctx, capacity, sizeof *p.ring));
    RBL_TRY_ALLOC(p.previous = rbli_alloc(r->ctx, capacity, sizeof *p.previous));
    RBL_TRY_ALLOC(p.next = rbli_alloc(r->ctx, capacity, sizeof *p.next));
    memcpy(p.ring, loops[0], counts[0] * sizeof *p.ring);
    p.count = counts[0];
    RBL_TRY(join_holes(&p, loops, counts, count, done));
    if (*done) RBL_TRY(clip_ears(&p, out, done));
    if (!*done) out->list.count = before;
done:
    rbli_free(r->ctx, p.ring);
    rbli_free(r->ctx, p.previous);
    rbli_free(r->ctx, p.next);
    return status;
}

/* Minimal area */

static double area_of(const double *a, const double *b, const double *c)
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    return 0.5 * sqrt(x * x + y * y + z * z);
}

static void fill_costs(repair *r, const int32_t *loop, size_t n, double *cost, int32_t *split)
{
    const double avoid = 0x1p98; /* more than any area on the grid */
    for (size_t i = 0; i + 1 < n; i++)
        cost[i * n + i + 1] = 0;
    for (size_t span = 2; span < n; span++)
        for (size_t i = 0; i + span < n; i++) {
            size_t j = i + span;
            double best = INFINITY;
            for (size_t m = i + 1; m < j; m++) {
                double sum = cost[i * n + m] + cost[m * n + j] +
                             area_of(r->grid[loop[i]], r->grid[loop[m]], r->grid[loop[j]]);
                if (sum >= best) continue;
                best = sum;
                split[i * n + j] = (int32_t)m;
            }
            bool border = i == 0 && j == n - 1;
            if (!border && repair_find_edge(r, loop[i], loop[j]) >= 0) best += avoid;
            cost[i * n + j] = best;
        }
}

rbl_status repair_triangulate_minimal(repair *r, const int32_t *loop, size_t count, repair_indices *out)
{
    rbl_status status = RBL_OK;
    double *cost = NULL;
    int32_t *split = NULL, *stack = NULL;
    size_t n = count, depth = 0;
    RBL_TRY_ALLOC(cost = rbli_alloc(r->ctx, n * n, sizeof *cost));
    RBL_TRY_ALLOC(split = rbli_calloc(r->ctx, n * n, sizeof *split));
    RBL_TRY_ALLOC(stack = rbli_alloc(r->ctx, 2 * n, sizeof *stack));
    fill_costs(r, loop, n, cost, split);
    stack[depth++] = 0;
    stack[depth++] = (int32_t)n - 1;
    while (depth > 0) {
        int32_t j = stack[--depth], i = stack[--depth];
        if (j - i < 2) continue;
        int32_t m = split[(size_t)i * n + (size_t)j];
        const int32_t triangle[3] = {loop[i], loop[m], loop[j]};
        for (int k = 0; k < 3; k++)
            RBL_TRY(rbli_array_push(r->ctx, &out->list, triangle[k]));
        stack[depth++] = i;
        stack[depth++] = m;
        stack[depth++] = m;
        stack[depth++] = j;
    }
done:
    rbli_free(r->ctx, cost);
    rbli_free(r->ctx, split);
    rbli_free(r->ctx, stack);
    return status;
}
