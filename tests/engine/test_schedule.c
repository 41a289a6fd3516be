/// Evaluation on several threads, on a host's threads, cancelled, and with little memory.

#include "tests/check.h"

#include <stdatomic.h>
#include <uv.h>

#include "rubble/rubble.h"

static const rbl_port_desc value_in[] = {
    {.name = "values", .kind = RBL_VALUE_FLOAT, .optional = true, .several = true, .text = "numbers"}, {0}};
static const rbl_port_desc value_out[] = {
    {.name = "value", .kind = RBL_VALUE_FLOAT, .text = "a number"}, {0}};
static const rbl_param_desc number_params[] = {
    {.name = "number", .type = RBL_PARAM_INT, .default_json = "1", .text = "a number"}, {0}};

static int64_t number_of(const rbl_call *call)
{
    return rbl_param_int(rbl_call_param(call, "number"));
}

static rbl_status set_sum(rbl_context *ctx, rbl_call *call)
{
    double sum = (double)number_of(call);
    for (size_t i = 0; i < rbl_call_input_count(call, "values"); i++)
        sum += rbl_value_number(rbl_call_input(call, "values", i));
    rbl_value *value = NULL;
    rbl_status status = rbl_value_create_number(ctx, RBL_VALUE_FLOAT, sum, &value);
    if (status == RBL_OK) rbl_call_set_output(call, "value", value);
    return status;
}

static atomic_int arrived;

/// Waits for `number` nodes to be here at once, at most 20 seconds.
static rbl_status meet_evaluate(rbl_context *ctx, rbl_call *call)
{
    uint64_t begin = uv_hrtime();
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < number_of(call))
        if (uv_hrtime() - begin > 20000000000u) return rbli_fail(ctx, RBL_ERR_INTERNAL, "nobody else came");
    return set_sum(ctx, call);
}

/// Warns, and fails when its number is negative.
static rbl_status say_evaluate(rbl_context *ctx, rbl_call *call)
{
    rbli_warn(ctx, "this is %s", rbl_call_node_id(call));
    if (number_of(call) < 0) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "%s fails", rbl_call_node_id(call));
    return set_sum(ctx, call);
}

static atomic_int waiting;

/// Ends when it is cancelled only, after at most 20 seconds.
static rbl_status wait_evaluate(rbl_context *ctx, rbl_call *call)
{
    (void)call;
    uint64_t begin = uv_hrtime();
    atomic_fetch_add(&waiting, 1);
    while (!rbli_cancelled(ctx))
        if (uv_hrtime() - begin > 20000000000u) return RBL_ERR_INTERNAL;
    return RBL_ERR_CANCELLED;
}

static rbl_status points_evaluate(rbl_context *ctx, rbl_call *call)
{
    size_t count = (size_t)number_of(call);
    double(*points)[3] = rbli_calloc(ctx, count, sizeof *points);
    if (!points) return RBL_ERR_NO_MEMORY;
    rbl_value *value = NULL;
    rbl_status status = rbl_value_create_points(ctx, (const double(*)[3])points, count, &value);
    rbli_free(ctx, points);
    if (status == RBL_OK) rbl_call_set_output(call, "points", value);
    return status;
}
static const rbl_port_desc points_out[] = {
    {.name = "points", .kind = RBL_VALUE_POINTS, .text = "points"}, {0}};

#define NODE(word, outs, function)                                                                           \
    {                                                                                                        \
        .size = sizeof(rbl_node_desc), .type = "test." word, .version = 1, .revision = 1, .family = "test",  \
        .text = word, .inputs = value_in, .outputs = outs, .params = number_params, .evaluate = function     \
    }
static const rbl_node_desc descs[] = {NODE("Sum", value_out, set_sum), NODE("Meet", value_out, meet_evaluate),
    NODE("Say", value_out, say_evaluate), NODE("Wait", value_out, wait_evaluate),
    NODE("Points", points_out, points_evaluate)};

static rbl_engine *open_engine(const rbl_engine_options *options)
{
    rbl_engine *engine = NULL;
    assert_int_equal(rbl_engine_create(options, &engine), RBL_OK);
    for (size_t i = 0; i < sizeof descs / sizeof *descs; i++)
        assert_int_equal(rbl_engine_register_node(engine, &descs[i], NULL), RBL_OK);
    return engine;
}

static rbl_engine *engine_of(int thread_count)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = thread_count;
    return open_engine(&options);
}

static rbl_graph *load(rbl_engine *engine, const char *text)
{
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_text(engine, "graph.json", text, strlen(text), &messages, &graph);
    for (size_t i = 0; i < rbl_messages_count(messages); i++)
        print_error("%s\n", rbl_messages_get(messages, i)->text);
    assert_int_equal(status, RBL_OK);
    rbl_messages_destroy(messages);
    return graph;
}

/* ---- Executors ---- */

typedef struct host {
    void (*task)(void *task_user, size_t index);
    void *task_user;
    atomic_size_t next;
    size_t count;
    int calls;
} host;

static void host_thread(void *user)
{
    host *h = user;
    for (size_t i; (i = atomic_fetch_add(&h->next, 1)) < h->count;)
        h->task(h->task_user, i);
}

static void run_on_threads(
    void *user, size_t count, void (*task)(void *task_user, size_t index), void *task_user)
{
    host *h = user;
    uv_thread_t threads[16];
    h->task = task;
    h->task_user = task_user;
    h->count = count;
    h->calls++;
    atomic_store(&h->next, 0);
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(uv_thread_create(&threads[i], host_thread, h), 0);
    for (size_t i = 0; i < count; i++)
        uv_thread_join(&threads[i]);
}

static void run_in_turn(
    void *user, size_t count, void (*task)(void *task_user, size_t index), void *task_user)
{
    host *h = user;
    h->calls++;
    for (size_t i = count; i-- > 0;)
        task(task_user, i);
}

static rbl_engine *engine_on(
    host *h, int thread_count, void (*run)(void *, size_t, void (*)(void *, size_t), void *))
{
    rbl_executor executor = {.size = sizeof executor, .thread_count = thread_count, .run = run, .user = h};
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.executor = &executor;
    return open_engine(&options);
}

/* ---- Tests ---- */

static const char *const diamond =
    "{\"rubble\": 1, \"nodes\": {\"top\": {\"type\": \"test.Sum\"},"
    "\"left\": {\"type\": \"test.Meet\", \"params\": {\"number\": 2}, \"in\": {\"values\": [\"top\"]}},"
    "\"right\": {\"type\": \"test.Meet\", \"params\": {\"number\": 2}, \"in\": {\"values\": [\"top\"]}},"
    "\"end\": {\"type\": \"test.Sum\", \"in\": {\"values\": [\"left\", \"right\"]}}}}";

/// Begin and end of a node in a trace.
static void times_in(const char *trace, const char *node, double *begin, double *end)
{
    char text[100];
    snprintf(text, sizeof text, "\"cat\": \"node\", \"name\": \"%s\", \"ts\": ", node);
    const char *at = strstr(trace, text);
    assert_non_null(at);
    double duration;
    assert_int_equal(sscanf(at + strlen(text), "%lf, \"dur\": %lf", begin, &duration), 2);
    *end = *begin + duration;
}

static void run_diamond(rbl_engine *engine)
{
    rbl_graph *graph = load(engine, diamond);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.trace = true;
    rbl_run *run = NULL;
    atomic_store(&arrived, 0);
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "end")), 7, 0);
    char *trace = NULL;
    assert_int_equal(rbl_run_trace_json(run, &trace), RBL_OK);
    double begin[4], end[4];
    times_in(trace, "top", &begin[0], &end[0]);
    times_in(trace, "left", &begin[1], &end[1]);
    times_in(trace, "right", &begin[2], &end[2]);
    times_in(trace, "end", &begin[3], &end[3]);
    assert_true(begin[1] < end[2] && begin[2] < end[1]);
    assert_true(begin[1] >= end[0] && begin[2] >= end[0]);
    assert_true(begin[3] >= end[1] && begin[3] >= end[2]);
    rbl_run_free_text(run, trace);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void the_sides_of_a_diamond_run_at_once(void **state)
{
    (void)state;
    run_diamond(engine_of(2));
    run_diamond(engine_of(8));
    host h = {0};
    run_diamond(engine_on(&h, 2, run_on_threads));
    assert_int_equal(h.calls, 1);
}

static void what_was_not_recorded_is_not_found(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(2);
    rbl_graph *graph = load(engine, "{\"rubble\": 1, \"nodes\": {\"a\": {\"type\": \"test.Sum\"}}}");
    rbl_run *run = NULL;
    char *text = NULL;
    assert_int_equal(rbl_evaluate(graph, NULL, &run), RBL_OK);
    assert_int_equal(rbl_run_trace_json(run, &text), RBL_ERR_NOT_FOUND);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/// Messages and outcomes of a graph with many talkers, some of which fail.
static char *tell_all(rbl_engine *engine)
{
    char *graph_text = malloc(1 << 16), *all = malloc(1 << 17);
    size_t length =
        (size_t)sprintf(graph_text, "{\"rubble\": 1, \"nodes\": {\"n0\": {\"type\": \"test.Say\"}");
    for (int i = 1; i < 100; i++)
        length += (size_t)sprintf(graph_text + length,
            ", \"n%d\": {\"type\": \"test.Say\", \"params\": {\"number\": %d}, \"in\": {\"values\": "
            "[\"n%d\", \"n%d\"]}}",
            i, i % 30 == 17 ? -1 : i, i / 2, i / 3);
    strcpy(graph_text + length, "}}");
    rbl_graph *graph = load(engine, graph_text);
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, NULL, &run), RBL_ERR_ARGUMENT);
    char *messages = NULL;
    assert_int_equal(rbl_messages_json(rbl_run_messages(run), &messages), RBL_OK);
    strcpy(all, messages);
    rbl_messages_free_text(rbl_run_messages(run), messages);
    length = strlen(all);
    for (size_t i = 0; i < rbl_run_node_count(run); i++) {
        const rbl_node_report *report = rbl_run_node(run, i);
        const rbl_value *value = rbl_run_value(run, report->node);
        length +=
            (size_t)sprintf(all + length, "\n%s %s %s %d %g", report->node, rbl_outcome_text(report->outcome),
                report->reason, (int)report->status, value ? rbl_value_number(value) : 0.0);
    }
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    free(graph_text);
    return all;
}

static void messages_and_reports_do_not_depend_on_threads(void **state)
{
    (void)state;
    char *expected = tell_all(engine_of(1));
    host h = {0};
    for (int i = 0; i < 12; i++) {
        rbl_engine *engine = i % 4 == 0   ? engine_of(2)
                             : i % 4 == 1 ? engine_of(8)
                             : i % 4 == 2 ? engine_on(&h, 3, run_on_threads)
                                          : engine_on(&h, 3, run_in_turn);
        char *got = tell_all(engine);
        assert_string_equal(got, expected);
        free(got);
    }
    assert_int_equal(h.calls, 6);
    free(expected);
}

/// Hashes of the collections of a fracture with two branches.
static void fracture(rbl_engine *engine, char hashes[3][33])
{
    static const char *const names[] = {"crack", "slabs", "tidy"};
    rbl_graph *graph = load(engine,
        "{\"rubble\": 1, \"nodes\": {\"box\": {\"type\": \"MakePrimitive\"},"
        "\"sites\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"box\"}, \"params\": {\"count\": "
        "150}},"
        "\"crack\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": \"box\", \"points\": "
        "\"sites\"}},"
        "\"slabs\": {\"type\": \"SliceCutter\", \"in\": {\"collection\": \"box\"}},"
        "\"tidy\": {\"type\": \"FixTinyGeo\", \"in\": {\"collection\": \"crack\"}}}}");
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, NULL, &run), RBL_OK);
    for (int i = 0; i < 3; i++)
        rbl_collection_hash_text(rbl_value_collection(rbl_run_value(run, names[i])), hashes[i]);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    char expected[3][33], got[3][33];
    host h = {0};
    fracture(engine_of(1), expected);
    for (int i = 0; i < 4; i++) {
        fracture(i == 0   ? engine_of(2)
                 : i == 1 ? engine_of(8)
                 : i == 2 ? engine_on(&h, 4, run_on_threads)
                          : engine_on(&h, 4, run_in_turn),
            got);
        for (int k = 0; k < 3; k++)
            assert_string_equal(got[k], expected[k]);
    }
}

static void a_long_chain_and_a_wide_fan_run_on_many_threads(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(8);
    char *text = malloc(2 << 20);
    size_t length = (size_t)sprintf(text, "{\"rubble\": 1, \"nodes\": {");
    for (int i = 9999; i > 0; i--)
        length += (size_t)sprintf(
            text + length, "\"n%d\": {\"type\": \"test.Sum\", \"in\": {\"values\": [\"n%d\"]}},\n", i, i - 1);
    sprintf(text + length, "\"n0\": {\"type\": \"test.Sum\"}}}");
    rbl_graph *graph = load(engine, text);
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, NULL, &run), RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "n9999")), 10000, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);

    length = (size_t)sprintf(text, "{\"rubble\": 1, \"nodes\": {");
    for (int i = 0; i < 2000; i++)
        length += (size_t)sprintf(
            text + length, "\"n%d\": {\"type\": \"test.Sum\", \"params\": {\"number\": %d}},\n", i, i);
    length +=
        (size_t)sprintf(text + length, "\"end\": {\"type\": \"test.Sum\", \"in\": {\"values\": [\"n0\"");
    for (int i = 1; i < 2000; i++)
        length += (size_t)sprintf(text + length, ", \"n%d\"", i);
    sprintf(text + length, "]}}}}");
    graph = load(engine, text);
    assert_int_equal(rbl_evaluate(graph, NULL, &run), RBL_OK);
    assert_close(rbl_value_number(rbl_run_value(run, "end")), 1999000 + 1, 0);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    free(text);
    rbl_engine_destroy(engine);
}

static void evaluate_in_thread(void *user)
{
    rbl_run *run = NULL;
    rbl_status status = rbl_evaluate(user, NULL, &run);
    if (status != RBL_OK) abort();
    rbl_run_destroy(run);
}

static void several_evaluations_share_an_engine(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(3);
    rbl_graph *graphs[4];
    uv_thread_t threads[4];
    for (int i = 0; i < 4; i++) {
        char text[400];
        snprintf(text, sizeof text,
            "{\"rubble\": 1, \"nodes\": {\"box\": {\"type\": \"MakePrimitive\"},"
            "\"sites\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"box\"}, \"params\": "
            "{\"count\": "
            "50, \"seed\": %d}}, \"crack\": {\"type\": \"VoronoiFracture\", \"in\": {\"collection\": "
            "\"box\", "
            "\"points\": \"sites\"}}}}",
            i);
        graphs[i] = load(engine, text);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(uv_thread_create(&threads[i], evaluate_in_thread, graphs[i]), 0);
    for (int i = 0; i < 4; i++)
        uv_thread_join(&threads[i]);
    for (int i = 0; i < 4; i++)
        rbl_graph_destroy(graphs[i]);
    rbl_engine_destroy(engine);
}

static void cancel_when_two_wait(void *user)
{
    while (atomic_load(&waiting) < 2) {
    }
    rbl_control_cancel(user);
}

static void cancelling_ends_all_nodes_under_way(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(2);
    rbl_graph *graph =
        load(engine, "{\"rubble\": 1, \"nodes\": {\"top\": {\"type\": \"test.Sum\"},"
                     "\"left\": {\"type\": \"test.Wait\", \"in\": {\"values\": [\"top\"]}},"
                     "\"right\": {\"type\": \"test.Wait\", \"in\": {\"values\": [\"top\"]}},"
                     "\"end\": {\"type\": \"test.Sum\", \"in\": {\"values\": [\"left\", \"right\"]}}}}");
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    assert_int_equal(rbl_control_create(engine, &options.control), RBL_OK);
    uv_thread_t thread;
    atomic_store(&waiting, 0);
    assert_int_equal(uv_thread_create(&thread, cancel_when_two_wait, options.control), 0);
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_ERR_CANCELLED);
    uv_thread_join(&thread);
    assert_int_equal(rbl_messages_count(rbl_run_messages(run)), 0);
    for (size_t i = 0; i < rbl_run_node_count(run); i++) {
        const rbl_node_report *report = rbl_run_node(run, i);
        rbl_outcome expected = strcmp(report->node, "top") == 0   ? RBL_OUTCOME_RAN
                               : strcmp(report->node, "end") == 0 ? RBL_OUTCOME_SKIPPED
                                                                  : RBL_OUTCOME_FAILED;
        assert_int_equal(report->outcome, expected);
    }
    assert_int_equal(rbl_engine_cache_entries(engine), 1);
    rbl_run_destroy(run);
    rbl_control_destroy(options.control);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

typedef struct event_check {
    bool begun[200], ended[200];
    double progress;
    size_t events;
} event_check;

static void check_event(void *user, const rbl_event *event)
{
    event_check *c = user;
    size_t i = event->number;
    assert_int_equal(event->total, 200);
    assert_true(i < 200);
    if (event->kind == RBL_EVENT_NODE_BEGINS) {
        assert_false(c->begun[i]);
        c->begun[i] = true;
        int node = atoi(event->node + 1); /* numbers follow the names here: all need a lower one */
        if (node > 0) assert_true(c->events > 0);
    } else {
        assert_true(c->begun[i] && !c->ended[i]);
        c->ended[i] = true;
    }
    assert_true(event->progress >= c->progress && event->progress <= 1 + 1e-9);
    c->progress = event->progress;
    c->events++;
}

static void events_come_one_by_one_and_progress_grows(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(8);
    char *text = malloc(1 << 16);
    size_t length = (size_t)sprintf(text, "{\"rubble\": 1, \"nodes\": {\"n0\": {\"type\": \"test.Sum\"}");
    for (int i = 1; i < 200; i++)
        length += (size_t)sprintf(
            text + length, ", \"n%d\": {\"type\": \"test.Sum\", \"in\": {\"values\": [\"n%d\"]}}", i, i / 4);
    strcpy(text + length, "}}");
    rbl_graph *graph = load(engine, text);
    event_check *check = calloc(1, sizeof *check);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.event = check_event;
    options.user = check;
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    assert_int_equal(check->events, 400);
    assert_close(check->progress, 1, 1e-9);
    free(check);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    free(text);
}

/* ---- Memory ---- */

typedef struct counted {
    atomic_size_t bytes, peak;
} counted;

static void *counted_reallocate(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    counted *c = user;
    size_t now = atomic_fetch_add(&c->bytes, new_bytes - old_bytes) + (new_bytes - old_bytes);
    size_t peak = atomic_load(&c->peak);
    while (now > peak && !atomic_compare_exchange_weak(&c->peak, &peak, now)) {
    }
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, new_bytes);
}

static void the_memory_limit_is_kept(void **state)
{
    (void)state;
    enum { LIMIT = 8 << 20 };
    for (int threads = 1; threads <= 4; threads += 3) {
        counted c = {0};
        rbl_engine_options options;
        rbl_engine_options_init(&options);
        options.thread_count = threads;
        options.limit_bytes = LIMIT;
        options.reallocate = counted_reallocate;
        options.user = &c;
        rbl_engine *engine = open_engine(&options);
        rbl_graph *graph = load(engine, "{\"rubble\": 1, \"nodes\": {\"few\": {\"type\": \"test.Sum\"},"
                                        "\"many\": {\"type\": \"test.Points\"}}}");
        /* A megabyte each: the cache gives old ones up, and nothing fails. */
        for (int i = 0; i < 30; i++) {
            char count[16];
            snprintf(count, sizeof count, "%d", 40000 + i);
            assert_int_equal(
                rbl_graph_set_parameter(graph, "/nodes/many/params/number", count, NULL), RBL_OK);
            rbl_run *run = NULL;
            assert_int_equal(rbl_evaluate(graph, NULL, &run), RBL_OK);
            rbl_run_destroy(run);
        }
        assert_true(rbl_engine_cache_entries(engine) >= 2);
        assert_true(rbl_engine_cache_entries(engine) < 20);
        /* What does not fit at all is refused, and the node says so. */
        assert_int_equal(
            rbl_graph_set_parameter(graph, "/nodes/many/params/number", "1000000", NULL), RBL_OK);
        rbl_run *run = NULL;
        assert_int_equal(rbl_evaluate(graph, NULL, &run), RBL_ERR_NO_MEMORY);
        const rbl_messages *messages = rbl_run_messages(run);
        assert_int_equal(rbl_messages_count(messages), 1);
        assert_string_equal(rbl_messages_get(messages, 0)->node, "many");
        static const char told[] = "the memory limit of 8388608 bytes is reached: ";
        size_t used = 0, asked = 0;
        const char *text = rbl_messages_get(messages, 0)->text;
        assert_memory_equal(text, told, strlen(told));
        assert_int_equal(
            sscanf(text + strlen(told), "%zu are in use, and %zu more were asked for", &used, &asked), 2);
        assert_true(used <= 8388608 && asked > 0 && used + asked > 8388608 - 131072);
        rbl_run_destroy(run);
        /* Afterwards all goes on. */
        assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/many/params/number", "5000", NULL), RBL_OK);
        assert_int_equal(rbl_evaluate(graph, NULL, &run), RBL_OK);
        rbl_run_destroy(run);
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
        assert_true(atomic_load(&c.peak) <= LIMIT + 1024); /* the allocator itself is not counted */
        assert_int_equal(atomic_load(&c.bytes), 0);
    }
}

static void malformed_executors_are_refused(void **state)
{
    (void)state;
    host h = {0};
    rbl_executor executor = {.size = sizeof executor, .thread_count = 2, .run = run_in_turn, .user = &h};
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.executor = &executor;
    rbl_engine *engine = NULL;
    executor.thread_count = 0;
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_ERR_ARGUMENT);
    executor.thread_count = 257;
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_ERR_ARGUMENT);
    executor.thread_count = 2;
    executor.run = NULL;
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_ERR_ARGUMENT);
    executor.run = run_in_turn;
    executor.size = 3;
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_ERR_ARGUMENT);
    assert_null(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sides_of_a_diamond_run_at_once),
        cmocka_unit_test(what_was_not_recorded_is_not_found),
        cmocka_unit_test(messages_and_reports_do_not_depend_on_threads),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(a_long_chain_and_a_wide_fan_run_on_many_threads),
        cmocka_unit_test(several_evaluations_share_an_engine),
        cmocka_unit_test(cancelling_ends_all_nodes_under_way),
        cmocka_unit_test(events_come_one_by_one_and_progress_grows),
        cmocka_unit_test(the_memory_limit_is_kept),
        cmocka_unit_test(malformed_executors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
