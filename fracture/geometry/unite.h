#ifndef RUBBLE_GEOMETRY_UNITE_H
#define RUBBLE_GEOMETRY_UNITE_H

/// The exact union of closed shells (MESHES.md, steps 9 and 10).

#include "fracture/geometry/repair.h"

/// The boundary of the union of two meshes, before it is cleaned.
typedef struct rbli_united_pair {
    bool apart; /* neither surface enters the other, also when touching counts: nothing else is set */
    double (*positions)[3];
    size_t vertex_count; /* no two positions equal */
    int32_t (*triangles)[3];
    size_t triangle_count;
    rbli_triangle_origins origins; /* source: a triangle of `a`, or a's count + a triangle of `b` */
} rbli_united_pair;

/// The boundary of wA + wB − wA·wB, where w are winding numbers: on each triangle the region that counts
/// 1 − w(other) times. One arrangement with exact decisions; `a` grows by an infinitesimal amount, so faces
/// that touch join and coplanar overlaps vanish. Directed edges balance, but more than two triangles may meet
/// in an edge, and triangles may have no area: rbli_repair cleans up.
/// @param a, b closed and consistently oriented, every vertex in use; may have many shells, cavities and
///             crossings
/// @param out  set on success only; rbli_united_pair_free
/// @return RBL_OK · RBL_ERR_OPEN_MESH · RBL_ERR_ARGUMENT (not finite, an index out of range) · RBL_ERR_LIMIT
/// ·
///         RBL_ERR_INTERNAL · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant; uses the context's pool. Same bytes for any thread count. Cost: O(n log n + output).
rbl_status rbli_unite_pair(
    rbl_context *ctx, const rbli_mesh_view *a, const rbli_mesh_view *b, rbli_united_pair *out);
void rbli_united_pair_free(rbl_context *ctx, rbli_united_pair *pair);

typedef enum rbli_join {
    RBLI_JOIN_NONE,  /* shells stay as they are */
    RBLI_JOIN_NODE,  /* shells of a node, or of nodes that share a shell */
    RBLI_JOIN_SCENE, /* all shells */
} rbli_join;

/// Unites the solids of a repaired mesh that overlap or touch in a face, each together with its cavities.
/// @param kept   [in->shell_count] true for the solids and cavities that count: others are not united
/// @param out    NULL when nothing met: `in` is the result. Else like `in`, with the triangles of solids that
///               met replaced: shells are the sheets and dropped ones of `in`, then those solids that met
///               none, then united ones, which have the node of their largest part; cavities follow their
///               solid. `holes` is empty, `origins` refers to what in's origins refer to.
///               rbli_repair_result_destroy
/// @return as rbli_unite_pair
/// Threads: uses the context's pool. Deterministic.
rbl_status rbli_unite(rbl_context *ctx, const rbli_repair_result *in, const bool *kept, rbli_join join,
    rbli_repair_result **out);

#endif
