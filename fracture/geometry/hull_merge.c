/// Greedy merging of hulls by the volume that it adds.

#include "fracture/geometry/hull_merge.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/box_tree.h"

enum { MOST_HULLS = 32, MOST_PAIRED = 2048 };

rbli_hull_merge_options rbli_hull_merge_default_options(void)
{
    return (rbli_hull_merge_options){.max_hulls = 1, .distance = -1};
}

/// The points of hulls together; freed by the caller.
static rbl_status gather(
    rbl_context *ctx, const rbli_hull *const *hulls, size_t count, double (**out)[3], size_t *point_count)
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
    *out = all;
    *point_count = points;
    return RBL_OK;
}

static rbl_status hull_of(rbl_context *ctx, const rbli_hull *const *hulls, size_t count, rbli_hull *out)
{
    double(*points)[3];
    size_t point_count;
    rbl_status status = gather(ctx, hulls, count, &points, &point_count);
    if (status != RBL_OK) return status;
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = INT32_MAX;
    status = rbli_convex_hull(ctx, (const double(*)[3])points, point_count, &options, out);
    rbli_free(ctx, points);
    return status;
}

/// The volume of the hull of two.
static rbl_status volume_of(rbl_context *ctx, const rbli_hull *const parts[2], double *volume)
{
    double(*points)[3];
    size_t point_count;
    rbl_status status = gather(ctx, parts, 2, &points, &point_count);
    if (status != RBL_OK) return status;
    status = rbli_convex_hull_volume(ctx, (const double(*)[3])points, point_count, volume);
    rbli_free(ctx, points);
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

/// Whether no facet shows that two hulls are farther apart than `distance`; any are near when it is negative.
static bool are_near(const rbli_hull *a, const rbli_hull *b, double distance)
{
    double la[3], ha[3], lb[3], hb[3];
    if (distance < 0) return true;
    rbli_hull_bounds(a, la, ha);
    rbli_hull_bounds(b, lb, hb);
    for (int k = 0; k < 3; k++)
        if (la[k] - hb[k] > distance || lb[k] - ha[k] > distance) return false;
    return rbli_hull_facet_gap(a, b, distance) <= distance;
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

/// Whether two places' boxes are within the distance.
static bool boxes_near(const place *p, const place *q, double distance)
{
    bool near = true;
    for (int k = 0; k < 3; k++)
        near &= p->low[k] - q->high[k] <= distance && q->low[k] - p->high[k] <= distance;
    return near;
}

/// Pairs of a group while its parts are joined.
typedef struct joining {
    halving *h;
    const place *places;  /* of the group */
    const int32_t *items; /* place of a slot */
    size_t parts;
} joining;

static void join_pair(void *user, int32_t slot_a, int32_t slot_b)
{
    joining *join = user;
    halving *h = join->h;
    size_t i = (size_t)join->items[slot_a], j = (size_t)join->items[slot_b];
    if (join->parts == 1) return;
    size_t a = find_owner(h->owner, i), b = find_owner(h->owner, j);
    const place *p = &join->places[i], *q = &join->places[j];
    if (a == b || !boxes_near(p, q, h->options->distance)) return;
    if (!are_near(&h->set->hulls[p->hull], &h->set->hulls[q->hull], h->options->distance)) return;
    h->owner[a > b ? a : b] = a > b ? b : a;
    join->parts--;
}

/// Sorts a group by its connected parts; a part's key is its own. `*several` false: there is one, and nothing
/// was done.
static rbl_status sort_by_parts(halving *h, size_t begin, size_t end, bool *several)
{
    rbl_status status = RBL_OK;
    rbli_box_tree *tree = NULL;
    double(*boxes)[2][3] = NULL, half = h->options->distance / 2;
    joining join = {.h = h, .places = h->places + begin, .parts = end - begin};
    *several = false;
    if (h->options->distance < 0) return RBL_OK;
    RBL_TRY_ALLOC(boxes = rbli_alloc(h->ctx, end - begin, sizeof *boxes));
    for (size_t i = 0; i < end - begin; i++) {
        h->owner[i] = i;
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = join.places[i].low[k] - half;
            boxes[i][1][k] = join.places[i].high[k] + half;
        }
    }
    RBL_TRY(rbli_box_tree_create(h->ctx, (const double(*)[2][3])boxes, end - begin, &tree));
    join.items = rbli_box_tree_items(tree);
    rbli_box_tree_pairs(tree, 0, rbli_box_tree_block_count(tree), join_pair, &join);
    if (join.parts == 1) goto done;
    *several = true;
    for (size_t i = 0; i < end - begin; i++)
        h->places[begin + i].key = (double)find_owner(h->owner, i);
    qsort(h->places + begin, end - begin, sizeof *h->places, compare_places);
done:
    rbli_free(h->ctx, boxes);
    rbli_box_tree_destroy(h->ctx, tree);
    return status;
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

static rbl_status halve(halving *h, size_t begin, size_t end);

/// A group of each connected part of places begin … end − 1; of halves of it where that covers a sphere.
static rbl_status make_parts(halving *h, size_t begin, size_t end)
{
    rbl_status status = RBL_OK;
    while (begin < end) {
        size_t last = begin + 1;
        bool done;
        while (last < end && h->places[last].key == h->places[begin].key)
            last++;
        RBL_TRY(make_group(h, begin, last, &done));
        if (!done) {
            RBL_TRY(halve(h, begin, begin + (last - begin) / 2));
            RBL_TRY(halve(h, begin + (last - begin) / 2, last));
        }
        begin = last;
    }
done:
    return status;
}

/// Groups of places begin … end − 1. Depth is logarithmic in their number.
static rbl_status halve(halving *h, size_t begin, size_t end)
{
    rbl_status status = RBL_OK;
    if (rbli_cancelled(h->ctx)) return RBL_ERR_CANCELLED;
    if (end - begin <= h->size) {
        bool done, several;
        RBL_TRY(sort_by_parts(h, begin, end, &several));
        if (several) return make_parts(h, begin, end);
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
    size_t groups = options->max_hulls > MOST_HULLS / 4 ? 2 * options->max_hulls : MOST_HULLS / 2;
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
    rbl_status status;
    *cost = HUGE_VAL;
    if (!options->spheres) {
        double volume;
        status = volume_of(ctx, parts, &volume);
        if (status == RBL_OK) *cost = volume - a->volume - b->volume;
        return status;
    }
    status = hull_of(ctx, parts, 2, &merged);
    if (status != RBL_OK) return status;
    if (!covers_space(&merged, parts, 2, options->spheres)) *cost = merged.volume - a->volume - b->volume;
    rbli_hull_free(ctx, &merged);
    return RBL_OK;
}

/// Costs of pairs i < j at i·n + j: infinite for those that are not near, or would cover a sphere.
typedef struct pair_table {
    size_t n;
    double *cost;
    bool *near; /* both ways round; what is near a part is near the merged hull */
} pair_table;

static rbl_status update_pair(rbl_context *ctx, const rbli_hull_set *set,
    const rbli_hull_merge_options *options, pair_table *t, size_t i, size_t j)
{
    size_t low = i < j ? i : j, high = i < j ? j : i;
    t->cost[low * t->n + high] = HUGE_VAL;
    if (!t->near[low * t->n + high]) return RBL_OK;
    return pair_cost(ctx, &set->hulls[low], &set->hulls[high], options, &t->cost[low * t->n + high]);
}

/// Merges hull b into a; the last of `left` hulls takes b's place.
static rbl_status merge_pair(rbl_context *ctx, rbli_hull_set *set, const rbli_hull_merge_options *options,
    pair_table *t, size_t a, size_t b)
{
    rbl_status status = RBL_OK;
    size_t n = t->n, last = set->count - 1;
    const rbli_hull *parts[2] = {&set->hulls[a], &set->hulls[b]};
    rbli_hull merged;
    RBL_TRY(hull_of(ctx, parts, 2, &merged));
    rbli_hull_free(ctx, &set->hulls[a]);
    rbli_hull_free(ctx, &set->hulls[b]);
    set->hulls[a] = merged;
    set->hulls[b] = set->hulls[last];
    set->hulls[last] = (rbli_hull){0};
    set->count = last;
    for (size_t i = 0; i <= last; i++)
        t->near[a * n + i] = t->near[i * n + a] = t->near[a * n + i] || t->near[b * n + i];
    for (size_t i = 0; b < last && i < last; i++) {
        if (i == b) continue;
        t->near[b * n + i] = t->near[i * n + b] = t->near[i * n + last];
        t->cost[(i < b ? i : b) * n + (i < b ? b : i)] = t->cost[i * n + last];
    }
    for (size_t i = 0; i < last; i++)
        if (i != a) RBL_TRY(update_pair(ctx, set, options, t, i, a));
done:
    return status;
}

static rbl_status merge_pairs(rbl_context *ctx, rbli_hull_set *set, const rbli_hull_merge_options *options)
{
    rbl_status status = RBL_OK;
    size_t n = set->count;
    pair_table t = {.n = n};
    double free_of_charge = options->error_tolerance;
    free_of_charge *= free_of_charge * free_of_charge;
    RBL_TRY_ALLOC(t.cost = rbli_alloc(ctx, n * n, sizeof *t.cost)); /* n ≤ MOST_PAIRED */
    RBL_TRY_ALLOC(t.near = rbli_calloc(ctx, n * n, sizeof *t.near));
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            t.near[i * n + j] = t.near[j * n + i] =
                are_near(&set->hulls[i], &set->hulls[j], options->distance);
            RBL_TRY(update_pair(ctx, set, options, &t, i, j));
        }
    while (set->count > 1) {
        size_t a = 0, b = 0;
        double least = HUGE_VAL;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (size_t i = 0; i < set->count; i++)
            for (size_t j = i + 1; j < set->count; j++)
                if (t.cost[i * n + j] < least) least = t.cost[i * n + j], a = i, b = j;
        bool wanted = options->max_hulls > 0 && set->count > options->max_hulls;
        bool cheap = options->error_tolerance > 0 && least <= free_of_charge;
        if (least == HUGE_VAL || (!wanted && !cheap)) break;
        RBL_TRY(merge_pair(ctx, set, options, &t, a, b));
    }
done:
    rbli_free(ctx, t.cost);
    rbli_free(ctx, t.near);
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
