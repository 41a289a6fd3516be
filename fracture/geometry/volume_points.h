#ifndef RUBBLE_GEOMETRY_VOLUME_POINTS_H
#define RUBBLE_GEOMETRY_VOLUME_POINTS_H

/// Points inside a closed mesh: uniform, evenly spread, dense where something hit, dense where the surface is
/// painted.
///
/// Inside means a winding number of at least 1. Each point is drawn until it lies inside; one that found no
/// place after 100,000 draws is left out, and the number of those is told to the caller. What is drawn for a
/// point depends on the seed and its index alone. Results are arrays [count][3] that the caller frees with
/// rbli_free; outputs are set on success only. More than RBLI_MAX_POINTS points are RBL_ERR_LIMIT; a mesh
/// without an inside is RBL_ERR_ARGUMENT. Threads: reentrant, uses the context's pool; same bytes for any
/// thread count. Cost: draws × a winding number; a mesh that fills a hundredth of its box needs a hundred
/// draws a point.

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

/// `count` points uniform in the volume, then `relax` steps of Lloyd towards a centroidal Voronoi
/// tessellation of the volume itself, not of its box: sites move to the mean of the uniform samples that are
/// nearest to them (MacQueen 1967; Lloyd 1982), or, where that lies outside, to the sample nearest to it.
/// Sites always lie inside.
/// @param missing receives how many of the points found no place
rbl_status rbli_volume_points(rbl_context *ctx, const rbli_mesh_view *mesh, size_t count, int32_t relax,
    uint32_t seed, double (**out)[3], size_t *out_count, size_t *missing);

/// How density falls from 1 at an impact to 0 at the radius, with x = 1 − distance / radius (RUN, fields).
typedef enum rbli_falloff {
    RBLI_FALLOFF_LINEAR,      /* x */
    RBLI_FALLOFF_SQUARED,     /* x² */
    RBLI_FALLOFF_INVERSE,     /* 2x / (x + 1) */
    RBLI_FALLOFF_LOGARITHMIC, /* log₂(1 + x) */
} rbli_falloff;
/// 0 for x ≤ 0, 1 for x ≥ 1.
double rbli_falloff_value(rbli_falloff falloff, double x);

typedef struct rbli_impact_options {
    const double (*at)[3]; /* [at_count] */
    size_t at_count;       /* ≥ 1 */
    double radius;         /* > 0; default 0.5 */
    size_t count;          /* points around each impact; default 60 */
    size_t far_count; /* points elsewhere, outside all radii (anywhere inside where nothing is); default 10 */
    rbli_falloff falloff;
    uint32_t seed;
} rbli_impact_options;
rbli_impact_options rbli_impact_default_options(void);
/// Points around impacts whose density falls off with the distance, impact by impact, then those elsewhere.
/// @param missing [at_count + 1] how many found no place, for each impact and for elsewhere
rbl_status rbli_impact_points(rbl_context *ctx, const rbli_mesh_view *mesh,
    const rbli_impact_options *options, double (**out)[3], size_t *out_count, size_t *missing);

/// Density at a point of triangle `triangle`, given barycentrically; below 0 counts as 0. Called from many
/// threads.
typedef double (*rbli_density_fn)(void *user, size_t triangle, const double weights[3]);
/// Points inside whose density is that of the nearest point of a surface.
/// @param surface  whose triangles have densities: the mesh itself, or a part of it
/// @param largest  no density is above it (> 0): points are kept with probability density / largest
rbl_status rbli_density_points(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_mesh_view *surface,
    rbli_density_fn density, void *user, double largest, size_t count, uint32_t seed, double (**out)[3],
    size_t *out_count, size_t *missing);

#endif
