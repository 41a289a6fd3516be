#ifndef RUBBLE_GEOMETRY_ORIENT_H
#define RUBBLE_GEOMETRY_ORIENT_H

/// The one predicate of the cut: on which side of a plane through three points a fourth one lies, never zero.
///
/// Points lie on an integer grid of 2^48 steps held in doubles. Mesh points ("S") move by −ε × an integer
/// normal; what is still zero is decided by simulation of simplicity over the global indices (Edelsbrunner
/// and Mücke 1990), smaller indices dominating. So every answer is the one for a fixed, infinitesimally moved
/// input: answers agree with each other.

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RBLI_GRID_BITS = 48,         /* coordinates lie in −2^47 … 2^47 */
    RBLI_NORMAL_LIMIT = 1 << 14, /* largest component of a normal */
};

/// Maps source coordinates to the grid: grid = round((x − center) / step); step is a power of two.
typedef struct rbli_grid {
    double center[3];
    double step, inverse_step;
} rbli_grid;

/// The grid whose 2^48 steps hold the box; a degenerate box is fine.
rbli_grid rbli_grid_make(const double box_min[3], const double box_max[3]);
/// Rounds to the grid.
static inline void rbli_grid_snap(const rbli_grid *grid, const double source[3], double out[3])
{
    const double shift = 0x1.8p52; /* adding it rounds to an integer, as |x| < 2^51 */
    for (int axis = 0; axis < 3; axis++)
        out[axis] = ((source[axis] - grid->center[axis]) * grid->inverse_step + shift) - shift;
}
/// Back to source coordinates; `position` need not be an integer.
static inline void rbli_grid_unsnap(const rbli_grid *grid, const double position[3], double out[3])
{
    for (int axis = 0; axis < 3; axis++)
        out[axis] = grid->center[axis] + position[axis] * grid->step;
}

/// Writes the integer normal (components at most RBLI_NORMAL_LIMIT) of a mesh point. Called only in
/// degenerate cases, from any thread; the same answer each time.
typedef void (*rbli_normal_fn)(void *user, int32_t point, int64_t normal[3]);

/// All points of an arrangement: indices below `mesh_count` are mesh points.
typedef struct rbli_orient_points {
    const double (*positions)[3]; /* integers in doubles */
    int32_t mesh_count;
    rbli_normal_fn normal;
    void *normal_user;
} rbli_orient_points;

/// +1 if d lies on the side of plane abc from which a, b, c appear counter-clockwise, else −1. Never 0 for
/// four different indices, whatever the positions. Antisymmetric. Cost: ~5 ns when the filter decides, ~30 ns
/// exact.
int rbli_orient(const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t d);

/// On which side of two lines from one point the three edges of a triangle pass. Bit 2j + i: whether
/// rbli_orient(from, to[i], v[j], v[j + 1]) is positive.
unsigned rbli_orient_two_lines(
    const rbli_orient_points *points, int32_t from, const int32_t to[2], const int32_t v[3]);

/// rbli_orient after a caller's own filter failed: goes to exact arithmetic at once.
int rbli_orient_exact(const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t d);

/// The leading term of the determinant: `level` 0 when the unmoved determinant is not zero, 1 … 3 the power
/// of ε, 4 when simulation of simplicity decides (value ±1 then).
typedef struct rbli_orient_value {
    double value; /* its sign is rbli_orient's */
    int level;
} rbli_orient_value;
rbli_orient_value rbli_orient_leading(
    const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t d);

/// Where segment from → to crosses plane abc, 0 … 1, from the leading terms.
double rbli_crossing_parameter(
    const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t from, int32_t to);

/// Compares where segment from → to crosses two planes: −1, 0 or 1; 0 only for an exact tie of the unmoved
/// points (or when an end lies in a plane exactly).
int rbli_compare_crossings(const rbli_orient_points *points, int32_t from, int32_t to,
    const int32_t plane_a[3], const int32_t plane_b[3]);

#endif
