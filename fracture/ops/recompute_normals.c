/// Normals and tangents, one geometry a block.

#include "fracture/ops/recompute_normals.h"

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/elementary.h"
#include "fracture/geometry/face_graph.h"
#include "fracture/geometry/smooth_normals.h"

rbli_normals_options rbli_normals_default_options(void)
{
    return (rbli_normals_options){.only_internal = true, .sharp_edge_rad = RBLI_PI / 3};
}

typedef struct normals_job {
    const rbli_normals_options *options;
    const double (*positions)[3];
    const int32_t (*faces)[3];
    const bool *internal;
    const int32_t *vertex_start, *vertex_count, *face_start, *face_count;
    const bool *chosen;   /* geometries */
    const float (*uv)[2]; /* NULL: none */
    float (*normal)[3];
    float (*tangent)[4]; /* NULL: none are made */
    bool all_tangents;   /* none were there */
    double sharp_cosine;
} normals_job;

/// Copies elements of the corners that change: all, or those of internal faces.
static void put_corners(const normals_job *job, size_t first_face, size_t count, bool all, const void *from,
    void *to, size_t bytes)
{
    for (size_t f = 0; f < count; f++)
        if (all || job->internal[first_face + f])
            memcpy((char *)to + (first_face + f) * 3 * bytes, (const char *)from + f * 3 * bytes, 3 * bytes);
}

static rbl_status work_on_geometry(rbl_context *ctx, const normals_job *job, size_t g)
{
    rbl_status status = RBL_OK;
    size_t first = (size_t)job->face_start[g], count = (size_t)job->face_count[g];
    bool normals = !job->options->only_tangents && job->chosen[g];
    bool tangents = job->tangent && (job->chosen[g] || job->all_tangents);
    int32_t *opposite = NULL;
    float *made = NULL;
    if (count == 0 || (!normals && !tangents)) return RBL_OK;
    rbli_mesh_view mesh = {job->positions, (size_t)job->vertex_start[g] + (size_t)job->vertex_count[g],
        job->faces + first, count};
    RBL_TRY(rbli_face_graph(
        ctx, mesh.triangles, count, job->vertex_start[g], (size_t)job->vertex_count[g], &opposite));
    RBL_TRY_ALLOC(made = rbli_alloc(ctx, 3 * count, 4 * sizeof *made));
    if (normals) {
        /* a bool is the byte 0 or 1 */
        RBL_TRY(rbli_smooth_normals(ctx, &mesh, opposite, (const uint8_t *)job->internal + first,
            job->sharp_cosine, (float(*)[3])made));
        put_corners(job, first, count, !job->options->only_internal, made, job->normal, sizeof *job->normal);
    }
    if (tangents) {
        RBL_TRY(rbli_corner_tangents(ctx, &mesh, opposite, (const float(*)[3])job->normal + 3 * first,
            job->uv + 3 * first, (float(*)[4])made));
        put_corners(job, first, count, job->all_tangents || !job->options->only_internal, made, job->tangent,
            sizeof *job->tangent);
    }
done:
    rbli_free(ctx, opposite);
    rbli_free(ctx, made);
    return status;
}

static rbl_status work_on_geometries(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    for (size_t g = begin; g < end; g++) {
        rbl_status status = work_on_geometry(ctx, user, g);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Marks the geometries of chosen bones.
static rbl_status choose_geometries(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, bool *chosen)
{
    int32_t *leaves = NULL;
    size_t count = 0;
    const int32_t *geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32);
    memset(chosen, selection == NULL, rbli_collection_size(in, "geometry"));
    if (!selection) return RBL_OK;
    rbl_status status = rbli_rigid_leaves(ctx, in, selection, &leaves, &count);
    for (size_t i = 0; i < count; i++)
        chosen[geometry[leaves[i]]] = true;
    rbli_free(ctx, leaves);
    return status;
}

rbl_status rbli_recompute_normals(
    rbl_context *ctx, const rbl_collection *in, const rbli_normals_options *options, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *copy = NULL;
    bool *chosen = NULL;
    void *normal, *tangent = NULL;
    size_t geometries = rbli_collection_size(in, "geometry");
    normals_job job = {.options = options,
        .positions = rbli_collection_read(in, "vertex", "position", RBL_VEC3),
        .faces = rbli_collection_read(in, "face", "vertices", RBL_INT32_3),
        .internal = rbli_collection_read(in, "face", "internal", RBL_BOOL),
        .vertex_start = rbli_collection_read(in, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(in, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(in, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(in, "geometry", "face_count", RBL_INT32),
        .uv = rbli_collection_read(in, "corner", "uv0", RBL_FLOAT_2),
        .all_tangents = !rbli_collection_read(in, "corner", "tangent", RBL_FLOAT_4),
        .sharp_cosine = rbli_cos(options->sharp_edge_rad)};
    if (options->only_tangents && !job.uv)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "there is no corner.uv0: tangents need UVs to follow");
    RBL_TRY_ALLOC(chosen = rbli_alloc(ctx, geometries, sizeof *chosen));
    RBL_TRY(choose_geometries(ctx, in, options->selection, chosen));
    job.chosen = chosen;
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    if (options->only_tangents) {
        normal = (void *)rbli_collection_read(copy, "corner", "normal", RBL_FLOAT_3); /* only read */
    } else {
        RBL_TRY(rbli_collection_write(ctx, copy, "corner", "normal", RBL_FLOAT_3, &normal));
    }
    if (job.uv) RBL_TRY(rbli_collection_write(ctx, copy, "corner", "tangent", RBL_FLOAT_4, &tangent));
    job.normal = normal;
    job.tangent = tangent;
    RBL_TRY(rbli_parallel_for(ctx, geometries, 1, work_on_geometries, &job));
    *out = copy;
    copy = NULL;
done:
    rbli_collection_release(copy);
    rbli_free(ctx, chosen);
    return status;
}
