/// Vertices and faces of all pieces in world space.

#include <math.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/ops/proximity.h"

enum { POLL = 64 }; /* pieces between looks at the request to cancel */

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

/// Turns the faces of geometry g, after copying all if it is the first.
static rbl_status turn_faces(
    rbl_context *ctx, rbli_world_surface *s, size_t face_count, int32_t begin, int32_t end)
{
    if (!s->turned) {
        s->turned = rbli_alloc(ctx, face_count, sizeof *s->turned);
        if (!s->turned) return RBL_ERR_NO_MEMORY;
        if (face_count) memcpy(s->turned, s->triangles, face_count * sizeof *s->turned);
        s->triangles = (const int32_t(*)[3])s->turned;
    }
    for (int32_t f = begin; f < end; f++) {
        if (rbli_poll(ctx, (size_t)f) != RBL_OK) return RBL_ERR_CANCELLED;
        int32_t corner = s->turned[f][1];
        s->turned[f][1] = s->turned[f][2];
        s->turned[f][2] = corner;
    }
    return RBL_OK;
}

rbl_status rbli_world_surface_build(
    rbl_context *ctx, const rbl_collection *collection, rbli_world_surface *out)
{
    rbl_status status = RBL_OK;
    size_t vertex_count = rbli_collection_size(collection, "vertex");
    size_t face_count = rbli_collection_size(collection, "face");
    size_t geometry_count = rbli_collection_size(collection, "geometry"), leaf_count;
    const double(*positions)[3] = rbli_collection_read(collection, "vertex", "position", RBL_VEC3);
    const int32_t *bone = rbli_collection_read(collection, "geometry", "bone", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(collection, "bone", "geometry", RBL_INT32);
    const int32_t *ranges[4];
    static const char *const range_names[4] = {"vertex_start", "vertex_count", "face_start", "face_count"};
    double(*world)[16] = NULL;
    int32_t *leaves = NULL;
    rbli_world_surface s = {0};
    for (int i = 0; i < 4; i++)
        ranges[i] = rbli_collection_read(collection, "geometry", range_names[i], RBL_INT32);
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, collection, &world));
    RBL_TRY(rbli_rigid_leaves(ctx, collection, NULL, &leaves, &leaf_count));
    RBL_TRY_ALLOC(s.positions = rbli_alloc(ctx, vertex_count, sizeof *s.positions));
    RBL_TRY_ALLOC(s.piece = rbli_alloc(ctx, face_count, sizeof *s.piece));
    RBL_TRY(rbli_copy_polled(ctx, s.positions, positions, vertex_count * sizeof *s.positions));
    memset(s.piece, 0xff, face_count * sizeof *s.piece);
    s.triangles = rbli_collection_read(collection, "face", "vertices", RBL_INT32_3);
    for (size_t g = 0; g < geometry_count; g++) {
        if (g % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (bone[g] < 0 || rbli_affine_is_identity(world[bone[g]])) continue;
        if (mirrors(world[bone[g]]))
            RBL_TRY(turn_faces(ctx, &s, face_count, ranges[2][g], ranges[2][g] + ranges[3][g]));
        for (int32_t v = ranges[0][g]; v < ranges[0][g] + ranges[1][g]; v++) {
            RBL_TRY(rbli_poll(ctx, (size_t)v));
            rbli_affine_point(world[bone[g]], positions[v], s.positions[v]);
        }
    }
    for (int k = 0; k < 3; k++)
        s.low[k] = HUGE_VAL, s.high[k] = -HUGE_VAL;
    for (size_t i = 0; i < leaf_count; i++) {
        int32_t g = geometry[leaves[i]];
        if (i % POLL == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (int32_t f = ranges[2][g]; f < ranges[2][g] + ranges[3][g]; f++) {
            RBL_TRY(rbli_poll(ctx, (size_t)f));
            s.piece[f] = leaves[i];
        }
        for (int32_t v = ranges[0][g]; v < ranges[0][g] + ranges[1][g]; v++) {
            RBL_TRY(rbli_poll(ctx, (size_t)v));
            for (int k = 0; k < 3; k++) {
                s.low[k] = s.positions[v][k] < s.low[k] ? s.positions[v][k] : s.low[k];
                s.high[k] = s.positions[v][k] > s.high[k] ? s.positions[v][k] : s.high[k];
            }
        }
    }
    *out = s;
    s = (rbli_world_surface){0};
done:
    rbli_free(ctx, world);
    rbli_free(ctx, leaves);
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
