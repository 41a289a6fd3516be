#ifndef RUBBLE_GEOMETRY_COMPLEX_ERODE_H
#define RUBBLE_GEOMETRY_COMPLEX_ERODE_H

/// Gaps between the cells of a complex: grout (CUTTERS.md).

#include "fracture/geometry/cell_complex.h"

/// Erodes every cell by `distance`: what is left of it are the points at least that far from each of its
/// facets, so the gap between two neighbours is exactly twice the distance, measured across their facet. All
/// that is left over becomes one more cell, the last one, with cell_site −1 (`outside_cell_count` is then 1).
///
/// Each cell is clipped by its own facets' planes moved inward (Sutherland and Hodgman 1974, on facets that
/// share their new vertices); what closes a cell is the boundary of what is left, so cells are closed
/// whatever rounding does. Cells with numbers from cell_count − outside_cell_count on belong to the gap as a
/// whole.
/// @param complex  convex cells and planar facets (the outside cells may have any shape)
/// @param distance > 0
/// @param vanished may be NULL: how many cells have no point left
/// @param out      set on success only; the walls are those of `complex`. Facets keep their origin.
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT · RBL_ERR_CANCELLED
/// Threads: reentrant. Deterministic. Cost: O(Σ facets of a cell × corners of a cell).
rbl_status rbli_complex_erode(rbl_context *ctx, const rbli_cell_complex *complex, double distance,
    size_t *vanished, rbli_cell_complex **out);

#endif
