#include "fracture/ops/hull_ops.h"

#include "fracture/ops/hull_group.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/surface.h"
#include "tests/geometry/hull_check.h"
#include "tests/ops/asset_builder.h"

/// Root 0 with boxes 1 and 2 of unit length, cluster 3 with boxes 4 and 5 at x = 6; leaves have hulls. The
/// cluster's frame is moved by 2.
static rbl_collection *make_tree(rbl_context *ctx)
{
    double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{1, 0, 0}, {2, 1, 1}}}, (*transforms)[16];
    rbl_collection *c = make_boxes(ctx, 2, (const double(*)[2][3])boxes), *out = NULL;
    int32_t first, parents[2] = {0, 0};
    const char *cluster = "group", *names[2] = {"group_a", "group_b"};
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, parents, &cluster, RBLI_BONE_CLUSTER, &first));
    parents[0] = parents[1] = first;
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 2, parents, names, RBLI_BONE_RIGID, &first));
    add_box_geometry(ctx, c, 4, (double[3]){4, 0, 0}, (double[3]){5, 1, 1}, 0);
    add_box_geometry(ctx, c, 5, (double[3]){5, 0, 0}, (double[3]){6, 1, 1}, 0);
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transforms));
    transforms[3][12] = 2;
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, c, &options, &out));
    rbli_collection_release(c);
    return out;
}

static size_t count_of(rbl_context *ctx, const rbl_collection *c, size_t bone)
{
    rbli_hull_rows rows;
    assert_ok(ctx, rbli_hull_rows_build(ctx, c, &rows));
    size_t count = rows.start[bone + 1] - rows.start[bone];
    rbli_hull_rows_free(ctx, &rows);
    return count;
}

static rbli_hull hull_of(rbl_context *ctx, const rbl_collection *c, size_t bone, size_t index)
{
    rbli_hull_rows rows;
    assert_ok(ctx, rbli_hull_rows_build(ctx, c, &rows));
    assert_true(rows.start[bone] + index < rows.start[bone + 1]);
    rbli_hull hull = rbli_hull_get(c, (size_t)rows.row[rows.start[bone] + index]);
    rbli_hull_rows_free(ctx, &rows);
    return hull;
}

static void cleared_and_copied(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_tree(ctx), *none = NULL, *some = NULL, *merged = NULL, *copied = NULL;
    rbli_selection *selection = NULL;
    const int32_t bones[] = {4};
    assert_ok(ctx, rbli_clear_hulls(ctx, c, NULL, &none));
    assert_int_equal(rbli_collection_size(none, "convex"), 0);
    assert_ok(ctx, rbli_selection_create(ctx, c, bones, 1, &selection));
    assert_ok(ctx, rbli_clear_hulls(ctx, c, selection, &some));
    assert_int_equal(rbli_collection_size(some, "convex"), 3);
    assert_int_equal(count_of(ctx, some, 4), 0);
    rbli_merge_hulls_options options = {.merge = rbli_hull_merge_default_options(), .max_vertices = 64};
    assert_ok(ctx, rbli_cluster_hulls(ctx, c, RBLI_HULLS_OF_LEAVES, &options, &merged));
    assert_ok(ctx, rbli_copy_root_hulls(ctx, none, merged, true, &copied));
    assert_int_equal(rbli_collection_size(copied, "convex"), 1);
    assert_close(hull_of(ctx, copied, 0, 0).volume, 8, 1e-9);
    rbli_collection_release(copied);
    assert_ok(ctx, rbli_copy_root_hulls(ctx, merged, none, true, &copied));
    assert_int_equal(count_of(ctx, copied, 0), 1);
    rbli_collection_release(copied);
    assert_ok(ctx, rbli_copy_root_hulls(ctx, merged, none, false, &copied));
    assert_int_equal(count_of(ctx, copied, 0), 0);
    rbli_collection_release(copied);
    rbli_collection_release(merged);
    rbli_collection_release(some);
    rbli_collection_release(none);
    rbli_collection_release(c);
    rbli_selection_release(selection);
    finish_context(ctx);
}

static void clusters_get_the_hulls_of_their_pieces(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++)
        for (int source = 0; source < 2; source++) {
            rbl_context *ctx = make_context(threads);
            rbl_collection *c = make_tree(ctx), *out = NULL, *twice = NULL;
            rbli_merge_hulls_options options = {
                .merge = rbli_hull_merge_default_options(), .max_vertices = 64};
            options.merge.max_hulls = 2;
            options.merge.distance = 0.001;
            assert_ok(ctx, rbli_cluster_hulls(ctx, c, (rbli_cluster_hull_source)source, &options, &out));
            assert_int_equal(count_of(ctx, out, 0), 2);
            assert_int_equal(count_of(ctx, out, 3), 2);
            assert_int_equal(count_of(ctx, out, 1), 1);
            double volume = 0;
            for (size_t i = 0; i < 2; i++)
                volume += hull_of(ctx, out, 0, i).volume;
            assert_close(volume, 4, 1e-9); /* two and two: the gap stays free */
            assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
            options.merge.max_hulls = 1;
            options.merge.distance = -1;
            assert_ok(ctx, rbli_merge_hulls(ctx, out, &options, &twice));
            assert_int_equal(count_of(ctx, twice, 0), 1);
            assert_close(hull_of(ctx, twice, 0, 0).volume, 8, 1e-9);
            assert_close(hull_of(ctx, twice, 3, 0).volume, 2, 1e-9);
            double low[3], high[3];
            rbli_hull group = hull_of(ctx, twice, 3, 0);
            rbli_hull_bounds(&group, low, high);
            assert_close(low[0], 4, 1e-9); /* in the cluster's frame */
            rbli_collection_release(twice);
            rbli_negative_space_options protect = rbli_negative_space_default_options();
            options.protect = &protect;
            assert_ok(ctx, rbli_merge_hulls(ctx, out, &options, &twice));
            assert_int_equal(count_of(ctx, twice, 0), 2);
            rbli_collection_release(twice);
            rbli_collection_release(out);
            rbli_collection_release(c);
            finish_context(ctx);
        }
}

static void clusters_without_hulls_below_say_so(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_tree(ctx), *none = NULL, *out = NULL;
    rbli_merge_hulls_options options = {.merge = rbli_hull_merge_default_options(), .max_vertices = 64};
    assert_ok(ctx, rbli_clear_hulls(ctx, c, NULL, &none));
    assert_int_equal(rbli_cluster_hulls(ctx, none, RBLI_HULLS_OF_LEAVES, &options, &out), RBL_ERR_NOT_FOUND);
    rbli_collection_release(none);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void simpler_hulls_replace_the_old(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *c = make_tree(ctx), *round = NULL, *out = NULL;
    rbli_rng rng = rbli_rng_make(2, RBLI_RNG_TEST, 0);
    rbli_hull balls[2];
    rbli_hull_row rows[2];
    for (int i = 0; i < 2; i++) {
        random_hull(ctx, &rng, 100, (double[3]){0, 0, 0}, 1, &balls[i]);
        rows[i] = (rbli_hull_row){i + 1, -1, &balls[i]};
    }
    assert_ok(ctx, rbli_collection_copy(ctx, c, &round));
    assert_ok(ctx, rbli_hull_group_write(ctx, c, rows, 2, round));
    rbli_simplify_options options = rbli_simplify_default_options();
    for (int method = 0; method < 3; method++) {
        options.method = (rbli_simplify_method)method;
        options.angle = 0.5;
        assert_ok(ctx, rbli_simplify_hulls(ctx, round, &options, &out));
        assert_int_equal(rbli_collection_size(out, "convex"), 2);
        for (int i = 0; i < 2; i++) {
            rbli_hull hull = hull_of(ctx, out, (size_t)i + 1, 0);
            check_hull(&hull);
            check_holds(&hull, (const double(*)[3])balls[i].points, balls[i].point_count);
            assert_true(hull.point_count < balls[i].point_count);
            if (method == 0) assert_true(hull.point_count <= 32);
        }
        rbli_collection_release(out);
    }
    assert_true(rbli_messages_count(ctx->messages) >= 3);
    rbli_hull_free(ctx, &balls[0]);
    rbli_hull_free(ctx, &balls[1]);
    rbli_collection_release(round);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void shapes_go_by_size(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_tree(ctx), *out = NULL;
    rbli_collider_options options = {0};
    assert_ok(ctx, rbli_set_colliders(ctx, c, &options, &out));
    const int32_t *shapes = rbli_collection_read(out, "bone", "collider", RBL_INT32);
    for (int b = 0; b < 6; b++)
        assert_int_equal(shapes[b], RBLI_COLLIDER_CONVEX);
    rbli_collection_release(out);
    /* Volumes are 4 for the root, 2 for the cluster and 1 for each piece. */
    options = (rbli_collider_options){.convex_above = 1.5, .sphere_below = 1.1, .none_below = 0.5};
    assert_ok(ctx, rbli_set_colliders(ctx, c, &options, &out));
    shapes = rbli_collection_read(out, "bone", "collider", RBL_INT32);
    assert_int_equal(shapes[0], RBLI_COLLIDER_CONVEX);
    assert_int_equal(shapes[1], RBLI_COLLIDER_SPHERE);
    assert_int_equal(shapes[3], RBLI_COLLIDER_BOX);
    rbli_collection_release(out);
    options = (rbli_collider_options){.box_below = 1.1, .none_below = 1.05};
    assert_ok(ctx, rbli_set_colliders(ctx, c, &options, &out));
    shapes = rbli_collection_read(out, "bone", "collider", RBL_INT32);
    assert_int_equal(shapes[0], RBLI_COLLIDER_CONVEX);
    assert_int_equal(shapes[1], RBLI_COLLIDER_NONE);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void spheres_lie_between_the_pieces(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_tree(ctx), *out = NULL;
    rbli_negative_space_options options = rbli_negative_space_default_options();
    assert_ok(ctx, rbli_write_negative_space(ctx, c, NULL, &options, &out));
    size_t count = rbli_collection_size(out, "negative_space");
    const double(*centers)[3] = rbli_collection_read(out, "negative_space", "center", RBL_VEC3);
    const double *radii = rbli_collection_read(out, "negative_space", "radius", RBL_DOUBLE);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++)
        assert_true(centers[i][0] - radii[i] > 2 && centers[i][0] + radii[i] < 6);
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cleared_and_copied),
        cmocka_unit_test(clusters_get_the_hulls_of_their_pieces),
        cmocka_unit_test(clusters_without_hulls_below_say_so),
        cmocka_unit_test(simpler_hulls_replace_the_old),
        cmocka_unit_test(shapes_go_by_size),
        cmocka_unit_test(spheres_lie_between_the_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
