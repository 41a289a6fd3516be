#ifndef RUBBLE_GEOMETRY_SURFACE_POINTS_H
#define RUBBLE_GEOMETRY_SURFACE_POINTS_H

/// Points on the surface of a mesh: Poisson-disk samples, and vertices thinned out.
///
/// Results are arrays that the caller frees with rbli_free; outputs are set on success only. Threads:
/// reentrant. Deterministic.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

typedef enum rbli_radius_distribution {
    RBLI_RADIUS_UNIFORM, /* all radii in the range alike */
    RBLI_RADIUS_SMALLER, /* more small ones: the share of the range is squared */
    RBLI_RADIUS_LARGER,  /* more large ones */
} rbli_radius_distribution;

typedef struct rbli_surface_points_options {
    double radius;     /* > 0; default 0.1 */
    double max_radius; /* 0 (default) or ≤ radius: all radii are `radius`; else radii range from one to the
                          other */
    rbli_radius_distribution distribution; /* of the radii that are tried */
    size_t max_count;                      /* 0 (default): as many as fit; else a random part of them */
    uint32_t seed;
} rbli_surface_points_options;
rbli_surface_points_options rbli_surface_points_default_options(void);

/// Points whose distance is at least the sum of their radii (2·radius where all are alike), measured in a
/// straight line.
///
/// Method: dart throwing on a surface sampled ten times a disk (Cook 1986), from the largest radius to the
/// smallest. The rest that is left free is small, not empty.
/// @param radii NULL, or receives the radius of each point
/// @return RBL_OK · RBL_ERR_ARGUMENT (no area, radius) · RBL_ERR_LIMIT (more than about 1,000,000 points
/// would fit: the message names the least radius) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED Cost: about 20
/// tries a point.
rbl_status rbli_surface_points(rbl_context *ctx, const rbli_mesh_view *mesh,
    const rbli_surface_points_options *options, size_t *count, double (**out)[3], double **radii);

/// Vertices that triangles use, those at equal positions taken together.
typedef struct rbli_mesh_vertices {
    double (*positions)[3]; /* [count] in the order of the first vertex of each */
    double (
        *normals)[3]; /* [count] mean of the faces' normals by area, unit; (0, 0, 1) where they cancel out */
    double *sharpness; /* [count] 0 flat … 2: 1 − cosine of the largest angle between a face and the normal */
    size_t count;
} rbli_mesh_vertices;
rbl_status rbli_mesh_vertices_collect(rbl_context *ctx, const rbli_mesh_view *mesh, rbli_mesh_vertices *out);
void rbli_mesh_vertices_free(rbl_context *ctx, rbli_mesh_vertices *vertices);

typedef enum rbli_thin {
    RBLI_THIN_RANDOM, /* each set of the size is as likely as another */
    RBLI_THIN_SPACED, /* evenly spaced, sharp ones first: spacing grows until few enough are left */
    RBLI_THIN_SHARP,  /* the sharpest ones */
} rbli_thin;
/// Chooses `keep_count` of the points. @param importance [count], larger is kept first; for RANDOM not read
/// @param keep [count] receives the choice. @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Cost: O(n log n); SPACED O(n) for each halving of the spacing.
rbl_status rbli_thin_points(rbl_context *ctx, const double (*points)[3], const double *importance,
    size_t count, size_t keep_count, rbli_thin how, uint32_t seed, bool *keep);

#endif
