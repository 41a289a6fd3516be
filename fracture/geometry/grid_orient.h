#ifndef RUBBLE_GEOMETRY_GRID_ORIENT_H
#define RUBBLE_GEOMETRY_GRID_ORIENT_H

/// Exact orientation tests for points on an integer grid of 2^48 steps.
///
/// Points are rounded to the grid once; every decision is then exact: a filter in doubles, else 128 and 192
/// bits. Grid coordinates are integers held in doubles, at most 2^47 in magnitude.

#include <stdbool.h>
#include <stdint.h>

/// grid = round((position − origin) × scale); scale is a power of two.
typedef struct rbli_grid {
    double origin[3];
    double scale;
} rbli_grid;

/// The grid whose 2^48 steps span the largest side of a box. The box must be finite; an empty side is fine.
rbli_grid rbli_grid_fit(const double min[3], const double max[3]);

/// Rounds half to even. Positions inside the fitted box give |out| ≤ 2^47.
static inline void rbli_grid_snap(const rbli_grid *grid, const double position[3], double out[3])
{
    const double magic = 0x1.8p52; /* adding and subtracting it rounds |x| < 2^51 to an integer */
    for (int k = 0; k < 3; k++) {
        double scaled = (position[k] - grid->origin[k]) * grid->scale;
        out[k] = (scaled + magic) - magic;
    }
}

/// The sign of det(b − a, c − a): +1 when a, b, c turn counter-clockwise in the plane of axes u and v.
int rbli_grid_orient2d(const double a[3], const double b[3], const double c[3], int u, int v);

/// The sign of det(b − a, c − a, d − a): +1 when d is on the side to which the normal of a, b, c points.
int rbli_grid_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

/// As above for points a + ε·move_a …, with ε positive and smaller than anything: the sign of the first power
/// of ε that does not vanish; 0 if all vanish. Moves are integers of at most 2^40 in magnitude.
int rbli_grid_orient3d_moved(const double *const points[4], const int64_t *const moves[4]);

/// True when three points lie on one line (or coincide).
bool rbli_grid_collinear(const double a[3], const double b[3], const double c[3]);

/// True when p lies in the closed triangle, given that it lies in its plane (or that the triangle has no
/// area).
bool rbli_grid_in_triangle(const double a[3], const double b[3], const double c[3], const double p[3]);

#endif
