/// The radix sort against the C library's, which is made stable by indices.

#include "tests/check.h"

#include <stdlib.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/radix_sort.h"

static int compare(const void *left, const void *right)
{
    const rbli_keyed *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void check_keys(rbl_context *ctx, size_t count, uint64_t mask, uint64_t base, bool few)
{
    rbli_keyed *pairs = rbli_alloc(ctx, count, sizeof *pairs),
               *scratch = rbli_alloc(ctx, count, sizeof *pairs),
               *expected = rbli_alloc(ctx, count, sizeof *pairs);
    rbli_rng rng = rbli_rng_make(77, RBLI_RNG_TEST, count ^ mask);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = (uint64_t)rbli_rng_u32(&rng) << 32 | rbli_rng_u32(&rng);
        if (few) key = (key % 7) * 0x0101010101010101u;
        expected[i] = (rbli_keyed){(key & mask) + base, (int32_t)i};
    }
    rbli_keyed *input = rbli_alloc(ctx, count, sizeof *input);
    memcpy(input, expected, count * sizeof *input);
    qsort(expected, count, sizeof *expected, compare);
    for (int polled = 0; polled < 2; polled++) {
        memcpy(pairs, input, count * sizeof *pairs);
        if (polled)
            assert_ok(ctx, rbli_radix_sort_polled(ctx, pairs, scratch, count));
        else
            rbli_radix_sort(pairs, scratch, count);
        for (size_t i = 0; i < count; i++)
            if (compare(&pairs[i], &expected[i]) != 0) fail_msg("pair %zu of %zu is another", i, count);
    }
    rbli_free(ctx, input);
    rbli_free(ctx, pairs);
    rbli_free(ctx, scratch);
    rbli_free(ctx, expected);
}

static void keys_of_all_widths_are_sorted(void **state)
{
    (void)state;
    print_message("seed 77\n");
    rbl_context *ctx = make_context(1);
    const size_t counts[] = {0, 1, 2, 47, 48, 1000, 65535, 65536, 70000, 150000};
    const uint64_t masks[] = {UINT64_MAX, 0xffffffffffffu, 0xff00ff, 0xff, 0xff00, 0, 0xff00000000000000u, 3};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
            check_keys(ctx, counts[c], masks[m], 0, m % 3 == 1);
            check_keys(ctx, counts[c], masks[m] & 0xffffffffff, 0x5a00000000000000u, false);
        }
    finish_context(ctx);
}

/// Parts of very different sizes: most pairs share the highest digit.
static void crowded_digits_are_sorted(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    rbl_context *ctx = make_context(1);
    rbli_keyed *pairs = rbli_alloc(ctx, COUNT, sizeof *pairs),
               *scratch = rbli_alloc(ctx, COUNT, sizeof *pairs);
    rbli_rng rng = rbli_rng_make(78, RBLI_RNG_TEST, 0);
    for (int i = 0; i < COUNT; i++)
        pairs[i] = (rbli_keyed){rbli_rng_u32(&rng) % 1000 + (i % 1000 == 0 ? (uint64_t)i << 20 : 0), i};
    rbli_radix_sort(pairs, scratch, COUNT);
    for (int i = 1; i < COUNT; i++)
        assert_true(compare(&pairs[i - 1], &pairs[i]) < 0);
    rbli_free(ctx, pairs);
    rbli_free(ctx, scratch);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_all_widths_are_sorted),
        cmocka_unit_test(crowded_digits_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
