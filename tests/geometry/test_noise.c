#include "fracture/geometry/noise_complex.h"

#include "fracture/geometry/brick_complex.h"
#include "fracture/geometry/complex_edit.h"
#include "fracture/geometry/complex_erode.h"
#include "fracture/geometry/embedding.h"
#include "fracture/geometry/facet_mesh.h"
#include "fracture/geometry/orient.h"
#include "tests/geometry/cut_help.h"

/* Noise: the function; rough complexes are closed, embedded by an oracle of all pairs, and fill the box; cuts
 * by them are closed and volumes add up. */

static const double unit_min[3] = {0, 0, 0}, unit_max[3] = {1, 1, 1};

static void noise_is_bounded_smooth_and_the_same_again(void **state)
{
    (void)state;
    rbli_noise n = rbli_noise_default();
    n.amplitude = 2;
    n.seed = 5;
    assert_close(rbli_noise_bound(&n), 3.75, 1e-15);
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 8);
    double square = 0, cross = 0;
    enum { COUNT = 20000 };
    for (int i = 0; i < COUNT; i++) {
        double p[3], q[3], u[3], v[3], again[3];
        for (int k = 0; k < 3; k++) {
            p[k] = 200 * rbli_rng_double(&rng) - 100;
            q[k] = p[k] + 1e-7;
        }
        rbli_noise_at(&n, p, u);
        rbli_noise_at(&n, q, v);
        rbli_noise_at(&n, p, again);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(u[k]) <= 3.75);
            assert_true(fabs(u[k] - v[k]) < 1e-4);
            assert_true(u[k] == again[k]);
        }
        square += u[0] * u[0];
        cross += u[0] * u[1];
    }
    assert_close(sqrt(square / COUNT), 2 * 0.31, 0.05);
    assert_true(fabs(cross / square) < 0.05); /* channels are independent */
}

static void facets_are_triangulated_without_a_gap(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint32_t seed = 1; seed <= 40; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 1);
        double points[200][2];
        size_t border = 12, count = border + 1 + rbli_rng_below(&rng, 150);
        for (size_t i = 0; i < border; i++) { /* a square with three points on each side */
            double t = (double)(i % 3) / 3;
            size_t side = i / 3;
            points[i][0] = side == 0 ? t : side == 1 ? 1 : side == 2 ? 1 - t : 0;
            points[i][1] = side == 0 ? 0 : side == 1 ? t : side == 2 ? 1 : 1 - t;
        }
        for (size_t i = border; i < count; i++)
            for (int k = 0; k < 2; k++) /* on a lattice too: points on edges and the same circles */
                points[i][k] = seed % 2 ? 0.05 + 0.9 * rbli_rng_double(&rng)
                                        : (double)(1 + ((i - border) * (k ? 1 : 14) / 14) % 14) / 16;
        if (seed % 2 == 0 && count > border + 150) count = border + 150;
        if (seed % 2 == 0)
            for (size_t i = border; i < count; i++) {
                points[i][0] = (double)(1 + (i - border) % 14) / 16;
                points[i][1] = (double)(1 + (i - border) / 14) / 16;
            }
        rbli_facet_mesh mesh = {0};
        assert_ok(ctx, rbli_facet_mesh_make(ctx, &mesh, (const double(*)[2])points, border, count));
        assert_int_equal(mesh.triangles.count, 2 * (count - border) + border - 2);
        double area = 0;
        for (size_t t = 0; t < mesh.triangles.count; t++) {
            const int32_t *v = mesh.triangles.data[t].v;
            double one = (points[v[1]][0] - points[v[0]][0]) * (points[v[2]][1] - points[v[0]][1]) -
                         (points[v[1]][1] - points[v[0]][1]) * (points[v[2]][0] - points[v[0]][0]);
            assert_true(one > 0);
            area += one / 2;
        }
        assert_close(area, 1, 1e-12);
        rbli_facet_mesh_free(ctx, &mesh);
    }
    finish_context(ctx);
}

/// Every pair of triangles of each cell, and for gaps of different cells, on the cut's grid.
static size_t count_crossings(const rbli_cell_complex *k)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double(*points)[3] = malloc(k->vertex_count * sizeof *points);
    size_t crossings = 0;
    for (size_t v = 0; v < k->vertex_count; v++)
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], k->vertices[v][a]);
            high[a] = fmax(high[a], k->vertices[v][a]);
        }
    rbli_grid grid = rbli_grid_make(low, high);
    for (size_t v = 0; v < k->vertex_count; v++)
        rbli_grid_snap(&grid, k->vertices[v], points[v]);
    for (size_t f = 0; f < k->facet_count; f++) {
        if (k->facet_start[f + 1] - k->facet_start[f] != 3) continue;
        for (size_t g = f + 1; g < k->facet_count; g++) {
            if (k->facet_start[g + 1] - k->facet_start[g] != 3) continue;
            /* flat neighbours on one plane are not crossings */
            bool flat = memcmp(k->facet_normal[f], k->facet_normal[g], sizeof k->facet_normal[f]) == 0;
            int32_t a[3], b[3];
            int common = -2;
            for (int s = 0; s < 2; s++)
                for (int t = 0; t < 2; t++)
                    if (k->facet_cells[f][s] >= 0 && k->facet_cells[f][s] == k->facet_cells[g][t]) {
                        common = k->facet_cells[f][s];
                        for (int i = 0; i < 3; i++) {
                            a[i] = k->facet_vertices[k->facet_start[f] + (s ? 2 - i : i)];
                            b[i] = k->facet_vertices[k->facet_start[g] + (t ? 2 - i : i)];
                        }
                    }
            if (common < 0) continue;
            bool apart = false;
            for (int axis = 0; axis < 3 && !apart; axis++) {
                double a_low = INFINITY, a_high = -INFINITY, b_low = INFINITY, b_high = -INFINITY;
                for (int i = 0; i < 3; i++) {
                    a_low = fmin(a_low, points[a[i]][axis]);
                    a_high = fmax(a_high, points[a[i]][axis]);
                    b_low = fmin(b_low, points[b[i]][axis]);
                    b_high = fmax(b_high, points[b[i]][axis]);
                }
                apart = a_high < b_low || b_high < a_low;
            }
            if (apart || !rbli_triangles_cross((const double(*)[3])points, a, b)) continue;
            double n[3], u[3], v[3], height = 0; /* both undisplaced in one plane: neighbours */
            for (int axis = 0; axis < 3; axis++) {
                u[axis] = points[a[1]][axis] - points[a[0]][axis];
                v[axis] = points[a[2]][axis] - points[a[0]][axis];
            }
            for (int axis = 0; axis < 3; axis++)
                n[axis] = u[(axis + 1) % 3] * v[(axis + 2) % 3] - u[(axis + 2) % 3] * v[(axis + 1) % 3];
            double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            for (int i = 0; i < 3; i++) {
                double h = 0;
                for (int axis = 0; axis < 3; axis++)
                    h += n[axis] / length * (points[b[i]][axis] - points[a[0]][axis]);
                height = fmax(height, fabs(h));
            }
            if (flat && height < 0x1p10) continue;
            crossings++;
        }
    }
    free(points);
    return crossings;
}

typedef enum kind { VORONOI, PLANES, SLAB, LATTICE, BRICKS, FLEMISH, KIND_COUNT } kind;

static rbli_cell_complex *make_kind(rbl_context *ctx, kind what, uint32_t seed, size_t count)
{
    rbli_cell_complex *k = NULL;
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, (uint64_t)what);
    double sites[400][3], planes[12][4];
    const double low[3] = {0.1, 0.1, 0.1}, high[3] = {0.9, 0.9, 0.9};
    switch (what) {
    case VORONOI:
    case LATTICE:
        for (size_t i = 0; i < count; i++)
            for (int a = 0; a < 3; a++)
                sites[i][a] = what == VORONOI ? rbli_rng_double(&rng) : ((i >> a & 1) + 0.5) / 2;
        assert_ok(ctx, rbli_voronoi_complex(ctx, (const double(*)[3])sites, what == LATTICE ? 8 : count,
                           unit_min, unit_max, NULL, NULL, &k));
        break;
    case PLANES:
    case SLAB:
        for (int i = 0; i < 5; i++) {
            planes[i][3] = 0;
            for (int a = 0; a < 3; a++) {
                planes[i][a] = what == SLAB ? a == 0 : 2 * rbli_rng_double(&rng) - 1;
                planes[i][3] += planes[i][a] * (what == SLAB ? 0.5 + 0.004 * i : rbli_rng_double(&rng));
            }
        }
        assert_ok(ctx, rbli_plane_complex(ctx, (const double(*)[4])planes, 5, unit_min, unit_max, NULL, &k));
        break;
    default: {
        rbli_brick_options o = rbli_brick_default_options();
        rbli_brick *bricks = NULL;
        size_t n;
        o.bond = what == FLEMISH ? RBLI_BOND_FLEMISH : RBLI_BOND_STRETCHER;
        o.length = 0.4;
        o.height = 0.25;
        o.depth = 0.15;
        assert_ok(ctx, rbli_brick_layout(ctx, &o, low, high, NULL, &bricks, &n));
        assert_ok(ctx, rbli_box_complex(ctx, bricks, n, low, high, unit_min, unit_max, &k));
        rbli_free(ctx, bricks);
    }
    }
    return k;
}

static rbli_cell_complex *roughen(rbl_context *ctx, const rbli_cell_complex *k, const test_mesh *mesh,
    double amplitude, double spacing, double gap, uint32_t seed, rbli_noise_report *report)
{
    rbli_noise_options o = rbli_noise_default_options();
    rbli_mesh_view view = view_of(mesh);
    rbli_cell_complex *rough = NULL;
    o.noise.amplitude = amplitude;
    o.noise.frequency = 0.25 / spacing;
    o.noise.seed = seed;
    o.point_spacing = spacing;
    o.gap = gap;
    assert_ok(ctx, rbli_noise_complex(ctx, k, &o, &view, 1, report, &rough));
    assert_ok(ctx, rbli_cell_complex_check(ctx, rough));
    assert_false(rough->convex);
    assert_int_equal(rough->cell_count, k->cell_count);
    double *volumes = malloc(rough->cell_count * sizeof *volumes), sum = 0;
    assert_ok(ctx, rbli_complex_moments(ctx, rough, NULL, volumes));
    for (size_t c = 0; c < rough->cell_count; c++) {
        assert_true(volumes[c] > 0);
        sum += volumes[c];
    }
    assert_close(sum, 1, 1e-12);
    free(volumes);
    return rough;
}

static void rough_complexes_are_embedded(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    test_mesh mesh = make_box(0.2, 0.2, 0.2, 0.8, 0.8, 0.8);
    for (int what = 0; what < KIND_COUNT; what++)
        for (uint32_t seed = 1; seed <= 3; seed++)
            for (int gaps = 0; gaps < 3; gaps++) {
                double amplitude = seed == 1 ? 0.01 : seed == 2 ? 0.05 : 0.1;
                double gap = gaps == 0 ? 0 : gaps == 1 ? 0.02 : 0.001;
                rbli_noise_report report;
                rbli_cell_complex *k = make_kind(ctx, (kind)what, seed, 12);
                if (gap > 0) {
                    rbli_cell_complex *eroded = NULL;
                    assert_ok(ctx, rbli_complex_erode(ctx, k, gap / 2, NULL, &eroded));
                    rbli_cell_complex_destroy(ctx, k);
                    k = eroded;
                }
                rbli_cell_complex *rough = roughen(ctx, k, &mesh, amplitude, 0.12, gap, seed, &report);
                size_t crossings = count_crossings(rough);
                if (crossings || report.moved_count == 0)
                    print_error("kind %d seed %u gap %g: %zu crossings, %zu moved\n", what, seed, gap,
                        crossings, report.moved_count);
                assert_int_equal(crossings, 0);
                if (k->cell_count > 1 + k->outside_cell_count) assert_true(report.moved_count > 0);
                rbli_cell_complex_destroy(ctx, rough);
                rbli_cell_complex_destroy(ctx, k);
            }
    free_mesh(&mesh);
    finish_context(ctx);
}

/// At 2 % of the object, with the default frequency and with its double; counts of points and seeds are chosen for time.
static void less_than_a_hundredth_is_reduced_at_two_percent(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    test_mesh mesh = make_box(0.06, 0.06, 0.06, 0.94, 0.94, 0.94);
    rbli_mesh_view view = view_of(&mesh);
    static const double settings[][2] = {{0.1, 2.5}, {0.05, 2.5}, {0.05, 5}, {0.025, 5}};
    for (size_t cells = 20; cells <= 100; cells *= 5)
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            size_t reduced = 0, moved = 0;
            for (uint32_t seed = 1; seed <= 3; seed++) {
                rbli_cell_complex *k = make_kind(ctx, VORONOI, seed, cells), *rough = NULL;
                rbli_noise_options o = rbli_noise_default_options();
                rbli_noise_report report;
                o.noise.amplitude = 0.02;
                o.noise.frequency = settings[i][1];
                o.noise.seed = seed;
                o.point_spacing = settings[i][0];
                assert_ok(ctx, rbli_noise_complex(ctx, k, &o, &view, 1, &report, &rough));
                reduced += report.reduced_count;
                moved += report.moved_count;
                rbli_cell_complex_destroy(ctx, rough);
                rbli_cell_complex_destroy(ctx, k);
            }
            print_message("%zu cells, spacing %g, frequency %g: %zu of %zu reduced\n", cells, settings[i][0],
                settings[i][1], reduced, moved);
            assert_true(moved > 500 && reduced * 100 < moved);
        }
    free_mesh(&mesh);
    finish_context(ctx);
}

static void few_points_are_reduced_at_small_amplitude(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    test_mesh mesh = make_box(0.05, 0.05, 0.05, 0.95, 0.95, 0.95);
    rbli_cell_complex *k = make_kind(ctx, VORONOI, 4, 100);
    rbli_noise_report report;
    rbli_cell_complex *rough = roughen(ctx, k, &mesh, 0.01, 0.02, 0, 4, &report);
    print_message("%zu of %zu reduced\n", report.reduced_count, report.moved_count);
    assert_true(report.moved_count > 5000);
    assert_true(report.reduced_count * 50 < report.moved_count);
    rbli_cell_complex_destroy(ctx, rough);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void zero_displacement_leaves_the_surfaces_flat(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0.2, 0.2, 0.2, 0.8, 0.8, 0.8);
    rbli_cell_complex *k = make_kind(ctx, VORONOI, 7, 20);
    rbli_noise_report report;
    rbli_cell_complex *rough = roughen(ctx, k, &mesh, 0, 0.1, 0, 1, &report);
    assert_int_equal(report.moved_count, 0);
    double *before = malloc(k->cell_count * sizeof *before), *after = malloc(k->cell_count * sizeof *after);
    assert_ok(ctx, rbli_complex_moments(ctx, k, NULL, before));
    assert_ok(ctx, rbli_complex_moments(ctx, rough, NULL, after));
    for (size_t c = 0; c < k->cell_count; c++)
        assert_close(before[c], after[c], 1e-13);
    free(before);
    free(after);
    rbli_cell_complex_destroy(ctx, rough);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void nothing_moves_away_from_the_mesh(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0.1, 0.1, 0.1, 0.2, 0.2, 0.2);
    rbli_cell_complex *k = make_kind(ctx, PLANES, 3, 0);
    rbli_noise_report report;
    rbli_cell_complex *rough = roughen(ctx, k, &mesh, 0.01, 0.02, 0, 1, &report);
    for (size_t v = 0; v < k->vertex_count; v++) { /* the planar vertices come first */
        bool same = memcmp(k->vertices[v], rough->vertices[v], sizeof *k->vertices) == 0, far = false;
        for (int a = 0; a < 3; a++)
            far |= k->vertices[v][a] > 0.3;
        assert_true(same || !far);
    }
    rbli_cell_complex_destroy(ctx, rough);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void too_many_points_make_the_spacing_grow(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0.1, 0.1, 0.1, 0.9, 0.9, 0.9);
    rbli_cell_complex *k = make_kind(ctx, PLANES, 3, 0), *rough = NULL;
    rbli_noise_options o = rbli_noise_default_options();
    rbli_mesh_view view = view_of(&mesh);
    rbli_noise_report report;
    o.noise.amplitude = 1e-4;
    o.point_spacing = 1e-6;
    o.most_vertices = 20000;
    assert_ok(ctx, rbli_noise_complex(ctx, k, &o, &view, 1, &report, &rough));
    assert_true(report.spacing > 1e-3);
    assert_true(rough->vertex_count < 30000 && rough->vertex_count > 5000);
    rbli_cell_complex_destroy(ctx, rough);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void cuts_by_rough_complexes_are_closed_and_complete(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    for (int what = 0; what < KIND_COUNT; what++)
        for (int shape = 0; shape < 2; shape++)
            for (int gaps = 0; gaps < 2; gaps++) {
                uint32_t seed = (uint32_t)(10 * what + shape);
                test_mesh mesh =
                    shape ? make_sphere(10, 0.33, 0.1) : make_box(-0.3, -0.3, -0.3, 0.3, 0.3, 0.3);
                for (size_t v = 0; v < mesh.vertex_count; v++)
                    for (int a = 0; a < 3; a++)
                        mesh.positions[v][a] += 0.5;
                double volume = mesh_volume((const double(*)[3])mesh.positions,
                    (const int32_t(*)[3])mesh.triangles, mesh.triangle_count, NULL);
                rbli_cell_complex *k = make_kind(ctx, (kind)what, seed, 15);
                if (gaps) {
                    rbli_cell_complex *eroded = NULL;
                    assert_ok(ctx, rbli_complex_erode(ctx, k, 0.005, NULL, &eroded));
                    rbli_cell_complex_destroy(ctx, k);
                    k = eroded;
                }
                rbli_noise_report report;
                rbli_cell_complex *rough = roughen(ctx, k, &mesh, 0.03, 0.06, gaps ? 0.01 : 0, seed, &report);
                rbli_mesh_view view = view_of(&mesh);
                rbli_cut_options options = {.split_islands = true};
                rbli_cut_result *r = NULL;
                rbl_status status = rbli_cut(ctx, &view, rough, &options, &r);
                if (status != RBL_OK) print_error("kind %d shape %d gaps %d\n", what, shape, gaps);
                assert_ok(ctx, status);
                double sum = 0;
                for (size_t p = 0; p < r->piece_count; p++) {
                    int32_t first = r->triangle_start[p];
                    assert_null(closed_fault((const int32_t(*)[3])r->triangles + first,
                        (size_t)(r->triangle_start[p + 1] - first)));
                    sum += r->piece_volume[p];
                }
                assert_close(sum / volume, 1, 1e-11);
                rbli_cut_result_destroy(ctx, r);
                rbli_cell_complex_destroy(ctx, rough);
                rbli_cell_complex_destroy(ctx, k);
                free_mesh(&mesh);
            }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_bounded_smooth_and_the_same_again),
        cmocka_unit_test(facets_are_triangulated_without_a_gap),
        cmocka_unit_test(rough_complexes_are_embedded),
        cmocka_unit_test(less_than_a_hundredth_is_reduced_at_two_percent),
        cmocka_unit_test(few_points_are_reduced_at_small_amplitude),
        cmocka_unit_test(zero_displacement_leaves_the_surfaces_flat),
        cmocka_unit_test(nothing_moves_away_from_the_mesh),
        cmocka_unit_test(too_many_points_make_the_spacing_grow),
        cmocka_unit_test(cuts_by_rough_complexes_are_closed_and_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
