/// Old node versions in the text of a graph file, rewritten to the newest.

#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "engine/json.h"
#include "fracture/base/alloc.h"

/// A part of the text and what comes in its place.
typedef struct edit {
    uint32_t offset, end;
    const char *text; /* in the arena */
} edit;

/// A node of an old version that can be rewritten.
typedef struct old_node {
    const char *id;
    const rbli_node_type *type;
} old_node;

typedef struct migration {
    const rbl_engine *engine;
    rbl_context *ctx;
    rbli_source *source;
    rbli_json *json;
    rbl_messages *messages;
    rbli_arena arena;
    RBLI_ARRAY(edit) edits;
    RBLI_ARRAY(old_node) nodes; /* of the graph being read */
    bool out_of_memory;
} migration;

static const rbli_json_value *at(const migration *m, uint32_t value)
{
    return &m->json->values[value];
}

/// Puts `text` with quotes in the place of the string at `offset`.
static void replace_string(migration *m, uint32_t offset, const char *text)
{
    const char *from = rbli_source_text(m->source) + offset;
    size_t length = 1, bytes = strlen(text);
    while (from[length] != '"')
        length += from[length] == '\\' ? 2 : 1;
    char *quoted = rbli_arena_alloc(&m->arena, bytes + 3, 1);
    if (!quoted) {
        m->out_of_memory = true;
        return;
    }
    quoted[0] = '"';
    memcpy(quoted + 1, text, bytes);
    memcpy(quoted + 1 + bytes, "\"", 2);
    edit e = {offset, offset + (uint32_t)length + 1, quoted};
    if (rbli_array_push(m->ctx, &m->edits, e) != RBL_OK) m->out_of_memory = true;
}

/// What the newest version calls an input, output or parameter of `type`.
static const char *new_name(const migration *m, const rbli_node_type *type, const char *name)
{
    while (type && type->desc->renames) {
        const rbl_rename *rename = type->desc->renames;
        while (rename->before && strcmp(rename->before, name) != 0)
            rename++;
        if (rename->before) name = rename->after;
        type = rbli_find_type(m->engine, type->desc->type, type->desc->version + 1);
    }
    return name;
}

/// True when every version from `type` on says what the next calls things.
static bool can_be_rewritten(const migration *m, const rbli_node_type *type)
{
    const rbli_node_type *newest = rbli_find_type(m->engine, type->desc->type, 0);
    while (type && type != newest) {
        if (!type->desc->renames) return false;
        type = rbli_find_type(m->engine, type->desc->type, type->desc->version + 1);
    }
    return type != NULL;
}

static void tell(migration *m, rbl_severity severity, uint32_t value, const char *node, const char *format,
    const char *type)
{
    rbli_text pointer;
    rbli_text_init(&pointer, m->engine->allocator);
    rbli_json_pointer(m->json, value, &pointer);
    rbli_place place = {m->source, at(m, value)->offset, node, pointer.data};
    rbli_text text;
    rbli_text_init(&text, m->engine->allocator);
    rbli_text_puts(&text, type);
    rbli_text_puts(&text, format);
    rbli_message_add(m->messages, severity, RBL_OK, &place, NULL, text.data ? text.data : format);
    rbli_text_free(&text);
    rbli_text_free(&pointer);
}

/// The old type that a node names, NULL when it is none that can be rewritten.
static const rbli_node_type *old_type(migration *m, uint32_t node, uint32_t type)
{
    char name[256];
    const char *text = at(m, type)->string, *pin = strchr(text, '@');
    if (!pin || (size_t)(pin - text) >= sizeof name) return NULL;
    memcpy(name, text, (size_t)(pin - text));
    name[pin - text] = '\0';
    const rbli_node_type *found = rbli_find_type(m->engine, name, atoi(pin + 1));
    if (!found || found == rbli_find_type(m->engine, name, 0)) return NULL;
    if (!can_be_rewritten(m, found)) {
        tell(m, RBL_WARNING, type, at(m, node)->key, " has to be rewritten by hand", text);
        return NULL;
    }
    tell(m, RBL_NOTE, type, at(m, node)->key, " becomes the newest version", text);
    return found;
}

static void rename_members(migration *m, uint32_t node, const char *what, const rbli_node_type *type)
{
    uint32_t object = rbli_json_member(m->json, node, what);
    if (object == RBLI_JSON_NONE || at(m, object)->type != RBLI_JSON_OBJECT) return;
    for (uint32_t k = at(m, object)->first_child; k != RBLI_JSON_NONE; k = at(m, k)->next) {
        const char *name = new_name(m, type, at(m, k)->key);
        if (strcmp(name, at(m, k)->key) != 0) replace_string(m, at(m, k)->key_offset, name);
    }
}

/// Rewrites "node.port" at a string value.
static void rename_reference(migration *m, uint32_t value)
{
    const char *text = at(m, value)->string, *dot = strchr(text, '.');
    for (size_t i = 0; dot && i < m->nodes.count; i++) {
        const old_node *node = &m->nodes.data[i];
        size_t length = strlen(node->id);
        if ((size_t)(dot - text) != length || strncmp(text, node->id, length) != 0) continue;
        const char *name = new_name(m, node->type, dot + 1);
        size_t bytes = length + strlen(name) + 2;
        char *renamed = rbli_arena_alloc(&m->arena, bytes, 1);
        if (!renamed) {
            m->out_of_memory = true;
            return;
        }
        memcpy(renamed, text, length + 1);
        memcpy(renamed + length + 1, name, strlen(name) + 1);
        if (strcmp(name, dot + 1) != 0) replace_string(m, at(m, value)->offset, renamed);
    }
}

/// All values of a graph, which stand one after another: strings under "in" and "outputs", and {"from": …}.
static void rename_references(migration *m, uint32_t graph)
{
    uint32_t nodes = rbli_json_member(m->json, graph, "nodes");
    uint32_t outputs = rbli_json_member(m->json, graph, "outputs");
    for (uint32_t v = graph; v < m->json->count && at(m, v)->offset < at(m, graph)->end; v++) {
        if (at(m, v)->type != RBLI_JSON_STRING) continue;
        bool from = at(m, v)->key && strcmp(at(m, v)->key, "from") == 0, connected = false;
        for (uint32_t p = at(m, v)->parent; p != RBLI_JSON_NONE && p != graph && !connected;
             p = at(m, p)->parent) {
            uint32_t node = at(m, p)->parent;
            connected = p == outputs || (node != RBLI_JSON_NONE && at(m, node)->parent == nodes &&
                                            strcmp(at(m, p)->key ? at(m, p)->key : "", "in") == 0);
        }
        if (from || connected) rename_reference(m, v);
    }
}

static void migrate_graph(migration *m, uint32_t graph)
{
    if (at(m, graph)->type != RBLI_JSON_OBJECT) return;
    uint32_t nodes = rbli_json_member(m->json, graph, "nodes");
    if (nodes == RBLI_JSON_NONE || at(m, nodes)->type != RBLI_JSON_OBJECT) return;
    m->nodes.count = 0;
    for (uint32_t n = at(m, nodes)->first_child; n != RBLI_JSON_NONE; n = at(m, n)->next) {
        if (at(m, n)->type != RBLI_JSON_OBJECT) continue;
        uint32_t type = rbli_json_member(m->json, n, "type");
        if (type == RBLI_JSON_NONE || at(m, type)->type != RBLI_JSON_STRING) continue;
        old_node node = {at(m, n)->key, old_type(m, n, type)};
        if (!node.type) continue;
        replace_string(m, at(m, type)->offset, node.type->desc->type);
        rename_members(m, n, "in", node.type);
        rename_members(m, n, "params", node.type);
        if (rbli_array_push(m->ctx, &m->nodes, node) != RBL_OK) m->out_of_memory = true;
    }
    if (m->nodes.count) rename_references(m, graph);
}

static int compare_edits(const void *a, const void *b)
{
    const edit *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static rbl_status apply_edits(migration *m, char **out)
{
    rbli_text text;
    rbli_text_init(&text, m->engine->allocator);
    const char *from = rbli_source_text(m->source);
    uint32_t done = 0;
    if (m->edits.count) qsort(m->edits.data, m->edits.count, sizeof *m->edits.data, compare_edits);
    for (size_t i = 0; i < m->edits.count; i++) {
        const edit *e = &m->edits.data[i];
        if (e->offset < done) continue;
        rbli_text_add(&text, from + done, e->offset - done);
        rbli_text_puts(&text, e->text);
        done = e->end;
    }
    rbli_text_add(&text, from + done, rbli_source_bytes(m->source) - done);
    return rbli_text_take(&text, out);
}

rbl_status rbl_engine_migrate(const rbl_engine *engine, const char *name, const char *text, size_t bytes,
    rbl_messages **messages, char **out)
{
    rbl_messages *own = NULL;
    rbl_messages **list = messages ? messages : &own;
    rbl_context ctx = engine->base;
    migration m = {.engine = engine, .ctx = &ctx};
    rbl_status status = rbli_messages_open(engine->allocator, list);
    if (status != RBL_OK) return status;
    m.messages = *list;
    rbli_arena_init(&m.arena, &ctx);
    size_t before = rbli_messages_error_count(*list), length = strlen(name);
    unsigned flags = length >= 6 && strcmp(name + length - 6, ".jsonc") == 0 ? RBLI_JSON_COMMENTS : 0;
    char *copy = rbli_allocator_alloc(engine->allocator, bytes + 1, 1);
    RBL_TRY_ALLOC(copy);
    if (bytes) memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    RBL_TRY(rbli_source_create(engine->allocator, name, copy, bytes, &m.source));
    status = rbli_json_parse(engine->allocator, m.source, flags, *list, &m.json);
    if (status == RBL_ERR_PARSE) status = RBL_ERR_GRAPH;
    if (status == RBL_OK && rbli_messages_error_count(*list) != before) status = RBL_ERR_GRAPH;
    RBL_TRY(status);
    migrate_graph(&m, 0);
    uint32_t graphs =
        at(&m, 0)->type == RBLI_JSON_OBJECT ? rbli_json_member(m.json, 0, "graphs") : RBLI_JSON_NONE;
    if (graphs != RBLI_JSON_NONE && at(&m, graphs)->type == RBLI_JSON_OBJECT)
        for (uint32_t g = at(&m, graphs)->first_child; g != RBLI_JSON_NONE; g = at(&m, g)->next)
            migrate_graph(&m, g);
    if (m.out_of_memory) RBL_TRY(RBL_ERR_NO_MEMORY);
    RBL_TRY(apply_edits(&m, out));
done:
    rbli_arena_free(&m.arena);
    rbli_free(&ctx, m.edits.data);
    rbli_free(&ctx, m.nodes.data);
    rbli_json_destroy(m.json);
    rbli_source_release(m.source);
    rbl_messages_destroy(own);
    return status;
}
