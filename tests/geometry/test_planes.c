#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/complex_edit.h"

/* Plane complexes: counts that are known, closed cells, volumes that add up, exact concurrency. */

static const double unit_min[3] = {0, 0, 0}, unit_max[3] = {1, 1, 1};

static void check_complex(
    rbl_context *ctx, const rbli_cell_complex *k, const double low[3], const double high[3])
{
    assert_ok(ctx, rbli_cell_complex_check(ctx, k));
    double *volumes = malloc(k->cell_count * sizeof *volumes);
    long double sum = 0;
    assert_ok(ctx, rbli_complex_moments(ctx, k, NULL, volumes));
    for (size_t c = 0; c < k->cell_count; c++) {
        assert_true(volumes[c] > -1e-25);
        sum += volumes[c];
        assert_int_equal(k->cell_site[c], c);
    }
    free(volumes);
    double box = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
    assert_close((double)sum / box, 1, 1e-12);
}

static rbli_cell_complex *make(rbl_context *ctx, const double (*planes)[4], size_t count, size_t *duplicates)
{
    rbli_cell_complex *k = NULL;
    size_t ignored;
    assert_ok(ctx,
        rbli_plane_complex(ctx, planes, count, unit_min, unit_max, duplicates ? duplicates : &ignored, &k));
    check_complex(ctx, k, unit_min, unit_max);
    return k;
}

static void random_planes(uint64_t seed, size_t count, bool through_centre, double (*planes)[4])
{
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, seed);
    for (size_t i = 0; i < count; i++) {
        planes[i][3] = 0;
        for (int k = 0; k < 3; k++) {
            planes[i][k] = 2 * rbli_rng_double(&rng) - 1;
            planes[i][3] += planes[i][k] * (through_centre ? 0.5 : rbli_rng_double(&rng));
        }
    }
}

static void no_plane_gives_the_box(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_cell_complex *k = make(ctx, NULL, 0, NULL);
    assert_int_equal(k->cell_count, 1);
    assert_int_equal(k->facet_count, 6);
    assert_int_equal(k->vertex_count, 8);
    for (size_t f = 0; f < 6; f++)
        assert_int_equal(k->facet_origin[f], -1);
    rbli_cell_complex_destroy(ctx, k);
    finish_context(ctx);
}

static void slices_give_a_grid_in_canonical_order(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double planes[27][4];
    for (int i = 0; i < 27; i++) {
        memset(planes[i], 0, sizeof planes[i]);
        planes[i][i % 3] = i % 2 ? 3.5 : -3.5;
        planes[i][3] = planes[i][i % 3] * (i / 3 + 1) / 10;
    }
    rbli_cell_complex *k = make(ctx, (const double(*)[4])planes, 27, NULL);
    assert_int_equal(k->cell_count, 1000);
    assert_int_equal(k->vertex_count, 1331);
    assert_int_equal(k->facet_count, 3300);
    rbli_cell_complex_destroy(ctx, k);
    finish_context(ctx);
}

static void the_order_of_insertion_changes_nothing_but_the_numbering(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double planes[20][4], reversed[20][4];
    random_planes(3, 20, false, planes);
    for (int i = 0; i < 20; i++)
        memcpy(reversed[i], planes[19 - i], sizeof reversed[i]);
    rbli_cell_complex *a = make(ctx, (const double(*)[4])planes, 20, NULL);
    rbli_cell_complex *b = make(ctx, (const double(*)[4])reversed, 20, NULL);
    assert_int_equal(a->cell_count, b->cell_count);
    assert_int_equal(a->facet_count, b->facet_count);
    assert_int_equal(a->vertex_count, b->vertex_count);
    rbli_cell_complex_destroy(ctx, a);
    rbli_cell_complex_destroy(ctx, b);
    finish_context(ctx);
}

/// n planes through one point in general position: n² − n + 2 cells.
static void concurrent_planes_meet_in_one_vertex(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double planes[30][4];
    const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
    random_planes(5, 30, true, planes);
    for (int i = 0; i < 30; i++)
        planes[i][3] = 0;
    rbli_cell_complex *k = NULL;
    assert_ok(ctx, rbli_plane_complex(ctx, (const double(*)[4])planes, 30, low, high, NULL, &k));
    check_complex(ctx, k, low, high);
    assert_int_equal(k->cell_count, 872);
    rbli_cell_complex_destroy(ctx, k);
    /* Rounded to a point that is not on the grid: contraction finds the one vertex again. */
    for (int i = 0; i < 30; i++)
        planes[i][3] = 0.1 * planes[i][0] + 0.2 * planes[i][1] + 0.3 * planes[i][2];
    assert_ok(ctx, rbli_plane_complex(ctx, (const double(*)[4])planes, 30, low, high, NULL, &k));
    check_complex(ctx, k, low, high);
    assert_int_equal(k->cell_count, 872);
    rbli_cell_complex_destroy(ctx, k);
    finish_context(ctx);
}

/// Planes through the edges and vertices that others have made already.
static void planes_through_edges_and_vertices_are_ordinary(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    RBLI_ARRAY(double) values = {0};
    for (int x = -1; x <= 1; x++)
        for (int y = -1; y <= 1; y++)
            for (int z = -1; z <= 1; z++)
                for (int step = 1; step < 4; step++) {
                    double plane[4] = {x, y, z, (x + y + z) / 2.0 + (step - 2) * 0.25};
                    if (!x && !y && !z) continue;
                    for (int i = 0; i < 4; i++)
                        assert_int_equal(rbli_array_push(ctx, &values, plane[i]), RBL_OK);
                }
    size_t duplicates = 0;
    rbli_cell_complex *k = make(ctx, (const double(*)[4])(void *)values.data, values.count / 4, &duplicates);
    assert_int_equal(duplicates, values.count / 8);
    rbli_cell_complex_destroy(ctx, k);
    rbli_free(ctx, values.data);
    finish_context(ctx);
}

static void cuts_through_the_equator_of_an_octahedron(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double planes[11][4];
    for (int i = 0; i < 8; i++) {
        double n[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
        memcpy(planes[i], n, sizeof n);
        planes[i][3] = 0.25 + 0.5 * (n[0] + n[1] + n[2]);
    }
    for (int i = 0; i < 3; i++) {
        memset(planes[8 + i], 0, sizeof planes[8 + i]);
        planes[8 + i][i] = 1;
        planes[8 + i][3] = 0.5;
    }
    rbli_cell_complex *k = make(ctx, (const double(*)[4])planes, 11, NULL);
    double *volumes = malloc(k->cell_count * sizeof *volumes);
    assert_ok(ctx, rbli_complex_moments(ctx, k, NULL, volumes));
    int octants = 0; /* of the octahedron: 0.25³ / 6 */
    for (size_t c = 0; c < k->cell_count; c++)
        octants += fabs(volumes[c] - 0.25 * 0.25 * 0.25 / 6) < 1e-12;
    assert_true(octants >= 8);
    free(volumes);
    rbli_cell_complex_destroy(ctx, k);
    finish_context(ctx);
}

static void duplicates_walls_and_misses_are_dropped(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double planes[][4] = {{1, 2, 3, 2}, {-2, -4, -6, -4}, {1, 2, 3, 2 + 1e-10}, {1, 0, 0, 0},
        {0, 1, 0, 1 - 1e-12}, {0, 0, 1, 7}, {1e300, 0, 0, 1e308}, {1e-300, 2e-300, 3e-300, 2e-300},
        {0, 0, 3, 1.5}};
    size_t duplicates = 0;
    rbli_cell_complex *k = make(ctx, planes, sizeof planes / sizeof *planes, &duplicates);
    assert_int_equal(duplicates, 3);
    assert_int_equal(k->cell_count, 4);
    for (size_t f = 0; f < k->facet_count; f++)
        assert_true(k->facet_origin[f] == -1 || k->facet_origin[f] == 0 || k->facet_origin[f] == 8);
    rbli_cell_complex_destroy(ctx, k);
    finish_context(ctx);
}

static void bad_planes_are_named(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_cell_complex *k = NULL;
    const double zero[][4] = {{1, 0, 0, 0.5}, {0, 0, 0, 1}}, infinite[][4] = {{1, INFINITY, 0, 0.5}};
    assert_int_equal(rbli_plane_complex(ctx, zero, 2, unit_min, unit_max, NULL, &k), RBL_ERR_ARGUMENT);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "plane 1"));
    assert_int_equal(rbli_plane_complex(ctx, infinite, 1, unit_min, unit_max, NULL, &k), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_plane_complex(ctx, zero, 1, unit_max, unit_min, NULL, &k), RBL_ERR_ARGUMENT);
    assert_null(k);
    finish_context(ctx);
}

static void random_and_jittered_planes_fill_the_box(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double planes[40][4];
    const double jitters[] = {0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-3};
    for (uint64_t seed = 0; seed < 6; seed++)
        for (size_t j = 0; j < sizeof jitters / sizeof *jitters; j++)
            for (int kind = 0; kind < 3; kind++) {
                rbli_rng rng = rbli_rng_make(2, RBLI_RNG_TEST, seed);
                size_t count = kind == 0 ? 40 : 24;
                random_planes(seed, count, kind == 1, planes);
                for (size_t i = 0; i < count; i++) {
                    if (kind == 2) { /* a grid and its diagonals */
                        double n[3] = {
                            i % 6 == 0 || i % 6 > 2, i % 6 == 1 || i % 6 == 3, i % 6 == 2 || i % 6 == 4};
                        memcpy(planes[i], n, sizeof n);
                        planes[i][3] = (double)(i / 6 + 1) / 5 * (n[0] + n[1] + n[2]);
                    }
                    for (int k = 0; k < 4; k++)
                        planes[i][k] += jitters[j] * (2 * rbli_rng_double(&rng) - 1);
                }
                rbli_cell_complex_destroy(ctx, make(ctx, (const double(*)[4])planes, count, NULL));
            }
    finish_context(ctx);
}

/// Fails the allocation number `left`, counting down.
static void *failing_reallocate(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    (void)old_bytes;
    size_t *left = user;
    if (!new_bytes) {
        free(pointer);
        return NULL;
    }
    if (*left && --*left == 0) return NULL;
    return realloc(pointer, new_bytes);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    size_t left = 0, failures = 0;
    rbli_allocator *allocator = rbli_allocator_create(failing_reallocate, &left);
    rbl_context ctx = {.allocator = allocator};
    double planes[6][4];
    random_planes(1, 6, true, planes);
    size_t held = rbli_allocator_bytes(allocator);
    for (size_t n = 1;; n++) {
        rbli_cell_complex *k = NULL;
        left = n;
        rbl_status status =
            rbli_plane_complex(&ctx, (const double(*)[4])planes, 6, unit_min, unit_max, NULL, &k);
        left = 0;
        if (status == RBL_OK) {
            rbli_cell_complex_destroy(&ctx, k);
            break;
        }
        assert_int_equal(status, RBL_ERR_NO_MEMORY);
        assert_null(k);
        assert_int_equal(rbli_allocator_bytes(allocator), held);
        failures++;
    }
    assert_true(failures > 20);
    rbli_allocator_release(allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plane_gives_the_box),
        cmocka_unit_test(slices_give_a_grid_in_canonical_order),
        cmocka_unit_test(the_order_of_insertion_changes_nothing_but_the_numbering),
        cmocka_unit_test(concurrent_planes_meet_in_one_vertex),
        cmocka_unit_test(planes_through_edges_and_vertices_are_ordinary),
        cmocka_unit_test(cuts_through_the_equator_of_an_octahedron),
        cmocka_unit_test(duplicates_walls_and_misses_are_dropped),
        cmocka_unit_test(bad_planes_are_named),
        cmocka_unit_test(random_and_jittered_planes_fill_the_box),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
