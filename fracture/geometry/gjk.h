#ifndef RUBBLE_GEOMETRY_GJK_H
#define RUBBLE_GEOMETRY_GJK_H

/// How far two convex hulls are apart.

#include <stddef.h>

typedef struct rbli_hull_gap {
    double distance; /* of two points of the hulls; 0 when they touch or overlap */
    double bound; /* the hulls are at least so far apart: a plane across `normal` proves it; ≤ distance */
    double normal[3]; /* unit, from a to b; zero when nothing parts them */
} rbli_hull_gap;

/// The distance of the convex hulls of two sets of points, which need not be vertices of the hulls, nor span a
/// volume. `distance` is right to about 1e-15 of the largest difference of coordinates, s; `bound` falls
/// short of it by 1e-16 · s² / distance, unless the search ended earlier: with a distance ≤ `near`, or a bound >
/// `far`.
///
/// Method: Gilbert, Johnson and Keerthi 1988. The point of the simplex nearest to the origin is the best of
/// those of all its faces, each a convex combination: degenerate simplices cost nothing but time, and the
/// search ends when rounding stops the progress.
/// @param a, b [count][3] finite; counts ≥ 1
/// @param near, far  0 and HUGE_VAL for the distance itself
/// Threads: reentrant. Cost: some ten looks at all points.
rbli_hull_gap rbli_hull_distance(
    const double (*a)[3], size_t a_count, const double (*b)[3], size_t b_count, double near, double far);

#endif
