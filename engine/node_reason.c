/// Why a node ran: what it was made from in the graph's previous run, against what it is made from now.

#include "engine/evaluation.h"

#include <stdio.h>
#include <string.h>

#include "fracture/base/alloc.h"

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

void rbli_work_explain(
    rbli_evaluation *e, const rbli_node_work *w, const rbli_result *stale, char *reason, size_t bytes)
{
    const rbli_history *history = &e->graph->history[e->graph_index[w->index]];
    const rbli_hash no_hash = rbli_value_hash(NULL); /* of what the node did without */
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
        if (!rbli_work_file_is_unchanged(w, &stale->files[i]))
            add_reason(reason, bytes, "file %s changed", last_part(stale->files[i].path));
    }
    for (size_t port = 0; port < w->node->type->input_count; port++)
        for (uint32_t i = w->node->input_start[port]; i < w->node->input_start[port + 1]; i++)
            if (w->inputs[i] && !rbli_hash_equal(history->ref_hashes[i], no_hash) &&
                !rbli_hash_equal(history->ref_hashes[i], rbli_value_hash(w->inputs[i]))) {
                add_reason(reason, bytes, "input %s changed", w->node->type->desc->inputs[port].name);
                break;
            }
    if (!*reason)
        add_reason(reason, bytes, e->options->no_cache ? "the cache was not used" : "no longer in the cache");
}

void rbli_work_remember(rbli_evaluation *e, const rbli_node_work *w)
{
    rbli_allocator *allocator = e->engine->allocator;
    rbli_history *history = &e->graph->history[e->graph_index[w->index]];
    const rbli_result *result = w->entry->result;
    double took_ms = rbli_is_hit(w->entry->report.outcome) ? history->took_ms
                                                           : (double)(rbli_trace_now() - w->begin_ns) / 1e6;
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
        char *path = rbli_work_anchored_path(&ctx, w, stamp);
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

static void note_file(rbli_evaluation *e, rbl_context *ctx, char *path, rbli_hash hash)
{
    rbl_graph *graph = e->graph;
    if (!path) return;
    uv_mutex_lock(&graph->mutex);
    bool known = false;
    for (size_t i = 0; i < graph->reads.count && !known; i++)
        known = strcmp(graph->reads.data[i].path, path) == 0;
    rbli_file_stamp stamp = {.path = path, .hash = hash};
    known = known || rbli_array_push(ctx, &graph->reads, stamp) != RBL_OK;
    uv_mutex_unlock(&graph->mutex);
    if (known) rbli_free(ctx, path);
}

void rbli_work_note_files(rbli_evaluation *e, const rbli_node_work *w)
{
    rbl_context ctx = e->engine->base;
    const rbli_result *result = w->entry->result;
    for (size_t i = 0; i < w->stamp_count; i++)
        note_file(e, &ctx, rbli_strdup(&ctx, w->stamps[i].path), w->stamps[i].hash);
    for (size_t i = 0; result && i < result->file_count; i++)
        note_file(e, &ctx, rbli_work_anchored_path(&ctx, w, &result->files[i]), result->files[i].hash);
}

bool rbli_work_output_is_same(rbli_evaluation *e, const rbli_node_work *w, const rbli_result *result)
{
    const rbli_history *history = &e->graph->history[e->graph_index[w->index]];
    if (!history->known || result->output_count == 0) return false;
    for (size_t i = 0; i < result->output_count; i++)
        if (!rbli_hash_equal(history->output_hashes[i], rbli_value_hash(result->outputs[i]))) return false;
    return true;
}
