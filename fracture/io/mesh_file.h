#ifndef RUBBLE_IO_MESH_FILE_H
#define RUBBLE_IO_MESH_FILE_H

/// Mesh files as plain arrays: OBJ, STL, PLY, OFF, GLB and glTF 2.0, and FBX, DAE and 3MF by way of the program
/// `rubble-import` (import_process.h). Readers trust nothing, allocate nothing
/// that the file's size does not justify, and do not repair: collapsed and repeated triangles come as they
/// are.

#include "fracture/base/context.h"
#include "fracture/collection/material.h"

enum { RBLI_MESH_FILE_UV_SETS = 8 };

typedef struct rbli_mesh_file_node {
    char *name;           /* valid UTF-8, not empty; not always unique */
    int32_t parent;       /* a node before this one, or −1 */
    double transform[16]; /* to the world, column-major; already applied to positions, normals and tangents */
} rbli_mesh_file_node;

typedef struct rbli_mesh_file_material {
    char *name;          /* valid UTF-8, unique in the file, not empty */
    float base_color[4]; /* linear RGBA; white when the file says nothing */
    char *texture; /* base colour texture as the file names it, relative to the file's folder; "embedded:NAME"
                      for an image inside the file; "" for none */
    rbli_material look; /* the rest; textures are those of the mesh file */
} rbli_mesh_file_material;

/// An image as it is in its file, not decoded.
typedef struct rbli_mesh_file_image {
    char *name;   /* file name without folders, or what the mesh file calls it; valid UTF-8 */
    char *source; /* relative path of the file that it was read from; "" for one inside the mesh file */
    const char *mime_type; /* a constant */
    uint8_t *bytes;
    size_t byte_count; /* at least 1 */
} rbli_mesh_file_image;

/// What a mesh file holds. Owned arrays; rbli_mesh_file_free. Corner 3·t + k belongs to triangle t's vertex
/// k.
typedef struct rbli_mesh_file {
    double (*positions)[3]; /* [position_count] world space; those that triangles use are finite */
    size_t position_count;
    int32_t (*triangles)[3];     /* [triangle_count] into positions, counter-clockwise from outside, also in
                                    mirrored nodes */
    int32_t *triangle_nodes;     /* [triangle_count] */
    int32_t *triangle_materials; /* [triangle_count] or −1 for none */
    size_t triangle_count;       /* at least 1 */

    float (*normals)[3]; /* [3·triangle_count] unit length (shorter in our own .glb, where a cut interpolated
                             them), zero where the file gives none; NULL: no normals
                             at all */
    float (*tangents)[4]; /* [3·triangle_count] unit length and w = ±1, zero where the file gives none; or
                             NULL */
    float (*colors)[4];   /* [3·triangle_count] RGBA 0 … 1, white where the file gives none; or NULL */
    float (*uvs[RBLI_MESH_FILE_UV_SETS])[2]; /* [3·triangle_count] each, v grows downwards as in glTF; zero
                                                where missing */
    size_t uv_set_count;                     /* sets 0 … uv_set_count − 1 are not NULL */

    rbli_mesh_file_node *nodes; /* parents before children */
    size_t node_count;          /* at least 1 */
    rbli_mesh_file_material *materials;
    size_t material_count;
    rbli_texture *textures; /* their images are those of the mesh file */
    size_t texture_count;
    rbli_mesh_file_image *images;
    size_t image_count;

    char **files; /* paths of other files that were read (.mtl, glTF buffers): their content counts, too */
    size_t file_count;
    rbli_message *messages; /* warnings and notes, to be passed on by the caller */
    size_t message_count;
} rbli_mesh_file;

/// What names of other files in a mesh file (.mtl, buffers, images) refer to, and whether such files are read where
/// they are not in this folder or below, by their names: absolute ones, and those with `..`. Links are followed.
typedef struct rbli_mesh_folder {
    const char *path; /* "" for the working folder */
    bool anywhere;
} rbli_mesh_folder;

/// Frees everything inside and zeroes it.
void rbli_mesh_file_free(rbl_context *ctx, rbli_mesh_file *file);

/// Reads a file; the format follows from its first bytes, else from its name.
/// @param out set on success only; rbli_mesh_file_free
/// @return RBL_OK · RBL_ERR_READ · RBL_ERR_PARSE with "path:line: what is wrong" or "path: byte N: what is
/// wrong", also for
///         a file without triangles and for a vertex in use that is not finite · RBL_ERR_LIMIT past 2^31 − 1
///         corners · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED. Threads: reentrant. Cost: linear in the file.
rbl_status rbli_mesh_file_read(rbl_context *ctx, const char *path, rbli_mesh_file *out);
/// The same, with other files read wherever they are if `anywhere`. Else one that is neither in the folder of the mesh
/// nor below is not looked at: RBL_ERR_PARSE for a buffer of glTF, a warning for .mtl and images.
rbl_status rbli_mesh_file_read_with(rbl_context *ctx, const char *path, bool anywhere, rbli_mesh_file *out);

/// The readers. `name` is the file's name for messages and for a node without a name; `folder` is where
/// other files are, NULL: no other file is read. `bytes` need not end with a zero.
/// Otherwise as above.
rbl_status rbli_mesh_file_parse_obj(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);
rbl_status rbli_mesh_file_parse_stl(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);
rbl_status rbli_mesh_file_parse_ply(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);
rbl_status rbli_mesh_file_parse_off(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);
/// GLB or glTF 2.0, told apart by the first bytes. Only the default scene (else the first, else all root
/// nodes).
rbl_status rbli_mesh_file_parse_gltf(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);
/// FBX, DAE (Collada) and 3MF by a child process; in metres with y up, as the file says. @return also RBL_ERR_READ
/// where the program is not there, RBL_ERR_LIMIT past its time or memory
rbl_status rbli_mesh_file_parse_fbx(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);
rbl_status rbli_mesh_file_parse_dae(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);
rbl_status rbli_mesh_file_parse_3mf(rbl_context *ctx, const char *name, const uint8_t *bytes,
    size_t byte_count, const rbli_mesh_folder *folder, rbli_mesh_file *out);

#endif
