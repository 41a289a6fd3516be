#ifndef RUBBLE_OPS_TRIM_SHEET_H
#define RUBBLE_OPS_TRIM_SHEET_H

/// What of a sheet stands out of a solid.

#include "fracture/geometry/cut_sheet.h"
#include "fracture/geometry/mesh.h"

/// Cuts a sheet by a solid and leaves out what lies inside. What lies on the surface, or where the solid
/// crosses itself, stays.
/// @param solid closed and oriented
/// @param out   set on success only: NULL when nothing lies inside, else the parts that are left (perhaps
///              none), each a fragment, their origins in `sheet`; rbli_sheet_fragments_destroy
/// @return as rbli_cut_sheet. Threads: reentrant; uses the context's pool. Deterministic.
rbl_status rbli_trim_sheet(
    rbl_context *ctx, const rbli_mesh_view *sheet, const rbli_mesh_view *solid, rbli_sheet_fragments **out);

/// Turns fragments of fragments into fragments of the sheet: `inner` are fragments of the mesh that `outer`
/// holds, and get the origins that `outer` has.
rbl_status rbli_compose_fragments(
    rbl_context *ctx, const rbli_sheet_fragments *outer, rbli_sheet_fragments *inner);

#endif
