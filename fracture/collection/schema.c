/// The attributes that rubble gives meaning to, as a table, and the validator. The validator trusts nothing:
/// later levels rely on what the earlier ones have found to hold.

#include "fracture/collection/schema.h"

#include <math.h>
#include <stdlib.h>

#include "fracture/base/alloc.h"
#include "fracture/base/threads.h"
#include "fracture/collection/material.h"

typedef struct known_attribute {
    const char *group, *name;
    rbl_type type;
    bool is_list;
    bool optional;
} known_attribute;

static const known_attribute known_attributes[] = {
    {"bone", "parent", RBL_INT32, false, false},
    {"bone", "level", RBL_INT32, false, false},
    {"bone", "name", RBL_CHAR, true, false},
    {"bone", "type", RBL_INT32, false, false},
    {"bone", "simulation_type", RBL_INT32, false, false},
    {"bone", "transform", RBL_MAT4, false, false},
    {"bone", "geometry", RBL_INT32, false, false},
    {"bone", "site", RBL_INT32, false, false},
    {"bone", "anchored", RBL_BOOL, false, false},
    {"bone", "sheet", RBL_BOOL, false, true},
    {"bone", "mass", RBL_DOUBLE, false, true},
    {"bone", "center_of_mass", RBL_VEC3, false, true},
    {"bone", "inertia", RBL_VEC3, false, true},
    {"bone", "inertia_products", RBL_VEC3, false, true},
    {"bone", "damage_threshold", RBL_DOUBLE, false, true},
    {"bone", "collider", RBL_INT32, false, true},
    {"bone", "remove_on_sleep", RBL_BOOL, false, true},
    {"bone", "remove_on_break", RBL_BOOL, false, true},
    {"bone", "crumble_on_break", RBL_BOOL, false, true},
    {"bone", "sleep_time", RBL_VEC2, false, true},
    {"bone", "sleep_removal_time", RBL_VEC2, false, true},
    {"bone", "sleep_speed", RBL_DOUBLE, false, true},
    {"bone", "break_time", RBL_VEC2, false, true},
    {"bone", "break_removal_time", RBL_VEC2, false, true},
    {"geometry", "bone", RBL_INT32, false, false},
    {"geometry", "vertex_start", RBL_INT32, false, false},
    {"geometry", "vertex_count", RBL_INT32, false, false},
    {"geometry", "face_start", RBL_INT32, false, false},
    {"geometry", "face_count", RBL_INT32, false, false},
    {"geometry", "bounds_min", RBL_VEC3, false, false},
    {"geometry", "bounds_max", RBL_VEC3, false, false},
    {"geometry", "volume", RBL_DOUBLE, false, false},
    {"geometry", "collision_samples", RBL_VEC3, true, true},
    {"vertex", "position", RBL_VEC3, false, false},
    {"face", "vertices", RBL_INT32_3, false, false},
    {"face", "material", RBL_INT32, false, false},
    {"face", "internal", RBL_BOOL, false, false},
    {"face", "origin", RBL_INT32, false, false},
    {"corner", "normal", RBL_FLOAT_3, false, false},
    {"corner", "tangent", RBL_FLOAT_4, false, true},
    {"corner", "uv0", RBL_FLOAT_2, false, true},
    {"corner", "uv1", RBL_FLOAT_2, false, true},
    {"corner", "uv2", RBL_FLOAT_2, false, true},
    {"corner", "uv3", RBL_FLOAT_2, false, true},
    {"corner", "uv4", RBL_FLOAT_2, false, true},
    {"corner", "uv5", RBL_FLOAT_2, false, true},
    {"corner", "uv6", RBL_FLOAT_2, false, true},
    {"corner", "uv7", RBL_FLOAT_2, false, true},
    {"corner", "color", RBL_FLOAT_4, false, true},
    {"material", "name", RBL_CHAR, true, false},
    {"material", "base_color", RBL_FLOAT_4, false, true},
    {"material", "texture", RBL_CHAR, true, true},
    {"material", "metallic", RBL_FLOAT, false, true},
    {"material", "roughness", RBL_FLOAT, false, true},
    {"material", "emissive", RBL_FLOAT_3, false, true},
    {"material", "alpha_mode", RBL_INT32, false, true},
    {"material", "alpha_cutoff", RBL_FLOAT, false, true},
    {"material", "double_sided", RBL_BOOL, false, true},
    {"material", "normal_scale", RBL_FLOAT, false, true},
    {"material", "occlusion_strength", RBL_FLOAT, false, true},
    {"material", "base_color_texture", RBL_INT32, false, true},
    {"material", "metallic_roughness_texture", RBL_INT32, false, true},
    {"material", "normal_texture", RBL_INT32, false, true},
    {"material", "occlusion_texture", RBL_INT32, false, true},
    {"material", "emissive_texture", RBL_INT32, false, true},
    {"texture", "image", RBL_INT32, false, false},
    {"texture", "uv_set", RBL_INT32, false, true},
    {"texture", "wrap", RBL_INT32_2, false, true},
    {"texture", "filter", RBL_INT32_2, false, true},
    {"texture", "offset", RBL_FLOAT_2, false, true},
    {"texture", "scale", RBL_FLOAT_2, false, true},
    {"texture", "rotation", RBL_FLOAT, false, true},
    {"image", "name", RBL_CHAR, true, false},
    {"image", "mime_type", RBL_CHAR, true, false},
    {"image", "bytes", RBL_INT64, false, false},
    {"image", "data", RBL_INT32, true, false},
    {"convex", "bone", RBL_INT32, false, false},
    {"convex", "points", RBL_VEC3, true, false},
    {"convex", "faces", RBL_INT32_3, true, false},
    {"convex", "volume", RBL_DOUBLE, false, false},
    {"proximity", "geometries", RBL_INT32_2, false, false},
    {"proximity", "area", RBL_DOUBLE, false, false},
    {"connection", "bones", RBL_INT32_2, false, false},
    {"connection", "area", RBL_DOUBLE, false, false},
    {"hull_overlap", "a", RBL_CHAR, true, false},
    {"hull_overlap", "b", RBL_CHAR, true, false},
    {"hull_overlap", "depth", RBL_DOUBLE, false, false},
    {"negative_space", "center", RBL_VEC3, false, false},
    {"negative_space", "radius", RBL_DOUBLE, false, false},
};
enum { KNOWN_COUNT = sizeof known_attributes / sizeof *known_attributes };

static const char *const asset_groups[] = {"bone", "geometry", "vertex", "face", "corner", "material"};
enum { ASSET_GROUP_COUNT = sizeof asset_groups / sizeof *asset_groups };

static bool is_asset_group(const char *group)
{
    for (size_t i = 0; i < ASSET_GROUP_COUNT; i++)
        if (strcmp(group, asset_groups[i]) == 0) return true;
    return false;
}

rbl_status rbli_collection_create_empty_asset(rbl_context *ctx, rbl_collection **out)
{
    rbl_status status = RBL_OK;
    rbl_collection *made = NULL;
    rbli_buffer *buffer = NULL;
    RBL_TRY(rbli_collection_create(ctx, &made));
    for (size_t i = 0; i < ASSET_GROUP_COUNT; i++)
        RBL_TRY(rbli_collection_resize(ctx, made, asset_groups[i], 0));
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        const known_attribute *known = &known_attributes[i];
        if (known->optional || !is_asset_group(known->group)) continue;
        const uint64_t no_offset = 0;
        if (known->is_list)
            RBL_TRY(rbli_buffer_create_list(ctx, known->type, 0, &no_offset, NULL, &buffer));
        else
            RBL_TRY(rbli_buffer_create(ctx, known->type, 0, &buffer));
        RBL_TRY(rbli_collection_set(ctx, made, known->group, known->name, buffer));
        rbli_buffer_release(buffer);
        buffer = NULL;
    }
    *out = made;
    made = NULL;
done:
    rbli_buffer_release(buffer);
    rbli_collection_release(made);
    return status;
}

/// Everything that the checks look at; pointers of groups that do not exist are NULL and their counts 0.
typedef struct asset {
    const rbl_collection *collection;
    size_t bones, geometries, vertices, faces, materials, hulls, proximities, connections;
    const int32_t *parent, *level, *type, *simulation_type, *bone_geometry, *site;
    const double (*transform)[16];
    const bool *sheet;
    const int32_t *geometry_bone, *vertex_start, *vertex_count, *face_start, *face_count;
    const double (*bounds_min)[3], (*bounds_max)[3], *volume;
    const double (*position)[3];
    const int32_t (*face_vertices)[3], *face_material, *face_origin;
    const float (*normal)[3];
    const int32_t *hull_bone;
    const uint64_t *hull_point_offsets, *hull_face_offsets;
    const double (*hull_points)[3], *hull_volume;
    const int32_t (*hull_faces)[3];
    const int32_t (*proximity_geometries)[2], (*connection_bones)[2];
    const double *proximity_area, *connection_area;
} asset;

static const uint64_t *list_offsets(const rbl_collection *collection, const char *group, const char *name)
{
    const rbli_buffer *buffer = rbli_collection_buffer(collection, group, name);
    return buffer ? rbli_buffer_offsets(buffer) : NULL;
}

static const void *list_values(const rbl_collection *collection, const char *group, const char *name)
{
    const rbli_buffer *buffer = rbli_collection_buffer(collection, group, name);
    return buffer ? rbli_buffer_data(buffer) : NULL;
}

static void read_asset(const rbl_collection *c, asset *a)
{
    *a = (asset){
        .collection = c,
        .bones = rbli_collection_size(c, "bone"),
        .geometries = rbli_collection_size(c, "geometry"),
        .vertices = rbli_collection_size(c, "vertex"),
        .faces = rbli_collection_size(c, "face"),
        .materials = rbli_collection_size(c, "material"),
        .hulls = rbli_collection_size(c, "convex"),
        .proximities = rbli_collection_size(c, "proximity"),
        .connections = rbli_collection_size(c, "connection"),
        .parent = rbli_collection_read(c, "bone", "parent", RBL_INT32),
        .level = rbli_collection_read(c, "bone", "level", RBL_INT32),
        .type = rbli_collection_read(c, "bone", "type", RBL_INT32),
        .simulation_type = rbli_collection_read(c, "bone", "simulation_type", RBL_INT32),
        .bone_geometry = rbli_collection_read(c, "bone", "geometry", RBL_INT32),
        .site = rbli_collection_read(c, "bone", "site", RBL_INT32),
        .transform = rbli_collection_read(c, "bone", "transform", RBL_MAT4),
        .sheet = rbli_collection_read(c, "bone", "sheet", RBL_BOOL),
        .geometry_bone = rbli_collection_read(c, "geometry", "bone", RBL_INT32),
        .vertex_start = rbli_collection_read(c, "geometry", "vertex_start", RBL_INT32),
        .vertex_count = rbli_collection_read(c, "geometry", "vertex_count", RBL_INT32),
        .face_start = rbli_collection_read(c, "geometry", "face_start", RBL_INT32),
        .face_count = rbli_collection_read(c, "geometry", "face_count", RBL_INT32),
        .bounds_min = rbli_collection_read(c, "geometry", "bounds_min", RBL_VEC3),
        .bounds_max = rbli_collection_read(c, "geometry", "bounds_max", RBL_VEC3),
        .volume = rbli_collection_read(c, "geometry", "volume", RBL_DOUBLE),
        .position = rbli_collection_read(c, "vertex", "position", RBL_VEC3),
        .face_vertices = rbli_collection_read(c, "face", "vertices", RBL_INT32_3),
        .face_material = rbli_collection_read(c, "face", "material", RBL_INT32),
        .face_origin = rbli_collection_read(c, "face", "origin", RBL_INT32),
        .normal = rbli_collection_read(c, "corner", "normal", RBL_FLOAT_3),
        .hull_bone = rbli_collection_read(c, "convex", "bone", RBL_INT32),
        .hull_point_offsets = list_offsets(c, "convex", "points"),
        .hull_points = list_values(c, "convex", "points"),
        .hull_face_offsets = list_offsets(c, "convex", "faces"),
        .hull_faces = list_values(c, "convex", "faces"),
        .hull_volume = rbli_collection_read(c, "convex", "volume", RBL_DOUBLE),
        .proximity_geometries = rbli_collection_read(c, "proximity", "geometries", RBL_INT32_2),
        .proximity_area = rbli_collection_read(c, "proximity", "area", RBL_DOUBLE),
        .connection_bones = rbli_collection_read(c, "connection", "bones", RBL_INT32_2),
        .connection_area = rbli_collection_read(c, "connection", "area", RBL_DOUBLE),
    };
}

#define INVALID(ctx, ...) rbli_fail((ctx), RBL_ERR_COLLECTION, __VA_ARGS__)

/* Level 1: types and ranges. */

/// Scalars of a floating-point type in one element; 0 for the other types.
static size_t floating_scalars(rbl_type type, bool *is_double)
{
    *is_double =
        type == RBL_DOUBLE || type == RBL_VEC2 || type == RBL_VEC3 || type == RBL_VEC4 || type == RBL_MAT4;
    if (*is_double) return rbl_type_bytes(type) / sizeof(double);
    bool is_float = type == RBL_FLOAT || type == RBL_FLOAT_2 || type == RBL_FLOAT_3 || type == RBL_FLOAT_4;
    return is_float ? rbl_type_bytes(type) / sizeof(float) : 0;
}

/// The list that value `value` of a list array is in.
static size_t list_of_value(const rbli_buffer *buffer, size_t value)
{
    const uint64_t *offsets = rbli_buffer_offsets(buffer);
    size_t list = 0;
    while (offsets[list + 1] <= value)
        list++;
    return list;
}

/* Arrays are checked in parts without a branch, which compilers turn into vector code; where a part is bad, its
 * first bad element is looked for. */

enum { PART = 1 << 15 };

/// Numbers that are not finite have an exponent of ones: one more overflows into the sign.
static bool are_doubles_finite(const double *values, size_t count)
{
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        any |= (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
    }
    return any >> 63 == 0;
}

static bool are_floats_finite(const float *values, size_t count)
{
    uint32_t any = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        any |= (bits & 0x7f800000u) + 0x00800000u;
    }
    return any >> 31 == 0;
}

static bool are_bools(const uint8_t *values, size_t count)
{
    uint8_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= values[i];
    return any <= 1;
}

static bool are_in_range(const int32_t *values, size_t count, int32_t least, int32_t most)
{
    int32_t outside = 0;
    for (size_t i = 0; i < count; i++)
        outside |= (values[i] < least) | (values[i] > most);
    return !outside;
}

/// An array under check; blocks of it are checked in parallel.
typedef struct array_check {
    const known_attribute *known;
    const rbli_buffer *buffer;
    const void *values;
    bool is_double;
    size_t scalars; /* in one value */
} array_check;

static rbl_status check_finite_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const array_check *c = user;
    const double *doubles = c->values;
    const float *floats = c->values;
    if (c->is_double ? are_doubles_finite(doubles + begin, end - begin)
                     : are_floats_finite(floats + begin, end - begin))
        return RBL_OK;
    size_t i = begin;
    while (isfinite(c->is_double ? doubles[i] : (double)floats[i]))
        i++;
    return INVALID(ctx, "%s.%s: element %zu has a number that is not finite", c->known->group, c->known->name,
        c->known->is_list ? list_of_value(c->buffer, i / c->scalars) : i / c->scalars);
}

static rbl_status check_finite(rbl_context *ctx, const known_attribute *known, const rbli_buffer *buffer)
{
    array_check c = {.known = known, .buffer = buffer, .values = rbli_buffer_data(buffer)};
    c.scalars = floating_scalars(known->type, &c.is_double);
    if (c.scalars == 0) return RBL_OK;
    size_t values =
        known->is_list ? rbli_buffer_offsets(buffer)[rbli_buffer_count(buffer)] : rbli_buffer_count(buffer);
    return rbli_parallel_for(ctx, values * c.scalars, PART, check_finite_block, &c);
}

static rbl_status check_bools_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const array_check *c = user;
    const uint8_t *bytes = c->values;
    if (are_bools(bytes + begin, end - begin)) return RBL_OK;
    size_t i = begin;
    while (bytes[i] <= 1)
        i++;
    return INVALID(ctx, "%s.%s: element %zu is %u, not 0 or 1", c->known->group, c->known->name, i, bytes[i]);
}

static rbl_status check_bools(rbl_context *ctx, const known_attribute *known, const rbli_buffer *buffer)
{
    if (known->type != RBL_BOOL) return RBL_OK;
    array_check c = {.known = known, .buffer = buffer, .values = rbli_buffer_data(buffer)};
    return rbli_parallel_for(ctx, rbli_buffer_count(buffer), PART, check_bools_block, &c);
}

static rbl_status check_texts(rbl_context *ctx, const known_attribute *known, const rbli_buffer *buffer)
{
    if (known->type != RBL_CHAR) return RBL_OK;
    const uint64_t *offsets = rbli_buffer_offsets(buffer);
    const char *text = rbli_buffer_data(buffer);
    for (size_t i = 0; i < rbli_buffer_count(buffer); i++) {
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        if (!rbli_text_is_valid(text + offsets[i], offsets[i + 1] - offsets[i]))
            return INVALID(
                ctx, "%s.%s: element %zu is not UTF-8 without zero bytes", known->group, known->name, i);
    }
    return RBL_OK;
}

static rbl_status check_known(
    rbl_context *ctx, const rbl_collection *collection, const known_attribute *known)
{
    if (!rbli_collection_has_group(collection, known->group)) return RBL_OK;
    const rbli_buffer *buffer = rbli_collection_buffer(collection, known->group, known->name);
    if (!buffer)
        return known->optional ? RBL_OK : INVALID(ctx, "%s.%s is missing", known->group, known->name);
    if (rbli_buffer_type(buffer) != known->type || rbli_buffer_is_list(buffer) != known->is_list)
        return INVALID(ctx, "%s.%s has type %s%s instead of %s%s", known->group, known->name,
            rbli_buffer_is_list(buffer) ? "list of " : "", rbl_type_word(rbli_buffer_type(buffer)),
            known->is_list ? "list of " : "", rbl_type_word(known->type));
    rbl_status status = RBL_OK;
    RBL_TRY(check_finite(ctx, known, buffer));
    RBL_TRY(check_bools(ctx, known, buffer));
    RBL_TRY(check_texts(ctx, known, buffer));
done:
    return status;
}

static rbl_status check_types(rbl_context *ctx, const rbl_collection *collection)
{
    for (size_t i = 0; i < ASSET_GROUP_COUNT; i++)
        if (!rbli_collection_has_group(collection, asset_groups[i]))
            return INVALID(ctx, "the group %s is missing", asset_groups[i]);
    for (size_t g = 0; g < rbli_collection_group_count(collection); g++) {
        const char *group = rbli_collection_group_name(collection, g);
        if (rbli_collection_size(collection, group) > INT32_MAX)
            return INVALID(ctx, "%s: %zu elements are too many to index", group,
                rbli_collection_size(collection, group));
    }
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        rbl_status status = check_known(ctx, collection, &known_attributes[i]);
        if (status != RBL_OK) return status;
    }
    size_t faces = rbli_collection_size(collection, "face"),
           corners = rbli_collection_size(collection, "corner");
    if (corners != 3 * faces)
        return INVALID(ctx, "corner: %zu elements where %zu faces have %zu", corners, faces, 3 * faces);
    return RBL_OK;
}

typedef struct range_check {
    const char *place;
    const int32_t *values;
    size_t per_element, limit;
    int32_t least, most;
} range_check;

static rbl_status check_range_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const range_check *c = user;
    if (are_in_range(c->values + begin, end - begin, c->least, c->most)) return RBL_OK;
    size_t i = begin;
    while (c->values[i] >= c->least && c->values[i] <= c->most)
        i++;
    return INVALID(ctx, "%s: element %zu is %d, not in %d … %lld", c->place, i / c->per_element,
        (int)c->values[i], (int)c->least, (long long)c->limit - 1);
}

/// Checks values[0 … count × per_element − 1] against least … limit − 1; the place is group.name.
static rbl_status check_range(rbl_context *ctx, const char *place, const int32_t *values, size_t count,
    size_t per_element, int32_t least, size_t limit)
{
    range_check c = {.place = place,
        .values = values,
        .per_element = per_element,
        .limit = limit,
        .least = least,
        .most = limit > INT32_MAX ? INT32_MAX : (int32_t)limit - 1};
    return rbli_parallel_for(ctx, count * per_element, PART, check_range_block, &c);
}

static rbl_status check_unique(rbl_context *ctx, const rbl_collection *collection, const char *group)
{
    size_t count = rbli_collection_size(collection, group), capacity = 16;
    const rbli_buffer *names = rbli_collection_buffer(collection, group, "name");
    while (capacity / 2 < count)
        capacity *= 2;
    rbl_status status = RBL_OK;
    int32_t *slots = rbli_calloc(ctx, capacity, sizeof *slots); /* index + 1 */
    if (!slots) return RBL_ERR_NO_MEMORY;
    for (size_t i = 0; i < count && status == RBL_OK; i++) {
        RBL_TRY(rbli_poll(ctx, i));
        const char *name = rbli_buffer_string(names, i);
        size_t slot = (size_t)rbli_hash64(name, strlen(name)) & (capacity - 1);
        while (slots[slot] && strcmp(rbli_buffer_string(names, (size_t)slots[slot] - 1), name) != 0)
            slot = (slot + 1) & (capacity - 1);
        if (slots[slot])
            status = INVALID(ctx, "%s.name: element %zu has the same name \"%.100s\" as element %d", group, i,
                name, (int)slots[slot] - 1);
        slots[slot] = (int32_t)i + 1;
    }
done:
    rbli_free(ctx, slots);
    return status;
}

static rbl_status check_hierarchy(rbl_context *ctx, const asset *a)
{
    for (size_t b = 0; b < a->bones; b++) {
        if (rbli_poll(ctx, b) != RBL_OK) return RBL_ERR_CANCELLED;
        if (a->parent[b] < -1 || a->parent[b] >= (int32_t)b)
            return INVALID(ctx, "bone.parent: bone %zu has parent %d, which does not come before it", b,
                (int)a->parent[b]);
        int32_t level = a->parent[b] < 0 ? 0 : a->level[a->parent[b]] + 1;
        if (a->level[b] != level)
            return INVALID(
                ctx, "bone.level: bone %zu has level %d instead of %d", b, (int)a->level[b], (int)level);
        const double *m = a->transform[b];
        if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1)
            return INVALID(ctx, "bone.transform: bone %zu has a last row that is not 0 0 0 1", b);
        if (rbli_collection_string(a->collection, "bone", "name", b)[0] == 0)
            return INVALID(ctx, "bone.name: bone %zu has an empty name", b);
    }
    return RBL_OK;
}

static rbl_status check_ownership(rbl_context *ctx, const asset *a)
{
    for (size_t b = 0; b < a->bones; b++) {
        if (rbli_poll(ctx, b) != RBL_OK) return RBL_ERR_CANCELLED;
        int32_t geometry = a->bone_geometry[b];
        if (geometry < 0) continue;
        if (a->geometry_bone[geometry] != (int32_t)b)
            return INVALID(ctx, "bone.geometry: bone %zu has geometry %d, which belongs to bone %d", b,
                (int)geometry, (int)a->geometry_bone[geometry]);
        if (a->type[b] != RBLI_BONE_RIGID)
            return INVALID(ctx, "bone.geometry: bone %zu is a cluster and has geometry %d", b, (int)geometry);
    }
    for (size_t g = 0; g < a->geometries; g++)
        if (a->bone_geometry[a->geometry_bone[g]] != (int32_t)g)
            return INVALID(ctx, "geometry.bone: geometry %zu belongs to bone %d, which has geometry %d", g,
                (int)a->geometry_bone[g], (int)a->bone_geometry[a->geometry_bone[g]]);
    return RBL_OK;
}

static rbl_status check_pairs(rbl_context *ctx, const char *group, const char *name,
    const int32_t (*pairs)[2], const double *area, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rbli_poll(ctx, i) != RBL_OK) return RBL_ERR_CANCELLED;
        if (pairs[i][0] >= pairs[i][1])
            return INVALID(ctx, "%s.%s: element %zu is %d, %d, which is not ascending", group, name, i,
                (int)pairs[i][0], (int)pairs[i][1]);
        if (area[i] < 0 && area[i] != -1)
            return INVALID(ctx, "%s.area: element %zu is %.17g, neither an area nor -1", group, i, area[i]);
    }
    return RBL_OK;
}

static rbl_status check_hull_ranges(rbl_context *ctx, const asset *a)
{
    for (size_t h = 0; h < a->hulls; h++) {
        if (rbli_poll(ctx, h) != RBL_OK) return RBL_ERR_CANCELLED;
        size_t points = a->hull_point_offsets[h + 1] - a->hull_point_offsets[h];
        for (uint64_t f = a->hull_face_offsets[h]; f < a->hull_face_offsets[h + 1]; f++)
            for (int k = 0; k < 3; k++)
                if (a->hull_faces[f][k] < 0 || (size_t)a->hull_faces[f][k] >= points)
                    return INVALID(ctx,
                        "convex.faces: hull %zu has a face with point %d, which is not one of %zu", h,
                        (int)a->hull_faces[f][k], points);
    }
    return RBL_OK;
}

static rbl_status check_ranges(rbl_context *ctx, const asset *a)
{
    rbl_status status = RBL_OK;
    RBL_TRY(check_hierarchy(ctx, a));
    RBL_TRY(check_unique(ctx, a->collection, "bone"));
    RBL_TRY(check_unique(ctx, a->collection, "material"));
    RBL_TRY(rbli_materials_check(ctx, a->collection));
    RBL_TRY(check_range(ctx, "bone.type", a->type, a->bones, 1, 0, RBLI_BONE_RIGID + 1));
    RBL_TRY(check_range(
        ctx, "bone.simulation_type", a->simulation_type, a->bones, 1, 0, RBLI_SIMULATION_DYNAMIC + 1));
    RBL_TRY(check_range(ctx, "bone.geometry", a->bone_geometry, a->bones, 1, -1, a->geometries));
    RBL_TRY(check_range(ctx, "bone.site", a->site, a->bones, 1, -1, (size_t)INT32_MAX + 1));
    RBL_TRY(check_range(ctx, "geometry.bone", a->geometry_bone, a->geometries, 1, 0, a->bones));
    RBL_TRY(check_ownership(ctx, a));
    RBL_TRY(check_range(ctx, "geometry.vertex_start", a->vertex_start, a->geometries, 1, 0, a->vertices + 1));
    RBL_TRY(check_range(ctx, "geometry.vertex_count", a->vertex_count, a->geometries, 1, 0, a->vertices + 1));
    RBL_TRY(check_range(ctx, "geometry.face_start", a->face_start, a->geometries, 1, 0, a->faces + 1));
    RBL_TRY(check_range(ctx, "geometry.face_count", a->face_count, a->geometries, 1, 0, a->faces + 1));
    RBL_TRY(check_range(ctx, "face.vertices", a->face_vertices[0], a->faces, 3, 0, a->vertices));
    RBL_TRY(check_range(ctx, "face.material", a->face_material, a->faces, 1, 0, a->materials));
    RBL_TRY(check_range(ctx, "face.origin", a->face_origin, a->faces, 1, -1, (size_t)INT32_MAX + 1));
    RBL_TRY(check_range(ctx, "convex.bone", a->hull_bone, a->hulls, 1, 0, a->bones));
    RBL_TRY(check_hull_ranges(ctx, a));
    if (a->proximities > 0) {
        RBL_TRY(check_range(
            ctx, "proximity.geometries", a->proximity_geometries[0], a->proximities, 2, 0, a->geometries));
        RBL_TRY(check_pairs(
            ctx, "proximity", "geometries", a->proximity_geometries, a->proximity_area, a->proximities));
    }
    if (a->connections > 0) {
        RBL_TRY(check_range(ctx, "connection.bones", a->connection_bones[0], a->connections, 2, 0, a->bones));
        RBL_TRY(
            check_pairs(ctx, "connection", "bones", a->connection_bones, a->connection_area, a->connections));
    }
    for (size_t i = 0; i < a->connections; i++)
        if (a->parent[a->connection_bones[i][0]] != a->parent[a->connection_bones[i][1]])
            return INVALID(ctx, "connection.bones: element %zu joins bones %d and %d, which are not siblings",
                i, (int)a->connection_bones[i][0], (int)a->connection_bones[i][1]);
done:
    return status;
}

/* Level 2: geometry. */

static rbl_status check_cover(rbl_context *ctx, const char *kind, const int32_t *start, const int32_t *length,
    size_t geometries, size_t total)
{
    size_t at = 0;
    for (size_t g = 0; g < geometries; g++) {
        if ((size_t)start[g] != at)
            return INVALID(ctx, "geometry.%s_start: geometry %zu starts at %d instead of %zu", kind, g,
                (int)start[g], at);
        at += (size_t)length[g];
    }
    if (at != total)
        return INVALID(ctx, "geometry.%s_count: all geometries together have %zu of %zu", kind, at, total);
    return RBL_OK;
}

static rbl_status check_leaves(rbl_context *ctx, const asset *a)
{
    for (size_t b = 0; b < a->bones; b++) {
        if (a->parent[b] < 0 || (a->sheet && a->sheet[b])) continue;
        if (a->bone_geometry[a->parent[b]] >= 0)
            return INVALID(ctx, "bone.geometry: bone %d has geometry and a child %zu that is not a sheet",
                (int)a->parent[b], b);
    }
    return RBL_OK;
}

static rbl_status check_bounds(rbl_context *ctx, const asset *a, size_t g, double *extent)
{
    double low[3], high[3];
    size_t begin = (size_t)a->vertex_start[g], end = begin + (size_t)a->vertex_count[g];
    *extent = 0;
    if (begin == end) return RBL_OK;
    for (int k = 0; k < 3; k++)
        low[k] = high[k] = a->position[begin][k];
    for (size_t v = begin; v < end; v++) {
        if (rbli_poll(ctx, v) != RBL_OK) return RBL_ERR_CANCELLED;
        for (int k = 0; k < 3; k++) {
            double x = a->position[v][k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    }
    for (int k = 0; k < 3; k++)
        if (high[k] - low[k] > *extent) *extent = high[k] - low[k];
    for (int k = 0; k < 3; k++) {
        double slack = 1e-9 * *extent;
        if (fabs(a->bounds_min[g][k] - low[k]) > slack || fabs(a->bounds_max[g][k] - high[k]) > slack)
            return INVALID(ctx,
                "geometry.bounds: geometry %zu has %.17g … %.17g along %c where its vertices have %.17g … "
                "%.17g",
                g, a->bounds_min[g][k], a->bounds_max[g][k], "xyz"[k], low[k], high[k]);
    }
    return RBL_OK;
}

/// Six times the signed volume of the tetrahedron of a triangle and `origin`.
static double tetrahedron(const double origin[3], const double p[3], const double q[3], const double r[3])
{
    double a[3], b[3], c[3];
    for (int k = 0; k < 3; k++) {
        a[k] = p[k] - origin[k];
        b[k] = q[k] - origin[k];
        c[k] = r[k] - origin[k];
    }
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// The slack allows for sums taken about the origin of the frame instead of a point of the piece.
static rbl_status check_volume(rbl_context *ctx, const asset *a, size_t g, double extent)
{
    double sum = 0, farthest = 0;
    size_t begin = (size_t)a->face_start[g], end = begin + (size_t)a->face_count[g];
    for (size_t f = begin; f < end; f++) {
        if (rbli_poll(ctx, f) != RBL_OK) return RBL_ERR_CANCELLED;
        const int32_t *v = a->face_vertices[f];
        sum += tetrahedron(a->bounds_min[g], a->position[v[0]], a->position[v[1]], a->position[v[2]]);
    }
    sum /= 6;
    for (int k = 0; k < 3; k++)
        farthest = fmax(farthest, fmax(fabs(a->bounds_min[g][k]), fabs(a->bounds_max[g][k])));
    double slack = extent * extent * (1e-9 * extent + 1e-12 * farthest);
    if (fabs(sum - a->volume[g]) > slack)
        return INVALID(
            ctx, "geometry.volume: geometry %zu has %.17g where its faces have %.17g", g, a->volume[g], sum);
    return RBL_OK;
}

static rbl_status check_faces(rbl_context *ctx, const asset *a, size_t g)
{
    int32_t first = a->vertex_start[g], end = first + a->vertex_count[g];
    for (int32_t f = a->face_start[g]; f < a->face_start[g] + a->face_count[g]; f++) {
        if (rbli_poll(ctx, (size_t)f) != RBL_OK) return RBL_ERR_CANCELLED;
        const int32_t *v = a->face_vertices[f];
        for (int k = 0; k < 3; k++)
            if (v[k] < first || v[k] >= end)
                return INVALID(ctx,
                    "face.vertices: face %d of geometry %zu has vertex %d, outside its %d … %d", (int)f, g,
                    (int)v[k], (int)first, (int)end - 1);
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            return INVALID(ctx, "face.vertices: face %d has a vertex twice (%d, %d, %d)", (int)f, (int)v[0],
                (int)v[1], (int)v[2]);
        for (int k = 0; k < 3; k++) {
            const float *n = a->normal[3 * (size_t)f + (size_t)k];
            double square = (double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2];
            if (!(square > 1e-10 && square < 1.002)) /* shorter than 1 where a cut interpolated it */
                return INVALID(ctx,
                    "corner.normal: corner %d of face %d has length %g, not above 0 and at most 1", k, (int)f,
                    sqrt(square));
        }
    }
    return RBL_OK;
}

static bool is_sheet(const asset *a, size_t g)
{
    return a->sheet && a->sheet[a->geometry_bone[g]];
}

static rbl_status check_geometry_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const asset *a = user;
    rbl_status status = RBL_OK;
    for (size_t g = begin; g < end; g++) {
        double extent;
        RBL_TRY(check_faces(ctx, a, g));
        RBL_TRY(check_bounds(ctx, a, g, &extent));
        if (!is_sheet(a, g)) RBL_TRY(check_volume(ctx, a, g, extent));
    }
done:
    return status;
}

static rbl_status check_geometry(rbl_context *ctx, asset *a)
{
    rbl_status status = RBL_OK;
    RBL_TRY(check_cover(ctx, "vertex", a->vertex_start, a->vertex_count, a->geometries, a->vertices));
    RBL_TRY(check_cover(ctx, "face", a->face_start, a->face_count, a->geometries, a->faces));
    RBL_TRY(check_leaves(ctx, a));
    RBL_TRY(rbli_parallel_for(ctx, a->geometries, 8, check_geometry_block, a));
done:
    return status;
}

/* Level 3: closed surfaces and convex hulls. */

static int compare_edges(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/// Sorts few keys in place, many by the C library.
static void sort_edges(uint32_t *keys, size_t count)
{
    if (count > 24) {
        qsort(keys, count, sizeof *keys, compare_edges);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint32_t key = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/// Whether the keys of a row come as pairs of both directions, each once. `seen` holds a stamp for each key.
static bool are_paired(const uint32_t *keys, size_t count, uint32_t *seen, uint32_t stamp)
{
    size_t pairs = 0;
    bool twice = false;
    for (size_t i = 0; i < count; i++) {
        twice |= seen[keys[i]] == stamp;
        pairs += seen[keys[i] ^ 1] == stamp;
        seen[keys[i]] = stamp;
    }
    return !twice && 2 * pairs == count;
}

/// The first of the sorted keys of a row that is not one of a pair of both directions, or `count`.
static size_t find_unpaired(const uint32_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i += 2) {
        bool paired = i + 1 < count && !(keys[i] & 1) && keys[i + 1] == keys[i] + 1 &&
                      !(i + 2 < count && keys[i + 2] >> 1 == keys[i] >> 1);
        if (!paired) return i;
    }
    return count;
}

/// Finds an edge that does not have exactly one face on each side. Method: edges in rows by their lesser
/// vertex; in a row they must come as pairs of both directions. One that does not is sorted by the other vertex and
/// the direction for the first that is wrong.
/// @param bad set to the edge's vertices, −1 when there is none
static rbl_status find_open_edge(rbl_context *ctx, const int32_t (*faces)[3], size_t face_count,
    int32_t first_vertex, size_t vertex_count, int32_t bad[2])
{
    rbl_status status = RBL_OK;
    uint32_t *keys = NULL; /* the other vertex, from first_vertex on, << 1 | direction */
    uint32_t *seen = NULL; /* [2 × vertex_count] row + 1 that a key was last met in */
    size_t *row = rbli_calloc(ctx, vertex_count + 2, sizeof *row);
    bad[0] = bad[1] = -1;
    RBL_TRY_ALLOC(row);
    RBL_TRY_ALLOC(keys = rbli_alloc(ctx, face_count, 3 * sizeof *keys));
    RBL_TRY_ALLOC(seen = rbli_calloc(ctx, vertex_count, 2 * sizeof *seen));
    for (size_t f = 0; f < face_count; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        for (int k = 0; k < 3; k++) {
            int32_t from = faces[f][k], to = faces[f][k == 2 ? 0 : k + 1];
            row[(from < to ? from : to) - first_vertex + 2]++;
        }
    }
    for (size_t v = 2; v < vertex_count + 2; v++)
        row[v] += row[v - 1];
    /* Row v is filled from row[v + 1], which ends as the row's end: the next row's start. */
    for (size_t f = 0; f < face_count; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        for (int k = 0; k < 3; k++) {
            int32_t from = faces[f][k] - first_vertex, to = faces[f][k == 2 ? 0 : k + 1] - first_vertex;
            int32_t low = from < to ? from : to, high = from < to ? to : from;
            keys[row[low + 1]++] = (uint32_t)high << 1 | (from > to);
        }
    }
    for (size_t v = 0; v < vertex_count; v++) {
        uint32_t *keys_of_row = keys + row[v];
        size_t count = row[v + 1] - row[v];
        RBL_TRY(rbli_poll(ctx, v));
        if (are_paired(keys_of_row, count, seen, (uint32_t)v + 1)) continue;
        sort_edges(keys_of_row, count);
        size_t unpaired = find_unpaired(keys_of_row, count);
        bad[0] = first_vertex + (int32_t)v;
        bad[1] = first_vertex + (int32_t)(keys_of_row[unpaired] >> 1);
        break;
    }
done:
    rbli_free(ctx, seen);
    rbli_free(ctx, keys);
    rbli_free(ctx, row);
    return status;
}

static rbl_status check_closed_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    const asset *a = user;
    rbl_status status = RBL_OK;
    for (size_t g = begin; g < end; g++) {
        int32_t bad[2];
        if (is_sheet(a, g)) continue;
        RBL_TRY(find_open_edge(ctx, a->face_vertices + a->face_start[g], (size_t)a->face_count[g],
            a->vertex_start[g], (size_t)a->vertex_count[g], bad));
        if (bad[0] >= 0)
            return INVALID(ctx,
                "face.vertices: geometry %zu (bone \"%s\") is not closed at the edge between vertices %d and "
                "%d",
                g, rbli_collection_string(a->collection, "bone", "name", (size_t)a->geometry_bone[g]),
                (int)bad[0], (int)bad[1]);
    }
done:
    return status;
}

/// Whether a point may be higher than `limit` above p, along n: false is certain. By signs, for vector code.
static bool may_be_above(const double *x, const double *y, const double *z, size_t count, const double p[3],
    const double n[3], double limit)
{
    uint64_t signs = 0;
    for (size_t i = 0; i < count; i++) {
        double room = limit - ((x[i] - p[0]) * n[0] + (y[i] - p[1]) * n[1] + (z[i] - p[2]) * n[2]);
        uint64_t bits;
        memcpy(&bits, &room, sizeof bits);
        signs |= bits;
    }
    return signs >> 63;
}

/// Every point on the inner side of every face within 1e-6 of the hull's extent.
static rbl_status check_hull_convex(rbl_context *ctx, size_t h, const double (*points)[3], size_t point_count,
    const int32_t (*faces)[3], size_t face_count, double extent)
{
    double *x = rbli_alloc(ctx, point_count, 3 * sizeof *x);
    if (!x) return RBL_ERR_NO_MEMORY;
    double *y = x + point_count, *z = y + point_count;
    rbl_status status = RBL_OK;
    for (size_t i = 0; i < point_count; i++)
        x[i] = points[i][0], y[i] = points[i][1], z[i] = points[i][2];
    for (size_t f = 0; f < face_count; f++) {
        RBL_TRY(rbli_poll(ctx, f));
        const double *p = points[faces[f][0]], *q = points[faces[f][1]], *r = points[faces[f][2]];
        double a[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, b[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
        double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        /* A sliver has no direction to speak of. */
        if (length <= 1e-9 * extent * extent) continue;
        if (!may_be_above(x, y, z, point_count, p, n, (1 - 1e-12) * 1e-6 * extent * length)) continue;
        for (size_t i = 0; i < point_count; i++) {
            double height = ((x[i] - p[0]) * n[0] + (y[i] - p[1]) * n[1] + (z[i] - p[2]) * n[2]) / length;
            if (!(height > 1e-6 * extent)) continue;
            status = INVALID(ctx, "convex.points: hull %zu is not convex: point %zu is %g above face %zu", h,
                i, height, f);
            goto done;
        }
    }
done:
    rbli_free(ctx, x);
    return status;
}

static rbl_status check_hull(rbl_context *ctx, const asset *a, size_t h)
{
    const double(*points)[3] = a->hull_points + a->hull_point_offsets[h];
    const int32_t(*faces)[3] = a->hull_faces + a->hull_face_offsets[h];
    size_t point_count = a->hull_point_offsets[h + 1] - a->hull_point_offsets[h];
    size_t face_count = a->hull_face_offsets[h + 1] - a->hull_face_offsets[h];
    if (point_count < 4 || face_count < 4)
        return INVALID(ctx, "convex: hull %zu has %zu points and %zu faces", h, point_count, face_count);
    rbl_status status = RBL_OK;
    int32_t bad[2];
    RBL_TRY(find_open_edge(ctx, faces, face_count, 0, point_count, bad));
    if (bad[0] >= 0)
        return INVALID(ctx, "convex.faces: hull %zu is not closed at the edge between points %d and %d", h,
            (int)bad[0], (int)bad[1]);
    double extent = 0, volume = 0;
    for (int k = 0; k < 3; k++) {
        double low = points[0][k], high = points[0][k];
        for (size_t i = 1; i < point_count; i++) {
            if (points[i][k] < low) low = points[i][k];
            if (points[i][k] > high) high = points[i][k];
        }
        if (high - low > extent) extent = high - low;
    }
    RBL_TRY(check_hull_convex(ctx, h, points, point_count, faces, face_count, extent));
    for (size_t f = 0; f < face_count; f++)
        volume += tetrahedron(points[0], points[faces[f][0]], points[faces[f][1]], points[faces[f][2]]);
    volume /= 6;
    if (!(fabs(volume - a->hull_volume[h]) <= 1e-6 * extent * extent * extent))
        return INVALID(ctx, "convex.volume: hull %zu has %.17g where its faces have %.17g", h,
            a->hull_volume[h], volume);
done:
    return status;
}

static rbl_status check_hull_block(
    rbl_context *ctx, size_t begin, size_t end, size_t block, int worker, void *user)
{
    (void)block;
    (void)worker;
    for (size_t h = begin; h < end; h++) {
        rbl_status status = check_hull(ctx, user, h);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

rbl_status rbli_collection_validate(
    rbl_context *ctx, const rbl_collection *collection, rbli_validate_level level)
{
    rbl_status status = RBL_OK;
    asset a;
    RBL_TRY(check_types(ctx, collection));
    read_asset(collection, &a);
    RBL_TRY(check_ranges(ctx, &a));
    if (level >= RBLI_VALIDATE_GEOMETRY) RBL_TRY(check_geometry(ctx, &a));
    if (level >= RBLI_VALIDATE_CLOSED) {
        RBL_TRY(rbli_parallel_for(ctx, a.geometries, 8, check_closed_block, &a));
        RBL_TRY(rbli_parallel_for(ctx, a.hulls, 8, check_hull_block, &a));
    }
done:
    return status;
}
