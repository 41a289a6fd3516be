/// Images on any bytes: what is read has all its pixels.

#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/io/image_read.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rbl_context *ctx = NULL;
    rbli_image image;
    if (rbli_context_create(1, &ctx) != RBL_OK) return 0;
    if (rbli_image_parse(ctx, "input", bytes, count, &image) == RBL_OK) {
        volatile uint8_t sum = 0;
        for (size_t i = 0; i < 4 * image.width * image.height; i++)
            sum = (uint8_t)(sum + image.pixels[i]);
        for (int i = -3; i < 4; i++) {
            double value = rbli_image_sample(&image, i * 0.37, i * -1e9, i);
            if (!(value >= 0 && value <= 1)) abort();
        }
        rbli_image_free(ctx, &image);
    }
    rbli_messages_clear(ctx->messages);
    rbli_context_destroy(ctx);
    return 0;
}
