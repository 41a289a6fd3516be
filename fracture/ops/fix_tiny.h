#ifndef RUBBLE_OPS_FIX_TINY_H
#define RUBBLE_OPS_FIX_TINY_H

/// Joining pieces that are too small to neighbours.

#include "fracture/collection/hierarchy.h"

typedef enum rbli_tiny_merge { RBLI_TINY_GEOMETRY, RBLI_TINY_CLUSTERS } rbli_tiny_merge;
typedef enum rbli_tiny_select { RBLI_TINY_RELATIVE_VOLUME, RBLI_TINY_VOLUME_CUBE_ROOT } rbli_tiny_select;
typedef enum rbli_tiny_neighbor {
    RBLI_TINY_LARGEST,
    RBLI_TINY_NEAREST_CENTER,
    RBLI_TINY_LARGEST_CONTACT,
} rbli_tiny_neighbor;
typedef enum rbli_tiny_use {
    RBLI_TINY_USE_NONE,
    RBLI_TINY_USE_INCLUDE,
    RBLI_TINY_USE_RESTRICT
} rbli_tiny_use;

typedef struct rbli_fix_tiny_options {
    rbli_tiny_merge merge; /* geometry: a union; clusters: a common cluster above them; default geometry */
    rbli_tiny_select select_by;  /* default relative volume */
    double relative_volume;      /* default 0.01: tiny is a volume below (cbrt(total) · this)³ */
    double min_volume_cube_root; /* default 0.01: tiny is a volume below this³ */
    rbli_tiny_neighbor neighbor; /* default largest */
    bool only_connected;         /* default true: only neighbours that touch */
    bool only_same_parent;       /* default true; always so for clusters */
    bool on_fracture_level;      /* default true: only neighbours of the same level */
    rbli_tiny_use
        use_selection; /* include: selected pieces count as tiny, too; restrict: only selected ones can be */
    const rbli_selection *selection; /* of bones, with all below them; may be NULL */
} rbli_fix_tiny_options;
rbli_fix_tiny_options rbli_fix_tiny_default_options(void);

typedef struct rbli_fix_tiny_result {
    rbl_collection *collection; /* the caller's reference */
    int32_t *bones;             /* [count] ascending: pieces that grew, or new clusters; rbli_free */
    size_t count;
} rbli_fix_tiny_result;

/// Joins tiny rigid leaves to neighbours, always the smallest next (join_small.h), until none is tiny or none
/// that is has a neighbour; what is joined does not depend on the order of the pieces. A selected cluster
/// stands for the pieces below it. Geometry: a group becomes one closed piece, the bone of its largest member
/// (fuse_pieces.h); shared facets disappear, volumes add up to 1e-12 of them. A piece whose contacts are not
/// shared to the bit stays, and so does a group whose union would not be clean. Clusters: a group gets a new
/// cluster LARGEST_merged above it (rehang.h). What stayed is told with the reason. Source: GEO §5.1.
/// @param in  not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology) · RBL_ERR_LIMIT · RBL_ERR_NO_MEMORY ·
///         RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count. Cost: near linear.
rbl_status rbli_fix_tiny(rbl_context *ctx, const rbl_collection *in, const rbli_fix_tiny_options *options,
    rbli_fix_tiny_result *out);

#endif
