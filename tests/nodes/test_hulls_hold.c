#include "tests/nodes/node_help.h"

#include <math.h>

#include "fracture/ops/hull_group.h"

/* Hulls of real pieces, checked from points and triangles alone, in long double. */

typedef long double real;

static real cross_dot(const real a[3], const real b[3], const double c[3], const double o[3])
{
    real sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]) * ((real)c[k] - o[k]);
    return sum;
}

/// Normal of a triangle; false for one without area to speak of.
static bool normal_of(const rbli_hull *hull, size_t t, double size, real n[3])
{
    const double *a = hull->points[hull->triangles[t][0]], *b = hull->points[hull->triangles[t][1]],
                 *c = hull->points[hull->triangles[t][2]];
    real u[3], v[3], length = 0;
    for (int k = 0; k < 3; k++)
        u[k] = (real)b[k] - a[k], v[k] = (real)c[k] - a[k];
    for (int k = 0; k < 3; k++) {
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length += n[k] * n[k];
    }
    length = sqrtl(length);
    for (int k = 0; k < 3; k++)
        n[k] /= length > 0 ? length : 1;
    return length > 1e-14L * size * size;
}

static double size_of(const rbli_hull *hull)
{
    double size = 0;
    for (int k = 0; k < 3; k++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t i = 0; i < hull->point_count; i++) {
            low = fmin(low, hull->points[i][k]);
            high = fmax(high, hull->points[i][k]);
        }
        size = fmax(size, high - low);
    }
    return size;
}

/// Closed, convex, outward, within a budget, and holding points.
static void check_hull(const rbli_hull *hull, const double (*points)[3], size_t count, size_t most)
{
    double size = size_of(hull);
    real volume = 0;
    assert_true(hull->point_count <= most);
    assert_int_equal(hull->triangle_count, 2 * hull->point_count - 4);
    for (size_t e = 0; e < 3 * hull->triangle_count; e++) {
        int32_t from = hull->triangles[e / 3][e % 3], to = hull->triangles[e / 3][(e + 1) % 3];
        int back = 0;
        for (size_t f = 0; f < 3 * hull->triangle_count; f++)
            back += hull->triangles[f / 3][f % 3] == to && hull->triangles[f / 3][(f + 1) % 3] == from;
        assert_int_equal(back, 1);
    }
    for (size_t t = 0; t < hull->triangle_count; t++) {
        const double *a = hull->points[hull->triangles[t][0]], *o = hull->points[0];
        real n[3], u[3], v[3];
        for (int k = 0; k < 3; k++) {
            u[k] = (real)a[k] - o[k];
            v[k] = (real)hull->points[hull->triangles[t][1]][k] - o[k];
        }
        volume += cross_dot(u, v, hull->points[hull->triangles[t][2]], o) / 6;
        if (!normal_of(hull, t, size, n)) continue;
        for (size_t i = 0; i < count + hull->point_count; i++) {
            const double *p = i < count ? points[i] : hull->points[i - count];
            real height = 0;
            for (int k = 0; k < 3; k++)
                height += n[k] * ((real)p[k] - a[k]);
            assert_true(height <= 1e-9L * size);
        }
    }
    assert_close((double)volume / hull->volume, 1, 1e-9);
}

/// Each leaf's only hull against its vertices. @return hulls checked
static size_t check_leaves(const rbl_collection *c, size_t most)
{
    const int32_t *owner = rbli_collection_read(c, "convex", "bone", RBL_INT32),
                  *geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32),
                  *start = rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32),
                  *length = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32);
    const double(*positions)[3] = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    size_t count = rbli_collection_size(c, "convex");
    for (size_t h = 0; h < count; h++) {
        rbli_hull hull = rbli_hull_get(c, h);
        int32_t g = geometry[owner[h]];
        check_hull(&hull, positions + start[g], (size_t)length[g], most);
    }
    return count;
}

/* ---- overlaps by brute force ---- */

static void range(const rbli_hull *hull, const real n[3], real out[2])
{
    out[0] = HUGE_VALL, out[1] = -HUGE_VALL;
    for (size_t i = 0; i < hull->point_count; i++) {
        real d = n[0] * hull->points[i][0] + n[1] * hull->points[i][1] + n[2] * hull->points[i][2];
        out[0] = fminl(out[0], d);
        out[1] = fmaxl(out[1], d);
    }
}

static real depth_along(const rbli_hull *a, const rbli_hull *b, const real n[3])
{
    real ra[2], rb[2];
    range(a, n, ra);
    range(b, n, rb);
    return fminl(ra[1], rb[1]) - fmaxl(ra[0], rb[0]);
}

/// Whether some normal of a facet, or across two edges, shows that hulls overlap by at most `most`.
static bool are_apart(const rbli_hull *a, const rbli_hull *b, double most)
{
    const rbli_hull *both[2] = {a, b};
    real n[3];
    for (int side = 0; side < 2; side++)
        for (size_t t = 0; t < both[side]->triangle_count; t++)
            if (normal_of(both[side], t, size_of(both[side]), n) && depth_along(a, b, n) <= most) return true;
    for (size_t i = 0; i < 3 * a->triangle_count; i++)
        for (size_t j = 0; j < 3 * b->triangle_count; j++) {
            int32_t p = a->triangles[i / 3][i % 3], q = a->triangles[i / 3][(i + 1) % 3];
            int32_t r = b->triangles[j / 3][j % 3], s = b->triangles[j / 3][(j + 1) % 3];
            real u[3], v[3], length = 0, edges = 1;
            if (p > q || r > s) continue;
            for (int k = 0; k < 3; k++) {
                u[k] = (real)a->points[q][k] - a->points[p][k];
                v[k] = (real)b->points[s][k] - b->points[r][k];
            }
            for (int k = 0; k < 3; k++) {
                n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
                length += n[k] * n[k];
            }
            edges = sqrtl(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) *
                    sqrtl(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            length = sqrtl(length);
            if (length <= 1e-9L * edges) continue;
            for (int k = 0; k < 3; k++)
                n[k] /= length;
            if (depth_along(a, b, n) <= most) return true;
        }
    return false;
}

static bool is_listed(const rbl_collection *c, const char *a, const char *b)
{
    for (size_t i = 0; i < rbli_collection_size(c, "hull_overlap"); i++) {
        const char *p = rbli_collection_string(c, "hull_overlap", "a", i),
                   *q = rbli_collection_string(c, "hull_overlap", "b", i);
        if ((strcmp(p, a) == 0 && strcmp(q, b) == 0) || (strcmp(p, b) == 0 && strcmp(q, a) == 0)) return true;
    }
    return false;
}

/// Hulls of different pieces overlap by no more than rounding, unless the pair is listed.
static size_t check_apart(const rbl_collection *c)
{
    const int32_t *owner = rbli_collection_read(c, "convex", "bone", RBL_INT32),
                  *type = rbli_collection_read(c, "bone", "type", RBL_INT32);
    size_t count = rbli_collection_size(c, "convex"), pairs = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            rbli_hull a = rbli_hull_get(c, i), b = rbli_hull_get(c, j);
            double most = 1e-6 * fmax(size_of(&a), size_of(&b));
            if (owner[i] == owner[j] || type[owner[i]] != RBLI_BONE_RIGID ||
                type[owner[j]] != RBLI_BONE_RIGID)
                continue;
            pairs++;
            if (is_listed(c, rbli_collection_string(c, "bone", "name", (size_t)owner[i]),
                    rbli_collection_string(c, "bone", "name", (size_t)owner[j])))
                continue;
            assert_true(are_apart(&a, &b, most));
        }
    return pairs;
}

/* ---- pieces ---- */

#define BOX                                                                                                  \
    "\"src\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [2, 1.2, 0.5]}},\n"
#define BALL                                                                                                 \
    "\"src\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"segments\": 24}},\n"
#define FAR                                                                                                  \
    "\"src\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"box\", \"size\": [2e-4, 1e-4, "        \
    "3e-4]}},\n"
#define LEAVES                                                                                               \
    ",\n\"leaf\": {\"type\": \"CreateLeafConvexHulls\", \"in\": {\"collection\": \"cut\"}, \"params\": "     \
    "{\"max_vertices\": %d}},\n"                                                                             \
    "\"apart\": {\"type\": \"CreateNonOverlappingConvexHulls\", \"in\": {\"collection\": \"leaf\"}, "        \
    "\"params\": {\"can_remove_fraction\": %g, \"overlaps\": \"all\"}}"

static const struct {
    const char *name, *text;
} kinds[] = {
    {"cells", BOX "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"src\"}, \"params\": "
                  "{\"min_sites\": 18, \"max_sites\": 18, \"seed\": %d}}"},
    {"noise", BOX "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"src\"}, \"params\": "
                  "{\"min_sites\": 8, \"max_sites\": 8, \"seed\": %d, \"noise\": {\"amplitude\": 0.05, "
                  "\"point_spacing\": 0.12}}}"},
    {"bricks", BOX "\"cut\": {\"type\": \"BrickCutter\", \"in\": {\"collection\": \"src\"}, \"params\": "
                   "{\"length\": 0.6, \"height\": 0.3, \"depth\": 0.3, \"grout\": 0.03, \"seed\": %d}}"},
    {"grout", BALL "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"src\"}, \"params\": "
                   "{\"min_sites\": 14, \"max_sites\": 14, \"seed\": %d, \"grout\": 0.02}}"},
    {"small", FAR "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"src\"}, \"params\": "
                  "{\"min_sites\": 12, \"max_sites\": 12, \"seed\": %d}}"},
};

static graph_run run_kind(size_t kind, int seed, int most, double fraction, int threads)
{
    char text[3000], format[3000];
    snprintf(format, sizeof format, "%s%s", kinds[kind].text, LEAVES);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, format, seed, most, fraction);
#pragma GCC diagnostic pop
    return run_nodes_with(text, RBL_OK, threads);
}

static void hulls_hold_their_pieces(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int seed = 1; seed <= 2; seed++) {
            int most = seed == 1 ? 64 : 12;
            graph_run g = run_kind(kind, seed, most, 0.3, 1);
            assert_true(check_leaves(collection_of(&g, "leaf"), (size_t)most) > 5);
            end_run(&g);
        }
}

static void hulls_that_must_not_overlap_do_not(void **state)
{
    (void)state;
    size_t listed = 0;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int way = 0; way < 2; way++) {
            graph_run g = run_kind(kind, 3, 24, way ? 0.01 : 0.9, 1);
            assert_true(check_apart(collection_of(&g, "apart")) > 10);
            listed += rbli_collection_size(collection_of(&g, "apart"), "hull_overlap");
            end_run(&g);
        }
    assert_true(listed > 0);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 8, 1};
    for (size_t kind = 0; kind < 3; kind++) {
        rbli_hash first[2];
        for (int i = 0; i < 4; i++) {
            graph_run g = run_kind(kind, 5, 32, 0.3, threads[i]);
            rbli_hash leaf = rbli_collection_hash(collection_of(&g, "leaf")),
                      apart = rbli_collection_hash(collection_of(&g, "apart"));
            if (i == 0) first[0] = leaf, first[1] = apart;
            assert_true(rbli_hash_equal(leaf, first[0]) && rbli_hash_equal(apart, first[1]));
            end_run(&g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_hold_their_pieces),
        cmocka_unit_test(hulls_that_must_not_overlap_do_not),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
