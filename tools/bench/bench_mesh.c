/// Writes the bumpy sphere of the benchmarks, and sites inside it, for programs that are measured from outside:
/// `bench_mesh --triangles N --pieces N FILE…`, FILE one of .obj, .stl, .ply, .off, .glb, or .json (sites as
/// a list), .sites (one a line) or .cells (JSON: for each site the corners of its Voronoi cell in a box around
/// the mesh).

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/geometry/cell_complex.h"
#include "tools/bench/bench.h"

static int write_sites(const char *path, size_t count)
{
    double(*sites)[3] = bench_sites(count);
    bool is_json = strstr(path, ".json") != NULL;
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    for (size_t i = 0; i < count; i++)
        fprintf(file, is_json ? "%s[%.9g, %.9g, %.9g]" : "%s%.9g %.9g %.9g",
            is_json ? i ? ",\n" : "["
            : i     ? "\n"
                    : "",
            sites[i][0], sites[i][1], sites[i][2]);
    fprintf(file, is_json ? "]\n" : "\n");
    free(sites);
    return fclose(file) != 0;
}

static int compare_pairs(const void *pa, const void *pb)
{
    const int32_t *a = pa, *b = pb;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

static int write_cells(const char *path, size_t count)
{
    static const double low[3] = {-1.2, -1.2, -1.2}, high[3] = {1.2, 1.2, 1.2};
    rbl_context *ctx = bench_context(1);
    rbli_cell_complex *k = NULL;
    double(*sites)[3] = bench_sites(count);
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    bench_check(
        ctx, rbli_voronoi_complex(ctx, (const double(*)[3])sites, count, low, high, NULL, NULL, &k), "cells");
    size_t pair_count = 0;
    int32_t(*pairs)[2] = bench_alloc(2 * (size_t)k->facet_start[k->facet_count], sizeof *pairs);
    for (size_t f = 0; f < k->facet_count; f++)
        for (int32_t v = k->facet_start[f]; v < k->facet_start[f + 1]; v++)
            for (int side = 0; side < 2; side++) {
                if (k->facet_cells[f][side] < 0) continue;
                pairs[pair_count][0] = k->facet_cells[f][side];
                pairs[pair_count++][1] = k->facet_vertices[v];
            }
    qsort(pairs, pair_count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < pair_count; i++) {
        bool first = i == 0 || pairs[i][0] != pairs[i - 1][0];
        if (!first && pairs[i][1] == pairs[i - 1][1]) continue;
        const double *p = k->vertices[pairs[i][1]];
        fprintf(file, "%s[%.17g, %.17g, %.17g]", i == 0 ? "[[" : first ? "],\n[" : ", ", p[0], p[1], p[2]);
    }
    fprintf(file, "]]\n");
    rbli_cell_complex_destroy(ctx, k);
    bench_context_destroy(ctx);
    free(pairs);
    free(sites);
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    size_t triangles = 300000, pieces = 1000;
    int failed = 0;
    bench_mesh mesh = {0};
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--triangles") == 0) {
            triangles = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--pieces") == 0) {
            pieces = strtoull(argv[++i], NULL, 10);
        } else if (strstr(argv[i], ".json") || strstr(argv[i], ".sites")) {
            failed |= write_sites(argv[i], pieces);
        } else if (strstr(argv[i], ".cells")) {
            failed |= write_cells(argv[i], pieces);
        } else if (strrchr(argv[i], '.')) {
            if (!mesh.triangle_count) mesh = bench_sphere(triangles);
            bench_write_mesh(&mesh, argv[i]);
        } else {
            fprintf(stderr, "usage: bench_mesh [--triangles N] [--pieces N] FILE…\n");
            return 2;
        }
    }
    bench_mesh_free(&mesh);
    return failed;
}
