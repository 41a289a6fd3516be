/// What a request to the server of `rubble view --watch` asks for.

#include "tools/cli/view_request.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/// The value of a header, trimmed, in `out`; "" when it is missing or too long.
static void find_header(const char *request, const char *name, char *out, size_t capacity)
{
    size_t length = strlen(name);
    *out = '\0';
    for (const char *line = strstr(request, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) != 0 || line[length] != ':') continue;
        const char *begin = line + length + 1, *end = strstr(begin, "\r\n");
        while (*begin == ' ' || *begin == '\t')
            begin++;
        while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        if (!end || (size_t)(end - begin) >= capacity) return;
        memcpy(out, begin, (size_t)(end - begin));
        out[end - begin] = '\0';
        return;
    }
}

/// Whether a request was meant for this server: a page of another site that has its name point here was not.
static bool is_own_host(const char *host, int port)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char own[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(own, sizeof own, "%s:%d", names[i], port);
        if (strcasecmp(host, own) == 0) return true;
        if (port == 80 && strcasecmp(host, names[i]) == 0) return true;
    }
    return false;
}

view_request view_request_read(const char *request, int port)
{
    char host[128], path[64], method[8];
    find_header(request, "Host", host, sizeof host);
    int end = 0;
    bool good = sscanf(request, "%7[A-Z] %63[^ ?\r\n]%n", method, path, &end) == 2 && end > 0 &&
                request[strlen(method)] == ' ';
    const char *rest = request + end, *line = strstr(request, "\r\n");
    const char *version = good && *rest ? strstr(rest, " HTTP/1.") : NULL;
    if (!good || !version || !line || version > line) return VIEW_REQUEST_BAD;
    if (!is_own_host(host, port)) return VIEW_REQUEST_FOREIGN;
    if (strcmp(method, "GET") != 0) return VIEW_REQUEST_METHOD;
    if (strcmp(path, "/") == 0) return VIEW_REQUEST_PAGE;
    if (strcmp(path, "/events") == 0) return VIEW_REQUEST_EVENTS;
    return strcmp(path, "/favicon.ico") == 0 ? VIEW_REQUEST_ICON : VIEW_REQUEST_UNKNOWN;
}
