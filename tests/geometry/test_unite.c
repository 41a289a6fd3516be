#include "fracture/base/rng.h"
#include "fracture/geometry/unite.h"
#include "tests/geometry/cut_help.h"

enum { SIDE = 6, MOST_BOXES = 7, ASSEMBLIES = 500 };

typedef struct assembly {
    test_mesh mesh;
    int32_t nodes[12 * MOST_BOXES];
    uint8_t full[SIDE][SIDE][SIDE];
    size_t box_count;
} assembly;

static int below(rbli_rng *rng, int limit)
{
    return (int)(rbli_rng_u32(rng) % (uint32_t)limit);
}

static void add_box(test_mesh *mesh, const int low[3], const int high[3])
{
    static const int32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    int32_t base = (int32_t)mesh->vertex_count;
    for (int i = 0; i < 8; i++)
        mesh_vertex(mesh, i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
    for (int f = 0; f < 12; f++)
        mesh_triangle(mesh, base + faces[f][0], base + faces[f][1], base + faces[f][2]);
}

static void make_assembly(rbli_rng *rng, assembly *a)
{
    *a = (assembly){.box_count = (size_t)(2 + below(rng, MOST_BOXES - 1))};
    for (size_t i = 0; i < a->box_count; i++) {
        int low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = below(rng, SIDE - 1);
            high[k] = low[k] + 1 + below(rng, SIDE - low[k] < 4 ? SIDE - low[k] : 4);
        }
        add_box(&a->mesh, low, high);
        for (int x = low[0]; x < high[0]; x++)
            for (int y = low[1]; y < high[1]; y++)
                for (int z = low[2]; z < high[2]; z++)
                    a->full[x][y][z] = 1;
    }
}

static size_t count_full(const assembly *a)
{
    size_t count = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        count += a->full[i / SIDE / SIDE][i / SIDE % SIDE][i % SIDE] != 0;
    return count;
}

static void flood_voxels(uint8_t full[SIDE][SIDE][SIDE], int x, int y, int z)
{
    if (x < 0 || y < 0 || z < 0 || x >= SIDE || y >= SIDE || z >= SIDE || !full[x][y][z]) return;
    full[x][y][z] = 0;
    for (int k = 0; k < 6; k++)
        flood_voxels(full, x + (k == 0) - (k == 1), y + (k == 2) - (k == 3), z + (k == 4) - (k == 5));
}

/// Parts that hang together through faces.
static size_t count_islands(const assembly *a)
{
    uint8_t full[SIDE][SIDE][SIDE];
    size_t count = 0;
    memcpy(full, a->full, sizeof full);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        int x = i / SIDE / SIDE, y = i / SIDE % SIDE, z = i % SIDE;
        if (!full[x][y][z]) continue;
        count++;
        flood_voxels(full, x, y, z);
    }
    return count;
}

/// By a rational rotation, so that rounding alone disturbs what touches.
static void rotate_mesh(test_mesh *mesh)
{
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions[v];
        double x = 0.6 * p[0] - 0.8 * p[1], y = 0.8 * p[0] + 0.6 * p[1], z = p[2];
        p[0] = (5 * x - 12 * z) / 13;
        p[1] = y;
        p[2] = (12 * x + 5 * z) / 13;
    }
}

static void choose_kept(const rbli_repair_result *r, bool *kept)
{
    for (size_t s = 0; s < r->shell_count; s++) {
        kept[s] = r->shells[s].kind <= RBLI_SHELL_CAVITY;
        for (int32_t a = (int32_t)s; a >= 0; a = r->shells[a].parent)
            if (r->shells[a].kind == RBLI_SHELL_SOLID && r->shells[a].parent >= 0 &&
                r->shells[r->shells[a].parent].kind == RBLI_SHELL_SOLID)
                kept[s] = false;
    }
}

static double signed_volume(const rbli_repair_result *r, const rbli_shell *shell)
{
    double sum = 0;
    for (int32_t t = shell->triangle_start; t < shell->triangle_start + shell->triangle_count; t++) {
        const double *a = r->positions[r->triangles[t][0]], *b = r->positions[r->triangles[t][1]],
                     *c = r->positions[r->triangles[t][2]];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

/// Volume and number of solids of what a repair and a union give.
static bool measure(
    rbl_context *ctx, const test_mesh *mesh, const int32_t *node, double *volume, size_t *solids)
{
    rbli_repair_options options = rbli_repair_default_options();
    rbli_repair_result *repaired = NULL, *united = NULL;
    rbli_mesh_view view = view_of(mesh);
    assert_ok(ctx, rbli_repair(ctx, &view, node, &options, &repaired));
    bool kept[64];
    assert_true(repaired->shell_count <= 64);
    choose_kept(repaired, kept);
    rbl_status status = rbli_unite(ctx, repaired, kept, RBLI_JOIN_SCENE, &united);
    if (status != RBL_OK) print_messages(ctx);
    const rbli_repair_result *r = united ? united : repaired;
    *volume = 0;
    *solids = 0;
    for (size_t s = 0; s < r->shell_count; s++) {
        if (r->shells[s].kind > RBLI_SHELL_CAVITY || (!united && !kept[s])) continue;
        *volume += signed_volume(r, &r->shells[s]);
        *solids += r->shells[s].kind == RBLI_SHELL_SOLID;
    }
    rbli_repair_result_destroy(ctx, united);
    rbli_repair_result_destroy(ctx, repaired);
    return status == RBL_OK;
}

static void run_assemblies(uint64_t seed, bool rotated)
{
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make((uint32_t)seed, 0, 0);
    size_t wrong = 0;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < ASSEMBLIES; i++) {
        assembly a;
        double volume;
        size_t solids, islands;
        make_assembly(&rng, &a);
        if (rotated) rotate_mesh(&a.mesh);
        double full = (double)count_full(&a);
        islands = count_islands(&a);
        bool done = measure(ctx, &a.mesh, a.nodes, &volume, &solids);
        if (!done || fabs(volume - full) > 1e-9 * full || (!rotated && solids != islands)) {
            print_error("assembly %zu of %zu boxes: volume %.12g of %.12g, %zu solids of %zu\n", i,
                a.box_count, volume, full, solids, islands);
            for (size_t v = 0; v < a.mesh.vertex_count; v += 8)
                print_error("  box %g %g %g to %g %g %g\n", a.mesh.positions[v][0], a.mesh.positions[v][1],
                    a.mesh.positions[v][2], a.mesh.positions[v + 7][0], a.mesh.positions[v + 7][1],
                    a.mesh.positions[v + 7][2]);
            wrong++;
        }
        free_mesh(&a.mesh);
    }
    assert_int_equal(wrong, 0);
    finish_context(ctx);
}

/// The solids of an assembly united, NULL when none meets another.
static rbli_repair_result *unite_assembly(rbl_context *ctx, const test_mesh *mesh, const int32_t *node)
{
    rbli_repair_options options = rbli_repair_default_options();
    rbli_repair_result *repaired = NULL, *united = NULL;
    rbli_mesh_view view = view_of(mesh);
    bool kept[64];
    assert_ok(ctx, rbli_repair(ctx, &view, node, &options, &repaired));
    assert_true(repaired->shell_count <= 64);
    choose_kept(repaired, kept);
    assert_ok(ctx, rbli_unite(ctx, repaired, kept, RBLI_JOIN_NODE, &united));
    rbli_repair_result_destroy(ctx, repaired);
    return united;
}

/// Voxels, in eighths, on the sides of x = 2.5 and y = 3.
static void count_quarters(const assembly *a, double quarters[4])
{
    memset(quarters, 0, 4 * sizeof *quarters);
    for (int x = 0; x < 2 * SIDE; x++)
        for (int y = 0; y < SIDE; y++)
            for (int z = 0; z < SIDE; z++)
                quarters[(x >= 5) + 2 * (y >= 3)] += a->full[x / 2][y][z] ? 0.5 : 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void united_solids_are_cut_into_the_right_parts(void **state)
{
    (void)state;
    static const double planes[2][4] = {{1, 0, 0, 2.5}, {0, 1, 0, 3}};
    static const double low[3] = {-1, -1, -1}, high[3] = {SIDE + 1, SIDE + 1, SIDE + 1};
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(13, 0, 0);
    rbli_cell_complex *complex = NULL;
    print_message("seed 13\n");
    assert_ok(ctx, rbli_plane_complex(ctx, planes, 2, low, high, NULL, &complex));
    for (size_t i = 0; i < 100; i++) {
        assembly a;
        make_assembly(&rng, &a);
        rbli_repair_result *united = unite_assembly(ctx, &a.mesh, a.nodes);
        if (united) {
            rbli_mesh_view mesh = {(const double(*)[3])united->positions, united->vertex_count,
                (const int32_t(*)[3])united->triangles, united->triangle_count};
            rbli_cut_result *cut = NULL;
            double wanted[4], got[4] = {0};
            assert_ok(ctx, rbli_cut(ctx, &mesh, complex, NULL, &cut));
            for (size_t p = 0; p < cut->piece_count; p++)
                got[cut->piece_cell[p]] += cut->piece_volume[p];
            count_quarters(&a, wanted);
            qsort(wanted, 4, sizeof *wanted, compare_doubles);
            qsort(got, 4, sizeof *got, compare_doubles);
            for (int k = 0; k < 4; k++)
                assert_close(got[k], wanted[k], 1e-9);
            rbli_cut_result_destroy(ctx, cut);
        }
        rbli_repair_result_destroy(ctx, united);
        free_mesh(&a.mesh);
    }
    rbli_cell_complex_destroy(ctx, complex);
    finish_context(ctx);
}

static void shuffled_triangles_unite_alike(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(14, 0, 0);
    print_message("seed 14\n");
    for (size_t i = 0; i < 50; i++) {
        assembly a;
        make_assembly(&rng, &a);
        rbli_repair_result *first = unite_assembly(ctx, &a.mesh, a.nodes);
        for (size_t t = a.mesh.triangle_count; t > 1; t--) {
            size_t other = (size_t)below(&rng, (int)t);
            int32_t moved[3];
            memcpy(moved, a.mesh.triangles[t - 1], sizeof moved);
            memcpy(a.mesh.triangles[t - 1], a.mesh.triangles[other], sizeof moved);
            memcpy(a.mesh.triangles[other], moved, sizeof moved);
        }
        rbli_repair_result *second = unite_assembly(ctx, &a.mesh, a.nodes);
        assert_true((first == NULL) == (second == NULL));
        if (first) {
            assert_int_equal(first->vertex_count, second->vertex_count);
            assert_int_equal(first->triangle_count, second->triangle_count);
            assert_memory_equal(
                first->positions, second->positions, first->vertex_count * sizeof *first->positions);
            assert_memory_equal(
                first->triangles, second->triangles, first->triangle_count * sizeof *first->triangles);
        }
        rbli_repair_result_destroy(ctx, first);
        rbli_repair_result_destroy(ctx, second);
        free_mesh(&a.mesh);
    }
    finish_context(ctx);
}

/// What a union gives is closed and meets nothing: repairing and uniting it again change nothing.
static void repairing_a_union_changes_nothing(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_rng rng = rbli_rng_make(15, 0, 0);
    size_t tried = 0;
    print_message("seed 15\n");
    for (size_t i = 0; i < 100; i++) {
        assembly a;
        make_assembly(&rng, &a);
        if (i % 2) rotate_mesh(&a.mesh);
        rbli_repair_result *united = unite_assembly(ctx, &a.mesh, a.nodes), *again = NULL,
                           *united_again = NULL;
        if (united) {
            rbli_repair_options options = rbli_repair_default_options();
            rbli_mesh_view view = {(const double(*)[3])united->positions, united->vertex_count,
                (const int32_t(*)[3])united->triangles, united->triangle_count};
            int32_t *node = calloc(united->triangle_count, sizeof *node);
            bool kept[64];
            assert_ok(ctx, rbli_repair(ctx, &view, node, &options, &again));
            assert_int_equal(again->vertex_count, united->vertex_count);
            assert_int_equal(again->triangle_count, united->triangle_count);
            assert_int_equal(again->shell_count, united->shell_count);
            double before = 0, after = 0;
            for (size_t s = 0; s < united->shell_count; s++)
                before += signed_volume(united, &united->shells[s]);
            for (size_t s = 0; s < again->shell_count; s++) {
                after += signed_volume(again, &again->shells[s]);
                if (i % 2 == 0)
                    assert_false(again->shells[s].overlaps_other); /* rounding may push edges in */
            }
            assert_close(after, before, 1e-12);
            choose_kept(again, kept);
            assert_ok(ctx, rbli_unite(ctx, again, kept, RBLI_JOIN_SCENE, &united_again));
            if (united_again) { /* solids that touch in an edge are tried; turned, they may meet by rounding */
                double joined = 0;
                for (size_t s = 0; s < united_again->shell_count; s++)
                    joined += signed_volume(united_again, &united_again->shells[s]);
                assert_close(joined, before, 1e-9);
                if (i % 2 == 0) assert_int_equal(united_again->triangle_count, united->triangle_count);
                if (i % 2 == 0) assert_int_equal(united_again->shell_count, united->shell_count);
            }
            rbli_repair_result_destroy(ctx, united_again);
            tried++;
            free(node);
        }
        rbli_repair_result_destroy(ctx, again);
        rbli_repair_result_destroy(ctx, united);
        free_mesh(&a.mesh);
    }
    assert_true(tried > 50);
    finish_context(ctx);
}

static void plain_boxes_match_voxels(void **state)
{
    (void)state;
    run_assemblies(11, false);
}

static void rotated_boxes_match_voxels(void **state)
{
    (void)state;
    run_assemblies(12, true);
}

/// Many solids, each with a cavity and a smaller solid at a corner: only neighbours meet, and each union is of the larger
/// one's node.
static void many_solids_unite_with_their_own(void **state)
{
    (void)state;
    enum { LINE = 5, COUNT = LINE * LINE * LINE, SHELLS = 3 * COUNT };
    static int32_t nodes[12 * SHELLS];
    static bool kept[SHELLS], named[2 * COUNT];
    rbl_context *ctx = make_context(2);
    test_mesh mesh = {0};
    for (int i = 0; i < COUNT; i++) {
        int x = 10 * (i % LINE), y = 10 * (i / LINE % LINE), z = 10 * (i / LINE / LINE);
        add_box(&mesh, (int[]){x, y, z}, (int[]){x + 6, y + 6, z + 6});
        add_box(&mesh, (int[]){x + 1, y + 1, z + 1}, (int[]){x + 3, y + 3, z + 3});
        for (size_t t = mesh.triangle_count - 12; t < mesh.triangle_count; t++) {
            int32_t swap = mesh.triangles[t][1];
            mesh.triangles[t][1] = mesh.triangles[t][2];
            mesh.triangles[t][2] = swap;
        }
        add_box(&mesh, (int[]){x + 4, y + 4, z + 4}, (int[]){x + 8, y + 8, z + 8});
        for (int t = 0; t < 36; t++)
            nodes[36 * i + t] = 2 * i + (t < 24);
    }
    rbli_repair_result *repaired = NULL, *united = NULL;
    rbli_mesh_view view = view_of(&mesh);
    assert_ok(ctx, rbli_repair(ctx, &view, nodes, NULL, &repaired));
    assert_int_equal(repaired->shell_count, SHELLS);
    for (int s = 0; s < SHELLS; s++)
        kept[s] = true;
    assert_ok(ctx, rbli_unite(ctx, repaired, kept, RBLI_JOIN_SCENE, &united));
    assert_non_null(united);
    assert_int_equal(united->shell_count, 2 * COUNT);
    for (size_t s = 0; s < united->shell_count; s++) {
        const rbli_shell *shell = &united->shells[s];
        bool is_solid = shell->kind == RBLI_SHELL_SOLID;
        assert_close(signed_volume(united, shell), is_solid ? 216 + 64 - 8 : -8, 1e-6);
        if (!is_solid) continue;
        assert_true(shell->node % 2 == 1 && !named[shell->node]);
        named[shell->node] = true;
    }
    rbli_repair_result_destroy(ctx, united);
    rbli_repair_result_destroy(ctx, repaired);
    free_mesh(&mesh);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_boxes_match_voxels),
        cmocka_unit_test(rotated_boxes_match_voxels),
        cmocka_unit_test(united_solids_are_cut_into_the_right_parts),
        cmocka_unit_test(shuffled_triangles_unite_alike),
        cmocka_unit_test(repairing_a_union_changes_nothing),
        cmocka_unit_test(many_solids_unite_with_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
