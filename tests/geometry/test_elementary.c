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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_long_double),
        cmocka_unit_test(multiples_of_a_quarter_turn_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
