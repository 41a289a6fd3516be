#include "fracture/ops/auto_cluster.h"
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

/* A slab of 12 × 6 boxes. */

enum { WIDE = 12, HIGH = 6, COUNT = WIDE * HIGH };

static rbl_collection *make_slab(rbl_context *ctx, int step)
{
    static double boxes[COUNT][2][3];
    for (int n = 0; n < COUNT; n++) {
        int i = n * step % COUNT;
        double low[3] = {i % WIDE, i / WIDE, 0};
        for (int k = 0; k < 3; k++) {
            boxes[n][0][k] = low[k];
            boxes[n][1][k] = low[k] + 1;
        }
    }
    return make_solids(ctx, COUNT, (const double(*)[2][3])boxes);
}

static void children_get_clusters_between(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_slab(ctx, 1), *near = NULL;
    rbli_cluster_edit made = {0};
    rbli_proximity_options proximity = {.contact_area = true, .connection_graph = true};
    assert_ok(ctx, rbli_proximity(ctx, c, &proximity, &near));
    rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
    options.cluster.count = 7;
    assert_ok(ctx, rbli_auto_cluster(ctx, near, &options, &made));
    rbl_collection *out = made.collection;
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
    assert_int_equal(rbli_collection_size(out, "bone"), 1 + 7 + COUNT);
    const int32_t *parent = rbli_collection_read(out, "bone", "parent", RBL_INT32);
    const int32_t *level = rbli_collection_read(out, "bone", "level", RBL_INT32);
    const int32_t *type = rbli_collection_read(out, "bone", "type", RBL_INT32);
    int clusters = 0;
    for (size_t b = 1; b < 1 + 7 + COUNT; b++) {
        assert_int_equal(level[b], type[b] == RBLI_BONE_CLUSTER ? 1 : 2);
        clusters += type[b] == RBLI_BONE_CLUSTER;
        if (type[b] == RBLI_BONE_RIGID) assert_true(type[parent[b]] == RBLI_BONE_CLUSTER && parent[b] > 0);
        if (type[b] == RBLI_BONE_CLUSTER)
            assert_non_null(strstr(rbli_collection_string(out, "bone", "name", b), "root_cluster_"));
    }
    assert_int_equal(clusters, 7);
    /* The connections are those of the new siblings. */
    const int32_t(*bones)[2] = rbli_collection_read(out, "connection", "bones", RBL_INT32_2);
    const double *area = rbli_collection_read(out, "connection", "area", RBL_DOUBLE);
    double sum = 0;
    for (size_t i = 0; i < rbli_collection_size(out, "connection"); i++) {
        assert_int_equal(parent[bones[i][0]], parent[bones[i][1]]);
        sum += area[i];
    }
    assert_close(sum, (WIDE - 1) * HIGH + (HIGH - 1) * WIDE, 1e-9);
    rbli_collection_release(out);
    rbli_free(ctx, made.bones);
    rbli_collection_release(near);
    rbli_collection_release(c);
    finish_context(ctx);
}

enum { COUNT_MODE, FRACTION, SIZE, GRID, DRIFT, CONVEX, CONVEX_FRACTION, NO_CONNECTIVITY, MINIMUM, MODES };

static rbli_auto_cluster_options options_of(int mode)
{
    rbli_auto_cluster_options o = rbli_auto_cluster_default_options();
    o.cluster.count = 9;
    o.by = mode == FRACTION || mode == CONVEX_FRACTION ? RBLI_CLUSTER_BY_FRACTION
           : mode == SIZE                              ? RBLI_CLUSTER_BY_SIZE
           : mode == GRID || mode == DRIFT             ? RBLI_CLUSTER_BY_GRID
                                                       : RBLI_CLUSTER_BY_COUNT;
    o.fraction = 0.15;
    o.site_size = 3;
    o.grid[0] = 4;
    o.drift_iterations = mode == DRIFT ? 20 : 0;
    o.prefer_convexity = mode == CONVEX || mode == CONVEX_FRACTION;
    o.cluster.enforce_connectivity = mode != NO_CONNECTIVITY;
    o.minimum_size = mode == MINIMUM ? 2.1 : 0;
    return o;
}

/// The cluster's name by place of the box, whatever the order of the boxes.
static void names_by_place(rbl_context *ctx, int mode, int step, char (*names)[40])
{
    rbl_collection *c = make_slab(ctx, step);
    rbli_cluster_edit made = {0};
    rbli_auto_cluster_options options = options_of(mode);
    assert_ok(ctx, rbli_auto_cluster(ctx, c, &options, &made));
    rbl_collection *out = made.collection;
    const int32_t *parent = rbli_collection_read(out, "bone", "parent", RBL_INT32);
    for (size_t b = 0; b < rbli_collection_size(out, "bone"); b++) {
        const char *name = rbli_collection_string(out, "bone", "name", b);
        if (strncmp(name, "box_", 4) != 0) continue;
        int place = atoi(name + 4) * step % COUNT;
        snprintf(names[place], 40, "%s", rbli_collection_string(out, "bone", "name", (size_t)parent[b]));
    }
    rbli_collection_release(out);
    rbli_free(ctx, made.bones);
    rbli_collection_release(c);
}

static void permuted_children_give_the_same_clusters(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    static char a[COUNT][40], b[COUNT][40];
    for (int mode = 0; mode < MODES; mode++) {
        names_by_place(ctx, mode, 1, a);
        names_by_place(ctx, mode, 35, b);
        for (int i = 0; i < COUNT; i++)
            assert_string_equal(a[i], b[i]);
    }
    finish_context(ctx);
}

static size_t bones_after(rbl_context *ctx, const rbl_collection *c, const rbli_auto_cluster_options *options)
{
    rbli_cluster_edit made = {0};
    assert_ok(ctx, rbli_auto_cluster(ctx, c, options, &made));
    size_t count = rbli_collection_size(made.collection, "bone");
    assert_int_equal(count, rbli_collection_size(c, "bone") + made.count);
    rbli_collection_release(made.collection);
    rbli_free(ctx, made.bones);
    return count;
}

static void fractions_and_nothing_to_do(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_slab(ctx, 1);
    rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
    options.by = RBLI_CLUSTER_BY_FRACTION;
    assert_int_equal(bones_after(ctx, c, &options), 1 + COUNT / 4 + COUNT);
    options.by = RBLI_CLUSTER_BY_COUNT;
    options.cluster.count = 1;
    assert_int_equal(bones_after(ctx, c, &options), 1 + COUNT);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// How many children of the root there are, and that each cluster hangs together: by a walk over boxes that
/// share a side.
static size_t walk_clusters(const rbl_collection *c)
{
    const int32_t *parent = rbli_collection_read(c, "bone", "parent", RBL_INT32);
    const int32_t *type = rbli_collection_read(c, "bone", "type", RBL_INT32);
    size_t children = 0, bones = rbli_collection_size(c, "bone");
    static int32_t owner[COUNT];
    for (size_t b = 0; b < bones; b++) {
        children += parent[b] == 0;
        if (type[b] == RBLI_BONE_RIGID)
            owner[atoi(rbli_collection_string(c, "bone", "name", b) + 4)] = parent[b];
    }
    for (size_t b = 1; b < bones; b++) {
        if (type[b] != RBLI_BONE_CLUSTER) continue;
        bool seen[COUNT] = {false};
        int members = 0, reached = 0, stack[COUNT], depth = 0;
        for (int i = 0; i < COUNT; i++) {
            members += owner[i] == (int32_t)b;
            if (owner[i] == (int32_t)b && depth == 0 && reached == 0) {
                stack[depth++] = i;
                seen[i] = true;
                reached = 1;
            }
        }
        while (depth > 0) {
            int at = stack[--depth], beside[4] = {at - 1, at + 1, at - WIDE, at + WIDE};
            for (int k = 0; k < 4; k++) {
                int to = beside[k];
                bool row = k > 1 || to / WIDE == at / WIDE;
                if (to < 0 || to >= COUNT || !row || seen[to] || owner[to] != (int32_t)b) continue;
                seen[to] = true;
                reached++;
                stack[depth++] = to;
            }
        }
        assert_true(members > 1);
        assert_int_equal(reached, members);
    }
    return children;
}

static void every_mode_gives_connected_clusters(void **state)
{
    (void)state;
    const size_t expected[MODES] = {9, 11, 8, 8, 8, 9, 11, 0, 0};
    rbl_context *ctx = make_context(1), *threaded = make_context(3);
    rbl_collection *c = make_slab(ctx, 1);
    for (int mode = 0; mode < MODES; mode++) {
        rbli_auto_cluster_options options = options_of(mode);
        rbli_cluster_edit made = {0}, again = {0};
        assert_ok(ctx, rbli_auto_cluster(ctx, c, &options, &made));
        assert_ok(threaded, rbli_auto_cluster(threaded, c, &options, &again));
        assert_true(
            rbli_hash_equal(rbli_collection_hash(made.collection), rbli_collection_hash(again.collection)));
        assert_ok(ctx, rbli_collection_validate(ctx, made.collection, RBLI_VALIDATE_CLOSED));
        if (mode != NO_CONNECTIVITY) {
            size_t children = walk_clusters(made.collection);
            if (expected[mode]) assert_int_equal(children, expected[mode]);
            assert_int_equal(children, made.count);
        }
        rbli_collection_release(made.collection);
        rbli_collection_release(again.collection);
        rbli_free(ctx, made.bones);
        rbli_free(threaded, again.bones);
    }
    rbli_collection_release(c);
    finish_context(ctx);
    finish_context(threaded);
}

static void every_count_is_reached(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_slab(ctx, 1);
    for (int convex = 0; convex < 2; convex++)
        for (size_t wanted = 2; wanted < COUNT; wanted += 1 + wanted / 8) {
            rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
            rbli_cluster_edit made = {0};
            options.cluster.count = wanted;
            options.prefer_convexity = convex;
            assert_ok(ctx, rbli_auto_cluster(ctx, c, &options, &made));
            assert_int_equal(walk_clusters(made.collection), wanted);
            if (wanted <= COUNT / 2 - 2) assert_int_equal(made.count, wanted);
            rbli_collection_release(made.collection);
            rbli_free(ctx, made.bones);
        }
    rbli_collection_release(c);
    finish_context(ctx);
}

static void an_angle_falls_into_its_walls(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[15][2][3];
    for (int i = 0; i < 15; i++) {
        double low[3] = {i < 8 ? i : 0, i < 8 ? 0 : i - 7, 0};
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = low[k];
            boxes[i][1][k] = low[k] + 1;
        }
    }
    rbl_collection *c = make_solids(ctx, 15, (const double(*)[2][3])boxes);
    rbli_auto_cluster_options options = rbli_auto_cluster_default_options();
    rbli_cluster_edit made = {0};
    options.cluster.count = 2;
    options.prefer_convexity = true;
    assert_ok(ctx, rbli_auto_cluster(ctx, c, &options, &made));
    assert_int_equal(made.count, 2);
    const int32_t *parent = rbli_collection_read(made.collection, "bone", "parent", RBL_INT32);
    int32_t of[15];
    for (size_t b = 0; b < rbli_collection_size(made.collection, "bone"); b++)
        if (strncmp(rbli_collection_string(made.collection, "bone", "name", b), "box_", 4) == 0)
            of[atoi(rbli_collection_string(made.collection, "bone", "name", b) + 4)] = parent[b];
    for (int i = 2; i < 15; i++)
        assert_int_equal(of[i], i < 8 ? of[1] : of[8]);
    rbli_collection_release(made.collection);
    rbli_free(ctx, made.bones);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_get_clusters_between),
        cmocka_unit_test(permuted_children_give_the_same_clusters),
        cmocka_unit_test(fractions_and_nothing_to_do),
        cmocka_unit_test(every_mode_gives_connected_clusters),
        cmocka_unit_test(every_count_is_reached),
        cmocka_unit_test(an_angle_falls_into_its_walls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
