/* What a .glb holds beyond its triangles: shared meshes, lengths of normals, extras, compression. */

#include "tests/failing_alloc.h"
#include "tests/io/make_asset.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <unistd.h>

#include "fracture/io/mesh_file.h"
#include "fracture/io/write.h"

static char folder[] = "/tmp/rubble_glb_XXXXXX";

typedef struct glb {
    cJSON *json;
    uint8_t *file;
    const uint8_t *binary;
    rbli_glb_report report;
} glb;

static rbl_status try_write(rbl_context *ctx, const rbl_collection *asset, const rbli_glb_options *options,
    rbli_glb_report *report, char path[200])
{
    rbli_file_writer *writer = NULL;
    snprintf(path, 200, "%s/pieces.glb", folder);
    rbl_status status = rbli_file_writer_open(ctx, path, &writer);
    if (status == RBL_OK) status = rbli_write_glb(ctx, asset, options, writer, report);
    if (status == RBL_OK) return rbli_file_writer_commit(ctx, writer);
    rbli_file_writer_discard(writer);
    return status;
}

static glb write_glb(rbl_context *ctx, const rbl_collection *asset, const rbli_glb_options *options)
{
    glb out = {0};
    char path[200];
    size_t size;
    uint32_t length;
    assert_ok(ctx, try_write(ctx, asset, options, &out.report, path));
    assert_ok(ctx, rbli_file_read(ctx, path, 0, &out.file, &size));
    memcpy(&length, out.file + 12, sizeof length);
    out.json = cJSON_ParseWithLength((const char *)out.file + 20, length);
    assert_non_null(out.json);
    out.binary = out.file + 28 + length;
    return out;
}

static void free_glb(rbl_context *ctx, glb *file)
{
    cJSON_Delete(file->json);
    rbli_free(ctx, file->file);
}

static cJSON *key(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static cJSON *item(const cJSON *object, const char *list, int index)
{
    return cJSON_GetArrayItem(key(object, list), index);
}

static int number(const cJSON *object, const char *name)
{
    const cJSON *found = key(object, name);
    return found ? found->valueint : -1;
}

/* Bytes of an accessor's first element. */
static const uint8_t *data_of(const glb *file, int accessor)
{
    const cJSON *a = item(file->json, "accessors", accessor);
    const cJSON *view = item(file->json, "bufferViews", number(a, "bufferView"));
    int own = number(a, "byteOffset");
    return file->binary + number(view, "byteOffset") + (own > 0 ? own : 0);
}

static const rbli_glb_options plain = {.extras = true};

static void equal_pieces_share_a_mesh(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    for (int compression = 0; compression < 2; compression++) {
        const rbli_glb_options options = {.compression = compression ? RBLI_GLB_QUANTIZE : RBLI_GLB_PLAIN};
        rbl_collection *asset = make_asset(ctx, (asset_options){{1, 2, 3}, true, true, true});
        /* tangents that are missing are filled in: make both cubes alike */
        float(*tangents)[4] = asset_write(ctx, asset, "corner", "tangent", RBL_FLOAT_4);
        memcpy(tangents, tangents + 36, 36 * sizeof *tangents);
        glb file = write_glb(ctx, asset, &options);
        assert_int_equal(file.report.shared_meshes, 1);
        assert_int_equal(file.report.triangles, 25);
        assert_int_equal(cJSON_GetArraySize(key(file.json, "meshes")), 2);
        assert_int_equal(cJSON_GetArraySize(key(item(file.json, "meshes", 0), "primitives")), 2);
        if (!compression) {
            assert_int_equal(number(item(file.json, "nodes", 1), "mesh"), 0);
            assert_int_equal(number(item(file.json, "nodes", 2), "mesh"), 0);
            assert_int_equal(number(item(file.json, "nodes", 3), "mesh"), 1);
        }
        char path[200];
        rbli_mesh_file mesh;
        snprintf(path, sizeof path, "%s/pieces.glb", folder);
        assert_ok(ctx, rbli_mesh_file_read(ctx, path, &mesh));
        assert_int_equal(mesh.triangle_count, 25);
        rbli_mesh_file_free(ctx, &mesh);
        free_glb(ctx, &file);
        float(*uvs)[2] = asset_write(ctx, asset, "corner", "uv0", RBL_FLOAT_2);
        uvs[50][0] += 0.25f; /* one corner of the second */
        file = write_glb(ctx, asset, &options);
        assert_int_equal(file.report.shared_meshes, 0);
        assert_int_equal(cJSON_GetArraySize(key(file.json, "meshes")), 3);
        free_glb(ctx, &file);
        rbli_collection_release(asset);
    }
    finish_context(ctx);
}

/* A normal that a cut interpolated comes back as it was. */
static void short_normals_keep_their_lengths(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){{0, 0, 0}, true, false, false});
    float(*normals)[3] = asset_write(ctx, asset, "corner", "normal", RBL_FLOAT_3);
    const float shortened[3] = {0.1f, -0.55f, -0.3f};
    memcpy(normals[4], shortened, sizeof shortened);
    glb file = write_glb(ctx, asset, &plain);
    int with = 0, without = 0;
    for (int m = 0; m < cJSON_GetArraySize(key(file.json, "meshes")); m++)
        for (int p = 0; p < cJSON_GetArraySize(key(item(file.json, "meshes", m), "primitives")); p++) {
            const cJSON *attributes = key(item(item(file.json, "meshes", m), "primitives", p), "attributes");
            *(key(attributes, "_NORMAL_LENGTH") ? &with : &without) += 1;
            const cJSON *a = item(file.json, "accessors", number(attributes, "NORMAL"));
            for (int i = 0; i < number(a, "count"); i++) {
                float n[3];
                memcpy(n, data_of(&file, number(attributes, "NORMAL")) + 12 * i, sizeof n);
                assert_close(
                    (double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] + (double)n[2] * (double)n[2],
                    1, 3e-6);
            }
        }
    assert_int_equal(with, 1);
    assert_int_equal(without, 4);
    char path[200];
    rbli_mesh_file mesh;
    snprintf(path, sizeof path, "%s/pieces.glb", folder);
    assert_ok(ctx, rbli_mesh_file_read(ctx, path, &mesh));
    int found = 0;
    for (size_t c = 0; c < 3 * mesh.triangle_count; c++) {
        double off = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            off = fmax(off, fabs((double)mesh.normals[c][k] - (double)shortened[k]));
            square += (double)mesh.normals[c][k] * (double)mesh.normals[c][k];
        }
        found += off < 1e-7;
        assert_true(off < 1e-7 || fabs(square - 1) < 1e-6);
    }
    assert_int_equal(found, 1);
    rbli_mesh_file_free(ctx, &mesh);
    free_glb(ctx, &file);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void nodes_say_what_their_bones_are(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){.origin = {0}});
    mirror_first_piece(ctx, asset); /* eight times its volume */
    join_pieces(ctx, asset);
    double *thresholds = asset_write(ctx, asset, "bone", "damage_threshold", RBL_DOUBLE);
    double *masses = asset_write(ctx, asset, "bone", "mass", RBL_DOUBLE);
    bool *anchored = asset_write(ctx, asset, "bone", "anchored", RBL_BOOL);
    for (int b = 0; b < 4; b++)
        thresholds[b] = 100 + b, masses[b] = 0.1 * (b + 1);
    anchored[2] = true;
    for (int proximity = 0; proximity < 2; proximity++) {
        if (proximity) {
            assert_ok(ctx, rbli_collection_resize(ctx, asset, "proximity", 2));
            int32_t(*pairs)[2] = asset_write(ctx, asset, "proximity", "geometries", RBL_INT32_2);
            double *areas = asset_write(ctx, asset, "proximity", "area", RBL_DOUBLE);
            memcpy(pairs, (const int32_t[2][2]){{0, 1}, {1, 2}}, 2 * sizeof *pairs);
            areas[0] = 0.25;
            areas[1] = -1;
        }
        glb file = write_glb(ctx, asset, &plain);
        const cJSON *wall = key(key(item(file.json, "nodes", 0), "extras"), "rubble"),
                    *first = key(key(item(file.json, "nodes", 1), "extras"), "rubble"),
                    *second = key(key(item(file.json, "nodes", 2), "extras"), "rubble"),
                    *sheet = key(key(item(file.json, "nodes", 3), "extras"), "rubble");
        assert_close(key(wall, "volume")->valuedouble, 9, 1e-12);
        assert_close(key(first, "volume")->valuedouble, 8, 1e-12);
        assert_close(key(second, "volume")->valuedouble, 1, 0);
        assert_close(key(sheet, "volume")->valuedouble, 0, 0);
        assert_int_equal(number(wall, "level"), 0);
        assert_int_equal(number(second, "level"), 1);
        assert_int_equal(number(sheet, "level"), 2);
        assert_true(cJSON_IsTrue(key(second, "anchored")) && !key(first, "anchored"));
        assert_close(key(second, "threshold")->valuedouble, 102, 0);
        assert_close(key(second, "mass")->valuedouble, 0.3, 1e-15);
        assert_null(key(wall, "contacts"));
        assert_int_equal(cJSON_GetArraySize(key(second, "contacts")), proximity ? 2 : 1);
        const cJSON *contact = item(second, "contacts", 0);
        assert_int_equal(cJSON_GetArrayItem(contact, 0)->valueint, 1);
        assert_close(cJSON_GetArrayItem(contact, 1)->valuedouble, proximity ? 0.25 : 1, 0);
        assert_int_equal(cJSON_GetArraySize(key(first, "contacts")), 1);
        assert_true(cJSON_IsTrue(key(sheet, "sheet")) && !key(second, "sheet"));
        if (proximity) assert_int_equal(cJSON_GetArrayItem(item(sheet, "contacts", 0), 1)->valueint, -1);
        free_glb(ctx, &file);
    }
    glb file = write_glb(ctx, asset, &(rbli_glb_options){0});
    assert_null(key(item(file.json, "nodes", 1), "extras"));
    free_glb(ctx, &file);
    int32_t(*bones)[2] = asset_write(ctx, asset, "connection", "bones", RBL_INT32_2);
    bones[0][1] = 4;
    char path[200];
    assert_int_equal(try_write(ctx, asset, &plain, NULL, path), RBL_ERR_COLLECTION);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void quantized_pieces_stay_together(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){{0.123456, -77.7, 1e3}, true, true, true});
    glb file = write_glb(ctx, asset, &(rbli_glb_options){.compression = RBLI_GLB_QUANTIZE});
    assert_string_equal(item(file.json, "extensionsRequired", 0)->valuestring, "KHR_mesh_quantization");
    const cJSON *node = item(file.json, "nodes", 4);
    assert_string_equal(key(node, "name")->valuestring, "wall_0_mesh");
    double step = item(node, "scale", 0)->valuedouble;
    int exponent;
    assert_true(frexp(step, &exponent) == 0.5 && step >= 0.5 / 32767 && step <= 0.5 / 16000);
    const cJSON *attributes = key(item(item(file.json, "meshes", 0), "primitives", 0), "attributes");
    static const struct {
        const char *name;
        int component;
        bool normalized;
    } forms[] = {{"POSITION", 5122, false}, {"NORMAL", 5120, true}, {"TANGENT", 5120, true},
        {"COLOR_0", 5121, true}, {"TEXCOORD_0", 5123, true}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const cJSON *a = item(file.json, "accessors", number(attributes, forms[i].name));
        assert_int_equal(number(a, "componentType"), forms[i].component);
        assert_int_equal(cJSON_IsTrue(key(a, "normalized")), forms[i].normalized);
    }
    char path[200];
    rbli_mesh_file mesh;
    snprintf(path, sizeof path, "%s/pieces.glb", folder);
    assert_ok(ctx, rbli_mesh_file_read(ctx, path, &mesh));
    assert_int_equal(mesh.triangle_count, 25);
    const double(*positions)[3] = rbli_collection_read(asset, "vertex", "position", RBL_VEC3);
    const int32_t(*faces)[3] = rbli_collection_read(asset, "face", "vertices", RBL_INT32_3);
    for (size_t v = 0; v < mesh.position_count;
         v++) { /* each is a corner, moved to the grid that all share */
        double best = INFINITY;
        for (int i = 0; i < 19; i++) {
            double off = 0;
            for (int k = 0; k < 3; k++)
                off = fmax(off, fabs(mesh.positions[v][k] - positions[i][k]));
            best = fmin(best, off);
        }
        assert_true(best <= 0.5 * step);
        for (int k = 0; k < 3; k++)
            assert_true(mesh.positions[v][k] / step == floor(mesh.positions[v][k] / step));
    }
    (void)faces;
    rbli_mesh_file_free(ctx, &mesh);
    free_glb(ctx, &file);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static int compare_rows(const void *a, const void *b)
{
    return memcmp(a, b, 9 * sizeof(double));
}

/* Sorted triangles of a file, each beginning with its least corner. */
static double (*triangles_of(const rbli_mesh_file *file))[9]
{
    double(*rows)[9] = malloc(file->triangle_count * sizeof *rows);
    assert_non_null(rows);
    for (size_t t = 0; t < file->triangle_count; t++) {
        size_t least = 0;
        for (size_t k = 1; k < 3; k++)
            if (memcmp(file->positions[file->triangles[t][k]], file->positions[file->triangles[t][least]],
                    sizeof *file->positions) < 0)
                least = k;
        for (size_t k = 0; k < 3; k++)
            memcpy(rows[t] + 3 * k, file->positions[file->triangles[t][(least + k) % 3]],
                sizeof *file->positions);
    }
    qsort(rows, file->triangle_count, sizeof *rows, compare_rows);
    return rows;
}

/* Packed and quantized files have the same triangles; a damaged one is refused. */
static void read_packed(rbl_context *ctx, const rbl_collection *asset)
{
    rbli_mesh_file files[2];
    char path[200];
    for (int i = 0; i < 2; i++) {
        const rbli_glb_options options = {.compression = i ? RBLI_GLB_MESHOPT : RBLI_GLB_QUANTIZE};
        assert_ok(ctx, try_write(ctx, asset, &options, NULL, path));
        assert_ok(ctx, rbli_mesh_file_read(ctx, path, &files[i]));
    }
    assert_int_equal(files[0].triangle_count, 25);
    assert_int_equal(files[1].triangle_count, 25);
    double(*a)[9] = triangles_of(&files[0]), (*b)[9] = triangles_of(&files[1]);
    assert_memory_equal(a, b, 25 * sizeof *a);
    free(a);
    free(b);
    assert_true(files[1].uv_set_count == 1 && files[1].normals && files[1].tangents && files[1].colors);
    rbli_mesh_file_free(ctx, &files[0]);
    rbli_mesh_file_free(ctx, &files[1]);
    uint8_t *bytes;
    size_t size, refused = 0;
    assert_ok(ctx, rbli_file_read(ctx, path, 0, &bytes, &size));
    uint32_t json;
    memcpy(&json, bytes + 12, sizeof json);
    for (size_t at = 28 + json; at < size; at++) { /* each byte of the encoded data in turn */
        bytes[at] ^= 0x5a;
        rbl_status status = rbli_mesh_file_parse_gltf(ctx, "x", bytes, size, NULL, &files[0]);
        bytes[at] ^= 0x5a;
        refused += status != RBL_OK;
        if (status == RBL_OK) rbli_mesh_file_free(ctx, &files[0]);
    }
    assert_true(refused > 5); /* headers, and indices that lead nowhere */
    rbli_free(ctx, bytes);
}

static void meshopt_is_refused_or_written(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){{1, 2, 3}, true, true, true});
    const rbli_glb_options options = {.compression = RBLI_GLB_MESHOPT, .extras = true};
    if (!rbli_glb_has_meshopt()) {
        char path[200];
        assert_int_equal(try_write(ctx, asset, &options, NULL, path), RBL_ERR_ARGUMENT);
        assert_string_equal(
            rbli_messages_get(ctx->messages, 0)->text, "this rubble was built without meshoptimizer");
    } else {
        glb file = write_glb(ctx, asset, &options);
        assert_string_equal(item(file.json, "extensionsRequired", 0)->valuestring, "EXT_meshopt_compression");
        assert_int_equal(cJSON_GetArraySize(key(file.json, "buffers")), 2);
        for (int v = 0; v < cJSON_GetArraySize(key(file.json, "bufferViews")); v++) {
            const cJSON *view = item(file.json, "bufferViews", v);
            const cJSON *packed = key(key(view, "extensions"), "EXT_meshopt_compression");
            assert_int_equal(number(view, "buffer"), 1);
            assert_int_equal(
                number(packed, "count") * number(packed, "byteStride"), number(view, "byteLength"));
            /* versions of the codecs that the extension allows */
            bool vertices = strcmp(key(packed, "mode")->valuestring, "ATTRIBUTES") == 0;
            assert_int_equal(file.binary[number(packed, "byteOffset")], vertices ? 0xa0 : 0xe1);
        }
        free_glb(ctx, &file);
        read_packed(ctx, asset);
    }
    rbli_collection_release(asset);
    finish_context(ctx);
}

static rbl_status write_all(rbl_context *ctx, void *user)
{
    rbl_status status = RBL_OK;
    char path[200];
    for (int i = 0; i < 3 && status == RBL_OK; i++) {
        const rbli_glb_options options = {.extras = true,
            .colliders = i == 1 ? RBLI_COLLIDERS_KHR : RBLI_COLLIDERS_GODOT,
            .compression = i < 2                    ? (rbli_glb_compression)i
                           : rbli_glb_has_meshopt() ? RBLI_GLB_MESHOPT
                                                    : RBLI_GLB_QUANTIZE};
        status = try_write(ctx, user, &options, NULL, path);
    }
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){{1, 2, 3}, true, true, true});
    join_pieces(ctx, asset);
    assert_true(fail_each_allocation(write_all, asset, 0) > 60);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/pieces.glb", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_pieces_share_a_mesh),
        cmocka_unit_test(short_normals_keep_their_lengths),
        cmocka_unit_test(nodes_say_what_their_bones_are),
        cmocka_unit_test(quantized_pieces_stay_together),
        cmocka_unit_test(meshopt_is_refused_or_written),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("io/write_glb", tests, make_folder, remove_folder);
}
