#include "fracture/ops/auto_cluster.h"
#include "fracture/ops/fix_tiny.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/state.h"
#include "fracture/ops/surface.h"
#include "tests/failing_alloc.h"
#include "tests/ops/asset_builder.h"

/* Every allocation of what groups and joins pieces may fail, on a collection that has everything: hulls, masses,
   contacts, connections, clusters in clusters, a sheet. */

enum { WIDE = 5, HIGH = 4, COUNT = WIDE * HIGH };

static rbl_context *ordinary;
static rbl_collection *pieces;
static rbli_selection *some, *clusters;

static int make_input(void **state)
{
    (void)state;
    double boxes[COUNT][2][3];
    rbl_collection *c, *next;
    void *out;
    ordinary = make_context(1);
    for (int i = 0; i < COUNT; i++) {
        double low[3] = {i % WIDE, i / WIDE, 0};
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = low[k];
            boxes[i][1][k] = low[k] + 1;
        }
    }
    c = make_boxes(ordinary, COUNT, (const double(*)[2][3])boxes);
    const char *names[] = {"left", "right", "middle", "inner", "box_0_sheet"};
    int32_t parents[] = {0, 0, 0, 0, 1}, first, *parent;
    assert_ok(ordinary, rbli_hierarchy_add_bones(ordinary, c, 4, parents, names, RBLI_BONE_CLUSTER, &first));
    assert_ok(
        ordinary, rbli_hierarchy_add_bones(ordinary, c, 1, parents + 4, names + 4, RBLI_BONE_RIGID, NULL));
    add_box_geometry(ordinary, c, first + 4, (double[3]){0, 0, 0}, (double[3]){1, 1, 1}, 0);
    assert_ok(ordinary, rbli_collection_write(ordinary, c, "bone", "sheet", RBL_BOOL, &out));
    ((bool *)out)[first + 4] = true;
    assert_ok(ordinary, rbli_collection_write(ordinary, c, "bone", "parent", RBL_INT32, &out));
    parent = out;
    parent[first + 3] = first + 2;
    for (int i = 0; i < COUNT; i++)
        parent[1 + i] = i % WIDE < 2 ? first : i % WIDE < 3 ? first + (i / WIDE < 2 ? 2 : 3) : first + 1;
    assert_ok(ordinary, rbli_hierarchy_sort(ordinary, c));
    assert_ok(ordinary, rbli_surface_fill_flat_normals(ordinary, c));
    assert_ok(ordinary, rbli_surface_measure(ordinary, c, 0));
    rbli_proximity_options proximity = {.contact_area = RBLI_AREA_GEOMETRY, .connection_graph = true};
    assert_ok(ordinary, rbli_proximity(ordinary, c, &proximity, &next));
    rbli_collection_release(c);
    rbli_leaf_hull_options hulls = rbli_leaf_hull_default_options();
    assert_ok(ordinary, rbli_create_leaf_hulls(ordinary, next, &hulls, &c));
    rbli_collection_release(next);
    rbli_set_mass_options mass = rbli_set_mass_default_options();
    assert_ok(ordinary, rbli_set_mass(ordinary, c, &mass, &pieces));
    rbli_collection_release(c);
    int32_t chosen[64], count = 0, cluster_bones[64], cluster_count = 0;
    const int32_t *type = rbli_collection_read(pieces, "bone", "type", RBL_INT32);
    const int32_t *level = rbli_collection_read(pieces, "bone", "level", RBL_INT32);
    for (size_t b = 0; b < rbli_collection_size(pieces, "bone"); b++) {
        if (b % 3 == 2) chosen[count++] = (int32_t)b;
        if (type[b] == RBLI_BONE_CLUSTER && level[b] == 1) cluster_bones[cluster_count++] = (int32_t)b;
    }
    assert_ok(ordinary, rbli_selection_create(ordinary, pieces, chosen, (size_t)count, &some));
    assert_ok(
        ordinary, rbli_selection_create(ordinary, pieces, cluster_bones, (size_t)cluster_count, &clusters));
    return 0;
}

static int free_input(void **state)
{
    (void)state;
    rbli_selection_release(some);
    rbli_selection_release(clusters);
    rbli_collection_release(pieces);
    finish_context(ordinary);
    return 0;
}

enum { CLUSTER, UNCLUSTER, FLATTEN, MERGE, ROOTS, MOVE_UP, MAGNET, NEIGHBORS, EDITS };

static rbl_status run_edit(rbl_context *ctx, void *user)
{
    rbli_cluster_edit made = {0};
    rbl_status status = RBL_ERR_INTERNAL;
    rbli_magnet_options magnet = {.selection = some, .iterations = 2, .clusters_of_one = true};
    rbli_merge_neighbors_options near = rbli_merge_neighbors_default_options();
    near.min_volume_cube_root = 2;
    near.only_connected = near.only_same_parent = false;
    switch (*(int *)user) {
    case CLUSTER:
        status = rbli_cluster_bones(ctx, pieces, some, "new", true, &made);
        break;
    case UNCLUSTER:
        status = rbli_uncluster(ctx, pieces, NULL, false, &made);
        break;
    case FLATTEN:
        status = rbli_flatten(ctx, pieces, NULL, &made);
        break;
    case MERGE:
        status = rbli_cluster_merge(ctx, pieces, clusters, false, &made);
        break;
    case ROOTS:
        status = rbli_cluster_isolated_roots(ctx, pieces, NULL, false, &made);
        break;
    case MOVE_UP:
        status = rbli_move_up(ctx, pieces, some, true, &made);
        break;
    case MAGNET:
        status = rbli_cluster_magnet(ctx, pieces, &magnet, &made);
        break;
    case NEIGHBORS:
        status = rbli_cluster_merge_to_neighbors(ctx, pieces, &near, &made);
        break;
    }
    rbli_collection_release(made.collection);
    rbli_free(ctx, made.bones);
    return status;
}

static rbl_status run_auto(rbl_context *ctx, void *user)
{
    int mode = *(int *)user;
    rbli_cluster_edit made = {0};
    rbli_auto_cluster_options o = rbli_auto_cluster_default_options();
    o.selection = clusters;
    o.by = (rbli_cluster_by)(mode % 4);
    o.cluster.count = 3;
    o.drift_iterations = 2;
    o.prefer_convexity = mode > 3;
    rbl_status status = rbli_auto_cluster(ctx, pieces, &o, &made);
    rbli_collection_release(made.collection);
    rbli_free(ctx, made.bones);
    return status;
}

static rbl_status run_fix(rbl_context *ctx, void *user)
{
    int mode = *(int *)user;
    rbli_fix_tiny_result made = {0};
    rbli_fix_tiny_options o = rbli_fix_tiny_default_options();
    o.select_by = RBLI_TINY_VOLUME_CUBE_ROOT;
    o.min_volume_cube_root = 1.3;
    o.merge = mode % 2 ? RBLI_TINY_CLUSTERS : RBLI_TINY_GEOMETRY;
    o.only_same_parent = o.on_fracture_level = o.only_connected = mode < 2;
    o.use_selection = mode < 2 ? RBLI_TINY_USE_NONE : RBLI_TINY_USE_INCLUDE;
    o.selection = some;
    rbl_status status = rbli_fix_tiny(ctx, pieces, &o, &made);
    rbli_collection_release(made.collection);
    rbli_free(ctx, made.bones);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (int i = 0; i < EDITS; i++)
        assert_true(fail_each_allocation(run_edit, &i, 120) > 0);
    for (int i = 0; i < 6; i++)
        assert_true(fail_each_allocation(run_auto, &i, 120) > 0);
    for (int i = 0; i < 4; i++)
        assert_true(fail_each_allocation(run_fix, &i, 150) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_allocation_may_fail, make_input, free_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
