#include "tests/engine/test_nodes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/cache_folder.h"
#include "engine/disk_entry.h"
#include "fracture/collection/hierarchy.h"
#include "tests/entry_checksums.h"
#include "tests/failing_alloc.h"

/* ---- Help ---- */

static const char *const graph_text =
    "{\"rubble\": 1, \"vars\": {\"n\": {\"type\": \"int\", \"default\": 3}}, \"nodes\": {\n"
    "\"first\": {\"type\": \"test.Collection\", \"params\": {\"count\": 3000}},\n"
    "\"second\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"first\"}, \"params\": "
    "{\"count\": "
    "3000, \"name\": \"more\"}},\n"
    "\"third\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"second\"}, \"params\": "
    "{\"count\": "
    "3000, \"name\": \"most\"}},\n"
    "\"number\": {\"type\": \"test.Number\", \"params\": {\"number\": {\"var\": \"n\"}}},\n"
    "\"warned\": {\"type\": \"test.Warn\", \"in\": {\"value\": \"number\"}},\n"
    "\"points\": {\"type\": \"test.Points\", \"params\": {\"points\": [[1, 2, 3], [-4, 5, 6.5]]}}}}";
enum { GRAPH_NODES = 6 };

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rubble_disk_cache_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "chmod -R u+w %.60s; rm -rf %.60s", folder, folder);
    return system(command) == 0 ? 0 : -1;
}

static rbl_engine *engine_of(const char *cache, size_t bytes)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    options.cache_folder = cache;
    options.cache_bytes = bytes;
    rbl_engine *engine = NULL;
    assert_int_equal(rbl_engine_create(&options, &engine), RBL_OK);
    assert_int_equal(register_test_nodes(engine), RBL_OK);
    memset(&calls, 0, sizeof calls);
    return engine;
}

static size_t count_outcome(const rbl_run *run, rbl_outcome outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < rbl_run_node_count(run); i++)
        count += rbl_run_node(run, i)->outcome == outcome;
    return count;
}

static void check_values(const rbl_run *run)
{
    const rbl_collection *third = rbl_value_collection(rbl_run_value(run, "third"));
    assert_non_null(third);
    assert_int_equal(rbl_collection_attribute_count(third, "thing"), 3);
    const int32_t *most = rbli_collection_read(third, "thing", "most", RBL_INT32);
    for (int32_t i = 0; i < 3000; i++)
        assert_int_equal(most[i], i);
    assert_close(rbl_value_number(rbl_run_value(run, "number")), 3, 0);
    assert_close(rbl_value_number(rbl_run_value(run, "warned")), 5, 0);
    size_t count = 0;
    const double(*points)[3] = rbl_value_points(rbl_run_value(run, "points"), &count);
    assert_int_equal(count, 2);
    assert_close(points[1][2], 6.5, 0);
    assert_string_equal(rbl_value_string(rbl_run_value(run, "points.name")), "exact");
    assert_int_equal(rbl_messages_count_of(rbl_run_messages(run), RBL_WARNING), 1);
}

static size_t notes_with(const rbl_run *run, const char *part)
{
    size_t count = 0;
    const rbl_messages *messages = rbl_run_messages(run);
    for (size_t i = 0; i < rbl_messages_count(messages); i++) {
        const rbl_message *message = rbl_messages_get(messages, i);
        count += message->severity == RBL_NOTE && strstr(message->text, part) != NULL;
    }
    return count;
}

/// Evaluates the graph in an engine of its own, checks its values, and tells how many nodes ran, were
/// answered from the folder, and how many notes have `part` in them.
typedef struct tally {
    size_t ran, disk, notes;
} tally;

static tally evaluate_fresh(const char *cache, size_t bytes, const char *part)
{
    rbl_engine *engine = engine_of(cache, bytes);
    rbl_graph *graph = load_graph(engine, graph_text);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    tally t = {count_outcome(run, RBL_OUTCOME_RAN), count_outcome(run, RBL_OUTCOME_DISK_HIT),
        part ? notes_with(run, part) : 0};
    check_values(run);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    return t;
}

static rbli_cached_files list_files(rbl_context *ctx)
{
    rbli_cached_files files;
    assert_ok(ctx, rbli_cache_folder_list(ctx, folder, &files));
    return files;
}

static size_t count_files(rbli_cached_kind kind)
{
    rbl_context *ctx = make_context(1);
    rbli_cached_files files = list_files(ctx);
    size_t count = 0;
    for (size_t i = 0; i < files.count; i++)
        count += files.data[i].kind == kind;
    rbli_cached_files_free(ctx, &files);
    finish_context(ctx);
    return count;
}

/// Calls `change` on the content of every file and writes what it leaves.
static void change_files(void (*change)(uint8_t *bytes, size_t *count))
{
    rbl_context *ctx = make_context(1);
    rbli_cached_files files = list_files(ctx);
    for (size_t i = 0; i < files.count; i++) {
        uint8_t *bytes = NULL;
        size_t count = 0;
        assert_ok(ctx, rbli_file_read(ctx, files.data[i].path, 0, &bytes, &count));
        change(bytes, &count);
        FILE *file = fopen(files.data[i].path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, count, file), count);
        assert_int_equal(fclose(file), 0);
        rbli_free(ctx, bytes);
    }
    rbli_cached_files_free(ctx, &files);
    finish_context(ctx);
}

/* ---- Entries ---- */

static rbl_value *make_selection(rbl_context *ctx)
{
    rbl_collection *collection = NULL;
    void *parents = NULL;
    assert_ok(ctx, rbli_collection_create(ctx, &collection));
    assert_ok(ctx, rbli_collection_resize(ctx, collection, "bone", 5));
    assert_ok(ctx, rbli_collection_write(ctx, collection, "bone", "parent", RBL_INT32, &parents));
    rbl_value *value = NULL;
    assert_ok(ctx, rbl_value_create_selection(ctx, collection, (int32_t[]){4, 1, 3}, 3, &value));
    assert_true(rbli_selection_fits(rbli_value_get_selection(value), collection));
    rbli_collection_release(collection);
    return value;
}

enum { KINDS = 8 };
static rbli_result *make_result(rbl_context *ctx)
{
    rbli_result *result = NULL;
    rbl_collection *collection = NULL;
    int64_t *numbers = NULL;
    assert_ok(ctx, rbli_result_create(ctx->allocator, KINDS, &result));
    assert_ok(ctx, rbli_collection_create(ctx, &collection));
    assert_ok(ctx, rbli_collection_resize(ctx, collection, "thing", 100));
    assert_ok(ctx, rbli_collection_write(ctx, collection, "thing", "number", RBL_INT64, (void **)&numbers));
    for (int64_t i = 0; i < 100; i++)
        numbers[i] = i * i;
    assert_ok(ctx, rbl_value_create_collection(ctx, collection, &result->outputs[0]));
    rbli_collection_release(collection);
    assert_ok(ctx, rbl_value_create_points(
                       ctx, (const double[2][3]){{1, 2, 3}, {0.1, -0.0, 1e300}}, 2, &result->outputs[1]));
    assert_ok(
        ctx, rbl_value_create_box(ctx, (double[3]){-1, -2, -3}, (double[3]){1, 2, 3}, &result->outputs[2]));
    result->outputs[3] = make_selection(ctx);
    assert_ok(ctx, rbl_value_create_number(ctx, RBL_VALUE_BOOL, 1, &result->outputs[4]));
    assert_ok(ctx, rbl_value_create_number(ctx, RBL_VALUE_INT, -7, &result->outputs[5]));
    assert_ok(ctx, rbl_value_create_number(ctx, RBL_VALUE_FLOAT, 0.1, &result->outputs[6]));
    assert_ok(ctx, rbl_value_create_string(ctx, "Gr\xc3\xbc\xc3\x9f", &result->outputs[7]));
    assert_ok(ctx, rbli_result_add_message(result, RBL_WARNING, "merged 3 points"));
    assert_ok(ctx, rbli_result_add_message(result, RBL_NOTE, ""));
    assert_ok(ctx, rbli_result_add_file(result, "a/b.mtl", (rbli_hash){1, 2}));
    result->files[0].anchor = 1;
    return result;
}

static rbl_status decode_copy(
    rbl_context *ctx, rbli_hash address, const uint8_t *bytes, size_t count, rbli_result **out)
{
    uint8_t *copy = rbli_alloc(ctx, count, 1);
    if (!copy) return RBL_ERR_NO_MEMORY;
    memcpy(copy, bytes, count);
    return rbli_entry_decode(ctx, address, copy, count, NULL, out);
}

static void every_kind_of_value_comes_back(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_result *result = make_result(ctx), *again = NULL;
    rbli_hash address = {5, 6};
    uint8_t *bytes = NULL;
    size_t count = 0;
    assert_ok(ctx, rbli_entry_encode(ctx, address, result, &bytes, &count));
    assert_ok(ctx, decode_copy(ctx, address, bytes, count, &again));
    assert_int_equal(again->output_count, KINDS);
    assert_true(rbli_value_is_packed(again->outputs[0]));
    for (size_t i = 0; i < KINDS; i++) {
        assert_int_equal(rbl_value_get_kind(again->outputs[i]), rbl_value_get_kind(result->outputs[i]));
        assert_true(rbli_hash_equal(rbli_value_hash(again->outputs[i]), rbli_value_hash(result->outputs[i])));
    }
    assert_true(rbli_value_is_packed(again->outputs[0])); /* its hash is known without unpacking */
    const int64_t *numbers =
        rbli_collection_read(rbl_value_collection(again->outputs[0]), "thing", "number", RBL_INT64);
    assert_int_equal(numbers[99], 99 * 99);
    assert_false(rbli_value_is_packed(again->outputs[0]));
    assert_int_equal(again->message_count, 2);
    assert_int_equal(again->messages[0].severity, RBL_WARNING);
    assert_string_equal(again->messages[0].text, "merged 3 points");
    assert_int_equal(again->file_count, 1);
    assert_string_equal(again->files[0].path, "a/b.mtl");
    assert_int_equal(again->files[0].anchor, 1);
    assert_true(rbli_hash_equal(again->files[0].hash, (rbli_hash){1, 2}));
    /* What was read is written again as it was. */
    uint8_t *second = NULL;
    size_t second_count = 0;
    assert_ok(ctx, rbli_entry_encode(ctx, address, again, &second, &second_count));
    assert_int_equal(count, second_count);
    assert_memory_equal(bytes, second, count);
    rbli_free(ctx, second);
    rbli_free(ctx, bytes);
    rbli_result_release(result);
    rbli_result_release(again);
    finish_context(ctx);
}

static void no_flipped_bit_and_no_cut_goes_unseen(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_result *result = make_result(ctx), *again = NULL;
    rbli_hash address = {5, 6};
    uint8_t *bytes = NULL;
    size_t count = 0;
    assert_ok(ctx, rbli_entry_encode(ctx, address, result, &bytes, &count));
    for (size_t i = 0; i < count; i++) {
        bytes[i] ^= (uint8_t)(1 << (i % 8));
        assert_int_equal(decode_copy(ctx, address, bytes, count, &again), RBL_ERR_PARSE);
        bytes[i] ^= (uint8_t)(1 << (i % 8));
        assert_int_equal(decode_copy(ctx, address, bytes, i, &again), RBL_ERR_PARSE);
    }
    assert_int_equal(decode_copy(ctx, (rbli_hash){5, 7}, bytes, count, &again), RBL_ERR_PARSE);
    rbli_free(ctx, bytes);
    rbli_result_release(result);
    finish_context(ctx);
}

/// Right checksums around wrong content: refused, or something that can be used without harm.
static void sealed_nonsense_does_no_harm(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_result *result = make_result(ctx);
    rbli_hash address = {5, 6};
    uint8_t *bytes = NULL, *copy = NULL;
    size_t count = 0, refused = 0;
    assert_ok(ctx, rbli_entry_encode(ctx, address, result, &bytes, &count));
    copy = rbli_alloc(ctx, count, 1);
    assert_non_null(copy);
    for (size_t i = 8; i < count; i++) {
        static const uint8_t changes[] = {0x01, 0x80, 0xFF};
        for (size_t c = 0; c < sizeof changes; c++) {
            rbli_result *again = NULL;
            memcpy(copy, bytes, count);
            copy[i] ^= changes[c];
            seal_entry(copy, count);
            rbli_messages_clear(ctx->messages);
            rbl_status status = decode_copy(ctx, address, copy, count, &again);
            assert_true(status == RBL_OK || status == RBL_ERR_PARSE || status == RBL_ERR_NO_MEMORY);
            for (size_t k = 0; again && k < again->output_count; k++)
                if (rbli_value_unpack(ctx, again->outputs[k]) != RBL_OK) status = RBL_ERR_PARSE;
            refused += status != RBL_OK;
            rbli_result_release(again);
        }
    }
    assert_true(refused > count);
    rbli_free(ctx, copy);
    rbli_free(ctx, bytes);
    rbli_result_release(result);
    finish_context(ctx);
}

static rbl_status code_entry(rbl_context *ctx, void *user)
{
    const rbli_result *result = user;
    rbl_status status = RBL_OK;
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbli_result *again = NULL;
    RBL_TRY(rbli_entry_encode(ctx, (rbli_hash){5, 6}, result, &bytes, &count));
    RBL_TRY(decode_copy(ctx, (rbli_hash){5, 6}, bytes, count, &again));
    for (size_t i = 0; i < again->output_count; i++)
        RBL_TRY(rbli_value_unpack(ctx, again->outputs[i]));
done:
    rbli_free(ctx, bytes);
    rbli_result_release(again);
    return status;
}

static void entries_without_memory_leak_nothing(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_result *result = make_result(ctx);
    assert_true(fail_each_allocation(code_entry, result, 0) > 30);
    rbli_result_release(result);
    finish_context(ctx);
}

/* ---- Entries that are read in parts ---- */

static void write_bytes(const char *path, const uint8_t *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/// A number, a collection of about 40 kB that does not compress, and a text.
static rbli_result *make_large_result(rbl_context *ctx)
{
    rbli_result *result = NULL;
    rbl_collection *collection = NULL;
    int64_t *numbers = NULL;
    uint64_t random = 7;
    assert_ok(ctx, rbli_result_create(ctx->allocator, 3, &result));
    assert_ok(ctx, rbl_value_create_number(ctx, RBL_VALUE_INT, 12, &result->outputs[0]));
    assert_ok(ctx, rbli_collection_create(ctx, &collection));
    assert_ok(ctx, rbli_collection_resize(ctx, collection, "thing", 5000));
    assert_ok(ctx, rbli_collection_write(ctx, collection, "thing", "number", RBL_INT64, (void **)&numbers));
    for (size_t i = 0; i < 5000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        memcpy(&numbers[i], &random, sizeof random);
    }
    assert_ok(ctx, rbl_value_create_collection(ctx, collection, &result->outputs[1]));
    rbli_collection_release(collection);
    assert_ok(ctx, rbl_value_create_string(ctx, "behind the collection", &result->outputs[2]));
    assert_ok(ctx, rbli_result_add_message(result, RBL_WARNING, "merged 3 points"));
    return result;
}

static rbl_status read_head_of(rbl_context *ctx, const char *path, rbli_result **out)
{
    rbli_messages_clear(ctx->messages);
    return rbli_entry_read_head(ctx, (rbli_hash){5, 6}, path, NULL, out);
}

static void collections_stay_in_their_file_until_they_are_needed(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_result *result = make_large_result(ctx), *again = NULL;
    uint8_t *bytes = NULL;
    size_t count = 0;
    char path[100];
    snprintf(path, sizeof path, "%.60s/entry", folder);
    assert_ok(ctx, rbli_entry_encode(ctx, (rbli_hash){5, 6}, result, &bytes, &count));
    assert_true(count > 40000);
    write_bytes(path, bytes, count);
    assert_ok(ctx, read_head_of(ctx, path, &again));
    assert_true(rbli_value_is_in_file(again->outputs[1]));
    for (size_t i = 0; i < 3; i++)
        assert_true(rbli_hash_equal(rbli_value_hash(again->outputs[i]), rbli_value_hash(result->outputs[i])));
    assert_true(rbl_value_number(again->outputs[0]) == 12);
    assert_string_equal(rbl_value_string(again->outputs[2]), "behind the collection");
    assert_ok(ctx, rbli_value_unpack(ctx, again->outputs[1]));
    assert_false(rbli_value_is_in_file(again->outputs[1]));
    assert_int_equal(rbl_collection_group_size(rbl_value_collection(again->outputs[1]), "thing"), 5000);
    rbli_result_release(again);
    /* The file goes between the reading of its head and the unpacking. */
    assert_ok(ctx, read_head_of(ctx, path, &again));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rbli_value_unpack(ctx, again->outputs[1]), RBL_ERR_READ);
    assert_null(rbl_value_collection(again->outputs[1]));
    rbli_result_release(again);
    rbli_free(ctx, bytes);
    rbli_result_release(result);
    finish_context(ctx);
}

static void what_is_damaged_is_seen_when_it_is_read(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_result *result = make_large_result(ctx);
    uint8_t *bytes = NULL;
    size_t count = 0, late = 0;
    char path[100];
    snprintf(path, sizeof path, "%.60s/entry", folder);
    assert_ok(ctx, rbli_entry_encode(ctx, (rbli_hash){5, 6}, result, &bytes, &count));
    uint64_t row[7];
    memcpy(row, bytes + ENTRY_HEADER_BYTES + ENTRY_ROW_BYTES, sizeof row);
    for (size_t i = 0; i < count; i += i < 600 ? 1 : 211) {
        rbli_result *again = NULL;
        bytes[i] ^= 0x20;
        write_bytes(path, bytes, count);
        rbl_status status = read_head_of(ctx, path, &again);
        assert_true(i >= row[4] || status == RBL_ERR_PARSE);
        if (status == RBL_OK) {
            status = rbli_value_unpack(ctx, again->outputs[1]);
            assert_int_equal(status, RBL_ERR_PARSE);
            late++;
        }
        rbli_result_release(again);
        bytes[i] ^= 0x20;
        write_bytes(path, bytes, i);
        assert_int_equal(read_head_of(ctx, path, &again), RBL_ERR_PARSE);
    }
    assert_true(late > 100);
    rbli_free(ctx, bytes);
    rbli_result_release(result);
    finish_context(ctx);
}

/* ---- Evaluation ---- */

static void a_second_process_runs_nothing(void **state)
{
    (void)state;
    tally cold = evaluate_fresh(folder, 0, NULL);
    assert_int_equal(cold.ran, GRAPH_NODES);
    assert_int_equal(count_files(RBLI_CACHED_ENTRY), GRAPH_NODES);
    tally warm = evaluate_fresh(folder, 0, NULL);
    assert_int_equal(warm.disk, GRAPH_NODES);
    assert_int_equal(calls.collection + calls.number + calls.warn + calls.points, 0);
}

static void only_what_is_needed_is_unpacked(void **state)
{
    (void)state;
    evaluate_fresh(folder, 0, NULL);
    rbl_engine *engine = engine_of(folder, 0);
    rbl_graph *graph = load_graph(engine, graph_text);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    static const char *const all[] = {"first", "second", "third"};
    for (size_t i = 0; i < 3; i++)
        assert_true(rbli_value_is_packed(rbl_run_value(run, all[i])));
    rbl_run_destroy(run);
    /* A node below that runs unpacks its own input alone. */
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/third/params/name", "\"other\"", NULL), RBL_OK);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(report_of(run, "third")->outcome, RBL_OUTCOME_RAN);
    assert_true(rbli_value_is_packed(rbl_run_value(run, "first")));
    assert_false(rbli_value_is_packed(rbl_run_value(run, "second")));
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void no_cache_neither_reads_nor_writes(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(folder, 0);
    rbl_graph *graph = load_graph(engine, graph_text);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.no_cache = true;
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    rbl_run_destroy(run);
    assert_int_equal(count_files(RBLI_CACHED_ENTRY), 0);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void failures_are_not_kept(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(folder, 0);
    rbl_graph *graph = load_graph(engine,
        "{\"rubble\": 1, \"nodes\": {\"bad\": {\"type\": \"test.Fail\"}, \"after\": {\"type\": "
        "\"test.Add\", \"in\": {\"a\": \"bad\"}}}}");
    rbl_run_destroy(evaluate_graph(graph, RBL_ERR_OPEN_MESH));
    assert_int_equal(count_files(RBLI_CACHED_ENTRY), 0);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void flip_a_bit(uint8_t *bytes, size_t *count)
{
    bytes[*count / 2] ^= 0x10;
}
static void cut_in_half(uint8_t *bytes, size_t *count)
{
    (void)bytes;
    *count /= 2;
}
static void leave_nothing(uint8_t *bytes, size_t *count)
{
    (void)bytes;
    *count = 0;
}
static void make_of_version_3(uint8_t *bytes, size_t *count)
{
    bytes[8] = 3;
    seal_entry(bytes, *count);
}

static void damaged_files_are_set_aside_and_told_once(void **state)
{
    (void)state;
    void (*const changes[])(uint8_t *, size_t *) = {
        flip_a_bit, cut_in_half, leave_nothing, make_of_version_3};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        evaluate_fresh(folder, 0, NULL);
        change_files(changes[i]);
        tally t = evaluate_fresh(folder, 0, "it was set aside as .bad");
        assert_int_equal(t.ran, GRAPH_NODES);
        assert_int_equal(t.notes, GRAPH_NODES);
        assert_int_equal(count_files(RBLI_CACHED_BAD), GRAPH_NODES);
        assert_int_equal(count_files(RBLI_CACHED_ENTRY), GRAPH_NODES);
        t = evaluate_fresh(folder, 0, "set aside");
        assert_int_equal(t.disk, GRAPH_NODES);
        assert_int_equal(t.notes, 0);
        remove_folder(NULL);
        assert_int_equal(mkdir(folder, 0777), 0);
    }
}

/// Makes the packed collections undecodable behind right checksums.
static void spoil_collections(uint8_t *bytes, size_t *count)
{
    uint64_t row[7];
    memcpy(row, bytes + 64, sizeof row);
    if (row[0] != RBL_VALUE_COLLECTION) return;
    memset(bytes + row[4] + 100, 0x5A, 40);
    seal_entry(bytes, *count);
}

static void what_cannot_be_unpacked_is_evaluated_without_the_folder(void **state)
{
    (void)state;
    evaluate_fresh(folder, 0, NULL);
    change_files(spoil_collections);
    rbl_engine *engine = engine_of(folder, 0);
    rbl_graph *graph = load_graph(engine, graph_text);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/third/params/count", "2999", NULL), RBL_OK);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(calls.collection, 3);
    assert_int_equal(count_outcome(run, RBL_OUTCOME_DISK_HIT), 0);
    assert_int_equal(notes_with(run, "evaluated again without the folder"), 1);
    const rbl_collection *third = rbl_value_collection(rbl_run_value(run, "third"));
    assert_int_equal(rbl_collection_group_size(third, "thing"), 2999);
    rbl_run_destroy(run);
    run = evaluate_graph(graph, RBL_OK);
    assert_int_equal(count_outcome(run, RBL_OUTCOME_MEMORY_HIT), GRAPH_NODES);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static const char *const large_graph =
    "{\"rubble\": 1, \"nodes\": {\n"
    "\"first\": {\"type\": \"test.Collection\", \"params\": {\"count\": 600000}},\n"
    "\"second\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"first\"}, \"params\": "
    "{\"count\": 600000, \"name\": \"more\"}},\n"
    "\"third\": {\"type\": \"test.Collection\", \"in\": {\"collection\": \"second\"}, \"params\": "
    "{\"count\": 600000, \"name\": \"most\"}}}}";

static rbl_run *evaluate_files_only(rbl_graph *graph)
{
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.files_only = true;
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK);
    return run;
}

static void damage_collection(uint8_t *bytes, size_t *count)
{
    assert_true(*count > 8192); /* else it is read at once */
    bytes[*count - 100] ^= 4;
}

static void a_run_for_its_files_finds_damage_when_it_needs_what_is_damaged(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(folder, 0);
    rbl_graph *graph = load_graph(engine, large_graph);
    rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    /* Nothing is computed: what is connected to something is left in its file, the last one is not. */
    engine = engine_of(folder, 0);
    graph = load_graph(engine, large_graph);
    rbl_run *run = evaluate_files_only(graph);
    assert_int_equal(count_outcome(run, RBL_OUTCOME_DISK_HIT), 3);
    assert_true(rbli_value_is_in_file(rbl_run_value(run, "second")));
    assert_false(rbli_value_is_in_file(rbl_run_value(run, "third")));
    rbl_run_destroy(run);
    /* It is in memory once it was needed. */
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/third/params/name", "\"other\"", NULL), RBL_OK);
    run = evaluate_files_only(graph);
    assert_int_equal(report_of(run, "second")->outcome, RBL_OUTCOME_DISK_HIT);
    assert_int_equal(report_of(run, "third")->outcome, RBL_OUTCOME_RAN);
    rbl_run_destroy(run);
    run = evaluate_files_only(graph);
    assert_int_equal(report_of(run, "first")->outcome, RBL_OUTCOME_DISK_HIT);
    assert_int_equal(report_of(run, "second")->outcome, RBL_OUTCOME_MEMORY_HIT);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    /* Now all of them are damaged; "third" runs and needs "second". */
    change_files(damage_collection);
    engine = engine_of(folder, 0);
    graph = load_graph(engine, large_graph);
    assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/third/params/name", "\"new\"", NULL), RBL_OK);
    run = evaluate_files_only(graph);
    assert_int_equal(notes_with(run, "damaged or gone; evaluated again"), 1);
    assert_int_equal(calls.collection, 3);
    const rbl_collection *third = rbl_value_collection(rbl_run_value(run, "third"));
    assert_int_equal(rbl_collection_attribute_count(third, "thing"), 3);
    assert_int_equal(rbl_collection_group_size(third, "thing"), 600000);
    assert_int_equal(count_files(RBLI_CACHED_BAD), 2);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void set_other_number(uint8_t *bytes, size_t *count)
{
    uint64_t row[7];
    memcpy(row, bytes + 64, sizeof row);
    if (row[0] != RBL_VALUE_INT || *count < row[4] + 8) return;
    rbl_context *ctx = make_context(1);
    double number = 4;
    rbl_value *value = NULL;
    memcpy(bytes + row[4], &number, sizeof number);
    assert_ok(ctx, rbl_value_create_number(ctx, RBL_VALUE_INT, number, &value));
    rbli_hash hash = rbli_value_hash(value);
    memcpy(bytes + 64 + 8, &hash.low, 8);
    memcpy(bytes + 64 + 16, &hash.high, 8);
    rbl_value_release(value);
    finish_context(ctx);
    seal_entry(bytes, *count);
}

static void checked_runs_find_a_wrong_result(void **state)
{
    (void)state;
    evaluate_fresh(folder, 0, NULL);
    change_files(set_other_number);
    rbl_engine *engine = engine_of(folder, 0);
    rbl_graph *graph = load_graph(engine, graph_text);
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.checked = true;
    rbl_run *run = NULL;
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_ERR_INTERNAL);
    assert_int_equal(report_of(run, "number")->outcome, RBL_OUTCOME_FAILED);
    assert_int_equal(report_of(run, "third")->outcome, RBL_OUTCOME_DISK_HIT);
    rbl_run_destroy(run);
    assert_int_equal(count_files(RBLI_CACHED_BAD), 1);
    assert_int_equal(rbl_evaluate(graph, &options, &run), RBL_OK); /* it ran again */
    check_values(run);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/* ---- Files that nodes read besides ---- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static rbl_outcome read_in(const char *place)
{
    char text[300];
    snprintf(text, sizeof text,
        "{\"rubble\": 1, \"nodes\": {\"r\": {\"type\": \"test.Read\", \"params\": {\"file\": \"%s/x\"}}}}",
        place);
    rbl_engine *engine = engine_of(folder, 0);
    rbl_graph *graph = load_graph(engine, text);
    rbl_run *run = evaluate_graph(graph, RBL_OK);
    rbl_outcome outcome = report_of(run, "r")->outcome;
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    return outcome;
}

static void further_files_are_looked_for_beside_the_first(void **state)
{
    (void)state;
    char places[3][100], path[400];
    for (int i = 0; i < 3; i++) {
        snprintf(places[i], sizeof places[i], "%s/place%d", folder, i);
        assert_int_equal(mkdir(places[i], 0777), 0);
        snprintf(path, sizeof path, "%.99s/x", places[i]);
        write_text(path, "+same");
        snprintf(path, sizeof path, "%.99s/x.extra", places[i]);
        write_text(path, i == 1 ? "other" : "equal");
    }
    assert_int_equal(read_in(places[0]), RBL_OUTCOME_RAN);
    assert_int_equal(read_in(places[2]), RBL_OUTCOME_DISK_HIT); /* all files are the same */
    assert_int_equal(read_in(places[1]), RBL_OUTCOME_RAN);
    assert_int_equal(read_in(places[1]), RBL_OUTCOME_DISK_HIT);
    write_text(path, "new"); /* place 2 */
    assert_int_equal(read_in(places[2]), RBL_OUTCOME_RAN);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(read_in(places[2]), RBL_OUTCOME_RAN);
}

/* ---- Faults of the system ---- */

static void a_folder_that_cannot_be_made_stops_nothing(void **state)
{
    (void)state;
    char path[100];
    snprintf(path, sizeof path, "%s/file", folder);
    write_text(path, "no folder");
    strcat(path, "/cache");
    tally t = evaluate_fresh(path, 0, "cannot be written");
    assert_int_equal(t.ran, GRAPH_NODES);
    assert_int_equal(t.notes, 1);
}

static void a_folder_that_may_only_be_read_is_read(void **state)
{
    (void)state;
    evaluate_fresh(folder, 0, NULL);
    rbl_context *ctx = make_context(1);
    rbli_cached_files files = list_files(ctx);
    assert_int_equal(unlink(files.data[0].path), 0);
    rbli_cached_files_free(ctx, &files);
    finish_context(ctx);
    char command[200];
    snprintf(command, sizeof command, "chmod -R a+rX,a-w %s", folder);
    assert_int_equal(system(command), 0);
    uid_t user = geteuid();
    if (user == 0) assert_int_equal(seteuid(65534), 0);
    tally t = evaluate_fresh(folder, 0, "cannot be written");
    if (user == 0) assert_int_equal(seteuid(0), 0);
    assert_int_equal(t.disk, GRAPH_NODES - 1);
    assert_int_equal(t.ran, 1);
    assert_int_equal(t.notes, 1);
    /* A damaged file that cannot be set aside is told about once in a run. */
    snprintf(command, sizeof command, "chmod -R u+w %s", folder);
    assert_int_equal(system(command), 0);
    change_files(flip_a_bit);
    snprintf(command, sizeof command, "chmod -R a+rX,a-w %s", folder);
    assert_int_equal(system(command), 0);
    if (user == 0) assert_int_equal(seteuid(65534), 0);
    t = evaluate_fresh(folder, 0, "cannot be set aside");
    if (user == 0) assert_int_equal(seteuid(0), 0);
    assert_int_equal(t.ran, GRAPH_NODES);
    assert_int_equal(t.notes, 1);
}

/// A limit of the size of files stands for a full disk: the write fails in the middle.
static void a_full_disk_stops_nothing(void **state)
{
    (void)state;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 200;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    tally t = evaluate_fresh(folder, 0, "cannot be written");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(t.ran, GRAPH_NODES);
    assert_int_equal(t.notes, 1);
    assert_int_equal(count_files(RBLI_CACHED_TEMPORARY), 0); /* nothing half written is left */
    t = evaluate_fresh(folder, 0, "damaged");
    assert_int_equal(t.notes, 0);
}

/// A child's exit code says whether it got the right values; cmocka's asserts end it otherwise.
static pid_t evaluate_in_child(size_t bytes)
{
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) return child;
    evaluate_fresh(folder, bytes, NULL);
    _exit(0);
}

static void processes_share_a_folder(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        pid_t children[4];
        for (int i = 0; i < 4; i++)
            children[i] = evaluate_in_child(round < 3 ? 0 : 20000); /* later ones trim each other's files */
        for (int i = 0; i < 4; i++) {
            int status = -1;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_int_equal(status, 0);
        }
        tally t = evaluate_fresh(folder, 0, "damaged");
        assert_int_equal(t.notes, 0);
        if (round < 3) assert_int_equal(t.disk, GRAPH_NODES);
        if (round == 1) remove_folder(NULL);
    }
    assert_int_equal(count_files(RBLI_CACHED_TEMPORARY), 0);
}

static void a_killed_writer_leaves_nothing_wrong(void **state)
{
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    for (int round = 0; round < 20; round++) {
        pid_t child = evaluate_in_child(0);
        seed = seed * 1664525u + 1013904223u;
        nanosleep(&(struct timespec){.tv_nsec = 200000 + (long)(seed >> 8) % 20000000}, NULL);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        tally t = evaluate_fresh(folder, 0, "damaged");
        assert_int_equal(t.notes, 0);
        assert_int_equal(t.ran + t.disk, GRAPH_NODES);
        if (round % 2) continue;
        rbl_context *ctx = make_context(1);
        rbli_cached_files files = list_files(ctx);
        for (size_t i = 0; i < files.count; i++)
            if (files.data[i].kind == RBLI_CACHED_ENTRY) unlink(files.data[i].path);
        rbli_cached_files_free(ctx, &files);
        finish_context(ctx);
    }
}

typedef struct thread_work {
    rbl_graph *graph;
    bool good;
} thread_work;

static void evaluate_in_thread(void *user)
{
    thread_work *w = user;
    rbl_run *run = NULL;
    w->good = rbl_evaluate(w->graph, NULL, &run) == RBL_OK;
    static const char *const all[] = {"first", "second", "third"};
    for (size_t i = 0; w->good && i < 3; i++) {
        const rbl_collection *collection = rbl_value_collection(rbl_run_value(run, all[i]));
        w->good = collection && rbl_collection_attribute_count(collection, "thing") == i + 1;
    }
    rbl_run_destroy(run);
}

static void threads_unpack_the_same_values(void **state)
{
    (void)state;
    evaluate_fresh(folder, 0, NULL); /* nothing runs below: the test's nodes count without a lock */
    for (int round = 0; round < 6; round++) {
        rbl_engine *engine = engine_of(folder, 0);
        thread_work work[4];
        uv_thread_t threads[4];
        for (int i = 0; i < 4; i++)
            work[i] = (thread_work){.graph = load_graph(engine, graph_text)};
        for (int i = 0; i < 4; i++)
            assert_int_equal(uv_thread_create(&threads[i], evaluate_in_thread, &work[i]), 0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(uv_thread_join(&threads[i]), 0);
            assert_true(work[i].good);
            rbl_graph_destroy(work[i].graph);
        }
        rbl_engine_destroy(engine);
    }
}

/* ---- The folder ---- */

static void set_age(const char *path, time_t seconds)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void what_was_used_longest_ago_goes_first(void **state)
{
    (void)state;
    evaluate_fresh(folder, 0, NULL);
    rbl_context *ctx = make_context(1);
    rbli_cached_files files = list_files(ctx);
    uint64_t bytes = files.bytes;
    for (size_t i = 0; i < files.count; i++)
        set_age(files.data[i].path, (time_t)(1000 * (i + 1)));
    char temporary[200];
    snprintf(temporary, sizeof temporary, "%.*s/.rubble-1-2.tmp",
        (int)(strrchr(files.data[0].path, '/') - files.data[0].path), files.data[0].path);
    write_text(temporary, "half a file");
    rbl_engine *engine = engine_of(NULL, 0);
    rbl_cache_report report;
    uint64_t last = files.data[files.count - 1].bytes;
    assert_int_equal(rbl_cache_gc(engine, folder, (size_t)(bytes - last + 11), &report, NULL), RBL_OK);
    assert_int_equal(report.removed, 1);
    assert_int_equal(report.removed_bytes, last);
    assert_int_equal(report.entries, GRAPH_NODES - 1);
    assert_int_equal(report.temporary, 1);
    assert_int_not_equal(access(files.data[files.count - 1].path, F_OK), 0);
    set_age(temporary, 4000);
    assert_int_equal(rbl_cache_gc(engine, folder, SIZE_MAX, &report, NULL), RBL_OK);
    assert_int_equal(report.removed, 1);
    assert_int_equal(report.temporary, 0);
    rbl_engine_destroy(engine);
    rbli_cached_files_free(ctx, &files);
    finish_context(ctx);
    /* A hit is a use. */
    evaluate_fresh(folder, 0, NULL);
    ctx = make_context(1);
    files = list_files(ctx);
    for (size_t i = 0; i < files.count; i++)
        assert_true(files.data[i].used_s + 500 > (int64_t)time(NULL));
    rbli_cached_files_free(ctx, &files);
    finish_context(ctx);
}

static void the_folder_stays_within_its_bound(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(folder, 40000);
    rbl_graph *graph = load_graph(engine, graph_text);
    for (int i = 0; i < 60; i++) {
        char text[20];
        snprintf(text, sizeof text, "%d", 1000 + 50 * i);
        assert_int_equal(rbl_graph_set_parameter(graph, "/nodes/first/params/count", text, NULL), RBL_OK);
        rbl_run_destroy(evaluate_graph(graph, RBL_OK));
    }
    rbl_cache_report report;
    assert_int_equal(rbl_cache_stat(engine, folder, &report, NULL), RBL_OK);
    assert_true(report.bytes <= 40000 + 40000 / 16);
    assert_true(report.entries > 2);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void verify_and_clear_touch_what_is_theirs(void **state)
{
    (void)state;
    rbl_engine *engine = engine_of(NULL, 0);
    rbl_cache_report report;
    rbl_messages *messages = NULL;
    assert_int_equal(rbl_cache_stat(engine, "/nonexistent/folder", &report, &messages), RBL_ERR_READ);
    assert_int_equal(rbl_messages_count_of(messages, RBL_ERROR), 1);
    rbl_messages_destroy(messages);
    messages = NULL;
    evaluate_fresh(folder, 0, NULL);
    assert_int_equal(rbl_cache_verify(engine, folder, &report, &messages), RBL_OK);
    assert_int_equal(report.entries, GRAPH_NODES);
    assert_int_equal(report.damaged, 0);
    assert_int_equal(rbl_messages_count(messages), 0);
    change_files(spoil_collections); /* checksums are right: it is the unpacking that finds it */
    assert_int_equal(rbl_cache_verify(engine, folder, &report, &messages), RBL_OK);
    assert_int_equal(report.damaged, 3);
    assert_int_equal(report.set_aside, 3);
    assert_int_equal(rbl_messages_count_of(messages, RBL_NOTE), 3);
    rbl_messages_destroy(messages);
    char path[120];
    snprintf(path, sizeof path, "%s/ab", folder);
    mkdir(path, 0777);
    strcat(path, "/mine.txt");
    write_text(path, "not of the cache");
    assert_int_equal(rbl_cache_clear(engine, folder, &report, NULL), RBL_OK);
    assert_int_equal(report.removed, GRAPH_NODES);
    assert_int_equal(rbl_cache_stat(engine, folder, &report, NULL), RBL_OK);
    assert_int_equal(report.entries + report.set_aside + report.temporary, 0);
    assert_int_equal(access(path, F_OK), 0);
    rbl_engine_destroy(engine);
}

/* ---- Without memory ---- */

/// Load, evaluation and all freeing with one allocation failing. True when nothing failed.
static bool evaluate_failing(failing_alloc *state, size_t fail_at)
{
    *state = (failing_alloc){0};
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    options.cache_folder = folder;
    options.reallocate = failing_reallocate;
    options.user = state;
    rbl_engine *engine = NULL;
    rbl_graph *graph = NULL;
    rbl_run *run = NULL;
    rbl_status status = rbl_engine_create(&options, &engine);
    assert_int_equal(status, RBL_OK);
    assert_int_equal(register_test_nodes(engine), RBL_OK);
    atomic_store(&state->calls, 0);
    state->fail_at = fail_at;
    if (status == RBL_OK)
        status = rbl_graph_load_text(engine, "test.json", graph_text, strlen(graph_text), NULL, &graph);
    if (status == RBL_OK) status = rbl_evaluate(graph, NULL, &run);
    bool failed = atomic_load(&state->failed);
    if (status == RBL_OK) {
        const rbl_collection *third = rbl_value_collection(rbl_run_value(run, "third"));
        failed = atomic_load(&state->failed); /* unpacking may have met it */
        assert_true(third || failed);
    } else {
        assert_int_equal(status, RBL_ERR_NO_MEMORY);
        assert_true(failed);
    }
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    return !failed;
}

/// ASan finds what leaks here.
static void no_failed_allocation_stops_more_than_it_must(void **state)
{
    (void)state;
    failing_alloc memory;
    for (int warm = 0; warm < 2; warm++) {
        if (warm) evaluate_fresh(folder, 0, NULL);
        assert_true(evaluate_failing(&memory, SIZE_MAX));
        size_t total = atomic_load(&memory.calls), step = total > 1500 ? total / 1500 : 1;
        for (size_t fail_at = 1; fail_at <= total; fail_at += step) {
            if (!warm && fail_at % 50 == 1) {
                remove_folder(NULL);
                assert_int_equal(mkdir(folder, 0777), 0);
            }
            evaluate_failing(&memory, fail_at);
        }
        tally t = evaluate_fresh(folder, 0, "damaged");
        assert_int_equal(t.notes, 0);
        remove_folder(NULL);
        assert_int_equal(mkdir(folder, 0777), 0);
    }
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_comes_back),
        cmocka_unit_test(no_flipped_bit_and_no_cut_goes_unseen),
        cmocka_unit_test(sealed_nonsense_does_no_harm),
        cmocka_unit_test(entries_without_memory_leak_nothing),
        IN_FOLDER(collections_stay_in_their_file_until_they_are_needed),
        IN_FOLDER(what_is_damaged_is_seen_when_it_is_read),
        IN_FOLDER(a_second_process_runs_nothing),
        IN_FOLDER(only_what_is_needed_is_unpacked),
        IN_FOLDER(no_cache_neither_reads_nor_writes),
        IN_FOLDER(failures_are_not_kept),
        IN_FOLDER(damaged_files_are_set_aside_and_told_once),
        IN_FOLDER(what_cannot_be_unpacked_is_evaluated_without_the_folder),
        IN_FOLDER(a_run_for_its_files_finds_damage_when_it_needs_what_is_damaged),
        IN_FOLDER(checked_runs_find_a_wrong_result),
        IN_FOLDER(further_files_are_looked_for_beside_the_first),
        IN_FOLDER(a_folder_that_cannot_be_made_stops_nothing),
        IN_FOLDER(a_folder_that_may_only_be_read_is_read),
        IN_FOLDER(a_full_disk_stops_nothing),
        IN_FOLDER(processes_share_a_folder),
        IN_FOLDER(a_killed_writer_leaves_nothing_wrong),
        IN_FOLDER(threads_unpack_the_same_values),
        IN_FOLDER(what_was_used_longest_ago_goes_first),
        IN_FOLDER(the_folder_stays_within_its_bound),
        IN_FOLDER(verify_and_clear_touch_what_is_theirs),
        IN_FOLDER(no_failed_allocation_stops_more_than_it_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
