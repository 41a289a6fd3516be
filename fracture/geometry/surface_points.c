/// Poisson-disk samples by dart throwing (Cook 1986, Stochastic sampling in computer graphics), vertices,
/// thinning.

#include "fracture/geometry/surface_points.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/elementary.h"
#include "fracture/geometry/point_patterns.h"
#include "fracture/geometry/spacing.h"

/// Darts thrown a disk of the surface; disks cover about half of it at most (random packing).
static const double DARTS_PER_DISK = 10, DENSEST_PACKING = 0.6;

/// A growable array of points, for rbli_array_reserve.
typedef struct point_list {
    double (*data)[3];
    size_t count, capacity;
} point_list;

rbli_surface_points_options rbli_surface_points_default_options(void)
{
    return (rbli_surface_points_options){.radius = 0.1};
}

/// Twice the area vector of a triangle.
static void area_vector(const rbli_mesh_view *mesh, size_t triangle, double out[3])
{
    const int32_t *t = mesh->triangles[triangle];
    const double *a = mesh->positions[t[0]], *b = mesh->positions[t[1]], *c = mesh->positions[t[2]];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
    }
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/// Areas summed from the first triangle on, [triangle_count].
static rbl_status sum_areas(rbl_context *ctx, const rbli_mesh_view *mesh, double **out)
{
    double *sums = rbli_alloc(ctx, mesh->triangle_count, sizeof *sums), sum = 0, normal[3];
    if (!sums) return RBL_ERR_NO_MEMORY;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        area_vector(mesh, t, normal);
        sums[t] = sum += 0.5 * length(normal);
    }
    *out = sums;
    return RBL_OK;
}

/// A point uniform on the surface.
static void throw_dart(const rbli_mesh_view *mesh, const double *sums, rbli_rng *rng, double out[3])
{
    double at = rbli_rng_double(rng) * sums[mesh->triangle_count - 1];
    size_t low = 0, high = mesh->triangle_count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    double u = rbli_rng_double(rng), v = rbli_rng_double(rng);
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const int32_t *t = mesh->triangles[low];
    const double *a = mesh->positions[t[0]], *b = mesh->positions[t[1]], *c = mesh->positions[t[2]];
    for (int k = 0; k < 3; k++)
        out[k] = a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]);
}

/// The radius of dart `index` of `count`: quantiles of the distribution, from the largest down.
static double dart_radius(const rbli_surface_points_options *o, double index, double count)
{
    if (!(o->max_radius > o->radius)) return o->radius;
    double share = 1 - (index + 0.5) / count;
    if (o->distribution == RBLI_RADIUS_SMALLER) share = share * share;
    if (o->distribution == RBLI_RADIUS_LARGER) share = 1 - (1 - share) * (1 - share);
    return o->radius + (o->max_radius - o->radius) * share;
}

typedef struct ranked {
    double key;
    uint32_t tie;
    uint32_t index;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    if (p->key != q->key) return p->key > q->key ? -1 : 1;
    if (p->tie != q->tie) return p->tie < q->tie ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/// Indices from the most important on (importance NULL: in random order).
static rbl_status rank_points(
    rbl_context *ctx, const double *importance, size_t count, uint32_t seed, ranked **out)
{
    ranked *ranks = rbli_alloc(ctx, count, sizeof *ranks);
    if (!ranks) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_THIN_POINTS, i);
        ranks[i] = (ranked){importance ? importance[i] : 0, rbli_rng_u32(&rng), (uint32_t)i};
    }
    if (count) qsort(ranks, count, sizeof *ranks, compare_ranked);
    *out = ranks;
    return RBL_OK;
}

/// Keeps a random part of the points, in their order.
static rbl_status keep_some(
    rbl_context *ctx, double (*points)[3], double *radii, size_t *count, size_t keep_count, uint32_t seed)
{
    if (keep_count == 0 || *count <= keep_count) return RBL_OK;
    bool *keep = rbli_alloc(ctx, *count, sizeof *keep);
    if (!keep) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_thin_points(
        ctx, (const double(*)[3])points, NULL, *count, keep_count, RBLI_THIN_RANDOM, seed, keep);
    size_t kept = 0;
    for (size_t i = 0; i < *count && status == RBL_OK; i++) {
        if (!keep[i]) continue;
        memmove(points[kept], points[i], sizeof *points);
        radii[kept++] = radii[i];
    }
    if (status == RBL_OK) *count = kept;
    rbli_free(ctx, keep);
    return status;
}

rbl_status rbli_surface_points(rbl_context *ctx, const rbli_mesh_view *mesh,
    const rbli_surface_points_options *o, size_t *count, double (**out)[3], double **radii_out)
{
    rbl_status status = RBL_OK;
    point_list points = {0};
    RBLI_ARRAY(double) radii = {0};
    double *sums = NULL, disk = RBLI_PI * o->radius * o->radius;
    rbli_spacing *spacing = NULL;
    if (!(o->radius > 0))
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the radius of surface points is not positive");
    RBL_TRY(sum_areas(ctx, mesh, &sums));
    double area = mesh->triangle_count ? sums[mesh->triangle_count - 1] : 0;
    if (!(area > 0)) {
        status = rbli_fail(ctx, RBL_ERR_ARGUMENT, "there is no surface to place points on");
        goto done;
    }
    if (area * DENSEST_PACKING / disk > RBLI_MAX_POINTS) {
        status = rbli_fail(ctx, RBL_ERR_LIMIT,
            "about %.0f points of radius %g would fit on this surface, more than the %d that are allowed; "
            "the least "
            "radius for it is %.3g",
            area * DENSEST_PACKING / disk, o->radius, RBLI_MAX_POINTS,
            sqrt(area * DENSEST_PACKING / RBLI_PI / RBLI_MAX_POINTS));
        goto done;
    }
    RBL_TRY(rbli_spacing_create(ctx, mesh->positions[mesh->triangles[0][0]], o->radius, &spacing));
    size_t darts = (size_t)ceil(DARTS_PER_DISK * area / disk) + 16;
    for (size_t i = 0; i < darts; i++) {
        rbli_rng rng = rbli_rng_make(o->seed, RBLI_RNG_SURFACE_POINTS, i);
        double p[3], radius = dart_radius(o, (double)i, (double)darts);
        throw_dart(mesh, sums, &rng, p);
        if (i % 4096 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (i % 4096 == 0) rbli_progress(ctx, (double)i / (double)darts);
        if (!rbli_spacing_fits(spacing, p, radius)) continue;
        RBL_TRY(rbli_spacing_add(ctx, spacing, p, radius));
        RBL_TRY(rbli_array_reserve(ctx, &points, 1));
        memcpy(points.data[points.count++], p, sizeof p);
        RBL_TRY(rbli_array_push(ctx, &radii, radius));
    }
    RBL_TRY(keep_some(ctx, points.data, radii.data, &points.count, o->max_count, o->seed));
    *count = points.count;
    *out = points.data;
    points.data = NULL;
    if (radii_out) {
        *radii_out = radii.data;
        radii.data = NULL;
    }
done:
    rbli_free(ctx, sums);
    rbli_free(ctx, points.data);
    rbli_free(ctx, radii.data);
    rbli_spacing_destroy(ctx, spacing);
    return status;
}

/* ---- vertices ---- */

void rbli_mesh_vertices_free(rbl_context *ctx, rbli_mesh_vertices *vertices)
{
    rbli_free(ctx, vertices->positions);
    rbli_free(ctx, vertices->normals);
    rbli_free(ctx, vertices->sharpness);
    *vertices = (rbli_mesh_vertices){0};
}

typedef struct keyed_vertex {
    double position[3];
    int32_t vertex;
} keyed_vertex;

static int compare_keyed(const void *a, const void *b)
{
    const keyed_vertex *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->position[k] != q->position[k]) return p->position[k] < q->position[k] ? -1 : 1;
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

/// point_of[v] = the number of the vertex's position among the used ones, −1 for an unused vertex.
static rbl_status number_positions(
    rbl_context *ctx, const rbli_mesh_view *mesh, int32_t *point_of, size_t *count)
{
    size_t used = 0;
    keyed_vertex *keyed = rbli_alloc(ctx, mesh->vertex_count, sizeof *keyed);
    if (!keyed) return RBL_ERR_NO_MEMORY;
    memset(point_of, 0xff, mesh->vertex_count * sizeof *point_of);
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            point_of[mesh->triangles[t][k]] = 0;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        if (point_of[v] < 0) continue;
        keyed[used].vertex = (int32_t)v;
        for (int k = 0; k < 3; k++)
            keyed[used].position[k] = mesh->positions[v][k] + 0.0; /* −0 is 0 */
        used++;
    }
    if (used) qsort(keyed, used, sizeof *keyed, compare_keyed);
    /* The first of equals stands for all; then numbers go by vertex. */
    for (size_t i = 0; i < used; i++) {
        bool same = i > 0 && memcmp(keyed[i].position, keyed[i - 1].position, sizeof keyed[i].position) == 0;
        point_of[keyed[i].vertex] = same ? point_of[keyed[i - 1].vertex] : keyed[i].vertex;
    }
    *count = 0;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        if (point_of[v] < 0) continue;
        point_of[v] = point_of[v] == (int32_t)v ? (int32_t)(*count)++ : point_of[point_of[v]];
    }
    rbli_free(ctx, keyed);
    return RBL_OK;
}

static void find_normals(const rbli_mesh_view *mesh, const int32_t *point_of, rbli_mesh_vertices *made)
{
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double normal[3];
        area_vector(mesh, t, normal);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                made->normals[point_of[mesh->triangles[t][c]]][k] += normal[k];
    }
    for (size_t i = 0; i < made->count; i++) {
        double size = length(made->normals[i]);
        for (int k = 0; k < 3; k++)
            made->normals[i][k] = size > 0 ? made->normals[i][k] / size : k == 2;
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double normal[3];
        area_vector(mesh, t, normal);
        double size = length(normal);
        if (!(size > 0)) continue;
        for (int c = 0; c < 3; c++) {
            int32_t i = point_of[mesh->triangles[t][c]];
            double cosine = 0;
            for (int k = 0; k < 3; k++)
                cosine += normal[k] / size * made->normals[i][k];
            made->sharpness[i] = fmax(made->sharpness[i], 1 - cosine);
        }
    }
}

rbl_status rbli_mesh_vertices_collect(rbl_context *ctx, const rbli_mesh_view *mesh, rbli_mesh_vertices *out)
{
    rbl_status status = RBL_OK;
    rbli_mesh_vertices made = {0};
    int32_t *point_of = rbli_alloc(ctx, mesh->vertex_count, sizeof *point_of);
    RBL_TRY_ALLOC(point_of);
    RBL_TRY(number_positions(ctx, mesh, point_of, &made.count));
    RBL_TRY_ALLOC(made.positions = rbli_calloc(ctx, made.count, sizeof *made.positions));
    RBL_TRY_ALLOC(made.normals = rbli_calloc(ctx, made.count, sizeof *made.normals));
    RBL_TRY_ALLOC(made.sharpness = rbli_calloc(ctx, made.count, sizeof *made.sharpness));
    for (size_t v = 0; v < mesh->vertex_count; v++)
        if (point_of[v] >= 0) memcpy(made.positions[point_of[v]], mesh->positions[v], sizeof *made.positions);
    find_normals(mesh, point_of, &made);
    *out = made;
    made = (rbli_mesh_vertices){0};
done:
    rbli_free(ctx, point_of);
    rbli_mesh_vertices_free(ctx, &made);
    return status;
}

/* ---- thinning ---- */

static double diagonal_of(const double (*points)[3], size_t count)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double low = points[0][k], high = points[0][k];
        for (size_t i = 1; i < count; i++) {
            low = fmin(low, points[i][k]);
            high = fmax(high, points[i][k]);
        }
        square += (high - low) * (high - low);
    }
    return sqrt(square);
}

/// Takes points in their order that keep a distance from all taken before; then the same with less distance,
/// until enough are taken: every beginning of the sequence is evenly spread.
static rbl_status take_spaced(rbl_context *ctx, const double (*points)[3], const ranked *ranks, size_t count,
    size_t keep_count, bool *keep)
{
    size_t kept = 0;
    double diagonal = diagonal_of(points, count), radius = 0.5 * diagonal;
    for (int round = 0; kept < keep_count && round < 120 && radius > 0; round++, radius *= 0.75) {
        rbli_spacing *spacing = NULL;
        rbl_status status = rbli_spacing_create(ctx, points[0], radius, &spacing);
        for (size_t i = 0; i < count && status == RBL_OK; i++)
            if (keep[i]) status = rbli_spacing_add(ctx, spacing, points[i], radius);
        for (size_t i = 0; i < count && kept < keep_count && status == RBL_OK; i++) {
            size_t p = ranks[i].index;
            if (keep[p] || !rbli_spacing_fits(spacing, points[p], radius)) continue;
            keep[p] = true;
            kept++;
            status = rbli_spacing_add(ctx, spacing, points[p], radius);
        }
        rbli_spacing_destroy(ctx, spacing);
        if (status != RBL_OK) return status;
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
    }
    /* Only twins are left. */
    for (size_t i = 0; i < count && kept < keep_count; i++) {
        kept += !keep[ranks[i].index];
        keep[ranks[i].index] = true;
    }
    return RBL_OK;
}

rbl_status rbli_thin_points(rbl_context *ctx, const double (*points)[3], const double *importance,
    size_t count, size_t keep_count, rbli_thin how, uint32_t seed, bool *keep)
{
    rbl_status status = RBL_OK;
    ranked *ranks = NULL;
    memset(keep, keep_count >= count, count * sizeof *keep);
    if (keep_count >= count || keep_count == 0) return RBL_OK;
    RBL_TRY(rank_points(ctx, how == RBLI_THIN_RANDOM ? NULL : importance, count, seed, &ranks));
    if (how == RBLI_THIN_SPACED) {
        RBL_TRY(take_spaced(ctx, points, ranks, count, keep_count, keep));
    } else {
        for (size_t i = 0; i < keep_count; i++)
            keep[ranks[i].index] = true;
    }
done:
    rbli_free(ctx, ranks);
    return status;
}
