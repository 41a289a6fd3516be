#include "tests/check.h"

#include "fracture/base/rng.h"
#include "fracture/geometry/complex_edit.h"
#include "fracture/geometry/delaunay.h"

static const double unit_min[3] = {0, 0, 0}, unit_max[3] = {1, 1, 1};

static void random_sites(uint64_t seed, size_t count, double (*sites)[3])
{
    rbli_rng rng = rbli_rng_make(1, RBLI_RNG_TEST, seed);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            sites[i][k] = rbli_rng_double(&rng);
}

/// Closed cells of positive volume that fill the box.
static void check_complex(
    rbl_context *ctx, const rbli_cell_complex *k, const double low[3], const double high[3])
{
    assert_ok(ctx, rbli_cell_complex_check(ctx, k));
    double *volumes = malloc(k->cell_count * sizeof *volumes);
    long double sum = 0;
    rbli_complex_volumes(k, volumes);
    for (size_t c = 0; c < k->cell_count; c++) {
        assert_true(volumes[c] > 0);
        sum += volumes[c];
    }
    free(volumes);
    double box = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
    assert_close((double)sum / box, 1, 1e-12);
}

static void cells_of_random_sites_fill_the_box(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double sites[500][3];
    for (size_t count = 1; count < 500; count = count * 3 / 2 + 1) {
        random_sites(count, count, sites);
        rbli_cell_complex *k = NULL;
        assert_ok(ctx,
            rbli_voronoi_complex(ctx, (const double(*)[3])sites, count, unit_min, unit_max, NULL, NULL, &k));
        assert_int_equal(k->cell_count, count);
        check_complex(ctx, k, unit_min, unit_max);
        rbli_cell_complex_destroy(ctx, k);
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_random_sites_fill_the_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
