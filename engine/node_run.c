/// Evaluates one node: from the cache when its key is known there, else by its type's function.

#include "engine/evaluation.h"

#include <stdio.h>
#include <string.h>

void rbli_evaluation_set_reason(rbli_evaluation *e, rbli_run_node *entry, const char *text)
{
    rbli_allocator_free(e->engine->allocator, entry->reason);
    entry->reason = NULL;
    entry->report.reason = "";
    if (!*text) return;
    size_t bytes = strlen(text) + 1;
    entry->reason = rbli_allocator_alloc(e->engine->allocator, bytes, 1);
    if (entry->reason) memcpy(entry->reason, text, bytes);
    entry->report.reason = entry->reason ? entry->reason : "";
}

static rbl_context node_context(rbli_evaluation *e, uint32_t index)
{
    rbl_control *control = e->options->control;
    return (rbl_context){.allocator = e->engine->allocator,
        .pool = e->engine->pool,
        .cancel = control ? &control->cancel : NULL,
        .progress = &e->progress.fractions[index],
        .activity = &e->activities[index]};
}

static void free_work(rbli_node_work *w)
{
    for (uint32_t i = 0; w->inputs && i < w->node->ref_count; i++)
        rbl_value_release(w->inputs[i]);
    rbli_free(&w->ctx, w->inputs);
    for (size_t i = 0; i < w->stamp_count; i++)
        rbli_free(&w->ctx, w->stamps[i].path);
    rbli_free(&w->ctx, w->stamps);
    rbli_params_release(w->own_params);
    rbli_messages_destroy(w->ctx.messages);
}

bool rbli_work_begin(rbli_evaluation *e, uint32_t index, rbli_node_work *w)
{
    *w = (rbli_node_work){.index = index,
        .node = &e->graph->nodes[e->graph_index[index]],
        .entry = &e->run->nodes[index],
        .ctx = node_context(e, index),
        .begin_ns = rbli_trace_now(),
        .begin_cpu_ns = rbli_thread_cpu_ns()};
    atomic_store(&e->activities[index].cpu_ns, 0);
    w->ctx.messages = rbli_messages_create(e->engine->allocator);
    if (!w->ctx.messages) rbli_work_tell_status(e, w, RBL_ERR_NO_MEMORY);
    return w->ctx.messages != NULL;
}

void rbli_work_end(rbli_evaluation *e, rbli_node_work *w, const char *category)
{
    free_work(w);
    rbl_node_report *report = &w->entry->report;
    int64_t cpu_ns = rbli_thread_cpu_ns() - w->begin_cpu_ns + atomic_load(&e->activities[w->index].cpu_ns);
    report->wall_ms += (double)(rbli_trace_now() - w->begin_ns) / 1e6;
    report->cpu_ms += (double)cpu_ns / 1e6;
    const char *name = e->activities[w->index].name;
    rbli_trace_add(e->trace, category, name, name, w->begin_ns);
}

static void succeed(rbli_node_work *w, rbli_result *result, rbl_outcome outcome)
{
    w->entry->result = result;
    w->entry->report.outcome = outcome;
    w->entry->report.status = RBL_OK;
    w->entry->report.bytes = rbli_result_bytes(result);
}

void rbli_work_fail(rbli_evaluation *e, rbli_node_work *w, rbl_status status)
{
    w->status = status;
    w->entry->report.outcome = RBL_OUTCOME_FAILED;
    w->entry->report.status = status;
    rbli_evaluation_set_reason(e, w->entry, rbl_status_text(status));
    e->blame[w->index] = w->index;
    if (status == RBL_ERR_CANCELLED) atomic_store(&e->cancelled, true);
}

/// Every output must be there and of its port's kind.
static rbl_status check_outputs(rbli_node_work *w, rbli_result *result)
{
    const rbl_node_desc *desc = w->node->type->desc;
    for (size_t i = 0; i < result->output_count; i++) {
        const rbl_value *value = result->outputs[i];
        if (!value && (desc->flags & RBLI_NODE_PASSES)) continue; /* nobody asks for it */
        if (!value)
            return rbli_fail(&w->ctx, RBL_ERR_INTERNAL, "node type %s did not set its output \"%s\"",
                desc->type, desc->outputs[i].name);
        if (rbl_value_get_kind(value) != desc->outputs[i].kind)
            return rbli_fail(&w->ctx, RBL_ERR_INTERNAL,
                "node type %s set its output \"%s\" to a value of kind %s", desc->type, desc->outputs[i].name,
                rbli_value_kind_word(rbl_value_get_kind(value)));
    }
    return RBL_OK;
}

static rbl_status keep_messages(const rbli_node_work *w, rbli_result *result)
{
    for (size_t i = 0; i < rbli_messages_count(w->ctx.messages); i++) {
        const rbli_message *message = rbli_messages_get(w->ctx.messages, i);
        if (message->severity == RBLI_ERROR) continue;
        rbl_status status =
            rbli_result_add_message(result, rbli_public_severity(message->severity), message->text);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// True for the node "inputs" of a graph that ForEach runs.
static bool is_given(const rbli_evaluation *e, const rbli_node_work *w)
{
    return e->given && e->graph_index[w->index] == e->graph->inputs;
}

/// Computes a node. What it says goes to the run when `aloud`.
static rbl_status compute(rbli_evaluation *e, rbli_node_work *w, bool aloud, rbli_result **out)
{
    rbli_result *result = NULL;
    bool passes = w->node->type->desc->flags & RBLI_NODE_PASSES;
    rbl_status status = passes ? RBL_OK : rbli_work_unpack_inputs(e, w);
    if (status != RBL_OK) {
        if (aloud) rbli_work_hand_on_messages(e, w, NULL, status);
        return status;
    }
    status = rbli_result_create(e->engine->allocator, w->node->type->output_count, &result);
    if (status != RBL_OK) return status;
    rbli_messages_clear(w->ctx.messages);
    rbl_call call = {.ctx = &w->ctx,
        .node = w->node,
        .node_index = w->index,
        .params = w->params,
        .inputs = w->inputs,
        .result = result,
        .may_set_outputs = true,
        .evaluation = e,
        .given = is_given(e, w) ? e->given : NULL,
        .is_dry = e->dry};
    status = w->node->type->desc->evaluate(&w->ctx, &call);
    w->elements = call.elements;
    w->elements_ran = call.elements_ran;
    if (status == RBL_OK && rbli_evaluation_is_cancelled(e)) status = RBL_ERR_CANCELLED;
    if (status == RBL_OK && call.out_of_memory) status = RBL_ERR_NO_MEMORY;
    bool unknown = status == RBL_OK && e->dry && w->elements_ran;
    if (unknown) {
        rbli_free(&w->ctx, call.places.data);
        rbli_result_release(result);
        *out = NULL;
        return RBL_OK;
    }
    if (status == RBL_OK) status = check_outputs(w, result);
    rbli_phase hashing = rbli_phase_begin(&w->ctx);
    for (size_t i = 0; status == RBL_OK && i < result->output_count; i++)
        status = rbli_value_hash_polled(&w->ctx, result->outputs[i]);
    rbli_phase_end(&w->ctx, "hash outputs", hashing);
    if (status == RBL_OK) status = keep_messages(w, result);
    if (status == RBL_OK) rbli_work_anchor_files(w, result);
    if (aloud) rbli_work_hand_on_messages(e, w, &call, status);
    rbli_free(&w->ctx, call.places.data);
    if (status != RBL_OK) {
        rbli_result_release(result);
        return status;
    }
    *out = result;
    return RBL_OK;
}

static bool same_outputs(const rbli_result *a, const rbli_result *b)
{
    for (size_t i = 0; i < a->output_count; i++)
        if (!rbli_hash_equal(rbli_value_hash(a->outputs[i]), rbli_value_hash(b->outputs[i]))) return false;
    return true;
}

/// `checked`: computes a remembered result again and compares.
static rbl_status check_hit(rbli_evaluation *e, rbli_node_work *w, const rbli_result *remembered)
{
    rbli_result *again = NULL;
    rbl_status status = compute(e, w, false, &again);
    if (status != RBL_OK) {
        if (status != RBL_ERR_CANCELLED) rbli_work_hand_on_messages(e, w, NULL, status);
        return status;
    }
    if (!same_outputs(remembered, again)) {
        status = RBL_ERR_INTERNAL;
        rbli_work_tell(e, w, NULL, RBL_ERROR, status, NULL,
            "computed again, the outputs differ from the remembered ones: the node is not deterministic, "
            "which is a bug");
    }
    rbli_result_release(again);
    return status;
}

/// Answers from the cache. False when the node must run; *stale then is a result that files made worthless,
/// or NULL.
static bool answer_from_cache(rbli_evaluation *e, rbli_node_work *w, rbli_result **stale)
{
    *stale = NULL;
    if (e->options->no_cache) return false;
    rbl_outcome outcome = RBL_OUTCOME_MEMORY_HIT;
    rbli_result *found = rbli_cache_find(e->engine->cache, w->entry->key);
    if (found && e->distrust && rbli_result_is_packed(found)) {
        rbli_cache_remove(e->engine->cache, w->entry->key);
        rbli_result_release(found);
        found = NULL;
    }
    if (!found) {
        outcome = RBL_OUTCOME_DISK_HIT;
        found = rbli_work_find_on_disk(e, w, w->entry->key, w->node->type->desc->outputs);
    }
    if (!found) return false;
    if (!rbli_work_files_are_unchanged(w, found)) {
        if (!e->dry) rbli_cache_remove(e->engine->cache, w->entry->key);
        *stale = found;
        return false;
    }
    rbl_status status = e->options->checked && !e->dry ? check_hit(e, w, found) : RBL_OK;
    if (status != RBL_OK) {
        if (status != RBL_ERR_CANCELLED)
            rbli_work_reject(e, w, w->entry->key, "computed again, its node failed or gave something else");
        rbli_result_release(found);
        rbli_work_fail(e, w, status);
        return true;
    }
    if (!e->dry) rbli_work_replay_messages(e, w, found);
    rbli_evaluation_set_reason(e, w->entry, "");
    if (outcome == RBL_OUTCOME_DISK_HIT && !e->dry && !rbli_result_is_in_file(found))
        rbli_cache_put(e->engine->cache, w->entry->key, found);
    succeed(w, found, outcome);
    return true;
}

/// What a dry evaluation says of a node instead of running it.
static void foresee(rbli_evaluation *e, rbli_node_work *w, rbl_outcome outcome, const char *reason)
{
    w->entry->report.outcome = outcome;
    rbli_evaluation_set_reason(e, w->entry, reason);
    e->blame[w->index] = w->index;
}

/// Looks into what ForEach would run. When all of it is remembered, what comes out is known.
static void foresee_elements(rbli_evaluation *e, rbli_node_work *w)
{
    char reason[100];
    rbli_result *result = NULL;
    rbl_status status = compute(e, w, true, &result);
    if (status != RBL_OK) {
        rbli_work_fail(e, w, status);
        return;
    }
    snprintf(reason, sizeof reason, "%zu of %zu elements would run", w->elements_ran, w->elements);
    if (!result) {
        foresee(e, w, RBL_OUTCOME_WOULD_RUN, reason);
        return;
    }
    rbli_evaluation_set_reason(e, w->entry, reason);
    succeed(w, result, RBL_OUTCOME_MEMORY_HIT);
}

/// A node that hands on what comes in: it is run each time, also when nothing else is, and kept nowhere.
static void pass_on(rbli_evaluation *e, rbli_node_work *w)
{
    char reason[400];
    rbli_result *result = NULL;
    rbli_work_explain(e, w, NULL, reason, sizeof reason);
    rbl_status status = compute(e, w, true, &result);
    if (status != RBL_OK) {
        rbli_work_fail(e, w, status);
        return;
    }
    bool same = e->dry || rbli_work_output_is_same(e, w, result);
    rbli_evaluation_set_reason(e, w->entry, same ? "" : reason);
    succeed(w, result, same ? RBL_OUTCOME_MEMORY_HIT : RBL_OUTCOME_RAN);
}

void rbli_work_run(rbli_evaluation *e, rbli_node_work *w)
{
    rbl_status status = rbli_work_gather_inputs(e, w);
    size_t told = rbli_work_error_count(e, w);
    if (status == RBL_OK) status = rbli_work_connect_parameters(e, w);
    if (status == RBL_OK) status = rbli_work_stamp_files(e, w);
    if (status != RBL_OK) {
        if (rbli_work_error_count(e, w) == told && status != RBL_ERR_CANCELLED)
            rbli_work_tell_status(e, w, status);
        rbli_work_fail(e, w, status);
        return;
    }
    w->entry->key = rbli_work_key(w);
    rbli_result *stale = NULL, *result = NULL;
    /* The nodes that ForEach runs have keys of their own. */
    bool keyed = !w->node->body;
    if (w->node->type->desc->flags & RBLI_NODE_PASSES) {
        pass_on(e, w);
        return;
    }
    if (keyed && answer_from_cache(e, w, &stale)) return;
    char reason[400];
    rbli_work_explain(e, w, stale, reason, sizeof reason);
    rbli_result_release(stale);
    if (e->dry && w->node->body) {
        foresee_elements(e, w);
        return;
    }
    if (e->dry) {
        foresee(e, w, RBL_OUTCOME_WOULD_RUN, reason);
        return;
    }
    status = compute(e, w, true, &result);
    if (status != RBL_OK) {
        rbli_work_fail(e, w, status);
        return;
    }
    if (keyed && !e->options->no_cache) {
        rbli_cache_put(e->engine->cache, w->entry->key, result);
        rbli_work_put_on_disk(e, w, w->entry->key, result);
    }
    if (w->node->body)
        snprintf(reason, sizeof reason, "%zu of %zu elements ran", w->elements_ran, w->elements);
    rbli_evaluation_set_reason(e, w->entry, reason);
    if (w->node->body && w->elements && !w->elements_ran)
        succeed(w, result, RBL_OUTCOME_MEMORY_HIT);
    else
        succeed(
            w, result, rbli_work_output_is_same(e, w, result) ? RBL_OUTCOME_SAME_OUTPUT : RBL_OUTCOME_RAN);
}
