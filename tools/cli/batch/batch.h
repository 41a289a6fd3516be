#ifndef RUBBLE_CLI_BATCH_H
#define RUBBLE_CLI_BATCH_H

/// A batch under way: what its parts share.

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "tools/cli/batch/list.h"
#include "tools/cli/cli.h"

typedef enum batch_state {
    BATCH_WAITING,
    BATCH_RUNNING,
    BATCH_DONE,
    BATCH_FINISHED_BEFORE, /* --resume: its files are there */
    BATCH_FAILED,
    BATCH_TIMED_OUT,
    BATCH_CANCELLED,
    BATCH_NOT_RUN, /* the batch ended before its turn */
} batch_state;

/// "waiting", "running", "done", "finished before", "failed", "timed out", "cancelled", "not run".
const char *batch_state_text(batch_state state);
/// Whether an ended asset did not give what it should.
bool batch_state_is_failure(batch_state state);

typedef struct batch_result {
    batch_state state;
    double wall_ms, cpu_ms;
    size_t nodes, nodes_ran, nodes_cached;
    size_t warnings, errors;
    size_t pieces, triangles;
    double volume;
    size_t files;
    uint64_t file_bytes;
    char *error;     /* the first error, one or several lines, or NULL */
    char *thumbnail; /* name below the asset's folder, or NULL */
} batch_result;

typedef enum batch_progress { BATCH_QUIET, BATCH_BAR, BATCH_PLAIN, BATCH_JSON } batch_progress;

typedef struct batch_settings {
    const char *out;
    batch_progress progress;
    bool resume, stop_on_failure, fail_on_warning, no_cache, thumbnails;
    size_t memory;
    int thread_count;
    bool chunked;                /* --chunk was given, */
    uint64_t chunk, chunk_count; /* and this process makes chunk number `chunk` of `chunk_count` */
} batch_settings;

enum { BATCH_MOST_WORKERS = 256 };

/// A worker's evaluation, seen by the clock and by signals.
typedef struct batch_worker {
    struct batch *batch;
    size_t index;
    pthread_t thread;
    rbl_control *control;
    size_t asset; /* SIZE_MAX: none */
    double began; /* seconds */
    atomic_bool timed_out;
} batch_worker;

/// Tasks of an evaluation that idle workers may help with (rbl_executor).
typedef struct batch_tasks {
    size_t next, count, active;
    void (*task)(void *user, size_t index);
    void *user;
    struct batch_tasks *following;
} batch_tasks;

typedef struct batch {
    const batch_settings *settings;
    const batch_list *list;
    rbl_engine *engine;
    batch_result *results; /* one an asset */
    size_t *order;         /* assets of this chunk, the largest first */
    size_t order_count;

    pthread_mutex_t mutex; /* everything below */
    pthread_cond_t changed;
    size_t taken;    /* of `order` */
    size_t running;  /* assets */
    size_t *retries; /* assets that ran out of memory beside others: to be run alone */
    size_t retry_count;
    bool alone; /* one of them runs */
    batch_tasks *tasks;
    bool stopping;                        /* take no more */
    size_t ended, failed, before, cached; /* cached: done without running a node */
    double began;
    double weight_all, weight_ended; /* for the time that is left */
    bool line_shown, cache_told;
    int journal; /* of the chunk, or −1 */
    bool journal_begun, journal_failed;
    batch_worker workers[BATCH_MOST_WORKERS];
    size_t worker_count;
} batch;

/// Runs the assets of `order`. Results are all set afterwards. @return false when there was no memory to begin
bool batch_run(batch *b);
/// For the engine: idle workers work on evaluations of others.
void batch_executor(batch *b, rbl_executor *executor);
/// True after SIGINT or SIGTERM.
bool batch_interrupted(void);
void batch_catch_signals(void);

/// Seconds of a clock that does not jump.
double batch_now(void);

/// Tells that an asset ended, or draws the line of progress; the caller holds the mutex.
void batch_tell_ended(batch *b, size_t asset);
void batch_draw_line(batch *b);
void batch_clear_line(batch *b);
/// Tells the first note of the cache that a run has: of an asset's own notes nobody would hear before the end.
void batch_tell_cache(batch *b, const rbl_messages *messages);

#endif
