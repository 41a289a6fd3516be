#include "fracture/ops/merge.h"
#include "tests/make_asset.h"

/// Merging is checked against the inputs element by element.

static void check_valid(rbl_context *ctx, const rbl_collection *c)
{
    assert_ok(ctx, rbli_collection_validate(ctx, c, RBLI_VALIDATE_CLOSED));
}

static void indices_follow_their_elements(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *a = NULL, *b = NULL, *merged = NULL;
    assert_ok(ctx, make_cube_row(ctx, 2, &a));
    assert_ok(ctx, make_cube_row(ctx, 3, &b));
    const rbl_collection *list[3] = {a, b, a};
    assert_ok(ctx, rbli_merge_collections(ctx, list, 3, "all", &merged));
    check_valid(ctx, merged);
    size_t bones_a = rbli_collection_size(a, "bone"), bones_b = rbli_collection_size(b, "bone");
    assert_int_equal(rbli_collection_size(merged, "bone"), 1 + 2 * bones_a + bones_b);
    assert_string_equal(rbli_collection_string(merged, "bone", "name", 0), "all");
    const int32_t *parent = rbli_collection_read(merged, "bone", "parent", RBL_INT32);
    const int32_t *parent_b = rbli_collection_read(b, "bone", "parent", RBL_INT32);
    const int32_t *level = rbli_collection_read(merged, "bone", "level", RBL_INT32);
    assert_int_equal(parent[0], -1);
    for (size_t i = 0; i < bones_b; i++) {
        int32_t expected = parent_b[i] < 0 ? 0 : parent_b[i] + 1 + (int32_t)bones_a;
        assert_int_equal(parent[1 + bones_a + i], expected);
        assert_int_equal(level[1 + bones_a + i], level[expected] + 1);
    }
    const int32_t(*faces)[3] = rbli_collection_read(merged, "face", "vertices", RBL_INT32_3);
    const int32_t(*faces_b)[3] = rbli_collection_read(b, "face", "vertices", RBL_INT32_3);
    size_t faces_a = rbli_collection_size(a, "face");
    int32_t vertices_a = (int32_t)rbli_collection_size(a, "vertex");
    for (size_t f = 0; f < rbli_collection_size(b, "face"); f++)
        for (int k = 0; k < 3; k++)
            assert_int_equal(faces[faces_a + f][k], faces_b[f][k] + vertices_a);
    /* The same materials: once. Pairs: those of each, renumbered. */
    assert_int_equal(rbli_collection_size(merged, "material"), rbli_collection_size(a, "material"));
    const int32_t(*pairs)[2] = rbli_collection_read(merged, "proximity", "geometries", RBL_INT32_2);
    const int32_t(*pairs_b)[2] = rbli_collection_read(b, "proximity", "geometries", RBL_INT32_2);
    size_t pairs_a = rbli_collection_size(a, "proximity");
    int32_t geometries_a = (int32_t)rbli_collection_size(a, "geometry");
    for (size_t p = 0; p < rbli_collection_size(b, "proximity"); p++)
        assert_int_equal(pairs[pairs_a + p][1], pairs_b[p][1] + geometries_a);
    /* Bones of equal names are told apart. */
    for (size_t i = 0; i < rbli_collection_size(merged, "bone"); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rbli_collection_string(merged, "bone", "name", i),
                rbli_collection_string(merged, "bone", "name", k));
    rbli_collection_release(merged);
    rbli_collection_release(a);
    rbli_collection_release(b);
    finish_context(ctx);
}

static void attributes_that_only_one_has_are_filled(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *a = NULL, *b = NULL, *merged = NULL;
    assert_ok(ctx, make_cube_row(ctx, 1, &a));
    assert_ok(ctx, make_cube_row(ctx, 2, &b));
    double *heat;
    assert_ok(ctx, rbli_collection_write(ctx, b, "bone", "heat", RBL_DOUBLE, (void **)&heat));
    heat[1] = 5;
    assert_ok(ctx, rbli_collection_resize(ctx, b, "weather", 2));
    int32_t *rain;
    assert_ok(ctx, rbli_collection_write(ctx, b, "weather", "rain", RBL_INT32, (void **)&rain));
    rain[1] = 7;
    const rbl_collection *list[2] = {a, b};
    assert_ok(ctx, rbli_merge_collections(ctx, list, 2, NULL, &merged));
    check_valid(ctx, merged);
    const double *out = rbli_collection_read(merged, "bone", "heat", RBL_DOUBLE);
    size_t first = rbli_collection_size(a, "bone");
    assert_close(out[0], 0, 0);
    assert_close(out[first + 1], 5, 0);
    assert_int_equal(rbli_collection_size(merged, "weather"), 2);
    assert_int_equal(((const int32_t *)rbli_collection_read(merged, "weather", "rain", RBL_INT32))[1], 7);
    rbli_collection_release(merged);
    /* The same attribute with another type cannot be merged. */
    void *other;
    assert_ok(ctx, rbli_collection_write(ctx, a, "bone", "heat", RBL_INT32, &other));
    assert_int_equal(rbli_merge_collections(ctx, list, 2, NULL, &merged), RBL_ERR_TYPE);
    rbli_collection_release(a);
    rbli_collection_release(b);
    finish_context(ctx);
}

static void nothing_and_one_are_merged(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *a = NULL, *merged = NULL;
    assert_ok(ctx, rbli_merge_collections(ctx, NULL, 0, NULL, &merged));
    assert_int_equal(rbli_collection_size(merged, "bone"), 0);
    check_valid(ctx, merged);
    rbli_collection_release(merged);
    assert_ok(ctx, make_cube_row(ctx, 2, &a));
    const rbl_collection *list[1] = {a};
    assert_ok(ctx, rbli_merge_collections(ctx, list, 1, NULL, &merged));
    rbli_hash one = rbli_collection_hash(a), same = rbli_collection_hash(merged);
    assert_true(rbli_hash_equal(one, same));
    rbli_collection_release(merged);
    rbli_collection_release(a);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_follow_their_elements),
        cmocka_unit_test(attributes_that_only_one_has_are_filled),
        cmocka_unit_test(nothing_and_one_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
