/// Triangulation of points: insertion of all, then the numbering of the result.

#include "fracture/geometry/delaunay.h"

#include "fracture/base/threads.h"
#include "fracture/geometry/delaunay_insert.h"

enum { GHOSTS = RBLI_GHOST_COUNT };

static void set_ghosts(double distance, double ghosts[6][3])
{
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++)
            ghosts[i][k] = k == i / 2 ? (i % 2 ? distance : -distance) : 0;
}

typedef struct place_job {
    const double (*points)[3];
    const int32_t *rank, *curve;
    rbli_ranked_point *out;
} place_job;

/// Copies points to their places, behind the ghosts.
static rbl_status place_range(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    const place_job *job = user;
    for (size_t i = begin; i < end; i++) {
        const double *x = job->points[job->curve[i]];
        int64_t rank = job->rank ? job->rank[job->curve[i]] : (int64_t)x[0];
        job->out[GHOSTS + i] = (rbli_ranked_point){{x[0], x[1], x[2]}, rank};
    }
    return RBL_OK;
}

rbl_status rbli_delaunay_create(rbl_context *ctx, const double (*points)[3], size_t point_count,
    const int32_t *rank, double ghost_distance, const int32_t *curve, const int32_t *order,
    rbli_delaunay **out)
{
    rbl_status status = RBL_OK;
    void *memory = NULL;
    rbli_ranked_point *ranked;
    rbli_delaunay *result = NULL;
    rbli_triangulation t = {0};
    if (point_count > 100000000) return rbli_fail(ctx, RBL_ERR_LIMIT, "more than 100,000,000 points");
    RBL_TRY_ALLOC(result = rbli_calloc(ctx, 1, sizeof *result));
    RBL_TRY_ALLOC(memory = rbli_alloc(ctx, point_count + GHOSTS + 2, sizeof *ranked));
    ranked = rbli_at_cache_line(memory);
    result->point_count = point_count;
    set_ghosts(ghost_distance, result->ghosts);
    for (size_t i = 0; i < GHOSTS; i++) {
        const double *x = result->ghosts[i];
        ranked[i] = (rbli_ranked_point){{x[0], x[1], x[2]}, ((int64_t)1 << 52) + (int64_t)i};
    }
    place_job job = {points, rank, curve, ranked};
    RBL_TRY(rbli_parallel_for(ctx, point_count, 1024, place_range, &job));
    t.points = ranked;
    t.point_count = point_count + GHOSTS;
    RBL_TRY(rbli_insert_all(ctx, &t, order));
    RBL_TRY(rbli_number_tetrahedra(ctx, &t, curve, result));
    *out = result;
    result = NULL;
done:
    rbli_delaunay_destroy(ctx, result);
    rbli_free(ctx, memory);
    rbli_triangulation_free(ctx, &t);
    return status;
}

void rbli_delaunay_destroy(rbl_context *ctx, rbli_delaunay *delaunay)
{
    if (!delaunay) return;
    rbli_free(ctx, delaunay->memory);
    rbli_free(ctx, delaunay);
}
