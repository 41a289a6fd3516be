/// Clusters: k-means on a Morton-ordered copy of the points (Lloyd 1982), then connected parts and merging.

#include "fracture/geometry/cluster.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/base/threads.h"

rbli_cluster_options rbli_cluster_default_options(void)
{
    return (rbli_cluster_options){.count = 10,
        .iterations = 500,
        .enforce_connectivity = true,
        .enforce_count = true,
        .avoid_isolated = true};
}

/* ---- canonical order ---- */

typedef struct ranked {
    uint64_t code;
    double point[3];
    int32_t index;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->code != q->code) return p->code < q->code ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (p->point[k] != q->point[k]) return p->point[k] < q->point[k] ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

static uint64_t spread_bits(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    return (x | x << 2) & 0x1249249249249249;
}

static void rank_points(const double (*points)[3], size_t count, ranked *out)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, extent = 0;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = points[i][k] < low[k] ? points[i][k] : low[k];
            high[k] = points[i][k] > high[k] ? points[i][k] : high[k];
        }
    for (int k = 0; k < 3; k++)
        extent = high[k] - low[k] > extent ? high[k] - low[k] : extent;
    for (size_t i = 0; i < count; i++) {
        out[i] = (ranked){.index = (int32_t)i, .point = {points[i][0], points[i][1], points[i][2]}};
        for (int k = 0; k < 3 && extent > 0; k++)
            out[i].code |= spread_bits((uint64_t)((points[i][k] - low[k]) / extent * 0x1fffff)) << k;
    }
    qsort(out, count, sizeof *out, compare_ranked);
}

/* ---- nearest centre: a balanced k-d tree in place ---- */

typedef struct tree_node {
    double point[3];
    int32_t center;
    int32_t axis;
} tree_node;

#define DEFINE_COMPARE(axis_number)                                                                          \
    static int compare_axis_##axis_number(const void *a, const void *b)                                      \
    {                                                                                                        \
        const tree_node *p = a, *q = b;                                                                      \
        if (p->point[axis_number] != q->point[axis_number])                                                  \
            return p->point[axis_number] < q->point[axis_number] ? -1 : 1;                                   \
        return p->center < q->center ? -1 : p->center > q->center;                                           \
    }
DEFINE_COMPARE(0)
DEFINE_COMPARE(1)
DEFINE_COMPARE(2)

static void build_tree(tree_node *nodes, const double (*centers)[3], size_t count)
{
    static int (*const compare[3])(const void *, const void *) = {
        compare_axis_0, compare_axis_1, compare_axis_2};
    struct {
        size_t begin, end;
    } stack[128];
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(nodes[i].point, centers[i], sizeof nodes[i].point);
        nodes[i].center = (int32_t)i;
    }
    stack[depth].begin = 0;
    stack[depth++].end = count;
    while (depth > 0) {
        size_t begin = stack[--depth].begin, end = stack[depth].end, middle = begin + (end - begin) / 2;
        double widest = -1;
        int axis = 0;
        for (int k = 0; k < 3 && end > begin; k++) {
            double low = HUGE_VAL, high = -HUGE_VAL;
            for (size_t i = begin; i < end; i++) {
                low = nodes[i].point[k] < low ? nodes[i].point[k] : low;
                high = nodes[i].point[k] > high ? nodes[i].point[k] : high;
            }
            if (high - low > widest) widest = high - low, axis = k;
        }
        if (end <= begin) continue;
        qsort(nodes + begin, end - begin, sizeof *nodes, compare[axis]);
        nodes[middle].axis = axis;
        stack[depth].begin = begin;
        stack[depth++].end = middle;
        stack[depth].begin = middle + 1;
        stack[depth++].end = end;
    }
}

static double squared(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/// The nearest centre, the one of lowest number among equally near ones; `best` and `near` start from a
/// guess.
static int32_t nearest(const tree_node *nodes, size_t count, const double p[3], int32_t best, double near)
{
    struct {
        size_t begin, end;
        double gap; /* squared distance to the part's half-space */
    } stack[128];
    size_t depth = 0;
    stack[depth].begin = 0;
    stack[depth].end = count;
    stack[depth++].gap = 0;
    while (depth > 0) {
        depth--;
        size_t begin = stack[depth].begin, end = stack[depth].end;
        if (begin >= end || stack[depth].gap > near) continue;
        size_t middle = begin + (end - begin) / 2;
        const tree_node *node = &nodes[middle];
        double d = squared(p, node->point), side = p[node->axis] - node->point[node->axis];
        if (d < near || (d == near && node->center < best)) near = d, best = node->center;
        bool below = side < 0;
        stack[depth].begin = below ? middle + 1 : begin;
        stack[depth].end = below ? end : middle;
        stack[depth++].gap = side * side;
        stack[depth].begin = below ? begin : middle + 1;
        stack[depth].end = below ? middle : end;
        stack[depth++].gap = 0;
    }
    return best;
}

/* ---- k-means ---- */

typedef struct means {
    const ranked *items;
    size_t count, center_count;
    double (*centers)[3];
    size_t *sizes;
    tree_node *nodes;
    int32_t *label;  /* [count] by rank */
    size_t *changed; /* a slot per block */
} means;

enum { ASSIGN_GRAIN = 2048 };

static rbl_status assign_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    means *m = user;
    size_t changed = 0;
    for (size_t i = begin; i < end; i++) {
        int32_t guess = m->label[i];
        int32_t now = nearest(m->nodes, m->center_count, m->items[i].point, guess,
            squared(m->items[i].point, m->centers[guess]));
        changed += now != guess;
        m->label[i] = now;
    }
    m->changed[block] = changed;
    return RBL_OK;
}

/// Centres become the means of their points; one without points stays.
static void move_centers(means *m)
{
    memset(m->sizes, 0, m->center_count * sizeof *m->sizes);
    for (size_t i = 0; i < m->count; i++)
        m->sizes[m->label[i]]++;
    for (size_t c = 0; c < m->center_count; c++)
        if (m->sizes[c]) memset(m->centers[c], 0, sizeof m->centers[c]);
    for (size_t i = 0; i < m->count; i++)
        for (int k = 0; k < 3; k++)
            m->centers[m->label[i]][k] += m->items[i].point[k];
    for (size_t c = 0; c < m->center_count; c++)
        for (int k = 0; k < 3 && m->sizes[c]; k++)
            m->centers[c][k] /= (double)m->sizes[c];
}

static void place_seeds(means *m, uint32_t seed)
{
    size_t n = m->count, k = m->center_count;
    for (size_t c = 0; c < k; c++) {
        size_t begin = (size_t)((unsigned __int128)c * n / k),
               end = (size_t)((unsigned __int128)(c + 1) * n / k);
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_CLUSTER, c);
        size_t pick = begin + (size_t)(rbli_rng_double(&rng) * (double)(end - begin));
        memcpy(m->centers[c], m->items[pick < end ? pick : end - 1].point, sizeof m->centers[c]);
        for (size_t i = begin; i < end; i++)
            m->label[i] = (int32_t)c;
    }
}

/// A centre that lost all points takes the one farthest from its centre in the largest cluster.
static void fill_empty(means *m)
{
    move_centers(m);
    for (size_t c = 0; c < m->center_count; c++) {
        if (m->sizes[c]) continue;
        size_t largest = 0, farthest = SIZE_MAX;
        for (size_t d = 1; d < m->center_count; d++)
            if (m->sizes[d] > m->sizes[largest]) largest = d;
        double far = -1;
        for (size_t i = 0; i < m->count; i++) {
            if (m->label[i] != (int32_t)largest) continue;
            double d = squared(m->items[i].point, m->centers[largest]);
            if (d > far) far = d, farthest = i;
        }
        if (m->sizes[largest] < 2 || farthest == SIZE_MAX) return;
        m->label[farthest] = (int32_t)c;
        m->sizes[largest]--;
        m->sizes[c] = 1;
    }
}

static rbl_status run_means(rbl_context *ctx, means *m, const rbli_cluster_options *options)
{
    rbl_status status = RBL_OK;
    size_t block_count = (m->count + ASSIGN_GRAIN - 1) / ASSIGN_GRAIN;
    RBL_TRY_ALLOC(m->centers = rbli_alloc(ctx, m->center_count, sizeof *m->centers));
    RBL_TRY_ALLOC(m->sizes = rbli_alloc(ctx, m->center_count, sizeof *m->sizes));
    RBL_TRY_ALLOC(m->nodes = rbli_alloc(ctx, m->center_count, sizeof *m->nodes));
    RBL_TRY_ALLOC(m->changed = rbli_calloc(ctx, block_count, sizeof *m->changed));
    place_seeds(m, options->seed);
    for (int32_t i = 0; i < options->iterations; i++) {
        build_tree(m->nodes, (const double(*)[3])m->centers, m->center_count);
        RBL_TRY(rbli_parallel_for(ctx, m->count, ASSIGN_GRAIN, assign_block, m));
        size_t changed = 0;
        for (size_t b = 0; b < block_count; b++)
            changed += m->changed[b];
        move_centers(m);
        rbli_progress(ctx, (double)i / options->iterations);
        if (changed <= m->count / 10000) break;
    }
    fill_empty(m);
done:
    rbli_free(ctx, m->centers);
    rbli_free(ctx, m->sizes);
    rbli_free(ctx, m->nodes);
    rbli_free(ctx, m->changed);
    return status;
}

/* ---- connected parts, merging ---- */

/// A link of a part's list of neighbours: lists are joined by tying ends, stale names are resolved when read.
typedef struct link {
    int32_t to; /* a rank */
    int32_t next;
    double weight;
} link;

typedef struct parts {
    size_t count;    /* points */
    int32_t *parent; /* union-find over ranks; the root is the lowest rank of its part */
    int32_t *size;
    int32_t *first, *last; /* [count] list of links of each root */
    link *links;
    double *weight; /* [count] scratch: common weight with a root */
    uint32_t *stamp;
    uint32_t now;
    size_t part_count;
} parts;

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// Roots are the lowest rank, so they do not depend on the order of joining.
static int32_t join(parts *p, int32_t a, int32_t b)
{
    a = find_root(p->parent, a);
    b = find_root(p->parent, b);
    if (a == b) return a;
    if (b < a) {
        int32_t swap = a;
        a = b;
        b = swap;
    }
    p->parent[b] = a;
    p->size[a] += p->size[b];
    if (p->first[a] < 0) {
        p->first[a] = p->first[b];
        p->last[a] = p->last[b];
    } else if (p->first[b] >= 0) {
        p->links[p->last[a]].next = p->first[b];
        p->last[a] = p->last[b];
    }
    p->part_count--;
    return a;
}

/// The neighbour of the largest common weight, then the smallest, then the lowest; −1 without one. Drops
/// inner links.
static int32_t best_neighbor(parts *p, int32_t root)
{
    int32_t best = -1, previous = -1;
    p->now++;
    for (int32_t l = p->first[root]; l >= 0; l = p->links[l].next) {
        int32_t other = find_root(p->parent, p->links[l].to);
        p->links[l].to = other;
        if (other == root) {
            /* Inner links never become outer ones again. */
            if (previous < 0) {
                p->first[root] = p->links[l].next;
            } else {
                p->links[previous].next = p->links[l].next;
            }
            if (p->last[root] == l) p->last[root] = previous;
            continue;
        }
        previous = l;
        if (p->stamp[other] != p->now) p->stamp[other] = p->now, p->weight[other] = 0;
        p->weight[other] += p->links[l].weight;
    }
    for (int32_t l = p->first[root]; l >= 0; l = p->links[l].next) {
        int32_t other = p->links[l].to;
        if (best < 0 || p->weight[other] > p->weight[best] ||
            (p->weight[other] == p->weight[best] &&
                (p->size[other] < p->size[best] || (p->size[other] == p->size[best] && other < best))))
            best = other;
    }
    return best;
}

typedef struct heap_entry {
    int32_t size, root;
} heap_entry;

static bool before(heap_entry a, heap_entry b)
{
    return a.size != b.size ? a.size < b.size : a.root < b.root;
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

/// Joins the smallest part to a neighbour while there are too many, or while it is a single one and may not
/// be.
static rbl_status merge_small(rbl_context *ctx, parts *p, const rbli_cluster_options *options)
{
    rbl_status status = RBL_OK;
    size_t heap_count = 0;
    heap_entry *heap = rbli_alloc(ctx, 2 * p->count, sizeof *heap);
    RBL_TRY_ALLOC(heap);
    for (size_t i = 0; i < p->count; i++)
        if (p->parent[i] == (int32_t)i) heap_push(heap, &heap_count, (heap_entry){p->size[i], (int32_t)i});
    while (heap_count > 0) {
        heap_entry top = heap_pop(heap, &heap_count);
        if (p->parent[top.root] != top.root || p->size[top.root] != top.size) continue;
        bool too_many = options->enforce_count && p->part_count > options->count;
        if (!too_many && !(options->avoid_isolated && top.size == 1)) break;
        int32_t other = best_neighbor(p, top.root);
        if (other < 0) continue;
        int32_t root = join(p, top.root, other);
        heap_push(heap, &heap_count, (heap_entry){p->size[root], root});
        if (rbli_cancelled(ctx)) {
            status = RBL_ERR_CANCELLED;
            goto done;
        }
    }
done:
    rbli_free(ctx, heap);
    return status;
}

static int compare_edges(const void *a, const void *b)
{
    const rbli_cluster_edge *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    return p->weight < q->weight ? -1 : p->weight > q->weight;
}

/// Edges between ranks, sorted, so that sums of weights do not depend on the order given.
static rbl_status rank_edges(rbl_context *ctx, const ranked *items, size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, rbli_cluster_edge **out)
{
    rbl_status status = RBL_OK;
    int32_t *rank = NULL;
    rbli_cluster_edge *copy = NULL;
    RBL_TRY_ALLOC(rank = rbli_alloc(ctx, count, sizeof *rank));
    RBL_TRY_ALLOC(copy = rbli_alloc(ctx, edge_count, sizeof *copy));
    for (size_t i = 0; i < count; i++)
        rank[items[i].index] = (int32_t)i;
    for (size_t e = 0; e < edge_count; e++) {
        int32_t a = rank[edges[e].a], b = rank[edges[e].b];
        copy[e] = (rbli_cluster_edge){a < b ? a : b, a < b ? b : a, edges[e].weight};
    }
    if (edge_count) qsort(copy, edge_count, sizeof *copy, compare_edges);
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, rank);
    rbli_free(ctx, copy);
    return status;
}

static void parts_free(rbl_context *ctx, parts *p)
{
    rbli_free(ctx, p->parent);
    rbli_free(ctx, p->size);
    rbli_free(ctx, p->first);
    rbli_free(ctx, p->last);
    rbli_free(ctx, p->links);
    rbli_free(ctx, p->weight);
    rbli_free(ctx, p->stamp);
}

static rbl_status parts_create(
    rbl_context *ctx, parts *p, size_t count, const rbli_cluster_edge *edges, size_t edge_count)
{
    rbl_status status = RBL_OK;
    p->count = p->part_count = count;
    RBL_TRY_ALLOC(p->parent = rbli_alloc(ctx, count, sizeof *p->parent));
    RBL_TRY_ALLOC(p->size = rbli_alloc(ctx, count, sizeof *p->size));
    RBL_TRY_ALLOC(p->first = rbli_alloc(ctx, count, sizeof *p->first));
    RBL_TRY_ALLOC(p->last = rbli_alloc(ctx, count, sizeof *p->last));
    RBL_TRY_ALLOC(p->links = rbli_alloc(ctx, edge_count, 2 * sizeof *p->links));
    RBL_TRY_ALLOC(p->weight = rbli_alloc(ctx, count, sizeof *p->weight));
    RBL_TRY_ALLOC(p->stamp = rbli_calloc(ctx, count, sizeof *p->stamp));
    for (size_t i = 0; i < count; i++) {
        p->parent[i] = (int32_t)i;
        p->size[i] = 1;
        p->first[i] = p->last[i] = -1;
    }
    for (size_t e = 0; e < edge_count; e++)
        for (int side = 0; side < 2; side++) {
            int32_t from = side ? edges[e].b : edges[e].a, to = side ? edges[e].a : edges[e].b;
            int32_t l = (int32_t)(2 * e) + side;
            p->links[l] = (link){to, p->first[from], edges[e].weight};
            if (p->first[from] < 0) p->last[from] = l;
            p->first[from] = l;
        }
done:
    return status;
}

rbl_status rbli_cluster_points(rbl_context *ctx, const double (*points)[3], size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const rbli_cluster_options *options, int32_t *cluster,
    size_t *cluster_count)
{
    rbl_status status = RBL_OK;
    parts p = {0};
    means m = {.count = count};
    ranked *items = NULL;
    int32_t *any = NULL, *number = NULL;
    rbli_cluster_edge *sorted = NULL;
    *cluster_count = 0;
    if (count == 0) return RBL_OK;
    RBL_TRY_ALLOC(items = rbli_alloc(ctx, count, sizeof *items));
    RBL_TRY_ALLOC(m.label = rbli_alloc(ctx, count, sizeof *m.label));
    RBL_TRY_ALLOC(number = rbli_alloc(ctx, count, sizeof *number));
    rank_points(points, count, items);
    m.items = items;
    m.center_count = options->count < count ? options->count : count;
    RBL_TRY(run_means(ctx, &m, options));
    RBL_TRY(rank_edges(ctx, items, count, edges, edge_count, &sorted));
    RBL_TRY(parts_create(ctx, &p, count, sorted, edge_count));
    if (options->enforce_connectivity && edge_count > 0) {
        for (size_t e = 0; e < edge_count; e++)
            if (m.label[sorted[e].a] == m.label[sorted[e].b]) join(&p, sorted[e].a, sorted[e].b);
    } else {
        RBL_TRY_ALLOC(any = rbli_alloc(ctx, m.center_count, sizeof *any));
        memset(any, 0xff, m.center_count * sizeof *any);
        for (size_t i = 0; i < count; i++) {
            int32_t c = m.label[i];
            if (any[c] < 0) any[c] = (int32_t)i;
            join(&p, any[c], (int32_t)i);
        }
    }
    RBL_TRY(merge_small(ctx, &p, options));
    int32_t next = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t root = find_root(p.parent, (int32_t)i);
        bool alone = options->avoid_isolated && p.size[root] == 1;
        if (root == (int32_t)i) number[i] = alone ? -1 : next++;
        cluster[items[i].index] = number[root];
    }
    *cluster_count = (size_t)next;
done:
    parts_free(ctx, &p);
    rbli_free(ctx, items);
    rbli_free(ctx, m.label);
    rbli_free(ctx, any);
    rbli_free(ctx, number);
    rbli_free(ctx, sorted);
    return status;
}
