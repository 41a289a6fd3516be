/// Times what groups and joins pieces: `bench_clusters [--threads N] [--runs N] [--pieces N] [--only
/// PART-OF-NAME] [--requests N]`. A box is cut by Voronoi cells of random sites; without --pieces, into 10,000
/// and 100,000. Prints CSV: node, pieces, least CPU time of the runs in seconds, peak memory of the node in MB
/// (what it allocates, and its input), bones afterwards, hash of the result. With --requests the node is
/// cancelled N times at evenly spread moments instead: the CPU time in milliseconds that it goes on, worst
/// first found.

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/cell_complex.h"
#include "fracture/ops/auto_cluster.h"
#include "fracture/ops/fix_tiny.h"
#include "fracture/ops/fracture.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/surface.h"

typedef struct sites {
    double (*points)[3];
    size_t count;
} sites;

static rbl_status make_cells(
    rbl_context *ctx, const rbli_cut_domain *domain, void *user, rbli_cell_complex **out)
{
    const sites *s = user;
    return rbli_voronoi_complex(
        ctx, (const double(*)[3])s->points, s->count, domain->box_min, domain->box_max, NULL, NULL, out);
}

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

static rbl_status make_pieces(rbl_context *ctx, size_t count, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *box = NULL;
    rbli_fracture_options options = rbli_fracture_default_options();
    rbli_fracture_result result = {0};
    rbli_proximity_options proximity = {.contact_area = true, .connection_graph = true};
    sites s = {.count = count};
    RBL_TRY_ALLOC(s.points = rbli_alloc(ctx, count, sizeof *s.points));
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, 0);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            s.points[i][k] = rbli_rng_double(&rng);
    RBL_TRY(make_box(ctx, &box));
    options.make_complex = make_cells;
    options.user = &s;
    RBL_TRY(rbli_fracture(ctx, box, &options, &result));
    RBL_TRY(rbli_proximity(ctx, result.collection, &proximity, out));
done:
    rbli_free(ctx, s.points);
    rbli_free(ctx, result.new_bones);
    rbli_collection_release(result.collection);
    rbli_collection_release(box);
    return status;
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

static double process_cpu(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int measure(size_t which, const rbl_collection *in, int threads, int runs, double *cpu)
{
    double least = HUGE_VAL, peak = 0;
    size_t bones = 0;
    rbli_hash hash = {0};
    for (int run = 0; run < runs; run++) {
        rbl_context *ctx = NULL;
        rbl_collection *out = NULL;
        if (rbli_context_create(threads, &ctx) != RBL_OK) return 1;
        double start = process_cpu();
        rbl_status status = ops[which].op(ctx, in, &out);
        double time = process_cpu() - start;
        if (status == RBL_OK) {
            bones = rbli_collection_size(out, "bone");
            hash = rbli_collection_hash(out);
        } else {
            fprintf(stderr, "bench_clusters: %s: %s\n", ops[which].name, rbl_status_text(status));
        }
        least = time < least ? time : least;
        peak = (double)rbli_allocator_peak_bytes(ctx->allocator) / 1e6;
        rbli_collection_release(out);
        rbli_context_destroy(ctx);
        if (status != RBL_OK) return 1;
    }
    printf("%s,%zu,%.3f,%.0f,%zu,%016llx\n", ops[which].name, leaf_count(in), least,
        peak + (double)rbli_collection_bytes(in) / 1e6, bones, (unsigned long long)hash.low);
    fflush(stdout);
    *cpu = least;
    return 0;
}

/* ---- how long a cancelled node goes on ---- */

typedef struct victim {
    size_t which;
    const rbl_collection *in;
    atomic_bool cancel;
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
    v->status = rbli_context_create(1, &ctx);
    if (v->status != RBL_OK) return NULL;
    ctx->cancel = &v->cancel;
    v->status = ops[v->which].op(ctx, v->in, &out);
    v->cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
    rbli_collection_release(out);
    rbli_context_destroy(ctx);
    return NULL;
}

static int measure_cancelling(size_t which, const rbl_collection *in, double cpu, int requests)
{
    double worst = 0;
    for (int i = 0; i < requests; i++) {
        victim v = {.which = which, .in = in};
        double at = cpu * (i + 0.5) / requests, asked = 0;
        pthread_t thread;
        clockid_t clock;
        if (pthread_create(&thread, NULL, run_victim, &v) != 0) return 1;
        if (pthread_getcpuclockid(thread, &clock) != 0) return 1;
        while ((asked = clock_now(clock)) < at) {
            double left = at - asked;
            struct timespec pause = {0, (long)(left > 0.5 ? 4e8 : left * 0.8e9 + 20000)};
            nanosleep(&pause, NULL);
        }
        atomic_store(&v.cancel, true);
        pthread_join(thread, NULL);
        if (v.status != RBL_ERR_CANCELLED) continue;
        double late = (v.cpu - asked) * 1e3;
        if (late > worst || late > 30) {
            worst = late > worst ? late : worst;
            printf("%s,%zu,asked after %.3f s,%.1f ms\n", ops[which].name, leaf_count(in), asked, late);
            fflush(stdout);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int threads = 1, runs = 2, failed = 0, requests = 0;
    size_t sizes[2] = {10000, 100000}, size_count = 2;
    const char *only = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        long value = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--only") == 0) only = argv[i + 1];
        if (strcmp(argv[i], "--threads") == 0) threads = (int)value;
        if (strcmp(argv[i], "--runs") == 0) runs = (int)value;
        if (strcmp(argv[i], "--requests") == 0) requests = (int)value;
        if (strcmp(argv[i], "--pieces") == 0) {
            sizes[0] = (size_t)value;
            size_count = 1;
        }
    }
    rbl_context *ctx = NULL;
    if (rbli_context_create(2, &ctx) != RBL_OK) return 1;
    printf("node,pieces,cpu_s,peak_mb,bones,hash\n");
    for (size_t s = 0; s < size_count && !failed; s++) {
        rbl_collection *in = NULL;
        failed = make_pieces(ctx, sizes[s], &in) != RBL_OK;
        for (size_t i = 0; i < sizeof ops / sizeof *ops && !failed; i++) {
            double cpu;
            if (!strstr(ops[i].name, only)) continue;
            failed |= measure(i, in, threads, runs, &cpu);
            if (requests > 0 && !failed) failed |= measure_cancelling(i, in, cpu, requests);
        }
        rbli_collection_release(in);
    }
    rbli_context_destroy(ctx);
    return failed;
}
