#ifndef RUBBLE_GEOMETRY_HULL_DECOMPOSE_H
#define RUBBLE_GEOMETRY_HULL_DECOMPOSE_H

/// Approximate convex decomposition of a closed mesh.

#include "fracture/geometry/hull_merge.h"
#include "fracture/geometry/mesh.h"

typedef struct rbli_decompose_options {
    size_t max_hulls;  /* default 1: no decomposition; 0: as many as error_tolerance asks for, at most 64 */
    double max_ratio;  /* meshes that fill at least this part of their hull get one hull; default 1 */
    double min_volume; /* smaller meshes get one hull; default 0 */
    double error_tolerance;   /* a part is good when its hull has less than the cube of this too much */
    double min_thickness;     /* no part is cut off that is thinner than this across the cut; default 0 */
    size_t additional_splits; /* parts beyond max_hulls that are made and then merged again; default 4 */
    const rbli_negative_space_options *protect; /* NULL (default), or spheres that no merging may cover */
} rbli_decompose_options;
rbli_decompose_options rbli_decompose_default_options(void);

/// Hulls that hold the mesh together. The part whose hull is too large by most is cut by a plane until there
/// are enough parts: of planes through concave edges (along either facet and between them) and planes across
/// the axes, the one that leaves the least volume of hulls; if none improves, through the middle. Then pairs
/// are merged that add least (hull_merge.h). Like V-HACD and CoACD (Wei et al. 2022), but on the exact
/// surface: parts are kept as clipped triangles, so nothing is lost to voxels, and their hulls hold all of the
/// solid, also what no surface is near.
/// @param mesh closed; triangles may be a part of an array, positions are indexed as they are
/// @param hull budget and so on of the hulls
/// @param out  set on success only; rbli_hull_set_free. At least one hull.
/// @return RBL_OK · RBL_ERR_ARGUMENT · RBL_ERR_MESH (see rbli_convex_hull) · RBL_ERR_NO_MEMORY ·
/// RBL_ERR_CANCELLED
/// Threads: reentrant. Deterministic.
rbl_status rbli_hull_decompose(rbl_context *ctx, const rbli_mesh_view *mesh,
    const rbli_decompose_options *options, const rbli_hull_options *hull, rbli_hull_set *out);

#endif
