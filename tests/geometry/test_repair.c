/// Meshes with every kind of fault, made by hand, and properties of random ones.

#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/grid_orient.h"
#include "fracture/geometry/repair.h"

/* Soups */

enum { LEFT = 1, RIGHT = 2, FRONT = 4, BACK = 8, BOTTOM = 16, TOP = 32, ALL = 63 };

typedef struct soup {
    double positions[20000][3];
    int32_t triangles[20000][3], node[20000];
    size_t vertex_count, triangle_count;
    int32_t current_node;
} soup;

static soup *make_soup(void)
{
    soup *s = calloc(1, sizeof *s);
    assert_non_null(s);
    return s;
}

static int32_t add_vertex(soup *s, double x, double y, double z)
{
    double *p = s->positions[s->vertex_count];
    p[0] = x;
    p[1] = y;
    p[2] = z;
    return (int32_t)s->vertex_count++;
}

static void add_triangle(soup *s, int32_t a, int32_t b, int32_t c)
{
    int32_t *t = s->triangles[s->triangle_count];
    t[0] = a;
    t[1] = b;
    t[2] = c;
    s->node[s->triangle_count++] = s->current_node;
}

static void add_quad(soup *s, int32_t a, int32_t b, int32_t c, int32_t d)
{
    add_triangle(s, a, b, c);
    add_triangle(s, a, c, d);
}

/// The chosen sides of a box, outward; returns its first vertex (bit 0: x, bit 1: y, bit 2: z).
static int32_t add_sides(soup *s, const double min[3], const double max[3], int sides)
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

static int32_t add_box(soup *s, double x0, double y0, double z0, double x1, double y1, double z1)
{
    return add_sides(s, (double[]){x0, y0, z0}, (double[]){x1, y1, z1}, ALL);
}

static void turn_triangle(soup *s, size_t t)
{
    int32_t swap = s->triangles[t][1];
    s->triangles[t][1] = s->triangles[t][2];
    s->triangles[t][2] = swap;
}

static void turn_from(soup *s, size_t first)
{
    for (size_t t = first; t < s->triangle_count; t++)
        turn_triangle(s, t);
}

static void remove_triangle(soup *s, size_t t)
{
    s->triangle_count--;
    memcpy(s->triangles[t], s->triangles[s->triangle_count], sizeof s->triangles[t]);
    s->node[t] = s->node[s->triangle_count];
}

/// Every corner gets a vertex of its own.
static void unshare(soup *s)
{
    for (size_t t = 0; t < s->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const double *p = s->positions[s->triangles[t][k]];
            s->triangles[t][k] = add_vertex(s, p[0], p[1], p[2]);
        }
}

static void shuffle(soup *s, rbli_rng *rng)
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

static void add_torus(soup *s, int n, int m)
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

static rbli_mesh_view view_of(const soup *s)
{
    return (rbli_mesh_view){s->positions, s->vertex_count, s->triangles, s->triangle_count};
}

static rbli_repair_result *repair_with(rbl_context *ctx, const soup *s, const rbli_repair_options *options)
{
    rbli_mesh_view view = view_of(s);
    rbli_repair_result *result = NULL;
    assert_ok(ctx, rbli_repair(ctx, &view, s->node, options, &result));
    return result;
}

static int compare_u64(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/// Each directed edge of solids and cavities occurs once and its reverse, too.
static void check_closed(const rbli_repair_result *r)
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

static void check_shells(const rbli_repair_result *r)
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
static void check_origins(const soup *s, const rbli_repair_result *r, double tolerance)
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

static void check_same(const rbli_repair_result *a, const rbli_repair_result *b)
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
static rbli_repair_result *repair_and_check(
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

static int count_kind(const rbli_repair_result *r, rbli_shell_kind kind)
{
    int count = 0;
    for (size_t s = 0; s < r->shell_count; s++)
        count += r->shells[s].kind == kind;
    return count;
}

static double volume_of(const rbli_repair_result *r)
{
    double volume = 0;
    for (size_t s = 0; s < r->shell_count; s++)
        volume += r->shells[s].volume;
    return volume;
}

static int count_overlaps(const rbli_repair_result *r)
{
    int count = 0;
    for (size_t s = 0; s < r->shell_count; s++)
        count += r->shells[s].overlaps_other;
    return count;
}

/// Solids, cavities, sheets, dropped ones, and the sum of volumes.
static void expect(
    rbl_context *ctx, rbli_repair_result *r, int solids, int cavities, int sheets, int dropped, double volume)
{
    (void)ctx;
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), solids);
    assert_int_equal(count_kind(r, RBLI_SHELL_CAVITY), cavities);
    assert_int_equal(count_kind(r, RBLI_SHELL_SHEET), sheets);
    assert_int_equal(count_kind(r, RBLI_SHELL_DROPPED), dropped);
    assert_close(volume_of(r), volume, 1e-5 * (1 + fabs(volume)));
}

/* Ordinary */

static void a_clean_box_stays(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 1, 1, 1);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->triangle_count, 12);
    assert_int_equal(r->vertex_count, 8);
    assert_int_equal(r->hole_count, 0);
    assert_int_equal(r->origins.weights_count, 0);
    assert_close(r->shells[0].area, 6, 1e-12);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void corners_are_welded_and_far_strays_ignored(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, -0.0, 0, 0, 1, 1, 1);
    unshare(s);
    add_vertex(s, 1e30, 0, NAN);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->vertex_count, 8);
    assert_int_equal(r->welded_vertices, 28);
    assert_int_equal(r->stitched_vertices, 0);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    rbli_repair_result *r = NULL;
    rbli_mesh_view view = view_of(s);
    assert_ok(ctx, rbli_repair(ctx, &view, NULL, NULL, &r));
    assert_int_equal(r->shell_count, 0);
    rbli_repair_result_destroy(ctx, r);
    r = NULL;

    add_box(s, 0, 0, 0, 1, 1, 1);
    s->positions[4][1] = INFINITY;
    view = view_of(s);
    assert_int_equal(rbli_repair(ctx, &view, s->node, NULL, &r), RBL_ERR_ARGUMENT);
    assert_null(r);
    assert_string_equal(rbli_messages_get(ctx->messages, 0)->text, "vertex 4 is not finite");
    s->positions[4][1] = 0;
    s->triangles[3][2] = 8;
    assert_int_equal(rbli_repair(ctx, &view, s->node, NULL, &r), RBL_ERR_ARGUMENT);
    assert_string_equal(rbli_messages_get(ctx->messages, 1)->text, "triangle 3 has no vertex 8");
    free(s);
    finish_context(ctx);
}

/* Holes */

static void a_missing_lid_is_filled(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - TOP);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->hole_count, 1);
    assert_int_equal(r->holes[0].edge_count, 4);
    assert_close(r->holes[0].length, 4, 1e-12);
    assert_close(r->holes[0].center[2], 1, 1e-12);
    assert_int_equal(r->shells[0].filled_loop_count, 1);
    assert_close(r->shells[0].filled_area, 1, 1e-12);
    rbli_repair_result_destroy(ctx, r);

    rbli_repair_options options = rbli_repair_default_options();
    options.fill = RBLI_FILL_NONE;
    r = repair_and_check(ctx, s, &options);
    expect(ctx, r, 0, 0, 1, 0, 0);
    assert_int_equal(r->hole_count, 1);
    assert_false(r->holes[0].filled);
    assert_string_equal(r->shells[0].why, "it is open");
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void planar_fill_leaves_bent_holes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - TOP - RIGHT);
    rbli_repair_options options = rbli_repair_default_options();
    options.fill = RBLI_FILL_PLANAR;
    rbli_repair_result *r = repair_and_check(ctx, s, &options);
    expect(ctx, r, 0, 0, 1, 0, 0);
    rbli_repair_result_destroy(ctx, r);
    r = repair_and_check(ctx, s, NULL);
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/// A square pipe without its upper end: the hole is a ring.
static void a_ring_is_filled_as_a_ring(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t o = add_sides(s, (double[]){0, 0, 0}, (double[]){3, 3, 2}, LEFT | RIGHT | FRONT | BACK);
    size_t first = s->triangle_count;
    int32_t i = add_sides(s, (double[]){1, 1, 0}, (double[]){2, 2, 2}, LEFT | RIGHT | FRONT | BACK);
    turn_from(s, first);
    static const int around[4] = {0, 2, 3, 1};
    for (int k = 0; k < 4; k++) {
        int a = around[k], b = around[(k + 1) % 4];
        add_quad(s, o + a, o + b, i + b, i + a);
    }
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 16);
    assert_int_equal(r->hole_count, 2);
    assert_close(r->shells[0].filled_area, 8, 1e-9);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void flat_and_pocket_fills_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_quad(
        s, add_vertex(s, 0, 0, 0), add_vertex(s, 1, 0, 0), add_vertex(s, 1, 1, 0), add_vertex(s, 0, 1, 0));
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 0, 0, 1, 0, 0);
    assert_string_equal(r->shells[0].why, "filling refused: it would be flat");
    rbli_repair_result_destroy(ctx, r);

    /* A pocket beside a larger solid: its filled volume is negative. */
    memset(s, 0, sizeof *s);
    add_box(s, 0, 0, 0, 4, 4, 4);
    size_t first = s->triangle_count;
    add_sides(s, (double[]){10, 0, 0}, (double[]){11, 1, 1}, ALL - TOP);
    turn_from(s, first);
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 1, 0, 64);
    assert_string_equal(r->shells[1].why, "filling refused: it would be inside out");
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/// Two sides of a box are a bent sheet: a bent fill would be larger than they are. Four sides are a box.
static void a_bent_fill_is_not_most_of_what_is_there(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, BOTTOM | LEFT);
    rbli_repair_options options = rbli_repair_default_options();
    rbli_repair_result *r = repair_and_check(ctx, s, &options);
    expect(ctx, r, 0, 0, 1, 0, 0);
    assert_string_equal(r->shells[0].why, "filling refused: most of it would be new");
    rbli_repair_result_destroy(ctx, r);
    options.fill = RBLI_FILL_ALL;
    r = repair_and_check(ctx, s, &options);
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
    rbli_repair_result_destroy(ctx, r);
    memset(s, 0, sizeof *s);
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, BOTTOM | LEFT | FRONT | BACK);
    r = repair_and_check(ctx, s, NULL);
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void a_wide_rim_is_filled_with_a_fan(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    enum { N = 200 };
    int32_t apex = add_vertex(s, 0, 0, -1);
    for (int i = 0; i < N; i++) {
        double u = 2 * 3.14159265358979 * i / N;
        add_vertex(s, cos(u), sin(u), 0.2 * cos(3 * u)); /* not planar, more than 160 edges */
    }
    for (int i = 0; i < N; i++)
        add_triangle(s, apex, apex + 1 + (i + 1) % N, apex + 1 + i);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
    assert_int_equal(r->triangle_count, 2 * N);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/* Duplicates, fins, walls */

static void sheets_of_two_sides_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_quad(
        s, add_vertex(s, 0, 0, 0), add_vertex(s, 1, 0, 0), add_vertex(s, 1, 1, 0), add_vertex(s, 0, 1, 0));
    add_triangle(s, 0, 2, 1);
    add_triangle(s, 0, 3, 2);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 0, 0, 0, 1, 0);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void copies_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 1, 1, 1);
    add_triangle(s, s->triangles[4][1], s->triangles[4][2], s->triangles[4][0]);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_duplicates, 1);
    rbli_repair_result_destroy(ctx, r);

    memset(s, 0, sizeof *s);
    add_box(s, 0, 0, 0, 1, 1, 1);
    add_box(s, 0, 0, 0, 1, 1, 1);
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_duplicates, 12);
    rbli_repair_result_destroy(ctx, r);

    turn_from(s, 12);
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_opposite, 12);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/// A double-sided lid on an open box: one side closes it.
static void a_lid_of_two_sides_keeps_one(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 1, 1, 1);
    size_t first = s->triangle_count;
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, TOP);
    turn_from(s, first);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_opposite, 2);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void fins_come_off(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t v = add_box(s, 0, 0, 0, 1, 1, 1);
    int32_t tip = add_vertex(s, 0.5, 1.5, 1);
    add_triangle(s, v + 6, v + 7, tip);
    add_triangle(s, v + 7, v + 6, tip);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 1, 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void inner_walls_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int turned = 0; turned < 2; turned++) {
        soup *s = make_soup();
        add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - RIGHT);
        add_sides(s, (double[]){1, 0, 0}, (double[]){2, 1, 1}, ALL - LEFT);
        size_t first = s->triangle_count;
        add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, RIGHT);
        if (turned) turn_from(s, first);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        expect(ctx, r, 1, 0, 0, 0, 2);
        assert_int_equal(r->membrane_triangles, 2);
        assert_int_equal(r->nonmanifold_edges, 4);
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

static void several_inner_walls_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    for (int i = 0; i < 5; i++) {
        int sides = FRONT | BACK | BOTTOM | TOP | RIGHT | (i == 0 ? LEFT : 0);
        add_sides(s, (double[]){i, 0, 0}, (double[]){i + 1, 1, 1}, sides);
    }
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 5);
    assert_int_equal(r->membrane_triangles, 8);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/* Triangles without area, T-junctions, cracks */

static void a_bridge_without_area_stays(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t v = add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - TOP);
    int32_t m = add_vertex(s, 0.5, 0, 1);
    add_triangle(s, v + 4, m, v + 6);
    add_triangle(s, m, v + 5, v + 7);
    add_triangle(s, m, v + 7, v + 6);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL); /* as a T-junction */
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->split_edges, 1);
    assert_int_equal(r->triangle_count, 14);
    rbli_repair_result_destroy(ctx, r);

    add_triangle(s, v + 4, v + 5, m); /* and with the bridge */
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->split_edges, 0);
    assert_int_equal(r->dropped_zero_area, 0);
    assert_int_equal(r->shells[0].self_crossings, 0);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void harmless_triangles_without_area_go(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t v = add_box(s, 0, 0, 0, 1, 1, 1);
    add_triangle(s, v, v, v + 1);
    add_triangle(s, add_vertex(s, 3, 0, 0), add_vertex(s, 3, 1, 0), add_vertex(s, 3, 2, 0));
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->dropped_repeated, 1);
    assert_int_equal(r->dropped_zero_area, 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void cracks_below_the_tolerance_close(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        soup *s = make_soup();
        rbli_rng rng = rbli_rng_make(11, RBLI_RNG_TEST, seed);
        if (seed % 2) {
            add_torus(s, 12, 8);
        } else {
            add_box(s, 0, 0, 0, 1, 2, 1);
        }
        unshare(s);
        for (size_t v = 0; v < s->vertex_count; v++)
            for (int k = 0; k < 3; k++)
                s->positions[v][k] += 4e-7 * (rbli_rng_double(&rng) - 0.5);
        shuffle(s, &rng);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), 1);
        assert_int_equal(r->shell_count, 1);
        assert_int_equal(r->hole_count, 0);
        assert_int_equal(r->triangle_count, s->triangle_count);
        assert_true(r->largest_move > 0 && r->largest_move < 1e-6 * 4);
        rbli_repair_result_destroy(ctx, r);

        rbli_repair_options options = rbli_repair_default_options();
        options.stitch = 0;
        r = repair_and_check(ctx, s, &options);
        assert_int_equal(r->shell_count, s->triangle_count);
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

/// Random triangles of a torus are cut in two along one edge only, and some vertices are split: the closed
/// mesh and its volume come back.
static void t_junctions_close(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        soup *s = make_soup(), *original = make_soup();
        rbli_rng rng = rbli_rng_make(12, RBLI_RNG_TEST, seed);
        add_torus(original, 14, 9);
        add_torus(s, 14, 9);
        size_t count = s->triangle_count;
        for (size_t t = 0; t < count; t += 1 + rbli_rng_below(&rng, 4)) {
            int k = (int)rbli_rng_below(&rng, 3);
            int32_t a = s->triangles[t][k], b = s->triangles[t][(k + 1) % 3],
                    c = s->triangles[t][(k + 2) % 3];
            const double *p = s->positions[a], *q = s->positions[b];
            int parts = 2 + (int)rbli_rng_below(&rng, 3);
            int32_t last = a;
            for (int i = 1; i <= parts; i++) {
                double w = (i - 0.4 * rbli_rng_double(&rng)) / parts; /* both sides may have vertices here */
                int32_t next = i == parts ? b
                                          : add_vertex(s, p[0] + w * (q[0] - p[0]), p[1] + w * (q[1] - p[1]),
                                                p[2] + w * (q[2] - p[2]));
                if (i == 1) {
                    s->triangles[t][(k + 1) % 3] = next;
                } else {
                    add_triangle(s, last, next, c);
                }
                last = next;
            }
        }
        if (seed % 2) unshare(s);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL), *o = repair_and_check(ctx, original, NULL);
        expect(ctx, r, 1, 0, 0, 0, volume_of(o));
        assert_int_equal(r->hole_count, 0);
        assert_true(r->split_edges > 0);
        rbli_repair_result_destroy(ctx, r);
        rbli_repair_result_destroy(ctx, o);
        free(s);
        free(original);
    }
    finish_context(ctx);
}

/* Orientation */

static void turned_triangles_and_parts_are_turned_back(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 1, 1, 1);
    turn_triangle(s, 3);
    turn_triangle(s, 8);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->flipped_triangles, 2);
    assert_int_equal(r->origins.weights_count, 2);
    rbli_repair_result_destroy(ctx, r);

    memset(s, 0, sizeof *s);
    add_box(s, 0, 0, 0, 1, 1, 1);
    add_box(s, 2, 0, 0, 3, 1, 1);
    turn_from(s, 12);
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 2, 0, 0, 0, 2);
    assert_int_equal(r->shells[0].flipped + r->shells[1].flipped, 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void a_file_that_is_inside_out_is_turned(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 3, 3, 3);
    size_t first = s->triangle_count;
    add_box(s, 1, 1, 1, 2, 2, 2);
    turn_from(s, first);
    turn_from(s, 0); /* the whole: a cavity in a solid, inside out */
    add_sides(s, (double[]){9, 0, 0}, (double[]){10, 1, 1}, ALL - TOP);
    turn_from(s, 24);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 2, 1, 0, 0, 27 - 1 + 1);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void a_moebius_strip_is_a_sheet(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    enum { N = 24 };
    for (int i = 0; i < N; i++) {
        double u = 2 * 3.14159265358979 * i / N, c = 0.3 * cos(u / 2), d = 0.3 * sin(u / 2);
        add_vertex(s, (1 + c) * cos(u), (1 + c) * sin(u), d);
        add_vertex(s, (1 - c) * cos(u), (1 - c) * sin(u), -d);
    }
    for (int i = 0; i < N; i++) {
        int32_t a = 2 * i, b = 2 * i + 1, c = 2 * (i + 1), d = c + 1;
        if (i == N - 1) {
            c = 1;
            d = 0;
        }
        add_quad(s, a, b, d, c);
    }
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 0, 0, 1, 0, 0);
    assert_string_equal(r->shells[0].why, "it has no inside and outside: it is not orientable");
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/* Several shells */

static void cavities_and_nested_solids(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 9, 9, 9);
    add_box(s, 1, 1, 1, 8, 8, 8);
    turn_from(s, 12);
    add_box(s, 2, 2, 2, 7, 7, 7);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL); /* a solid in a cavity is a solid of its own */
    expect(ctx, r, 2, 1, 0, 0, 729 - 343 + 125);
    assert_int_equal(count_overlaps(r), 0);
    rbli_repair_result_destroy(ctx, r);

    add_box(s, 3, 3, 3, 4, 4, 4);
    r = repair_and_check(ctx, s, NULL); /* an outward shell in a solid is swallowed */
    expect(ctx, r, 3, 1, 0, 0, 729 - 343 + 125 + 1);
    assert_int_equal(count_overlaps(r), 1);
    for (size_t i = 0; i < r->shell_count; i++)
        if (r->shells[i].overlaps_other) {
            assert_close(r->shells[i].volume, 1, 1e-12);
            assert_close(r->shells[r->shells[i].parent].volume, 125, 1e-12);
        }
    rbli_repair_result_destroy(ctx, r);

    rbli_repair_options options = rbli_repair_default_options();
    options.nested_cavity = true;
    r = repair_with(ctx, s, &options);
    check_closed(r);
    expect(ctx, r, 2, 2, 0, 0, 729 - 343 + 125 - 1);
    assert_int_equal(count_overlaps(r), 0);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void touching_is_not_overlapping(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const double places[][3] = {
        {1, 1, 1}, {1, 1, 0}, {1, 0, 0}, {1, 0.5, 0.25}, {1, 0.5, 0}, {0.5, 0.5, 1}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const double *p = places[i];
        soup *s = make_soup();
        add_box(s, 0, 0, 0, 1, 1, 1);
        add_box(s, p[0], p[1], p[2], p[0] + 1, p[1] + 1, p[2] + 1);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        expect(ctx, r, 2, 0, 0, 0, 2);
        assert_int_equal(count_overlaps(r), 0);
        assert_int_equal(r->vertex_count, 16);
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

static void overlaps_are_told_also_with_coplanar_faces(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const double boxes[][6] = {
        {0.5, 0.5, 0.5, 1.5, 1.5, 1.5},     /* a corner */
        {0.5, 0, 0, 1.5, 1, 1},             /* four coplanar sides */
        {0.5, 0.25, 0.25, 1.5, 0.75, 0.75}, /* a peg */
        {0.25, 0.25, -1, 0.75, 0.75, 2},    /* a rod through */
        {0, 0, 0.5, 1, 1, 0.75},            /* inside, four coplanar sides: swallowed */
        {0, 0, 0, 0.5, 0.5, 0.5},           /* inside in a corner */
    };
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        const double *b = boxes[i];
        soup *s = make_soup();
        add_box(s, 0, 0, 0, 1, 1, 1);
        add_box(s, b[0], b[1], b[2], b[3], b[4], b[5]);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        assert_true(count_overlaps(r) >= 1);
        if (i < 4) assert_int_equal(count_overlaps(r), 2);
        rbli_repair_result_destroy(ctx, r);
        for (size_t t = 12; t < s->triangle_count; t++) /* shells of different nodes never overlap */
            s->node[t] = 3;
        r = repair_and_check(ctx, s, NULL);
        assert_int_equal(count_overlaps(r), 0);
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

/// A box whose lid is in another node is one shell, and the two nodes are one unit.
static void shells_may_span_nodes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    s->current_node = 5;
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, ALL - TOP);
    s->current_node = 2;
    add_sides(s, (double[]){0, 0, 0}, (double[]){1, 1, 1}, TOP);
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1);
    assert_int_equal(r->hole_count, 0);
    rbli_repair_result_destroy(ctx, r);

    add_box(s, 0.5, 0.5, 0.5, 2, 2, 2);
    r = repair_and_check(ctx, s, NULL);
    assert_int_equal(count_overlaps(r), 2);
    rbli_repair_result_destroy(ctx, r);

    /* Equal boxes in two nodes are two solids. */
    memset(s, 0, sizeof *s);
    add_box(s, 0, 0, 0, 1, 1, 1);
    s->current_node = 1;
    add_box(s, 0, 0, 0, 1, 1, 1);
    r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 2, 0, 0, 0, 2);
    assert_int_equal(r->dropped_duplicates, 0);
    assert_int_equal(r->vertex_count, 16);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

static void crossings_inside_a_shell_are_counted(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    soup *s = make_soup();
    int32_t v = add_box(s, 0, 0, 0, 1, 1, 1);
    for (int i = 4; i < 8; i++) /* the top is turned by half a turn */
        for (int k = 0; k < 2; k++)
            s->positions[v + i][k] = 1 - s->positions[v + i][k];
    rbli_repair_result *r = repair_and_check(ctx, s, NULL);
    expect(ctx, r, 1, 0, 0, 0, 1.0 / 3);
    assert_true(r->shells[0].self_crossings > 0);
    rbli_repair_result_destroy(ctx, r);
    free(s);
    finish_context(ctx);
}

/* Smooth surfaces, most of whose triangles are never compared */

static int plane_side(const double (*p)[3], const int32_t v[3], int32_t w)
{
    return rbli_grid_orient3d(p[v[0]], p[v[1]], p[v[2]], p[w]);
}

/// An edge of `b` through `a`; nothing is in special position.
static bool pierces(const double (*p)[3], const int32_t a[3], const int32_t b[3])
{
    for (int k = 0; k < 3; k++) {
        int32_t from = b[k], to = b[(k + 1) % 3];
        if (plane_side(p, a, from) == plane_side(p, a, to)) continue;
        int turns = 0;
        for (int i = 0; i < 3; i++)
            turns += rbli_grid_orient3d(p[a[i]], p[a[(i + 1) % 3]], p[from], p[to]);
        if (turns == 3 || turns == -3) return true;
    }
    return false;
}

static int32_t count_crossings(const rbli_repair_result *r)
{
    int32_t count = 0;
    const double(*p)[3] = (const double(*)[3])r->positions;
    for (size_t t = 0; t < r->triangle_count; t++)
        for (size_t u = t + 1; u < r->triangle_count; u++) {
            const int32_t *a = r->triangles[t], *b = r->triangles[u];
            bool apart = false;
            for (int k = 0; k < 3 && !apart; k++) {
                double low = fmin(p[a[0]][k], fmin(p[a[1]][k], p[a[2]][k]));
                double high = fmax(p[a[0]][k], fmax(p[a[1]][k], p[a[2]][k]));
                apart = (p[b[0]][k] < low && p[b[1]][k] < low && p[b[2]][k] < low) ||
                        (p[b[0]][k] > high && p[b[1]][k] > high && p[b[2]][k] > high);
            }
            for (int k = 0; k < 9 && !apart; k++)
                apart = a[k / 3] == b[k % 3];
            count += !apart && (pierces(p, a, b) || pierces(p, b, a));
        }
    return count;
}

/// A tube of radius `tube` around a circle of radius 1, on whole numbers, which grids of any step keep.
static void add_tube(soup *s, int n, int m, double tube, rbli_rng *rng)
{
    double a = 6 * rbli_rng_double(rng), b = 6 * rbli_rng_double(rng);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double u = 6.28318530717958 * i / n, w = 6.28318530717958 * j / m, r = 1 + tube * cos(w);
            double x = r * cos(u), y = r * sin(u), z = tube * sin(w) + 0.1 * sin(3 * u);
            double q = cos(a) * x - sin(a) * y, t = sin(a) * x + cos(a) * y;
            add_vertex(s, rint(0x1p30 * q), rint(0x1p30 * (cos(b) * t - sin(b) * z)),
                rint(0x1p30 * (sin(b) * t + cos(b) * z)));
            add_quad(s, i * m + j, (i + 1) % n * m + j, (i + 1) % n * m + (j + 1) % m, i * m + (j + 1) % m);
        }
}

static void smooth_surfaces_have_the_crossings_that_all_pairs_have(void **state)
{
    (void)state;
    static const double tubes[] = {0.3, 0.9, 0.99, 1.02, 1.3, 2};
    for (size_t i = 0; i < sizeof tubes / sizeof *tubes; i++) {
        rbli_rng rng = rbli_rng_make(31, RBLI_RNG_TEST, i);
        rbl_context *ctx = make_context(i % 2 ? 3 : 1);
        soup *s = make_soup();
        add_tube(s, 41 + (int)i, 40, tubes[i], &rng);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        assert_int_equal(r->shell_count, 1);
        assert_int_equal(r->shells[0].self_crossings, count_crossings(r));
        assert_int_equal(r->shells[0].self_crossings > 0, tubes[i] > 1);
        rbli_repair_result_destroy(ctx, r);
        free(s);
        finish_context(ctx);
    }
}

/* Random voxels: every non-manifold edge and vertex there is, and volumes are known. */

static bool voxel_at(const bool *voxels, int n, int x, int y, int z)
{
    return x >= 0 && y >= 0 && z >= 0 && x < n && y < n && z < n && voxels[(z * n + y) * n + x];
}

static size_t add_voxels(soup *s, rbli_rng *rng, int n, bool walls, bool *voxels)
{
    static const int step[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    static const int side[6] = {LEFT, RIGHT, FRONT, BACK, BOTTOM, TOP};
    size_t filled = 0;
    for (int i = 0; i < n * n * n; i++)
        filled += voxels[i] = rbli_rng_below(rng, 2);
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                int sides = 0;
                if (!voxel_at(voxels, n, x, y, z)) continue;
                for (int d = 0; d < 6; d++)
                    if (walls || !voxel_at(voxels, n, x + step[d][0], y + step[d][1], z + step[d][2]))
                        sides |= side[d];
                add_sides(s, (double[]){x, y, z}, (double[]){x + 1, y + 1, z + 1}, sides);
            }
    return filled;
}

static void voxels_become_manifold(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    for (uint64_t seed = 0; seed < 60; seed++) {
        soup *s = make_soup();
        bool voxels[64];
        rbli_rng rng = rbli_rng_make(13, RBLI_RNG_TEST, seed);
        size_t filled = add_voxels(s, &rng, 2 + (int)(seed % 3), seed % 2, voxels);
        print_message("voxels: seed %u, %zu filled\n", (unsigned)seed, filled);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        assert_int_equal(count_kind(r, RBLI_SHELL_SHEET), 0);
        assert_int_equal(r->hole_count, 0);
        assert_int_equal(count_overlaps(r), 0);
        assert_close(volume_of(r), (double)filled, 1e-9);
        if (seed % 2)
            assert_int_equal(count_kind(r, RBLI_SHELL_SOLID), filled); /* touching solids keep walls */
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

/* Random faults: whatever the mesh, what comes out is closed and the same for any order. */

static void any_soup_gives_closed_shells(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint64_t seed = 0; seed < 150; seed++) {
        soup *s = make_soup();
        rbli_rng rng = rbli_rng_make(14, RBLI_RNG_TEST, seed);
        print_message("soup: seed %u\n", (unsigned)seed);
        int boxes = 1 + (int)rbli_rng_below(&rng, 5);
        for (int i = 0; i < boxes; i++) {
            double p[6];
            for (int k = 0; k < 3; k++) {
                p[k] = rbli_rng_below(&rng, 4);
                p[k + 3] = p[k] + 1 + rbli_rng_below(&rng, 3);
            }
            size_t first = s->triangle_count;
            s->current_node = (int32_t)rbli_rng_below(&rng, 2) * 7 - 3;
            add_sides(s, p, p + 3, rbli_rng_below(&rng, 3) ? ALL : (int)rbli_rng_below(&rng, 64));
            if (rbli_rng_below(&rng, 4) == 0) turn_from(s, first);
        }
        for (int i = (int)rbli_rng_below(&rng, 6); i > 0 && s->triangle_count > 2; i--) {
            size_t t = rbli_rng_below(&rng, (uint32_t)s->triangle_count);
            switch (rbli_rng_below(&rng, 4)) {
            case 0:
                remove_triangle(s, t);
                break;
            case 1:
                turn_triangle(s, t);
                break;
            case 2:
                add_triangle(s, s->triangles[t][0], s->triangles[t][1], s->triangles[t][2]);
                break;
            default:
                add_triangle(s, s->triangles[t][0], s->triangles[t][2],
                    (int32_t)rbli_rng_below(&rng, (uint32_t)s->vertex_count));
            }
        }
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

/// The generalised winding number (Jacobson, Kavan and Sorkine 2013): the sum of solid angles over 4 pi.
static double solid_angles(
    const double (*positions)[3], const int32_t (*triangles)[3], size_t count, const double point[3])
{
    double sum = 0;
    for (size_t t = 0; t < count; t++) {
        double v[3][3], length[3];
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++)
                v[c][k] = positions[triangles[t][c]][k] - point[k];
            length[c] = sqrt(v[c][0] * v[c][0] + v[c][1] * v[c][1] + v[c][2] * v[c][2]);
        }
        double det = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                     v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                     v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        double dot[3];
        for (int c = 0; c < 3; c++) {
            const double *a = v[c], *b = v[(c + 1) % 3];
            dot[c] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        }
        double below =
            length[0] * length[1] * length[2] + dot[0] * length[2] + dot[1] * length[0] + dot[2] * length[1];
        sum += 2 * atan2(det, below);
    }
    return sum / (4 * 3.14159265358979323846);
}

static void windings_of_closed_input_are_kept(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        soup *s = make_soup();
        rbli_rng rng = rbli_rng_make(15, RBLI_RNG_TEST, seed);
        for (int i = 0; i < 4; i++) {
            double p[6];
            for (int k = 0; k < 3; k++) {
                p[k] = rbli_rng_below(&rng, 4);
                p[k + 3] = p[k] + 1 + rbli_rng_below(&rng, 3);
            }
            add_box(s, p[0], p[1], p[2], p[3], p[4], p[5]);
        }
        unshare(s);
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        for (int i = 0; i < 50; i++) {
            double point[3];
            for (int k = 0; k < 3; k++)
                point[k] = 7 * rbli_rng_double(&rng);
            double before = solid_angles(s->positions, s->triangles, s->triangle_count, point);
            double after = solid_angles((const double(*)[3])r->positions, (const int32_t(*)[3])r->triangles,
                r->triangle_count, point);
            if (r->dropped_duplicates == 0) assert_close(after, before, 1e-6);
            assert_true((after > 0.5) == (before > 0.5)); /* copies count once, the solid is the same */
        }
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    finish_context(ctx);
}

/* Random integer boxes, against voxels: what is told about overlaps is true. */

static bool is_swallowed(const rbli_repair_result *r, const rbli_shell *shell)
{
    for (int32_t parent = shell->parent; parent >= 0; shell = &r->shells[parent], parent = shell->parent)
        if (shell->kind == RBLI_SHELL_SOLID && r->shells[parent].kind == RBLI_SHELL_SOLID) return true;
    return false;
}

static void overlaps_of_random_boxes_are_true(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    int clear = 0, swallowed = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        soup *s = make_soup();
        int count[6][6][6] = {{{0}}}, most = 0, filled = 0;
        rbli_rng rng = rbli_rng_make(16, RBLI_RNG_TEST, seed);
        int boxes = 2 + (int)rbli_rng_below(&rng, 3);
        for (int i = 0; i < boxes; i++) {
            int p[3], q[3];
            for (int k = 0; k < 3; k++) {
                p[k] = (int)rbli_rng_below(&rng, 4);
                q[k] = p[k] + 1 + (int)rbli_rng_below(&rng, 6 - (uint32_t)p[k] < 3 ? 6 - (uint32_t)p[k] : 3);
            }
            add_box(s, p[0], p[1], p[2], q[0], q[1], q[2]);
            for (int x = p[0]; x < q[0]; x++)
                for (int y = p[1]; y < q[1]; y++)
                    for (int z = p[2]; z < q[2]; z++)
                        count[x][y][z]++;
        }
        for (int i = 0; i < 216; i++) {
            int here = count[i / 36][i / 6 % 6][i % 6];
            filled += here > 0;
            if (here > most) most = here;
        }
        rbli_repair_result *r = repair_and_check(ctx, s, NULL);
        double volume = 0;
        bool others = false;
        for (size_t i = 0; i < r->shell_count; i++) {
            bool inside = is_swallowed(r, &r->shells[i]);
            if (!inside) volume += r->shells[i].volume;
            others |= r->shells[i].overlaps_other && !inside;
            swallowed += inside;
        }
        if (!others) assert_close(volume, filled, 1e-9);
        if (most == 1) {
            assert_int_equal(count_overlaps(r), 0);
            clear++;
        } else if (r->dropped_duplicates == 0) {
            assert_true(count_overlaps(r) > 0);
        }
        rbli_repair_result_destroy(ctx, r);
        free(s);
    }
    print_message("boxes: %d clear, %d swallowed\n", clear, swallowed);
    assert_true(clear > 20);
    finish_context(ctx);
}

static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    rbl_context *one = make_context(1), *three = make_context(3);
    soup *s = make_soup();
    add_torus(s, 70, 60);
    size_t first = s->vertex_count;
    add_torus(s, 70, 60);
    for (size_t v = first; v < s->vertex_count; v++)
        s->positions[v][0] += 0.6;
    rbli_repair_result *a = repair_with(one, s, NULL), *b = repair_with(three, s, NULL);
    expect(one, a, 2, 0, 0, 0, volume_of(b));
    assert_int_equal(count_overlaps(a), 2);
    check_same(a, b);
    rbli_repair_result_destroy(one, a);
    rbli_repair_result_destroy(three, b);
    free(s);
    finish_context(one);
    finish_context(three);
}

/* Memory */

typedef struct limited {
    size_t calls, limit;
} limited;

static void *reallocate_limited(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    limited *l = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    return l->calls++ < l->limit ? realloc(pointer, new_bytes) : NULL;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    soup *s = make_soup();
    add_box(s, 0, 0, 0, 3, 3, 3);
    add_box(s, 1, 1, 1, 2, 2, 2);
    turn_from(s, 12);
    add_box(s, 2.5, 2.5, 2.5, 4, 4, 4);
    add_sides(s, (double[]){5, 0, 0}, (double[]){6, 1, 1}, ALL - TOP);
    add_sides(s, (double[]){5, 0, 0}, (double[]){6, 1, 1}, RIGHT);
    int32_t v = add_box(s, 8, 0, 0, 9, 1, 1);
    add_triangle(s, v + 6, v + 7, add_vertex(s, 8.5, 2, 1));
    add_triangle(s, v + 7, v + 6, v + 8);
    rbli_mesh_view view = view_of(s);
    for (size_t limit = 0;; limit++) {
        limited user = {0, SIZE_MAX};
        rbli_allocator *allocator = rbli_allocator_create(reallocate_limited, &user);
        rbl_context ctx = {.allocator = allocator};
        rbli_repair_result *r = NULL;
        user.calls = 0;
        user.limit = limit;
        rbl_status status = rbli_repair(&ctx, &view, s->node, NULL, &r);
        assert_true(status == RBL_OK || status == RBL_ERR_NO_MEMORY);
        assert_true((status == RBL_OK) == (r != NULL));
        rbli_repair_result_destroy(&ctx, r);
        assert_int_equal(rbli_allocator_bytes(allocator), 0);
        rbli_allocator_release(allocator);
        if (status == RBL_OK) break;
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_box_stays),
        cmocka_unit_test(corners_are_welded_and_far_strays_ignored),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(a_missing_lid_is_filled),
        cmocka_unit_test(planar_fill_leaves_bent_holes),
        cmocka_unit_test(a_ring_is_filled_as_a_ring),
        cmocka_unit_test(flat_and_pocket_fills_are_refused),
        cmocka_unit_test(a_bent_fill_is_not_most_of_what_is_there),
        cmocka_unit_test(a_wide_rim_is_filled_with_a_fan),
        cmocka_unit_test(sheets_of_two_sides_are_dropped),
        cmocka_unit_test(copies_are_dropped),
        cmocka_unit_test(a_lid_of_two_sides_keeps_one),
        cmocka_unit_test(fins_come_off),
        cmocka_unit_test(inner_walls_are_dropped),
        cmocka_unit_test(several_inner_walls_are_dropped),
        cmocka_unit_test(a_bridge_without_area_stays),
        cmocka_unit_test(harmless_triangles_without_area_go),
        cmocka_unit_test(cracks_below_the_tolerance_close),
        cmocka_unit_test(t_junctions_close),
        cmocka_unit_test(turned_triangles_and_parts_are_turned_back),
        cmocka_unit_test(a_file_that_is_inside_out_is_turned),
        cmocka_unit_test(a_moebius_strip_is_a_sheet),
        cmocka_unit_test(cavities_and_nested_solids),
        cmocka_unit_test(touching_is_not_overlapping),
        cmocka_unit_test(overlaps_are_told_also_with_coplanar_faces),
        cmocka_unit_test(shells_may_span_nodes),
        cmocka_unit_test(crossings_inside_a_shell_are_counted),
        cmocka_unit_test(smooth_surfaces_have_the_crossings_that_all_pairs_have),
        cmocka_unit_test(voxels_become_manifold),
        cmocka_unit_test(any_soup_gives_closed_shells),
        cmocka_unit_test(windings_of_closed_input_are_kept),
        cmocka_unit_test(overlaps_of_random_boxes_are_true),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
