/// Materials of glTF 2.0: the metallic-roughness model, its textures with sampler and KHR_texture_transform, and
/// their images from buffer views, data URIs and files.

#include <math.h>
#include <stdio.h>

#include "fracture/io/gltf_document.h"

/// Name of an image inside the file.
static char *embedded_name(rbli_gltf_document *document, size_t index)
{
    const char *name = rbli_gltf_string(document->images.items[index], "name");
    if (name && *name) return rbli_clean_text(document->ctx, name, strlen(name), "image");
    return rbli_format(document->ctx, "image_%zu", index);
}

static bool is_file_uri(const char *uri)
{
    return uri && strncmp(uri, "data:", 5) != 0;
}

/// Adds an image that the document holds.
static rbl_status embed_image(rbli_gltf_document *document, size_t index, int32_t *out)
{
    rbl_context *ctx = document->ctx;
    const cJSON *item = document->images.items[index];
    const char *uri = rbli_gltf_string(item, "uri"), *mime_type = rbli_gltf_string(item, "mimeType");
    rbl_status status = RBL_OK;
    uint8_t *owned = NULL;
    const uint8_t *bytes = NULL;
    size_t byte_count = 0;
    char pointer[40], *name = embedded_name(document, index);
    snprintf(pointer, sizeof pointer, "/images/%zu", index);
    RBL_TRY_ALLOC(name);
    if (uri) {
        if (strlen(uri) / 4 * 3 > RBLI_MOST_IMAGE_BYTES + 1000u) {
            status = rbli_gltf_fail(document, pointer, "a data URI that is too large");
            goto done;
        }
        RBL_TRY(rbli_gltf_decode_data_uri(document, pointer, uri, &owned, &byte_count));
        bytes = owned;
    } else {
        int64_t view;
        RBL_TRY(rbli_gltf_index(document, item, pointer, "bufferView", document->view_count, &view));
        if (view < 0) {
            status = rbli_gltf_fail(document, pointer, "neither \"uri\" nor \"bufferView\"");
            goto done;
        }
        RBL_TRY(rbli_gltf_view_bytes(document, (size_t)view, &bytes, &byte_count));
    }
    status = rbli_builder_add_image(document->builder, name, "", mime_type, bytes, byte_count, out);
done:
    rbli_free(ctx, name);
    rbli_free(ctx, owned);
    return status;
}

/// The image of the mesh file for one of the document; −1 when it is left out.
static rbl_status add_image(rbli_gltf_document *document, size_t index, int32_t *out)
{
    rbl_context *ctx = document->ctx;
    rbl_status status = RBL_OK;
    char *relative = NULL;
    if (!document->image_of) {
        document->image_of = rbli_alloc(ctx, document->images.count, sizeof *document->image_of);
        RBL_TRY_ALLOC(document->image_of);
        for (size_t i = 0; i < document->images.count; i++)
            document->image_of[i] = -2;
    }
    *out = document->image_of[index];
    if (*out > -2) return RBL_OK;
    *out = -1;
    const char *uri = rbli_gltf_string(document->images.items[index], "uri");
    if (is_file_uri(uri)) {
        RBL_TRY_ALLOC(relative = rbli_gltf_decode_uri(ctx, uri));
        RBL_TRY(rbli_builder_load_image(document->builder, document->folder, relative, out));
    } else {
        rbl_context quiet = *ctx;
        quiet.messages = NULL;
        document->ctx = &quiet;
        status = embed_image(document, index, out);
        document->ctx = ctx;
        if (status == RBL_ERR_PARSE || status == RBL_ERR_READ || status == RBL_ERR_LIMIT)
            status = rbli_builder_message(document->builder, RBLI_WARNING,
                ": /images/%zu: its bytes cannot be had, the image is left out", index);
    }
    if (status == RBL_OK) document->image_of[index] = *out;
done:
    rbli_free(ctx, relative);
    return status;
}

/// The image of a texture: its source, or where there is none that of an extension for other kinds of images.
static rbl_status texture_image(
    rbli_gltf_document *document, const cJSON *texture, const char *pointer, int64_t *out)
{
    static const char *const names[] = {
        "EXT_texture_webp", "KHR_texture_basisu", "EXT_texture_avif", "MSFT_texture_dds"};
    rbl_status status = rbli_gltf_index(document, texture, pointer, "source", document->images.count, out);
    const cJSON *extensions = cJSON_GetObjectItemCaseSensitive(texture, "extensions");
    for (size_t i = 0; status == RBL_OK && *out < 0 && i < sizeof names / sizeof *names; i++)
        status = rbli_gltf_index(document, cJSON_GetObjectItemCaseSensitive(extensions, names[i]), pointer,
            "source", document->images.count, out);
    return status;
}

static int32_t number_of(const cJSON *object, const char *key, int32_t missing)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valueint : missing;
}

static float float_of(const cJSON *object, const char *key, float missing)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) && isfinite((float)item->valuedouble) ? (float)item->valuedouble : missing;
}

static float fraction_of(const cJSON *object, const char *key, float missing)
{
    float value = float_of(object, key, missing);
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

static void read_sampler(const cJSON *sampler, rbli_texture *texture)
{
    texture->wrap[0] = number_of(sampler, "wrapS", RBLI_WRAP_REPEAT);
    texture->wrap[1] = number_of(sampler, "wrapT", RBLI_WRAP_REPEAT);
    texture->filter[0] = number_of(sampler, "magFilter", 0);
    texture->filter[1] = number_of(sampler, "minFilter", 0);
}

static rbl_status read_uv_transform(
    rbli_gltf_document *document, const cJSON *info, const char *pointer, rbli_texture *texture)
{
    rbl_status status = RBL_OK;
    double offset[2] = {0, 0}, scale[2] = {1, 1};
    bool found;
    texture->uv_set = number_of(info, "texCoord", 0);
    const cJSON *transform = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(info, "extensions"), "KHR_texture_transform");
    RBL_TRY(rbli_gltf_numbers(document, transform, pointer, "offset", 2, offset, &found));
    RBL_TRY(rbli_gltf_numbers(document, transform, pointer, "scale", 2, scale, &found));
    for (int k = 0; k < 2; k++) {
        texture->offset[k] = rbli_finite_float(offset[k]);
        texture->scale[k] = rbli_finite_float(scale[k]);
    }
    texture->rotation = float_of(transform, "rotation", 0);
    texture->uv_set = number_of(transform, "texCoord", texture->uv_set);
    if (texture->uv_set < 0 || texture->uv_set >= RBLI_MESH_FILE_UV_SETS) texture->uv_set = 0;
done:
    return status;
}

/// One texture of a material: object[key]. *out stays when there is none.
static rbl_status read_texture(rbli_gltf_document *document, const cJSON *object, const char *key,
    const char *pointer, int32_t *out, int64_t *image)
{
    rbl_status status = RBL_OK;
    const cJSON *info = cJSON_GetObjectItemCaseSensitive(object, key);
    int64_t index, sampler;
    rbli_texture texture = rbli_texture_default();
    *image = RBLI_GLTF_NONE;
    RBL_TRY(rbli_gltf_index(document, info, pointer, "index", document->textures.count, &index));
    if (index < 0) return RBL_OK;
    const cJSON *item = document->textures.items[index];
    RBL_TRY(texture_image(document, item, pointer, image));
    if (*image < 0) return RBL_OK;
    RBL_TRY(add_image(document, (size_t)*image, &texture.image));
    if (texture.image < 0) return RBL_OK;
    RBL_TRY(rbli_gltf_index(document, item, pointer, "sampler", document->samplers.count, &sampler));
    if (sampler >= 0) read_sampler(document->samplers.items[sampler], &texture);
    RBL_TRY(read_uv_transform(document, info, pointer, &texture));
    status = rbli_builder_add_texture(document->builder, &texture, out);
done:
    return status;
}

/// What the base colour's image is called: its file, or "embedded:" and a name.
static rbl_status name_texture(rbli_gltf_document *document, size_t image, char **out)
{
    rbl_context *ctx = document->ctx;
    rbl_status status = RBL_OK;
    const char *uri = rbli_gltf_string(document->images.items[image], "uri");
    char *raw = NULL, *clean = NULL;
    if (is_file_uri(uri)) {
        RBL_TRY_ALLOC(raw = rbli_gltf_decode_uri(ctx, uri));
    } else {
        RBL_TRY_ALLOC(clean = embedded_name(document, image));
        RBL_TRY_ALLOC(raw = rbli_format(ctx, "embedded:%s", clean));
    }
    char *text = rbli_clean_text(ctx, raw, strlen(raw), "");
    RBL_TRY_ALLOC(text);
    rbli_free(ctx, *out);
    *out = text;
done:
    rbli_free(ctx, clean);
    rbli_free(ctx, raw);
    return status;
}

static rbl_status read_surface(
    rbli_gltf_document *document, const cJSON *json, const char *pointer, rbli_material *look)
{
    rbl_status status = RBL_OK;
    double emissive[3] = {0, 0, 0};
    int64_t image;
    bool found;
    RBL_TRY(rbli_gltf_numbers(document, json, pointer, "emissiveFactor", 3, emissive, &found));
    for (int k = 0; k < 3; k++)
        look->emissive[k] = emissive[k] > 0 ? emissive[k] < 1 ? (float)emissive[k] : 1 : 0;
    const char *mode = rbli_gltf_string(json, "alphaMode");
    look->alpha_mode = mode && strcmp(mode, "MASK") == 0    ? RBLI_ALPHA_MASK
                       : mode && strcmp(mode, "BLEND") == 0 ? RBLI_ALPHA_BLEND
                                                            : RBLI_ALPHA_OPAQUE;
    look->alpha_cutoff = float_of(json, "alphaCutoff", 0.5f);
    if (look->alpha_cutoff < 0) look->alpha_cutoff = 0;
    look->double_sided = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "doubleSided"));
    look->normal_scale = float_of(cJSON_GetObjectItemCaseSensitive(json, "normalTexture"), "scale", 1);
    look->occlusion_strength =
        fraction_of(cJSON_GetObjectItemCaseSensitive(json, "occlusionTexture"), "strength", 1);
    RBL_TRY(
        read_texture(document, json, "normalTexture", pointer, &look->textures[RBLI_TEXTURE_NORMAL], &image));
    RBL_TRY(read_texture(
        document, json, "occlusionTexture", pointer, &look->textures[RBLI_TEXTURE_OCCLUSION], &image));
    RBL_TRY(read_texture(
        document, json, "emissiveTexture", pointer, &look->textures[RBLI_TEXTURE_EMISSIVE], &image));
done:
    return status;
}

rbl_status rbli_gltf_add_material(rbli_gltf_document *document, size_t index)
{
    rbli_mesh_builder *builder = document->builder;
    rbl_status status = RBL_OK;
    const cJSON *json = document->materials.items[index];
    char numbered[40], pointer[40];
    snprintf(numbered, sizeof numbered, "material_%zu", index);
    snprintf(pointer, sizeof pointer, "/materials/%zu", index);
    const char *name = rbli_gltf_string(json, "name");
    if (!name || !*name) name = numbered;
    RBL_TRY(rbli_builder_add_material(builder, name, strlen(name)));
    rbli_mesh_file_material *material = &builder->file.materials[builder->file.material_count - 1];
    rbli_material *look = &material->look;
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(json, "pbrMetallicRoughness");
    const cJSON *extensions = cJSON_GetObjectItemCaseSensitive(json, "extensions");
    const cJSON *older = cJSON_GetObjectItemCaseSensitive(extensions, "KHR_materials_pbrSpecularGlossiness");
    bool use_older = !model && older;
    if (use_older) {
        model = older;
        look->roughness = 1 - fraction_of(model, "glossinessFactor", 1);
    } else {
        look->metallic = fraction_of(model, "metallicFactor", 1);
        look->roughness = fraction_of(model, "roughnessFactor", 1);
    }
    double color[4] = {1, 1, 1, 1};
    bool found;
    int64_t image;
    RBL_TRY(rbli_gltf_numbers(
        document, model, pointer, use_older ? "diffuseFactor" : "baseColorFactor", 4, color, &found));
    for (int k = 0; k < 4; k++)
        material->base_color[k] = color[k] >= 0 ? color[k] <= 1 ? (float)color[k] : 1 : 0;
    RBL_TRY(read_texture(document, model, "metallicRoughnessTexture", pointer,
        &look->textures[RBLI_TEXTURE_METALLIC_ROUGHNESS], &image));
    RBL_TRY(read_texture(document, model, use_older ? "diffuseTexture" : "baseColorTexture", pointer,
        &look->textures[RBLI_TEXTURE_BASE_COLOR], &image));
    if (image >= 0) RBL_TRY(name_texture(document, (size_t)image, &material->texture));
    RBL_TRY(read_surface(document, json, pointer, look));
    if (look->alpha_mode == RBLI_ALPHA_OPAQUE && material->base_color[3] >= 1)
        look->alpha_mode = RBLI_ALPHA_AUTO; /* which is the same */
done:
    return status;
}
