#ifndef RUBBLE_TESTS_MAKE_ASSET_H
#define RUBBLE_TESTS_MAKE_ASSET_H

/// A small valid asset for tests: a row of unit cubes, complete with hulls, contacts and connections.

#include "fracture/collection/hierarchy.h"
#include "fracture/collection/schema.h"
#include "tests/check.h"

static const double unit_cube_positions[8][3] = {
    {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const int32_t unit_cube_faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5},
    {0, 5, 4}, {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
static const float unit_cube_normals[6][3] = {
    {0, 0, -1}, {0, 0, 1}, {0, -1, 0}, {0, 1, 0}, {-1, 0, 0}, {1, 0, 0}};

static inline rbl_status make_cube_geometry(rbl_context *ctx, rbl_collection *asset, size_t cubes)
{
    rbl_status status;
    int32_t *bone, *vertex_start, *vertex_count, *face_start, *face_count, *material, *origin, *bone_geometry;
    int32_t(*vertices)[3];
    double(*low)[3], (*high)[3], *volume, (*position)[3];
    float(*normal)[3], (*uv)[2];
    RBL_TRY(rbli_collection_resize(ctx, asset, "geometry", cubes));
    RBL_TRY(rbli_collection_resize(ctx, asset, "vertex", 8 * cubes));
    RBL_TRY(rbli_collection_resize(ctx, asset, "face", 12 * cubes));
    RBL_TRY(rbli_collection_resize(ctx, asset, "corner", 36 * cubes));
    RBL_TRY(rbli_collection_write(ctx, asset, "geometry", "bone", RBL_INT32, (void **)&bone));
    RBL_TRY(rbli_collection_write(ctx, asset, "geometry", "vertex_start", RBL_INT32, (void **)&vertex_start));
    RBL_TRY(rbli_collection_write(ctx, asset, "geometry", "vertex_count", RBL_INT32, (void **)&vertex_count));
    RBL_TRY(rbli_collection_write(ctx, asset, "geometry", "face_start", RBL_INT32, (void **)&face_start));
    RBL_TRY(rbli_collection_write(ctx, asset, "geometry", "face_count", RBL_INT32, (void **)&face_count));
    RBL_TRY(rbli_collection_write(ctx, asset, "geometry", "bounds_min", RBL_VEC3, (void **)&low));
    RBL_TRY(rbli_collection_write(ctx, asset, "geometry", "bounds_max", RBL_VEC3, (void **)&high));
    RBL_TRY(rbli_collection_write(ctx, asset, "geometry", "volume", RBL_DOUBLE, (void **)&volume));
    RBL_TRY(rbli_collection_write(ctx, asset, "vertex", "position", RBL_VEC3, (void **)&position));
    RBL_TRY(rbli_collection_write(ctx, asset, "face", "vertices", RBL_INT32_3, (void **)&vertices));
    RBL_TRY(rbli_collection_write(ctx, asset, "face", "material", RBL_INT32, (void **)&material));
    RBL_TRY(rbli_collection_write(ctx, asset, "face", "origin", RBL_INT32, (void **)&origin));
    RBL_TRY(rbli_collection_write(ctx, asset, "corner", "normal", RBL_FLOAT_3, (void **)&normal));
    RBL_TRY(rbli_collection_write(ctx, asset, "corner", "uv0", RBL_FLOAT_2, (void **)&uv));
    RBL_TRY(rbli_collection_write(ctx, asset, "bone", "geometry", RBL_INT32, (void **)&bone_geometry));
    for (size_t g = 0; g < cubes; g++) {
        bone[g] = 1 + (int32_t)g;
        bone_geometry[1 + g] = (int32_t)g;
        vertex_start[g] = 8 * (int32_t)g;
        vertex_count[g] = 8;
        face_start[g] = 12 * (int32_t)g;
        face_count[g] = 12;
        high[g][0] = high[g][1] = high[g][2] = 1;
        volume[g] = 1;
        memcpy(position[8 * g], unit_cube_positions, sizeof unit_cube_positions);
        for (size_t f = 12 * g; f < 12 * (g + 1); f++) {
            material[f] = (int32_t)(f % 2);
            origin[f] = -1;
            for (size_t k = 0; k < 3; k++) {
                vertices[f][k] = unit_cube_faces[f % 12][k] + vertex_start[g];
                memcpy(normal[3 * f + k], unit_cube_normals[f % 12 / 2], sizeof *normal);
                uv[3 * f + k][0] = (float)k;
            }
        }
    }
done:
    return status;
}

static inline rbl_status make_cube_hulls(rbl_context *ctx, rbl_collection *asset, size_t cubes)
{
    rbl_status status;
    int32_t *bone, (*faces)[3] = rbli_alloc(ctx, 12 * cubes, sizeof *faces);
    double *volume, (*points)[3] = rbli_alloc(ctx, 8 * cubes, sizeof *points);
    uint64_t *point_offsets = rbli_calloc(ctx, cubes + 1, sizeof *point_offsets);
    uint64_t *face_offsets = rbli_calloc(ctx, cubes + 1, sizeof *face_offsets);
    rbli_buffer *point_list = NULL, *face_list = NULL;
    RBL_TRY_ALLOC(faces && points && point_offsets && face_offsets);
    for (size_t h = 0; h < cubes; h++) {
        memcpy(points[8 * h], unit_cube_positions, sizeof unit_cube_positions);
        memcpy(faces[12 * h], unit_cube_faces, sizeof unit_cube_faces);
        point_offsets[h + 1] = 8 * (h + 1);
        face_offsets[h + 1] = 12 * (h + 1);
    }
    RBL_TRY(rbli_buffer_create_list(ctx, RBL_VEC3, cubes, point_offsets, points, &point_list));
    RBL_TRY(rbli_buffer_create_list(ctx, RBL_INT32_3, cubes, face_offsets, faces, &face_list));
    RBL_TRY(rbli_collection_resize(ctx, asset, "convex", cubes));
    RBL_TRY(rbli_collection_set(ctx, asset, "convex", "points", point_list));
    RBL_TRY(rbli_collection_set(ctx, asset, "convex", "faces", face_list));
    RBL_TRY(rbli_collection_write(ctx, asset, "convex", "bone", RBL_INT32, (void **)&bone));
    RBL_TRY(rbli_collection_write(ctx, asset, "convex", "volume", RBL_DOUBLE, (void **)&volume));
    for (size_t h = 0; h < cubes; h++) {
        bone[h] = 1 + (int32_t)h;
        volume[h] = 1;
    }
done:
    rbli_buffer_release(point_list);
    rbli_buffer_release(face_list);
    rbli_free(ctx, faces);
    rbli_free(ctx, points);
    rbli_free(ctx, point_offsets);
    rbli_free(ctx, face_offsets);
    return status;
}

static inline rbl_status make_cube_contacts(rbl_context *ctx, rbl_collection *asset, size_t cubes)
{
    rbl_status status;
    size_t pairs = cubes > 0 ? cubes - 1 : 0;
    int32_t(*geometries)[2], (*bones)[2];
    double *proximity_area, *connection_area;
    RBL_TRY(rbli_collection_resize(ctx, asset, "proximity", pairs));
    RBL_TRY(rbli_collection_resize(ctx, asset, "connection", pairs));
    RBL_TRY(rbli_collection_write(ctx, asset, "proximity", "geometries", RBL_INT32_2, (void **)&geometries));
    RBL_TRY(rbli_collection_write(ctx, asset, "proximity", "area", RBL_DOUBLE, (void **)&proximity_area));
    RBL_TRY(rbli_collection_write(ctx, asset, "connection", "bones", RBL_INT32_2, (void **)&bones));
    RBL_TRY(rbli_collection_write(ctx, asset, "connection", "area", RBL_DOUBLE, (void **)&connection_area));
    for (int32_t i = 0; i < (int32_t)pairs; i++) {
        geometries[i][0] = i;
        geometries[i][1] = bones[i][0] = i + 1;
        bones[i][1] = i + 2;
        proximity_area[i] = connection_area[i] = 1;
    }
done:
    return status;
}

/// Bone 0 is the cluster "row"; bone 1 + i is the rigid cube "cube", "cube_2" … with geometry and hull i, its
/// frame moved by i along x. Neighbours touch. Materials "a" and "b".
static inline rbl_status make_cube_row(rbl_context *ctx, size_t cubes, rbl_collection **out)
{
    rbl_status status;
    rbl_collection *asset = NULL;
    rbli_buffer *materials = NULL;
    double(*transform)[16];
    int32_t *parents = rbli_calloc(ctx, cubes, sizeof *parents);
    const char **names = rbli_alloc(ctx, cubes, sizeof *names);
    RBL_TRY_ALLOC(parents && names);
    for (size_t i = 0; i < cubes; i++)
        names[i] = "cube";
    RBL_TRY(rbli_collection_create_empty_asset(ctx, &asset));
    RBL_TRY(
        rbli_hierarchy_add_bones(ctx, asset, 1, NULL, (const char *const[]){"row"}, RBLI_BONE_CLUSTER, NULL));
    RBL_TRY(rbli_hierarchy_add_bones(ctx, asset, cubes, parents, names, RBLI_BONE_RIGID, NULL));
    RBL_TRY(rbli_collection_write(ctx, asset, "bone", "transform", RBL_MAT4, (void **)&transform));
    for (size_t i = 0; i < cubes; i++)
        transform[1 + i][12] = (double)i;
    RBL_TRY(rbli_buffer_create_strings(ctx, 2, (const char *const[]){"a", "b"}, &materials));
    RBL_TRY(rbli_collection_resize(ctx, asset, "material", 2));
    RBL_TRY(rbli_collection_set(ctx, asset, "material", "name", materials));
    RBL_TRY(make_cube_geometry(ctx, asset, cubes));
    RBL_TRY(make_cube_hulls(ctx, asset, cubes));
    RBL_TRY(make_cube_contacts(ctx, asset, cubes));
    *out = asset;
    asset = NULL;
done:
    rbli_buffer_release(materials);
    rbli_collection_release(asset);
    rbli_free(ctx, names);
    rbli_free(ctx, parents);
    return status;
}

#endif
