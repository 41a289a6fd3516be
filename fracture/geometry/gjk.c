/// Distance of hulls after Gilbert, Johnson and Keerthi, with an exhaustive search of the simplex's faces.

#include "fracture/geometry/gjk.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_STEPS = 200 };

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/// Points of the difference a − b, with the best found among them.
typedef struct simplex {
    double w[4][3];
    int count;
    double nearest[3], square; /* the point nearest to the origin */
    int corners;               /* bits of the corners that it is a combination of */
} simplex;

static void offer(simplex *s, const double point[3], int corners)
{
    double square = dot(point, point);
    if (square >= s->square) return;
    s->square = square;
    s->corners = corners;
    memcpy(s->nearest, point, sizeof s->nearest);
}

static void try_edge(simplex *s, int i, int j)
{
    double e[3], point[3];
    subtract(s->w[j], s->w[i], e);
    double along = -dot(e, s->w[i]), length = dot(e, e);
    if (!(along > 0 && along < length)) return;
    for (int k = 0; k < 3; k++)
        point[k] = s->w[i][k] + along / length * e[k];
    double rest = dot(e, point) / length; /* what rounding left: nothing but that much nearer */
    for (int k = 0; k < 3; k++)
        point[k] -= rest * e[k];
    offer(s, point, 1 << i | 1 << j);
}

/// Adds to the point what the origin, as seen from it, is in terms of e and f. @return their shares
static void approach(
    const double e[3], const double f[3], const double n[3], double point[3], double share[2])
{
    double x[3], y[3], square = dot(n, n);
    cross(f, point, x);
    cross(point, e, y);
    share[0] = dot(x, n) / square;
    share[1] = dot(y, n) / square;
    for (int k = 0; k < 3; k++)
        point[k] += share[0] * e[k] + share[1] * f[k];
}

static void try_triangle(simplex *s, int i, int j, int l)
{
    double e[3], f[3], n[3], point[3], share[2], rest[2];
    subtract(s->w[j], s->w[i], e);
    subtract(s->w[l], s->w[i], f);
    cross(e, f, n);
    if (!(dot(n, n) > 0)) return;
    memcpy(point, s->w[i], sizeof point);
    approach(e, f, n, point, share);
    if (!(share[0] > 0 && share[1] > 0 && share[0] + share[1] < 1)) return;
    approach(e, f, n, point, rest); /* again for what rounding left, which is much in thin triangles */
    offer(s, point, 1 << i | 1 << j | 1 << l);
}

/// Whether the origin lies in the tetrahedron: each corner's share of it is 0 … 1. A flat one, whose shares are
/// rounding, is left to its faces.
static bool holds_origin(const simplex *s)
{
    double sum = 0;
    for (int corner = 0; corner < 4; corner++) {
        const double *p = s->w[(corner + 1) % 4];
        double e[3], f[3], g[3], n[3];
        subtract(s->w[(corner + 2) % 4], p, e);
        subtract(s->w[(corner + 3) % 4], p, f);
        subtract(s->w[corner], p, g);
        cross(e, f, n);
        double height = dot(n, g), size = dot(n, n) * dot(g, g), share = -dot(n, p) / height;
        if (!(height * height > 1e-24 * size && share >= 0 && share <= 1)) return false;
        sum += share;
    }
    return sum > 0.999 && sum < 1.001;
}

/// Finds the point nearest to the origin and drops the corners that it does not need. @return false when the
/// origin lies inside
static bool reduce(simplex *s)
{
    s->square = HUGE_VAL;
    if (s->count == 4 && holds_origin(s)) return false;
    for (int i = 0; i < s->count; i++)
        offer(s, s->w[i], 1 << i);
    for (int i = 0; i < s->count; i++)
        for (int j = i + 1; j < s->count; j++) {
            try_edge(s, i, j);
            for (int l = j + 1; l < s->count; l++)
                try_triangle(s, i, j, l);
        }
    int kept = 0;
    for (int i = 0; i < s->count; i++)
        if (s->corners >> i & 1) memmove(s->w[kept++], s->w[i], sizeof s->w[0]);
    s->count = kept;
    return true;
}

/// The point farthest along `sign` · direction.
static const double *farthest(const double (*points)[3], size_t count, const double direction[3], double sign)
{
    size_t best = 0;
    double most = -HUGE_VAL;
    double d[3] = {sign * direction[0], sign * direction[1], sign * direction[2]};
    for (size_t i = 0; i < count; i++) {
        double along = dot(points[i], d);
        if (along > most) {
            most = along;
            best = i;
        }
    }
    return points[best];
}

static bool has(const simplex *s, const double w[3])
{
    for (int i = 0; i < s->count; i++)
        if (s->w[i][0] == w[0] && s->w[i][1] == w[1] && s->w[i][2] == w[2]) return true;
    return false;
}

rbli_hull_gap rbli_hull_distance(
    const double (*a)[3], size_t a_count, const double (*b)[3], size_t b_count, double near, double far)
{
    rbli_hull_gap gap = {.bound = 0};
    simplex s = {.count = 1};
    double size = 0;
    subtract(a[0], b[0], s.w[0]);
    reduce(&s);
    for (int step = 0; step < MOST_STEPS; step++) {
        double w[3], last = s.square, length = sqrt(last);
        for (int i = 0; i < s.count; i++)
            size = fmax(size, dot(s.w[i], s.w[i]));
        gap.distance = length;
        if (length <= 1e-15 * sqrt(size)) return (rbli_hull_gap){0};
        subtract(farthest(a, a_count, s.nearest, -1), farthest(b, b_count, s.nearest, 1), w);
        double bound = dot(s.nearest, w) / length;
        if (bound > gap.bound) {
            gap.bound = bound < length ? bound : length;
            for (int k = 0; k < 3; k++)
                gap.normal[k] = -s.nearest[k] / length;
        }
        if (gap.bound > far || length <= near || length - bound <= 1e-15 * sqrt(size) || has(&s, w))
            return gap;
        simplex larger = s;
        memcpy(larger.w[larger.count++], w, sizeof w);
        if (!reduce(&larger)) return (rbli_hull_gap){0};
        if (!(larger.square < last)) return gap;
        s = larger;
    }
    return gap;
}
