#include <math.h>

#include "fracture/ops/fix_tiny.h"
#include "fracture/ops/hulls.h"
#include "fracture/ops/proximity.h"
#include "fracture/ops/state.h"
#include "fracture/ops/surface.h"
#include "tests/ops/asset_builder.h"

static rbl_status fix_tiny(
    rbl_context *ctx, const rbl_collection *c, const rbli_fix_tiny_options *options, rbl_collection **out)
{
    rbli_fix_tiny_result made = {0};
    rbl_status status = rbli_fix_tiny(ctx, c, options, &made);
    rbli_free(ctx, made.bones);
    *out = made.collection;
    return status;
}

/// Boxes with normals, volumes and bounds.
static rbl_collection *make_solids(rbl_context *ctx, size_t count, const double (*boxes)[2][3])
{
    rbl_collection *c = make_boxes(ctx, count, boxes);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    return c;
}

/* A row of boxes of cross section 1 × 1, cut at the given places. */

static rbl_collection *make_row(rbl_context *ctx, size_t count, const double *cuts)
{
    double boxes[20][2][3];
    for (size_t i = 0; i < count; i++) {
        memcpy(boxes[i][0], (double[3]){cuts[i], 0, 0}, sizeof boxes[i][0]);
        memcpy(boxes[i][1], (double[3]){cuts[i + 1], 1, 1}, sizeof boxes[i][1]);
    }
    return make_solids(ctx, count, (const double(*)[2][3])boxes);
}

static double total_volume(const rbl_collection *c)
{
    const double *volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE);
    double sum = 0;
    for (size_t i = 0; i < rbli_collection_size(c, "geometry"); i++)
        sum += volume[i];
    return sum;
}

static void check_closed(rbl_context *ctx, const rbl_collection *c)
{
    assert_ok(ctx, rbli_collection_validate(ctx, c, RBLI_VALIDATE_CLOSED));
    for (size_t g = 0; g < rbli_collection_size(c, "geometry"); g++)
        assert_closed(c, g);
}

static void tiny_pieces_become_part_of_a_neighbour(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double cuts[] = {0, 1, 1.000000001, 3, 3.000000002, 3.000000003, 4};
    rbl_collection *c = make_row(ctx, 6, cuts), *out = NULL;
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    assert_ok(ctx, fix_tiny(ctx, c, &options, &out));
    /* 0 alone, 1 and 3 join 2, 4 joins 5. */
    assert_int_equal(rbli_collection_size(out, "bone"), 1 + 3);
    assert_int_equal(rbli_collection_size(out, "geometry"), 3);
    check_closed(ctx, out);
    assert_close(total_volume(out), 4, 1e-12);
    const double *volume = rbli_collection_read(out, "geometry", "volume", RBL_DOUBLE);
    assert_close(volume[0], 1, 1e-12);
    assert_close(volume[1], 2.000000002, 1e-12);
    assert_string_equal(rbli_collection_string(out, "bone", "name", 2), "box_2");
    /* The shared facets are gone: eight side triangles a part and two ends. */
    assert_int_equal(rbli_collection_size(out, "face"), 12 + 28 + 20);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void tiny_pieces_alone_grow_together(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double cuts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    rbl_collection *c = make_row(ctx, 8, cuts), *hulls = NULL, *near = NULL, *out = NULL;
    rbli_leaf_hull_options hull_options = rbli_leaf_hull_default_options();
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, c, &hull_options, &hulls));
    rbli_proximity_options proximity = {.contact_area = true, .connection_graph = true};
    assert_ok(ctx, rbli_proximity(ctx, hulls, &proximity, &near));
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    options.select_by = RBLI_TINY_VOLUME_CUBE_ROOT;
    options.min_volume_cube_root = 1.2; /* 1.728: two boxes are enough */
    assert_ok(ctx, fix_tiny(ctx, near, &options, &out));
    const double *volume = rbli_collection_read(out, "geometry", "volume", RBL_DOUBLE);
    size_t count = rbli_collection_size(out, "geometry");
    for (size_t i = 0; i < count; i++)
        assert_true(volume[i] >= 1.728);
    assert_close(total_volume(out), 8, 1e-12);
    check_closed(ctx, out);
    assert_int_equal(rbli_collection_size(out, "proximity"), count - 1);
    assert_int_equal(rbli_collection_size(out, "connection"), count - 1);
    assert_int_equal(rbli_collection_size(out, "convex"), 0);
    assert_int_equal(rbli_collection_size(near, "geometry"), 8);
    rbli_collection_release(out);
    rbli_collection_release(near);
    rbli_collection_release(hulls);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void half_shared_contacts_stay_apart(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[3][2][3] = {
        {{0, 0, 0}, {1, 1, 1}}, {{1, 0.25, 0.25}, {1.001, 0.5, 0.5}}, {{3, 0, 0}, {3.001, 1, 1}}};
    rbl_collection *c = make_solids(ctx, 3, (const double(*)[2][3])boxes), *out = NULL;
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    options.relative_volume = 0.2;
    assert_ok(ctx, fix_tiny(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "bone"), 4);
    assert_int_equal(rbli_messages_count(ctx->messages), 2);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "box_2"));
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 1)->text, "whole facets"));
    rbli_collection_release(out);
    /* A cluster holds them all the same. */
    options.merge = RBLI_TINY_CLUSTERS;
    assert_ok(ctx, fix_tiny(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "bone"), 5);
    const int32_t *parent = rbli_collection_read(out, "bone", "parent", RBL_INT32);
    for (size_t b = 0; b < 5; b++) {
        const char *name = rbli_collection_string(out, "bone", "name", b);
        if (strcmp(name, "box_1") != 0) continue;
        assert_string_equal(rbli_collection_string(out, "bone", "name", (size_t)parent[b]), "box_0_merged");
    }
    check_closed(ctx, out);
    rbli_collection_release(out);
    /* Far pieces are joined when asked. */
    options.merge = RBLI_TINY_GEOMETRY;
    options.only_connected = false;
    options.use_selection = RBLI_TINY_USE_RESTRICT;
    const int32_t bones[] = {3};
    rbli_selection *selection = NULL;
    assert_ok(ctx, rbli_selection_create(ctx, c, bones, 1, &selection));
    options.selection = selection;
    assert_ok(ctx, fix_tiny(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "bone"), 3);
    check_closed(ctx, out);
    rbli_collection_release(out);
    rbli_selection_release(selection);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void frames_of_bones_are_kept(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    double boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {0.125, 1, 1}}}, (*transform)[16];
    rbl_collection *c = make_solids(ctx, 2, (const double(*)[2][3])boxes), *out = NULL;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transform));
    transform[1][12] = 8;
    transform[2][12] = 9;
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    options.select_by = RBLI_TINY_VOLUME_CUBE_ROOT;
    options.min_volume_cube_root = 0.9;
    assert_ok(ctx, fix_tiny(ctx, c, &options, &out));
    assert_int_equal(rbli_collection_size(out, "geometry"), 1);
    const double(*high)[3] = rbli_collection_read(out, "geometry", "bounds_max", RBL_VEC3);
    const double(*low)[3] = rbli_collection_read(out, "geometry", "bounds_min", RBL_VEC3);
    assert_true(low[0][0] == 0 && high[0][0] == 1.125);
    check_closed(ctx, out);
    rbli_collection_release(out);
    rbli_collection_release(c);
    finish_context(ctx);
}

static int32_t find_bone(const rbl_collection *c, const char *name)
{
    for (size_t b = 0; b < rbli_collection_size(c, "bone"); b++)
        if (strcmp(rbli_collection_string(c, "bone", "name", b), name) == 0) return (int32_t)b;
    return -1;
}

static void what_refers_to_pieces_follows(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double cuts[] = {0, 1, 1.25, 3, 3.125, 5};
    rbl_collection *c = make_row(ctx, 5, cuts), *near = NULL, *heavy = NULL, *out = NULL, *again = NULL;
    const char *name = "box_1_sheet";
    int32_t parent = 2, sheet;
    double(*transform)[16];
    void *data;
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, &parent, &name, RBLI_BONE_RIGID, &sheet));
    add_box_geometry(ctx, c, sheet, (double[3]){0, 0, 0}, (double[3]){1, 1, 1}, 0);
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "sheet", RBL_BOOL, &data));
    ((bool *)data)[sheet] = true;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transform));
    transform[sheet][13] = 0.5;
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    rbli_proximity_options proximity = {.contact_area = RBLI_AREA_GEOMETRY, .connection_graph = true};
    assert_ok(ctx, rbli_proximity(ctx, c, &proximity, &near));
    rbli_set_mass_options mass_options = rbli_set_mass_default_options();
    assert_ok(ctx, rbli_set_mass(ctx, near, &mass_options, &heavy));
    rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
    options.select_by = RBLI_TINY_VOLUME_CUBE_ROOT;
    options.min_volume_cube_root = 0.9;
    assert_ok(ctx, fix_tiny(ctx, heavy, &options, &out));
    check_closed(ctx, out);
    /* box_1 went into box_2, box_3 into box_4. */
    assert_int_equal(find_bone(out, "box_1"), -1);
    assert_int_equal(find_bone(out, "box_3"), -1);
    const int32_t *parents = rbli_collection_read(out, "bone", "parent", RBL_INT32);
    assert_int_equal(parents[find_bone(out, name)], find_bone(out, "box_2"));
    double(*world)[16] = NULL;
    assert_ok(ctx, rbli_hierarchy_world_transforms(ctx, out, &world));
    assert_close(world[find_bone(out, name)][13], 0.5, 0);
    rbli_free(ctx, world);
    /* As if contacts and masses were made of the result. */
    rbl_collection *fresh = NULL;
    assert_ok(ctx, rbli_proximity(ctx, out, &proximity, &again));
    assert_ok(ctx, rbli_set_mass(ctx, again, &mass_options, &fresh));
    static const char *const pairs[2][2] = {{"proximity", "geometries"}, {"connection", "bones"}};
    for (int i = 0; i < 2; i++) {
        size_t count = rbli_collection_size(fresh, pairs[i][0]);
        assert_int_equal(count, 2);
        assert_int_equal(rbli_collection_size(out, pairs[i][0]), count);
        assert_memory_equal(rbli_collection_read(out, pairs[i][0], pairs[i][1], RBL_INT32_2),
            rbli_collection_read(fresh, pairs[i][0], pairs[i][1], RBL_INT32_2), count * 2 * sizeof(int32_t));
        const double *a = rbli_collection_read(out, pairs[i][0], "area", RBL_DOUBLE);
        const double *b = rbli_collection_read(fresh, pairs[i][0], "area", RBL_DOUBLE);
        for (size_t k = 0; k < count; k++)
            assert_close(a[k], b[k], 1e-12);
    }
    static const char *const masses[4] = {"mass", "center_of_mass", "inertia", "inertia_products"};
    for (int i = 0; i < 4; i++) {
        const double *a = rbli_collection_read(out, "bone", masses[i], i ? RBL_VEC3 : RBL_DOUBLE);
        const double *b = rbli_collection_read(fresh, "bone", masses[i], i ? RBL_VEC3 : RBL_DOUBLE);
        for (size_t k = 0; k < rbli_collection_size(out, "bone") * (i ? 3 : 1); k++)
            assert_close(a[k], b[k], 1e-9 * (1 + fabs(b[k])));
    }
    rbli_collection_release(c);
    rbli_collection_release(near);
    rbli_collection_release(heavy);
    rbli_collection_release(out);
    rbli_collection_release(again);
    rbli_collection_release(fresh);
    finish_context(ctx);
}

static void chosen_pieces_join_whatever_their_size(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double cuts[] = {0, 1, 2, 3, 4, 5, 6};
    rbl_collection *c = make_row(ctx, 6, cuts), *out = NULL;
    const int32_t root[] = {0}, last[] = {6};
    const struct {
        const int32_t *bones;
        rbli_tiny_use use;
        double limit;
        size_t pieces;
    } cases[] = {
        {last, RBLI_TINY_USE_INCLUDE, 0.1, 5}, /* joins once */
        {last, RBLI_TINY_USE_RESTRICT, 0.1, 6},
        {last, RBLI_TINY_USE_RESTRICT, 1.1, 5},
        {last, RBLI_TINY_USE_NONE, 0.1, 6},
        {root, RBLI_TINY_USE_INCLUDE, 0.1, 3}, /* a cluster stands for its pieces: each joins one */
        {root, RBLI_TINY_USE_RESTRICT, 9, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rbli_selection *selection = NULL;
        rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
        assert_ok(ctx, rbli_selection_create(ctx, c, cases[i].bones, 1, &selection));
        options.select_by = RBLI_TINY_VOLUME_CUBE_ROOT;
        options.min_volume_cube_root = cases[i].limit;
        options.use_selection = cases[i].use;
        options.neighbor = RBLI_TINY_NEAREST_CENTER;
        options.selection = selection;
        assert_ok(ctx, fix_tiny(ctx, c, &options, &out));
        if (rbli_collection_size(out, "geometry") != cases[i].pieces)
            fail_msg("case %zu: %zu pieces", i, rbli_collection_size(out, "geometry"));
        check_closed(ctx, out);
        rbli_collection_release(out);
        rbli_selection_release(selection);
    }
    rbli_collection_release(c);
    finish_context(ctx);
}

static void mirrored_pieces_join_their_like(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double cuts[] = {0, 1, 1.25, 3};
    for (int mixed = 0; mixed < 2; mixed++) {
        rbl_collection *c = make_row(ctx, 3, cuts), *out = NULL;
        double(*transform)[16];
        assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "transform", RBL_MAT4, (void **)&transform));
        /* All are mirrored about z = 0.5; or the crumb alone, which keeps its place all the same. */
        for (int b = mixed ? 2 : 1; b < (mixed ? 3 : 4); b++) {
            transform[b][10] = -1;
            transform[b][14] = 1;
        }
        rbli_fix_tiny_options options = rbli_fix_tiny_default_options();
        options.select_by = RBLI_TINY_VOLUME_CUBE_ROOT;
        options.min_volume_cube_root = 0.9;
        assert_ok(ctx, fix_tiny(ctx, c, &options, &out));
        assert_int_equal(rbli_collection_size(out, "geometry"), mixed ? 3 : 2);
        check_closed(ctx, out);
        assert_close(total_volume(out), 3, 1e-12);
        rbli_collection_release(out);
        rbli_collection_release(c);
    }
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_pieces_become_part_of_a_neighbour),
        cmocka_unit_test(tiny_pieces_alone_grow_together),
        cmocka_unit_test(half_shared_contacts_stay_apart),
        cmocka_unit_test(frames_of_bones_are_kept),
        cmocka_unit_test(what_refers_to_pieces_follows),
        cmocka_unit_test(chosen_pieces_join_whatever_their_size),
        cmocka_unit_test(mirrored_pieces_join_their_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
