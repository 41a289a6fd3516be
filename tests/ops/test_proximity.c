#include "fracture/ops/proximity.h"
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

/* Boxes under a root, whose contacts are known. */

static rbl_collection *make_octants(rbl_context *ctx)
{
    double boxes[8][2][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = 0.5 * (i >> k & 1);
            boxes[i][1][k] = boxes[i][0][k] + 0.5;
        }
    rbl_collection *c = make_solids(ctx, 8, (const double(*)[2][3])boxes);
    return c;
}

static void octants_touch_in_twelve_faces(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *c = make_octants(ctx), *out = NULL;
    rbli_proximity_options options = {.contact_area = true, .connection_graph = true};
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "proximity"), 12);
    assert_int_equal(rbli_collection_size(out, "connection"), 12);
    const double *area = rbli_collection_read(out, "proximity", "area", RBL_DOUBLE);
    const int32_t(*pairs)[2] = rbli_collection_read(out, "proximity", "geometries", RBL_INT32_2);
    for (int i = 0; i < 12; i++) {
        int difference = pairs[i][0] ^ pairs[i][1];
        assert_true(pairs[i][0] < pairs[i][1]);
        assert_true(difference == 1 || difference == 2 || difference == 4);
        assert_close(area[i], 0.25, 1e-12);
        if (i > 0)
            assert_true(pairs[i][0] > pairs[i - 1][0] ||
                        (pairs[i][0] == pairs[i - 1][0] && pairs[i][1] > pairs[i - 1][1]));
    }
    assert_false(rbli_collection_has_group(c, "proximity"));
    rbli_collection_release(out);
    options = (rbli_proximity_options){.contact_threshold = 0.3};
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "proximity"), 0);
    assert_false(rbli_collection_has_group(out, "connection"));
    rbli_collection_release(out);
    options = (rbli_proximity_options){0};
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    area = rbli_collection_read(out, "proximity", "area", RBL_DOUBLE);
    assert_true(area[0] == -1);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// Two clusters of two boxes each: leaf pairs across lift to one pair of clusters.
static void connections_join_siblings(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[4][2][3] = {
        {{0, 0, 0}, {1, 1, 1}}, {{0, 1, 0}, {1, 2, 1}}, {{1, 0, 0}, {2, 1, 1}}, {{1, 1, 0}, {2, 2, 1}}};
    rbl_collection *c = make_solids(ctx, 4, (const double(*)[2][3])boxes), *out = NULL;
    int32_t parents[2] = {0, 0}, first, *parent;
    const char *names[2] = {"left", "right"};
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 2, parents, names, RBLI_BONE_CLUSTER, &first));
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "parent", RBL_INT32, (void **)&parent));
    for (int i = 0; i < 4; i++)
        parent[1 + i] = first + i / 2;
    assert_ok(ctx, rbli_hierarchy_sort(ctx, c));
    rbli_proximity_options options = {.contact_area = true, .connection_graph = true};
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "proximity"), 4);
    assert_int_equal(rbli_collection_size(out, "connection"), 3);
    const int32_t(*bones)[2] = rbli_collection_read(out, "connection", "bones", RBL_INT32_2);
    const double *area = rbli_collection_read(out, "connection", "area", RBL_DOUBLE);
    const int32_t *up = rbli_collection_read(out, "bone", "parent", RBL_INT32);
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(up[bones[i][0]], up[bones[i][1]]);
        assert_close(area[i], up[bones[i][0]] == 0 ? 2 : 1, 1e-12);
        sum += area[i];
    }
    assert_close(sum, 4, 1e-12);
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_GEOMETRY));
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void transforms_of_bones_count(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}}, (*transform)[16];
    rbl_collection *c = make_solids(ctx, 2, (const double(*)[2][3])boxes), *out = NULL;
    rbli_proximity_options options = {.contact_area = true};
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transform));
    transform[2][12] = 1;
    transform[2][13] = 0.25;
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "proximity"), 1);
    const double *area = rbli_collection_read(out, "proximity", "area", RBL_DOUBLE);
    assert_close(area[0], 0.75, 1e-12);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octants_touch_in_twelve_faces),
        cmocka_unit_test(connections_join_siblings),
        cmocka_unit_test(transforms_of_bones_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
