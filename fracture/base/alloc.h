#ifndef RUBBLE_BASE_ALLOC_H
#define RUBBLE_BASE_ALLOC_H

/// Size-checked memory from a context's allocator, growable arrays, and arenas.

#include <string.h>

#include "fracture/base/context.h"

/// A host's memory functions. `reallocate(user, pointer, old_bytes, new_bytes)`: pointer NULL allocates,
/// new_bytes 0 frees; 16-byte aligned; NULL when out of memory. Called from any thread.
typedef void *(*rbli_reallocate_fn)(void *user, void *pointer, size_t old_bytes, size_t new_bytes);

/// Reference counted, because values that outlive a run are freed later. `reallocate` NULL: the C library's,
/// with large blocks beside it that are kept for the next ones (large_blocks.h) until the last reference goes.
rbli_allocator *rbli_allocator_create(rbli_reallocate_fn reallocate, void *user);
rbli_allocator *rbli_allocator_retain(rbli_allocator *allocator);
void rbli_allocator_release(rbli_allocator *allocator); /* NULL is fine */
/// Bytes held now, and the most ever held.
size_t rbli_allocator_bytes(const rbli_allocator *allocator);
size_t rbli_allocator_peak_bytes(const rbli_allocator *allocator);
/// Refuses memory beyond `bytes` (0: no limit), as if there were none. Before that, `evict(user, bytes)` is
/// asked to free so many bytes; it says whether it freed anything, and must not allocate. The last 64th of
/// the limit, at most 1 MiB, is kept for small blocks, so that an error can still be told. Threads: set it
/// before others use the allocator.
void rbli_allocator_set_limit(
    rbli_allocator *allocator, size_t bytes, bool (*evict)(void *user, size_t bytes), void *user);
size_t rbli_allocator_limit(const rbli_allocator *allocator);
/// How often memory was refused because of the limit.
size_t rbli_allocator_refusals(const rbli_allocator *allocator);
/// The last of those: how much was asked for, and how much was in use. For messages: threads may refuse at once.
void rbli_allocator_last_refusal(const rbli_allocator *allocator, size_t *asked_bytes, size_t *used_bytes);

/// Allocation from an allocator directly, for values that keep a reference to it. count × size is checked for
/// overflow. Zero bytes give a valid, unique pointer. NULL when out of memory. 16-byte aligned.
void *rbli_allocator_alloc(rbli_allocator *allocator, size_t count, size_t size);
void *rbli_allocator_calloc(rbli_allocator *allocator, size_t count, size_t size);
void *rbli_allocator_realloc(rbli_allocator *allocator, void *pointer, size_t count, size_t size);
void rbli_allocator_free(rbli_allocator *allocator, void *pointer); /* NULL is fine */

static inline void *rbli_alloc(rbl_context *ctx, size_t count, size_t size)
{
    return rbli_allocator_alloc(ctx->allocator, count, size);
}
static inline void *rbli_calloc(rbl_context *ctx, size_t count, size_t size)
{
    return rbli_allocator_calloc(ctx->allocator, count, size);
}
static inline void *rbli_realloc(rbl_context *ctx, void *pointer, size_t count, size_t size)
{
    return rbli_allocator_realloc(ctx->allocator, pointer, count, size);
}
static inline void rbli_free(rbl_context *ctx, void *pointer)
{
    rbli_allocator_free(ctx->allocator, pointer);
}
/// memset to zero, and memcpy, in parts; for arrays that grow with a mesh. @return RBL_OK · RBL_ERR_CANCELLED
rbl_status rbli_clear_polled(const rbl_context *ctx, void *to, size_t bytes);
rbl_status rbli_copy_polled(const rbl_context *ctx, void *to, const void *from, size_t bytes);
char *rbli_strdup(rbl_context *ctx, const char *text);
char *rbli_format(rbl_context *ctx, const char *format, ...) RBL_PRINTF(2, 3); /* NULL without memory */

/// A growable array of T: `RBLI_ARRAY(int32_t) list = {0};`. Elements are moved by growing. Free `list.data`.
#define RBLI_ARRAY(T)                                                                                        \
    struct {                                                                                                 \
        T *data;                                                                                             \
        size_t count, capacity;                                                                              \
    }

/// Makes room for `extra` more elements; a status. (The arguments are evaluated more than once.)
#define rbli_array_reserve(ctx, array, extra)                                                                \
    ((array)->capacity - (array)->count >= (size_t)(extra)                                                   \
            ? RBL_OK                                                                                         \
            : rbli_array_reserve_((ctx), (void **)&(array)->data, &(array)->capacity, (array)->count,        \
                  (extra), sizeof *(array)->data))
/// Appends one value; a status.
#define rbli_array_push(ctx, array, value)                                                                   \
    (rbli_array_reserve((ctx), (array), 1) == RBL_OK ? ((array)->data[(array)->count++] = (value), RBL_OK)   \
                                                     : RBL_ERR_NO_MEMORY)
rbl_status rbli_array_reserve_(
    rbl_context *ctx, void **data, size_t *capacity, size_t count, size_t extra, size_t element_bytes);
/// Moves the elements of `from` to `to`, a fresh array of just their size, and leaves `from` empty with its room; a
/// status. For what a block of a parallel loop makes: collected in memory of its worker, which need not grow again for
/// the next block. Threads whose arrays grow wait for one another in the allocator.
#define rbli_array_keep(ctx, from, to)                                                                       \
    (rbli_array_keep_((ctx), (from)->data, (from)->count, sizeof *(from)->data, (void **)&(to)->data) ==     \
                RBL_OK                                                                                       \
            ? ((to)->count = (to)->capacity = (from)->count, (from)->count = 0, RBL_OK)                      \
            : RBL_ERR_NO_MEMORY)
rbl_status rbli_array_keep_(
    rbl_context *ctx, const void *data, size_t count, size_t element_bytes, void **kept);

/// An arena: bump allocation in chunks, freed all at once or back to a mark. Not thread-safe: one per worker.
typedef struct rbli_arena {
    rbl_context *ctx;
    struct rbli_arena_chunk *chunk;
    size_t used; /* bytes used of the current chunk */
} rbli_arena;
typedef struct rbli_arena_mark {
    struct rbli_arena_chunk *chunk;
    size_t used;
} rbli_arena_mark;

void rbli_arena_init(rbli_arena *arena, rbl_context *ctx);
void rbli_arena_free(rbli_arena *arena);
void *rbli_arena_alloc(rbli_arena *arena, size_t count, size_t size); /* NULL without memory; not zeroed */
static inline rbli_arena_mark rbli_arena_get_mark(const rbli_arena *arena)
{
    return (rbli_arena_mark){arena->chunk, arena->used};
}
void rbli_arena_rewind(rbli_arena *arena, rbli_arena_mark mark);
/// Back to empty, but keeps the newest chunk, so that an arena used again and again soon allocates no more.
void rbli_arena_clear(rbli_arena *arena);

#endif
