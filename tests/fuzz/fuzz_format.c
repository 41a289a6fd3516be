/// The formatter of graph files, and migration: what is formatted is formatted; it loads when the text did.

#include <stdlib.h>
#include <string.h>

#include "rubble/rubble.h"
#include "tests/fuzz/fuzz.h"

static bool loads(rbl_engine *engine, const char *name, const char *text, size_t bytes)
{
    rbl_graph *graph = NULL;
    rbl_status status = rbl_graph_load_text(engine, name, text, bytes, NULL, &graph);
    rbl_graph_destroy(graph);
    return status == RBL_OK;
}

static void check_name(rbl_engine *engine, const char *name, const char *text, size_t bytes)
{
    rbl_messages *messages = NULL;
    char *once = NULL, *twice = NULL, *moved = NULL, *formatted = NULL;
    if (rbl_engine_format(engine, name, text, bytes, &messages, &once) == RBL_OK) {
        if (rbl_engine_format(engine, name, once, strlen(once), NULL, &twice) != RBL_OK) abort();
        if (strcmp(once, twice) != 0) abort();
        if (loads(engine, name, text, bytes) != loads(engine, name, once, strlen(once))) abort();
    }
    if (rbl_engine_migrate(engine, name, text, bytes, &messages, &moved) == RBL_OK &&
        rbl_engine_format(engine, name, moved, strlen(moved), NULL, &formatted) == RBL_ERR_GRAPH)
        abort();
    rbl_engine_free_text(engine, once);
    rbl_engine_free_text(engine, twice);
    rbl_engine_free_text(engine, moved);
    rbl_engine_free_text(engine, formatted);
    rbl_messages_destroy(messages);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    rbl_engine *engine = NULL;
    if (rbl_engine_create(&options, &engine) != RBL_OK) return 0;
    check_name(engine, "fuzz.json", (const char *)bytes, count);
    check_name(engine, "fuzz.jsonc", (const char *)bytes, count);
    rbl_engine_destroy(engine);
    return 0;
}
