#include "tests/check.h"

#include <math.h>

#include "fracture/geometry/elementary.h"
#include "fracture/geometry/point_patterns.h"
#include "fracture/geometry/spacing.h"
#include "fracture/geometry/surface_points.h"
#include "fracture/geometry/volume_points.h"
#include "fracture/geometry/winding.h"
#include "tests/failing_alloc.h"

static double distance(const double a[3], const double b[3])
{
    return sqrt(
        (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* ---- radial ---- */

static void rings_follow_the_formula(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_radial_options o = rbli_radial_default_options();
    double(*points)[3] = NULL;
    size_t count;
    o.center[0] = 3;
    o.center[2] = -1;
    o.radial_steps = 4;
    o.angular_steps = 6;
    o.radius = 2;
    o.angle_offset = 0.25;
    const double exponents[3] = {1, 2, 0.5};
    for (int e = 0; e < 3; e++) {
        o.radial_step_exponent = exponents[e];
        assert_ok(ctx, rbli_radial_points(ctx, &o, &count, &points));
        assert_int_equal(count, 24);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 6; k++) {
                const double *p = points[6 * i + k];
                double unscaled = i == 0 ? 0.5 : pow(i + 1, exponents[e]) - 0.5;
                double radius = unscaled * 2 / (pow(4, exponents[e]) - 0.5), angle = 0.25 + k * RBLI_PI / 3;
                assert_close(p[0], 3 + radius * cos(angle), 1e-14);
                assert_close(p[1], radius * sin(angle), 1e-14);
                assert_close(p[2], -1, 0);
            }
        rbli_free(ctx, points);
    }
    finish_context(ctx);
}

static void rings_keep_their_least_step_and_points_their_variability(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_radial_options o = rbli_radial_default_options();
    double(*points)[3] = NULL;
    size_t count;
    o.normal[0] = 1, o.normal[1] = 2, o.normal[2] = -2;
    o.radial_steps = 20;
    o.angular_steps = 7;
    o.radius = 1;
    o.radial_noise = 0.3;
    o.radial_min_step = 0.02;
    o.angular_noise = 0.1;
    o.axial_variability = 0.05;
    for (uint32_t seed = 0; seed < 20; seed++) {
        o.seed = seed;
        assert_ok(ctx, rbli_radial_points(ctx, &o, &count, &points));
        double last = 0;
        for (size_t i = 0; i < 20; i++) {
            double first_radius = 0;
            for (size_t k = 0; k < 7; k++) {
                const double *p = points[7 * i + k];
                double up = (p[0] + 2 * p[1] - 2 * p[2]) / 3;
                double flat = sqrt(fmax(0, p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - up * up));
                assert_true(fabs(up) <= 0.05 + 1e-12);
                if (k == 0) first_radius = flat;
                assert_close(flat, first_radius, 1e-12); /* the noise moves a whole ring */
            }
            assert_true(first_radius - last > (i ? 0.02 : 0.01) - 1e-9);
            last = first_radius;
        }
        rbli_free(ctx, points);
    }
    o.normal[0] = o.normal[1] = o.normal[2] = 0;
    assert_int_equal(rbli_radial_points(ctx, &o, &count, &points), RBL_ERR_ARGUMENT);
    o.normal[2] = 1;
    o.radial_steps = o.angular_steps = 2000;
    assert_int_equal(rbli_radial_points(ctx, &o, &count, &points), RBL_ERR_LIMIT);
    finish_context(ctx);
}

static void frames_are_orthonormal(void **state)
{
    (void)state;
    const double z[3] = {0, 0, 1};
    double x[3], y[3];
    rbli_frame_of(z, x, y);
    assert_true(x[0] == 1 && y[1] == 1);
    for (uint64_t i = 0; i < 1000; i++) {
        rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, i);
        double n[3];
        rbli_random_direction(&rng, n);
        rbli_frame_of(n, x, y);
        double xy = 0, xn = 0, yn = 0, xx = 0, yy = 0;
        for (int k = 0; k < 3; k++) {
            xy += x[k] * y[k];
            xn += x[k] * n[k];
            yn += y[k] * n[k];
            xx += x[k] * x[k];
            yy += y[k] * y[k];
        }
        assert_true(fabs(xy) < 1e-15 && fabs(xn) < 1e-15 && fabs(yn) < 1e-15);
        assert_close(xx, 1, 1e-15);
        assert_close(yy, 1, 1e-15);
    }
}

/* ---- clusters, grid ---- */

static void clusters_lie_on_shells_around_their_centers(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double low[3] = {-1, 0, 0}, high[3] = {3, 1, 2};
    rbli_cluster_points_options o = rbli_cluster_points_default_options();
    double(*points)[3] = NULL, (*bare)[3] = NULL;
    size_t count, bare_count, clusters = 0;
    o.include_base = true;
    o.points_min = o.points_max = 12;
    o.radius_offset = 0.3;
    o.seed = 9;
    assert_ok(ctx, rbli_cluster_points_make(ctx, low, high, &o, &count, &points));
    assert_int_equal(count, 8 * 13);
    for (size_t c = 0; c < 8; c++)
        for (size_t i = 0; i < 13; i++) {
            double d = distance(points[13 * c], points[13 * c + i]);
            for (int k = 0; k < 3 && i == 0; k++)
                assert_true(low[k] <= points[13 * c][k] && points[13 * c][k] <= high[k]);
            if (i) assert_true(d >= 0.3 + 0.1 * 2 - 1e-12 && d <= 0.3 + 0.2 * 2 + 1e-12);
        }
    /* Without centres the same points; with another number of clusters the first ones stay. */
    o.include_base = false;
    assert_ok(ctx, rbli_cluster_points_make(ctx, low, high, &o, &bare_count, &bare));
    assert_int_equal(bare_count, 8 * 12);
    assert_memory_equal(bare[0], points[1], 12 * sizeof *bare);
    rbli_free(ctx, bare);
    o.clusters_min = 2;
    o.clusters_max = 5;
    o.points_min = 2;
    for (o.seed = 0; o.seed < 50; o.seed++) {
        assert_ok(ctx, rbli_cluster_points_make(ctx, low, high, &o, &bare_count, &bare));
        assert_in_range(bare_count, 4, 60);
        clusters += bare_count;
        rbli_free(ctx, bare);
    }
    assert_in_range(clusters, 50 * 15, 50 * 35); /* 3.5 × 7 on average */
    rbli_free(ctx, points);
    finish_context(ctx);
}

static void grids_are_centered_in_their_boxes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double low[3] = {0, 0, 0}, high[3] = {2, 3, 4}, still[3] = {0}, moved[3] = {0.1, 0, 0.2};
    const int64_t steps[3] = {2, 3, 4}, many[3] = {201, 1, 1}, all[3] = {200, 200, 200}, none[3] = {0, 1, 1};
    double(*points)[3] = NULL, (*shaken)[3] = NULL;
    size_t count;
    assert_ok(ctx, rbli_grid_points(ctx, low, high, steps, still, 0, &count, &points));
    assert_ok(ctx, rbli_grid_points(ctx, low, high, steps, moved, 0, &count, &shaken));
    assert_int_equal(count, 24);
    for (size_t i = 0; i < count; i++) {
        const size_t at[3] = {i % 2, i / 2 % 3, i / 6};
        for (int k = 0; k < 3; k++) {
            assert_close(points[i][k], (double)at[k] + 0.5, 1e-15);
            assert_true(fabs(shaken[i][k] - points[i][k]) <= moved[k]);
        }
    }
    assert_true(distance(points[3], shaken[3]) > 0);
    rbli_free(ctx, points);
    rbli_free(ctx, shaken);
    assert_int_equal(rbli_grid_points(ctx, low, high, many, still, 0, &count, &points), RBL_ERR_LIMIT);
    assert_int_equal(rbli_grid_points(ctx, low, high, all, still, 0, &count, &points), RBL_ERR_LIMIT);
    assert_int_equal(rbli_grid_points(ctx, low, high, none, still, 0, &count, &points), RBL_ERR_ARGUMENT);
    finish_context(ctx);
}

/* ---- spacing ---- */

static void balls_of_any_size_keep_clear(void **state)
{
    (void)state;
    enum { BALLS = 1500 };
    rbl_context *ctx = make_context(1);
    static double centers[BALLS][3], radii[BALLS];
    rbli_spacing *spacing = NULL;
    const double origin[3] = {0.5, 0, 0};
    assert_ok(ctx, rbli_spacing_create(ctx, origin, 1e-3, &spacing));
    size_t added = 0;
    for (uint64_t i = 0; i < BALLS; i++) {
        rbli_rng rng = rbli_rng_make(3, RBLI_RNG_TEST, i);
        double p[3], radius = 1e-3 * rbli_pow(100, rbli_rng_double(&rng));
        for (int k = 0; k < 3; k++)
            p[k] = rbli_rng_double(&rng) * 0.5;
        bool fits = true;
        for (size_t j = 0; j < added && fits; j++)
            fits = distance(p, centers[j]) >= radii[j] + radius;
        assert_int_equal(rbli_spacing_fits(spacing, p, radius), fits);
        if (!fits) continue;
        memcpy(centers[added], p, sizeof p);
        radii[added++] = radius;
        assert_ok(ctx, rbli_spacing_add(ctx, spacing, p, radius));
    }
    assert_true(added > 100);
    rbli_spacing_destroy(ctx, spacing);
    finish_context(ctx);
}

/* ---- surfaces and volumes ---- */

static const int32_t box_faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};

/// A box around the origin, with a box-shaped hole of `hole` times its size.
typedef struct hollow_box {
    double positions[16][3];
    int32_t triangles[24][3];
    rbli_mesh_view mesh;
} hollow_box;

static void make_hollow_box(hollow_box *b, double x, double y, double z, double hole)
{
    const double size[3] = {x, y, z};
    for (int v = 0; v < 16; v++)
        for (int k = 0; k < 3; k++)
            b->positions[v][k] = (v >> k & 1 ? 0.5 : -0.5) * size[k] * (v < 8 ? 1 : hole);
    for (int t = 0; t < 12; t++)
        for (int c = 0; c < 3; c++) {
            b->triangles[t][c] = box_faces[t][c];
            b->triangles[12 + t][c] = 8 + box_faces[t][2 - c];
        }
    b->mesh = (rbli_mesh_view){(const double(*)[3])b->positions, hole > 0 ? 16 : 8,
        (const int32_t(*)[3])b->triangles, hole > 0 ? 24 : 12};
}

static bool on_box(const double p[3], const double half[3])
{
    bool touches = false;
    for (int k = 0; k < 3; k++) {
        if (fabs(p[k]) > half[k] + 1e-12) return false;
        touches = touches || fabs(fabs(p[k]) - half[k]) < 1e-12;
    }
    return touches;
}

static void surface_points_are_on_the_surface_and_apart(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    hollow_box box;
    const double half[3] = {0.5, 1, 1.5};
    make_hollow_box(&box, 1, 2, 3, 0);
    rbli_surface_points_options o = rbli_surface_points_default_options();
    double(*points)[3] = NULL, *radii = NULL;
    size_t count, all;
    for (int d = 0; d < 4; d++) {
        o.max_radius = d == 0 ? 0 : 0.3;
        o.distribution = (rbli_radius_distribution)(d > 0 ? d - 1 : 0);
        assert_ok(ctx, rbli_surface_points(ctx, &box.mesh, &o, &count, &points, &radii));
        for (size_t i = 0; i < count; i++) {
            assert_true(on_box(points[i], half));
            assert_true(radii[i] >= 0.1 && radii[i] <= 0.3);
            if (d == 0) assert_true(radii[i] == 0.1);
            for (size_t j = 0; j < i; j++)
                assert_true(distance(points[i], points[j]) >= (radii[i] + radii[j]) * (1 - 1e-12));
        }
        /* Area 22: half of it is covered by the disks. */
        double covered = 0;
        for (size_t i = 0; i < count; i++)
            covered += RBLI_PI * radii[i] * radii[i];
        assert_true(covered > 0.4 * 22 && covered < 0.8 * 22);
        all = count;
        rbli_free(ctx, points);
        rbli_free(ctx, radii);
    }
    o.max_count = 17;
    assert_true(all > 17);
    assert_ok(ctx, rbli_surface_points(ctx, &box.mesh, &o, &count, &points, NULL));
    assert_int_equal(count, 17);
    rbli_free(ctx, points);
    o.radius = 1e-4;
    assert_int_equal(rbli_surface_points(ctx, &box.mesh, &o, &count, &points, NULL), RBL_ERR_LIMIT);
    o.radius = 0;
    assert_int_equal(rbli_surface_points(ctx, &box.mesh, &o, &count, &points, NULL), RBL_ERR_ARGUMENT);
    finish_context(ctx);
}

static void vertices_are_merged_and_thinned(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    /* A bumpy sheet of two triangles a cell; each triangle has corners of its own. */
    enum { N = 20 };
    static double positions[6 * N * N][3];
    static int32_t triangles[2 * N * N][3];
    for (int i = 0; i < 6 * N * N; i++) {
        static const int corner[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
        int cell = i / 6, x = cell % N + corner[i % 6][0], y = cell / N + corner[i % 6][1];
        positions[i][0] = x;
        positions[i][1] = y;
        positions[i][2] = x == 10 && y == 10 ? 5 : 0;
        triangles[i / 3][i % 3] = i;
    }
    rbli_mesh_view mesh = {
        (const double(*)[3])positions, 6 * N * N, (const int32_t(*)[3])triangles, 2 * N * N};
    rbli_mesh_vertices vertices = {0};
    bool keep[(N + 1) * (N + 1)];
    assert_ok(ctx, rbli_mesh_vertices_collect(ctx, &mesh, &vertices));
    assert_int_equal(vertices.count, (N + 1) * (N + 1));
    size_t sharpest = 0;
    for (size_t i = 0; i < vertices.count; i++) {
        if (vertices.sharpness[i] > vertices.sharpness[sharpest]) sharpest = i;
        if (vertices.positions[i][0] < 8) assert_close(vertices.normals[i][2], 1, 1e-15);
    }
    assert_close(vertices.positions[sharpest][2], 5, 0);
    for (int how = 0; how < 3; how++) {
        assert_ok(ctx, rbli_thin_points(ctx, (const double(*)[3])vertices.positions, vertices.sharpness,
                           vertices.count, 49, (rbli_thin)how, 1, keep));
        size_t kept = 0;
        double least = HUGE_VAL;
        for (size_t i = 0; i < vertices.count; i++) {
            kept += keep[i];
            for (size_t j = 0; j < i && keep[i]; j++)
                if (keep[j]) least = fmin(least, distance(vertices.positions[i], vertices.positions[j]));
        }
        assert_int_equal(kept, 49);
        if (how != RBLI_THIN_RANDOM) assert_true(keep[sharpest]);
        if (how == RBLI_THIN_SPACED)
            assert_true(least > 1.9); /* 441 points at distance 1; 49 fit at about 3 */
    }
    rbli_mesh_vertices_free(ctx, &vertices);
    finish_context(ctx);
}

static double least_distance(const double (*points)[3], size_t count)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            least = fmin(least, distance(points[i], points[j]));
    return least;
}

static void volume_points_are_inside_and_even(void **state)
{
    (void)state;
    hollow_box box;
    make_hollow_box(&box, 2, 2, 2, 0.9);
    double spaced = 0, loose = 0, (*first)[3] = NULL;
    for (int threads = 1; threads <= 4; threads += 3) {
        rbl_context *ctx = make_context(threads);
        double(*points)[3] = NULL;
        size_t count, missing;
        rbli_winding *winding = NULL;
        assert_ok(ctx, rbli_winding_create(ctx, &box.mesh, &winding));
        for (int32_t relax = 0; relax <= 8; relax += 8) {
            assert_ok(ctx, rbli_volume_points(ctx, &box.mesh, 100, relax, 5, &points, &count, &missing));
            assert_int_equal(count, 100);
            assert_int_equal(missing, 0);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(rbli_winding_number(winding, points[i], NULL), 1);
            *(relax ? &spaced : &loose) = least_distance((const double(*)[3])points, count);
            if (relax && !first) {
                first = malloc(count * sizeof *first);
                memcpy(first, points, count * sizeof *first);
            } else if (relax) {
                assert_memory_equal(first, points, count * sizeof *first);
            }
            rbli_free(ctx, points);
        }
        rbli_winding_destroy(ctx, winding);
        finish_context(ctx);
    }
    free(first);
    assert_true(spaced > 0.2);
    assert_true(spaced > 3 * loose);
}

static void a_mesh_without_inside_is_an_error(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    hollow_box box;
    make_hollow_box(&box, 1, 1, 0, 0);
    double(*points)[3] = NULL;
    size_t count, missing;
    assert_int_equal(
        rbli_volume_points(ctx, &box.mesh, 10, 0, 0, &points, &count, &missing), RBL_ERR_ARGUMENT);
    finish_context(ctx);
}

static void impacts_are_dense_near_and_thin_out(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    hollow_box box;
    make_hollow_box(&box, 4, 4, 4, 0);
    const double at[2][3] = {{0, 0, 0}, {2, 2, 2}};
    const double integrals[4] = {1.0 / 12, 1.0 / 30, 0, 0}; /* ∫ r²·f(1 − r) dr of linear and squared */
    rbli_impact_options o = rbli_impact_default_options();
    o.at = at;
    o.at_count = 2;
    o.count = 4000;
    o.far_count = 500;
    o.radius = 1;
    for (int f = 0; f < 4; f++) {
        double(*points)[3] = NULL;
        size_t count, missing[3], within = 0;
        o.falloff = (rbli_falloff)f;
        assert_ok(ctx, rbli_impact_points(ctx, &box.mesh, &o, &points, &count, missing));
        assert_int_equal(count, 8500);
        assert_int_equal(missing[0] + missing[1] + missing[2], 0);
        for (size_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++)
                assert_true(fabs(points[i][k]) <= 2);
            double d0 = distance(points[i], at[0]), d1 = distance(points[i], at[1]);
            assert_true(i < 4000 ? d0 <= 1 : i < 8000 ? d1 <= 1 : d0 >= 1 && d1 >= 1);
            within += i < 4000 && d0 < 0.5;
        }
        /* The part within half the radius is ∫₀^½ r²f(1 − r) dr over the whole. */
        double half[4] = {5.0 / 192, 1.0 / 60, 0, 0};
        if (integrals[f] > 0) assert_close((double)within / 4000, half[f] / integrals[f], 0.03);
        rbli_free(ctx, points);
    }
    assert_close(rbli_falloff_value(RBLI_FALLOFF_INVERSE, 0.5), 2.0 / 3, 1e-15);
    assert_close(rbli_falloff_value(RBLI_FALLOFF_LOGARITHMIC, 0.5), log2(1.5), 1e-15);
    /* An impact that fills everything: elsewhere is anywhere. One that reaches nothing: all are missing. */
    double(*points)[3] = NULL;
    size_t count, missing[3];
    o.at_count = 1;
    o.radius = 10;
    o.count = 10;
    o.far_count = 5;
    assert_ok(ctx, rbli_impact_points(ctx, &box.mesh, &o, &points, &count, missing));
    assert_int_equal(count, 15);
    rbli_free(ctx, points);
    const double away[1][3] = {{9, 9, 9}};
    o.at = away;
    o.radius = 1;
    assert_ok(ctx, rbli_impact_points(ctx, &box.mesh, &o, &points, &count, missing));
    assert_int_equal(count, 5);
    assert_int_equal(missing[0], 10);
    rbli_free(ctx, points);
    finish_context(ctx);
}

/// x of the surface point, from 0 to 1.
static double density_along_x(void *user, size_t triangle, const double weights[3])
{
    const hollow_box *box = user;
    double x = 0;
    for (int c = 0; c < 3; c++)
        x += weights[c] * box->positions[box->triangles[triangle][c]][0];
    return x / 2;
}

static void density_follows_the_surface(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    hollow_box box;
    make_hollow_box(&box, 4, 4, 0.5, 0); /* a plate: the nearest surface point is above or below */
    double(*points)[3] = NULL, mean = 0;
    size_t count, missing;
    assert_ok(ctx, rbli_density_points(ctx, &box.mesh, &box.mesh, density_along_x, &box, 1, 3000, 2, &points,
                       &count, &missing));
    assert_int_equal(count, 3000);
    assert_int_equal(missing, 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(points[i][0] > 0);
        assert_true(fabs(points[i][1]) <= 2 && fabs(points[i][2]) <= 0.25);
        mean += points[i][0] / (double)count;
    }
    assert_close(mean, 4.0 / 3, 0.05); /* of a density that rises from 0 at x = 0 to x = 2, nearly */
    rbli_free(ctx, points);
    finish_context(ctx);
}

static rbl_status make_everything(rbl_context *ctx, void *user)
{
    rbl_status status = RBL_OK;
    hollow_box *box = user;
    double(*points)[3] = NULL, *radii = NULL;
    const double at[1][3] = {{0.5, 0, 0}};
    size_t count, missing[2];
    bool keep[16];
    rbli_mesh_vertices vertices = {0};
    rbli_surface_points_options surface = rbli_surface_points_default_options();
    rbli_radial_options radial = rbli_radial_default_options();
    rbli_cluster_points_options clusters = rbli_cluster_points_default_options();
    rbli_impact_options impact = rbli_impact_default_options();
    const double low[3] = {0}, high[3] = {1, 1, 1};
    impact.at = at;
    impact.at_count = 1;
    impact.count = 5;
    surface.max_count = 40;
    RBL_TRY(rbli_radial_points(ctx, &radial, &count, &points));
    rbli_free(ctx, points);
    points = NULL;
    RBL_TRY(rbli_cluster_points_make(ctx, low, high, &clusters, &count, &points));
    rbli_free(ctx, points);
    points = NULL;
    RBL_TRY(rbli_surface_points(ctx, &box->mesh, &surface, &count, &points, &radii));
    rbli_free(ctx, points);
    rbli_free(ctx, radii);
    points = NULL;
    radii = NULL;
    RBL_TRY(rbli_volume_points(ctx, &box->mesh, 8, 2, 0, &points, &count, missing));
    rbli_free(ctx, points);
    points = NULL;
    RBL_TRY(rbli_impact_points(ctx, &box->mesh, &impact, &points, &count, missing));
    rbli_free(ctx, points);
    points = NULL;
    RBL_TRY(rbli_density_points(
        ctx, &box->mesh, &box->mesh, density_along_x, box, 1, 5, 2, &points, &count, missing));
    RBL_TRY(rbli_mesh_vertices_collect(ctx, &box->mesh, &vertices));
    RBL_TRY(rbli_thin_points(ctx, (const double(*)[3])vertices.positions, vertices.sharpness, vertices.count,
        5, RBLI_THIN_SPACED, 0, keep));
done:
    rbli_mesh_vertices_free(ctx, &vertices);
    rbli_free(ctx, points);
    rbli_free(ctx, radii);
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    hollow_box box;
    make_hollow_box(&box, 2, 1, 1, 0.5);
    assert_true(fail_each_allocation(make_everything, &box, 0) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_follow_the_formula),
        cmocka_unit_test(rings_keep_their_least_step_and_points_their_variability),
        cmocka_unit_test(frames_are_orthonormal),
        cmocka_unit_test(clusters_lie_on_shells_around_their_centers),
        cmocka_unit_test(grids_are_centered_in_their_boxes),
        cmocka_unit_test(balls_of_any_size_keep_clear),
        cmocka_unit_test(surface_points_are_on_the_surface_and_apart),
        cmocka_unit_test(vertices_are_merged_and_thinned),
        cmocka_unit_test(volume_points_are_inside_and_even),
        cmocka_unit_test(a_mesh_without_inside_is_an_error),
        cmocka_unit_test(impacts_are_dense_near_and_thin_out),
        cmocka_unit_test(density_follows_the_surface),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
