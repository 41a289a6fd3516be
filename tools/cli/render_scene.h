#ifndef RUBBLE_CLI_RENDER_SCENE_H
#define RUBBLE_CLI_RENDER_SCENE_H

/// The picture maker of `rubble render`: ray traces coloured triangles on a studio floor with Embree. Knows
/// nothing of collections.

#include <stdbool.h>
#include <stddef.h>

typedef struct render_triangle {
    float position[3][3]; /* y is up */
    float normal[3][3];   /* unit normals for shading; all zero: the triangle's own */
    float colour[3][3];   /* linear RGB of the corners, 0 … 1 */
} render_triangle;

/// A round line over the picture, seen through what lies before it; from = to: a ball.
typedef struct render_line {
    float from[3], to[3];
    float radius;
    float colour[3];
} render_line;

typedef struct render_options {
    size_t width, height;     /* pixels; 16 … 16,384 */
    double azimuth_deg;       /* where the eye stands: 0 looks along −z, 90 along −x */
    double elevation_deg;     /* −89 … 89 above the horizon */
    int samples;              /* per pixel, 1 … 1,024; default 16 */
    const render_line *lines; /* in the space of the triangles */
    size_t line_count;
    float through;         /* 0 … 1: how much of a line is seen behind triangles */
    bool steady;           /* frame by what is seen from all azimuths, so that pictures of a turn agree */
    unsigned thread_count; /* 0: one per processor; the picture is the same for any number */
} render_options;

/// Sets every field to its default: 1200 × 900, azimuth 35°, elevation 20°, 16 samples.
void render_options_init(render_options *options);

/// Renders the triangles, framed so that all are seen, into `rgb` [height][width][3] (sRGB).
/// @return NULL, or a static English text of what failed (no memory, Embree not usable)
const char *render_image(
    const render_triangle *triangles, size_t count, const render_options *options, unsigned char *rgb);

/// An 8-bit RGB picture as the bytes of a PNG file, freed by the caller; NULL when out of memory.
/// @param colours  at most so many, 2 … 256, chosen to suit; 0: as many as there are
void *render_encode_png(const unsigned char *rgb, size_t width, size_t height, size_t colours, size_t *bytes);
/// The same of a picture whose pixels are numbers of the palette's colours.
void *render_encode_indexed(const unsigned char *index, size_t width, size_t height,
    unsigned char palette[256][3], size_t colours, size_t *bytes);

/// A pleasant linear RGB colour from OKLCh (Ottosson 2020), clamped to what a screen can show.
void render_colour(double lightness, double chroma, double hue_deg, float out[3]);

#endif
