#ifndef RUBBLE_GEOMETRY_HULL_MERGE_H
#define RUBBLE_GEOMETRY_HULL_MERGE_H

/// Fewer hulls that hold the same: merging, and empty space that they must not cover.

#include "fracture/geometry/hull_edit.h"
#include "fracture/geometry/mesh.h"

/// Empty spheres.
typedef struct rbli_spheres {
    double (*centers)[3]; /* [count] */
    double *radii;        /* [count] */
    size_t count;
} rbli_spheres;
void rbli_spheres_free(rbl_context *ctx, rbli_spheres *spheres);

typedef struct rbli_negative_space_options {
    size_t samples;    /* most spheres; default 50 */
    double tolerance;  /* space left between a sphere and the bodies; default 0.02 m */
    double min_radius; /* smaller spheres are left out; default 0.1 m */
} rbli_negative_space_options;
rbli_negative_space_options rbli_negative_space_default_options(void);

/// Spheres in the empty space between bodies, inside their common bounds: of points of a Halton sequence the
/// one with the most room becomes a sphere, points inside it drop out, and so on.
/// @param hulls  [hull_count] convex bodies
/// @param mesh   NULL, or a closed body
/// @return RBL_OK · RBL_ERR_NO_MEMORY. Deterministic. Cost: 64 × samples distances to all bodies near.
rbl_status rbli_negative_space(rbl_context *ctx, const rbli_hull *hulls, size_t hull_count,
    const rbli_mesh_view *mesh, const rbli_negative_space_options *options, rbli_spheres *out);

typedef struct rbli_hull_merge_options {
    size_t max_hulls;            /* merge until there are this many; 0: only what error_tolerance allows */
    double error_tolerance;      /* merge further while the volume added stays below its cube; default 0 */
    double distance;             /* hulls farther apart are not merged; negative (default): any may be */
    const rbli_spheres *spheres; /* NULL, or space that no merged hull may newly cover */
} rbli_hull_merge_options;
rbli_hull_merge_options rbli_hull_merge_default_options(void);

/// Merges hulls into the hull of both, the pair that adds the least volume first. More than 32 hulls are
/// first put together by halving the set at the middle of its longest side, as far as the spheres allow. More
/// than `max_hulls` may be left when distance or spheres forbid to go on.
/// @param set changed on success only
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_ARGUMENT · RBL_ERR_LIMIT (over 2048 hulls and no number to
/// reach). Deterministic; the order of the hulls decides
/// between equals.
rbl_status rbli_hull_merge(rbl_context *ctx, rbli_hull_set *set, const rbli_hull_merge_options *options);

#endif
