/// Times every cutter with planar cells on one sphere (about 40,000 triangles), for about as many pieces each
/// (1,000): `bench_cutters`. Cases: voronoi, slices, bricks, each alone, with grout, with noise; parts: making
/// the `complex`, the `cut` and the `whole`. Values: time a piece.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/brick_complex.h"
#include "fracture/geometry/complex_erode.h"
#include "fracture/geometry/cut.h"
#include "fracture/geometry/noise_complex.h"
#include "fracture/geometry/primitive.h"
#include "tools/bench/bench.h"

enum { MOST_SITES = 100000 };

static const double box_min[3] = {-1.2, -1.2, -1.2}, box_max[3] = {1.2, 1.2, 1.2};
static const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
static double sites[MOST_SITES][3], planes[3000][4];

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

static void print_row(const bench_options *o, const bench_times *times, bench_row row, const char *part)
{
    row.part = part;
    row.value = bench_cpu_median(times) * 1e3 / (double)row.pieces;
    row.unit = "us/piece";
    bench_print(o, times, &row);
}

static void measure(const bench_options *o, const char *kind, size_t pieces, const rbli_mesh_view *mesh)
{
    bench_times make = {0}, cut = {0}, whole = {0};
    bench_row row = {.case_name = kind, .triangles = mesh->triangle_count};
    rbli_cut_options options = {true, .drop_outside = strncmp(kind, "bricks", 6) != 0};
    for (int run = 0; run < o->runs; run++) {
        rbl_context *ctx = bench_context(o->threads);
        rbli_cell_complex *k = NULL;
        rbli_cut_result *result = NULL;
        bench_begin(&whole);
        bench_begin(&make);
        bench_check(ctx, make_complex(ctx, kind, pieces, mesh, &k), kind);
        bench_end(&make);
        bench_begin(&cut);
        bench_check(ctx, rbli_cut(ctx, mesh, k, &options, &result), kind);
        bench_end(&cut);
        bench_end(&whole);
        row.pieces = result->piece_count;
        rbli_cut_result_destroy(ctx, result);
        rbli_cell_complex_destroy(ctx, k);
        row.peak_bytes = rbli_allocator_peak_bytes(ctx->allocator);
        bench_context_destroy(ctx);
    }
    print_row(o, &make, row, "complex");
    print_row(o, &cut, row, "cut");
    print_row(o, &whole, row, "whole");
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"voronoi", "slices", "bricks", "voronoi-grout", "slices-grout",
        "bricks-grout", "voronoi-noise", "slices-noise", "bricks-noise"};
    bench_options o = bench_start(argc, argv, "cutters", NULL);
    size_t pieces = o.pieces ? o.pieces : 1000;
    if (pieces > MOST_SITES) return 2;
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    for (size_t i = 0; i < pieces;) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            sites[i][k] = 2 * rbli_rng_double(&rng) - 1;
            square += sites[i][k] * sites[i][k];
        }
        i += square < 1;
    }
    rbl_context *ctx = bench_context(1);
    rbli_primitive sphere = {0};
    const double size[3] = {2, 2, 2};
    int32_t segments =
        o.triangles ? (int32_t)sqrt((double)o.triangles) : 200; /* segments² triangles, nearly */
    bench_check(ctx, rbli_primitive_make(ctx, RBLI_PRIMITIVE_SPHERE, size, segments, &sphere), "sphere");
    rbli_mesh_view mesh = {(const double(*)[3])sphere.positions, sphere.vertex_count,
        (const int32_t(*)[3])sphere.triangles, sphere.triangle_count};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bench_wants(&o, kinds[i])) measure(&o, kinds[i], pieces, &mesh);
    rbli_primitive_free(ctx, &sphere);
    bench_context_destroy(ctx);
    return 0;
}
