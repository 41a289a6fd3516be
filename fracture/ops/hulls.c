/// Hulls of leaves: one job a piece, then one new group.

#include "fracture/ops/hulls.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"

rbli_leaf_hull_options rbli_leaf_hull_default_options(void)
{
    return (rbli_leaf_hull_options){.hull = rbli_hull_default_options(), .source = RBLI_HULL_GEOMETRY};
}

typedef struct hull_jobs {
    const rbl_collection *collection;
    const int32_t *bones;
    const double (*positions)[3];
    const int32_t *geometry, *vertex_start, *vertex_count;
    const rbli_hull_options *options;
    rbli_hull *hulls; /* [bone count of the job list] */
} hull_jobs;

static rbl_status make_hulls(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const hull_jobs *jobs = user;
    for (size_t i = begin; i < end; i++) {
        int32_t bone = jobs->bones[i], g = jobs->geometry[bone];
        rbl_status status = rbli_convex_hull(ctx, jobs->positions + jobs->vertex_start[g],
            (size_t)jobs->vertex_count[g], jobs->options, &jobs->hulls[i]);
        if (status == RBL_OK) continue;
        if (status == RBL_ERR_CANCELLED || status == RBL_ERR_NO_MEMORY) return status;
        return rbli_fail(ctx, status, "no convex hull of piece \"%s\"%s",
            rbli_collection_string(jobs->collection, "bone", "name", (size_t)bone),
            status == RBL_ERR_MESH ? ": it is flat (on_degenerate is error)" : "");
    }
    return RBL_OK;
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

/// A row of the new group: an old row, or the hull of a job.
typedef struct row {
    int32_t bone, old, job;
} row;

static rbl_status list_rows(rbl_context *ctx, const rbl_collection *in, const int32_t *bones, size_t count,
    row **out, size_t *row_count)
{
    rbl_status status = RBL_OK;
    size_t bone_count = rbli_collection_size(in, "bone"), old_count = rbli_collection_size(in, "convex"),
           rows = 0;
    const int32_t *owner = rbli_collection_read(in, "convex", "bone", RBL_INT32);
    size_t *start = NULL;
    int32_t *job = NULL;
    row *list = NULL;
    if (!owner) old_count = 0;
    RBL_TRY_ALLOC(start = rbli_calloc(ctx, bone_count + 1, sizeof *start));
    RBL_TRY_ALLOC(job = rbli_alloc(ctx, bone_count, sizeof *job));
    RBL_TRY_ALLOC(list = rbli_alloc(ctx, old_count + count, sizeof *list));
    memset(job, 0xff, bone_count * sizeof *job);
    for (size_t i = 0; i < count; i++)
        job[bones[i]] = (int32_t)i;
    for (size_t i = 0; i < old_count; i++)
        if (job[owner[i]] < 0) start[owner[i] + 1]++;
    for (size_t i = 0; i < count; i++)
        start[bones[i] + 1]++;
    for (size_t b = 0; b < bone_count; b++)
        start[b + 1] += start[b];
    rows = start[bone_count];
    for (size_t i = 0; i < old_count; i++)
        if (job[owner[i]] < 0) list[start[owner[i]]++] = (row){owner[i], (int32_t)i, -1};
    for (size_t i = 0; i < count; i++)
        list[start[bones[i]]++] = (row){bones[i], -1, (int32_t)i};
    *out = list;
    *row_count = rows;
    list = NULL;
done:
    rbli_free(ctx, start);
    rbli_free(ctx, job);
    rbli_free(ctx, list);
    return status;
}

/// One list attribute of the new group: old rows copied, new ones from the hulls.
static rbl_status build_lists(rbl_context *ctx, const rbl_collection *in, const row *rows, size_t row_count,
    const rbli_hull *hulls, bool points, rbli_buffer **out)
{
    rbl_status status = RBL_OK;
    size_t bytes = rbl_type_bytes(points ? RBL_VEC3 : RBL_INT32_3);
    const rbli_buffer *old = rbli_collection_buffer(in, "convex", points ? "points" : "faces");
    const uint64_t *old_offsets = old ? rbli_buffer_offsets(old) : NULL;
    const char *old_data = old ? rbli_buffer_data(old) : NULL;
    uint64_t *offsets = NULL;
    char *values = NULL;
    RBL_TRY_ALLOC(offsets = rbli_alloc(ctx, row_count + 1, sizeof *offsets));
    offsets[0] = 0;
    for (size_t i = 0; i < row_count; i++) {
        uint64_t count = 0;
        if (rows[i].job >= 0) {
            count = points ? hulls[rows[i].job].point_count : hulls[rows[i].job].triangle_count;
        } else if (old_offsets) {
            count = old_offsets[rows[i].old + 1] - old_offsets[rows[i].old];
        }
        offsets[i + 1] = offsets[i] + count;
    }
    RBL_TRY_ALLOC(values = rbli_alloc(ctx, offsets[row_count], bytes));
    for (size_t i = 0; i < row_count; i++) {
        size_t count = offsets[i + 1] - offsets[i];
        const void *from = NULL;
        if (rows[i].job >= 0) {
            const rbli_hull *hull = &hulls[rows[i].job];
            from = points ? (const void *)hull->points : (const void *)hull->triangles;
        } else if (old_offsets) {
            from = old_data + old_offsets[rows[i].old] * bytes;
        }
        if (count) memcpy(values + offsets[i] * bytes, from, count * bytes);
    }
    RBL_TRY(rbli_buffer_create_list(ctx, points ? RBL_VEC3 : RBL_INT32_3, row_count, offsets, values, out));
done:
    rbli_free(ctx, offsets);
    rbli_free(ctx, values);
    return status;
}

static rbl_status write_group(rbl_context *ctx, const rbl_collection *in, const row *rows, size_t row_count,
    const rbli_hull *hulls, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    rbli_buffer *points = NULL, *faces = NULL;
    int32_t *source = NULL, *bone;
    double *volume;
    RBL_TRY_ALLOC(source = rbli_alloc(ctx, row_count, sizeof *source));
    for (size_t i = 0; i < row_count; i++)
        source[i] = rows[i].old;
    RBL_TRY(build_lists(ctx, in, rows, row_count, hulls, true, &points));
    RBL_TRY(build_lists(ctx, in, rows, row_count, hulls, false, &faces));
    if (!rbli_collection_has_group(to, "convex")) RBL_TRY(rbli_collection_resize(ctx, to, "convex", 0));
    RBL_TRY(rbli_collection_gather(ctx, to, "convex", source, row_count));
    RBL_TRY(rbli_collection_set(ctx, to, "convex", "points", points));
    RBL_TRY(rbli_collection_set(ctx, to, "convex", "faces", faces));
    RBL_TRY(rbli_collection_write(ctx, to, "convex", "bone", RBL_INT32, (void **)&bone));
    RBL_TRY(rbli_collection_write(ctx, to, "convex", "volume", RBL_DOUBLE, (void **)&volume));
    for (size_t i = 0; i < row_count; i++) {
        bone[i] = rows[i].bone;
        if (rows[i].job >= 0) volume[i] = hulls[rows[i].job].volume;
    }
done:
    rbli_buffer_release(points);
    rbli_buffer_release(faces);
    rbli_free(ctx, source);
    return status;
}

static void report(rbl_context *ctx, const rbl_collection *in, const hull_jobs *jobs, size_t count)
{
    size_t thick = 0, first = 0, simple = 0;
    double excess = 0;
    for (size_t i = 0; i < count; i++) {
        if (jobs->hulls[i].thickened && thick++ == 0) first = i;
        simple += jobs->hulls[i].excess > 0;
        excess = jobs->hulls[i].excess > excess ? jobs->hulls[i].excess : excess;
    }
    if (thick > 0)
        rbli_warn(ctx, "%zu flat piece%s got a thickened hull (first: \"%s\")", thick, thick == 1 ? "" : "s",
            rbli_collection_string(in, "bone", "name", (size_t)jobs->bones[first]));
    if (simple > 0)
        rbli_note(ctx, "%zu hull%s simplified; vertices stand off at most %g from the exact hull", simple,
            simple == 1 ? " was" : "s were", excess);
}

rbl_status rbli_create_leaf_hulls(
    rbl_context *ctx, const rbl_collection *in, const rbli_leaf_hull_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    int32_t *bones = NULL;
    size_t count = 0, row_count;
    row *rows = NULL;
    rbl_collection *copy = NULL;
    hull_jobs jobs = {.collection = in,
        .positions = rbli_collection_read(in, "vertex", "position", RBL_VEC3),
        .geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32),
        .vertex_start = rbli_collection_read(in, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(in, "geometry", "vertex_count", RBL_INT32),
        .options = &options->hull};
    RBL_TRY(choose_bones(ctx, in, options, &bones, &count));
    jobs.bones = bones;
    RBL_TRY_ALLOC(jobs.hulls = rbli_calloc(ctx, count, sizeof *jobs.hulls));
    RBL_TRY(rbli_parallel_for(ctx, count, 1, make_hulls, &jobs));
    RBL_TRY(list_rows(ctx, in, bones, count, &rows, &row_count));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(write_group(ctx, in, rows, row_count, jobs.hulls, copy));
    report(ctx, in, &jobs, count);
    *out = copy;
    copy = NULL;
done:
    for (size_t i = 0; jobs.hulls && i < count; i++)
        rbli_hull_free(ctx, &jobs.hulls[i]);
    rbli_free(ctx, jobs.hulls);
    rbli_free(ctx, bones);
    rbli_free(ctx, rows);
    rbli_collection_release(copy);
    return status;
}
