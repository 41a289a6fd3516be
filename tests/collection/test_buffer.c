#include "tests/check.h"

#include "fracture/base/threads.h"
#include "fracture/collection/buffer.h"
#include "tests/failing_alloc.h"

static void arrays_begin_zeroed_and_aligned(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_buffer *buffer = NULL;
    assert_ok(ctx, rbli_buffer_create(ctx, RBL_VEC3, 100, &buffer));
    assert_int_equal(rbli_buffer_count(buffer), 100);
    assert_int_equal(rbli_buffer_type(buffer), RBL_VEC3);
    assert_false(rbli_buffer_is_list(buffer));
    assert_null(rbli_buffer_offsets(buffer));
    assert_int_equal((uintptr_t)rbli_buffer_data(buffer) % 16, 0);
    const double *values = rbli_buffer_data(buffer);
    for (int i = 0; i < 300; i++)
        assert_true(values[i] == 0);
    assert_true(rbli_buffer_bytes(buffer) >= 2400);
    rbli_buffer_release(buffer);
    rbli_buffer_release(NULL);
    buffer = NULL;
    assert_int_equal(rbli_buffer_create(ctx, (rbl_type)99, 1, &buffer), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_buffer_create(ctx, RBL_MAT4, SIZE_MAX / 100, &buffer), RBL_ERR_NO_MEMORY);
    assert_int_equal(rbli_buffer_create(ctx, RBL_BOOL, SIZE_MAX - 5, &buffer), RBL_ERR_NO_MEMORY);
    assert_null(buffer);
    finish_context(ctx);
}

/// An array that took its values over is like any other.
static void adopted_values_are_owned(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_buffer *adopted = NULL, *plain = NULL, *part = NULL;
    void *out;
    int32_t *values = rbli_alloc(ctx, 5, sizeof *values);
    assert_ok(ctx, rbli_buffer_create_unset(ctx, RBL_INT32, 5, &out, &plain));
    for (int i = 0; i < 5; i++)
        values[i] = ((int32_t *)out)[i] = 3 * i;
    assert_ok(ctx, rbli_buffer_adopt(ctx, RBL_INT32, 5, values, &adopted));
    assert_ptr_equal(rbli_buffer_data(adopted), values);
    assert_int_equal(rbli_buffer_count(adopted), 5);
    assert_in_range(rbli_buffer_bytes(adopted), 20, rbli_buffer_bytes(plain) + 16);
    assert_true(rbli_hash_equal(rbli_buffer_hash(adopted), rbli_buffer_hash(plain)));
    assert_ok(ctx, rbli_buffer_resize(ctx, adopted, 7, &part));
    assert_int_equal(((const int32_t *)rbli_buffer_data(part))[4], 12);
    rbli_buffer *shared = rbli_buffer_retain(adopted);
    out = rbli_buffer_write(ctx, &shared);
    assert_non_null(out);
    ((int32_t *)out)[0] = 1;
    assert_int_equal(values[0], 0);
    assert_ptr_equal(rbli_buffer_write(ctx, &adopted), values);
    rbli_buffer_release(shared);
    rbli_buffer_release(adopted);
    rbli_buffer_release(plain);
    rbli_buffer_release(part);
    finish_context(ctx);
}

static void types_have_words_and_sizes(void **state)
{
    (void)state;
    assert_int_equal(rbl_type_bytes(RBL_MAT4), 128);
    assert_int_equal(rbl_type_bytes((rbl_type)0), 0);
    assert_string_equal(rbl_type_word(RBL_INT32_3), "int32_3");
    assert_string_equal(rbl_type_word((rbl_type)16), "unknown");
}

static void a_write_clones_only_what_is_shared(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_buffer *buffer = NULL;
    assert_ok(ctx, rbli_buffer_create(ctx, RBL_INT32, 10, &buffer));
    rbli_buffer *same = buffer;
    int32_t *values = rbli_buffer_write(ctx, &buffer);
    assert_ptr_equal(buffer, same);
    values[3] = 7;
    rbli_buffer *other = rbli_buffer_retain(buffer);
    assert_true(rbli_buffer_is_shared(buffer));
    values = rbli_buffer_write(ctx, &other);
    assert_ptr_not_equal(buffer, other);
    assert_int_equal(values[3], 7);
    values[3] = 8;
    assert_int_equal(((const int32_t *)rbli_buffer_data(buffer))[3], 7);
    assert_false(rbli_buffer_is_shared(buffer));
    assert_false(rbli_buffer_is_shared(other));
    rbli_buffer_release(buffer);
    rbli_buffer_release(other);
    finish_context(ctx);
}

static void hashes_follow_content_type_and_count(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_buffer *a = NULL, *b = NULL, *c = NULL;
    assert_ok(ctx, rbli_buffer_create(ctx, RBL_INT32, 4, &a));
    assert_ok(ctx, rbli_buffer_create(ctx, RBL_INT32, 4, &b));
    assert_ok(ctx, rbli_buffer_create(ctx, RBL_INT64, 2, &c));
    assert_true(rbli_hash_equal(rbli_buffer_hash(a), rbli_buffer_hash(b)));
    assert_false(rbli_hash_equal(rbli_buffer_hash(a), rbli_buffer_hash(c)));
    ((int32_t *)rbli_buffer_write(ctx, &b))[0] = 1;
    assert_false(rbli_hash_equal(rbli_buffer_hash(a), rbli_buffer_hash(b)));
    ((int32_t *)rbli_buffer_write(ctx, &b))[0] = 0;
    assert_true(rbli_hash_equal(rbli_buffer_hash(a), rbli_buffer_hash(b)));
    rbli_buffer_release(a);
    rbli_buffer_release(b);
    rbli_buffer_release(c);
    /* "ab", "" and "a", "b" have the same text. */
    assert_ok(ctx, rbli_buffer_create_strings(ctx, 2, (const char *const[]){"ab", ""}, &a));
    assert_ok(ctx, rbli_buffer_create_strings(ctx, 2, (const char *const[]){"a", "b"}, &b));
    assert_false(rbli_hash_equal(rbli_buffer_hash(a), rbli_buffer_hash(b)));
    rbli_buffer_release(a);
    rbli_buffer_release(b);
    finish_context(ctx);
}

static void strings_are_ended_and_concatenated(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_buffer *strings = NULL;
    assert_ok(
        ctx, rbli_buffer_create_strings(ctx, 4, (const char *const[]){"one", NULL, "", "grün"}, &strings));
    assert_string_equal(rbli_buffer_string(strings, 0), "one");
    assert_string_equal(rbli_buffer_string(strings, 1), "");
    assert_string_equal(rbli_buffer_string(strings, 2), "");
    assert_string_equal(rbli_buffer_string(strings, 3), "grün");
    assert_string_equal(rbli_buffer_string(strings, 4), "");
    assert_memory_equal(rbli_buffer_data(strings), "onegrün", 8);
    assert_int_equal(rbli_buffer_offsets(strings)[4], 8);
    rbli_buffer *write = strings;
    assert_null(rbli_buffer_write(ctx, &write));
    assert_ptr_equal(write, strings);
    rbli_buffer_release(strings);
    finish_context(ctx);
}

static void list_offsets_are_checked(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_buffer *list = NULL;
    const double values[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_int_equal(
        rbli_buffer_create_list(ctx, RBL_VEC3, 2, (uint64_t[]){1, 2, 3}, values, &list), RBL_ERR_ARGUMENT);
    assert_int_equal(
        rbli_buffer_create_list(ctx, RBL_VEC3, 2, (uint64_t[]){0, 2, 1}, values, &list), RBL_ERR_ARGUMENT);
    assert_null(list);
    assert_ok(ctx, rbli_buffer_create_list(ctx, RBL_VEC3, 2, (uint64_t[]){0, 2, 3}, values, &list));
    assert_true(rbli_buffer_is_list(list));
    assert_memory_equal(rbli_buffer_data(list), values, sizeof values);
    assert_string_equal(rbli_buffer_string(list, 0), "");
    rbli_buffer_release(list);
    finish_context(ctx);
}

static rbl_status gather_resize_and_join(rbl_context *ctx, void *user)
{
    (void)user;
    rbl_status status;
    rbli_buffer *array = NULL, *strings = NULL, *picked = NULL, *longer = NULL, *shorter = NULL,
                *joined = NULL;
    RBL_TRY(rbli_buffer_create(ctx, RBL_INT32_3, 3, &array));
    int32_t(*values)[3] = rbli_buffer_write(ctx, &array);
    for (int i = 0; i < 3; i++)
        values[i][2] = i + 1;
    RBL_TRY(rbli_buffer_gather(ctx, array, (int32_t[]){2, -1, 0, 2}, 4, &picked));
    const int32_t(*got)[3] = rbli_buffer_data(picked);
    assert_int_equal(got[0][2] * 1000 + got[1][2] * 100 + got[2][2] * 10 + got[3][2], 3013);
    rbli_buffer_release(picked);
    picked = NULL;

    RBL_TRY(rbli_buffer_create_strings(ctx, 3, (const char *const[]){"a", "bb", ""}, &strings));
    RBL_TRY(rbli_buffer_gather(ctx, strings, (int32_t[]){1, -1, 0, 1}, 4, &picked));
    assert_memory_equal(rbli_buffer_data(picked), "bbabb", 5);
    assert_string_equal(rbli_buffer_string(picked, 2), "a");
    RBL_TRY(rbli_buffer_resize(ctx, strings, 5, &longer));
    assert_string_equal(rbli_buffer_string(longer, 1), "bb");
    assert_string_equal(rbli_buffer_string(longer, 4), "");
    RBL_TRY(rbli_buffer_resize(ctx, strings, 1, &shorter));
    assert_int_equal(rbli_buffer_count(shorter), 1);
    assert_int_equal(rbli_buffer_offsets(shorter)[1], 1);
    RBL_TRY(rbli_buffer_concat(ctx, picked, strings, &joined));
    assert_int_equal(rbli_buffer_count(joined), 7);
    assert_string_equal(rbli_buffer_string(joined, 3), "bb");
    assert_string_equal(rbli_buffer_string(joined, 5), "bb");
    assert_int_equal(rbli_buffer_concat(ctx, picked, array, &joined), RBL_ERR_TYPE);
    assert_int_equal(rbli_buffer_gather(ctx, array, (int32_t[]){3}, 1, &joined), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_buffer_gather(ctx, array, (int32_t[]){-2}, 1, &joined), RBL_ERR_ARGUMENT);
done:
    rbli_buffer_release(array);
    rbli_buffer_release(strings);
    rbli_buffer_release(picked);
    rbli_buffer_release(longer);
    rbli_buffer_release(shorter);
    rbli_buffer_release(joined);
    return status;
}

static void parts_make_new_arrays(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    assert_ok(ctx, gather_resize_and_join(ctx, NULL));
    finish_context(ctx);
    fail_each_allocation(gather_resize_and_join, NULL, 0);
}

static rbl_status hash_shared(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)ctx;
    (void)end;
    (void)block;
    (void)worker;
    rbli_buffer **buffers = user;
    rbli_buffer *mine = rbli_buffer_retain(buffers[begin % 4]);
    rbli_hash hash = rbli_buffer_hash(mine);
    ((int32_t *)rbli_buffer_write(ctx, &mine))[5] = 1 + (int32_t)begin;
    rbli_hash changed = rbli_buffer_hash(mine);
    rbli_buffer_release(mine);
    return rbli_hash_equal(hash, changed) ? RBL_ERR_INTERNAL : RBL_OK;
}

static void hashes_and_counts_are_safe_across_threads(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(4);
    for (int round = 0; round < 20; round++) {
        rbli_buffer *buffers[4] = {0};
        for (int i = 0; i < 4; i++)
            assert_ok(ctx, rbli_buffer_create(ctx, RBL_INT32, 5000, &buffers[i]));
        assert_ok(ctx, rbli_parallel_for(ctx, 64, 1, hash_shared, buffers));
        for (int i = 0; i < 4; i++) {
            assert_false(rbli_buffer_is_shared(buffers[i]));
            assert_int_equal(((const int32_t *)rbli_buffer_data(buffers[i]))[5], 0);
            rbli_buffer_release(buffers[i]);
        }
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_begin_zeroed_and_aligned),
        cmocka_unit_test(adopted_values_are_owned),
        cmocka_unit_test(types_have_words_and_sizes),
        cmocka_unit_test(a_write_clones_only_what_is_shared),
        cmocka_unit_test(hashes_follow_content_type_and_count),
        cmocka_unit_test(strings_are_ended_and_concatenated),
        cmocka_unit_test(list_offsets_are_checked),
        cmocka_unit_test(parts_make_new_arrays),
        cmocka_unit_test(hashes_and_counts_are_safe_across_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
