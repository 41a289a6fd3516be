#ifndef RUBBLE_IO_PIECE_VIEW_H
#define RUBBLE_IO_PIECE_VIEW_H

/// A collection's arrays with checked ranges, as the writers read them.

#include "fracture/collection/schema.h"

enum { RBLI_PIECE_UV_SETS = 8 };

typedef struct rbli_asset_view {
    const rbl_collection *collection;
    size_t bone_count, geometry_count, vertex_count, face_count, material_count;
    const int32_t *parent, *type, *geometry;
    const bool *sheet; /* may be NULL */
    const int32_t *vertex_start, *vertex_counts, *face_start, *face_counts;
    const double (*positions)[3];
    const int32_t (*faces)[3];
    const int32_t *face_material; /* may be NULL */
    const float (*normals)[3];    /* these may be NULL */
    const float (*tangents)[4];
    const float (*colors)[4];
    const float (*uvs[RBLI_PIECE_UV_SETS])[2];
    double (*world)[16]; /* of bones; owned */
} rbli_asset_view;

/// Looks the attributes up and checks all ranges and indices that writers follow.
/// @return RBL_OK · RBL_ERR_COLLECTION with a message · RBL_ERR_NO_MEMORY
rbl_status rbli_asset_view_init(rbl_context *ctx, const rbl_collection *collection, rbli_asset_view *out);
void rbli_asset_view_free(rbl_context *ctx, rbli_asset_view *view);
/// Whether a bone is a rigid one with faces.
bool rbli_asset_is_piece(const rbli_asset_view *view, size_t bone);

/// The centre of a piece's bounds in the bone's frame, rounded to float: what float positions are kept
/// around.
void rbli_piece_center(const rbli_asset_view *view, size_t bone, double out[3]);
/// The transform of a bone's node when frames are moved to the centres [bone_count][3] of their bones: the
/// parent's is drawn around the parent's centre, its own around its own.
/// @param out column-major. @return whether it only moves
bool rbli_node_transform(
    const rbli_asset_view *view, const double (*centers)[3], size_t bone, double out[16]);
/// A material's colour, each number from 0 to 1; where the asset has none, white, and the interior grey.
void rbli_material_color(const rbli_asset_view *view, size_t material, float out[4]);

/// Column-major 4×4.
void rbli_transform_point(const double m[16], const double p[3], double out[3]);
bool rbli_transform_is_identity(const double m[16]);
/// Determinant of the linear part.
double rbli_transform_determinant(const double m[16]);
/// How a bone's geometry gets into the world.
typedef struct rbli_world_map {
    const double *transform; /* borrowed from the view */
    double normal[9];        /* for normals, row-major; rotations keep all lengths */
    bool identity, mirrored; /* mirrored: corners of faces are taken in the order 0, 2, 1 */
} rbli_world_map;
rbli_world_map rbli_world_map_of(const rbli_asset_view *view, size_t bone);
void rbli_world_point(const rbli_world_map *map, const double p[3], double out[3]);
/// Linear, so that weighted sums of normals keep their directions.
void rbli_world_normal(const rbli_world_map *map, const float n[3], float out[3]);

/// Normals' matrix, row-major: the inverse transpose of the linear part, up to a positive factor.
void rbli_transform_normal_matrix(const double m[16], double out[9]);

#endif
