#include "tests/check.h"

#include <gmp.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/wide.h"

/* Wide integers against GMP on random numbers of random length, many of them with long runs of equal bits. */

static rbli_rng rng;

static void random_limbs(uint64_t *limb, int count, int bits)
{
    memset(limb, 0, (size_t)count * 8);
    int length = (int)rbli_rng_below(&rng, (uint32_t)bits), style = (int)rbli_rng_below(&rng, 3);
    for (int i = 0; i < length; i++) {
        int bit = style == 0 ? 1 : style == 1 ? (int)rbli_rng_below(&rng, 2) : rbli_rng_below(&rng, 64) == 0;
        limb[i / 64] |= (uint64_t)bit << (i % 64);
    }
    if (rbli_rng_below(&rng, 2)) rbli_limbs_neg(limb, limb, count);
}

static void to_gmp(mpz_t out, const uint64_t *limb, int count)
{
    uint64_t magnitude[16];
    int negative = (int64_t)limb[count - 1] < 0;
    if (negative) rbli_limbs_neg(magnitude, limb, count);
    mpz_import(out, (size_t)count, -1, 8, 0, 0, negative ? magnitude : limb);
    if (negative) mpz_neg(out, out);
}

/// The nearest double by arithmetic on integers alone: ties to even.
static double reference_double(const mpz_t a)
{
    mpz_t magnitude, rest;
    mpz_inits(magnitude, rest, NULL);
    mpz_abs(magnitude, a);
    size_t bits = mpz_sizeinbase(magnitude, 2);
    double value;
    if (bits <= 53) {
        value = mpz_get_d(magnitude);
    } else {
        size_t shift = bits - 53;
        mpz_fdiv_r_2exp(rest, magnitude, shift);
        mpz_fdiv_q_2exp(magnitude, magnitude, shift);
        mpz_mul_2exp(rest, rest, 1);
        mpz_t unit;
        mpz_init_set_ui(unit, 1);
        mpz_mul_2exp(unit, unit, shift);
        int side = mpz_cmp(rest, unit);
        if (side > 0 || (side == 0 && mpz_odd_p(magnitude))) mpz_add_ui(magnitude, magnitude, 1);
        mpz_mul_2exp(magnitude, magnitude, shift);
        value = mpz_get_d(magnitude);
        mpz_clear(unit);
    }
    if (mpz_sgn(a) < 0) value = -value;
    mpz_clears(magnitude, rest, NULL);
    return value;
}

#define DEFINE_CHECK(T, N)                                                                                   \
    static void check_##T(void)                                                                              \
    {                                                                                                        \
        mpz_t a, b, r, s;                                                                                    \
        mpz_inits(a, b, r, s, NULL);                                                                         \
        for (int i = 0; i < 20000; i++) {                                                                    \
            T x, y, z;                                                                                       \
            random_limbs(x.limb, N, 64 * (N)-2);                                                             \
            random_limbs(y.limb, N, 64 * (N)-2);                                                             \
            to_gmp(a, x.limb, N);                                                                            \
            to_gmp(b, y.limb, N);                                                                            \
            z = T##_add(x, y), to_gmp(r, z.limb, N), mpz_add(s, a, b);                                       \
            assert_int_equal(mpz_cmp(r, s), 0);                                                              \
            z = T##_sub(x, y), to_gmp(r, z.limb, N), mpz_sub(s, a, b);                                       \
            assert_int_equal(mpz_cmp(r, s), 0);                                                              \
            assert_int_equal(T##_compare(x, y), mpz_sgn(s));                                                 \
            assert_int_equal(T##_sign(x), mpz_sgn(a));                                                       \
            assert_int_equal(T##_bit_length(x), mpz_sgn(a) ? (int)mpz_sizeinbase(a, 2) : 0);                 \
            assert_true(T##_to_double(x) == reference_double(a));                                            \
            z = T##_neg(x), to_gmp(r, z.limb, N), mpz_neg(s, a);                                             \
            assert_int_equal(mpz_cmp(r, s), 0);                                                              \
            random_limbs(x.limb, N, 32 * (N)-1);                                                             \
            random_limbs(y.limb, N, 32 * (N)-1);                                                             \
            to_gmp(a, x.limb, N), to_gmp(b, y.limb, N);                                                      \
            z = T##_mul(x, y), to_gmp(r, z.limb, N), mpz_mul(s, a, b);                                       \
            assert_int_equal(mpz_cmp(r, s), 0);                                                              \
            uint64_t small;                                                                                  \
            random_limbs(&small, 1, 63);                                                                     \
            random_limbs(x.limb, N, 64 * ((N)-1) - 1);                                                       \
            to_gmp(a, x.limb, N), mpz_mul_si(s, a, (long)small);                                             \
            z = T##_mul_i64(x, (int64_t)small), to_gmp(r, z.limb, N);                                        \
            assert_int_equal(mpz_cmp(r, s), 0);                                                              \
            z = T##_shift_left(x, i % 63), to_gmp(r, z.limb, N),                                             \
            mpz_mul_2exp(s, a, (unsigned long)(i % 63));                                                     \
            assert_int_equal(mpz_cmp(r, s), 0);                                                              \
        }                                                                                                    \
        mpz_clears(a, b, r, s, NULL);                                                                        \
    }

DEFINE_CHECK(rbli_i192, 3)
DEFINE_CHECK(rbli_i256, 4)
DEFINE_CHECK(rbli_i320, 5)
DEFINE_CHECK(rbli_i384, 6)
DEFINE_CHECK(rbli_i512, 8)
DEFINE_CHECK(rbli_i640, 10)

static void wide_integers_agree_with_gmp(void **state)
{
    (void)state;
    rng = rbli_rng_make(1, RBLI_RNG_TEST, 100);
    check_rbli_i192();
    check_rbli_i256();
    check_rbli_i320();
    check_rbli_i384();
    check_rbli_i512();
    check_rbli_i640();
}

static void products_and_conversions_of_small_ones_are_exact(void **state)
{
    (void)state;
    rng = rbli_rng_make(1, RBLI_RNG_TEST, 101);
    mpz_t a, b, r;
    mpz_inits(a, b, r, NULL);
    for (int i = 0; i < 20000; i++) {
        uint64_t x[2], y[2];
        random_limbs(x, 2, 127);
        random_limbs(y, 2, 127);
        rbli_i128 p = (rbli_i128)((rbli_u128)x[1] << 64 | x[0]),
                  q = (rbli_i128)((rbli_u128)y[1] << 64 | y[0]);
        to_gmp(a, x, 2), to_gmp(b, y, 2), mpz_mul(b, a, b);
        rbli_i256 full = rbli_i256_product(p, q);
        to_gmp(r, full.limb, 4);
        assert_int_equal(mpz_cmp(r, b), 0);
        rbli_i640 wide = RBLI_WIDEN(rbli_i640, full);
        to_gmp(r, wide.limb, 10);
        assert_int_equal(mpz_cmp(r, b), 0);
        mpz_mul_si(b, a, (long)(int64_t)y[0]);
        rbli_i192 product = rbli_i192_product(p, (int64_t)y[0]);
        to_gmp(r, product.limb, 3);
        assert_int_equal(mpz_cmp(r, b), 0);
        rbli_i192 integer = rbli_i192_from_double((double)((int64_t)y[0] / 4096));
        assert_true(rbli_i192_to_double(integer) == (double)((int64_t)y[0] / 4096));
    }
    mpz_clears(a, b, r, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_integers_agree_with_gmp),
        cmocka_unit_test(products_and_conversions_of_small_ones_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
