/// Integrals of the polynomials of degree two and less over solids.

#include "fracture/geometry/mass_properties.h"

#include <math.h>

/* Moments are stored as xx, yy, zz, xy, yz, zx. */
static const int row[6] = {0, 1, 2, 0, 1, 2}, column[6] = {0, 1, 2, 1, 2, 0};

rbli_mass rbli_mass_of_mesh(const double (*positions)[3], const int32_t (*triangles)[3], size_t count)
{
    double low[3] = {0}, high[3] = {0}, amid[3], volume = 0, first[3] = {0}, second[6] = {0};
    for (size_t t = 0; t < count; t++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                double x = positions[triangles[t][c]][k];
                bool start = t == 0 && c == 0;
                if (start || x < low[k]) low[k] = x;
                if (start || x > high[k]) high[k] = x;
            }
    for (int k = 0; k < 3; k++)
        amid[k] = low[k] + (high[k] - low[k]) / 2;
    for (size_t t = 0; t < count; t++) {
        double p[3][3], sum[3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                p[c][k] = positions[triangles[t][c]][k] - amid[k];
        for (int k = 0; k < 3; k++)
            sum[k] = p[0][k] + p[1][k] + p[2][k];
        double determinant = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                             p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                             p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        volume += determinant;
        for (int k = 0; k < 3; k++)
            first[k] += determinant * sum[k];
        for (int i = 0; i < 6; i++) {
            int r = row[i], c = column[i];
            second[i] +=
                determinant * (sum[r] * sum[c] + p[0][r] * p[0][c] + p[1][r] * p[1][c] + p[2][r] * p[2][c]);
        }
    }
    rbli_mass body = {.mass = volume / 6};
    double center[3] = {0};
    for (int k = 0; k < 3; k++) {
        center[k] = volume != 0 ? first[k] / (4 * volume) : 0;
        body.center[k] = amid[k] + center[k];
    }
    for (int i = 0; i < 6; i++)
        body.moments[i] = second[i] / 120 - body.mass * center[row[i]] * center[column[i]];
    return body;
}

rbli_mass rbli_mass_add(const rbli_mass *a, const rbli_mass *b)
{
    if (b->mass == 0) return *a;
    if (a->mass == 0) return *b;
    rbli_mass body = {.mass = a->mass + b->mass};
    double apart[3], part = body.mass != 0 ? b->mass / body.mass : 0;
    for (int k = 0; k < 3; k++) {
        apart[k] = b->center[k] - a->center[k];
        body.center[k] = a->center[k] + part * apart[k];
    }
    for (int i = 0; i < 6; i++)
        body.moments[i] = a->moments[i] + b->moments[i] + a->mass * part * apart[row[i]] * apart[column[i]];
    return body;
}

rbli_mass rbli_mass_transform(const rbli_mass *body, const double m[16])
{
    static const int at[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    double factor = fabs(m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) +
                         m[8] * (m[1] * m[6] - m[2] * m[5]));
    rbli_mass out = {.mass = body->mass * factor};
    for (int k = 0; k < 3; k++)
        out.center[k] =
            m[k] * body->center[0] + m[4 + k] * body->center[1] + m[8 + k] * body->center[2] + m[12 + k];
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                sum += m[4 * r + row[i]] * body->moments[at[r][c]] * m[4 * c + column[i]];
        out.moments[i] = factor * sum;
    }
    return out;
}

rbli_mass rbli_mass_scale(const rbli_mass *body, double factor)
{
    rbli_mass out = *body;
    out.mass *= factor;
    for (int i = 0; i < 6; i++)
        out.moments[i] *= factor;
    return out;
}

void rbli_mass_inertia(const rbli_mass *body, double diagonal[3], double products[3])
{
    for (int k = 0; k < 3; k++) {
        diagonal[k] = body->moments[(k + 1) % 3] + body->moments[(k + 2) % 3];
        products[k] = 0 - body->moments[3 + k];
    }
}

/// Turns rows and columns p and q so that a[p][q] becomes 0; the columns of v turn with them.
static void turn_axes(double a[3][3], double v[3][3], int p, int q)
{
    double angle = (a[q][q] - a[p][p]) / (2 * a[p][q]); /* cotangent of twice the angle */
    double t = (angle < 0 ? -1 : 1) / (fabs(angle) + sqrt(angle * angle + 1));
    if (!isfinite(angle)) t = 0;
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = v[k][p], y = v[k][q];
        v[k][p] = c * x - s * y;
        v[k][q] = s * x + c * y;
    }
    a[p][q] = a[q][p] = 0;
}

/// From the largest component.
void rbli_rotation_quaternion(const double v[3][3], double q[4])
{
    double trace = v[0][0] + v[1][1] + v[2][2], length = 0;
    int i = 0;
    for (int k = 1; k < 3; k++)
        if (v[k][k] > v[i][i]) i = k;
    if (trace >= v[i][i]) {
        q[3] = 1 + trace;
        for (int k = 0; k < 3; k++)
            q[k] = v[(k + 2) % 3][(k + 1) % 3] - v[(k + 1) % 3][(k + 2) % 3];
    } else {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + 2 * v[i][i] - trace;
        q[j] = v[j][i] + v[i][j];
        q[k] = v[k][i] + v[i][k];
        q[3] = v[k][j] - v[j][k];
    }
    for (int k = 0; k < 4; k++)
        length += q[k] * q[k];
    length = (q[3] < 0 ? -1 : 1) * sqrt(length);
    for (int k = 0; k < 4; k++)
        q[k] = q[k] / length + 0.0; /* no −0 */
}

void rbli_mass_principal(
    const double diagonal[3], const double products[3], double moments[3], double axes[4])
{
    double a[3][3], v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, size = 0;
    for (int i = 0; i < 3; i++) {
        a[i][i] = diagonal[i];
        a[i][(i + 1) % 3] = a[(i + 1) % 3][i] = products[i];
        size = fmax(size, fmax(fabs(diagonal[i]), fabs(products[i])));
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        double beside = fabs(a[0][1]) + fabs(a[1][2]) + fabs(a[2][0]);
        if (!(beside > 1e-17 * size)) break;
        for (int i = 0; i < 3; i++)
            if (a[i][(i + 1) % 3] != 0) turn_axes(a, v, i, (i + 1) % 3);
    }
    for (int i = 0; i < 3; i++)
        moments[i] = a[i][i] > 0 ? a[i][i] : 0;
    rbli_rotation_quaternion((const double(*)[3])v, axes);
}
