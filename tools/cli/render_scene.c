/* A small distribution ray tracer (Cook, Porter and Carpenter 1984): for each sample one ray from the eye,
 * one towards a point of a large soft light, two into the hemisphere for the light of the sky and of what
 * stands near. Samples follow the R2 sequence (Roberts 2018), shifted by a hash of the pixel, so that a
 * picture depends on neither threads nor time. */

#include "tools/cli/render_scene.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <embree3/rtcore.h>

#include "tools/cli/render_frame.h"
#include "tools/cli/render_smooth.h"
#include "tools/cli/render_vec.h"

enum { SKY_RAYS = 2, MAX_THREADS = 64 };
enum { CURVES, BALLS }; /* geometry of the scene of lines */

static const float PI = 3.14159265f;
static const float FLOOR_COLOUR[3] = {0.80f, 0.80f, 0.81f};
static const float LIGHT_COLOUR[3] = {2.05f, 1.92f, 1.72f};
static const float SKY_ZENITH[3] = {0.80f, 0.86f, 0.97f};
static const float SKY_HORIZON[3] = {0.86f, 0.87f, 0.89f};

typedef struct scene {
    const render_triangle *triangles;
    const render_options *options;
    const render_line *lines; /* curves, then balls */
    size_t curve_count;
    RTCScene embree, embree_lines; /* lines NULL: there is none */
    unsigned char *rgb;
    render_pixel *pixels, *smoothed; /* [height][width] */
    int pass;                        /* −1: rays; then those of the smoothing */
    render_eye eye;
    vec light_right, light_up, light; /* towards the key light, and across it */
    float floor_y, size;
    atomic_size_t next_row;
} scene;

/* Numbers for sampling */

static uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ (h >> 16);
}

typedef struct sampler {
    uint32_t pixel, index, dimension;
} sampler;

static float fraction(double x)
{
    return (float)(x - floor(x));
}

/* The next two numbers in [0, 1): point `index` of the R2 sequence with a shift of its own for pixel and
 * dimension. */
static void next_pair(sampler *s, float *u, float *v)
{
    uint32_t shift = mix(s->pixel * 0x9e3779b9u + mix(s->dimension++));
    *u = fraction(s->index * 0.7548776662466927 + shift * 2.3283064365386963e-10);
    *v = fraction(s->index * 0.5698402909980532 + mix(shift) * 2.3283064365386963e-10);
}

static vec cosine_direction(vec normal, float u, float v)
{
    vec a, b;
    make_basis(normal, &a, &b);
    float r = sqrtf(u), angle = 2 * PI * v;
    return normalize(add(
        add(scale(a, r * cosf(angle)), scale(b, r * sinf(angle))), scale(normal, sqrtf(fmaxf(1 - u, 0)))));
}

/* Rays */

typedef struct hit {
    bool found, floor;
    float distance;
    vec position, normal, shading;
    float colour[3];
} hit;

static void set_ray(struct RTCRay *ray, vec from, vec direction, float near)
{
    ray->org_x = from.x;
    ray->org_y = from.y;
    ray->org_z = from.z;
    ray->dir_x = direction.x;
    ray->dir_y = direction.y;
    ray->dir_z = direction.z;
    ray->tnear = near;
    ray->tfar = INFINITY;
    ray->time = 0;
    ray->mask = UINT32_MAX;
    ray->id = 0;
    ray->flags = 0;
}

static vec shading_normal(const render_triangle *t, float u, float v, vec own)
{
    vec n = add(add(scale(from_array(t->normal[0]), 1 - u - v), scale(from_array(t->normal[1]), u)),
        scale(from_array(t->normal[2]), v));
    float length = sqrtf(dot(n, n));
    if (!(length > 1e-6f)) return own;
    n = scale(n, 1 / length);
    return dot(n, own) > 0.05f ? n : own;
}

static hit trace(const scene *s, vec from, vec direction)
{
    hit h = {0};
    struct RTCRayHit query;
    memset(&query, 0, sizeof query);
    set_ray(&query.ray, from, direction, 0);
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(s->embree, &context, &query);
    float floor_distance =
        direction.y < 0 && from.y > s->floor_y ? (s->floor_y - from.y) / direction.y : INFINITY;
    if (query.hit.geomID != RTC_INVALID_GEOMETRY_ID && query.ray.tfar < floor_distance) {
        const render_triangle *t = &s->triangles[query.hit.primID];
        h.found = true;
        h.distance = query.ray.tfar;
        h.position = add(from, scale(direction, query.ray.tfar));
        h.normal = normalize(vec_make(query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z));
        h.shading = shading_normal(t, query.hit.u, query.hit.v, h.normal);
        if (dot(h.normal, direction) > 0) {
            h.normal = scale(h.normal, -1);
            h.shading = scale(h.shading, -1);
        }
        float u = query.hit.u, v = query.hit.v;
        for (int k = 0; k < 3; k++)
            h.colour[k] = (1 - u - v) * t->colour[0][k] + u * t->colour[1][k] + v * t->colour[2][k];
    } else if (floor_distance < INFINITY) {
        h.found = h.floor = true;
        h.distance = floor_distance;
        h.position = add(from, scale(direction, floor_distance));
        h.normal = h.shading = vec_make(0, 1, 0);
        memcpy(h.colour, FLOOR_COLOUR, sizeof h.colour);
    }
    return h;
}

/* The nearest line on a ray from the eye, lit from there. */
static hit trace_line(const scene *s, vec from, vec direction)
{
    hit h = {0};
    if (!s->embree_lines) return h;
    struct RTCRayHit query;
    memset(&query, 0, sizeof query);
    set_ray(&query.ray, from, direction, 0);
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(s->embree_lines, &context, &query);
    if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return h;
    h.found = true;
    h.distance = query.ray.tfar;
    h.position = add(from, scale(direction, query.ray.tfar));
    h.normal = h.shading = normalize(vec_make(query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z));
    float light = 0.55f + 0.45f * fabsf(dot(h.normal, direction));
    size_t index = query.hit.primID + (query.hit.geomID == BALLS ? s->curve_count : 0);
    for (int k = 0; k < 3; k++)
        h.colour[k] = s->lines[index].colour[k] * light;
    return h;
}

static bool blocked(const scene *s, vec from, vec direction)
{
    struct RTCRay ray;
    set_ray(&ray, from, direction, 0);
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcOccluded1(s->embree, &context, &ray);
    return ray.tfar < 0;
}

static void sky(vec direction, float out[3])
{
    float t = fmaxf(direction.y, 0);
    for (int k = 0; k < 3; k++)
        out[k] = SKY_HORIZON[k] + (SKY_ZENITH[k] - SKY_HORIZON[k]) * t;
}

/* Light that leaves `h` towards the eye: key light, and the sky or what hides it, whose own light is
 * estimated. */
static void shade(const scene *s, const hit *h, sampler *numbers, float out[3])
{
    vec from = add(h->position, scale(h->normal, 2e-5f * s->size));
    float u, v, light[3] = {0};
    next_pair(numbers, &u, &v);
    float r = 0.22f * sqrtf(u), angle = 2 * PI * v;
    vec to_light = normalize(
        add(s->light, add(scale(s->light_right, r * cosf(angle)), scale(s->light_up, r * sinf(angle)))));
    float facing = dot(h->shading, to_light);
    if (facing > 0 && dot(h->normal, to_light) > 0 && !blocked(s, from, to_light)) {
        for (int k = 0; k < 3; k++)
            light[k] += LIGHT_COLOUR[k] * facing * 0.36f;
    }
    for (int i = 0; i < SKY_RAYS; i++) {
        next_pair(numbers, &u, &v);
        vec direction = cosine_direction(h->shading, u, v);
        if (dot(direction, h->normal) <= 0) continue;
        float seen[3];
        hit other = trace(s, from, direction);
        if (other.found) {
            for (int k = 0; k < 3; k++)
                seen[k] = other.colour[k] * (other.floor ? 0.55f : 0.30f);
        } else {
            sky(direction, seen);
        }
        for (int k = 0; k < 3; k++)
            light[k] += seen[k] * (0.78f / SKY_RAYS);
    }
    for (int k = 0; k < 3; k++)
        out[k] = h->colour[k] * light[k];
}

/* The floor runs into the background far from the object, so that no horizon is seen. */
static void background(float height, float out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = 0.86f + 0.10f * height + (k == 2 ? 0.01f : 0);
}

static void add_to(float sum[3], const float x[3])
{
    for (int k = 0; k < 3; k++)
        sum[k] += x[k];
}

/* Adds a sample with as much of a line in it as is seen. */
static void add_sample(
    render_pixel *pixel, const hit *line, float share, const float light[3], const float albedo[3])
{
    float own[3], base[3];
    for (int k = 0; k < 3; k++) {
        own[k] = light[k] + (line->colour[k] - light[k]) * share;
        base[k] = albedo[k] + (line->colour[k] - albedo[k]) * share;
    }
    add_to(pixel->light, own);
    add_to(pixel->albedo, base);
}

/* Adds what a ray sees to the sums of the pixel. */
static void sample_pixel(const scene *s, size_t x, size_t y, uint32_t index, render_pixel *pixel)
{
    sampler numbers = {(uint32_t)(y * s->options->width + x), index, 0};
    float u, v;
    next_pair(&numbers, &u, &v);
    float smaller = (float)(s->options->width < s->options->height ? s->options->width : s->options->height);
    float px = ((float)x + u - 0.5f * (float)s->options->width) * 2 / smaller * RENDER_FIELD_OF_VIEW;
    float py = (0.5f * (float)s->options->height - (float)y - v) * 2 / smaller * RENDER_FIELD_OF_VIEW;
    vec direction = normalize(add(s->eye.forward, add(scale(s->eye.right, px), scale(s->eye.up, py))));
    hit h = trace(s, s->eye.place, direction), line = trace_line(s, s->eye.place, direction);
    bool behind = h.found && !h.floor && h.distance < line.distance;
    float back[3], share = !line.found ? 0 : behind ? s->options->through : 1;
    background(((float)y + v) / (float)s->options->height, back);
    const float white[3] = {1, 1, 1};
    if (!h.found) {
        add_sample(pixel, &line, share, back, white);
        return;
    }
    float out[3];
    shade(s, &h, &numbers, out);
    if (h.floor) {
        float dx = h.position.x, dz = h.position.z, far = sqrtf(dx * dx + dz * dz) / s->size;
        float fade = fminf(fmaxf((far - 0.7f) / 2.2f, 0), 1);
        fade = fade * fade * (3 - 2 * fade);
        for (int k = 0; k < 3; k++)
            out[k] += (back[k] - out[k]) * fade;
    }
    for (int k = 0; k < 3; k++)
        out[k] = fminf(out[k], 2.0f);
    add_sample(pixel, &line, share, out, h.colour);
    const hit *seen = line.found && !behind ? &line : &h;
    add_to(pixel->normal, (const float[3]){seen->shading.x, seen->shading.y, seen->shading.z});
    add_to(pixel->position, (const float[3]){seen->position.x, seen->position.y, seen->position.z});
}

/* Tone and encoding */

static unsigned char encode(float linear)
{
    float x = fmaxf(linear, 0);
    x = x < 0.7f ? x : 0.7f + 0.3f * (1 - expf(-(x - 0.7f) / 0.3f)); /* bright parts roll off */
    x = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
    return (unsigned char)(fminf(x, 1) * 255 + 0.5f);
}

static void trace_row(scene *s, size_t y)
{
    int samples = s->options->samples;
    for (size_t x = 0; x < s->options->width; x++) {
        render_pixel *p = &s->pixels[y * s->options->width + x];
        memset(p, 0, sizeof *p);
        for (int i = 0; i < samples; i++)
            sample_pixel(s, x, y, (uint32_t)i + 1, p);
        for (int k = 0; k < 3; k++) {
            p->light[k] /= (float)samples;
            p->albedo[k] = fmaxf(p->albedo[k] / (float)samples, 1e-3f);
            p->normal[k] /= (float)samples;
            p->position[k] /= (float)samples;
        }
    }
}

static void encode_row(scene *s, size_t y)
{
    for (size_t x = y * s->options->width; x < (y + 1) * s->options->width; x++)
        for (size_t k = 0; k < 3; k++)
            s->rgb[3 * x + k] = encode(s->pixels[x].light[k]);
}

static void *worker(void *user)
{
    scene *s = user;
    size_t width = s->options->width, height = s->options->height;
    for (size_t y = atomic_fetch_add(&s->next_row, 1); y < height; y = atomic_fetch_add(&s->next_row, 1)) {
        if (s->pass < 0)
            trace_row(s, y);
        else if (s->pass < RENDER_SMOOTH_PASSES)
            render_smooth_row(s->pixels, s->smoothed, width, height, y, s->pass);
        else
            encode_row(s, y);
    }
    return NULL;
}

static void run_workers(scene *s)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count =
        s->options->thread_count ? s->options->thread_count : (unsigned)(processors > 0 ? processors : 1);
    count = count > MAX_THREADS ? MAX_THREADS : count;
    pthread_t threads[MAX_THREADS];
    unsigned started = 0;
    while (started + 1 < count && pthread_create(&threads[started], NULL, worker, s) == 0)
        started++;
    worker(s);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* Rays, smoothing, colours, one after the other, each by all threads. */
static void run_passes(scene *s)
{
    for (s->pass = -1; s->pass <= RENDER_SMOOTH_PASSES; s->pass++) {
        atomic_store(&s->next_row, 0);
        run_workers(s);
        if (s->pass < 0 || s->pass >= RENDER_SMOOTH_PASSES) continue;
        render_pixel *swap = s->pixels;
        s->pixels = s->smoothed;
        s->smoothed = swap;
    }
}

/* Placing the eye */

static bool place(scene *s, size_t count, vec centre)
{
    if (!render_place_eye(s->options, s->triangles, count, centre, &s->eye)) return false;
    /* The key light stands above the left shoulder of whoever looks. */
    float b = (float)s->options->azimuth_deg * PI / 180 - 0.75f;
    s->light = normalize(vec_make(sinf(b), 1.15f, cosf(b)));
    make_basis(s->light, &s->light_right, &s->light_up);
    return true;
}

/* Embree */

static const char *build_embree(
    const render_triangle *triangles, size_t count, RTCDevice *device, RTCScene *out)
{
    *device = rtcNewDevice(NULL);
    if (!*device) return "Embree cannot be started on this processor";
    RTCScene embree = rtcNewScene(*device);
    rtcSetSceneFlags(embree, RTC_SCENE_FLAG_ROBUST);
    RTCGeometry geometry = rtcNewGeometry(*device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *vertices = rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), count * 3);
    unsigned *indices = rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(unsigned), count);
    if (vertices && indices) {
        for (size_t i = 0; i < count; i++) {
            memcpy(vertices + 9 * i, triangles[i].position, sizeof triangles[i].position);
            for (size_t k = 0; k < 3; k++)
                indices[3 * i + k] = (unsigned)(3 * i + k);
        }
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(embree, geometry);
        rtcCommitScene(embree);
    }
    rtcReleaseGeometry(geometry);
    *out = embree;
    return rtcGetDeviceError(*device) == RTC_ERROR_NONE
               ? NULL
               : "Embree could not take the triangles (out of memory?)";
}

/* Lines (curves true) or balls as geometry of a scene; none, when there are none. */
static void attach_lines(
    RTCDevice device, RTCScene embree, const render_line *lines, size_t count, bool curves, unsigned id)
{
    size_t ends = curves ? 2 : 1;
    RTCGeometry geometry = rtcNewGeometry(
        device, curves ? RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE : RTC_GEOMETRY_TYPE_SPHERE_POINT);
    float *vertices = rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, 4 * sizeof(float), ends * count);
    unsigned *indices = curves ? rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT,
                                     sizeof(unsigned), count)
                               : NULL;
    for (size_t i = 0; vertices && (indices || !curves) && i < count; i++) {
        for (size_t end = 0; end < ends; end++) {
            float *v = vertices + 4 * (ends * i + end);
            memcpy(v, end ? lines[i].to : lines[i].from, 3 * sizeof *v);
            v[3] = lines[i].radius;
        }
        if (curves) indices[i] = (unsigned)(2 * i);
    }
    if (vertices && (indices || !curves)) {
        rtcCommitGeometry(geometry);
        rtcAttachGeometryByID(embree, geometry, id);
    }
    rtcReleaseGeometry(geometry);
}

/* Lines as a scene of their own: only the eye sees them. Without lines there is none. */
static const char *build_lines(scene *s, size_t count, RTCDevice device)
{
    if (!count) return NULL;
    s->embree_lines = rtcNewScene(device);
    if (s->curve_count) attach_lines(device, s->embree_lines, s->lines, s->curve_count, true, CURVES);
    if (count > s->curve_count)
        attach_lines(
            device, s->embree_lines, s->lines + s->curve_count, count - s->curve_count, false, BALLS);
    rtcCommitScene(s->embree_lines);
    return rtcGetDeviceError(device) == RTC_ERROR_NONE ? NULL
                                                       : "Embree could not take the lines (out of memory?)";
}

void render_options_init(render_options *options)
{
    memset(options, 0, sizeof *options);
    options->width = 1200;
    options->height = 900;
    options->azimuth_deg = 35;
    options->elevation_deg = 20;
    options->samples = 16;
}

const char *render_image(
    const render_triangle *triangles, size_t count, const render_options *options, unsigned char *rgb)
{
    if (!count || count > UINT32_MAX / 3)
        return count ? "too many triangles for a picture" : "there is nothing to see";
    if (options->line_count > UINT32_MAX / 2) return "too many lines for a picture";
    scene s = {.options = options, .rgb = rgb, .size = 1};
    float low[3], high[3];
    if (!render_find_bounds(triangles, count, low, high)) return "a vertex is not at a finite place";
    render_frame f = render_find_frame(low, high);
    render_triangle *moved = render_move_triangles(&f, triangles, count);
    render_line *lines = render_move_lines(&f, options->lines, options->line_count, &s.curve_count);
    size_t pixels = options->width * options->height;
    s.triangles = moved;
    s.lines = lines;
    s.pixels = malloc(pixels * sizeof *s.pixels);
    s.smoothed = malloc(pixels * sizeof *s.smoothed);
    RTCDevice device = NULL;
    const char *problem = NULL;
    if (!moved || !lines || !s.pixels || !s.smoothed || !place(&s, count, f.centre))
        problem = "out of memory";
    if (!problem) problem = build_embree(moved, count, &device, &s.embree);
    if (!problem) problem = build_lines(&s, options->line_count, device);
    if (!problem) run_passes(&s);
    free(s.pixels);
    free(s.smoothed);
    if (s.embree_lines) rtcReleaseScene(s.embree_lines);
    if (s.embree) rtcReleaseScene(s.embree);
    if (device) rtcReleaseDevice(device);
    free(moved);
    free(lines);
    return problem;
}
