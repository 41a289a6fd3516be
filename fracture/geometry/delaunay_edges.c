/// Neighbours from the Delaunay triangulation: the centres of the spheres around an edge are the corners of the
/// facet that both cells share.

#include "fracture/geometry/delaunay_edges.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/contact.h"
#include "fracture/geometry/delaunay.h"
#include "fracture/geometry/radix_sort.h"

enum { POLL = 1024 };

static const double ghost_distance = 0x1p51, grid_steps = 16, narrow = 1e-6;

typedef struct neighbours {
    rbl_context *ctx;
    double (*grid)[3]; /* [count] whole numbers */
    int32_t *ids;      /* [count] equal points have one */
    int32_t *first;    /* [unique] the first point of each */
    double (*sites)[3];
    size_t count, unique;
    rbli_delaunay *delaunay;
    double (*centers)[3];          /* of the spheres around tetrahedra */
    RBLI_ARRAY(rbli_keyed) around; /* an edge's sites, and a tetrahedron that has it */
    RBLI_ARRAY(rbli_keyed) edges;  /* a << 32 | b */
} neighbours;

static void neighbours_free(neighbours *n)
{
    rbli_free(n->ctx, n->grid);
    rbli_free(n->ctx, n->ids);
    rbli_free(n->ctx, n->first);
    rbli_free(n->ctx, n->sites);
    rbli_delaunay_destroy(n->ctx, n->delaunay);
    rbli_free(n->ctx, n->centers);
    rbli_free(n->ctx, n->around.data);
    rbli_free(n->ctx, n->edges.data);
}

/// Rounds to the grid. Its steps are powers of two: what needs no rounding gets none.
static rbl_status round_points(neighbours *n, const double (*points)[3])
{
    double low[3], high[3], extent = 0;
    for (size_t i = 0; i < n->count; i++)
        for (int k = 0; k < 3; k++) {
            if (!isfinite(points[i][k]))
                return rbli_fail(n->ctx, RBL_ERR_ARGUMENT, "point %zu is not finite", i);
            low[k] = i == 0 || points[i][k] < low[k] ? points[i][k] : low[k];
            high[k] = i == 0 || points[i][k] > high[k] ? points[i][k] : high[k];
        }
    for (int k = 0; k < 3; k++)
        extent = fmax(extent, high[k] - low[k]);
    if (!isfinite(extent)) return rbli_fail(n->ctx, RBL_ERR_ARGUMENT, "the extent of the points overflows");
    int exponent = 0;
    frexp(extent, &exponent);
    int shift = extent > 0 ? 34 - exponent : 0;
    for (size_t i = 0; i < n->count; i++)
        for (int k = 0; k < 3; k++) {
            double middle = low[k] + (high[k] - low[k]) / 2;
            n->grid[i][k] = rint(ldexp(points[i][k] - middle, shift)) + 0.0;
        }
    return RBL_OK;
}

/// Sites are points without repetition; the others are joined to them.
static rbl_status find_sites(neighbours *n)
{
    rbl_status status = RBL_OK;
    RBL_TRY_ALLOC(n->ids = rbli_alloc(n->ctx, n->count, sizeof *n->ids));
    RBL_TRY(rbli_position_ids(n->ctx, (const double(*)[3])n->grid, n->count, n->ids, &n->unique));
    RBL_TRY_ALLOC(n->first = rbli_alloc(n->ctx, n->unique, sizeof *n->first));
    RBL_TRY_ALLOC(n->sites = rbli_alloc(n->ctx, n->unique, sizeof *n->sites));
    size_t known = 0;
    for (size_t i = 0; i < n->count; i++) {
        if ((size_t)n->ids[i] == known) { /* numbers are in order of appearance */
            n->first[known] = (int32_t)i;
            memcpy(n->sites[known++], n->grid[i], sizeof *n->sites);
            continue;
        }
        rbli_keyed edge = {(uint64_t)n->first[n->ids[i]] << 32 | i, 0};
        RBL_TRY(rbli_array_push(n->ctx, &n->edges, edge));
    }
done:
    return status;
}

static rbl_status triangulate(neighbours *n)
{
    rbl_status status = RBL_OK;
    const double(*sites)[3] = (const double(*)[3])n->sites;
    int32_t *rank = NULL, *curve = NULL, *order = NULL;
    RBL_TRY_ALLOC(rank = rbli_alloc(n->ctx, n->unique, sizeof *rank));
    RBL_TRY_ALLOC(order = rbli_alloc(n->ctx, n->unique, sizeof *order));
    RBL_TRY_ALLOC(curve = rbli_alloc(n->ctx, n->unique, sizeof *curve));
    RBL_TRY(rbli_delaunay_order(n->ctx, sites, n->unique, ghost_distance, curve, order, NULL));
    for (size_t i = 0; i < n->unique; i++)
        rank[i] = (int32_t)i;
    RBL_TRY(rbli_delaunay_create(n->ctx, sites, n->unique, rank, ghost_distance, curve, order, &n->delaunay));
    RBL_TRY_ALLOC(n->centers = rbli_alloc(n->ctx, n->delaunay->tetrahedron_count, sizeof *n->centers));
    for (size_t t = 0; t < n->delaunay->tetrahedron_count; t++) {
        const int32_t *v = n->delaunay->tetrahedra[t].v;
        const double *p[4];
        if (t % POLL == 0 && rbli_cancelled(n->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        for (int k = 0; k < 4; k++)
            p[k] = (size_t)v[k] < n->unique ? n->sites[v[k]] : n->delaunay->ghosts[(size_t)v[k] - n->unique];
        rbli_circumcenter(p[0], p[1], p[2], p[3], n->centers[t]);
        for (int i = 0; i < 4; i++)
            for (int j = i + 1; j < 4; j++) {
                uint32_t a = (uint32_t)(v[i] < v[j] ? v[i] : v[j]), b = (uint32_t)(v[i] < v[j] ? v[j] : v[i]);
                rbli_keyed entry = {(uint64_t)a << 32 | b, (int32_t)t};
                if (b < n->unique) RBL_TRY(rbli_array_push(n->ctx, &n->around, entry));
            }
    }
done:
    rbli_free(n->ctx, rank);
    rbli_free(n->ctx, order);
    rbli_free(n->ctx, curve);
    return status;
}

static double distance(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/// The corners of a facet in its plane: the one nearest to the sites is the origin, x points to the one farthest
/// from it.
static void flatten_facet(const neighbours *n, const rbli_keyed *around, size_t count, const double a[3],
    const double b[3], double (*out)[2])
{
    const double middle[3] = {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
    const double *near = n->centers[around[0].index];
    double apart = distance(a, b), least = distance(near, middle), length = 0, x[3] = {0}, y[3];
    for (size_t i = 1; i < count; i++) {
        double d = distance(n->centers[around[i].index], middle);
        if (d >= least) continue;
        least = d;
        near = n->centers[around[i].index];
    }
    for (size_t i = 0; i < count; i++) {
        const double *c = n->centers[around[i].index];
        double d = distance(c, near);
        if (d <= length) continue;
        length = d;
        for (int k = 0; k < 3; k++)
            x[k] = (c[k] - near[k]) / d;
    }
    for (int k = 0; k < 3; k++)
        y[k] = ((b[(k + 1) % 3] - a[(k + 1) % 3]) * x[(k + 2) % 3] -
                   (b[(k + 2) % 3] - a[(k + 2) % 3]) * x[(k + 1) % 3]) /
               apart;
    for (size_t i = 0; i < count; i++) {
        const double *c = n->centers[around[i].index];
        out[i][0] = out[i][1] = 0;
        for (int k = 0; k < 3; k++) {
            out[i][0] += (c[k] - near[k]) * x[k];
            out[i][1] += (c[k] - near[k]) * y[k];
        }
    }
}

/// The extent along y at `x` of the hull of corners.
static double section(const double (*corners)[2], size_t count, double x)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            const double *p = corners[i], *q = corners[j];
            if (p[0] > x || q[0] < x) continue;
            double y = q[0] > p[0] ? p[1] + (x - p[0]) / (q[0] - p[0]) * (q[1] - p[1]) : p[1];
            low = fmin(low, y);
            high = fmax(high, y);
        }
    return high - low;
}

static bool wide_at(const double (*corners)[2], size_t count, double x, double apart)
{
    double width = section(corners, count, x);
    return width > grid_steps && width > narrow * (apart + fabs(x));
}

/// Whether the facet between two sites has a width somewhere: one that is a line opens, by rounding, at a small
/// angle, and far away that is a long way. Widths are concave: steps by fours find the widest but for such a
/// factor.
static bool is_wide(const double (*corners)[2], size_t count, double apart)
{
    double length = 0;
    for (size_t i = 0; i < count; i++)
        length = fmax(length, corners[i][0]);
    if (length == 0) return false;
    if (wide_at(corners, count, length / 2, apart) || wide_at(corners, count, 0, apart)) return true;
    for (double x = apart / 64; x < length; x *= 4)
        if (wide_at(corners, count, x, apart) || wide_at(corners, count, -x, apart)) return true;
    return false;
}

static rbl_status find_edges(neighbours *n)
{
    rbl_status status = RBL_OK;
    size_t count = n->around.count;
    struct {
        double (*data)[2];
        size_t count, capacity;
    } corners = {0};
    rbli_keyed *scratch = rbli_alloc(n->ctx, count, sizeof *scratch);
    RBL_TRY_ALLOC(scratch);
    if (count) RBL_TRY(rbli_radix_sort_polled(n->ctx, n->around.data, scratch, count));
    for (size_t i = 0, end; i < count; i = end) {
        const rbli_keyed *around = &n->around.data[i];
        for (end = i + 1; end < count && n->around.data[end].key == around->key; end++) {
        }
        if (i / POLL != end / POLL && rbli_cancelled(n->ctx)) RBL_TRY(RBL_ERR_CANCELLED);
        size_t a = (size_t)(around->key >> 32), b = (uint32_t)around->key;
        RBL_TRY(rbli_array_reserve(n->ctx, &corners, end - i));
        flatten_facet(n, around, end - i, n->sites[a], n->sites[b], corners.data);
        if (!is_wide((const double(*)[2])corners.data, end - i, distance(n->sites[a], n->sites[b]))) continue;
        /* Sites are numbered in the order of their first points. */
        rbli_keyed edge = {(uint64_t)n->first[a] << 32 | (uint32_t)n->first[b], 0};
        RBL_TRY(rbli_array_push(n->ctx, &n->edges, edge));
    }
done:
    rbli_free(n->ctx, scratch);
    rbli_free(n->ctx, corners.data);
    return status;
}

static rbl_status sort_edges(neighbours *n)
{
    rbli_keyed *scratch = rbli_alloc(n->ctx, n->edges.count, sizeof *scratch);
    if (!scratch) return RBL_ERR_NO_MEMORY;
    rbl_status status =
        n->edges.count ? rbli_radix_sort_polled(n->ctx, n->edges.data, scratch, n->edges.count) : RBL_OK;
    rbli_free(n->ctx, scratch);
    return status;
}

rbl_status rbli_delaunay_edges(
    rbl_context *ctx, const double (*points)[3], size_t count, int32_t (**out)[2], size_t *out_count)
{
    rbl_status status = RBL_OK;
    neighbours n = {.ctx = ctx, .count = count};
    int32_t(*pairs)[2] = NULL;
    if (count > 30000000) return rbli_fail(ctx, RBL_ERR_LIMIT, "more than 30,000,000 points");
    RBL_TRY_ALLOC(n.grid = rbli_alloc(ctx, count, sizeof *n.grid));
    RBL_TRY(round_points(&n, points));
    RBL_TRY(find_sites(&n));
    if (n.unique > 1) {
        RBL_TRY(triangulate(&n));
        RBL_TRY(find_edges(&n));
    }
    RBL_TRY(sort_edges(&n));
    RBL_TRY_ALLOC(pairs = rbli_alloc(ctx, n.edges.count, sizeof *pairs));
    for (size_t i = 0; i < n.edges.count; i++) {
        pairs[i][0] = (int32_t)(n.edges.data[i].key >> 32);
        pairs[i][1] = (int32_t)(uint32_t)n.edges.data[i].key;
    }
    *out = pairs;
    *out_count = n.edges.count;
done:
    neighbours_free(&n);
    return status;
}
