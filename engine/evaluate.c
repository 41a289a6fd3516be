/// Evaluation: nodes are tasks on the engine's pool, each behind those that it needs. A node's key hashes its
/// type and version, its parameters, the contents of its inputs and of the files that it reads; equal keys
/// mean equal outputs, so a node whose output did not change cuts off everything below it. What a node says
/// goes to a list of its own; the run gets the lists in the order of the nodes, whoever was first.

#include <string.h>
#include <time.h>

#include "engine/evaluation.h"

static const size_t no_node = SIZE_MAX;

static double now_ms(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/// Marks what `only` needs (no_node: everything).
static rbl_status mark_needed(rbl_graph *graph, size_t only, bool *needed)
{
    for (size_t i = 0; i < graph->node_count; i++)
        needed[i] = only == no_node || i == only;
    if (only == no_node) return RBL_OK;
    for (size_t i = graph->node_count; i-- > 0;) {
        const rbli_graph_node *node = &graph->nodes[graph->order[i]];
        for (uint32_t k = 0; needed[graph->order[i]] && k < node->ref_count; k++)
            needed[node->refs[k].node] = true;
    }
    return RBL_OK;
}

static rbl_status begin(rbli_evaluation *e, size_t only)
{
    rbl_graph *graph = e->graph;
    rbli_allocator *allocator = e->engine->allocator;
    rbl_status status = RBL_OK;
    bool *needed = rbli_allocator_calloc(allocator, graph->node_count, sizeof *needed);
    e->params = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->params);
    e->run_index = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->run_index);
    e->graph_index = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->graph_index);
    e->blame = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->blame);
    e->only = only;
    e->skips = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->skips);
    e->ends = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->ends);
    e->said = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->said);
    e->activities = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->activities);
    e->progress.fractions =
        rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->progress.fractions);
    e->progress.costs = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->progress.costs);
    if (!needed || !e->params || !e->run_index || !e->graph_index || !e->blame || !e->said ||
        !e->activities || !e->progress.fractions || !e->progress.costs || !e->skips || !e->ends)
        RBL_TRY(RBL_ERR_NO_MEMORY);
    RBL_TRY(mark_needed(graph, only, needed));
    uv_mutex_lock(&graph->mutex);
    for (const rbli_document *d = graph->documents; d; d = d->next) {
        size_t line, column; /* finds all lines: messages come from any thread */
        rbli_source_place(d->source, 0, &line, &column);
    }
    status = rbli_run_create(graph, needed, &e->run);
    for (size_t i = 0; i < graph->node_count; i++)
        e->params[i] = rbli_params_retain(graph->nodes[i].params);
    uv_mutex_unlock(&graph->mutex);
    RBL_TRY(status);
    uint32_t next = 0;
    for (int wanted = 1; wanted >= 0; wanted--) {
        for (size_t i = 0; i < graph->node_count; i++) {
            uint32_t node = graph->order[i];
            if (needed[node] != wanted) continue;
            e->graph_index[next] = node;
            e->run_index[node] = next++;
        }
        if (wanted) e->needed_count = next;
    }
    if (e->options->trace && !e->trace) {
        e->run->trace = rbli_trace_create(allocator);
        RBL_TRY_ALLOC(e->run->trace);
        e->run->trace_begin_ns = rbli_trace_now();
        e->trace = e->run->trace;
    }
    for (uint32_t i = 0; i < e->needed_count; i++) {
        e->activities[i].trace = e->trace;
        e->activities[i].name = rbli_trace_name(e->trace, e->prefix, e->run->nodes[i].id);
    }
done:
    rbli_allocator_free(allocator, needed);
    return status;
}

static void end(rbli_evaluation *e)
{
    rbli_allocator *allocator = e->engine->allocator;
    for (size_t i = 0; e->params && i < e->graph->node_count; i++)
        rbli_params_release(e->params[i]);
    rbli_allocator_free(allocator, e->params);
    rbli_allocator_free(allocator, e->run_index);
    rbli_allocator_free(allocator, e->graph_index);
    rbli_allocator_free(allocator, e->blame);
    for (size_t i = 0; e->said && i < e->graph->node_count; i++)
        rbl_messages_destroy(e->said[i]);
    rbli_allocator_free(allocator, e->said);
    for (size_t i = 0; e->skips && i < e->graph->node_count; i++)
        rbli_allocator_free(allocator, e->skips[i]);
    rbli_allocator_free(allocator, e->skips);
    rbli_allocator_free(allocator, e->ends);
    rbli_allocator_free(allocator, e->activities);
    rbli_allocator_free(allocator, e->progress.fractions);
    rbli_allocator_free(allocator, e->progress.costs);
    uv_mutex_destroy(&e->event_mutex);
}

/// The node that gives the first output of a graph within the graph, SIZE_MAX when it is none.
static size_t find_alias(const rbl_graph *graph, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < graph->aliases.count; i++)
        if (strncmp(graph->aliases.data[i].name, name, length) == 0 &&
            graph->aliases.data[i].name[length] == '.')
            return graph->aliases.data[i].ref.node;
    return SIZE_MAX;
}

void rbl_evaluate_options_init(rbl_evaluate_options *options)
{
    *options = (rbl_evaluate_options){.size = sizeof *options};
}

static void evaluate_all(rbli_evaluation *e)
{
    rbl_status status = rbli_evaluation_run_nodes(e, NULL);
    if (status != RBL_OK && e->run->status == RBL_OK) e->run->status = status;
    rbli_evaluation_write_files(e);
}

/// Makes the run as it was before its nodes were evaluated, to evaluate them without the cache folder; the first time
/// that something had stayed in its file, with all that comes from there read whole: what is damaged is set aside then.
static bool forget_attempt(rbli_evaluation *e)
{
    rbl_messages *messages = NULL;
    if (atomic_load(&e->cancelled) || rbli_messages_open(e->engine->allocator, &messages) != RBL_OK)
        return false;
    bool distrust = !e->options->files_only || e->whole;
    rbli_message_add(messages, RBL_NOTE, RBL_OK, NULL, NULL,
        distrust ? "a result in the cache folder cannot be unpacked; evaluated again without the folder"
                 : "a result in the cache folder is damaged or gone; evaluated again");
    rbl_messages_destroy(e->run->messages);
    e->run->messages = messages;
    e->run->status = RBL_OK;
    for (size_t i = 0; i < e->graph->node_count; i++) {
        rbli_allocator_free(e->engine->allocator, e->skips[i]);
        e->skips[i] = NULL;
    }
    for (size_t i = 0; i < e->needed_count; i++) {
        rbli_run_node *entry = &e->run->nodes[i];
        atomic_store(&e->progress.fractions[i], 0);
        rbli_result_release(entry->result);
        entry->result = NULL;
        rbli_evaluation_set_reason(e, entry, "");
        entry->report =
            (rbl_node_report){.node = entry->id, .type = entry->desc->type, .reason = entry->report.reason};
    }
    e->done_cost = 0;
    e->distrust = distrust;
    e->whole = true;
    atomic_store(&e->undecodable, false);
    return true;
}

enum { TURN_POLL_MS = 2 };

/// Waits until no other evaluation of the graph is under way. @return false when cancelled while waiting:
/// then every node is skipped, and nothing is held
static bool take_turn(rbli_evaluation *e)
{
    while (uv_mutex_trylock(&e->graph->evaluating) != 0) {
        if (rbli_evaluation_is_cancelled(e)) {
            atomic_store(&e->cancelled, true);
            return false;
        }
        uv_sleep(TURN_POLL_MS);
    }
    return true;
}

rbl_status rbli_evaluate(
    rbl_graph *graph, const rbl_evaluate_options *options, const rbli_evaluate_hooks *hooks, rbl_run **out)
{
    rbl_evaluate_options defaults;
    rbl_evaluate_options_init(&defaults);
    *out = NULL;
    if (options && !rbli_take_struct(&defaults, sizeof defaults, options, RBLI_EVALUATE_OPTIONS_LEAST))
        return RBL_ERR_ARGUMENT;
    options = &defaults;
    if (options->output_folder && !*options->output_folder) return RBL_ERR_ARGUMENT;
    size_t only = no_node;
    if (options->only_node) {
        only = rbl_graph_find_node(graph, options->only_node);
        if (only == SIZE_MAX) only = find_alias(graph, options->only_node);
        if (only == SIZE_MAX) return RBL_ERR_NOT_FOUND;
    }
    double wall = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    rbli_evaluation e = {.graph = graph, .engine = graph->engine, .options = options, .dry = hooks->dry};
    if (uv_mutex_init(&e.event_mutex) != 0) return RBL_ERR_NO_MEMORY;
    rbl_status status = begin(&e, only);
    if (hooks->started) hooks->started(hooks->user);
    if (status == RBL_OK) {
        bool is_ours = take_turn(&e); /* evaluations of one graph follow each other */
        if (is_ours)
            for (rbl_graph *body = graph->bodies; body; body = body->next_body)
                rbli_graph_forget_reads(body);
        rbli_evaluation_guess_costs(&e);
        rbli_control_show(options->control, &e.progress);
        if (graph->engine->disk_cache) rbli_disk_cache_begin_run(graph->engine->disk_cache);
        evaluate_all(&e);
        while (atomic_load(&e.undecodable) && !e.distrust && forget_attempt(&e))
            evaluate_all(&e);
        if (is_ours) uv_mutex_unlock(&graph->evaluating);
        rbli_control_show(options->control, NULL);
        if (atomic_load(&e.cancelled)) e.run->status = RBL_ERR_CANCELLED;
        e.run->wall_ms = now_ms(CLOCK_MONOTONIC) - wall;
        e.run->cpu_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        status = e.run->status;
        *out = e.run;
    } else {
        rbl_run_destroy(e.run);
    }
    end(&e);
    return status;
}

rbl_status rbl_evaluate(rbl_graph *graph, const rbl_evaluate_options *options, rbl_run **out)
{
    return rbli_evaluate(graph, options, &(rbli_evaluate_hooks){0}, out);
}

rbl_status rbl_graph_explain(rbl_graph *graph, const rbl_evaluate_options *options, rbl_run **out)
{
    return rbli_evaluate(graph, options, &(rbli_evaluate_hooks){.dry = true}, out);
}

rbl_messages *rbli_run_take_messages(rbl_run *run)
{
    rbl_messages *messages = run->messages;
    run->messages = NULL;
    return messages;
}

rbl_status rbli_hand_on_body_messages(rbl_call *call, const rbl_messages *said)
{
    rbli_evaluation *outer = call->evaluation;
    if (!said || !rbl_messages_count(said)) return RBL_OK;
    rbl_status status = rbli_messages_open(outer->engine->allocator, &outer->said[call->node_index]);
    if (status == RBL_OK) rbli_messages_copy(outer->said[call->node_index], said);
    return status;
}

rbl_status rbli_evaluate_body(
    rbl_context *ctx, rbl_call *call, rbl_value *const *given, const char *prefix, rbl_run **out)
{
    rbli_evaluation *outer = call->evaluation;
    rbl_evaluate_options options = *outer->options;
    options.output_folder = NULL;
    options.only_node = NULL;
    options.event = NULL;
    char *whole = rbli_format(&outer->engine->base, "%s%s", outer->prefix ? outer->prefix : "", prefix);
    if (!whole) return RBL_ERR_NO_MEMORY;
    rbli_evaluation e = {.graph = call->node->body,
        .engine = outer->engine,
        .options = &options,
        .distrust = outer->distrust,
        .dry = outer->dry,
        .whole = outer->whole,
        .given = given,
        .prefix = whole,
        .trace = outer->trace};
    rbl_status status = RBL_OK;
    if (uv_mutex_init(&e.event_mutex) != 0) {
        rbli_allocator_free(outer->engine->allocator, whole);
        return RBL_ERR_NO_MEMORY;
    }
    status = begin(&e, no_node);
    if (status == RBL_OK) {
        rbli_evaluation_guess_costs(&e);
        status = rbli_evaluation_run_nodes(&e, ctx->tasks);
        if (status != RBL_OK && e.run->status == RBL_OK) e.run->status = status;
        if (atomic_load(&e.cancelled)) e.run->status = RBL_ERR_CANCELLED;
        if (atomic_load(&e.undecodable)) atomic_store(&outer->undecodable, true);
        status = e.run->status;
        *out = e.run;
    } else {
        rbl_run_destroy(e.run);
    }
    end(&e);
    rbli_allocator_free(outer->engine->allocator, whole);
    return status;
}
