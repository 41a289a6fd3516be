/// Attribute arrays. One allocation a buffer: header, values, offsets, and for strings a second copy of the
/// text in which each string is ended by a zero byte. Values that were adopted are an allocation of their own.

#include "fracture/collection/buffer.h"

#include "fracture/base/alloc.h"

struct rbli_buffer {
    rbli_allocator *allocator;
    atomic_size_t references;
    atomic_bool hash_known; /* published after the two words below */
    _Atomic(uint64_t) hash_low, hash_high;
    rbl_type type;
    bool is_list;
    size_t count;       /* elements; of a list array: lists */
    size_t value_count; /* elements, or the concatenated values of all lists */
    size_t bytes;       /* of the whole allocation, adopted values included */
    void *values;
    void *adopted;     /* the values when they are an allocation of their own, else NULL */
    uint64_t *offsets; /* [count + 1], NULL unless a list array */
    char *strings;     /* string i starts at offsets[i] + i; NULL unless a list array of CHAR */
};

size_t rbl_type_bytes(rbl_type type)
{
    switch (type) {
#define RBL_TYPE_CASE(name, number, bytes, word)                                                             \
    case RBL_##name:                                                                                         \
        return bytes;
        RBL_TYPE_LIST(RBL_TYPE_CASE)
#undef RBL_TYPE_CASE
    }
    return 0;
}

const char *rbl_type_word(rbl_type type)
{
    switch (type) {
#define RBL_TYPE_CASE(name, number, bytes, word)                                                             \
    case RBL_##name:                                                                                         \
        return word;
        RBL_TYPE_LIST(RBL_TYPE_CASE)
#undef RBL_TYPE_CASE
    }
    return "unknown";
}

static bool add_aligned(size_t *bytes, size_t count, size_t size)
{
    size_t part;
    return !__builtin_mul_overflow(count, size, &part) && !__builtin_add_overflow(part, 15, &part) &&
           !__builtin_add_overflow(*bytes, part & ~(size_t)15, bytes);
}

/// Lays out and allocates a buffer; values, offsets and strings are not set. NULL without memory.
static rbli_buffer *allocate(
    rbli_allocator *allocator, rbl_type type, bool is_list, size_t count, size_t value_count)
{
    size_t bytes = 0;
    size_t values_at, offsets_at, strings_at;
    bool is_text = is_list && type == RBL_CHAR;
    if (!add_aligned(&bytes, 1, sizeof(rbli_buffer))) return NULL;
    values_at = bytes;
    if (!add_aligned(&bytes, value_count, rbl_type_bytes(type))) return NULL;
    offsets_at = bytes;
    if (is_list && (count == SIZE_MAX || !add_aligned(&bytes, count + 1, sizeof(uint64_t)))) return NULL;
    strings_at = bytes;
    if (is_text) {
        size_t text_bytes;
        if (__builtin_add_overflow(value_count, count, &text_bytes)) return NULL;
        if (!add_aligned(&bytes, text_bytes, 1)) return NULL;
    }
    rbli_buffer *buffer = rbli_allocator_alloc(allocator, bytes, 1);
    if (!buffer) return NULL;
    memset(buffer, 0, sizeof *buffer);
    buffer->allocator = rbli_allocator_retain(allocator);
    atomic_init(&buffer->references, 1);
    buffer->type = type;
    buffer->is_list = is_list;
    buffer->count = count;
    buffer->value_count = value_count;
    buffer->bytes = bytes;
    buffer->values = (char *)buffer + values_at;
    if (is_list) buffer->offsets = (uint64_t *)((char *)buffer + offsets_at);
    if (is_text) buffer->strings = (char *)buffer + strings_at;
    return buffer;
}

/// Fills `strings` from values and offsets.
static void end_strings(rbli_buffer *buffer)
{
    if (!buffer->strings) return;
    const char *values = buffer->values;
    for (size_t i = 0; i < buffer->count; i++) {
        size_t begin = buffer->offsets[i], length = buffer->offsets[i + 1] - begin;
        if (length > 0) memcpy(buffer->strings + begin + i, values + begin, length);
        buffer->strings[begin + i + length] = 0;
    }
}

rbl_status rbli_buffer_create_unset(
    rbl_context *ctx, rbl_type type, size_t count, void **values, rbli_buffer **out)
{
    if (rbl_type_bytes(type) == 0)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "unknown element type %d", (int)type);
    rbli_buffer *buffer = allocate(ctx->allocator, type, false, count, count);
    if (!buffer) return RBL_ERR_NO_MEMORY;
    *values = buffer->values;
    *out = buffer;
    return RBL_OK;
}

rbl_status rbli_buffer_create(rbl_context *ctx, rbl_type type, size_t count, rbli_buffer **out)
{
    void *values;
    rbli_buffer *buffer;
    rbl_status status = rbli_buffer_create_unset(ctx, type, count, &values, &buffer);
    if (status != RBL_OK) return status;
    status = rbli_clear_polled(ctx, values, count * rbl_type_bytes(type));
    if (status == RBL_OK)
        *out = buffer;
    else
        rbli_buffer_release(buffer);
    return status;
}

rbl_status rbli_buffer_adopt(rbl_context *ctx, rbl_type type, size_t count, void *values, rbli_buffer **out)
{
    void *none;
    rbli_buffer *buffer;
    rbl_status status = rbli_buffer_create_unset(ctx, type, 0, &none, &buffer);
    if (status != RBL_OK) return status;
    buffer->count = buffer->value_count = count;
    buffer->bytes += count * rbl_type_bytes(type);
    buffer->values = buffer->adopted = values;
    *out = buffer;
    return RBL_OK;
}

rbl_status rbli_buffer_create_list_unset(
    rbl_context *ctx, rbl_type type, size_t count, const uint64_t *offsets, void **values, rbli_buffer **out)
{
    if (rbl_type_bytes(type) == 0)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "unknown element type %d", (int)type);
    if (offsets[0] != 0) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "list offset 0 is not 0");
    for (size_t i = 0; i < count; i++)
        if (offsets[i + 1] < offsets[i])
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "list offset %zu is less than the one before", i + 1);
    rbli_buffer *buffer = allocate(ctx->allocator, type, true, count, offsets[count]);
    if (!buffer) return RBL_ERR_NO_MEMORY;
    memcpy(buffer->offsets, offsets, (count + 1) * sizeof *offsets);
    *values = buffer->values;
    *out = buffer;
    return RBL_OK;
}

rbl_status rbli_buffer_create_list(rbl_context *ctx, rbl_type type, size_t count, const uint64_t *offsets,
    const void *values, rbli_buffer **out)
{
    void *copy;
    rbl_status status = rbli_buffer_create_list_unset(ctx, type, count, offsets, &copy, out);
    if (status != RBL_OK) return status;
    if (offsets[count] > 0) memcpy(copy, values, offsets[count] * rbl_type_bytes(type));
    end_strings(*out);
    return RBL_OK;
}

rbl_status rbli_buffer_create_strings(
    rbl_context *ctx, size_t count, const char *const *strings, rbli_buffer **out)
{
    size_t text_bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (strings[i] && __builtin_add_overflow(text_bytes, strlen(strings[i]), &text_bytes))
            return RBL_ERR_NO_MEMORY;
    rbli_buffer *buffer = allocate(ctx->allocator, RBL_CHAR, true, count, text_bytes);
    if (!buffer) return RBL_ERR_NO_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strings[i] ? strlen(strings[i]) : 0;
        buffer->offsets[i] = at;
        if (length > 0) memcpy((char *)buffer->values + at, strings[i], length);
        at += length;
    }
    buffer->offsets[count] = at;
    end_strings(buffer);
    *out = buffer;
    return RBL_OK;
}

bool rbli_text_is_valid(const char *text, size_t count)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + count;
    while (at < end) {
        uint32_t c = *at++;
        if (c == 0) return false;
        if (c < 0x80) continue;
        int more = c >= 0xc2 && c <= 0xdf ? 1 : (c & 0xf0) == 0xe0 ? 2 : c >= 0xf0 && c <= 0xf4 ? 3 : 0;
        if (more == 0 || end - at < more) return false;
        uint32_t code = c & (0x3fu >> more);
        for (int i = 0; i < more; i++, at++) {
            if ((*at & 0xc0) != 0x80) return false;
            code = code << 6 | (*at & 0x3f);
        }
        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
        if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000)) return false;
    }
    return true;
}

rbli_buffer *rbli_buffer_retain(rbli_buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
    return buffer;
}

void rbli_buffer_release(rbli_buffer *buffer)
{
    if (!buffer) return;
    if (atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel) != 1) return;
    rbli_allocator *allocator = buffer->allocator;
    rbli_allocator_free(allocator, buffer->adopted);
    rbli_allocator_free(allocator, buffer);
    rbli_allocator_release(allocator);
}

rbl_type rbli_buffer_type(const rbli_buffer *buffer)
{
    return buffer->type;
}

bool rbli_buffer_is_list(const rbli_buffer *buffer)
{
    return buffer->is_list;
}

size_t rbli_buffer_count(const rbli_buffer *buffer)
{
    return buffer->count;
}

size_t rbli_buffer_bytes(const rbli_buffer *buffer)
{
    return buffer->bytes;
}

const void *rbli_buffer_data(const rbli_buffer *buffer)
{
    return buffer->values;
}

const uint64_t *rbli_buffer_offsets(const rbli_buffer *buffer)
{
    return buffer->offsets;
}

const char *rbli_buffer_string(const rbli_buffer *buffer, size_t index)
{
    if (!buffer->strings || index >= buffer->count) return "";
    return buffer->strings + buffer->offsets[index] + index;
}

void *rbli_buffer_write(rbl_context *ctx, rbli_buffer **buffer)
{
    rbli_buffer *old = *buffer;
    if (old->is_list) return NULL;
    if (rbli_buffer_is_shared(old)) {
        rbli_buffer *clone = allocate(ctx->allocator, old->type, false, old->count, old->count);
        if (!clone) return NULL;
        memcpy(clone->values, old->values, old->count * rbl_type_bytes(old->type));
        rbli_buffer_release(old);
        *buffer = clone;
        return clone->values;
    }
    atomic_store_explicit(&old->hash_known, false, memory_order_relaxed);
    return old->values;
}

/// Several threads may compute at once; they store the same words, and whoever sees the flag sees the words.
rbl_status rbli_buffer_hash_polled(const rbl_context *ctx, const rbli_buffer *buffer)
{
    rbl_status status = RBL_OK;
    rbli_buffer *cache = (rbli_buffer *)buffer;
    if (atomic_load_explicit(&cache->hash_known, memory_order_acquire)) return RBL_OK;
    const uint64_t head[3] = {(uint64_t)buffer->type, buffer->is_list, buffer->count};
    rbli_hash hash, part;
    RBL_TRY(rbli_hash_bytes_polled(
        ctx, buffer->values, buffer->value_count * rbl_type_bytes(buffer->type), &part));
    hash = rbli_hash_combine(rbli_hash_bytes(head, sizeof head), part);
    if (buffer->is_list) {
        RBL_TRY(rbli_hash_bytes_polled(
            ctx, buffer->offsets, (buffer->count + 1) * sizeof *buffer->offsets, &part));
        hash = rbli_hash_combine(hash, part);
    }
    atomic_store_explicit(&cache->hash_low, hash.low, memory_order_relaxed);
    atomic_store_explicit(&cache->hash_high, hash.high, memory_order_relaxed);
    atomic_store_explicit(&cache->hash_known, true, memory_order_release);
done:
    return status;
}

rbli_hash rbli_buffer_hash(const rbli_buffer *buffer)
{
    static const rbl_context without_end; /* cannot be cancelled */
    rbli_buffer *cache = (rbli_buffer *)buffer;
    rbli_buffer_hash_polled(&without_end, buffer);
    return (rbli_hash){atomic_load_explicit(&cache->hash_low, memory_order_relaxed),
        atomic_load_explicit(&cache->hash_high, memory_order_relaxed)};
}

bool rbli_buffer_is_shared(const rbli_buffer *buffer)
{
    return atomic_load_explicit(&((rbli_buffer *)buffer)->references, memory_order_acquire) > 1;
}

/// Element i of the result is element source[i] of a list array (−1: an empty list).
static rbl_status gather_list(
    rbl_context *ctx, const rbli_buffer *buffer, const int32_t *source, size_t count, rbli_buffer **out)
{
    size_t value_count = 0, size = rbl_type_bytes(buffer->type);
    for (size_t i = 0; i < count; i++) {
        if (source[i] < 0) continue;
        size_t length = buffer->offsets[source[i] + 1] - buffer->offsets[source[i]];
        if (__builtin_add_overflow(value_count, length, &value_count)) return RBL_ERR_NO_MEMORY;
    }
    rbli_buffer *made = allocate(ctx->allocator, buffer->type, true, count, value_count);
    if (!made) return RBL_ERR_NO_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        made->offsets[i] = at;
        if (source[i] < 0) continue;
        size_t begin = buffer->offsets[source[i]], length = buffer->offsets[source[i] + 1] - begin;
        if (length > 0)
            memcpy((char *)made->values + at * size, (char *)buffer->values + begin * size, length * size);
        at += length;
    }
    made->offsets[count] = at;
    end_strings(made);
    *out = made;
    return RBL_OK;
}

enum { GATHERED_AT_ONCE = 1 << 16 }; /* between looks at the request to cancel */

#define GATHER_ELEMENTS(bytes)                                                                               \
    case bytes:                                                                                              \
        for (size_t i = begin; i < end; i++) {                                                               \
            const char *element = source[i] < 0 ? zeros : from + (size_t)source[i] * (bytes);                \
            memcpy(to + i * (bytes), element, bytes);                                                        \
        }                                                                                                    \
        break

/// Elements begin … end − 1 of what is gathered.
static void gather_elements(
    const rbli_buffer *buffer, const int32_t *source, size_t begin, size_t end, rbli_buffer *made)
{
    static const char zeros[128];
    const char *from = buffer->values;
    char *to = made->values;
    switch (rbl_type_bytes(buffer->type)) {
        GATHER_ELEMENTS(1);
        GATHER_ELEMENTS(4);
        GATHER_ELEMENTS(8);
        GATHER_ELEMENTS(12);
        GATHER_ELEMENTS(16);
        GATHER_ELEMENTS(24);
        GATHER_ELEMENTS(32);
        GATHER_ELEMENTS(128);
    }
}

rbl_status rbli_buffer_gather_checked(
    rbl_context *ctx, const rbli_buffer *buffer, const int32_t *source, size_t count, rbli_buffer **out)
{
    if (buffer->is_list) return gather_list(ctx, buffer, source, count, out);
    rbli_buffer *made = allocate(ctx->allocator, buffer->type, false, count, count);
    if (!made) return RBL_ERR_NO_MEMORY;
    for (size_t begin = 0; begin < count; begin += GATHERED_AT_ONCE) {
        if (rbli_cancelled(ctx)) {
            rbli_buffer_release(made);
            return RBL_ERR_CANCELLED;
        }
        size_t end = count - begin < GATHERED_AT_ONCE ? count : begin + GATHERED_AT_ONCE;
        gather_elements(buffer, source, begin, end, made);
    }
    *out = made;
    return RBL_OK;
}

rbl_status rbli_buffer_gather(
    rbl_context *ctx, const rbli_buffer *buffer, const int32_t *source, size_t count, rbli_buffer **out)
{
    for (size_t i = 0; i < count; i++) {
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        if (source[i] < -1 || (source[i] >= 0 && (size_t)source[i] >= buffer->count))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT,
                "element %zu is gathered from %d, which is not one of %zu", i, (int)source[i], buffer->count);
    }
    return rbli_buffer_gather_checked(ctx, buffer, source, count, out);
}

rbl_status rbli_buffer_resize(rbl_context *ctx, const rbli_buffer *buffer, size_t count, rbli_buffer **out)
{
    size_t kept = count < buffer->count ? count : buffer->count, size = rbl_type_bytes(buffer->type);
    size_t kept_values = buffer->is_list ? buffer->offsets[kept] : kept;
    rbli_buffer *made =
        allocate(ctx->allocator, buffer->type, buffer->is_list, count, buffer->is_list ? kept_values : count);
    if (!made) return RBL_ERR_NO_MEMORY;
    memcpy(made->values, buffer->values, kept_values * size);
    if (buffer->is_list) {
        memcpy(made->offsets, buffer->offsets, (kept + 1) * sizeof *made->offsets);
        for (size_t i = kept; i < count; i++)
            made->offsets[i + 1] = kept_values;
        end_strings(made);
    } else {
        memset((char *)made->values + kept * size, 0, (count - kept) * size);
    }
    *out = made;
    return RBL_OK;
}

rbl_status rbli_buffer_concat(rbl_context *ctx, const rbli_buffer *a, const rbli_buffer *b, rbli_buffer **out)
{
    if (a->type != b->type || a->is_list != b->is_list)
        return rbli_fail(ctx, RBL_ERR_TYPE, "arrays of %s%s and %s%s cannot be joined",
            a->is_list ? "lists of " : "", rbl_type_word(a->type), b->is_list ? "lists of " : "",
            rbl_type_word(b->type));
    size_t count, value_count, size = rbl_type_bytes(a->type);
    if (__builtin_add_overflow(a->count, b->count, &count)) return RBL_ERR_NO_MEMORY;
    if (__builtin_add_overflow(a->value_count, b->value_count, &value_count)) return RBL_ERR_NO_MEMORY;
    rbli_buffer *made = allocate(ctx->allocator, a->type, a->is_list, count, value_count);
    if (!made) return RBL_ERR_NO_MEMORY;
    memcpy(made->values, a->values, a->value_count * size);
    memcpy((char *)made->values + a->value_count * size, b->values, b->value_count * size);
    if (a->is_list) {
        memcpy(made->offsets, a->offsets, (a->count + 1) * sizeof *made->offsets);
        for (size_t i = 0; i < b->count; i++)
            made->offsets[a->count + i + 1] = a->value_count + b->offsets[i + 1];
        end_strings(made);
    }
    *out = made;
    return RBL_OK;
}
