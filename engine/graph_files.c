/// The files that a graph's results depend on.

#include <string.h>

#include "engine/engine.h"
#include "fracture/base/alloc.h"

typedef struct collector {
    rbl_context ctx;
    RBLI_ARRAY(char *) paths;
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

rbl_status rbl_graph_each_file(const rbl_graph *graph, void (*fn)(void *user, const char *path), void *user)
{
    collector c = {.ctx = graph->engine->base};
    rbl_status status = RBL_OK;
    uv_mutex_lock((uv_mutex_t *)&graph->mutex);
    RBL_TRY(add_path(&c, rbli_source_name(graph->source)));
    for (size_t i = 0; i < graph->node_count; i++) {
        RBL_TRY(rbli_params_each_path(graph->nodes[i].params, add_param, &c));
        for (size_t k = 0; k < graph->history[i].file_count; k++)
            RBL_TRY(add_path(&c, graph->history[i].files[k].path));
    }
done:
    uv_mutex_unlock((uv_mutex_t *)&graph->mutex);
    /* Called without the lock: the host may ask the graph. */
    for (size_t i = 0; i < c.paths.count; i++) {
        if (status == RBL_OK) fn(user, c.paths.data[i]);
        rbli_free(&c.ctx, c.paths.data[i]);
    }
    rbli_free(&c.ctx, c.paths.data);
    return status;
}
