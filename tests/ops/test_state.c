#include "fracture/ops/state.h"

#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/// Root 0, boxes 1 and 2, cluster 3 with boxes 4 and 5.
static rbl_collection *make_tree(rbl_context *ctx)
{
    double boxes[2][2][3] = {{{0, 0, 0}, {2, 1, 1}}, {{2, 0, 0}, {3, 1, 1}}};
    rbl_collection *c = make_boxes(ctx, 2, (const double(*)[2][3])boxes);
    int32_t first, parents[2] = {0, 0};
    const char *cluster = "group", *names[2] = {"group_a", "group_b"};
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, parents, &cluster, RBLI_BONE_CLUSTER, &first));
    parents[0] = parents[1] = first;
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 2, parents, names, RBLI_BONE_RIGID, &first));
    add_box_geometry(ctx, c, 4, (double[3]){3, 0, 0}, (double[3]){4, 1, 1}, 0);
    add_box_geometry(ctx, c, 5, (double[3]){4, 0, 0}, (double[3]){5, 1, 1}, 0);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

static void anchors_go_down_and_types_do_not(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_tree(ctx), *out = NULL;
    rbli_selection *selection = NULL;
    const int32_t bones[] = {3};
    assert_ok(ctx, rbli_selection_create(ctx, c, bones, 1, &selection));
    assert_ok(ctx, rbli_set_anchored(ctx, c, selection, true, &out));
    const bool *anchored = rbli_collection_read(out, "bone", "anchored", RBL_BOOL);
    for (int b = 0; b < 6; b++)
        assert_int_equal(anchored[b], b >= 3);
    rbli_collection_release(out);
    assert_ok(ctx, rbli_set_simulation_type(ctx, c, selection, RBLI_SIMULATION_KINEMATIC, &out));
    const int32_t *types = rbli_collection_read(out, "bone", "simulation_type", RBL_INT32);
    for (int b = 0; b < 6; b++)
        assert_int_equal(types[b], b == 3 ? RBLI_SIMULATION_KINEMATIC : RBLI_SIMULATION_DYNAMIC);
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
    rbli_collection_release(out);
    rbli_selection_release(selection);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void thresholds_follow_level_size_and_material(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_tree(ctx), *out = NULL;
    const double thresholds[] = {100, 10, 1}, sizes[] = {0.9, 0.7};
    const char *materials[] = {"wood*", "p?int"};
    rbli_damage_options options = {.thresholds = thresholds, .threshold_count = 3};
    assert_ok(ctx, rbli_set_damage_thresholds(ctx, c, &options, &out));
    const double *values = rbli_collection_read(out, "bone", "damage_threshold", RBL_DOUBLE);
    const double by_level[6] = {100, 100, 100, 100, 10, 10};
    for (int b = 0; b < 6; b++)
        assert_true(values[b] == by_level[b]);
    rbli_collection_release(out);
    options.by = RBLI_THRESHOLD_SIZE;
    options.sizes = sizes;
    options.size_count = 2;
    assert_ok(ctx, rbli_set_damage_thresholds(ctx, c, &options, &out));
    values = rbli_collection_read(out, "bone", "damage_threshold", RBL_DOUBLE);
    /* 0.7 cubed of the volume 5 is 1.7 */
    const double by_size[6] = {100, 10, 1, 10, 1, 1};
    for (int b = 0; b < 6; b++)
        assert_true(values[b] == by_size[b]);
    rbli_collection_release(out);
    options.by = RBLI_THRESHOLD_MATERIAL;
    options.materials = materials;
    options.material_count = 2;
    assert_ok(ctx, rbli_set_damage_thresholds(ctx, c, &options, &out));
    values = rbli_collection_read(out, "bone", "damage_threshold", RBL_DOUBLE);
    for (int b = 0; b < 6; b++)
        assert_true(values[b] == 10);
    rbli_collection_release(out);
    options.material_count = 1;
    assert_ok(ctx, rbli_set_damage_thresholds(ctx, c, &options, &out));
    values = rbli_collection_read(out, "bone", "damage_threshold", RBL_DOUBLE);
    for (int b = 0; b < 6; b++)
        assert_true(values[b] == 1);
    rbli_collection_release(out);
    options.threshold_count = 0;
    assert_int_equal(rbli_set_damage_thresholds(ctx, c, &options, &out), RBL_ERR_ARGUMENT);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void clusters_weigh_what_is_below_them(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        rbl_context *ctx = make_context(threads);
        rbl_collection *c = make_tree(ctx), *out = NULL;
        double(*transforms)[16];
        /* The cluster is moved by 10 along y and its first box is twice as large. */
        assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transforms));
        transforms[3][13] = 10;
        for (int k = 0; k < 3; k++)
            transforms[4][5 * k] = 2;
        const rbli_material_density paint[] = {{"paint", 2}};
        rbli_set_mass_options options = {.density = 1000, .materials = paint, .material_count = 1};
        assert_ok(ctx, rbli_set_mass(ctx, c, &options, &out));
        const double *mass = rbli_collection_read(out, "bone", "mass", RBL_DOUBLE);
        const double(*center)[3] = rbli_collection_read(out, "bone", "center_of_mass", RBL_VEC3);
        const double(*inertia)[3] = rbli_collection_read(out, "bone", "inertia", RBL_VEC3);
        const double masses[6] = {4 + 2 + 18, 4, 2, 18, 16, 2};
        for (int b = 0; b < 6; b++)
            assert_close(mass[b], masses[b], 1e-12);
        assert_close(center[4][0], 3.5, 1e-12); /* in its own frame */
        assert_close(center[3][0], (16 * 7 + 2 * 4.5) / 18, 1e-12);
        assert_close(center[3][1], (16 * 1 + 2 * 0.5) / 18, 1e-12);
        assert_close(center[0][1], (6 * 0.5 + 18 * (10 + 17. / 18)) / 24, 1e-12);
        assert_close(inertia[1][0], 4. / 12 * 2, 1e-12);
        assert_close(inertia[1][1], 4. / 12 * 5, 1e-12);
        assert_close(inertia[4][2], 16. / 12 * 8, 1e-11);
        rbli_collection_release(out);
        rbli_collection_release(c);
        finish_context(ctx);
    }
}

static void removal_is_written_for_the_selection(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_tree(ctx), *out = NULL;
    rbli_selection *selection = NULL;
    const int32_t bones[] = {2, 5};
    rbli_removal_options options = rbli_removal_default_options();
    options.on_sleep = true;
    assert_ok(ctx, rbli_selection_create(ctx, c, bones, 2, &selection));
    assert_ok(ctx, rbli_set_removal(ctx, c, selection, &options, &out));
    const bool *on_sleep = rbli_collection_read(out, "bone", "remove_on_sleep", RBL_BOOL);
    const double(*time)[2] = rbli_collection_read(out, "bone", "sleep_time", RBL_VEC2);
    for (int b = 0; b < 6; b++) {
        assert_int_equal(on_sleep[b], b == 2 || b == 5);
        assert_true(time[b][1] == (b == 2 || b == 5 ? 10 : 0));
    }
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
    rbli_collection_release(out);
    rbli_selection_release(selection);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anchors_go_down_and_types_do_not),
        cmocka_unit_test(thresholds_follow_level_size_and_material),
        cmocka_unit_test(clusters_weigh_what_is_below_them),
        cmocka_unit_test(removal_is_written_for_the_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
