/// Clusters: k-means on a Morton-ordered copy of the points (Lloyd 1982).

#include "fracture/geometry/cluster_internal.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/point_tree.h"
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
            out[i].key |= rbli_every_third((uint64_t)((points[i][k] - low[k]) / extent * 0x1fffff)) << k;
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

/* ---- k-means ---- */

typedef struct means {
    const rbli_ranked *items;
    size_t count, center_count;
    double (*centers)[3];
    size_t *sizes;
    rbli_point_node *nodes;
    double (*before)[3]; /* [center_count] centres of the step before */
    double *second;      /* [count] bound of the distance to all other centres, plus the drift then */
    double drift;        /* the most that a centre has moved in all steps together */
    int32_t *label;      /* [count] by rank */
    size_t *changed;     /* a slot per block */
} means;

enum { ASSIGN_GRAIN = 2048 };

/// A point stays while its centre is certainly nearer than any other: no other has come nearer than it was at
/// the last search, less all that centres moved since (Hamerly 2010). Bounds are a trifle too careful, so that
/// rounding decides nothing.
static rbl_status assign_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    means *m = user;
    size_t changed = 0;
    for (size_t i = begin; i < end; i++) {
        int32_t guess = m->label[i];
        double near = rbli_point_distance_squared(m->items[i].point, m->centers[guess]), second;
        if (sqrt(near) < m->second[i] - m->drift) continue;
        int32_t now =
            rbli_point_tree_two_nearest(m->nodes, m->center_count, m->items[i].point, guess, near, &second);
        changed += now != guess;
        m->label[i] = now;
        m->second[i] = sqrt(second) * (1 - 1e-12) + m->drift;
    }
    m->changed[block] = changed;
    return RBL_OK;
}

/// Centres become the means of their points; one without points stays.
static void move_centers(means *m)
{
    double farthest = 0;
    memcpy(m->before, m->centers, m->center_count * sizeof *m->centers);
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
    for (size_t c = 0; c < m->center_count; c++) {
        double d = rbli_point_distance_squared(m->before[c], m->centers[c]);
        farthest = d > farthest ? d : farthest;
    }
    m->drift += sqrt(farthest) * (1 + 1e-12);
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

/// Assigns points and moves centres until hardly a point changes. @param steps taken so far, at most
/// options->iterations
static rbl_status lloyd(rbl_context *ctx, means *m, const rbli_cluster_options *options, int32_t *steps)
{
    rbl_status status = RBL_OK;
    size_t block_count = (m->count + ASSIGN_GRAIN - 1) / ASSIGN_GRAIN;
    memset(m->second, 0, m->count * sizeof *m->second);
    m->drift = 0;
    for (bool first = true;; first = false) {
        RBL_TRY(rbli_point_tree_build(ctx, m->nodes, (const double(*)[3])m->centers, m->center_count));
        RBL_TRY(rbli_parallel_for(ctx, m->count, ASSIGN_GRAIN, assign_block, m));
        size_t changed = 0;
        for (size_t b = 0; b < block_count; b++)
            changed += m->changed[b];
        if (*steps >= options->iterations || (!first && changed <= m->count / 100)) break;
        move_centers(m);
        ++*steps;
        rbli_progress(ctx, (double)*steps / options->iterations);
    }
done:
    return status;
}

/// Many points for each centre: first a sample of every so many along the curve moves the centres near to
/// where they will be.
static rbl_status lloyd_of_sample(
    rbl_context *ctx, means *m, const rbli_cluster_options *options, int32_t *steps)
{
    enum { FEW = 16 };
    rbl_status status = RBL_OK;
    size_t stride = m->count / (FEW * m->center_count), count = m->count;
    const rbli_ranked *items = m->items;
    rbli_ranked *sample = NULL;
    if (stride < 2 || options->iterations == 0) return RBL_OK;
    m->count = count / stride;
    RBL_TRY_ALLOC(sample = rbli_alloc(ctx, m->count, sizeof *sample));
    for (size_t i = 0; i < m->count; i++) {
        sample[i] = items[i * stride];
        m->label[i] = m->label[i * stride];
    }
    m->items = sample;
    RBL_TRY(lloyd(ctx, m, options, steps));
    /* A guess for all: the centre of the sample before. */
    for (size_t i = count; i-- > 0;)
        m->label[i] = m->label[i / stride < m->count ? i / stride : m->count - 1];
done:
    m->count = count;
    m->items = items;
    rbli_free(ctx, sample);
    return status;
}

static rbl_status run_means(rbl_context *ctx, means *m, const rbli_cluster_options *options)
{
    rbl_status status = RBL_OK;
    int32_t steps = 0;
    RBL_TRY_ALLOC(m->centers = rbli_alloc(ctx, m->center_count, sizeof *m->centers));
    RBL_TRY_ALLOC(m->before = rbli_alloc(ctx, m->center_count, sizeof *m->before));
    RBL_TRY_ALLOC(m->second = rbli_alloc(ctx, m->count, sizeof *m->second));
    RBL_TRY_ALLOC(m->sizes = rbli_alloc(ctx, m->center_count, sizeof *m->sizes));
    RBL_TRY_ALLOC(m->nodes = rbli_alloc(ctx, m->center_count, sizeof *m->nodes));
    RBL_TRY_ALLOC(m->changed = rbli_calloc(ctx, m->count / ASSIGN_GRAIN + 1, sizeof *m->changed));
    if (options->seeds) {
        memcpy(m->centers, options->seeds, m->center_count * sizeof *m->centers);
        memset(m->label, 0, m->count * sizeof *m->label);
    } else {
        place_seeds(m, options->seed);
    }
    RBL_TRY(lloyd_of_sample(ctx, m, options, &steps));
    RBL_TRY(lloyd(ctx, m, options, &steps));
done:
    rbli_free(ctx, m->centers);
    rbli_free(ctx, m->before);
    rbli_free(ctx, m->second);
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
