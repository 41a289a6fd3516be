#ifndef RUBBLE_OPS_SURFACE_H
#define RUBBLE_OPS_SURFACE_H

/// Replacing the surface of a collection while everything that belongs to vertices, faces and corners is
/// carried over.

#include "fracture/collection/schema.h"
#include "fracture/geometry/mesh.h"

/// The new surface in terms of the old one. All arrays are borrowed.
typedef struct rbli_surface_map {
    size_t vertex_count;
    const double (*positions)[3]; /* [vertex_count] */
    const int32_t *vertex_source; /* [vertex_count] old vertex, or −1 */
    size_t face_count;
    const int32_t (*faces)[3];  /* [face_count] into the new vertices */
    const int32_t *face_source; /* [face_count] old face, or −1 */
    const int32_t
        *weights_index; /* [face_count] −1: the old face's corners in their order; else a row of weights */
    const double (*weights)[3][3]; /* [row][new corner][old corner] */
    /* Attributes of corners, up to NULL, that stay unset at faces without a source because the caller sets them
       there; NULL: none. */
    const char *const *set_by_caller;
} rbli_surface_map;

/// Replaces the groups vertex, face and corner. Attributes of floating point are interpolated on the old
/// face, others come from the old vertex, face or the old corner of the largest weight; new vertices and
/// faces without a source get zeros. vertex.position and face.vertices are the map's. Normals are interpolated
/// like all else and not made unit again: so the new face, interpolated in turn, has the old one's normal at
/// every point, in direction and length. Where normals cancel each other out, a new corner takes that of the
/// nearest old one.
/// @param collection changed in place, on success only as a whole
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count. Cost: O(vertices + faces).
rbl_status rbli_surface_replace(rbl_context *ctx, rbl_collection *collection, const rbli_surface_map *map);
/// The same, but `positions` and `faces` of the map, from rbli_alloc, become the collection's own arrays instead of being
/// copied. @param map what was taken is NULL afterwards, also after a failure; the rest stays the caller's
rbl_status rbli_surface_replace_taking(rbl_context *ctx, rbl_collection *collection, rbli_surface_map *map);

/// Gives every corner of a face without a normal (all zero) the face's own unit normal. Makes corner.normal
/// when missing. A face without area gets (0, 0, 1).
rbl_status rbli_surface_fill_flat_normals(rbl_context *ctx, rbl_collection *collection);

/// Recomputes volume and bounds of the geometries from `first` on.
rbl_status rbli_surface_measure(rbl_context *ctx, rbl_collection *collection, size_t first);

/// The index of a material by name, added when missing (with a base colour for "interior").
rbl_status rbli_material_index(rbl_context *ctx, rbl_collection *collection, const char *name, int32_t *out);

#endif
