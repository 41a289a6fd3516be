#ifndef RUBBLE_COLLECTION_MATERIAL_H
#define RUBBLE_COLLECTION_MATERIAL_H

/// Materials, textures and images of a collection as structures. A material refers to elements of the group
/// `texture`, a texture to an element of `image`; the bytes of an image are never decoded. Attributes are as
/// in schema.h; each may be missing and then counts as its default. The model is that of glTF 2.0.
/// Threads: reading is reentrant.

#include "fracture/collection/collection.h"

enum {
    RBLI_TEXTURE_BASE_COLOR,
    RBLI_TEXTURE_METALLIC_ROUGHNESS,
    RBLI_TEXTURE_NORMAL,
    RBLI_TEXTURE_OCCLUSION,
    RBLI_TEXTURE_EMISSIVE,
    RBLI_TEXTURE_ROLES
};

typedef enum rbli_alpha_mode {
    RBLI_ALPHA_AUTO = -1, /* blend where the base colour's alpha is below 1, else opaque */
    RBLI_ALPHA_OPAQUE = 0,
    RBLI_ALPHA_MASK = 1,
    RBLI_ALPHA_BLEND = 2,
} rbli_alpha_mode;

/// All but name and base colour.
typedef struct rbli_material {
    float metallic, roughness, emissive[3]; /* 0 … 1, linear */
    float alpha_cutoff, normal_scale, occlusion_strength;
    int32_t alpha_mode; /* rbli_alpha_mode */
    bool double_sided;
    int32_t textures[RBLI_TEXTURE_ROLES]; /* elements of `texture`, or −1 */
} rbli_material;

/// Repeat, clamp, mirror and filters are numbered as in OpenGL and glTF; a filter of 0 is not chosen.
enum { RBLI_WRAP_REPEAT = 10497, RBLI_WRAP_CLAMP = 33071, RBLI_WRAP_MIRROR = 33648 };

typedef struct rbli_texture {
    int32_t image;                       /* or −1 */
    int32_t uv_set;                      /* 0 … 7 */
    int32_t wrap[2], filter[2];          /* filter: magnified, minified */
    float offset[2], scale[2], rotation; /* as in KHR_texture_transform */
} rbli_texture;

typedef struct rbli_image_view {
    const uint8_t *bytes; /* borrowed from the collection */
    size_t byte_count;
    const char *name, *mime_type;
} rbli_image_view;

rbli_material rbli_material_default(void); /* not a metal, roughness 0.9, no textures */
rbli_texture rbli_texture_default(void);   /* repeats, moved nowhere, no image */

/// Element `index`, numbers that are out of range replaced by their nearest or default ones, references that
/// lead nowhere by −1 (empty view).
rbli_material rbli_material_get(const rbl_collection *collection, size_t index);
rbli_texture rbli_texture_get(const rbl_collection *collection, size_t index);
rbli_image_view rbli_image_get(const rbl_collection *collection, size_t index);

/// Sets all materials. Attributes in which all of them have the default are not made.
/// @return RBL_OK · RBL_ERR_NO_MEMORY
rbl_status rbli_materials_set(
    rbl_context *ctx, rbl_collection *collection, const rbli_material *materials, size_t count);
/// Gives materials from `first` on the defaults of the attributes that exist: after the group has grown.
rbl_status rbli_materials_fill(rbl_context *ctx, rbl_collection *collection, size_t first);
/// Makes the groups `texture` and `image` anew. Nothing when there is neither.
rbl_status rbli_textures_set(rbl_context *ctx, rbl_collection *collection, const rbli_texture *textures,
    size_t texture_count, const rbli_image_view *images, size_t image_count);

/// What the first bytes say: image/png, image/jpeg, image/webp, image/ktx2, image/bmp, image/gif or
/// image/vnd-ms.dds; NULL for others.
const char *rbli_image_type_of_bytes(const uint8_t *bytes, size_t byte_count);
/// ".png" for "image/png" and so on; ".bin" for what is not known.
const char *rbli_image_extension(const char *mime_type);

/// Whether references, sizes and numbers of the groups material, texture and image are as schema.h says.
/// @return RBL_OK · RBL_ERR_COLLECTION with a message
rbl_status rbli_materials_check(rbl_context *ctx, const rbl_collection *collection);

#endif
