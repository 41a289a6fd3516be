#include <math.h>

#include "tests/nodes/node_help.h"

/* BoxProjectUV and AutoUnwrapUV. Charts are found anew from the UVs: faces whose corners agree along an edge. */

#define BALL                                                                                                 \
    "\"ball\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"sphere\", \"segments\": 16}},\n"      \
    "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"ball\"}, \"params\": "              \
    "{\"min_sites\": 12, \"max_sites\": 12, \"seed\": 4}},\n"

static const double (*positions_of(const rbl_collection *c))[3]
{
    return rbli_collection_read(c, "vertex", "position", RBL_VEC3);
}

static void boxes_project_upright(void **state)
{
    (void)state;
    graph_run g =
        run_nodes("\"box\": {\"type\": \"test.Boxes\", \"params\": {\"size\": [3, 2, 1]}},\n"
                  "\"uv\": {\"type\": \"BoxProjectUV\", \"in\": {\"collection\": \"box\"}, \"params\": "
                  "{\"faces\": \"all\", \"scale\": 2}},\n"
                  "\"none\": {\"type\": \"BoxProjectUV\", \"in\": {\"collection\": \"box\"}}",
            RBL_OK);
    const rbl_collection *c = collection_of(&g, "uv");
    const float(*uv)[2] = rbli_collection_read(c, "corner", "uv0", RBL_FLOAT_2);
    const float(*normal)[3] = rbli_collection_read(c, "corner", "normal", RBL_FLOAT_3);
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    for (size_t f = 0; f < 12; f++) {
        double area = ((double)uv[3 * f + 1][0] - uv[3 * f][0]) * ((double)uv[3 * f + 2][1] - uv[3 * f][1]) -
                      ((double)uv[3 * f + 2][0] - uv[3 * f][0]) * ((double)uv[3 * f + 1][1] - uv[3 * f][1]);
        double sides[3] = {3, 2, 1}, full = 1;
        for (int k = 0; k < 3; k++)
            if (normal[3 * f][k] == 0) full *= sides[k];
        assert_close(area, -4 * full, 1e-5); /* v grows downwards: not mirrored */
        for (int k = 0; k < 3; k++)          /* what is higher has less v, except above and below */
            if (normal[3 * f][1] == 0)
                assert_close(uv[3 * f + (size_t)k][1], -2 * positions_of(c)[faces[f][k]][1], 1e-6);
    }
    /* no face of the box is internal */
    assert_true(rbli_hash_equal(
        rbli_collection_hash(collection_of(&g, "none")), rbli_collection_hash(collection_of(&g, "box"))));
    end_run(&g);
}

static void internal_faces_alone_change_by_default(void **state)
{
    (void)state;
    static const char *const types[] = {"BoxProjectUV", "AutoUnwrapUV"};
    for (int i = 0; i < 2; i++) {
        char text[1500];
        snprintf(text, sizeof text,
            BALL
            "\"new\": {\"type\": \"%s\", \"in\": {\"collection\": \"cut\"}},\n"
            "\"second\": {\"type\": \"%s\", \"in\": {\"collection\": \"cut\"}, \"params\": {\"channel\": 1, "
            "\"faces\": \"all\"}}",
            types[i], types[i]);
        graph_run g = run_nodes(text, RBL_OK);
        const rbl_collection *cut = collection_of(&g, "cut"), *new = collection_of(&g, "new"),
                             *second = collection_of(&g, "second");
        const float(*before)[2] = rbli_collection_read(cut, "corner", "uv0", RBL_FLOAT_2);
        const float(*after)[2] = rbli_collection_read(new, "corner", "uv0", RBL_FLOAT_2);
        const bool *internal = rbli_collection_read(cut, "face", "internal", RBL_BOOL);
        size_t changed = 0, inner = 0;
        for (size_t f = 0; f < rbli_collection_size(cut, "face"); f++) {
            bool same = memcmp(before[3 * f], after[3 * f], 3 * sizeof *before) == 0;
            if (!internal[f]) assert_true(same);
            changed += !same;
            inner += internal[f];
        }
        assert_true(changed * 10 > inner * 9);
        assert_ptr_equal(
            rbli_collection_buffer(cut, "corner", "uv0"), rbli_collection_buffer(second, "corner", "uv0"));
        assert_non_null(rbli_collection_read(second, "corner", "uv1", RBL_FLOAT_2));
        end_run(&g);
        snprintf(text, sizeof text,
            BALL
            "\"gap\": {\"type\": \"%s\", \"in\": {\"collection\": \"cut\"}, \"params\": {\"channel\": 2}}",
            types[i]);
        g = run_nodes(text, RBL_ERR_ARGUMENT);
        assert_string_equal(error_pointer(&g), "/nodes/gap/params/channel");
        assert_true(said(&g, "there is no UV set 1"));
        end_run(&g);
    }
}

/* ---- charts ---- */

static int32_t find_root(int32_t *root, int32_t f)
{
    while (root[f] != f)
        f = root[f] = root[root[f]];
    return f;
}

typedef struct uv_edge {
    int32_t a, b, face;
    float uv[2][2];
} uv_edge;

static int compare_edges(const void *pa, const void *pb)
{
    const uv_edge *a = pa, *b = pb;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

/// A number for each chosen face: the same for those joined in UV space; −1 for others.
static int32_t *charts_of(const rbl_collection *c, const float (*uv)[2], bool all)
{
    size_t count = rbli_collection_size(c, "face"), edge_count = 0;
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    const bool *internal = rbli_collection_read(c, "face", "internal", RBL_BOOL);
    int32_t *root = malloc(count * sizeof *root);
    uv_edge *edges = malloc(3 * count * sizeof *edges);
    for (size_t f = 0; f < count; f++) {
        root[f] = (int32_t)f;
        for (size_t k = 0; k < 3 && (all || internal[f]); k++) {
            size_t i = 3 * f + k, j = 3 * f + (k + 1) % 3;
            int32_t a = faces[f][k], b = faces[f][(k + 1) % 3];
            bool turn = a > b;
            uv_edge *e = &edges[edge_count++];
            *e = (uv_edge){turn ? b : a, turn ? a : b, (int32_t)f, {{0, 0}, {0, 0}}};
            memcpy(e->uv[turn], uv[i], sizeof *uv);
            memcpy(e->uv[!turn], uv[j], sizeof *uv);
        }
    }
    qsort(edges, edge_count, sizeof *edges, compare_edges);
    for (size_t i = 0; i + 1 < edge_count; i++)
        if (compare_edges(&edges[i], &edges[i + 1]) == 0 &&
            memcmp(edges[i].uv, edges[i + 1].uv, sizeof edges[i].uv) == 0) {
            int32_t a = find_root(root, edges[i].face), b = find_root(root, edges[i + 1].face);
            root[a < b ? b : a] = a < b ? a : b;
        }
    for (size_t f = 0; f < count; f++)
        root[f] = find_root(root, (int32_t)f);
    for (size_t f = 0; f < count; f++)
        if (!all && !internal[f]) root[f] = -1;
    free(edges);
    return root;
}

/// Paints all charts on a canvas and fails where two meet within `gutter` pixels: each face covers the pixels
/// whose centres it holds, grown by half the gutter at its sides.
static void check_canvas(
    const rbl_collection *c, const float (*uv)[2], const int32_t *chart, int side, double gutter)
{
    int32_t *canvas = malloc((size_t)side * (size_t)side * sizeof *canvas);
    memset(canvas, 0xff, (size_t)side * (size_t)side * sizeof *canvas);
    for (size_t f = 0; f < rbli_collection_size(c, "face"); f++) {
        if (chart[f] < 0) continue;
        double p[3][2], low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9}, turn;
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 2; a++) {
                p[k][a] = (double)uv[3 * f + (size_t)k][a] * side;
                low[a] = fmin(low[a], p[k][a]);
                high[a] = fmax(high[a], p[k][a]);
                assert_true(uv[3 * f + (size_t)k][a] >= 0 && uv[3 * f + (size_t)k][a] <= 1);
            }
        turn = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
        double grown = 0.49 * gutter;
        for (int y = (int)floor(low[1] - grown); y <= (int)ceil(high[1] + grown); y++)
            for (int x = (int)floor(low[0] - grown); x <= (int)ceil(high[0] + grown); x++) {
                if (x < 0 || y < 0 || x >= side || y >= side) continue;
                double q[2] = {x + 0.5, y + 0.5}, inside = INFINITY, near = INFINITY;
                for (int k = 0; k < 3; k++) {
                    const double *a = p[k], *b = p[(k + 1) % 3];
                    double d[2] = {b[0] - a[0], b[1] - a[1]}, length = hypot(d[0], d[1]);
                    double h = (d[0] * (q[1] - a[1]) - d[1] * (q[0] - a[0])) / (length > 0 ? length : 1);
                    double t =
                        length > 0 ? ((q[0] - a[0]) * d[0] + (q[1] - a[1]) * d[1]) / length / length : 0;
                    t = fmax(0, fmin(1, t));
                    inside = fmin(inside, turn < 0 ? -h : h);
                    near = fmin(near, hypot(q[0] - a[0] - t * d[0], q[1] - a[1] - t * d[1]));
                }
                if (inside < 0 && near > grown) continue;
                int32_t *pixel = &canvas[(size_t)y * (size_t)side + (size_t)x];
                if (*pixel >= 0 && *pixel != chart[f])
                    print_error("charts %d and %d meet at pixel %d, %d\n", *pixel, chart[f], x, y);
                assert_true(*pixel < 0 || *pixel == chart[f]);
                *pixel = chart[f];
            }
    }
    free(canvas);
}

/// Texels a length of each large face; the largest over the smallest.
static double density_spread(const rbl_collection *c, const float (*uv)[2], const int32_t *chart)
{
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    double low = INFINITY, high = 0;
    for (size_t f = 0; f < rbli_collection_size(c, "face"); f++) {
        if (chart[f] < 0) continue;
        const double *p[3];
        double square = 0;
        for (int k = 0; k < 3; k++)
            p[k] = positions_of(c)[faces[f][k]];
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            double n = (p[1][i] - p[0][i]) * (p[2][j] - p[0][j]) - (p[1][j] - p[0][j]) * (p[2][i] - p[0][i]);
            square += n * n;
        }
        if (sqrt(square) < 1e-3) continue; /* rounding of floats */
        double area =
            fabs(((double)uv[3 * f + 1][0] - uv[3 * f][0]) * ((double)uv[3 * f + 2][1] - uv[3 * f][1]) -
                 ((double)uv[3 * f + 2][0] - uv[3 * f][0]) * ((double)uv[3 * f + 1][1] - uv[3 * f][1]));
        double density = sqrt(area / sqrt(square));
        low = fmin(low, density);
        high = fmax(high, density);
    }
    return high / low;
}

static void unwrapped_charts_do_not_overlap(void **state)
{
    (void)state;
    static const struct {
        const char *params;
        bool all;
        int side;
        double gutter, spread;
    } cases[] = {{"", false, 1024, 1, 1.01}, {"\"faces\": \"all\"", true, 1024, 1, 1.42},
        {"\"faces\": \"all\", \"gutter\": 4, \"resolution\": 512", true, 512, 4, 1.42},
        {"\"scale\": 0.5, \"gutter\": 2", false, 1024, 2, 1.01}};
    static const int threads[] = {1, 2, 8};
    for (int i = 0; i < 4; i++) {
        char text[1500], hashes[3][33];
        snprintf(text, sizeof text,
            BALL "\"uv\": {\"type\": \"AutoUnwrapUV\", \"in\": {\"collection\": \"cut\"}, \"params\": {%s}}",
            cases[i].params);
        for (int t = 0; t < 3; t++) {
            graph_run g = run_nodes_with(text, RBL_OK, threads[t]);
            const rbl_collection *c = collection_of(&g, "uv");
            const float(*uv)[2] = rbli_collection_read(c, "corner", "uv0", RBL_FLOAT_2);
            rbl_collection_hash_text(c, hashes[t]);
            if (t == 0) {
                int32_t *chart = charts_of(c, uv, cases[i].all);
                check_canvas(c, uv, chart, cases[i].side, cases[i].gutter);
                double spread = density_spread(c, uv, chart);
                if (!(spread < cases[i].spread)) print_error("case %d: density spreads by %g\n", i, spread);
                assert_true(spread < cases[i].spread);
                free(chart);
            }
            end_run(&g);
        }
        assert_string_equal(hashes[0], hashes[1]);
        assert_string_equal(hashes[0], hashes[2]);
    }
}

static void many_charts_fit(void **state)
{
    (void)state;
    uint32_t sites = tries(400, 1600), resolution = tries(2048, 4096);
    char nodes[600];
    snprintf(nodes, sizeof nodes,
        "\"box\": {\"type\": \"MakePrimitive\"},\n"
        "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"box\"}, \"params\": "
        "{\"min_sites\": %u, \"max_sites\": %u}},\n"
        "\"uv\": {\"type\": \"AutoUnwrapUV\", \"in\": {\"collection\": \"cut\"}, \"params\": "
        "{\"resolution\": %u}},\n"
        "\"small\": {\"type\": \"AutoUnwrapUV\", \"in\": {\"collection\": \"box\"}, \"params\": {\"faces\": "
        "\"all\", \"gutter\": 4, \"resolution\": 16}}",
        sites, sites, resolution);
    graph_run g = run_nodes(nodes, RBL_OK);
    const rbl_collection *c = collection_of(&g, "uv");
    const float(*uv)[2] = rbli_collection_read(c, "corner", "uv0", RBL_FLOAT_2);
    int32_t *chart = charts_of(c, uv, false);
    size_t count = 0;
    for (size_t f = 0; f < rbli_collection_size(c, "face"); f++)
        count += chart[f] == (int32_t)f;
    assert_true(count > 12 * sites);
    check_canvas(c, uv, chart, (int)resolution, 1);
    free(chart);
    end_run(&g);
    g = run_nodes("\"box\": {\"type\": \"MakePrimitive\"},\n"
                  "\"cut\": {\"type\": \"UniformFracture\", \"in\": {\"collection\": \"box\"}},\n"
                  "\"uv\": {\"type\": \"AutoUnwrapUV\", \"in\": {\"collection\": \"cut\"}, \"params\": "
                  "{\"resolution\": 64, \"gutter\": 8}}",
        RBL_ERR_LIMIT);
    assert_true(said(&g, "charts with a gutter of 8 pixels do not fit into 64 × 64"));
    end_run(&g);
}

static void nothing_to_unwrap_is_said(void **state)
{
    (void)state;
    graph_run g = run_nodes("\"box\": {\"type\": \"test.Boxes\"},\n"
                            "\"uv\": {\"type\": \"AutoUnwrapUV\", \"in\": {\"collection\": \"box\"}}",
        RBL_OK);
    assert_true(said(&g, "there is no face to unwrap: no cut has made one"));
    end_run(&g);
}

static void tangents_follow_new_uvs(void **state)
{
    (void)state;
    graph_run g = run_nodes(BALL
        "\"t\": {\"type\": \"RecomputeNormals\", \"in\": {\"collection\": \"cut\"}},\n"
        "\"uv\": {\"type\": \"BoxProjectUV\", \"in\": {\"collection\": \"t\"}},\n"
        "\"again\": {\"type\": \"RecomputeNormals\", \"in\": {\"collection\": \"uv\"}, \"params\": "
        "{\"only_tangents\": true}}",
        RBL_OK);
    const rbl_collection *c = collection_of(&g, "uv");
    assert_true(rbli_hash_equal(rbli_collection_hash(c), rbli_collection_hash(collection_of(&g, "again"))));
    assert_false(rbli_hash_equal(rbli_buffer_hash(rbli_collection_buffer(c, "corner", "tangent")),
        rbli_buffer_hash(rbli_collection_buffer(collection_of(&g, "t"), "corner", "tangent"))));
    end_run(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_project_upright),
        cmocka_unit_test(internal_faces_alone_change_by_default),
        cmocka_unit_test(unwrapped_charts_do_not_overlap),
        cmocka_unit_test(many_charts_fit),
        cmocka_unit_test(nothing_to_unwrap_is_said),
        cmocka_unit_test(tangents_follow_new_uvs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
