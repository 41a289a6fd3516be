#ifndef RUBBLE_OPS_HULL_OPS_H
#define RUBBLE_OPS_HULL_OPS_H

/// What is done with hulls once pieces have them (hulls.h): simpler ones, those of clusters, none.
///
/// All functions write a copy: `in` is not changed, `*out` is set on success only. A selection NULL means all
/// bones; one of another topology is RBL_ERR_COLLECTION. Other errors: RBL_ERR_COLLECTION (no asset, or a
/// damaged group convex), RBL_ERR_NO_MEMORY, RBL_ERR_CANCELLED, and what a comment adds. Threads: the
/// context's pool; same bytes for any thread count.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/hull_merge.h"

/// Removes the hulls of the bones of the selection.
rbl_status rbli_clear_hulls(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, rbl_collection **out);

/// Gives each root of `in` the hulls of all roots of `from`, moved so that they keep their place in the
/// world, instead of its own. @param skip_if_empty roots keep their hulls when `from` has none at its roots
/// @return also RBL_ERR_ARGUMENT (a root's transform cannot be inverted)
rbl_status rbli_copy_root_hulls(rbl_context *ctx, const rbl_collection *in, const rbl_collection *from,
    bool skip_if_empty, rbl_collection **out);

typedef enum rbli_simplify_method {
    RBLI_SIMPLIFY_BUDGET, /* at most max_vertices, bounded by facets that matter most (convex_hull.h) */
    RBLI_SIMPLIFY_QSLIM,  /* collapsing edges, down to min_triangles or until it stands off by distance */
    RBLI_SIMPLIFY_ANGLE,  /* without facets nearer than angle to a larger one */
} rbli_simplify_method;
typedef struct rbli_simplify_options {
    const rbli_selection *selection;
    rbli_simplify_method method; /* default budget */
    int32_t max_vertices;        /* default 32, at least 8 */
    double angle;                /* radians; default 10° */
    double distance;             /* default 0.1 m; for the budget: fewer vertices while it stands off less */
    size_t min_triangles;        /* default 12 */
} rbli_simplify_options;
rbli_simplify_options rbli_simplify_default_options(void);
/// Simplifies hulls; each new one holds the old one. A note says how far they stand off.
rbl_status rbli_simplify_hulls(
    rbl_context *ctx, const rbl_collection *in, const rbli_simplify_options *options, rbl_collection **out);

typedef struct rbli_merge_hulls_options {
    const rbli_selection *selection;
    rbli_hull_merge_options merge;              /* `spheres` is set from `protect` */
    const rbli_negative_space_options *protect; /* NULL (default), or empty space that stays free */
    int32_t max_vertices;                       /* budget of each hull, at least 8; default 64 */
} rbli_merge_hulls_options;
/// Merges the hulls of each bone (hull_merge.h).
rbl_status rbli_merge_hulls(rbl_context *ctx, const rbl_collection *in,
    const rbli_merge_hulls_options *options, rbl_collection **out);

typedef enum rbli_cluster_hull_source {
    RBLI_HULLS_OF_LEAVES,
    RBLI_HULLS_OF_CHILDREN
} rbli_cluster_hull_source;
/// Gives clusters hulls made by merging those of the pieces below them, or of their children, deepest
/// clusters first; old ones are replaced. Clusters with nothing to merge keep what they have.
/// @return also RBL_ERR_NOT_FOUND (no piece has a hull)
rbl_status rbli_cluster_hulls(rbl_context *ctx, const rbl_collection *in, rbli_cluster_hull_source source,
    const rbli_merge_hulls_options *options, rbl_collection **out);

/// Writes the group `negative_space`: element i is a sphere of empty space between the hulls of the bones of
/// the selection (those that have any), `center` (VEC3, world) and `radius` (DOUBLE), largest first.
rbl_status rbli_write_negative_space(rbl_context *ctx, const rbl_collection *in,
    const rbli_selection *selection, const rbli_negative_space_options *options, rbl_collection **out);

typedef struct rbli_collider_options {
    const rbli_selection *selection;
    double convex_above;                        /* a size: ∛ of the volume in world space; all default 0 */
    double box_below, sphere_below, none_below; /* the least of them that a bone is below counts */
} rbli_collider_options;
/// bone.collider by size: below one of the limits what it says; else convex from convex_above on, box below
/// it. Sheets get none. Bones outside of the selection keep theirs, or get convex.
rbl_status rbli_set_colliders(
    rbl_context *ctx, const rbl_collection *in, const rbli_collider_options *options, rbl_collection **out);

#endif
