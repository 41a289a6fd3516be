#include <math.h>

#include "tests/check.h"

#include "fracture/base/rng.h"
#include "fracture/geometry/join_small.h"

enum { MOST = 300 };

typedef struct scene {
    rbli_small_item items[MOST];
    rbli_cluster_edge edges[4 * MOST];
    size_t count, edge_count;
} scene;

static void make_scene(scene *s, uint32_t seed)
{
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 0);
    *s = (scene){.count = 20 + rbli_rng_below(&rng, MOST - 20)};
    for (size_t i = 0; i < s->count; i++) {
        double r = rbli_rng_double(&rng);
        s->items[i] = (rbli_small_item){.volume = r * r * r,
            .kind = (int32_t)rbli_rng_below(&rng, 1 + seed % 3),
            .may_be_small = seed % 4 != 3 || i % 2,
            .must_join = seed % 5 == 4 && i % 11 == 0};
        for (int k = 0; k < 3; k++)
            s->items[i].center[k] = rbli_rng_double(&rng);
    }
    for (size_t e = 0; e < 3 * s->count; e++) {
        uint32_t a = rbli_rng_below(&rng, (uint32_t)s->count), b = rbli_rng_below(&rng, (uint32_t)s->count);
        double w = rbli_rng_below(&rng, 10) == 0 ? -HUGE_VAL : rbli_rng_double(&rng);
        if (a != b) s->edges[s->edge_count++] = (rbli_cluster_edge){(int32_t)a, (int32_t)b, w};
    }
}

static double group_volume(const scene *s, const int32_t *group, int32_t g)
{
    double sum = 0;
    for (size_t i = 0; i < s->count; i++)
        if (group[i] == g) sum += s->items[i].volume;
    return sum;
}

static void check_groups(
    const scene *s, const rbli_small_options *o, const int32_t *group, const rbli_small_reason *reason)
{
    for (size_t i = 0; i < s->count; i++) {
        int32_t g = group[i];
        bool may = false, usable = false, forbidden = false, other_kind = false, must = false;
        int large = 0, members = 0;
        assert_true(g <= (int32_t)i && group[g] == g);
        assert_int_equal(s->items[i].kind, s->items[g].kind);
        if (g != (int32_t)i) {
            assert_int_equal(reason[i], RBLI_SMALL_NOT);
            continue;
        }
        for (size_t j = 0; j < s->count; j++) {
            if (group[j] != g) continue;
            members++;
            may |= s->items[j].may_be_small;
            must |= s->items[j].must_join;
            large += !(s->items[j].volume < o->threshold) && !s->items[j].must_join;
        }
        assert_true(large <= 1);
        /* No forbidden edge inside, and why it ends here: a group beside it is joined by the whole of its edges. */
        for (size_t e = 0; e < s->edge_count; e++) {
            int32_t a = group[s->edges[e].a], b = group[s->edges[e].b];
            if (a == g && b == g) assert_true(s->edges[e].weight >= 0);
            if ((a == g) == (b == g)) continue;
            int32_t other = a == g ? b : a;
            bool barred = false;
            for (size_t f = 0; f < s->edge_count; f++) {
                int32_t c = group[s->edges[f].a], d = group[s->edges[f].b];
                barred |= ((c == g && d == other) || (d == g && c == other)) && s->edges[f].weight < 0;
            }
            if (s->items[other].kind != s->items[g].kind)
                other_kind = true;
            else if (barred)
                forbidden = true;
            else
                usable = true;
        }
        bool small = (may && group_volume(s, group, g) < o->threshold) || (must && members == 1);
        if (!small) {
            assert_int_equal(reason[i], RBLI_SMALL_NOT);
        } else if (o->only_connected) {
            assert_false(usable);
            assert_int_equal(reason[i], forbidden    ? RBLI_SMALL_FORBIDDEN
                                        : other_kind ? RBLI_SMALL_OTHER_KIND
                                                     : RBLI_SMALL_ALONE);
        } else {
            assert_true(reason[i] != RBLI_SMALL_NOT);
        }
    }
}

static void nothing_small_is_left_that_could_join(void **state)
{
    (void)state;
    static scene s, mixed;
    static int32_t group[MOST], mixed_group[MOST];
    static rbli_small_reason reason[MOST], mixed_reason[MOST];
    rbl_context *ctx = make_context(1);
    uint32_t seeds = tries(60, 1000);
    for (uint32_t seed = 0; seed < seeds; seed++) {
        make_scene(&s, seed);
        rbli_small_options o = {0.02 + 0.1 * (seed % 4), (rbli_small_rule)(seed % 3), seed % 2 == 0};
        assert_ok(ctx, rbli_join_small(ctx, s.items, s.count, s.edges, s.edge_count, &o, group, reason));
        check_groups(&s, &o, group, reason);
        /* The same backwards. */
        mixed = s;
        for (size_t i = 0; i < s.count; i++)
            mixed.items[s.count - 1 - i] = s.items[i];
        for (size_t e = 0; e < s.edge_count; e++)
            mixed.edges[s.edge_count - 1 - e] = (rbli_cluster_edge){
                (int32_t)s.count - 1 - s.edges[e].b, (int32_t)s.count - 1 - s.edges[e].a, s.edges[e].weight};
        assert_ok(ctx, rbli_join_small(ctx, mixed.items, mixed.count, mixed.edges, mixed.edge_count, &o,
                           mixed_group, mixed_reason));
        for (size_t i = 0; i < s.count; i++)
            for (size_t j = 0; j < i; j++)
                assert_int_equal(
                    group[i] == group[j], mixed_group[s.count - 1 - i] == mixed_group[s.count - 1 - j]);
    }
    finish_context(ctx);
}

static void each_rule_prefers_its_own(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    /* A crumb between a large far one, a near one, and one with a wide contact. */
    rbli_small_item items[4] = {{.volume = 0.01, .center = {0, 0, 0}, .may_be_small = true},
        {.volume = 9, .center = {5, 0, 0}, .may_be_small = true},
        {.volume = 2, .center = {0, 1, 0}, .may_be_small = true},
        {.volume = 3, .center = {0, 0, 3}, .may_be_small = true}};
    rbli_cluster_edge edges[3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}};
    const int32_t expected[3] = {1, 2, 3};
    for (int rule = 0; rule < 3; rule++) {
        int32_t group[4];
        rbli_small_reason reason[4];
        rbli_small_options o = {0.1, (rbli_small_rule)rule, true};
        assert_ok(ctx, rbli_join_small(ctx, items, 4, edges, 3, &o, group, reason));
        for (int i = 1; i < 4; i++)
            assert_int_equal(group[i] == group[0], i == expected[rule]);
    }
    finish_context(ctx);
}

static void strangers_join_the_nearest(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_small_item items[4] = {{.volume = 0.01, .center = {0, 0, 0}, .may_be_small = true},
        {.volume = 1, .center = {1, 0, 0}, .may_be_small = true, .kind = 7},
        {.volume = 1, .center = {2, 0, 0}, .may_be_small = true},
        {.volume = 1, .center = {3, 0, 0}, .may_be_small = true}};
    rbli_cluster_edge barred[1] = {{0, 2, -HUGE_VAL}};
    int32_t group[4];
    rbli_small_reason reason[4];
    rbli_small_options o = {0.1, RBLI_SMALL_TO_LARGEST, false};
    assert_ok(ctx, rbli_join_small(ctx, items, 4, NULL, 0, &o, group, reason));
    assert_int_equal(group[2], 0);
    assert_ok(ctx, rbli_join_small(ctx, items, 4, barred, 1, &o, group, reason));
    assert_int_equal(group[3], 0);
    assert_int_equal(group[2], 2);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_small_is_left_that_could_join),
        cmocka_unit_test(each_rule_prefers_its_own),
        cmocka_unit_test(strangers_join_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
