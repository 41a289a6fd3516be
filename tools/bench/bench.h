#ifndef RUBBLE_TOOLS_BENCH_H
#define RUBBLE_TOOLS_BENCH_H

/// What the benchmark programs share: options, the machine's description, clocks, rows of CSV, meshes and
/// sites. A fault ends the program, status 1; these are programs, not a library.
///
/// Every program prints `# key: value` lines and then rows of the same columns (bench_columns): times are
/// those of `runs` runs, median and least; CPU times are user and system of the whole process. `value` in
/// `unit` says what the time means (ns/triangle, MB/s, …), `hash` what came out: the same for each thread count.

#include "fracture/base/context.h"
#include "fracture/base/hash.h"
#include "fracture/collection/collection.h"
#include "fracture/geometry/mesh.h"

enum { BENCH_MOST_RUNS = 99 };

/// Options of every program; what it does not use it ignores. Given on the command line as `--name value`.
typedef struct bench_options {
    const char *name;  /* of the program, without bench_ */
    int threads, runs; /* --threads, default 1; --runs, 1 … BENCH_MOST_RUNS, default 5 */
    const char *only;  /* --only: cases whose name holds this; "" all */
    size_t triangles;  /* --triangles: of the mesh; 0: the program's own cases */
    size_t pieces;     /* --pieces; 0: the program's own cases */
} bench_options;

/// An option of one program alone.
typedef struct bench_own_option {
    const char *name; /* "--ticks"; NULL ends the list */
    long *value;      /* holds the default before */
} bench_own_option;

/// Reads the command line, prints the machine and the head of the CSV. Wrong options end the program, status 2.
/// @param own may be NULL
bench_options bench_start(int argc, char **argv, const char *name, const bench_own_option *own);
bool bench_wants(const bench_options *options, const char *case_name);
/// Ends the program when `status` is not RBL_OK, with the context's messages. `ctx` may be NULL.
void bench_check(rbl_context *ctx, rbl_status status, const char *what);
/// The context of a run: `threads` threads, CPU times counted for rbli_activity_cpu_ns. Pages stay with the
/// process from run to run, as in an engine that evaluates one thing after another: the first run alone pays
/// for fresh ones.
rbl_context *bench_context(int threads);
void bench_context_destroy(rbl_context *ctx);
void *bench_alloc(size_t count, size_t size); /* zeroed; freed with free */

/* ---- Times ---- */

typedef struct bench_times {
    double cpu_ms[BENCH_MOST_RUNS], wall_ms[BENCH_MOST_RUNS];
    int count;
    double cpu_begin_ms, wall_begin_ms;
} bench_times;

double bench_cpu_ms(void); /* of the process */
double bench_wall_ms(void);
void bench_begin(bench_times *times);
void bench_end(bench_times *times);                                /* adds a run */
void bench_add(bench_times *times, double cpu_ms, double wall_ms); /* wall_ms < 0: not measured */
double bench_cpu_median(const bench_times *times);
double bench_wall_median(const bench_times *times);

/* ---- Rows ---- */

/// One row; what is not set is left empty.
typedef struct bench_row {
    const char *case_name, *part;
    size_t triangles, pieces;
    size_t peak_bytes;
    double value;
    const char *unit;
    rbli_hash hash;
} bench_row;

void bench_print(const bench_options *options, const bench_times *times, const bench_row *row);

/* ---- Work ---- */

typedef struct bench_mesh {
    double (*positions)[3]; /* floats, so that every program reads the same from every format */
    int32_t (*triangles)[3];
    size_t vertex_count, triangle_count;
} bench_mesh;

/// A sphere with bumps, closed, not convex, radius about 1: 12 n² triangles, n the nearest to what was asked
/// for (20,172 for 20,000 and 299,568 for 300,000).
bench_mesh bench_sphere(size_t triangles);
void bench_mesh_free(bench_mesh *mesh);
rbli_mesh_view bench_view(const bench_mesh *mesh);
/// Points inside that sphere, uniform, floats too; freed with free.
double (*bench_sites(size_t count))[3];
/// The sphere as a collection, and cut by Voronoi cells of `sites`; released by the caller.
rbl_collection *bench_sphere_collection(rbl_context *ctx, const bench_mesh *mesh);
rbl_collection *bench_pieces(
    rbl_context *ctx, const rbl_collection *whole, const double (*sites)[3], size_t site_count);
/// Writes `mesh` as .obj, .stl, .ply, .off or .glb, as its name says.
void bench_write_mesh(const bench_mesh *mesh, const char *path);

#endif
