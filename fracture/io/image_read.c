/// PNG by libpng, from memory; its errors come back by longjmp within one function.

#include "fracture/io/image_read.h"

#include <math.h>

#include "fracture/base/alloc.h"

#ifdef RUBBLE_HAVE_PNG
#include <png.h>
#include <setjmp.h>

#include "fracture/base/file.h"

typedef struct source {
    const uint8_t *bytes;
    size_t count, at;
    char why[120];
} source;

static void on_error(png_structp png, png_const_charp text)
{
    source *s = png_get_error_ptr(png);
    strncpy(s->why, text, sizeof s->why - 1);
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep out, size_t count)
{
    source *s = png_get_io_ptr(png);
    if (count > s->count - s->at) png_error(png, "the file ends too early");
    memcpy(out, s->bytes + s->at, count);
    s->at += count;
}

/// Header and transformations to eight bits of red, green, blue and alpha. @return false after an error of
/// libpng
static bool read_header(png_structp png, png_infop info, rbli_image *image)
{
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_user_limits(png, 1 << 16, 1 << 16);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    image->width = png_get_image_width(png, info);
    image->height = png_get_image_height(png, info);
    return png_get_rowbytes(png, info) == 4 * image->width;
}

static bool read_rows(png_structp png, png_bytepp rows)
{
    if (setjmp(png_jmpbuf(png))) return false;
    png_read_image(png, rows);
    return true;
}

static rbl_status decode(
    rbl_context *ctx, const char *path, png_structp png, png_infop info, const source *s, rbli_image *out)
{
    rbl_status status = RBL_OK;
    rbli_image made = {0};
    png_bytepp rows = NULL;
    if (!read_header(png, info, &made))
        return rbli_fail(ctx, RBL_ERR_PARSE, "%s: this is no PNG that can be read: %s", path,
            s->why[0] ? s->why : "its pixels have no known form");
    if (made.width * made.height > (size_t)1 << 28)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "%s: an image of %zu × %zu pixels is too large", path,
            made.width, made.height);
    RBL_TRY_ALLOC(made.pixels = rbli_alloc(ctx, 4 * made.width, made.height));
    RBL_TRY_ALLOC(rows = rbli_alloc(ctx, made.height, sizeof *rows));
    for (size_t y = 0; y < made.height; y++)
        rows[y] = made.pixels + y * made.width * 4;
    if (!read_rows(png, rows)) {
        status = rbli_fail(ctx, RBL_ERR_PARSE, "%s: the PNG is damaged: %s", path, s->why);
        goto done;
    }
    *out = made;
    made.pixels = NULL;
done:
    rbli_free(ctx, rows);
    rbli_free(ctx, made.pixels);
    return status;
}

rbl_status rbli_image_read(rbl_context *ctx, const char *path, rbli_image *out)
{
    rbl_status status = RBL_OK;
    uint8_t *bytes = NULL;
    png_structp png = NULL;
    png_infop info = NULL;
    source s = {0};
    RBL_TRY(rbli_file_read(ctx, path, 0, &bytes, &s.count));
    s.bytes = bytes;
    if (s.count < 8 || png_sig_cmp(bytes, 0, 8)) {
        status = rbli_fail(ctx, RBL_ERR_PARSE, "%s: this is no PNG file", path);
        goto done;
    }
    RBL_TRY_ALLOC(png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning));
    RBL_TRY_ALLOC(info = png_create_info_struct(png));
    png_set_read_fn(png, &s, on_read);
    RBL_TRY(decode(ctx, path, png, info, &s, out));
done:
    if (png) png_destroy_read_struct(&png, info ? &info : NULL, NULL);
    rbli_free(ctx, bytes);
    return status;
}

#else

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
