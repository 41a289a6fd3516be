/// Exact signs of small determinants on grid coordinates. The filter bounds the rounding error of a
/// determinant by its permanent, as Shewchuk does ("Adaptive precision floating-point arithmetic", 1997);
/// differences are exact here.

#include "fracture/geometry/grid_orient.h"

#include <math.h>

#include "fracture/geometry/wide.h"

rbli_grid rbli_grid_fit(const double min[3], const double max[3])
{
    rbli_grid grid;
    double half = 0;
    for (int k = 0; k < 3; k++) {
        grid.origin[k] = min[k] / 2 + max[k] / 2;
        double above = max[k] - grid.origin[k], below = grid.origin[k] - min[k];
        if (above > half) half = above;
        if (below > half) half = below;
    }
    int exponent = 0;
    if (half > 0) (void)frexp(half, &exponent); /* half ≤ 2^exponent */
    int shift = 47 - exponent;
    if (shift > 1000) shift = 1000;
    grid.scale = ldexp(1.0, shift);
    return grid;
}

int rbli_grid_orient2d(const double a[3], const double b[3], const double c[3], int u, int v)
{
    double bu = b[u] - a[u], bv = b[v] - a[v], cu = c[u] - a[u], cv = c[v] - a[v];
    double left = bu * cv, right = bv * cu, det = left - right;
    double bound = 4.5e-16 * (fabs(left) + fabs(right));
    if (det > bound) return 1;
    if (det < -bound) return -1;
    rbli_i128 exact = (rbli_i128)(int64_t)bu * (int64_t)cv - (rbli_i128)(int64_t)bv * (int64_t)cu;
    return rbli_i128_sign(exact);
}

static rbli_i192 det3(const int64_t a[3], const int64_t b[3], const int64_t c[3])
{
    rbli_i128 x = (rbli_i128)b[1] * c[2] - (rbli_i128)b[2] * c[1];
    rbli_i128 y = (rbli_i128)b[2] * c[0] - (rbli_i128)b[0] * c[2];
    rbli_i128 z = (rbli_i128)b[0] * c[1] - (rbli_i128)b[1] * c[0];
    rbli_i192 sum = rbli_i192_product(x, a[0]);
    sum = rbli_i192_add(sum, rbli_i192_product(y, a[1]));
    return rbli_i192_add(sum, rbli_i192_product(z, a[2]));
}

/// The sign when the filter is certain, else 2; `rows` are set to the differences.
static int filtered_sign(
    const double a[3], const double b[3], const double c[3], const double d[3], double rows[3][3])
{
    for (int k = 0; k < 3; k++) {
        rows[0][k] = b[k] - a[k];
        rows[1][k] = c[k] - a[k];
        rows[2][k] = d[k] - a[k];
    }
    double yz = rows[1][1] * rows[2][2], zy = rows[1][2] * rows[2][1];
    double zx = rows[1][2] * rows[2][0], xz = rows[1][0] * rows[2][2];
    double xy = rows[1][0] * rows[2][1], yx = rows[1][1] * rows[2][0];
    double det = rows[0][0] * (yz - zy) + rows[0][1] * (zx - xz) + rows[0][2] * (xy - yx);
    double permanent = fabs(rows[0][0]) * (fabs(yz) + fabs(zy)) + fabs(rows[0][1]) * (fabs(zx) + fabs(xz)) +
                       fabs(rows[0][2]) * (fabs(xy) + fabs(yx));
    double bound = 1e-15 * permanent;
    if (det > bound) return 1;
    if (det < -bound) return -1;
    return permanent == 0 ? 0 : 2; /* integers: a product vanishes only with a factor */
}

static void to_integers(double rows[3][3], int64_t out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = (int64_t)rows[i][k];
}

int rbli_grid_orient3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double rows[3][3];
    int sign = filtered_sign(a, b, c, d, rows);
    if (sign != 2) return sign;
    int64_t exact[3][3];
    to_integers(rows, exact);
    return rbli_i192_sign(det3(exact[0], exact[1], exact[2]));
}

/// The first power of ε in doubles: moves times the cross products of the other two rows; 2 when uncertain.
static int filtered_first_power(double rows[3][3], int64_t m[3][3])
{
    double sum = 0, permanent = 0;
    for (int i = 0; i < 3; i++) {
        const double *a = rows[(i + 1) % 3], *b = rows[(i + 2) % 3];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            double left = a[u] * b[v], right = a[v] * b[u], move = (double)m[i][k];
            sum += move * (left - right);
            permanent += fabs(move) * (fabs(left) + fabs(right));
        }
    }
    double bound = 3e-15 * permanent;
    if (sum > bound) return 1;
    if (sum < -bound) return -1;
    return permanent == 0 ? 0 : 2;
}

int rbli_grid_orient3d_moved(const double *const points[4], const int64_t *const moves[4])
{
    double rows[3][3];
    int64_t d[3][3], m[3][3];
    int sign = filtered_sign(points[0], points[1], points[2], points[3], rows);
    to_integers(rows, d);
    if (sign == 2) sign = rbli_i192_sign(det3(d[0], d[1], d[2]));
    if (sign) return sign;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            m[i][k] = moves[i + 1][k] - moves[0][k];
    sign = filtered_first_power(rows, m);
    if (sign == 2) {
        rbli_i192 first = rbli_i192_add(det3(m[0], d[1], d[2]), det3(d[0], m[1], d[2]));
        sign = rbli_i192_sign(rbli_i192_add(first, det3(d[0], d[1], m[2])));
    }
    if (sign) return sign;
    rbli_i192 second = rbli_i192_add(det3(d[0], m[1], m[2]), det3(m[0], d[1], m[2]));
    sign = rbli_i192_sign(rbli_i192_add(second, det3(m[0], m[1], d[2])));
    return sign ? sign : rbli_i192_sign(det3(m[0], m[1], m[2]));
}

bool rbli_grid_collinear(const double a[3], const double b[3], const double c[3])
{
    return !rbli_grid_orient2d(a, b, c, 0, 1) && !rbli_grid_orient2d(a, b, c, 1, 2) &&
           !rbli_grid_orient2d(a, b, c, 2, 0);
}

bool rbli_grid_in_triangle(const double a[3], const double b[3], const double c[3], const double p[3])
{
    for (int u = 0; u < 3; u++) {
        int v = (u + 1) % 3;
        int turns[3] = {rbli_grid_orient2d(a, b, p, u, v), rbli_grid_orient2d(b, c, p, u, v),
            rbli_grid_orient2d(c, a, p, u, v)};
        bool positive = turns[0] > 0 || turns[1] > 0 || turns[2] > 0;
        bool negative = turns[0] < 0 || turns[1] < 0 || turns[2] < 0;
        if (positive && negative) return false;
    }
    for (int k = 0; k < 3; k++) { /* needed only for triangles without area */
        if (p[k] < a[k] && p[k] < b[k] && p[k] < c[k]) return false;
        if (p[k] > a[k] && p[k] > b[k] && p[k] > c[k]) return false;
    }
    return true;
}
