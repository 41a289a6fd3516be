/// Points inside a mesh by rejection; relaxation of sites over samples of the volume, nearest sites by a grid
/// of cells.

#include "fracture/geometry/volume_points.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/elementary.h"
#include "fracture/geometry/point_patterns.h"
#include "fracture/geometry/winding.h"

enum { MOST_DRAWS = 100000, SAMPLE_KIND = 1 };

/* ---- points that pass a test ---- */

/// The solid, and where its points are drawn.
typedef struct solid {
    rbli_winding *winding;
    double low[3], high[3];
} solid;

static rbl_status open_solid(rbl_context *ctx, const rbli_mesh_view *mesh, solid *out)
{
    double deep[3];
    solid s = {.low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, .high = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                s.low[k] = fmin(s.low[k], mesh->positions[mesh->triangles[t][c]][k]);
                s.high[k] = fmax(s.high[k], mesh->positions[mesh->triangles[t][c]][k]);
            }
    rbl_status status = rbli_winding_create(ctx, mesh, &s.winding);
    if (status != RBL_OK) return status;
    if (mesh->triangle_count == 0 || !rbli_winding_deep_point(s.winding, false, deep)) {
        rbli_winding_destroy(ctx, s.winding);
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "there is no inside to place points in");
    }
    *out = s;
    return RBL_OK;
}

/// One draw of point `index`: proposes a point and says whether it passes.
typedef bool (*draw_fn)(const void *user, size_t index, rbli_rng *rng, double out[3]);

typedef struct draw_job {
    draw_fn draw;
    const void *user;
    uint32_t seed, purpose;
    uint64_t first; /* stream of point 0 */
    double (*points)[3];
    bool *placed;
} draw_job;

static rbl_status draw_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const draw_job *job = user;
    for (size_t i = begin; i < end; i++) {
        rbli_rng rng = rbli_rng_make(job->seed, job->purpose, job->first + i);
        for (int t = 0; t < MOST_DRAWS && !job->placed[i]; t++) {
            if (t % 256 == 255 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
            job->placed[i] = job->draw(job->user, i, &rng, job->points[i]);
        }
    }
    return RBL_OK;
}

/// Draws `count` points into points[count]; placed[i] says which passed.
static rbl_status draw_points(rbl_context *ctx, draw_job *job, size_t count)
{
    return rbli_parallel_for(ctx, count, 16, draw_block, job);
}

/// Moves the placed points to the front. @return their number
static size_t pack(double (*points)[3], const bool *placed, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (placed[i]) memmove(points[kept++], points[i], sizeof *points);
    return kept;
}

static rbl_status check_count(rbl_context *ctx, double count)
{
    if (count <= RBLI_MAX_POINTS) return RBL_OK;
    return rbli_fail(
        ctx, RBL_ERR_LIMIT, "%.0f points are more than the %d that are allowed", count, RBLI_MAX_POINTS);
}

static void draw_in_box(const solid *s, rbli_rng *rng, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = s->low[k] + (s->high[k] - s->low[k]) * rbli_rng_double(rng);
}

static bool draw_inside(const void *user, size_t index, rbli_rng *rng, double out[3])
{
    (void)index;
    const solid *s = user;
    draw_in_box(s, rng, out);
    return rbli_winding_number(s->winding, out, NULL) > 0;
}

/* ---- nearest sites ---- */

/// Sites by cells of a grid over their box, about one a cell.
typedef struct site_grid {
    const double (*sites)[3];
    double low[3], size;
    int64_t n[3];
    int32_t *start, *site; /* [cells + 1], [site_count] ascending in each cell */
} site_grid;

static size_t grid_cell(const site_grid *g, const double p[3], int64_t cell[3])
{
    for (int k = 0; k < 3; k++) {
        double at = floor((p[k] - g->low[k]) / g->size);
        cell[k] = at < 0 ? 0 : at >= (double)g->n[k] ? g->n[k] - 1 : (int64_t)at;
    }
    return (size_t)((cell[2] * g->n[1] + cell[1]) * g->n[0] + cell[0]);
}

static rbl_status grid_build(rbl_context *ctx, site_grid *g, const double (*sites)[3], size_t count)
{
    double high[3], cells = 1, extent = 0;
    int64_t cell[3];
    for (int k = 0; k < 3; k++) {
        g->low[k] = high[k] = sites[0][k];
        for (size_t i = 1; i < count; i++) {
            g->low[k] = fmin(g->low[k], sites[i][k]);
            high[k] = fmax(high[k], sites[i][k]);
        }
        extent = fmax(extent, high[k] - g->low[k]);
    }
    g->sites = sites;
    g->size = extent > 0 ? extent : 1;
    for (int step = 0; step < 200; step++) {
        cells = 1;
        for (int k = 0; k < 3; k++) {
            g->n[k] = (int64_t)floor((high[k] - g->low[k]) / g->size) + 1;
            cells *= (double)g->n[k];
        }
        if (cells >= (double)count || !(extent > 0)) break;
        g->size *= 0.8;
    }
    size_t cell_count = (size_t)cells;
    g->start = rbli_calloc(ctx, cell_count + 1, sizeof *g->start);
    g->site = rbli_alloc(ctx, count, sizeof *g->site);
    if (!g->start || !g->site) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        g->start[grid_cell(g, sites[i], cell) + 1]++;
    for (size_t c = 0; c < cell_count; c++)
        g->start[c + 1] += g->start[c];
    for (size_t i = count; i-- > 0;)
        g->site[--g->start[grid_cell(g, sites[i], cell) + 1]] = (int32_t)i;
    /* Each start has moved to the beginning of the cell before: shift back. */
    for (size_t c = 0; c < cell_count; c++)
        g->start[c] = g->start[c + 1];
    g->start[cell_count] = (int32_t)count;
    return RBL_OK;
}

static void grid_free(rbl_context *ctx, site_grid *g)
{
    rbli_free(ctx, g->start);
    rbli_free(ctx, g->site);
    *g = (site_grid){0};
}

static void look_in_cell(const site_grid *g, size_t cell, const double p[3], int32_t *best, double *least)
{
    for (int32_t i = g->start[cell]; i < g->start[cell + 1]; i++) {
        const double *s = g->sites[g->site[i]];
        double x = s[0] - p[0], y = s[1] - p[1], z = s[2] - p[2], d = x * x + y * y + z * z;
        if (d < *least || (d == *least && g->site[i] < *best)) {
            *least = d;
            *best = g->site[i];
        }
    }
}

/// The nearest site, the first of equals: shells of cells around the point's own, until none can be nearer.
static int32_t grid_nearest(const site_grid *g, const double p[3])
{
    int64_t own[3], c[3], widest = 0;
    int32_t best = INT32_MAX;
    double least = HUGE_VAL;
    grid_cell(g, p, own);
    for (int k = 0; k < 3; k++)
        widest = g->n[k] > widest ? g->n[k] : widest;
    for (int64_t shell = 0; shell <= widest; shell++) {
        double reach = (double)(shell - 1) * g->size;
        if (shell > 1 && least < reach * reach) break;
        int64_t low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = own[k] - shell < 0 ? 0 : own[k] - shell;
            high[k] = own[k] + shell >= g->n[k] ? g->n[k] - 1 : own[k] + shell;
        }
        for (c[2] = low[2]; c[2] <= high[2]; c[2]++)
            for (c[1] = low[1]; c[1] <= high[1]; c[1]++) {
                bool rim = llabs(c[2] - own[2]) == shell || llabs(c[1] - own[1]) == shell;
                for (c[0] = low[0]; c[0] <= high[0]; c[0]++)
                    if (rim || llabs(c[0] - own[0]) == shell)
                        look_in_cell(g, (size_t)((c[2] * g->n[1] + c[1]) * g->n[0] + c[0]), p, &best, &least);
            }
    }
    return best;
}

/* ---- even points ---- */

typedef struct relaxation {
    const double (*samples)[3];
    int32_t *nearest; /* [sample_count] */
    const site_grid *grid;
} relaxation;

static rbl_status assign_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const relaxation *job = user;
    for (size_t i = begin; i < end; i++)
        job->nearest[i] = grid_nearest(job->grid, job->samples[i]);
    return RBL_OK;
}

/// Moves each site to the mean of its samples, or to the sample nearest to the mean where that lies outside.
static rbl_status move_sites(rbl_context *ctx, const solid *s, const relaxation *job, size_t sample_count,
    double (*sites)[3], size_t count)
{
    rbl_status status = RBL_OK;
    double(*mean)[3] = NULL, *least = NULL;
    size_t *held = NULL;
    bool *outside = NULL;
    RBL_TRY_ALLOC(mean = rbli_calloc(ctx, count, sizeof *mean));
    RBL_TRY_ALLOC(held = rbli_calloc(ctx, count, sizeof *held));
    RBL_TRY_ALLOC(least = rbli_alloc(ctx, count, sizeof *least));
    RBL_TRY_ALLOC(outside = rbli_calloc(ctx, count, sizeof *outside));
    for (size_t i = 0; i < sample_count; i++) {
        for (int k = 0; k < 3; k++)
            mean[job->nearest[i]][k] += job->samples[i][k];
        held[job->nearest[i]]++;
    }
    for (size_t i = 0; i < count; i++) {
        if (held[i] == 0) continue;
        for (int k = 0; k < 3; k++)
            mean[i][k] /= (double)held[i];
        outside[i] = rbli_winding_number(s->winding, mean[i], NULL) <= 0;
        least[i] = HUGE_VAL;
        if (!outside[i]) memcpy(sites[i], mean[i], sizeof *sites);
    }
    for (size_t i = 0; i < sample_count; i++) {
        int32_t site = job->nearest[i];
        if (!outside[site]) continue;
        double d = 0;
        for (int k = 0; k < 3; k++)
            d += (job->samples[i][k] - mean[site][k]) * (job->samples[i][k] - mean[site][k]);
        if (d >= least[site]) continue;
        least[site] = d;
        memcpy(sites[site], job->samples[i], sizeof *sites);
    }
done:
    rbli_free(ctx, mean);
    rbli_free(ctx, held);
    rbli_free(ctx, least);
    rbli_free(ctx, outside);
    return status;
}

static rbl_status relax_sites(
    rbl_context *ctx, const solid *s, double (*sites)[3], size_t count, int32_t steps, uint32_t seed)
{
    rbl_status status = RBL_OK;
    /* Enough samples for steady means, fewer where sites are many. */
    size_t a_site = 4000000 / count < 24 ? 24 : 4000000 / count > 200 ? 200 : 4000000 / count;
    size_t sample_count = a_site * count;
    double(*samples)[3] = NULL;
    bool *placed = NULL;
    site_grid grid = {0};
    relaxation job = {.grid = &grid};
    RBL_TRY_ALLOC(samples = rbli_alloc(ctx, sample_count, sizeof *samples));
    RBL_TRY_ALLOC(placed = rbli_calloc(ctx, sample_count, sizeof *placed));
    RBL_TRY_ALLOC(job.nearest = rbli_alloc(ctx, sample_count, sizeof *job.nearest));
    draw_job draws = {
        draw_inside, s, seed, RBLI_RNG_VOLUME_POINTS, (uint64_t)SAMPLE_KIND << 56, samples, placed};
    RBL_TRY(draw_points(ctx, &draws, sample_count));
    sample_count = pack(samples, placed, sample_count);
    job.samples = (const double(*)[3])samples;
    for (int32_t step = 0; step < steps; step++) {
        rbli_progress(ctx, (double)step / (double)steps);
        RBL_TRY(grid_build(ctx, &grid, (const double(*)[3])sites, count));
        RBL_TRY(rbli_parallel_for(ctx, sample_count, 1024, assign_block, &job));
        RBL_TRY(move_sites(ctx, s, &job, sample_count, sites, count));
        grid_free(ctx, &grid);
    }
done:
    grid_free(ctx, &grid);
    rbli_free(ctx, samples);
    rbli_free(ctx, placed);
    rbli_free(ctx, job.nearest);
    return status;
}

rbl_status rbli_volume_points(rbl_context *ctx, const rbli_mesh_view *mesh, size_t count, int32_t relax,
    uint32_t seed, double (**out)[3], size_t *out_count, size_t *missing)
{
    rbl_status status = RBL_OK;
    solid s = {0};
    double(*points)[3] = NULL;
    bool *placed = NULL;
    RBL_TRY(check_count(ctx, (double)count));
    RBL_TRY(open_solid(ctx, mesh, &s));
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, count, sizeof *points));
    RBL_TRY_ALLOC(placed = rbli_calloc(ctx, count, sizeof *placed));
    draw_job draws = {draw_inside, &s, seed, RBLI_RNG_VOLUME_POINTS, 0, points, placed};
    RBL_TRY(draw_points(ctx, &draws, count));
    size_t kept = pack(points, placed, count);
    if (relax > 0 && kept > 0) RBL_TRY(relax_sites(ctx, &s, points, kept, relax, seed));
    *missing = count - kept;
    *out_count = kept;
    *out = points;
    points = NULL;
done:
    rbli_winding_destroy(ctx, s.winding);
    rbli_free(ctx, points);
    rbli_free(ctx, placed);
    return status;
}

/* ---- impacts ---- */

double rbli_falloff_value(rbli_falloff falloff, double x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    switch (falloff) {
    case RBLI_FALLOFF_LINEAR:
        return x;
    case RBLI_FALLOFF_SQUARED:
        return x * x;
    case RBLI_FALLOFF_INVERSE:
        return 2 * x / (x + 1);
    case RBLI_FALLOFF_LOGARITHMIC:
        return rbli_log(1 + x) / rbli_log(2);
    }
    return 0;
}

rbli_impact_options rbli_impact_default_options(void)
{
    return (rbli_impact_options){.radius = 0.5, .count = 60, .far_count = 10};
}

typedef struct impact_job {
    const solid *solid;
    const rbli_impact_options *options;
    bool anywhere; /* points elsewhere may lie within the radii */
} impact_job;

static double distance(const double a[3], const double b[3])
{
    return sqrt(
        (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static bool draw_near(const void *user, size_t index, rbli_rng *rng, double out[3])
{
    const impact_job *job = user;
    const rbli_impact_options *o = job->options;
    const double *center = o->at[index / o->count];
    for (int k = 0; k < 3; k++)
        out[k] = center[k] + (2 * rbli_rng_double(rng) - 1) * o->radius;
    double keep = rbli_rng_double(rng);
    return keep < rbli_falloff_value(o->falloff, 1 - distance(out, center) / o->radius) &&
           rbli_winding_number(job->solid->winding, out, NULL) > 0;
}

static bool draw_far(const void *user, size_t index, rbli_rng *rng, double out[3])
{
    (void)index;
    const impact_job *job = user;
    const rbli_impact_options *o = job->options;
    draw_in_box(job->solid, rng, out);
    for (size_t i = 0; i < o->at_count && !job->anywhere; i++)
        if (distance(out, o->at[i]) < o->radius) return false;
    return rbli_winding_number(job->solid->winding, out, NULL) > 0;
}

rbl_status rbli_impact_points(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_impact_options *o,
    double (**out)[3], size_t *out_count, size_t *missing)
{
    rbl_status status = RBL_OK;
    solid s = {0};
    double(*points)[3] = NULL;
    bool *placed = NULL;
    size_t near = o->at_count * o->count, all = near + o->far_count;
    if (!(o->radius > 0) || o->at_count == 0)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "impacts need a place and a positive radius");
    RBL_TRY(check_count(ctx, (double)o->at_count * (double)o->count + (double)o->far_count));
    RBL_TRY(open_solid(ctx, mesh, &s));
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, all, sizeof *points));
    RBL_TRY_ALLOC(placed = rbli_calloc(ctx, all, sizeof *placed));
    impact_job job = {&s, o, false};
    draw_job draws = {draw_near, &job, o->seed, RBLI_RNG_IMPACT_POINTS, 0, points, placed};
    RBL_TRY(draw_points(ctx, &draws, near));
    draws = (draw_job){
        draw_far, &job, o->seed, RBLI_RNG_IMPACT_POINTS, (uint64_t)1 << 56, points + near, placed + near};
    RBL_TRY(draw_points(ctx, &draws, o->far_count > 0));
    job.anywhere = o->far_count > 0 && !placed[near];
    RBL_TRY(draw_points(ctx, &draws, o->far_count));
    for (size_t i = 0; i <= o->at_count; i++) {
        size_t of_this = i < o->at_count ? o->count : o->far_count;
        missing[i] = of_this;
        for (size_t k = 0; k < of_this; k++)
            missing[i] -= placed[i * o->count + k];
    }
    *out_count = pack(points, placed, all);
    *out = points;
    points = NULL;
done:
    rbli_winding_destroy(ctx, s.winding);
    rbli_free(ctx, points);
    rbli_free(ctx, placed);
    return status;
}

/* ---- density of the surface ---- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Barycentric weights of the point of a triangle nearest to p (Ericson 2005, Real-Time Collision
/// Detection, 5.1.5).
/// @return the square of the distance
static double nearest_in_triangle(
    const rbli_mesh_view *mesh, size_t triangle, const double p[3], double weights[3])
{
    const int32_t *t = mesh->triangles[triangle];
    const double *a = mesh->positions[t[0]], *b = mesh->positions[t[1]], *c = mesh->positions[t[2]];
    double ab[3], ac[3], ap[3], bp[3], cp[3], u = 0, v = 0;
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k];
        ac[k] = c[k] - a[k];
        ap[k] = p[k] - a[k];
        bp[k] = p[k] - b[k];
        cp[k] = p[k] - c[k];
    }
    double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
           d6 = dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (d1 <= 0 && d2 <= 0) {
        /* corner a */
    } else if (d3 >= 0 && d4 <= d3) {
        u = 1;
    } else if (d6 >= 0 && d5 <= d6) {
        v = 1;
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        u = d1 / (d1 - d3);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        v = d2 / (d2 - d6);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0 && (d4 - d3) + (d5 - d6) > 0) {
        v = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        u = 1 - v;
    } else if (va + vb + vc > 0) {
        u = vb / (va + vb + vc);
        v = vc / (va + vb + vc);
    }
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double d = ap[k] - u * ab[k] - v * ac[k];
        square += d * d;
    }
    weights[0] = 1 - u - v;
    weights[1] = u;
    weights[2] = v;
    return square;
}

typedef struct nearest_query {
    const rbli_mesh_view *mesh;
    const double *point;
    double square, weights[3];
    size_t triangle;
} nearest_query;

static bool visit_triangle(void *user, int32_t item)
{
    nearest_query *q = user;
    double weights[3], square = nearest_in_triangle(q->mesh, (size_t)item, q->point, weights);
    if (square < q->square || (square == q->square && (size_t)item < q->triangle)) {
        q->square = square;
        q->triangle = (size_t)item;
        memcpy(q->weights, weights, sizeof weights);
    }
    return true;
}

typedef struct density_job {
    solid solid;
    const rbli_mesh_view *mesh; /* with densities */
    rbli_box_tree *tree;
    double first_reach; /* of the nearest query */
    rbli_density_fn density;
    void *user;
    double largest;
} density_job;

/// Boxes around the point, each twice as large, until the nearest triangle found cannot be beaten from
/// outside.
static void find_nearest(const density_job *job, const double point[3], nearest_query *q)
{
    *q = (nearest_query){.mesh = job->mesh, .point = point, .square = HUGE_VAL, .triangle = SIZE_MAX};
    for (double reach = job->first_reach;; reach *= 2) {
        double low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = point[k] - reach;
            high[k] = point[k] + reach;
        }
        rbli_box_tree_query(job->tree, low, high, visit_triangle, q);
        if (q->square <= reach * reach || reach > 0x1p+1000) return;
    }
}

static bool draw_by_density(const void *user, size_t index, rbli_rng *rng, double out[3])
{
    (void)index;
    const density_job *job = user;
    nearest_query q;
    draw_in_box(&job->solid, rng, out);
    double keep = rbli_rng_double(rng);
    if (rbli_winding_number(job->solid.winding, out, NULL) <= 0) return false;
    find_nearest(job, out, &q);
    return q.triangle != SIZE_MAX && keep * job->largest < job->density(job->user, q.triangle, q.weights);
}

static rbl_status build_tree(rbl_context *ctx, const rbli_mesh_view *mesh, rbli_box_tree **out)
{
    double(*boxes)[2][3] = rbli_alloc(ctx, mesh->triangle_count, sizeof *boxes);
    if (!boxes) return RBL_ERR_NO_MEMORY;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t *v = mesh->triangles[t];
            double a = mesh->positions[v[0]][k], b = mesh->positions[v[1]][k], c = mesh->positions[v[2]][k];
            boxes[t][0][k] = fmin(a, fmin(b, c));
            boxes[t][1][k] = fmax(a, fmax(b, c));
        }
    rbl_status status = rbli_box_tree_create(ctx, (const double(*)[2][3])boxes, mesh->triangle_count, out);
    rbli_free(ctx, boxes);
    return status;
}

rbl_status rbli_density_points(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_mesh_view *surface,
    rbli_density_fn density, void *user, double largest, size_t count, uint32_t seed, double (**out)[3],
    size_t *out_count, size_t *missing)
{
    rbl_status status = RBL_OK;
    density_job job = {.mesh = surface, .density = density, .user = user, .largest = largest};
    double(*points)[3] = NULL;
    bool *placed = NULL;
    RBL_TRY(check_count(ctx, (double)count));
    RBL_TRY(open_solid(ctx, mesh, &job.solid));
    RBL_TRY(build_tree(ctx, surface, &job.tree));
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, count, sizeof *points));
    RBL_TRY_ALLOC(placed = rbli_calloc(ctx, count, sizeof *placed));
    job.first_reach = distance(job.solid.low, job.solid.high) / 64;
    draw_job draws = {draw_by_density, &job, seed, RBLI_RNG_DENSITY_POINTS, 0, points, placed};
    RBL_TRY(draw_points(ctx, &draws, count));
    *out_count = pack(points, placed, count);
    *missing = count - *out_count;
    *out = points;
    points = NULL;
done:
    rbli_winding_destroy(ctx, job.solid.winding);
    rbli_box_tree_destroy(ctx, job.tree);
    rbli_free(ctx, points);
    rbli_free(ctx, placed);
    return status;
}
