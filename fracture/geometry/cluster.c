/// Clusters: k-means on a Morton-ordered copy of the points (Lloyd 1982).

#include "fracture/geometry/cluster_internal.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/radix_sort.h"

rbli_cluster_options rbli_cluster_default_options(void)
{
    return (rbli_cluster_options){.count = 10,
        .iterations = 500,
        .enforce_connectivity = true,
        .enforce_count = true,
        .avoid_isolated = true};
}

/* ---- canonical order ---- */

static int compare_ranked(const void *a, const void *b)
{
    const rbli_ranked *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->point[k] != q->point[k]) return p->point[k] < q->point[k] ? -1 : 1;
    if (p->volume != q->volume) return p->volume < q->volume ? -1 : 1;
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

/// Codes of the points along the curve.
static void encode(const double (*points)[3], size_t count, rbli_keyed *out)
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
        out[i] = (rbli_keyed){0, (int32_t)i};
        for (int k = 0; k < 3 && extent > 0; k++)
            out[i].key |= spread_bits((uint64_t)((points[i][k] - low[k]) / extent * 0x1fffff)) << k;
    }
}

rbl_status rbli_rank_points(
    rbl_context *ctx, const double (*points)[3], const double *volumes, size_t count, rbli_ranked **out)
{
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    rbli_ranked *items = NULL;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    RBL_TRY_ALLOC(items = rbli_alloc(ctx, count, sizeof *items));
    encode(points, count, keys);
    RBL_TRY(rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK);
    rbli_radix_sort(keys, scratch, count);
    for (size_t i = 0; i < count; i++) {
        const double *p = points[keys[i].index];
        items[i] = (rbli_ranked){
            keys[i].key, {p[0], p[1], p[2]}, volumes ? volumes[keys[i].index] : 0, keys[i].index};
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && items[end].code == items[i].code; end++)
            continue;
        if (end - i > 1) qsort(items + i, end - i, sizeof *items, compare_ranked);
    }
    *out = items;
    items = NULL;
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    rbli_free(ctx, items);
    return status;
}

/* ---- nearest centre: a balanced k-d tree in place ---- */

typedef struct tree_node {
    double point[3];
    int32_t center;
    int32_t axis;
} tree_node;

static bool comes_before(const tree_node *p, const tree_node *q, int axis)
{
    if (p->point[axis] != q->point[axis]) return p->point[axis] < q->point[axis];
    return p->center < q->center;
}

/// Puts the node that belongs at `middle` there, lesser ones before it (Hoare 1961). No two nodes are equal.
static void select_middle(tree_node *nodes, size_t begin, size_t end, size_t middle, int axis)
{
    while (end - begin > 1) {
        /* The median of three as pivot, at the front. */
        size_t a = begin, b = begin + (end - begin) / 2, c = end - 1;
        if (comes_before(&nodes[b], &nodes[a], axis)) {
            size_t t = a;
            a = b;
            b = t;
        }
        if (comes_before(&nodes[c], &nodes[b], axis)) b = comes_before(&nodes[c], &nodes[a], axis) ? a : c;
        tree_node pivot = nodes[b];
        nodes[b] = nodes[begin];
        nodes[begin] = pivot;
        size_t i = begin, j = end;
        for (;;) {
            do
                i++;
            while (i < end && comes_before(&nodes[i], &pivot, axis));
            do
                j--;
            while (comes_before(&pivot, &nodes[j], axis));
            if (i >= j) break;
            tree_node swap = nodes[i];
            nodes[i] = nodes[j];
            nodes[j] = swap;
        }
        nodes[begin] = nodes[j];
        nodes[j] = pivot;
        if (j == middle) return;
        if (j < middle)
            begin = j + 1;
        else
            end = j;
    }
}

static rbl_status build_tree(rbl_context *ctx, tree_node *nodes, const double (*centers)[3], size_t count)
{
    struct {
        size_t begin, end;
    } stack[128];
    size_t depth = 0, done = 0;
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
        select_middle(nodes, begin, end, middle, axis);
        nodes[middle].axis = axis;
        stack[depth].begin = begin;
        stack[depth++].end = middle;
        stack[depth].begin = middle + 1;
        stack[depth++].end = end;
        done += end - begin;
        if (done > 16384) {
            if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
            done = 0;
        }
    }
    return RBL_OK;
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
    const rbli_ranked *items;
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

static rbl_status run_means(rbl_context *ctx, means *m, const rbli_cluster_options *options)
{
    rbl_status status = RBL_OK;
    size_t block_count = (m->count + ASSIGN_GRAIN - 1) / ASSIGN_GRAIN;
    RBL_TRY_ALLOC(m->centers = rbli_alloc(ctx, m->center_count, sizeof *m->centers));
    RBL_TRY_ALLOC(m->sizes = rbli_alloc(ctx, m->center_count, sizeof *m->sizes));
    RBL_TRY_ALLOC(m->nodes = rbli_alloc(ctx, m->center_count, sizeof *m->nodes));
    RBL_TRY_ALLOC(m->changed = rbli_calloc(ctx, block_count, sizeof *m->changed));
    if (options->seeds) {
        memcpy(m->centers, options->seeds, m->center_count * sizeof *m->centers);
        memset(m->label, 0, m->count * sizeof *m->label);
    } else {
        place_seeds(m, options->seed);
    }
    for (int32_t i = 0;; i++) {
        RBL_TRY(build_tree(ctx, m->nodes, (const double(*)[3])m->centers, m->center_count));
        RBL_TRY(rbli_parallel_for(ctx, m->count, ASSIGN_GRAIN, assign_block, m));
        size_t changed = 0;
        for (size_t b = 0; b < block_count; b++)
            changed += m->changed[b];
        if (i >= options->iterations || (i > 0 && changed <= m->count / 10000)) break;
        move_centers(m);
        rbli_progress(ctx, (double)i / options->iterations);
    }
done:
    rbli_free(ctx, m->centers);
    rbli_free(ctx, m->sizes);
    rbli_free(ctx, m->nodes);
    rbli_free(ctx, m->changed);
    return status;
}

rbl_status rbli_cluster_points(rbl_context *ctx, const double (*points)[3], size_t count,
    const rbli_cluster_edge *edges, size_t edge_count, const rbli_cluster_options *options, int32_t *cluster,
    size_t *cluster_count)
{
    rbl_status status = RBL_OK;
    means m = {.count = count};
    rbli_ranked *items = NULL;
    *cluster_count = 0;
    if (count == 0) return RBL_OK;
    RBL_TRY(rbli_rank_points(ctx, points, options->volumes, count, &items));
    RBL_TRY_ALLOC(m.label = rbli_alloc(ctx, count, sizeof *m.label));
    m.items = items;
    m.center_count = options->seeds || options->count < count ? options->count : count;
    RBL_TRY(run_means(ctx, &m, options));
    RBL_TRY(
        rbli_settle_ranked(ctx, items, count, edges, edge_count, m.label, options, cluster, cluster_count));
done:
    rbli_free(ctx, items);
    rbli_free(ctx, m.label);
    return status;
}
