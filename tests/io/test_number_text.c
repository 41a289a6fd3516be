#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/io/number_text.h"

static void ordinary_numbers_look_ordinary(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"}, {-0.0, "-0"}, {1, "1"}, {-1.5, "-1.5"}, {0.1, "0.1"}, {-0.05, "-0.05"},
        {100, "100"}, {1e16, "10000000000000000"}, {1.0 / 3, "0.33333333333333331"}, {0.00001, "0.00001"},
        {123456.75, "123456.75"}, {2.0 / 3, "0.66666666666666663"},
        {9007199254740993e3, "9007199254740992500"}, {1e-300, "1e-300"}, {INFINITY, "0"}, {NAN, "0"},
        {0.30000000000000004, "0.30000000000000004"}};
    char text[RBLI_NUMBER_TEXT_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = rbli_double_text(cases[i].value, text);
        assert_int_equal(length, strlen(text));
        if (cases[i].value < 1e17 && cases[i].value > 1e-200) assert_string_equal(text, cases[i].text);
        assert_true(strtod(text, NULL) == cases[i].value || !isfinite(cases[i].value));
    }
    rbli_float_text(0.1f, text);
    assert_string_equal(text, "0.1");
    rbli_float_text(16777217.0f, text);
    assert_string_equal(text, "16777216");
}

static void check_double(double value)
{
    char text[RBLI_NUMBER_TEXT_BYTES];
    rbli_double_text(value, text);
    double back = strtod(text, NULL);
    if (memcmp(&back, &value, sizeof back) != 0) {
        print_error("%.17g written as %s\n", value, text);
        fail();
    }
}

static void random_numbers_read_back_to_the_same_bits(void **state)
{
    (void)state;
    uint32_t seed = 4;
    print_message("seed %u\n", seed);
    for (uint64_t i = 0; i < 300000; i++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, i);
        uint64_t bits = (uint64_t)rbli_rng_u32(&rng) << 32 | rbli_rng_u32(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) check_double(value);
        value = rbli_rng_double(&rng);
        for (int k = (int)rbli_rng_below(&rng, 24) - 6; k > 0; k--)
            value *= 10;
        check_double(value);
        check_double(-value * 1e-5);
        float small = (float)(value - 0.5), back;
        char text[RBLI_NUMBER_TEXT_BYTES];
        rbli_float_text(small, text);
        back = (float)strtod(text, NULL);
        assert_true(back == small);
    }
    double power = 1e-7;
    for (int k = -7; k < 20; k++, power *= 10) {
        check_double(power);
        check_double(nextafter(power, 0));
        check_double(nextafter(power, INFINITY));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_numbers_look_ordinary),
        cmocka_unit_test(random_numbers_read_back_to_the_same_bits),
    };
    return cmocka_run_group_tests_name("io/number_text", tests, NULL, NULL);
}
