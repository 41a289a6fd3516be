/// Controls: cancelling an evaluation, and how far it is (include/rubble/rubble.h).

#include "engine/evaluation.h"

#include <string.h>

/// A guess of what a node costs against others, for progress: what it took last time, in milliseconds, else
/// by its family.
static double guess_cost(const rbli_evaluation *e, uint32_t index)
{
    static const struct {
        const char *family;
        double cost;
    } families[] = {{"cutters", 200}, {"hulls", 100}, {"sources", 50}, {"proximity", 50}, {"cleanup", 30},
        {"clusters", 30}, {"sinks", 30}};
    const rbli_history *history = &e->graph->history[e->graph_index[index]];
    if (history->took_ms > 0) return history->took_ms + 0.1;
    const char *family = e->run->nodes[index].desc->family;
    for (size_t i = 0; family && i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].family, family) == 0) return families[i].cost;
    return 5;
}

void rbli_evaluation_guess_costs(rbli_evaluation *e)
{
    double total = 0;
    for (uint32_t i = 0; i < e->needed_count; i++)
        total += e->progress.costs[i] = guess_cost(e, i);
    e->progress.count = e->needed_count;
    e->progress.total_cost = total > 0 ? total : 1;
}

void rbli_control_show(rbl_control *control, const rbli_progress_state *state)
{
    if (!control) return;
    uv_mutex_lock(&control->mutex);
    control->state = state;
    control->fraction = state ? 0 : 1;
    uv_mutex_unlock(&control->mutex);
}

rbl_status rbl_control_create(rbl_engine *engine, rbl_control **out)
{
    rbl_control *control = rbli_allocator_calloc(engine->allocator, 1, sizeof *control);
    if (!control) return RBL_ERR_NO_MEMORY;
    if (uv_mutex_init(&control->mutex) != 0) {
        rbli_allocator_free(engine->allocator, control);
        return RBL_ERR_NO_MEMORY;
    }
    control->allocator = rbli_allocator_retain(engine->allocator);
    *out = control;
    return RBL_OK;
}

void rbl_control_destroy(rbl_control *control)
{
    if (!control) return;
    rbli_allocator *allocator = control->allocator;
    uv_mutex_destroy(&control->mutex);
    rbli_allocator_free(allocator, control);
    rbli_allocator_release(allocator);
}

void rbl_control_cancel(rbl_control *control)
{
    atomic_store_explicit(&control->cancel, true, memory_order_relaxed);
}

void rbl_control_reset(rbl_control *control)
{
    atomic_store_explicit(&control->cancel, false, memory_order_relaxed);
}

double rbl_control_progress(const rbl_control *control)
{
    uv_mutex_t *mutex = (uv_mutex_t *)&control->mutex;
    uv_mutex_lock(mutex);
    double fraction = control->fraction;
    const rbli_progress_state *state = control->state;
    if (state) {
        double done = 0;
        for (size_t i = 0; i < state->count; i++)
            done +=
                state->costs[i] * (double)atomic_load_explicit(&state->fractions[i], memory_order_relaxed);
        fraction = done / state->total_cost;
    }
    uv_mutex_unlock(mutex);
    return fraction > 1 ? 1 : fraction;
}

double rbl_control_node_progress(const rbl_control *control, size_t number)
{
    uv_mutex_t *mutex = (uv_mutex_t *)&control->mutex;
    uv_mutex_lock(mutex);
    double fraction = control->fraction;
    if (control->state)
        fraction =
            number < control->state->count
                ? (double)atomic_load_explicit(&control->state->fractions[number], memory_order_relaxed)
                : 0;
    uv_mutex_unlock(mutex);
    return fraction;
}
