#include "tests/check.h"

#include <locale.h>
#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/io/scan.h"

static void check_number(const char *text)
{
    double ours, theirs = strtod(text, NULL);
    const char *at = text;
    assert_true(rbli_scan_double(&at, text + strlen(text), &ours));
    assert_int_equal(at - text, strlen(text));
    if (memcmp(&ours, &theirs, sizeof ours) != 0) {
        print_error("%s: %.17g, not %.17g\n", text, ours, theirs);
        fail();
    }
    /* With text behind it, a number may be read by words of eight characters. */
    char line[200];
    double again;
    if (strlen(text) > 100) return;
    snprintf(line, sizeof line, "%s %*s\n", text, 40, "-1.5");
    at = line;
    assert_true(rbli_scan_double(&at, line + strlen(line), &again));
    assert_int_equal(at - line, strlen(text));
    assert_memory_equal(&again, &ours, sizeof ours);
}

static void numbers_are_rounded_correctly(void **state)
{
    (void)state;
    static const char *const texts[] = {"0", "-0", "0.0", "1", "+1", "1.", ".5", "-.5e1", "1e22", "1e23",
        "9007199254740993", "9007199254740992.9999999999",
        "0.000000000000000000000000000000000000000000000001", "1e-320", "4.9e-324", "2.4703282292062327e-324",
        "2.4703282292062328e-324", "1.7976931348623157e308", "1.7976931348623159e308", "1e400",
        "18446744073709551615", "9999999999999999999", "1844674407370955161600000",
        "123456789012345678901234567890", "0.1", "0.30000000000000004", "2.2250738585072011e-308",
        "000000000000000000000001.5", "1e0", "1e+5", "1E-5", "0e999999999999999999", "0.00000e5", "8.5e-7",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126", "17976931348623157e292", "5e-1",
        "12345678901234567e3"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_number(texts[i]);
}

static void random_numbers_are_rounded_correctly(void **state)
{
    (void)state;
    uint32_t seed = 20;
    print_message("seed %u\n", seed);
    for (uint64_t i = 0; i < 300000; i++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, i);
        char text[64];
        uint64_t bits = (uint64_t)rbli_rng_u32(&rng) << 32 | rbli_rng_u32(&rng);
        switch (i % 5) {
        case 0: {
            double value;
            memcpy(&value, &bits, sizeof value);
            if (!isfinite(value)) continue;
            snprintf(text, sizeof text, "%.17g", value);
            break;
        }
        case 4:
            snprintf(text, sizeof text, "%.*f", (int)rbli_rng_below(&rng, 14),
                (rbli_rng_double(&rng) - 0.5) * (double)(bits >> (32 + rbli_rng_below(&rng, 32))));
            break;
        case 1:
            snprintf(
                text, sizeof text, "%.*g", 1 + (int)rbli_rng_below(&rng, 19), rbli_rng_double(&rng) * 1000);
            break;
        case 2:
            snprintf(text, sizeof text, "%llue%d", (unsigned long long)(bits >> rbli_rng_below(&rng, 60)),
                (int)rbli_rng_below(&rng, 60) - 30);
            break;
        default: { /* halfway between two doubles, to 19 digits */
            uint64_t odd = (bits >> 10 | (uint64_t)1 << 53) | 1;
            snprintf(text, sizeof text, "%llu.0", (unsigned long long)odd);
        }
        }
        check_number(text);
    }
}

static void lines_of_three_indices(void **state)
{
    (void)state;
    uint32_t seed = 21;
    print_message("seed %u\n", seed);
    for (uint64_t i = 0; i < 20000; i++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, i);
        char text[200];
        int32_t wanted[3], found[3];
        for (int k = 0; k < 3; k++)
            wanted[k] = (int32_t)(rbli_rng_u32(&rng) % 10000000 >> rbli_rng_below(&rng, 24));
        int length = snprintf(text, sizeof text, " %d %d %d", wanted[0], wanted[1], wanted[2]);
        snprintf(text + length, sizeof text - (size_t)length, "\n%40s\n", "x");
        rbli_scan scan = {text, text + strlen(text), 1};
        assert_int_equal(rbli_scan_indices(&scan, found), length);
        assert_memory_equal(found, wanted, sizeof found);
        /* One character otherwise: something else, or other numbers of as many characters. */
        int at = (int)rbli_rng_below(&rng, (uint32_t)length + 1);
        text[at] = "/-\t.\r\\ "[rbli_rng_below(&rng, 7)];
        size_t bytes = rbli_scan_indices(&scan, found);
        if (bytes == 0) continue;
        int all = 0;
        assert_int_equal(sscanf(text, "%d %d %d%n", &wanted[0], &wanted[1], &wanted[2], &all), 3);
        assert_int_equal(bytes, all);
        assert_int_equal(text[bytes], '\n');
        assert_memory_equal(found, wanted, sizeof found);
    }
    static const char *const others[] = {
        " 1 2 3", " 1 2 3\n", "  1 2 3\n", " 12345678 2 3\n", " 1 2 3 4\n", " 1 2\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[200];
        int32_t found[3];
        snprintf(
            text, sizeof text, "%s%s", others[i], i < 2 ? "" : "                                        ");
        rbli_scan scan = {text, text + strlen(text), 1};
        assert_int_equal(rbli_scan_indices(&scan, found), 0);
    }
}

static void special_values_and_what_is_no_number(void **state)
{
    (void)state;
    static const char *const nans[] = {"nan", "-NaN", "nan(ind)", "1.#QNAN", "-1.#IND00", "1.#INF"};
    double value;
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
        const char *at = nans[i];
        assert_true(rbli_scan_double(&at, at + strlen(at), &value));
        assert_int_equal(*at, 0);
        assert_true(isnan(value));
    }
    const char *at = "-Infinity";
    assert_true(rbli_scan_double(&at, at + 9, &value) && value < 0 && isinf(value));
    static const char *const bad[] = {"", "-", ".", "+.", "e5", "x", "-e", "#", "i", "na"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        at = bad[i];
        assert_false(rbli_scan_double(&at, at + strlen(at), &value));
        assert_ptr_equal(at, bad[i]);
    }
    at = "1e+x";
    assert_true(rbli_scan_double(&at, at + 4, &value) && value == 1);
    assert_string_equal(at, "e+x");
    at = "12345";
    assert_true(rbli_scan_double(&at, at + 2, &value) && value == 12);
    char digits[3000];
    memset(digits, '7', sizeof digits);
    at = digits;
    assert_true(rbli_scan_double(&at, digits + sizeof digits, &value) && isinf(value));
    digits[1] = '.';
    at = digits;
    assert_true(rbli_scan_double(&at, digits + sizeof digits, &value));
    assert_true(value == 7.777777777777777777777777777);
}

static void the_locale_of_the_process_does_not_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        print_message("no locale de_DE.UTF-8 here\n");
        skip();
    }
    const char *text = "1.000000000000000000000000015e-5", *at = text;
    double value;
    assert_true(rbli_scan_double(&at, text + strlen(text), &value));
    setlocale(LC_ALL, "C");
    assert_true(value == 1.000000000000000000000000015e-5);
}

static void integers_do_not_wrap(void **state)
{
    (void)state;
    int64_t value;
    const char *at = "9223372036854775807";
    assert_true(rbli_scan_int(&at, at + 19, &value) && value == INT64_MAX);
    at = "9223372036854775808";
    assert_false(rbli_scan_int(&at, at + 19, &value));
    at = "-12/";
    assert_true(rbli_scan_int(&at, at + 4, &value) && value == -12 && *at == '/');
    at = "-";
    assert_false(rbli_scan_int(&at, at + 1, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_rounded_correctly),
        cmocka_unit_test(random_numbers_are_rounded_correctly),
        cmocka_unit_test(lines_of_three_indices),
        cmocka_unit_test(special_values_and_what_is_no_number),
        cmocka_unit_test(the_locale_of_the_process_does_not_matter),
        cmocka_unit_test(integers_do_not_wrap),
    };
    return cmocka_run_group_tests_name("io/scan", tests, NULL, NULL);
}
