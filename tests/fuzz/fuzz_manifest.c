/// Manifests of rubble batch. Names of assets must stay below the output folder.

#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/temporary.h"
#include "tools/cli/batch/list.h"

static const char graph[] = "{\"rubble\": 1, \"vars\": {\"n\": {\"type\": \"int\", \"default\": 3}, "
                            "\"mesh\": {\"type\": \"path\", \"default\": "
                            "\"a.obj\"}}, \"nodes\": {\"m\": {\"type\": \"MeshToCollection\", \"params\": "
                            "{\"file\": {\"var\": \"mesh\"}}},"
                            "\"c\": {\"type\": \"ScatterPoints\", \"in\": {\"collection\": \"m\"}, "
                            "\"params\": {\"count\": {\"var\": \"n\"}}}}}";

static void check_name(const char *name)
{
    if (*name == '/' || !*name) abort();
    for (const char *part = name;; part++) {
        size_t length = strcspn(part, "/");
        if (length == 0 || *part == '.') abort();
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)part[i] < 0x20 || part[i] == '\\') abort();
        part += length;
        if (!*part) return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    rbl_engine *engine = NULL;
    enter_folder();
    if (access("g.json", F_OK) != 0) {
        write_fuzz_file("g.json", (const uint8_t *)graph, sizeof graph - 1);
        write_fuzz_file("a.obj", (const uint8_t *)"", 0);
        write_fuzz_file("b.obj", (const uint8_t *)"", 0);
    }
    /* Manifests over other files than these are not for this target. */
    if (count > 0 && (memchr(bytes, 0, count) || memmem(bytes, count, "\"/", 2))) return 0;
    write_fuzz_file("m.json", bytes, count);
    if (rbl_engine_create(&options, &engine) != RBL_OK) return 0;
    batch_request request = {.file = "m.json"};
    batch_list list;
    if (batch_list_read(engine, &request, &list) == 0) {
        if (list.count > BATCH_MOST_ASSETS) abort();
        for (size_t i = 0; i < list.count; i++)
            check_name(list.assets[i].name);
        batch_list_free(&list);
    }
    rbl_engine_destroy(engine);
    return 0;
}
