/// The files of a run: written by their nodes under temporary names, renamed when all are there. A node's
/// files appear together or not at all, and a node that cannot write its files keeps no other from writing
/// theirs.

#include "engine/evaluation.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Lets a node write its files to temporary names.
static rbl_status write_anew(rbli_evaluation *e, rbli_node_work *w, rbl_call *call, const rbli_result *known)
{
    rbl_status status = RBL_OK;
    size_t before = e->files.count;
    RBL_TRY(rbli_work_gather_inputs(e, w));
    RBL_TRY(rbli_work_unpack_inputs(e, w));
    RBL_TRY(rbli_work_unpack_outputs(e, w));
    RBL_TRY(rbli_work_connect_parameters(e, w));
    call->params = w->params;
    call->inputs = w->inputs;
    RBL_TRY(w->node->type->desc->deliver(&w->ctx, call));
    if (rbli_evaluation_is_cancelled(e)) RBL_TRY(RBL_ERR_CANCELLED);
    RBL_TRY(rbli_work_keep_files(e, w, call, before, known));
done:
    if (status != RBL_OK) rbli_pending_files_cut(&w->ctx, &e->files, before);
    return status;
}

/* ---- What the graph reads ---- */

/// A file that a node would write, against those that the graph reads.
typedef struct reader {
    struct stat file;
    bool is_read, is_graph;
} reader;

static void compare_file(void *user, const char *path, bool is_graph)
{
    reader *r = user;
    struct stat info;
    if (r->is_read || stat(path, &info) != 0) return;
    if (info.st_dev != r->file.st_dev || info.st_ino != r->file.st_ino) return;
    r->is_read = true;
    r->is_graph = is_graph;
}

/// Refuses files that would take the place of the graph or of a file that it reads: "cube.json" of cube.json
/// with the output folder "." is a slip of the pen. Files with equal content are no files to write.
static rbl_status keep_inputs(rbli_evaluation *e, rbli_node_work *w, rbl_call *call, size_t before)
{
    rbl_status status = RBL_OK;
    for (size_t i = before; i < e->files.count; i++) {
        const rbli_pending_file *file = &e->files.data[i];
        reader r = {0};
        if (!file->writer || stat(rbli_file_writer_path(file->writer), &r.file) != 0) continue;
        RBL_TRY(rbl_graph_each_file(e->graph, compare_file, &r));
        if (!r.is_read) continue;
        RBL_TRY(rbl_call_fail(&w->ctx, call, NULL, RBL_ERR_WRITE,
            "\"%s\" would be written over %s: choose another name or folder (--out)", file->name,
            r.is_graph ? "the graph itself" : "a file that the graph reads"));
    }
done:
    if (status != RBL_OK) rbli_pending_files_cut(&w->ctx, &e->files, before);
    return status;
}

static void deliver_node(rbli_evaluation *e, uint32_t index)
{
    const rbli_graph_node *node = &e->graph->nodes[e->graph_index[index]];
    const rbl_node_desc *desc = node->type->desc;
    rbli_run_node *entry = &e->run->nodes[index];
    bool hit = rbli_is_hit(entry->report.outcome);
    if (!desc->deliver || !rbli_is_good(entry) || (hit && !(desc->flags & RBL_NODE_ALWAYS_DELIVER))) return;
    rbli_node_work w;
    rbl_status status = rbli_work_begin(e, index, &w) ? RBL_OK : RBL_ERR_NO_MEMORY;
    rbl_call call = {.ctx = &w.ctx,
        .node = node,
        .node_index = index,
        .result = entry->result,
        .output_folder = e->options->output_folder,
        .files = &e->files};
    if (status == RBL_OK) {
        size_t before = e->files.count;
        rbli_result *known = rbli_work_find_files(e, &w);
        bool restored = known && !e->options->checked && rbli_work_restore_files(e, &w, &call, known);
        if (!restored) status = write_anew(e, &w, &call, known);
        rbli_result_release(known);
        if (status == RBL_OK) status = keep_inputs(e, &w, &call, before);
        rbli_work_hand_on_messages(e, &w, &call, status);
    }
    rbli_free(&w.ctx, call.places.data);
    if (status != RBL_OK) rbli_work_fail(e, &w, status);
    if (status != RBL_OK && e->run->status == RBL_OK) e->run->status = status;
    rbli_work_end(e, &w, "deliver");
    rbli_evaluation_take_messages(e, index);
}

/* ---- Manifests ---- */

/// The manifest's file name, of a node in a graph within the graph too.
static void manifest_name(const rbli_run_node *node, char *name, size_t bytes)
{
    snprintf(name, bytes, "%s.manifest.json", node->id);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '.';
}

static rbl_status add_manifest(rbli_evaluation *e, rbl_context *ctx, uint32_t node)
{
    rbl_status status = RBL_OK;
    rbl_call call = {.ctx = ctx,
        .node = &e->graph->nodes[e->graph_index[node]],
        .node_index = node,
        .output_folder = e->options->output_folder,
        .files = &e->files};
    char name[1024], *content = NULL;
    void *writer = NULL;
    rbli_text text;
    bool found;
    manifest_name(&e->run->nodes[node], name, sizeof name);
    rbli_text_init(&text, e->engine->allocator);
    rbli_write_manifest(e->run, node, &e->files, &text);
    RBL_TRY(rbli_text_take(&text, &content));
    size_t bytes = strlen(content);
    RBL_TRY(rbli_call_find_file(ctx, &call, name, rbli_hash_bytes(content, bytes), bytes, &found));
    if (found) goto done;
    RBL_TRY(rbl_call_open_file(ctx, &call, name, &writer));
    rbli_file_writer_skip_sync(writer); /* one that is lost tells that files may be */
    rbli_file_writer_write(writer, content, bytes);
    status = rbl_call_add_file(ctx, &call, name, writer);
done:
    rbli_free(ctx, content);
    return status;
}

/// Adds the manifest of each node that writes files.
static rbl_status add_manifests(rbli_evaluation *e, rbl_context *ctx)
{
    size_t count = e->files.count;
    uint32_t done = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t node = e->files.data[i].node;
        if (node == done) continue; /* a node's files stand together */
        done = node;
        rbl_status status = add_manifest(e, ctx, node);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/* ---- Names ---- */

static void free_report(rbl_context *ctx, rbli_run_file *file)
{
    rbli_free(ctx, file->path);
    rbli_free(ctx, file->node);
}

static rbl_status report_file(rbli_evaluation *e, rbl_context *ctx, const rbli_pending_file *file)
{
    rbli_run_file entry = {0};
    entry.path = rbli_format(ctx, "%s/%s", e->options->output_folder, file->name);
    entry.node = rbli_strdup(ctx, e->run->nodes[file->node].id);
    if (!entry.path || !entry.node || rbli_array_push(ctx, &e->run->files, entry) != RBL_OK) {
        free_report(ctx, &entry);
        return RBL_ERR_NO_MEMORY;
    }
    rbli_run_file *kept = &e->run->files.data[e->run->files.count - 1];
    rbli_hash_to_text(file->hash, kept->hash);
    kept->report = (rbl_file_report){
        .node = kept->node, .path = kept->path, .bytes = file->bytes, .unchanged = file->is_unchanged};
    return RBL_OK;
}

/// Gives the files their names. Once a name was refused, the same node gives no other: its manifest, which is
/// the last, tells that all are there.
static rbl_status commit_files(rbli_evaluation *e, rbl_context *ctx)
{
    rbl_status first = RBL_OK;
    size_t kept = 0;
    for (size_t i = 0; i < e->files.count; i++) {
        rbli_pending_file *file = &e->files.data[i];
        rbli_run_node *node = &e->run->nodes[file->node];
        rbl_status status = node->report.status;
        if (status == RBL_OK && file->writer) {
            status = rbli_file_writer_commit(ctx, file->writer);
            file->writer = NULL;
        }
        if (status == RBL_OK) {
            e->run->files.data[kept++] = e->run->files.data[i];
            continue;
        }
        free_report(ctx, &e->run->files.data[i]);
        if (node->report.status == RBL_OK) {
            node->report.outcome = RBL_OUTCOME_FAILED;
            node->report.status = status;
            rbli_evaluation_set_reason(e, node, rbl_status_text(status));
        }
        if (first == RBL_OK) first = status;
    }
    e->run->files.count = kept;
    return first;
}

/// Publishes all that was written, after everything has been.
static rbl_status publish(rbli_evaluation *e, rbl_context *ctx)
{
    rbl_status status = RBL_OK;
    if (!e->options->no_manifest) RBL_TRY(add_manifests(e, ctx));
    rbli_remove_left_files(e->options->output_folder);
    for (size_t i = 0; i < e->files.count; i++)
        RBL_TRY(report_file(e, ctx, &e->files.data[i]));
    status = commit_files(e, ctx);
    for (size_t i = 0; i < e->run->files.count; i++)
        e->run->files.data[i].report.hash = e->run->files.data[i].hash;
    return status;
done:
    for (size_t k = 0; k < e->run->files.count; k++)
        free_report(ctx, &e->run->files.data[k]);
    e->run->files.count = 0;
    return status;
}

void rbli_evaluation_write_files(rbli_evaluation *e)
{
    if (e->dry || !e->options->output_folder || e->run->status != RBL_OK || atomic_load(&e->cancelled))
        return;
    struct stat info;
    bool folder_missing = stat(e->options->output_folder, &info) != 0;
    for (uint32_t i = 0; i < e->needed_count && !atomic_load(&e->cancelled); i++)
        deliver_node(e, i);
    rbl_context ctx = e->engine->base;
    ctx.messages = rbli_messages_create(e->engine->allocator);
    if (!atomic_load(&e->undecodable) && !atomic_load(&e->cancelled) && e->files.count) {
        rbl_status status = ctx.messages ? publish(e, &ctx) : RBL_ERR_NO_MEMORY;
        for (size_t i = 0; ctx.messages && i < rbli_messages_count(ctx.messages); i++)
            rbli_message_add(
                e->run->messages, RBL_ERROR, status, NULL, NULL, rbli_messages_get(ctx.messages, i)->text);
        if (e->run->status == RBL_OK) e->run->status = status;
    }
    rbli_messages_destroy(ctx.messages);
    rbli_pending_files_discard(&e->engine->base, &e->files);
    /* A folder that was made for files that did not come goes again; it stays when something is in it. */
    if (folder_missing && e->run->files.count == 0) rmdir(e->options->output_folder);
}
