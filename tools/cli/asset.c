/// Borrows the arrays of a collection through the public views, and looks whether their indices are good.

#include "tools/cli/asset.h"

#include <stdlib.h>
#include <string.h>

const void *cli_attribute(
    const rbl_collection *collection, const char *group, const char *name, rbl_type type)
{
    rbl_attribute_view view;
    if (rbl_collection_attribute(collection, group, name, &view) != RBL_OK) return NULL;
    return view.type == type && !view.is_list ? view.data : NULL;
}

static bool get_arrays(const rbl_collection *c, cli_asset *a)
{
    *a = (cli_asset){.collection = c,
        .bone_count = rbl_collection_group_size(c, "bone"),
        .geometry_count = rbl_collection_group_size(c, "geometry"),
        .vertex_count = rbl_collection_group_size(c, "vertex"),
        .face_count = rbl_collection_group_size(c, "face"),
        .material_count = rbl_collection_group_size(c, "material")};
    a->parent = cli_attribute(c, "bone", "parent", RBL_INT32);
    a->type = cli_attribute(c, "bone", "type", RBL_INT32);
    a->level = cli_attribute(c, "bone", "level", RBL_INT32);
    a->bone_geometry = cli_attribute(c, "bone", "geometry", RBL_INT32);
    a->transform = cli_attribute(c, "bone", "transform", RBL_MAT4);
    a->sheet = cli_attribute(c, "bone", "sheet", RBL_BOOL);
    a->geometry_bone = cli_attribute(c, "geometry", "bone", RBL_INT32);
    a->vertex_start = cli_attribute(c, "geometry", "vertex_start", RBL_INT32);
    a->geometry_vertices = cli_attribute(c, "geometry", "vertex_count", RBL_INT32);
    a->face_start = cli_attribute(c, "geometry", "face_start", RBL_INT32);
    a->geometry_faces = cli_attribute(c, "geometry", "face_count", RBL_INT32);
    a->volume = cli_attribute(c, "geometry", "volume", RBL_DOUBLE);
    a->position = cli_attribute(c, "vertex", "position", RBL_VEC3);
    a->face_vertices = cli_attribute(c, "face", "vertices", RBL_INT32_3);
    a->face_material = cli_attribute(c, "face", "material", RBL_INT32);
    a->internal = cli_attribute(c, "face", "internal", RBL_BOOL);
    return a->parent && a->type && a->bone_geometry && a->transform && a->geometry_bone && a->vertex_start &&
           a->geometry_vertices && a->face_start && a->geometry_faces && a->volume && a->position &&
           a->face_vertices && a->face_material;
}

static bool ranges_are_good(const cli_asset *a)
{
    for (size_t g = 0; g < a->geometry_count; g++) {
        int64_t v = (int64_t)a->vertex_start[g] + a->geometry_vertices[g],
                f = (int64_t)a->face_start[g] + a->geometry_faces[g];
        if (a->vertex_start[g] < 0 || a->geometry_vertices[g] < 0 || v > (int64_t)a->vertex_count)
            return false;
        if (a->face_start[g] < 0 || a->geometry_faces[g] < 0 || f > (int64_t)a->face_count) return false;
    }
    for (size_t i = 0; i < 3 * a->face_count; i++)
        if (a->face_vertices[i] < 0 || (size_t)a->face_vertices[i] >= a->vertex_count) return false;
    for (size_t b = 0; b < a->bone_count; b++)
        if (a->bone_geometry[b] >= (int64_t)a->geometry_count || a->parent[b] >= (int64_t)b) return false;
    for (size_t g = 0; g < a->geometry_count; g++)
        if (a->geometry_bone[g] < 0 || (size_t)a->geometry_bone[g] >= a->bone_count) return false;
    return true;
}

bool cli_get_asset(const rbl_collection *collection, cli_asset *out)
{
    return get_arrays(collection, out) && ranges_are_good(out);
}

double *cli_world_transforms(const cli_asset *a)
{
    double *world = malloc((a->bone_count + 1) * 16 * sizeof *world);
    for (size_t b = 0; world && b < a->bone_count; b++) {
        const double *local = a->transform + 16 * b;
        double *out = world + 16 * b;
        int32_t parent = a->parent[b];
        memcpy(out, local, 16 * sizeof *out);
        if (parent < 0 || (size_t)parent >= b) continue;
        const double *up = world + 16 * (size_t)parent;
        for (size_t column = 0; column < 4; column++)
            for (size_t row = 0; row < 4; row++) {
                out[4 * column + row] = 0;
                for (size_t k = 0; k < 4; k++)
                    out[4 * column + row] += up[4 * k + row] * local[4 * column + k];
            }
    }
    return world;
}

const char *cli_bone_name(const cli_asset *asset, size_t bone)
{
    return rbl_collection_string(asset->collection, "bone", "name", bone);
}

bool cli_is_piece(const cli_asset *asset, size_t bone)
{
    return asset->bone_geometry[bone] >= 0 && !(asset->sheet && asset->sheet[bone]);
}
