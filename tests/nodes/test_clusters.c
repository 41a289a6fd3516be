#include "tests/nodes/node_help.h"

/* The nodes of the family clusters, by graphs. */

#define ROW "\"row\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 6, \"group\": true}}"
#define CHOOSE(bones)                                                                                        \
    ",\n\"chosen\": {\"type\": \"SelectCustom\", \"in\": {\"collection\": \"row\"}, \"params\": "            \
    "{\"bones\": "                                                                                           \
    "\"" bones "\"}}"
#define EDIT(type, bones, params)                                                                            \
    ROW CHOOSE(                                                                                              \
        bones) ",\n\"edit\": {\"type\": \"" type                                                             \
               "\", \"in\": {\"collection\": \"row\", \"selection\": \"chosen\"}, \"params\": {" params "}}"
#define EDIT_ALL(type, params)                                                                               \
    ROW ",\n\"edit\": {\"type\": \"" type "\", \"in\": {\"collection\": \"row\"}, \"params\": {" params "}}"

/// Names of the chosen bones, "box_0 group".
static const char *names_of(const graph_run *g, const char *port, const rbl_collection *c)
{
    static char text[2000];
    size_t count, used = 0;
    const int32_t *bones = rbl_value_selection(rbl_run_value(g->run, port), &count);
    text[0] = 0;
    for (size_t i = 0; i < count && used < sizeof text - 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "",
            rbli_collection_string(c, "bone", "name", (size_t)bones[i]));
    return text;
}

/* Bones: 0 root; 1 … 6 boxes in a row; 7 group; 8, 9 its cubes at the row's end. */
static void each_node_does_what_it_says(void **state)
{
    (void)state;
    const struct {
        const char *nodes, *port, *told;
        size_t bones;
        const char *message; /* NULL: any */
    } cases[] = {
        {EDIT("Cluster", "1-3", ""), "edit.new_clusters", "root_cluster", 11, NULL},
        {EDIT("Cluster", "1-3", "\"name\": \"left\""), "edit.new_clusters", "left", 11, NULL},
        {EDIT("Cluster", "4", ""), "edit.new_clusters", "", 10, "no cluster of one"},
        {EDIT("Cluster", "4", "\"clusters_of_one\": true"), "edit.new_clusters", "root_cluster", 11, NULL},
        {EDIT("Cluster", "1-7", ""), "edit.new_clusters", "", 10, "all that is below"},
        {EDIT("Uncluster", "7", ""), "edit.moved", "group_a group_b", 9, NULL},
        {EDIT("Uncluster", "0", ""), "edit.moved", "", 10, "a root stays"},
        {EDIT_ALL("Uncluster", ""), "edit.moved", "group_a group_b", 9, NULL},
        {EDIT_ALL("Flatten", ""), "edit.moved", "group_a group_b", 9, NULL},
        {EDIT("Flatten", "7", ""), "edit.moved", "", 10, "it is flat"},
        {EDIT("Flatten", "1", ""), "edit.moved", "", 10, "no cluster was chosen"},
        {EDIT("ClusterMerge", "5-7", ""), "edit.merged", "group", 10, NULL},
        {EDIT("ClusterMerge", "7", ""), "edit.merged", "", 10, "chosen alone"},
        {EDIT("ClusterMerge", "1, 2", ""), "edit.merged", "", 10, "no cluster was chosen"},
        {EDIT_ALL("ClusterIsolatedRoots", ""), "edit.new_clusters", "", 10, "no root is a piece"},
        {EDIT("MoveUp", "8", "\"clusters_of_one\": true"), "edit.moved", "group_a", 10, NULL},
        {EDIT("MoveUp", "8", ""), "edit.moved", "group_a group_b", 9, NULL},
        {EDIT("MoveUp", "0-7", ""), "edit.moved", "", 10, "no place to move up to"},
        {EDIT("ClusterMagnet", "3", ""), "edit.new_clusters", "box_2_cluster", 11, NULL},
        {EDIT("ClusterMagnet", "3", "\"iterations\": 2"), "edit.new_clusters", "box_2_cluster", 11, NULL},
        {EDIT("ClusterMagnet", "1-7", ""), "edit.new_clusters", "", 10, "gathered nothing"},
        {EDIT_ALL("ClusterMergeToNeighbors", ""), "edit.merged", "", 10, "no cluster is too small"},
        {EDIT("ClusterMergeToNeighbors", "7", ""), "edit.merged", "", 10, "no cluster that they may join"},
        {EDIT("ClusterMergeToNeighbors", "0-3", ""), "edit.merged", "", 10, "no cluster below a root"},
        {EDIT_ALL("AutoCluster", "\"count\": 3"), "edit.new_clusters",
            "root_cluster_0 root_cluster_1 root_cluster_2", 13, NULL},
        {EDIT_ALL("AutoCluster", "\"by\": \"grid\", \"grid\": [3, 1, 1]"), "edit.new_clusters", NULL, 13,
            NULL},
        {EDIT_ALL("AutoCluster", "\"by\": \"size\", \"site_size\": 4"), "edit.new_clusters", NULL, 12, NULL},
        {EDIT_ALL("AutoCluster", "\"by\": \"fraction\", \"fraction\": 0.3"), "edit.new_clusters", NULL, 12,
            NULL},
        {EDIT_ALL("AutoCluster", "\"count\": 3, \"drift_iterations\": 2"), "edit.new_clusters", NULL, 13,
            "drift_iterations does nothing"},
        {EDIT_ALL("AutoCluster", "\"count\": 3, \"concavity_tolerance\": 2"), "edit.new_clusters", NULL, 13,
            "concavity_tolerance does nothing"},
        {EDIT_ALL("AutoCluster", "\"count\": 3, \"prefer_convexity\": true"), "edit.new_clusters", NULL, 13,
            NULL},
        {EDIT("AutoCluster", "1, 7", "\"count\": 1"), "edit.new_clusters", "", 10, "nothing to group there"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graph_run g = run_nodes(cases[i].nodes, RBL_OK);
        const char *told = names_of(&g, cases[i].port, collection_of(&g, "edit"));
        if (cases[i].told && strcmp(told, cases[i].told))
            fail_msg("%s\ntells %s, not %s", cases[i].nodes, told, cases[i].told);
        size_t count = rbli_collection_size(collection_of(&g, "edit"), "bone");
        if (count != cases[i].bones)
            fail_msg("%s\ngives %zu bones, not %zu", cases[i].nodes, count, cases[i].bones);
        if (cases[i].message) assert_true(said(&g, cases[i].message));
        end_run(&g);
    }
}

static void a_selection_of_other_bones_is_refused(void **state)
{
    (void)state;
    const char *const types[] = {"Cluster", "Uncluster", "Flatten", "ClusterMerge", "ClusterIsolatedRoots",
        "MoveUp", "ClusterMagnet", "AutoCluster", "ClusterMergeToNeighbors"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char nodes[1000];
        snprintf(nodes, sizeof nodes,
            ROW CHOOSE(
                "1, 2") ",\n\"other\": {\"type\": \"test.Boxes\", \"params\": {\"count\": 4}},\n\"edit\": "
                        "{\"type\": \"%s\", \"in\": {\"collection\": \"other\", \"selection\": "
                        "\"chosen\"}}",
            types[i]);
        graph_run g = run_nodes(nodes, RBL_ERR_COLLECTION);
        assert_true(said(&g, "other bones"));
        end_run(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_does_what_it_says),
        cmocka_unit_test(a_selection_of_other_bones_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
