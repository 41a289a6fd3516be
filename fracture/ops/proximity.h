#ifndef RUBBLE_OPS_PROXIMITY_H
#define RUBBLE_OPS_PROXIMITY_H

/// Which pieces touch: the groups proximity and connection.

#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/contact.h"

typedef struct rbli_proximity_options {
    double tolerance;         /* a length; 0 (default): 1e-6 × the assembly's diagonal */
    bool contact_area;        /* default false: areas are −1 */
    double contact_threshold; /* pairs of a smaller area are left out; default 0 */
    bool connection_graph;    /* default false: write the group connection, too */
} rbli_proximity_options;

/// Writes the group proximity: all pairs of rigid leaves whose surfaces touch in an area, in world space,
/// sorted; pieces that share an edge or a vertex alone are no pair. With connection_graph also the group
/// connection: each pair lifted to the two siblings above it that have a common parent (roots count as
/// siblings), areas accumulated.
/// @param in  not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count. Cost: near linear.
rbl_status rbli_proximity(
    rbl_context *ctx, const rbl_collection *in, const rbli_proximity_options *options, rbl_collection **out);

/// The surface of all rigid leaves in world space.
typedef struct rbli_world_surface {
    double (*positions)[3]; /* [vertex count of the collection]; vertices of other bones are moved, too */
    int32_t *piece;         /* [face count] bone of a rigid leaf, else −1 */
    double low[3], high[3]; /* bounds of the leaves; low > high when there are none */
} rbli_world_surface;
rbl_status rbli_world_surface_build(
    rbl_context *ctx, const rbl_collection *collection, rbli_world_surface *out);
void rbli_world_surface_free(rbl_context *ctx, rbli_world_surface *surface);
/// Diagonal of the bounds; 0 without leaves.
double rbli_world_surface_diagonal(const rbli_world_surface *surface);

/// Bounds in world space of the rigid leaves, or of those of a selection. `*found` false: there is none.
/// @return RBL_OK · RBL_ERR_COLLECTION (a selection of another topology) · RBL_ERR_NO_MEMORY
rbl_status rbli_world_bounds(rbl_context *ctx, const rbl_collection *collection,
    const rbli_selection *selection, double low[3], double high[3], bool *found);

/// Contacts of all rigid leaves: pieces are bones. `tolerance` 0: 1e-6 × diagonal. Freed with rbli_free.
rbl_status rbli_leaf_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, double tolerance, rbli_touch **out, size_t *count);

/// The contacts of the group proximity (areas may be −1), or computed ones when the collection has no such
/// group.
rbl_status rbli_known_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, rbli_touch **out, size_t *count);
/// Writes the group connection from the group proximity, which must exist.
rbl_status rbli_connect_siblings(rbl_context *ctx, rbl_collection *collection, bool with_area);

/// A pair of siblings and what joins them.
typedef struct rbli_sibling_pair {
    int32_t bone_a, bone_b; /* a < b */
    double area;            /* sum; −1 when an area is −1 */
    int32_t count;          /* leaf pairs */
} rbli_sibling_pair;
/// Lifts pairs of bones to siblings of one parent; pairs of a bone with its own descendant are dropped.
/// Sorted; rbli_free.
rbl_status rbli_lift_contacts(rbl_context *ctx, const rbl_collection *collection, const rbli_touch *touches,
    size_t count, rbli_sibling_pair **out, size_t *out_count);

#endif
