/// Whole files. A writer collects bytes in memory, hashes them on their way to a temporary file beside the
/// final name, and renames it when all is on disk: readers see the old file or the new one, never a part.

#include "fracture/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "fracture/base/alloc.h"

enum {
    WRITER_BUFFER_BYTES = 1 << 16,
    READ_FIRST_BYTES = 1 << 16, /* of a file that does not tell its size */
    MOST_AT_ONCE = 1 << 22,     /* read between looks at the request to cancel */
    PART_BYTES = 1 << 16,       /* read at once where the whole is not kept */
    MOST_TEMPORARY_NAMES = 10000,
    LEFT_SECONDS = 600, /* after which a temporary file of a process that is no more may go */
};

struct rbli_file_writer {
    rbli_allocator *allocator;
    char *path, *temporary_path;
    XXH3_state_t *hash; /* inside hash_memory, at 64 bytes */
    locale_t c_locale;
    int descriptor; /* −1 once closed */
    bool skips_sync;
    rbl_status status; /* of the first failure */
    int error;         /* its errno, 0 without memory */
    size_t written;    /* bytes handed to the file, without those in the buffer */
    size_t buffered;
    uint8_t buffer[WRITER_BUFFER_BYTES];
    uint8_t hash_memory[sizeof(XXH3_state_t) + 64];
};

static rbl_status fail_with_errno(rbl_context *ctx, rbl_status status, const char *path, int error)
{
    char why[200];
    uv_strerror_r(uv_translate_sys_error(error), why, sizeof why);
    return rbli_fail(ctx, status, "%s: %s", path, why);
}

/// Reads until the end into memory that grows; one byte is always left for the zero byte behind the content.
static rbl_status read_to_end(rbl_context *ctx, const char *path, int descriptor, size_t expected,
    size_t most, uint8_t **out, size_t *out_bytes)
{
    rbl_status status = RBL_OK;
    RBLI_ARRAY(uint8_t) bytes = {0};
    /* One byte more than expected, so that the end is met without growing. */
    RBL_TRY(rbli_array_reserve(ctx, &bytes, expected + 2));
    for (;;) {
        if (bytes.capacity - bytes.count < 2) RBL_TRY(rbli_array_reserve(ctx, &bytes, 2));
        size_t room = bytes.capacity - bytes.count - 1;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        ssize_t got = read(descriptor, bytes.data + bytes.count, room < MOST_AT_ONCE ? room : MOST_AT_ONCE);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            status = fail_with_errno(ctx, RBL_ERR_READ, path, errno);
            goto done;
        }
        if (got == 0) break;
        bytes.count += (size_t)got;
        if (most && bytes.count > most) {
            status = rbli_fail(ctx, RBL_ERR_LIMIT, "%s: larger than the limit of %zu bytes", path, most);
            goto done;
        }
    }
    bytes.data[bytes.count] = 0;
    *out = bytes.data;
    *out_bytes = bytes.count;
    bytes.data = NULL;
done:
    rbli_free(ctx, bytes.data);
    return status;
}

/// What may be opened.
typedef enum kinds {
    FILES_AND_PIPES, /* also behind links */
    FILES,           /* also behind links */
    UNLINKED_FILES,
} kinds;

/// Why a file of this mode is not read.
static const char *kind_fault(mode_t mode, kinds wanted)
{
    if (S_ISREG(mode) || (wanted == FILES_AND_PIPES && S_ISFIFO(mode))) return NULL;
    if (S_ISFIFO(mode)) return "is a pipe, not a regular file";
    return "is a device or the like, not a regular file";
}

/// Opens a file. Nothing waits here: neither for a pipe's writer nor for a device.
static rbl_status open_to_read(
    rbl_context *ctx, const char *path, kinds wanted, int *descriptor, struct stat *about)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (wanted == UNLINKED_FILES ? O_NOFOLLOW : 0);
    do {
        *descriptor = open(path, flags);
    } while (*descriptor < 0 && errno == EINTR);
    if (*descriptor < 0 && errno == ELOOP && wanted == UNLINKED_FILES)
        return rbli_fail(ctx, RBL_ERR_READ, "%s: is a link", path);
    if (*descriptor < 0) return fail_with_errno(ctx, RBL_ERR_READ, path, errno);
    int error = fstat(*descriptor, about) != 0 ? errno : S_ISDIR(about->st_mode) ? EISDIR : 0;
    const char *why = error ? NULL : kind_fault(about->st_mode, wanted);
    if (error == 0 && !why && S_ISFIFO(about->st_mode) && fcntl(*descriptor, F_SETFL, O_RDONLY) != 0)
        error = errno; /* its writer is waited for when it is read */
    if (error == 0 && !why) return RBL_OK;
    close(*descriptor);
    return why ? rbli_fail(ctx, RBL_ERR_READ, "%s: %s", path, why)
               : fail_with_errno(ctx, RBL_ERR_READ, path, error);
}

static rbl_status read_whole(
    rbl_context *ctx, const char *path, kinds wanted, size_t most_bytes, uint8_t **out, size_t *out_bytes)
{
    int descriptor;
    struct stat about;
    size_t expected = READ_FIRST_BYTES;
    rbl_status status = open_to_read(ctx, path, wanted, &descriptor, &about);
    if (status != RBL_OK) return status;
    if (S_ISREG(about.st_mode)) {
        if (most_bytes && (uintmax_t)about.st_size > most_bytes) {
            status = rbli_fail(ctx, RBL_ERR_LIMIT, "%s: %jd bytes, larger than the limit of %zu bytes", path,
                (intmax_t)about.st_size, most_bytes);
            goto done;
        }
        if ((uintmax_t)about.st_size > PTRDIFF_MAX - 2) {
            status = RBL_ERR_NO_MEMORY;
            goto done;
        }
        expected = (size_t)about.st_size;
    }
    status = read_to_end(ctx, path, descriptor, expected, most_bytes, out, out_bytes);
done:
    close(descriptor);
    return status;
}

rbl_status rbli_file_read(
    rbl_context *ctx, const char *path, size_t most_bytes, uint8_t **out, size_t *out_bytes)
{
    return read_whole(ctx, path, FILES_AND_PIPES, most_bytes, out, out_bytes);
}

rbl_status rbli_file_read_unlinked(
    rbl_context *ctx, const char *path, size_t most_bytes, uint8_t **out, size_t *out_bytes)
{
    return read_whole(ctx, path, UNLINKED_FILES, most_bytes, out, out_bytes);
}

/* ---- Files in parts ---- */

rbl_status rbli_file_read_part(rbl_context *ctx, const char *path, size_t place, size_t most_bytes,
    uint8_t **out, size_t *out_bytes, size_t *file_bytes)
{
    int descriptor;
    struct stat about;
    uint8_t *part = NULL;
    size_t count = 0;
    rbl_status status = open_to_read(ctx, path, UNLINKED_FILES, &descriptor, &about);
    if (status != RBL_OK) return status;
    size_t there = (uintmax_t)about.st_size > place ? (size_t)((uintmax_t)about.st_size - place) : 0;
    size_t wanted = there < most_bytes ? there : most_bytes;
    RBL_TRY_ALLOC(part = rbli_alloc(ctx, wanted + 1, 1));
    while (count < wanted) {
        size_t rest = wanted - count;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        ssize_t got = pread(
            descriptor, part + count, rest < MOST_AT_ONCE ? rest : MOST_AT_ONCE, (off_t)(place + count));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            status = fail_with_errno(ctx, RBL_ERR_READ, path, errno);
            goto done;
        }
        if (got == 0) break; /* somebody cut it */
        count += (size_t)got;
    }
    *out = part;
    *out_bytes = count;
    *file_bytes = (size_t)about.st_size;
    part = NULL;
done:
    rbli_free(ctx, part);
    close(descriptor);
    return status;
}

/// Gets a part of a file.
typedef void (*part_user)(void *user, const uint8_t *bytes, size_t count);

static rbl_status read_parts(
    rbl_context *ctx, const char *path, int descriptor, part_user use, void *user, size_t *bytes)
{
    rbl_status status = RBL_OK;
    uint8_t *part = rbli_alloc(ctx, PART_BYTES, 1);
    *bytes = 0;
    RBL_TRY_ALLOC(part);
    for (;;) {
        ssize_t got = read(descriptor, part, PART_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            status = fail_with_errno(ctx, RBL_ERR_READ, path, errno);
            goto done;
        }
        if (got == 0) break;
        use(user, part, (size_t)got);
        *bytes += (size_t)got;
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
    }
done:
    rbli_free(ctx, part);
    return status;
}

static void hash_part(void *user, const uint8_t *bytes, size_t count)
{
    XXH3_128bits_update(user, bytes, count);
}

static rbl_status hash_descriptor(
    rbl_context *ctx, const char *path, int descriptor, rbli_hash *hash, size_t *bytes)
{
    XXH3_state_t state; /* has the alignment that it needs */
    XXH3_128bits_reset(&state);
    rbl_status status = read_parts(ctx, path, descriptor, hash_part, &state, bytes);
    if (status != RBL_OK) return status;
    XXH128_hash_t digest = XXH3_128bits_digest(&state);
    *hash = (rbli_hash){digest.low64, digest.high64};
    return RBL_OK;
}

rbl_status rbli_file_hash(rbl_context *ctx, const char *path, rbli_hash *hash, size_t *bytes)
{
    int descriptor;
    struct stat about;
    rbl_status status = open_to_read(ctx, path, FILES, &descriptor, &about);
    if (status != RBL_OK) return status;
    status = hash_descriptor(ctx, path, descriptor, hash, bytes);
    close(descriptor);
    return status;
}

bool rbli_file_has_content(rbl_context *ctx, const char *path, size_t bytes, rbli_hash hash)
{
    rbl_context quiet = *ctx;
    quiet.messages = NULL;
    struct stat about;
    int descriptor;
    if (open_to_read(&quiet, path, UNLINKED_FILES, &descriptor, &about) != RBL_OK) return false;
    rbli_hash found;
    size_t count = 0;
    bool same = (uintmax_t)about.st_size == bytes &&
                hash_descriptor(&quiet, path, descriptor, &found, &count) == RBL_OK && count == bytes &&
                rbli_hash_equal(found, hash);
    close(descriptor);
    return same;
}

/* ---- Writers ---- */

static void free_writer(rbli_file_writer *writer)
{
    rbli_allocator *allocator = writer->allocator;
    if (writer->descriptor >= 0) close(writer->descriptor);
    if (writer->c_locale) freelocale(writer->c_locale);
    rbli_allocator_free(allocator, writer->path);
    rbli_allocator_free(allocator, writer->temporary_path);
    rbli_allocator_free(allocator, writer);
    rbli_allocator_release(allocator);
}

/// Opens the first unused name ".rubble-PROCESS-NUMBER.tmp" in the folder of `path`. The number starts at one
/// that other writers of this process do not use, so that many writers in one folder find names at once.
static rbl_status open_temporary(rbl_context *ctx, rbli_file_writer *writer, const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder_length = slash ? (int)(slash - path + 1) : 0;
    size_t first = (uintptr_t)writer >> 4;
    for (size_t attempt = 0; attempt < MOST_TEMPORARY_NAMES; attempt++) {
        char *name =
            rbli_format(ctx, "%.*s.rubble-%ld-%zx.tmp", folder_length, path, (long)getpid(), first + attempt);
        if (!name) return RBL_ERR_NO_MEMORY;
        writer->descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (writer->descriptor >= 0) {
            writer->temporary_path = name;
            return RBL_OK;
        }
        int error = errno;
        rbli_free(ctx, name);
        if (error != EEXIST && error != EINTR) return fail_with_errno(ctx, RBL_ERR_WRITE, path, error);
    }
    return rbli_fail(ctx, RBL_ERR_WRITE, "%s: no free name for a temporary file beside it", path);
}

rbl_status rbli_file_writer_open(rbl_context *ctx, const char *path, rbli_file_writer **out)
{
    rbl_status status = RBL_OK;
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return fail_with_errno(ctx, RBL_ERR_WRITE, path, EISDIR);
    rbli_file_writer *writer = rbli_alloc(ctx, 1, sizeof *writer);
    if (!writer) return RBL_ERR_NO_MEMORY;
    memset(writer, 0, offsetof(rbli_file_writer, buffer));
    writer->allocator = rbli_allocator_retain(ctx->allocator);
    writer->descriptor = -1;
    writer->hash = (XXH3_state_t *)(((uintptr_t)writer->hash_memory + 63) & ~(uintptr_t)63);
    XXH3_128bits_reset(writer->hash);
    writer->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    RBL_TRY_ALLOC(writer->c_locale);
    writer->path = rbli_strdup(ctx, path);
    RBL_TRY_ALLOC(writer->path);
    RBL_TRY(open_temporary(ctx, writer, path));
    *out = writer;
    writer = NULL;
done:
    if (writer) free_writer(writer);
    return status;
}

static void set_failed(rbli_file_writer *writer, rbl_status status, int error)
{
    if (writer->status != RBL_OK) return;
    writer->status = status;
    writer->error = error;
}

static void write_through(rbli_file_writer *writer, const uint8_t *bytes, size_t count)
{
    XXH3_128bits_update(writer->hash, bytes, count);
    while (count > 0 && writer->status == RBL_OK) {
        ssize_t put = write(writer->descriptor, bytes, count);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) {
            set_failed(writer, RBL_ERR_WRITE, errno);
            return;
        }
        bytes += put;
        count -= (size_t)put;
        writer->written += (size_t)put;
    }
}

static void flush(rbli_file_writer *writer)
{
    if (writer->buffered == 0) return;
    write_through(writer, writer->buffer, writer->buffered);
    writer->buffered = 0;
}

void rbli_file_writer_write(rbli_file_writer *writer, const void *bytes, size_t count)
{
    if (writer->status != RBL_OK || count == 0) return;
    if (count > WRITER_BUFFER_BYTES - writer->buffered) flush(writer);
    if (count >= WRITER_BUFFER_BYTES) {
        write_through(writer, bytes, count);
        return;
    }
    memcpy(writer->buffer + writer->buffered, bytes, count);
    writer->buffered += count;
}

void rbli_file_writer_printf(rbli_file_writer *writer, const char *format, ...)
{
    if (writer->status != RBL_OK) return;
    char small[512];
    char *text = small;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    locale_t before = uselocale(writer->c_locale);
    int length = vsnprintf(small, sizeof small, format, arguments);
    if (length >= (int)sizeof small) {
        text = rbli_allocator_alloc(writer->allocator, (size_t)length + 1, 1);
        if (text) vsnprintf(text, (size_t)length + 1, format, again);
    }
    uselocale(before);
    va_end(again);
    va_end(arguments);
    if (length < 0 || !text) {
        set_failed(writer, length < 0 ? RBL_ERR_WRITE : RBL_ERR_NO_MEMORY, length < 0 ? EINVAL : 0);
        return;
    }
    rbli_file_writer_write(writer, text, (size_t)length);
    if (text != small) rbli_allocator_free(writer->allocator, text);
}

void rbli_file_writer_skip_sync(rbli_file_writer *writer)
{
    writer->skips_sync = true;
}

static void write_part(void *user, const uint8_t *bytes, size_t count)
{
    rbli_file_writer_write(user, bytes, count);
}

rbl_status rbli_file_writer_copy(rbl_context *ctx, rbli_file_writer *writer, const char *path)
{
    int descriptor;
    struct stat about;
    size_t bytes;
    rbl_status status = open_to_read(ctx, path, UNLINKED_FILES, &descriptor, &about);
    if (status != RBL_OK) return status;
    status = read_parts(ctx, path, descriptor, write_part, writer, &bytes);
    close(descriptor);
    return status;
}

const char *rbli_file_writer_path(const rbli_file_writer *writer)
{
    return writer->path;
}

const char *rbli_file_writer_temporary_path(const rbli_file_writer *writer)
{
    return writer->temporary_path;
}

rbl_status rbli_file_writer_finish(rbli_file_writer *writer, rbli_hash *hash, size_t *bytes)
{
    if (writer->descriptor >= 0) {
        flush(writer);
        bool sync = writer->status == RBL_OK && !writer->skips_sync;
        if (sync && fsync(writer->descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
            set_failed(writer, RBL_ERR_WRITE, errno);
        if (close(writer->descriptor) != 0 && errno != EINTR) set_failed(writer, RBL_ERR_WRITE, errno);
        writer->descriptor = -1;
    }
    if (writer->status != RBL_OK) return writer->status;
    if (hash) {
        XXH128_hash_t digest = XXH3_128bits_digest(writer->hash);
        *hash = (rbli_hash){digest.low64, digest.high64};
    }
    if (bytes) *bytes = writer->written;
    return RBL_OK;
}

rbl_status rbli_file_writer_fail(rbl_context *ctx, const rbli_file_writer *writer)
{
    if (writer->status == RBL_ERR_WRITE) fail_with_errno(ctx, writer->status, writer->path, writer->error);
    return writer->status;
}

rbl_status rbli_file_writer_commit(rbl_context *ctx, rbli_file_writer *writer)
{
    rbl_status status = rbli_file_writer_finish(writer, NULL, NULL);
    if (status == RBL_OK && rename(writer->temporary_path, writer->path) != 0) {
        status = RBL_ERR_WRITE;
        set_failed(writer, status, errno);
    }
    if (status == RBL_ERR_WRITE) rbli_file_writer_fail(ctx, writer);
    if (status != RBL_OK) unlink(writer->temporary_path);
    free_writer(writer);
    return status;
}

void rbli_file_writer_discard(rbli_file_writer *writer)
{
    if (!writer) return;
    unlink(writer->temporary_path);
    free_writer(writer);
}

void rbli_remove_left_files(const char *folder)
{
    DIR *entries = opendir(folder);
    if (!entries) return;
    int descriptor = dirfd(entries);
    time_t now = time(NULL);
    for (struct dirent *entry; (entry = readdir(entries));) {
        long process = 0;
        size_t number = 0;
        int length = 0;
        struct stat about;
        if (sscanf(entry->d_name, ".rubble-%ld-%zx.tmp%n", &process, &number, &length) != 2) continue;
        if (length == 0 || entry->d_name[length] || process <= 0 || process > INT_MAX) continue;
        if (kill((pid_t)process, 0) == 0 || errno != ESRCH) continue;
        if (fstatat(descriptor, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISREG(about.st_mode) && about.st_mtime + LEFT_SECONDS < now)
            unlinkat(descriptor, entry->d_name, 0);
    }
    closedir(entries);
}

static rbl_status make_folder(rbl_context *ctx, const char *path)
{
    struct stat about;
    if (mkdir(path, 0777) == 0) return RBL_OK;
    int error = errno;
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode)) return RBL_OK;
        error = ENOTDIR;
    }
    return fail_with_errno(ctx, RBL_ERR_WRITE, path, error);
}

rbl_status rbli_make_folders(rbl_context *ctx, const char *path)
{
    rbl_status status = RBL_OK;
    char *part = rbli_strdup(ctx, path);
    if (!part) return RBL_ERR_NO_MEMORY;
    for (char *at = part; *at; at++) {
        if (*at != '/' || at == part || at[-1] == '/') continue;
        *at = 0;
        RBL_TRY(make_folder(ctx, part));
        *at = '/';
    }
    if (*part) RBL_TRY(make_folder(ctx, part));
done:
    rbli_free(ctx, part);
    return status;
}
