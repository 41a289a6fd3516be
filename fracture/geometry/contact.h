#ifndef RUBBLE_GEOMETRY_CONTACT_H
#define RUBBLE_GEOMETRY_CONTACT_H

/// Which pieces touch, and on what area.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

/// Two pieces that touch in an area; edges and vertices alone are no contact.
typedef struct rbli_touch {
    int32_t piece_a, piece_b; /* a < b */
    double area;
    double matched_area; /* the part of it in pairs of opposite triangles with equal positions */
} rbli_touch;

/// Finds the contacts of all pieces at once: triangles that meet an opposite one of the same three positions
/// (what cuts make), and overlaps of triangles that face each other and lie, where they overlap, within the
/// tolerance of each other. A contact must be wider than about twice the tolerance somewhere: what is thinner
/// everywhere is an edge and does not count, unless positions are equal. Pieces may overlap in any way.
/// Source: GEO §8, precise.
/// @param mesh  all pieces in one space
/// @param piece [triangle_count] owner of each triangle, ≥ 0; −1 leaves a triangle out
/// @param tolerance  a length ≥ 0; the rounding of the largest coordinate is added to it
/// @param out   sorted by (a, b), freed by the caller with rbli_free; set on success only, with `*count`
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant, uses the context's pool. Same bytes for any thread count. Cost: O(n log n + pairs of
/// boxes that meet).
rbl_status rbli_find_contacts(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, rbli_touch **out, size_t *count);

/// Finds the pairs of pieces that have vertices within the tolerance of each other; areas are 0. Parameters,
/// result and errors as above. Runs on the caller's thread. Cost: O(n log n + pairs found, of each vertex).
rbl_status rbli_find_shared_vertices(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *piece,
    double tolerance, rbli_touch **out, size_t *count);

/// Gives equal positions equal numbers 0 … *unique_count − 1, in order of first appearance. −0 equals 0.
/// @param ids [count]
rbl_status rbli_position_ids(
    rbl_context *ctx, const double (*positions)[3], size_t count, int32_t *ids, size_t *unique_count);

/// For each triangle one of another piece with the same three ids the other way round: opposite[t] = its
/// partner or −1. A triangle is in one pair at most; those with a repeated id or of piece −1 are in none.
/// @param ids       [vertex_count] rbli_position_ids of the triangles' vertices
/// @param opposite  [triangle_count]
rbl_status rbli_match_opposite(rbl_context *ctx, const int32_t (*triangles)[3], size_t triangle_count,
    const int32_t *ids, const int32_t *piece, int32_t *opposite);

#endif
