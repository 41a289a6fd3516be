/// Empty spheres between bodies.

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/hull_merge.h"
#include "fracture/geometry/winding.h"

rbli_negative_space_options rbli_negative_space_default_options(void)
{
    return (rbli_negative_space_options){.samples = 50, .tolerance = 0.02, .min_radius = 0.1};
}

void rbli_spheres_free(rbl_context *ctx, rbli_spheres *spheres)
{
    rbli_free(ctx, spheres->centers);
    rbli_free(ctx, spheres->radii);
    *spheres = (rbli_spheres){0};
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double segment_distance2(const double p[3], const double a[3], const double b[3])
{
    double u[3], v[3], d[3];
    for (int k = 0; k < 3; k++)
        u[k] = b[k] - a[k], v[k] = p[k] - a[k];
    double length = dot(u, u), t = length > 0 ? dot(u, v) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int k = 0; k < 3; k++)
        d[k] = v[k] - t * u[k];
    return dot(d, d);
}

static double triangle_distance2(const double p[3], const double a[3], const double b[3], const double c[3])
{
    double u[3], v[3], w[3], n[3];
    for (int k = 0; k < 3; k++)
        u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = p[k] - a[k];
    for (int k = 0; k < 3; k++)
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    double nn = dot(n, n);
    if (nn > 0) {
        double uw[3], wv[3];
        for (int k = 0; k < 3; k++) {
            uw[k] = u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3];
            wv[k] = w[(k + 1) % 3] * v[(k + 2) % 3] - w[(k + 2) % 3] * v[(k + 1) % 3];
        }
        double beta = dot(wv, n), gamma = dot(uw, n);
        if (beta >= 0 && gamma >= 0 && beta + gamma <= nn) return dot(w, n) / nn * dot(w, n);
    }
    return fmin(segment_distance2(p, a, b), fmin(segment_distance2(p, b, c), segment_distance2(p, c, a)));
}

/// The bodies and their bounds.
typedef struct bodies {
    const rbli_hull *hulls;
    size_t hull_count;
    double (*boxes)[2][3];
    const rbli_mesh_view *mesh;
    rbli_winding *winding;
    double low[3], high[3];
} bodies;

static double box_distance2(const double p[3], double box[2][3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = fmax(0, fmax(box[0][k] - p[k], p[k] - box[1][k]));
        sum += d * d;
    }
    return sum;
}

/// Distance of a point to the nearest body, 0 inside one; at most sqrt(`least`).
static double room_at(const bodies *all, const double p[3])
{
    double least = HUGE_VAL;
    for (size_t h = 0; h < all->hull_count && least > 0; h++) {
        const rbli_hull *hull = &all->hulls[h];
        if (box_distance2(p, all->boxes[h]) >= least) continue;
        if (rbli_hull_height(hull, p) <= 0) return 0;
        for (size_t t = 0; t < hull->triangle_count; t++) {
            const int32_t *v = hull->triangles[t];
            least = fmin(
                least, triangle_distance2(p, hull->points[v[0]], hull->points[v[1]], hull->points[v[2]]));
        }
    }
    if (all->mesh) {
        bool on_surface;
        if (rbli_winding_number(all->winding, p, &on_surface) != 0 || on_surface) return 0;
        for (size_t t = 0; t < all->mesh->triangle_count; t++) {
            const int32_t *v = all->mesh->triangles[t];
            const double(*x)[3] = all->mesh->positions;
            least = fmin(least, triangle_distance2(p, x[v[0]], x[v[1]], x[v[2]]));
        }
    }
    return sqrt(least);
}

static rbl_status gather_bodies(rbl_context *ctx, bodies *all)
{
    for (int k = 0; k < 3; k++)
        all->low[k] = HUGE_VAL, all->high[k] = -HUGE_VAL;
    all->boxes = rbli_alloc(ctx, all->hull_count, sizeof *all->boxes);
    if (!all->boxes) return RBL_ERR_NO_MEMORY;
    for (size_t h = 0; h < all->hull_count; h++) {
        rbli_hull_bounds(&all->hulls[h], all->boxes[h][0], all->boxes[h][1]);
        for (int k = 0; k < 3; k++) {
            all->low[k] = fmin(all->low[k], all->boxes[h][0][k]);
            all->high[k] = fmax(all->high[k], all->boxes[h][1][k]);
        }
    }
    if (!all->mesh) return RBL_OK;
    for (size_t t = 0; t < all->mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                double x = all->mesh->positions[all->mesh->triangles[t][c]][k];
                all->low[k] = fmin(all->low[k], x);
                all->high[k] = fmax(all->high[k], x);
            }
    return rbli_winding_create(ctx, all->mesh, &all->winding);
}

/// Element `index` of the van der Corput sequence of a prime base.
static double van_der_corput(size_t index, size_t base)
{
    double value = 0, part = 1;
    for (; index > 0; index /= base) {
        part /= (double)base;
        value += part * (double)(index % base);
    }
    return value;
}

rbl_status rbli_negative_space(rbl_context *ctx, const rbli_hull *hulls, size_t hull_count,
    const rbli_mesh_view *mesh, const rbli_negative_space_options *options, rbli_spheres *out)
{
    rbl_status status = RBL_OK;
    bodies all = {.hulls = hulls, .hull_count = hull_count, .mesh = mesh};
    double(*points)[3] = NULL, *room = NULL;
    rbli_spheres made = {0};
    size_t count = 64 * options->samples;
    RBL_TRY_ALLOC(made.centers = rbli_alloc(ctx, options->samples, sizeof *made.centers));
    RBL_TRY_ALLOC(made.radii = rbli_alloc(ctx, options->samples, sizeof *made.radii));
    RBL_TRY(gather_bodies(ctx, &all));
    if (!(all.high[0] > all.low[0])) count = 0;
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, count, sizeof *points));
    RBL_TRY_ALLOC(room = rbli_alloc(ctx, count, sizeof *room));
    for (size_t i = 0; i < count; i++) {
        static const size_t bases[3] = {2, 3, 5};
        if (i % 64 == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (int k = 0; k < 3; k++)
            points[i][k] = all.low[k] + van_der_corput(i + 1, bases[k]) * (all.high[k] - all.low[k]);
        room[i] = room_at(&all, points[i]) - options->tolerance;
    }
    while (made.count < options->samples) {
        size_t best = count;
        for (size_t i = 0; i < count; i++)
            if (room[i] >= options->min_radius && room[i] > 0 && (best == count || room[i] > room[best]))
                best = i;
        if (best == count) break;
        double radius = room[best];
        memcpy(made.centers[made.count], points[best], sizeof points[best]);
        made.radii[made.count++] = radius;
        for (size_t i = 0; i < count; i++) {
            double d[3] = {points[i][0] - points[best][0], points[i][1] - points[best][1],
                points[i][2] - points[best][2]};
            if (i != best && dot(d, d) < radius * radius) room[i] = -1;
        }
        room[best] = -1;
    }
    *out = made;
    made = (rbli_spheres){0};
done:
    rbli_spheres_free(ctx, &made);
    rbli_free(ctx, points);
    rbli_free(ctx, room);
    rbli_free(ctx, all.boxes);
    rbli_winding_destroy(ctx, all.winding);
    return status;
}
