#ifndef RUBBLE_GEOMETRY_THICKEN_H
#define RUBBLE_GEOMETRY_THICKEN_H

/// Solids from surfaces that have no inside.

#include "fracture/geometry/repair.h"

/// Turns every sheet of a repaired mesh, two-sided ones too, into a solid: its front and its back, each half
/// the thickness away from it with mitred corners, and walls along its border. Sharp corners move at most
/// four times as far.
/// @param result    changed in place: shells keep their places, their triangles are new
/// @param thickness > 0, in source units
/// @return RBL_OK · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY (the result may only be destroyed then)
/// Threads: reentrant. Deterministic. Cost: O(n log n).
rbl_status rbli_thicken_sheets(rbl_context *ctx, rbli_repair_result *result, double thickness);

#endif
