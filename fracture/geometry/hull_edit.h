#ifndef RUBBLE_GEOMETRY_HULL_EDIT_H
#define RUBBLE_GEOMETRY_HULL_EDIT_H

/// Cutting, comparing and simplifying convex hulls.

#include "fracture/geometry/convex_hull.h"

/// Hulls that stand for one body together.
typedef struct rbli_hull_set {
    rbli_hull *hulls; /* [count] */
    size_t count;
} rbli_hull_set;
/// Frees the hulls and the list; not the struct.
void rbli_hull_set_free(rbl_context *ctx, rbli_hull_set *set);

/// A copy of its own. `matrix` (column-major, NULL: none) is applied to the points; a mirror turns triangles.
/// @return RBL_OK · RBL_ERR_NO_MEMORY; *out set on success only
rbl_status rbli_hull_copy(rbl_context *ctx, const rbli_hull *hull, const double matrix[16], rbli_hull *out);

/// Unit normal of a triangle, outward; false, and zeros, for a sliver.
bool rbli_hull_normal(const rbli_hull *hull, size_t triangle, double out[3]);
/// Centre of mass of the solid.
void rbli_hull_center(const rbli_hull *hull, double out[3]);
/// Least and greatest value of normal · x.
void rbli_hull_range(const rbli_hull *hull, const double normal[3], double range[2]);
/// How far p is beyond the plane of a triangle, at most; negative inside. Never more than the distance.
double rbli_hull_height(const rbli_hull *hull, const double p[3]);
/// Bounds of the points.
void rbli_hull_bounds(const rbli_hull *hull, double low[3], double high[3]);

/// The part with plane[0..2] · x ≤ plane[3], where plane[0..2] is a unit vector.
/// @param out   set on success only; nothing when `*empty`
/// @param empty nothing thicker than 1e-9 of the hull is left
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_ARGUMENT (numbers overflow)
rbl_status rbli_hull_clip(
    rbl_context *ctx, const rbli_hull *hull, const double plane[4], rbli_hull *out, bool *empty);

/// How two hulls overlap along an axis.
typedef struct rbli_hull_overlap {
    double depth;     /* how far they must be moved apart along `normal`; negative: a gap */
    double normal[3]; /* unit, from a to b */
} rbli_hull_overlap;
/// The axis of least depth among normals of facets and normals to an edge of each (separating axes: exact for
/// hulls that overlap; a gap is at most the distance). Ends early at a gap of more than `enough`. Pairs of
/// edges are tried only where their arcs on the sphere of normals cross (Gregorius 2013).
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_hull_find_overlap(
    rbl_context *ctx, const rbli_hull *a, const rbli_hull *b, double enough, rbli_hull_overlap *out);

/// The widest gap along the normals of facets, negative when the hulls overlap along all of them; never more
/// than the distance. Ends early at a gap of more than `enough`. Allocates nothing.
double rbli_hull_facet_gap(const rbli_hull *a, const rbli_hull *b, double enough);

/// A hull of fewer facets that holds the hull: facets whose normal is nearer than `angle` (radians) to that
/// of a larger one that stays are dropped; what remains is cut out of the bounding box. The same hull again
/// when that has no fewer vertices. `excess` as in rbli_hull.
rbl_status rbli_hull_simplify_angle(rbl_context *ctx, const rbli_hull *hull, double angle, rbli_hull *out);
/// The same by collapsing edges where that costs least (quadrics, Garland and Heckbert 1997), then growing
/// the result about its centre until it holds the hull; stops before it stands off more than `distance`, or
/// at `min_triangles`.
rbl_status rbli_hull_simplify_collapse(
    rbl_context *ctx, const rbli_hull *hull, double distance, size_t min_triangles, rbli_hull *out);

#endif
