#ifndef RUBBLE_GEOMETRY_EMBEDDING_H
#define RUBBLE_GEOMETRY_EMBEDDING_H

/// Whether the boundaries of cells cross or touch themselves, exactly.

#include "fracture/geometry/cell_complex.h"

/// What is tested. Arrays are borrowed.
typedef struct rbli_embedding {
    const rbli_cell_complex *complex; /* its topology; facets with a moved vertex must be triangles */
    const double (*points)[3];        /* [vertex_count] integers, |x| ≤ 2^48 */
    const uint8_t *moved;             /* [vertex_count] not where the planar complex has it */
    const double (*centers)[3];       /* [cell_count] integers; inside each cell of the planar complex */
    const int32_t *cell_start, *cell_facets; /* facets of each cell */
} rbli_embedding;

/// Finds the triangles of cells that cross or touch others of their cell. Ordinary cells pass at once when
/// all their moved triangles face the centre; else all pairs are tested, and the volume must be positive. In
/// outside cells, pairs of triangles that also belong to one other cell are left out: they are tested there.
/// What did not move is taken to be right.
/// @param check_cell  [cell_count] which cells to look at
/// @param bad_vertex  [vertex_count] set to 1 for the vertices of triangles that cross; others are left alone
/// @param found       whether there are any
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool; the result does not depend on it.
rbl_status rbli_find_crossings(rbl_context *ctx, const rbli_embedding *embedding, const uint8_t *check_cell,
    uint8_t *bad_vertex, bool *found);

/// True when two triangles meet anywhere but in the vertices they share (touching counts). Triangles that
/// share an edge are taken to be oriented alike; they cross when one is folded onto the other.
bool rbli_triangles_cross(const double (*points)[3], const int32_t a[3], const int32_t b[3]);

/// Looks for two triangles of a mesh that meet anywhere but in shared vertices.
/// @param points  [point_count] integers, |x| ≤ 2^48
/// @param vertex  −1, or a vertex of such a triangle (the lowest)
rbl_status rbli_find_mesh_crossing(rbl_context *ctx, const double (*points)[3], size_t point_count,
    const int32_t (*triangles)[3], size_t triangle_count, int32_t *vertex);

#endif
