/// Evaluations on a thread of their own (include/rubble/async.h).

#include "rubble/async.h"

#include <string.h>

#include "engine/run.h"

struct rbl_evaluation {
    rbli_allocator *allocator;
    rbl_graph *graph;
    rbl_evaluate_options options; /* points at the copies */
    char *output_folder, *only_node;
    rbl_control *own_control; /* NULL: the host gave one */
    rbl_evaluation_done done_fn;
    void *user;
    uv_thread_t thread;
    uv_mutex_t mutex; /* what follows */
    uv_cond_t changed;
    bool accepted, done; /* accepted: it has taken the graph's parameters */
    rbl_status status;
    rbl_run *run;
};

static char *copy_text(rbli_allocator *allocator, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rbli_allocator_alloc(allocator, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

/// Frees all but the run's thread, which has ended or was never made.
static void free_evaluation(rbl_evaluation *evaluation)
{
    rbli_allocator *allocator = evaluation->allocator;
    rbl_run_destroy(evaluation->run);
    rbl_control_destroy(evaluation->own_control);
    rbli_allocator_free(allocator, evaluation->output_folder);
    rbli_allocator_free(allocator, evaluation->only_node);
    uv_cond_destroy(&evaluation->changed);
    uv_mutex_destroy(&evaluation->mutex);
    rbli_allocator_free(allocator, evaluation);
    rbli_allocator_release(allocator);
}

static void tell_accepted(void *user)
{
    rbl_evaluation *evaluation = user;
    uv_mutex_lock(&evaluation->mutex);
    evaluation->accepted = true;
    uv_cond_broadcast(&evaluation->changed);
    uv_mutex_unlock(&evaluation->mutex);
}

static void run_thread(void *user)
{
    rbl_evaluation *evaluation = user;
    rbl_run *run = NULL;
    rbli_evaluate_hooks hooks = {.started = tell_accepted, .user = evaluation};
    rbl_status status = rbli_evaluate(evaluation->graph, &evaluation->options, &hooks, &run);
    uv_mutex_lock(&evaluation->mutex);
    evaluation->status = status;
    evaluation->run = run;
    evaluation->done = true;
    bool accepted = evaluation->accepted;
    uv_cond_broadcast(&evaluation->changed);
    uv_mutex_unlock(&evaluation->mutex);
    if (accepted && evaluation->done_fn) evaluation->done_fn(evaluation->user, evaluation);
}

static rbl_status create(rbl_graph *graph, rbl_evaluation **out)
{
    rbli_allocator *allocator = graph->engine->allocator;
    rbl_evaluation *evaluation = rbli_allocator_calloc(allocator, 1, sizeof *evaluation);
    if (!evaluation) return RBL_ERR_NO_MEMORY;
    bool mutex = uv_mutex_init(&evaluation->mutex) == 0;
    if (!mutex || uv_cond_init(&evaluation->changed) != 0) {
        if (mutex) uv_mutex_destroy(&evaluation->mutex);
        rbli_allocator_free(allocator, evaluation);
        return RBL_ERR_NO_MEMORY;
    }
    evaluation->allocator = rbli_allocator_retain(allocator);
    evaluation->graph = graph;
    *out = evaluation;
    return RBL_OK;
}

static rbl_status copy_options(rbl_evaluation *evaluation, const rbl_evaluate_options *options)
{
    rbl_status status = RBL_OK;
    rbl_evaluate_options_init(&evaluation->options);
    if (options) {
        if (!rbli_take_struct(&evaluation->options, sizeof *options, options, RBLI_EVALUATE_OPTIONS_LEAST))
            return RBL_ERR_ARGUMENT;
        options = &evaluation->options;
        if (options->output_folder) {
            evaluation->output_folder = copy_text(evaluation->allocator, options->output_folder);
            RBL_TRY_ALLOC(evaluation->output_folder);
            evaluation->options.output_folder = evaluation->output_folder;
        }
        if (options->only_node) {
            evaluation->only_node = copy_text(evaluation->allocator, options->only_node);
            RBL_TRY_ALLOC(evaluation->only_node);
            evaluation->options.only_node = evaluation->only_node;
        }
    }
    if (!evaluation->options.control) {
        RBL_TRY(rbl_control_create(evaluation->graph->engine, &evaluation->own_control));
        evaluation->options.control = evaluation->own_control;
    }
done:
    return status;
}

rbl_status rbl_evaluation_begin(rbl_graph *graph, const rbl_evaluate_options *options,
    rbl_evaluation_done done, void *user, rbl_evaluation **out)
{
    rbl_evaluation *evaluation = NULL;
    rbl_status status = create(graph, &evaluation);
    if (status != RBL_OK) return status;
    evaluation->done_fn = done;
    evaluation->user = user;
    status = copy_options(evaluation, options);
    if (status == RBL_OK && uv_thread_create(&evaluation->thread, run_thread, evaluation) != 0)
        status = RBL_ERR_NO_MEMORY;
    if (status != RBL_OK) {
        free_evaluation(evaluation);
        return status;
    }
    uv_mutex_lock(&evaluation->mutex);
    while (!evaluation->accepted && !evaluation->done)
        uv_cond_wait(&evaluation->changed, &evaluation->mutex);
    bool accepted = evaluation->accepted;
    uv_mutex_unlock(&evaluation->mutex);
    if (!accepted) {
        uv_thread_join(&evaluation->thread);
        status = evaluation->status;
        free_evaluation(evaluation);
        return status;
    }
    *out = evaluation;
    return RBL_OK;
}

void rbl_evaluation_cancel(rbl_evaluation *evaluation)
{
    rbl_control_cancel(evaluation->options.control);
}

bool rbl_evaluation_is_done(const rbl_evaluation *evaluation)
{
    rbl_evaluation *locked = (rbl_evaluation *)evaluation; /* only the mutex changes */
    uv_mutex_lock(&locked->mutex);
    bool done = locked->done;
    uv_mutex_unlock(&locked->mutex);
    return done;
}

double rbl_evaluation_progress(const rbl_evaluation *evaluation)
{
    return rbl_evaluation_is_done(evaluation) ? 1 : rbl_control_progress(evaluation->options.control);
}

rbl_status rbl_evaluation_wait(rbl_evaluation *evaluation)
{
    uv_mutex_lock(&evaluation->mutex);
    while (!evaluation->done)
        uv_cond_wait(&evaluation->changed, &evaluation->mutex);
    rbl_status status = evaluation->status;
    uv_mutex_unlock(&evaluation->mutex);
    return status;
}

const rbl_run *rbl_evaluation_run(const rbl_evaluation *evaluation)
{
    rbl_evaluation *locked = (rbl_evaluation *)evaluation; /* only the mutex changes */
    uv_mutex_lock(&locked->mutex);
    const rbl_run *run = locked->run;
    uv_mutex_unlock(&locked->mutex);
    return run;
}

rbl_run *rbl_evaluation_take_run(rbl_evaluation *evaluation)
{
    uv_mutex_lock(&evaluation->mutex);
    rbl_run *run = evaluation->run;
    evaluation->run = NULL;
    uv_mutex_unlock(&evaluation->mutex);
    return run;
}

void rbl_evaluation_destroy(rbl_evaluation *evaluation)
{
    if (!evaluation) return;
    rbl_evaluation_cancel(evaluation);
    uv_thread_join(&evaluation->thread);
    free_evaluation(evaluation);
}
