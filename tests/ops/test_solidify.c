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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_box_comes_through_without_a_warning),
        cmocka_unit_test(missing_face_is_filled_and_said),
        cmocka_unit_test(components_become_bones_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
