/// Collision samples of pieces, one piece a block.

#include "fracture/ops/collision_samples.h"

#include <stdatomic.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/collision_samples.h"

typedef struct piece_samples {
    double (*points)[3]; /* beside the vertices */
    size_t count;
} piece_samples;

typedef struct samples_job {
    const rbl_collection *in;
    const int32_t *leaves;
    const double (*positions)[3];
    const int32_t (*faces)[3];
    const int32_t *geometry, *vertex_start, *vertex_count, *face_start, *face_count;
    double spacing;
    piece_samples *samples; /* by leaf */
    atomic_size_t made;     /* of all pieces so far, so that too many are not made first */
} samples_job;

static rbl_status sample_pieces(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    samples_job *job = user;
    for (size_t i = begin; i < end; i++) {
        int32_t g = job->geometry[job->leaves[i]];
        rbli_mesh_view mesh = {job->positions, (size_t)job->vertex_start[g] + (size_t)job->vertex_count[g],
            job->faces + job->face_start[g], (size_t)job->face_count[g]};
        rbl_status status = rbli_collision_samples(ctx, &mesh, job->spacing, RBLI_MOST_COLLISION_SAMPLES,
            &job->samples[i].points, &job->samples[i].count);
        if (status != RBL_OK) return status;
        size_t before = atomic_fetch_add(&job->made, job->samples[i].count);
        if (before + job->samples[i].count > RBLI_MOST_COLLISION_SAMPLES) return RBL_ERR_LIMIT;
    }
    return RBL_OK;
}

/// Puts the lists together: of a chosen piece its vertices and samples, of the others what they had.
static rbl_status write_lists(
    rbl_context *ctx, const samples_job *job, size_t leaf_count, rbl_collection *to, size_t total)
{
    rbl_status status = RBL_OK;
    size_t geometries = rbli_collection_size(to, "geometry");
    const rbli_buffer *old = rbli_collection_buffer(to, "geometry", "collision_samples");
    bool usable = old && rbli_buffer_is_list(old) && rbli_buffer_type(old) == RBL_VEC3;
    const uint64_t *old_offsets = usable ? rbli_buffer_offsets(old) : NULL;
    const double(*old_points)[3] = usable ? rbli_buffer_data(old) : NULL;
    rbli_buffer *made = NULL;
    double(*points)[3] = NULL;
    uint64_t *offsets = rbli_alloc(ctx, geometries + 1, sizeof *offsets), at = 0;
    int32_t *leaf_of = rbli_alloc(ctx, geometries, sizeof *leaf_of);
    RBL_TRY_ALLOC(offsets);
    RBL_TRY_ALLOC(leaf_of);
    if (usable) total += (size_t)old_offsets[geometries];
    RBL_TRY_ALLOC(points = rbli_alloc(ctx, total, sizeof *points));
    for (size_t g = 0; g < geometries; g++)
        leaf_of[g] = -1;
    for (size_t i = 0; i < leaf_count; i++)
        leaf_of[job->geometry[job->leaves[i]]] = (int32_t)i;
    for (size_t g = 0; g < geometries; g++) {
        offsets[g] = at;
        if (leaf_of[g] >= 0) {
            const piece_samples *s = &job->samples[leaf_of[g]];
            size_t vertices = (size_t)job->vertex_count[g];
            memcpy(points + at, job->positions + job->vertex_start[g], vertices * sizeof *points);
            memcpy(points + at + vertices, s->points, s->count * sizeof *points);
            at += vertices + s->count;
        } else if (usable) {
            size_t count = (size_t)(old_offsets[g + 1] - old_offsets[g]);
            memcpy(points + at, old_points + old_offsets[g], count * sizeof *points);
            at += count;
        }
    }
    offsets[geometries] = at;
    RBL_TRY(rbli_buffer_create_list(ctx, RBL_VEC3, geometries, offsets, points, &made));
    RBL_TRY(rbli_collection_set(ctx, to, "geometry", "collision_samples", made));
done:
    rbli_buffer_release(made);
    rbli_free(ctx, points);
    rbli_free(ctx, offsets);
    rbli_free(ctx, leaf_of);
    return status;
}

rbl_status rbli_set_collision_samples(rbl_context *ctx, const rbl_collection *in,
    const rbli_selection *selection, double spacing, size_t *added, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    int32_t *leaves = NULL;
    size_t leaf_count = 0, total = 0, beside = 0;
    samples_job job = {.in = in,
        .positions = rbli_collection_read(in, "vertex", "position", RBL_VEC3),
        .faces = rbli_collection_read(in, "face", "vertices", RBL_INT32_3),
        .geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32),
        .vertex_start = rbli_collection_read(in, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(in, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(in, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(in, "geometry", "face_count", RBL_INT32),
        .spacing = spacing};
    RBL_TRY(rbli_rigid_leaves(ctx, in, selection, &leaves, &leaf_count));
    job.leaves = leaves;
    RBL_TRY_ALLOC(job.samples = rbli_calloc(ctx, leaf_count, sizeof *job.samples));
    status = rbli_parallel_for(ctx, leaf_count, 1, sample_pieces, &job);
    if (status == RBL_ERR_LIMIT) /* the same words whichever piece was too much */
        rbli_fail(ctx, status, "more than %d samples would be needed for a spacing of %g",
            RBLI_MOST_COLLISION_SAMPLES, spacing);
    if (status != RBL_OK) goto done;
    for (size_t i = 0; i < leaf_count; i++) {
        total += job.samples[i].count + (size_t)job.vertex_count[job.geometry[leaves[i]]];
        beside += job.samples[i].count;
    }
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(write_lists(ctx, &job, leaf_count, copy, total));
    *out = copy;
    copy = NULL;
    if (added) *added = beside;
done:
    for (size_t i = 0; job.samples && i < leaf_count; i++)
        rbli_free(ctx, job.samples[i].points);
    rbli_free(ctx, job.samples);
    rbli_free(ctx, leaves);
    rbli_collection_release(copy);
    return status;
}

rbl_status rbli_keep_collision_samples(rbl_context *ctx, rbl_collection *collection, const bool *keep)
{
    rbl_status status = RBL_OK;
    const rbli_buffer *old = rbli_collection_buffer(collection, "geometry", "collision_samples");
    size_t count = rbli_collection_size(collection, "geometry");
    rbli_buffer *made = NULL;
    int32_t *source = NULL;
    if (!old) return RBL_OK;
    RBL_TRY_ALLOC(source = rbli_alloc(ctx, count, sizeof *source));
    for (size_t g = 0; g < count; g++)
        source[g] = keep[g] ? (int32_t)g : -1;
    RBL_TRY(rbli_buffer_gather(ctx, old, source, count, &made));
    RBL_TRY(rbli_collection_set(ctx, collection, "geometry", "collision_samples", made));
done:
    rbli_buffer_release(made);
    rbli_free(ctx, source);
    return status;
}
