/* Pictures as PNG files, and colours that look well together. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "tools/cli/render_palette.h"
#include "tools/cli/render_scene.h"

/* palette: NULL for rows of RGB. */
static void *encode(const unsigned char *rows, size_t width, size_t height, unsigned char palette[256][3],
    size_t colours, size_t *bytes)
{
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = palette ? PNG_FORMAT_RGB_COLORMAP : PNG_FORMAT_RGB;
    image.colormap_entries = (png_uint_32)colours;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *png = malloc(size);
    if (png && !png_image_write_to_memory(&image, png, &size, 0, rows, 0, palette)) {
        free(png);
        png = NULL;
    }
    *bytes = size;
    return png;
}

void *render_encode_indexed(const unsigned char *index, size_t width, size_t height,
    unsigned char palette[256][3], size_t colours, size_t *bytes)
{
    return encode(index, width, height, palette, colours, bytes);
}

void *render_encode_png(const unsigned char *rgb, size_t width, size_t height, size_t colours, size_t *bytes)
{
    unsigned char palette[256][3] = {{0}}, *index;
    void *png = NULL;
    size_t count;
    if (!colours) return encode(rgb, width, height, NULL, 0, bytes);
    index = malloc(width * height);
    if (index && render_choose_palette(rgb, width * height, colours, palette, &count, index))
        png = encode(index, width, height, palette, count, bytes);
    free(index);
    return png;
}

void render_colour(double lightness, double chroma, double hue_deg, float out[3])
{
    double a = chroma * cos(hue_deg * 0.017453292519943295), b = chroma * sin(hue_deg * 0.017453292519943295);
    double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    double rgb[3] = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
    for (int k = 0; k < 3; k++)
        out[k] = (float)(rgb[k] < 0 ? 0 : rgb[k] > 1 ? 1 : rgb[k]);
}
