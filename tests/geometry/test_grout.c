#include "fracture/geometry/complex_erode.h"

#include "fracture/geometry/brick_complex.h"
#include "fracture/geometry/complex_edit.h"
#include "tests/geometry/cut_help.h"

/* Erosion: gaps as wide as asked for, volumes that are known, cells that vanish. */

static const double unit_min[3] = {0, 0, 0}, unit_max[3] = {1, 1, 1};

/// Facets of K by origin, of one cell: the plane's unit normal (outward) and offset.
typedef struct side {
    int32_t cell, origin;
    double normal[3], offset;
    double span; /* how far the facet's vertices leave its plane */
} side;

static side *list_sides(const rbli_cell_complex *k, size_t *count)
{
    side *sides = malloc(2 * k->facet_count * sizeof *sides);
    *count = 0;
    for (size_t f = 0; f < k->facet_count; f++)
        for (int s = 0; s < 2; s++) {
            int32_t cell = k->facet_cells[f][s], begin = k->facet_start[f], end = k->facet_start[f + 1];
            if (cell < 0 || (size_t)cell >= k->cell_count - k->outside_cell_count) continue;
            side made = {.cell = k->cell_site[cell], .origin = k->facet_origin[f]};
            const double *base = k->vertices[k->facet_vertices[begin]];
            for (int32_t i = begin; i < end; i++) {
                const double *p = k->vertices[k->facet_vertices[i]];
                const double *q = k->vertices[k->facet_vertices[i + 1 < end ? i + 1 : begin]];
                for (int a = 0; a < 3; a++) {
                    int b = (a + 1) % 3, c = (a + 2) % 3;
                    made.normal[a] +=
                        (p[b] - base[b]) * (q[c] - base[c]) - (p[c] - base[c]) * (q[b] - base[b]);
                }
            }
            double length = sqrt(made.normal[0] * made.normal[0] + made.normal[1] * made.normal[1] +
                                 made.normal[2] * made.normal[2]);
            if (length < 1e-6) continue; /* too small to measure its plane */
            for (int a = 0; a < 3; a++) {
                made.normal[a] *= (s ? -1 : 1) / length;
                made.offset += made.normal[a] * base[a];
            }
            sides[(*count)++] = made;
        }
    return sides;
}

/// Each side of an eroded cell lies `distance` inside a side of the cell as it was.
static void check_gaps(
    const rbli_cell_complex *whole, const rbli_cell_complex *eroded, double distance, double tolerance)
{
    size_t old_count, new_count;
    side *olds = list_sides(whole, &old_count), *news = list_sides(eroded, &new_count);
    assert_true(new_count > 0);
    for (size_t i = 0; i < new_count; i++) {
        double nearest = INFINITY;
        for (size_t j = 0; j < old_count; j++) {
            if (olds[j].cell != news[i].cell || olds[j].origin != news[i].origin) continue;
            double alike = 0;
            for (int a = 0; a < 3; a++)
                alike += olds[j].normal[a] * news[i].normal[a];
            if (alike > 1 - 1e-9) nearest = fmin(nearest, fabs(olds[j].offset - news[i].offset - distance));
        }
        assert_true(nearest < tolerance);
    }
    free(olds);
    free(news);
}

static double sum_of_volumes(rbl_context *ctx, const rbli_cell_complex *k, double *last)
{
    double *volumes = malloc(k->cell_count * sizeof *volumes), sum = 0;
    assert_ok(ctx, rbli_complex_moments(ctx, k, NULL, volumes));
    for (size_t c = 0; c < k->cell_count; c++) {
        assert_true(volumes[c] > 0);
        sum += volumes[c];
    }
    *last = volumes[k->cell_count - 1];
    free(volumes);
    return sum;
}

static void a_lattice_erodes_to_known_volumes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double sites[64][3];
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < 3; k++)
            sites[i][k] = ((i >> 2 * k & 3) + 0.5) / 4;
    rbli_cell_complex *k = NULL, *eroded = NULL;
    size_t vanished = 7;
    assert_ok(ctx, rbli_voronoi_complex(ctx, sites, 64, unit_min, unit_max, NULL, NULL, &k));
    assert_ok(ctx, rbli_complex_erode(ctx, k, 0.02, &vanished, &eroded));
    assert_ok(ctx, rbli_cell_complex_check(ctx, eroded));
    assert_int_equal(vanished, 0);
    assert_int_equal(eroded->cell_count, 65);
    assert_int_equal(eroded->outside_cell_count, 1);
    double *volumes = malloc(65 * sizeof *volumes);
    assert_ok(ctx, rbli_complex_moments(ctx, eroded, NULL, volumes));
    for (int c = 0; c < 64; c++)
        assert_close(volumes[c], 0.21 * 0.21 * 0.21, 1e-12);
    assert_close(volumes[64], 1 - 64 * 0.21 * 0.21 * 0.21, 1e-12);
    free(volumes);
    rbli_cell_complex_destroy(ctx, eroded);
    assert_ok(ctx, rbli_complex_erode(ctx, k, 0.125, &vanished, &eroded));
    assert_ok(ctx, rbli_cell_complex_check(ctx, eroded));
    assert_int_equal(vanished, 64);
    assert_int_equal(eroded->cell_count, 1);
    rbli_cell_complex_destroy(ctx, eroded);
    rbli_cell_complex_destroy(ctx, k);
    finish_context(ctx);
}

static void gaps_of_random_cells_are_as_wide_as_asked_for(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (uint32_t seed = 1; seed <= 12; seed++) {
        print_message("seed %u\n", seed);
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 3);
        double sites[60][3], planes[9][4], last;
        rbli_cell_complex *k[2] = {NULL, NULL};
        for (int i = 0; i < 60; i++)
            for (int a = 0; a < 3; a++)
                sites[i][a] = rbli_rng_double(&rng);
        for (int i = 0; i < 9; i++) {
            planes[i][3] = 0;
            for (int a = 0; a < 3; a++) {
                planes[i][a] = 2 * rbli_rng_double(&rng) - 1;
                planes[i][3] += planes[i][a] * (seed % 3 == 0 ? 0.5 : rbli_rng_double(&rng));
            }
        }
        assert_ok(ctx,
            rbli_voronoi_complex(ctx, (const double(*)[3])sites, 60, unit_min, unit_max, NULL, NULL, &k[0]));
        assert_ok(
            ctx, rbli_plane_complex(ctx, (const double(*)[4])planes, 9, unit_min, unit_max, NULL, &k[1]));
        for (int kind = 0; kind < 2; kind++) {
            double distance = seed % 2 ? 0.004 : 0.03;
            size_t vanished;
            rbli_cell_complex *eroded = NULL;
            assert_ok(ctx, rbli_complex_erode(ctx, k[kind], distance, &vanished, &eroded));
            assert_ok(ctx, rbli_cell_complex_check(ctx, eroded));
            assert_int_equal(eroded->cell_count + vanished, k[kind]->cell_count + 1);
            assert_close(sum_of_volumes(ctx, eroded, &last), 1, 1e-12);
            assert_true(last > 0);
            check_gaps(k[kind], eroded, distance, 1e-10);
            rbli_cell_complex_destroy(ctx, eroded);
            rbli_cell_complex_destroy(ctx, k[kind]);
        }
    }
    finish_context(ctx);
}

static void gaps_between_bricks_are_as_wide_as_asked_for(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int bond = 0; bond < RBLI_BOND_COUNT; bond++) {
        rbli_brick_options o = rbli_brick_default_options();
        const double low[3] = {0.1, 0.2, 0.3}, high[3] = {1.1, 0.7, 0.7};
        const double outer_min[3] = {0, 0.1, 0.2}, outer_max[3] = {1.2, 0.8, 0.8};
        rbli_brick *bricks = NULL;
        size_t count, vanished;
        rbli_cell_complex *k = NULL, *eroded = NULL;
        o.bond = (rbli_brick_bond)bond;
        assert_ok(ctx, rbli_brick_layout(ctx, &o, low, high, NULL, &bricks, &count));
        assert_ok(ctx, rbli_box_complex(ctx, bricks, count, low, high, outer_min, outer_max, &k));
        assert_ok(ctx, rbli_complex_erode(ctx, k, 0.005, &vanished, &eroded));
        assert_ok(ctx, rbli_cell_complex_check(ctx, eroded));
        check_gaps(k, eroded, 0.005, 1e-12);
        double last;
        assert_close(sum_of_volumes(ctx, eroded, &last), 1.2 * 0.7 * 0.6, 1e-12);
        rbli_cell_complex_destroy(ctx, eroded);
        rbli_cell_complex_destroy(ctx, k);
        rbli_free(ctx, bricks);
    }
    finish_context(ctx);
}

static void cutting_by_an_eroded_complex_gives_closed_pieces(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    test_mesh mesh = make_sphere(12, 0.4, 0.1);
    for (size_t v = 0; v < mesh.vertex_count; v++)
        for (int a = 0; a < 3; a++)
            mesh.positions[v][a] += 0.5;
    double volume = mesh_volume(
        (const double(*)[3])mesh.positions, (const int32_t(*)[3])mesh.triangles, mesh.triangle_count, NULL);
    rbli_rng rng = rbli_rng_make(9, RBLI_RNG_TEST, 3);
    double sites[40][3];
    for (int i = 0; i < 40; i++)
        for (int a = 0; a < 3; a++)
            sites[i][a] = rbli_rng_double(&rng);
    rbli_cell_complex *k = NULL, *eroded = NULL;
    assert_ok(
        ctx, rbli_voronoi_complex(ctx, (const double(*)[3])sites, 40, unit_min, unit_max, NULL, NULL, &k));
    assert_ok(ctx, rbli_complex_erode(ctx, k, 0.01, NULL, &eroded));
    rbli_mesh_view view = view_of(&mesh);
    rbli_cut_options options = {.split_islands = true};
    rbli_cut_result *r = NULL;
    assert_ok(ctx, rbli_cut(ctx, &view, eroded, &options, &r));
    double sum = 0;
    for (size_t p = 0; p < r->piece_count; p++) {
        int32_t first = r->triangle_start[p];
        assert_null(closed_fault(
            (const int32_t(*)[3])r->triangles + first, (size_t)(r->triangle_start[p + 1] - first)));
        sum += r->piece_volume[p];
    }
    assert_close(sum / volume, 1, 1e-12);
    rbli_cut_result_destroy(ctx, r);
    rbli_cell_complex_destroy(ctx, eroded);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

/// A smaller question gives the same answer: without the gap, and contacts alone.
static void parts_of_a_cut_are_those_of_the_whole(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    test_mesh mesh = make_sphere(14, 0.45, 0.1);
    rbli_rng rng = rbli_rng_make(10, RBLI_RNG_TEST, 3);
    double sites[60][3];
    for (int i = 0; i < 60; i++)
        for (int a = 0; a < 3; a++)
            sites[i][a] = rbli_rng_double(&rng);
    for (size_t v = 0; v < mesh.vertex_count; v++)
        for (int a = 0; a < 3; a++)
            mesh.positions[v][a] += 0.5;
    rbli_mesh_view view = view_of(&mesh);
    rbli_cell_complex *k = NULL, *eroded = NULL;
    rbli_cut_result *all = NULL, *inner = NULL, *bare = NULL;
    rbli_cut_options options = {.split_islands = true};
    assert_ok(
        ctx, rbli_voronoi_complex(ctx, (const double(*)[3])sites, 60, unit_min, unit_max, NULL, NULL, &k));
    assert_ok(ctx, rbli_complex_erode(ctx, k, 0.01, NULL, &eroded));
    assert_ok(ctx, rbli_cut(ctx, &view, eroded, &options, &all));
    options.drop_outside = true;
    assert_ok(ctx, rbli_cut(ctx, &view, eroded, &options, &inner));
    assert_true(inner->outside_dropped);
    assert_false(all->outside_dropped);
    size_t count = 0; /* the gap is the last cell, so its pieces come last */
    while (count < all->piece_count && all->piece_cell[count] < (int32_t)eroded->cell_count - 1)
        count++;
    assert_true(count < all->piece_count);
    assert_int_equal(inner->piece_count, count);
    assert_int_equal(inner->vertex_count, (size_t)all->vertex_start[count]);
    assert_int_equal(inner->triangle_count, (size_t)all->triangle_start[count]);
    assert_memory_equal(inner->positions, all->positions, inner->vertex_count * sizeof *inner->positions);
    assert_memory_equal(inner->triangles, all->triangles, inner->triangle_count * sizeof *inner->triangles);
    assert_memory_equal(inner->piece_volume, all->piece_volume, count * sizeof *inner->piece_volume);
    rbli_cut_result_destroy(ctx, all);
    rbli_cut_result_destroy(ctx, inner);

    options = (rbli_cut_options){.split_islands = true};
    assert_ok(ctx, rbli_cut(ctx, &view, k, &options, &all));
    options.contacts_only = true;
    assert_ok(ctx, rbli_cut(ctx, &view, k, &options, &bare));
    assert_int_equal(bare->piece_count, all->piece_count);
    assert_int_equal(bare->vertex_count, 0);
    assert_int_equal(bare->contact_count, all->contact_count);
    assert_memory_equal(bare->piece_cell, all->piece_cell, all->piece_count * sizeof *all->piece_cell);
    assert_memory_equal(bare->contacts, all->contacts, all->contact_count * sizeof *all->contacts);
    for (size_t p = 0; p < all->piece_count; p++)
        assert_close(bare->piece_volume[p], all->piece_volume[p], 1e-15);
    rbli_cut_result_destroy(ctx, all);
    rbli_cut_result_destroy(ctx, bare);
    rbli_cell_complex_destroy(ctx, eroded);
    rbli_cell_complex_destroy(ctx, k);
    free_mesh(&mesh);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lattice_erodes_to_known_volumes),
        cmocka_unit_test(gaps_of_random_cells_are_as_wide_as_asked_for),
        cmocka_unit_test(gaps_between_bricks_are_as_wide_as_asked_for),
        cmocka_unit_test(cutting_by_an_eroded_complex_gives_closed_pieces),
        cmocka_unit_test(parts_of_a_cut_are_those_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
