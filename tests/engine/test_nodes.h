#ifndef RUBBLE_TESTS_ENGINE_TEST_NODES_H
#define RUBBLE_TESTS_ENGINE_TEST_NODES_H

/// Small node types for tests of the engine, and what their calls counted.

#include "tests/check.h"

#include "engine/call.h"
#include "rubble/rubble.h"

/// How often `evaluate` of each type was called.
static struct {
    atomic_int number, add, sum, fail, warn, read, write, deliver, slow, points, collection;
} calls;

static const rbl_port_desc no_ports[] = {{0}};
static const rbl_param_desc no_params[] = {{0}};
static const rbl_port_desc int_out[] = {{.name = "value", .kind = RBL_VALUE_INT, .text = "the number"}, {0}};
static const rbl_port_desc float_out[] = {
    {.name = "value", .kind = RBL_VALUE_FLOAT, .text = "the number"}, {0}};

static rbl_status set_number(rbl_context *ctx, rbl_call *call, rbl_value_kind kind, double number)
{
    rbl_value *value = NULL;
    rbl_status status = rbl_value_create_number(ctx, kind, number, &value);
    if (status == RBL_OK) rbl_call_set_output(call, "value", value);
    return status;
}

static rbl_status number_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.number++;
    return set_number(ctx, call, RBL_VALUE_INT, (double)rbl_param_int(rbl_call_param(call, "number")));
}
static const rbl_param_desc number_params[] = {{.name = "number",
                                                   .type = RBL_PARAM_INT,
                                                   .default_json = "1",
                                                   .min = -1000,
                                                   .max = 1000,
                                                   .text = "the number"},
    {0}};
static const rbl_node_desc number_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Number",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "gives a number",
    .inputs = no_ports,
    .outputs = int_out,
    .params = number_params,
    .evaluate = number_evaluate};

/// a + factor·b, or a when clamp is given and a is above it.
static rbl_status add_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.add++;
    double sum =
        rbl_value_number(rbl_call_input(call, "a", 0)) +
        rbl_param_float(rbl_call_param(call, "factor")) * rbl_value_number(rbl_call_input(call, "b", 0));
    const rbl_param *clamp = rbl_call_param(call, "limits.clamp");
    if (clamp && sum > rbl_param_float(clamp)) sum = rbl_param_float(clamp);
    return set_number(ctx, call, RBL_VALUE_FLOAT, sum);
}
static const rbl_port_desc add_inputs[] = {{.name = "a", .kind = RBL_VALUE_FLOAT, .text = "first"},
    {.name = "b", .kind = RBL_VALUE_FLOAT, .optional = true, .text = "second"}, {0}};
static const rbl_param_desc limit_fields[] = {
    {.name = "clamp", .type = RBL_PARAM_FLOAT, .optional = true, .text = "the largest result"}, {0}};
static const char *const mode_words[] = {"fast", "exact", NULL};
static const rbl_param_desc add_params[] = {
    {.name = "factor", .type = RBL_PARAM_FLOAT, .default_json = "1", .min = -100, .max = 100, .text = "of b"},
    {.name = "limits",
        .type = RBL_PARAM_OBJECT,
        .default_json = "{}",
        .fields = limit_fields,
        .text = "limits"},
    {.name = "mode", .type = RBL_PARAM_ENUM, .default_json = "\"fast\"", .words = mode_words, .text = "how"},
    {0}};
static const rbl_node_desc add_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Add",
    .version = 2,
    .revision = 1,
    .family = "test",
    .text = "adds two numbers",
    .inputs = add_inputs,
    .outputs = float_out,
    .params = add_params,
    .evaluate = add_evaluate};
static const rbl_node_desc old_add_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Add",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "adds two numbers as it used to",
    .inputs = add_inputs,
    .outputs = float_out,
    .params = no_params,
    .evaluate = add_evaluate};

static rbl_status sum_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.sum++;
    double sum = 0;
    for (size_t i = 0; i < rbl_call_input_count(call, "values"); i++)
        sum += rbl_value_number(rbl_call_input(call, "values", i));
    return set_number(ctx, call, RBL_VALUE_FLOAT, sum);
}
static const rbl_port_desc sum_inputs[] = {
    {.name = "values", .kind = RBL_VALUE_FLOAT, .several = true, .text = "summands"}, {0}};
static const rbl_node_desc sum_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Sum",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "adds many numbers",
    .inputs = sum_inputs,
    .outputs = float_out,
    .params = no_params,
    .evaluate = sum_evaluate};

static const rbl_port_desc optional_in[] = {
    {.name = "value", .kind = RBL_VALUE_FLOAT, .optional = true, .text = "anything"}, {0}};

static rbl_status fail_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.fail++;
    const rbl_param *planes = rbl_call_param(call, "planes");
    if (rbl_param_count(planes) > 1)
        return rbl_call_fail(ctx, call, rbl_param_field(rbl_param_at(planes, 1), "normal"), RBL_ERR_ARGUMENT,
            "the normal of plane 1 is zero");
    return rbli_fail(ctx, RBL_ERR_OPEN_MESH, "edge 3 is open");
}
static const rbl_param_desc plane_fields[] = {
    {.name = "point", .type = RBL_PARAM_VEC3, .default_json = "[0, 0, 0]", .text = "a point on it"},
    {.name = "normal", .type = RBL_PARAM_VEC3, .text = "its normal"}, {0}};
static const rbl_param_desc fail_params[] = {{.name = "planes",
                                                 .type = RBL_PARAM_OBJECT,
                                                 .list = true,
                                                 .default_json = "[]",
                                                 .fields = plane_fields,
                                                 .text = "planes"},
    {0}};
static const rbl_node_desc fail_node_desc = {.size = sizeof(rbl_node_desc),
    .type = "test.Fail",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "fails",
    .inputs = optional_in,
    .outputs = float_out,
    .params = fail_params,
    .evaluate = fail_evaluate};

static rbl_status warn_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.warn++;
    rbli_warn(ctx, "merged %d points", 3);
    rbli_note(ctx, "nothing else");
    return set_number(ctx, call, RBL_VALUE_FLOAT, 5);
}
static const rbl_node_desc warn_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Warn",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "warns",
    .inputs = optional_in,
    .outputs = float_out,
    .params = no_params,
    .evaluate = warn_evaluate};

/// Gives the size of a file and, when its first byte is '+', says that it read "extra" beside it, too.
static rbl_status read_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.read++;
    const char *path = rbl_param_string(rbl_call_param(call, "file"));
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbl_status status = rbli_file_read(ctx, path, 0, &bytes, &count);
    if (status != RBL_OK) return status;
    if (count && bytes[0] == '+') {
        char *extra = rbli_format(ctx, "%s.extra", path);
        status = extra ? rbl_call_read_file(ctx, call, extra) : RBL_ERR_NO_MEMORY;
        rbli_free(ctx, extra);
    }
    rbli_free(ctx, bytes);
    return status == RBL_OK ? set_number(ctx, call, RBL_VALUE_INT, (double)count) : status;
}
static const rbl_param_desc read_params[] = {{.name = "file", .type = RBL_PARAM_PATH, .text = "a file"}, {0}};
static const rbl_node_desc read_node_desc = {.size = sizeof(rbl_node_desc),
    .type = "test.Read",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "reads a file",
    .inputs = no_ports,
    .outputs = int_out,
    .params = read_params,
    .evaluate = read_evaluate};

static rbl_status write_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.write++;
    const rbl_param *files = rbl_call_param(call, "files");
    for (size_t i = 0; i < rbl_param_count(files); i++) {
        const rbl_param *file = rbl_param_at(files, i);
        rbl_status status = rbl_call_check_file_name(ctx, call, file, rbl_param_string(file));
        if (status != RBL_OK) return status;
    }
    return set_number(ctx, call, RBL_VALUE_FLOAT, rbl_value_number(rbl_call_input(call, "value", 0)));
}
static rbl_status write_deliver(rbl_context *ctx, rbl_call *call)
{
    calls.deliver++;
    const rbl_param *files = rbl_call_param(call, "files");
    for (size_t i = 0; i < rbl_param_count(files); i++) {
        const char *name = rbl_param_string(rbl_param_at(files, i));
        void *writer = NULL;
        rbl_status status = rbl_call_open_file(ctx, call, name, &writer);
        if (status != RBL_OK) return status;
        rbli_file_writer_printf(writer, "%g\n", rbl_value_number(rbl_call_output(call, "value")));
        if (strcmp(name, "bad.txt") == 0) {
            rbli_file_writer_discard(writer);
            return rbli_fail(ctx, RBL_ERR_WRITE, "bad.txt cannot be written");
        }
        status = rbl_call_add_file(ctx, call, name, writer);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}
static const rbl_param_desc write_params[] = {
    {.name = "files", .type = RBL_PARAM_STRING, .list = true, .default_json = "[]", .text = "file names"},
    {0}};
static const rbl_node_desc write_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Write",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "writes a number",
    .inputs = optional_in,
    .outputs = float_out,
    .params = write_params,
    .evaluate = write_evaluate,
    .deliver = write_deliver,
    .flags = RBL_NODE_ALWAYS_DELIVER};

static const rbl_port_desc points_out[] = {{.name = "points", .kind = RBL_VALUE_POINTS, .text = "points"},
    {.name = "count", .kind = RBL_VALUE_INT, .text = "their number"},
    {.name = "name", .kind = RBL_VALUE_STRING, .text = "their name"}, {0}};
static rbl_status points_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.points++;
    const rbl_param *list = rbl_call_param(call, "points");
    size_t count = rbl_param_count(list);
    double(*points)[3] = rbli_alloc(ctx, count, sizeof *points);
    if (!points) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        rbl_param_vec3(rbl_param_at(list, i), points[i]);
    rbl_value *value = NULL;
    rbl_status status = rbl_value_create_points(ctx, (const double(*)[3])points, count, &value);
    rbli_free(ctx, points);
    if (status != RBL_OK) return status;
    rbl_call_set_output(call, "points", value);
    status = rbl_value_create_number(ctx, RBL_VALUE_INT, (double)count, &value);
    if (status != RBL_OK) return status;
    rbl_call_set_output(call, "count", value);
    status = rbl_value_create_string(ctx, "exact", &value);
    if (status == RBL_OK) rbl_call_set_output(call, "name", value);
    return status;
}
static const rbl_param_desc points_params[] = {
    {.name = "points", .type = RBL_PARAM_VEC3, .list = true, .text = "the points"}, {0}};
static const rbl_node_desc points_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Points",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "gives points",
    .inputs = no_ports,
    .outputs = points_out,
    .params = points_params,
    .evaluate = points_evaluate};

/// A collection of `count` numbers in group "thing", shared with the input's arrays when one is connected.
static rbl_status collection_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.collection++;
    const rbl_collection *input = rbl_call_input_collection(call, "collection");
    rbl_collection *out = NULL;
    rbl_status status = input ? rbli_collection_copy(ctx, input, &out) : rbli_collection_create(ctx, &out);
    if (status != RBL_OK) return status;
    size_t count = (size_t)rbl_param_int(rbl_call_param(call, "count"));
    const char *name = rbl_param_string(rbl_call_param(call, "name"));
    int32_t *numbers = NULL;
    status = rbli_collection_resize(ctx, out, "thing", count);
    if (status == RBL_OK)
        status = rbli_collection_write(ctx, out, "thing", name, RBL_INT32, (void **)&numbers);
    for (size_t i = 0; status == RBL_OK && i < count; i++)
        numbers[i] = (int32_t)i;
    if (status == RBL_OK)
        rbl_call_set_output_collection(call, "collection", out);
    else
        rbli_collection_release(out);
    return status;
}
static const rbl_port_desc collection_in[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .optional = true, .text = "things"}, {0}};
static const rbl_port_desc collection_out[] = {
    {.name = "collection", .kind = RBL_VALUE_COLLECTION, .text = "things"}, {0}};
static const rbl_param_desc collection_params[] = {
    {.name = "count", .type = RBL_PARAM_INT, .default_json = "1000", .min = 0, .max = 1e6, .text = "things"},
    {.name = "name", .type = RBL_PARAM_STRING, .default_json = "\"number\"", .text = "attribute"}, {0}};
static const rbl_node_desc collection_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Collection",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "gives a collection",
    .inputs = collection_in,
    .outputs = collection_out,
    .params = collection_params,
    .evaluate = collection_evaluate};

/// Counts until it is cancelled: stands for a long kernel.
static rbl_status slow_evaluate(rbl_context *ctx, rbl_call *call)
{
    calls.slow++;
    (void)call;
    while (!rbli_cancelled(ctx)) {
    }
    return RBL_ERR_CANCELLED;
}
static const rbl_node_desc slow_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Slow",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "runs until it is cancelled",
    .inputs = optional_in,
    .outputs = float_out,
    .params = no_params,
    .evaluate = slow_evaluate};

static inline rbl_status register_test_nodes(rbl_engine *engine)
{
    static const rbl_node_desc *const all[] = {&number_node, &add_node, &old_add_node, &sum_node,
        &fail_node_desc, &warn_node, &read_node_desc, &write_node, &points_node, &collection_node,
        &slow_node};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rbl_status status = rbl_engine_register_node(engine, all[i], NULL);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

static inline rbl_engine *make_engine(void)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    rbl_engine *engine = NULL;
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_OK);
    assert_int_equal(register_test_nodes(engine), RBL_OK);
    memset(&calls, 0, sizeof calls);
    return engine;
}

static inline void print_all(const rbl_messages *messages)
{
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        char *text = NULL;
        if (rbl_messages_format(messages, i, &text) == RBL_OK) print_error("%s", text);
        rbl_messages_free_text(messages, text);
    }
}

static inline rbl_graph *load_graph(rbl_engine *engine, const char *text)
{
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_text(engine, "test.json", text, strlen(text), &messages, &graph);
    if (status != RBL_OK) print_all(messages);
    assert_int_equal(status, RBL_OK);
    rbl_messages_destroy(messages);
    return graph;
}

static inline rbl_run *evaluate_graph(rbl_graph *graph, rbl_status expected)
{
    rbl_run *run = NULL;
    rbl_status status = rbl_evaluate(graph, NULL, &run);
    if (status != expected && run) print_all(rbl_run_messages(run));
    assert_int_equal(status, expected);
    assert_non_null(run);
    return run;
}

static inline const rbl_node_report *report_of(const rbl_run *run, const char *id)
{
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        if (strcmp(rbl_run_node(run, i)->node, id) == 0) return rbl_run_node(run, i);
    fail_msg("no report of %s", id);
    return NULL;
}

#endif
