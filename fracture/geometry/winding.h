#ifndef RUBBLE_GEOMETRY_WINDING_H
#define RUBBLE_GEOMETRY_WINDING_H

/// The winding number of a closed mesh at points: how many times the surface encloses them. 1 inside an
/// ordinary solid, 0 outside and in cavities, 2 where two shells overlap, negative inside shells that are
/// inside out.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

typedef struct rbli_winding rbli_winding;

/// @param mesh closed and oriented, may cross itself; not kept. Triangles without area are fine.
/// @param out  set on success only; rbli_winding_destroy
/// @return RBL_OK · RBL_ERR_NO_MEMORY. Cost O(triangles).
rbl_status rbli_winding_create(rbl_context *ctx, const rbli_mesh_view *mesh, rbli_winding **out);
void rbli_winding_destroy(rbl_context *ctx, rbli_winding *winding); /* NULL is fine */

/// Counts the signed crossings of a ray along +x. Decisions are exact for mesh and point rounded to a grid of
/// 2^48 steps over the mesh's extent; a ray through edges and vertices is an ordinary case.
/// @param on_surface NULL, or set to whether the (rounded) point lies on the surface; the number is then one
/// of its
///                   neighbourhood's
/// Threads: reentrant. Cost about O(log triangles + crossings).
int32_t rbli_winding_number(const rbli_winding *winding, const double point[3], bool *on_surface);

/// A point well inside: the middle of the longest stretch of winding ≥ 1 (of winding ≤ −1 if `inverted`) on a
/// few lines along x through the largest triangles. Depends on the mesh's surface and triangle order alone.
/// @return false, and nothing set, if none of the lines meets the inside
bool rbli_winding_deep_point(const rbli_winding *winding, bool inverted, double point[3]);

#endif
