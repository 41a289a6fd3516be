#include <math.h>

#include "fracture/base/affine.h"
#include "fracture/base/rng.h"
#include "fracture/ops/cluster_edit.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/state.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/* A block of 4 × 3 × 2 boxes below clusters hung at random, each with a place of its own; after every edit the
   result is compared with the input piece by piece, and its connections with a search of their own. */

enum { BOXES = 24, CLUSTERS = 9 };

static rbl_collection *make_random(rbl_context *ctx, uint32_t seed, bool with_all)
{
    double boxes[BOXES][2][3];
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 1);
    for (int i = 0; i < BOXES; i++) {
        double low[3] = {i % 4, i / 4 % 3, i / 12};
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = low[k];
            boxes[i][1][k] = low[k] + 1;
        }
    }
    rbl_collection *c = make_boxes(ctx, BOXES, (const double(*)[2][3])boxes), *next = NULL;
    int32_t first, parents[CLUSTERS], *parent;
    double(*transform)[16];
    char names[CLUSTERS][20];
    const char *name_list[CLUSTERS];
    for (int i = 0; i < CLUSTERS; i++) {
        snprintf(names[i], sizeof names[i], "cluster_%d", i);
        name_list[i] = names[i];
        parents[i] = 0;
    }
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, CLUSTERS, parents, name_list, RBLI_BONE_CLUSTER, &first));
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "parent", RBL_INT32, (void **)&parent));
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transform));
    for (int i = 0; i < CLUSTERS; i++) {
        uint32_t above = rbli_rng_below(&rng, (uint32_t)i + 1);
        parent[first + i] = above == 0 ? 0 : first + (int32_t)above - 1;
        for (int k = 0; k < 3; k++)
            transform[first + i][12 + k] = rbli_rng_double(&rng) - 0.5;
        /* A turn about z and a scale. */
        if (i % 2) {
            double *m = transform[first + i];
            m[0] = m[5] = 0, m[1] = 2, m[4] = -2, m[10] = 2;
        }
    }
    /* Every cluster gets a box at least, so none is empty. */
    for (int i = 0; i < BOXES; i++) {
        uint32_t above = i < CLUSTERS ? (uint32_t)i + 1 : rbli_rng_below(&rng, CLUSTERS + 1);
        parent[1 + i] = above == 0 ? 0 : first + (int32_t)above - 1;
    }
    assert_ok(ctx, rbli_hierarchy_sort(ctx, c));
    /* Boxes stay where they are in the world. */
    double(*world)[16] = NULL;
    assert_ok(ctx, rbli_hierarchy_world_transforms(ctx, c, &world));
    const int32_t *sorted = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const int32_t *type = rbli_collection_read(c, "bone", "type", RBL_INT32);
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transform));
    for (size_t b = 1; b < rbli_collection_size(c, "bone"); b++)
        if (type[b] == RBLI_BONE_RIGID) assert_true(rbli_affine_invert(world[sorted[b]], transform[b]));
    rbli_free(ctx, world);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    if (!with_all) return c;
    rbli_proximity_options proximity = {.contact_area = true, .connection_graph = true};
    assert_ok(ctx, rbli_proximity(ctx, c, &proximity, &next));
    rbli_collection_release(c);
    rbli_leaf_hull_options hull_options = rbli_leaf_hull_default_options();
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, next, &hull_options, &c));
    rbli_collection_release(next);
    rbli_set_mass_options mass = rbli_set_mass_default_options();
    assert_ok(ctx, rbli_set_mass(ctx, c, &mass, &next));
    rbli_collection_release(c);
    return next;
}

static int32_t find_bone(const rbl_collection *c, const char *name)
{
    for (size_t b = 0; b < rbli_collection_size(c, "bone"); b++)
        if (strcmp(rbli_collection_string(c, "bone", "name", b), name) == 0) return (int32_t)b;
    return -1;
}

static const char *parent_name(const rbl_collection *c, const char *name)
{
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    int32_t b = find_bone(c, name);
    assert_true(b >= 0);
    return parent[b] < 0 ? "" : rbli_collection_string(c, "bone", "name", (size_t)parent[b]);
}

static void check_places(rbl_context *ctx, const rbl_collection *before, const rbl_collection *after)
{
    double(*old)[16] = NULL, (*now)[16] = NULL;
    assert_ok(ctx, rbli_hierarchy_world_transforms(ctx, before, &old));
    assert_ok(ctx, rbli_hierarchy_world_transforms(ctx, after, &now));
    for (size_t b = 0; b < rbli_collection_size(before, "bone"); b++) {
        int32_t found = find_bone(after, rbli_collection_string(before, "bone", "name", b));
        const int32_t *type = rbli_collection_read(before, "bone", "type", RBL_INT32);
        if (type[b] == RBLI_BONE_RIGID) assert_true(found >= 0);
        for (int k = 0; k < 16 && found >= 0; k++)
            assert_close(old[b][k], now[found][k], 1e-12);
    }
    rbli_free(ctx, old);
    rbli_free(ctx, now);
}

/// Whether `b` is `a` or above it.
static bool is_above(const int32_t *parent, int32_t b, int32_t a)
{
    while (a >= 0 && a != b)
        a = parent[a];
    return a == b && a >= 0;
}

/// Pairs of siblings with touching pieces below them are the connections, with their areas.
static void check_connections(const rbl_collection *c)
{
    static double area[80][80];
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const int32_t *bone = rbli_collection_read(c, "geometry", "bone", RBL_INT32);
    const int32_t(*near)[2] = rbli_collection_read(c, "proximity", "geometries", RBL_INT32_2);
    const double *near_area = rbli_collection_read(c, "proximity", "area", RBL_DOUBLE);
    const int32_t(*pairs)[2] = rbli_collection_read(c, "connection", "bones", RBL_INT32_2);
    const double *pair_area = rbli_collection_read(c, "connection", "area", RBL_DOUBLE);
    size_t count = rbli_collection_size(c, "bone"), expected = 0;
    assert_true(count <= 80);
    memset(area, 0, sizeof area);
    for (size_t i = 0; i < rbli_collection_size(c, "proximity"); i++)
        for (size_t x = 0; x < count; x++)
            for (size_t y = 0; y < count; y++) {
                if (x == y || parent[x] != parent[y]) continue;
                if (is_above(parent, (int32_t)x, bone[near[i][0]]) &&
                    is_above(parent, (int32_t)y, bone[near[i][1]])) {
                    area[x][y] += near_area[i];
                    area[y][x] += near_area[i];
                }
            }
    for (size_t x = 0; x < count; x++)
        for (size_t y = x + 1; y < count; y++)
            expected += area[x][y] > 0;
    assert_int_equal(rbli_collection_size(c, "connection"), expected);
    for (size_t i = 0; i < expected; i++) {
        assert_true(pairs[i][0] < pairs[i][1]);
        assert_close(pair_area[i], area[pairs[i][0]][pairs[i][1]], 1e-9);
    }
}

static void check_clusters(const rbl_collection *before, const rbl_collection *after, bool ones)
{
    const int32_t *parent = rbli_collection_read(after, "bone", "parent", RBL_INT32);
    const int32_t *type = rbli_collection_read(after, "bone", "type", RBL_INT32);
    const double *mass = rbli_collection_read(after, "bone", "mass", RBL_DOUBLE);
    for (size_t b = 0; b < rbli_collection_size(after, "bone"); b++) {
        int kids = 0, was = -1;
        double below = 0;
        if (type[b] != RBLI_BONE_CLUSTER) continue;
        for (size_t x = 0; x < rbli_collection_size(after, "bone"); x++) {
            kids += parent[x] == (int32_t)b;
            if (mass && type[x] == RBLI_BONE_RIGID && is_above(parent, (int32_t)b, (int32_t)x))
                below += mass[x];
        }
        int32_t old = find_bone(before, rbli_collection_string(after, "bone", "name", b));
        const int32_t *old_parent = rbli_collection_read(before, "bone", "parent", RBL_INT32);
        for (size_t x = 0; x < rbli_collection_size(before, "bone") && old >= 0; x++)
            was += (was < 0) + (old_parent[x] == old);
        assert_true(kids > 0);
        if (!ones && parent[b] >= 0) assert_true(kids > 1 || kids == was);
        if (mass) assert_close(mass[b], below, 1e-9 * below);
    }
}

static void check_edit(
    rbl_context *ctx, const rbl_collection *before, const rbli_cluster_edit *edit, bool ones)
{
    const rbl_collection *after = edit->collection;
    assert_ok(ctx, rbli_collection_validate(ctx, after, RBLI_VALIDATE_CLOSED));
    assert_int_equal(rbli_collection_size(after, "geometry"), BOXES);
    assert_ptr_equal(rbli_collection_buffer(before, "vertex", "position"),
        rbli_collection_buffer(after, "vertex", "position"));
    check_places(ctx, before, after);
    check_clusters(before, after, ones);
    for (size_t i = 0; i < edit->count; i++)
        assert_true(edit->bones[i] >= 0 && (size_t)edit->bones[i] < rbli_collection_size(after, "bone") &&
                    (i == 0 || edit->bones[i] > edit->bones[i - 1]));
    if (rbli_collection_has_group(before, "connection")) {
        check_connections(after);
        assert_int_equal(rbli_collection_size(after, "convex"), BOXES);
        assert_int_equal(rbli_collection_size(after, "proximity"), rbli_collection_size(before, "proximity"));
    }
}

static void edit_free(rbl_context *ctx, rbli_cluster_edit *edit)
{
    rbli_collection_release(edit->collection);
    rbli_free(ctx, edit->bones);
    *edit = (rbli_cluster_edit){0};
}

static rbli_selection *select_names(rbl_context *ctx, const rbl_collection *c, const char *const *names)
{
    int32_t bones[64];
    size_t count = 0;
    for (; names[count]; count++)
        bones[count] = find_bone(c, names[count]);
    rbli_selection *selection = NULL;
    assert_ok(ctx, rbli_selection_create(ctx, c, bones, count, &selection));
    return selection;
}

enum { CLUSTER, UNCLUSTER, FLATTEN, MERGE, ROOTS, MOVE_UP, MAGNET, NEIGHBORS, NEIGHBORS_ANY, EDITS };

static rbl_status run_edit(rbl_context *ctx, int edit, const rbl_collection *c, const rbli_selection *s,
    bool ones, rbli_cluster_edit *out)
{
    rbli_magnet_options magnet = {.selection = s, .iterations = ones ? 2 : 1, .clusters_of_one = ones};
    rbli_merge_neighbors_options near = rbli_merge_neighbors_default_options();
    near.selection = s;
    near.clusters_of_one = ones;
    near.only_same_parent = edit == NEIGHBORS;
    near.min_volume_cube_root = edit == NEIGHBORS ? 0 : 1.5;
    switch (edit) {
    case CLUSTER:
        return rbli_cluster_bones(ctx, c, s, NULL, ones, out);
    case UNCLUSTER:
        return rbli_uncluster(ctx, c, s, ones, out);
    case FLATTEN:
        return rbli_flatten(ctx, c, s, out);
    case MERGE:
        return rbli_cluster_merge(ctx, c, s, ones, out);
    case ROOTS:
        return rbli_cluster_isolated_roots(ctx, c, s, ones, out);
    case MOVE_UP:
        return rbli_move_up(ctx, c, s, ones, out);
    case NEIGHBORS:
    case NEIGHBORS_ANY:
        return rbli_cluster_merge_to_neighbors(ctx, c, &near, out);
    default:
        return rbli_cluster_magnet(ctx, c, &magnet, out);
    }
}

static void any_edit_of_any_selection_keeps_what_it_promises(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint32_t seed = 0; seed < 12; seed++) {
        rbl_collection *c = make_random(ctx, seed, true);
        size_t count = rbli_collection_size(c, "bone");
        for (int trial = 0; trial < 6; trial++)
            for (int edit = 0; edit < EDITS; edit++) {
                int32_t bones[64];
                size_t chosen = 0;
                rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 100 + (uint64_t)trial);
                /* None, the root, all, and some. */
                for (size_t b = 0; b < count; b++)
                    if (trial == 1 ? b == 0 : trial == 2 || (trial > 2 && rbli_rng_double(&rng) < 0.25))
                        bones[chosen++] = (int32_t)b;
                rbli_selection *s = NULL;
                rbli_cluster_edit made = {0};
                assert_ok(ctx, rbli_selection_create(ctx, c, bones, chosen, &s));
                rbl_status status = run_edit(ctx, edit, c, s, trial == 5, &made);
                if (status != RBL_OK) print_error("seed %u, trial %d, edit %d\n", seed, trial, edit);
                assert_ok(ctx, status);
                check_edit(ctx, c, &made, trial == 5);
                /* Once more on the result: nothing piles up. */
                rbli_cluster_edit again = {0};
                rbli_selection *t = NULL;
                assert_ok(ctx, rbli_selection_create(ctx, made.collection, made.bones, made.count, &t));
                assert_ok(ctx, run_edit(ctx, (edit + trial) % EDITS, made.collection, t, false, &again));
                check_edit(ctx, made.collection, &again, true);
                rbli_selection_release(s);
                rbli_selection_release(t);
                edit_free(ctx, &made);
                edit_free(ctx, &again);
            }
        rbli_collection_release(c);
    }
    finish_context(ctx);
}

/* root: box_0 … box_3 in a row below "a" (0, 1), "b" (2), "c" (3, 4) in "d", 5 below root. */
static rbl_collection *make_row(rbl_context *ctx)
{
    double boxes[6][2][3];
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = k == 0 ? i : 0;
            boxes[i][1][k] = k == 0 ? i + 1 : 1;
        }
    rbl_collection *c = make_boxes(ctx, 6, (const double(*)[2][3])boxes);
    const char *names[] = {"a", "b", "d", "c"};
    int32_t parents[] = {0, 0, 0, 0}, first, *parent;
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 4, parents, names, RBLI_BONE_CLUSTER, &first));
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "parent", RBL_INT32, (void **)&parent));
    parent[first + 3] = first + 2;
    parent[1] = parent[2] = first;
    parent[3] = first + 1;
    parent[4] = parent[5] = first + 3;
    assert_ok(ctx, rbli_hierarchy_sort(ctx, c));
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

/// The hierarchy as text: "root(a(box_0 box_1) …)", children sorted by name.
static void write_tree(const rbl_collection *c, int32_t bone, char *out, size_t bytes)
{
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    size_t count = rbli_collection_size(c, "bone"), used = strlen(out);
    const char *last = "";
    if (bone >= 0)
        used += (size_t)snprintf(
            out + used, bytes - used, "%s", rbli_collection_string(c, "bone", "name", (size_t)bone));
    for (int written = 0;; written++) {
        int32_t next = -1;
        for (size_t b = 0; b < count; b++) {
            const char *name = rbli_collection_string(c, "bone", "name", b);
            if (parent[b] != bone || strcmp(name, last) <= 0) continue;
            if (next < 0 || strcmp(name, rbli_collection_string(c, "bone", "name", (size_t)next)) < 0)
                next = (int32_t)b;
        }
        if (next < 0) {
            if (written && bone >= 0) strcat(out, ")");
            return;
        }
        strcat(out, written ? " " : bone >= 0 ? "(" : "");
        write_tree(c, next, out, bytes);
        last = rbli_collection_string(c, "bone", "name", (size_t)next);
    }
}

static void edits_give_the_hierarchy_that_is_meant(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    const struct {
        int edit;
        bool ones;
        const char *names[8];
        const char *tree, *told;
    } cases[] = {
        {CLUSTER, false, {"box_0", "box_5"},
            "root(b(box_2) box_1 d(c(box_3 box_4)) root_cluster(box_0 box_5))", "root_cluster"},
        {CLUSTER, true, {"box_0", "box_5"},
            "root(a(box_1) b(box_2) d(c(box_3 box_4)) root_cluster(box_0 box_5))", "root_cluster"},
        {CLUSTER, false, {"a", "b", "box_0"},
            "root(box_5 d(c(box_3 box_4)) root_cluster(a(box_0 box_1) b(box_2)))", "root_cluster"},
        {CLUSTER, false, {"box_3", "box_4"}, "root(a(box_0 box_1) b(box_2) box_5 d(c(box_3 box_4)))", ""},
        {CLUSTER, false, {"box_3"}, "root(a(box_0 box_1) b(box_2) box_5 d(c(box_3 box_4)))", ""},
        {CLUSTER, true, {"box_3"}, "root(a(box_0 box_1) b(box_2) box_5 d(c(box_4 c_cluster(box_3))))",
            "c_cluster"},
        {UNCLUSTER, false, {"a", "box_2"}, "root(b(box_2) box_0 box_1 box_5 d(c(box_3 box_4)))",
            "box_0 box_1"},
        {UNCLUSTER, false, {"c", "d", "root"}, "root(a(box_0 box_1) b(box_2) box_3 box_4 box_5)",
            "box_3 box_4"},
        {UNCLUSTER, false, {"d"}, "root(a(box_0 box_1) b(box_2) box_5 c(box_3 box_4))", "c"},
        {FLATTEN, false, {"root"}, "root(box_0 box_1 box_2 box_3 box_4 box_5)",
            "box_0 box_1 box_2 box_3 box_4"},
        {FLATTEN, false, {"d", "box_0"}, "root(a(box_0 box_1) b(box_2) box_5 d(box_3 box_4))", "box_3 box_4"},
        {MERGE, false, {"a", "c", "box_5"}, "root(a(box_0 box_1 box_3 box_4 box_5) b(box_2))", "a"},
        {MERGE, false, {"b", "d"}, "root(a(box_0 box_1) box_5 d(box_2 c(box_3 box_4)))", "d"},
        {MERGE, false, {"box_0", "box_1"}, "root(a(box_0 box_1) b(box_2) box_5 d(c(box_3 box_4)))", ""},
        {MOVE_UP, false, {"box_3", "box_0"}, "root(b(box_2) box_0 box_1 box_5 d(box_3 box_4))",
            "box_0 box_1 box_3 box_4"},
        {MOVE_UP, true, {"box_3", "box_0"}, "root(a(box_1) b(box_2) box_0 box_5 d(box_3 c(box_4)))",
            "box_0 box_3"},
        {MOVE_UP, false, {"c", "box_3"}, "root(a(box_0 box_1) b(box_2) box_4 box_5 d(box_3))", "box_3 box_4"},
        {MAGNET, false, {"b"}, "root(b_cluster(a(box_0 box_1) b(box_2) d(c(box_3 box_4))) box_5)",
            "b_cluster"},
        {NEIGHBORS, false, {"b"}, "root(a(box_0 box_1 box_2) box_5 d(c(box_3 box_4)))", "a"},
        {NEIGHBORS, false, {"a", "d"}, "root(a(box_0 box_1 box_2 c(box_3 box_4)) box_5)", "a"},
        {NEIGHBORS, false, {"c"}, "root(a(box_0 box_1) b(box_2) box_5 d(c(box_3 box_4)))", ""},
        {NEIGHBORS, false, {"box_0"}, "root(a(box_0 box_1) b(box_2) box_5 d(c(box_3 box_4)))", ""},
        {ROOTS, false, {"a"}, "root(a(box_0 box_1) b(box_2) box_5 d(c(box_3 box_4)))", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char tree[400] = "", told[200] = "";
        rbli_selection *s = select_names(ctx, c, cases[i].names);
        rbli_cluster_edit made = {0};
        assert_ok(ctx, run_edit(ctx, cases[i].edit, c, s, cases[i].ones, &made));
        write_tree(made.collection, -1, tree, sizeof tree);
        if (strcmp(tree, cases[i].tree)) fail_msg("case %zu: %s, not %s", i, tree, cases[i].tree);
        for (size_t b = 0; b < 6 + 5 + 2; b++) {
            /* By name: boxes first. */
            static const char *const all[] = {"a", "b", "b_cluster", "box_0", "box_1", "box_2", "box_3",
                "box_4", "box_5", "c", "c_cluster", "d", "root_cluster"};
            int32_t bone = find_bone(made.collection, all[b]);
            for (size_t k = 0; k < made.count; k++)
                if (made.bones[k] == bone) {
                    if (told[0]) strcat(told, " ");
                    strcat(told, all[b]);
                }
        }
        if (strcmp(told, cases[i].told)) fail_msg("case %zu tells %s, not %s", i, told, cases[i].told);
        rbli_selection_release(s);
        edit_free(ctx, &made);
    }
    rbli_collection_release(c);
    finish_context(ctx);
}

static void magnets_share_by_area_whatever_their_order(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    /* A plate lies on three posts of different thickness; the thickest gets it. */
    const double widths[3] = {0.5, 1.5, 1};
    for (int turn = 0; turn < 3; turn++) {
        double boxes[4][2][3] = {{{0, 0, 1}, {8, 2, 2}}};
        for (int i = 0; i < 3; i++) {
            int w = (i + turn) % 3;
            double low[3] = {w * 3, 0, 0}, high[3] = {w * 3 + widths[w], 2, 1};
            memcpy(boxes[1 + i][0], low, sizeof low);
            memcpy(boxes[1 + i][1], high, sizeof high);
        }
        rbl_collection *c = make_boxes(ctx, 4, (const double(*)[2][3])boxes);
        assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
        assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
        const int32_t magnets[] = {2, 3, 4};
        rbli_selection *s = NULL;
        rbli_cluster_edit made = {0};
        assert_ok(ctx, rbli_selection_create(ctx, c, magnets, 3, &s));
        rbli_magnet_options options = {.selection = s, .iterations = 1};
        assert_ok(ctx, rbli_cluster_magnet(ctx, c, &options, &made));
        char expected[30];
        for (int i = 0; i < 3; i++)
            if ((i + turn) % 3 == 1) snprintf(expected, sizeof expected, "box_%d_cluster", i + 1);
        assert_string_equal(parent_name(made.collection, "box_0"), expected);
        assert_int_equal(made.count, 1);
        rbli_selection_release(s);
        edit_free(ctx, &made);
        rbli_collection_release(c);
    }
    finish_context(ctx);
}

static void rounds_reach_farther_each_time(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[20][2][3];
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = k == 0 ? i : 0;
            boxes[i][1][k] = k == 0 ? i + 1 : 1;
        }
    rbl_collection *c = make_boxes(ctx, 20, (const double(*)[2][3])boxes);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    const int32_t magnets[] = {5, 16};
    rbli_selection *s = NULL;
    assert_ok(ctx, rbli_selection_create(ctx, c, magnets, 2, &s));
    for (int rounds = 1; rounds < 9; rounds++) {
        rbli_cluster_edit made = {0};
        rbli_magnet_options options = {.selection = s, .iterations = rounds};
        assert_ok(ctx, rbli_cluster_magnet(ctx, c, &options, &made));
        assert_int_equal(made.count, 2);
        for (int i = 0; i < 20; i++) {
            char name[20];
            snprintf(name, sizeof name, "box_%d", i);
            int near = abs(i - 4), far = abs(i - 15);
            const char *expected = near <= rounds && near < far  ? "box_4_cluster"
                                   : far <= rounds && far < near ? "box_15_cluster"
                                                                 : "root";
            assert_string_equal(parent_name(made.collection, name), expected);
        }
        edit_free(ctx, &made);
    }
    rbli_selection_release(s);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void pieces_without_a_root_get_one(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    int32_t *parent;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "parent", RBL_INT32, (void **)&parent));
    parent[find_bone(c, "box_5")] = -1;
    parent[find_bone(c, "box_2")] = -1;
    parent[find_bone(c, "d")] = -1;
    assert_ok(ctx, rbli_hierarchy_sort(ctx, c));
    rbli_cluster_edit made = {0};
    char tree[400] = "";
    assert_ok(ctx, rbli_cluster_isolated_roots(ctx, c, NULL, false, &made));
    write_tree(made.collection, -1, tree, sizeof tree);
    assert_string_equal(tree, "d(c(box_3 box_4)) root(a(box_0 box_1) b) root_2(box_2 box_5)");
    assert_ok(ctx, rbli_collection_validate(ctx, made.collection, RBLI_VALIDATE_CLOSED));
    edit_free(ctx, &made);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void a_graph_of_its_own_is_lifted_or_removed(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    int32_t(*bones)[2];
    double *area;
    assert_ok(ctx, rbli_collection_resize(ctx, c, "connection", 2));
    assert_ok(ctx, rbli_collection_write(ctx, c, "connection", "bones", RBL_INT32_2, (void **)&bones));
    assert_ok(ctx, rbli_collection_write(ctx, c, "connection", "area", RBL_DOUBLE, (void **)&area));
    int32_t pairs[2][2] = {{find_bone(c, "a"), find_bone(c, "d")}, {find_bone(c, "a"), find_bone(c, "b")}};
    for (int i = 0; i < 2; i++) {
        bones[i][0] = pairs[i][0] < pairs[i][1] ? pairs[i][0] : pairs[i][1];
        bones[i][1] = pairs[i][0] < pairs[i][1] ? pairs[i][1] : pairs[i][0];
        area[i] = 2 + i;
    }
    rbli_cluster_edit made = {0};
    rbli_selection *s = select_names(ctx, c, (const char *const[]){"a", "b", NULL});
    assert_ok(ctx, rbli_cluster_bones(ctx, c, s, "both", false, &made));
    assert_int_equal(rbli_collection_size(made.collection, "connection"), 2);
    const double *now = rbli_collection_read(made.collection, "connection", "area", RBL_DOUBLE);
    assert_close(now[0] + now[1], 5, 0);
    edit_free(ctx, &made);
    assert_ok(ctx, rbli_uncluster(ctx, c, s, false, &made));
    assert_false(rbli_collection_has_group(made.collection, "connection"));
    bool said = false;
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++)
        said |= strstr(rbli_messages_get(ctx->messages, i)->text, "connection graph was removed") != NULL;
    assert_true(said);
    edit_free(ctx, &made);
    rbli_selection_release(s);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_edit_of_any_selection_keeps_what_it_promises),
        cmocka_unit_test(edits_give_the_hierarchy_that_is_meant),
        cmocka_unit_test(magnets_share_by_area_whatever_their_order),
        cmocka_unit_test(rounds_reach_farther_each_time),
        cmocka_unit_test(pieces_without_a_root_get_one),
        cmocka_unit_test(a_graph_of_its_own_is_lifted_or_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
