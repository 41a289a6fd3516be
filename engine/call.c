/// What a node's functions may ask and do during a call (include/rubble/node.h).

#include "engine/call.h"

#include <stdio.h>
#include <string.h>

static const rbl_param *param_by_path(const rbl_param *param, const char *name)
{
    char step[128];
    while (param) {
        size_t length = strcspn(name, ".");
        if (length >= sizeof step) return NULL;
        memcpy(step, name, length);
        step[length] = '\0';
        param = rbl_param_field(param, step);
        if (!name[length]) return param;
        name += length + 1;
    }
    return NULL;
}

const rbl_param *rbl_call_param(const rbl_call *call, const char *name)
{
    return param_by_path(rbli_params_root(call->params), name);
}

size_t rbl_call_input_count(const rbl_call *call, const char *port)
{
    size_t index = rbli_find_port(call->node->type->desc->inputs, port);
    if (index == SIZE_MAX) return 0;
    return call->node->input_start[index + 1] - call->node->input_start[index];
}

const rbl_value *rbl_call_input(const rbl_call *call, const char *port, size_t index)
{
    if (index >= rbl_call_input_count(call, port)) return NULL;
    size_t input = rbli_find_port(call->node->type->desc->inputs, port);
    return call->inputs[call->node->input_start[input] + index];
}

const rbl_collection *rbl_call_input_collection(const rbl_call *call, const char *port)
{
    return rbl_value_collection(rbl_call_input(call, port, 0));
}

const rbli_selection *rbli_call_input_selection(const rbl_call *call, const char *port)
{
    return rbli_value_get_selection(rbl_call_input(call, port, 0));
}

void rbl_call_set_output(rbl_call *call, const char *port, rbl_value *value)
{
    size_t index = rbli_find_port(call->node->type->desc->outputs, port);
    if (index == SIZE_MAX || !call->may_set_outputs) {
        rbl_value_release(value);
        return;
    }
    rbl_value_release(call->result->outputs[index]);
    call->result->outputs[index] = value;
}

void rbl_call_set_output_collection(rbl_call *call, const char *port, rbl_collection *collection)
{
    rbl_value *value = NULL;
    if (rbl_value_create_collection(call->ctx, collection, &value) == RBL_OK)
        rbl_call_set_output(call, port, value);
    else
        call->out_of_memory = true;
    rbli_collection_release(collection);
}

const rbl_value *rbl_call_output(const rbl_call *call, const char *port)
{
    size_t index = rbli_find_port(call->node->type->desc->outputs, port);
    return index == SIZE_MAX ? NULL : call->result->outputs[index];
}

const char *rbl_call_node_id(const rbl_call *call)
{
    return call->node->id;
}

rbl_status rbli_hash_file(rbl_context *ctx, const char *path, rbli_hash *out)
{
    rbl_context quiet = *ctx;
    size_t bytes;
    quiet.messages = NULL;
    *out = (rbli_hash){0, 0};
    return rbli_file_hash(&quiet, path, out, &bytes);
}

rbl_status rbl_engine_hash_file(rbl_engine *engine, const char *path, char text[33])
{
    rbl_context ctx = engine->base;
    rbli_hash hash;
    rbl_status status = rbli_hash_file(&ctx, path, &hash);
    text[0] = '\0';
    if (status == RBL_OK) rbli_hash_to_text(hash, text);
    return status;
}

rbl_status rbl_call_read_file(rbl_context *ctx, rbl_call *call, const char *path)
{
    for (size_t i = 0; i < call->result->file_count; i++)
        if (strcmp(call->result->files[i].path, path) == 0) return RBL_OK;
    rbli_hash hash;
    rbl_status status = rbli_hash_file(ctx, path, &hash);
    if (status == RBL_ERR_NO_MEMORY || status == RBL_ERR_CANCELLED) return status;
    /* A file that is not there counts, too: its coming changes the result. */
    return rbli_result_add_file(call->result, path, hash);
}

const char *rbl_call_output_folder(const rbl_call *call)
{
    return call->output_folder;
}

static const char *file_name_fault(const char *name)
{
    if (!*name) return "is empty";
    if (strlen(name) > 200) return "is longer than 200 bytes";
    if (strchr(name, '/') || strchr(name, '\\'))
        return "has a folder in it; files go to the output folder (--out)";
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return "is a folder";
    if (*name == '.') return "begins with a point";
    if (strchr(name, ':')) return "has a colon in it";
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < 0x20 || *c == 0x7F) return "has a control character in it";
    return NULL;
}

rbl_status rbl_call_check_file_name(
    rbl_context *ctx, rbl_call *call, const rbl_param *param, const char *name)
{
    const char *why = file_name_fault(name);
    if (why) return rbl_call_fail(ctx, call, param, RBL_ERR_ARGUMENT, "the file name \"%s\" %s", name, why);
    if (!call->told_files) return RBL_OK;
    rbli_told_file file = {call->node_index, param};
    return rbli_array_push(ctx, call->told_files, file);
}

rbl_status rbl_call_open_file(rbl_context *ctx, rbl_call *call, const char *name, void **writer)
{
    rbl_status status = RBL_OK;
    if (!call->output_folder) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "this run has no output folder");
    const char *why = file_name_fault(name);
    if (why) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the file name \"%s\" %s", name, why);
    char *path = NULL;
    rbli_file_writer *opened = NULL;
    RBL_TRY(rbli_make_folders(ctx, call->output_folder));
    path = rbli_format(ctx, "%s/%s", call->output_folder, name);
    RBL_TRY_ALLOC(path);
    RBL_TRY(rbli_file_writer_open(ctx, path, &opened));
    *writer = opened;
done:
    rbli_free(ctx, path);
    return status;
}

/// Notes a file of this node; two of one name are an error.
static rbl_status add_pending(rbl_context *ctx, rbl_call *call, const char *name, rbli_pending_file file)
{
    for (size_t i = 0; i < call->files->count; i++)
        if (strcmp(call->files->data[i].name, name) == 0)
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the file \"%s\" is written twice in this run", name);
    file.node = call->node_index;
    file.name = rbli_strdup(ctx, name);
    if (!file.name) return RBL_ERR_NO_MEMORY;
    rbl_status status = rbli_array_push(ctx, call->files, file);
    if (status != RBL_OK) rbli_free(ctx, file.name);
    return status;
}

rbl_status rbli_call_find_file(
    rbl_context *ctx, rbl_call *call, const char *name, rbli_hash hash, size_t bytes, bool *found)
{
    *found = false;
    if (file_name_fault(name)) return RBL_OK;
    char *path = rbli_format(ctx, "%s/%s", call->output_folder, name);
    if (!path) return RBL_ERR_NO_MEMORY;
    *found = rbli_file_has_content(ctx, path, bytes, hash);
    rbli_free(ctx, path);
    if (!*found) return RBL_OK;
    return add_pending(
        ctx, call, name, (rbli_pending_file){.hash = hash, .bytes = bytes, .is_unchanged = true});
}

rbl_status rbl_call_add_file(rbl_context *ctx, rbl_call *call, const char *name, void *writer)
{
    rbl_status status = RBL_OK;
    rbli_pending_file file = {.writer = writer};
    status = rbli_file_writer_finish(writer, &file.hash, &file.bytes);
    if (status != RBL_OK) RBL_TRY(rbli_file_writer_fail(ctx, writer));
    file.is_unchanged = rbli_file_has_content(ctx, rbli_file_writer_path(writer), file.bytes, file.hash);
    if (file.is_unchanged) file.writer = NULL;
    RBL_TRY(add_pending(ctx, call, name, file));
    if (file.is_unchanged) rbli_file_writer_discard(writer);
    return RBL_OK;
done:
    rbli_file_writer_discard(writer);
    return status;
}

void rbli_pending_files_cut(rbl_context *ctx, rbli_pending_files *files, size_t count)
{
    for (size_t i = count; i < files->count; i++) {
        rbli_file_writer_discard(files->data[i].writer);
        rbli_free(ctx, files->data[i].name);
    }
    files->count = count;
}

void rbli_pending_files_discard(rbl_context *ctx, rbli_pending_files *files)
{
    rbli_pending_files_cut(ctx, files, 0);
    rbli_free(ctx, files->data);
    *files = (rbli_pending_files){0};
}

rbl_status rbl_call_fail(
    rbl_context *ctx, rbl_call *call, const rbl_param *param, rbl_status status, const char *format, ...)
{
    char text[4000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* In a block of a parallel loop the place is left out: the call is shared. */
    if (ctx == call->ctx && ctx->messages && param) {
        rbli_message_place place = {rbli_messages_count(ctx->messages), param};
        if (rbli_array_push(ctx, &call->places, place) != RBL_OK) return RBL_ERR_NO_MEMORY;
    }
    return rbli_fail(ctx, status, "%s", text);
}
