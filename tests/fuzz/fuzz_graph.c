/// Graph files: whatever the text, loading ends with a graph or with messages that have a place inside the
/// text. What loads can be changed and reported on. Nothing is evaluated: the file must not make the fuzzer
/// read others.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rubble/rubble.h"
#include "tests/fuzz/fuzz.h"

static void check_messages(const rbl_messages *messages)
{
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        const rbl_message *message = rbl_messages_get(messages, i);
        if (message->caret > strlen(message->source_line)) abort();
        char *text = NULL;
        if (rbl_messages_format(messages, i, &text) != RBL_OK) abort();
        rbl_messages_free_text(messages, text);
    }
    char *json = NULL;
    if (messages && rbl_messages_json(messages, &json) != RBL_OK) abort();
    rbl_messages_free_text(messages, json);
}

/// Sets each variable to its own value, and parameters to what stands there.
static void change(rbl_graph *graph, rbl_messages **messages)
{
    for (size_t i = 0; i < rbl_graph_variable_count(graph); i++) {
        const char *json = rbl_graph_variable_json(graph, i);
        if (!*json) continue;
        rbl_status status = rbl_graph_set_variable(graph, rbl_graph_variable_name(graph, i), json, messages);
        if (status != RBL_OK) abort(); /* it was good a moment ago */
        rbl_graph_set_variable_text(graph, rbl_graph_variable_name(graph, i), "1", messages);
    }
    for (size_t i = 0; i < rbl_graph_node_count(graph) && i < 20; i++) {
        const rbl_node_desc *desc = rbl_graph_node_desc(graph, i);
        for (size_t k = 0; desc->params && desc->params[k].name; k++) {
            if (!desc->params[k].default_json) continue;
            char pointer[8192] = "/nodes/";
            size_t length = strlen(pointer);
            for (const char *id = rbl_graph_node_id(graph, i); *id && length < sizeof pointer - 200; id++) {
                if (*id == '/') pointer[length++] = '~'; /* of a node in a graph within the graph */
                pointer[length++] = *id == '/' ? '1' : *id;
            }
            snprintf(pointer + length, sizeof pointer - length, "/params/%s", desc->params[k].name);
            if (rbl_graph_set_parameter(graph, pointer, desc->params[k].default_json, messages) != RBL_OK)
                abort();
        }
    }
}

static void load(rbl_engine *engine, const char *name, const uint8_t *bytes, size_t count)
{
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_text(engine, name, (const char *)bytes, count, &messages, &graph);
    if (status == RBL_OK)
        change(graph, &messages);
    else if (status != RBL_ERR_GRAPH || !rbl_messages_count_of(messages, RBL_ERROR))
        abort();
    check_messages(messages);
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    rbl_engine *engine = NULL;
    if (rbl_engine_create(&options, &engine) != RBL_OK) return 0;
    load(engine, "fuzz.json", bytes, count);
    load(engine, "fuzz.jsonc", bytes, count);
    rbl_engine_destroy(engine);
    return 0;
}
