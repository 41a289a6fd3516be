#include "tests/check.h"

#include <libqhull_r/qhull_ra.h>

#include "fracture/base/alloc.h"
#include "fracture/base/rng.h"
#include "fracture/geometry/convex_hull.h"
#include "fracture/geometry/exact_hull.h"

/* Hulls of integer points are checked with integers alone, those of other points beside qhull's. */

__extension__ typedef __int128 wide;

/// Twice the determinant that tells on which side of a face a point lies; coordinates up to 2^38.
static wide side(const double (*p)[3], const int32_t face[3], size_t point)
{
    int64_t u[3], v[3], d[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (int64_t)(p[face[1]][k] - p[face[0]][k]);
        v[k] = (int64_t)(p[face[2]][k] - p[face[0]][k]);
        d[k] = (int64_t)(p[point][k] - p[face[0]][k]);
    }
    wide sum = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        sum += ((wide)u[i] * v[j] - (wide)u[j] * v[i]) * d[k];
    }
    return sum;
}

/// Closed, no face flat, and every point within `tolerance` of the inside of every face.
static void check(const double (*p)[3], size_t count, const rbli_exact_hull *hull, double tolerance)
{
    for (size_t f = 0; f < hull->face_count; f++) {
        const rbli_exact_face *face = &hull->faces[f];
        double area = 0;
        for (int k = 0; k < 3; k++) {
            const rbli_exact_face *other = &hull->faces[face->neighbor[k]];
            int back = 0;
            for (int j = 0; j < 3; j++)
                back += other->neighbor[j] == (int32_t)f && other->vertex[j] == face->vertex[(k + 1) % 3] &&
                        other->vertex[(j + 1) % 3] == face->vertex[k];
            assert_int_equal(back, 1);
            int i = (k + 1) % 3, j = (k + 2) % 3;
            const double *a = p[face->vertex[0]], *b = p[face->vertex[1]], *c = p[face->vertex[2]];
            double n = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
            area += n * n;
        }
        assert_true(area > 0);
        double limit = tolerance * sqrt(area) * (1 + 1e-9);
        for (size_t i = 0; i < count; i++)
            assert_true((double)side(p, face->vertex, i) <= limit);
    }
}

/// Random points on a small grid: most faces hold many points and normals are short.
static void grids_of_any_size_are_exact(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(11, RBLI_RNG_TEST, 0);
    rbli_hull_scratch scratch;
    rbli_hull_scratch_init(&scratch, ctx);
    for (int round = 0; round < 400; round++) {
        double points[200][3];
        size_t count = 4 + rbli_rng_below(&rng, 196);
        uint32_t sides[3];
        for (int k = 0; k < 3; k++)
            sides[k] = 2 + rbli_rng_below(&rng, round % 4 == 0 ? 1u << 20 : 12);
        for (size_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                points[i][k] = (double)rbli_rng_below(&rng, sides[k]) - (double)(sides[k] / 2);
        rbli_exact_hull hull;
        assert_ok(ctx, rbli_exact_hull_build(ctx, &scratch, (const double(*)[3])points, count, 0, &hull));
        if (hull.rank == 3) {
            assert_true(hull.face_count >= 4);
            check((const double(*)[3])points, count, &hull, 0);
        }
        rbli_arena_clear(&scratch.results);
    }
    rbli_hull_scratch_free(&scratch);
    finish_context(ctx);
}

/// Points of a rough cube: those on its sides stand out by less than the tolerance.
static void tolerance_bounds_what_is_left_out(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(12, RBLI_RNG_TEST, 0);
    rbli_hull_scratch scratch;
    rbli_hull_scratch_init(&scratch, ctx);
    const double size = 0x1p36, rough = 900, tolerance = 1125;
    for (int round = 0; round < 60; round++) {
        double points[600][3];
        size_t count = 600;
        for (size_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++)
                points[i][k] = rint((rbli_rng_double(&rng) - 0.5) * size);
            uint32_t way = rbli_rng_below(&rng, 6);
            points[i][way / 2] = (way % 2 ? 1 : -1) * size / 2 + rint((rbli_rng_double(&rng) - 0.5) * rough);
            for (int k = 0; k < 3 && i < 8; k++)
                points[i][k] = (i >> k & 1 ? 1 : -1) * size / 2;
        }
        rbli_exact_hull hull;
        assert_ok(
            ctx, rbli_exact_hull_build(ctx, &scratch, (const double(*)[3])points, count, tolerance, &hull));
        assert_true(hull.face_count < 300);
        check((const double(*)[3])points, count, &hull, tolerance + 32);
        rbli_arena_clear(&scratch.results);
    }
    rbli_hull_scratch_free(&scratch);
    finish_context(ctx);
}

static double qhull_volume(const double (*points)[3], size_t count)
{
    qhT qh;
    char options[] = "qhull FA Pp";
    double copy[600][3], volume;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_true(nowhere && count <= 600);
    memcpy(copy, points, count * sizeof *copy);
    qh_zero(&qh, nowhere);
    assert_int_equal(qh_new_qhull(&qh, 3, (int)count, copy[0], 0, options, nowhere, nowhere), 0);
    qh_getarea(&qh, qh.facet_list);
    volume = qh.totvol;
    int current, total;
    qh_freeqhull(&qh, !qh_ALL);
    qh_memfreeshort(&qh, &current, &total);
    fclose(nowhere);
    return volume;
}

static void volumes_are_those_of_qhull(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(13, RBLI_RNG_TEST, 0);
    rbli_hull_options options = rbli_hull_default_options();
    options.max_vertices = INT32_MAX;
    for (int round = 0; round < 300; round++) {
        double points[600][3], size[3], far = round % 5 == 0 ? 1000 : 0;
        size_t count = 5 + rbli_rng_below(&rng, 590);
        for (int k = 0; k < 3; k++)
            size[k] = 0.05 + rbli_rng_double(&rng);
        for (size_t i = 0; i < count; i++) {
            double length = 0;
            for (int k = 0; k < 3; k++) {
                points[i][k] = rbli_rng_double(&rng) - 0.5;
                length += points[i][k] * points[i][k];
            }
            for (int k = 0; k < 3; k++) /* balls, boxes, and points rounded to a few values */
                points[i][k] = far + size[k] * (round % 3 == 0      ? points[i][k] / sqrt(length)
                                                   : round % 3 == 1 ? points[i][k]
                                                                    : rint(points[i][k] * 6) / 6);
        }
        rbli_hull hull;
        assert_ok(ctx, rbli_convex_hull(ctx, (const double(*)[3])points, count, &options, &hull));
        if (!hull.thickened)
            assert_close(
                hull.volume / qhull_volume((const double(*)[3])points, count), 1, far > 0 ? 1e-7 : 1e-9);
        double volume;
        assert_ok(ctx, rbli_convex_hull_volume(ctx, (const double(*)[3])points, count, &volume));
        if (!hull.thickened) assert_close(volume / hull.volume, 1, 1e-7);
        rbli_hull_free(ctx, &hull);
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_of_any_size_are_exact),
        cmocka_unit_test(tolerance_bounds_what_is_left_out),
        cmocka_unit_test(volumes_are_those_of_qhull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
