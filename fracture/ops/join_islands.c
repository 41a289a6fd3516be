/// Joining the islands of a cell by distance: trees of boxes, then union-find.

#include "fracture/ops/join_islands.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/ops/regroup.h"

/// The pieces first … end − 1 are those of one cell.
typedef struct islands {
    rbl_context *ctx;
    const rbli_cut_result *r;
    int32_t first, end;
    int32_t *root;      /* by piece: union-find */
    int32_t *owner;     /* by item of the tree: its piece */
    int32_t first_item; /* vertex or triangle number of item 0 */
    bool surfaces;      /* items are triangles, not vertices */
    double distance;
    const double *point; /* asked about */
    int32_t piece;       /* its piece */
} islands;

static int32_t find_root(int32_t *root, int32_t p)
{
    while (root[p] != p) {
        root[p] = root[root[p]];
        p = root[p];
    }
    return p;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Squared distance of the origin to the segment between two points.
static double segment_square(const double a[3], const double b[3])
{
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, length = dot(d, d);
    double t = length > 0 ? fmax(0, fmin(1, -dot(a, d) / length)) : 0;
    double p[3] = {a[0] + t * d[0], a[1] + t * d[1], a[2] + t * d[2]};
    return dot(p, p);
}

/// Squared distance of a point to a triangle: in its middle by the plane, else by the nearest side.
static double triangle_square(const double p[3], const double *const corners[3])
{
    double q[3][3], n[3], least = INFINITY;
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 3; k++)
            q[c][k] = corners[c][k] - p[k];
    for (int c = 0; c < 3; c++)
        least = fmin(least, segment_square(q[c], q[(c + 1) % 3]));
    double u[3] = {q[1][0] - q[0][0], q[1][1] - q[0][1], q[1][2] - q[0][2]};
    double v[3] = {q[2][0] - q[0][0], q[2][1] - q[0][1], q[2][2] - q[0][2]};
    for (int k = 0; k < 3; k++)
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    double square = dot(n, n);
    if (!(square > 0)) return least;
    for (int c = 0; c < 3; c++) { /* does the foot lie left of each side? */
        const double *a = q[c], *b = q[(c + 1) % 3];
        double side[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, to[3] = {-a[0], -a[1], -a[2]}, cross[3];
        for (int k = 0; k < 3; k++)
            cross[k] = side[(k + 1) % 3] * to[(k + 2) % 3] - side[(k + 2) % 3] * to[(k + 1) % 3];
        if (dot(cross, n) < 0) return least;
    }
    double height = dot(q[0], n);
    return fmin(least, height * height / square);
}

static bool visit(void *user, int32_t item)
{
    islands *s = user;
    int32_t other = s->owner[item];
    if (find_root(s->root, other) == find_root(s->root, s->piece)) return true;
    double square;
    if (s->surfaces) {
        const int32_t *v = s->r->triangles[s->first_item + item];
        const double *const corners[3] = {
            s->r->positions[v[0]], s->r->positions[v[1]], s->r->positions[v[2]]};
        square = triangle_square(s->point, corners);
    } else {
        const double *q = s->r->positions[s->first_item + item];
        double d[3] = {q[0] - s->point[0], q[1] - s->point[1], q[2] - s->point[2]};
        square = dot(d, d);
    }
    if (square > s->distance * s->distance) return true;
    int32_t a = find_root(s->root, other), b = find_root(s->root, s->piece);
    s->root[a < b ? b : a] = a < b ? a : b;
    return true;
}

/// Joins the pieces of one cell whose vertices are near others' vertices or surfaces.
static rbl_status join_cell(islands *s)
{
    rbl_status status = RBL_OK;
    const rbli_cut_result *r = s->r;
    const int32_t *start = s->surfaces ? r->triangle_start : r->vertex_start;
    size_t count = (size_t)(start[s->end] - start[s->first]);
    double(*boxes)[2][3] = rbli_alloc(s->ctx, count, sizeof *boxes);
    rbli_box_tree *tree = NULL;
    RBL_TRY_ALLOC(boxes);
    RBL_TRY_ALLOC(s->owner = rbli_alloc(s->ctx, count, sizeof *s->owner));
    s->first_item = start[s->first];
    for (int32_t p = s->first; p < s->end; p++)
        for (int32_t i = start[p]; i < start[p + 1]; i++) {
            int32_t item = i - s->first_item, corners = s->surfaces ? 3 : 1;
            s->owner[item] = p;
            for (int k = 0; k < 3; k++) {
                boxes[item][0][k] = INFINITY;
                boxes[item][1][k] = -INFINITY;
                for (int32_t c = 0; c < corners; c++) {
                    double x = r->positions[s->surfaces ? r->triangles[i][c] : i][k];
                    boxes[item][0][k] = fmin(boxes[item][0][k], x);
                    boxes[item][1][k] = fmax(boxes[item][1][k], x);
                }
            }
        }
    RBL_TRY(rbli_box_tree_create(s->ctx, (const double(*)[2][3])boxes, count, &tree));
    for (int32_t p = s->first; p < s->end; p++)
        for (int32_t v = r->vertex_start[p]; v < r->vertex_start[p + 1]; v++) {
            double low[3], high[3];
            s->point = r->positions[v];
            s->piece = p;
            for (int k = 0; k < 3; k++) {
                low[k] = s->point[k] - s->distance;
                high[k] = s->point[k] + s->distance;
            }
            rbli_box_tree_query(tree, low, high, visit, s);
        }
done:
    rbli_box_tree_destroy(s->ctx, tree);
    rbli_free(s->ctx, s->owner);
    s->owner = NULL;
    rbli_free(s->ctx, boxes);
    return status;
}

rbl_status rbli_join_near_islands(
    rbl_context *ctx, rbli_cut_result *r, double vertex_distance, double bridge_distance)
{
    rbl_status status = RBL_OK;
    islands s = {.ctx = ctx, .r = r};
    bool joined = false;
    RBL_TRY_ALLOC(s.root = rbli_alloc(ctx, r->piece_count, sizeof *s.root));
    for (size_t p = 0; p < r->piece_count; p++)
        s.root[p] = (int32_t)p;
    for (size_t p = 0, end; p < r->piece_count; p = end) {
        for (end = p + 1; end < r->piece_count && r->piece_cell[end] == r->piece_cell[p];)
            end++;
        s.first = (int32_t)p;
        s.end = (int32_t)end;
        for (int kind = 0; kind < 2 && end - p > 1; kind++) {
            s.surfaces = kind == 1;
            s.distance = kind ? bridge_distance : vertex_distance;
            if (s.distance > 0) RBL_TRY(join_cell(&s));
        }
    }
    for (size_t p = 0; p < r->piece_count; p++) {
        s.root[p] = find_root(s.root, (int32_t)p);
        joined |= s.root[p] != (int32_t)p;
    }
    if (joined) status = rbli_regroup_pieces(ctx, r, s.root);
done:
    rbli_free(ctx, s.root);
    return status;
}
