#ifndef RUBBLE_GEOMETRY_CUT_SHEET_H
#define RUBBLE_GEOMETRY_CUT_SHEET_H

/// Cuts an open surface by a cell complex: no caps, nothing is closed (MESHES.md, step 11).

#include "fracture/geometry/cell_complex.h"
#include "fracture/geometry/mesh.h"

/// Connected parts within cells. Fragment f owns vertices vertex_start[f] … and triangles triangle_start[f]
/// …; triangles index `positions` absolutely. Fragments are ordered by cell, then by their first triangle.
typedef struct rbli_sheet_fragments {
    size_t fragment_count;
    int32_t *cell;           /* [fragment_count] */
    int32_t *vertex_start;   /* [fragment_count + 1] */
    int32_t *triangle_start; /* [fragment_count + 1] */
    size_t vertex_count, triangle_count;
    double (*positions)[3];
    int32_t *vertex_source; /* [vertex_count] source vertex, or −1 */
    int32_t (*triangles)[3];
    rbli_triangle_origins origins;
} rbli_sheet_fragments;

void rbli_sheet_fragments_destroy(rbl_context *ctx, rbli_sheet_fragments *fragments); /* NULL is fine */

/// Each triangle is cut by itself, by the cut's arrangement: any surface will do. Parts without area are left
/// out.
/// @param complex must contain the mesh's bounds strictly
/// @param out     set on success only
/// @return as rbli_cut. Threads: reentrant; uses the context's pool. Same bytes for any thread count.
rbl_status rbli_cut_sheet(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_cell_complex *complex,
    rbli_sheet_fragments **out);

#endif
