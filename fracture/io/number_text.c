/// Decimal text of doubles: m · 2^e times a power of ten fits 128 bits for ordinary magnitudes, so that the
/// digits come from one exact product and one rounding.

#include "fracture/io/number_text.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

static const double powers_of_ten[23] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
    1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t whole_powers[20] = {1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u,
    100000000u, 1000000000u, 10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
    1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u, 10000000000000000000u};

/// value · 10^power rounded to nearest, ties to even; 0 ≤ power ≤ 22, 1e-6 < value < 1e18.
static uint64_t scaled(double value, int power)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits); /* a normal, positive number */
    int exponent = (int)(bits >> 52) - 1075;
    u128 product = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    product *= whole_powers[power < 19 ? power : 19];
    if (power > 19) product *= whole_powers[power - 19];
    if (exponent >= 0) return (uint64_t)(product << exponent);
    int shift = -exponent;
    u128 quotient = product >> shift, rest = product - (quotient << shift), half = (u128)1 << (shift - 1);
    return (uint64_t)quotient + (rest > half || (rest == half && (quotient & 1)));
}

/// Writes digits · 10^-power as plain decimals without zeros at the end.
static size_t put_digits(uint64_t digits, int power, char *out)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    char text[20], *begin = text + sizeof text, *out_begin = out;
    while (digits >= 100) {
        memcpy(begin -= 2, pairs + 2 * (digits % 100), 2);
        digits /= 100;
    }
    if (digits >= 10) memcpy(begin -= 2, pairs + 2 * digits, 2);
    if (digits < 10) *--begin = (char)('0' + digits);
    int count = (int)(text + sizeof text - begin);
    for (; power > 0 && count > 1 && begin[count - 1] == '0'; power--)
        count--;
    if (*begin == '0') power = 0;
    int whole = count - power;
    if (whole > 0) {
        memcpy(out, begin, (size_t)whole);
        out += whole;
    } else {
        *out++ = '0';
    }
    if (power > 0) {
        *out++ = '.';
        for (int i = whole; i < 0; i++)
            *out++ = '0';
        int first = whole > 0 ? whole : 0;
        memcpy(out, begin + first, (size_t)(count - first));
        out += count - first;
    }
    return (size_t)(out - out_begin);
}

static size_t put_general(double value, int digits, char *out)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = locale ? uselocale(locale) : (locale_t)0;
    int length = snprintf(out, RBLI_NUMBER_TEXT_BYTES, "%.*g", digits, value);
    if (locale) {
        uselocale(before);
        freelocale(locale);
    }
    return (size_t)length;
}

/// floor(log10(value)) for 1e-5 ≤ value < 1e17.
static int decimal_exponent(double value)
{
    int exponent = 0;
    if (value >= 1) {
        while (value >= powers_of_ten[exponent + 1])
            exponent++;
        return exponent;
    }
    /* The product may be rounded up to 1: the caller looks at the number of digits. */
    while (value * powers_of_ten[-exponent] < 1)
        exponent--;
    return exponent;
}

static size_t number_text(double value, int few, int many, bool is_float, char out[RBLI_NUMBER_TEXT_BYTES])
{
    size_t length = 0;
    if (!isfinite(value)) value = 0;
    if (signbit(value)) {
        out[length++] = '-';
        value = -value;
    }
    if (value == 0) {
        out[length++] = '0';
    } else if (value < 1e-5 || value >= 1e17) {
        length += put_general(value, many, out + length);
    } else {
        int exponent = decimal_exponent(value);
        int power = few - 1 - exponent;
        uint64_t digits = 0;
        bool exact = false;
        if (power >= 0 && power <= 22) {
            digits = scaled(value, power);
            double back = (double)digits / powers_of_ten[power];
            exact = is_float ? (float)back == (float)value : back == value;
        }
        if (!exact) {
            power = many - 1 - exponent;
            if (power < 0) power = 0;
            digits = scaled(value, power);
            if (power > 0 && power < 22 && (double)digits < powers_of_ten[many - 1])
                digits = scaled(value, ++power);
        }
        length += put_digits(digits, power, out + length);
    }
    out[length] = 0;
    return length;
}

size_t rbli_double_text(double value, char out[RBLI_NUMBER_TEXT_BYTES])
{
    return number_text(value, 15, 17, false, out);
}

size_t rbli_float_text(float value, char out[RBLI_NUMBER_TEXT_BYTES])
{
    return number_text((double)value, 7, 9, true, out);
}
