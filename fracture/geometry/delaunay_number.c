/// The numbering of a Delaunay triangulation's tetrahedra.

#include <math.h>
#include <stdlib.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/delaunay_insert.h"

enum { GHOSTS = RBLI_GHOST_COUNT };

/// A tetrahedron to be numbered: its corners' places but the last.
typedef struct ordered {
    uint64_t middle; /* the third << 32 | the second */
    int32_t first;
    int32_t tetrahedron;
} ordered;

typedef struct numbering {
    const rbli_triangulation *t;
    const int32_t *curve;
    bool alone;         /* one thread works on it */
    atomic_uint *start; /* [points with ghosts + 2] of the tetrahedra whose last corner it is */
    ordered *list;      /* [live] by number */
    uint32_t *number;   /* [tetrahedra] */
    rbli_tetrahedron *out;
    double *shortest; /* [blocks of write_range] squared edges but those of ghosts */
} numbering;

enum {
    WRITTEN = 4096, /* tetrahedra of a block */
    AHEAD = 12,     /* tetrahedra that are fetched before they are read */
};

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

static double squared_distance(const double p[3], const double q[3])
{
    double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
    return x * x + y * y + z * z;
}

/// The squared length of a tetrahedron's shortest edge between points that are not ghosts, or `shortest`.
/// @param v sorted
static double shortest_edge(const rbli_ranked_point *points, const int32_t v[4], double shortest)
{
    const double *p[4] = {points[v[0]].x, points[v[1]].x, points[v[2]].x, points[v[3]].x};
    for (int i = 1; i < 4; i++)
        for (int j = 0; j < i; j++) {
            double length = v[j] < GHOSTS ? INFINITY : squared_distance(p[i], p[j]);
            shortest = length < shortest ? length : shortest;
        }
    return shortest;
}

static rbl_status write_range(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)worker;
    const numbering *job = user;
    double shortest = INFINITY;
    int32_t point_count = (int32_t)job->t->point_count - GHOSTS;
    for (size_t i = begin; i < end; i++) {
        if (i + AHEAD < end) __builtin_prefetch(&job->t->tets[job->list[i + AHEAD].tetrahedron]);
        rbli_tetrahedron tet = job->t->tets[job->list[i].tetrahedron];
        bool odd = sort_corners(&tet);
        shortest = shortest_edge(job->t->points, tet.v, shortest);
        if (odd) {
            int32_t v = tet.v[2], n = tet.n[2];
            tet.v[2] = tet.v[3];
            tet.n[2] = tet.n[3];
            tet.v[3] = v;
            tet.n[3] = n;
        }
        for (int k = 0; k < 4; k++) {
            tet.v[k] = tet.v[k] < GHOSTS ? point_count + tet.v[k] : job->curve[tet.v[k] - GHOSTS];
            if (tet.n[k] >= 0) tet.n[k] = (int32_t)job->number[tet.n[k]];
        }
        job->out[i] = tet;
    }
    job->shortest[block] = shortest;
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
        const int32_t *v = job->t->tets[i].v;
        if (v[0] < 0) continue;
        int32_t a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
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
        rbli_tetrahedron tet = job->t->tets[i];
        if (tet.v[0] < 0) continue;
        sort_corners(&tet);
        job->list[add_one(job, (size_t)tet.v[3] + 1)] =
            (ordered){(uint64_t)tet.v[2] << 32 | (uint32_t)tet.v[1], tet.v[0], (int32_t)i};
    }
    return RBL_OK;
}

/// Makes of counts where each point's list begins. @return the number of tetrahedra
static size_t add_counts(const numbering *job, size_t points)
{
    unsigned sum = 0;
    for (size_t i = 2; i < points + 2; i++) {
        sum += atomic_load_explicit(&job->start[i], memory_order_relaxed);
        atomic_store_explicit(&job->start[i], sum, memory_order_relaxed);
    }
    return sum;
}

rbl_status rbli_number_tetrahedra(
    rbl_context *ctx, rbli_triangulation *t, const int32_t *curve, rbli_delaunay *out)
{
    enum { GRAIN = 8192 };
    rbl_status status = RBL_OK;
    size_t points = t->point_count, count = t->count;
    numbering job = {.t = t, .curve = curve, .alone = rbli_worker_count(ctx) == 1, .number = t->stamp};
    RBL_TRY_ALLOC(job.start = rbli_calloc(ctx, points + 2, sizeof *job.start));
    RBL_TRY(rbli_parallel_for(ctx, count, GRAIN, count_range, &job));
    size_t live = add_counts(&job, points);
    RBL_TRY_ALLOC(job.list = rbli_alloc(ctx, live, sizeof *job.list));
    RBL_TRY_ALLOC(out->memory = rbli_alloc(ctx, live + RBLI_CACHE_LINE / sizeof *job.out, sizeof *job.out));
    job.out = rbli_at_cache_line(out->memory);
    RBL_TRY(rbli_parallel_for(ctx, count, GRAIN, list_range, &job));
    RBL_TRY(rbli_parallel_for(ctx, points, 1024, number_range, &job));
    size_t blocks = (live + WRITTEN - 1) / WRITTEN;
    RBL_TRY_ALLOC(job.shortest = rbli_alloc(ctx, blocks, sizeof *job.shortest));
    RBL_TRY(rbli_parallel_for(ctx, live, WRITTEN, write_range, &job));
    out->shortest = INFINITY;
    for (size_t i = 0; i < blocks; i++)
        out->shortest = job.shortest[i] < out->shortest ? job.shortest[i] : out->shortest;
    out->tetrahedra = job.out;
    out->tetrahedron_count = live;
done:
    rbli_free(ctx, job.list);
    rbli_free(ctx, job.start);
    rbli_free(ctx, job.shortest);
    return status;
}
