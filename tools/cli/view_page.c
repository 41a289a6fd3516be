/// The page of `rubble view`: where it is found, and how data gets into it.

#include "tools/cli/view.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/// Stands in the page once, where the data goes.
static const char mark[] = "@RUBBLE_DATA@";

/// Places below or beside the program's folder: as installed, and in a build folder.
static const char *const places[] = {"/../share/rubble/view.html", "/tools/view/view.html"};
enum { PLACE_COUNT = sizeof places / sizeof *places };

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    view_bytes bytes = {0};
    char block[65536];
    size_t count;
    while ((count = fread(block, 1, sizeof block, file)) > 0)
        view_bytes_add(&bytes, block, count);
    bool good = !ferror(file) && !bytes.failed;
    fclose(file);
    if (!good) {
        free(bytes.data);
        return NULL;
    }
    *size = bytes.size;
    return (char *)bytes.data;
}

static const char *find(const char *text, size_t size)
{
    const char *end = text + size, *at = text;
    size_t length = sizeof mark - 1;
    while ((size_t)(end - at) >= length && (at = memchr(at, mark[0], (size_t)(end - at) - length + 1))) {
        if (memcmp(at, mark, length) == 0) return at;
        at++;
    }
    return NULL;
}

/// Takes a page over when it is one.
static char *check_page(const char *path, char *page, const size_t *size)
{
    if (find(page, *size)) return page;
    cli_error("%s: this is not the page of rubble view", path);
    free(page);
    return NULL;
}

char *view_load_page(size_t *size)
{
    const char *own = getenv("RUBBLE_VIEW_PAGE");
    char folder[PATH_MAX];
    size_t length = sizeof folder;
    if (own && *own) {
        char *page = read_file(own, size);
        if (page) return check_page(own, page, size);
        cli_error("%s: %s (RUBBLE_VIEW_PAGE)", own, strerror(errno));
        return NULL;
    }
    if (uv_exepath(folder, &length) != 0) folder[0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        char *page = read_file(path, size);
        if (page) return check_page(path, page, size);
    }
    cli_error("the page that rubble view fills is not there: it was not built");
    fprintf(stderr, "  it is built with node 18 or newer and npm (Debian: apt-get install nodejs npm):\n"
                    "    meson setup --reconfigure build && ninja -C build tools/view/view.html\n"
                    "  it is looked for in\n");
    for (size_t i = 0; i < PLACE_COUNT; i++)
        fprintf(stderr, "    %s%s\n", folder, places[i]);
    fprintf(stderr, "  and, when set, where RUBBLE_VIEW_PAGE says\n");
    return NULL;
}

static void add_base64(view_bytes *out, const view_bytes *data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4096];
    size_t used = 0;
    for (size_t i = 0; i < data->size; i += 3) {
        size_t left = data->size - i;
        unsigned bits = (unsigned)data->data[i] << 16;
        if (left > 1) bits |= (unsigned)data->data[i + 1] << 8;
        if (left > 2) bits |= data->data[i + 2];
        line[used++] = digits[bits >> 18];
        line[used++] = digits[bits >> 12 & 63];
        line[used++] = left > 1 ? digits[bits >> 6 & 63] : '=';
        line[used++] = left > 2 ? digits[bits & 63] : '=';
        if (used == sizeof line) {
            view_bytes_add(out, line, used);
            used = 0;
        }
    }
    view_bytes_add(out, line, used);
}

bool view_fill_page(const char *page, size_t size, const view_bytes *data, view_bytes *out)
{
    const char *at = find(page, size);
    view_bytes_add(out, page, (size_t)(at - page));
    add_base64(out, data);
    at += sizeof mark - 1;
    view_bytes_add(out, at, size - (size_t)(at - page));
    return !out->failed;
}
