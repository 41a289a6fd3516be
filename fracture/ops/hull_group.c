/// The group `convex`: lists by bone, and a new group from old rows and new hulls.

#include "fracture/ops/hull_group.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"

static rbl_status check_lists(rbl_context *ctx, const rbl_collection *c, size_t count)
{
    const rbli_buffer *points = rbli_collection_buffer(c, "convex", "points"),
                      *faces = rbli_collection_buffer(c, "convex", "faces");
    const uint64_t *point_offsets = points ? rbli_buffer_offsets(points) : NULL,
                   *face_offsets = faces ? rbli_buffer_offsets(faces) : NULL;
    if (!point_offsets || !face_offsets || rbli_buffer_type(points) != RBL_VEC3 ||
        rbli_buffer_type(faces) != RBL_INT32_3)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the group convex lacks points or faces");
    const int32_t(*triangles)[3] = rbli_buffer_data(faces);
    for (size_t h = 0; h < count; h++)
        for (uint64_t f = face_offsets[h]; f < face_offsets[h + 1]; f++)
            for (int k = 0; k < 3; k++)
                if (triangles[f][k] < 0 ||
                    (uint64_t)triangles[f][k] >= point_offsets[h + 1] - point_offsets[h])
                    return rbli_fail(ctx, RBL_ERR_COLLECTION, "convex.faces: hull %zu has no point %d", h,
                        (int)triangles[f][k]);
    return RBL_OK;
}

rbl_status rbli_hull_rows_build(rbl_context *ctx, const rbl_collection *collection, rbli_hull_rows *out)
{
    rbl_status status = RBL_OK;
    size_t bone_count = rbli_collection_size(collection, "bone"),
           count = rbli_collection_size(collection, "convex");
    const int32_t *owner = rbli_collection_read(collection, "convex", "bone", RBL_INT32);
    rbli_hull_rows rows = {0};
    if (count > 0) {
        if (!owner) return rbli_fail(ctx, RBL_ERR_COLLECTION, "the group convex lacks bone");
        for (size_t i = 0; i < count; i++)
            if (owner[i] < 0 || (size_t)owner[i] >= bone_count)
                return rbli_fail(
                    ctx, RBL_ERR_COLLECTION, "convex.bone: hull %zu has no bone %d", i, (int)owner[i]);
        RBL_TRY(check_lists(ctx, collection, count));
    }
    RBL_TRY_ALLOC(rows.start = rbli_calloc(ctx, bone_count + 2, sizeof *rows.start));
    RBL_TRY_ALLOC(rows.row = rbli_alloc(ctx, count, sizeof *rows.row));
    for (size_t i = 0; i < count; i++)
        rows.start[owner[i] + 2]++;
    for (size_t b = 1; b < bone_count + 2; b++)
        rows.start[b] += rows.start[b - 1];
    for (size_t i = 0; i < count; i++)
        rows.row[rows.start[owner[i] + 1]++] = (int32_t)i;
    *out = rows;
    rows = (rbli_hull_rows){0};
done:
    rbli_hull_rows_free(ctx, &rows);
    return status;
}

void rbli_hull_rows_free(rbl_context *ctx, rbli_hull_rows *rows)
{
    rbli_free(ctx, rows->start);
    rbli_free(ctx, rows->row);
    *rows = (rbli_hull_rows){0};
}

rbli_hull rbli_hull_get(const rbl_collection *collection, size_t index)
{
    const rbli_buffer *points = rbli_collection_buffer(collection, "convex", "points"),
                      *faces = rbli_collection_buffer(collection, "convex", "faces");
    const double *volumes = rbli_collection_read(collection, "convex", "volume", RBL_DOUBLE);
    const uint64_t *p = rbli_buffer_offsets(points), *f = rbli_buffer_offsets(faces);
    return (rbli_hull){.points = (double(*)[3])rbli_buffer_data(points) + p[index],
        .point_count = p[index + 1] - p[index],
        .triangles = (int32_t(*)[3])rbli_buffer_data(faces) + f[index],
        .triangle_count = f[index + 1] - f[index],
        .volume = volumes ? volumes[index] : 0};
}

/// Stable sort by bone, by counting.
static rbl_status sort_rows(rbl_context *ctx, rbli_hull_row *rows, size_t count, size_t bone_count)
{
    rbl_status status = RBL_OK;
    rbli_hull_row *copy = NULL;
    size_t *start = NULL;
    RBL_TRY_ALLOC(copy = rbli_alloc(ctx, count, sizeof *copy));
    RBL_TRY_ALLOC(start = rbli_calloc(ctx, bone_count + 1, sizeof *start));
    if (count > 0) memcpy(copy, rows, count * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        start[rows[i].bone + 1]++;
    for (size_t b = 0; b < bone_count; b++)
        start[b + 1] += start[b];
    for (size_t i = 0; i < count; i++)
        rows[start[copy[i].bone]++] = copy[i];
done:
    rbli_free(ctx, copy);
    rbli_free(ctx, start);
    return status;
}

typedef struct list_job {
    const rbl_collection *in;
    const rbli_hull_row *rows;
    bool points;
    uint64_t *offsets;
    char *values;
} list_job;

static rbl_status copy_rows(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const list_job *job = user;
    size_t bytes = rbl_type_bytes(job->points ? RBL_VEC3 : RBL_INT32_3);
    for (size_t i = begin; i < end; i++) {
        const rbli_hull_row *row = &job->rows[i];
        size_t count = job->offsets[i + 1] - job->offsets[i];
        rbli_hull hull = row->hull ? *row->hull : rbli_hull_get(job->in, (size_t)row->source);
        const void *from = job->points ? (const void *)hull.points : (const void *)hull.triangles;
        if (count) memcpy(job->values + job->offsets[i] * bytes, from, count * bytes);
    }
    return RBL_OK;
}

/// One list attribute of the new group: old rows copied, new ones from the hulls.
static rbl_status build_lists(rbl_context *ctx, const rbl_collection *in, const rbli_hull_row *rows,
    size_t row_count, bool points, rbli_buffer **out)
{
    enum { ROW_GRAIN = 256 };
    rbl_status status = RBL_OK;
    list_job job = {in, rows, points, NULL, NULL};
    rbli_buffer *made = NULL;
    RBL_TRY_ALLOC(job.offsets = rbli_alloc(ctx, row_count + 1, sizeof *job.offsets));
    job.offsets[0] = 0;
    for (size_t i = 0; i < row_count; i++) {
        rbli_hull old;
        const rbli_hull *from = rows[i].hull;
        if (!from) old = rbli_hull_get(in, (size_t)rows[i].source), from = &old;
        job.offsets[i + 1] = job.offsets[i] + (points ? from->point_count : from->triangle_count);
    }
    RBL_TRY(rbli_buffer_create_list_unset(
        ctx, points ? RBL_VEC3 : RBL_INT32_3, row_count, job.offsets, (void **)&job.values, &made));
    RBL_TRY(rbli_parallel_for(ctx, row_count, ROW_GRAIN, copy_rows, &job));
    *out = made;
    made = NULL;
done:
    rbli_buffer_release(made);
    rbli_free(ctx, job.offsets);
    return status;
}

rbl_status rbli_hull_group_write(
    rbl_context *ctx, const rbl_collection *in, rbli_hull_row *rows, size_t count, rbl_collection *to)
{
    rbl_status status = RBL_OK;
    rbli_buffer *points = NULL, *faces = NULL;
    int32_t *source = NULL, *bone;
    double *volume;
    RBL_TRY(sort_rows(ctx, rows, count, rbli_collection_size(in, "bone")));
    RBL_TRY_ALLOC(source = rbli_alloc(ctx, count, sizeof *source));
    for (size_t i = 0; i < count; i++)
        source[i] = rows[i].source;
    RBL_TRY(build_lists(ctx, in, rows, count, true, &points));
    RBL_TRY(build_lists(ctx, in, rows, count, false, &faces));
    if (!rbli_collection_has_group(to, "convex")) RBL_TRY(rbli_collection_resize(ctx, to, "convex", 0));
    RBL_TRY(rbli_collection_gather(ctx, to, "convex", source, count));
    RBL_TRY(rbli_collection_set(ctx, to, "convex", "points", points));
    RBL_TRY(rbli_collection_set(ctx, to, "convex", "faces", faces));
    RBL_TRY(rbli_collection_write(ctx, to, "convex", "bone", RBL_INT32, (void **)&bone));
    RBL_TRY(rbli_collection_write(ctx, to, "convex", "volume", RBL_DOUBLE, (void **)&volume));
    for (size_t i = 0; i < count; i++) {
        bone[i] = rows[i].bone;
        if (rows[i].hull) volume[i] = rows[i].hull->volume;
    }
done:
    rbli_buffer_release(points);
    rbli_buffer_release(faces);
    rbli_free(ctx, source);
    return status;
}

rbl_status rbli_bone_mask(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, bool below, bool **out)
{
    size_t count = rbli_collection_size(in, "bone");
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    if (!parent && count > 0) return rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection lacks bone.parent");
    if (selection && !rbli_selection_fits(selection, in))
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the selection was made on a collection with other bones");
    bool *mask = rbli_calloc(ctx, count, sizeof *mask);
    if (!mask) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; selection && i < rbli_selection_count(selection); i++)
        mask[rbli_selection_bones(selection)[i]] = true;
    for (size_t b = 0; b < count; b++)
        if (!selection || (below && parent[b] >= 0 && (size_t)parent[b] < b && mask[parent[b]]))
            mask[b] = true;
    *out = mask;
    return RBL_OK;
}
