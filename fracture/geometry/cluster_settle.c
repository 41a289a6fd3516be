/// From labels to groups: connected parts, merging of what is too small or too many.

#include "fracture/base/alloc.h"
#include "fracture/geometry/cluster_internal.h"
#include "fracture/geometry/radix_sort.h"

enum { POLL = 4096 };

typedef struct settling {
    rbl_context *ctx;
    const rbli_cluster_options *options;
    const rbli_ranked *items;
    size_t count;
    bool connected;           /* groups must hang together by edges */
    rbli_cluster_edge *edges; /* between ranks, sorted */
    size_t edge_count;
    rbli_contraction parts; /* of ranks */
    double *volume;         /* [count] of roots */
} settling;

/// Edges between ranks, sorted by the lower, then the higher.
static rbl_status rank_edges(settling *s, const rbli_cluster_edge *edges, size_t edge_count)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = s->ctx;
    int32_t *rank = NULL;
    rbli_keyed *keys = NULL, *scratch = NULL;
    if (edge_count > INT32_MAX / 2)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "%zu contacts are too many", edge_count);
    RBL_TRY_ALLOC(rank = rbli_alloc(ctx, s->count, sizeof *rank));
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, edge_count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, edge_count, sizeof *scratch));
    RBL_TRY_ALLOC(s->edges = rbli_alloc(ctx, edge_count, sizeof *s->edges));
    for (size_t i = 0; i < s->count; i++)
        rank[s->items[i].index] = (int32_t)i;
    for (size_t e = 0; e < edge_count; e++) {
        uint64_t a = (uint64_t)rank[edges[e].a], b = (uint64_t)rank[edges[e].b];
        keys[e] = (rbli_keyed){a < b ? a << 32 | b : b << 32 | a, (int32_t)e};
    }
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    rbli_radix_sort(keys, scratch, edge_count);
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    for (size_t e = 0; e < edge_count; e++)
        s->edges[e] = (rbli_cluster_edge){
            (int32_t)(keys[e].key >> 32), (int32_t)(keys[e].key & 0xffffffff), edges[keys[e].index].weight};
    s->edge_count = edge_count;
done:
    rbli_free(ctx, rank);
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    return status;
}

static int32_t join(settling *s, int32_t a, int32_t b)
{
    a = rbli_contraction_find(&s->parts, a);
    b = rbli_contraction_find(&s->parts, b);
    double sum = s->volume[a] + s->volume[b];
    int32_t root = rbli_contraction_join(&s->parts, a, b);
    if (a != b) s->volume[root] = sum;
    return root;
}

static rbl_status make_parts(settling *s, const int32_t *label)
{
    rbl_status status = RBL_OK;
    int32_t *any = NULL;
    RBL_TRY(rbli_contraction_create(s->ctx, s->count, s->edges, s->edge_count, &s->parts));
    RBL_TRY_ALLOC(s->volume = rbli_alloc(s->ctx, s->count, sizeof *s->volume));
    for (size_t i = 0; i < s->count; i++)
        s->volume[i] = s->items[i].volume;
    if (s->connected) {
        for (size_t e = 0; e < s->edge_count; e++)
            if (label[s->edges[e].a] == label[s->edges[e].b]) join(s, s->edges[e].a, s->edges[e].b);
        return RBL_OK;
    }
    RBL_TRY_ALLOC(any = rbli_alloc(s->ctx, s->count, sizeof *any));
    memset(any, 0xff, s->count * sizeof *any);
    for (size_t i = 0; i < s->count; i++) {
        int32_t *first = &any[label[i]];
        if (*first < 0)
            *first = (int32_t)i;
        else
            join(s, *first, (int32_t)i);
    }
done:
    rbli_free(s->ctx, any);
    return status;
}

/* ---- joining ---- */

/// The neighbour of the largest common weight, then the smallest, then the lowest. Without one and by place
/// alone: the part of the point before it on the curve, of the first part the one behind. −1: none.
static int32_t best_neighbor(settling *s, int32_t root)
{
    int32_t best = -1;
    double weight = 0;
    for (int32_t l = rbli_contraction_neighbors(&s->parts, root); l >= 0; l = s->parts.links[l].next) {
        int32_t other = s->parts.links[l].to;
        double w = s->parts.links[l].weight;
        if (best < 0 || w > weight ||
            (w == weight && (s->parts.size[other] < s->parts.size[best] ||
                                (s->parts.size[other] == s->parts.size[best] && other < best))))
            best = other, weight = w;
    }
    if (best >= 0 || s->connected) return best;
    if (root > 0) return rbli_contraction_find(&s->parts, root - 1);
    for (size_t i = 1; i < s->count; i++)
        if (rbli_contraction_find(&s->parts, (int32_t)i) != root)
            return rbli_contraction_find(&s->parts, (int32_t)i);
    return -1;
}

typedef struct heap_entry {
    double size;
    int32_t root, nodes;
} heap_entry;

static bool before(heap_entry a, heap_entry b)
{
    if (a.size != b.size) return a.size < b.size;
    return a.nodes != b.nodes ? a.nodes < b.nodes : a.root < b.root;
}

static void heap_push(heap_entry *heap, size_t *count, heap_entry entry)
{
    size_t i = (*count)++;
    while (i > 0 && before(entry, heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = entry;
}

static heap_entry heap_pop(heap_entry *heap, size_t *count)
{
    heap_entry top = heap[0], moved = heap[--*count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= *count) break;
        if (child + 1 < *count && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], moved)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
    return top;
}

static heap_entry measure(const settling *s, int32_t root, bool by_volume)
{
    int32_t nodes = s->parts.size[root];
    return (heap_entry){by_volume ? s->volume[root] : (double)nodes, root, nodes};
}

/// Joins the smallest part to a neighbour while there are too many, or while it is a single one and may not
/// be; or, by volume, while it is too small.
static rbl_status merge_small(settling *s, bool by_volume)
{
    rbl_status status = RBL_OK;
    const rbli_cluster_options *o = s->options;
    size_t heap_count = 0, rounds = 0;
    heap_entry *heap = rbli_alloc(s->ctx, 2 * s->count, sizeof *heap);
    RBL_TRY_ALLOC(heap);
    for (size_t i = 0; i < s->count; i++)
        if (s->parts.parent[i] == (int32_t)i) heap_push(heap, &heap_count, measure(s, (int32_t)i, by_volume));
    while (heap_count > 0) {
        heap_entry top = heap_pop(heap, &heap_count);
        if (s->parts.parent[top.root] != top.root || s->parts.size[top.root] != top.nodes) continue;
        bool too_many = o->enforce_count && s->parts.part_count > o->count;
        bool wanted = by_volume ? s->volume[top.root] < o->minimum_volume
                                : too_many || (o->avoid_isolated && top.nodes == 1);
        if (!wanted) break;
        int32_t other = best_neighbor(s, top.root);
        if (other < 0) continue;
        int32_t root = join(s, top.root, other);
        heap_push(heap, &heap_count, measure(s, root, by_volume));
        if (++rounds % 256 == 0 && rbli_cancelled(s->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
    }
done:
    rbli_free(s->ctx, heap);
    return status;
}

/* ---- the whole ---- */

/// Numbers of groups by rank, then the answer by point: ascending along the curve, −1 for those alone.
static rbl_status number_groups(settling *s, int32_t *cluster, size_t *cluster_count)
{
    rbl_status status = RBL_OK;
    const rbli_cluster_options *o = s->options;
    int32_t *group = NULL, *size = NULL;
    size_t groups = 0;
    RBL_TRY_ALLOC(group = rbli_alloc(s->ctx, s->count, sizeof *group));
    for (size_t i = 0; i < s->count; i++) {
        int32_t root = rbli_contraction_find(&s->parts, (int32_t)i);
        group[i] = root == (int32_t)i ? (int32_t)groups++ : group[root];
    }
    if (o->enforce_count && !(o->minimum_volume > 0) && groups < o->count)
        RBL_TRY(rbli_split_groups(s->ctx, s->count, s->connected ? s->edges : NULL, s->edge_count, o->count,
            o->avoid_isolated, group, &groups));
    RBL_TRY_ALLOC(size = rbli_calloc(s->ctx, groups, 2 * sizeof *size));
    int32_t *number = size + groups, next = 0;
    for (size_t i = 0; i < s->count; i++)
        size[group[i]]++;
    for (size_t g = 0; g < groups; g++)
        number[g] = -1;
    for (size_t i = 0; i < s->count; i++) {
        int32_t g = group[i];
        if (number[g] < 0 && !(o->avoid_isolated && size[g] == 1)) number[g] = next++;
        cluster[s->items[i].index] = number[g];
    }
    *cluster_count = (size_t)next;
done:
    rbli_free(s->ctx, group);
    rbli_free(s->ctx, size);
    return status;
}

rbl_status rbli_settle_ranked(rbl_context *ctx, const rbli_ranked *items, size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const int32_t *label,
    const rbli_cluster_options *options, int32_t *cluster, size_t *cluster_count)
{
    rbl_status status = RBL_OK;
    settling s = {.ctx = ctx, .options = options, .items = items, .count = count};
    s.connected = options->enforce_connectivity && edge_count > 0;
    RBL_TRY(rank_edges(&s, edges, edge_count));
    RBL_TRY(make_parts(&s, label));
    RBL_TRY(merge_small(&s, false));
    if (options->minimum_volume > 0) RBL_TRY(merge_small(&s, true));
    RBL_TRY(number_groups(&s, cluster, cluster_count));
done:
    rbli_contraction_free(ctx, &s.parts);
    rbli_free(ctx, s.volume);
    rbli_free(ctx, s.edges);
    return status;
}

rbl_status rbli_cluster_settle(rbl_context *ctx, const double (*points)[3], size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const int32_t *label,
    const rbli_cluster_options *options, int32_t *cluster, size_t *cluster_count)
{
    rbl_status status = RBL_OK;
    rbli_ranked *items = NULL;
    int32_t *by_rank = NULL;
    *cluster_count = 0;
    if (count == 0) return RBL_OK;
    RBL_TRY(rbli_rank_points(ctx, points, options->volumes, count, &items));
    RBL_TRY_ALLOC(by_rank = rbli_alloc(ctx, count, sizeof *by_rank));
    for (size_t i = 0; i < count; i++)
        by_rank[i] = label[items[i].index];
    RBL_TRY(
        rbli_settle_ranked(ctx, items, count, edges, edge_count, by_rank, options, cluster, cluster_count));
done:
    rbli_free(ctx, items);
    rbli_free(ctx, by_rank);
    return status;
}
