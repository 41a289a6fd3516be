/// Thickens sheets: corners that hang together over paired edges share one moved vertex on each side.

#include "fracture/geometry/thicken.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"

/// A mitre is at most one over this as long as half the thickness.
static const double LEAST_COSINE = 0.25;

/// A side of a triangle of the sheet by its ends, the lower first.
typedef struct side {
    int32_t low, high, half; /* half-edge: 3 × triangle + corner */
} side;

typedef struct thickening {
    rbl_context *ctx;
    rbli_repair_result *r;
    double thickness;
    int32_t *triangles; /* [count] of the result, those of the sheet that count */
    size_t count;
    side *sides;       /* [3 × count] */
    bool *border;      /* [3 × count] by half-edge */
    int32_t *fan;      /* [3 × count] least corner of the fan of each corner */
    double (*move)[3]; /* [3 × count] for fans */
    int32_t *vertex;   /* [3 × count] for fans: the front vertex; the back one follows */
} thickening;

static int compare_sides(const void *left, const void *right)
{
    const side *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->half < b->half ? -1 : a->half > b->half;
}

static int32_t corner_vertex(const thickening *w, int32_t half)
{
    return w->r->triangles[w->triangles[half / 3]][half % 3];
}

static int32_t next_half(int32_t half)
{
    return half % 3 == 2 ? half - 2 : half + 1;
}

static int32_t find_fan(int32_t *fan, int32_t i)
{
    while (fan[i] != i)
        i = fan[i] = fan[fan[i]];
    return i;
}

static void join_fans(int32_t *fan, int32_t a, int32_t b)
{
    a = find_fan(fan, a);
    b = find_fan(fan, b);
    fan[a > b ? a : b] = a > b ? b : a;
}

static bool same_corners(const int32_t a[3], const int32_t b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[0] && a[i] != b[1] && a[i] != b[2]) return false;
    return true;
}

/// The triangles of a shell; of two that lie back to back the first. Quadratic only in triangles at one edge.
static void choose_triangles(thickening *w, const rbli_shell *shell)
{
    w->count = 0;
    for (int32_t t = shell->triangle_start; t < shell->triangle_start + shell->triangle_count; t++) {
        bool twin = false;
        for (size_t i = 0; shell->two_sided && i < w->count && !twin; i++)
            twin = same_corners(w->r->triangles[t], w->r->triangles[w->triangles[i]]);
        if (!twin) w->triangles[w->count++] = t;
    }
}

/// Finds borders and fans: an edge joins two triangles where exactly two meet in it, in opposite directions.
static void find_fans(thickening *w)
{
    size_t halves = 3 * w->count;
    for (size_t h = 0; h < halves; h++) {
        int32_t a = corner_vertex(w, (int32_t)h), b = corner_vertex(w, next_half((int32_t)h));
        w->sides[h] = (side){a < b ? a : b, a < b ? b : a, (int32_t)h};
        w->fan[h] = (int32_t)h;
        w->border[h] = true;
    }
    qsort(w->sides, halves, sizeof *w->sides, compare_sides);
    for (size_t i = 0, end; i < halves; i = end) {
        for (end = i;
             end < halves && w->sides[end].low == w->sides[i].low && w->sides[end].high == w->sides[i].high;)
            end++;
        int32_t a = w->sides[i].half, b = w->sides[end - 1].half;
        if (end - i != 2 || corner_vertex(w, a) == corner_vertex(w, b)) continue;
        w->border[a] = w->border[b] = false;
        join_fans(w->fan, a, next_half(b));
        join_fans(w->fan, next_half(a), b);
    }
    for (size_t h = 0; h < halves; h++)
        w->fan[h] = find_fan(w->fan, (int32_t)h);
}

/// The unit normal of a triangle; zero for one without area.
static void triangle_normal(const thickening *w, size_t t, double n[3])
{
    const int32_t *v = w->r->triangles[w->triangles[t]];
    const double *a = w->r->positions[v[0]], *b = w->r->positions[v[1]], *c = w->r->positions[v[2]];
    double p[3], q[3];
    for (int k = 0; k < 3; k++) {
        p[k] = b[k] - a[k];
        q[k] = c[k] - a[k];
    }
    for (int k = 0; k < 3; k++)
        n[k] = p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3];
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++)
        n[k] = length > 0 ? n[k] / length : 0;
}

/// Where fans move: along the mean of their normals, so far that every face moves half the thickness.
static rbl_status find_moves(thickening *w)
{
    rbl_status status = RBL_OK;
    size_t halves = 3 * w->count;
    double *least = NULL;
    RBL_TRY_ALLOC(least = rbli_alloc(w->ctx, halves, sizeof *least));
    memset(w->move, 0, halves * sizeof *w->move);
    for (size_t h = 0; h < halves; h++) {
        double n[3];
        triangle_normal(w, h / 3, n);
        for (int k = 0; k < 3; k++)
            w->move[w->fan[h]][k] += n[k];
        least[h] = 1;
    }
    for (size_t h = 0; h < halves; h++) {
        if (w->fan[h] != (int32_t)h) continue;
        double *m = w->move[h], length = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
        for (int k = 0; k < 3; k++)
            m[k] = length > 0 ? m[k] / length : 0;
    }
    for (size_t h = 0; h < halves; h++) {
        double n[3];
        const double *m = w->move[w->fan[h]];
        triangle_normal(w, h / 3, n);
        if (n[0] != 0 || n[1] != 0 || n[2] != 0)
            least[w->fan[h]] = fmin(least[w->fan[h]], n[0] * m[0] + n[1] * m[1] + n[2] * m[2]);
    }
    for (size_t h = 0; h < halves; h++)
        for (int k = 0; k < 3 && w->fan[h] == (int32_t)h; k++)
            w->move[h][k] *= 0.5 * w->thickness / fmax(least[h], LEAST_COSINE);
done:
    rbli_free(w->ctx, least);
    return status;
}

/// Makes an array of the result longer.
#define GROW(array, count)                                                                                   \
    do {                                                                                                     \
        void *moved_ = rbli_realloc(ctx, array, count, sizeof *(array));                                     \
        if (!moved_) return RBL_ERR_NO_MEMORY;                                                               \
        array = moved_;                                                                                      \
    } while (0)

static rbl_status make_room(thickening *w, size_t fans, size_t triangles)
{
    rbli_repair_result *r = w->r;
    rbl_context *ctx = w->ctx;
    triangles += r->triangle_count;
    if (triangles > INT32_MAX / 4 || r->vertex_count + 2 * fans > INT32_MAX / 4)
        return rbli_fail(ctx, RBL_ERR_LIMIT, "the thickened sheets have too many triangles (%zu)", triangles);
    GROW(r->positions, r->vertex_count + 2 * fans);
    GROW(r->triangles, triangles);
    GROW(r->triangle_node, triangles);
    GROW(r->origins.source, triangles);
    GROW(r->origins.weights_index, triangles);
    GROW(r->origins.weights, r->origins.weights_count + triangles);
    return RBL_OK;
}

/// Appends a triangle whose corners have the attributes of corners `from` of a triangle of the sheet.
static void put(thickening *w, size_t sheet_triangle, const int32_t v[3], const int from[3])
{
    rbli_repair_result *r = w->r;
    size_t t = r->triangle_count++, row = r->origins.weights_count++;
    int32_t old = w->triangles[sheet_triangle], old_row = r->origins.weights_index[old];
    memcpy(r->triangles[t], v, sizeof r->triangles[t]);
    r->triangle_node[t] = r->triangle_node[old];
    r->origins.source[t] = r->origins.source[old];
    r->origins.weights_index[t] = (int32_t)row;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            r->origins.weights[row][i][k] =
                old_row < 0 ? from[i] == k : r->origins.weights[old_row][from[i]][k];
}

/// Front, back and walls of one sheet.
static rbl_status build(thickening *w)
{
    rbl_status status = RBL_OK;
    rbli_repair_result *r = w->r;
    size_t halves = 3 * w->count, fans = 0, walls = 0;
    for (size_t h = 0; h < halves; h++) {
        fans += w->fan[h] == (int32_t)h;
        walls += w->border[h];
    }
    RBL_TRY(make_room(w, fans, 2 * w->count + 2 * walls));
    for (size_t h = 0; h < halves; h++) {
        if (w->fan[h] != (int32_t)h) continue;
        const double *p = r->positions[corner_vertex(w, (int32_t)h)];
        w->vertex[h] = (int32_t)r->vertex_count;
        for (int k = 0; k < 3; k++) {
            r->positions[r->vertex_count][k] = p[k] + w->move[h][k];
            r->positions[r->vertex_count + 1][k] = p[k] - w->move[h][k];
        }
        r->vertex_count += 2;
    }
    for (size_t t = 0; t < w->count; t++) {
        int32_t front[3];
        for (size_t k = 0; k < 3; k++)
            front[k] = w->vertex[w->fan[3 * t + k]];
        put(w, t, front, (int[3]){0, 1, 2});
        put(w, t, (int32_t[3]){front[0] + 1, front[2] + 1, front[1] + 1}, (int[3]){0, 2, 1});
        for (int k = 0; k < 3; k++) {
            int n = (k + 1) % 3;
            if (!w->border[3 * t + (size_t)k]) continue;
            put(w, t, (int32_t[3]){front[n], front[k], front[k] + 1}, (int[3]){n, k, k});
            put(w, t, (int32_t[3]){front[n], front[k] + 1, front[n] + 1}, (int[3]){n, k, n});
        }
    }
done:
    return status;
}

/// Volume and area of the triangles from `start` on.
static void measure(const rbli_repair_result *r, size_t start, double *volume, double *area)
{
    const double *o = r->positions[r->triangles[start][0]];
    *volume = *area = 0;
    for (size_t t = start; t < r->triangle_count; t++) {
        double u[3], v[3], w[3];
        for (int k = 0; k < 3; k++) {
            w[k] = r->positions[r->triangles[t][0]][k] - o[k];
            u[k] = r->positions[r->triangles[t][1]][k] - o[k] - w[k];
            v[k] = r->positions[r->triangles[t][2]][k] - o[k] - w[k];
        }
        double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
        *volume += (n[0] * w[0] + n[1] * w[1] + n[2] * w[2]) / 6;
        *area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
}

static rbl_status thicken_shell(thickening *w, rbli_shell *shell)
{
    rbl_status status = RBL_OK;
    size_t start = w->r->triangle_count;
    choose_triangles(w, shell);
    find_fans(w);
    RBL_TRY(find_moves(w));
    RBL_TRY(build(w));
    shell->kind = RBLI_SHELL_SOLID;
    shell->triangle_start = (int32_t)start;
    shell->triangle_count = (int32_t)(w->r->triangle_count - start);
    shell->parent = -1;
    shell->two_sided = false;
    shell->why = NULL;
    measure(w->r, start, &shell->volume, &shell->area);
    if (!(shell->volume > 0)) {
        shell->kind = RBLI_SHELL_DROPPED;
        shell->why = "it encloses no volume";
    }
done:
    return status;
}

rbl_status rbli_thicken_sheets(rbl_context *ctx, rbli_repair_result *r, double thickness)
{
    rbl_status status = RBL_OK;
    thickening w = {.ctx = ctx, .r = r, .thickness = thickness};
    size_t most = 0;
    for (size_t s = 0; s < r->shell_count; s++)
        if ((size_t)r->shells[s].triangle_count > most) most = (size_t)r->shells[s].triangle_count;
    RBL_TRY_ALLOC(w.triangles = rbli_alloc(ctx, most, sizeof *w.triangles));
    RBL_TRY_ALLOC(w.sides = rbli_alloc(ctx, 3 * most, sizeof *w.sides));
    RBL_TRY_ALLOC(w.border = rbli_alloc(ctx, 3 * most, sizeof *w.border));
    RBL_TRY_ALLOC(w.fan = rbli_alloc(ctx, 3 * most, sizeof *w.fan));
    RBL_TRY_ALLOC(w.move = rbli_alloc(ctx, 3 * most, sizeof *w.move));
    RBL_TRY_ALLOC(w.vertex = rbli_alloc(ctx, 3 * most, sizeof *w.vertex));
    for (size_t s = 0; s < r->shell_count; s++) {
        rbli_shell *shell = &r->shells[s];
        if (shell->kind == RBLI_SHELL_SHEET || (shell->kind == RBLI_SHELL_DROPPED && shell->two_sided))
            RBL_TRY(thicken_shell(&w, shell));
    }
done:
    rbli_free(ctx, w.triangles);
    rbli_free(ctx, w.sides);
    rbli_free(ctx, w.border);
    rbli_free(ctx, w.fan);
    rbli_free(ctx, w.move);
    rbli_free(ctx, w.vertex);
    return status;
}
