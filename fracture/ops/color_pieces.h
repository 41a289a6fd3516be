#ifndef RUBBLE_OPS_COLOR_PIECES_H
#define RUBBLE_OPS_COLOR_PIECES_H

/// Colours that tell pieces apart, for looking.

#include "fracture/collection/collection.h"

typedef enum rbli_color_by {
    RBLI_COLOR_LEVEL,
    RBLI_COLOR_BONE,
    RBLI_COLOR_CLUSTER, /* the parent */
    RBLI_COLOR_VOLUME,  /* from blue for nothing to red for the largest, by the square root */
    RBLI_COLOR_MATERIAL,
} rbli_color_by;

/// Sets corner.color of all faces: a hue drawn by the seed for each level, bone, parent or material.
/// @param in  not changed
/// @param out set on success only
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_color_pieces(
    rbl_context *ctx, const rbl_collection *in, rbli_color_by by, uint32_t seed, rbl_collection **out);

#endif
