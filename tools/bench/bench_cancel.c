/// Times how long a cancelled evaluation goes on: `bench_cancel [--requests N]` (40). A bumpy sphere (--triangles,
/// 360,000) is read, repaired, cut by Voronoi cells (--pieces, 2,000), tidied, connected, clustered, hulled and
/// written; the request to cancel comes at evenly spread moments of that. Rows: the `whole` evaluation, then for
/// each moment the node that was under way as the part and the latency as the wall time, last the `worst`.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "rubble/rubble.h"
#include "tools/bench/bench.h"

static const char graph_text[] =
    "{\"rubble\": 1, \"vars\": {\"mesh\": {\"type\": \"path\"}, \"sites\": {\"type\": \"int\"}}, \"nodes\": {"
    "\"mesh\": {\"type\": \"MeshToCollection\", \"params\": {\"file\": {\"var\": \"mesh\"}}},"
    "\"points\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"mesh\"}, \"params\": {\"count\": "
    "{\"var\": \"sites\"}}},"
    "\"cut\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"mesh\", \"points\": \"points\"}},"
    "\"tidy\": {\"type\": \"FixTinyGeo\", \"in\": {\"collection\": \"cut\"}},"
    "\"near\": {\"type\": \"Proximity\", \"in\": {\"collection\": \"tidy\"}, \"params\": {\"contact_area\": "
    "\"geometry\", \"connection_graph\": true}},"
    "\"groups\": {\"type\": \"AutoCluster\", \"in\": {\"collection\": \"near\"}},"
    "\"hulls\": {\"type\": \"CreateLeafConvexHulls\", \"in\": {\"collection\": \"groups\"}},"
    "\"end\": {\"type\": \"Terminal\", \"in\": {\"collection\": \"hulls\"}, \"params\": {\"files\": "
    "[\"a.glb\", "
    "\"a.obj\", \"a.json\", \"a.rbl\"]}}}}";

typedef struct request {
    rbl_control *control;
    uint64_t at_ns, made_ns;
} request;

static void make_request(void *user)
{
    request *r = user;
    while (uv_hrtime() < r->at_ns) {
        uint64_t left = r->at_ns - uv_hrtime();
        if (left < 1u << 31) usleep((useconds_t)(left / 1000 + 1));
    }
    r->made_ns = uv_hrtime();
    rbl_control_cancel(r->control);
}

static const char *node_under_way(const rbl_run *run)
{
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        if (rbl_run_node(run, i)->status == RBL_ERR_CANCELLED) return rbl_run_node(run, i)->node;
    return rbl_run_status(run) == RBL_ERR_CANCELLED ? "between nodes" : "done before";
}

static void print_wall(const bench_options *o, bench_row row, const char *part, double wall_ms, double value)
{
    bench_times times = {0};
    bench_add(&times, -1, wall_ms);
    row.part = part;
    row.value = value;
    row.unit = "ms after the start";
    bench_print(o, &times, &row);
}

static void measure(
    const bench_options *o, rbl_engine *engine, rbl_graph *graph, long requests, const char *folder)
{
    rbl_evaluate_options options;
    rbl_run *run = NULL;
    bench_row row = {.case_name = "cancelled", .triangles = o->triangles, .pieces = o->pieces};
    rbl_evaluate_options_init(&options);
    options.output_folder = folder;
    options.no_cache = true;
    bench_check(NULL, rbl_control_create(engine, &options.control), "control");
    bench_check(NULL, rbl_evaluate(graph, &options, &run), "evaluation");
    double whole_ms = rbl_run_wall_ms(run), worst = 0;
    print_wall(o, row, "whole", whole_ms, whole_ms);
    rbl_run_destroy(run);
    for (long i = 0; i < requests; i++) {
        double moment_ms = whole_ms * ((double)i + 0.5) / (double)requests;
        request r = {.control = options.control, .at_ns = uv_hrtime() + (uint64_t)(moment_ms * 1e6)};
        uv_thread_t thread;
        if (uv_thread_create(&thread, make_request, &r) != 0) bench_check(NULL, RBL_ERR_INTERNAL, "thread");
        rbl_status status = rbl_evaluate(graph, &options, &run);
        uint64_t end_ns = uv_hrtime();
        uv_thread_join(&thread);
        rbl_control_reset(options.control);
        double latency = status == RBL_ERR_CANCELLED ? ((double)end_ns - (double)r.made_ns) / 1e6 : 0;
        if (latency > worst) worst = latency;
        print_wall(o, row, node_under_way(run), latency, moment_ms);
        rbl_run_destroy(run);
    }
    print_wall(o, row, "worst", worst, whole_ms);
    rbl_control_destroy(options.control);
}

static void remove_files(const char *folder)
{
    static const char *const names[] = {
        "a.glb", "a.obj", "a.json", "a.rbl", "a.mtl", "end.manifest.json", "mesh.obj"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(int argc, char **argv)
{
    long requests = 40;
    const bench_own_option own[] = {{"--requests", &requests}, {0}};
    bench_options o = bench_start(argc, argv, "cancel", own);
    if (!o.triangles) o.triangles = 360000;
    if (!o.pieces) o.pieces = 2000;
    char folder[] = "/tmp/bench_cancel_XXXXXX", path[80], text[20];
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/mesh.obj", folder);
    bench_mesh mesh = bench_sphere(o.triangles);
    bench_write_mesh(&mesh, path);
    bench_mesh_free(&mesh);
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = o.threads;
    rbl_engine *engine = NULL;
    rbl_graph *graph = NULL;
    bench_check(NULL, rbl_engine_create(&options, &engine), "engine");
    bench_check(NULL, rbl_graph_load_text(engine, "bench.json", graph_text, strlen(graph_text), NULL, &graph),
        "graph");
    snprintf(text, sizeof text, "%zu", o.pieces);
    bench_check(NULL, rbl_graph_set_variable_text(graph, "mesh", path, NULL), "mesh");
    bench_check(NULL, rbl_graph_set_variable_text(graph, "sites", text, NULL), "sites");
    measure(&o, engine, graph, requests, folder);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    remove_files(folder);
    return 0;
}
