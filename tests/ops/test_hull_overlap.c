#include "fracture/ops/hull_overlap.h"

#include "fracture/ops/hull_group.h"
#include "fracture/ops/surface.h"
#include "tests/geometry/hull_check.h"
#include "tests/ops/asset_builder.h"

/// Boxes under a root, with hulls of the collection's own making.
static rbl_collection *make_solids(rbl_context *ctx, size_t count, const double (*boxes)[2][3])
{
    rbl_collection *c = make_boxes(ctx, count, boxes);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

/// The deepest overlap of hulls of different pieces, by their size.
static double deepest(rbl_context *ctx, const rbl_collection *c)
{
    double most = -HUGE_VAL;
    const int32_t *owner = rbli_collection_read(c, "convex", "bone", RBL_INT32);
    const int32_t *type = rbli_collection_read(c, "bone", "type", RBL_INT32);
    size_t count = rbli_collection_size(c, "convex");
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            if (owner[i] == owner[j] || type[owner[i]] != type[owner[j]]) continue;
            rbli_hull a = rbli_hull_get(c, i), b = rbli_hull_get(c, j);
            rbli_hull_overlap overlap;
            assert_ok(ctx, rbli_hull_find_overlap(ctx, &a, &b, 0, &overlap));
            most = fmax(most, overlap.depth / hull_size(&a));
        }
    return most;
}

static void pieces_are_cut_in_the_middle(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[3][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{0.8, 0, 0}, {1.8, 1, 1}}, {{5, 0, 0}, {6, 1, 1}}};
    rbl_collection *c = make_solids(ctx, 3, (const double(*)[2][3])boxes), *out = NULL;
    rbli_overlap_options options = rbli_overlap_default_options();
    rbli_overlap_report report;
    options.can_exceed_fraction = 0.1; /* no hull for the root */
    assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
    assert_int_equal(report.cut_pairs, 1);
    assert_int_equal(report.given_up_pairs, 0);
    assert_int_equal(report.exceeding_clusters, 1);
    assert_int_equal(rbli_collection_size(out, "convex"), 3);
    rbli_hull a = rbli_hull_get(out, 0), b = rbli_hull_get(out, 1);
    assert_close(a.volume, 0.9, 1e-6);
    assert_close(b.volume, 0.9, 1e-6);
    assert_true(deepest(ctx, out) <= 1e-6);
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
    rbli_collection_release(out);
    options.overlaps = RBLI_OVERLAPS_CLUSTERS;
    assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
    assert_int_equal(report.cut_pairs, 0);
    rbli_collection_release(out);
    options.overlaps = RBLI_OVERLAPS_ALL;
    options.can_remove_fraction = 0.05;
    assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
    assert_int_equal(report.cut_pairs, 0);
    assert_int_equal(report.given_up_pairs, 1);
    assert_int_equal(report.given_up[0], 1);
    assert_int_equal(report.given_up[1], 2);
    rbli_collection_release(out);
    options.can_remove_fraction = 0.3;
    options.shrink_percent = 30; /* then they do not overlap */
    assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
    assert_int_equal(report.cut_pairs, 0);
    rbli_collection_release(out);
    options.shrink_percent = 10; /* an overlap of a tenth shrinks to 0.1 and grows to 0.1111 */
    assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
    assert_int_equal(report.cut_pairs, 1);
    a = rbli_hull_get(out, 0);
    assert_close(a.volume, 0.5 + 0.4 / 0.9, 1e-6);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void crowds_are_parted_the_same_for_any_threads(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    rbli_hash hashes[3];
    for (int threads = 1; threads <= 3; threads++) {
        rbl_context *ctx = make_context(threads);
        rbli_rng rng = rbli_rng_make(21, RBLI_RNG_TEST, 0);
        double boxes[COUNT][2][3];
        rbli_hull balls[COUNT];
        rbli_hull_row rows[COUNT];
        for (int i = 0; i < COUNT; i++) {
            double center[3] = {i % 4, i / 4 % 4, i / 16};
            for (int k = 0; k < 3; k++) {
                boxes[i][0][k] = center[k] - 0.5;
                boxes[i][1][k] = center[k] + 0.5;
            }
            random_hull(ctx, &rng, 12, center, 0.62, &balls[i]);
            rows[i] = (rbli_hull_row){i + 1, -1, &balls[i]};
        }
        rbl_collection *c = make_solids(ctx, COUNT, (const double(*)[2][3])boxes), *out = NULL;
        assert_ok(ctx, rbli_hull_group_write(ctx, c, rows, COUNT, c));
        assert_true(deepest(ctx, c) > 0.05);
        rbli_overlap_options options = rbli_overlap_default_options();
        rbli_overlap_report report;
        options.can_remove_fraction = 0.9;
        assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
        assert_true(report.cut_pairs > 20);
        assert_int_equal(report.given_up_pairs, 0);
        assert_true(deepest(ctx, out) <= 1e-6);
        assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_CLOSED));
        hashes[threads - 1] = rbli_collection_hash(out);
        assert_memory_equal(&hashes[threads - 1], &hashes[0], sizeof hashes[0]);
        rbli_collection_release(out);
        rbli_collection_release(c);
        for (int i = 0; i < COUNT; i++)
            rbli_hull_free(ctx, &balls[i]);
        finish_context(ctx);
    }
}

/// Two clusters of an L each, whose hulls overlap, and a piece in one's corner.
static void clusters_are_cut_and_pieces_stay(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    double box[1][2][3] = {{{1.4, 1.4, 0}, {1.6, 1.6, 1}}};
    rbl_collection *c = make_boxes(ctx, 1, (const double(*)[2][3])box), *out = NULL;
    int32_t first, parents[2] = {0, 0};
    const char *names[2] = {"left", "right"};
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, parents, names, RBLI_BONE_CLUSTER, &first));
    parents[0] = parents[1] = first;
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 2, parents, names, RBLI_BONE_RIGID, &first));
    add_box_geometry(ctx, c, 3, (double[3]){0, 0, 0}, (double[3]){1, 2, 1}, 0);
    add_box_geometry(ctx, c, 4, (double[3]){1, 0, 0}, (double[3]){2, 1, 1}, 0);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    rbli_overlap_options options = rbli_overlap_default_options();
    rbli_overlap_report report;
    options.can_exceed_fraction = 0.2;
    assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
    const int32_t *owner = rbli_collection_read(out, "convex", "bone", RBL_INT32);
    rbli_hull piece = {0}, cluster = {0};
    for (size_t i = 0; i < rbli_collection_size(out, "convex"); i++) {
        if (owner[i] == 1) piece = rbli_hull_get(out, i);
        if (owner[i] == 2) cluster = rbli_hull_get(out, i);
    }
    assert_close(piece.volume, 0.04, 1e-9);
    assert_true(cluster.point_count > 0);
    assert_close(cluster.volume, 4 - 1.2 * 1.2 / 2, 1e-6);
    rbli_hull_overlap overlap;
    assert_ok(ctx, rbli_hull_find_overlap(ctx, &piece, &cluster, 0, &overlap));
    assert_true(overlap.depth <= 1e-6);
    rbli_collection_release(out);
    options.can_remove_fraction = 0.01; /* the cut takes more: the cluster goes without */
    assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
    assert_int_equal(report.shrunk_clusters, 1);
    rbli_collection_release(out);
    options.overlaps = RBLI_OVERLAPS_CLUSTERS_ALONE;
    assert_ok(ctx, rbli_separate_hulls(ctx, c, &options, &report, &out));
    assert_int_equal(report.shrunk_clusters, 0);
    assert_int_equal(report.cut_pairs, 0);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_cut_in_the_middle),
        cmocka_unit_test(crowds_are_parted_the_same_for_any_threads),
        cmocka_unit_test(clusters_are_cut_and_pieces_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
