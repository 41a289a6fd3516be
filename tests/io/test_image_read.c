#include "tests/check.h"

#include <unistd.h>

#include "fracture/base/file.h"
#include "fracture/io/image_read.h"

#ifdef RUBBLE_HAVE_PNG
#include <png.h>

static void write_png(const char *path, uint32_t format, uint32_t width, uint32_t height, const void *pixels)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = format};
    assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
}

static void make_path(char path[64])
{
    strcpy(path, "/tmp/rubble-image-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void pixels_are_read_as_stored(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_image image = {0};
    char path[64];
    make_path(path);
    const uint8_t colors[2][2][3] = {{{255, 0, 0}, {0, 255, 0}}, {{0, 0, 255}, {60, 120, 180}}};
    write_png(path, PNG_FORMAT_RGB, 2, 2, colors);
    assert_ok(ctx, rbli_image_read(ctx, path, &image));
    assert_true(image.width == 2 && image.height == 2);
    const uint8_t expected[16] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 60, 120, 180, 255};
    assert_memory_equal(image.pixels, expected, sizeof expected);
    /* Middles of pixels, v down; between them the mean; repeated beyond the border. */
    assert_close(rbli_image_sample(&image, 0.25, 0.25, 0), 1, 1e-15);
    assert_close(rbli_image_sample(&image, 0.75, 0.25, 1), 1, 1e-15);
    assert_close(rbli_image_sample(&image, 0.25, 0.75, 2), 1, 1e-15);
    assert_close(rbli_image_sample(&image, 0.75, 0.75, -1), 120 / 255.0, 1e-15);
    assert_close(rbli_image_sample(&image, -3.25, 12.75, -1), 120 / 255.0, 1e-15);
    assert_close(rbli_image_sample(&image, 0.5, 0.25, 0), 0.5, 1e-15);
    assert_close(rbli_image_sample(&image, 0, 0.25, 0), 0.5, 1e-15);
    assert_close(rbli_image_sample(&image, 1.0 / 0.0, 0.25, 3), 1, 1e-15);
    rbli_image_free(ctx, &image);

    const uint8_t grays[3] = {0, 128, 255};
    write_png(path, PNG_FORMAT_GRAY, 3, 1, grays);
    assert_ok(ctx, rbli_image_read(ctx, path, &image));
    assert_close(rbli_image_sample(&image, 0.5, 0.5, -1), 128 / 255.0, 1e-15);
    rbli_image_free(ctx, &image);
    remove(path);
    finish_context(ctx);
}

static void damaged_files_are_errors(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_image image = {0};
    char path[64];
    uint8_t *bytes = NULL, pixels[40 * 40];
    size_t count;
    make_path(path);
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i / 7);
    write_png(path, PNG_FORMAT_GRAY, 40, 40, pixels);
    assert_ok(ctx, rbli_file_read(ctx, path, 0, &bytes, &count));
    for (size_t keep = 0; keep < count - 12; keep += 9) { /* the end mark alone is not missed */
        FILE *file = fopen(path, "wb");
        fwrite(bytes, 1, keep, file);
        fclose(file);
        assert_int_equal(rbli_image_read(ctx, path, &image), RBL_ERR_PARSE);
    }
    for (size_t at = 0; at < count; at += 5) {
        FILE *file = fopen(path, "wb");
        bytes[at] ^= 0x55;
        fwrite(bytes, 1, count, file);
        bytes[at] ^= 0x55;
        fclose(file);
        if (rbli_image_read(ctx, path, &image) == RBL_OK) rbli_image_free(ctx, &image);
    }
    remove(path);
    assert_int_equal(rbli_image_read(ctx, path, &image), RBL_ERR_READ);
    rbli_free(ctx, bytes);
    finish_context(ctx);
}
#else
static void pixels_are_read_as_stored(void **state)
{
    (void)state;
    skip(); /* no libpng in this build */
}

static void damaged_files_are_errors(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_image image = {0};
    assert_int_equal(rbli_image_read(ctx, "any.png", &image), RBL_ERR_ARGUMENT);
    finish_context(ctx);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_read_as_stored),
        cmocka_unit_test(damaged_files_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
