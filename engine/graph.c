/// Graphs after loading: questions and changes.

#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"

char *rbli_path_folder(rbli_allocator *allocator, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (slash == path) length = 1; /* "/" itself */
    char *folder = rbli_allocator_alloc(allocator, length + 1, 1);
    if (!folder) return NULL;
    memcpy(folder, path, length);
    folder[length] = '\0';
    return folder;
}

void rbli_history_clear(rbli_allocator *allocator, rbli_history *history)
{
    rbli_params_release(history->params);
    rbli_allocator_free(allocator, history->ref_hashes);
    rbli_allocator_free(allocator, history->output_hashes);
    for (size_t i = 0; i < history->file_count; i++)
        rbli_allocator_free(allocator, history->files[i].path);
    rbli_allocator_free(allocator, history->files);
    *history = (rbli_history){0};
}

rbl_graph *rbli_graph_retain(rbl_graph *graph)
{
    atomic_fetch_add(&graph->root->references, 1);
    return graph->root;
}

void rbl_graph_destroy(rbl_graph *graph)
{
    if (!graph || atomic_fetch_sub(&graph->references, 1) != 1) return;
    rbli_allocator *allocator = graph->engine->allocator;
    for (size_t i = 0; i < graph->node_count; i++) {
        rbli_params_release(graph->nodes[i].params);
        rbli_allocator_free(allocator, graph->nodes[i].input_start);
        rbli_allocator_free(allocator, graph->nodes[i].refs);
        if (graph->history) rbli_history_clear(allocator, &graph->history[i]);
    }
    for (size_t i = 0; i < graph->variable_count; i++) {
        rbli_params_release(graph->variables[i].value);
        rbli_allocator_free(allocator, graph->variables[i].name);
        rbli_allocator_free(allocator, graph->variables[i].json);
    }
    rbli_allocator_free(allocator, graph->nodes);
    rbli_allocator_free(allocator, graph->variables);
    rbli_allocator_free(allocator, graph->history);
    rbli_allocator_free(allocator, graph->order);
    rbli_name_table_free(&graph->ids);
    while (graph->bodies) {
        rbl_graph *body = graph->bodies;
        graph->bodies = body->next_body;
        rbl_graph_destroy(body);
    }
    while (graph->documents) {
        rbli_document *document = graph->documents;
        graph->documents = document->next;
        rbli_json_destroy(document->json);
        rbli_source_release(document->source);
        rbli_allocator_free(allocator, document->folder);
        rbli_allocator_free(allocator, document);
    }
    rbli_graph_forget_reads(graph);
    rbli_allocator_free(allocator, graph->reads.data);
    rbli_allocator_free(allocator, graph->aliases.data);
    rbli_arena_free(&graph->strings);
    uv_mutex_destroy(&graph->mutex);
    uv_mutex_destroy(&graph->evaluating);
    rbli_allocator_free(allocator, graph);
}

const char *rbl_graph_file(const rbl_graph *graph)
{
    return rbli_source_name(graph->source);
}

size_t rbl_graph_node_count(const rbl_graph *graph)
{
    return graph->node_count;
}

const char *rbl_graph_node_id(const rbl_graph *graph, size_t node)
{
    return node < graph->node_count ? graph->nodes[node].id : NULL;
}

const rbl_node_desc *rbl_graph_node_desc(const rbl_graph *graph, size_t node)
{
    return node < graph->node_count ? graph->nodes[node].type->desc : NULL;
}

size_t rbl_graph_find_node(const rbl_graph *graph, const char *id)
{
    return rbli_name_table_find(&graph->ids, id);
}

size_t rbl_graph_variable_count(const rbl_graph *graph)
{
    return graph->variable_count;
}

const char *rbl_graph_variable_name(const rbl_graph *graph, size_t variable)
{
    return variable < graph->variable_count ? graph->variables[variable].name : NULL;
}

const char *rbl_graph_variable_type(const rbl_graph *graph, size_t variable)
{
    return variable < graph->variable_count ? rbli_param_type_word(graph->variables[variable].desc.type)
                                            : NULL;
}

const char *rbl_graph_variable_json(const rbl_graph *graph, size_t variable)
{
    return variable < graph->variable_count ? graph->variables[variable].json : NULL;
}

void rbl_graph_inherit(rbl_graph *graph, rbl_graph *before)
{
    if (graph == before || graph->engine != before->engine) return;
    for (size_t i = 0; i < graph->node_count; i++) {
        const rbli_graph_node *node = &graph->nodes[i];
        size_t old = rbl_graph_find_node(before, node->id);
        if (old == SIZE_MAX || before->nodes[old].type != node->type) continue;
        if (before->nodes[old].ref_count != node->ref_count) continue;
        uv_mutex_lock(&before->mutex);
        rbli_history history = before->history[old];
        before->history[old] = (rbli_history){0};
        uv_mutex_unlock(&before->mutex);
        uv_mutex_lock(&graph->mutex);
        rbli_history_clear(graph->engine->allocator, &graph->history[i]);
        graph->history[i] = history;
        uv_mutex_unlock(&graph->mutex);
    }
}

/* ---- Changes ---- */

static rbl_status open_messages(rbl_graph *graph, rbl_messages **messages, rbl_messages **list)
{
    *list = NULL;
    if (!messages) return RBL_OK;
    rbl_status status = rbli_messages_open(graph->engine->allocator, messages);
    *list = *messages;
    return status;
}

/// Parses a text given by the host or the command line; messages say `name` for it.
static rbl_status parse_text(rbl_graph *graph, const char *name, const char *text, rbl_messages *messages,
    rbli_source **source, rbli_json **json)
{
    rbli_allocator *allocator = graph->engine->allocator;
    size_t bytes = strlen(text);
    char *copy = rbli_allocator_alloc(allocator, bytes + 1, 1);
    if (!copy) return RBL_ERR_NO_MEMORY;
    memcpy(copy, text, bytes + 1);
    rbl_status status = rbli_source_create(allocator, name, copy, bytes, source);
    if (status != RBL_OK) return status;
    rbl_messages *own = NULL; /* counts errors also when the caller wants none */
    status = rbli_messages_open(allocator, &own);
    if (status == RBL_OK) status = rbli_json_parse(allocator, *source, 0, own, json);
    if (status == RBL_OK && rbli_messages_error_count(own)) status = RBL_ERR_PARSE;
    rbli_messages_copy(messages, own);
    rbl_messages_destroy(own);
    return status == RBL_ERR_PARSE ? RBL_ERR_GRAPH : status;
}

static rbl_status value_json(rbl_graph *graph, const rbli_params *value, char **out)
{
    rbli_text text;
    rbli_text_init(&text, graph->engine->allocator);
    rbli_param_json(rbli_params_root(value), &text);
    return rbli_text_take(&text, out);
}

/// The parameters of every node that variable `index` reaches, with `variables` (a changed copy of the
/// graph's); NULL for the other nodes.
static rbl_status reach_nodes(
    rbl_graph *graph, rbli_variable *variables, size_t index, rbl_messages *messages, rbli_params **changed)
{
    bool failed = false;
    for (size_t i = 0; i < graph->node_count; i++) {
        rbli_graph_node *node = &graph->nodes[i];
        if (!rbli_params_use_variable(node->params, (int32_t)index)) continue;
        rbli_param_scope scope = {.allocator = graph->engine->allocator,
            .messages = messages,
            .source = node->document->source,
            .folder = node->document->folder,
            .node = node->id,
            .pointer = "",
            .node_offset = node->id_offset,
            .variables = variables,
            .variable_count = graph->variable_count};
        rbl_status status = rbli_params_with_variable(&scope, node->params, (int32_t)index, &changed[i]);
        if (status != RBL_OK) return status;
        failed |= scope.failed;
    }
    return failed ? RBL_ERR_GRAPH : RBL_OK;
}

static rbl_status apply_variable(rbl_graph *graph, size_t index, rbli_params *value, rbl_messages *messages)
{
    rbli_allocator *allocator = graph->engine->allocator;
    rbl_status status = RBL_OK;
    char *json = NULL;
    rbli_params **changed = rbli_allocator_calloc(allocator, graph->node_count, sizeof(rbli_params *));
    rbli_variable *variables = rbli_allocator_alloc(allocator, graph->variable_count, sizeof *variables);
    RBL_TRY_ALLOC(changed);
    RBL_TRY_ALLOC(variables);
    memcpy(variables, graph->variables, graph->variable_count * sizeof *variables);
    variables[index].value = value;
    RBL_TRY(value_json(graph, value, &json));
    RBL_TRY(reach_nodes(graph, variables, index, messages, changed));

    uv_mutex_lock(&graph->mutex);
    for (size_t i = 0; i < graph->node_count; i++) {
        if (!changed[i]) continue;
        rbli_params *old = graph->nodes[i].params;
        graph->nodes[i].params = changed[i];
        changed[i] = old;
    }
    rbli_variable *variable = &graph->variables[index];
    rbli_params_release(variable->value);
    rbli_allocator_free(allocator, variable->json);
    variable->value = rbli_params_retain(value);
    variable->json = json;
    json = NULL;
    uv_mutex_unlock(&graph->mutex);
done:
    for (size_t i = 0; changed && i < graph->node_count; i++)
        rbli_params_release(changed[i]);
    rbli_allocator_free(allocator, changed);
    rbli_allocator_free(allocator, variables);
    rbli_allocator_free(allocator, json);
    return status;
}

static size_t find_variable(rbl_graph *graph, const char *name, rbl_messages *messages)
{
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, name);
    for (size_t i = 0; i < graph->variable_count; i++) {
        if (strcmp(graph->variables[i].name, name) == 0) return i;
        rbli_nearest_feed(&nearest, graph->variables[i].name);
    }
    rbli_text hint;
    rbli_text_init(&hint, graph->engine->allocator);
    if (nearest.best) rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
    rbli_text_puts(&hint, graph->variable_count ? "variables: " : "this graph has no \"vars\"");
    for (size_t i = 0; i < graph->variable_count; i++)
        rbli_text_printf(&hint, "%s%s", i ? ", " : "", graph->variables[i].name);
    rbli_place place = {.source = graph->source, .offset = SIZE_MAX, .pointer = "/vars"};
    rbli_message_addf(
        messages, RBL_ERROR, RBL_ERR_NOT_FOUND, &place, hint.data, "unknown variable \"%s\"", name);
    rbli_text_free(&hint);
    return SIZE_MAX;
}

static rbl_status set_variable(rbl_graph *graph, size_t index, const char *json_text, rbl_messages *messages)
{
    rbli_variable *variable = &graph->variables[index];
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    rbli_params *value = NULL;
    char name[96], pointer[96];
    snprintf(name, sizeof name, "value of %s", variable->name);
    snprintf(pointer, sizeof pointer, "/vars/%s", variable->name);
    rbl_status status = RBL_OK;
    RBL_TRY(parse_text(graph, name, json_text, messages, &source, &json));
    rbli_param_scope scope = {.allocator = graph->engine->allocator,
        .messages = messages,
        .source = NULL,
        .folder = "",
        .pointer = pointer,
        .node_offset = SIZE_MAX};
    RBL_TRY(rbli_params_build_value(&scope, &variable->desc, json, 0, &value));
    if (scope.failed) RBL_TRY(RBL_ERR_GRAPH);
    RBL_TRY(apply_variable(graph, index, value, messages));
done:
    rbli_params_release(value);
    rbli_json_destroy(json);
    rbli_source_release(source);
    return status;
}

rbl_status rbl_graph_set_variable(
    rbl_graph *graph, const char *name, const char *json, rbl_messages **messages)
{
    rbl_messages *list;
    rbl_status status = open_messages(graph, messages, &list);
    if (status != RBL_OK) return status;
    size_t index = find_variable(graph, name, list);
    return index == SIZE_MAX ? RBL_ERR_NOT_FOUND : set_variable(graph, index, json, list);
}

/// Whether a text is a JSON value at all.
static bool is_json(rbl_graph *graph, const char *text)
{
    rbl_messages *unheard = NULL;
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    bool good = rbli_messages_open(graph->engine->allocator, &unheard) == RBL_OK &&
                parse_text(graph, "value", text, unheard, &source, &json) == RBL_OK;
    rbli_json_destroy(json);
    rbli_source_release(source);
    rbl_messages_destroy(unheard);
    return good;
}

rbl_status rbl_graph_set_variable_text(
    rbl_graph *graph, const char *name, const char *text, rbl_messages **messages)
{
    rbl_messages *list;
    rbl_status status = open_messages(graph, messages, &list);
    if (status != RBL_OK) return status;
    size_t index = find_variable(graph, name, list);
    if (index == SIZE_MAX) return RBL_ERR_NOT_FOUND;
    rbl_param_type type = graph->variables[index].desc.type;
    rbli_text json;
    rbli_text_init(&json, graph->engine->allocator);
    if (type == RBL_PARAM_STRING || type == RBL_PARAM_PATH || type == RBL_PARAM_ENUM)
        rbli_text_json_string(&json, text);
    else if ((type == RBL_PARAM_VEC3 || type == RBL_PARAM_INT3) && !strchr(text, '['))
        rbli_text_printf(&json, "[%s]", text);
    else
        rbli_text_puts(&json, text);
    char *taken = NULL;
    status = rbli_text_take(&json, &taken);
    if (status == RBL_OK && !is_json(graph, taken)) {
        char pointer[96];
        snprintf(pointer, sizeof pointer, "/vars/%s", name);
        rbli_place place = {.source = NULL, .offset = SIZE_MAX, .pointer = pointer};
        rbli_message_addf(list, RBL_ERROR, RBL_ERR_GRAPH, &place, NULL, "\"%s\" must be %s, not \"%s\"", name,
            rbli_param_type_words(type), text);
        status = RBL_ERR_GRAPH;
    }
    if (status == RBL_OK) status = set_variable(graph, index, taken, list);
    rbli_allocator_free(graph->engine->allocator, taken);
    return status;
}

/// Splits "/nodes/ID/params/REST" in the node's index and "/REST"; SIZE_MAX when it is not that. The
/// parameters of a node that is a graph are those of its node "inputs"; "~1" stands for the "/" of an id.
static size_t split_pointer(rbl_graph *graph, const char *pointer, const char **rest)
{
    const char *prefix = "/nodes/";
    if (strncmp(pointer, prefix, strlen(prefix)) != 0) return SIZE_MAX;
    pointer += strlen(prefix);
    size_t length = strcspn(pointer, "/");
    if (strncmp(pointer + length, "/params/", 8) != 0) return SIZE_MAX;
    *rest = pointer + length + 7;
    rbli_text id;
    rbli_text_init(&id, graph->engine->allocator);
    for (size_t i = 0; i < length; i++) {
        bool escaped = pointer[i] == '~' && (pointer[i + 1] == '0' || pointer[i + 1] == '1');
        char c = escaped ? (pointer[++i] == '0' ? '~' : '/') : pointer[i];
        rbli_text_add(&id, &c, 1);
    }
    size_t node = id.data ? rbl_graph_find_node(graph, id.data) : SIZE_MAX;
    if (node == SIZE_MAX) {
        rbli_text_puts(&id, "/inputs");
        if (!id.failed && id.data) node = rbl_graph_find_node(graph, id.data);
    }
    rbli_text_free(&id);
    return node;
}

rbl_status rbl_graph_set_parameter(
    rbl_graph *graph, const char *pointer, const char *json_text, rbl_messages **messages)
{
    rbl_messages *list;
    rbl_status status = open_messages(graph, messages, &list);
    if (status != RBL_OK) return status;
    const char *rest = "";
    size_t index = split_pointer(graph, pointer, &rest);
    if (index == SIZE_MAX) {
        rbli_place place = {.source = graph->source, .offset = SIZE_MAX, .pointer = pointer};
        rbli_message_add(list, RBL_ERROR, RBL_ERR_NOT_FOUND, &place, "write /nodes/ID/params/NAME",
            "this pointer names no parameter of a node");
        return RBL_ERR_NOT_FOUND;
    }
    rbli_graph_node *node = &graph->nodes[index];
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    rbli_params *changed = NULL;
    RBL_TRY(parse_text(graph, pointer, json_text, list, &source, &json));
    rbli_param_scope scope = {.allocator = graph->engine->allocator,
        .messages = list,
        .source = node->document->source,
        .folder = node->document->folder,
        .node = node->id,
        .pointer = "",
        .node_offset = node->id_offset,
        .variables = graph->variables,
        .variable_count = graph->variable_count};
    RBL_TRY(rbli_params_with_value(&scope, node->params, rest, json, 0, &changed));
    if (scope.failed) RBL_TRY(RBL_ERR_GRAPH);
    uv_mutex_lock(&graph->mutex);
    rbli_params *old = node->params;
    node->params = changed;
    changed = old;
    uv_mutex_unlock(&graph->mutex);
done:
    rbli_params_release(changed);
    rbli_json_destroy(json);
    rbli_source_release(source);
    return status;
}
