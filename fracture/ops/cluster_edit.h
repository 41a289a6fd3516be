#ifndef RUBBLE_OPS_CLUSTER_EDIT_H
#define RUBBLE_OPS_CLUSTER_EDIT_H

/// Editing the hierarchy: clusters made, dissolved, merged, and bones moved. Source: GEO §6.1, §6.3, §6.4.
///
/// What holds for all functions here. Places in the world stay. Clusters that lose all children go; clusters
/// that are left with one child, and new ones that would have one or be an only child, go too unless
/// `clusters_of_one` (roots stay). Of a bone and one above it, both chosen, only the upper counts, unless a
/// comment says otherwise; an attached sheet stands for its piece. When there is nothing to do the result is
/// a copy of the input and a warning says why. Everything else: rehang.h.
///
/// @param in     not changed
/// @param out    set on success only; the caller releases the collection and frees `bones` with rbli_free
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology, a transform without inverse) ·
/// RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant. The same bytes for any thread count; the same sets for any order of the bones.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/join_small.h"

typedef struct rbli_cluster_edit {
    rbl_collection *collection;
    int32_t *bones; /* [count] ascending; what is told at each function */
    size_t count;
} rbli_cluster_edit;

/// A new cluster below the lowest bone that is above all chosen ones (a new root if there is none), with the
/// chosen bones as children. `name` NULL or "": PARENT_cluster. `bones`: the new cluster.
rbl_status rbli_cluster_bones(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    const char *name, bool clusters_of_one, rbli_cluster_edit *out);

/// Chosen clusters go, their children hang one level higher; roots stay. NULL: all clusters but roots. Here
/// every chosen cluster counts, also one below another. `bones`: those that hang below another bone now.
rbl_status rbli_uncluster(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    bool clusters_of_one, rbli_cluster_edit *out);

/// All pieces below a chosen cluster become its children, the clusters between go. NULL: below roots.
/// `bones`: those that hang below another bone now.
rbl_status rbli_flatten(
    rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection, rbli_cluster_edit *out);

/// Chosen clusters become one: the one of the lowest level, then of the largest volume, then the first by
/// name takes the children of the others, and chosen pieces. `bones`: that cluster.
rbl_status rbli_cluster_merge(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    bool clusters_of_one, rbli_cluster_edit *out);

/// Roots that are pieces become the children of a new root named "root". NULL: all of them. `bones`: the new
/// root.
rbl_status rbli_cluster_isolated_roots(rbl_context *ctx, const rbl_collection *in,
    const rbli_selection *selection, bool clusters_of_one, rbli_cluster_edit *out);

/// Chosen bones hang below the parent of their parent; roots and children of roots stay. Here every chosen
/// bone counts: one moves by what was above it before. `bones`: those that moved.
rbl_status rbli_move_up(rbl_context *ctx, const rbl_collection *in, const rbli_selection *selection,
    bool clusters_of_one, rbli_cluster_edit *out);

typedef struct rbli_magnet_options {
    const rbli_selection *selection; /* the magnets */
    int32_t iterations;              /* default 1: what touches a magnet; 2: also what touches that; … */
    bool clusters_of_one;
} rbli_magnet_options;
/// Each chosen bone becomes a new cluster MAGNET_cluster with the siblings that touch it and are not magnets
/// themselves. In each round every sibling that touches several goes to the one with which it shares the
/// largest area of contact (of what that has gathered before), then to the nearest, then to the first by
/// name; so the order of the magnets does not matter. Contacts: the group proximity, else computed; areas
/// that it lacks are computed, too. `bones`: the new clusters.
rbl_status rbli_cluster_magnet(
    rbl_context *ctx, const rbl_collection *in, const rbli_magnet_options *options, rbli_cluster_edit *out);

typedef struct rbli_merge_neighbors_options {
    const rbli_selection *selection; /* clusters that join a neighbour in any case; NULL: those that are too
                                        small */
    rbli_small_rule neighbor;        /* default largest */
    double min_volume_cube_root;     /* clusters of less volume than this cubed go on joining; default 0 */
    bool only_connected;             /* default true: only clusters that touch */
    bool only_same_parent;           /* default true: only siblings; else clusters of the same level */
    bool clusters_of_one;
} rbli_merge_neighbors_options;
rbli_merge_neighbors_options rbli_merge_neighbors_default_options(void);
/// Clusters join neighbours (join_small.h): the larger one stays and takes the children of the other. Each
/// chosen cluster joins once, then what came of it goes on while it is too small; without a selection all
/// clusters that are too small do. Roots and pieces are no neighbours. Contacts as rbli_cluster_magnet. What
/// stayed is told with the reason. `bones`: the clusters that took others in.
rbl_status rbli_cluster_merge_to_neighbors(rbl_context *ctx, const rbl_collection *in,
    const rbli_merge_neighbors_options *options, rbli_cluster_edit *out);

#endif
