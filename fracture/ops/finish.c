/// One root, levels, measures.

#include "fracture/ops/finish.h"

#include "fracture/base/alloc.h"
#include "fracture/collection/hierarchy.h"
#include "fracture/ops/surface.h"

rbl_status rbli_join_roots(rbl_context *ctx, rbl_collection *c, size_t *root_count)
{
    rbl_status status = RBL_OK;
    size_t bones = rbli_collection_size(c, "bone"), roots = 0;
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    for (size_t b = 0; b < bones; b++)
        roots += parent[b] < 0;
    if (root_count) *root_count = roots;
    if (roots <= 1) return RBL_OK;
    int32_t none = -1, first;
    const char *name = "root";
    void *out;
    RBL_TRY(rbli_hierarchy_add_bones(ctx, c, 1, &none, &name, RBLI_BONE_CLUSTER, &first));
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "parent", RBL_INT32, &out));
    for (size_t b = 0; b < bones; b++)
        if (((int32_t *)out)[b] < 0) ((int32_t *)out)[b] = first;
    RBL_TRY(rbli_hierarchy_sort(ctx, c));
    RBL_TRY(rbli_hierarchy_update_levels(ctx, c));
done:
    return status;
}

static rbl_status write_measures(rbl_context *ctx, rbl_collection *c, const rbli_asset_stats *stats)
{
    rbl_status status = RBL_OK;
    void *volume, *low, *high;
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "volume", RBL_DOUBLE, &volume));
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "bounds_min", RBL_VEC3, &low));
    RBL_TRY(rbli_collection_write(ctx, c, "bone", "bounds_max", RBL_VEC3, &high));
    for (size_t b = 0; b < stats->bone_count; b++) {
        ((double *)volume)[b] = stats->bones[b].volume;
        memcpy(((double(*)[3])low)[b], stats->bones[b].bounds_min, sizeof(double[3]));
        memcpy(((double(*)[3])high)[b], stats->bones[b].bounds_max, sizeof(double[3]));
    }
done:
    return status;
}

rbl_status rbli_finish_asset(
    rbl_context *ctx, const rbl_collection *in, rbl_collection **out, rbli_asset_stats *stats)
{
    rbl_status status = RBL_OK;
    rbli_asset_stats measured = {0};
    rbl_collection *made = NULL;
    if (rbli_collection_size(in, "bone") == 0)
        return rbli_fail(ctx, RBL_ERR_COLLECTION, "the collection has no bone: there is nothing to finish");
    RBL_TRY(rbli_collection_validate(ctx, in, RBLI_VALIDATE_RANGES));
    RBL_TRY(rbli_collection_copy(ctx, in, &made));
    RBL_TRY(rbli_join_roots(ctx, made, NULL));
    RBL_TRY(rbli_surface_measure(ctx, made, 0));
    RBL_TRY(rbli_asset_stats_compute(ctx, made, &measured));
    RBL_TRY(write_measures(ctx, made, &measured));
    *out = made;
    *stats = measured;
    made = NULL;
    measured = (rbli_asset_stats){0};
done:
    rbli_asset_stats_free(ctx, &measured);
    rbli_collection_release(made);
    return status;
}
