/// Parallel loops on a pool of libuv threads. A loop is a job on the caller's stack; idle threads take blocks
/// of any job in the pool's list, lowest block first. A job leaves the list when its blocks are handed out;
/// the caller waits for the threads that still work on it. So several callers share one pool without
/// oversubscription.

#include "fracture/base/threads.h"

#include <uv.h>

#include "fracture/base/alloc.h"

enum { MAX_THREADS = 256 };

typedef struct loop_job {
    rbl_context *ctx;
    size_t count, grain, block_count;
    rbli_block_fn fn;
    void *user;
    atomic_size_t next_block;
    atomic_size_t lowest_failed; /* block_count while none failed */
    atomic_int next_worker;
    int active; /* threads inside, under the pool's mutex */
    uv_mutex_t error_mutex;
    rbl_status error_status;
    rbli_messages *error_messages;
    struct loop_job *next;
} loop_job;

struct rbli_pool {
    rbli_allocator *allocator;
    uv_mutex_t mutex;
    uv_cond_t work, finished;
    loop_job *jobs;
    bool stop;
    int thread_count; /* started threads, without callers */
    uv_thread_t threads[MAX_THREADS];
};

/// Keeps the outcome of the lowest failing block.
static void record_failure(loop_job *job, size_t block, rbl_status status, rbli_messages **messages)
{
    uv_mutex_lock(&job->error_mutex);
    if (block < atomic_load(&job->lowest_failed)) {
        atomic_store(&job->lowest_failed, block);
        job->error_status = status;
        rbli_messages_destroy(job->error_messages);
        job->error_messages = *messages;
        *messages = NULL;
    }
    uv_mutex_unlock(&job->error_mutex);
}

/// Runs blocks of a job until none is left.
static void run_blocks(loop_job *job)
{
    rbl_context block_ctx = *job->ctx;
    block_ctx.inside_block = true;
    block_ctx.progress = NULL;
    block_ctx.messages = NULL;
    rbli_messages *messages = NULL;
    int worker = atomic_fetch_add(&job->next_worker, 1);
    for (;;) {
        size_t block = atomic_fetch_add(&job->next_block, 1);
        if (block >= job->block_count || block > atomic_load(&job->lowest_failed)) break;
        if (!messages && job->ctx->messages) messages = rbli_messages_create(job->ctx->allocator);
        block_ctx.messages = messages;
        size_t begin = block * job->grain;
        size_t end = job->count - begin < job->grain ? job->count : begin + job->grain;
        rbl_status status = rbli_cancelled(job->ctx)
                                ? RBL_ERR_CANCELLED
                                : job->fn(&block_ctx, begin, end, block, worker, job->user);
        if (status != RBL_OK) {
            record_failure(job, block, status, &messages);
            if (messages) rbli_messages_clear(messages);
        }
    }
    rbli_messages_destroy(messages);
}

static void unlink_job(rbli_pool *pool, loop_job *job)
{
    for (loop_job **link = &pool->jobs; *link; link = &(*link)->next) {
        if (*link == job) {
            *link = job->next;
            return;
        }
    }
}

static void thread_main(void *user)
{
    rbli_pool *pool = user;
    uv_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->jobs && !pool->stop)
            uv_cond_wait(&pool->work, &pool->mutex);
        if (pool->stop) break;
        loop_job *job = pool->jobs;
        job->active++;
        uv_mutex_unlock(&pool->mutex);
        run_blocks(job);
        uv_mutex_lock(&pool->mutex);
        unlink_job(pool, job); /* its blocks are handed out */
        if (--job->active == 0) uv_cond_broadcast(&pool->finished);
    }
    uv_mutex_unlock(&pool->mutex);
}

rbl_status rbli_pool_create(rbli_allocator *allocator, int thread_count, rbli_pool **out)
{
    if (thread_count <= 0) thread_count = (int)uv_available_parallelism();
    if (thread_count > MAX_THREADS) thread_count = MAX_THREADS;
    rbli_pool *pool = rbli_allocator_calloc(allocator, 1, sizeof *pool);
    if (!pool) return RBL_ERR_NO_MEMORY;
    pool->allocator = rbli_allocator_retain(allocator);
    uv_mutex_init(&pool->mutex);
    uv_cond_init(&pool->work);
    uv_cond_init(&pool->finished);
    for (int i = 0; i + 1 < thread_count; i++) {
        /* A thread that cannot be started is done without: results do not depend on their number. */
        if (uv_thread_create(&pool->threads[i], thread_main, pool) != 0) break;
        pool->thread_count++;
    }
    *out = pool;
    return RBL_OK;
}

void rbli_pool_destroy(rbli_pool *pool)
{
    if (!pool) return;
    uv_mutex_lock(&pool->mutex);
    pool->stop = true;
    uv_cond_broadcast(&pool->work);
    uv_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->thread_count; i++)
        uv_thread_join(&pool->threads[i]);
    uv_cond_destroy(&pool->finished);
    uv_cond_destroy(&pool->work);
    uv_mutex_destroy(&pool->mutex);
    rbli_allocator *allocator = pool->allocator;
    rbli_allocator_free(allocator, pool);
    rbli_allocator_release(allocator);
}

int rbli_worker_count(const rbl_context *ctx)
{
    return ctx->pool && !ctx->inside_block ? ctx->pool->thread_count + 1 : 1;
}

static rbl_status run_inline(rbl_context *ctx, size_t count, size_t grain, rbli_block_fn fn, void *user)
{
    rbl_context block_ctx = *ctx;
    block_ctx.inside_block = true;
    for (size_t begin = 0, block = 0; begin < count; begin += grain, block++) {
        if (rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        size_t end = count - begin < grain ? count : begin + grain;
        rbl_status status = fn(&block_ctx, begin, end, block, 0, user);
        if (status != RBL_OK) return status;
        if (end == count) break;
    }
    return RBL_OK;
}

rbl_status rbli_parallel_for(rbl_context *ctx, size_t count, size_t grain, rbli_block_fn fn, void *user)
{
    if (count == 0) return RBL_OK;
    if (grain == 0) grain = 1;
    size_t block_count = (count - 1) / grain + 1;
    if (rbli_worker_count(ctx) == 1 || block_count == 1) return run_inline(ctx, count, grain, fn, user);

    rbli_pool *pool = ctx->pool;
    loop_job job = {
        .ctx = ctx, .count = count, .grain = grain, .block_count = block_count, .fn = fn, .user = user};
    atomic_init(&job.lowest_failed, block_count);
    if (uv_mutex_init(&job.error_mutex) != 0) return RBL_ERR_NO_MEMORY;

    uv_mutex_lock(&pool->mutex);
    job.next = pool->jobs;
    pool->jobs = &job;
    uv_cond_broadcast(&pool->work);
    uv_mutex_unlock(&pool->mutex);

    run_blocks(&job);

    uv_mutex_lock(&pool->mutex);
    unlink_job(pool, &job);
    while (job.active > 0)
        uv_cond_wait(&pool->finished, &pool->mutex);
    uv_mutex_unlock(&pool->mutex);

    rbl_status status = RBL_OK;
    if (atomic_load(&job.lowest_failed) < block_count) {
        status = job.error_status;
        if (job.error_messages)
            for (size_t i = 0; i < rbli_messages_count(job.error_messages); i++) {
                const rbli_message *message = rbli_messages_get(job.error_messages, i);
                if (message->severity == RBLI_ERROR)
                    rbli_messages_append(ctx->messages, RBLI_ERROR, message->status, message->text);
            }
    }
    rbli_messages_destroy(job.error_messages);
    uv_mutex_destroy(&job.error_mutex);
    return status;
}
