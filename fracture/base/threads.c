/// Parallel loops and tasks on one pool. A loop is a job on its caller's stack; threads without anything else
/// to do take blocks of any job in the pool's list. Each worker has a share of the blocks that lie side by side and
/// works on it from its beginning, then takes from the ends of others': so loops over the same elements find in a
/// core's cache what it made in the loop before, and a line that another core wrote costs ten times as much and more. Tasks that can begin go before
/// blocks. Whoever waits, for the last blocks of its loop or for the tasks of its set, works on loops
/// meanwhile, block by block, and goes back when its own is done. So callers share one pool without
/// oversubscription.

#include "fracture/base/threads.h"

#include <uv.h>

#include "fracture/base/alloc.h"
#include "fracture/base/large_blocks.h"
#include "fracture/base/trace.h"

enum { MAX_THREADS = 256, WORKER_WORDS = MAX_THREADS / 64 + 1, PATIENCE_NS = 200000 };

/// Blocks that are not begun, of one worker: begin << 32 | end.
typedef struct block_share {
    _Alignas(64) atomic_uint_least64_t range;
} block_share;

typedef struct loop_job {
    rbl_context *ctx;
    const char *name;
    size_t count, grain, block_count;
    rbli_block_fn fn;
    void *user;
    struct block_share *shares;  /* [worker_count] */
    atomic_size_t lowest_failed; /* block_count while none failed */
    atomic_bool idle;            /* nobody but the caller is inside: it may return once it is done */
    /* Under the pool's mutex: */
    int active;                          /* threads inside, without the caller */
    int worker_count;                    /* most threads inside, with the caller */
    uint64_t busy_workers[WORKER_WORDS]; /* bit set */
    struct loop_job *next;
    uv_mutex_t error_mutex;
    rbl_status error_status;
    rbli_messages *error_messages;
} loop_job;

/// Tasks under way; all but `wanted` under the pool's mutex.
struct rbli_task_set {
    rbl_context ctx; /* of its tasks */
    const rbli_task_graph *graph;
    void (*run)(rbl_context *ctx, size_t task, void *user);
    void *user;
    uint32_t *wait_counts; /* [count] left */
    uint32_t *ready;       /* heap, the lowest first */
    size_t ready_count, finished;
    atomic_bool wanted;   /* a task can begin, or all have ended: those who wait for the set come back */
    rbli_task_set *outer; /* that it is part of, NULL: none */
    rbli_task_set *next;
};

struct rbli_pool {
    rbli_allocator *allocator;
    uv_mutex_t mutex;
    uv_cond_t news; /* a job, a task that can begin, the end of one that somebody waits for, or of the pool */
    atomic_uint news_count;
    int core_count; /* that its threads may run on */
    loop_job *jobs;
    rbli_task_set *sets;
    bool stop;
    int worker_count; /* most threads in a loop, callers included */
    rbli_executor executor;
    int thread_count;   /* started threads, without callers */
    int numbered_count; /* of them, those that have begun */
    uv_thread_t threads[MAX_THREADS];
};

/* ---- News ---- */

/// Tells all who wait. The pool's mutex is held.
static void tell_news(rbli_pool *pool)
{
    atomic_fetch_add(&pool->news_count, 1);
    uv_cond_broadcast(&pool->news);
}

/// Waits until there is news. The pool's mutex is held, not meanwhile. Sleeping and waking takes as long as a
/// short loop works (on virtual machines 100 us and more), so a thread keeps looking for about that long first.
static void wait_for_news(rbli_pool *pool)
{
    enum { LOOKS = 64 };
    unsigned known = atomic_load(&pool->news_count);
    if (pool->worker_count <= pool->core_count) { /* each thread can have a core of its own */
        uv_mutex_unlock(&pool->mutex);
        uint64_t begin_ns = uv_hrtime();
        do {
            for (int i = 0;
                 i < LOOKS && atomic_load_explicit(&pool->news_count, memory_order_relaxed) == known; i++)
                rbli_relax();
        } while (atomic_load_explicit(&pool->news_count, memory_order_relaxed) == known &&
                 uv_hrtime() - begin_ns < PATIENCE_NS);
        uv_mutex_lock(&pool->mutex);
    }
    while (atomic_load(&pool->news_count) == known)
        uv_cond_wait(&pool->news, &pool->mutex);
}

/* ---- Blocks ---- */

/// Of a pool's own thread, from 1; other threads have 0.
static _Thread_local int thread_number;

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

static bool take_from(block_share *share, bool front, size_t *block)
{
    uint64_t range = atomic_load_explicit(&share->range, memory_order_relaxed);
    for (;;) {
        uint64_t begin = range >> 32, end = range & UINT32_MAX;
        if (begin == end) return false;
        *block = (size_t)(front ? begin : end - 1);
        uint64_t rest = front ? (begin + 1) << 32 | end : begin << 32 | (end - 1);
        if (atomic_compare_exchange_weak(&share->range, &range, rest)) return true;
    }
}

/// A block that nobody has begun. @return false when there is none
static bool take_block(const loop_job *job, int worker, size_t *block)
{
    if (take_from(&job->shares[worker], true, block)) return true;
    for (int i = 1; i < job->worker_count; i++)
        if (take_from(&job->shares[(worker + i) % job->worker_count], false, block)) return true;
    return false;
}

/// Runs blocks of a job until none is left (true), or until *leave (may be NULL).
static bool run_blocks(loop_job *job, int worker, const atomic_bool *leave)
{
    rbl_context block_ctx = *job->ctx;
    block_ctx.inside_block = true;
    block_ctx.progress = NULL;
    block_ctx.messages = NULL;
    rbli_messages *messages = NULL;
    rbli_trace *trace = job->ctx->activity ? job->ctx->activity->trace : NULL;
    uint64_t begin_ns = trace ? rbli_trace_now() : 0;
    bool none_left = false;
    while (!leave || !atomic_load(leave)) {
        size_t block;
        none_left = !take_block(job, worker, &block);
        if (none_left) break;
        if (block > atomic_load(&job->lowest_failed)) continue;
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
    if (trace) rbli_trace_add(trace, "loop", job->name, job->ctx->activity->name, begin_ns);
    rbli_messages_destroy(messages);
    return none_left;
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

/// @param own the number that is taken if it can be: a thread works on the same share of every loop
static int take_worker(loop_job *job, int own)
{
    for (int i = 0; i < job->worker_count; i++) {
        int worker = (own + i) % job->worker_count;
        uint64_t bit = (uint64_t)1 << (worker & 63), *word = &job->busy_workers[worker / 64];
        if (*word & bit) continue;
        *word |= bit;
        return worker;
    }
    return -1;
}

/// Works on some loop until its blocks are handed out, or until *leave. `own`: what the thread is kept from,
/// or NULL; its CPU time goes to the loop's activity. The pool's mutex is held, not meanwhile. False when
/// there was no loop to help.
static bool help(rbli_pool *pool, rbl_context *own, const atomic_bool *leave)
{
    loop_job *job = pool->jobs;
    int worker = -1;
    for (; job; job = job->next) {
        worker = take_worker(job, thread_number);
        if (worker >= 0) break;
    }
    if (!job) return false;
    job->active++;
    atomic_store(&job->idle, false);
    uv_mutex_unlock(&pool->mutex);
    int64_t cpu_ns = rbli_thread_cpu_ns();
    bool none_left = run_blocks(job, worker, leave);
    cpu_ns = rbli_thread_cpu_ns() - cpu_ns;
    if (job->ctx->activity) atomic_fetch_add(&job->ctx->activity->cpu_ns, cpu_ns);
    if (own && own->activity) atomic_fetch_sub(&own->activity->cpu_ns, cpu_ns);
    uv_mutex_lock(&pool->mutex);
    if (none_left) unlink_job(pool, job);
    job->busy_workers[worker / 64] &= ~((uint64_t)1 << (worker & 63));
    if (--job->active == 0) {
        atomic_store(&job->idle, true);
        tell_news(pool);
    }
    return true;
}

/* ---- Tasks ---- */

static void push_ready(rbli_task_set *set, uint32_t task)
{
    size_t at = set->ready_count++;
    for (; at > 0 && set->ready[(at - 1) / 2] > task; at = (at - 1) / 2)
        set->ready[at] = set->ready[(at - 1) / 2];
    set->ready[at] = task;
}

static uint32_t pop_ready(rbli_task_set *set)
{
    uint32_t lowest = set->ready[0], last = set->ready[--set->ready_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < set->ready_count && set->ready[child + 1] < set->ready[child]) child++;
        if (child >= set->ready_count || set->ready[child] >= last) break;
        set->ready[at] = set->ready[child];
        at = child;
    }
    set->ready[at] = last;
    return lowest;
}

static void update_wanted(rbli_task_set *set)
{
    atomic_store(&set->wanted, set->ready_count > 0 || set->finished == set->graph->count);
}

/// Runs the lowest task that can begin. The pool's mutex is held, not meanwhile. The set may be gone
/// afterwards.
static void run_task(rbli_task_set *set)
{
    rbli_pool *pool = set->ctx.pool;
    const rbli_task_graph *graph = set->graph;
    uint32_t task = pop_ready(set);
    update_wanted(set);
    uv_mutex_unlock(&pool->mutex);
    rbl_context ctx = set->ctx;
    set->run(&ctx, task, set->user);
    uv_mutex_lock(&pool->mutex);
    for (size_t i = graph->follower_start[task]; i < graph->follower_start[task + 1]; i++)
        if (--set->wait_counts[graph->followers[i]] == 0) push_ready(set, graph->followers[i]);
    set->finished++;
    update_wanted(set);
    /* This thread takes one of the new tasks itself. */
    if (set->ready_count > 1 || set->finished == graph->count) tell_news(pool);
}

static bool is_part_of(const rbli_task_set *inner, const rbli_task_set *set)
{
    while (inner && inner != set)
        inner = inner->outer;
    return inner != NULL;
}

/// A set with a task that can begin: `set`, or part of it; any when it is NULL.
static rbli_task_set *find_ready(const rbli_pool *pool, rbli_task_set *set)
{
    if (set && set->ready_count) return set;
    rbli_task_set *found = pool->sets;
    while (found && (!found->ready_count || (set && !is_part_of(found, set))))
        found = found->next;
    return found;
}

/// Works until all tasks of a set have ended. The pool's mutex is held, not meanwhile.
static void work_on_set(rbli_task_set *set)
{
    rbli_pool *pool = set->ctx.pool;
    while (set->finished < set->graph->count) {
        rbli_task_set *ready = find_ready(pool, set);
        if (ready)
            run_task(ready);
        else if (!help(pool, NULL, &set->wanted))
            wait_for_news(pool);
    }
}

static void executor_main(void *user, size_t index)
{
    rbli_task_set *set = user;
    rbli_pool *pool = set->ctx.pool;
    (void)index;
    uv_mutex_lock(&pool->mutex);
    work_on_set(set);
    uv_mutex_unlock(&pool->mutex);
}

static void thread_main(void *user)
{
    rbli_pool *pool = user;
    uv_mutex_lock(&pool->mutex);
    thread_number = ++pool->numbered_count;
    while (!pool->stop) {
        rbli_task_set *set = find_ready(pool, NULL);
        if (set)
            run_task(set);
        else if (!help(pool, NULL, NULL))
            wait_for_news(pool);
    }
    uv_mutex_unlock(&pool->mutex);
}

static void run_set(rbli_pool *pool, rbli_task_set *set)
{
    uv_mutex_lock(&pool->mutex);
    set->next = pool->sets;
    pool->sets = set;
    tell_news(pool);
    if (pool->executor.run && !set->outer) {
        size_t count = (size_t)pool->executor.thread_count;
        uv_mutex_unlock(&pool->mutex);
        pool->executor.run(pool->executor.user, count, executor_main, set);
        uv_mutex_lock(&pool->mutex);
    }
    work_on_set(set); /* with an executor: what it left */
    for (rbli_task_set **link = &pool->sets; *link; link = &(*link)->next) {
        if (*link != set) continue;
        *link = set->next;
        break;
    }
    uv_mutex_unlock(&pool->mutex);
}

rbl_status rbli_run_tasks(rbl_context *ctx, const rbli_task_graph *graph,
    void (*run)(rbl_context *ctx, size_t task, void *user), void *user)
{
    bool in_turn = !ctx->pool || ctx->inside_block;
    if (in_turn || (ctx->pool->worker_count == 1 && !ctx->pool->executor.run)) {
        rbl_context own = *ctx;
        for (size_t i = 0; i < graph->count; i++)
            run(&own, i, user);
        return RBL_OK;
    }
    rbli_task_set set = {.ctx = *ctx, .graph = graph, .run = run, .user = user, .outer = ctx->tasks};
    set.ctx.tasks = &set;
    rbl_status status = RBL_OK;
    set.wait_counts = rbli_alloc(ctx, graph->count, sizeof *set.wait_counts);
    RBL_TRY_ALLOC(set.wait_counts);
    set.ready = rbli_alloc(ctx, graph->count, sizeof *set.ready);
    RBL_TRY_ALLOC(set.ready);
    for (size_t i = 0; i < graph->count; i++) {
        set.wait_counts[i] = graph->wait_counts[i];
        if (!set.wait_counts[i]) push_ready(&set, (uint32_t)i);
    }
    update_wanted(&set);
    run_set(ctx->pool, &set);
done:
    rbli_free(ctx, set.ready);
    rbli_free(ctx, set.wait_counts);
    return status;
}

/* ---- Pools ---- */

static rbl_status create_pool(rbli_allocator *allocator, rbli_pool **out)
{
    rbli_pool *pool = rbli_allocator_calloc(allocator, 1, sizeof *pool);
    if (!pool) return RBL_ERR_NO_MEMORY;
    if (uv_mutex_init(&pool->mutex) != 0) {
        rbli_allocator_free(allocator, pool);
        return RBL_ERR_NO_MEMORY;
    }
    if (uv_cond_init(&pool->news) != 0) {
        uv_mutex_destroy(&pool->mutex);
        rbli_allocator_free(allocator, pool);
        return RBL_ERR_NO_MEMORY;
    }
    pool->allocator = rbli_allocator_retain(allocator);
    pool->core_count = (int)uv_available_parallelism();
    *out = pool;
    return RBL_OK;
}

rbl_status rbli_pool_create(rbli_allocator *allocator, int thread_count, rbli_pool **out)
{
    if (thread_count <= 0) thread_count = (int)uv_available_parallelism();
    if (thread_count > MAX_THREADS) thread_count = MAX_THREADS;
    rbli_pool *pool = NULL;
    rbl_status status = create_pool(allocator, &pool);
    if (status != RBL_OK) return status;
    for (int i = 0; i + 1 < thread_count; i++) {
        /* A thread that cannot be started is done without: results do not depend on their number. */
        if (uv_thread_create(&pool->threads[i], thread_main, pool) != 0) break;
        pool->thread_count++;
    }
    uv_mutex_lock(&pool->mutex);
    pool->worker_count = pool->thread_count + 1;
    uv_mutex_unlock(&pool->mutex);
    *out = pool;
    return RBL_OK;
}

rbl_status rbli_pool_create_with_executor(
    rbli_allocator *allocator, const rbli_executor *executor, rbli_pool **out)
{
    if (!executor->run || executor->thread_count < 1 || executor->thread_count > MAX_THREADS)
        return RBL_ERR_ARGUMENT;
    rbl_status status = create_pool(allocator, out);
    if (status != RBL_OK) return status;
    (*out)->executor = *executor;
    (*out)->worker_count = executor->thread_count;
    return RBL_OK;
}

void rbli_pool_set_core_count(rbli_pool *pool, int count)
{
    uv_mutex_lock(&pool->mutex);
    pool->core_count = count;
    uv_mutex_unlock(&pool->mutex);
}

void rbli_pool_destroy(rbli_pool *pool)
{
    if (!pool) return;
    uv_mutex_lock(&pool->mutex);
    pool->stop = true;
    tell_news(pool);
    uv_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->thread_count; i++)
        uv_thread_join(&pool->threads[i]);
    uv_cond_destroy(&pool->news);
    uv_mutex_destroy(&pool->mutex);
    rbli_allocator *allocator = pool->allocator;
    rbli_allocator_free(allocator, pool);
    rbli_allocator_release(allocator);
}

/* ---- Loops ---- */

int rbli_worker_count(const rbl_context *ctx)
{
    return ctx->pool && !ctx->inside_block ? ctx->pool->worker_count : 1;
}

int rbli_core_count(const rbl_context *ctx)
{
    int workers = rbli_worker_count(ctx);
    return workers > 1 && workers > ctx->pool->core_count ? ctx->pool->core_count : workers;
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

/// Hands the error of the lowest failing block on.
static rbl_status outcome_of(const loop_job *job)
{
    if (atomic_load(&job->lowest_failed) >= job->block_count) return RBL_OK;
    for (size_t i = 0; job->error_messages && i < rbli_messages_count(job->error_messages); i++) {
        const rbli_message *message = rbli_messages_get(job->error_messages, i);
        if (message->severity == RBLI_ERROR)
            rbli_messages_append(job->ctx->messages, RBLI_ERROR, message->status, message->text);
    }
    return job->error_status;
}

rbl_status rbli_parallel_for_named(
    rbl_context *ctx, const char *name, size_t count, size_t grain, rbli_block_fn fn, void *user)
{
    if (count == 0) return RBL_OK;
    if (grain == 0) grain = 1;
    if ((count - 1) / grain >= UINT32_MAX) grain = count / UINT32_MAX + 1;
    size_t block_count = (count - 1) / grain + 1;
    if (rbli_worker_count(ctx) == 1 || block_count == 1) {
        rbli_trace *trace = ctx->activity && !ctx->inside_block ? ctx->activity->trace : NULL;
        uint64_t begin_ns = trace ? rbli_trace_now() : 0;
        rbl_status status = run_inline(ctx, count, grain, fn, user);
        if (trace) rbli_trace_add(trace, "loop", name, ctx->activity->name, begin_ns);
        return status;
    }

    rbli_pool *pool = ctx->pool;
    size_t workers = (size_t)pool->worker_count < block_count ? (size_t)pool->worker_count : block_count;
    block_share shares[MAX_THREADS];
    for (size_t i = 0; i < workers; i++)
        atomic_init(&shares[i].range, block_count * i / workers << 32 | block_count * (i + 1) / workers);
    loop_job job = {.ctx = ctx,
        .name = name,
        .count = count,
        .grain = grain,
        .block_count = block_count,
        .fn = fn,
        .user = user,
        .shares = shares,
        .worker_count = (int)workers,
        .busy_workers = {1}};
    atomic_init(&job.lowest_failed, block_count);
    if (uv_mutex_init(&job.error_mutex) != 0) return RBL_ERR_NO_MEMORY;

    uv_mutex_lock(&pool->mutex);
    job.next = pool->jobs;
    pool->jobs = &job;
    tell_news(pool);
    uv_mutex_unlock(&pool->mutex);

    run_blocks(&job, 0, NULL);

    uv_mutex_lock(&pool->mutex);
    unlink_job(pool, &job);
    while (job.active > 0)
        if (!help(pool, ctx, &job.idle)) wait_for_news(pool);
    uv_mutex_unlock(&pool->mutex);

    rbl_status status = outcome_of(&job);
    rbli_messages_destroy(job.error_messages);
    uv_mutex_destroy(&job.error_mutex);
    return status;
}

/* ---- Pages ---- */

enum { PAGE_BYTES = 1 << 12, LARGE_PAGE_BYTES = 1 << 21 };

typedef struct touch_job {
    char *begin, *end, *first_page; /* that the array reaches into */
} touch_job;

static rbl_status touch_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const touch_job *job = user;
    char *from = job->first_page + begin * LARGE_PAGE_BYTES, *past = job->first_page + end * LARGE_PAGE_BYTES;
    (void)ctx;
    (void)block;
    (void)worker;
    if (from < job->begin) from = job->begin;
    if (past > job->end) past = job->end;
    if (rbli_fetch_pages(from, past)) return RBL_OK;
    for (char *at = from; at < past; at += PAGE_BYTES)
        *(volatile char *)at = 0;
    return RBL_OK;
}

rbl_status rbli_touch_pages(rbl_context *ctx, void *array, size_t bytes)
{
    if (rbli_worker_count(ctx) == 1 || bytes < LARGE_PAGE_BYTES) return RBL_OK;
    size_t before = (uintptr_t)array % LARGE_PAGE_BYTES;
    touch_job job = {array, (char *)array + bytes, (char *)array - before};
    size_t page_count = (before + bytes + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES;
    return rbli_parallel_for(ctx, page_count, 1, touch_block, &job);
}
