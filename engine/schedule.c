/// Nodes as tasks on the engine's pool, each behind those that it needs.

#include "engine/evaluation.h"

#include <stdio.h>

/// One event at a time, whichever thread its node runs on.
static void send_event(rbli_evaluation *e, rbl_event_kind kind, uint32_t index)
{
    if (!e->options->event) return;
    const rbl_node_report *report = &e->run->nodes[index].report;
    uv_mutex_lock(&e->event_mutex);
    if (kind == RBL_EVENT_NODE_ENDS) e->done_cost += e->progress.costs[index];
    rbl_event event = {.kind = kind,
        .node = report->node,
        .type = report->type,
        .number = index,
        .total = e->needed_count,
        .outcome = kind == RBL_EVENT_NODE_ENDS ? report->outcome : 0,
        .progress = e->done_cost / e->progress.total_cost};
    e->options->event(e->options->user, &event);
    uv_mutex_unlock(&e->event_mutex);
}

/// True when something above failed or was skipped; the node is skipped, too.
static bool skip_node(rbli_evaluation *e, uint32_t index, const rbli_graph_node *node)
{
    const bool *skips = e->skips[e->graph_index[index]];
    for (uint32_t i = 0; i < node->ref_count; i++) {
        if (skips && skips[i]) continue;
        uint32_t from = e->run_index[node->refs[i].node];
        if (rbli_is_good(&e->run->nodes[from])) continue;
        e->blame[index] = e->blame[from];
        char reason[200];
        rbl_outcome outcome = e->run->nodes[from].report.outcome;
        if (outcome == RBL_OUTCOME_WOULD_RUN || outcome == RBL_OUTCOME_MAY_RUN) {
            bool remembered =
                !e->options->no_cache && (e->engine->disk_cache || rbli_cache_count(e->engine->cache));
            e->run->nodes[index].report.outcome = remembered ? RBL_OUTCOME_MAY_RUN : RBL_OUTCOME_WOULD_RUN;
            snprintf(reason, sizeof reason, "\"%s\" above it runs", e->run->nodes[e->blame[index]].id);
            rbli_evaluation_set_reason(e, &e->run->nodes[index], reason);
            return true;
        }
        snprintf(reason, sizeof reason, "node \"%s\" failed", e->run->nodes[e->blame[index]].id);
        rbli_evaluation_set_reason(e, &e->run->nodes[index], reason);
        return true;
    }
    return false;
}

static void evaluate_node(rbli_evaluation *e, uint32_t index, rbli_task_set *tasks)
{
    const rbli_graph_node *node = &e->graph->nodes[e->graph_index[index]];
    rbli_run_node *entry = &e->run->nodes[index];
    rbli_result_release(entry->result); /* of a node "inputs" that handed on less before */
    entry->result = NULL;
    entry->report.outcome = RBL_OUTCOME_SKIPPED;
    if (atomic_load(&e->cancelled) || rbli_evaluation_is_cancelled(e)) {
        atomic_store(&e->cancelled, true);
        e->blame[index] = index;
        rbli_evaluation_set_reason(e, entry, "cancelled");
        return;
    }
    if (skip_node(e, index, node)) return;
    if (!e->dry) send_event(e, RBL_EVENT_NODE_BEGINS, index);
    rbli_node_work w;
    if (rbli_work_begin(e, index, &w)) {
        w.ctx.tasks = tasks;
        rbli_work_run(e, &w);
        if (e->given)
            rbli_work_note_files(e, &w);
        else if (!e->dry && w.status != RBL_ERR_CANCELLED)
            rbli_work_remember(e, &w);
    } else {
        rbli_work_fail(e, &w, RBL_ERR_NO_MEMORY);
    }
    rbli_work_end(e, &w, "node");
    atomic_store_explicit(&e->progress.fractions[index], 1, memory_order_relaxed);
    if (!e->dry) send_event(e, RBL_EVENT_NODE_ENDS, index);
}

/// Counts, for each node of the run, the connections through which others have yet to take its outputs. Nodes that
/// write files take theirs when all has run.
static rbl_status count_waiting(rbli_evaluation *e, rbl_context *ctx)
{
    if (!e->options->files_only || e->options->checked || e->whole || e->distrust || e->given || e->dry)
        return RBL_OK;
    e->waiting = rbli_calloc(ctx, e->needed_count + 1, sizeof *e->waiting);
    if (!e->waiting) return RBL_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < e->needed_count; i++) {
        const rbli_graph_node *node = &e->graph->nodes[e->graph_index[i]];
        for (uint32_t k = 0; k < node->ref_count; k++)
            atomic_fetch_add_explicit(&e->waiting[e->run_index[node->refs[k].node]], 1, memory_order_relaxed);
    }
    return RBL_OK;
}

/// Lets go of what a node was the last to need. One that hands on its inputs may run again for more of them, beside
/// others that take them.
static void let_inputs_go(rbli_evaluation *e, const rbli_graph_node *node)
{
    if (!e->waiting || node->type->desc->deliver || node->type->desc->flags & RBLI_NODE_PASSES) return;
    for (uint32_t k = 0; k < node->ref_count; k++) {
        uint32_t from = e->run_index[node->refs[k].node];
        bool last = atomic_fetch_sub_explicit(&e->waiting[from], 1, memory_order_acq_rel) == 1;
        if (last && !e->run->nodes[from].desc->deliver) /* hosts look at what was written */
            rbli_entry_let_go(e, &e->run->nodes[from]);
    }
}

/// The nodes of one round.
typedef struct round {
    rbli_evaluation *e;
    uint32_t *nodes; /* by task: in the run */
} round;

static void evaluate_task(rbl_context *ctx, size_t task, void *user)
{
    const round *r = user;
    evaluate_node(r->e, r->nodes[task], ctx->tasks);
    let_inputs_go(r->e, &r->e->graph->nodes[r->e->graph_index[r->nodes[task]]]);
}

/// Evaluates the nodes run[i], `count` of them, each behind those of them that it needs.
static rbl_status run_round(rbli_evaluation *e, rbl_context *ctx, const bool *run, size_t count)
{
    rbl_status status = RBL_OK;
    rbli_task_graph tasks = {.count = count};
    round r = {.e = e};
    uint32_t *task_of = rbli_calloc(ctx, e->needed_count, sizeof *task_of);
    uint32_t *wait_counts = rbli_calloc(ctx, count, sizeof *wait_counts), *followers = NULL;
    size_t *follower_start = rbli_calloc(ctx, count + 2, sizeof *follower_start);
    RBL_TRY_ALLOC(task_of);
    RBL_TRY_ALLOC(wait_counts);
    RBL_TRY_ALLOC(follower_start);
    RBL_TRY_ALLOC(r.nodes = rbli_calloc(ctx, count, sizeof *r.nodes));
    for (uint32_t i = 0, task = 0; i < e->needed_count; i++) {
        if (!run[i]) continue;
        r.nodes[task] = i;
        task_of[i] = task++;
    }
    /* follower_start[i + 2] counts first and is then moved to its place by filling. */
    for (size_t i = 0; i < count; i++) {
        const rbli_graph_node *node = &e->graph->nodes[e->graph_index[r.nodes[i]]];
        for (uint32_t k = 0; k < node->ref_count; k++) {
            uint32_t from = e->run_index[node->refs[k].node];
            if (!run[from]) continue;
            wait_counts[i]++;
            follower_start[task_of[from] + 2]++;
        }
    }
    for (size_t i = 2; i < count + 2; i++)
        follower_start[i] += follower_start[i - 1];
    followers = rbli_alloc(ctx, follower_start[count + 1], sizeof *followers);
    RBL_TRY_ALLOC(followers);
    for (size_t i = 0; i < count; i++) {
        const rbli_graph_node *node = &e->graph->nodes[e->graph_index[r.nodes[i]]];
        for (uint32_t k = 0; k < node->ref_count; k++) {
            uint32_t from = e->run_index[node->refs[k].node];
            if (run[from]) followers[follower_start[task_of[from] + 1]++] = (uint32_t)i;
        }
    }
    tasks.wait_counts = wait_counts;
    tasks.follower_start = follower_start;
    tasks.followers = followers;
    status = rbli_run_tasks(ctx, &tasks, evaluate_task, &r);
done:
    rbli_free(ctx, r.nodes);
    rbli_free(ctx, task_of);
    rbli_free(ctx, followers);
    rbli_free(ctx, follower_start);
    rbli_free(ctx, wait_counts);
    return status;
}

rbl_status rbli_evaluation_run_nodes(rbli_evaluation *e, rbli_task_set *outer)
{
    rbl_status status = RBL_OK;
    rbl_context ctx = e->engine->base;
    ctx.pool = e->engine->pool;
    ctx.tasks = outer;
    rbli_demand *demand = NULL;
    bool *run = rbli_calloc(&ctx, e->graph->node_count + 1, sizeof *run);
    RBL_TRY_ALLOC(run);
    RBL_TRY(count_waiting(e, &ctx));
    RBL_TRY(rbli_demand_create(e, e->only, &demand));
    for (size_t count;;) {
        RBL_TRY(rbli_demand_next(e, demand, run, &count));
        if (!count) break;
        RBL_TRY(run_round(e, &ctx, run, count));
    }
    rbli_demand_end(e, demand);
done:
    rbli_demand_destroy(e, demand);
    rbli_free(&ctx, e->waiting);
    e->waiting = NULL;
    rbli_free(&ctx, run);
    for (uint32_t i = 0; i < e->needed_count; i++) {
        const rbl_node_report *report = &e->run->nodes[i].report;
        if (report->outcome == RBL_OUTCOME_FAILED && e->run->status == RBL_OK)
            e->run->status = report->status;
        rbli_evaluation_take_messages(e, i);
    }
    return status;
}
