/// Times the cut of a bumpy sphere by Voronoi cells: `bench_cut [--threads N] [--runs N] [--divisions N]
/// [sites…]`. Prints the machine as a comment, then CSV, medians over the runs (5 unless told): CPU times of
/// K and of the cut, wall times of the cut's phases, and, to compare with, CPU times of voro++'s cells of the
/// same sites, of reading the mesh from an OBJ file and of repairing it; peak of memory of K and the cut.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/cut.h"
#include "fracture/geometry/repair.h"
#include "fracture/geometry/voro_shim.h"
#include "fracture/io/mesh_file.h"

enum { MOST_RUNS = 99, PHASES = 8, COLUMNS = PHASES + 3 };

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
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

typedef struct sphere {
    double (*positions)[3];
    int32_t (*triangles)[3];
    size_t vertex_count, triangle_count;
} sphere;

static int32_t cube_vertex(int32_t *ids, sphere *s, int n, int x, int y, int z)
{
    int32_t *id = &ids[(z * (n + 1) + y) * (n + 1) + x];
    if (*id >= 0) return *id;
    double p[3] = {2.0 * x / n - 1, 2.0 * y / n - 1, 2.0 * z / n - 1};
    double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    for (int axis = 0; axis < 3; axis++)
        p[axis] /= length;
    double bump = 1 + 0.1 * sin(9 * p[0]) * sin(11 * p[1]) * sin(7 * p[2] + 1);
    for (int axis = 0; axis < 3; axis++)
        s->positions[s->vertex_count][axis] = p[axis] * bump;
    return *id = (int32_t)s->vertex_count++;
}

/// The surface of a cube of n × n × n, pushed to a sphere with bumps: 12 n² triangles.
static sphere make_sphere(int n)
{
    sphere s = {0};
    size_t points = (size_t)(n + 1) * (size_t)(n + 1) * (size_t)(n + 1);
    int32_t *ids = malloc(points * sizeof *ids);
    s.positions = malloc((size_t)(6 * n * n + 2) * sizeof *s.positions);
    s.triangles = malloc((size_t)(12 * n * n) * sizeof *s.triangles);
    if (!ids || !s.positions || !s.triangles) exit(1);
    memset(ids, 0xff, points * sizeof *ids);
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            for (int v = 0; v < n; v++)
                for (int u = 0; u < n; u++) {
                    int32_t corner[4];
                    for (int k = 0; k < 4; k++) {
                        int q[3];
                        q[axis] = side ? n : 0;
                        q[(axis + 1) % 3] = u + (k == 1 || k == 2);
                        q[(axis + 2) % 3] = v + (k >= 2);
                        corner[k] = cube_vertex(ids, &s, n, q[0], q[1], q[2]);
                    }
                    int b = side ? 1 : 3, d = side ? 3 : 1;
                    int32_t pair[2][3] = {
                        {corner[0], corner[b], corner[2]}, {corner[0], corner[2], corner[d]}};
                    memcpy(s.triangles[s.triangle_count], pair, sizeof pair);
                    s.triangle_count += 2;
                }
    free(ids);
    return s;
}

static rbli_mesh_view view_of(const sphere *s)
{
    return (rbli_mesh_view){(const double(*)[3])s->positions, s->vertex_count,
        (const int32_t(*)[3])s->triangles, s->triangle_count};
}

static int fail(rbl_context *ctx, rbl_status status)
{
    fprintf(stderr, "bench_cut: %s\n", rbl_status_text(status));
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++)
        fprintf(stderr, "  %s\n", rbli_messages_get(ctx->messages, i)->text);
    return 1;
}

/* ---- what the sites do not change: reading and repair ---- */

static int write_obj(const sphere *s, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    for (size_t v = 0; v < s->vertex_count; v++)
        fprintf(file, "v %.17g %.17g %.17g\n", s->positions[v][0], s->positions[v][1], s->positions[v][2]);
    for (size_t t = 0; t < s->triangle_count; t++)
        fprintf(file, "f %d %d %d\n", s->triangles[t][0] + 1, s->triangles[t][1] + 1, s->triangles[t][2] + 1);
    return fclose(file) != 0;
}

static int time_read(const sphere *s, int threads, int runs, double *read_ms)
{
    double times[MOST_RUNS];
    char path[] = "/tmp/bench_cut_XXXXXX.obj";
    int descriptor = mkstemps(path, 4), failed = descriptor < 0 || write_obj(s, path);
    if (descriptor >= 0) close(descriptor);
    for (int run = 0; run < runs && !failed; run++) {
        rbl_context *ctx = NULL;
        rbli_mesh_file file;
        if (rbli_context_create(threads, &ctx) != RBL_OK) return 1;
        double start = cpu_ms();
        rbl_status status = rbli_mesh_file_read(ctx, path, &file);
        times[run] = cpu_ms() - start;
        if (status == RBL_OK)
            rbli_mesh_file_free(ctx, &file);
        else
            failed = fail(ctx, status);
        rbli_context_destroy(ctx);
    }
    if (descriptor >= 0) unlink(path);
    if (!failed) *read_ms = median(times, runs);
    return failed;
}

static int time_repair(const sphere *s, int threads, int runs, double *repair_ms)
{
    double times[MOST_RUNS];
    int failed = 0;
    int32_t *nodes = calloc(s->triangle_count, sizeof *nodes);
    if (!nodes) return 1;
    for (int run = 0; run < runs && !failed; run++) {
        rbl_context *ctx = NULL;
        rbli_repair_result *result = NULL;
        rbli_repair_options options = rbli_repair_default_options();
        rbli_mesh_view mesh = view_of(s);
        if (rbli_context_create(threads, &ctx) != RBL_OK) return 1;
        double start = cpu_ms();
        rbl_status status = rbli_repair(ctx, &mesh, nodes, &options, &result);
        times[run] = cpu_ms() - start;
        if (status != RBL_OK) failed = fail(ctx, status);
        rbli_repair_result_destroy(ctx, result);
        rbli_context_destroy(ctx);
    }
    free(nodes);
    if (!failed) *repair_ms = median(times, runs);
    return failed;
}

/* ---- K and the cut ---- */

static double (*make_sites(size_t count))[3]
{
    double(*sites)[3] = malloc(count * sizeof *sites);
    for (size_t i = 0; sites && i < count; i++) {
        rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, i);
        for (int axis = 0; axis < 3; axis++)
            sites[i][axis] = 2.2 * rbli_rng_double(&rng) - 1.1;
    }
    return sites;
}

static int bench(const sphere *s, size_t site_count, int threads, int runs, double read_ms, double repair_ms)
{
    static const double low[3] = {-1.2, -1.2, -1.2}, high[3] = {1.2, 1.2, 1.2};
    double times[COLUMNS][MOST_RUNS];
    size_t pieces = 0, triangles = 0, peak = 0;
    int failed = 0;
    double(*sites)[3] = make_sites(site_count), *volumes = malloc(site_count * sizeof *volumes);
    if (!sites || !volumes) return 1;
    for (int run = 0; run < runs && !failed; run++) {
        rbl_context *ctx = NULL;
        rbli_cell_complex *complex = NULL;
        rbli_cut_result *result = NULL;
        rbli_mesh_view mesh = view_of(s);
        if (rbli_context_create(threads, &ctx) != RBL_OK) return 1;
        double start = cpu_ms();
        rbl_status status =
            rbli_voronoi_complex(ctx, (const double(*)[3])sites, site_count, low, high, NULL, NULL, &complex);
        times[0][run] = cpu_ms() - start;
        start = cpu_ms();
        if (status == RBL_OK) status = rbli_cut(ctx, &mesh, complex, NULL, &result);
        times[1][run] = cpu_ms() - start;
        if (status != RBL_OK) {
            failed = fail(ctx, status);
        } else {
            for (int i = 0; i < PHASES; i++)
                times[2 + i][run] = result->phase_ms[i];
            pieces = result->piece_count;
            triangles = result->triangle_count;
        }
        rbli_cut_result_destroy(ctx, result);
        rbli_cell_complex_destroy(ctx, complex);
        peak = rbli_allocator_peak_bytes(ctx->allocator);
        rbli_context_destroy(ctx);
        start = cpu_ms();
        if (rbli_voro_cells((const double(*)[3])sites, site_count, low, high, volumes, NULL) != RBL_OK)
            failed = 1;
        times[COLUMNS - 1][run] = cpu_ms() - start;
    }
    if (!failed) {
        printf("%zu,%zu,%d", s->triangle_count, site_count, threads);
        for (int i = 0; i < COLUMNS; i++)
            printf(",%.1f", median(times[i], runs));
        printf(",%.1f,%.1f,%.1f,%zu,%zu\n", read_ms, repair_ms, (double)peak * 1e-6, pieces, triangles);
    }
    free(sites);
    free(volumes);
    return failed;
}

/// The machine's name as Linux gives it, as a comment.
static void print_machine(void)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *name = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !name) continue;
        printf("# %ld × %s", sysconf(_SC_NPROCESSORS_ONLN), name + 2);
        break;
    }
    if (file) fclose(file);
}

int main(int argc, char **argv)
{
    int threads = 1, runs = 5, divisions = 158, failed = 0, first = 1;
    for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
        int value = atoi(argv[first + 1]);
        if (strcmp(argv[first], "--threads") == 0) threads = value;
        if (strcmp(argv[first], "--runs") == 0) runs = value < 1 ? 1 : value > MOST_RUNS ? MOST_RUNS : value;
        if (strcmp(argv[first], "--divisions") == 0) divisions = value < 1 ? 1 : value;
    }
    sphere s = make_sphere(divisions);
    double read_ms = 0, repair_ms = 0;
    print_machine();
    printf(
        "triangles,sites,threads,complex_cpu_ms,cut_cpu_ms,mesh_ms,complex_ms,flood_ms,labels_ms,windings_ms,"
        "mesh_regions_ms,facet_regions_ms,assembly_ms,voro_cpu_ms,read_obj_cpu_ms,repair_cpu_ms,peak_mb,"
        "pieces,output_triangles\n");
    failed |= time_read(&s, threads, runs, &read_ms);
    failed |= time_repair(&s, threads, runs, &repair_ms);
    static const char *const usual[] = {"100", "1000", "10000"};
    int count = first < argc ? argc - first : 3;
    const char *const *counts = first < argc ? (const char *const *)argv + first : usual;
    for (int i = 0; i < count; i++)
        failed |= bench(&s, (size_t)strtoull(counts[i], NULL, 10), threads, runs, read_ms, repair_ms);
    free(s.positions);
    free(s.triangles);
    return failed;
}
