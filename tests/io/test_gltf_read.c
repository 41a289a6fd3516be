#include "tests/check.h"

#include <math.h>
#include <unistd.h>

#include "fracture/io/mesh_file.h"

/// A glTF document around a buffer: two triangles of a square as floats at 0, then bytes that tests choose.
#define SQUARE 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0
#define HEAD "{\"asset\":{\"version\":\"2.0\"},"
#define SCENE "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"

static const float square[12] = {SQUARE};

/// JSON and a binary chunk as a GLB. Returns its length.
static size_t make_glb(uint8_t *out, const char *json, const void *chunk, size_t chunk_bytes)
{
    uint32_t json_bytes = (uint32_t)(strlen(json) + 3) / 4 * 4, padded = (uint32_t)(chunk_bytes + 3) / 4 * 4;
    uint32_t header[5] = {0x46546C67, 2, 20 + json_bytes + 8 + padded, json_bytes, 0x4E4F534A};
    memcpy(out, header, sizeof header);
    memset(out + 20, ' ', json_bytes);
    memcpy(out + 20, json, strlen(json));
    uint32_t second[2] = {padded, 0x004E4942};
    memcpy(out + 20 + json_bytes, second, sizeof second);
    memset(out + 28 + json_bytes, 0, padded);
    memcpy(out + 28 + json_bytes, chunk, chunk_bytes);
    return 28 + json_bytes + padded;
}

static rbl_status parse(
    rbl_context *ctx, const char *json, const void *chunk, size_t chunk_bytes, rbli_mesh_file *out)
{
    static uint8_t glb[20000];
    size_t count = make_glb(glb, json, chunk, chunk_bytes);
    return rbli_mesh_file_parse_gltf(ctx, "door.glb", glb, count, NULL, out);
}

static void check_error(const char *json, const void *chunk, size_t chunk_bytes, const char *expected)
{
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    rbl_status status = parse(ctx, json, chunk, chunk_bytes, &file);
    if (status != RBL_ERR_PARSE) print_messages(ctx);
    assert_int_equal(status, RBL_ERR_PARSE);
    const char *error = rbli_messages_get(ctx->messages, 0)->text;
    if (!strstr(error, expected)) {
        print_error("\"%s\" has no \"%s\"\n", error, expected);
        fail();
    }
    finish_context(ctx);
}

#define ONE_BUFFER "\"buffers\":[{\"byteLength\":48}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}],"
#define ONE_ACCESSOR                                                                                         \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}],"

static void modes_make_triangles(void **state)
{
    (void)state;
    static const struct {
        int mode;
        size_t count;
        int32_t triangles[2][3];
    } cases[] = {{4, 1, {{0, 1, 2}}}, {5, 2, {{0, 1, 2}, {1, 3, 2}}}, {6, 2, {{0, 1, 2}, {0, 2, 3}}}};
    for (size_t i = 0; i < 3; i++) {
        rbl_context *ctx = make_context(1);
        char json[2000];
        snprintf(json, sizeof json,
            HEAD SCENE ONE_BUFFER ONE_ACCESSOR "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{"
                                               "\"attributes\":{\"POSITION\":0},\"mode\":%d},"
                                               "{\"attributes\":{\"POSITION\":0},\"mode\":1}]}]}",
            cases[i].mode);
        rbli_mesh_file file;
        assert_ok(ctx, parse(ctx, json, square, sizeof square, &file));
        assert_int_equal(file.triangle_count, cases[i].count);
        for (size_t t = 0; t < file.triangle_count; t++)
            assert_memory_equal(file.triangles[t], cases[i].triangles[t], sizeof file.triangles[t]);
        assert_string_equal(file.nodes[0].name, "node_0");
        assert_int_equal(file.message_count, i == 0 ? 2 : 1); /* lines; and a corner left over */
        rbli_mesh_file_free(ctx, &file);
        finish_context(ctx);
    }
}

static void nodes_place_their_meshes(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    /* 90° around z and twice as large, then moved; the camera node is no part of it; the mesh is used twice
     */
    const char *json = HEAD SCENE ONE_BUFFER ONE_ACCESSOR
        "\"nodes\":[{\"name\":\"root\",\"children\":[1,2,3],\"translation\":[10,0,0]},"
        "{\"name\":\"A\",\"mesh\":0,\"rotation\":[0,0,0.70710678118654757,0.70710678118654757],\"scale\":[2,"
        "2,2]},"
        "{\"name\":\"camera\",\"camera\":0},{\"mesh\":0,\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,5,1]}],"
        "\"meshes\":[{\"name\":\"door\",\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":5}]}]}";
    assert_ok(ctx, parse(ctx, json, square, sizeof square, &file));
    assert_int_equal(file.node_count, 3);
    assert_string_equal(file.nodes[1].name, "A");
    assert_string_equal(file.nodes[2].name, "door");
    assert_int_equal(file.nodes[0].parent, -1);
    assert_int_equal(file.nodes[2].parent, 0);
    assert_int_equal(file.triangle_count, 4);
    assert_int_equal(file.triangle_nodes[1], 1);
    assert_int_equal(file.triangle_nodes[2], 2);
    const double *p = file.positions[file.triangles[0][1]]; /* (1, 0, 0) */
    assert_close(p[0], 10, 1e-15);
    assert_close(p[1], 2, 1e-15);
    p = file.positions[file.triangles[2][1]];
    assert_true(p[0] == 11 && p[1] == 0 && p[2] == 5);
    assert_close(file.nodes[1].transform[1], 2, 1e-15);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void mirrored_nodes_stay_outward(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    struct {
        float positions[9], normals[9], tangents[12];
    } chunk = {
        {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 1, 0, 0, 1, 0, 0, 1}, {1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}};
    const char *json = HEAD SCENE
        "\"buffers\":[{\"byteLength\":120}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":120}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":36,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":72,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"}],"
        "\"nodes\":[{\"mesh\":0,\"scale\":[-2,1,4]}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1,\"TANGENT\":2}}]}]}";
    assert_ok(ctx, parse(ctx, json, &chunk, sizeof chunk, &file));
    const int32_t *t = file.triangles[0];
    const double *a = file.positions[t[0]], *b = file.positions[t[1]], *c = file.positions[t[2]];
    double z = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    assert_true(z > 0);
    assert_true(file.normals[0][2] == 1);
    assert_true(file.tangents[1][0] == -1 && file.tangents[1][3] == -1);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void accessors_of_every_kind(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    /* positions: shorts, interleaved with normalised bytes of normals; texture coordinates and colours
     * normalised */
    struct {
        struct {
            int16_t position[4];
            int8_t normal[4];
        } vertices[3];
        uint16_t uvs[6];
        uint8_t colors[12], indices[4], sparse_index[4];
        float sparse_uv[2];
        uint32_t long_indices[3];
    } chunk = {
        .vertices = {{{0, 0, 0}, {0, 0, 127}}, {{-5, 0, 0}, {0, 0, 127}}, {{0, 300, 0}, {0, -128, 0}}},
        .uvs = {0, 65535, 65535, 0, 0, 0},
        .colors = {255, 0, 51, 255, 0, 0, 0, 0, 0, 0, 0, 0},
        .indices = {2, 1, 0},
        .sparse_index = {1},
        .sparse_uv = {0.25f, 0.5f},
        .long_indices = {0, 2, 1},
    };
    const char *json = HEAD SCENE
        "\"extensionsRequired\":[\"KHR_mesh_quantization\",\"KHR_materials_unlit\"],"
        "\"buffers\":[{\"byteLength\":88}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36,\"byteStride\":"
        "12},"
        "{\"buffer\":0,\"byteOffset\":36,\"byteLength\":52}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5122,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":8,\"componentType\":5120,\"normalized\":true,\"count\":3,\"type\":"
        "\"VEC3\"},"
        "{\"bufferView\":1,\"componentType\":5123,\"normalized\":true,\"count\":3,\"type\":\"VEC2\"},"
        "{\"bufferView\":1,\"byteOffset\":12,\"componentType\":5121,\"normalized\":true,\"count\":3,\"type\":"
        "\"VEC4\"},"
        "{\"bufferView\":1,\"byteOffset\":24,\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\"},"
        "{\"componentType\":5126,\"count\":3,\"type\":\"VEC2\",\"sparse\":{\"count\":1,"
        "\"indices\":{\"bufferView\":1,\"byteOffset\":28,\"componentType\":5121},"
        "\"values\":{\"bufferView\":1,\"byteOffset\":32}}},"
        "{\"bufferView\":1,\"byteOffset\":40,\"componentType\":5125,\"count\":3,\"type\":\"SCALAR\"}],"
        "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1,"
        "\"TEXCOORD_0\":2,\"TEXCOORD_1\":5,\"COLOR_0\":3},\"indices\":4},"
        "{\"attributes\":{\"POSITION\":0},\"indices\":6}]}]}";
    assert_ok(ctx, parse(ctx, json, &chunk, sizeof chunk, &file));
    assert_int_equal(file.triangle_count, 2);
    assert_true(
        file.positions[file.triangles[0][0]][1] == 300 && file.positions[file.triangles[0][1]][0] == -5);
    assert_true(file.normals[0][1] == -1 && file.normals[2][2] == 1);
    assert_true(
        file.normals[4][0] == 0 && file.normals[4][1] == 0 && file.normals[4][2] == 0); /* not given */
    assert_int_equal(file.uv_set_count, 2);
    assert_true(file.uvs[0][2][1] == 1 && file.uvs[0][1][0] == 1);
    assert_true(file.uvs[1][1][0] == 0.25f && file.uvs[1][1][1] == 0.5f && file.uvs[1][0][0] == 0);
    assert_true(file.colors[2][0] == 1 && file.colors[2][2] == 0.2f && file.colors[3][0] == 1 &&
                file.colors[0][3] == 0);
    assert_int_equal(file.triangles[1][1] - file.triangles[1][0], 2);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void materials_have_names_colours_and_textures(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    const char *json = HEAD SCENE ONE_BUFFER ONE_ACCESSOR
        "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"material\":"
        "2},"
        "{\"attributes\":{\"POSITION\":0},\"material\":0},{\"attributes\":{\"POSITION\":0}},"
        "{\"attributes\":{\"POSITION\":0},\"material\":3}]}],"
        "\"materials\":[{\"name\":\"Oak\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.5,0.25,0,1],"
        "\"baseColorTexture\":{\"index\":0}}},{\"name\":\"unused\"},"
        "{\"name\":\"Oak\",\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":1}}},{}],"
        "\"textures\":[{\"source\":0},{\"source\":1}],\"images\":[{\"uri\":\"tex/my%20oak.png\"},"
        "{\"name\":\"dark\",\"bufferView\":0}]}";
    assert_ok(ctx, parse(ctx, json, square, sizeof square, &file));
    assert_int_equal(file.material_count, 3);
    assert_string_equal(file.materials[0].name, "Oak");
    assert_string_equal(file.materials[0].texture, "embedded:dark");
    assert_string_equal(file.materials[1].name, "Oak_2");
    assert_string_equal(file.materials[1].texture, "tex/my oak.png");
    assert_true(file.materials[1].base_color[1] == 0.25f);
    assert_string_equal(file.materials[2].name, "material_3");
    static const int32_t expected[4] = {0, 1, -1, 2};
    assert_memory_equal(file.triangle_materials, expected, sizeof expected);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

static void buffers_in_data_uris_and_files(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    char folder[] = "/tmp/rubble_gltf_XXXXXX", path[200];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/my data.bin", folder);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    fwrite(square, sizeof square, 1, stream);
    fclose(stream);
    static const char *const uris[] = {"my%20data.bin",
        "data:application/"
        "octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAACAPwAAgD8AAAAA"};
    for (int i = 0; i < 2; i++) {
        const rbli_mesh_folder here = {folder, false};
        char json[2000];
        snprintf(json, sizeof json,
            HEAD ONE_ACCESSOR "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}],\"nodes\":[{\"mesh\":0}],"
                              "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":5}]}],"
                              "\"buffers\":[{\"byteLength\":48,\"uri\":\"%s\"}]}\n",
            uris[i]);
        assert_ok(ctx, rbli_mesh_file_parse_gltf(
                           ctx, "a.gltf", (const uint8_t *)json, strlen(json), i ? NULL : &here, &file));
        assert_int_equal(file.triangle_count, 2);
        assert_true(file.positions[3][0] == 1 && file.positions[3][1] == 1);
        assert_int_equal(file.file_count, 1 - i);
        if (i == 0) assert_string_equal(file.files[0], path);
        rbli_mesh_file_free(ctx, &file);
    }
    unlink(path);
    char json[] =
        HEAD ONE_ACCESSOR "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}],\"nodes\":[{\"mesh\":0}],"
                          "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
                          "\"buffers\":[{\"byteLength\":48,\"uri\":\"gone.bin\"}]}";
    assert_int_equal(rbli_mesh_file_parse_gltf(ctx, "a.gltf", (const uint8_t *)json, strlen(json),
                         &(rbli_mesh_folder){folder, false}, &file),
        RBL_ERR_READ);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "gone.bin: "));
    rmdir(folder);
    finish_context(ctx);
}

#define MESH "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]}"

static void errors_point_at_the_place(void **state)
{
    (void)state;
    const void *s = square;
    size_t n = sizeof square;
    check_error("[1]", s, n, "door.glb: byte 20: not JSON");
    check_error("{\"a\":}", s, n, "door.glb: byte 25: not JSON");
    check_error("{}", s, n, "door.glb: /asset: no \"version\"");
    check_error("{\"asset\":{\"version\":\"1.0\"}}", s, n, "/asset: glTF version 1.0, 2.0 expected");
    check_error(HEAD "\"nodes\":[]}", s, n, "door.glb: no triangles");
    check_error(HEAD "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]}", s, n,
        "needs KHR_draco_mesh_compression, which is not read; export it without mesh compression");
    check_error(HEAD "\"extensionsRequired\":[\"EXT_x\"]}", s, n, "the file needs EXT_x, which is not read");
    check_error(HEAD ONE_BUFFER ONE_ACCESSOR "\"nodes\":[{\"mesh\":7}]}", s, n,
        "/nodes/0: \"mesh\": 7 is out of range, there are 0");
    check_error(HEAD "\"nodes\":[{\"children\":[1]},{\"children\":[2]},{\"children\":[1]}]}", s, n,
        "/nodes/1: the node is reached twice");
    check_error(HEAD SCENE "\"nodes\":[{\"children\":[0]}]}", s, n, "/nodes/0: the node is reached twice");
    check_error(
        HEAD SCENE "\"nodes\":[{\"children\":[3]}]}", s, n, "/nodes/0/children: a node that is none of");
    check_error(HEAD ONE_BUFFER
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":\"VEC3\"}]," MESH,
        s, n, "/accessors/0: 5 elements from byte 0 on leave bufferView 0 of 48 bytes");
    check_error(HEAD ONE_BUFFER
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1e15,\"type\":\"VEC3\"}]," MESH,
        s, n, "leave bufferView 0 of 48 bytes");
    check_error(HEAD "\"accessors\":[{\"componentType\":5126,\"count\":1e9,\"type\":\"VEC3\"}]," MESH, s, n,
        "/accessors/0: 1000000000 zeros, more than the file justifies");
    check_error(HEAD ONE_BUFFER
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5124,\"count\":3,\"type\":\"VEC3\"}]," MESH,
        s, n, "/accessors/0: unknown \"componentType\" 5124");
    check_error(HEAD ONE_BUFFER
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":-3,\"type\":\"VEC3\"}]," MESH,
        s, n, "/accessors/0: \"count\" is not a whole number");
    check_error(HEAD ONE_BUFFER
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"}]," MESH,
        s, n, "/meshes/0/primitives/0: POSITION has a wrong type, VEC3 expected");
    check_error(HEAD ONE_ACCESSOR
        "\"buffers\":[{\"byteLength\":99}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}]," MESH,
        s, n, "/buffers/0: 48 bytes of data, \"byteLength\" says 99");
    check_error(HEAD ONE_ACCESSOR "\"buffers\":[{\"byteLength\":9,\"uri\":\"http://x/"
                                  "y\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}]," MESH,
        s, n, "/buffers/0: its data is elsewhere (http://x/y) and is not fetched");
    float broken[12] = {SQUARE};
    broken[4] = NAN;
    check_error(HEAD ONE_BUFFER ONE_ACCESSOR MESH, broken, n, "/accessors/0: vertex 1 is not finite");
    check_error(HEAD
        "\"buffers\":[{\"byteLength\":48}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":14,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}],"
        "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":"
        "1}]}]}",
        s, n, "/accessors/1: index 16256 (element 0) is out of range, there are 3 vertices");
}

static void damaged_containers_are_refused(void **state)
{
    (void)state;
    static uint8_t glb[2000], copy[2000];
    size_t count = make_glb(glb, HEAD SCENE ONE_BUFFER ONE_ACCESSOR MESH, square, sizeof square);
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    for (size_t cut = 4; cut < count; cut++)
        assert_int_equal(rbli_mesh_file_parse_gltf(ctx, "door.glb", glb, cut, NULL, &file), RBL_ERR_PARSE);
    memcpy(copy, glb, count);
    copy[4] = 1;
    assert_int_equal(rbli_mesh_file_parse_gltf(ctx, "door.glb", copy, count, NULL, &file), RBL_ERR_PARSE);
    memcpy(copy, glb, count);
    copy[16] = 'X';
    assert_int_equal(rbli_mesh_file_parse_gltf(ctx, "door.glb", copy, count, NULL, &file), RBL_ERR_PARSE);
    memcpy(copy, glb, count);
    copy[13] = 0x7F;
    assert_int_equal(rbli_mesh_file_parse_gltf(ctx, "door.glb", copy, count, NULL, &file), RBL_ERR_PARSE);
    assert_ok(ctx, rbli_mesh_file_parse_gltf(ctx, "door.glb", glb, count, NULL, &file));
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

/// A thousand nodes of one mesh are fine, but a small file does not unfold to millions of triangles.
static void unfolding_has_a_limit(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    char json[18000];
    size_t at = (size_t)snprintf(json, sizeof json,
        HEAD "\"accessors\":[{\"componentType\":5126,\"count\":9000,\"type\":\"VEC3\"}],"
             "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[");
    for (int i = 0; i < 1000; i++)
        at += (size_t)snprintf(json + at, sizeof json - at, "%s{\"mesh\":0}", i ? "," : "");
    snprintf(json + at, sizeof json - at, "]}");
    assert_int_equal(
        rbli_mesh_file_parse_gltf(ctx, "a.gltf", (const uint8_t *)json, strlen(json), NULL, &file),
        RBL_ERR_LIMIT);
    memcpy(strstr(json, "9000"), "   6", 4);
    assert_ok(
        ctx, rbli_mesh_file_parse_gltf(ctx, "a.gltf", (const uint8_t *)json, strlen(json), NULL, &file));
    assert_int_equal(file.triangle_count, 2000);
    assert_int_equal(file.node_count, 1000);
    rbli_mesh_file_free(ctx, &file);
    finish_context(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_make_triangles),
        cmocka_unit_test(nodes_place_their_meshes),
        cmocka_unit_test(mirrored_nodes_stay_outward),
        cmocka_unit_test(accessors_of_every_kind),
        cmocka_unit_test(materials_have_names_colours_and_textures),
        cmocka_unit_test(buffers_in_data_uris_and_files),
        cmocka_unit_test(errors_point_at_the_place),
        cmocka_unit_test(damaged_containers_are_refused),
        cmocka_unit_test(unfolding_has_a_limit),
    };
    return cmocka_run_group_tests_name("io/gltf_read", tests, NULL, NULL);
}
