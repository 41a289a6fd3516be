#ifndef RUBBLE_TESTS_GEOMETRY_REPAIR_HELP_H
#define RUBBLE_TESTS_GEOMETRY_REPAIR_HELP_H

/// Meshes made by hand for the repair, and what must hold for every result.

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/repair.h"
#include "tests/check.h"

#define HELPER static inline __attribute__((unused))

/* Soups */

enum { LEFT = 1, RIGHT = 2, FRONT = 4, BACK = 8, BOTTOM = 16, TOP = 32, ALL = 63 };

typedef struct soup {
    double positions[20000][3];
    int32_t triangles[20000][3], node[20000];
    size_t vertex_count, triangle_count;
    int32_t current_node;
} soup;

HELPER soup *make_soup(void)
{
    soup *s = calloc(1, sizeof *s);
    assert_non_null(s);
    return s;
}

HELPER int32_t add_vertex(soup *s, double x, double y, double z)
{
    double *p = s->positions[s->vertex_count];
    p[0] = x;
    p[1] = y;
    p[2] = z;
    return (int32_t)s->vertex_count++;
}

HELPER void add_triangle(soup *s, int32_t a, int32_t b, int32_t c)
{
    int32_t *t = s->triangles[s->triangle_count];
    t[0] = a;
    t[1] = b;
    t[2] = c;
    s->node[s->triangle_count++] = s->current_node;
}

HELPER void add_quad(soup *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
    add_triangle(s, a, b, c);
    add_triangle(s, a, c, d);
}

/// The chosen sides of a box, outward; returns its first vertex (bit 0: x, bit 1: y, bit 2: z).
HELPER int32_t add_sides(soup *s, const double min[3], const double max[3], int sides)
{
    int32_t v = (int32_t)s->vertex_count;
    for (int i = 0; i < 8; i++)
        add_vertex(s, i & 1 ? max[0] : min[0], i & 2 ? max[1] : min[1], i & 4 ? max[2] : min[2]);
    if (sides & LEFT) add_quad(s, v + 0, v + 4, v + 6, v + 2);
    if (sides & RIGHT) add_quad(s, v + 1, v + 3, v + 7, v + 5);
    if (sides & FRONT) add_quad(s, v + 0, v + 1, v + 5, v + 4);
    if (sides & BACK) add_quad(s, v + 2, v + 6, v + 7, v + 3);
    if (sides & BOTTOM) add_quad(s, v + 0, v + 2, v + 3, v + 1);
    if (sides & TOP) add_quad(s, v + 4, v + 5, v + 7, v + 6);
    return v;
}

HELPER int32_t add_box(soup *s, double x0, double y0, double z0, double x1, double y1, double z1)
{
    return add_sides(s, (double[]){x0, y0, z0}, (double[]){x1, y1, z1}, ALL);
}

HELPER void turn_triangle(soup *s, size_t t)
{
    int32_t swap = s->triangles[t][1];
    s->triangles[t][1] = s->triangles[t][2];
    s->triangles[t][2] = swap;
}

HELPER void turn_from(soup *s, size_t first)
{
    for (size_t t = first; t < s->triangle_count; t++)
        turn_triangle(s, t);
}

HELPER void remove_triangle(soup *s, size_t t)
{
    s->triangle_count--;
    memcpy(s->triangles[t], s->triangles[s->triangle_count], sizeof s->triangles[t]);
    s->node[t] = s->node[s->triangle_count];
}

/// Every corner gets a vertex of its own.
HELPER void unshare(soup *s)
{
    for (size_t t = 0; t < s->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const double *p = s->positions[s->triangles[t][k]];
            s->triangles[t][k] = add_vertex(s, p[0], p[1], p[2]);
        }
}

HELPER void shuffle(soup *s, rbli_rng *rng)
{
    for (size_t i = s->triangle_count; i-- > 1;) {
        size_t j = rbli_rng_below(rng, (uint32_t)i + 1);
        int32_t t[3], node = s->node[i];
        memcpy(t, s->triangles[i], sizeof t);
        memcpy(s->triangles[i], s->triangles[j], sizeof t);
        memcpy(s->triangles[j], t, sizeof t);
        s->node[i] = s->node[j];
        s->node[j] = node;
    }
}

HELPER void add_torus(soup *s, int n, int m)
{
    int32_t v = (int32_t)s->vertex_count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double u = 2 * 3.14159265358979 * i / n, w = 2 * 3.14159265358979 * j / m, r = 1 + 0.375 * cos(w);
            add_vertex(s, r * cos(u), r * sin(u), 0.375 * sin(w));
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int32_t i2 = (i + 1) % n, j2 = (j + 1) % m;
            add_quad(s, v + i * m + j, v + i2 * m + j, v + i2 * m + j2, v + i * m + j2);
        }
}

/* Checks */

HELPER rbli_mesh_view view_of(const soup *s)
{
    return (rbli_mesh_view){s->positions, s->vertex_count, s->triangles, s->triangle_count};
}

HELPER rbli_repair_result *repair_with(rbl_context *ctx, const soup *s, const rbli_repair_options *options)
{
    rbli_mesh_view view = view_of(s);
    rbli_repair_result *result = NULL;
    assert_ok(ctx, rbli_repair(ctx, &view, s->node, options, &result));
    return result;
}

HELPER int compare_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/// Each directed edge of solids and cavities occurs once and its reverse, too.
HELPER void check_closed(const rbli_repair_result *r)
{
    size_t count = 0;
    uint64_t *there = malloc(r->triangle_count * 3 * sizeof *there + 8);
    uint64_t *back = malloc(r->triangle_count * 3 * sizeof *back + 8);
    for (size_t s = 0; s < r->shell_count; s++) {
        if (r->shells[s].kind > RBLI_SHELL_CAVITY) continue;
        for (int32_t i = 0; i < 3 * r->shells[s].triangle_count; i++) {
            const int32_t *t = r->triangles[r->shells[s].triangle_start + i / 3];
            uint64_t a = (uint64_t)t[i % 3], b = (uint64_t)t[(i + 1) % 3];
            there[count] = a << 32 | b;
            back[count++] = b << 32 | a;
        }
    }
    qsort(there, count, sizeof *there, compare_u64);
    qsort(back, count, sizeof *back, compare_u64);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(there[i], back[i]);
        if (i) assert_true(there[i] != there[i - 1]);
    }
    free(there);
    free(back);
}

HELPER void check_shells(const rbli_repair_result *r)
{
    int32_t start = 0;
    for (size_t s = 0; s < r->shell_count; s++) {
        const rbli_shell *shell = &r->shells[s];
        assert_int_equal(shell->triangle_start, start);
        start += shell->triangle_count;
        if (shell->kind == RBLI_SHELL_SOLID) assert_true(shell->volume > 0);
        if (shell->kind == RBLI_SHELL_CAVITY) assert_true(shell->volume < 0 && shell->parent >= 0);
        if (shell->kind > RBLI_SHELL_CAVITY) assert_non_null(shell->why);
        if (shell->parent >= 0) assert_true((size_t)shell->parent < r->shell_count);
    }
    assert_int_equal(start, r->triangle_count);
    for (size_t h = 0; h < r->hole_count; h++)
        assert_true(r->holes[h].shell >= 0 && (size_t)r->holes[h].shell < r->shell_count);
    for (size_t v = 1; v < r->vertex_count; v++) {
        const double *p = r->positions[v - 1], *q = r->positions[v];
        assert_true(p[0] < q[0] || (p[0] == q[0] && (p[1] < q[1] || (p[1] == q[1] && p[2] <= q[2]))));
    }
}

/// Corners lie where their origins say, within the stitching tolerance.
HELPER void check_origins(const soup *s, const rbli_repair_result *r, double tolerance)
{
    for (size_t t = 0; t < r->triangle_count; t++) {
        int32_t source = r->origins.source[t], row = r->origins.weights_index[t];
        if (source < 0) {
            assert_true((size_t)(-1 - source) < r->hole_count);
            assert_true(r->holes[-1 - source].filled);
            continue;
        }
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                double sum = 0;
                for (int j = 0; j < 3; j++)
                    sum += (row < 0 ? c == j : r->origins.weights[row][c][j]) *
                           s->positions[s->triangles[source][j]][k];
                assert_close(sum, r->positions[r->triangles[t][c]][k], tolerance);
            }
    }
}

HELPER void check_same(const rbli_repair_result *a, const rbli_repair_result *b)
{
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_int_equal(a->shell_count, b->shell_count);
    if (a->vertex_count)
        assert_memory_equal(a->positions, b->positions, a->vertex_count * sizeof *a->positions);
    if (a->triangle_count)
        assert_memory_equal(a->triangles, b->triangles, a->triangle_count * sizeof *a->triangles);
    for (size_t s = 0; s < a->shell_count; s++) {
        assert_int_equal(a->shells[s].kind, b->shells[s].kind);
        assert_int_equal(a->shells[s].triangle_count, b->shells[s].triangle_count);
        assert_int_equal(a->shells[s].parent, b->shells[s].parent);
        assert_int_equal(a->shells[s].overlaps_other, b->shells[s].overlaps_other);
        assert_int_equal(a->shells[s].self_crossings, b->shells[s].self_crossings);
        assert_true(a->shells[s].volume == b->shells[s].volume);
        assert_true(a->shells[s].why == b->shells[s].why);
    }
}

/// Repairs with all that must hold for any mesh: closed, origins, any order of triangles, repairing twice.
HELPER rbli_repair_result *repair_and_check(
    rbl_context *ctx, const soup *s, const rbli_repair_options *options)
{
    rbli_repair_result *result = repair_with(ctx, s, options), *other = NULL;
    check_closed(result);
    check_shells(result);
    check_origins(s, result, 1e-5);

    soup *copy = malloc(sizeof *copy);
    memcpy(copy, s, sizeof *copy);
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, s->triangle_count);
    shuffle(copy, &rng);
    other = repair_with(ctx, copy, options);
    check_same(result, other);
    rbli_repair_result_destroy(ctx, other);
    free(copy);

    rbli_mesh_view view = {(const double(*)[3])result->positions, result->vertex_count,
        (const int32_t(*)[3])result->triangles, result->triangle_count};
    assert_ok(ctx, rbli_repair(ctx, &view, result->triangle_node, options, &other));
    check_same(result, other);
    rbli_repair_result_destroy(ctx, other);
    return result;
}

HELPER int count_kind(const rbli_repair_result *r, rbli_shell_kind kind)
{
    int count = 0;
    for (size_t s = 0; s < r->shell_count; s++)
        count += r->shells[s].kind == kind;
    return count;
}

HELPER double volume_of(const rbli_repair_result *r)
{
    double volume = 0;
    for (size_t s = 0; s < r->shell_count; s++)
        volume += r->shells[s].volume;
    return volume;
}

HELPER int count_overlaps(const rbli_repair_result *r)
{
    int count = 0;
    for (size_t s = 0; s < r->shell_count; s++)
        count += r->shells[s].overlaps_other;
    return count;
}

/// Solids, cavities, sheets, dropped ones, and the sum of volumes.
HELPER void expect(
    rbl_context *ctx, rbli_repair_result *r, int solids, int cavities, int sheets, int dropped, double volume)
{
    (void)ctx;
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), solids);
    assert_int_equal(count_kind(r, RBLI_SHELL_CAVITY), cavities);
    assert_int_equal(count_kind(r, RBLI_SHELL_SHEET), sheets);
    assert_int_equal(count_kind(r, RBLI_SHELL_DROPPED), dropped);
    assert_close(volume_of(r), volume, 1e-5 * (1 + fabs(volume)));
}

#endif
