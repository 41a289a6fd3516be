#include "tests/check.h"

#include <math.h>

#include "fracture/geometry/primitive.h"

static void check(
    rbl_context *ctx, rbli_primitive_shape shape, int32_t segments, double volume, double within)
{
    const double size[3] = {2, 3, 0.5};
    rbli_primitive p;
    assert_ok(ctx, rbli_primitive_make(ctx, shape, size, segments, &p));
    double sum = 0, low[3] = {9, 9, 9}, high[3] = {-9, -9, -9};
    for (size_t v = 0; v < p.vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], p.positions[v][k]);
            high[k] = fmax(high[k], p.positions[v][k]);
        }
    for (int k = 0; k < 3; k++) {
        assert_close(low[k], -size[k] / 2, 0.05);
        assert_close(high[k], size[k] / 2, 0.05);
    }
    /* Euler's formula of a ball, and each directed edge once with its reverse. */
    assert_int_equal(p.vertex_count, p.triangle_count / 2 + 2);
    char *seen = calloc(p.vertex_count * p.vertex_count, 1);
    for (size_t t = 0; t < p.triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            char *edge =
                &seen[(size_t)p.triangles[t][k] * p.vertex_count + (size_t)p.triangles[t][(k + 1) % 3]];
            assert_int_equal(*edge, 0);
            *edge = 1;
        }
    for (size_t i = 0; i < p.vertex_count; i++)
        for (size_t j = 0; j < p.vertex_count; j++)
            assert_int_equal(seen[i * p.vertex_count + j], seen[j * p.vertex_count + i]);
    free(seen);
    for (size_t t = 0; t < p.triangle_count; t++) {
        const double *a = p.positions[p.triangles[t][0]], *b = p.positions[p.triangles[t][1]],
                     *c = p.positions[p.triangles[t][2]];
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++)
            u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        double six = n[0] * a[0] + n[1] * a[1] + n[2] * a[2],
               length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        assert_true(six > 0);
        sum += six / 6;
        for (size_t k = 3 * t; k < 3 * t + 3; k++) {
            double dot = 0, unit = 0;
            for (int i = 0; i < 3; i++) {
                dot += n[i] / length * p.normals[k][i];
                unit += (double)p.normals[k][i] * p.normals[k][i];
            }
            assert_close(unit, 1, 1e-6);
            assert_true(dot > 0.7);
            assert_true(p.uvs[k][0] >= 0 && p.uvs[k][0] <= 1 && p.uvs[k][1] >= 0 && p.uvs[k][1] <= 1);
        }
    }
    assert_close(sum, volume, within * volume);
    rbli_primitive_free(ctx, &p);
}

static void shapes_are_closed_and_outward(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    check(ctx, RBLI_PRIMITIVE_BOX, 32, 3, 1e-12);
    check(ctx, RBLI_PRIMITIVE_PLANE_SLAB, 9, 3, 1e-12);
    check(ctx, RBLI_PRIMITIVE_SPHERE, 32, 3 * 3.14159265358979 / 6, 0.02);
    check(ctx, RBLI_PRIMITIVE_CYLINDER, 32, 3 * 3.14159265358979 / 4, 0.01);
    finish_context(ctx);
}

static void bad_sizes_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_primitive p;
    double flat[3] = {1, 0, 1}, good[3] = {1, 1, 1};
    assert_int_equal(rbli_primitive_make(ctx, RBLI_PRIMITIVE_BOX, flat, 8, &p), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_primitive_make(ctx, RBLI_PRIMITIVE_SPHERE, good, 2, &p), RBL_ERR_ARGUMENT);
    for (int32_t n = 3; n < 7; n++)
        for (int s = 0; s < 4; s++) {
            assert_ok(ctx, rbli_primitive_make(ctx, (rbli_primitive_shape)s, good, n, &p));
            assert_int_equal(p.vertex_count, p.triangle_count / 2 + 2);
            rbli_primitive_free(ctx, &p);
        }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_closed_and_outward),
        cmocka_unit_test(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
