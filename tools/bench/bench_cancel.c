/// Times how long a cancelled evaluation goes on: `bench_cancel [--threads N] [--requests N] [--divisions N]
/// [--sites N]`. A bumpy sphere of 4 · divisions² triangles is read, repaired, cut by Voronoi cells, tidied,
/// connected, clustered, hulled and written; the request to cancel comes at evenly spread moments of that.
/// CSV: moment, latency in milliseconds, and the node that was under way. The last line tells the worst.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "rubble/rubble.h"

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

static int write_sphere(const char *path, int n)
{
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    int columns = 2 * n;
    fprintf(file, "v 0 0 1\nv 0 0 -1\n");
    for (int row = 1; row < n; row++)
        for (int column = 0; column < columns; column++) {
            double a = 3.14159265358979 * row / n, b = 3.14159265358979 * column / n;
            double r = 1 + 0.05 * sin(9 * b) * sin(7 * a) * sin(a);
            fprintf(file, "v %.9g %.9g %.9g\n", r * sin(a) * cos(b), r * sin(a) * sin(b), r * cos(a));
        }
    for (int c = 0; c < columns; c++) {
        int d = (c + 1) % columns, last = 3 + (n - 2) * columns;
        fprintf(file, "f 1 %d %d\nf 2 %d %d\n", 3 + c, 3 + d, last + d, last + c);
        for (int row = 0; row + 2 < n; row++) {
            int p = 3 + row * columns, q = p + columns;
            fprintf(file, "f %d %d %d\nf %d %d %d\n", p + c, q + c, q + d, p + c, q + d, p + d);
        }
    }
    return fclose(file) != 0;
}

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

static int measure(rbl_engine *engine, rbl_graph *graph, int requests)
{
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    char folder[] = "/tmp/bench_cancel_XXXXXX";
    if (!mkdtemp(folder)) return 1;
    options.output_folder = folder;
    options.no_cache = true;
    if (rbl_control_create(engine, &options.control) != RBL_OK) return 1;
    rbl_run *run = NULL;
    rbl_status status = rbl_evaluate(graph, &options, &run);
    if (status != RBL_OK) {
        fprintf(stderr, "bench_cancel: %s\n", rbl_status_text(status));
        return 1;
    }
    double whole_ms = rbl_run_wall_ms(run), worst = 0;
    printf("# whole evaluation %.0f ms\nmoment_ms,latency_ms,node\n", whole_ms);
    rbl_run_destroy(run);
    for (int i = 0; i < requests; i++) {
        double moment_ms = whole_ms * (i + 0.5) / requests;
        request r = {.control = options.control, .at_ns = uv_hrtime() + (uint64_t)(moment_ms * 1e6)};
        uv_thread_t thread;
        if (uv_thread_create(&thread, make_request, &r) != 0) return 1;
        status = rbl_evaluate(graph, &options, &run);
        uint64_t end_ns = uv_hrtime();
        uv_thread_join(&thread);
        rbl_control_reset(options.control);
        double latency = status == RBL_ERR_CANCELLED ? ((double)end_ns - (double)r.made_ns) / 1e6 : 0;
        if (latency > worst) worst = latency;
        printf("%.1f,%.2f,%s\n", moment_ms, latency, node_under_way(run));
        fflush(stdout);
        rbl_run_destroy(run);
    }
    printf("# worst %.2f ms\n", worst);
    rbl_control_destroy(options.control);
    static const char *const names[] = {"a.glb", "a.obj", "a.json", "a.rbl", "a.mtl", "end.manifest.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}

int main(int argc, char **argv)
{
    int threads = 0, requests = 40, divisions = 300, sites = 2000;
    for (int i = 1; i + 1 < argc; i += 2) {
        int value = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--threads") == 0) threads = value;
        if (strcmp(argv[i], "--requests") == 0) requests = value;
        if (strcmp(argv[i], "--divisions") == 0) divisions = value;
        if (strcmp(argv[i], "--sites") == 0) sites = value;
    }
    char path[] = "/tmp/bench_cancel_XXXXXX.obj", text[20];
    int descriptor = mkstemps(path, 4);
    if (descriptor < 0 || close(descriptor) != 0 || divisions < 3 || write_sphere(path, divisions)) return 1;
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = threads;
    rbl_engine *engine = NULL;
    rbl_graph *graph = NULL;
    int code = 1;
    if (rbl_engine_create(&options, &engine) == RBL_OK &&
        rbl_graph_load_text(engine, "bench.json", graph_text, strlen(graph_text), NULL, &graph) == RBL_OK) {
        snprintf(text, sizeof text, "%d", sites);
        if (rbl_graph_set_variable_text(graph, "mesh", path, NULL) == RBL_OK &&
            rbl_graph_set_variable_text(graph, "sites", text, NULL) == RBL_OK)
            code = measure(engine, graph, requests);
    }
    if (code) fprintf(stderr, "bench_cancel: failed\n");
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    unlink(path);
    return code;
}
