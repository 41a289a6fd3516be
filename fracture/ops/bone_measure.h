#ifndef RUBBLE_OPS_BONE_MEASURE_H
#define RUBBLE_OPS_BONE_MEASURE_H

/// Bounds, volume and centre of bones in world space, of each all that is below it.

#include "fracture/ops/proximity.h"

/// Of rigid leaves and of clusters above them; a bone with no leaf at or below it has volume 0, low > high
/// and the centre of its frame.
typedef struct rbli_bone_measure {
    double (*low)[3], (*high)[3]; /* [bone count] */
    double *volume;               /* [bone count] signed volume of the surfaces */
    double (*center)[3];          /* [bone count] centroid of the volume; of the bounds where that is 0 */
} rbli_bone_measure;

/// @param surface of the same collection
/// @param out     set on success only; rbli_bone_measure_free
/// @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
/// Threads: uses the context's pool. Same bytes for any thread count. Cost: linear.
rbl_status rbli_bone_measure_build(rbl_context *ctx, const rbl_collection *collection,
    const rbli_world_surface *surface, rbli_bone_measure *out);
void rbli_bone_measure_free(rbl_context *ctx, rbli_bone_measure *measure); /* what is in it */

#endif
