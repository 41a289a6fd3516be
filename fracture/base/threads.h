#ifndef RUBBLE_BASE_THREADS_H
#define RUBBLE_BASE_THREADS_H

/// A pool of threads, the parallel loop that all kernels use, and tasks that wait for one another. Loops
/// inside tasks and the tasks themselves share the pool's threads: never more threads compute than it has.

#include "fracture/base/context.h"

/// A host's threads in place of the pool's own. `run` calls `task(task_user, i)` once for each i below
/// `count`, on any threads, at once or one after the other, and returns when all calls have returned. A task
/// may wait for a task that has begun, never for one that has not.
typedef struct rbli_executor {
    int thread_count; /* most tasks that run at once, 1 … 256 */
    void (*run)(void *user, size_t count, void (*task)(void *task_user, size_t index), void *task_user);
    void *user;
} rbli_executor;

/// @param thread_count threads that work, the caller included; 0: one per core; at most 256.
rbl_status rbli_pool_create(rbli_allocator *allocator, int thread_count, rbli_pool **out);
/// A pool without threads of its own: the executor's work during rbli_run_tasks.
rbl_status rbli_pool_create_with_executor(
    rbli_allocator *allocator, const rbli_executor *executor, rbli_pool **out);
void rbli_pool_destroy(rbli_pool *pool); /* NULL is fine; no loop may be running */
/// For tests: as if there were `count` cores. No loop may be running.
void rbli_pool_set_core_count(rbli_pool *pool, int count);

/// How many workers a loop may use: valid `worker` numbers are 0 … count − 1. 1 inside a block.
int rbli_worker_count(const rbl_context *ctx);
/// How many of them can run at the same time: no more than there are cores. For loops that do more work the more parts
/// they have; what they give must not depend on it.
int rbli_core_count(const rbl_context *ctx);

/// Works on elements begin … end − 1. `ctx` is the block's own context (fail through it); `worker` picks
/// scratch memory only and never influences a result.
typedef rbl_status (*rbli_block_fn)(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user);

/// Calls `fn` for the blocks of 0 … count − 1, each of `grain` elements (the last may be shorter). Blocks
/// depend on count and grain alone; results go to a slot per element or per block and are merged in block
/// order by the caller. Cancellation is polled between blocks. Nested calls run inline. If blocks fail, the
/// status and the error of the lowest failing block are returned and the blocks after it may not have run.
/// Threads: may be called from several threads at once on one pool; the caller works too, and while it waits
/// for the last blocks it works on other loops.
/// @return RBL_OK · RBL_ERR_CANCELLED · RBL_ERR_NO_MEMORY · what `fn` returned
#define rbli_parallel_for(ctx, count, grain, fn, user)                                                       \
    rbli_parallel_for_named((ctx), #fn, (count), (grain), (fn), (user))
/// The same with a name for traces (static).
rbl_status rbli_parallel_for_named(
    rbl_context *ctx, const char *name, size_t count, size_t grain, rbli_block_fn fn, void *user);

/// Tells the processor that the thread only looks at memory, until another one has written.
static inline void rbli_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/// Has all threads fetch the pages of a fresh array from the system, each other ones, and overwrites a part of them: the
/// system gives out megabytes at once, and threads that first write to the same ones wait for one another and clear
/// them all. On one thread nothing happens. Contents are undefined before and afterwards. No error but
/// RBL_ERR_CANCELLED and RBL_ERR_NO_MEMORY.
rbl_status rbli_touch_pages(rbl_context *ctx, void *array, size_t bytes);

/// Tasks 0 … count − 1, each behind those that it needs.
typedef struct rbli_task_graph {
    size_t count;
    const uint32_t *wait_counts;  /* [count] how often a task stands among the followers of others */
    const size_t *follower_start; /* [count + 1] */
    const uint32_t *followers; /* of task i: followers[follower_start[i]] … [follower_start[i + 1] − 1] */
} rbli_task_graph;

/// Runs every task once, after those that it needs; several at once, the lowest of those that can begin
/// first; one after the other in their order without a pool or inside a block. `run` gets a copy of `ctx`
/// that belongs to the tasks: a task that runs tasks itself hands it on, and all threads of the outer tasks
/// help. The caller works too.
/// @return RBL_OK · RBL_ERR_NO_MEMORY (no task has run)
rbl_status rbli_run_tasks(rbl_context *ctx, const rbli_task_graph *graph,
    void (*run)(rbl_context *ctx, size_t task, void *user), void *user);

#endif
