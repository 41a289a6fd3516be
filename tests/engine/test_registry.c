#include "tests/engine/test_nodes.h"

#include "tests/failing_alloc.h"

static void built_in_descriptors_have_no_fault(void **state)
{
    (void)state;
    rbl_engine *engine = NULL;
    assert_int_equal(rbl_engine_create(NULL, &engine), RBL_OK);
    rbl_messages *messages = NULL;
    assert_int_equal(rbli_messages_open(engine->allocator, &messages), RBL_OK);
    rbl_status status = rbli_engine_check_nodes(engine, messages);
    print_all(messages);
    assert_int_equal(status, RBL_OK);
    assert_int_equal(rbl_messages_count(messages), 0);
    rbl_messages_destroy(messages);
    size_t count = 0;
    while (rbli_builtin_nodes[count])
        count++;
    assert_int_equal(rbl_engine_node_count(engine), count);
    for (size_t i = 0; i < count; i++) {
        const rbl_node_desc *desc = rbl_engine_node(engine, i);
        assert_true(desc->family && *desc->family && desc->text && *desc->text);
        for (size_t k = 0; desc->params && desc->params[k].name; k++)
            assert_true(desc->params[k].text && *desc->params[k].text);
        assert_ptr_equal(rbl_engine_find_node(engine, desc->type, desc->version), desc);
    }
    rbl_engine_destroy(engine);
}

/// Without memory there is no engine, or one with all its types; registering says what was wrong.
static void no_failed_allocation_loses_a_type(void **state)
{
    (void)state;
    size_t count = 0, total = 0;
    while (rbli_builtin_nodes[count])
        count++;
    for (size_t fail_at = 0; fail_at <= total; fail_at++) {
        failing_alloc memory = {.fail_at = fail_at};
        rbl_engine_options options;
        rbl_engine_options_init(&options);
        options.thread_count = 1;
        options.reallocate = failing_reallocate;
        options.user = &memory;
        rbl_engine *engine = NULL;
        rbl_status status = rbl_engine_create(&options, &engine);
        assert_true(status == RBL_OK || status == RBL_ERR_NO_MEMORY);
        assert_int_equal(status == RBL_OK, engine != NULL);
        if (!engine) continue;
        assert_int_equal(rbl_engine_node_count(engine), count);
        status = rbl_engine_register_node(engine, &add_node, NULL);
        assert_int_equal(status, atomic_load(&memory.failed) ? RBL_ERR_NO_MEMORY : RBL_OK);
        assert_int_equal(rbl_engine_node_count(engine), count + (status == RBL_OK));
        for (size_t i = 0; i < count; i++) {
            const rbl_node_desc *desc = rbli_builtin_nodes[i];
            assert_ptr_equal(rbl_engine_find_node(engine, desc->type, desc->version), desc);
        }
        rbl_engine_destroy(engine);
        if (fail_at == 0) total = atomic_load(&memory.calls);
    }
    assert_true(total > count);
}

static void faulty_descriptors_are_refused(void **state)
{
    (void)state;
    static const rbl_param_desc bad_default[] = {
        {.name = "n", .type = RBL_PARAM_INT, .default_json = "11", .min = 1, .max = 10}, {0}};
    static const rbl_param_desc bad_json[] = {
        {.name = "n", .type = RBL_PARAM_INT, .default_json = "01"}, {0}};
    static const rbl_param_desc no_words[] = {
        {.name = "n", .type = RBL_PARAM_ENUM, .default_json = "\"x\""}, {0}};
    static const rbl_param_desc no_fields[] = {
        {.name = "n", .type = RBL_PARAM_OBJECT, .default_json = "{}"}, {0}};
    static const rbl_param_desc twice[] = {{.name = "n", .type = RBL_PARAM_INT, .default_json = "1"},
        {.name = "n", .type = RBL_PARAM_INT, .default_json = "1"}, {0}};
    static const rbl_param_desc camel[] = {
        {.name = "camelCase", .type = RBL_PARAM_INT, .default_json = "1"}, {0}};
    static const rbl_param_desc no_type[] = {{.name = "n", .default_json = "1"}, {0}};
    static const rbl_port_desc same_ports[] = {
        {.name = "a", .kind = RBL_VALUE_INT}, {.name = "a", .kind = RBL_VALUE_INT}, {0}};
    static const rbl_port_desc no_kind[] = {{.name = "a"}, {0}};
    rbl_node_desc bad[13];
    for (size_t i = 0; i < 13; i++) {
        bad[i] = warn_node;
        bad[i].type = "host.New";
    }
    bad[0].size = 8;
    bad[1].type = "lower";
    bad[2].type = "Vendor.lower";
    bad[3].version = 0;
    bad[4].evaluate = NULL;
    bad[5].params = bad_default;
    bad[6].params = bad_json;
    bad[7].params = no_words;
    bad[8].params = no_fields;
    bad[9].params = twice;
    bad[10].params = camel;
    bad[11].params = no_type;
    bad[12].inputs = same_ports;
    rbl_engine *engine = make_engine();
    for (size_t i = 0; i < 13; i++) {
        rbl_messages *messages = NULL;
        assert_int_equal(rbl_engine_register_node(engine, &bad[i], &messages), RBL_ERR_ARGUMENT);
        assert_true(rbl_messages_count_of(messages, RBL_ERROR) >= 1);
        rbl_messages_destroy(messages);
    }
    rbl_node_desc desc = warn_node;
    desc.type = "host.New";
    desc.outputs = no_kind;
    assert_int_equal(rbl_engine_register_node(engine, &desc, NULL), RBL_ERR_ARGUMENT);
    assert_int_equal(rbl_engine_register_node(engine, &warn_node, NULL), RBL_ERR_ARGUMENT); /* exists */
    assert_null(rbl_engine_find_node(engine, "host.New", 0));
    assert_int_equal(rbl_engine_find_node(engine, "test.Add", 0)->version, 2);
    assert_int_equal(rbl_engine_find_node(engine, "test.Add", 1)->version, 1);
    assert_null(rbl_engine_find_node(engine, "test.Add", 3));
    assert_string_equal(rbl_engine_nearest_node(engine, "test.Nubmer"), "test.Number");
    rbl_engine_destroy(engine);
}

static void assert_json(rbl_engine *engine, char *text)
{
    rbli_source *source = NULL;
    rbli_json *json = NULL;
    rbl_messages *messages = NULL;
    assert_int_equal(rbli_messages_open(engine->allocator, &messages), RBL_OK);
    assert_int_equal(rbli_source_create(engine->allocator, "text", text, strlen(text), &source), RBL_OK);
    assert_int_equal(rbli_json_parse(engine->allocator, source, 0, messages, &json), RBL_OK);
    print_all(messages);
    assert_int_equal(rbl_messages_count(messages), 0);
    rbli_json_destroy(json);
    rbli_source_release(source);
    rbl_messages_destroy(messages);
}

static void schema_and_list_are_json(void **state)
{
    (void)state;
    rbl_engine *engine = make_engine();
    char *text = NULL;
    assert_int_equal(rbl_engine_schema(engine, &text), RBL_OK);
    assert_non_null(strstr(text, "\"test.Add@1\""));
    assert_json(engine, text);
    assert_int_equal(rbl_engine_nodes_json(engine, NULL, &text), RBL_OK);
    assert_json(engine, text);
    assert_int_equal(rbl_engine_nodes_json(engine, "test.Points", &text), RBL_OK);
    assert_non_null(strstr(text, "\"required\": true"));
    assert_json(engine, text);
    assert_int_equal(rbl_engine_nodes_json(engine, "test.Nothing", &text), RBL_ERR_NOT_FOUND);
    rbl_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_descriptors_have_no_fault),
        cmocka_unit_test(no_failed_allocation_loses_a_type),
        cmocka_unit_test(faulty_descriptors_are_refused),
        cmocka_unit_test(schema_and_list_are_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
