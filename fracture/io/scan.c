/// Text scanning. Decimal numbers: W. D. Clinger, How to read floating point numbers accurately (1990), for
/// the fast path; between that and strtod an exact quotient or product of 128-bit integers with a sticky bit,
/// rounded once.

#include "fracture/io/scan.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

enum { MOST_DIGITS = 800 }; /* more significant digits than any double or midpoint of doubles has */

static const uint64_t powers_of_ten[20] = {1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u,
    100000000u, 1000000000u, 10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
    1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u, 10000000000000000000u};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const uint64_t ZEROS = 0x3030303030303030u;

/// How many of eight characters are digits, from the first on (Lemire, Number parsing at a gigabyte per second,
/// 2021).
static inline int count_digits(uint64_t word)
{
    /* A byte that is no digit has its top bit set by one of the two, unless a lower byte, which then is no digit
     * either, borrowed or carried. */
    uint64_t others = ((word + 0x4646464646464646u) | (word - ZEROS) | word) & 0x8080808080808080u;
    return others ? __builtin_ctzll(others) / 8 : 8;
}

/// The number that the first 1 … 8 digits of a word are.
static inline uint64_t value_of_digits(uint64_t word, int count)
{
    word = (word - ZEROS) << (64 - 8 * count); /* zeros go in front */
    word = word * 10 + (word >> 8);
    return ((word & 0x000000ff000000ffu) * 0x000f424000000064u +
               (word >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >>
           32;
}

/// Digits at *at, appended to a decimal number, which may wrap; *at moves behind them.
static inline uint64_t scan_digits(const char **at, const char *end, uint64_t value)
{
    const char *p = *at;
    while (end - p >= 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        int count = count_digits(word);
        if (count == 0) break;
        value = value * powers_of_ten[count] + value_of_digits(word, count);
        p += count;
        if (count < 8) {
            *at = p;
            return value;
        }
    }
    while (p < end && is_digit(*p))
        value = value * 10 + (uint64_t)(*p++ - '0');
    *at = p;
    return value;
}

/// value × 2^exponent, rounded once; `sticky` says that more follows below the last bit. Only for results far
/// from the ends of double's range.
static double round_u128(u128 value, bool sticky, int exponent)
{
    uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    if (high) {
        int shift = 64 - __builtin_clzll(high);
        sticky |= shift < 64 ? (low & (((uint64_t)1 << shift) - 1)) != 0 : low != 0;
        low = shift < 64 ? (uint64_t)(value >> shift) : high;
        exponent += shift;
    }
    /* 64-bit values have at least ten bits below the rounding position, so that the sticky bit can be the
     * last. */
    return ldexp((double)(low | sticky), exponent);
}

static double scale_exactly(uint64_t mantissa, int exponent)
{
    if (mantissa < (uint64_t)1 << 53) {
        if (exponent >= 0 && exponent <= 19) return (double)mantissa * (double)powers_of_ten[exponent];
        if (exponent < 0 && exponent >= -19) return (double)mantissa / (double)powers_of_ten[-exponent];
    }
    if (exponent >= 0) return round_u128((u128)mantissa * powers_of_ten[exponent], false, 0);
    int shift = __builtin_clzll(mantissa);
    u128 numerator = (u128)(mantissa << shift) << 64;
    u128 quotient = numerator / powers_of_ten[-exponent]; /* at least 2^63 */
    return round_u128(quotient, quotient * powers_of_ten[-exponent] != numerator, -64 - shift);
}

/// The slow way: the significant digits of begin … end and an exponent, written anew for strtod.
static double convert_long(const char *begin, const char *end, int64_t exponent)
{
    char text[MOST_DIGITS + 32];
    size_t count = 0;
    bool point = false, more = false;
    for (const char *p = begin; p < end; p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (point) exponent--;
        if (count == 0 && *p == '0') continue;
        if (count < MOST_DIGITS) {
            text[count++] = *p;
        } else {
            more |= *p != '0';
            exponent++;
        }
    }
    if (count == 0) return 0;
    if (more) {
        text[count++] = '1';
        exponent--;
    }
    if (exponent > 1000000) exponent = 1000000;
    if (exponent < -1000000) exponent = -1000000;
    snprintf(text + count, sizeof text - count, "e%d", (int)exponent);
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale)
        return strtod(text, NULL); /* text has no decimal point, only the point differs between locales */
    double value = strtod_l(text, NULL, locale);
    freelocale(locale);
    return value;
}

static bool starts_with(const char *at, const char *end, const char *text)
{
    for (; *text; text++, at++)
        if (at >= end || (*at | 32) != *text) return false;
    return true;
}

static bool scan_special(const char **at, const char *end, double sign, double *out)
{
    const char *p = *at;
    if (starts_with(p, end, "nan")) {
        p += 3;
        const char *q = p;
        if (q < end && *q == '(') { /* nan(ind) */
            while (q < end && *q != ')' && !rbli_is_line_end(*q))
                q++;
            if (q < end && *q == ')') p = q + 1;
        }
        *out = NAN;
    } else if (starts_with(p, end, "infinity")) {
        p += 8;
        *out = sign * INFINITY;
    } else if (starts_with(p, end, "inf")) {
        p += 3;
        *out = sign * INFINITY;
    } else {
        return false;
    }
    *at = p;
    return true;
}

/// "-12.3456789": what most numbers are, before a blank or the end of a line. Fewer than eight digits before the
/// point, at most ten behind it. @return false: any other text
static inline bool scan_plain(const char **at, const char *end, double *out)
{
    const char *p = *at;
    uint64_t word;
    if (end - p < 32) return false;
    bool negative = *p == '-';
    p += negative;
    memcpy(&word, p, sizeof word);
    int count = count_digits(word);
    if (count == 0 || count == 8 || p[count] != '.') return false;
    uint64_t mantissa = value_of_digits(word, count);
    p += count + 1;
    memcpy(&word, p, sizeof word);
    count = count_digits(word);
    if (count == 0) return false;
    mantissa = mantissa * powers_of_ten[count] + value_of_digits(word, count);
    p += count;
    for (; count >= 8 && count < 10 && is_digit(*p); count++)
        mantissa = mantissa * 10 + (uint64_t)(*p++ - '0');
    if ((*p != ' ' && *p != '\n') || mantissa >= (uint64_t)1 << 53) return false;
    double value = (double)mantissa / (double)powers_of_ten[count];
    *out = negative ? -value : value;
    *at = p;
    return true;
}

bool rbli_scan_double(const char **at, const char *end, double *out)
{
    if (scan_plain(at, end, out)) return true;
    const char *p = *at;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *begin = p;
    while (p < end && *p == '0')
        p++;
    const char *first = p; /* first significant digit of the integer part */
    uint64_t mantissa = scan_digits(&p, end, 0);
    int64_t digits = p - first, exponent = 0;
    bool any = p > begin;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        if (digits == 0) {
            while (p < end && *p == '0')
                p++;
        }
        const char *significant = p;
        mantissa = scan_digits(&p, end, mantissa);
        digits += p - significant;
        exponent = -(p - fraction);
        any |= p > fraction;
        if (any && p < end && *p == '#') { /* 1.#QNAN, 1.#INF: what one C library prints */
            while (p < end && !rbli_is_blank(*p) && !rbli_is_line_end(*p) && *p != '/')
                p++;
            *out = NAN;
            *at = p;
            return true;
        }
    }
    if (!any) {
        const char *word = begin;
        if (!scan_special(&word, end, negative ? -1 : 1, out)) return false;
        *at = word;
        return true;
    }
    const char *digits_end = p;
    int64_t written_exponent = 0;
    if (p < end && (*p | 32) == 'e') {
        const char *q = p + 1;
        bool minus = q < end && *q == '-';
        if (q < end && (*q == '-' || *q == '+')) q++;
        if (q < end && is_digit(*q)) {
            for (; q < end && is_digit(*q); q++)
                if (written_exponent < 100000000000) written_exponent = written_exponent * 10 + (*q - '0');
            if (minus) written_exponent = -written_exponent;
            p = q;
        }
    }
    exponent += written_exponent;
    double value;
    if (digits <= 19 && mantissa == 0) {
        value = 0;
    } else if (digits <= 19 && exponent >= -19 && exponent <= 19) {
        value = scale_exactly(mantissa, (int)exponent);
    } else {
        value = convert_long(begin, digits_end, written_exponent);
    }
    *out = negative ? -value : value;
    *at = p;
    return true;
}

size_t rbli_scan_indices(const rbli_scan *scan, int32_t out[3])
{
    const char *p = scan->at;
    if (scan->end - p < 32) return 0;
    for (int k = 0; k < 3; k++) {
        uint64_t word;
        if (*p++ != ' ') return 0;
        memcpy(&word, p, sizeof word);
        int count = count_digits(word);
        if (count == 0 || count == 8) return 0;
        out[k] = (int32_t)value_of_digits(word, count);
        p += count;
    }
    return *p == '\n' ? (size_t)(p - scan->at) : 0;
}

bool rbli_scan_int(const char **at, const char *end, int64_t *out)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p >= end || !is_digit(*p)) return false;
    const char *begin = p;
    int64_t value = (int64_t)scan_digits(&p, end, 0);
    if (p - begin > 18) { /* perhaps more than an int64 holds */
        value = 0;
        for (const char *q = begin; q < p; q++)
            if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *q - '0', &value))
                return false;
    }
    *out = negative ? -value : value;
    *at = p;
    return true;
}

void rbli_scan_line_end(rbli_scan *scan)
{
    if (scan->at >= scan->end || !rbli_is_line_end(*scan->at)) return;
    bool carriage = *scan->at++ == '\r';
    if (carriage && scan->at < scan->end && *scan->at == '\n') scan->at++;
    scan->line++;
}

void rbli_scan_blanks(rbli_scan *scan)
{
    while (scan->at < scan->end && rbli_is_blank(*scan->at))
        scan->at++;
}

void rbli_scan_space(rbli_scan *scan)
{
    for (;;) {
        rbli_scan_blanks(scan);
        if (scan->at >= scan->end || !rbli_is_line_end(*scan->at)) return;
        rbli_scan_line_end(scan);
    }
}

void rbli_scan_line(rbli_scan *scan)
{
    while (scan->at < scan->end && !rbli_is_line_end(*scan->at))
        scan->at++;
    rbli_scan_line_end(scan);
}

size_t rbli_scan_word(rbli_scan *scan, const char **word)
{
    *word = scan->at;
    while (!rbli_scan_at_gap(scan))
        scan->at++;
    return (size_t)(scan->at - *word);
}

size_t rbli_scan_rest(rbli_scan *scan, const char **rest)
{
    rbli_scan_blanks(scan);
    *rest = scan->at;
    while (!rbli_scan_at_line_end(scan))
        scan->at++;
    const char *end = scan->at;
    while (end > *rest && rbli_is_blank(end[-1]))
        end--;
    rbli_scan_line_end(scan);
    return (size_t)(end - *rest);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool rbli_word_is(const char *word, size_t length, const char *text)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == 0 || lower(word[i]) != lower(text[i])) return false;
    return text[length] == 0;
}

const char *rbli_scan_quote(const rbli_scan *scan, char out[44])
{
    rbli_scan rest = *scan;
    rbli_scan_blanks(&rest);
    const char *word;
    size_t length = rbli_scan_word(&rest, &word);
    if (length == 0) return strcpy(out, "the end of the line");
    size_t shown = length > 36 ? 36 : length, count = 0;
    out[count++] = '"';
    for (size_t i = 0; i < shown; i++)
        out[count++] = word[i] >= 33 && word[i] < 127 ? word[i] : '?';
    if (shown < length) {
        memcpy(out + count, "…", sizeof "…" - 1);
        count += sizeof "…" - 1;
    }
    out[count++] = '"';
    out[count] = 0;
    return out;
}
