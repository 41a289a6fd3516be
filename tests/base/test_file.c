#include "tests/check.h"

#include <dirent.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fracture/base/file.h"
#include "tests/failing_alloc.h"

static char folder[] = "/tmp/rubble-test-file-XXXXXX";
static char path[200];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/out.txt", folder);
    return 0;
}

static int count_entries(const char *name)
{
    int count = 0;
    DIR *entries = opendir(name);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count++;
    closedir(entries);
    return count;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static rbl_status write_and_read(rbl_context *ctx, void *user)
{
    (void)user;
    rbli_file_writer *writer = NULL;
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbl_status status;
    RBL_TRY(rbli_file_writer_open(ctx, path, &writer));
    rbli_file_writer_write(writer, "head\n", 5);
    rbli_file_writer_printf(writer, "%600d %.17g\n", 7, 0.5);
    status = rbli_file_writer_commit(ctx, writer);
    if (status != RBL_OK) goto done;
    RBL_TRY(rbli_file_read(ctx, path, 0, &bytes, &count));
    assert_int_equal(count, 5 + 600 + 5);
    assert_memory_equal(bytes + count - 5, " 0.5\n", 5);
    assert_int_equal(bytes[count], 0);
done:
    rbli_free(ctx, bytes);
    return status;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    assert_ok(ctx, write_and_read(ctx, NULL));
    setlocale(LC_ALL, "de_DE.UTF-8");
    assert_ok(ctx, write_and_read(ctx, NULL));
    setlocale(LC_ALL, "C");
    finish_context(ctx);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(fail_each_allocation(write_and_read, NULL, 0) >= 5);
    assert_int_equal(count_entries(folder), 1);
}

static void hash_and_size_are_those_of_the_content(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    size_t total = 0;
    uint8_t *all = rbli_alloc(ctx, 1 << 20, 1);
    for (size_t i = 0; i < 1 << 20; i++)
        all[i] = (uint8_t)(i * 2654435761u >> 13);
    rbli_file_writer *writer = NULL;
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    const size_t pieces[] = {0, 1, 65535, 1, 65536, 3, 200000, 70000, 17};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        rbli_file_writer_write(writer, all + total, pieces[i]);
        total += pieces[i];
    }
    rbli_hash hash;
    size_t bytes = 0;
    assert_ok(ctx, rbli_file_writer_finish(writer, &hash, &bytes));
    assert_int_equal(bytes, total);
    assert_true(rbli_hash_equal(hash, rbli_hash_bytes(all, total)));
    assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
    uint8_t *back = NULL;
    assert_ok(ctx, rbli_file_read(ctx, path, total, &back, &bytes));
    assert_int_equal(bytes, total);
    assert_memory_equal(back, all, total);
    rbli_free(ctx, back);
    rbli_free(ctx, all);
    finish_context(ctx);
}

static void contents_are_hashed_compared_and_copied(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    enum { COUNT = 150001 };
    uint8_t *all = rbli_alloc(ctx, COUNT, 1), *back = NULL;
    for (size_t i = 0; i < COUNT; i++)
        all[i] = (uint8_t)(i * 40503u >> 7);
    rbli_file_writer *writer = NULL;
    rbli_hash hash, wanted = rbli_hash_bytes(all, COUNT);
    size_t bytes = 0;
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    rbli_file_writer_write(writer, all, COUNT);
    assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
    assert_ok(ctx, rbli_file_hash(ctx, path, &hash, &bytes));
    assert_int_equal(bytes, COUNT);
    assert_true(rbli_hash_equal(hash, wanted));
    assert_true(rbli_file_has_content(ctx, path, COUNT, wanted));
    assert_false(rbli_file_has_content(ctx, path, COUNT - 1, wanted));
    assert_false(rbli_file_has_content(ctx, path, COUNT, rbli_hash_bytes(all, COUNT - 1)));
    assert_false(rbli_file_has_content(ctx, folder, 0, rbli_hash_bytes("", 0)));
    assert_false(rbli_file_has_content(ctx, "/dev/null", 0, rbli_hash_bytes("", 0)));
    assert_false(rbli_file_has_content(ctx, "/nowhere/at/all", 0, rbli_hash_bytes("", 0)));

    char copy[250], pipe_name[250];
    snprintf(copy, sizeof copy, "%s/copy", folder);
    snprintf(pipe_name, sizeof pipe_name, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe_name, 0600), 0);
    assert_false(rbli_file_has_content(ctx, pipe_name, 0, rbli_hash_bytes("", 0)));
    assert_int_equal(rbli_file_hash(ctx, pipe_name, &hash, &bytes), RBL_ERR_READ);
    assert_int_equal(rbli_file_read_unlinked(ctx, pipe_name, 0, &back, &bytes), RBL_ERR_READ);
    assert_ok(
        ctx, rbli_file_read(ctx, pipe_name, 0, &back, &bytes)); /* nobody writes: nobody is waited for */
    assert_int_equal(bytes, 0);
    rbli_free(ctx, back);
    unlink(pipe_name);

    assert_int_equal(symlink(path, pipe_name), 0);
    assert_false(rbli_file_has_content(ctx, pipe_name, COUNT, wanted));
    assert_int_equal(rbli_file_read_unlinked(ctx, pipe_name, 0, &back, &bytes), RBL_ERR_READ);
    assert_ok(ctx, rbli_file_hash(ctx, pipe_name, &hash, &bytes));
    assert_true(rbli_hash_equal(hash, wanted));
    assert_int_equal(truncate(path, COUNT), 0);
    assert_ok(ctx, rbli_file_read(ctx, pipe_name, COUNT, &back, &bytes));
    rbli_free(ctx, back);
    back = NULL;
    assert_int_equal(rbli_file_read(ctx, pipe_name, COUNT - 1, &back, &bytes), RBL_ERR_LIMIT);
    unlink(pipe_name);
    assert_ok(ctx, rbli_file_writer_open(ctx, copy, &writer));
    assert_string_equal(rbli_file_writer_path(writer), copy);
    assert_int_equal(rbli_file_writer_copy(ctx, writer, "/nowhere/at/all"), RBL_ERR_READ);
    assert_ok(ctx, rbli_file_writer_copy(ctx, writer, path));
    assert_ok(ctx, rbli_file_writer_finish(writer, &hash, &bytes));
    assert_true(rbli_hash_equal(hash, wanted));
    assert_true(rbli_file_has_content(ctx, rbli_file_writer_temporary_path(writer), COUNT, wanted));
    assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
    assert_ok(ctx, rbli_file_read(ctx, copy, 0, &back, &bytes));
    assert_int_equal(bytes, COUNT);
    assert_memory_equal(back, all, COUNT);

    char text[33];
    rbli_hash_to_text(wanted, text);
    assert_true(rbli_hash_from_text(text, &hash));
    assert_true(rbli_hash_equal(hash, wanted));
    text[31] = 'g';
    assert_false(rbli_hash_from_text(text, &hash));
    assert_false(rbli_hash_from_text("12ab", &hash));
    unlink(copy);
    rbli_free(ctx, back);
    rbli_free(ctx, all);
    finish_context(ctx);
}

static void nothing_is_seen_before_the_commit(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    unlink(path);
    rbli_file_writer *writers[20];
    for (int i = 0; i < 20; i++)
        assert_ok(ctx, rbli_file_writer_open(ctx, path, &writers[i]));
    assert_int_equal(count_entries(folder), 20);
    assert_int_equal(access(path, F_OK), -1);
    for (int i = 0; i < 19; i++)
        rbli_file_writer_discard(writers[i]);
    rbli_file_writer_discard(NULL);
    assert_ok(ctx, rbli_file_writer_commit(ctx, writers[19]));
    assert_int_equal(count_entries(folder), 1);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(about.st_mode & 0777, 0666 & ~mask);
    finish_context(ctx);
}

static void expect_message(rbl_context *ctx, const char *text)
{
    size_t count = rbli_messages_count(ctx->messages);
    assert_true(count > 0);
    assert_string_equal(rbli_messages_get(ctx->messages, count - 1)->text, text);
}

static void failures_name_the_path_and_the_reason(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbli_file_writer *writer = NULL;
    assert_int_equal(rbli_file_read(ctx, "/nowhere/at/all", 0, &bytes, &count), RBL_ERR_READ);
    expect_message(ctx, "/nowhere/at/all: no such file or directory");
    assert_int_equal(rbli_file_read(ctx, "/tmp", 0, &bytes, &count), RBL_ERR_READ);
    expect_message(ctx, "/tmp: illegal operation on a directory");
    assert_int_equal(rbli_file_writer_open(ctx, "/nowhere/at/all", &writer), RBL_ERR_WRITE);
    expect_message(ctx, "/nowhere/at/all: no such file or directory");
    assert_int_equal(rbli_file_writer_open(ctx, folder, &writer), RBL_ERR_WRITE);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 3)->text, "illegal operation on a directory"));
    assert_int_equal(rbli_file_read(ctx, "/dev/zero", 1000, &bytes, &count), RBL_ERR_READ);
    expect_message(ctx, "/dev/zero: is a device or the like, not a regular file");
    assert_null(bytes);
    assert_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "%"));
    finish_context(ctx);
}

static void a_full_disk_is_reported_by_the_commit(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    /* A limit on the size of files plays the full disk. */
    struct rlimit before, small = {1000, 1000};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    char *text = rbli_calloc(ctx, 100000, 1);
    rbli_file_writer *writer = NULL;
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    rbli_file_writer_write(writer, text, 100000);
    rbli_file_writer_write(writer, text, 100000);
    rbl_status status = rbli_file_writer_commit(ctx, writer);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, RBL_ERR_WRITE);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "out.txt: file too large"));
    assert_int_equal(count_entries(folder), 1);
    rbli_free(ctx, text);
    finish_context(ctx);
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    char deep[300], file_below[300];
    snprintf(deep, sizeof deep, "%s/a//b/c/", folder);
    assert_ok(ctx, rbli_make_folders(ctx, deep));
    assert_ok(ctx, rbli_make_folders(ctx, deep));
    assert_int_equal(access(deep, F_OK), 0);
    snprintf(file_below, sizeof file_below, "%s/out.txt/d", folder);
    assert_int_equal(rbli_make_folders(ctx, file_below), RBL_ERR_WRITE);
    for (int i = 0; i < 3; i++) {
        static const char *const below[] = {"a/b/c", "a/b", "a"};
        snprintf(deep, sizeof deep, "%s/%s", folder, below[i]);
        assert_int_equal(rmdir(deep), 0);
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(hash_and_size_are_those_of_the_content),
        cmocka_unit_test(contents_are_hashed_compared_and_copied),
        cmocka_unit_test(nothing_is_seen_before_the_commit),
        cmocka_unit_test(failures_name_the_path_and_the_reason),
        cmocka_unit_test(a_full_disk_is_reported_by_the_commit),
        cmocka_unit_test(folders_are_made_with_their_parents),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
