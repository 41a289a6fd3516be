/// Workers that take assets, the largest first, and help each other when none are left.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tools/cli/batch/batch.h"
#include "tools/cli/batch/journal.h"
#include "tools/cli/batch/record.h"
#include "tools/cli/batch/thumbnail.h"
#include "tools/cli/files.h"
#include "tools/cli/results.h"

enum { MOST_ATTEMPTS = 3, TICK_MS = 50, DRAW_TICKS = 4 };

double batch_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Signals ---- */

/* A signal handler can reach nothing but these. */
static atomic_bool interrupted;
static _Atomic(rbl_control *) controls[BATCH_MOST_WORKERS];

static void on_signal(int number)
{
    int kept = errno;
    (void)number;
    atomic_store(&interrupted, true);
    for (size_t i = 0; i < BATCH_MOST_WORKERS; i++) {
        rbl_control *control = atomic_load(&controls[i]);
        if (control) rbl_control_cancel(control);
    }
    errno = kept;
}

/// The first signal asks for the end; the second one ends the process.
void batch_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool batch_interrupted(void)
{
    return atomic_load(&interrupted);
}

/* ---- One pool for all evaluations ---- */

/// Runs tasks of a set until all have begun; the caller holds the mutex.
static void work_on(batch *b, batch_tasks *set)
{
    while (set->next < set->count) {
        size_t index = set->next++;
        set->active++;
        pthread_mutex_unlock(&b->mutex);
        set->task(set->user, index);
        pthread_mutex_lock(&b->mutex);
        set->active--;
    }
    pthread_cond_broadcast(&b->changed);
}

static void run_tasks(void *user, size_t count, void (*task)(void *task_user, size_t index), void *task_user)
{
    batch *b = user;
    batch_tasks set = {.count = count, .task = task, .user = task_user};
    pthread_mutex_lock(&b->mutex);
    batch_tasks **end = &b->tasks;
    while (*end)
        end = &(*end)->following;
    *end = &set;
    pthread_cond_broadcast(&b->changed);
    work_on(b, &set);
    while (set.active > 0)
        pthread_cond_wait(&b->changed, &b->mutex);
    for (end = &b->tasks; *end != &set;)
        end = &(*end)->following;
    *end = set.following;
    pthread_mutex_unlock(&b->mutex);
}

void batch_executor(batch *b, rbl_executor *executor)
{
    *executor = (rbl_executor){
        .size = sizeof *executor, .thread_count = b->settings->thread_count, .run = run_tasks, .user = b};
}

/* ---- Whether inputs change while an asset is made ---- */

typedef struct input_watch {
    struct input_state {
        char *path;
        struct timespec changed;
        int64_t bytes;
        uint64_t inode;
    } * files;
    size_t count;
    bool failed;
} input_watch;

static struct input_state look_at(const char *path)
{
    struct stat info;
    struct input_state state = {.bytes = -1};
    if (stat(path, &info) != 0) return state;
    state.changed = info.st_mtim;
    state.bytes = (int64_t)info.st_size;
    state.inode = (uint64_t)info.st_ino;
    return state;
}

static void watch_file(void *user, const char *path, bool is_graph)
{
    input_watch *watch = user;
    (void)is_graph;
    struct input_state *files = realloc(watch->files, (watch->count + 1) * sizeof *files);
    if (files) watch->files = files;
    struct input_state state = look_at(path);
    state.path = files ? strdup(path) : NULL;
    if (state.path)
        files[watch->count++] = state;
    else
        watch->failed = true;
}

static bool has_changed(const input_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++) {
        const struct input_state *before = &watch->files[i];
        struct input_state now = look_at(before->path);
        if (now.bytes != before->bytes || now.inode != before->inode ||
            now.changed.tv_sec != before->changed.tv_sec || now.changed.tv_nsec != before->changed.tv_nsec)
            return true;
    }
    return false;
}

static void stop_watching(input_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++)
        free(watch->files[i].path);
    free(watch->files);
    *watch = (input_watch){0};
}

/* ---- One asset ---- */

static void set_error(batch_result *result, const char *text)
{
    if (!result->error) result->error = strdup(text);
}

static void take_messages(batch_result *result, const rbl_messages *messages)
{
    result->warnings += rbl_messages_count_of(messages, RBL_WARNING);
    result->errors += rbl_messages_count_of(messages, RBL_ERROR);
    for (size_t i = 0; i < rbl_messages_count(messages) && !result->error; i++) {
        char *text = NULL;
        if (rbl_messages_get(messages, i)->severity != RBL_ERROR) continue;
        if (rbl_messages_format(messages, i, &text) != RBL_OK) continue;
        set_error(result, text);
        rbl_messages_free_text(messages, text);
    }
}

static void add_result(void *user, const cli_result *one)
{
    batch_result *result = user;
    result->pieces += one->pieces;
    result->triangles += one->triangles;
    result->volume += one->volume;
}

static void take_run(batch_result *result, const rbl_run *run)
{
    cli_counts counts = cli_count_outcomes(run);
    result->nodes = counts.asked;
    result->nodes_ran = counts.ran;
    result->nodes_cached = counts.hits;
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        result->cpu_ms += rbl_run_node(run, i)->cpu_ms;
    result->files = rbl_run_file_count(run);
    for (size_t i = 0; i < result->files; i++)
        result->file_bytes += rbl_run_file(run, i)->bytes;
    take_messages(result, rbl_run_messages(run));
    if (rbl_run_status(run) == RBL_OK) cli_each_result(run, add_result, result);
}

static batch_state state_of(const batch *b, const batch_worker *worker, rbl_status status)
{
    if (status == RBL_ERR_CANCELLED && atomic_load(&worker->timed_out)) return BATCH_TIMED_OUT;
    if (status == RBL_ERR_CANCELLED && (batch_interrupted() || b->stopping)) return BATCH_CANCELLED;
    return status == RBL_OK ? BATCH_DONE : BATCH_FAILED;
}

typedef struct attempt {
    rbl_status status;
    bool changed; /* an input changed meanwhile: the result is of neither */
} attempt;

static attempt evaluate(
    batch *b, batch_worker *worker, const batch_asset *asset, const char *folder, batch_result *result)
{
    attempt made = {RBL_OK, false};
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_run *run = NULL;
    input_watch watch = {0};
    made.status = batch_asset_load(b->engine, asset, &messages, &graph);
    take_messages(result, messages);
    if (made.status == RBL_OK) made.status = rbl_graph_each_file(graph, watch_file, &watch);
    if (made.status == RBL_OK && watch.failed) made.status = RBL_ERR_NO_MEMORY;
    if (made.status == RBL_OK) {
        rbl_evaluate_options options;
        rbl_evaluate_options_init(&options);
        options.output_folder = folder;
        options.only_node = asset->only;
        options.no_cache = b->settings->no_cache;
        options.control = worker->control;
        options.files_only = !b->settings->thumbnails;
        made.status = rbl_evaluate(graph, &options, &run);
    }
    if (run) take_run(result, run);
    if (run && !b->cache_told) batch_tell_cache(b, rbl_run_messages(run));
    made.changed = made.status != RBL_ERR_CANCELLED && has_changed(&watch);
    result->state = state_of(b, worker, made.status);
    if (result->state == BATCH_DONE && b->settings->fail_on_warning && result->warnings) {
        result->state = BATCH_FAILED;
        set_error(result, "error: there are warnings, and --fail-on warning was given\n");
    }
    if (result->state == BATCH_TIMED_OUT) {
        char text[80];
        snprintf(text, sizeof text, "error: not done within %g s\n", asset->limit_seconds);
        set_error(result, text);
    }
    if (batch_state_is_failure(result->state)) set_error(result, rbl_status_text(made.status));
    result->wall_ms = (batch_now() - worker->began) * 1e3;
    if (b->settings->thumbnails && result->state == BATCH_DONE) batch_thumbnail_draw(run, folder, result);
    if (!made.changed) {
        if (!batch_record_write(b, asset, result, graph, run, folder) && result->state == BATCH_DONE) {
            result->state = BATCH_FAILED;
            set_error(result, "error: asset.json cannot be written\n");
        }
    }
    stop_watching(&watch);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    return made;
}

static void clear_result(batch_result *result)
{
    free(result->error);
    free(result->thumbnail);
    *result = (batch_result){.state = BATCH_RUNNING};
}

/// Makes an asset without the mutex. @return the status of its evaluation
static rbl_status make_asset(batch *b, batch_worker *worker, const batch_asset *asset, batch_result *result)
{
    double began = batch_now();
    size_t bytes = strlen(b->settings->out) + strlen(asset->name) + 2;
    char *folder = malloc(bytes);
    rbl_status status = folder ? RBL_OK : RBL_ERR_NO_MEMORY;
    if (folder) snprintf(folder, bytes, "%s/%s", b->settings->out, asset->name);
    if (asset->fault) {
        result->state = BATCH_FAILED;
        result->errors = 1;
        set_error(result, asset->fault);
    } else if (folder && !cli_stays_inside(b->settings->out, folder)) {
        result->state = BATCH_FAILED;
        result->errors = 1;
        set_error(result, "error: a link in the output folder leads out of it: nothing is written there\n");
    } else if (folder && b->settings->resume && batch_record_matches(b, asset, folder, result)) {
        result->state = BATCH_FINISHED_BEFORE;
    } else if (folder) {
        for (int i = 0; i < MOST_ATTEMPTS; i++) {
            clear_result(result);
            attempt made = evaluate(b, worker, asset, folder, result);
            status = made.status;
            if (!made.changed) break;
            if (i + 1 < MOST_ATTEMPTS) continue;
            result->state = BATCH_FAILED;
            set_error(result, "error: a file that it reads changes again and again meanwhile\n");
            batch_record_write(b, asset, result, NULL, NULL, folder);
        }
    } else {
        result->state = BATCH_FAILED;
        set_error(result, rbl_status_text(status));
    }
    result->wall_ms = (batch_now() - began) * 1e3;
    free(folder);
    return status;
}

/// For the time that is left: an asset takes something, whatever its size.
static double weight_of(const batch_asset *asset)
{
    return (double)asset->input_bytes + 50000;
}

/// Takes an asset and makes it; the caller holds the mutex.
static void take_asset(batch *b, batch_worker *worker, size_t asset, bool alone)
{
    const batch_asset *what = &b->list->assets[asset];
    batch_result *result = &b->results[asset];
    clear_result(result);
    b->running++;
    b->alone = alone;
    worker->asset = asset;
    worker->began = batch_now();
    atomic_store(&worker->timed_out, false);
    bool beside = b->running > 1;
    rbl_control_reset(worker->control);
    rbl_status status = RBL_ERR_CANCELLED;
    if (batch_interrupted()) { /* before the reset, which forgot it */
        result->state = BATCH_NOT_RUN;
    } else {
        batch_journal_start(b, what);
        pthread_mutex_unlock(&b->mutex);
        status = make_asset(b, worker, what, result);
        pthread_mutex_lock(&b->mutex);
    }
    beside |= b->running > 1;
    worker->asset = SIZE_MAX;
    b->running--;
    b->alone = false;
    if (status == RBL_ERR_NO_MEMORY && beside && !alone && b->settings->memory && !batch_interrupted()) {
        result->state = BATCH_WAITING;
        b->retries[b->retry_count++] = asset;
    } else {
        b->ended++;
        b->before += result->state == BATCH_FINISHED_BEFORE;
        b->cached += result->state == BATCH_DONE && result->nodes_ran == 0;
        b->failed += batch_state_is_failure(result->state);
        b->weight_ended += weight_of(what);
        batch_journal_asset(b, what, result);
        batch_tell_ended(b, asset);
        if (b->settings->stop_on_failure && batch_state_is_failure(result->state)) b->stopping = true;
    }
    pthread_cond_broadcast(&b->changed);
}

/// The next thing for a worker to do; false when there is nothing any more. The caller holds the mutex.
static bool work_once(batch *b, batch_worker *worker)
{
    bool ending = b->stopping || batch_interrupted();
    if (!ending && !b->alone && b->taken < b->order_count) {
        take_asset(b, worker, b->order[b->taken++], false);
        return true;
    }
    if (!ending && b->running == 0 && b->retry_count > 0) {
        take_asset(b, worker, b->retries[--b->retry_count], true);
        return true;
    }
    for (batch_tasks *set = b->tasks; set; set = set->following)
        if (set->next < set->count) {
            work_on(b, set);
            return true;
        }
    if (b->running == 0) return false;
    pthread_cond_wait(&b->changed, &b->mutex);
    return true;
}

static void *work(void *user)
{
    batch_worker *worker = user;
    batch *b = worker->batch;
    pthread_mutex_lock(&b->mutex);
    while (work_once(b, worker))
        ;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

/* ---- The clock ---- */

typedef struct batch_clock {
    batch *b;
    pthread_t thread;
    bool end;
} batch_clock;

static void look_at_times(batch *b)
{
    double now = batch_now();
    for (size_t i = 0; i < b->worker_count; i++) {
        batch_worker *worker = &b->workers[i];
        if (worker->asset == SIZE_MAX) continue;
        double limit = b->list->assets[worker->asset].limit_seconds;
        if (limit > 0 && now - worker->began > limit && !atomic_exchange(&worker->timed_out, true))
            rbl_control_cancel(worker->control);
    }
}

static void *tick(void *user)
{
    batch_clock *clock = user;
    struct timespec pause = {.tv_nsec = TICK_MS * 1000000L};
    for (unsigned ticks = 0;; ticks++) {
        pthread_mutex_lock(&clock->b->mutex);
        bool end = clock->end;
        if (!end) look_at_times(clock->b);
        if (!end && ticks % DRAW_TICKS == 0) batch_draw_line(clock->b);
        if (batch_interrupted()) pthread_cond_broadcast(&clock->b->changed);
        pthread_mutex_unlock(&clock->b->mutex);
        if (end) return NULL;
        nanosleep(&pause, NULL);
    }
}

/* ---- All of them ---- */

static const batch_asset *assets_of(void *user)
{
    return ((const batch_list *)user)->assets;
}

/// The largest first; equal ones in the order of the list.
static int compare_sizes(const void *a, const void *b, void *user)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    uint64_t x = assets_of(user)[i].input_bytes, y = assets_of(user)[j].input_bytes;
    return x != y ? (x < y ? 1 : -1) : (i > j) - (i < j);
}

static bool prepare(batch *b)
{
    qsort_r(b->order, b->order_count, sizeof *b->order, compare_sizes, (void *)b->list);
    b->retries = malloc((b->order_count + 1) * sizeof *b->retries);
    for (size_t i = 0; i < b->order_count; i++)
        b->weight_all += weight_of(&b->list->assets[b->order[i]]);
    size_t workers = (size_t)b->settings->thread_count;
    bool good = b->retries != NULL;
    for (size_t i = 0; i < workers && good; i++) {
        b->workers[i] = (batch_worker){.batch = b, .index = i, .asset = SIZE_MAX};
        good = rbl_control_create(b->engine, &b->workers[i].control) == RBL_OK;
        if (good) {
            b->worker_count++;
            atomic_store(&controls[i], b->workers[i].control);
        }
    }
    return good;
}

bool batch_run(batch *b)
{
    b->began = batch_now();
    bool good = prepare(b);
    batch_clock clock = {.b = b};
    bool ticking = good && pthread_create(&clock.thread, NULL, tick, &clock) == 0;
    size_t started = 1; /* this thread is the first worker */
    while (good && started < b->worker_count &&
           pthread_create(&b->workers[started].thread, NULL, work, &b->workers[started]) == 0)
        started++;
    if (good && b->worker_count > 0) work(&b->workers[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(b->workers[i].thread, NULL);
    if (ticking) {
        pthread_mutex_lock(&b->mutex);
        clock.end = true;
        pthread_mutex_unlock(&b->mutex);
        pthread_join(clock.thread, NULL);
    }
    batch_clear_line(b);
    for (size_t i = 0; i < b->worker_count; i++) {
        atomic_store(&controls[i], NULL);
        rbl_control_destroy(b->workers[i].control);
    }
    for (size_t i = 0; i < b->order_count; i++)
        if (b->results[b->order[i]].state == BATCH_WAITING) b->results[b->order[i]].state = BATCH_NOT_RUN;
    free(b->retries);
    return good;
}
