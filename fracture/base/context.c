/// Contexts and message lists.

#include "fracture/base/context.h"

#include <stdio.h>
#include <uv.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"

struct rbli_messages {
    rbli_allocator *allocator;
    uv_mutex_t mutex;
    rbli_message *data;
    size_t count, capacity;
};

const char *rbl_status_text(rbl_status status)
{
    switch (status) {
#define RBL_STATUS_CASE(name, number, text)                                                                  \
    case RBL_##name:                                                                                         \
        return text;
        RBL_STATUS_LIST(RBL_STATUS_CASE)
#undef RBL_STATUS_CASE
    }
    return "unknown status";
}

rbl_status rbli_context_create(int thread_count, rbl_context **out)
{
    rbli_allocator *allocator = rbli_allocator_create(NULL, NULL);
    if (!allocator) return RBL_ERR_NO_MEMORY;
    rbl_context *ctx = rbli_allocator_calloc(allocator, 1, sizeof *ctx);
    if (!ctx) {
        rbli_allocator_release(allocator);
        return RBL_ERR_NO_MEMORY;
    }
    rbl_status status = RBL_OK;
    ctx->allocator = allocator;
    ctx->messages = rbli_messages_create(allocator);
    RBL_TRY_ALLOC(ctx->messages);
    if (thread_count != 1) RBL_TRY(rbli_pool_create(allocator, thread_count, &ctx->pool));
    *out = ctx;
    ctx = NULL;
done:
    rbli_context_destroy(ctx);
    return status;
}

void rbli_context_destroy(rbl_context *ctx)
{
    if (!ctx) return;
    rbli_allocator *allocator = ctx->allocator;
    rbli_pool_destroy(ctx->pool);
    rbli_messages_destroy(ctx->messages);
    rbli_allocator_free(allocator, ctx);
    rbli_allocator_release(allocator);
}

rbli_messages *rbli_messages_create(rbli_allocator *allocator)
{
    rbli_messages *messages = rbli_allocator_calloc(allocator, 1, sizeof *messages);
    if (!messages) return NULL;
    if (uv_mutex_init(&messages->mutex) != 0) {
        rbli_allocator_free(allocator, messages);
        return NULL;
    }
    messages->allocator = rbli_allocator_retain(allocator);
    return messages;
}

void rbli_messages_clear(rbli_messages *messages)
{
    for (size_t i = 0; i < messages->count; i++)
        rbli_allocator_free(messages->allocator, messages->data[i].text);
    messages->count = 0;
}

void rbli_messages_destroy(rbli_messages *messages)
{
    if (!messages) return;
    rbli_allocator *allocator = messages->allocator;
    rbli_messages_clear(messages);
    uv_mutex_destroy(&messages->mutex);
    rbli_allocator_free(allocator, messages->data);
    rbli_allocator_free(allocator, messages);
    rbli_allocator_release(allocator);
}

size_t rbli_messages_count(const rbli_messages *messages)
{
    return messages->count;
}

const rbli_message *rbli_messages_get(const rbli_messages *messages, size_t index)
{
    return &messages->data[index];
}

/// Without memory for a message the message is lost; the status of the call still says what happened.
void rbli_messages_append(
    rbli_messages *messages, rbli_severity severity, rbl_status status, const char *text)
{
    uv_mutex_lock(&messages->mutex);
    size_t length = strlen(text);
    char *copy = rbli_allocator_alloc(messages->allocator, length + 1, 1);
    if (copy && messages->count == messages->capacity) {
        size_t capacity = messages->capacity ? messages->capacity * 2 : 8;
        rbli_message *data =
            rbli_allocator_realloc(messages->allocator, messages->data, capacity, sizeof *data);
        if (data) {
            messages->data = data;
            messages->capacity = capacity;
        }
    }
    if (copy && messages->count < messages->capacity) {
        memcpy(copy, text, length + 1);
        messages->data[messages->count++] = (rbli_message){severity, status, copy};
    } else {
        rbli_allocator_free(messages->allocator, copy);
    }
    uv_mutex_unlock(&messages->mutex);
}

RBL_PRINTF(4, 0)
static void append_formatted(
    rbl_context *ctx, rbli_severity severity, rbl_status status, const char *format, va_list arguments)
{
    if (!ctx->messages) return;
    char text[4000];
    vsnprintf(text, sizeof text, format, arguments);
    rbli_messages_append(ctx->messages, severity, status, text);
}

rbl_status rbli_fail(rbl_context *ctx, rbl_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append_formatted(ctx, RBLI_ERROR, status, format, arguments);
    va_end(arguments);
    return status;
}

void rbli_warn(rbl_context *ctx, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append_formatted(ctx, RBLI_WARNING, RBL_OK, format, arguments);
    va_end(arguments);
}

void rbli_note(rbl_context *ctx, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append_formatted(ctx, RBLI_NOTE, RBL_OK, format, arguments);
    va_end(arguments);
}
