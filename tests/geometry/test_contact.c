#include "tests/check.h"

#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/contact.h"

/* Boxes with integer corners, so that each contact's area is known; turned and moved as a whole. */

enum { MOST = 400 };

typedef struct scene {
    double positions[8 * MOST][3];
    int32_t triangles[12 * MOST][3];
    int32_t piece[12 * MOST];
    int low[MOST][3], high[MOST][3];
    size_t count;
} scene;

static scene world;

static const double straight[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const double turned[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};

static void add_box(const int low[3], const int high[3], const double m[3][3], double jitter, int diagonal)
{
    static const int32_t quads[6][4] = {
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    size_t b = world.count++;
    memcpy(world.low[b], low, sizeof world.low[b]);
    memcpy(world.high[b], high, sizeof world.high[b]);
    for (int i = 0; i < 8; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = (i >> k & 1 ? high : low)[k];
        for (int r = 0; r < 3; r++) {
            rbli_rng rng = rbli_rng_make(3, RBLI_RNG_TEST, 24 * b + 3 * (size_t)i + (size_t)r);
            world.positions[8 * b + (size_t)i][r] =
                m[r][0] * p[0] + m[r][1] * p[1] + m[r][2] * p[2] + jitter * (rbli_rng_double(&rng) - 0.5);
        }
    }
    for (int f = 0; f < 6; f++)
        for (int h = 0; h < 2; h++) {
            size_t t = 12 * b + 2 * (size_t)f + (size_t)h;
            for (int c = 0; c < 3; c++) {
                int corner = c == 0 ? 0 : c + h;
                world.triangles[t][c] = (int32_t)(8 * b) + quads[f][(corner + diagonal) % 4];
            }
            world.piece[t] = (int32_t)b;
        }
}

static double expected_area(size_t a, size_t b)
{
    for (int k = 0; k < 3; k++) {
        if (world.high[a][k] != world.low[b][k] && world.high[b][k] != world.low[a][k]) continue;
        double area = 1;
        for (int j = 0; j < 3; j++) {
            if (j == k) continue;
            int low = world.low[a][j] > world.low[b][j] ? world.low[a][j] : world.low[b][j];
            int high = world.high[a][j] < world.high[b][j] ? world.high[a][j] : world.high[b][j];
            area *= high > low ? high - low : 0;
        }
        return area;
    }
    return 0;
}

static size_t check_scene(rbl_context *ctx, double tolerance, double within, bool all_matched)
{
    rbli_mesh_view mesh = {(const double(*)[3])world.positions, 8 * world.count,
        (const int32_t(*)[3])world.triangles, 12 * world.count};
    rbli_touch *touches;
    size_t count, at = 0;
    assert_ok(ctx, rbli_find_contacts(ctx, &mesh, world.piece, tolerance, &touches, &count));
    for (size_t a = 0; a < world.count; a++)
        for (size_t b = a + 1; b < world.count; b++) {
            double area = expected_area(a, b);
            if (area == 0) continue;
            assert_true(at < count);
            assert_int_equal(touches[at].piece_a, a);
            assert_int_equal(touches[at].piece_b, b);
            assert_close(touches[at].area, area, within * area);
            if (all_matched) assert_close(touches[at].matched_area, area, within * area);
            at++;
        }
    assert_int_equal(at, count);
    rbli_free(ctx, touches);
    return count;
}

static void octants_have_twelve_contacts(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    for (int way = 0; way < 2; way++) {
        world.count = 0;
        for (int i = 0; i < 8; i++) {
            int low[3] = {i & 1, i >> 1 & 1, i >> 2}, high[3] = {low[0] + 1, low[1] + 1, low[2] + 1};
            add_box(low, high, way ? turned : straight, 0, 0);
        }
        assert_int_equal(check_scene(ctx, 2e-6, 1e-9, false), 12);
    }
    finish_context(ctx);
}

/// A brick wall of boxes of random size: rows of different cuts, so that faces overlap in part.
static void make_wall(const double m[3][3], double jitter)
{
    rbli_rng rng = rbli_rng_make(7, RBLI_RNG_TEST, 900);
    world.count = 0;
    for (int z = 0; z < 6; z++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 40;) {
                int length = 1 + (int)rbli_rng_below(&rng, 7);
                int low[3] = {x, y, z}, high[3] = {x + length, y + 1, z + 1};
                if (rbli_rng_below(&rng, 8)) add_box(low, high, m, jitter, (int)rbli_rng_below(&rng, 4));
                x += length;
            }
    assert_true(world.count > 200 && world.count <= MOST);
}

static void partly_overlapping_faces_count(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        rbl_context *ctx = make_context(threads);
        make_wall(straight, 0);
        check_scene(ctx, 4e-5, 1e-9, false);
        make_wall(turned, 0);
        check_scene(ctx, 4e-5, 1e-9, false);
        make_wall(turned, 2e-5);
        check_scene(ctx, 4e-5, 1e-4, false);
        finish_context(ctx);
    }
}

static void equal_triangles_are_matched(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    /* Quads {0,4,6,2} and {1,3,7,5} start at corresponding corners but run opposite ways: the same diagonal.
     */
    world.count = 0;
    for (int i = 0; i < 5; i++)
        add_box((int[]){i, 0, 0}, (int[]){i + 1, 1, 1}, turned, 0, 0);
    rbli_mesh_view mesh = {(const double(*)[3])world.positions, 8 * world.count,
        (const int32_t(*)[3])world.triangles, 12 * world.count};
    static int32_t ids[8 * MOST], opposite[12 * MOST];
    size_t unique;
    assert_ok(ctx, rbli_position_ids(ctx, mesh.positions, mesh.vertex_count, ids, &unique));
    assert_int_equal(unique, 24);
    assert_ok(ctx, rbli_match_opposite(ctx, mesh.triangles, mesh.triangle_count, ids, world.piece, opposite));
    int matched = 0;
    for (size_t t = 0; t < mesh.triangle_count; t++) {
        if (opposite[t] < 0) continue;
        assert_int_equal(opposite[opposite[t]], t);
        matched++;
    }
    assert_int_equal(matched, 16);
    check_scene(ctx, 0, 1e-9, true);
    finish_context(ctx);
}

static void far_apart_pieces_have_none(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    world.count = 0;
    add_box((int[]){0, 0, 0}, (int[]){1, 1, 1}, straight, 0, 0);
    add_box((int[]){3, 0, 0}, (int[]){4, 1, 1}, straight, 0, 0);
    assert_int_equal(check_scene(ctx, 1e-6, 1e-9, false), 0);
    world.count = 0;
    rbli_mesh_view mesh = {NULL, 0, NULL, 0};
    rbli_touch *touches;
    size_t count;
    assert_ok(ctx, rbli_find_contacts(ctx, &mesh, world.piece, 0, &touches, &count));
    assert_int_equal(count, 0);
    rbli_free(ctx, touches);
    finish_context(ctx);
}

/* Open sheets of strips, to see what becomes of triangles thinner than the tolerance. */

typedef struct sheets {
    double positions[8000][3];
    int32_t triangles[8000][3], piece[8000];
    size_t vertex_count, triangle_count;
} sheets;

static sheets pair;

/// A rectangle at height z of strips across `axis`, looking up or down.
static void add_sheet(int32_t piece, const double low[2], const double high[2], int axis, int strips, bool up)
{
    for (int i = 0; i < strips; i++) {
        double a[2] = {low[0], low[1]}, b[2] = {high[0], high[1]};
        a[axis] = low[axis] + (high[axis] - low[axis]) * i / strips;
        b[axis] = low[axis] + (high[axis] - low[axis]) * (i + 1) / strips;
        int32_t v = (int32_t)pair.vertex_count;
        for (int c = 0; c < 4; c++) {
            double *p = pair.positions[pair.vertex_count++];
            p[0] = c == 1 || c == 2 ? b[0] : a[0];
            p[1] = c >= 2 ? b[1] : a[1];
            p[2] = 0;
        }
        for (int h = 0; h < 2; h++) {
            int32_t *t = pair.triangles[pair.triangle_count];
            pair.piece[pair.triangle_count++] = piece;
            t[0] = v;
            t[up ? 1 : 2] = v + 1 + h;
            t[up ? 2 : 1] = v + 2 + h;
        }
    }
}

static double area_of_sheets(double tolerance)
{
    rbl_context *ctx = make_context(1);
    rbli_mesh_view mesh = {(const double(*)[3])pair.positions, pair.vertex_count,
        (const int32_t(*)[3])pair.triangles, pair.triangle_count};
    rbli_touch *touches;
    size_t count;
    assert_ok(ctx, rbli_find_contacts(ctx, &mesh, pair.piece, tolerance, &touches, &count));
    double area = count ? touches[0].area : 0;
    rbli_free(ctx, touches);
    finish_context(ctx);
    return area;
}

static void thin_overlaps_count_together(void **state)
{
    (void)state;
    pair = (sheets){0}; /* strips of 1/200 across each other: every overlap is thinner than 0.01 */
    add_sheet(0, (double[]){0, 0}, (double[]){1, 1}, 0, 200, true);
    add_sheet(1, (double[]){0.1, 0.2}, (double[]){0.8, 1.3}, 1, 200, false);
    assert_close(area_of_sheets(0.01), 0.7 * 0.8, 1e-12);
    pair = (sheets){0}; /* one strip thinner than twice the tolerance is an edge, however long */
    add_sheet(0, (double[]){0, 0}, (double[]){100, 0.019}, 0, 200, true);
    add_sheet(1, (double[]){0, 0}, (double[]){100, 1}, 0, 170, false);
    assert_close(area_of_sheets(0.01), 0, 0);
    assert_close(area_of_sheets(0.009), 1.9, 1e-9);
    pair = (sheets){0}; /* small feet far apart, each wide enough */
    add_sheet(0, (double[]){0, 0}, (double[]){1000, 1000}, 0, 1, true);
    for (int i = 0; i < 4; i++)
        add_sheet(1, (double[]){10 + 900 * (i & 1), 10 + 450 * (i & 2)},
            (double[]){10.05 + 900 * (i & 1), 10.05 + 450 * (i & 2)}, 0, 20, false);
    assert_close(area_of_sheets(0.01), 4 * 0.05 * 0.05, 1e-9);
}

/// Pairs within a piece do not count, and take no memory.
static void many_equal_triangles_of_a_piece_take_little_memory(void **state)
{
    (void)state;
    enum { COUNT = 8000 };
    static const double positions[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static int32_t triangles[COUNT][3], piece[COUNT];
    for (int t = 0; t < COUNT; t++) {
        triangles[t][1] = t % 2 ? 1 : 2;
        triangles[t][2] = t % 2 ? 2 : 1;
    }
    piece[0] = 1;
    rbl_context *ctx = make_context(1);
    rbli_allocator_set_limit(ctx->allocator, 32 << 20, NULL, NULL);
    rbli_mesh_view view = {positions, 3, (const int32_t(*)[3])triangles, COUNT};
    rbli_touch *touches = NULL;
    size_t count;
    assert_ok(ctx, rbli_find_contacts(ctx, &view, piece, 1e-6, &touches, &count));
    assert_int_equal(count, 1);
    assert_close(touches[0].matched_area, 0.5 * COUNT / 2, 1e-9);
    rbli_free(ctx, touches);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octants_have_twelve_contacts),
        cmocka_unit_test(partly_overlapping_faces_count),
        cmocka_unit_test(equal_triangles_are_matched),
        cmocka_unit_test(far_apart_pieces_have_none),
        cmocka_unit_test(thin_overlaps_count_together),
        cmocka_unit_test(many_equal_triangles_of_a_piece_take_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
