/// Graphs within graphs: what "graph:name" means, what goes in and what comes out.

#include "engine/loader.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "engine/call.h"

/* ---- The node "inputs" ---- */

static rbl_value_kind kind_of_param(rbl_param_type type)
{
    switch (type) {
    case RBL_PARAM_BOOL:
        return RBL_VALUE_BOOL;
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
        return RBL_VALUE_INT;
    case RBL_PARAM_FLOAT:
        return RBL_VALUE_FLOAT;
    case RBL_PARAM_VEC3:
    case RBL_PARAM_INT3:
        return RBL_VALUE_VEC3;
    default:
        return RBL_VALUE_STRING;
    }
}

/// A path flows as a text that means the same file in every folder.
static rbl_status path_value(rbl_context *ctx, const char *path, rbl_value **out)
{
    char folder[4096];
    if (*path == '/' || !*path || !getcwd(folder, sizeof folder))
        return rbl_value_create_string(ctx, path, out);
    char *whole = rbli_format(ctx, "%s/%s", folder, path);
    rbl_status status = whole ? rbl_value_create_string(ctx, whole, out) : RBL_ERR_NO_MEMORY;
    rbli_free(ctx, whole);
    return status;
}

rbl_status rbli_param_value(rbl_context *ctx, const rbl_param *param, rbl_value **out)
{
    double vector[3];
    int64_t integers[3];
    switch (param->desc->type) {
    case RBL_PARAM_BOOL:
        return rbl_value_create_number(ctx, RBL_VALUE_BOOL, rbl_param_bool(param), out);
    case RBL_PARAM_INT:
    case RBL_PARAM_SEED:
        return rbl_value_create_number(ctx, RBL_VALUE_INT, (double)rbl_param_int(param), out);
    case RBL_PARAM_FLOAT:
        return rbl_value_create_number(ctx, RBL_VALUE_FLOAT, rbl_param_float(param), out);
    case RBL_PARAM_VEC3:
        rbl_param_vec3(param, vector);
        return rbl_value_create_vec3(ctx, vector, out);
    case RBL_PARAM_INT3:
        rbl_param_int3(param, integers);
        for (size_t k = 0; k < 3; k++)
            vector[k] = (double)integers[k];
        return rbl_value_create_vec3(ctx, vector, out);
    case RBL_PARAM_PATH:
        return path_value(ctx, rbl_param_string(param), out);
    default:
        return rbl_value_create_string(ctx, rbl_param_string(param), out);
    }
}

/// True when a connection gives the parameter, or a part of it.
static bool is_open(const rbl_param *param)
{
    bool open = param->from >= 0;
    for (size_t i = 0; i < param->count && !open; i++)
        open = is_open(&param->items[i]);
    return open;
}

/// True for an input that comes from a connection that nobody asks for.
static bool is_skipped(const rbl_call *call, const char *name)
{
    const rbli_graph_node *node = call->node;
    size_t port = rbli_find_port(node->type->desc->inputs, name);
    if (port != SIZE_MAX) return node->input_start[port + 1] > node->input_start[port];
    const rbl_param *root = rbli_params_root(call->params);
    for (size_t i = 0; i < root->count; i++)
        if (strcmp(root->items[i].desc->name, name) == 0)
            return root->items[i].absent && is_open(&root->items[i]);
    return false;
}

/// Hands on what comes in: what ForEach gives, the connections as they are, the parameters as values.
static rbl_status pass_inputs(rbl_context *ctx, rbl_call *call)
{
    const rbl_node_desc *desc = call->node->type->desc;
    for (size_t i = 0; desc->outputs[i].name; i++) {
        const char *name = desc->outputs[i].name;
        rbl_value *value = call->given && call->given[i] ? rbl_value_retain(call->given[i]) : NULL;
        const rbl_value *connected = rbl_call_input(call, name, 0);
        const rbl_param *param = rbl_call_param(call, name);
        rbl_status status = RBL_OK;
        if (!value && connected)
            value = rbl_value_retain((rbl_value *)connected);
        else if (!value && param)
            status = rbli_param_value(ctx, param, &value);
        else if (!value && !is_skipped(call, name))
            status = rbli_fail(ctx, RBL_ERR_GRAPH, "input \"%s\" of %s has no value", name, desc->type);
        if (status != RBL_OK) return status;
        rbl_call_set_output(call, name, value);
    }
    return RBL_OK;
}

static const char input_types[] =
    "collection, points, box, selection, int, float, bool, string, path, seed, enum, vec3, int3";

/// The kind of a connection that a word names, 0 for another word.
static rbl_value_kind port_kind(const char *word)
{
    for (int kind = RBL_VALUE_COLLECTION; kind <= RBL_VALUE_SELECTION; kind++)
        if (strcmp(rbli_value_kind_word((rbl_value_kind)kind), word) == 0) return (rbl_value_kind)kind;
    return 0;
}

/// "type" of an input; NULL when it is none (reported).
static const char *input_type(rbli_loader *l, uint32_t input)
{
    static const char *const words[] = {"collection", "points", "box", "selection", "int", "float", "bool",
        "string", "path", "seed", "enum", "vec3", "int3", NULL};
    if (rbli_loader_at(l, input)->type != RBLI_JSON_OBJECT) {
        rbli_loader_tell_type(l, input, NULL, "an input", "an object like {\"type\": \"collection\"}");
        return NULL;
    }
    uint32_t type = rbli_loader_member(l, l->json, input, "type", rbli_declaration_keys);
    if (type == RBLI_JSON_NONE) {
        rbli_loader_tell(l, RBL_ERROR, input, rbli_loader_at(l, input)->offset, NULL, NULL,
            "input \"%s\" has no \"type\"", rbli_loader_at(l, input)->key);
        return NULL;
    }
    const char *word = rbli_loader_at(l, type)->string;
    if (rbli_loader_at(l, type)->type != RBLI_JSON_STRING) {
        rbli_loader_tell_type(l, type, NULL, "\"type\"", "a string");
        return NULL;
    }
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, word);
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) return word;
        rbli_nearest_feed(&nearest, words[i]);
    }
    char hint[200];
    const char *best = rbli_other_type_word(word);
    if (!best) best = nearest.best;
    snprintf(hint, sizeof hint, "%s%s%sallowed: %s", best ? "did you mean \"" : "", best ? best : "",
        best ? "\"?\n" : "", input_types);
    rbli_loader_tell(l, RBL_ERROR, type, rbli_loader_at(l, type)->offset, NULL, hint,
        "unknown type \"%s\" of an input", word);
    return NULL;
}

/// Text of a JSON value, as long as the root lives.
static const char *value_text(rbli_loader *l, uint32_t value)
{
    size_t bytes = rbli_loader_at(l, value)->end - rbli_loader_at(l, value)->offset;
    char *text = rbli_loader_alloc(l, bytes + 1);
    if (!text) return NULL;
    memcpy(text, rbli_source_text(l->document->source) + rbli_loader_at(l, value)->offset, bytes);
    text[bytes] = '\0';
    return text;
}

/// A path as JSON text that means the same file in every folder.
static const char *path_text(rbli_loader *l, const char *path)
{
    char folder[4096] = "";
    rbli_text whole, json;
    rbli_text_init(&whole, l->allocator);
    rbli_text_init(&json, l->allocator);
    if (*path && *path != '/' && getcwd(folder, sizeof folder)) rbli_text_printf(&whole, "%s/", folder);
    rbli_text_puts(&whole, path);
    if (!whole.failed) rbli_text_json_string(&json, whole.data ? whole.data : "");
    const char *text = whole.failed || json.failed ? NULL : rbli_loader_join(l, "", json.data);
    l->out_of_memory |= !text;
    rbli_text_free(&whole);
    rbli_text_free(&json);
    return text;
}

static void read_value_input(rbli_loader *l, uint32_t input, bool optional, rbl_param_desc *desc)
{
    rbli_loader_check_keys(l, input, NULL, rbli_declaration_keys);
    rbli_variable variable = {.name = (char *)rbli_loader_at(l, input)->key};
    variable.desc.name = variable.name;
    bool failed = l->failed;
    l->failed = false;
    rbli_load_declaration(l, input, &variable);
    bool has_value = variable.value && !l->failed;
    l->failed |= failed;
    *desc = variable.desc;
    uint32_t value = rbli_loader_member(l, l->json, input, "default", rbli_declaration_keys);
    if (has_value && desc->type == RBL_PARAM_PATH)
        desc->default_json = path_text(l, rbl_param_string(rbli_params_root(variable.value)));
    else if (has_value)
        desc->default_json = value_text(l, value);
    rbli_params_release(variable.value);
    desc->optional = !desc->default_json && (optional || value != RBLI_JSON_NONE);
    if (!desc->type) desc->type = RBL_PARAM_STRING, desc->optional = true; /* reported */
}

/// The ports and parameters of "inputs", a member of the graph `object`.
static void read_inputs(rbli_loader *l, uint32_t object, bool optional, rbl_port_desc *ports,
    rbl_param_desc *params, rbl_port_desc *outputs, bool *vague)
{
    uint32_t inputs = rbli_loader_member(l, l->json, object, "inputs", rbli_subgraph_keys);
    if (inputs == RBLI_JSON_NONE) return;
    for (uint32_t i = rbli_loader_at(l, inputs)->first_child; i != RBLI_JSON_NONE;
         i = rbli_loader_at(l, i)->next) {
        static const char *const port_keys[] = {"type", "text", NULL};
        const char *name = rbli_loader_at(l, i)->key;
        if (rbli_json_member(l->json, inputs, name) != i) continue; /* given twice: reported */
        if (!rbli_is_identifier(name))
            rbli_loader_tell(l, RBL_ERROR, i, rbli_loader_at(l, i)->key_offset, NULL,
                "names: letters, digits and _, not beginning with a digit, at most 64",
                "\"%s\" cannot name an input", name);
        const char *type = input_type(l, i);
        rbl_value_kind kind = type ? port_kind(type) : RBL_VALUE_STRING;
        uint32_t text = type ? rbli_json_member(l->json, i, "text") : RBLI_JSON_NONE;
        const char *words = text != RBLI_JSON_NONE && rbli_loader_at(l, text)->type == RBLI_JSON_STRING
                                ? rbli_loader_at(l, text)->string
                                : "";
        if (!type) {
            l->failed = true;
            kind = 0;
            *ports++ = (rbl_port_desc){.name = name, .optional = true, .text = words};
            *vague = true;
        } else if (kind) {
            rbli_loader_check_keys(l, i, NULL, port_keys);
            *ports++ = (rbl_port_desc){.name = name, .kind = kind, .text = words};
        } else {
            read_value_input(l, i, optional, params);
            params->text = words;
            kind = kind_of_param(params->type);
            params++;
        }
        *outputs++ = (rbl_port_desc){.name = name, .kind = kind, .text = words};
    }
}

/// The type of the node "inputs" of a graph. `optional`: values may be missing (a graph that ForEach runs).
static rbli_node_type *inputs_type(rbli_loader *l, uint32_t object, const char *name, bool optional)
{
    uint32_t inputs = rbli_loader_member(l, l->json, object, "inputs", rbli_subgraph_keys);
    if (inputs != RBLI_JSON_NONE && rbli_loader_at(l, inputs)->type != RBLI_JSON_OBJECT) {
        rbli_loader_tell_type(l, inputs, NULL, "\"inputs\"", "an object");
        return NULL;
    }
    size_t most = (inputs == RBLI_JSON_NONE ? 0 : rbli_loader_at(l, inputs)->child_count) + 1;
    rbli_arena *arena = &l->root->strings;
    rbl_port_desc *ports = rbli_arena_alloc(arena, most, sizeof *ports);
    rbl_port_desc *outputs = rbli_arena_alloc(arena, most, sizeof *outputs);
    rbl_param_desc *params = rbli_arena_alloc(arena, most, sizeof *params);
    rbl_node_desc *desc = rbli_arena_alloc(arena, 1, sizeof *desc);
    rbli_node_type *type = rbli_arena_alloc(arena, 1, sizeof *type);
    const char *title = rbli_loader_join(l, "graph:", name);
    if (!ports || !outputs || !params || !desc || !type || !title) {
        l->out_of_memory = true;
        return NULL;
    }
    memset(ports, 0, most * sizeof *ports);
    memset(outputs, 0, most * sizeof *outputs);
    memset(params, 0, most * sizeof *params);
    bool vague = false;
    read_inputs(l, object, optional, ports, params, outputs, &vague);
    *desc = (rbl_node_desc){.size = sizeof *desc,
        .type = title,
        .version = 1,
        .revision = 1,
        .family = "graphs",
        .text = "what goes into a graph within the graph",
        .inputs = ports,
        .outputs = outputs,
        .params = params,
        .evaluate = pass_inputs,
        .flags = RBLI_NODE_PASSES | (vague ? (unsigned)RBLI_NODE_VAGUE : 0)};
    *type = (rbli_node_type){
        .desc = desc, .input_count = rbli_count_ports(ports), .output_count = rbli_count_ports(outputs)};
    return type;
}

/* ---- Which graph ---- */

typedef struct graph_name {
    rbli_document *document;
    uint32_t object; /* of the graph */
    const char *name;
} graph_name;

bool rbli_nearest_graph(const rbli_loader *l, const char *name, char *hint, size_t bytes)
{
    const char *colon = strchr(name, ':');
    if (colon) name = colon + 1;
    uint32_t graphs = rbli_loader_member(l, l->json, 0, "graphs", rbli_document_keys);
    if (graphs == RBLI_JSON_NONE || rbli_loader_at(l, graphs)->type != RBLI_JSON_OBJECT) return false;
    for (uint32_t g = rbli_loader_at(l, graphs)->first_child; g != RBLI_JSON_NONE;
         g = rbli_loader_at(l, g)->next)
        if (strcasecmp(rbli_loader_at(l, g)->key, name) == 0) {
            snprintf(hint, bytes, "graph:%.100s", rbli_loader_at(l, g)->key);
            return true;
        }
    return false;
}

static void tell_unknown_graph(
    rbli_loader *l, uint32_t value, const char *node, const rbli_document *document, const char *name)
{
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, name);
    const rbli_json *json = document->json;
    uint32_t graphs = rbli_loader_member(l, json, 0, "graphs", rbli_document_keys);
    bool any = graphs != RBLI_JSON_NONE && json->values[graphs].type == RBLI_JSON_OBJECT &&
               json->values[graphs].child_count > 0;
    rbli_text list;
    rbli_text_init(&list, l->allocator);
    for (uint32_t g = any ? json->values[graphs].first_child : RBLI_JSON_NONE; g != RBLI_JSON_NONE;
         g = json->values[g].next) {
        rbli_nearest_feed(&nearest, json->values[g].key);
        rbli_text_printf(&list, "%s%s", list.length ? ", " : "", json->values[g].key);
    }
    bool prefixed = strncmp(name, "graph:", 6) == 0, file = strstr(name, ".json") != NULL;
    if (prefixed)
        rbli_text_printf(&hint, "write \"%s\"\n", name + strlen("graph:"));
    else if (file)
        rbli_text_printf(&hint, "a graph of another file is written \"%s#NAME\"\n", name);
    else if (nearest.best)
        rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
    if (any)
        rbli_text_printf(&hint, "graphs: %s", list.data ? list.data : "");
    else
        rbli_text_puts(&hint, "the file has no \"graphs\"");
    rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, hint.data,
        document == l->document ? "there is no graph \"%s\"" : "there is no graph \"%s\" in %s", name,
        rbli_source_name(document->source));
    rbli_text_free(&list);
    rbli_text_free(&hint);
}

/// Reports a graph that would run itself, with the chain of graphs.
static void tell_recursion(rbli_loader *l, uint32_t value, const char *node, const rbli_frame *frame,
    const rbli_frame *first, const char *name)
{
    const char *names[RBLI_DEEPEST_GRAPH + 2];
    size_t count = 0;
    for (const rbli_frame *f = frame; f; f = f == first ? NULL : f->parent)
        names[count++] = f->name ? f->name : "the file";
    rbli_text text;
    rbli_text_init(&text, l->allocator);
    rbli_text_puts(&text, "a graph cannot contain itself: ");
    while (count-- > 0)
        rbli_text_printf(&text, "%s → ", names[count]);
    rbli_text_puts(&text, name);
    rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, NULL, "%s",
        text.data ? text.data : "a graph cannot contain itself");
    rbli_text_free(&text);
}

/// The graph that `text` ("name" or "file.json#name") at the JSON value `value` names, for a node in `frame`.
static bool find_graph(
    rbli_loader *l, rbli_frame *frame, uint32_t value, const char *node, const char *text, graph_name *out)
{
    const char *hash = strrchr(text, '#');
    *out = (graph_name){.document = l->document, .name = hash ? hash + 1 : text};
    if (hash) {
        char file[4096];
        size_t length = (size_t)(hash - text);
        if (length == 0 || length >= sizeof file) {
            rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, NULL,
                "write a graph of this file as \"name\", of another as \"file.json#name\"");
            return false;
        }
        memcpy(file, text, length);
        file[length] = '\0';
        out->document = rbli_load_document(l, value, node, file);
        if (!out->document) return l->failed = true, false;
    }
    const rbli_json *json = out->document->json;
    if (json->values[0].type != RBLI_JSON_OBJECT) {
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, NULL,
            "%s holds no graphs", rbli_source_name(out->document->source));
        return false;
    }
    uint32_t graphs = rbli_loader_member(l, json, 0, "graphs", rbli_document_keys);
    out->object = graphs == RBLI_JSON_NONE || json->values[graphs].type != RBLI_JSON_OBJECT
                      ? RBLI_JSON_NONE
                      : rbli_json_member(json, graphs, out->name);
    if (out->object == RBLI_JSON_NONE) {
        l->failed = true;
        if (json->partial) return false; /* it may be in the rest */
        tell_unknown_graph(l, value, node, out->document, out->name);
        return false;
    }
    out->document->json->values[out->object].boolean = true; /* it is used */
    if (json->values[out->object].type != RBLI_JSON_OBJECT) {
        l->failed = true; /* reported with "graphs" */
        if (out->document != l->root->documents)
            rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, NULL,
                "\"%s\" in %s is not an object", out->name, rbli_source_name(out->document->source));
        return false;
    }
    for (const rbli_frame *f = frame; f; f = f->parent)
        if (f->name && f->document == out->document && f->object == out->object) {
            tell_recursion(l, value, node, frame, f, out->name);
            return false;
        }
    if (frame->depth >= RBLI_DEEPEST_GRAPH) {
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, NULL,
            "graphs within graphs deeper than %d", RBLI_DEEPEST_GRAPH);
        return false;
    }
    return true;
}

static void check_graph_keys(rbli_loader *l, uint32_t object)
{
    rbli_loader_check_keys(l, object, NULL, rbli_subgraph_keys);
}

void rbli_load_graph_node(rbli_loader *l, rbli_frame *frame, size_t index, uint32_t type)
{
    rbli_frame_node *local = &frame->nodes[index];
    const char *id = rbli_loader_join(l, frame->prefix, local->id);
    const char *prefix = id ? rbli_loader_join(l, id, "/") : NULL;
    const char *inputs = prefix ? rbli_loader_join(l, prefix, "inputs") : NULL;
    if (!inputs) return;
    graph_name graph;
    if (!find_graph(l, frame, type, id, rbli_loader_at(l, type)->string + strlen("graph:"), &graph)) return;
    rbli_graph_node *node = rbli_loader_add_node(l, inputs, local->value);
    if (!node) return;
    local->node = (uint32_t)(l->graph->node_count - 1);
    rbli_document *before = l->document;
    rbli_loader_enter(l, graph.document);
    check_graph_keys(l, graph.object);
    node->type = inputs_type(l, graph.object, graph.name, false);
    rbli_loader_enter(l, before);
    if (l->out_of_memory) return;
    local->inside = rbli_load_frame(l, frame, graph.document, graph.object, graph.name, prefix, local->node);
}

/* ---- What comes out ---- */

static void tell_unknown_output(
    rbli_loader *l, const rbli_place *place, const rbli_frame *frame, uint32_t outputs, const char *name)
{
    const rbli_json *json = frame->document->json;
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, name);
    rbli_text hint, list;
    rbli_text_init(&hint, l->allocator);
    rbli_text_init(&list, l->allocator);
    for (uint32_t o = json->values[outputs].first_child; o != RBLI_JSON_NONE; o = json->values[o].next) {
        rbli_nearest_feed(&nearest, json->values[o].key);
        rbli_text_printf(&list, "%s%s", list.length ? ", " : "", json->values[o].key);
    }
    if (nearest.best) rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
    rbli_text_printf(&hint, "outputs of graph:%s: %s", frame->name, list.data ? list.data : "none");
    rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, place, hint.data,
        "graph:%s has no output \"%s\"", frame->name, name);
    rbli_text_free(&list);
    rbli_text_free(&hint);
}

bool rbli_find_graph_output(rbli_loader *l, rbli_frame *frame, const rbli_place *place, const char *id,
    const char *name, rbli_port_ref *ref, rbl_value_kind *kind)
{
    const rbli_json *json = frame->document->json;
    uint32_t outputs = rbli_loader_member(l, json, frame->object, "outputs", rbli_subgraph_keys);
    l->failed |= outputs == RBLI_JSON_NONE; /* what is wrong with "outputs" is reported there */
    if (outputs == RBLI_JSON_NONE || json->values[outputs].type != RBLI_JSON_OBJECT) return false;
    uint32_t output = name ? rbli_json_member(json, outputs, name) : json->values[outputs].first_child;
    if (output == RBLI_JSON_NONE) {
        if (place && name)
            tell_unknown_output(l, place, frame, outputs, name);
        else if (place)
            rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, place, NULL,
                "node \"%s\" (graph:%s) has no output", id, frame->name);
        l->failed = true;
        return false;
    }
    if (json->values[output].type != RBLI_JSON_STRING ||
        !rbli_find_output(l, frame, NULL, json->values[output].string, ref, kind)) {
        l->failed = true;
        return false;
    }
    if (place) ref->offset = (uint32_t)place->offset;
    return true;
}

/// Notes "wall.collection" for what asks the run.
static void add_alias(rbli_loader *l, const rbli_frame *frame, const char *output, rbli_port_ref ref)
{
    size_t length = strlen(frame->prefix) + strlen(output) + 1;
    char *name = rbli_loader_alloc(l, length);
    if (!name) return;
    snprintf(name, length, "%.*s.%s", (int)strlen(frame->prefix) - 1, frame->prefix, output);
    rbli_alias alias = {name, ref};
    if (rbli_array_push(&l->engine->base, &l->root->aliases, alias) != RBL_OK) l->out_of_memory = true;
}

void rbli_check_outputs(rbli_loader *l, rbli_frame *frame)
{
    uint32_t outputs = rbli_loader_member(l, l->json, frame->object, "outputs", rbli_subgraph_keys);
    if (outputs == RBLI_JSON_NONE) {
        if (l->partial) return;
        rbli_loader_tell(l, RBL_ERROR, frame->object, rbli_loader_at(l, frame->object)->offset, NULL, NULL,
            "graph \"%s\" has no \"outputs\"", frame->name);
        return;
    }
    if (rbli_loader_at(l, outputs)->type != RBLI_JSON_OBJECT) {
        rbli_loader_tell_type(
            l, outputs, NULL, "\"outputs\"", "an object like {\"collection\": \"node.port\"}");
        return;
    }
    for (uint32_t o = rbli_loader_at(l, outputs)->first_child; o != RBLI_JSON_NONE;
         o = rbli_loader_at(l, o)->next) {
        if (rbli_loader_at(l, o)->type != RBLI_JSON_STRING) {
            rbli_loader_tell_type(l, o, NULL, "an output", "a string like \"node\" or \"node.port\"");
            continue;
        }
        rbli_text pointer;
        rbli_text_init(&pointer, l->allocator);
        rbli_json_pointer(l->json, o, &pointer);
        rbli_place place = {l->document->source, rbli_loader_at(l, o)->offset, NULL, pointer.data};
        rbli_port_ref ref;
        rbl_value_kind kind;
        bool found = rbli_find_output(l, frame, &place, rbli_loader_at(l, o)->string, &ref, &kind);
        rbli_text_free(&pointer);
        l->failed |= !found;
        if (found && frame->graph == l->root) add_alias(l, frame, rbli_loader_at(l, o)->key, ref);
    }
}

/* ---- Graphs that ForEach runs ---- */

/// The flat nodes of a graph that is run on its own.
static void read_body(rbli_loader *l, const graph_name *name, rbl_graph *body)
{
    check_graph_keys(l, name->object);
    rbli_graph_node *node = rbli_loader_add_node(l, "inputs", name->object);
    if (!node) return;
    node->type = inputs_type(l, name->object, name->name, true);
    if (!node->type || l->out_of_memory) return;
    body->inputs = 0;
    rbli_param_scope scope = {.allocator = l->allocator,
        .messages = l->messages,
        .source = l->document->source,
        .folder = l->document->folder,
        .pointer = node->pointer,
        .node_offset = node->id_offset};
    node->input_start =
        rbli_allocator_calloc(l->allocator, node->type->input_count + 1, sizeof *node->input_start);
    if (!node->input_start || rbli_params_build(&scope, node->type->desc->params, l->json, RBLI_JSON_NONE,
                                  NULL, &node->params) != RBL_OK)
        l->out_of_memory = true;
    if (l->out_of_memory) return;
    rbli_frame *frame = rbli_load_frame(l, l->frame, l->document, name->object, name->name, "", body->inputs);
    if (!frame || l->out_of_memory || l->too_many) return;
    rbli_connect_frame(l, frame);
    if (l->out_of_memory) return;
    rbli_sort_nodes(l);
    body->history = rbli_allocator_calloc(l->allocator, body->node_count, sizeof *body->history);
    if (!body->history) l->out_of_memory = true;
}

/// Notes what comes out of a graph that is run on its own.
static void note_outputs(rbli_loader *l, const graph_name *name, rbl_graph *body)
{
    rbli_frame *frame = NULL;
    for (rbli_frame *f = l->frames; f && !frame; f = f->next)
        if (f->graph == body && f->object == name->object && !*f->prefix) frame = f;
    uint32_t outputs = rbli_loader_member(l, l->json, name->object, "outputs", rbli_subgraph_keys);
    if (!frame || outputs == RBLI_JSON_NONE || rbli_loader_at(l, outputs)->type != RBLI_JSON_OBJECT) return;
    body->outputs =
        rbli_arena_alloc(&l->root->strings, rbli_loader_at(l, outputs)->child_count, sizeof *body->outputs);
    if (!body->outputs) {
        l->out_of_memory = rbli_loader_at(l, outputs)->child_count > 0;
        return;
    }
    for (uint32_t o = rbli_loader_at(l, outputs)->first_child; o != RBLI_JSON_NONE;
         o = rbli_loader_at(l, o)->next) {
        rbli_body_output output = {.name = rbli_loader_at(l, o)->key};
        if (rbli_loader_at(l, o)->type == RBLI_JSON_STRING &&
            rbli_find_output(l, frame, NULL, rbli_loader_at(l, o)->string, &output.ref, &output.kind) &&
            output.kind)
            body->outputs[body->output_count++] = output;
    }
}

/// The graph of a name as one that is run on its own; NULL without memory.
static rbl_graph *get_body(rbli_loader *l, const graph_name *name)
{
    for (rbl_graph *b = l->root->bodies; b; b = b->next_body)
        if (b->body_document == name->document && b->body_object == name->object) return b;
    rbl_graph *body = NULL;
    if (rbli_graph_create(l->engine, l->root, &body) != RBL_OK) {
        l->out_of_memory = true;
        return NULL;
    }
    body->body_document = name->document;
    body->body_object = name->object;
    body->source = name->document->source;
    body->folder = name->document->folder;
    body->next_body = l->root->bodies;
    l->root->bodies = body;
    rbl_graph *graph = l->graph;
    rbli_document *document = l->document;
    size_t capacity = l->node_capacity;
    bool too_many = l->too_many;
    l->graph = body;
    l->node_capacity = 0;
    rbli_loader_enter(l, name->document);
    read_body(l, name, body);
    if (!l->out_of_memory) note_outputs(l, name, body);
    rbli_loader_enter(l, document);
    l->graph = graph;
    l->node_capacity = capacity;
    l->too_many = too_many;
    return body;
}

/// Whether ForEach has something for an input of the graph that it runs.
static bool is_given(const rbli_graph_node *node, const rbl_param *over, const char *input)
{
    static const char *const always[] = {"index", "count", NULL};
    static const char *const of_bones[] = {"collection", "bone", "name", NULL};
    static const char *const of_files[] = {"file", "name", NULL};
    for (size_t i = 0; always[i]; i++)
        if (strcmp(always[i], input) == 0) return true;
    /* A word that a variable gives is looked at when the graph runs. */
    bool unknown = !over || over->variable >= 0 || over->from >= 0;
    bool bones = unknown || strcmp(over->string, "bones") == 0;
    bool files = unknown || strcmp(over->string, "files") == 0;
    for (size_t i = 0; bones && of_bones[i]; i++)
        if (strcmp(of_bones[i], input) == 0) return true;
    for (size_t i = 0; files && of_files[i]; i++)
        if (strcmp(of_files[i], input) == 0) return true;
    const rbl_param *set = rbl_param_field(rbli_params_root(node->params), "set");
    for (size_t i = 0; i < rbl_param_count(set); i++) {
        const rbl_param *name = rbl_param_field(rbl_param_at(set, i), "name");
        if (name && (name->variable >= 0 || name->from >= 0)) return true;
        if (name && name->string && strcmp(name->string, input) == 0) return true;
    }
    size_t port = rbli_find_port(node->type->desc->inputs, input);
    return port != SIZE_MAX && node->input_start[port + 1] > node->input_start[port];
}

/// What the graph wants must be there; what is set must be wanted; what it gives must be collectable.
static void check_body(rbli_loader *l, const rbli_graph_node *node, uint32_t value, const rbl_graph *body)
{
    if (body->inputs == UINT32_MAX) return; /* reported */
    const rbl_node_desc *inputs = body->nodes[body->inputs].type->desc;
    if (inputs->flags & RBLI_NODE_VAGUE) return;
    uint32_t offset = rbli_loader_at(l, value)->offset;
    const rbl_param *over = rbl_param_field(rbli_params_root(node->params), "over");
    for (const rbl_port_desc *port = inputs->inputs; port->name; port++)
        if (!is_given(node, over, port->name))
            rbli_loader_tell(l, RBL_ERROR, value, offset, node->id,
                "ForEach hands on collection, selection, points and box when they are connected",
                "nothing gives input \"%s\" of %s", port->name, inputs->type);
    for (const rbl_param_desc *param = inputs->params; param->name; param++)
        if (!param->default_json && !is_given(node, over, param->name))
            rbli_loader_tell(l, RBL_ERROR, value, offset, node->id,
                "give it a \"default\" in the graph, or a value in \"set\"",
                "nothing gives input \"%s\" of %s", param->name, inputs->type);
    const rbl_param *set = rbl_param_field(rbli_params_root(node->params), "set");
    for (size_t i = 0; i < rbl_param_count(set); i++) {
        const rbl_param *name = rbl_param_field(rbl_param_at(set, i), "name");
        if (!name || name->absent || name->variable >= 0 || name->from >= 0) continue;
        rbli_nearest nearest;
        rbli_nearest_init(&nearest, name->string);
        bool known = false;
        rbli_text hint, list;
        rbli_text_init(&hint, l->allocator);
        rbli_text_init(&list, l->allocator);
        for (const rbl_param_desc *param = inputs->params; param->name; param++) {
            known |= strcmp(param->name, name->string) == 0;
            rbli_nearest_feed(&nearest, param->name);
            rbli_text_printf(&list, "%s%s", list.length ? ", " : "", param->name);
        }
        if (nearest.best) rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
        rbli_text_printf(&hint, "inputs for values: %s", list.data ? list.data : "none");
        rbli_place place = {l->document->source, name->offset, node->id, rbl_param_pointer(name)};
        if (!known) {
            rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, &place, hint.data,
                "%s has no input \"%s\" for a value", inputs->type, name->string);
            l->failed = true;
        }
        rbli_text_free(&hint);
        rbli_text_free(&list);
    }
    size_t collections = 0, points = 0;
    for (size_t i = 0; i < body->output_count; i++) {
        collections += body->outputs[i].kind == RBL_VALUE_COLLECTION;
        points += body->outputs[i].kind == RBL_VALUE_POINTS;
        if (body->outputs[i].kind == RBL_VALUE_BOX || body->outputs[i].kind == RBL_VALUE_SELECTION)
            rbli_loader_tell(l, RBL_ERROR, value, offset, node->id, NULL,
                "ForEach cannot collect output \"%s\" of %s: it is a %s", body->outputs[i].name, inputs->type,
                rbli_value_kind_word(body->outputs[i].kind));
    }
    if (collections > 1 || points > 1)
        rbli_loader_tell(l, RBL_ERROR, value, offset, node->id, NULL,
            "ForEach collects one output of kind %s, but %s has %zu",
            collections > 1 ? "collection" : "points", inputs->type, collections > 1 ? collections : points);
    for (size_t i = 0; i < body->node_count; i++)
        if (body->nodes[i].type && body->nodes[i].type->desc->deliver)
            rbli_loader_tell(l, RBL_ERROR, value, offset, node->id, NULL,
                "node \"%s\" (%s) writes files, which a graph that ForEach runs cannot", body->nodes[i].id,
                body->nodes[i].type->desc->type);
}

void rbli_load_body(rbli_loader *l, uint32_t index, uint32_t object)
{
    uint32_t params = rbli_loader_member(l, l->json, object, "params", rbli_node_keys);
    if (params == RBLI_JSON_NONE || rbli_loader_at(l, params)->type != RBLI_JSON_OBJECT)
        return; /* reported */
    uint32_t value = rbli_json_member(l->json, params, "graph");
    const char *id = l->graph->nodes[index].id;
    if (value == RBLI_JSON_NONE) return;
    if (rbli_loader_at(l, value)->type != RBLI_JSON_STRING) {
        if (rbli_loader_at(l, value)->type == RBLI_JSON_OBJECT)
            rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, id, NULL,
                "the graph must be named here: \"name\" or \"file.json#name\"");
        return;
    }
    graph_name name;
    if (!find_graph(l, l->frame, value, id, rbli_loader_at(l, value)->string, &name)) return;
    rbl_graph *body = get_body(l, &name);
    if (!body || l->out_of_memory) return;
    l->graph->nodes[index].body = body;
    if (l->graph->nodes[index].params) check_body(l, &l->graph->nodes[index], value, body);
}

void rbli_check_graphs(rbli_loader *l, rbli_frame *frame)
{
    uint32_t graphs = rbli_loader_member(l, l->json, 0, "graphs", rbli_document_keys);
    if (graphs == RBLI_JSON_NONE) return;
    if (rbli_loader_at(l, graphs)->type != RBLI_JSON_OBJECT) {
        rbli_loader_tell_type(l, graphs, NULL, "\"graphs\"", "an object");
        return;
    }
    bool library = rbli_loader_member(l, l->json, 0, "nodes", rbli_document_keys) == RBLI_JSON_NONE;
    l->frame = frame;
    for (uint32_t g = rbli_loader_at(l, graphs)->first_child; g != RBLI_JSON_NONE && !l->out_of_memory;
         g = rbli_loader_at(l, g)->next) {
        const char *name = rbli_loader_at(l, g)->key;
        if (!rbli_is_identifier(name))
            rbli_loader_tell(l, RBL_ERROR, g, rbli_loader_at(l, g)->key_offset, NULL,
                "names: letters, digits and _, not beginning with a digit, at most 64",
                "\"%s\" cannot name a graph", name);
        if (rbli_loader_at(l, g)->type != RBLI_JSON_OBJECT) {
            rbli_loader_tell_type(
                l, g, NULL, "a graph", "an object like {\"inputs\": {}, \"nodes\": {}, \"outputs\": {}}");
            continue;
        }
        if (rbli_loader_at(l, g)->boolean) continue;
        if (!library && !l->partial)
            rbli_loader_tell(l, RBL_WARNING, g, rbli_loader_at(l, g)->key_offset, NULL, NULL,
                "graph \"%s\" is not used", name);
        get_body(l, &(graph_name){l->document, g, name});
    }
}
