/// Files that nodes wrote, remembered: under a key of its own a record says which files a node's delivery
/// gave (hash, size and name, a line each) and what it said; the cache folder has their contents by hash. A
/// file that is in the output folder with its recorded content stays as it is, another one is copied; when a
/// content is missing or damaged the node writes its files itself.

#include "engine/evaluation.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

static const rbl_port_desc record_ports[] = {{.name = "files", .kind = RBL_VALUE_STRING}, {0}};

static rbli_hash record_key(const rbli_node_work *w)
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    rbli_hasher_add_string(&hasher, "files of");
    rbli_hasher_add(&hasher, &w->entry->key, sizeof w->entry->key);
    return rbli_hasher_end(&hasher);
}

static bool keeps_files(const rbli_evaluation *e, const rbli_node_work *w)
{
    return (w->node->type->desc->flags & RBL_NODE_KEEPS_FILES) && !e->options->no_cache && !e->distrust &&
           !rbli_hash_is_zero(w->entry->key);
}

rbli_result *rbli_work_find_files(rbli_evaluation *e, rbli_node_work *w)
{
    if (!keeps_files(e, w)) return NULL;
    rbli_hash key = record_key(w);
    rbli_result *record = rbli_cache_find(e->engine->cache, key);
    if (record) return record;
    record = rbli_work_find_on_disk(e, w, key, record_ports);
    if (record) rbli_cache_put(e->engine->cache, key, record);
    return record;
}

/* ---- From the record ---- */

typedef struct kept_file {
    rbli_hash hash;
    size_t bytes;
    char *name;
} kept_file;

/// Takes one line off a record's text, which it changes. False when that is none.
static bool take_line(char **text, kept_file *file)
{
    char *end = strchr(*text, '\n'), *stop = NULL;
    if (!end || !rbli_hash_from_text(*text, &file->hash)) return false;
    *end = '\0';
    file->bytes = strtoumax(*text + 32, &stop, 10);
    if (*stop != ' ') return false;
    file->name = stop + 1;
    *text = end + 1;
    return true;
}

/// Copies a file from the cache folder to a temporary name. @return RBL_ERR_NOT_FOUND: not there, or damaged
static rbl_status copy_content(rbli_evaluation *e, rbl_call *call, rbl_context *ctx, const kept_file *file)
{
    rbl_status status = RBL_OK;
    void *writer = NULL;
    if (!e->engine->disk_cache) return RBL_ERR_NOT_FOUND;
    RBL_TRY(rbl_call_open_file(ctx, call, file->name, &writer));
    rbli_file_writer_skip_sync(writer); /* the cache folder has it, and a damaged copy is found */
    RBL_TRY(rbli_disk_cache_copy_content(ctx, e->engine->disk_cache, file->hash, writer));
    status = rbl_call_add_file(ctx, call, file->name, writer);
    writer = NULL; /* taken, also on failure */
    RBL_TRY(status);
    const rbli_pending_file *added = &call->files->data[call->files->count - 1];
    if (added->bytes != file->bytes || !rbli_hash_equal(added->hash, file->hash)) {
        rbli_disk_cache_reject_content(ctx, e->engine->disk_cache, file->hash);
        status = RBL_ERR_NOT_FOUND;
    }
done:
    rbli_file_writer_discard(writer);
    return status;
}

static rbl_status restore_file(rbli_evaluation *e, rbl_call *call, rbl_context *ctx, const kept_file *file)
{
    bool found;
    rbl_status status = rbli_call_find_file(ctx, call, file->name, file->hash, file->bytes, &found);
    return status == RBL_OK && !found ? copy_content(e, call, ctx, file) : status;
}

bool rbli_work_restore_files(rbli_evaluation *e, rbli_node_work *w, rbl_call *call, const rbli_result *record)
{
    size_t before = call->files->count;
    rbl_context ctx = w->ctx;
    ctx.messages = rbli_messages_create(ctx.allocator);
    char *text = rbli_strdup(&ctx, rbl_value_string(record->outputs[0])), *rest = text;
    rbl_status status = ctx.messages && text ? RBL_OK : RBL_ERR_NO_MEMORY;
    while (status == RBL_OK && *rest) {
        kept_file file;
        status = take_line(&rest, &file) ? restore_file(e, call, &ctx, &file) : RBL_ERR_PARSE;
    }
    rbli_free(&ctx, text);
    rbli_work_tell_notes(e, w, &ctx); /* of damaged contents */
    if (status == RBL_OK)
        rbli_work_replay_messages(e, w, record);
    else
        rbli_pending_files_cut(&w->ctx, call->files, before);
    return status == RBL_OK;
}

/* ---- Into the record ---- */

/// What the delivery wrote, as a record's text; NULL without memory.
static char *describe_files(rbl_context *ctx, const rbli_pending_file *files, size_t count)
{
    rbli_text text;
    char *taken = NULL;
    rbli_text_init(&text, ctx->allocator);
    for (size_t i = 0; i < count; i++) {
        char hash[33];
        rbli_hash_to_text(files[i].hash, hash);
        rbli_text_printf(&text, "%s %zu %s\n", hash, files[i].bytes, files[i].name);
    }
    return rbli_text_take(&text, &taken) == RBL_OK ? taken : NULL;
}

/// The record of a delivery; NULL without memory.
static rbli_result *make_record(rbl_context *ctx, const char *text)
{
    rbli_result *record = NULL;
    rbl_status status = RBL_OK;
    RBL_TRY(rbli_result_create(ctx->allocator, 1, &record));
    RBL_TRY(rbl_value_create_string(ctx, text, &record->outputs[0]));
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++) {
        const rbli_message *message = rbli_messages_get(ctx->messages, i);
        if (message->severity == RBLI_ERROR) continue;
        RBL_TRY(rbli_result_add_message(record, rbli_public_severity(message->severity), message->text));
    }
    return record;
done:
    rbli_result_release(record);
    return NULL;
}

/// The contents go first: whoever finds the record finds them.
static bool put_contents(rbli_evaluation *e, rbli_node_work *w, const rbl_call *call, size_t first)
{
    rbl_context ctx = w->ctx;
    bool kept = true;
    ctx.messages = rbli_messages_create(ctx.allocator);
    if (!ctx.messages) return false;
    for (size_t i = first; i < call->files->count && kept; i++) {
        const rbli_pending_file *file = &call->files->data[i];
        char *path = file->writer ? rbli_strdup(&ctx, rbli_file_writer_temporary_path(file->writer))
                                  : rbli_format(&ctx, "%s/%s", call->output_folder, file->name);
        kept =
            path && rbli_disk_cache_put_content(&ctx, e->engine->disk_cache, file->hash, file->bytes, path);
        rbli_free(&ctx, path);
    }
    rbli_work_tell_notes(e, w, &ctx);
    return kept;
}

rbl_status rbli_work_keep_files(
    rbli_evaluation *e, rbli_node_work *w, const rbl_call *call, size_t first, const rbli_result *known)
{
    if (!keeps_files(e, w)) return RBL_OK;
    rbl_status status = RBL_OK;
    rbli_hash key = record_key(w);
    rbli_result *record = NULL;
    char *text = describe_files(&w->ctx, call->files->data + first, call->files->count - first);
    if (!text) return RBL_OK; /* not remembered */
    if (known && e->options->checked && strcmp(text, rbl_value_string(known->outputs[0])) != 0) {
        status = rbli_fail(&w->ctx, RBL_ERR_INTERNAL,
            "written again, the files differ from the remembered ones: the node is not deterministic, which "
            "is a bug");
        rbli_work_reject(e, w, key, "written again, the files differ");
    } else if ((record = make_record(&w->ctx, text))) {
        rbli_cache_put(e->engine->cache, key, record);
        if (e->engine->disk_cache && put_contents(e, w, call, first))
            rbli_work_put_on_disk(e, w, key, record);
    }
    rbli_result_release(record);
    rbli_free(&w->ctx, text);
    return status;
}
