/// Times what a person at a slider waits for: `bench_edit [--stones N] [--only PART-OF-NAME]`. The graph
/// tools/bench/wall.json (two levels, noise, clusters, hulls, about 2,000 pieces) is evaluated in one engine:
/// case `cold` with an empty cache, then after a change of one variable: `last` (colliders of the Terminal),
/// `hulls` (vertices of a hull, the node before it), `first seed` (all cuts), each run in an engine of its
/// own. Walls count here. Values: milliseconds of wall.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rubble/rubble.h"
#include "tools/bench/bench.h"

typedef struct edit {
    const char *name, *variable; /* NULL: cold */
    const char *value;           /* NULL: a number, another for each run */
} edit;

static const edit edits[] = {
    {"cold", NULL, NULL},
    {"last", "colliders", "ucx"},
    {"hulls", "hull_vertices", NULL},
    {"first seed", "seed", NULL},
};

static void set(rbl_graph *graph, const char *name, const char *text)
{
    bench_check(NULL, rbl_graph_set_variable_text(graph, name, text, NULL), name);
}

static size_t evaluate(rbl_graph *graph, bench_times *times)
{
    rbl_run *run = NULL;
    if (times) bench_begin(times);
    bench_check(NULL, rbl_evaluate(graph, NULL, &run), "evaluation");
    if (times) bench_end(times);
    const rbl_collection *c = rbl_value_collection(rbl_run_value(run, "end"));
    size_t pieces = c ? rbl_collection_group_size(c, "geometry") : 0;
    rbl_run_destroy(run);
    return pieces;
}

static void measure(const bench_options *o, const edit *e, const char *path, const char *stones)
{
    bench_times times = {0};
    bench_row row = {.case_name = e->name, .unit = "ms wall"};
    for (int run = 0; run < o->runs; run++) {
        rbl_engine *engine = NULL;
        rbl_graph *graph = NULL;
        rbl_engine_options options;
        char number[20];
        rbl_engine_options_init(&options);
        options.thread_count = o->threads;
        bench_check(NULL, rbl_engine_create(&options, &engine), "engine");
        bench_check(NULL, rbl_graph_load_file(engine, path, NULL, &graph), path);
        set(graph, "stones", stones);
        if (e->variable) {
            evaluate(graph, NULL);
            snprintf(number, sizeof number, "%d", 100 + run);
            set(graph, e->variable, e->value ? e->value : number);
        }
        row.pieces = evaluate(graph, &times);
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
    }
    row.value = bench_wall_median(&times);
    bench_print(o, &times, &row);
}

int main(int argc, char **argv)
{
    long stones = 1400;
    const bench_own_option own[] = {{"--stones", &stones}, {0}};
    bench_options o = bench_start(argc, argv, "edit", own);
    char text[20];
    snprintf(text, sizeof text, "%ld", stones);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        if (bench_wants(&o, edits[i].name)) measure(&o, &edits[i], BENCH_SOURCE "/wall.json", text);
    return 0;
}
