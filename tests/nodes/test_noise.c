#include <math.h>

#include "fracture/base/rng.h"
#include "tests/nodes/node_help.h"

/* Pieces of rough cuts, by random settings: closed, free of crossings by an oracle of all pairs of triangles,
   complete, and neighbours share their facets to the bit. RUBBLE_SLOW tries 200 settings, else a part. */

typedef struct setting {
    uint32_t seed;
    bool grout;
    double volume; /* of what is cut */
    char text[1500];
} setting;

static double between(rbli_rng *rng, double low, double high)
{
    return low + (high - low) * rbli_rng_double(rng);
}

/// Any shape, cutter, amplitude (to half the object), frequency, octaves, spacing; now and then grout.
static setting make_setting(uint32_t seed)
{
    static const char *const shapes[] = {"box", "sphere", "cylinder"};
    static const double amplitudes[] = {0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5};
    rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 93);
    setting s = {.seed = seed, .grout = rbli_rng_below(&rng, 4) == 0};
    char cutter[300];
    unsigned shape = rbli_rng_below(&rng, 3);
    double spacing = between(&rng, 0.07, 0.2), amplitude = amplitudes[rbli_rng_below(&rng, 7)];
    switch (rbli_rng_below(&rng, 4)) {
    case 0:
        snprintf(cutter, sizeof cutter, "\"UniformFracture\", %s \"min_sites\": 2, \"max_sites\": 14",
            "\"in\": {\"collection\": \"src\"}, \"params\": {");
        break;
    case 1:
        snprintf(cutter, sizeof cutter, "\"PlaneCutter\", %s \"random_planes\": %u",
            "\"in\": {\"collection\": \"src\"}, \"params\": {", 1 + rbli_rng_below(&rng, 4));
        break;
    case 2:
        snprintf(cutter, sizeof cutter,
            "\"SliceCutter\", %s \"slices\": [%u, %u, 1], \"angle_variation\": %u",
            "\"in\": {\"collection\": \"src\"}, \"params\": {", rbli_rng_below(&rng, 3),
            rbli_rng_below(&rng, 3), 10 * rbli_rng_below(&rng, 3));
        break;
    default:
        snprintf(cutter, sizeof cutter,
            "\"BrickCutter\", %s \"length\": 0.5, \"height\": 0.3, \"depth\": 0.4, \"keep_mortar\": false",
            "\"in\": {\"collection\": \"src\"}, \"params\": {");
    }
    snprintf(s.text, sizeof s.text,
        "\"src\": {\"type\": \"MakePrimitive\", \"params\": {\"shape\": \"%s\", \"segments\": "
        "12}},\n\"cut\": "
        "{\"type\": %s, \"seed\": %u, \"grout\": %g, \"noise\": {\"amplitude\": %g, \"frequency\": %g, "
        "\"octaves\": %u, \"persistence\": %g, \"point_spacing\": %g}}}",
        shapes[shape], cutter, seed, s.grout ? between(&rng, 0.002, 0.05) : 0, amplitude,
        between(&rng, 0.05, 0.25) / spacing, 1 + rbli_rng_below(&rng, 5), between(&rng, 0.2, 0.8), spacing);
    return s;
}

/* ---- crossings ---- */

/// Whether the segment pq goes through the inside of a triangle, clear of its plane, sides and ends by `clear`.
static bool pierces(const double *p, const double *q, const double *const t[3], double clear)
{
    double u[3], v[3], n[3], length = 0, hp = 0, hq = 0, x[3];
    for (int k = 0; k < 3; k++) {
        u[k] = t[1][k] - t[0][k];
        v[k] = t[2][k] - t[0][k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length += n[k] * n[k];
    }
    length = sqrt(length);
    if (!(length > 0)) return false;
    for (int k = 0; k < 3; k++) {
        hp += n[k] / length * (p[k] - t[0][k]);
        hq += n[k] / length * (q[k] - t[0][k]);
    }
    if (!((hp > clear && hq < -clear) || (hp < -clear && hq > clear))) return false;
    for (int k = 0; k < 3; k++)
        x[k] = p[k] + hp / (hp - hq) * (q[k] - p[k]);
    for (int i = 0; i < 3; i++) {
        const double *a = t[i], *b = t[(i + 1) % 3];
        double side[3], to[3], height = 0, reach = 0;
        for (int k = 0; k < 3; k++) {
            side[k] = b[k] - a[k];
            to[k] = x[k] - a[k];
            reach += side[k] * side[k];
        }
        for (int k = 0; k < 3; k++)
            height += (side[(k + 1) % 3] * to[(k + 2) % 3] - side[(k + 2) % 3] * to[(k + 1) % 3]) * n[k];
        if (height / length / sqrt(reach) <= clear) return false;
    }
    return true;
}

/// All pairs of triangles of one piece.
static size_t count_crossings(
    const double (*positions)[3], const int32_t (*faces)[3], size_t count, double clear)
{
    double(*boxes)[2][3] = malloc(count * sizeof *boxes);
    size_t crossings = 0;
    for (size_t f = 0; f < count; f++)
        for (int k = 0; k < 3; k++) {
            boxes[f][0][k] = INFINITY;
            boxes[f][1][k] = -INFINITY;
            for (int c = 0; c < 3; c++) {
                boxes[f][0][k] = fmin(boxes[f][0][k], positions[faces[f][c]][k]);
                boxes[f][1][k] = fmax(boxes[f][1][k], positions[faces[f][c]][k]);
            }
        }
    for (size_t f = 0; f < count; f++)
        for (size_t g = f + 1; g < count; g++) {
            bool apart = false;
            for (int k = 0; k < 3 && !apart; k++)
                apart = boxes[f][1][k] < boxes[g][0][k] || boxes[g][1][k] < boxes[f][0][k];
            if (apart) continue;
            const double *a[3], *b[3];
            bool cross = false;
            for (int c = 0; c < 3; c++) {
                a[c] = positions[faces[f][c]];
                b[c] = positions[faces[g][c]];
            }
            for (int c = 0; c < 3 && !cross; c++)
                cross = pierces(a[c], a[(c + 1) % 3], b, clear) || pierces(b[c], b[(c + 1) % 3], a, clear);
            crossings += cross;
        }
    free(boxes);
    return crossings;
}

static void the_oracle_sees_crossings(void **state)
{
    (void)state;
    double p[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.2, -1}, {0.3, 0.2, 1}, {0.2, 0.3, 1}};
    const int32_t faces[2][3] = {{0, 1, 2}, {3, 4, 5}}, touching[2][3] = {{0, 1, 2}, {0, 1, 3}};
    assert_int_equal(count_crossings((const double(*)[3])p, faces, 2, 1e-9), 1);
    assert_int_equal(count_crossings((const double(*)[3])p, touching, 2, 1e-9), 0);
    p[3][2] = 0.5;
    assert_int_equal(count_crossings((const double(*)[3])p, faces, 2, 1e-9), 0);
}

/* ---- shared facets ---- */

typedef struct facet {
    double p[3][3]; /* in ascending order */
    bool turned;    /* by an odd permutation */
    int32_t geometry;
} facet;

static int compare_positions(const double *a, const double *b)
{
    for (int k = 0; k < 3; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

static int compare_facets(const void *pa, const void *pb)
{
    const facet *a = pa, *b = pb;
    for (int i = 0; i < 3; i++) {
        int order = compare_positions(a->p[i], b->p[i]);
        if (order) return order;
    }
    return 0;
}

/// Every cut face meets exactly one of another piece, with the same three points and the other way round.
static void check_shared_facets(const rbl_collection *c)
{
    const double(*positions)[3] = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    const bool *internal = rbli_collection_read(c, "face", "internal", RBL_BOOL);
    const int32_t *start = rbli_collection_read(c, "geometry", "face_start", RBL_INT32);
    const int32_t *length = rbli_collection_read(c, "geometry", "face_count", RBL_INT32);
    facet *facets = malloc(rbli_collection_size(c, "face") * sizeof *facets);
    size_t count = 0;
    for (size_t g = 0; g < rbli_collection_size(c, "geometry"); g++)
        for (int32_t f = start[g]; f < start[g] + length[g]; f++) {
            if (!internal[f]) continue;
            facet *x = &facets[count++];
            x->turned = false;
            x->geometry = (int32_t)g;
            for (int i = 0; i < 3; i++)
                memcpy(x->p[i], positions[faces[f][i]], sizeof x->p[i]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 2; j++)
                    if (compare_positions(x->p[j], x->p[j + 1]) > 0) {
                        double swap[3];
                        memcpy(swap, x->p[j], sizeof swap);
                        memcpy(x->p[j], x->p[j + 1], sizeof swap);
                        memcpy(x->p[j + 1], swap, sizeof swap);
                        x->turned = !x->turned;
                    }
        }
    if (count) qsort(facets, count, sizeof *facets, compare_facets);
    assert_true(count % 2 == 0);
    for (size_t i = 0; i < count; i += 2) {
        assert_int_equal(compare_facets(&facets[i], &facets[i + 1]), 0);
        assert_true(facets[i].turned != facets[i + 1].turned);
        assert_true(facets[i].geometry != facets[i + 1].geometry);
        assert_true(i + 2 >= count || compare_facets(&facets[i], &facets[i + 2]) != 0);
    }
    free(facets);
}

static double total_volume(const rbl_collection *c)
{
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    double sum = 0;
    for (size_t g = 0; g < rbli_collection_size(c, "geometry"); g++)
        sum += volume[g];
    return sum;
}

static void pieces_are_closed_and_do_not_cross_themselves(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    uint32_t count = tries(48, 200);
    size_t pieces = 0, faces = 0, cut = 0;
    for (uint32_t seed = 1; seed <= count; seed++) {
        setting s = make_setting(seed);
        graph_run g = run_nodes(s.text, RBL_OK);
        const rbl_collection *c = collection_of(&g, "cut");
        const double(*positions)[3] = rbli_collection_read(c, "vertex", "position", RBL_VEC3);
        const int32_t(*triangles)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
        const int32_t *start = rbli_collection_read(c, "geometry", "face_start", RBL_INT32);
        const int32_t *length = rbli_collection_read(c, "geometry", "face_count", RBL_INT32);
        size_t crossings = 0, geometries = rbli_collection_size(c, "geometry");
        rbl_status valid = rbli_collection_validate(ctx, c, RBLI_VALIDATE_CLOSED);
        for (size_t i = 0; i < geometries; i++)
            crossings += count_crossings(positions, triangles + start[i], (size_t)length[i], 1e-9);
        if (crossings || valid != RBL_OK)
            print_error("setting %u: %zu crossings, status %d\n%s\n", seed, crossings, valid, s.text);
        assert_ok(ctx, valid);
        assert_int_equal(crossings, 0);
        if (!s.grout) {
            double volume = total_volume(collection_of(&g, "src"));
            assert_close(total_volume(c), volume, 1e-10 * volume);
            check_shared_facets(c);
        }
        pieces += geometries;
        faces += rbli_collection_size(c, "face");
        cut += geometries > 1;
        end_run(&g);
    }
    print_message("%u settings, %zu of them cut, %zu pieces, %zu triangles\n", count, cut, pieces, faces);
    assert_true(cut * 10 > 7 * count);
    finish_context(ctx);
}

static void reduced_points_are_told(void **state)
{
    (void)state;
    graph_run g =
        run_nodes("\"box\": {\"type\": \"MakePrimitive\"},\n\"cut\": {\"type\": \"UniformFracture\", \"in\": "
                  "{\"collection\": \"box\"}, \"params\": {\"noise\": {\"amplitude\": 0.3}}}",
            RBL_OK);
    const rbl_messages *messages = rbl_run_messages(g.run);
    bool warned = false;
    for (size_t i = 0; i < rbl_messages_count(messages); i++)
        warned |= rbl_messages_get(messages, i)->severity == RBL_WARNING &&
                  strstr(rbl_messages_get(messages, i)->text, "moved less, so that no cut crosses itself");
    assert_true(warned);
    end_run(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_sees_crossings),
        cmocka_unit_test(pieces_are_closed_and_do_not_cross_themselves),
        cmocka_unit_test(reduced_points_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
