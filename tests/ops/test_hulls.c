#include "fracture/ops/hulls.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/// Boxes with normals, volumes and bounds.
static rbl_collection *make_solids(rbl_context *ctx, size_t count, const double (*boxes)[2][3])
{
    rbl_collection *c = make_boxes(ctx, count, boxes);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

static void each_leaf_gets_its_hull(void **state)
{
    (void)state;
    double boxes[30][2][3];
    for (int i = 0; i < 30; i++)
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = i;
            boxes[i][1][k] = i + 1 + k;
        }
    for (int threads = 1; threads <= 2; threads++) {
        rbl_context *ctx = make_context(threads);
        rbl_collection *c = make_solids(ctx, 30, (const double(*)[2][3])boxes), *out = NULL;
        rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
        assert_ok(ctx, rbli_create_leaf_hulls(ctx, c, &options, &out));
        assert_int_equal(rbli_collection_size(out, "convex"), 30);
        const int32_t *bone = rbli_collection_read(out, "convex", "bone", RBL_INT32);
        const double *volume = rbli_collection_read(out, "convex", "volume", RBL_DOUBLE);
        const uint64_t *points = rbli_buffer_offsets(rbli_collection_buffer(out, "convex", "points"));
        const uint64_t *faces = rbli_buffer_offsets(rbli_collection_buffer(out, "convex", "faces"));
        for (size_t i = 0; i < 30; i++) {
            assert_int_equal(bone[i], i + 1);
            assert_close(volume[i], 6, 1e-12);
            assert_int_equal(points[i + 1] - points[i], 8);
            assert_int_equal(faces[i + 1] - faces[i], 12);
        }
        assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
        rbli_collection_release(out);
        rbli_collection_release(c);
        finish_context(ctx);
    }
}

static void selected_bones_change_and_others_stay(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[3][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{2, 0, 0}, {3, 1, 1}}, {{4, 0, 0}, {5, 1, 1}}};
    rbl_collection *c = make_solids(ctx, 3, (const double(*)[2][3])boxes), *some = NULL, *all = NULL;
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    rbli_selection *selection = NULL;
    const int32_t bones[] = {2};
    assert_ok(ctx, rbli_selection_create(ctx, c, bones, 1, &selection));
    options.selection = selection;
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, c, &options, &some));
    assert_int_equal(rbli_collection_size(some, "convex"), 1);
    double *volume;
    assert_ok(ctx, rbli_collection_write(ctx, some, "convex", "volume", RBL_DOUBLE, (void **)&volume));
    volume[0] = 77;
    options.selection = NULL;
    options.source = RBLI_HULL_KEEP;
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, some, &options, &all));
    assert_int_equal(rbli_collection_size(all, "convex"), 3);
    const double *volumes = rbli_collection_read(all, "convex", "volume", RBL_DOUBLE);
    assert_close(volumes[0], 1, 1e-12);
    assert_true(volumes[1] == 77);
    /* Nothing is missing any more: the hulls are shared. */
    rbl_collection *same = NULL;
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, all, &options, &same));
    assert_ptr_equal(
        rbli_collection_buffer(same, "convex", "points"), rbli_collection_buffer(all, "convex", "points"));
    rbli_collection_release(same);
    rbli_collection_release(all);
    options.source = RBLI_HULL_GEOMETRY;
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, some, &options, &all));
    volumes = rbli_collection_read(all, "convex", "volume", RBL_DOUBLE);
    assert_close(volumes[1], 1, 1e-12);
    rbli_collection_release(all);
    rbli_collection_release(some);
    rbli_collection_release(c);
    rbli_selection_release(selection);
    finish_context(ctx);
}

static void flat_pieces_are_named(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{2, 0, 0}, {3, 1, 0}}};
    rbl_collection *c = make_solids(ctx, 2, (const double(*)[2][3])boxes), *out = NULL;
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, c, &options, &out));
    assert_int_equal(rbli_messages_count(ctx->messages), 1);
    assert_int_equal(rbli_messages_get(ctx->messages, 0)->severity, RBLI_WARNING);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "box_1"));
    rbli_collection_release(out);
    options.hull.on_degenerate = RBLI_DEGENERATE_ERROR;
    out = NULL;
    assert_int_equal(rbli_create_leaf_hulls(ctx, c, &options, &out), RBL_ERR_MESH);
    assert_null(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_leaf_gets_its_hull),
        cmocka_unit_test(selected_bones_change_and_others_stay),
        cmocka_unit_test(flat_pieces_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
