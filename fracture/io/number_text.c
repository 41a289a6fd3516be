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

/// value · 10^power rounded to nearest, ties to even; 0 ≤ power ≤ 22, 1e-6 < value < 1e18.
static uint64_t scaled(double value, int power)
{
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);
    exponent -= 53;
    u128 product = mantissa;
    for (int i = 0; i < power; i++)
        product *= 10;
    if (exponent >= 0) return (uint64_t)(product << exponent);
    int shift = -exponent;
    u128 quotient = product >> shift, rest = product - (quotient << shift), half = (u128)1 << (shift - 1);
    return (uint64_t)quotient + (rest > half || (rest == half && (quotient & 1)));
}

/// Writes digits · 10^-power as plain decimals without zeros at the end.
static size_t put_digits(uint64_t digits, int power, char *out)
{
    while (power > 0 && digits % 10 == 0) {
        digits /= 10;
        power--;
    }
    char reversed[48];
    int count = 0;
    for (; digits || count <= power; digits /= 10) {
        if (count == power && power > 0) break;
        reversed[count++] = (char)('0' + digits % 10);
    }
    if (power > 0) {
        reversed[count++] = '.';
        do {
            reversed[count++] = (char)('0' + digits % 10);
            digits /= 10;
        } while (digits);
    }
    for (int i = 0; i < count; i++)
        out[i] = reversed[count - 1 - i];
    return (size_t)count;
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
