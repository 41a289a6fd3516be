#ifndef RUBBLE_GEOMETRY_PREDICATES_H
#define RUBBLE_GEOMETRY_PREDICATES_H

/// Exact predicates and constructions on integer points held in doubles. All are reentrant.

#include "fracture/geometry/wide.h"

/// A point for the predicates: integer coordinates, |x| ≤ 2^51, and its rank: ties in the insphere test are
/// broken by lifting each point by an infinitesimal, that of a larger rank dominating. Among equal ranks the second
/// coordinate decides, then the third: with the first one for a rank points are ranked by their coordinates.
typedef struct rbli_ranked_point {
    double x[3];
    int64_t rank;
} rbli_ranked_point;

/// Sign of det(b − a, c − a, d − a): 1 for a positive tetrahedron. Exact.
int rbli_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

/// 1 if e lies inside the sphere through the positive tetrahedron (a, b, c, d), else −1; never 0.
/// Symbolic perturbation of the lifted points: Devillers and Teillaud 2011, Perturbations for Delaunay and
/// weighted Delaunay 3D triangulations. Exact.
int rbli_insphere(const rbli_ranked_point *a, const rbli_ranked_point *b, const rbli_ranked_point *c,
    const rbli_ranked_point *d, const rbli_ranked_point *e);

/// The same for two tetrahedra at once, in half the time.
void rbli_insphere_twice(const rbli_ranked_point *const p[2][4], const rbli_ranked_point *e, int signs[2]);

/// The centre of the sphere through four integer points that are not coplanar, rounded to quarters (as far as
/// doubles hold them): the same for every four points of one sphere and every order of them, up to a common
/// rounding.
void rbli_circumcenter(
    const double a[3], const double b[3], const double c[3], const double d[3], double center[3]);
/// The same without estimates: four times as long. For tests, and for what estimates do not decide.
void rbli_circumcenter_exact(
    const double a[3], const double b[3], const double c[3], const double d[3], double center[3]);

/// numerator / denominator, denominator > 0, rounded to the nearest quarter (to a double of relative error
/// 2^-51 from 2^50 on); 4 · numerator and 4 · denominator must fit.
double rbli_round_to_quarters(rbli_i256 numerator, rbli_i256 denominator);

#endif
