#include "tests/io/make_asset.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <unistd.h>

#include "fracture/io/mesh_file.h"
#include "fracture/io/write.h"

static char folder[] = "/tmp/rubble_write_XXXXXX";

typedef enum written { OBJ, MTL, JSON, GLB } written;

/// Writes one file and gives its path, valid until the next call.
static const char *write_file(
    rbl_context *ctx, const rbl_collection *asset, written what, rbli_glb_report *report)
{
    static char path[200];
    static const char *const endings[] = {"obj", "mtl", "json", "glb"};
    snprintf(path, sizeof path, "%s/pieces.%s", folder, endings[what]);
    rbli_file_writer *writer = NULL;
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    switch (what) {
    case OBJ:
        assert_ok(ctx, rbli_write_obj(ctx, asset, "pieces.mtl", RBLI_COLLIDERS_NONE, writer));
        break;
    case MTL:
        assert_ok(ctx, rbli_write_mtl(ctx, asset, NULL, writer));
        break;
    case JSON:
        assert_ok(ctx, rbli_write_json(ctx, asset, writer));
        break;
    case GLB:
        assert_ok(
            ctx, rbli_write_glb(ctx, asset,
                     &(rbli_glb_options){.colliders = RBLI_COLLIDERS_NONE, .extras = true}, writer, report));
        break;
    }
    rbli_hash hash;
    size_t bytes;
    assert_ok(ctx, rbli_file_writer_finish(writer, &hash, &bytes));
    assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
    return path;
}

/// Signed volume of the triangles of a node.
static double volume_of(const rbli_mesh_file *file, int32_t node)
{
    double sum = 0;
    const double *o = NULL;
    for (size_t t = 0; t < file->triangle_count; t++) {
        if (file->triangle_nodes[t] != node) continue;
        if (!o) o = file->positions[file->triangles[t][0]];
        double p[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p[i][k] = file->positions[file->triangles[t][i]][k] - o[k];
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
               p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6;
}

/// Every corner's normal agrees with its triangle.
static void check_normals(const rbli_mesh_file *file)
{
    assert_non_null(file->normals);
    for (size_t t = 0; t < file->triangle_count; t++) {
        const double *a = file->positions[file->triangles[t][0]], *b = file->positions[file->triangles[t][1]];
        const double *c = file->positions[file->triangles[t][2]];
        double u[3], v[3];
        for (int k = 0; k < 3; k++)
            u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int i = 0; i < 3; i++) {
            const float *own = file->normals[3 * t + (size_t)i];
            assert_close(
                (n[0] * (double)own[0] + n[1] * (double)own[1] + n[2] * (double)own[2]) / length, 1, 1e-6);
        }
    }
}

static void obj_reads_back(void **state)
{
    (void)state;
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        rbl_context *ctx = make_context(1);
        rbl_collection *asset =
            make_asset(ctx, (asset_options){.origin = {1e6 + 0.1, 1.0 / 3, -1e-7}, .with_uvs = true});
        if (mirrored) mirror_first_piece(ctx, asset);
        write_file(ctx, asset, MTL, NULL);
        rbli_mesh_file file;
        assert_ok(ctx, rbli_mesh_file_read(ctx, write_file(ctx, asset, OBJ, NULL), &file));
        assert_int_equal(file.triangle_count, 25);
        assert_int_equal(file.position_count, 19);
        assert_int_equal(file.node_count, 3);
        assert_string_equal(file.nodes[0].name, "wall_0");
        assert_string_equal(file.nodes[1].name, "wall \"1\"");
        assert_string_equal(file.nodes[2].name, "wall_0_sheet");
        assert_close(volume_of(&file, 0), mirrored ? 8 : 1, 1e-8);
        assert_close(volume_of(&file, 1), 1, 1e-8);
        check_normals(&file);
        const double(*positions)[3] = rbli_collection_read(asset, "vertex", "position", RBL_VEC3);
        assert_memory_equal(positions + 8, file.positions + 8, 8 * sizeof *positions);
        if (!mirrored) assert_memory_equal(positions, file.positions, 19 * sizeof *positions);
        assert_int_equal(file.uv_set_count, 1);
        assert_true(file.uvs[0][37][0] == 0.5f && file.uvs[0][37][1] == 0.25f);
        assert_int_equal(file.material_count, 2);
        assert_string_equal(file.materials[0].name, "brick");
        assert_string_equal(file.materials[0].texture, "brick.png");
        assert_string_equal(file.materials[1].texture, "");
        assert_true(file.materials[0].base_color[2] == 0.1f && file.materials[1].base_color[3] == 0.5f);
        assert_int_equal(file.triangle_materials[11], 1);
        assert_int_equal(file.triangle_materials[12], 0);
        rbli_mesh_file_free(ctx, &file);
        rbli_collection_release(asset);
        finish_context(ctx);
    }
}

static void glb_reads_back(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        rbl_context *ctx = make_context(1);
        asset_options options = {.origin = {i & 4 ? 1e6 : 0.25, 2, 3}, .with_uvs = true};
        options.with_tangents = options.with_colors = (i & 2) != 0;
        rbl_collection *asset = make_asset(ctx, options);
        if (i & 1) mirror_first_piece(ctx, asset);
        rbli_glb_report report;
        rbli_mesh_file file;
        assert_ok(ctx, rbli_mesh_file_read(ctx, write_file(ctx, asset, GLB, &report), &file));
        assert_int_equal(report.triangles, 25);
        assert_int_equal(report.collapsed_triangles, 0);
        assert_int_equal(file.triangle_count, 25);
        assert_int_equal(file.node_count, 4);
        static const char *const names[] = {"wall", "wall_0", "wall \"1\"", "wall_0_sheet"};
        static const int32_t parents[] = {-1, 0, 0, 1};
        for (int n = 0; n < 4; n++) {
            assert_string_equal(file.nodes[n].name, names[n]);
            assert_int_equal(file.nodes[n].parent, parents[n]);
        }
        assert_close(volume_of(&file, 1), i & 1 ? 8 : 1, 1e-12);
        assert_close(volume_of(&file, 2), 1, 0); /* exact also far from the origin */
        check_normals(&file);
        assert_int_equal(file.material_count, 2);
        assert_string_equal(file.materials[0].name, "brick");
        assert_true(file.materials[0].base_color[2] == 0.1f && file.materials[1].base_color[3] == 0.5f);
        assert_true((file.tangents != NULL) == options.with_tangents);
        assert_true((file.colors != NULL) == options.with_colors);
        for (size_t t = 0; t < 25; t++) {
            for (int k = 0; k < 3; k++)
                assert_true(file.uvs[0][3 * t + (size_t)k][1] == 0.25f);
            for (int k = 0; k < 4 && options.with_colors; k++)
                assert_true(file.colors[3 * t][k] == (float)k / 4);
            assert_int_equal(file.triangle_materials[t], t % 12 >= 6 && t < 24);
        }
        if (!(i & 1)) {
            const double *p = file.positions[file.triangles[12][0]];
            assert_true(p[0] == options.origin[0] + 1 && p[1] == 2 && p[2] == 3);
        }
        rbli_mesh_file_free(ctx, &file);
        rbli_collection_release(asset);
        finish_context(ctx);
    }
}

static void glb_leaves_out_what_collapses_in_float(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){.origin = {0}});
    double(*positions)[3] = asset_write(ctx, asset, "vertex", "position", RBL_VEC3);
    for (int k = 0; k < 3; k++)
        positions[1][k] = positions[0][k] + 1e-12; /* next to a corner of the first cube */
    rbli_glb_report report;
    rbli_mesh_file file;
    assert_ok(ctx, rbli_mesh_file_read(ctx, write_file(ctx, asset, GLB, &report), &file));
    assert_int_equal(report.collapsed_triangles, 2);
    assert_int_equal(report.triangles, 23);
    assert_int_equal(file.triangle_count, 23);
    rbli_mesh_file_free(ctx, &file);
    rbli_collection_release(asset);
    finish_context(ctx);
}

/// A piece of `side` × `side` squares, without corner attributes.
static rbl_collection *make_grid(rbl_context *ctx, int32_t side)
{
    rbl_collection *asset = NULL;
    int32_t first, vertex_count = (side + 1) * (side + 1), face_count = 2 * side * side;
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &asset));
    assert_ok(ctx, rbli_hierarchy_add_bones(
                       ctx, asset, 1, (int32_t[]){-1}, (const char *[]){"grid"}, RBLI_BONE_RIGID, &first));
    assert_ok(ctx, rbli_collection_resize(ctx, asset, "geometry", 1));
    assert_ok(ctx, rbli_collection_resize(ctx, asset, "vertex", (size_t)vertex_count));
    assert_ok(ctx, rbli_collection_resize(ctx, asset, "face", (size_t)face_count));
    assert_ok(ctx, rbli_collection_resize(ctx, asset, "corner", 3 * (size_t)face_count));
    *(int32_t *)asset_write(ctx, asset, "bone", "geometry", RBL_INT32) = 0;
    *(int32_t *)asset_write(ctx, asset, "geometry", "vertex_count", RBL_INT32) = vertex_count;
    *(int32_t *)asset_write(ctx, asset, "geometry", "face_count", RBL_INT32) = face_count;
    double(*positions)[3] = asset_write(ctx, asset, "vertex", "position", RBL_VEC3);
    int32_t(*faces)[3] = asset_write(ctx, asset, "face", "vertices", RBL_INT32_3);
    int32_t *materials = asset_write(ctx, asset, "face", "material", RBL_INT32);
    for (int32_t v = 0; v < vertex_count; v++) {
        positions[v][0] = v % (side + 1);
        positions[v][1] = v / (side + 1);
    }
    for (int32_t f = 0; f < face_count; f++) {
        int32_t v = f / 2 / side * (side + 1) + f / 2 % side;
        memcpy(faces[f],
            f % 2 ? (int32_t[]){v, v + side + 2, v + side + 1} : (int32_t[]){v, v + 1, v + side + 2},
            sizeof faces[f]);
        materials[f] = -1;
    }
    return asset;
}

static void glb_uses_long_indices_where_needed(void **state)
{
    (void)state;
    static const int32_t sides[] = {254, 255, 256}; /* 65,025, 65,536 and 66,049 vertices */
    for (int i = 0; i < 3; i++) {
        rbl_context *ctx = make_context(1);
        rbl_collection *asset = make_grid(ctx, sides[i]);
        rbli_mesh_file file;
        assert_ok(ctx, rbli_mesh_file_read(ctx, write_file(ctx, asset, GLB, NULL), &file));
        size_t vertices = (size_t)((sides[i] + 1) * (sides[i] + 1));
        assert_int_equal(file.position_count, vertices);
        assert_int_equal(file.triangle_count, 2 * sides[i] * sides[i]);
        check_normals(&file); /* made by the writer, there were none */
        rbli_mesh_file_free(ctx, &file);
        assert_ok(ctx, rbli_mesh_file_read(ctx, write_file(ctx, asset, OBJ, NULL), &file));
        assert_int_equal(file.position_count, vertices);
        rbli_mesh_file_free(ctx, &file);
        rbli_collection_release(asset);
        finish_context(ctx);
    }
}

static void an_empty_collection_is_a_valid_file(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = NULL;
    rbli_mesh_file file;
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &asset));
    for (int what = OBJ; what <= GLB; what++) {
        const char *path = write_file(ctx, asset, (written)what, NULL);
        if (what == OBJ || what == GLB)
            assert_int_equal(rbli_mesh_file_read(ctx, path, &file), RBL_ERR_PARSE);
    }
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 1)->text, "pieces.glb: no triangles"));
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void json_says_what_pieces_are(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){.origin = {5, 0, 0}});
    assert_ok(ctx, rbli_collection_resize(ctx, asset, "proximity", 2));
    int32_t(*pairs)[2] = asset_write(ctx, asset, "proximity", "geometries", RBL_INT32_2);
    double *areas = asset_write(ctx, asset, "proximity", "area", RBL_DOUBLE);
    memcpy(pairs, (const int32_t[2][2]){{0, 1}, {1, 2}}, 2 * sizeof *pairs);
    areas[0] = 1.0 / 3;
    areas[1] = -1;
    assert_ok(ctx, rbli_collection_resize(ctx, asset, "convex", 1));
    int32_t *owner = asset_write(ctx, asset, "convex", "bone", RBL_INT32);
    owner[0] = 2;
    *(double *)asset_write(ctx, asset, "convex", "volume", RBL_DOUBLE) = 1.5;
    rbli_buffer *points = NULL;
    double values[4][3] = {{0}};
    assert_ok(ctx, rbli_buffer_create_list(ctx, RBL_VEC3, 1, (uint64_t[]){0, 4}, values, &points));
    assert_ok(ctx, rbli_collection_set(ctx, asset, "convex", "points", points));
    rbli_buffer_release(points);
    uint8_t *bytes;
    size_t count;
    assert_ok(ctx, rbli_file_read(ctx, write_file(ctx, asset, JSON, NULL), 0, &bytes, &count));
    cJSON *doc = cJSON_ParseWithLength((const char *)bytes, count);
    assert_non_null(doc);
    cJSON *bones = cJSON_GetObjectItemCaseSensitive(doc, "bones");
    assert_int_equal(cJSON_GetArraySize(bones), 4);
    cJSON *wall = cJSON_GetArrayItem(bones, 0), *piece = cJSON_GetArrayItem(bones, 2);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(wall, "parent")));
    assert_close(cJSON_GetObjectItemCaseSensitive(wall, "volume")->valuedouble, 2, 0);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(wall, "triangles")->valueint, 0);
    cJSON *high = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(wall, "bounds"), 1);
    assert_close(cJSON_GetArrayItem(high, 0)->valuedouble, 7, 0);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(piece, "name")->valuestring, "wall \"1\"");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(piece, "parent")->valuestring, "wall");
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(piece, "site")->valueint, 7);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(piece, "level")->valueint, 1);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(piece, "triangles")->valueint, 12);
    cJSON *hull = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(piece, "hulls"), 0);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(hull, "vertices")->valueint, 4);
    assert_close(cJSON_GetObjectItemCaseSensitive(hull, "volume")->valuedouble, 1.5, 0);
    cJSON *proximity = cJSON_GetObjectItemCaseSensitive(doc, "proximity");
    cJSON *contact = cJSON_GetArrayItem(proximity, 0);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(contact, "a")->valuestring, "wall_0");
    assert_close(cJSON_GetObjectItemCaseSensitive(contact, "area")->valuedouble, 1.0 / 3, 0);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(proximity, 1), "area")));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(doc, "connections")), 0);
    cJSON_Delete(doc);
    rbli_free(ctx, bytes);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void bad_indices_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_asset(ctx, (asset_options){.origin = {0}});
    int32_t(*faces)[3] = asset_write(ctx, asset, "face", "vertices", RBL_INT32_3);
    faces[3][1] = 8; /* of the other piece */
    rbli_file_writer *writer = NULL;
    char path[200];
    snprintf(path, sizeof path, "%s/bad.obj", folder);
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    assert_int_equal(rbli_write_obj(ctx, asset, NULL, RBLI_COLLIDERS_NONE, writer), RBL_ERR_COLLECTION);
    assert_string_equal(
        rbli_messages_get(ctx->messages, 0)->text, "face.vertices 3: not a vertex of geometry 0");
    rbli_file_writer_discard(writer);
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
    static const char *const names[] = {"pieces.obj", "pieces.mtl", "pieces.json", "pieces.glb"};
    if (getenv("RUBBLE_KEEP_FILES")) return 0;
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
        cmocka_unit_test(obj_reads_back),
        cmocka_unit_test(glb_reads_back),
        cmocka_unit_test(glb_leaves_out_what_collapses_in_float),
        cmocka_unit_test(glb_uses_long_indices_where_needed),
        cmocka_unit_test(an_empty_collection_is_a_valid_file),
        cmocka_unit_test(json_says_what_pieces_are),
        cmocka_unit_test(bad_indices_are_refused),
    };
    return cmocka_run_group_tests_name("io/write", tests, make_folder, remove_folder);
}
