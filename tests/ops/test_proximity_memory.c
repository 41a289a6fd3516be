#include "tests/failing_alloc.h"

#include "fracture/ops/connection_graph.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/* Each allocation of Proximity and ConnectionGraph fails once; inputs come from an ordinary context. */

static rbl_context *ordinary;
static rbl_collection *plain, *hulled;

static int make_input(void **state)
{
    (void)state;
    double corners[8][2][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) {
            corners[i][0][k] = (i >> k & 1) + (k == 2 && (i & 1) ? 0.25 : 0);
            corners[i][1][k] = corners[i][0][k] + 1;
        }
    ordinary = make_context(1);
    plain = make_boxes(ordinary, 8, (const double(*)[2][3])corners);
    assert_ok(ordinary, rbli_surface_fill_flat_normals(ordinary, plain));
    assert_ok(ordinary, rbli_surface_measure(ordinary, plain, 0));
    double(*transform)[16];
    assert_ok(ordinary,
        rbli_collection_write(ordinary, plain, "bone", "transform", RBL_MAT4, (void **)(void *)&transform));
    transform[8][0] = -1; /* one is mirrored in place */
    transform[8][12] = 3;
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

static rbl_status run_proximity(rbl_context *ctx, void *user)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_proximity(ctx, hulled, user, &out);
    rbli_collection_release(out);
    return status;
}

static rbl_status run_connections(rbl_context *ctx, void *user)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_connection_graph(ctx, plain, user, &out);
    rbli_collection_release(out);
    return status;
}

static rbl_status run_plain_hulls(rbl_context *ctx, void *user)
{
    rbl_collection *out = NULL;
    rbl_status status = rbli_proximity(ctx, plain, user, &out);
    rbli_collection_release(out);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rbli_proximity_options options[] = {
        {.shared_vertices = true,
            .recorded = true,
            .contact_area = RBLI_AREA_GEOMETRY,
            .connection_graph = true},
        {.contact_threshold = 0.1, .contact_filter = RBLI_FILTER_BOUNDS},
        {.contact_threshold = 0.1, .contact_filter = RBLI_FILTER_SHARP, .contact_area = RBLI_AREA_HULL},
        {.method = RBLI_PROXIMITY_HULL, .distance_threshold = 0.1, .contact_area = RBLI_AREA_GEOMETRY},
        {.method = RBLI_PROXIMITY_HULL, .contact_threshold = 0.1, .contact_filter = RBLI_FILTER_AREA},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        assert_true(fail_each_allocation(run_proximity, &options[i], 150) > 0);
        assert_true(fail_each_allocation(run_plain_hulls, &options[i], 150) > 0);
    }
    for (int method = RBLI_CONNECT_PROXIMITY; method <= RBLI_CONNECT_NONE; method++) {
        rbli_connection_options connections = {(rbli_connection_method)method, 0.5, 1};
        assert_true(fail_each_allocation(run_connections, &connections, 150) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, make_input, free_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
