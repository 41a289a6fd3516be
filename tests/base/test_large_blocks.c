#include "tests/check.h"

#include "fracture/base/large_blocks.h"
#include "fracture/base/rng.h"

enum { BLOCKS = 64 };

typedef struct held {
    unsigned char *data;
    size_t bytes;
    unsigned char mark;
} held;

static void fill(held *block)
{
    block->data[0] = block->data[block->bytes / 2] = block->data[block->bytes - 1] = block->mark;
}

static bool is_intact(const held *block)
{
    return block->data[0] == block->mark && block->data[block->bytes / 2] == block->mark &&
           block->data[block->bytes - 1] == block->mark;
}

/// Blocks of random sizes come, grow, shrink and go; no two share a byte, and the lists stay sound.
static void random_blocks_stay_apart(void **state)
{
    (void)state;
    const uint32_t seed = 20261130;
    print_message("seed %u\n", seed);
    rbli_large_blocks *blocks = rbli_large_blocks_create();
    if (!blocks) skip();
    held all[BLOCKS] = {{0}};
    for (uint64_t i = 0; i < 20000; i++) {
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, i);
        held *block = &all[rbli_rng_u32(&rng) % BLOCKS];
        size_t bytes = RBLI_LARGE_BYTES + (rbli_rng_u32(&rng) % 5000000 >> rbli_rng_u32(&rng) % 12);
        if (!block->data) {
            block->data = rbli_large_blocks_alloc(blocks, block->bytes = bytes);
            assert_non_null(block->data);
            assert_int_equal((uintptr_t)block->data % 16, 0);
            block->mark = (unsigned char)i;
            fill(block);
        } else if (rbli_rng_u32(&rng) % 2) {
            assert_true(is_intact(block));
            if (rbli_large_blocks_resize(blocks, block->data, bytes)) {
                assert_int_equal(block->data[0], block->mark);
                block->bytes = bytes;
                fill(block);
            }
        } else {
            assert_true(is_intact(block));
            rbli_large_blocks_free(blocks, block->data);
            block->data = NULL;
        }
        if (i % 100 == 0) assert_true(rbli_large_blocks_are_sound(blocks));
    }
    size_t used, kept;
    for (size_t b = 0; b < BLOCKS; b++)
        if (all[b].data) {
            assert_true(is_intact(&all[b]));
            rbli_large_blocks_free(blocks, all[b].data);
        }
    rbli_large_blocks_count(blocks, &used, &kept);
    assert_int_equal(used, 0);
    assert_in_range(kept, 0, 64 << 20);
    assert_true(rbli_large_blocks_are_sound(blocks));
    rbli_large_blocks_destroy(blocks);
}

/// What was freed is used again: the process does not grow.
static void freed_blocks_are_used_again(void **state)
{
    (void)state;
    rbli_large_blocks *blocks = rbli_large_blocks_create();
    if (!blocks) skip();
    char *first = rbli_large_blocks_alloc(blocks, 1 << 20);
    char *second = rbli_large_blocks_alloc(blocks, 1 << 20);
    rbli_large_blocks_free(blocks, first);
    assert_ptr_equal(rbli_large_blocks_alloc(blocks, 1 << 20), first);
    rbli_large_blocks_free(blocks, first);
    rbli_large_blocks_free(blocks, second);
    assert_ptr_equal(rbli_large_blocks_alloc(blocks, 2 << 20), first);
    assert_true(rbli_large_blocks_are_sound(blocks));
    rbli_large_blocks_destroy(blocks);
}

/// A block that fits into no hole takes the pages of holes: what the process holds does not grow by more than the
/// difference.
static void holes_give_their_pages_away(void **state)
{
    (void)state;
    enum { MEGABYTE = 1 << 20 };
    size_t used, kept;
    rbli_large_blocks *blocks = rbli_large_blocks_create();
    if (!blocks) skip();
    char *keep = rbli_large_blocks_alloc(blocks, 64 * MEGABYTE);
    char *hole = rbli_large_blocks_alloc(blocks, 40 * MEGABYTE);
    char *between = rbli_large_blocks_alloc(blocks, MEGABYTE);
    memset(between, 7, MEGABYTE);
    rbli_large_blocks_free(blocks, hole);
    rbli_large_blocks_count(blocks, &used, &kept);
    assert_in_range(kept, 40 * MEGABYTE, 41 * MEGABYTE);
    char *larger = rbli_large_blocks_alloc(blocks, 50 * MEGABYTE);
    memset(larger, 9, 50 * MEGABYTE);
    rbli_large_blocks_count(blocks, &used, &kept);
    assert_in_range(kept, 0, 2 * MEGABYTE);
    assert_true(rbli_large_blocks_are_sound(blocks));
    assert_ptr_equal(rbli_large_blocks_alloc(blocks, 40 * MEGABYTE), hole); /* the hole is still there */
    memset(hole, 5, 40 * MEGABYTE);
    assert_int_equal(between[0], 7);
    assert_int_equal(between[MEGABYTE - 1], 7);
    assert_int_equal(larger[0], 9);
    assert_true(rbli_large_blocks_are_sound(blocks));
    rbli_large_blocks_free(blocks, keep);
    rbli_large_blocks_destroy(blocks);
}

/// Blocks of the allocator keep their content across the size at which they change their home.
/// What was kept beside much in use goes when that is freed, too, wherever it lies.
static void little_stays_when_little_is_in_use(void **state)
{
    (void)state;
    enum { COUNT = 200, MEGABYTE = 1 << 20 };
    rbli_large_blocks *blocks = rbli_large_blocks_create();
    if (!blocks) skip();
    size_t used, kept;
    void *scratch[COUNT], *results[COUNT];
    for (int i = 0; i < COUNT; i++) {
        scratch[i] = rbli_large_blocks_alloc(blocks, 4 * MEGABYTE);
        results[i] = rbli_large_blocks_alloc(blocks, 2 * MEGABYTE);
        assert_true(scratch[i] && results[i]);
    }
    for (int i = 0; i < COUNT; i++)
        rbli_large_blocks_free(blocks, scratch[i]);
    rbli_large_blocks_count(blocks, &used, &kept);
    assert_in_range(kept, 4 * COUNT * MEGABYTE, 5 * COUNT * MEGABYTE); /* below three times as many */
    for (int i = 0; i < COUNT; i++) {
        rbli_large_blocks_free(blocks, results[i]);
        rbli_large_blocks_count(blocks, &used, &kept);
        assert_true(kept <= 3 * used || kept <= 64 * MEGABYTE);
        assert_true(rbli_large_blocks_are_sound(blocks));
    }
    rbli_large_blocks_destroy(blocks);
}

static void content_moves_with_its_block(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    size_t sizes[] = {100, RBLI_LARGE_BYTES + 5, 3 << 20, RBLI_LARGE_BYTES, 1 << 24, 1000, 10};
    uint8_t *data = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        data = rbli_realloc(ctx, data, sizes[i], 1);
        assert_non_null(data);
        for (size_t k = 0; i > 0 && k < 10; k++)
            assert_int_equal(data[k], k);
        for (size_t k = 0; k < 10; k++)
            data[k] = (uint8_t)k;
    }
    rbli_free(ctx, data);
    assert_null(rbli_alloc(ctx, (size_t)PTRDIFF_MAX - 100, 1));
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks_stay_apart),
        cmocka_unit_test(freed_blocks_are_used_again),
        cmocka_unit_test(holes_give_their_pages_away),
        cmocka_unit_test(little_stays_when_little_is_in_use),
        cmocka_unit_test(content_moves_with_its_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
