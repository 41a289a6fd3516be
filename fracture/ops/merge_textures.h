#ifndef RUBBLE_OPS_MERGE_TEXTURES_H
#define RUBBLE_OPS_MERGE_TEXTURES_H

/// What merging does with images and textures.

#include "fracture/collection/material.h"

/// Keeps of equal images (content and type) of several collections the first alone, and lets textures refer to
/// images by their number in all of them together: texture.image is not to be shifted any more. Replaces entries of
/// `list` by copies.
/// @param copies [count] NULL or the copy in `list`, to be released by the caller, also after an error
/// @return RBL_OK · RBL_ERR_NO_MEMORY · RBL_ERR_LIMIT
rbl_status rbli_merge_share_images(
    rbl_context *ctx, const rbl_collection **list, size_t count, rbl_collection **copies);
/// Whether two materials use the same images in the same roles.
bool rbli_materials_same_images(const rbl_collection *collection, size_t a, size_t b);
/// Removes textures that no material refers to, and images that no texture does.
rbl_status rbli_drop_unused_textures(rbl_context *ctx, rbl_collection *collection);
/// Makes names of materials unique: "_2" … is appended to those of earlier ones.
rbl_status rbli_materials_unique_names(rbl_context *ctx, rbl_collection *collection);

#endif
