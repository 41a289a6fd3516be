#include "fracture/ops/asset_stats.h"

#include "tests/failing_alloc.h"
#include "tests/make_asset.h"

static void a_row_of_cubes_adds_up(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads *= 2) {
        rbl_context *ctx = make_context(threads);
        rbl_collection *asset = NULL;
        rbli_asset_stats stats;
        double(*transform)[16];
        assert_ok(ctx, make_cube_row(ctx, 50, &asset));
        assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "transform", RBL_MAT4, (void **)&transform));
        /* The root doubles; cube 7 is mirrored and stretched, cube 9 is half as high. */
        transform[0][0] = transform[0][5] = transform[0][10] = 2;
        transform[7][0] = -3;
        transform[9][5] = 0.5;
        assert_ok(ctx, rbli_asset_stats_compute(ctx, asset, &stats));
        assert_int_equal(stats.bone_count, 51);
        assert_close(stats.bones[3].volume, 8, 1e-14);
        assert_close(stats.bones[3].bounds_min[0], 4, 0);
        assert_close(stats.bones[3].bounds_max[0], 6, 0);
        assert_close(stats.bones[7].volume, 24, 1e-14);
        assert_close(stats.bones[7].bounds_min[0], 6, 0);
        assert_close(stats.bones[0].volume, 48 * 8 + 24 + 4, 1e-11);
        assert_close(stats.bones[0].bounds_max[0], 100, 0);
        assert_close(stats.bones[0].bounds_min[0], 0, 0);
        assert_int_equal(stats.bones[0].piece_count, 50);
        assert_int_equal(stats.bones[0].hull_count, 50);
        assert_int_equal(stats.all.triangle_count, 600);
        assert_int_equal(stats.all.vertex_count, 400);
        assert_int_equal(stats.largest_piece, 7);
        assert_int_equal(stats.smallest_piece, 9);
        assert_int_equal(stats.cluster_count, 1);
        assert_int_equal(stats.level_count, 2);
        assert_int_equal(stats.material_count, 2);
        assert_int_equal(stats.draw_call_count, 100);
        int32_t *owner;
        assert_ok(ctx, rbli_collection_resize(ctx, asset, "convex", 49));
        assert_ok(ctx, rbli_collection_write(ctx, asset, "convex", "bone", RBL_INT32, (void **)&owner));
        owner[1] = 1;
        rbli_asset_stats_recount_hulls(asset, &stats);
        assert_int_equal(stats.all.hull_count, 49);
        assert_int_equal(stats.bones[0].hull_count, 49);
        assert_int_equal(stats.bones[1].hull_count, 2);
        assert_int_equal(stats.bones[2].hull_count, 0);
        rbli_asset_stats_free(ctx, &stats);
        rbli_collection_release(asset);
        finish_context(ctx);
    }
}

static void sheets_have_bounds_but_no_volume(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    rbli_asset_stats stats;
    bool *sheet;
    assert_ok(ctx, make_cube_row(ctx, 3, &asset));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 1, NULL, NULL, RBLI_BONE_CLUSTER, NULL));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "sheet", RBL_BOOL, (void **)&sheet));
    sheet[3] = true;
    assert_ok(ctx, rbli_asset_stats_compute(ctx, asset, &stats));
    assert_close(stats.all.volume, 2, 1e-14);
    assert_close(stats.all.bounds_max[0], 3, 0);
    assert_int_equal(stats.all.piece_count, 2);
    assert_int_equal(stats.sheet_count, 1);
    assert_int_equal(stats.largest_piece, 1);
    assert_false(stats.bones[4].has_bounds);
    rbli_asset_stats_free(ctx, &stats);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void broken_assets_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL, *bad = NULL;
    rbli_asset_stats stats;
    int32_t *values;
    const char *const places[][2] = {{"bone", "parent"}, {"bone", "geometry"}, {"geometry", "bone"},
        {"geometry", "vertex_start"}, {"geometry", "face_count"}, {"face", "material"}, {"convex", "bone"}};
    assert_ok(ctx, make_cube_row(ctx, 3, &asset));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_ok(ctx, rbli_collection_copy(ctx, asset, &bad));
        assert_ok(
            ctx, rbli_collection_write(ctx, bad, places[i][0], places[i][1], RBL_INT32, (void **)&values));
        values[1] = 1000000;
        assert_int_equal(rbli_asset_stats_compute(ctx, bad, &stats), RBL_ERR_COLLECTION);
        rbli_collection_remove(bad, places[i][0], places[i][1]);
        assert_int_equal(rbli_asset_stats_compute(ctx, bad, &stats), RBL_ERR_COLLECTION);
        rbli_collection_release(bad);
    }
    rbli_collection_release(asset);
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &asset));
    assert_ok(ctx, rbli_asset_stats_compute(ctx, asset, &stats));
    assert_int_equal(stats.largest_piece, -1);
    assert_int_equal(stats.level_count, 0);
    assert_false(stats.all.has_bounds);
    rbli_asset_stats_free(ctx, &stats);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static rbl_status compute(rbl_context *ctx, void *user)
{
    (void)user;
    rbl_status status;
    rbl_collection *asset = NULL;
    rbli_asset_stats stats = {0};
    RBL_TRY(make_cube_row(ctx, 3, &asset));
    RBL_TRY(rbli_asset_stats_compute(ctx, asset, &stats));
done:
    rbli_asset_stats_free(ctx, &stats);
    rbli_collection_release(asset);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(compute, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_cubes_adds_up),
        cmocka_unit_test(sheets_have_bounds_but_no_volume),
        cmocka_unit_test(broken_assets_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
