#ifndef RUBBLE_GEOMETRY_HULL_CONTACT_H
#define RUBBLE_GEOMETRY_HULL_CONTACT_H

/// Where two convex hulls touch, and how much of it there is.

#include "fracture/geometry/convex_hull.h"

/// What two hulls have in common, seen along the axis between them.
typedef struct rbli_hull_contact {
    double area;      /* of the shadow of what they have in common */
    double width;     /* least width of that shadow */
    double most_area; /* the same of the whole hulls, the smaller of both: more is not possible */
    double most_width;
    double normal[3]; /* the axis: unit, from a to b */
} rbli_hull_contact;

/// A hull made ready to be compared with many: flat facets as one plane, edges between them. One block of memory.
typedef struct rbli_hull_shape {
    const double (*points)[3]; /* [point_count] */
    size_t point_count;
    double (*planes)[4]; /* [plane_count] unit normal, outward, and offset; all points are behind them */
    size_t plane_count;
    int32_t (*edges)[2]; /* [edge_count] */
    size_t edge_count;
    void *memory; /* what the others lie in; NULL: points are the caller's, and there is nothing else */
} rbli_hull_shape;
/// @param facets false: the points alone, which is all that distances need
/// @param out    set on success only; keeps nothing of the hull
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_hull_shape_create(rbl_context *ctx, const rbli_hull *hull, bool facets, rbli_hull_shape *out);
void rbli_hull_shape_free(rbl_context *ctx, rbli_hull_shape *shape);

/// Memory for one call at a time, reused by the next; zero it before the first and free it after the last.
typedef struct rbli_hull_contact_scratch {
    double (*points)[2];
    size_t capacity;
} rbli_hull_contact_scratch;
void rbli_hull_contact_scratch_free(rbl_context *ctx, rbli_hull_contact_scratch *scratch);

/// Measures the contact: b is moved along the axis of the widest gap (normals of facets, and of
/// the nearest points where hulls are apart) by that gap, at least by `bridge`, and
/// by `depth` more (not at all where the hulls are deeper in each other already, along the axis of the least
/// depth); what they have in common then is looked at along the axis. For facets that lie on each other that
/// is their overlap, but for a rim as wide as the move where sides slope.
/// @param bridge ≥ 0
/// @param depth  > 0, for rounding and facets that are not quite parallel
/// @return RBL_OK · RBL_ERR_NO_MEMORY
/// Threads: reentrant; a scratch for each thread. Cost: edges × facets.
rbl_status rbli_hull_contact_measure(rbl_context *ctx, const rbli_hull_shape *a, const rbli_hull_shape *b,
    double bridge, double depth, rbli_hull_contact_scratch *scratch, rbli_hull_contact *out);

#endif
