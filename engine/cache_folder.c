/// The folder of a disk cache: two levels, `ab/cdef….rblc` by address, and contents of written files as
/// `ab/cdef….rblf` by their hash. What was used longest ago goes first;
/// the time of the last use is the file's modification time.

#include "engine/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/disk_entry.h"
#include "engine/engine.h"
#include "fracture/base/alloc.h"
#include "fracture/base/file.h"

enum { SHELF_DIGITS = 2, NAME_DIGITS = 30, TEMPORARY_SECONDS = 3600 };
static const char entry_suffix[] = ".rblc", content_suffix[] = ".rblf", bad_suffix[] = ".bad";

char *rbli_cache_path(rbl_context *ctx, const char *folder, rbli_hash address, rbli_cached_kind kind)
{
    char text[33];
    rbli_hash_to_text(address, text);
    return rbli_format(ctx, "%s/%.2s/%s%s", folder, text, text + SHELF_DIGITS,
        kind == RBLI_CACHED_CONTENT ? content_suffix : entry_suffix);
}

bool rbli_cache_set_aside(rbl_context *ctx, const char *path)
{
    char *aside = rbli_format(ctx, "%s%s", path, bad_suffix);
    bool renamed = aside && rename(path, aside) == 0;
    rbli_free(ctx, aside);
    return renamed;
}

/* ---- Listing ---- */

static bool is_hexadecimal(const char *text, size_t count)
{
    return strspn(text, "0123456789abcdef") >= count;
}

bool rbli_cache_is_shelf(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool is_shelf(const char *name)
{
    return is_hexadecimal(name, SHELF_DIGITS) && !name[SHELF_DIGITS];
}

/// What a file of a shelf is; false for one that is not ours.
static bool is_ours(const char *name, rbli_cached_kind *kind)
{
    size_t length = strlen(name);
    if (strncmp(name, ".rubble-", 8) == 0 && length > 12 && strcmp(name + length - 4, ".tmp") == 0) {
        *kind = RBLI_CACHED_TEMPORARY;
        return true;
    }
    if (!is_hexadecimal(name, NAME_DIGITS)) return false;
    const char *suffix = name + NAME_DIGITS;
    size_t suffix_length = sizeof entry_suffix - 1; /* of both */
    bool entry = strncmp(suffix, entry_suffix, suffix_length) == 0;
    if (!entry && strncmp(suffix, content_suffix, suffix_length) != 0) return false;
    *kind = entry ? RBLI_CACHED_ENTRY : RBLI_CACHED_CONTENT;
    if (!suffix[suffix_length]) return true;
    *kind = RBLI_CACHED_BAD;
    return strcmp(suffix + suffix_length, bad_suffix) == 0;
}

/// The address whose 32 digits (as rbli_hash_to_text writes them) are a shelf and a name.
static rbli_hash address_of(const char *shelf, const char *name)
{
    char digits[33];
    snprintf(digits, sizeof digits, "%.2s%.30s", shelf, name);
    rbli_hash address = {0, 0};
    rbli_hash_from_text(digits, &address);
    return address;
}

static rbl_status list_shelf(rbl_context *ctx, const char *folder, const char *shelf, rbli_cached_files *out)
{
    char *path = rbli_format(ctx, "%s/%s", folder, shelf);
    if (!path) return RBL_ERR_NO_MEMORY;
    DIR *directory = rbli_cache_is_shelf(path) ? opendir(path) : NULL;
    rbl_status status = RBL_OK;
    for (struct dirent *entry; directory && status == RBL_OK && (entry = readdir(directory));) {
        rbli_cached_file file = {0};
        if (!is_ours(entry->d_name, &file.kind)) continue;
        struct stat about;
        file.path = rbli_format(ctx, "%s/%s", path, entry->d_name);
        if (!file.path) {
            status = RBL_ERR_NO_MEMORY;
        } else if (lstat(file.path, &about) != 0 || !S_ISREG(about.st_mode)) {
            rbli_free(ctx, file.path); /* gone in the meantime */
        } else {
            file.bytes = (uint64_t)about.st_size;
            file.used_s = about.st_mtim.tv_sec;
            file.used_ns = about.st_mtim.tv_nsec;
            if (file.kind == RBLI_CACHED_ENTRY || file.kind == RBLI_CACHED_CONTENT)
                file.address = address_of(shelf, entry->d_name);
            status = rbli_array_push(ctx, out, file);
            if (status == RBL_OK)
                out->bytes += file.bytes;
            else
                rbli_free(ctx, file.path);
        }
    }
    if (directory) closedir(directory);
    rbli_free(ctx, path);
    return status;
}

rbl_status rbli_cache_folder_list(rbl_context *ctx, const char *folder, rbli_cached_files *out)
{
    *out = (rbli_cached_files){0};
    DIR *directory = opendir(folder);
    if (!directory && errno == ENOENT) return RBL_OK;
    if (!directory) return rbli_fail(ctx, RBL_ERR_READ, "%s: %s", folder, strerror(errno));
    rbl_status status = RBL_OK;
    for (struct dirent *entry; status == RBL_OK && (entry = readdir(directory));)
        if (is_shelf(entry->d_name)) status = list_shelf(ctx, folder, entry->d_name, out);
    closedir(directory);
    if (status != RBL_OK) rbli_cached_files_free(ctx, out);
    return status;
}

void rbli_cached_files_free(rbl_context *ctx, rbli_cached_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        rbli_free(ctx, files->data[i].path);
    rbli_free(ctx, files->data);
    *files = (rbli_cached_files){0};
}

/* ---- Removing ---- */

static int compare_use(const void *a, const void *b)
{
    const rbli_cached_file *x = a, *y = b;
    if (x->used_s != y->used_s) return x->used_s < y->used_s ? -1 : 1;
    if (x->used_ns != y->used_ns) return x->used_ns < y->used_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static bool remove_file(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT;
}

static void count_file(rbl_cache_report *report, const rbli_cached_file *file, bool removed)
{
    if (removed) {
        report->removed++;
        report->removed_bytes += file->bytes;
        return;
    }
    report->bytes += file->bytes;
    report->entries += file->kind == RBLI_CACHED_ENTRY || file->kind == RBLI_CACHED_CONTENT;
    report->set_aside += file->kind == RBLI_CACHED_BAD;
    report->temporary += file->kind == RBLI_CACHED_TEMPORARY;
}

void rbli_cache_folder_trim(rbli_cached_files *files, uint64_t bytes, rbl_cache_report *report)
{
    rbl_cache_report unused = {0};
    if (!report) report = &unused;
    if (files->count) qsort(files->data, files->count, sizeof *files->data, compare_use);
    int64_t now = (int64_t)time(NULL);
    for (size_t i = 0; i < files->count; i++) {
        const rbli_cached_file *file = &files->data[i];
        bool temporary = file->kind == RBLI_CACHED_TEMPORARY;
        bool goes = temporary ? file->used_s + TEMPORARY_SECONDS < now : files->bytes > bytes;
        bool removed = goes && remove_file(file->path);
        if (removed) files->bytes -= file->bytes;
        count_file(report, file, removed);
    }
}

/* ---- What the command and hosts may do with a folder ---- */

typedef struct folder_work {
    rbl_context ctx;
    rbl_messages **messages;
    rbli_cached_files files;
} folder_work;

/// Lists a folder that must be there.
static rbl_status begin_work(
    rbl_engine *engine, const char *folder, rbl_cache_report *report, rbl_messages **messages, folder_work *w)
{
    *w = (folder_work){.ctx = engine->base, .messages = messages};
    *report = (rbl_cache_report){0};
    if (messages) {
        rbl_status status = rbli_messages_open(engine->allocator, messages);
        if (status != RBL_OK) return status;
    }
    w->ctx.messages = rbli_messages_create(engine->allocator);
    if (!w->ctx.messages) return RBL_ERR_NO_MEMORY;
    struct stat about;
    if (stat(folder, &about) != 0) return rbli_fail(&w->ctx, RBL_ERR_READ, "%s: %s", folder, strerror(errno));
    return rbli_cache_folder_list(&w->ctx, folder, &w->files);
}

static rbl_status end_work(folder_work *w, rbl_status status)
{
    for (size_t i = 0; w->ctx.messages && w->messages && i < rbli_messages_count(w->ctx.messages); i++) {
        const rbli_message *message = rbli_messages_get(w->ctx.messages, i);
        bool error = message->severity == RBLI_ERROR;
        rbli_message_add(*w->messages, error ? RBL_ERROR : RBL_NOTE, error ? message->status : RBL_OK, NULL,
            NULL, message->text);
    }
    rbli_cached_files_free(&w->ctx, &w->files);
    rbli_messages_destroy(w->ctx.messages);
    return status;
}

rbl_status rbl_cache_stat(
    rbl_engine *engine, const char *folder, rbl_cache_report *report, rbl_messages **messages)
{
    folder_work w;
    rbl_status status = begin_work(engine, folder, report, messages, &w);
    for (size_t i = 0; status == RBL_OK && i < w.files.count; i++)
        count_file(report, &w.files.data[i], false);
    return end_work(&w, status);
}

rbl_status rbl_cache_gc(
    rbl_engine *engine, const char *folder, size_t bytes, rbl_cache_report *report, rbl_messages **messages)
{
    folder_work w;
    rbl_status status = begin_work(engine, folder, report, messages, &w);
    if (status == RBL_OK) rbli_cache_folder_trim(&w.files, bytes, report);
    return end_work(&w, status);
}

rbl_status rbl_cache_clear(
    rbl_engine *engine, const char *folder, rbl_cache_report *report, rbl_messages **messages)
{
    folder_work w;
    rbl_status status = begin_work(engine, folder, report, messages, &w);
    for (size_t i = 0; status == RBL_OK && i < w.files.count; i++) {
        const rbli_cached_file *file = &w.files.data[i];
        bool removed = remove_file(file->path);
        count_file(report, file, removed);
        if (!removed) rbli_fail(&w.ctx, RBL_ERR_WRITE, "%s: %s", file->path, strerror(errno));
    }
    for (unsigned shelf = 0; status == RBL_OK && shelf < 256; shelf++) {
        char *path = rbli_format(&w.ctx, "%s/%02x", folder, shelf);
        if (path) rmdir(path); /* stays when something else is in it */
        rbli_free(&w.ctx, path);
    }
    if (status == RBL_OK && report->entries + report->set_aside + report->temporary > 0)
        status = RBL_ERR_WRITE;
    return end_work(&w, status);
}

/// Reads an entry and unpacks all that is in it; *why (of `quiet`'s messages) says what is wrong.
static rbl_status check_entry(rbl_context *quiet, const rbli_cached_file *file)
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbli_result *result = NULL;
    rbl_status status = rbli_file_read_unlinked(quiet, file->path, RBLI_ENTRY_MOST_BYTES, &bytes, &count);
    if (status == RBL_OK) status = rbli_entry_decode(quiet, file->address, bytes, count, NULL, &result);
    for (size_t i = 0; status == RBL_OK && i < result->output_count; i++)
        status = rbli_value_unpack(quiet, result->outputs[i]);
    rbli_result_release(result);
    return status;
}

static rbl_status check_content(rbl_context *quiet, const rbli_cached_file *file)
{
    rbli_hash hash;
    size_t bytes;
    rbl_status status = rbli_file_hash(quiet, file->path, &hash, &bytes);
    if (status == RBL_OK && !rbli_hash_equal(hash, file->address))
        status = rbli_fail(quiet, RBL_ERR_PARSE, "its content has another hash than its name");
    return status;
}

rbl_status rbl_cache_verify(
    rbl_engine *engine, const char *folder, rbl_cache_report *report, rbl_messages **messages)
{
    folder_work w;
    rbl_status status = begin_work(engine, folder, report, messages, &w);
    for (size_t i = 0; status == RBL_OK && i < w.files.count; i++) {
        rbli_cached_file *file = &w.files.data[i];
        rbl_context quiet = {.allocator = engine->allocator, .pool = engine->pool};
        quiet.messages = rbli_messages_create(engine->allocator);
        rbl_status found = !quiet.messages                     ? RBL_ERR_NO_MEMORY
                           : file->kind == RBLI_CACHED_ENTRY   ? check_entry(&quiet, file)
                           : file->kind == RBLI_CACHED_CONTENT ? check_content(&quiet, file)
                                                               : RBL_OK;
        if (found == RBL_ERR_NO_MEMORY) {
            status = found;
        } else if (found != RBL_OK && access(file->path, F_OK) == 0) {
            const char *why = rbli_messages_count(quiet.messages) ? rbli_messages_get(quiet.messages, 0)->text
                                                                  : rbl_status_text(found);
            bool aside = rbli_cache_set_aside(&w.ctx, file->path);
            rbli_note(&w.ctx, "%s: %s; %s", file->path, why,
                aside ? "it was set aside as .bad" : "it cannot be set aside");
            report->damaged++;
            if (aside) file->kind = RBLI_CACHED_BAD;
        }
        rbli_messages_destroy(quiet.messages);
        if (status == RBL_OK) count_file(report, file, false);
    }
    return end_work(&w, status);
}
