#include "tests/geometry/exact_contacts.h"

#include <unistd.h>

#include "fracture/geometry/contact.h"
#include "fracture/io/mesh_file.h"

/* Contacts of random assemblies against all pairs of triangles in exact rational numbers: none missed, none
   invented, areas right. RUBBLE_SLOW runs 500 assemblies. */

/* ---- assemblies ---- */

/// A box with whole corners; `diagonals` picks one of two diagonals for each face.
static test_mesh make_whole_box(const int low[3], const int high[3], uint32_t diagonals)
{
    static const int quads[6][4] = {
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    test_mesh mesh = {0};
    for (int i = 0; i < 8; i++)
        mesh_vertex(&mesh, i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
    for (int f = 0; f < 6; f++) {
        int turn = diagonals >> f & 1;
        const int *q = quads[f];
        mesh_triangle(&mesh, q[turn], q[turn + 1], q[turn + 2]);
        mesh_triangle(&mesh, q[turn], q[turn + 2], q[(turn + 3) % 4]);
    }
    return mesh;
}

/// Cuts a box into smaller ones at random planes and keeps most of them.
static void split_box(rbli_rng *rng, const int low[3], const int high[3], int depth, assembly *out)
{
    int axis = (int)rbli_rng_below(rng, 3), size = high[axis] - low[axis];
    if (depth == 0 || size < 2) {
        if (rbli_rng_below(rng, 8) == 0) return;
        test_mesh box = make_whole_box(low, high, rbli_rng_u32(rng));
        assembly_add(out, &box);
        free_mesh(&box);
        return;
    }
    int at[3] = {low[0], low[1], low[2]}, end[3] = {high[0], high[1], high[2]};
    at[axis] = end[axis] = low[axis] + 1 + (int)rbli_rng_below(rng, (uint32_t)size - 1);
    split_box(rng, low, end, depth - 1, out);
    split_box(rng, at, high, depth - 1, out);
}

static void make_boxes_in_grid(rbli_rng *rng, assembly *out)
{
    split_box(rng, (int[]){0, 0, 0}, (int[]){12, 12, 12}, 5, out);
}

/// Boxes that overlap as they come, some of them twice.
static void make_overlapping_boxes(rbli_rng *rng, assembly *out)
{
    for (int i = 0; i < 16; i++) {
        int low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = (int)rbli_rng_below(rng, 6);
            high[k] = low[k] + 1 + (int)rbli_rng_below(rng, 4);
        }
        test_mesh box = make_whole_box(low, high, rbli_rng_u32(rng));
        assembly_add(out, &box);
        if (rbli_rng_below(rng, 6) == 0) assembly_add(out, &box);
        free_mesh(&box);
    }
}

/// A tetrahedron, turned outward.
static void add_tetrahedron(assembly *out, const double p[4][3])
{
    test_mesh mesh = {0};
    for (int i = 0; i < 4; i++)
        mesh_vertex(&mesh, p[i][0], p[i][1], p[i][2]);
    double e[3][3], volume = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            e[i][k] = p[i + 1][k] - p[0][k];
    for (int k = 0; k < 3; k++)
        volume += e[0][k] * (e[1][(k + 1) % 3] * e[2][(k + 2) % 3] - e[1][(k + 2) % 3] * e[2][(k + 1) % 3]);
    static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    for (int f = 0; f < 4; f++)
        mesh_triangle(&mesh, faces[f][0], faces[f][volume > 0 ? 1 : 2], faces[f][volume > 0 ? 2 : 1]);
    if (volume != 0) assembly_add(out, &mesh);
    free_mesh(&mesh);
}

/// Six tetrahedra around a diagonal of each cube; neighbouring cubes are mirrored or not, so that faces match or
/// cross.
static void make_tetrahedra(rbli_rng *rng, assembly *out)
{
    static const int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int cube = 0; cube < 8; cube++) {
        uint32_t mirror = rbli_rng_below(rng, 8), size = 1 + rbli_rng_below(rng, 2);
        for (int t = 0; t < 6; t++) {
            double p[4][3];
            int at[3] = {0, 0, 0};
            if (rbli_rng_below(rng, 6) == 0) continue;
            for (int i = 0; i < 4; i++) {
                for (int k = 0; k < 3; k++) {
                    int x = mirror >> k & 1 ? 1 - at[k] : at[k];
                    p[i][k] = 2 * (cube >> k & 1) + x * (int)size;
                }
                if (i < 3) at[paths[t][i]] = 1;
            }
            add_tetrahedron(out, (const double(*)[3])p);
        }
    }
}

/// Wedges and their mirror images on the other side of a plane, moved along it.
static void make_mirrored_parts(rbli_rng *rng, assembly *out)
{
    for (int i = 0; i < 8; i++) {
        double p[4][3], q[4][3];
        int shift[3] = {(int)rbli_rng_below(rng, 3), (int)rbli_rng_below(rng, 3), 0};
        for (int c = 0; c < 4; c++)
            for (int k = 0; k < 3; k++)
                p[c][k] = k == 2 && c < 3 ? 0 : rbli_rng_below(rng, 7);
        p[3][2] += 1;
        for (int c = 0; c < 4; c++)
            for (int k = 0; k < 3; k++)
                q[c][k] = k == 2 ? -p[c][k] : p[c][k] + shift[k];
        add_tetrahedron(out, (const double(*)[3])p);
        add_tetrahedron(out, (const double(*)[3])q);
    }
}

/// Pieces of a box with a step, cut by Voronoi cells.
static void make_fractured(rbl_context *ctx, rbli_rng *rng, assembly *out)
{
    static const uint8_t step[8] = {1, 1, 1, 0, 1, 1, 1, 0};
    test_mesh solid = make_voxels(step, 2, 2, 2, 1, (double[]){-1, -1, -1});
    rbli_mesh_view view = view_of(&solid);
    double sites[12][3];
    size_t count = 2 + rbli_rng_below(rng, 11);
    bool lattice = rbli_rng_below(rng, 3) == 0;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            sites[i][k] = lattice ? -0.75 + 0.5 * rbli_rng_below(rng, 4) : 2 * rbli_rng_double(rng) - 1;
    rbli_cell_complex *complex = NULL;
    rbli_cut_result *cut = NULL;
    assert_ok(ctx, rbli_voronoi_complex(ctx, (const double(*)[3])sites, count, (double[]){-2, -2, -2},
                       (double[]){2, 2, 2}, NULL, NULL, &complex));
    assert_ok(ctx, rbli_cut(ctx, &view, complex, NULL, &cut));
    for (size_t p = 0; p < cut->piece_count; p++) {
        test_mesh piece = {0};
        for (int32_t v = cut->vertex_start[p]; v < cut->vertex_start[p + 1]; v++)
            mesh_vertex(&piece, cut->positions[v][0], cut->positions[v][1], cut->positions[v][2]);
        for (int32_t t = cut->triangle_start[p]; t < cut->triangle_start[p + 1]; t++) {
            int32_t first = cut->vertex_start[p];
            mesh_triangle(&piece, cut->triangles[t][0] - first, cut->triangles[t][1] - first,
                cut->triangles[t][2] - first);
        }
        assembly_add(out, &piece);
        free_mesh(&piece);
    }
    rbli_cut_result_destroy(ctx, cut);
    rbli_cell_complex_destroy(ctx, complex);
    free_mesh(&solid);
}

/* ---- where it is ---- */

typedef enum place {
    AS_IT_IS,
    TURNED_WHOLE, /* by a rotation whose multiple is whole: exact */
    FAR_WHOLE,    /* and moved by 2^30 */
    TURNED,       /* by a rotation that rounds */
    SCALED_DOWN,
    FAR_AWAY, /* rounds to 1e-10 */
    PLACES
} place;

static void put(assembly *a, place where)
{
    static const double r[3][3] = {{9, 12, -20}, {-20, 15, 0}, {12, 16, 15}};
    for (size_t v = 0; v < a->mesh.vertex_count; v++) {
        double *p = a->mesh.positions[v], q[3];
        for (int i = 0; i < 3; i++)
            q[i] = r[i][0] * p[0] + r[i][1] * p[1] + r[i][2] * p[2];
        for (int i = 0; i < 3; i++) {
            switch (where) {
            case AS_IT_IS:
                break;
            case TURNED_WHOLE:
                p[i] = q[i];
                break;
            case FAR_WHOLE:
                p[i] = q[i] + 0x1p30 * (i + 1);
                break;
            case TURNED:
                p[i] = q[i] / 25 + 0.1;
                break;
            case SCALED_DOWN:
                p[i] = q[i] * 1.1e-5;
                break;
            default:
                p[i] = q[i] / 25 + 1e6 / 3;
            }
        }
    }
}

static double diagonal_of(const assembly *a)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t v = 0; v < a->mesh.vertex_count; v++) {
            low = fmin(low, a->mesh.positions[v][k]);
            high = fmax(high, a->mesh.positions[v][k]);
        }
        square += (high - low) * (high - low);
    }
    return sqrt(square);
}

/* ---- checks ---- */

typedef struct tally {
    size_t contacts, edges, unclear, vertex_pairs;
    double worst;
} tally;

/// Fails on a contact missed or invented and on a wrong area. Overlaps about as thin as the tolerance may go
/// either way; they are counted.
static void check_contacts(const assembly *a, const rbli_touch *touches, size_t count, double tolerance,
    const char *name, size_t number, tally *sum)
{
    exact_contacts exact = find_exact_contacts(a, tolerance);
    size_t n = a->piece_count, at = 0;
    for (size_t p = 0; p < n; p++)
        for (size_t q = p + 1; q < n; q++) {
            double area = exact.area[p * n + q], wide = exact.wide[p * n + q];
            bool found = at < count && touches[at].piece_a == (int32_t)p && touches[at].piece_b == (int32_t)q;
            double got = found ? touches[at++].area : 0;
            bool contact = exact.equal[p * n + q] || wide > 1.001 * tolerance;
            /* Thin pieces together may be wide: up to the number of corners of both. */
            bool edge = !exact.equal[p * n + q] && wide < 1e-3 * tolerance;
            if (contact && fabs(got - area) > 1e-9 * area) {
                print_error(
                    "%s %zu: pieces %zu and %zu: area %.17g, not %.17g\n", name, number, p, q, got, area);
                fail();
            }
            if (edge && found) {
                print_error(
                    "%s %zu: pieces %zu and %zu do not touch, but have area %g\n", name, number, p, q, got);
                fail();
            }
            sum->contacts += contact;
            sum->edges += edge && area > 0;
            sum->unclear += !contact && !edge;
            if (contact) sum->worst = fmax(sum->worst, fabs(got - area) / area);
        }
    assert_int_equal(at, count);
    exact_contacts_free(&exact);
}

static void check_vertices(rbl_context *ctx, const assembly *a, double tolerance, tally *sum)
{
    rbli_mesh_view view = view_of(&a->mesh);
    rbli_touch *touches;
    size_t count, n = a->piece_count, at = 0;
    bool *near = calloc(n * n, sizeof *near);
    int32_t *owner = malloc(a->mesh.vertex_count * sizeof *owner);
    assert_ok(ctx, rbli_find_shared_vertices(ctx, &view, a->piece, tolerance, &touches, &count));
    for (size_t t = 0; t < a->mesh.triangle_count; t++)
        for (int k = 0; k < 3; k++)
            owner[a->mesh.triangles[t][k]] = a->piece[t];
    for (size_t v = 0; v < a->mesh.vertex_count; v++)
        for (size_t w = 0; w < a->mesh.vertex_count; w++) {
            long double square = 0;
            for (int k = 0; k < 3; k++) {
                long double d = (long double)a->mesh.positions[v][k] - a->mesh.positions[w][k];
                square += d * d;
            }
            if (square <= (long double)tolerance * tolerance && owner[v] < owner[w])
                near[(size_t)owner[v] * n + (size_t)owner[w]] = true;
        }
    for (size_t p = 0; p < n; p++)
        for (size_t q = p + 1; q < n; q++) {
            bool found = at < count && touches[at].piece_a == (int32_t)p && touches[at].piece_b == (int32_t)q;
            assert_int_equal(found, near[p * n + q]);
            at += found;
        }
    assert_int_equal(at, count);
    sum->vertex_pairs += count;
    free(near);
    free(owner);
    rbli_free(ctx, touches);
}

static void check_assembly(assembly *a, double tolerance, const char *name, size_t number, tally *sum)
{
    static const int threads[] = {1, 2, 8};
    rbli_touch *first = NULL;
    size_t first_count = 0;
    rbli_mesh_view view = view_of(&a->mesh);
    rbl_context *contexts[3] = {0};
    /* What the library adds for the rounding of coordinates. */
    double most = 0;
    for (size_t v = 0; v < a->mesh.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(a->mesh.positions[v][k]));
    for (int i = 0; i < (number % 5 == 0 ? 3 : 1); i++) {
        rbli_touch *touches;
        size_t count;
        contexts[i] = make_context(threads[i]);
        assert_ok(contexts[i], rbli_find_contacts(contexts[i], &view, a->piece, tolerance, &touches, &count));
        if (i == 0) {
            check_contacts(a, touches, count, tolerance + 8 * 0x1p-52 * most, name, number, sum);
            check_vertices(contexts[i], a, tolerance, sum);
            first = touches;
            first_count = count;
        } else {
            assert_int_equal(count, first_count);
            if (count) assert_memory_equal(touches, first, count * sizeof *first);
            rbli_free(contexts[i], touches);
        }
    }
    rbli_free(contexts[0], first);
    for (int i = 0; i < 3; i++)
        if (contexts[i]) finish_context(contexts[i]);
}

static void random_assemblies_agree_with_exact_contacts(void **state)
{
    (void)state;
    enum { SEED = 31, FAMILIES = 5 };
    static const char *const names[FAMILIES] = {
        "boxes", "overlapping boxes", "tetrahedra", "mirrored", "fractured"};
    size_t rounds = tries(40, 500);
    tally sum = {0};
    print_message("seed %d\n", SEED);
    for (size_t i = 0; i < rounds; i++) {
        rbli_rng rng = rbli_rng_make(SEED, RBLI_RNG_TEST, i);
        assembly a = {0};
        size_t family = i % FAMILIES;
        place where = (place)(i / FAMILIES % PLACES);
        rbl_context *ctx = make_context(1);
        switch (family) {
        case 0:
            make_boxes_in_grid(&rng, &a);
            break;
        case 1:
            make_overlapping_boxes(&rng, &a);
            break;
        case 2:
            make_tetrahedra(&rng, &a);
            break;
        case 3:
            make_mirrored_parts(&rng, &a);
            break;
        default:
            make_fractured(ctx, &rng, &a);
        }
        finish_context(ctx);
        put(&a, where);
        check_assembly(&a, 1e-6 * diagonal_of(&a), names[family], i, &sum);
        assembly_free(&a);
    }
    print_message(
        "%zu contacts, areas within %.2g; %zu edges by rounding, %zu unclear; %zu pairs with common "
        "vertices\n",
        sum.contacts, sum.worst, sum.edges, sum.unclear, sum.vertex_pairs);
    assert_true(sum.contacts > 20 * rounds && sum.vertex_pairs > 20 * rounds);
    assert_true(sum.unclear * 1000 < sum.contacts);
}

/* ---- real models ---- */

/// The pieces of a model: its nodes, the whole again mirrored against its lowest x, and again turned upside down
/// below its lowest y.
static bool add_model(rbl_context *ctx, const char *name, assembly *out)
{
    char path[5000];
    if (!find_model(name, path)) return false;
    rbli_mesh_file file;
    assert_ok(ctx, rbli_mesh_file_read(ctx, path, &file));
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    for (size_t v = 0; v < file.position_count; v++)
        for (int k = 0; k < 3; k++)
            low[k] = fmin(low[k], file.positions[v][k]);
    for (int way = 0; way < 3; way++)
        for (size_t node = 0; node < file.node_count; node++) {
            test_mesh part = {0};
            int32_t *number = malloc(file.position_count * sizeof *number);
            memset(number, 0xff, file.position_count * sizeof *number);
            for (size_t t = 0; t < file.triangle_count; t++) {
                int32_t v[3];
                if ((size_t)file.triangle_nodes[t] != node) continue;
                for (int k = 0; k < 3; k++) {
                    int32_t c = file.triangles[t][k];
                    const double *p = file.positions[c];
                    if (number[c] < 0)
                        number[c] = mesh_vertex(&part, way == 1 ? 2 * low[0] - p[0] : p[0],
                            way == 2 ? 2 * low[1] - p[1] : p[1], p[2]);
                    v[k] = number[c];
                }
                mesh_triangle(&part, v[0], v[way ? 2 : 1], v[way ? 1 : 2]);
            }
            free(number);
            if (part.triangle_count) assembly_add(out, &part);
            free_mesh(&part);
        }
    rbli_mesh_file_free(ctx, &file);
    return true;
}

static void models_agree_with_exact_contacts(void **state)
{
    (void)state;
    static const char *const names[] = {
        "pins.glb", "rabbit.obj", "building_D.obj", "angle_block.STL", "wingnut.obj", "pillar_decorated.glb"};
    tally sum = {0};
    size_t used = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assembly a = {0};
        rbl_context *ctx = make_context(1);
        bool there = add_model(ctx, names[i], &a);
        finish_context(ctx);
        if (!there) continue;
        if (a.mesh.triangle_count < 12000) {
            check_assembly(&a, 1e-6 * diagonal_of(&a), names[i], i, &sum);
            print_message("%s: %zu pieces, %zu triangles\n", names[i], a.piece_count, a.mesh.triangle_count);
            used++;
        }
        assembly_free(&a);
    }
    if (used == 0) skip();
    print_message("%zu contacts, areas within %.2g; %zu edges, %zu unclear\n", sum.contacts, sum.worst,
        sum.edges, sum.unclear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_assemblies_agree_with_exact_contacts),
        cmocka_unit_test(models_agree_with_exact_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
