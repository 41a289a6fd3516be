/// Convex hulls: the exact hull of the points on a grid is cleaned of vertices that stand out by rounding
/// alone, and a budget is met from outside by the planes of facets.

#include "fracture/geometry/convex_hull.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/geometry/exact_hull.h"
#include "fracture/geometry/lanes.h"

/* Distances in the grid: extents are 2^49 … 2^50 steps. */
static const double exact_tolerance = 0x1p50 * 1e-8, simple_tolerance = 0x1p50 * 1e-6;
static const double flat_tolerance = 0x1p50 * 1e-12;

/// Points on a grid: component k along axis k is offset[k] + g · step[k], seen from `base`; steps are powers
/// of two.
typedef struct grid {
    double base[3], axes[3][3], offset[3], step[3];
} grid;

/// A hull under way: points in space and on the grid, and the exact hull of the grid points. All arrays are the
/// scratch's.
typedef struct work {
    rbl_context *ctx;
    rbli_hull_scratch *scratch;
    double (*space)[3];
    double (*points)[3];
    size_t count;
    double tolerance;      /* vertices that stand out less are left out … */
    double (*left_out)[3]; /* … and kept here, [left_out_count], in space */
    size_t left_out_count;
    grid g;
    rbli_exact_hull hull;
} work;

rbli_hull_options rbli_hull_default_options(void)
{
    return (rbli_hull_options){.max_vertices = 64};
}

void rbli_hull_free(rbl_context *ctx, rbli_hull *hull)
{
    rbli_free(ctx, hull->points);
    rbli_free(ctx, hull->triangles);
    *hull = (rbli_hull){0};
}

static void *take_memory(const work *w, size_t count, size_t size)
{
    return rbli_arena_alloc(&w->scratch->results, count, size);
}

/// By value: of three doubles memmove is a call.
static void copy_point(double to[3], const double from[3])
{
    double x = from[0], y = from[1], z = from[2];
    to[0] = x;
    to[1] = y;
    to[2] = z;
}

static int compare_points(const void *a, const void *b)
{
    const double *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
    return 0;
}

/// Shell sort for few points: qsort spends most of its time on calls.
static void sort_points(double (*points)[3], size_t count)
{
    static const size_t gaps[] = {301, 132, 57, 23, 10, 4, 1}; /* Ciura 2001 */
    if (count > 1024) {
        qsort(points, count, sizeof *points, compare_points);
        return;
    }
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < count; i++) {
            double p[3];
            size_t at = i;
            memcpy(p, points[i], sizeof p);
            for (; at >= gaps[g] && compare_points(p, points[at - gaps[g]]) < 0; at -= gaps[g])
                memcpy(points[at], points[at - gaps[g]], sizeof p);
            memcpy(points[at], p, sizeof p);
        }
}

/// A point to sort, by its first coordinate.
typedef struct sort_key {
    double x;
    size_t index;
} sort_key;

/// Merges sorted keys begin … middle − 1 and middle … end − 1. Which is less is anyone's guess: no branch on it.
static void merge_keys(const sort_key *keys, size_t begin, size_t middle, size_t end, sort_key *out)
{
    size_t left = begin, right = middle;
    for (size_t at = begin; at < end; at++) {
        if (left == middle || right == end) {
            size_t rest = left == middle ? right : left;
            memcpy(out + at, keys + rest, (end - at) * sizeof *out);
            return;
        }
        size_t is_right = keys[right].x < keys[left].x;
        out[at] = keys[is_right ? right : left];
        right += is_right;
        left += 1 - is_right;
    }
}

/// Merge sort. @return `keys` or `other`: where they are
static const sort_key *sort_keys(sort_key *keys, sort_key *other, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = count - begin < width ? count : begin + width;
            merge_keys(keys, begin, middle, count - begin < 2 * width ? count : begin + 2 * width, other);
        }
        sort_key *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

static size_t hash_point(const double p[3])
{
    uint64_t bits[3];
    memcpy(bits, p, sizeof bits);
    uint64_t sum = bits[0] * 0x9e3779b97f4a7c15 + bits[1] * 0xc2b2ae3d27d4eb4f + bits[2] * 0x165667b19e3779f9;
    return (size_t)(sum >> 32 ^ sum >> 52);
}

/// Leaves out points that are the same as the last one with their hash: most of those that are there several times,
/// as the corners of triangles are, need not be sorted.
static rbl_status drop_twins(work *w)
{
    size_t slot_count = 16, kept = 0;
    while (slot_count < w->count)
        slot_count *= 2;
    uint32_t *last = take_memory(w, slot_count, sizeof *last); /* index + 1; 0: none */
    if (!last) return RBL_ERR_NO_MEMORY;
    memset(last, 0, slot_count * sizeof *last);
    for (size_t i = 0; i < w->count; i++) {
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = w->space[i][k] + 0.0; /* −0 becomes 0 */
        uint32_t *slot = &last[hash_point(p) & (slot_count - 1)];
        const double *q = *slot ? w->space[*slot - 1] : NULL;
        if (q && q[0] == p[0] && q[1] == p[1] && q[2] == p[2]) continue;
        copy_point(w->space[kept++], p);
        *slot = (uint32_t)kept;
    }
    w->count = kept;
    return RBL_OK;
}

/// Sorts the points in `space` and leaves each once.
static rbl_status sort_unique(work *w)
{
    rbl_status status = RBL_OK;
    double(*sorted)[3] = NULL;
    sort_key *keys = NULL;
    RBL_TRY(drop_twins(w));
    RBL_TRY_ALLOC(sorted = take_memory(w, w->count, sizeof *sorted));
    RBL_TRY_ALLOC(keys = take_memory(w, w->count, 2 * sizeof *keys));
    for (size_t i = 0; i < w->count; i++)
        keys[i] = (sort_key){w->space[i][0], i};
    const sort_key *order = sort_keys(keys, keys + w->count, w->count);
    for (size_t i = 0; i < w->count; i++)
        memcpy(sorted[i], w->space[order[i].index], sizeof *sorted);
    for (size_t begin = 0, end; begin < w->count; begin = end) {
        for (end = begin + 1; end < w->count && sorted[end][0] == sorted[begin][0];)
            end++;
        if (end - begin > 1) sort_points(sorted + begin, end - begin);
    }
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++)
        if (i == 0 || compare_points(sorted[i], sorted[kept - 1]) != 0) copy_point(sorted[kept++], sorted[i]);
    w->count = kept;
    w->space = sorted;
done:
    return status;
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void normalize(double v[3])
{
    double most = fabs(v[0]) > fabs(v[1]) ? fabs(v[0]) : fabs(v[1]);
    most = fabs(v[2]) > most ? fabs(v[2]) : most;
    for (int k = 0; k < 3; k++)
        v[k] = most > 0 ? v[k] / most : k == 2;
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++)
        v[k] /= length;
}

static double along_axis(const grid *g, int axis, const double x[3])
{
    const double *a = g->axes[axis];
    return a[0] * (x[0] - g->base[0]) + a[1] * (x[1] - g->base[1]) + a[2] * (x[2] - g->base[2]);
}

static void from_grid(const grid *g, const double x[3], double out[3])
{
    double y[3];
    for (int k = 0; k < 3; k++)
        y[k] = g->offset[k] + x[k] * g->step[k];
    for (int k = 0; k < 3; k++)
        out[k] = g->base[k] + (g->axes[0][k] * y[0] + g->axes[1][k] * y[1] + g->axes[2][k] * y[2]);
}

static void to_grid(const grid *g, const double x[3], double out[3])
{
    double y[3];
    for (int k = 0; k < 3; k++) {
        double value = rint((along_axis(g, k, x) - g->offset[k]) / g->step[k]);
        y[k] = value > RBLI_EXACT_HULL_LIMIT    ? RBLI_EXACT_HULL_LIMIT
               : value < -RBLI_EXACT_HULL_LIMIT ? -RBLI_EXACT_HULL_LIMIT
                                                : value;
    }
    memcpy(out, y, sizeof y);
}

static void bounds(const double (*points)[3], size_t count, double low[3], double high[3])
{
    memcpy(low, points[0], 3 * sizeof *low);
    memcpy(high, points[0], 3 * sizeof *high);
    for (size_t i = 1; i < count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = points[i][k] < low[k] ? points[i][k] : low[k];
            high[k] = points[i][k] > high[k] ? points[i][k] : high[k];
        }
}

/// Fits offsets and steps to the points along the given axes (NULL: those of space). An axis without extent
/// beyond the rounding of coordinates takes the step of the longest one.
static void choose_grid(
    const double (*points)[3], size_t count, const double (*axes)[3], grid *g, double *diagonal)
{
    double low[3], high[3], extent[3], longest = 0, largest = 0, sum = 0;
    bounds(points, count, low, high);
    for (int k = 0; k < 3; k++) {
        g->base[k] = low[k] + (high[k] - low[k]) / 2;
        largest = fmax(largest, fmax(fabs(low[k]), fabs(high[k])));
        for (int j = 0; j < 3; j++)
            g->axes[k][j] = axes ? axes[k][j] : k == j;
    }
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = along_axis(g, k, points[0]);
        for (size_t i = 1; i < count; i++) {
            double y = along_axis(g, k, points[i]);
            low[k] = y < low[k] ? y : low[k];
            high[k] = y > high[k] ? y : high[k];
        }
        extent[k] = high[k] - low[k];
        g->offset[k] = low[k] + extent[k] / 2;
        longest = extent[k] > longest ? extent[k] : longest;
    }
    for (int k = 0; k < 3; k++) {
        int exponent = 0;
        /* Along axes of space rounding grows with that coordinate alone, along turned ones with all. */
        double magnitude = axes ? largest : fabs(g->base[k]) + extent[k];
        bool flat = extent[k] <= 0x1p-47 * magnitude;
        frexp(flat ? longest : extent[k], &exponent); /* the extent is 2^(exponent − 1) … 2^exponent */
        g->step[k] = ldexp(1, exponent - 50 < -1020 ? -1020 : exponent - 50);
        sum += longest > 0 ? extent[k] / longest * (extent[k] / longest) : 0;
    }
    *diagonal = longest * sqrt(sum);
}

/* ---- vertices that stand out by rounding alone ---- */

/// A lower bound of how far each vertex stands out from its neighbours: along the mean of its facets'
/// normals. Negative for points that are no vertices.
static void bound_prominence(const work *w, double (*mean)[3], double *prominence)
{
    for (size_t i = 0; i < w->count; i++)
        prominence[i] = -1, mean[i][0] = mean[i][1] = mean[i][2] = 0;
    for (size_t f = 0; f < w->hull.face_count; f++) {
        const rbli_exact_face *face = &w->hull.faces[f];
        for (int c = 0; c < 3; c++) {
            prominence[face->vertex[c]] = HUGE_VAL;
            for (int k = 0; k < 3; k++)
                mean[face->vertex[c]][k] += face->normal[k];
        }
    }
    for (size_t i = 0; i < w->count; i++) {
        double length = sqrt(mean[i][0] * mean[i][0] + mean[i][1] * mean[i][1] + mean[i][2] * mean[i][2]);
        for (int k = 0; k < 3; k++)
            mean[i][k] /= length > 0 ? length : 1;
    }
    for (size_t f = 0; f < w->hull.face_count; f++) {
        const int32_t *v = w->hull.faces[f].vertex;
        for (int c = 0; c < 3; c++) {
            const double *a = w->points[v[c]], *b = w->points[v[(c + 1) % 3]], *n = mean[v[c]];
            double d = n[0] * (a[0] - b[0]) + n[1] * (a[1] - b[1]) + n[2] * (a[2] - b[2]);
            double least = prominence[v[c]];
            d = d > 0 ? d : 0;
            prominence[v[c]] = d < least ? d : least;
        }
    }
}

static double height_above(const work *w, const double p[3])
{
    double height = -HUGE_VAL;
    for (size_t f = 0; f < w->hull.face_count; f++) {
        const rbli_exact_face *face = &w->hull.faces[f];
        const double *a = w->points[face->vertex[0]];
        double d = face->normal[0] * (p[0] - a[0]) + face->normal[1] * (p[1] - a[1]) +
                   face->normal[2] * (p[2] - a[2]);
        height = d > height ? d : height;
    }
    return height;
}

/// Of the vertices that may not stand out, marks a set of which no two are neighbours, the least prominent
/// first.
static size_t choose_removals(const work *w, const double *prominence, const bool *needed, bool *removed)
{
    size_t chosen = 0;
    memset(removed, 0, w->count);
    for (size_t f = 0; f < w->hull.face_count; f++) {
        const int32_t *v = w->hull.faces[f].vertex;
        for (int c = 0; c < 3; c++) {
            int32_t i = v[c];
            if (removed[i] || needed[i] || prominence[i] > w->tolerance) continue;
            removed[i] = true; /* for the moment: neighbours take it back below */
            chosen++;
        }
    }
    for (size_t f = 0; f < w->hull.face_count; f++) {
        const int32_t *v = w->hull.faces[f].vertex;
        for (int c = 0; c < 3; c++) {
            int32_t i = v[c], j = v[(c + 1) % 3];
            if (!removed[i] || !removed[j]) continue;
            bool i_first = prominence[i] < prominence[j] || (prominence[i] == prominence[j] && i < j);
            removed[i_first ? j : i] = false;
            chosen--;
        }
    }
    return chosen;
}

static void compact(work *w, const bool *removed, bool *needed)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (removed[i]) continue;
        copy_point(w->points[kept], w->points[i]);
        copy_point(w->space[kept], w->space[i]);
        needed[kept++] = needed[i];
    }
    w->count = kept;
}

/// Leaves out the points that are no vertices of the hull, which stays.
static void drop_inner(work *w, const bool *inner, int32_t *new_index, bool *needed)
{
    int32_t kept = 0;
    for (size_t i = 0; i < w->count; i++)
        new_index[i] = inner[i] ? -1 : kept++;
    for (size_t f = 0; f < w->hull.face_count; f++)
        for (int k = 0; k < 3; k++)
            w->hull.faces[f].vertex[k] = new_index[w->hull.faces[f].vertex[k]];
    compact(w, inner, needed);
}

static rbl_status rebuild(work *w, double tolerance)
{
    return rbli_exact_hull_build(
        w->ctx, w->scratch, (const double(*)[3])w->points, w->count, tolerance, &w->hull);
}

/// Leaves only vertices in `points`, each of them standing out from the hull of the others.
static rbl_status clean(work *w)
{
    rbl_status status = RBL_OK;
    size_t capacity = w->count;
    double(*mean)[3] = NULL, *prominence = NULL;
    bool *needed = NULL, *removed = NULL;
    int32_t *new_index = NULL;
    work trial = {.ctx = w->ctx, .scratch = w->scratch, .tolerance = w->tolerance};
    RBL_TRY_ALLOC(mean = take_memory(w, capacity, sizeof *mean));
    RBL_TRY_ALLOC(prominence = take_memory(w, capacity, sizeof *prominence));
    RBL_TRY_ALLOC(needed = take_memory(w, capacity, 1));
    RBL_TRY_ALLOC(removed = take_memory(w, capacity, 1));
    RBL_TRY_ALLOC(new_index = take_memory(w, capacity, sizeof *new_index));
    RBL_TRY_ALLOC(w->left_out = take_memory(w, capacity, sizeof *w->left_out));
    RBL_TRY_ALLOC(trial.points = take_memory(w, capacity, sizeof *trial.points));
    memset(needed, 0, capacity);
    for (;;) {
        bound_prominence(w, mean, prominence);
        bool inside = false;
        for (size_t i = 0; i < w->count; i++) {
            removed[i] = prominence[i] < 0;
            inside |= removed[i];
        }
        if (inside) {
            drop_inner(w, removed, new_index, needed);
            continue;
        }
        if (choose_removals(w, prominence, needed, removed) == 0) break;
        /* Try without them; whatever then stands out is needed. */
        size_t kept = 0;
        for (size_t i = 0; i < w->count; i++)
            if (!removed[i]) copy_point(trial.points[kept++], w->points[i]);
        trial.count = kept;
        RBL_TRY(rebuild(&trial, 0));
        bool agreed = true;
        for (size_t i = 0; i < w->count; i++) {
            if (!removed[i]) continue;
            if (trial.hull.rank < 3 || height_above(&trial, w->points[i]) > w->tolerance) {
                needed[i] = true;
                removed[i] = agreed = false;
            }
        }
        for (size_t i = 0; i < w->count; i++)
            if (removed[i]) memcpy(w->left_out[w->left_out_count++], w->space[i], sizeof *w->space);
        compact(w, removed, needed);
        if (agreed) { /* the trial was made of just these points */
            rbli_exact_hull swap = w->hull;
            w->hull = trial.hull;
            trial.hull = swap;
        } else {
            RBL_TRY(rebuild(w, 0));
        }
    }
done:
    return status;
}

/* ---- flat input ---- */

/// Directions across the span of the points: one for flat, two for collinear, three for a single point.
static int directions_across(const work *w, double across[3][3])
{
    const int32_t *s = w->hull.simplex;
    int rank = w->hull.rank;
    double u[3] = {1, 0, 0}, v[3];
    if (rank == 0) {
        memset(across, 0, 9 * sizeof(double));
        for (int k = 0; k < 3; k++)
            across[k][k] = 1;
        return 3;
    }
    for (int k = 0; k < 3; k++)
        u[k] = w->space[s[1]][k] - w->space[s[0]][k];
    normalize(u);
    if (rank == 2) {
        for (int k = 0; k < 3; k++)
            v[k] = w->space[s[2]][k] - w->space[s[0]][k];
        normalize(v);
        cross(u, v, across[0]);
        normalize(across[0]);
        return 1;
    }
    int least = fabs(u[0]) <= fabs(u[1]) && fabs(u[0]) <= fabs(u[2]) ? 0 : fabs(u[1]) <= fabs(u[2]) ? 1 : 2;
    double axis[3] = {least == 0, least == 1, least == 2};
    cross(u, axis, across[0]);
    normalize(across[0]);
    cross(u, across[0], across[1]);
    return 2;
}

/// Replaces the points by copies at ± half the thickness in each direction across.
static rbl_status thicken(work *w, double thickness)
{
    double across[3][3];
    int direction_count = directions_across(w, across);
    size_t copies = (size_t)1 << direction_count;
    double(*fat)[3] = take_memory(w, w->count, copies * sizeof *fat);
    if (!fat) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < w->count; i++)
        for (size_t c = 0; c < copies; c++) {
            double *to = fat[i * copies + c];
            memcpy(to, w->space[i], sizeof *fat);
            for (int d = 0; d < direction_count; d++)
                for (int k = 0; k < 3; k++)
                    to[k] += (c >> d & 1 ? thickness : -thickness) / 2 * across[d][k];
        }
    *w = (work){.ctx = w->ctx,
        .scratch = w->scratch,
        .tolerance = w->tolerance,
        .space = fat,
        .count = w->count * copies};
    return RBL_OK;
}

/* ---- the hull of points in space ---- */

/// Whether the points are thin although each axis has its own scale: a tilted plate or needle. Then gives
/// axes along it.
static bool is_thin(const work *w, double axes[3][3])
{
    const int32_t *s = w->hull.simplex;
    double u[3], v[3], n[3], base = 0, width = 0, height = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = w->space[s[1]][k] - w->space[s[0]][k];
        v[k] = w->space[s[2]][k] - w->space[s[0]][k];
    }
    base = fmax(fabs(u[0]), fmax(fabs(u[1]), fabs(u[2])));
    normalize(u);
    /* v across u, then n across both. */
    double along = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    for (int k = 0; k < 3; k++)
        v[k] -= along * u[k];
    width = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    normalize(v);
    cross(u, v, n);
    normalize(n);
    cross(n, u, v);
    for (int k = 0; k < 3; k++) {
        height += n[k] * (w->space[s[3]][k] - w->space[s[0]][k]);
        axes[0][k] = u[k];
        axes[1][k] = v[k];
        axes[2][k] = n[k];
    }
    /* Along axes of space the grid itself takes care of thinness. */
    bool n_straight = false, u_straight = false;
    for (int k = 0; k < 3; k++) {
        n_straight |= fabs(n[k]) > 1 - 1e-6;
        u_straight |= fabs(u[k]) > 1 - 1e-6;
    }
    return (fabs(height) < 0.01 * base && !n_straight) || (width < 0.01 * base && !u_straight);
}

/// Grows a hull about its middle until none of the points is outside: those that were left out, and those
/// that rounding of thin, tilted hulls left outside of a simple one. Differences of rounding alone change
/// nothing.
static void grow_over(work *w, const double (*points)[3], size_t count)
{
    double center[3] = {0, 0, 0}, factor = 1;
    for (size_t i = 0; i < w->count; i++)
        for (int k = 0; k < 3; k++)
            center[k] += (w->space[i][k] - w->g.base[k]) / (double)w->count;
    for (int k = 0; k < 3; k++)
        center[k] += w->g.base[k];
    for (size_t f = 0; f < w->hull.face_count && count > 0; f++) {
        const int32_t *v = w->hull.faces[f].vertex;
        double u[3], t[3], n[3], offset = 0, reach = 0;
        for (int k = 0; k < 3; k++) {
            u[k] = w->space[v[1]][k] - w->space[v[0]][k];
            t[k] = w->space[v[2]][k] - w->space[v[0]][k];
        }
        normalize(u);
        normalize(t);
        cross(u, t, n);
        for (int k = 0; k < 3; k++)
            offset += n[k] * (w->space[v[0]][k] - center[k]);
        for (size_t i = 0; i < count; i++) {
            double d = n[0] * (points[i][0] - center[0]) + n[1] * (points[i][1] - center[1]) +
                       n[2] * (points[i][2] - center[2]);
            reach = d > reach ? d : reach;
        }
        if (offset > 0 && reach > offset * factor) factor = reach / offset;
    }
    if (factor <= 1 + 1e-11) return;
    for (size_t i = 0; i < w->count; i++)
        for (int k = 0; k < 3; k++)
            w->space[i][k] = center[k] + (w->space[i][k] - center[k]) * factor;
}

/// From w->space to the exact, clean hull, or to one of rank below 3.
static rbl_status build(work *w, double *diagonal)
{
    rbl_status status = RBL_OK;
    RBL_TRY(sort_unique(w));
    choose_grid((const double(*)[3])w->space, w->count, NULL, &w->g, diagonal);
    if (!isfinite(*diagonal)) return RBL_ERR_ARGUMENT;
    RBL_TRY_ALLOC(w->points = take_memory(w, w->count, sizeof *w->points));
    for (size_t i = 0; i < w->count; i++)
        to_grid(&w->g, w->space[i], w->points[i]);
    RBL_TRY(rebuild(w, flat_tolerance));
    double axes[3][3];
    if (w->hull.rank == 3 && is_thin(w, axes)) {
        choose_grid((const double(*)[3])w->space, w->count, axes, &w->g, diagonal);
        for (size_t i = 0; i < w->count; i++)
            to_grid(&w->g, w->space[i], w->points[i]);
        RBL_TRY(rebuild(w, flat_tolerance));
    }
    if (w->hull.rank == 3) {
        RBL_TRY(clean(w));
        grow_over(w, (const double(*)[3])w->left_out, w->left_out_count);
    }
done:
    return status;
}

static double triangle_volume(const double a[3], const double b[3], const double c[3], const double o[3])
{
    double u[3], v[3], n[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    cross(u, v, n);
    return (n[0] * (a[0] - o[0]) + n[1] * (a[1] - o[1]) + n[2] * (a[2] - o[2])) / 6;
}

/// The hull from its faces; all points are vertices. Its arrays are the scratch's.
static rbl_status finish(const work *w, rbli_hull *out)
{
    int32_t(*triangles)[3] = take_memory(w, w->hull.face_count, sizeof *triangles);
    if (!triangles) return RBL_ERR_NO_MEMORY;
    out->volume = 0;
    for (size_t f = 0; f < w->hull.face_count; f++) {
        const int32_t *v = w->hull.faces[f].vertex;
        int first = v[0] < v[1] && v[0] < v[2] ? 0 : v[1] < v[2] ? 1 : 2;
        for (int k = 0; k < 3; k++)
            triangles[f][k] = v[(first + k) % 3];
        out->volume += triangle_volume(w->space[v[0]], w->space[v[1]], w->space[v[2]], w->space[0]);
    }
    out->points = w->space;
    out->point_count = w->count;
    out->triangles = triangles;
    out->triangle_count = w->hull.face_count;
    return RBL_OK;
}

/* ---- fewer vertices, from outside ---- */

typedef rbli_double2 pair;

/// Two facets of the exact hull, of the same kind as `outer.planes`. Of an odd number the last one is there twice.
typedef struct facet_pair {
    pair plane[4];
    pair in_space; /* how long a step across it is in space */
} facet_pair;

/// A vertex of the outer hull, and how far it is beyond the facets of the exact one.
typedef struct outer_vertex {
    double position[3], beyond; /* in the grid */
    double excess;              /* in space */
} outer_vertex;

enum { BOX_PLANES = 6 };

/// Half-spaces normal · x ≤ offset in grid coordinates, and the vertices of their intersection.
typedef struct outer {
    double (*planes)[4]; /* [plane_capacity] */
    size_t plane_count, plane_capacity;
    outer_vertex *vertices; /* [2 · plane_capacity] */
    size_t vertex_count;
    outer_vertex *before; /* the same, of all planes but the last, measured */
    size_t before_count;
    double center[3]; /* inside all of them */
} outer;

/// Room for a plane more and the vertices that it makes.
static rbl_status reserve_plane(const work *w, outer *o)
{
    enum { FIRST_CAPACITY = 64 };
    rbl_status status = RBL_OK;
    outer grown = *o;
    if (o->plane_count < o->plane_capacity) return RBL_OK;
    grown.plane_capacity = o->plane_capacity ? 2 * o->plane_capacity : FIRST_CAPACITY;
    RBL_TRY_ALLOC(grown.planes = take_memory(w, grown.plane_capacity, sizeof *grown.planes));
    RBL_TRY_ALLOC(grown.vertices = take_memory(w, 2 * grown.plane_capacity, sizeof *grown.vertices));
    RBL_TRY_ALLOC(grown.before = take_memory(w, 2 * grown.plane_capacity, sizeof *grown.before));
    if (o->plane_count) memcpy(grown.planes, o->planes, o->plane_count * sizeof *o->planes);
    if (o->before_count) memcpy(grown.before, o->before, o->before_count * sizeof *o->before);
    *o = grown;
done:
    return status;
}

static bool meet(const double *a, const double *b, const double *c, double out[3])
{
    double bc[3], ca[3], ab[3];
    cross(b, c, bc);
    cross(c, a, ca);
    cross(a, b, ab);
    double determinant = a[0] * bc[0] + a[1] * bc[1] + a[2] * bc[2];
    if (determinant == 0) return false;
    for (int k = 0; k < 3; k++)
        out[k] = (a[3] * bc[k] + b[3] * ca[k] + c[3] * ab[k]) / determinant;
    return isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]);
}

/// Rounding makes several of one point.
static bool is_known(const outer *o, const double x[3])
{
    const double same = 0x1p18;
    for (size_t i = 0; i < o->vertex_count; i++) {
        const double *y = o->vertices[i].position;
        double d = fabs(y[0] - x[0]);
        if (d < same && d + fabs(y[1] - x[1]) + fabs(y[2] - x[2]) < same) return true;
    }
    return false;
}

/// The vertices of an intersection of half-spaces are the facets of the hull of the dual points normal /
/// offset.
/// @return RBL_OK; `*good` false when rounding spoilt it
static rbl_status outer_vertices(const work *w, outer *o, bool *good)
{
    rbl_status status = RBL_OK;
    rbli_arena_mark mark = rbli_arena_get_mark(&w->scratch->results);
    double(*dual)[3] = NULL, diagonal;
    rbli_exact_hull hull;
    grid g;
    *good = false;
    RBL_TRY_ALLOC(dual = take_memory(w, o->plane_count, sizeof *dual));
    for (size_t i = 0; i < o->plane_count; i++) {
        const double *p = o->planes[i];
        double offset = p[3] - p[0] * o->center[0] - p[1] * o->center[1] - p[2] * o->center[2];
        if (offset <= 1) goto done; /* less than a step of the grid */
        for (int k = 0; k < 3; k++)
            dual[i][k] = p[k] / offset;
    }
    choose_grid((const double(*)[3])dual, o->plane_count, NULL, &g, &diagonal);
    for (size_t i = 0; i < o->plane_count; i++)
        to_grid(&g, dual[i], dual[i]);
    RBL_TRY(rbli_exact_hull_build(w->ctx, w->scratch, (const double(*)[3])dual, o->plane_count, 4, &hull));
    if (hull.rank < 3) goto done;
    o->vertex_count = 0;
    for (size_t f = 0; f < hull.face_count; f++) {
        /* The same three planes in the same order give the same bits again. */
        int32_t v[3], least = 0;
        for (int c = 1; c < 3; c++)
            if (hull.faces[f].vertex[c] < hull.faces[f].vertex[least]) least = c;
        for (int c = 0; c < 3; c++)
            v[c] = hull.faces[f].vertex[(least + c) % 3];
        double x[3];
        if (!meet(o->planes[v[0]], o->planes[v[1]], o->planes[v[2]], x)) goto done;
        if (!is_known(o, x)) copy_point(o->vertices[o->vertex_count++].position, x);
    }
    *good = true;
done:
    rbli_arena_rewind(&w->scratch->results, mark);
    return status;
}

static void facet_planes(const work *w, facet_pair *facets)
{
    size_t count = w->hull.face_count;
    double most = fmin(w->g.step[0], fmin(w->g.step[1], w->g.step[2]));
    for (size_t f = 0; f < count; f++) {
        facet_pair *to = &facets[f / 2];
        const double *n = w->hull.faces[f].normal;
        double offset = -HUGE_VAL, length = 0;
        for (int c = 0; c < 3; c++) {
            const double *x = w->points[w->hull.faces[f].vertex[c]];
            offset = fmax(offset, n[0] * x[0] + n[1] * x[1] + n[2] * x[2]);
        }
        for (int k = 0; k < 3; k++) {
            double part = n[k] * (most / w->g.step[k]);
            length += part * part;
            to->plane[k][f % 2] = n[k];
        }
        to->plane[3][f % 2] = offset;
        to->in_space[f % 2] = most / sqrt(length);
        if (f + 1 < count || f % 2) continue;
        for (int k = 0; k < 4; k++)
            to->plane[k][1] = to->plane[k][0];
        to->in_space[1] = to->in_space[0];
    }
}

static pair distances(const facet_pair *facets, const double x[3])
{
    const pair *p = facets->plane;
    return p[0] * x[0] + p[1] * x[1] + p[2] * x[2] - p[3];
}

static void measure_vertex(const facet_pair *facets, size_t facet_count, outer_vertex *v)
{
    pair beyond = {0}, excess = {0};
    for (size_t i = 0; i < (facet_count + 1) / 2; i++) {
        pair d = distances(&facets[i], v->position);
        beyond = rbli_max2(d, beyond);
        excess = rbli_max2(d * facets[i].in_space, excess);
    }
    v->beyond = beyond[0] > beyond[1] ? beyond[0] : beyond[1];
    v->excess = excess[0] > excess[1] ? excess[0] : excess[1];
}

/// Measures the vertices that were not there before and returns the farthest one.
static const outer_vertex *measure_vertices(outer *o, const facet_pair *facets, size_t facet_count)
{
    const outer_vertex *worst = &o->vertices[0];
    size_t old = 0; /* most are in the same order as before */
    for (size_t i = 0; i < o->vertex_count; i++) {
        outer_vertex *v = &o->vertices[i];
        size_t looks = 0;
        for (; looks < o->before_count; looks++, old++) {
            if (old >= o->before_count) old = 0;
            const double *y = o->before[old].position;
            if (y[0] == v->position[0] && memcmp(y, v->position, sizeof v->position) == 0) break;
        }
        if (looks < o->before_count)
            *v = o->before[old++];
        else
            measure_vertex(facets, facet_count, v);
        if (v->beyond > worst->beyond) worst = v;
    }
    return worst;
}

/// Adds the plane of the facet that a vertex is farthest beyond.
static rbl_status add_plane(const work *w, const outer_vertex *v, const facet_pair *facets, outer *o)
{
    size_t f = 0;
    while (f + 1 < w->hull.face_count && distances(&facets[f / 2], v->position)[f % 2] != v->beyond)
        f++;
    rbl_status status = reserve_plane(w, o);
    if (status != RBL_OK) return status;
    for (int k = 0; k < 4; k++)
        o->planes[o->plane_count][k] = facets[f / 2].plane[k][f % 2];
    o->plane_count++;
    return RBL_OK;
}

static void box_planes(const work *w, outer *o)
{
    for (int k = 0; k < 3; k++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t i = 0; i < w->count; i++) {
            low = w->points[i][k] < low ? w->points[i][k] : low;
            high = w->points[i][k] > high ? w->points[i][k] : high;
            o->center[k] += w->points[i][k] / (double)w->count;
        }
        memset(o->planes[2 * k], 0, 2 * sizeof *o->planes);
        o->planes[2 * k][k] = -1;
        o->planes[2 * k][3] = -low;
        o->planes[2 * k + 1][k] = 1;
        o->planes[2 * k + 1][3] = high;
    }
    o->plane_count = BOX_PLANES;
}

/// Replaces the hull by one of at most `max_vertices` vertices that holds it, standing off at least not more
/// than needed: stops early below `threshold`.
static rbl_status simplify(const work *w, const rbli_hull_options *options, work *simple, double *excess)
{
    rbl_status status = RBL_OK;
    size_t most = (size_t)options->max_vertices, facet_count = w->hull.face_count;
    /* More come again, and rounding keeps the same vertex beyond them. */
    size_t most_planes = facet_count + BOX_PLANES < most ? facet_count + BOX_PLANES : most;
    facet_pair *facets = NULL;
    outer o = {0};
    RBL_TRY_ALLOC(facets = take_memory(w, (facet_count + 1) / 2, sizeof *facets));
    RBL_TRY(reserve_plane(w, &o));
    facet_planes(w, facets);
    box_planes(w, &o);
    for (;;) {
        bool good;
        if (rbli_cancelled(w->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        RBL_TRY(outer_vertices(w, &o, &good));
        if (!good || o.vertex_count > most) break;
        const outer_vertex *worst = measure_vertices(&o, facets, facet_count);
        outer_vertex *free_vertices = o.before;
        o.before = o.vertices;
        o.before_count = o.vertex_count;
        o.vertices = free_vertices;
        *excess = 0;
        for (size_t i = 0; i < o.before_count; i++)
            *excess = fmax(*excess, o.before[i].excess);
        if (worst->beyond <= exact_tolerance || *excess <= options->simplification_threshold ||
            o.plane_count >= most_planes)
            break;
        RBL_TRY(add_plane(w, worst, facets, &o));
    }
    if (!o.before_count) {
        status = RBL_ERR_INTERNAL;
        goto done;
    }
    simple->count = o.before_count;
    RBL_TRY_ALLOC(simple->space = take_memory(w, simple->count, sizeof *simple->space));
    for (size_t i = 0; i < simple->count; i++)
        from_grid(&w->g, o.before[i].position, simple->space[i]);
done:
    return status;
}

static rbl_status check_input(rbl_context *ctx, const double (*points)[3], size_t count, int32_t max_vertices)
{
    if (count == 0) return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a hull needs at least one point");
    if (count > INT32_MAX) return rbli_fail(ctx, RBL_ERR_LIMIT, "a hull of %zu points is too large", count);
    if (max_vertices < 8)
        return rbli_fail(ctx, RBL_ERR_ARGUMENT, "a hull needs a budget of at least 8 vertices");
    for (size_t i = 0; i < count; i++)
        if (!isfinite(points[i][0]) || !isfinite(points[i][1]) || !isfinite(points[i][2]))
            return rbli_fail(ctx, RBL_ERR_ARGUMENT, "point %zu of a hull is not finite", i);
    return RBL_OK;
}

rbl_status rbli_convex_hull_in(rbl_context *ctx, rbli_hull_scratch *scratch, const double (*points)[3],
    size_t count, const rbli_hull_options *options, rbli_hull *out)
{
    rbl_status status = RBL_OK;
    work w = {.ctx = ctx, .scratch = scratch, .tolerance = exact_tolerance};
    work simple = {.ctx = ctx, .scratch = scratch, .tolerance = simple_tolerance};
    rbli_hull hull = {0};
    double diagonal;
    RBL_TRY(check_input(ctx, points, count, options->max_vertices));
    rbli_arena_clear(&scratch->results);
    RBL_TRY_ALLOC(w.space = take_memory(&w, count, sizeof *w.space));
    memcpy(w.space, points, count * sizeof *points);
    w.count = count;
    RBL_TRY(build(&w, &diagonal));
    if (w.hull.rank < 3) {
        if (options->on_degenerate == RBLI_DEGENERATE_ERROR) {
            status = rbli_fail(ctx, RBL_ERR_MESH, "the points are %s: they have no hull with volume",
                w.hull.rank == 2   ? "flat"
                : w.hull.rank == 1 ? "collinear"
                                   : "all the same");
            goto done;
        }
        double largest = fabs(w.space[0][0]) + fabs(w.space[0][1]) + fabs(w.space[0][2]);
        double thickness = options->thickness > 0 ? options->thickness : diagonal * 1e-3;
        if (thickness < 1e-9 * largest) thickness = 1e-9 * largest;
        RBL_TRY(thicken(&w, thickness > 0 ? thickness : 1e-3));
        RBL_TRY(build(&w, &diagonal));
        hull.thickened = true;
        if (w.hull.rank < 3) {
            status = rbli_fail(ctx, RBL_ERR_MESH, "the points are flat and cannot be thickened");
            goto done;
        }
    }
    if (w.count > (size_t)options->max_vertices || options->simplification_threshold > 0) {
        RBL_TRY(simplify(&w, options, &simple, &hull.excess));
        RBL_TRY(build(&simple, &diagonal));
        if (simple.hull.rank < 3 || (w.count <= simple.count && w.count <= (size_t)options->max_vertices)) {
            hull.excess = 0;
            RBL_TRY(finish(&w, &hull));
        } else {
            grow_over(&simple, (const double(*)[3])w.space, w.count);
            RBL_TRY(finish(&simple, &hull));
        }
    } else {
        RBL_TRY(finish(&w, &hull));
    }
    *out = hull;
done:
    return status;
}

rbl_status rbli_convex_hull(rbl_context *ctx, const double (*points)[3], size_t count,
    const rbli_hull_options *options, rbli_hull *out)
{
    rbl_status status = RBL_OK;
    rbli_hull_scratch scratch;
    rbli_hull hull, own = {0};
    rbli_hull_scratch_init(&scratch, ctx);
    RBL_TRY(rbli_convex_hull_in(ctx, &scratch, points, count, options, &hull));
    own = hull;
    own.points = rbli_alloc(ctx, hull.point_count, sizeof *own.points);
    own.triangles = rbli_alloc(ctx, hull.triangle_count, sizeof *own.triangles);
    if (!own.points || !own.triangles) {
        rbli_hull_free(ctx, &own);
        RBL_TRY(RBL_ERR_NO_MEMORY);
    }
    memcpy(own.points, hull.points, hull.point_count * sizeof *own.points);
    memcpy(own.triangles, hull.triangles, hull.triangle_count * sizeof *own.triangles);
    *out = own;
done:
    rbli_hull_scratch_free(&scratch);
    return status;
}

rbl_status rbli_convex_hull_volume(rbl_context *ctx, const double (*points)[3], size_t count, double *volume)
{
    rbl_status status = RBL_OK;
    rbli_hull_scratch scratch;
    work w = {.ctx = ctx, .scratch = &scratch};
    double diagonal, sum = 0;
    rbli_hull_scratch_init(&scratch, ctx);
    RBL_TRY(check_input(ctx, points, count, INT32_MAX));
    choose_grid(points, count, NULL, &w.g, &diagonal);
    if (!isfinite(diagonal)) RBL_TRY(RBL_ERR_ARGUMENT);
    w.count = count;
    RBL_TRY_ALLOC(w.points = take_memory(&w, count, sizeof *w.points));
    for (size_t i = 0; i < count; i++)
        to_grid(&w.g, points[i], w.points[i]);
    RBL_TRY(rebuild(&w, flat_tolerance));
    for (size_t f = 0; w.hull.rank == 3 && f < w.hull.face_count; f++) {
        const int32_t *v = w.hull.faces[f].vertex;
        sum += triangle_volume(points[v[0]], points[v[1]], points[v[2]], points[0]);
    }
    *volume = sum;
done:
    rbli_hull_scratch_free(&scratch);
    return status;
}
