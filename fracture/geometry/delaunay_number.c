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
    size_t points;    /* with ghosts */
    size_t parts;     /* of the tetrahedra, each dealt out by one thread */
    uint32_t *next;   /* [parts][points] place of the part's next tetrahedron whose last corner it is */
    ordered *list;    /* [live] by number */
    uint32_t *number; /* [tetrahedra] */
    rbli_tetrahedron *out;
    double *shortest; /* [blocks of write_range] squared edges but those of ghosts */
} numbering;

enum {
    WRITTEN = 4096, /* tetrahedra of a block */
    AHEAD = 12,     /* tetrahedra that are fetched before they are read */
    MOST_PARTS = 8,
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
    const uint32_t *end_of = job->next + (job->parts - 1) * job->points; /* all are dealt out */
    for (size_t p = begin; p < end; p++) {
        size_t begin_of = p ? end_of[p - 1] : 0, count = end_of[p] - begin_of;
        ordered *list = job->list + begin_of;
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

/// The first tetrahedron of a part.
static size_t part_begin(const numbering *job, size_t part)
{
    return job->t->count * part / job->parts;
}

static rbl_status count_part(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)end;
    (void)block;
    (void)worker;
    const numbering *job = user;
    uint32_t *count = job->next + begin * job->points;
    memset(count, 0, job->points * sizeof *count);
    for (size_t i = part_begin(job, begin); i < part_begin(job, begin + 1); i++) {
        const int32_t *v = job->t->tets[i].v;
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        if (v[0] < 0) continue;
        int32_t a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
        count[a > b ? a : b]++;
    }
    return RBL_OK;
}

/// Puts the tetrahedra of a part into the lists of their last corners.
static rbl_status deal_part(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)end;
    (void)block;
    (void)worker;
    const numbering *job = user;
    uint32_t *next = job->next + begin * job->points;
    for (size_t i = part_begin(job, begin); i < part_begin(job, begin + 1); i++) {
        rbli_tetrahedron tet = job->t->tets[i];
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        if (tet.v[0] < 0) continue;
        sort_corners(&tet);
        job->list[next[tet.v[3]]++] =
            (ordered){(uint64_t)tet.v[2] << 32 | (uint32_t)tet.v[1], tet.v[0], (int32_t)i};
    }
    return RBL_OK;
}

/// Makes of counts where each part of each point's list begins. @return the number of tetrahedra
static size_t add_counts(const numbering *job)
{
    uint32_t sum = 0;
    for (size_t p = 0; p < job->points; p++)
        for (size_t part = 0; part < job->parts; part++) {
            uint32_t *next = &job->next[part * job->points + p], here = *next;
            *next = sum;
            sum += here;
        }
    return sum;
}

rbl_status rbli_number_tetrahedra(
    rbl_context *ctx, rbli_triangulation *t, const int32_t *curve, rbli_delaunay *out)
{
    rbl_status status = RBL_OK;
    int cores = rbli_core_count(ctx);
    numbering job = {.t = t, .curve = curve, .points = t->point_count, .number = t->stamp};
    job.parts = cores < MOST_PARTS ? (size_t)cores : MOST_PARTS;
    RBL_TRY_ALLOC(job.next = rbli_alloc(ctx, job.parts * job.points, sizeof *job.next));
    RBL_TRY(rbli_parallel_for(ctx, job.parts, 1, count_part, &job));
    size_t live = add_counts(&job);
    RBL_TRY_ALLOC(job.list = rbli_alloc(ctx, live, sizeof *job.list));
    RBL_TRY_ALLOC(out->memory = rbli_alloc(ctx, live + RBLI_CACHE_LINE / sizeof *job.out, sizeof *job.out));
    job.out = rbli_at_cache_line(out->memory);
    RBL_TRY(rbli_parallel_for(ctx, job.parts, 1, deal_part, &job));
    RBL_TRY(rbli_parallel_for(ctx, job.points, 1024, number_range, &job));
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
    rbli_free(ctx, job.next);
    rbli_free(ctx, job.shortest);
    return status;
}
