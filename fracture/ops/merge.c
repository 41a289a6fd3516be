#include "fracture/ops/merge.h"

#include <string.h>

#include "fracture/base/alloc.h"
#include "fracture/collection/hierarchy.h"
#include "fracture/ops/merge_textures.h"

/// Attributes that hold indices of a group's elements.
static const struct {
    const char *group, *name;
    size_t components;
    const char *of;
} index_attributes[] = {
    {"bone", "parent", 1, "bone"},
    {"bone", "geometry", 1, "geometry"},
    {"geometry", "bone", 1, "bone"},
    {"geometry", "vertex_start", 1, "vertex"},
    {"geometry", "face_start", 1, "face"},
    {"face", "vertices", 3, "vertex"},
    {"convex", "bone", 1, "bone"},
    {"proximity", "geometries", 2, "geometry"},
    {"contact", "geometries", 2, "geometry"},
    {"connection", "bones", 2, "bone"},
    {"material", "base_color_texture", 1, "texture"},
    {"material", "metallic_roughness_texture", 1, "texture"},
    {"material", "normal_texture", 1, "texture"},
    {"material", "occlusion_texture", 1, "texture"},
    {"material", "emissive_texture", 1, "texture"},
};

/// What stands for an attribute that a collection does not have; zero for all others.
static const struct {
    const char *group, *name;
    double value;
} missing_values[] = {
    {"bone", "site", -1},
    {"bone", "parent", -1},
    {"bone", "geometry", -1},
    {"face", "origin", -1},
    {"proximity", "area", -1},
    {"connection", "area", -1},
    {"corner", "color", 1},
    {"material", "base_color", 1},
    {"material", "roughness", 0.9},
    {"material", "alpha_mode", -1},
    {"material", "alpha_cutoff", 0.5},
    {"material", "normal_scale", 1},
    {"material", "occlusion_strength", 1},
    {"material", "base_color_texture", -1},
    {"material", "metallic_roughness_texture", -1},
    {"material", "normal_texture", -1},
    {"material", "occlusion_texture", -1},
    {"material", "emissive_texture", -1},
    {"texture", "scale", 1},
};

typedef struct merge {
    rbl_context *ctx;
    const rbl_collection **list; /* with one that holds the new root before the given ones */
    size_t count;
    bool has_root;
    rbl_collection **copies; /* [count] NULL, or what stands in the list for one with images */
    rbl_collection *out;
} merge;

static bool is(const char *group, const char *name, const char *wanted_group, const char *wanted_name)
{
    return strcmp(group, wanted_group) == 0 && strcmp(name, wanted_name) == 0;
}

/* ---- One attribute ---- */

/// Fills `bytes` at `out` with what stands for a missing attribute.
static void fill_missing(const char *group, const char *name, rbl_type type, uint8_t *out, size_t bytes)
{
    double value = 0;
    for (size_t i = 0; i < sizeof missing_values / sizeof *missing_values; i++)
        if (is(group, name, missing_values[i].group, missing_values[i].name)) value = missing_values[i].value;
    if (value == 0) return;
    if (type == RBL_INT32)
        for (size_t i = 0; i < bytes / sizeof(int32_t); i++)
            ((int32_t *)out)[i] = (int32_t)value;
    else if (type == RBL_DOUBLE)
        for (size_t i = 0; i < bytes / sizeof(double); i++)
            ((double *)out)[i] = value;
    else if (type == RBL_FLOAT || type == RBL_FLOAT_2 || type == RBL_FLOAT_4)
        for (size_t i = 0; i < bytes / sizeof(float); i++)
            ((float *)out)[i] = (float)value;
}

static rbl_status merge_plain(
    merge *m, const char *group, const char *name, rbl_type type, size_t total, rbli_buffer **out)
{
    size_t size = rbl_type_bytes(type);
    rbl_status status = rbli_buffer_create(m->ctx, type, total, out);
    if (status != RBL_OK) return status;
    uint8_t *to = rbli_buffer_write(m->ctx, out);
    if (!to && total) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < m->count; i++) {
        size_t bytes = rbli_collection_size(m->list[i], group) * size;
        const rbli_buffer *buffer = rbli_collection_buffer(m->list[i], group, name);
        if (bytes && buffer)
            memcpy(to, rbli_buffer_data(buffer), bytes);
        else if (bytes)
            fill_missing(group, name, type, to, bytes);
        to += bytes;
    }
    return RBL_OK;
}

static rbl_status merge_lists(
    merge *m, const char *group, const char *name, rbl_type type, size_t total, rbli_buffer **out)
{
    rbl_status status = RBL_OK;
    size_t size = rbl_type_bytes(type), values = 0, element = 0, used = 0;
    uint64_t *offsets = NULL;
    uint8_t *data = NULL;
    for (size_t i = 0; i < m->count; i++) {
        const rbli_buffer *buffer = rbli_collection_buffer(m->list[i], group, name);
        if (buffer) values += (size_t)rbli_buffer_offsets(buffer)[rbli_buffer_count(buffer)];
    }
    RBL_TRY_ALLOC(offsets = rbli_calloc(m->ctx, total + 1, sizeof *offsets));
    RBL_TRY_ALLOC(data = rbli_alloc(m->ctx, values, size));
    for (size_t i = 0; i < m->count; i++) {
        const rbli_buffer *buffer = rbli_collection_buffer(m->list[i], group, name);
        size_t count = rbli_collection_size(m->list[i], group), own = 0;
        for (size_t k = 0; k < count; k++)
            offsets[++element] = used + (buffer ? (size_t)rbli_buffer_offsets(buffer)[k + 1] : 0);
        if (buffer) own = (size_t)rbli_buffer_offsets(buffer)[count];
        if (own) memcpy(data + used * size, rbli_buffer_data(buffer), own * size);
        used += own;
    }
    RBL_TRY(rbli_buffer_create_list(m->ctx, type, total, offsets, data, out));
done:
    rbli_free(m->ctx, offsets);
    rbli_free(m->ctx, data);
    return status;
}

/// Merges one attribute of a group; the first collection that has it says its type.
static rbl_status merge_attribute(merge *m, const char *group, const char *name, size_t total)
{
    rbl_status status = RBL_OK;
    const rbli_buffer *first = NULL;
    bool everywhere = true;
    rbli_buffer *merged = NULL;
    for (size_t i = 0; i < m->count; i++) {
        const rbli_buffer *buffer = rbli_collection_buffer(m->list[i], group, name);
        if (!buffer) {
            everywhere &= rbli_collection_size(m->list[i], group) == 0;
        } else if (first && (rbli_buffer_type(first) != rbli_buffer_type(buffer) ||
                                rbli_buffer_is_list(first) != rbli_buffer_is_list(buffer))) {
            return rbli_fail(
                m->ctx, RBL_ERR_TYPE, "%s.%s has different types in the collections", group, name);
        } else if (!first) {
            first = buffer;
        }
    }
    if (is(group, name, "corner", "tangent") && !everywhere) return RBL_OK;
    rbl_type type = rbli_buffer_type(first);
    if (rbli_buffer_is_list(first))
        RBL_TRY(merge_lists(m, group, name, type, total, &merged));
    else
        RBL_TRY(merge_plain(m, group, name, type, total, &merged));
    RBL_TRY(rbli_collection_set(m->ctx, m->out, group, name, merged));
done:
    rbli_buffer_release(merged);
    return status;
}

/* ---- Groups ---- */

static rbl_status merge_group(merge *m, const char *group)
{
    size_t total = 0;
    for (size_t i = 0; i < m->count; i++)
        total += rbli_collection_size(m->list[i], group);
    if (total > INT32_MAX) return rbli_fail(m->ctx, RBL_ERR_LIMIT, "too many elements in group %s", group);
    rbl_status status = rbli_collection_resize(m->ctx, m->out, group, total);
    for (size_t i = 0; i < m->count; i++)
        for (size_t a = 0; a < rbli_collection_attribute_count(m->list[i], group) && status == RBL_OK; a++) {
            const char *name = rbli_collection_attribute_name(m->list[i], group, a);
            bool done = false;
            for (size_t k = 0; k < i && !done; k++)
                done = rbli_collection_buffer(m->list[k], group, name) != NULL;
            if (!done) status = merge_attribute(m, group, name, total);
        }
    return status;
}

static rbl_status merge_groups(merge *m)
{
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < m->count; i++)
        for (size_t g = 0; g < rbli_collection_group_count(m->list[i]); g++) {
            const char *group = rbli_collection_group_name(m->list[i], g);
            bool done = false;
            for (size_t k = 0; k < i && !done; k++)
                done = rbli_collection_has_group(m->list[k], group);
            if (!done) RBL_TRY(merge_group(m, group));
        }
done:
    return status;
}

/* ---- Indices ---- */

/// Adds to the indices of an attribute the elements of `of` that come before its collection's.
static rbl_status shift_indices(
    merge *m, const char *group, const char *name, size_t components, const char *of)
{
    rbl_type type = components == 1 ? RBL_INT32 : components == 2 ? RBL_INT32_2 : RBL_INT32_3;
    if (!rbli_collection_read(m->out, group, name, type)) return RBL_OK;
    int32_t *index;
    rbl_status status = rbli_collection_write(m->ctx, m->out, group, name, type, (void **)&index);
    if (status != RBL_OK) return status;
    int32_t before = 0;
    for (size_t i = 0; i < m->count; i++) {
        size_t count = rbli_collection_size(m->list[i], group) * components;
        for (size_t k = 0; k < count; k++)
            if (index[k] >= 0) index[k] += before;
        index += count;
        before += (int32_t)rbli_collection_size(m->list[i], of);
    }
    return RBL_OK;
}

/// Keeps the cuts of different collections apart.
static rbl_status shift_origins(merge *m)
{
    if (!rbli_collection_read(m->out, "face", "origin", RBL_INT32)) return RBL_OK;
    int32_t *origin, before = 0;
    rbl_status status = rbli_collection_write(m->ctx, m->out, "face", "origin", RBL_INT32, (void **)&origin);
    if (status != RBL_OK) return status;
    for (size_t i = 0; i < m->count; i++) {
        size_t count = rbli_collection_size(m->list[i], "face");
        int32_t most = -1;
        for (size_t f = 0; f < count; f++)
            most = origin[f] > most ? origin[f] : most;
        if (most >= INT32_MAX - before)
            return rbli_fail(m->ctx, RBL_ERR_LIMIT, "too many numbers of planar cuts");
        for (size_t f = 0; f < count; f++)
            if (origin[f] >= 0) origin[f] += before;
        origin += count;
        before += most + 1;
    }
    return RBL_OK;
}

/// Puts the roots of the given collections under the new one.
static rbl_status adopt_roots(merge *m)
{
    int32_t *parent;
    if (!m->has_root) return RBL_OK;
    rbl_status status = rbli_collection_write(m->ctx, m->out, "bone", "parent", RBL_INT32, (void **)&parent);
    if (status != RBL_OK) return status;
    for (size_t b = 1; b < rbli_collection_size(m->out, "bone"); b++)
        if (parent[b] < 0) parent[b] = 0;
    return RBL_OK;
}

/* ---- Names and materials ---- */

static rbl_status make_names_unique(merge *m)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(m->out, "bone");
    rbli_buffer *merged = rbli_collection_buffer(m->out, "bone", "name");
    rbl_collection *named = NULL;
    const char **names = NULL;
    if (!merged || count == 0) return RBL_OK;
    RBL_TRY_ALLOC(names = rbli_alloc(m->ctx, count, sizeof *names));
    for (size_t b = 0; b < count; b++)
        names[b] = rbli_buffer_string(merged, b);
    RBL_TRY(rbli_collection_create_empty_asset(m->ctx, &named));
    RBL_TRY(rbli_hierarchy_add_bones(m->ctx, named, count, NULL, names, RBLI_BONE_CLUSTER, NULL));
    RBL_TRY(
        rbli_collection_set(m->ctx, m->out, "bone", "name", rbli_collection_buffer(named, "bone", "name")));
done:
    rbli_free(m->ctx, names);
    rbli_collection_release(named);
    return status;
}

/// Joins materials of equal names and images, and renumbers face.material.
static rbl_status join_materials(merge *m)
{
    rbl_status status = RBL_OK;
    size_t count = rbli_collection_size(m->out, "material"), kept = 0;
    int32_t *renumber = NULL, *source = NULL, *material;
    RBL_TRY_ALLOC(renumber = rbli_alloc(m->ctx, count, sizeof *renumber));
    RBL_TRY_ALLOC(source = rbli_alloc(m->ctx, count, sizeof *source));
    bool named = rbli_collection_buffer(m->out, "material", "name") != NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = rbli_collection_string(m->out, "material", "name", i);
        size_t same = 0;
        while (
            same < kept &&
            (!named ||
                strcmp(rbli_collection_string(m->out, "material", "name", (size_t)source[same]), name) != 0 ||
                !rbli_materials_same_images(m->out, (size_t)source[same], i)))
            same++;
        if (same == kept) source[kept++] = (int32_t)i;
        renumber[i] = (int32_t)same;
    }
    if (rbli_collection_read(m->out, "face", "material", RBL_INT32)) {
        RBL_TRY(rbli_collection_write(m->ctx, m->out, "face", "material", RBL_INT32, (void **)&material));
        size_t before = 0;
        for (size_t i = 0; i < m->count; i++) {
            size_t faces = rbli_collection_size(m->list[i], "face");
            size_t own = rbli_collection_size(m->list[i], "material");
            for (size_t f = 0; f < faces; f++)
                if (material[f] >= 0 && (size_t)material[f] < own)
                    material[f] = renumber[before + (size_t)material[f]];
            material += faces;
            before += own;
        }
    }
    if (kept < count) {
        RBL_TRY(rbli_collection_gather(m->ctx, m->out, "material", source, kept));
        RBL_TRY(rbli_drop_unused_textures(m->ctx, m->out));
    }
    if (named && rbli_collection_size(m->out, "texture"))
        RBL_TRY(rbli_materials_unique_names(m->ctx, m->out));
done:
    rbli_free(m->ctx, renumber);
    rbli_free(m->ctx, source);
    return status;
}

/* ---- The whole ---- */

static rbl_status make_root(rbl_context *ctx, const char *name, rbl_collection **out)
{
    rbl_collection *root = NULL;
    rbl_status status = rbli_collection_create_empty_asset(ctx, &root);
    if (status == RBL_OK && name)
        status = rbli_hierarchy_add_bones(ctx, root, 1, NULL, &name, RBLI_BONE_CLUSTER, NULL);
    if (status == RBL_OK)
        *out = root;
    else
        rbli_collection_release(root);
    return status;
}

rbl_status rbli_merge_collections(
    rbl_context *ctx, const rbl_collection *const *list, size_t count, const char *root, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    merge m = {.ctx = ctx, .count = count + 1, .has_root = root != NULL};
    rbl_collection *first = NULL;
    RBL_TRY(make_root(ctx, root, &first));
    RBL_TRY_ALLOC(m.list = rbli_alloc(ctx, count + 1, sizeof *m.list));
    m.list[0] = first;
    if (count) memcpy(m.list + 1, list, count * sizeof *list);
    RBL_TRY_ALLOC(m.copies = rbli_calloc(ctx, count + 1, sizeof(rbl_collection *)));
    RBL_TRY(rbli_merge_share_images(ctx, m.list, count + 1, m.copies));
    RBL_TRY(rbli_collection_create(ctx, &m.out));
    RBL_TRY(merge_groups(&m));
    for (size_t i = 0; i < sizeof index_attributes / sizeof *index_attributes; i++)
        RBL_TRY(shift_indices(&m, index_attributes[i].group, index_attributes[i].name,
            index_attributes[i].components, index_attributes[i].of));
    RBL_TRY(shift_origins(&m));
    RBL_TRY(adopt_roots(&m));
    RBL_TRY(make_names_unique(&m));
    RBL_TRY(join_materials(&m));
    RBL_TRY(rbli_hierarchy_update_levels(ctx, m.out));
    *out = m.out;
    m.out = NULL;
done:
    rbli_collection_release(first);
    rbli_collection_release(m.out);
    for (size_t i = 0; m.copies && i <= count; i++)
        rbli_collection_release(m.copies[i]);
    rbli_free(ctx, m.copies);
    rbli_free(ctx, m.list);
    return status;
}
