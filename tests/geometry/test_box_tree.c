/// Queries against trying every box.

#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/box_tree.h"

enum { MOST = 700 };

typedef struct boxes {
    double box[MOST][2][3];
    size_t count;
} boxes;

static void fill(boxes *b, size_t count, double size, double scale, uint64_t seed)
{
    rbli_rng rng = rbli_rng_make(21, RBLI_RNG_TEST, seed);
    b->count = count;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            double at = rbli_rng_double(&rng);
            b->box[i][0][k] = scale * (at + 3);
            b->box[i][1][k] = scale * (at + 3 + size * rbli_rng_double(&rng));
        }
}

static bool overlap(const double a[2][3], const double b[2][3])
{
    for (int k = 0; k < 3; k++)
        if (a[0][k] > b[1][k] || b[0][k] > a[1][k]) return false;
    return true;
}

/// Farther apart than the tree may err.
static bool far_apart(const boxes *b, const double a[2][3], const double c[2][3], double scale)
{
    (void)b;
    for (int k = 0; k < 3; k++)
        if (a[0][k] > c[1][k] + 3e-6 * scale || c[0][k] > a[1][k] + 3e-6 * scale) return true;
    return false;
}

static bool mark(void *user, int32_t item)
{
    ((uint8_t *)user)[item]++;
    return true;
}

static bool stop(void *user, int32_t item)
{
    (void)item;
    ++*(int *)user;
    return false;
}

static void queries_find_what_overlaps(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    boxes *b = malloc(sizeof *b);
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 16, 17, 64, 65, 300, MOST};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int size = 0; size < 3; size++) {
            double scale = size == 1 ? 1e12 : size == 2 ? 1e-12 : 1;
            fill(b, counts[c], size == 0 ? 0.0 : 0.2, scale, c);
            rbli_box_tree *tree = NULL;
            assert_ok(ctx, rbli_box_tree_create(ctx, (const double(*)[2][3])b->box, b->count, &tree));
            for (size_t q = 0; q < 40; q++) {
                uint8_t seen[MOST] = {0};
                double box[2][3];
                rbli_rng rng = rbli_rng_make(22, RBLI_RNG_TEST, q);
                for (int k = 0; k < 3; k++) {
                    box[0][k] = scale * (3 + rbli_rng_double(&rng));
                    box[1][k] = q % 4 == 0 ? INFINITY : box[0][k] + scale * 0.3 * rbli_rng_double(&rng);
                }
                assert_true(rbli_box_tree_query(tree, box[0], box[1], mark, seen));
                for (size_t i = 0; i < b->count; i++) {
                    assert_true(seen[i] <= 1);
                    if (overlap(b->box[i], box)) assert_int_equal(seen[i], 1);
                    if (seen[i]) assert_false(far_apart(b, b->box[i], box, scale));
                }
            }
            rbli_box_tree_destroy(ctx, tree);
        }
    free(b);
    finish_context(ctx);
}

static void a_visit_can_end_a_query(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    boxes *b = malloc(sizeof *b);
    fill(b, 100, 0.2, 1, 3);
    rbli_box_tree *tree = NULL;
    assert_ok(ctx, rbli_box_tree_create(ctx, (const double(*)[2][3])b->box, b->count, &tree));
    int visits = 0;
    const double min[3] = {-INFINITY, -INFINITY, -INFINITY}, max[3] = {INFINITY, INFINITY, INFINITY};
    assert_false(rbli_box_tree_query(tree, min, max, stop, &visits));
    assert_int_equal(visits, 1);
    rbli_box_tree_destroy(ctx, tree);
    free(b);
    finish_context(ctx);
}

typedef struct pair_marks {
    uint8_t (*seen)[MOST];
    const int32_t *items;
} pair_marks;

static void mark_pair(void *user, int32_t a, int32_t b)
{
    pair_marks *marks = user;
    assert_true(a < b);
    int32_t i = marks->items[a], j = marks->items[b];
    marks->seen[i < j ? i : j][i < j ? j : i]++;
}

static void pairs_come_once_in_any_blocks(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    boxes *b = malloc(sizeof *b);
    uint8_t(*seen)[MOST] = malloc(sizeof *seen * MOST);
    static const size_t counts[] = {0, 1, 2, 4, 5, 17, 65, 300, MOST};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        fill(b, counts[c], 0.2, 1, c);
        memset(seen, 0, sizeof *seen * MOST);
        rbli_box_tree *tree = NULL;
        assert_ok(ctx, rbli_box_tree_create(ctx, (const double(*)[2][3])b->box, b->count, &tree));
        pair_marks marks = {seen, rbli_box_tree_items(tree)};
        size_t blocks = rbli_box_tree_block_count(tree);
        for (size_t first = 0; first < blocks; first += 3)
            rbli_box_tree_pairs(tree, first, first + 3 < blocks ? first + 3 : blocks, mark_pair, &marks);
        for (size_t i = 0; i < b->count; i++)
            for (size_t j = i + 1; j < b->count; j++) {
                assert_true(seen[i][j] <= 1);
                if (overlap(b->box[i], b->box[j])) assert_int_equal(seen[i][j], 1);
                if (seen[i][j]) assert_false(far_apart(b, b->box[i], b->box[j], 1));
            }
        rbli_box_tree_destroy(ctx, tree);
    }
    free(seen);
    free(b);
    finish_context(ctx);
}

typedef struct walk_marks {
    const rbli_box_tree *tree;
    uint8_t seen[MOST];
} walk_marks;

static int mark_pack(
    void *user, int level, size_t pack, unsigned hits, const float (*min)[4], const float (*max)[4])
{
    walk_marks *marks = user;
    for (unsigned lane = 0; lane < RBLI_BOX_TREE_FAN; lane++) {
        if (!(hits >> lane & 1)) continue;
        size_t node = pack * RBLI_BOX_TREE_FAN + lane;
        rbli_flat_box box = rbli_box_tree_node(marks->tree, level, node);
        assert_true(node < rbli_box_tree_node_count(marks->tree, level));
        for (int k = 0; k < 3; k++)
            assert_true(box.min[k] == min[k][lane] && box.max[k] == max[k][lane]);
        if (level == 0) marks->seen[rbli_box_tree_items(marks->tree)[node]]++;
    }
    return (int)hits;
}

static void a_walk_comes_to_what_a_query_finds(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    boxes *b = malloc(sizeof *b);
    static const size_t counts[] = {0, 1, 4, 17, 300, MOST};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        fill(b, counts[c], 0.2, 1, c);
        rbli_box_tree *tree = NULL;
        assert_ok(ctx, rbli_box_tree_create(ctx, (const double(*)[2][3])b->box, b->count, &tree));
        const double min[3] = {3.2, 3.2, 3.2}, max[3] = {3.7, 3.7, 3.7};
        uint8_t seen[MOST] = {0};
        walk_marks marks = {tree, {0}};
        rbli_flat_box box = rbli_box_tree_flatten(tree, min, max);
        assert_true(rbli_box_tree_query(tree, min, max, mark, seen));
        assert_true(rbli_box_tree_walk(tree, &box, mark_pack, &marks));
        assert_memory_equal(seen, marks.seen, sizeof seen);
        rbli_box_tree_destroy(ctx, tree);
    }
    free(b);
    finish_context(ctx);
}

static void dropped_blocks_are_in_no_pair(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    boxes *b = malloc(sizeof *b);
    uint8_t(*seen)[MOST] = calloc(MOST, sizeof *seen), gone[MOST] = {0};
    fill(b, MOST, 0.2, 1, 7);
    rbli_box_tree *tree = NULL;
    assert_ok(ctx, rbli_box_tree_create(ctx, (const double(*)[2][3])b->box, b->count, &tree));
    pair_marks marks = {seen, rbli_box_tree_items(tree)};
    size_t blocks = rbli_box_tree_block_count(tree);
    for (size_t block = 0; block < blocks; block += 1 + block % 3) {
        rbli_box_tree_drop_block(tree, block);
        for (size_t i = 0; i < RBLI_BOX_TREE_FAN; i++)
            gone[marks.items[block * RBLI_BOX_TREE_FAN + i]] = 1;
    }
    rbli_box_tree_pairs(tree, 0, blocks, mark_pair, &marks);
    for (size_t i = 0; i < b->count; i++)
        for (size_t j = i + 1; j < b->count; j++) {
            if (gone[i] || gone[j]) assert_int_equal(seen[i][j], 0);
            if (!gone[i] && !gone[j] && overlap(b->box[i], b->box[j])) assert_int_equal(seen[i][j], 1);
        }
    rbli_box_tree_destroy(ctx, tree);
    free(seen);
    free(b);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_find_what_overlaps),
        cmocka_unit_test(a_visit_can_end_a_query),
        cmocka_unit_test(pairs_come_once_in_any_blocks),
        cmocka_unit_test(a_walk_comes_to_what_a_query_finds),
        cmocka_unit_test(dropped_blocks_are_in_no_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
