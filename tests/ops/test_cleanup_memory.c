#include "fracture/geometry/unite.h"
#include "fracture/ops/collision_samples.h"
#include "fracture/ops/recompute_normals.h"
#include "fracture/ops/solidify.h"
#include "fracture/ops/split_islands.h"
#include "fracture/ops/surface.h"
#include "fracture/ops/tidy.h"
#include "fracture/ops/unwrap.h"
#include "tests/failing_alloc.h"
#include "tests/ops/asset_builder.h"

/* Every allocation may fail: of the clean-up of pieces, of unions, of thickened and repaired meshes. */

static rbl_context *ordinary;
static rbl_collection *apart; /* two boxes as one geometry */
static rbl_collection *mixed; /* two boxes that overlap in one geometry, an open box, and a sheet */

/// Makes the boxes' geometries one, of the first bone.
static void join_geometries(rbl_collection *c, size_t boxes)
{
    void *out;
    assert_ok(ordinary, rbli_collection_resize(ordinary, c, "geometry", 1));
    assert_ok(ordinary, rbli_collection_write(ordinary, c, "geometry", "face_count", RBL_INT32, &out));
    *(int32_t *)out = (int32_t)(12 * boxes);
    assert_ok(ordinary, rbli_collection_write(ordinary, c, "geometry", "vertex_count", RBL_INT32, &out));
    *(int32_t *)out = (int32_t)(8 * boxes);
    assert_ok(ordinary, rbli_collection_write(ordinary, c, "bone", "geometry", RBL_INT32, &out));
    ((int32_t *)out)[1] = 0;
}

static int make_input(void **state)
{
    (void)state;
    const double one[1][2][3] = {{{0, 0, 0}, {1, 1, 1}}};
    void *out;
    ordinary = make_context(1);
    apart = make_boxes(ordinary, 1, one);
    add_box_geometry(ordinary, apart, 1, (double[3]){3, 0, 0}, (double[3]){4, 1, 1}, 0);
    join_geometries(apart, 2);
    assert_ok(ordinary, rbli_surface_fill_flat_normals(ordinary, apart));
    assert_ok(ordinary, rbli_surface_measure(ordinary, apart, 0));
    mixed = make_boxes(ordinary, 1, one);
    add_box_geometry(ordinary, mixed, 1, (double[3]){0.5, 0.5, 0.5}, (double[3]){1.5, 1.5, 1.5}, 0);
    add_box_geometry(ordinary, mixed, 1, (double[3]){3, 0, 0}, (double[3]){4, 1, 1}, 0);
    add_box_geometry(ordinary, mixed, 1, (double[3]){5, 0, 0}, (double[3]){6, 1, 1}, 0);
    join_geometries(mixed, 4);
    assert_ok(ordinary, rbli_collection_write(ordinary, mixed, "face", "vertices", RBL_INT32_3, &out));
    int32_t(*faces)[3] = out;
    memmove(
        faces[24], faces[26], 12 * sizeof *faces); /* the third box loses two faces, the last all but two */
    assert_ok(ordinary, rbli_collection_resize(ordinary, mixed, "face", 36));
    assert_ok(ordinary, rbli_collection_resize(ordinary, mixed, "corner", 108));
    assert_ok(ordinary, rbli_collection_write(ordinary, mixed, "geometry", "face_count", RBL_INT32, &out));
    *(int32_t *)out = 36;
    assert_ok(ordinary, rbli_surface_fill_flat_normals(ordinary, mixed));
    return 0;
}

static int free_input(void **state)
{
    (void)state;
    rbli_collection_release(apart);
    rbli_collection_release(mixed);
    finish_context(ordinary);
    return 0;
}

static rbl_status run_cleanup(rbl_context *ctx, void *user)
{
    rbl_collection *out = NULL;
    rbl_status status = RBL_ERR_INTERNAL;
    const rbli_unwrap_target all = {RBLI_UNWRAP_ALL, 0};
    switch (*(int *)user) {
    case 0: {
        rbli_fracture_result r = {0};
        status = rbli_split_islands(ctx, apart, NULL, 0.5, 0.5, &r);
        rbli_free(ctx, r.new_bones);
        out = r.collection;
        break;
    }
    case 1:
        status = rbli_set_collision_samples(ctx, apart, NULL, 0.4, NULL, &out);
        break;
    case 2: {
        rbli_normals_options options = rbli_normals_default_options();
        options.only_internal = false;
        status = rbli_recompute_normals(ctx, apart, &options, &out);
        break;
    }
    case 3: {
        rbli_tidy_options options = {true, true, true};
        rbli_tidy_report report = {0};
        status = rbli_tidy(ctx, mixed, &options, &report, &out);
        rbli_free(ctx, report.fault);
        break;
    }
    case 4:
        status = rbli_box_project_uv(ctx, apart, &all, 1, &out);
        break;
    case 5:
        status = rbli_auto_unwrap_uv(ctx, apart, &all, 1, 1, 256, NULL, &out);
        break;
    }
    rbli_collection_release(out);
    return status;
}

static void clean_up_tells_when_memory_is_out(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_true(fail_each_allocation(run_cleanup, &i, 300) > 0);
}

static rbl_status run_solidify(rbl_context *ctx, void *user)
{
    static const rbli_sheets sheets[] = {
        RBLI_SHEETS_THICKEN, RBLI_SHEETS_ATTACH, RBLI_SHEETS_SEPARATE, RBLI_SHEETS_DROP};
    int kind = *(int *)user;
    rbl_collection *out = NULL;
    rbli_solidify_options options = rbli_solidify_default_options();
    options.sheets = sheets[kind];
    options.thickness = 0.1;
    options.join = kind % 2 ? RBLI_JOIN_SCENE : RBLI_JOIN_NODE;
    options.details = kind == 1;
    options.split_components = kind == 2;
    rbl_status status = rbli_solidify(ctx, mixed, &options, &out);
    rbli_collection_release(out);
    return status;
}

static void solidifying_tells_when_memory_is_out(void **state)
{
    (void)state;
    rbl_collection *solid = NULL; /* all paths are taken: a union, a filled hole, a thickened sheet */
    rbli_solidify_options options = rbli_solidify_default_options();
    options.sheets = RBLI_SHEETS_THICKEN;
    options.thickness = 0.1;
    options.split_components = true;
    assert_ok(ordinary, rbli_solidify(ordinary, mixed, &options, &solid));
    const double *volume = rbli_collection_read(solid, "geometry", "volume", RBL_DOUBLE);
    double sum = 0;
    for (size_t g = 0; g < rbli_collection_size(solid, "geometry"); g++)
        sum += volume[g];
    assert_int_equal(rbli_collection_size(solid, "geometry"), 3);
    assert_close(sum, 1.875 + 1 + 0.1, 1e-9);
    rbli_collection_release(solid);
    for (int i = 0; i < 4; i++)
        assert_true(fail_each_allocation(run_solidify, &i, 250) > 100);
}

static rbl_status run_union(rbl_context *ctx, void *user)
{
    const rbli_mesh_view *pair = user;
    rbli_united_pair out = {0};
    rbl_status status = rbli_unite_pair(ctx, &pair[0], &pair[1], &out);
    if (status == RBL_OK) rbli_united_pair_free(ctx, &out);
    return status;
}

static void unions_tell_when_memory_is_out(void **state)
{
    (void)state;
    const double(*positions)[3] = rbli_collection_read(mixed, "vertex", "position", RBL_VEC3);
    rbli_mesh_view pair[2] = {{positions, 8, box_triangles, 12}, {positions + 8, 8, box_triangles, 12}};
    assert_true(fail_each_allocation(run_union, pair, 0) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(clean_up_tells_when_memory_is_out, make_input, free_input),
        cmocka_unit_test_setup_teardown(solidifying_tells_when_memory_is_out, make_input, free_input),
        cmocka_unit_test_setup_teardown(unions_tell_when_memory_is_out, make_input, free_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
