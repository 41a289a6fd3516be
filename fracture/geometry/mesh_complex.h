#ifndef RUBBLE_GEOMETRY_MESH_COMPLEX_H
#define RUBBLE_GEOMETRY_MESH_COMPLEX_H

/// Cell complexes of cutter meshes: solids that lie apart, or a sheet.

#include "fracture/geometry/cell_complex.h"
#include "fracture/geometry/mesh.h"

/// True when each directed edge of the mesh is met exactly once by its reverse.
rbl_status rbli_mesh_is_closed(rbl_context *ctx, const rbli_mesh_view *mesh, bool *closed);

/// True when two triangles of a mesh meet anywhere but in shared vertices; then `where` (may be NULL) is a
/// point near one such place. Exact on a grid of 2^48 steps over the mesh.
rbl_status rbli_mesh_crosses_itself(
    rbl_context *ctx, const rbli_mesh_view *mesh, bool *crosses, double where[3]);

/// Cell 0 is the outside of all solids, cell 1 + i the inside of solid i.
/// @param solids  closed, outward, apart from each other, strictly inside the box
/// @param sites   [count] cell_site of the insides; the outside gets 0
/// @param out     set on success only. facet_origin is the triangle's number, counted through all solids.
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT
rbl_status rbli_solids_complex(rbl_context *ctx, const rbli_mesh_view *solids, const int32_t *sites,
    size_t count, const double box_min[3], const double box_max[3], rbli_cell_complex **out);

/// A sheet with a film behind it: cell 0 is all space but the film, cell 1 the film, which has no thickness
/// at the sheet's border and `thickness` elsewhere. Facets 0 … sheet_facets − 1 are the sheet itself (cell 1
/// behind, cell 0 in front), the next sheet_facets the film's back (cell 0 behind).
/// Edges between two border vertices are split, so that front and back share the border alone.
/// @param sheet  consistently oriented, with a border, strictly inside the box
/// @param thickness  is made less, down to 1e-4 of it, until the film does not cross itself
/// @return RBL_OK · RBL_ERR_MESH (not consistently oriented, an edge of three triangles, or no film fits: the
/// sheet crosses or touches
///         itself) · RBL_ERR_NO_MEMORY
rbl_status rbli_sheet_complex(rbl_context *ctx, const rbli_mesh_view *sheet, double thickness,
    const double box_min[3], const double box_max[3], size_t *sheet_facets, rbli_cell_complex **out);

#endif
