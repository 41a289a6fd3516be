#ifndef RUBBLE_OPS_HULLS_H
#define RUBBLE_OPS_HULLS_H

/// Convex hulls of the pieces of a collection, for collision.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/hull_decompose.h"

typedef enum rbli_hull_source {
    RBLI_HULL_GEOMETRY, /* hulls are made anew */
    RBLI_HULL_KEEP,     /* a bone that has a hull keeps it */
} rbli_hull_source;

typedef struct rbli_leaf_hull_options {
    const rbli_selection *selection; /* NULL: all rigid leaves */
    rbli_hull_options hull;
    rbli_hull_source source;
    rbli_decompose_options decompose; /* default: one hull a piece */
} rbli_leaf_hull_options;
rbli_leaf_hull_options rbli_leaf_hull_default_options(void);

/// Gives each chosen rigid leaf one convex hull, or several that hold it together, in the group `convex`,
/// sorted by bone; hulls of other bones stay. Warns of flat pieces that were thickened; notes how far hulls
/// with a budget stand off.
/// @param in  not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology) · RBL_ERR_MESH (a flat piece and
/// on_degenerate error;
///         the message names it) · RBL_ERR_ARGUMENT · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: one job a piece. Same bytes for any thread count.
rbl_status rbli_create_leaf_hulls(
    rbl_context *ctx, const rbl_collection *in, const rbli_leaf_hull_options *options, rbl_collection **out);

#endif
