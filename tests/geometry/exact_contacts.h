#ifndef RUBBLE_TESTS_GEOMETRY_EXACT_CONTACTS_H
#define RUBBLE_TESTS_GEOMETRY_EXACT_CONTACTS_H

/// What touches in an assembly, by looking at all pairs of triangles in exact rational numbers: shares no code with
/// the library.

#include <gmp.h>
#include <math.h>

#include "tests/geometry/cut_help.h"

/// Pieces of one space: triangle t belongs to piece[t].
typedef struct assembly {
    test_mesh mesh;
    int32_t *piece;
    size_t piece_count;
} assembly;

HELPER void assembly_free(assembly *a)
{
    free_mesh(&a->mesh);
    free(a->piece);
    *a = (assembly){0};
}

/// Adds a mesh as one more piece.
HELPER void assembly_add(assembly *a, const test_mesh *mesh)
{
    size_t before = a->mesh.triangle_count;
    mesh_append(&a->mesh, mesh, false);
    a->piece = realloc(a->piece, a->mesh.triangle_count * sizeof *a->piece);
    for (size_t t = before; t < a->mesh.triangle_count; t++)
        a->piece[t] = (int32_t)a->piece_count;
    a->piece_count++;
}

/// The contacts of pieces p < q are at [p * piece_count + q].
typedef struct exact_contacts {
    double *area;  /* the sum of overlaps */
    bool *equal;   /* some triangles have equal corners and face each other */
    double *wide;  /* the largest ratio of area to perimeter of an overlap */
    size_t tested; /* pairs of triangles looked at exactly */
} exact_contacts;

HELPER void exact_contacts_free(exact_contacts *c)
{
    free(c->area);
    free(c->equal);
    free(c->wide);
    *c = (exact_contacts){0};
}

enum { EXACT_CORNERS = 10 };

/// A polygon in two coordinates, exact.
typedef struct exact_polygon {
    mpq_t at[EXACT_CORNERS][2];
    int count;
} exact_polygon;

/// Numbers kept between pairs, so that they are made once.
typedef struct exact_work {
    mpq_t a[3][3], b[3][3], na[3], nb[3], height[EXACT_CORNERS], s, t, u, v;
    exact_polygon polygon, next;
} exact_work;

HELPER void exact_visit(exact_work *w, void (*each)(mpq_t))
{
    for (int i = 0; i < 3; i++) {
        each(w->na[i]);
        each(w->nb[i]);
        for (int k = 0; k < 3; k++) {
            each(w->a[i][k]);
            each(w->b[i][k]);
        }
    }
    for (int i = 0; i < EXACT_CORNERS; i++) {
        each(w->height[i]);
        for (int k = 0; k < 2; k++) {
            each(w->polygon.at[i][k]);
            each(w->next.at[i][k]);
        }
    }
    each(w->s);
    each(w->t);
    each(w->u);
    each(w->v);
}

/// s = (q − p) × (r − p), component k.
HELPER void exact_cross(exact_work *w, mpq_t p[3], mpq_t q[3], mpq_t r[3], int k, mpq_t out)
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    mpq_sub(w->s, q[i], p[i]);
    mpq_sub(w->t, r[j], p[j]);
    mpq_mul(w->u, w->s, w->t);
    mpq_sub(w->s, q[j], p[j]);
    mpq_sub(w->t, r[i], p[i]);
    mpq_mul(w->v, w->s, w->t);
    mpq_sub(out, w->u, w->v);
}

/// Keeps what lies left of p → q (right for sign −1) in the coordinates i, j.
HELPER void exact_clip(exact_work *w, mpq_t p[3], mpq_t q[3], int i, int j, int sign)
{
    exact_polygon *f = &w->polygon, *g = &w->next;
    for (int c = 0; c < f->count; c++) {
        mpq_sub(w->s, q[i], p[i]);
        mpq_sub(w->t, f->at[c][1], p[j]);
        mpq_mul(w->u, w->s, w->t);
        mpq_sub(w->s, q[j], p[j]);
        mpq_sub(w->t, f->at[c][0], p[i]);
        mpq_mul(w->v, w->s, w->t);
        mpq_sub(w->height[c], w->u, w->v);
        if (sign < 0) mpq_neg(w->height[c], w->height[c]);
    }
    g->count = 0;
    for (int c = 0; c < f->count; c++) {
        int d = (c + 1) % f->count;
        if (mpq_sgn(w->height[c]) >= 0) {
            mpq_set(g->at[g->count][0], f->at[c][0]);
            mpq_set(g->at[g->count++][1], f->at[c][1]);
        }
        if (mpq_sgn(w->height[c]) * mpq_sgn(w->height[d]) >= 0) continue;
        mpq_sub(w->s, w->height[c], w->height[d]);
        mpq_div(w->s, w->height[c], w->s);
        for (int k = 0; k < 2; k++) {
            mpq_sub(w->t, f->at[d][k], f->at[c][k]);
            mpq_mul(w->t, w->t, w->s);
            mpq_add(g->at[g->count][k], f->at[c][k], w->t);
        }
        g->count++;
    }
    exact_polygon swap = *f;
    *f = *g;
    *g = swap;
}

/// Height of a plane through p with normal n over (x, y) in coordinates i, j, along k.
HELPER void exact_lift(exact_work *w, mpq_t p[3], mpq_t n[3], mpq_t at[2], int i, int j, int k, mpq_t out)
{
    mpq_sub(w->s, at[0], p[i]);
    mpq_mul(w->s, w->s, n[i]);
    mpq_sub(w->t, at[1], p[j]);
    mpq_mul(w->t, w->t, n[j]);
    mpq_add(w->s, w->s, w->t);
    mpq_div(w->s, w->s, n[k]);
    mpq_sub(out, p[k], w->s);
}

HELPER double exact_area_factor(mpq_t n[3], int k)
{
    double x = mpq_get_d(n[0]), y = mpq_get_d(n[1]), z = mpq_get_d(n[2]), d[3] = {x, y, z};
    return sqrt(x * x + y * y + z * z) / fabs(d[k]);
}

/// The overlap of two triangles that face each other and lie, where they overlap, within the tolerance: area and
/// area / perimeter, 0 if there is none.
HELPER double exact_overlap(
    exact_work *w, double (*p)[3], const int32_t ta[3], const int32_t tb[3], double tolerance, double *wide)
{
    *wide = 0;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++) {
            mpq_set_d(w->a[c][k], p[ta[c]][k]);
            mpq_set_d(w->b[c][k], p[tb[c]][k]);
        }
    for (int k = 0; k < 3; k++) {
        exact_cross(w, w->a[0], w->a[1], w->a[2], k, w->na[k]);
        exact_cross(w, w->b[0], w->b[1], w->b[2], k, w->nb[k]);
    }
    mpq_set_ui(w->v, 0, 1);
    for (int k = 0; k < 3; k++) {
        mpq_mul(w->s, w->na[k], w->nb[k]);
        mpq_add(w->v, w->v, w->s);
    }
    if (mpq_sgn(w->v) >= 0) return 0;
    int k = 0;
    for (int axis = 1; axis < 3; axis++)
        if (fabs(mpq_get_d(w->na[axis])) > fabs(mpq_get_d(w->na[k]))) k = axis;
    int i = (k + 1) % 3, j = (k + 2) % 3;
    if (mpq_sgn(w->na[k]) * mpq_sgn(w->nb[k]) >= 0) return 0;
    w->polygon.count = 3;
    for (int c = 0; c < 3; c++) {
        mpq_set(w->polygon.at[c][0], w->b[c][i]);
        mpq_set(w->polygon.at[c][1], w->b[c][j]);
    }
    for (int c = 0; c < 3 && w->polygon.count >= 3; c++)
        exact_clip(w, w->a[c], w->a[(c + 1) % 3], i, j, mpq_sgn(w->na[k]));
    if (w->polygon.count < 3) return 0;
    double factor = exact_area_factor(w->na, k), perimeter = 0;
    mpq_set_ui(w->v, 0, 1);
    for (int c = 0; c < w->polygon.count; c++) {
        exact_lift(w, w->a[0], w->na, w->polygon.at[c], i, j, k, w->u);
        exact_lift(w, w->b[0], w->nb, w->polygon.at[c], i, j, k, w->height[0]);
        mpq_sub(w->u, w->u, w->height[0]);
        if (fabs(mpq_get_d(w->u)) / factor > tolerance) return 0;
        int d = (c + 1) % w->polygon.count;
        mpq_mul(w->s, w->polygon.at[c][0], w->polygon.at[d][1]);
        mpq_mul(w->t, w->polygon.at[d][0], w->polygon.at[c][1]);
        mpq_sub(w->s, w->s, w->t);
        mpq_add(w->v, w->v, w->s);
        mpq_sub(w->s, w->polygon.at[d][0], w->polygon.at[c][0]);
        mpq_sub(w->t, w->polygon.at[d][1], w->polygon.at[c][1]);
        double x = mpq_get_d(w->s), y = mpq_get_d(w->t);
        perimeter += sqrt(x * x + y * y);
    }
    double area = fabs(mpq_get_d(w->v)) / 2 * factor;
    if (area > 0) *wide = area / (perimeter * factor);
    return area;
}

/// Quick and generous, in doubles: boxes apart, or planes that are far from opposite or from each other.
HELPER bool surely_apart(const assembly *a, size_t s, size_t t, double tolerance)
{
    const int32_t *v[2] = {a->mesh.triangles[s], a->mesh.triangles[t]};
    double n[2][3], length[2];
    for (int k = 0; k < 3; k++) {
        double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
        for (int i = 0; i < 2; i++)
            for (int c = 0; c < 3; c++) {
                double x = a->mesh.positions[v[i][c]][k];
                low[i] = fmin(low[i], x), high[i] = fmax(high[i], x);
            }
        if (low[0] > high[1] + 2 * tolerance || low[1] > high[0] + 2 * tolerance) return true;
    }
    for (int i = 0; i < 2; i++) {
        const double *p = a->mesh.positions[v[i][0]], *q = a->mesh.positions[v[i][1]],
                     *r = a->mesh.positions[v[i][2]];
        for (int k = 0; k < 3; k++) {
            int x = (k + 1) % 3, y = (k + 2) % 3;
            n[i][k] = (q[x] - p[x]) * (r[y] - p[y]) - (q[y] - p[y]) * (r[x] - p[x]);
        }
        length[i] = sqrt(n[i][0] * n[i][0] + n[i][1] * n[i][1] + n[i][2] * n[i][2]);
        if (length[i] == 0) return true;
    }
    double cosine = (n[0][0] * n[1][0] + n[0][1] * n[1][1] + n[0][2] * n[1][2]) / (length[0] * length[1]);
    return cosine > -0.4;
}

HELPER bool equal_and_opposite(const assembly *a, size_t s, size_t t)
{
    const int32_t *v = a->mesh.triangles[s], *w = a->mesh.triangles[t];
    for (int turn = 0; turn < 3; turn++) {
        bool same = true;
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                same = same && a->mesh.positions[v[c]][k] == a->mesh.positions[w[(turn + 3 - c) % 3]][k];
        if (same) return true;
    }
    return false;
}

HELPER exact_contacts find_exact_contacts(const assembly *a, double tolerance)
{
    size_t n = a->piece_count;
    exact_contacts c = {
        calloc(n * n, sizeof(double)), calloc(n * n, sizeof(bool)), calloc(n * n, sizeof(double)), 0};
    exact_work *w = malloc(sizeof *w);
    exact_visit(w, mpq_init);
    for (size_t s = 0; s < a->mesh.triangle_count; s++)
        for (size_t t = s + 1; t < a->mesh.triangle_count; t++) {
            if (a->piece[s] == a->piece[t] || surely_apart(a, s, t, tolerance)) continue;
            size_t p = (size_t)a->piece[s], q = (size_t)a->piece[t], at = p < q ? p * n + q : q * n + p;
            double wide, area = exact_overlap(w, a->mesh.positions, a->mesh.triangles[s],
                             a->mesh.triangles[t], tolerance, &wide);
            c.tested++;
            c.area[at] += area;
            c.wide[at] = fmax(c.wide[at], wide);
            if (area > 0 && equal_and_opposite(a, s, t)) c.equal[at] = true;
        }
    exact_visit(w, mpq_clear);
    free(w);
    return c;
}

#endif
