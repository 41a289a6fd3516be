/* Where things and the eye are: everything near the origin, the eye so far back that all is seen. */

#include "tools/cli/render_frame.h"

#include <stdlib.h>
#include <string.h>

static const float PI = 3.14159265f;

/* Moving */

/* Low and high corner; false when a coordinate is not finite. */
bool render_find_bounds(const render_triangle *triangles, size_t count, float low[3], float high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (size_t i = 0; i < count * 3; i++) {
        const float *p = triangles[i / 3].position[i % 3];
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], p[k]);
            high[k] = fmaxf(high[k], p[k]);
            if (!isfinite(p[k])) return false;
        }
    }
    return true;
}

render_frame render_find_frame(const float low[3], const float high[3])
{
    float size = sqrtf((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
                       (high[2] - low[2]) * (high[2] - low[2]));
    render_frame f = {{(low[0] + high[0]) / 2, low[1], (low[2] + high[2]) / 2}, size > 0 ? 1 / size : 1, {0}};
    f.centre = vec_make(0, (high[1] - low[1]) / 2 * f.factor, 0);
    return f;
}

static void move(const render_frame *f, const float in[3], float out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = (in[k] - f->origin[k]) * f->factor;
}

render_triangle *render_move_triangles(const render_frame *f, const render_triangle *triangles, size_t count)
{
    render_triangle *out = malloc(count * sizeof *out);
    for (size_t i = 0; out && i < count; i++) {
        out[i] = triangles[i];
        for (int c = 0; c < 3; c++)
            move(f, triangles[i].position[c], out[i].position[c]);
    }
    return out;
}

static bool is_ball(const render_line *line)
{
    return memcmp(line->from, line->to, sizeof line->from) == 0;
}

render_line *render_move_lines(
    const render_frame *f, const render_line *lines, size_t count, size_t *curve_count)
{
    render_line *out = malloc((count + 1) * sizeof *out);
    size_t n = 0;
    for (int balls = 0; out && balls < 2; balls++) {
        for (size_t i = 0; i < count; i++) {
            if (is_ball(&lines[i]) != (balls == 1)) continue;
            out[n] = lines[i];
            move(f, lines[i].from, out[n].from);
            move(f, lines[i].to, out[n].to);
            out[n++].radius = lines[i].radius * f->factor;
        }
        if (!balls) *curve_count = n;
    }
    return out;
}

/* Placing the eye */

enum { PROFILE_HEIGHTS = 64, PROFILE_ANGLES = 48, PROFILE_POINTS = 2 * PROFILE_HEIGHTS * PROFILE_ANGLES };

/* What turns around the vertical axis through the middle fills: circles of the largest radius at each height. */
static void make_profile(
    const render_triangle *triangles, size_t count, float height, vec points[PROFILE_POINTS])
{
    float radius[PROFILE_HEIGHTS] = {0};
    for (size_t i = 0; i < count * 3; i++) {
        const float *p = triangles[i / 3].position[i % 3];
        float level = height > 0 ? p[1] / height * PROFILE_HEIGHTS : 0;
        int bin = level < 0 ? 0 : level >= PROFILE_HEIGHTS ? PROFILE_HEIGHTS - 1 : (int)level;
        radius[bin] = fmaxf(radius[bin], sqrtf(p[0] * p[0] + p[2] * p[2]));
    }
    for (int bin = 0; bin < PROFILE_HEIGHTS; bin++)
        for (int i = 0; i < 2 * PROFILE_ANGLES; i++) {
            float angle = 2 * PI * (float)(i / 2) / PROFILE_ANGLES;
            float y = height * (float)(bin + i % 2) / PROFILE_HEIGHTS;
            points[bin * 2 * PROFILE_ANGLES + i] =
                vec_make(radius[bin] * cosf(angle), y, radius[bin] * sinf(angle));
        }
}

/* Moves the eye back until every point is inside the frame, then centres what is seen, twice. */
static void place_eye(
    const render_options *options, const vec *points, size_t count, vec centre, render_eye *s)
{
    float w = (float)options->width, h = (float)options->height, smaller = fminf(w, h);
    float tan_x = RENDER_FIELD_OF_VIEW * w / smaller * 0.84f,
          tan_y = RENDER_FIELD_OF_VIEW * h / smaller * 0.84f;
    for (int pass = 0; pass < 3; pass++) {
        float distance = 0.05f, low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
        for (size_t i = 0; i < count; i++) {
            vec p = add(points[i], scale(centre, -1));
            float x = dot(p, s->right), y = dot(p, s->up), z = dot(p, s->forward);
            distance = fmaxf(distance, fmaxf(fabsf(x) / tan_x, fabsf(y) / tan_y) - z);
        }
        s->place = add(centre, scale(s->forward, -distance));
        for (size_t i = 0; i < count; i++) {
            vec p = add(points[i], scale(s->place, -1));
            float z = dot(p, s->forward), x = dot(p, s->right) / z, y = dot(p, s->up) / z;
            low_x = fminf(low_x, x);
            high_x = fmaxf(high_x, x);
            low_y = fminf(low_y, y);
            high_y = fmaxf(high_y, y);
        }
        centre = add(centre,
            scale(add(scale(s->right, (low_x + high_x) / 2), scale(s->up, (low_y + high_y) / 2)), distance));
    }
}

bool render_place_eye(const render_options *options, const render_triangle *triangles, size_t count,
    vec centre, render_eye *out)
{
    float a = (float)options->azimuth_deg * PI / 180, e = (float)options->elevation_deg * PI / 180;
    out->forward = vec_make(-sinf(a) * cosf(e), -sinf(e), -cosf(a) * cosf(e));
    out->right = normalize(cross(out->forward, vec_make(0, 1, 0)));
    out->up = cross(out->right, out->forward);
    size_t point_count = options->steady ? PROFILE_POINTS : 3 * count;
    vec *points = malloc(point_count * sizeof *points);
    if (!points) return false;
    if (options->steady)
        make_profile(triangles, count, 2 * centre.y, points);
    else
        for (size_t i = 0; i < point_count; i++)
            points[i] = from_array(triangles[i / 3].position[i % 3]);
    place_eye(options, points, point_count, centre, out);
    free(points);
    return true;
}
