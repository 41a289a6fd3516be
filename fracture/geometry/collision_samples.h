#ifndef RUBBLE_GEOMETRY_COLLISION_SAMPLES_H
#define RUBBLE_GEOMETRY_COLLISION_SAMPLES_H

/// Points on a surface for collisions of points against volumes.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

/// Points of the surface that together with the mesh's vertices leave no point of it farther than `spacing`
/// from the nearest of them.
///
/// Method: triangles are halved at their longest side until it is below √3/2 of the spacing; a middle becomes
/// a sample unless a vertex or sample lies within half the spacing. Then every point of the surface is within
/// half the spacing of a corner of a part, and that within half the spacing of a sample. No two samples are
/// nearer than half the spacing.
/// @param mesh    vertices are those that triangles use
/// @param spacing > 0
/// @param most    most samples
/// @param out     [*count] freed by the caller with rbli_free; set on success only
/// @return RBL_OK · RBL_ERR_LIMIT (more than `most` samples, found early by the area, or an extent of more
/// than 2^40 spacings; no message) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED Threads: reentrant. Deterministic.
/// Cost: O(triangles + area / spacing²), 125 look-ups a sample.
rbl_status rbli_collision_samples(rbl_context *ctx, const rbli_mesh_view *mesh, double spacing, size_t most,
    double (**out)[3], size_t *count);

#endif
