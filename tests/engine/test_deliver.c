#include "tests/engine/test_nodes.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/cache_folder.h"
#include "tests/failing_alloc.h"

/* ---- A node whose files are kept ---- */

enum { CONTENT_BYTES = 70001 };
static char twist; /* makes the node break its promise */
static int delivered;

static void fill(uint8_t content[CONTENT_BYTES], const char *name, int number)
{
    for (size_t i = 0; i < CONTENT_BYTES; i++)
        content[i] = (uint8_t)((i * 2654435761u >> 11) + (size_t)name[0] + (size_t)number * 7);
    content[0] = (uint8_t)(content[0] + twist);
}

static rbl_status keep_deliver(rbl_context *ctx, rbl_call *call)
{
    delivered++;
    const rbl_param *files = rbl_call_param(call, "files");
    for (size_t i = 0; i < rbl_param_count(files); i++) {
        const char *name = rbl_param_string(rbl_param_at(files, i));
        static uint8_t content[CONTENT_BYTES];
        void *writer = NULL;
        rbl_status status = rbl_call_open_file(ctx, call, name, &writer);
        if (status != RBL_OK) return status;
        fill(content, name, (int)rbl_value_number(rbl_call_output(call, "value")));
        rbli_file_writer_write(writer, content, sizeof content);
        status = rbl_call_add_file(ctx, call, name, writer);
        if (status != RBL_OK) return status;
    }
    rbli_note(ctx, "wrote %zu files", rbl_param_count(files));
    return RBL_OK;
}

static const rbl_node_desc keep_node = {.size = sizeof(rbl_node_desc),
    .type = "test.Keep",
    .version = 1,
    .revision = 1,
    .family = "test",
    .text = "writes files that are kept",
    .inputs = optional_in,
    .outputs = float_out,
    .params = write_params,
    .evaluate = write_evaluate,
    .deliver = keep_deliver,
    .flags = RBL_NODE_ALWAYS_DELIVER | RBL_NODE_KEEPS_FILES};

static const char graph_text[] =
    "{\"rubble\": 1, \"vars\": {\"n\": {\"type\": \"int\", \"default\": 3}}, \"nodes\": {"
    "\"n\": {\"type\": \"test.Number\", \"params\": {\"number\": {\"var\": \"n\"}}},"
    "\"k\": {\"type\": \"test.Keep\", \"in\": {\"value\": \"n\"}, \"params\": {\"files\": [\"a.bin\", "
    "\"b.bin\"]}}}}";
static const char *const names[] = {"a.bin", "b.bin"};

/* ---- Folders ---- */

static char root[64], out[96], cache[96];

static int make_folders(void **state)
{
    (void)state;
    strcpy(root, "/tmp/rubble_deliver_XXXXXX");
    if (!mkdtemp(root)) return -1;
    snprintf(out, sizeof out, "%s/out", root);
    snprintf(cache, sizeof cache, "%s/cache", root);
    twist = 0;
    return 0;
}

static int remove_folders(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "chmod -R u+w %.60s; rm -rf %.60s", root, root);
    return system(command) == 0 ? 0 : -1;
}

static void path_of(char path[160], const char *name)
{
    snprintf(path, 160, "%s/%s", out, name);
}

static void expect_content(const char *name, int number)
{
    static uint8_t wanted[CONTENT_BYTES], got[CONTENT_BYTES + 1];
    char path[160];
    path_of(path, name);
    fill(wanted, name, number);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, sizeof got, file), CONTENT_BYTES);
    fclose(file);
    assert_memory_equal(got, wanted, CONTENT_BYTES);
}

/// Files in the output folder, temporary ones included.
static int count_out(void)
{
    int count = 0;
    DIR *entries = opendir(out);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (entries) closedir(entries);
    return count;
}

/* ---- Runs ---- */

static rbl_engine *new_engine(bool with_cache, const failing_alloc *memory)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    options.cache_folder = with_cache ? cache : NULL;
    if (memory) {
        options.reallocate = failing_reallocate;
        options.user = (void *)memory;
    }
    rbl_engine *engine = NULL;
    if (rbl_engine_create(&options, &engine) != RBL_OK) return NULL;
    if (register_test_nodes(engine) == RBL_OK && rbl_engine_register_node(engine, &keep_node, NULL) == RBL_OK)
        return engine;
    rbl_engine_destroy(engine);
    return NULL;
}

static rbl_status run_graph(rbl_graph *graph, bool checked, bool no_cache, rbl_run **run)
{
    rbl_evaluate_options options;
    rbl_evaluate_options_init(&options);
    options.output_folder = out;
    options.checked = checked;
    options.no_cache = no_cache;
    delivered = 0;
    return rbl_evaluate(graph, &options, run);
}

static bool has_note(const rbl_run *run, const char *part)
{
    const rbl_messages *messages = rbl_run_messages(run);
    for (size_t i = 0; i < rbl_messages_count(messages); i++)
        if (strstr(rbl_messages_get(messages, i)->text, part)) return true;
    return false;
}

static const rbl_file_report *file_of(const rbl_run *run, const char *name)
{
    for (size_t i = 0; i < rbl_run_file_count(run); i++)
        if (strstr(rbl_run_file(run, i)->path, name)) return rbl_run_file(run, i);
    fail_msg("no file %s", name);
    return NULL;
}

/// Runs in an engine of its own and looks at all that is left. Returns how often the node wrote.
static int run_fresh(bool with_cache)
{
    rbl_engine *engine = new_engine(with_cache, NULL);
    rbl_graph *graph = load_graph(engine, graph_text);
    rbl_run *run = NULL;
    assert_int_equal(run_graph(graph, false, false, &run), RBL_OK);
    assert_int_equal(rbl_run_file_count(run), 3);
    assert_true(has_note(run, "wrote 2 files"));
    for (size_t i = 0; i < 2; i++)
        expect_content(names[i], 3);
    assert_int_equal(count_out(), 3);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
    return delivered;
}

/* ---- Tests ---- */

static void files_that_are_there_stay_as_they_are(void **state)
{
    (void)state;
    for (int with_cache = 0; with_cache < 2; with_cache++) {
        rbl_engine *engine = new_engine(with_cache, NULL);
        rbl_graph *graph = load_graph(engine, graph_text);
        struct stat before[2], after;
        char path[160];
        for (int round = 0; round < 3; round++) {
            rbl_run *run = NULL;
            assert_int_equal(run_graph(graph, false, false, &run), RBL_OK);
            assert_int_equal(delivered, round == 0);
            assert_int_equal(rbl_run_file_count(run), 3);
            assert_true(has_note(run, "wrote 2 files"));
            bool first = round == 0 && !with_cache; /* the folder is empty then */
            assert_int_equal(file_of(run, "k.manifest.json")->unchanged, !first);
            for (size_t i = 0; i < 2; i++) {
                assert_int_equal(file_of(run, names[i])->unchanged, !first);
                assert_int_equal(file_of(run, names[i])->bytes, CONTENT_BYTES);
                path_of(path, names[i]);
                assert_int_equal(stat(path, &after), 0);
                if (round == 0) before[i] = after;
                assert_int_equal(after.st_ino, before[i].st_ino);
                assert_int_equal(after.st_mtim.tv_nsec, before[i].st_mtim.tv_nsec);
            }
            assert_int_equal(count_out(), 3);
            rbl_run_destroy(run);
        }
        rbl_graph_destroy(graph);
        rbl_engine_destroy(engine);
    }
}

static void another_process_copies_files_to_another_folder(void **state)
{
    (void)state;
    assert_int_equal(run_fresh(true), 1);
    assert_int_equal(run_fresh(true), 0);
    snprintf(out, sizeof out, "%s/other/deep", root);
    assert_int_equal(run_fresh(true), 0);
    snprintf(out, sizeof out, "%s/third", root);
    assert_int_equal(run_fresh(false), 1);
}

static void change_file(const char *path, int kind)
{
    FILE *file = NULL;
    switch (kind) {
    case 0: /* one bit, the size stays */
        file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, CONTENT_BYTES / 2, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, CONTENT_BYTES / 2, SEEK_SET);
        fputc(byte ^ 16, file);
        break;
    case 1:
        assert_int_equal(truncate(path, CONTENT_BYTES / 3), 0);
        break;
    case 2:
        assert_int_equal(truncate(path, 0), 0);
        break;
    case 3:
        file = fopen(path, "ab");
        assert_non_null(file);
        fputc('\n', file);
        break;
    case 4:
        assert_int_equal(unlink(path), 0);
        break;
    case 5: /* a link to nothing */
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink("/nowhere/at/all", path), 0);
        break;
    case 6: /* no plain file */
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkfifo(path, 0600), 0);
        break;
    case 7: /* the other file's content, of the same size */
        assert_int_equal(unlink(path), 0);
        char other[160];
        path_of(other, names[1]);
        assert_int_equal(link(other, path), 0);
        break;
    }
    if (file) assert_int_equal(fclose(file), 0);
}

static void what_was_changed_is_written_again(void **state)
{
    (void)state;
    char path[160];
    path_of(path, names[0]);
    run_fresh(true);
    for (int kind = 0; kind < 8; kind++)
        for (int with_cache = 0; with_cache < 2; with_cache++) {
            change_file(path, kind);
            assert_int_equal(run_fresh(with_cache), !with_cache);
        }
    /* The same in one engine, whose memory knows what was written but not the bytes. */
    rbl_engine *engine = new_engine(false, NULL);
    rbl_graph *graph = load_graph(engine, graph_text);
    rbl_run *run = NULL;
    assert_int_equal(run_graph(graph, false, false, &run), RBL_OK);
    rbl_run_destroy(run);
    change_file(path, 0);
    assert_int_equal(run_graph(graph, false, false, &run), RBL_OK);
    assert_int_equal(delivered, 1);
    assert_false(file_of(run, names[0])->unchanged);
    assert_true(file_of(run, names[1])->unchanged);
    expect_content(names[0], 3);
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void another_number_gives_other_files(void **state)
{
    (void)state;
    rbl_engine *engine = new_engine(true, NULL);
    rbl_graph *graph = load_graph(engine, graph_text);
    for (int round = 0; round < 6; round++) {
        char number[2] = {(char)('3' + round % 2), 0};
        rbl_run *run = NULL;
        assert_int_equal(rbl_graph_set_variable(graph, "n", number, NULL), RBL_OK);
        assert_int_equal(run_graph(graph, false, false, &run), RBL_OK);
        assert_int_equal(delivered, round < 2);
        expect_content(names[0], 3 + round % 2);
        expect_content(names[1], 3 + round % 2);
        assert_false(file_of(run, names[0])->unchanged);
        rbl_run_destroy(run);
    }
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static rbli_cached_files list_cache(rbl_context *ctx)
{
    rbli_cached_files files;
    assert_ok(ctx, rbli_cache_folder_list(ctx, cache, &files));
    return files;
}

/// Damages the file `index` of the folder; false when there are not so many.
static bool damage_cache(size_t index, int kind, uint32_t random)
{
    rbl_context *ctx = make_context(1);
    rbli_cached_files files = list_cache(ctx);
    bool there = index < files.count;
    if (there) {
        const char *path = files.data[index].path;
        size_t bytes = (size_t)files.data[index].bytes;
        FILE *file = kind == 0 ? fopen(path, "r+b") : NULL;
        if (file) {
            fseek(file, (long)(random % bytes), SEEK_SET);
            int byte = fgetc(file);
            fseek(file, (long)(random % bytes), SEEK_SET);
            fputc(byte ^ (1 << random / 65536 % 8), file);
            fclose(file);
        } else {
            assert_int_equal(
                kind == 3 ? unlink(path) : truncate(path, kind == 1 ? 0 : (off_t)(random % bytes)), 0);
        }
    }
    rbli_cached_files_free(ctx, &files);
    finish_context(ctx);
    return there;
}

static void a_damaged_cache_gives_no_wrong_file(void **state)
{
    (void)state;
    uint32_t seed = (uint32_t)time(NULL), random = seed;
    print_message("seed %u\n", seed);
    size_t damaged = 0;
    for (int kind = 0; kind < 4; kind++)
        for (size_t index = 0; index < 5; index++)
            for (int keep = 0; keep < 2; keep++) {
                char command[300];
                snprintf(command, sizeof command, "rm -rf %s %s", cache, out);
                assert_int_equal(system(command), 0);
                run_fresh(true);
                random = random * 1664525u + 1013904223u;
                damaged += damage_cache(index, kind, random);
                if (!keep) {
                    snprintf(command, sizeof command, "rm -rf %s", out);
                    assert_int_equal(system(command), 0);
                }
                run_fresh(true);
                snprintf(command, sizeof command, "rm -rf %s", out);
                assert_int_equal(system(command), 0);
                run_fresh(true);
            }
    /* Two results, a record and two contents. */
    assert_int_equal(damaged, 5 * 4 * 2);
}

static void verify_finds_damaged_contents(void **state)
{
    (void)state;
    run_fresh(true);
    rbl_engine *engine = new_engine(false, NULL);
    rbl_cache_report report;
    assert_int_equal(rbl_cache_verify(engine, cache, &report, NULL), RBL_OK);
    assert_int_equal(report.damaged, 0);
    assert_int_equal(report.entries, 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(damage_cache(i, 0, 12345 + (uint32_t)i * 97));
    assert_int_equal(rbl_cache_verify(engine, cache, &report, NULL), RBL_OK);
    assert_int_equal(report.damaged, 5);
    assert_int_equal(report.set_aside, 5);
    assert_int_equal(rbl_cache_gc(engine, cache, 0, &report, NULL), RBL_OK);
    assert_int_equal(report.removed, 5);
    assert_int_equal(report.entries, 0);
    rbl_engine_destroy(engine);
    assert_int_equal(run_fresh(true), 1);
}

static void checked_runs_write_again_and_compare(void **state)
{
    (void)state;
    run_fresh(true);
    rbl_engine *engine = new_engine(true, NULL);
    rbl_graph *graph = load_graph(engine, graph_text);
    rbl_run *run = NULL;
    assert_int_equal(run_graph(graph, true, false, &run), RBL_OK);
    assert_int_equal(delivered, 1);
    rbl_run_destroy(run);
    twist = 1;
    assert_int_equal(run_graph(graph, true, false, &run), RBL_ERR_INTERNAL);
    assert_true(has_note(run, "not deterministic"));
    assert_int_equal(rbl_run_file_count(run), 0);
    rbl_run_destroy(run);
    twist = 0;
    expect_content(names[0], 3);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

static void without_the_cache_nothing_is_kept(void **state)
{
    (void)state;
    rbl_engine *engine = new_engine(true, NULL);
    rbl_graph *graph = load_graph(engine, graph_text);
    rbl_run *run = NULL;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(run_graph(graph, false, true, &run), RBL_OK);
        assert_int_equal(delivered, 1);
        rbl_run_destroy(run);
    }
    rbl_context *ctx = make_context(1);
    rbli_cached_files files = list_cache(ctx);
    assert_int_equal(files.count, 0);
    rbli_cached_files_free(ctx, &files);
    finish_context(ctx);
    rbl_graph_destroy(graph);
    rbl_engine_destroy(engine);
}

/// Three nodes that write; `middle` names the second one's files.
typedef struct three {
    rbl_engine *engine;
    rbl_graph *graph;
    rbl_run *run;
} three;

static three run_three(const char *middle, bool with_cache, rbl_status expected)
{
    three t = {.engine = new_engine(with_cache, NULL)};
    char text[1000];
    snprintf(text, sizeof text,
        "{\"rubble\": 1, \"nodes\": {\"n\": {\"type\": \"test.Number\"},"
        "\"k1\": {\"type\": \"test.Keep\", \"in\": {\"value\": \"n\"}, \"params\": {\"files\": "
        "[\"first.bin\"]}},"
        "\"k2\": {\"type\": \"test.Keep\", \"in\": {\"value\": \"n\"}, \"params\": {\"files\": [%s]}},"
        "\"k3\": {\"type\": \"test.Keep\", \"in\": {\"value\": \"n\"}, \"params\": {\"files\": "
        "[\"last.bin\"]}}}}",
        middle);
    t.graph = load_graph(t.engine, text);
    assert_int_equal(run_graph(t.graph, false, false, &t.run), expected);
    return t;
}

static void end_three(three t)
{
    rbl_run_destroy(t.run);
    rbl_graph_destroy(t.graph);
    rbl_engine_destroy(t.engine);
}

static void a_name_that_is_a_folder_fails_its_node_alone(void **state)
{
    (void)state;
    char path[160];
    assert_int_equal(mkdir(out, 0777), 0);
    path_of(path, "taken.bin");
    assert_int_equal(mkdir(path, 0777), 0);
    for (int round = 0; round < 3; round++) {
        three t = run_three("\"good.bin\", \"taken.bin\"", round > 0, RBL_ERR_WRITE);
        assert_true(has_note(t.run, path));
        assert_true(has_note(t.run, "directory"));
        assert_int_equal(report_of(t.run, "k1")->status, RBL_OK);
        assert_int_equal(report_of(t.run, "k2")->outcome, RBL_OUTCOME_FAILED);
        assert_int_equal(rbl_run_file_count(t.run), 4); /* two files and their manifests */
        end_three(t);
        expect_content("first.bin", 1);
        expect_content("last.bin", 1);
        path_of(path, "good.bin");
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(count_out(), 5);
        path_of(path, "taken.bin");
    }
    assert_int_equal(rmdir(path), 0);
    end_three(run_three("\"good.bin\", \"taken.bin\"", true, RBL_OK));
    assert_int_equal(count_out(), 7);
}

static void a_name_that_is_written_twice_is_refused_each_time(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        three t = run_three("\"last.bin\"", true, RBL_ERR_ARGUMENT);
        assert_true(has_note(t.run, "the file \"last.bin\" is written twice"));
        expect_content("first.bin", 1);
        end_three(t);
    }
}

static void a_folder_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    /* Not by its rights: those mean nothing to root. */
    snprintf(out, sizeof out, "/proc/rubble_no_such_folder");
    three t = run_three("\"good.bin\"", false, RBL_ERR_WRITE);
    assert_true(has_note(t.run, "/proc/rubble_no_such_folder"));
    assert_int_equal(rbl_run_file_count(t.run), 0);
    end_three(t);
    snprintf(out, sizeof out, "%s/file", root);
    FILE *file = fopen(out, "w");
    assert_non_null(file);
    fclose(file);
    t = run_three("\"good.bin\"", false, RBL_ERR_WRITE);
    assert_true(has_note(t.run, out));
    end_three(t);
}

/// One run with memory that fails. True when nothing failed.
static bool run_failing(failing_alloc *memory, size_t fail_at)
{
    *memory = (failing_alloc){.fail_at = fail_at};
    rbl_engine *engine = new_engine(true, memory);
    if (!engine) return false;
    rbl_messages *messages = NULL;
    rbl_graph *graph = NULL;
    rbl_run *run = NULL;
    rbl_status status =
        rbl_graph_load_text(engine, "test.json", graph_text, sizeof graph_text - 1, &messages, &graph);
    if (status == RBL_OK) status = run_graph(graph, false, false, &run);
    if (status == RBL_OK) {
        assert_int_equal(rbl_run_file_count(run), 3);
        expect_content(names[0], 3);
        expect_content(names[1], 3);
        assert_int_equal(count_out(), 3);
    }
    rbl_run_destroy(run);
    rbl_graph_destroy(graph);
    rbl_messages_destroy(messages);
    rbl_engine_destroy(engine);
    return !atomic_load(&memory->failed);
}

/// ASan finds what leaks here.
static void no_failed_allocation_gives_a_wrong_file(void **state)
{
    (void)state;
    failing_alloc memory;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", out);
    for (int kind = 0; kind < 3; kind++) { /* files written, copied, left alone */
        assert_true(run_failing(&memory, SIZE_MAX));
        size_t total = atomic_load(&memory.calls), tried = 0;
        size_t step = tries(5, 1);
        for (size_t fail_at = total; fail_at > step && tried < 250; fail_at -= step, tried += step) {
            if (kind == 0) {
                char clear[300];
                snprintf(clear, sizeof clear, "rm -rf %s", cache);
                assert_int_equal(system(clear), 0);
            }
            if (kind < 2) assert_int_equal(system(command), 0);
            run_failing(&memory, fail_at);
        }
        assert_int_equal(system(command), 0);
        run_fresh(true);
    }
}

#define IN_FOLDERS(name) cmocka_unit_test_setup_teardown(name, make_folders, remove_folders)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDERS(files_that_are_there_stay_as_they_are),
        IN_FOLDERS(another_process_copies_files_to_another_folder),
        IN_FOLDERS(what_was_changed_is_written_again),
        IN_FOLDERS(another_number_gives_other_files),
        IN_FOLDERS(a_damaged_cache_gives_no_wrong_file),
        IN_FOLDERS(verify_finds_damaged_contents),
        IN_FOLDERS(checked_runs_write_again_and_compare),
        IN_FOLDERS(without_the_cache_nothing_is_kept),
        IN_FOLDERS(a_name_that_is_a_folder_fails_its_node_alone),
        IN_FOLDERS(a_name_that_is_written_twice_is_refused_each_time),
        IN_FOLDERS(a_folder_that_cannot_be_written_is_an_error),
        IN_FOLDERS(no_failed_allocation_gives_a_wrong_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
