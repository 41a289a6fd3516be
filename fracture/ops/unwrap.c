/// UVs by projection along axes, and by charts packed into a square.

#include "fracture/ops/unwrap.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/charts.h"
#include "fracture/geometry/face_graph.h"
#include "fracture/ops/recompute_normals.h"

enum { FACE_GRAIN = 8192 };

typedef struct unwrap_job {
    const rbli_unwrap_target *target;
    const double (*positions)[3];
    const int32_t (*faces)[3];
    const bool *internal;
    const int32_t *origin;
    const int32_t *vertex_start, *vertex_count, *face_start, *face_count;
    float (*uv)[2];
    double scale;
    rbli_charts *charts; /* by geometry */
} unwrap_job;

static bool is_chosen(const unwrap_job *job, size_t face)
{
    return job->target->faces == RBLI_UNWRAP_ALL || job->internal[face];
}

static const char *const uv_names[8] = {"uv0", "uv1", "uv2", "uv3", "uv4", "uv5", "uv6", "uv7"};

int rbli_missing_uv_channel(const rbl_collection *in, int channel)
{
    for (int i = 0; i < channel && i < 8; i++)
        if (!rbli_collection_buffer(in, "corner", uv_names[i])) return i;
    return -1;
}

/// Copies the collection and opens the channel.
static rbl_status begin(rbl_context *ctx, const rbl_collection *in, unwrap_job *job, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    void *uv;
    rbl_collection *copy = NULL;
    if (job->target->channel < 0 || job->target->channel > 7)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "there is no UV channel %d", job->target->channel);
    int missing = rbli_missing_uv_channel(in, job->target->channel);
    if (missing >= 0)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "channel %d would leave a gap: there is no corner.uv%d",
            job->target->channel, missing);
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(rbli_collection_write(ctx, copy, "corner", uv_names[job->target->channel], RBL_FLOAT_2, &uv));
    job->uv = uv;
    job->positions = rbli_collection_read(in, "vertex", "position", RBL_VEC3);
    job->faces = rbli_collection_read(in, "face", "vertices", RBL_INT32_3);
    job->internal = rbli_collection_read(in, "face", "internal", RBL_BOOL);
    job->origin = rbli_collection_read(in, "face", "origin", RBL_INT32);
    job->vertex_start = rbli_collection_read(in, "geometry", "vertex_start", RBL_INT32);
    job->vertex_count = rbli_collection_read(in, "geometry", "vertex_count", RBL_INT32);
    job->face_start = rbli_collection_read(in, "geometry", "face_start", RBL_INT32);
    job->face_count = rbli_collection_read(in, "geometry", "face_count", RBL_INT32);
    *out = copy;
    copy = NULL;
done:
    rbli_collection_release(copy);
    return status;
}

/// Lets tangents follow the new UVs.
static rbl_status end(rbl_context *ctx, const unwrap_job *job, rbl_collection *made, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    if (job->target->channel == 0 && rbli_collection_buffer(made, "corner", "tangent")) {
        rbli_normals_options options = rbli_normals_default_options();
        options.only_tangents = true;
        options.only_internal = job->target->faces == RBLI_UNWRAP_INTERNAL;
        RBL_TRY(rbli_recompute_normals(ctx, made, &options, out));
    } else {
        *out = rbli_collection_retain(made);
    }
done:
    return status;
}

/* ---- boxes ---- */

static void project_face(const unwrap_job *job, size_t face)
{
    /* which coordinates are right and up, seen from the end of +x, −x, +y, −y, +z, −z, and right's sign, up's */
    static const int views[6][4] = {
        {2, 1, -1, 1}, {2, 1, 1, 1}, {0, 2, 1, -1}, {0, 2, 1, 1}, {0, 1, 1, 1}, {0, 1, -1, 1}};
    const int32_t *v = job->faces[face];
    const double *p[3] = {job->positions[v[0]], job->positions[v[1]], job->positions[v[2]]};
    double n[3];
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = (p[1][i] - p[0][i]) * (p[2][j] - p[0][j]) - (p[1][j] - p[0][j]) * (p[2][i] - p[0][i]);
        if (fabs(n[k]) > fabs(n[axis])) axis = k;
    }
    const int *view = views[2 * axis + (n[axis] < 0)];
    for (size_t c = 0; c < 3; c++) {
        job->uv[3 * face + c][0] = (float)(job->scale * view[2] * p[c][view[0]]);
        job->uv[3 * face + c][1] = (float)(-job->scale * view[3] * p[c][view[1]]);
    }
}

static rbl_status project_faces(
    rbl_context *ctx, size_t begin_face, size_t end_face, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const unwrap_job *job = user;
    for (size_t face = begin_face; face < end_face; face++)
        if (is_chosen(job, face)) project_face(job, face);
    return RBL_OK;
}

rbl_status rbli_box_project_uv(rbl_context *ctx, const rbl_collection *in, const rbli_unwrap_target *target,
    double scale, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    unwrap_job job = {.target = target, .scale = scale};
    rbl_collection *made = NULL;
    RBL_TRY(begin(ctx, in, &job, &made));
    RBL_TRY(rbli_parallel_for(ctx, rbli_collection_size(in, "face"), FACE_GRAIN, project_faces, &job));
    status = end(ctx, &job, made, out);
done:
    rbli_collection_release(made);
    return status;
}

/* ---- charts ---- */

static rbl_status unfold_geometries(
    rbl_context *ctx, size_t first, size_t last, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    rbl_status status = RBL_OK;
    const unwrap_job *job = user;
    int32_t *opposite = NULL;
    bool *chosen = NULL;
    for (size_t g = first; g < last; g++) {
        size_t start = (size_t)job->face_start[g], count = (size_t)job->face_count[g], any = 0;
        rbli_mesh_view mesh = {job->positions, (size_t)job->vertex_start[g] + (size_t)job->vertex_count[g],
            job->faces + start, count};
        rbli_free(ctx, chosen);
        RBL_TRY_ALLOC(chosen = rbli_alloc(ctx, count, sizeof *chosen));
        for (size_t f = 0; f < count; f++)
            any += chosen[f] = is_chosen(job, start + f);
        if (any == 0) continue;
        rbli_free(ctx, opposite);
        opposite = NULL;
        RBL_TRY(rbli_face_graph(
            ctx, mesh.triangles, count, job->vertex_start[g], (size_t)job->vertex_count[g], &opposite));
        RBL_TRY(rbli_make_charts(ctx, &mesh, opposite, job->origin + start, chosen, &job->charts[g]));
    }
done:
    rbli_free(ctx, opposite);
    rbli_free(ctx, chosen);
    return status;
}

static float within(double value, double most)
{
    return (float)(value < 0 ? 0 : value > most ? most : value);
}

/// Writes the corners of the charts first … of a geometry at their places in the square.
static void write_charts(const unwrap_job *job, size_t g, const double (*corners)[2], double density,
    double resolution, double *covered)
{
    const rbli_charts *charts = &job->charts[g];
    size_t start = (size_t)job->face_start[g];
    for (size_t f = 0; charts->count && f < (size_t)job->face_count[g]; f++) {
        if (charts->chart[f] < 0) continue;
        const double *corner = corners[charts->chart[f]], (*p)[2] = (const double(*)[2])charts->place + 3 * f;
        for (size_t c = 0; c < 3; c++) {
            float *uv = job->uv[3 * (start + f) + c];
            uv[0] = within((corner[0] + p[c][0] * density) / resolution, job->scale);
            uv[1] = within(job->scale - (corner[1] + p[c][1] * density) / resolution, job->scale);
        }
        *covered +=
            fabs((p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1])) / 2;
    }
}

static rbl_status pack(rbl_context *ctx, const unwrap_job *job, size_t geometries, double gutter,
    double resolution, rbli_unwrap_report *report)
{
    rbl_status status = RBL_OK;
    double(*sizes)[2] = NULL, (*corners)[2] = NULL, density = 0, covered = 0;
    double side = resolution * job->scale;
    size_t count = 0, at = 0;
    for (size_t g = 0; g < geometries; g++)
        count += job->charts[g].count;
    RBL_TRY_ALLOC(sizes = rbli_alloc(ctx, count, sizeof *sizes));
    RBL_TRY_ALLOC(corners = rbli_alloc(ctx, count, sizeof *corners));
    for (size_t g = 0; g < geometries; at += job->charts[g++].count)
        if (job->charts[g].count)
            memcpy(sizes + at, job->charts[g].size, job->charts[g].count * sizeof *sizes);
    status = rbli_pack_rectangles(ctx, (const double(*)[2])sizes, count, side, gutter, corners, &density);
    if (status == RBL_ERR_LIMIT)
        rbli_fail(ctx, status, "%zu charts with a gutter of %g pixels do not fit into %g × %g", count, gutter,
            side, side);
    if (status != RBL_OK) goto done;
    at = 0;
    for (size_t g = 0; g < geometries; at += job->charts[g++].count)
        write_charts(job, g, (const double(*)[2])corners + at, density, resolution, &covered);
    if (report) *report = (rbli_unwrap_report){count, density, covered * density * density / side / side};
done:
    rbli_free(ctx, sizes);
    rbli_free(ctx, corners);
    return status;
}

rbl_status rbli_auto_unwrap_uv(rbl_context *ctx, const rbl_collection *in, const rbli_unwrap_target *target,
    double scale, double gutter, double resolution, rbli_unwrap_report *report, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    size_t geometries = rbli_collection_size(in, "geometry");
    unwrap_job job = {.target = target, .scale = scale};
    rbl_collection *made = NULL;
    RBL_TRY(begin(ctx, in, &job, &made));
    RBL_TRY_ALLOC(job.charts = rbli_calloc(ctx, geometries, sizeof *job.charts));
    RBL_TRY(rbli_parallel_for(ctx, geometries, 1, unfold_geometries, &job));
    RBL_TRY(pack(ctx, &job, geometries, gutter, resolution, report));
    status = end(ctx, &job, made, out);
done:
    for (size_t g = 0; job.charts && g < geometries; g++)
        rbli_charts_free(ctx, &job.charts[g]);
    rbli_free(ctx, job.charts);
    rbli_collection_release(made);
    return status;
}
