/// Times the makers of cell complexes: `bench_cells`. Cases: `random` sites in a box beside voro++'s cells of
/// the same, sites on a `lattice`, random `planes`. `pieces` is what was asked for: sites or planes.

#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/cell_complex.h"
#include "fracture/geometry/voro_shim.h"
#include "tools/bench/bench.h"

static const double box_min[3] = {-0.01, -0.01, -0.01}, box_max[3] = {1.01, 1.01, 1.01};

static double (*make_sites(size_t count, bool lattice))[3]
{
    double(*sites)[3] = bench_alloc(count, sizeof *sites);
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    size_t side = 1;
    while (side * side * side < count)
        side++;
    for (size_t i = 0; i < count; i++) {
        size_t at[3] = {i % side, i / side % side, i / side / side};
        for (int k = 0; k < 3; k++)
            sites[i][k] = lattice ? ((double)at[k] + 0.5) / (double)side : rbli_rng_double(&rng);
    }
    return sites;
}

static double (*make_planes(size_t count))[4]
{
    double(*planes)[4] = bench_alloc(count, sizeof *planes);
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            planes[i][k] = 2 * rbli_rng_double(&rng) - 1;
            planes[i][3] += planes[i][k] * rbli_rng_double(&rng);
        }
    return planes;
}

static rbli_hash hash_complex(const rbli_cell_complex *k)
{
    rbli_hash hash = rbli_hash_bytes(k->vertices, k->vertex_count * sizeof *k->vertices);
    return rbli_hash_combine(hash, rbli_hash_bytes(k->facet_cells, k->facet_count * sizeof *k->facet_cells));
}

static void print_row(const bench_options *o, const bench_times *times, bench_row row, const char *unit)
{
    row.value = bench_cpu_median(times) * 1e3 / (double)row.pieces;
    row.unit = unit;
    bench_print(o, times, &row);
}

static void measure(const bench_options *o, const char *name, size_t count)
{
    bool is_planes = strcmp(name, "planes") == 0;
    double(*planes)[4] = is_planes ? make_planes(count) : NULL;
    double(*sites)[3] = is_planes ? NULL : make_sites(count, strcmp(name, "lattice") == 0);
    bench_times times = {0}, voro = {0};
    bench_row row = {.case_name = name, .part = "cells", .pieces = count};
    double *volumes = bench_alloc(count, sizeof *volumes);
    for (int run = 0; run < o->runs; run++) {
        rbl_context *ctx = bench_context(o->threads);
        rbli_cell_complex *k = NULL;
        bench_begin(&times);
        bench_check(ctx,
            is_planes ? rbli_plane_complex(ctx, (const double(*)[4])planes, count, box_min, box_max, NULL, &k)
                      : rbli_voronoi_complex(
                            ctx, (const double(*)[3])sites, count, box_min, box_max, NULL, NULL, &k),
            name);
        bench_end(&times);
        row.hash = hash_complex(k);
        rbli_cell_complex_destroy(ctx, k);
        row.peak_bytes = rbli_allocator_peak_bytes(ctx->allocator);
        bench_context_destroy(ctx);
        if (strcmp(name, "random") != 0) continue;
        bench_begin(&voro);
        bench_check(NULL, rbli_voro_cells((const double(*)[3])sites, count, box_min, box_max, volumes, NULL),
            "voro++");
        bench_end(&voro);
    }
    print_row(o, &times, row, is_planes ? "us/plane" : "us/site");
    if (voro.count)
        print_row(o, &voro, (bench_row){.case_name = name, .part = "voro++", .pieces = count}, "us/site");
    free(planes);
    free(sites);
    free(volumes);
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "cells", NULL);
    static const struct {
        const char *name;
        size_t count;
    } cases[] = {{"random", 1000}, {"random", 10000}, {"random", 100000}, {"lattice", 1000},
        {"lattice", 8000}, {"planes", 50}, {"planes", 100}, {"planes", 200}};
    const char *before = "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!bench_wants(&o, cases[i].name) || (o.pieces && strcmp(before, cases[i].name) == 0)) continue;
        measure(&o, cases[i].name, o.pieces ? o.pieces : cases[i].count);
        before = cases[i].name;
    }
    return 0;
}
