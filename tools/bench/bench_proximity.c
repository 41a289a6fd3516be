/// Times which pieces touch, on a bumpy sphere cut by Voronoi cells: `bench_proximity [--most N]`; without
/// --triangles and --pieces 100,000 triangles in 1,000 pieces and ten times as many, up to --most (100,000).
/// Values: time a piece.
///
/// Cases: `cut` as the cutter leaves the pieces; `foreign` with every piece moved by less than the tolerance,
/// so that no two triangles are equal; `vertices` as cut, shared vertices too; `hull` by distance of hulls,
/// `hull_area` with the area that hulls share; `delaunay`, `spanning`, `bounds`, `implicit`: connections.

#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/ops/connection_graph.h"
#include "fracture/ops/proximity.h"
#include "tools/bench/bench.h"

/// Moves each geometry by up to `most` along each axis.
static rbl_status move_pieces(rbl_context *ctx, rbl_collection *c, double most)
{
    double(*positions)[3];
    const int32_t *start = rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32);
    rbl_status status =
        rbli_collection_write(ctx, c, "vertex", "position", RBL_VEC3, (void **)(void *)&positions);
    for (size_t g = 0; status == RBL_OK && g < rbli_collection_size(c, "geometry"); g++) {
        rbli_rng rng = rbli_rng_make(2, RBLI_RNG_TEST, g);
        double by[3];
        for (int k = 0; k < 3; k++)
            by[k] = most * (2 * rbli_rng_double(&rng) - 1);
        for (int32_t v = start[g]; v < start[g] + count[g]; v++)
            for (int k = 0; k < 3; k++)
                positions[v][k] += by[k];
    }
    return status;
}

static rbl_status run_kind(rbl_context *ctx, const char *kind, const rbl_collection *in, rbli_hash *hash)
{
    rbl_collection *out = NULL;
    static const char *const methods[] = {"", "delaunay", "spanning", "bounds", "implicit"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(kind, methods[i]) != 0) continue;
        rbli_connection_options connections = rbli_connection_default_options();
        connections.method = (rbli_connection_method)i;
        connections.near_distance = 0.01;
        rbl_status status = rbli_connection_graph(ctx, in, &connections, &out);
        if (status == RBL_OK) *hash = rbli_collection_hash(out);
        rbli_collection_release(out);
        return status;
    }
    rbli_proximity_options options = {
        .contact_area = RBLI_AREA_GEOMETRY, .connection_graph = true, .distance_threshold = 1e-3};
    if (strncmp(kind, "hull", 4) == 0) {
        options.method = RBLI_PROXIMITY_HULL;
        options.contact_area = strcmp(kind, "hull_area") == 0 ? RBLI_AREA_HULL : RBLI_AREA_NONE;
    }
    options.shared_vertices = strcmp(kind, "vertices") == 0;
    rbl_status status = rbli_proximity(ctx, in, &options, &out);
    if (status == RBL_OK) *hash = rbli_collection_hash(out);
    rbli_collection_release(out);
    return status;
}

static const char *const kinds[] = {
    "cut", "foreign", "vertices", "hull", "hull_area", "delaunay", "spanning", "bounds", "implicit"};

static void measure(const bench_options *o, const char *kind, const rbl_collection *cut)
{
    rbl_context *ctx = bench_context(o->threads);
    rbl_collection *in = NULL;
    bench_times times = {0};
    bench_check(ctx, rbli_collection_copy(ctx, cut, &in), "copy");
    if (strcmp(kind, "foreign") == 0) bench_check(ctx, move_pieces(ctx, in, 1e-7), "move");
    bench_row row = {.case_name = kind,
        .triangles = rbli_collection_size(in, "face"),
        .pieces = rbli_collection_size(in, "geometry"),
        .unit = "us/piece"};
    for (int run = 0; run < o->runs; run++) {
        bench_begin(&times);
        bench_check(ctx, run_kind(ctx, kind, in, &row.hash), kind);
        bench_end(&times);
    }
    row.value = bench_cpu_median(&times) * 1e3 / (double)row.pieces;
    row.peak_bytes = rbli_allocator_peak_bytes(ctx->allocator);
    bench_print(o, &times, &row);
    rbli_collection_release(in);
    bench_context_destroy(ctx);
}

static void measure_all(const bench_options *o, size_t triangles, size_t count)
{
    rbl_context *ctx = bench_context(2);
    bench_mesh mesh = bench_sphere(triangles);
    double(*sites)[3] = bench_sites(count);
    rbl_collection *whole = bench_sphere_collection(ctx, &mesh);
    rbl_collection *cut = bench_pieces(ctx, whole, (const double(*)[3])sites, count);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (*o->only ? strcmp(kinds[k], o->only) == 0 : true) measure(o, kinds[k], cut);
    rbli_collection_release(whole);
    rbli_collection_release(cut);
    free(sites);
    bench_mesh_free(&mesh);
    bench_context_destroy(ctx);
}

int main(int argc, char **argv)
{
    long most = 100000;
    const bench_own_option own[] = {{"--most", &most}, {0}};
    bench_options o = bench_start(argc, argv, "proximity", own);
    size_t triangles = o.triangles ? o.triangles : 100000;
    if (o.pieces)
        measure_all(&o, triangles, o.pieces);
    else
        for (size_t pieces = 1000; pieces <= (size_t)most; pieces *= 10)
            measure_all(&o, triangles, pieces);
    return 0;
}
