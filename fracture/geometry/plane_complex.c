/// The subdivision of a box by planes (CUTTERS.md, planes): planes are integers, a vertex is a triple of
/// planes, all signs are exact, and each plane is inserted by walking through the cells that it crosses.

#include <math.h>

#include "fracture/geometry/complex_edit.h"
#include "fracture/geometry/predicates.h"

enum { WALLS = 6, MOST_CELLS = 10000000 };

/// n · x = d in grid coordinates; |n| ≤ 2^53, |d| < 2^108.
typedef struct plane {
    int64_t n[3];
    rbli_i128 d;
    double normal[3], offset; /* the same, rounded */
    double norm1;             /* |nx| + |ny| + |nz| */
    int32_t origin;           /* index of the given plane, −1 for walls */
} plane;

typedef struct vertex {
    double x[3]; /* within 1/8 of the true point on each axis */
    int32_t plane[3];
} vertex;

/// A vertex of a facet's loop, with a plane other than the facet's that contains the edge to the next one.
typedef struct corner {
    int32_t vertex, plane;
} corner;

typedef struct facet {
    int32_t start, count; /* in corners */
    int32_t plane;
    int32_t cell[2]; /* on the negative and positive side of the plane */
    int32_t split;   /* the plane that split it last, */
    int32_t half;    /* and its positive half then */
} facet;

typedef struct cell {
    int32_t start, count; /* in cell_facets */
    int32_t visited;      /* by which plane's walk */
} cell;

/// The new vertex on an edge that a plane crosses.
typedef struct crossing {
    int32_t low, high, vertex, plane; /* another plane: free */
} crossing;

typedef struct subdivision {
    rbl_context *ctx;
    double center[3], unit, inverse;
    double box_min[3], box_max[3]; /* integers, in grid units */
    double size;                   /* the box's diagonal */
    RBLI_ARRAY(plane) planes;      /* the walls first */
    RBLI_ARRAY(vertex) vertices;
    RBLI_ARRAY(int8_t) sign;        /* per vertex */
    RBLI_ARRAY(int32_t) sign_plane; /* the plane that `sign` is for */
    RBLI_ARRAY(int32_t) next;       /* per vertex: the next one of the new facet */
    RBLI_ARRAY(int32_t) next_plane;
    RBLI_ARRAY(corner) corners;
    RBLI_ARRAY(facet) facets;
    RBLI_ARRAY(cell) cells;
    RBLI_ARRAY(int32_t) cell_facets;
    RBLI_ARRAY(int32_t) queue;
    RBLI_ARRAY(corner) negative_loop, positive_loop;
    RBLI_ARRAY(int32_t) negative_facets, positive_facets;
    crossing *table;
    size_t mask, crossing_count;
    int32_t current; /* the plane being inserted */
} subdivision;

/* The grid and the planes */

static void set_grid(subdivision *s, const double box_min[3], const double box_max[3])
{
    double half = 0, reach = 0, far = 0;
    int exponent;
    for (int k = 0; k < 3; k++)
        half = fmax(half, box_max[k] / 2 - box_min[k] / 2);
    frexp(half, &exponent);
    double coarse = ldexp(1, exponent - 5);
    for (int k = 0; k < 3; k++) {
        s->center[k] = rint((box_min[k] / 2 + box_max[k] / 2) / coarse) * coarse;
        reach = fmax(reach, fmax(box_max[k] - s->center[k], s->center[k] - box_min[k]));
        far = fmax(far, fabs(s->center[k]));
    }
    int reach_exponent, far_exponent;
    frexp(reach, &reach_exponent);
    frexp(far, &far_exponent);
    /* Half extents below 2^49; the centre itself, in units, below 2^62. */
    int unit_exponent = reach_exponent - 49 > far_exponent - 62 ? reach_exponent - 49 : far_exponent - 62;
    s->unit = ldexp(1, unit_exponent);
    s->inverse = ldexp(1, -unit_exponent);
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        s->box_min[k] = rint((box_min[k] - s->center[k]) * s->inverse);
        s->box_max[k] = rint((box_max[k] - s->center[k]) * s->inverse);
        sum += (s->box_max[k] - s->box_min[k]) * (s->box_max[k] - s->box_min[k]);
    }
    s->size = sqrt(sum);
}

static void round_plane(plane *p)
{
    p->norm1 = 0;
    for (int k = 0; k < 3; k++) {
        p->normal[k] = (double)p->n[k];
        p->norm1 += fabs(p->normal[k]);
    }
    p->offset = (double)p->d;
}

/// The plane in grid units; false if it misses the box, by far or by an exact test of the corners.
static bool convert_plane(const subdivision *s, const double given[4], plane *p)
{
    double most = fmax(fabs(given[0]), fmax(fabs(given[1]), fabs(given[2])));
    int exponent;
    frexp(most, &exponent);
    rbli_i128 shift = 0;
    for (int k = 0; k < 3; k++) {
        p->n[k] = (int64_t)rint(ldexp(given[k], 53 - exponent));
        shift += (rbli_i128)p->n[k] * (int64_t)(s->center[k] * s->inverse);
    }
    double d = ldexp(given[3] * s->inverse, 53 - exponent);
    if (!(fabs(d) < 0x1p120)) return false;
    p->d = (rbli_i128)rint(d) - shift;
    bool below = false, above = false;
    for (int i = 0; i < 8; i++) {
        rbli_i128 value = -p->d;
        for (int k = 0; k < 3; k++)
            value += (rbli_i128)p->n[k] * (int64_t)(i >> k & 1 ? s->box_max[k] : s->box_min[k]);
        below |= value < 0;
        above |= value > 0;
    }
    round_plane(p);
    return below && above;
}

/// Whether two planes differ by less than 1e-9 of the size over the box, either side.
static bool is_duplicate(const subdivision *s, const plane *a, const plane *b)
{
    double la = sqrt(a->normal[0] * a->normal[0] + a->normal[1] * a->normal[1] + a->normal[2] * a->normal[2]);
    double lb = sqrt(b->normal[0] * b->normal[0] + b->normal[1] * b->normal[1] + b->normal[2] * b->normal[2]);
    double dot = a->normal[0] * b->normal[0] + a->normal[1] * b->normal[1] + a->normal[2] * b->normal[2];
    double turn = dot < 0 ? -1 : 1, most = 0, tolerance = 1e-9 * s->size;
    if (fabs(dot) < 0.99 * la * lb) return false;
    for (int i = 0; i < 8 && most < tolerance; i++) {
        double at_a = -a->offset, at_b = -b->offset;
        for (int k = 0; k < 3; k++) {
            double x = i >> k & 1 ? s->box_max[k] : s->box_min[k];
            at_a += a->normal[k] * x;
            at_b += b->normal[k] * x;
        }
        most = fmax(most, fabs(at_a / la - turn * at_b / lb));
    }
    return most < tolerance;
}

static rbl_status collect_planes(subdivision *s, const double (*planes)[4], size_t count, size_t *duplicates)
{
    rbl_status status = RBL_OK;
    for (int wall = 0; wall < WALLS; wall++) {
        int k = wall / 2;
        plane p = {{0, 0, 0}, 0, {0, 0, 0}, 0, 0, -1};
        p.n[k] = wall % 2 ? 1 : -1;
        p.d = (rbli_i128)(wall % 2 ? s->box_max[k] : -s->box_min[k]);
        round_plane(&p);
        RBL_TRY(rbli_array_push(s->ctx, &s->planes, p));
    }
    for (size_t i = 0; i < count; i++) {
        const double *g = planes[i];
        if (!isfinite(g[0]) || !isfinite(g[1]) || !isfinite(g[2]) || (g[0] == 0 && g[1] == 0 && g[2] == 0))
            RBL_TRY(
                rbli_fail(s->ctx, RBL_ERR_ARGUMENT, "plane %zu has a normal that is zero or not finite", i));
        if (!isfinite(g[3]))
            RBL_TRY(rbli_fail(s->ctx, RBL_ERR_ARGUMENT, "plane %zu has a distance that is not finite", i));
        plane p = {.origin = (int32_t)i};
        if (!convert_plane(s, g, &p)) continue;
        size_t same = 0;
        while (same < s->planes.count && !is_duplicate(s, &p, &s->planes.data[same]))
            same++;
        if (same == s->planes.count) {
            RBL_TRY(rbli_array_push(s->ctx, &s->planes, p));
        } else if (same >= WALLS) { /* a copy of a wall cuts nothing and is no duplicate */
            ++*duplicates;
        }
        if (i % 256 == 0 && rbli_cancelled(s->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
    }
done:
    return status;
}

/* Exact arithmetic on vertices */

static rbli_i128 minor2(const int64_t *a, const int64_t *b, int i, int j)
{
    return (rbli_i128)a[i] * b[j] - (rbli_i128)a[j] * b[i];
}

/// The point of three planes by Cramer's rule: numerators and a positive denominator.
static void intersect(
    const subdivision *s, const int32_t triple[3], rbli_i256 numerator[3], rbli_i256 *denominator)
{
    const plane *a = &s->planes.data[triple[0]], *b = &s->planes.data[triple[1]],
                *c = &s->planes.data[triple[2]];
    rbli_i192 det = rbli_i192_product(minor2(b->n, c->n, 1, 2), a->n[0]);
    det = rbli_i192_add(det, rbli_i192_product(minor2(b->n, c->n, 2, 0), a->n[1]));
    det = rbli_i192_add(det, rbli_i192_product(minor2(b->n, c->n, 0, 1), a->n[2]));
    *denominator = RBLI_WIDEN(rbli_i256, det);
    bool negative = rbli_i192_sign(det) < 0;
    if (negative) *denominator = rbli_i256_neg(*denominator);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        rbli_i256 sum = rbli_i256_product(a->d, minor2(b->n, c->n, i, j));
        sum = rbli_i256_add(sum, rbli_i256_product(b->d, minor2(c->n, a->n, i, j)));
        sum = rbli_i256_add(sum, rbli_i256_product(c->d, minor2(a->n, b->n, i, j)));
        numerator[k] = negative ? rbli_i256_neg(sum) : sum;
    }
}

static int exact_side(const subdivision *s, const vertex *v, const plane *p)
{
    rbli_i256 numerator[3], denominator;
    intersect(s, v->plane, numerator, &denominator);
    rbli_i320 sum = rbli_i320_mul(RBLI_WIDEN(rbli_i320, denominator), rbli_i320_from_i128(-p->d));
    for (int k = 0; k < 3; k++)
        sum = rbli_i320_add(sum, rbli_i320_mul_i64(RBLI_WIDEN(rbli_i320, numerator[k]), p->n[k]));
    return rbli_i320_sign(sum);
}

/// n · x − d and a bound of its rounding.
static double plane_value(const plane *p, const double x[3], double *bound)
{
    double a = p->normal[0] * x[0], b = p->normal[1] * x[1], c = p->normal[2] * x[2];
    *bound = 1e-15 * (fabs(a) + fabs(b) + fabs(c) + fabs(p->offset));
    return a + b + c - p->offset;
}

/// The vertex's side of the plane being inserted, computed once.
static int8_t side_of(subdivision *s, int32_t v)
{
    if (s->sign_plane.data[v] == s->current) return s->sign.data[v];
    const plane *p = &s->planes.data[s->current];
    const vertex *w = &s->vertices.data[v];
    double rounding, value = plane_value(p, w->x, &rounding), bound = rounding + 0.126 * p->norm1;
    int side;
    if (value > bound) {
        side = 1;
    } else if (value < -bound) {
        side = -1;
    } else if (w->plane[0] == s->current || w->plane[1] == s->current || w->plane[2] == s->current) {
        side = 0;
    } else {
        side = exact_side(s, w, p);
    }
    s->sign_plane.data[v] = s->current;
    s->sign.data[v] = (int8_t)side;
    return (int8_t)side;
}

static rbl_status add_vertex(subdivision *s, int32_t a, int32_t b, int32_t c, int32_t *out)
{
    if (s->vertices.count >= INT32_MAX)
        return rbli_fail(s->ctx, RBL_ERR_LIMIT, "the cell complex is too large");
    vertex v = {{0, 0, 0}, {a, b, c}};
    rbli_i256 numerator[3], denominator;
    intersect(s, v.plane, numerator, &denominator);
    if (rbli_i256_sign(denominator) == 0)
        return rbli_fail(s->ctx, RBL_ERR_INTERNAL, "three planes of a cell complex do not meet");
    for (int k = 0; k < 3; k++)
        v.x[k] = rbli_round_to_quarters(numerator[k], denominator);
    *out = (int32_t)s->vertices.count;
    rbl_status status = rbli_array_push(s->ctx, &s->vertices, v);
    if (status == RBL_OK) status = rbli_array_push(s->ctx, &s->sign, 0);
    if (status == RBL_OK) status = rbli_array_push(s->ctx, &s->sign_plane, s->current);
    if (status == RBL_OK) status = rbli_array_push(s->ctx, &s->next, -1);
    if (status == RBL_OK) status = rbli_array_push(s->ctx, &s->next_plane, -1);
    return status;
}

/* Facets and cells */

static rbl_status add_corners(subdivision *s, const corner *loop, size_t count, int32_t *start)
{
    if (s->corners.count + count > INT32_MAX)
        return rbli_fail(s->ctx, RBL_ERR_LIMIT, "the cell complex is too large");
    rbl_status status = rbli_array_reserve(s->ctx, &s->corners, count);
    if (status != RBL_OK) return status;
    *start = (int32_t)s->corners.count;
    memcpy(s->corners.data + s->corners.count, loop, count * sizeof *loop);
    s->corners.count += count;
    return RBL_OK;
}

static rbl_status set_cell_facets(subdivision *s, int32_t c, const int32_t *list, size_t count)
{
    if (s->cell_facets.count + count > INT32_MAX)
        return rbli_fail(s->ctx, RBL_ERR_LIMIT, "the cell complex is too large");
    rbl_status status = rbli_array_reserve(s->ctx, &s->cell_facets, count);
    if (status != RBL_OK) return status;
    s->cells.data[c].start = (int32_t)s->cell_facets.count;
    s->cells.data[c].count = (int32_t)count;
    memcpy(s->cell_facets.data + s->cell_facets.count, list, count * sizeof *list);
    s->cell_facets.count += count;
    return RBL_OK;
}

/// The box as one cell.
static rbl_status make_box(subdivision *s)
{
    static const int around[6][4] = {
        /* corners, bit k set at the maximum of axis k; counter-clockwise from outside */
        {0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    rbl_status status = RBL_OK;
    int32_t list[6] = {0, 1, 2, 3, 4, 5}, v;
    s->current = -1;
    for (int i = 0; i < 8; i++)
        RBL_TRY(add_vertex(s, i & 1, 2 + (i >> 1 & 1), 4 + (i >> 2), &v));
    RBL_TRY(rbli_array_push(s->ctx, &s->cells, ((cell){0, 0, -1})));
    for (int wall = 0; wall < WALLS; wall++) {
        corner loop[4];
        for (int i = 0; i < 4; i++) {
            int a = around[wall][i], b = around[wall][(i + 1) % 4], common = 0;
            for (int k = 0; k < 3; k++)
                if (k != wall / 2 && (a >> k & 1) == (b >> k & 1)) common = 2 * k + (a >> k & 1);
            loop[i] = (corner){a, common};
        }
        facet f = {0, 4, wall, {0, -1}, -1, -1};
        RBL_TRY(add_corners(s, loop, 4, &f.start));
        RBL_TRY(rbli_array_push(s->ctx, &s->facets, f));
    }
    RBL_TRY(set_cell_facets(s, 0, list, 6));
done:
    return status;
}

/* Crossings */

static crossing *crossing_slot(const subdivision *s, int32_t low, int32_t high)
{
    size_t slot = ((size_t)low * 0x9e3779b97f4a7c15u ^ (size_t)high * 0xc2b2ae3d27d4eb4fu) >> 20 & s->mask;
    while (s->table[slot].plane == s->current && (s->table[slot].low != low || s->table[slot].high != high))
        slot = (slot + 1) & s->mask;
    return &s->table[slot];
}

static rbl_status grow_crossings(subdivision *s)
{
    crossing *old = s->table;
    size_t old_size = old ? s->mask + 1 : 0, size = old ? 2 * old_size : 1024;
    crossing *table = rbli_alloc(s->ctx, size, sizeof *table);
    if (!table) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < size; i++)
        table[i].plane = -1;
    s->table = table;
    s->mask = size - 1;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].plane == s->current) *crossing_slot(s, old[i].low, old[i].high) = old[i];
    rbli_free(s->ctx, old);
    return RBL_OK;
}

/// The vertex where the current plane crosses an edge, which lies on two other planes.
static rbl_status cross(subdivision *s, int32_t a, int32_t b, int32_t plane_1, int32_t plane_2, int32_t *out)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    if (2 * (s->crossing_count + 1) > s->mask && grow_crossings(s) != RBL_OK) return RBL_ERR_NO_MEMORY;
    crossing *slot = crossing_slot(s, low, high);
    if (slot->plane != s->current) {
        int32_t made = -1;
        rbl_status status = add_vertex(s, plane_1, plane_2, s->current, &made);
        if (status != RBL_OK) return status;
        *slot = (crossing){low, high, made, s->current};
        s->crossing_count++;
    }
    *out = slot->vertex;
    return RBL_OK;
}

/* Inserting a plane */

/// Bit 0: has a vertex below the current plane, bit 1: above.
static int facet_sides(subdivision *s, int32_t f)
{
    int sides = 0;
    for (int32_t i = 0; i < s->facets.data[f].count; i++) {
        int8_t side = side_of(s, s->corners.data[s->facets.data[f].start + i].vertex);
        sides |= side < 0 ? 1 : side > 0 ? 2 : 0;
    }
    return sides;
}

static bool is_crossed(subdivision *s, int32_t c)
{
    int sides = 0;
    for (int32_t i = 0; i < s->cells.data[c].count && sides != 3; i++)
        sides |= facet_sides(s, s->cell_facets.data[s->cells.data[c].start + i]);
    return sides == 3;
}

/// Splits a facet with vertices on both sides: it keeps the negative part, a new one gets the positive part.
static rbl_status split_facet(subdivision *s, int32_t f)
{
    rbl_status status = RBL_OK;
    int32_t start = s->facets.data[f].start, count = s->facets.data[f].count, own = s->facets.data[f].plane;
    s->negative_loop.count = s->positive_loop.count = 0;
    RBL_TRY(rbli_array_reserve(s->ctx, &s->negative_loop, (size_t)count + 2));
    RBL_TRY(rbli_array_reserve(s->ctx, &s->positive_loop, (size_t)count + 2));
    corner *negative = s->negative_loop.data, *positive = s->positive_loop.data;
    size_t negatives = 0, positives = 0;
    for (int32_t i = 0; i < count; i++) {
        corner a = s->corners.data[start + i];
        int32_t b = s->corners.data[start + (i + 1 < count ? i + 1 : 0)].vertex;
        int8_t side_a = side_of(s, a.vertex), side_b = side_of(s, b);
        /* From a vertex on the plane the loop of the side that the edge leaves goes on along the plane. */
        if (side_a <= 0)
            negative[negatives++] = (corner){a.vertex, side_a == 0 && side_b > 0 ? s->current : a.plane};
        if (side_a >= 0)
            positive[positives++] = (corner){a.vertex, side_a == 0 && side_b < 0 ? s->current : a.plane};
        if (side_a * side_b >= 0) continue;
        int32_t x = -1;
        RBL_TRY(cross(s, a.vertex, b, own, a.plane, &x));
        negative[negatives++] = (corner){x, side_a < 0 ? s->current : a.plane};
        positive[positives++] = (corner){x, side_a < 0 ? a.plane : s->current};
    }
    facet half = s->facets.data[f];
    RBL_TRY(add_corners(s, negative, negatives, &s->facets.data[f].start));
    RBL_TRY(add_corners(s, positive, positives, &half.start));
    s->facets.data[f].count = (int32_t)negatives;
    half.count = (int32_t)positives;
    half.split = -1;
    s->facets.data[f].split = s->current;
    s->facets.data[f].half = (int32_t)s->facets.count;
    RBL_TRY(rbli_array_push(s->ctx, &s->facets, half));
done:
    return status;
}

static int32_t across(const subdivision *s, int32_t f, int32_t c)
{
    return s->facets.data[f].cell[s->facets.data[f].cell[0] == c];
}

/// The facet of a cell other than `f` that has the edge (a, b); −1 if there is none.
static int32_t other_facet(const subdivision *s, int32_t c, int32_t f, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < s->cells.data[c].count; i++) {
        int32_t g = s->cell_facets.data[s->cells.data[c].start + i], count = s->facets.data[g].count;
        const corner *loop = s->corners.data + s->facets.data[g].start;
        for (int32_t j = 0; j < count && g != f; j++) {
            int32_t p = loop[j].vertex, q = loop[j + 1 < count ? j + 1 : 0].vertex;
            if ((p == a && q == b) || (p == b && q == a)) return g;
        }
    }
    return -1;
}

static rbl_status visit(subdivision *s, int32_t c)
{
    if (c < 0 || s->cells.data[c].visited == s->current) return RBL_OK;
    s->cells.data[c].visited = s->current;
    return rbli_array_push(s->ctx, &s->queue, c);
}

/// An edge that lies on the plane leads to the crossed cell on its other side: turn about it, away from the
/// cell.
static rbl_status visit_around_edge(subdivision *s, int32_t c, int32_t f, int32_t a, int32_t b)
{
    while (f >= 0) {
        c = across(s, f, c);
        if (c < 0 || s->cells.data[c].visited == s->current) return RBL_OK;
        if (is_crossed(s, c)) return visit(s, c);
        f = other_facet(s, c, f, a, b);
    }
    return RBL_OK;
}

/// Sorts the facets of a crossed cell to its two parts, splitting those that are crossed, and queues the
/// neighbours that the plane goes on to.
static rbl_status split_facets(subdivision *s, int32_t c)
{
    rbl_status status = RBL_OK;
    s->negative_facets.count = s->positive_facets.count = 0;
    for (int32_t i = 0; i < s->cells.data[c].count; i++) {
        int32_t f = s->cell_facets.data[s->cells.data[c].start + i], half = -1;
        if (s->facets.data[f].split == s->current) {
            half = s->facets.data[f].half;
        } else {
            int sides = facet_sides(s, f);
            if (!sides)
                RBL_TRY(
                    rbli_fail(s->ctx, RBL_ERR_INTERNAL, "a facet of a cell lies on a plane that crosses it"));
            if (sides == 3) {
                RBL_TRY(visit(s, across(s, f, c)));
                RBL_TRY(split_facet(s, f));
                half = s->facets.data[f].half;
            } else if (sides == 1) {
                for (int32_t j = 0, count = s->facets.data[f].count; j < count; j++) {
                    const corner *loop = s->corners.data + s->facets.data[f].start;
                    int32_t a = loop[j].vertex, b = loop[j + 1 < count ? j + 1 : 0].vertex;
                    if (!side_of(s, a) && !side_of(s, b)) RBL_TRY(visit_around_edge(s, c, f, a, b));
                }
            } else {
                RBL_TRY(rbli_array_push(s->ctx, &s->positive_facets, f));
                continue;
            }
        }
        RBL_TRY(rbli_array_push(s->ctx, &s->negative_facets, f));
        if (half >= 0) RBL_TRY(rbli_array_push(s->ctx, &s->positive_facets, half));
    }
done:
    return status;
}

/// Chains the edges on the plane of the negative part's facets to the new facet.
static rbl_status make_section(subdivision *s, int32_t c, int32_t positive_cell, int32_t *out)
{
    rbl_status status = RBL_OK;
    int32_t first = -1;
    size_t edges = 0;
    for (size_t i = 0; i < s->negative_facets.count; i++) {
        const facet *f = &s->facets.data[s->negative_facets.data[i]];
        const corner *loop = s->corners.data + f->start;
        for (int32_t j = 0; j < f->count; j++) {
            int32_t a = loop[j].vertex, b = loop[j + 1 < f->count ? j + 1 : 0].vertex;
            if (side_of(s, a) || side_of(s, b)) continue;
            /* Seen from its positive side the new facet runs against the negative cell's outward facets. */
            int32_t from = f->cell[0] == c ? b : a, to = f->cell[0] == c ? a : b;
            s->next.data[from] = to;
            s->next_plane.data[from] = f->plane;
            first = from;
            edges++;
        }
    }
    s->negative_loop.count = 0;
    for (int32_t v = first;
         edges > 0 && s->negative_loop.count < edges && (v != first || !s->negative_loop.count);
         v = s->next.data[v])
        RBL_TRY(rbli_array_push(s->ctx, &s->negative_loop, ((corner){v, s->next_plane.data[v]})));
    if (edges < 3 || s->negative_loop.count != edges ||
        s->next.data[s->negative_loop.data[edges - 1].vertex] != first)
        RBL_TRY(rbli_fail(s->ctx, RBL_ERR_INTERNAL, "the section of a cell by plane %d does not close",
            s->planes.data[s->current].origin));
    facet made = {0, (int32_t)edges, s->current, {c, positive_cell}, -1, -1};
    RBL_TRY(add_corners(s, s->negative_loop.data, edges, &made.start));
    *out = (int32_t)s->facets.count;
    RBL_TRY(rbli_array_push(s->ctx, &s->facets, made));
done:
    return status;
}

static rbl_status split_cell(subdivision *s, int32_t c)
{
    rbl_status status = RBL_OK;
    int32_t positive = (int32_t)s->cells.count, section = -1;
    if (s->cells.count >= MOST_CELLS)
        return rbli_fail(s->ctx, RBL_ERR_LIMIT, "the planes make more than 10,000,000 cells");
    RBL_TRY(split_facets(s, c));
    RBL_TRY(rbli_array_push(s->ctx, &s->cells, ((cell){0, 0, s->current})));
    RBL_TRY(make_section(s, c, positive, &section));
    RBL_TRY(rbli_array_push(s->ctx, &s->negative_facets, section));
    for (size_t i = 0; i < s->positive_facets.count; i++) {
        facet *f = &s->facets.data[s->positive_facets.data[i]];
        f->cell[f->cell[0] != c] = positive;
    }
    RBL_TRY(rbli_array_push(s->ctx, &s->positive_facets, section));
    RBL_TRY(set_cell_facets(s, c, s->negative_facets.data, s->negative_facets.count));
    RBL_TRY(set_cell_facets(s, positive, s->positive_facets.data, s->positive_facets.count));
done:
    return status;
}

/// A point on the current plane inside the box: a mean of where it crosses the box's edges, with weights that
/// depend on the attempt.
static bool point_on_plane(const subdivision *s, int attempt, double out[3])
{
    const plane *p = &s->planes.data[s->current];
    double weights = 0, sum[3] = {0, 0, 0};
    uint32_t state = (uint32_t)attempt * 747796405u + 2891336453u;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) {
            if (i >> k & 1) continue;
            double a[3], b[3], bound;
            for (int j = 0; j < 3; j++) {
                a[j] = i >> j & 1 ? s->box_max[j] : s->box_min[j];
                b[j] = j == k ? s->box_max[j] : a[j];
            }
            double at_a = plane_value(p, a, &bound), at_b = plane_value(p, b, &bound);
            if (at_a * at_b > 0 || at_a == at_b) continue;
            double t = at_a / (at_a - at_b);
            state = state * 1664525u + 1013904223u;
            double weight = 1 + (state >> 16) / 16384.0;
            for (int j = 0; j < 3; j++)
                sum[j] += weight * (a[j] + t * (b[j] - a[j]));
            weights += weight;
        }
    for (int j = 0; j < 3; j++)
        out[j] = weights > 0 ? sum[j] / weights : 0;
    return weights > 0;
}

/// Walks towards a point: each step crosses a plane that separates the cell from it, none is crossed back.
static int32_t walk_to(const subdivision *s, const double x[3])
{
    int32_t c = 0;
    for (size_t step = 0; step < s->planes.count; step++) {
        int32_t next = -1;
        for (int32_t i = 0; i < s->cells.data[c].count && next < 0; i++) {
            const facet *f = &s->facets.data[s->cell_facets.data[s->cells.data[c].start + i]];
            double bound, value = plane_value(&s->planes.data[f->plane], x, &bound);
            if (f->cell[0] == c ? value > bound : value < -bound) next = f->cell[f->cell[0] == c];
        }
        if (next < 0) break;
        c = next;
    }
    return c;
}

/// A cell that the current plane crosses.
static int32_t find_crossed(subdivision *s)
{
    double x[3];
    for (int attempt = 0; attempt < 8 && point_on_plane(s, attempt, x); attempt++) {
        int32_t c = walk_to(s, x);
        if (is_crossed(s, c)) return c;
    }
    for (size_t c = 0; c < s->cells.count; c++)
        if (is_crossed(s, (int32_t)c)) return (int32_t)c;
    return -1;
}

static rbl_status insert_plane(subdivision *s, int32_t p)
{
    rbl_status status = RBL_OK;
    s->current = p;
    s->crossing_count = 0;
    s->queue.count = 0;
    RBL_TRY(visit(s, find_crossed(s)));
    for (size_t i = 0; i < s->queue.count; i++) {
        RBL_TRY(split_cell(s, s->queue.data[i]));
        if (i % 1024 == 1023 && rbli_cancelled(s->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
    }
done:
    return status;
}

/* Numbering */

typedef struct numbering {
    uint64_t *signs; /* [cell][words]: bit 63 − i % 64 of word i / 64 is set above plane i */
    size_t words;
} numbering;

/// The signs of the first cell from its vertices, of the others by crossing facets.
static rbl_status collect_signs(subdivision *s, numbering *n)
{
    rbl_status status = RBL_OK;
    for (size_t p = WALLS; p < s->planes.count; p++) {
        int sides = 0;
        s->current = (int32_t)p;
        for (int32_t i = 0; i < s->cells.data[0].count; i++)
            sides |= facet_sides(s, s->cell_facets.data[s->cells.data[0].start + i]);
        if (sides & 2) n->signs[(p - WALLS) / 64] |= (uint64_t)1 << (63 - (p - WALLS) % 64);
    }
    s->current = (int32_t)s->planes.count;
    s->queue.count = 0;
    RBL_TRY(visit(s, 0));
    for (size_t i = 0; i < s->queue.count; i++) {
        int32_t c = s->queue.data[i];
        for (int32_t j = 0; j < s->cells.data[c].count; j++) {
            int32_t f = s->cell_facets.data[s->cells.data[c].start + j], d = across(s, f, c);
            if (d < 0 || s->cells.data[d].visited == s->current) continue;
            uint64_t *signs = n->signs + (size_t)d * n->words;
            size_t p = (size_t)s->facets.data[f].plane - WALLS;
            memcpy(signs, n->signs + (size_t)c * n->words, n->words * sizeof *signs);
            signs[p / 64] ^= (uint64_t)1 << (63 - p % 64);
            RBL_TRY(visit(s, d));
        }
    }
done:
    return status;
}

static bool signs_before(const numbering *n, int32_t a, int32_t b)
{
    const uint64_t *x = n->signs + (size_t)a * n->words, *y = n->signs + (size_t)b * n->words;
    for (size_t i = 0; i < n->words; i++)
        if (x[i] != y[i]) return x[i] < y[i];
    return false;
}

/// number[cell]: its rank by signs.
static rbl_status number_cells(subdivision *s, int32_t **out)
{
    rbl_status status = RBL_OK;
    size_t count = s->cells.count;
    numbering n = {.words = (s->planes.count - WALLS) / 64 + 1};
    int32_t *a = NULL, *b = NULL;
    RBL_TRY_ALLOC(n.signs = rbli_calloc(s->ctx, count * n.words, sizeof *n.signs));
    RBL_TRY_ALLOC(a = rbli_alloc(s->ctx, count, sizeof *a));
    RBL_TRY_ALLOC(b = rbli_alloc(s->ctx, count, sizeof *b));
    RBL_TRY(collect_signs(s, &n));
    for (size_t i = 0; i < count; i++)
        a[i] = (int32_t)i;
    for (size_t width = 1; width < count; width *= 2) { /* merge sort */
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = begin + width < count ? begin + width : count;
            size_t end = middle + width < count ? middle + width : count, i = begin, j = middle, k = begin;
            while (i < middle && j < end)
                b[k++] = signs_before(&n, a[j], a[i]) ? a[j++] : a[i++];
            while (i < middle)
                b[k++] = a[i++];
            while (j < end)
                b[k++] = a[j++];
        }
        int32_t *t = a;
        a = b;
        b = t;
    }
    for (size_t i = 0; i < count; i++)
        b[a[i]] = (int32_t)i;
    *out = b;
    b = NULL;
done:
    rbli_free(s->ctx, n.signs);
    rbli_free(s->ctx, a);
    rbli_free(s->ctx, b);
    return status;
}

/* Result */

static rbl_status make_complex(const subdivision *s, const int32_t *number, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    rbl_context *ctx = s->ctx;
    rbli_facet_list list = {0};
    int32_t *loop = NULL;
    rbli_cell_complex *k = rbli_calloc(ctx, 1, sizeof *k);
    RBL_TRY_ALLOC(k);
    k->vertex_count = s->vertices.count;
    k->cell_count = s->cells.count;
    k->convex = true;
    RBL_TRY_ALLOC(k->vertices = rbli_alloc(ctx, k->vertex_count, sizeof *k->vertices));
    RBL_TRY_ALLOC(k->cell_site = rbli_alloc(ctx, k->cell_count, sizeof *k->cell_site));
    RBL_TRY_ALLOC(loop = rbli_alloc(ctx, k->vertex_count, sizeof *loop));
    for (size_t v = 0; v < k->vertex_count; v++)
        memcpy(k->vertices[v], s->vertices.data[v].x, sizeof k->vertices[v]);
    for (size_t c = 0; c < k->cell_count; c++)
        k->cell_site[c] = (int32_t)c;
    for (size_t f = 0; f < s->facets.count; f++) {
        const facet *g = &s->facets.data[f];
        for (int32_t i = 0; i < g->count; i++)
            loop[i] = s->corners.data[g->start + i].vertex;
        int32_t negative = g->cell[0] < 0 ? -1 : number[g->cell[0]],
                positive = g->cell[1] < 0 ? -1 : number[g->cell[1]];
        RBL_TRY(rbli_facet_list_add(
            ctx, &list, loop, (size_t)g->count, negative, positive, s->planes.data[g->plane].origin));
    }
    RBL_TRY(rbli_facet_list_move(ctx, &list, k));
    *out = k;
    k = NULL;
done:
    rbli_facet_list_free(ctx, &list);
    rbli_free(ctx, loop);
    rbli_cell_complex_destroy(ctx, k);
    return status;
}

/// Contracts what rounding has made too small; leaves the exact subdivision where the result would not be a
/// complex.
static rbl_status contract(const subdivision *s, const int32_t *number, rbli_cell_complex **k)
{
    rbl_status status = RBL_OK;
    bool changed = false;
    rbl_context quiet = *s->ctx;
    uint8_t *walls = rbli_calloc(s->ctx, (*k)->vertex_count, 1);
    RBL_TRY_ALLOC(walls);
    for (size_t v = 0; v < (*k)->vertex_count; v++)
        for (int i = 0; i < 3; i++)
            walls[v] += (*k)->vertices[v][i] == s->box_min[i] || (*k)->vertices[v][i] == s->box_max[i];
    rbli_contract_options options = {.extent = s->size, .wall_count = walls};
    RBL_TRY(rbli_complex_contract(s->ctx, *k, &options, &changed));
    RBL_TRY(rbli_complex_pack(s->ctx, *k));
    if (!changed) goto done;
    quiet.messages = NULL;
    status = rbli_cell_complex_check(&quiet, *k);
    if (status != RBL_ERR_INTERNAL) goto done;
    rbli_cell_complex_destroy(s->ctx, *k);
    *k = NULL;
    status = make_complex(s, number, k);
done:
    rbli_free(s->ctx, walls);
    return status;
}

static void to_source(
    const subdivision *s, const double box_min[3], const double box_max[3], rbli_cell_complex *complex)
{
    for (size_t v = 0; v < complex->vertex_count; v++)
        for (int k = 0; k < 3; k++) {
            double *x = &complex->vertices[v][k];
            *x = *x == s->box_min[k]   ? box_min[k]
                 : *x == s->box_max[k] ? box_max[k]
                                       : s->center[k] + *x * s->unit;
        }
    for (size_t c = 0; c < complex->cell_count; c++)
        complex->cell_site[c] = (int32_t)c;
}

static void free_subdivision(subdivision *s)
{
    void *const arrays[] = {s->planes.data, s->vertices.data, s->sign.data, s->sign_plane.data, s->next.data,
        s->next_plane.data, s->corners.data, s->facets.data, s->cells.data, s->cell_facets.data,
        s->queue.data, s->negative_loop.data, s->positive_loop.data, s->negative_facets.data,
        s->positive_facets.data, s->table};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        rbli_free(s->ctx, arrays[i]);
}

rbl_status rbli_plane_complex(rbl_context *ctx, const double (*planes)[4], size_t plane_count,
    const double box_min[3], const double box_max[3], size_t *duplicate_count, rbli_cell_complex **out)
{
    rbl_status status = RBL_OK;
    subdivision s = {.ctx = ctx};
    rbli_cell_complex *k = NULL;
    int32_t *number = NULL;
    size_t duplicates = 0;
    for (int i = 0; i < 3; i++)
        if (!isfinite(box_min[i]) || !isfinite(box_max[i]) || !(box_min[i] < box_max[i]) ||
            fabs(box_min[i]) > 1e280 || fabs(box_max[i]) > 1e280 || box_max[i] - box_min[i] < 1e-280)
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "the box is empty or out of range along %c", "xyz"[i]);
    if (plane_count > INT32_MAX) return rbli_fail(ctx, RBL_ERR_LIMIT, "there are too many planes");
    set_grid(&s, box_min, box_max);
    RBL_TRY(collect_planes(&s, planes, plane_count, &duplicates));
    RBL_TRY(grow_crossings(&s));
    RBL_TRY(make_box(&s));
    for (size_t p = WALLS; p < s.planes.count; p++) {
        RBL_TRY(insert_plane(&s, (int32_t)p));
        if (rbli_cancelled(ctx)) RBL_TRY(RBL_ERR_CANCELLED);
    }
    RBL_TRY(number_cells(&s, &number));
    RBL_TRY(make_complex(&s, number, &k));
    RBL_TRY(contract(&s, number, &k));
    to_source(&s, box_min, box_max, k);
    if (duplicate_count) *duplicate_count = duplicates;
    *out = k;
    k = NULL;
done:
    free_subdivision(&s);
    rbli_free(ctx, number);
    rbli_cell_complex_destroy(ctx, k);
    return status;
}
