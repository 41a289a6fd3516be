#ifndef RUBBLE_IO_MESH_BUILDER_H
#define RUBBLE_IO_MESH_BUILDER_H

/// What the mesh readers share: making an rbli_mesh_file piece by piece, and polygons with their checks.

#include <float.h>
#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/io/mesh_file.h"

/// Strings numbered in order of first appearance. Open addressing, keys hashed by XXH3.
typedef struct rbli_names {
    RBLI_ARRAY(char *) list;
    uint32_t *slots; /* index + 1, or 0 */
    size_t slot_count;
} rbli_names;
/// The index of `text` (made valid by rbli_clean_text), added if new. *out set on success.
rbl_status rbli_names_add(rbl_context *ctx, rbli_names *names, const char *text, size_t length, int32_t *out);
/// The same without adding: −1 for a new one.
rbl_status rbli_names_find(
    rbl_context *ctx, const rbli_names *names, const char *text, size_t length, int32_t *out);
void rbli_names_free(rbl_context *ctx, rbli_names *names);

/// A copy of bytes as valid UTF-8 without control characters ('?' for what is not); `empty` when it would be
/// empty. NULL without memory.
char *rbli_clean_text(rbl_context *ctx, const char *text, size_t length, const char *empty);
/// File name without folder and extension, cleaned, "mesh" when nothing is left. NULL without memory.
char *rbli_file_stem(rbl_context *ctx, const char *name);
/// folder + "/" + relative, or relative alone when it is absolute or the folder is empty. NULL without
/// memory.
char *rbli_join_path(rbl_context *ctx, const char *folder, const char *relative);

/// Whether a file that a mesh names may be read: its name stays in the folder or below, or all may be.
bool rbli_may_read(const rbli_mesh_folder *folder, const char *relative);

/// A mesh file under way.
typedef struct rbli_mesh_builder {
    rbl_context *ctx;
    const char *name;
    rbli_mesh_file file;
    rbli_names material_names;
    size_t node_capacity, material_capacity, file_capacity, message_capacity;
    size_t texture_capacity, image_capacity, image_bytes; /* of all images */
    rbli_names image_paths;                               /* asked for so far */
    RBLI_ARRAY(int32_t) image_of_path;
    bool images_exceed; /* told */
} rbli_mesh_builder;

/// Frees what the builder holds, the unfinished file included.
void rbli_builder_free(rbli_mesh_builder *builder);
/// Ends a builder: on RBL_OK the file goes to *out, else it is freed. Returns `status`.
rbl_status rbli_builder_end(rbli_mesh_builder *builder, rbl_status status, rbli_mesh_file *out);

/// Adds a node; `name` is copied and cleaned. Identity when `transform` is NULL.
rbl_status rbli_builder_add_node(
    rbli_mesh_builder *builder, const char *name, size_t length, int32_t parent, const double transform[16]);
/// Adds a white material; a name in use gets "_" and a number
rbl_status rbli_builder_add_material(rbli_mesh_builder *builder, const char *name, size_t length);
rbl_status rbli_builder_add_file(rbli_mesh_builder *builder, const char *path);
/// Adds a warning or note "name: text".
rbl_status rbli_builder_message(rbli_mesh_builder *builder, rbli_severity severity, const char *format, ...)
    RBL_PRINTF(3, 4);

/// Most bytes of all images of a mesh file, and most images.
enum { RBLI_MOST_IMAGE_BYTES = 64 << 20, RBLI_MOST_IMAGES = 4096 };
/// Adds an image, copying its bytes. An image for which there is no room, or of a kind that is not known, is left
/// out with a warning: *out is −1.
/// @param mime_type what the file says, or NULL; the bytes know better
/// @param source    relative path, "" for an image inside the mesh file
rbl_status rbli_builder_add_image(rbli_mesh_builder *builder, const char *name, const char *source,
    const char *mime_type, const uint8_t *bytes, size_t byte_count, int32_t *out);
/// Reads an image file, once for each path. One that is not there, is too large, or is not in or below `folder`
/// (absolute paths, `..`; unless `anywhere`) is left out with a warning that names it: *out is −1. NULL for `folder`: no file is
/// read, and nothing said.
rbl_status rbli_builder_load_image(
    rbli_mesh_builder *builder, const rbli_mesh_folder *folder, const char *relative, int32_t *out);
/// Adds a texture, or finds one of the last ones that is the same.
rbl_status rbli_builder_add_texture(rbli_mesh_builder *builder, const rbli_texture *texture, int32_t *out);

/// Allocates triangles, triangle_nodes (0) and triangle_materials (−1). RBL_ERR_LIMIT past 2^31 − 1 corners;
/// RBL_ERR_PARSE "no triangles" for 0.
rbl_status rbli_builder_set_triangle_count(rbli_mesh_builder *builder, size_t count);
/// Allocates zeroed normals, white colours or a zeroed UV set (and those below it) unless they are there.
rbl_status rbli_builder_add_normals(rbli_mesh_builder *builder);
rbl_status rbli_builder_add_tangents(rbli_mesh_builder *builder);
rbl_status rbli_builder_add_colors(rbli_mesh_builder *builder);
rbl_status rbli_builder_add_uvs(rbli_mesh_builder *builder, size_t set);
/// Scales colours to 0 … 1 where a file wrote 0 … 255, and clamps.
void rbli_builder_fix_colors(rbli_mesh_builder *builder);

/// A texture coordinate as a float; 0 for what is not finite or too large for one.
static inline float rbli_finite_float(double value)
{
    return fabs(value) <= FLT_MAX ? (float)value : 0;
}

/// A unit vector, or zero for a zero or not finite one.
void rbli_unit_normal(const double normal[3], float out[3]);

/// A polygon of a file: corners `start` … of some corner array.
typedef struct rbli_file_polygon {
    size_t start;
    size_t place; /* line, or byte offset */
    int32_t node, material;
} rbli_file_polygon;

/// What rbli_builder_triangulate needs to know. Polygon p has the corners polygons[p].start … polygons[p +
/// 1].start − 1 (one more entry than polygons ends the last).
typedef struct rbli_polygon_input {
    const rbli_file_polygon *polygons; /* [polygon_count + 1] */
    size_t polygon_count;
    const int32_t *corner_positions; /* checked to be in range */
    size_t first_index;              /* what the file calls the first vertex (for messages) */
    const char *place_format;        /* "%s:%zu: " or "%s: byte %zu: " */
    const size_t *position_places;   /* line or offset of positions, [position_count]; or NULL */
} rbli_polygon_input;

/// Sets triangles, nodes and materials of the file from polygons of at least three corners, and gives for
/// each triangle corner the polygon corner it came from (freed by the caller; NULL: not wanted). Positions must be set. A
/// vertex in use that is not finite is an error with its number and place.
rbl_status rbli_builder_triangulate(
    rbli_mesh_builder *builder, const rbli_polygon_input *input, int32_t **corner_sources);

#endif
