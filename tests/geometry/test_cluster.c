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

/* ---- graphs of any shape ---- */

enum { MOST = 400 };

typedef struct graph {
    double points[MOST][3];
    rbli_cluster_edge edges[4 * MOST];
    size_t count, edge_count;
} graph;

static void add_edge(graph *g, uint32_t a, uint32_t b, double weight)
{
    for (size_t e = 0; e < g->edge_count; e++)
        if ((g->edges[e].a == (int32_t)a && g->edges[e].b == (int32_t)b) ||
            (g->edges[e].a == (int32_t)b && g->edges[e].b == (int32_t)a))
            return;
    if (a != b) g->edges[g->edge_count++] = (rbli_cluster_edge){(int32_t)a, (int32_t)b, weight};
}

/// Trees, stars, chains, combs, forests, with further edges or without; points anywhere, some twice.
static void make_graph(graph *g, uint32_t seed)
{
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 9);
    uint32_t shape = seed % 6;
    *g = (graph){.count = 2 + rbli_rng_below(&rng, seed % 7 == 0 ? MOST - 2 : 60)};
    for (uint32_t i = 0; i < g->count; i++)
        for (int k = 0; k < 3; k++)
            g->points[i][k] = seed % 5 == 0 ? rbli_rng_below(&rng, 4) : rbli_rng_double(&rng);
    for (uint32_t i = 1; i < g->count; i++) {
        uint32_t to = shape == 0   ? i - 1
                      : shape == 1 ? 0
                      : shape == 2 ? i - 1 - (i - 1) % 2
                                   : rbli_rng_below(&rng, i);
        if (shape == 5 && rbli_rng_below(&rng, 8) == 0) continue; /* a forest */
        add_edge(g, i, to, rbli_rng_double(&rng));
    }
    for (uint32_t i = 0; shape == 4 && i < g->count; i++)
        add_edge(g, i, rbli_rng_below(&rng, (uint32_t)g->count), rbli_rng_double(&rng));
}

/// Parts that the groups fall into when only edges inside count; points of group −1 are parts of their own.
/// `all`: of the whole graph.
static size_t walk_parts(const graph *g, const int32_t *cluster, bool all)
{
    static int32_t label[MOST];
    size_t parts = 0;
    for (size_t i = 0; i < g->count; i++)
        label[i] = -1;
    for (size_t i = 0; i < g->count; i++) {
        if (label[i] >= 0) continue;
        label[i] = (int32_t)parts++;
        for (bool grown = true; grown;) {
            grown = false;
            for (size_t e = 0; e < g->edge_count; e++) {
                int32_t a = g->edges[e].a, b = g->edges[e].b;
                if (!all && (cluster[a] != cluster[b] || cluster[a] < 0)) continue;
                if ((label[a] == label[i]) == (label[b] == label[i])) continue;
                label[a] = label[b] = label[i];
                grown = true;
            }
        }
    }
    return parts;
}

static void any_graph_reaches_its_count(void **state)
{
    (void)state;
    static graph g;
    static int32_t cluster[MOST];
    rbl_context *ctx = make_context(1);
    uint32_t seeds = tries(120, 3000);
    for (uint32_t seed = 0; seed < seeds; seed++) {
        make_graph(&g, seed);
        size_t components = walk_parts(&g, NULL, true);
        for (int trial = 0; trial < 8; trial++) {
            rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 50 + (uint64_t)trial);
            rbli_cluster_options o = rbli_cluster_default_options();
            size_t count, alone = 0;
            int sizes[MOST] = {0};
            o.count = trial == 0   ? components
                      : trial == 1 ? g.count
                                   : 1 + rbli_rng_below(&rng, (uint32_t)g.count);
            o.seed = seed;
            o.avoid_isolated = trial % 2;
            assert_ok(ctx, rbli_cluster_points(ctx, (const double(*)[3])g.points, g.count, g.edges,
                               g.edge_count, &o, cluster, &count));
            for (size_t i = 0; i < g.count; i++) {
                assert_true(cluster[i] >= -1 && cluster[i] < (int32_t)count);
                if (cluster[i] < 0)
                    alone++;
                else
                    sizes[cluster[i]]++;
            }
            for (size_t c = 0; c < count; c++)
                assert_true(sizes[c] >= (o.avoid_isolated ? 2 : 1));
            if (!o.avoid_isolated) assert_int_equal(alone, 0);
            size_t wanted = o.count < components ? components : o.count;
            if (g.edge_count == 0) wanted = o.count;
            if (count + alone != wanted)
                fail_msg("seed %u, trial %d: %zu clusters, %zu alone, not %zu of %zu", seed, trial, count,
                    alone, wanted, g.count);
            if (g.edge_count > 0) assert_int_equal(walk_parts(&g, cluster, false), count + alone);
        }
    }
    finish_context(ctx);
}

static void by_place_the_count_is_reached_too(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static int32_t cluster[COUNT];
    make_lattice(4);
    rbli_cluster_options o = rbli_cluster_default_options();
    o.enforce_connectivity = false;
    for (size_t wanted = 1; wanted <= COUNT; wanted = wanted * 3 + 1) {
        size_t count, alone = 0;
        o.count = wanted;
        assert_ok(ctx, rbli_cluster_points(
                           ctx, (const double(*)[3])points, COUNT, edges, edge_count, &o, cluster, &count));
        for (int i = 0; i < COUNT; i++)
            alone += cluster[i] < 0;
        assert_int_equal(count + alone, wanted);
        if (wanted <= COUNT / 2) assert_int_equal(alone, 0);
    }
    finish_context(ctx);
}

static void equal_points_are_shared_out(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double same[300][3];
    static int32_t cluster[300];
    rbli_cluster_options o = rbli_cluster_default_options();
    size_t count;
    o.count = 40;
    assert_ok(ctx, rbli_cluster_points(ctx, (const double(*)[3])same, 300, NULL, 0, &o, cluster, &count));
    assert_int_equal(count, 40);
    finish_context(ctx);
}

static void seeds_make_the_cells_of_a_grid(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static int32_t cluster[COUNT];
    double seeds[8][3];
    size_t count;
    make_lattice(-1);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            seeds[i][k] = SIDE * (0.25 + 0.5 * (i >> k & 1));
    rbli_cluster_options o = rbli_cluster_default_options();
    o.count = 8;
    o.seeds = (const double(*)[3])seeds;
    o.iterations = 0;
    assert_ok(ctx,
        rbli_cluster_points(ctx, (const double(*)[3])points, COUNT, edges, edge_count, &o, cluster, &count));
    assert_int_equal(count, 8);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j += 7) {
            bool same = true;
            for (int k = 0; k < 3; k++)
                same &= (points[i][k] < SIDE * 0.5) == (points[j][k] < SIDE * 0.5);
            assert_int_equal(cluster[i] == cluster[j], same);
        }
    finish_context(ctx);
}

static void small_volumes_join_neighbours(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static int32_t cluster[COUNT];
    static double volumes[COUNT];
    size_t count;
    make_lattice(-1);
    for (int i = 0; i < COUNT; i++)
        volumes[i] = 1;
    rbli_cluster_options o = rbli_cluster_default_options();
    o.count = 400;
    o.volumes = volumes;
    o.minimum_volume = 20;
    assert_ok(ctx,
        rbli_cluster_points(ctx, (const double(*)[3])points, COUNT, edges, edge_count, &o, cluster, &count));
    static int sizes[COUNT];
    for (int i = 0; i < COUNT; i++)
        sizes[cluster[i]]++;
    assert_true(count > 20 && count <= COUNT / 20);
    for (size_t c = 0; c < count; c++)
        assert_true(sizes[c] >= 20);
    finish_context(ctx);
}

static void a_long_chain_does_not_overflow(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    rbl_context *ctx = make_context(2);
    double(*line)[3] = malloc(LENGTH * sizeof *line);
    rbli_cluster_edge *links = malloc(LENGTH * sizeof *links);
    int32_t *cluster = malloc(LENGTH * sizeof *cluster);
    /* Wound up in a spiral, so that places and links tell different things. */
    for (int i = 0; i < LENGTH; i++) {
        line[i][0] = i % 300 < 150 ? i % 300 : 300 - i % 300;
        line[i][1] = i / 300;
        line[i][2] = i % 7;
        links[i] = (rbli_cluster_edge){i, i + 1, 1};
    }
    const size_t wanted[] = {1, 2, 1000, 60000};
    for (int w = 0; w < 4; w++) {
        rbli_cluster_options o = rbli_cluster_default_options();
        size_t count, changes = 0, alone = 0;
        o.count = wanted[w];
        assert_ok(ctx, rbli_cluster_points(
                           ctx, (const double(*)[3])line, LENGTH, links, LENGTH - 1, &o, cluster, &count));
        for (int i = 0; i < LENGTH; i++) {
            alone += cluster[i] < 0;
            changes += i > 0 && (cluster[i] != cluster[i - 1] || cluster[i] < 0);
        }
        assert_int_equal(count + alone, wanted[w]);
        assert_int_equal(changes, wanted[w] - 1); /* each is one stretch of the chain */
    }
    free(line);
    free(links);
    free(cluster);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_are_connected_and_counted),
        cmocka_unit_test(unconnected_halves_never_share_a_cluster),
        cmocka_unit_test(single_points_are_left_alone),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(any_graph_reaches_its_count),
        cmocka_unit_test(by_place_the_count_is_reached_too),
        cmocka_unit_test(equal_points_are_shared_out),
        cmocka_unit_test(seeds_make_the_cells_of_a_grid),
        cmocka_unit_test(small_volumes_join_neighbours),
        cmocka_unit_test(a_long_chain_does_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
