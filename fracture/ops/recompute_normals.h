#ifndef RUBBLE_OPS_RECOMPUTE_NORMALS_H
#define RUBBLE_OPS_RECOMPUTE_NORMALS_H

/// Normals and tangents of pieces, made anew.

#include "fracture/collection/hierarchy.h"

typedef struct rbli_normals_options {
    const rbli_selection *selection; /* NULL: all geometries, sheets too; else chosen rigid leaves */
    bool only_internal;              /* default true: corners of cut faces alone are changed */
    double sharp_edge_rad;           /* default π/3: normals are split at edges of a larger angle */
    bool only_tangents;              /* default false: normals stay */
} rbli_normals_options;
rbli_normals_options rbli_normals_default_options(void);

/// Writes corner.normal (rbli_smooth_normals; edges between cut and other faces are sharp) and, where there
/// are UVs, corner.tangent of corner.uv0 (rbli_corner_tangents). Where there are no tangents yet, all corners get them,
/// whatever the selection.
/// @param in  not changed; positions and faces stay shared
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology; only_tangents without corner.uv0) ·
/// RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count.
rbl_status rbli_recompute_normals(
    rbl_context *ctx, const rbl_collection *in, const rbli_normals_options *options, rbl_collection **out);

#endif
