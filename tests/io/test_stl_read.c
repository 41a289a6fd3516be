#include "tests/check.h"

#include "fracture/io/mesh_file.h"

static rbl_status parse(rbl_context *ctx, const void *bytes, size_t count, rbli_mesh_file *out)
{
    return rbli_mesh_file_parse_stl(ctx, "part.stl", bytes, count, NULL, out);
}

static const char *error_of(rbl_context *ctx, const void *bytes, size_t count)
{
    rbli_messages_clear(ctx->messages);
    rbli_mesh_file file;
    assert_int_equal(parse(ctx, bytes, count, &file), RBL_ERR_PARSE);
    return rbli_messages_get(ctx->messages, 0)->text;
}

#define FACET                                                                                                \
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e0 -0.5\nendloop\nendfacet\n"

static void ascii_solids_are_nodes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    const char *text = "solid first part \n" FACET FACET
                       "endsolid first part\nsolid\nendsolid\n  SOLID\r\n" FACET "EndSolid\n\n";
    assert_ok(ctx, parse(ctx, text, strlen(text), &file));
    assert_int_equal(file.triangle_count, 3);
    assert_int_equal(file.position_count, 9);
    assert_int_equal(file.node_count, 2);
    assert_string_equal(file.nodes[0].name, "first part");
    assert_string_equal(file.nodes[1].name, "part");
    assert_int_equal(file.triangle_nodes[1], 0);
    assert_int_equal(file.triangle_nodes[2], 1);
    assert_true(file.positions[8][1] == 1 && file.positions[8][2] == -0.5);
    assert_null(file.normals);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void ascii_errors_name_the_line(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"solid\nendsolid\n", "part.stl: no triangles"},
        {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nendloop\n",
            "part.stl:5: \"endloop\" where \"a number\" was expected"},
        {"solid\nfacet\nouter loop\nvertex 0 0 nan\n",
            "part.stl:4: vertex 3 of triangle 1 is not finite (0, 0, nan)"},
        {"solid\nfacet\nouter loop\nvertex 0 0 0 vertex 1 0 0\nvertex 1 1 0 vertex 0 1 "
         "0\nendloop\nendfacet\nendsolid",
            "part.stl:5: a fourth vertex where \"endloop\" was expected"},
        {"solid a\nfacet\n", "part.stl:3: the file ends where \"outer loop\" was expected"},
        {"solid a\nendsolid\nfacet\n", "part.stl:3: \"facet\" where \"solid\" was expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *error = error_of(ctx, cases[i].text, strlen(cases[i].text));
        if (i == 2) {
            assert_non_null(strstr(error, "part.stl:4: vertex 1 of triangle 1 is not finite (0, 0, nan)"));
        } else {
            assert_string_equal(error, cases[i].error);
        }
    }
    finish_context(ctx);
}

static size_t make_binary(uint8_t *bytes, uint32_t count, const char *header)
{
    memset(bytes, 0, 84 + 50 * (size_t)count);
    memcpy(bytes, header, strlen(header));
    memcpy(bytes + 80, &count, 4);
    for (size_t t = 0; t < count; t++) {
        const float vertices[9] = {0, 0, (float)t, 1, 0, (float)t, 0, 1, (float)t};
        memcpy(bytes + 84 + 50 * t + 12, vertices, sizeof vertices);
    }
    return 84 + 50 * (size_t)count;
}

static void binary_files_may_begin_with_solid(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    uint8_t bytes[400];
    for (int i = 0; i < 2; i++) {
        rbli_mesh_file file;
        size_t count = make_binary(bytes, 3, i ? "solid facet vertex" : "made by hand");
        assert_ok(ctx, parse(ctx, bytes, count, &file));
        assert_int_equal(file.triangle_count, 3);
        assert_true(file.positions[7][0] == 1 && file.positions[7][2] == 2);
        assert_string_equal(file.nodes[0].name, "part");
        rbli_mesh_file_free(ctx, &file);
    }
    finish_context(ctx);
}

static void binary_sizes_are_checked(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    uint8_t bytes[400];
    rbli_mesh_file file;
    size_t count = make_binary(bytes, 2, "x");
    assert_string_equal(
        error_of(ctx, bytes, count - 1), "part.stl: byte 183: the file ends after 1 of 2 triangles");
    assert_string_equal(
        error_of(ctx, bytes, 40), "part.stl: byte 40: the file ends, a header of 84 bytes expected");
    assert_string_equal(
        error_of(ctx, bytes, 0), "part.stl: byte 0: the file ends, a header of 84 bytes expected");
    memset(bytes + 80, 0xFF, 4);
    assert_non_null(strstr(error_of(ctx, bytes, count), "2 of 4294967295 triangles"));
    count = make_binary(bytes, 2, "x");
    assert_ok(ctx, parse(ctx, bytes, count + 7, &file));
    assert_int_equal(file.message_count, 1);
    rbli_mesh_file_free(ctx, &file);
    make_binary(bytes, 0, "x");
    assert_string_equal(error_of(ctx, bytes, 84), "part.stl: no triangles");
    count = make_binary(bytes, 2, "x");
    memset(bytes + 84 + 50 + 24, 0xFF, 4);
    assert_non_null(
        strstr(error_of(ctx, bytes, count), "part.stl: byte 158: vertex 2 of triangle 2 is not finite"));
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_solids_are_nodes),
        cmocka_unit_test(ascii_errors_name_the_line),
        cmocka_unit_test(binary_files_may_begin_with_solid),
        cmocka_unit_test(binary_sizes_are_checked),
    };
    return cmocka_run_group_tests_name("io/stl_read", tests, NULL, NULL);
}
