#include <math.h>

#include "fracture/base/rng.h"
#include "fracture/geometry/elementary.h"
#include "fracture/geometry/face_graph.h"
#include "fracture/geometry/smooth_normals.h"
#include "tests/geometry/cut_help.h"

/* Face graph, normals of corners, and tangents against the definition applied corner by corner. */

static int32_t *graph_of(rbl_context *ctx, const test_mesh *mesh)
{
    int32_t *opposite = NULL;
    assert_ok(ctx, rbli_face_graph(ctx, (const int32_t(*)[3])mesh->triangles, mesh->triangle_count, 0,
                       mesh->vertex_count, &opposite));
    return opposite;
}

static float (*normals_of(rbl_context *ctx, const test_mesh *mesh, double degrees))[3]
{
    rbli_mesh_view view = view_of(mesh);
    int32_t *opposite = graph_of(ctx, mesh);
    float(*normals)[3] = malloc(3 * mesh->triangle_count * sizeof *normals);
    assert_ok(
        ctx, rbli_smooth_normals(ctx, &view, opposite, NULL, rbli_cos(degrees * RBLI_PI / 180), normals));
    rbli_free(ctx, opposite);
    return normals;
}

static void edges_meet_their_reverse(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_sphere(6, 1, 0.2);
    mesh.triangle_count -= 3; /* open */
    int32_t *opposite = graph_of(ctx, &mesh);
    size_t open = 0;
    for (size_t c = 0; c < 3 * mesh.triangle_count; c++) {
        int32_t o = opposite[c], a = mesh.triangles[c / 3][c % 3], b = mesh.triangles[c / 3][(c + 1) % 3];
        bool met = false;
        for (size_t d = 0; d < 3 * mesh.triangle_count; d++)
            met |= mesh.triangles[d / 3][d % 3] == b && mesh.triangles[d / 3][(d + 1) % 3] == a;
        assert_int_equal(met, o >= 0);
        open += o < 0;
        if (o < 0) continue;
        assert_int_equal(opposite[o], c);
        assert_int_equal(mesh.triangles[o / 3][o % 3], b);
        assert_int_equal(mesh.triangles[o / 3][(o + 1) % 3], a);
    }
    assert_true(open > 0);
    rbli_free(ctx, opposite);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void cubes_are_sharp_below_a_right_angle_and_round_above(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0, 0, 0, 1, 1, 1);
    float(*sharp)[3] = normals_of(ctx, &mesh, 60), (*round)[3] = normals_of(ctx, &mesh, 100);
    for (size_t c = 0; c < 3 * mesh.triangle_count; c++) {
        const double *p = mesh.positions[mesh.triangles[c / 3][c % 3]];
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            sum += fabs((double)sharp[c][k]);
            /* weights by angle: the triangulation of the sides does not matter */
            assert_close(round[c][k], (2 * p[k] - 1) / sqrt(3), 1e-6);
        }
        assert_true(sum == 1);
    }
    free(sharp);
    free(round);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void kinds_part_normals(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_box(0, 0, 0, 1, 1, 1);
    rbli_mesh_view view = view_of(&mesh);
    int32_t *opposite = graph_of(ctx, &mesh);
    uint8_t kind[12];
    float normals[36][3];
    double face[12][3];
    assert_ok(ctx, rbli_face_normals(ctx, &view, opposite, face, NULL));
    for (size_t t = 0; t < 12; t++)
        kind[t] = face[t][2] > 0.5;
    assert_ok(ctx, rbli_smooth_normals(ctx, &view, opposite, kind, -1, normals));
    for (size_t c = 0; c < 36; c++) {
        const double *p = mesh.positions[mesh.triangles[c / 3][c % 3]];
        if (kind[c / 3]) assert_true(normals[c][2] == 1);
        if (!kind[c / 3] && p[2] == 1) assert_close(normals[c][2], 0, 1e-7);
    }
    rbli_free(ctx, opposite);
    free_mesh(&mesh);
    finish_context(ctx);
}

static void spheres_are_smooth_in_any_order(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    test_mesh mesh = make_sphere(12, 1, 0), other = make_sphere(12, 1, 0);
    shuffle_triangles(&other, 5);
    float(*normals)[3] = normals_of(ctx, &mesh, 60), (*again)[3] = normals_of(ctx, &other, 60);
    float(*of_vertex)[3] = calloc(mesh.vertex_count, sizeof *of_vertex);
    for (size_t c = 0; c < 3 * mesh.triangle_count; c++) {
        int32_t v = mesh.triangles[c / 3][c % 3];
        double along = 0;
        for (int k = 0; k < 3; k++)
            along += (double)normals[c][k] * mesh.positions[v][k];
        assert_true(along > 0.999);
        memcpy(of_vertex[v], normals[c], sizeof *normals);
    }
    for (size_t c = 0; c < 3 * other.triangle_count; c++)
        for (int k = 0; k < 3; k++)
            assert_close(again[c][k], of_vertex[other.triangles[c / 3][c % 3]][k], 2e-7);
    free(normals);
    free(again);
    free(of_vertex);
    free_mesh(&mesh);
    free_mesh(&other);
    finish_context(ctx);
}

/// Puts a vertex beside the middle of each edge of a box's diagonals and sides, so that slivers of either sign lie
/// along it.
static void add_sliver(test_mesh *mesh, size_t corner, double off)
{
    int32_t *t = mesh->triangles[corner / 3];
    int32_t a = t[corner % 3], b = t[(corner + 1) % 3], c = t[(corner + 2) % 3];
    double p[3];
    for (int k = 0; k < 3; k++)
        p[k] = (mesh->positions[a][k] + mesh->positions[b][k]) / 2 + off * (k + 1);
    int32_t m = mesh_vertex(mesh, p[0], p[1], p[2]);
    t = mesh->triangles[corner / 3];
    t[0] = a, t[1] = m, t[2] = c;
    mesh_triangle(mesh, m, b, c);
    mesh_triangle(mesh, a, b, m); /* the sliver between the edge and its middle */
}

static void slivers_do_not_spoil_normals(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int i = 0; i < 5; i++) {
        static const double offs[] = {0, 1e-16, -1e-16, 1e-8, -1e-8};
        test_mesh mesh = make_box(0, 0, 0, 1, 1, 1);
        for (size_t c = 0; c < 36; c += 3)
            add_sliver(&mesh, c + (size_t)i % 3, offs[i]);
        float(*normals)[3] = normals_of(ctx, &mesh, 60);
        for (size_t c = 0; c < 3 * mesh.triangle_count; c++) {
            double largest = 0;
            for (int k = 0; k < 3; k++)
                largest = fmax(largest, fabs((double)normals[c][k]));
            assert_true(largest > 1 - 1e-6);
        }
        free(normals);
        free_mesh(&mesh);
    }
    finish_context(ctx);
}

/* ---- tangents ---- */

typedef struct textured {
    test_mesh mesh;
    float (*normals)[3], (*uvs)[2], (*tangents)[4];
    int32_t *opposite;
} textured;

static void free_textured(rbl_context *ctx, textured *x)
{
    rbli_free(ctx, x->opposite);
    free_mesh(&x->mesh);
    free(x->normals);
    free(x->uvs);
    free(x->tangents);
}

static void compute(rbl_context *ctx, textured *x)
{
    rbli_mesh_view view = view_of(&x->mesh);
    x->tangents = malloc(3 * x->mesh.triangle_count * sizeof *x->tangents);
    assert_ok(ctx, rbli_corner_tangents(ctx, &view, x->opposite, (const float(*)[3])x->normals,
                       (const float(*)[2])x->uvs, x->tangents));
}

/// A bumpy ball with UVs on a coarse lattice in u and v by corner: seams, mirrored and flat triangles.
static textured make_textured(rbl_context *ctx, uint32_t seed)
{
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 77);
    textured x = {.mesh = make_sphere(5, 1, 0.2)};
    size_t corners = 3 * x.mesh.triangle_count;
    x.opposite = graph_of(ctx, &x.mesh);
    x.normals = normals_of(ctx, &x.mesh, seed % 2 ? 180 : 20);
    x.uvs = malloc(corners * sizeof *x.uvs);
    float(*of_vertex)[2] = malloc(x.mesh.vertex_count * sizeof *of_vertex);
    for (size_t v = 0; v < x.mesh.vertex_count; v++)
        for (int k = 0; k < 2; k++)
            of_vertex[v][k] =
                (float)rbli_rng_below(&rng, 4) + (float)x.mesh.positions[v][k] * (seed % 3 ? 3.f : 0);
    for (size_t c = 0; c < corners; c++) {
        memcpy(x.uvs[c], of_vertex[x.mesh.triangles[c / 3][c % 3]], sizeof *x.uvs);
        if (rbli_rng_below(&rng, 20) == 0) x.uvs[c][0] += 1; /* a seam */
    }
    free(of_vertex);
    return x;
}

static int orientation_of(const textured *x, size_t t)
{
    const float(*uv)[2] = (const float(*)[2])x->uvs + 3 * t;
    double area = ((double)uv[1][0] - uv[0][0]) * ((double)uv[2][1] - uv[0][1]) -
                  ((double)uv[2][0] - uv[0][0]) * ((double)uv[1][1] - uv[0][1]);
    return (area > 0) - (area < 0);
}

static bool same_corner(const textured *x, size_t a, size_t b)
{
    return x->mesh.triangles[a / 3][a % 3] == x->mesh.triangles[b / 3][b % 3] &&
           memcmp(x->normals[a], x->normals[b], sizeof *x->normals) == 0 &&
           memcmp(x->uvs[a], x->uvs[b], sizeof *x->uvs) == 0;
}

/// True when two triangles share an edge on which both corners are the same.
static bool joined(const textured *x, size_t s, size_t t)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            if (same_corner(x, 3 * s + i, 3 * t + (j + 1) % 3) &&
                same_corner(x, 3 * s + (i + 1) % 3, 3 * t + j))
                return true;
    return false;
}

/// u's direction on a triangle, across a normal, unit.
static bool direction_at(const textured *x, size_t t, const float n[3], double out[3])
{
    const float(*uv)[2] = (const float(*)[2])x->uvs + 3 * t;
    const double *p[3];
    for (int i = 0; i < 3; i++)
        p[i] = x->mesh.positions[x->mesh.triangles[t][i]];
    double v1 = (double)uv[1][1] - uv[0][1], v2 = (double)uv[2][1] - uv[0][1], along = 0, length = 0;
    int sign = orientation_of(x, t);
    for (int k = 0; k < 3; k++)
        out[k] = sign * (v2 * (p[1][k] - p[0][k]) - v1 * (p[2][k] - p[0][k]));
    for (int k = 0; k < 3; k++)
        length += out[k] * out[k];
    for (int k = 0; k < 3; k++)
        out[k] /= length > 0 ? sqrt(length) : 1;
    for (int k = 0; k < 3; k++)
        along += out[k] * (double)n[k];
    length = 0;
    for (int k = 0; k < 3; k++) {
        out[k] -= along * (double)n[k];
        length += out[k] * out[k];
    }
    for (int k = 0; k < 3; k++)
        out[k] /= length > 0 ? sqrt(length) : 1;
    return length > 0;
}

static double angle_at(const textured *x, size_t c, const float n[3])
{
    const int32_t *t = x->mesh.triangles[c / 3];
    double side[2][3], dot = 0, length[2] = {0, 0};
    for (int s = 0; s < 2; s++) {
        double along = 0;
        for (int k = 0; k < 3; k++)
            side[s][k] = x->mesh.positions[t[(c + 1 + (size_t)s) % 3]][k] - x->mesh.positions[t[c % 3]][k];
        for (int k = 0; k < 3; k++)
            along += side[s][k] * (double)n[k];
        for (int k = 0; k < 3; k++) {
            side[s][k] -= along * (double)n[k];
            length[s] += side[s][k] * side[s][k];
        }
    }
    for (int k = 0; k < 3; k++)
        dot += side[0][k] * side[1][k];
    return acos(fmax(-1, fmin(1, dot / sqrt(length[0] * length[1]))));
}

/// The tangent of a corner by the definition: triangles of its orientation that are reached over joined
/// edges around the vertex.
static bool tangent_by_definition(const textured *x, size_t c, double out[3])
{
    size_t corners[200], count = 1;
    corners[0] = c;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < 3 * x->mesh.triangle_count; d++) {
            if (!same_corner(x, c, d) || orientation_of(x, d / 3) != orientation_of(x, c / 3)) continue;
            if (!joined(x, corners[i] / 3, d / 3)) continue;
            bool known = false;
            for (size_t j = 0; j < count; j++)
                known |= corners[j] == d;
            if (!known) corners[count++] = d;
        }
    double length = 0;
    memset(out, 0, 3 * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        double direction[3];
        if (!direction_at(x, corners[i] / 3, x->normals[c], direction)) continue;
        for (int k = 0; k < 3; k++)
            out[k] += angle_at(x, corners[i], x->normals[c]) * direction[k];
    }
    for (int k = 0; k < 3; k++)
        length += out[k] * out[k];
    for (int k = 0; k < 3; k++)
        out[k] /= sqrt(length);
    return length > 1e-4;
}

/// A triangle without area in UV space may bridge two groups; the definition above knows none.
static bool has_flat_neighbour(const textured *x, size_t c)
{
    for (size_t d = 0; d < 3 * x->mesh.triangle_count; d++)
        if (same_corner(x, c, d) && orientation_of(x, d / 3) == 0) return true;
    return false;
}

static void tangents_follow_the_definition(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    size_t compared = 0, mirrored = 0, total = 0;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        textured x = make_textured(ctx, seed);
        compute(ctx, &x);
        for (size_t c = 0; c < 3 * x.mesh.triangle_count; c++) {
            double expected[3], across = 0, length = 0;
            int sign = orientation_of(&x, c / 3);
            total++;
            for (int k = 0; k < 3; k++) {
                across += (double)x.tangents[c][k] * (double)x.normals[c][k];
                length += (double)x.tangents[c][k] * (double)x.tangents[c][k];
            }
            assert_close(across, 0, 1e-6);
            assert_close(length, 1, 1e-6);
            if (sign) assert_true(x.tangents[c][3] == (float)-sign);
            if (!sign || has_flat_neighbour(&x, c) || !tangent_by_definition(&x, c, expected)) continue;
            for (int k = 0; k < 3; k++)
                assert_close(x.tangents[c][k], expected[k], 2e-3);
            compared++;
            mirrored += sign < 0;
        }
        free_textured(ctx, &x);
    }
    assert_true(compared * 2 > total && mirrored * 10 > compared && mirrored * 10 < 9 * compared);
    finish_context(ctx);
}

static void order_of_triangles_does_not_matter(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    textured x = make_textured(ctx, 1), y = {.mesh = make_sphere(5, 1, 0.2)};
    size_t count = x.mesh.triangle_count;
    y.normals = malloc(3 * count * sizeof *y.normals);
    y.uvs = malloc(3 * count * sizeof *y.uvs);
    for (size_t t = 0; t < count; t++) { /* backwards, each begun at another corner */
        size_t from = count - 1 - t;
        for (size_t k = 0; k < 3; k++) {
            y.mesh.triangles[t][k] = x.mesh.triangles[from][(k + t) % 3];
            memcpy(y.normals[3 * t + k], x.normals[3 * from + (k + t) % 3], sizeof *y.normals);
            memcpy(y.uvs[3 * t + k], x.uvs[3 * from + (k + t) % 3], sizeof *y.uvs);
        }
    }
    y.opposite = graph_of(ctx, &y.mesh);
    compute(ctx, &x);
    compute(ctx, &y);
    for (size_t t = 0; t < count; t++)
        for (size_t k = 0; k < 3; k++)
            for (int i = 0; i < 4; i++)
                if (orientation_of(&y, t))
                    assert_close(
                        y.tangents[3 * t + k][i], x.tangents[3 * (count - 1 - t) + (k + t) % 3][i], 1e-5);
    free_textured(ctx, &x);
    free_textured(ctx, &y);
    finish_context(ctx);
}

/// A strip of quads along x in the plane z = 0 with u = x · turn[i], v = −y.
static textured make_strip(rbl_context *ctx, size_t count, const double *u)
{
    textured x = {0};
    for (size_t i = 0; i <= count; i++)
        for (int j = 0; j < 2; j++)
            mesh_vertex(&x.mesh, (double)i, j, 0);
    for (size_t i = 0; i < count; i++) {
        int32_t v = 2 * (int32_t)i;
        mesh_triangle(&x.mesh, v, v + 2, v + 3);
        mesh_triangle(&x.mesh, v, v + 3, v + 1);
    }
    x.opposite = graph_of(ctx, &x.mesh);
    x.normals = calloc(6 * count, sizeof *x.normals);
    x.uvs = malloc(6 * count * sizeof *x.uvs);
    for (size_t c = 0; c < 6 * count; c++) {
        int32_t v = x.mesh.triangles[c / 3][c % 3];
        x.normals[c][2] = 1;
        x.uvs[c][0] = (float)u[v / 2];
        x.uvs[c][1] = (float)-(v % 2);
    }
    return x;
}

static void mirrored_quads_do_not_share_tangents(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double u[] = {0, 1, 2, 1, 0};
    textured x = make_strip(ctx, 4, u);
    compute(ctx, &x);
    for (size_t c = 0; c < 24; c++) {
        bool left = c < 12; /* as seen in the image on the left half, mirrored on the right */
        assert_close(x.tangents[c][0], left ? 1 : -1, 1e-6);
        assert_true(x.tangents[c][3] == (left ? 1 : -1));
    }
    free_textured(ctx, &x);
    finish_context(ctx);
}

static void triangles_flat_in_uv_take_their_neighbours_tangent(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double u[] = {0, -1, -1, -2}; /* the middle quad has no extent in u; all is mirrored */
    textured x = make_strip(ctx, 3, u);
    compute(ctx, &x);
    for (size_t c = 0; c < 18; c++) {
        assert_close(x.tangents[c][0], -1, 1e-6);
        assert_true(x.tangents[c][3] == -1);
    }
    free_textured(ctx, &x);
    const double none[] = {0, 0};
    x = make_strip(ctx, 1, none); /* nothing to take: any unit vector across */
    compute(ctx, &x);
    for (size_t c = 0; c < 6; c++)
        assert_close(x.tangents[c][0] * x.tangents[c][0] + x.tangents[c][1] * x.tangents[c][1], 1, 1e-6);
    free_textured(ctx, &x);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_meet_their_reverse),
        cmocka_unit_test(cubes_are_sharp_below_a_right_angle_and_round_above),
        cmocka_unit_test(kinds_part_normals),
        cmocka_unit_test(spheres_are_smooth_in_any_order),
        cmocka_unit_test(slivers_do_not_spoil_normals),
        cmocka_unit_test(tangents_follow_the_definition),
        cmocka_unit_test(order_of_triangles_does_not_matter),
        cmocka_unit_test(mirrored_quads_do_not_share_tangents),
        cmocka_unit_test(triangles_flat_in_uv_take_their_neighbours_tangent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
