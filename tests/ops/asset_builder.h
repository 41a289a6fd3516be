#ifndef RUBBLE_TESTS_OPS_ASSET_BUILDER_H
#define RUBBLE_TESTS_OPS_ASSET_BUILDER_H

/// Small collections made by hand: boxes as rigid bones under one root.

#include "fracture/collection/hierarchy.h"
#include "tests/check.h"

/// The 12 triangles of a box over corners numbered x + 2y + 4z, outward.
static const int32_t box_triangles[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};

/// Adds a box as a new geometry under bone `bone`; UVs are (x, y) of the position, faces get `material`.
static inline void add_box_geometry(rbl_context *ctx, rbl_collection *c, int32_t bone, const double low[3],
    const double high[3], int32_t material)
{
    size_t g = rbli_collection_size(c, "geometry"), v0 = rbli_collection_size(c, "vertex"),
           f0 = rbli_collection_size(c, "face");
    assert_ok(ctx, rbli_collection_resize(ctx, c, "geometry", g + 1));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "vertex", v0 + 8));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "face", f0 + 12));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "corner", 3 * (f0 + 12)));
    const int32_t values[5] = {bone, (int32_t)v0, 8, (int32_t)f0, 12};
    static const char *const names[5] = {"bone", "vertex_start", "vertex_count", "face_start", "face_count"};
    void *out;
    for (int i = 0; i < 5; i++) {
        assert_ok(ctx, rbli_collection_write(ctx, c, "geometry", names[i], RBL_INT32, &out));
        ((int32_t *)out)[g] = values[i];
    }
    assert_ok(ctx, rbli_collection_write(ctx, c, "bone", "geometry", RBL_INT32, &out));
    ((int32_t *)out)[bone] = (int32_t)g;
    assert_ok(ctx, rbli_collection_write(ctx, c, "vertex", "position", RBL_VEC3, &out));
    double(*positions)[3] = out;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            positions[v0 + (size_t)i][k] = (i >> k & 1) ? high[k] : low[k];
    assert_ok(ctx, rbli_collection_write(ctx, c, "face", "vertices", RBL_INT32_3, &out));
    int32_t(*faces)[3] = out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "face", "material", RBL_INT32, &out));
    int32_t *materials = out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "face", "origin", RBL_INT32, &out));
    int32_t *origins = out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "face", "visible", RBL_BOOL, &out));
    bool *visible = out;
    assert_ok(ctx, rbli_collection_write(ctx, c, "corner", "uv0", RBL_FLOAT_2, &out));
    float(*uv)[2] = out;
    for (size_t f = 0; f < 12; f++) {
        materials[f0 + f] = material;
        origins[f0 + f] = -1;
        visible[f0 + f] = true;
        for (size_t k = 0; k < 3; k++) {
            faces[f0 + f][k] = box_triangles[f][k] + (int32_t)v0;
            for (int a = 0; a < 2; a++)
                uv[3 * (f0 + f) + k][a] = (float)positions[faces[f0 + f][k]][a];
        }
    }
}

/// A root and one rigid bone "box_I" for each of `count` boxes given as low and high corners.
static inline rbl_collection *make_boxes(rbl_context *ctx, size_t count, const double (*boxes)[2][3])
{
    rbl_collection *c = NULL;
    int32_t root = -1, first;
    const char *root_name = "root";
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &c));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, &root, &root_name, RBLI_BONE_CLUSTER, &first));
    rbli_buffer *materials = NULL;
    const char *material_name = "paint";
    assert_ok(ctx, rbli_buffer_create_strings(ctx, 1, &material_name, &materials));
    assert_ok(ctx, rbli_collection_resize(ctx, c, "material", 1));
    assert_ok(ctx, rbli_collection_set(ctx, c, "material", "name", materials));
    rbli_buffer_release(materials);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        const char *names[] = {name};
        int32_t parent = 0;
        snprintf(name, sizeof name, "box_%zu", i);
        assert_ok(ctx, rbli_hierarchy_add_bones(ctx, c, 1, &parent, names, RBLI_BONE_RIGID, &first));
        add_box_geometry(ctx, c, first, boxes[i][0], boxes[i][1], 0);
    }
    return c;
}

/// Checks that every directed edge of a geometry's faces is met exactly once by its reverse.
static inline void assert_closed(const rbl_collection *c, size_t geometry)
{
    const int32_t *starts = rbli_collection_read(c, "geometry", "face_start", RBL_INT32);
    const int32_t *counts = rbli_collection_read(c, "geometry", "face_count", RBL_INT32);
    const int32_t(*faces)[3] = rbli_collection_read(c, "face", "vertices", RBL_INT32_3);
    const int32_t(*f)[3] = faces + starts[geometry];
    for (int32_t a = 0; a < counts[geometry]; a++)
        for (int i = 0; i < 3; i++) {
            int same = 0, reverse = 0;
            for (int32_t b = 0; b < counts[geometry]; b++)
                for (int j = 0; j < 3; j++) {
                    same += f[a][i] == f[b][j] && f[a][(i + 1) % 3] == f[b][(j + 1) % 3];
                    reverse += f[a][i] == f[b][(j + 1) % 3] && f[a][(i + 1) % 3] == f[b][j];
                }
            assert_int_equal(same, 1);
            assert_int_equal(reverse, 1);
        }
}

#endif
