/// Patterns of points: the formulas of GEO §4.2–4.4, with a stream of random numbers for each ring, spoke and
/// point.

#include "fracture/geometry/point_patterns.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/elementary.h"

/// A growable array of points, for rbli_array_reserve.
typedef struct point_list {
    double (*data)[3];
    size_t count, capacity;
} point_list;

/// The stream of element `index` of one of several kinds that share a purpose.
static rbli_rng stream(uint32_t seed, uint32_t purpose, uint32_t kind, uint64_t index)
{
    return rbli_rng_make(seed, purpose, (uint64_t)kind << 56 | index);
}

static double draw_between(rbli_rng *rng, double low, double high)
{
    return low + (high - low) * rbli_rng_double(rng);
}

size_t rbli_draw_count(uint32_t seed, uint32_t purpose, uint64_t index, size_t low, size_t high)
{
    rbli_rng rng = stream(seed, purpose, 255, index);
    return low + rbli_rng_below(&rng, (uint32_t)(high - low + 1));
}

void rbli_random_direction(rbli_rng *rng, double out[3])
{
    double square;
    do {
        square = 0;
        for (int k = 0; k < 3; k++) {
            out[k] = 2 * rbli_rng_double(rng) - 1;
            square += out[k] * out[k];
        }
    } while (square > 1 || square < 1e-6);
    for (int k = 0; k < 3; k++)
        out[k] /= sqrt(square);
}

static rbl_status too_many(rbl_context *ctx, double count)
{
    return rbli_fail(
        ctx, RBL_ERR_LIMIT, "%.0f points are more than the %d that are allowed", count, RBLI_MAX_POINTS);
}

/* ---- radial ---- */

enum { RING, SPOKE, SITE };

rbli_radial_options rbli_radial_default_options(void)
{
    return (rbli_radial_options){.normal = {0, 0, 1},
        .angular_steps = 5,
        .radial_steps = 5,
        .radius = 0.5,
        .radial_step_exponent = 1,
        .radial_min_step = 0.01};
}

void rbli_frame_of(const double normal[3], double x[3], double y[3])
{
    /* The axis that comes after the normal's largest component, made perpendicular: for z it is x, for x it
     * is y. */
    int largest = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(normal[k]) > fabs(normal[largest])) largest = k;
    double along = normal[(largest + 1) % 3], square = 0;
    for (int k = 0; k < 3; k++) {
        x[k] = (k == (largest + 1) % 3) - along * normal[k];
        square += x[k] * x[k];
    }
    for (int k = 0; k < 3; k++)
        x[k] /= sqrt(square);
    for (int k = 0; k < 3; k++)
        y[k] = normal[(k + 1) % 3] * x[(k + 2) % 3] - normal[(k + 2) % 3] * x[(k + 1) % 3];
}

static void sort_numbers(double *values, size_t count)
{
    /* Rings are few, and nearly sorted. */
    for (size_t i = 1; i < count; i++) {
        double value = values[i];
        size_t j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

static void find_rings(const rbli_radial_options *o, double *ring)
{
    size_t count = (size_t)o->radial_steps;
    for (size_t i = 0; i < count; i++) {
        ring[i] = rbli_pow((double)(i + 1), o->radial_step_exponent);
        ring[i] = i == 0 ? ring[i] * 0.5 : ring[i] - ring[0];
    }
    double scale = o->radius / ring[count - 1];
    for (size_t i = 0; i < count; i++) {
        ring[i] *= scale;
        rbli_rng rng = stream(o->seed, RBLI_RNG_RADIAL_POINTS, RING, i);
        if (o->radial_noise > 0)
            ring[i] += draw_between(&rng, -fmin(ring[i], o->radial_noise), o->radial_noise);
    }
    sort_numbers(ring, count);
    double last = 0, gap = 0.5 * o->radial_min_step;
    for (size_t i = 0; i < count; i++) {
        if (ring[i] - last < gap) ring[i] = last + gap;
        last = ring[i];
        gap = o->radial_min_step;
    }
}

rbl_status rbli_radial_points(
    rbl_context *ctx, const rbli_radial_options *o, size_t *count, double (**out)[3])
{
    rbl_status status = RBL_OK;
    double *ring = NULL, *spoke = NULL, (*points)[3] = NULL, normal[3], x[3], y[3], largest = 0, square = 0;
    if (o->angular_steps < 1 || o->radial_steps < 1)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a radial pattern needs at least one step each way");
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, fabs(o->normal[k]));
    if (!(largest > 0)) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the normal of a radial pattern is zero");
    size_t rings = (size_t)o->radial_steps, spokes = (size_t)o->angular_steps;
    if ((double)rings * (double)spokes > RBLI_MAX_POINTS)
        return too_many(ctx, (double)rings * (double)spokes);
    for (int k = 0; k < 3; k++)
        square += o->normal[k] / largest * (o->normal[k] / largest);
    for (int k = 0; k < 3; k++)
        normal[k] = o->normal[k] / largest / sqrt(square);
    rbli_frame_of(normal, x, y);

    RBL_TRY_ALLOC(ring = rbli_alloc(ctx, rings, sizeof *ring));
    RBL_TRY_ALLOC(spoke = rbli_alloc(ctx, spokes, sizeof *spoke));
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, rings * spokes, sizeof *points));
    find_rings(o, ring);
    for (size_t k = 0; k < spokes; k++) {
        rbli_rng rng = stream(o->seed, RBLI_RNG_RADIAL_POINTS, SPOKE, k);
        spoke[k] = o->angle_offset + (double)k * (2 * RBLI_PI / (double)spokes) +
                   draw_between(&rng, -o->angular_noise, o->angular_noise);
    }
    for (size_t i = 0; i < rings * spokes; i++) {
        rbli_rng rng = stream(o->seed, RBLI_RNG_RADIAL_POINTS, SITE, i);
        double length = ring[i / spokes] + rbli_rng_double(&rng) * o->radial_variability;
        double angle = spoke[i % spokes] + rbli_rng_double(&rng) * o->angular_variability;
        double up = draw_between(&rng, -1, 1) * o->axial_variability;
        for (int k = 0; k < 3; k++)
            points[i][k] =
                o->center[k] + length * (rbli_cos(angle) * x[k] + rbli_sin(angle) * y[k]) + up * normal[k];
    }
    *count = rings * spokes;
    *out = points;
    points = NULL;
done:
    rbli_free(ctx, ring);
    rbli_free(ctx, spoke);
    rbli_free(ctx, points);
    return status;
}

/* ---- clusters ---- */

enum { CENTER, MEMBER };

rbli_cluster_points_options rbli_cluster_points_default_options(void)
{
    return (rbli_cluster_points_options){.clusters_min = 8,
        .clusters_max = 8,
        .points_min = 2,
        .points_max = 30,
        .radius_fraction_min = 0.1,
        .radius_fraction_max = 0.2};
}

rbl_status rbli_cluster_points_make(rbl_context *ctx, const double box_min[3], const double box_max[3],
    const rbli_cluster_points_options *o, size_t *count, double (**out)[3])
{
    rbl_status status = RBL_OK;
    point_list points = {0};
    double half = 0;
    size_t clusters =
        rbli_draw_count(o->seed, RBLI_RNG_CLUSTER_POINTS, UINT32_MAX, o->clusters_min, o->clusters_max);
    if ((double)clusters * (double)(o->points_max + 1) > 10.0 * RBLI_MAX_POINTS)
        return too_many(ctx, (double)clusters * (double)o->points_max);
    for (int k = 0; k < 3; k++)
        half = fmax(half, 0.5 * (box_max[k] - box_min[k]));
    for (size_t c = 0; c < clusters; c++) {
        rbli_rng rng = stream(o->seed, RBLI_RNG_CLUSTER_POINTS, CENTER, c);
        double center[3];
        size_t members = rbli_draw_count(o->seed, RBLI_RNG_CLUSTER_POINTS, c, o->points_min, o->points_max);
        for (int k = 0; k < 3; k++)
            center[k] = draw_between(&rng, box_min[k], box_max[k]);
        RBL_TRY(rbli_array_reserve(ctx, &points, members + 1));
        if (o->include_base) memcpy(points.data[points.count++], center, sizeof center);
        for (size_t i = 0; i < members; i++) {
            double direction[3];
            rng = stream(o->seed, RBLI_RNG_CLUSTER_POINTS, MEMBER, (uint64_t)c << 32 | i);
            double radius =
                o->radius_offset + draw_between(&rng, o->radius_fraction_min, o->radius_fraction_max) * half;
            rbli_random_direction(&rng, direction);
            for (int k = 0; k < 3; k++)
                points.data[points.count][k] = center[k] + direction[k] * radius;
            points.count++;
        }
        if (points.count > RBLI_MAX_POINTS) {
            status = too_many(ctx, (double)points.count);
            goto done;
        }
    }
    *count = points.count;
    *out = points.data;
    points.data = NULL;
done:
    rbli_free(ctx, points.data);
    return status;
}

/* ---- grid ---- */

rbl_status rbli_grid_points(rbl_context *ctx, const double box_min[3], const double box_max[3],
    const int64_t steps[3], const double displacement[3], uint32_t seed, size_t *count, double (**out)[3])
{
    size_t n[3], all = 1;
    for (int k = 0; k < 3; k++) {
        if (steps[k] < 1)
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a grid needs at least one point along %c", "xyz"[k]);
        if (steps[k] > 200)
            return rbli_fail(ctx, RBL_ERR_LIMIT,
                "%lld points along %c are more than the 200 that are allowed", (long long)steps[k], "xyz"[k]);
        n[k] = (size_t)steps[k];
        all *= n[k];
    }
    if (all > RBLI_MAX_POINTS) return too_many(ctx, (double)all);
    double(*points)[3] = rbli_alloc(ctx, all, sizeof *points);
    if (!points) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < all; i++) {
        const size_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_GRID_POINTS, i);
        for (int k = 0; k < 3; k++)
            points[i][k] = box_min[k] + (box_max[k] - box_min[k]) * ((double)at[k] + 0.5) / (double)n[k] +
                           draw_between(&rng, -1, 1) * displacement[k];
    }
    *count = all;
    *out = points;
    return RBL_OK;
}
