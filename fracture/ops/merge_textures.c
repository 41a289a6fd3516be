#include "fracture/ops/merge_textures.h"

#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/base/hash.h"

/// Images met so far, by the hash of content and type.
typedef struct image_table {
    RBLI_ARRAY(rbli_hash) hashes;
    uint32_t *slots; /* index + 1, or 0 */
    size_t slot_count;
} image_table;

static rbl_status grow_slots(rbl_context *ctx, image_table *table)
{
    size_t slot_count = table->slot_count ? 2 * table->slot_count : 64;
    uint32_t *slots = rbli_calloc(ctx, slot_count, sizeof *slots);
    if (!slots) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < table->hashes.count; i++) {
        size_t at = (size_t)rbli_hash64(&table->hashes.data[i], sizeof(rbli_hash)) & (slot_count - 1);
        while (slots[at])
            at = (at + 1) & (slot_count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    rbli_free(ctx, table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return RBL_OK;
}

/// The number of an image among all; *fresh when it is a new one.
static rbl_status number_image(
    rbl_context *ctx, image_table *table, const rbli_image_view *image, int32_t *out, bool *fresh)
{
    rbl_status status = RBL_OK;
    rbli_hash both[2] = {rbli_hash_bytes(image->bytes, image->byte_count),
        rbli_hash_bytes(image->mime_type, strlen(image->mime_type))};
    rbli_hash hash = rbli_hash_bytes(both, sizeof both);
    if (2 * table->hashes.count >= table->slot_count) RBL_TRY(grow_slots(ctx, table));
    size_t at = (size_t)rbli_hash64(&hash, sizeof hash) & (table->slot_count - 1);
    while (table->slots[at] && memcmp(&table->hashes.data[table->slots[at] - 1], &hash, sizeof hash) != 0)
        at = (at + 1) & (table->slot_count - 1);
    *fresh = !table->slots[at];
    if (*fresh) {
        if (table->hashes.count >= INT32_MAX) return RBL_ERR_LIMIT;
        RBL_TRY(rbli_array_push(ctx, &table->hashes, hash));
        table->slots[at] = (uint32_t)table->hashes.count;
    }
    *out = (int32_t)table->slots[at] - 1;
done:
    return status;
}

static rbl_status share_images_of(
    rbl_context *ctx, image_table *table, const rbl_collection *collection, rbl_collection **copy)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(collection, "image");
    int32_t *numbers = rbli_alloc(ctx, count, sizeof *numbers), *image;
    bool *keep = rbli_alloc(ctx, count, sizeof *keep);
    RBL_TRY_ALLOC(numbers);
    RBL_TRY_ALLOC(keep);
    for (size_t i = 0; i < count; i++) {
        rbli_image_view view = rbli_image_get(collection, i);
        RBL_TRY(number_image(ctx, table, &view, &numbers[i], &keep[i]));
    }
    RBL_TRY(rbli_collection_copy(ctx, collection, copy));
    RBL_TRY(rbli_collection_filter(ctx, *copy, "image", keep, NULL));
    if (rbli_collection_read(*copy, "texture", "image", RBL_INT32)) {
        RBL_TRY(rbli_collection_write(ctx, *copy, "texture", "image", RBL_INT32, (void **)&image));
        for (size_t t = 0; t < rbli_collection_size(*copy, "texture"); t++)
            image[t] = image[t] >= 0 && (size_t)image[t] < count ? numbers[image[t]] : -1;
    }
done:
    rbli_free(ctx, numbers);
    rbli_free(ctx, keep);
    return status;
}

rbl_status rbli_merge_share_images(
    rbl_context *ctx, const rbl_collection **list, size_t count, rbl_collection **copies)
{
    rbl_status status = RBL_OK;
    image_table table = {0};
    for (size_t i = 0; i < count; i++) {
        if (!rbli_collection_size(list[i], "image") && !rbli_collection_size(list[i], "texture")) continue;
        RBL_TRY(share_images_of(ctx, &table, list[i], &copies[i]));
        list[i] = copies[i];
    }
done:
    rbli_free(ctx, table.hashes.data);
    rbli_free(ctx, table.slots);
    return status;
}

static int32_t image_in_role(const rbl_collection *collection, const rbli_material *look, int role)
{
    int32_t texture = look->textures[role];
    return texture < 0 ? -1 : rbli_texture_get(collection, (size_t)texture).image;
}

bool rbli_materials_same_images(const rbl_collection *collection, size_t a, size_t b)
{
    rbli_material first = rbli_material_get(collection, a), second = rbli_material_get(collection, b);
    for (int role = 0; role < RBLI_TEXTURE_ROLES; role++)
        if (image_in_role(collection, &first, role) != image_in_role(collection, &second, role)) return false;
    return true;
}

/// Filters a group and renumbers what refers to it: `names` of group `from`.
static rbl_status filter_referenced(rbl_context *ctx, rbl_collection *collection, const char *group,
    const char *from, const char *const *names, size_t name_count)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(collection, group), users = rbli_collection_size(collection, from);
    int32_t *numbers = NULL, *index;
    bool *keep = rbli_calloc(ctx, count, sizeof *keep);
    RBL_TRY_ALLOC(keep);
    for (size_t n = 0; n < name_count; n++) {
        const int32_t *used = rbli_collection_read(collection, from, names[n], RBL_INT32);
        for (size_t i = 0; used && i < users; i++)
            if (used[i] >= 0 && (size_t)used[i] < count) keep[used[i]] = true;
    }
    if (count == 0) goto done;
    RBL_TRY(rbli_collection_filter(ctx, collection, group, keep, &numbers));
    for (size_t n = 0; n < name_count; n++) {
        if (!rbli_collection_read(collection, from, names[n], RBL_INT32)) continue;
        RBL_TRY(rbli_collection_write(ctx, collection, from, names[n], RBL_INT32, (void **)&index));
        for (size_t i = 0; i < users; i++)
            index[i] = index[i] >= 0 && (size_t)index[i] < count ? numbers[index[i]] : -1;
    }
done:
    rbli_free(ctx, keep);
    rbli_free(ctx, numbers);
    return status;
}

rbl_status rbli_drop_unused_textures(rbl_context *ctx, rbl_collection *collection)
{
    static const char *const roles[] = {"base_color_texture", "metallic_roughness_texture", "normal_texture",
        "occlusion_texture", "emissive_texture"},
                             *const image[] = {"image"};
    rbl_status status = filter_referenced(ctx, collection, "texture", "material", roles, RBLI_TEXTURE_ROLES);
    if (status != RBL_OK) return status;
    return filter_referenced(ctx, collection, "image", "texture", image, 1);
}

static bool is_among(const char *name, char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

rbl_status rbli_materials_unique_names(rbl_context *ctx, rbl_collection *collection)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(collection, "material");
    rbli_buffer *buffer = NULL;
    char **names = rbli_calloc(ctx, count, sizeof *names);
    RBL_TRY_ALLOC(names);
    for (size_t m = 0; m < count; m++)
        RBL_TRY_ALLOC(names[m] = rbli_strdup(ctx, rbli_collection_string(collection, "material", "name", m)));
    for (size_t m = 1; m < count; m++) {
        const char *own = rbli_collection_string(collection, "material", "name", m);
        bool taken = is_among(names[m], names, m);
        for (size_t n = 2; taken; n++) {
            rbli_free(ctx, names[m]);
            RBL_TRY_ALLOC(names[m] = rbli_format(ctx, "%s_%zu", own, n));
            taken = is_among(names[m], names, m) || is_among(names[m], names + m + 1, count - m - 1);
        }
    }
    RBL_TRY(rbli_buffer_create_strings(ctx, count, (const char *const *)names, &buffer));
    RBL_TRY(rbli_collection_set(ctx, collection, "material", "name", buffer));
done:
    for (size_t m = 0; names && m < count; m++)
        rbli_free(ctx, names[m]);
    rbli_free(ctx, names);
    rbli_buffer_release(buffer);
    return status;
}
