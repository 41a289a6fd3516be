/// Corners joined across edges by union-find, then sums over each set in the order of the triangles.

#include "fracture/geometry/smooth_normals.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/elementary.h"
#include "fracture/geometry/face_graph.h"

enum { POLL_CORNERS = 65536 };

static int32_t find_root(int32_t *root, int32_t c)
{
    while (root[c] != c) {
        root[c] = root[root[c]];
        c = root[c];
    }
    return c;
}

static void join(int32_t *root, int32_t a, int32_t b)
{
    a = find_root(root, a);
    b = find_root(root, b);
    root[a < b ? b : a] = a < b ? a : b;
}

/// Joins the corners of both triangles at both ends of the edge that begins at corner c.
static void join_across(int32_t *root, int32_t c, int32_t o)
{
    join(root, c, o - o % 3 + (o + 1) % 3);
    join(root, c - c % 3 + (c + 1) % 3, o);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

/// The angle between two vectors; 0 where one has no length.
static double angle_between(const double a[3], const double b[3])
{
    double cross[3];
    for (int k = 0; k < 3; k++)
        cross[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    return rbli_atan2(sqrt(dot(cross, cross)), dot(a, b));
}

/// The two sides of a triangle that begin at a corner.
static void sides_at(const rbli_mesh_view *mesh, size_t c, double to_next[3], double to_last[3])
{
    const int32_t *t = mesh->triangles[c / 3];
    const double *p = mesh->positions[t[c % 3]];
    subtract(mesh->positions[t[(c + 1) % 3]], p, to_next);
    subtract(mesh->positions[t[(c + 2) % 3]], p, to_last);
}

static rbl_status make_roots(rbl_context *ctx, size_t corners, int32_t **out)
{
    int32_t *root = rbli_alloc(ctx, corners, sizeof *root);
    if (!root) return RBL_ERR_NO_MEMORY;
    for (size_t c = 0; c < corners; c++)
        root[c] = (int32_t)c;
    *out = root;
    return RBL_OK;
}

/* ---- normals ---- */

/// Unit length; false when there is no direction.
static bool make_unit(double v[3])
{
    double length = sqrt(dot(v, v));
    if (!(length > 0) || !isfinite(length)) return false;
    for (int k = 0; k < 3; k++)
        v[k] /= length;
    return true;
}

static rbl_status write_normals(rbl_context *ctx, const rbli_mesh_view *mesh, int32_t *root,
    const bool *sliver, const double (*face)[3], double (*sum)[3], float (*normals)[3])
{
    size_t corners = 3 * mesh->triangle_count;
    for (size_t c = 0; c < corners; c++) {
        double u[3], v[3];
        if (c % POLL_CORNERS == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        if (sliver[c / 3]) continue;
        sides_at(mesh, c, u, v);
        double weight = angle_between(u, v), *to = sum[find_root(root, (int32_t)c)];
        for (int k = 0; k < 3; k++)
            to[k] += weight * face[c / 3][k];
    }
    for (size_t c = 0; c < corners; c++) {
        double n[3];
        memcpy(n, sum[find_root(root, (int32_t)c)], sizeof n);
        /* directions that cancel out leave nothing but rounding */
        if (dot(n, n) < 1e-20 || !make_unit(n)) memcpy(n, face[c / 3], sizeof n);
        for (int k = 0; k < 3; k++)
            normals[c][k] = (float)n[k];
    }
    return RBL_OK;
}

rbl_status rbli_smooth_normals(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *opposite,
    const uint8_t *kind, double sharp_cosine, float (*normals)[3])
{
    rbl_status status = RBL_OK;
    size_t count = mesh->triangle_count;
    int32_t *root = NULL;
    double(*face)[3] = NULL, (*sum)[3] = NULL;
    bool *sliver = NULL;
    RBL_TRY_ALLOC(face = rbli_alloc(ctx, count, sizeof *face));
    RBL_TRY_ALLOC(sliver = rbli_alloc(ctx, count, sizeof *sliver));
    RBL_TRY_ALLOC(sum = rbli_calloc(ctx, 3 * count, sizeof *sum));
    RBL_TRY(rbli_face_normals(ctx, mesh, opposite, face, sliver));
    RBL_TRY(make_roots(ctx, 3 * count, &root));
    for (size_t c = 0; c < 3 * count; c++) {
        int32_t o = opposite[c];
        if (c % POLL_CORNERS == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        if (o <= (int32_t)c || (kind && kind[c / 3] != kind[o / 3])) continue;
        if (dot(face[c / 3], face[o / 3]) >= sharp_cosine) join_across(root, (int32_t)c, o);
    }
    status = write_normals(ctx, mesh, root, sliver, (const double(*)[3])face, sum, normals);
done:
    rbli_free(ctx, root);
    rbli_free(ctx, face);
    rbli_free(ctx, sum);
    rbli_free(ctx, sliver);
    return status;
}

/* ---- tangents ---- */

typedef enum orientation { NO_AREA, KEPT, MIRRORED } orientation;

/// The direction in which u grows over a triangle, unit; and whether (u, v) is right-handed on it.
static orientation direction_of_u(
    const rbli_mesh_view *mesh, const float (*uvs)[2], size_t t, double direction[3])
{
    const float *a = uvs[3 * t], *b = uvs[3 * t + 1], *c = uvs[3 * t + 2];
    double u1 = (double)b[0] - (double)a[0], v1 = (double)b[1] - (double)a[1];
    double u2 = (double)c[0] - (double)a[0], v2 = (double)c[1] - (double)a[1];
    double area = u1 * v2 - u2 * v1, p[3], q[3];
    sides_at(mesh, 3 * t, p, q);
    for (int k = 0; k < 3; k++)
        direction[k] = area < 0 ? v1 * q[k] - v2 * p[k] : v2 * p[k] - v1 * q[k];
    if (!(fabs(area) > 0) || !make_unit(direction)) {
        direction[0] = direction[1] = direction[2] = 0;
        return NO_AREA;
    }
    return area < 0 ? MIRRORED : KEPT;
}

static bool equal_corners(const float (*normals)[3], const float (*uvs)[2], int32_t a, int32_t b)
{
    for (int k = 0; k < 3; k++)
        if (normals[a][k] != normals[b][k]) return false;
    return uvs[a][0] == uvs[b][0] && uvs[a][1] == uvs[b][1];
}

/// Whether normals and UVs run on across the edge that begins at corner c.
static bool runs_on(const float (*normals)[3], const float (*uvs)[2], int32_t c, int32_t o)
{
    return equal_corners(normals, uvs, c, o - o % 3 + (o + 1) % 3) &&
           equal_corners(normals, uvs, c - c % 3 + (c + 1) % 3, o);
}

/// Triangles without area in UV space take the orientation of a neighbour, round by round.
static rbl_status spread_orientations(rbl_context *ctx, size_t count, const int32_t *opposite,
    const float (*normals)[3], const float (*uvs)[2], uint8_t *turn)
{
    rbl_status status = RBL_OK;
    RBLI_ARRAY(int32_t) waiting = {0};
    for (size_t t = 0; t < count; t++)
        if (turn[t] == NO_AREA) RBL_TRY(rbli_array_push(ctx, &waiting, (int32_t)t));
    for (size_t before = waiting.count + 1; waiting.count > 0 && waiting.count < before;) {
        size_t left = 0;
        before = waiting.count;
        for (size_t i = 0; i < before; i++) {
            int32_t t = waiting.data[i];
            for (int32_t c = 3 * t; c < 3 * t + 3 && turn[t] == NO_AREA; c++) {
                int32_t o = opposite[c];
                if (o >= 0 && runs_on(normals, uvs, c, o)) turn[t] = turn[o / 3];
            }
            if (turn[t] == NO_AREA) waiting.data[left++] = t;
        }
        waiting.count = left;
    }
done:
    rbli_free(ctx, waiting.data);
    return status;
}

/// Takes out what lies along n, of any length.
static void flatten(double v[3], const float n[3])
{
    double along = v[0] * (double)n[0] + v[1] * (double)n[1] + v[2] * (double)n[2];
    double square = (double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] + (double)n[2] * (double)n[2];
    if (square > 0) along /= square;
    for (int k = 0; k < 3; k++)
        v[k] -= along * (double)n[k];
}

/// Any direction across a normal.
static void any_across(const float normal[3], double out[3])
{
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabsf(normal[k]) < fabsf(normal[least])) least = k;
    for (int k = 0; k < 3; k++)
        out[k] = k == least;
    flatten(out, normal);
    if (!make_unit(out)) out[least] = 1;
}

static rbl_status write_tangents(rbl_context *ctx, const rbli_mesh_view *mesh, int32_t *root,
    const uint8_t *turn, const double (*direction)[3], const float (*normals)[3], double (*sum)[3],
    float (*tangents)[4])
{
    size_t corners = 3 * mesh->triangle_count;
    for (size_t c = 0; c < corners; c++) {
        double u[3], v[3], along[3];
        if (c % POLL_CORNERS == 0 && rbli_cancelled(ctx)) return RBL_ERR_CANCELLED;
        memcpy(along, direction[c / 3], sizeof along);
        flatten(along, normals[c]);
        if (!make_unit(along)) continue;
        sides_at(mesh, c, u, v);
        flatten(u, normals[c]);
        flatten(v, normals[c]);
        double weight = angle_between(u, v), *to = sum[find_root(root, (int32_t)c)];
        for (int k = 0; k < 3; k++)
            to[k] += weight * along[k];
    }
    for (size_t c = 0; c < corners; c++) {
        double t[3];
        memcpy(t, sum[find_root(root, (int32_t)c)], sizeof t);
        if (dot(t, t) < 1e-20 || !make_unit(t)) any_across(normals[c], t);
        for (int k = 0; k < 3; k++)
            tangents[c][k] = (float)t[k];
        tangents[c][3] = turn[c / 3] == KEPT ? -1 : 1;
    }
    return RBL_OK;
}

rbl_status rbli_corner_tangents(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *opposite,
    const float (*normals)[3], const float (*uvs)[2], float (*tangents)[4])
{
    rbl_status status = RBL_OK;
    size_t count = mesh->triangle_count;
    int32_t *root = NULL;
    double(*direction)[3] = NULL, (*sum)[3] = NULL;
    uint8_t *turn = NULL;
    RBL_TRY_ALLOC(direction = rbli_alloc(ctx, count, sizeof *direction));
    RBL_TRY_ALLOC(turn = rbli_alloc(ctx, count, sizeof *turn));
    RBL_TRY_ALLOC(sum = rbli_calloc(ctx, 3 * count, sizeof *sum));
    for (size_t t = 0; t < count; t++) {
        if (t % POLL_CORNERS == 0 && rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        turn[t] = (uint8_t)direction_of_u(mesh, uvs, t, direction[t]);
    }
    RBL_TRY(spread_orientations(ctx, count, opposite, normals, uvs, turn));
    RBL_TRY(make_roots(ctx, 3 * count, &root));
    for (size_t c = 0; c < 3 * count; c++) {
        int32_t o = opposite[c];
        if (o > (int32_t)c && turn[c / 3] == turn[o / 3] && runs_on(normals, uvs, (int32_t)c, o))
            join_across(root, (int32_t)c, o);
    }
    status = write_tangents(ctx, mesh, root, turn, (const double(*)[3])direction, normals, sum, tangents);
done:
    rbli_free(ctx, root);
    rbli_free(ctx, direction);
    rbli_free(ctx, sum);
    rbli_free(ctx, turn);
    return status;
}
