#include "tests/check.h"

#include "fracture/base/rng.h"
#include "tests/failing_alloc.h"
#include "tests/make_asset.h"

static const int32_t *bone_ints(const rbl_collection *asset, const char *name)
{
    return rbli_collection_read(asset, "bone", name, RBL_INT32);
}

static void children_are_listed_in_order(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    rbli_children children;
    assert_ok(ctx, make_cube_row(ctx, 3, &asset));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 2, (int32_t[]){2, 0}, NULL, RBLI_BONE_CLUSTER, NULL));
    assert_ok(ctx, rbli_children_build(ctx, asset, &children));
    const int32_t start[] = {0, 4, 4, 5, 5, 5, 5}, child[] = {1, 2, 3, 5, 4};
    assert_memory_equal(children.start, start, sizeof start);
    assert_memory_equal(children.child, child, sizeof child);
    rbli_children_free(ctx, &children);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void added_bones_get_unique_names_and_levels(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    int32_t first = -1;
    assert_ok(ctx, make_cube_row(ctx, 1, &asset));
    const char *const names[] = {
        "cube_2", "cube", "cube", "new", "new", "", NULL, "new_2", "row", "row_sheet", "row_sheet"};
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 11, (int32_t[]){1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0},
                       names, RBLI_BONE_CLUSTER, &first));
    assert_int_equal(first, 2);
    const char *const expected[] = {"row", "cube", "cube_2", "cube_3", "cube_4", "new", "new_2", "bone",
        "bone_2", "new_2_2", "row_2", "row_sheet", "row_2_sheet"};
    for (size_t b = 0; b < 13; b++)
        assert_string_equal(rbli_collection_string(asset, "bone", "name", b), expected[b]);
    assert_int_equal(bone_ints(asset, "level")[2], 2);
    assert_int_equal(bone_ints(asset, "level")[4], 0);
    assert_int_equal(bone_ints(asset, "simulation_type")[4], RBLI_SIMULATION_DYNAMIC);
    assert_int_equal(bone_ints(asset, "geometry")[4], -1);
    assert_int_equal(bone_ints(asset, "site")[4], -1);
    assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_RANGES));
    rbli_hash before = rbli_collection_hash(asset);
    assert_int_equal(rbli_hierarchy_add_bones(ctx, asset, 1, (int32_t[]){13}, NULL, RBLI_BONE_RIGID, &first),
        RBL_ERR_ARGUMENT);
    assert_true(rbli_hash_equal(before, rbli_collection_hash(asset)));
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void transforms_multiply_down_the_hierarchy(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    double(*local)[16], (*world)[16];
    assert_ok(ctx, make_cube_row(ctx, 2, &asset));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 1, (int32_t[]){2}, NULL, RBLI_BONE_CLUSTER, NULL));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "transform", RBL_MAT4, (void **)&local));
    /* The root turns x to y and doubles; bone 2 is moved by 1 along x, bone 3 by 3 along z below it. */
    memcpy(local[0], (double[16]){0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1}, sizeof *local);
    local[3][14] = 3;
    assert_ok(ctx, rbli_hierarchy_world_transforms(ctx, asset, &world));
    assert_close(world[2][12], 5, 0);
    assert_close(world[2][13], 8, 0);
    assert_close(world[3][12], 5, 0);
    assert_close(world[3][13], 8, 0);
    assert_close(world[3][14], 13, 0);
    assert_close(world[3][1], 2, 0);
    rbli_free(ctx, world);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void sorting_renumbers_bones_everywhere(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    int32_t *parent;
    assert_ok(ctx, make_cube_row(ctx, 3, &asset));
    rbli_hash sorted = rbli_collection_hash(asset);
    assert_ok(ctx, rbli_hierarchy_sort(ctx, asset));
    assert_true(rbli_hash_equal(sorted, rbli_collection_hash(asset)));
    /* A new root above all comes last until it is sorted to the front. */
    assert_ok(ctx,
        rbli_hierarchy_add_bones(ctx, asset, 1, NULL, (const char *const[]){"top"}, RBLI_BONE_CLUSTER, NULL));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "parent", RBL_INT32, (void **)&parent));
    parent[0] = 4;
    assert_ok(ctx, rbli_hierarchy_sort(ctx, asset));
    assert_string_equal(rbli_collection_string(asset, "bone", "name", 0), "top");
    assert_string_equal(rbli_collection_string(asset, "bone", "name", 1), "row");
    assert_string_equal(rbli_collection_string(asset, "bone", "name", 2), "cube");
    assert_int_equal(bone_ints(asset, "level")[2], 2);
    assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "parent", RBL_INT32, (void **)&parent));
    parent[0] = 1;
    assert_int_equal(rbli_hierarchy_sort(ctx, asset), RBL_ERR_COLLECTION);
    assert_string_equal(
        rbli_messages_get(ctx->messages, 0)->text, "bone.parent: 5 bones are in or below a cycle");
    assert_int_equal(rbli_hierarchy_update_levels(ctx, asset), RBL_ERR_COLLECTION);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void removed_bones_take_their_things_along(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    bool *marks;
    assert_ok(ctx, make_cube_row(ctx, 4, &asset));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "face", "mark", RBL_BOOL, (void **)&marks));
    for (int f = 0; f < 48; f++)
        marks[f] = f / 12 == 2;
    rbli_hash before = rbli_collection_hash(asset);
    assert_ok(ctx, rbli_hierarchy_remove_bones(ctx, asset, (bool[5]){false}));
    assert_true(rbli_hash_equal(before, rbli_collection_hash(asset)));
    /* Without the cubes 2 and 4 no contact is left; without the root the others are roots. */
    assert_ok(ctx, rbli_hierarchy_remove_bones(ctx, asset, (bool[]){true, false, true, false, true}));
    assert_int_equal(rbli_collection_size(asset, "bone"), 2);
    assert_int_equal(rbli_collection_size(asset, "geometry"), 2);
    assert_int_equal(rbli_collection_size(asset, "vertex"), 16);
    assert_int_equal(rbli_collection_size(asset, "corner"), 72);
    assert_int_equal(rbli_collection_size(asset, "convex"), 2);
    assert_int_equal(rbli_collection_size(asset, "proximity"), 0);
    assert_int_equal(rbli_collection_size(asset, "connection"), 0);
    assert_string_equal(rbli_collection_string(asset, "bone", "name", 1), "cube_3");
    assert_int_equal(bone_ints(asset, "parent")[1], -1);
    assert_true(((const bool *)rbli_collection_read(asset, "face", "mark", RBL_BOOL))[12]);
    assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED));
    rbli_collection_release(asset);
    finish_context(ctx);
}

/// Random hierarchies and removals, against the properties that must hold; prints the seed of a failure.
static void random_removals_keep_world_transforms(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint32_t seed = 0; seed < 200; seed++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 1);
        rbl_collection *asset = NULL;
        size_t cubes = 1 + rbli_rng_below(&rng, 12);
        double(*local)[16], (*before)[16], (*after)[16];
        int32_t parents[20];
        bool remove[40] = {false};
        assert_ok(ctx, make_cube_row(ctx, cubes, &asset));
        for (int i = 0; i < 20; i++)
            parents[i] = (int32_t)rbli_rng_below(&rng, (uint32_t)cubes + 2) - 1;
        assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 10, parents, NULL, RBLI_BONE_CLUSTER, NULL));
        size_t count = rbli_collection_size(asset, "bone");
        assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "transform", RBL_MAT4, (void **)&local));
        for (size_t b = 0; b < count; b++) {
            remove[b] = rbli_rng_below(&rng, 3) == 0;
            for (int k = 0; k < 15; k++)
                if (k % 4 != 3) local[b][k] = rbli_rng_double(&rng) - 0.5;
        }
        assert_ok(ctx, rbli_hierarchy_world_transforms(ctx, asset, &before));
        assert_ok(ctx, rbli_hierarchy_remove_bones(ctx, asset, remove));
        assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_RANGES));
        assert_ok(ctx, rbli_hierarchy_world_transforms(ctx, asset, &after));
        size_t kept = 0;
        for (size_t b = 0; b < count; b++) {
            if (remove[b]) continue;
            for (int k = 0; k < 16; k++)
                if (!(before[b][k] - after[kept][k] < 1e-12 && after[kept][k] - before[b][k] < 1e-12)) {
                    print_error("seed %u, bone %zu\n", seed, b);
                    fail();
                }
            kept++;
        }
        assert_int_equal(kept, rbli_collection_size(asset, "bone"));
        rbli_free(ctx, before);
        rbli_free(ctx, after);
        rbli_collection_release(asset);
    }
    finish_context(ctx);
}

static void long_chains_need_no_stack(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    int32_t *parent, *leaves;
    double(*world)[16], (*local)[16];
    size_t count;
    bool *remove = rbli_alloc(ctx, LENGTH, sizeof *remove);
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &asset));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, LENGTH, NULL, NULL, RBLI_BONE_CLUSTER, NULL));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "parent", RBL_INT32, (void **)&parent));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "transform", RBL_MAT4, (void **)&local));
    /* Backwards: every parent is behind its child. */
    for (int32_t b = 0; b < LENGTH; b++) {
        parent[b] = b + 1 < LENGTH ? b + 1 : -1;
        local[b][12] = 1;
        remove[b] = b % 2 == 1;
    }
    assert_ok(ctx, rbli_hierarchy_sort(ctx, asset));
    assert_string_equal(rbli_collection_string(asset, "bone", "name", LENGTH - 1), "bone");
    assert_ok(ctx, rbli_collection_validate(ctx, asset, RBLI_VALIDATE_CLOSED));
    assert_int_equal(bone_ints(asset, "level")[LENGTH - 1], LENGTH - 1);
    assert_ok(ctx, rbli_hierarchy_remove_bones(ctx, asset, remove));
    assert_int_equal(bone_ints(asset, "level")[LENGTH / 2 - 1], LENGTH / 2 - 1);
    assert_ok(ctx, rbli_hierarchy_world_transforms(ctx, asset, &world));
    assert_close(world[LENGTH / 2 - 1][12], LENGTH - 1, 0);
    assert_ok(ctx, rbli_rigid_leaves(ctx, asset, NULL, &leaves, &count));
    assert_int_equal(count, 0);
    rbli_free(ctx, leaves);
    rbli_free(ctx, world);
    rbli_free(ctx, remove);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void leaves_are_rigid_solid_and_without_children(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    int32_t *leaves, *type;
    bool *sheet;
    size_t count;
    rbli_selection *selection = NULL;
    assert_ok(ctx, make_cube_row(ctx, 4, &asset));
    /* A sheet below bone 1 leaves it a leaf; a piece below bone 2 does not. */
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 2, (int32_t[]){1, 2}, NULL, RBLI_BONE_RIGID, NULL));
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "sheet", RBL_BOOL, (void **)&sheet));
    sheet[5] = true;
    assert_ok(ctx, rbli_rigid_leaves(ctx, asset, NULL, &leaves, &count));
    assert_int_equal(count, 3);
    assert_memory_equal(leaves, ((int32_t[]){1, 3, 4}), 3 * sizeof *leaves);
    rbli_free(ctx, leaves);

    assert_ok(ctx, rbli_selection_create(ctx, asset, (int32_t[]){4, 3, 4, 6}, 4, &selection));
    assert_int_equal(rbli_selection_count(selection), 3);
    assert_memory_equal(rbli_selection_bones(selection), ((int32_t[]){3, 4, 6}), 3 * sizeof *leaves);
    assert_ok(ctx, rbli_rigid_leaves(ctx, asset, selection, &leaves, &count));
    assert_int_equal(count, 2);
    rbli_free(ctx, leaves);
    /* Other attributes may change, names and parents may not. */
    assert_ok(ctx, rbli_collection_write(ctx, asset, "bone", "type", RBL_INT32, (void **)&type));
    type[3] = RBLI_BONE_CLUSTER;
    assert_true(rbli_selection_fits(selection, asset));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 1, NULL, NULL, RBLI_BONE_RIGID, NULL));
    assert_false(rbli_selection_fits(selection, asset));
    assert_int_equal(rbli_rigid_leaves(ctx, asset, selection, &leaves, &count), RBL_ERR_COLLECTION);
    rbli_selection_release(selection);
    rbli_selection_release(NULL);
    selection = NULL;
    assert_int_equal(rbli_selection_create(ctx, asset, (int32_t[]){-1}, 1, &selection), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_selection_create(ctx, asset, (int32_t[]){8}, 1, &selection), RBL_ERR_ARGUMENT);

    /* A selected cluster stands for the leaves below it. */
    assert_ok(ctx, rbli_selection_create(ctx, asset, (int32_t[]){0}, 1, &selection));
    assert_ok(ctx, rbli_rigid_leaves(ctx, asset, selection, &leaves, &count));
    assert_memory_equal(leaves, ((int32_t[]){1, 4}), 2 * sizeof *leaves);
    rbli_free(ctx, leaves);
    rbli_selection_release(selection);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static rbl_status do_everything(rbl_context *ctx, void *user)
{
    (void)user;
    rbl_status status;
    rbl_collection *asset = NULL;
    rbli_selection *selection = NULL;
    rbli_children children = {0};
    int32_t *leaves = NULL;
    double(*world)[16] = NULL;
    int32_t *parent;
    size_t count;
    rbli_hash before = {0};
    RBL_TRY(make_cube_row(ctx, 4, &asset));
    before = rbli_collection_hash(asset);
    RBL_TRY(rbli_hierarchy_add_bones(ctx, asset, 1, NULL, NULL, RBLI_BONE_CLUSTER, NULL));
    RBL_TRY(rbli_collection_write(ctx, asset, "bone", "parent", RBL_INT32, (void **)&parent));
    parent[0] = 5;
    before = rbli_collection_hash(asset);
    RBL_TRY(rbli_hierarchy_sort(ctx, asset));
    before = rbli_collection_hash(asset);
    RBL_TRY(rbli_hierarchy_remove_bones(ctx, asset, (bool[]){true, false, false, true, false, false}));
    before = rbli_collection_hash(asset);
    RBL_TRY(rbli_children_build(ctx, asset, &children));
    RBL_TRY(rbli_selection_create(ctx, asset, (int32_t[]){1, 2}, 2, &selection));
    RBL_TRY(rbli_rigid_leaves(ctx, asset, selection, &leaves, &count));
    RBL_TRY(rbli_hierarchy_world_transforms(ctx, asset, &world));
done:
    if (asset && !rbli_hash_is_zero(before))
        assert_true(rbli_hash_equal(before, rbli_collection_hash(asset)));
    rbli_free(ctx, world);
    rbli_free(ctx, leaves);
    rbli_selection_release(selection);
    rbli_children_free(ctx, &children);
    rbli_collection_release(asset);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(do_everything, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_are_listed_in_order),
        cmocka_unit_test(added_bones_get_unique_names_and_levels),
        cmocka_unit_test(transforms_multiply_down_the_hierarchy),
        cmocka_unit_test(sorting_renumbers_bones_everywhere),
        cmocka_unit_test(removed_bones_take_their_things_along),
        cmocka_unit_test(random_removals_keep_world_transforms),
        cmocka_unit_test(long_chains_need_no_stack),
        cmocka_unit_test(leaves_are_rigid_solid_and_without_children),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
