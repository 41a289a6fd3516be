#ifndef RUBBLE_IO_WRITE_H
#define RUBBLE_IO_WRITE_H

/// A collection as a mesh or asset file. Each function appends a whole file to an open writer; the caller
/// finishes and commits it (a failed write shows there). The same bytes for the same collection. The
/// collection should be valid (RBLI_VALIDATE_GEOMETRY); an index out of range is RBL_ERR_COLLECTION, nothing
/// is read out of bounds. Threads: reentrant; the writer is used by one thread.

#include "fracture/base/file.h"
#include "fracture/collection/collection.h"

/// How colliders of pieces (bone.collider) are written.
typedef enum rbli_collider_form {
    RBLI_COLLIDERS_NONE,
    RBLI_COLLIDERS_KHR,   /* GLB: KHR_physics_rigid_bodies and KHR_implicit_shapes (drafts of 2024) */
    RBLI_COLLIDERS_UCX,   /* GLB, OBJ: objects UCX_NAME_00, boxes UBX_, spheres USP_, as Unreal reads them */
    RBLI_COLLIDERS_GODOT, /* GLB: nodes NAME-convcolonly below the piece, as Godot reads them */
    RBLI_COLLIDERS_USD,   /* USD alone */
} rbli_collider_form;

/// Wavefront OBJ: an object per rigid bone with geometry, in bone order, each with its own vertices, which
/// its faces share; world positions, numbers that read back to the same bits; vt (v upwards, as OBJ has it)
/// and vn (shorter than 1 where a cut interpolated them, as in corner.normal); usemtl.
/// @param mtl_name  what `mtllib` names; NULL: neither mtllib nor usemtl
/// @param colliders RBLI_COLLIDERS_UCX adds objects after each piece; others add nothing
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_write_obj(rbl_context *ctx, const rbl_collection *collection, const char *mtl_name,
    rbli_collider_form colliders, rbli_file_writer *out);
/// Its material library: Kd and d; Ke, Pm, Pr and Ns where they are not the default; map_Kd, map_Ke, norm and
/// map_ao. Textures on the first UV set alone.
/// @param image_stem textures are named rbli_image_file_name(stem, image); NULL: the base colour's texture as the
/// source named it, unless it was inside of it
rbl_status rbli_write_mtl(
    rbl_context *ctx, const rbl_collection *collection, const char *image_stem, rbli_file_writer *out);
/// Name of an image's file beside an .obj: `STEM_image_N.png`. NULL when the image has no bytes or there is no
/// such image, and *status is RBL_OK. Freed by the caller.
char *rbli_image_file_name(
    rbl_context *ctx, const rbl_collection *collection, const char *stem, size_t image, rbl_status *status);
/// Whether a material of the library refers to an image. @return [images], freed by the caller; NULL without
/// memory
bool *rbli_mtl_images(rbl_context *ctx, const rbl_collection *collection);

/// JSON (DESIGN §10): `bones`, `proximity`, `connections`, all by name. World units: volumes and bounds are
/// those of the bone's geometry under its world transform; a cluster's volume is the sum of its pieces'
/// without sheets, its bounds hold all below. `mass` is bone.mass, null where there is none. `site` is −1 for
/// a bone that was not cut. `center_of_mass`, `inertia`, `inertia_products`, `damage_threshold`,
/// `collider` and the number of `collision_samples` are written where the attributes exist.
rbl_status rbli_write_json(rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *out);

typedef struct rbli_stl_report {
    size_t triangles, collapsed_triangles; /* written; left out because two corners meet in float */
} rbli_stl_report;

/// Binary STL: the triangles of all pieces, in the order of bones, in the world, with the triangles' own
/// normals. It holds neither names nor materials, nor who a triangle belongs to; numbers are floats.
/// @param report filled on success; may be NULL
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_write_stl(
    rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *out, rbli_stl_report *report);

/// Binary PLY (little endian): all pieces in the world. Vertices have double x, y, z, float nx, ny, nz (as
/// corner.normal, at most 1 long), float s, t of the first UV set (t upwards) and uchar red, green, blue,
/// alpha where the collection has them; corners of a vertex that differ in these are vertices of their own with the
/// same position. Faces have vertex_indices, and int piece (the bone), int material (or −1) and uchar
/// internal. Names stand in comments, `comment piece 3 NAME` and `comment material 0 NAME`.
/// @return as rbli_write_stl
rbl_status rbli_write_ply(rbl_context *ctx, const rbl_collection *collection, rbli_file_writer *out);

typedef enum rbli_glb_compression {
    RBLI_GLB_PLAIN,
    RBLI_GLB_QUANTIZE, /* KHR_mesh_quantization */
    RBLI_GLB_MESHOPT,  /* and EXT_meshopt_compression, if the library was built with meshoptimizer */
} rbli_glb_compression;

typedef struct rbli_glb_options {
    rbli_collider_form colliders;
    rbli_glb_compression compression;
    bool extras; /* nodes of bones say what they are in extras.rubble */
} rbli_glb_options;
/// No colliders, no compression, extras.
rbli_glb_options rbli_glb_default_options(void);
/// Whether the library was built with meshoptimizer.
bool rbli_glb_has_meshopt(void);

typedef struct rbli_glb_report {
    size_t triangles;           /* of all pieces, written */
    size_t shared_meshes;       /* pieces that have another one's mesh */
    size_t collapsed_triangles; /* left out because two corners meet in float */
    size_t colliders;           /* shapes written */
    size_t left_out_images;     /* of materials, of kinds that GLB cannot hold */
} rbli_glb_report;

/// Binary glTF 2.0: a node for each bone in the same hierarchy, a mesh for each bone with geometry, a
/// primitive per material. Positions are floats around the centre of the piece; the centre is in the node's
/// translation. Interior faces of a material are not split off. Materials with their textures and samplers;
/// images (PNG and JPEG) are embedded, each once, as they came. Pieces whose geometry is equal to the byte share a
/// mesh. Indices have 16 bits up to 65,535 vertices. Normals are unit; primitives with normals that a cut
/// interpolated have their lengths as attribute _NORMAL_LENGTH (float): NORMAL times it is corner.normal.
///
/// extras.rubble of a bone's node: level, volume (in the world; of a cluster the sum), mass (kg, if set), anchored
/// (true alone), sheet (likewise), threshold (N·s, if set), and contacts, [node, area] each (area −1 when not computed):
/// of pieces the proximity, of clusters (and of pieces without proximity) the connection graph. extras.rubble of the
/// scene: connections, the connection graph as lists a, b (nodes) and area (−1 when not computed).
///
/// Quantized: positions are 16-bit steps of a power of two, one for the file, from the piece's centre, which is
/// a whole number of steps away from its bone's origin: pieces of one frame that touch have equal positions where they had. The
/// mesh hangs on a node NAME_mesh below the piece's, which scales by the step. Normals and tangents have 8 bits,
/// colours 8, UVs 16 in primitives that have all of them from 0 to 1. Hulls are floats.
///
/// Colliders: hulls are meshes of their own, without materials. KHR: a piece's node has the collider, and a
/// motion with mass, centre of mass and principal inertia unless it is static or anchored; several hulls, and
/// shapes that are not centred on the node, are colliders of nodes below it; meshes of hulls hang on nodes
/// outside of the scene. UCX: objects beside the piece. Godot: nodes below it.
/// @param report  filled on success; may be NULL
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_LIMIT (more than 4 GiB) · RBL_ERR_ARGUMENT (no meshoptimizer) ·
/// RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_write_glb(rbl_context *ctx, const rbl_collection *collection, const rbli_glb_options *options,
    rbli_file_writer *out, rbli_glb_report *report);

typedef struct rbli_usda_report {
    size_t colliders, joints; /* written */
} rbli_usda_report;

/// USD as text (.usda): below one prim `Asset` (metres, Y up) a prim for each bone in the same hierarchy, a
/// mesh below each piece around its centre, with indexed face-varying normals, st and display colours,
/// subsets of faces by material and materials as UsdPreviewSurface with their textures. Names become identifiers; those that
/// change are in customData.name.
///
/// Unless `colliders` is none, also UsdPhysics: rigid bodies with mass, centre of mass and principal inertia,
/// colliders (meshes of hulls, a cube or a sphere, of purpose guide), and a fixed joint for each connection
/// between pieces. Connections of clusters join the pieces on either side that touch (group proximity), or
/// the first of each. A joint breaks at a force of 60 times the lower bone.damage_threshold (an impulse
/// within a sixtieth of a second), without one at 3 MPa over the contact area; at a torque of that force on
/// an arm of half the contact's width.
/// @param image_stem textures are named rbli_image_file_name(stem, image); NULL: the base colour's as the source
/// named it, unless it was inside of it
/// @param report filled on success; may be NULL
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_write_usda(rbl_context *ctx, const rbl_collection *collection, const char *image_stem,
    rbli_collider_form colliders, rbli_file_writer *out, rbli_usda_report *report);
/// Whether a material's texture shows an image. @return [images], freed by the caller; NULL without memory
bool *rbli_usda_images(rbl_context *ctx, const rbl_collection *collection);
/// The same as .usdz: a ZIP archive of STEM.usda and its images, stored, each at a multiple of 64 bytes.
/// @return as rbli_write_usda · RBL_ERR_LIMIT past 4 GiB
rbl_status rbli_write_usdz(rbl_context *ctx, const rbl_collection *collection, const char *stem,
    rbli_collider_form colliders, rbli_file_writer *out, rbli_usda_report *report);

#endif
