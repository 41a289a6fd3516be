/// Values of variables as a command line gives them (--set), and parameters: what is taken is JSON that can be set again,
/// what is refused says why.

#include <stdlib.h>
#include <string.h>

#include "rubble/rubble.h"
#include "tests/fuzz/fuzz.h"

static const char text[] =
    "{\"rubble\": 1, \"vars\": {\"i\": {\"type\": \"int\", \"default\": 3, \"min\": 1, \"max\": 9},"
    "\"f\": {\"type\": \"float\", \"default\": 0.5}, \"s\": {\"type\": \"seed\", \"default\": 0},"
    "\"b\": {\"type\": \"bool\", \"default\": true}, \"v\": {\"type\": \"vec3\", \"default\": [0, 0, 1]},"
    "\"p\": {\"type\": \"path\", \"default\": \"a.obj\"}},"
    "\"nodes\": {\"m\": {\"type\": \"MeshToCollection\", \"params\": {\"file\": {\"var\": \"p\"}}},"
    "\"c\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"m\"}, \"params\": {\"count\": {\"var\": "
    "\"i\"}}}}}";

/// What is refused says why.
static void check_refusal(rbl_status status, rbl_messages **messages)
{
    if (status == RBL_ERR_GRAPH && !rbl_messages_count_of(*messages, RBL_ERROR)) abort();
    rbl_messages_destroy(*messages);
    *messages = NULL;
}

static void set_all(rbl_graph *graph, const char *value)
{
    rbl_messages *messages = NULL;
    for (size_t i = 0; i < rbl_graph_variable_count(graph); i++) {
        const char *name = rbl_graph_variable_name(graph, i);
        rbl_status status = rbl_graph_set_variable_text(graph, name, value, &messages);
        check_refusal(status, &messages);
        if (status == RBL_OK &&
            rbl_graph_set_variable(graph, name, rbl_graph_variable_json(graph, i), NULL) != RBL_OK)
            abort();
        status = rbl_graph_set_variable(graph, name, value, &messages);
        check_refusal(status, &messages);
    }
    rbl_status status = rbl_graph_set_parameter(graph, "/nodes/c/params/count", value, &messages);
    check_refusal(status, &messages);
    status = rbl_graph_set_parameter(graph, value, "3", &messages);
    check_refusal(status, &messages);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    rbl_engine *engine = NULL;
    rbl_graph *graph = NULL;
    if (rbl_engine_create(&options, &engine) != RBL_OK) return 0;
    if (rbl_graph_load_text(engine, "set.json", text, sizeof text - 1, NULL, &graph) != RBL_OK) abort();
    char *value = malloc(count + 1);
    if (value) {
        if (count) memcpy(value, bytes, count);
        value[count] = '\0';
        set_all(graph, value);
    }
    free(value);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    return 0;
}
