/// What goes into a node: values, parameters with what is connected to them, contents of files; and the key
/// that hashes all of it.

#include "engine/evaluation.h"

#include <stdio.h>
#include <string.h>

rbl_status rbli_work_gather_inputs(rbli_evaluation *e, rbli_node_work *w)
{
    const rbli_graph_node *node = w->node;
    w->inputs = rbli_calloc(&w->ctx, node->ref_count, sizeof *w->inputs);
    if (!w->inputs) return RBL_ERR_NO_MEMORY;
    const rbl_port_desc *ports = node->type->desc->inputs;
    const bool *skips = e->skips[e->graph_index[w->index]];
    for (uint32_t i = 0, port = 0; i < node->ref_count; i++) {
        while (port < node->type->input_count && i >= node->input_start[port + 1])
            port++;
        if (skips && skips[i]) continue;
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

rbl_status rbli_work_connect_parameters(rbli_evaluation *e, rbli_node_work *w)
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
        rbli_work_tell(e, w, unset, RBL_ERROR, RBL_ERR_GRAPH, hint, text);
        return RBL_ERR_GRAPH;
    }
    if (first == node->ref_count) return RBL_OK;
    rbli_param_scope scope = {.allocator = e->engine->allocator,
        .messages = rbli_work_messages(e, w),
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
    rbli_evaluation *e;
    rbli_node_work *w;
} stamp_user;

/// Hashes the content of a PATH parameter's file.
static rbl_status stamp_path(void *user, const rbl_param *param)
{
    stamp_user *u = user;
    rbli_node_work *w = u->w;
    rbli_hash hash;
    size_t bytes, before = rbli_messages_count(w->ctx.messages);
    rbl_status status = rbli_file_hash(&w->ctx, param->string, &hash, &bytes);
    if (status == RBL_ERR_CANCELLED) return status;
    if (status != RBL_OK) {
        if (rbli_messages_count(w->ctx.messages) > before)
            rbli_work_tell(
                u->e, w, param, RBL_ERROR, status, NULL, rbli_messages_get(w->ctx.messages, before)->text);
        else
            rbli_work_tell(u->e, w, param, RBL_ERROR, status, NULL, rbl_status_text(status));
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

rbl_status rbli_work_stamp_files(rbli_evaluation *e, rbli_node_work *w)
{
    stamp_user user = {e, w};
    return rbli_params_each_path(w->params, stamp_path, &user);
}

rbli_hash rbli_work_key(const rbli_node_work *w)
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

void rbli_work_anchor_files(const rbli_node_work *w, rbli_result *result)
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

char *rbli_work_anchored_path(rbl_context *ctx, const rbli_node_work *w, const rbli_file_stamp *file)
{
    const char *base = file->anchor && file->anchor <= w->stamp_count ? w->stamps[file->anchor - 1].path : "";
    return rbli_format(ctx, "%.*s%s", (int)folder_length(base), base, file->path);
}

bool rbli_work_file_is_unchanged(const rbli_node_work *w, const rbli_file_stamp *file)
{
    rbl_context ctx = w->ctx;
    char *path = rbli_work_anchored_path(&ctx, w, file);
    rbli_hash hash;
    if (!path) return false;
    rbl_status status = rbli_hash_file(&ctx, path, &hash);
    rbli_free(&ctx, path);
    if (status == RBL_ERR_NO_MEMORY || status == RBL_ERR_CANCELLED) return false;
    return rbli_hash_equal(hash, file->hash);
}

bool rbli_work_files_are_unchanged(const rbli_node_work *w, const rbli_result *result)
{
    for (size_t i = 0; i < result->file_count; i++)
        if (!rbli_work_file_is_unchanged(w, &result->files[i])) return false;
    return true;
}
