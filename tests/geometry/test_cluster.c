#include "tests/check.h"

#include "fracture/base/rng.h"
#include "fracture/geometry/cluster.h"

/* Points of a jittered lattice, joined to their neighbours; clusters are checked by a search of their own. */

enum { SIDE = 12, COUNT = SIDE * SIDE * SIDE };

static double points[COUNT][3];
static rbli_cluster_edge edges[3 * COUNT];
static size_t edge_count;

static int32_t at(int x, int y, int z)
{
    return (int32_t)((z * SIDE + y) * SIDE + x);
}

/// `gap`: no edges across the plane x = gap.
static void make_lattice(int gap)
{
    edge_count = 0;
    for (int z = 0; z < SIDE; z++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                int32_t i = at(x, y, z);
                rbli_rng rng = rbli_rng_make(2, RBLI_RNG_TEST, (uint64_t)i);
                int p[3] = {x, y, z};
                for (int k = 0; k < 3; k++)
                    points[i][k] = p[k] + 0.4 * rbli_rng_double(&rng);
                double weight = 0.5 + rbli_rng_double(&rng);
                if (x + 1 < SIDE && x != gap)
                    edges[edge_count++] = (rbli_cluster_edge){i, at(x + 1, y, z), weight};
                if (y + 1 < SIDE) edges[edge_count++] = (rbli_cluster_edge){at(x, y + 1, z), i, weight};
                if (z + 1 < SIDE) edges[edge_count++] = (rbli_cluster_edge){i, at(x, y, z + 1), weight};
            }
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

/// How many parts the clusters fall into.
static size_t count_parts(const int32_t *cluster)
{
    static int32_t parent[COUNT];
    size_t count = COUNT;
    for (int32_t i = 0; i < COUNT; i++)
        parent[i] = i;
    for (size_t e = 0; e < edge_count; e++) {
        if (cluster[edges[e].a] != cluster[edges[e].b]) continue;
        int32_t a = root_of(parent, edges[e].a), b = root_of(parent, edges[e].b);
        if (a != b) parent[a] = b, count--;
    }
    return count;
}

static void clusters_are_connected_and_counted(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    static int32_t cluster[COUNT];
    const size_t wanted[] = {1, 2, 10, 37, 200, 800};
    make_lattice(-1);
    for (int w = 0; w < 6; w++)
        for (uint32_t seed = 0; seed < 3; seed++) {
            rbli_cluster_options options = rbli_cluster_default_options();
            size_t count;
            options.count = wanted[w];
            options.seed = seed;
            options.avoid_isolated = wanted[w] < 800;
            assert_ok(ctx, rbli_cluster_points(ctx, (const double(*)[3])points, COUNT, edges, edge_count,
                               &options, cluster, &count));
            assert_int_equal(count, wanted[w]);
            assert_int_equal(count_parts(cluster), count);
            static int sizes[COUNT];
            memset(sizes, 0, sizeof sizes);
            for (int i = 0; i < COUNT; i++) {
                assert_true(cluster[i] >= 0 && (size_t)cluster[i] < count);
                sizes[cluster[i]]++;
            }
            for (size_t c = 0; c < count; c++)
                assert_true(sizes[c] >= (options.avoid_isolated ? 2 : 1));
        }
    finish_context(ctx);
}

static void unconnected_halves_never_share_a_cluster(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static int32_t cluster[COUNT];
    make_lattice(4);
    rbli_cluster_options options = rbli_cluster_default_options();
    size_t count;
    options.count = 1;
    assert_ok(ctx, rbli_cluster_points(
                       ctx, (const double(*)[3])points, COUNT, edges, edge_count, &options, cluster, &count));
    assert_int_equal(count, 2);
    assert_int_equal(count_parts(cluster), 2);
    options.enforce_connectivity = false;
    assert_ok(ctx, rbli_cluster_points(
                       ctx, (const double(*)[3])points, COUNT, edges, edge_count, &options, cluster, &count));
    assert_int_equal(count, 1);
    finish_context(ctx);
}

static void single_points_are_left_alone(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double line[5][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {50, 0, 0}, {51, 0, 0}};
    rbli_cluster_edge joined[] = {{0, 1, 1}, {1, 2, 1}};
    int32_t cluster[5];
    size_t count;
    rbli_cluster_options options = rbli_cluster_default_options();
    options.count = 2;
    assert_ok(
        ctx, rbli_cluster_points(ctx, (const double(*)[3])line, 5, joined, 2, &options, cluster, &count));
    assert_int_equal(count, 1);
    assert_int_equal(cluster[0], 0);
    assert_int_equal(cluster[1], 0);
    assert_int_equal(cluster[2], 0);
    assert_int_equal(cluster[3], -1);
    assert_int_equal(cluster[4], -1);
    assert_ok(ctx, rbli_cluster_points(ctx, (const double(*)[3])line, 5, NULL, 0, &options, cluster, &count));
    assert_int_equal(count, 2);
    assert_int_equal(cluster[3], 1);
    finish_context(ctx);
}

static void order_does_not_matter(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1), *threaded = make_context(3);
    static int32_t cluster[COUNT], mixed_cluster[COUNT], index[COUNT];
    static double mixed[COUNT][3];
    static rbli_cluster_edge mixed_edges[3 * COUNT];
    make_lattice(-1);
    for (int i = 0; i < COUNT; i++) {
        index[i] = (i * 1031) % COUNT;
        memcpy(mixed[index[i]], points[i], sizeof mixed[0]);
    }
    for (size_t e = 0; e < edge_count; e++)
        mixed_edges[(e * 7919) % edge_count] =
            (rbli_cluster_edge){index[edges[e].b], index[edges[e].a], edges[e].weight};
    rbli_cluster_options options = rbli_cluster_default_options();
    size_t count, mixed_count;
    options.count = 40;
    assert_ok(ctx, rbli_cluster_points(
                       ctx, (const double(*)[3])points, COUNT, edges, edge_count, &options, cluster, &count));
    assert_ok(threaded, rbli_cluster_points(threaded, (const double(*)[3])mixed, COUNT, mixed_edges,
                            edge_count, &options, mixed_cluster, &mixed_count));
    assert_int_equal(count, mixed_count);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(cluster[i], mixed_cluster[index[i]]);
    finish_context(ctx);
    finish_context(threaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_are_connected_and_counted),
        cmocka_unit_test(unconnected_halves_never_share_a_cluster),
        cmocka_unit_test(single_points_are_left_alone),
        cmocka_unit_test(order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
