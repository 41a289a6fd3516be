/// Allocation: every block carries its size in a 16-byte header, so that hosts get sizes when they free.

#include "fracture/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

#include "fracture/base/large_blocks.h"

struct rbli_allocator {
    rbli_reallocate_fn reallocate;
    void *user;
    atomic_size_t references;
    atomic_size_t bytes, peak_bytes;
    size_t limit; /* 0: none */
    bool (*evict)(void *user, size_t bytes);
    void *evict_user;
    atomic_size_t refusals, refused_bytes, refused_beside_bytes;
};

enum { SMALL_BYTES = 4096, MOST_RESERVE_BYTES = 1 << 20 };

typedef struct block_header {
    _Alignas(16) size_t bytes; /* with the header */
} block_header;
_Static_assert(sizeof(block_header) == 16, "a block stays 16-byte aligned");

/// The C library's, but large blocks are our own. `user`: those, or NULL.
static void *reallocate_by_default(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    rbli_large_blocks *blocks = user;
    bool was_large = blocks && pointer && old_bytes >= RBLI_LARGE_BYTES;
    bool is_large = blocks && new_bytes >= RBLI_LARGE_BYTES;
    if (!was_large && !is_large) {
        if (new_bytes) return realloc(pointer, new_bytes);
        free(pointer);
        return NULL;
    }
    if (was_large && is_large && rbli_large_blocks_resize(blocks, pointer, new_bytes)) return pointer;
    void *moved = NULL;
    if (new_bytes) {
        moved = is_large ? rbli_large_blocks_alloc(blocks, new_bytes) : malloc(new_bytes);
        if (!moved) return NULL;
        if (pointer) memcpy(moved, pointer, old_bytes < new_bytes ? old_bytes : new_bytes);
    }
    if (was_large) {
        rbli_large_blocks_free(blocks, pointer);
    } else {
        free(pointer);
    }
    return moved;
}

rbli_allocator *rbli_allocator_create(rbli_reallocate_fn reallocate, void *user)
{
    bool is_default = !reallocate;
    if (is_default) {
        reallocate = reallocate_by_default;
        user = rbli_large_blocks_create();
    }
    rbli_allocator *allocator = reallocate(user, NULL, 0, sizeof *allocator);
    if (!allocator) {
        if (is_default) rbli_large_blocks_destroy(user);
        return NULL;
    }
    memset(allocator, 0, sizeof *allocator);
    allocator->reallocate = reallocate;
    allocator->user = user;
    atomic_init(&allocator->references, 1);
    return allocator;
}

rbli_allocator *rbli_allocator_retain(rbli_allocator *allocator)
{
    atomic_fetch_add_explicit(&allocator->references, 1, memory_order_relaxed);
    return allocator;
}

void rbli_allocator_release(rbli_allocator *allocator)
{
    if (!allocator || atomic_fetch_sub_explicit(&allocator->references, 1, memory_order_acq_rel) != 1) return;
    void *user = allocator->user;
    bool is_default = allocator->reallocate == reallocate_by_default;
    allocator->reallocate(user, allocator, sizeof *allocator, 0);
    if (is_default) rbli_large_blocks_destroy(user);
}

size_t rbli_allocator_bytes(const rbli_allocator *allocator)
{
    return atomic_load_explicit(&allocator->bytes, memory_order_relaxed);
}

size_t rbli_allocator_peak_bytes(const rbli_allocator *allocator)
{
    return atomic_load_explicit(&allocator->peak_bytes, memory_order_relaxed);
}

void rbli_allocator_set_limit(
    rbli_allocator *allocator, size_t bytes, bool (*evict)(void *user, size_t bytes), void *user)
{
    allocator->limit = bytes;
    allocator->evict = evict;
    allocator->evict_user = user;
}

size_t rbli_allocator_limit(const rbli_allocator *allocator)
{
    return allocator->limit;
}

size_t rbli_allocator_refusals(const rbli_allocator *allocator)
{
    return atomic_load_explicit(&allocator->refusals, memory_order_relaxed);
}

void rbli_allocator_last_refusal(const rbli_allocator *allocator, size_t *asked_bytes, size_t *used_bytes)
{
    *asked_bytes = atomic_load_explicit(&allocator->refused_bytes, memory_order_relaxed);
    *used_bytes = atomic_load_explicit(&allocator->refused_beside_bytes, memory_order_relaxed);
}

/// Counts `more` bytes beforehand if the limit allows it, after evicting where that helps.
static bool reserve(rbli_allocator *allocator, size_t more)
{
    size_t limit = allocator->limit, spare = limit / 64;
    if (spare > MOST_RESERVE_BYTES) spare = MOST_RESERVE_BYTES;
    if (more > SMALL_BYTES) limit -= spare;
    size_t before;
    for (;;) {
        before = atomic_fetch_add_explicit(&allocator->bytes, more, memory_order_relaxed);
        if (more <= limit && before <= limit - more) return true;
        atomic_fetch_sub_explicit(&allocator->bytes, more, memory_order_relaxed);
        if (more > limit || !allocator->evict ||
            !allocator->evict(allocator->evict_user, before + more - limit))
            break;
    }
    atomic_store_explicit(&allocator->refused_bytes, more, memory_order_relaxed);
    atomic_store_explicit(&allocator->refused_beside_bytes, before, memory_order_relaxed);
    atomic_fetch_add_explicit(&allocator->refusals, 1, memory_order_relaxed);
    return false;
}

static void account(rbli_allocator *allocator, size_t old_bytes, size_t new_bytes)
{
    size_t now = atomic_fetch_add_explicit(&allocator->bytes, new_bytes - old_bytes, memory_order_relaxed) +
                 (new_bytes - old_bytes);
    size_t peak = atomic_load_explicit(&allocator->peak_bytes, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak_explicit(&allocator->peak_bytes, &peak, now,
                             memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void *reallocate_block(rbli_allocator *allocator, void *pointer, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    if (__builtin_add_overflow(bytes, sizeof(block_header), &bytes)) return NULL;
    if (bytes > PTRDIFF_MAX) return NULL;
    block_header *old = pointer ? (block_header *)pointer - 1 : NULL;
    size_t old_bytes = old ? old->bytes : 0;
    size_t reserved = allocator->limit && bytes > old_bytes ? bytes - old_bytes : 0;
    if (reserved && !reserve(allocator, reserved)) return NULL;
    block_header *block = allocator->reallocate(allocator->user, old, old_bytes, bytes);
    if (!block) {
        atomic_fetch_sub_explicit(&allocator->bytes, reserved, memory_order_relaxed);
        return NULL;
    }
    block->bytes = bytes;
    account(allocator, old_bytes + reserved, bytes);
    return block + 1;
}

void *rbli_allocator_alloc(rbli_allocator *allocator, size_t count, size_t size)
{
    return reallocate_block(allocator, NULL, count, size);
}

void *rbli_allocator_calloc(rbli_allocator *allocator, size_t count, size_t size)
{
    void *pointer = reallocate_block(allocator, NULL, count, size);
    if (pointer) memset(pointer, 0, count * size);
    return pointer;
}

void *rbli_allocator_realloc(rbli_allocator *allocator, void *pointer, size_t count, size_t size)
{
    return reallocate_block(allocator, pointer, count, size);
}

void rbli_allocator_free(rbli_allocator *allocator, void *pointer)
{
    if (!pointer) return;
    block_header *block = (block_header *)pointer - 1;
    account(allocator, block->bytes, 0);
    allocator->reallocate(allocator->user, block, block->bytes, 0);
}

enum { PART_BYTES = 1 << 22 }; /* written between looks at the request to cancel */

rbl_status rbli_clear_polled(const rbl_context *ctx, void *to, size_t bytes)
{
    for (size_t at = 0, part; at < bytes; at += part) {
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        part = bytes - at < PART_BYTES ? bytes - at : PART_BYTES;
        memset((char *)to + at, 0, part);
    }
    return RBL_OK;
}

rbl_status rbli_copy_polled(const rbl_context *ctx, void *to, const void *from, size_t bytes)
{
    for (size_t at = 0, part; at < bytes; at += part) {
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        part = bytes - at < PART_BYTES ? bytes - at : PART_BYTES;
        memcpy((char *)to + at, (const char *)from + at, part);
    }
    return RBL_OK;
}

char *rbli_strdup(rbl_context *ctx, const char *text)
{
    size_t length = strlen(text);
    char *copy = rbli_alloc(ctx, length + 1, 1);
    if (copy) memcpy(copy, text, length + 1);
    return copy;
}

char *rbli_format(rbl_context *ctx, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : rbli_alloc(ctx, (size_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

rbl_status rbli_array_reserve_(
    rbl_context *ctx, void **data, size_t *capacity, size_t count, size_t extra, size_t element_bytes)
{
    size_t needed;
    if (__builtin_add_overflow(count, extra, &needed)) return RBL_ERR_NO_MEMORY;
    if (needed <= *capacity) return RBL_OK;
    size_t grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (grown < needed) grown = needed;
    void *moved = rbli_realloc(ctx, *data, grown, element_bytes);
    if (!moved) return RBL_ERR_NO_MEMORY;
    *data = moved;
    *capacity = grown;
    return RBL_OK;
}

rbl_status rbli_array_keep_(
    rbl_context *ctx, const void *data, size_t count, size_t element_bytes, void **kept)
{
    void *fresh = count ? rbli_alloc(ctx, count, element_bytes) : NULL;
    if (count && !fresh) return RBL_ERR_NO_MEMORY;
    if (count) memcpy(fresh, data, count * element_bytes);
    *kept = fresh;
    return RBL_OK;
}

typedef struct rbli_arena_chunk {
    struct rbli_arena_chunk *previous;
    size_t bytes; /* behind this header */
} rbli_arena_chunk;
_Static_assert(sizeof(rbli_arena_chunk) == 16, "arena memory stays 16-byte aligned");

enum { ARENA_FIRST_BYTES = 1 << 12, ARENA_LARGEST_BYTES = 1 << 20 };

void rbli_arena_init(rbli_arena *arena, rbl_context *ctx)
{
    *arena = (rbli_arena){.ctx = ctx};
}

void *rbli_arena_alloc(rbli_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX / 2) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if (!arena->chunk || arena->chunk->bytes - arena->used < bytes) {
        size_t chunk_bytes = arena->chunk ? arena->chunk->bytes * 2 : ARENA_FIRST_BYTES;
        if (chunk_bytes > ARENA_LARGEST_BYTES) chunk_bytes = ARENA_LARGEST_BYTES;
        if (chunk_bytes < bytes) chunk_bytes = bytes;
        rbli_arena_chunk *chunk = rbli_alloc(arena->ctx, sizeof *chunk + chunk_bytes, 1);
        if (!chunk) return NULL;
        *chunk = (rbli_arena_chunk){arena->chunk, chunk_bytes};
        arena->chunk = chunk;
        arena->used = 0;
    }
    void *pointer = (char *)(arena->chunk + 1) + arena->used;
    arena->used += bytes;
    return pointer;
}

void rbli_arena_rewind(rbli_arena *arena, rbli_arena_mark mark)
{
    while (arena->chunk != mark.chunk) {
        rbli_arena_chunk *previous = arena->chunk->previous;
        rbli_free(arena->ctx, arena->chunk);
        arena->chunk = previous;
    }
    arena->used = mark.used;
}

void rbli_arena_clear(rbli_arena *arena)
{
    rbli_arena_chunk *kept = arena->chunk;
    if (!kept) return;
    arena->chunk = kept->previous;
    rbli_arena_rewind(arena, (rbli_arena_mark){NULL, 0});
    kept->previous = NULL;
    arena->chunk = kept;
}

void rbli_arena_free(rbli_arena *arena)
{
    if (arena->ctx) rbli_arena_rewind(arena, (rbli_arena_mark){NULL, 0});
}
