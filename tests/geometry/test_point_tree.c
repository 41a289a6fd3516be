#include <math.h>

#include "tests/check.h"

#include "fracture/base/rng.h"
#include "fracture/geometry/point_tree.h"

/* Against a look at every point; lattices have many equally near ones. */

enum { MOST = 500 };

static bool accept_odd(void *user, int32_t index)
{
    return index % 2 == *(int *)user;
}

static void nearest_points_are_those_of_a_full_look(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double points[MOST][3];
    static rbli_point_node nodes[MOST];
    for (uint32_t seed = 0; seed < 40; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 0);
        uint32_t count = 1 + rbli_rng_below(&rng, MOST - 1);
        for (uint32_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                points[i][k] = seed % 2 ? rbli_rng_double(&rng) : rbli_rng_below(&rng, 6);
        assert_ok(ctx, rbli_point_tree_build(ctx, nodes, (const double(*)[3])points, count));
        for (int q = 0; q < 100; q++) {
            double p[3], near = HUGE_VAL, second = HUGE_VAL, odd_near = HUGE_VAL, told;
            int32_t best = -1, odd = -1;
            int parity = q % 2;
            for (int k = 0; k < 3; k++)
                p[k] = seed % 2 ? rbli_rng_double(&rng) : rbli_rng_below(&rng, 12) * 0.5;
            for (uint32_t i = 0; i < count; i++) {
                double d = rbli_point_distance_squared(p, points[i]);
                if (d < near) {
                    second = near;
                    near = d;
                    best = (int32_t)i;
                } else if (d < second) {
                    second = d;
                }
                if (d < odd_near && (int)i % 2 == parity) odd_near = d, odd = (int32_t)i;
            }
            int32_t guess = (int32_t)rbli_rng_below(&rng, count);
            double from = rbli_point_distance_squared(p, points[guess]);
            assert_int_equal(rbli_point_tree_nearest(nodes, count, p, guess, from), best);
            assert_int_equal(rbli_point_tree_two_nearest(nodes, count, p, guess, from, &told), best);
            assert_true(told == second);
            assert_int_equal(rbli_point_tree_nearest_accepted(nodes, count, p, accept_odd, &parity), odd);
        }
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_points_are_those_of_a_full_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
