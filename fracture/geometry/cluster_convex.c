/// Merging by convexity: a heap of pairs; a pair is stale when one of its groups has changed since.

#include "fracture/geometry/cluster_convex.h"

#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/convex_hull.h"

/* ---- outermost points ---- */

/// Direction d, 0 … 49.
static void direction(int d, double out[3])
{
    if (d < 26) {
        int at = d < 13 ? d : d + 1; /* 3 × 3 × 3 without the middle */
        for (int k = 0; k < 3; k++, at /= 3)
            out[k] = at % 3 - 1;
        return;
    }
    int kind = d - 26; /* three places for the 2, eight signs */
    for (int k = 0; k < 3; k++)
        out[k] = (kind / 8 == k ? 2 : 1) * (kind >> k & 1 ? -1 : 1);
}

/// Whether p lies farther along a direction than q.
static bool is_farther(const double way[3], const double p[3], const double q[3])
{
    double a = way[0] * p[0] + way[1] * p[1] + way[2] * p[2];
    double b = way[0] * q[0] + way[1] * q[1] + way[2] * q[2];
    if (a != b) return a > b;
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k]) return p[k] > q[k];
    return false;
}

void rbli_extremes_add(rbli_extremes *e, const double (*points)[3], size_t count)
{
    size_t first = 0;
    if (count == 0) return;
    if (!e->any) {
        for (int d = 0; d < RBLI_EXTREME_COUNT; d++)
            memcpy(e->points[d], points[0], sizeof e->points[d]);
        e->any = true;
        first = 1;
    }
    for (int d = 0; d < RBLI_EXTREME_COUNT; d++) {
        double way[3];
        const double *best = e->points[d];
        direction(d, way);
        for (size_t i = first; i < count; i++)
            if (is_farther(way, points[i], best)) best = points[i];
        if (best != e->points[d]) memcpy(e->points[d], best, sizeof e->points[d]);
    }
}

void rbli_extremes_join(rbli_extremes *e, const rbli_extremes *other)
{
    if (!other->any) return;
    if (!e->any) {
        *e = *other;
        return;
    }
    for (int d = 0; d < RBLI_EXTREME_COUNT; d++) {
        double way[3];
        direction(d, way);
        if (is_farther(way, other->points[d], e->points[d]))
            memcpy(e->points[d], other->points[d], sizeof e->points[d]);
    }
}

rbl_status rbli_extremes_volume(rbl_context *ctx, const rbli_extremes *e, double *out)
{
    rbli_hull_options options = rbli_hull_default_options();
    rbli_hull hull = {0};
    double points[RBLI_EXTREME_COUNT][3];
    size_t count = 0;
    *out = 0;
    if (!e->any) return RBL_OK;
    for (int d = 0; d < RBLI_EXTREME_COUNT; d++) {
        size_t same = 0;
        while (same < count && memcmp(points[same], e->points[d], sizeof *points) != 0)
            same++;
        if (same == count) memcpy(points[count++], e->points[d], sizeof *points);
    }
    rbl_status status = rbli_convex_hull(ctx, (const double(*)[3])points, count, &options, &hull);
    if (status == RBL_OK && !hull.thickened) *out = hull.volume;
    rbli_hull_free(ctx, &hull);
    return status;
}

/* ---- pairs ---- */

typedef struct pair {
    double cost; /* empty space in the common hull */
    int32_t a, b;
    uint32_t version_a, version_b;
} pair;

typedef struct merging {
    const rbli_convex_cluster_options *options;
    rbli_contraction parts;
    rbli_extremes *extremes; /* of roots */
    double *volume;          /* of roots */
    uint32_t *version;       /* of roots: changes with each join; 0 once joined to another */
    RBLI_ARRAY(pair) fresh;  /* whose cost is wanted */
    RBLI_ARRAY(pair) heap;
    RBLI_ARRAY(pair) refused; /* too large together */
    double share;             /* mean volume of the groups wanted */
    bool any_size;
} merging;

static bool before(const pair *a, const pair *b)
{
    if (a->cost != b->cost) return a->cost < b->cost;
    return a->a != b->a ? a->a < b->a : a->b < b->b;
}

static rbl_status heap_push(rbl_context *ctx, merging *m, pair entry)
{
    rbl_status status = rbli_array_reserve(ctx, &m->heap, 1);
    if (status != RBL_OK) return status;
    size_t i = m->heap.count++;
    for (; i > 0 && before(&entry, &m->heap.data[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap.data[i] = m->heap.data[(i - 1) / 2];
    m->heap.data[i] = entry;
    return RBL_OK;
}

static pair heap_pop(merging *m)
{
    pair *heap = m->heap.data, top = heap[0], moved = heap[--m->heap.count];
    size_t count = m->heap.count, i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= count) break;
        if (child + 1 < count && before(&heap[child + 1], &heap[child])) child++;
        if (!before(&heap[child], &moved)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
    return top;
}

static rbl_status price_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    merging *m = user;
    for (size_t i = begin; i < end; i++) {
        pair *p = &m->fresh.data[i];
        rbli_extremes both = m->extremes[p->a];
        double hull;
        rbli_extremes_join(&both, &m->extremes[p->b]);
        rbl_status status = rbli_extremes_volume(ctx, &both, &hull);
        if (status != RBL_OK) return status;
        p->cost = hull - (m->volume[p->a] + m->volume[p->b]);
    }
    return RBL_OK;
}

/// Prices the fresh pairs and puts them into the heap.
static rbl_status add_fresh(rbl_context *ctx, merging *m)
{
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_parallel_for(ctx, m->fresh.count, 4, price_block, m));
    for (size_t i = 0; i < m->fresh.count; i++)
        RBL_TRY(heap_push(ctx, m, m->fresh.data[i]));
    m->fresh.count = 0;
done:
    return status;
}

/// Pairs of a root with its neighbours; `higher`: only with those of higher numbers.
static rbl_status list_pairs(rbl_context *ctx, merging *m, int32_t root, bool higher)
{
    rbl_status status = RBL_OK;
    for (int32_t l = rbli_contraction_neighbors(&m->parts, root); l >= 0; l = m->parts.links[l].next) {
        int32_t other = m->parts.links[l].to, a = root < other ? root : other,
                b = root < other ? other : root;
        if (higher && other < root) continue;
        pair made = {0, a, b, m->version[a], m->version[b]};
        RBL_TRY(rbli_array_push(ctx, &m->fresh, made));
    }
done:
    return status;
}

static bool is_stale(const merging *m, const pair *p)
{
    return m->version[p->a] != p->version_a || m->version[p->b] != p->version_b;
}

static bool fits(const merging *m, const pair *p)
{
    double a = m->volume[p->a], b = m->volume[p->b];
    return m->any_size || a + b <= m->share || a < m->share / 5 || b < m->share / 5;
}

static rbl_status join_pair(rbl_context *ctx, merging *m, const pair *p)
{
    int32_t root = rbli_contraction_join(&m->parts, p->a, p->b), other = root == p->a ? p->b : p->a;
    uint32_t version = m->version[p->a] > m->version[p->b] ? m->version[p->a] : m->version[p->b];
    rbli_extremes_join(&m->extremes[root], &m->extremes[other]);
    m->volume[root] += m->volume[other];
    m->version[other] = 0;
    m->version[root] = version + 1;
    rbl_status status = list_pairs(ctx, m, root, false);
    return status == RBL_OK ? add_fresh(ctx, m) : status;
}

static rbl_status merge_all(rbl_context *ctx, merging *m)
{
    rbl_status status = RBL_OK;
    double t = m->options->concavity_tolerance, most_empty = t * t * t;
    for (;;) {
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        bool enough = m->parts.part_count <= m->options->count;
        if (enough && !(most_empty > 0)) break;
        if ((enough || m->heap.count == 0) && !m->any_size) {
            m->any_size = true;
            for (size_t i = 0; i < m->refused.count; i++)
                RBL_TRY(heap_push(ctx, m, m->refused.data[i]));
        }
        if (m->heap.count == 0) break;
        pair top = heap_pop(m);
        if (is_stale(m, &top)) continue;
        if (enough && top.cost > most_empty) break;
        if (!fits(m, &top)) {
            RBL_TRY(rbli_array_push(ctx, &m->refused, top));
            continue;
        }
        RBL_TRY(join_pair(ctx, m, &top));
    }
done:
    return status;
}

rbl_status rbli_cluster_convex(rbl_context *ctx, const rbli_extremes *extremes, const double *volume,
    size_t count, const rbli_cluster_edge *edges, size_t edge_count,
    const rbli_convex_cluster_options *options, int32_t *label, size_t *label_count)
{
    rbl_status status = RBL_OK;
    merging m = {.options = options};
    double total = 0;
    *label_count = 0;
    RBL_TRY(rbli_contraction_create(ctx, count, edges, edge_count, &m.parts));
    RBL_TRY_ALLOC(m.extremes = rbli_alloc(ctx, count, sizeof *m.extremes));
    RBL_TRY_ALLOC(m.volume = rbli_alloc(ctx, count, sizeof *m.volume));
    RBL_TRY_ALLOC(m.version = rbli_alloc(ctx, count, sizeof *m.version));
    for (size_t i = 0; i < count; i++) {
        m.extremes[i] = extremes[i];
        m.volume[i] = volume[i];
        m.version[i] = 1;
        total += volume[i];
    }
    m.share = total / (double)options->count;
    for (size_t i = 0; i < count; i++)
        RBL_TRY(list_pairs(ctx, &m, (int32_t)i, true));
    RBL_TRY(add_fresh(ctx, &m));
    RBL_TRY(merge_all(ctx, &m));
    for (size_t i = 0; i < count; i++) {
        int32_t root = rbli_contraction_find(&m.parts, (int32_t)i);
        label[i] = root == (int32_t)i ? (int32_t)(*label_count)++ : label[root];
    }
done:
    rbli_contraction_free(ctx, &m.parts);
    rbli_free(ctx, m.extremes);
    rbli_free(ctx, m.volume);
    rbli_free(ctx, m.version);
    rbli_free(ctx, m.fresh.data);
    rbli_free(ctx, m.heap.data);
    rbli_free(ctx, m.refused.data);
    return status;
}
