#ifndef RUBBLE_OPS_EXPLODED_VIEW_H
#define RUBBLE_OPS_EXPLODED_VIEW_H

/// Pieces moved apart, for looking.

#include "fracture/collection/collection.h"

/// Moves each bone away from its parent's centre by `scale` times the way between the centres of their
/// bounding boxes in world space; clusters carry their children along. Transforms alone change.
/// @param in  not changed; shares everything but bone.transform
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY
rbl_status rbli_exploded_view(rbl_context *ctx, const rbl_collection *in, double scale, rbl_collection **out);

#endif
