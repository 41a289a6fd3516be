/// Materials, textures, samplers and images of a GLB. An image is written once, as it came; only PNG and JPEG,
/// which are what glTF 2.0 can hold without an extension.

#include "fracture/io/glb_writer.h"

static bool can_hold(const rbli_image_view *image)
{
    return image->byte_count > 0 &&
           (strcmp(image->mime_type, "image/png") == 0 || strcmp(image->mime_type, "image/jpeg") == 0);
}

/// Whether a texture lies on its UV set as it is.
static bool is_transformed(const rbli_texture *texture)
{
    return texture->offset[0] != 0 || texture->offset[1] != 0 || texture->scale[0] != 1 ||
           texture->scale[1] != 1 || texture->rotation != 0;
}

/// The number of a texture's sampler, added if new; −1 for one that chooses nothing. There are at most 189
/// different ones.
static rbl_status number_sampler(glb_writer *writer, const rbli_texture *texture, int32_t *out)
{
    const glb_sampler sampler = {
        {texture->wrap[0], texture->wrap[1]}, {texture->filter[0], texture->filter[1]}};
    *out = -1;
    if (sampler.wrap[0] == RBLI_WRAP_REPEAT && sampler.wrap[1] == RBLI_WRAP_REPEAT && !sampler.filter[0] &&
        !sampler.filter[1])
        return RBL_OK;
    for (size_t i = 0; i < writer->samplers.count; i++)
        if (memcmp(&writer->samplers.data[i], &sampler, sizeof sampler) == 0) {
            *out = (int32_t)i;
            return RBL_OK;
        }
    *out = (int32_t)writer->samplers.count;
    return rbli_array_push(writer->ctx, &writer->samplers, sampler);
}

/// Gives a texture and its image numbers in the file, unless it has them or cannot be written.
static rbl_status use_texture(glb_writer *writer, int32_t index)
{
    const rbl_collection *collection = writer->view.collection;
    rbl_status status = RBL_OK;
    if (index < 0 || writer->texture_numbers[index] >= 0) return RBL_OK;
    glb_texture out = {.texture = rbli_texture_get(collection, (size_t)index)};
    int32_t image = out.texture.image;
    if (image < 0 || out.texture.uv_set >= writer->split.uv_sets) return RBL_OK;
    rbli_image_view bytes = rbli_image_get(collection, (size_t)image);
    if (!can_hold(&bytes)) {
        writer->report.left_out_images += writer->image_numbers[image] == -1;
        writer->image_numbers[image] = -2;
        return RBL_OK;
    }
    if (writer->image_numbers[image] < 0) {
        writer->image_numbers[image] = (int32_t)writer->images.count;
        RBL_TRY(rbli_array_push(writer->ctx, &writer->images, bytes));
    }
    out.image = writer->image_numbers[image];
    RBL_TRY(number_sampler(writer, &out.texture, &out.sampler));
    if (is_transformed(&out.texture)) writer->texture_transforms = true;
    writer->texture_numbers[index] = (int32_t)writer->textures.count;
    status = rbli_array_push(writer->ctx, &writer->textures, out);
done:
    return status;
}

rbl_status rbli_glb_collect_textures(glb_writer *writer)
{
    const rbl_collection *collection = writer->view.collection;
    size_t texture_count = rbli_collection_size(collection, "texture");
    size_t image_count = rbli_collection_size(collection, "image");
    rbl_status status = RBL_OK;
    writer->texture_numbers = rbli_alloc(writer->ctx, texture_count, sizeof *writer->texture_numbers);
    writer->image_numbers = rbli_alloc(writer->ctx, image_count, sizeof *writer->image_numbers);
    RBL_TRY_ALLOC(writer->texture_numbers);
    RBL_TRY_ALLOC(writer->image_numbers);
    for (size_t t = 0; t < texture_count; t++)
        writer->texture_numbers[t] = -1;
    for (size_t i = 0; i < image_count; i++)
        writer->image_numbers[i] = -1;
    if (writer->primitives.count == 0) return RBL_OK; /* no buffer, so no place for images */
    for (size_t m = 0; m < writer->view.material_count; m++) {
        rbli_material look = rbli_material_get(collection, m);
        for (int role = 0; role < RBLI_TEXTURE_ROLES; role++)
            RBL_TRY(use_texture(writer, look.textures[role]));
    }
done:
    return status;
}

void rbli_glb_free_textures(glb_writer *writer)
{
    rbli_free(writer->ctx, writer->texture_numbers);
    rbli_free(writer->ctx, writer->image_numbers);
    rbli_free(writer->ctx, writer->textures.data);
    rbli_free(writer->ctx, writer->samplers.data);
    rbli_free(writer->ctx, writer->images.data);
}

static void put_floats(rbli_text_out *json, const char *key, const float *values, size_t count)
{
    double wide[4];
    for (size_t i = 0; i < count; i++)
        wide[i] = (double)values[i];
    rbli_put(json, key);
    rbli_glb_put_numbers(json, wide, count);
}

static void put_float(rbli_text_out *json, const char *key, float value)
{
    rbli_put(json, key);
    rbli_put_double(json, (double)value);
}

/// `key{"index":…}` of a material's texture; nothing when it is not in the file.
static void put_texture_info(
    const glb_writer *writer, rbli_text_out *json, const char *key, const rbli_material *look, int role)
{
    int32_t number = look->textures[role] < 0 ? -1 : writer->texture_numbers[look->textures[role]];
    if (number < 0) return;
    const rbli_texture *texture = &writer->textures.data[number].texture;
    rbli_put(json, key);
    rbli_put_format(json, "{\"index\":%d", (int)number);
    if (texture->uv_set) rbli_put_format(json, ",\"texCoord\":%d", (int)texture->uv_set);
    if (role == RBLI_TEXTURE_NORMAL && look->normal_scale != 1)
        put_float(json, ",\"scale\":", look->normal_scale);
    if (role == RBLI_TEXTURE_OCCLUSION && look->occlusion_strength != 1)
        put_float(json, ",\"strength\":", look->occlusion_strength);
    if (is_transformed(texture)) {
        put_floats(json, ",\"extensions\":{\"KHR_texture_transform\":{\"offset\":", texture->offset, 2);
        put_float(json, ",\"rotation\":", texture->rotation);
        put_floats(json, ",\"scale\":", texture->scale, 2);
        rbli_put(json, "}}");
    }
    rbli_put(json, "}");
}

static void put_material(const glb_writer *writer, rbli_text_out *json, size_t index)
{
    const rbl_collection *collection = writer->view.collection;
    const rbli_material look = rbli_material_get(collection, index);
    float color[4];
    rbli_material_color(&writer->view, index, color);
    rbli_put(json, "{\"name\":");
    rbli_put_json_string(json, rbli_collection_string(collection, "material", "name", index));
    put_floats(json, ",\"pbrMetallicRoughness\":{\"baseColorFactor\":", color, 4);
    put_texture_info(writer, json, ",\"baseColorTexture\":", &look, RBLI_TEXTURE_BASE_COLOR);
    put_float(json, ",\"metallicFactor\":", look.metallic);
    put_float(json, ",\"roughnessFactor\":", look.roughness);
    put_texture_info(writer, json, ",\"metallicRoughnessTexture\":", &look, RBLI_TEXTURE_METALLIC_ROUGHNESS);
    rbli_put(json, "}");
    put_texture_info(writer, json, ",\"normalTexture\":", &look, RBLI_TEXTURE_NORMAL);
    put_texture_info(writer, json, ",\"occlusionTexture\":", &look, RBLI_TEXTURE_OCCLUSION);
    put_texture_info(writer, json, ",\"emissiveTexture\":", &look, RBLI_TEXTURE_EMISSIVE);
    if (look.emissive[0] > 0 || look.emissive[1] > 0 || look.emissive[2] > 0)
        put_floats(json, ",\"emissiveFactor\":", look.emissive, 3);
    if (look.alpha_mode == RBLI_ALPHA_MASK) {
        rbli_put(json, ",\"alphaMode\":\"MASK\"");
        if (look.alpha_cutoff != 0.5f) put_float(json, ",\"alphaCutoff\":", look.alpha_cutoff);
    } else if (look.alpha_mode == RBLI_ALPHA_BLEND || (look.alpha_mode == RBLI_ALPHA_AUTO && color[3] < 1)) {
        rbli_put(json, ",\"alphaMode\":\"BLEND\"");
    }
    if (look.double_sided) rbli_put(json, ",\"doubleSided\":true");
    rbli_put(json, "}");
}

static void put_samplers(const glb_writer *writer, rbli_text_out *json)
{
    for (size_t i = 0; i < writer->samplers.count; i++) {
        const glb_sampler *sampler = &writer->samplers.data[i];
        rbli_put(json, i ? "," : ",\"samplers\":[");
        rbli_put_format(json, "{\"wrapS\":%d,\"wrapT\":%d", (int)sampler->wrap[0], (int)sampler->wrap[1]);
        if (sampler->filter[0]) rbli_put_format(json, ",\"magFilter\":%d", (int)sampler->filter[0]);
        if (sampler->filter[1]) rbli_put_format(json, ",\"minFilter\":%d", (int)sampler->filter[1]);
        rbli_put(json, "}");
    }
    if (writer->samplers.count > 0) rbli_put(json, "]");
}

void rbli_glb_put_materials(const glb_writer *writer, rbli_text_out *json, size_t first_image_view)
{
    for (size_t m = 0; m < writer->view.material_count; m++) {
        rbli_put(json, m ? "," : ",\"materials\":[");
        put_material(writer, json, m);
    }
    if (writer->view.material_count > 0) rbli_put(json, "]");
    for (size_t t = 0; t < writer->textures.count; t++) {
        const glb_texture *texture = &writer->textures.data[t];
        rbli_put(json, t ? "," : ",\"textures\":[");
        if (texture->sampler >= 0)
            rbli_put_format(
                json, "{\"sampler\":%d,\"source\":%d}", (int)texture->sampler, (int)texture->image);
        else
            rbli_put_format(json, "{\"source\":%d}", (int)texture->image);
    }
    if (writer->textures.count > 0) rbli_put(json, "]");
    put_samplers(writer, json);
    for (size_t i = 0; i < writer->images.count; i++) {
        const rbli_image_view *image = &writer->images.data[i];
        rbli_put(json, i ? ",{\"name\":" : ",\"images\":[{\"name\":");
        rbli_put_json_string(json, image->name);
        rbli_put(json, ",\"mimeType\":");
        rbli_put_json_string(json, image->mime_type);
        rbli_put_format(json, ",\"bufferView\":%zu}", first_image_view + i);
    }
    if (writer->images.count > 0) rbli_put(json, "]");
}
