/// Times what groups and joins pieces: `bench_clusters [--requests N]`. A box is cut by Voronoi cells of random
/// sites; without --pieces, into 10,000 and 100,000. Values: time a piece; peak with the input.
///
/// With --requests each node is also cancelled N times at evenly spread moments: part `cancelled`, the CPU time
/// of its thread that it still takes, as a median, and the most of it as the value.

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/ops/auto_cluster.h"
#include "fracture/ops/fix_tiny.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/surface.h"
#include "tools/bench/bench.h"

/// A root with one rigid box.
static rbl_status make_box(rbl_context *ctx, rbl_collection **out)
{
    static const int32_t triangles[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
        {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    rbl_status status = RBL_OK;
    rbl_collection *c = NULL;
    const char *names[2] = {"root", "box"};
    int32_t parents[1] = {0}, *range;
    double(*positions)[3];
    void *faces;
    RBL_TRY(rbli_collection_create_empty_asset(ctx, &c));
    RBL_TRY(rbli_hierarchy_add_bones(ctx, c, 1, NULL, names, RBLI_BONE_CLUSTER, NULL));
    RBL_TRY(rbli_hierarchy_add_bones(ctx, c, 1, parents, names + 1, RBLI_BONE_RIGID, NULL));
    RBL_TRY(rbli_collection_resize(ctx, c, "geometry", 1));
    RBL_TRY(rbli_collection_resize(ctx, c, "vertex", 8));
    RBL_TRY(rbli_collection_resize(ctx, c, "face", 12));
    RBL_TRY(rbli_collection_resize(ctx, c, "corner", 36));
    RBL_TRY(rbli_collection_write(ctx, c, "geometry", "vertex_count", RBL_INT32, (void **)&range));
    range[0] = 8;
    RBL_TRY(rbli_collection_write(ctx, c, "geometry", "face_count", RBL_INT32, (void **)&range));
    range[0] = 12;
    RBL_TRY(rbli_collection_write(ctx, c, "geometry", "bone", RBL_INT32, (void **)&range));
    range[0] = 1;
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "geometry", RBL_INT32, (void **)&range));
    range[1] = 0;
    RBL_TRY(rbli_collection_write(ctx, c, "vertex", "position", RBL_VEC3, (void **)&positions));
    for (int v = 0; v < 8; v++)
        for (int k = 0; k < 3; k++)
            positions[v][k] = v >> k & 1;
    RBL_TRY(rbli_collection_write(ctx, c, "face", "vertices", RBL_INT32_3, &faces));
    memcpy(faces, triangles, sizeof triangles);
    RBL_TRY(rbli_surface_fill_flat_normals(ctx, c));
    RBL_TRY(rbli_surface_measure(ctx, c, 0));
    *out = c;
    c = NULL;
done:
    rbli_collection_release(c);
    return status;
}

static rbl_collection *make_pieces(rbl_context *ctx, size_t count)
{
    rbl_collection *box = NULL, *made = NULL;
    rbli_proximity_options proximity = {.contact_area = RBLI_AREA_GEOMETRY, .connection_graph = true};
    double(*sites)[3] = bench_alloc(count, sizeof *sites);
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            sites[i][k] = rbli_rng_double(&rng);
    bench_check(ctx, make_box(ctx, &box), "box");
    rbl_collection *cut = bench_pieces(ctx, box, (const double(*)[3])sites, count);
    bench_check(ctx, rbli_proximity(ctx, cut, &proximity, &made), "proximity");
    rbli_collection_release(cut);
    rbli_collection_release(box);
    free(sites);
    return made;
}

/* ---- what is timed ---- */

typedef rbl_status (*op_fn)(rbl_context *ctx, const rbl_collection *in, rbl_collection **out);

static size_t leaf_count(const rbl_collection *in)
{
    return rbli_collection_size(in, "geometry");
}

static rbl_status fix(
    rbl_context *ctx, const rbl_collection *in, const rbli_fix_tiny_options *options, rbl_collection **out)
{
    rbli_fix_tiny_result made = {0};
    rbl_status status = rbli_fix_tiny(ctx, in, options, &made);
    rbli_free(ctx, made.bones);
    *out = made.collection;
    return status;
}

static rbl_status fix_tiny(rbl_context *ctx, const rbl_collection *in, rbl_collection **out)
{
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    /* A third of the mean volume: one piece of 35 is tiny. */
    options.relative_volume = cbrt(0.33 / (double)leaf_count(in));
    return fix(ctx, in, &options, out);
}

/// More than half of the pieces are tiny.
static rbl_status fix_half(rbl_context *ctx, const rbl_collection *in, rbl_collection **out)
{
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    options.relative_volume = cbrt(1 / (double)leaf_count(in));
    return fix(ctx, in, &options, out);
}

static rbl_status fix_tiny_clusters(rbl_context *ctx, const rbl_collection *in, rbl_collection **out)
{
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    options.relative_volume = cbrt(0.33 / (double)leaf_count(in));
    options.merge = RBLI_TINY_CLUSTERS;
    return fix(ctx, in, &options, out);
}

static rbl_status group(rbl_context *ctx, const rbl_collection *in, const rbli_auto_cluster_options *options,
    rbl_collection **out)
{
    rbli_cluster_edit made = {0};
    rbl_status status = rbli_auto_cluster(ctx, in, options, &made);
    rbli_free(ctx, made.bones);
    *out = made.collection;
    return status;
}

static rbl_status auto_cluster(rbl_context *ctx, const rbl_collection *in, rbl_collection **out)
{
    rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
    options.cluster.count = 1000;
    return group(ctx, in, &options, out);
}

static rbl_status by_fraction(rbl_context *ctx, const rbl_collection *in, rbl_collection **out)
{
    rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
    options.by = RBLI_CLUSTER_BY_FRACTION;
    return group(ctx, in, &options, out);
}

static rbl_status by_convexity(rbl_context *ctx, const rbl_collection *in, rbl_collection **out)
{
    rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
    options.cluster.count = 1000;
    options.prefer_convexity = true;
    return group(ctx, in, &options, out);
}

/// Every hundredth piece is a magnet.
static rbl_status magnet(rbl_context *ctx, const rbl_collection *in, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbli_cluster_edit made = {0};
    rbli_magnet_options options = {.iterations = 3};
    rbli_selection *selection = NULL;
    size_t count = 0;
    int32_t *bones = rbli_alloc(ctx, leaf_count(in), sizeof *bones);
    RBL_TRY_ALLOC(bones);
    for (size_t b = 2; b < rbli_collection_size(in, "bone"); b += 100)
        bones[count++] = (int32_t)b;
    RBL_TRY(rbli_selection_create(ctx, in, bones, count, &selection));
    options.selection = selection;
    RBL_TRY(rbli_cluster_magnet(ctx, in, &options, &made));
    *out = made.collection;
done:
    rbli_selection_release(selection);
    rbli_free(ctx, bones);
    rbli_free(ctx, made.bones);
    return status;
}

static const struct {
    const char *name;
    op_fn op;
} ops[] = {
    {"FixTinyGeo", fix_tiny},
    {"FixTinyGeo-half", fix_half},
    {"FixTinyGeo-clusters", fix_tiny_clusters},
    {"AutoCluster-count-1000", auto_cluster},
    {"AutoCluster-fraction", by_fraction},
    {"AutoCluster-convex-1000", by_convexity},
    {"ClusterMagnet", magnet},
};

static double measure(const bench_options *o, size_t which, const rbl_collection *in)
{
    bench_times times = {0};
    bench_row row = {.case_name = ops[which].name, .pieces = leaf_count(in), .unit = "us/piece"};
    for (int run = 0; run < o->runs; run++) {
        rbl_context *ctx = bench_context(o->threads);
        rbl_collection *out = NULL;
        bench_begin(&times);
        bench_check(ctx, ops[which].op(ctx, in, &out), ops[which].name);
        bench_end(&times);
        row.hash = rbli_collection_hash(out);
        rbli_collection_release(out);
        row.peak_bytes = rbli_allocator_peak_bytes(ctx->allocator) + rbli_collection_bytes(in);
        bench_context_destroy(ctx);
    }
    row.value = bench_cpu_median(&times) * 1e3 / (double)row.pieces;
    bench_print(o, &times, &row);
    return bench_cpu_median(&times) / 1e3;
}

/* ---- how long a cancelled node goes on ---- */

typedef struct victim {
    size_t which;
    const rbl_collection *in;
    atomic_bool cancel, ended;
    rbl_status status;
    double cpu;
} victim;

static double clock_now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *run_victim(void *user)
{
    victim *v = user;
    rbl_context *ctx = NULL;
    rbl_collection *out = NULL;
    bench_check(NULL, rbli_context_create(1, &ctx), "context");
    ctx->cancel = &v->cancel;
    v->status = ops[v->which].op(ctx, v->in, &out);
    v->cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
    atomic_store(&v->ended, true);
    rbli_collection_release(out);
    rbli_context_destroy(ctx);
    return NULL;
}

static void measure_cancelling(
    const bench_options *o, size_t which, const rbl_collection *in, double cpu_s, long requests)
{
    bench_times times = {0};
    bench_row row = {
        .case_name = ops[which].name, .part = "cancelled", .pieces = leaf_count(in), .unit = "ms at most"};
    for (long i = 0; i < requests; i++) {
        victim v = {.which = which, .in = in};
        double at = cpu_s * ((double)i + 0.5) / (double)requests, asked = 0;
        pthread_t thread;
        clockid_t clock = CLOCK_MONOTONIC;
        if (pthread_create(&thread, NULL, run_victim, &v) != 0) bench_check(NULL, RBL_ERR_INTERNAL, "thread");
        bool runs = pthread_getcpuclockid(thread, &clock) == 0; /* fails when it has ended already */
        while (runs && !atomic_load(&v.ended) && (asked = clock_now(clock)) < at) {
            double left = at - asked;
            struct timespec pause = {0, (long)(left > 0.5 ? 4e8 : left * 0.8e9 + 20000)};
            nanosleep(&pause, NULL);
        }
        atomic_store(&v.cancel, true);
        pthread_join(thread, NULL);
        if (v.status != RBL_ERR_CANCELLED) continue;
        double late_ms = (v.cpu - asked) * 1e3;
        bench_add(&times, late_ms, -1);
        row.value = late_ms > row.value ? late_ms : row.value;
    }
    bench_print(o, &times, &row);
}

int main(int argc, char **argv)
{
    long requests = 0;
    const bench_own_option own[] = {{"--requests", &requests}, {0}};
    bench_options o = bench_start(argc, argv, "clusters", own);
    static const size_t sizes[] = {10000, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && (s == 0 || !o.pieces); s++) {
        rbl_context *ctx = bench_context(2);
        rbl_collection *in = make_pieces(ctx, o.pieces ? o.pieces : sizes[s]);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            if (!bench_wants(&o, ops[i].name)) continue;
            double cpu_s = measure(&o, i, in);
            if (requests > 0) measure_cancelling(&o, i, in, cpu_s, requests);
        }
        rbli_collection_release(in);
        bench_context_destroy(ctx);
    }
    return 0;
}
