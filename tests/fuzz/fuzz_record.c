/// What rubble batch --resume and rubble farm status read: an asset's record, and behind a first zero byte the journal of
/// a chunk.

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/temporary.h"
#include "tools/cli/batch/record.h"
#include "tools/cli/farm/farm.h"

static void match_record(rbl_engine *engine)
{
    static batch b;
    batch_settings settings = {.out = "."};
    batch_value value = {.name = "n", .json = "3"};
    batch_asset asset = {.name = "x", .graph = "g.json", .values = &value, .value_count = 1};
    batch_result result = {0};
    b.settings = &settings;
    b.engine = engine;
    batch_record_matches(&b, &asset, ".", &result);
    free(result.thumbnail);
    free(result.error);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_engine_options options;
    rbl_engine_options_init(&options);
    options.thread_count = 1;
    rbl_engine *engine = NULL;
    enter_folder();
    const uint8_t *zero = count ? memchr(bytes, 0, count) : NULL;
    size_t record = zero ? (size_t)(zero - bytes) : count;
    write_fuzz_file("asset.json", bytes, record);
    if (rbl_engine_create(&options, &engine) != RBL_OK) return 0;
    match_record(engine);
    rbl_engine_destroy(engine);
    if (zero) {
        static FILE *nowhere;
        FILE *kept = stdout;
        if (!nowhere && !(nowhere = fopen("/dev/null", "w"))) abort();
        write_fuzz_file("batch-1-of-2.jsonl", zero + 1, count - record - 1);
        stdout = nowhere;
        farm_status(".", true);
        farm_status(".", false);
        stdout = kept;
    }
    return 0;
}
