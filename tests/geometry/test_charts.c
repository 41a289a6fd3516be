#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/charts.h"
#include "fracture/geometry/face_graph.h"
#include "tests/geometry/cut_help.h"

/* Charts do not overlap themselves and keep areas; rectangles keep their distance. Overlaps are found here by
   clipping polygons, all pairs. */

/// The area that two triangles have in common (Sutherland and Hodgman 1974).
static double common_area(const double (*a)[2], const double (*b)[2])
{
    double poly[16][2], next[16][2];
    int count = 3;
    memcpy(poly, a, 3 * sizeof *poly);
    double turn = (b[1][0] - b[0][0]) * (b[2][1] - b[0][1]) - (b[2][0] - b[0][0]) * (b[1][1] - b[0][1]);
    for (int side = 0; side < 3 && count > 0; side++) {
        const double *p = b[side], *q = b[(side + 1) % 3];
        int kept = 0;
        for (int i = 0; i < count; i++) {
            const double *x = poly[i], *y = poly[(i + 1) % count];
            double hx = (q[0] - p[0]) * (x[1] - p[1]) - (q[1] - p[1]) * (x[0] - p[0]);
            double hy = (q[0] - p[0]) * (y[1] - p[1]) - (q[1] - p[1]) * (y[0] - p[0]);
            if (turn < 0) hx = -hx, hy = -hy;
            if (hx >= 0) memcpy(next[kept++], x, sizeof *next);
            if ((hx > 0 && hy < 0) || (hx < 0 && hy > 0)) {
                for (int k = 0; k < 2; k++)
                    next[kept][k] = x[k] + hx / (hx - hy) * (y[k] - x[k]);
                kept++;
            }
        }
        memcpy(poly, next, sizeof poly);
        count = kept;
    }
    double area = 0;
    for (int i = 0; i < count; i++)
        area += poly[i][0] * poly[(i + 1) % count][1] - poly[(i + 1) % count][0] * poly[i][1];
    return fabs(area) / 2;
}

static double triangle_area(const double a[3], const double b[3], const double c[3])
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double n = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
        square += n * n;
    }
    return sqrt(square) / 2;
}

/// Makes the charts of a mesh and checks all that is promised. @return their number
static size_t check_charts(rbl_context *ctx, const test_mesh *mesh, const int32_t *plane, const bool *chosen)
{
    rbli_mesh_view view = view_of(mesh);
    rbli_charts charts = {0};
    int32_t *opposite = NULL;
    size_t n = mesh->triangle_count;
    assert_ok(ctx, rbli_face_graph(ctx, view.triangles, n, 0, mesh->vertex_count, &opposite));
    assert_ok(ctx, rbli_make_charts(ctx, &view, opposite, plane, chosen, &charts));
    double *full = calloc(charts.count, sizeof *full), *flat = calloc(charts.count, sizeof *flat);
    for (size_t t = 0; t < n; t++) {
        int32_t c = charts.chart[t];
        assert_true(chosen && !chosen[t] ? c == -1 : c >= 0 && (size_t)c < charts.count);
        if (c < 0) continue;
        const double(*p)[2] = (const double(*)[2])charts.place + 3 * t;
        double area =
            ((p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1])) / 2;
        double real = triangle_area(mesh->positions[mesh->triangles[t][0]],
            mesh->positions[mesh->triangles[t][1]], mesh->positions[mesh->triangles[t][2]]);
        assert_true(area > -1e-9);
        if (real > 1e-4) assert_true(area > real / 1.4143 && area < real * 1.4143);
        full[c] += real;
        flat[c] += area;
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 2; a++)
                assert_true(p[k][a] >= 0 && p[k][a] <= charts.size[c][a]);
        for (size_t s = 0; s < t; s++)
            if (charts.chart[s] == c)
                assert_true(common_area(p, (const double(*)[2])charts.place + 3 * s) <
                            1e-5 * charts.size[c][0] * charts.size[c][0]);
        if (plane)
            for (size_t s = 0; s < t; s++)
                if (charts.chart[s] == c) assert_int_equal(plane[s], plane[t]);
    }
    for (size_t c = 0; c < charts.count; c++) {
        assert_close(flat[c], full[c], 1e-9);
        assert_true(charts.size[c][0] >= charts.size[c][1]);
    }
    size_t count = charts.count;
    free(full);
    free(flat);
    rbli_charts_free(ctx, &charts);
    rbli_free(ctx, opposite);
    return count;
}

static void boxes_have_six_charts(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0, 0, 0, 3, 2, 1);
    bool chosen[12];
    int32_t plane[12];
    assert_int_equal(check_charts(ctx, &mesh, NULL, NULL), 6);
    for (int i = 0; i < 12; i++) {
        chosen[i] = i < 2;
        plane[i] = i;
    }
    assert_true(check_charts(ctx, &mesh, NULL, chosen) <= 2);
    assert_int_equal(check_charts(ctx, &mesh, plane, NULL), 12);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void curved_surfaces_do_not_overlap(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh balls[4] = {
        make_sphere(9, 1, 0), make_sphere(12, 1, 0.3), make_torus(20, 12, 2, 0.7), make_torus(9, 9, 1, 0.9)};
    for (int i = 0; i < 4; i++) {
        size_t count = check_charts(ctx, &balls[i], NULL, NULL);
        assert_true(count >= 6 && count < balls[i].triangle_count / 4);
        free_mesh(&balls[i]);
    }
    finish_context(ctx);
}

/// A ramp that winds up around the z axis so many times: each turn lies over the one before.
static test_mesh make_ramp(int turns)
{
    test_mesh mesh = {0};
    enum { STEPS = 12 };
    static const double cosine[STEPS] = {
        1, 0.8660254, 0.5, 0, -0.5, -0.8660254, -1, -0.8660254, -0.5, 0, 0.5, 0.8660254};
    for (int i = 0; i <= turns * STEPS; i++)
        for (int r = 1; r <= 2; r++)
            mesh_vertex(&mesh, r * cosine[i % STEPS], r * cosine[(i + 9) % STEPS], 0.05 * i);
    for (int i = 0; i < turns * STEPS; i++) {
        int32_t v = 2 * i;
        mesh_triangle(&mesh, v, v + 1, v + 3);
        mesh_triangle(&mesh, v, v + 3, v + 2);
    }
    return mesh;
}

static void winding_ramps_are_divided(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int turns = 1; turns <= 4; turns++) {
        test_mesh mesh = make_ramp(turns);
        size_t count = check_charts(ctx, &mesh, NULL, NULL);
        assert_true(count >= (size_t)turns && count <= 4 * (size_t)turns);
        free_mesh(&mesh);
    }
    finish_context(ctx);
}

static void slivers_go_with_their_neighbours(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0, 0, 0, 1, 1, 1);
    for (size_t t = 0; t < 12; t++) { /* a vertex in the middle of each first side, and a sliver along it */
        int32_t a = mesh.triangles[t][0], b = mesh.triangles[t][1], c = mesh.triangles[t][2];
        int32_t m = mesh_vertex(&mesh, (mesh.positions[a][0] + mesh.positions[b][0]) / 2,
            (mesh.positions[a][1] + mesh.positions[b][1]) / 2,
            (mesh.positions[a][2] + mesh.positions[b][2]) / 2 + (t % 2 ? 1e-17 : 0));
        mesh.triangles[t][1] = m;
        mesh_triangle(&mesh, m, b, c);
        mesh_triangle(&mesh, a, b, m);
    }
    size_t count = check_charts(ctx, &mesh, NULL, NULL);
    assert_true(count >= 6 && count <= 12);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void rectangles_keep_their_distance(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint32_t seed = 1; seed <= 20; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 5);
        size_t count = 1 + rbli_rng_below(&rng, 300);
        double(*sizes)[2] = malloc(count * sizeof *sizes), (*at)[2] = malloc(count * sizeof *at), scale;
        double gutter = seed % 4, area = 0;
        for (size_t i = 0; i < count; i++) {
            sizes[i][0] = rbli_rng_double(&rng) * (seed % 3 ? 1 : 50);
            sizes[i][1] = sizes[i][0] * rbli_rng_double(&rng);
        }
        assert_ok(ctx, rbli_pack_rectangles(ctx, (const double(*)[2])sizes, count, 256, gutter, at, &scale));
        assert_true(scale > 0);
        for (size_t i = 0; i < count; i++) {
            area += sizes[i][0] * sizes[i][1] * scale * scale / 256 / 256;
            for (int k = 0; k < 2; k++)
                assert_true(at[i][k] >= gutter / 2 - 1e-9 &&
                            at[i][k] + sizes[i][k] * scale <= 256 - gutter / 2 + 1e-9);
            for (size_t j = 0; j < i; j++) {
                double apart = -INFINITY;
                for (int k = 0; k < 2; k++)
                    apart = fmax(apart, fmax(at[i][k] - at[j][k] - sizes[j][k] * scale,
                                            at[j][k] - at[i][k] - sizes[i][k] * scale));
                assert_true(apart >= gutter - 1e-9);
            }
        }
        if (count > 100 && gutter == 0) assert_true(area > 0.75);
        free(sizes);
        free(at);
    }
    const double points[100][2] = {{0}};
    double at[100][2], scale = 1;
    assert_int_equal(rbli_pack_rectangles(ctx, points, 100, 20, 2, at, &scale), RBL_OK);
    assert_true(scale == 0);
    assert_int_equal(rbli_pack_rectangles(ctx, points, 100, 19, 2, at, &scale), RBL_ERR_LIMIT);
    assert_int_equal(rbli_pack_rectangles(ctx, points, 0, 19, 2, at, &scale), RBL_OK);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_have_six_charts),
        cmocka_unit_test(curved_surfaces_do_not_overlap),
        cmocka_unit_test(winding_ramps_are_divided),
        cmocka_unit_test(slivers_go_with_their_neighbours),
        cmocka_unit_test(rectangles_keep_their_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
