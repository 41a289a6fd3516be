#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/complex_edit.h"
#include "fracture/base/threads.h"
#include "fracture/geometry/delaunay.h"
#include "fracture/geometry/relax.h"
#include "fracture/geometry/voro_shim.h"
#include "tests/geometry/site_families.h"

/* Voronoi complexes: closed cells that fill the box, for ordinary and degenerate sites, against voro++ where
 * it can. */

static const double unit_min[3] = {0, 0, 0}, unit_max[3] = {1, 1, 1};
static const double padded_min[3] = {-0.0137, -0.0211, -0.017}, padded_max[3] = {1.0173, 1.0119, 1.0231};
static site_set set;

static double box_volume(const double low[3], const double high[3])
{
    return (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
}

/// Closed cells of positive volume that fill the box.
static void check_complex(
    rbl_context *ctx, const rbli_cell_complex *k, const double low[3], const double high[3])
{
    assert_ok(ctx, rbli_cell_complex_check(ctx, k));
    double *volumes = malloc(k->cell_count * sizeof *volumes);
    long double sum = 0;
    assert_ok(ctx, rbli_complex_moments(ctx, k, NULL, volumes));
    for (size_t c = 0; c < k->cell_count; c++) {
        assert_true(volumes[c] > 0);
        assert_true(c == 0 || k->cell_site[c - 1] < k->cell_site[c]);
        sum += volumes[c];
    }
    free(volumes);
    assert_close((double)sum / box_volume(low, high), 1, 1e-12);
    for (size_t v = 0; v < k->vertex_count; v++)
        for (int i = 0; i < 3; i++)
            assert_true(k->vertices[v][i] >= low[i] && k->vertices[v][i] <= high[i]);
    for (size_t f = 0; f < k->facet_count; f++)
        assert_true((k->facet_cells[f][1] < 0) == (k->facet_origin[f] < 0) && k->facet_cells[f][0] >= 0);
}

/// No facet turned over against the direction between its sites, by more than rounding; all close to the
/// bisector.
static void check_facets(const rbli_cell_complex *k)
{
    for (size_t f = 0; f < k->facet_count; f++) {
        if (k->facet_cells[f][1] < 0) continue;
        const double *a = k->cell_point[k->facet_cells[f][0]], *b = k->cell_point[k->facet_cells[f][1]];
        const int32_t *loop = k->facet_vertices + k->facet_start[f];
        int32_t count = k->facet_start[f + 1] - k->facet_start[f];
        double area = 0, around = 0,
               apart = sqrt(pow(b[0] - a[0], 2) + pow(b[1] - a[1], 2) + pow(b[2] - a[2], 2));
        for (int32_t i = 0; i < count; i++) {
            const double *p = k->vertices[loop[i]], *q = k->vertices[loop[(i + 1) % count]],
                         *o = k->vertices[loop[0]];
            double off = 0;
            for (int j = 0; j < 3; j++) {
                int m = (j + 1) % 3, n = (j + 2) % 3;
                area +=
                    (b[j] - a[j]) / apart * ((p[m] - o[m]) * (q[n] - o[n]) - (p[n] - o[n]) * (q[m] - o[m]));
                off += (b[j] - a[j]) / apart * (p[j] - (a[j] + b[j]) / 2);
            }
            around += sqrt(pow(q[0] - p[0], 2) + pow(q[1] - p[1], 2) + pow(q[2] - p[2], 2));
            assert_close(off, 0, 2e-9);
        }
        assert_true(area > -1e-14 * around);
    }
}

static rbli_cell_complex *make(
    rbl_context *ctx, const double (*sites)[3], size_t count, const double low[3], const double high[3])
{
    rbli_cell_complex *k = NULL;
    assert_ok(ctx, rbli_voronoi_complex(ctx, sites, count, low, high, NULL, NULL, &k));
    check_complex(ctx, k, low, high);
    return k;
}

static rbli_cell_complex *make_set(rbl_context *ctx, const double low[3], const double high[3])
{
    return make(ctx, (const double(*)[3])set.sites, set.count, low, high);
}

static void cells_of_random_sites_fill_the_box(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    make_family(0, 1, 0, &set);
    for (size_t count = 1; count <= 300; count = count * 3 / 2 + 1) {
        set.count = count;
        rbli_cell_complex *k = make_set(ctx, unit_min, unit_max);
        assert_int_equal(k->cell_count, count);
        rbli_cell_complex_destroy(ctx, k);
    }
    finish_context(ctx);
}

static void degenerate_sites_are_ordinary(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double jitters[] = {0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-7, 1e-5, 1e-3};
    for (int family = 0; family < FAMILY_COUNT; family++)
        for (size_t j = 0; j < sizeof jitters / sizeof *jitters; j++)
            for (uint64_t seed = 1; seed <= tries(1, 3); seed++) {
                make_family(family, seed, jitters[j], &set);
                rbli_cell_complex *k = make_set(ctx, padded_min, padded_max);
                if (family != 32) check_facets(k); /* far sites round the others */
                rbli_cell_complex_destroy(ctx, k);
            }
    finish_context(ctx);
}

static void lattices_come_out_as_exact_boxes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double jitters[] = {0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12};
    for (size_t j = 0; j < sizeof jitters / sizeof *jitters; j++) {
        set.count = 0;
        const double full[3] = {1, 1, 1}, corner[][3] = {{0.5, 0.5, 0.5}};
        add_lattice(&set, 7, 7, 7, full, corner, 1);
        rbli_rng rng = rbli_rng_make(4, RBLI_RNG_TEST, j);
        for (size_t i = 0; i < set.count; i++)
            for (int k = 0; k < 3; k++)
                set.sites[i][k] += jitters[j] * (2 * rbli_rng_double(&rng) - 1);
        rbli_cell_complex *k = make_set(ctx, padded_min, padded_max);
        assert_int_equal(k->cell_count, 343);
        assert_int_equal(k->vertex_count, 512);
        assert_int_equal(k->facet_count, 3 * 8 * 49);
        rbli_cell_complex_destroy(ctx, k);
    }
    finish_context(ctx);
}

/// Walls that lie exactly on bisectors, through sites and through vertices of the diagram.
static void walls_may_coincide_with_facets(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double jitters[] = {0, 1e-16, 1e-15, 1e-13, 1e-11, 1e-9};
    for (size_t j = 0; j < sizeof jitters / sizeof *jitters; j++)
        for (int family = 1; family < 10; family++)
            for (int quarter = 0; quarter < 3; quarter++) {
                make_family(family, 7, jitters[j], &set);
                double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
                for (int k = 0; k < 3; k++) { /* a site's or a bisector's coordinates */
                    low[k] = quarter == 0 ? 0 : quarter == 1 ? set.sites[0][k] : 0.5;
                    high[k] = quarter == 0 ? 1 : 0.75 + 0.25 * low[k];
                }
                rbli_cell_complex *k = NULL;
                assert_ok(ctx, rbli_voronoi_complex(
                                   ctx, (const double(*)[3])set.sites, set.count, low, high, NULL, NULL, &k));
                assert_ok(ctx, rbli_cell_complex_check(ctx, k));
                rbli_cell_complex_destroy(ctx, k);
            }
    finish_context(ctx);
}

static void volumes_agree_with_voro(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double volumes[FAMILY_MOST_SITES], centroids[FAMILY_MOST_SITES][3], ours[FAMILY_MOST_SITES];
    static const int families[] = {0, 1, 2, 4, 9, 16, 23, 25, 28};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (int jittered = 0; jittered < 2; jittered++)
            for (uint64_t seed = 1; seed < 4; seed++) {
                make_family(families[i], seed, jittered ? 1e-3 : 0, &set);
                rbl_status status = rbli_voro_cells(
                    (const double(*)[3])set.sites, set.count, padded_min, padded_max, volumes, centroids);
                if (status == RBL_ERR_ARGUMENT) continue; /* sites that coincide */
                assert_int_equal(status, RBL_OK);
                rbli_cell_complex *k = make_set(ctx, padded_min, padded_max);
                assert_int_equal(k->cell_count, set.count);
                assert_ok(ctx, rbli_complex_moments(ctx, k, NULL, ours));
                for (size_t c = 0; c < k->cell_count; c++)
                    assert_close(ours[c], volumes[k->cell_site[c]], 1e-12);
                rbli_cell_complex_destroy(ctx, k);
            }
    finish_context(ctx);
}

static int compare_tetrahedra(const void *a, const void *b)
{
    return memcmp(a, b, 4 * sizeof(int32_t));
}

/// Each tetrahedron's corners sorted, and all of them sorted.
static int32_t (*canonical(const rbli_delaunay *d))[4]
{
    int32_t(*list)[4] = malloc(d->tetrahedron_count * sizeof *list);
    for (size_t t = 0; t < d->tetrahedron_count; t++) {
        memcpy(list[t], d->tetrahedra[t].v, sizeof list[t]);
        for (int i = 1; i < 4; i++)
            for (int j = i; j > 0 && list[t][j] < list[t][j - 1]; j--) {
                int32_t s = list[t][j];
                list[t][j] = list[t][j - 1];
                list[t][j - 1] = s;
            }
    }
    qsort(list, d->tetrahedron_count, sizeof *list, compare_tetrahedra);
    return list;
}

static void check_triangulation(const rbli_delaunay *d)
{
    for (size_t t = 0; t < d->tetrahedron_count; t++)
        for (int i = 0; i < 4; i++) {
            int32_t n = d->tetrahedra[t].n[i], back = 0, shared = 0;
            if (n < 0) continue;
            for (int j = 0; j < 4; j++) {
                back += d->tetrahedra[n].n[j] == (int32_t)t;
                for (int k = 0; k < 4; k++)
                    shared += k != i && d->tetrahedra[t].v[k] == d->tetrahedra[n].v[j];
            }
            assert_int_equal(back, 1);
            assert_int_equal(shared, 3);
        }
}

static void the_triangulation_does_not_depend_on_the_order_of_insertion(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double points[FAMILY_MOST_SITES][3];
    static int32_t rank[FAMILY_MOST_SITES], curve[FAMILY_MOST_SITES], order[FAMILY_MOST_SITES];
    for (int family = 0; family < FAMILY_COUNT; family++) {
        if (family == 22 || family == 23 || family == 32) continue; /* equal points, or far ones */
        make_family(family, 3, 0, &set);
        for (size_t i = 0; i < set.count; i++) {
            rank[i] = curve[i] = order[i] = (int32_t)i;
            for (int k = 0; k < 3; k++)
                points[i][k] = rint(set.sites[i][k] * 0x1p20) * (family % 2 ? 1 : 0x1p26);
        }
        bool equal = false;
        for (size_t i = 0; i < set.count; i++)
            for (size_t j = 0; j < i; j++)
                equal |= memcmp(points[i], points[j], sizeof points[i]) == 0;
        if (equal) continue;
        rbli_delaunay *first = NULL;
        assert_ok(ctx, rbli_delaunay_create(
                           ctx, (const double(*)[3])points, set.count, rank, 0x1p51, curve, order, &first));
        check_triangulation(first);
        int32_t(*expected)[4] = canonical(first);
        rbli_rng rng = rbli_rng_make(9, RBLI_RNG_TEST, (uint64_t)family);
        for (int shuffle = 0; shuffle < 4; shuffle++) {
            for (size_t i = set.count; i-- > 1;) {
                size_t j = rbli_rng_below(&rng, (uint32_t)i + 1);
                int32_t o = order[i];
                order[i] = order[j];
                order[j] = o;
            }
            rbli_delaunay *other = NULL;
            assert_ok(ctx, rbli_delaunay_create(ctx, (const double(*)[3])points, set.count, rank, 0x1p51,
                               curve, order, &other));
            assert_int_equal(first->tetrahedron_count, other->tetrahedron_count);
            int32_t(*found)[4] = canonical(other);
            assert_memory_equal(expected, found, first->tetrahedron_count * sizeof *found);
            free(found);
            rbli_delaunay_destroy(ctx, other);
        }
        free(expected);
        rbli_delaunay_destroy(ctx, first);
    }
    finish_context(ctx);
}

/// 6,000 distinct integer points of one kind.
static size_t make_many(int kind, double (*points)[3])
{
    enum { SIDE = 18, COUNT = SIDE * SIDE * SIDE };
    rbli_rng rng = rbli_rng_make(11, RBLI_RNG_TEST, (uint64_t)kind);
    for (int i = 0; i < COUNT; i++) {
        double u[3], length = 0;
        int lattice[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int k = 0; k < 3; k++) {
            u[k] = rbli_rng_double(&rng) - 0.5;
            length += u[k] * u[k];
        }
        for (int k = 0; k < 3; k++) {
            double x = kind == 0   ? u[k]                                            /* everywhere */
                       : kind == 1 ? (lattice[k] - SIDE / 2) / 32.0                  /* on a lattice */
                       : kind == 2 ? u[k] / sqrt(length) / 2                         /* on a sphere */
                       : kind == 3 ? (k == 2 ? 0 : u[k])                             /* on a plane */
                       : kind == 4 ? u[k] * (i % 7 ? 0x1p-12 : 1)                    /* most in a cluster */
                                   : (k ? u[k] * 0x1p-20 : i / (double)COUNT - 0.5); /* along a line */
            points[i][k] = rint(x * 0x1p48);
        }
    }
    return COUNT;
}

static void threads_make_the_same_triangulation(void **state)
{
    (void)state;
    static double points[6000][3];
    static int32_t rank[6000], curve[6000], order[6000];
    static const int thread_counts[] = {2, 3, 8};
    for (int kind = 0; kind < 6; kind++) {
        size_t count = make_many(kind, points);
        for (size_t i = 0; i < count; i++)
            rank[i] = (int32_t)i;
        rbl_context *one = make_context(1);
        rbli_delaunay *expected = NULL;
        const double(*p)[3] = (const double(*)[3])points;
        bool equal = true;
        assert_ok(one, rbli_delaunay_order(one, p, count, 0x1p51, curve, order, &equal));
        assert_false(equal);
        assert_ok(one, rbli_delaunay_create(one, p, count, rank, 0x1p51, curve, order, &expected));
        check_triangulation(expected);
        for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
            rbl_context *many = make_context(thread_counts[t]);
            rbli_pool_set_core_count(many->pool, thread_counts[t]);
            rbli_delaunay *found = NULL;
            assert_ok(many, rbli_delaunay_create(many, p, count, rank, 0x1p51, curve, order, &found));
            assert_int_equal(expected->tetrahedron_count, found->tetrahedron_count);
            assert_memory_equal(expected->tetrahedra, found->tetrahedra,
                found->tetrahedron_count * sizeof *found->tetrahedra);
            rbli_delaunay_destroy(many, found);
            finish_context(many);
        }
        rbli_delaunay_destroy(one, expected);
        memcpy(points[count / 3], points[count / 2], sizeof *points);
        assert_ok(one, rbli_delaunay_order(one, p, count, 0x1p51, curve, order, &equal));
        assert_true(equal);
        finish_context(one);
    }
}

static void the_same_bytes_for_any_thread_count(void **state)
{
    (void)state;
    rbl_context *one = make_context(1), *four = make_context(4);
    static double sites[20000][3];
    rbli_rng rng = rbli_rng_make(5, RBLI_RNG_TEST, 0);
    for (int i = 0; i < 60000; i++)
        sites[i / 3][i % 3] = rbli_rng_double(&rng);
    rbli_cell_complex *a = make(one, (const double(*)[3])sites, 20000, unit_min, unit_max);
    rbli_cell_complex *b = make(four, (const double(*)[3])sites, 20000, unit_min, unit_max);
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->facet_count, b->facet_count);
    assert_memory_equal(a->vertices, b->vertices, a->vertex_count * sizeof *a->vertices);
    assert_memory_equal(a->facet_start, b->facet_start, (a->facet_count + 1) * sizeof *a->facet_start);
    assert_memory_equal(a->facet_vertices, b->facet_vertices,
        (size_t)a->facet_start[a->facet_count] * sizeof *a->facet_vertices);
    assert_memory_equal(a->facet_cells, b->facet_cells, a->facet_count * sizeof *a->facet_cells);
    rbli_cell_complex_destroy(one, a);
    rbli_cell_complex_destroy(four, b);
    finish_context(one);
    finish_context(four);
}

static void close_sites_are_merged(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double sites[5][3] = {
        {0.2, 0.2, 0.2}, {0.7, 0.7, 0.7}, {0.2, 0.2, 0.2}, {0.7, 0.7 + 3e-10, 0.7}, {0.7, 0.2, 0.5}};
    size_t merged = 9, pair[2] = {9, 9};
    rbli_cell_complex *k = NULL;
    assert_ok(
        ctx, rbli_voronoi_complex(ctx, (const double(*)[3])sites, 5, unit_min, unit_max, &merged, pair, &k));
    assert_int_equal(merged, 2);
    assert_int_equal(pair[0], 0);
    assert_int_equal(pair[1], 2);
    assert_int_equal(k->cell_count, 3);
    assert_int_equal(k->cell_site[0], 0);
    assert_int_equal(k->cell_site[1], 1);
    assert_int_equal(k->cell_site[2], 4);
    check_complex(ctx, k, unit_min, unit_max);
    rbli_cell_complex_destroy(ctx, k);
    finish_context(ctx);
}

static void a_single_site_and_far_ones_take_the_box(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double inside[][3] = {{0.3, 0.4, 0.5}}, far[][3] = {{1e300, -1e305, 3}},
                 two[][3] = {{0.5, 0.5, 0.5}, {1e308, 0, 0}}, pair[][3] = {{1e200, 0, 0}, {-1e200, 0, 0}};
    const struct {
        const double (*sites)[3];
        size_t count;
    } cases[] = {{inside, 1}, {far, 1}, {two, 2}, {pair, 2}};
    for (size_t i = 0; i < 4; i++) {
        rbli_cell_complex *k = make(ctx, cases[i].sites, cases[i].count, unit_min, unit_max);
        assert_int_equal(k->cell_count, 1);
        assert_int_equal(k->facet_count, 6);
        assert_int_equal(k->vertex_count, 8);
        rbli_cell_complex_destroy(ctx, k);
    }
    finish_context(ctx);
}

static void boxes_far_from_the_origin_and_thin_ones_are_filled(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double boxes[][2][3] = {{{1e6, -2e6, 3e6}, {1e6 + 1, -2e6 + 1, 3e6 + 1}}, {{0, 0, 0}, {1, 1, 1e-6}},
        {{0, 0, 0}, {1e-100, 2e-100, 1e-100}}, {{-1e150, 0, 0}, {1e150, 1e150, 1e150}},
        {{0, 0, 0}, {1e6, 1, 1}}};
    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
        make_family(0, b, 0, &set);
        for (size_t i = 0; i < set.count; i++)
            for (int k = 0; k < 3; k++)
                set.sites[i][k] = boxes[b][0][k] + set.sites[i][k] * (boxes[b][1][k] - boxes[b][0][k]);
        rbli_cell_complex *k = NULL;
        assert_ok(ctx, rbli_voronoi_complex(ctx, (const double(*)[3])set.sites, set.count, boxes[b][0],
                           boxes[b][1], NULL, NULL, &k));
        assert_ok(ctx, rbli_cell_complex_check(ctx, k));
        assert_int_equal(k->cell_count, set.count);
        rbli_cell_complex_destroy(ctx, k);
    }
    finish_context(ctx);
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double sites[][3] = {{0.5, 0.5, 0.5}, {0.1, NAN, 0.2}};
    rbli_cell_complex *k = NULL;
    assert_int_equal(
        rbli_voronoi_complex(ctx, sites, 2, unit_min, unit_max, NULL, NULL, &k), RBL_ERR_ARGUMENT);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "site 1"));
    assert_int_equal(
        rbli_voronoi_complex(ctx, sites, 0, unit_min, unit_max, NULL, NULL, &k), RBL_ERR_ARGUMENT);
    assert_int_equal(
        rbli_voronoi_complex(ctx, sites, 1, unit_max, unit_min, NULL, NULL, &k), RBL_ERR_ARGUMENT);
    assert_null(k);
    finish_context(ctx);
}

static void relaxation_makes_cells_even(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static double volumes[300];
    make_family(0, 5, 0, &set);
    double spread[2];
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        if (relaxed) assert_ok(ctx, rbli_voro_relax(ctx, set.sites, set.count, unit_min, unit_max, 10));
        rbli_cell_complex *k = make_set(ctx, unit_min, unit_max);
        assert_ok(ctx, rbli_complex_moments(ctx, k, NULL, volumes));
        spread[relaxed] = 0;
        for (size_t c = 0; c < k->cell_count; c++)
            spread[relaxed] += (volumes[c] - 1.0 / 300) * (volumes[c] - 1.0 / 300);
        rbli_cell_complex_destroy(ctx, k);
    }
    assert_true(spread[1] < 0.2 * spread[0]);
    /* Against voro++'s centroids, one step. */
    static double moved[300][3], centroids[300][3];
    memcpy(moved, set.sites, sizeof moved);
    assert_int_equal(
        rbli_voro_cells((const double(*)[3])moved, 300, unit_min, unit_max, volumes, centroids), RBL_OK);
    assert_ok(ctx, rbli_voro_relax(ctx, moved, 300, unit_min, unit_max, 1));
    for (int i = 0; i < 900; i++)
        assert_close(moved[i / 3][i % 3], centroids[i / 3][i % 3], 1e-12);
    /* 500 cospherical sites disturbed by rounding end voro++. */
    rbli_rng rng = rbli_rng_make(3, RBLI_RNG_TEST, 0);
    set.count = 0;
    add_sphere(&set, 500, 0.4, &rng);
    for (int i = 0; i < 1500; i++)
        set.sites[i / 3][i % 3] += 1e-15 * (2 * rbli_rng_double(&rng) - 1);
    assert_ok(ctx, rbli_voro_relax(ctx, set.sites, set.count, unit_min, unit_max, 3));
    finish_context(ctx);
}

static void the_reference_refuses_what_it_cannot_bear(void **state)
{
    (void)state;
    double volumes[2] = {-1, -1};
    const double wall[][3] = {{0.5, 0.5, 0.5}, {1, 0.5, 0.5}},
                 equal[][3] = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5 + 1e-12}},
                 infinite[][3] = {{0.5, 0.5, 0.5}, {0.1, INFINITY, 0.5}};
    assert_int_equal(rbli_voro_cells(wall, 2, unit_min, unit_max, volumes, NULL), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_voro_cells(equal, 2, unit_min, unit_max, volumes, NULL), RBL_ERR_ARGUMENT);
    assert_int_equal(rbli_voro_cells(infinite, 2, unit_min, unit_max, volumes, NULL), RBL_ERR_ARGUMENT);
    assert_true(volumes[0] == -1 && volumes[1] == -1);
}

/// Fails the allocation number `left`, counting down.
static void *failing_reallocate(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    (void)old_bytes;
    atomic_long *left = user;
    if (!new_bytes) {
        free(pointer);
        return NULL;
    }
    return atomic_fetch_sub(left, 1) == 1 ? NULL : realloc(pointer, new_bytes);
}

static void survive_failed_allocations(int threads, const double (*sites)[3], size_t count)
{
    atomic_long left = 0;
    size_t failures = 0;
    rbli_allocator *allocator = rbli_allocator_create(failing_reallocate, &left);
    rbl_context ctx = {.allocator = allocator};
    if (threads > 1) {
        assert_int_equal(rbli_pool_create(allocator, threads, &ctx.pool), RBL_OK);
        rbli_pool_set_core_count(ctx.pool, threads);
    }
    size_t held = rbli_allocator_bytes(allocator);
    for (long n = 1;; n++) {
        rbli_cell_complex *k = NULL;
        atomic_store(&left, n);
        rbl_status status = rbli_voronoi_complex(&ctx, sites, count, padded_min, padded_max, NULL, NULL, &k);
        atomic_store(&left, 0);
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
    rbli_pool_destroy(ctx.pool);
    rbli_allocator_release(allocator);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    make_family(2, 1, 0, &set);
    memcpy(set.sites[1], set.sites[0], sizeof set.sites[0]);
    survive_failed_allocations(1, (const double(*)[3])set.sites, set.count);
    static double many[3000][3];
    rbli_rng rng = rbli_rng_make(6, RBLI_RNG_TEST, 0);
    for (int i = 0; i < 9000; i++)
        many[i / 3][i % 3] = rbli_rng_double(&rng);
    survive_failed_allocations(3, (const double(*)[3])many, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_random_sites_fill_the_box),
        cmocka_unit_test(degenerate_sites_are_ordinary),
        cmocka_unit_test(lattices_come_out_as_exact_boxes),
        cmocka_unit_test(walls_may_coincide_with_facets),
        cmocka_unit_test(volumes_agree_with_voro),
        cmocka_unit_test(the_triangulation_does_not_depend_on_the_order_of_insertion),
        cmocka_unit_test(threads_make_the_same_triangulation),
        cmocka_unit_test(the_same_bytes_for_any_thread_count),
        cmocka_unit_test(close_sites_are_merged),
        cmocka_unit_test(a_single_site_and_far_ones_take_the_box),
        cmocka_unit_test(boxes_far_from_the_origin_and_thin_ones_are_filled),
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test(relaxation_makes_cells_even),
        cmocka_unit_test(the_reference_refuses_what_it_cannot_bear),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
