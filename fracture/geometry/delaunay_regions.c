/// Insertion of all points, on all threads, each in a region of space of its own.
///
/// Where two regions meet, points go in before those inside the regions: they wall the regions off from each other, so
/// that nearly no cavity of a point inside one reaches into another. Those points at the borders are divided in the same
/// way, by regions that meet elsewhere, and so on until few are left, which one thread inserts. What fails nevertheless
/// one thread inserts in the end; the triangulation is the same in any order.

#include <math.h>
#include <stdlib.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/delaunay_insert.h"

enum {
    GHOSTS = RBLI_GHOST_COUNT,
    MOST_REGIONS = 64,
    MOST_LEVELS = 8,
    MOST_PASSES = 3,
    FEWEST_POINTS = 256, /* that several threads insert */
    MOST_ALONE = 640,    /* as many points are not worth regions */
    SIDE = 4,            /* directions are squares on the faces of a cube */
    DIRECTIONS = 6 * SIDE * SIDE,
    POINTS_A_REGION = 64,
    TETRAHEDRA_A_POINT = 8, /* one more than a point of a random set needs */
    SAMPLES = 512,
};

/// Space is cut in two, and what that gives again, until there are as many regions as threads.
typedef struct region_tree {
    struct {
        int axis;                /* −1: a region */
        double split, low, high; /* from low to high there are points of the border */
        int child[2];            /* or, in child[0], the region */
    } nodes[2 * MOST_REGIONS];
    int node_count, region_count;
} region_tree;

/// The points of a level are those of the border of the level above it.
typedef struct level {
    region_tree tree;
    size_t start[MOST_REGIONS + 1]; /* of the points of its regions, and behind the last */
} level;

typedef struct job {
    rbl_context *ctx;
    rbli_triangulation *t;
    rbli_inserter inserters[MOST_REGIONS + 1]; /* the first is alone, the others have regions */
    int32_t *points;                           /* [points] in the order of insertion, extreme ones first */
    size_t extreme_count;
    int32_t *pending, *scratch; /* behind these, to be inserted, the lowest level first; as many */
    size_t pending_count;
    level levels[MOST_LEVELS]; /* the lowest is the last */
    int level_count, workers;
    size_t alone_count; /* pending points of no level, that one thread inserts first */
    const level *current;
    size_t first_count;               /* tetrahedra before all ranges of regions */
    size_t range_begin[MOST_REGIONS]; /* of the range that a region takes tetrahedra from */
    size_t left[MOST_REGIONS];        /* that could not be inserted in a region, at its beginning */
} job;

/// Inserts points on the caller's thread.
static rbl_status insert_alone(job *j, const int32_t *points, size_t count)
{
    bool inserted;
    for (size_t i = 0; i < count; i++) {
        if (i % 1024 == 0 && rbli_cancelled(j->ctx)) return RBL_ERR_CANCELLED;
        rbl_status status = rbli_insert_point(&j->inserters[0], points[i], &inserted);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/* Extreme points */

/// The point that lies farthest out in a direction.
typedef struct extreme {
    double distance2; /* of the middle; 0: there is none */
    size_t index;     /* among the points in the order of insertion */
} extreme;

typedef struct extreme_job {
    const job *j;
    double middle[3];
    extreme *found; /* [blocks][DIRECTIONS] */
} extreme_job;

static int direction_of(const double d[3])
{
    int axis = fabs(d[1]) > fabs(d[0]);
    if (fabs(d[2]) > fabs(d[axis])) axis = 2;
    double scale = SIDE / 2.0 / fabs(d[axis]);
    int u = (int)(d[(axis + 1) % 3] * scale + SIDE / 2.0), v = (int)(d[(axis + 2) % 3] * scale + SIDE / 2.0);
    return ((2 * axis + (d[axis] < 0)) * SIDE + (u < SIDE ? u : SIDE - 1)) * SIDE + (v < SIDE ? v : SIDE - 1);
}

static rbl_status extreme_range(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const extreme_job *search = user;
    extreme found[DIRECTIONS] = {{0}};
    for (size_t i = begin; i < end; i++) {
        const double *x = search->j->t->points[search->j->points[i]].x;
        double d[3] = {x[0] - search->middle[0], x[1] - search->middle[1], x[2] - search->middle[2]},
               distance2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        extreme *best = &found[distance2 > 0 ? direction_of(d) : 0];
        if (distance2 > best->distance2) *best = (extreme){distance2, i};
    }
    memcpy(search->found + block * DIRECTIONS, found, sizeof found);
    return RBL_OK;
}

static int compare_extremes(const void *a, const void *b)
{
    const extreme *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/// Moves points to the front, in their order.
/// @param chosen  by index
static void move_to_front(int32_t *points, const extreme chosen[DIRECTIONS], size_t count)
{
    int32_t moved[DIRECTIONS];
    for (size_t i = 0; i < count; i++)
        moved[i] = points[chosen[i].index];
    for (size_t i = count; i-- > 0;) { /* those between this one and the one before it */
        size_t first = i ? chosen[i - 1].index + 1 : 0;
        memmove(points + first + count - i, points + first, (chosen[i].index - first) * sizeof *points);
    }
    memcpy(points, moved, count * sizeof *points);
}

/// Moves the points that lie farthest out in each of many directions to the front. Without them, regions begin with
/// large tetrahedra at the hull that belong to two of them, and many points there fall into their spheres.
static rbl_status move_extremes(job *j, size_t count)
{
    enum { LEAST_GRAIN = 1024, MOST_BLOCKS = 64 };
    rbl_status status = RBL_OK;
    extreme_job search = {.j = j};
    size_t grain = count / MOST_BLOCKS > LEAST_GRAIN ? count / MOST_BLOCKS : LEAST_GRAIN,
           blocks = (count + grain - 1) / grain, samples = count < SAMPLES ? count : SAMPLES;
    for (size_t i = 0; i < samples; i++)
        for (int k = 0; k < 3; k++)
            search.middle[k] += j->t->points[j->points[i * (count / samples)]].x[k] / (double)samples;
    RBL_TRY_ALLOC(search.found = rbli_alloc(j->ctx, blocks * DIRECTIONS, sizeof *search.found));
    RBL_TRY(rbli_parallel_for(j->ctx, count, grain, extreme_range, &search));
    for (size_t i = DIRECTIONS; i < blocks * DIRECTIONS; i++)
        if (search.found[i].distance2 > search.found[i % DIRECTIONS].distance2)
            search.found[i % DIRECTIONS] = search.found[i];
    for (size_t i = 0; i < DIRECTIONS; i++)
        if (search.found[i].distance2 > 0) search.found[j->extreme_count++] = search.found[i];
    qsort(search.found, j->extreme_count, sizeof *search.found, compare_extremes);
    move_to_front(j->points, search.found, j->extreme_count);
done:
    rbli_free(j->ctx, search.found);
    return status;
}

/* Regions */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/// The extents of a sample of points.
static void measure_sample(const double *const *sample, size_t count, double extent[3])
{
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            low = fmin(low, sample[i][k]);
            high = fmax(high, sample[i][k]);
        }
        extent[k] = count ? high - low : 0;
    }
}

/// The longest axis; the first of those that are about as long, which halves the curve that gives points their places,
/// too: so a thread finds in its cache in later loops what it made.
static int longest_axis(const double extent[3], int avoided)
{
    const double about = 0.75;
    double longest = -1;
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        if (k == avoided || about * extent[k] <= longest) continue;
        longest = extent[k];
        axis = k;
    }
    return axis;
}

/// The part of a set of points, evenly spread, that lies within a few layers of a cut.
static double border_part(const double extent[3], double points, int axis)
{
    const double layers = 3, most = 0.2;
    double volume = 1, longest = fmax(extent[0], fmax(extent[1], extent[2]));
    if (!(longest > 0) || points < 1) return most;
    for (int k = 0; k < 3; k++)
        volume *= fmax(extent[k] / longest, 1e-3);
    return fmin(most, layers * cbrt(volume / points) * longest / extent[axis]);
}

/// Cuts a sample of points in two, `regions` on both sides together, and goes on with both.
/// @param step     points of the set for one of the sample
/// @param shift    of the cut, a part of the points
/// @param avoided  the axis that is not cut first, or −1
/// @return its node
static int cut_regions(region_tree *tree, const double **sample, size_t count, size_t step, int regions,
    double shift, int avoided)
{
    int node = tree->node_count++;
    if (regions == 1) {
        tree->nodes[node].axis = -1;
        tree->nodes[node].child[0] = tree->region_count++;
        return node;
    }
    double extent[3], values[SAMPLES], split = 0, low = 0, high = 0;
    measure_sample(sample, count, extent);
    int axis = longest_axis(extent, avoided), below = regions / 2;
    for (size_t i = 0; i < count; i++)
        values[i] = sample[i][axis];
    qsort(values, count, sizeof *values, compare_doubles);
    if (count) {
        double part = border_part(extent, (double)(count * step), axis), last = (double)(count - 1),
               middle = (double)below / regions + shift;
        split = values[(size_t)(last * middle)];
        low = values[(size_t)(last * fmax(0, middle - part))];
        high = values[(size_t)(last * fmin(1, middle + part))];
    }
    size_t less = 0;
    for (size_t i = 0; i < count; i++) {
        const double *point = sample[i];
        if (point[axis] >= split) continue;
        sample[i] = sample[less];
        sample[less++] = point;
    }
    tree->nodes[node].axis = axis;
    tree->nodes[node].split = split;
    tree->nodes[node].low = low;
    tree->nodes[node].high = high;
    int child = cut_regions(tree, sample, less, step, below, shift, -1);
    tree->nodes[node].child[0] = child;
    child = cut_regions(tree, sample + less, count - less, step, regions - below, shift, -1);
    tree->nodes[node].child[1] = child;
    return node;
}

/// The region of a point, and whether it is of the border.
static uint8_t region_of(const region_tree *tree, const double x[3], bool *border)
{
    int node = 0;
    *border = false;
    while (tree->nodes[node].axis >= 0) {
        double value = x[tree->nodes[node].axis];
        *border |= value >= tree->nodes[node].low && value <= tree->nodes[node].high;
        node = tree->nodes[node].child[value >= tree->nodes[node].split];
    }
    return (uint8_t)tree->nodes[node].child[0];
}

static rbl_status set_region(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const job *j = user;
    bool border;
    for (size_t i = begin; i < end; i++)
        j->t->region[i] =
            i < GHOSTS ? RBLI_EVERY_REGION : region_of(&j->current->tree, j->t->points[i].x, &border);
    return RBL_OK;
}

/// Divides the first `count` pending points: those of the border, then those inside each region, in their order.
/// @return the number of those of the border
static size_t divide_points(job *j, level *l, size_t count, int regions, double shift, int avoided)
{
    const double *sample[SAMPLES];
    size_t step = (count + SAMPLES - 1) / SAMPLES, samples = 0, at[MOST_REGIONS + 2] = {0};
    for (size_t i = 0; i < count; i += step)
        sample[samples++] = j->t->points[j->pending[i]].x;
    l->tree.node_count = l->tree.region_count = 0;
    cut_regions(&l->tree, sample, samples, step, regions, shift, avoided);
    uint8_t *list_of = j->t->region; /* 0: the border; it is set anew before points are inserted */
    for (size_t i = 0; i < count; i++) {
        int32_t p = j->pending[i];
        bool border;
        uint8_t region = region_of(&l->tree, j->t->points[p].x, &border);
        list_of[p] = border ? 0 : (uint8_t)(region + 1);
        at[list_of[p] + 1]++;
    }
    for (int r = 0; r <= regions; r++)
        at[r + 1] += at[r];
    memcpy(l->start, at + 1, ((size_t)regions + 1) * sizeof *at);
    for (size_t i = 0; i < count; i++)
        j->scratch[at[list_of[j->pending[i]]]++] = j->pending[i];
    memcpy(j->pending, j->scratch, count * sizeof *j->pending);
    return l->start[0];
}

/// Divides pending points into levels.
static void make_levels(job *j, int pass)
{
    const double shift = 0.07 * pass; /* what the pass before has left lies about its cuts */
    int avoided = -1;
    size_t count = j->pending_count;
    for (j->level_count = 0; j->level_count < MOST_LEVELS && count >= FEWEST_POINTS; j->level_count++) {
        level *l = &j->levels[j->level_count];
        size_t regions = count / POINTS_A_REGION;
        if (regions > (size_t)j->workers) regions = (size_t)j->workers;
        size_t border = divide_points(j, l, count, (int)regions, shift, avoided);
        if (border > count - count / 4) break;
        avoided = l->tree.nodes[0].axis;
        count = border;
    }
    j->alone_count = count;
}

/// Inserts the extreme points; divides the others meanwhile.
static rbl_status begin_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    job *j = user;
    rbl_status status = begin == 0 ? insert_alone(j, j->points + 1, j->extreme_count - 1) : RBL_OK;
    if (end == 2) make_levels(j, 0);
    return status;
}

/* Insertion into regions */

/// Inserts the points of a region but those whose cavities leave it.
static rbl_status insert_region(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    job *j = user;
    for (size_t r = begin; r < end; r++) {
        rbli_inserter *in = &j->inserters[1 + r];
        int32_t *list = j->pending + j->current->start[r];
        size_t count = j->current->start[r + 1] - j->current->start[r], left = 0;
        in->ctx = ctx;
        for (size_t i = 0; i < count; i++) {
            bool inserted = false;
            if (i % 1024 == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
            rbl_status status = in->last >= 0 ? rbli_insert_point(in, list[i], &inserted) : RBL_OK;
            if (status != RBL_OK) return status;
            if (!inserted) list[left++] = list[i];
        }
        j->left[r] = left;
        if (j->current == j->levels) rbli_inserter_finish(in); /* here, where that is in the thread's cache */
    }
    return RBL_OK;
}

/// A tetrahedron that a region owns: the one at which it ended, or the nearest before its free range, or one of the
/// first, which one thread made. −1: none of these.
static int32_t find_owned(const job *j, size_t region)
{
    const rbli_inserter *in = &j->inserters[1 + region];
    const rbli_tetrahedron *tets = j->t->tets;
    if (in->last >= 0 && tets[in->last].v[0] >= 0 && rbli_inserter_owns(in, tets[in->last].v))
        return in->last;
    for (size_t i = in->next; i-- > j->range_begin[region];)
        if (tets[i].v[0] >= 0 && rbli_inserter_owns(in, tets[i].v)) return (int32_t)i;
    for (size_t i = j->first_count; i-- > 0;)
        if (tets[i].v[0] >= 0 && rbli_inserter_owns(in, tets[i].v)) return (int32_t)i;
    return -1;
}

/// Gives each region free tetrahedra for about `count` points. They stay with their region, and so in its thread's
/// cache; one after the other, as later loops share them out.
static rbl_status take_ranges(job *j, size_t regions, size_t count)
{
    rbl_status status = RBL_OK;
    for (size_t r = 0; r < regions && status == RBL_OK; r++) {
        rbli_inserter *in = &j->inserters[1 + r];
        in->ctx = j->ctx;
        status = rbli_inserter_take(in, TETRAHEDRA_A_POINT * count + 256);
        j->range_begin[r] = in->next;
    }
    return status;
}

/// Sees to it that each region has free tetrahedra for its points, and gives it one that it owns to begin at.
static rbl_status begin_regions(job *j)
{
    rbl_status status = RBL_OK;
    const level *l = j->current;
    for (size_t r = 0; r < (size_t)l->tree.region_count; r++) {
        rbli_inserter *in = &j->inserters[1 + r];
        size_t wanted = TETRAHEDRA_A_POINT * (l->start[r + 1] - l->start[r]);
        in->ctx = j->ctx;
        in->region = (uint8_t)r;
        in->clock = j->inserters[0].clock;
        in->last = find_owned(j, r);
        if (in->free_list.count + (in->end - in->next) >= wanted) continue;
        RBL_TRY(rbli_inserter_take(in, wanted));
        j->range_begin[r] = in->next;
    }
done:
    return status;
}

/// Inserts the points of a level. What is left is put behind the `*left` points at the beginning of the pending ones.
static rbl_status insert_level(job *j, const level *l, size_t *left)
{
    rbl_status status = RBL_OK;
    rbli_inserter *alone = &j->inserters[0];
    size_t regions = (size_t)l->tree.region_count;
    j->current = l;
    RBL_TRY(rbli_parallel_for(j->ctx, j->t->point_count, 1024, set_region, j));
    RBL_TRY(begin_regions(j));
    RBL_TRY(rbli_parallel_for(j->ctx, regions, 1, insert_region, j));
    for (size_t r = 0; r < regions; r++) {
        const rbli_inserter *in = &j->inserters[1 + r];
        if (in->clock > alone->clock) alone->clock = in->clock;
        if (in->last >= 0) alone->last = in->last;
        memmove(j->pending + *left, j->pending + l->start[r], j->left[r] * sizeof *j->pending);
        *left += j->left[r];
    }
done:
    return status;
}

static int compare_places(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/// Inserts all points but the first with several threads.
static rbl_status insert_together(job *j, size_t count)
{
    rbl_status status = RBL_OK;
    RBL_TRY(move_extremes(j, count));
    j->pending = j->points + j->extreme_count;
    j->pending_count = count - j->extreme_count;
    RBL_TRY_ALLOC(j->scratch = rbli_alloc(j->ctx, j->pending_count, sizeof *j->scratch));
    RBL_TRY_ALLOC(j->t->region = rbli_alloc(j->ctx, j->t->point_count, 1));
    RBL_TRY(rbli_inserter_start(&j->inserters[0], j->points[0]));
    RBL_TRY(rbli_parallel_for(j->ctx, 2, 1, begin_block, j));
    for (int pass = 0; pass < MOST_PASSES && j->pending_count >= FEWEST_POINTS; pass++) {
        size_t left = 0;
        if (pass) make_levels(j, pass);
        RBL_TRY(insert_alone(j, j->pending, j->alone_count));
        if (!pass) {
            j->first_count = j->inserters[0].next;
            RBL_TRY(take_ranges(j, (size_t)j->levels[0].tree.region_count, count / (size_t)j->workers));
        }
        for (int i = j->level_count; i-- > 0;)
            RBL_TRY(insert_level(j, &j->levels[i], &left));
        j->pending_count = left;
    }
    qsort(j->pending, j->pending_count, sizeof *j->pending, compare_places); /* the next one is near */
    RBL_TRY(insert_alone(j, j->pending, j->pending_count));
done:
    return status;
}

rbl_status rbli_insert_all(rbl_context *ctx, rbli_triangulation *t, const int32_t *order)
{
    rbl_status status = RBL_OK;
    size_t count = t->point_count - GHOSTS;
    job *j = rbli_calloc(ctx, 1, sizeof *j);
    RBL_TRY_ALLOC(j);
    j->ctx = ctx;
    j->t = t;
    j->workers = rbli_core_count(ctx) < MOST_REGIONS ? rbli_core_count(ctx) : MOST_REGIONS;
    for (int i = 0; i < MOST_REGIONS + 1; i++)
        j->inserters[i] = (rbli_inserter){.ctx = ctx, .t = t, .alone = i == 0, .last = -1};
    RBL_TRY_ALLOC(j->points = rbli_alloc(ctx, count, sizeof *j->points));
    for (size_t i = 0; i < count; i++)
        j->points[i] = GHOSTS + order[i];
    RBL_TRY(rbli_triangulation_reserve(ctx, t, (TETRAHEDRA_A_POINT + 1) * count + 64));
    if (j->workers > 1 && count > MOST_ALONE) {
        RBL_TRY(insert_together(j, count));
    } else {
        RBL_TRY(rbli_inserter_start(&j->inserters[0], j->points[0]));
        RBL_TRY(insert_alone(j, j->points + 1, count - 1));
    }
    for (int i = 0; i < MOST_REGIONS + 1; i++)
        rbli_inserter_finish(&j->inserters[i]);
done:
    for (int i = 0; j && i < MOST_REGIONS + 1; i++)
        rbli_inserter_free(ctx, &j->inserters[i]);
    if (j) {
        rbli_free(ctx, j->points);
        rbli_free(ctx, j->scratch);
    }
    rbli_free(ctx, j);
    return status;
}
