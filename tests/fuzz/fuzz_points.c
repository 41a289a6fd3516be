/// Lists of points as JSON on any bytes.

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/io/points_json.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    double(*points)[3] = NULL;
    size_t point_count = 0;
    if (rbli_context_create(1, &ctx) != RBL_OK) return 0;
    if (rbli_read_points_json(ctx, "input", (const char *)bytes, count, &points, &point_count) == RBL_OK) {
        for (size_t i = 0; i < point_count; i++)
            for (int k = 0; k < 3; k++)
                if (!isfinite(points[i][k])) abort();
        if (point_count > count) abort();
        rbli_free(ctx, points);
    }
    rbli_messages_clear(ctx->messages);
    rbli_context_destroy(ctx);
    return 0;
}
