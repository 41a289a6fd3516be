#include "tests/check.h"

#include "fracture/io/mesh_file.h"

static rbl_status parse(rbl_context *ctx, const char *text, rbli_mesh_file *out)
{
    return rbli_mesh_file_parse_off(ctx, "gear.off", (const uint8_t *)text, strlen(text), NULL, out);
}

#define POINTS "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"

static void reads_off_in_any_spelling(void **state)
{
    (void)state;
    static const char *const texts[] = {
        ("OFF\n4 1 0\n" POINTS "4 0 1 2 3\n"),
        ("OFF 4 1 4\n" POINTS "4  0 1 2 3 # c\n"),
        ("# c\n\nOFF # c\n# c\n4 1 # c\n" POINTS "\n# c\n4 0 1 2 3 0.5 0.5 0.5"),
        ("4 1 0\n" POINTS "4 0 1\n2 3 7\n"),
        "OFF\r\n4 1 0\r\n0 0 0 1 0 0\r\n1 1 0\r\n0 1 0\r\n4 0 1 2 3\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rbl_context *ctx = make_context(1);
        rbli_mesh_file file;
        assert_ok(ctx, parse(ctx, texts[i], &file));
        assert_int_equal(file.triangle_count, 2);
        assert_int_equal(file.triangles[1][2], 3);
        assert_string_equal(file.nodes[0].name, "gear");
        assert_true((file.colors != NULL) == (i == 2));
        rbli_mesh_file_free(ctx, &file);
        finish_context(ctx);
    }
}

static void reads_colours_normals_and_texture_coordinates(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    assert_ok(
        ctx, parse(ctx, "COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 0 51 0 255\n0 1 0 0 0 255\n3 0 1 2\n", &file));
    assert_true(file.colors[0][0] == 1 && file.colors[1][1] == 0.2f && file.colors[2][3] == 1);
    rbli_mesh_file_free(ctx, &file);
    assert_ok(ctx, parse(ctx,
                       "STCNOFF\n3 1 0\n0 0 0 0 0 2 .5 .5 .5 1 .25 .25\n1 0 0 0 0 2 0 0 0 1 0 1\n"
                       "0 1 0 0 0 2 0 0 0 0 0 0\n3 0 1 2\n",
                       &file));
    assert_true(file.normals[0][2] == 1 && file.colors[0][0] == 0.5f && file.colors[2][3] == 0);
    assert_true(file.uvs[0][0][0] == 0.25f && file.uvs[0][0][1] == 0.75f && file.uvs[0][1][1] == 0);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void errors_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "gear.off:1: the file ends where the number of vertices was expected"},
        {"OFF\n0 0 0\n", "gear.off: no triangles"},
        {("OFF\n4 0 0\n" POINTS), "gear.off: no triangles"},
        {"OFF BINARY\n", "gear.off:1: \"BINARY\" where ASCII (binary OFF is not read) was expected"},
        {"4OFF\n",
            "gear.off:1: \"4OFF\" where OFF, COFF, NOFF, CNOFF or STOFF (three dimensions) was expected"},
        {"OFF\n1000000 1 0\n0 0 0\n", "gear.off:2: 1000000 vertices do not fit in the file"},
        {("OFF\n4 9 0\n" POINTS "3 0 1 2\n"),
            "gear.off:8: the file ends where a face's number of corners was expected"},
        {"OFF\n3 1 0\n0 0 0\n1 x 0\n0 0 1\n3 0 1 2\n",
            "gear.off:4: \"x\" where a vertex's coordinate was expected"},
        {"OFF\n3 1 0\n0 0 0\n1 inf 0\n0 0 1\n3 0 1 2\n",
            "gear.off:4: vertex 1 is not finite (1, inf, 0) and a face uses it"},
        {("OFF\n4 1 0\n" POINTS "3 0 1 4\n"),
            "gear.off:7: index 4 of a vertex is out of range, there are 4, from 0 on"},
        {("OFF\n4 1 0\n" POINTS "3 0 1 -1\n"),
            "gear.off:7: index -1 of a vertex is out of range, there are 4, from 0 on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rbl_context *ctx = make_context(1);
        rbli_mesh_file file;
        assert_int_equal(parse(ctx, cases[i].text, &file), RBL_ERR_PARSE);
        assert_string_equal(rbli_messages_get(ctx->messages, 0)->text, cases[i].error);
        finish_context(ctx);
    }
}

static void faces_of_two_corners_are_left_out(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    assert_ok(ctx, parse(ctx, "OFF\n4 3 0\n" POINTS "2 0 1 1 1 1\n4 0 1 2 3 255 0 51\n0\n", &file));
    assert_int_equal(file.triangle_count, 2);
    assert_true(file.colors[5][0] == 1 && file.colors[5][1] == 0 && file.colors[5][2] == 0.2f);
    assert_string_equal(file.messages[0].text, "gear.off:7: 2 faces of less than three corners are left out");
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_off_in_any_spelling),
        cmocka_unit_test(reads_colours_normals_and_texture_coordinates),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(faces_of_two_corners_are_left_out),
    };
    return cmocka_run_group_tests_name("io/off_read", tests, NULL, NULL);
}
