#include "fracture/ops/hulls.h"
#include "tests/io/make_asset.h"

#include <sys/stat.h>
#include <unistd.h>

#include "fracture/base/file.h"
#include "fracture/io/mesh_collection.h"
#include "fracture/io/mesh_file.h"
#include "fracture/io/write.h"

static char folder[] = "/tmp/rubble_mesh_XXXXXX";

static const char *put_file(const char *name, const void *bytes, size_t count)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    fwrite(bytes, 1, count, stream);
    fclose(stream);
    return path;
}

static const char obj_text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
static const char off_text[] = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
static const char stl_text[] =
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
    "endfacet\nendsolid a\n";
static const char ply_text[] =
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "
    "z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
static const char gltf_text[] =
    "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}]}";

static void the_format_follows_from_bytes_then_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } cases[] = {{"a.obj", obj_text}, {"a.OBJ", obj_text}, {"a.off", off_text}, {"a.Stl", stl_text},
        {"a.ply", ply_text}, {"ply", ply_text}, {"a.stl", ply_text}, {"off", off_text}, {"x.y.stl", stl_text},
        {"noname", stl_text}, {"a.gltf", gltf_text}, {"a.glb", gltf_text}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rbl_context *ctx = make_context(1);
        rbli_mesh_file file;
        const char *path = put_file(cases[i].name, cases[i].text, strlen(cases[i].text));
        assert_ok(ctx, rbli_mesh_file_read(ctx, path, &file));
        assert_int_equal(file.triangle_count, 1);
        rbli_mesh_file_free(ctx, &file);
        unlink(path);
        finish_context(ctx);
    }
}

static void what_cannot_be_read_is_told(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbli_mesh_file file;
    const char *path = put_file("a.blend", "BLENDER", 7);
    assert_int_equal(rbli_mesh_file_read(ctx, path, &file), RBL_ERR_READ);
    assert_non_null(strstr(rbli_messages_get(ctx->messages, 0)->text, "not a mesh file that rubble reads"));
    unlink(path);
    assert_int_equal(rbli_mesh_file_read(ctx, path, &file), RBL_ERR_READ);
    assert_int_equal(rbli_mesh_file_read(ctx, folder, &file), RBL_ERR_READ);
    finish_context(ctx);
}

/// Fails allocation number `left` from now on.
typedef struct failing {
    size_t left;
    bool failed;
} failing;

static void *reallocate_until_failure(void *user, void *pointer, size_t old_bytes, size_t new_bytes)
{
    failing *plan = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(pointer);
        return NULL;
    }
    if (plan->left == 0) {
        plan->failed = true;
        return NULL;
    }
    plan->left--;
    return realloc(pointer, new_bytes);
}

typedef rbl_status (*work_fn)(rbl_context *ctx, const void *user);

/// Runs `work` with each of its allocations failed in turn: it says that it is out of memory and leaves
/// nothing behind.
static void fail_each_allocation(work_fn work, const void *user)
{
    for (size_t n = 1;; n++) {
        failing plan = {.left = SIZE_MAX};
        rbl_context ctx = {.allocator = rbli_allocator_create(reallocate_until_failure, &plan)};
        assert_non_null(ctx.allocator);
        plan.left = n;
        rbl_status status = work(&ctx, user);
        assert_int_equal(rbli_allocator_bytes(ctx.allocator), 0);
        rbli_allocator_release(ctx.allocator);
        if (!plan.failed) {
            assert_int_equal(status, RBL_OK);
            break;
        }
        assert_int_equal(status, RBL_ERR_NO_MEMORY);
        assert_true(n < 10000);
    }
}

static rbl_status read_one(rbl_context *ctx, const void *path)
{
    rbli_mesh_file file = {0};
    rbl_status status = rbli_mesh_file_read(ctx, path, &file);
    if (status == RBL_OK) rbli_mesh_file_free(ctx, &file);
    return status;
}

static void readers_survive_each_failed_allocation(void **state)
{
    (void)state;
    static const char obj[] =
        "mtllib a.mtl\nmtllib b c.mtl\no a\nusemtl m\nv 0 0 0 1 1 1\nv 1 0 0\nv 0.2 0.2 0\nv 0 1 0\n"
        "vt 0 1\nvn 0 0 1\nf 1/1/1 2/1/1 3/1/1 4/1/1\no b\nusemtl n\nf 1 2 3\nf 1 2\n";
    char mtl[600];
    snprintf(mtl, sizeof mtl, "%s", put_file("a.mtl", "newmtl m\nKd 1 0 0\nmap_Kd a b.png\n", 32));
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"b.obj", obj}, {"a.off", off_text}, {"a.stl", stl_text}, {"a.ply", ply_text}, {"a.gltf", gltf_text}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = put_file(cases[i].name, cases[i].text, strlen(cases[i].text));
        fail_each_allocation(read_one, path);
        unlink(path);
    }
    unlink(mtl);
}

/// Reads FOLDER/in/NAME, whose content is `text`. @return the status;
static rbl_status read_in(
    rbl_context *ctx, const char *name, const char *text, bool anywhere, rbli_mesh_file *file)
{
    char path[400], inner[300];
    snprintf(inner, sizeof inner, "in/%s", name);
    snprintf(path, sizeof path, "%s", put_file(inner, text, strlen(text)));
    memset(file, 0, sizeof *file);
    rbl_status status = rbli_mesh_file_read_with(ctx, path, anywhere, file);
    unlink(path);
    return status;
}

static void files_elsewhere_are_read_only_when_that_is_allowed(void **state)
{
    (void)state;
    static const uint8_t zeros[36] = {0};
    char inner[100], library[600], buffer[600], absolute[600];
    snprintf(inner, sizeof inner, "%s/in", folder);
    assert_int_equal(mkdir(inner, 0777), 0);
    snprintf(library, sizeof library, "%s", put_file("up.mtl", "newmtl m\nKd 1 0 0\n", 18));
    snprintf(buffer, sizeof buffer, "%s", put_file("up.bin", zeros, sizeof zeros));
    static const char gltf[] =
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36,\"uri\":\"%s\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"accessors\":[{\"bufferView\":0,"
        "\"componentType\":5126,"
        "\"count\":3,\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
        "\"nodes\":[{\"mesh\":0}]}";
    const char *const names[] = {"../up", "x/../../up", folder};
    for (size_t i = 0; i < 3; i++) {
        rbl_context *ctx = make_context(1);
        rbli_mesh_file file;
        const char *slash = i == 2 ? "/up" : "";
        snprintf(absolute, sizeof absolute, "mtllib %s%s.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            names[i], slash);
        assert_ok(ctx, read_in(ctx, "a.obj", absolute, false, &file));
        assert_int_equal(file.file_count, 0);
        assert_true(file.materials[0].base_color[1] == 1);
        assert_int_equal(file.message_count, 1);
        assert_int_equal(file.messages[0].severity, RBLI_WARNING);
        assert_non_null(strstr(file.messages[0].text, "is not in the folder of the mesh or below"));
        rbli_mesh_file_free(ctx, &file);
        if (i != 1) { /* the folder x is not there */
            assert_ok(ctx, read_in(ctx, "a.obj", absolute, true, &file));
            assert_int_equal(file.file_count, 1);
            assert_true(file.materials[0].base_color[1] == 0);
            rbli_mesh_file_free(ctx, &file);
        }
        char name[200];
        snprintf(name, sizeof name, "%s%s.bin", names[i], slash);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(absolute, sizeof absolute, gltf, name);
#pragma GCC diagnostic pop
        assert_int_equal(read_in(ctx, "a.gltf", absolute, false, &file), RBL_ERR_PARSE);
        assert_non_null(
            strstr(rbli_messages_get(ctx->messages, 0)->text, "/buffers/0: its data is not in the folder"));
        rbli_messages_clear(ctx->messages);
        if (i != 1) {
            assert_ok(ctx, read_in(ctx, "a.gltf", absolute, true, &file));
            assert_int_equal(file.file_count, 1);
            rbli_mesh_file_free(ctx, &file);
        }
        finish_context(ctx);
    }
    unlink(library);
    unlink(buffer);
    rmdir(inner);
}

static void coordinates_that_cannot_be_used_are_told(void **state)
{
    (void)state;
    static const struct {
        double size, offset, scale;
        rbl_status status;
        const char *words;
    } cases[] = {
        {1, 0, 1, RBL_OK, NULL},
        {1, 1e9, 1, RBL_OK, NULL},
        {1e30, 0, 1, RBL_OK, NULL},
        {1e-30, 0, 1, RBL_OK, NULL},
        {1, 1e15, 1, RBL_OK,
            "the mesh is 1 across and 1e+15 from the origin, where coordinates are steps of 0.125"},
        {1, 1e17, 1, RBL_ERR_ARGUMENT, "all vertices are at (1e+17, 1e+17, 1e+17): so far from the origin"},
        {0, 2, 1, RBL_ERR_ARGUMENT, "all vertices are at one point (2, 2, 2)"},
        {1e150, 0, 1, RBL_ERR_ARGUMENT, "a vertex is at (1e+150, 0, 0), and coordinates beyond 1e+100"},
        {1, 0, 1e101, RBL_ERR_ARGUMENT, "with \"scale\": 1e+101, a vertex at (1, 0, 0) comes beyond 1e+100"},
        {1e300, 0, 1e300, RBL_ERR_ARGUMENT, "comes beyond 1e+100"},
        {1e-150, 0, 1, RBL_ERR_ARGUMENT, "the mesh is 1e-150 across, and less than 1e-100 is not possible"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rbl_context *ctx = make_context(1);
        double s = cases[i].size, o = cases[i].offset;
        double positions[3][3] = {{o, o, o}, {s + o, o, o}, {o, s + o, o}};
        int32_t triangles[1][3] = {{0, 1, 2}}, zero = 0;
        rbli_mesh_file_node node = {.name = "n", .parent = -1};
        rbli_mesh_file file = {.positions = positions,
            .position_count = 3,
            .triangles = triangles,
            .triangle_nodes = &zero,
            .triangle_materials = (int32_t[]){-1},
            .triangle_count = 1,
            .nodes = &node,
            .node_count = 1};
        rbli_mesh_collection_options options = {.scale = cases[i].scale};
        rbl_collection *collection = NULL;
        assert_int_equal(rbli_mesh_collection_create(ctx, &file, &options, &collection), cases[i].status);
        assert_int_equal(rbli_messages_count(ctx->messages), cases[i].words ? 1 : 0);
        if (cases[i].words && !strstr(rbli_messages_get(ctx->messages, 0)->text, cases[i].words))
            fail_msg("%s", rbli_messages_get(ctx->messages, 0)->text);
        rbli_collection_release(collection);
        finish_context(ctx);
    }
}

static rbl_status write_all(rbl_context *ctx, const void *asset)
{
    rbl_status status = RBL_OK;
    rbli_file_writer *writer = NULL;
    char path[200];
    for (int i = 0; i < 9; i++) {
        snprintf(path, sizeof path, "%s/out%d", folder, i);
        RBL_TRY(rbli_file_writer_open(ctx, path, &writer));
        if (i == 0) RBL_TRY(rbli_write_obj(ctx, asset, "x.mtl", RBLI_COLLIDERS_NONE, writer));
        if (i == 1) RBL_TRY(rbli_write_mtl(ctx, asset, NULL, writer));
        if (i == 2) RBL_TRY(rbli_write_json(ctx, asset, writer));
        if (i == 3)
            RBL_TRY(rbli_write_glb(ctx, asset,
                &(rbli_glb_options){.colliders = RBLI_COLLIDERS_NONE, .extras = true}, writer, NULL));
        if (i == 4)
            RBL_TRY(rbli_write_glb(ctx, asset,
                &(rbli_glb_options){.colliders = RBLI_COLLIDERS_KHR, .extras = true}, writer, NULL));
        if (i == 5)
            RBL_TRY(rbli_write_glb(ctx, asset,
                &(rbli_glb_options){.colliders = RBLI_COLLIDERS_GODOT, .extras = true}, writer, NULL));
        if (i == 6) RBL_TRY(rbli_write_obj(ctx, asset, NULL, RBLI_COLLIDERS_UCX, writer));
        if (i == 7) RBL_TRY(rbli_write_usda(ctx, asset, NULL, RBLI_COLLIDERS_NONE, writer, NULL));
        if (i == 8) RBL_TRY(rbli_write_usda(ctx, asset, NULL, RBLI_COLLIDERS_USD, writer, NULL));
        rbli_file_writer_discard(writer);
        writer = NULL;
    }
done:
    rbli_file_writer_discard(writer);
    return status;
}

static void writers_survive_each_failed_allocation(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset =
        make_asset(ctx, (asset_options){.with_uvs = true, .with_tangents = true, .with_colors = true});
    rbl_collection *hulls;
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, asset, &options, &hulls));
    join_pieces(ctx, hulls);
    fail_each_allocation(write_all, hulls);
    rbli_collection_release(hulls);
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
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_format_follows_from_bytes_then_name),
        cmocka_unit_test(what_cannot_be_read_is_told),
        cmocka_unit_test(files_elsewhere_are_read_only_when_that_is_allowed),
        cmocka_unit_test(coordinates_that_cannot_be_used_are_told),
        cmocka_unit_test(readers_survive_each_failed_allocation),
        cmocka_unit_test(writers_survive_each_failed_allocation),
    };
    return cmocka_run_group_tests_name("io/mesh_file", tests, make_folder, remove_folder);
}
