/// The whole of the repair: ordinary meshes, orientation, properties of random ones, threads and memory.

#include "tests/failing_alloc.h"
#include "tests/geometry/repair_help.h"

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

/* Memory */

static rbl_status repair_soup(rbl_context *ctx, void *user)
{
    const soup *s = user;
    rbli_mesh_view view = view_of(s);
    rbli_repair_result *r = NULL;
    rbl_status status = rbli_repair(ctx, &view, s->node, NULL, &r);
    assert_true((status == RBL_OK) == (r != NULL));
    rbli_repair_result_destroy(ctx, r);
    return status;
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
    fail_each_allocation(repair_soup, s, 0);

    memset(s, 0, sizeof *s);
    add_torus(s, 40, 30); /* parts of it need not be searched for crossings */
    fail_each_allocation(repair_soup, s, 0);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_box_stays),
        cmocka_unit_test(corners_are_welded_and_far_strays_ignored),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(turned_triangles_and_parts_are_turned_back),
        cmocka_unit_test(a_file_that_is_inside_out_is_turned),
        cmocka_unit_test(a_moebius_strip_is_a_sheet),
        cmocka_unit_test(voxels_become_manifold),
        cmocka_unit_test(any_soup_gives_closed_shells),
        cmocka_unit_test(windings_of_closed_input_are_kept),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
