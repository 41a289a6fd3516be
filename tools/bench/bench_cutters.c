/// Times every cutter with planar cells on one sphere, for about as many pieces each: `bench_cutters
/// [--threads N]
/// [--runs N] [--segments N] [--pieces N] [--only PART-OF-NAME]`. Prints CSV: cutter, cells, pieces, least
/// CPU times of the runs in milliseconds of making the complex and of the cut, their sum relative to
/// Voronoi's, peak memory of both.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/brick_complex.h"
#include "fracture/geometry/complex_erode.h"
#include "fracture/geometry/cut.h"
#include "fracture/geometry/noise_complex.h"
#include "fracture/geometry/primitive.h"

enum { MOST_SITES = 100000 };

static const double box_min[3] = {-1.2, -1.2, -1.2}, box_max[3] = {1.2, 1.2, 1.2};
static const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
static double sites[MOST_SITES][3], planes[3000][4];

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/// Planes at equal steps across the axes, so that the sphere falls into about `pieces` parts.
static size_t make_slices(size_t pieces)
{
    size_t side = (size_t)ceil(cbrt((double)pieces / 0.6)), count = 0;
    for (int axis = 0; axis < 3; axis++)
        for (size_t i = 1; i < side && count < sizeof planes / sizeof *planes; i++) {
            memset(planes[count], 0, sizeof *planes);
            planes[count][axis] = 1;
            planes[count++][3] = -1 + 2 * (double)i / (double)side + 1e-3;
        }
    return count;
}

static rbl_status make_bricks(rbl_context *ctx, size_t pieces, rbli_cell_complex **out)
{
    rbli_brick_options o = rbli_brick_default_options();
    rbli_brick *bricks = NULL;
    size_t count;
    double size = cbrt(8 * 0.7 / (double)pieces);
    o.length = 1.6 * size;
    o.height = 0.8 * size;
    o.depth = 0.78 * size;
    o.most = 100000;
    rbl_status status = rbli_brick_layout(ctx, &o, low, high, NULL, &bricks, &count);
    if (status == RBL_OK) status = rbli_box_complex(ctx, bricks, count, low, high, box_min, box_max, out);
    rbli_free(ctx, bricks);
    return status;
}

/// `kind` names what to make: voronoi, slices, bricks, each alone or with -grout or -noise behind it.
static rbl_status make_complex(
    rbl_context *ctx, const char *kind, size_t pieces, const rbli_mesh_view *mesh, rbli_cell_complex **out)
{
    rbl_status status;
    rbli_cell_complex *made = NULL, *next = NULL;
    if (strncmp(kind, "slices", 6) == 0)
        status = rbli_plane_complex(
            ctx, (const double(*)[4])planes, make_slices(pieces), box_min, box_max, NULL, &made);
    else if (strncmp(kind, "bricks", 6) == 0)
        status = make_bricks(ctx, pieces, &made);
    else
        status =
            rbli_voronoi_complex(ctx, (const double(*)[3])sites, pieces, box_min, box_max, NULL, NULL, &made);
    if (status == RBL_OK && strstr(kind, "-grout")) {
        status = rbli_complex_erode(ctx, made, 0.05 / cbrt((double)pieces), NULL, &next);
    } else if (status == RBL_OK && strstr(kind, "-noise")) {
        rbli_noise_options o = rbli_noise_default_options();
        rbli_noise_report report;
        o.noise.amplitude = 0.02;
        o.point_spacing = 0.04;
        o.noise.frequency = 6;
        status = rbli_noise_complex(ctx, made, &o, mesh, 1, &report, &next);
    }
    if (next) {
        rbli_cell_complex_destroy(ctx, made);
        made = next;
    }
    *out = made;
    return status;
}

static int measure(
    const char *kind, size_t pieces, const rbli_mesh_view *mesh, int threads, int runs, double *reference)
{
    double make_ms = 0, cut_ms = 0, peak = 0;
    size_t cells = 0, piece_count = 0;
    for (int run = 0; run < runs; run++) {
        rbl_context *ctx = NULL;
        rbli_cell_complex *k = NULL;
        rbli_cut_result *result = NULL;
        rbli_cut_options options = {true, .drop_outside = strncmp(kind, "bricks", 6) != 0};
        if (rbli_context_create(threads, &ctx) != RBL_OK) return 1;
        double start = cpu_ms();
        rbl_status status = make_complex(ctx, kind, pieces, mesh, &k);
        double middle = cpu_ms();
        if (status == RBL_OK) status = rbli_cut(ctx, mesh, k, &options, &result);
        double end = cpu_ms();
        if (status == RBL_OK) {
            cells = k->cell_count;
            piece_count = result->piece_count;
            if (run == 0 || end - start < make_ms + cut_ms) {
                make_ms = middle - start;
                cut_ms = end - middle;
            }
            peak = (double)rbli_allocator_peak_bytes(ctx->allocator) / 1e6;
        } else {
            fprintf(stderr, "bench_cutters: %s: %s\n", kind, rbl_status_text(status));
        }
        rbli_cut_result_destroy(ctx, result);
        rbli_cell_complex_destroy(ctx, k);
        rbli_context_destroy(ctx);
        if (status != RBL_OK) return 1;
    }
    if (*reference == 0) *reference = make_ms + cut_ms;
    printf("%s,%zu,%zu,%.1f,%.1f,%.2f,%.0f\n", kind, cells, piece_count, make_ms, cut_ms,
        (make_ms + cut_ms) / *reference, peak);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"voronoi", "slices", "bricks", "voronoi-grout", "slices-grout",
        "bricks-grout", "voronoi-noise", "slices-noise", "bricks-noise"};
    int threads = 1, runs = 3, segments = 200, failed = 0;
    size_t pieces = 1000;
    const char *only = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        long value = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--only") == 0) only = argv[i + 1];
        if (strcmp(argv[i], "--threads") == 0) threads = (int)value;
        if (strcmp(argv[i], "--runs") == 0) runs = (int)value;
        if (strcmp(argv[i], "--segments") == 0) segments = (int)value;
        if (strcmp(argv[i], "--pieces") == 0) pieces = (size_t)value;
    }
    if (pieces < 1 || pieces > MOST_SITES) return 2;
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    for (size_t i = 0; i < pieces;) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            sites[i][k] = 2 * rbli_rng_double(&rng) - 1;
            square += sites[i][k] * sites[i][k];
        }
        i += square < 1;
    }
    rbl_context *ctx = NULL;
    rbli_primitive sphere = {0};
    const double size[3] = {2, 2, 2};
    if (rbli_context_create(1, &ctx) != RBL_OK) return 1;
    if (rbli_primitive_make(ctx, RBLI_PRIMITIVE_SPHERE, size, segments, &sphere) == RBL_OK) {
        rbli_mesh_view mesh = {(const double(*)[3])sphere.positions, sphere.vertex_count,
            (const int32_t(*)[3])sphere.triangles, sphere.triangle_count};
        double reference = 0;
        printf("# %zu triangles, %d threads\n", mesh.triangle_count, threads);
        printf("cutter,cells,pieces,complex_ms,cut_ms,relative,peak_mb\n");
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strstr(kinds[i], only)) failed |= measure(kinds[i], pieces, &mesh, threads, runs, &reference);
    } else {
        failed = 1;
    }
    rbli_primitive_free(ctx, &sphere);
    rbli_context_destroy(ctx);
    return failed;
}
