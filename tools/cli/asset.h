#ifndef RUBBLE_CLI_ASSET_H
#define RUBBLE_CLI_ASSET_H

/// A collection's hierarchy and meshes as plain arrays, borrowed from it.

#include "rubble/rubble.h"

typedef struct cli_asset {
    const rbl_collection *collection;
    size_t bone_count, geometry_count, vertex_count, face_count, material_count;
    const int32_t *parent, *type, *level, *bone_geometry;
    const uint8_t *sheet, *internal; /* NULL when missing */
    const double *transform;         /* [bone_count][16] */
    const int32_t *geometry_bone, *vertex_start, *geometry_vertices, *face_start, *geometry_faces;
    const double *volume, *position;
    const int32_t *face_vertices, *face_material;
} cli_asset;

/// @return false when an array is missing or an index out of range
bool cli_get_asset(const rbl_collection *collection, cli_asset *out);
/// The elements of an attribute of that type that is no list, NULL otherwise.
const void *cli_attribute(
    const rbl_collection *collection, const char *group, const char *name, rbl_type type);
/// World transforms, [bone_count][16] column-major; freed by the caller. NULL: out of memory.
double *cli_world_transforms(const cli_asset *asset);
const char *cli_bone_name(const cli_asset *asset, size_t bone);
/// True for a bone with a solid: neither cluster nor sheet.
bool cli_is_piece(const cli_asset *asset, size_t bone);

#endif
