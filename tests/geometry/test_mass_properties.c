#include "fracture/geometry/mass_properties.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/primitive.h"
#include "tests/check.h"

static const int32_t box_faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};

static void make_box(const double low[3], const double high[3], double out[8][3])
{
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = (i >> k & 1) ? high[k] : low[k];
}

static void boxes_are_exact(void **state)
{
    (void)state;
    double points[8][3], diagonal[3], products[3];
    make_box((double[3]){1, 2, 3}, (double[3]){3, 5, 9}, points);
    rbli_mass body = rbli_mass_of_mesh((const double(*)[3])points, box_faces, 12);
    assert_close(body.mass, 36, 1e-12);
    assert_close(body.center[0], 2, 1e-14);
    assert_close(body.center[1], 3.5, 1e-14);
    assert_close(body.center[2], 6, 1e-14);
    rbli_mass_inertia(&body, diagonal, products);
    assert_close(diagonal[0], 36. / 12 * (9 + 36), 1e-11);
    assert_close(diagonal[1], 36. / 12 * (4 + 36), 1e-11);
    assert_close(diagonal[2], 36. / 12 * (4 + 9), 1e-11);
    for (int k = 0; k < 3; k++)
        assert_close(products[k], 0, 1e-11);
}

static void far_from_the_origin_loses_nothing(void **state)
{
    (void)state;
    double points[8][3];
    make_box((double[3]){1e6, 1e6, -1e6}, (double[3]){1e6 + 1, 1e6 + 1, 1 - 1e6}, points);
    rbli_mass body = rbli_mass_of_mesh((const double(*)[3])points, box_faces, 12);
    assert_close(body.mass, 1, 1e-12);
    for (int i = 0; i < 3; i++)
        assert_close(body.moments[i], 1. / 12, 1e-12);
}

static void a_fine_sphere_is_nearly_a_ball(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_primitive sphere;
    double diagonal[3], products[3], size[3] = {2, 2, 2};
    assert_ok(ctx, rbli_primitive_make(ctx, RBLI_PRIMITIVE_SPHERE, size, 128, &sphere));
    rbli_mass body = rbli_mass_of_mesh(
        (const double(*)[3])sphere.positions, (const int32_t(*)[3])sphere.triangles, sphere.triangle_count);
    rbli_mass_inertia(&body, diagonal, products);
    assert_close(body.mass, 4.18879020478639, 0.01);
    for (int k = 0; k < 3; k++) {
        assert_close(body.center[k], 0, 1e-12);
        assert_close(diagonal[k], 0.4 * body.mass, 0.01);
        assert_close(products[k], 0, 1e-3);
    }
    rbli_primitive_free(ctx, &sphere);
    finish_context(ctx);
}

static void halves_make_the_whole(void **state)
{
    (void)state;
    double points[8][3];
    make_box((double[3]){0, 0, 0}, (double[3]){1, 2, 3}, points);
    rbli_mass a = rbli_mass_of_mesh((const double(*)[3])points, box_faces, 12);
    make_box((double[3]){1, 0, 0}, (double[3]){4, 2, 3}, points);
    rbli_mass b = rbli_mass_of_mesh((const double(*)[3])points, box_faces, 12);
    make_box((double[3]){0, 0, 0}, (double[3]){4, 2, 3}, points);
    rbli_mass whole = rbli_mass_of_mesh((const double(*)[3])points, box_faces, 12),
              sum = rbli_mass_add(&a, &b);
    assert_close(sum.mass, whole.mass, 1e-12);
    for (int k = 0; k < 3; k++)
        assert_close(sum.center[k], whole.center[k], 1e-14);
    for (int i = 0; i < 6; i++)
        assert_close(sum.moments[i], whole.moments[i], 1e-11);
}

static void maps_carry_moments(void **state)
{
    (void)state;
    double points[8][3];
    /* x → 2y, y → −x, z → 3z, then moved: the box turns and grows. */
    const double map[16] = {0, -1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 5, 6, 7, 1};
    make_box((double[3]){1, 2, 3}, (double[3]){2, 4, 6}, points);
    rbli_mass body = rbli_mass_of_mesh((const double(*)[3])points, box_faces, 12);
    body = rbli_mass_transform(&body, map);
    make_box((double[3]){4 + 5, -2 + 6, 9 + 7}, (double[3]){8 + 5, -1 + 6, 18 + 7}, points);
    rbli_mass direct = rbli_mass_of_mesh((const double(*)[3])points, box_faces, 12);
    assert_close(body.mass, direct.mass, 1e-12);
    for (int k = 0; k < 3; k++)
        assert_close(body.center[k], direct.center[k], 1e-12);
    for (int i = 0; i < 6; i++)
        assert_close(body.moments[i], direct.moments[i], 1e-10);
    rbli_mass dense = rbli_mass_scale(&body, 3);
    assert_close(dense.mass, 3 * direct.mass, 1e-11);
    assert_close(dense.moments[1], 3 * direct.moments[1], 1e-9);
}

/// Of a tetrahedron by the closed form of Tonon (2004).
static void tetrahedra_follow_tonon(void **state)
{
    (void)state;
    rbli_rng rng = rbli_rng_make(3, RBLI_RNG_TEST, 0);
    for (int round = 0; round < 200; round++) {
        double p[4][3], edge[3][3], diagonal[3], products[3];
        const int32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 3; k++)
                p[i][k] = 4 * rbli_rng_double(&rng) - 2;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                edge[i][k] = p[i + 1][k] - p[0][k];
        double determinant = edge[0][0] * (edge[1][1] * edge[2][2] - edge[1][2] * edge[2][1]) +
                             edge[0][1] * (edge[1][2] * edge[2][0] - edge[1][0] * edge[2][2]) +
                             edge[0][2] * (edge[1][0] * edge[2][1] - edge[1][1] * edge[2][0]);
        rbli_mass body = rbli_mass_of_mesh((const double(*)[3])p, faces, 4);
        assert_close(body.mass, determinant / 6, 1e-12);
        rbli_mass_inertia(&body, diagonal, products);
        double q[4][3];
        for (int k = 0; k < 3; k++) {
            double center = (p[0][k] + p[1][k] + p[2][k] + p[3][k]) / 4;
            assert_close(body.center[k], center, 1e-9);
            for (int i = 0; i < 4; i++)
                q[i][k] = p[i][k] - center;
        }
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            double squares = 0, mixed = 0; /* about axis k, and of axes k and u */
            for (int i = 0; i < 4; i++)
                for (int j = 0; j <= i; j++) {
                    squares += q[i][u] * q[j][u] + q[i][v] * q[j][v];
                    mixed += q[i][k] * q[j][u] + q[j][k] * q[i][u];
                }
            assert_close(diagonal[k], determinant * squares / 60, 1e-10);
            assert_close(products[k], -determinant * mixed / 120, 1e-10);
        }
    }
}

static void principal_axes_give_the_tensor_again(void **state)
{
    (void)state;
    rbli_rng rng = rbli_rng_make(4, RBLI_RNG_TEST, 0);
    for (int round = 0; round < 500; round++) {
        double diagonal[3], products[3], moments[3], q[4], size = 0;
        for (int k = 0; k < 3; k++) { /* that of a few points: never an impossible one */
            diagonal[k] = 0;
            products[k] = 0;
        }
        for (int i = 0; i < 1 + round % 5; i++) {
            double x[3];
            for (int k = 0; k < 3; k++)
                x[k] = round % 7 == 0 ? (double)rbli_rng_below(&rng, 3) : rbli_rng_double(&rng);
            for (int k = 0; k < 3; k++) {
                diagonal[k] += x[(k + 1) % 3] * x[(k + 1) % 3] + x[(k + 2) % 3] * x[(k + 2) % 3];
                products[k] -= x[k] * x[(k + 1) % 3];
            }
        }
        rbli_mass_principal(diagonal, products, moments, q);
        assert_close(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-14);
        assert_true(q[3] >= 0);
        for (int k = 0; k < 3; k++)
            size = fmax(size, diagonal[k]);
        double x = q[0], y = q[1], z = q[2], w = q[3];
        const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
            {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
            {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++) {
                int c = (i + j) % 3;
                double sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += r[i][k] * moments[k] * r[c][k];
                assert_close(sum, j == 0 ? diagonal[i] : products[i], 1e-13 * size);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_exact),
        cmocka_unit_test(far_from_the_origin_loses_nothing),
        cmocka_unit_test(a_fine_sphere_is_nearly_a_ball),
        cmocka_unit_test(halves_make_the_whole),
        cmocka_unit_test(maps_carry_moments),
        cmocka_unit_test(tetrahedra_follow_tonon),
        cmocka_unit_test(principal_axes_give_the_tensor_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
