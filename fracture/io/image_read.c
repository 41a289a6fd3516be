/// PNG by libpng's simplified interface, which needs no long jumps.

#include "fracture/io/image_read.h"

#include <math.h>

#include "fracture/base/alloc.h"

#ifdef RUBBLE_HAVE_PNG
#include <png.h>

#include "fracture/base/file.h"

/// Pixels of an image whose header was read.
static rbl_status decode(
    rbl_context *ctx, const char *path, size_t byte_count, png_image *png, rbli_image *out)
{
    enum { MOST_PIXELS_A_BYTE = 1032 * 8 }; /* what DEFLATE makes of a byte, of one bit each */
    rbl_status status = RBL_OK;
    rbli_image made = {.width = png->width, .height = png->height};
    if (made.width * made.height > (size_t)RBLI_MOST_IMAGE_PIXELS)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "%s: an image of %zu × %zu pixels is too large", path,
            made.width, made.height);
    if (made.width * made.height / MOST_PIXELS_A_BYTE > byte_count)
        return rbli_fail(ctx, RBL_ERR_PARSE,
            "%s: the PNG is damaged: it says %zu × %zu pixels, more than %zu bytes can hold", path,
            made.width, made.height, byte_count);
    png->format = PNG_FORMAT_RGBA;
    RBL_TRY_ALLOC(made.pixels = rbli_alloc(ctx, 4 * made.width, made.height));
    if (!png_image_finish_read(png, NULL, made.pixels, 0, NULL)) {
        status = rbli_fail(ctx, RBL_ERR_PARSE, "%s: the PNG is damaged: %s", path, png->message);
        goto done;
    }
    *out = made;
    made.pixels = NULL;
done:
    rbli_free(ctx, made.pixels);
    return status;
}

rbl_status rbli_image_parse(
    rbl_context *ctx, const char *name, const uint8_t *bytes, size_t count, rbli_image *out)
{
    rbl_status status = RBL_OK;
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (count < 8 || png_sig_cmp(bytes, 0, 8))
        return rbli_fail(ctx, RBL_ERR_PARSE, "%s: this is no PNG file", name);
    if (png_image_begin_read_from_memory(&png, bytes, count))
        status = decode(ctx, name, count, &png, out);
    else
        status = rbli_fail(ctx, RBL_ERR_PARSE, "%s: this is no PNG that can be read: %s", name, png.message);
    png_image_free(&png);
    return status;
}

rbl_status rbli_image_read(rbl_context *ctx, const char *path, rbli_image *out)
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    rbl_status status = rbli_file_read(ctx, path, RBLI_MOST_IMAGE_FILE_BYTES, &bytes, &count);
    if (status == RBL_OK) status = rbli_image_parse(ctx, path, bytes, count, out);
    rbli_free(ctx, bytes);
    return status;
}

#else

rbl_status rbli_image_parse(
    rbl_context *ctx, const char *name, const uint8_t *bytes, size_t count, rbli_image *out)
{
    (void)bytes;
    (void)count;
    return rbli_image_read(ctx, name, out);
}

rbl_status rbli_image_read(rbl_context *ctx, const char *path, rbli_image *out)
{
    (void)out;
    return rbli_fail(
        ctx, RBL_ERR_ARGUMENT, "%s: images cannot be read: this build of rubble has no libpng", path);
}

#endif

void rbli_image_free(rbl_context *ctx, rbli_image *image)
{
    rbli_free(ctx, image->pixels);
    *image = (rbli_image){0};
}

static double pixel(const rbli_image *image, size_t x, size_t y, int channel)
{
    const uint8_t *p = image->pixels + 4 * (y * image->width + x);
    return channel >= 0 ? p[channel] / 255.0 : (p[0] + p[1] + p[2]) / (3 * 255.0);
}

/// The two pixels on either side of a coordinate and the share of the second.
static double split(double at, size_t count, size_t out[2])
{
    at = isfinite(at) ? (at - floor(at)) * (double)count - 0.5 : 0;
    double whole = floor(at);
    out[0] = whole < 0 ? count - 1 : (size_t)whole % count;
    out[1] = (out[0] + 1) % count;
    return at - whole;
}

double rbli_image_sample(const rbli_image *image, double u, double v, int channel)
{
    size_t x[2], y[2];
    double s = split(u, image->width, x), t = split(v, image->height, y);
    double top = (1 - s) * pixel(image, x[0], y[0], channel) + s * pixel(image, x[1], y[0], channel);
    double bottom = (1 - s) * pixel(image, x[0], y[1], channel) + s * pixel(image, x[1], y[1], channel);
    return (1 - t) * top + t * bottom;
}
