/// Traces: a list under a mutex; threads are numbered by a search, because there are few.

#include "fracture/base/trace.h"

#include <time.h>
#include <uv.h>

#include "fracture/base/alloc.h"

enum { MOST_ENTRIES = 1 << 20, MOST_THREADS = 1024 };

struct rbli_trace {
    rbli_allocator *allocator;
    uv_mutex_t mutex;
    rbli_trace_entry *entries;
    size_t count, capacity;
    rbl_context names_ctx;
    rbli_arena names;
    uv_thread_t threads[MOST_THREADS];
    uint32_t thread_count;
};

rbli_trace *rbli_trace_create(rbli_allocator *allocator)
{
    rbli_trace *trace = rbli_allocator_calloc(allocator, 1, sizeof *trace);
    if (!trace) return NULL;
    if (uv_mutex_init(&trace->mutex) != 0) {
        rbli_allocator_free(allocator, trace);
        return NULL;
    }
    trace->allocator = rbli_allocator_retain(allocator);
    trace->names_ctx.allocator = allocator;
    rbli_arena_init(&trace->names, &trace->names_ctx);
    return trace;
}

void rbli_trace_destroy(rbli_trace *trace)
{
    if (!trace) return;
    rbli_allocator *allocator = trace->allocator;
    uv_mutex_destroy(&trace->mutex);
    rbli_arena_free(&trace->names);
    rbli_allocator_free(allocator, trace->entries);
    rbli_allocator_free(allocator, trace);
    rbli_allocator_release(allocator);
}

uint64_t rbli_trace_now(void)
{
    return uv_hrtime();
}

int64_t rbli_thread_cpu_ns(void)
{
    struct timespec time;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

const char *rbli_trace_name(rbli_trace *trace, const char *prefix, const char *text)
{
    if (!trace) return "";
    if (!prefix) prefix = "";
    size_t before = strlen(prefix), bytes = strlen(text) + 1;
    uv_mutex_lock(&trace->mutex);
    char *copy = rbli_arena_alloc(&trace->names, before + bytes, 1);
    uv_mutex_unlock(&trace->mutex);
    if (!copy) return "";
    memcpy(copy, prefix, before);
    memcpy(copy + before, text, bytes);
    return copy;
}

static uint32_t number_of_this_thread(rbli_trace *trace)
{
    uv_thread_t self = uv_thread_self();
    uint32_t i = 0;
    while (i < trace->thread_count && !uv_thread_equal(&trace->threads[i], &self))
        i++;
    if (i == trace->thread_count && i < MOST_THREADS) trace->threads[trace->thread_count++] = self;
    return i;
}

static void add_entry(rbli_trace *trace, rbli_trace_entry entry)
{
    entry.end_ns = rbli_trace_now();
    uv_mutex_lock(&trace->mutex);
    if (trace->count == trace->capacity && trace->count < MOST_ENTRIES) {
        size_t capacity = trace->capacity ? trace->capacity * 2 : 256;
        rbli_trace_entry *entries =
            rbli_allocator_realloc(trace->allocator, trace->entries, capacity, sizeof *entries);
        if (entries) {
            trace->entries = entries;
            trace->capacity = capacity;
        }
    }
    if (trace->count < trace->capacity) {
        entry.thread = number_of_this_thread(trace);
        trace->entries[trace->count++] = entry;
    }
    uv_mutex_unlock(&trace->mutex);
}

void rbli_trace_add(
    rbli_trace *trace, const char *category, const char *name, const char *node, uint64_t begin_ns)
{
    if (trace) add_entry(trace, (rbli_trace_entry){category, name, node, .begin_ns = begin_ns, .cpu_ns = -1});
}

size_t rbli_trace_count(const rbli_trace *trace)
{
    return trace ? trace->count : 0;
}

const rbli_trace_entry *rbli_trace_get(const rbli_trace *trace, size_t index)
{
    return &trace->entries[index];
}

int64_t rbli_activity_cpu_ns(const rbl_context *ctx)
{
    return rbli_thread_cpu_ns() + (ctx->activity ? atomic_load(&ctx->activity->cpu_ns) : 0);
}

rbli_phase rbli_phase_begin(const rbl_context *ctx)
{
    if (!ctx->activity || !ctx->activity->trace) return (rbli_phase){0};
    return (rbli_phase){rbli_trace_now(), rbli_activity_cpu_ns(ctx)};
}

void rbli_phase_end(const rbl_context *ctx, const char *name, rbli_phase phase)
{
    if (phase.begin_ns)
        add_entry(ctx->activity->trace,
            (rbli_trace_entry){"phase", name, ctx->activity->name, .begin_ns = phase.begin_ns,
                .cpu_ns = rbli_activity_cpu_ns(ctx) - phase.cpu_ns});
}
