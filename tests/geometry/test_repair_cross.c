/// What lies in what, what overlaps, and crossings within a shell.

#include "tests/geometry/repair_help.h"

#include "fracture/geometry/grid_orient.h"

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

    rbli_repair_options options = rbli_repair_default_options();
    options.self_crossings = false;
    for (int others = 0; others < 2; others++) {
        if (others) add_box(s, 0.25, 0.25, -1, 0.75, 0.75, 2);
        r = repair_and_check(ctx, s, &options);
        for (size_t i = 0; i < r->shell_count; i++) {
            assert_int_equal(r->shells[i].self_crossings, 0);
            assert_int_equal(r->shells[i].overlaps_other, others);
        }
        rbli_repair_result_destroy(ctx, r);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cavities_and_nested_solids),
        cmocka_unit_test(touching_is_not_overlapping),
        cmocka_unit_test(overlaps_are_told_also_with_coplanar_faces),
        cmocka_unit_test(shells_may_span_nodes),
        cmocka_unit_test(crossings_inside_a_shell_are_counted),
        cmocka_unit_test(smooth_surfaces_have_the_crossings_that_all_pairs_have),
        cmocka_unit_test(overlaps_of_random_boxes_are_true),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
