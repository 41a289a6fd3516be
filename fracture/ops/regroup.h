#ifndef RUBBLE_OPS_REGROUP_H
#define RUBBLE_OPS_REGROUP_H

/// Changing which parts of a cut make a piece: dropping, joining, and contacts across gaps.

#include "fracture/geometry/cut.h"

/// Joins pieces of one group and drops pieces of group −1. Groups are numbered by their first piece; a piece
/// made of several keeps their surfaces as they are, side by side. Contacts follow; those inside a group go.
/// @param group [piece_count] any number ≥ 0, or −1
/// @return RBL_OK · RBL_ERR_NO_MEMORY (the result is then as it was)
rbl_status rbli_regroup_pieces(rbl_context *ctx, rbli_cut_result *result, const int32_t *group);

/// Gives the pieces of a cut with gaps the contacts that they would have without: the contacts of `whole`,
/// the cut of the same mesh by the complex before it was eroded. A piece of `whole` that the gap parts in
/// several shares its contact areas among them by volume.
/// @param sites, whole_sites  cell_site of both complexes; they name the same cell in both
/// @return RBL_OK · RBL_ERR_NO_MEMORY (the result is then as it was)
rbl_status rbli_contacts_across_gaps(rbl_context *ctx, rbli_cut_result *result, const int32_t *sites,
    const rbli_cut_result *whole, const int32_t *whole_sites, size_t mesh_triangle_count);

#endif
