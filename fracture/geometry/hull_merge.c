/// Greedy merging of hulls by the volume that it adds.

#include "fracture/geometry/hull_merge.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"

enum { MOST_HULLS = 64, MOST_PAIRED = 2048 };

rbli_hull_merge_options rbli_hull_merge_default_options(void)
{
    return (rbli_hull_merge_options){.max_hulls = 1, .distance = -1};
}

static rbl_status hull_of(rbl_context *ctx, const rbli_hull *const *hulls, size_t count, rbli_hull *out)
{
    size_t points = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        points += hulls[i]->point_count;
    double(*all)[3] = rbli_alloc(ctx, points, sizeof *all);
    if (!all) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        memcpy(all[at], hulls[i]->points, hulls[i]->point_count * sizeof *all);
        at += hulls[i]->point_count;
    }
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = INT32_MAX;
    rbl_status status = rbli_convex_hull(ctx, (const double(*)[3])all, points, &options, out);
    rbli_free(ctx, all);
    return status;
}

/// Whether `merged` reaches into a sphere that none of the parts reaches into.
static bool covers_space(
    const rbli_hull *merged, const rbli_hull *const *parts, size_t count, const rbli_spheres *spheres)
{
    for (size_t s = 0; spheres && s < spheres->count; s++) {
        if (rbli_hull_height(merged, spheres->centers[s]) >= spheres->radii[s]) continue;
        bool before = false;
        for (size_t i = 0; i < count && !before; i++)
            before = rbli_hull_height(parts[i], spheres->centers[s]) < spheres->radii[s];
        if (!before) return true;
    }
    return false;
}

/// Whether two hulls are within `distance`; any are when it is negative.
static rbl_status are_near(
    rbl_context *ctx, const rbli_hull *a, const rbli_hull *b, double distance, bool *near)
{
    *near = true;
    if (distance < 0) return RBL_OK;
    double la[3], ha[3], lb[3], hb[3];
    rbli_hull_bounds(a, la, ha);
    rbli_hull_bounds(b, lb, hb);
    for (int k = 0; k < 3; k++)
        if (la[k] - hb[k] > distance || lb[k] - ha[k] > distance) {
            *near = false;
            return RBL_OK;
        }
    rbli_hull_overlap overlap;
    rbl_status status = rbli_hull_find_overlap(ctx, a, b, distance, &overlap);
    if (status == RBL_OK) *near = overlap.depth >= -distance;
    return status;
}

/* ---- many hulls: halves of the set ---- */

typedef struct place {
    double low[3], high[3], key;
    size_t hull;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->hull > q->hull) - (p->hull < q->hull);
}

typedef struct halving {
    rbl_context *ctx;
    const rbli_hull_set *set;
    const rbli_hull_merge_options *options;
    size_t size;     /* groups of at most this many are made */
    place *places;   /* [set->count] reordered */
    size_t *owner;   /* [set->count] union-find of one group */
    rbli_hull *made; /* [made_count] */
    size_t made_count;
} halving;

static size_t find_owner(size_t *owner, size_t i)
{
    while (owner[i] != i)
        i = owner[i] = owner[owner[i]];
    return i;
}

/// Whether the hulls of a group hang together.
static rbl_status is_connected(halving *h, size_t begin, size_t end, bool *connected)
{
    size_t parts = end - begin;
    *connected = true;
    if (h->options->distance < 0) return RBL_OK;
    for (size_t i = begin; i < end; i++)
        h->owner[i] = i;
    for (size_t i = begin; i < end && parts > 1; i++)
        for (size_t j = i + 1; j < end && parts > 1; j++) {
            const place *p = &h->places[i], *q = &h->places[j];
            bool near = true;
            for (int k = 0; k < 3; k++)
                near &= p->low[k] - q->high[k] <= h->options->distance &&
                        q->low[k] - p->high[k] <= h->options->distance;
            if (!near) continue;
            size_t a = find_owner(h->owner, i), b = find_owner(h->owner, j);
            if (a == b) continue;
            rbl_status status = are_near(
                h->ctx, &h->set->hulls[p->hull], &h->set->hulls[q->hull], h->options->distance, &near);
            if (status != RBL_OK) return status;
            if (near) h->owner[a] = b, parts--;
        }
    *connected = parts == 1;
    return RBL_OK;
}

/// Tries to make one hull of a group.
static rbl_status make_group(halving *h, size_t begin, size_t end, bool *done)
{
    rbl_status status = RBL_OK;
    rbli_hull hull = {0};
    const rbli_hull **parts = rbli_alloc(h->ctx, end - begin, sizeof *parts);
    if (!parts) return RBL_ERR_NO_MEMORY;
    *done = false;
    for (size_t i = begin; i < end; i++)
        parts[i - begin] = &h->set->hulls[h->places[i].hull];
    if (end - begin > 1) {
        bool connected;
        RBL_TRY(is_connected(h, begin, end, &connected));
        if (!connected) goto done;
    }
    RBL_TRY(hull_of(h->ctx, parts, end - begin, &hull));
    if (end - begin > 1 && covers_space(&hull, parts, end - begin, h->options->spheres)) goto done;
    h->made[h->made_count++] = hull;
    hull = (rbli_hull){0};
    *done = true;
done:
    rbli_free(h->ctx, parts);
    rbli_hull_free(h->ctx, &hull);
    return status;
}

/// Groups of places begin … end − 1. Depth is logarithmic in their number.
static rbl_status halve(halving *h, size_t begin, size_t end)
{
    rbl_status status = RBL_OK;
    if (rbli_cancelled(h->ctx)) return RBL_ERR_CANCELLED;
    if (end - begin <= h->size) {
        bool done;
        RBL_TRY(make_group(h, begin, end, &done));
        if (done) return RBL_OK;
    }
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    int axis = 0;
    for (size_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], h->places[i].low[k]);
            high[k] = fmax(high[k], h->places[i].high[k]);
        }
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    for (size_t i = begin; i < end; i++)
        h->places[i].key = h->places[i].low[axis] + h->places[i].high[axis];
    qsort(h->places + begin, end - begin, sizeof *h->places, compare_places);
    size_t middle = begin + (end - begin) / 2;
    RBL_TRY(halve(h, begin, middle));
    RBL_TRY(halve(h, middle, end));
done:
    return status;
}

/// Replaces the set by a smaller one.
static rbl_status reduce(rbl_context *ctx, rbli_hull_set *set, const rbli_hull_merge_options *options)
{
    rbl_status status = RBL_OK;
    size_t groups = options->max_hulls > MOST_HULLS / 2 ? options->max_hulls : MOST_HULLS / 2;
    halving h = {.ctx = ctx, .set = set, .options = options, .size = (set->count + groups - 1) / groups};
    RBL_TRY_ALLOC(h.places = rbli_alloc(ctx, set->count, sizeof *h.places));
    RBL_TRY_ALLOC(h.owner = rbli_alloc(ctx, set->count, sizeof *h.owner));
    RBL_TRY_ALLOC(h.made = rbli_calloc(ctx, set->count, sizeof *h.made));
    for (size_t i = 0; i < set->count; i++) {
        h.places[i].hull = i;
        rbli_hull_bounds(&set->hulls[i], h.places[i].low, h.places[i].high);
    }
    RBL_TRY(halve(&h, 0, set->count));
    rbli_hull_set_free(ctx, set);
    *set = (rbli_hull_set){h.made, h.made_count};
    h.made = NULL;
    h.made_count = 0;
done:
    for (size_t i = 0; i < h.made_count; i++)
        rbli_hull_free(ctx, &h.made[i]);
    rbli_free(ctx, h.made);
    rbli_free(ctx, h.places);
    rbli_free(ctx, h.owner);
    return status;
}

/* ---- few hulls: pair by pair ---- */

/// What merging two hulls costs: the volume that it adds; infinite where it is not allowed.
static rbl_status pair_cost(rbl_context *ctx, const rbli_hull *a, const rbli_hull *b,
    const rbli_hull_merge_options *options, double *cost)
{
    const rbli_hull *parts[2] = {a, b};
    rbli_hull merged;
    bool near;
    *cost = HUGE_VAL;
    rbl_status status = are_near(ctx, a, b, options->distance, &near);
    if (status != RBL_OK || !near) return status;
    status = hull_of(ctx, parts, 2, &merged);
    if (status != RBL_OK) return status;
    if (!covers_space(&merged, parts, 2, options->spheres)) *cost = merged.volume - a->volume - b->volume;
    rbli_hull_free(ctx, &merged);
    return RBL_OK;
}

static rbl_status merge_pairs(rbl_context *ctx, rbli_hull_set *set, const rbli_hull_merge_options *options)
{
    rbl_status status = RBL_OK;
    size_t n = set->count;
    double *cost = NULL, free_of_charge = options->error_tolerance;
    free_of_charge *= free_of_charge * free_of_charge;
    if (n > 1 && n > SIZE_MAX / n) return RBL_ERR_NO_MEMORY;
    RBL_TRY_ALLOC(cost = rbli_alloc(ctx, n * n, sizeof *cost));
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            RBL_TRY(pair_cost(ctx, &set->hulls[i], &set->hulls[j], options, &cost[i * n + j]));
    for (size_t left = n; left > 1; left--) {
        size_t a = 0, b = 0;
        double least = HUGE_VAL;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (size_t i = 0; i < left; i++)
            for (size_t j = i + 1; j < left; j++)
                if (cost[i * n + j] < least) least = cost[i * n + j], a = i, b = j;
        bool wanted = options->max_hulls > 0 && left > options->max_hulls;
        if (least == HUGE_VAL || (!wanted && !(options->error_tolerance > 0 && least <= free_of_charge)))
            break;
        const rbli_hull *parts[2] = {&set->hulls[a], &set->hulls[b]};
        rbli_hull merged;
        RBL_TRY(hull_of(ctx, parts, 2, &merged));
        rbli_hull_free(ctx, &set->hulls[a]);
        rbli_hull_free(ctx, &set->hulls[b]);
        set->hulls[a] = merged;
        set->hulls[b] = set->hulls[left - 1]; /* the last takes b's place */
        set->hulls[left - 1] = (rbli_hull){0};
        set->count = left - 1;
        for (size_t i = 0; b < left - 1 && i < left - 1; i++)
            if (i != b) cost[(i < b ? i : b) * n + (i < b ? b : i)] = cost[i * n + left - 1];
        for (size_t i = 0; i < left - 1; i++)
            if (i != a)
                RBL_TRY(pair_cost(ctx, &set->hulls[i < a ? i : a], &set->hulls[i < a ? a : i], options,
                    &cost[(i < a ? i : a) * n + (i < a ? a : i)]));
    }
done:
    rbli_free(ctx, cost);
    return status;
}

rbl_status rbli_hull_merge(rbl_context *ctx, rbli_hull_set *set, const rbli_hull_merge_options *options)
{
    rbl_status status = RBL_OK;
    rbli_hull_set work = {0};
    RBL_TRY_ALLOC(work.hulls = rbli_calloc(ctx, set->count, sizeof *work.hulls));
    for (; work.count < set->count; work.count++)
        RBL_TRY(rbli_hull_copy(ctx, &set->hulls[work.count], NULL, &work.hulls[work.count]));
    if (options->max_hulls >= work.count && !(options->error_tolerance > 0)) goto done;
    if (work.count > MOST_HULLS && options->max_hulls > 0 && options->max_hulls < work.count)
        RBL_TRY(reduce(ctx, &work, options));
    else if (work.count > MOST_PAIRED)
        RBL_TRY(rbli_fail(
            ctx, RBL_ERR_LIMIT, "%zu hulls are too many to merge by a tolerance alone", work.count));
    if (work.count <= MOST_PAIRED) RBL_TRY(merge_pairs(ctx, &work, options));
    rbli_hull_set_free(ctx, set);
    *set = work;
    work = (rbli_hull_set){0};
done:
    rbli_hull_set_free(ctx, &work);
    return status;
}
