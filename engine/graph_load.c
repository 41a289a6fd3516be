/// Loading a graph: everything wrong with it is reported in one run, each mistake where it stands.

#include "engine/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "fracture/base/file.h"

void *rbli_loader_alloc(rbli_loader *l, size_t bytes)
{
    void *memory = rbli_arena_alloc(&l->root->strings, bytes, 1);
    if (!memory) l->out_of_memory = true;
    return memory;
}

const char *rbli_loader_join(rbli_loader *l, const char *prefix, const char *text)
{
    size_t a = strlen(prefix), b = strlen(text);
    char *joined = rbli_loader_alloc(l, a + b + 1);
    if (!joined) return NULL;
    memcpy(joined, prefix, a);
    memcpy(joined + a, text, b + 1);
    return joined;
}

void rbli_loader_enter(rbli_loader *l, rbli_document *document)
{
    l->document = document;
    l->json = document->json;
}

void rbli_loader_tell(rbli_loader *l, rbl_severity severity, uint32_t value, uint32_t offset,
    const char *node, const char *hint, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    rbli_json_pointer(l->json, value, &pointer);
    rbli_place place = {l->document->source, offset, node, pointer.data};
    rbli_message_add(
        l->messages, severity, severity == RBL_ERROR ? RBL_ERR_GRAPH : RBL_OK, &place, hint, text);
    rbli_text_free(&pointer);
    l->failed |= severity == RBL_ERROR;
}

void rbli_loader_tell_type(
    rbli_loader *l, uint32_t value, const char *node, const char *what, const char *wanted)
{
    if (rbli_loader_at(l, value)->type == RBLI_JSON_BAD)
        l->failed = true;
    else
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, NULL,
            "%s must be %s, not %s", what, wanted, rbli_json_type_words(rbli_loader_at(l, value)->type));
}

const char *const rbli_document_keys[] = {"rubble", "vars", "nodes", "graphs", "$schema", NULL};
const char *const rbli_node_keys[] = {"type", "in", "params", NULL};
const char *const rbli_subgraph_keys[] = {"text", "inputs", "nodes", "outputs", NULL};

static bool is_one_of(const char *word, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

/// The allowed key that one that is not allowed stands for; NULL: none comes to mind.
static const char *meant_key(const char *key, const char *const *allowed)
{
    static const char *const others[][2] = {{"variables", "vars"}, {"variable", "vars"},
        {"parameters", "params"}, {"parameter", "params"}, {"args", "params"}, {"inputs", "in"},
        {"input", "in"}, {"connections", "in"}, {"subgraphs", "graphs"}, {"version", "rubble"},
        {"kind", "type"}, {"class", "type"}, {"value", "default"}, {"minimum", "min"}, {"maximum", "max"},
        {"values", "words"}, {"description", "text"}, {"out", "outputs"}, {"in", "inputs"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(key, others[i][0]) == 0 && is_one_of(others[i][1], allowed)) return others[i][1];
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, key);
    for (size_t i = 0; allowed[i]; i++)
        rbli_nearest_feed(&nearest, allowed[i]);
    bool unlike = strlen(key) < 3 && (!nearest.best || strcasecmp(nearest.best, key) != 0);
    return unlike ? NULL : nearest.best;
}

uint32_t rbli_loader_member(const rbli_loader *l, const rbli_json *json, uint32_t object, const char *name,
    const char *const *allowed)
{
    (void)l;
    uint32_t found = rbli_json_member(json, object, name);
    if (found != RBLI_JSON_NONE || json->values[object].type != RBLI_JSON_OBJECT) return found;
    for (uint32_t m = json->values[object].first_child; m != RBLI_JSON_NONE; m = json->values[m].next) {
        const char *key = json->values[m].key;
        const char *meant = is_one_of(key, allowed) ? NULL : meant_key(key, allowed);
        if (meant && strcmp(meant, name) == 0) return m;
    }
    return RBLI_JSON_NONE;
}

void rbli_loader_tell_key(
    rbli_loader *l, uint32_t m, const char *node, const char *const *allowed, const rbl_node_desc *desc)
{
    const char *key = rbli_loader_at(l, m)->key;
    bool port = desc && rbli_find_port(desc->inputs, key) != SIZE_MAX, param = false;
    for (size_t i = 0; desc && desc->params && desc->params[i].name; i++)
        param |= strcmp(desc->params[i].name, key) == 0;
    const char *meant = meant_key(key, allowed);
    l->failed = true;
    if (l->partial && !port && !param && !meant) return; /* of something else: a bracket is missing */
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    if (port)
        rbli_text_printf(&hint, "it is an input: write it into \"in\": {\"%s\": …}\n", key);
    else if (param)
        rbli_text_printf(&hint, "it is a parameter: write it into \"params\": {\"%s\": …}\n", key);
    else if (meant)
        rbli_text_printf(&hint, "did you mean \"%s\"?\n", meant);
    rbli_text_puts(&hint, "allowed: ");
    for (size_t i = 0; allowed[i]; i++)
        rbli_text_printf(&hint, "%s%s", i ? ", " : "", allowed[i]);
    rbli_loader_tell(
        l, RBL_ERROR, m, rbli_loader_at(l, m)->key_offset, node, hint.data, "unknown key \"%s\"", key);
    rbli_text_free(&hint);
}

void rbli_loader_check_keys(rbli_loader *l, uint32_t object, const char *node, const char *const *allowed)
{
    for (uint32_t m = rbli_loader_at(l, object)->first_child; m != RBLI_JSON_NONE;
         m = rbli_loader_at(l, m)->next)
        if (!is_one_of(rbli_loader_at(l, m)->key, allowed)) rbli_loader_tell_key(l, m, node, allowed, NULL);
}

bool rbli_fit_identifier(const char *name, char out[RBLI_LONGEST_ID + 1])
{
    size_t length = 0;
    for (const char *c = name; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        bool digit = *c >= '0' && *c <= '9';
        if (length + 2 > RBLI_LONGEST_ID || (unsigned char)*c >= 0x80) return false;
        if (digit && length == 0) out[length++] = '_';
        out[length++] = letter || digit ? *c : '_';
    }
    out[length] = '\0';
    return length > 0;
}

bool rbli_is_identifier(const char *name)
{
    size_t length = 0;
    for (; name[length]; length++) {
        char c = name[length];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(length > 0 && c >= '0' && c <= '9')) return false;
    }
    return length >= 1 && length <= RBLI_LONGEST_ID;
}

/* ---- Version ---- */

static void check_version(rbli_loader *l)
{
    uint32_t version = rbli_loader_member(l, l->json, 0, "rubble", rbli_document_keys);
    if (version == RBLI_JSON_NONE) {
        if (!l->partial)
            rbli_loader_tell(l, RBL_ERROR, 0, rbli_loader_at(l, 0)->offset, NULL, NULL,
                "missing \"rubble\": %d (the version of the format)", RBL_GRAPH_VERSION);
        return;
    }
    const rbli_json_value *v = rbli_loader_at(l, version);
    if (v->type != RBLI_JSON_NUMBER || !v->is_integer) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "the integer %d", RBL_GRAPH_VERSION);
        if (v->type == RBLI_JSON_NUMBER)
            rbli_loader_tell(l, RBL_ERROR, version, v->offset, NULL, NULL,
                "\"rubble\" must be %s, not a number with a fraction", wanted);
        else
            rbli_loader_tell_type(l, version, NULL, "\"rubble\"", wanted);
    } else if (v->integer != RBL_GRAPH_VERSION) {
        char hint[80];
        snprintf(hint, sizeof hint, "this program reads version %d", RBL_GRAPH_VERSION);
        rbli_loader_tell(l, RBL_ERROR, version, v->offset, NULL, hint,
            "unknown version %lld of the graph format", (long long)v->integer);
    }
}

static void check_schema_key(rbli_loader *l)
{
    uint32_t schema = rbli_json_member(l->json, 0, "$schema");
    if (schema != RBLI_JSON_NONE && rbli_loader_at(l, schema)->type != RBLI_JSON_STRING)
        rbli_loader_tell_type(l, schema, NULL, "\"$schema\"", "a string");
}

/* ---- Nodes and their types ---- */

/// The names of all types, once: a graph full of unknown types is no reason for as many lists.
static void list_types(rbli_loader *l, rbli_text *hint)
{
    if (l->listed_types) {
        rbli_text_puts(hint, "types: see above; rubble nodes lists them");
        return;
    }
    l->listed_types = true;
    rbli_text_puts(hint, "types: ");
    const char *before = "";
    for (size_t i = 0; i < l->engine->type_count; i++) {
        const char *name = l->engine->types[i]->desc->type;
        if (strcmp(name, before) != 0) rbli_text_printf(hint, "%s%s", *before ? ", " : "", name);
        before = name;
    }
}

static void tell_unknown_type(rbli_loader *l, uint32_t value, const char *node, const char *type)
{
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    char graph[160];
    const char *nearest = rbl_engine_nearest_node(l->engine, type);
    if (rbli_nearest_graph(l, type, graph, sizeof graph))
        rbli_text_printf(&hint, "did you mean \"%s\"?\n", graph);
    else if (nearest)
        rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest);
    if (!hint.length || !l->listed_types) list_types(l, &hint);
    if (*type)
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, hint.data,
            "unknown node type \"%s\"", type);
    else
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, hint.data,
            "the type of the node is empty");
    rbli_text_free(&hint);
}

static void find_type(rbli_loader *l, uint32_t value, rbli_graph_node *node)
{
    char name[256];
    const char *text = rbli_loader_at(l, value)->string, *pin = strchr(text, '@');
    size_t length = pin ? (size_t)(pin - text) : strlen(text);
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, text, length);
    name[length] = '\0';
    int version = 0;
    if (pin) {
        char *end;
        long number = strtol(pin + 1, &end, 10);
        if (pin[1] < '1' || pin[1] > '9' || *end || number > INT32_MAX) {
            rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node->id, NULL,
                "a version is a number from 1: \"%s@2\", not \"%s\"", name, text);
            return;
        }
        version = (int)number;
    }
    const rbli_node_type *newest = rbli_find_type(l->engine, name, 0);
    if (!newest) {
        tell_unknown_type(l, value, node->id, name);
        return;
    }
    node->type = version ? rbli_find_type(l->engine, name, version) : newest;
    if (!node->type)
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node->id, NULL,
            "node type %s has no version %d; the newest is %d", name, version, newest->desc->version);
    else if (node->type != newest)
        rbli_loader_tell(l, RBL_WARNING, value, rbli_loader_at(l, value)->offset, node->id, NULL,
            "version %d of %s is old; the newest is %d", version, name, newest->desc->version);
}

rbli_graph_node *rbli_loader_add_node(rbli_loader *l, const char *id, uint32_t object)
{
    rbl_graph *graph = l->graph;
    if (graph->node_count >= RBLI_MOST_NODES) {
        if (!l->too_many)
            rbli_loader_tell(l, RBL_ERROR, object, rbli_loader_at(l, object)->key_offset, NULL, NULL,
                "too many nodes: with the graphs within it a graph may have %d", RBLI_MOST_NODES);
        l->too_many = true;
        return NULL;
    }
    if (graph->node_count == l->node_capacity) {
        size_t capacity = l->node_capacity ? 2 * l->node_capacity : 64;
        rbli_graph_node *nodes = rbli_allocator_realloc(l->allocator, graph->nodes, capacity, sizeof *nodes);
        if (!nodes) {
            l->out_of_memory = true;
            return NULL;
        }
        graph->nodes = nodes;
        l->node_capacity = capacity;
    }
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    rbli_json_pointer(l->json, object, &pointer);
    rbli_graph_node node = {.id = id,
        .document = l->document,
        .pointer = rbli_loader_join(l, "", pointer.data ? pointer.data : ""),
        .id_offset = rbli_loader_at(l, object)->key_offset};
    rbli_text_free(&pointer);
    size_t existing;
    if (!node.pointer || rbli_name_table_add(&graph->ids, id, graph->node_count, &existing) != RBL_OK) {
        l->out_of_memory = true;
        return NULL;
    }
    graph->nodes[graph->node_count] = node;
    return &graph->nodes[graph->node_count++];
}

static void check_id(rbli_loader *l, const rbli_frame *frame, const rbli_frame_node *local, const char *id)
{
    uint32_t offset = rbli_loader_at(l, local->value)->key_offset;
    char fit[RBLI_LONGEST_ID + 1];
    if (!rbli_is_identifier(local->id)) {
        rbli_text hint;
        rbli_text_init(&hint, l->allocator);
        if (rbli_fit_identifier(local->id, fit)) rbli_text_printf(&hint, "write \"%s\"\n", fit);
        rbli_text_puts(&hint, "ids: letters, digits and _, not beginning with a digit, at most 64");
        rbli_loader_tell(
            l, RBL_ERROR, local->value, offset, NULL, hint.data, "\"%s\" cannot be a node's id", id);
        rbli_text_free(&hint);
    } else if (frame->name && strcmp(local->id, "inputs") == 0) {
        rbli_loader_tell(l, RBL_ERROR, local->value, offset, NULL, "\"inputs.NAME\" is what comes in",
            "in a graph within the graph no node can be called \"inputs\"");
    }
}

/// The JSON of the node's type, RBLI_JSON_NONE when it has none (reported).
static uint32_t read_type(rbli_loader *l, uint32_t object, const char *id)
{
    const rbli_json_value *node = rbli_loader_at(l, object);
    if (node->type == RBLI_JSON_STRING) {
        rbli_loader_tell(l, RBL_ERROR, object, node->offset, id, NULL,
            "a node must be an object like {\"type\": \"%.80s\"}, not a string", node->string);
        return RBLI_JSON_NONE;
    }
    if (node->type != RBLI_JSON_OBJECT) {
        rbli_loader_tell_type(l, object, id, "a node", "an object like {\"type\": \"…\"}");
        return RBLI_JSON_NONE;
    }
    uint32_t type = rbli_loader_member(l, l->json, object, "type", rbli_node_keys);
    if (type == RBLI_JSON_NONE) {
        if (!l->partial || node->end)
            rbli_loader_tell(l, RBL_ERROR, object, node->offset, id, NULL, "missing \"type\"");
    } else if (rbli_loader_at(l, type)->type != RBLI_JSON_STRING) {
        if (rbli_loader_at(l, type)->end) rbli_loader_tell_type(l, type, id, "\"type\"", "a string");
        return RBLI_JSON_NONE;
    }
    return type;
}

static void check_node_keys(rbli_loader *l, uint32_t object, const char *id, const rbl_node_desc *desc)
{
    for (uint32_t m = rbli_loader_at(l, object)->first_child; m != RBLI_JSON_NONE;
         m = rbli_loader_at(l, m)->next)
        if (!is_one_of(rbli_loader_at(l, m)->key, rbli_node_keys))
            rbli_loader_tell_key(l, m, id, rbli_node_keys, desc);
}

static void read_node(rbli_loader *l, rbli_frame *frame, size_t index)
{
    rbli_frame_node *local = &frame->nodes[index];
    uint32_t object = local->value;
    const char *id = *frame->prefix ? rbli_loader_join(l, frame->prefix, local->id) : local->id;
    if (!id) return;
    check_id(l, frame, local, id);
    uint32_t type = read_type(l, object, id);
    bool is_object = rbli_loader_at(l, object)->type == RBLI_JSON_OBJECT;
    if (type != RBLI_JSON_NONE && strncmp(rbli_loader_at(l, type)->string, "graph:", 6) == 0) {
        rbli_load_graph_node(l, frame, index, type);
        bool known = local->node != UINT32_MAX && l->graph->nodes[local->node].type;
        check_node_keys(l, object, id, known ? l->graph->nodes[local->node].type->desc : NULL);
        return;
    }
    rbli_graph_node *node = rbli_loader_add_node(l, id, object);
    if (!node) return;
    local->node = (uint32_t)(l->graph->node_count - 1);
    size_t errors = rbli_messages_error_count(l->messages);
    if (type != RBLI_JSON_NONE) find_type(l, type, node);
    if (is_object) check_node_keys(l, object, id, node->type ? node->type->desc : NULL);
    node->faulty = rbli_messages_error_count(l->messages) != errors;
}

/// The frame's own list of nodes.
static void list_nodes(rbli_loader *l, rbli_frame *frame, uint32_t nodes)
{
    frame->nodes =
        rbli_arena_alloc(&l->root->strings, rbli_loader_at(l, nodes)->child_count + 1, sizeof *frame->nodes);
    if (!frame->nodes) {
        l->out_of_memory = true;
        return;
    }
    for (uint32_t n = rbli_loader_at(l, nodes)->first_child; n != RBLI_JSON_NONE;
         n = rbli_loader_at(l, n)->next) {
        size_t existing;
        const char *id = rbli_loader_at(l, n)->key;
        if (rbli_name_table_add(&frame->ids, id, frame->node_count, &existing) != RBL_OK) {
            l->out_of_memory = true;
            return;
        }
        if (existing != SIZE_MAX) continue; /* reported by the parser */
        frame->nodes[frame->node_count++] = (rbli_frame_node){.id = id, .value = n, .node = UINT32_MAX};
    }
}

static void read_nodes(rbli_loader *l, rbli_frame *frame)
{
    const char *const *keys = frame->name ? rbli_subgraph_keys : rbli_document_keys;
    uint32_t object = frame->object, nodes = rbli_loader_member(l, l->json, object, "nodes", keys);
    if (nodes == RBLI_JSON_NONE) {
        /* A file may hold nothing but graphs for others. */
        bool library =
            !frame->name && rbli_loader_member(l, l->json, object, "graphs", keys) != RBLI_JSON_NONE;
        if (!library && !l->partial)
            rbli_loader_tell(
                l, RBL_ERROR, object, rbli_loader_at(l, object)->offset, NULL, NULL, "missing \"nodes\"");
    } else if (rbli_loader_at(l, nodes)->type != RBLI_JSON_OBJECT) {
        rbli_loader_tell_type(l, nodes, NULL, "\"nodes\"", "an object like {\"id\": {\"type\": \"…\"}}");
    } else if (rbli_loader_at(l, nodes)->child_count == 0) {
        if (!l->partial)
            rbli_loader_tell(
                l, RBL_ERROR, nodes, rbli_loader_at(l, nodes)->offset, NULL, NULL, "the graph has no node");
    } else if (rbli_loader_at(l, nodes)->child_count > RBLI_MOST_NODES) {
        rbli_loader_tell(l, RBL_ERROR, nodes, rbli_loader_at(l, nodes)->offset, NULL, NULL,
            "%u nodes; a graph may have %d", rbli_loader_at(l, nodes)->child_count, RBLI_MOST_NODES);
    } else {
        list_nodes(l, frame, nodes);
        for (size_t i = 0; i < frame->node_count && !l->out_of_memory && !l->too_many; i++)
            read_node(l, frame, i);
    }
}

rbli_frame *rbli_load_frame(rbli_loader *l, rbli_frame *parent, rbli_document *document, uint32_t object,
    const char *name, const char *prefix, uint32_t inputs)
{
    rbli_frame *frame = rbli_arena_alloc(&l->root->strings, 1, sizeof *frame);
    if (!frame) {
        l->out_of_memory = true;
        return NULL;
    }
    *frame = (rbli_frame){.parent = parent,
        .next = l->frames,
        .document = document,
        .graph = l->graph,
        .object = object,
        .inputs = inputs,
        .name = name,
        .prefix = prefix,
        .depth = parent ? parent->depth + 1 : 0};
    l->frames = frame;
    rbli_name_table_init(&frame->ids, l->allocator);
    rbli_document *before = l->document;
    rbli_loader_enter(l, document);
    read_nodes(l, frame);
    rbli_loader_enter(l, before);
    return frame;
}

/* ---- Connections ---- */

/// What a name that is no node may mean: "node/port" and the like for "node.port", or the type of a node.
static bool hint_node(rbli_loader *l, const rbli_frame *graph, const char *text, rbli_text *hint)
{
    size_t length = strcspn(text, "/:>#[ ");
    for (size_t i = 0; i < graph->node_count; i++) {
        const rbli_frame_node *n = &graph->nodes[i];
        const char *port = text + length + strspn(text + length, "/:>#[ ");
        bool is_node = text[length] && *port && strlen(n->id) == length && strncmp(n->id, text, length) == 0;
        const rbli_node_type *type = n->node != UINT32_MAX ? l->graph->nodes[n->node].type : NULL;
        if (is_node && type && !n->inside && rbli_find_port(type->desc->outputs, port) == SIZE_MAX) continue;
        if (is_node) {
            rbli_text_printf(hint, "did you mean \"%s.%s\"?\n", n->id, port);
            return true;
        }
        if (type && !n->inside && strcasecmp(type->desc->type, text) == 0) {
            rbli_text_printf(hint, "did you mean \"%s\"? a connection names a node, not its type\n", n->id);
            return true;
        }
    }
    return false;
}

static void tell_unknown_node(
    rbli_loader *l, const rbli_frame *graph, const rbli_place *place, const char *id)
{
    l->failed = true;
    if (graph->node_count == 0 || l->partial) return; /* that there is none was reported, or it may follow */
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, id);
    for (size_t i = 0; i < graph->node_count; i++)
        rbli_nearest_feed(&nearest, graph->nodes[i].id);
    if (graph->name) rbli_nearest_feed(&nearest, "inputs");
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    if (!hint_node(l, graph, id, &hint) && nearest.best)
        rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
    rbli_text_puts(&hint, graph->name ? "nodes: inputs, " : "nodes: ");
    for (size_t i = 0; i < graph->node_count && i < 40; i++)
        rbli_text_printf(&hint, "%s%s", i ? ", " : "", graph->nodes[i].id);
    if (graph->node_count > 40) rbli_text_printf(&hint, " and %zu more", graph->node_count - 40);
    rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, place, hint.data, "there is no node \"%s\"", id);
    rbli_text_free(&hint);
}

static void tell_unknown_port(rbli_loader *l, const rbli_place *place, const char *what, const char *name,
    const rbl_node_desc *desc, const rbl_port_desc *ports)
{
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, name);
    for (size_t i = 0; ports && ports[i].name; i++)
        rbli_nearest_feed(&nearest, ports[i].name);
    bool param = false, input = strcmp(what, "input") == 0;
    for (size_t i = 0; input && desc->params && desc->params[i].name; i++)
        param |= strcmp(desc->params[i].name, name) == 0;
    if (param)
        rbli_text_printf(&hint, "it is a parameter: write it into \"params\": {\"%s\": …}\n", name);
    else if (nearest.best)
        rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
    rbli_text_printf(&hint, "%ss of %s: %s", what, desc->type, ports && ports[0].name ? "" : "none");
    for (size_t i = 0; ports && ports[i].name; i++)
        rbli_text_printf(&hint, "%s%s", i ? ", " : "", ports[i].name);
    rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, place, hint.data, "%s has no %s \"%s\"",
        desc->type, what, name);
    rbli_text_free(&hint);
    l->failed = true;
}

bool rbli_find_output(rbli_loader *l, rbli_frame *frame, const rbli_place *place, const char *text,
    rbli_port_ref *ref, rbl_value_kind *kind)
{
    rbl_graph *graph = l->graph;
    char id[256];
    const char *dot = strchr(text, '.');
    if (dot && rbli_name_table_find(&frame->ids, text) != SIZE_MAX) dot = NULL; /* such an id was reported */
    size_t length = dot ? (size_t)(dot - text) : strlen(text);
    if (length >= sizeof id) length = sizeof id - 1;
    memcpy(id, text, length);
    id[length] = '\0';
    *kind = 0;
    rbli_frame_node inputs = {.id = "inputs", .node = frame->inputs};
    const rbli_frame_node *local = &inputs;
    if (!frame->name || strcmp(id, "inputs") != 0) {
        size_t found = rbli_name_table_find(&frame->ids, id);
        if (found == SIZE_MAX) {
            if (place) tell_unknown_node(l, frame, place, id);
            return false;
        }
        local = &frame->nodes[found];
    }
    if (local->inside)
        return rbli_find_graph_output(l, local->inside, place, id, dot ? dot + 1 : NULL, ref, kind);
    if (local->node == UINT32_MAX) return l->failed = true, false; /* reported at that node */
    *ref = (rbli_port_ref){local->node, 0, place ? (uint32_t)place->offset : 0};
    const rbli_node_type *type = graph->nodes[local->node].type;
    if (!type) return true; /* reported at that node */
    const rbl_port_desc *ports = type->desc->outputs;
    size_t port = dot ? rbli_find_port(ports, dot + 1) : 0;
    if (!dot && type->output_count == 0) {
        if (place)
            rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, place, NULL,
                "node \"%s\" (%s) has no output", id, type->desc->type);
        l->failed = true;
        return false;
    }
    if (port == SIZE_MAX) {
        if (place) tell_unknown_port(l, place, "output", dot + 1, type->desc, ports);
        return false;
    }
    ref->port = (uint32_t)port;
    *kind = ports[port].kind;
    return true;
}

static void add_ref(rbli_loader *l, rbli_port_ref ref)
{
    if (rbli_array_push(&l->engine->base, &l->refs, ref) != RBL_OK) l->out_of_memory = true;
}

/// Another output of the node that `text` names, of kind `kind`.
static void hint_output(rbli_loader *l, const char *text, rbl_value_kind kind, char *hint, size_t bytes)
{
    char id[RBLI_LONGEST_ID + 1];
    size_t length = strcspn(text, ".");
    if (length > RBLI_LONGEST_ID) return;
    memcpy(id, text, length);
    id[length] = '\0';
    size_t found = rbli_name_table_find(&l->frame->ids, id);
    bool inputs = l->frame->name && strcmp(id, "inputs") == 0;
    if (!inputs && (found == SIZE_MAX || l->frame->nodes[found].inside)) return;
    uint32_t node = inputs ? l->frame->inputs : l->frame->nodes[found].node;
    if (node == UINT32_MAX || !l->graph->nodes[node].type) return;
    const rbl_port_desc *ports = l->graph->nodes[node].type->desc->outputs;
    for (size_t i = 0; ports && ports[i].name; i++)
        if (ports[i].kind && rbli_value_kind_fits(ports[i].kind, kind)) {
            snprintf(hint, bytes, "did you mean \"%s.%s\"?", id, ports[i].name);
            return;
        }
}

/// A node type that puts several values of a kind into one, for a hint; NULL: none.
static const char *merging_type(const rbli_loader *l, rbl_value_kind kind)
{
    for (size_t i = 0; i < l->engine->type_count; i++) {
        const rbl_node_desc *desc = l->engine->types[i]->desc;
        bool one = l->engine->types[i]->input_count == 1 && l->engine->types[i]->output_count >= 1;
        if (one && desc->inputs[0].several && desc->inputs[0].kind == kind && desc->outputs[0].kind == kind)
            return desc->type;
    }
    return NULL;
}

static void read_connection(
    rbli_loader *l, const rbli_graph_node *node, const rbl_port_desc *port, uint32_t value)
{
    if (rbli_loader_at(l, value)->type != RBLI_JSON_STRING) {
        uint32_t from = rbli_json_member(l->json, value, "from");
        if (from != RBLI_JSON_NONE && rbli_loader_at(l, from)->type == RBLI_JSON_STRING)
            rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node->id, NULL,
                "a connection is written without \"from\": \"%s\"", rbli_loader_at(l, from)->string);
        else
            rbli_loader_tell_type(
                l, value, node->id, "a connection", "a string like \"node\" or \"node.port\"");
        return;
    }
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    rbli_json_pointer(l->json, value, &pointer);
    rbli_place place = {l->document->source, rbli_loader_at(l, value)->offset, node->id, pointer.data};
    rbli_port_ref ref;
    rbl_value_kind kind;
    if (rbli_find_output(l, l->frame, &place, rbli_loader_at(l, value)->string, &ref, &kind)) {
        add_ref(l, ref);
        if (kind && port->kind && !rbli_value_kind_fits(kind, port->kind)) {
            char hint[200] = "";
            hint_output(l, rbli_loader_at(l, value)->string, port->kind, hint, sizeof hint);
            rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, &place, *hint ? hint : NULL,
                "input \"%s\" takes a value of kind %s, but \"%s\" gives one of kind %s", port->name,
                rbli_value_kind_word(port->kind), rbli_loader_at(l, value)->string,
                rbli_value_kind_word(kind));
            l->failed = true;
        }
    }
    rbli_text_free(&pointer);
}

static void read_input(rbli_loader *l, rbli_graph_node *node, const rbl_port_desc *port, uint32_t value)
{
    if (rbli_loader_at(l, value)->type != RBLI_JSON_ARRAY) {
        read_connection(l, node, port, value);
    } else if (!port->several) {
        const char *merging = merging_type(l, port->kind);
        char hint[200] = "";
        uint32_t first = rbli_loader_at(l, value)->first_child;
        if (rbli_loader_at(l, value)->child_count == 1 && rbli_loader_at(l, first)->type == RBLI_JSON_STRING)
            snprintf(hint, sizeof hint, "write \"%.100s\"", rbli_loader_at(l, first)->string);
        else if (merging)
            snprintf(hint, sizeof hint, "%s makes one of several", merging);
        rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node->id, *hint ? hint : NULL,
            "input \"%s\" takes one connection, not a list", port->name);
    } else {
        if (rbli_loader_at(l, value)->child_count == 0 && !port->optional)
            rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node->id, NULL,
                "input \"%s\" needs a connection", port->name);
        for (uint32_t c = rbli_loader_at(l, value)->first_child; c != RBLI_JSON_NONE;
             c = rbli_loader_at(l, c)->next)
            read_connection(l, node, port, c);
    }
}

static void tell_unknown_inputs(rbli_loader *l, const rbli_graph_node *node, uint32_t in)
{
    const rbl_port_desc *ports = node->type->desc->inputs;
    for (uint32_t m = rbli_loader_at(l, in)->first_child; m != RBLI_JSON_NONE;
         m = rbli_loader_at(l, m)->next) {
        if (rbli_find_port(ports, rbli_loader_at(l, m)->key) != SIZE_MAX) continue;
        rbli_text pointer;
        rbli_text_init(&pointer, l->allocator);
        rbli_json_pointer(l->json, m, &pointer);
        rbli_place place = {l->document->source, rbli_loader_at(l, m)->key_offset, node->id, pointer.data};
        tell_unknown_port(l, &place, "input", rbli_loader_at(l, m)->key, node->type->desc, ports);
        rbli_text_free(&pointer);
    }
}

/// True when a name that is no port is nearest to `port`: it was reported, with this one as what was meant.
static bool is_misspelt(rbli_loader *l, uint32_t in, const rbl_port_desc *ports, const char *port)
{
    if (in == RBLI_JSON_NONE) return false;
    for (uint32_t m = rbli_loader_at(l, in)->first_child; m != RBLI_JSON_NONE;
         m = rbli_loader_at(l, m)->next) {
        if (rbli_find_port(ports, rbli_loader_at(l, m)->key) != SIZE_MAX) continue;
        rbli_nearest nearest;
        rbli_nearest_init(&nearest, rbli_loader_at(l, m)->key);
        for (size_t i = 0; ports[i].name; i++)
            rbli_nearest_feed(&nearest, ports[i].name);
        if (nearest.best && strcmp(nearest.best, port) == 0) return true;
    }
    return false;
}

/// True when as many names are unknown as required inputs are missing: those were meant, and are listed.
static bool names_are_wrong(const rbli_loader *l, const rbli_graph_node *node, uint32_t in)
{
    const rbl_port_desc *ports = node->type->desc->inputs;
    size_t unknown = 0, missing = 0;
    for (uint32_t m = rbli_loader_at(l, in)->first_child; m != RBLI_JSON_NONE; m = rbli_loader_at(l, m)->next)
        unknown += rbli_find_port(ports, rbli_loader_at(l, m)->key) == SIZE_MAX;
    for (size_t i = 0; i < node->type->input_count; i++)
        missing += !ports[i].optional && rbli_json_member(l->json, in, ports[i].name) == RBLI_JSON_NONE;
    return unknown && unknown >= missing;
}

/// A graph within the graph with an input whose type is not known: nothing can be said of what goes in.
static bool is_vague(const rbli_graph_node *node)
{
    return node->type->desc->flags & RBLI_NODE_VAGUE;
}

static void read_inputs(rbli_loader *l, rbli_graph_node *node, uint32_t object)
{
    uint32_t in = rbli_loader_member(l, l->json, object, "in", rbli_node_keys);
    bool malformed = in != RBLI_JSON_NONE && rbli_loader_at(l, in)->type != RBLI_JSON_OBJECT;
    if (malformed) {
        rbli_loader_tell_type(l, in, node->id, "\"in\"", "an object like {\"collection\": \"node\"}");
        in = RBLI_JSON_NONE;
    }
    if (in != RBLI_JSON_NONE && !is_vague(node)) tell_unknown_inputs(l, node, in);
    bool silent =
        malformed || l->partial || is_vague(node) || (in != RBLI_JSON_NONE && names_are_wrong(l, node, in));
    size_t count = node->type->input_count;
    node->input_start = rbli_allocator_calloc(l->allocator, count + 1, sizeof *node->input_start);
    if (!node->input_start) {
        l->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const rbl_port_desc *port = &node->type->desc->inputs[i];
        uint32_t value = in == RBLI_JSON_NONE ? in : rbli_json_member(l->json, in, port->name);
        node->input_start[i] = (uint32_t)l->refs.count;
        if (value != RBLI_JSON_NONE) {
            read_input(l, node, port, value);
        } else if (!port->optional && !silent && !is_misspelt(l, in, node->type->desc->inputs, port->name)) {
            uint32_t where = in != RBLI_JSON_NONE ? in : object;
            rbli_loader_tell(l, RBL_ERROR, where, rbli_loader_at(l, where)->offset, node->id, NULL,
                "input \"%s\" (kind %s) is not connected", port->name, rbli_value_kind_word(port->kind));
        }
    }
    node->input_start[count] = (uint32_t)l->refs.count;
}

/* ---- Parameters ---- */

static bool hint_parameter(void *user, const char *text, rbl_value_kind kind, char *hint, size_t bytes)
{
    *hint = '\0';
    hint_output(user, text, kind, hint, bytes);
    return *hint;
}

static int32_t connect_parameter(void *user, const rbli_place *place, const char *text, rbl_value_kind *kind)
{
    rbli_loader *l = user;
    const rbli_graph_node *node = &l->graph->nodes[l->current];
    rbli_port_ref ref;
    if (!rbli_find_output(l, l->frame, place, text, &ref, kind) || !*kind) return -1;
    size_t number = l->refs.count - node->input_start[node->type->input_count];
    add_ref(l, ref);
    return (int32_t)number;
}

/// Variables that are used by the parameters of a node whose type is not known are no reason for a warning.
static void note_variables(rbli_loader *l, uint32_t object)
{
    uint32_t first = object, end = object;
    while (end < l->json->count && rbli_loader_at(l, end)->offset < rbli_loader_at(l, object)->end)
        end++;
    for (uint32_t v = first; v < end; v++) {
        if (rbli_loader_at(l, v)->type != RBLI_JSON_STRING || !rbli_loader_at(l, v)->key ||
            strcmp(rbli_loader_at(l, v)->key, "var") != 0)
            continue;
        for (size_t i = 0; i < l->root->variable_count; i++)
            if (strcmp(l->root->variables[i].name, rbli_loader_at(l, v)->string) == 0)
                l->root->variables[i].used = true;
    }
}

static void read_parameters(rbli_loader *l, rbli_graph_node *node, uint32_t object)
{
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    rbli_json_pointer(l->json, object, &pointer);
    rbli_text_puts(&pointer, "/params");
    rbli_param_scope scope = {.allocator = l->allocator,
        .messages = l->messages,
        .source = l->document->source,
        .folder = l->document->folder,
        .node = node->id,
        .pointer = pointer.data ? pointer.data : "",
        .node_offset = rbli_loader_at(l, object)->offset,
        .inputs = node->type->desc->inputs,
        .partial = l->partial,
        .variables = l->root->variables,
        .variable_count = l->frame->name ? 0 : l->root->variable_count,
        .inside_graph = l->frame->name != NULL,
        .from = connect_parameter,
        .hint_from = hint_parameter,
        .user = l};
    uint32_t params = rbli_loader_member(l, l->json, object, "params", rbli_node_keys);
    if (is_vague(node)) {
        params = RBLI_JSON_NONE;
        scope.partial = true;
        note_variables(l, object);
    }
    const rbli_params *defaults = rbli_type_defaults(l->engine, node->type);
    if (rbli_params_build(&scope, node->type->desc->params, l->json, params, defaults, &node->params) !=
        RBL_OK)
        l->out_of_memory = true;
    rbli_text_free(&pointer);
    l->failed |= scope.failed;
    node->faulty |= scope.failed;
}

void rbli_connect_node(rbli_loader *l, uint32_t index, uint32_t object)
{
    rbli_graph_node *node = &l->graph->nodes[index];
    if (!node->type) {
        note_variables(l, object);
        return;
    }
    l->current = index;
    l->refs.count = 0;
    size_t errors = rbli_messages_error_count(l->messages);
    bool failed = l->failed;
    l->failed = false;
    read_inputs(l, node, object);
    node->faulty |= l->failed || rbli_messages_error_count(l->messages) != errors;
    l->failed |= failed;
    if (l->out_of_memory) return;
    read_parameters(l, node, object);
    node->refs = rbli_allocator_alloc(l->allocator, l->refs.count, sizeof *node->refs);
    if (!node->refs) {
        l->out_of_memory = true;
        return;
    }
    if (l->refs.count) memcpy(node->refs, l->refs.data, l->refs.count * sizeof *node->refs);
    node->ref_count = (uint32_t)l->refs.count;
    if (node->type->desc->flags & RBL_NODE_RUNS_GRAPH) rbli_load_body(l, index, object);
}

void rbli_connect_frame(rbli_loader *l, rbli_frame *frame)
{
    rbli_frame *before = l->frame;
    rbli_document *document = l->document;
    for (size_t i = 0; i < frame->node_count && !l->out_of_memory; i++) {
        const rbli_frame_node *local = &frame->nodes[i];
        rbli_loader_enter(l, frame->document);
        l->frame = frame;
        if (local->node == UINT32_MAX) {
            note_variables(l, local->value);
            continue;
        }
        rbli_graph_node *node = &l->graph->nodes[local->node];
        const char *id = node->id;
        if (local->inside) { /* messages name the node that stands in the file */
            node->id = rbli_loader_join(l, frame->prefix, local->id);
            if (!node->id) node->id = id;
        }
        rbli_connect_node(l, local->node, local->value);
        node->id = id;
        if (local->inside) rbli_connect_frame(l, local->inside);
    }
    rbli_loader_enter(l, frame->document);
    l->frame = frame;
    if (frame->name && !l->out_of_memory) rbli_check_outputs(l, frame);
    l->frame = before;
    rbli_loader_enter(l, document);
}

static void warn_unused(rbli_loader *l)
{
    for (size_t i = 0; i < l->graph->variable_count; i++) {
        const rbli_variable *variable = &l->graph->variables[i];
        if (variable->used) continue;
        char pointer[RBLI_LONGEST_ID * 8];
        snprintf(pointer, sizeof pointer, "/vars/%s", variable->name);
        rbli_place place = {l->document->source, variable->offset, NULL, pointer};
        rbli_message_addf(
            l->messages, RBL_WARNING, RBL_OK, &place, NULL, "variable \"%s\" is not used", variable->name);
    }
}

/* ---- Order and cycles ---- */

/// Reports the cycle that `node` is on, of nodes that `left` of their inputs wait for; marks them.
static void tell_cycle(rbli_loader *l, uint32_t first, const uint32_t *left, uint32_t *mark, uint32_t round)
{
    rbl_graph *graph = l->graph;
    uint32_t node = first;
    const rbli_port_ref *edge = NULL;
    while (!mark[node]) {
        mark[node] = round;
        edge = NULL;
        for (uint32_t i = 0; i < graph->nodes[node].ref_count && !edge; i++)
            if (left[graph->nodes[node].refs[i].node]) edge = &graph->nodes[node].refs[i];
        if (!edge) return;
        node = edge->node;
    }
    if (mark[node] != round) return; /* leads to one that was reported */
    /* From `node` against the connections back to it; printed in the direction of the values. */
    RBLI_ARRAY(uint32_t) path = {0};
    uint32_t walk = node;
    do {
        if (rbli_array_push(&l->engine->base, &path, walk) != RBL_OK) {
            l->out_of_memory = true;
            break;
        }
        for (uint32_t i = 0; i < graph->nodes[walk].ref_count; i++)
            if (left[graph->nodes[walk].refs[i].node]) {
                edge = &graph->nodes[walk].refs[i];
                break;
            }
        walk = edge->node;
    } while (walk != node);
    rbli_text text;
    rbli_text_init(&text, l->allocator);
    rbli_text_printf(&text, path.count == 1 ? "the node needs itself: %s" : "the nodes form a cycle: %s",
        graph->nodes[node].id);
    for (size_t i = path.count, written = 0; i-- > 0; written++) {
        if (written == 20 && i > 2) {
            rbli_text_printf(&text, " → … %zu more …", i);
            i = 1;
        }
        rbli_text_printf(&text, " → %s", graph->nodes[path.data[i]].id);
    }
    const rbli_port_ref *back = NULL;
    for (uint32_t i = 0; i < graph->nodes[node].ref_count && !back; i++)
        if (left[graph->nodes[node].refs[i].node]) back = &graph->nodes[node].refs[i];
    rbli_place place = {graph->nodes[node].document->source,
        back ? back->offset : graph->nodes[node].id_offset, graph->nodes[node].id,
        graph->nodes[node].pointer};
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    const rbli_json *json = graph->nodes[node].document->json;
    for (uint32_t v = 0; back && v < json->count && !pointer.length; v++)
        if (json->values[v].offset == back->offset) rbli_json_pointer(json, v, &pointer);
    if (pointer.length) place.pointer = pointer.data;
    rbli_message_add(l->messages, RBL_ERROR, RBL_ERR_GRAPH, &place, NULL, text.data ? text.data : "a cycle");
    l->failed = true;
    rbli_text_free(&pointer);
    rbli_text_free(&text);
    rbli_allocator_free(l->allocator, path.data);
}

/// Sorts the nodes so that each comes behind those that it needs (Kahn 1962).
void rbli_sort_nodes(rbli_loader *l)
{
    rbl_graph *graph = l->graph;
    size_t count = graph->node_count, edge_count = 0;
    for (size_t i = 0; i < count; i++)
        edge_count += graph->nodes[i].ref_count;
    graph->order = rbli_allocator_calloc(l->allocator, count + 1, sizeof *graph->order);
    uint32_t *left = rbli_allocator_calloc(l->allocator, count, sizeof *left);
    uint32_t *mark = rbli_allocator_calloc(l->allocator, count, sizeof *mark);
    uint32_t *start = rbli_allocator_calloc(l->allocator, count + 2, sizeof *start);
    uint32_t *users = rbli_allocator_calloc(l->allocator, edge_count, sizeof *users);
    if (!graph->order || !left || !mark || !start || !users) {
        l->out_of_memory = true;
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < graph->nodes[i].ref_count; k++)
            start[graph->nodes[i].refs[k].node + 2]++;
    for (size_t i = 0; i < count; i++)
        start[i + 2] += start[i + 1];
    for (size_t i = 0; i < count; i++) {
        left[i] = graph->nodes[i].ref_count;
        for (uint32_t k = 0; k < graph->nodes[i].ref_count; k++)
            users[start[graph->nodes[i].refs[k].node + 1]++] = (uint32_t)i;
    }
    size_t sorted = 0;
    for (size_t i = 0; i < count; i++)
        if (left[i] == 0) graph->order[sorted++] = (uint32_t)i;
    for (size_t next = 0; next < sorted; next++) {
        uint32_t node = graph->order[next];
        for (uint32_t k = start[node]; k < start[node + 1]; k++)
            if (--left[users[k]] == 0) graph->order[sorted++] = users[k];
    }
    uint32_t round = 0;
    for (size_t i = 0; i < count && sorted < count && round < RBLI_MOST_CYCLES; i++)
        if (left[i] && !mark[i]) tell_cycle(l, (uint32_t)i, left, mark, ++round);
done:
    rbli_allocator_free(l->allocator, left);
    rbli_allocator_free(l->allocator, mark);
    rbli_allocator_free(l->allocator, start);
    rbli_allocator_free(l->allocator, users);
}

/* ---- The whole ---- */

static void read_document(rbli_loader *l)
{
    if (rbli_loader_at(l, 0)->type != RBLI_JSON_OBJECT) {
        rbli_loader_tell_type(l, 0, NULL, "a graph", "an object");
        return;
    }
    rbli_loader_check_keys(l, 0, NULL, rbli_document_keys);
    check_schema_key(l);
    check_version(l);
    rbli_load_variables(l);
    if (l->out_of_memory) return;
    rbli_frame *frame = rbli_load_frame(l, NULL, l->document, 0, NULL, "", UINT32_MAX);
    if (!frame || l->out_of_memory || l->too_many) return;
    rbli_connect_frame(l, frame);
    if (l->out_of_memory) return;
    rbli_check_graphs(l, frame);
    if (l->out_of_memory) return;
    rbli_sort_nodes(l);
    if (l->partial) return;
    warn_unused(l);
    rbli_check_nodes(l);
}

rbl_status rbli_graph_create(rbl_engine *engine, rbl_graph *root, rbl_graph **out)
{
    rbl_graph *graph = rbli_allocator_calloc(engine->allocator, 1, sizeof *graph);
    bool first = graph && uv_mutex_init(&graph->mutex) == 0;
    bool second = first && uv_mutex_init(&graph->evaluating) == 0;
    if (!second) {
        if (first) uv_mutex_destroy(&graph->mutex);
        rbli_allocator_free(engine->allocator, graph);
        return RBL_ERR_NO_MEMORY;
    }
    graph->engine = engine;
    atomic_init(&graph->references, 1);
    graph->root = root ? root : graph;
    graph->inputs = UINT32_MAX;
    rbli_arena_init(&graph->strings, &engine->base);
    rbli_name_table_init(&graph->ids, engine->allocator);
    *out = graph;
    return RBL_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/// Parses a source, which is taken (also on failure), and adds it to the root's documents.
static rbl_status parse_document(rbli_loader *l, rbli_source *source, rbli_document **out)
{
    rbli_document *document = rbli_allocator_calloc(l->allocator, 1, sizeof *document);
    if (!document) {
        rbli_source_release(source);
        return RBL_ERR_NO_MEMORY;
    }
    document->source = source;
    rbli_document **end = &l->root->documents;
    while (*end)
        end = &(*end)->next;
    *end = document;
    document->folder = rbli_path_folder(l->allocator, rbli_source_name(source));
    if (!document->folder) return RBL_ERR_NO_MEMORY;
    unsigned flags = ends_with(rbli_source_name(source), ".jsonc") ? RBLI_JSON_COMMENTS : 0;
    rbl_status status =
        rbli_json_parse(l->allocator, source, flags | RBLI_JSON_PARTIAL, l->messages, &document->json);
    l->partial |= document->json && document->json->partial;
    *out = document;
    return status == RBL_ERR_PARSE ? RBL_ERR_GRAPH : status; /* RBL_ERR_PARSE is for what nodes read */
}

/// Loads from a source, which is taken. `messages` is a list.
static rbl_status load(rbl_engine *engine, rbli_source *source, rbl_messages *messages, rbl_graph **out)
{
    rbli_loader l = {.engine = engine, .allocator = engine->allocator, .messages = messages};
    rbl_status status = rbli_graph_create(engine, NULL, &l.root);
    if (status != RBL_OK) {
        rbli_source_release(source);
        return status;
    }
    l.graph = l.root;
    size_t before = rbli_messages_error_count(messages), first = rbl_messages_count(messages);
    rbli_document *document = NULL;
    RBL_TRY(parse_document(&l, source, &document));
    l.root->source = document->source;
    l.root->folder = document->folder;
    rbli_loader_enter(&l, document);
    bool malformed = rbli_messages_error_count(messages) != before;
    read_document(&l);
    rbli_messages_sort(messages, first);
    if (l.out_of_memory) RBL_TRY(RBL_ERR_NO_MEMORY);
    if (l.failed || malformed || rbli_messages_error_count(messages) != before) RBL_TRY(RBL_ERR_GRAPH);
    l.root->history = rbli_allocator_calloc(engine->allocator, l.root->node_count, sizeof *l.root->history);
    RBL_TRY_ALLOC(l.root->history);
    /* Only the strings of the documents are needed from here on. */
    for (document = l.root->documents; document; document = document->next) {
        rbli_allocator_free(engine->allocator, document->json->values);
        document->json->values = NULL;
    }
    *out = l.root;
    l.root = NULL;
done:
    for (rbli_frame *frame = l.frames; frame; frame = frame->next)
        rbli_name_table_free(&frame->ids);
    rbli_allocator_free(engine->allocator, l.refs.data);
    rbl_graph_destroy(l.root);
    return status;
}

rbl_status rbl_graph_load_text(rbl_engine *engine, const char *name, const char *text, size_t bytes,
    rbl_messages **messages, rbl_graph **out)
{
    rbl_messages *own = NULL;
    rbl_messages **list = messages ? messages : &own;
    rbl_status status = rbli_messages_open(engine->allocator, list);
    if (status != RBL_OK) return status;
    if (bytes > RBLI_JSON_MOST_BYTES) {
        rbli_message_addf(*list, RBL_ERROR, RBL_ERR_LIMIT, NULL, NULL, "%s: longer than 64 MiB", name);
        rbl_messages_destroy(own);
        return RBL_ERR_LIMIT;
    }
    rbli_source *source = NULL;
    char *copy = rbli_allocator_alloc(engine->allocator, bytes + 1, 1);
    if (copy) {
        if (bytes) memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        status = rbli_source_create(engine->allocator, name, copy, bytes, &source);
    } else {
        status = RBL_ERR_NO_MEMORY;
    }
    if (status == RBL_OK) status = load(engine, source, *list, out);
    rbl_messages_destroy(own);
    return status;
}

/// Reads a file; what goes wrong is put into `text`.
static rbl_status read_source(
    rbl_engine *engine, const char *path, char *text, size_t text_bytes, rbli_source **out)
{
    rbl_context ctx = engine->base;
    ctx.messages = rbli_messages_create(engine->allocator);
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbl_status status = RBL_OK;
    *text = '\0';
    RBL_TRY_ALLOC(ctx.messages);
    status = rbli_file_read(&ctx, path, RBLI_JSON_MOST_BYTES, &bytes, &count);
    if (status != RBL_OK)
        snprintf(text, text_bytes, "%s",
            rbli_messages_count(ctx.messages) ? rbli_messages_get(ctx.messages, 0)->text
                                              : rbl_status_text(status));
    RBL_TRY(status);
    RBL_TRY(rbli_source_create(engine->allocator, path, (char *)bytes, count, out));
done:
    rbli_messages_destroy(ctx.messages);
    return status;
}

rbl_status rbl_graph_load_file(rbl_engine *engine, const char *path, rbl_messages **messages, rbl_graph **out)
{
    rbl_messages *own = NULL;
    rbl_messages **list = messages ? messages : &own;
    rbl_status status = rbli_messages_open(engine->allocator, list);
    if (status != RBL_OK) return status;
    char text[1024];
    rbli_source *source = NULL;
    status = read_source(engine, path, text, sizeof text, &source);
    if (status == RBL_OK)
        status = load(engine, source, *list, out);
    else if (status != RBL_ERR_NO_MEMORY)
        rbli_message_addf(*list, RBL_ERROR, status, NULL, NULL, "%s", text);
    rbl_messages_destroy(own);
    return status;
}

rbli_document *rbli_load_document(rbli_loader *l, uint32_t value, const char *node, const char *path)
{
    char *file = NULL;
    if (*path == '/' || !*l->document->folder) {
        file = rbli_format(&l->engine->base, "%s", path);
    } else {
        file = rbli_format(&l->engine->base, "%s/%s", l->document->folder, path);
    }
    rbli_document *document = NULL;
    if (!file) {
        l->out_of_memory = true;
        return NULL;
    }
    struct stat wanted, there;
    bool exists = stat(file, &wanted) == 0;
    for (rbli_document *d = l->root->documents; d && exists && !document; d = d->next)
        if (stat(rbli_source_name(d->source), &there) == 0 && there.st_dev == wanted.st_dev &&
            there.st_ino == wanted.st_ino)
            document = d;
    if (!document) {
        char text[1024];
        rbli_source *source = NULL;
        rbl_status status = read_source(l->engine, file, text, sizeof text, &source);
        if (status == RBL_OK) status = parse_document(l, source, &document);
        if (status == RBL_ERR_NO_MEMORY)
            l->out_of_memory = true;
        else if (status != RBL_OK && *text)
            rbli_loader_tell(l, RBL_ERROR, value, rbli_loader_at(l, value)->offset, node, NULL, "%s", text);
        if (status != RBL_OK) l->failed = true;
    }
    rbli_allocator_free(l->allocator, file);
    if (!document || !document->json || l->out_of_memory) return NULL;
    return document;
}
