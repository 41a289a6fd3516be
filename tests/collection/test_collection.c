#include "tests/check.h"

#include "fracture/collection/collection.h"
#include "tests/failing_alloc.h"

/// Two groups: "a" of 4 with an int array, a string array and a list of doubles; "b" of 2 with a vec3 array.
static rbl_status make_small(rbl_context *ctx, rbl_collection **out)
{
    rbl_status status;
    rbl_collection *made = NULL;
    rbli_buffer *buffer = NULL;
    int32_t *numbers;
    double(*points)[3];
    RBL_TRY(rbli_collection_create(ctx, &made));
    RBL_TRY(rbli_collection_resize(ctx, made, "a", 4));
    RBL_TRY(rbli_collection_resize(ctx, made, "b", 2));
    RBL_TRY(rbli_collection_write(ctx, made, "a", "number", RBL_INT32, (void **)&numbers));
    for (int i = 0; i < 4; i++)
        numbers[i] = 10 + i;
    RBL_TRY(rbli_collection_write(ctx, made, "b", "point", RBL_VEC3, (void **)&points));
    points[1][2] = 5;
    RBL_TRY(rbli_buffer_create_strings(ctx, 4, (const char *const[]){"p", "qq", "", "rrr"}, &buffer));
    RBL_TRY(rbli_collection_set(ctx, made, "a", "name", buffer));
    rbli_buffer_release(buffer);
    buffer = NULL;
    RBL_TRY(rbli_buffer_create_list(
        ctx, RBL_DOUBLE, 4, (uint64_t[]){0, 2, 2, 3, 3}, (double[]){1.5, 2.5, 3.5}, &buffer));
    RBL_TRY(rbli_collection_set(ctx, made, "a", "list", buffer));
    *out = made;
    made = NULL;
done:
    rbli_buffer_release(buffer);
    rbli_collection_release(made);
    return status;
}

static void names_are_sorted_and_found(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *made = NULL;
    assert_ok(ctx, rbli_collection_create(ctx, &made));
    const char *const names[] = {
        "vertex", "bone", "face", "x_9", "corner", "_a", "convex", "geometry", "a", "z"};
    const char *const sorted[] = {
        "_a", "a", "bone", "convex", "corner", "face", "geometry", "vertex", "x_9", "z"};
    for (int i = 0; i < 10; i++) {
        void *elements;
        assert_ok(ctx, rbli_collection_resize(ctx, made, names[i], (size_t)i));
        assert_ok(ctx, rbli_collection_write(ctx, made, "vertex", names[i], RBL_INT32, &elements));
    }
    assert_int_equal(rbli_collection_group_count(made), 10);
    assert_int_equal(rbli_collection_attribute_count(made, "vertex"), 10);
    for (size_t i = 0; i < 10; i++) {
        assert_string_equal(rbli_collection_group_name(made, i), sorted[i]);
        assert_string_equal(rbli_collection_attribute_name(made, "vertex", i), sorted[i]);
        assert_int_equal(rbli_collection_size(made, names[i]), i);
    }
    assert_null(rbli_collection_attribute_name(made, "vertex", 10));
    assert_null(rbli_collection_attribute_name(made, "nothing", 0));
    assert_false(rbli_collection_has_group(made, "nothing"));
    rbli_collection_remove_group(made, "bone");
    rbli_collection_remove_group(made, "nothing");
    rbli_collection_remove(made, "vertex", "face");
    rbli_collection_remove(made, "vertex", "nothing");
    assert_int_equal(rbli_collection_group_count(made), 9);
    assert_false(rbli_collection_has_group(made, "bone"));
    assert_int_equal(rbli_collection_attribute_count(made, "vertex"), 9);
    assert_null(rbli_collection_buffer(made, "vertex", "face"));
    rbli_collection_release(made);
    finish_context(ctx);
}

static void bad_names_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *made = NULL;
    void *elements = NULL;
    assert_ok(ctx, make_small(ctx, &made));
    const char *const bad[] = {"", "A", "1a", "a-b", "a.b", "ä",
        "a2345678901234567890123456789012345678901234567890123456789012345"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rbli_collection_resize(ctx, made, bad[i], 1), RBL_ERR_ARGUMENT);
        assert_int_equal(
            rbli_collection_write(ctx, made, "a", bad[i], RBL_INT32, &elements), RBL_ERR_ARGUMENT);
    }
    assert_ok(ctx, rbli_collection_resize(
                       ctx, made, "a234567890123456789012345678901234567890123456789012345678901234", 1));
    assert_int_equal(rbli_collection_write(ctx, made, "c", "x", RBL_INT32, &elements), RBL_ERR_NOT_FOUND);
    assert_int_equal(rbli_collection_attribute_count(made, "a"), 3);
    assert_null(elements);
    rbli_collection_release(made);
    finish_context(ctx);
}

static void a_copy_shares_until_it_is_written(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *first = NULL, *copy = NULL;
    assert_ok(ctx, make_small(ctx, &first));
    rbli_hash before = rbli_collection_hash(first);
    assert_ok(ctx, rbli_collection_copy(ctx, first, &copy));
    const char *const places[][2] = {{"a", "number"}, {"a", "name"}, {"a", "list"}, {"b", "point"}};
    for (int i = 0; i < 4; i++)
        assert_ptr_equal(rbli_collection_buffer(first, places[i][0], places[i][1]),
            rbli_collection_buffer(copy, places[i][0], places[i][1]));
    assert_true(rbli_hash_equal(before, rbli_collection_hash(copy)));

    int32_t *numbers;
    assert_ok(ctx, rbli_collection_write(ctx, copy, "a", "number", RBL_INT32, (void **)&numbers));
    numbers[0] = 99;
    assert_ptr_not_equal(
        rbli_collection_buffer(first, "a", "number"), rbli_collection_buffer(copy, "a", "number"));
    assert_ptr_equal(rbli_collection_buffer(first, "a", "name"), rbli_collection_buffer(copy, "a", "name"));
    assert_int_equal(((const int32_t *)rbli_collection_read(first, "a", "number", RBL_INT32))[0], 10);
    assert_true(rbli_hash_equal(before, rbli_collection_hash(first)));
    assert_false(rbli_hash_equal(before, rbli_collection_hash(copy)));
    /* The second write of the same array copies nothing. */
    int32_t *again;
    assert_ok(ctx, rbli_collection_write(ctx, copy, "a", "number", RBL_INT32, (void **)&again));
    assert_ptr_equal(again, numbers);
    assert_true(rbli_collection_bytes(copy) > 0);
    rbli_collection_release(first);
    assert_string_equal(rbli_collection_string(copy, "a", "name", 3), "rrr");
    rbli_collection_release(copy);
    finish_context(ctx);
}

static void hash_does_not_depend_on_the_order_of_creation(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const char *const names[3] = {"k", "l", "m"};
    rbli_hash hashes[6];
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int o = 0; o < 6; o++) {
        rbl_collection *made = NULL;
        assert_ok(ctx, rbli_collection_create(ctx, &made));
        for (int i = 0; i < 3; i++)
            assert_ok(ctx, rbli_collection_resize(ctx, made, names[orders[o][i]], 2));
        for (int i = 0; i < 9; i++) {
            int32_t *values;
            const char *group = names[orders[o][i / 3]], *name = names[orders[5 - o][i % 3]];
            assert_ok(ctx, rbli_collection_write(ctx, made, group, name, RBL_INT32, (void **)&values));
            values[0] = group[0] * 7 + name[0];
        }
        hashes[o] = rbli_collection_hash(made);
        assert_true(rbli_hash_equal(hashes[0], hashes[o]));
        rbli_collection_remove(made, "k", "l");
        assert_false(rbli_hash_equal(hashes[0], rbli_collection_hash(made)));
        rbli_collection_release(made);
    }
    finish_context(ctx);
}

static void types_are_checked_by_read_and_replaced_by_write(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *made = NULL;
    assert_ok(ctx, make_small(ctx, &made));
    assert_null(rbli_collection_read(made, "a", "number", RBL_FLOAT));
    assert_null(rbli_collection_read(made, "a", "name", RBL_CHAR));
    assert_null(rbli_collection_read(made, "a", "nothing", RBL_INT32));
    assert_null(rbli_collection_read(made, "nothing", "number", RBL_INT32));
    assert_string_equal(rbli_collection_string(made, "a", "number", 0), "");
    assert_string_equal(rbli_collection_string(made, "c", "number", 0), "");
    float *values;
    assert_ok(ctx, rbli_collection_write(ctx, made, "a", "number", RBL_FLOAT, (void **)&values));
    assert_true(values[0] == 0);
    assert_null(rbli_collection_read(made, "a", "number", RBL_INT32));
    rbli_buffer *wrong = NULL;
    assert_ok(ctx, rbli_buffer_create(ctx, RBL_INT32, 3, &wrong));
    assert_int_equal(rbli_collection_set(ctx, made, "a", "number", wrong), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_collection_set(ctx, made, "c", "number", wrong), RBL_ERR_NOT_FOUND);
    assert_false(rbli_buffer_is_shared(wrong));
    rbli_buffer_release(wrong);
    rbli_collection_release(made);
    finish_context(ctx);
}

static void resizing_keeps_the_beginning(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *made = NULL;
    assert_ok(ctx, make_small(ctx, &made));
    rbli_buffer *names = rbli_collection_buffer(made, "a", "name");
    assert_ok(ctx, rbli_collection_resize(ctx, made, "a", 4));
    assert_ptr_equal(names, rbli_collection_buffer(made, "a", "name"));
    assert_ok(ctx, rbli_collection_resize(ctx, made, "a", 6));
    const int32_t *numbers = rbli_collection_read(made, "a", "number", RBL_INT32);
    assert_int_equal(numbers[3], 13);
    assert_int_equal(numbers[5], 0);
    assert_string_equal(rbli_collection_string(made, "a", "name", 3), "rrr");
    assert_string_equal(rbli_collection_string(made, "a", "name", 5), "");
    assert_ok(ctx, rbli_collection_resize(ctx, made, "a", 2));
    assert_int_equal(rbli_collection_size(made, "a"), 2);
    assert_string_equal(rbli_collection_string(made, "a", "name", 1), "qq");
    assert_int_equal(rbli_buffer_offsets(rbli_collection_buffer(made, "a", "list"))[2], 2);
    assert_ok(ctx, rbli_collection_resize(ctx, made, "a", 0));
    assert_int_equal(rbli_collection_attribute_count(made, "a"), 3);
    rbli_collection_release(made);
    finish_context(ctx);
}

static void filter_keeps_lists_and_tells_new_indices(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *made = NULL;
    assert_ok(ctx, make_small(ctx, &made));
    rbli_buffer *names = rbli_collection_buffer(made, "a", "name");
    int32_t *new_index = NULL;
    assert_ok(ctx, rbli_collection_filter(ctx, made, "a", (bool[]){true, true, true, true}, &new_index));
    assert_ptr_equal(names, rbli_collection_buffer(made, "a", "name"));
    assert_int_equal(new_index[3], 3);
    rbli_free(ctx, new_index);
    assert_ok(ctx, rbli_collection_filter(ctx, made, "a", (bool[]){false, true, false, true}, &new_index));
    assert_int_equal(new_index[0], -1);
    assert_int_equal(new_index[1], 0);
    assert_int_equal(new_index[3], 1);
    rbli_free(ctx, new_index);
    assert_int_equal(rbli_collection_size(made, "a"), 2);
    assert_string_equal(rbli_collection_string(made, "a", "name", 0), "qq");
    assert_string_equal(rbli_collection_string(made, "a", "name", 1), "rrr");
    assert_int_equal(rbli_collection_filter(ctx, made, "c", NULL, NULL), RBL_ERR_NOT_FOUND);
    assert_int_equal(rbli_collection_gather(ctx, made, "a", (int32_t[]){2}, 1), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_collection_size(made, "a"), 2);
    assert_ok(ctx, rbli_collection_gather(ctx, made, "a", (int32_t[]){1, -1, 1, 0, 0}, 5));
    assert_string_equal(rbli_collection_string(made, "a", "name", 2), "rrr");
    assert_int_equal(((const int32_t *)rbli_collection_read(made, "a", "number", RBL_INT32))[1], 0);
    rbli_collection_release(made);
    finish_context(ctx);
}

/// Does a bit of everything, and checks after each failure that the collection is as it was.
static rbl_status do_everything(rbl_context *ctx, void *user)
{
    (void)user;
    rbl_status status;
    rbl_collection *made = NULL, *copy = NULL;
    int32_t *new_index = NULL;
    void *elements;
    rbli_hash before = {0};
    RBL_TRY(make_small(ctx, &made));
    before = rbli_collection_hash(made);
    RBL_TRY(rbli_collection_resize(ctx, made, "a", 9));
    RBL_TRY(rbli_collection_resize(ctx, made, "a", 4));
    RBL_TRY(rbli_collection_gather(ctx, made, "a", (int32_t[]){3, 2, 1, 0}, 4));
    RBL_TRY(rbli_collection_gather(ctx, made, "a", (int32_t[]){3, 2, 1, 0}, 4));
    RBL_TRY(rbli_collection_copy(ctx, made, &copy));
    before = rbli_collection_hash(made);
    RBL_TRY(rbli_collection_write(ctx, copy, "a", "number", RBL_INT32, &elements));
    ((int32_t *)elements)[0] = 1;
    RBL_TRY(rbli_collection_filter(ctx, copy, "a", (bool[]){true, false, true, false}, &new_index));
    RBL_TRY(rbli_collection_resize(ctx, copy, "c", 3));
    RBL_TRY(rbli_collection_write(ctx, copy, "c", "x", RBL_MAT4, &elements));
done:
    if (copy) assert_true(rbli_hash_equal(before, rbli_collection_hash(made)));
    rbli_free(ctx, new_index);
    rbli_collection_release(made);
    rbli_collection_release(copy);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(fail_each_allocation(do_everything, NULL, 0) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_sorted_and_found),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(a_copy_shares_until_it_is_written),
        cmocka_unit_test(hash_does_not_depend_on_the_order_of_creation),
        cmocka_unit_test(types_are_checked_by_read_and_replaced_by_write),
        cmocka_unit_test(resizing_keeps_the_beginning),
        cmocka_unit_test(filter_keeps_lists_and_tells_new_indices),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
