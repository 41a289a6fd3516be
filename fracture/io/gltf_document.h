#ifndef RUBBLE_IO_GLTF_DOCUMENT_H
#define RUBBLE_IO_GLTF_DOCUMENT_H

/// glTF 2.0 as a container: JSON, buffers, views and accessors, all checked.

#include <cjson/cJSON.h>

#include "fracture/io/mesh_builder.h"

/// A JSON array flattened, because cJSON's arrays are linked lists.
typedef struct rbli_gltf_list {
    const cJSON **items;
    size_t count;
} rbli_gltf_list;

typedef struct rbli_gltf_buffer {
    const uint8_t *bytes;
    size_t count;
    uint8_t *owned; /* NULL for the file's own chunk */
    bool loaded;
} rbli_gltf_buffer;

/// EXT_meshopt_compression of a view.
typedef struct rbli_gltf_packed {
    bool used;
    size_t buffer, offset, length, stride, count;
    int mode, filter;
    uint8_t *bytes; /* decoded; NULL at first */
} rbli_gltf_packed;

typedef struct rbli_gltf_view {
    size_t buffer, offset, length, stride; /* stride 0: tightly packed */
    rbli_gltf_packed packed;
} rbli_gltf_view;

enum { RBLI_GLTF_NONE = -1 };

typedef struct rbli_gltf_accessor {
    int64_t view; /* or RBLI_GLTF_NONE: zeros */
    size_t offset, count, width;
    int component; /* 5120 … 5126 */
    bool normalized;
    size_t sparse_count, sparse_index_offset, sparse_value_offset;
    int64_t sparse_index_view, sparse_value_view;
    int sparse_index_component;
} rbli_gltf_accessor;

typedef struct rbli_gltf_document {
    rbl_context *ctx;
    const char *name;
    const rbli_mesh_folder *folder; /* NULL: no other file is read */
    rbli_mesh_builder *builder;     /* gets the names of files that are read */
    const uint8_t *bytes;
    size_t byte_count;
    const uint8_t *chunk; /* binary chunk of a GLB */
    size_t chunk_bytes;
    cJSON *root;
    rbli_gltf_list buffer_items, nodes, meshes, materials, textures, images, samplers, scenes;
    rbli_gltf_buffer *buffers;
    size_t buffer_count;
    rbli_gltf_view *views;
    size_t view_count;
    rbli_gltf_accessor *accessors;
    size_t accessor_count;
    int32_t *image_of; /* [images.count] of the mesh file, −1 left out, −2 not asked for yet; NULL at first */
} rbli_gltf_document;

/// Parses the container; buffers are loaded when an accessor needs them. Free it also after a failure.
rbl_status rbli_gltf_document_parse(rbli_gltf_document *document);
void rbli_gltf_document_free(rbli_gltf_document *document);

/// An error "name: pointer: text".
rbl_status rbli_gltf_fail(const rbli_gltf_document *document, const char *pointer, const char *format, ...)
    RBL_PRINTF(3, 4);
/// object[key] as an index below `limit`; RBLI_GLTF_NONE when missing.
rbl_status rbli_gltf_index(const rbli_gltf_document *document, const cJSON *object, const char *pointer,
    const char *key, size_t limit, int64_t *out);
/// object[key] as a whole number of at least 0, `missing` where there is none.
rbl_status rbli_gltf_size(const rbli_gltf_document *document, const cJSON *object, const char *pointer,
    const char *key, size_t missing, size_t *out);
/// object[key] as exactly `count` finite numbers; *found false and out untouched when missing.
rbl_status rbli_gltf_numbers(const rbli_gltf_document *document, const cJSON *object, const char *pointer,
    const char *key, size_t count, double *out, bool *found);
/// object[key] when it is a string, else NULL.
const char *rbli_gltf_string(const cJSON *object, const char *key);
/// Percent-decodes a relative URI into a file name. NULL without memory.
char *rbli_gltf_decode_uri(rbl_context *ctx, const char *uri);

/// Reads the compression of a view, if it has one that this build can decode.
rbl_status rbli_gltf_read_packed(
    const rbli_gltf_document *document, const cJSON *item, const char *pointer, rbli_gltf_view *view);
/// Decodes a view out of its (loaded) buffer, once.
rbl_status rbli_gltf_unpack(const rbli_gltf_document *document, const char *pointer, rbli_gltf_view *view,
    const rbli_gltf_buffer *buffer);
/// Bytes of a buffer view, borrowed from the document. RBL_ERR_PARSE where it leaves its buffer.
rbl_status rbli_gltf_view_bytes(
    rbli_gltf_document *document, size_t view, const uint8_t **out, size_t *out_bytes);
/// The content of a base64 data URI; freed by the caller.
rbl_status rbli_gltf_decode_data_uri(
    rbli_gltf_document *document, const char *pointer, const char *uri, uint8_t **out, size_t *out_bytes);
/// Adds material `index` to the builder, with its textures and their images. An image that cannot be had is a
/// warning.
rbl_status rbli_gltf_add_material(rbli_gltf_document *document, size_t index);

/// Whether an accessor has a known type and lies in its view, as far as that can be told without its buffer.
rbl_status rbli_gltf_check_accessor(const rbli_gltf_document *document, size_t accessor);
/// Values of an accessor as [count][width] doubles, integers divided by their maximum where normalised; freed
/// by the caller. RBL_ERR_PARSE where the accessor leaves its buffer.
rbl_status rbli_gltf_read_values(rbli_gltf_document *document, size_t accessor, double **out);
/// The same into memory of the caller for count · width of them.
rbl_status rbli_gltf_read_values_into(rbli_gltf_document *document, size_t accessor, double *out);
/// Values of an accessor of unsigned integers as indices below `limit`; freed by the caller.
rbl_status rbli_gltf_read_indices(
    rbli_gltf_document *document, size_t accessor, size_t limit, uint32_t **out);

#endif
