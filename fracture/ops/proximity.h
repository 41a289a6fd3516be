#ifndef RUBBLE_OPS_PROXIMITY_H
#define RUBBLE_OPS_PROXIMITY_H

/// Which pieces touch: the groups proximity and connection.

#include "fracture/base/alloc.h"
#include "fracture/collection/hierarchy.h"
#include "fracture/geometry/contact.h"
#include "fracture/geometry/radix_sort.h"

typedef enum rbli_proximity_method { RBLI_PROXIMITY_PRECISE, RBLI_PROXIMITY_HULL } rbli_proximity_method;
/// What a threshold applies to. Each also keeps what has half of all that is possible for the two pieces, so
/// that small pieces keep their contacts (GEO §8.4).
typedef enum rbli_contact_filter {
    RBLI_FILTER_BOUNDS, /* least width of the overlap of both boxes, seen along the best of the three axes */
    RBLI_FILTER_SHARP,  /* least width of what the hulls have in common */
    RBLI_FILTER_AREA,   /* its area; the threshold is squared */
} rbli_contact_filter;
typedef enum rbli_contact_area {
    RBLI_AREA_NONE,     /* areas are −1 */
    RBLI_AREA_GEOMETRY, /* of faces that lie on each other */
    RBLI_AREA_HULL,     /* of what the hulls have in common */
} rbli_contact_area;

/// All zeros: precise, no filter, no areas.
typedef struct rbli_proximity_options {
    rbli_proximity_method method;
    double tolerance;     /* a length; 0 (default): 1e-6 × the assembly's diagonal */
    bool shared_vertices; /* precise: pieces with vertices within the tolerance touch, too */
    bool recorded;        /* precise: pairs that a cut recorded (group contact) touch, too: across grout */
    double distance_threshold; /* of hulls */
    double contact_threshold;  /* a length; 0 (default): nothing is left out */
    rbli_contact_filter contact_filter;
    rbli_contact_area contact_area;
    bool connection_graph; /* write the group connection, too */
} rbli_proximity_options;

/// Writes the group proximity, pairs of rigid leaves in world space, sorted. Precise: pieces whose faces lie on
/// each other in an area (contact.h); a common edge or corner alone is no contact but with `shared_vertices`.
/// By hulls: pieces whose hulls, those of the collection or else those of the vertices, are at most
/// `distance_threshold` apart. With connection_graph also the group connection: each pair lifted to the two
/// siblings above it that have a common parent (roots count as siblings), areas accumulated.
/// Notes how many contacts were left out and how many pieces touch nothing; warns of flat pieces that were
/// thickened for a hull.
/// @param in  not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_MESH (no hull of a piece) · RBL_ERR_NO_MEMORY ·
/// RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count. Cost: near linear.
rbl_status rbli_proximity(
    rbl_context *ctx, const rbl_collection *in, const rbli_proximity_options *options, rbl_collection **out);

/// The surface of all rigid leaves in world space.
typedef struct rbli_world_surface {
    double (*positions)[3]; /* [vertex count of the collection]; vertices of other bones are moved, too */
    int32_t *piece;         /* [face count] bone of a rigid leaf, else −1 */
    const int32_t (*triangles)[3]; /* [face count] those of the collection, turned where a bone mirrors */
    int32_t (*turned)[3];          /* the same, owned, or NULL when no bone mirrors */
    double low[3], high[3];        /* bounds of the leaves; low > high when there are none */
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

/// The tolerance that 0 stands for: 1e-6 × diagonal.
double rbli_world_surface_tolerance(const rbli_world_surface *surface, double tolerance);

/// Contacts of all rigid leaves: pieces are bones. `tolerance` 0: 1e-6 × diagonal. Freed with rbli_free.
rbl_status rbli_leaf_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, double tolerance, rbli_touch **out, size_t *count);

/// The contacts of the group proximity (areas may be −1), or when the collection has no such group, computed
/// and recorded ones (group contact).
rbl_status rbli_known_contacts(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, rbli_touch **out, size_t *count);
/// What cuts recorded of leaves (group contact), sorted; none without that group.
rbl_status rbli_recorded_contacts(
    rbl_context *ctx, const rbl_collection *collection, rbli_touch **out, size_t *count);
/// Writes the group connection from the group proximity, which must exist.
rbl_status rbli_connect_siblings(rbl_context *ctx, rbl_collection *collection, bool with_area);

/// Pairs of bones as keys a << 32 | b, in the order found.
typedef RBLI_ARRAY(rbli_keyed) rbli_pair_array;
/// The pairs of all blocks as touches of unknown area (−1), sorted, each once; rbli_free.
rbl_status rbli_collect_pairs(
    rbl_context *ctx, const rbli_pair_array *blocks, size_t block_count, rbli_touch **out, size_t *count);

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
