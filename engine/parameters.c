/// Parameters of nodes as an editor shows them (include/rubble/parameters.h).

#include "rubble/parameters.h"

#include <string.h>

#include "engine/engine.h"
#include "fracture/base/alloc.h"

struct rbl_parameters {
    rbli_allocator *allocator;
    RBLI_ARRAY(rbl_parameter) list; /* pointer, name and json are owned */
    rbli_params *params;            /* of the node, retained for the descriptors */
};

static rbl_status copy(rbl_context *ctx, const char *text, const char **out)
{
    *out = rbli_strdup(ctx, text);
    return *out ? RBL_OK : RBL_ERR_NO_MEMORY;
}

static void free_parameter(rbli_allocator *allocator, rbl_parameter *p)
{
    rbli_allocator_free(allocator, (void *)p->pointer);
    rbli_allocator_free(allocator, (void *)p->name);
    rbli_allocator_free(allocator, (void *)p->json);
}

static rbl_status value_json(rbl_context *ctx, const rbl_param *param, const char **out)
{
    if (param->absent || param->from >= 0) return copy(ctx, "", out);
    rbli_text text;
    char *taken = NULL;
    rbli_text_init(&text, ctx->allocator);
    rbli_param_json(param, &text);
    rbl_status status = rbli_text_take(&text, &taken);
    *out = taken;
    return status;
}

/// Adds a parameter, or the fields of an object. `pointer` and `name` are those of the parent.
static rbl_status add(rbl_context *ctx, rbl_parameters *list, const rbl_graph *graph, const char *pointer,
    const char *name, const rbl_param *param)
{
    rbl_status status = RBL_OK;
    const char *own = param->desc->name;
    rbl_parameter p = {.desc = param->desc, .variable = "", .connected = param->from >= 0};
    p.pointer = rbli_format(ctx, "%s/%s", pointer, own);
    p.name = rbli_format(ctx, "%s%s%s", name, *name ? "." : "", own);
    RBL_TRY_ALLOC(p.pointer);
    RBL_TRY_ALLOC(p.name);
    if (param->desc->type == RBL_PARAM_OBJECT && !param->desc->list) {
        for (size_t i = 0; i < param->count && status == RBL_OK; i++)
            status = add(ctx, list, graph, p.pointer, p.name, &param->items[i]);
        goto done;
    }
    RBL_TRY(value_json(ctx, param, &p.json));
    if (param->variable >= 0) p.variable = graph->variables[param->variable].name;
    RBL_TRY(rbli_array_push(ctx, &list->list, p));
    return RBL_OK;
done:
    free_parameter(ctx->allocator, &p);
    return status;
}

/// "/nodes/ID/params", the id escaped (RFC 6901): that of a node in a subgraph has a slash in it.
static rbl_status node_pointer(rbl_context *ctx, const char *id, char **out)
{
    rbli_text text;
    rbli_text_init(&text, ctx->allocator);
    rbli_text_puts(&text, "/nodes/");
    for (; *id; id++) {
        if (*id == '~' || *id == '/')
            rbli_text_puts(&text, *id == '~' ? "~0" : "~1");
        else
            rbli_text_add(&text, id, 1);
    }
    rbli_text_puts(&text, "/params");
    return rbli_text_take(&text, out);
}

rbl_status rbl_graph_parameters(const rbl_graph *graph, const char *node, rbl_parameters **out)
{
    size_t index = rbl_graph_find_node(graph, node);
    if (index == SIZE_MAX) return RBL_ERR_NOT_FOUND;
    rbl_context ctx = graph->engine->base;
    rbl_status status = RBL_OK;
    char *pointer = NULL;
    rbl_parameters *list = rbli_calloc(&ctx, 1, sizeof *list);
    if (!list) return RBL_ERR_NO_MEMORY;
    list->allocator = rbli_allocator_retain(ctx.allocator);
    uv_mutex_lock((uv_mutex_t *)&graph->mutex);
    list->params = rbli_params_retain(graph->nodes[index].params);
    uv_mutex_unlock((uv_mutex_t *)&graph->mutex);
    RBL_TRY(node_pointer(&ctx, node, &pointer));
    const rbl_param *root = rbli_params_root(list->params);
    for (size_t i = 0; i < root->count; i++)
        RBL_TRY(add(&ctx, list, graph, pointer, "", &root->items[i]));
    *out = list;
    list = NULL;
done:
    rbli_free(&ctx, pointer);
    rbl_parameters_destroy(list);
    return status;
}

size_t rbl_parameters_count(const rbl_parameters *parameters)
{
    return parameters->list.count;
}

const rbl_parameter *rbl_parameters_get(const rbl_parameters *parameters, size_t index)
{
    return index < parameters->list.count ? &parameters->list.data[index] : NULL;
}

void rbl_parameters_destroy(rbl_parameters *parameters)
{
    if (!parameters) return;
    rbli_allocator *allocator = parameters->allocator;
    for (size_t i = 0; i < parameters->list.count; i++)
        free_parameter(allocator, &parameters->list.data[i]);
    rbli_allocator_free(allocator, parameters->list.data);
    rbli_params_release(parameters->params);
    rbli_allocator_free(allocator, parameters);
    rbli_allocator_release(allocator);
}

const rbl_param_desc *rbl_graph_variable_desc(const rbl_graph *graph, size_t variable)
{
    return variable < graph->variable_count ? &graph->variables[variable].desc : NULL;
}
