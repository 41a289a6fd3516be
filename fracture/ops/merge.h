#ifndef RUBBLE_OPS_MERGE_H
#define RUBBLE_OPS_MERGE_H

/// One collection from several.

#include "fracture/collection/collection.h"

/// Puts collections into one, in order: the elements of every group one after another, indices renumbered.
/// Bones whose names are taken get "_2" … appended; materials of the same name become one (the first one's
/// attributes hold), unless they use different images, when names get "_2" … appended, too; equal images become
/// one; numbers of planar cuts (face.origin) stay different. Attributes that only some of the
/// collections have are zero (−1 where that means "none", white for colours) in the others; tangents stay
/// only when all have them. `root`: a new bone above all roots gets this name; NULL: the roots stay roots.
/// Cost: linear. `list` may be empty.
/// @return RBL_OK · RBL_ERR_TYPE (an attribute has different types) · RBL_ERR_LIMIT (2³¹ elements) ·
/// RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY
rbl_status rbli_merge_collections(rbl_context *ctx, const rbl_collection *const *list, size_t count,
    const char *root, rbl_collection **out);

#endif
