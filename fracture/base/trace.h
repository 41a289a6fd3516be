#ifndef RUBBLE_BASE_TRACE_H
#define RUBBLE_BASE_TRACE_H

/// What ran when and on which thread, for profiles. Times and threads: never part of a result.

#include "fracture/base/context.h"

typedef struct rbli_trace rbli_trace;

typedef struct rbli_trace_entry {
    const char *category, *name, *node; /* static, or of rbli_trace_name */
    uint64_t begin_ns, end_ns;          /* of rbli_trace_now */
    int64_t cpu_ns;                     /* of all threads that worked on it; -1: not measured */
    uint32_t thread;                    /* numbered in the order of their first entry, from 0 */
} rbli_trace_entry;

/// What a context's work belongs to and what it costs, shared by all threads that work on it.
struct rbli_activity {
    _Atomic(int64_t) cpu_ns; /* spent by threads other than the one that began it */
    rbli_trace *trace;       /* NULL: nothing is recorded */
    const char *name;        /* node id; of rbli_trace_name */
};

/// NULL without memory.
rbli_trace *rbli_trace_create(rbli_allocator *allocator);
void rbli_trace_destroy(rbli_trace *trace); /* NULL is fine */
/// Nanoseconds since an arbitrary point, never going back.
uint64_t rbli_trace_now(void);
/// CPU time of the calling thread.
int64_t rbli_thread_cpu_ns(void);
/// A copy of a text for entries, which lives as long as the trace: `prefix` (NULL: none) and `text`. ""
/// without memory or trace. Threads: any.
const char *rbli_trace_name(rbli_trace *trace, const char *prefix, const char *text);
/// Records that something ran on the calling thread until now. `trace` NULL: nothing. At most a million
/// entries are kept; without memory an entry is lost. Threads: any.
void rbli_trace_add(
    rbli_trace *trace, const char *category, const char *name, const char *node, uint64_t begin_ns);
/// CPU time spent on the context's activity so far, by the calling thread and those that help it. Differences
/// count, between calls of one thread. Without an activity: of the calling thread alone.
int64_t rbli_activity_cpu_ns(const rbl_context *ctx);

/// A part of a node's work that is no parallel loop of its own.
typedef struct rbli_phase {
    uint64_t begin_ns; /* 0: nothing is recorded */
    int64_t cpu_ns;
} rbli_phase;

/// `name`: static. Threads: any, both calls the same.
rbli_phase rbli_phase_begin(const rbl_context *ctx);
void rbli_phase_end(const rbl_context *ctx, const char *name, rbli_phase phase);

/// Evaluates `expression` as a phase; sets `status` and goes to `done` as RBL_TRY does.
#define RBLI_PHASE(ctx, name, expression)                                                                    \
    do {                                                                                                     \
        rbli_phase phase_ = rbli_phase_begin(ctx);                                                           \
        status = (expression);                                                                               \
        rbli_phase_end((ctx), (name), phase_);                                                               \
        if (status != RBL_OK) goto done;                                                                     \
    } while (0)

/// Entries so far. Threads: not while entries are added.
size_t rbli_trace_count(const rbli_trace *trace); /* 0 for NULL */
const rbli_trace_entry *rbli_trace_get(const rbli_trace *trace, size_t index);

#endif
