#include "fracture/geometry/collapse.h"
#include "tests/check.h"

typedef struct mesh {
    double positions[64][3];
    int32_t triangles[64][3];
    bool dropped[64];
    int32_t kept[64];
    size_t vertex_count, triangle_count, dropped_count;
} mesh;

static void run(rbl_context *ctx, mesh *m, const uint8_t *prefer)
{
    rbli_arena arena;
    rbli_arena_init(&arena, ctx);
    memset(m->dropped, 0, sizeof m->dropped);
    assert_ok(ctx, rbli_collapse_zero_edges(&arena, (const double(*)[3])m->positions, m->vertex_count, prefer,
                       m->triangles, m->triangle_count, m->dropped, m->kept));
    m->dropped_count = 0;
    for (size_t t = 0; t < m->triangle_count; t++)
        m->dropped_count += m->dropped[t];
    rbli_arena_free(&arena);
    for (size_t t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            if (m->dropped[t]) continue;
            int32_t a = m->triangles[t][k], b = m->triangles[t][(k + 1) % 3];
            int same = 0, reverse = 0;
            for (size_t u = 0; u < m->triangle_count; u++)
                for (int j = 0; j < 3; j++) {
                    if (m->dropped[u]) continue;
                    same += m->triangles[u][j] == a && m->triangles[u][(j + 1) % 3] == b;
                    reverse += m->triangles[u][j] == b && m->triangles[u][(j + 1) % 3] == a;
                }
            assert_true(a != b && same == 1 && reverse == 1);
        }
}

/// A double pyramid over a ring of `sides`, vertices 0 and 1 the tips.
static mesh double_pyramid(int sides)
{
    mesh m = {.vertex_count = (size_t)sides + 2, .triangle_count = 2 * (size_t)sides};
    m.positions[0][2] = 1;
    m.positions[1][2] = -1;
    for (int i = 0; i < sides; i++) {
        m.positions[2 + i][0] = i < sides / 2 ? i : sides - i;
        m.positions[2 + i][1] = i < sides / 2 ? -1 : 1;
        int32_t a = 2 + i, b = 2 + (i + 1) % sides;
        memcpy(m.triangles[2 * i], (int32_t[]){a, b, 0}, sizeof *m.triangles);
        memcpy(m.triangles[2 * i + 1], (int32_t[]){b, a, 1}, sizeof *m.triangles);
    }
    return m;
}

static void clean_mesh_is_left_alone(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    mesh m = double_pyramid(6), before = m;
    run(ctx, &m, NULL);
    assert_int_equal(m.dropped_count, 0);
    assert_memory_equal(m.triangles, before.triangles, sizeof m.triangles);
    finish_context(ctx);
}

static void run_of_equal_vertices_becomes_one(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    mesh m = double_pyramid(8);
    for (int i = 3; i < 6; i++)
        memcpy(m.positions[i], m.positions[2], sizeof *m.positions);
    uint8_t prefer[10] = {0};
    prefer[4] = 1;
    run(ctx, &m, prefer);
    assert_int_equal(m.dropped_count, 6);
    assert_true(m.kept[2] == 4 && m.kept[3] == 4 && m.kept[4] == 4 && m.kept[5] == 4 && m.kept[6] == 6);
    for (size_t t = 0; t < m.triangle_count; t++)
        for (int k = 0; k < 3 && !m.dropped[t]; k++)
            assert_true(m.triangles[t][k] != 2 && m.triangles[t][k] != 3 && m.triangles[t][k] != 5);
    finish_context(ctx);
}

/// Both tips at one place are no edge: the solid only touches itself there.
static void touching_vertices_stay_apart(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    mesh m = double_pyramid(6);
    memcpy(m.positions[1], m.positions[0], sizeof *m.positions);
    run(ctx, &m, NULL);
    assert_int_equal(m.dropped_count, 0);
    finish_context(ctx);
}

static void tetrahedron_never_becomes_two_triangles(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    mesh m = {.vertex_count = 4, .triangle_count = 4};
    m.positions[2][0] = 1;
    m.positions[3][1] = 1; /* 0 and 1 are one place */
    const int32_t faces[4][3] = {{0, 1, 2}, {1, 0, 3}, {0, 2, 3}, {2, 1, 3}};
    memcpy(m.triangles, faces, sizeof faces);
    run(ctx, &m, NULL);
    assert_int_equal(m.dropped_count, 0);
    finish_context(ctx);
}

/// An edge of a triangular neck: joining its ends would pinch the surface.
static void pinching_edges_stay(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    mesh m = double_pyramid(3); /* the ring 2 3 4 is a cycle of three edges that is no triangle */
    memcpy(m.positions[3], m.positions[2], sizeof *m.positions);
    run(ctx, &m, NULL);
    assert_int_equal(m.dropped_count, 0);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_mesh_is_left_alone),
        cmocka_unit_test(run_of_equal_vertices_becomes_one),
        cmocka_unit_test(touching_vertices_stay_apart),
        cmocka_unit_test(tetrahedron_never_becomes_two_triangles),
        cmocka_unit_test(pinching_edges_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
