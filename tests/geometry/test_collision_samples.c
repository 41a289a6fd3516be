#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/collision_samples.h"
#include "tests/geometry/cut_help.h"

/* Samples cover the surface, keep apart, and do not depend on chance. */

static double square_distance(const double a[3], const double b[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/// Random points of the surface against all vertices and samples.
static void check_cover(
    const rbli_mesh_view *mesh, const double (*samples)[3], size_t count, double spacing, rbli_rng *rng)
{
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int round = 0; round < 40; round++) {
            double u = rbli_rng_double(rng), v = rbli_rng_double(rng), p[3], least = INFINITY;
            if (u + v > 1) u = 1 - u, v = 1 - v;
            for (int k = 0; k < 3; k++) {
                const int32_t *c = mesh->triangles[t];
                p[k] = mesh->positions[c[0]][k] * (1 - u - v) + mesh->positions[c[1]][k] * u +
                       mesh->positions[c[2]][k] * v;
            }
            for (size_t i = 0; i < mesh->vertex_count; i++)
                least = fmin(least, square_distance(p, mesh->positions[i]));
            for (size_t i = 0; i < count; i++)
                least = fmin(least, square_distance(p, samples[i]));
            assert_true(sqrt(least) <= spacing);
        }
}

static void samples_cover_the_surface_and_keep_apart(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint32_t seed = 1; seed <= 12; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 41);
        double spacing = 0.06 + 0.3 * rbli_rng_double(&rng);
        test_mesh mesh = seed % 2 ? make_box(0, 0, 0, 1, 0.5 * rbli_rng_double(&rng) + 0.01, 0.3)
                                  : make_sphere(5, 0.5, 0.1);
        if (seed % 3 == 0) /* needles */
            for (size_t v = 0; v < mesh.vertex_count; v++)
                mesh.positions[v][0] *= 30, mesh.positions[v][1] *= 0.01;
        rbli_mesh_view view = view_of(&mesh);
        double(*samples)[3] = NULL, (*again)[3] = NULL;
        size_t count, count_again;
        assert_ok(ctx, rbli_collision_samples(ctx, &view, spacing, 100000, &samples, &count));
        assert_ok(ctx, rbli_collision_samples(ctx, &view, spacing, 100000, &again, &count_again));
        assert_int_equal(count, count_again);
        assert_memory_equal(samples, again, count * sizeof *samples);
        check_cover(&view, (const double(*)[3])samples, count, spacing, &rng);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < i; j++)
                assert_true(sqrt(square_distance(samples[i], samples[j])) > 0.5 * spacing * (1 - 1e-12));
        if (count > 3) {
            double(*few)[3] = NULL;
            size_t few_count;
            assert_int_equal(
                rbli_collision_samples(ctx, &view, spacing, count - 1, &few, &few_count), RBL_ERR_LIMIT);
            assert_null(few);
        }
        rbli_free(ctx, samples);
        rbli_free(ctx, again);
        free_mesh(&mesh);
    }
    finish_context(ctx);
}

static void dense_meshes_need_no_samples(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_sphere(20, 0.5, 0);
    rbli_mesh_view view = view_of(&mesh);
    double(*samples)[3] = NULL;
    size_t count;
    assert_ok(ctx, rbli_collision_samples(ctx, &view, 0.5, 10, &samples, &count));
    assert_int_equal(count, 0);
    rbli_free(ctx, samples);
    free_mesh(&mesh);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_cover_the_surface_and_keep_apart),
        cmocka_unit_test(dense_meshes_need_no_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
