/// Vertices and faces of all pieces in world space.

#include <math.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/ops/proximity.h"

enum { GRAIN = 64, COPIED = 1 << 14 }; /* pieces; vertices or faces of a block */

void rbli_world_surface_free(rbl_context *ctx, rbli_world_surface *surface)
{
    rbli_free(ctx, surface->positions);
    rbli_free(ctx, surface->piece);
    rbli_free(ctx, surface->turned);
    surface->positions = NULL;
    surface->piece = NULL;
    surface->turned = NULL;
    surface->triangles = NULL;
}

double rbli_world_surface_diagonal(const rbli_world_surface *s)
{
    if (s->low[0] > s->high[0]) return 0;
    double x = s->high[0] - s->low[0], y = s->high[1] - s->low[1], z = s->high[2] - s->low[2];
    return sqrt(x * x + y * y + z * z);
}

double rbli_world_surface_tolerance(const rbli_world_surface *surface, double tolerance)
{
    double diagonal = rbli_world_surface_diagonal(surface), least = diagonal * 1e-14;
    if (tolerance == 0) tolerance = 1e-6 * diagonal;
    return tolerance < least ? least : tolerance;
}

static bool mirrors(const double m[16])
{
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) +
               m[8] * (m[1] * m[6] - m[2] * m[5]) <
           0;
}

/// What the surface is made from. Ranges of geometries: first vertex, vertices, first face, faces.
typedef struct surface_maker {
    const double (*positions)[3];
    const int32_t *bone, *ranges[4]; /* [geometry count] */
    const double (*world)[16];       /* [bone count] */
    size_t vertex_count, face_count;
    const int32_t *leaf_geometries, *leaves; /* [leaf count] */
    double (*bounds)[2][3];                  /* of blocks of leaves */
    rbli_world_surface *out;
} surface_maker;

/// Vertices and faces as they are without transforms and leaves.
static rbl_status copy_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const surface_maker *m = user;
    rbli_world_surface *s = m->out;
    size_t vertex_end = end < m->vertex_count ? end : m->vertex_count;
    size_t face_end = end < m->face_count ? end : m->face_count;
    (void)ctx;
    (void)block;
    (void)worker;
    if (begin < vertex_end)
        memcpy(s->positions + begin, m->positions + begin, (vertex_end - begin) * sizeof *s->positions);
    if (begin >= face_end) return RBL_OK;
    memset(s->piece + begin, 0xff, (face_end - begin) * sizeof *s->piece);
    if (s->turned) memcpy(s->turned + begin, s->triangles + begin, (face_end - begin) * sizeof *s->turned);
    return RBL_OK;
}

/// Moves geometries begin … end − 1, and turns the faces of those that are mirrored.
static rbl_status move_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const surface_maker *m = user;
    rbli_world_surface *s = m->out;
    (void)block;
    (void)worker;
    for (size_t g = begin; g < end; g++) {
        if (m->bone[g] < 0 || rbli_affine_is_identity(m->world[m->bone[g]])) continue;
        const double *matrix = m->world[m->bone[g]];
        int32_t vertex = m->ranges[0][g], face = m->ranges[2][g];
        for (int32_t v = vertex; v < vertex + m->ranges[1][g]; v++) {
            if (rbli_poll(ctx, (size_t)v) != RBL_OK) return RBL_ERR_CANCELLED;
            rbli_affine_point(matrix, m->positions[v], s->positions[v]);
        }
        for (int32_t f = face; mirrors(matrix) && f < face + m->ranges[3][g]; f++) {
            if (rbli_poll(ctx, (size_t)f) != RBL_OK) return RBL_ERR_CANCELLED;
            int32_t corner = s->turned[f][1];
            s->turned[f][1] = s->turned[f][2];
            s->turned[f][2] = corner;
        }
    }
    return RBL_OK;
}

static void widen(double bounds[2][3], const double low[3], const double high[3])
{
    for (int k = 0; k < 3; k++) {
        bounds[0][k] = low[k] < bounds[0][k] ? low[k] : bounds[0][k];
        bounds[1][k] = high[k] > bounds[1][k] ? high[k] : bounds[1][k];
    }
}

/// Names the pieces of leaves begin … end − 1 and finds the bounds of these leaves.
static rbl_status own_block(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    const surface_maker *m = user;
    rbli_world_surface *s = m->out;
    double bounds[2][3] = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        int32_t g = m->leaf_geometries[m->leaves[i]];
        for (int32_t f = m->ranges[2][g]; f < m->ranges[2][g] + m->ranges[3][g]; f++) {
            if (rbli_poll(ctx, (size_t)f) != RBL_OK) return RBL_ERR_CANCELLED;
            s->piece[f] = m->leaves[i];
        }
        for (int32_t v = m->ranges[0][g]; v < m->ranges[0][g] + m->ranges[1][g]; v++) {
            if (rbli_poll(ctx, (size_t)v) != RBL_OK) return RBL_ERR_CANCELLED;
            widen(bounds, s->positions[v], s->positions[v]);
        }
    }
    memcpy(m->bounds[block], bounds, sizeof bounds);
    return RBL_OK;
}

static bool any_mirrors(const surface_maker *m, size_t geometry_count)
{
    for (size_t g = 0; g < geometry_count; g++)
        if (m->bone[g] >= 0 && mirrors(m->world[m->bone[g]])) return true;
    return false;
}

rbl_status rbli_world_surface_build(
    rbl_context *ctx, const rbl_collection *collection, rbli_world_surface *out)
{
    rbl_status status = RBL_OK;
    size_t geometry_count = rbli_collection_size(collection, "geometry"), leaf_count;
    rbli_world_surface s = {0};
    surface_maker m = {.positions = rbli_collection_read(collection, "vertex", "position", RBL_VEC3),
        .bone = rbli_collection_read(collection, "geometry", "bone", RBL_INT32),
        .vertex_count = rbli_collection_size(collection, "vertex"),
        .face_count = rbli_collection_size(collection, "face"),
        .leaf_geometries = rbli_collection_read(collection, "bone", "geometry", RBL_INT32),
        .out = &s};
    size_t most = m.vertex_count > m.face_count ? m.vertex_count : m.face_count;
    static const char *const range_names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    double(*world)[16] = NULL,
    bounds[2][3] = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    int32_t *leaves = NULL;
    for (int i = 0; i < 4; i++)
        m.ranges[i] = rbli_collection_read(collection, "geometry", range_names[i], RBL_INT32);
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, collection, &world));
    m.world = (const double(*)[16])world;
    RBL_TRY(rbli_rigid_leaves(ctx, collection, NULL, &leaves, &leaf_count));
    m.leaves = leaves;
    RBL_TRY_ALLOC(s.positions = rbli_alloc(ctx, m.vertex_count, sizeof *s.positions));
    RBL_TRY_ALLOC(s.piece = rbli_alloc(ctx, m.face_count, sizeof *s.piece));
    RBL_TRY_ALLOC(m.bounds = rbli_alloc(ctx, (leaf_count + GRAIN - 1) / GRAIN, sizeof *m.bounds));
    s.triangles = rbli_collection_read(collection, "face", "vertices", RBL_INT32_3);
    if (any_mirrors(&m, geometry_count))
        RBL_TRY_ALLOC(s.turned = rbli_alloc(ctx, m.face_count, sizeof *s.turned));
    RBL_TRY(rbli_parallel_for(ctx, most, COPIED, copy_block, &m));
    if (s.turned) s.triangles = (const int32_t(*)[3])s.turned;
    RBL_TRY(rbli_parallel_for(ctx, geometry_count, GRAIN, move_block, &m));
    RBL_TRY(rbli_parallel_for(ctx, leaf_count, GRAIN, own_block, &m));
    for (size_t i = 0; i < (leaf_count + GRAIN - 1) / GRAIN; i++)
        widen(bounds, m.bounds[i][0], m.bounds[i][1]);
    memcpy(s.low, bounds[0], sizeof s.low);
    memcpy(s.high, bounds[1], sizeof s.high);
    *out = s;
    s = (rbli_world_surface){0};
done:
    rbli_free(ctx, world);
    rbli_free(ctx, leaves);
    rbli_free(ctx, m.bounds);
    rbli_world_surface_free(ctx, &s);
    return status;
}

rbl_status rbli_world_bounds(rbl_context *ctx, const rbl_collection *collection,
    const rbli_selection *selection, double low[3], double high[3], bool *found)
{
    rbl_status status = RBL_OK;
    const int32_t *geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32);
    const int32_t *start = rbli_collection_read(collection, "geometry", "vertex_start", RBL_INT32);
    const int32_t *vertex_count = rbli_collection_read(collection, "geometry", "vertex_count", RBL_INT32);
    int32_t *leaves = NULL;
    size_t count;
    rbli_world_surface surface = {0};
    *found = false;
    RBL_TRY(rbli_rigid_leaves(ctx, collection, selection, &leaves, &count));
    RBL_TRY(rbli_world_surface_build(ctx, collection, &surface));
    for (size_t i = 0; i < count; i++) {
        int32_t g = geometry[leaves[i]];
        for (int32_t v = start[g]; v < start[g] + vertex_count[g]; v++) {
            for (int k = 0; k < 3; k++) {
                double x = surface.positions[v][k];
                low[k] = !*found || x < low[k] ? x : low[k];
                high[k] = !*found || x > high[k] ? x : high[k];
            }
            *found = true;
        }
    }
done:
    rbli_free(ctx, leaves);
    rbli_world_surface_free(ctx, &surface);
    return status;
}
