/// Writes the bumpy sphere of the benchmarks, and sites inside it, for programs that are measured from outside:
/// `bench_mesh --triangles N --pieces N FILE…`, FILE one of .obj, .stl, .ply, .off, .glb, or .json (sites as
/// a list) or .sites (one a line).

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
