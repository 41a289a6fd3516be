#include "tests/fuzz/mutate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/rng.h"

/// A file under change; has room for twice the seed and a little.
typedef struct variant {
    uint8_t *bytes;
    size_t count, room;
    rbli_rng rng;
} variant;

static size_t below(variant *v, size_t bound)
{
    return bound ? rbli_rng_below(&v->rng, bound > UINT32_MAX ? UINT32_MAX : (uint32_t)bound) : 0;
}

/// Puts `count` bytes in the place of bytes at … at + old; not when there is no room.
static void replace(variant *v, size_t at, size_t old, const void *bytes, size_t count)
{
    if (at + old > v->count || v->count - old + count > v->room) return;
    memmove(v->bytes + at + count, v->bytes + at + old, v->count - at - old);
    memcpy(v->bytes + at, bytes, count);
    v->count = v->count - old + count;
}

static void flip_bits(variant *v)
{
    for (size_t i = 1 + below(v, 8); i > 0 && v->count; i--)
        v->bytes[below(v, v->count)] ^= (uint8_t)(1u << below(v, 8));
}

static void put_bytes(variant *v)
{
    static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff, '\n', '\r', ' ', '-', '.', '/', '"', '{', '}',
        '[', ']', ',', ':', '#', '\\', '<', '>', '&', '*', 'e', '9'};
    for (size_t i = 1 + below(v, 4); i > 0 && v->count; i--)
        v->bytes[below(v, v->count)] = special[below(v, sizeof special)];
}

static bool is_numeric(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+';
}

/// Replaces a number of a text.
static void change_number(variant *v)
{
    static const char *const special[] = {"nan", "inf", "-inf", "1e308", "-1e308", "1e309", "1e150", "1e15",
        "1e-320", "-1", "0", "-0", "1", "4294967295", "4294967296", "2147483647", "2147483648", "-2147483648",
        "18446744073709551615", "18446744073709551616", "9007199254740993", "1e999999999999", "", "0x10",
        "1.5", "--1", "1,5", "99999999999999999999999999999999999999999999999999"};
    if (!v->count) return;
    size_t begin = below(v, v->count), end;
    while (begin < v->count && !is_numeric(v->bytes[begin]))
        begin++;
    while (begin > 0 && begin < v->count && is_numeric(v->bytes[begin - 1]))
        begin--;
    for (end = begin; end < v->count && (is_numeric(v->bytes[end]) || v->bytes[end] == 'e'); end++)
        ;
    const char *text = special[below(v, sizeof special / sizeof *special)];
    replace(v, begin, end - begin, text, strlen(text));
}

/// Replaces 2, 4 or 8 bytes, of either order, by a number that hurts.
static void change_word(variant *v)
{
    static const uint64_t special[] = {0, 1, 2, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
        0xfffffffe, 0x7f800000 /* inf */, 0x7fc00000 /* nan */, 0xff800000, 0x7f7fffff /* largest float */,
        0x1ffffffff, 0x7ff0000000000000, 0x7ff8000000000000, 0x7fefffffffffffff, 0xffffffffffffffff,
        0x8000000000000000, 0x55555556 /* × 3 overflows */, 0x40000000, 0x10000001};
    size_t width = (size_t)2 << below(v, 3);
    if (v->count < width) return;
    size_t at = below(v, v->count - width + 1);
    if (below(v, 4)) at -= at % width;
    uint64_t word = special[below(v, sizeof special / sizeof *special)];
    if (!below(v, 4)) { /* one more or one less than it was */
        memcpy(&word, v->bytes + at, width);
        word += below(v, 2) ? 1 : UINT64_MAX;
    }
    uint8_t bytes[8];
    bool big = !below(v, 4);
    for (size_t i = 0; i < width; i++)
        bytes[big ? width - 1 - i : i] = (uint8_t)(word >> 8 * i);
    memcpy(v->bytes + at, bytes, width);
}

/// Exchanges two words, as when lengths or offsets are mixed up.
static void swap_words(variant *v)
{
    uint8_t word[4];
    if (v->count < 8) return;
    size_t a = below(v, v->count - 3) & ~(size_t)3, b = below(v, v->count - 3) & ~(size_t)3;
    memcpy(word, v->bytes + a, 4);
    memmove(v->bytes + a, v->bytes + b, 4);
    memcpy(v->bytes + b, word, 4);
}

/// A part of the file: some bytes, or whole lines.
static void choose_part(variant *v, size_t *at, size_t *count)
{
    *at = below(v, v->count);
    *count = below(v, below(v, 3) ? 64 : v->count);
    if (*count > v->count - *at) *count = v->count - *at;
    if (below(v, 2)) return;
    while (*at > 0 && v->bytes[*at - 1] != '\n')
        (*at)--;
    *count = 0;
    for (size_t lines = 1 + below(v, 3); lines > 0 && *at + *count < v->count;)
        lines -= v->bytes[*at + (*count)++] == '\n';
}

static void double_part(variant *v)
{
    size_t at, count;
    choose_part(v, &at, &count);
    uint8_t *copy = malloc(count + 1);
    if (!copy) return;
    memcpy(copy, v->bytes + at, count);
    replace(v, below(v, 2) ? at : below(v, v->count + 1), 0, copy, count);
    free(copy);
}

static void lose_part(variant *v)
{
    size_t at, count;
    choose_part(v, &at, &count);
    replace(v, at, count, "", 0);
}

static void swap_parts(variant *v)
{
    size_t at, count;
    choose_part(v, &at, &count);
    uint8_t *copy = malloc(count + 1);
    if (!copy) return;
    memcpy(copy, v->bytes + at, count);
    replace(v, at, count, "", 0);
    replace(v, below(v, v->count + 1), 0, copy, count);
    free(copy);
}

static void cut_off(variant *v)
{
    v->count = below(v, v->count + 1);
}

static void change(variant *v)
{
    static void (*const ways[])(variant *) = {flip_bits, put_bytes, change_number, change_number, change_word,
        change_word, swap_words, double_part, lose_part, swap_parts, cut_off};
    ways[below(v, sizeof ways / sizeof *ways)](v);
}

uint8_t *make_variant(
    const uint8_t *seed, size_t seed_count, size_t number, size_t variants, size_t *out_count)
{
    variant v = {.count = seed_count, .room = 2 * seed_count + 1000};
    v.rng = rbli_rng_make(20261130, RBLI_RNG_TEST, number);
    v.bytes = malloc(v.room);
    if (!v.bytes) return NULL;
    memcpy(v.bytes, seed, seed_count);
    size_t truncations = variants / 4;
    if (number < truncations) {
        v.count = (size_t)((double)seed_count * (double)number / (double)truncations);
    } else {
        size_t times = 1;
        while (times < 5 && !below(&v, 3))
            times++;
        for (size_t i = 0; i < times && v.count; i++)
            change(&v);
    }
    *out_count = v.count;
    uint8_t *exact = malloc(v.count ? v.count : 1);
    if (exact) memcpy(exact, v.bytes, v.count);
    free(v.bytes);
    return exact;
}
