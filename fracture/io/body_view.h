#ifndef RUBBLE_IO_BODY_VIEW_H
#define RUBBLE_IO_BODY_VIEW_H

/// Pieces as rigid bodies: their shape in collisions and their mass, as the writers need them.

#include "fracture/io/piece_view.h"

typedef enum rbli_shape {
    RBLI_SHAPE_NONE,
    RBLI_SHAPE_HULLS, /* without hulls: the convex hull of the piece's own mesh */
    RBLI_SHAPE_BOX,
    RBLI_SHAPE_SPHERE,
} rbli_shape;

/// What a piece's collider is and how it moves; lengths in the bone's frame.
typedef struct rbli_body {
    rbli_shape shape;
    double center[3], size[3], radius; /* of the box around the hulls; the sphere around its centre */
    const int32_t *hulls;              /* [hull_count] elements of `convex` */
    size_t hull_count;
    int32_t simulation; /* rbli_simulation_type; an anchored piece is static */
    double mass;        /* kg; 0: it has none */
    double center_of_mass[3];
    double moments[3], axes[4]; /* principal moments of inertia, kg·m², and the quaternion (x, y, z, w) that
                                   turns their axes to those of the bone's frame */
} rbli_body;

/// A hull of the group `convex`, borrowed.
typedef struct rbli_hull_view {
    const double (*points)[3];
    const int32_t (*triangles)[3];
    size_t point_count, triangle_count;
} rbli_hull_view;

typedef struct rbli_body_view {
    const rbli_asset_view *asset;
    size_t *hull_start; /* [bone_count + 1]; owned, as hull_of_bone is */
    int32_t *hull_of_bone;
    const uint64_t *point_offsets, *face_offsets;
    const double (*points)[3];
    const int32_t (*faces)[3];
    const int32_t *collider, *simulation; /* these may be NULL */
    const bool *anchored;
    const double *mass, (*center_of_mass)[3], (*inertia)[3], (*products)[3];
} rbli_body_view;

/// @param asset is kept
/// @return RBL_OK · RBL_ERR_COLLECTION (a damaged group convex) · RBL_ERR_NO_MEMORY
rbl_status rbli_body_view_init(rbl_context *ctx, const rbli_asset_view *asset, rbli_body_view *out);
void rbli_body_view_free(rbl_context *ctx, rbli_body_view *view);

/// The body of a bone that is a piece. Without bone.mass it has the density of stone, as SetMass gives it.
void rbli_body_get(const rbli_body_view *view, size_t bone, rbli_body *out);
/// The same without measuring: shape, hulls and simulation alone.
void rbli_body_kind(const rbli_body_view *view, size_t bone, rbli_body *out);
rbli_hull_view rbli_body_hull(const rbli_body_view *view, int32_t hull);

/// The axes of a frame in the world, made perpendicular one after the other: columns of `out`, a rotation.
void rbli_body_rotation(const double world[16], double out[3][3]);

/// A body's box or sphere as a mesh: 8 points and 12 triangles, or an octahedron whose edges are halved, its
/// points on the sphere.
enum { RBLI_SHAPE_POINTS = 18, RBLI_SHAPE_TRIANGLES = 32 };
typedef struct rbli_shape_mesh {
    double points[RBLI_SHAPE_POINTS][3];
    int32_t triangles[RBLI_SHAPE_TRIANGLES][3];
    size_t point_count, triangle_count;
} rbli_shape_mesh;
void rbli_body_shape_mesh(const rbli_body *body, rbli_shape_mesh *out);

/// What Unreal's import expects before the name of the object that a collider is for.
const char *rbli_ucx_prefix(rbli_shape shape);

#endif
