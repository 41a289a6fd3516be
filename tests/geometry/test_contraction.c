#include "tests/check.h"

#include "fracture/base/rng.h"
#include "fracture/geometry/contraction.h"

/* Random graphs are contracted beside a matrix of weights. */

enum { MOST = 60 };

static void neighbours_and_weights_are_those_of_a_matrix(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint32_t seed = 0; seed < 60; seed++) {
        static double weight[MOST][MOST];
        rbli_cluster_edge edges[4 * MOST];
        int part[MOST];
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 0);
        uint32_t count = 2 + rbli_rng_below(&rng, MOST - 2);
        size_t edge_count = 0, parts = count;
        rbli_contraction c;
        memset(weight, 0, sizeof weight);
        for (uint32_t i = 0; i < count; i++)
            part[i] = (int)i;
        for (uint32_t e = 0; e < 3 * count; e++) {
            uint32_t a = rbli_rng_below(&rng, count), b = rbli_rng_below(&rng, count);
            if (a == b) continue;
            double w = 1 + rbli_rng_below(&rng, 8);
            edges[edge_count++] = (rbli_cluster_edge){(int32_t)a, (int32_t)b, w};
            weight[a][b] += w;
            weight[b][a] += w;
        }
        assert_ok(ctx, rbli_contraction_create(ctx, count, edges, edge_count, &c));
        for (uint32_t round = 0; round < 2 * count; round++) {
            uint32_t a = rbli_rng_below(&rng, count), b = rbli_rng_below(&rng, count);
            int32_t root = rbli_contraction_find(&c, (int32_t)a);
            int found = 0, expected = 0;
            for (int32_t l = rbli_contraction_neighbors(&c, root); l >= 0; l = c.links[l].next) {
                double sum = 0;
                for (uint32_t i = 0; i < count; i++)
                    for (uint32_t j = 0; j < count; j++)
                        if (part[i] == part[root] && part[j] == part[c.links[l].to]) sum += weight[i][j];
                assert_int_equal(rbli_contraction_find(&c, c.links[l].to), c.links[l].to);
                assert_close(c.links[l].weight, sum, 0);
                found++;
            }
            for (uint32_t j = 0; j < count; j++) {
                bool touches = false;
                for (uint32_t i = 0; i < count; i++)
                    for (uint32_t k = 0; k < count; k++)
                        touches |= part[i] == part[a] && part[k] == (int)j && weight[i][k] > 0;
                expected += touches && (int)j != part[a];
            }
            assert_int_equal(found, expected);
            if (round % 2) continue;
            if (part[a] != part[b]) parts--;
            int low = part[a] < part[b] ? part[a] : part[b], high = part[a] < part[b] ? part[b] : part[a];
            for (uint32_t i = 0; i < count; i++)
                if (part[i] == high) part[i] = low;
            assert_int_equal(rbli_contraction_join(&c, (int32_t)a, (int32_t)b), low);
            assert_int_equal(c.part_count, parts);
        }
        rbli_contraction_free(ctx, &c);
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_and_weights_are_those_of_a_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
