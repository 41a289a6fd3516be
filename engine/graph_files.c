/// The files that a graph's results depend on.

#include <string.h>

#include "engine/engine.h"
#include "fracture/base/alloc.h"

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
