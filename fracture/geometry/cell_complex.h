#ifndef RUBBLE_GEOMETRY_CELL_COMPLEX_H
#define RUBBLE_GEOMETRY_CELL_COMPLEX_H

/// The cell complex K that every cutter makes and the one cut consumes (CUT.md).

#include <stdbool.h>

#include "fracture/base/context.h"

/// Indexed vertices and polygonal facets with a cell on each side. Conforming: neighbours share vertices and
/// edges, every cell's boundary is closed (each directed edge of a cell's facets, oriented outward, is met
/// once by its reverse). Cells are 0 … cell_count − 1; −1 is the outside of the padded box that K fills.
typedef struct rbli_cell_complex {
    double (*vertices)[3]; /* [vertex_count], source coordinates */
    size_t vertex_count;
    size_t facet_count;
    int32_t *facet_start;      /* [facet_count + 1] into facet_vertices */
    int32_t *facet_vertices;   /* loop of each facet, counter-clockwise seen from its positive cell */
    int32_t (*facet_cells)[2]; /* [facet_count] (negative, positive): the normal points from negative to
                                  positive */
    int32_t
        *facet_origin; /* [facet_count] which plane, bisector or cutter triangle made it; facets of one origin
                          are one planar cut (used for UV projection); −1 for walls of the padded box */
    size_t cell_count;
    int32_t *cell_site; /* [cell_count] index of the site, plane region, brick or copy that made the cell */
    double (*cell_point)[3];   /* [cell_count] a point strictly inside the cell, or NULL: for Voronoi the site
                                as rounded, which lies outside the box if the site does */
    size_t outside_cell_count; /* so many cells at the end are no pieces of their own but what lies between or
                                  outside of the others (mortar); their cell_site is −1 */
    double (*facet_normal)[3]; /* [facet_count] or NULL: the unit normal of the planar facet that a displaced
                                  triangle belongs to, so that UVs run over the whole of it */
    bool convex; /* every cell is convex and every facet planar up to rounding: the cut may take short ways */
} rbli_cell_complex;

/// Frees all arrays and the struct; NULL is fine.
void rbli_cell_complex_destroy(rbl_context *ctx, rbli_cell_complex *complex);

/// Checks indices, that every cell is closed and that loops have at least three different vertices. O(size).
/// @return RBL_OK · RBL_ERR_INTERNAL with a message that names the first bad facet or cell
rbl_status rbli_cell_complex_check(rbl_context *ctx, const rbli_cell_complex *complex);

/// The Voronoi cells of `sites` clipped to a box, from an exact Delaunay triangulation (CUT.md, K).
///
/// Sites closer than 1e-9 of the extent are merged (the lowest index stays); `*merged_count` (may be NULL)
/// counts the ones merged away and `first_merged` (may be NULL) receives one such pair of indices.
/// @param sites    [site_count][3], finite; site_count ≥ 1
/// @param box_min, box_max  box to fill; sites may lie outside it, cells that do not reach the box do not
/// appear. A box
///                 smaller than the rounding of the distances to all sites (2^-36 of them) goes to the
///                 nearest site.
/// @param out      set on success only; rbli_cell_complex_destroy. `cell_site` holds indices into `sites`.
/// @return RBL_OK · RBL_ERR_ARGUMENT (no site, not finite, empty box) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// ·
///         RBL_ERR_LIMIT (more than 30,000,000 sites)
/// Threads: reentrant. Deterministic, independent of the order of insertion. Cost: O(n log n) expected.
rbl_status rbli_voronoi_complex(rbl_context *ctx, const double (*sites)[3], size_t site_count,
    const double box_min[3], const double box_max[3], size_t *merged_count, size_t first_merged[2],
    rbli_cell_complex **out);

/// The subdivision of a box by planes, plane by plane (CUTTERS.md, planes). Planes nx·x + ny·y + nz·z = d as
/// four doubles; normals need not be unit. Duplicates (distance difference < 1e-9 of the size over the box
/// corners, either side) are dropped and counted in `*duplicate_count` (may be NULL). Cells are numbered
/// canonically (by the signs to the kept planes), whatever the planes' order of insertion; `cell_site` = cell
/// number.
/// @return RBL_OK · RBL_ERR_ARGUMENT (zero or not finite normal: the message names the plane) ·
/// RBL_ERR_NO_MEMORY ·
///         RBL_ERR_CANCELLED · RBL_ERR_LIMIT (more than 10,000,000 cells)
rbl_status rbli_plane_complex(rbl_context *ctx, const double (*planes)[4], size_t plane_count,
    const double box_min[3], const double box_max[3], size_t *duplicate_count, rbli_cell_complex **out);

#endif
