#include "fracture/ops/surface.h"
#include "tests/failing_alloc.h"
#include "tests/make_asset.h"
#include "tests/ops/asset_builder.h"

static const double unit_box[1][2][3] = {{{0, 0, 0}, {1, 1, 1}}};

static void cut_faces_get_interpolated_corners(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(2);
    rbl_collection *c = make_boxes(ctx, 1, unit_box);
    /* face 0 of the box, its first corner replaced by its centre */
    const double positions[3][3] = {{1. / 3, 2. / 3, 0}, {0, 1, 0}, {1, 1, 0}};
    const int32_t vertex_source[3] = {-1, 2, 3}, faces[1][3] = {{0, 1, 2}}, face_source[1] = {0},
                  row[1] = {0};
    const double weights[1][3][3] = {{{1. / 3, 1. / 3, 1. / 3}, {0, 1, 0}, {0, 0, 1}}};
    void *out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "vertex", "heat", RBL_DOUBLE, &out));
    ((double *)out)[2] = 3;
    ((double *)out)[3] = 6;
    assert_ok(ctx, rbli_collection_write(ctx, c, "corner", "mark", RBL_INT32, &out));
    ((int32_t *)out)[1] = 7;
    rbli_surface_map map = {3, positions, vertex_source, 1, faces, face_source, row, weights};
    assert_ok(ctx, rbli_surface_replace(ctx, c, &map));

    const float(*uv)[2] = rbli_collection_read(c, "corner", "uv0", RBL_FLOAT_2);
    assert_int_equal(rbli_collection_size(c, "corner"), 3);
    assert_close(uv[0][0], 1. / 3, 1e-7);
    assert_close(uv[0][1], 2. / 3, 1e-7);
    assert_true(uv[1][0] == 0 && uv[1][1] == 1);
    const double *heat = rbli_collection_read(c, "vertex", "heat", RBL_DOUBLE);
    assert_close(heat[0], 3, 1e-15);
    assert_true(heat[1] == 3 && heat[2] == 6);
    const int32_t *mark = rbli_collection_read(c, "corner", "mark", RBL_INT32);
    assert_int_equal(mark[1], 7);
    assert_int_equal(mark[2], 0);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// Replacing with arrays that are taken gives the same collection; on failure each array has one owner.
static rbl_status replace_taking(rbl_context *ctx, void *user)
{
    (void)user;
    rbl_status status = RBL_OK;
    const int32_t vertex_source[3] = {1, 2, 3}, face_source[1] = {0}, row[1] = {-1};
    rbl_collection *made[2] = {NULL, NULL};
    double(*positions)[3] = rbli_calloc(ctx, 3, sizeof *positions);
    int32_t(*faces)[3] = rbli_calloc(ctx, 1, sizeof *faces);
    RBL_TRY_ALLOC(positions);
    RBL_TRY_ALLOC(faces);
    positions[1][0] = positions[2][1] = 1;
    faces[0][1] = 1;
    faces[0][2] = 2;
    rbli_surface_map map = {3, (const double(*)[3])positions, vertex_source, 1, (const int32_t(*)[3])faces,
        face_source, row, NULL};
    RBL_TRY(make_cube_row(ctx, 1, &made[0]));
    RBL_TRY(rbli_collection_copy(ctx, made[0], &made[1]));
    RBL_TRY(rbli_surface_replace(ctx, made[0], &map));
    status = rbli_surface_replace_taking(ctx, made[1], &map);
    if (!map.positions) positions = NULL;
    if (!map.faces) faces = NULL;
    if (status != RBL_OK) goto done;
    assert_null(positions);
    assert_null(faces);
    assert_true(rbli_hash_equal(rbli_collection_hash(made[0]), rbli_collection_hash(made[1])));
done:
    rbli_free(ctx, positions);
    rbli_free(ctx, faces);
    rbli_collection_release(made[0]);
    rbli_collection_release(made[1]);
    return status;
}

static void taken_arrays_have_one_owner(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    assert_ok(ctx, replace_taking(ctx, NULL));
    finish_context(ctx);
    fail_each_allocation(replace_taking, NULL, 0);
}

static void normals_stay_linear(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_boxes(ctx, 1, unit_box);
    assert_ok(ctx, rbli_surface_fill_flat_normals(ctx, c));
    const float(*normals)[3] = rbli_collection_read(c, "corner", "normal", RBL_FLOAT_3);
    assert_true(normals[0][0] == 0 && normals[0][1] == 0 && normals[0][2] == -1);
    void *out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "corner", "normal", RBL_FLOAT_3, &out));
    memcpy(((float(*)[3])out)[1], (float[3]){1, 0, 0}, sizeof(float[3]));
    const double positions[3][3] = {{0, .5, 0}, {0, 1, 0}, {1, 1, 0}};
    const int32_t vertex_source[3] = {-1, 2, 3}, faces[1][3] = {{0, 1, 2}}, face_source[1] = {0},
                  row[1] = {0};
    const double weights[1][3][3] = {{{.5, .5, 0}, {0, 1, 0}, {0, 0, 1}}};
    rbli_surface_map map = {3, positions, vertex_source, 1, faces, face_source, row, weights};
    assert_ok(ctx, rbli_surface_replace(ctx, c, &map));
    normals = rbli_collection_read(c, "corner", "normal", RBL_FLOAT_3);
    assert_close(normals[0][0], 0.5, 1e-7);
    assert_close(normals[0][2], -0.5, 1e-7);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void volume_keeps_its_digits_far_away(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double far_box[1][2][3] = {{{1e6, -1e6, 3e5}, {1e6 + 1, -1e6 + 1, 3e5 + 1}}};
    rbl_collection *c = make_boxes(ctx, 1, far_box);
    assert_ok(ctx, rbli_surface_measure(ctx, c, 0));
    assert_close(*(const double *)rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE), 1, 1e-15);
    assert_close(
        ((const double *)rbli_collection_read(c, "geometry", "bounds_max", RBL_VEC3))[1], -1e6 + 1, 0);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void materials_are_found_or_added(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_boxes(ctx, 1, unit_box);
    int32_t index;
    assert_ok(ctx, rbli_material_index(ctx, c, "paint", &index));
    assert_int_equal(index, 0);
    assert_ok(ctx, rbli_material_index(ctx, c, "interior", &index));
    assert_int_equal(index, 1);
    assert_ok(ctx, rbli_material_index(ctx, c, "interior", &index));
    assert_int_equal(index, 1);
    assert_int_equal(rbli_collection_size(c, "material"), 2);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_faces_get_interpolated_corners),
        cmocka_unit_test(taken_arrays_have_one_owner),
        cmocka_unit_test(normals_stay_linear),
        cmocka_unit_test(volume_keeps_its_digits_far_away),
        cmocka_unit_test(materials_are_found_or_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
