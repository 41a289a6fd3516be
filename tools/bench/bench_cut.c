/// Times Voronoi cells and the cut of a bumpy sphere by them: `bench_cut [--triangles N] [--pieces N]
/// [--grid 1]`. Without numbers 300,000 triangles by 100, 1,000 and 10,000 sites; with a grid 1,000 to
/// 3,000,000 triangles by 20 to 100,000 sites. All sites lie inside the mesh: each makes a piece.
///
/// Rows of a case: `cells` (all of K), `voro++` (its cells of the same sites alone), `cut` (peak: of the cut
/// alone, its result included), the cut's phases, `whole` (cells and cut). Values: time for a site or for an
/// input triangle. Rows without times count what the cut met: `untouched` and `cut triangles` of the input,
/// interior `facets`, `output` triangles.
///
/// `--coplanar 1` cuts a box of about as many triangles by sites on a lattice instead, all facets in planes of
/// its edges and faces, and as a generic input the same box turned, by the same sites moved a little.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/trace.h"
#include "fracture/geometry/cut.h"
#include "fracture/geometry/voro_shim.h"
#include "tools/bench/bench.h"

static const char *const phase_names[RBLI_CUT_PHASES] = {"prepare mesh", "prepare cells", "settle", "flood",
    "label vertices", "order edges", "trace mesh", "trace facets", "assemble"};

typedef struct counts {
    size_t pieces, untouched, cut, facets, output;
} counts;

/// Untouched: the one output triangle of its input triangle, with vertices of the input.
static counts count_all(const rbli_cut_result *r, size_t triangle_count, size_t facet_count)
{
    counts c = {.pieces = r->piece_count, .output = r->triangle_count};
    uint8_t *kind = bench_alloc(triangle_count, 1), *facet = bench_alloc(facet_count, 1);
    for (size_t t = 0; t < r->triangle_count; t++) {
        int32_t source = r->origins.source[t];
        if (source < 0) {
            facet[-1 - source] = 1;
            continue;
        }
        bool whole = kind[source] == 0;
        for (int k = 0; k < 3; k++)
            whole = whole && r->vertex_source[r->triangles[t][k]] >= 0;
        kind[source] = whole ? 1 : 2;
    }
    for (size_t t = 0; t < triangle_count; t++)
        c.untouched += kind[t] == 1;
    c.cut = triangle_count - c.untouched;
    for (size_t f = 0; f < facet_count; f++)
        c.facets += facet[f];
    free(kind);
    free(facet);
    return c;
}

static rbli_hash hash_result(const rbli_cut_result *r)
{
    rbli_hasher hasher;
    rbli_hasher_init(&hasher);
    rbli_hasher_add(&hasher, r->positions, r->vertex_count * sizeof *r->positions);
    rbli_hasher_add(&hasher, r->triangles, r->triangle_count * sizeof *r->triangles);
    rbli_hasher_add(&hasher, r->origins.source, r->triangle_count * sizeof *r->origins.source);
    rbli_hasher_add(&hasher, r->piece_volume, r->piece_count * sizeof *r->piece_volume);
    rbli_hasher_add(&hasher, r->contacts, r->contact_count * sizeof *r->contacts);
    return rbli_hasher_end(&hasher);
}

typedef struct measured {
    bench_times cells, cut, whole, voro, phases[RBLI_CUT_PHASES];
    size_t cells_peak, cut_peak;
    counts counts;
    rbli_hash hash;
} measured;

static void run_once(const bench_options *o, const bench_mesh *mesh, const double (*sites)[3],
    size_t site_count, measured *m, bool last)
{
    static const double low[3] = {-1.2, -1.2, -1.2}, high[3] = {1.2, 1.2, 1.2};
    rbl_context *ctx = bench_context(o->threads), *cut_ctx = bench_context(o->threads);
    rbli_cell_complex *complex = NULL;
    rbli_cut_result *result = NULL;
    rbli_mesh_view view = bench_view(mesh);
    bench_begin(&m->cells);
    bench_check(ctx, rbli_voronoi_complex(ctx, sites, site_count, low, high, NULL, NULL, &complex), "cells");
    bench_end(&m->cells);
    bench_begin(&m->cut);
    bench_check(cut_ctx, rbli_cut(cut_ctx, &view, complex, NULL, &result), "cut");
    bench_end(&m->cut);
    int run = m->cut.count - 1;
    bench_add(
        &m->whole, m->cells.cpu_ms[run] + m->cut.cpu_ms[run], m->cells.wall_ms[run] + m->cut.wall_ms[run]);
    for (int i = 0; i < RBLI_CUT_PHASES; i++)
        bench_add(&m->phases[i], result->phase_ms[i], -1);
    m->cells_peak = rbli_allocator_peak_bytes(ctx->allocator);
    m->cut_peak = rbli_allocator_peak_bytes(cut_ctx->allocator);
    if (last) {
        m->counts = count_all(result, mesh->triangle_count, complex->facet_count);
        m->hash = hash_result(result);
    }
    rbli_cut_result_destroy(cut_ctx, result);
    rbli_cell_complex_destroy(ctx, complex);
    bench_context_destroy(cut_ctx);
    bench_context_destroy(ctx);
}

static void run_voro(const double (*sites)[3], size_t count, measured *m)
{
    static const double low[3] = {-1.2, -1.2, -1.2}, high[3] = {1.2, 1.2, 1.2};
    double *volumes = bench_alloc(count, sizeof *volumes);
    bench_begin(&m->voro);
    bench_check(NULL, rbli_voro_cells(sites, count, low, high, volumes, NULL), "voro++");
    bench_end(&m->voro);
    free(volumes);
}

static void print_count(const bench_options *o, bench_row row, const char *part, size_t count)
{
    static const bench_times none;
    row.part = part;
    row.value = (double)count;
    row.unit = "count";
    bench_print(o, &none, &row);
}

static void print_all(
    const bench_options *o, const char *name, size_t triangles, size_t sites, const measured *m)
{
    bench_row row = {.case_name = name, .triangles = triangles, .pieces = sites, .unit = "us/site"};
    row.part = "cells";
    row.peak_bytes = m->cells_peak;
    row.value = bench_cpu_median(&m->cells) * 1e3 / (double)sites;
    bench_print(o, &m->cells, &row);
    row.peak_bytes = 0;
    if (m->voro.count) {
        row.part = "voro++";
        row.value = bench_cpu_median(&m->voro) * 1e3 / (double)sites;
        bench_print(o, &m->voro, &row);
    }
    row.part = "cut";
    row.peak_bytes = m->cut_peak;
    row.value = bench_cpu_median(&m->cut) * 1e6 / (double)triangles;
    row.unit = "ns/triangle";
    row.hash = m->hash;
    bench_print(o, &m->cut, &row);
    row.peak_bytes = 0;
    row.hash = (rbli_hash){0};
    for (int i = 0; i < RBLI_CUT_PHASES; i++) {
        char part[40];
        snprintf(part, sizeof part, "cut: %s", phase_names[i]);
        row.part = part;
        row.value = bench_cpu_median(&m->phases[i]) * 1e6 / (double)triangles;
        bench_print(o, &m->phases[i], &row);
    }
    row.part = "whole";
    row.value = bench_cpu_median(&m->whole) * 1e6 / (double)triangles;
    bench_print(o, &m->whole, &row);
    print_count(o, row, "pieces", m->counts.pieces);
    print_count(o, row, "untouched", m->counts.untouched);
    print_count(o, row, "cut triangles", m->counts.cut);
    print_count(o, row, "facets", m->counts.facets);
    print_count(o, row, "output", m->counts.output);
}

static void measure(const bench_options *o, const char *name, const bench_mesh *mesh,
    const double (*sites)[3], size_t count, bool voro)
{
    measured *m = bench_alloc(1, sizeof *m);
    for (int run = 0; run < o->runs; run++) {
        run_once(o, mesh, sites, count, m, run + 1 == o->runs);
        if (voro) run_voro(sites, count, m);
    }
    print_all(o, name, mesh->triangle_count, count, m);
    free(m);
}

static void measure_sphere(const bench_options *o, size_t triangles, size_t site_count)
{
    bench_mesh mesh = bench_sphere(triangles);
    double(*sites)[3] = bench_sites(site_count);
    measure(o, "sphere", &mesh, (const double(*)[3])sites, site_count, true);
    free(sites);
    bench_mesh_free(&mesh);
}

/* ---- Coplanar input ---- */

/// A box of 12 n² triangles whose vertices lie on a grid of powers of two, so that nothing is rounded.
static bench_mesh make_box(size_t n)
{
    bench_mesh box = bench_sphere(12 * n * n);
    /* The sphere's grid is the cube's surface, pushed outward along rays: pull it back and round. */
    for (size_t v = 0; v < box.vertex_count; v++) {
        double *p = box.positions[v], most = 0;
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(p[k]));
        for (int k = 0; k < 3; k++)
            p[k] = round((p[k] / most + 1) * (double)n / 2) * 2 / (double)n - 1;
    }
    return box;
}

/// A rotation by angles that nothing is aligned with.
static void turn(double (*points)[3], size_t count)
{
    static const double rows[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    for (size_t i = 0; i < count; i++) {
        double p[3];
        memcpy(p, points[i], sizeof p);
        for (int k = 0; k < 3; k++)
            points[i][k] = 0.65 * (rows[k][0] * p[0] + rows[k][1] * p[1] + rows[k][2] * p[2]);
    }
}

static void measure_box(const bench_options *o, size_t triangles, size_t site_count)
{
    size_t side = 1, n = 1;
    while (12 * n * n * 4 <= triangles)
        n *= 2;
    while (8 * side * side * side <= site_count)
        side *= 2;
    size_t all = side + 2; /* a layer outside: facets lie in the faces of the box */
    site_count = all * all * all;
    double(*sites)[3] = bench_alloc(site_count, sizeof *sites),
    (*moved)[3] = bench_alloc(site_count, sizeof *moved);
    double(*random)[3] = bench_sites(site_count);
    for (size_t i = 0; i < site_count; i++) {
        size_t at[3] = {i % all, i / all % all, i / all / all};
        for (int k = 0; k < 3; k++) {
            sites[i][k] = (2 * (double)at[k] - 1) / (double)side - 1;
            moved[i][k] = sites[i][k] + 0.2 / (double)side * random[i][k];
        }
    }
    bench_mesh box = make_box(n);
    measure(o, "coplanar", &box, (const double(*)[3])sites, site_count, false);
    turn(box.positions, box.vertex_count);
    turn(moved, site_count);
    measure(o, "generic", &box, (const double(*)[3])moved, site_count, false);
    bench_mesh_free(&box);
    free(moved);
    free(sites);
    free(random);
}

int main(int argc, char **argv)
{
    long grid = 0, coplanar = 0;
    const bench_own_option own[] = {{"--grid", &grid}, {"--coplanar", &coplanar}, {0}};
    bench_options o = bench_start(argc, argv, "cut", own);
    static const size_t all_triangles[] = {1000, 10000, 20000, 100000, 300000, 1000000, 3000000};
    static const size_t all_sites[] = {20, 100, 1000, 10000, 100000};
    if (coplanar) {
        measure_box(&o, o.triangles ? o.triangles : 300000, o.pieces ? o.pieces : 4096);
        return 0;
    }
    for (size_t t = 0; t < sizeof all_triangles / sizeof *all_triangles; t++) {
        size_t triangles = o.triangles ? o.triangles : all_triangles[t];
        if (o.triangles ? t > 0 : !grid && triangles != 300000) continue;
        for (size_t s = 0; s < sizeof all_sites / sizeof *all_sites; s++) {
            size_t sites = o.pieces ? o.pieces : all_sites[s];
            if (o.pieces ? s > 0 : !grid && (sites < 100 || sites > 10000)) continue;
            measure_sphere(&o, triangles, sites);
        }
    }
    return 0;
}
