#ifndef RUBBLE_IO_IMAGE_READ_H
#define RUBBLE_IO_IMAGE_READ_H

/// Grey images from PNG files (libpng), for painted masks.

#include "fracture/base/context.h"

typedef struct rbli_image {
    size_t width, height;
    uint8_t *pixels; /* [height][width][4] red, green, blue, alpha as stored in the file (no gamma), top row
                        first */
} rbli_image;

enum {
    RBLI_MOST_IMAGE_PIXELS = 1 << 28,
    RBLI_MOST_IMAGE_FILE_BYTES = 1 << 30,
};

/// Reads a PNG of any depth and colour type; 16 bits are cut to 8.
/// @param out set on success only; rbli_image_free
/// @return RBL_OK · RBL_ERR_READ · RBL_ERR_PARSE · RBL_ERR_LIMIT (2^28 pixels, a file of 2^30 bytes) · RBL_ERR_NO_MEMORY
/// ·
///         RBL_ERR_ARGUMENT (this build has no libpng: the message says so). Threads: reentrant.
rbl_status rbli_image_read(rbl_context *ctx, const char *path, rbli_image *out);
/// The same from memory; `name` is for messages.
rbl_status rbli_image_parse(
    rbl_context *ctx, const char *name, const uint8_t *bytes, size_t count, rbli_image *out);
void rbli_image_free(rbl_context *ctx, rbli_image *image);

/// The value of an image at texture coordinates, v down from the top, repeated beyond 0 … 1: bilinear between
/// the middles of pixels. @param channel 0 … 3, or −1 for the mean of red, green and blue. @return 0 … 1
double rbli_image_sample(const rbli_image *image, double u, double v, int channel);

#endif
