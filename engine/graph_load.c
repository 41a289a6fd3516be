/// Loading a graph: everything wrong with it is reported in one run, each mistake where it stands.

#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/file.h"

enum {
    MOST_NODES = 100000,
    LONGEST_ID = 64,
    MOST_CYCLES = 10, /* reported */
};

typedef struct loader {
    rbl_engine *engine;
    rbli_allocator *allocator;
    rbl_graph *graph;
    rbli_json *json;
    rbl_messages *messages;
    uint32_t *node_values;          /* [node_count] the nodes' JSON values */
    size_t current;                 /* node whose parameters are being read */
    RBLI_ARRAY(rbli_port_ref) refs; /* of that node */
    bool failed, out_of_memory;
} loader;

static const rbli_json_value *at(const loader *l, uint32_t value)
{
    return &l->json->values[value];
}

/// Reports something about the JSON value `value`, at byte `offset`. `key`: a name under it that is missing,
/// or NULL.
static void tell(loader *l, rbl_severity severity, uint32_t value, uint32_t offset, const char *node,
    const char *hint, const char *format, ...) RBL_PRINTF(7, 8);
static void tell(loader *l, rbl_severity severity, uint32_t value, uint32_t offset, const char *node,
    const char *hint, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    rbli_json_pointer(l->json, value, &pointer);
    rbli_place place = {l->graph->source, offset, node, pointer.data};
    rbli_message_add(
        l->messages, severity, severity == RBL_ERROR ? RBL_ERR_GRAPH : RBL_OK, &place, hint, text);
    rbli_text_free(&pointer);
    l->failed |= severity == RBL_ERROR;
}

/// Reports a value of the wrong JSON type unless the parser did.
static void tell_type(loader *l, uint32_t value, const char *node, const char *what, const char *wanted)
{
    if (at(l, value)->type == RBLI_JSON_BAD)
        l->failed = true;
    else
        tell(l, RBL_ERROR, value, at(l, value)->offset, node, NULL, "%s must be %s, not %s", what, wanted,
            rbli_json_type_words(at(l, value)->type));
}

/// Reports every member of an object that is not in `allowed` (ended by NULL).
static void check_keys(loader *l, uint32_t object, const char *node, const char *const *allowed)
{
    for (uint32_t m = at(l, object)->first_child; m != RBLI_JSON_NONE; m = at(l, m)->next) {
        rbli_nearest nearest;
        rbli_nearest_init(&nearest, at(l, m)->key);
        bool known = false;
        for (size_t i = 0; allowed[i] && !known; i++) {
            known = strcmp(allowed[i], at(l, m)->key) == 0;
            rbli_nearest_feed(&nearest, allowed[i]);
        }
        if (known) continue;
        rbli_text hint;
        rbli_text_init(&hint, l->allocator);
        if (nearest.best) rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
        rbli_text_puts(&hint, "allowed: ");
        for (size_t i = 0; allowed[i]; i++)
            rbli_text_printf(&hint, "%s%s", i ? ", " : "", allowed[i]);
        tell(l, RBL_ERROR, m, at(l, m)->key_offset, node, hint.data, "unknown key \"%s\"", at(l, m)->key);
        rbli_text_free(&hint);
    }
}

static bool is_identifier(const char *name)
{
    size_t length = 0;
    for (; name[length]; length++) {
        char c = name[length];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(length > 0 && c >= '0' && c <= '9')) return false;
    }
    return length >= 1 && length <= LONGEST_ID;
}

/* ---- Version and variables ---- */

static void check_version(loader *l)
{
    uint32_t version = rbli_json_member(l->json, 0, "rubble");
    if (version == RBLI_JSON_NONE) {
        tell(l, RBL_ERROR, 0, at(l, 0)->offset, NULL, NULL,
            "missing \"rubble\": %d (the version of the format)", RBL_GRAPH_VERSION);
    } else if (at(l, version)->type != RBLI_JSON_NUMBER || !at(l, version)->is_integer) {
        tell_type(l, version, NULL, "\"rubble\"", "an integer");
    } else if (at(l, version)->integer != RBL_GRAPH_VERSION) {
        char hint[80];
        snprintf(hint, sizeof hint, "this program reads version %d", RBL_GRAPH_VERSION);
        tell(l, RBL_ERROR, version, at(l, version)->offset, NULL, hint,
            "unknown version %lld of the graph format", (long long)at(l, version)->integer);
    }
}

static const struct {
    const char *word;
    rbl_param_type type;
} variable_types[] = {
    {"int", RBL_PARAM_INT},
    {"float", RBL_PARAM_FLOAT},
    {"bool", RBL_PARAM_BOOL},
    {"string", RBL_PARAM_STRING},
    {"path", RBL_PARAM_PATH},
    {"seed", RBL_PARAM_SEED},
    {"enum", RBL_PARAM_ENUM},
    {"vec3", RBL_PARAM_VEC3},
};

static void read_variable_type(loader *l, uint32_t object, rbli_variable *variable)
{
    uint32_t type = rbli_json_member(l->json, object, "type");
    if (type == RBLI_JSON_NONE) {
        tell(l, RBL_ERROR, object, at(l, object)->offset, NULL, NULL, "variable \"%s\" has no \"type\"",
            variable->name);
        return;
    }
    if (at(l, type)->type != RBLI_JSON_STRING) {
        tell_type(l, type, NULL, "\"type\"", "a string");
        return;
    }
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, at(l, type)->string);
    for (size_t i = 0; i < sizeof variable_types / sizeof *variable_types; i++) {
        if (strcmp(variable_types[i].word, at(l, type)->string) == 0)
            variable->desc.type = variable_types[i].type;
        rbli_nearest_feed(&nearest, variable_types[i].word);
    }
    if (variable->desc.type) return;
    char hint[160];
    snprintf(hint, sizeof hint, "%s%s%sallowed: int, float, bool, string, path, seed, enum, vec3",
        nearest.best ? "did you mean \"" : "", nearest.best ? nearest.best : "", nearest.best ? "\"?\n" : "");
    tell(l, RBL_ERROR, type, at(l, type)->offset, NULL, hint, "unknown type \"%s\" of a variable",
        at(l, type)->string);
}

static void read_variable_bounds(loader *l, uint32_t object, rbli_variable *variable)
{
    rbl_param_type type = variable->desc.type;
    bool number =
        type == RBL_PARAM_INT || type == RBL_PARAM_FLOAT || type == RBL_PARAM_SEED || type == RBL_PARAM_VEC3;
    const char *names[2] = {"min", "max"};
    double bounds[2] = {-1.7976931348623157e308, 1.7976931348623157e308};
    bool any = false;
    for (size_t i = 0; i < 2; i++) {
        uint32_t bound = rbli_json_member(l->json, object, names[i]);
        if (bound == RBLI_JSON_NONE) continue;
        if (!number && type)
            tell(l, RBL_ERROR, bound, at(l, bound)->key_offset, NULL, NULL,
                "a variable of type %s has no \"%s\"", rbli_param_type_word(type), names[i]);
        else if (at(l, bound)->type != RBLI_JSON_NUMBER)
            tell_type(l, bound, NULL, i ? "\"max\"" : "\"min\"", "a number");
        else
            bounds[i] = at(l, bound)->number;
        any = true;
    }
    if (bounds[0] > bounds[1]) {
        uint32_t min = rbli_json_member(l->json, object, "min");
        tell(l, RBL_ERROR, min, at(l, min)->offset, NULL, NULL, "\"min\" is above \"max\"");
        any = false;
    }
    if (!any) return;
    variable->desc.min = bounds[0];
    variable->desc.max = bounds[1];
    /* "min": 0, "max": 0 means that bound; two zeros in a descriptor mean none. */
    if (bounds[0] == 0 && bounds[1] == 0) variable->desc.max = 5e-324;
}

static void read_variable_words(loader *l, uint32_t object, rbli_variable *variable)
{
    uint32_t words = rbli_json_member(l->json, object, "words");
    if (variable->desc.type != RBL_PARAM_ENUM) {
        if (words != RBLI_JSON_NONE && variable->desc.type)
            tell(l, RBL_ERROR, words, at(l, words)->key_offset, NULL, NULL, "only an enum has \"words\"");
        return;
    }
    bool good =
        words != RBLI_JSON_NONE && at(l, words)->type == RBLI_JSON_ARRAY && at(l, words)->child_count > 0;
    for (uint32_t w = good ? at(l, words)->first_child : RBLI_JSON_NONE; w != RBLI_JSON_NONE;
         w = at(l, w)->next)
        good = good && at(l, w)->type == RBLI_JSON_STRING;
    if (!good) {
        uint32_t where = words != RBLI_JSON_NONE ? words : object;
        tell(l, RBL_ERROR, where, at(l, where)->offset, NULL, NULL,
            "an enum needs \"words\": a list of the words that it may be");
        variable->desc.type = 0;
        return;
    }
    const char **list = rbli_allocator_calloc(l->allocator, at(l, words)->child_count + 1, sizeof *list);
    if (!list) {
        l->out_of_memory = true;
        variable->desc.type = 0;
        return;
    }
    size_t count = 0;
    for (uint32_t w = at(l, words)->first_child; w != RBLI_JSON_NONE; w = at(l, w)->next)
        list[count++] = at(l, w)->string;
    variable->desc.words = list;
}

static void read_variable_default(loader *l, uint32_t object, rbli_variable *variable)
{
    uint32_t value = rbli_json_member(l->json, object, "default");
    if (value == RBLI_JSON_NONE || !variable->desc.type) return;
    char pointer[LONGEST_ID + 32];
    snprintf(pointer, sizeof pointer, "/vars/%s/default", variable->name);
    rbli_param_scope scope = {.allocator = l->allocator,
        .messages = l->messages,
        .source = l->graph->source,
        .folder = l->graph->folder,
        .pointer = pointer,
        .node_offset = at(l, value)->offset};
    if (rbli_params_build_value(&scope, &variable->desc, l->json, value, &variable->value) != RBL_OK)
        l->out_of_memory = true;
    l->failed |= scope.failed;
}

static char *copy_text(loader *l, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = rbli_allocator_alloc(l->allocator, bytes, 1);
    if (!copy) l->out_of_memory = true;
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static void read_variable(loader *l, uint32_t object)
{
    static const char *const keys[] = {"type", "default", "min", "max", "words", "text", NULL};
    rbl_graph *graph = l->graph;
    const char *name = at(l, object)->key;
    for (size_t i = 0; i < graph->variable_count; i++)
        if (strcmp(graph->variables[i].name, name) == 0) return; /* reported by the parser */
    bool named = is_identifier(name);
    if (!named)
        tell(l, RBL_ERROR, object, at(l, object)->key_offset, NULL,
            "names: letters, digits and _, not beginning with a digit, at most 64",
            "\"%s\" cannot name a variable", name);
    if (at(l, object)->type != RBLI_JSON_OBJECT) {
        tell_type(l, object, NULL, "a variable", "an object like {\"type\": \"int\", \"default\": 1}");
        return;
    }
    rbli_variable *variable = &graph->variables[graph->variable_count];
    *variable = (rbli_variable){.name = copy_text(l, name), .offset = at(l, object)->key_offset};
    if (!variable->name) return;
    graph->variable_count++;
    variable->desc.name = variable->name;
    check_keys(l, object, NULL, keys);
    read_variable_type(l, object, variable);
    read_variable_bounds(l, object, variable);
    read_variable_words(l, object, variable);
    read_variable_default(l, object, variable);
    if (!named || !variable->desc.type) variable->used = true; /* one error is enough */
    rbli_text json;
    rbli_text_init(&json, l->allocator);
    if (variable->value) rbli_param_json(rbli_params_root(variable->value), &json);
    if (rbli_text_take(&json, &variable->json) != RBL_OK) l->out_of_memory = true;
}

static void read_variables(loader *l)
{
    uint32_t vars = rbli_json_member(l->json, 0, "vars");
    if (vars == RBLI_JSON_NONE) return;
    if (at(l, vars)->type != RBLI_JSON_OBJECT) {
        tell_type(l, vars, NULL, "\"vars\"", "an object");
        return;
    }
    l->graph->variables =
        rbli_allocator_calloc(l->allocator, at(l, vars)->child_count, sizeof(rbli_variable));
    if (!l->graph->variables) {
        l->out_of_memory = true;
        return;
    }
    for (uint32_t v = at(l, vars)->first_child; v != RBLI_JSON_NONE && !l->out_of_memory; v = at(l, v)->next)
        read_variable(l, v);
}

/* ---- Nodes and their types ---- */

static void tell_unknown_type(loader *l, uint32_t value, const char *node, const char *type)
{
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    const char *nearest = rbl_engine_nearest_node(l->engine, type);
    if (nearest) rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest);
    rbli_text_puts(&hint, "types: ");
    const char *before = "";
    for (size_t i = 0; i < l->engine->type_count; i++) {
        const char *name = l->engine->types[i]->desc->type;
        if (strcmp(name, before) != 0) rbli_text_printf(&hint, "%s%s", *before ? ", " : "", name);
        before = name;
    }
    tell(l, RBL_ERROR, value, at(l, value)->offset, node, hint.data, "unknown node type \"%s\"", type);
    rbli_text_free(&hint);
}

static void find_type(loader *l, uint32_t value, rbli_graph_node *node)
{
    char name[256];
    const char *text = at(l, value)->string, *pin = strchr(text, '@');
    if (strncmp(text, "graph:", 6) == 0) {
        tell(l, RBL_ERROR, value, at(l, value)->offset, node->id, NULL,
            "subgraphs are not supported by this version");
        return;
    }
    size_t length = pin ? (size_t)(pin - text) : strlen(text);
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, text, length);
    name[length] = '\0';
    int version = 0;
    if (pin) {
        char *end;
        long number = strtol(pin + 1, &end, 10);
        if (pin[1] < '1' || pin[1] > '9' || *end || number > INT32_MAX) {
            tell(l, RBL_ERROR, value, at(l, value)->offset, node->id, NULL,
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
        tell(l, RBL_ERROR, value, at(l, value)->offset, node->id, NULL,
            "node type %s has no version %d; the newest is %d", name, version, newest->desc->version);
    else if (node->type != newest)
        tell(l, RBL_WARNING, value, at(l, value)->offset, node->id, NULL,
            "version %d of %s is old; the newest is %d", version, name, newest->desc->version);
}

static void read_node(loader *l, uint32_t object, rbli_graph_node *node)
{
    static const char *const keys[] = {"type", "in", "params", NULL};
    *node = (rbli_graph_node){.id = at(l, object)->key, .id_offset = at(l, object)->key_offset};
    if (!is_identifier(node->id))
        tell(l, RBL_ERROR, object, node->id_offset, NULL,
            "ids: letters, digits and _, not beginning with a digit, at most 64",
            "\"%s\" cannot be a node's id", node->id);
    if (at(l, object)->type != RBLI_JSON_OBJECT) {
        tell_type(l, object, node->id, "a node", "an object like {\"type\": \"…\"}");
        return;
    }
    check_keys(l, object, node->id, keys);
    uint32_t type = rbli_json_member(l->json, object, "type");
    if (type == RBLI_JSON_NONE)
        tell(l, RBL_ERROR, object, at(l, object)->offset, node->id, NULL, "missing \"type\"");
    else if (at(l, type)->type != RBLI_JSON_STRING)
        tell_type(l, type, node->id, "\"type\"", "a string");
    else
        find_type(l, type, node);
}

static void read_nodes(loader *l)
{
    rbl_graph *graph = l->graph;
    uint32_t nodes = rbli_json_member(l->json, 0, "nodes");
    if (nodes == RBLI_JSON_NONE) {
        tell(l, RBL_ERROR, 0, at(l, 0)->offset, NULL, NULL, "missing \"nodes\"");
        return;
    }
    if (at(l, nodes)->type != RBLI_JSON_OBJECT) {
        tell_type(l, nodes, NULL, "\"nodes\"", "an object");
        return;
    }
    if (at(l, nodes)->child_count == 0) {
        tell(l, RBL_ERROR, nodes, at(l, nodes)->offset, NULL, NULL, "the graph has no node");
        return;
    }
    if (at(l, nodes)->child_count > MOST_NODES) {
        tell(l, RBL_ERROR, nodes, at(l, nodes)->offset, NULL, NULL, "%u nodes; a graph may have 100000",
            at(l, nodes)->child_count);
        return;
    }
    graph->nodes = rbli_allocator_calloc(l->allocator, at(l, nodes)->child_count, sizeof *graph->nodes);
    l->node_values = rbli_allocator_calloc(l->allocator, at(l, nodes)->child_count, sizeof *l->node_values);
    if (!graph->nodes || !l->node_values) {
        l->out_of_memory = true;
        return;
    }
    for (uint32_t n = at(l, nodes)->first_child; n != RBLI_JSON_NONE; n = at(l, n)->next) {
        size_t existing;
        if (rbli_name_table_add(&graph->ids, at(l, n)->key, graph->node_count, &existing) != RBL_OK) {
            l->out_of_memory = true;
            return;
        }
        if (existing != SIZE_MAX) continue; /* reported by the parser */
        l->node_values[graph->node_count] = n;
        read_node(l, n, &graph->nodes[graph->node_count++]);
    }
}

/* ---- Connections ---- */

static void tell_unknown_node(loader *l, const rbli_place *place, const char *id)
{
    rbl_graph *graph = l->graph;
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, id);
    for (size_t i = 0; i < graph->node_count; i++)
        rbli_nearest_feed(&nearest, graph->nodes[i].id);
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    if (nearest.best) rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
    rbli_text_puts(&hint, "nodes: ");
    for (size_t i = 0; i < graph->node_count && i < 40; i++)
        rbli_text_printf(&hint, "%s%s", i ? ", " : "", graph->nodes[i].id);
    if (graph->node_count > 40) rbli_text_printf(&hint, " and %zu more", graph->node_count - 40);
    rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, place, hint.data, "there is no node \"%s\"", id);
    rbli_text_free(&hint);
    l->failed = true;
}

static void tell_unknown_port(loader *l, const rbli_place *place, const char *what, const char *name,
    const rbl_node_desc *desc, const rbl_port_desc *ports)
{
    rbli_text hint;
    rbli_text_init(&hint, l->allocator);
    rbli_nearest nearest;
    rbli_nearest_init(&nearest, name);
    for (size_t i = 0; ports && ports[i].name; i++)
        rbli_nearest_feed(&nearest, ports[i].name);
    if (nearest.best) rbli_text_printf(&hint, "did you mean \"%s\"?\n", nearest.best);
    rbli_text_printf(&hint, "%ss of %s: %s", what, desc->type, ports && ports[0].name ? "" : "none");
    for (size_t i = 0; ports && ports[i].name; i++)
        rbli_text_printf(&hint, "%s%s", i ? ", " : "", ports[i].name);
    rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, place, hint.data, "%s has no %s \"%s\"",
        desc->type, what, name);
    rbli_text_free(&hint);
    l->failed = true;
}

/// Finds "node" or "node.port". False when it was reported; *kind is 0 when the node's type is not known.
static bool find_output(
    loader *l, const rbli_place *place, const char *text, rbli_port_ref *ref, rbl_value_kind *kind)
{
    rbl_graph *graph = l->graph;
    char id[256];
    const char *dot = strchr(text, '.');
    size_t length = dot ? (size_t)(dot - text) : strlen(text);
    if (length >= sizeof id) length = sizeof id - 1;
    memcpy(id, text, length);
    id[length] = '\0';
    *kind = 0;
    size_t node = rbli_name_table_find(&graph->ids, id);
    if (node == SIZE_MAX) {
        tell_unknown_node(l, place, id);
        return false;
    }
    *ref = (rbli_port_ref){(uint32_t)node, 0, (uint32_t)place->offset};
    const rbli_node_type *type = graph->nodes[node].type;
    if (!type) return true; /* reported at that node */
    const rbl_port_desc *ports = type->desc->outputs;
    size_t port = dot ? rbli_find_port(ports, dot + 1) : 0;
    if (!dot && type->output_count == 0) {
        rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, place, NULL,
            "node \"%s\" (%s) has no output", id, type->desc->type);
        l->failed = true;
        return false;
    }
    if (port == SIZE_MAX) {
        tell_unknown_port(l, place, "output", dot + 1, type->desc, ports);
        return false;
    }
    ref->port = (uint32_t)port;
    *kind = ports[port].kind;
    return true;
}

static void add_ref(loader *l, rbli_port_ref ref)
{
    if (rbli_array_push(&l->engine->base, &l->refs, ref) != RBL_OK) l->out_of_memory = true;
}

static void read_connection(loader *l, const rbli_graph_node *node, const rbl_port_desc *port, uint32_t value)
{
    if (at(l, value)->type != RBLI_JSON_STRING) {
        tell_type(l, value, node->id, "a connection", "a string like \"node\" or \"node.port\"");
        return;
    }
    rbli_text pointer;
    rbli_text_init(&pointer, l->allocator);
    rbli_json_pointer(l->json, value, &pointer);
    rbli_place place = {l->graph->source, at(l, value)->offset, node->id, pointer.data};
    rbli_port_ref ref;
    rbl_value_kind kind;
    if (find_output(l, &place, at(l, value)->string, &ref, &kind)) {
        add_ref(l, ref);
        if (kind && !rbli_value_kind_fits(kind, port->kind)) {
            rbli_message_addf(l->messages, RBL_ERROR, RBL_ERR_GRAPH, &place, NULL,
                "input \"%s\" takes a value of kind %s, but \"%s\" gives one of kind %s", port->name,
                rbli_value_kind_word(port->kind), at(l, value)->string, rbli_value_kind_word(kind));
            l->failed = true;
        }
    }
    rbli_text_free(&pointer);
}

static void read_input(loader *l, rbli_graph_node *node, const rbl_port_desc *port, uint32_t value)
{
    if (at(l, value)->type != RBLI_JSON_ARRAY) {
        read_connection(l, node, port, value);
    } else if (!port->several) {
        tell(l, RBL_ERROR, value, at(l, value)->offset, node->id, NULL,
            "input \"%s\" takes one connection, not a list", port->name);
    } else {
        if (at(l, value)->child_count == 0 && !port->optional)
            tell(l, RBL_ERROR, value, at(l, value)->offset, node->id, NULL, "input \"%s\" needs a connection",
                port->name);
        for (uint32_t c = at(l, value)->first_child; c != RBLI_JSON_NONE; c = at(l, c)->next)
            read_connection(l, node, port, c);
    }
}

static void tell_unknown_inputs(loader *l, const rbli_graph_node *node, uint32_t in)
{
    const rbl_port_desc *ports = node->type->desc->inputs;
    for (uint32_t m = at(l, in)->first_child; m != RBLI_JSON_NONE; m = at(l, m)->next) {
        if (rbli_find_port(ports, at(l, m)->key) != SIZE_MAX) continue;
        rbli_text pointer;
        rbli_text_init(&pointer, l->allocator);
        rbli_json_pointer(l->json, m, &pointer);
        rbli_place place = {l->graph->source, at(l, m)->key_offset, node->id, pointer.data};
        tell_unknown_port(l, &place, "input", at(l, m)->key, node->type->desc, ports);
        rbli_text_free(&pointer);
    }
}

/// True when a name that is no port is nearest to `port`: it was reported, with this one as what was meant.
static bool is_misspelt(loader *l, uint32_t in, const rbl_port_desc *ports, const char *port)
{
    if (in == RBLI_JSON_NONE) return false;
    for (uint32_t m = at(l, in)->first_child; m != RBLI_JSON_NONE; m = at(l, m)->next) {
        if (rbli_find_port(ports, at(l, m)->key) != SIZE_MAX) continue;
        rbli_nearest nearest;
        rbli_nearest_init(&nearest, at(l, m)->key);
        for (size_t i = 0; ports[i].name; i++)
            rbli_nearest_feed(&nearest, ports[i].name);
        if (nearest.best && strcmp(nearest.best, port) == 0) return true;
    }
    return false;
}

static void read_inputs(loader *l, rbli_graph_node *node, uint32_t object)
{
    uint32_t in = rbli_json_member(l->json, object, "in");
    bool malformed = in != RBLI_JSON_NONE && at(l, in)->type != RBLI_JSON_OBJECT;
    if (malformed) {
        tell_type(l, in, node->id, "\"in\"", "an object like {\"collection\": \"node\"}");
        in = RBLI_JSON_NONE;
    }
    if (in != RBLI_JSON_NONE) tell_unknown_inputs(l, node, in);
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
        } else if (!port->optional && !malformed &&
                   !is_misspelt(l, in, node->type->desc->inputs, port->name)) {
            uint32_t where = in != RBLI_JSON_NONE ? in : object;
            tell(l, RBL_ERROR, where, at(l, where)->offset, node->id, NULL,
                "input \"%s\" (kind %s) is not connected", port->name, rbli_value_kind_word(port->kind));
        }
    }
    node->input_start[count] = (uint32_t)l->refs.count;
}

/* ---- Parameters ---- */

static int32_t connect_parameter(void *user, const rbli_place *place, const char *text, rbl_value_kind *kind)
{
    loader *l = user;
    const rbli_graph_node *node = &l->graph->nodes[l->current];
    rbli_port_ref ref;
    if (!find_output(l, place, text, &ref, kind) || !*kind) return -1;
    size_t number = l->refs.count - node->input_start[node->type->input_count];
    add_ref(l, ref);
    return (int32_t)number;
}

static void read_parameters(loader *l, rbli_graph_node *node, uint32_t object)
{
    char pointer[LONGEST_ID * 8];
    snprintf(pointer, sizeof pointer, "/nodes/%s/params", node->id);
    rbli_param_scope scope = {.allocator = l->allocator,
        .messages = l->messages,
        .source = l->graph->source,
        .folder = l->graph->folder,
        .node = node->id,
        .pointer = pointer,
        .node_offset = node->id_offset,
        .variables = l->graph->variables,
        .variable_count = l->graph->variable_count,
        .from = connect_parameter,
        .user = l};
    uint32_t params = rbli_json_member(l->json, object, "params");
    if (rbli_params_build(
            &scope, node->type->desc->params, l->json, params, node->type->defaults, &node->params) != RBL_OK)
        l->out_of_memory = true;
    l->failed |= scope.failed;
}

/// Variables that are used by the parameters of a node whose type is not known are no reason for a warning.
static void note_variables(loader *l, uint32_t object)
{
    uint32_t first = object, end = object;
    while (end < l->json->count && at(l, end)->offset < at(l, object)->end)
        end++;
    for (uint32_t v = first; v < end; v++) {
        if (at(l, v)->type != RBLI_JSON_STRING || !at(l, v)->key || strcmp(at(l, v)->key, "var") != 0)
            continue;
        for (size_t i = 0; i < l->graph->variable_count; i++)
            if (strcmp(l->graph->variables[i].name, at(l, v)->string) == 0)
                l->graph->variables[i].used = true;
    }
}

static void connect_nodes(loader *l)
{
    for (size_t i = 0; i < l->graph->node_count && !l->out_of_memory; i++) {
        rbli_graph_node *node = &l->graph->nodes[i];
        uint32_t object = l->node_values[i];
        if (!node->type) {
            note_variables(l, object);
            continue;
        }
        l->current = i;
        l->refs.count = 0;
        read_inputs(l, node, object);
        if (l->out_of_memory) return;
        read_parameters(l, node, object);
        node->refs = rbli_allocator_alloc(l->allocator, l->refs.count, sizeof *node->refs);
        if (!node->refs) {
            l->out_of_memory = true;
            return;
        }
        if (l->refs.count) memcpy(node->refs, l->refs.data, l->refs.count * sizeof *node->refs);
        node->ref_count = (uint32_t)l->refs.count;
    }
}

static void warn_unused(loader *l)
{
    for (size_t i = 0; i < l->graph->variable_count; i++) {
        const rbli_variable *variable = &l->graph->variables[i];
        if (variable->used) continue;
        char pointer[LONGEST_ID * 8];
        snprintf(pointer, sizeof pointer, "/vars/%s", variable->name);
        rbli_place place = {l->graph->source, variable->offset, NULL, pointer};
        rbli_message_addf(
            l->messages, RBL_WARNING, RBL_OK, &place, NULL, "variable \"%s\" is not used", variable->name);
    }
}

/* ---- Order and cycles ---- */

/// Reports the cycle that `node` is on, of nodes that `left` of their inputs wait for; marks them.
static void tell_cycle(loader *l, uint32_t first, const uint32_t *left, uint32_t *mark, uint32_t round)
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
    rbli_text_printf(&text, "the nodes form a cycle: %s", graph->nodes[node].id);
    for (size_t i = path.count, written = 0; i-- > 0; written++) {
        if (written == 20 && i > 2) {
            rbli_text_printf(&text, " → … %zu more …", i);
            i = 1;
        }
        rbli_text_printf(&text, " → %s", graph->nodes[path.data[i]].id);
    }
    char pointer[LONGEST_ID * 8];
    snprintf(pointer, sizeof pointer, "/nodes/%s", graph->nodes[node].id);
    const rbli_port_ref *back = NULL;
    for (uint32_t i = 0; i < graph->nodes[node].ref_count && !back; i++)
        if (left[graph->nodes[node].refs[i].node]) back = &graph->nodes[node].refs[i];
    rbli_place place = {
        graph->source, back ? back->offset : graph->nodes[node].id_offset, graph->nodes[node].id, pointer};
    rbli_message_add(l->messages, RBL_ERROR, RBL_ERR_GRAPH, &place, NULL, text.data ? text.data : "a cycle");
    l->failed = true;
    rbli_text_free(&text);
    rbli_allocator_free(l->allocator, path.data);
}

/// Sorts the nodes so that each comes behind those that it needs (Kahn 1962).
static void sort_nodes(loader *l)
{
    rbl_graph *graph = l->graph;
    size_t count = graph->node_count, edge_count = 0;
    for (size_t i = 0; i < count; i++)
        edge_count += graph->nodes[i].ref_count;
    graph->order = rbli_allocator_calloc(l->allocator, count, sizeof *graph->order);
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
    for (size_t i = 0; i < count && sorted < count && round < MOST_CYCLES; i++)
        if (left[i] && !mark[i]) tell_cycle(l, (uint32_t)i, left, mark, ++round);
done:
    rbli_allocator_free(l->allocator, left);
    rbli_allocator_free(l->allocator, mark);
    rbli_allocator_free(l->allocator, start);
    rbli_allocator_free(l->allocator, users);
}

/* ---- The whole ---- */

static void read_document(loader *l)
{
    static const char *const keys[] = {"rubble", "vars", "nodes", "graphs", "$schema", NULL};
    if (at(l, 0)->type != RBLI_JSON_OBJECT) {
        tell_type(l, 0, NULL, "a graph", "an object");
        return;
    }
    check_keys(l, 0, NULL, keys);
    check_version(l);
    uint32_t graphs = rbli_json_member(l->json, 0, "graphs");
    if (graphs != RBLI_JSON_NONE)
        tell(l, RBL_ERROR, graphs, at(l, graphs)->key_offset, NULL, NULL,
            "subgraphs are not supported by this version");
    read_variables(l);
    if (l->out_of_memory) return;
    read_nodes(l);
    if (l->out_of_memory) return;
    connect_nodes(l);
    if (l->out_of_memory) return;
    if (l->graph->node_count) sort_nodes(l);
    warn_unused(l);
}

/// Allocates an empty graph of a source, which is taken (also on failure).
static rbl_status new_graph(rbl_engine *engine, rbli_source *source, rbl_graph **out)
{
    rbl_graph *graph = rbli_allocator_calloc(engine->allocator, 1, sizeof *graph);
    bool first = graph && uv_mutex_init(&graph->mutex) == 0;
    bool second = first && uv_mutex_init(&graph->evaluating) == 0;
    if (!second) {
        if (first) uv_mutex_destroy(&graph->mutex);
        rbli_allocator_free(engine->allocator, graph);
        rbli_source_release(source);
        return RBL_ERR_NO_MEMORY;
    }
    graph->engine = engine;
    graph->source = source;
    rbli_name_table_init(&graph->ids, engine->allocator);
    graph->folder = rbli_path_folder(engine->allocator, rbli_source_name(source));
    if (!graph->folder) {
        rbl_graph_destroy(graph);
        return RBL_ERR_NO_MEMORY;
    }
    *out = graph;
    return RBL_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/// Loads from a source, which is taken. `messages` is a list.
static rbl_status load(rbl_engine *engine, rbli_source *source, rbl_messages *messages, rbl_graph **out)
{
    loader l = {.engine = engine, .allocator = engine->allocator, .messages = messages};
    rbl_status status = new_graph(engine, source, &l.graph);
    if (status != RBL_OK) return status;
    size_t before = rbli_messages_error_count(messages), first = rbl_messages_count(messages);
    unsigned flags = ends_with(rbli_source_name(source), ".jsonc") ? RBLI_JSON_COMMENTS : 0;
    status = rbli_json_parse(engine->allocator, source, flags, messages, &l.json);
    if (status == RBL_ERR_PARSE) status = RBL_ERR_GRAPH; /* RBL_ERR_PARSE is for the files that nodes read */
    RBL_TRY(status);
    bool malformed = rbli_messages_error_count(messages) != before;
    l.graph->json = l.json;
    read_document(&l);
    rbli_messages_sort(messages, first);
    if (l.out_of_memory) RBL_TRY(RBL_ERR_NO_MEMORY);
    if (l.failed || malformed) RBL_TRY(RBL_ERR_GRAPH);
    l.graph->history =
        rbli_allocator_calloc(engine->allocator, l.graph->node_count, sizeof *l.graph->history);
    RBL_TRY_ALLOC(l.graph->history);
    /* Only the strings of the document are needed from here on. */
    rbli_allocator_free(engine->allocator, l.json->values);
    l.json->values = NULL;
    *out = l.graph;
    l.graph = NULL;
done:
    rbli_allocator_free(engine->allocator, l.node_values);
    rbli_allocator_free(engine->allocator, l.refs.data);
    rbl_graph_destroy(l.graph);
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

rbl_status rbl_graph_load_file(rbl_engine *engine, const char *path, rbl_messages **messages, rbl_graph **out)
{
    rbl_messages *own = NULL;
    rbl_messages **list = messages ? messages : &own;
    rbl_status status = rbli_messages_open(engine->allocator, list);
    if (status != RBL_OK) return status;
    rbl_context ctx = engine->base;
    ctx.messages = rbli_messages_create(engine->allocator);
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbli_source *source = NULL;
    RBL_TRY_ALLOC(ctx.messages);
    status = rbli_file_read(&ctx, path, RBLI_JSON_MOST_BYTES, &bytes, &count);
    if (status != RBL_OK && status != RBL_ERR_NO_MEMORY) {
        const char *text = rbli_messages_count(ctx.messages) ? rbli_messages_get(ctx.messages, 0)->text
                                                             : rbl_status_text(status);
        rbli_message_addf(*list, RBL_ERROR, status, NULL, NULL, "%s", text);
    }
    RBL_TRY(status);
    RBL_TRY(rbli_source_create(engine->allocator, path, (char *)bytes, count, &source));
    RBL_TRY(load(engine, source, *list, out));
done:
    rbli_messages_destroy(ctx.messages);
    rbl_messages_destroy(own);
    return status;
}
