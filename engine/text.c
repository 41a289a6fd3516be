/// Growing text, JSON writing, nearest names and tables of names.

#include "engine/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"

void rbli_text_init(rbli_text *text, rbli_allocator *allocator)
{
    *text = (rbli_text){.allocator = allocator};
}

void rbli_text_add(rbli_text *text, const char *bytes, size_t count)
{
    if (text->failed) return;
    if (text->capacity - text->length <= count) {
        size_t capacity = text->capacity + text->capacity / 2;
        if (capacity < text->length + count + 1) capacity = text->length + count + 1;
        if (capacity < 64) capacity = 64;
        char *data = rbli_allocator_realloc(text->allocator, text->data, capacity, 1);
        if (!data) {
            text->failed = true;
            return;
        }
        text->data = data;
        text->capacity = capacity;
    }
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void rbli_text_puts(rbli_text *text, const char *string)
{
    rbli_text_add(text, string, strlen(string));
}

void rbli_text_printf(rbli_text *text, const char *format, ...)
{
    char small[512];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = true;
    } else if ((size_t)length < sizeof small) {
        rbli_text_add(text, small, (size_t)length);
    } else {
        char *large = rbli_allocator_alloc(text->allocator, (size_t)length + 1, 1);
        if (large) {
            vsnprintf(large, (size_t)length + 1, format, again);
            rbli_text_add(text, large, (size_t)length);
            rbli_allocator_free(text->allocator, large);
        } else {
            text->failed = true;
        }
    }
    va_end(again);
}

rbl_status rbli_text_take(rbli_text *text, char **out)
{
    rbli_text_add(text, "", 0);
    if (text->failed) {
        rbli_text_free(text);
        return RBL_ERR_NO_MEMORY;
    }
    *out = text->data;
    text->data = NULL;
    text->length = text->capacity = 0;
    return RBL_OK;
}

void rbli_text_free(rbli_text *text)
{
    rbli_allocator_free(text->allocator, text->data);
    text->data = NULL;
    text->length = text->capacity = 0;
}

/// Length of the valid UTF-8 sequence at `s`, 0 when it is not one.
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    if (s[0] >= 0xC2 && s[0] <= 0xDF) return (s[1] & 0xC0) == 0x80 ? 2 : 0;
    if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        if ((s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80) return 0;
        if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
        if (s[0] == 0xED && s[1] > 0x9F) return 0;
        return 3;
    }
    if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        if ((s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80 || (s[3] & 0xC0) != 0x80) return 0;
        if (s[0] == 0xF0 && s[1] < 0x90) return 0;
        if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
        return 4;
    }
    return 0;
}

void rbli_text_json_string(rbli_text *text, const char *string)
{
    rbli_text_add(text, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)string; *s;) {
        size_t length = utf8_length(s);
        if (length == 0) {
            rbli_text_puts(text, "\xEF\xBF\xBD");
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            rbli_text_printf(text, "\\%c", *s);
        else if (*s == '\n')
            rbli_text_puts(text, "\\n");
        else if (*s == '\t')
            rbli_text_puts(text, "\\t");
        else if (*s < 0x20 || *s == 0x7F)
            rbli_text_printf(text, "\\u%04x", *s);
        else
            rbli_text_add(text, (const char *)s, length);
        s += length;
    }
    rbli_text_add(text, "\"", 1);
}

void rbli_text_json_double(rbli_text *text, double number)
{
    if (!isfinite(number)) {
        rbli_text_puts(text, "null");
        return;
    }
    char digits[64];
    if (number == trunc(number) && fabs(number) < 1e15) {
        snprintf(digits, sizeof digits, "%.0f", number + 0.0); /* no −0 */
        rbli_text_puts(text, digits);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number) break;
    }
    /* A locale may have written another decimal mark. */
    char out[64];
    size_t length = 0;
    bool mark = false;
    for (const char *d = digits; *d; d++) {
        bool plain = (*d >= '0' && *d <= '9') || *d == '-' || *d == '+' || *d == 'e';
        if (plain)
            out[length++] = *d;
        else if (!mark)
            out[length++] = '.';
        mark = !plain;
    }
    rbli_text_add(text, out, length);
}

enum { LONGEST_COMPARED = 64 };

static int fold(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

size_t rbli_edit_distance(const char *a, const char *b, size_t limit)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST_COMPARED || m > LONGEST_COMPARED || (n > m ? n - m : m - n) > limit) return limit + 1;
    size_t rows[3][LONGEST_COMPARED + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]) &&
                two_above[j - 2] + 1 < best)
                best = two_above[j - 2] + 1;
            row[j] = best;
        }
    }
    size_t distance = rows[n % 3][m];
    return distance > limit ? limit + 1 : distance;
}

void rbli_nearest_init(rbli_nearest *nearest, const char *wanted)
{
    size_t length = strlen(wanted);
    *nearest = (rbli_nearest){wanted, NULL, length < 3 ? 1 : length < 6 ? 2 : length / 3, 0};
    nearest->best_distance++;
}

/// How many bytes two names have in common from their beginning.
static size_t common_prefix(const char *a, const char *b)
{
    size_t length = 0;
    while (a[length] && fold(a[length]) == fold(b[length]))
        length++;
    return length;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The next word of a name in CamelCase or snake_case: its length, with *name at its beginning; 0: none left.
static size_t next_word(const char **name)
{
    const char *begin = *name;
    while (*begin && !is_letter(*begin))
        begin++;
    *name = begin;
    size_t length = 0;
    while (is_letter(begin[length])) {
        bool lower = length > 0 && begin[length - 1] >= 'a';
        if (lower && begin[length] <= 'Z') break;
        length++;
    }
    return length;
}

/// Letters of the words of `a` that are words of `b`, too; 0 unless they are half of either name.
static size_t shared_letters(const char *a, const char *b)
{
    size_t shared = 0, letters_a = 0, letters_b = 0, n, m;
    for (const char *w = b; (m = next_word(&w)) > 0; w += m)
        letters_b += m;
    for (const char *v = a; (n = next_word(&v)) > 0; v += n) {
        letters_a += n;
        bool found = false;
        for (const char *w = b; !found && (m = next_word(&w)) > 0; w += m) {
            found = m == n;
            for (size_t i = 0; i < n && found; i++)
                found = fold(v[i]) == fold(w[i]);
        }
        shared += found ? n : 0;
    }
    return shared >= 4 && (2 * shared >= letters_a || 2 * shared >= letters_b) ? shared : 0;
}

void rbli_nearest_feed(rbli_nearest *nearest, const char *candidate)
{
    size_t distance = rbli_edit_distance(nearest->wanted, candidate, nearest->best_distance - 1);
    size_t common = common_prefix(nearest->wanted, candidate);
    if ((!nearest->best || nearest->shared) && common >= 3 &&
        (!nearest->wanted[common] || !candidate[common])) {
        /* One is the beginning of the other: worth a word while nothing is nearer. */
        nearest->best = candidate;
        if (distance > nearest->best_distance) distance = nearest->best_distance;
        nearest->best_distance = distance ? distance : 1;
        nearest->shared = 0;
        return;
    }
    if (distance >= nearest->best_distance || distance >= strlen(candidate)) {
        size_t shared = nearest->best && !nearest->shared ? 0 : shared_letters(nearest->wanted, candidate);
        if (shared <= nearest->shared) return;
        nearest->best = candidate;
        nearest->shared = shared;
        return;
    }
    nearest->shared = 0;
    nearest->best = candidate;
    nearest->best_distance = distance ? distance : 1;
}

typedef struct rbli_name_slot {
    const char *name; /* NULL: free */
    uint64_t hash;
    size_t number;
} rbli_name_slot;

void rbli_name_table_init(rbli_name_table *table, rbli_allocator *allocator)
{
    *table = (rbli_name_table){.allocator = allocator};
}

void rbli_name_table_free(rbli_name_table *table)
{
    rbli_allocator_free(table->allocator, table->slots);
    table->slots = NULL;
    table->capacity = table->count = 0;
}

/// The slot of a name, or the free slot where it belongs. The table has a free slot.
static rbli_name_slot *find_slot(
    const rbli_name_table *table, rbli_name_slot *slots, size_t capacity, const char *name, uint64_t hash)
{
    (void)table;
    for (size_t i = (size_t)hash & (capacity - 1);; i = (i + 1) & (capacity - 1))
        if (!slots[i].name || (slots[i].hash == hash && strcmp(slots[i].name, name) == 0)) return &slots[i];
}

static rbl_status grow_table(rbli_name_table *table)
{
    size_t capacity = table->capacity ? table->capacity * 2 : 16;
    rbli_name_slot *slots = rbli_allocator_calloc(table->allocator, capacity, sizeof *slots);
    if (!slots) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i].name)
            *find_slot(table, slots, capacity, table->slots[i].name, table->slots[i].hash) = table->slots[i];
    rbli_allocator_free(table->allocator, table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return RBL_OK;
}

rbl_status rbli_name_table_add(rbli_name_table *table, const char *name, size_t number, size_t *existing)
{
    if (table->count * 2 >= table->capacity) {
        rbl_status status = grow_table(table);
        if (status != RBL_OK) return status;
    }
    uint64_t hash = rbli_hash64(name, strlen(name));
    rbli_name_slot *slot = find_slot(table, table->slots, table->capacity, name, hash);
    *existing = slot->name ? slot->number : SIZE_MAX;
    if (!slot->name) {
        *slot = (rbli_name_slot){name, hash, number};
        table->count++;
    }
    return RBL_OK;
}

size_t rbli_name_table_find(const rbli_name_table *table, const char *name)
{
    if (!table->capacity) return SIZE_MAX;
    rbli_name_slot *slot =
        find_slot(table, table->slots, table->capacity, name, rbli_hash64(name, strlen(name)));
    return slot->name ? slot->number : SIZE_MAX;
}
