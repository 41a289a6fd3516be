#ifndef RUBBLE_GEOMETRY_CUT_INNER_H
#define RUBBLE_GEOMETRY_CUT_INNER_H

/// Cells that lie inside the mesh as a whole: pieces as the complex has them. Most cells of a fine fracture do.

#include "fracture/geometry/cut_cell.h"

enum {
    CUT_INNER_VERTICES = 64, /* a cell with more is assembled as others are */
};

/// Fills vertices and the one piece of a convex cell whose facets all lie inside the mesh, and lists the loops of its
/// facets instead of triangles: local vertices in the order of the items, each from the apex of its fan on, counter-
/// clockwise seen from the facet's positive cell.
/// @param loops  empty
/// @param inner  set: whether the cell is such a one, surely closed with each edge once, and surely no film; otherwise
///               `loops` stays empty, and the cell is to be filled by cut_cell_build()
rbl_status cut_inner_build(rbl_context *ctx, const cut_state *state, const cut_items *items, cut_cell *cell,
    cut_byte_list *loops, bool *inner);

/// Writes the triangles of such a cell, in the order that cut_cell_build() would give them.
/// @param first_vertex  of the piece, which is added to all corners
void cut_inner_write(const cut_cap_run *runs, size_t run_count, const uint8_t *loops, int32_t first_vertex,
    int32_t (*triangles)[3], int32_t *sources, int32_t *weights_index);

#endif
