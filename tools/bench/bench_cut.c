/// Times the cut of a bumpy sphere by Voronoi cells: `bench_cut [--threads N] [--runs N] [--divisions N]
/// [sites…]`. Prints CSV: medians over the runs of K's and the cut's CPU time, wall times of the cut's
/// phases, and the peak of memory.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/cut.h"

enum { MOST_RUNS = 99, PHASES = 8, COLUMNS = PHASES + 2 };

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

static int bench(const sphere *s, size_t site_count, int threads, int runs)
{
    double times[COLUMNS][MOST_RUNS];
    size_t pieces = 0, triangles = 0, peak = 0;
    double(*sites)[3] = malloc(site_count * sizeof *sites);
    if (!sites) return 1;
    for (size_t i = 0; i < site_count; i++) {
        rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, i);
        for (int axis = 0; axis < 3; axis++)
            sites[i][axis] = 2.2 * rbli_rng_double(&rng) - 1.1;
    }
    for (int run = 0; run < runs; run++) {
        rbl_context *ctx = NULL;
        rbli_cell_complex *complex = NULL;
        rbli_cut_result *result = NULL;
        if (rbli_context_create(threads, &ctx) != RBL_OK) return 1;
        double start = cpu_ms();
        rbl_status status = rbli_voronoi_complex(ctx, (const double(*)[3])sites, site_count,
            (double[]){-1.2, -1.2, -1.2}, (double[]){1.2, 1.2, 1.2}, NULL, NULL, &complex);
        times[0][run] = cpu_ms() - start;
        rbli_mesh_view mesh = {(const double(*)[3])s->positions, s->vertex_count,
            (const int32_t(*)[3])s->triangles, s->triangle_count};
        start = cpu_ms();
        if (status == RBL_OK) status = rbli_cut(ctx, &mesh, complex, NULL, &result);
        times[1][run] = cpu_ms() - start;
        if (status != RBL_OK) {
            fprintf(stderr, "bench_cut: %s\n", rbl_status_text(status));
            for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++)
                fprintf(stderr, "  %s\n", rbli_messages_get(ctx->messages, i)->text);
            return 1;
        }
        for (int i = 0; i < PHASES; i++)
            times[2 + i][run] = result->phase_ms[i];
        pieces = result->piece_count;
        triangles = result->triangle_count;
        rbli_cut_result_destroy(ctx, result);
        rbli_cell_complex_destroy(ctx, complex);
        peak = rbli_allocator_peak_bytes(ctx->allocator);
        rbli_context_destroy(ctx);
    }
    printf("%zu,%zu,%d", s->triangle_count, site_count, threads);
    for (int i = 0; i < COLUMNS; i++)
        printf(",%.1f", median(times[i], runs));
    printf(",%.1f,%zu,%zu\n", (double)peak * 1e-6, pieces, triangles);
    free(sites);
    return 0;
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
    printf(
        "triangles,sites,threads,complex_cpu_ms,cut_cpu_ms,mesh_ms,complex_ms,flood_ms,labels_ms,windings_ms,"
        "mesh_regions_ms,facet_regions_ms,assembly_ms,peak_mb,pieces,output_triangles\n");
    static const char *const usual[] = {"100", "1000", "10000"};
    int count = first < argc ? argc - first : 3;
    const char *const *counts = first < argc ? (const char *const *)argv + first : usual;
    for (int i = 0; i < count; i++)
        failed |= bench(&s, (size_t)strtoull(counts[i], NULL, 10), threads, runs);
    free(s.positions);
    free(s.triangles);
    return failed;
}
