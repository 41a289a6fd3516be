/// Where the arrangement's vertices lie in triangles, so that attributes can be taken over.

#include "fracture/geometry/cut_internal.h"

/// False when the vertex is no corner. Which corner it is cannot be foretold, so nothing depends on it by a branch.
static inline bool corner_weight(const int32_t corners[3], int32_t vertex, double amount, double w[3])
{
    bool found = false;
    for (int i = 0; i < 3; i++) {
        bool here = corners[i] == vertex && !found;
        w[i] += here ? amount : 0;
        found |= here;
    }
    return found;
}

void cut_solve_weights(const cut_state *s, const int32_t corners[3], const double p[3], double w[3])
{
    const double *a = s->points[corners[0]], *b = s->points[corners[1]], *c = s->points[corners[2]];
    cut_plane plane = cut_plane_make(a, b, c);
    int32_t axes[2];
    cut_projection_axes(plane.normal, axes);
    int32_t x = axes[0], y = axes[1];
    double ux = b[x] - a[x], uy = b[y] - a[y], vx = c[x] - a[x], vy = c[y] - a[y];
    double px = p[x] - a[x], py = p[y] - a[y], area = ux * vy - uy * vx;
    if (area > 0) {
        w[1] = cut_min(cut_max((px * vy - py * vx) / area, 0), 1);
        w[2] = cut_min(cut_max((ux * py - uy * px) / area, 0), 1 - w[1]);
    } else { /* a flat triangle: along its longest side would do, its middle does as well */
        w[1] = w[2] = 1.0 / 3;
    }
    w[0] = 1 - w[1] - w[2];
}

void cut_arrangement_weights(const cut_state *s, int32_t id, const int32_t corners[3], double w[3])
{
    w[0] = w[1] = w[2] = 0;
    if (id < s->point_count) {
        if (corner_weight(corners, id, 1, w)) return;
    } else if ((size_t)(id - s->point_count) < s->crossing_count) {
        const cut_crossing *x = &s->crossings[id - s->point_count];
        if (corner_weight(corners, cut_half_start(s, x->half), 1 - x->parameter, w) &&
            corner_weight(corners, cut_half_end(s, x->half), x->parameter, w))
            return;
    } else {
        size_t node = (size_t)(id - s->point_count) - s->crossing_count;
        const cut_node *x = &s->nodes[node];
        if (s->node_weights && corners == s->mesh_view->triangles[x->mesh_triangle]) {
            memcpy(w, s->node_weights[node], sizeof s->node_weights[node]);
            return;
        }
        const int32_t *edge = s->complex.edges[x->edge];
        if (corner_weight(corners, edge[0], 1 - x->parameter, w) &&
            corner_weight(corners, edge[1], x->parameter, w))
            return;
    }
    /* a point inside the triangle, or one that a collapsed edge brought here */
    cut_solve_weights(s, corners, cut_position(s, id), w);
}
