#ifndef RUBBLE_IO_GLB_WRITER_H
#define RUBBLE_IO_GLB_WRITER_H

/// A GLB file under way, shared by the parts of its writer.

#include "fracture/collection/material.h"
#include "fracture/io/body_view.h"
#include "fracture/io/text_out.h"
#include "fracture/io/write.h"

enum {
    COMPONENT_U16 = 5123,
    COMPONENT_U32 = 5125,
    COMPONENT_FLOAT = 5126,
    TARGET_VERTICES = 34962,
    TARGET_INDICES = 34963,
    MOST_SHORT_VERTICES = 65535, /* index 65535 would restart a primitive */
};

typedef RBLI_ARRAY(float) float_array;

typedef struct primitive {
    int32_t material; /* or −1 */
    size_t first_vertex, vertex_count;
    size_t first_index, index_count; /* in the 16-bit or the 32-bit array */
    bool wide;
    float min[3], max[3];
} primitive;

/// What the extension of a node says of its collider.
typedef struct glb_collider {
    int32_t node, shape; /* of these at most one is not −1 */
} glb_collider;

/// An implicit shape.
typedef struct glb_shape {
    bool sphere;
    double size[3], radius;
} glb_shape;

/// The physics of a piece's node.
typedef struct glb_body {
    bool moves, kinematic;
    glb_collider collider;
    double mass, center[3], moments[3], axes[4];
} glb_body;

typedef enum glb_place { GLB_BELOW_PIECE, GLB_BESIDE_PIECE, GLB_OUTSIDE_OF_SCENE } glb_place;

/// A node beyond those of the bones; node number bone_count + its own.
typedef struct glb_extra {
    glb_place place;
    int32_t bone, mesh; /* element of `hulls`, or −1 */
    glb_collider collider;
    double translation[3];
    const char *prefix, *suffix; /* around the bone's name */
    int32_t number;              /* two digits after the name, or −1 */
} glb_extra;

typedef struct glb_sampler {
    int32_t wrap[2], filter[2];
} glb_sampler;

/// A texture of the file: image and sampler are numbers there, the sampler −1 for the default one.
typedef struct glb_texture {
    rbli_texture texture;
    int32_t image, sampler;
} glb_texture;

typedef struct glb_writer {
    rbl_context *ctx;
    rbli_asset_view view;
    int uv_sets;
    bool tangents;
    double (*centers)[3];  /* of bones, in their frames; zero for those without mesh */
    size_t *mesh_ends;     /* [bone] primitives up to and with this bone */
    int32_t *mesh_of_bone; /* or −1 */
    int32_t mesh_count;
    size_t faces_done, face_total;
    float_array positions, normals, tangents_out, colors, uvs[RBLI_PIECE_UV_SETS];
    RBLI_ARRAY(uint16_t) indices16;
    RBLI_ARRAY(uint32_t) indices32;
    RBLI_ARRAY(primitive) primitives;
    /* scratch of one piece */
    int32_t piece_vertex; /* its first */
    float (*local)[3];    /* positions of its vertices */
    int32_t *first_face;  /* [material + 1] first face with it, or −1 */
    int32_t *next_face;   /* [face of the piece] the next with the same material, or −1 */
    int32_t *used;        /* materials of the piece, ascending */
    uint32_t *slots;
    size_t *vertex_corners; /* a corner of each vertex of the primitive */
    size_t slot_count;
    /* colliders */
    rbli_collider_form form;
    rbli_body_view bodies;
    glb_body *body_of_bone; /* [bone], khr_physics alone */
    RBLI_ARRAY(glb_shape) shapes;
    RBLI_ARRAY(glb_extra) extras;
    RBLI_ARRAY(primitive) hulls; /* meshes after those of the pieces */
    float_array hull_positions;
    /* textures */
    int32_t *texture_numbers; /* [texture] number in the file, or −1 */
    int32_t *image_numbers;   /* [image] the same; −2: of a kind that GLB cannot hold */
    RBLI_ARRAY(glb_texture) textures;
    RBLI_ARRAY(glb_sampler) samplers;
    RBLI_ARRAY(rbli_image_view) images;
    bool texture_transforms; /* KHR_texture_transform is used */
    rbli_glb_report report;
} glb_writer;

/// Numbers what materials need of textures, samplers and images. Call it after all pieces were added.
rbl_status rbli_glb_collect_textures(glb_writer *writer);
/// Appends materials, textures, samplers and images, whose buffer views begin at `first_image_view`.
void rbli_glb_put_materials(const glb_writer *writer, rbli_text_out *json, size_t first_image_view);
void rbli_glb_free_textures(glb_writer *writer);

/// Appends `,"extras":{…}` of a bone's node, and of the scene when there are connections.
void rbli_glb_put_bone_extras(const glb_writer *writer, rbli_text_out *json, size_t bone);
/// @return RBL_OK · RBL_ERR_COLLECTION (a connection of bones that are not there) · RBL_ERR_CANCELLED
rbl_status rbli_glb_put_scene_extras(const glb_writer *writer, rbli_text_out *json);

/// Makes colliders, their nodes and meshes in the form asked for. Call it after all pieces have centres.
rbl_status rbli_glb_add_colliders(glb_writer *writer);
/// Appends extensions of the node of a bone, or of an extra one: `,"extensions":{…}` or nothing.
void rbli_glb_put_body(const glb_writer *writer, rbli_text_out *json, size_t bone);
void rbli_glb_put_collider(const glb_writer *writer, rbli_text_out *json, const glb_collider *collider);
/// Appends the name of an extra node, as a JSON string.
rbl_status rbli_glb_put_extra_name(const glb_writer *writer, rbli_text_out *json, const glb_extra *extra);
/// Appends what the document says of the extensions: `,"extensionsUsed":…,"extensions":…`, or nothing.
void rbli_glb_put_extensions(const glb_writer *writer, rbli_text_out *json);
void rbli_glb_free_colliders(glb_writer *writer);
void rbli_glb_put_numbers(rbli_text_out *json, const double *values, size_t count);

#endif
