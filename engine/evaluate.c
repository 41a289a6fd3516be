/// Evaluation: nodes are tasks on the engine's pool, each behind those that it needs. A node's key hashes its
/// type and version, its parameters, the contents of its inputs and of the files that it reads; equal keys
/// mean equal outputs, so a node whose output did not change cuts off everything below it. What a node says
/// goes to a list of its own; the run gets the lists in the order of the nodes, whoever was first.

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/run.h"
#include "fracture/base/trace.h"

static const size_t no_node = SIZE_MAX;

typedef struct evaluation {
    rbl_graph *graph;
    rbl_engine *engine;
    const rbl_evaluate_options *options;
    rbl_run *run;
    rbli_params **params;  /* [node_count] the graph's at the beginning */
    uint32_t *run_index;   /* [node_count] of a graph's node in the run */
    uint32_t *graph_index; /* [node_count] of a run's node in the graph */
    uint32_t *blame;       /* [node_count] by run index: the failed node that it was skipped for */
    size_t needed_count;
    rbl_messages **said;       /* [node_count] by run index: what the run has not got yet; NULL: nothing */
    rbli_activity *activities; /* [node_count] by run index */
    rbli_trace *trace;         /* of the whole run, NULL: none */
    rbli_progress_state progress;
    uv_mutex_t event_mutex;
    double done_cost; /* of the nodes that have ended, under event_mutex */
    rbli_pending_files files;
    atomic_bool cancelled;
    bool dry;                /* only says what would happen */
    atomic_bool undecodable; /* an input from the cache folder cannot be unpacked: once more without */
    bool distrust;           /* the second time: neither the cache folder nor what is still packed */
    rbl_value *const *given; /* of a graph that ForEach runs: what goes in; else NULL */
    const char *prefix;      /* of ids in messages, or NULL */
} evaluation;

/// One node under way.
typedef struct node_work {
    uint32_t index; /* in the run */
    const rbli_graph_node *node;
    rbli_run_node *entry;
    rbl_context ctx;
    const rbli_params *params; /* with connected values */
    rbli_params *own_params;   /* NULL: those of the graph */
    rbl_value **inputs;        /* [ref_count] retained */
    rbli_file_stamp *stamps;   /* of PATH parameters */
    size_t stamp_count;
    size_t elements, elements_ran; /* of ForEach */
    rbl_status status;
    uint64_t begin_ns;
    int64_t begin_cpu_ns; /* of this thread */
} node_work;

static double now_ms(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static bool is_cancelled(const evaluation *e)
{
    return e->options->control && atomic_load_explicit(&e->options->control->cancel, memory_order_relaxed);
}

static void set_reason(evaluation *e, rbli_run_node *entry, const char *text)
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

/// One event at a time, whichever thread its node runs on.
static void send_event(evaluation *e, rbl_event_kind kind, uint32_t index)
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

/* ---- Messages ---- */

/// The list of what a node says; NULL without memory.
static rbl_messages *said_by(evaluation *e, const node_work *w)
{
    if (rbli_messages_open(e->engine->allocator, &e->said[w->index]) != RBL_OK) return NULL;
    return e->said[w->index];
}

static size_t errors_said(const evaluation *e, const node_work *w)
{
    const rbl_messages *said = e->said[w->index];
    return said ? rbli_messages_error_count(said) : 0;
}

/// Hands what a node said to the run.
static void take_messages(evaluation *e, uint32_t index)
{
    if (!e->said[index]) return;
    rbli_messages_copy(e->run->messages, e->said[index]);
    rbl_messages_destroy(e->said[index]);
    e->said[index] = NULL;
}

/// A message about a node, or about one of its parameters.
static void tell(evaluation *e, const node_work *w, const rbl_param *param, rbl_severity severity,
    rbl_status status, const char *hint, const char *text)
{
    const rbli_graph_node *node = w->node;
    char *id = e->prefix ? rbli_format(&e->engine->base, "%s%s", e->prefix, node->id) : NULL;
    rbli_place place = {.source = node->document->source,
        .offset = param && param->offset != RBLI_JSON_NONE ? param->offset : node->id_offset,
        .node = id ? id : node->id,
        .pointer = param ? rbl_param_pointer(param) : node->pointer};
    rbli_message_add(said_by(e, w), severity, status, &place, hint, text);
    rbli_allocator_free(e->engine->allocator, id);
}

/// An error in the words of its status; without memory it matters whether a limit was met.
static void tell_status(evaluation *e, const node_work *w, rbl_status status)
{
    const rbli_allocator *allocator = e->engine->allocator;
    char text[120];
    size_t limit = rbli_allocator_limit(allocator);
    if (status == RBL_ERR_NO_MEMORY && limit && rbli_allocator_refusals(allocator)) {
        snprintf(text, sizeof text, "the memory limit of %zu bytes is reached", limit);
        tell(e, w, NULL, RBL_ERROR, status, NULL, text);
    } else {
        tell(e, w, NULL, RBL_ERROR, status, NULL, rbl_status_text(status));
    }
}

static rbl_severity public_severity(rbli_severity severity)
{
    return severity == RBLI_ERROR ? RBL_ERROR : severity == RBLI_WARNING ? RBL_WARNING : RBL_NOTE;
}

/// Puts places to what a node said through its context; a failure without a word gets one.
static void hand_on_messages(evaluation *e, const node_work *w, const rbl_call *call, rbl_status status)
{
    const rbl_context *ctx = &w->ctx;
    bool told = false;
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++) {
        const rbli_message *message = rbli_messages_get(ctx->messages, i);
        const rbl_param *param = NULL;
        for (size_t k = 0; call && k < call->places.count; k++)
            if (call->places.data[k].message == i) param = call->places.data[k].param;
        tell(e, w, param, public_severity(message->severity), message->status, NULL, message->text);
        told |= message->severity == RBLI_ERROR;
    }
    if (status != RBL_OK && !told && status != RBL_ERR_CANCELLED) tell_status(e, w, status);
}

static void replay_messages(evaluation *e, const node_work *w, const rbli_result *result)
{
    for (size_t i = 0; i < result->message_count; i++)
        tell(e, w, NULL, result->messages[i].severity, RBL_OK, NULL, result->messages[i].text);
}

/* ---- Results from the cache folder ---- */

static bool is_hit(rbl_outcome outcome)
{
    return outcome == RBL_OUTCOME_MEMORY_HIT || outcome == RBL_OUTCOME_DISK_HIT;
}

static bool is_packed(const rbli_result *result)
{
    for (size_t i = 0; i < result->output_count; i++)
        if (rbli_value_is_packed(result->outputs[i])) return true;
    return false;
}

static void tell_notes(evaluation *e, const node_work *w, rbl_context *ctx)
{
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++)
        tell(e, w, NULL, RBL_NOTE, RBL_OK, NULL, rbli_messages_get(ctx->messages, i)->text);
    rbli_messages_destroy(ctx->messages);
}

static rbli_result *find_on_disk(evaluation *e, node_work *w)
{
    rbl_context ctx = w->ctx;
    ctx.messages = rbli_messages_create(ctx.allocator);
    if (!ctx.messages) return NULL;
    rbli_result *found =
        rbli_disk_cache_find(&ctx, e->engine->disk_cache, w->entry->key, w->node->type->desc->outputs);
    tell_notes(e, w, &ctx);
    return found;
}

static void put_on_disk(evaluation *e, node_work *w, const rbli_result *result)
{
    if (!e->engine->disk_cache) return;
    rbl_context ctx = w->ctx;
    ctx.messages = rbli_messages_create(ctx.allocator);
    if (!ctx.messages) return;
    rbli_disk_cache_put(&ctx, e->engine->disk_cache, w->entry->key, result);
    tell_notes(e, w, &ctx);
}

/// Takes a result out of both caches.
static void reject_cached(evaluation *e, node_work *w, rbli_hash key, const char *why)
{
    rbli_cache_remove(e->engine->cache, key);
    if (!e->engine->disk_cache) return;
    rbl_context ctx = w->ctx;
    ctx.messages = rbli_messages_create(ctx.allocator);
    if (!ctx.messages) return;
    rbli_disk_cache_reject(&ctx, e->engine->disk_cache, key, why);
    tell_notes(e, w, &ctx);
}

/// Unpacks the inputs, which only a node that runs needs. One whose checksums are right and that still is no
/// collection was not written by rubble: the run begins again without the cache folder.
static rbl_status unpack_inputs(evaluation *e, node_work *w)
{
    for (uint32_t i = 0; i < w->node->ref_count; i++) {
        if (!rbli_value_is_packed(w->inputs[i])) continue;
        rbl_context quiet = w->ctx;
        quiet.messages = NULL;
        rbl_status status = rbli_value_unpack(&quiet, w->inputs[i]);
        if (status == RBL_OK) continue;
        if (status == RBL_ERR_NO_MEMORY || status == RBL_ERR_CANCELLED) return status;
        const rbli_run_node *from = &e->run->nodes[e->run_index[w->node->refs[i].node]];
        reject_cached(e, w, from->key, "its collection cannot be unpacked");
        atomic_store(&e->undecodable, true);
        return RBL_ERR_INTERNAL;
    }
    return RBL_OK;
}

/* ---- Inputs, files and the key ---- */

static bool is_good(const rbli_run_node *entry)
{
    return entry->result != NULL;
}

/// Takes the values of everything connected, ints turned to floats where a port wants floats.
static rbl_status gather_inputs(evaluation *e, node_work *w)
{
    const rbli_graph_node *node = w->node;
    w->inputs = rbli_calloc(&w->ctx, node->ref_count, sizeof *w->inputs);
    if (!w->inputs) return RBL_ERR_NO_MEMORY;
    const rbl_port_desc *ports = node->type->desc->inputs;
    for (uint32_t i = 0, port = 0; i < node->ref_count; i++) {
        while (port < node->type->input_count && i >= node->input_start[port + 1])
            port++;
        const rbli_run_node *from = &e->run->nodes[e->run_index[node->refs[i].node]];
        rbl_value *value = from->result->outputs[node->refs[i].port];
        bool convert = port < node->type->input_count && ports[port].kind == RBL_VALUE_FLOAT &&
                       rbl_value_get_kind(value) == RBL_VALUE_INT;
        if (convert) {
            rbl_status status =
                rbl_value_create_number(&w->ctx, RBL_VALUE_FLOAT, rbl_value_number(value), &w->inputs[i]);
            if (status != RBL_OK) return status;
        } else {
            w->inputs[i] = rbl_value_retain(value);
        }
    }
    return RBL_OK;
}

/// Puts connected values into the parameters.
static rbl_status connect_parameters(evaluation *e, node_work *w)
{
    const rbli_graph_node *node = w->node;
    uint32_t first = node->input_start[node->type->input_count];
    w->params = e->params[e->graph_index[w->index]];
    const rbl_param *unset = rbli_params_find_unset(w->params);
    if (unset) {
        char text[200], hint[200];
        const char *name = e->graph->variables[unset->variable].name;
        snprintf(text, sizeof text, "variable \"%s\" has no value", name);
        snprintf(hint, sizeof hint, "give it a \"default\", or --set %s=…", name);
        tell(e, w, unset, RBL_ERROR, RBL_ERR_GRAPH, hint, text);
        return RBL_ERR_GRAPH;
    }
    if (first == node->ref_count) return RBL_OK;
    rbli_param_scope scope = {.allocator = e->engine->allocator,
        .messages = said_by(e, w),
        .source = node->document->source,
        .folder = node->document->folder,
        .node = node->id,
        .pointer = "",
        .node_offset = node->id_offset};
    rbl_status status = rbli_params_with_connections(
        &scope, w->params, (const rbl_value *const *)w->inputs + first, &w->own_params);
    if (status != RBL_OK) return status;
    w->params = w->own_params;
    return scope.failed ? RBL_ERR_ARGUMENT : RBL_OK;
}

typedef struct stamp_user {
    evaluation *e;
    node_work *w;
} stamp_user;

/// Hashes the content of a PATH parameter's file.
static rbl_status stamp_path(void *user, const rbl_param *param)
{
    stamp_user *u = user;
    node_work *w = u->w;
    uint8_t *bytes = NULL;
    size_t count = 0;
    size_t before = rbli_messages_count(w->ctx.messages);
    rbl_status status = rbli_file_read(&w->ctx, param->string, 0, &bytes, &count);
    rbli_hash hash = status == RBL_OK ? rbli_hash_bytes(bytes, count) : (rbli_hash){0, 0};
    rbli_free(&w->ctx, bytes);
    if (status != RBL_OK) {
        if (rbli_messages_count(w->ctx.messages) > before)
            tell(u->e, w, param, RBL_ERROR, status, NULL, rbli_messages_get(w->ctx.messages, before)->text);
        else
            tell(u->e, w, param, RBL_ERROR, status, NULL, rbl_status_text(status));
        return status;
    }
    rbli_file_stamp *stamps = rbli_realloc(&w->ctx, w->stamps, w->stamp_count + 1, sizeof *stamps);
    if (!stamps) return RBL_ERR_NO_MEMORY;
    w->stamps = stamps;
    char *path = rbli_strdup(&w->ctx, param->string);
    if (!path) return RBL_ERR_NO_MEMORY;
    stamps[w->stamp_count++] = (rbli_file_stamp){.path = path, .hash = hash};
    return RBL_OK;
}

static rbli_hash node_key(const node_work *w)
{
    const rbl_node_desc *desc = w->node->type->desc;
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    rbli_hasher_add_string(&hasher, desc->type);
    int32_t numbers[2] = {desc->version, desc->revision};
    rbli_hasher_add(&hasher, numbers, sizeof numbers);
    rbli_hash params = rbli_params_hash(w->params);
    rbli_hasher_add(&hasher, &params, sizeof params);
    for (size_t port = 0; port < w->node->type->input_count; port++) {
        uint32_t begin = w->node->input_start[port], end = w->node->input_start[port + 1];
        rbli_hasher_add_string(&hasher, desc->inputs[port].name);
        uint64_t count = end - begin;
        rbli_hasher_add(&hasher, &count, sizeof count);
        for (uint32_t i = begin; i < end; i++) {
            rbli_hash input = rbli_value_hash(w->inputs[i]);
            rbli_hasher_add(&hasher, &input, sizeof input);
        }
    }
    for (size_t i = 0; i < w->stamp_count; i++)
        rbli_hasher_add(&hasher, &w->stamps[i].hash, sizeof w->stamps[i].hash);
    return rbli_hasher_end(&hasher);
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/// Notes files that the node read as relative to the folder of the PATH parameter that led to them: keys hold
/// contents, so the same mesh in another folder, with other files beside it, asks for the same result.
static void anchor_files(const node_work *w, rbli_result *result)
{
    for (size_t i = 0; i < result->file_count; i++) {
        rbli_file_stamp *file = &result->files[i];
        for (size_t k = 0; k < w->stamp_count && !file->anchor; k++) {
            size_t length = folder_length(w->stamps[k].path);
            if (strncmp(file->path, w->stamps[k].path, length) != 0 || file->path[length] == '/') continue;
            memmove(file->path, file->path + length, strlen(file->path + length) + 1);
            file->anchor = k + 1;
        }
    }
}

/// The path of a further file as it is now; NULL without memory.
static char *anchored_path(rbl_context *ctx, const node_work *w, const rbli_file_stamp *file)
{
    const char *base = file->anchor && file->anchor <= w->stamp_count ? w->stamps[file->anchor - 1].path : "";
    return rbli_format(ctx, "%.*s%s", (int)folder_length(base), base, file->path);
}

/// True while a further file that the node read then still has that content.
static bool file_is_unchanged(const node_work *w, const rbli_file_stamp *file)
{
    rbl_context ctx = w->ctx;
    char *path = anchored_path(&ctx, w, file);
    rbli_hash hash;
    if (!path) return false;
    rbl_status status = rbli_hash_file(&ctx, path, &hash);
    rbli_free(&ctx, path);
    return status != RBL_ERR_NO_MEMORY && rbli_hash_equal(hash, file->hash);
}

static bool files_unchanged(const node_work *w, const rbli_result *result)
{
    for (size_t i = 0; i < result->file_count; i++)
        if (!file_is_unchanged(w, &result->files[i])) return false;
    return true;
}

/* ---- Running a node ---- */

static rbl_context node_context(evaluation *e, uint32_t index)
{
    rbl_control *control = e->options->control;
    return (rbl_context){.allocator = e->engine->allocator,
        .pool = e->engine->pool,
        .cancel = control ? &control->cancel : NULL,
        .progress = &e->progress.fractions[index],
        .activity = &e->activities[index]};
}

/// Every output must be there and of its port's kind.
static rbl_status check_outputs(node_work *w, rbli_result *result)
{
    const rbl_node_desc *desc = w->node->type->desc;
    for (size_t i = 0; i < result->output_count; i++) {
        const rbl_value *value = result->outputs[i];
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

static rbl_status keep_messages(const node_work *w, rbli_result *result)
{
    for (size_t i = 0; i < rbli_messages_count(w->ctx.messages); i++) {
        const rbli_message *message = rbli_messages_get(w->ctx.messages, i);
        if (message->severity == RBLI_ERROR) continue;
        rbl_status status =
            rbli_result_add_message(result, public_severity(message->severity), message->text);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// True for the node "inputs" of a graph that ForEach runs.
static bool is_given(const evaluation *e, const node_work *w)
{
    return e->given && e->graph_index[w->index] == e->graph->inputs;
}

/// Computes a node. What it says goes to the run when `aloud`.
static rbl_status compute(evaluation *e, node_work *w, bool aloud, rbli_result **out)
{
    rbli_result *result = NULL;
    bool passes = w->node->type->desc->flags & RBLI_NODE_PASSES;
    rbl_status status = passes ? RBL_OK : unpack_inputs(e, w);
    if (status != RBL_OK) {
        if (aloud) hand_on_messages(e, w, NULL, status);
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
        .given = is_given(e, w) ? e->given : NULL};
    status = w->node->type->desc->evaluate(&w->ctx, &call);
    w->elements = call.elements;
    w->elements_ran = call.elements_ran;
    if (status == RBL_OK && is_cancelled(e)) status = RBL_ERR_CANCELLED;
    if (status == RBL_OK && call.out_of_memory) status = RBL_ERR_NO_MEMORY;
    if (status == RBL_OK) status = check_outputs(w, result);
    if (status == RBL_OK) status = keep_messages(w, result);
    if (status == RBL_OK) anchor_files(w, result);
    if (aloud) hand_on_messages(e, w, &call, status);
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
static rbl_status check_hit(evaluation *e, node_work *w, const rbli_result *remembered)
{
    rbli_result *again = NULL;
    rbl_status status = compute(e, w, false, &again);
    if (status != RBL_OK) {
        if (status != RBL_ERR_CANCELLED) hand_on_messages(e, w, NULL, status);
        return status;
    }
    if (!same_outputs(remembered, again)) {
        status = RBL_ERR_INTERNAL;
        tell(e, w, NULL, RBL_ERROR, status, NULL,
            "computed again, the outputs differ from the remembered ones: the node is not deterministic, "
            "which is a bug");
    }
    rbli_result_release(again);
    return status;
}

/* ---- Why a node ran ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_reason(char *reason, size_t bytes, const char *format, ...) RBL_PRINTF(3, 4);
static void add_reason(char *reason, size_t bytes, const char *format, ...)
{
    size_t used = strlen(reason);
    if (used && used + 3 < bytes) {
        memcpy(reason + used, ", ", 3);
        used += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason + used, bytes - used, format, arguments);
    va_end(arguments);
}

static const rbli_file_stamp *find_stamp(const rbli_file_stamp *stamps, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(stamps[i].path, path) == 0) return &stamps[i];
    return NULL;
}

static void explain(evaluation *e, const node_work *w, const rbli_result *stale, char *reason, size_t bytes)
{
    const rbli_history *history = &e->graph->history[e->graph_index[w->index]];
    *reason = '\0';
    if (!history->known) {
        const char *why = e->dry && e->engine->disk_cache ? "not in the cache" : "first run";
        add_reason(reason, bytes, "%s", history->failed ? "failed before" : why);
        return;
    }
    char name[200];
    if (rbli_params_difference(history->params, w->params, name, sizeof name))
        add_reason(reason, bytes, "parameter %s changed", name);
    for (size_t i = 0; i < w->stamp_count; i++) {
        const rbli_file_stamp *before = find_stamp(history->files, history->file_count, w->stamps[i].path);
        if (!before || !rbli_hash_equal(before->hash, w->stamps[i].hash))
            add_reason(reason, bytes, "file %s changed", last_part(w->stamps[i].path));
    }
    for (size_t i = 0; stale && i < stale->file_count; i++) {
        if (!file_is_unchanged(w, &stale->files[i]))
            add_reason(reason, bytes, "file %s changed", last_part(stale->files[i].path));
    }
    for (size_t port = 0; port < w->node->type->input_count; port++)
        for (uint32_t i = w->node->input_start[port]; i < w->node->input_start[port + 1]; i++)
            if (!rbli_hash_equal(history->ref_hashes[i], rbli_value_hash(w->inputs[i]))) {
                add_reason(reason, bytes, "input %s changed", w->node->type->desc->inputs[port].name);
                break;
            }
    if (!*reason)
        add_reason(reason, bytes, e->options->no_cache ? "the cache was not used" : "no longer in the cache");
}

/// Remembers what a node was made from. Without memory it is forgotten: the next run says "first run".
static void remember(evaluation *e, const node_work *w)
{
    rbli_allocator *allocator = e->engine->allocator;
    rbli_history *history = &e->graph->history[e->graph_index[w->index]];
    const rbli_result *result = w->entry->result;
    double took_ms =
        is_hit(w->entry->report.outcome) ? history->took_ms : (double)(rbli_trace_now() - w->begin_ns) / 1e6;
    uv_mutex_lock(&e->graph->mutex);
    rbli_history_clear(allocator, history);
    history->took_ms = took_ms;
    if (!result) {
        history->failed = true;
        uv_mutex_unlock(&e->graph->mutex);
        return;
    }
    size_t file_count = w->stamp_count + result->file_count;
    history->ref_hashes = rbli_allocator_calloc(allocator, w->node->ref_count, sizeof(rbli_hash));
    history->output_hashes = rbli_allocator_calloc(allocator, result->output_count, sizeof(rbli_hash));
    history->files = rbli_allocator_calloc(allocator, file_count, sizeof *history->files);
    bool good = history->ref_hashes && history->output_hashes && history->files;
    for (size_t i = 0; good && i < w->node->ref_count; i++)
        history->ref_hashes[i] = rbli_value_hash(w->inputs[i]);
    for (size_t i = 0; good && i < result->output_count; i++)
        history->output_hashes[i] = rbli_value_hash(result->outputs[i]);
    for (size_t i = 0; good && i < file_count; i++) {
        const rbli_file_stamp *stamp =
            i < w->stamp_count ? &w->stamps[i] : &result->files[i - w->stamp_count];
        rbl_context ctx = w->ctx;
        char *path = anchored_path(&ctx, w, stamp);
        good = path != NULL;
        if (!good) break;
        history->files[history->file_count++] = (rbli_file_stamp){.path = path, .hash = stamp->hash};
    }
    if (good) {
        history->known = true;
        history->key = w->entry->key;
        history->params = rbli_params_retain(w->params);
    } else {
        rbli_history_clear(allocator, history);
    }
    uv_mutex_unlock(&e->graph->mutex);
}

/// True when the outputs are those of the graph's previous run.
static bool output_is_same(evaluation *e, const node_work *w, const rbli_result *result)
{
    const rbli_history *history = &e->graph->history[e->graph_index[w->index]];
    if (!history->known || result->output_count == 0) return false;
    for (size_t i = 0; i < result->output_count; i++)
        if (!rbli_hash_equal(history->output_hashes[i], rbli_value_hash(result->outputs[i]))) return false;
    return true;
}

/* ---- One node ---- */

static void succeed(node_work *w, rbli_result *result, rbl_outcome outcome)
{
    w->entry->result = result;
    w->entry->report.outcome = outcome;
    w->entry->report.status = RBL_OK;
    w->entry->report.bytes = rbli_result_bytes(result);
}

static void fail_node(evaluation *e, node_work *w, rbl_status status)
{
    w->status = status;
    w->entry->report.outcome = RBL_OUTCOME_FAILED;
    w->entry->report.status = status;
    set_reason(e, w->entry, rbl_status_text(status));
    e->blame[w->index] = w->index;
    if (status == RBL_ERR_CANCELLED) atomic_store(&e->cancelled, true);
}

/// Answers from the cache. False when the node must run; *stale then is a result that files made worthless,
/// or NULL.
static bool answer_from_cache(evaluation *e, node_work *w, rbli_result **stale)
{
    *stale = NULL;
    if (e->options->no_cache) return false;
    rbl_outcome outcome = RBL_OUTCOME_MEMORY_HIT;
    rbli_result *found = rbli_cache_find(e->engine->cache, w->entry->key);
    if (found && e->distrust && is_packed(found)) {
        rbli_cache_remove(e->engine->cache, w->entry->key);
        rbli_result_release(found);
        found = NULL;
    }
    if (!found && e->engine->disk_cache && !e->distrust) {
        outcome = RBL_OUTCOME_DISK_HIT;
        found = find_on_disk(e, w);
    }
    if (!found) return false;
    if (!files_unchanged(w, found)) {
        if (!e->dry) rbli_cache_remove(e->engine->cache, w->entry->key);
        *stale = found;
        return false;
    }
    rbl_status status = e->options->checked && !e->dry ? check_hit(e, w, found) : RBL_OK;
    if (status != RBL_OK) {
        if (status != RBL_ERR_CANCELLED)
            reject_cached(e, w, w->entry->key, "computed again, its node failed or gave something else");
        rbli_result_release(found);
        fail_node(e, w, status);
        return true;
    }
    if (!e->dry) replay_messages(e, w, found);
    set_reason(e, w->entry, "");
    if (outcome == RBL_OUTCOME_DISK_HIT && !e->dry) rbli_cache_put(e->engine->cache, w->entry->key, found);
    succeed(w, found, outcome);
    return true;
}

/// What a dry evaluation says of a node instead of running it.
static void foresee(evaluation *e, node_work *w, rbl_outcome outcome, const char *reason)
{
    w->entry->report.outcome = outcome;
    set_reason(e, w->entry, reason);
    e->blame[w->index] = w->index;
}

/// A node that hands on what comes in: it is run each time, also when nothing else is, and kept nowhere.
static void pass_on(evaluation *e, node_work *w)
{
    char reason[400];
    rbli_result *result = NULL;
    explain(e, w, NULL, reason, sizeof reason);
    rbl_status status = compute(e, w, true, &result);
    if (status != RBL_OK) {
        fail_node(e, w, status);
        return;
    }
    bool same = e->dry || output_is_same(e, w, result);
    set_reason(e, w->entry, same ? "" : reason);
    succeed(w, result, same ? RBL_OUTCOME_MEMORY_HIT : RBL_OUTCOME_RAN);
}

static void run_node(evaluation *e, node_work *w)
{
    stamp_user user = {e, w};
    rbl_status status = gather_inputs(e, w);
    size_t told = errors_said(e, w);
    if (status == RBL_OK) status = connect_parameters(e, w);
    if (status == RBL_OK) status = rbli_params_each_path(w->params, stamp_path, &user);
    if (status != RBL_OK) {
        if (errors_said(e, w) == told) tell_status(e, w, status);
        fail_node(e, w, status);
        return;
    }
    w->entry->key = node_key(w);
    rbli_result *stale = NULL, *result = NULL;
    /* The nodes that ForEach runs have keys of their own. */
    bool keyed = !w->node->body;
    if (w->node->type->desc->flags & RBLI_NODE_PASSES) {
        pass_on(e, w);
        return;
    }
    if (keyed && answer_from_cache(e, w, &stale)) return;
    char reason[400];
    explain(e, w, stale, reason, sizeof reason);
    rbli_result_release(stale);
    if (e->dry) {
        foresee(e, w, RBL_OUTCOME_WOULD_RUN, reason);
        return;
    }
    status = compute(e, w, true, &result);
    if (status != RBL_OK) {
        fail_node(e, w, status);
        return;
    }
    if (keyed && !e->options->no_cache) {
        rbli_cache_put(e->engine->cache, w->entry->key, result);
        put_on_disk(e, w, result);
    }
    if (w->node->body)
        snprintf(reason, sizeof reason, "%zu of %zu elements ran", w->elements_ran, w->elements);
    set_reason(e, w->entry, reason);
    succeed(w, result, output_is_same(e, w, result) ? RBL_OUTCOME_SAME_OUTPUT : RBL_OUTCOME_RAN);
}

static void free_work(node_work *w)
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

/// True when something above failed or was skipped; the node is skipped, too.
static bool skip_node(evaluation *e, uint32_t index, const rbli_graph_node *node)
{
    for (uint32_t i = 0; i < node->ref_count; i++) {
        uint32_t from = e->run_index[node->refs[i].node];
        if (is_good(&e->run->nodes[from])) continue;
        e->blame[index] = e->blame[from];
        char reason[200];
        rbl_outcome outcome = e->run->nodes[from].report.outcome;
        if (outcome == RBL_OUTCOME_WOULD_RUN || outcome == RBL_OUTCOME_MAY_RUN) {
            bool remembered =
                !e->options->no_cache && (e->engine->disk_cache || rbli_cache_count(e->engine->cache));
            e->run->nodes[index].report.outcome = remembered ? RBL_OUTCOME_MAY_RUN : RBL_OUTCOME_WOULD_RUN;
            snprintf(reason, sizeof reason, "\"%s\" above it runs", e->run->nodes[e->blame[index]].id);
            set_reason(e, &e->run->nodes[index], reason);
            return true;
        }
        snprintf(reason, sizeof reason, "node \"%s\" failed", e->run->nodes[e->blame[index]].id);
        set_reason(e, &e->run->nodes[index], reason);
        return true;
    }
    return false;
}

/// Begins the work on a node; false without memory, which is told.
static bool begin_work(evaluation *e, uint32_t index, node_work *w)
{
    *w = (node_work){.index = index,
        .node = &e->graph->nodes[e->graph_index[index]],
        .entry = &e->run->nodes[index],
        .ctx = node_context(e, index),
        .begin_ns = rbli_trace_now(),
        .begin_cpu_ns = rbli_thread_cpu_ns()};
    atomic_store(&e->activities[index].cpu_ns, 0);
    w->ctx.messages = rbli_messages_create(e->engine->allocator);
    if (!w->ctx.messages) tell_status(e, w, RBL_ERR_NO_MEMORY);
    return w->ctx.messages != NULL;
}

static void end_work(evaluation *e, node_work *w, const char *category)
{
    free_work(w);
    rbl_node_report *report = &w->entry->report;
    int64_t cpu_ns = rbli_thread_cpu_ns() - w->begin_cpu_ns + atomic_load(&e->activities[w->index].cpu_ns);
    report->wall_ms += (double)(rbli_trace_now() - w->begin_ns) / 1e6;
    report->cpu_ms += (double)cpu_ns / 1e6;
    const char *name = e->activities[w->index].name;
    rbli_trace_add(e->trace, category, name, name, w->begin_ns);
}

static void evaluate_node(evaluation *e, uint32_t index, rbli_task_set *tasks)
{
    const rbli_graph_node *node = &e->graph->nodes[e->graph_index[index]];
    rbli_run_node *entry = &e->run->nodes[index];
    entry->report.outcome = RBL_OUTCOME_SKIPPED;
    if (atomic_load(&e->cancelled) || is_cancelled(e)) {
        atomic_store(&e->cancelled, true);
        e->blame[index] = index;
        set_reason(e, entry, "cancelled");
        return;
    }
    if (skip_node(e, index, node)) return;
    if (!e->dry) send_event(e, RBL_EVENT_NODE_BEGINS, index);
    node_work w;
    if (begin_work(e, index, &w)) {
        w.ctx.tasks = tasks;
        run_node(e, &w);
        if (!e->dry && !e->given && w.status != RBL_ERR_CANCELLED) remember(e, &w);
    } else {
        fail_node(e, &w, RBL_ERR_NO_MEMORY);
    }
    end_work(e, &w, "node");
    atomic_store_explicit(&e->progress.fractions[index], 1, memory_order_relaxed);
    if (!e->dry) send_event(e, RBL_EVENT_NODE_ENDS, index);
}

static void evaluate_task(rbl_context *ctx, size_t task, void *user)
{
    evaluate_node(user, (uint32_t)task, ctx->tasks);
}

/// Evaluates all nodes that are needed, each behind those that it needs. `outer`: tasks that this is part of,
/// or NULL.
static rbl_status evaluate_nodes(evaluation *e, rbli_task_set *outer)
{
    rbl_status status = RBL_OK;
    rbl_context ctx = e->engine->base;
    ctx.pool = e->engine->pool;
    ctx.tasks = outer;
    rbli_task_graph tasks = {.count = e->needed_count};
    uint32_t *wait_counts = rbli_calloc(&ctx, e->needed_count, sizeof *wait_counts), *followers = NULL;
    size_t *follower_start = rbli_calloc(&ctx, e->needed_count + 2, sizeof *follower_start);
    RBL_TRY_ALLOC(wait_counts);
    RBL_TRY_ALLOC(follower_start);
    /* follower_start[i + 2] counts first and is then moved to its place by filling. */
    for (size_t i = 0; i < e->needed_count; i++) {
        const rbli_graph_node *node = &e->graph->nodes[e->graph_index[i]];
        wait_counts[i] = node->ref_count;
        for (uint32_t k = 0; k < node->ref_count; k++)
            follower_start[e->run_index[node->refs[k].node] + 2]++;
    }
    for (size_t i = 2; i < e->needed_count + 2; i++)
        follower_start[i] += follower_start[i - 1];
    followers = rbli_alloc(&ctx, follower_start[e->needed_count + 1], sizeof *followers);
    RBL_TRY_ALLOC(followers);
    for (size_t i = 0; i < e->needed_count; i++) {
        const rbli_graph_node *node = &e->graph->nodes[e->graph_index[i]];
        for (uint32_t k = 0; k < node->ref_count; k++)
            followers[follower_start[e->run_index[node->refs[k].node] + 1]++] = (uint32_t)i;
    }
    tasks.wait_counts = wait_counts;
    tasks.follower_start = follower_start;
    tasks.followers = followers;
    status = rbli_run_tasks(&ctx, &tasks, evaluate_task, e);
done:
    rbli_free(&ctx, followers);
    rbli_free(&ctx, follower_start);
    rbli_free(&ctx, wait_counts);
    for (uint32_t i = 0; i < e->needed_count; i++) {
        const rbl_node_report *report = &e->run->nodes[i].report;
        if (report->outcome == RBL_OUTCOME_FAILED && e->run->status == RBL_OK)
            e->run->status = report->status;
        take_messages(e, i);
    }
    return status;
}

/* ---- Files ---- */

static rbl_status unpack_outputs(evaluation *e, node_work *w)
{
    const rbli_result *result = w->entry->result;
    for (size_t i = 0; i < result->output_count; i++) {
        rbl_context quiet = w->ctx;
        quiet.messages = NULL;
        rbl_status status = rbli_value_unpack(&quiet, result->outputs[i]);
        if (status == RBL_OK) continue;
        if (status == RBL_ERR_NO_MEMORY || status == RBL_ERR_CANCELLED) return status;
        reject_cached(e, w, w->entry->key, "its collection cannot be unpacked");
        atomic_store(&e->undecodable, true);
        return RBL_ERR_INTERNAL;
    }
    return RBL_OK;
}

/// Lets a node write its files to temporary names.
static void deliver_node(evaluation *e, uint32_t index)
{
    const rbli_graph_node *node = &e->graph->nodes[e->graph_index[index]];
    const rbl_node_desc *desc = node->type->desc;
    rbli_run_node *entry = &e->run->nodes[index];
    bool hit = is_hit(entry->report.outcome);
    if (!desc->deliver || !is_good(entry) || (hit && !(desc->flags & RBL_NODE_ALWAYS_DELIVER))) return;
    node_work w;
    rbl_status status = begin_work(e, index, &w) ? gather_inputs(e, &w) : RBL_ERR_NO_MEMORY;
    if (status == RBL_OK) status = unpack_inputs(e, &w);
    if (status == RBL_OK) status = unpack_outputs(e, &w);
    if (status == RBL_OK) status = connect_parameters(e, &w);
    rbl_call call = {.ctx = &w.ctx,
        .node = node,
        .node_index = index,
        .params = w.params,
        .inputs = w.inputs,
        .result = entry->result,
        .output_folder = e->options->output_folder,
        .files = &e->files};
    if (status == RBL_OK) status = desc->deliver(&w.ctx, &call);
    if (status == RBL_OK && is_cancelled(e)) status = RBL_ERR_CANCELLED;
    if (w.ctx.messages) hand_on_messages(e, &w, &call, status);
    rbli_free(&w.ctx, call.places.data);
    if (status != RBL_OK) fail_node(e, &w, status);
    if (status != RBL_OK && e->run->status == RBL_OK) e->run->status = status;
    end_work(e, &w, "deliver");
    take_messages(e, index);
}

/// Adds the manifest of each node that writes files.
static rbl_status add_manifests(evaluation *e, rbl_context *ctx)
{
    rbl_status status = RBL_OK;
    size_t count = e->files.count;
    uint32_t done = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t node = e->files.data[i].node;
        if (node == done) continue; /* a node's files stand together */
        done = node;
        rbl_call call = {.ctx = ctx,
            .node = &e->graph->nodes[e->graph_index[node]],
            .node_index = node,
            .output_folder = e->options->output_folder,
            .files = &e->files};
        char name[1024];
        snprintf(name, sizeof name, "%s.manifest.json", e->run->nodes[node].id);
        for (char *c = name; *c; c++) /* of a node in a graph within the graph */
            if (*c == '/') *c = '.';
        rbli_text text;
        rbli_text_init(&text, e->engine->allocator);
        rbli_write_manifest(e->run, node, &e->files, &text);
        char *content = NULL;
        void *writer = NULL;
        status = rbli_text_take(&text, &content);
        if (status == RBL_OK) status = rbl_call_open_file(ctx, &call, name, &writer);
        if (status == RBL_OK) {
            rbli_file_writer_write(writer, content, strlen(content));
            status = rbl_call_add_file(ctx, &call, name, writer);
        }
        rbli_free(ctx, content);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

static rbl_status report_file(evaluation *e, rbl_context *ctx, const rbli_pending_file *file)
{
    rbli_run_file entry = {0};
    entry.path = rbli_format(ctx, "%s/%s", e->options->output_folder, file->name);
    entry.node = rbli_strdup(ctx, e->run->nodes[file->node].id);
    if (!entry.path || !entry.node || rbli_array_push(ctx, &e->run->files, entry) != RBL_OK) {
        rbli_free(ctx, entry.path);
        rbli_free(ctx, entry.node);
        return RBL_ERR_NO_MEMORY;
    }
    rbli_run_file *kept = &e->run->files.data[e->run->files.count - 1];
    rbli_hash_to_text(file->hash, kept->hash);
    kept->report = (rbl_file_report){.node = kept->node, .path = kept->path, .bytes = file->bytes};
    return RBL_OK;
}

/// Gives all files their names, after everything has been written.
static rbl_status publish(evaluation *e, rbl_context *ctx)
{
    rbl_status status = RBL_OK;
    if (!e->options->no_manifest) RBL_TRY(add_manifests(e, ctx));
    for (size_t i = 0; i < e->files.count; i++)
        RBL_TRY(report_file(e, ctx, &e->files.data[i]));
    for (size_t i = 0; i < e->files.count; i++) {
        rbli_file_writer *writer = e->files.data[i].writer;
        e->files.data[i].writer = NULL;
        status = rbli_file_writer_commit(ctx, writer);
        if (status != RBL_OK) {
            for (size_t k = i; k < e->run->files.count; k++) {
                rbli_free(ctx, e->run->files.data[k].path);
                rbli_free(ctx, e->run->files.data[k].node);
            }
            e->run->files.count = i;
            return status;
        }
    }
done:
    if (status != RBL_OK) {
        for (size_t k = 0; k < e->run->files.count; k++) {
            rbli_free(ctx, e->run->files.data[k].path);
            rbli_free(ctx, e->run->files.data[k].node);
        }
        e->run->files.count = 0;
    }
    for (size_t i = 0; i < e->run->files.count; i++)
        e->run->files.data[i].report.hash = e->run->files.data[i].hash;
    return status;
}

/// All files or none: nothing is written when a node failed.
static void write_files(evaluation *e)
{
    if (e->dry || !e->options->output_folder || e->run->status != RBL_OK || atomic_load(&e->cancelled))
        return;
    struct stat info;
    bool folder_missing = stat(e->options->output_folder, &info) != 0;
    for (uint32_t i = 0; i < e->needed_count && e->run->status == RBL_OK && !atomic_load(&e->cancelled); i++)
        deliver_node(e, i);
    rbl_context ctx = e->engine->base;
    ctx.messages = rbli_messages_create(e->engine->allocator);
    if (e->run->status == RBL_OK && !atomic_load(&e->cancelled) && e->files.count) {
        rbl_status status = ctx.messages ? publish(e, &ctx) : RBL_ERR_NO_MEMORY;
        for (size_t i = 0; ctx.messages && i < rbli_messages_count(ctx.messages); i++)
            rbli_message_add(
                e->run->messages, RBL_ERROR, status, NULL, NULL, rbli_messages_get(ctx.messages, i)->text);
        e->run->status = status;
    }
    rbli_messages_destroy(ctx.messages);
    rbli_pending_files_discard(&e->engine->base, &e->files);
    /* A folder that was made for files that did not come goes again; it stays when something is in it. */
    if (folder_missing && e->run->files.count == 0) rmdir(e->options->output_folder);
}

/* ---- The whole ---- */

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

/// A guess of what a node costs against others, for progress: what it took last time, in milliseconds, else
/// by its family.
static double guess_cost(const evaluation *e, uint32_t index)
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

static void guess_costs(evaluation *e)
{
    double total = 0;
    for (uint32_t i = 0; i < e->needed_count; i++)
        total += e->progress.costs[i] = guess_cost(e, i);
    e->progress.count = e->needed_count;
    e->progress.total_cost = total > 0 ? total : 1;
}

static rbl_status begin(evaluation *e, size_t only)
{
    rbl_graph *graph = e->graph;
    rbli_allocator *allocator = e->engine->allocator;
    rbl_status status = RBL_OK;
    bool *needed = rbli_allocator_calloc(allocator, graph->node_count, sizeof *needed);
    e->params = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->params);
    e->run_index = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->run_index);
    e->graph_index = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->graph_index);
    e->blame = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->blame);
    e->said = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->said);
    e->activities = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->activities);
    e->progress.fractions =
        rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->progress.fractions);
    e->progress.costs = rbli_allocator_calloc(allocator, graph->node_count, sizeof *e->progress.costs);
    if (!needed || !e->params || !e->run_index || !e->graph_index || !e->blame || !e->said ||
        !e->activities || !e->progress.fractions || !e->progress.costs)
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

static void end(evaluation *e)
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
    rbli_allocator_free(allocator, e->activities);
    rbli_allocator_free(allocator, e->progress.fractions);
    rbli_allocator_free(allocator, e->progress.costs);
    uv_mutex_destroy(&e->event_mutex);
}

/// Lets a control show the progress of this run, or (NULL) of none any more.
static void show_progress(rbl_control *control, const rbli_progress_state *state)
{
    if (!control) return;
    uv_mutex_lock(&control->mutex);
    control->state = state;
    control->fraction = state ? 0 : 1;
    uv_mutex_unlock(&control->mutex);
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

static void evaluate_all(evaluation *e)
{
    rbl_status status = evaluate_nodes(e, NULL);
    if (status != RBL_OK && e->run->status == RBL_OK) e->run->status = status;
    write_files(e);
}

/// Makes the run as it was before its nodes were evaluated, to evaluate them without the cache folder.
static bool forget_attempt(evaluation *e)
{
    rbl_messages *messages = NULL;
    if (atomic_load(&e->cancelled) || rbli_messages_open(e->engine->allocator, &messages) != RBL_OK)
        return false;
    rbli_message_add(messages, RBL_NOTE, RBL_OK, NULL, NULL,
        "a result in the cache folder cannot be unpacked; evaluated again without the folder");
    rbl_messages_destroy(e->run->messages);
    e->run->messages = messages;
    e->run->status = RBL_OK;
    for (size_t i = 0; i < e->needed_count; i++) {
        rbli_run_node *entry = &e->run->nodes[i];
        atomic_store(&e->progress.fractions[i], 0);
        rbli_result_release(entry->result);
        entry->result = NULL;
        set_reason(e, entry, "");
        entry->report =
            (rbl_node_report){.node = entry->id, .type = entry->desc->type, .reason = entry->report.reason};
    }
    e->done_cost = 0;
    e->distrust = true;
    return true;
}

enum { TURN_POLL_MS = 2 };

/// Waits until no other evaluation of the graph is under way. @return false when cancelled while waiting:
/// then every node is skipped, and nothing is held
static bool take_turn(evaluation *e)
{
    while (uv_mutex_trylock(&e->graph->evaluating) != 0) {
        if (is_cancelled(e)) {
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
    evaluation e = {.graph = graph, .engine = graph->engine, .options = options, .dry = hooks->dry};
    if (uv_mutex_init(&e.event_mutex) != 0) return RBL_ERR_NO_MEMORY;
    rbl_status status = begin(&e, only);
    if (hooks->started) hooks->started(hooks->user);
    if (status == RBL_OK) {
        bool is_ours = take_turn(&e); /* evaluations of one graph follow each other */
        guess_costs(&e);
        show_progress(options->control, &e.progress);
        if (graph->engine->disk_cache) rbli_disk_cache_begin_run(graph->engine->disk_cache);
        evaluate_all(&e);
        if (atomic_load(&e.undecodable) && forget_attempt(&e)) evaluate_all(&e);
        if (is_ours) uv_mutex_unlock(&graph->evaluating);
        show_progress(options->control, NULL);
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

rbl_status rbli_evaluate_body(rbl_call *call, rbl_value *const *given, const char *prefix, rbl_run **out)
{
    evaluation *outer = call->evaluation;
    rbl_evaluate_options options = *outer->options;
    options.output_folder = NULL;
    options.only_node = NULL;
    options.event = NULL;
    char *whole = rbli_format(&outer->engine->base, "%s%s", outer->prefix ? outer->prefix : "", prefix);
    if (!whole) return RBL_ERR_NO_MEMORY;
    evaluation e = {.graph = call->node->body,
        .engine = outer->engine,
        .options = &options,
        .distrust = outer->distrust,
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
        guess_costs(&e);
        status = evaluate_nodes(&e, call->ctx->tasks);
        if (status != RBL_OK && e.run->status == RBL_OK) e.run->status = status;
        if (atomic_load(&e.cancelled)) e.run->status = RBL_ERR_CANCELLED;
        if (atomic_load(&e.undecodable)) atomic_store(&outer->undecodable, true);
        status = e.run->status;
        /* Of one node, which runs its bodies one after the other: nobody else touches its list. */
        if (rbli_messages_open(outer->engine->allocator, &outer->said[call->node_index]) == RBL_OK)
            rbli_messages_copy(outer->said[call->node_index], e.run->messages);
        *out = e.run;
    } else {
        rbl_run_destroy(e.run);
    }
    end(&e);
    rbli_allocator_free(outer->engine->allocator, whole);
    return status;
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
