/// What nodes themselves find wrong with their parameters before anything runs (rbl_node_desc.check), and
/// files that two nodes would write.

#include "engine/loader.h"

#include <string.h>
#include <strings.h>

#include "engine/call.h"

static void tell_at(rbli_loader *l, const rbli_graph_node *node, const rbl_param *param, const char *text)
{
    bool placed = param && param->offset != RBLI_JSON_NONE;
    rbli_place place = {node->document->source, placed ? param->offset : node->id_offset, node->id,
        param ? rbl_param_pointer(param) : node->pointer};
    rbli_message_add(l->messages, RBL_ERROR, RBL_ERR_GRAPH, &place, NULL, text);
    l->failed = true;
}

static void check_node(rbli_loader *l, const rbl_graph *graph, uint32_t index, rbli_told_files *files)
{
    const rbli_graph_node *node = &graph->nodes[index];
    if (!node->type || !node->type->desc->check || !node->params || node->faulty) return;
    rbl_context ctx = l->engine->base;
    ctx.messages = rbli_messages_create(l->allocator);
    if (!ctx.messages) {
        l->out_of_memory = true;
        return;
    }
    rbl_call call = {
        .ctx = &ctx, .node = node, .node_index = index, .params = node->params, .told_files = files};
    rbl_status status = node->type->desc->check(&ctx, &call);
    for (size_t i = 0; status != RBL_OK && i < rbli_messages_count(ctx.messages); i++) {
        const rbl_param *param = NULL;
        for (size_t k = 0; k < call.places.count; k++)
            if (call.places.data[k].message == i) param = call.places.data[k].param;
        tell_at(l, node, param, rbli_messages_get(ctx.messages, i)->text);
    }
    if (status == RBL_ERR_NO_MEMORY) l->out_of_memory = true;
    rbli_free(&ctx, call.places.data);
    rbli_messages_destroy(ctx.messages);
}

/// A name is told once: file systems that do not know capitals apart would write one file over another.
static void check_files(rbli_loader *l, const rbl_graph *graph, const rbli_told_files *files)
{
    for (size_t i = 1; i < files->count; i++) {
        const char *name = rbl_param_string(files->data[i].param);
        for (size_t k = 0; k < i; k++) {
            if (strcasecmp(rbl_param_string(files->data[k].param), name) != 0) continue;
            rbli_text text;
            rbli_text_init(&text, l->allocator);
            if (files->data[k].node == files->data[i].node)
                rbli_text_printf(&text, "the file \"%s\" is written twice", name);
            else
                rbli_text_printf(&text, "the file \"%s\" is written twice: by node \"%s\", too", name,
                    graph->nodes[files->data[k].node].id);
            tell_at(l, &graph->nodes[files->data[i].node], files->data[i].param,
                text.data ? text.data : "a file is written twice");
            rbli_text_free(&text);
            break;
        }
    }
}

void rbli_check_nodes(rbli_loader *l)
{
    rbli_told_files files = {0};
    for (uint32_t i = 0; i < l->root->node_count && !l->out_of_memory; i++)
        check_node(l, l->root, i, &files);
    check_files(l, l->root, &files);
    for (const rbl_graph *body = l->root->bodies; body && !l->out_of_memory; body = body->next_body)
        for (uint32_t i = 0; i < body->node_count && !l->out_of_memory; i++)
            check_node(l, body, i, &files);
    rbli_allocator_free(l->allocator, files.data);
}
