/// Times which pieces touch, on a sphere cut by Voronoi cells: `bench_proximity [--threads N] [--runs N]
/// [--most N] [--only KIND]`. Prints CSV: kind, pieces, triangles, pairs found, the least CPU time of the
/// runs in milliseconds, that time for each piece in microseconds, peak memory in MB (the collection
/// included).
///
/// Kinds: `cut` as the cutter leaves the pieces; `foreign` with every piece moved by less than the tolerance,
/// so that no two triangles are equal; `vertices` as cut, shared vertices too; `hull` by distance of hulls,
/// `hull_area` with the area that hulls share; `delaunay`, `spanning`, `bounds`, `implicit`: connections.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/primitive.h"
#include "fracture/io/mesh_collection.h"
#include "fracture/ops/connection_graph.h"
#include "fracture/ops/fracture.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/surface.h"

typedef struct sites {
    double (*points)[3];
    size_t count;
} sites;

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static rbl_status make_complex(
    rbl_context *ctx, const rbli_cut_domain *domain, void *user, rbli_cell_complex **out)
{
    const sites *s = user;
    return rbli_voronoi_complex(
        ctx, (const double(*)[3])s->points, s->count, domain->box_min, domain->box_max, NULL, NULL, out);
}

static rbl_status make_sphere(rbl_context *ctx, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbli_primitive sphere = {0};
    const double size[3] = {2, 2, 2};
    char name[] = "sphere";
    int32_t *nodes = NULL, *materials = NULL;
    RBL_TRY(rbli_primitive_make(ctx, RBLI_PRIMITIVE_SPHERE, size, 64, &sphere));
    RBL_TRY_ALLOC(nodes = rbli_calloc(ctx, sphere.triangle_count, sizeof *nodes));
    RBL_TRY_ALLOC(materials = rbli_calloc(ctx, sphere.triangle_count, sizeof *materials));
    memset(materials, 0xff, sphere.triangle_count * sizeof *materials);
    rbli_mesh_file_node node = {.name = name, .parent = -1};
    for (int k = 0; k < 4; k++)
        node.transform[5 * k] = 1;
    rbli_mesh_file file = {.positions = sphere.positions,
        .position_count = sphere.vertex_count,
        .triangles = sphere.triangles,
        .triangle_nodes = nodes,
        .triangle_materials = materials,
        .triangle_count = sphere.triangle_count,
        .normals = sphere.normals,
        .uvs = {sphere.uvs},
        .uv_set_count = 1,
        .nodes = &node,
        .node_count = 1};
    rbli_mesh_collection_options options = {.scale = 1};
    RBL_TRY(rbli_mesh_collection_create(ctx, &file, &options, out));
    RBL_TRY(rbli_surface_measure(ctx, *out, 0));
done:
    rbli_primitive_free(ctx, &sphere);
    rbli_free(ctx, nodes);
    rbli_free(ctx, materials);
    return status;
}

static rbl_status make_pieces(rbl_context *ctx, size_t count, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *sphere = NULL;
    rbli_fracture_result result = {0};
    rbli_fracture_options options = rbli_fracture_default_options();
    sites s = {rbli_alloc(ctx, count, sizeof *s.points), count};
    RBL_TRY_ALLOC(s.points);
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    for (size_t i = 0; i < count;) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            s.points[i][k] = 2 * rbli_rng_double(&rng) - 1;
            square += s.points[i][k] * s.points[i][k];
        }
        i += square < 1;
    }
    options.make_complex = make_complex;
    options.user = &s;
    RBL_TRY(make_sphere(ctx, &sphere));
    RBL_TRY(rbli_fracture(ctx, sphere, &options, &result));
    *out = result.collection;
    rbli_free(ctx, result.new_bones);
done:
    rbli_free(ctx, s.points);
    rbli_collection_release(sphere);
    return status;
}

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

static rbl_status run_kind(rbl_context *ctx, const char *kind, const rbl_collection *in, size_t *pairs)
{
    rbl_collection *out = NULL;
    static const char *const methods[] = {"", "delaunay", "spanning", "bounds", "implicit"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(kind, methods[i]) != 0) continue;
        rbli_connection_options connections = rbli_connection_default_options();
        connections.method = (rbli_connection_method)i;
        connections.near_distance = 0.01;
        rbl_status status = rbli_connection_graph(ctx, in, &connections, &out);
        if (status == RBL_OK) *pairs = rbli_collection_size(out, "connection");
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
    if (status == RBL_OK) *pairs = rbli_collection_size(out, "proximity");
    rbli_collection_release(out);
    return status;
}

static const char *const kinds[] = {
    "cut", "foreign", "vertices", "hull", "hull_area", "delaunay", "spanning", "bounds", "implicit"};

static int measure(size_t pieces, int threads, int runs, const char *only)
{
    rbl_context *ctx = NULL;
    rbl_collection *cut = NULL;
    if (rbli_context_create(threads, &ctx) != RBL_OK) return 1;
    rbl_status status = make_pieces(ctx, pieces, &cut);
    for (size_t k = 0; status == RBL_OK && k < sizeof kinds / sizeof *kinds; k++) {
        double least = 0;
        size_t pairs = 0;
        rbl_collection *in = NULL;
        if (only && strcmp(only, kinds[k]) != 0) continue;
        status = rbli_collection_copy(ctx, cut, &in);
        if (status == RBL_OK && strcmp(kinds[k], "foreign") == 0) status = move_pieces(ctx, in, 1e-7);
        for (int run = 0; status == RBL_OK && run < runs; run++) {
            double start = cpu_ms();
            status = run_kind(ctx, kinds[k], in, &pairs);
            double spent = cpu_ms() - start;
            least = run == 0 || spent < least ? spent : least;
        }
        if (status == RBL_OK)
            printf("%s,%zu,%zu,%zu,%.1f,%.2f,%.0f\n", kinds[k], rbli_collection_size(in, "geometry"),
                rbli_collection_size(in, "face"), pairs, least, 1e3 * least / (double)pieces,
                (double)rbli_allocator_peak_bytes(ctx->allocator) / 1e6);
        fflush(stdout);
        rbli_collection_release(in);
    }
    if (status != RBL_OK) fprintf(stderr, "bench_proximity: %s\n", rbl_status_text(status));
    rbli_collection_release(cut);
    rbli_context_destroy(ctx);
    return status != RBL_OK;
}

int main(int argc, char **argv)
{
    int threads = 1, runs = 1;
    size_t most = 100000;
    const char *only = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--threads") == 0) threads = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--runs") == 0) runs = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--most") == 0) most = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    }
    printf("kind,pieces,triangles,pairs,cpu_ms,us_per_piece,peak_mb\n");
    for (size_t pieces = 1000; pieces <= most; pieces *= 10)
        if (measure(pieces, threads, runs, only) != 0) return 1;
    return 0;
}
