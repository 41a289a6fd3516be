#ifndef RUBBLE_TESTS_MAKE_ASSET_H
#define RUBBLE_TESTS_MAKE_ASSET_H

/// A small collection for the writers: a cluster "wall" with two unit cubes "wall_0" and "wall \"1\"" below
/// it, whose first corners are at `origin` and `origin` + (1, 0, 0), and a sheet (one triangle) below the
/// first.

#include "tests/check.h"

#include "fracture/collection/hierarchy.h"

typedef struct asset_options {
    double origin[3];
    bool with_uvs, with_tangents, with_colors;
} asset_options;

static const int32_t cube_faces[12][3] = {{0, 3, 2}, {0, 2, 1}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
    {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
static const double cube_points[8][3] = {
    {0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const float cube_normals[6][3] = {{0, 0, -1}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}};

static inline void *asset_write(
    rbl_context *ctx, rbl_collection *asset, const char *group, const char *name, rbl_type type)
{
    void *data = NULL;
    assert_ok(ctx, rbli_collection_write(ctx, asset, group, name, type, &data));
    return data;
}

static inline void asset_strings(rbl_context *ctx, rbl_collection *asset, const char *group, const char *name,
    size_t count, const char *const *strings)
{
    rbli_buffer *buffer = NULL;
    assert_ok(ctx, rbli_buffer_create_strings(ctx, count, strings, &buffer));
    assert_ok(ctx, rbli_collection_set(ctx, asset, group, name, buffer));
    rbli_buffer_release(buffer);
}

static inline void fill_corners(rbl_context *ctx, rbl_collection *asset, const asset_options *options)
{
    float(*normals)[3] = asset_write(ctx, asset, "corner", "normal", RBL_FLOAT_3);
    for (int c = 0; c < 75; c++)
        memcpy(normals[c], c < 72 ? cube_normals[c % 36 / 6] : cube_normals[1], sizeof normals[c]);
    if (options->with_uvs) {
        float(*uvs)[2] = asset_write(ctx, asset, "corner", "uv0", RBL_FLOAT_2);
        for (int c = 0; c < 75; c++) {
            uvs[c][0] = (float)(c % 3) / 2;
            uvs[c][1] = 0.25f;
        }
    }
    if (options->with_tangents) {
        float(*tangents)[4] = asset_write(ctx, asset, "corner", "tangent", RBL_FLOAT_4);
        for (int c = 3; c < 75; c++) { /* the first three are missing */
            const float *n = normals[c];
            tangents[c][0] = n[1];
            tangents[c][1] = n[2];
            tangents[c][2] = n[0];
            tangents[c][3] = c % 2 ? -1 : 1;
        }
    }
    if (options->with_colors) {
        float(*colors)[4] = asset_write(ctx, asset, "corner", "color", RBL_FLOAT_4);
        for (int c = 0; c < 75; c++)
            for (int k = 0; k < 4; k++)
                colors[c][k] = (float)k / 4;
    }
}

static inline void fill_geometry(rbl_context *ctx, rbl_collection *asset, const asset_options *options)
{
    static const int32_t ranges[3][5] = {{1, 0, 8, 0, 12}, {2, 8, 8, 12, 12}, {3, 16, 3, 24, 1}};
    static const char *const names[5] = {"bone", "vertex_start", "vertex_count", "face_start", "face_count"};
    for (int i = 0; i < 5; i++) {
        int32_t *values = asset_write(ctx, asset, "geometry", names[i], RBL_INT32);
        for (int g = 0; g < 3; g++)
            values[g] = ranges[g][i];
    }
    double *volumes = asset_write(ctx, asset, "geometry", "volume", RBL_DOUBLE);
    volumes[0] = volumes[1] = 1;
    volumes[2] = 99; /* a sheet's means nothing */
    double(*positions)[3] = asset_write(ctx, asset, "vertex", "position", RBL_VEC3);
    for (int v = 0; v < 19; v++)
        for (int k = 0; k < 3; k++)
            positions[v][k] = options->origin[k] + cube_points[v % 8][k] + (k == 0 && v >= 8 && v < 16);
    int32_t *vertex_bones = asset_write(ctx, asset, "vertex", "bone", RBL_INT32);
    for (int v = 0; v < 19; v++)
        vertex_bones[v] = 1 + v / 8;
    int32_t(*faces)[3] = asset_write(ctx, asset, "face", "vertices", RBL_INT32_3);
    int32_t *materials = asset_write(ctx, asset, "face", "material", RBL_INT32);
    for (int f = 0; f < 25; f++) {
        for (int k = 0; k < 3; k++)
            faces[f][k] = f < 24 ? cube_faces[f % 12][k] + 8 * (f / 12) : 16 + k;
        materials[f] = f % 12 >= 6 && f < 24;
    }
}

static inline rbl_collection *make_asset(rbl_context *ctx, asset_options options)
{
    rbl_collection *asset = NULL;
    assert_ok(ctx, rbli_collection_create_empty_asset(ctx, &asset));
    int32_t first;
    assert_ok(ctx, rbli_hierarchy_add_bones(
                       ctx, asset, 1, (int32_t[]){-1}, (const char *[]){"wall"}, RBLI_BONE_CLUSTER, &first));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 2, (int32_t[]){0, 0},
                       (const char *[]){"wall_0", "wall \"1\""}, RBLI_BONE_RIGID, &first));
    assert_ok(ctx, rbli_hierarchy_add_bones(ctx, asset, 1, (int32_t[]){1}, (const char *[]){"wall_0_sheet"},
                       RBLI_BONE_RIGID, &first));
    static const struct {
        const char *group;
        size_t count;
    } sizes[] = {{"geometry", 3}, {"vertex", 19}, {"face", 25}, {"corner", 75}, {"material", 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_ok(ctx, rbli_collection_resize(ctx, asset, sizes[i].group, sizes[i].count));
    int32_t *geometry = asset_write(ctx, asset, "bone", "geometry", RBL_INT32);
    int32_t *sites = asset_write(ctx, asset, "bone", "site", RBL_INT32);
    for (int b = 1; b < 4; b++)
        geometry[b] = b - 1;
    sites[2] = 7;
    bool *sheets = asset_write(ctx, asset, "bone", "sheet", RBL_BOOL);
    sheets[3] = true;
    asset_strings(ctx, asset, "material", "name", 2, (const char *[]){"brick", "interior"});
    asset_strings(ctx, asset, "material", "texture", 2, (const char *[]){"brick.png", "embedded:x"});
    float(*colors)[4] = asset_write(ctx, asset, "material", "base_color", RBL_FLOAT_4);
    memcpy(colors, (const float[2][4]){{1, 0.5f, 0.1f, 1}, {0.25f, 0.25f, 0.25f, 0.5f}}, 2 * sizeof *colors);
    fill_geometry(ctx, asset, &options);
    fill_corners(ctx, asset, &options);
    return asset;
}

/// A connection of the two pieces.
static inline void join_pieces(rbl_context *ctx, rbl_collection *asset)
{
    assert_ok(ctx, rbli_collection_resize(ctx, asset, "connection", 1));
    int32_t(*bones)[2] = asset_write(ctx, asset, "connection", "bones", RBL_INT32_2);
    double *areas = asset_write(ctx, asset, "connection", "area", RBL_DOUBLE);
    bones[0][0] = 1;
    bones[0][1] = 2;
    areas[0] = 1;
}

/// Turns the first piece by 90° around z, mirrors it in x and moves it.
static inline void mirror_first_piece(rbl_context *ctx, rbl_collection *asset)
{
    double(*transforms)[16] = asset_write(ctx, asset, "bone", "transform", RBL_MAT4);
    static const double m[16] = {0, 2, 0, 0, 2, 0, 0, 0, 0, 0, 2, 0, 10, 20, 30, 1};
    memcpy(transforms[1], m, sizeof m);
}

#endif
