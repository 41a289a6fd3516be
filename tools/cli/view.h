#ifndef RUBBLE_CLI_VIEW_H
#define RUBBLE_CLI_VIEW_H

/// What the files of `rubble view` share.

#include "tools/cli/cli.h"
#include "tools/cli/view_data.h"

typedef struct view_settings {
    const char *file, *output, *node;
    cli_list pairs;
    long threads, port;
    size_t memory;
    bool watch;
} view_settings;

/// The page without data, as it is installed; what is missing is told. @return bytes for the caller to free,
/// NULL when there is none
char *view_load_page(size_t *size);
/// The page with data in it.
/// @return whether there was memory for it; out->data is the caller's
bool view_fill_page(const char *page, size_t size, const view_bytes *data, view_bytes *out);
/// Serves the page and evaluates again whenever something changes, until Ctrl-C. @return exit code
int view_watch(rbl_engine *engine, const view_settings *settings, const char *page, size_t page_size);

#endif
