#ifndef RUBBLE_COLLECTION_SCHEMA_H
#define RUBBLE_COLLECTION_SCHEMA_H

/// The groups and attributes that rubble itself gives meaning to. Others may be added by anyone.
///
/// | group.attribute | type | meaning |
/// |---|---|---|
/// | bone.parent | INT32 | bone or −1; a parent always comes before its children |
/// | bone.level | INT32 | 0 for a root, else parent's level + 1 |
/// | bone.name | string | unique, not empty |
/// | bone.type | INT32 | rbli_bone_type |
/// | bone.simulation_type | INT32 | rbli_simulation_type; dynamic by default |
/// | bone.transform | MAT4 | local: from the bone's frame to its parent's |
/// | bone.geometry | INT32 | element of geometry, or −1 |
/// | bone.site | INT32 | index of the point, plane region, brick or copy that made the bone, −1 if not cut |
/// | bone.anchored | BOOL | |
/// | bone.sheet | BOOL | true: an attached sheet, not a solid piece (optional attribute) |
/// | bone.mass | DOUBLE | optional; kg, of all that is below the bone |
/// | bone.center_of_mass | VEC3 | optional; in the bone's frame |
/// | bone.inertia | VEC3 | optional; kg·m², Ixx, Iyy, Izz around the centre of mass, axes of the world |
/// | bone.inertia_products | VEC3 | optional; Ixy, Iyz, Izx of that tensor |
/// | bone.damage_threshold | DOUBLE | optional; N·s, the impulse that breaks the bone off its parent |
/// | bone.collider | INT32 | optional; rbli_collider, its shape in collisions; convex without it |
/// | bone.remove_on_sleep, remove_on_break | BOOL | optional; it disappears after resting, after breaking |
/// | bone.crumble_on_break | BOOL | optional; as a cluster it falls into its children then |
/// | bone.sleep_time, sleep_removal_time | VEC2 | optional; seconds, least and most: waiting, removal |
/// | bone.break_time, break_removal_time | VEC2 | optional; seconds, least and most: waiting, removal |
/// | bone.sleep_speed | DOUBLE | optional; m/s; what moves slower counts as resting |
/// | geometry.bone | INT32 | its bone |
/// | geometry.vertex_start, vertex_count, face_start, face_count | INT32 | ranges, in order, without gaps |
/// | geometry.bounds_min, bounds_max | VEC3 | in the bone's frame |
/// | geometry.volume | DOUBLE | signed volume of the closed surface |
/// | geometry.collision_samples | list of VEC3 | optional; in the bone's frame: its vertices, then points on it |
/// | vertex.position | VEC3 | in the frame of its geometry's bone |
/// | face.vertices | INT32_3 | indices into vertex (of the same geometry), counter-clockwise from outside |
/// | face.material | INT32 | element of material |
/// | face.internal | BOOL | made by a cut |
/// | face.origin | INT32 | internal faces: which planar cut made it (facets of one plane share it), else −1 |
/// | corner.normal | FLOAT_3 | 3 corners a face: corner 3·f + k belongs to face f's vertex k; unit length, shorter where a cut
///   interpolated it (its direction is the normal, and that of a point on a face the direction of the
///   corners' weighted sum) |
/// | corner.tangent | FLOAT_4 | optional; w = ±1 |
/// | corner.uv0 … uv7 | FLOAT_2 | optional |
/// | corner.color | FLOAT_4 | optional, linear RGBA 0 … 1 |
/// | material.name | string | unique |
/// | material.base_color | FLOAT_4 | optional |
/// | material.texture | string | optional: the base colour's image as the source names it, or "" |
/// | material.metallic, roughness | FLOAT | optional; 0 … 1; 0 and 0.9 without them |
/// | material.emissive | FLOAT_3 | optional; linear 0 … 1 |
/// | material.alpha_mode | INT32 | optional; rbli_alpha_mode |
/// | material.alpha_cutoff | FLOAT | optional; what a masked material shows; 0.5 without it |
/// | material.double_sided | BOOL | optional |
/// | material.normal_scale, occlusion_strength | FLOAT | optional; of those textures; 1 without them |
/// | material.base_color_texture, metallic_roughness_texture, normal_texture, occlusion_texture,
/// emissive_texture | INT32 | optional; element of texture, or −1 |
/// | texture.image | INT32 | element of image, or −1; the group is optional |
/// | texture.uv_set | INT32 | optional; which corner.uv |
/// | texture.wrap, filter | INT32_2 | optional; u and v, magnified and minified; numbers of glTF |
/// | texture.offset, scale, rotation | FLOAT_2, FLOAT_2, FLOAT | optional; as in KHR_texture_transform |
/// | image.name, mime_type | string | the group is optional |
/// | image.bytes | INT64 | size of the image file |
/// | image.data | list of INT32 | its bytes, four in each, zeros behind the last |
/// | convex.bone | INT32 | owner |
/// | convex.points | list of VEC3 | hull vertices in the bone's frame |
/// | convex.faces | list of INT32_3 | triangles into points, outward |
/// | convex.volume | DOUBLE | |
/// | proximity.geometries | INT32_2 | pair a < b |
/// | proximity.area | DOUBLE | contact area, −1 when not computed |
/// | connection.bones | INT32_2 | pair a < b of siblings |
/// | connection.area | DOUBLE | accumulated contact area, −1 when not computed |
/// | negative_space.center, radius | VEC3, DOUBLE | optional group: empty spheres, world space |
///
/// Only rigid leaves carry visible geometry: a bone that is cut becomes a cluster without geometry.

#include "fracture/collection/collection.h"

typedef enum rbli_bone_type { RBLI_BONE_CLUSTER = 0, RBLI_BONE_RIGID = 1 } rbli_bone_type;
typedef enum rbli_simulation_type {
    RBLI_SIMULATION_NONE = 0,
    RBLI_SIMULATION_STATIC = 1,
    RBLI_SIMULATION_KINEMATIC = 2,
    RBLI_SIMULATION_DYNAMIC = 3,
} rbli_simulation_type;
/// Collision shape of a bone: its hulls, the box around them in its frame, the sphere around that box.
typedef enum rbli_collider {
    RBLI_COLLIDER_NONE = 0,
    RBLI_COLLIDER_CONVEX = 1,
    RBLI_COLLIDER_BOX = 2,
    RBLI_COLLIDER_SPHERE = 3,
} rbli_collider;

/// A new collection with the groups bone, geometry, vertex, face, corner and material, their attributes above
/// that are not optional, and no element in them.
rbl_status rbli_collection_create_empty_asset(rbl_context *ctx, rbl_collection **out);

/// How thoroughly to look. Each level includes the ones before.
typedef enum rbli_validate_level {
    /// Types, lengths, index ranges, hierarchy (no cycle, levels, unique names), finite numbers.
    RBLI_VALIDATE_RANGES = 1,
    /// Ranges cover, faces stay inside their geometry, normals are none longer than 1, volumes and bounds agree; no piece below
    /// a piece.
    RBLI_VALIDATE_GEOMETRY = 2,
    /// Every rigid bone that is not a sheet is closed; hulls are closed and convex.
    RBLI_VALIDATE_CLOSED = 3,
} rbli_validate_level;
/// @return RBL_OK · RBL_ERR_COLLECTION with a message that names group, attribute and element
rbl_status rbli_collection_validate(
    rbl_context *ctx, const rbl_collection *collection, rbli_validate_level level);

#endif
