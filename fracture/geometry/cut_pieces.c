/// The connected parts of a cell, and which of them are pieces, cavities of pieces or films.

#include "fracture/geometry/cut_cell.h"

static int compare_positions(const double a[3], const double b[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (a[axis] != b[axis]) return a[axis] < b[axis] ? -1 : 1;
    return 0;
}

static double largest_component(const double v[3])
{
    return cut_max(cut_max(fabs(v[0]), fabs(v[1])), fabs(v[2]));
}

/// A triangle as vectors: its first corner from an origin, its sides from there, their cross product.
typedef struct spans {
    double p[3], u[3], w[3], n[3];
} spans;

static inline spans span_triangle(
    const double origin[3], const double a[3], const double b[3], const double c[3])
{
    spans s;
    for (int axis = 0; axis < 3; axis++) {
        s.p[axis] = a[axis] - origin[axis];
        s.u[axis] = b[axis] - a[axis];
        s.w[axis] = c[axis] - a[axis];
    }
    s.n[0] = s.u[1] * s.w[2] - s.u[2] * s.w[1];
    s.n[1] = s.u[2] * s.w[0] - s.u[0] * s.w[2];
    s.n[2] = s.u[0] * s.w[1] - s.u[1] * s.w[0];
    return s;
}

static inline double squared_length(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/// Adds a triangle to a volume; true when two of its corners are at one place.
static inline bool measure_triangle(
    double *volume, const double origin[3], const double a[3], const double b[3], const double c[3])
{
    spans s = span_triangle(origin, a, b, c);
    *volume += (s.p[0] * s.n[0] + s.p[1] * s.n[1] + s.p[2] * s.n[2]) / 6;
    return squared_length(s.n) == 0 && (largest_component(s.u) == 0 || largest_component(s.w) == 0 ||
                                           (s.u[0] == s.w[0] && s.u[1] == s.w[1] && s.u[2] == s.w[2]));
}

/// Area and noise of each part.
static void measure_rounding(cut_cell *c)
{
    const cut_point *positions = c->positions.data;
    for (size_t i = 0; i < c->triangles.count; i++) {
        const int32_t *v = c->triangles.data[i].v;
        cut_part *part = &c->parts.data[c->part_of.data[v[0]]];
        spans s = span_triangle(
            positions[part->first].at, positions[v[0]].at, positions[v[1]].at, positions[v[2]].at);
        part->area += 0.5 * sqrt(squared_length(s.n));
        part->noise += largest_component(s.p) * largest_component(s.u) * largest_component(s.w);
    }
}

/// Volumes of all parts. Triangles of a part mostly follow each other: its sum stays in a register.
static void measure_volumes(cut_cell *c)
{
    const cut_point *positions = c->positions.data;
    const double *origin = NULL;
    double volume = 0;
    int32_t current = -1;
    for (size_t i = 0; i < c->triangles.count; i++) {
        const int32_t *v = c->triangles.data[i].v;
        int32_t part = c->part_of.data[v[0]];
        if (part != current) {
            if (current >= 0) c->parts.data[current].volume = volume;
            current = part;
            volume = c->parts.data[part].volume;
            origin = positions[c->parts.data[part].first].at;
        }
        c->has_zero_edge |=
            measure_triangle(&volume, origin, positions[v[0]].at, positions[v[1]].at, positions[v[2]].at);
    }
    if (current >= 0) c->parts.data[current].volume = volume;
}

/// Numbers the parts by their first vertices and measures them.
static rbl_status find_parts(rbl_context *ctx, cut_cell *c)
{
    rbl_status status = RBL_OK;
    const cut_point *positions = c->positions.data;
    int32_t *part_of = c->part_of.data;
    c->parts.count = 0;
    c->has_zero_edge = false;
    for (size_t v = 0; v < c->ids.count; v++) {
        if ((size_t)part_of[v] != v) {
            part_of[v] = part_of[part_of[v]]; /* a lower vertex, so its part has its number already */
        } else {
            part_of[v] = (int32_t)c->parts.count;
            cut_part fresh = {
                .first = (int32_t)v, .lowest = (int32_t)v, .owner = (int32_t)c->parts.count, .piece = -1};
            RBL_TRY(rbli_array_push(ctx, &c->parts, fresh));
        }
        cut_part *p = &c->parts.data[part_of[v]];
        if (compare_positions(positions[v].at, positions[p->lowest].at) < 0) p->lowest = (int32_t)v;
    }
    measure_volumes(c);
done:
    return status;
}

/// Whether edge a–b passes to the right of p, half open in y; the same answer for both triangles at the edge.
static bool edge_is_right(const double *a, const double *b, const double *p)
{
    if ((a[1] > p[1]) == (b[1] > p[1])) return false;
    if (compare_positions(a, b) > 0) {
        const double *swap = a;
        a = b;
        b = swap;
    }
    return p[0] < a[0] + (p[1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1]);
}

/// A grid over the x–y plane, and the triangles that reach into each of its columns: a line along z through
/// a point of a column meets no others.
typedef struct triangle_columns {
    double low[2], inverse[2];
    int32_t count[2];
    int32_t *start, *items;
} triangle_columns;

enum { TRIANGLES_A_COLUMN = 4, MOST_COLUMNS_A_SIDE = 512, COPIES_A_TRIANGLE = 16 };

static int32_t column_along(const triangle_columns *columns, int axis, double x)
{
    double at = (x - columns->low[axis]) * columns->inverse[axis];
    return at <= 0 ? 0 : at >= columns->count[axis] ? columns->count[axis] - 1 : (int32_t)at;
}

/// The columns of a triangle: first and last along x, then along y.
static void columns_of_triangle(
    const cut_cell *c, const triangle_columns *columns, size_t triangle, int32_t span[4])
{
    const int32_t *v = c->triangles.data[triangle].v;
    for (int axis = 0; axis < 2; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 3; i++) {
            double x = c->positions.data[v[i]].at[axis];
            low = cut_min(low, x);
            high = cut_max(high, x);
        }
        span[2 * axis] = column_along(columns, axis, low);
        span[2 * axis + 1] = column_along(columns, axis, high);
    }
}

/// Chooses columns so that a triangle lies in few of them, most of all where triangles are of very unlike
/// sizes. @return how often triangles are listed
static size_t size_columns(const cut_cell *c, triangle_columns *columns)
{
    double high[2] = {-INFINITY, -INFINITY};
    columns->low[0] = columns->low[1] = INFINITY;
    for (size_t v = 0; v < c->positions.count; v++)
        for (int axis = 0; axis < 2; axis++) {
            columns->low[axis] = cut_min(columns->low[axis], c->positions.data[v].at[axis]);
            high[axis] = cut_max(high[axis], c->positions.data[v].at[axis]);
        }
    double side = sqrt((double)c->triangles.count / TRIANGLES_A_COLUMN);
    int32_t wanted = (int32_t)cut_min(cut_max(side, 1), MOST_COLUMNS_A_SIDE);
    for (;; wanted = (wanted + 1) / 2) {
        size_t listed = 0;
        for (int axis = 0; axis < 2; axis++) {
            double size = high[axis] - columns->low[axis];
            columns->count[axis] = wanted;
            columns->inverse[axis] = size > 0 ? wanted / size : 0;
        }
        for (size_t t = 0; t < c->triangles.count; t++) {
            int32_t span[4];
            columns_of_triangle(c, columns, t, span);
            listed += (size_t)(span[1] - span[0] + 1) * (size_t)(span[3] - span[2] + 1);
        }
        if (wanted == 1 || listed <= COPIES_A_TRIANGLE * c->triangles.count) return listed;
    }
}

static rbl_status make_columns(rbl_context *ctx, const cut_cell *c, triangle_columns *columns)
{
    rbl_status status = RBL_OK;
    size_t listed = size_columns(c, columns), count = (size_t)columns->count[0] * (size_t)columns->count[1];
    RBL_TRY_ALLOC(columns->start = rbli_calloc(ctx, count + 2, sizeof *columns->start));
    RBL_TRY_ALLOC(columns->items = rbli_alloc(ctx, listed, sizeof *columns->items));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t t = 0; t < c->triangles.count; t++) {
            int32_t span[4];
            columns_of_triangle(c, columns, t, span);
            for (int32_t y = span[2]; y <= span[3]; y++)
                for (int32_t x = span[0]; x <= span[1]; x++) {
                    int32_t *start = &columns->start[y * columns->count[0] + x];
                    if (pass == 0)
                        start[2]++;
                    else
                        columns->items[start[1]++] = (int32_t)t;
                }
        }
        for (size_t i = 0; i < count && pass == 0; i++)
            columns->start[i + 2] += columns->start[i + 1];
    }
done:
    return status;
}

/// How often each part winds around a point, from the triangles above it. `windings` are zero before; the
/// parts that may not be any more are listed in `touched`.
static rbl_status wind_parts(
    rbl_context *ctx, cut_cell *c, const triangle_columns *columns, const double p[3])
{
    rbl_status status = RBL_OK;
    c->touched.count = 0;
    int32_t column = column_along(columns, 1, p[1]) * columns->count[0] + column_along(columns, 0, p[0]);
    for (int32_t i = columns->start[column]; i < columns->start[column + 1]; i++) {
        const int32_t *v = c->triangles.data[columns->items[i]].v;
        const double *q[3] = {
            c->positions.data[v[0]].at, c->positions.data[v[1]].at, c->positions.data[v[2]].at};
        int crossings =
            edge_is_right(q[0], q[1], p) + edge_is_right(q[1], q[2], p) + edge_is_right(q[2], q[0], p);
        if (crossings % 2 == 0) continue;
        double ux = q[1][0] - q[0][0], uy = q[1][1] - q[0][1], uz = q[1][2] - q[0][2];
        double wx = q[2][0] - q[0][0], wy = q[2][1] - q[0][1], wz = q[2][2] - q[0][2];
        double normal = ux * wy - uy * wx;
        if (normal == 0) continue;
        double z = q[0][2] -
                   ((uy * wz - uz * wy) * (p[0] - q[0][0]) + (uz * wx - ux * wz) * (p[1] - q[0][1])) / normal;
        if (!(z > p[2])) continue;
        int32_t part = c->part_of.data[v[0]];
        c->windings.data[part] += normal > 0 ? 1 : -1;
        RBL_TRY(rbli_array_push(ctx, &c->touched, part));
    }
done:
    return status;
}

/// The smallest solid part around part i, −1 for none. Clears the windings.
static int32_t part_around(cut_cell *c, size_t i)
{
    int32_t around = -1;
    for (size_t j = 0; j < c->touched.count; j++) {
        int32_t part = c->touched.data[j];
        const cut_part *q = &c->parts.data[part];
        bool winds = c->windings.data[part] != 0;
        c->windings.data[part] = 0;
        if (!winds || part == (int32_t)i || q->owner < 0 || q->volume <= 0) continue;
        const cut_part *best = around < 0 ? NULL : &c->parts.data[around];
        if (!best || q->volume < best->volume || (q->volume == best->volume && part < around)) around = part;
    }
    return around;
}

/// Leaves out pieces that hold no more than was taken from them (overlapping shells of both senses).
static void drop_hollow_pieces(cut_cell *c)
{
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        if (p->owner < 0 || p->owner == (int32_t)i) continue;
        c->parts.data[p->owner].taken += p->volume;
        c->parts.data[p->owner].limit += p->limit;
    }
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        if (p->owner < 0) continue;
        const cut_part *owner = &c->parts.data[p->owner];
        if (owner->volume + owner->taken > owner->limit) continue;
        if (p->owner == (int32_t)i) c->negative_count++;
        p->piece = -2; /* marks; owners must stay readable until all are looked at */
    }
    for (size_t i = 0; i < c->parts.count; i++)
        if (c->parts.data[i].piece == -2) c->parts.data[i].owner = -1;
}

static double film_thickness(const cut_state *s)
{
    return CUT_FILM_STEPS * s->grid.step;
}

/// Limits of a part's volume below which it is a film; `area` and `noise` may be upper bounds.
static double film_limit(double thinnest, double area, double noise)
{
    return thinnest * (area + thinnest * thinnest) + 0x1p-48 * noise;
}

bool cut_is_surely_piece(const cut_state *state, const cut_cell *c, double volume, size_t triangle_count)
{
    const double *first = c->positions.data[0].at;
    double along[3] = {0, 0, 0}, count = (double)triangle_count;
    for (size_t v = 0; v < c->positions.count; v++)
        for (int axis = 0; axis < 3; axis++)
            along[axis] = cut_max(along[axis], fabs(c->positions.data[v].at[axis] - first[axis]));
    double reach = largest_component(along);
    return volume > 2 * film_limit(film_thickness(state), 8 * count * reach * reach,
                            4 * count * reach * reach * reach);
}

/// Leaves films out and gives cavities to the part around them.
static rbl_status own_parts(rbl_context *ctx, const cut_state *s, cut_cell *c)
{
    rbl_status status = RBL_OK;
    double thinnest = film_thickness(s);
    int32_t largest = -1;
    triangle_columns columns = {0};
    if (c->parts.count == 1 && cut_is_surely_piece(s, c, c->parts.data[0].volume, c->triangles.count))
        return RBL_OK;
    measure_rounding(c);
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        p->limit = film_limit(thinnest, p->area, p->noise);
        if (fabs(p->volume) <= p->limit) {
            p->owner = -1;
            c->film_count++;
        } else if (p->volume > 0 && (largest < 0 || p->volume > c->parts.data[largest].volume)) {
            largest = (int32_t)i;
        }
    }
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        if (p->owner < 0 || p->volume > 0) continue;
        if (!columns.start) {
            RBL_TRY(make_columns(ctx, c, &columns));
            c->windings.count = 0;
            RBL_TRY(rbli_array_reserve(ctx, &c->windings, c->parts.count));
            memset(c->windings.data, 0, c->parts.count * sizeof *c->windings.data);
        }
        RBL_TRY(wind_parts(ctx, c, &columns, c->positions.data[p->lowest].at));
        int32_t around = part_around(c, i);
        if (around < 0) {
            c->negative_count++;
            around = largest;
        }
        p->owner = around;
    }
    for (size_t i = 0; i < c->parts.count && !s->split_islands; i++)
        if (c->parts.data[i].owner >= 0) c->parts.data[i].owner = largest;
    drop_hollow_pieces(c);
done:
    rbli_free(ctx, columns.start);
    rbli_free(ctx, columns.items);
    return status;
}

/// Numbers the pieces of the cell by their lowest vertex; insertion sort, islands are few.
static rbl_status number_pieces(rbl_context *ctx, cut_cell *c)
{
    rbl_status status = RBL_OK;
    c->pieces.count = 0;
    for (size_t i = 0; i < c->parts.count; i++)
        if (c->parts.data[i].owner == (int32_t)i) RBL_TRY(rbli_array_push(ctx, &c->pieces, (int32_t)i));
    for (size_t i = 1; i < c->pieces.count; i++) {
        int32_t moving = c->pieces.data[i];
        const double *key = c->positions.data[c->parts.data[moving].lowest].at;
        size_t j = i;
        for (; j > 0; j--) {
            const cut_part *before = &c->parts.data[c->pieces.data[j - 1]];
            if (compare_positions(key, c->positions.data[before->lowest].at) >= 0) break;
            c->pieces.data[j] = c->pieces.data[j - 1];
        }
        c->pieces.data[j] = moving;
    }
    for (size_t i = 0; i < c->pieces.count; i++)
        c->parts.data[c->pieces.data[i]].piece = (int32_t)i;
    for (size_t i = 0; i < c->parts.count; i++) {
        cut_part *p = &c->parts.data[i];
        p->piece = p->owner < 0 ? -1 : c->parts.data[p->owner].piece;
    }
done:
    return status;
}

rbl_status cut_cell_find_pieces(rbl_context *ctx, const cut_state *state, cut_cell *cell)
{
    rbl_status status = RBL_OK;
    RBL_TRY(find_parts(ctx, cell));
    RBL_TRY(own_parts(ctx, state, cell));
    RBL_TRY(number_pieces(ctx, cell));
done:
    return status;
}
