/// Hulls of leaves: one job a piece, then one new group.

#include "fracture/ops/hulls.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/ops/hull_group.h"

enum { HULL_GRAIN = 4 }; /* so that threads seldom write to one cache line */

rbli_leaf_hull_options rbli_leaf_hull_default_options(void)
{
    return (rbli_leaf_hull_options){.hull = rbli_hull_default_options(),
        .source = RBLI_HULL_GEOMETRY,
        .decompose = rbli_decompose_default_options()};
}

/// Memory of one worker: threads that take it from the allocator for each hull wait for one another.
typedef struct hull_maker {
    rbli_hull_scratch scratch;
    rbli_arena made; /* arrays of hulls */
} hull_maker;

typedef struct hull_jobs {
    const rbl_collection *collection;
    const int32_t *bones;
    const double (*positions)[3];
    const int32_t (*faces)[3];
    const int32_t *geometry, *vertex_start, *vertex_count, *face_start, *face_count;
    const rbli_leaf_hull_options *options;
    hull_maker *makers; /* [maker_count] one for each worker */
    size_t maker_count;
    rbli_hull *single;   /* [bone count of the job list] of pieces with one hull, with arrays of makers */
    rbli_hull_set *sets; /* [the same] */
} hull_jobs;

static rbl_status decompose(rbl_context *ctx, const hull_jobs *jobs, int32_t g, rbli_hull_set *out)
{
    int32_t first = jobs->vertex_start[g];
    size_t count = (size_t)jobs->face_count[g];
    int32_t(*triangles)[3] = rbli_alloc(ctx, count, sizeof *triangles);
    if (!triangles) return RBL_ERR_NO_MEMORY;
    for (size_t f = 0; f < count; f++)
        for (int k = 0; k < 3; k++)
            triangles[f][k] = jobs->faces[(size_t)jobs->face_start[g] + f][k] - first;
    rbli_mesh_view mesh = {.positions = jobs->positions + first,
        .vertex_count = (size_t)jobs->vertex_count[g],
        .triangles = (const int32_t(*)[3])triangles,
        .triangle_count = count};
    rbl_status status = rbli_hull_decompose(ctx, &mesh, &jobs->options->decompose, &jobs->options->hull, out);
    rbli_free(ctx, triangles);
    return status;
}

static rbl_status make_single(
    rbl_context *ctx, const hull_jobs *jobs, int32_t g, hull_maker *maker, rbli_hull *out)
{
    rbl_status status = RBL_OK;
    rbli_hull hull;
    double(*points)[3];
    int32_t(*triangles)[3];
    RBL_TRY(rbli_convex_hull_in(ctx, &maker->scratch, jobs->positions + jobs->vertex_start[g],
        (size_t)jobs->vertex_count[g], &jobs->options->hull, &hull));
    RBL_TRY_ALLOC(points = rbli_arena_alloc(&maker->made, hull.point_count, sizeof *points));
    RBL_TRY_ALLOC(triangles = rbli_arena_alloc(&maker->made, hull.triangle_count, sizeof *triangles));
    memcpy(points, hull.points, hull.point_count * sizeof *points);
    memcpy(triangles, hull.triangles, hull.triangle_count * sizeof *triangles);
    *out = hull;
    out->points = points;
    out->triangles = triangles;
done:
    return status;
}

static rbl_status make_hulls_with(
    rbl_context *ctx, const hull_jobs *jobs, size_t begin, size_t end, hull_maker *maker)
{
    for (size_t i = begin; i < end; i++) {
        int32_t bone = jobs->bones[i], g = jobs->geometry[bone];
        rbl_status status;
        if (jobs->options->decompose.max_hulls == 1) {
            status = make_single(ctx, jobs, g, maker, &jobs->single[i]);
            if (status == RBL_OK) jobs->sets[i] = (rbli_hull_set){&jobs->single[i], 1};
        } else {
            status = decompose(ctx, jobs, g, &jobs->sets[i]);
        }
        if (status == RBL_OK) continue;
        if (status == RBL_ERR_CANCELLED || status == RBL_ERR_NO_MEMORY) return status;
        return rbli_fail(ctx, status, "no convex hull of piece \"%s\"%s",
            rbli_collection_string(jobs->collection, "bone", "name", (size_t)bone),
            status == RBL_ERR_MESH ? ": it is flat (on_degenerate is error)" : "");
    }
    return RBL_OK;
}

static rbl_status make_hulls(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    const hull_jobs *jobs = user;
    hull_maker own = jobs->makers[worker]; /* on the thread's stack: makers share cache lines */
    rbl_status status = make_hulls_with(ctx, jobs, begin, end, &own);
    jobs->makers[worker] = own;
    return status;
}

static rbl_status prepare_jobs(rbl_context *ctx, hull_jobs *jobs, size_t count)
{
    rbl_status status = RBL_OK;
    size_t worker_count = (size_t)rbli_worker_count(ctx);
    RBL_TRY_ALLOC(jobs->makers = rbli_calloc(ctx, worker_count, sizeof *jobs->makers));
    jobs->maker_count = worker_count;
    for (size_t i = 0; i < worker_count; i++) {
        rbli_hull_scratch_init(&jobs->makers[i].scratch, ctx);
        rbli_arena_init(&jobs->makers[i].made, ctx);
    }
    RBL_TRY_ALLOC(jobs->single = rbli_calloc(ctx, count, sizeof *jobs->single));
    RBL_TRY_ALLOC(jobs->sets = rbli_calloc(ctx, count, sizeof *jobs->sets));
done:
    return status;
}

static void free_jobs(rbl_context *ctx, hull_jobs *jobs, size_t count)
{
    for (size_t i = 0; jobs->sets && i < count; i++)
        if (jobs->sets[i].hulls != &jobs->single[i]) rbli_hull_set_free(ctx, &jobs->sets[i]);
    for (size_t i = 0; i < jobs->maker_count; i++) {
        rbli_hull_scratch_free(&jobs->makers[i].scratch);
        rbli_arena_free(&jobs->makers[i].made);
    }
    rbli_free(ctx, jobs->makers);
    rbli_free(ctx, jobs->single);
    rbli_free(ctx, jobs->sets);
}

/// Leaves that get a hull: all, or with `keep` those without one.
static rbl_status choose_bones(rbl_context *ctx, const rbl_collection *in,
    const rbli_leaf_hull_options *options, int32_t **out, size_t *out_count)
{
    rbl_status status = rbli_rigid_leaves(ctx, in, options->selection, out, out_count);
    if (status != RBL_OK || options->source != RBLI_HULL_KEEP) return status;
    size_t bone_count = rbli_collection_size(in, "bone"), convex_count = rbli_collection_size(in, "convex"),
           kept = 0;
    const int32_t *owner = rbli_collection_read(in, "convex", "bone", RBL_INT32);
    bool *has = rbli_calloc(ctx, bone_count, 1);
    if (!has) {
        rbli_free(ctx, *out);
        *out = NULL;
        return RBL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; owner && i < convex_count; i++)
        has[owner[i]] = true;
    for (size_t i = 0; i < *out_count; i++)
        if (!has[(*out)[i]]) (*out)[kept++] = (*out)[i];
    *out_count = kept;
    rbli_free(ctx, has);
    return RBL_OK;
}

/// Whether the hulls are in the order of their bones, as written here.
static bool is_in_order(const rbl_collection *in)
{
    size_t bones = rbli_collection_size(in, "bone"), count = rbli_collection_size(in, "convex");
    const int32_t *owner = rbli_collection_read(in, "convex", "bone", RBL_INT32);
    bool right = owner && rbli_collection_read(in, "convex", "volume", RBL_DOUBLE);
    for (size_t i = 0; right && i < count; i++)
        right = owner[i] >= (i ? owner[i - 1] : 0) && (size_t)owner[i] < bones;
    return right;
}

/// The new group: old rows of other bones, and the hulls made.
static rbl_status write_hulls(
    rbl_context *ctx, const rbl_collection *in, const hull_jobs *jobs, size_t count, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    size_t bone_count = rbli_collection_size(in, "bone"), row_count = 0;
    rbli_hull_rows old = {0};
    bool *made = NULL;
    rbli_hull_row *rows = NULL;
    RBL_TRY(rbli_hull_rows_build(ctx, in, &old));
    RBL_TRY_ALLOC(made = rbli_calloc(ctx, bone_count, sizeof *made));
    size_t capacity = old.start[bone_count];
    for (size_t i = 0; i < count; i++)
        capacity += jobs->sets[i].count;
    RBL_TRY_ALLOC(rows = rbli_alloc(ctx, capacity, sizeof *rows));
    for (size_t i = 0; i < count; i++) {
        made[jobs->bones[i]] = true;
        for (size_t h = 0; h < jobs->sets[i].count; h++)
            rows[row_count++] = (rbli_hull_row){jobs->bones[i], -1, &jobs->sets[i].hulls[h]};
    }
    for (size_t b = 0; b < bone_count; b++)
        for (size_t k = old.start[b]; !made[b] && k < old.start[b + 1]; k++)
            rows[row_count++] = (rbli_hull_row){(int32_t)b, old.row[k], NULL};
    RBL_TRY(rbli_hull_group_write(ctx, in, rows, row_count, to));
done:
    rbli_hull_rows_free(ctx, &old);
    rbli_free(ctx, made);
    rbli_free(ctx, rows);
    return status;
}

static void report(rbl_context *ctx, const rbl_collection *in, const hull_jobs *jobs, size_t count)
{
    size_t thick = 0, first = 0, simple = 0, several = 0, hulls = 0;
    double excess = 0;
    for (size_t i = 0; i < count; i++) {
        const rbli_hull_set *set = &jobs->sets[i];
        if (set->hulls[0].thickened && thick++ == 0) first = i;
        if (set->count > 1) several++, hulls += set->count;
        for (size_t h = 0; h < set->count; h++) {
            simple += set->hulls[h].excess > 0;
            excess = set->hulls[h].excess > excess ? set->hulls[h].excess : excess;
        }
    }
    if (thick > 0)
        rbli_warn(ctx, "%zu flat piece%s got a thickened hull (first: \"%s\")", thick, thick == 1 ? "" : "s",
            rbli_collection_string(in, "bone", "name", (size_t)jobs->bones[first]));
    if (several > 0)
        rbli_note(ctx, "%zu concave piece%s got %zu hulls", several, several == 1 ? "" : "s", hulls);
    if (simple > 0)
        rbli_note(ctx, "%zu hull%s simplified; vertices stand off at most %g from the exact hull", simple,
            simple == 1 ? " was" : "s were", excess);
}

rbl_status rbli_create_leaf_hulls(
    rbl_context *ctx, const rbl_collection *in, const rbli_leaf_hull_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    int32_t *bones = NULL;
    size_t count = 0;
    rbl_collection *copy = NULL;
    hull_jobs jobs = {.collection = in,
        .positions = rbli_collection_read(in, "vertex", "position", RBL_VEC3),
        .faces = rbli_collection_read(in, "face", "vertices", RBL_INT32_3),
        .geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32),
        .vertex_start = rbli_collection_read(in, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(in, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(in, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(in, "geometry", "face_count", RBL_INT32),
        .options = options};
    RBL_TRY(choose_bones(ctx, in, options, &bones, &count));
    jobs.bones = bones;
    RBL_TRY(prepare_jobs(ctx, &jobs, count));
    size_t grain = options->decompose.max_hulls == 1 ? HULL_GRAIN : 1;
    RBL_TRY(rbli_parallel_for(ctx, count, grain, make_hulls, &jobs));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    if (count > 0 || !is_in_order(in)) RBL_TRY(write_hulls(ctx, in, &jobs, count, copy));
    report(ctx, in, &jobs, count);
    *out = copy;
    copy = NULL;
done:
    free_jobs(ctx, &jobs, count);
    rbli_free(ctx, bones);
    rbli_collection_release(copy);
    return status;
}
