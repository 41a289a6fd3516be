#include <math.h>

#include "tests/check.h"

#include "fracture/base/rng.h"
#include "fracture/geometry/cluster_convex.h"

/* Unit boxes that form letters. */

enum { MOST = 64 };

typedef struct blocks {
    int at[MOST][3];
    rbli_extremes extremes[MOST];
    double volume[MOST];
    rbli_cluster_edge edges[3 * MOST];
    size_t count, edge_count;
} blocks;

static void add_block(blocks *b, int x, int y, int z)
{
    double corners[8][3];
    size_t i = b->count++;
    int at[3] = {x, y, z};
    memcpy(b->at[i], at, sizeof at);
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 3; k++)
            corners[c][k] = at[k] + (c >> k & 1);
    rbli_extremes_add(&b->extremes[i], (const double(*)[3])corners, 8);
    b->volume[i] = 1;
    for (size_t j = 0; j < i; j++) {
        int apart = 0;
        for (int k = 0; k < 3; k++)
            apart += abs(b->at[j][k] - at[k]);
        if (apart == 1) b->edges[b->edge_count++] = (rbli_cluster_edge){(int32_t)j, (int32_t)i, 1};
    }
}

static size_t group(rbl_context *ctx, const blocks *b, size_t wanted, double tolerance, int32_t *label)
{
    rbli_convex_cluster_options o = {wanted, tolerance};
    size_t count;
    assert_ok(ctx, rbli_cluster_convex(
                       ctx, b->extremes, b->volume, b->count, b->edges, b->edge_count, &o, label, &count));
    return count;
}

/// Every group fills its bounds: it is a box.
static void check_boxes(const blocks *b, const int32_t *label, size_t count)
{
    for (size_t g = 0; g < count; g++) {
        int low[3] = {99, 99, 99}, high[3] = {-99, -99, -99}, members = 0, bounds = 1;
        for (size_t i = 0; i < b->count; i++) {
            if (label[i] != (int32_t)g) continue;
            members++;
            for (int k = 0; k < 3; k++) {
                low[k] = b->at[i][k] < low[k] ? b->at[i][k] : low[k];
                high[k] = b->at[i][k] > high[k] ? b->at[i][k] : high[k];
            }
        }
        for (int k = 0; k < 3; k++)
            bounds *= high[k] - low[k] + 1;
        assert_int_equal(members, bounds);
    }
}

static void a_letter_falls_into_its_strokes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    static blocks b;
    int32_t label[MOST];
    memset(&b, 0, sizeof b);
    for (int i = 0; i < 8; i++)
        add_block(&b, i, 0, 0);
    for (int i = 1; i < 8; i++)
        add_block(&b, 0, i, 0);
    assert_int_equal(group(ctx, &b, 2, 0, label), 2);
    check_boxes(&b, label, 2);
    /* With a tolerance the strokes grow together below the count, the letter does not. */
    assert_int_equal(group(ctx, &b, 9, 0.5, label), 2);
    check_boxes(&b, label, 2);
    assert_int_equal(group(ctx, &b, 1, 0, label), 1);
    finish_context(ctx);
}

static void what_does_not_touch_stays_apart(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static blocks b;
    int32_t label[MOST];
    memset(&b, 0, sizeof b);
    for (int i = 0; i < 3; i++) {
        add_block(&b, 0, 3 * i, 0);
        add_block(&b, 1, 3 * i, 0);
    }
    assert_int_equal(group(ctx, &b, 1, 0, label), 3);
    assert_int_equal(label[0], 0);
    assert_int_equal(label[3], 1);
    assert_int_equal(label[5], 2);
    finish_context(ctx);
}

static void outermost_points_do_not_depend_on_their_order(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double points[40][3];
    for (uint32_t seed = 0; seed < 20; seed++) {
        rbli_extremes forth = {0}, back = {0}, half = {0}, rest = {0};
        double volume, cube = 8;
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 0);
        for (int i = 0; i < 40; i++)
            for (int k = 0; k < 3; k++)
                points[i][k] = i < 8 ? 2 * (i >> k & 1) : rbli_rng_below(&rng, 3);
        rbli_extremes_add(&forth, (const double(*)[3])points, 40);
        for (int i = 40; i-- > 0;)
            rbli_extremes_add(&back, (const double(*)[3])points + i, 1);
        rbli_extremes_add(&half, (const double(*)[3])points + 11, 29);
        rbli_extremes_add(&rest, (const double(*)[3])points, 11);
        rbli_extremes_join(&half, &rest);
        assert_memory_equal(forth.points, back.points, sizeof forth.points);
        assert_memory_equal(forth.points, half.points, sizeof forth.points);
        assert_ok(ctx, rbli_extremes_volume(ctx, &forth, &volume));
        assert_close(volume, cube, 1e-9);
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_falls_into_its_strokes),
        cmocka_unit_test(what_does_not_touch_stays_apart),
        cmocka_unit_test(outermost_points_do_not_depend_on_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
