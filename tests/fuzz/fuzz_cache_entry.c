/// Entries of a disk cache: as they come, and with their checksums made right so that the checks behind them are reached.

#include <stdlib.h>
#include <string.h>

#include "engine/disk_entry.h"
#include "fracture/base/alloc.h"
#include "fracture/collection/schema.h"
#include "tests/entry_checksums.h"
#include "tests/fuzz/fuzz.h"
#include "tests/rbl_checksums.h"

/// Takes `bytes`.
static void decode(rbl_context *ctx, uint8_t *bytes, size_t count)
{
    rbli_result *result = NULL;
    if (rbli_entry_decode(ctx, (rbli_hash){0, 0}, bytes, count, NULL, &result) != RBL_OK) return;
    for (size_t i = 0; i < result->output_count; i++) {
        if (!result->outputs[i]) abort();
        if (rbli_value_unpack(ctx, result->outputs[i]) != RBL_OK) continue;
        const rbl_collection *collection = rbl_value_collection(result->outputs[i]);
        if (collection) rbli_collection_validate(ctx, collection, RBLI_VALIDATE_CLOSED);
    }
    uint8_t *again = NULL;
    size_t again_bytes = 0;
    bool damaged = false;
    for (size_t i = 0; i < result->output_count; i++)
        damaged |= rbli_value_unpack(ctx, result->outputs[i]) != RBL_OK;
    if (!damaged && rbli_entry_encode(ctx, (rbli_hash){0, 0}, result, &again, &again_bytes) != RBL_OK)
        abort();
    rbli_free(ctx, again);
    rbli_result_release(result);
}

static void repair(uint8_t *bytes, size_t count)
{
    if (count < ENTRY_HEADER_BYTES) return;
    uint64_t total = count;
    uint32_t outputs;
    memcpy(&outputs, bytes + 12, sizeof outputs);
    for (size_t i = 0; i < outputs && i < (count - ENTRY_HEADER_BYTES) / ENTRY_ROW_BYTES; i++) {
        uint64_t row[7];
        memcpy(row, bytes + ENTRY_HEADER_BYTES + i * ENTRY_ROW_BYTES, sizeof row);
        if (row[4] <= count && row[5] <= count - row[4]) repair_rbl_checksums(bytes + row[4], row[5]);
    }
    memcpy(bytes + 16, &total, sizeof total);
    memset(bytes + 32, 0, 16); /* the address */
    seal_entry(bytes, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    if (rbli_context_create(1, &ctx) != RBL_OK) return 0;
    for (int repaired = 0; repaired < 2; repaired++) {
        uint8_t *copy = rbli_alloc(ctx, count, 1);
        if (!copy) break;
        if (count) memcpy(copy, bytes, count);
        if (repaired) repair(copy, count);
        decode(ctx, copy, count);
    }
    rbli_messages_clear(ctx->messages);
    rbli_context_destroy(ctx);
    return 0;
}
