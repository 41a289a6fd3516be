#ifndef RUBBLE_CLI_RENDER_SMOOTH_H
#define RUBBLE_CLI_RENDER_SMOOTH_H

/// Takes the noise of few samples out of a picture and keeps its edges.

#include <stddef.h>

/// What the rays of one pixel saw: means over its samples.
typedef struct render_pixel {
    float light[3];    /* linear; once smoothed, still that of the pixel */
    float albedo[3];   /* colour of the surfaces; not 0 */
    float normal[3];   /* of about unit length; 0 where there is background alone */
    float position[3]; /* the object is about one unit large */
} render_pixel;

/// One pass over the row y from `in` to `out` [height][width]: the edge-avoiding à-trous wavelet of Dammertz
/// et al. (2010) on what falls on the surfaces, their colour divided out.
/// @param pass  0 … RENDER_SMOOTH_PASSES − 1, in this order; each with the whole picture of the one before
enum { RENDER_SMOOTH_PASSES = 5 };
void render_smooth_row(
    const render_pixel *in, render_pixel *out, size_t width, size_t height, size_t y, int pass);

#endif
