#ifndef RUBBLE_CLI_RENDER_FRAME_H
#define RUBBLE_CLI_RENDER_FRAME_H

/// Where things and the eye are.

#include "tools/cli/render_scene.h"
#include "tools/cli/render_vec.h"

#define RENDER_FIELD_OF_VIEW 0.22f /* tangent of half of it, on the smaller side */

/// What brings everything near the origin and to about one unit, standing on y = 0: float precision does not
/// depend on the place.
typedef struct render_frame {
    float origin[3], factor;
    vec centre; /* afterwards */
} render_frame;

typedef struct render_eye {
    vec place, right, up, forward;
} render_eye;

/// Low and high corner; false when a coordinate is not finite.
bool render_find_bounds(const render_triangle *triangles, size_t count, float low[3], float high[3]);
render_frame render_find_frame(const float low[3], const float high[3]);
/// Moved copies, freed by the caller; NULL when out of memory.
render_triangle *render_move_triangles(
    const render_frame *frame, const render_triangle *triangles, size_t count);
/// Lines first, then balls.
render_line *render_move_lines(
    const render_frame *frame, const render_line *lines, size_t count, size_t *curve_count);
/// Frames the triangles as the options say. @return false when out of memory
bool render_place_eye(const render_options *options, const render_triangle *triangles, size_t count,
    vec centre, render_eye *out);

#endif
