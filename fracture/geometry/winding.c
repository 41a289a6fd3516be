/// Winding numbers by signed ray crossings on grid coordinates. A ray that meets an edge or a vertex is
/// decided by the half-open rule for the crossings of a polygon's edges with a ray (Haines 1994), which is
/// the same for both triangles of an edge; so nothing is counted twice or missed.

#include "fracture/geometry/winding.h"

#include <math.h>

#include "fracture/base/alloc.h"
#include "fracture/geometry/box_tree.h"
#include "fracture/geometry/grid_orient.h"

enum { DEEP_LINES = 12, MAX_CROSSINGS = 256 };

struct rbli_winding {
    rbli_grid grid;
    double (*corners)[3]; /* on the grid */
    int32_t (*triangles)[3];
    size_t vertex_count, triangle_count;
    double min[3], max[3]; /* on the grid */
    rbli_box_tree *tree;
    int32_t lines[DEEP_LINES]; /* triangles with the largest projections on the plane x = 0 */
    int line_count;
};

static double projected_area(const rbli_winding *winding, size_t t)
{
    const double *a = winding->corners[winding->triangles[t][0]];
    const double *b = winding->corners[winding->triangles[t][1]];
    const double *c = winding->corners[winding->triangles[t][2]];
    return fabs((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]));
}

static void pick_lines(rbli_winding *winding)
{
    double areas[DEEP_LINES];
    for (size_t t = 0; t < winding->triangle_count; t++) {
        double area = projected_area(winding, t);
        if (area == 0 || (winding->line_count == DEEP_LINES && area <= areas[DEEP_LINES - 1])) continue;
        int place = winding->line_count < DEEP_LINES ? winding->line_count++ : DEEP_LINES - 1;
        for (; place > 0 && areas[place - 1] < area; place--) {
            areas[place] = areas[place - 1];
            winding->lines[place] = winding->lines[place - 1];
        }
        areas[place] = area;
        winding->lines[place] = (int32_t)t;
    }
}

static void find_bounds(const double (*points)[3], const rbli_mesh_view *mesh, double min[3], double max[3])
{
    for (int k = 0; k < 3; k++)
        min[k] = max[k] = mesh->triangle_count ? points[mesh->triangles[0][0]][k] : 0;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int corner = 0; corner < 3; corner++)
            for (int k = 0; k < 3; k++) {
                double value = points[mesh->triangles[t][corner]][k];
                if (value < min[k]) min[k] = value;
                if (value > max[k]) max[k] = value;
            }
}

static void box_of_triangle(const rbli_winding *winding, size_t t, double box[2][3])
{
    for (int k = 0; k < 3; k++) {
        double a = winding->corners[winding->triangles[t][0]][k];
        double b = winding->corners[winding->triangles[t][1]][k];
        double c = winding->corners[winding->triangles[t][2]][k];
        box[0][k] = a < b ? (a < c ? a : c) : (b < c ? b : c);
        box[1][k] = a > b ? (a > c ? a : c) : (b > c ? b : c);
    }
}

rbl_status rbli_winding_create(rbl_context *ctx, const rbli_mesh_view *mesh, rbli_winding **out)
{
    rbl_status status = RBL_OK;
    double(*boxes)[2][3] = NULL;
    rbli_winding *winding = rbli_calloc(ctx, 1, sizeof *winding);
    RBL_TRY_ALLOC(winding);
    winding->vertex_count = mesh->vertex_count;
    winding->triangle_count = mesh->triangle_count;
    RBL_TRY_ALLOC(winding->corners = rbli_alloc(ctx, mesh->vertex_count, sizeof *winding->corners));
    RBL_TRY_ALLOC(winding->triangles = rbli_alloc(ctx, mesh->triangle_count, sizeof *winding->triangles));
    RBL_TRY_ALLOC(boxes = rbli_alloc(ctx, mesh->triangle_count, sizeof *boxes));
    double min[3], max[3];
    find_bounds(mesh->positions, mesh, min, max);
    winding->grid = rbli_grid_fit(min, max);
    for (size_t v = 0; v < mesh->vertex_count; v++)
        rbli_grid_snap(&winding->grid, mesh->positions[v], winding->corners[v]);
    if (mesh->triangle_count)
        memcpy(winding->triangles, mesh->triangles, mesh->triangle_count * sizeof *winding->triangles);
    for (size_t t = 0; t < mesh->triangle_count; t++)
        box_of_triangle(winding, t, boxes[t]);
    find_bounds((const double(*)[3])winding->corners, mesh, winding->min, winding->max);
    RBL_TRY(rbli_box_tree_create(ctx, (const double(*)[2][3])boxes, mesh->triangle_count, &winding->tree));
    pick_lines(winding);
    *out = winding;
    winding = NULL;
done:
    rbli_free(ctx, boxes);
    rbli_winding_destroy(ctx, winding);
    return status;
}

void rbli_winding_destroy(rbl_context *ctx, rbli_winding *winding)
{
    if (!winding) return;
    rbli_free(ctx, winding->corners);
    rbli_free(ctx, winding->triangles);
    rbli_box_tree_destroy(ctx, winding->tree);
    rbli_free(ctx, winding);
}

/// How an edge a → b passes a ray from p along +z in the plane of y and z: +1, −1 or 0; reversed edges give
/// the opposite.
/// `*touches` is set when p lies on the edge.
static int edge_crossing(const double a[3], const double b[3], const double p[3])
{
    if (a[1] <= p[1]) {
        if (b[1] <= p[1]) return 0;
        return rbli_grid_orient2d(a, b, p, 1, 2) > 0 ? 1 : 0;
    }
    if (b[1] > p[1]) return 0;
    return rbli_grid_orient2d(a, b, p, 1, 2) < 0 ? -1 : 0;
}

/// +1 when a line along x through p leaves through the triangle (its normal has a positive x), −1 when it
/// enters.
static int line_crossing(const rbli_winding *winding, int32_t t, const double p[3])
{
    const double *a = winding->corners[winding->triangles[t][0]];
    const double *b = winding->corners[winding->triangles[t][1]];
    const double *c = winding->corners[winding->triangles[t][2]];
    return edge_crossing(a, b, p) + edge_crossing(b, c, p) + edge_crossing(c, a, p);
}

typedef struct number_query {
    const rbli_winding *winding;
    const double *point;
    int32_t number;
    bool look_for_touch, touches;
} number_query;

static bool count_crossing(void *user, int32_t t)
{
    number_query *query = user;
    const rbli_winding *winding = query->winding;
    const double *a = winding->corners[winding->triangles[t][0]];
    const double *b = winding->corners[winding->triangles[t][1]];
    const double *c = winding->corners[winding->triangles[t][2]];
    int through = line_crossing(winding, t, query->point);
    int side = 2;
    if (query->look_for_touch && !query->touches) {
        side = rbli_grid_orient3d(a, b, c, query->point);
        if (side == 0) query->touches = rbli_grid_in_triangle(a, b, c, query->point);
    }
    if (!through) return true;
    if (side == 2) side = rbli_grid_orient3d(a, b, c, query->point);
    /* `through` is the sign of the normal's x: the plane lies ahead when the point is on the other side. */
    if (side * through < 0) query->number += through;
    return true;
}

int32_t rbli_winding_number(const rbli_winding *winding, const double point[3], bool *on_surface)
{
    if (on_surface) *on_surface = false;
    double p[3];
    for (int k = 0; k < 3; k++) {
        double scaled = (point[k] - winding->grid.origin[k]) * winding->grid.scale;
        if (!(scaled > winding->min[k] - 1 && scaled < winding->max[k] + 1)) return 0;
    }
    rbli_grid_snap(&winding->grid, point, p);
    number_query query = {winding, p, 0, on_surface != NULL, false};
    double end[3] = {winding->max[0] + 1, p[1], p[2]};
    if (p[0] > end[0]) return 0;
    rbli_box_tree_query(winding->tree, p, end, count_crossing, &query);
    if (on_surface) *on_surface = query.touches;
    return query.number;
}

typedef struct crossing {
    double x; /* on the grid, rounded */
    int through;
} crossing;

typedef struct line_query {
    const rbli_winding *winding;
    double point[3];
    crossing crossings[MAX_CROSSINGS];
    int count;
    bool full;
} line_query;

static bool collect_crossing(void *user, int32_t t)
{
    line_query *query = user;
    const rbli_winding *winding = query->winding;
    int through = line_crossing(winding, t, query->point);
    if (!through) return true;
    if (query->count == MAX_CROSSINGS) {
        query->full = true;
        return false;
    }
    const double *a = winding->corners[winding->triangles[t][0]];
    const double *b = winding->corners[winding->triangles[t][1]];
    const double *c = winding->corners[winding->triangles[t][2]];
    double nx = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]);
    double ny = (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]);
    double nz = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    double x = nx != 0 ? a[0] - (ny * (query->point[1] - a[1]) + nz * (query->point[2] - a[2])) / nx : a[0];
    int place = query->count++;
    for (; place > 0 && query->crossings[place - 1].x > x; place--)
        query->crossings[place] = query->crossings[place - 1];
    query->crossings[place] = (crossing){x, through};
    return true;
}

/// The longest stretch inside along the line of `query`; its length, or 0.
static double longest_stretch(const line_query *query, bool inverted, double *middle)
{
    double longest = 0;
    int number = 0;
    for (int i = 0; i + 1 < query->count; i++) {
        number -= query->crossings[i].through;
        double length = query->crossings[i + 1].x - query->crossings[i].x;
        if ((inverted ? number <= -1 : number >= 1) && length > longest) {
            longest = length;
            *middle = query->crossings[i].x / 2 + query->crossings[i + 1].x / 2;
        }
    }
    return longest;
}

bool rbli_winding_deep_point(const rbli_winding *winding, bool inverted, double point[3])
{
    double longest = 0;
    for (int line = 0; line < winding->line_count; line++) {
        const int32_t *corner = winding->triangles[winding->lines[line]];
        line_query query = {.winding = winding};
        for (int k = 1; k < 3; k++) {
            double sum = winding->corners[corner[0]][k] + winding->corners[corner[1]][k] +
                         winding->corners[corner[2]][k];
            query.point[k] = rint(sum / 3);
        }
        double min[3] = {winding->min[0] - 1, query.point[1], query.point[2]};
        double max[3] = {winding->max[0] + 1, query.point[1], query.point[2]};
        rbli_box_tree_query(winding->tree, min, max, collect_crossing, &query);
        double middle = 0;
        double length = query.full ? 0 : longest_stretch(&query, inverted, &middle);
        if (length <= longest) continue;
        longest = length;
        const double found[3] = {middle, query.point[1], query.point[2]};
        for (int k = 0; k < 3; k++)
            point[k] = found[k] / winding->grid.scale + winding->grid.origin[k];
    }
    return longest > 0;
}
