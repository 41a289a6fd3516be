#ifndef RUBBLE_GEOMETRY_WIDE_H
#define RUBBLE_GEOMETRY_WIDE_H

/// Signed integers of a fixed number of 64-bit limbs, for exact predicates.
///
/// Types rbli_i192, rbli_i256, rbli_i320, rbli_i384, rbli_i512 and rbli_i640: two's complement, least
/// significant limb first, passed by value. All arithmetic is modulo 2^bits: the caller knows that its
/// results fit. For each type T:
///   T_from_i64(x) · T_from_i128(x) · T_from_double(x)  (x an integer, |x| < 2^63)
///   T_add(a, b) · T_sub(a, b) · T_neg(a) · T_mul(a, b) · T_mul_i64(a, x) · T_shift_left(a, bits)  (bits <
///   64) T_sign(a)  −1, 0 or 1 · T_compare(a, b)  the sign of a − b, which must fit T_to_double(a)  rounded
///   to nearest, ties to even · T_bit_length(a)  of |a|; 0 for 0
/// Full products of small ones: rbli_i192_product(i128, i64), rbli_i256_product(i128, i128).
/// Widening: RBLI_WIDEN(T, a) with `a` of any smaller type.

#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 rbli_i128;
__extension__ typedef unsigned __int128 rbli_u128;

#define RBLI_INLINE static inline __attribute__((always_inline, unused))

/* The limb functions: `n` is always a constant, so that the loops are unrolled. Results may be an operand,
   but not in products. */

/* Without unrolling, gcc keeps the limbs in memory. */
#define RBLI_UNROLL _Pragma("GCC unroll 10")

RBLI_INLINE void rbli_limbs_add(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    unsigned char carry = 0;
    RBLI_UNROLL
    for (int i = 0; i < n; i++) {
        uint64_t sum;
        unsigned char over = __builtin_add_overflow(a[i], b[i], &sum);
        carry = (unsigned char)(over | __builtin_add_overflow(sum, (uint64_t)carry, &r[i]));
    }
}

RBLI_INLINE void rbli_limbs_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    unsigned char borrow = 0;
    RBLI_UNROLL
    for (int i = 0; i < n; i++) {
        uint64_t difference;
        unsigned char under = __builtin_sub_overflow(a[i], b[i], &difference);
        borrow = (unsigned char)(under | __builtin_sub_overflow(difference, (uint64_t)borrow, &r[i]));
    }
}

RBLI_INLINE void rbli_limbs_neg(uint64_t *r, const uint64_t *a, int n)
{
    unsigned char carry = 1;
    RBLI_UNROLL
    for (int i = 0; i < n; i++)
        carry = __builtin_add_overflow(~a[i], (uint64_t)carry, &r[i]);
}

/// The low `n` limbs of a product: right for signed numbers too, if the product fits.
RBLI_INLINE void rbli_limbs_mul(uint64_t *restrict r, const uint64_t *a, const uint64_t *b, int n)
{
    RBLI_UNROLL
    for (int i = 0; i < n; i++)
        r[i] = 0;
    RBLI_UNROLL
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        RBLI_UNROLL
        for (int j = 0; i + j < n; j++) {
            rbli_u128 sum = (rbli_u128)a[i] * b[j] + r[i + j] + carry;
            r[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    }
}

RBLI_INLINE void rbli_limbs_mul_i64(uint64_t *restrict r, const uint64_t *a, int64_t x, int n)
{
    uint64_t carry = 0, borrow = 0;
    RBLI_UNROLL
    for (int i = 0; i < n; i++) {
        rbli_u128 sum = (rbli_u128)a[i] * (uint64_t)x + carry;
        r[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    /* As unsigned, a negative x is 2^64 too large. */
    RBLI_UNROLL
    for (int i = 1; x < 0 && i < n; i++) {
        rbli_u128 difference = (rbli_u128)r[i] - a[i - 1] - borrow;
        r[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
}

RBLI_INLINE int rbli_limbs_sign(const uint64_t *a, int n)
{
    if ((int64_t)a[n - 1] < 0) return -1;
    uint64_t any = 0;
    RBLI_UNROLL
    for (int i = 0; i < n; i++)
        any |= a[i];
    return any != 0;
}

RBLI_INLINE void rbli_limbs_shift_left(uint64_t *r, const uint64_t *a, int bits, int n)
{
    RBLI_UNROLL
    for (int i = n - 1; i >= 0; i--)
        r[i] = a[i] << bits | (bits > 0 && i > 0 ? a[i - 1] >> (64 - bits) : 0);
}

RBLI_INLINE int rbli_limbs_bit_length(const uint64_t *magnitude, int n)
{
    RBLI_UNROLL
    for (int i = n - 1; i >= 0; i--)
        if (magnitude[i]) return 64 * i + 64 - __builtin_clzll(magnitude[i]);
    return 0;
}

RBLI_INLINE double rbli_limbs_to_double(const uint64_t *a, int n)
{
    uint64_t magnitude[16];
    int negative = (int64_t)a[n - 1] < 0;
    if (negative) {
        rbli_limbs_neg(magnitude, a, n);
    } else {
        memcpy(magnitude, a, (size_t)n * 8);
    }
    int top = n - 1;
    while (top > 0 && !magnitude[top])
        top--;
    /* The leading 64 bits, the last of them sticky, then one hardware rounding, then exact scaling. */
    uint64_t leading = magnitude[top];
    int exponent = 64 * top;
    if (top > 0) {
        int shift = __builtin_clzll(leading);
        uint64_t rest = magnitude[top - 1];
        if (shift > 0) {
            leading = leading << shift | rest >> (64 - shift);
            rest <<= shift;
        }
        for (int i = 0; i < top - 1; i++)
            rest |= magnitude[i];
        leading |= rest != 0;
        exponent -= shift;
    }
    double value = (double)leading;
    for (; exponent >= 64; exponent -= 64)
        value *= 0x1p64;
    value *= (double)((uint64_t)1 << exponent);
    return negative ? -value : value;
}

#define RBLI_WIDE_DEFINE(T, N)                                                                               \
    typedef struct T {                                                                                       \
        uint64_t limb[N];                                                                                    \
    } T;                                                                                                     \
    RBLI_INLINE T T##_from_i128(rbli_i128 x)                                                                 \
    {                                                                                                        \
        T r;                                                                                                 \
        r.limb[0] = (uint64_t)x;                                                                             \
        r.limb[1] = (uint64_t)(x >> 64);                                                                     \
        for (int i = 2; i < (N); i++)                                                                        \
            r.limb[i] = x < 0 ? UINT64_MAX : 0;                                                              \
        return r;                                                                                            \
    }                                                                                                        \
    RBLI_INLINE T T##_from_i64(int64_t x)                                                                    \
    {                                                                                                        \
        return T##_from_i128(x);                                                                             \
    }                                                                                                        \
    RBLI_INLINE T T##_from_double(double x)                                                                  \
    {                                                                                                        \
        return T##_from_i64((int64_t)x);                                                                     \
    }                                                                                                        \
    RBLI_INLINE T T##_widen(const uint64_t *limb, int count)                                                 \
    {                                                                                                        \
        T r;                                                                                                 \
        for (int i = 0; i < (N); i++)                                                                        \
            r.limb[i] = i < count ? limb[i] : (int64_t)limb[count - 1] < 0 ? UINT64_MAX : 0;                 \
        return r;                                                                                            \
    }                                                                                                        \
    RBLI_INLINE T T##_add(T a, T b)                                                                          \
    {                                                                                                        \
        rbli_limbs_add(a.limb, a.limb, b.limb, N);                                                           \
        return a;                                                                                            \
    }                                                                                                        \
    RBLI_INLINE T T##_sub(T a, T b)                                                                          \
    {                                                                                                        \
        rbli_limbs_sub(a.limb, a.limb, b.limb, N);                                                           \
        return a;                                                                                            \
    }                                                                                                        \
    RBLI_INLINE T T##_neg(T a)                                                                               \
    {                                                                                                        \
        rbli_limbs_neg(a.limb, a.limb, N);                                                                   \
        return a;                                                                                            \
    }                                                                                                        \
    RBLI_INLINE T T##_mul(T a, T b)                                                                          \
    {                                                                                                        \
        T r;                                                                                                 \
        rbli_limbs_mul(r.limb, a.limb, b.limb, N);                                                           \
        return r;                                                                                            \
    }                                                                                                        \
    RBLI_INLINE T T##_mul_i64(T a, int64_t x)                                                                \
    {                                                                                                        \
        T r;                                                                                                 \
        rbli_limbs_mul_i64(r.limb, a.limb, x, N);                                                            \
        return r;                                                                                            \
    }                                                                                                        \
    RBLI_INLINE T T##_shift_left(T a, int bits)                                                              \
    {                                                                                                        \
        rbli_limbs_shift_left(a.limb, a.limb, bits, N);                                                      \
        return a;                                                                                            \
    }                                                                                                        \
    RBLI_INLINE int T##_sign(T a)                                                                            \
    {                                                                                                        \
        return rbli_limbs_sign(a.limb, N);                                                                   \
    }                                                                                                        \
    RBLI_INLINE int T##_compare(T a, T b)                                                                    \
    {                                                                                                        \
        return T##_sign(T##_sub(a, b));                                                                      \
    }                                                                                                        \
    RBLI_INLINE int T##_bit_length(T a)                                                                      \
    {                                                                                                        \
        T magnitude = T##_sign(a) < 0 ? T##_neg(a) : a;                                                      \
        return rbli_limbs_bit_length(magnitude.limb, N);                                                     \
    }                                                                                                        \
    RBLI_INLINE double T##_to_double(T a)                                                                    \
    {                                                                                                        \
        return rbli_limbs_to_double(a.limb, N);                                                              \
    }

RBLI_WIDE_DEFINE(rbli_i192, 3)
RBLI_WIDE_DEFINE(rbli_i256, 4)
RBLI_WIDE_DEFINE(rbli_i320, 5)
RBLI_WIDE_DEFINE(rbli_i384, 6)
RBLI_WIDE_DEFINE(rbli_i512, 8)
RBLI_WIDE_DEFINE(rbli_i640, 10)

#define RBLI_WIDEN(T, a) T##_widen((a).limb, (int)(sizeof((a).limb) / sizeof(uint64_t)))

RBLI_INLINE rbli_i192 rbli_i192_product(rbli_i128 a, int64_t x)
{
    return rbli_i192_mul_i64(rbli_i192_from_i128(a), x);
}

RBLI_INLINE rbli_i256 rbli_i256_product(rbli_i128 a, rbli_i128 b)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    rbli_u128 low = (rbli_u128)a0 * b0, cross = (rbli_u128)a0 * b1, high = (rbli_u128)a1 * b1;
    cross += low >> 64; /* cannot carry */
    rbli_u128 other = (rbli_u128)a1 * b0 + (uint64_t)cross;
    high += (cross >> 64) + (other >> 64);
    /* As unsigned, a negative factor is 2^128 too large. */
    if (a < 0) high -= (rbli_u128)b;
    if (b < 0) high -= (rbli_u128)a;
    return (rbli_i256){{(uint64_t)low, (uint64_t)other, (uint64_t)high, (uint64_t)(high >> 64)}};
}

RBLI_INLINE int rbli_i128_sign(rbli_i128 a)
{
    return (a > 0) - (a < 0);
}

#endif
