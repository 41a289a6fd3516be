#include "fracture/base/rng.h"
#include "fracture/ops/surface.h"
#include "fracture/ops/tidy.h"
#include "tests/ops/asset_builder.h"

/* What rbli_tidy finds and repairs: collections are broken by hand. */

static const double three[3][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{1, 0, 0}, {2, 1, 1}}, {{2, 0, 0}, {3, 1, 1}}};

static rbl_collection *three_boxes(rbl_context *ctx)
{
    rbl_collection *c = make_boxes(ctx, 3, three);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

static int32_t *ints(rbl_context *ctx, rbl_collection *c, const char *group, const char *name)
{
    void *out;
    assert_ok(ctx, rbli_collection_write(ctx, c, group, name, RBL_INT32, &out));
    return out;
}

static void tidy(rbl_context *ctx, const rbl_collection *in, bool unreferenced, bool ones, bool dangling,
    rbli_tidy_report *report, rbl_collection **out)
{
    rbli_tidy_options options = {unreferenced, ones, dangling};
    *out = NULL;
    assert_ok(ctx, rbli_tidy(ctx, in, &options, report, out));
    assert_ok(ctx, rbli_collection_validate(ctx, *out, RBLI_VALIDATE_RANGES));
    if (!report->fault) assert_ok(ctx, rbli_collection_validate(ctx, *out, RBLI_VALIDATE_CLOSED));
}

static void sound_collections_stay_as_they_are(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = three_boxes(ctx), *out;
    rbli_tidy_report report;
    tidy(ctx, c, true, true, true, &report, &out);
    assert_null(report.fault);
    assert_int_equal(report.pieces, 3);
    assert_int_equal(report.roots, 1);
    assert_int_equal(report.dangling + report.clusters_of_one + report.lost_vertices + report.flat_faces, 0);
    assert_true(rbli_hash_equal(rbli_collection_hash(c), rbli_collection_hash(out)));
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void unreferenced_parts_are_removed(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = three_boxes(ctx), *out;
    rbli_tidy_report report;
    void *data;
    /* bone 2 loses its geometry; two stray vertices behind the last geometry's; a face behind all */
    ints(ctx, c, "bone", "geometry")[2] = -1;
    assert_ok(ctx, rbli_collection_resize(ctx, c, "vertex", 26));
    ints(ctx, c, "geometry", "vertex_count")[2] = 10;
    assert_ok(ctx, rbli_collection_resize(ctx, c, "face", 37));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "corner", 111));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "proximity", 2));
    assert_ok(ctx, rbli_collection_write(ctx, c, "proximity", "geometries", RBL_INT32_2, &data));
    memcpy(data, (const int32_t[4]){0, 1, 0, 2}, 4 * sizeof(int32_t));
    assert_ok(ctx, rbli_collection_write(ctx, c, "proximity", "area", RBL_DOUBLE, &data));
    rbli_tidy_options keep = {false, false, false};
    out = NULL;
    assert_int_equal(rbli_tidy(ctx, c, &keep, &report, &out), RBL_ERR_COLLECTION); /* it cannot be used */
    assert_null(out);
    tidy(ctx, c, true, false, false, &report, &out);
    assert_int_equal(report.lost_geometries, 1);
    assert_int_equal(report.lost_faces, 13);
    assert_int_equal(report.lost_vertices, 10);
    assert_int_equal(report.empty_bones, 1);
    assert_null(report.fault);
    assert_int_equal(rbli_collection_size(out, "geometry"), 2);
    assert_int_equal(rbli_collection_size(out, "vertex"), 16);
    assert_int_equal(rbli_collection_size(out, "face"), 24);
    assert_int_equal(rbli_collection_size(out, "proximity"), 1);
    const int32_t(*pairs)[2] = rbli_collection_read(out, "proximity", "geometries", RBL_INT32_2);
    assert_int_equal(pairs[0][0], 0);
    assert_int_equal(pairs[0][1], 1);
    /* attributes went along: UVs are x and y */
    const float(*uv)[2] = rbli_collection_read(out, "corner", "uv0", RBL_FLOAT_2);
    const double(*p)[3] = rbli_collection_read(out, "vertex", "position", RBL_VEC3);
    const int32_t(*f)[3] = rbli_collection_read(out, "face", "vertices", RBL_INT32_3);
    for (size_t i = 0; i < 72; i++)
        for (int k = 0; k < 2; k++)
            assert_true(uv[i][k] == p[f[i / 3][i % 3]][k]);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void links_to_what_is_not_theirs_are_cut(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = three_boxes(ctx), *out;
    rbli_tidy_report report;
    ints(ctx, c, "bone", "geometry")[2] = 77;
    ints(ctx, c, "bone", "geometry")[3] = 0;
    tidy(ctx, c, true, false, true, &report, &out);
    assert_int_equal(report.lost_links, 2);
    assert_int_equal(report.lost_geometries, 2);
    assert_int_equal(report.dangling, 2);
    assert_int_equal(rbli_collection_size(out, "bone"), 2);
    assert_int_equal(report.pieces, 1);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void clusters_are_removed_only_when_asked(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = three_boxes(ctx), *out;
    rbli_tidy_report report;
    /* root → box_0, box_1, pair → [one → box_2], empty → deep */
    const char *names[] = {"pair", "one", "empty", "deep"};
    const int32_t parents[] = {0, 0, 0, 0};
    int32_t first;
    void *data;
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 4, parents, names, RBLI_BONE_CLUSTER, &first));
    int32_t *parent = ints(ctx, c, "bone", "parent");
    parent[first + 1] = first;
    parent[3] = first + 1;
    parent[first + 3] = first + 2;
    assert_ok(ctx, rbli_hierarchy_sort(ctx, c));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "connection", 1));
    assert_ok(ctx, rbli_collection_write(ctx, c, "connection", "bones", RBL_INT32_2, &data));
    int32_t pair_bone = -1, box_0 = -1;
    for (int32_t b = 0; b < 8; b++) {
        if (strcmp(rbli_collection_string(c, "bone", "name", (size_t)b), "pair") == 0) pair_bone = b;
        if (strcmp(rbli_collection_string(c, "bone", "name", (size_t)b), "box_0") == 0) box_0 = b;
    }
    ((int32_t *)data)[0] = box_0 < pair_bone ? box_0 : pair_bone;
    ((int32_t *)data)[1] = box_0 < pair_bone ? pair_bone : box_0;
    assert_ok(ctx, rbli_collection_write(ctx, c, "connection", "area", RBL_DOUBLE, &data));
    *(double *)data = 4;
    for (int ones = 0; ones < 2; ones++)
        for (int dangling = 0; dangling < 2; dangling++) {
            tidy(ctx, c, true, ones, dangling, &report, &out);
            assert_int_equal(report.dangling, 2);
            /* without removing what dangles, "empty" is a cluster of one, too */
            assert_int_equal(report.clusters_of_one, dangling ? 2 : 3);
            assert_int_equal(
                rbli_collection_size(out, "bone"), 8 - (dangling ? 2 : 0) - (ones ? dangling ? 2 : 3 : 0));
            const int32_t(*joined)[2] = rbli_collection_read(out, "connection", "bones", RBL_INT32_2);
            assert_int_equal(rbli_collection_size(out, "connection"), 1);
            const char *ends[2];
            for (int k = 0; k < 2; k++)
                ends[k] = rbli_collection_string(out, "bone", "name", (size_t)joined[0][k]);
            const char *other = strcmp(ends[0], "box_0") == 0 ? ends[1] : ends[0];
            assert_string_equal(other, ones ? "box_2" : "pair");
            rbli_collection_release(out);
        }
    rbli_collection_release(c);
    finish_context(ctx);
}

static void order_levels_and_roots_are_put_right(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = three_boxes(ctx), *out;
    rbli_tidy_report report;
    int32_t *parent = ints(ctx, c, "bone", "parent"), *level = ints(ctx, c, "bone", "level");
    parent[0] = 2; /* the root below a piece of the same level: a cycle no longer, once … */
    parent[2] = -1;
    level[2] = 9;
    ints(ctx, c, "bone", "type")[2] = RBLI_BONE_CLUSTER;
    ints(ctx, c, "bone", "geometry")[2] = -1;
    parent[3] = -1;
    tidy(ctx, c, true, false, false, &report, &out);
    assert_true(report.order_fixed);
    assert_int_equal(report.roots, 2);
    assert_int_equal(report.pieces, 2);
    assert_null(report.fault);
    size_t roots = 0;
    for (size_t b = 0; b < rbli_collection_size(out, "bone"); b++)
        roots += ((const int32_t *)rbli_collection_read(out, "bone", "parent", RBL_INT32))[b] < 0;
    assert_int_equal(roots, 1);
    rbli_collection_release(out);
    ints(ctx, c, "bone", "parent")[2] = 0; /* a cycle */
    rbli_tidy_options options = rbli_tidy_default_options();
    out = NULL;
    assert_int_equal(rbli_tidy(ctx, c, &options, &report, &out), RBL_ERR_COLLECTION);
    assert_null(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void faults_of_pieces_are_counted(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = three_boxes(ctx), *out;
    rbli_tidy_report report;
    void *data;
    assert_ok(ctx, rbli_collection_write(ctx, c, "face", "vertices", RBL_INT32_3, &data));
    int32_t(*faces)[3] = data;
    for (size_t f = 12; f < 24; f++) { /* box_1 inside out */
        int32_t swap = faces[f][0];
        faces[f][0] = faces[f][1];
        faces[f][1] = swap;
    }
    faces[24][0] = faces[25][0]; /* box_2 opened */
    faces[24][1] = faces[25][1];
    faces[24][2] = faces[25][2];
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    tidy(ctx, c, true, true, true, &report, &out);
    assert_int_equal(report.open_pieces, 1);
    assert_int_equal(report.inside_out_pieces, 1);
    assert_string_equal(rbli_collection_string(out, "bone", "name", (size_t)report.first_open), "box_2");
    assert_string_equal(
        rbli_collection_string(out, "bone", "name", (size_t)report.first_inside_out), "box_1");
    assert_non_null(report.fault);
    rbli_free(ctx, report.fault);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// Indices, ranges and numbers changed at random, groups cut short, attributes lost: nothing crashes, and what
/// comes out can be used.
static void random_damage_is_repaired_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *group, *name;
        rbl_type type;
        size_t width;
    } targets[] = {{"bone", "parent", RBL_INT32, 1}, {"bone", "level", RBL_INT32, 1},
        {"bone", "geometry", RBL_INT32, 1}, {"bone", "type", RBL_INT32, 1},
        {"geometry", "bone", RBL_INT32, 1}, {"geometry", "vertex_start", RBL_INT32, 1},
        {"geometry", "vertex_count", RBL_INT32, 1}, {"geometry", "face_start", RBL_INT32, 1},
        {"geometry", "face_count", RBL_INT32, 1}, {"face", "vertices", RBL_INT32_3, 3},
        {"proximity", "geometries", RBL_INT32_2, 2}, {"connection", "bones", RBL_INT32_2, 2},
        {"convex", "bone", RBL_INT32, 1}};
    static const char *const groups[] = {"bone", "geometry", "vertex", "face", "corner", "convex"};
    static const int32_t odd[] = {-2147483647, -2, -1, 0, 1, 2, 3, 8, 12, 24, 36, 100, 2147483647};
    size_t repaired = 0, refused = 0;
    for (uint32_t seed = 1; seed <= 3000; seed++) {
        rbl_context *ctx = make_context(1);
        rbli_rng rng = rbli_rng_make(seed, RBLI_RNG_TEST, 12);
        rbl_collection *c = three_boxes(ctx), *out = NULL;
        rbli_tidy_report report = {0};
        void *data;
        assert_ok(ctx, rbli_collection_resize(ctx, c, "proximity", 2));
        assert_ok(ctx, rbli_collection_write(ctx, c, "proximity", "area", RBL_DOUBLE, &data));
        assert_ok(ctx, rbli_collection_resize(ctx, c, "connection", 2));
        assert_ok(ctx, rbli_collection_write(ctx, c, "connection", "area", RBL_DOUBLE, &data));
        for (size_t i = 0; i < 2; i++) {
            assert_ok(ctx, rbli_collection_write(ctx, c, i ? "connection" : "proximity",
                               i ? "bones" : "geometries", RBL_INT32_2, &data));
            memcpy(data, i ? (const int32_t[4]){1, 2, 2, 3} : (const int32_t[4]){0, 1, 1, 2},
                4 * sizeof(int32_t));
        }
        for (uint32_t n = 1 + rbli_rng_below(&rng, 3); n > 0; n--) {
            size_t t = rbli_rng_below(&rng, sizeof targets / sizeof *targets);
            size_t size = rbli_collection_size(c, targets[t].group);
            switch (rbli_rng_below(&rng, 12)) {
            case 0: {
                const char *group = groups[rbli_rng_below(&rng, 6)];
                size_t length = rbli_collection_size(c, group);
                if (length) assert_ok(ctx, rbli_collection_resize(ctx, c, group, length - 1));
                break;
            }
            case 1:
                rbli_collection_remove(c, targets[t].group, targets[t].name);
                break;
            default:
                if (size == 0) break;
                assert_ok(ctx,
                    rbli_collection_write(ctx, c, targets[t].group, targets[t].name, targets[t].type, &data));
                ((int32_t *)data)[rbli_rng_below(&rng, (uint32_t)(size * targets[t].width))] =
                    odd[rbli_rng_below(&rng, sizeof odd / sizeof *odd)];
            }
        }
        rbli_tidy_options options = {seed % 2, seed / 2 % 2, seed / 4 % 2};
        rbl_status status = rbli_tidy(ctx, c, &options, &report, &out);
        if (status == RBL_OK) {
            assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_RANGES));
            if (!report.fault) assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
            repaired++;
        } else {
            if (status != RBL_ERR_COLLECTION) print_error("seed %u: status %d\n", seed, status);
            assert_int_equal(status, RBL_ERR_COLLECTION);
            assert_null(out);
            refused++;
        }
        rbli_free(ctx, report.fault);
        rbli_collection_release(out);
        rbli_collection_release(c);
        finish_context(ctx);
    }
    print_message("%zu repaired, %zu refused\n", repaired, refused);
    assert_true(repaired > 300 && refused > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_collections_stay_as_they_are),
        cmocka_unit_test(unreferenced_parts_are_removed),
        cmocka_unit_test(links_to_what_is_not_theirs_are_cut),
        cmocka_unit_test(clusters_are_removed_only_when_asked),
        cmocka_unit_test(order_levels_and_roots_are_put_right),
        cmocka_unit_test(random_damage_is_repaired_or_refused),
        cmocka_unit_test(faults_of_pieces_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
