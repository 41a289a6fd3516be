#ifndef RUBBLE_OPS_FINISH_H
#define RUBBLE_OPS_FINISH_H

/// The last step of an asset.

#include "fracture/collection/collection.h"
#include "fracture/ops/asset_stats.h"

/// Gives the collection one root (several roots become children of a new one named "root"), levels, volumes
/// and bounds of geometries, and the attributes bone.volume (DOUBLE), bone.bounds_min and bone.bounds_max
/// (VEC3): world space, of all that is below a bone.
/// @param in  not changed; shares untouched arrays
/// @param out   set on success only
/// @param stats of *out, set on success only; rbli_asset_stats_free
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_finish_asset(
    rbl_context *ctx, const rbl_collection *in, rbl_collection **out, rbli_asset_stats *stats);

/// Several roots become children of a new one named "root", keeping their places in the world.
/// @param roots receives how many there were; may be NULL
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY
rbl_status rbli_join_roots(rbl_context *ctx, rbl_collection *collection, size_t *roots);

#endif
