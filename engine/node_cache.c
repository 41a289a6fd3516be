/// What an evaluation asks of the cache folder, and values that are still packed as they came from it.

#include "engine/evaluation.h"

bool rbli_result_is_packed(const rbli_result *result)
{
    for (size_t i = 0; i < result->output_count; i++)
        if (rbli_value_is_packed(result->outputs[i])) return true;
    return false;
}

bool rbli_result_is_in_file(const rbli_result *result)
{
    for (size_t i = 0; i < result->output_count; i++)
        if (rbli_value_is_in_file(result->outputs[i])) return true;
    return false;
}

/// What the host will not ask for may stay in its file.
static bool may_stay_in_file(const rbli_evaluation *e, const rbli_node_work *w)
{
    return e->options->files_only && !e->options->checked && !e->whole &&
           (!e->ends[e->graph_index[w->index]] || w->node->type->desc->deliver);
}

void rbli_work_tell_notes(rbli_evaluation *e, const rbli_node_work *w, rbl_context *ctx)
{
    for (size_t i = 0; ctx->messages && i < rbli_messages_count(ctx->messages); i++) {
        const rbli_message *message = rbli_messages_get(ctx->messages, i);
        if (message->severity == RBLI_NOTE) rbli_work_tell(e, w, NULL, RBL_NOTE, RBL_OK, NULL, message->text);
    }
    rbli_messages_destroy(ctx->messages);
}

rbli_result *rbli_work_find_on_disk(
    rbli_evaluation *e, rbli_node_work *w, rbli_hash key, const rbl_port_desc *outputs)
{
    if (!e->engine->disk_cache || e->distrust) return NULL;
    rbl_context ctx = w->ctx;
    ctx.messages = rbli_messages_create(ctx.allocator);
    if (!ctx.messages) return NULL;
    rbli_phase phase = rbli_phase_begin(&ctx);
    rbli_result *found =
        rbli_disk_cache_find(&ctx, e->engine->disk_cache, key, outputs, may_stay_in_file(e, w));
    rbli_phase_end(&ctx, "look into the cache", phase);
    rbli_work_tell_notes(e, w, &ctx);
    return found;
}

void rbli_work_put_on_disk(rbli_evaluation *e, rbli_node_work *w, rbli_hash key, const rbli_result *result)
{
    if (!e->engine->disk_cache) return;
    rbl_context ctx = w->ctx;
    ctx.messages = rbli_messages_create(ctx.allocator);
    if (!ctx.messages) return;
    rbli_phase phase = rbli_phase_begin(&ctx);
    rbli_disk_cache_put(&ctx, e->engine->disk_cache, key, result);
    rbli_phase_end(&ctx, "write to the cache", phase);
    rbli_work_tell_notes(e, w, &ctx);
}

void rbli_work_reject(rbli_evaluation *e, rbli_node_work *w, rbli_hash key, const char *why)
{
    rbli_cache_remove(e->engine->cache, key);
    if (!e->engine->disk_cache) return;
    rbl_context ctx = w->ctx;
    ctx.messages = rbli_messages_create(ctx.allocator);
    if (!ctx.messages) return;
    rbli_disk_cache_reject(&ctx, e->engine->disk_cache, key, why);
    rbli_work_tell_notes(e, w, &ctx);
}

void rbli_entry_let_go(rbli_evaluation *e, rbli_run_node *entry)
{
    rbli_result *result = entry->result;
    if (!result || atomic_load(&result->references) != 1) return;
    rbl_context ctx = e->engine->base;
    rbli_packed gone = {0};
    if (rbli_blob_create_on_file(&ctx, "", &gone.blob) != RBL_OK) return;
    for (size_t i = 0; i < result->output_count; i++) {
        rbl_value *value = result->outputs[i], *husk;
        if (!value || rbl_value_get_kind(value) != RBL_VALUE_COLLECTION || rbli_value_was_packed(value))
            continue;
        gone.hash = rbli_value_hash(value);
        gone.unpacked_bytes = rbli_value_bytes(value);
        if (rbli_value_create_packed(&ctx, &gone, &husk) != RBL_OK) continue;
        result->outputs[i] = husk;
        rbl_value_release(value);
    }
    rbli_blob_release(gone.blob);
}

/// Others may need what was read, too.
static void put_in_memory(rbli_evaluation *e, const rbli_run_node *node)
{
    bool passes = node->desc->flags & RBLI_NODE_PASSES;
    if (!passes && !rbli_hash_is_zero(node->key) && !rbli_result_is_in_file(node->result))
        rbli_cache_put(e->engine->cache, node->key, node->result);
}

rbl_status rbli_work_unpack_inputs(rbli_evaluation *e, rbli_node_work *w)
{
    for (uint32_t i = 0; i < w->node->ref_count; i++) {
        if (!w->inputs[i] || !rbli_value_is_packed(w->inputs[i])) continue;
        rbl_context quiet = w->ctx;
        quiet.messages = NULL;
        const rbli_run_node *from = &e->run->nodes[e->run_index[w->node->refs[i].node]];
        bool in_file = rbli_value_is_in_file(w->inputs[i]);
        rbl_status status = rbli_value_unpack(&quiet, w->inputs[i]);
        if (status == RBL_OK && in_file) put_in_memory(e, from);
        if (status == RBL_OK) continue;
        if (status == RBL_ERR_NO_MEMORY || status == RBL_ERR_CANCELLED) return status;
        rbli_work_reject(e, w, from->key, "its collection cannot be unpacked");
        atomic_store(&e->undecodable, true);
        return RBL_ERR_INTERNAL;
    }
    return RBL_OK;
}

rbl_status rbli_work_unpack_outputs(rbli_evaluation *e, rbli_node_work *w)
{
    const rbli_result *result = w->entry->result;
    for (size_t i = 0; i < result->output_count; i++) {
        rbl_context quiet = w->ctx;
        quiet.messages = NULL;
        rbl_status status = rbli_value_unpack(&quiet, result->outputs[i]);
        if (status == RBL_OK) continue;
        if (status == RBL_ERR_NO_MEMORY || status == RBL_ERR_CANCELLED) return status;
        rbli_work_reject(e, w, w->entry->key, "its collection cannot be unpacked");
        atomic_store(&e->undecodable, true);
        return RBL_ERR_INTERNAL;
    }
    return RBL_OK;
}
