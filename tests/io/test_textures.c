/* Materials, textures and images: from glTF and MTL through a collection and .rbl to GLB and OBJ, byte for byte. */

#include "tests/failing_alloc.h"

#include <unistd.h>

#include "fracture/collection/rbl_file.h"
#include "fracture/collection/schema.h"
#include "fracture/io/mesh_collection.h"
#include "fracture/io/write.h"
#include "fracture/ops/merge.h"

static char folder[] = "/tmp/rubble_textures_XXXXXX";

/* No image by any decoder, but by its first bytes: nothing looks further. 15 bytes. */
static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 1, 2, 3, 0, 250, 5, 0};
static const uint8_t jpeg[] = {0xff, 0xd8, 0xff, 9, 8, 7, 6, 5};

static const char *put_file(const char *name, const void *bytes, size_t count)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    fclose(stream);
    return path;
}

#define POSITIONS                                                                                            \
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAACAPwAAgD8AAAAA" /* a square: 0 0 0, 1 0 0, 0 1 0, 1 1 0 */
#define HEAD                                                                                                 \
    "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":48,\"uri\":\"data:a/b;base64," POSITIONS  \
    "\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}],\"accessors\":[{\"bufferView\":0,"              \
    "\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},{\"bufferView\":0,\"componentType\":5126,"        \
    "\"count\":4,\"type\":\"VEC2\"}],\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"mode\":5,"     \
    "\"material\":0,\"attributes\":{\"POSITION\":0,\"TEXCOORD_0\":1,\"TEXCOORD_1\":1}}]}],"

/* All slots; image 0 in the document, image 1 a file that is asked for twice. */
static const char full[] =
    HEAD "\"materials\":[{\"name\":\"brick\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.5,1,1,1],"
         "\"baseColorTexture\":{\"index\":0,\"texCoord\":1,\"extensions\":{\"KHR_texture_transform\":{"
         "\"offset\":[0.5,"
         "0.25],\"rotation\":0.5,\"scale\":[2,-1]}}},\"metallicFactor\":0.25,\"roughnessFactor\":0.75,"
         "\"metallicRoughnessTexture\":{\"index\":1}},\"normalTexture\":{\"index\":1,\"scale\":0.5},"
         "\"occlusionTexture\":{\"index\":2,\"strength\":0.125},\"emissiveTexture\":{\"index\":0},"
         "\"emissiveFactor\":[1,0.5,0.25],\"alphaMode\":\"MASK\",\"alphaCutoff\":0.75,\"doubleSided\":true}],"
         "\"samplers\":[{\"magFilter\":9728,\"minFilter\":9987,\"wrapS\":33071,\"wrapT\":33648}],"
         "\"textures\":[{\"source\":0,\"sampler\":0},{\"source\":1},{\"source\":2}],"
         "\"images\":[{\"name\":\"inside\",\"uri\":\"data:image/png;base64,iVBORw0KGgoBAgMA+gUA\"},"
         "{\"uri\":\"far%20off.jpg\"},{\"uri\":\"far off.jpg\"}]}";

static void check_material(const rbl_collection *c, size_t image_count)
{
    assert_int_equal(rbli_collection_size(c, "image"), image_count);
    rbli_material look = rbli_material_get(c, 0);
    assert_true(look.metallic == 0.25f && look.roughness == 0.75f && look.emissive[1] == 0.5f);
    assert_true(look.alpha_mode == RBLI_ALPHA_MASK && look.alpha_cutoff == 0.75f && look.double_sided);
    assert_true(look.normal_scale == 0.5f && look.occlusion_strength == 0.125f);
    rbli_texture base = rbli_texture_get(c, (size_t)look.textures[RBLI_TEXTURE_BASE_COLOR]);
    assert_true(base.uv_set == 1 && base.offset[0] == 0.5f && base.offset[1] == 0.25f && base.scale[0] == 2 &&
                base.scale[1] == -1 && base.rotation == 0.5f);
    assert_true(base.wrap[0] == RBLI_WRAP_CLAMP && base.wrap[1] == RBLI_WRAP_MIRROR);
    assert_true(base.filter[0] == 9728 && base.filter[1] == 9987);
    rbli_image_view image = rbli_image_get(c, (size_t)base.image);
    assert_int_equal(image.byte_count, sizeof png);
    assert_memory_equal(image.bytes, png, sizeof png);
    assert_string_equal(image.mime_type, "image/png");
    assert_string_equal(image.name, "inside");
    for (int role = RBLI_TEXTURE_METALLIC_ROUGHNESS; role <= RBLI_TEXTURE_OCCLUSION; role++) {
        rbli_texture other = rbli_texture_get(c, (size_t)look.textures[role]);
        assert_true(other.uv_set == 0 && other.wrap[0] == RBLI_WRAP_REPEAT && other.filter[1] == 0);
        image = rbli_image_get(c, (size_t)other.image);
        assert_int_equal(image.byte_count, sizeof jpeg);
        assert_memory_equal(image.bytes, jpeg, sizeof jpeg);
        assert_string_equal(image.mime_type, "image/jpeg");
    }
}

static rbl_status read_asset(rbl_context *ctx, const char *path, rbl_collection **out)
{
    rbli_mesh_file file = {0};
    rbli_mesh_collection_options options = {.scale = 1};
    rbl_status status = rbli_mesh_file_read(ctx, path, &file);
    if (status != RBL_OK) return status;
    for (size_t i = 0; i < file.message_count; i++)
        if (strstr(file.messages[i].text, "image")) status = RBL_ERR_READ;
    if (status == RBL_OK) status = rbli_mesh_collection_create(ctx, &file, &options, out);
    rbli_mesh_file_free(ctx, &file);
    return status;
}

static void every_slot_comes_back_from_glb_and_rbl(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *first = NULL, *second = NULL, *third = NULL;
    rbli_file_writer *writer = NULL;
    char path[200];
    uint8_t *bytes = NULL;
    size_t count;
    unlink(put_file("x", "", 0));
    put_file("far off.jpg", jpeg, sizeof jpeg);
    assert_ok(ctx, read_asset(ctx, put_file("a.gltf", full, strlen(full)), &first));
    /* Two spellings of one path are two files to the cache of paths only until they are decoded. */
    check_material(first, 2);
    assert_ok(ctx, rbli_materials_check(ctx, first));
    snprintf(path, sizeof path, "%s/b.glb", folder);
    rbli_glb_report report;
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    assert_ok(
        ctx, rbli_write_glb(ctx, first, &(rbli_glb_options){.colliders = RBLI_COLLIDERS_NONE, .extras = true},
                 writer, &report));
    assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
    assert_int_equal(report.left_out_images, 0);
    assert_ok(ctx, read_asset(ctx, path, &second));
    check_material(second, 2);
    const float *uv = rbli_collection_read(second, "corner", "uv1", RBL_FLOAT_2);
    assert_non_null(uv);
    assert_ok(ctx, rbli_rbl_encode(ctx, second, &bytes, &count));
    assert_ok(ctx, rbli_rbl_decode(ctx, "b.rbl", bytes, count, &third));
    check_material(third, 2);
    assert_true(rbli_hash_equal(rbli_collection_hash(second), rbli_collection_hash(third)));
    /* Merged with itself and a plain one, images are there once. */
    rbl_collection *merged = NULL;
    const rbl_collection *list[3] = {second, third, first};
    assert_ok(ctx, rbli_merge_collections(ctx, list, 3, "all", &merged));
    check_material(merged, 2);
    assert_int_equal(rbli_collection_size(merged, "material"), 1);
    assert_ok(ctx, rbli_materials_check(ctx, merged));
    rbli_collection_release(merged);
    rbli_collection_release(first);
    rbli_collection_release(second);
    rbli_collection_release(third);
    rbli_free(ctx, bytes);
    finish_context(ctx);
}

static void same_names_with_other_images_stay_apart(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *a = NULL, *b = NULL, *merged = NULL;
    static const char text[] = HEAD "\"materials\":[{\"name\":\"brick\",\"pbrMetallicRoughness\":{"
                                    "\"baseColorTexture\":{\"index\":0}}}],\"textures\":[{\"source\":0}],"
                                    "\"images\":[{\"uri\":\"%s\"}]}";
    char json[4000];
    put_file("a.png", png, sizeof png);
    put_file("b.jpg", jpeg, sizeof jpeg);
    snprintf(json, sizeof json, text, "a.png");
    assert_ok(ctx, read_asset(ctx, put_file("a.gltf", json, strlen(json)), &a));
    snprintf(json, sizeof json, text, "b.jpg");
    assert_ok(ctx, read_asset(ctx, put_file("a.gltf", json, strlen(json)), &b));
    const rbl_collection *list[3] = {a, b, a};
    assert_ok(ctx, rbli_merge_collections(ctx, list, 3, NULL, &merged));
    assert_int_equal(rbli_collection_size(merged, "material"), 2);
    assert_int_equal(rbli_collection_size(merged, "image"), 2);
    assert_string_equal(rbli_collection_string(merged, "material", "name", 1), "brick_2");
    for (size_t m = 0; m < 2; m++) {
        rbli_texture texture = rbli_texture_get(merged, (size_t)rbli_material_get(merged, m).textures[0]);
        rbli_image_view image = rbli_image_get(merged, (size_t)texture.image);
        assert_memory_equal(image.bytes, m ? jpeg : png, m ? sizeof jpeg : sizeof png);
    }
    const int32_t *material = rbli_collection_read(merged, "face", "material", RBL_INT32);
    for (int f = 0; f < 6; f++)
        assert_int_equal(material[f], f / 2 == 1);
    rbli_collection_release(merged);
    rbli_collection_release(a);
    rbli_collection_release(b);
    finish_context(ctx);
}

static void images_elsewhere_or_missing_are_warnings(void **state)
{
    (void)state;
    static const char *const uris[] = {"absent.png", "../a.png", "/etc/hostname", "x/../../a.png", "C:a.png",
        "%2e%2e/a.png", "a.gltf", "data:image/png;base64,***", "http://example.com/a.png"};
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        rbl_context *ctx = make_context(1);
        char json[4000];
        rbli_mesh_file file;
        snprintf(json, sizeof json,
            HEAD "\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}}}],"
                 "\"textures\":[{\"source\":0}],\"images\":[{\"uri\":\"%s\"}]}",
            uris[i]);
        assert_ok(ctx, rbli_mesh_file_read(ctx, put_file("a.gltf", json, strlen(json)), &file));
        assert_int_equal(file.triangle_count, 2);
        assert_int_equal(file.image_count, 0);
        assert_int_equal(file.materials[0].look.textures[0], -1);
        assert_int_equal(file.message_count, 1);
        assert_int_equal(file.messages[0].severity, RBLI_WARNING);
        rbli_mesh_file_free(ctx, &file);
        finish_context(ctx);
    }
}

static const char obj_text[] =
    "mtllib m.mtl\nusemtl skin\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
    "f 1/1 2/2 3/3\n";
static const char mtl_text[] = "newmtl skin\nKd 1 1 1\nKs 1 1 1\nNs 30\nKe 0 0.5 0\nPm 0.5\n"
                               "map_Kd -s 2 4 1 -o 0.25 0.5 -clamp on a.png\nmap_Bump -bm 0.5 a.png\n";

static void check_skin(const rbl_collection *c)
{
    rbli_material look = rbli_material_get(c, 0);
    assert_close(look.roughness, 0.5, 1e-7); /* (2 / 32)^(1/4) */
    assert_true(look.metallic == 0.5f && look.emissive[1] == 0.5f && look.normal_scale == 0.5f);
    rbli_texture base = rbli_texture_get(c, (size_t)look.textures[RBLI_TEXTURE_BASE_COLOR]);
    assert_true(base.scale[0] == 2 && base.scale[1] == 4 && base.offset[0] == 0.25f);
    assert_true(base.offset[1] == 1 - 4 - 0.5f && base.wrap[0] == RBLI_WRAP_CLAMP);
    assert_int_equal(rbli_collection_size(c, "image"), 1);
    rbli_image_view image = rbli_image_get(c, (size_t)base.image);
    assert_int_equal(image.byte_count, sizeof png);
    assert_memory_equal(image.bytes, png, sizeof png);
    assert_true(look.textures[RBLI_TEXTURE_NORMAL] >= 0);
}

static void libraries_are_read_and_written(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *first = NULL, *second = NULL;
    rbli_file_writer *writer = NULL;
    rbl_status status;
    char path[200];
    put_file("a.png", png, sizeof png);
    put_file("m.mtl", mtl_text, strlen(mtl_text));
    assert_ok(ctx, read_asset(ctx, put_file("a.obj", obj_text, strlen(obj_text)), &first));
    check_skin(first);
    char *name = rbli_image_file_name(ctx, first, "out", 0, &status);
    assert_string_equal(name, "out_image_0.png");
    put_file(name, png, sizeof png);
    rbli_free(ctx, name);
    snprintf(path, sizeof path, "%s/m.mtl", folder);
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    assert_ok(ctx, rbli_write_mtl(ctx, first, "out", writer));
    assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
    assert_ok(ctx, read_asset(ctx, put_file("a.obj", obj_text, strlen(obj_text)), &second));
    check_skin(second);
    rbli_collection_release(first);
    rbli_collection_release(second);
    finish_context(ctx);
}

/* Reads, merges and writes; for failing allocations. */
static rbl_status whole_way(rbl_context *ctx, void *user)
{
    rbl_status status = RBL_OK;
    rbl_collection *first = NULL, *second = NULL, *merged = NULL;
    rbli_file_writer *writer = NULL;
    bool *used = NULL;
    char path[200];
    (void)user;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i ? "a.obj" : "a.gltf");
        RBL_TRY(read_asset(ctx, path, i ? &second : &first));
    }
    const rbl_collection *list[2] = {first, second};
    RBL_TRY(rbli_merge_collections(ctx, list, 2, NULL, &merged));
    snprintf(path, sizeof path, "%s/out", folder);
    for (int i = 0; i < 2; i++) {
        RBL_TRY(rbli_file_writer_open(ctx, path, &writer));
        status = i ? rbli_write_mtl(ctx, merged, "out", writer)
                   : rbli_write_glb(ctx, merged,
                         &(rbli_glb_options){.colliders = RBLI_COLLIDERS_NONE, .extras = true}, writer, NULL);
        rbli_file_writer_discard(writer);
        writer = NULL;
        if (status != RBL_OK) goto done;
    }
    RBL_TRY_ALLOC(used = rbli_mtl_images(ctx, merged));
done:
    rbli_free(ctx, used);
    rbli_collection_release(first);
    rbli_collection_release(second);
    rbli_collection_release(merged);
    return status;
}

static void each_failed_allocation_is_survived(void **state)
{
    (void)state;
    put_file("a.png", png, sizeof png);
    put_file("far off.jpg", jpeg, sizeof jpeg);
    put_file("m.mtl", mtl_text, strlen(mtl_text));
    put_file("a.obj", obj_text, strlen(obj_text));
    put_file("a.gltf", full, strlen(full));
    fail_each_allocation(whole_way, NULL, 400);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {
        "x", "far off.jpg", "a.gltf", "b.glb", "a.png", "b.jpg", "a.obj", "m.mtl", "out_image_0.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slot_comes_back_from_glb_and_rbl),
        cmocka_unit_test(same_names_with_other_images_stay_apart),
        cmocka_unit_test(images_elsewhere_or_missing_are_warnings),
        cmocka_unit_test(libraries_are_read_and_written),
        cmocka_unit_test(each_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("io/textures", tests, make_folder, remove_folder);
}
