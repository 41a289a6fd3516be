#ifndef RUBBLE_GEOMETRY_VORO_SHIM_H
#define RUBBLE_GEOMETRY_VORO_SHIM_H

/// voro++ behind C: an independent reference for Voronoi cells, for tests and checked runs. It is never given
/// what it cannot bear: see rbli_voro_cells.

#include <stddef.h>

#include "rubble/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Volumes and centroids of the Voronoi cells of sites in a box, by voro++.
///
/// voro++ 0.4.6 loses both of two sites closer than about 1e-11 of the box, drops sites on the upper walls
/// and those that are not finite, and ends the process on some sets of hundreds of cospherical sites
/// disturbed by rounding; the first three are refused here, the last cannot be seen beforehand: not for
/// untrusted sites outside a process of their own.
/// @param sites      [site_count][3], strictly inside the box, pairwise farther apart than 1e-9 of its
/// diagonal
/// @param volumes    [site_count]
/// @param centroids  [site_count][3], or NULL
/// @return RBL_OK · RBL_ERR_ARGUMENT (a site that is refused) · RBL_ERR_NO_MEMORY · RBL_ERR_INTERNAL (voro++
/// lost a
///         site). Outputs are untouched on RBL_ERR_ARGUMENT and RBL_ERR_NO_MEMORY.
/// Threads: reentrant; allocates with the C++ library. Deterministic for one order of sites. Cost: 13 µs a
/// site.
rbl_status rbli_voro_cells(const double (*sites)[3], size_t site_count, const double box_min[3],
    const double box_max[3], double *volumes, double (*centroids)[3]);

#ifdef __cplusplus
}
#endif
#endif
