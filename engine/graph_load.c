/// Loading a graph: everything wrong with it is reported in one run, each mistake where it stands.

#include "engine/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "fracture/base/file.h"

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
        if (!rbli_is_one_of(rbli_loader_at(l, m)->key, rbli_node_keys))
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
