/// Times what a person at a slider waits for: `bench_edit [--stones N] [--only PART-OF-NAME]`. The graph
/// tools/bench/wall.json (two levels, noise, clusters, hulls, about 2,000 pieces) is evaluated in one engine:
/// case `cold` with an empty cache, then after a change of one variable: `last` (colliders of the Terminal),
/// `hulls` (vertices of a hull, the node before it), `first seed` (all cuts), each run in an engine of its
/// own and a process of its own, as a person starts one: what `cold` would find of the memory of the runs before
/// it, no edit does, whose results are kept beside the old ones. For the same reason the system has pages at hand for
/// all of them. Cases take turns, and `cold` has the seeds that `first seed` changes to: both make the same pieces.
/// Walls count here. Values: milliseconds of wall.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rubble/rubble.h"
#include "tools/bench/bench.h"

typedef struct edit {
    const char *name, *variable; /* NULL: cold */
    const char *value;           /* NULL: a number, another for each run */
} edit;

enum { EDIT_COUNT = 4, AHEAD_BYTES = 256 << 20 /* more than any case takes */ };
static const edit edits[EDIT_COUNT] = {
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

typedef struct outcome {
    double cpu_ms, wall_ms;
    size_t pieces;
} outcome;

static outcome measure(const bench_options *o, const edit *e, const char *stones, int run)
{
    rbl_engine *engine = NULL;
    rbl_graph *graph = NULL;
    rbl_engine_options options;
    bench_times times = {0};
    char number[20];
    snprintf(number, sizeof number, "%d", 100 + run);
    rbl_engine_options_init(&options);
    options.thread_count = o->threads;
    bench_check(NULL, rbl_engine_create(&options, &engine), "engine");
    bench_check(NULL, rbl_graph_load_file(engine, BENCH_SOURCE "/wall.json", NULL, &graph), "wall.json");
    set(graph, "stones", stones);
    if (e->variable) {
        evaluate(graph, NULL);
        set(graph, e->variable, e->value ? e->value : number);
    } else {
        set(graph, "seed", number);
    }
    outcome out = {.pieces = evaluate(graph, &times)};
    out.cpu_ms = times.cpu_ms[0];
    out.wall_ms = times.wall_ms[0];
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    return out;
}

/// Has a process take and leave more memory than a case needs. On a virtual machine the host takes back what lies idle
/// for two seconds, and to get it again costs up to forty times what clearing does: a process that starts behind
/// another would find as much as that one had, an edit needs more.
static void have_pages_ready(void)
{
    pid_t child = fork();
    if (child == 0) {
        void *pages = mmap(NULL, AHEAD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) _exit(1);
#ifdef MADV_HUGEPAGE
        madvise(pages, AHEAD_BYTES, MADV_HUGEPAGE);
#endif
        memset(pages, 1, AHEAD_BYTES);
        _exit(0);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

static outcome measure_apart(const bench_options *o, const edit *e, const char *stones, int run)
{
    outcome out = {0};
    int ends[2];
    have_pages_ready();
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        out = measure(o, e, stones, run);
        _exit(write(ends[1], &out, sizeof out) == (ssize_t)sizeof out ? 0 : 1);
    }
    if (child > 0) close(ends[1]);
    bool done = child > 0 && read(ends[0], &out, sizeof out) == (ssize_t)sizeof out;
    if (child > 0) waitpid(child, NULL, 0);
    bench_check(NULL, done ? RBL_OK : RBL_ERR_INTERNAL, e->name);
    close(ends[0]);
    return out;
}

int main(int argc, char **argv)
{
    long stones = 1400;
    const bench_own_option own[] = {{"--stones", &stones}, {0}};
    bench_options o = bench_start(argc, argv, "edit", own);
    bench_times times[EDIT_COUNT] = {0};
    size_t pieces[EDIT_COUNT] = {0};
    char text[20];
    snprintf(text, sizeof text, "%ld", stones);
    for (int run = 0; run < o.runs; run++)
        for (size_t i = 0; i < EDIT_COUNT; i++)
            if (bench_wants(&o, edits[i].name)) {
                outcome out = measure_apart(&o, &edits[i], text, run);
                bench_add(&times[i], out.cpu_ms, out.wall_ms);
                pieces[i] = out.pieces;
            }
    for (size_t i = 0; i < EDIT_COUNT; i++) {
        bench_row row = {.case_name = edits[i].name, .unit = "ms wall", .pieces = pieces[i]};
        row.value = bench_wall_median(&times[i]);
        if (bench_wants(&o, edits[i].name)) bench_print(&o, &times[i], &row);
    }
    return 0;
}
