#include "tests/check.h"

#include "fracture/io/mesh_file.h"

static rbl_status parse(rbl_context *ctx, const void *bytes, size_t count, rbli_mesh_file *out)
{
    return rbli_mesh_file_parse_ply(ctx, "bunny.ply", bytes, count, NULL, out);
}

#define XYZ "property float x\nproperty float y\nproperty double z\n"
#define LIST "property list uchar int vertex_indices\n"

static void ascii_with_everything(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    const char *text =
        "ply\r\nformat ascii 1.0\ncomment TextureFile my tex.png\nobj_info x\nelement vertex 4\n" XYZ
        "property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\nproperty uchar green\n"
        "property uchar blue\nproperty float confidence\nproperty float s\nproperty float t\nelement edge 1\n"
        "property int vertex1\nproperty list uchar float what\nelement face 2\nproperty uchar red\n" LIST
        "property list uchar float texcoord\nend_header\n"
        "0 0 0 0 0 2 255 0 51 0.5 .25 .25\n1 0 0 0 0 1 0 0 0 0 0 0\n1 1 0 0 0 1 0 0 0 0 0 0\n"
        "0 1 0 0 0 1 0 0 0 0 0 0\n7 2 1.5 2\n9 4 0 1 2 3 8 0 0 .5 0 1 .25 0 1e60\n9 3 0 1 2 0\n";
    assert_ok(ctx, parse(ctx, text, strlen(text), &file));
    assert_int_equal(file.triangle_count, 3);
    assert_true(file.normals[0][2] == 1 && file.colors[0][0] == 1 && file.colors[0][2] == 0.2f &&
                file.colors[0][3] == 1);
    assert_true(file.uvs[0][1][0] == 0.5f && file.uvs[0][1][1] == 1 && file.uvs[0][2][1] == 0.75f);
    assert_true(file.uvs[0][5][0] == 0 && file.uvs[0][5][1] == 0); /* too large for a float */
    assert_string_equal(file.materials[0].texture, "my tex.png");
    assert_string_equal(file.materials[0].name, "my tex");
    assert_int_equal(file.triangle_materials[2], 0);
    assert_string_equal(file.nodes[0].name, "bunny");
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

typedef struct bytes {
    uint8_t data[1000];
    size_t count;
    bool big;
} bytes;

static void put(bytes *out, const void *value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out->data[out->count++] = ((const uint8_t *)value)[out->big ? size - 1 - i : i];
}

static void put_text(bytes *out, const char *text)
{
    memcpy(out->data + out->count, text, strlen(text));
    out->count += strlen(text);
}

static void make_binary(bytes *out, bool big)
{
    *out = (bytes){.big = big};
    put_text(out, big ? "ply\nformat binary_big_endian 1.0\n" : "ply\nformat binary_little_endian 1.0\n");
    put_text(out, "element vertex 4\n" XYZ "property ushort red\nproperty short green\nproperty char blue\n"
                  "element face 1\nproperty list ushort uint vertex_index\nend_header\n");
    for (int v = 0; v < 4; v++) {
        float x = v == 1 || v == 2, y = v >= 2;
        double z = 0.1;
        uint16_t red = 65535;
        int16_t green = -1;
        int8_t blue = 1;
        put(out, &x, 4);
        put(out, &y, 4);
        put(out, &z, 8);
        put(out, &red, 2);
        put(out, &green, 2);
        put(out, &blue, 1);
    }
    uint16_t length = 4;
    put(out, &length, 2);
    for (uint32_t i = 0; i < 4; i++)
        put(out, &i, 4);
}

static void binary_of_both_byte_orders(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        rbl_context *ctx = make_context(1);
        bytes data;
        make_binary(&data, big);
        rbli_mesh_file file;
        assert_ok(ctx, parse(ctx, data.data, data.count, &file));
        assert_int_equal(file.triangle_count, 2);
        assert_true(file.positions[2][0] == 1 && file.positions[2][1] == 1 && file.positions[2][2] == 0.1);
        assert_true(file.colors[0][0] == 1 && file.colors[0][1] == 0 && file.colors[0][2] == 1);
        rbli_mesh_file_free(ctx, &file);
        for (size_t cut = 0; cut < data.count; cut++)
            assert_int_equal(parse(ctx, data.data, cut, &file), RBL_ERR_PARSE);
        finish_context(ctx);
    }
}

static void strips_turn_every_other_triangle(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    const char *text = "ply\nformat ascii 1.0\nelement vertex 4\n" XYZ "element tristrips 1\n" LIST
                       "end_header\n0 0 0 1 0 0 0 1 0 1 1 0\n11 0 1 2 3 -1 0 0 1 -1 3 2\n";
    assert_ok(ctx, parse(ctx, text, strlen(text), &file));
    assert_int_equal(file.triangle_count, 2);
    static const int expected[2][3] = {{0, 1, 2}, {2, 1, 3}};
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 3; k++)
            assert_int_equal(file.triangles[t][k], expected[t][k]);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void errors_name_line_or_byte(void **state)
{
    (void)state;
#define ASCII "ply\nformat ascii 1.0\n"
#define TRIANGLE ASCII "element vertex 3\n" XYZ "element face 1\n" LIST "end_header\n0 0 0\n1 0 0\n"
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "bunny.ply:1: the file ends where \"ply\" was expected"},
        {"plx\n", "bunny.ply:1: \"plx\" where \"ply\" was expected"},
        {"ply\nformat ascii 1.0\n", "bunny.ply:3: the file ends where \"end_header\" was expected"},
        {"ply\nend_header\n", "bunny.ply:2: the end of the line where a format before it was expected"},
        {"ply\nformat bin 1.0\n",
            "bunny.ply:2: \"bin\" where ascii, binary_little_endian or binary_big_endian was expected"},
        {(ASCII "property float x\n"), "bunny.ply:3: \"float\" where an element was expected"},
        {(ASCII "element vertex x\n"), "bunny.ply:3: \"x\" where the number of elements was expected"},
        {(ASCII "element vertex 1\nproperty quad x\n"),
            "bunny.ply:4: \"quad\" where a type (char … double, int8 … float64) was expected"},
        {(ASCII "element vertex 1\nproperty float x\nend_header\n1\n"),
            "bunny.ply:3: vertices without x, y and z"},
        {(ASCII "element vertex 99999999999\n" XYZ "end_header\n1 2 3\n"),
            "bunny.ply:8: 99999999999 elements of the header's line 3 do not fit in the file"},
        {(TRIANGLE "0 1 0\n3 0 1 3\n"),
            "bunny.ply:13: index 3 of a vertex is out of range, there are 3, from 0 on"},
        {(TRIANGLE "0 1 0\n3 0 1 -1\n"),
            "bunny.ply:13: index -1 of a vertex is out of range, there are 3, from 0 on"},
        {(TRIANGLE "0 1 0\n999 0 1 2\n"), "bunny.ply:13: the length of a list does not fit in the file"},
        {(TRIANGLE "0 1 0\n3 0 1\n"), "bunny.ply:14: the file ends where a number was expected"},
        {(TRIANGLE "0 y 0\n3 0 1 2\n"), "bunny.ply:12: \"y\" where a number was expected"},
        {(TRIANGLE "0 nan 0\n3 0 1 2\n"),
            "bunny.ply:12: vertex 2 is not finite (0, nan, 0) and a face uses it"},
        {(ASCII "element vertex 3\n" XYZ "end_header\n0 0 0\n1 0 0\n0 1 0\n"), "bunny.ply: no triangles"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rbl_context *ctx = make_context(1);
        rbli_mesh_file file;
        assert_int_equal(parse(ctx, cases[i].text, strlen(cases[i].text), &file), RBL_ERR_PARSE);
        assert_string_equal(rbli_messages_get(ctx->messages, 0)->text, cases[i].error);
        finish_context(ctx);
    }
    rbl_context *ctx = make_context(1);
    bytes data;
    make_binary(&data, false);
    data.data[data.count - 1] = 1; /* the last index */
    rbli_mesh_file file;
    assert_int_equal(parse(ctx, data.data, data.count, &file), RBL_ERR_PARSE);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, ": index 16777219 of a vertex"));
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "bunny.ply: byte "));
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_with_everything),
        cmocka_unit_test(binary_of_both_byte_orders),
        cmocka_unit_test(strips_turn_every_other_triangle),
        cmocka_unit_test(errors_name_line_or_byte),
    };
    return cmocka_run_group_tests_name("io/ply_read", tests, NULL, NULL);
}
