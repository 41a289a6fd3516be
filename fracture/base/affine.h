#ifndef RUBBLE_BASE_AFFINE_H
#define RUBBLE_BASE_AFFINE_H

/// Affine transforms as 4 × 4 matrices of doubles, column-major, last row 0 0 0 1.

#include <math.h>
#include <stdbool.h>
#include <string.h>

static inline bool rbli_affine_is_identity(const double m[16])
{
    for (int i = 0; i < 16; i++)
        if (m[i] != (i % 5 == 0)) return false;
    return true;
}

/// out = a · b; out may be neither.
static inline void rbli_affine_multiply(const double a[16], const double b[16], double out[16])
{
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            out[column * 4 + row] = a[row] * b[column * 4] + a[4 + row] * b[column * 4 + 1] +
                                    a[8 + row] * b[column * 4 + 2] + a[12 + row] * b[column * 4 + 3];
}

/// out may be p.
static inline void rbli_affine_point(const double m[16], const double p[3], double out[3])
{
    double x = p[0], y = p[1], z = p[2];
    for (int k = 0; k < 3; k++)
        out[k] = m[k] * x + m[4 + k] * y + m[8 + k] * z + m[12 + k];
}

/// Solves for the vector x whose image under the linear part is r (Cramer); false when it is singular.
static inline bool rbli_affine_solve_vector(const double m[16], const double r[3], double x[3])
{
    const double *a = m, *b = m + 4, *c = m + 8;
    double bc[3], ca[3], ab[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        bc[k] = b[i] * c[j] - b[j] * c[i];
        ca[k] = c[i] * a[j] - c[j] * a[i];
        ab[k] = a[i] * b[j] - a[j] * b[i];
    }
    double determinant = a[0] * bc[0] + a[1] * bc[1] + a[2] * bc[2];
    if (determinant == 0 || !isfinite(1 / determinant)) return false;
    const double v[3] = {r[0], r[1], r[2]};
    x[0] = (bc[0] * v[0] + bc[1] * v[1] + bc[2] * v[2]) / determinant;
    x[1] = (ca[0] * v[0] + ca[1] * v[1] + ca[2] * v[2]) / determinant;
    x[2] = (ab[0] * v[0] + ab[1] * v[1] + ab[2] * v[2]) / determinant;
    return true;
}

/// The point x whose image is p; false when the transform has no inverse.
static inline bool rbli_affine_solve_point(const double m[16], const double p[3], double x[3])
{
    const double r[3] = {p[0] - m[12], p[1] - m[13], p[2] - m[14]};
    return rbli_affine_solve_vector(m, r, x);
}

/// The inverse; false when there is none. out may not be m.
static inline bool rbli_affine_invert(const double m[16], double out[16])
{
    const double origin[3] = {0, 0, 0};
    for (int column = 0; column < 3; column++) {
        const double axis[3] = {column == 0, column == 1, column == 2};
        if (!rbli_affine_solve_vector(m, axis, out + 4 * column)) return false;
        out[4 * column + 3] = 0;
    }
    if (!rbli_affine_solve_point(m, origin, out + 12)) return false;
    out[15] = 1;
    return true;
}

#endif
