#include "tests/check.h"

#include "fracture/base/affine.h"
#include "fracture/base/hash.h"
#include "fracture/base/rng.h"
#include "fracture/base/threads.h"

static void allocation_checks_overflow(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    assert_null(rbli_alloc(ctx, SIZE_MAX / 2, 3));
    assert_null(rbli_alloc(ctx, SIZE_MAX, 1));
    void *empty = rbli_alloc(ctx, 0, 8);
    assert_non_null(empty);
    rbli_free(ctx, empty);
    finish_context(ctx);
}

static void arena_rewinds_to_its_mark_and_empties(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_arena arena;
    rbli_arena_init(&arena, ctx);
    char *first = rbli_arena_alloc(&arena, 100, 1);
    memset(first, 7, 100);
    rbli_arena_mark mark = rbli_arena_get_mark(&arena);
    for (int i = 0; i < 1000; i++)
        assert_non_null(rbli_arena_alloc(&arena, 1000, 1));
    rbli_arena_rewind(&arena, mark);
    assert_int_equal(first[99], 7);
    assert_int_equal((uintptr_t)rbli_arena_alloc(&arena, 1, 1) % 16, 0);
    rbli_arena_clear(&arena);
    size_t kept = rbli_allocator_bytes(ctx->allocator);
    for (int i = 0; i < 1000; i++) {
        assert_non_null(rbli_arena_alloc(&arena, 1000, 1));
        rbli_arena_clear(&arena);
    }
    assert_int_equal(rbli_allocator_bytes(ctx->allocator), kept);
    rbli_arena_free(&arena);
    rbli_arena_clear(&arena);
    finish_context(ctx);
}

/// Known answers from the Random123 distribution (kat_vectors, philox4x32-10).
static void philox_gives_the_published_vectors(void **state)
{
    (void)state;
    uint32_t out[4];
    rbli_philox4x32_10((uint32_t[]){0, 0, 0, 0}, (uint32_t[]){0, 0}, out);
    assert_int_equal(out[0], 0x6627e8d5);
    assert_int_equal(out[1], 0xe169c58d);
    assert_int_equal(out[2], 0xbc57ac4c);
    assert_int_equal(out[3], 0x9b00dbd8);
    rbli_philox4x32_10((uint32_t[]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
        (uint32_t[]){0xa4093822, 0x299f31d0}, out);
    assert_int_equal(out[0], 0xd16cfe09);
}

static void random_doubles_are_uniform(void **state)
{
    (void)state;
    double sum = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, i);
        double value = rbli_rng_double(&rng);
        assert_true(value >= 0 && value < 1);
        sum += value;
        assert_true(rbli_rng_below(&rng, 7) < 7);
    }
    assert_close(sum / 10000, 0.5, 0.01);
}

static rbl_status add_index(rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)block;
    (void)worker;
    int *values = user;
    for (size_t i = begin; i < end; i++)
        values[i] += (int)i;
    return RBL_OK;
}

static void parallel_loop_visits_each_element_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        rbl_context *ctx = make_context(threads);
        int *values = rbli_calloc(ctx, 10007, sizeof *values);
        for (int round = 0; round < 20; round++)
            assert_int_equal(rbli_parallel_for(ctx, 10007, 13, add_index, values), RBL_OK);
        for (int i = 0; i < 10007; i++)
            assert_int_equal(values[i], 20 * i);
        rbli_free(ctx, values);
        finish_context(ctx);
    }
}

static rbl_status fail_from_block_5(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)end;
    (void)worker;
    (void)user;
    if (block >= 5) return rbli_fail(ctx, RBL_ERR_LIMIT, "element %zu", begin);
    return RBL_OK;
}

static void lowest_failing_block_wins(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        rbl_context *ctx = make_context(threads);
        for (int round = 0; round < 50; round++) {
            rbli_messages_clear(ctx->messages);
            assert_int_equal(rbli_parallel_for(ctx, 1000, 10, fail_from_block_5, NULL), RBL_ERR_LIMIT);
            assert_int_equal(rbli_messages_count(ctx->messages), 1);
            assert_string_equal(rbli_messages_get(ctx->messages, 0)->text, "element 50");
        }
        finish_context(ctx);
    }
}

static void cancelled_loop_says_so(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    atomic_bool cancel = true;
    ctx->cancel = &cancel;
    int values[100] = {0};
    assert_int_equal(rbli_parallel_for(ctx, 100, 1, add_index, values), RBL_ERR_CANCELLED);
    finish_context(ctx);
}

static void hashes_depend_on_content_and_order(void **state)
{
    (void)state;
    rbli_hash a = rbli_hash_string("a"), b = rbli_hash_string("b");
    assert_false(rbli_hash_equal(rbli_hash_combine(a, b), rbli_hash_combine(b, a)));
    assert_true(rbli_hash_equal(a, rbli_hash_bytes("a", 1)));
    char text[33];
    rbli_hash_to_text(a, text);
    assert_int_equal(strlen(text), 32);
}

static void affine_transforms_undo_themselves(void **state)
{
    (void)state;
    const double m[16] = {0, 2, 0, 0, -3, 0, 1, 0, 0.5, 0, 4, 0, 10, -20, 30, 1};
    double inverse[16], product[16], p[3] = {1.5, -2.5, 3.5}, q[3];
    assert_true(rbli_affine_invert(m, inverse));
    rbli_affine_multiply(m, inverse, product);
    for (int i = 0; i < 16; i++)
        assert_close(product[i], i % 5 == 0, 1e-14);
    rbli_affine_point(m, p, q);
    assert_true(rbli_affine_solve_point(m, q, q));
    for (int k = 0; k < 3; k++)
        assert_close(q[k], p[k], 1e-14);
    const double flat[16] = {1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    assert_false(rbli_affine_invert(flat, inverse));
    assert_false(rbli_affine_is_identity(m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation_checks_overflow),
        cmocka_unit_test(arena_rewinds_to_its_mark_and_empties),
        cmocka_unit_test(philox_gives_the_published_vectors),
        cmocka_unit_test(random_doubles_are_uniform),
        cmocka_unit_test(parallel_loop_visits_each_element_once),
        cmocka_unit_test(lowest_failing_block_wins),
        cmocka_unit_test(cancelled_loop_says_so),
        cmocka_unit_test(hashes_depend_on_content_and_order),
        cmocka_unit_test(affine_transforms_undo_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
