#ifndef RUBBLE_BASE_CONTEXT_H
#define RUBBLE_BASE_CONTEXT_H

/// What every library function is handed first: memory, threads, cancellation, progress and a place for
/// messages.

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rubble/status.h"

typedef struct rbl_context rbl_context;
typedef struct rbli_allocator rbli_allocator;
typedef struct rbli_messages rbli_messages;
typedef struct rbli_pool rbli_pool;
typedef struct rbli_activity rbli_activity; /* fracture/base/trace.h */
typedef struct rbli_task_set rbli_task_set; /* fracture/base/threads.h */

typedef enum rbli_severity { RBLI_ERROR, RBLI_WARNING, RBLI_NOTE } rbli_severity;

/// One message. `text` is owned by the list.
typedef struct rbli_message {
    rbli_severity severity;
    rbl_status status; /* of an error */
    char *text;
} rbli_message;

struct rbl_context {
    rbli_allocator *allocator;
    rbli_pool *pool;           /* NULL: everything runs inline */
    const atomic_bool *cancel; /* NULL: cannot be cancelled */
    rbli_messages *messages;   /* NULL: messages are dropped */
    _Atomic(float) *progress;  /* NULL, or the fraction done of the current job, 0 … 1 */
    bool inside_block;         /* true in a block of a parallel loop: nested loops run inline */
    rbli_activity *activity;   /* what the work is counted for; NULL: not counted */
    rbli_task_set *tasks;      /* that the work belongs to; NULL: none */
};

/// Creates a context with its own allocator, message list and a pool of `thread_count` threads (0: one per
/// core; 1: no pool, inline). For tests, tools and benchmarks; the engine builds contexts from its parts.
/// @param out set on success only; rbli_context_destroy. @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_context_create(int thread_count, rbl_context **out);
void rbli_context_destroy(
    rbl_context *ctx); /* NULL is fine; everything allocated from it must be freed before */

/// True once cancellation was requested. Cheap: poll it in every long loop that is not a parallel loop.
static inline bool rbli_cancelled(const rbl_context *ctx)
{
    return ctx->cancel && atomic_load_explicit(ctx->cancel, memory_order_relaxed);
}

/// The same at step `i` of a serial loop: looks every few thousand steps (of at most a microsecond each).
/// @return RBL_OK · RBL_ERR_CANCELLED
static inline rbl_status rbli_poll(const rbl_context *ctx, size_t i)
{
    return i % 8192 == 0 && rbli_cancelled(ctx) ? RBL_ERR_CANCELLED : RBL_OK;
}

static inline void rbli_progress(const rbl_context *ctx, double fraction)
{
    if (ctx->progress) atomic_store_explicit(ctx->progress, (float)fraction, memory_order_relaxed);
}

/// Appends an error and returns `status`, so that a function can end with `return rbli_fail(...)`. Text: one
/// sentence, lower case, no full stop, names the place ("face 12", "line 3"). Thread-safe; inside a parallel
/// loop use the block's context, then only the error of the lowest failing block is kept. Longer texts than
/// 4,000 bytes are cut.
rbl_status rbli_fail(rbl_context *ctx, rbl_status status, const char *format, ...) RBL_PRINTF(3, 4);
/// Appends a warning: something done to the input beyond exact welding, or asked for but not done. Not inside
/// blocks.
void rbli_warn(rbl_context *ctx, const char *format, ...) RBL_PRINTF(2, 3);
/// Appends a note: anything else that a person may want to know. Not inside blocks.
void rbli_note(rbl_context *ctx, const char *format, ...) RBL_PRINTF(2, 3);

/// A list of messages; appending is thread-safe. `allocator` must outlive it. NULL without memory.
rbli_messages *rbli_messages_create(rbli_allocator *allocator);
void rbli_messages_destroy(rbli_messages *messages);
size_t rbli_messages_count(const rbli_messages *messages);
const rbli_message *rbli_messages_get(const rbli_messages *messages, size_t index);
void rbli_messages_clear(rbli_messages *messages);
void rbli_messages_append(
    rbli_messages *messages, rbli_severity severity, rbl_status status, const char *text);

/// Sets `status` and goes to the label `done` when `expression` is not RBL_OK.
#define RBL_TRY(expression)                                                                                  \
    do {                                                                                                     \
        status = (expression);                                                                               \
        if (status != RBL_OK) goto done;                                                                     \
    } while (0)

/// Sets RBL_ERR_NO_MEMORY and goes to `done` when `pointer` is NULL.
#define RBL_TRY_ALLOC(pointer)                                                                               \
    do {                                                                                                     \
        if (!(pointer)) {                                                                                    \
            status = RBL_ERR_NO_MEMORY;                                                                      \
            goto done;                                                                                       \
        }                                                                                                    \
    } while (0)

#endif
