#include "tests/check.h"

#include <locale.h>
#include <math.h>

#include "engine/json.h"

/// Parses a text; its messages are printed when there are more errors than expected.
static rbli_json *parse(rbl_context *ctx, const char *text, unsigned flags, size_t errors)
{
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    rbl_messages *messages = NULL;
    char *copy = rbli_strdup(ctx, text);
    assert_int_equal(rbli_messages_open(ctx->allocator, &messages), RBL_OK);
    assert_int_equal(rbli_source_create(ctx->allocator, "x.json", copy, strlen(copy), &source), RBL_OK);
    rbl_status status = rbli_json_parse(ctx->allocator, source, flags, messages, &json);
    assert_true(status == RBL_OK || status == RBL_ERR_PARSE);
    assert_int_equal(rbl_messages_count_of(messages, RBL_ERROR), errors);
    rbli_source_release(source);
    rbl_messages_destroy(messages);
    return json;
}

static void values_are_read_with_their_places(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_json *json =
        parse(ctx, " {\"a/b~\": [1, -2.5e1, \"\\u00e4\\ud83d\\ude00\\n\", true, null], \"//\": {}}", 0, 0);
    const rbli_json_value *v = json->values;
    assert_int_equal(v[0].type, RBLI_JSON_OBJECT);
    assert_int_equal(v[0].child_count, 1);
    uint32_t list = rbli_json_member(json, 0, "a/b~");
    assert_int_equal(v[list].child_count, 5);
    assert_int_equal(v[list].key_offset, 2);
    assert_int_equal(v[list].offset, 10);
    uint32_t one = v[list].first_child, number = v[one].next, string = v[number].next;
    assert_true(v[one].is_integer && v[one].integer == 1);
    assert_true(v[number].is_integer && v[number].integer == -25);
    assert_string_equal(v[string].string, "ä😀\n");
    assert_int_equal(rbli_json_member(json, 0, "//"), RBLI_JSON_NONE);
    rbli_text pointer;
    rbli_text_init(&pointer, ctx->allocator);
    rbli_json_pointer(json, string, &pointer);
    assert_string_equal(pointer.data, "/a~1b~0/2");
    rbli_text_free(&pointer);
    rbli_json_destroy(json);
    finish_context(ctx);
}

static void numbers_are_exact(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_json *json = parse(ctx,
        "[9223372036854775807, 9223372036854775808, 1e3, 0.1, -0, 5e-324, 1.7976931348623157e308, "
        "9007199254740993, 0.5]",
        0, 0);
    const rbli_json_value *v = json->values + 1;
    assert_true(v[0].is_integer && v[0].integer == INT64_MAX);
    assert_false(v[1].is_integer);
    assert_true(v[2].is_integer && v[2].integer == 1000);
    assert_true(v[3].number == 0.1);
    assert_true(v[4].is_integer && v[4].integer == 0);
    assert_true(v[5].number == 5e-324 && v[6].number == 1.7976931348623157e308);
    assert_true(v[7].is_integer && v[7].integer == 9007199254740993);
    assert_false(v[8].is_integer);
    rbli_json_destroy(json);
    finish_context(ctx);
}

static void what_is_not_json_is_reported_once_each(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const char *const bad[] = {"", " ", "{", "[", "[1", "{\"a\"", "{\"a\":", "{\"a\":1", "[1}", "{]",
        "tru", "nan", "-", "1.", ".1", "+1", "01", "1e", "1e+", "0x1", "\"", "\"\\", "\"\\u12\"",
        "\"\\ud800\"", "\"\\u0000\"", "'a'", "[,]", "[1,]", "{,}", "{\"a\":1,}", "[1 2]", "// x\n1",
        "/* */ 1", "1 1", "\"\x01\"", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
        "1e400"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        rbli_json_destroy(parse(ctx, bad[i], 0, 1));
    rbli_json_destroy(parse(ctx, "// x\n[1, /* 2 */ 3,]", RBLI_JSON_COMMENTS, 0));
    rbli_json_destroy(parse(ctx, "{\"a\": 1, \"a\": 2, \"a\": 3}", 0, 2));
    finish_context(ctx);
}

static void doubles_are_written_shortest_and_read_back(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double numbers[] = {0.1, 3.0000000000000004, 1e300, -2.5, 100000000, 5e-324, 0, 1.0 / 3};
    const char *const texts[] = {
        "0.1", "3.0000000000000004", "1e+300", "-2.5", "100000000", "5e-324", "0", "0.3333333333333333"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        rbli_text text;
        rbli_text_init(&text, ctx->allocator);
        rbli_text_json_double(&text, numbers[i]);
        assert_string_equal(text.data, texts[i]);
        assert_true(strtod(text.data, NULL) == numbers[i]);
        rbli_text_free(&text);
    }
    rbli_text text;
    rbli_text_init(&text, ctx->allocator);
    rbli_text_json_double(&text, INFINITY);
    rbli_text_json_string(&text, "a\"\\\n\x01\xff/");
    assert_string_equal(text.data, "null\"a\\\"\\\\\\n\\u0001\xEF\xBF\xBD/\"");
    rbli_text_free(&text);
    finish_context(ctx);
}

/// Hosts may have another decimal mark; graphs do not.
static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) skip();
    numbers_are_exact(state);
    rbl_context *ctx = make_context(1);
    rbli_text text;
    rbli_text_init(&text, ctx->allocator);
    rbli_text_json_double(&text, 2.5);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text.data, "2.5");
    rbli_text_free(&text);
    finish_context(ctx);
}

static void near_names_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"relative_volume", "min_volume_cube_root", "seed", "count"};
    static const char *const wanted[] = {
        "relative_volum", "Seed", "cuont", "relativevolume", "reltaive_volume", "xyz", "min_volume"};
    static const char *const found[] = {"relative_volume", "seed", "count", "relative_volume",
        "relative_volume", NULL, "min_volume_cube_root"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *nearest = rbl_nearest_name(wanted[i], names, 4);
        if (found[i]) {
            assert_non_null(nearest);
            assert_string_equal(nearest, found[i]);
        } else {
            assert_null(nearest);
        }
    }
    assert_int_equal(rbli_edit_distance("abcd", "abdc", 3), 1);
    assert_int_equal(rbli_edit_distance("kitten", "sitting", 5), 3);
    assert_int_equal(rbli_edit_distance("kitten", "sitting", 2), 3);
}

static void name_tables_keep_the_first(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_name_table table;
    rbli_name_table_init(&table, ctx->allocator);
    static char names[1000][8];
    size_t existing;
    for (size_t i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i);
        assert_ok(ctx, rbli_name_table_add(&table, names[i], i, &existing));
        assert_int_equal(existing, SIZE_MAX);
    }
    assert_ok(ctx, rbli_name_table_add(&table, "n500", 7, &existing));
    assert_int_equal(existing, 500);
    assert_int_equal(rbli_name_table_find(&table, "n999"), 999);
    assert_int_equal(rbli_name_table_find(&table, "n1000"), SIZE_MAX);
    rbli_name_table_free(&table);
    assert_int_equal(rbli_name_table_find(&table, "n1"), SIZE_MAX);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_with_their_places),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(what_is_not_json_is_reported_once_each),
        cmocka_unit_test(doubles_are_written_shortest_and_read_back),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(near_names_are_found),
        cmocka_unit_test(name_tables_keep_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
