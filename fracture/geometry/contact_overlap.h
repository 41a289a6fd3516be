#ifndef RUBBLE_GEOMETRY_CONTACT_OVERLAP_H
#define RUBBLE_GEOMETRY_CONTACT_OVERLAP_H

/// Overlaps of single triangles: what contact.c adds up.

#include "fracture/base/alloc.h"
#include "fracture/geometry/mesh.h"

/// A triangle of each direction with the same three positions, or −1 where there is none. Faces of one `list`
/// have the same positions.
typedef struct rbli_contact_face {
    int32_t triangle[2];
    int32_t list; /* its lowest triangle */
} rbli_contact_face;

/// Two triangles of different pieces that face each other and overlap.
typedef struct rbli_overlap {
    int32_t a, b; /* pieces, a < b */
    double area;
    int32_t first, second; /* triangles, or −1: both have the same positions */
    bool wide;             /* wider than about twice the tolerance */
} rbli_overlap;
typedef RBLI_ARRAY(rbli_overlap) rbli_overlap_array;

/// Overlaps as parallel loops leave them: those of each part in turn.
typedef struct rbli_overlap_parts {
    rbli_overlap_array *data;
    size_t count;
} rbli_overlap_parts;
void rbli_overlap_parts_free(rbl_context *ctx, rbli_overlap_parts *parts);

typedef struct rbli_overlap_shape {
    double area, perimeter;
    double low[3], high[3];
} rbli_overlap_shape;

/// The overlap of two triangles seen along the normal of the larger one, if they lie there within the
/// tolerance of each other everywhere. Directions do not matter.
/// @return false when there is none; then `out` is the box around one corner, without area
bool rbli_triangle_overlap(
    const rbli_mesh_view *mesh, int32_t first, int32_t second, double tolerance, rbli_overlap_shape *out);

double rbli_triangle_area(const rbli_mesh_view *mesh, int32_t triangle);

/// The faces of all triangles that have an area and a piece, in the order of their lists' lowest triangles, and the
/// overlaps of opposite triangles with the same positions.
/// @param ids   [vertex_count] rbli_position_ids, `id_count` of them
/// @param piece [triangle_count] −1 leaves a triangle out
/// @param faces, overlaps  set on success only; rbli_free, rbli_overlap_parts_free
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. The same for any thread count. Cost: O(n), and the square of a list's length.
rbl_status rbli_make_contact_faces(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *ids,
    size_t id_count, const int32_t *piece, rbli_contact_face **faces, size_t *face_count,
    rbli_overlap_parts *overlaps);

/// Finds the overlaps of all faces of different lists. @param piece [triangle_count], ≥ 0 for those of faces
/// @param out set on success only; rbli_overlap_parts_free
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. The same overlaps in the same order for any thread count. Cost: O(n log
/// n + pairs of boxes that meet).
rbl_status rbli_find_overlaps(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, const rbli_contact_face *faces, size_t face_count, rbli_overlap_parts *out);

#endif
