#ifndef RUBBLE_GEOMETRY_RELAX_H
#define RUBBLE_GEOMETRY_RELAX_H

/// Lloyd relaxation: sites move to the centroids of their Voronoi cells, which makes pieces even.

#include "fracture/base/context.h"

/// Moves sites towards a centroidal Voronoi tessellation of a box.
///
/// Cells are those of rbli_voronoi_complex, exact on degenerate sets, where voro++ ends the process. Sites
/// without a cell (outside and far from the box, or merged into another one) stay where they are.
/// @param sites       [site_count][3], finite; moved in place; untouched on failure
/// @param iterations  ≥ 0; ten make cells clearly more even
/// @return RBL_OK · RBL_ERR_ARGUMENT (as rbli_voronoi_complex) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Source: Lloyd 1982, Least squares quantization in PCM. Threads: reentrant. Deterministic.
/// Cost: about 10 µs a site and iteration.
rbl_status rbli_voro_relax(rbl_context *ctx, double (*sites)[3], size_t site_count, const double box_min[3],
    const double box_max[3], int iterations);

#endif
