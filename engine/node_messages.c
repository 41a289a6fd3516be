/// What a node says during an evaluation: its messages get places, and go to the run in the order of nodes.

#include "engine/evaluation.h"

#include <stdio.h>

rbl_messages *rbli_work_messages(rbli_evaluation *e, const rbli_node_work *w)
{
    if (rbli_messages_open(e->engine->allocator, &e->said[w->index]) != RBL_OK) return NULL;
    return e->said[w->index];
}

size_t rbli_work_error_count(const rbli_evaluation *e, const rbli_node_work *w)
{
    const rbl_messages *said = e->said[w->index];
    return said ? rbli_messages_error_count(said) : 0;
}

void rbli_evaluation_take_messages(rbli_evaluation *e, uint32_t index)
{
    if (!e->said[index]) return;
    rbli_messages_copy(e->run->messages, e->said[index]);
    rbl_messages_destroy(e->said[index]);
    e->said[index] = NULL;
}

void rbli_work_tell(rbli_evaluation *e, const rbli_node_work *w, const rbl_param *param,
    rbl_severity severity, rbl_status status, const char *hint, const char *text)
{
    const rbli_graph_node *node = w->node;
    char *id = e->prefix ? rbli_format(&e->engine->base, "%s%s", e->prefix, node->id) : NULL;
    rbli_place place = {.source = node->document->source,
        .offset = param && param->offset != RBLI_JSON_NONE ? param->offset : node->id_offset,
        .node = id ? id : node->id,
        .pointer = param ? rbl_param_pointer(param) : node->pointer};
    rbli_message_add(rbli_work_messages(e, w), severity, status, &place, hint, text);
    rbli_allocator_free(e->engine->allocator, id);
}

void rbli_work_tell_status(rbli_evaluation *e, const rbli_node_work *w, rbl_status status)
{
    const rbli_allocator *allocator = e->engine->allocator;
    char text[200];
    size_t asked, used, limit = rbli_allocator_limit(allocator);
    if (status == RBL_ERR_NO_MEMORY && limit && rbli_allocator_refusals(allocator)) {
        rbli_allocator_last_refusal(allocator, &asked, &used);
        snprintf(text, sizeof text,
            "the memory limit of %zu bytes is reached: %zu are in use, and %zu more were asked for", limit,
            used, asked);
        rbli_work_tell(e, w, NULL, RBL_ERROR, status, NULL, text);
    } else {
        rbli_work_tell(e, w, NULL, RBL_ERROR, status, NULL, rbl_status_text(status));
    }
}

rbl_severity rbli_public_severity(rbli_severity severity)
{
    return severity == RBLI_ERROR ? RBL_ERROR : severity == RBLI_WARNING ? RBL_WARNING : RBL_NOTE;
}

void rbli_work_hand_on_messages(
    rbli_evaluation *e, const rbli_node_work *w, const rbl_call *call, rbl_status status)
{
    const rbl_context *ctx = &w->ctx;
    bool told = false;
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++) {
        const rbli_message *message = rbli_messages_get(ctx->messages, i);
        const rbl_param *param = NULL;
        for (size_t k = 0; call && k < call->places.count; k++)
            if (call->places.data[k].message == i) param = call->places.data[k].param;
        rbli_work_tell(
            e, w, param, rbli_public_severity(message->severity), message->status, NULL, message->text);
        told |= message->severity == RBLI_ERROR;
    }
    if (status != RBL_OK && !told && status != RBL_ERR_CANCELLED) rbli_work_tell_status(e, w, status);
}

void rbli_work_replay_messages(rbli_evaluation *e, const rbli_node_work *w, const rbli_result *result)
{
    for (size_t i = 0; i < result->message_count; i++)
        rbli_work_tell(e, w, NULL, result->messages[i].severity, RBL_OK, NULL, result->messages[i].text);
}
