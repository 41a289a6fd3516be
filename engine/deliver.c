/// The files of a run: written by their nodes under temporary names, renamed together when all are there.

#include "engine/evaluation.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Lets a node write its files to temporary names.
static void deliver_node(rbli_evaluation *e, uint32_t index)
{
    const rbli_graph_node *node = &e->graph->nodes[e->graph_index[index]];
    const rbl_node_desc *desc = node->type->desc;
    rbli_run_node *entry = &e->run->nodes[index];
    bool hit = rbli_is_hit(entry->report.outcome);
    if (!desc->deliver || !rbli_is_good(entry) || (hit && !(desc->flags & RBL_NODE_ALWAYS_DELIVER))) return;
    rbli_node_work w;
    rbl_status status = rbli_work_begin(e, index, &w) ? rbli_work_gather_inputs(e, &w) : RBL_ERR_NO_MEMORY;
    if (status == RBL_OK) status = rbli_work_unpack_inputs(e, &w);
    if (status == RBL_OK) status = rbli_work_unpack_outputs(e, &w);
    if (status == RBL_OK) status = rbli_work_connect_parameters(e, &w);
    rbl_call call = {.ctx = &w.ctx,
        .node = node,
        .node_index = index,
        .params = w.params,
        .inputs = w.inputs,
        .result = entry->result,
        .output_folder = e->options->output_folder,
        .files = &e->files};
    if (status == RBL_OK) status = desc->deliver(&w.ctx, &call);
    if (status == RBL_OK && rbli_evaluation_is_cancelled(e)) status = RBL_ERR_CANCELLED;
    if (w.ctx.messages) rbli_work_hand_on_messages(e, &w, &call, status);
    rbli_free(&w.ctx, call.places.data);
    if (status != RBL_OK) rbli_work_fail(e, &w, status);
    if (status != RBL_OK && e->run->status == RBL_OK) e->run->status = status;
    rbli_work_end(e, &w, "deliver");
    rbli_evaluation_take_messages(e, index);
}

/// Adds the manifest of each node that writes files.
static rbl_status add_manifests(rbli_evaluation *e, rbl_context *ctx)
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

static rbl_status report_file(rbli_evaluation *e, rbl_context *ctx, const rbli_pending_file *file)
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
static rbl_status publish(rbli_evaluation *e, rbl_context *ctx)
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

void rbli_evaluation_write_files(rbli_evaluation *e)
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
