/* The picture maker: what is seen where, and that threads do not matter. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <png.h>

#include "tests/check.h"
#include "tools/cli/render_palette.h"
#include "tools/cli/render_scene.h"
#include "tools/cli/render_smooth.h"

enum { WIDTH = 64, HEIGHT = 48 };

/* A square of 2 × 2 that faces +z, standing on y = 0. */
static void make_square(render_triangle out[2], float r, float g, float b)
{
    static const float corners[4][3] = {{-1, 0, 0}, {1, 0, 0}, {1, 2, 0}, {-1, 2, 0}};
    static const int triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    memset(out, 0, 2 * sizeof *out);
    for (int t = 0; t < 2; t++) {
        for (int c = 0; c < 3; c++) {
            memcpy(out[t].position[c], corners[triangles[t][c]], sizeof corners[0]);
            out[t].colour[c][0] = r;
            out[t].colour[c][1] = g;
            out[t].colour[c][2] = b;
        }
    }
}

static render_options small_options(void)
{
    render_options options;
    render_options_init(&options);
    options.width = WIDTH;
    options.height = HEIGHT;
    options.azimuth_deg = 0;
    options.elevation_deg = 0;
    options.samples = 4;
    return options;
}

static void object_is_in_the_middle_and_keeps_its_colour(void **state)
{
    (void)state;
    render_triangle square[2];
    unsigned char rgb[HEIGHT * WIDTH * 3];
    render_options options = small_options();
    make_square(square, 0.8f, 0.1f, 0.1f);
    assert_null(render_image(square, 2, &options, rgb));
    const unsigned char *middle = rgb + (HEIGHT / 2 * WIDTH + WIDTH / 2) * 3, *corner = rgb;
    assert_true(middle[0] > 2 * middle[1] && middle[0] > 2 * middle[2]);
    assert_true(corner[0] > 200 && corner[1] > 200 && corner[2] > 200);
}

static void picture_is_the_same_for_any_number_of_threads_and_far_away(void **state)
{
    (void)state;
    render_triangle square[2];
    static unsigned char one[HEIGHT * WIDTH * 3], many[HEIGHT * WIDTH * 3];
    render_options options = small_options();
    make_square(square, 0.2f, 0.5f, 0.3f);
    options.thread_count = 1;
    assert_null(render_image(square, 2, &options, one));
    options.thread_count = 5;
    assert_null(render_image(square, 2, &options, many));
    assert_memory_equal(one, many, sizeof one);
    for (int c = 0; c < 6; c++) {
        for (int k = 0; k < 3; k++)
            square[c / 3].position[c % 3][k] = square[c / 3].position[c % 3][k] * 1024 + 4096;
    }
    assert_null(render_image(square, 2, &options, many));
    assert_memory_equal(one, many, sizeof one);
}

static void nothing_is_refused(void **state)
{
    (void)state;
    render_options options = small_options();
    unsigned char rgb[3];
    render_triangle none;
    assert_non_null(render_image(&none, 0, &options, rgb));
}

static void one_point_does_no_harm_and_infinity_is_refused(void **state)
{
    (void)state;
    render_triangle point = {0};
    static unsigned char rgb[HEIGHT * WIDTH * 3];
    render_options options = small_options();
    assert_null(render_image(&point, 1, &options, rgb));
    point.position[1][2] = INFINITY;
    assert_non_null(render_image(&point, 1, &options, rgb));
}

static void colours_stay_within_what_a_screen_shows(void **state)
{
    (void)state;
    for (int hue = 0; hue < 360; hue += 5) {
        float c[3];
        render_colour(0.74, 0.3, hue, c);
        for (int k = 0; k < 3; k++)
            assert_true(c[k] >= 0 && c[k] <= 1);
    }
    float grey[3];
    render_colour(1, 0, 0, grey);
    assert_close(grey[0], 1, 1e-3);
    assert_close(grey[2], 1, 1e-3);
}

static void pictures_come_back_as_they_were(void **state)
{
    (void)state;
    const unsigned char rgb[2 * 2 * 3] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7};
    unsigned char back[sizeof rgb] = {0};
    size_t bytes = 0;
    void *png = render_encode_png(rgb, 2, 2, 0, &bytes);
    assert_non_null(png);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, png, bytes));
    image.format = PNG_FORMAT_RGB;
    assert_int_equal(image.width, 2);
    assert_int_equal(image.height, 2);
    assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
    assert_memory_equal(back, rgb, sizeof rgb);
    free(png);
}

/* A picture of two greys and a red, 16 × 1; with two colours the greys, which are alike, are one. */
static void few_colours_are_the_nearest_ones(void **state)
{
    (void)state;
    unsigned char rgb[16 * 3], back[16 * 3], index[16], palette[256][3];
    size_t count = 0, bytes = 0;
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 3; k++)
            rgb[3 * i + k] = i < 4 ? (k == 0 ? 250 : 10) : i < 10 ? 100 : 110;
    assert_true(render_choose_palette(rgb, 16, 2, palette, &count, index));
    assert_int_equal(count, 2);
    for (int i = 0; i < 16; i++)
        assert_int_equal(index[i] == index[0], i < 4);
    assert_int_equal(palette[index[0]][0], 250);
    assert_int_equal(palette[index[0]][1], 10);
    assert_int_equal(palette[index[15]][2], 105);
    assert_true(render_choose_palette(rgb, 16, 256, palette, &count, index));
    assert_int_equal(count, 3);
    void *png = render_encode_png(rgb, 16, 1, 3, &bytes);
    assert_non_null(png);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, png, bytes));
    assert_int_equal(image.colormap_entries, 3);
    image.format = PNG_FORMAT_RGB;
    assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
    assert_memory_equal(back, rgb, sizeof rgb);
    free(png);
}

/* Half of the picture is a bright plane, half a dark one, both noisy: noise goes, the edge stays. */
static void smoothing_keeps_edges(void **state)
{
    (void)state;
    enum { W = 64, H = 32 };
    static render_pixel a[H * W], b[H * W];
    render_pixel *in = a, *out = b;
    uint32_t random = 1;
    for (int i = 0; i < H * W; i++) {
        int dark = i % W >= W / 2;
        random = random * 1664525u + 1013904223u;
        float noise = ((float)(random >> 8) / (float)(1 << 24) - 0.5f) * 0.2f;
        in[i] = (render_pixel){.normal = {(float)!dark, (float)dark, 0}};
        for (int k = 0; k < 3; k++) {
            in[i].albedo[k] = 0.5f;
            in[i].light[k] = 0.5f * (dark ? 0.3f : 0.9f) + noise;
        }
    }
    for (int pass = 0; pass < RENDER_SMOOTH_PASSES; pass++) {
        for (size_t y = 0; y < H; y++)
            render_smooth_row(in, out, W, H, y, pass);
        render_pixel *swap = in;
        in = out;
        out = swap;
    }
    for (int i = 0; i < H * W; i++)
        assert_true(fabsf(in[i].light[0] - (i % W >= W / 2 ? 0.15f : 0.45f)) < 0.05f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(object_is_in_the_middle_and_keeps_its_colour),
        cmocka_unit_test(picture_is_the_same_for_any_number_of_threads_and_far_away),
        cmocka_unit_test(nothing_is_refused),
        cmocka_unit_test(one_point_does_no_harm_and_infinity_is_refused),
        cmocka_unit_test(colours_stay_within_what_a_screen_shows),
        cmocka_unit_test(pictures_come_back_as_they_were),
        cmocka_unit_test(few_colours_are_the_nearest_ones),
        cmocka_unit_test(smoothing_keeps_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
