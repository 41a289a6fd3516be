#include "tests/check.h"

#include <math.h>

#include "fracture/ops/select.h"
#include "fracture/ops/surface.h"
#include "tests/failing_alloc.h"
#include "tests/ops/asset_builder.h"

/* A row of boxes, each twice as long as the one before: bones 0 root, 1 … 5 boxes, 6 a cluster with pieces 7
 * and 8. */
static const double row[5][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{1, 0, 0}, {3, 1, 1}}, {{3, 0, 0}, {7, 1, 1}},
    {{7, 0, 0}, {15, 1, 1}}, {{15, 0, 0}, {31, 1, 1}}};

static rbl_collection *make_row(rbl_context *ctx)
{
    rbl_collection *c = make_boxes(ctx, 5, row);
    int32_t first, parents[2] = {0, 0};
    const char *cluster = "group", *names[2] = {"group_a", "group_b"};
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, parents, &cluster, RBLI_BONE_CLUSTER, &first));
    parents[0] = parents[1] = first;
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 2, parents, names, RBLI_BONE_RIGID, &first));
    add_box_geometry(ctx, c, first, (double[3]){31, 0, 0}, (double[3]){32, 1, 1}, 0);
    add_box_geometry(ctx, c, first + 1, (double[3]){32, 0, 0}, (double[3]){33, 1, 1}, 0);
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

/// A mask as text, "0 3 4".
static const char *chosen(const bool *mask, size_t count)
{
    static char text[200];
    size_t used = 0;
    text[0] = 0;
    for (size_t b = 0; b < count; b++)
        if (mask[b]) used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu", used ? " " : "", b);
    return text;
}
enum { BONES = 9 };
#define assert_chosen(mask, text) assert_string_equal(chosen(mask, BONES), text)

static void kinds_levels_and_kin(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    bool mask[BONES], group[BONES] = {[6] = true}, first[BONES] = {[1] = true};
    assert_ok(ctx, rbli_select_leaves(ctx, c, NULL, mask));
    assert_chosen(mask, "1 2 3 4 5 7 8");
    assert_ok(ctx, rbli_select_leaves(ctx, c, group, mask));
    assert_chosen(mask, "7 8");
    rbli_select_clusters(c, NULL, mask);
    assert_chosen(mask, "0 6");
    assert_ok(ctx, rbli_select_level(ctx, c, 1, NULL, mask));
    assert_chosen(mask, "1 2 3 4 5 6");
    assert_ok(ctx, rbli_select_level(ctx, c, -1, NULL, mask));
    assert_chosen(mask, "7 8");
    assert_ok(ctx, rbli_select_level(ctx, c, -3, NULL, mask));
    assert_chosen(mask, "0");
    assert_ok(ctx, rbli_select_level(ctx, c, -4, NULL, mask));
    assert_chosen(mask, "");
    assert_ok(ctx, rbli_select_kin(ctx, c, RBLI_KIN_CHILDREN, group, mask));
    assert_chosen(mask, "7 8");
    assert_ok(ctx, rbli_select_kin(ctx, c, RBLI_KIN_PARENTS, group, mask));
    assert_chosen(mask, "0");
    assert_ok(ctx, rbli_select_kin(ctx, c, RBLI_KIN_SIBLINGS, first, mask));
    assert_chosen(mask, "1 2 3 4 5 6");
    assert_ok(ctx, rbli_select_kin(ctx, c, RBLI_KIN_PARENTS, NULL, mask));
    assert_chosen(mask, "0 6");
    /* In place. */
    assert_ok(ctx, rbli_select_kin(ctx, c, RBLI_KIN_CHILDREN, mask, mask));
    assert_chosen(mask, "1 2 3 4 5 6 7 8");
    rbli_collection_release(c);
    finish_context(ctx);
}

static void contact_stays_on_the_level_of_the_set(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    bool mask[BONES], third[BONES] = {[3] = true}, last[BONES] = {[5] = true}, group[BONES] = {[6] = true},
                      piece[BONES] = {[7] = true};
    assert_int_equal(rbli_select_contact(ctx, c, third, mask), RBL_ERR_NOT_FOUND);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "run Proximity first"));
    /* Geometries are boxes in a row: each touches the next. */
    void *pairs;
    assert_ok(ctx, rbli_collection_resize(ctx, c, "proximity", 6));
    assert_ok(ctx, rbli_collection_write(ctx, c, "proximity", "geometries", RBL_INT32_2, &pairs));
    for (int32_t i = 0; i < 6; i++)
        memcpy((int32_t(*)[2])pairs + i, (int32_t[2]){i, i + 1}, sizeof(int32_t[2]));
    assert_ok(ctx, rbli_select_contact(ctx, c, third, mask));
    assert_chosen(mask, "2 4");
    assert_ok(ctx, rbli_select_contact(ctx, c, last, mask));
    assert_chosen(mask, "4 6");
    assert_ok(ctx, rbli_select_contact(ctx, c, group, mask));
    assert_chosen(mask, "5");
    assert_ok(ctx, rbli_select_contact(ctx, c, piece, mask));
    assert_chosen(mask, "5 8");
    assert_ok(ctx, rbli_select_contact(ctx, c, NULL, mask));
    assert_chosen(mask, "");
    rbli_collection_release(c);
    finish_context(ctx);
}

static void sizes_are_relative_to_the_largest_piece(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    bool mask[BONES];
    assert_ok(ctx, rbli_select_measure(ctx, c, RBLI_MEASURE_VOLUME, 0, 0.125, NULL, mask));
    assert_chosen(mask, "1 2 6 7 8");
    assert_ok(ctx, rbli_select_measure(ctx, c, RBLI_MEASURE_VOLUME, 0.5, 1, NULL, mask));
    assert_chosen(mask, "4 5");
    assert_ok(ctx, rbli_select_measure(ctx, c, RBLI_MEASURE_VOLUME, 1.5, 3, NULL, mask));
    assert_chosen(mask, "0");
    double share = sqrt(66) / sqrt(258);
    assert_ok(ctx, rbli_select_measure(ctx, c, RBLI_MEASURE_SIZE, share - 1e-9, share + 1e-9, NULL, mask));
    assert_chosen(mask, "4");
    rbli_collection_release(c);
    finish_context(ctx);
}

static void places(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    bool mask[BONES], pieces[BONES];
    const double low[3] = {0.5, 0, 0}, high[3] = {7, 1, 1}, center[3] = {3, 0.5, 0.5};
    assert_ok(ctx, rbli_select_leaves(ctx, c, NULL, pieces));
    assert_ok(ctx, rbli_select_in_box(ctx, c, low, high, RBLI_INSIDE_CENTER, pieces, mask));
    assert_chosen(mask, "1 2 3");
    assert_ok(ctx, rbli_select_in_box(ctx, c, low, high, RBLI_INSIDE_WHOLE, pieces, mask));
    assert_chosen(mask, "2 3");
    assert_ok(ctx, rbli_select_in_box(ctx, c, low, high, RBLI_INSIDE_ANY, pieces, mask));
    assert_chosen(mask, "1 2 3 4");
    assert_ok(ctx, rbli_select_in_sphere(ctx, c, center, 2, RBLI_INSIDE_CENTER, pieces, mask));
    assert_chosen(mask, "2 3");
    assert_ok(ctx, rbli_select_in_sphere(ctx, c, center, 2, RBLI_INSIDE_ANY, pieces, mask));
    assert_chosen(mask, "1 2 3");
    assert_ok(ctx, rbli_select_in_sphere(ctx, c, center, sqrt(4.5) + 1e-9, RBLI_INSIDE_WHOLE, pieces, mask));
    assert_chosen(mask, "2");
    rbli_collection_release(c);
    finish_context(ctx);
}

static void random_sets_depend_on_seed_and_bone_alone(void **state)
{
    (void)state;
    enum { MANY = 4000 };
    rbl_context *ctx = make_context(1);
    rbl_collection *c = NULL;
    static bool all[MANY], again[MANY], half[MANY];
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &c));
    assert_ok(
        ctx, rbli_hierarchy_add_bones(ctx, c, MANY, NULL, (const char *[MANY]){0}, RBLI_BONE_CLUSTER, NULL));
    rbli_select_random(c, 0.3, 5, NULL, all);
    for (size_t b = 0; b < MANY; b++)
        half[b] = b % 2;
    rbli_select_random(c, 0.3, 5, half, again);
    size_t count = 0;
    for (size_t b = 0; b < MANY; b++) {
        assert_true(again[b] == (all[b] && half[b]));
        count += all[b];
    }
    assert_in_range(count, 1050, 1350);
    rbli_select_random(c, 0, 5, NULL, all);
    assert_null(memchr(all, 1, sizeof all));
    rbli_select_random(c, 1, 5, NULL, all);
    assert_null(memchr(all, 0, sizeof all));
    rbli_collection_release(c);
    finish_context(ctx);
}

static void names_match_patterns(void **state)
{
    (void)state;
    const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {{"", "", true}, {"", "a", false}, {"*", "", true}, {"**", "abc", true}, {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"a?c",
            "a\xc3\xa9"
            "c",
            true},
        {"*a*b*c*", "xxaxxbxxcxx", true}, {"*a*b*c*", "xxaxxcxxbxx", false}, {"box_[0-3]", "box_2", true},
        {"box_[0-3]", "box_4", false}, {"box_[!0-3]", "box_4", true}, {"box_[!0-3]", "box_", false},
        {"[]]", "]", true}, {"[a", "[a", true}, {"[", "[", true}, {"\\*", "*", true}, {"\\*", "a", false},
        {"a\\", "a\\", true}, {"*.obj", "a.obj.obj", true}, {"abc", "abcd", false}, {"abcd", "abc", false},
        {"*b", "ab", true}, {"*b", "ba", false}, {"[a-]", "-", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (rbli_glob_match(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("\"%s\" against \"%s\"", cases[i].pattern, cases[i].text);
    /* A pattern that is slow for matchers that try every split. */
    char text[2001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_false(rbli_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*b", text));

    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    bool mask[BONES];
    rbli_select_name(c, "group_*", NULL, mask);
    assert_chosen(mask, "7 8");
    rbli_select_name(c, "box_[13]", NULL, mask);
    assert_chosen(mask, "2 4");
    rbli_collection_release(c);
    finish_context(ctx);
}

static void lists_of_numbers_name_the_fault(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    bool mask[BONES];
    char why[200];
    assert_int_equal(rbli_select_list(c, " 0, 2 ,5 - 7,2", NULL, mask, why, sizeof why), RBL_OK);
    assert_chosen(mask, "0 2 5 6 7");
    const struct {
        const char *list, *why;
    } bad[] = {{"", "at character 1: expected the number of a bone, as in \"0, 2, 5-10\""},
        {"1,", "at character 3: expected the number of a bone, as in \"0, 2, 5-10\""},
        {"1,x", "at character 3: expected the number of a bone, as in \"0, 2, 5-10\""},
        {"1 2", "at character 3: expected a comma, as in \"0, 2, 5-10\""},
        {"1, 5-", "at character 6: expected the number of a bone, as in \"0, 2, 5-10\""},
        {"1, 5-3", "at character 4: the range ends before it begins"},
        {"1, 5-9", "at character 4: there is no bone 9; the collection has 9, from 0"},
        {"99999999999999999999999999",
            "at character 1: there is no bone 1099511627776; the collection has 9, from 0"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rbli_select_list(c, bad[i].list, NULL, mask, why, sizeof why), RBL_ERR_ARGUMENT);
        assert_string_equal(why, bad[i].why);
    }
    rbli_collection_release(c);
    finish_context(ctx);
}

static void attributes_of_bones_and_geometries(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    bool mask[BONES];
    void *heat, *anchored;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "heat", RBL_FLOAT, &heat));
    for (int b = 0; b < BONES; b++)
        ((float *)heat)[b] = b == 4 ? NAN : (float)b / 2;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "anchored", RBL_BOOL, &anchored));
    ((bool *)anchored)[3] = true;
    assert_ok(ctx, rbli_select_attribute(ctx, c, "heat", 1, 3, NULL, NULL, mask));
    assert_chosen(mask, "2 3 5 6");
    assert_ok(ctx, rbli_select_attribute(ctx, c, "anchored", 1, 1, NULL, NULL, mask));
    assert_chosen(mask, "3");
    assert_ok(ctx, rbli_select_attribute(ctx, c, "name", 0, 0, "*_a", NULL, mask));
    assert_chosen(mask, "7");
    assert_ok(ctx, rbli_select_attribute(ctx, c, "volume", 3, HUGE_VAL, NULL, NULL, mask));
    assert_chosen(mask, "3 4 5");
    assert_int_equal(rbli_select_attribute(ctx, c, "transform", 0, 1, NULL, NULL, mask), RBL_ERR_TYPE);
    assert_int_equal(rbli_select_attribute(ctx, c, "name", 0, 1, NULL, NULL, mask), RBL_ERR_TYPE);
    assert_int_equal(rbli_select_attribute(ctx, c, "heat", 0, 1, "hot", NULL, mask), RBL_ERR_TYPE);
    assert_int_equal(rbli_select_attribute(ctx, c, "cold", 0, 1, NULL, NULL, mask), RBL_ERR_NOT_FOUND);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 3)->text, "anchored, geometry, heat"));
    rbli_collection_release(c);
    finish_context(ctx);
}

static void sets_combine(void **state)
{
    (void)state;
    const bool a[4] = {false, false, true, true}, b[4] = {false, true, false, true};
    const char *expected[4] = {"3", "1 2 3", "1 2", "2"};
    for (int how = 0; how < 4; how++) {
        bool mask[4];
        memcpy(mask, a, sizeof mask);
        rbli_select_combine((rbli_combine)how, 4, b, mask);
        assert_string_equal(chosen(mask, 4), expected[how]);
    }
}

static rbl_status select_everything(rbl_context *ctx, void *user)
{
    rbl_status status = RBL_OK;
    rbl_collection *c = user;
    bool mask[BONES], set[BONES] = {[3] = true};
    const double low[3] = {0}, high[3] = {9, 1, 1};
    RBL_TRY(rbli_select_leaves(ctx, c, NULL, mask));
    RBL_TRY(rbli_select_level(ctx, c, 1, NULL, mask));
    RBL_TRY(rbli_select_kin(ctx, c, RBLI_KIN_SIBLINGS, set, mask));
    RBL_TRY(rbli_select_contact(ctx, c, set, mask));
    RBL_TRY(rbli_select_measure(ctx, c, RBLI_MEASURE_SIZE, 0, 1, NULL, mask));
    RBL_TRY(rbli_select_in_box(ctx, c, low, high, RBLI_INSIDE_ANY, NULL, mask));
    RBL_TRY(rbli_select_in_sphere(ctx, c, low, 2, RBLI_INSIDE_ANY, NULL, mask));
done:
    return status;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_row(ctx);
    assert_ok(ctx, rbli_collection_resize(ctx, c, "proximity", 0));
    assert_true(fail_each_allocation(select_everything, c, 0) > 10);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_levels_and_kin),
        cmocka_unit_test(contact_stays_on_the_level_of_the_set),
        cmocka_unit_test(sizes_are_relative_to_the_largest_piece),
        cmocka_unit_test(places),
        cmocka_unit_test(random_sets_depend_on_seed_and_bone_alone),
        cmocka_unit_test(names_match_patterns),
        cmocka_unit_test(lists_of_numbers_name_the_fault),
        cmocka_unit_test(attributes_of_bones_and_geometries),
        cmocka_unit_test(sets_combine),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
