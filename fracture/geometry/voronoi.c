/// Voronoi cells in a box as a cell complex: exact Delaunay triangulation, its dual, contraction, clipping
/// (CUT.md, K).

#include <math.h>

#include "fracture/base/threads.h"
#include "fracture/geometry/complex_edit.h"
#include "fracture/geometry/delaunay.h"

/// The integer grid: x in the source is center + x · unit in the grid.
typedef struct grid {
    double center[3], unit, inverse;
    double box_min[3], box_max[3]; /* in grid units, not rounded */
    double extent;                 /* of box and sites, in grid units */
    double ghost_distance;
} grid;

typedef struct voronoi {
    rbl_context *ctx;
    const double (*sites)[3];
    const double *box_min, *box_max;
    grid grid;
    int32_t *name;          /* [count] index of the site */
    double (*points)[3];    /* [count] integers */
    int32_t *curve, *order; /* of points along a curve, of insertion: delaunay.h */
    size_t count;
    size_t merged_count, first_merged[2];
    rbli_delaunay *delaunay;
    rbli_cell_complex *k;
} voronoi;

/* fmin and fmax are calls, for the sake of NaN */
static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static rbl_status check_arguments(rbl_context *ctx, const double (*sites)[3], size_t count,
    const double box_min[3], const double box_max[3])
{
    if (!count) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "there is no site");
    if (count > 30000000) return rbli_fail(ctx, RBL_ERR_LIMIT, "%zu sites are more than 30,000,000", count);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(sites[i][0]) || !isfinite(sites[i][1]) || !isfinite(sites[i][2]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "site %zu is not finite", i);
    for (int k = 0; k < 3; k++) {
        if (!isfinite(box_min[k]) || !isfinite(box_max[k]) || !(box_min[k] < box_max[k]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the box is empty along %c", "xyz"[k]);
        if (fabs(box_min[k]) > 1e280 || fabs(box_max[k]) > 1e280 || box_max[k] - box_min[k] < 1e-280)
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the box is out of range along %c", "xyz"[k]);
    }
    return RBL_OK;
}

/// Squared distance of a site to the box's nearest or farthest point, in units of `scale`.
static double box_distance(const voronoi *v, size_t site, bool farthest, double scale)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double x = v->sites[site][k] * scale, low = v->box_min[k] * scale - x,
               high = x - v->box_max[k] * scale;
        double d = farthest ? greater(fabs(low), fabs(high)) : greater(0, greater(low, high));
        sum += d * d;
    }
    return sum;
}

/// Keeps the sites whose cells may reach the box: nearer to it than the best site is to its farthest corner.
/// So far sites cost no precision.
static rbl_status select_sites(voronoi *v, size_t count)
{
    double most = 0, best = INFINITY;
    for (int k = 0; k < 3; k++)
        most = greater(most, greater(fabs(v->box_min[k]), fabs(v->box_max[k])));
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            most = greater(most, fabs(v->sites[i][k]));
    double scale = most > 1e100 ? 1e100 / most : 1; /* no overflow */
    for (size_t i = 0; i < count; i++)
        best = lesser(best, box_distance(v, i, true, scale));
    v->name = rbli_alloc(v->ctx, count, sizeof *v->name);
    if (!v->name) return RBL_ERR_NO_MEMORY;
    best *= 1 + 1e-9;
    v->count = 0;
    for (size_t i = 0; i < count; i++)
        if (box_distance(v, i, false, scale) <= best) v->name[v->count++] = (int32_t)i;
    return RBL_OK;
}

/// Centre on a coarse grid, so that differences are exact for ordinary numbers, and five half extents below
/// 2^51.
static void set_grid(voronoi *v)
{
    grid *g = &v->grid;
    double low[3], high[3], half = 0;
    memcpy(low, v->box_min, sizeof low);
    memcpy(high, v->box_max, sizeof high);
    for (size_t i = 0; i < v->count && v->count > 1; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = lesser(low[k], v->sites[v->name[i]][k]);
            high[k] = greater(high[k], v->sites[v->name[i]][k]);
        }
    for (int k = 0; k < 3; k++)
        half = greater(half, high[k] / 2 - low[k] / 2);
    int exponent;
    frexp(half, &exponent);
    double coarse = ldexp(1, exponent - 5), reach = 0;
    for (int k = 0; k < 3; k++) {
        g->center[k] = rint((low[k] / 2 + high[k] / 2) / coarse) * coarse;
        reach = greater(reach, greater(high[k] - g->center[k], g->center[k] - low[k]));
    }
    double fraction = frexp(reach, &exponent); /* reach = fraction · 2^exponent */
    int bits = fraction < 0.75 ? 49 : 48;      /* 0.75 · 2^49 · 5 < 2^51 */
    g->unit = ldexp(1, exponent - bits);
    g->inverse = ldexp(1, bits - exponent);
    for (int k = 0; k < 3; k++) {
        g->box_min[k] = (v->box_min[k] - g->center[k]) * g->inverse;
        g->box_max[k] = (v->box_max[k] - g->center[k]) * g->inverse;
    }
    g->extent = 2 * reach * g->inverse;
    g->ghost_distance = 5 * ceil(reach * g->inverse + 1);
}

/// A single site may be anywhere, its cell is the box: the centre stands for it.
static void round_sites(voronoi *v)
{
    for (size_t i = 0; i < v->count; i++)
        for (int k = 0; k < 3; k++)
            v->points[i][k] =
                v->count > 1 ? rint((v->sites[v->name[i]][k] - v->grid.center[k]) * v->grid.inverse) : 0;
}

/* Triangulation, without duplicates */

static rbl_status sort_points(voronoi *v, bool *equal)
{
    return rbli_delaunay_order(
        v->ctx, (const double(*)[3])v->points, v->count, v->grid.ghost_distance, v->curve, v->order, equal);
}

static rbl_status create_delaunay(voronoi *v)
{
    return rbli_delaunay_create(v->ctx, (const double(*)[3])v->points, v->count, NULL, v->grid.ghost_distance,
        v->curve, v->order, &v->delaunay);
}

static size_t cell_hash(int64_t x, int64_t y, int64_t z)
{
    uint64_t h = (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)z * 0x165667b19e3779f9u;
    return (size_t)(h ^ h >> 29);
}

static double squared_distance(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

static double merge_distance(const voronoi *v)
{
    return 1e-9 * v->grid.extent;
}

/// The kept site that point i is too close to, or −1.
static int32_t find_near(const voronoi *v, const int32_t *head, const int32_t *next, size_t mask, size_t i)
{
    double tolerance = merge_distance(v);
    int64_t c[3];
    for (int k = 0; k < 3; k++)
        c[k] = (int64_t)floor(v->points[i][k] / tolerance);
    int32_t found = -1;
    for (int n = 0; n < 27; n++) {
        size_t slot = cell_hash(c[0] + n % 3 - 1, c[1] + n / 3 % 3 - 1, c[2] + n / 9 - 1) & mask;
        for (int32_t j = head[slot]; j >= 0; j = next[j])
            if (squared_distance(v->points[i], v->points[j]) < tolerance * tolerance &&
                (found < 0 || j < found))
                found = j;
    }
    return found;
}

/// Merges sites in the order of their indices; only called when there is something to merge.
static rbl_status merge_sites(voronoi *v)
{
    rbl_status status = RBL_OK;
    size_t mask = 16;
    while (mask < 2 * v->count)
        mask *= 2;
    mask--;
    double tolerance = merge_distance(v);
    int32_t *head = rbli_alloc(v->ctx, mask + 1, sizeof *head), *next = NULL;
    RBL_TRY_ALLOC(head);
    RBL_TRY_ALLOC(next = rbli_alloc(v->ctx, v->count, sizeof *next));
    memset(head, 0xff, (mask + 1) * sizeof *head);
    size_t kept = 0;
    for (size_t i = 0; i < v->count; i++) {
        int32_t near = find_near(v, head, next, mask, i);
        if (near >= 0) {
            if (!v->merged_count++) {
                v->first_merged[0] = (size_t)v->name[near];
                v->first_merged[1] = (size_t)v->name[i];
            }
            continue;
        }
        memmove(v->points[kept], v->points[i], sizeof v->points[i]);
        v->name[kept] = v->name[i];
        size_t slot = cell_hash((int64_t)floor(v->points[kept][0] / tolerance),
                          (int64_t)floor(v->points[kept][1] / tolerance),
                          (int64_t)floor(v->points[kept][2] / tolerance)) &
                      mask;
        next[kept] = head[slot];
        head[slot] = (int32_t)kept++;
    }
    v->count = kept;
done:
    rbli_free(v->ctx, head);
    rbli_free(v->ctx, next);
    return status;
}

/// Triangulates, after merging what is too close: neighbours in the triangulation tell, so ordinary sites
/// cost nothing.
static rbl_status triangulate(voronoi *v)
{
    rbl_status status = RBL_OK;
    bool equal = false;
    RBL_TRY(sort_points(v, &equal));
    if (!equal) {
        RBL_TRY(create_delaunay(v));
        if (!(v->delaunay->shortest < merge_distance(v) * merge_distance(v))) return RBL_OK;
        rbli_delaunay_destroy(v->ctx, v->delaunay);
        v->delaunay = NULL;
    }
    RBL_TRY(merge_sites(v));
    RBL_TRY(sort_points(v, NULL));
    RBL_TRY(create_delaunay(v));
done:
    return status;
}

/* The dual */

static const double *point_of(const voronoi *v, int32_t p)
{
    return p < (int32_t)v->count ? v->points[p] : v->delaunay->ghosts[p - (int32_t)v->count];
}

static rbl_status compute_vertices(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    voronoi *v = user;
    for (size_t t = begin; t < end; t++) {
        int32_t p[4];
        memcpy(p, v->delaunay->tetrahedra[t].v, sizeof p);
        for (int i = 1; i < 4; i++)
            for (int j = i; j > 0 && p[j] < p[j - 1]; j--) {
                int32_t s = p[j];
                p[j] = p[j - 1];
                p[j - 1] = s;
            }
        rbli_circumcenter(
            point_of(v, p[0]), point_of(v, p[1]), point_of(v, p[2]), point_of(v, p[3]), v->k->vertices[t]);
    }
    return RBL_OK;
}

/// The edges of a tetrahedron with the other two vertices, even permutations.
static const uint8_t edge_corners[6][4] = {
    {0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
/// The edge between the corners other than two.
static const uint8_t opposite_edge[4][4] = {{0, 5, 4, 3}, {5, 0, 2, 1}, {4, 2, 0, 0}, {3, 1, 0, 0}};

static int index_of(const int32_t list[4], int32_t value)
{
    return (list[1] == value) + 2 * (list[2] == value) + 3 * (list[3] == value); /* no branches to foresee */
}

/// The facets of a run of tetrahedra: those of edges that no tetrahedron before the run has.
typedef struct ring_block {
    size_t begin, end; /* of the run */
    rbli_facet_list list;
    char apart[128]; /* no cache line is in two of them */
} ring_block;

typedef struct ring_job {
    const voronoi *v;
    uint8_t *done; /* [tetrahedron_count] edges whose facets are made, by their numbers */
    ring_block *blocks;
} ring_job;

/// Collects the ring of tetrahedra around an edge, counter-clockwise seen from its second vertex, and marks
/// it done in those from `begin` to `end` − 1. @return whether the first is the lowest
static bool collect_ring(const ring_job *job, size_t begin, size_t end, int32_t first, int edge,
    int32_t *ring, size_t capacity, size_t *count)
{
    const rbli_tetrahedron *tets = job->v->delaunay->tetrahedra;
    int32_t current = first;
    int cross = edge_corners[edge][2], kept = edge_corners[edge][3];
    bool lowest = true;
    *count = 0;
    do {
        const rbli_tetrahedron *tet = &tets[current];
        if ((size_t)current >= begin && (size_t)current < end)
            job->done[current] |= (uint8_t)(1 << opposite_edge[cross][kept]);
        lowest &= current >= first;
        if (*count < capacity) ring[*count] = current;
        ++*count;
        int32_t next = tet->n[cross], pivot = tet->v[kept];
        cross = index_of(tets[next].v, pivot);
        kept = index_of(tets[next].n, current);
        current = next;
    } while (current != first);
    return lowest;
}

static rbl_status make_run(rbl_context *ctx, size_t first, size_t past, size_t block, int worker, void *user)
{
    (void)first;
    (void)past;
    (void)worker;
    enum { AHEAD = 8 };
    rbl_status status = RBL_OK;
    const ring_job *job = user;
    const voronoi *v = job->v;
    const rbli_delaunay *d = v->delaunay;
    rbli_facet_list list = {0};
    RBLI_ARRAY(int32_t) ring = {0};
    RBL_TRY(rbli_array_reserve(ctx, &ring, 64));
    size_t begin = job->blocks[block].begin, end = job->blocks[block].end, count = end - begin,
           facets = count + count / 4 + 64; /* by Euler, about edges */
    RBL_TRY(rbli_array_reserve(ctx, &list.start, facets + 1));
    RBL_TRY(rbli_array_reserve(ctx, &list.cells, 2 * facets));
    RBL_TRY(rbli_array_reserve(ctx, &list.origin, facets));
    RBL_TRY(rbli_array_reserve(ctx, &list.vertices, 6 * count));
    for (size_t t = begin; t < end; t++) {
        for (int f = 0; f < 4 && t + AHEAD < end; f++)
            if (d->tetrahedra[t + AHEAD].n[f] >= 0)
                __builtin_prefetch(&d->tetrahedra[d->tetrahedra[t + AHEAD].n[f]]);
        for (int e = 0; e < 6; e++) {
            if (job->done[t] >> e & 1) continue;
            int32_t a = d->tetrahedra[t].v[edge_corners[e][0]], b = d->tetrahedra[t].v[edge_corners[e][1]];
            int32_t negative = a < (int32_t)v->count ? a : -1, positive = b < (int32_t)v->count ? b : -1;
            if (negative < 0 && positive < 0) continue;
            bool lowest = collect_ring(job, begin, end, (int32_t)t, e, ring.data, ring.capacity, &count);
            if (!lowest) continue; /* made by a run before */
            if (count > ring.capacity) {
                RBL_TRY(rbli_array_reserve(ctx, &ring, count));
                collect_ring(job, begin, end, (int32_t)t, e, ring.data, ring.capacity, &count);
            }
            RBL_TRY(rbli_facet_list_add(
                ctx, &list, ring.data, count, negative, positive, (int32_t)list.origin.count));
        }
    }
    job->blocks[block].list = list;
    list = (rbli_facet_list){0};
done:
    rbli_facet_list_free(ctx, &list);
    rbli_free(ctx, ring.data);
    return status;
}

/// All lists one after another, as the facets of a complex.
typedef struct join_job {
    const ring_block *blocks;
    size_t *facets, *entries; /* [blocks + 1] before each block */
    rbli_cell_complex *k;
} join_job;

static rbl_status join_range(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const join_job *job = user;
    for (size_t b = begin; b < end; b++) {
        const rbli_facet_list *list = &job->blocks[b].list;
        size_t first = job->facets[b], count = list->origin.count;
        if (!count) continue;
        memcpy(job->k->facet_vertices + job->entries[b], list->vertices.data,
            list->vertices.count * sizeof(int32_t));
        memcpy(job->k->facet_cells + first, list->cells.data, count * sizeof *job->k->facet_cells);
        for (size_t f = 0; f < count; f++) {
            job->k->facet_start[first + f] = list->start.data[f] + (int32_t)job->entries[b];
            job->k->facet_origin[first + f] = (int32_t)(first + f);
        }
    }
    return RBL_OK;
}

static rbl_status join_lists(voronoi *v, const ring_block *blocks, size_t count)
{
    rbl_status status = RBL_OK;
    rbli_cell_complex *k = v->k;
    join_job job = {.blocks = blocks, .k = k};
    RBL_TRY_ALLOC(job.facets = rbli_calloc(v->ctx, count + 1, sizeof *job.facets));
    RBL_TRY_ALLOC(job.entries = rbli_calloc(v->ctx, count + 1, sizeof *job.entries));
    for (size_t b = 0; b < count; b++) {
        job.facets[b + 1] = job.facets[b] + blocks[b].list.origin.count;
        job.entries[b + 1] = job.entries[b] + blocks[b].list.vertices.count;
    }
    if (job.entries[count] > INT32_MAX)
        RBL_TRY(rbli_fail(v->ctx, RBL_ERR_LIMIT, "the cell complex is too large"));
    RBL_TRY_ALLOC(k->facet_start = rbli_alloc(v->ctx, job.facets[count] + 1, sizeof *k->facet_start));
    RBL_TRY_ALLOC(k->facet_vertices = rbli_alloc(v->ctx, job.entries[count], sizeof *k->facet_vertices));
    RBL_TRY_ALLOC(k->facet_cells = rbli_alloc(v->ctx, job.facets[count], sizeof *k->facet_cells));
    RBL_TRY_ALLOC(k->facet_origin = rbli_alloc(v->ctx, job.facets[count], sizeof *k->facet_origin));
    RBL_TRY(rbli_parallel_for(v->ctx, count, 1, join_range, &job));
    k->facet_count = job.facets[count];
    k->facet_start[k->facet_count] = (int32_t)job.entries[count];
done:
    rbli_free(v->ctx, job.facets);
    rbli_free(v->ctx, job.entries);
    return status;
}

/// Cuts tetrahedra into runs. Rings that reach into several are made by the first of these: the first runs are smaller,
/// by about as much as the outside of a run is larger where there are fewer points.
static void cut_runs(const voronoi *v, ring_block *blocks, size_t count)
{
    double all = (double)v->delaunay->tetrahedron_count, shift = lesser(0.5, 3 / cbrt((double)v->count));
    for (size_t i = 1; i < count; i++) {
        double part = (double)i / (double)count;
        blocks[i].begin = blocks[i - 1].end = (size_t)(all * (part - shift * part * (1 - part)));
    }
    blocks[count - 1].end = v->delaunay->tetrahedron_count;
}

/// The facets of all runs, one after another. They do not depend on how tetrahedra are cut into runs, but an
/// edge's ring is walked once for each run that has a part of it: one thread makes one run.
static rbl_status make_facets(voronoi *v)
{
    rbl_status status = RBL_OK;
    size_t count = v->delaunay->tetrahedron_count, runs = (size_t)rbli_worker_count(v->ctx);
    ring_job job = {.v = v};
    RBL_TRY_ALLOC(job.done = rbli_calloc(v->ctx, count, 1));
    RBL_TRY_ALLOC(job.blocks = rbli_calloc(v->ctx, runs, sizeof *job.blocks));
    cut_runs(v, job.blocks, runs);
    RBL_TRY(rbli_parallel_for(v->ctx, runs, 1, make_run, &job));
    if (runs == 1)
        RBL_TRY(rbli_facet_list_move(v->ctx, &job.blocks[0].list, v->k));
    else
        RBL_TRY(join_lists(v, job.blocks, runs));
done:
    for (size_t i = 0; job.blocks && i < runs; i++)
        rbli_facet_list_free(v->ctx, &job.blocks[i].list);
    rbli_free(v->ctx, job.blocks);
    rbli_free(v->ctx, job.done);
    return status;
}

static rbl_status make_dual(voronoi *v)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(v->k = rbli_calloc(v->ctx, 1, sizeof *v->k));
    v->k->vertex_count = v->delaunay->tetrahedron_count;
    v->k->cell_count = v->count;
    v->k->convex = true;
    RBL_TRY_ALLOC(v->k->vertices = rbli_alloc(v->ctx, v->k->vertex_count, sizeof *v->k->vertices));
    RBL_TRY_ALLOC(v->k->cell_site = rbli_alloc(v->ctx, v->count, sizeof *v->k->cell_site));
    RBL_TRY_ALLOC(v->k->cell_point = rbli_alloc(v->ctx, v->count, sizeof *v->k->cell_point));
    for (size_t i = 0; i < v->count; i++) {
        v->k->cell_site[i] = v->name[i];
        for (int k = 0; k < 3; k++)
            v->k->cell_point[i][k] = v->grid.center[k] + v->points[i][k] * v->grid.unit;
        if (v->count == 1) memcpy(v->k->cell_point[0], v->sites[v->name[0]], sizeof v->k->cell_point[0]);
    }
    RBL_TRY(rbli_parallel_for(v->ctx, v->k->vertex_count, 1024, compute_vertices, v));
    RBL_TRY(make_facets(v));
done:
    return status;
}

/// Back to source coordinates; walls exactly where the box has them.
static rbl_status to_source(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const voronoi *v = user;
    for (size_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) {
            double *x = &v->k->vertices[i][k];
            *x = *x == v->grid.box_min[k]   ? v->box_min[k]
                 : *x == v->grid.box_max[k] ? v->box_max[k]
                                            : v->grid.center[k] + *x * v->grid.unit;
        }
    return RBL_OK;
}

/// Raises the caution of all vertices of bad cells, by one.
static void raise_caution(const rbli_cell_complex *k, const uint8_t *bad, uint8_t *caution)
{
    enum { RAISED = 128 };
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++) {
            int32_t c = k->facet_cells[f][side];
            for (int32_t i = k->facet_start[f]; c >= 0 && bad[c] && i < k->facet_start[f + 1]; i++)
                caution[k->facet_vertices[i]] |= RAISED;
        }
    for (size_t v = 0; v < k->vertex_count; v++)
        if (caution[v] & RAISED) caution[v] = (uint8_t)((caution[v] & 3) == 3 ? 3 : (caution[v] & 3) + 1);
}

/// Whether a facet is turned over against the direction between its sites, by more than rounding does.
static bool is_turned(const voronoi *v, size_t f)
{
    const rbli_cell_complex *k = v->k;
    const int32_t *loop = k->facet_vertices + k->facet_start[f];
    int32_t count = k->facet_start[f + 1] - k->facet_start[f], a = k->facet_cells[f][0],
            b = k->facet_cells[f][1];
    if (a < 0 || b < 0) return false;
    const double *o = k->vertices[loop[0]];
    double n[3], area = 0, around = 0, length = sqrt(squared_distance(v->points[a], v->points[b]));
    for (int j = 0; j < 3; j++)
        n[j] = (v->points[b][j] - v->points[a][j]) / length;
    for (int32_t i = 0; i < count; i++) {
        const double *p = k->vertices[loop[i]], *q = k->vertices[loop[i + 1 < count ? i + 1 : 0]];
        double x[3], y[3];
        for (int j = 0; j < 3; j++) {
            x[j] = p[j] - o[j];
            y[j] = q[j] - o[j];
        }
        area += n[0] * (x[1] * y[2] - x[2] * y[1]) + n[1] * (x[2] * y[0] - x[0] * y[2]) +
                n[2] * (x[0] * y[1] - x[1] * y[0]);
        around += sqrt(squared_distance(p, q));
    }
    return area < -ldexp(v->grid.extent, -48) * around;
}

/// Flags the cells that contraction has spoilt: those that touch themselves, and those with a facet turned
/// over.
static rbl_status find_spoilt(voronoi *v, uint8_t *bad, size_t *bad_count)
{
    rbl_status status = rbli_complex_find_bad(v->ctx, v->k, bad, bad_count);
    for (size_t f = 0; f < v->k->facet_count && status == RBL_OK; f++) {
        if (!is_turned(v, f)) continue;
        bad[v->k->facet_cells[f][0]] = bad[v->k->facet_cells[f][1]] = 1;
        ++*bad_count;
    }
    return status;
}

/// The contracted dual. Where contraction makes a cell touch itself or turns a facet over, it is done again
/// more carefully around that cell, in the end not at all: the dual itself is a complex by construction.
static rbl_status make_contracted_dual(voronoi *v)
{
    enum { MOST_ATTEMPTS = 8 };
    rbl_status status = RBL_OK;
    uint8_t *caution = NULL, *bad = NULL;
    size_t bad_count = 0;
    RBL_TRY_ALLOC(caution = rbli_calloc(v->ctx, v->delaunay->tetrahedron_count, 1));
    RBL_TRY_ALLOC(bad = rbli_calloc(v->ctx, v->count, 1));
    for (int attempt = 0;; attempt++) {
        bool changed = false;
        rbli_contract_options options = {.extent = v->grid.extent, .caution = caution};
        RBL_TRY(make_dual(v));
        if (attempt == MOST_ATTEMPTS) break;
        if (bad_count) raise_caution(v->k, bad, caution);
        RBL_TRY(rbli_complex_contract(v->ctx, v->k, &options, &changed));
        if (!changed) break;
        RBL_TRY(find_spoilt(v, bad, &bad_count));
        if (!bad_count) break;
        rbli_cell_complex_destroy(v->ctx, v->k);
        v->k = NULL;
    }
done:
    rbli_free(v->ctx, caution);
    rbli_free(v->ctx, bad);
    return status;
}

typedef struct wall_job {
    const voronoi *v;
    uint8_t *walls; /* [vertex_count] */
} wall_job;

/// The number of walls that each vertex lies on.
static rbl_status count_walls(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const wall_job *job = user;
    const grid *g = &job->v->grid;
    for (size_t i = begin; i < end; i++) {
        const double *x = job->v->k->vertices[i];
        int walls = 0;
        for (int k = 0; k < 3; k++)
            walls += (x[k] == g->box_min[k]) | (x[k] == g->box_max[k]);
        job->walls[i] = (uint8_t)walls;
    }
    return RBL_OK;
}

/// Contracts what the walls have cut too small, by rounding alone: the rest was decided before.
static rbl_status contract_at_walls(voronoi *v, size_t first_facet, bool *changed)
{
    rbl_status status = RBL_OK;
    uint8_t *walls = NULL, *caution = NULL;
    size_t count = v->k->vertex_count;
    RBL_TRY_ALLOC(walls = rbli_alloc(v->ctx, count, 1));
    RBL_TRY_ALLOC(caution = rbli_alloc(v->ctx, count, 1));
    memset(caution, 2, count);
    wall_job job = {v, walls};
    RBL_TRY(rbli_parallel_for(v->ctx, count, 8192, count_walls, &job));
    rbli_contract_options options = {.extent = v->grid.extent,
        .wall_count = walls,
        .at_walls_only = true,
        .first_facet = first_facet,
        .caution = caution};
    RBL_TRY(rbli_complex_contract(v->ctx, v->k, &options, changed));
done:
    rbli_free(v->ctx, walls);
    rbli_free(v->ctx, caution);
    return status;
}

/// The clipped dual, in grid coordinates; contracted at the walls too, unless that makes a cell touch itself.
static rbl_status finish(voronoi *v, bool at_walls)
{
    rbl_status status = RBL_OK;
    bool changed = false;
    uint8_t *bad = NULL;
    size_t bad_count = 0, inner_count = 0;
    RBL_TRY(make_contracted_dual(v));
    RBL_TRY(rbli_complex_clip(
        v->ctx, v->k, v->grid.box_min, v->grid.box_max, ldexp(v->grid.extent, -46), &inner_count));
    if (at_walls) RBL_TRY(contract_at_walls(v, inner_count, &changed));
    if (changed) {
        RBL_TRY_ALLOC(bad = rbli_alloc(v->ctx, v->k->cell_count, 1));
        RBL_TRY(rbli_complex_find_bad(v->ctx, v->k, bad, &bad_count));
    }
    if (bad_count) {
        rbli_cell_complex_destroy(v->ctx, v->k);
        v->k = NULL;
        RBL_TRY(finish(v, false));
    }
    RBL_TRY(rbli_complex_pack(v->ctx, v->k));
done:
    rbli_free(v->ctx, bad);
    return status;
}

/// Whether the box is lost in the rounding of its extent with the sites.
static bool box_is_lost(const voronoi *v)
{
    double least = INFINITY, most = 0;
    for (int k = 0; k < 3; k++) {
        least = lesser(least, v->grid.box_max[k] - v->grid.box_min[k]);
        most = greater(most, v->grid.box_max[k] - v->grid.box_min[k]);
    }
    return most < ldexp(v->grid.extent, -36) || least < ldexp(v->grid.extent, -44);
}

static void keep_nearest(voronoi *v)
{
    double best = INFINITY;
    int32_t nearest = v->name[0];
    for (size_t i = 0; i < v->count; i++) {
        double d = box_distance(v, (size_t)v->name[i], true, 1e-160);
        if (d < best) {
            best = d;
            nearest = v->name[i];
        }
    }
    v->name[0] = nearest;
    v->count = 1;
}

rbl_status rbli_voronoi_complex(rbl_context *ctx, const double (*sites)[3], size_t site_count,
    const double box_min[3], const double box_max[3], size_t *merged_count, size_t first_merged[2],
    rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    voronoi v = {.ctx = ctx, .sites = sites, .box_min = box_min, .box_max = box_max};
    RBL_TRY(check_arguments(ctx, sites, site_count, box_min, box_max));
    RBL_TRY(select_sites(&v, site_count));
    RBL_TRY_ALLOC(v.points = rbli_alloc(ctx, v.count, sizeof *v.points));
    RBL_TRY_ALLOC(v.curve = rbli_alloc(ctx, v.count, sizeof *v.curve));
    RBL_TRY_ALLOC(v.order = rbli_alloc(ctx, v.count, sizeof *v.order));
    set_grid(&v);
    if (v.count > 1 && box_is_lost(&v)) {
        keep_nearest(&v);
        set_grid(&v);
    }
    round_sites(&v);
    RBL_TRY(triangulate(&v));
    RBL_TRY(finish(&v, true));
    RBL_TRY(rbli_parallel_for(ctx, v.k->vertex_count, 8192, to_source, &v));
    if (merged_count) *merged_count = v.merged_count;
    if (first_merged && v.merged_count) memcpy(first_merged, v.first_merged, sizeof v.first_merged);
    *out = v.k;
    v.k = NULL;
done:
    rbli_cell_complex_destroy(ctx, v.k);
    rbli_delaunay_destroy(ctx, v.delaunay);
    rbli_free(ctx, v.name);
    rbli_free(ctx, v.points);
    rbli_free(ctx, v.curve);
    rbli_free(ctx, v.order);
    return status;
}
