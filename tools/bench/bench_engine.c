/// Times the evaluator itself: `bench_engine`. Chains of 100, 1,000 and 10,000 small nodes (--pieces): `load`
/// from text, the `first` evaluation, a `warm` one when nothing changed. Values: time a node.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rubble/node.h"
#include "rubble/rubble.h"
#include "tools/bench/bench.h"

static rbl_status step_evaluate(rbl_context *ctx, rbl_call *call)
{
    rbl_value *value = NULL;
    double before = rbl_value_number(rbl_call_input(call, "value", 0));
    rbl_status status = rbl_value_create_number(
        ctx, RBL_VALUE_FLOAT, before + rbl_param_float(rbl_call_param(call, "step")), &value);
    if (status == RBL_OK) rbl_call_set_output(call, "value", value);
    return status;
}
static const rbl_port_desc step_inputs[] = {
    {.name = "value", .kind = RBL_VALUE_FLOAT, .optional = true, .text = "a number"}, {0}};
static const rbl_port_desc step_outputs[] = {
    {.name = "value", .kind = RBL_VALUE_FLOAT, .text = "a larger one"}, {0}};
static const rbl_param_desc step_params[] = {
    {.name = "step", .type = RBL_PARAM_FLOAT, .default_json = "1", .text = "added"}, {0}};
static const rbl_node_desc step_node = {.size = sizeof(rbl_node_desc),
    .type = "bench.Step",
    .version = 1,
    .revision = 1,
    .family = "bench",
    .text = "adds",
    .inputs = step_inputs,
    .outputs = step_outputs,
    .params = step_params,
    .evaluate = step_evaluate};

/// A graph file in which each node follows the one before it.
static char *make_chain(size_t nodes)
{
    char *text = malloc(nodes * 90 + 100);
    if (!text) return NULL;
    size_t used = (size_t)sprintf(text, "{\"rubble\": 1, \"nodes\": {\n");
    for (size_t i = 0; i < nodes; i++) {
        used += (size_t)sprintf(text + used, "%s\"n%zu\": {\"type\": \"bench.Step\"", i ? ",\n" : "", i);
        if (i) used += (size_t)sprintf(text + used, ", \"in\": {\"value\": \"n%zu\"}", i - 1);
        used += (size_t)sprintf(text + used, "}");
    }
    sprintf(text + used, "}}\n");
    return text;
}

static void evaluate(rbl_graph *graph, bench_times *times)
{
    rbl_run *run = NULL;
    bench_begin(times);
    bench_check(NULL, rbl_evaluate(graph, NULL, &run), "evaluation");
    bench_end(times);
    rbl_run_destroy(run);
}

static void time_chain(const bench_options *o, size_t nodes)
{
    static const char *const parts[] = {"load", "first", "warm"};
    bench_times times[3] = {0};
    char *text = make_chain(nodes);
    for (int run = 0; run < o->runs; run++) {
        rbl_engine_options options;
        rbl_engine *engine = NULL;
        rbl_graph *graph = NULL;
        rbl_engine_options_init(&options);
        options.thread_count = o->threads;
        bench_check(NULL, rbl_engine_create(&options, &engine), "engine");
        bench_check(NULL, rbl_engine_register_node(engine, &step_node, NULL), "node");
        bench_begin(&times[0]);
        bench_check(
            NULL, rbl_graph_load_text(engine, "chain.json", text, strlen(text), NULL, &graph), "load");
        bench_end(&times[0]);
        evaluate(graph, &times[1]);
        evaluate(graph, &times[2]);
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
    }
    free(text);
    for (int i = 0; i < 3; i++)
        bench_print(o, &times[i],
            &(bench_row){.case_name = "chain",
                .part = parts[i],
                .pieces = nodes,
                .value = bench_cpu_median(&times[i]) * 1e3 / (double)nodes,
                .unit = "us/node"});
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "engine", NULL);
    static const size_t sizes[] = {100, 1000, 10000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!o.pieces || i == 0) time_chain(&o, o.pieces ? o.pieces : sizes[i]);
    return 0;
}
