#include "tests/failing_alloc.h"

#include "fracture/geometry/convex_hull.h"
#include "fracture/geometry/fuse.h"
#include "fracture/geometry/primitive.h"
#include "fracture/ops/auto_cluster.h"
#include "fracture/ops/color_pieces.h"
#include "fracture/ops/exploded_view.h"
#include "fracture/ops/fix_tiny.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/scatter.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/* Each allocation of the kernels and operations on pieces fails once; inputs come from an ordinary context.
 */

static rbl_context *ordinary;
static rbl_collection *boxes;

static int make_input(void **state)
{
    (void)state;
    double corners[12][2][3];
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++) {
            int at[3] = {i % 4, i / 4, 0};
            corners[i][0][k] = at[k];
            corners[i][1][k] = at[k] + 1;
        }
    ordinary = make_context(1);
    boxes = make_boxes(ordinary, 12, (const double(*)[2][3])corners);
    assert_ok(ordinary, rbli_surface_fill_flat_normals(ordinary, boxes));
    assert_ok(ordinary, rbli_surface_measure(ordinary, boxes, 0));
    return 0;
}

static int free_input(void **state)
{
    (void)state;
    rbli_collection_release(boxes);
    finish_context(ordinary);
    return 0;
}

static rbl_status fix_tiny(
    rbl_context *ctx, const rbl_collection *c, const rbli_fix_tiny_options *options, rbl_collection **out)
{
    rbli_fix_tiny_result made = {0};
    rbl_status status = rbli_fix_tiny(ctx, c, options, &made);
    rbli_free(ctx, made.bones);
    *out = made.collection;
    return status;
}

static rbl_status run_operation(rbl_context *ctx, void *user)
{
    rbl_collection *out = NULL;
    rbl_status status = RBL_ERR_INTERNAL;
    switch (*(int *)user) {
    case 0: {
        rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
        status = rbli_create_leaf_hulls(ctx, boxes, &options, &out);
        break;
    }
    case 1: {
        rbli_proximity_options options = {.contact_area = true, .connection_graph = true};
        status = rbli_proximity(ctx, boxes, &options, &out);
        break;
    }
    case 2: {
        rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
        options.cluster.count = 3;
        rbli_cluster_edit made = {0};
        status = rbli_auto_cluster(ctx, boxes, &options, &made);
        rbli_free(ctx, made.bones);
        out = made.collection;
        break;
    }
    case 3:
    case 4: {
        rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
        options.select_by = RBLI_TINY_VOLUME_CUBE_ROOT;
        options.min_volume_cube_root = 1.1;
        options.merge = *(int *)user == 3 ? RBLI_TINY_GEOMETRY : RBLI_TINY_CLUSTERS;
        status = fix_tiny(ctx, boxes, &options, &out);
        break;
    }
    case 5:
        status = rbli_exploded_view(ctx, boxes, 1, &out);
        break;
    case 6:
        status = rbli_color_pieces(ctx, boxes, RBLI_COLOR_BONE, 0, &out);
        break;
    case 7: {
        rbli_scatter_options options = rbli_scatter_default_options();
        double(*points)[3], low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
        size_t count;
        options.inside = boxes;
        options.min_distance = 0.01;
        options.relax = 1;
        status = rbli_scatter_points(ctx, low, high, &options, &points, &count);
        if (status == RBL_OK) rbli_free(ctx, points);
        break;
    }
    case 8: {
        rbli_primitive primitive;
        double size[3] = {1, 1, 1};
        status = rbli_primitive_make(ctx, RBLI_PRIMITIVE_SPHERE, size, 24, &primitive);
        if (status != RBL_OK) break;
        rbli_hull hull;
        rbli_hull_options options = rbli_hull_default_options();
        status = rbli_convex_hull(
            ctx, (const double(*)[3])primitive.positions, primitive.vertex_count, &options, &hull);
        if (status == RBL_OK) rbli_hull_free(ctx, &hull);
        rbli_primitive_free(ctx, &primitive);
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
        assert_true(fail_each_allocation(run_operation, &i, 300) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, make_input, free_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
