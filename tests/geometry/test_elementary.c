#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/elementary.h"

static void agrees_with_long_double(void **state)
{
    (void)state;
    const double scales[] = {1e-8, 1, 10, 1000, 1e6};
    for (int s = 0; s < 5; s++)
        for (uint64_t i = 0; i < 100000; i++) {
            rbli_rng rng = rbli_rng_make((uint32_t)s, RBLI_RNG_TEST, i);
            double x = scales[s] * (2 * rbli_rng_double(&rng) - 1);
            assert_close(rbli_sin(x), (double)sinl(x), 1e-15);
            assert_close(rbli_cos(x), (double)cosl(x), 1e-15);
        }
}

static void multiples_of_a_quarter_turn_are_right(void **state)
{
    (void)state;
    for (int i = -4000; i <= 4000; i++) {
        double x = i * (RBLI_PI / 2);
        assert_close(rbli_sin(x), (double)sinl(x), 1e-15);
        assert_close(rbli_cos(x), (double)cosl(x), 1e-15);
    }
    assert_true(rbli_sin(0) == 0);
    assert_true(rbli_cos(0) == 1);
    assert_true(fabs(rbli_sin(1e300)) <= 1 && fabs(rbli_cos(-1e300)) <= 1);
}

/// |a − expected| in units in the last place of a.
static double units_off(double a, long double expected)
{
    double unit = nextafter(fabs(a), HUGE_VAL) - fabs(a);
    return (double)(fabsl((long double)a - expected) / (long double)unit);
}

static void exponentials_and_powers_keep_their_last_bit(void **state)
{
    (void)state;
    const double scales[] = {1e-8, 1e-3, 1, 30, 700};
    for (int s = 0; s < 5; s++)
        for (uint64_t i = 0; i < 50000; i++) {
            rbli_rng rng = rbli_rng_make((uint32_t)s, RBLI_RNG_TEST, i);
            double x = scales[s] * (2 * rbli_rng_double(&rng) - 1), y = rbli_exp(x);
            assert_true(units_off(y, expl(x)) < 0.75);
            assert_true(units_off(rbli_log(y), logl(y)) < 0.75);
            double base = 1000 * rbli_rng_double(&rng), exponent = 30 * (2 * rbli_rng_double(&rng) - 1);
            assert_true(units_off(rbli_pow(base, exponent), powl(base, exponent)) < 0.75);
        }
    for (int n = 0; n < 1000; n++)
        for (int e = 1; e <= 5; e++) {
            double exact = 1;
            for (int i = 0; i < e; i++)
                exact *= n;
            assert_true(rbli_pow(n, e) == exact);
        }
    assert_true(
        rbli_pow(2, -3) == 0.125 && rbli_pow(9, 0.5) == 3 && rbli_pow(0, 0) == 1 && rbli_pow(7, 0) == 1);
    assert_true(rbli_pow(0, 2) == 0 && rbli_pow(0, -1) == HUGE_VAL && rbli_pow(2, 1e300) == HUGE_VAL);
    assert_true(rbli_exp(0) == 1 && rbli_exp(1000) == HUGE_VAL && rbli_exp(-1000) == 0);
    assert_true(rbli_log(1) == 0 && rbli_log(0) == -HUGE_VAL && rbli_log(HUGE_VAL) == HUGE_VAL);
    assert_close(rbli_log(0x1p-1074), -1074 * rbli_log(2), 1e-12);
}

static void angles_of_vectors_are_right(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        rbli_rng rng = rbli_rng_make(9, RBLI_RNG_TEST, i);
        double x = 2 * rbli_rng_double(&rng) - 1, y = 2 * rbli_rng_double(&rng) - 1;
        if (i % 3 == 0) y *= 1e-9;
        if (i % 5 == 0) x *= 1e-5;
        assert_close(rbli_atan2(y, x), (double)atan2l(y, x), 1e-15);
    }
    assert_true(rbli_atan2(0, 0) == 0 && rbli_atan2(0, 1) == 0 && rbli_atan2(0, -1) == RBLI_PI);
    assert_true(rbli_atan2(1, 0) == RBLI_PI / 2 && rbli_atan2(-1, 0) == -RBLI_PI / 2);
    assert_close(rbli_atan2(1e300, -1e300), 0.75 * RBLI_PI, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_long_double),
        cmocka_unit_test(multiples_of_a_quarter_turn_are_right),
        cmocka_unit_test(angles_of_vectors_are_right),
        cmocka_unit_test(exponentials_and_powers_keep_their_last_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
