#ifndef RUBBLE_IO_GLB_WRITER_H
#define RUBBLE_IO_GLB_WRITER_H

/// A GLB file under way, shared by the parts of its writer.

#include "fracture/collection/material.h"
#include "fracture/io/body_view.h"
#include "fracture/io/text_out.h"
#include "fracture/io/vertex_split.h"
#include "fracture/io/write.h"

enum {
    COMPONENT_I8 = 5120,
    COMPONENT_U8 = 5121,
    COMPONENT_I16 = 5122,
    COMPONENT_U16 = 5123,
    COMPONENT_U32 = 5125,
    COMPONENT_FLOAT = 5126,
    MOST_SHORT_VERTICES = 65535, /* index 65535 would restart a primitive */
};

/// What the binary chunk holds, in this order; each that is not empty is one buffer view.
enum {
    GLB_POSITION,
    GLB_NORMAL,
    GLB_NORMAL_LENGTH, /* attribute _NORMAL_LENGTH: of normals that a cut interpolated */
    GLB_TANGENT,
    GLB_COLOR,
    GLB_UV,
    GLB_SHORT_UV = GLB_UV + RBLI_PIECE_UV_SETS, /* instead of GLB_UV, where all are from 0 to 1 */
    GLB_HULL = GLB_SHORT_UV + RBLI_PIECE_UV_SETS,
    GLB_INDEX32,
    GLB_INDEX16,
    GLB_STREAMS
};

/// A part of a stream. Streams are lists of these, because growing an array would move it.
typedef struct glb_block {
    uint8_t *data;
    size_t start, count, capacity; /* bytes; start: those of the blocks before */
} glb_block;

typedef struct glb_stream {
    RBLI_ARRAY(glb_block) blocks;
    size_t count;         /* bytes */
    size_t stride;        /* of an element */
    int component, width; /* numbers of an element */
    bool normalized;
    uint8_t *packed; /* the same encoded by meshoptimizer, or NULL */
    size_t packed_count;
} glb_stream;

typedef struct primitive {
    int32_t material; /* or −1 */
    bool wide;        /* indices are in GLB_INDEX32 */
    uint32_t streams; /* a bit for each that has its vertices */
    size_t vertex_count, index_count, first_index;
    uint32_t first[GLB_INDEX32]; /* element of each of these streams */
    double min[3], max[3];       /* of positions as they are in the file */
} primitive;

/// One or more pieces with the same geometry.
typedef struct glb_mesh {
    size_t first_primitive, primitive_count;
    size_t bone;     /* the first with it gives the name */
    rbli_hash hash;  /* of a part of its bytes */
    rbli_hash whole; /* of all, once is_hashed */
    bool is_hashed;
} glb_mesh;

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
    bool own_mesh;      /* the piece's mesh, whose numbers are steps */
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
    rbli_glb_options options;
    rbli_asset_view view;
    rbli_vertex_split split;
    double (*centers)[3];  /* of bones, in their frames; zero for those without mesh */
    int32_t *mesh_of_bone; /* or −1 */
    glb_stream streams[GLB_STREAMS];
    RBLI_ARRAY(primitive) primitives;
    RBLI_ARRAY(glb_mesh) meshes;
    int32_t *mesh_slots; /* by hash: a mesh, or −1 */
    size_t mesh_slot_count;
    int32_t *mesh_nodes; /* [bone] that of its quantized mesh; NULL: the bone has its mesh itself */
    double step;         /* of quantized positions, a power of two; 0: they are floats */
    /* scratch of one piece */
    uint8_t *local;      /* positions of its vertices as they are in the file */
    int32_t *first_face; /* [material + 1] first face with it, or −1 */
    int32_t *next_face;  /* [face of the piece] the next with the same material, or −1 */
    int32_t *used;       /* materials of the piece, ascending */
    uint32_t *indices;   /* of a primitive */
    /* colliders */
    rbli_body_view bodies;
    glb_body *body_of_bone; /* [bone], khr_physics alone */
    RBLI_ARRAY(glb_shape) shapes;
    RBLI_ARRAY(glb_extra) extras;
    RBLI_ARRAY(primitive) hulls; /* meshes after those of the pieces */
    /* textures */
    int32_t *texture_numbers; /* [texture] number in the file, or −1 */
    int32_t *image_numbers;   /* [image] the same; −2: of a kind that GLB cannot hold */
    RBLI_ARRAY(glb_texture) textures;
    RBLI_ARRAY(glb_sampler) samplers;
    RBLI_ARRAY(rbli_image_view) images;
    bool texture_transforms; /* KHR_texture_transform is used */
    rbli_glb_report report;
} glb_writer;

/// Room for `count` more elements of a stream in one block, which are counted. @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_glb_room(glb_writer *writer, int stream, size_t count, void **out);
void rbli_glb_free_streams(glb_writer *writer);
/// Sets what the streams hold.
void rbli_glb_init_streams(glb_writer *writer);
/// Moves the vertices of the geometry to where the file has them, into `local`, around the bone's centre.
void rbli_glb_place(glb_writer *writer, size_t bone);
/// Appends the vertices that `split` has, and `count` indices, as a primitive.
rbl_status rbli_glb_add_primitive(glb_writer *writer, int32_t material, uint32_t *indices, size_t count);
/// Ends a piece: its primitives, from `first` on, are a mesh, unless there is one with the same bytes.
rbl_status rbli_glb_end_mesh(glb_writer *writer, size_t bone, size_t first);

/// Orders triangles and vertices of a primitive for the codecs: `indices` change, `split` gets the new order.
rbl_status rbli_glb_reorder(glb_writer *writer, uint32_t *indices, size_t count);
/// Encodes all streams.
rbl_status rbli_glb_pack(glb_writer *writer);

/// Appends nodes, meshes, views, accessors and buffers of the document.
rbl_status rbli_glb_put_document(glb_writer *writer, rbli_text_out *json);
/// Bytes of the binary chunk, without padding at its end.
size_t rbli_glb_binary_bytes(const glb_writer *writer);

/// What pieces know of themselves, for extras of nodes. Zero-initialised.
typedef struct glb_facts {
    double *volumes;       /* [bone] in the world, sums for clusters */
    size_t *contact_start; /* [bone_count + 1] */
    struct glb_contact {
        int32_t bone;
        double area;
    } * contacts;
    const int32_t *level;
    const double *mass, *threshold; /* these may be NULL */
    const bool *anchored;
} glb_facts;
rbl_status rbli_glb_facts_init(glb_writer *writer, glb_facts *out);
void rbli_glb_facts_free(glb_writer *writer, glb_facts *facts);
/// Appends `,"extras":{"rubble":{…}}` of a bone's node.
void rbli_glb_put_facts(const glb_writer *writer, const glb_facts *facts, rbli_text_out *json, size_t bone);

/// Numbers what materials need of textures, samplers and images. Call it after all pieces were added.
rbl_status rbli_glb_collect_textures(glb_writer *writer);
/// Appends materials, textures, samplers and images, whose buffer views begin at `first_image_view`.
void rbli_glb_put_materials(const glb_writer *writer, rbli_text_out *json, size_t first_image_view);
void rbli_glb_free_textures(glb_writer *writer);

/// Appends `,"extras":{"rubble":{…}}` of the scene when there are connections.
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
