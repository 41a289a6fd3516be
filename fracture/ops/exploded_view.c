/// Exploded view: translations down the hierarchy.

#include "fracture/ops/exploded_view.h"

#include <math.h>

#include "fracture/base/affine.h"
#include "fracture/base/alloc.h"
#include "fracture/ops/proximity.h"

/// Bounds of all leaves at or below each bone.
static rbl_status measure_bones(
    rbl_context *ctx, const rbl_collection *in, double (*low)[3], double (*high)[3], size_t bone_count)
{
    rbl_status status = RBL_OK;
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    const int32_t *geometry = rbli_collection_read(in, "bone", "geometry", RBL_INT32);
    const int32_t *start = rbli_collection_read(in, "geometry", "vertex_start", RBL_INT32);
    const int32_t *count = rbli_collection_read(in, "geometry", "vertex_count", RBL_INT32);
    int32_t *leaves = NULL;
    size_t leaf_count;
    rbli_world_surface surface = {0};
    RBL_TRY(rbli_world_surface_build(ctx, in, &surface));
    RBL_TRY(rbli_rigid_leaves(ctx, in, NULL, &leaves, &leaf_count));
    for (size_t b = 0; b < bone_count; b++)
        for (int k = 0; k < 3; k++)
            low[b][k] = HUGE_VAL, high[b][k] = -HUGE_VAL;
    for (size_t i = 0; i < leaf_count; i++) {
        int32_t b = leaves[i], g = geometry[b];
        for (int32_t v = start[g]; v < start[g] + count[g]; v++)
            for (int k = 0; k < 3; k++) {
                low[b][k] = fmin(low[b][k], surface.positions[v][k]);
                high[b][k] = fmax(high[b][k], surface.positions[v][k]);
            }
    }
    for (size_t b = bone_count; b-- > 0;)
        for (int k = 0; k < 3 && parent[b] >= 0; k++) {
            low[parent[b]][k] = fmin(low[parent[b]][k], low[b][k]);
            high[parent[b]][k] = fmax(high[parent[b]][k], high[b][k]);
        }
done:
    rbli_free(ctx, leaves);
    rbli_world_surface_free(ctx, &surface);
    return status;
}

rbl_status rbli_exploded_view(rbl_context *ctx, const rbl_collection *in, double scale, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    size_t bone_count = rbli_collection_size(in, "bone");
    const int32_t *parent = rbli_collection_read(in, "bone", "parent", RBL_INT32);
    double(*low)[3] = NULL, (*high)[3] = NULL, (*world)[16] = NULL, (*local)[16];
    rbl_collection *copy = NULL;
    RBL_TRY_ALLOC(low = rbli_alloc(ctx, bone_count, sizeof *low));
    RBL_TRY_ALLOC(high = rbli_alloc(ctx, bone_count, sizeof *high));
    RBL_TRY(measure_bones(ctx, in, low, high, bone_count));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, in, &world));
    RBL_TRY(rbli_collection_copy(ctx, in, &copy));
    RBL_TRY(rbli_collection_write(ctx, copy, "bone", "transform", RBL_MAT4, (void **)&local));
    for (size_t b = 0; b < bone_count; b++) {
        int32_t p = parent[b];
        double way[3], move[3];
        if (p < 0 || low[b][0] > high[b][0]) continue;
        for (int k = 0; k < 3; k++)
            way[k] = scale * ((low[b][k] + high[b][k]) / 2 - (low[p][k] + high[p][k]) / 2);
        if (!rbli_affine_solve_vector(world[p], way, move)) continue;
        for (int k = 0; k < 3; k++)
            local[b][12 + k] += move[k];
    }
    *out = copy;
    copy = NULL;
done:
    rbli_free(ctx, low);
    rbli_free(ctx, high);
    rbli_free(ctx, world);
    rbli_collection_release(copy);
    return status;
}
