/// Times hulls of many pieces: `bench_hulls`. Case `pieces`: all pieces of a bumpy sphere of 300,000 triangles
/// cut in 10,000 (--triangles, --pieces), as the node CreateLeafConvexHulls makes them. Cases beside a plain
/// loop of qhull over the same points, one thread: Voronoi `cells`, `fine` cells with more points on their
/// facets, `balls`, `large balls`. Values: time a piece.

#include <libqhull_r/qhull_ra.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/cell_complex.h"
#include "fracture/geometry/convex_hull.h"
#include "fracture/ops/hulls.h"
#include "tools/bench/bench.h"

/// Points of all pieces, one piece after the other.
typedef struct pieces {
    double (*points)[3];
    size_t *start; /* [count + 1] */
    size_t count;
} pieces;

static void pieces_free(rbl_context *ctx, pieces *p)
{
    rbli_free(ctx, p->points);
    rbli_free(ctx, p->start);
    *p = (pieces){0};
}

/// The corners of the facets of each cell, each as often as facets have it, as a mesh of the piece would.
static rbl_status make_cells(rbl_context *ctx, size_t count, size_t extra, pieces *out)
{
    static const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
    rbl_status status = RBL_OK;
    rbli_cell_complex *k = NULL;
    pieces made = {0};
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    double(*sites)[3] = rbli_alloc(ctx, count, sizeof *sites);
    RBL_TRY_ALLOC(sites);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            sites[i][c] = rbli_rng_double(&rng);
    RBL_TRY(rbli_voronoi_complex(ctx, (const double(*)[3])sites, count, low, high, NULL, NULL, &k));
    made.count = k->cell_count;
    RBL_TRY_ALLOC(made.start = rbli_calloc(ctx, k->cell_count + 2, sizeof *made.start));
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++)
            if (k->facet_cells[f][side] >= 0)
                made.start[k->facet_cells[f][side] + 2] +=
                    (size_t)(k->facet_start[f + 1] - k->facet_start[f]) + extra;
    for (size_t c = 1; c <= k->cell_count + 1; c++)
        made.start[c] += made.start[c - 1];
    RBL_TRY_ALLOC(made.points = rbli_alloc(ctx, made.start[k->cell_count + 1], sizeof *made.points));
    for (size_t f = 0; f < k->facet_count; f++)
        for (int side = 0; side < 2; side++) {
            int32_t cell = k->facet_cells[f][side], first = k->facet_start[f], end = k->facet_start[f + 1];
            if (cell < 0) continue;
            size_t *at = &made.start[cell + 1];
            for (int32_t v = first; v < end; v++)
                memcpy(made.points[(*at)++], k->vertices[k->facet_vertices[v]], sizeof *made.points);
            for (size_t e = 0; e < extra; e++, ++*at) {
                double w[3] = {rbli_rng_double(&rng), rbli_rng_double(&rng), rbli_rng_double(&rng)};
                for (int c = 0; c < 3; c++) {
                    double sum = 0;
                    for (int32_t i = 0; i < 3; i++)
                        sum += w[i] * k->vertices[k->facet_vertices[first + i]][c];
                    made.points[*at][c] = sum / (w[0] + w[1] + w[2]);
                }
            }
        }
    *out = made;
    made = (pieces){0};
done:
    pieces_free(ctx, &made);
    rbli_free(ctx, sites);
    rbli_cell_complex_destroy(ctx, k);
    return status;
}

static rbl_status make_balls(rbl_context *ctx, size_t count, size_t points, pieces *out)
{
    pieces made = {.count = count};
    rbli_rng rng = rbli_rng_make(2, RBLI_RNG_TEST, 0);
    made.start = rbli_alloc(ctx, count + 1, sizeof *made.start);
    made.points = rbli_alloc(ctx, count * points, sizeof *made.points);
    if (!made.start || !made.points) {
        pieces_free(ctx, &made);
        return RBL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i <= count; i++)
        made.start[i] = i * points;
    for (size_t i = 0; i < count * points; i++) {
        double length = 0;
        for (int c = 0; c < 3; c++) {
            made.points[i][c] = rbli_rng_double(&rng) - 0.5;
            length += made.points[i][c] * made.points[i][c];
        }
        for (int c = 0; c < 3; c++)
            made.points[i][c] /= sqrt(length);
    }
    *out = made;
    return RBL_OK;
}

/// Facets made into triangles, as a physics engine needs them.
static size_t hull_by_qhull(double (*points)[3], size_t count)
{
    qhT qh;
    char options[] = "qhull Qt Pp";
    size_t vertices = 0;
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere) return 0;
    qh_zero(&qh, nowhere);
    if (!qh_new_qhull(&qh, 3, (int)count, points[0], 0, options, nowhere, nowhere))
        vertices = (size_t)qh.num_vertices;
    int current, total;
    qh_freeqhull(&qh, !qh_ALL);
    qh_memfreeshort(&qh, &current, &total);
    fclose(nowhere);
    return vertices;
}

static size_t hull_by_rubble(rbl_context *ctx, const double (*points)[3], size_t count)
{
    rbli_hull_options options = rbli_hull_default_options();
    rbli_hull hull;
    options.max_vertices = INT32_MAX; /* qhull has no budget */
    if (rbli_convex_hull(ctx, points, count, &options, &hull) != RBL_OK) return 0;
    size_t vertices = hull.point_count;
    rbli_hull_free(ctx, &hull);
    return vertices;
}

static void print_row(const bench_options *o, const bench_times *times, bench_row row)
{
    row.value = bench_cpu_median(times) * 1e3 / (double)row.pieces;
    row.unit = "us/piece";
    bench_print(o, times, &row);
}

/// @param p freed
static void measure(const bench_options *o, rbl_context *ctx, const char *kind, pieces *p)
{
    bench_times ours = {0}, theirs = {0};
    size_t vertices[2] = {0};
    for (int run = 0; run < o->runs; run++) {
        bench_begin(&theirs);
        for (size_t i = 0; i < p->count; i++)
            vertices[0] += hull_by_qhull(p->points + p->start[i], p->start[i + 1] - p->start[i]);
        bench_end(&theirs);
        bench_begin(&ours);
        for (size_t i = 0; i < p->count; i++)
            vertices[1] += hull_by_rubble(
                ctx, (const double(*)[3])(p->points + p->start[i]), p->start[i + 1] - p->start[i]);
        bench_end(&ours);
    }
    for (int maker = 0; maker < 2; maker++)
        print_row(o, maker == 0 ? &theirs : &ours,
            (bench_row){.case_name = kind,
                .part = maker == 0 ? "qhull" : "rubble",
                .pieces = p->count,
                .hash = {.low = vertices[maker] / (size_t)o->runs}});
    pieces_free(ctx, p);
}

static void measure_pieces(const bench_options *o)
{
    rbl_context *ctx = bench_context(2);
    size_t count = o->pieces ? o->pieces : 10000;
    bench_mesh mesh = bench_sphere(o->triangles ? o->triangles : 300000);
    double(*sites)[3] = bench_sites(count);
    rbl_collection *whole = bench_sphere_collection(ctx, &mesh);
    rbl_collection *cut = bench_pieces(ctx, whole, (const double(*)[3])sites, count);
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    bench_times times = {0};
    bench_row row = {.case_name = "pieces", .triangles = mesh.triangle_count, .pieces = count};
    for (int run = 0; run < o->runs; run++) {
        rbl_context *own = bench_context(o->threads);
        rbl_collection *out = NULL;
        bench_begin(&times);
        bench_check(own, rbli_create_leaf_hulls(own, cut, &options, &out), "hulls");
        bench_end(&times);
        row.hash = rbli_collection_hash(out);
        rbli_collection_release(out);
        row.peak_bytes = rbli_allocator_peak_bytes(own->allocator);
        bench_context_destroy(own);
    }
    print_row(o, &times, row);
    rbli_collection_release(whole);
    rbli_collection_release(cut);
    free(sites);
    bench_mesh_free(&mesh);
    bench_context_destroy(ctx);
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "hulls", NULL);
    rbl_context *ctx = bench_context(1);
    pieces p;
    if (bench_wants(&o, "pieces")) measure_pieces(&o);
    if (bench_wants(&o, "cells") && make_cells(ctx, 100000, 0, &p) == RBL_OK) measure(&o, ctx, "cells", &p);
    if (bench_wants(&o, "fine") && make_cells(ctx, 10000, 20, &p) == RBL_OK) measure(&o, ctx, "fine", &p);
    if (bench_wants(&o, "balls") && make_balls(ctx, 2000, 200, &p) == RBL_OK) measure(&o, ctx, "balls", &p);
    if (bench_wants(&o, "large balls") && make_balls(ctx, 4, 50000, &p) == RBL_OK)
        measure(&o, ctx, "large balls", &p);
    bench_context_destroy(ctx);
    return 0;
}
