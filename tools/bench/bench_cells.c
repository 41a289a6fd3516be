/// Times the makers of cell complexes: `bench_cells [--threads N] [--runs N]`. Prints CSV: kind, count of
/// sites or planes, cells, facets, the least CPU time of the runs in milliseconds.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/cell_complex.h"

enum { MOST = 100000 };

static const double box_min[3] = {-0.01, -0.01, -0.01}, box_max[3] = {1.01, 1.01, 1.01};
static double values[MOST][4];

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void fill(const char *kind, size_t count)
{
    double(*sites)[3] = (double(*)[3])(void *)values;
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    size_t side = 1;
    while (side * side * side < count)
        side++;
    for (size_t i = 0; i < count; i++) {
        size_t at[3] = {i % side, i / side % side, i / side / side};
        double d = 0;
        for (int k = 0; k < 3; k++) {
            double x = rbli_rng_double(&rng);
            if (strcmp(kind, "planes") == 0) {
                values[i][k] = 2 * x - 1;
                d += values[i][k] * rbli_rng_double(&rng);
            } else {
                sites[i][k] = strcmp(kind, "lattice") == 0 ? ((double)at[k] + 0.5) / (double)side : x;
            }
        }
        if (strcmp(kind, "planes") == 0) values[i][3] = d;
    }
}

static int measure(rbl_context *ctx, const char *kind, size_t count, int runs)
{
    double best = 0;
    size_t cells = 0, facets = 0;
    fill(kind, count);
    for (int run = 0; run < runs; run++) {
        rbli_cell_complex *k = NULL;
        double start = cpu_ms();
        rbl_status status =
            strcmp(kind, "planes") == 0
                ? rbli_plane_complex(ctx, (const double(*)[4])values, count, box_min, box_max, NULL, &k)
                : rbli_voronoi_complex(
                      ctx, (const double(*)[3])(void *)values, count, box_min, box_max, NULL, NULL, &k);
        double time = cpu_ms() - start;
        if (status != RBL_OK) {
            fprintf(stderr, "%s %zu: %s\n", kind, count, rbl_status_text(status));
            return 1;
        }
        if (run == 0 || time < best) best = time;
        cells = k->cell_count;
        facets = k->facet_count;
        rbli_cell_complex_destroy(ctx, k);
    }
    printf("%s,%zu,%zu,%zu,%.2f\n", kind, count, cells, facets, best);
    return 0;
}

int main(int argc, char **argv)
{
    int threads = 1, runs = 5, failed = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--threads") == 0) threads = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--runs") == 0) runs = atoi(argv[i + 1]);
    }
    rbl_context *ctx = NULL;
    if (runs < 1 || rbli_context_create(threads, &ctx) != RBL_OK) return 1;
    const struct {
        const char *kind;
        size_t count;
    } cases[] = {{"random", 1000}, {"random", 10000}, {"random", 100000}, {"lattice", 1000},
        {"lattice", 8000}, {"planes", 50}, {"planes", 100}, {"planes", 200}};
    printf("kind,count,cells,facets,cpu_ms\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        failed |= measure(ctx, cases[i].kind, cases[i].count, runs);
    rbli_context_destroy(ctx);
    return failed;
}
