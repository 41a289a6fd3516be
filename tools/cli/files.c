/// Whole files of the command itself: read at once, written to a temporary name and renamed.

#include "tools/cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/cli.h"

char *cli_read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t capacity = 1 << 16, used = 0;
    char *text = file ? malloc(capacity) : NULL;
    while (text) {
        used += fread(text + used, 1, capacity - used - 1, file);
        if (used < capacity - 1) break;
        char *larger = capacity < CLI_MOST_TEXT_BYTES ? realloc(text, capacity *= 2) : NULL;
        if (!larger) free(text);
        if (!larger) errno = capacity < CLI_MOST_TEXT_BYTES ? ENOMEM : EFBIG;
        text = larger;
    }
    if (!text || ferror(file)) {
        cli_error("%s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    if (text) text[used] = '\0';
    *bytes = used;
    return text;
}

static bool write_all(int handle, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(handle, data, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        data += written;
        bytes -= (size_t)written;
    }
    return true;
}

/// Closes in any case; keeps the errno of what failed first.
static bool close_good(int handle, bool good)
{
    int kept = errno;
    bool closed = handle < 0 || close(handle) == 0;
    if (!good) errno = kept;
    return good && closed;
}

static bool write_in_place(const char *path, const void *data, size_t bytes)
{
    int handle = open(path, O_WRONLY | O_CLOEXEC);
    return close_good(handle, handle >= 0 && write_all(handle, data, bytes));
}

static bool write_and_rename(const char *path, const struct stat *before, const void *data, size_t bytes)
{
    size_t length = strlen(path) + 32;
    char *temporary = malloc(length);
    if (!temporary) return false;
    snprintf(temporary, length, "%s.%ld.tmp", path, (long)getpid());
    unlink(temporary); /* left by a process that was ended and had our number */
    int handle = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool good = handle >= 0 && write_all(handle, data, bytes) &&
                (!before || fchmod(handle, before->st_mode & 07777) == 0);
    good = close_good(handle, good) && rename(temporary, path) == 0;
    int kept = errno;
    if (!good && handle >= 0) unlink(temporary);
    free(temporary);
    errno = kept;
    return good;
}

bool cli_write_file(const char *path, const void *data, size_t bytes)
{
    struct stat info;
    bool exists = stat(path, &info) == 0, good;
    if (exists && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        good = false;
    } else if (exists && !S_ISREG(info.st_mode)) {
        good = write_in_place(path, data, bytes);
    } else {
        char *target = exists ? realpath(path, NULL) : NULL;
        good = write_and_rename(target ? target : path, exists ? &info : NULL, data, bytes);
        free(target);
    }
    if (!good) cli_error("%s: %s", path, strerror(errno));
    return good;
}

bool cli_write_product(const char *path, const void *data, size_t bytes)
{
    struct stat info;
    bool folder = lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (folder) errno = EISDIR;
    bool good = !folder && write_and_rename(path, NULL, data, bytes);
    if (!good) cli_error("%s: %s", path, strerror(errno));
    return good;
}

bool cli_stays_inside(const char *folder, const char *below)
{
    char root[PATH_MAX], inner[PATH_MAX];
    size_t length = strlen(below);
    if (!realpath(folder, root)) return errno == ENOENT; /* then nothing is below it */
    char *path = strdup(below);
    /* The lowest part that is there: what is made below it has no links. */
    while (path && !realpath(path, inner) && (errno == ENOENT || errno == ENOTDIR)) {
        struct stat info;
        if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) break; /* a link to what is not there */
        while (length > 0 && path[length - 1] != '/')
            length--;
        while (length > 0 && path[length - 1] == '/')
            length--;
        path[length] = '\0';
        if (length == 0) break;
    }
    bool found = path && length > 0 && realpath(path, inner);
    free(path);
    size_t count = strlen(root);
    return found && strncmp(inner, root, count) == 0 &&
           (inner[count] == '/' || !inner[count] || (count > 0 && root[count - 1] == '/'));
}

void cli_make_folders(char *path)
{
    for (char *slash = path + 1; *path && (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
}

/// The deepest folder on a path that should exist: "a/b" of "a/b/c", "/" of "/c", "." of "c". Freed by the
/// caller.
static char *folder_above(const char *path)
{
    char *above = strdup(path);
    size_t length = above ? strlen(above) : 0;
    while (length > 1 && above[length - 1] == '/')
        above[--length] = '\0';
    char *slash = above ? strrchr(above, '/') : NULL;
    if (slash == above)
        above[1] = '\0';
    else if (slash)
        *slash = '\0';
    else if (above)
        snprintf(above, length + 1, "."); /* names have at least one letter */
    return above;
}

bool cli_can_hold_files(const char *folder)
{
    struct stat info;
    char *path = strdup(folder);
    for (size_t length = path ? strlen(path) : 0; length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    while (path && stat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR) &&
           strcmp(path, ".") != 0 && strcmp(path, "/") != 0) {
        char *above = folder_above(path);
        free(path);
        path = above;
    }
    const char *problem = !path                            ? strerror(ENOMEM)
                          : stat(path, &info) != 0         ? strerror(errno)
                          : !S_ISDIR(info.st_mode)         ? "is a file, and a folder is needed"
                          : access(path, W_OK | X_OK) != 0 ? strerror(errno)
                                                           : NULL;
    if (problem) cli_error("%s: %s", path ? path : folder, problem);
    free(path);
    return !problem;
}

bool cli_can_write_file(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0) {
        if (!S_ISDIR(info.st_mode)) return true;
        cli_error("%s: %s", path, strerror(EISDIR));
        return false;
    }
    char *folder = folder_above(path);
    int problem = !folder ? ENOMEM : stat(folder, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
    if (problem) cli_error("%s: %s", path, strerror(problem));
    free(folder);
    return !problem;
}

bool cli_would_replace(const char *output, const char *input)
{
    struct stat out, in;
    if (!output || stat(output, &out) != 0 || stat(input, &in) != 0 || !S_ISREG(out.st_mode)) return false;
    if (out.st_dev != in.st_dev || out.st_ino != in.st_ino) return false;
    cli_error("%s would be written over the file that is read: choose another name", output);
    return true;
}
