#include "tests/check.h"

#include <gmp.h>
#include <libqhull_r/qhull_ra.h>
#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/delaunay_edges.h"

enum { MOST = 4000, MOST_CORNERS = 64 };

static double points[MOST][3];
static bool joined[64][64];

/* The facet that two cells share, in exact rational numbers: a large square in the plane between both points,
   clipped by the planes between the first and each other point. */

typedef struct corner {
    mpq_t x, y;
} corner;

typedef struct polygon {
    corner corners[MOST_CORNERS], next[MOST_CORNERS];
    int count;
} polygon;

static void facet_init(polygon *f)
{
    for (int i = 0; i < MOST_CORNERS; i++) {
        mpq_inits(f->corners[i].x, f->corners[i].y, NULL);
        mpq_inits(f->next[i].x, f->next[i].y, NULL);
    }
}

static void facet_clear(polygon *f)
{
    for (int i = 0; i < MOST_CORNERS; i++) {
        mpq_clears(f->corners[i].x, f->corners[i].y, NULL);
        mpq_clears(f->next[i].x, f->next[i].y, NULL);
    }
}

/// Keeps a·x + b·y ≤ c.
static void clip(polygon *f, long a, long b, mpq_t c)
{
    mpq_t height[MOST_CORNERS], s, t;
    int kept = 0;
    mpq_inits(s, t, NULL);
    for (int i = 0; i < f->count; i++) {
        mpq_init(height[i]);
        mpq_set_si(s, a, 1);
        mpq_mul(height[i], s, f->corners[i].x);
        mpq_set_si(s, b, 1);
        mpq_mul(t, s, f->corners[i].y);
        mpq_add(height[i], height[i], t);
        mpq_sub(height[i], height[i], c);
    }
    for (int i = 0; i < f->count; i++) {
        int j = (i + 1) % f->count;
        if (mpq_sgn(height[i]) <= 0) {
            mpq_set(f->next[kept].x, f->corners[i].x);
            mpq_set(f->next[kept++].y, f->corners[i].y);
        }
        if (mpq_sgn(height[i]) * mpq_sgn(height[j]) >= 0) continue;
        mpq_sub(s, height[i], height[j]);
        mpq_div(s, height[i], s);
        mpq_sub(t, f->corners[j].x, f->corners[i].x);
        mpq_mul(t, t, s);
        mpq_add(f->next[kept].x, f->corners[i].x, t);
        mpq_sub(t, f->corners[j].y, f->corners[i].y);
        mpq_mul(t, t, s);
        mpq_add(f->next[kept++].y, f->corners[i].y, t);
    }
    for (int i = 0; i < f->count; i++)
        mpq_clear(height[i]);
    f->count = kept;
    for (int i = 0; i < kept; i++) {
        mpq_set(f->corners[i].x, f->next[i].x);
        mpq_set(f->corners[i].y, f->next[i].y);
    }
    mpq_clears(s, t, NULL);
}

/// Whether the facet of whole points p and q has an area. The plane is m + x·u + y·v, u and v whole.
static bool has_facet(size_t count, size_t p, size_t q)
{
    long d[3], u[3] = {0}, v[3];
    for (int k = 0; k < 3; k++)
        d[k] = (long)(points[q][k] - points[p][k]);
    int largest = labs(d[0]) >= labs(d[1]) && labs(d[0]) >= labs(d[2]) ? 0 : labs(d[1]) >= labs(d[2]) ? 1 : 2;
    u[largest] = -d[(largest + 1) % 3];
    u[(largest + 1) % 3] = d[largest];
    for (int k = 0; k < 3; k++)
        v[k] = d[(k + 1) % 3] * u[(k + 2) % 3] - d[(k + 2) % 3] * u[(k + 1) % 3];
    polygon f;
    facet_init(&f);
    f.count = 4;
    for (int i = 0; i < 4; i++) {
        mpq_set_si(f.corners[i].x, i == 1 || i == 2 ? 1000000 : -1000000, 1);
        mpq_set_si(f.corners[i].y, i >= 2 ? 1000000 : -1000000, 1);
    }
    mpq_t c;
    mpq_init(c);
    for (size_t r = 0; r < count && f.count > 0; r++) {
        long a = 0, b = 0, offset = 0;
        if (r == p || r == q) continue;
        for (int k = 0; k < 3; k++) { /* 2 (r − p) · (m + x u + y v) ≤ r² − p², 2 m = p + q */
            long e = (long)(points[r][k] - points[p][k]);
            a += 2 * e * u[k];
            b += 2 * e * v[k];
            offset += (long)(points[r][k] * points[r][k] - points[p][k] * points[p][k]) -
                      e * (long)(points[p][k] + points[q][k]);
        }
        mpq_set_si(c, offset, 1);
        clip(&f, a, b, c);
    }
    mpq_t area, s, t;
    mpq_inits(area, s, t, NULL);
    for (int i = 0; i < f.count; i++) {
        int j = (i + 1) % f.count;
        mpq_mul(s, f.corners[i].x, f.corners[j].y);
        mpq_mul(t, f.corners[j].x, f.corners[i].y);
        mpq_sub(s, s, t);
        mpq_add(area, area, s);
    }
    bool has = mpq_sgn(area) != 0;
    mpq_clears(area, s, t, c, NULL);
    facet_clear(&f);
    return has;
}

static size_t find_edges(rbl_context *ctx, size_t count, int32_t (**out)[2])
{
    size_t edge_count;
    assert_ok(ctx, rbli_delaunay_edges(ctx, (const double(*)[3])points, count, out, &edge_count));
    for (size_t i = 0; i < edge_count; i++) {
        assert_true((*out)[i][0] < (*out)[i][1] && (size_t)(*out)[i][1] < count);
        if (i > 0)
            assert_true((*out)[i][0] > (*out)[i - 1][0] ||
                        ((*out)[i][0] == (*out)[i - 1][0] && (*out)[i][1] > (*out)[i - 1][1]));
    }
    return edge_count;
}

/// Compares with the exact facets of points with small whole coordinates, no two equal.
static void check_whole(rbl_context *ctx, size_t count, const char *kind, size_t number)
{
    int32_t(*edges)[2];
    size_t edge_count = find_edges(ctx, count, &edges);
    memset(joined, 0, sizeof joined);
    for (size_t i = 0; i < edge_count; i++)
        joined[edges[i][0]][edges[i][1]] = true;
    for (size_t p = 0; p < count; p++)
        for (size_t q = p + 1; q < count; q++) {
            bool expected = has_facet(count, p, q);
            if (joined[p][q] != expected) {
                print_error("%s %zu, %zu points: %zu and %zu are %sneighbours\n", kind, number, count, p, q,
                    expected ? "" : "no ");
                fail();
            }
        }
    rbli_free(ctx, edges);
}

/// Whole points below `range`, of rank 1 on a line and 2 in a plane; @return how many are different.
static size_t make_whole(rbli_rng *rng, size_t count, uint32_t range, int rank)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        double *p = points[made];
        for (int k = 0; k < 3; k++)
            p[k] = rbli_rng_below(rng, range);
        if (rank == 2) p[2] = 2 * p[0] - p[1];
        if (rank == 1) p[1] = 2 * p[0], p[2] = -3 * p[0];
        bool repeated = false;
        for (size_t j = 0; j < made && !repeated; j++)
            repeated = memcmp(points[j], p, sizeof points[0]) == 0;
        made += !repeated;
    }
    return made;
}

static void whole_points_agree_with_exact_facets(void **state)
{
    (void)state;
    enum { SEED = 21 };
    print_message("seed %d\n", SEED);
    rbl_context *ctx = make_context(1);
    for (size_t i = 0; i < tries(120, 3000); i++) {
        rbli_rng rng = rbli_rng_make(SEED, RBLI_RNG_TEST, i);
        static const uint32_t ranges[] = {2, 3, 5, 40};
        size_t count = make_whole(&rng, 1 + rbli_rng_below(&rng, 14), ranges[i % 4], 1 + (int)(i / 4 % 3));
        check_whole(ctx, count, "whole", i);
    }
    finish_context(ctx);
}

static void lattices_have_no_diagonals(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const double turned[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    for (int way = 0; way < 4; way++) {
        int side[3] = {7, way == 2 ? 1 : 6, way == 3 ? 1 : 5};
        if (way == 3) side[1] = 1;
        size_t count = 0;
        for (int z = 0; z < side[2]; z++)
            for (int y = 0; y < side[1]; y++)
                for (int x = 0; x < side[0]; x++, count++)
                    for (int k = 0; k < 3; k++)
                        points[count][k] = way == 0 ? (k == 0      ? x
                                                          : k == 1 ? y
                                                                   : z) +
                                                          1e3
                                                    : turned[k][0] * x * 0.7 + turned[k][1] * y * 0.3 +
                                                          turned[k][2] * z * 0.1 + 5;
        int32_t(*edges)[2];
        size_t edge_count = find_edges(ctx, count, &edges);
        size_t expected = (size_t)((side[0] - 1) * side[1] * side[2] + side[0] * (side[1] - 1) * side[2] +
                                   side[0] * side[1] * (side[2] - 1));
        assert_int_equal(edge_count, expected);
        rbli_free(ctx, edges);
    }
    finish_context(ctx);
}

static void equal_points_are_joined_to_the_first(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 3; k++)
            points[i][k] = i / 2 * (k == 0);
    static const int expected[5][2] = {{0, 1}, {0, 2}, {2, 3}, {2, 4}, {4, 5}};
    int32_t(*edges)[2];
    assert_int_equal(find_edges(ctx, 6, &edges), 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(edges[i][0], expected[i][0]);
        assert_int_equal(edges[i][1], expected[i][1]);
    }
    rbli_free(ctx, edges);
    for (size_t count = 0; count < 2; count++) {
        assert_int_equal(find_edges(ctx, count, &edges), 0);
        rbli_free(ctx, edges);
    }
    memset(points, 0, sizeof points); /* all in one place */
    assert_int_equal(find_edges(ctx, 5, &edges), 4);
    rbli_free(ctx, edges);
    points[3][1] = HUGE_VAL;
    size_t edge_count;
    assert_int_equal(
        rbli_delaunay_edges(ctx, (const double(*)[3])points, 5, &edges, &edge_count), RBL_ERR_ARGUMENT);
    finish_context(ctx);
}

/// Edges of qhull's triangulation, each once, as a bit for each pair.
static void qhull_edges(size_t count, double offset, unsigned char *pairs)
{
    qhT qh;
    qh_zero(&qh, stderr);
    coordT *copy = malloc(count * 3 * sizeof *copy);
    for (size_t i = 0; i < 3 * count; i++)
        copy[i] = points[i / 3][i % 3] - offset; /* it loses digits far from the origin */
    char flags[] = "qhull d Qbb Qc Q12";
    assert_int_equal(qh_new_qhull(&qh, 3, (int)count, copy, False, flags, NULL, stderr), 0);
    facetT *facet;
    vertexT *vertex, **vertexp;
    for (facet = qh.facet_list; facet && facet->next; facet = facet->next) {
        int corners[4], n = 0;
        if (facet->upperdelaunay) continue;
        FOREACHvertex_(facet->vertices) if (n < 4) corners[n++] = qh_pointid(&qh, vertex->point);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (corners[i] < corners[j]) pairs[(size_t)corners[i] * count + (size_t)corners[j]] |= 1;
    }
    int long_count, long_bytes;
    qh_freeqhull(&qh, False);
    qh_memfreeshort(&qh, &long_count, &long_bytes);
    assert_int_equal(long_bytes, 0);
    free(copy);
}

static void random_points_agree_with_qhull(void **state)
{
    (void)state;
    enum { SEED = 22, COUNT = 400 };
    print_message("seed %d\n", SEED);
    rbl_context *ctx = make_context(1);
    for (size_t round = 0; round < tries(4, 40); round++) {
        rbli_rng rng = rbli_rng_make(SEED, RBLI_RNG_TEST, round);
        for (size_t i = 0; i < COUNT; i++)
            for (int k = 0; k < 3; k++)
                points[i][k] = rbli_rng_double(&rng) + (round % 2 ? 1e5 : 0);
        unsigned char *pairs = calloc(COUNT, COUNT);
        int32_t(*edges)[2];
        size_t edge_count = find_edges(ctx, COUNT, &edges), missing = 0, more = 0;
        qhull_edges(COUNT, round % 2 ? 1e5 : 0, pairs);
        for (size_t i = 0; i < edge_count; i++)
            pairs[(size_t)edges[i][0] * COUNT + (size_t)edges[i][1]] |= 2;
        for (size_t i = 0; i < (size_t)COUNT * COUNT; i++) {
            missing += pairs[i] == 1;
            more += pairs[i] == 2;
        }
        if (missing + more > 0) print_error("round %zu: %zu missing, %zu more\n", round, missing, more);
        assert_int_equal(missing + more, 0);
        assert_true(edge_count > 6 * COUNT);
        free(pairs);
        rbli_free(ctx, edges);
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_points_agree_with_exact_facets),
        cmocka_unit_test(lattices_have_no_diagonals),
        cmocka_unit_test(equal_points_are_joined_to_the_first),
        cmocka_unit_test(random_points_agree_with_qhull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
