#ifndef RUBBLE_GEOMETRY_CONVEX_HULL_H
#define RUBBLE_GEOMETRY_CONVEX_HULL_H

/// Convex hulls for collision: closed, convex, with a budget of vertices, of any size and of flat input too.

#include "fracture/geometry/exact_hull.h"

typedef enum rbli_degenerate { RBLI_DEGENERATE_THICKEN, RBLI_DEGENERATE_ERROR } rbli_degenerate;

typedef struct rbli_hull_options {
    int32_t
        max_vertices; /* at least 8; default 64. A hull that needs more is replaced by one that holds it */
    double simplification_threshold; /* how far a simpler hull may stand off from the exact one; default 0:
                                        only for the budget */
    rbli_degenerate on_degenerate;   /* flat, collinear or single points; default thicken */
    double thickness; /* thickness given to flat input; 0 (default): a thousandth of its diagonal */
} rbli_hull_options;
rbli_hull_options rbli_hull_default_options(void);

typedef struct rbli_hull {
    double (*points)[3]; /* [point_count] */
    size_t point_count;
    int32_t (*triangles)[3]; /* [triangle_count], counter-clockwise from outside, none without area; a flat
                                facet is a fan */
    size_t triangle_count;
    double volume;
    bool thickened; /* the points span no volume: they were given a thickness */
    double excess;  /* how far a vertex of a simplified hull stands off from the exact hull, else 0 */
} rbli_hull;

/// Frees what is in it; not the struct.
void rbli_hull_free(rbl_context *ctx, rbli_hull *hull);

/// The convex hull of points. Vertices that stand out less than 1e-8 of the extents are left out (rounded
/// points in the middle of edges and facets, twins) and the rest grows by as much as holds them. With more
/// vertices than the budget: planes of facets are chosen greedily, each cutting off the vertex farthest
/// outside, until the budget is used (sandwich approximation, Rote 1992); the result holds all the points.
///
/// Method: quickhull (Barber, Dobkin, Huhdanpaa 1996) with exact signs (exact_hull.h) in coordinates scaled to the
/// extents of each axis, so size and flatness do not matter.
/// @param points [count][3], count ≥ 1
/// @param out    set on success only; rbli_hull_free
/// @return RBL_OK · RBL_ERR_ARGUMENT (no points, a number that is not finite, extents that overflow; a budget
/// below 8) ·
///         RBL_ERR_MESH (flat input and on_degenerate error) · RBL_ERR_NO_MEMORY
/// Threads: reentrant. The same hull for any order of the points. Cost: O(n log n).
rbl_status rbli_convex_hull(rbl_context *ctx, const double (*points)[3], size_t count,
    const rbli_hull_options *options, rbli_hull *out);

/// The same for many hulls: memory is taken again and again from `scratch`, and the arrays of *out lie there until its
/// next use. Copy them; no rbli_hull_free.
rbl_status rbli_convex_hull_in(rbl_context *ctx, rbli_hull_scratch *scratch, const double (*points)[3],
    size_t count, const rbli_hull_options *options, rbli_hull *out);

/// Its volume alone, up to about 1e-8 of it: what rounding makes stand out is neither cleaned nor held; 0 for
/// flat input. In half the time. @return as rbli_convex_hull
rbl_status rbli_convex_hull_volume(rbl_context *ctx, const double (*points)[3], size_t count, double *volume);

#endif
