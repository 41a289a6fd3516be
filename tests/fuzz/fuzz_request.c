/// Requests to the server of `rubble view --watch`.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/cli/view_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count > 0 && memchr(bytes, 0, count)) return 0; /* refused before */
    char *request = malloc(count + 1);
    if (!request) return 0;
    if (count) memcpy(request, bytes, count);
    request[count] = '\0';
    view_request kind = view_request_read(request, 8000);
    /* Only who knows the address gets an answer. */
    bool served = kind == VIEW_REQUEST_PAGE || kind == VIEW_REQUEST_EVENTS || kind == VIEW_REQUEST_ICON;
    if (served && !strcasestr(request, "127.0.0.1:8000") && !strcasestr(request, "localhost:8000")) abort();
    free(request);
    return 0;
}
