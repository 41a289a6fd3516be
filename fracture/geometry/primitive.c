/// Primitives, quad by quad.

#include "fracture/geometry/primitive.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/elementary.h"

void rbli_primitive_free(rbl_context *ctx, rbli_primitive *p)
{
    rbli_free(ctx, p->positions);
    rbli_free(ctx, p->triangles);
    rbli_free(ctx, p->normals);
    rbli_free(ctx, p->uvs);
    *p = (rbli_primitive){0};
}

typedef struct corner {
    int32_t vertex;
    double normal[3]; /* any length */
    double u, v;
} corner;

static void add_triangle(rbli_primitive *p, const corner *a, const corner *b, const corner *c)
{
    const corner *all[3] = {a, b, c};
    size_t t = p->triangle_count++;
    for (size_t k = 0; k < 3; k++) {
        const double *n = all[k]->normal;
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        p->triangles[t][k] = all[k]->vertex;
        for (int i = 0; i < 3; i++)
            p->normals[3 * t + k][i] = (float)(n[i] / length);
        p->uvs[3 * t + k][0] = (float)all[k]->u;
        p->uvs[3 * t + k][1] = (float)all[k]->v;
    }
}

static void add_quad(rbli_primitive *p, const corner quad[4])
{
    add_triangle(p, &quad[0], &quad[1], &quad[2]);
    add_triangle(p, &quad[0], &quad[2], &quad[3]);
}

static int32_t add_vertex(rbli_primitive *p, double x, double y, double z)
{
    double *to = p->positions[p->vertex_count];
    to[0] = x;
    to[1] = y;
    to[2] = z;
    return (int32_t)p->vertex_count++;
}

static rbl_status reserve(rbl_context *ctx, rbli_primitive *p, size_t vertices, size_t triangles)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(p->positions = rbli_alloc(ctx, vertices, sizeof *p->positions));
    RBL_TRY_ALLOC(p->triangles = rbli_alloc(ctx, triangles, sizeof *p->triangles));
    RBL_TRY_ALLOC(p->normals = rbli_alloc(ctx, triangles, 3 * sizeof *p->normals));
    RBL_TRY_ALLOC(p->uvs = rbli_alloc(ctx, triangles, 3 * sizeof *p->uvs));
done:
    return status;
}

/// A flat quad with the same normal everywhere and the whole texture.
static void add_flat_quad(rbli_primitive *p, const int32_t vertex[4], const double normal[3])
{
    static const double uv[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    corner quad[4];
    for (int i = 0; i < 4; i++)
        quad[i] = (corner){vertex[i], {normal[0], normal[1], normal[2]}, uv[i][0], uv[i][1]};
    add_quad(p, quad);
}

static rbl_status make_box(rbl_context *ctx, const double h[3], rbli_primitive *p)
{
    static const int32_t faces[6][4] = {
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    rbl_status status = reserve(ctx, p, 8, 12);
    if (status != RBL_OK) return status;
    for (int i = 0; i < 8; i++)
        add_vertex(p, i & 1 ? h[0] : -h[0], i & 2 ? h[1] : -h[1], i & 4 ? h[2] : -h[2]);
    for (int f = 0; f < 6; f++) {
        double normal[3] = {0, 0, 0};
        normal[f / 2] = f % 2 ? 1 : -1;
        add_flat_quad(p, faces[f], normal);
    }
    return RBL_OK;
}

/// Cosine and sine of step i of n around; the whole turn is the start again.
static void around(int32_t i, int32_t n, double *c, double *s)
{
    double angle = 2 * RBLI_PI * (i % n) / n;
    *c = rbli_cos(angle);
    *s = rbli_sin(angle);
}

static rbl_status make_sphere(rbl_context *ctx, const double h[3], int32_t n, rbli_primitive *p)
{
    int32_t rings = n / 2 < 2 ? 2 : n / 2;
    rbl_status status =
        reserve(ctx, p, (size_t)n * (size_t)(rings - 1) + 2, 2 * (size_t)n * (size_t)(rings - 1));
    if (status != RBL_OK) return status;
    int32_t north = add_vertex(p, 0, h[1], 0);
    for (int32_t r = 1; r < rings; r++)
        for (int32_t i = 0; i < n; i++) {
            double c, s, angle = RBLI_PI * r / rings, out = rbli_sin(angle);
            around(i, n, &c, &s);
            add_vertex(p, h[0] * out * c, h[1] * rbli_cos(angle), h[2] * out * s);
        }
    int32_t south = add_vertex(p, 0, -h[1], 0);
    for (int32_t r = 0; r < rings; r++)
        for (int32_t i = 0; i < n; i++) {
            corner q[4];
            for (int32_t k = 0; k < 4; k++) {
                int32_t ring = r + (k >= 2), step = i + (k == 1 || k == 2);
                int32_t v = ring == 0 ? north : ring == rings ? south : 1 + (ring - 1) * n + step % n;
                const double *x = p->positions[v];
                q[k] = (corner){v, {x[0] / h[0] / h[0], x[1] / h[1] / h[1], x[2] / h[2] / h[2]},
                    (double)step / n, (double)ring / rings};
            }
            if (r == 0) {
                q[0].u = (i + 0.5) / n;
                add_triangle(p, &q[0], &q[2], &q[3]);
            } else if (r == rings - 1) {
                q[3].u = (i + 0.5) / n;
                add_triangle(p, &q[0], &q[1], &q[3]);
            } else {
                add_quad(p, q);
            }
        }
    return RBL_OK;
}

static rbl_status make_cylinder(rbl_context *ctx, const double h[3], int32_t n, rbli_primitive *p)
{
    rbl_status status = reserve(ctx, p, 2 * (size_t)n + 2, 4 * (size_t)n);
    if (status != RBL_OK) return status;
    for (int end = 0; end < 2; end++)
        for (int32_t i = 0; i < n; i++) {
            double c, s;
            around(i, n, &c, &s);
            add_vertex(p, h[0] * c, end ? -h[1] : h[1], h[2] * s);
        }
    int32_t top = add_vertex(p, 0, h[1], 0), bottom = add_vertex(p, 0, -h[1], 0);
    for (int32_t i = 0; i < n; i++) {
        corner side[4], caps[2][3] = {{{top, {0, 1, 0}, 0.5, 0.5}}, {{bottom, {0, -1, 0}, 0.5, 0.5}}};
        for (int32_t k = 0; k < 4; k++) {
            int32_t step = i + (k == 1 || k == 2);
            double c, s;
            around(step, n, &c, &s);
            side[k] =
                (corner){(k >= 2 ? n : 0) + step % n, {c / h[0], 0, s / h[2]}, (double)step / n, k >= 2};
        }
        for (int k = 0; k < 2; k++) {
            double c, s;
            around(i + 1 - k, n, &c, &s);
            caps[0][1 + k] = (corner){side[1 - k].vertex, {0, 1, 0}, 0.5 + 0.5 * c, 0.5 + 0.5 * s};
            around(i + k, n, &c, &s);
            caps[1][1 + k] = (corner){side[3 - k].vertex, {0, -1, 0}, 0.5 + 0.5 * c, 0.5 - 0.5 * s};
        }
        add_quad(p, side);
        add_triangle(p, &caps[0][0], &caps[0][1], &caps[0][2]);
        add_triangle(p, &caps[1][0], &caps[1][1], &caps[1][2]);
    }
    return RBL_OK;
}

static int32_t slab_vertex(int32_t n, int32_t i, int32_t j, bool bottom)
{
    return (bottom ? (n + 1) * (n + 1) : 0) + i * (n + 1) + j;
}

/// The strip below an edge of the top that runs from (i, j) to (k, l) in the top's triangles.
static void add_side(
    rbli_primitive *p, int32_t n, const int32_t from[2], const int32_t to[2], const double normal[3])
{
    int32_t quad[4] = {slab_vertex(n, to[0], to[1], false), slab_vertex(n, from[0], from[1], false),
        slab_vertex(n, from[0], from[1], true), slab_vertex(n, to[0], to[1], true)};
    add_flat_quad(p, quad, normal);
}

static rbl_status make_slab(rbl_context *ctx, const double h[3], int32_t n, rbli_primitive *p)
{
    size_t side = (size_t)n + 1, cells = (size_t)n * (size_t)n;
    rbl_status status = reserve(ctx, p, 2 * side * side, 4 * cells + 8 * (size_t)n);
    if (status != RBL_OK) return status;
    for (int bottom = 0; bottom < 2; bottom++)
        for (int32_t i = 0; i <= n; i++)
            for (int32_t j = 0; j <= n; j++)
                add_vertex(p, h[0] * (2.0 * i / n - 1), bottom ? -h[1] : h[1], h[2] * (2.0 * j / n - 1));
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            for (int bottom = 0; bottom < 2; bottom++) {
                corner q[4];
                for (int k = 0; k < 4; k++) {
                    int turn = bottom ? 3 - k : k;
                    int32_t a = i + (turn >= 2), b = j + (turn == 1 || turn == 2);
                    q[k] = (corner){
                        slab_vertex(n, a, b, bottom), {0, bottom ? -1 : 1, 0}, (double)a / n, (double)b / n};
                }
                add_quad(p, q);
            }
    for (int32_t i = 0; i < n; i++) {
        add_side(p, n, (int32_t[]){0, i}, (int32_t[]){0, i + 1}, (double[]){-1, 0, 0});
        add_side(p, n, (int32_t[]){i, n}, (int32_t[]){i + 1, n}, (double[]){0, 0, 1});
        add_side(p, n, (int32_t[]){n, i + 1}, (int32_t[]){n, i}, (double[]){1, 0, 0});
        add_side(p, n, (int32_t[]){i + 1, 0}, (int32_t[]){i, 0}, (double[]){0, 0, -1});
    }
    return RBL_OK;
}

rbl_status rbli_primitive_make(
    rbl_context *ctx, rbli_primitive_shape shape, const double size[3], int32_t segments, rbli_primitive *out)
{
    rbl_status status = RBL_ERR_ARGUMENT;
    rbli_primitive made = {0};
    double half[3];
    for (int k = 0; k < 3; k++) {
        half[k] = size[k] / 2;
        if (!isfinite(half[k]) || !(half[k] > 0))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a shape needs a size above 0 along each axis");
    }
    if (segments < 3 || segments > 2048)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "%d segments: 3 to 2048 are possible", (int)segments);
    switch (shape) {
    case RBLI_PRIMITIVE_BOX:
        status = make_box(ctx, half, &made);
        break;
    case RBLI_PRIMITIVE_SPHERE:
        status = make_sphere(ctx, half, segments, &made);
        break;
    case RBLI_PRIMITIVE_CYLINDER:
        status = make_cylinder(ctx, half, segments, &made);
        break;
    case RBLI_PRIMITIVE_PLANE_SLAB:
        status = make_slab(ctx, half, segments, &made);
        break;
    }
    if (status != RBL_OK) {
        rbli_primitive_free(ctx, &made);
        return status;
    }
    *out = made;
    return RBL_OK;
}
