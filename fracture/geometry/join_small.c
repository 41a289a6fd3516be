/// Joining the smallest again and again, on ranks: places of items sorted by centre, so that sums and ties do
/// not depend on the order given.

#include "fracture/geometry/join_small.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/point_tree.h"
#include "fracture/geometry/radix_sort.h"

/// A group as it is now; kept at its root.
typedef struct state {
    double volume;
    double moment[3]; /* volume · centre, summed */
    double center[3];
    int32_t kind;
    bool may_be_small, must_join;
} state;

typedef struct entry {
    double volume;
    int32_t root, size;
} entry;

typedef struct joining {
    rbl_context *ctx;
    const rbli_small_options *options;
    const rbli_small_item *items;
    size_t count;
    int32_t *item; /* [count] item of each rank */
    rbli_contraction parts;
    state *groups;          /* [count] of roots */
    rbli_small_reason *why; /* [count] of roots */
    entry *heap;
    size_t heap_count;
    rbli_point_node *tree; /* item centres by rank; NULL unless strangers may join */
    uint32_t *touching;    /* [count] roots that touch the group in hand */
    uint32_t turn;
    int32_t me;
} joining;

/* ---- order ---- */

static int compare_items(const rbli_small_item *p, const rbli_small_item *q)
{
    for (int k = 0; k < 3; k++)
        if (p->center[k] != q->center[k]) return p->center[k] < q->center[k] ? -1 : 1;
    if (p->volume != q->volume) return p->volume < q->volume ? -1 : 1;
    return 0;
}

/// Heap sort of items that have the same x; equal ones stay in order by index.
static bool goes_before(const rbli_small_item *items, int32_t a, int32_t b)
{
    int order = compare_items(&items[a], &items[b]);
    return order != 0 ? order < 0 : a < b;
}

static void sort_run(const rbli_small_item *items, rbli_keyed *run, size_t count)
{
    for (size_t end = count, begin = count / 2; end > 1;) {
        rbli_keyed moved;
        if (begin > 0) {
            moved = run[--begin];
        } else {
            moved = run[--end];
            run[end] = run[0];
        }
        size_t i = begin;
        for (;;) {
            size_t child = 2 * i + 1;
            if (child >= end) break;
            if (child + 1 < end && goes_before(items, run[child].index, run[child + 1].index)) child++;
            if (!goes_before(items, moved.index, run[child].index)) break;
            run[i] = run[child];
            i = child;
        }
        run[i] = moved;
    }
}

static rbl_status rank_items(joining *j, int32_t *rank)
{
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    RBL_TRY_ALLOC(keys = rbli_alloc(j->ctx, j->count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(j->ctx, j->count, sizeof *scratch));
    for (size_t i = 0; i < j->count; i++)
        keys[i] = (rbli_keyed){rbli_double_key(j->items[i].center[0]), (int32_t)i};
    rbli_radix_sort(keys, scratch, j->count);
    for (size_t i = 0, end; i < j->count; i = end) {
        for (end = i + 1; end < j->count && keys[end].key == keys[i].key; end++)
            continue;
        if (end - i > 1) sort_run(j->items, keys + i, end - i);
        if (rbli_cancelled(j->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
    }
    for (size_t i = 0; i < j->count; i++) {
        j->item[i] = keys[i].index;
        rank[keys[i].index] = (int32_t)i;
    }
done:
    rbli_free(j->ctx, keys);
    rbli_free(j->ctx, scratch);
    return status;
}

/// Edges between ranks in an order that depends on them alone.
static rbl_status rank_edges(
    joining *j, const int32_t *rank, const rbli_cluster_edge *edges, size_t count, rbli_cluster_edge **out)
{
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    rbli_cluster_edge *sorted = NULL;
    if (count > INT32_MAX / 2) return rbli_fail(j->ctx, RBL_ERR_LIMIT, "%zu contacts are too many", count);
    RBL_TRY_ALLOC(keys = rbli_alloc(j->ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(j->ctx, count, sizeof *scratch));
    RBL_TRY_ALLOC(sorted = rbli_alloc(j->ctx, count, sizeof *sorted));
    for (size_t e = 0; e < count; e++)
        keys[e] = (rbli_keyed){rbli_double_key(edges[e].weight), (int32_t)e};
    rbli_radix_sort(keys, scratch, count);
    RBL_TRY(rbli_cancelled(j->ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    for (size_t e = 0; e < count; e++) {
        const rbli_cluster_edge *edge = &edges[keys[e].index];
        uint64_t a = (uint64_t)rank[edge->a], b = (uint64_t)rank[edge->b];
        keys[e].key = a < b ? a << 32 | b : b << 32 | a;
    }
    rbli_radix_sort(keys, scratch, count);
    RBL_TRY(rbli_cancelled(j->ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    for (size_t e = 0; e < count; e++)
        sorted[e] = (rbli_cluster_edge){
            (int32_t)(keys[e].key >> 32), (int32_t)(keys[e].key & 0xffffffff), edges[keys[e].index].weight};
    *out = sorted;
    sorted = NULL;
done:
    rbli_free(j->ctx, keys);
    rbli_free(j->ctx, scratch);
    rbli_free(j->ctx, sorted);
    return status;
}

/* ---- the smallest ---- */

static bool before(const entry *a, const entry *b)
{
    if (a->volume != b->volume) return a->volume < b->volume;
    return a->size != b->size ? a->size < b->size : a->root < b->root;
}

static void heap_push(joining *j, int32_t root)
{
    entry e = {j->groups[root].volume, root, j->parts.size[root]};
    size_t i = j->heap_count++;
    for (; i > 0 && before(&e, &j->heap[(i - 1) / 2]); i = (i - 1) / 2)
        j->heap[i] = j->heap[(i - 1) / 2];
    j->heap[i] = e;
}

static entry heap_pop(joining *j)
{
    entry top = j->heap[0], moved = j->heap[--j->heap_count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= j->heap_count) break;
        if (child + 1 < j->heap_count && before(&j->heap[child + 1], &j->heap[child])) child++;
        if (!before(&j->heap[child], &moved)) break;
        j->heap[i] = j->heap[child];
        i = child;
    }
    j->heap[i] = moved;
    return top;
}

static bool is_small(const joining *j, int32_t root)
{
    const state *g = &j->groups[root];
    return (g->may_be_small && g->volume < j->options->threshold) || g->must_join;
}

/* ---- the neighbour ---- */

/// Measures that differ by rounding alone are equal: sums depend on the order in which they were made.
static double compare(double a, double b)
{
    double difference = a - b;
    return fabs(difference) <= 1e-9 * (fabs(a) > fabs(b) ? fabs(a) : fabs(b)) ? 0 : difference;
}

static bool is_better(const joining *j, int32_t me, int32_t now, double area, int32_t best, double best_area)
{
    const state *a = &j->groups[now], *b = &j->groups[best];
    const double *center = j->groups[me].center;
    double size = compare(a->volume, b->volume);
    double nearness = compare(
        rbli_point_distance_squared(center, b->center), rbli_point_distance_squared(center, a->center));
    double first = j->options->rule == RBLI_SMALL_TO_LARGEST          ? size
                   : j->options->rule == RBLI_SMALL_TO_NEAREST_CENTER ? nearness
                                                                      : compare(area, best_area);
    if (first != 0) return first > 0;
    if (size != 0) return size > 0;
    if (nearness != 0) return nearness > 0;
    return now < best;
}

static bool accept_stranger(void *user, int32_t rank)
{
    joining *j = user;
    int32_t root = rbli_contraction_find(&j->parts, rank);
    return root != j->me && j->groups[root].kind == j->groups[j->me].kind && j->touching[root] != j->turn;
}

/// The group that `me` joins, −1: none, then `why` tells.
static int32_t choose(joining *j, int32_t me)
{
    int32_t best = -1;
    double best_area = 0;
    bool forbidden = false, other_kind = false;
    j->me = me;
    j->turn++;
    for (int32_t l = rbli_contraction_neighbors(&j->parts, me); l >= 0; l = j->parts.links[l].next) {
        int32_t other = j->parts.links[l].to;
        double area = j->parts.links[l].weight;
        if (j->touching) j->touching[other] = j->turn;
        if (j->groups[other].kind != j->groups[me].kind) {
            other_kind = true;
        } else if (area < 0) {
            forbidden = true;
        } else if (best < 0 || is_better(j, me, other, area, best, best_area)) {
            best = other;
            best_area = area;
        }
    }
    if (best < 0 && j->tree) {
        int32_t rank =
            rbli_point_tree_nearest_accepted(j->tree, j->count, j->groups[me].center, accept_stranger, j);
        if (rank >= 0) best = rbli_contraction_find(&j->parts, rank);
    }
    j->why[me] = best >= 0    ? RBLI_SMALL_NOT
                 : forbidden  ? RBLI_SMALL_FORBIDDEN
                 : other_kind ? RBLI_SMALL_OTHER_KIND
                              : RBLI_SMALL_ALONE;
    return best;
}

static int32_t join(joining *j, int32_t a, int32_t b)
{
    const state p = j->groups[a], q = j->groups[b];
    int32_t root = rbli_contraction_join(&j->parts, a, b);
    state *g = &j->groups[root];
    *g = p;
    g->volume += q.volume;
    g->may_be_small |= q.may_be_small;
    g->must_join = false;
    for (int k = 0; k < 3; k++) {
        g->moment[k] += q.moment[k];
        /* Without volume: the larger one's, here the one that is joined. */
        g->center[k] = g->volume > 0 ? g->moment[k] / g->volume : q.center[k];
    }
    j->why[a] = j->why[b] = RBLI_SMALL_NOT;
    return root;
}

static rbl_status run(joining *j)
{
    for (size_t i = 0; i < j->count; i++)
        if (is_small(j, (int32_t)i)) heap_push(j, (int32_t)i);
    for (size_t rounds = 0; j->heap_count > 0; rounds++) {
        entry top = heap_pop(j);
        if (rounds % 256 == 0 && rbli_cancelled(j->ctx)) return RBL_ERR_CANCELLED;
        if (j->parts.parent[top.root] != top.root || j->parts.size[top.root] != top.size ||
            !is_small(j, top.root))
            continue;
        int32_t other = choose(j, top.root);
        if (other < 0) continue;
        int32_t root = join(j, top.root, other);
        if (is_small(j, root)) heap_push(j, root);
    }
    return RBL_OK;
}

static rbl_status prepare(joining *j, const rbli_cluster_edge *edges, size_t edge_count)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = j->ctx;
    int32_t *rank = NULL;
    rbli_cluster_edge *sorted = NULL;
    double(*centers)[3] = NULL;
    RBL_TRY_ALLOC(rank = rbli_alloc(ctx, j->count, sizeof *rank));
    RBL_TRY_ALLOC(j->item = rbli_alloc(ctx, j->count, sizeof *j->item));
    RBL_TRY_ALLOC(j->groups = rbli_alloc(ctx, j->count, sizeof *j->groups));
    RBL_TRY_ALLOC(j->why = rbli_calloc(ctx, j->count, sizeof *j->why));
    RBL_TRY_ALLOC(j->heap = rbli_alloc(ctx, j->count, 2 * sizeof *j->heap));
    RBL_TRY(rank_items(j, rank));
    RBL_TRY(rank_edges(j, rank, edges, edge_count, &sorted));
    RBL_TRY(rbli_contraction_create(ctx, j->count, sorted, edge_count, &j->parts));
    for (size_t i = 0; i < j->count; i++) {
        const rbli_small_item *item = &j->items[j->item[i]];
        state *g = &j->groups[i];
        *g = (state){.volume = item->volume,
            .kind = item->kind,
            .may_be_small = item->may_be_small,
            .must_join = item->must_join};
        for (int k = 0; k < 3; k++) {
            g->center[k] = item->center[k];
            g->moment[k] = item->volume * item->center[k];
        }
    }
    if (j->options->only_connected) goto done;
    RBL_TRY_ALLOC(j->touching = rbli_calloc(ctx, j->count, sizeof *j->touching));
    RBL_TRY_ALLOC(j->tree = rbli_alloc(ctx, j->count, sizeof *j->tree));
    RBL_TRY_ALLOC(centers = rbli_alloc(ctx, j->count, sizeof *centers));
    for (size_t i = 0; i < j->count; i++)
        memcpy(centers[i], j->groups[i].center, sizeof *centers);
    RBL_TRY(rbli_point_tree_build(ctx, j->tree, (const double(*)[3])centers, j->count));
done:
    rbli_free(ctx, rank);
    rbli_free(ctx, sorted);
    rbli_free(ctx, centers);
    return status;
}

rbl_status rbli_join_small(rbl_context *ctx, const rbli_small_item *items, size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const rbli_small_options *options, int32_t *group,
    rbli_small_reason *reason)
{
    rbl_status status = RBL_OK;
    joining j = {.ctx = ctx, .options = options, .items = items, .count = count};
    int32_t *lowest = NULL;
    RBL_TRY(prepare(&j, edges, edge_count));
    RBL_TRY(run(&j));
    RBL_TRY_ALLOC(lowest = rbli_alloc(ctx, count, sizeof *lowest));
    memset(lowest, 0xff, count * sizeof *lowest);
    for (size_t i = 0; i < count; i++) {
        int32_t *low = &lowest[rbli_contraction_find(&j.parts, (int32_t)i)];
        if (*low < 0 || j.item[i] < *low) *low = j.item[i];
    }
    for (size_t i = 0; i < count; i++) {
        int32_t root = rbli_contraction_find(&j.parts, (int32_t)i);
        group[j.item[i]] = lowest[root];
        reason[j.item[i]] = RBLI_SMALL_NOT;
    }
    for (size_t i = 0; i < count; i++)
        if (j.parts.parent[i] == (int32_t)i && is_small(&j, (int32_t)i)) reason[lowest[i]] = j.why[i];
done:
    rbli_contraction_free(ctx, &j.parts);
    rbli_free(ctx, lowest);
    rbli_free(ctx, j.item);
    rbli_free(ctx, j.groups);
    rbli_free(ctx, j.why);
    rbli_free(ctx, j.heap);
    rbli_free(ctx, j.tree);
    rbli_free(ctx, j.touching);
    return status;
}
