#include "tests/nodes/node_help.h"

#define BOXES "\"boxes\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 3, \"group\": true}},\n"
#define LEAVES                                                                                               \
    BOXES "\"leaves\": {\"type\": \"CreateLeafConvexHulls\", \"in\": {\"collection\": \"boxes\"}},\n"

static size_t hulls_of(const rbl_collection *c, int32_t bone)
{
    const int32_t *owner = rbli_collection_read(c, "convex", "bone", RBL_INT32);
    size_t count = 0;
    for (size_t i = 0; i < rbli_collection_size(c, "convex"); i++)
        count += owner[i] == bone;
    return count;
}

static void clusters_get_hulls(void **state)
{
    (void)state;
    graph_run g = run_nodes(LEAVES
        "\"clusters\": {\"type\": \"ClusterConvexHulls\", \"in\": {\"collection\": \"leaves\"}},\n"
        "\"one\": {\"type\": \"MergeConvexHulls\", \"in\": {\"collection\": \"clusters\"}},\n"
        "\"simple\": {\"type\": \"SimplifyConvexHulls\", \"in\": {\"collection\": \"one\"}},\n"
        "\"shapes\": {\"type\": \"SetColliders\", \"in\": {\"collection\": \"simple\"}, \"params\":\n"
        "  {\"box_below\": 1.1}},\n"
        "\"space\": {\"type\": \"NegativeSpaceSpheres\", \"in\": {\"collection\": \"shapes\"}},\n"
        "\"none\": {\"type\": \"ClearConvexHulls\", \"in\": {\"collection\": \"space\"}},\n"
        "\"copied\": {\"type\": \"CopyConvexHullsFromRoot\", \"in\": {\"collection\": \"none\", \"from\": "
        "\"one\"}}",
        RBL_OK);
    assert_int_equal(hulls_of(collection_of(&g, "clusters"), 0), 2);
    assert_int_equal(hulls_of(collection_of(&g, "clusters"), 4), 2);
    assert_int_equal(hulls_of(collection_of(&g, "one"), 0), 1);
    assert_int_equal(rbli_collection_size(collection_of(&g, "simple"), "convex"), 7);
    const int32_t *shapes = rbli_collection_read(collection_of(&g, "shapes"), "bone", "collider", RBL_INT32);
    assert_int_equal(shapes[0], RBLI_COLLIDER_CONVEX);
    assert_int_equal(shapes[1], RBLI_COLLIDER_BOX);
    size_t spheres;
    points_of(&g, "space.points", &spheres);
    assert_int_equal(spheres, 0); /* boxes side by side fill their bounds */
    assert_int_equal(rbli_collection_size(collection_of(&g, "none"), "convex"), 0);
    assert_int_equal(rbli_collection_size(collection_of(&g, "copied"), "convex"), 1);
    end_run(&g);
}

static void clusters_need_hulls_of_pieces(void **state)
{
    (void)state;
    graph_run g = run_nodes(BOXES
        "\"clusters\": {\"type\": \"ClusterConvexHulls\", \"in\": {\"collection\": \"boxes\"}}",
        RBL_ERR_NOT_FOUND);
    assert_true(said(&g, "create them first"));
    end_run(&g);
}

static void no_cluster_needs_no_hulls(void **state)
{
    (void)state;
    graph_run g = run_nodes(BOXES
        "\"nobody\": {\"type\": \"SelectNone\", \"in\": {\"collection\": \"boxes\"}},\n"
        "\"clusters\": {\"type\": \"ClusterConvexHulls\", \"in\": {\"collection\": \"boxes\", "
        "\"selection\": \"nobody\"}}",
        RBL_OK);
    assert_int_equal(rbli_collection_size(collection_of(&g, "clusters"), "convex"), 0);
    end_run(&g);
}

static void convex_pieces_are_not_decomposed(void **state)
{
    (void)state;
    graph_run g = run_nodes(BOXES
        "\"leaves\": {\"type\": \"CreateLeafConvexHulls\", \"in\": {\"collection\": \"boxes\"}, \"params\":\n"
        "  {\"decomposition\": {\"max_hulls\": 4, \"protect_negative_space\": {\"enabled\": true}}}}",
        RBL_OK);
    assert_int_equal(rbli_collection_size(collection_of(&g, "leaves"), "convex"), 5);
    end_run(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_get_hulls),
        cmocka_unit_test(clusters_need_hulls_of_pieces),
        cmocka_unit_test(no_cluster_needs_no_hulls),
        cmocka_unit_test(convex_pieces_are_not_decomposed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
