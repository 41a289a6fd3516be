#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/fuse.h"

/* Cells of a lattice, each a closed box of its own; faces may be fans around their middle. */

enum { MOST = 64 };

static double positions[14 * MOST][3];
static int32_t triangles[24 * MOST][3], piece[24 * MOST];
static size_t vertex_count, triangle_count;

static void add_cell(int index, const int at[3], uint32_t fans)
{
    static const int32_t quads[6][4] = {
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    int32_t base = (int32_t)vertex_count;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            positions[vertex_count + (size_t)i][k] = at[k] + (i >> k & 1);
    vertex_count += 8;
    for (int f = 0; f < 6; f++) {
        const int32_t *q = quads[f];
        if (!(fans >> f & 1)) {
            for (int h = 0; h < 2; h++, triangle_count++) {
                piece[triangle_count] = index;
                for (int c = 0; c < 3; c++)
                    triangles[triangle_count][c] = base + q[c == 0 ? 0 : c + h];
            }
            continue;
        }
        for (int k = 0; k < 3; k++)
            positions[vertex_count][k] = (positions[base + q[0]][k] + positions[base + q[2]][k]) / 2;
        for (int c = 0; c < 4; c++, triangle_count++) {
            piece[triangle_count] = index;
            triangles[triangle_count][0] = base + q[c];
            triangles[triangle_count][1] = base + q[(c + 1) % 4];
            triangles[triangle_count][2] = (int32_t)vertex_count;
        }
        vertex_count++;
    }
}

static double check_fused(rbl_context *ctx, size_t *split_count, double *area)
{
    rbli_mesh_view mesh = {
        (const double(*)[3])positions, vertex_count, (const int32_t(*)[3])triangles, triangle_count};
    rbli_fuse_result r;
    assert_ok(ctx, rbli_fuse(ctx, &mesh, piece, &r));
    double volume = 0;
    *area = 0;
    for (size_t t = 0; t < r.triangle_count; t++) {
        const double *a = r.positions[r.triangles[t][0]], *b = r.positions[r.triangles[t][1]],
                     *c = r.positions[r.triangles[t][2]];
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++)
            u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        volume += (n[0] * a[0] + n[1] * a[1] + n[2] * a[2]) / 6;
        *area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
        for (int e = 0; e < 3; e++) {
            int same = 0, reverse = 0;
            for (size_t i = 0; i < 3 * r.triangle_count; i++) {
                int32_t from = r.triangles[i / 3][i % 3], to = r.triangles[i / 3][(i + 1) % 3];
                same += from == r.triangles[t][e] && to == r.triangles[t][(e + 1) % 3];
                reverse += to == r.triangles[t][e] && from == r.triangles[t][(e + 1) % 3];
            }
            assert_int_equal(same, 1);
            assert_int_equal(reverse, 1);
        }
        /* Weights put each corner where it is. */
        for (int c2 = 0; c2 < 3 && r.origins.weights_index[t] >= 0; c2++)
            for (int k = 0; k < 3; k++) {
                double x = 0;
                for (int j = 0; j < 3; j++)
                    x += r.origins.weights[r.origins.weights_index[t]][c2][j] *
                         positions[triangles[r.origins.source[t]][j]][k];
                assert_close(x, r.positions[r.triangles[t][c2]][k], 1e-12);
            }
    }
    *split_count = r.split_edge_count;
    rbli_fuse_result_free(ctx, &r);
    return volume;
}

static void eight_octants_make_one_cube(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    size_t splits;
    double area;
    for (int fans = 0; fans < 2; fans++) {
        vertex_count = triangle_count = 0;
        for (int i = 0; i < 8; i++)
            add_cell(i, (int[]){i & 1, i >> 1 & 1, i >> 2}, fans ? 0x15u * (uint32_t)(i % 3) : 0);
        assert_close(check_fused(ctx, &splits, &area), 8, 1e-12);
        assert_close(area, 24, 1e-12);
        assert_int_equal(splits, 0);
    }
    finish_context(ctx);
}

/// Random cells: all kinds of edges of four triangles, and loops of cells around an edge.
static void random_cells_stay_closed(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    size_t splits, all_splits = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        rbli_rng rng = rbli_rng_make(11, RBLI_RNG_TEST, seed);
        bool set[5][5][5] = {0};
        int count = 0;
        double area, expected = 0;
        vertex_count = triangle_count = 0;
        for (int i = 0; i < 27; i++) {
            int at[3] = {i % 3, i / 3 % 3, i / 9};
            if (rbli_rng_below(&rng, 3) == 0) continue;
            set[at[0] + 1][at[1] + 1][at[2] + 1] = true;
            add_cell(count++, at, rbli_rng_below(&rng, 64));
        }
        for (int i = 0; i < 125; i++)
            for (int k = 0; k < 3; k++) {
                int p[3] = {i % 5, i / 5 % 5, i / 25},
                    q[3] = {p[0] + (k == 0), p[1] + (k == 1), p[2] + (k == 2)};
                if (q[k] < 5) expected += set[p[0]][p[1]][p[2]] != set[q[0]][q[1]][q[2]];
            }
        assert_close(check_fused(ctx, &splits, &area), count, 1e-12);
        assert_close(area, expected, 1e-12);
        all_splits += splits;
    }
    assert_true(all_splits > 0);
    finish_context(ctx);
}

static void an_open_piece_is_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_fuse_result r;
    vertex_count = triangle_count = 0;
    add_cell(0, (int[]){0, 0, 0}, 0);
    rbli_mesh_view mesh = {
        (const double(*)[3])positions, vertex_count, (const int32_t(*)[3])triangles, triangle_count - 1};
    assert_int_equal(rbli_fuse(ctx, &mesh, piece, &r), RBL_ERR_OPEN_MESH);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_octants_make_one_cube),
        cmocka_unit_test(random_cells_stay_closed),
        cmocka_unit_test(an_open_piece_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
