/// .rbl files: as they come, and with their checksums made right so that the checks behind them are reached.
/// What decodes must encode and decode to the same content, and can be validated.

#include <stdlib.h>
#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/collection/rbl_file.h"
#include "fracture/collection/schema.h"
#include "tests/fuzz/fuzz.h"
#include "tests/rbl_checksums.h"

static void decode_and_encode(rbl_context *ctx, const uint8_t *bytes, size_t count)
{
    rbl_collection *collection = NULL, *again = NULL;
    uint8_t *file = NULL;
    size_t file_bytes;
    if (rbli_rbl_decode(ctx, "input", bytes, count, &collection) != RBL_OK) return;
    rbli_collection_validate(ctx, collection, RBLI_VALIDATE_CLOSED);
    if (rbli_rbl_encode(ctx, collection, &file, &file_bytes) != RBL_OK) abort();
    if (rbli_rbl_decode(ctx, "again", file, file_bytes, &again) != RBL_OK) abort();
    if (!rbli_hash_equal(rbli_collection_hash(collection), rbli_collection_hash(again))) abort();
    rbli_free(ctx, file);
    rbli_collection_release(collection);
    rbli_collection_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    if (rbli_context_create(1, &ctx) != RBL_OK) return 0;
    uint8_t *repaired = rbli_alloc(ctx, count, 1);
    if (repaired) {
        decode_and_encode(ctx, bytes, count);
        if (count > 0) memcpy(repaired, bytes, count);
        repair_rbl_checksums(repaired, count);
        decode_and_encode(ctx, repaired, count);
    }
    rbli_free(ctx, repaired);
    if (ctx->messages) rbli_messages_clear(ctx->messages);
    rbli_context_destroy(ctx);
    return 0;
}
