#ifndef RUBBLE_GEOMETRY_POINT_PATTERNS_H
#define RUBBLE_GEOMETRY_POINT_PATTERNS_H

/// Patterns of points that need no mesh: radial, in clusters, on a grid (GEO §4.2–4.4). What is
/// drawn for a point depends on the seed and the point's index alone, so a pattern with more points begins
/// like one with fewer.
///
/// Results are arrays [count][3] that the caller frees with rbli_free; *out is set on success only. Threads:
/// reentrant. Deterministic. Cost: linear in the points. More than RBLI_MAX_POINTS points are RBL_ERR_LIMIT
/// with a message.

#include "fracture/base/context.h"
#include "fracture/base/rng.h"

#define RBLI_MAX_POINTS 1000000

/// A number of low … high, drawn with `index` of a stream: how many points or clusters there are.
/// @param low, high  0 ≤ low ≤ high < 2^32
size_t rbli_draw_count(uint32_t seed, uint32_t purpose, uint64_t index, size_t low, size_t high);
/// A direction uniform on the sphere: a point uniform in the ball by rejection, without trigonometry.
void rbli_random_direction(rbli_rng *rng, double out[3]);

/// Rings of points about an axis, as a pane breaks where it is hit.
///
/// Radii: r_0 = ½, then r_i = (i + 1)^radial_step_exponent − ½, scaled so that the last is `radius`; plus a
/// random shift in −min(r_i, radial_noise) … radial_noise; sorted; then pushed outwards to a distance of at
/// least radial_min_step from the ring before (the first: half of that from the axis). Angles: angle_offset +
/// 2πk/angular_steps + a random shift in ±angular_noise of the k-th spoke. The variabilities move each point:
/// along the radius by 0 … radial_variability, by the angle 0 … angular_variability, along the axis by
/// ±axial_variability. Angles are radians.
typedef struct rbli_radial_options {
    double center[3];                    /* default origin */
    double normal[3];                    /* the axis, any length but 0; default z */
    int32_t angular_steps, radial_steps; /* ≥ 1; default 5, 5 */
    double radius;                       /* of the last ring; default 0.5 */
    double radial_step_exponent;         /* default 1 */
    double radial_min_step;              /* default 0.01 */
    double angle_offset;
    double angular_noise, radial_noise;
    double radial_variability, angular_variability, axial_variability;
    uint32_t seed;
} rbli_radial_options;
rbli_radial_options rbli_radial_default_options(void);
/// Points are numbered ring by ring, from the inside; radial_steps × angular_steps of them.
/// @return RBL_OK · RBL_ERR_ARGUMENT (no axis, no steps) · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY
rbl_status rbli_radial_points(
    rbl_context *ctx, const rbli_radial_options *options, size_t *count, double (**out)[3]);
/// Two unit vectors that make a right-handed frame with `normal` (unit): along the axes for a normal along an
/// axis.
void rbli_frame_of(const double normal[3], double x[3], double y[3]);

/// Points on shells around centres: centres uniform in the box, each with its own number of points at
/// center + direction · (radius_offset + f · largest half extent of the box), f uniform in the fractions'
/// range.
typedef struct rbli_cluster_points_options {
    size_t clusters_min, clusters_max;               /* default 8, 8 */
    size_t points_min, points_max;                   /* of each cluster; default 2, 30 */
    double radius_fraction_min, radius_fraction_max; /* default 0.1, 0.2 */
    double radius_offset;                            /* default 0 */
    bool include_base; /* the centres are points, too, each before its cluster; default false */
    uint32_t seed;
} rbli_cluster_points_options;
rbli_cluster_points_options rbli_cluster_points_default_options(void);
rbl_status rbli_cluster_points_make(rbl_context *ctx, const double box_min[3], const double box_max[3],
    const rbli_cluster_points_options *options, size_t *count, double (**out)[3]);

/// One point in the middle of each of steps[0] × steps[1] × steps[2] equal boxes, x fastest, each moved by a
/// random amount in ±displacement along each axis. @param steps ≥ 1 and ≤ 200 each
/// @return RBL_OK · RBL_ERR_LIMIT (more than 200 along an axis or 1,000,000 in all) · RBL_ERR_ARGUMENT ·
/// RBL_ERR_NO_MEMORY
rbl_status rbli_grid_points(rbl_context *ctx, const double box_min[3], const double box_max[3],
    const int64_t steps[3], const double displacement[3], uint32_t seed, size_t *count, double (**out)[3]);

#endif
