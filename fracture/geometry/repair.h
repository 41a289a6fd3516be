#ifndef RUBBLE_GEOMETRY_REPAIR_H
#define RUBBLE_GEOMETRY_REPAIR_H

/// From triangles as files hold them to closed, oriented shells (MESHES.md, steps 1 to 8 and 10).

#include "fracture/base/context.h"
#include "fracture/geometry/mesh.h"

typedef enum rbli_fill { RBLI_FILL_NONE, RBLI_FILL_PLANAR, RBLI_FILL_AUTO, RBLI_FILL_ALL } rbli_fill;

typedef struct rbli_repair_options {
    double stitch;       /* × diagonal; 0: exact weld alone; default 1e-6 */
    rbli_fill fill;      /* default RBLI_FILL_AUTO */
    bool nested_cavity;  /* an outward shell inside another: false (default) = swallowed by the solid, true =
                           turned to a cavity */
    bool self_crossings; /* counts them; default true. False: they are told as 0 */
} rbli_repair_options;
rbli_repair_options rbli_repair_default_options(void);

typedef enum rbli_shell_kind {
    RBLI_SHELL_SOLID,   /* closed, outward */
    RBLI_SHELL_CAVITY,  /* closed, inward, inside a solid */
    RBLI_SHELL_SHEET,   /* could not be closed: `why` says so */
    RBLI_SHELL_DROPPED, /* a fin, a two-sided sheet, a shell without volume */
} rbli_shell_kind;

typedef struct rbli_shell {
    rbli_shell_kind kind;
    int32_t triangle_start, triangle_count; /* in the result */
    int32_t node;                           /* of its first triangle */
    int32_t parent;                         /* the shell that directly contains it, or −1 */
    int32_t open_loop_count, filled_loop_count;
    double volume; /* signed */
    double area, filled_area;
    int32_t self_crossings;   /* pairs of its triangles that cross (share no vertex and intersect) */
    double crossing_place[3]; /* with crossings: the middle of the first triangle that does */
    bool flipped;             /* was turned inside out */
    bool two_sided;           /* dropped because its two sides lie back to back: a fin, a two-sided sheet */
    /* Crosses another shell of the same unit (the same node, or nodes that share a shell), or lies in a solid
       that swallows it: needs the union. A solid whose parent is a solid is swallowed, and so is all that it
       contains: drop it. Shells that only touch do not overlap, but one that touches its container from
       inside crosses it. */
    bool overlaps_other;
    const char *why; /* static text for sheets and dropped shells, else NULL */
} rbli_shell;

/// An open border as given, after weld and stitch, before filling.
typedef struct rbli_hole {
    int32_t shell;
    int32_t edge_count;
    double length;
    double center[3];
    bool filled;
} rbli_hole;

typedef struct rbli_repair_result {
    /* Shells in canonical order (independent of the order of the input's triangles); the triangles of a shell
       are contiguous. Vertices are indexed canonically by position. */
    double (*positions)[3];
    size_t vertex_count;
    int32_t (*triangles)[3];
    size_t triangle_count;
    int32_t *triangle_node;        /* [triangle_count] */
    rbli_triangle_origins origins; /* source −1 − h: filled hole h */
    rbli_shell *shells;
    size_t shell_count;
    rbli_hole *holes;
    size_t hole_count;
    /* What was done, for messages. */
    size_t welded_vertices; /* exact, ordinary */
    size_t stitched_vertices;
    double largest_move;
    size_t split_edges;
    size_t dropped_repeated; /* triangles with a repeated vertex */
    size_t dropped_zero_area;
    size_t dropped_duplicates;                   /* same orientation twice */
    size_t dropped_opposite;                     /* back to back copies removed */
    size_t flipped_triangles;                    /* turned to agree with their shell */
    size_t split_vertices, split_edges_manifold; /* by manifoldising: not a warning by itself */
    size_t nonmanifold_edges;                    /* of more than two triangles, as given after weld */
    size_t membrane_triangles;                   /* inner walls dropped */
} rbli_repair_result;

void rbli_repair_result_destroy(rbl_context *ctx, rbli_repair_result *result); /* NULL is fine */

/// Welds, drops duplicates, stitches, pairs, builds and orients shells, fills holes, decides signs and makes
/// every solid shell manifold: after it each directed edge of the solid and cavity shells of a node is met
/// exactly once by its reverse. Repairing a result again changes nothing. The same result for any order of
/// the input's triangles.
/// @param node     [triangle_count] mesh node of each triangle; shells never span nodes except along stitched
/// edges
/// @param out      set on success only
/// @return RBL_OK (also when no solid is left: the caller decides) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED ·
///         RBL_ERR_ARGUMENT (a position that is not finite: the message names the vertex; an index out of
///         range)
/// Threads: reentrant. Deterministic.
rbl_status rbli_repair(rbl_context *ctx, const rbli_mesh_view *mesh, const int32_t *node,
    const rbli_repair_options *options, rbli_repair_result **out);

#endif
