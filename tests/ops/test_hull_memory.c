#include "tests/failing_alloc.h"

#include "fracture/geometry/hull_decompose.h"
#include "fracture/ops/hull_ops.h"
#include "fracture/ops/hull_overlap.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/state.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/* Each allocation of the operations on hulls and state fails once; inputs come from an ordinary context. */

static rbl_context *ordinary;
static rbl_collection *plain, *hulled;

static int make_input(void **state)
{
    (void)state;
    double corners[6][2][3];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++) {
            int at[3] = {i % 3, i / 3, 0};
            corners[i][0][k] = at[k];
            corners[i][1][k] = at[k] + (k == 0 ? 1.1 : 1); /* neighbours along x overlap */
        }
    ordinary = make_context(1);
    plain = make_boxes(ordinary, 6, (const double(*)[2][3])corners);
    assert_ok(ordinary, rbli_surface_fill_flat_normals(ordinary, plain));
    assert_ok(ordinary, rbli_surface_measure(ordinary, plain, 0));
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    assert_ok(ordinary, rbli_create_leaf_hulls(ordinary, plain, &options, &hulled));
    return 0;
}

static int free_input(void **state)
{
    (void)state;
    rbli_collection_release(plain);
    rbli_collection_release(hulled);
    finish_context(ordinary);
    return 0;
}

/// A block with a notch.
static rbl_status decompose_notch(rbl_context *ctx)
{
    static const double corners[12][3] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {1, 1, 0}, {1, 2, 0}, {0, 2, 0},
        {0, 0, 1}, {2, 0, 1}, {2, 1, 1}, {1, 1, 1}, {1, 2, 1}, {0, 2, 1}};
    static const int32_t faces[20][3] = {{0, 3, 1}, {1, 3, 2}, {0, 5, 3}, {3, 5, 4}, {6, 7, 9}, {7, 8, 9},
        {6, 9, 11}, {9, 10, 11}, {0, 1, 7}, {0, 7, 6}, {1, 2, 8}, {1, 8, 7}, {2, 3, 9}, {2, 9, 8}, {3, 4, 10},
        {3, 10, 9}, {4, 5, 11}, {4, 11, 10}, {5, 0, 6}, {5, 6, 11}};
    rbli_mesh_view mesh = {corners, 12, faces, 20};
    rbli_negative_space_options protect = {.samples = 2, .tolerance = 0, .min_radius = 0.1};
    rbli_decompose_options options = rbli_decompose_default_options();
    rbli_hull_options hull = rbli_hull_default_options();
    rbli_hull_set set;
    options.max_hulls = 2;
    options.additional_splits = 1;
    options.protect = &protect;
    rbl_status status = rbli_hull_decompose(ctx, &mesh, &options, &hull, &set);
    if (status == RBL_OK) rbli_hull_set_free(ctx, &set);
    return status;
}

static rbl_status set_state(rbl_context *ctx, rbl_collection **out)
{
    const double thresholds[] = {3, 2};
    const char *materials[] = {"paint"};
    const rbli_material_density densities[] = {{"paint", 5}};
    rbl_collection *mass = NULL;
    rbli_damage_options damage = {.by = RBLI_THRESHOLD_MATERIAL,
        .thresholds = thresholds,
        .threshold_count = 2,
        .materials = materials,
        .material_count = 1};
    rbli_set_mass_options options = {.density = 1, .materials = densities, .material_count = 1};
    rbl_status status = rbli_set_mass(ctx, plain, &options, &mass);
    if (status == RBL_OK) status = rbli_set_damage_thresholds(ctx, mass, &damage, out);
    rbli_collection_release(mass);
    return status;
}

static rbl_status run_operation(rbl_context *ctx, void *user)
{
    rbl_collection *out = NULL;
    rbl_status status = RBL_ERR_INTERNAL;
    rbli_merge_hulls_options merge = {.merge = rbli_hull_merge_default_options(), .max_vertices = 64};
    merge.merge.distance = 0.001;
    switch (*(int *)user) {
    case 0: {
        rbli_overlap_options options = rbli_overlap_default_options();
        status = rbli_separate_hulls(ctx, hulled, &options, NULL, &out);
        break;
    }
    case 1:
        status = rbli_cluster_hulls(ctx, hulled, RBLI_HULLS_OF_LEAVES, &merge, &out);
        break;
    case 2: {
        rbli_simplify_options options = rbli_simplify_default_options();
        options.method = RBLI_SIMPLIFY_QSLIM;
        options.min_triangles = 4;
        status = rbli_simplify_hulls(ctx, hulled, &options, &out);
        break;
    }
    case 3:
        status = decompose_notch(ctx);
        break;
    case 4:
        status = set_state(ctx, &out);
        break;
    case 5: {
        rbli_collider_options options = {.box_below = 1};
        status = rbli_set_colliders(ctx, hulled, &options, &out);
        break;
    }
    case 6:
        status = rbli_copy_root_hulls(ctx, plain, hulled, false, &out);
        break;
    case 7: {
        rbli_negative_space_options options = {.samples = 2, .tolerance = 0, .min_radius = 0.1};
        status = rbli_write_negative_space(ctx, hulled, NULL, &options, &out);
        break;
    }
    case 8: {
        rbli_simplify_options options = rbli_simplify_default_options();
        options.method = RBLI_SIMPLIFY_ANGLE;
        status = rbli_simplify_hulls(ctx, hulled, &options, &out);
        break;
    }
    }
    rbli_collection_release(out);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int i = 0; i < 9; i++)
        assert_true(fail_each_allocation(run_operation, &i, 150) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, make_input, free_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
