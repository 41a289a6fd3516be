#ifndef RUBBLE_GEOMETRY_CUT_H
#define RUBBLE_GEOMETRY_CUT_H

/// Cuts a closed mesh by a cell complex: one arrangement instead of N booleans (CUT.md).

#include "fracture/geometry/cell_complex.h"
#include "fracture/geometry/mesh.h"

typedef struct rbli_cut_options {
    bool split_islands; /* default true: unconnected parts of a cell become pieces of their own */
    bool drop_outside;  /* default false; true: what lies in the complex's outside cells is no piece, which is
                           cheaper than to drop such pieces afterwards */
    bool
        contacts_only; /* default false; true: pieces have cells, volumes and contacts, but no vertices; triangles
                           only where their cell has several pieces, without corners and weights */
} rbli_cut_options;

/// Parts of the work, in this order: prepare mesh, prepare cells, settle, flood, label vertices, order edges,
/// trace mesh, trace facets, assemble.
enum { RBLI_CUT_PHASES = 9 };

/// Two pieces that share facets.
typedef struct rbli_contact {
    int32_t piece_a, piece_b; /* a < b */
    double area;
} rbli_contact;

/// All pieces. Piece p owns vertices vertex_start[p] … vertex_start[p+1] − 1 and triangles triangle_start[p]
/// …; triangles index `positions` absolutely. Pieces are ordered by cell, islands of a cell by their lowest
/// vertex in the order (x, y, z). Each piece is closed: each directed edge is met exactly once by its
/// reverse.
typedef struct rbli_cut_result {
    size_t piece_count;
    int32_t *piece_cell;     /* [piece_count] */
    double *piece_volume;    /* [piece_count] signed */
    int32_t *vertex_start;   /* [piece_count + 1] */
    int32_t *triangle_start; /* [piece_count + 1] */
    size_t vertex_count, triangle_count;
    double (*positions)[3]; /* original vertices as they came; vertices on shared facets equal to the bit in
                               both pieces */
    int32_t *vertex_source; /* [vertex_count] source vertex, or −1 */
    int32_t (*triangles)[3];
    rbli_triangle_origins origins; /* source −1 − f: a cap triangle on facet f of the complex */
    rbli_contact *contacts;        /* sorted by (a, b) */
    size_t contact_count;
    size_t film_count;     /* parts without volume, thinner than rounding, left out */
    size_t negative_count; /* parts of negative volume that no piece holds (folds): joined to the largest part
                              of their cell or, alone there, left out */
    bool outside_dropped;  /* with drop_outside: something lay in the outside cells */
    size_t split_edge_count; /* edges that got a middle point because a piece would have had them twice */
    double phase_ms[RBLI_CUT_PHASES]; /* CPU times, of rbli_activity_cpu_ns */
} rbli_cut_result;

void rbli_cut_result_destroy(rbl_context *ctx, rbli_cut_result *result); /* NULL is fine */

/// Cuts a closed mesh by a cell complex and returns every piece at once.
///
/// Method: arrangement of the two surfaces with exact decisions and symbolic perturbation (Edelsbrunner and
/// Mücke 1990).
/// @param mesh     closed, consistently oriented (signed volume positive as a whole; nested inward shells are
///                 cavities; crossings inside a shell are allowed, windings may then exceed 1 and volumes are
///                 signed)
/// @param complex  conforming; must contain the mesh's bounds strictly
/// @param out      set on success only; rbli_cut_result_destroy
/// @param options  NULL: islands are split
/// @return RBL_OK · RBL_ERR_OPEN_MESH with the first open edge · RBL_ERR_ARGUMENT (an index out of range, a
///         coordinate that is not finite, a complex that does not contain the mesh) · RBL_ERR_LIMIT (too
///         large for 32-bit indices) · RBL_ERR_INTERNAL (a complex that folds or is not conforming; the
///         message says where) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: reentrant; uses the context's pool. Same bytes for any thread count. Cost: O((triangles + facets)
/// log + output).
rbl_status rbli_cut(rbl_context *ctx, const rbli_mesh_view *mesh, const rbli_cell_complex *complex,
    const rbli_cut_options *options, rbli_cut_result **out);

#endif
