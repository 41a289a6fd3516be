#ifndef RUBBLE_GEOMETRY_MASS_PROPERTIES_H
#define RUBBLE_GEOMETRY_MASS_PROPERTIES_H

/// Volume, centre and second moments of solids.

#include "fracture/base/context.h"

/// A body of some mass. For a body of density 1 `mass` is its volume.
typedef struct rbli_mass {
    double mass;
    double center[3];
    double moments[6]; /* ∫ of xx, yy, zz, xy, yz, zx around the centre */
} rbli_mass;

/// The body of density 1 inside a closed surface (negative mass where it is inside out). Method: each
/// triangle and a point amid them span a tetrahedron, whose integrals are polynomials of its corners (Blow
/// and Binstock 2004; Eberly 2002 has the same in another form): exact up to rounding.
/// @param positions [vertex count][3]
/// @param triangles [count][3] indices into positions, outward
rbli_mass rbli_mass_of_mesh(const double (*positions)[3], const int32_t (*triangles)[3], size_t count);
/// Both bodies together (theorem of parallel axes).
rbli_mass rbli_mass_add(const rbli_mass *a, const rbli_mass *b);
/// The body of constant density after an affine map (column-major), its density kept.
rbli_mass rbli_mass_transform(const rbli_mass *body, const double matrix[16]);
/// The same body `factor` times as dense.
rbli_mass rbli_mass_scale(const rbli_mass *body, double factor);
/// The tensor of inertia around the centre: Ixx, Iyy, Izz on the diagonal, Ixy, Iyz, Izx beside it (these are
/// minus the products of inertia).
void rbli_mass_inertia(const rbli_mass *body, double diagonal[3], double products[3]);
/// Principal moments and axes of that tensor (Jacobi 1846). @param moments none negative
/// @param axes unit quaternion x, y, z, w with w ≥ 0 that turns the principal axes to those of the tensor
void rbli_mass_principal(
    const double diagonal[3], const double products[3], double moments[3], double axes[4]);
/// The unit quaternion x, y, z, w with w ≥ 0 of a rotation, r[row][column] (Shepperd 1978).
void rbli_rotation_quaternion(const double r[3][3], double out[4]);

#endif
