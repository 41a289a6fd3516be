#include "fracture/ops/solidify.h"
#include "tests/ops/asset_builder.h"

static const double unit_box[1][2][3] = {{{0, 0, 0}, {1, 1, 1}}};

static bool has_message(rbl_context *ctx, rbli_severity severity, const char *part)
{
    for (size_t i = 0; i < rbli_messages_count(ctx->messages); i++) {
        const rbli_message *message = rbli_messages_get(ctx->messages, i);
        if (message->severity == severity && strstr(message->text, part)) return true;
    }
    return false;
}

static bool has_warning(rbl_context *ctx)
{
    return has_message(ctx, RBLI_WARNING, "");
}

static void closed_box_comes_through_without_a_warning(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_boxes(ctx, 1, unit_box), *solid = NULL;
    rbli_solidify_options options = rbli_solidify_default_options();
    options.strict = true;
    assert_ok(ctx, rbli_solidify(ctx, c, &options, &solid));
    assert_false(has_warning(ctx));
    assert_ok(ctx, rbli_collection_validate(ctx, solid, RBLI_VALIDATE_CLOSED));
    assert_int_equal(rbli_collection_size(solid, "bone"), 2);
    assert_string_equal(rbli_collection_string(solid, "bone", "name", 1), "box_0");
    assert_close(*(const double *)rbli_collection_read(solid, "geometry", "volume", RBL_DOUBLE), 1, 1e-15);
    const float(*uv)[2] = rbli_collection_read(solid, "corner", "uv0", RBL_FLOAT_2);
    const double(*p)[3] = rbli_collection_read(solid, "vertex", "position", RBL_VEC3);
    const int32_t(*f)[3] = rbli_collection_read(solid, "face", "vertices", RBL_INT32_3);
    for (size_t i = 0; i < 36; i++)
        for (int k = 0; k < 2; k++)
            assert_true(uv[i][k] == p[f[i / 3][i % 3]][k]);
    rbli_collection_release(solid);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void missing_face_is_filled_and_said(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_boxes(ctx, 1, unit_box), *solid = NULL;
    void *out;
    assert_ok(ctx, rbli_collection_resize(ctx, c, "face", 10));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "corner", 30));
    assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "face_count", RBL_INT32, &out));
    *(int32_t *)out = 10;
    rbli_solidify_options options = rbli_solidify_default_options();
    assert_ok(ctx, rbli_solidify(ctx, c, &options, &solid));
    assert_true(has_message(ctx, RBLI_WARNING, "holes filled"));
    assert_close(*(const double *)rbli_collection_read(solid, "geometry", "volume", RBL_DOUBLE), 1, 1e-15);
    assert_string_equal(rbli_collection_string(solid, "material", "name", 1), "filled");
    rbli_collection_release(solid);
    solid = NULL;
    options.strict = true;
    assert_int_equal(rbli_solidify(ctx, c, &options, &solid), RBL_ERR_MESH);
    options = rbli_solidify_default_options();
    options.repair.fill = RBLI_FILL_NONE;
    assert_int_equal(rbli_solidify(ctx, c, &options, &solid), RBL_ERR_OPEN_MESH);
    assert_null(solid);
    assert_true(has_message(ctx, RBLI_ERROR, "\"box_0\""));
    rbli_collection_release(c);
    finish_context(ctx);
}

static void components_become_bones_when_asked(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double low[3] = {3, 0, 0}, high[3] = {4, 1, 1};
    rbl_collection *c = make_boxes(ctx, 1, unit_box), *solid = NULL;
    add_box_geometry(ctx, c, 1, low, high, 0);
    void *out; /* both boxes are one geometry of one bone */
    assert_ok(ctx, rbli_collection_resize(ctx, c, "geometry", 1));
    assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "face_count", RBL_INT32, &out));
    *(int32_t *)out = 24;
    assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "vertex_count", RBL_INT32, &out));
    *(int32_t *)out = 16;
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "geometry", RBL_INT32, &out));
    ((int32_t *)out)[1] = 0;
    rbli_solidify_options options = rbli_solidify_default_options();
    assert_ok(ctx, rbli_solidify(ctx, c, &options, &solid));
    assert_int_equal(rbli_collection_size(solid, "geometry"), 1);
    rbli_collection_release(solid);
    options.split_components = true;
    assert_ok(ctx, rbli_solidify(ctx, c, &options, &solid));
    assert_int_equal(rbli_collection_size(solid, "geometry"), 2);
    assert_string_equal(rbli_collection_string(solid, "bone", "name", 2), "box_0_1");
    assert_ok(ctx, rbli_collection_validate(ctx, solid, RBLI_VALIDATE_CLOSED));
    rbli_collection_release(solid);
    rbli_collection_release(c);
    finish_context(ctx);
}

/// A box and a sheet of two triangles, each a mesh node.
static rbl_collection *box_and_sheet(rbl_context *ctx)
{
    const double two[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{1.01, 0, 0}, {2, 1, 1}}};
    rbl_collection *c = make_boxes(ctx, 2, two);
    void *out;
    assert_ok(ctx, rbli_collection_resize(ctx, c, "face", 14));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "corner", 42));
    assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "face_count", RBL_INT32, &out));
    ((int32_t *)out)[1] = 2;
    return c;
}

static void open_shells_become_sheets(void **state)
{
    (void)state;
    static const struct {
        rbli_sheets sheets;
        size_t bones;
        const char *name;
        int32_t parent;
    } wanted[] = {
        {RBLI_SHEETS_ATTACH, 3, "box_0_sheet", 1},
        {RBLI_SHEETS_SEPARATE, 3, "box_1_sheet", 0},
        {RBLI_SHEETS_DROP, 2, NULL, 0},
    };
    rbl_context *ctx = make_context(1);
    rbl_collection *c = box_and_sheet(ctx), *solid = NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        rbli_solidify_options options = rbli_solidify_default_options();
        options.sheets = wanted[i].sheets;
        assert_ok(ctx, rbli_solidify(ctx, c, &options, &solid));
        assert_ok(ctx, rbli_collection_validate(ctx, solid, RBLI_VALIDATE_CLOSED));
        assert_int_equal(rbli_collection_size(solid, "bone"), wanted[i].bones);
        assert_true(has_message(ctx, RBLI_WARNING, wanted[i].name ? "kept as a sheet" : "dropped"));
        if (wanted[i].name) {
            const bool *sheet = rbli_collection_read(solid, "bone", "sheet", RBL_BOOL);
            const int32_t *parent = rbli_collection_read(solid, "bone", "parent", RBL_INT32);
            assert_true(sheet && !sheet[1] && sheet[2]);
            assert_int_equal(parent[2], wanted[i].parent);
            assert_string_equal(rbli_collection_string(solid, "bone", "name", 2), wanted[i].name);
        }
        rbli_collection_release(solid);
        solid = NULL;
    }
    rbli_collection_release(c);
    finish_context(ctx);
}

static void sheet_alone_is_no_solid(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *c = make_boxes(ctx, 1, unit_box), *sheet = NULL;
    void *out;
    assert_ok(ctx, rbli_collection_resize(ctx, c, "face", 2));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "corner", 6));
    assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", "face_count", RBL_INT32, &out));
    *(int32_t *)out = 2;
    rbli_solidify_options options = rbli_solidify_default_options();
    assert_int_equal(rbli_solidify(ctx, c, &options, &sheet), RBL_ERR_OPEN_MESH);
    assert_true(has_message(ctx, RBLI_ERROR, "no solid in the mesh"));
    options.sheets = RBLI_SHEETS_SEPARATE;
    assert_ok(ctx, rbli_solidify(ctx, c, &options, &sheet));
    assert_int_equal(rbli_collection_size(sheet, "geometry"), 1);
    assert_true(((const bool *)rbli_collection_read(sheet, "bone", "sheet", RBL_BOOL))[1]);
    rbli_collection_release(sheet);
    sheet = NULL;
    options.sheets = RBLI_SHEETS_THICKEN;
    options.thickness = 0.125;
    assert_ok(ctx, rbli_solidify(ctx, c, &options, &sheet));
    assert_ok(ctx, rbli_collection_validate(ctx, sheet, RBLI_VALIDATE_CLOSED));
    assert_close(
        *(const double *)rbli_collection_read(sheet, "geometry", "volume", RBL_DOUBLE), 0.125, 1e-15);
    rbli_collection_release(sheet);
    rbli_collection_release(c);
    finish_context(ctx);
}

static void overlapping_boxes_of_a_node_become_one(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    const double two[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{0.5, 0.5, 0.5}, {1.5, 1.5, 1.5}}};
    rbl_collection *c = make_boxes(ctx, 2, two), *solid = NULL;
    rbli_solidify_options options = rbli_solidify_default_options();
    options.join = RBLI_JOIN_SCENE;
    options.details = true;
    assert_ok(ctx, rbli_solidify(ctx, c, &options, &solid));
    assert_ok(ctx, rbli_collection_validate(ctx, solid, RBLI_VALIDATE_CLOSED));
    assert_int_equal(rbli_collection_size(solid, "geometry"), 1);
    assert_int_equal(rbli_collection_size(solid, "shell"), 2);
    assert_close(*(const double *)rbli_collection_read(solid, "geometry", "volume", RBL_DOUBLE), 1.875, 0);
    assert_true(has_message(ctx, RBLI_WARNING, "1 solid after union of 2"));
    const float(*uv)[2] = rbli_collection_read(solid, "corner", "uv0", RBL_FLOAT_2);
    const double(*p)[3] = rbli_collection_read(solid, "vertex", "position", RBL_VEC3);
    const int32_t(*f)[3] = rbli_collection_read(solid, "face", "vertices", RBL_INT32_3);
    for (size_t i = 0; i < rbli_collection_size(solid, "corner"); i++)
        for (int k = 0; k < 2; k++)
            assert_close(uv[i][k], p[f[i / 3][i % 3]][k], 1e-6);
    rbli_collection_release(solid);
    solid = NULL;
    options.join = RBLI_JOIN_NODE; /* they are two nodes */
    assert_ok(ctx, rbli_solidify(ctx, c, &options, &solid));
    assert_int_equal(rbli_collection_size(solid, "geometry"), 2);
    rbli_collection_release(solid);
    rbli_collection_release(c);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_box_comes_through_without_a_warning),
        cmocka_unit_test(missing_face_is_filled_and_said),
        cmocka_unit_test(components_become_bones_when_asked),
        cmocka_unit_test(open_shells_become_sheets),
        cmocka_unit_test(sheet_alone_is_no_solid),
        cmocka_unit_test(overlapping_boxes_of_a_node_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
