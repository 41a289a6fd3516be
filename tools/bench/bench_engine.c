/// Times the evaluator itself: `bench_engine [--runs N]`. A chain of small nodes is evaluated, and again when
/// nothing changed. Prints CSV, medians of N runs (5): nodes, first evaluation, warm one, warm one a node.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rubble/node.h"
#include "rubble/rubble.h"

enum { MOST_RUNS = 99 };

static double wall_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static int compare_doubles(const void *pa, const void *pb)
{
    const double *a = pa, *b = pb;
    return (*a > *b) - (*a < *b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

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

static double evaluate_once(rbl_graph *graph)
{
    rbl_run *run = NULL;
    double begin = wall_ms();
    rbl_status status = rbl_evaluate(graph, NULL, &run);
    double time = wall_ms() - begin;
    if (status != RBL_OK) fprintf(stderr, "error: %s\n", rbl_status_text(status));
    rbl_run_destroy(run);
    return status == RBL_OK ? time : -1;
}

static int time_chain(size_t nodes, int runs)
{
    double load[MOST_RUNS], first[MOST_RUNS], warm[MOST_RUNS];
    char *text = make_chain(nodes);
    for (int i = 0; text && i < runs; i++) {
        rbl_engine *engine = NULL;
        rbl_graph *graph = NULL;
        rbl_messages *messages = NULL;
        if (rbl_engine_create(NULL, &engine) != RBL_OK) return 1;
        double begin = wall_ms();
        if (rbl_engine_register_node(engine, &step_node, NULL) != RBL_OK ||
            rbl_graph_load_text(engine, "chain.json", text, strlen(text), &messages, &graph) != RBL_OK) {
            fprintf(stderr, "error: the chain cannot be loaded\n");
            return 1;
        }
        load[i] = wall_ms() - begin;
        first[i] = evaluate_once(graph);
        warm[i] = evaluate_once(graph);
        for (int k = 0; k < 4; k++) {
            double again = evaluate_once(graph);
            if (again < warm[i]) warm[i] = again;
        }
        rbl_graph_destroy(graph);
        rbl_messages_destroy(messages);
        rbl_engine_destroy(engine);
    }
    free(text);
    double warm_ms = median(warm, runs);
    printf("%zu,%.3f,%.3f,%.3f,%.3f\n", nodes, median(load, runs), median(first, runs), warm_ms,
        warm_ms * 1e3 / (double)nodes);
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    int runs = 5;
    if (argc == 3 && strcmp(argv[1], "--runs") == 0) runs = atoi(argv[2]);
    if (runs < 1 || runs > MOST_RUNS || (argc != 1 && argc != 3)) {
        fprintf(stderr, "usage: bench_engine [--runs N], N from 1 to %d\n", MOST_RUNS);
        return 2;
    }
    printf("nodes,load_ms,first_ms,warm_ms,warm_us_per_node\n");
    static const size_t sizes[] = {100, 1000, 10000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (time_chain(sizes[i], runs) != 0) return 1;
    return 0;
}
