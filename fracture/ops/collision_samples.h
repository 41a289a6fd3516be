#ifndef RUBBLE_OPS_COLLISION_SAMPLES_H
#define RUBBLE_OPS_COLLISION_SAMPLES_H

/// Points on the surface of pieces, for collisions of points against volumes (level sets).

#include "fracture/collection/hierarchy.h"

/// Most points of all pieces together.
enum { RBLI_MOST_COLLISION_SAMPLES = 2000000 };

/// Sets geometry.collision_samples of the chosen rigid leaves: a list of VEC3 in the bone's frame, first the
/// vertices of the piece in their order, then samples of its surface, so that no point of the surface is
/// farther than `spacing` from one of the list. Other geometries keep what they have, an empty list without.
/// Operations that change the surface of a piece leave it an empty list.
/// @param in        not changed
/// @param selection NULL: all rigid leaves
/// @param spacing   > 0, in the bones' frames
/// @param added     how many samples there are beside the vertices; may be NULL
/// @param out       set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION (selection of another topology) · RBL_ERR_LIMIT (more in
/// all) · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count.
rbl_status rbli_set_collision_samples(rbl_context *ctx, const rbl_collection *in,
    const rbli_selection *selection, double spacing, size_t *added, rbl_collection **out);

/// Leaves geometries whose keep[i] is false an empty list of samples; does nothing without the attribute.
rbl_status rbli_keep_collision_samples(rbl_context *ctx, rbl_collection *collection, const bool *keep);

#endif
