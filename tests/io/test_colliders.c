#include "tests/io/make_asset.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <unistd.h>

#include "fracture/base/alloc.h"
#include "fracture/io/body_view.h"
#include "fracture/io/write.h"
#include "fracture/ops/hulls.h"

static char folder[] = "/tmp/rubble_colliders_XXXXXX";

typedef enum written { GLB, OBJ, USDA } written;

/// The content of a file in memory, zero-terminated; freed by the caller.
static char *write_file(
    rbl_context *ctx, const rbl_collection *asset, written what, rbli_collider_form form, size_t *count)
{
    char path[200];
    rbli_file_writer *writer = NULL;
    rbli_hash hash;
    snprintf(path, sizeof path, "%s/file", folder);
    assert_ok(ctx, rbli_file_writer_open(ctx, path, &writer));
    assert_ok(ctx, what == GLB   ? rbli_write_glb(ctx, asset,
                                       &(rbli_glb_options){.colliders = form, .extras = true}, writer, NULL)
                   : what == OBJ ? rbli_write_obj(ctx, asset, NULL, form, writer)
                                 : rbli_write_usda(ctx, asset, NULL, form, writer, NULL));
    assert_ok(ctx, rbli_file_writer_finish(writer, &hash, count));
    assert_ok(ctx, rbli_file_writer_commit(ctx, writer));
    char *bytes = malloc(*count + 1);
    FILE *file = fopen(path, "rb");
    assert_true(bytes && file);
    assert_int_equal(fread(bytes, 1, *count, file), *count);
    bytes[*count] = 0;
    fclose(file);
    unlink(path);
    return bytes;
}

/// The pieces have hulls; the first is turned and mirrored if asked for.
static rbl_collection *make_pieces(rbl_context *ctx, bool turned)
{
    rbl_collection *plain = make_asset(ctx, (asset_options){.origin = {5, 6, 7}}), *asset;
    rbli_leaf_hull_options options = rbli_leaf_hull_default_options();
    if (turned) mirror_first_piece(ctx, plain);
    assert_ok(ctx, rbli_create_leaf_hulls(ctx, plain, &options, &asset));
    join_pieces(ctx, asset);
    rbli_collection_release(plain);
    return asset;
}

static void set_colliders(rbl_context *ctx, rbl_collection *asset, int32_t first, int32_t second)
{
    int32_t *shapes = asset_write(ctx, asset, "bone", "collider", RBL_INT32);
    shapes[1] = first;
    shapes[2] = second;
}

static cJSON *read_glb(rbl_context *ctx, const rbl_collection *asset, rbli_collider_form form)
{
    size_t count;
    char *bytes = write_file(ctx, asset, GLB, form, &count);
    uint32_t length;
    memcpy(&length, bytes + 12, sizeof length);
    cJSON *document = cJSON_ParseWithLength(bytes + 20, length);
    assert_non_null(document);
    free(bytes);
    return document;
}

static const cJSON *at(const cJSON *value, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(value, key);
    assert_non_null(found);
    return found;
}

static const cJSON *node_named(const cJSON *document, const char *name)
{
    const cJSON *node;
    cJSON_ArrayForEach(
        node, at(document, "nodes")) if (strcmp(at(node, "name")->valuestring, name) == 0) return node;
    return NULL;
}

static const cJSON *physics_of(const cJSON *node)
{
    return at(at(node, "extensions"), "KHR_physics_rigid_bodies");
}

static void bodies_have_mass_and_moments(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        rbl_context *ctx = make_context(1);
        rbl_collection *asset = make_pieces(ctx, turned);
        rbli_asset_view view;
        rbli_body_view bodies;
        rbli_body body;
        assert_ok(ctx, rbli_asset_view_init(ctx, asset, &view));
        assert_ok(ctx, rbli_body_view_init(ctx, &view, &bodies));
        for (size_t b = 1; b < 3; b++) {
            double scale = turned && b == 1 ? 2 : 1, mass = 2400 * scale * scale * scale;
            rbli_body_get(&bodies, b, &body);
            assert_int_equal(body.shape, RBLI_SHAPE_HULLS);
            assert_int_equal(body.hull_count, 1);
            assert_close(body.mass, mass, 1e-9 * mass);
            for (int k = 0; k < 3; k++) {
                assert_close(body.moments[k], mass * scale * scale / 6, 1e-9 * mass);
                assert_close(body.size[k], 1, 1e-12);
            }
            assert_close(body.radius, sqrt(0.75), 1e-12);
            assert_close(body.center_of_mass[0], b == 1 ? 5.5 : 6.5, 1e-12);
        }
        rbli_body_get(&bodies, 3, &body); /* the sheet */
        assert_int_equal(body.shape, RBLI_SHAPE_NONE);
        assert_int_equal(body.simulation, RBLI_SIMULATION_NONE);
        rbli_body_view_free(ctx, &bodies);
        rbli_asset_view_free(ctx, &view);
        rbli_collection_release(asset);
        finish_context(ctx);
    }
}

static void shape_meshes_are_closed(void **state)
{
    (void)state;
    rbli_body body = {.center = {1, 2, 3}, .size = {1, 2, 3}, .radius = 2};
    for (int shape = RBLI_SHAPE_BOX; shape <= RBLI_SHAPE_SPHERE; shape++) {
        rbli_shape_mesh mesh;
        body.shape = (rbli_shape)shape;
        rbli_body_shape_mesh(&body, &mesh);
        assert_int_equal(mesh.triangle_count, 2 * mesh.point_count - 4);
        for (size_t t = 0; t < mesh.triangle_count; t++) {
            double p[3][3];
            for (int c = 0; c < 3; c++) {
                int32_t from = mesh.triangles[t][c], to = mesh.triangles[t][(c + 1) % 3];
                int back = 0;
                for (size_t i = 0; i < 3 * mesh.triangle_count; i++)
                    back += mesh.triangles[i / 3][i % 3] == to && mesh.triangles[i / 3][(i + 1) % 3] == from;
                assert_int_equal(back, 1);
                for (int k = 0; k < 3; k++)
                    p[c][k] = mesh.points[from][k] - body.center[k];
            }
            double determinant = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                                 p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                                 p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
            assert_true(determinant > 0);
        }
    }
}

static void khr_nodes_say_shapes_and_motion(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_pieces(ctx, false);
    set_colliders(ctx, asset, RBLI_COLLIDER_CONVEX, RBLI_COLLIDER_SPHERE);
    bool *anchored = asset_write(ctx, asset, "bone", "anchored", RBL_BOOL);
    anchored[2] = true;
    cJSON *document = read_glb(ctx, asset, RBLI_COLLIDERS_KHR);
    const cJSON *first = physics_of(node_named(document, "wall_0")),
                *second = physics_of(node_named(document, "wall \"1\""));
    assert_close(at(at(first, "motion"), "mass")->valuedouble, 2400, 1e-6);
    const cJSON *geometry = at(at(first, "collider"), "geometry");
    assert_true(cJSON_IsTrue(at(geometry, "convexHull")));
    const cJSON *hull = cJSON_GetArrayItem(at(document, "nodes"), at(geometry, "node")->valueint);
    assert_string_equal(at(hull, "name")->valuestring, "wall_0_hull");
    assert_int_equal(at(hull, "mesh")->valueint, 2); /* the cubes share one */
    assert_null(cJSON_GetObjectItem(second, "motion"));
    assert_int_equal(at(at(at(second, "collider"), "geometry"), "shape")->valueint, 0);
    const cJSON *shape =
        cJSON_GetArrayItem(at(at(at(document, "extensions"), "KHR_implicit_shapes"), "shapes"), 0);
    assert_close(at(at(shape, "sphere"), "radius")->valuedouble, sqrt(0.75), 1e-9);
    assert_int_equal(cJSON_GetArraySize(at(document, "extensionsUsed")), 2);
    assert_null(cJSON_GetObjectItem(node_named(document, "wall_0_sheet"), "extensions"));
    cJSON_Delete(document);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void names_tell_engines_what_collides(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_pieces(ctx, true);
    set_colliders(ctx, asset, RBLI_COLLIDER_CONVEX, RBLI_COLLIDER_BOX);
    cJSON *document = read_glb(ctx, asset, RBLI_COLLIDERS_UCX);
    const cJSON *piece = node_named(document, "wall_0"), *hull = node_named(document, "UCX_wall_0_00");
    assert_non_null(hull);
    assert_non_null(node_named(document, "UBX_wall \"1\"_00"));
    assert_true(cJSON_Compare(at(piece, "matrix"), at(hull, "matrix"), true));
    cJSON_Delete(document);
    document = read_glb(ctx, asset, RBLI_COLLIDERS_GODOT);
    hull = node_named(document, "wall_0-convcolonly");
    assert_non_null(hull);
    assert_null(cJSON_GetObjectItem(hull, "matrix"));
    bool below = false;
    const cJSON *child;
    cJSON_ArrayForEach(child, at(node_named(document, "wall_0"), "children")) below |=
        cJSON_GetArrayItem(at(document, "nodes"), child->valueint) == hull;
    assert_true(below);
    cJSON_Delete(document);
    size_t count;
    char *text = write_file(ctx, asset, OBJ, RBLI_COLLIDERS_UCX, &count);
    assert_non_null(strstr(text, "o UCX_wall_0_00\n"));
    assert_non_null(strstr(text, "o UBX_wall \"1\"_00\n"));
    free(text);
    set_colliders(ctx, asset, RBLI_COLLIDER_NONE, RBLI_COLLIDER_NONE);
    text = write_file(ctx, asset, OBJ, RBLI_COLLIDERS_UCX, &count);
    char *plain = write_file(ctx, asset, OBJ, RBLI_COLLIDERS_NONE, &count);
    assert_string_equal(text, plain);
    free(text);
    free(plain);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void usda_holds_bodies_and_joints(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_pieces(ctx, false);
    double *thresholds = asset_write(ctx, asset, "bone", "damage_threshold", RBL_DOUBLE);
    size_t count;
    thresholds[1] = 5;
    thresholds[2] = 7;
    char *text = write_file(ctx, asset, USDA, RBLI_COLLIDERS_USD, &count);
    static const char *const parts[] = {"#usda 1.0\n", "defaultPrim = \"Asset\"", "def Xform \"wall_0\" (",
        "def Xform \"wall__1_\" (", "string name = \"wall \\\"1\\\"\"", "float physics:mass = 2400\n",
        "rel physics:body0 = </Asset/wall/wall_0>", "rel physics:body1 = </Asset/wall/wall__1_>",
        "float physics:breakForce = 300\n", "float physics:breakTorque = 150\n",
        "point3f physics:localPos0 = (0.5, 0, 0)", "point3f physics:localPos1 = (-0.5, 0, 0)",
        "asset inputs:file = @@@brick.png@@@", "def Xform \"wall_0_sheet\"\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i])) fail_msg("no %s in\n%s", parts[i], text);
    char *again = write_file(ctx, asset, USDA, RBLI_COLLIDERS_USD, &count);
    assert_string_equal(text, again);
    free(again);
    free(text);
    text = write_file(ctx, asset, USDA, RBLI_COLLIDERS_NONE, &count);
    assert_null(strstr(text, "Physics"));
    free(text);
    rbli_collection_release(asset);
    finish_context(ctx);
}

static void damaged_hulls_are_refused(void **state)
{
    (void)state;
    rbl_context *ctx = make_context(1);
    rbl_collection *asset = make_pieces(ctx, false);
    rbli_asset_view view;
    rbli_body_view bodies;
    int32_t *owner = asset_write(ctx, asset, "convex", "bone", RBL_INT32);
    owner[1] = 77;
    assert_ok(ctx, rbli_asset_view_init(ctx, asset, &view));
    assert_int_equal(rbli_body_view_init(ctx, &view, &bodies), RBL_ERR_COLLECTION);
    rbli_asset_view_free(ctx, &view);
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
        cmocka_unit_test(bodies_have_mass_and_moments),
        cmocka_unit_test(shape_meshes_are_closed),
        cmocka_unit_test(khr_nodes_say_shapes_and_motion),
        cmocka_unit_test(names_tell_engines_what_collides),
        cmocka_unit_test(usda_holds_bodies_and_joints),
        cmocka_unit_test(damaged_hulls_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
