/* The edge-avoiding à-trous wavelet transform (Dammertz, Sewtz, Hanika and Lensch 2010): a 5 × 5 kernel
 * whose taps lie further apart in each pass, weighted by how alike surfaces and light are there. */

#include "tools/cli/render_smooth.h"

#include <math.h>

static const float KERNEL[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
static const float LIGHT_SCALE = 0.5f;   /* of the first pass; halved by each */
static const float PLANE_SCALE = 0.004f; /* distance from the pixel's plane */
static const float ALBEDO_SCALE = 0.01f; /* squared */

static float dot3(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* What falls on the surface, its colour divided out. */
static void irradiance(const render_pixel *p, float out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = p->light[k] / p->albedo[k];
}

/* How much q counts for p, 0 … 1. */
static float likeness(const render_pixel *p, const render_pixel *q, float light_scale)
{
    float facing = dot3(p->normal, q->normal);
    if (!(facing > 0.5f)) return 0;
    facing *= facing;
    facing *= facing;
    facing *= facing;
    facing *= facing; /* to the 16th power */
    float height = 0, colour = 0, light = 0, a[3], b[3];
    irradiance(p, a);
    irradiance(q, b);
    for (int k = 0; k < 3; k++) {
        height += p->normal[k] * (q->position[k] - p->position[k]);
        colour += (q->albedo[k] - p->albedo[k]) * (q->albedo[k] - p->albedo[k]);
        light += fabsf(b[k] - a[k]);
    }
    return facing * expf(-fabsf(height) / PLANE_SCALE - colour / ALBEDO_SCALE - light / (3 * light_scale));
}

void render_smooth_row(
    const render_pixel *in, render_pixel *out, size_t width, size_t height, size_t y, int pass)
{
    size_t step = (size_t)1 << pass;
    float light_scale = LIGHT_SCALE / (float)step;
    for (size_t x = 0; x < width; x++) {
        const render_pixel *p = &in[y * width + x];
        render_pixel *made = &out[y * width + x];
        float sum[3] = {0}, weights = 0;
        *made = *p;
        if (dot3(p->normal, p->normal) < 0.25f) continue;
        for (size_t j = 0; j < 5; j++) {
            size_t row = y + j * step - 2 * step; /* wraps around above the picture */
            for (size_t i = 0; i < 5 && row < height; i++) {
                size_t column = x + i * step - 2 * step;
                if (column >= width) continue;
                const render_pixel *q = &in[row * width + column];
                float weight = KERNEL[i] * KERNEL[j] * (p == q ? 1 : likeness(p, q, light_scale)), light[3];
                irradiance(q, light);
                weights += weight;
                for (int k = 0; k < 3; k++)
                    sum[k] += weight * light[k];
            }
        }
        for (int k = 0; k < 3; k++)
            made->light[k] = sum[k] / weights * p->albedo[k];
    }
}
