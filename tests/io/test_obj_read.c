#include "tests/check.h"

#include <math.h>

#include "fracture/io/mesh_file.h"

static rbl_status parse(rbl_context *ctx, const char *text, rbli_mesh_file *out)
{
    return rbli_mesh_file_parse_obj(ctx, "a/box.obj", (const uint8_t *)text, strlen(text), NULL, out);
}

#define TRIANGLE "v 0 0 0\nv 1 0 0\nv 0 1 0\n"

static const char *error_of(rbl_context *ctx, const char *text)
{
    rbli_messages_clear(ctx->messages);
    rbli_mesh_file file;
    assert_int_equal(parse(ctx, text, &file), RBL_ERR_PARSE);
    assert_int_equal(rbli_messages_count(ctx->messages), 1);
    return rbli_messages_get(ctx->messages, 0)->text;
}

static void reads_a_triangle_in_any_spelling(void **state)
{
    (void)state;
    static const char *const texts[] = {
        (TRIANGLE "f 1 2 3\n"),
        (TRIANGLE "f -3 -2 -1"),
        "\xEF\xBB\xBF# c\r\nv 0 0 0\r\nv 1 0 0 \r\nv\t0 1 0\r\nf 1 2 3\r\n",
        "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r",
        ("f 1 2 3\n" TRIANGLE),
        "v 0 \\\n 0 0\nv 1 0\\\r\n 0\nv 0 1 0 # c\nf 1 \\\n2 3#c\n",
        "v 0 0 0 1\nv 1 0 0 1.0\nv +0 1e0 -0 1\nl 1 2\np 1\ns off\nvp 1 2\nf 1// 2/ 3//\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rbl_context *ctx = make_context(1);
        rbli_mesh_file file;
        assert_ok(ctx, parse(ctx, texts[i], &file));
        assert_int_equal(file.triangle_count, 1);
        assert_int_equal(file.position_count, 3);
        for (int k = 0; k < 3; k++)
            assert_int_equal(file.triangles[0][k], k);
        assert_true(file.positions[1][0] == 1 && file.positions[2][1] == 1);
        assert_null(file.normals);
        assert_int_equal(file.uv_set_count, 0);
        assert_null(file.colors);
        assert_int_equal(file.node_count, 1);
        assert_string_equal(file.nodes[0].name, "box");
        assert_int_equal(file.message_count, 0);
        rbli_mesh_file_free(ctx, &file);
        finish_context(ctx);
    }
}

static void carries_corner_attributes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    assert_ok(ctx, parse(ctx,
                       TRIANGLE "v 0 0 1\nvt 0.25 0.75\nvt 1\nvn 0 0 2\n"
                                "f 1/1/1 2/2/1 3/-1/-1\nf 1 2 4\n",
                       &file));
    assert_int_equal(file.uv_set_count, 1);
    assert_true(file.uvs[0][0][0] == 0.25f && file.uvs[0][0][1] == 0.25f); /* v turned downwards */
    assert_true(file.uvs[0][1][0] == 1 && file.uvs[0][1][1] == 1);
    assert_true(file.normals[2][2] == 1);
    assert_true(file.normals[3][0] == 0 && file.normals[3][1] == 0 && file.normals[3][2] == 0);
    rbli_mesh_file_free(ctx, &file);
    assert_ok(ctx, parse(ctx, "v 0 0 0 255 0 51\nv 1 0 0\nv 0 1 0 0 255 0\nf 1 2 3\n", &file));
    assert_true(file.colors[0][0] == 1 && file.colors[0][2] == 0.2f && file.colors[0][3] == 1);
    assert_true(file.colors[2][1] == 1);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void objects_make_nodes_and_groups_only_without_objects(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    assert_ok(ctx,
        parse(ctx,
            TRIANGLE "f 1 2 3\ng x\no Beam One \nf 1 2 3\ng y\nf 1 2 3\no Empty\no Two\nusemtl A b\nf 1 2 3\n"
                     "o Beam One\nusemtl M\nf 3 2 1\nusemtl A b\nf 3 2 1",
            &file));
    assert_int_equal(file.node_count, 3);
    assert_string_equal(file.nodes[0].name, "box");
    assert_string_equal(file.nodes[1].name, "Beam One");
    assert_string_equal(file.nodes[2].name, "Two");
    static const int nodes[] = {0, 1, 1, 2, 1, 1}, materials[] = {-1, -1, -1, 0, 1, 0};
    for (size_t t = 0; t < 6; t++) {
        assert_int_equal(file.triangle_nodes[t], nodes[t]);
        assert_int_equal(file.triangle_materials[t], materials[t]);
    }
    assert_int_equal(file.material_count, 2);
    assert_string_equal(file.materials[0].name, "A b");
    rbli_mesh_file_free(ctx, &file);
    assert_ok(
        ctx, parse(ctx, TRIANGLE "g a b\nf 1 2 3\ng\nf 1 2 3\ng a b\nf 1 2 3\ng \xff\x01\nf 1 2 3", &file));
    assert_int_equal(file.node_count, 3);
    assert_string_equal(file.nodes[0].name, "a b");
    assert_string_equal(file.nodes[1].name, "default");
    assert_string_equal(file.nodes[2].name, "??");
    assert_int_equal(file.triangle_nodes[2], 0);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void polygons_become_triangles_inside_them(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    assert_ok(ctx,
        parse(ctx, "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nf 2 3 4 5 6 1\nf 1 2\n", &file));
    assert_int_equal(file.triangle_count, 4);
    double area = 0;
    for (size_t t = 0; t < 4; t++) {
        const double *a = file.positions[file.triangles[t][0]], *b = file.positions[file.triangles[t][1]];
        const double *c = file.positions[file.triangles[t][2]];
        double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        assert_true(twice > 0);
        area += twice / 2;
    }
    assert_close(area, 3, 0);
    assert_int_equal(file.message_count, 1);
    assert_string_equal(
        file.messages[0].text, "a/box.obj:8: 1 faces of less than three corners are left out");
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void errors_name_the_line(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    assert_string_equal(error_of(ctx, "# c\nv 0 0 0\n"), "a/box.obj: no triangles");
    assert_string_equal(error_of(ctx, ""), "a/box.obj: no triangles");
    assert_string_equal(error_of(ctx, "# generated\n" TRIANGLE "v nan 0 1\nf 1 3 2\nf 1 2 4\n"),
        "a/box.obj:5: vertex 4 is not finite (nan, 0, 1) and a face uses it");
    assert_string_equal(
        error_of(ctx, TRIANGLE "f 1 2 4\n"), "a/box.obj:4: index 4 of a vertex is out of range, there are 3");
    assert_string_equal(error_of(ctx, TRIANGLE "f 1 2 -4\n"),
        "a/box.obj:4: index -4 of a vertex is out of range, there are 3 up to this line");
    assert_string_equal(error_of(ctx, TRIANGLE "f 1/1 2 3\n"),
        "a/box.obj:4: index 1 of a texture coordinate is out of range, there are 0");
    assert_non_null(
        strstr(error_of(ctx, TRIANGLE "f 1 2 0\n"), "a/box.obj:4: \"0\" is not the index of a vertex"));
    assert_non_null(strstr(error_of(ctx, TRIANGLE "f 1 2 99999999999\n"), "a/box.obj:4: index 99999999999"));
    assert_non_null(strstr(error_of(ctx, TRIANGLE "f 1 2 99999999999999999999\n"), "a/box.obj:4: "));
    assert_non_null(strstr(error_of(ctx, TRIANGLE "f 1 2 3,4\n"), "a/box.obj:4: \",4\" follows an index"));
    assert_string_equal(
        error_of(ctx, "v 0 0\n"), "a/box.obj:1: 2 numbers, a vertex of three coordinates expected");
    assert_string_equal(error_of(ctx, "\n\nv 0 0,5 1\n"),
        "a/box.obj:3: \"0,5\" is not a number, a vertex of three coordinates expected");
    assert_non_null(strstr(error_of(ctx, "vn 1 2 x\n"), "a/box.obj:1: \"x\" is not a number"));
    assert_non_null(
        strstr(error_of(ctx, "v 1e999 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3"), "vertex 1 is not finite (inf"));
    finish_context(ctx);
}

static void unused_vertices_may_be_anything(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    assert_ok(ctx, parse(ctx, TRIANGLE "v nan inf -1e400\nf 1 2 3\nfoo bar\n", &file));
    assert_int_equal(file.message_count, 1);
    assert_int_equal(file.messages[0].severity, RBLI_NOTE);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void material_libraries_give_colours_and_textures(void **state)
{
    (void)state;
    char folder[] = "/tmp/rubble_obj_XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/my lib.mtl", folder);
    write_text(path, "newmtl Paint\r\nKd 1 0 .5\r\nd 0.25\r\nmap_Kd -s 1 1 1 -clamp on tex\\a b.png\r\n"
                     "newmtl Other\nKd x\nnewmtl Grey\n\tKd 0.5\nTr 0.25\nmap_Kd\n");
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    const char *text = "mtllib my lib.mtl\nmtllib absent.mtl\nusemtl Paint\n" TRIANGLE
                       "f 1 2 3\nusemtl Grey\nf 1 2 3\nusemtl Lost\nf 1 2 3\n";
    assert_ok(ctx, rbli_mesh_file_parse_obj(ctx, "x.obj", (const uint8_t *)text, strlen(text),
                       &(rbli_mesh_folder){folder, false}, &file));
    assert_int_equal(file.material_count, 3);
    const float *color = file.materials[0].base_color;
    assert_true(color[0] == 1 && color[1] == 0 && color[2] == 0.5f && color[3] == 0.25f);
    assert_string_equal(file.materials[0].texture, "tex/a b.png");
    color = file.materials[1].base_color;
    assert_true(color[0] == 0.5f && color[2] == 0.5f && color[3] == 0.75f);
    assert_string_equal(file.materials[1].texture, "");
    assert_int_equal(file.file_count, 1);
    assert_string_equal(file.files[0], path);
    assert_int_equal(file.message_count, 3);
    assert_non_null(strstr(file.messages[0].text, "tex/a b.png"));
    assert_int_equal(file.messages[0].severity, RBLI_WARNING);
    assert_int_equal(file.image_count, 0);
    assert_non_null(strstr(file.messages[1].text, "absent.mtl"));
    assert_non_null(strstr(file.messages[2].text, "Lost"));
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
    remove(path);
    remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_triangle_in_any_spelling),
        cmocka_unit_test(carries_corner_attributes),
        cmocka_unit_test(objects_make_nodes_and_groups_only_without_objects),
        cmocka_unit_test(polygons_become_triangles_inside_them),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(unused_vertices_may_be_anything),
        cmocka_unit_test(material_libraries_give_colours_and_textures),
    };
    return cmocka_run_group_tests_name("io/obj_read", tests, NULL, NULL);
}
