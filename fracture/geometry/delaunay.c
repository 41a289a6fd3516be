/// The order of insertion, rounds of insertion on all threads, and the numbering of the result.

#include "fracture/geometry/delaunay.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/delaunay_insert.h"
#include "fracture/geometry/radix_sort.h"

enum { GHOSTS = RBLI_GHOST_COUNT };

/* Order of insertion */

/// Position along a Hilbert curve, 19 bits an axis (Skilling 2004, Programming the Hilbert curve).
static uint64_t hilbert_key(const double p[3], double half_extent)
{
    enum { BITS = 19 };
    uint32_t x[3];
    for (int k = 0; k < 3; k++)
        x[k] = (uint32_t)((p[k] + half_extent) / (2 * half_extent) * ((1 << BITS) - 1));
    for (uint32_t q = 1u << (BITS - 1); q > 1; q >>= 1) {
        uint32_t low = q - 1;
        for (int k = 0; k < 3; k++) {
            if (x[k] & q) {
                x[0] ^= low;
            } else {
                uint32_t swap = (x[0] ^ x[k]) & low;
                x[0] ^= swap;
                x[k] ^= swap;
            }
        }
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    uint32_t fix = 0;
    for (uint32_t q = 1u << (BITS - 1); q > 1; q >>= 1)
        if (x[2] & q) fix ^= q - 1;
    uint64_t key = 0;
    for (int bit = BITS - 1; bit >= 0; bit--)
        for (int k = 0; k < 3; k++)
            key = key << 1 | ((x[k] ^ fix) >> bit & 1);
    return key;
}

/// The round of a point: half of all in the last, a quarter in the one before, …
static int round_of(uint64_t index, int round_count)
{
    uint64_t z = index + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    int level = z ? __builtin_ctzll(z) : 63;
    return level >= round_count ? 0 : round_count - level;
}

typedef struct key_job {
    const double (*points)[3];
    double half_extent;
    rbli_keyed *keys;
} key_job;

static rbl_status key_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const key_job *job = user;
    for (size_t i = begin; i < end; i++)
        job->keys[i] = (rbli_keyed){hilbert_key(job->points[i], job->half_extent), (int32_t)i};
    return RBL_OK;
}

rbl_status rbli_delaunay_order(rbl_context *ctx, const double (*points)[3], size_t count,
    double ghost_distance, int32_t *order, int32_t *place)
{
    enum { POINTS_OF_FIRST = 64, MOST_ROUNDS = 64 };
    rbl_status status = RBL_OK;
    rbli_keyed *keys = NULL, *scratch = NULL;
    int round_count = 0;
    size_t next[MOST_ROUNDS + 1] = {0};
    while (count >> round_count > POINTS_OF_FIRST)
        round_count++;
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, count, sizeof *keys));
    RBL_TRY_ALLOC(scratch = rbli_alloc(ctx, count, sizeof *scratch));
    key_job job = {points, ghost_distance / 5, keys};
    RBL_TRY(rbli_parallel_for(ctx, count, 1024, key_range, &job));
    RBL_TRY(rbli_radix_sort_polled(ctx, keys, scratch, count));
    for (size_t i = 0; i < count; i++)
        next[round_of(i, round_count) + 1]++;
    for (int i = 0; i < round_count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < count; i++) {
        size_t at = next[round_of((uint64_t)keys[i].index, round_count)]++;
        order[at] = keys[i].index;
        place[at] = (int32_t)i;
    }
done:
    rbli_free(ctx, keys);
    rbli_free(ctx, scratch);
    return status;
}

static void set_ghosts(double distance, double ghosts[6][3])
{
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++)
            ghosts[i][k] = k == i / 2 ? (i % 2 ? distance : -distance) : 0;
}

/* Insertion on all threads */

enum {
    MOST_REGIONS = 64,
    FEWEST_POINTS = 1024, /* that one thread inserts first */
    POINTS_A_REGION = 128,
    INSERTED_A_REGION = 512, /* so that most of it is not at its border */
    TETRAHEDRA_A_POINT = 8,  /* one more than a point of a random set needs */
    SAMPLES = 2048,
    LAST_PASSES = 4, /* without more points */
};

/// Space is cut in two, and what that gives again, until there are as many regions as threads.
typedef struct region_tree {
    struct {
        int axis; /* −1: a region */
        double split;
        int child[2]; /* or, in child[0], the region */
    } nodes[2 * MOST_REGIONS];
    int node_count, region_count;
} region_tree;

typedef struct triangulator {
    rbl_context *ctx;
    rbli_triangulation t;
    size_t point_count;                        /* with ghosts */
    rbli_inserter inserters[MOST_REGIONS + 1]; /* the first is alone, the others have regions */
    region_tree tree;
    int32_t *pending, *scratch;            /* [points] to be inserted */
    size_t region_start[MOST_REGIONS + 1]; /* of `pending` */
    bool together;                         /* regions end a round together: see `ended` */
    atomic_bool ended;  /* a region has no more points: the others leave theirs to the next round */
    size_t first_count; /* tetrahedra before all ranges of regions */
    size_t range_begin[MOST_REGIONS]; /* of the range that a region takes tetrahedra from */
    size_t left[MOST_REGIONS];        /* that could not be inserted in a region, at its beginning */
} triangulator;

/// Inserts points list[0 … count − 1], or begin … begin + count − 1 without a list, on the caller's thread.
static rbl_status insert_alone(triangulator *t, const int32_t *list, size_t begin, size_t count)
{
    bool inserted;
    for (size_t i = 0; i < count; i++) {
        if (i % 1024 == 0 && rbli_cancelled(t->ctx)) return RBL_ERR_CANCELLED;
        rbl_status status =
            rbli_insert_point(&t->inserters[0], list ? list[i] : (int32_t)(begin + i), &inserted);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Inserts the points of a region but those at its border.
static rbl_status insert_region(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    triangulator *t = user;
    for (size_t r = begin; r < end; r++) {
        rbli_inserter *in = &t->inserters[1 + r];
        int32_t *list = t->pending + t->region_start[r];
        size_t count = t->region_start[r + 1] - t->region_start[r], left = 0;
        in->ctx = ctx;
        for (size_t i = 0; i < count; i++) {
            bool inserted = false, leave = t->together && i >= count / 2 &&
                                           atomic_load_explicit(&t->ended, memory_order_relaxed);
            if (i % 1024 == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
            rbl_status status = in->last >= 0 && !leave ? rbli_insert_point(in, list[i], &inserted) : RBL_OK;
            if (status != RBL_OK) return status;
            if (!inserted) list[left++] = list[i];
        }
        atomic_store_explicit(&t->ended, true, memory_order_relaxed);
        t->left[r] = left;
    }
    return RBL_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/// The axis along which a sample of points is longest; the first of those that are about as long, which halves the
/// curve that gives points their places, too: so a thread finds in its cache in later loops what it made.
static int longest_axis(const double *const *sample, size_t count, int avoided)
{
    const double about = 0.75;
    double longest = -1;
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            low = fmin(low, sample[i][k]);
            high = fmax(high, sample[i][k]);
        }
        if (k == avoided || about * (high - low) <= longest) continue;
        longest = high - low;
        axis = k;
    }
    return axis;
}

/// Cuts a sample of points in two, `regions` on both sides together, and goes on with both.
/// @param shift    of the cut, a part of the points; another one in each pass, since what was left lies about the
///                 cuts of the one before
/// @param avoided  the axis that is not cut first, or −1
/// @return its node
static int cut_regions(
    region_tree *tree, const double **sample, size_t count, int regions, double shift, int avoided)
{
    int node = tree->node_count++;
    if (regions == 1) {
        tree->nodes[node].axis = -1;
        tree->nodes[node].child[0] = tree->region_count++;
        return node;
    }
    int axis = longest_axis(sample, count, avoided), below = regions / 2;
    double values[SAMPLES];
    for (size_t i = 0; i < count; i++)
        values[i] = sample[i][axis];
    qsort(values, count, sizeof *values, compare_doubles);
    double split = count ? values[(size_t)((double)count * ((double)below / regions + shift))] : 0;
    size_t less = 0;
    for (size_t i = 0; i < count; i++) {
        const double *point = sample[i];
        if (point[axis] >= split) continue;
        sample[i] = sample[less];
        sample[less++] = point;
    }
    tree->nodes[node].axis = axis;
    tree->nodes[node].split = split;
    int child = cut_regions(tree, sample, less, below, shift, -1);
    tree->nodes[node].child[0] = child;
    child = cut_regions(tree, sample + less, count - less, regions - below, shift, -1);
    tree->nodes[node].child[1] = child;
    return node;
}

static rbl_status set_region(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    triangulator *t = user;
    for (size_t i = begin; i < end; i++) {
        int node = 0;
        while (t->tree.nodes[node].axis >= 0)
            node = t->tree.nodes[node]
                       .child[t->t.points[i].x[t->tree.nodes[node].axis] >= t->tree.nodes[node].split];
        t->t.region[i] = i < GHOSTS ? RBLI_EVERY_REGION : (uint8_t)t->tree.nodes[node].child[0];
    }
    return RBL_OK;
}

/// Makes regions with about as many of `count` pending points in each, and sorts the points by them.
static rbl_status set_regions(triangulator *t, size_t count, size_t regions, double shift, int avoided)
{
    const double *sample[SAMPLES];
    size_t step = (count + SAMPLES - 1) / SAMPLES, samples = 0, at[MOST_REGIONS + 1] = {0};
    for (size_t i = 0; i < count; i += step)
        sample[samples++] = t->t.points[t->pending[i]].x;
    t->tree.node_count = t->tree.region_count = 0;
    cut_regions(&t->tree, sample, samples, (int)regions, shift, avoided);
    rbl_status status = rbli_parallel_for(t->ctx, t->point_count, 4096, set_region, t);
    if (status != RBL_OK) return status;
    for (size_t i = 0; i < count; i++)
        at[t->t.region[t->pending[i]] + 1]++;
    for (size_t r = 0; r < regions; r++)
        at[r + 1] += at[r];
    memcpy(t->region_start, at, (regions + 1) * sizeof *at);
    for (size_t i = 0; i < count; i++)
        t->scratch[at[t->t.region[t->pending[i]]]++] = t->pending[i];
    int32_t *swap = t->pending;
    t->pending = t->scratch;
    t->scratch = swap;
    return RBL_OK;
}

/// Moves the rest of an inserter's range to a free list.
static rbl_status free_range(rbl_context *ctx, rbli_inserter *in, rbli_inserter *to)
{
    if (rbli_array_reserve(ctx, &to->free_list, in->end - in->next) != RBL_OK) return RBL_ERR_NO_MEMORY;
    for (; in->next < in->end; in->next++) {
        in->t->tets.data[in->next].v[0] = -1;
        to->free_list.data[to->free_list.count++] = (int32_t)in->next;
    }
    return RBL_OK;
}

/// A tetrahedron that a region owns: the one at which it ended, or the nearest before its free range, or one of the
/// first `count`, which one thread made. −1: none of these.
static int32_t find_owned(const rbli_inserter *in, size_t range_begin, size_t count)
{
    const rbli_tetrahedron *tets = in->t->tets.data;
    if (in->last >= 0 && tets[in->last].v[0] >= 0 && rbli_inserter_owns(in, tets[in->last].v))
        return in->last;
    for (size_t i = in->next; i-- > range_begin;)
        if (tets[i].v[0] >= 0 && rbli_inserter_owns(in, tets[i].v)) return (int32_t)i;
    for (size_t i = count; i-- > 0;)
        if (tets[i].v[0] >= 0 && rbli_inserter_owns(in, tets[i].v)) return (int32_t)i;
    return -1;
}

/// Sees to it that each region has free tetrahedra for its points, and gives it one that it owns to begin at.
/// Ranges stay with their region, and so in its thread's cache.
static rbl_status begin_regions(triangulator *t, size_t regions)
{
    rbli_inserter *alone = &t->inserters[0];
    size_t next = alone->next;
    for (size_t r = 0; r < regions; r++) {
        rbli_inserter *in = &t->inserters[1 + r];
        size_t wanted = TETRAHEDRA_A_POINT * (t->region_start[r + 1] - t->region_start[r]) + 256;
        in->region = (uint8_t)r;
        in->clock = alone->clock;
        in->last = find_owned(in, t->range_begin[r], t->first_count);
        if (in->free_list.count + (in->end - in->next) >= wanted) continue;
        if (free_range(t->ctx, in, in) != RBL_OK) return RBL_ERR_NO_MEMORY;
        t->range_begin[r] = in->next = next;
        in->end = next += wanted - in->free_list.count;
    }
    t->t.tets.count = alone->next;
    if (rbli_triangulation_reserve(t->ctx, &t->t, next) != RBL_OK) return RBL_ERR_NO_MEMORY;
    alone->next = next;
    alone->end = t->t.tets.capacity;
    atomic_store(&t->ended, false);
    return RBL_OK;
}

/// Collects what regions have left of the pending points. @return their number
static size_t collect_points(triangulator *t, size_t regions)
{
    rbli_inserter *alone = &t->inserters[0];
    size_t count = 0;
    for (size_t r = 0; r < regions; r++) {
        rbli_inserter *in = &t->inserters[1 + r];
        if (in->clock > alone->clock) alone->clock = in->clock;
        if (in->last >= 0) alone->last = in->last;
        for (size_t i = 0; i < t->left[r]; i++)
            t->pending[count++] = t->pending[t->region_start[r] + i];
    }
    return count;
}

/// Takes free tetrahedra back.
static rbl_status collect_tetrahedra(triangulator *t, size_t regions)
{
    rbli_inserter *alone = &t->inserters[0];
    for (size_t r = 0; r < regions; r++) {
        rbli_inserter *in = &t->inserters[1 + r];
        size_t listed = in->free_list.count;
        if (rbli_array_reserve(t->ctx, &alone->free_list, listed) != RBL_OK) return RBL_ERR_NO_MEMORY;
        if (listed)
            memcpy(
                alone->free_list.data + alone->free_list.count, in->free_list.data, listed * sizeof(int32_t));
        alone->free_list.count += listed;
        if (free_range(t->ctx, in, alone) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return RBL_OK;
}

/// Inserts all points: the first on the caller's thread, the others in rounds, each as large as all before, on all
/// threads. What one round leaves at the borders of its regions lies inside those of the next. The triangulation is
/// the same in any order.
static rbl_status insert_all(triangulator *t)
{
    rbl_status status = RBL_OK;
    size_t workers = (size_t)rbli_core_count(t->ctx), end = t->point_count, done = GHOSTS + 1, count = 0;
    size_t first = workers > 1 && end - done >= 2 * FEWEST_POINTS ? FEWEST_POINTS : end - done;
    if (workers > MOST_REGIONS) workers = MOST_REGIONS;
    RBL_TRY(rbli_triangulation_reserve(t->ctx, &t->t, 7 * end + 64));
    RBL_TRY(rbli_inserter_start(&t->inserters[0]));
    RBL_TRY(insert_alone(t, NULL, done, first));
    done += first;
    t->first_count = t->inserters[0].next;
    if (done < end) {
        RBL_TRY_ALLOC(t->pending = rbli_alloc(t->ctx, end - done, sizeof *t->pending));
        RBL_TRY_ALLOC(t->scratch = rbli_alloc(t->ctx, end - done, sizeof *t->scratch));
        RBL_TRY_ALLOC(t->t.region = rbli_alloc(t->ctx, end, 1));
    }
    for (int pass = 0, last_passes = 0; done < end || (count && last_passes < LAST_PASSES); pass++) {
        last_passes += done == end;
        for (size_t i = 0, round = done < end - done ? done : end - done; i < round; i++)
            t->pending[count++] = (int32_t)done++;
        size_t inserted = done - count, regions = inserted / INSERTED_A_REGION;
        if (regions > count / POINTS_A_REGION) regions = count / POINTS_A_REGION;
        if (regions > workers) regions = workers;
        if (regions < 2) continue;
        double border = 1.2 / cbrt((double)inserted), shift = pass % 2 ? border : -border;
        t->together = last_passes <= 1;
        RBL_TRY(t->together ? set_regions(t, count, regions, shift, -1)
                            : set_regions(t, count, regions, 0, t->tree.nodes[0].axis));
        RBL_TRY(begin_regions(t, regions));
        RBL_TRY(rbli_parallel_for(t->ctx, regions, 1, insert_region, t));
        count = collect_points(t, regions);
    }
    if (workers > 1) RBL_TRY(collect_tetrahedra(t, workers));
    RBL_TRY(insert_alone(t, t->pending, 0, count));
    t->t.tets.count = t->inserters[0].next;
done:
    return status;
}

/* Numbering */

/// A tetrahedron to be numbered: its corners' places but the last.
typedef struct ordered {
    uint64_t middle; /* the third << 32 | the second */
    int32_t first;
    int32_t tetrahedron;
} ordered;

typedef struct numbering {
    const rbli_triangulation *t;
    int32_t *place;     /* [points with ghosts] ghosts first */
    int32_t *name;      /* [points with ghosts] the caller's, by place */
    bool alone;         /* one thread works on it */
    atomic_uint *start; /* [points with ghosts + 2] of the tetrahedra whose last corner it is */
    ordered *list;      /* [live] by number */
    uint32_t *number;   /* [tetrahedra] */
    rbli_tetrahedron *out;
} numbering;

/// A tetrahedron with its corners' places.
static rbli_tetrahedron placed(const numbering *job, size_t i)
{
    rbli_tetrahedron tet = job->t->tets.data[i];
    for (int k = 0; k < 4; k++)
        tet.v[k] = job->place[tet.v[k]];
    return tet;
}

/// Exchanges two corners of a tetrahedron with their links if the first is the later one. @return whether it did
static bool order_two(rbli_tetrahedron *tet, int i, int j)
{
    int32_t v = tet->v[i], n = tet->n[i];
    if (v < tet->v[j]) return false;
    tet->v[i] = tet->v[j];
    tet->n[i] = tet->n[j];
    tet->v[j] = v;
    tet->n[j] = n;
    return true;
}

/// Sorts corners. @return whether that was an odd permutation
static bool sort_corners(rbli_tetrahedron *tet)
{
    return order_two(tet, 0, 1) ^ order_two(tet, 2, 3) ^ order_two(tet, 0, 2) ^ order_two(tet, 1, 3) ^
           order_two(tet, 1, 2);
}

static int compare_ordered(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    if (x->middle != y->middle) return x->middle < y->middle ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static rbl_status number_range(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    enum { FEW = 32 };
    const numbering *job = user;
    for (size_t p = begin; p < end; p++) {
        size_t begin_of = job->start[p];
        ordered *list = job->list + begin_of;
        size_t count = job->start[p + 1] - begin_of;
        if (count > FEW) qsort(list, count, sizeof *list, compare_ordered);
        for (size_t i = 1; i < count && count <= FEW; i++) {
            ordered item = list[i];
            size_t j = i;
            for (; j > 0 && compare_ordered(&item, &list[j - 1]) < 0; j--)
                list[j] = list[j - 1];
            list[j] = item;
        }
        for (size_t i = 0; i < count; i++)
            job->number[list[i].tetrahedron] = (uint32_t)(begin_of + i);
    }
    return RBL_OK;
}

static rbl_status write_range(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const numbering *job = user;
    for (size_t i = begin; i < end; i++) {
        rbli_tetrahedron tet = placed(job, (size_t)job->list[i].tetrahedron);
        if (sort_corners(&tet)) {
            int32_t v = tet.v[2], n = tet.n[2];
            tet.v[2] = tet.v[3];
            tet.n[2] = tet.n[3];
            tet.v[3] = v;
            tet.n[3] = n;
        }
        for (int k = 0; k < 4; k++) {
            tet.v[k] = job->name[tet.v[k]];
            if (tet.n[k] >= 0) tet.n[k] = (int32_t)job->number[tet.n[k]];
        }
        job->out[i] = tet;
    }
    return RBL_OK;
}

static unsigned add_one(const numbering *job, size_t point)
{
    atomic_uint *at = &job->start[point];
    if (!job->alone) return atomic_fetch_add_explicit(at, 1, memory_order_relaxed);
    unsigned value = atomic_load_explicit(at, memory_order_relaxed);
    atomic_store_explicit(at, value + 1, memory_order_relaxed);
    return value;
}

static rbl_status count_range(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const numbering *job = user;
    for (size_t i = begin; i < end; i++) {
        if (job->t->tets.data[i].v[0] < 0) continue;
        const rbli_tetrahedron tet = placed(job, i);
        int32_t a = tet.v[0] > tet.v[1] ? tet.v[0] : tet.v[1], b = tet.v[2] > tet.v[3] ? tet.v[2] : tet.v[3];
        add_one(job, (size_t)(a > b ? a : b) + 2);
    }
    return RBL_OK;
}

/// Puts tetrahedra into the lists of their last corners, in any order.
static rbl_status list_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const numbering *job = user;
    for (size_t i = begin; i < end; i++) {
        if (job->t->tets.data[i].v[0] < 0) continue;
        rbli_tetrahedron tet = placed(job, i);
        sort_corners(&tet);
        job->list[add_one(job, (size_t)tet.v[3] + 1)] =
            (ordered){(uint64_t)tet.v[2] << 32 | (uint32_t)tet.v[1], tet.v[0], (int32_t)i};
    }
    return RBL_OK;
}

/// Numbers the live tetrahedra by their corners' places, the last first, so that neighbours in space are neighbours
/// in memory and no number depends on threads; names points as the caller does.
static rbl_status number_tetrahedra(
    triangulator *t, const int32_t *order, const int32_t *place, rbli_delaunay *out)
{
    enum { GRAIN = 8192 };
    rbl_status status = RBL_OK;
    size_t points = t->point_count, count = t->t.tets.count;
    numbering job = {.t = &t->t, .alone = rbli_worker_count(t->ctx) == 1, .number = t->t.stamp};
    RBL_TRY_ALLOC(job.place = rbli_alloc(t->ctx, points, sizeof *job.place));
    RBL_TRY_ALLOC(job.name = rbli_alloc(t->ctx, points, sizeof *job.name));
    for (int32_t i = 0; i < (int32_t)points; i++) {
        job.place[i] = i < GHOSTS ? i : GHOSTS + place[i - GHOSTS];
        job.name[job.place[i]] = i < GHOSTS ? (int32_t)out->point_count + i : order[i - GHOSTS];
    }
    RBL_TRY_ALLOC(job.start = rbli_calloc(t->ctx, points + 2, sizeof *job.start));
    RBL_TRY(rbli_parallel_for(t->ctx, count, GRAIN, count_range, &job));
    for (size_t i = 2; i < points + 2; i++)
        job.start[i] += job.start[i - 1];
    size_t live = job.start[points + 1];
    RBL_TRY_ALLOC(job.list = rbli_alloc(t->ctx, live, sizeof *job.list));
    RBL_TRY_ALLOC(job.out = rbli_alloc(t->ctx, live, sizeof *job.out));
    RBL_TRY(rbli_parallel_for(t->ctx, count, GRAIN, list_range, &job));
    RBL_TRY(rbli_parallel_for(t->ctx, points, 1024, number_range, &job));
    RBL_TRY(rbli_parallel_for(t->ctx, live, 4096, write_range, &job));
    out->tetrahedra = job.out;
    out->tetrahedron_count = live;
    job.out = NULL;
done:
    rbli_free(t->ctx, job.out);
    rbli_free(t->ctx, job.list);
    rbli_free(t->ctx, job.start);
    rbli_free(t->ctx, job.place);
    rbli_free(t->ctx, job.name);
    return status;
}

rbl_status rbli_delaunay_create(rbl_context *ctx, const double (*points)[3], size_t point_count,
    const int32_t *rank, double ghost_distance, const int32_t *order, const int32_t *place,
    rbli_delaunay **out)
{
    rbl_status status = RBL_OK;
    rbli_ranked_point *ranked = NULL;
    rbli_delaunay *result = NULL;
    triangulator *t = NULL;
    if (point_count > 100000000) return rbli_fail(ctx, RBL_ERR_LIMIT, "more than 100,000,000 points");
    RBL_TRY_ALLOC(t = rbli_calloc(ctx, 1, sizeof *t));
    RBL_TRY_ALLOC(result = rbli_calloc(ctx, 1, sizeof *result));
    RBL_TRY_ALLOC(ranked = rbli_alloc(ctx, point_count + GHOSTS, sizeof *ranked));
    t->ctx = ctx;
    t->t.points = ranked;
    t->point_count = point_count + GHOSTS;
    for (int i = 0; i < MOST_REGIONS + 1; i++)
        t->inserters[i] = (rbli_inserter){.ctx = ctx, .t = &t->t, .alone = i == 0, .last = -1};
    result->point_count = point_count;
    set_ghosts(ghost_distance, result->ghosts);
    for (size_t i = 0; i < point_count + GHOSTS; i++) {
        const double *x = i < GHOSTS ? result->ghosts[i] : points[order[i - GHOSTS]];
        int64_t own_rank = i < GHOSTS ? (int64_t)(point_count + i) : rank[order[i - GHOSTS]];
        ranked[i] = (rbli_ranked_point){{x[0], x[1], x[2]}, own_rank};
    }
    RBL_TRY(insert_all(t));
    RBL_TRY(number_tetrahedra(t, order, place, result));
    *out = result;
    result = NULL;
done:
    rbli_delaunay_destroy(ctx, result);
    rbli_free(ctx, ranked);
    if (t) {
        for (int i = 0; i < MOST_REGIONS + 1; i++)
            rbli_inserter_free(ctx, &t->inserters[i]);
        rbli_free(ctx, t->pending);
        rbli_free(ctx, t->scratch);
        rbli_free(ctx, t->t.tets.data);
        rbli_free(ctx, t->t.stamp);
        rbli_free(ctx, t->t.region);
    }
    rbli_free(ctx, t);
    return status;
}

void rbli_delaunay_destroy(rbl_context *ctx, rbli_delaunay *delaunay)
{
    if (!delaunay) return;
    rbli_free(ctx, delaunay->tetrahedra);
    rbli_free(ctx, delaunay);
}
