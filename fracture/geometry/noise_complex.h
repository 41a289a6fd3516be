#ifndef RUBBLE_GEOMETRY_NOISE_COMPLEX_H
#define RUBBLE_GEOMETRY_NOISE_COMPLEX_H

/// Rough cut surfaces: a complex whose facets are refined and displaced by noise (CUTTERS.md, noise).

#include "fracture/geometry/cell_complex.h"
#include "fracture/geometry/mesh.h"
#include "fracture/geometry/noise.h"

typedef struct rbli_noise_options {
    rbli_noise noise;
    double point_spacing; /* of the points that are displaced; default 0.1; > 0 */
    double gap;           /* width of the gaps of an eroded complex, 0: none; both sides of one move alike */
    size_t most_vertices; /* default 1,000,000: above, the spacing grows */
} rbli_noise_options;
rbli_noise_options rbli_noise_default_options(void);

typedef struct rbli_noise_report {
    double spacing;       /* the spacing used */
    size_t moved_count;   /* vertices that were displaced */
    size_t reduced_count; /* of these, less than the noise says, so that no surface crosses itself */
} rbli_noise_report;

/// Refines facets near or inside the meshes with a hexagonal lattice, displaces it, and makes every triangle
/// a facet. Facets that two cells share stay shared. Vertices of the planar complex take all of the noise;
/// points on its edges lose the part along the edge, points inside facets the part in the facet's plane,
/// where they are away from the ends or the border. What would make a cell cross or touch itself is displaced
/// less: cells are embedded, which is decided exactly on the grid that the cut uses.
/// @param complex  convex cells, planar facets; cells eroded or not
/// @param out      set on success only; `facet_normal` is set. Walls of the box do not move.
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count.
rbl_status rbli_noise_complex(rbl_context *ctx, const rbli_cell_complex *complex,
    const rbli_noise_options *options, const rbli_mesh_view *meshes, size_t mesh_count,
    rbli_noise_report *report, rbli_cell_complex **out);

#endif
