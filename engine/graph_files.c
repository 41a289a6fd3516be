/// The files that a graph's results depend on.

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/engine.h"
#include "fracture/base/alloc.h"

/// What a warning about a missing file needs.
typedef struct searcher {
    rbl_messages *messages;
    const rbli_graph_node *node;
} searcher;

static rbl_status look_for_param(void *user, const rbl_param *param)
{
    const searcher *s = user;
    struct stat info;
    if (stat(param->string, &info) == 0) return RBL_OK;
    bool placed = param->offset != RBLI_JSON_NONE;
    rbli_place place = {s->node->document->source, placed ? param->offset : s->node->id_offset, s->node->id,
        rbl_param_pointer(param)};
    rbli_message_addf(
        s->messages, RBL_WARNING, RBL_OK, &place, NULL, "%s: %s", param->string, strerror(errno));
    return RBL_OK;
}

rbl_status rbl_graph_look_for_files(const rbl_graph *graph, rbl_messages **messages)
{
    rbl_status status = rbli_messages_open(graph->engine->allocator, messages);
    if (status != RBL_OK) return status;
    uv_mutex_lock((uv_mutex_t *)&graph->mutex);
    size_t first = rbl_messages_count(*messages);
    for (const rbl_graph *g = graph; g; g = g == graph ? graph->bodies : g->next_body)
        for (size_t i = 0; i < g->node_count; i++) {
            searcher s = {*messages, &g->nodes[i]};
            if (g->nodes[i].params) rbli_params_each_path(g->nodes[i].params, look_for_param, &s);
        }
    rbli_messages_sort(*messages, first);
    uv_mutex_unlock((uv_mutex_t *)&graph->mutex);
    return RBL_OK;
}

typedef struct collector {
    rbl_context ctx;
    RBLI_ARRAY(char *) paths;
    size_t graph_count; /* of the first ones, which are graph files */
} collector;

static rbl_status add_path(collector *c, const char *path)
{
    char *copy = rbli_strdup(&c->ctx, path);
    if (copy && rbli_array_push(&c->ctx, &c->paths, copy) == RBL_OK) return RBL_OK;
    rbli_free(&c->ctx, copy);
    return RBL_ERR_NO_MEMORY;
}

static rbl_status add_param(void *user, const rbl_param *param)
{
    return add_path(user, param->string);
}

/// What the nodes of one graph name and read.
static rbl_status add_files(collector *c, const rbl_graph *graph)
{
    rbl_status status = RBL_OK;
    uv_mutex_lock((uv_mutex_t *)&graph->mutex);
    for (size_t i = 0; i < graph->node_count; i++) {
        RBL_TRY(rbli_params_each_path(graph->nodes[i].params, add_param, c));
        for (size_t k = 0; graph->history && k < graph->history[i].file_count; k++)
            RBL_TRY(add_path(c, graph->history[i].files[k].path));
    }
done:
    uv_mutex_unlock((uv_mutex_t *)&graph->mutex);
    return status;
}

rbl_status rbl_graph_each_file(
    const rbl_graph *graph, void (*fn)(void *user, const char *path, bool is_graph), void *user)
{
    collector c = {.ctx = graph->engine->base};
    rbl_status status = RBL_OK;
    for (const rbli_document *document = graph->documents; document; document = document->next)
        RBL_TRY(add_path(&c, rbli_source_name(document->source)));
    c.graph_count = c.paths.count;
    RBL_TRY(add_files(&c, graph));
    for (rbl_graph *body = graph->bodies; body && status == RBL_OK; body = body->next_body)
        status = add_files(&c, body);
done:
    /* Called without the lock: the host may ask the graph. */
    for (size_t i = 0; i < c.paths.count; i++) {
        if (status == RBL_OK) fn(user, c.paths.data[i], i < c.graph_count);
        rbli_free(&c.ctx, c.paths.data[i]);
    }
    rbli_free(&c.ctx, c.paths.data);
    return status;
}
