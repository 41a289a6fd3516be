/// Orientation with symbolic perturbation: a filter in doubles, exact integers, a polynomial in ε, then
/// simulation of simplicity (Edelsbrunner and Mücke 1990). Differences of grid coordinates fit 49 bits and
/// are exact in doubles.

#include "fracture/geometry/orient.h"

#include <stdbool.h>

#include "fracture/geometry/lanes.h"

__extension__ typedef __int128 int128;

/// The number high·2^50 + low; sums of 3×3 determinants of 49-bit integers fit with room.
typedef struct wide_value {
    int128 high, low;
} wide_value;

enum { LIMB = 50 };
static const int128 LIMB_MASK = ((int128)1 << LIMB) - 1;

/// Relative error of the determinant of exact differences, against the product of the largest per column.
static const double FILTER_BOUND = 5.2e-15;

rbli_grid rbli_grid_make(const double box_min[3], const double box_max[3])
{
    rbli_grid grid = {{0, 0, 0}, 1, 1};
    double size = 0;
    for (int axis = 0; axis < 3; axis++)
        size = fmax(size, box_max[axis] - box_min[axis]);
    if (!(size > 0)) size = 1;
    int exponent;
    frexp(size, &exponent); /* size < 2^exponent */
    grid.step = ldexp(1.0, exponent - RBLI_GRID_BITS);
    grid.inverse_step = ldexp(1.0, RBLI_GRID_BITS - exponent);
    double coarse = ldexp(1.0, exponent - 6); /* a short centre keeps source − centre exact where it can be */
    for (int axis = 0; axis < 3; axis++) {
        double middle = box_min[axis] + (box_max[axis] - box_min[axis]) / 2;
        grid.center[axis] = nearbyint(middle / coarse) * coarse;
    }
    return grid;
}

static wide_value normalised(wide_value v)
{
    v.high += v.low >> LIMB;
    v.low &= LIMB_MASK;
    return v;
}

static int sign_of(wide_value v)
{
    v = normalised(v);
    if (v.high != 0) return v.high > 0 ? 1 : -1;
    return v.low != 0;
}

static double to_double(wide_value v)
{
    v = normalised(v);
    return (double)v.high * 0x1p50 + (double)v.low;
}

static wide_value wide_add(wide_value a, wide_value b)
{
    return (wide_value){a.high + b.high, a.low + b.low};
}

static int sign128(int128 v)
{
    return (v > 0) - (v < 0);
}

static wide_value det3(const int64_t a[3], const int64_t b[3], const int64_t c[3])
{
    int128 x = (int128)a[1] * b[2] - (int128)a[2] * b[1];
    int128 y = (int128)a[2] * b[0] - (int128)a[0] * b[2];
    int128 z = (int128)a[0] * b[1] - (int128)a[1] * b[0];
    return (wide_value){
        (x >> LIMB) * c[0] + (y >> LIMB) * c[1] + (z >> LIMB) * c[2],
        (x & LIMB_MASK) * c[0] + (y & LIMB_MASK) * c[1] + (z & LIMB_MASK) * c[2],
    };
}

/// A point of the polynomial world: position − ε·normal.
typedef struct moving_point {
    int64_t p[3], n[3];
} moving_point;

static moving_point load_point(const rbli_orient_points *points, int32_t index)
{
    moving_point m = {{0}, {0}};
    for (int axis = 0; axis < 3; axis++)
        m.p[axis] = (int64_t)points->positions[index][axis];
    if (index < points->mesh_count) {
        points->normal(points->normal_user, index, m.n);
        for (int axis = 0; axis < 3; axis++)
            m.n[axis] = -m.n[axis];
    }
    return m;
}

static void subtract(const int64_t a[3], const int64_t b[3], int64_t out[3])
{
    for (int axis = 0; axis < 3; axis++)
        out[axis] = a[axis] - b[axis];
}

/// The coefficients of ε, ε² and ε³ of the determinant; the first that is not zero, as a leading term. Level
/// 4: all zero.
static rbli_orient_value leading_in_epsilon(const moving_point m[4])
{
    int64_t p[3][3], n[3][3];
    for (int row = 0; row < 3; row++) {
        subtract(m[row + 1].p, m[0].p, p[row]);
        subtract(m[row + 1].n, m[0].n, n[row]);
    }
    wide_value one =
        wide_add(wide_add(det3(n[0], p[1], p[2]), det3(p[0], n[1], p[2])), det3(p[0], p[1], n[2]));
    if (sign_of(one) != 0) return (rbli_orient_value){to_double(one), 1};
    wide_value two =
        wide_add(wide_add(det3(p[0], n[1], n[2]), det3(n[0], p[1], n[2])), det3(n[0], n[1], p[2]));
    if (sign_of(two) != 0) return (rbli_orient_value){to_double(two), 2};
    wide_value three = det3(n[0], n[1], n[2]);
    if (sign_of(three) != 0) return (rbli_orient_value){to_double(three), 3};
    return (rbli_orient_value){0, 4};
}

/// Sign of the first non-zero coefficient in ε of the 3×3 minor (columns i, j, 1) of three points.
static int minor3_sign(const moving_point *a, const moving_point *b, const moving_point *c, int i, int j)
{
    int64_t bp[2] = {b->p[i] - a->p[i], b->p[j] - a->p[j]}, cp[2] = {c->p[i] - a->p[i], c->p[j] - a->p[j]};
    int64_t bn[2] = {b->n[i] - a->n[i], b->n[j] - a->n[j]}, cn[2] = {c->n[i] - a->n[i], c->n[j] - a->n[j]};
    int sign = sign128((int128)bp[0] * cp[1] - (int128)bp[1] * cp[0]);
    if (sign) return sign;
    sign = sign128(
        (int128)bn[0] * cp[1] - (int128)bn[1] * cp[0] + (int128)bp[0] * cn[1] - (int128)bp[1] * cn[0]);
    if (sign) return sign;
    return sign128((int128)bn[0] * cn[1] - (int128)bn[1] * cn[0]);
}

static int minor2_sign(const moving_point *a, const moving_point *b, int i)
{
    int64_t p = a->p[i] - b->p[i], n = a->n[i] - b->n[i];
    if (p) return p > 0 ? 1 : -1;
    return (n > 0) - (n < 0);
}

/// Which coordinates of which rows (sorted by index) a term of the expansion takes, by falling magnitude. Row
/// k's x, y, z are moved by δ^(2^3k), δ^(2^(3k+1)), δ^(2^(3k+2)).
static const int8_t SOS_TERMS[][3] = {
    /* column taken from row 0, 1, 2; −1: none */
    {0, -1, -1},
    {1, -1, -1},
    {2, -1, -1},
    {-1, 0, -1},
    {1, 0, -1},
    {2, 0, -1},
    {-1, 1, -1},
    {0, 1, -1},
    {2, 1, -1},
    {-1, 2, -1},
    {0, 2, -1},
    {1, 2, -1},
    {-1, -1, 0},
    {1, -1, 0},
    {2, -1, 0},
    {-1, 1, 0},
    {2, 1, 0},
};

/// The sign of the coefficient of one term: a signed minor of the rows and columns that it leaves.
static int sos_term_sign(const moving_point m[4], const int8_t taken[3])
{
    int rows[4] = {0, 1, 2, 3}, columns[4] = {0, 1, 2, 3};
    int count = 4, sign = 1;
    for (int row = 0; row < 3; row++) {
        if (taken[row] < 0) continue;
        int r = 0, c = 0;
        while (rows[r] != row)
            r++;
        while (columns[c] != taken[row])
            c++;
        if ((r + c) & 1) sign = -sign;
        count--;
        for (int i = r; i < count; i++)
            rows[i] = rows[i + 1];
        for (int i = c; i < count; i++)
            columns[i] = columns[i + 1];
    }
    if (count == 3) return sign * minor3_sign(&m[rows[0]], &m[rows[1]], &m[rows[2]], columns[0], columns[1]);
    if (count == 2) return sign * minor2_sign(&m[rows[0]], &m[rows[1]], columns[0]);
    return sign;
}

static int simulation_of_simplicity(const int32_t index[4], const moving_point m[4])
{
    int order[4] = {0, 1, 2, 3};
    int parity = 1;
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && index[order[j]] < index[order[j - 1]]; j--) {
            int swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
            parity = -parity;
        }
    moving_point sorted[4] = {m[order[0]], m[order[1]], m[order[2]], m[order[3]]};
    for (size_t term = 0; term < sizeof SOS_TERMS / sizeof *SOS_TERMS; term++) {
        int sign = sos_term_sign(sorted, SOS_TERMS[term]);
        if (sign) return -parity * sign; /* the 4×4 determinant has the other sign than the triple product */
    }
    return -parity; /* not reached: the last term is a constant */
}

static wide_value exact_determinant(
    const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const double *pa = points->positions[a];
    const double *others[3] = {points->positions[b], points->positions[c], points->positions[d]};
    int64_t rows[3][3];
    for (int row = 0; row < 3; row++)
        for (int axis = 0; axis < 3; axis++)
            rows[row][axis] = (int64_t)(others[row][axis] - pa[axis]);
    return det3(rows[0], rows[1], rows[2]);
}

static rbli_orient_value leading_when_zero(const rbli_orient_points *points, const int32_t index[4])
{
    moving_point m[4];
    for (int i = 0; i < 4; i++)
        m[i] = load_point(points, index[i]);
    if (index[0] < points->mesh_count || index[1] < points->mesh_count || index[2] < points->mesh_count ||
        index[3] < points->mesh_count) {
        rbli_orient_value value = leading_in_epsilon(m);
        if (value.level < 4) return value;
    }
    return (rbli_orient_value){simulation_of_simplicity(index, m), 4};
}

int rbli_orient_exact(const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t d)
{
    int sign = sign_of(exact_determinant(points, a, b, c, d));
    if (sign) return sign;
    return leading_when_zero(points, (int32_t[]){a, b, c, d}).value > 0 ? 1 : -1;
}

rbli_orient_value rbli_orient_leading(
    const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t d)
{
    wide_value exact = exact_determinant(points, a, b, c, d);
    if (sign_of(exact) != 0) return (rbli_orient_value){to_double(exact), 0};
    return leading_when_zero(points, (int32_t[]){a, b, c, d});
}

/// Without the call that fmax is.
static inline double largest3(double a, double b, double c)
{
    double larger = a > b ? a : b;
    return larger > c ? larger : c;
}

int rbli_orient(const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const double *pa = points->positions[a], *pb = points->positions[b];
    const double *pc = points->positions[c], *pd = points->positions[d];
    double bx = pb[0] - pa[0], by = pb[1] - pa[1], bz = pb[2] - pa[2];
    double cx = pc[0] - pa[0], cy = pc[1] - pa[1], cz = pc[2] - pa[2];
    double dx = pd[0] - pa[0], dy = pd[1] - pa[1], dz = pd[2] - pa[2];
    double det = (by * cz - bz * cy) * dx + (bz * cx - bx * cz) * dy + (bx * cy - by * cx) * dz;
    double mx = largest3(fabs(bx), fabs(cx), fabs(dx));
    double my = largest3(fabs(by), fabs(cy), fabs(dy));
    double mz = largest3(fabs(bz), fabs(cz), fabs(dz));
    double bound = FILTER_BOUND * mx * my * mz;
    if (det > bound) return 1;
    if (det < -bound) return -1;
    if (bound > 0) return rbli_orient_exact(points, a, b, c, d);
    /* The four points share a plane of the axes: the determinant is exactly zero. */
    return leading_when_zero(points, (int32_t[]){a, b, c, d}).value > 0 ? 1 : -1;
}

unsigned rbli_orient_two_lines(
    const rbli_orient_points *points, int32_t from, const int32_t to[2], const int32_t v[3])
{
    const double *base = points->positions[from],
                 *ends[2] = {points->positions[to[0]], points->positions[to[1]]};
    double p[3][3], bound = FILTER_BOUND; /* of all six */
    rbli_double2 d[3];
    for (int axis = 0; axis < 3; axis++) {
        d[axis] = (rbli_double2){ends[0][axis], ends[1][axis]} - base[axis];
        for (int j = 0; j < 3; j++)
            p[j][axis] = points->positions[v[j]][axis] - base[axis];
        double largest = largest3(fabs(p[0][axis]), fabs(p[1][axis]), fabs(p[2][axis]));
        bound *= largest3(largest, fabs(d[axis][0]), fabs(d[axis][1]));
    }
    unsigned positive = 0, negative = 0;
    for (int j = 0; j < 3; j++) {
        const double *a = p[j], *b = p[j == 2 ? 0 : j + 1];
        rbli_double2 det = (a[1] * b[2] - a[2] * b[1]) * d[0] + (a[2] * b[0] - a[0] * b[2]) * d[1] +
                           (a[0] * b[1] - a[1] * b[0]) * d[2];
        positive |= rbli_lane_bits2(det > bound) << 2 * j;
        negative |= rbli_lane_bits2(det < -bound) << 2 * j;
    }
    for (unsigned open = 63 & ~(positive | negative); open; open &= open - 1) {
        int bit = __builtin_ctz(open), j = bit / 2;
        positive |= (unsigned)(rbli_orient(points, from, to[bit % 2], v[j], v[j == 2 ? 0 : j + 1]) > 0)
                    << bit;
    }
    return positive;
}

double rbli_crossing_parameter(
    const rbli_orient_points *points, int32_t a, int32_t b, int32_t c, int32_t from, int32_t to)
{
    rbli_orient_value v = rbli_orient_leading(points, a, b, c, from);
    rbli_orient_value w = rbli_orient_leading(points, a, b, c, to);
    if (v.level < w.level) return 1;
    if (v.level > w.level) return 0;
    if (v.level == 4) return 0.5;
    double t = v.value / (v.value - w.value);
    return t >= 0 ? (t <= 1 ? t : 1) : 0;
}

/// |v| as six 32-bit digits, lowest first.
static void digits_of(wide_value v, uint32_t digits[6])
{
    if (sign_of(v) < 0) v = (wide_value){-v.high, -v.low};
    v = normalised(v);
    uint64_t parts[4] = {(uint64_t)v.low, (uint64_t)(v.high & LIMB_MASK),
        (uint64_t)((v.high >> LIMB) & LIMB_MASK), (uint64_t)(v.high >> (2 * LIMB))};
    for (int i = 0; i < 6; i++)
        digits[i] = 0;
    for (int bit = 0; bit < 192; bit += 32) {
        uint64_t digit = 0;
        for (int part = 0; part < 4; part++) {
            int shift = part * LIMB - bit; /* where the part's bit 0 falls in this digit */
            if (shift >= 32 || shift <= -LIMB) continue;
            digit |= shift >= 0 ? parts[part] << shift : parts[part] >> -shift;
        }
        digits[bit / 32] = (uint32_t)digit;
    }
}

static void multiply_digits(const uint32_t a[6], const uint32_t b[6], uint32_t out[12])
{
    for (int i = 0; i < 12; i++)
        out[i] = 0;
    for (int i = 0; i < 6; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 6; j++) {
            uint64_t sum = (uint64_t)a[i] * b[j] + out[i + j] + carry;
            out[i + j] = (uint32_t)sum;
            carry = sum >> 32;
        }
        out[i + 6] = (uint32_t)carry;
    }
}

int rbli_compare_crossings(const rbli_orient_points *points, int32_t from, int32_t to,
    const int32_t plane_a[3], const int32_t plane_b[3])
{
    /* t = v / (v + w) with v, w the absolute determinants of the ends, so t_a < t_b iff v_a·w_b < v_b·w_a. */
    uint32_t va[6], wa[6], vb[6], wb[6], left[12], right[12];
    digits_of(exact_determinant(points, plane_a[0], plane_a[1], plane_a[2], from), va);
    digits_of(exact_determinant(points, plane_a[0], plane_a[1], plane_a[2], to), wa);
    digits_of(exact_determinant(points, plane_b[0], plane_b[1], plane_b[2], from), vb);
    digits_of(exact_determinant(points, plane_b[0], plane_b[1], plane_b[2], to), wb);
    multiply_digits(va, wb, left);
    multiply_digits(vb, wa, right);
    for (int i = 11; i >= 0; i--)
        if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
}
