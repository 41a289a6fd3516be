#ifndef RUBBLE_BASE_THREADS_H
#define RUBBLE_BASE_THREADS_H

/// A pool of libuv threads and the parallel loop that all kernels use.

#include "fracture/base/context.h"

/// @param thread_count threads that work on a loop, the caller included; 0: one per core; at most 256.
rbl_status rbli_pool_create(rbli_allocator *allocator, int thread_count, rbli_pool **out);
void rbli_pool_destroy(rbli_pool *pool); /* NULL is fine; no loop may be running */

/// How many workers a loop may use: valid `worker` numbers are 0 … count − 1. 1 inside a block.
int rbli_worker_count(const rbl_context *ctx);

/// Works on elements begin … end − 1. `ctx` is the block's own context (fail through it); `worker` picks
/// scratch memory only and never influences a result.
typedef rbl_status (*rbli_block_fn)(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user);

/// Calls `fn` for the blocks of 0 … count − 1, each of `grain` elements (the last may be shorter). Blocks
/// depend on count and grain alone; results go to a slot per element or per block and are merged in block
/// order by the caller. Cancellation is polled between blocks. Nested calls run inline. If blocks fail, the
/// status and the error of the lowest failing block are returned and the blocks after it may not have run.
/// Threads: may be called from several threads at once on one pool; the caller works too.
/// @return RBL_OK · RBL_ERR_CANCELLED · RBL_ERR_NO_MEMORY · what `fn` returned
rbl_status rbli_parallel_for(rbl_context *ctx, size_t count, size_t grain, rbli_block_fn fn, void *user);

#endif
