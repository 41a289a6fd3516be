#include "fracture/collection/material.h"

#include <math.h>
#include <string.h>

#include "fracture/base/alloc.h"

static const char *const texture_names[RBLI_TEXTURE_ROLES] = {"base_color_texture",
    "metallic_roughness_texture", "normal_texture", "occlusion_texture", "emissive_texture"};

rbli_material rbli_material_default(void)
{
    return (rbli_material){.roughness = 0.9f,
        .alpha_cutoff = 0.5f,
        .normal_scale = 1,
        .occlusion_strength = 1,
        .alpha_mode = RBLI_ALPHA_AUTO,
        .textures = {-1, -1, -1, -1, -1}};
}

rbli_texture rbli_texture_default(void)
{
    return (rbli_texture){.image = -1, .wrap = {RBLI_WRAP_REPEAT, RBLI_WRAP_REPEAT}, .scale = {1, 1}};
}

/* ---- Attributes of materials and where they are in the structure ---- */

typedef struct field {
    const char *name;
    rbl_type type;
    size_t offset;
} field;

static const field material_fields[] = {
    {"metallic", RBL_FLOAT, offsetof(rbli_material, metallic)},
    {"roughness", RBL_FLOAT, offsetof(rbli_material, roughness)},
    {"emissive", RBL_FLOAT_3, offsetof(rbli_material, emissive)},
    {"alpha_cutoff", RBL_FLOAT, offsetof(rbli_material, alpha_cutoff)},
    {"normal_scale", RBL_FLOAT, offsetof(rbli_material, normal_scale)},
    {"occlusion_strength", RBL_FLOAT, offsetof(rbli_material, occlusion_strength)},
    {"alpha_mode", RBL_INT32, offsetof(rbli_material, alpha_mode)},
    {"double_sided", RBL_BOOL, offsetof(rbli_material, double_sided)},
    {"base_color_texture", RBL_INT32, offsetof(rbli_material, textures[0])},
    {"metallic_roughness_texture", RBL_INT32, offsetof(rbli_material, textures[1])},
    {"normal_texture", RBL_INT32, offsetof(rbli_material, textures[2])},
    {"occlusion_texture", RBL_INT32, offsetof(rbli_material, textures[3])},
    {"emissive_texture", RBL_INT32, offsetof(rbli_material, textures[4])},
};
static const field texture_fields[] = {
    {"image", RBL_INT32, offsetof(rbli_texture, image)},
    {"uv_set", RBL_INT32, offsetof(rbli_texture, uv_set)},
    {"wrap", RBL_INT32_2, offsetof(rbli_texture, wrap)},
    {"filter", RBL_INT32_2, offsetof(rbli_texture, filter)},
    {"offset", RBL_FLOAT_2, offsetof(rbli_texture, offset)},
    {"scale", RBL_FLOAT_2, offsetof(rbli_texture, scale)},
    {"rotation", RBL_FLOAT, offsetof(rbli_texture, rotation)},
};
enum {
    MATERIAL_FIELDS = sizeof material_fields / sizeof *material_fields,
    TEXTURE_FIELDS = sizeof texture_fields / sizeof *texture_fields
};

static void read_fields(const rbl_collection *collection, const char *group, const field *fields,
    size_t field_count, size_t index, void *out)
{
    if (index >= rbli_collection_size(collection, group)) return;
    for (size_t i = 0; i < field_count; i++) {
        const void *data = rbli_collection_read(collection, group, fields[i].name, fields[i].type);
        size_t size = rbl_type_bytes(fields[i].type);
        if (data) memcpy((char *)out + fields[i].offset, (const char *)data + index * size, size);
    }
}

static float clamp(float value, float other)
{
    return value >= 0 ? value <= 1 ? value : 1 : value < 0 ? 0 : other;
}

static float finite_or(float value, float other)
{
    return isfinite(value) ? value : other;
}

static int32_t reference(int32_t index, size_t count)
{
    return index >= 0 && (size_t)index < count ? index : -1;
}

rbli_material rbli_material_get(const rbl_collection *collection, size_t index)
{
    rbli_material out = rbli_material_default();
    size_t textures = rbli_collection_size(collection, "texture");
    read_fields(collection, "material", material_fields, MATERIAL_FIELDS, index, &out);
    out.metallic = clamp(out.metallic, 0);
    out.roughness = clamp(out.roughness, 0.9f);
    for (int k = 0; k < 3; k++)
        out.emissive[k] = clamp(out.emissive[k], 0);
    out.alpha_cutoff = out.alpha_cutoff >= 0 ? finite_or(out.alpha_cutoff, 0.5f) : 0.5f;
    out.normal_scale = finite_or(out.normal_scale, 1);
    out.occlusion_strength = clamp(out.occlusion_strength, 1);
    if (out.alpha_mode < RBLI_ALPHA_AUTO || out.alpha_mode > RBLI_ALPHA_BLEND)
        out.alpha_mode = RBLI_ALPHA_AUTO;
    for (int role = 0; role < RBLI_TEXTURE_ROLES; role++)
        out.textures[role] = reference(out.textures[role], textures);
    return out;
}

static bool is_wrap(int32_t wrap)
{
    return wrap == RBLI_WRAP_REPEAT || wrap == RBLI_WRAP_CLAMP || wrap == RBLI_WRAP_MIRROR;
}

/// NEAREST and LINEAR; minified also with mipmaps.
static bool is_filter(int32_t filter, bool minified)
{
    return filter == 0 || filter == 9728 || filter == 9729 || (minified && filter >= 9984 && filter <= 9987);
}

rbli_texture rbli_texture_get(const rbl_collection *collection, size_t index)
{
    rbli_texture out = rbli_texture_default();
    read_fields(collection, "texture", texture_fields, TEXTURE_FIELDS, index, &out);
    out.image = reference(out.image, rbli_collection_size(collection, "image"));
    if (out.uv_set < 0 || out.uv_set > 7) out.uv_set = 0;
    for (int k = 0; k < 2; k++) {
        if (!is_wrap(out.wrap[k])) out.wrap[k] = RBLI_WRAP_REPEAT;
        if (!is_filter(out.filter[k], k == 1)) out.filter[k] = 0;
        out.offset[k] = finite_or(out.offset[k], 0);
        out.scale[k] = finite_or(out.scale[k], 1);
    }
    out.rotation = finite_or(out.rotation, 0);
    return out;
}

rbli_image_view rbli_image_get(const rbl_collection *collection, size_t index)
{
    rbli_image_view out = {.name = rbli_collection_string(collection, "image", "name", index),
        .mime_type = rbli_collection_string(collection, "image", "mime_type", index)};
    const rbli_buffer *data = rbli_collection_buffer(collection, "image", "data");
    const int64_t *bytes = rbli_collection_read(collection, "image", "bytes", RBL_INT64);
    if (!data || !bytes || !rbli_buffer_is_list(data) || rbli_buffer_type(data) != RBL_INT32 ||
        index >= rbli_buffer_count(data))
        return out;
    const uint64_t *offsets = rbli_buffer_offsets(data);
    uint64_t held = 4 * (offsets[index + 1] - offsets[index]);
    if (bytes[index] < 0 || (uint64_t)bytes[index] > held) return out;
    out.bytes = (const uint8_t *)rbli_buffer_data(data) + 4 * offsets[index];
    out.byte_count = (size_t)bytes[index];
    return out;
}

/* ---- Writing ---- */

/// Writes one attribute of elements first … first + count − 1 from structures that lie `stride` bytes apart.
static rbl_status write_field(rbl_context *ctx, rbl_collection *collection, const char *group,
    const field *one, size_t first, const void *from, size_t stride, size_t count)
{
    void *out;
    rbl_status status = rbli_collection_write(ctx, collection, group, one->name, one->type, &out);
    if (status != RBL_OK) return status;
    size_t size = rbl_type_bytes(one->type);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)out + (first + i) * size, (const char *)from + i * stride + one->offset, size);
    return RBL_OK;
}

rbl_status rbli_materials_set(
    rbl_context *ctx, rbl_collection *collection, const rbli_material *materials, size_t count)
{
    const rbli_material plain = rbli_material_default();
    for (size_t i = 0; i < MATERIAL_FIELDS; i++) {
        const field *one = &material_fields[i];
        bool all_plain = true;
        for (size_t m = 0; m < count && all_plain; m++)
            all_plain = memcmp((const char *)&materials[m] + one->offset, (const char *)&plain + one->offset,
                            rbl_type_bytes(one->type)) == 0;
        if (all_plain) {
            rbli_collection_remove(collection, "material", one->name);
            continue;
        }
        rbl_status status =
            write_field(ctx, collection, "material", one, 0, materials, sizeof *materials, count);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

rbl_status rbli_materials_fill(rbl_context *ctx, rbl_collection *collection, size_t first)
{
    const rbli_material plain = rbli_material_default();
    size_t count = rbli_collection_size(collection, "material");
    for (size_t i = 0; i < MATERIAL_FIELDS && first < count; i++) {
        const field *one = &material_fields[i];
        if (!rbli_collection_read(collection, "material", one->name, one->type)) continue;
        rbl_status status = write_field(ctx, collection, "material", one, first, &plain, 0, count - first);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

/// Bytes of images as lists of int32, zeros behind the last byte.
static rbl_status set_image_data(
    rbl_context *ctx, rbl_collection *collection, const rbli_image_view *images, size_t count)
{
    rbl_status status = RBL_OK;
    rbli_buffer *data = NULL;
    int32_t *words = NULL;
    uint64_t *offsets = rbli_calloc(ctx, count + 1, sizeof *offsets);
    int64_t *bytes;
    RBL_TRY_ALLOC(offsets);
    for (size_t i = 0; i < count; i++)
        offsets[i + 1] = offsets[i] + (images[i].byte_count + 3) / 4;
    words = rbli_calloc(ctx, (size_t)offsets[count], sizeof *words);
    RBL_TRY_ALLOC(words);
    for (size_t i = 0; i < count; i++)
        if (images[i].byte_count) memcpy(words + offsets[i], images[i].bytes, images[i].byte_count);
    RBL_TRY(rbli_buffer_create_list(ctx, RBL_INT32, count, offsets, words, &data));
    RBL_TRY(rbli_collection_set(ctx, collection, "image", "data", data));
    RBL_TRY(rbli_collection_write(ctx, collection, "image", "bytes", RBL_INT64, (void **)&bytes));
    for (size_t i = 0; i < count; i++)
        bytes[i] = (int64_t)images[i].byte_count;
done:
    rbli_buffer_release(data);
    rbli_free(ctx, words);
    rbli_free(ctx, offsets);
    return status;
}

static rbl_status set_images(
    rbl_context *ctx, rbl_collection *collection, const rbli_image_view *images, size_t count)
{
    rbl_status status = RBL_OK;
    rbli_buffer *names = NULL, *types = NULL;
    const char **texts = rbli_alloc(ctx, count, sizeof *texts);
    RBL_TRY_ALLOC(texts);
    RBL_TRY(rbli_collection_resize(ctx, collection, "image", count));
    for (size_t i = 0; i < count; i++)
        texts[i] = images[i].name;
    RBL_TRY(rbli_buffer_create_strings(ctx, count, texts, &names));
    for (size_t i = 0; i < count; i++)
        texts[i] = images[i].mime_type;
    RBL_TRY(rbli_buffer_create_strings(ctx, count, texts, &types));
    RBL_TRY(rbli_collection_set(ctx, collection, "image", "name", names));
    RBL_TRY(rbli_collection_set(ctx, collection, "image", "mime_type", types));
    RBL_TRY(set_image_data(ctx, collection, images, count));
done:
    rbli_buffer_release(names);
    rbli_buffer_release(types);
    rbli_free(ctx, texts);
    return status;
}

rbl_status rbli_textures_set(rbl_context *ctx, rbl_collection *collection, const rbli_texture *textures,
    size_t texture_count, const rbli_image_view *images, size_t image_count)
{
    rbl_status status = RBL_OK;
    if (texture_count == 0 && image_count == 0) return RBL_OK;
    RBL_TRY(rbli_collection_resize(ctx, collection, "texture", texture_count));
    for (size_t i = 0; i < TEXTURE_FIELDS; i++)
        RBL_TRY(write_field(
            ctx, collection, "texture", &texture_fields[i], 0, textures, sizeof *textures, texture_count));
    RBL_TRY(set_images(ctx, collection, images, image_count));
done:
    return status;
}

/* ---- Types of images ---- */

static const struct {
    const char *magic;
    size_t offset, length;
    const char *mime_type, *extension;
} image_types[] = {
    {"\x89PNG\r\n\x1a\n", 0, 8, "image/png", ".png"},
    {"\xff\xd8\xff", 0, 3, "image/jpeg", ".jpg"},
    {"WEBP", 8, 4, "image/webp", ".webp"},
    {"\xabKTX 20\xbb", 0, 8, "image/ktx2", ".ktx2"},
    {"DDS ", 0, 4, "image/vnd-ms.dds", ".dds"},
    {"GIF8", 0, 4, "image/gif", ".gif"},
    {"BM", 0, 2, "image/bmp", ".bmp"},
};

const char *rbli_image_type_of_bytes(const uint8_t *bytes, size_t byte_count)
{
    for (size_t i = 0; i < sizeof image_types / sizeof *image_types; i++)
        if (byte_count >= image_types[i].offset + image_types[i].length &&
            memcmp(bytes + image_types[i].offset, image_types[i].magic, image_types[i].length) == 0)
            return image_types[i].mime_type;
    return NULL;
}

const char *rbli_image_extension(const char *mime_type)
{
    for (size_t i = 0; i < sizeof image_types / sizeof *image_types; i++)
        if (strcmp(image_types[i].mime_type, mime_type) == 0) return image_types[i].extension;
    return ".bin";
}

/* ---- Checking ---- */

static rbl_status check_reference(
    rbl_context *ctx, const rbl_collection *collection, const char *group, const char *name, const char *of)
{
    const int32_t *index = rbli_collection_read(collection, group, name, RBL_INT32);
    size_t limit = rbli_collection_size(collection, of);
    for (size_t i = 0; index && i < rbli_collection_size(collection, group); i++)
        if (index[i] < -1 || (index[i] >= 0 && (size_t)index[i] >= limit))
            return rbli_fail(ctx, RBL_ERR_COLLECTION, "%s.%s: element %zu is %d, not in -1 … %lld", group,
                name, i, (int)index[i], (long long)limit - 1);
    return RBL_OK;
}

rbl_status rbli_materials_check(rbl_context *ctx, const rbl_collection *collection)
{
    rbl_status status = RBL_OK;
    for (int role = 0; role < RBLI_TEXTURE_ROLES; role++)
        RBL_TRY(check_reference(ctx, collection, "material", texture_names[role], "texture"));
    RBL_TRY(check_reference(ctx, collection, "texture", "image", "image"));
    const rbli_buffer *data = rbli_collection_buffer(collection, "image", "data");
    const int64_t *bytes = rbli_collection_read(collection, "image", "bytes", RBL_INT64);
    for (size_t i = 0; data && bytes && i < rbli_collection_size(collection, "image"); i++) {
        const uint64_t *offsets = rbli_buffer_offsets(data);
        uint64_t words = offsets[i + 1] - offsets[i];
        if (bytes[i] < 0 || ((uint64_t)bytes[i] + 3) / 4 != words)
            return rbli_fail(ctx, RBL_ERR_COLLECTION,
                "image.bytes: element %zu is %lld, its data has %llu words", i, (long long)bytes[i],
                (unsigned long long)words);
    }
done:
    return status;
}
