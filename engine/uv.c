/// Evaluations for a host with a libuv loop: an rbl_evaluation whose events and end are carried to the loop
/// by one uv_async_t. Several wake-ups may come as one, so events wait in a list.

#include "rubble/rubble_uv.h"

#include <string.h>

#include "engine/run.h"
#include "rubble/async.h"

struct rbl_uv_evaluation {
    rbli_allocator *allocator;
    rbl_context ctx;
    uv_async_t wake;
    rbl_evaluation *evaluation;
    rbl_uv_done done;
    void (*event)(void *user, const rbl_event *event); /* the host's */
    void *event_user, *user;
    uv_mutex_t mutex;
    RBLI_ARRAY(rbl_event) events; /* their strings belong to the run or to the graph's engine */
    bool ended;
};

/// On the evaluating thread. Without memory an event is lost, never the end.
static void keep_event(void *user, const rbl_event *event)
{
    rbl_uv_evaluation *e = user;
    uv_mutex_lock(&e->mutex);
    bool kept = rbli_array_push(&e->ctx, &e->events, *event) == RBL_OK;
    uv_mutex_unlock(&e->mutex);
    if (kept) uv_async_send(&e->wake);
}

/// On the evaluating thread.
static void tell_end(void *user, rbl_evaluation *evaluation)
{
    rbl_uv_evaluation *e = user;
    (void)evaluation;
    uv_mutex_lock(&e->mutex);
    e->ended = true;
    uv_async_send(&e->wake); /* under the mutex: afterwards the loop may free everything */
    uv_mutex_unlock(&e->mutex);
}

static void on_closed(uv_handle_t *handle)
{
    rbl_uv_evaluation *e = handle->data;
    rbli_allocator *allocator = e->allocator;
    uv_mutex_destroy(&e->mutex);
    rbli_allocator_free(allocator, e->events.data);
    rbli_allocator_free(allocator, e);
    rbli_allocator_release(allocator);
}

static void on_wake(uv_async_t *wake)
{
    rbl_uv_evaluation *e = wake->data;
    uv_mutex_lock(&e->mutex);
    bool ended = e->ended && e->evaluation;
    rbl_event *events = e->events.data;
    size_t count = e->events.count;
    e->events.data = NULL;
    e->events.count = e->events.capacity = 0;
    uv_mutex_unlock(&e->mutex);
    for (size_t i = 0; i < count; i++)
        e->event(e->event_user, &events[i]);
    rbli_allocator_free(e->allocator, events);
    if (!ended) return;
    rbl_status status = rbl_evaluation_wait(e->evaluation);
    rbl_run *run = rbl_evaluation_take_run(e->evaluation);
    rbl_evaluation_destroy(e->evaluation);
    e->evaluation = NULL;
    uv_close((uv_handle_t *)&e->wake, on_closed);
    e->done(e->user, status, run);
}

/// The handle without an evaluation.
static rbl_status create(uv_loop_t *loop, rbli_allocator *allocator, rbl_uv_evaluation **out)
{
    rbl_uv_evaluation *e = rbli_allocator_calloc(allocator, 1, sizeof *e);
    if (!e) return RBL_ERR_NO_MEMORY;
    e->ctx.allocator = allocator;
    bool mutex = uv_mutex_init(&e->mutex) == 0;
    if (!mutex || uv_async_init(loop, &e->wake, on_wake) != 0) {
        if (mutex) uv_mutex_destroy(&e->mutex);
        rbli_allocator_free(allocator, e);
        return RBL_ERR_NO_MEMORY;
    }
    e->allocator = rbli_allocator_retain(allocator);
    e->wake.data = e;
    *out = e;
    return RBL_OK;
}

rbl_status rbl_uv_evaluate(uv_loop_t *loop, rbl_graph *graph, const rbl_evaluate_options *options,
    rbl_uv_done done, void *user, rbl_uv_evaluation **out)
{
    rbl_evaluate_options forwarded;
    rbl_evaluate_options_init(&forwarded);
    if (options && !rbli_take_struct(&forwarded, sizeof forwarded, options, RBLI_EVALUATE_OPTIONS_LEAST))
        return RBL_ERR_ARGUMENT;
    rbl_uv_evaluation *e = NULL;
    rbl_status status = create(loop, graph->engine->allocator, &e);
    if (status != RBL_OK) return status;
    e->done = done;
    e->user = user;
    e->event = forwarded.event;
    e->event_user = forwarded.user;
    if (forwarded.event) forwarded.event = keep_event;
    forwarded.user = e;
    /* Nothing is heard of it before the loop runs again, so `out` is set in time. */
    status = rbl_evaluation_begin(graph, &forwarded, tell_end, e, &e->evaluation);
    if (status != RBL_OK) {
        uv_close((uv_handle_t *)&e->wake, on_closed);
        return status;
    }
    if (out) *out = e;
    return RBL_OK;
}

void rbl_uv_cancel(rbl_uv_evaluation *evaluation)
{
    if (evaluation->evaluation) rbl_evaluation_cancel(evaluation->evaluation);
}

double rbl_uv_progress(const rbl_uv_evaluation *evaluation)
{
    return evaluation->evaluation ? rbl_evaluation_progress(evaluation->evaluation) : 1;
}
