/// What a host's node types may do with collections (include/rubble/collection.h).

#include "rubble/collection.h"

#include <stdio.h>
#include <string.h>

#include "engine/call.h"
#include "fracture/collection/hierarchy.h"

rbl_status rbl_collection_create(rbl_context *ctx, rbl_collection **out)
{
    return rbli_collection_create(ctx, out);
}

rbl_status rbl_collection_create_asset(rbl_context *ctx, rbl_collection **out)
{
    return rbli_collection_create_empty_asset(ctx, out);
}

rbl_status rbl_collection_copy(rbl_context *ctx, const rbl_collection *collection, rbl_collection **out)
{
    if (!collection) return RBL_ERR_ARGUMENT;
    return rbli_collection_copy(ctx, collection, out);
}

rbl_collection *rbl_collection_retain(rbl_collection *collection)
{
    return rbli_collection_retain(collection);
}

void rbl_collection_release(rbl_collection *collection)
{
    rbli_collection_release(collection);
}

rbl_status rbl_collection_resize(
    rbl_context *ctx, rbl_collection *collection, const char *group, size_t count)
{
    return rbli_collection_resize(ctx, collection, group, count);
}

rbl_status rbl_collection_write(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, rbl_type type, void **data)
{
    if (!rbl_type_bytes(type))
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "attribute %s.%s: no such type", group, name);
    return rbli_collection_write(ctx, collection, group, name, type, data);
}

/// Puts a new buffer in, which is released.
static rbl_status set(rbl_context *ctx, rbl_collection *collection, const char *group, const char *name,
    rbl_status status, rbli_buffer *buffer)
{
    if (status == RBL_OK) status = rbli_collection_set(ctx, collection, group, name, buffer);
    rbli_buffer_release(buffer);
    return status;
}

rbl_status rbl_collection_write_strings(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, const char *const *strings)
{
    if (!rbli_collection_has_group(collection, group)) return RBL_ERR_NOT_FOUND;
    size_t count = rbli_collection_size(collection, group);
    for (size_t i = 0; i < count; i++)
        if (strings[i] && !rbli_text_is_valid(strings[i], strlen(strings[i])))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "%s.%s: string %zu is no valid UTF-8", group, name, i);
    rbli_buffer *buffer = NULL;
    rbl_status status = rbli_buffer_create_strings(ctx, count, strings, &buffer);
    return set(ctx, collection, group, name, status, buffer);
}

rbl_status rbl_collection_write_list(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *name, rbl_type type, const uint64_t *offsets, const void *values)
{
    if (!rbli_collection_has_group(collection, group)) return RBL_ERR_NOT_FOUND;
    size_t count = rbli_collection_size(collection, group);
    bool rising = offsets[0] == 0;
    for (size_t i = 0; i < count && rising; i++)
        rising = offsets[i] <= offsets[i + 1];
    if (!rising || !rbl_type_bytes(type))
        return rbli_fail(
            ctx, RBL_ERR_ARGUMENT, "%s.%s: the type or the offsets of the list are wrong", group, name);
    rbli_buffer *buffer = NULL;
    rbl_status status = rbli_buffer_create_list(ctx, type, count, offsets, values, &buffer);
    return set(ctx, collection, group, name, status, buffer);
}

void rbl_collection_remove_group(rbl_collection *collection, const char *group)
{
    rbli_collection_remove_group(collection, group);
}

void rbl_collection_remove_attribute(rbl_collection *collection, const char *group, const char *name)
{
    rbli_collection_remove(collection, group, name);
}

rbl_status rbl_collection_filter(
    rbl_context *ctx, rbl_collection *collection, const char *group, const bool *keep)
{
    return rbli_collection_filter(ctx, collection, group, keep, NULL);
}

rbl_status rbl_collection_add_bones(rbl_context *ctx, rbl_collection *collection, size_t count,
    const int32_t *parents, const char *const *names, bool rigid, int32_t *first)
{
    return rbli_hierarchy_add_bones(
        ctx, collection, count, parents, names, rigid ? RBLI_BONE_RIGID : RBLI_BONE_CLUSTER, first);
}

rbl_status rbl_collection_remove_bones(rbl_context *ctx, rbl_collection *collection, const bool *remove)
{
    return rbli_hierarchy_remove_bones(ctx, collection, remove);
}

rbl_status rbl_collection_world_transforms(
    rbl_context *ctx, const rbl_collection *collection, double (*out)[16])
{
    double(*transforms)[16] = NULL;
    rbl_status status = rbli_hierarchy_world_transforms(ctx, collection, &transforms);
    if (status != RBL_OK) return status;
    size_t count = rbli_collection_size(collection, "bone");
    if (count) memcpy(out, transforms, count * sizeof *out);
    rbli_free(ctx, transforms);
    return RBL_OK;
}

rbl_status rbl_collection_validate(
    rbl_context *ctx, const rbl_collection *collection, rbl_validate_level level)
{
    return rbli_collection_validate(ctx, collection, (rbli_validate_level)level);
}

/* ---- Inside a call ---- */

enum { LONGEST_MESSAGE = 4000 };

void rbl_call_warn(rbl_context *ctx, const char *format, ...)
{
    char text[LONGEST_MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbli_warn(ctx, "%s", text);
}

void rbl_call_note(rbl_context *ctx, const char *format, ...)
{
    char text[LONGEST_MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbli_note(ctx, "%s", text);
}

bool rbl_call_cancelled(const rbl_context *ctx)
{
    return rbli_cancelled(ctx);
}

void rbl_call_progress(rbl_context *ctx, double fraction)
{
    rbli_progress(ctx, fraction);
}

void rbl_call_write(void *writer, const void *bytes, size_t count)
{
    rbli_file_writer_write(writer, bytes, count);
}

void rbl_call_discard_file(void *writer)
{
    rbli_file_writer_discard(writer);
}
