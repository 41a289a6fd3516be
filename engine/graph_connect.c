/// Connections and parameters of nodes while a graph is loaded.

#include "engine/loader.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

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
