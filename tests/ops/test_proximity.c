#include "fracture/ops/hull_group.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

/// Boxes with normals, volumes and bounds.
static rbl_collection *make_solids(rbl_context *ctx, size_t count, const double (*boxes)[2][3])
{
    rbl_collection *c = make_boxes(ctx, count, boxes);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

/* Boxes under a root, whose contacts are known. */

static rbl_collection *make_octants(rbl_context *ctx)
{
    double boxes[8][2][3];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) {
            boxes[i][0][k] = 0.5 * (i >> k & 1);
            boxes[i][1][k] = boxes[i][0][k] + 0.5;
        }
    rbl_collection *c = make_solids(ctx, 8, (const double(*)[2][3])boxes);
    return c;
}

static void octants_touch_in_twelve_faces(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *c = make_octants(ctx), *out = NULL;
    rbli_proximity_options options = {.contact_area = RBLI_AREA_GEOMETRY, .connection_graph = true};
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "proximity"), 12);
    assert_int_equal(rbli_collection_size(out, "connection"), 12);
    const double *area = rbli_collection_read(out, "proximity", "area", RBL_DOUBLE);
    const int32_t(*pairs)[2] = rbli_collection_read(out, "proximity", "geometries", RBL_INT32_2);
    for (int i = 0; i < 12; i++) {
        int difference = pairs[i][0] ^ pairs[i][1];
        assert_true(pairs[i][0] < pairs[i][1]);
        assert_true(difference == 1 || difference == 2 || difference == 4);
        assert_close(area[i], 0.25, 1e-12);
        if (i > 0)
            assert_true(pairs[i][0] > pairs[i - 1][0] ||
                        (pairs[i][0] == pairs[i - 1][0] && pairs[i][1] > pairs[i - 1][1]));
    }
    assert_false(rbli_collection_has_group(c, "proximity"));
    rbli_collection_release(out);
    options = (rbli_proximity_options){0};
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    area = rbli_collection_read(out, "proximity", "area", RBL_DOUBLE);
    assert_true(area[0] == -1);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// Two clusters of two boxes each: leaf pairs across lift to one pair of clusters.
static void connections_join_siblings(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[4][2][3] = {
        {{0, 0, 0}, {1, 1, 1}}, {{0, 1, 0}, {1, 2, 1}}, {{1, 0, 0}, {2, 1, 1}}, {{1, 1, 0}, {2, 2, 1}}};
    rbl_collection *c = make_solids(ctx, 4, (const double(*)[2][3])boxes), *out = NULL;
    int32_t parents[2] = {0, 0}, first, *parent;
    const char *names[2] = {"left", "right"};
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 2, parents, names, RBLI_BONE_CLUSTER, &first));
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "parent", RBL_INT32, (void **)&parent));
    for (int i = 0; i < 4; i++)
        parent[1 + i] = first + i / 2;
    assert_ok(ctx, rbli_hierarchy_sort(ctx, c));
    rbli_proximity_options options = {.contact_area = RBLI_AREA_GEOMETRY, .connection_graph = true};
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "proximity"), 4);
    assert_int_equal(rbli_collection_size(out, "connection"), 3);
    const int32_t(*bones)[2] = rbli_collection_read(out, "connection", "bones", RBL_INT32_2);
    const double *area = rbli_collection_read(out, "connection", "area", RBL_DOUBLE);
    const int32_t *up = rbli_collection_read(out, "bone", "parent", RBL_INT32);
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(up[bones[i][0]], up[bones[i][1]]);
        assert_close(area[i], up[bones[i][0]] == 0 ? 2 : 1, 1e-12);
        sum += area[i];
    }
    assert_close(sum, 4, 1e-12);
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_GEOMETRY));
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void transforms_of_bones_count(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}}, (*transform)[16];
    rbl_collection *c = make_solids(ctx, 2, (const double(*)[2][3])boxes), *out = NULL;
    rbli_proximity_options options = {.contact_area = RBLI_AREA_GEOMETRY};
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transform));
    transform[2][12] = 1;
    transform[2][13] = 0.25;
    assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "proximity"), 1);
    const double *area = rbli_collection_read(out, "proximity", "area", RBL_DOUBLE);
    assert_close(area[0], 0.75, 1e-12);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// The pairs found, as text: "0-1 0-2".
static const char *pairs_of(rbl_context *ctx, const rbl_collection *c, const rbli_proximity_options *options)
{
    static char text[1000];
    rbl_collection *out = NULL;
    size_t used = 0;
    assert_ok(ctx, rbli_proximity(ctx, c, options, &out));
    assert_ok(ctx, rbli_collection_validate(ctx, out, RBLI_VALIDATE_GEOMETRY));
    const int32_t(*pairs)[2] = rbli_collection_read(out, "proximity", "geometries", RBL_INT32_2);
    text[0] = 0;
    for (size_t i = 0; i < rbli_collection_size(out, "proximity"); i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%d-%d", used ? " " : "", (int)pairs[i][0], (int)pairs[i][1]);
    rbli_collection_release(out);
    return text;
}

static double only_area(rbl_context *ctx, const rbl_collection *c, const rbli_proximity_options *options)
{
    rbl_collection *out = NULL;
    assert_ok(ctx, rbli_proximity(ctx, c, options, &out));
    assert_int_equal(rbli_collection_size(out, "proximity"), 1);
    double area = *(const double *)rbli_collection_read(out, "proximity", "area", RBL_DOUBLE);
    rbli_collection_release(out);
    return area;
}

/* A big cube; one that touches its face in full; one in a strip 0.2 wide; one along an edge; one in a corner;
   a crumb that lies with a whole face on the big cube; one 0.005 away. */
static const double corners[7][2][3] = {{{0, 0, 0}, {2, 2, 2}}, {{2, 0, 0}, {3, 2, 2}},
    {{0, 2, 1.8}, {1, 3, 2.8}}, {{0, -1, -1}, {1, 0, 0}}, {{-1, -1, 2}, {0, 0, 3}},
    {{1, 1, 2}, {1.01, 1.01, 2.01}}, {{-1.005, 0.5, 0.5}, {-0.005, 1.5, 1.5}}};

static void shared_corners_touch_when_asked(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_solids(ctx, 7, corners);
    rbli_proximity_options options = {0};
    assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-5");
    options.shared_vertices = true;
    assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-3 0-4 0-5");
    options.tolerance = 0.006;
    assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-3 0-4 0-6");
    rbli_collection_release(c);
    finish_context(ctx);
}

static void a_tolerance_like_the_whole_is_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_solids(ctx, 7, corners), *empty = NULL, *out = NULL;
    rbli_proximity_options options = {.tolerance = 3};
    assert_int_equal(rbli_proximity(ctx, c, &options, &out), RBL_ERR_ARGUMENT);
    assert_null(out);
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &empty));
    assert_ok(ctx, rbli_proximity(ctx, empty, &options, &out)); /* nothing to be large against */
    rbli_collection_release(out);
    rbli_collection_release(empty);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void hulls_touch_within_the_threshold(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *c = make_solids(ctx, 7, corners), *out = NULL;
    rbli_proximity_options options = {.method = RBLI_PROXIMITY_HULL};
    assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-3 0-4 0-5");
    options.distance_threshold = 0.004999;
    assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-3 0-4 0-5");
    options.distance_threshold = 0.005001;
    assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-3 0-4 0-5 0-6");
    const double expected[] = {4, 0.2, 0, 0, 1e-4, 1};
    for (int way = 0; way < 2; way++) {
        options.contact_area = way ? RBLI_AREA_HULL : RBLI_AREA_GEOMETRY;
        assert_ok(ctx, rbli_proximity(ctx, c, &options, &out));
        const double *area = rbli_collection_read(out, "proximity", "area", RBL_DOUBLE);
        for (int i = 0; i < 6; i++) {
            /* Hulls move 0.005 together: the strip, the edge and the corner may grow by that. */
            double e = way == 0 && i == 5 ? 0 : expected[i], more = way ? 0.0051 : 1e-12;
            assert_true(area[i] >= e - 1e-12 && area[i] <= e + (i == 1 || i == 2 || i == 3 ? more : 1e-9));
        }
        rbli_collection_release(out);
    }
    rbli_collection_release(c);
    finish_context(ctx);
}

static void filters_leave_small_contacts_out(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_solids(ctx, 7, corners);
    rbli_proximity_options options = {.shared_vertices = true, .contact_threshold = 0.3};
    /* The crumb keeps a contact that is all that it can have. */
    for (int filter = RBLI_FILTER_BOUNDS; filter <= RBLI_FILTER_AREA; filter++) {
        options.contact_filter = (rbli_contact_filter)filter;
        bool area = filter == RBLI_FILTER_AREA; /* 0.2 m² is more than 0.3² */
        assert_string_equal(pairs_of(ctx, c, &options), area ? "0-1 0-2 0-5" : "0-1 0-5");
        options.contact_threshold = 0.15;
        assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-5");
        options.contact_threshold = 100; /* half of what is possible is enough */
        assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-5");
        options.contact_threshold = 0.3;
    }
    options.method = RBLI_PROXIMITY_HULL;
    options.shared_vertices = false;
    options.distance_threshold = 0.001;
    assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-5");
    options.contact_area = RBLI_AREA_HULL;
    assert_string_equal(pairs_of(ctx, c, &options), "0-1 0-2 0-5");
    rbli_collection_release(c);
    finish_context(ctx);
}

static void mirrored_bones_touch(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}}, (*transform)[16];
    rbl_collection *c = make_solids(ctx, 2, (const double(*)[2][3])boxes);
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transform));
    transform[2][0] = -1; /* from −1 to 0 */
    transform[2][13] = 0.5;
    for (int area = RBLI_AREA_GEOMETRY; area <= RBLI_AREA_HULL; area++)
        for (int method = RBLI_PROXIMITY_PRECISE; method <= RBLI_PROXIMITY_HULL; method++) {
            rbli_proximity_options options = {
                .method = (rbli_proximity_method)method, .contact_area = (rbli_contact_area)area};
            assert_close(only_area(ctx, c, &options), 0.5, 1e-5);
        }
    rbli_proximity_options options = {0};
    transform[2][12] = 1; /* from 0 to 1: into each other, faces look the same way */
    assert_string_equal(pairs_of(ctx, c, &options), "");
    rbli_collection_release(c);
    finish_context(ctx);
}

static void hulls_of_the_collection_are_used(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{1.5, 0, 0}, {2, 1, 1}}};
    rbl_collection *c = make_solids(ctx, 2, (const double(*)[2][3])boxes);
    rbli_proximity_options options = {.method = RBLI_PROXIMITY_HULL, .distance_threshold = 0.1};
    assert_string_equal(pairs_of(ctx, c, &options), "");
    rbli_leaf_hull_options hulls = rbli_leaf_hull_default_options();
    rbl_collection *hulled = NULL;
    rbli_buffer *points = NULL;
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, c, &hulls, &hulled));
    size_t offsets[3] = {0, 8, 16};
    double values[16][3];
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 3; k++) /* both reach to x = 1.25 */
                values[8 * h + i][k] = k > 0 ? (i >> k & 1) : h ? (i & 1 ? 2 : 1.25) : i & 1 ? 1.25 : 0;
    assert_ok(ctx, rbli_buffer_create_list(ctx, RBL_VEC3, 2, offsets, values, &points));
    assert_ok(ctx, rbli_collection_set(ctx, hulled, "convex", "points", points));
    rbli_buffer_release(points);
    assert_string_equal(pairs_of(ctx, hulled, &options), "0-1");
    rbli_collection_release(hulled);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// A piece of two hulls: the one that is near counts, the one far away does not.
static void pieces_of_several_hulls(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{1, 0.25, 0}, {2, 1.25, 1}}};
    double bodies[3][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 7}, {1, 1, 8}}, {{1, 0.25, 0}, {2, 1.25, 1}}};
    rbl_collection *c = make_solids(ctx, 2, (const double(*)[2][3])boxes), *hulled = NULL;
    rbli_hull hulls[3];
    rbli_hull_options options = rbli_hull_default_options();
    for (int h = 0; h < 3; h++) {
        double points[8][3];
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 3; k++)
                points[i][k] = bodies[h][i >> k & 1][k];
        assert_ok(ctx, rbli_convex_hull(ctx, (const double(*)[3])points, 8, &options, &hulls[h]));
    }
    rbli_hull_row rows[3] = {{1, -1, &hulls[0]}, {1, -1, &hulls[1]}, {2, -1, &hulls[2]}};
    assert_ok(ctx, rbli_collection_copy(ctx, c, &hulled));
    assert_ok(ctx, rbli_hull_group_write(ctx, c, rows, 3, hulled));
    rbli_proximity_options proximity = {
        .method = RBLI_PROXIMITY_HULL, .distance_threshold = 1e-6, .contact_area = RBLI_AREA_HULL};
    assert_close(only_area(ctx, hulled, &proximity), 0.75, 1e-5);
    for (int h = 0; h < 3; h++)
        rbli_hull_free(ctx, &hulls[h]);
    rbli_collection_release(hulled);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octants_touch_in_twelve_faces),
        cmocka_unit_test(connections_join_siblings),
        cmocka_unit_test(transforms_of_bones_count),
        cmocka_unit_test(shared_corners_touch_when_asked),
        cmocka_unit_test(a_tolerance_like_the_whole_is_refused),
        cmocka_unit_test(hulls_touch_within_the_threshold),
        cmocka_unit_test(filters_leave_small_contacts_out),
        cmocka_unit_test(mirrored_bones_touch),
        cmocka_unit_test(hulls_of_the_collection_are_used),
        cmocka_unit_test(pieces_of_several_hulls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
